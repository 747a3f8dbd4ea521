// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_QUERY_DETAIL_QUERY_KEYS_HPP
#define STEMMA_QUERY_DETAIL_QUERY_KEYS_HPP

#include <stemma/query/query.hpp>

#include <array>
#include <cstdint>
#include <string_view>

namespace stemma::inline STEMMA_ABI::detail {

/// The kind of argument after a term's keyword.
enum class query_operand : std::uint8_t {
    pattern,    ///< a glob
    value,      ///< a glob, or a list in brackets
    depth,      ///< an integer, compared
    confidence, ///< a number from 0 to 1, compared
    count,      ///< a number with an optional unit, compared
    size,       ///< the same, of bytes
    weights,    ///< a glob after `:`, else a size
    attribute,  ///< a name, and optionally a value
    place,      ///< another query
    two_places, ///< two queries
    lines,      ///< a glob of files, optionally with lines: `net.py:12`, `net.py:12-20`
};

struct query_key {
    std::string_view name;
    query_kind kind;
    query_operand operand;
};

inline constexpr std::array<query_key, 26> query_keys{
    {{"after", query_kind::after, query_operand::place},
     {"attr", query_kind::attribute, query_operand::attribute},
     {"before", query_kind::before, query_operand::place},
     {"between", query_kind::between, query_operand::two_places},
     {"bytes", query_kind::bytes, query_operand::size},
     {"class", query_kind::class_name, query_operand::pattern},
     {"confidence", query_kind::confidence, query_operand::confidence},
     {"depth", query_kind::depth, query_operand::depth},
     {"fed-by", query_kind::fed_by, query_operand::place},
     {"feeds", query_kind::feeds, query_operand::place},
     {"from", query_kind::source, query_operand::pattern},
     {"has", query_kind::has, query_operand::place},
     {"like", query_kind::like, query_operand::pattern},
     {"line", query_kind::line, query_operand::lines},
     {"name", query_kind::name, query_operand::pattern},
     {"nodes", query_kind::nodes, query_operand::count},
     {"op", query_kind::op_type, query_operand::pattern},
     {"parameters", query_kind::parameters, query_operand::count},
     {"path", query_kind::path, query_operand::pattern},
     {"rank", query_kind::rank, query_operand::count},
     {"reads", query_kind::reads, query_operand::pattern},
     {"shape", query_kind::shape, query_operand::value},
     {"tag", query_kind::tag, query_operand::pattern},
     {"type", query_kind::type, query_operand::pattern},
     {"weight", query_kind::weight, query_operand::pattern},
     {"weights", query_kind::weights, query_operand::weights}}};

inline constexpr std::array<query_key, 3> query_flags{
    {{"conflict", query_kind::conflict, query_operand::pattern},
     {"leaf", query_kind::leaf, query_operand::pattern},
     {"selected", query_kind::selected, query_operand::pattern}}};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_QUERY_DETAIL_QUERY_KEYS_HPP
