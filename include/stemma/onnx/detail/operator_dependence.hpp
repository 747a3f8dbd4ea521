// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_OPERATOR_DEPENDENCE_HPP
#define STEMMA_ONNX_DETAIL_OPERATOR_DEPENDENCE_HPP

#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/model/dependence.hpp>
#include <stemma/onnx/onnx_model.hpp>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Whether an operator gives different results each time it runs.
[[nodiscard]] inline bool is_random_operator(std::string_view domain, std::string_view type) {
    constexpr std::array<std::string_view, 6> random{"RandomNormal",  "RandomNormalLike",
                                                     "RandomUniform", "RandomUniformLike",
                                                     "Multinomial",   "Bernoulli"};
    return domain.empty() && detail::range::contains(random, type);
}

/// Returns: by node, whether it is random by its type alone.
/// Complexity: O(nodes).
[[nodiscard]] inline std::vector<bool> find_random_operators(const onnx_model& model) {
    std::vector<bool> of_type(model.operator_count());
    for (id op = 0; op < model.operator_count(); ++op) {
        of_type[op] = is_random_operator(model.operator_domain(op), model.operator_type(op));
    }
    std::vector<bool> random(model.node_count());
    for (id node = 0; node < model.node_count(); ++node) {
        random[node] = of_type[model.operator_id(node)];
    }
    return random;
}

/// Finds what the results of every node depend on, including what its bodies capture.
///
/// A node without inputs other than Constant (a random generator, say), one that is `random`, a
/// call of a function, and a reader of an undefined value count as data, as do the owners of bodies
/// that contain the first three. A node in a body depends on data if it reads a formal input.
/// Complexity: O(nodes + values); nodes before their producers count as data.
[[nodiscard]] inline std::vector<dependence> find_dependence(const onnx_model& model,
                                                             const std::vector<bool>& random) {
    const auto count = model.node_count();
    std::vector<dependence> result(count, dependence::data);
    // Of what the bodies of a node read, and of what does not follow from inputs.
    std::vector<dependence> inner(count, dependence::constant);
    std::vector<bool> done(count, false);
    const auto of_value = [&](id value) {
        const auto producer = model.producer(value);
        if (producer != no_id) {
            return done[producer] ? result[producer] : dependence::data;
        }
        return model.is_initializer(value) ? dependence::weight : dependence::data;
    };
    for (id node = 0; node < count; ++node) {
        const auto type = model.op_type(node);
        const auto inputs = model.inputs(node);
        const bool standard = model.domain(node).empty();
        auto most = inner[node];
        bool reads = inner[node] != dependence::constant;
        for (auto value : inputs) {
            if (value != no_id) {
                reads = true;
                most = std::max({most, of_value(value), dependence::weight});
            }
        }
        if (standard && type == "Constant") {
            most = dependence::constant;
        } else if (standard && (type == "Shape" || type == "Size")) {
            most = std::min(most, dependence::shape);
        } else if (!reads || model.callee(node) != no_id || random[node]) {
            most = inner[node] = dependence::data;
        }
        result[node] = most;
        done[node] = true;
        // What a body reads from outside is also read by its owner.
        if (const auto owner = model.owner(node); owner != no_id) {
            for (auto value : inputs) {
                if (value != no_id && model.graph_of_value(value) != model.graph_of(node)) {
                    inner[owner] = std::max({inner[owner], of_value(value), dependence::weight});
                }
            }
            inner[owner] = std::max(inner[owner], inner[node]);
        }
    }
    return result;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_OPERATOR_DEPENDENCE_HPP
