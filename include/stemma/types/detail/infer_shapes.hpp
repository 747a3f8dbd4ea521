// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TYPES_DETAIL_INFER_SHAPES_HPP
#define STEMMA_TYPES_DETAIL_INFER_SHAPES_HPP

#include <stemma/core/id.hpp>
#include <stemma/onnx/detail/node_attributes.hpp>
#include <stemma/onnx/detail/schema_changes.hpp>
#include <stemma/onnx/graph_contents.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/types/detail/body_formals.hpp>
#include <stemma/types/detail/body_rules.hpp>
#include <stemma/types/detail/extent_algebra.hpp>
#include <stemma/types/detail/fact_memo.hpp>
#include <stemma/types/detail/fact_table.hpp>
#include <stemma/types/detail/given_constant.hpp>
#include <stemma/types/detail/rank_demands.hpp>
#include <stemma/types/detail/rule_node.hpp>
#include <stemma/types/detail/shape_observer.hpp>
#include <stemma/types/detail/tensor_facts.hpp>
#include <stemma/types/detail/type_rules.hpp>
#include <stemma/types/value_types.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Infers the types of results of standard operators and of ONNX Runtime's fused ones from declared
/// types and small constants: element type, rank, and extents where these follow simply. Lazy: it
/// only visits nodes that requested values depend on. What a producer leaves open has the rank that
/// readers demand.
///  Never guesses: anything that depends on data, other domains or unknown opsets stays open.
/// Formal inputs of bodies count only as declared; functions are inferred call by call, and their
/// values have the facts on which all calls agree.
class shape_inference {
public:
    /// Requires: both outlive it.
    /// Complexity: O(values + nodes).
    shape_inference(const wire_model& model, value_types& types)
        : shape_inference(model, types, false) {}

    /// As above, but computes with named extents, and reports to an observer. `bound` gives values
    /// to names. Requires: all but `bound` outlive it.
    shape_inference(const wire_model& model, value_types& types,
                    const std::map<std::string, std::int64_t>& bound, shape_observer& observer)
        : shape_inference(model, types, true) {
        observer_ = &observer;
        bind_inputs(bound);
        observer.begin(table_);
        infer_all();
    }

    // Rules refer to its table.
    shape_inference(const shape_inference&) = delete;
    shape_inference& operator=(const shape_inference&) = delete;

    /// Returns: the algebra of the extents that an observer sees.
    [[nodiscard]] const extent_algebra& algebra() const { return table_.algebra(); }

    /// Infers the type of a value, if it has none and it can be inferred. Complexity: O(unvisited
    /// nodes that it depends on); all nodes for models with functions.
    void find(id value) {
        if (table_.opset() > last_known_opset || types_.type_of(value)) {
            return;
        }
        if (!model_.functions().empty()) {
            infer_all();
        } else if (const auto producer = model_.producer(value); producer != no_id) {
            infer_with_sources(producer);
        }
        add(value);
    }

    /// Visits all nodes, so that later `find`s are O(1).
    /// Complexity: O(nodes + values).
    void look_at_all() {
        if (table_.opset() <= last_known_opset) {
            infer_all();
        }
    }

    /// As `find` of all values.
    /// Complexity: O(nodes + values).
    void find_all() {
        if (table_.opset() > last_known_opset) {
            return;
        }
        infer_all();
        for (id value = 0; value < model_.value_count(); ++value) {
            add(value);
        }
    }

private:
    shape_inference(const wire_model& model, value_types& types, bool exact)
        : model_(model)
        , types_(types)
        , exact_(exact)
        , table_(model, types, exact)
        , contents_(model)
        , met_(model.node_count(), false) {
        for (id op = 0; op < model.operator_count(); ++op) {
            rules_.push_back(find_rule(model.operator_domain(op), model.operator_type(op)));
        }
    }

    /// Gives extents their bound values, and open ones of inputs a name after the input and the
    /// axis, `x.0`.
    void bind_inputs(const std::map<std::string, std::int64_t>& bound) {
        for (id value = 0; value < model_.value_count(); ++value) {
            auto facts = table_[value];
            const bool is_input = model_.kind(value) == value_kind::input;
            for (std::size_t i = 0; facts.ranked() && i < facts.rank(); ++i) {
                auto& extent = (*facts.dims)[i];
                if (extent == any_extent && is_input) {
                    const std::string name(model_.value_name(value));
                    extent = table_.algebra().named(name + "." + std::to_string(i));
                }
                if (extent < any_extent) {
                    const auto name = table_.names()[static_cast<id>(-2 - extent)];
                    const auto entry = bound.find(std::string(name));
                    extent = entry == bound.end() ? extent : entry->second;
                }
            }
            if (facts.dims != table_[value].dims) {
                table_.put(value, std::move(facts));
            }
        }
    }

