// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_REGION_FINDER_HPP
#define STEMMA_EVIDENCE_DETAIL_REGION_FINDER_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/detail/vertices_by_index.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/sweep_order.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/evidence/detail/attention_blocks.hpp>
#include <stemma/evidence/detail/context_facts.hpp>
#include <stemma/evidence/detail/entered_modules.hpp>
#include <stemma/evidence/detail/equal_modules.hpp>
#include <stemma/evidence/detail/layout_types.hpp>
#include <stemma/evidence/detail/left_results.hpp>
#include <stemma/evidence/detail/lone_owners.hpp>
#include <stemma/evidence/detail/module_code.hpp>
#include <stemma/evidence/detail/module_exits.hpp>
#include <stemma/evidence/detail/nearest_owners.hpp>
#include <stemma/evidence/detail/owners_around.hpp>
#include <stemma/evidence/detail/parameter_blocks.hpp>
#include <stemma/evidence/detail/parameter_owners.hpp>
#include <stemma/evidence/detail/region_facts.hpp>
#include <stemma/evidence/detail/sequence_starts.hpp>
#include <stemma/evidence/detail/sequence_steps.hpp>
#include <stemma/evidence/detail/skip_connections.hpp>
#include <stemma/evidence/detail/skipped_products.hpp>
#include <stemma/evidence/detail/stacked_results.hpp>
#include <stemma/evidence/detail/transposed_module.hpp>
#include <stemma/evidence/evidence_context.hpp>
#include <stemma/model/detail/functional_units.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>
#include <stemma/model/sweeps.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Finds the modules of unnamed operators from neighbours that have names or read parameters.
template <operator_view Ops, module_view Modules>
class region_finder {
public:
    explicit region_finder(evidence_context<Ops, Modules>& context)
        : ops_(context.ops())
        , graph_(ops_.graph())
        , modules_(context.modules())
        , tree_(context.index())
        , owners_(context.owners())
        , code_(ops_, modules_, owners_)
        , order_(graph_)
        , pattern_(find_parameter_patterns(ops_, modules_, owners_))
        , steady_(context.independent())
        , facts_(context)
        , owner_(facts_.owner)
        , named_(facts_.named)
        , products_(facts_.products)
        , lost_(facts_.lost)
        , bare_(facts_.bare)
        , vertex_(graph_)
        , sums_(context.sums())
        , position_(owner_.size(), no_id)
        , around_(ops_, vertex_, owner_, named_, steady_, lost_, position_)
        , goes_on_(owner_.size(), false)
        , met_(owner_.size(), false) {
        id step = 0;
        order_.forward([&](operator_t<Ops> v) { position_[index_of(graph_, v)] = step++; });
    }

    /// Returns: by vertex index, a module for operators without parameters of their own.
    [[nodiscard]] std::vector<id> run() {
        parameter_blocks<Ops>(ops_, bare_, steady_, products_, lost_).complete(owner_);
        const attention_blocks<Ops> attentions(ops_, bare_, steady_, lost_);
        attentions.complete(facts_.attends, owner_);
        attentions.complete_around(
            modules_around_lone_owners(modules_, code_, owners_,
                                       static_cast<id>(ops_.parameter_count())),
            owner_);
        skipped_products(ops_, modules_, code_, steady_, lost_, sums_, position_).complete(owner_);
        std::vector<id> modules(owner_.size(), no_id);
        for (std::size_t v = 0; v < modules.size(); ++v) {
            lost_[v] = lost_[v] && owner_[v] == no_id;
            modules[v] = facts_.reads[v] == no_id && bare_[v] ? owner_[v] : no_id;
        }
        // Operators that join the results of several modules are certain enough to place their
        // neighbours.
        surround(modules);
        for (std::size_t v = 0; v < modules.size(); ++v) {
            owner_[v] = joins_[v] ? modules[v] : owner_[v];
        }
        met_ = joins_;
        surround(modules);
        entered_modules(ops_, modules_, code_, order_, steady_, lost_, owner_).refine(modules);
        lay_out(modules);
        take_steps(modules);
        for_each_stacked_result(ops_, [&](id part, id whole) {
            if (bare_[part] && owner_[part] == no_id && !steady_[part]) {
                modules[part] = owner_[whole] == no_id ? modules[whole] : owner_[whole];
            }
        });
        // Regions end where parameters are read, whoever ran there.
        for (auto& module : modules) {
            module = caller(module);
        }
        serve_readers(modules);
        follow_data(modules);
        return modules;
    }

