// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CUT_DETAIL_PART_RECORDS_HPP
#define STEMMA_CUT_DETAIL_PART_RECORDS_HPP

#include <stemma/core/id.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/detail/tag_lookup.hpp>
#include <stemma/model/module_lookup.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/module_tree_builder.hpp>
#include <stemma/model/tag_table.hpp>
#include <stemma/onnx/carrier.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/open/attribution_options.hpp>
#include <stemma/record/detail/graph_sketch.hpp>
#include <stemma/record/detail/model_record.hpp>
#include <stemma/record/detail/read_tags.hpp>
#include <stemma/record/detail/recorded_claims.hpp>
#include <stemma/record/detail/recorded_tags.hpp>
#include <stemma/tagging/any_policy.hpp>
#include <stemma/tagging/name_modules.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// What is written about the tags of a part of a model.
struct part_record {
    recorded_model about;                 ///< the digest is left to the caller
    std::optional<recorded_tags> table{}; ///< if the whole has one
};

/// Makes the records of parts of a tagged model: of modules with nodes or parameters in the part,
/// their ancestors, and others only if tags would change without them.
class part_records {
public:
    /// Requires: `model` outlives this.
    /// Complexity: O(modules + fields of initializers and value infos), and of a table O(nodes).
    part_records(const wire_model& model, recorded_model whole)
        : model_(&model), whole_(std::move(whole)) {
        bool damaged = false;
        table_ = detail::read_table(model, whole_.modules.size(), damaged);
        const auto named = detail::naming_of(whole_);
        if (!named) {
            return;
        }
        naming_ = named->naming;
        selection_ = named->selection;
        tags_ = name_modules(whole_.modules, *selection_, *naming_);
        if (const auto text = find_model_metadata(model, sketch_key)) {
            sketch_ = read_sketch(*text, whole_.modules.size());
        }
        by_tag_.emplace(tags_);
        model.for_each_value_metadata([&](id value, std::string_view key, std::string_view text) {
            if (key == hierarchy_tags_key) {
                add_tags(text, of_value_[value]);
            }
        });
        for (const auto& tensor : model.tensors()) {
            if (tensor.value != no_id) {
                initializers_.emplace(model.value_name(tensor.value), tensor.value);
            }
        }
        for (id m = 1; m < tags_.size(); ++m) {
            if (tags_.is_selected(m)) {
                named_below_.emplace(tags_.above(m), m);
            }
        }
    }

    part_records(const part_records&) = delete;
    part_records& operator=(const part_records&) = delete;

    /// Returns: the record of a part with these nodes, renumbered in this order, and these
    /// initializers. It claims for every node the module that it has in the model; if the model
    /// does not record that of every node, the part has all modules and no such claims.
    /// Complexity: O(fields of the nodes + (nodes + modules of the part) * depth), and, if tags
    /// would change, that of naming the modules beside them.
    [[nodiscard]] part_record of(std::span<const id> nodes,
                                 std::span<const id> initializers) const {
        part_record result{{whole_header(), {}}};
        auto& record = result.about;
        record.nodes = nodes.size();
        record.claims = claims_about(whole_.claims, nodes, model_->node_count());
        result.table = table_about(nodes);
        auto part = find_modules(nodes, initializers, record.claims);
        if (!part) {
            record.modules = whole_.modules;
            return result;
        }
        record.modules = build(*part);
        record.from_model = false; // it would name further modules
        record.claims.insert(record.claims.begin(), to_runs(part->claims));
        record.claims.resize(std::min(record.claims.size(), max_claim_tables));
        record.carried = true;
        const auto renumber = [&](id& m) { m = m == no_id ? no_id : part->rank_of(m); };
        for (auto& claims : record.claims) {
            for (auto& run : claims.runs) {
                renumber(run.made.module);
            }
        }
        if (result.table) {
            auto& [module, several] = *result.table;
            std::for_each(module.begin(), module.end(), renumber);
            for (auto& [node, modules] : several) {
                std::for_each(modules.begin(), modules.end(), renumber);
            }
        }
        return result;
    }

private:
    /// A subset of the modules.
    struct chosen_modules {
        std::vector<id> modules;                      // ascending, with their ancestors
        std::unordered_set<id> direct;                // that nodes are of
        std::unordered_set<id> tensors;               // initializers of the part
        claim_table claims{provenance::recorded, {}}; // what the whole has for the nodes

        [[nodiscard]] id rank_of(id m) const {
            const auto at = std::lower_bound(modules.begin(), modules.end(), m);
            return at == modules.end() || *at != m ? no_id : static_cast<id>(at - modules.begin());
        }
    };

