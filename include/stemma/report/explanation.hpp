// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_REPORT_EXPLANATION_HPP
#define STEMMA_REPORT_EXPLANATION_HPP

#include <stemma/core/detail/grouped_ids.hpp>
#include <stemma/core/detail/id_set_pool.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/ids.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/module_lookup.hpp>
#include <stemma/onnx/detail/value_readers.hpp>
#include <stemma/onnx/value_definitions.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma/record/detail/value_tags.hpp>
#include <stemma/record/sidecar.hpp>
#include <stemma/report/detail/read_position.hpp>
#include <stemma/report/module_explanation.hpp>
#include <stemma/types/described_attribute.hpp>
#include <stemma/types/value_descriptions.hpp>
#include <stemma/weights/parameter_origin.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// The answer about a name.
struct explanation {
    /// The relation of a claim to the decision.
    enum class claim_relation : std::uint8_t {
        decided,   ///< it names the same module
        agrees,    ///< it is not exact, and names an ancestor or descendant
        disagrees, ///< it names another module
    };

    /// A claim about a node, with its relation to the decision.
    struct made_claim {
        claim made;                                        ///< source, module, confidence
        claim_relation relation = claim_relation::decided; ///< to the decision
    };

    /// A value with the node at its other end.
    struct neighbour {
        id value = no_id; ///< the value
        id node = no_id;  ///< its producer or reader; `no_id` without a producer
        std::string type; ///< `float32[1,seq,32]`; "" where unknown
    };

    /// An explanation of a value: its modules, producer and readers.
    struct of_value {
        id value = no_id;        ///< by number
        std::vector<id> tags;    ///< modules of its tags
        id producer = no_id;     ///< the producer, or `no_id`
        std::vector<id> readers; ///< nodes, with multiplicity
        std::string type;        ///< `float32[1,seq,32]`; "" where unknown
        std::optional<module_explanation::placed_weight> weight; ///< if requested and it is one
        std::optional<parameter_origin> origin{};                ///< of an initializer, if added
    };

    /// An explanation of a node: its module, with the evidence.
    struct of_node {
        id node = no_id;                             ///< by vertex index
        id module = 0;                               ///< the deepest known module
        id selected = 0;                             ///< the module of the primary tag
        std::string tag;                             ///< the primary tag
        std::vector<id> tags;                        ///< modules of all tags
        provenance source = provenance::root;        ///< the deciding evidence
        float confidence = 0;                        ///< 0 to 1
        id call = no_id;                             ///< of a module that is called several times
        bool conflict = false;                       ///< whether claims disagree
        std::vector<id> callers;                     ///< callers of its module
        std::vector<described_attribute> attributes; ///< in the order of the file
        std::vector<made_claim> claims;              ///< of all sources
        id chain = no_id;                            ///< of frames, of `attributed_model::lines`
        std::vector<neighbour> inputs;               ///< with their producers
        std::vector<of_value> outputs;               ///< the values it produces
    };

    /// A parameter or buffer declared by the module tree.
    struct of_parameter {
        id module = 0;          ///< its owner
        std::size_t number = 0; ///< among its parameters, or its buffers
        bool buffer = false;    ///< whether it is a buffer
    };

    /// A local function of the file.
    struct of_function {
        id function = 0;       ///< number in `onnx_model::functions`
        std::vector<id> calls; ///< nodes
    };

    std::string asked;                       ///< the question
    std::vector<of_node> nodes;              ///< with this name
    std::vector<of_value> values;            ///< with this name
    std::vector<module_explanation> modules; ///< with this path, alias or tag
    std::vector<of_parameter> parameters;    ///< with this path
    std::vector<of_function> functions;      ///< `name`, `domain::name` or `domain::name:overload`

    /// Whether nothing has this name.
    [[nodiscard]] bool empty() const noexcept {
        return nodes.empty() && values.empty() && modules.empty() && parameters.empty() &&
               functions.empty();
    }
};

/// Answers questions about an open model; not thread-safe. Requires: the model outlives this, and
/// keeps its evidence.
class explainer {
public:
    /// Complexity: that of `find_value_tags`.
    explicit explainer(const attributed_model& opened)
        : opened_(opened)
        , readers_(detail::value_readers(opened.model()))
        , value_tags_(detail::find_value_tags(opened.model(), opened.modules(), opened.tags()))
        , describe_(opened.model(), value_descriptions::inferring::asked) {}

    /// Returns: the model that it explains.
    [[nodiscard]] const attributed_model& model() const noexcept { return opened_; }

