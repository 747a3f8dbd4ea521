// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_COMPARE_DETAIL_MODULE_PAIRS_HPP
#define STEMMA_COMPARE_DETAIL_MODULE_PAIRS_HPP

#include <stemma/core/detail/hash.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/model/module_view.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The contents of modules, including descendants, as numbers by module.
struct module_contents {
    std::vector<id> operators;            ///< their number
    std::vector<std::uint64_t> structure; ///< equal for equal operators with equal wiring
    std::vector<std::uint64_t> weights;   ///< equal for equal weights; 0 without any
};

/// A matching of the modules of two trees.
struct module_pairs {
    std::vector<id> to_second; ///< by module of the first tree; `no_id` for none
    std::vector<id> to_first;  ///< by module of the second tree; `no_id` for none
    id first_root = 0;         ///< the module that the root of the second tree corresponds to
    id second_root = 0;        ///< the module that the root of the first tree corresponds to
};

/// Pairs modules from the root down, then moved ones.
template <module_view First, module_view Second>
class module_pairer {
public:
    module_pairer(const First& a, const module_contents& in_a, const Second& b,
                  const module_contents& in_b)
        : a_(a), b_(b), in_a_(in_a), in_b_(in_b) {
        pairs_.to_second.assign(a.index().size(), no_id);
        pairs_.to_first.assign(b.index().size(), no_id);
    }

    [[nodiscard]] module_pairs run() {
        find_roots();
        // Wrappers around the whole model correspond to it.
        for (auto m = pairs_.second_root; m != no_id; m = b_.index().parent(m)) {
            pairs_.to_first[m] = pairs_.first_root;
        }
        for (auto m = pairs_.first_root; m != no_id; m = a_.index().parent(m)) {
            pairs_.to_second[m] = pairs_.second_root;
        }
        pair_below(pairs_.first_root, pairs_.second_root);
        pair_elsewhere();
        return std::move(pairs_);
    }

private:
    using entry = std::pair<std::uint64_t, id>;

    [[nodiscard]] std::uint64_t content_a(id m) const {
        return in_a_.weights[m] == 0 ? 0 : hash_mix(in_a_.structure[m], in_a_.weights[m]);
    }
    [[nodiscard]] std::uint64_t content_b(id m) const {
        return in_b_.weights[m] == 0 ? 0 : hash_mix(in_b_.structure[m], in_b_.weights[m]);
    }

    template <class Modules>
    [[nodiscard]] static std::vector<id> filled_children(const Modules& tree,
                                                         const module_contents& contents, id m) {
        std::vector<id> result;
        for (const id child : tree.index().children(m)) {
            if (contents.operators[child] > 0) {
                result.push_back(child);
            }
        }
        return result;
    }

    [[nodiscard]] static std::uint64_t hash_of(std::string_view name) {
        return hash_bytes(name) | 1U;
    }

    /// Returns: the number of common child names of two modules.
    [[nodiscard]] std::size_t shared_names(id m, id n) const {
        std::vector<std::string_view> names;
        for (auto child : filled_children(a_, in_a_, m)) {
            names.push_back(a_.name(child));
        }
        std::sort(names.begin(), names.end());
        std::size_t count = 0;
        for (auto child : filled_children(b_, in_b_, n)) {
            count +=
                std::binary_search(names.begin(), names.end(), std::string_view(b_.name(child)))
                    ? 1U
                    : 0U;
        }
        return count;
    }

    /// Only one of the models may be wrapped.
    void find_roots() {
        auto best = shared_names(0, 0);
        const auto descend = [&](const auto& tree, const module_contents& contents, auto count,
                                 id& root) {
            constexpr int most_wrappers = 8;
            id m = 0;
            for (int i = 0; i < most_wrappers; ++i) {
                const auto below = filled_children(tree, contents, m);
                if (below.size() != 1) {
                    return;
                }
                m = below.front();
                if (const auto shared = count(m); shared > best) {
                    best = shared;
                    root = m;
                }
            }
        };
        descend(
            b_, in_b_, [&](id m) { return shared_names(0, m); }, pairs_.second_root);
        descend(
            a_, in_a_, [&](id m) { return shared_names(m, 0); }, pairs_.first_root);
        if (pairs_.first_root != 0) {
            pairs_.second_root = 0;
        }
    }

    void add(id m, id n) {
        pairs_.to_second[m] = n;
        pairs_.to_first[n] = m;
        open_.emplace_back(m, n);
    }

    /// Pairs two modules; if one only wraps what is more like the other, with that.
    void add_unwrapped(id m, id n) {
        if (std::string_view(a_.name(m)) != b_.name(n)) {
            const auto first = wrapped(a_, in_a_, m);
            const auto second = wrapped(b_, in_b_, n);
            const auto both = std::min(first.size(), second.size());
            const auto x = first[first.size() - both];
            const auto y = second[second.size() - both];
            if (likeness(x, y) > likeness(m, n)) {
                m = x;
                n = y;
            }
        }
        add(m, n);
    }

    /// Returns: a module, its child if that holds all its operators, and so on.
    template <class Modules>
    [[nodiscard]] static std::vector<id> wrapped(const Modules& tree,
                                                 const module_contents& contents, id m) {
        std::vector<id> chain;
        for (auto below = std::vector{m};
             below.size() == 1 && contents.operators[below.front()] == contents.operators[m];
             below = filled_children(tree, contents, chain.back())) {
            chain.push_back(below.front());
        }
        return chain;
    }

