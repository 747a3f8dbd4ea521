// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_REGION_FACTS_HPP
#define STEMMA_EVIDENCE_DETAIL_REGION_FACTS_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/evidence/detail/bypassed_modules.hpp>
#include <stemma/evidence/detail/context_facts.hpp>
#include <stemma/evidence/detail/module_code.hpp>
#include <stemma/evidence/detail/nearest_owners.hpp>
#include <stemma/evidence/detail/owner_paths.hpp>
#include <stemma/evidence/detail/parameter_owners.hpp>
#include <stemma/evidence/evidence_context.hpp>
#include <stemma/model/detail/mark_matrices.hpp>
#include <stemma/model/detail/nesting.hpp>
#include <stemma/model/detail/wired_operators.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>
#include <stemma/model/sweeps.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// What is known about operators before looking at their neighbours, by vertex index, and about
/// modules; the rules that look at neighbours share it, and refine `owner`.
template <operator_view Ops, module_view Modules>
class region_facts : public wired_operators<Ops> {
public:
    using wired_operators<Ops>::ops;
    using wired_operators<Ops>::steady;
    const Modules& modules;
    const tree_index& tree;
    const parameter_owners& owners;
    module_code<Modules> code;
    std::unordered_map<id, id> sums; ///< modules of operators with an addition fused in

    std::vector<id> owner;  ///< the module whose parameters it reads, or that its name denotes
    std::vector<id> named;  ///< from metadata or a name
    std::vector<id> reads;  ///< `owner`, except for operators that only run readers of parameters
    std::vector<bool> bare; ///< only parameters can show where it comes from
    std::vector<bool> products; ///< it reads a weight
    std::vector<bool> lost;     ///< it reads a weight whose name is lost, or stands for several
    std::vector<bool> attends;  ///< by module: it uses its child's parameters itself
    std::vector<id> within;     ///< by module: the one of whatever is between its parameters

    /// Nothing is known about the operators. Requires: all arguments outlive it.
    /// Complexity: O(V + E), and that of `module_code`.
    region_facts(const Ops& view, const Modules& all, const parameter_owners& of_parameters,
                 std::vector<bool> independent)
        : wired_operators<Ops>(view, std::move(independent))
        , modules(all)
        , tree(all.index())
        , owners(of_parameters)
        , code(view, all, of_parameters)
        , owner(this->size(), no_id)
        , named(owner)
        , reads(owner)
        , bare(owner.size(), true)
        , products(owner.size())
        , lost(owner.size())
        , attends(tree.size())
        , within(tree.size()) {}

    /// Requires: what the context has computed outlives it. Complexity: as above.
    explicit region_facts(evidence_context<Ops, Modules>& context)
        : region_facts(context.ops(), context.modules(), context.owners(), context.independent()) {
        sums = context.sums();
        learn(context);
    }

    /// Calls `f(input)` for the inputs of the model that an operator reads.
    template <class Function>
    void for_each_input(id v, Function f) const {
        if constexpr (requires { ops.for_each_data(this->vertex(v), f); }) {
            if (!steady[v]) {
                ops.for_each_data(this->vertex(v), f);
            }
        }
    }

private:
    void learn(evidence_context<Ops, Modules>& context) {
        const auto& bypassed = context.bypassed();
        for (auto m : bypassed) {
            attends[tree.parent(m)] = true;
        }
        const named_places names(context);
        const tied_parameters<Ops> tied(ops, owners);
        const auto weights = mark_matrices(ops); // by parameter
        const auto paths = owner_paths(ops);     // by parameter: of its owner, by name
        for (id v = 0; v < owner.size(); ++v) {
            const auto vertex = this->vertex(v);
            bare[v] = !names.has_any(v);
            if constexpr (calling_operators<Ops>) {
                bare[v] = bare[v] && ops.callee(vertex) == no_id &&
                          ops.enclosing_function(vertex) == no_id;
            }
            ops.for_each_parameter(vertex, [&](id p) {
                const auto all = owners.of(p);
                for (std::size_t i = 0; i < all.size(); ++i) {
                    if (tied.favours(vertex, p, i)) {
                        const auto runner = past_bypassed(modules, bypassed, all[i]);
                        owner[v] = owner[v] == no_id ? runner : tree.lca(owner[v], runner);
                    }
                }
            });
            named[v] = names[v];
            // Data-independent operators carry the name of whichever module first needed them.
            owner[v] = named[v] != no_id && !steady[v] ? named[v] : owner[v];
            if constexpr (sized_parameters<Ops>) {
                // A weight whose name is lost belongs to some unknown module, and so does a
                // parameter whose name counts for nobody, as equal ones were merged. Other
                // constants without an owner are no evidence.
                ops.for_each_parameter(vertex, [&](id p) {
                    products[v] = products[v] || weights[p];
                    lost[v] = lost[v] || ((weights[p] || !paths[p].empty()) &&
                                          owners.of(p).empty() && owner[v] == no_id && bare[v]);
                });
            }
        }
        find_spread_reads();
        reads = owner;
        hear_bodies();
    }

    /// One call of a module that computes with its parameters itself reads each of them once, most
    /// often at several operators; further calls read the same ones again. What is between calls
    /// is around all that is called as often.
    void find_spread_reads() {
        std::vector<id> reader(ops.parameter_count(), no_id);
        std::vector<id> count(reader.size());
        std::vector<id> first(tree.size(), no_id);
        std::vector<bool> spread(tree.size());
        std::vector<id> calls(tree.size());
        for (id v = 0; v < owner.size(); ++v) {
            ops.for_each_parameter(this->vertex(v), [&](id p) {
                count[p] += reader[p] == v ? 0U : 1U;
                reader[p] = v;
                for (auto m : owners.of(p)) {
                    calls[m] = std::max(calls[m], count[p]);
                    spread[m] = spread[m] || (first[m] != no_id && first[m] != v);
                    first[m] = v;
                }
            });
        }
        std::map<id, common_module> called; // by number of calls
        for (id m = 0; m < tree.size(); ++m) {
            called[calls[m]].add(m);
        }
        for (id m = 0; m < tree.size(); ++m) {
            within[m] = spread[m] && calls[m] == 1 ? m : around(tree, m);
            if (within[m] != m && calls[m] > 1) {
                within[m] = tree.lca(within[m], called[calls[m]].get(tree));
            }
        }
    }

    /// The owner of a body runs whatever parameters are read in it.
    void hear_bodies() {
        const auto inner = operators_in_bodies(ops);
        std::vector<common_module> inside(inner.empty() ? 0 : owner.size());
        const auto settle = [&](id v) {
            if (owner[v] == no_id && bare[v]) {
                owner[v] = inside[v].get(tree);
            }
        };
        for (auto op = inner.rbegin(); op != inner.rend(); ++op) {
            settle(op->v);
            inside[op->owner].add(owner[op->v] == no_id ? no_id : around(tree, owner[op->v]));
        }
        for (const auto& op : inner) {
            settle(op.owner);
        }
    }
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_REGION_FACTS_HPP