    /// Returns: the nodes given by `text`: `#7` and `5/body#2` by position, else by name.
    /// Complexity: O(nodes).
    [[nodiscard]] std::vector<id> nodes_called(std::string_view text) const {
        const auto& model = opened_.model();
        std::vector<id> nodes;
        const auto position = detail::read_position(text);
        for (id node = 0; node < model.node_count(); ++node) {
            const bool by_position = position && model.position(node) == position->index &&
                                     model.graph_path(model.graph_of(node)) == position->graph;
            if (by_position || (!text.empty() && model.name(node) == text)) {
                nodes.push_back(node);
            }
        }
        return nodes;
    }

    /// Returns: the values with a name, or made from the entry of that name, if origins were added.
    /// Complexity: O(values).
    [[nodiscard]] std::vector<id> values_called(std::string_view text) const {
        std::vector<id> values;
        for (id value = 0; value < opened_.model().value_count() && !text.empty(); ++value) {
            const auto made = origins_.find(value);
            if (opened_.model().value_name(value) == text ||
                (made != origins_.end() && detail::range::contains(made->second.entries, text))) {
                values.push_back(value);
            }
        }
        return values;
    }

    /// Returns: the modules with a path, alias or tag; the root is `''` or "".
    /// Complexity: O(modules + aliases + length of tags).
    [[nodiscard]] std::vector<id> modules_called(std::string_view text) const {
        const auto& modules = opened_.modules();
        const auto& tags = opened_.tags().tags;
        const auto of_path = text.empty() || text == "''"
                                 ? id{0}
                                 : find_module(module_lookup<module_tree>(modules), text);
        std::vector<id> result;
        if (of_path != no_id) {
            result.push_back(of_path);
        }
        for (const auto& alias : modules.aliases()) {
            if (alias.path == text && alias.module != no_id && alias.module != of_path) {
                result.push_back(alias.module);
            }
        }
        for (id m = 0; m < modules.size() && text.starts_with('/'); ++m) {
            if (m != of_path && tags.is_selected(m) && tags.text(m) == text) {
                result.push_back(m);
            }
        }
        return result;
    }

    /// Returns: the explanation of a node. Complexity: O(claims about it + readers).
    [[nodiscard]] explanation::of_node explain_node(index_arg<node_id> node) const {
        const auto& model = opened_.model();
        const auto& tagged = opened_.tags();
        const auto& made = tagged.attributions[node];
        explanation::of_node result;
        result.node = node;
        result.module = made.module;
        result.selected = tagged.selected(node);
        result.tag = tagged.tags.text(made.module);
        result.tags = members(tagged.tag_sets[node]);
        result.source = made.source;
        result.confidence = made.confidence;
        result.call = made.call;
        result.conflict = made.conflict;
        result.chain = opened_.lines().chain_of(node);
        for (auto caller : tagged.callers.of(node)) {
            result.callers.push_back(caller);
        }
        for (const auto& one : opened_.claims_about(node)) {
            const bool related =
                opened_.modules().index().are_related(one.module, made.module) && !one.exact;
            result.claims.push_back({one, one.module == made.module
                                              ? explanation::claim_relation::decided
                                          : related ? explanation::claim_relation::agrees
                                                    : explanation::claim_relation::disagrees});
        }
        for (auto value : model.inputs(node)) {
            if (value != no_id) {
                result.inputs.push_back(
                    {value, model.producer(value), describe_(value).type_and_shape()});
            }
        }
        result.attributes = describe_attributes(model, node);
        for (id i = 0; i < model.output_count(node); ++i) {
            const auto value = model.first_output(node) + i;
            if (!model.value_name(value).empty()) {
                result.outputs.push_back(explain_value(value));
            }
        }
        return result;
    }

    /// Returns: the explanation of a value. Complexity: O(its readers), and that of inferring its
    /// type.
    [[nodiscard]] explanation::of_value explain_value(index_arg<value_id> value) const {
        const auto readers = readers_[value];
        return {value,
                members(value_tags_.sets[value]),
                opened_.model().producer(value),
                {readers.begin(), readers.end()},
                describe_(value).type_and_shape(),
                std::nullopt};
    }

    /// Returns: the explanation of a module. Complexity: that of `module_explainer`, the first
    /// time; then of its `explain`.
    [[nodiscard]] module_explanation explain_module(index_arg<module_id> m) const {
        return of_modules().explain(m);
    }

    /// Nodes, parameters and operators of all modules. Complexity: as above.
    [[nodiscard]] const module_statistics& counts() const { return of_modules().counts(); }

