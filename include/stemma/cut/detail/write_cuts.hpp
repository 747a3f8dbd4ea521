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
#include <stemma/cut/detail/cut_writer.hpp>
#include <stemma/cut/detail/weight_store.hpp>
#include <stemma/error.hpp>
#include <stemma/io/detail/system_files.hpp>
#include <stemma/io/mapped_file.hpp>
#include <stemma/io/output_file.hpp>
#include <stemma/onnx/detail/message_tree.hpp>
#include <stemma/onnx/detail/splices.hpp>

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

/// Nodes to cut, and optionally the module call of each; see `cut_planner::plan`.
struct cut_request {
    std::vector<id> nodes; ///< ascending
    std::vector<id> calls; ///< by place in `nodes`, or empty
};

/// The target of a part, and its metadata.
struct cut_target {
    std::string path;              ///< "" if not written
    std::string origin;            ///< the value of `cut_key`
    weight_store* store = nullptr; ///< for large weights, or null
    output_file::target_state state = output_file::target_state::unknown; ///< of `path`
};

/// A cutting job. `request(i)` returns the nodes, called concurrently. `target(i, part, plans)`
/// returns the target of a part, and may refuse the plan; `save()` writes what parts with targets
/// refer to, before they are put in place; `done(i, part, plan)` reports that a part is in place or
/// was refused. `target` is called in order, one part at a time, as are the other two, but possibly
/// concurrently with these for different requests.
template <class Job>
concept cut_job = requires(Job& job, const Job& same, std::size_t i, std::vector<cut_plan>& plans) {
    { same.request(i) } -> std::convertible_to<cut_request>;
    { job.target(i, i, plans) } -> std::convertible_to<cut_target>;
    job.save();
    job.done(i, i, plans.front());
};

/// Runs a `cut_job`.
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
        static_cast<void>(planner.facts(0)); // computed before copying
    }

    /// Plans the parts.
    void plan(std::size_t i, std::size_t worker) {
        const cut_request asked = std::as_const(job_).request(i);
        open_[i] = std::make_unique<parts_of_one>();
        open_[i]->plans = helper_of(worker).planner.plan(asked.nodes, asked.calls);
    }

    /// Chooses targets.
    void place(std::size_t i) {
        auto& cut = *open_[i];
        cut.parts.resize(cut.plans.size());
        for_each_part(cut, [&](std::size_t p, part& output) {
            output.target = job_.target(i, p, cut.plans);
            if (output.target.store != nullptr && !output.target.path.empty()) {
                writer_.place_weights(cut.plans[p], *output.target.store);
            }
        });
    }

    /// Writes the files, still unnamed.
    void build(std::size_t i, std::size_t worker) {
        auto& cut = *open_[i];
        for_each_part(cut, [&](std::size_t p, part& output) {
            if (output.target.path.empty()) {
                return;
            }
            output.bytes = helper_of(worker).writer.build(cut.plans[p], output.target.origin,
                                                          output.target.store);
            if (output.bytes.size() >= std::uint64_t{1} << 31U) {
                STEMMA_THROW(error(error_code::too_large, output.target.path, "",
                                   "the part would have 2 GiB or more even without its weights"));
            }
            if (files_++ < most_files) {
                write(output, helper_of(worker).buffer);
                output.bytes = {};
            } else {
                --files_;
            }
        });
    }

    /// Commits the files.
    void put_in_place(std::size_t i) {
        auto& cut = *open_[i];
        job_.save();
        for (std::size_t p = 0; p < cut.parts.size(); ++p) {
            auto& output = cut.parts[p];
            if (output.file) {
                output.file->commit(sync_);
                output.file.reset();
                --files_;
            } else if (!output.target.path.empty()) {
                write(output, buffer_);
                output.file->commit(sync_);
                output.file.reset();
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
    // File descriptors are limited.
    static constexpr std::size_t most_files = 200;
    // Longer ranges are copied from file to file, if possible.
    static constexpr std::size_t most_buffered = std::size_t{1} << 20U;

    struct part {
        cut_target target;
        message_tree bytes;
        std::unique_ptr<output_file> file; // complete
    };

    struct parts_of_one {
        std::vector<cut_plan> plans;
        std::vector<part> parts; // before the failed one
        std::exception_ptr thrown{};
    };

    struct helper {
        cut_planner<Policy> planner;
        cut_writer<Policy> writer;
        std::string buffer;
    };

    /// Copying is expensive, so each worker makes its own.
    [[nodiscard]] helper& helper_of(std::size_t worker) {
        auto& slot = helpers_[worker];
        if (!slot) {
            slot.emplace(helper{planner_, writer_, {}});
        }
        return *slot;
    }

    /// Calls `f(number, part)`; parts before a failing one continue.
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

    void write(part& output, std::string& buffer) const {
        output.file = std::make_unique<output_file>(output.target.path, output.target.state);
        if (output.bytes.size() > most_buffered) {
            file_splice splice(source_, *output.file);
            output.bytes.write(splice);
        } else {
            string_splice splice(source_.bytes(), std::move(buffer));
            output.bytes.write(splice);
            output.file->write_now(splice.text);
            buffer = std::move(splice.text);
        }
        output.file->finish(sync_);
    }

    const mapped_file& source_;
    Job& job_;
    bool sync_;
    const cut_planner<Policy>& planner_;
    const cut_writer<Policy>& writer_;
    std::vector<std::optional<helper>> helpers_; // by worker
    std::string buffer_;
    std::vector<std::unique_ptr<parts_of_one>> open_; // by request, while in progress
    std::atomic<std::size_t> files_{0};               // not yet named
};

/// Cuts requests 0 to `count` - 1 out of a model and writes the parts, multithreaded. Files,
/// messages and errors do not depend on the number of threads.
///
/// `source` is the file of the model. Each thread has copies of planner and writer.
/// Throws: `error` of `cannot_write`, of `too_large` for a part of 2 GiB, or whatever the job
/// throws; exactly the parts before that one are then in place.
/// Complexity: that of planning, and O(bytes) of the parts.
template <cut_policy Policy, cut_job Job>
void write_cuts(const mapped_file& source, cut_planner<Policy>& planner,
                const cut_writer<Policy>& writer, Job& job, std::size_t count, bool sync = true) {
    constexpr std::size_t most_at_once = 8; // as many parts are small
    constexpr std::size_t in_flight = 6;    // so that one slow thread does not block others
    const auto workers =
        std::clamp<std::size_t>(thread_limit::current().most, 1, std::max<std::size_t>(count, 1));
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
