// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CORE_IDS_HPP
#define STEMMA_CORE_IDS_HPP

#include <stemma/core/id.hpp>

#include <concepts>

namespace stemma::inline STEMMA_ABI {

// Each kind of thing in a model has its own index type, dense from 0. They do not mix, and none
// converts implicitly to a number: use `to_index`.

/// The index of a node over all graphs of a model: a vertex of its operator graph.
enum class node_id : id {};

/// The index of a value over all graphs of a model; the outputs of nodes come first.
enum class value_id : id {};

/// The preorder rank of a module: a vertex of the module tree. The root is 0.
enum class module_id : id {};

/// The index of a weight stored in the file.
enum class parameter_id : id {};

namespace detail {

/// The index types.
template <class Id>
concept typed_id = std::same_as<Id, node_id> || std::same_as<Id, value_id> ||
    std::same_as<Id, module_id> || std::same_as<Id, parameter_id>;

} // namespace detail

/// Returns: the number of an index, for tables and Boost.Graph.
template <detail::typed_id Id>
[[nodiscard]] constexpr id to_index(Id i) noexcept {
    return static_cast<id>(i);
}

/// A node, value, module or weight as an argument: a handle, an id or a number. Requires, wherever
/// it is an argument: it belongs to the model that is queried.
template <detail::typed_id Id>
class index_arg {
public:
    // NOLINTBEGIN(google-explicit-constructor): it is made to convert
    /// From the number.
    constexpr index_arg(id number) noexcept : number_(number) {}
    /// From the id.
    constexpr index_arg(Id i) noexcept : number_(to_index(i)) {}
    /// From the handle.
    template <class Handle>
        requires requires(const Handle& handle) {
            { handle.id() } -> std::same_as<Id>;
        }
    constexpr index_arg(const Handle& handle) noexcept : number_(to_index(handle.id())) {}

    /// The number.
    constexpr operator id() const noexcept { return number_; }
    // NOLINTEND(google-explicit-constructor)

private:
    id number_;
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_CORE_IDS_HPP
