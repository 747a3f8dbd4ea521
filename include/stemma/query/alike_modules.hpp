// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_QUERY_ALIKE_MODULES_HPP
#define STEMMA_QUERY_ALIKE_MODULES_HPP

#include <stemma/align/detail/graph_section.hpp>
#include <stemma/align/detail/match_sections.hpp>
#include <stemma/core/detail/hash.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/ids.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/detail/module_members.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/query/detail/node_sections.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// Finds modules that are equal up to weights and names, in any node order.
class alike_modules {
public:
    /// The kind of equality of modules.
    enum class likeness : std::uint8_t {
        function, ///< what they compute, up to weights and names: operators with their attributes
                  ///< and small constants, wiring, and what they give away
        form,     ///< what they compute, types and shapes of weights, class, and names and
                  ///< classes of modules inside
    };

    /// Requires: all outlive this. Complexity: O(nodes + modules + length of names).
    alike_modules(const wire_model& model, const module_tree& modules,
                  std::span<const attribution> attributions)
        : model_(&model)
        , modules_(&modules)
        , members_(modules.index(), attributions)
        , outline_(modules.size(), 0)
        , look_(modules.size(), 0) {
        std::vector<std::uint64_t> operators;
        for (id op = 0; op < model.operator_count(); ++op) {
            // These are optional, see `node_sections`.
            const auto type = model.operator_type(op);
            operators.push_back(
                type == "Constant" || type == "Identity"
                    ? 0
                    : detail::hash_bytes(type, detail::hash_bytes(model.operator_domain(op))));
        }
        for (id node = 0; node < model.node_count(); ++node) {
            outline_[attributions[node].module] += operators[model.operator_id(node)];
        }
        const auto& tree = modules.index();
        for (auto m = static_cast<id>(modules.size()); m-- > 0;) {
            // Descendants come first, and have already been added.
            look_[m] = detail::hash_bytes(modules.class_name(m), look_[m]);
            if (m > 0) {
                const auto name = detail::hash_bytes(modules.name(m), 3);
                look_[tree.parent(m)] += detail::hash_mix(name, look_[m]);
                outline_[tree.parent(m)] += outline_[m];
            }
        }
    }

    /// Whether two modules are alike; modules without nodes are alike.
    /// Complexity: O(n log n) in their nodes and bytes of attributes, if their hashes are equal;
    /// else O(1).
    [[nodiscard]] bool operator()(index_arg<module_id> a, index_arg<module_id> b,
                                  likeness how = likeness::form) {
        if (a == b) {
            return true;
        }
        if (outline_[a] != outline_[b] || (how == likeness::form && look_[a] != look_[b])) {
            return false;
        }
        return digest(a, how) == digest(b, how) && match(*this, a, *this, b, how).has_value();
    }

    /// Returns: the modules like a given one, without that module, its ancestors and descendants,
    /// in tree order. By function, none for a module without nodes.
    /// Complexity: O(modules with as many of the same operators), and as above for those.
    [[nodiscard]] std::vector<id> like(index_arg<module_id> m, likeness how = likeness::form) {
        std::vector<id> result;
        const auto& tree = modules_->index();
        if (by_outline_.empty()) {
            for (id other = 0; other < modules_->size(); ++other) {
                by_outline_[outline_[other]].push_back(other);
            }
        }
        const bool computes = outline_[m] != 0 || how == likeness::form;
        for (auto other : computes ? by_outline_.at(outline_[m]) : std::vector<id>()) {
            if (!tree.is_ancestor(m, other) && !tree.is_ancestor(other, m) &&
                (*this)(m, other, how)) {
                result.push_back(other);
            }
        }
        return result;
    }

    /// Returns: the corresponding nodes of two modules, possibly of different models; nothing if
    /// these are not alike. The names of the modules themselves do not count. Complexity: O(n log
    /// n) of the nodes and bytes of their attributes.
    [[nodiscard]] static std::optional<std::vector<std::pair<id, id>>>
    match(alike_modules& first, id m, alike_modules& second, id n,
          likeness how = likeness::function) {
        const auto& a = first.section(m, how);
        const auto b = second.sections().read(second.members_.all(n), how == likeness::form);
        detail::section_match match;
        const auto same = [&](id i, id j) { return a.texts[i] == b.texts[j]; };
        if (!detail::match_sections(a.section, detail::section_colors(a.section), b.section,
                                    detail::section_colors(b.section), same, match)) {
            return std::nullopt;
        }
        for (id value = 0; value < match.values.size(); ++value) {
            if (a.shapes[value] != b.shapes[match.values[value]]) {
                return std::nullopt;
            }
        }
        std::vector<std::pair<id, id>> pairs;
        for (id item = 0; item < match.items.size(); ++item) {
            if (a.nodes[item] != no_id) {
                pairs.emplace_back(a.nodes[item], b.nodes[match.items[item]]);
            }
        }
        return pairs;
    }

private:
    [[nodiscard]] detail::node_sections& sections() {
        if (!sections_) {
            sections_.emplace(*model_);
        }
        return *sections_;
    }

    /// The section of a module; the last one is cached.
    [[nodiscard]] const detail::node_section& section(id m, likeness how) {
        if (last_ != std::pair(m, how) || !last_section_) {
            last_section_ = sections().read(members_.all(m), how == likeness::form);
            last_ = {m, how};
        }
        return *last_section_;
    }

    [[nodiscard]] std::uint64_t digest(id m, likeness how) {
        const auto [entry, is_new] = digests_[static_cast<std::size_t>(how)].emplace(m, 0);
        if (is_new) {
            const auto nodes = sections().read(members_.all(m), how == likeness::form);
            entry->second = detail::section_colors(nodes.section).digest();
        }
        return entry->second;
    }

    const wire_model* model_;
    const module_tree* modules_;
    detail::module_members members_;
    std::vector<std::uint64_t> outline_; // by module: equal if possibly of the same function
    std::vector<std::uint64_t> look_;    // by module: equal for possibly equal trees
    std::unordered_map<std::uint64_t, std::vector<id>> by_outline_; // computed on demand
    std::optional<detail::node_sections> sections_;
    std::array<std::unordered_map<id, std::uint64_t>, 2> digests_; // by likeness
    std::optional<detail::node_section> last_section_;
    std::pair<id, likeness> last_{no_id, likeness::function};
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_QUERY_ALIKE_MODULES_HPP
