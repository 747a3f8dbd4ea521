// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_REPORT_MODULE_EXPLANATION_HPP
#define STEMMA_REPORT_MODULE_EXPLANATION_HPP

#include <stemma/core/detail/grouped_ids.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/sweep_order.hpp>
#include <stemma/cut/detail/convex_runs.hpp>
#include <stemma/cut/detail/find_reentry.hpp>
#include <stemma/cut/detail/order_stretch.hpp>
#include <stemma/cut/detail/vertex_set.hpp>
#include <stemma/model/detail/module_members.hpp>
#include <stemma/onnx/detail/find_weights.hpp>
#include <stemma/onnx/detail/graph_calls.hpp>
#include <stemma/onnx/detail/operator_dependence.hpp>
#include <stemma/onnx/detail/value_readers.hpp>
#include <stemma/onnx/detail/weight_places.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma/query/alike_modules.hpp>
#include <stemma/record/module_statistics.hpp>
#include <stemma/types/value_descriptions.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// An explanation of a module.
struct module_explanation {
    /// A value that crosses the boundary of a module.
    struct crossing {
        id value = no_id;        ///< by number
        std::string type;        ///< `float32[1,seq,32]`; "" where unknown
        std::vector<id> modules; ///< deepest modules of the nodes on the other side, ascending
        bool of_model = false;   ///< whether it is an input or output of the model
    };

    /// A stored weight of a module.
    struct placed_weight {
        detail::stored_weight weight; ///< with its size
        std::string type;             ///< `float32[64,32]`
        id module = 0;                ///< its module, in or below the explained one
    };

    /// Why a module is not convex.
    struct way_back {
        std::vector<id> nodes;    ///< the path: last inside, those outside, first inside again
        std::size_t runs = 1;     ///< number of convex parts
        std::size_t absorbed = 0; ///< nodes outside that would have to be included
    };

    id module = 0;                      ///< which
    std::vector<std::string> aliases;   ///< its other paths
    std::vector<crossing> inputs;       ///< inputs, without weights
    std::vector<crossing> outputs;      ///< outputs
    std::vector<placed_weight> weights; ///< in and below it
    std::vector<id> alike;              ///< other modules like it, see `alike_modules`
    std::optional<way_back> reentry;    ///< nothing if convex
};

namespace detail {

/// Explains the modules of a model. Requires: the model outlives this, and keeps its evidence.
class module_explainer {
public:
    /// Complexity: that of `collect_statistics`.
    module_explainer(const attributed_model& opened, const value_descriptions& describe)
        : opened_(&opened)
        , describe_(&describe)
        , weights_(find_weights(opened.model()))
        , places_(place_weights(opened.model(), opened.modules(), opened.tags(), weights_))
        , counts_(collect_statistics(opened.model(), opened.modules(), opened.tags(), weights_,
                                     places_.module))
        , members_(opened.modules().index(), opened.tags().attributions)
        , alike_(opened.model(), opened.modules(), opened.tags().attributions)
        , readers_(value_readers(opened.model()))
        , calls_(opened.model())
        , apart_(opened.model().node_count())
        , constant_(opened.model().value_count()) {
        const auto& model = opened.model();
        const auto dependences = find_dependence(model, find_random_operators(model));
        for (id node = 0; node < model.node_count(); ++node) {
            apart_[node] = dependences[node] <= dependence::weight;
        }
        for (id value = 0; value < model.value_count(); ++value) {
            const auto producer = model.producer(value);
            constant_[value] =
                model.is_initializer(value) || (producer != no_id && apart_[producer]);
        }
        calls_.add_passed_on(constant_);
    }

    /// Nodes, parameters and operators of all modules.
    [[nodiscard]] const module_statistics& counts() const noexcept { return counts_; }

    /// Returns: the weight of a value with its module; null if it is not a weight.
    /// Complexity: O(weights).
    [[nodiscard]] std::optional<module_explanation::placed_weight> weight_of(id value) const {
        const auto weight =
            range::find_if(weights_, [&](const auto& one) { return one.value == value; });
        return weight == weights_.end()
                   ? std::nullopt
                   : std::optional(described(static_cast<std::size_t>(weight - weights_.begin())));
    }

    /// Returns: the explanation of a module.
    /// Complexity: O(nodes in it * log nodes + readers of them + weights + modules), and of the
    /// graph if it is not contiguous.
    [[nodiscard]] module_explanation explain(id m) {
        module_explanation explanation;
        explanation.module = m;
        for (const auto alias : opened_->modules().aliases_of(m)) {
            explanation.aliases.push_back(opened_->modules().aliases()[alias].path);
        }
        const auto nodes = members_.all(m);
        find_boundary_of(m, nodes, explanation);
        for (std::size_t w = 0; w < weights_.size(); ++w) {
            if (holds(m, places_.module[w])) {
                explanation.weights.push_back(described(w));
            }
        }
        if (!nodes.empty()) {
            explanation.alike = alike_.like(m);
        }
        explanation.reentry = find_way_back(nodes);
        return explanation;
    }

private:
    [[nodiscard]] bool holds(id m, id below) const {
        return below >= m && below < opened_->modules().index().end(m);
    }

    [[nodiscard]] id module_of(id node) const { return opened_->tags().attributions[node].module; }

    [[nodiscard]] module_explanation::placed_weight described(std::size_t w) const {
        return {weights_[w], (*describe_)(weights_[w].value).type_and_shape(), places_.module[w]};
    }

