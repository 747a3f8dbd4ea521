// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_TIED_PARAMETERS_HPP
#define STEMMA_EVIDENCE_DETAIL_TIED_PARAMETERS_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/parameter_owners.hpp>
#include <stemma/model/operator_view.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>

namespace stemma::inline STEMMA_ABI::detail {

/// For a parameter shared by several modules, which owner a reader speaks for.
///
/// A file names such a parameter after the module whose operator reads it first, as an embedding
/// before the output layer. Operators of the same type as the first reader speak for the owner in
/// the name, others for the other owners.
template <parameter_readers Ops>
class tied_parameters {
public:
    /// Requires: both outlive it.
    /// Complexity: O(parameters), and O(operators) if any is shared.
    tied_parameters(const Ops& ops, const parameter_owners& owners) : ops_(&ops), owners_(&owners) {
        if constexpr (named_operators<Ops>) {
            bool any = false;
            for (id p = 0; p < ops.parameter_count() && !any; ++p) {
                any = owners.of(p).size() > 1;
            }
            if (!any) {
                return;
            }
            for (auto [it, last] = vertices(ops.graph()); it != last; ++it) {
                const auto v = *it;
                ops.for_each_parameter(v, [&](id p) {
                    if (owners.of(p).size() > 1) {
                        first_type_.emplace(p, std::string(ops.op_type(v)));
                    }
                });
            }
        }
    }

    /// Returns: whether an operator that reads parameter `p` speaks for the owner at `place` among
    /// its owners. Complexity: O(1) expected.
    [[nodiscard]] bool favours(operator_t<Ops> v, id p, std::size_t place) const {
        if constexpr (named_operators<Ops>) {
            const auto first = first_type_.find(p);
            if (owners_->of(p).size() > 1 && first != first_type_.end()) {
                return (first->second == std::string_view(ops_->op_type(v))) == (place == 0);
            }
        }
        return true;
    }

private:
    const Ops* ops_;
    const parameter_owners* owners_;
    std::unordered_map<id, std::string> first_type_; // by parameter with several owners
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_TIED_PARAMETERS_HPP
