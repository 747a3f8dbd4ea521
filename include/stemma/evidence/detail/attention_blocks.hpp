// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_ATTENTION_BLOCKS_HPP
#define STEMMA_EVIDENCE_DETAIL_ATTENTION_BLOCKS_HPP

#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/layout_types.hpp>
#include <stemma/evidence/detail/region_facts.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>

#include <cstddef>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: for each module with parameters, the outermost module around it that runs and in which
/// nothing else has parameters; `no_id` for other modules, and if that is the model.
/// Complexity: O(modules + parameters), times the depth of the lists around modules.
template <parameter_readers Ops, module_view Modules>
[[nodiscard]] std::vector<id> modules_around_lone_owners(const region_facts<Ops, Modules>& facts) {
    const auto& tree = facts.tree;
    std::vector<id> owning(tree.size(), 0); // how many in and below a module have parameters
    for (id p = 0; p < facts.ops.parameter_count(); ++p) {
        for (auto owner : facts.owners.of(p)) {
            owning[owner] = 1;
        }
    }
    const std::vector<id> owns = owning;
    for (auto m = static_cast<id>(tree.size()); m-- > 1;) {
        owning[tree.parent(m)] += owning[m];
    }
    std::vector<id> outermost(tree.size(), no_id); // with one that has parameters
    std::vector<id> around(tree.size(), no_id);
    for (id m = 1; m < tree.size(); ++m) {
        const auto above = outermost[tree.parent(m)];
        outermost[m] = owning[m] != 1 ? no_id : above == no_id ? m : above;
        const auto runs = outermost[m] == no_id ? no_id : facts.code.nearest(outermost[m]);
        around[m] = owns[m] == 0 || runs == m || runs == 0 ? no_id : runs;
    }
    return around;
}

/// Finds the rest of an attention whose last projection has a name and whose first ones lost
/// theirs: whatever leads to that projection only, back to products with nameless weights, and what
/// lays out values for these.
template <operator_view Ops, module_view Modules>
class attention_blocks {
public:
    /// Requires: `facts` outlives it.
    explicit attention_blocks(region_facts<Ops, Modules>& facts) : facts_(facts) {}

    /// Assigns such operators to the module of the projection, if that is an attention of torch;
    /// and those with a Softmax among them to the module around a projection of which nothing else
    /// has names, unless they read results of others with names. Complexity: O(V), and a bounded
    /// number of operators for each attention.
    void complete() const {
        for (id v = 0; v < facts_.size(); ++v) {
            if (facts_.owner[v] != no_id && facts_.attends[facts_.owner[v]]) {
                give(leading_to(v), facts_.owner[v]);
            }
        }
        if (range::contains(facts_.lost, true)) {
            complete_around(modules_around_lone_owners(facts_));
        }
    }

private:
    void complete_around(const std::vector<id>& around) const {
        for (id v = 0; v < facts_.size(); ++v) {
            const auto module = facts_.owner[v] == no_id ? no_id : around[facts_.owner[v]];
            if (module == no_id) {
                continue;
            }
            auto region = leading_to(v);
            const bool attends =
                range::any_of(region.operators, [&](id u) { return facts_.is(u, "Softmax"); });
            if (attends && !reads_known(region)) {
                region.operators.erase(region.operators.begin()); // the projection
                give(region, module);
            }
        }
    }

    struct block {
        std::vector<id> operators;
        std::vector<bool> begins; // by operator: lays out what a nameless weight multiplies
    };

    /// Assigns operators to a module if nameless weights are among what they read.
    void give(const block& region, id module) const {
        if (range::any_of(region.operators, [&](id u) { return facts_.lost[u]; })) {
            for (const auto u : region.operators) {
                facts_.owner[u] = module;
            }
        }
    }

    /// Whether operators behind nameless products read what is computed by modules with names,
    /// other than that of the projection.
    [[nodiscard]] bool reads_known(const block& region) const {
        const auto& owner = facts_.owner;
        const auto projection = owner[region.operators.front()];
        for (std::size_t i = 0; i < region.operators.size(); ++i) {
            const bool first = region.begins[i] || (i != 0 && facts_.lost[region.operators[i]]);
            if (!first && range::any_of(facts_.producers(region.operators[i]), [&](id w) {
                    return !facts_.steady[w] && owner[w] != no_id && owner[w] != projection;
                })) {
                return true;
            }
        }
        return false;
    }

    [[nodiscard]] block leading_to(id v) const {
        constexpr std::size_t max_region = 64;
        block reached{{v}, {false}};
        auto& region = reached.operators;
        const auto leads_inside = [&](id u) {
            return range::all_of(facts_.readers(u), [&](id w) {
                return facts_.steady[w] || range::contains(reached.operators, w);
            });
        };
        for (bool grows = true; grows && region.size() < max_region;) {
            grows = false;
            for (std::size_t i = 0; i < region.size(); ++i) {
                const bool first = reached.begins[i] || (i != 0 && facts_.lost[region[i]]);
                for (const auto u : facts_.producers(region[i])) {
                    const bool fits = facts_.bare[u] && !facts_.steady[u] &&
                                      facts_.owner[u] == no_id &&
                                      (!first || is_layout(facts_.type(u)));
                    if (fits && !range::contains(region, u) && leads_inside(u)) {
                        region.push_back(u);
                        reached.begins.push_back(first);
                        grows = true;
                    }
                }
            }
        }
        return reached;
    }

    region_facts<Ops, Modules>& facts_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_ATTENTION_BLOCKS_HPP
