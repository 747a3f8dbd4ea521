// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_FOLD_DETAIL_REGION_CLASSES_HPP
#define STEMMA_FOLD_DETAIL_REGION_CLASSES_HPP

#include <stemma/align/detail/graph_section.hpp>
#include <stemma/align/detail/match_sections.hpp>
#include <stemma/config.hpp>
#include <stemma/core/detail/hash.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/core/detail/string_pool.hpp>
#include <stemma/core/id.hpp>
#include <stemma/error.hpp>
#include <stemma/fold/detail/fold_constants.hpp>
#include <stemma/fold/detail/fold_plan.hpp>
#include <stemma/fold/detail/fold_regions.hpp>
#include <stemma/fold/detail/region_forms.hpp>
#include <stemma/fold/fold.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/detail/operator_domain.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/onnx/detail/flat_graph.hpp>
#include <stemma/onnx/graph_contents.hpp>
#include <stemma/onnx/onnx_model.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// A graph of a model that has regions.
struct divided_graph {
    id graph = 0;             ///< its number in the model
    nested_view view;         ///< vertices are its nodes, bodies contracted
    std::vector<id> rank;     ///< by vertex: a topological rank
    std::vector<bool> spread; ///< by vertex: whether it is in every region that reads it
    graph_results leaving{};  ///< needed outside it
};

/// Calls `f(region, value)` for every region of a graph and every value produced in it and read
/// elsewhere. `place` is the region by node.
/// Complexity: O(V + E) per level of nesting.
template <class Function>
void find_exports(const onnx_model& model, const divided_graph& graph, std::span<const id> place,
                  const fold_plan& plan, Function f) {
    const auto& view = graph.view;
    const auto root = plan.root[graph.graph];
    std::unordered_map<id, id> outermost; // of one vertex: value -> region it does not leave
    for (id v = 0; v < view.nodes.size(); ++v) {
        const auto node = view.nodes[v];
        const auto own = place[node];
        if (own == root || graph.spread[v]) {
            continue;
        }
        outermost.clear();
        const auto widen = [&](id value, id reader) {
            auto& r = outermost.try_emplace(value, own).first->second;
            while (!holds_region(plan.regions, r, reader)) {
                r = plan.regions[r].parent;
            }
        };
        for (auto [it, last] = out_edges(v, view.graph); it != last; ++it) {
            widen(get(value_index, view.graph, *it), place[view.nodes[(*it).target]]);
        }
        for (auto value : model.outputs(node)) {
            if (graph.leaving.contains(value)) {
                widen(value, root);
            }
            const auto entry = outermost.find(value);
            if (entry == outermost.end()) {
                continue;
            }
            for (auto r = own; r != entry->second; r = plan.regions[r].parent) {
                f(r, value);
            }
        }
    }
}

/// Returns: for values produced in region `region`, and others of the same nodes, the rank of the
/// first reader outside; values without one are missing.
/// Complexity: O(values + readers) expected.
[[nodiscard]] inline std::unordered_map<id, id>
first_uses(const onnx_model& model, const divided_graph& graph, std::span<const id> place,
           const fold_plan& plan, id region, std::span<const id> values) {
    const auto& view = graph.view;
    std::unordered_map<id, id> first;
    std::unordered_set<id> seen; // producers: the edges of one are those of all its values
    for (auto value : values) {
        const auto producer = model.producer(value);
        if (!seen.insert(producer).second) {
            continue;
        }
        for (auto [it, last] = out_edges(model.position(producer), view.graph); it != last; ++it) {
            const auto reader = (*it).target;
            if (!holds_region(plan.regions, region, place[view.nodes[reader]])) {
                auto& rank =
                    first.try_emplace(get(value_index, view.graph, *it), no_id).first->second;
                rank = std::min(rank, graph.rank[reader]);
            }
        }
    }
    return first;
}

/// Finds equal regions, and their inputs and outputs.
template <module_view Modules, node_shapes_like Shapes>
class region_classes {
public:
    region_classes(const onnx_model& model, const graph_contents& contents, const Modules& modules,
                   std::span<const divided_graph> graphs, std::span<const id> place,
                   std::span<const attribution> attributions, Shapes& shapes,
                   const fold_options<Modules>& options, fold_plan& plan)
        : model_(model)
        , modules_(modules)
        , graphs_(graphs)
        , place_(place)
        , shapes_(shapes)
        , options_(options)
        , plan_(plan)
        , vary_(options.vary_constants)
        , forms_of_(model, contents, modules, attributions, shapes, plan, vary_) {}