    /// Returns: members of sequences that operators imply and the tree lacks: the sequence and a
    /// number.
    [[nodiscard]] const std::vector<std::pair<id, std::uint64_t>>& missing() const noexcept {
        return missing_;
    }

private:
    /// Assigns the operators of sequence members to them.
    void take_steps(std::vector<id>& modules) {
        std::vector<bool> free(modules.size());
        std::vector<id> placed = modules;
        for (std::size_t v = 0; v < modules.size(); ++v) {
            free[v] = bare_[v] && owner_[v] == no_id && !steady_[v];
            placed[v] = steady_[v] ? no_id : owner_[v] != no_id ? owner_[v] : modules[v];
        }
        const functional_units<Ops> units(ops_, steady_, free);
        const module_exits<Ops> exits(ops_, tree_, owners_, units, placed);
        const auto give = [&](id module, const std::vector<id>& operators) {
            for (auto v : operators) {
                modules[v] = module;
            }
        };
        const equal_modules ends(ops_, modules_, code_, pattern_, units, exits);
        ends.for_each_activated(give);
        ends.for_each_end(give);
        ends.for_each_gate(give);
        const sequence_starts<Ops> starts(ops_, tree_, owners_,
                                          find_sequence_heads(modules_, code_), steady_, free,
                                          placed, units, exits);
        sequence_steps<Ops, Modules> steps(ops_, modules_, code_, pattern_, units, exits, starts);
        for (const auto& step : steps.run()) {
            if (step.member == no_id) {
                missing_.emplace_back(step.sequence, step.number);
            }
            give(step.member == no_id ? step.sequence : step.member, step.operators);
        }
    }

    /// Layout conversions inserted for a runtime belong where the data come from.
    void follow_data(std::vector<id>& modules) const {
        order_.forward([&](operator_t<Ops> vertex) {
            const auto v = index_of(graph_, vertex);
            if (!bare_[v] || owner_[v] != no_id || !converts(vertex)) {
                return;
            }
            if (const auto u = only_source(graph_, vertex, steady_); u != no_id) {
                const auto module = owner_[u] == no_id ? modules[u] : fused_module(u);
                modules[v] = module == no_id ? modules[v] : module;
            }
        });
    }

    /// Returns: the owner of what an operator reads, or what calls it if more was fused in.
    [[nodiscard]] id fused_module(id v) const {
        const auto sum = sums_.find(v);
        bool joined = false;
        if constexpr (joined_operators<Ops>) {
            joined = ops_.is_joined(vertex_[v]);
        }
        return sum != sums_.end() ? tree_.lca(owner_[v], sum->second)
               : joined           ? around(tree_, owner_[v])
                                  : owner_[v];
    }

    /// Data-independent computations, such as shapes and positions, serve their readers. A reader
    /// of parameters is itself served by the caller of its module. Such a computation ran in some
    /// module; a constant runs nowhere, so several readers share it in their common ancestor,
    /// called or not.
    void serve_readers(std::vector<id>& modules) const {
        const auto& direct = facts_.reads;
        order_.backward([&](operator_t<Ops> vertex) {
            const auto v = index_of(graph_, vertex);
            if (!steady_[v] || !bare_[v] || owner_[v] != no_id) {
                return;
            }
            common_module readers;
            for (auto [out, last] = out_edges(vertex, graph_); out != last; ++out) {
                const auto w = index_of(graph_, target(*out, graph_));
                const bool reads = named_[w] != no_id ? products_[w] : direct[w] != no_id;
                const auto module = named_[w] != no_id   ? named_[w]
                                    : direct[w] != no_id ? direct[w]
                                                         : modules[w];
                if (module != no_id) {
                    readers.add(reads ? caller(around(tree_, module)) : module);
                }
            }
            const auto shared = readers.get(tree_);
            modules[v] = is_constant(vertex) ? shared : caller(shared);
        });
    }

