// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_FOLD_DETAIL_REGION_FORMS_HPP
#define STEMMA_FOLD_DETAIL_REGION_FORMS_HPP

#include <stemma/align/detail/graph_section.hpp>
#include <stemma/core/detail/hash.hpp>
#include <stemma/core/detail/string_pool.hpp>
#include <stemma/core/id.hpp>
#include <stemma/fold/detail/fold_plan.hpp>
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
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Compares nodes up to names: operator, attributes and fields. `hash` is equal for equal nodes.
/// With `true`, Constants may differ in value, but not in kind.
template <class Shapes>
concept node_shapes_like = requires(Shapes& shapes, id node) {
    { shapes.hash(node, true) } -> std::convertible_to<std::uint64_t>;
    { shapes.equal(node, node, true) } -> std::convertible_to<bool>;
};

/// Returns: the path of a module relative to an ancestor; "" for the ancestor itself.
/// Complexity: O(length and depth).
template <module_view Modules>
[[nodiscard]] std::string relative_path(const Modules& modules, id from, id to) {
    std::vector<id> way;
    for (auto m = to; m != from && m != 0; m = modules.index().parent(m)) {
        way.push_back(m);
    }
    std::string path;
    for (auto m = way.rbegin(); m != way.rend(); ++m) {
        path.append(path.empty() ? "" : ".").append(modules.name(*m));
    }
    return path;
}

/// The canonical form of a body.
struct region_form {
    std::vector<std::uint64_t> tokens; ///< equal for bodies with corresponding items in order
    std::vector<id> nodes;             ///< of the region itself
    std::vector<std::uint64_t> labels; ///< by item: its kind, without its values
    std::uint64_t hash = 0;            ///< of all that
    std::uint64_t contents = 0;        ///< of the labels, in any order
};

/// Computes canonical forms of regions, to find equal ones.
template <module_view Modules, node_shapes_like Shapes>
class region_forms {
public:
    region_forms(const onnx_model& model, const graph_contents& contents, const Modules& modules,
                 std::span<const attribution> attributions, Shapes& shapes, fold_plan& plan,
                 bool vary)
        : model_(model)
        , contents_(contents)
        , modules_(modules)
        , attributions_(attributions)
        , shapes_(shapes)
        , plan_(plan)
        , vary_(vary)
        , exported_(plan.regions.size())
        , number_(model.value_count(), no_id) {}

    /// The outputs of a region: values, with their numbers from `read`.
    [[nodiscard]] std::vector<std::pair<id, id>>& exported(id r) { return exported_[r]; }

    [[nodiscard]] bool is_weight(id value) const { return model_.is_initializer(value); }

    /// Returns: the form of a region, and notes its inputs in the plan. Requires: nested regions
    /// have functions. Complexity: O(items + values).
    [[nodiscard]] region_form read(id r) {
        region_form form;
        const auto externals = number_items(r, form);
        auto& exported = exported_[r];
        for (auto& [value, number] : exported) {
            number = number_[value];
        }
        std::sort(exported.begin(), exported.end(),
                  [](const auto& a, const auto& b) { return a.second < b.second; });
        form.tokens.push_back(~std::uint64_t{0});
        for (const auto& [value, number] : exported) {
            form.tokens.push_back(number);
        }
        auto& inputs = plan_.inputs[r];
        inputs.clear();
        for (const bool weight : {false, true}) {
            std::copy_if(externals.begin(), externals.end(), std::back_inserter(inputs),
                         [&](id value) { return is_weight(value) == weight; });
        }
        for (auto token : form.tokens) {
            form.hash = hash_mix(form.hash, token);
        }
        for (auto label : form.labels) {
            form.hash = hash_mix(form.hash, label);
            form.contents += hash_mix(label, 1);
        }
        for (auto value : used_) {
            number_[value] = no_id;
        }
        used_.clear();
        return form;
    }

