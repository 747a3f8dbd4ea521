// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CORE_DETAIL_PIPELINE_HPP
#define STEMMA_CORE_DETAIL_PIPELINE_HPP

#include <stemma/core/parallel.hpp>

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// A step that every item of a pipeline goes through.
struct pipeline_step {
    bool in_order = false; ///< one item at a time, in order; else several at once
    std::function<void(std::size_t item, std::size_t worker)> run; ///< does it
};

/// Bounds on parallelism in a pipeline.
struct pipeline_limits {
    std::size_t workers = 1;   ///< threads, this one included; 0 counts as 1
    std::size_t group = 1;     ///< items a thread takes at once; 0 counts as 1
    std::size_t in_flight = 4; ///< unfinished groups per worker
};

/// The state of a pipeline that its workers share.
class pipeline_run {
public:
    pipeline_run(std::size_t count, const std::vector<pipeline_step>& steps,
                 const pipeline_limits& limits)
        : count_(count)
        , group_size_(std::max<std::size_t>(limits.group, 1))
        , groups_(count / group_size_ + (count % group_size_ != 0 ? 1 : 0))
        , steps_(steps)
        , open_(std::max<std::size_t>(limits.workers, 1) *
                std::max<std::size_t>(limits.in_flight, 1))
        , turn_(steps.size(), 0)
        , end_(groups_) {}

    /// Works until nothing is left.
    void work(std::size_t worker) {
        std::unique_lock lock(mutex_);
        while (done_ < end_) {
            const auto g = take();
            if (g == groups_) {
                changed_.wait(lock);
                continue;
            }
            auto& taken = open_[g % open_.size()];
            lock.unlock();
            run(taken, worker);
            lock.lock();
            finish(g, taken);
        }
        changed_.notify_all();
    }

    /// Rethrows the exception of the lowest-numbered item that failed.
    void rethrow() const {
#if defined(__cpp_exceptions)
        if (thrown_) {
            std::rethrow_exception(thrown_);
        }
#endif
    }

private:
    struct group {
        std::size_t step = 0;
        std::size_t first = 0; // items
        std::size_t last = 0;  // past the last one that did not fail
        bool busy = false;
        std::exception_ptr thrown{};
    };

    /// Returns: a group to work on, oldest first, or `groups_`.
    [[nodiscard]] std::size_t take() {
        for (auto g = done_; g < std::min(begun_, end_); ++g) {
            auto& next = open_[g % open_.size()];
            if (!next.busy && (!steps_[next.step].in_order || turn_[next.step] == g)) {
                next.busy = true;
                return g;
            }
        }
        if (begun_ >= end_ || begun_ - done_ == open_.size() ||
            (steps_.front().in_order && turn_.front() != begun_)) {
            return groups_;
        }
        const auto first = begun_ * group_size_;
        open_[begun_ % open_.size()] = {0, first, std::min(count_, first + group_size_), true, {}};
        return begun_++;
    }

    void run(group& taken, std::size_t worker) const {
        auto item = taken.first;
#if defined(__cpp_exceptions)
        try {
#endif
            for (; item < taken.last; ++item) {
                steps_[taken.step].run(item, worker);
            }
#if defined(__cpp_exceptions)
        } catch (...) { // earlier items go on
            taken.last = item;
            taken.thrown = std::current_exception();
        }
#endif
    }

    void finish(std::size_t g, group& taken) {
        turn_[taken.step] = g + 1; // used by in-order steps only
        if (taken.thrown && g < end_) {
            end_ = g + 1;
            thrown_ = taken.thrown;
        }
        taken.busy = ++taken.step == steps_.size();
        while (done_ < begun_ && open_[done_ % open_.size()].step == steps_.size()) {
            ++done_;
        }
        changed_.notify_all();
    }

    std::size_t count_;
    std::size_t group_size_;
    std::size_t groups_;
    const std::vector<pipeline_step>& steps_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<group> open_;       // groups in flight, by number modulo their count
    std::vector<std::size_t> turn_; // by in-order step: the next group
    std::size_t begun_ = 0;         // groups begun
    std::size_t done_ = 0;          // groups before this one are finished
    std::size_t end_;               // groups from this one on are abandoned
    std::exception_ptr thrown_;
};

/// Takes items 0, 1, ... through all steps, several at once. A step that is `in_order` sees them in
/// sequence, so the results of such steps do not depend on the number of workers; steps of one item
/// never overlap. With one worker everything happens in this thread, group by group.
///
/// An exception in a step ends the item: earlier items still go through all steps; later items go
/// through no further in-order step.
/// Throws: the exception of the lowest-numbered item that failed. Complexity: that of the steps.
inline void run_pipeline(std::size_t count, const std::vector<pipeline_step>& steps,
                         const pipeline_limits& limits = {}) {
    if (count == 0 || steps.empty()) {
        return;
    }
    detail::pipeline_run run(count, steps, limits);
    for_each_part(std::max<std::size_t>(limits.workers, 1),
                  [&](std::size_t worker) { run.work(worker); });
    run.rethrow();
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CORE_DETAIL_PIPELINE_HPP