    /// Adds the origins of initializers in a `state_dict`.
    /// Complexity: O(initializers).
    void add_origins(std::span<const parameter_origin> origins) {
        for (const auto& origin : origins) {
            if (origin.basis != parameter_origin::basis_kind::none) {
                origins_.insert_or_assign(opened_.model().tensors()[origin.tensor].value, origin);
            }
        }
    }

    /// Returns: the explanations of everything with a name, or of the node at a position.
    /// Complexity: O(nodes + values + parameters), and that of the explanations.
    [[nodiscard]] explanation explain(std::string_view asked) const {
        explanation result{std::string(asked), {}, {}, {}, {}, {}};
        for (auto node : nodes_called(asked)) {
            result.nodes.push_back(explain_node(node));
        }
        for (auto value : values_called(asked)) {
            result.values.push_back(explain_weight(value));
        }
        for (auto m : asked.empty() ? std::vector<id>() : modules_called(asked)) {
            result.modules.push_back(explain_module(m));
        }
        find_parameters(asked, result);
        find_functions(asked, result);
        return result;
    }

    /// Returns: the explanation of one node, asked for by its position. Complexity: that of
    /// `explain_node`.
    [[nodiscard]] explanation explain(index_arg<node_id> node) const {
        return {position_text(opened_.model(), node), {explain_node(node)}, {}, {}, {}, {}};
    }

    /// The same of a value. Complexity: that of `explain_value`.
    [[nodiscard]] explanation explain(index_arg<value_id> value) const {
        return {std::string(opened_.model().value_name(value)),
                {},
                {explain_weight(value)},
                {},
                {},
                {}};
    }

    /// The same of a module. Complexity: that of `explain_module`.
    [[nodiscard]] explanation explain(index_arg<module_id> m) const {
        return {opened_.modules().path(m), {}, {}, {explain_module(m)}, {}, {}};
    }

private:
    [[nodiscard]] explanation::of_value explain_weight(id value) const {
        auto result = explain_value(value);
        result.weight = of_modules().weight_of(value);
        if (const auto known = origins_.find(value); known != origins_.end()) {
            result.origin = known->second;
        }
        return result;
    }

    void find_parameters(std::string_view asked, explanation& result) const {
        const auto& modules = opened_.modules();
        const auto dot = asked.rfind('.');
        const auto owner = dot == asked.npos ? id{0}
                                             : find_module(module_lookup<module_tree>(modules),
                                                           asked.substr(0, dot));
        const auto name = dot == asked.npos ? asked : asked.substr(dot + 1);
        if (owner == no_id || name.empty()) {
            return;
        }
        for (std::size_t i = 0; i < modules.parameter_count(owner); ++i) {
            if (modules.parameter(owner, i).name == name) {
                result.parameters.push_back({owner, i, false});
            }
        }
        for (std::size_t i = 0; i < modules.buffer_count(owner); ++i) {
            if (modules.buffer(owner, i).name == name) {
                result.parameters.push_back({owner, i, true});
            }
        }
    }

    void find_functions(std::string_view asked, explanation& result) const {
        const auto& model = opened_.model();
        for (id f = 0; f < model.functions().size() && !asked.empty(); ++f) {
            const auto& function = model.functions()[f];
            const auto path = model.graph_path(function.graph); // @domain::name:overload
            const std::string_view whole = path;
            const auto overload = model.text(function.overload);
            const auto plain =
                whole.substr(1, whole.size() - 1 - (overload.empty() ? 0 : overload.size() + 1));
            if (asked == whole || asked == whole.substr(1) || asked == plain ||
                asked == model.text(function.name)) {
                explanation::of_function explanation{f, {}};
                for (id node = 0; node < model.node_count(); ++node) {
                    if (model.callee(node) == f) {
                        explanation.calls.push_back(node);
                    }
                }
                result.functions.push_back(std::move(explanation));
            }
        }
    }

    [[nodiscard]] detail::module_explainer& of_modules() const {
        if (!of_modules_) {
            of_modules_.emplace(opened_, describe_);
        }
        return *of_modules_;
    }

    [[nodiscard]] std::vector<id> members(detail::id_set set) const {
        std::vector<id> modules;
        value_tags_.pool.for_each(set, [&](id m) { modules.push_back(m); });
        return modules;
    }

    const attributed_model& opened_;
    detail::grouped_ids readers_;
    detail::value_tags value_tags_;
    value_descriptions describe_;
    std::unordered_map<id, parameter_origin> origins_;           // by value
    mutable std::optional<detail::module_explainer> of_modules_; // on demand
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_REPORT_EXPLANATION_HPP
