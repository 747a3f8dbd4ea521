// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_COST_PROFILE_HPP
#define STEMMA_COST_PROFILE_HPP

#include <stemma/core/detail/flat_index.hpp>
#include <stemma/core/detail/hash.hpp>
#include <stemma/core/id.hpp>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// Times measured by a runtime, by kernel and run.
class profile {
public:
    /// One measurement of a profile.
    struct event {
        std::string_view name;       ///< of a node or layer, as given by the runtime
        std::string_view op_type{};  ///< "" if unknown
        std::string_view provider{}; ///< execution provider; "" if unknown
        double microseconds = 0;     ///< without nested kernels
        id node_index = no_id;       ///< the runtime's number of the node
        std::uint64_t calls = 1;     ///< included in the time
    };

    /// The time of one kernel in one run.
    struct kernel_run {
        std::size_t run = 0;     ///< number of the run
        double microseconds = 0; ///< of all calls in it
        std::uint64_t calls = 0; ///< in it
    };

    /// All measurements of one kernel.
    struct kernel {
        std::string name;             ///< as the runtime calls it
        std::string op_type;          ///< "" if not given
        std::string provider;         ///< "" if not given
        id node_index = no_id;        ///< the runtime's number of the node
        std::uint64_t calls = 0;      ///< in all runs
        std::vector<kernel_run> runs; ///< those in which it ran, ascending

        /// Returns: microseconds in all runs. Complexity: O(runs).
        [[nodiscard]] double total() const {
            return std::accumulate(
                runs.begin(), runs.end(), 0.0,
                [](double sum, const kernel_run& one) { return sum + one.microseconds; });
        }
    };

    /// Adds a measurement to the current run. Complexity: O(length of the names), expected.
    void add(const event& measured) { add(measured, runs_, measured.microseconds, measured.calls); }

    /// Ends a run; runs without measurements do not count.
    void end_run() {
        runs_ += open_ ? 1 : 0;
        open_ = false;
    }

    /// Appends all runs of another profile. Complexity: O(measurements).
    void append(const profile& other) {
        end_run();
        const auto first = runs_;
        for (const auto& from : other.kernels_) {
            for (const auto& one : from.runs) {
                add({from.name, from.op_type, from.provider, 0, from.node_index}, first + one.run,
                    one.microseconds, one.calls);
            }
        }
        runs_ = first + other.runs();
        open_ = false;
        dropped_ += other.dropped_;
        add_source(files_, other.files_);
        if (formats_.find(other.formats_) == formats_.npos) {
            add_source(formats_, other.formats_);
        }
    }

    /// Notes the file that the measurements come from, and its format, for reports.
    void set_source(std::string_view file, std::string_view format) {
        files_ = file;
        formats_ = format;
    }

    /// Drops the first runs, in which runtimes allocate and select kernels.
    /// Requires: at least one run stays. Complexity: O(measurements).
    void drop_runs(std::size_t count) {
        for (auto& measured : kernels_) {
            std::erase_if(measured.runs, [&](kernel_run& one) {
                const bool drops = one.run < count;
                measured.calls -= drops ? one.calls : 0;
                one.run -= drops ? 0 : count;
                return drops;
            });
        }
        runs_ -= count;
        dropped_ += count;
    }

    /// The kernels, in file order.
    [[nodiscard]] const std::vector<kernel>& kernels() const noexcept { return kernels_; }
    /// Returns: the number of runs, including an open one.
    [[nodiscard]] std::size_t runs() const noexcept { return runs_ + (open_ ? 1 : 0); }
    /// The number of dropped warm-up runs.
    [[nodiscard]] std::size_t dropped() const noexcept { return dropped_; }

    /// The files that the measurements come from, separated by `, `.
    [[nodiscard]] const std::string& files() const noexcept { return files_; }
    /// Their formats, likewise, each once.
    [[nodiscard]] const std::string& formats() const noexcept { return formats_; }

    /// Returns: microseconds in all runs. Complexity: O(kernels times runs).
    [[nodiscard]] double total() const {
        double sum = 0;
        for (const auto& measured : kernels_) {
            sum += measured.total();
        }
        return sum;
    }

private:
    static void add_source(std::string& list, const std::string& more) {
        list.append(list.empty() || more.empty() ? "" : ", ").append(more);
    }

    void add(const event& measured, std::size_t run, double microseconds, std::uint64_t calls) {
        const auto hash = detail::hash_bytes(
            measured.name,
            detail::hash_bytes(measured.provider,
                               detail::hash_bytes(measured.op_type, measured.node_index)));
        const auto at = index_.insert(hash, static_cast<id>(kernels_.size()), [&](id one) {
            const auto& entry = kernels_[one];
            return entry.node_index == measured.node_index && entry.name == measured.name &&
                   entry.provider == measured.provider && entry.op_type == measured.op_type;
        });
        if (at == kernels_.size()) {
            kernels_.push_back({std::string(measured.name),
                                std::string(measured.op_type),
                                std::string(measured.provider),
                                measured.node_index,
                                0,
                                {}});
        }
        auto& entry = kernels_[at];
        if (entry.runs.empty() || entry.runs.back().run != run) {
            entry.runs.push_back({run, 0, 0});
        }
        entry.runs.back().microseconds += microseconds;
        entry.runs.back().calls += calls;
        entry.calls += calls;
        open_ = true;
    }

    std::vector<kernel> kernels_;
    detail::flat_index index_; // of kernels
    std::size_t runs_ = 0;
    std::size_t dropped_ = 0;
    bool open_ = false; // there are measurements since the last run ended
    std::string files_;
    std::string formats_;
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_COST_PROFILE_HPP
