// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_COMPARE_COMPARE_MODULES_HPP
#define STEMMA_COMPARE_COMPARE_MODULES_HPP

#include <stemma/compare/detail/compared_model.hpp>
#include <stemma/compare/detail/node_match.hpp>
#include <stemma/compare/detail/paired_graphs.hpp>
#include <stemma/compare/detail/weight_comparer.hpp>
#include <stemma/compare/model_diff.hpp>
#include <stemma/compare/write_diff.hpp>
#include <stemma/core/detail/hash.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/ids.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma/query/alike_modules.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// The differences between two modules, of one model or two.
struct module_comparison {
    bool same_function = false; ///< equal up to weights and names
    /// Modules, nodes and weights, as in `model_diff`, without changes. Nodes of equal modules are
    /// all matched.
    model_diff::changed_module difference;
    std::size_t first_nodes = 0;      ///< in and below the first one, without constants
    std::size_t second_nodes = 0;     ///< of the second one
    std::size_t matched_nodes = 0;    ///< pairs
    std::size_t compared_weights = 0; ///< pairs
    std::size_t missing_weights = 0;  ///< of those, without data in either model: not compared
};

namespace detail {

/// One of the modules, prepared for matching.
class compared_module {
public:
    /// Requires: `side` outlives this. Complexity: O(nodes + modules).
    compared_module(const compared_model& side, id m)
        : side_(side), place_(side.model().node_count(), 0), outside_(place_.size(), 1) {
        const auto& tree = side.modules().index();
        std::vector<std::uint64_t> path(tree.size(), 0);
        path[m] = 1;
        for (id below = m + 1; below < tree.end(m); ++below) {
            path[below] = hash_bytes(side.modules().name(below), path[tree.parent(below)]) | 1U;
        }
        for (id node = 0; node < place_.size(); ++node) {
            place_[node] = path[side.module_of(node)];
            outside_[node] = place_[node] == 0 || side.is_quiet(node) ? 1 : 0;
        }
    }

    [[nodiscard]] bool holds(id node) const { return outside_[node] == 0; }

    [[nodiscard]] matched_graph view() const {
        auto view = side_.view(place_);
        view.quiet = outside_;
        return view;
    }

    /// Returns: the unmatched nodes of the module, ascending; counts all.
    [[nodiscard]] std::vector<id> without_partner(const std::vector<id>& partner,
                                                  std::size_t& all) const {
        std::vector<id> result;
        for (id node = 0; node < partner.size(); ++node) {
            all += holds(node) ? 1U : 0U;
            if (holds(node) && partner[node] == no_id) {
                result.push_back(node);
            }
        }
        return result;
    }

    /// Returns: a node's inputs from within the module: slot, output and node, numbered by
    /// `of(node)`.
    template <class Of>
    [[nodiscard]] std::vector<std::tuple<id, id, id>> reads(id node, Of of) const {
        const auto& graph = side_.graph();
        std::vector<std::tuple<id, id, id>> result;
        for (auto [e, last] = in_edges(node, graph); e != last; ++e) {
            if (holds((*e).source)) {
                result.emplace_back(graph.property(in_port)[(*e).index],
                                    graph.property(out_port)[(*e).index], of((*e).source));
            }
        }
        std::sort(result.begin(), result.end());
        return result;
    }

private:
    const compared_model& side_;
    std::vector<std::uint64_t> place_; // by node: 0 outside
    std::vector<char8_t> outside_;     // by node
};

} // namespace detail

/// Compares two modules, of one model or two: whether they compute the same function up to weights
/// and names, in any node order; if not, which nodes differ; and in either case how the weights
/// read by partners differ.
/// Throws: `error` if external data cannot be read, or as `options.check()`.
/// Complexity: O((V + E) log V) of both models, and O(data) of weights of the modules.
[[nodiscard]] inline module_comparison compare_modules(const attributed_model& first,
                                                       index_arg<module_id> m,
                                                       const attributed_model& second,
                                                       index_arg<module_id> n,
                                                       const diff_options& options = {}) {
    options.check();
    module_comparison result;
    auto& difference = result.difference;
    difference.first = m;
    difference.second = n;
    const detail::compared_model a(first);
    const detail::compared_model b(second);
    const detail::compared_module left(a, m);
    const detail::compared_module right(b, n);
    detail::node_match match(first.model().node_count(), second.model().node_count());
    alike_modules in_first(first.model(), first.modules(), first.tags().attributions);
    alike_modules in_second(second.model(), second.modules(), second.tags().attributions);
    if (const auto pairs = alike_modules::match(in_first, m, in_second, n)) {
        result.same_function = true;
        for (const auto& [v, w] : *pairs) {
            match.add(v, w);
        }
    } else {
        detail::match_nodes(left.view(), right.view(), match);
        difference.changed = match.changed;
    }
    difference.only_first = left.without_partner(match.to_second, result.first_nodes);
    difference.only_second = right.without_partner(match.to_first, result.second_nodes);
    for (id v = 0; v < match.to_second.size(); ++v) {
        const auto w = match.to_second[v];
        if (w == no_id) {
            continue;
        }
        ++result.matched_nodes;
        if (!result.same_function && left.reads(v, [&](id node) {
                return match.to_second[node];
            }) != right.reads(w, [](id node) { return node; })) {
            difference.rewired.emplace_back(v, w);
        }
    }
    auto pairs = detail::pair_weights(a, b, match,
                                      detail::paired_graphs(first.model(), second.model(), match));
    std::erase_if(pairs, [&](const auto& pair) {
        return pair.node == no_id || match.to_second[pair.node] == no_id;
    });
    result.compared_weights = pairs.size();
    if (options.weights) {
        for (auto& [weight, missing] : detail::compare_all_weights(a, b, pairs)) {
            result.missing_weights += missing ? 1 : 0;
            if (weight && (!weight->comparable || options.tolerance <= 0 ||
                           weight->difference.relative > options.tolerance)) {
                difference.weights.push_back(*std::move(weight));
            }
        }
    }
    return result;
}

/// Writes the differences between two modules (`stemma.module_diff/1`), with `nodes` including
/// every changed node. Both must be the compared models. Complexity: O(length).
template <text_sink Sink>
void write_json(Sink& sink, const module_comparison& comparison, const attributed_model& first,
                const attributed_model& second, bool nodes = false) {
    const auto& difference = comparison.difference;
    detail::write_document(sink, "stemma.module_diff/1", [&](auto& json) {
        const auto side = [&](std::string_view key, const attributed_model& opened, id m,
                              std::size_t count) {
            json.object(key, [&] {
                json.member("model", opened.model().file());
                json.member("module", opened.modules().report_path(m));
                json.member("class", opened.modules().class_name(m));
                json.member("nodes", count);
            });
        };
        side("first", first, difference.first, comparison.first_nodes);
        side("second", second, difference.second, comparison.second_nodes);
        json.member("same_function", comparison.same_function);
        json.object("matched", [&] {
            json.member("nodes", comparison.matched_nodes);
            json.member("weights", comparison.compared_weights);
            json.member("missing_weights", comparison.missing_weights);
        });
        detail::write_diff_counts(json, difference);
        detail::write_diff_contents(json, difference, first.model(), second.model(), nodes);
    });
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_COMPARE_COMPARE_MODULES_HPP
