// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_FOLD_DETAIL_REGION_CLASSES_HPP
#define STEMMA_FOLD_DETAIL_REGION_CLASSES_HPP

#include <stemma/core/detail/hash.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/core/detail/string_pool.hpp>
#include <stemma/core/id.hpp>
#include <stemma/fold/detail/fold_plan.hpp>
#include <stemma/fold/detail/region_exports.hpp>
#include <stemma/fold/fold.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/onnx/detail/values_read.hpp>
#include <stemma/onnx/graph_contents.hpp>
#include <stemma/onnx/onnx_model.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma::detail {

/// Says of nodes whether one could stand for the other: the same operator, attributes and fields,
/// whatever the names. `hash` is equal for such nodes. With `true`, Constants may differ in what
/// they are, but for its kind.
template <class Shapes>
concept node_shapes_like = requires(Shapes& shapes, id node) {
    { shapes.hash(node, true) } -> std::convertible_to<std::uint64_t>;
    { shapes.equal(node, node, true) } -> std::convertible_to<bool>;
};

/// Returns: the path of a module from one around it; "" for that itself.
/// Complexity: O(length and depth).
template <module_view Modules>
[[nodiscard]] std::string relative_path(const Modules& modules, id from, id to) {
    std::vector<id> way;
    for (auto m = to; m != from && m != 0; m = modules.index().parent(m)) {
        way.push_back(m);
    }
    std::string path;
    for (auto m = way.rbegin(); m != way.rend(); ++m) {
        path.append(path.empty() ? "" : ".").append(modules.attribute(*m));
    }
    return path;
}

/// Finds regions that do the same, and what goes into and comes out of each.
template <module_view Modules, node_shapes_like Shapes>
class region_classes {
public:
    region_classes(const onnx_model& model, const graph_contents& contents, const Modules& modules,
                   std::span<const divided_graph> graphs, std::span<const id> place,
                   std::span<const attribution> attributions, Shapes& shapes,
                   const fold_options<Modules>& options, fold_plan& plan)
        : model_(model)
        , contents_(contents)
        , modules_(modules)
        , graphs_(graphs)
        , place_(place)
        , attributions_(attributions)
        , shapes_(shapes)
        , options_(options)
        , plan_(plan)
        , vary_(options.vary_constants)
        , number_(model.value_count(), no_id) {}

    void classify_all() {
        const auto count = plan_.regions.size();
        plan_.function.assign(count, no_id);
        plan_.inputs.resize(count);
        plan_.outputs.resize(count);
        exported_.resize(count);
        find_paths();
        for (const auto& graph : graphs_) {
            find_exports(model_, graph, place_, plan_, [&](id r, id value) {
                exported_[r].push_back({value, 0});
            });
        }
        for (auto r = static_cast<id>(count); r-- > 0;) {
            if (!plan_.is_graph(r)) {
                classify(r);
            }
        }
        put_outputs_in_order();
        name_functions();
    }

private:
    /// How a body looks: equal for bodies that may be one function.
    struct form {
        std::vector<std::uint64_t> tokens;
        std::vector<id> nodes; // of the region itself
        std::uint64_t hash = 0;
    };

    void find_paths() {
        plan_.paths.resize(plan_.regions.size());
        for (id r = 0; r < plan_.regions.size(); ++r) {
            if (plan_.is_graph(r)) {
                continue;
            }
            const auto around = plan_.regions[plan_.regions[r].parent].module;
            plan_.paths[r] = relative_path(modules_, around, plan_.regions[r].module);
        }
    }

    /// Returns: a number for the path of a module from one around it.
    [[nodiscard]] id way_number(id from, id to) {
        const auto [known, is_new] =
            ways_.try_emplace(std::uint64_t{from} << 32U | to, static_cast<id>(ways_.size()));
        if (is_new) {
            known->second = paths_.intern(relative_path(modules_, from, to));
        }
        return known->second;
    }

    [[nodiscard]] bool is_weight(id value) const { return model_.is_initializer(value); }