    /// Collects modules and their ancestors.
    class collected_modules {
    public:
        explicit collected_modules(const module_tree& tree) : tree_(&tree) { add(0); }

        void add(id m) {
            while (m != no_id && described_.insert(m).second) {
                m = m == 0 ? no_id : tree_->index().parent(m);
            }
        }

        [[nodiscard]] std::vector<id> ascending() const {
            std::vector<id> sorted(described_.begin(), described_.end());
            std::sort(sorted.begin(), sorted.end());
            return sorted;
        }

    private:
        const module_tree* tree_;
        std::unordered_set<id> described_;
    };

    [[nodiscard]] model_record whole_header() const {
        model_record about;
        about.carriers = whole_.carriers;
        about.carriers.model = table_.has_value();
        about.carriers.mark = false; // marks refer to the sketch of the whole
        about.options = whole_.options;
        about.from_model = whole_.from_model;
        return about;
    }

    [[nodiscard]] std::optional<recorded_tags> table_about(std::span<const id> nodes) const {
        if (!table_) {
            return std::nullopt;
        }
        recorded_tags result;
        for (id i = 0; i < nodes.size(); ++i) {
            result.module.push_back(table_->module[nodes[i]]);
            if (const auto tags = table_->several.find(nodes[i]); tags != table_->several.end()) {
                result.several.emplace(i, tags->second);
            }
        }
        return result;
    }

    /// Returns: what the whole has for a node of this module. The sketch also knows the call, and
    /// of which nodes nothing was known.
    [[nodiscard]] claim known_of(id node, id module) const {
        claim result{module, no_id, 1, provenance::recorded};
        if (sketch_ && sketch_->node_count() == model_->node_count() &&
            sketch_->of(node).module == module) {
            result.call = sketch_->of(node).call;
            result.confidence = sketch_->of(node).confidence;
        }
        return result.confidence > 0 ? result : claim{};
    }

    void add_tags(std::string_view list, std::vector<id>& result) const {
        const auto tags = nlohmann::json::parse(list, nullptr, false);
        if (!tags.is_array()) {
            return;
        }
        for (const auto& tag : tags) {
            const auto m =
                tag.is_string() ? by_tag_->find(tag.get_ref<const std::string&>()) : no_id;
            if (m != no_id) {
                result.push_back(m);
            }
        }
    }

    [[nodiscard]] std::optional<chosen_modules>
    find_modules(std::span<const id> nodes, std::span<const id> initializers,
                 const std::vector<claim_runs>& claims) const {
        if (!naming_) {
            return std::nullopt;
        }
        const auto& tree = whole_.modules;
        chosen_modules part;
        collected_modules collected(tree);
        const auto add_all = [&](const auto& lists, id key) {
            if (const auto list = lists.find(key); list != lists.end()) {
                std::for_each(list->second.begin(), list->second.end(),
                              [&](id m) { collected.add(m); });
            }
        };
        detail::carrier_modules named(tree, tags_, detail::has_our_namespaces(*model_));
        std::vector<id> several;
        for (auto node : nodes) {
            const auto carriers = read_node_carriers(*model_, node);
            auto m = named.find(carriers);
            m = m == no_id && table_ ? table_->module[node] : m;
            if (m == no_id) {
                return std::nullopt;
            }
            part.claims.of.push_back(known_of(node, m));
            if (table_) {
                collected.add(table_->module[node]);
                add_all(table_->several, node);
            }
            if (carriers.all) {
                add_tags(*carriers.all, several);
            }
            part.direct.insert(m);
            collected.add(m);
            for (auto value : model_->inputs(node)) {
                add_all(of_value_, value);
            }
            for (auto value : model_->outputs(node)) {
                add_all(of_value_, value);
            }
        }
        std::for_each(several.begin(), several.end(), [&](id m) { collected.add(m); });
        const module_lookup<module_tree> lookup(tree);
        for (auto value : initializers) {
            part.tensors.insert(value);
            add_all(of_value_, value);
            const auto name = model_->value_name(value);
            const auto dot = name.rfind('.');
            const auto owner = find_module(lookup, name.substr(0, dot == name.npos ? 0 : dot));
            if (owner != no_id && has_tensor(owner, name.substr(dot + 1))) {
                collected.add(owner);
            }
        }
        for (const auto& table : claims) {
            for (const auto& run : table.runs) {
                collected.add(run.made.module);
            }
        }
        part.modules = collected.ascending();
        return keep_tags(part, collected) ? std::optional(std::move(part)) : std::nullopt;
    }

