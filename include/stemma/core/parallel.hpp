// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CORE_PARALLEL_HPP
#define STEMMA_CORE_PARALLEL_HPP

#include <stemma/config.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <initializer_list>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// How many threads may work at once. Results and output do not depend on it.
struct thread_limit {
    unsigned most = 1;                               ///< threads at once; 0 counts as 1
    std::size_t least_bytes = std::size_t{1} << 23U; ///< file size that justifies a thread

    /// Returns: the hardware concurrency, at most `ceiling`: beyond that, serial phases leave
    /// threads idle.
    [[nodiscard]] static thread_limit of_machine(unsigned ceiling = 8) {
        return {std::clamp(std::thread::hardware_concurrency(), 1U, ceiling)};
    }

    /// Returns: the limit that applies to calls of this thread: that of its innermost
    /// `thread_scope`.
    [[nodiscard]] static thread_limit current() noexcept;

    /// Returns: the number of parts to divide so many bytes into, at least one.
    [[nodiscard]] std::size_t parts(std::size_t bytes) const noexcept {
        const auto worth = bytes / std::max<std::size_t>(least_bytes, 1);
        return std::clamp<std::size_t>(worth, 1, std::max(most, 1U));
    }

    /// Returns: the number of parts for so many operators: that of a file holding them.
    [[nodiscard]] std::size_t parts_of_operators(std::size_t operators) const noexcept {
        constexpr std::size_t bytes_of_one = 256;
        return parts(operators * bytes_of_one);
    }

    /// Returns: the number of parts for so many tensors whose data are read, mostly many bytes.
    [[nodiscard]] std::size_t parts_of_tensors(std::size_t tensors) const noexcept {
        return tensors < 2 ? 1 : parts(std::size_t{1} << 30U);
    }
};

/// While it exists, calls of this thread may use several threads. A library has no business
/// starting threads in its host process, so without one they use no other thread; nor do calls
/// that policies make in threads that an algorithm has started.
class thread_scope {
public:
    /// Requires: destroyed by the same thread, inner scopes first.
    explicit thread_scope(thread_limit threads) noexcept
        : before_(std::exchange(current_, threads)) {}

    thread_scope(const thread_scope&) = delete;
    thread_scope& operator=(const thread_scope&) = delete;

    /// Restores the limit from before.
    ~thread_scope() { current_ = before_; }

private:
    friend thread_limit;

    inline static constinit thread_local thread_limit current_{};
    thread_limit before_;
};

inline thread_limit thread_limit::current() noexcept {
    return thread_scope::current_;
}

