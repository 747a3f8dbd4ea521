// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_COMPARE_DETAIL_PAIRED_GRAPHS_HPP
#define STEMMA_COMPARE_DETAIL_PAIRED_GRAPHS_HPP

#include <stemma/compare/detail/node_match.hpp>
#include <stemma/core/id.hpp>
#include <stemma/onnx/detail/body_place.hpp>
#include <stemma/onnx/onnx_model.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: the outputs of a model, or the inputs that no initializer provides, in file order.
[[nodiscard]] inline std::vector<id>
interface_values(const onnx_model& model, std::vector<id> onnx_model::graph_record::*list) {
    auto values = model.graph(0).*list;
    std::erase_if(values, [&](id value) {
        return value == no_id ||
               (list == &onnx_model::graph_record::inputs && model.is_initializer(value));
    });
    return values;
}

/// Returns: the inputs, or outputs, of two models that correspond: by name, the others in their
/// order. In the order of the first model.
/// Complexity: O(inputs log inputs) expected.
[[nodiscard]] inline std::vector<std::pair<id, id>>
pair_interface(const onnx_model& a, const onnx_model& b,
               std::vector<id> onnx_model::graph_record::*list) {
    const auto first = interface_values(a, list);
    auto rest = interface_values(b, list);
    std::unordered_map<std::string_view, id> by_name;
    for (auto value : rest) {
        by_name.emplace(b.value_name(value), value);
    }
    std::vector<std::pair<id, id>> pairs;
    for (auto value : first) {
        const auto partner = by_name.find(a.value_name(value));
        pairs.emplace_back(value, partner == by_name.end() ? no_id : partner->second);
        if (partner != by_name.end()) {
            by_name.erase(partner);
        }
    }
    std::erase_if(rest, [&](id value) {
        const auto entry = by_name.find(b.value_name(value));
        return entry == by_name.end() || entry->second != value;
    });
    std::size_t next = 0;
    for (auto& [value, partner] : pairs) {
        if (partner == no_id && next < rest.size()) {
            partner = rest[next++];
        }
    }
    std::erase_if(pairs, [](const auto& pair) { return pair.second == no_id; });
    return pairs;
}

/// The graphs of two models that correspond: bodies of partners for the same attribute, and
/// functions with partners in them.
class paired_graphs {
public:
    /// Requires: all outlive this. Complexity: O(nodes + graphs log graphs).
    paired_graphs(const onnx_model& a, const onnx_model& b, const node_match& match)
        : a_(a), b_(b), partner_(a.graph_count(), no_id) {
        partner_[0] = 0;
        pair_bodies(match);
        pair_functions(match);
    }

    /// Returns: the graph of the second model for one of the first, or `no_id`.
    [[nodiscard]] id operator[](id graph) const noexcept { return partner_[graph]; }

    /// Calls `f(owner, x, y)` for each result x of a body of the first model and the corresponding
    /// one of the second, then with `no_id` for those of functions and of the model. Results of
    /// the model correspond by name, the others in their order.
    /// Complexity: O(graphs + results), plus that of `pair_interface`.
    template <class Function>
    void for_each_result(Function f) const {
        for (id g = 1; g < partner_.size(); ++g) {
            if (partner_[g] == no_id) {
                continue;
            }
            const auto& from = a_.graph(g).outputs;
            const auto& to = b_.graph(partner_[g]).outputs;
            for (std::size_t i = 0; i < std::min(from.size(), to.size()); ++i) {
                f(a_.graph(g).owner, from[i], to[i]);
            }
        }
        for (const auto& [x, y] : pair_interface(a_, b_, &onnx_model::graph_record::outputs)) {
            f(no_id, x, y);
        }
    }

private:
    void pair_bodies(const node_match& match) {
        std::map<body_place, id> bodies;
        for (id g = 1; g < b_.graph_count(); ++g) {
            if (b_.graph(g).kind == graph_kind::body) {
                bodies.emplace(place_of_body(b_, g), g);
            }
        }
        for (id g = 1; g < partner_.size(); ++g) {
            const auto& body = a_.graph(g);
            if (body.kind != graph_kind::body || match.to_second[body.owner] == no_id) {
                continue;
            }
            auto place = place_of_body(a_, g);
            std::get<0>(place) = match.to_second[body.owner];
            const auto partner = bodies.find(place);
            partner_[g] = partner == bodies.end() ? no_id : partner->second;
        }
    }

    /// Exporters number functions, so their names do not tell.
    void pair_functions(const node_match& match) {
        std::vector<bool> taken(b_.graph_count(), false);
        for (id v = 0; v < match.to_second.size(); ++v) {
            if (match.to_second[v] == no_id) {
                continue;
            }
            const auto g = a_.graph_of(v);
            const auto h = b_.graph_of(match.to_second[v]);
            if (a_.graph(g).kind == graph_kind::function && partner_[g] == no_id &&
                b_.graph(h).kind == graph_kind::function && !taken[h]) {
                partner_[g] = h;
                taken[h] = true;
            }
        }
    }

    const onnx_model& a_;
    const onnx_model& b_;
    std::vector<id> partner_; // by graph of the first model
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_COMPARE_DETAIL_PAIRED_GRAPHS_HPP
