// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ALIGN_ALIGN_GRAPHS_HPP
#define STEMMA_ALIGN_ALIGN_GRAPHS_HPP

#include <stemma/align/comparable_graph.hpp>
#include <stemma/align/detail/aligned_origins.hpp>
#include <stemma/align/detail/graph_matcher.hpp>
#include <stemma/align/detail/type_pairs.hpp>
#include <stemma/align/detail/value_numbers.hpp>
#include <stemma/align/graph_alignment.hpp>
#include <stemma/align/lexicon.hpp>
#include <stemma/align/rewritten_operators.hpp>
#include <stemma/model/operator_view.hpp>

namespace stemma::inline STEMMA_ABI {

/// Finds for the operators of a changed graph those of the original that they came from, whoever
/// changed it.
///
/// Values are found first: by what computes them of what, by what they hold, by name, where names
/// were kept, also with what tools add to them, and by what is around them. An operator then
/// stands for what lies in the original between the values that it reads and those that it makes;
/// several that share values which the original has not divide that among them, by what the
/// lexicon says of their types. One behind which nothing is left was inserted.
/// Complexity: O(operators + values + inputs) of both graphs, expected, where what is between two
/// values that are left is small.
template <lexicon_policy Lexicon = rewritten_operators>
[[nodiscard]] graph_alignment align_graphs(const comparable_graph& before,
                                           const comparable_graph& after,
                                           const Lexicon& lexicon = {}) {
    const detail::value_numbers numbers(before);
    const detail::type_pairs types(before, after, lexicon);
    detail::graph_matcher values(before, after, numbers, types);
    values.run();
    graph_alignment result;
    detail::aligned_origins(before, after, numbers, types, values).run(result);
    result.set_values(values.take_values(), values.take_bases());
    return result;
}

/// The same, of any operators; see `comparable`.
template <named_operators Before, named_operators After,
          lexicon_policy Lexicon = rewritten_operators>
[[nodiscard]] graph_alignment align_graphs(const Before& before, const After& after,
                                           const Lexicon& lexicon = {}) {
    return align_graphs(comparable(before), comparable(after), lexicon);
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_ALIGN_ALIGN_GRAPHS_HPP