    void classify_all() {
        const auto count = plan_.regions.size();
        plan_.function.assign(count, no_id);
        plan_.inputs.resize(count);
        plan_.outputs.resize(count);
        find_paths_and_names();
        for (const auto& graph : graphs_) {
            find_exports(model_, graph, place_, plan_, [&](id r, id value) {
                forms_of_.exported(r).push_back({value, 0});
            });
        }
        for (auto r = static_cast<id>(count); r-- > 0;) {
            if (!plan_.is_graph(r)) {
                plan_.function[r] = classify(r);
            }
        }
        put_outputs_in_order();
        name_functions();
    }

private:
    void find_paths_and_names() {
        plan_.paths.resize(plan_.regions.size());
        names_.resize(plan_.regions.size());
        string_pool names;
        for (id r = 0; r < plan_.regions.size(); ++r) {
            if (plan_.is_graph(r)) {
                continue;
            }
            const auto around = plan_.regions[plan_.regions[r].parent].module;
            plan_.paths[r] = relative_path(modules_, around, plan_.regions[r].module);
            const auto [domain, name] = options_.name_of(modules_, plan_.regions[r].module);
            if (name.empty() || is_standard_domain(domain)) {
                STEMMA_THROW(error(error_code::refused, model_.file(), plan_.paths[r],
                                   name.empty() ? "its function gets no name"
                                                : "its function gets a standard domain"));
            }
            names_[r] = names.intern(domain + '\n' + name);
        }
    }

    /// Whether the policy gives the functions of two regions the same name.
    [[nodiscard]] bool is_named_alike(id region, id other) const {
        return names_[region] == names_[other];
    }

    /// Returns: the form of a region; regions whose functions get different names differ in hashes.
    [[nodiscard]] region_form read(id r) {
        auto form = forms_of_.read(r);
        form.hash = hash_mix(form.hash, names_[r]);
        form.contents = hash_mix(form.contents, names_[r]);
        return form;
    }

    [[nodiscard]] std::uint64_t digest_of(id r, const section_colors& colors) const {
        return hash_mix(colors.digest(), names_[r]);
    }

    [[nodiscard]] id classify(id r) {
        auto form = read(r);
        auto f = known_function(r, form);
        f = f == no_id ? find_reordered(r, form) : f;
        if (f == no_id) {
            return add_function(r, std::move(form));
        }
        plan_.functions[f].region = r; // regions are visited in reverse
        ++plan_.functions[f].calls;
        return f;
    }

    [[nodiscard]] id known_function(id r, const region_form& form) const {
        const auto candidates = by_hash_.find(form.hash);
        if (candidates == by_hash_.end()) {
            return no_id;
        }
        for (auto f : candidates->second) {
            const auto& other = forms_[f];
            if (other.tokens == form.tokens && other.nodes.size() == form.nodes.size() &&
                is_named_alike(plan_.functions[f].region, r) &&
                std::equal(other.nodes.begin(), other.nodes.end(), form.nodes.begin(),
                           [&](id a, id b) { return shapes_.equal(a, b, vary_); })) {
                return f;
            }
        }
        return no_id;
    }

    /// Reorders the items of a region like an equal one that has a function. Returns: that
    /// function; `no_id` and no change if there is none.
    [[nodiscard]] id find_reordered(id r, region_form& form) {
        const auto entry = by_contents_.find(form.contents);
        if (entry == by_contents_.end()) {
            return no_id;
        }
        for (auto f : std::exchange(entry->second, {})) {
            const auto region = plan_.functions[f].region;
            const auto section = forms_of_.section(region, forms_[f]);
            by_digest_[digest_of(region, section_colors(section))].push_back(f);
        }
        const auto section = forms_of_.section(r, form);
        const section_colors colors(section);
        const auto candidates = by_digest_.find(digest_of(r, colors));
        if (candidates == by_digest_.end()) {
            return no_id;
        }
        const auto items = plan_.regions[r].items;
        for (auto candidate : candidates->second) {
            const auto first = plan_.functions[candidate].region;
            if (is_named_alike(first, r) &&
                take_order(first, forms_[candidate], r, section, colors)) {
                form = read(r);
                if (const auto f = known_function(r, form); f != no_id) {
                    return f;
                }
                plan_.regions[r].items = items;
                form = forms_of_.read(r);
            }
        }
        return no_id;
    }

    [[nodiscard]] bool take_order(id first, const region_form& form, id r,
                                  const graph_section& section, const section_colors& colors) {
        const auto other = forms_of_.section(first, form);
        section_match match;
        if (!match_sections(
                other, section_colors(other), section, colors, [](id, id) { return true; },
                match)) {
            return false;
        }
        auto& items = plan_.regions[r].items;
        std::vector<fold_item> ordered;
        ordered.reserve(items.size());
        for (auto item : match.items) {
            ordered.push_back(items[item]);
        }
        items = std::move(ordered);
        return true;
    }

