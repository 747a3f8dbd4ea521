// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_QUERY_QUERY_HPP
#define STEMMA_QUERY_QUERY_HPP

#include <stemma/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// The kind of a query node.
enum class query_kind : std::uint8_t {
    everything, ///< always matches
    all_of,     ///< all parts match
    any_of,     ///< some part matches
    negation,   ///< the only part does not match
    module,     ///< is, or is in, a module that matches the only part
    path,       ///< module: its path matches the pattern
    tag,        ///< module: its tag matches the pattern
    class_name, ///< module: its class or qualified class matches the pattern
    depth,      ///< module: its depth below the root
    leaf,       ///< module: it has no children
    selected,   ///< module: it has its own tag
    like,       ///< module: its path or tag matches the pattern, or its function is that of a match
    nodes,      ///< module: operators, including descendants
    parameters, ///< module: elements of its parameters, including descendants
    weights,    ///< module: bytes of its parameters, including descendants
    has,        ///< module: an operator in or below it matches the only part
    op_type,    ///< operator: its type matches the pattern
    name,       ///< operator: its name matches the pattern
    position,   ///< operator: its position is `#7`, in a body `5/body#2`
    source,     ///< operator: its provenance matches the pattern
    confidence, ///< operator
    conflict,   ///< operator: claims disagree
    line,       ///< operator: it was written in these lines of a file that matches the pattern
    reads,      ///< operator: it reads a parameter or input whose name matches the pattern
    attribute,  ///< operator: it has an attribute, with that value
    weight,     ///< operator: it reads a parameter whose element type matches the pattern
    type,       ///< output of an operator: its element type matches the pattern
    rank,       ///< output of an operator
    shape,      ///< output of an operator: its extents match the pattern
    bytes,      ///< output of an operator
    feeds,      ///< operator: one that matches the only part reads from it
    fed_by,     ///< operator: it reads from one that matches the only part
    before,     ///< operator: one that matches the only part depends on it
    after,      ///< operator: it depends on one that matches the only part
    between,    ///< operator: after the first part and before the second
};

/// A parsed query as a tree; docs/query.md has the syntax.
struct query {
    /// How to compare with the number in a query.
    enum class relation_kind : std::uint8_t {
        equal,    ///< `:` or `=`
        less,     ///< `<`
        at_most,  ///< `<=`
        greater,  ///< `>`
        at_least, ///< `>=`
    };

    query_kind kind = query_kind::everything;      ///< of this part
    std::string pattern;                           ///< a glob
    relation_kind relation = relation_kind::equal; ///< of a comparison
    double number = 0;                             ///< of a comparison
    double last = 0;                               ///< of `line`: the last one; 0: all
    std::size_t column = 1;                        ///< in the text, from 1
    std::vector<query>
        parts{};        ///< operands: one of `negation`, `module`, `has` and
                        /// < terms about places, two of `between`, any number of `all_of`, `any_of`
    std::string word{}; ///< of `attribute`: its name, a glob

    /// Whether `x` satisfies the comparison.
    [[nodiscard]] bool compares(double x) const noexcept { return compares(x, number); }

    /// Whether `x` satisfies the comparison with `bound` instead of the number.
    [[nodiscard]] bool compares(double x, double bound) const noexcept {
        switch (relation) {
        case relation_kind::equal:
            return x == bound;
        case relation_kind::less:
            return x < bound;
        case relation_kind::at_most:
            return x <= bound;
        case relation_kind::greater:
            return x > bound;
        case relation_kind::at_least:
            return x >= bound;
        }
        return false;
    }

    /// Whether some part is an operator term.
    [[nodiscard]] bool asks_for_operators() const noexcept {
        return kind >= query_kind::op_type ||
               (kind != query_kind::has && std::any_of(parts.begin(), parts.end(), [](auto& part) {
                    return part.asks_for_operators();
                }));
    }

    /// Whether some part is about sizes or contents of modules: such parts match a module itself,
    /// not its descendants.
    [[nodiscard]] bool asks_for_sizes() const noexcept {
        return (kind >= query_kind::nodes && kind <= query_kind::has) ||
               (kind <= query_kind::negation &&
                std::any_of(parts.begin(), parts.end(),
                            [](auto& part) { return part.asks_for_sizes(); }));
    }

    /// Whether some part is about types, shapes or sizes of values.
    [[nodiscard]] bool asks_for_values() const noexcept {
        return (kind >= query_kind::weight && kind <= query_kind::bytes) ||
               (kind <= query_kind::negation &&
                std::any_of(parts.begin(), parts.end(),
                            [](auto& part) { return part.asks_for_values(); }));
    }
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_QUERY_QUERY_HPP
