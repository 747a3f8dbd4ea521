// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_QUERY_FIND_MODULES_HPP
#define STEMMA_QUERY_FIND_MODULES_HPP

#include <stemma/config.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/error.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/model/module_lookup.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma/query/detail/explain_no_match.hpp>
#include <stemma/query/find_matches.hpp>
#include <stemma/query/model_facts.hpp>
#include <stemma/query/parse_query.hpp>
#include <stemma/query/query.hpp>
#include <stemma/query/query_answer.hpp>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

namespace detail {

/// Returns: the facts about a model for queries. Complexity: O(1).
[[nodiscard]] inline model_facts facts_of(const attributed_model& opened) {
    return {opened.model(), opened.modules(), opened.tags(),
            [&]() -> const source_lines& { return opened.lines(); }};
}

/// Returns: the module at a path, which may be an alternative one, or `no_id`.
/// Complexity: O(length) expected.
[[nodiscard]] inline id find_by_path(const module_tree& modules, std::string_view path) {
    const auto module = find_module(module_lookup(modules), path);
    return module != no_id ? module : modules.aliased(path);
}

} // namespace detail

/// Returns: what a text asks of a model. A text that is the path of a module means that module,
/// even where a query would need quotes: `heads.it's`. Throws: as `parse_query`.
/// Complexity: O(length).
[[nodiscard]] inline query parse_query(const attributed_model& opened, std::string_view text) {
    if (text.empty() || detail::find_by_path(opened.modules(), text) == no_id) {
        return parse_query(text);
    }
    query module;
    module.kind = query_kind::module;
    module.parts.emplace_back();
    module.parts.back().kind = query_kind::path;
    module.parts.back().pattern = text;
    return module;
}

/// Throws: `error` of `error_code::not_found` that explains why nothing matches a query.
/// Complexity: that of `explain_no_match`.
[[noreturn]] inline void refuse_unmatched(const attributed_model& opened, const query& asked) {
    STEMMA_THROW(
        error(error_code::not_found, opened.file().path(), "query",
              detail::explain_no_match(asked, opened.modules(), opened.tags().tags,
                                       opened.operators(), opened.tags().attributions,
                                       opened.tags().provenances, detail::facts_of(opened))));
}

/// Returns: the topmost modules that match a query (see docs/query.md), in tree order.
/// Requires, like all below that take a query: the model keeps its evidence.
/// Throws: `error` of `error_code::not_found` if there are none, as above; of `refused` for a
/// malformed query, or one about nodes.
/// Complexity: that of `find_matching_modules`.
[[nodiscard]] inline std::vector<id> find_modules(const attributed_model& opened,
                                                  std::string_view text) {
    const auto asked = parse_query(opened, text);
    if (asked.asks_for_operators()) {
        STEMMA_THROW(
            error(error_code::refused, opened.file().path(), "query",
                  "'" + std::string(text) + "' asks about nodes; modules are expected here"));
    }
    auto modules = find_matching_modules(asked, opened.modules(), opened.tags().tags,
                                         opened.operators(), opened.tags().attributions,
                                         opened.tags().provenances, detail::facts_of(opened));
    if (modules.empty()) {
        refuse_unmatched(opened, asked);
    }
    return modules;
}

/// Returns: the nodes that match a query, ascending.
/// Throws: `error` of `error_code::not_found` if there are none; of `refused` for a malformed
/// query. Complexity: that of `find_matching_operators`.
[[nodiscard]] inline std::vector<id> find_nodes(const attributed_model& opened,
                                                std::string_view text) {
    const auto asked = parse_query(opened, text);
    auto nodes = find_matching_operators(asked, opened.modules(), opened.tags().tags,
                                         opened.operators(), opened.tags().attributions,
                                         opened.tags().provenances, detail::facts_of(opened));
    if (nodes.empty()) {
        refuse_unmatched(opened, asked);
    }
    return nodes;
}

namespace detail {

/// Returns: the nodes that match a query; all for "". Throws, Complexity: as `find_nodes`.
[[nodiscard]] inline std::vector<id> asked_nodes(const attributed_model& opened,
                                                 std::string_view text) {
    if (!text.empty()) {
        return find_nodes(opened, text);
    }
    std::vector<id> nodes(opened.model().node_count());
    std::iota(nodes.begin(), nodes.end(), id{0});
    return nodes;
}

} // namespace detail

/// Returns: the nodes that match a query, with their modules and values. Throws, Complexity: as
/// `find_nodes`.
[[nodiscard]] inline query_answer answer_query(const query& asked, const attributed_model& opened) {
    auto answer = answer_query(asked, opened.model(), opened.operators(), opened.modules(),
                               opened.tags(), detail::facts_of(opened));
    if (asked.kind != query_kind::everything && answer.nodes.empty() && answer.modules.empty() &&
        answer.values.empty() && answer.initializers.empty()) {
        refuse_unmatched(opened, asked);
    }
    return answer;
}

/// Returns: the deepest modules of some nodes, in tree order.
/// Complexity: O(n log n).
[[nodiscard]] inline std::vector<id> modules_of(std::span<const id> nodes, const tagging& tagged) {
    std::vector<id> modules;
    for (auto node : nodes) {
        modules.push_back(tagged.attributions[node].module);
    }
    modules = detail::range::each_once(std::move(modules));
    return modules;
}

/// Writes the answer to a query (`stemma.query/1`) about a model, named by its path.
/// Complexity: O(length).
template <text_sink Sink>
void write_json(Sink& sink, const query_answer& answer, std::string_view asked,
                const attributed_model& opened) {
    detail::write_document(sink, "stemma.query/1", [&](auto& json) {
        json.member("model", opened.model().file());
        json.member("query", asked);
        write_json(json, answer, opened.model(), opened.modules(), opened.tags());
    });
}

/// Returns: by module, whether it, an ancestor or a descendant matches a query, and it is at most
/// `depth` levels below the root; "" matches all.
/// Throws: as `find_modules`. Complexity: that of `find_modules`, and O(modules * depth).
[[nodiscard]] inline std::vector<bool> find_branches(const attributed_model& opened,
                                                     std::string_view text = {}, id depth = no_id) {
    const auto& tree = opened.modules().index();
    std::vector<bool> asked(tree.size(), text.empty());
    if (!text.empty()) {
        for (auto module : find_modules(opened, text)) {
            std::fill(asked.begin() + module, asked.begin() + tree.end(module), true);
            for (auto above = module; above != 0; above = tree.parent(above)) {
                asked[tree.parent(above)] = true;
            }
        }
    }
    for (id m = 0; m < tree.size(); ++m) {
        asked[m] = asked[m] && tree.depth(m) <= depth;
    }
    return asked;
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_QUERY_FIND_MODULES_HPP