    [[nodiscard]] id add_function(id r, region_form form) {
        const auto f = static_cast<id>(plan_.functions.size());
        by_hash_[form.hash].push_back(f);
        by_contents_[form.contents].push_back(f);
        planned_function function;
        function.region = r;
        function.calls = 1;
        function.activations = static_cast<id>(detail::range::count_if(
            plan_.inputs[r], [&](id value) { return !forms_of_.is_weight(value); }));
        plan_.functions.push_back(std::move(function));
        forms_.push_back(std::move(form));
        return f;
    }

    /// Outputs are in the order of use after the first call.
    void put_outputs_in_order() {
        for (const auto& function : plan_.functions) {
            const auto r = function.region;
            const auto& graph = *std::lower_bound(
                graphs_.begin(), graphs_.end(), plan_.graph[r],
                [](const divided_graph& one, id number) { return one.graph < number; });
            std::vector<id> values;
            for (const auto& [value, number] : forms_of_.exported(r)) {
                values.push_back(value);
            }
            const auto first = first_uses(model_, graph, place_, plan_, r, values);
            std::vector<std::tuple<id, id, id>> order; // rank of the first reader, number, value
            for (const auto& [value, number] : forms_of_.exported(r)) {
                const auto use = first.find(value);
                order.emplace_back(use == first.end() ? no_id : use->second, number, value);
            }
            std::sort(order.begin(), order.end());
            auto& slots = slots_.emplace_back();
            for (const auto& [rank, number, value] : order) {
                slots.push_back(number);
            }
        }
        for (id r = 0; r < plan_.regions.size(); ++r) {
            if (plan_.is_graph(r)) {
                continue;
            }
            std::unordered_map<id, id> value_of;
            for (const auto& [value, number] : forms_of_.exported(r)) {
                value_of.emplace(number, value);
            }
            for (auto number : slots_[plan_.function[r]]) {
                plan_.outputs[r].push_back(value_of.at(number));
            }
        }
    }

    /// Names functions, in the order of their first calls.
    void name_functions() {
        std::set<std::pair<std::string, std::string>> taken;
        // ONNX Runtime treats every operator of that name as the standard one.
        const auto is_taken = [&](const planned_function& function) {
            return function.numbered() == "Constant" ||
                   !taken.emplace(function.domain, function.numbered()).second;
        };
        for (const auto& function : model_.functions()) {
            taken.emplace(model_.text(function.domain), model_.text(function.name));
        }
        for (id op = 0; op < model_.operator_count(); ++op) {
            taken.emplace(model_.operator_domain(op), model_.operator_type(op));
        }
        std::vector<id> order(plan_.functions.size());
        std::iota(order.begin(), order.end(), id{0});
        std::sort(order.begin(), order.end(), [&](id a, id b) {
            return plan_.functions[a].region < plan_.functions[b].region;
        });
        std::unordered_map<std::string, id> next;
        for (auto f : order) {
            auto& function = plan_.functions[f];
            auto [domain, name] = options_.name_of(modules_, plan_.regions[function.region].module);
            function.domain = std::move(domain);
            function.name = std::move(name);
            auto& number = next[function.domain + '\n' + function.name];
            do {
                function.number = number++;
            } while (is_taken(function));
        }
    }

    const onnx_model& model_;
    const Modules& modules_;
    std::span<const divided_graph> graphs_; // ascending
    std::span<const id> place_;             // by node: the innermost region
    Shapes& shapes_;
    const fold_options<Modules>& options_;
    fold_plan& plan_;
    bool vary_;
    region_forms<Modules, Shapes> forms_of_;
    std::vector<id> names_;              // by region: equal for equal names of functions
    std::vector<region_form> forms_;     // by function
    std::vector<std::vector<id>> slots_; // by function: numbers of outputs
    using functions_by_hash = std::unordered_map<std::uint64_t, std::vector<id>>;
    functions_by_hash by_hash_;
    functions_by_hash by_contents_; // those that are not in `by_digest_`
    functions_by_hash by_digest_;   // of sections, and names
};

/// Finds equal regions of a plan, gives them one function, and determines the inputs and outputs of
/// every region.
///  `graphs` are those with regions, ascending, and `place` is the region of each node. Regions are
/// equal if their items are (`shapes` decides for nodes), with equal wiring in any order, and with
/// calls in the same places of bodies; they share a function if the options give their modules the
/// same name. Items are reordered as in the function. Inputs are in order of use, initializers
/// last; outputs in order of use after the first call. Complexity: O(V + E) expected, per level of
/// nesting.
template <module_view Modules, node_shapes_like Shapes>
void classify_regions(const onnx_model& model, const graph_contents& contents,
                      const Modules& modules, std::span<const divided_graph> graphs,
                      std::span<const id> place, std::span<const attribution> attributions,
                      Shapes& shapes, const fold_options<Modules>& options, fold_plan& plan) {
    detail::region_classes<Modules, Shapes>(model, contents, modules, graphs, place, attributions,
                                            shapes, options, plan)
        .classify_all();
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_FOLD_DETAIL_REGION_CLASSES_HPP