namespace detail {

/// Runs a task. Returns: what it threw, if anything.
template <class Task>
[[nodiscard]] std::exception_ptr thrown_by(const Task& task) {
#if defined(__cpp_exceptions)
    try {
        task();
    } catch (...) {
        return std::current_exception();
    }
#else
    task();
#endif
    return nullptr;
}

/// Throws: what was thrown, if anything.
inline void rethrow([[maybe_unused]] const std::exception_ptr& thrown) {
#if defined(__cpp_exceptions)
    if (thrown) {
        std::rethrow_exception(thrown);
    }
#endif
}

/// Returns: a thread that runs a task; none if this process cannot start more.
[[nodiscard]] inline std::thread start_thread(std::function<void()> task) {
#if defined(__cpp_exceptions)
    try {
        return std::thread(std::move(task));
    } catch (const std::system_error&) {
        return {};
    }
#else
    return std::thread(std::move(task));
#endif
}

/// Returns: the limit of this thread while others are busy for it.
[[nodiscard]] inline thread_limit remaining_threads(std::size_t others) noexcept {
    auto threads = thread_limit::current();
    threads.most = threads.most > others ? threads.most - static_cast<unsigned>(others) : 1;
    return threads;
}

/// Calls `f(part)` for every part in [0, count), each in a thread of its own except the first,
/// which runs in this one, and waits for all.
///
/// Throws: what the call for the lowest part threw.
/// Complexity: that of `f`; a single part runs in this thread.
inline void for_each_part(std::size_t count, const std::function<void(std::size_t)>& f) {
    if (count <= 1) {
        for (std::size_t part = 0; part < count; ++part) {
            f(part);
        }
        return;
    }
    std::vector<std::exception_ptr> thrown(count);
    const auto run = [&](std::size_t part) { thrown[part] = thrown_by([&] { f(part); }); };
    {
        struct joined_threads {
            std::vector<std::thread> threads;
            ~joined_threads() {
                for (auto& thread : threads) {
                    thread.join();
                }
            }
        } started;
        started.threads.reserve(count - 1);
        for (std::size_t part = 1; part < count; ++part) {
            auto thread = start_thread([&run, part] { run(part); });
            if (thread.joinable()) {
                started.threads.push_back(std::move(thread));
            } else {
                run(part);
            }
        }
        const thread_scope rest(remaining_threads(count - 1));
        run(0);
    }
    for (const auto& exception : thrown) {
        rethrow(exception);
    }
}

/// Calls `f(item, worker)` for items 0, 1, ..., each on the next free worker thread: more items
/// than threads keep all busy when items vary in cost.
/// Throws: the exception of the lowest-numbered item that failed. Complexity: that of `f`.
inline void for_each_item(std::size_t count, std::size_t workers,
                          const std::function<void(std::size_t item, std::size_t worker)>& f) {
    std::atomic<std::size_t> next{0};
    std::vector<std::pair<std::size_t, std::exception_ptr>> failed(
        std::min(count, std::max<std::size_t>(workers, 1)), {count, nullptr});
    for_each_part(failed.size(), [&](std::size_t worker) {
        for (auto item = next++; item < count; item = next++) {
            if (auto thrown = thrown_by([&] { f(item, worker); })) {
                failed[worker] = {item, std::move(thrown)};
                next = count;
            }
        }
    });
    const auto first =
        std::min_element(failed.begin(), failed.end(),
                         [](const auto& a, const auto& b) { return a.first < b.first; });
    rethrow(first == failed.end() ? nullptr : first->second);
}

/// Returns: the beginning of range `part` when [0, size) is divided into `count` ranges of about
/// equal length, in order; the end for `part == count`.
[[nodiscard]] constexpr std::size_t range_begin(std::size_t size, std::size_t count,
                                                std::size_t part) noexcept {
    return size / count * part + std::min(part, size % count);
}

/// Divides [0, size) into `count` ranges of about equal length, in order, and calls `f(part, begin,
/// end)` for each, as `for_each_part` does.
///
/// Throws: what the call for the lowest part threw.
inline void for_each_range(std::size_t size, std::size_t count,
                           const std::function<void(std::size_t, std::size_t, std::size_t)>& f) {
    for_each_part(count, [&](std::size_t part) {
        f(part, range_begin(size, count, part), range_begin(size, count, part + 1));
    });
}

} // namespace detail

/// A task beside the caller's work: in another thread if a `thread_scope` allows several and the
/// number of operators justifies one; otherwise in this one, when the caller waits for it.
/// Meanwhile calls of this thread may use one thread less.
class task_beside {
public:
    /// Starts it. Requires: everything the task refers to outlives this object; scopes that begin
    /// after it end before the wait.
    task_beside(std::size_t operators, std::function<void()> task) : task_(std::move(task)) {
        if (thread_limit::current().parts_of_operators(operators) > 1) {
            thread_ = detail::start_thread([this] { thrown_ = detail::thrown_by(task_); });
            rest_.emplace(detail::remaining_threads(1));
        }
    }

    task_beside(const task_beside&) = delete;
    task_beside& operator=(const task_beside&) = delete;

    /// Waits for its thread, if it has one.
    ~task_beside() {
        if (thread_.joinable()) {
            thread_.join();
        }
    }

    /// Waits until it has ended. Requires: called once. Throws: what the task threw.
    void wait() {
        rest_.reset();
        if (thread_.joinable()) {
            thread_.join();
            detail::rethrow(thrown_);
        } else {
            task_();
        }
    }

private:
    std::function<void()> task_;
    std::exception_ptr thrown_;
    std::thread thread_;
    std::optional<thread_scope> rest_;
};

namespace detail {

/// Runs all tasks, each once, in at most so many threads including this one, which takes the first,
/// and waits for all.
///
/// Requires: tasks are independent of each other.
/// Throws: what a task threw.
/// Complexity: that of the tasks.
inline void run_tasks(std::size_t threads, std::initializer_list<std::function<void()>> tasks) {
    const auto count = std::min(std::max<std::size_t>(threads, 1), tasks.size());
    for_each_part(count, [&](std::size_t part) {
        for (auto i = part; i < tasks.size(); i += count) {
            tasks.begin()[i]();
        }
    });
}

} // namespace detail

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_CORE_PARALLEL_HPP
