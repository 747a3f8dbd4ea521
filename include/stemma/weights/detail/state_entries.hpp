// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_WEIGHTS_DETAIL_STATE_ENTRIES_HPP
#define STEMMA_WEIGHTS_DETAIL_STATE_ENTRIES_HPP

#include <stemma/checkpoint/checkpoint.hpp>
#include <stemma/config.hpp>
#include <stemma/core/detail/dotted_path.hpp>
#include <stemma/core/id.hpp>
#include <stemma/error.hpp>
#include <stemma/evidence/detail/path_mapping.hpp>
#include <stemma/model/module_lookup.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/weights/detail/weight_norm.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// An entry of a `state_dict`, as far as known.
struct state_entry {
    std::string name{};                ///< in the checkpoint
    std::string owner{};               ///< path of its module in the tree, or outside of it
    std::string attribute{};           ///< its name in the module
    std::vector<std::int64_t> shape{}; ///< extents; negative ones are unknown
    std::int64_t data_type = 0;        ///< number in TensorProto.DataType; 0 if unknown
};

/// Returns: the names of each tensor of a checkpoint that has several, in order.
/// Complexity: O(entries * log entries).
[[nodiscard]] inline std::vector<std::vector<std::string>> tied_entries(const checkpoint& saved) {
    std::map<std::size_t, std::vector<std::string>> names; // by the first of the entries
    for (const auto& entry : saved.entries()) {
        names[entry.alias_of].push_back(entry.name);
    }
    std::vector<std::vector<std::string>> tied;
    for (auto& [first, of_one] : names) {
        if (of_one.size() > 1) {
            tied.push_back(std::move(of_one));
        }
    }
    return tied;
}

/// The entries of a `state_dict`: those of a checkpoint, else those declared by a module tree.
class state_entries {
public:
    /// Of a checkpoint, whose paths may lead into the tree after a prefix: that given, else the one
    /// that leads most of them there. Entries without it are outside of the tree.
    /// Complexity: O(length of names * log entries).
    state_entries(const checkpoint& saved, const module_tree& modules,
                  std::string_view prefix = {}) {
        path_mapping mapping;
        mapping.strip = prefix;
        if (prefix.empty()) {
            std::vector<std::string_view> paths;
            for (const auto& entry : saved.entries()) {
                if (const auto path = path_around(entry.name); !path.empty()) {
                    paths.push_back(path);
                }
            }
            mapping = find_path_mapping(modules, module_lookup<module_tree>(modules), paths, true);
        }
        const auto base = mapping.base == 0 ? std::string() : modules.path(mapping.base);
        for (const auto& entry : saved.entries()) {
            const auto path = path_around(entry.name);
            const auto rest = mapping.apply(path);
            const bool is_inside = mapping.applies_to(path);
            std::string owner(is_inside ? base : outside);
            owner += !base.empty() && !rest.empty() ? "." : "";
            owner += rest;
            entries_.push_back({entry.name, std::move(owner),
                                entry.name.substr(path.empty() ? 0 : path.size() + 1), entry.shape,
                                entry.data_type});
        }
        if (!mapping.strip.empty() && prefix.empty()) {
            find_rival(saved, mapping.strip);
        }
        sort();
    }

    /// Of a tree's declarations. Complexity: O(length of names * log entries).
    explicit state_entries(const module_tree& modules) {
        for (id m = 0; m < modules.size(); ++m) {
            const auto add = [&](const tensor_info& tensor) {
                auto owner = modules.path(m);
                auto name = member_path(owner, tensor.name);
                entries_.push_back({std::move(name),
                                    std::move(owner),
                                    std::string(tensor.name),
                                    {tensor.shape.begin(), tensor.shape.end()}});
            };
            for (std::size_t i = 0; i < modules.parameter_count(m); ++i) {
                add(modules.parameter(m, i));
            }
            for (std::size_t i = 0; i < modules.buffer_count(m); ++i) {
                add(modules.buffer(m, i));
            }
        }
        sort();
    }

    /// Throws: `error` of `contradiction` if the prefix was a choice among several models, whose
    /// entries have the same names and shapes.
    void refuse_rivals(const std::string& file) const {
        if (!rivals_.first.empty()) {
            STEMMA_THROW(error(error_code::contradiction, file, "",
                               "has the weights of several models, below " + rivals_.first +
                                   " and below " + rivals_.second + "; a prefix would tell which"));
        }
    }

    /// Whether an entry lacks the prefix of those of the tree.
    [[nodiscard]] bool is_outside(id e) const noexcept {
        return entries_[e].owner.starts_with(outside);
    }

    [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }
    [[nodiscard]] id size() const noexcept { return static_cast<id>(entries_.size()); }
    [[nodiscard]] const state_entry& operator[](id e) const noexcept { return entries_[e]; }