    /// Whether a data-independent operator has no inputs to compute anything from.
    [[nodiscard]] bool is_constant(operator_t<Ops> v) const {
        const auto [in, last] = in_edges(v, graph_);
        if constexpr (data_aware_operators<Ops>) {
            return in == last && !ops_.hides_data(v); // unlike a shape of data
        }
        return in == last;
    }

    /// Returns: the module, or its nearest ancestor that ran if it did not; `no_id` for `no_id`.
    [[nodiscard]] id caller(id module) const {
        return module == no_id ? no_id : nearest_called(modules_, code_.nearest(module));
    }

    /// Assigns every other operator to the deepest module shared by the nearest owners before and
    /// after it: their common caller. Operators that join results also belong where these meet.
    void surround(std::vector<id>& modules) {
        const auto before = around_.find_before(order_);
        const auto behind = around_.find_behind(order_);
        const auto skipped = skip_connections(ops_, modules_, code_, pattern_, facts_.attends,
                                              position_, steady_, owner_)
                                 .run(order_);
        std::vector<bool> goes_on = goes_on_; // operators between calls made by their module
        joins_.assign(modules.size(), false);
        order_.forward([&](operator_t<Ops> vertex) {
            const auto v = index_of(graph_, vertex);
            if (!bare_[v] || owner_[v] != no_id || steady_[v]) {
                return;
            }
            const auto between =
                lost_[v] && behind[v].begin() == behind[v].end()
                    ? 0
                    : shared_around(tree_, facts_.computes, position_[v], before[v], behind[v]);
            const auto joined = meeting_point(v, before, skipped[v]);
            const left_results results(ops_, vertex_, tree_, steady_, owner_, behind);
            joins_[v] =
                joined != no_id && !tree_.is_ancestor(joined, between) && !results.holds(v, joined);
            modules[v] = joins_[v] ? joined : between;
            // A Concat puts parts together for its module; an Add may be the last thing its module
            // does.
            const std::string_view type = ops_.op_type(vertex);
            goes_on[v] = joins_[v] && (type == "Concat" || (skipped[v] == no_id && type != "Add"));
            const auto u = only_source(graph_, vertex, steady_);
            if (!joins_[v] && u != no_id && (goes_on[u] || computes_itself(u)) &&
                (arranges(vertex) || converts(vertex)) && !makes_groups(vertex) &&
                !serves_beside(v, owner_[u] != no_id ? owner_[u] : modules[u])) {
                modules[v] = owner_[u] != no_id ? owner_[u] : modules[u];
                goes_on[v] = true;
            }
        });
        goes_on_ = std::move(goes_on);
        place_inputs(before, behind, modules);
    }

    /// What is computed before any parameter is read serves all of its first readers.
    void place_inputs(const std::vector<nearest_owners>& before,
                      const std::vector<nearest_owners>& behind, std::vector<id>& modules) const {
        const auto comes_first = [&](std::size_t v) {
            return owner_[v] == no_id && before[v].begin() == before[v].end();
        };
        common_module first;
        for (std::size_t v = 0; v < modules.size(); ++v) {
            bool reads_first = owner_[v] != no_id && before[v].begin() == before[v].end();
            for (auto [in, last] = in_edges(vertex_[v], graph_); in != last && !steady_[v]; ++in) {
                const auto u = index_of(graph_, source(*in, graph_));
                reads_first = reads_first || (!steady_[u] && comes_first(u) && !comes_first(v));
            }
            const auto module = owner_[v] != no_id ? owner_[v] : modules[v];
            first.add(reads_first && module != no_id ? around(tree_, module) : no_id);
        }
        for (std::size_t v = 0; v < modules.size() && first.low + 1 < first.behind; ++v) {
            if (bare_[v] && !steady_[v] && comes_first(v) && behind[v].begin() != behind[v].end()) {
                modules[v] = first.get(tree_);
            }
        }
    }

