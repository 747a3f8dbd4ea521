// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CUT_DETAIL_WRITE_CUTS_HPP
#define STEMMA_CUT_DETAIL_WRITE_CUTS_HPP

#include <stemma/config.hpp>
#include <stemma/core/detail/pipeline.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/parallel.hpp>
#include <stemma/cut/cut.hpp>
#include <stemma/cut/cut_plan.hpp>
#include <stemma/cut/cut_planner.hpp>
#include <stemma/cut/detail/cut_model.hpp>
#include <stemma/cut/detail/weight_store.hpp>
#include <stemma/error.hpp>
#include <stemma/io/detail/system_files.hpp>
#include <stemma/io/mapped_file.hpp>
#include <stemma/io/output_file.hpp>
#include <stemma/onnx/detail/splices.hpp>
#include <stemma/onnx/message_tree.hpp>

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Nodes to be cut out, ascending, and by node the call of the module that each belongs to, or
/// nothing; see `cut_planner::plan`.
struct cut_request {
    std::vector<id> nodes; ///< ascending
    std::vector<id> calls; ///< by place in `nodes`, or empty
};

/// Where a part goes, and what its metadata say of it.
struct cut_target {
    std::string path;                           ///< "" for a part that is not written
    std::string origin;                         ///< the value of `cut_key`
    weight_store* store = nullptr;              ///< takes large weights, if there is one
    target_state state = target_state::unknown; ///< of `path`
};

/// What is to be cut out of a model. `request(i)` says which nodes; it is asked by several threads
/// at once. `target(i, part, plans)` says where a part goes, and may refuse the plan; `done(i,
/// part, plan)` hears that the part stands in its place, or was refused. Each of these two is
/// called in order, for one part at a time, yet `target` for one request perhaps while `done` is
/// for another.
template <class Job>
concept cut_job = requires(Job& job, const Job& same, std::size_t i, std::vector<cut_plan>& plans) {
    { same.request(i) } -> std::convertible_to<cut_request>;
    { job.target(i, i, plans) } -> std::convertible_to<cut_target>;
    job.done(i, i, plans.front());
};

/// Carries out a `cut_job`.
template <cut_policy Policy, cut_job Job>
class cut_run {
public:
    cut_run(const mapped_file& source, cut_planner<Policy>& planner,
            const cut_writer<Policy>& writer, Job& job, bool sync, std::size_t count,
            std::size_t workers)
        : source_(source)
        , job_(job)
        , sync_(sync)
        , planner_(planner)
        , writer_(writer)
        , helpers_(workers)
        , open_(count) {
        static_cast<void>(planner.facts(0)); // made before it is copied
    }

    /// Chooses what is cut out.
    void plan(std::size_t i, std::size_t worker) {
        const cut_request asked = std::as_const(job_).request(i);
        open_[i] = std::make_unique<parts_of_one>();
        open_[i]->plans = helper_of(worker).planner.plan(asked.nodes, asked.calls);
    }

    /// Decides where it goes.
    void place(std::size_t i) {
        auto& cut = *open_[i];
        cut.parts.resize(cut.plans.size());
        for_each_part(cut, [&](std::size_t p, part& made) {
            made.target = job_.target(i, p, cut.plans);
            if (made.target.store != nullptr && !made.target.path.empty()) {
                writer_.place_weights(cut.plans[p], *made.target.store);
            }
        });
    }

    /// Makes the files, which have no names yet.
    void build(std::size_t i, std::size_t worker) {
        auto& cut = *open_[i];
        for_each_part(cut, [&](std::size_t p, part& made) {
            if (made.target.path.empty()) {
                return;
            }
            made.bytes =
                helper_of(worker).writer.build(cut.plans[p], made.target.origin, made.target.store);
            if (made.bytes.size() >= std::uint64_t{1} << 31U) {
                STEMMA_THROW(error(error_code::too_large, made.target.path, "",
                                   "the part would have 2 GiB or more even without its weights"));
            }
            if (files_++ < most_files) {
                write(made, helper_of(worker).buffer);
                made.bytes = {};
            } else {
                --files_;
            }
        });
    }

