// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ALIGN_LEXICON_HPP
#define STEMMA_ALIGN_LEXICON_HPP

#include <stemma/align/detail/torch_operators.hpp>
#include <stemma/align/fused_operators.hpp>
#include <stemma/core/category.hpp>
#include <stemma/core/detail/ascii.hpp>
#include <stemma/core/text_list.hpp>
#include <stemma/model/detail/operator_domain.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// How an exported operator fits a captured one, from worst to best.
enum class correspondence : std::uint8_t {
    none,     ///< none of its operators
    plumbing, ///< moves data or computes shapes, which any operation may need
    rare,     ///< may come with the operator that stands for it
    part,     ///< comes with the operator that stands for it
    head,     ///< stands for it
};

/// Whether a captured operator leaves anything in the exported graph.
enum class trail : std::uint8_t {
    never,  ///< nothing: it vanishes, or becomes part of its reader
    maybe,  ///< nothing, or some operators
    always, ///< at least one operator
};

namespace detail {

template <class P>
concept has_correspond = requires(const P& p, std::string_view captured, std::string_view type) {
    { p.correspond(captured, type) } -> std::convertible_to<correspondence>;
};

template <class P>
concept has_trail_of = requires(const P& p, std::string_view captured) {
    { p.trail_of(captured) } -> std::convertible_to<trail>;
};

template <class P>
concept has_fuses = requires(const P& p, std::string_view captured, std::string_view type) {
    { p.fuses(captured, type) } -> std::convertible_to<bool>;
};

} // namespace detail

/// Determines which operators an exporter turns captured ones into.
///
/// `correspond(captured, type)`: how an exported operator type fits a captured operator.
/// `trail_of(captured)`: whether a captured one leaves anything. Names of captured operators are as
/// printed by the front end, see `plain_operator_name`. Optional: `fuses(captured, type)`, whether
/// a runtime fuses operators of this type from several, one of which stands for the captured one;
/// types of non-standard domains are passed as `domain::Type`.
///
/// Requires: deterministic answers. Complexity: callers ask once per pair of distinct names.
template <class P>
concept lexicon_policy =
    detail::policy_for<P, lexicon_category> && detail::has_correspond<P> && detail::has_trail_of<P>;

namespace detail {

/// Returns: the operator in a name as a front end prints it, in lower case and without underscores:
/// `batchnorm` for `torch.nn.functional.batch_norm`, `add` for `aten.add_.Tensor`, `shape` for
/// `torch.Tensor.shape.__get__`; names like `torch.Tensor.__radd__` keep their `r`.
/// Complexity: O(length).
[[nodiscard]] inline std::string plain_operator_name(std::string_view name) {
    if (name.starts_with('<')) { // <function _assert at 0x...>
        const auto space = name.find(' ');
        name.remove_prefix(space == name.npos ? 1 : space + 1);
        name = name.substr(0, name.find_first_of(" >"));
    }
    std::string_view rest = name;
    for (const std::string_view prefix : {"aten", "prims", "prim", "quantized"}) {
        // aten.add.Tensor and aten::add.Tensor: the operator is followed by its overload
        if (rest.starts_with(prefix) && rest.size() > prefix.size() + 1 &&
            (rest[prefix.size()] == '.' || rest.substr(prefix.size(), 2) == "::")) {
            rest.remove_prefix(prefix.size() + (rest[prefix.size()] == '.' ? 1 : 2));
            rest = rest.substr(0, rest.find('.'));
            break;
        }
    }
    if (rest.ends_with(".__get__")) {
        rest.remove_suffix(8);
    }
    if (const auto dot = rest.find_last_of(".:"); dot != rest.npos) {
        rest.remove_prefix(dot + 1);
    }
    std::string plain;
    for (char c : rest) {
        if (c != '_') {
            plain.push_back(to_lower(c));
        }
    }
    return plain;
}

} // namespace detail

/// Returns: `fuses` of a lexicon, false if it has none. Complexity: that of the lexicon.
template <lexicon_policy Lexicon>
[[nodiscard]] bool fuses(const Lexicon& lexicon, std::string_view captured, std::string_view type) {
    if constexpr (detail::has_fuses<Lexicon>) {
        return lexicon.fuses(captured, type);
    } else {
        return false;
    }
}

