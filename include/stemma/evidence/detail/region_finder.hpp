// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_REGION_FINDER_HPP
#define STEMMA_EVIDENCE_DETAIL_REGION_FINDER_HPP

#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/evidence/detail/attention_blocks.hpp>
#include <stemma/evidence/detail/entered_modules.hpp>
#include <stemma/evidence/detail/equal_modules.hpp>
#include <stemma/evidence/detail/layout_types.hpp>
#include <stemma/evidence/detail/left_results.hpp>
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
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Finds the modules of unnamed operators from neighbours that have names or read parameters.
template <operator_view Ops, module_view Modules>
class region_finder {
public:
    explicit region_finder(evidence_context<Ops, Modules>& context)
        : facts_(context)
        , tree_(facts_.tree)
        , owner_(facts_.owner)
        , steady_(facts_.steady)
        , bare_(facts_.bare)
        , goes_on_(owner_.size(), false)
        , met_(owner_.size(), false) {}

    /// Returns: by vertex index, a module for operators without parameters of their own.
    [[nodiscard]] std::vector<id> run() {
        parameter_blocks(facts_).complete();
        attention_blocks(facts_).complete();
        skipped_products(facts_).complete();
        std::vector<id> modules(owner_.size(), no_id);
        for (id v = 0; v < modules.size(); ++v) {
            facts_.lost[v] = facts_.lost[v] && owner_[v] == no_id;
            modules[v] = facts_.reads[v] == no_id && bare_[v] ? owner_[v] : no_id;
        }
        // Operators that join the results of several modules are certain enough to place their
        // neighbours.
        surround(modules);
        for (id v = 0; v < modules.size(); ++v) {
            owner_[v] = joins_[v] ? modules[v] : owner_[v];
        }
        met_ = joins_;
        surround(modules);
        entered_modules(facts_).refine(modules);
        lay_out(modules);
        take_steps(modules);
        for_each_stacked_result(facts_, [&](id part, id whole) {
            if (is_open(part) && !steady_[part]) {
                modules[part] = module_of(whole, modules);
            }
        });
        // Regions end where parameters are read, whoever ran there.
        for (auto& module : modules) {
            module = caller(module);
        }
        serve_readers(modules);
        follow_data(modules);
        follow_siblings(modules);
        return modules;
    }

    /// Returns: members of sequences that operators imply and the tree lacks: the sequence and a
    /// number.
    [[nodiscard]] const std::vector<std::pair<id, std::uint64_t>>& missing() const noexcept {
        return missing_;
    }

private:
    /// Whether only its neighbours can tell where an operator comes from.
    [[nodiscard]] bool is_open(id v) const { return bare_[v] && owner_[v] == no_id; }

    /// Returns: the module of an operator as far as known, else the one found.
    [[nodiscard]] id module_of(id v, const std::vector<id>& modules) const {
        return owner_[v] == no_id ? modules[v] : owner_[v];
    }

    /// Calls `f(v)` for the operators after their producers, or before them.
    template <class Function>
    void forward(Function f) const {
        facts_.order.forward([&](operator_t<Ops> v) { f(number_of(v)); });
    }
    template <class Function>
    void backward(Function f) const {
        facts_.order.backward([&](operator_t<Ops> v) { f(number_of(v)); });
    }
    [[nodiscard]] id number_of(operator_t<Ops> v) const {
        return static_cast<id>(index_of(facts_.ops.graph(), v));
    }

    /// Assigns the operators of sequence members to them.
    void take_steps(std::vector<id>& modules) {
        std::vector<bool> free(modules.size());
        std::vector<id> placed(modules.size());
        for (id v = 0; v < modules.size(); ++v) {
            free[v] = is_open(v) && !steady_[v];
            placed[v] = steady_[v] ? no_id : module_of(v, modules);
        }
        const functional_units<Ops> units(facts_, free);
        const module_exits exits(facts_, placed);
        const auto give = [&](id module, const std::vector<id>& operators) {
            for (auto v : operators) {
                modules[v] = module;
            }
        };
        const equal_modules ends(facts_, units, exits);
        ends.for_each_activated(give);
        ends.for_each_end(give);
        ends.for_each_wrapper(give);
        const sequence_starts starts(facts_, free, placed, units, exits);
        for (const auto& step : sequence_steps(facts_, units, exits, starts).run()) {
            if (step.member == no_id) {
                missing_.emplace_back(step.sequence, step.number);
            }
            give(step.member == no_id ? step.sequence : step.member, step.operators);
        }
    }

    /// Layout conversions inserted for a runtime belong where the data come from.
    void follow_data(std::vector<id>& modules) const {
        forward([&](id v) {
            if (!is_open(v) || !converts(v)) {
                return;
            }
            if (const auto u = facts_.only_producer(v); u != no_id) {
                const auto module = owner_[u] == no_id ? modules[u] : fused_module(u);
                modules[v] = module == no_id ? modules[v] : module;
            }
        });
    }