    void find_boundary_of(id m, const std::vector<id>& nodes,
                          module_explanation& explanation) const {
        const auto& model = opened_->model();
        std::set<id> met;
        for (auto node : nodes) {
            for (auto value : model.inputs(node)) {
                if (value != no_id && !apart_[node] && !constant_[value] &&
                    met.insert(value).second) {
                    add_input(m, value, explanation);
                }
            }
            for (id i = 0; i < model.output_count(node) && !apart_[node]; ++i) {
                add_output(m, model.first_output(node) + i, explanation);
            }
        }
    }

    void add_input(id m, id value, module_explanation& explanation) const {
        const auto& model = opened_->model();
        const auto kind = model.kind(value);
        module_explanation::crossing in{value, {}, {}, kind == value_kind::input};
        if (kind == value_kind::result) {
            add_outside(m, model.producer(value), in);
        }
        calls_.for_each_way_in(value, [&](id node, id) { add_outside(m, node, in); });
        if (in.of_model || kind == value_kind::undefined || !in.modules.empty()) {
            add(std::move(in), explanation.inputs);
        }
    }

    void add_output(id m, id value, module_explanation& explanation) const {
        module_explanation::crossing out{value, {}, {}, calls_.is_result(value)};
        for (auto reader : readers_[value]) {
            add_outside(m, reader, out);
        }
        calls_.for_each_way_out(value, [&](id node) { add_outside(m, node, out); });
        if (out.of_model || !out.modules.empty()) {
            add(std::move(out), explanation.outputs);
        }
    }

    /// Adds the module of a node to those on the other side, if it is one of them.
    void add_outside(id m, id node, module_explanation::crossing& crossing) const {
        if (const auto other = module_of(node); !holds(m, other)) {
            crossing.modules.push_back(other);
        }
    }

    void add(module_explanation::crossing crossing,
             std::vector<module_explanation::crossing>& all) const {
        auto& modules = crossing.modules;
        modules = detail::range::each_once(std::move(modules));
        crossing.type = (*describe_)(crossing.value).type_and_shape();
        all.push_back(std::move(crossing));
    }

    [[nodiscard]] std::optional<module_explanation::way_back>
    find_way_back(const std::vector<id>& nodes) {
        const auto& graph = opened_->operators().graph();
        if (!order_) {
            order_.emplace();
            const sweep_order<operator_graph> sweep(graph);
            if (!sweep.has_cycle()) {
                rank_.resize(num_vertices(graph));
                sweep.forward([&](id v) {
                    rank_[v] = static_cast<id>(order_->size());
                    order_->push_back(v);
                });
            }
        }
        vertex_set set(num_vertices(graph));
        set.apart = apart_;
        std::vector<id> counted;
        for (auto node : nodes) {
            set.inside[node] = true;
            if (!apart_[node]) {
                counted.push_back(node);
            }
        }
        if (counted.empty() || order_->empty()) {
            return std::nullopt;
        }
        const order_stretch<operator_graph> stretch(graph, *order_, rank_, counted);
        module_explanation::way_back result;
        for (auto v : find_reentry(graph, set, stretch)) {
            result.nodes.push_back(static_cast<id>(v));
        }
        if (result.nodes.empty()) {
            return std::nullopt;
        }
        const auto runs = convex_runs(graph, set, stretch);
        for (auto run : runs) {
            result.runs = std::max<std::size_t>(result.runs, run == no_id ? 0 : run + 1U);
        }
        result.absorbed = count_between(set, stretch);
        return result;
    }

    /// Returns: the number of outside vertices on paths between members.
    [[nodiscard]] std::size_t count_between(const vertex_set& set,
                                            const order_stretch<operator_graph>& stretch) const {
        const auto& graph = opened_->operators().graph();
        const auto all = stretch.vertices();
        std::vector<bool> behind(all.size());
        std::vector<bool> before(all.size());
        for (std::size_t at = 0; at < all.size(); ++at) {
            for (auto [it, last] = in_edges(all[at], graph); it != last && !set.apart[all[at]];
                 ++it) {
                const auto from = stretch.place(source(*it, graph));
                behind[at] =
                    behind[at] || (from < at && (set.is_inside(all[from]) || behind[from]));
            }
        }
        std::size_t count = 0;
        for (auto at = all.size(); at-- > 0;) {
            for (auto [it, last] = out_edges(all[at], graph); it != last && !set.apart[all[at]];
                 ++it) {
                const auto to = stretch.place(target(*it, graph));
                before[at] =
                    before[at] || (to < all.size() && (set.is_inside(all[to]) || before[to]));
            }
            count += set.is_outside(all[at]) && behind[at] && before[at] ? 1U : 0U;
        }
        return count;
    }

    const attributed_model* opened_;
    const value_descriptions* describe_;
    std::vector<stored_weight> weights_;
    weight_places places_;
    module_statistics counts_;
    module_members members_;
    alike_modules alike_;
    grouped_ids readers_;
    graph_calls calls_;
    std::vector<bool> apart_;              // by node: copied to every reader
    std::vector<bool> constant_;           // by value: weights, and what is made from them
    std::optional<std::vector<id>> order_; // producers first; empty if cyclic
    std::vector<id> rank_;                 // by node: place in the order
};

} // namespace detail

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_REPORT_MODULE_EXPLANATION_HPP
