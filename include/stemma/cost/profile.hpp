// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_COST_PROFILE_HPP
#define STEMMA_COST_PROFILE_HPP

#include <stemma/core/id.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace stemma {

/// One measurement of a profile.
struct timed_event {
    std::string_view name;       ///< of a node or layer, as the runtime calls it
    std::string_view op_type{};  ///< "" where it is not said
    std::string_view provider{}; ///< what ran it; "" where it is not said
    double microseconds = 0;     ///< without what ran inside
    id node_index = no_id;       ///< the runtime's number of the node
    std::uint64_t calls = 1;     ///< that the time is the sum of
};

/// What a runtime measured, by kernel and run.
class profile {
public:
    /// All measurements of one kernel.
    struct kernel {
        std::string name;         ///< as the runtime calls it
        std::string op_type;      ///< "" where it is not said
        std::string provider;     ///< "" where it is not said
        id node_index = no_id;    ///< the runtime's number of the node
        std::uint64_t calls = 0;  ///< in all runs
        std::vector<double> runs; ///< microseconds in each run; shorter where the rest is 0

        /// Returns: microseconds in all runs. Complexity: O(runs).
        [[nodiscard]] double total() const {
            return std::accumulate(runs.begin(), runs.end(), 0.0);
        }
    };

    /// Adds a measurement to the current run. Complexity: O(log kernels).
    void add(const timed_event& event) {
        const auto at =
            index_
                .try_emplace(key(event.name, event.provider, event.op_type, event.node_index),
                             kernels_.size())
                .first->second;
        if (at == kernels_.size()) {
            kernels_.push_back({std::string(event.name),
                                std::string(event.op_type),
                                std::string(event.provider),
                                event.node_index,
                                0,
                                {}});
        }
        auto& known = kernels_[at];
        known.runs.resize(std::max(known.runs.size(), runs_ + 1));
        known.runs[runs_] += event.microseconds;
        known.calls += event.calls;
        run_calls_.resize(std::max(run_calls_.size(), runs_ + 1));
        run_calls_[runs_].emplace_back(at, event.calls);
        open_ = true;
    }

    /// Ends a run; one in which nothing was measured is none.
    void end_run() {
        runs_ += open_ ? 1 : 0;
        open_ = false;
    }

    /// Adds all runs of another profile behind those that are there. Complexity: O(measurements).
    void append(const profile& other) {
        end_run();
        for (std::size_t run = 0; run < other.runs(); ++run) {
            std::map<std::size_t, std::uint64_t> calls; // by kernel
            for (const auto& [at, count] : other.run_calls_[run]) {
                calls[at] += count;
            }
            for (const auto& [at, count] : calls) {
                const auto& from = other.kernels_[at];
                add({from.name, from.op_type, from.provider, from.runs[run], from.node_index,
                     count});
            }
            end_run();
        }
        dropped_ += other.dropped_;
    }

    /// Forgets the first runs, in which runtimes still make room and choose.
    /// Requires: at least one run stays. Complexity: O(measurements).
    void drop_runs(std::size_t count) {
        for (std::size_t run = 0; run < count; ++run) {
            for (const auto& [at, calls] : run_calls_[run]) {
                kernels_[at].calls -= calls;
            }
        }
        for (auto& known : kernels_) {
            known.runs.erase(known.runs.begin(),
                             known.runs.begin() +
                                 static_cast<std::ptrdiff_t>(std::min(count, known.runs.size())));
        }
        run_calls_.erase(run_calls_.begin(),
                         run_calls_.begin() + static_cast<std::ptrdiff_t>(count));
        runs_ -= count;
        dropped_ += count;
    }

    /// What ran, in the order of the file.
    [[nodiscard]] const std::vector<kernel>& kernels() const noexcept { return kernels_; }
    /// Returns: how many runs there are; the last need not have ended.
    [[nodiscard]] std::size_t runs() const noexcept { return runs_ + (open_ ? 1 : 0); }
    /// How many runs were left out as warm-up.
    [[nodiscard]] std::size_t dropped() const noexcept { return dropped_; }

    /// Returns: microseconds in all runs. Complexity: O(kernels times runs).
    [[nodiscard]] double total() const {
        double sum = 0;
        for (const auto& known : kernels_) {
            sum += known.total();
        }
        return sum;
    }

private:
    using key = std::tuple<std::string, std::string, std::string, id>;

    std::vector<kernel> kernels_;
    std::map<key, std::size_t> index_;
    std::vector<std::vector<std::pair<std::size_t, std::uint64_t>>> run_calls_; // kernel, calls
    std::size_t runs_ = 0;
    std::size_t dropped_ = 0;
    bool open_ = false; // something was measured since the last run ended
};

} // namespace stemma

#endif // STEMMA_COST_PROFILE_HPP
