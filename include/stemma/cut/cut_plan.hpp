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
    none,          ///< it can be cut out
    non_convex,    ///< some way leads out of it and back; see the witness
    unknown_type,  ///< type or rank of a value at the boundary is not known
    function_body, ///< it lies in a function whose attributes are not bound
    no_output,     ///< nothing outside reads what it makes
    redefined,     ///< it reads or makes a value that the model defines more than once
};

/// Returns: the name that reports use.
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
    }
    return "";
}

/// A part of a model, as it is to be cut out.
struct cut_plan {
    id graph = 0;                 ///< the graph it is cut out of: the main one, a body, a function
    std::vector<id> nodes;        ///< of that graph or one around it, in the order they will have
    std::vector<id> clones;       ///< those of them that stay in the rest as well, ascending
    std::vector<id> inputs;       ///< values, in the order of readers
    std::vector<id> outputs;      ///< values, in the order of producers
    std::vector<id> initializers; ///< values
    std::vector<id> functions;    ///< numbers of functions that are called, directly or not
    bool sorted = false;          ///< nodes had to be put in another order to be behind producers
    bool random = false;          ///< holds an operator that gives other results each time
    cut_refusal refusal = cut_refusal::none; ///< why not, if anything
    std::vector<id> witness;                 ///< `non_convex`: the nodes on a way out and back
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_CUT_CUT_PLAN_HPP
