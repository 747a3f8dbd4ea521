// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_HIDDEN_LEVELS_HPP
#define STEMMA_EVIDENCE_DETAIL_HIDDEN_LEVELS_HPP

#include <stemma/core/detail/ascii.hpp>
#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/prints_as.hpp>
#include <stemma/model/detail/class_path_namer.hpp>
#include <stemma/model/module_tree_builder.hpp>

#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace stemma::inline STEMMA_ABI::detail {

/// The levels that scopes leave out because those modules are never called, inferred from one list
/// member for the others: if parameters show that `att` in `block.0` is `block.0.layer.0.att`, it
/// is `block.1.layer.0.att` in `block.1`.
class hidden_levels {
public:
    /// Requires: `builder` outlives the object.
    explicit hidden_levels(const module_tree_builder& builder) : builder_(&builder) {}

    /// Records that `segment` in the scope of module `around` means `module`. Requires: `segment`
    /// outlives this. Complexity: O(length of the path + log(number of records)).
    void note(id around, std::string_view segment, id module) {
        if (!is_member(around) || builder_->parent(module) == around) {
            return; // nothing is left out for a child
        }
        for (auto m = module; m != around; m = builder_->parent(m)) {
            if (m == 0) {
                return;
            }
        }
        auto path = path_between(*builder_, around, module);
        if (path.size() > segment.size()) {
            paths_.try_emplace({builder_->parent(around), segment}, std::move(path));
        }
    }

    /// Whether any scope leaves out levels.
    [[nodiscard]] bool any_noted() const noexcept { return !paths_.empty(); }

    /// Returns: the path below `around` that `segment` has in another member of the list, if this
    /// one begins alike; else "". Valid until the next `note`. Complexity: O(log(number of
    /// records)).
    [[nodiscard]] std::string_view find(id around, std::string_view segment) const {
        if (!is_member(around)) {
            return {};
        }
        const auto entry = paths_.find({builder_->parent(around), segment});
        if (entry == paths_.end()) {
            return {};
        }
        const std::string_view path = entry->second;
        const auto first = path.substr(0, path.find('.'));
        return builder_->find_child(around, first) == no_id ? std::string_view{} : path;
    }

private:
    [[nodiscard]] bool is_member(id m) const { return m != 0 && is_number(builder_->name(m)); }

    const module_tree_builder* builder_;
    std::map<std::pair<id, std::string_view>, std::string> paths_; // by list, segment
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_HIDDEN_LEVELS_HPP