    struct step {
        id node;
        bool listed; // whether its sources are on the stack
    };

    void add(id value) {
        const auto& facts = table_[value];
        if (facts.data_type != 0 && facts.ranked() && !model_.is_initializer(value) &&
            !types_.type_of(value)) {
            types_.add(value, table_.type_of(value));
        }
    }

    void infer_all() {
        if (std::exchange(all_inferred_, true)) {
            return;
        }
        for (auto node : contents_.nodes(0)) {
            infer_with_sources(node);
        }
        keep_common_facts();
    }

    /// Infers a node of the main graph or its bodies after its dependencies. In cycles, nodes are
    /// inferred from the facts known so far.
    void infer_with_sources(id node) {
        open_.push_back({node, false});
        while (!open_.empty()) {
            const auto top = open_.back();
            if (top.listed || met_[top.node]) {
                open_.pop_back();
                if (top.listed) {
                    infer_call_or_node(top.node);
                }
                continue;
            }
            met_[top.node] = true;
            open_.back().listed = true;
            for_each_source(top.node, [&](id source) {
                if (!met_[source]) {
                    open_.push_back({source, false});
                }
            });
        }
    }

    /// Calls `f(producer)` for the producers of inputs and of body results.
    template <class Function>
    void for_each_source(id node, Function f) const {
        const auto follow = [&](id value) {
            if (value != no_id && model_.producer(value) != no_id) {
                f(model_.producer(value));
            }
        };
        const auto inputs = model_.inputs(node);
        std::for_each(inputs.begin(), inputs.end(), follow);
        if (exact_ && model_.owner(node) != no_id) { // formals depend on the owner's inputs
            const auto given = model_.inputs(model_.owner(node));
            std::for_each(given.begin(), given.end(), follow);
        }
        for (auto g : contents_.bodies_of(node)) {
            const auto& outputs = model_.graph(g).outputs;
            std::for_each(outputs.begin(), outputs.end(), follow);
        }
    }

    void infer_call_or_node(id node) {
        if (exact_) {
            formals_.settle(model_.graph_of(node), table_);
        }
        if (const auto f = model_.callee(node); f != no_id) {
            infer_call(node, model_.functions()[f].graph);
        } else {
            infer(node);
        }
        observer_->see(node);
    }

    void infer_function(id g) {
        for (auto body : contents_.bodies(g)) {
            formals_.forget(body);
        }
        for (auto node : contents_.nodes(g)) {
            const auto* rule = rules_[model_.operator_id(node)];
            const node_attributes attributes(model_, node);
            if (rule != nullptr && rule->infer == rules::constant && attributes.has_reference()) {
                table_.set(node, 0, given_constant(model_, node, open_calls_));
                observer_->see(node);
                continue;
            }
            if (model_.callee(node) != no_id || !attributes.has_reference() ||
                (exact_ && keeps_extents(attributes))) {
                infer_call_or_node(node);
                continue;
            }
            if (rule != nullptr && rule->keeps_rank) {
                infer(node);
                forget_extents(node);
            }
            observer_->see(node);
        }
    }

    /// Infers the body of a function for one call. In the end, values in the body have the facts on
    /// which all calls agree.
    void infer_call(id call, id g) {
        const auto& function = model_.graph(g);
        if (effort_ > std::max(8 * std::size_t{model_.node_count()}, usual_effort) ||
            calls_[g].open || open_calls_.size() == max_open_calls) {
            return; // exponential nesting of calls, or recursion
        }
        calls_[g].open = true;
        open_calls_.push_back(call);
        effort_ += effort_of(g);
        for_each_value(g, [&](id value) { table_.put(value, {}); });
        for (std::size_t i = 0; i < function.inputs.size(); ++i) {
            if (function.inputs[i] != no_id) {
                table_.put(function.inputs[i], table_.input(call, i));
                const auto given = model_.inputs(call);
                table_.give(function.inputs[i], i < given.size() ? given[i] : no_id);
            }
        }
        const auto results =
            std::min<std::size_t>(function.outputs.size(), model_.output_count(call));
        for (id i = 0; i < results; ++i) {
            if (function.outputs[i] != no_id) { // what the call declares
                table_.add(function.outputs[i], table_[model_.first_output(call) + i]);
            }
        }
        observer_->enter(call);
        infer_function(g);
        for (std::size_t i = 0; i < function.outputs.size(); ++i) {
            if (function.outputs[i] != no_id) {
                table_.set(call, i, table_[function.outputs[i]]);
            }
        }
        auto& common = calls_[g].common;
        std::size_t at = 0;
        const bool first = common.empty();
        for_each_value(g, [&](id value) {
            if (first) {
                common.emplace_back(value, table_[value]);
            } else {
                keep_common(common[at++].second, table_[value]);
            }
        });
        calls_[g].open = false;
        open_calls_.pop_back();
        observer_->leave(call);
    }