    /// Returns: a region with that form as a section, for comparison in any order.
    /// Complexity: O(items + values) expected.
    [[nodiscard]] graph_section section(id r, const region_form& form) const {
        graph_section section;
        std::unordered_map<id, id> numbers;
        std::vector<id> values; // by number
        const auto number_of = [&](id value) {
            if (value == no_id || model_.value_name(value).empty()) {
                return no_id;
            }
            const auto [entry, is_new] = numbers.try_emplace(value, section.value_count());
            if (is_new) {
                section.add_value();
                values.push_back(value);
            }
            return entry->second;
        };
        std::vector<id> inputs;
        std::vector<id> outputs;
        const auto& items = plan_.regions[r].items;
        for (std::size_t i = 0; i < items.size(); ++i) {
            inputs.clear();
            outputs.clear();
            const auto index = items[i].index;
            if (items[i].is_region) {
                for (auto value : plan_.inputs[index]) {
                    inputs.push_back(number_of(value));
                }
                for (const auto& [value, number] : exported_[index]) {
                    outputs.push_back(number_of(value));
                }
            } else {
                for (auto value : values_read(model_, contents_, index)) {
                    inputs.push_back(number_of(value));
                }
                for (id k = 0; k < model_.output_count(index); ++k) {
                    outputs.push_back(number_of(model_.first_output(index) + k));
                }
            }
            section.add_item(form.labels[i], inputs, outputs);
        }
        for (id value = 0; value < values.size(); ++value) {
            if (section.maker(value) == no_id) {
                section.mark(value, is_weight(values[value]) ? 1 : 2);
            }
        }
        for (const auto& [value, number] : exported_[r]) {
            section.mark(numbers.at(value), 3);
        }
        return section;
    }

private:
    /// Returns: a number for the path of a module relative to an ancestor.
    [[nodiscard]] id way_number(id from, id to) {
        const auto [entry, is_new] =
            ways_.try_emplace(std::uint64_t{from} << 32U | to, static_cast<id>(ways_.size()));
        if (is_new) {
            entry->second = paths_.intern(relative_path(modules_, from, to));
        }
        return entry->second;
    }

    [[nodiscard]] id module_in(const fold_region& region, id node) const {
        const auto m = attributions_[node].module;
        return modules_.index().is_ancestor(region.module, m) ? m : region.module;
    }

    /// Numbers values in order of appearance, and records their readers and producers. Returns: the
    /// values from outside.
    [[nodiscard]] std::vector<id> number_items(id r, region_form& form) {
        std::vector<id> externals;
        const auto note = [&](id value, bool read) {
            if (value == no_id || model_.value_name(value).empty()) {
                form.tokens.push_back(no_id);
                return;
            }
            if (number_[value] == no_id) {
                number_[value] = static_cast<id>(used_.size());
                used_.push_back(value);
                if (read) {
                    externals.push_back(value);
                    form.tokens.push_back(is_weight(value) ? 1 : 2);
                }
            }
            form.tokens.push_back(number_[value] + std::uint64_t{16});
        };
        const auto& region = plan_.regions[r];
        for (const auto& item : region.items) {
            if (item.is_region) {
                const auto path = paths_.intern(plan_.paths[item.index]);
                form.tokens.push_back(3);
                form.tokens.push_back(plan_.function[item.index]);
                form.tokens.push_back(path);
                form.labels.push_back(hash_mix(hash_mix(3, plan_.function[item.index]), path));
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
            const auto way = way_number(region.module, module_in(region, node));
            form.nodes.push_back(node);
            form.tokens.push_back(4);
            form.tokens.push_back(way);
            form.tokens.push_back(read.size());
            for (auto value : read) {
                note(value, true);
            }
            for (auto value : model_.outputs(node)) {
                note(value, false);
            }
            auto label = hash_mix(hash_mix(shapes_.hash(node, vary_), way), read.size());
            auto at = form.tokens.size();
            note_bodies(node, form);
            for (; at < form.tokens.size(); ++at) {
                label = hash_mix(label, form.tokens[at]);
            }
            form.labels.push_back(label);
        }
        return externals;
    }

    /// Records the calls in the bodies of a node with their functions, and module metadata.
    /// Everything else in bodies is compared with the node.
    void note_bodies(id node, region_form& form) {
        if (!plan_.changes_inside(node)) {
            return;
        }
        for (auto g : contents_.bodies_of(node)) {
            form.tokens.push_back(5);
            plan_.look_into(
                g, contents_, [&](id region) { note_inside(region, form); },
                [&](id inside) { note_in_body(inside, form); });
        }
    }

    void note_inside(id r, region_form& form) {
        for (const auto& item : plan_.regions[r].items) {
            if (item.is_region) {
                form.tokens.push_back(3);
                form.tokens.push_back(plan_.function[item.index]);
                form.tokens.push_back(paths_.intern(plan_.paths[item.index]));
                note_inside(item.index, form);
                form.tokens.push_back(6);
            } else {
                note_in_body(item.index, form);
            }
        }
    }

    void note_in_body(id node, region_form& form) {
        form.tokens.push_back(4);
        form.tokens.push_back(model_.position(node));
        const auto noted = plan_.noted.find(node);
        if (noted != plan_.noted.end()) {
            form.tokens.push_back(7);
            form.tokens.push_back(
                way_number(plan_.regions[noted->second].module, attributions_[node].module));
        }
        note_bodies(node, form);
    }

    const onnx_model& model_;
    const graph_contents& contents_;
    const Modules& modules_;
    std::span<const attribution> attributions_;
    Shapes& shapes_;
    fold_plan& plan_;
    bool vary_;
    std::vector<std::vector<std::pair<id, id>>> exported_; // by region: value, number
    std::vector<id> number_;                               // by value: in the current region
    std::vector<id> used_;                                 // those with a number
    string_pool paths_;
    std::unordered_map<std::uint64_t, id> ways_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_FOLD_DETAIL_REGION_FORMS_HPP
