// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_QUERY_QUERY_FACTS_HPP
#define STEMMA_QUERY_QUERY_FACTS_HPP

#include <stemma/core/glob.hpp>
#include <stemma/core/id.hpp>
#include <stemma/io/detail/real_text.hpp>
#include <stemma/model/source_lines.hpp>
#include <stemma/query/query.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// An attribute of an operator, as compared by queries.
struct attribute_fact {
    std::string name;             ///< `strides`
    std::string text;             ///< `[2,2]`
    std::optional<double> number; ///< if it is a single number
    bool is_float = false;        ///< whether files store it in single precision
};

/// Facts about a value.
struct value_fact {
    std::string type;                   ///< of its elements, `float32`; "" where unknown
    bool ranked = false;                ///< whether the number of extents is known
    std::vector<std::string> extents;   ///< numbers, names, or `?`
    std::optional<std::uint64_t> bytes; ///< if all extents are known
};

/// Facts for queries about operators, values and modules, beyond names and places. Operators are
/// given by vertex index, values and modules by number. Facts may also have `like(m)`, a list of
/// the modules with the same function.
template <class F>
concept query_facts = requires(const F& facts, id number) {
    { facts.attributes(number) } -> std::convertible_to<std::vector<attribute_fact>>;
    { facts.values_of(number) } -> std::convertible_to<std::vector<id>>;
    { facts.weights_of(number) } -> std::convertible_to<std::vector<id>>;
    { facts.value(number) } -> std::convertible_to<value_fact>;
    { facts.parameters(number) } -> std::convertible_to<std::uint64_t>;
    { facts.weight_bytes(number) } -> std::convertible_to<std::uint64_t>;
};

namespace detail {

/// No facts: terms about attributes, values and weights match nothing.
struct no_facts {
    /// Returns: the attributes of an operator.
    [[nodiscard]] std::vector<attribute_fact> attributes(id) const { return {}; }
    /// Returns: the outputs of an operator.
    [[nodiscard]] std::vector<id> values_of(id) const { return {}; }
    /// Returns: the parameters that an operator reads, as values.
    [[nodiscard]] std::vector<id> weights_of(id) const { return {}; }
    /// Returns: type and shape of a value.
    [[nodiscard]] value_fact value(id) const { return {}; }
    /// Returns: elements of the parameters of a module and its descendants.
    [[nodiscard]] std::uint64_t parameters(id) const { return 0; }
    /// Returns: bytes of these.
    [[nodiscard]] std::uint64_t weight_bytes(id) const { return 0; }
};

} // namespace detail

/// Facts with source lines: `source(number)` of the vertex index, and optionally
/// `source_path(number)`, the path of the file as it was recorded. Without lines, terms about them
/// match nothing.
template <class F>
concept sourced_facts = query_facts<F> && requires(const F& facts, id number) {
    { facts.source(number) } -> std::convertible_to<std::optional<source_position>>;
};

/// Facts with the positions of operators: `position(number)` of the vertex index, `#7`. Without it,
/// terms about positions match nothing.
template <class F>
concept positioned_facts = query_facts<F> && requires(const F& facts, id number) {
    { facts.position(number) } -> std::convertible_to<std::string>;
};

namespace detail {

/// Returns: the recorded path of an operator's file, if the facts have it.
template <sourced_facts Facts>
[[nodiscard]] std::string_view recorded_path(const Facts& facts, id number) {
    if constexpr (requires { facts.source_path(number); }) {
        return facts.source_path(number);
    } else {
        return {};
    }
}

/// Whether a position matches a term, by line and by the last names of the file: `net.py` matches
/// `models/net.py`; with a slash also by those of the recorded path. Complexity: O(length) matches.
[[nodiscard]] inline bool fits_line(const query& term, const glob& pattern,
                                    const source_position& at, std::string_view path = {}) {
    if (term.last > 0 && (at.line < term.number || at.line > term.last)) {
        return false;
    }
    const auto ends_so = [&](std::string_view name) {
        while (!pattern.matches(name)) {
            const auto slash = name.find('/');
            if (slash == name.npos) {
                return false;
            }
            name.remove_prefix(slash + 1);
        }
        return true;
    };
    if (ends_so(at.file)) {
        return true;
    }
    if (term.pattern.find('/') == std::string::npos) {
        return false;
    }
    std::string whole(path);
    std::replace(whole.begin(), whole.end(), '\\', '/');
    return ends_so(whole);
}

/// Alternative names of types.
inline constexpr std::array<std::pair<std::string_view, std::string_view>, 7> type_aliases{
    {{"float", "float32"},
     {"double", "float64"},
     {"half", "float16"},
     {"fp16", "float16"},
     {"fp32", "float32"},
     {"fp64", "float64"},
     {"bf16", "bfloat16"}}};

[[nodiscard]] inline bool fits_type(std::string_view pattern, std::string_view type) {
    for (const auto& [alias, name] : type_aliases) {
        pattern = pattern == alias ? name : pattern;
    }
    return !type.empty() && glob_match(pattern, type);
}

/// Whether a value matches a term about its type, rank, shape or size.
[[nodiscard]] inline bool fits_value(const query& term, const value_fact& fact) {
    switch (term.kind) {
    case query_kind::weight:
    case query_kind::type:
        return fits_type(term.pattern, fact.type);
    case query_kind::rank:
        return fact.ranked && term.compares(static_cast<double>(fact.extents.size()));
    case query_kind::bytes:
        return fact.bytes && term.compares(static_cast<double>(*fact.bytes));
    case query_kind::shape: {
        std::string_view pattern = term.pattern;
        if (pattern.starts_with('[') && pattern.ends_with(']')) {
            pattern = pattern.substr(1, pattern.size() - 2);
        }
        std::string shape;
        for (const auto& extent : fact.extents) {
            shape.append(shape.empty() ? "" : ",").append(extent);
        }
        return fact.ranked && glob_match(pattern, shape, ',');
    }
    default:
        return false;
    }
}

/// Whether an attribute matches a term.
[[nodiscard]] inline bool fits_attribute(const query& term, const attribute_fact& fact) {
    if (!glob_match(term.word, fact.name)) {
        return false;
    }
    if (term.relation != query::relation_kind::equal) {
        const auto bound = fact.is_float ? static_cast<float>(term.number) : term.number;
        return fact.number && term.compares(*fact.number, bound);
    }
    if (term.pattern.empty() || glob_match(term.pattern, fact.text)) {
        return true;
    }
    const auto is = [&](auto asked) {
        const auto end = term.pattern.data() + term.pattern.size();
        const auto parsed = read_real(term.pattern.data(), end, asked);
        return fact.number && parsed.ec == std::errc() && parsed.ptr == end &&
               static_cast<decltype(asked)>(*fact.number) == asked;
    };
    // Integers that no double can hold match by their text only.
    constexpr double exact = 9007199254740992.0;
    return fact.is_float ? is(float()) : is(double()) && std::abs(*fact.number) <= exact;
}

} // namespace detail

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_QUERY_QUERY_FACTS_HPP