    /// Assigns operators that only rearrange values for a module that computes with parameters
    /// itself to that module.
    void lay_out(std::vector<id>& modules) const {
        order_.backward([&](operator_t<Ops> vertex) {
            const auto v = index_of(graph_, vertex);
            if (!bare_[v] || owner_[v] != no_id || steady_[v] || !arranges(vertex)) {
                return;
            }
            common_module readers;
            bool all = true;
            bool direct = false;
            for (auto [out, last] = out_edges(vertex, graph_); out != last; ++out) {
                const auto w = index_of(graph_, target(*out, graph_));
                if (!steady_[w]) {
                    all = all && owner_[w] != no_id;
                    direct = direct || computes_itself(w);
                    readers.add(owner_[w]);
                }
            }
            if (all && direct && readers.low + 1 == readers.behind) {
                modules[v] = readers.low;
            }
        });
    }

    /// Whether an operator reads parameters of a module that has children.
    [[nodiscard]] bool computes_itself(std::size_t v) const {
        return owner_[v] != no_id && named_[v] == no_id && !met_[v] && !tree_.is_leaf(owner_[v]);
    }

    /// Whether an operator only rearranges its input, as a module does with its own results.
    [[nodiscard]] bool arranges(operator_t<Ops> v) const { return is_layout(ops_.op_type(v)); }

    /// Whether an operator was inserted for a runtime, which lays out values differently.
    [[nodiscard]] bool converts(operator_t<Ops> v) const { return is_conversion(ops_.op_type(v)); }

    /// Whether an operator reshapes for a group normalization, which does that itself.
    [[nodiscard]] bool makes_groups(operator_t<Ops> v) const {
        const auto [out, last] = out_edges(v, graph_);
        return out != last &&
               std::string_view(ops_.op_type(target(*out, graph_))) == "InstanceNormalization";
    }

    /// Whether an operator lays out a result of `module` only for a module beside that.
    [[nodiscard]] bool serves_beside(std::size_t v, id module) const {
        const auto inner = transposed_module(ops_, vertex_, owner_, v);
        return inner != no_id && !tree_.is_ancestor(module, inner);
    }

    /// Returns: where the results that an operator joins meet: in the parent of what it skips, else
    /// in the deepest module shared by owners before two of its inputs, not too far apart in their
    /// order; `no_id` if it joins none.
    [[nodiscard]] id meeting_point(std::size_t v, const std::vector<nearest_owners>& before,
                                   id residual) const {
        constexpr std::size_t max_inputs = 64;
        const auto inputs = around_.find_inputs(vertex_[v], before);
        id best = residual;
        for (std::size_t i = 0; i < inputs.size() && residual == no_id; ++i) {
            // What meets was most often computed one after the other.
            for (auto j = i < max_inputs ? 0 : i - max_inputs; j < i; ++j) {
                const auto shared = met_before(tree_, inputs[i], inputs[j]);
                const bool deeper =
                    best == no_id || (shared != no_id && tree_.depth(shared) > tree_.depth(best));
                best = deeper ? shared : best;
            }
        }
        return best;
    }

    const Ops& ops_;
    const graph_of<Ops>& graph_;
    const Modules& modules_;
    const tree_index& tree_;
    const parameter_owners& owners_;
    module_code<Modules> code_;
    sweep_order<graph_of<Ops>> order_;
    std::vector<std::uint64_t> pattern_; // by module
    const std::vector<bool>& steady_;    // independent of data
    region_facts<Ops, Modules> facts_;
    std::vector<id>& owner_; // module whose parameters an operator reads, or helps read
    const std::vector<id>& named_;
    const std::vector<bool>& products_;
    std::vector<bool>& lost_; // reads weights of unknown modules
    const std::vector<bool>& bare_;
    vertices_by_index<graph_of<Ops>> vertex_;
    const std::unordered_map<id, id>& sums_; // modules of operators with an addition fused in
    std::vector<id> position_;               // in the order of the graph
    owners_around<Ops> around_;
    std::vector<std::pair<id, std::uint64_t>> missing_;
    std::vector<bool> goes_on_; // joins results that its module processes further
    std::vector<bool> joins_;   // joins results of several modules
    std::vector<bool> met_;     // the same, before anything else was placed
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_REGION_FINDER_HPP
