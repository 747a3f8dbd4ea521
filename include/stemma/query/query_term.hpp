// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_QUERY_QUERY_TERM_HPP
#define STEMMA_QUERY_QUERY_TERM_HPP

#include <stemma/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// The kind of a query node.
enum class query_kind : std::uint8_t {
    everything, ///< always holds
    all_of,     ///< all parts hold
    any_of,     ///< some part holds
    negation,   ///< the only part does not hold
    module,     ///< is, or lies in, a module for which the only part holds
    path,       ///< of one module: the path fits the pattern
    tag,        ///< of one module: the tag fits the pattern
    class_name, ///< of one module: class or qualified class fits the pattern
    depth,      ///< of one module: edges from the root
    leaf,       ///< of one module: nothing lies below it
    selected,   ///< of one module: it has a tag of its own
    like,       ///< of one module: path or tag fits the pattern, or it does what such a one does
    nodes,      ///< of one module: operators in it and below
    parameters, ///< of one module: elements of its parameters and of those below
    weights,    ///< of one module: bytes of its parameters and of those below
    has,        ///< of one module: the only part holds for an operator in it or below
    op_type,    ///< of one operator: its type fits the pattern
    name,       ///< of one operator: its name fits the pattern
    position,   ///< of one operator: it stands there: `#7`, in a body `5/body#2`
    source,     ///< of one operator: the provenance fits the pattern
    confidence, ///< of one operator
    conflict,   ///< of one operator: some claim disagrees
    line,       ///< of one operator: it was written in such lines of a file that fits the pattern
    reads,      ///< of one operator: it reads a parameter whose name fits the pattern
    attribute,  ///< of one operator: it has an attribute, of that value
    weight,     ///< of one operator: it reads a parameter whose element type fits the pattern
    type,       ///< of a value that an operator makes: its element type fits the pattern
    rank,       ///< of a value that an operator makes
    shape,      ///< of a value that an operator makes: its extents fit the pattern
    bytes,      ///< of a value that an operator makes
    feeds,      ///< of one operator: one for which the only part holds reads from it
    fed_by,     ///< of one operator: it reads from one for which the only part holds
    before,     ///< of one operator: one for which the only part holds depends on it
    after,      ///< of one operator: it depends on one for which the only part holds
    between,    ///< of one operator: after the first part and before the second one
};

/// How to compare with the number in a query.
enum class query_relation : std::uint8_t {
    equal,    ///< `:` or `=`
    less,     ///< `<`
    at_most,  ///< `<=`
    greater,  ///< `>`
    at_least, ///< `>=`
};

/// A parsed query as a tree; docs/query.md has the syntax.
struct query {
    query_kind kind = query_kind::everything;        ///< of this part
    std::string pattern;                             ///< a glob
    query_relation relation = query_relation::equal; ///< of what is compared
    double number = 0;                               ///< of what is compared
    double last = 0;                                 ///< of `line`: the last one; 0: all
    std::size_t column = 1;                          ///< in the text, from 1
    std::vector<query>
        parts{};        ///< what it is made of: one of `negation`, `module`, `has` and those
                        ///< of places, two of `between`, any number of `all_of`, `any_of`
    std::string word{}; ///< of `attribute`: its name, a glob

    /// Whether `x` satisfies the comparison.
    [[nodiscard]] bool compares(double x) const noexcept {
        switch (relation) {
        case query_relation::equal:
            return x == number;
        case query_relation::less:
            return x < number;
        case query_relation::at_most:
            return x <= number;
        case query_relation::greater:
            return x > number;
        case query_relation::at_least:
            return x >= number;
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

#endif // STEMMA_QUERY_QUERY_TERM_HPP
