// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_REPORT_EXPLANATION_HPP
#define STEMMA_REPORT_EXPLANATION_HPP

#include <stemma/core/detail/grouped_ids.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/id_set_pool.hpp>
#include <stemma/core/nearest_texts.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma/record/detail/value_tags.hpp>
#include <stemma/record/sidecar.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stemma {

/// How a claim about a node is to what was decided.
enum class claim_relation : std::uint8_t {
    decided,   ///< it names the same module
    agrees,    ///< it is not exact, and names one above or below
    disagrees, ///< it names another one
};

/// What a source claims about a node.
struct explained_claim {
    claim made;                                        ///< source, module, confidence
    claim_relation relation = claim_relation::decided; ///< to what was decided
};

/// A value, and a node at the other end of it.
struct neighbour {
    id value = no_id; ///< that is read
    id node = no_id;  ///< that makes it, or reads it; `no_id` where none makes it
};

/// Which modules a value belongs to, and what is at both ends of it.
struct value_explanation {
    id value = no_id;        ///< by number
    std::vector<id> tags;    ///< modules of its tags
    id producer = no_id;     ///< the node that makes it, if one does
    std::vector<id> readers; ///< nodes, each as often as it reads it
};

/// Which module a node came from, and how that is known.
struct node_explanation {
    id node = no_id;                        ///< by vertex index
    id module = 0;                          ///< the deepest module that is known
    id selected = 0;                        ///< the module of the primary tag
    std::string tag;                        ///< the primary tag
    std::vector<id> tags;                   ///< modules of all tags
    provenance source = provenance::root;   ///< what decided
    float confidence = 0;                   ///< 0 to 1
    id call = no_id;                        ///< call of a module that is called several times
    bool conflict = false;                  ///< whether claims disagree
    std::vector<id> callers;                ///< modules that call the one it is of
    std::vector<explained_claim> claims;    ///< of all sources
    std::vector<neighbour> inputs;          ///< values that it reads, with their producers
    std::vector<value_explanation> outputs; ///< values that it makes
};

/// What there is to say of a name.
struct explanation {
    std::string asked;                     ///< what was asked
    std::vector<node_explanation> nodes;   ///< called so
    std::vector<value_explanation> values; ///< called so

    /// Whether nothing is called so.
    [[nodiscard]] bool empty() const noexcept { return nodes.empty() && values.empty(); }
};

/// Answers one question after the other about an open model. Requires: that outlives this, and its
/// evidence was not forgotten.
class explainer {
public:
    /// Complexity: that of `find_value_tags`.
    explicit explainer(attributed_model& opened)
        : opened_(opened)
        , readers_(collect_value_readers(opened.model()))
        , value_tags_(find_value_tags(opened.model(), opened.modules(), opened.tags())) {}

    /// Returns: the nodes that `text` names: `#7` and `5/body#2` by position, else by name.
    /// Complexity: O(nodes).
    [[nodiscard]] std::vector<id> nodes_called(std::string_view text) const {
        const auto& model = opened_.model();
        std::vector<id> nodes;
        const auto hash = text.rfind('#');
        id position = no_id;
        if (hash != text.npos && hash + 1 < text.size()) {
            const auto end = text.data() + text.size();
            if (std::from_chars(text.data() + hash + 1, end, position).ptr != end) {
                position = no_id;
            }
        }
        for (id node = 0; node < model.node_count(); ++node) {
            const bool by_position = position != no_id && model.position(node) == position &&
                                     model.graph_path(model.graph_of(node)) == text.substr(0, hash);
            if (by_position || (!text.empty() && model.name(node) == text)) {
                nodes.push_back(node);
            }
        }
        return nodes;
    }

    /// Returns: the values of a name. Complexity: O(values).
    [[nodiscard]] std::vector<id> values_called(std::string_view text) const {
        std::vector<id> values;
        for (id value = 0; value < opened_.model().value_count(); ++value) {
            if (!text.empty() && opened_.model().value_name(value) == text) {
                values.push_back(value);
            }
        }
        return values;
    }

    /// Returns: names of nodes and values that look most like `text`.
    /// Complexity: that of `nearest_texts` for all of them.
    [[nodiscard]] std::vector<std::string> names_like(std::string_view text) const {
        const auto& model = opened_.model();
        nearest_texts nearest(text, 3);
        for (id node = 0; node < model.node_count(); ++node) {
            nearest.offer(model.name(node));
        }
        for (id value = 0; value < model.value_count(); ++value) {
            nearest.offer(model.value_name(value));
        }
        return nearest.take();
    }

    /// Returns: what is known of a node. Complexity: O(claims about it + readers).
    [[nodiscard]] node_explanation explain_node(id node) const {
        const auto& model = opened_.model();
        const auto& found = opened_.tags();
        const auto& made = found.attributions[node];
        node_explanation result;
        result.node = node;
        result.module = made.module;
        result.selected = found.selected(node);
        result.tag = found.tags.text(made.module);
        result.tags = members(found.tag_sets[node]);
        result.source = made.source;
        result.confidence = made.confidence;
        result.call = made.call;
        result.conflict = made.conflict;
        for (auto caller : found.callers.of(node)) {
            result.callers.push_back(caller);
        }
        for (const auto& one : opened_.claims_about(node)) {
            const bool related =
                opened_.modules().index().are_related(one.module, made.module) && !one.exact;
            result.claims.push_back({one, one.module == made.module ? claim_relation::decided
                                          : related                 ? claim_relation::agrees
                                                                    : claim_relation::disagrees});
        }
        for (auto value : model.inputs(node)) {
            if (value != no_id) {
                result.inputs.push_back({value, model.producer(value)});
            }
        }
        for (id i = 0; i < model.output_count(node); ++i) {
            result.outputs.push_back(explain_value(model.first_output(node) + i));
        }
        return result;
    }

