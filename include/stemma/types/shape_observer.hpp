// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TYPES_SHAPE_OBSERVER_HPP
#define STEMMA_TYPES_SHAPE_OBSERVER_HPP

#include <stemma/core/id.hpp>
#include <stemma/types/detail/extent_algebra.hpp>
#include <stemma/types/detail/fact_table.hpp>

namespace stemma::inline STEMMA_ABI {

/// Sees a model as it runs, node by node, with what is known of the values by then. Bodies of nodes
/// come before their owner, once; that of a function comes at each call, before the call itself.
class shape_observer {
public:
    shape_observer() = default;
    shape_observer(const shape_observer&) = delete;
    shape_observer& operator=(const shape_observer&) = delete;
    virtual ~shape_observer() = default;

    /// What is known, before the first node. Valid until inference ends.
    virtual void begin(const detail::fact_table&, detail::extent_algebra&) {}

    /// The nodes of a function follow, as the call sees them.
    virtual void enter(id) {}
    /// The call is complete, its results are known. It is itself told of next.
    virtual void leave(id) {}

    /// What a node makes is inferred, as far as that is possible.
    virtual void see(id) {}
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_TYPES_SHAPE_OBSERVER_HPP
