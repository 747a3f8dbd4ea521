// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ALIGN_CAPTURED_OPERATIONS_HPP
#define STEMMA_ALIGN_CAPTURED_OPERATIONS_HPP

#include <stemma/core/detail/string_pool.hpp>
#include <stemma/core/id.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// Operations recorded by a front end, in execution order, each with the module that ran it and
/// what it read.
///
/// An operation may have several names: the call as written by the user
/// (`torch.nn.functional.linear`) and what it dispatched to (`aten.addmm.default`).
class captured_operations {
public:
    /// What is known about an operation, besides its names.
    struct operation {
        id module = no_id;     ///< as the caller numbers modules
        id call = no_id;       ///< which call of the module, from 0; `no_id` where unknown
        bool exact = true;     ///< otherwise that module or a descendant
        bool varies = false;   ///< reads something that varies between runs: an input of the model,
                               ///< or a result of one
        bool optional = false; ///< may leave no trace in the model, whatever its name
    };

    /// A parameter that an operation reads, by name, with its shape if known.
    struct parameter {
        id name = no_id;                 ///< in `parameter_names()`
        std::vector<std::int64_t> shape; ///< empty where unknown; an unknown extent is negative
    };

    /// Adds an operation and returns its number. Subsequent additions belong to it, until the next
    /// one.
    id add(const operation& one, std::string_view name) {
        const auto number = static_cast<id>(operations_.size());
        operations_.push_back({one, names_begin(), static_cast<id>(parameters_.size()),
                               static_cast<id>(sources_.size())});
        add_name(name);
        return number;
    }

    /// Adds a further name to the operation added last.
    void add_name(std::string_view name) { operation_names_.push_back(names_.intern(name)); }

    /// The operation added last reads a parameter.
    void add_parameter(std::string_view name, std::span<const std::int64_t> shape) {
        parameters_.push_back({parameter_names_.intern(name), {shape.begin(), shape.end()}});
    }

    /// The operation added last reads the result of an earlier one.
    /// Requires: `earlier` is below its number.
    void add_source(id earlier) {
        sources_.push_back(earlier);
        operations_.back().what.varies |= operations_[earlier].what.varies;
    }

    /// The operation added last reads something that is neither an operation's result nor a
    /// parameter.
    void add_input() { operations_.back().what.varies = true; }

    /// What operation `i` makes is the next result of the model. Not needed if these are unknown.
    /// Requires: `i` is below `size()`.
    void add_result(id i) { results_.push_back(i); }

    /// Adds a reason to trust the capture less, in words.
    void add_fault(std::string text) { faults_.push_back(std::move(text)); }

    /// Returns: the number of operations; they are numbered from 0 in order of addition.
    [[nodiscard]] id size() const noexcept { return static_cast<id>(operations_.size()); }

    /// Whether no operation was added.
    [[nodiscard]] bool empty() const noexcept { return operations_.empty(); }

    /// Requires: `i` is below `size()`. Valid until the next `add`.
    [[nodiscard]] const operation& operator[](id i) const noexcept { return operations_[i].what; }

    /// For changing what was passed to `add`.
    [[nodiscard]] operation& operator[](id i) noexcept { return operations_[i].what; }

    /// Returns: ids in `names()`, in order of addition; the first is the one passed to `add`. Valid
    /// until a name is added.
    [[nodiscard]] std::span<const id> names_of(id i) const noexcept {
        return slice(operation_names_, operations_[i].first_name,
                     i + 1 < size() ? operations_[i + 1].first_name : no_id);
    }

    /// Returns: the parameters read, as added; valid until a parameter is added.
    [[nodiscard]] std::span<const parameter> parameters_of(id i) const noexcept {
        return slice(parameters_, operations_[i].first_parameter,
                     i + 1 < size() ? operations_[i + 1].first_parameter : no_id);
    }

    /// Returns: numbers of earlier operations, as added; valid until a source is added.
    [[nodiscard]] std::span<const id> sources_of(id i) const noexcept {
        return slice(sources_, operations_[i].first_source,
                     i + 1 < size() ? operations_[i + 1].first_source : no_id);
    }

    /// The distinct names of operations and of parameters.
    [[nodiscard]] const detail::string_pool& names() const noexcept { return names_; }

    /// The distinct names of parameters.
    [[nodiscard]] const detail::string_pool& parameter_names() const noexcept {
        return parameter_names_;
    }

    /// Returns: the operations that make results of the model, as added; valid until one is added.
    [[nodiscard]] std::span<const id> results() const noexcept { return results_; }

    /// In order of addition; valid until the next one is added.
    [[nodiscard]] std::span<const std::string> faults() const noexcept { return faults_; }

private:
    struct entry {
        operation what;
        id first_name = 0;
        id first_parameter = 0;
        id first_source = 0;
    };

    [[nodiscard]] id names_begin() const noexcept {
        return static_cast<id>(operation_names_.size());
    }

    template <class T>
    [[nodiscard]] static std::span<const T> slice(const std::vector<T>& all, id first, id last) {
        const auto end = last == no_id ? all.size() : last;
        return std::span(all).subspan(first, end - first);
    }

    std::vector<entry> operations_;
    std::vector<id> operation_names_;
    std::vector<parameter> parameters_;
    std::vector<id> sources_;
    detail::string_pool names_;
    detail::string_pool parameter_names_;
    std::vector<id> results_;
    std::vector<std::string> faults_;
};

namespace detail {

/// Whether exporters write the first operand of an operation last: `rsub(a, b)` is `Sub(b, a)`,
/// `masked_fill(a, mask)` is `Where(mask, value, a)`.
/// Complexity: O(length of its names).
[[nodiscard]] inline bool reads_first_last(const captured_operations& captured, id operation) {
    constexpr std::array<std::string_view, 4> kinds{"rsub", "kl_div", "masked_fill", "addmm"};
    const std::string_view name = captured.names()[captured.names_of(operation).front()];
    return std::any_of(kinds.begin(), kinds.end(),
                       [&](std::string_view kind) { return name.find(kind) != name.npos; });
}

} // namespace detail

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_ALIGN_CAPTURED_OPERATIONS_HPP