    /// What a fusion left behind, so that nothing reads it, belongs where else its input is read.
    /// In the body of a function no operator reads its results.
    void follow_siblings(std::vector<id>& modules) const {
        if constexpr (requires { facts_.ops.result_makers(); }) {
            std::vector<bool> makes_result(modules.size());
            for (const auto v : facts_.ops.result_makers()) {
                makes_result[v] = true;
            }
            forward([&](id v) {
                if (!is_open(v) || steady_[v] || makes_result[v] ||
                    is_in_function(facts_.ops, facts_.vertex(v)) || !facts_.readers(v).empty()) {
                    return;
                }
                common_module siblings;
                if (const auto u = facts_.only_producer(v); u != no_id) {
                    for (const auto w : facts_.readers(u)) {
                        siblings.add(w == v ? no_id : module_of(w, modules));
                    }
                }
                modules[v] = siblings.get(tree_);
            });
        }
    }

    /// Returns: the owner of what an operator reads, or what calls it if more was fused in.
    [[nodiscard]] id fused_module(id v) const {
        const auto sum = facts_.sums.find(v);
        bool joined = false;
        if constexpr (joined_operators<Ops>) {
            joined = facts_.ops.is_joined(facts_.vertex(v));
        }
        return sum != facts_.sums.end() ? tree_.lca(owner_[v], sum->second)
               : joined                 ? around(tree_, owner_[v])
                                        : owner_[v];
    }

    /// Data-independent computations, such as shapes and positions, serve their readers. A reader
    /// of parameters is itself served by the caller of its module. Such a computation ran in some
    /// module; a constant runs nowhere, so several readers share it in their common ancestor,
    /// called or not.
    void serve_readers(std::vector<id>& modules) const {
        const auto& direct = facts_.reads;
        const auto& named = facts_.named;
        const auto made_of = find_origins();
        backward([&](id v) {
            if (!steady_[v] || !is_open(v)) {
                return;
            }
            common_module readers;
            bool returns = made_of[v] != no_id && !facts_.readers(v).empty();
            for (const auto w : facts_.readers(v)) {
                returns = returns && (direct[w] == made_of[v] || modules[w] == made_of[v]);
                const bool reads = named[w] != no_id ? facts_.products[w] : direct[w] != no_id;
                const auto module = named[w] != no_id    ? named[w]
                                    : direct[w] != no_id ? direct[w]
                                                         : modules[w];
                if (module != no_id) {
                    readers.add(reads ? caller(around(tree_, module)) : module);
                }
            }
            const auto shared = readers.get(tree_);
            modules[v] = returns ? made_of[v] : is_constant(v) ? shared : caller(shared);
        });
    }

    /// Returns: by data-independent operator, the module from whose parameters alone its result is
    /// computed, or `no_id`: what it reads again, such as a normalized weight, it computed itself.
    [[nodiscard]] std::vector<id> find_origins() const {
        std::vector<id> made_of(facts_.size(), no_id);
        forward([&](id v) {
            common_module from;
            from.add(steady_[v] ? facts_.reads[v] : 0);
            for (const auto u : facts_.producers(v)) {
                const bool known = made_of[u] != no_id;
                from.add(known ? made_of[u] : is_constant(u) ? no_id : 0);
            }
            made_of[v] = from.low + 1 == from.behind && from.low != 0 ? from.low : no_id;
        });
        return made_of;
    }

    /// Whether a data-independent operator has no inputs to compute anything from.
    [[nodiscard]] bool is_constant(id v) const {
        bool hides = false; // as a shape of data does
        if constexpr (data_aware_operators<Ops>) {
            hides = facts_.ops.hides_data(facts_.vertex(v));
        }
        return facts_.producers(v).empty() && !hides;
    }

    /// Returns: the module, or its nearest ancestor that ran if it did not; `no_id` for `no_id`.
    [[nodiscard]] id caller(id module) const {
        return module == no_id ? no_id
                               : nearest_called(facts_.modules, facts_.code.nearest(module));
    }

    /// Assigns every other operator to the deepest module shared by the nearest owners before and
    /// after it: their common caller. Operators that join results also belong where these meet.
    void surround(std::vector<id>& modules) {
        const owners_around nearest(facts_);
        const auto before = nearest.find_before();
        const auto behind = nearest.find_behind();
        const auto skipped = skip_connections(facts_).run();
        const auto all_lost = find_results_of_lost(facts_, before);
        std::vector<bool> goes_on = goes_on_; // operators between calls made by their module
        joins_.assign(modules.size(), false);
        forward([&](id v) {
            if (!is_open(v) || steady_[v]) {
                return;
            }
            auto between =
                facts_.lost[v] && behind[v].empty()
                    ? 0
                    : shared_around(tree_, facts_.within, facts_.position[v], before[v], behind[v]);
            if (between != no_id && behind[v].empty()) {
                between = still_inside(between, v, behind, modules);
            }
            const auto joined = meeting_point(nearest.find_inputs(v, before), skipped[v]);
            joins_[v] =
                joined != no_id && !tree_.is_ancestor(joined, between) &&
                !combines_left(facts_, behind, v, joined) &&
                !(all_lost[v] && skipped[v] == no_id && leads_out_of(tree_, joined, behind[v]));
            modules[v] = joins_[v] ? joined : between;
            // A Concat puts parts together for its module; an Add may be the last thing its module
            // does.
            goes_on[v] = joins_[v] &&
                         (facts_.is(v, "Concat") || (skipped[v] == no_id && !facts_.is(v, "Add")));
            const auto u = facts_.only_producer(v);
            if (!joins_[v] && u != no_id && (goes_on[u] || computes_itself(u)) &&
                (arranges(v) || converts(v)) && !makes_groups(v) &&
                !serves_beside(v, module_of(u, modules))) {
                modules[v] = module_of(u, modules);
                goes_on[v] = true;
            }
        });
        goes_on_ = std::move(goes_on);
        place_inputs(before, behind, modules);
    }

