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

/// Finds the operators of the original that those of a changed graph came from, whatever tool
/// changed it.
///
/// Values are matched first: by computation, by contents, by name (if names were kept, also with
/// tools' affixes), and by their neighbours. An operator then stands for what lies in the original
/// between the values it reads and those it produces; several that share values missing from the
/// original divide that among them, according to the lexicon. An operator for which nothing is left
/// was inserted.
/// Complexity: O(operators + values + inputs) of both graphs, expected, provided that little lies
/// between matched values.
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

/// The same, for operators of any kind; see `comparable`.
template <named_operators Before, named_operators After,
          lexicon_policy Lexicon = rewritten_operators>
[[nodiscard]] graph_alignment align_graphs(const Before& before, const After& after,
                                           const Lexicon& lexicon = {}) {
    return align_graphs(comparable(before), comparable(after), lexicon);
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_ALIGN_ALIGN_GRAPHS_HPP
