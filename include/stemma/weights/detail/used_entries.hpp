// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_WEIGHTS_DETAIL_USED_ENTRIES_HPP
#define STEMMA_WEIGHTS_DETAIL_USED_ENTRIES_HPP

#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/path_mapping.hpp>
#include <stemma/model/confidence.hpp>
#include <stemma/weights/detail/content_entries.hpp>
#include <stemma/weights/detail/weight_search.hpp>
#include <stemma/weights/parameter_origin.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// What tools write behind the name of an initializer when they make another one of it.
struct made_of {
    std::string_view suffix;
    bool quantized;
    bool transposed;
};

inline constexpr std::array<made_of, 7> name_suffixes{{{"_quantized", true, false},
                                                       {"_scale", true, false},
                                                       {"_zero_point", true, false},
                                                       {"_Q4", true, false},
                                                       {"_scales", true, false},
                                                       {"_transposed", false, true},
                                                       {"_fp16", false, false}}};

/// Whether an attribute is called like one of the same use: `gamma` like `weight`.
[[nodiscard]] inline bool means_alike(std::string_view attribute, std::string_view role) noexcept {
    constexpr std::array<std::string_view, 5> shifts{"bias", "beta", "shift", "offset", "pos"};
    const bool shift = std::any_of(shifts.begin(), shifts.end(), [&](std::string_view word) {
        return attribute.find(word) != attribute.npos;
    });
    return role == "bias" ? shift : role == "weight" && !shift;
}

/// Finds entries by names of initializers, and by what reads them.
class used_entries {
public:
    explicit used_entries(weight_search& search, const content_entries* contents = nullptr)
        : search_(search), contents_(contents) {
        std::map<std::string_view, unsigned> stems;
        for (std::size_t t = 0; t < search.headers.size(); ++t) {
            ++stems[stem_of(search.name(t))];
            if (const auto& dims = search.headers[t].dims; dims.size() == 2) {
                tripled_.insert(dims[1] == 3 * dims[0]   ? dims[1]
                                : dims[0] == 3 * dims[1] ? dims[0]
                                                         : -1);
            }
        }
        for (const auto& [stem, count] : stems) {
            if (count > 2) {
                series_.insert(stem);
            }
        }
    }

    /// Initializers that are called like an entry. Complexity: O(length of names * log entries).
    void find_named() {
        for (std::size_t t = 0; t < search_.headers.size(); ++t) {
            if (search_.is_open(t) && !search_.name(t).empty()) {
                find_named(t);
            }
        }
    }

    /// What modules read of their own entries, and of those of modules inside. `moved` says of an
    /// initializer whether the exporter computed it.
    /// Complexity: O(uses * entries of their modules * log entries).
    template <class Function>
    void find_declared(Function moved) {
        if (search_.entries.empty()) {
            return;
        }
        for (const auto below : {false, true}) {
            for (std::size_t t = 0; t < search_.headers.size(); ++t) {
                for (const auto& use : search_.uses[t]) {
                    if (search_.is_open(t) && is_candidate(t)) {
                        choose(t, use, below, moved(t));
                    }
                }
            }
        }
        for (std::size_t t = 0; t < search_.headers.size(); ++t) {
            add_shared(t);
        }
    }

    /// What modules of PyTorch would call what is still open. `moved` says of an initializer
    /// whether the exporter computed it. Complexity: O(uses * log uses).
    template <class Function>
    void find_usual(Function moved) {
        std::map<std::string, std::size_t> taken;
        for (std::size_t t = 0; t < search_.headers.size(); ++t) {
            for (const auto& entry : search_.origins[t].entries) {
                taken.emplace(entry, t);
            }
        }
        for (std::size_t t = 0; t < search_.headers.size(); ++t) {
            if (!search_.is_open(t) || !is_candidate(t) || search_.uses[t].empty()) {
                continue;
            }
            guess(t, moved(t), taken);
        }
    }

    /// Whether an exporter or a tool made a name up. Complexity: O(length * log names).
    [[nodiscard]] bool is_made_up(std::string_view name) const {
        return name.empty() || name.find("::") != name.npos || name.find('/') != name.npos ||
               name.find_first_not_of("0123456789") == name.npos ||
               (name.find('.') == name.npos && series_.contains(stem_of(name)));
    }

private:
    [[nodiscard]] static std::string_view stem_of(std::string_view name) noexcept {
        return name.substr(0, name.find_last_not_of("0123456789") + 1);
    }

