// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_COMPARE_DETAIL_CHANGED_READS_HPP
#define STEMMA_COMPARE_DETAIL_CHANGED_READS_HPP

#include <stemma/compare/detail/compared_model.hpp>
#include <stemma/compare/detail/pair_interface.hpp>
#include <stemma/compare/node_match.hpp>
#include <stemma/core/id.hpp>
#include <stemma/onnx/detail/flat_graph.hpp>
#include <stemma/onnx/onnx_model.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// A reader with a changed input, or an owner with a changed result of a body.
struct changed_read {
    id reader = no_id; ///< of the first model; `no_id`: the model itself, whose output changed
    id before = no_id; ///< the producer in the first model; `no_id`: an input or constant
    id after = no_id;  ///< the producer in the second model, likewise
};

/// Finds partners that read something else.
class read_comparer {
public:
    /// Requires: all outlive this.
    read_comparer(const compared_model& a, const compared_model& b, const node_match& match)
        : a_(a), b_(b), match_(match), from_a_(a.model()), from_b_(b.model()) {
        input_partner_.assign(a.model().value_count(), no_id);
        for (const auto& [x, y] : pair_interface(a.model(), b.model(), &graph_record::inputs)) {
            input_partner_[x] = y;
        }
        pair_bodies();
    }

    /// Returns: the changed reads by reader, then changed results of bodies and of the model.
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
        for (id g = 1; g < body_partner_.size(); ++g) {
            if (body_partner_[g] == no_id) {
                continue;
            }
            const auto& from = a_.model().graph(g).outputs;
            const auto& to = b_.model().graph(body_partner_[g]).outputs;
            for (std::size_t i = 0; i < std::min(from.size(), to.size()); ++i) {
                compare(a_.model().graph(g).owner, from[i], to[i], true);
            }
        }
        for (const auto& [x, y] : pair_interface(a_.model(), b_.model(), &graph_record::outputs)) {
            compare(no_id, x, y, true);
        }
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

        /// Returns: the value that a value of a body starts as; itself if it is none.
        [[nodiscard]] id origin(id value) const {
            while (!initial.empty() && initial[value] != no_id) {
                value = initial[value];
            }
            return value;
        }

        std::vector<id> initial; // see `initial_values`
        std::vector<id> index;   // by value: its number among the inputs of its graph
    };

    void pair_bodies() {
        using key = std::tuple<id, std::string_view, id>;
        const auto key_of = [](const onnx_model& model, const graph_record& body, id owner) {
            return key(owner, model.text(body.attribute), body.attribute_index);
        };
        std::map<key, id> bodies;
        for (id g = 1; g < b_.model().graph_count(); ++g) {
            const auto& body = b_.model().graph(g);
            if (body.kind == graph_kind::body) {
                bodies.emplace(key_of(b_.model(), body, body.owner), g);
            }
        }
        body_partner_.assign(a_.model().graph_count(), no_id);
        for (id g = 1; g < body_partner_.size(); ++g) {
            const auto& body = a_.model().graph(g);
            if (body.kind != graph_kind::body || match_.to_second[body.owner] == no_id) {
                continue;
            }
            const auto found = bodies.find(key_of(a_.model(), body, match_.to_second[body.owner]));
            body_partner_[g] = found == bodies.end() ? no_id : found->second;
        }
    }

    void compare(id reader, id x, id y, bool is_result) {
        // Whether an input is given belongs to the node.
        if (x == no_id || y == no_id || are_same_formal(x, y)) {
            return;
        }
        x = from_a_.origin(x);
        y = from_b_.origin(y);
        const bool is_fixed = a_.constant_of(x) != no_id;
        const bool stays_fixed = b_.constant_of(y) != no_id;
        const auto before = is_fixed ? no_id : a_.model().producer(x);
        const auto after = stays_fixed ? no_id : b_.model().producer(y);
        // Nodes without partners are reported themselves, and constants with the nodes that read
        // them.
        if ((before == no_id || match_.to_second[before] != no_id) &&
            (after == no_id || match_.to_first[after] != no_id) &&
            (is_fixed || stays_fixed ? is_result && is_fixed != stays_fixed : differ(x, y))) {
            reads_.push_back({reader, before, after});
        }
    }

    /// Whether two values are the same input of corresponding bodies or functions. What their
    /// owners pass on is compared there.
    [[nodiscard]] bool are_same_formal(id x, id y) const {
        if (from_a_.index[x] == no_id || from_a_.index[x] != from_b_.index[y]) {
            return false;
        }
        const auto partner = body_partner_[a_.model().graph_of_value(x)];
        return partner == no_id || partner == b_.model().graph_of_value(y);
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
    formals from_a_;
    formals from_b_;
    std::vector<id> input_partner_; // by value of the first model: input of the second one
    std::vector<id> body_partner_;  // by graph of the first model: body of the second one
    std::vector<changed_read> reads_;
};

/// Returns: what partners and the model read that is not the same in the second model. Inputs of
/// the model correspond by name, others in their order, and so do outputs.
/// Complexity: O((nodes + values + graphs) log values).
[[nodiscard]] inline std::vector<changed_read>
find_changed_reads(const compared_model& a, const compared_model& b, const node_match& match) {
    return read_comparer(a, b, match).run();
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_COMPARE_DETAIL_CHANGED_READS_HPP
