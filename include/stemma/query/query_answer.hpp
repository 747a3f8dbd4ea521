// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_QUERY_QUERY_ANSWER_HPP
#define STEMMA_QUERY_QUERY_ANSWER_HPP

#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/parse_name.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/onnx/detail/pass_on.hpp>
#include <stemma/onnx/onnx_model.hpp>
#include <stemma/onnx/value_definitions.hpp>
#include <stemma/query/find_matches.hpp>
#include <stemma/query/parse_query.hpp>
#include <stemma/query/query_facts.hpp>
#include <stemma/tagging/tag_operators.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// The answer to a query about a model.
struct query_answer {
    /// Sort keys of answers.
    /// Names: `nodes`, `parameters`, `bytes` or `name`.
    enum class order : std::uint8_t {
        nodes,      ///< of modules: their number of nodes
        parameters, ///< of modules: elements; of nodes: those that they read
        bytes,      ///< of modules and nodes: those of their weights; of values: their own
        name,       ///< path or name, ascending; all others descend
    };

    std::vector<id> modules;      ///< see `answer_query`; none for node queries
    std::vector<id> nodes;        ///< by vertex index, ascending
    std::vector<id> values;       ///< outputs of the nodes
    std::vector<id> initializers; ///< read by the nodes
};

namespace detail {

/// A value with a node that produces or reads it.
struct value_at_node {
    id node;
    id value;
};

/// Keeps only values for which a query holds or, if not `wanted`, only the others: terms about
/// values apply to the value, all others to the node.
template <class Matcher, query_facts Facts>
void narrow_values(const query& asked, bool wanted, std::span<const value_at_node> all,
                   const Matcher& matcher, const Facts& facts, vertex_marks& candidates) {
    if (!asked.asks_for_values()) {
        const auto nodes = matcher.find(asked);
        vertex_marks holds(all.size(), 0);
        std::transform(all.begin(), all.end(), holds.begin(), [&](const value_at_node& one) {
            return static_cast<char8_t>(std::binary_search(nodes.begin(), nodes.end(), one.node));
        });
        keep(holds, wanted, candidates);
    } else if (has_parts(asked)) {
        narrow_by_parts(asked, wanted, candidates,
                        [&](const query& part, bool holds, vertex_marks& still) {
                            narrow_values(part, holds, all, matcher, facts, still);
                        });
    } else {
        std::vector<id> weights; // of the node at hand
        for (std::size_t i = 0; i < all.size(); ++i) {
            const auto [node, value] = all[i];
            if (asked.kind == query_kind::weight && (i == 0 || node != all[i - 1].node)) {
                weights = detail::range::each_once(facts.weights_of(node));
            }
            const bool fits = (asked.kind != query_kind::weight ||
                               std::binary_search(weights.begin(), weights.end(), value)) &&
                              fits_value(asked, facts.value(value));
            candidates[i] = candidates[i] != 0 && fits == wanted ? 1 : 0;
        }
    }
}

/// Returns: by value, the initializer that it is, even if nodes passed it on; or `no_id`.
/// Complexity: O(nodes + values).
[[nodiscard]] inline std::vector<id> initializers_of(const onnx_model& model) {
    std::vector<id> initializers(model.value_count(), no_id);
    for (id value = 0; value < model.value_count(); ++value) {
        initializers[value] = model.is_initializer(value) ? value : no_id;
    }
    static_cast<void>(pass_on(model, initializers));
    return initializers;
}

/// Adds the values that match a query: outputs of nodes, and initializers that they read.
template <class Matcher, query_facts Facts>
void add_values(const query& asked, const onnx_model& model, const Matcher& matcher,
                const Facts& facts, query_answer& answer) {
    std::vector<value_at_node> outputs;
    std::vector<value_at_node> read;
    const auto initializers = initializers_of(model);
    for (id node = 0; node < model.node_count(); ++node) {
        for (auto value : model.outputs(node)) {
            if (!model.value_name(value).empty()) {
                outputs.push_back({node, value});
            }
        }
        for (auto value : model.inputs(node)) {
            if (value != no_id && initializers[value] != no_id) {
                read.push_back({node, initializers[value]});
            }
        }
    }
    const auto list = [&](const std::vector<value_at_node>& all) {
        vertex_marks candidates(all.size(), 1);
        narrow_values(asked, true, std::span(all), matcher, facts, candidates);
        std::vector<id> values;
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (candidates[i] != 0) {
                values.push_back(all[i].value);
            }
        }
        values = detail::range::each_once(std::move(values));
        return values;
    };
    answer.values = list(outputs);
    answer.initializers = list(read);
}