/// PyTorch's operators and layers, and what its exporters make of them; anything not listed is
/// compared by name. Fused operators of runtimes count as what they were fused from.
class torch_lexicon {
public:
    using policy_category = lexicon_category;

    /// PyTorch's operators and those of runtimes, from the built-in tables.
    torch_lexicon() : torch_lexicon(detail::torch_operators, detail::fused_operators) {}

    /// Parses tables of that form. Requires: they outlive the lexicon. Complexity: O(length).
    explicit torch_lexicon(std::string_view table, std::string_view fused = "") {
        for_each_line(table, [&](std::string_view line) { read_line(line); });
        for_each_line(fused, [&](std::string_view line) { read_fused(line); });
    }

    [[nodiscard]] correspondence correspond(std::string_view captured,
                                            std::string_view type) const {
        const auto plain = detail::plain_operator_name(captured);
        auto best = compare(plain, detail::plain_type(type));
        if (const auto* fused = find_fused(type)) {
            for (auto part : fused->heads) {
                best = std::max(best, compare(plain, part));
            }
            for (auto part : fused->parts) {
                best = std::max(best, std::min(compare(plain, part), correspondence::rare));
            }
        }
        return best;
    }

    /// Whether operators of a type may be fused from one for the captured operator, and others.
    [[nodiscard]] bool fuses(std::string_view captured, std::string_view type) const {
        const auto* fused = find_fused(type);
        if (fused == nullptr || fused->parts.empty()) {
            return false;
        }
        const auto plain = detail::plain_operator_name(captured);
        const auto stands_for_it = [&](std::string_view part) {
            return compare(plain, part) == correspondence::head;
        };
        return std::any_of(fused->heads.begin(), fused->heads.end(), stands_for_it) ||
               std::any_of(fused->parts.begin(), fused->parts.end(), stands_for_it);
    }

    [[nodiscard]] trail trail_of(std::string_view captured) const {
        const auto* listed = find(detail::plain_operator_name(captured));
        return listed == nullptr ? trail::maybe : listed->leaves;
    }

    /// Returns: whether the table lists an operator.
    [[nodiscard]] bool lists(std::string_view captured) const {
        return find(detail::plain_operator_name(captured)) != nullptr;
    }

private:
    using types = std::vector<std::string_view>;

    struct group {
        types heads;
        types parts;
        types rare;
        trail leaves = trail::always;
    };

    template <class Function>
    static void for_each_line(std::string_view table, Function f) {
        while (!table.empty()) {
            f(detail::take_until(table, '\n'));
        }
    }

    [[nodiscard]] correspondence compare(const std::string& plain, std::string_view type) const {
        if (const auto* listed = find(plain)) {
            if (contains(listed->heads, "*")) {
                return correspondence::rare; // it may become anything
            }
            if (contains(listed->heads, type)) {
                return correspondence::head;
            }
            if (contains(listed->parts, type)) {
                return correspondence::part;
            }
            if (contains(listed->rare, type)) {
                return correspondence::rare;
            }
        } else if (is_similar(plain, type)) {
            return correspondence::head;
        }
        return is_plumbing(type) ? correspondence::plumbing : correspondence::none;
    }

    static types split(std::string_view text) {
        types words;
        while (true) {
            const auto first = text.find_first_not_of(' ');
            if (first == text.npos) {
                return words;
            }
            text.remove_prefix(first);
            words.push_back(text.substr(0, text.find(' ')));
            text.remove_prefix(words.back().size());
        }
    }

    void read_line(std::string_view line) {
        group parsed;
        if (line.starts_with('?') || line.starts_with('-')) {
            parsed.leaves = line.front() == '?' ? trail::maybe : trail::never;
            line.remove_prefix(1);
        }
        read_into(line, parsed, group_of_, groups_);
    }

    void read_fused(std::string_view line) { read_into(line, {}, fused_of_, fused_); }

    using numbers = std::unordered_map<std::string, std::size_t>;

    static void read_into(std::string_view line, group entry, numbers& group_of,
                          std::vector<group>& groups) {
        const auto equals = line.find('=');
        if (equals == line.npos) {
            return;
        }
        auto rest = line.substr(equals + 1);
        for (auto* list : {&entry.heads, &entry.parts, &entry.rare}) {
            *list = split(detail::take_until(rest, '|'));
        }
        for (auto name : split(line.substr(0, equals))) {
            group_of.emplace(std::string(name), groups.size());
        }
        groups.push_back(std::move(entry));
    }