    /// Returns: how long a function takes, in nodes; long attributes count as many.
    [[nodiscard]] std::size_t effort_of(id g) {
        auto& effort = calls_[g].effort;
        if (effort == 0) {
            constexpr std::uint32_t usual = 256;      // bytes of a node
            constexpr std::uint32_t most = 1U << 19U; // the rest is usually data
            effort = 1 + model_.graph(g).inputs.size() + model_.graph(g).outputs.size();
            for (auto node : contents_.nodes(g)) {
                effort += 1 + (std::clamp(model_.message(node).size, usual, most) - usual) / 16;
            }
        }
        return effort;
    }

    /// Calls `f(value)` for all values defined in a function and its bodies.
    template <class Function>
    void for_each_value(id g, Function f) const {
        const auto formals = [&](id graph) {
            for (auto value : model_.graph(graph).inputs) {
                if (value != no_id) {
                    f(value);
                }
            }
        };
        formals(g);
        for (auto body : contents_.bodies(g)) {
            formals(body);
        }
        for (auto node : contents_.nodes(g)) {
            for (id i = 0; i < model_.output_count(node); ++i) {
                f(model_.first_output(node) + i);
            }
        }
    }

    void keep_common_facts() {
        for (auto& [g, call] : calls_) {
            for (auto& [value, facts] : call.common) {
                table_.put(value, std::move(facts));
            }
        }
    }

    void forget_extents(id node) {
        for (id i = 0; i < model_.output_count(node); ++i) {
            auto facts = table_[model_.first_output(node) + i];
            facts.numbers.reset();
            if (facts.ranked()) {
                facts.dims->assign(facts.rank(), any_extent);
            }
            table_.put(model_.first_output(node) + i, std::move(facts));
        }
    }

    /// Body results are inferred before their owner, as their nodes are among its sources.
    void infer(id node) {
        if (!exact_ && table_.opset_of(node) > last_known_opset) {
            return; // in a function
        }
        const auto op = model_.operator_id(node);
        const auto bodies = contents_.bodies_of(node);
        if (!bodies.empty()) {
            infer_owner(node, bodies);
        } else if (rules_[op] != nullptr) {
            memo_.infer(node, [&] { rules_[op]->infer({table_, node}); });
        }
        for (id i = 0; i < model_.output_count(node); ++i) {
            const auto value = model_.first_output(node) + i;
            const auto rank = table_[value].ranked() ? std::nullopt : demands_.of(value);
            if (rank) {
                table_.add(value, made(0, extents(*rank, any_extent)));
            }
        }
    }

    void infer_owner(id node, std::span<const id> bodies) {
        if (exact_) {
            formals_.keep_states(node, bodies, table_);
        }
        if (model_.domain(node).empty()) {
            for (const auto& rule : body_rules) {
                if (rule.op_type == model_.op_type(node)) {
                    rule.infer({table_, node, bodies});
                }
            }
        }
    }

    // Deeper than any modules nest; bounds stack use.
    static constexpr std::size_t max_open_calls = 200;
    // More than models that call functions many times need; a few seconds.
    static constexpr std::size_t usual_effort = 4'000'000;

    struct function_calls {
        std::vector<std::pair<id, tensor_facts>> common; // by value: what all calls agree on
        std::size_t effort = 0;                          // 0 until needed
        bool open = false;
    };

    const wire_model& model_;
    value_types& types_;
    bool exact_; // if there is an observer
    fact_table table_;
    fact_memo memo_{table_};
    rank_demands demands_{model_, table_};
    graph_contents contents_;
    std::vector<const type_rule*> rules_; // by operator; null where there is none
    std::vector<bool> met_;               // by node: inferred or in progress
    std::vector<step> open_;              // of `infer_with_sources`, kept to reuse its memory
    bool all_inferred_ = false;
    std::map<id, function_calls> calls_; // by graph of a function
    std::size_t effort_ = 0;             // of function bodies, summed over calls
    std::vector<id> open_calls_;         // the outermost first
    body_formals formals_{model_};
    shape_observer nobody_;
    shape_observer* observer_ = &nobody_;
};

/// Infers the types of all values, see `shape_inference`.
/// Complexity: O(nodes + values).
inline void infer_shapes(const wire_model& model, value_types& types) {
    shape_inference(model, types).find_all();
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_TYPES_DETAIL_INFER_SHAPES_HPP