/// Returns: the modules that a query names by path, tag, class or the like, rather than all inside
/// them; of an `and` those that `all` parts name, or some part. Nothing for queries that also match
/// by what they exclude or contain.
template <module_view Modules>
[[nodiscard]] std::optional<vertex_marks> modules_named_by(const query& asked,
                                                           const module_matcher<Modules>& matcher,
                                                           std::size_t count, bool all) {
    if (asked.kind == query_kind::everything) {
        return vertex_marks(count, 1);
    }
    if (asked.kind == query_kind::module) {
        return matcher.of_modules(asked.parts.front());
    }
    if (asked.kind != query_kind::all_of && asked.kind != query_kind::any_of) {
        return std::nullopt;
    }
    const bool both = all && asked.kind == query_kind::all_of;
    std::optional<vertex_marks> named;
    for (const auto& part : asked.parts) {
        auto of_part = modules_named_by(part, matcher, count, all);
        if (!of_part) {
            if (asked.kind == query_kind::any_of) {
                return std::nullopt;
            }
        } else if (!named) {
            named = std::move(of_part);
        } else {
            std::transform(
                named->begin(), named->end(), of_part->begin(), named->begin(),
                [both](auto a, auto b) { return static_cast<char8_t>(both ? a & b : a | b); });
        }
    }
    return named;
}

/// Narrows or extends the topmost matching modules to those in them that the query names: all parts
/// of an `and`, else some of them, as in `encoder and class:Linear`. Without the root if there are
/// others.
template <module_view Modules>
void choose_named_modules(const query& asked, const module_matcher<Modules>& matcher,
                          const tree_index& tree, std::vector<id>& modules) {
    for (const bool all : {true, false}) {
        const auto named = modules_named_by(asked, matcher, tree.size(), all);
        std::vector<id> chosen;
        for (const auto topmost : named ? modules : std::vector<id>()) {
            for (auto m = topmost; m < tree.end(topmost); ++m) {
                if ((*named)[m] != 0) {
                    chosen.push_back(m);
                }
            }
        }
        if (!chosen.empty()) {
            modules = std::move(chosen);
            break;
        }
    }
    if (modules.size() > 1 && modules.front() == 0) {
        modules.erase(modules.begin());
    }
}

} // namespace detail

/// The modules of an answer are those that the query names, nested ones included: all of a class,
/// all for "". A query that names none (`not features`) gets those of `find_matching_modules`.
///
/// The values of an answer are the outputs of its nodes and the initializers that they read; if the
/// query has terms about values, only those that match them.
/// Complexity: that of `find_matching_operators`, plus O(values), and for queries about values
/// O(terms * log nodes) for each.
template <module_view Modules, named_operators Ops, query_facts Facts = detail::no_facts>
[[nodiscard]] query_answer answer_query(const query& asked, const onnx_model& model, const Ops& ops,
                                        const Modules& modules, const tagging& tagged,
                                        const Facts& facts = {}) {
    const detail::operator_matcher<Modules, Ops, Facts> matcher(
        modules, tagged.tags, ops, tagged.attributions, tagged.provenances, facts);
    query_answer answer;
    if (!asked.asks_for_operators()) {
        answer.modules = find_matching_modules(asked, modules, tagged.tags, ops,
                                               tagged.attributions, tagged.provenances, facts);
        if (!asked.asks_for_sizes()) {
            detail::choose_named_modules(asked, matcher.modules(), modules.index(), answer.modules);
        }
    }
    answer.nodes = matcher.find(asked);
    if (asked.asks_for_values()) {
        detail::add_values(asked, model, matcher, facts, answer);
        return answer;
    }
    const auto initializers = detail::initializers_of(model);
    std::vector<bool> is_read(model.value_count(), false);
    for (auto node : answer.nodes) {
        for (auto value : model.outputs(node)) {
            if (!model.value_name(value).empty()) {
                answer.values.push_back(value);
            }
        }
        for (auto value : model.inputs(node)) {
            if (value != no_id && initializers[value] != no_id) {
                is_read[initializers[value]] = true;
            }
        }
    }
    for (id value = 0; value < model.value_count(); ++value) {
        if (is_read[value]) {
            answer.initializers.push_back(value);
        }
    }
    return answer;
}