    void classify(id r) {
        form made;
        std::vector<id> externals = number_items(r, made);
        auto& exported = exported_[r];
        for (auto& [value, number] : exported) {
            number = number_[value];
        }
        std::sort(exported.begin(), exported.end(),
                  [](const auto& a, const auto& b) { return a.second < b.second; });
        made.tokens.push_back(~std::uint64_t{0});
        for (const auto& [value, number] : exported) {
            made.tokens.push_back(number);
        }
        auto& inputs = plan_.inputs[r];
        for (const bool weight : {false, true}) {
            std::copy_if(externals.begin(), externals.end(), std::back_inserter(inputs),
                         [&](id value) { return is_weight(value) == weight; });
        }
        for (auto token : made.tokens) {
            made.hash = hash_mix(made.hash, token);
        }
        for (auto node : made.nodes) {
            made.hash = hash_mix(made.hash, shapes_.hash(node, vary_));
        }
        for (auto value : used_) {
            number_[value] = no_id;
        }
        used_.clear();
        plan_.function[r] = function_of(r, std::move(made));
    }

    [[nodiscard]] id module_in(const fold_region& region, id node) const {
        const auto m = attributions_[node].module;
        return modules_.index().is_ancestor(region.module, m) ? m : region.module;
    }

    /// Numbers values as they appear, and writes down who reads and makes which.
    /// Returns: the values that come from outside.
    [[nodiscard]] std::vector<id> number_items(id r, form& made) {
        std::vector<id> externals;
        const auto note = [&](id value, bool read) {
            if (value == no_id || model_.value_name(value).empty()) {
                made.tokens.push_back(no_id);
                return;
            }
            if (number_[value] == no_id) {
                number_[value] = static_cast<id>(used_.size());
                used_.push_back(value);
                if (read) {
                    externals.push_back(value);
                    made.tokens.push_back(is_weight(value) ? 1 : 2);
                }
            }
            made.tokens.push_back(number_[value] + std::uint64_t{16});
        };
        const auto& region = plan_.regions[r];
        for (const auto& item : region.items) {
            if (item.is_region) {
                made.tokens.push_back(3);
                made.tokens.push_back(plan_.function[item.index]);
                made.tokens.push_back(paths_.intern(plan_.paths[item.index]));
                for (auto value : plan_.inputs[item.index]) {
                    note(value, true);
                }
                for (const auto& [value, number] : exported_[item.index]) {
                    note(value, false);
                }
                continue;
            }
            const auto node = item.index;
            const auto read = values_read(model_, contents_, node);
            made.nodes.push_back(node);
            made.tokens.push_back(4);
            made.tokens.push_back(way_number(region.module, module_in(region, node)));
            made.tokens.push_back(read.size());
            for (auto value : read) {
                note(value, true);
            }
            for (id i = 0; i < model_.output_count(node); ++i) {
                note(model_.first_output(node) + i, false);
            }
            note_bodies(node, made);
        }
        return externals;
    }

    /// Writes down what of the bodies of a node are calls, and of which functions, and what says
    /// of which module it is. All else of bodies is compared with the node.
    void note_bodies(id node, form& made) {
        if (!plan_.changes_inside(node)) {
            return;
        }
        for (auto g : contents_.bodies_of(node)) {
            made.tokens.push_back(5);
            plan_.look_into(
                g, contents_, [&](id region) { note_inside(region, made); },
                [&](id inside) { note_in_body(inside, made); });
        }
    }

    void note_inside(id r, form& made) {
        for (const auto& item : plan_.regions[r].items) {
            if (item.is_region) {
                made.tokens.push_back(3);
                made.tokens.push_back(plan_.function[item.index]);
                made.tokens.push_back(paths_.intern(plan_.paths[item.index]));
                note_inside(item.index, made);
                made.tokens.push_back(6);
            } else {
                note_in_body(item.index, made);
            }
        }
    }

    void note_in_body(id node, form& made) {
        made.tokens.push_back(4);
        made.tokens.push_back(model_.position(node));
        const auto noted = plan_.noted.find(node);
        if (noted != plan_.noted.end()) {
            made.tokens.push_back(7);
            made.tokens.push_back(
                way_number(plan_.regions[noted->second].module, attributions_[node].module));
        }
        note_bodies(node, made);
    }

    [[nodiscard]] bool is_named_alike(id a, id b) const {
        return a == b || options_.name_of(modules_, a) == options_.name_of(modules_, b);
    }