    /// Gives the files their names.
    void put_in_place(std::size_t i) {
        auto& cut = *open_[i];
        for (std::size_t p = 0; p < cut.parts.size(); ++p) {
            auto& made = cut.parts[p];
            if (made.file) {
                made.file->commit(sync_);
                made.file.reset();
                --files_;
            } else if (!made.target.path.empty()) {
                write(made, buffer_);
                made.file->commit(sync_);
                made.file.reset();
            }
            job_.done(i, p, std::as_const(cut.plans[p]));
        }
#if defined(__cpp_exceptions)
        if (cut.thrown) {
            std::rethrow_exception(cut.thrown);
        }
#endif
        open_[i].reset();
    }

private:
    // A process has few descriptors.
    static constexpr std::size_t most_files = 200;
    // What is longer goes from file to file, as far as it can.
    static constexpr std::size_t most_buffered = std::size_t{1} << 20U;

    struct part {
        cut_target target;
        message_tree bytes;
        std::unique_ptr<output_file> file; // complete
    };

    struct parts_of_one {
        std::vector<cut_plan> plans;
        std::vector<part> parts; // before the one that failed
        std::exception_ptr thrown{};
    };

    struct helper {
        cut_planner<Policy> planner;
        cut_writer<Policy> writer;
        std::string buffer;
    };

    /// Copies are long, so that each worker makes its own.
    [[nodiscard]] helper& helper_of(std::size_t worker) {
        auto& known = helpers_[worker];
        if (!known) {
            known.emplace(helper{planner_, writer_, {}});
        }
        return *known;
    }

    /// Calls `f(number, part)`; parts before one that fails go on.
    template <class Function>
    static void for_each_part(parts_of_one& of, Function f) {
        for (std::size_t p = 0; p < of.parts.size(); ++p) {
#if defined(__cpp_exceptions)
            try {
                f(p, of.parts[p]);
            } catch (...) {
                of.parts.resize(p);
                of.thrown = std::current_exception();
            }
#else
            f(p, of.parts[p]);
#endif
        }
    }

    void write(part& made, std::string& buffer) const {
        made.file = std::make_unique<output_file>(made.target.path, made.target.state);
        if (made.bytes.size() > most_buffered) {
            file_splice splice(source_, *made.file);
            made.bytes.write(splice);
        } else {
            string_splice splice(source_.bytes(), std::move(buffer));
            made.bytes.write(splice);
            made.file->write_now(splice.text);
            buffer = std::move(splice.text);
        }
        made.file->finish(sync_);
    }

    const mapped_file& source_;
    Job& job_;
    bool sync_;
    const cut_planner<Policy>& planner_;
    const cut_writer<Policy>& writer_;
    std::vector<std::optional<helper>> helpers_; // by worker
    std::string buffer_;
    std::vector<std::unique_ptr<parts_of_one>> open_; // by request, while it is under way
    std::atomic<std::size_t> files_{0};               // that have no name yet
};

/// Cuts sets of nodes number 0, 1, ... below `count` out of a model and writes the parts, in as
/// many threads as it may. Files, messages and errors are the same for any number of them.
///
/// `source` is the file of the model. Each thread has copies of planner and writer.
/// Throws: `error` of `cannot_write`, of `too_large` for a part of 2 GiB, or what the job throws;
///   the parts before that one stand in their place then, and no others.
/// Complexity: that of planning, and O(bytes) of the parts.
template <cut_policy Policy, cut_job Job>
void write_cuts(const mapped_file& source, cut_planner<Policy>& planner,
                const cut_writer<Policy>& writer, Job& job, std::size_t count, bool sync = true,
                thread_limit threads = {}) {
    constexpr std::size_t most_at_once = 8; // many parts are small
    constexpr std::size_t in_flight = 6;    // so that nobody waits for one thread that is held up
    const auto workers = std::clamp<std::size_t>(threads.most, 1, std::max<std::size_t>(count, 1));
    detail::cut_run<Policy, Job> run(source, planner, writer, job, sync, count, workers);
    run_pipeline(
        count,
        {{false, [&](std::size_t i, std::size_t worker) { run.plan(i, worker); }},
         {true, [&](std::size_t i, std::size_t) { run.place(i); }},
         {false, [&](std::size_t i, std::size_t worker) { run.build(i, worker); }},
         {true, [&](std::size_t i, std::size_t) { run.put_in_place(i); }}},
        {workers, std::clamp<std::size_t>(count / (8 * workers), 1, most_at_once), in_flight});
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CUT_DETAIL_WRITE_CUTS_HPP