    /// A single number is mostly one of the computation.
    [[nodiscard]] bool is_candidate(std::size_t t) const {
        return search_.weights[t] && !search_.headers[t].dims.empty();
    }

    void find_named(std::size_t t) {
        const auto name = search_.name(t);
        if (name_as(t, name, {}) || is_made_up(name)) {
            return;
        }
        for (const auto& tool : name_suffixes) {
            if (name.ends_with(tool.suffix) &&
                name_as(t, name.substr(0, name.size() - tool.suffix.size()), tool)) {
                return;
            }
        }
    }

    bool name_as(std::size_t t, std::string_view name, const made_of& tool) {
        auto& entries = search_.entries;
        const bool part = tool.quantized && tool.suffix != "_quantized" && tool.suffix != "_Q4";
        if (const auto e = entries.find(name); e != no_id) {
            auto how = search_.relation(t, e, tool.transposed);
            if (part) {
                how = {parameter_transform::as_is, {}};
            }
            if (how.transform == parameter_transform::none) {
                return false;
            }
            search_.settle(t, e, std::move(how), parameter_basis::name, confidence::entry_named);
            search_.origins[t].quantized = search_.origins[t].quantized || part;
            return true;
        }
        const auto owner = owner_path(name);
        const bool known = find_module(module_lookup<module_tree>(search_.modules), owner) != no_id;
        const bool of_root = owner.empty() && name.find('.') == name.npos && search_.weights[t] &&
                             search_.origins[t].module == 0;
        if (!entries.empty() || is_made_up(name) || !((known && !owner.empty()) || of_root)) {
            return false;
        }
        auto& origin = search_.origins[t];
        origin.entries = {std::string(without_fusion_prefix(name))};
        origin.transform =
            tool.transposed ? parameter_transform::transposed : parameter_transform::as_is;
        if (tool.transposed) {
            origin.axes = {1, 0};
        }
        origin.quantized = tool.quantized || is_narrow_type(search_.headers[t].data_type);
        search_.settle(t, {}, owner, parameter_basis::name, confidence::entry_named);
        return true;
    }

    struct candidate {
        id entry = no_id;
        int score = 0;
        bool alone = true;
    };

    [[nodiscard]] candidate best_of(std::size_t t, const slot_role& role, bool transposed,
                                    std::span<const id> offered) const {
        candidate best;
        for (const auto e : offered) {
            const auto how = search_.relation(t, e, transposed);
            if (how.transform == parameter_transform::none || search_.claimed[e] ||
                search_.entries.is_parametrized(e) ||
                (contents_ != nullptr &&
                 contents_->sum_of_tensor(t) !=
                     contents_->sum_of_entry(e, search_.headers[t].data_type))) {
                continue;
            }
            const auto& attribute = search_.entries[e].attribute;
            const int score = 1 + (attribute == role.attribute ? 8 : 0) +
                              (means_alike(attribute, role.attribute) ? 4 : 0) +
                              (how.transform == parameter_transform::reshaped ? 0 : 2);
            if (score > best.score) {
                best = {e, score, true};
            } else if (score == best.score) {
                best = {std::min(e, best.entry), score, false};
            }
        }
        return best;
    }

    void choose(std::size_t t, const weight_use& use, bool below, bool moved) {
        const auto path = search_.modules.path(use.module);
        const auto offered = below ? search_.entries.below(path) : search_.entries.own(path);
        const auto role = search_.role(use);
        const bool transposed = (role.transposed && moved) != use.transposed;
        const auto best = best_of(t, role, transposed, offered);
        if (best.entry == no_id || (below && offered.size() > most_below)) {
            return;
        }
        const bool exact = search_.entries[best.entry].attribute == role.attribute;
        const auto sure = !exact && !best.alone  ? confidence::entry_guessed
                          : below && !best.alone ? confidence::entry_guessed
                          : below                ? confidence::entry_below
                          : exact                ? confidence::entry_declared
                                                 : confidence::entry_fits;
        search_.settle(t, best.entry, search_.relation(t, best.entry, transposed),
                       parameter_basis::declared, sure);
    }