    [[nodiscard]] bool has_tensor(id m, std::string_view name) const {
        const auto& tree = whole_.modules;
        for (std::size_t i = 0; i < tree.parameter_count(m); ++i) {
            if (tree.parameter(m, i).name == name) {
                return true;
            }
        }
        for (std::size_t i = 0; i < tree.buffer_count(m); ++i) {
            if (tree.buffer(m, i).name == name) {
                return true;
            }
        }
        return false;
    }

    /// Adds modules that influence the tags of the part, those of the same class first. Returns:
    /// whether that suffices.
    [[nodiscard]] bool keep_tags(chosen_modules& part, collected_modules& collected) const {
        const auto& tree = whole_.modules;
        for (const bool same_class : {true, false, false}) {
            const auto modules = build(part);
            const auto tags = name_modules(modules, *selection_, *naming_);
            bool equal = true;
            for (id rank = 0; rank < part.modules.size(); ++rank) {
                const auto m = part.modules[rank];
                if (tags.is_selected(rank) != tags_.is_selected(m)) {
                    return false;
                }
                if (!tags.is_selected(rank) || tags.segment(rank) == tags_.segment(m)) {
                    continue;
                }
                equal = false;
                const auto [first, last] = named_below_.equal_range(tags_.above(m));
                for (auto it = first; it != last; ++it) {
                    if (!same_class || tree.class_name(it->second) == tree.class_name(m)) {
                        collected.add(it->second);
                    }
                }
            }
            if (equal) {
                return true;
            }
            part.modules = collected.ascending();
        }
        return false;
    }

    /// Whether a tensor of a module belongs to the part: by name, else if the module has nodes in
    /// it.
    [[nodiscard]] bool has_tensor(const chosen_modules& part, id m, const std::string& path) const {
        const auto tensor = initializers_.find(path);
        return tensor == initializers_.end() ? part.direct.contains(m)
                                             : part.tensors.contains(tensor->second);
    }

    [[nodiscard]] module_tree build(const chosen_modules& part) const {
        const auto& tree = whole_.modules;
        module_tree_builder builder(tree.name(0));
        std::unordered_set<std::string> tensors;
        for (id rank = 0; rank < part.modules.size(); ++rank) {
            const auto m = part.modules[rank];
            if (m != 0) {
                builder.child(part.rank_of(tree.index().parent(m)), tree.name(m));
            }
            if (!tree.class_name(m).empty()) {
                builder.set_class(rank, tree.class_name(m), tree.qualified_class(m));
            }
            if (tree.calls(m) != no_id) {
                builder.set_calls(rank, tree.calls(m));
            }
            const auto prefix = m == 0 ? std::string() : tree.path(m) + ".";
            const auto add = [&](const tensor_info& tensor, bool buffer) {
                auto path = prefix + std::string(tensor.name);
                if (has_tensor(part, m, path)) {
                    buffer ? builder.add_buffer(rank, tensor) : builder.add_parameter(rank, tensor);
                    tensors.insert(std::move(path));
                }
            };
            for (std::size_t i = 0; i < tree.parameter_count(m); ++i) {
                add(tree.parameter(m, i), false);
            }
            for (std::size_t i = 0; i < tree.buffer_count(m); ++i) {
                add(tree.buffer(m, i), true);
            }
        }
        for (const auto& alias : tree.aliases()) {
            if (const auto rank = part.rank_of(alias.module); rank != no_id) {
                builder.add_alias(alias.path, rank);
            }
        }
        for (const auto& group : tree.shared_parameters()) {
            std::vector<std::string> kept;
            std::copy_if(group.begin(), group.end(), std::back_inserter(kept),
                         [&](const std::string& path) { return tensors.contains(path); });
            if (kept.size() > 1) {
                builder.add_shared_parameters(std::move(kept));
            }
        }
        return builder.build();
    }

    const wire_model* model_;
    recorded_model whole_;
    std::optional<any_policy<naming_category, module_tree>>
        naming_; // none if the naming is unknown
    std::optional<any_policy<selection_category, module_tree>> selection_;
    tag_table tags_;
    std::optional<recorded_tags> table_;
    std::optional<graph_sketch> sketch_;
    std::optional<tag_lookup> by_tag_;
    std::unordered_map<id, std::vector<id>> of_value_;
    std::unordered_map<std::string_view, id> initializers_; // by name
    std::unordered_multimap<id, id> named_below_;           // by selected ancestor
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CUT_DETAIL_PART_RECORDS_HPP