    /// By the whole type, else by its name in any domain.
    [[nodiscard]] const group* find_fused(std::string_view type) const {
        auto entry = fused_of_.find(std::string(type));
        entry = entry == fused_of_.end() ? fused_of_.find(std::string(detail::plain_type(type)))
                                         : entry;
        return entry == fused_of_.end() ? nullptr : &fused_[entry->second];
    }

    /// Also finds `batchnorm2d` as `batchnorm`, and `qconv2d` or `iadd` without their first letter,
    /// but `adaptiveavgpool` only by its whole name.
    [[nodiscard]] const group* find(const std::string& plain) const {
        const auto lookup = [&](const std::string& name) -> const group* {
            const auto entry = group_of_.find(name);
            return entry == group_of_.end() ? nullptr : &groups_[entry->second];
        };
        if (const auto* match = lookup(plain)) {
            return match;
        }
        if (plain.size() > 2 && plain.back() == 'd' && plain[plain.size() - 2] >= '1' &&
            plain[plain.size() - 2] <= '3') {
            return lookup(plain.substr(0, plain.size() - 2));
        }
        if (plain.size() > 3 && (plain.front() == 'i' || plain.front() == 'r')) {
            return lookup(plain.substr(1));
        }
        return nullptr;
    }

    [[nodiscard]] static bool contains(const types& list, std::string_view type) {
        return std::find(list.begin(), list.end(), type) != list.end();
    }

    [[nodiscard]] static bool is_similar(const std::string& plain, std::string_view type) {
        const auto other = detail::plain_operator_name(type);
        const auto& [shorter, longer] = std::minmax(
            plain, other, [](const auto& a, const auto& b) { return a.size() < b.size(); });
        return shorter.size() >= 3 && longer.find(shorter) != longer.npos;
    }

    [[nodiscard]] static bool is_plumbing(std::string_view type) {
        static constexpr std::string_view list[]{
            "Shape",           "Gather",  "Unsqueeze", "Squeeze",   "Concat",   "Cast",  "Reshape",
            "Slice",           "Size",    "Expand",    "Transpose", "Identity", "Range", "Constant",
            "ConstantOfShape", "CastLike"};
        return std::find(std::begin(list), std::end(list), type) != std::end(list);
    }

    std::vector<group> groups_;
    numbers group_of_;
    std::vector<group> fused_; // leading operators as heads, those fused in as parts
    numbers fused_of_;
};

/// No table: captured and exported operators are compared by name alone, as for front ends other
/// than PyTorch. `add` fits `Add` and `AddV2`.
class similar_names : public torch_lexicon {
public:
    /// With an empty table.
    similar_names() : torch_lexicon("") {}
};

/// Only operators with the same name, ignoring case and underscores: for graphs captured in the
/// vocabulary of the exported one.
struct equal_names {
    using policy_category = lexicon_category;

    [[nodiscard]] correspondence correspond(std::string_view captured,
                                            std::string_view type) const {
        return detail::plain_operator_name(captured) == detail::plain_operator_name(type)
                   ? correspondence::head
                   : correspondence::none;
    }

    [[nodiscard]] constexpr trail trail_of(std::string_view) const noexcept {
        return trail::always;
    }
};

/// Put `static_assert(explain_policy<lexicon_category, mine>());` next to a policy that is
/// rejected.
template <std::same_as<lexicon_category> Role, class P>
consteval bool explain_policy() {
    static_assert(std::copy_constructible<P>, "lexicon policy: make the class copyable");
    static_assert(detail::declares<P, lexicon_category>,
                  "lexicon policy: add `using policy_category = stemma::lexicon_category;`");
    static_assert(
        detail::has_correspond<P>,
        "lexicon policy: add `stemma::correspondence correspond(std::string_view captured, "
        "std::string_view type) const`");
    static_assert(detail::has_trail_of<P>,
                  "lexicon policy: add `stemma::trail trail_of(std::string_view captured) const`");
    return lexicon_policy<P>;
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_ALIGN_LEXICON_HPP
