// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TYPES_DETAIL_SHAPE_OBSERVER_HPP
#define STEMMA_TYPES_DETAIL_SHAPE_OBSERVER_HPP

#include <stemma/core/id.hpp>
#include <stemma/types/detail/fact_table.hpp>

namespace stemma::inline STEMMA_ABI::detail {

/// Observes inference node by node in execution order, with the facts known so far. Bodies come
/// once, before their owner; a function body comes at each call, before the call itself.
class shape_observer {
public:
    shape_observer() = default;
    shape_observer(const shape_observer&) = delete;
    shape_observer& operator=(const shape_observer&) = delete;
    virtual ~shape_observer() = default;

    /// The facts, before the first node. Valid until inference ends.
    virtual void begin(fact_table&) {}

    /// The nodes of a function follow, as seen by the call.
    virtual void enter(id) {}
    /// The call is complete and its results are known. The call itself follows.
    virtual void leave(id) {}

    /// The outputs of a node are inferred, as far as possible.
    virtual void see(id) {}
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_TYPES_DETAIL_SHAPE_OBSERVER_HPP