    /// Returns: `module`, or at the end of a model the caller of what has already returned.
    [[nodiscard]] id still_inside(id module, id v, const std::vector<nearest_owners>& behind,
                                  const std::vector<id>& modules) const {
        for (const auto u : facts_.producers(v)) {
            if (is_open(u) && !steady_[u] && modules[u] != no_id && behind[u].empty()) {
                module = tree_.lca(module, modules[u]);
            }
        }
        while (module != 0 && !reads_child(facts_, v, module) &&
               combines_left(facts_, behind, v, module)) {
            module = tree_.parent(module);
        }
        return module;
    }

    /// What is computed before any parameter is read serves all of its first readers.
    void place_inputs(const std::vector<nearest_owners>& before,
                      const std::vector<nearest_owners>& behind, std::vector<id>& modules) const {
        const auto comes_first = [&](id v) { return owner_[v] == no_id && before[v].empty(); };
        common_module first;
        for (id v = 0; v < modules.size(); ++v) {
            const bool reads_first =
                (owner_[v] != no_id && before[v].empty()) ||
                (!steady_[v] && !comes_first(v) && range::any_of(facts_.producers(v), [&](id u) {
                    return !steady_[u] && comes_first(u);
                }));
            const auto module = module_of(v, modules);
            first.add(reads_first && module != no_id ? around(tree_, module) : no_id);
        }
        for (id v = 0; v < modules.size() && first.low + 1 < first.behind; ++v) {
            if (bare_[v] && !steady_[v] && comes_first(v) && !behind[v].empty()) {
                modules[v] = first.get(tree_);
            }
        }
    }

    /// Assigns operators that only rearrange values for a module that computes with parameters
    /// itself to that module.
    void lay_out(std::vector<id>& modules) const {
        backward([&](id v) {
            if (!is_open(v) || steady_[v] || !arranges(v)) {
                return;
            }
            common_module readers;
            bool all = true;
            bool direct = false;
            facts_.for_each_reader(v, [&](id w) {
                all = all && owner_[w] != no_id;
                direct = direct || computes_itself(w);
                readers.add(owner_[w]);
            });
            if (all && direct && readers.low + 1 == readers.behind) {
                modules[v] = readers.low;
            }
        });
    }

    /// Whether an operator reads parameters of a module that has children.
    [[nodiscard]] bool computes_itself(id v) const {
        return owner_[v] != no_id && facts_.named[v] == no_id && !met_[v] &&
               !tree_.is_leaf(owner_[v]);
    }

    /// Whether an operator only rearranges its input, as a module does with its own results.
    [[nodiscard]] bool arranges(id v) const { return is_layout(facts_.type(v)); }

    /// Whether an operator was inserted for a runtime, which lays out values differently.
    [[nodiscard]] bool converts(id v) const { return is_conversion(facts_.type(v)); }

    /// Whether an operator reshapes for a group normalization, which does that itself.
    [[nodiscard]] bool makes_groups(id v) const {
        const auto readers = facts_.readers(v);
        return !readers.empty() && facts_.is(readers.front(), "InstanceNormalization");
    }

    /// Whether an operator lays out a result of `module` only for a module beside that.
    [[nodiscard]] bool serves_beside(id v, id module) const {
        const auto inner = transposed_module(facts_, v);
        return inner != no_id && !tree_.is_ancestor(module, inner);
    }

    /// Returns: where the results that an operator joins meet: in the parent of what it skips, else
    /// in the deepest module shared by owners before two of its inputs, not too far apart in their
    /// order; `no_id` if it joins none.
    [[nodiscard]] id meeting_point(const std::vector<nearest_owners>& inputs, id residual) const {
        constexpr std::size_t max_inputs = 64;
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

    region_facts<Ops, Modules> facts_;
    const tree_index& tree_;
    std::vector<id>& owner_; // module whose parameters an operator reads, or helps read
    const std::vector<bool>& steady_;
    const std::vector<bool>& bare_;
    std::vector<std::pair<id, std::uint64_t>> missing_;
    std::vector<bool> goes_on_; // joins results that its module processes further
    std::vector<bool> joins_;   // joins results of several modules
    std::vector<bool> met_;     // the same, before anything else was placed
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_REGION_FINDER_HPP
