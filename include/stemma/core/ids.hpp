// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_IDS_HPP
#define STEMMA_IDS_HPP

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

/// The index types.
template <class Id>
concept typed_id = std::same_as<Id, node_id> || std::same_as<Id, value_id> ||
    std::same_as<Id, module_id> || std::same_as<Id, parameter_id>;

/// Returns: the number of an index, for tables and Boost.Graph.
template <typed_id Id>
[[nodiscard]] constexpr id to_index(Id i) noexcept {
    return static_cast<id>(i);
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_IDS_HPP