namespace detail {

template <>
inline constexpr std::array<std::string_view, 4> names_of_values<query_answer::order>{
    "nodes", "parameters", "bytes", "name"};

/// Sorts numbers stably by `key(number)`, largest first by `less`, and keeps the first ones.
template <class Less, class Key>
void sort_by(std::vector<id>& numbers, std::size_t most, Less less, Key key) {
    using keyed = std::pair<decltype(key(id{})), id>;
    std::vector<keyed> all;
    for (auto number : numbers) {
        all.emplace_back(key(number), number);
    }
    std::stable_sort(all.begin(), all.end(),
                     [&](const keyed& a, const keyed& b) { return less(b.first, a.first); });
    all.resize(std::min(all.size(), most));
    numbers.clear();
    for (const auto& one : all) {
        numbers.push_back(one.second);
    }
}

} // namespace detail

/// Names of nodes, for tools that select nodes by name.
struct node_names {
    std::vector<std::string> names; ///< each once, in order; `#7` for those that follow
    std::size_t unnamed = 0;        ///< nodes without a name
    std::size_t broken = 0;         ///< nodes with line breaks in their name
    std::size_t others = 0;         ///< other nodes with one of the names
};

/// Returns: the names of some nodes in order, with the numbers of ambiguities.
/// Complexity: O(bytes of all names) expected.
[[nodiscard]] inline node_names names_of(const onnx_model& model, std::span<const id> nodes) {
    node_names names;
    std::unordered_set<std::string_view> seen;
    for (auto node : nodes) {
        const auto name = model.name(node);
        const bool broken = name.find('\n') != name.npos || name.find('\r') != name.npos;
        names.unnamed += name.empty() ? 1U : 0U;
        names.broken += broken ? 1U : 0U;
        if (name.empty() || broken) {
            names.names.push_back(position_text(model, node));
        } else if (seen.insert(name).second) {
            names.names.emplace_back(name);
        }
    }
    std::vector<bool> is_asked(model.node_count(), false);
    for (auto node : nodes) {
        is_asked[node] = true;
    }
    for (id node = 0; node < model.node_count(); ++node) {
        names.others += is_asked[node] ? 0 : seen.count(model.name(node));
    }
    return names;
}

/// Writes the members `modules`, `nodes`, `values` and `initializers` into an open object.
/// Complexity: O(length).
template <text_sink Sink>
void write_json(json_writer<Sink>& json, const query_answer& answer, const onnx_model& model,
                const module_tree& modules, const tagging& tagged) {
    json.objects("modules", answer.modules, [&](auto m) {
        json.member("path", modules.report_path(m));
        json.member("class", modules.class_name(m));
        json.member("tag", tagged.tags.text(m));
    });
    json.list("nodes", answer.nodes, [&](auto node) {
        const auto module = tagged.attributions[node].module;
        json.begin_object(true);
        json.member("graph", model.graph_path(model.graph_of(node)));
        json.member("index", model.position(node));
        json.member("name", model.name(node));
        json.member("op_type", model.op_type(node));
        json.member("scope_module", modules.report_path(module));
        json.member("tag", tagged.tags.text(module));
        json.end_object();
    });
    const auto write_values = [&](std::string_view key, std::span<const id> values) {
        json.objects(key, values, [&](auto value) {
            json.member("graph", model.graph_path(model.graph_of_value(value)));
            json.member("name", model.value_name(value));
        });
    };
    write_values("values", answer.values);
    write_values("initializers", answer.initializers);
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_QUERY_QUERY_ANSWER_HPP