    /// Returns: how much two modules have in common besides their contents: class, then name.
    [[nodiscard]] int likeness(id m, id n) const {
        return (std::string_view(a_.name(m)) == b_.name(n) ? 1 : 0) +
               (std::string_view(a_.class_name(m)) == b_.class_name(n) ? 2 : 0);
    }

    void pair_below(id first, id second) {
        open_.emplace_back(first, second);
        while (!open_.empty()) {
            const auto [m, n] = open_.back();
            open_.pop_back();
            pair_children(m, n);
        }
    }

    /// Pairs unmatched modules of `left` and `right` with equal keys, in order, if both have
    /// equally many; 0 is no key.
    template <class KeyA, class KeyB>
    void pair_by(const std::vector<id>& left, const std::vector<id>& right, KeyA key_a, KeyB key_b,
                 bool single) {
        const auto list = [](const std::vector<id>& modules, const std::vector<id>& partner,
                             const auto& key) {
            std::vector<entry> entries;
            for (auto m : modules) {
                if (partner[m] == no_id && key(m) != 0) {
                    entries.emplace_back(key(m), m);
                }
            }
            std::sort(entries.begin(), entries.end());
            return entries;
        };
        const auto from = list(left, pairs_.to_second, key_a);
        const auto to = list(right, pairs_.to_first, key_b);
        for (std::size_t i = 0, j = 0; i < from.size();) {
            const auto key = from[i].first;
            auto end = i;
            for (; end < from.size() && from[end].first == key; ++end) {
            }
            for (; j < to.size() && to[j].first < key; ++j) {
            }
            auto other = j;
            for (; other < to.size() && to[other].first == key; ++other) {
            }
            const bool fits = other - j == end - i && (!single || end - i == 1);
            for (; fits && i < end; ++i, ++j) {
                add_unwrapped(from[i].second, to[j].second);
            }
            i = end;
            j = other;
        }
    }

    void pair_children(id m, id n) {
        const auto left = filled_children(a_, in_a_, m);
        const auto right = filled_children(b_, in_b_, n);
        if (left.empty() || right.empty()) {
            return;
        }
        const auto name_a = [&](id c) { return hash_of(a_.name(c)); };
        const auto name_b = [&](id c) { return hash_of(b_.name(c)); };
        // Same name and contents; then same contents, like layers after an inserted or removed one;
        // then same name.
        pair_by(
            left, right, [&](id c) { return hash_mix(name_a(c), content_a(c)); },
            [&](id c) { return hash_mix(name_b(c), content_b(c)); }, true);
        pair_by(
            left, right, [&](id c) { return content_a(c); }, [&](id c) { return content_b(c); },
            false);
        pair_by(left, right, name_a, name_b, true);
        const auto kind_a = [&](id c) {
            return hash_mix(in_a_.structure[c], hash_bytes(a_.class_name(c)));
        };
        const auto kind_b = [&](id c) {
            return hash_mix(in_b_.structure[c], hash_bytes(b_.class_name(c)));
        };
        pair_by(left, right, kind_a, kind_b, true);
    }

    /// Pairs modules with the same contents under different parents, outer ones first.
    void pair_elsewhere() {
        std::unordered_map<std::uint64_t, std::vector<id>> by_content;
        for (id n = 1; n < pairs_.to_first.size(); ++n) {
            if (pairs_.to_first[n] == no_id && content_b(n) != 0) {
                by_content[content_b(n)].push_back(n);
            }
        }
        for (id m = 1; m < pairs_.to_second.size(); ++m) {
            if (pairs_.to_second[m] != no_id || content_a(m) == 0) {
                continue;
            }
            const auto candidates = by_content.find(content_a(m));
            if (candidates == by_content.end()) {
                continue;
            }
            if (const auto n = choose(m, candidates->second); n != no_id) {
                add(m, n);
                const auto [from, to] = open_.back();
                open_.pop_back();
                pair_below(from, to);
            }
        }
    }

    /// Returns: the outermost of some unmatched modules, preferring one with the same name and
    /// class.
    [[nodiscard]] id choose(id m, const std::vector<id>& modules) const {
        constexpr std::size_t most = 64;
        id best = no_id;
        int best_score = -1;
        for (std::size_t i = 0; i < std::min(most, modules.size()); ++i) {
            const auto n = modules[i];
            if (pairs_.to_first[n] != no_id) {
                continue;
            }
            const auto score = likeness(m, n);
            if (score > best_score) {
                best = n;
                best_score = score;
            }
        }
        return best;
    }

    const First& a_;
    const Second& b_;
    const module_contents& in_a_;
    const module_contents& in_b_;
    module_pairs pairs_;
    std::vector<std::pair<id, id>> open_;
};

/// Matches the modules of two trees: by path, or by contents if renamed or moved. Modules without
/// operators stay unmatched.
///
/// Contents distinguish an inserted layer from its successors, which are only renumbered.
/// Complexity: O(modules log modules) expected.
template <module_view First, module_view Second>
[[nodiscard]] module_pairs pair_modules(const First& a, const module_contents& in_a,
                                        const Second& b, const module_contents& in_b) {
    return module_pairer<First, Second>(a, in_a, b, in_b).run();
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_COMPARE_DETAIL_MODULE_PAIRS_HPP