    [[nodiscard]] id function_of(id r, form made) {
        auto& candidates = by_hash_[made.hash];
        const auto module = plan_.regions[r].module;
        for (auto f : candidates) {
            const auto& known = forms_[f];
            auto& function = plan_.functions[f];
            if (known.tokens == made.tokens && known.nodes.size() == made.nodes.size() &&
                is_named_alike(plan_.regions[function.region].module, module) &&
                std::equal(known.nodes.begin(), known.nodes.end(), made.nodes.begin(),
                           [&](id a, id b) { return shapes_.equal(a, b, vary_); })) {
                function.region = r; // the first one is met last
                ++function.calls;
                return f;
            }
        }
        const auto f = static_cast<id>(plan_.functions.size());
        candidates.push_back(f);
        planned_function function;
        function.region = r;
        function.calls = 1;
        function.activations = static_cast<id>(
            detail::range::count_if(plan_.inputs[r], [&](id value) { return !is_weight(value); }));
        plan_.functions.push_back(std::move(function));
        forms_.push_back(std::move(made));
        return f;
    }

    /// Outputs come in the order in which they are used behind the first call.
    void put_outputs_in_order() {
        for (const auto& function : plan_.functions) {
            const auto r = function.region;
            const auto& graph = *std::lower_bound(
                graphs_.begin(), graphs_.end(), plan_.graph[r],
                [](const divided_graph& one, id number) { return one.graph < number; });
            std::vector<id> values;
            for (const auto& [value, number] : exported_[r]) {
                values.push_back(value);
            }
            const auto first = first_uses(model_, graph, place_, plan_, r, values);
            std::vector<std::tuple<id, id, id>> order; // rank of the first reader, number, value
            for (const auto& [value, number] : exported_[r]) {
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
            for (const auto& [value, number] : exported_[r]) {
                value_of.emplace(number, value);
            }
            for (auto number : slots_[plan_.function[r]]) {
                plan_.outputs[r].push_back(value_of.at(number));
            }
        }
    }

    /// Gives functions their names, in the order in which they are first called.
    void name_functions() {
        std::set<std::pair<std::string, std::string>> taken;
        // ONNX Runtime takes every operator of that name for the one of the standard.
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
    const graph_contents& contents_;
    const Modules& modules_;
    std::span<const divided_graph> graphs_; // ascending
    std::span<const id> place_;             // by node: the innermost region
    std::span<const attribution> attributions_;
    Shapes& shapes_;
    const fold_options<Modules>& options_;
    fold_plan& plan_;
    bool vary_;
    std::vector<id> number_; // by value: in the region that is being looked at
    std::vector<id> used_;   // those that have one
    std::vector<std::vector<std::pair<id, id>>> exported_; // by region: value, number
    std::vector<form> forms_;                              // by function
    std::vector<std::vector<id>> slots_;                   // by function: numbers of outputs
    std::unordered_map<std::uint64_t, std::vector<id>> by_hash_;
    string_pool paths_;
    std::unordered_map<std::uint64_t, id> ways_;
};

/// Finds out which regions of a plan do the same, gives those one function, and says what goes into
/// and comes out of every region.
///
/// `graphs` are those that have regions, ascending, and `place` says by node in which it stands.
/// Two regions do the same when their items are equal one by one, `shapes` deciding on nodes, and
/// are wired alike, and when the same of their bodies are calls; they share a function when the
/// options name their modules alike. Inputs come in the order in which they are read, those that
/// are no initializers first; outputs in the order in which they are used behind the first call.
/// Complexity: O(V + E) expected, for every level of regions inside each other.
template <module_view Modules, node_shapes_like Shapes>
void classify_regions(const onnx_model& model, const graph_contents& contents,
                      const Modules& modules, std::span<const divided_graph> graphs,
                      std::span<const id> place, std::span<const attribution> attributions,
                      Shapes& shapes, const fold_options<Modules>& options, fold_plan& plan) {
    detail::region_classes<Modules, Shapes>(model, contents, modules, graphs, place, attributions,
                                            shapes, options, plan)
        .classify_all();
}

} // namespace stemma::detail

#endif // STEMMA_FOLD_DETAIL_REGION_CLASSES_HPP