    /// Returns: the entry with a name in the checkpoint or the tree, which those in the tree have
    /// first; else `no_id`.
    /// Complexity: O(length * log entries).
    [[nodiscard]] id find(std::string_view name) const {
        const auto entry = by_name_.find(name);
        return entry == by_name_.end() ? no_id : entry->second;
    }

    /// Returns: the entry with this name in a module; else `no_id`. Complexity: as above.
    [[nodiscard]] id find(std::string_view owner, std::string_view attribute) const {
        for (auto e : own(owner)) {
            if (entries_[e].attribute == attribute) {
                return e;
            }
        }
        return no_id;
    }

    /// Whether the module computes a parameter from the entry and others, as weight norm, spectral
    /// norm, pruning and other parametrizations of PyTorch do.
    /// Complexity: as above.
    [[nodiscard]] bool is_parametrized(id e) const {
        const auto& owner = entries_[e].owner;
        const auto& attribute = entries_[e].attribute;
        const auto stem = attribute.substr(0, attribute.rfind('_'));
        return find(owner, stem + "_orig") != no_id ||
               (attribute.ends_with("_v") && find(owner, stem + "_g") != no_id) ||
               (attribute.ends_with("_g") && find(owner, stem + "_v") != no_id) ||
               parametrization_at(owner) != owner.npos;
    }

    /// Returns: a module's own entries, in order. Complexity: O(length * log entries).
    [[nodiscard]] std::span<const id> own(std::string_view owner) const {
        return between(owner, owner, [](std::string_view a, std::string_view b) { return a <= b; });
    }

    /// Returns: those of its descendants, sorted by path. Complexity: as above.
    [[nodiscard]] std::span<const id> below(std::string_view owner) const {
        if (owner.empty()) {
            return by_owner_;
        }
        const auto path = std::string(owner);
        return between(path + ".", path + "/",
                       [](std::string_view a, std::string_view b) { return a < b; });
    }

private:
    static constexpr std::string_view outside = "../"; // before the path of the owner

    /// Looks for a prefix below which there is an entry for each one below `chosen`.
    void find_rival(const checkpoint& saved, const std::string& chosen) {
        struct likeness {
            std::size_t same = 0;
            bool differs = false;
        };
        std::map<std::string_view, likeness> others;
        const auto below = chosen + '.';
        std::size_t count = 0;
        for (const auto& entry : saved.entries()) {
            const std::string_view name = entry.name;
            if (name.starts_with(below)) {
                ++count;
                continue;
            }
            for (unsigned parts = 1; parts <= 3; ++parts) {
                const auto other = leading_parts(name, parts);
                const auto* const like =
                    other.empty() ? nullptr
                                  : saved.find(below + std::string(name.substr(other.size() + 1)));
                if (like != nullptr && like->shape == entry.shape) {
                    ++others[other].same;
                    others[other].differs |= like->alias_of != entry.alias_of;
                }
            }
        }
        for (const auto& [other, like] : others) {
            if (like.same == count && like.differs) {
                rivals_ = {chosen, std::string(other)};
            }
        }
    }

    template <class Compare>
    [[nodiscard]] std::span<const id> between(std::string_view from, std::string_view to,
                                              Compare before) const {
        const auto begin = std::partition_point(by_owner_.begin(), by_owner_.end(), [&](id e) {
            return std::string_view(entries_[e].owner) < from;
        });
        const auto end = std::partition_point(begin, by_owner_.end(),
                                              [&](id e) { return before(entries_[e].owner, to); });
        return std::span(by_owner_).subspan(static_cast<std::size_t>(begin - by_owner_.begin()),
                                            static_cast<std::size_t>(end - begin));
    }

    void sort() {
        for (id e = 0; e < entries_.size(); ++e) {
            by_owner_.push_back(e);
            if (!is_outside(e)) {
                by_name_.try_emplace(entries_[e].name, e);
            }
        }
        for (id e = 0; e < entries_.size(); ++e) {
            const auto& one = entries_[e];
            if (!is_outside(e)) {
                by_name_.try_emplace(member_path(one.owner, one.attribute), e);
            }
        }
        for (id e = 0; e < entries_.size(); ++e) {
            by_name_.try_emplace(entries_[e].name, e); // of others, unless it is one in the tree
        }
        std::stable_sort(by_owner_.begin(), by_owner_.end(),
                         [&](id a, id b) { return entries_[a].owner < entries_[b].owner; });
    }

    std::vector<state_entry> entries_;
    std::pair<std::string, std::string> rivals_; // prefixes: the chosen one, another; or none
    std::vector<id> by_owner_;
    std::map<std::string, id, std::less<>> by_name_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_WEIGHTS_DETAIL_STATE_ENTRIES_HPP
