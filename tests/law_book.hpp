// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TESTS_LAW_BOOK_HPP
#define STEMMA_TESTS_LAW_BOOK_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/sweep_order.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/operator_graph.hpp>
#include <stemma/model/operator_view.hpp>
#include <stemma/model/sweeps.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace stemma::detail {

/// Collects sentences without duplicates.
class law_book {
public:
    void expect(bool holds, std::string_view sentence) {
        if (!holds && std::find(broken_.begin(), broken_.end(), sentence) == broken_.end()) {
            broken_.emplace_back(sentence);
        }
    }

    [[nodiscard]] std::vector<std::string> take() const { return broken_; }

private:
    std::vector<std::string> broken_;
};

[[nodiscard]] inline auto fields_of(const attribution& a) {
    return std::tuple(a.module, a.call, a.confidence, a.source, a.conflict);
}

[[nodiscard]] inline auto fields_of(const claim& c) {
    return std::tuple(c.module, c.call, c.confidence, c.source, c.exact, c.caller, c.doubtful);
}

[[nodiscard]] inline bool is_share(float x) noexcept {
    return x >= 0 && x <= 1;
}

/// Whether a `/` in a segment is unescaped.
[[nodiscard]] constexpr bool has_bare_slash(std::string_view segment) noexcept {
    for (std::size_t i = 0; i < segment.size(); ++i) {
        if (segment[i] == '/') {
            return true;
        }
        i += segment[i] == '\\' ? 1U : 0U;
    }
    return false;
}

/// The graph of a view under another numbering, and nothing else.
struct renumbered_operators {
    using graph_type = operator_graph;

    operator_graph wires;

    [[nodiscard]] const operator_graph& graph() const noexcept { return wires; }
};

/// Returns: the graph of `ops` with index v renamed to `name(v)`.
template <operator_view Ops, class Name>
[[nodiscard]] renumbered_operators renumber(const Ops& ops, Name name) {
    const auto& graph = ops.graph();
    std::vector<operator_edge> edges;
    for (auto [it, last] = vertices(graph); it != last; ++it) {
        for (auto [in, in_last] = in_edges(*it, graph); in != in_last; ++in) {
            const auto from = static_cast<id>(index_of(graph, source(*in, graph)));
            const auto to = static_cast<id>(index_of(graph, *it));
            edges.push_back({name(from), name(to)});
        }
    }
    return {operator_graph(num_vertices(graph), edges)};
}

template <class P, class Ops>
[[nodiscard]] std::vector<attribution> propagated(const P& policy, const Ops& ops,
                                                  const tree_index& modules,
                                                  std::span<const id> evidence) {
    const sweep_order order(ops.graph());
    std::vector<attribution> result(evidence.size());
    for (std::size_t v = 0; v < evidence.size(); ++v) {
        result[v].module = evidence[v];
        result[v].source = provenance::exported;
    }
    policy.propagate(propagation_problem<Ops>{ops, modules, order, evidence}, result);
    return result;
}

/// Records what a carrier writes.
struct recording_sink {
    std::vector<std::array<std::string, 3>> said;

    void metadata(std::string_view key, std::string_view value) { add("metadata", key, value); }
    void attribute(std::string_view name, std::string_view value) { add("attribute", name, value); }
    void attribute(std::string_view name, std::span<const std::string> list) {
        for (const auto& one : list) {
            add("attributes", name, one);
        }
    }
    void doc_line(std::string_view line) { add("doc_line", "", line); }
    void name_space(std::string_view path) { add("name_space", "", path); }
    void mark() { add("mark", "", ""); }

private:
    void add(std::string_view what, std::string_view key, std::string_view value) {
        said.push_back({std::string(what), std::string(key), std::string(value)});
    }
};

} // namespace stemma::detail

#endif // STEMMA_TESTS_LAW_BOOK_HPP
