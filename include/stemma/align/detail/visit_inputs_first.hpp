// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ALIGN_DETAIL_VISIT_INPUTS_FIRST_HPP
#define STEMMA_ALIGN_DETAIL_VISIT_INPUTS_FIRST_HPP

#include <stemma/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Calls `visit` once for each of `ends` and all they need, in order: everything the first input
/// of a vertex needs before what the second one needs, then the vertex.
///
/// `index_of(v)` is below `count`; `add_inputs(v, list)` appends the inputs of a vertex to a list.
/// On a cycle, a vertex comes before its input. Complexity: O(vertices + inputs), without
/// recursion.
template <class Vertex, class IndexOf, class AddInputs, class Visit>
void visit_inputs_first(const std::vector<Vertex>& ends, std::size_t count, IndexOf index_of,
                        AddInputs add_inputs, Visit visit) {
    enum class state : std::uint8_t { unseen, open, done };
    std::vector<state> states(count, state::unseen);
    std::vector<Vertex> open;
    std::vector<Vertex> inputs;
    for (const auto& end : ends) {
        open.push_back(end);
        while (!open.empty()) {
            const auto v = open.back();
            auto& now = states[index_of(v)];
            if (now == state::unseen) {
                now = state::open;
                inputs.clear();
                add_inputs(v, inputs);
                std::copy_if(inputs.rbegin(), inputs.rend(), std::back_inserter(open),
                             [&](const Vertex& u) { return states[index_of(u)] == state::unseen; });
                continue;
            }
            open.pop_back();
            if (now == state::open) {
                now = state::done;
                visit(v);
            }
        }
    }
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ALIGN_DETAIL_VISIT_INPUTS_FIRST_HPP
