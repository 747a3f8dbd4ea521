// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CUT_CUT_PLAN_HPP
#define STEMMA_CUT_CUT_PLAN_HPP

#include <stemma/core/id.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// Why a part cannot be cut out.
enum class cut_refusal : std::uint8_t {
    none,          ///< it can
    non_convex,    ///< a path leaves it and returns; see `witness`
    unknown_type,  ///< the type or rank of a boundary value is unknown
    function_body, ///< it is in a function whose attributes are unbound
    no_output,     ///< nothing outside reads its results
    redefined,     ///< it has a value that the model or the part defines more than once
    cycle,         ///< it has nodes on a cycle, or after one
};

/// Returns: the name used in reports.
[[nodiscard]] constexpr std::string_view to_string(cut_refusal refusal) noexcept {
    switch (refusal) {
    case cut_refusal::none:
        return "";
    case cut_refusal::non_convex:
        return "non_convex";
    case cut_refusal::unknown_type:
        return "unknown_type";
    case cut_refusal::function_body:
        return "function_body";
    case cut_refusal::no_output:
        return "no_output";
    case cut_refusal::redefined:
        return "redefined";
    case cut_refusal::cycle:
        return "cycle";
    }
    return "";
}

/// A plan for cutting a part out of a model.
struct cut_plan {
    id graph = 0;                 ///< its graph: the main one, a body or a function
    std::vector<id> nodes;        ///< of that graph or an enclosing one, in the order of the part
    std::vector<id> clones;       ///< the nodes that also stay in the rest, ascending
    std::vector<id> inputs;       ///< values, in the order of readers
    std::vector<id> outputs;      ///< values, in the order of producers, then initializers
    std::vector<id> initializers; ///< values
    std::vector<id> functions;    ///< numbers of functions called, directly or not
    bool sorted = false;          ///< file order was not topological, so nodes were sorted
    bool random = false;          ///< contains a nondeterministic operator
    cut_refusal refusal = cut_refusal::none; ///< why it cannot be cut out
    std::vector<id> witness;                 ///< `non_convex`: the nodes on such a path
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_CUT_CUT_PLAN_HPP