    /// Returns: what is known of a value. Complexity: O(its readers).
    [[nodiscard]] value_explanation explain_value(id value) const {
        const auto readers = readers_[value];
        return {value,
                members(value_tags_[value]),
                opened_.model().producer(value),
                {readers.begin(), readers.end()}};
    }

    /// Returns: what is known of all that has a name, or of the node at a position.
    /// Complexity: O(nodes + values).
    [[nodiscard]] explanation explain(std::string_view asked) const {
        explanation result{std::string(asked), {}, {}};
        for (auto node : nodes_called(asked)) {
            result.nodes.push_back(explain_node(node));
        }
        for (auto value : values_called(asked)) {
            result.values.push_back(explain_value(value));
        }
        return result;
    }

private:
    [[nodiscard]] std::vector<id> members(id_set set) const {
        std::vector<id> modules;
        opened_.tags().pool.for_each(set, [&](id m) { modules.push_back(m); });
        return modules;
    }

    attributed_model& opened_;
    grouped_ids readers_;
    std::vector<id_set> value_tags_;
};

namespace detail {

/// Writes explanations as JSON, with the names that a model has for what they are about.
template <text_sink Sink>
class explanation_writer {
public:
    explanation_writer(json_writer<Sink>& json, const attributed_model& opened)
        : json_(json), opened_(opened), model_(opened.model()), found_(opened.tags()) {}

    void write(const explanation& answer) const {
        json_.begin_object();
        json_.member("asked", answer.asked);
        write_list("nodes", answer.nodes);
        write_list("values", answer.values);
        json_.end_object();
    }

private:
    template <class List>
    void write_list(std::string_view key, const List& list) const {
        json_.key(key);
        json_.begin_array();
        for (const auto& one : list) {
            write_one(one);
        }
        json_.end_array();
    }

    void write_one(const node_explanation& one) const {
        json_.begin_object();
        write_place(one.node);
        json_.member("op_type", model_.op_type(one.node));
        json_.member("scope_module", opened_.modules().path(one.module));
        json_.member("module", opened_.modules().path(one.selected));
        json_.member("tag", one.tag);
        write_tags(one.tags);
        json_.member("provenance", found_.provenances[one.source]);
        json_.member("confidence", one.confidence);
        json_.key("call");
        one.call == no_id ? json_.null() : json_.value(one.call);
        write_origins(json_, opened_.modules(), found_.origins, one.node);
        write_list("claims", one.claims);
        json_.member("conflict", one.conflict);
        json_.key("producers");
        json_.begin_array();
        for (const auto& input : one.inputs) {
            if (input.node != no_id) {
                write_one(input);
            }
        }
        json_.end_array();
        json_.key("consumers");
        json_.begin_array();
        for (const auto& output : one.outputs) {
            for (auto reader : output.readers) {
                write_one(neighbour{output.value, reader});
            }
        }
        json_.end_array();
        json_.end_object();
    }

    void write_one(const value_explanation& one) const {
        json_.begin_object(true);
        json_.member("name", model_.value_name(one.value));
        json_.member("graph", model_.graph_path(model_.graph_of_value(one.value)));
        json_.member("kind", to_string(model_.kind(one.value)));
        write_tags(one.tags);
        json_.end_object();
    }

    void write_one(const explained_claim& one) const {
        json_.begin_object(true);
        json_.member("source", found_.provenances[one.made.source]);
        json_.member("module", opened_.modules().path(one.made.module));
        json_.member("confidence", one.made.confidence);
        json_.member("exact", one.made.exact);
        json_.end_object();
    }

    void write_one(const neighbour& one) const {
        json_.begin_object(true);
        json_.member("value", model_.value_name(one.value));
        write_place(one.node);
        json_.member("tag", found_.tags.text(found_.attributions[one.node].module));
        json_.end_object();
    }

    void write_place(id node) const {
        json_.member("graph", model_.graph_path(model_.graph_of(node)));
        json_.member("index", model_.position(node));
        json_.member("name", model_.name(node));
    }

    void write_tags(std::span<const id> modules) const {
        json_.key("tags");
        json_.begin_array(true);
        for (auto m : modules) {
            json_.value(found_.tags.text(m));
        }
        json_.end_array();
    }

    json_writer<Sink>& json_;
    const attributed_model& opened_;
    const wire_model& model_;
    const tagging& found_;
};

} // namespace detail

/// Writes answers about a model that is called `name` (`stemma.explain/1`). Complexity: O(length).
template <text_sink Sink>
void write_explanations(Sink& sink, std::span<const explanation> answers,
                        const attributed_model& opened, std::string_view name) {
    json_writer json(sink);
    json.begin_object();
    json.member("schema", "stemma.explain/1");
    json.member("model", name);
    json.key("answers");
    json.begin_array();
    const detail::explanation_writer<Sink> writer(json, opened);
    for (const auto& answer : answers) {
        writer.write(answer);
    }
    json.end_array();
    json.end_object();
    json.finish();
}

} // namespace stemma

#endif // STEMMA_REPORT_EXPLANATION_HPP
