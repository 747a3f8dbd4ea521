// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_COMPARE_DETAIL_CHANGED_READS_HPP
#define STEMMA_COMPARE_DETAIL_CHANGED_READS_HPP

#include <stemma/compare/detail/compared_model.hpp>
#include <stemma/compare/detail/node_match.hpp>
#include <stemma/compare/detail/paired_graphs.hpp>
#include <stemma/core/id.hpp>
#include <stemma/onnx/detail/flat_graph.hpp>
#include <stemma/onnx/onnx_model.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// A reader with a changed input, or an owner with a changed result of a body.
struct changed_read {
    id reader = no_id; ///< of the first model; `no_id`: a result of the model or a function
    id before = no_id; ///< the producer in the first model; `no_id`: an input or constant
    id after = no_id;  ///< the producer in the second model, likewise
};

/// Finds partners that read something else.
class read_comparer {
public:
    /// Requires: all outlive this.
    read_comparer(const compared_model& a, const compared_model& b, const node_match& match,
                  const paired_graphs& graphs)
        : a_(a), b_(b), match_(match), graphs_(graphs), from_a_(a.model()), from_b_(b.model()) {
        input_partner_.assign(a.model().value_count(), no_id);
        for (const auto& [x, y] :
             pair_interface(a.model(), b.model(), &onnx_model::graph_record::inputs)) {
            input_partner_[x] = y;
        }
    }

    /// Returns: the changed reads by reader, then changed results of graphs.
    [[nodiscard]] std::vector<changed_read> run() {
        for (id v = 0; v < match_.to_second.size(); ++v) {
            if (match_.to_second[v] == no_id) {
                continue;
            }
            const auto from = a_.model().inputs(v);
            const auto to = b_.model().inputs(match_.to_second[v]);
            for (std::size_t i = 0; i < std::min(from.size(), to.size()); ++i) {
                compare(v, from[i], to[i], false);
            }
        }
        graphs_.for_each_result([&](id owner, id x, id y) { compare(owner, x, y, true); });
        return std::move(reads_);
    }

private:
    /// Where the formal inputs of a model's graphs come from.
    struct formals {
        explicit formals(const onnx_model& model)
            : initial(initial_values(model)), index(model.value_count(), no_id) {
            for (id g = 1; g < model.graph_count(); ++g) {
                const auto& inputs = model.graph(g).inputs;
                for (id i = 0; i < inputs.size(); ++i) {
                    index[inputs[i]] = i;
                }
            }
        }

        /// Returns: the value that a value of a body starts as; for any other, itself.
        [[nodiscard]] id origin(id value) const {
            while (!initial.empty() && initial[value] != no_id) {
                value = initial[value];
            }
            return value;
        }

        std::vector<id> initial; // see `initial_values`
        std::vector<id> index;   // by value: its number among the inputs of its graph
    };

    void compare(id reader, id x, id y, bool is_result) {
        // Whether an input is present is a property of the node.
        if (x == no_id || y == no_id || are_same_formal(x, y)) {
            return;
        }
        x = from_a_.origin(x);
        y = from_b_.origin(y);
        const bool is_fixed = a_.constant_of(x) != no_id;
        const bool stays_fixed = b_.constant_of(y) != no_id;
        const auto before = is_fixed ? no_id : a_.model().producer(x);
        const auto after = stays_fixed ? no_id : b_.model().producer(y);
        // Nodes without partners are reported themselves, constants with the nodes that read them.
        if ((before == no_id || match_.to_second[before] != no_id) &&
            (after == no_id || match_.to_first[after] != no_id) &&
            (is_fixed || stays_fixed ? is_result && constants_differ(x, y) : differ(x, y))) {
            reads_.push_back({reader, before, after});
        }
    }

    /// Whether only one of two results is a constant, or both are that are not compared as weights.
    [[nodiscard]] bool constants_differ(id x, id y) const {
        const auto from = a_.constant_of(x);
        const auto to = b_.constant_of(y);
        if (from == no_id || to == no_id) {
            return true;
        }
        const auto& before = a_.constants()[from];
        const auto& after = b_.constants()[to];
        return before.is_weight ? !after.is_weight : before.print != after.print;
    }

    /// Whether two values are the same input of corresponding bodies or functions. What their
    /// owners pass on is compared there.
    [[nodiscard]] bool are_same_formal(id x, id y) const {
        if (from_a_.index[x] == no_id || from_a_.index[x] != from_b_.index[y]) {
            return false;
        }
        const auto g = a_.model().graph_of_value(x);
        return graphs_[g] == no_id || graphs_[g] == b_.model().graph_of_value(y) ||
               a_.model().graph(g).kind != graph_kind::body;
    }

    [[nodiscard]] bool differ(id x, id y) const {
        const auto before = a_.model().producer(x);
        const auto after = b_.model().producer(y);
        if (before != no_id && after != no_id) {
            return match_.to_second[before] != after ||
                   x - a_.model().first_output(before) != y - b_.model().first_output(after);
        }
        // A function may be inlined in one of the models.
        if (!is_known(a_.model(), x) || !is_known(b_.model(), y) ||
            is_of_function(a_.model(), x) != is_of_function(b_.model(), y)) {
            return false;
        }
        return a_.model().kind(x) != value_kind::input || input_partner_[x] != y;
    }

    [[nodiscard]] static bool is_known(const onnx_model& model, id value) {
        return model.kind(value) != value_kind::undefined && !model.is_initializer(value);
    }

    [[nodiscard]] static bool is_of_function(const onnx_model& model, id value) {
        return model.graph(model.outermost(model.graph_of_value(value))).kind ==
               graph_kind::function;
    }

    const compared_model& a_;
    const compared_model& b_;
    const node_match& match_;
    const paired_graphs& graphs_;
    formals from_a_;
    formals from_b_;
    std::vector<id> input_partner_; // by value of the first model: input of the second one
    std::vector<changed_read> reads_;
};

/// Returns: what partners read, and what graphs have as results, that is not the same in the second
/// model. Inputs of the model correspond by name, others in their order, and so do outputs.
/// Complexity: O((nodes + values) log values).
[[nodiscard]] inline std::vector<changed_read> find_changed_reads(const compared_model& a,
                                                                  const compared_model& b,
                                                                  const node_match& match,
                                                                  const paired_graphs& graphs) {
    return read_comparer(a, b, match, graphs).run();
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_COMPARE_DETAIL_CHANGED_READS_HPP