    /// Adds the entries of further modules that read the same initializer.
    void add_shared(std::size_t t) {
        auto& origin = search_.origins[t];
        if (search_.is_open(t) || origin.entries.size() != 1 ||
            origin.transform > parameter_transform::transposed) {
            return;
        }
        for (const auto& use : search_.uses[t]) {
            const auto role = search_.role(use);
            const auto e = search_.entries.find(search_.modules.path(use.module), role.attribute);
            if (e == no_id || search_.claimed[e] || !role.sure ||
                search_.relation(t, e, role.transposed != use.transposed).transform ==
                    parameter_transform::none) {
                continue;
            }
            search_.claimed[e] = true;
            origin.shared.push_back(search_.entries[e].name);
        }
    }

    void guess(std::size_t t, bool moved, std::map<std::string, std::size_t>& taken) {
        for (const auto& use : search_.uses[t]) {
            const auto role = search_.role(use);
            const auto& dims = search_.headers[t].dims;
            const auto wide = std::count_if(dims.begin(), dims.end(), [](auto n) { return n > 1; });
            const bool leaf = search_.is_leaf(use.module);
            if (role.attribute.empty() || (!role.sure && (!leaf || wide > 1))) {
                continue;
            }
            const auto path = search_.modules.path(use.module);
            auto attribute = attention_name(t, use, role);
            attribute = attribute.empty() ? std::string(role.attribute) : attribute;
            auto entry = (path.empty() ? "" : path + ".") + attribute;
            if (const auto known = taken.find(entry); known != taken.end()) {
                const bool more = search_.origins[t].entries.empty();
                if (more || !role.sure) {
                    continue;
                }
            }
            auto& origin = search_.origins[t];
            if (!origin.entries.empty()) {
                if (entry != origin.entries[0] &&
                    std::find(origin.shared.begin(), origin.shared.end(), entry) ==
                        origin.shared.end()) {
                    taken.emplace(entry, t);
                    origin.shared.push_back(std::move(entry));
                }
                continue;
            }
            taken.emplace(entry, t);
            const bool transposed = role.transposed != use.transposed && moved && dims.size() == 2;
            origin.transform = transposed                     ? parameter_transform::transposed
                               : dims.size() == 3 && wide < 2 ? parameter_transform::reshaped
                                                              : parameter_transform::as_is;
            if (transposed) {
                origin.axes = {1, 0};
            }
            origin.entries = {std::move(entry)};
            origin.quantized = is_narrow_type(search_.headers[t].data_type);
            search_.settle(t, {}, path, parameter_basis::usage,
                           leaf ? confidence::entry_used : confidence::entry_guessed);
        }
    }

    /// Returns: what `torch.nn.MultiheadAttention` calls a matrix or a bias three times as long as
    /// wide, and the one behind; "" elsewhere.
    [[nodiscard]] std::string attention_name(std::size_t t, const weight_use& use,
                                             const slot_role& role) const {
        const auto path = search_.modules.path(use.module);
        const auto last = path.substr(path.rfind('.') + 1);
        constexpr std::array<std::string_view, 7> names{
            "self_attn", "self_attention", "attn",           "attention",
            "mha",       "multihead_attn", "cross_attention"};
        if (std::find(names.begin(), names.end(), last) == names.end()) {
            return {};
        }
        const auto& dims = search_.headers[t].dims;
        const bool matrix = dims.size() == 2 && (role.transposed || role.sure);
        if (matrix && (dims[1] == 3 * dims[0] || dims[0] == 3 * dims[1])) {
            return "in_proj_weight";
        }
        if (matrix && dims[0] == dims[1]) {
            return "out_proj.weight";
        }
        if (dims.size() != 1 || role.attribute != "bias") {
            return {};
        }
        return tripled_.contains(dims[0])       ? "in_proj_bias"
               : tripled_.contains(3 * dims[0]) ? "out_proj.bias"
                                                : std::string();
    }

    static constexpr std::size_t most_below = 4096;

    weight_search& search_;
    const content_entries* contents_;   // where the values of entries are those of the model
    std::set<std::string_view> series_; // names that many have but for a number
    std::set<std::int64_t> tripled_;    // the longer extents of matrices thrice as long as wide
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_WEIGHTS_DETAIL_USED_ENTRIES_HPP
