// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_CLASS_TAGS_HPP
#define STEMMA_EVIDENCE_CLASS_TAGS_HPP

#include <stemma/core/category.hpp>
#include <stemma/core/concepts.hpp>
#include <stemma/core/detail/ascii.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/evidence/detail/context_facts.hpp>
#include <stemma/evidence/detail/grow_class_tags.hpp>
#include <stemma/evidence/detail/scoped_name.hpp>
#include <stemma/evidence/evidence_context.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/confidence.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>

#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// Evidence in the tags of winml-cli, `winml.hierarchy.tag`: `/BertModel/BertEncoder/BertLayer.3`.
///
/// A segment is a class, followed by a number if that is the module's name, or a child name.
/// Modules without a segment may be in between, and below; a tag that matches several modules
/// denotes their common ancestor, as do several tags on one operator. Where nothing else names a
/// module, the tree is that of the tags.
struct class_tags {
    using policy_category = evidence_category;

private:
    struct denoted {
        id module = no_id;
        bool alone = true; ///< otherwise it is the common ancestor of several
    };

public:
    template <class Ops>
    class claims {
    public:
        claims(const Ops& ops, std::unordered_map<id, denoted> modules)
            : ops_(&ops), modules_(std::move(modules)) {}

        template <class Function>
        void for_each_claim(operator_t<Ops> vertex, Function f) const {
            if (modules_.empty()) {
                return;
            }
            const auto entry =
                modules_.find(static_cast<id>(detail::index_of(ops_->graph(), vertex)));
            if (entry != modules_.end()) {
                const auto& [module, alone] = entry->second;
                f(claim{module, no_id,
                        alone ? detail::confidence::class_tag : detail::confidence::common_ancestor,
                        provenance::leftover, false});
            }
        }

    private:
        const Ops* ops_;
        std::unordered_map<id, denoted> modules_;
    };

    /// Complexity: O(operators with tags), and O(modules * length) for each distinct tag.
    template <operator_view Ops, module_view Modules>
    [[nodiscard]] claims<Ops> prepare(evidence_context<Ops, Modules>& context) const {
        std::unordered_map<id, denoted> by_node;
        std::unordered_map<std::string_view, denoted> by_tag;
        const bool only = !context.hierarchies().class_tags.empty() && tell_alone(context);
        for (const auto& [v, tag] : context.hierarchies().class_tags) {
            const auto [entry, is_new] = by_tag.try_emplace(tag);
            auto& read = entry->second;
            if (is_new) {
                read = find(context.modules(), tag);
                if (read.module == 0 && !(only && detail::is_class_path(tag))) {
                    read.module = no_id; // written for every operator without a scope
                }
            }
            if (read.module != no_id) {
                auto& [module, alone] = by_node.try_emplace(v, read).first->second;
                alone = alone && module == read.module;
                module = context.index().lca(module, read.module);
            }
        }
        return {context.ops(), std::move(by_node)};
    }

private:
    /// Whether nothing else in the operators names a module.
    template <class Ops, class Modules>
    [[nodiscard]] static bool tell_alone(evidence_context<Ops, Modules>& context) {
        if constexpr (named_operators<Ops> && parameter_readers<Ops>) {
            return !context.owners().any() && context.hierarchies().chains.empty() &&
                   context.scopes().scopes.size() == detail::scope_style_count;
        } else {
            return false;
        }
    }

    /// Returns: the module that a tag denotes; `no_id` if none.
    template <class Modules>
    [[nodiscard]] static denoted find(const Modules& modules, std::string_view tag) {
        const tree_index& tree = modules.index();
        std::vector<id> here{0};
        bool is_root = true;
        while (!tag.empty()) {
            tag.remove_prefix(1);
            const auto segment = tag.substr(0, tag.find('/'));
            tag.remove_prefix(segment.size());
            if (!std::exchange(is_root, false)) {
                std::vector<id> below;
                for (const auto m : here) {
                    add_nearest(modules, m, segment, below);
                }
                here = std::move(below);
            }
        }
        auto module = here.empty() ? no_id : here.front();
        for (const auto m : here) {
            module = tree.lca(module, m);
        }
        return {module, here.size() < 2};
    }

    /// Appends the nearest modules below another one that a segment may denote, none below another
    /// of them; if possible without modules between that would have a segment of their own.
    template <class Modules>
    static void add_nearest(const Modules& modules, id above, std::string_view segment,
                            std::vector<id>& nearest) {
        const tree_index& tree = modules.index();
        const auto size = nearest.size();
        for (const bool strict : {true, false}) {
            if (nearest.size() > size) {
                return;
            }
            for (id m = above + 1; m < tree.end(above);) {
                const bool is_match = fits(modules, m, segment);
                if (is_match) {
                    nearest.push_back(m);
                }
                m = is_match || (strict && has_segment(modules, m)) ? tree.end(m) : m + 1;
            }
        }
    }

    /// Whether a module has a segment in tags: those of torch.nn mostly have none.
    template <class Modules>
    [[nodiscard]] static bool has_segment(const Modules& modules, id m) {
        const std::string_view class_name = modules.qualified_class(m);
        return !class_name.empty() && !class_name.starts_with("torch.");
    }

    template <class Modules>
    [[nodiscard]] static bool fits(const Modules& modules, id m, std::string_view segment) {
        const std::string_view name = modules.name(m);
        const std::string_view class_name = modules.class_name(m);
        if (!detail::is_number(name)) {
            return !segment.empty() && (segment == class_name || segment == name);
        }
        return segment.size() == class_name.size() + 1 + name.size() &&
               segment.starts_with(class_name) && segment[class_name.size()] == '.' &&
               segment.ends_with(name);
    }
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_EVIDENCE_CLASS_TAGS_HPP
