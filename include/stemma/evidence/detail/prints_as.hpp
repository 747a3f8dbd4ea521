// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_PRINTS_AS_HPP
#define STEMMA_EVIDENCE_DETAIL_PRINTS_AS_HPP

#include <stemma/core/detail/ascii.hpp>
#include <stemma/core/detail/flat_index.hpp>
#include <stemma/core/detail/grouped_ids.hpp>
#include <stemma/core/detail/hash.hpp>
#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/scope_table.hpp>
#include <stemma/model/detail/class_path_namer.hpp>
#include <stemma/model/module_view.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The names and parents of modules, for `prints_as`.
template <module_view Modules>
struct printed_tree {
    const Modules& modules;

    [[nodiscard]] id parent(id m) const { return modules.index().parent(m); }
    [[nodiscard]] std::string_view name(id m) const { return modules.name(m); }
};

/// Whether a call of `m` prints as `segment`: the part of its path from the last non-numeric name.
/// `Tree` has `parent(m)` and `name(m)`. Complexity: O(length).
template <class Tree>
[[nodiscard]] bool prints_as(const Tree& tree, id m, std::string_view segment) {
    while (m != 0) {
        const std::string_view name = tree.name(m);
        if (!segment.ends_with(name)) {
            return false;
        }
        segment.remove_suffix(name.size());
        const bool goes_on = is_number(name) && tree.parent(m) != 0;
        if (!goes_on) {
            return segment.empty();
        }
        if (!segment.ends_with('.')) {
            return false;
        }
        segment.remove_suffix(1);
        m = tree.parent(m);
    }
    return segment.empty();
}

/// As above; the segment may have a suffix for further calls.
template <class Tree>
[[nodiscard]] bool may_print(const Tree& tree, id m, std::string_view segment) {
    if (prints_as(tree, m, segment)) {
        return true;
    }
    const auto counted = split_count(segment);
    return counted && prints_as(tree, m, counted->first);
}

/// Returns: what a call of `m` prints; `Tree` is as above. Complexity: O(length).
template <class Tree>
[[nodiscard]] std::string printed(const Tree& tree, id m) {
    std::string text(tree.name(m));
    while (is_number(tree.name(m)) && tree.parent(m) != 0) {
        m = tree.parent(m);
        text.insert(0, std::string(tree.name(m)) + ".");
    }
    return text;
}

/// Returns: the path from an ancestor down to `m`; `Tree` is as above. Complexity: O(length *
/// levels).
template <class Tree>
[[nodiscard]] std::string path_between(const Tree& tree, id above, id m) {
    std::string path;
    for (; m != above; m = tree.parent(m)) {
        path.insert(0, path.empty() ? "" : ".").insert(0, tree.name(m));
    }
    return path;
}

/// Finds modules by what a call of them prints: their path from its last non-numeric name.
template <module_view Modules>
class printed_modules {
public:
    /// Complexity: O(bytes of names).
    explicit printed_modules(const Modules& modules) {
        const auto& tree = modules.index();
        std::vector<std::uint64_t> hashes(tree.size());
        std::vector<id> text_of(tree.size());
        for (id m = 1; m < tree.size(); ++m) {
            const std::string_view name = modules.name(m);
            const auto above = tree.parent(m);
            const bool goes_on = is_number(name) && above != 0;
            hashes[m] = goes_on ? fnv1a(name, fnv1a(".", hashes[above])) : fnv1a(name);
            const auto next = static_cast<id>(hash_of_.size());
            text_of[m] = texts_.insert(hashes[m], next,
                                       [&](id text) { return hash_of_[text] == hashes[m]; });
            if (text_of[m] == next) {
                hash_of_.push_back(hashes[m]);
            }
        }
        modules_ = {hash_of_.size(), [&](auto take) {
                        for (id m = 1; m < tree.size(); ++m) {
                            take(text_of[m], m);
                        }
                    }};
    }

    /// Returns: the modules that print as `text`, ascending, possibly with a few others.
    /// Complexity: O(length) expected.
    [[nodiscard]] std::span<const id> of(std::string_view text) const {
        const auto hash = fnv1a(text);
        const auto existing = texts_.find(hash, [&](id other) { return hash_of_[other] == hash; });
        return existing == no_id ? std::span<const id>{} : modules_[existing];
    }

private:
    flat_index texts_;
    std::vector<std::uint64_t> hash_of_; // by text
    grouped_ids modules_;                // by text
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_PRINTS_AS_HPP
