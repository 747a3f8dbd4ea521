// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_VALUE_DEFINITIONS_HPP
#define STEMMA_ONNX_VALUE_DEFINITIONS_HPP

#include <stemma/core/detail/hash.hpp>
#include <stemma/core/id.hpp>
#include <stemma/error.hpp>
#include <stemma/onnx/onnx_model.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// Returns: the position of a node: `#7`, or `5/body#2` in a body.
[[nodiscard]] inline std::string position_text(const onnx_model& model, id node) {
    return model.graph_path(model.graph_of(node)) + "#" + std::to_string(model.position(node));
}

/// Returns: a node described so that a reader can find it: `node '/a/Add' (#7)`.
[[nodiscard]] inline std::string place_of(const onnx_model& model, id node) {
    const auto position = position_text(model, node);
    return model.name(node).empty()
               ? "node " + position
               : "node '" + std::string(model.name(node)) + "' (" + position + ")";
}

namespace detail {

/// Returns: the values with the same name and graph as a given one, ascending: several if the model
/// defines it more than once. Complexity: O(values).
[[nodiscard]] inline std::vector<id> definitions_of(const onnx_model& model, id value) {
    std::vector<id> result;
    for (id other = 0; other < model.value_count(); ++other) {
        if (model.graph_of_value(other) == model.graph_of_value(value) &&
            model.kind(other) != value_kind::undefined &&
            model.value_name(other) == model.value_name(value)) {
            result.push_back(other);
        }
    }
    return result;
}

/// Hashes a graph and a name in it.
struct graph_name_hash {
    [[nodiscard]] std::size_t operator()(const std::pair<id, std::string_view>& key) const {
        return static_cast<std::size_t>(hash_bytes(key.second, key.first));
    }
};

/// Values of one graph with the same name.
struct repeated_definition {
    id again = no_id;    ///< the first that is in `redefined()`
    std::vector<id> all; ///< as from `definitions_of`
};

/// Returns: one for each name that a graph defines more than once, in the order of `redefined()`.
/// Complexity: O(values) expected.
[[nodiscard]] inline std::vector<repeated_definition>
repeated_definitions(const onnx_model& model) {
    std::vector<repeated_definition> result;
    if (model.redefined().empty()) {
        return result;
    }
    const auto key_of = [&](id value) {
        return std::pair(model.graph_of_value(value), model.value_name(value));
    };
    std::unordered_map<std::pair<id, std::string_view>, std::size_t, graph_name_hash> numbers;
    for (const auto value : model.redefined()) {
        if (numbers.emplace(key_of(value), result.size()).second) {
            result.push_back({value, {}});
        }
    }
    for (id value = 0; value < model.value_count(); ++value) {
        const auto number = numbers.find(key_of(value));
        if (number != numbers.end() && model.kind(value) != value_kind::undefined) {
            result[number->second].all.push_back(value);
        }
    }
    return result;
}

/// Returns: what defines some values, for a message: `node 'a' (#0) and node 'b' (#2)`; of many,
/// how many follow the first ones. Complexity: O(length).
[[nodiscard]] inline std::string definers_text(const onnx_model& model,
                                               const std::vector<id>& all) {
    constexpr std::size_t most = 8;
    const auto shown = all.size() > most + 1 ? most : all.size();
    std::string text;
    for (std::size_t i = 0; i < shown; ++i) {
        const auto producer = model.producer(all[i]);
        text.append(i == 0                ? ""
                    : i + 1 == all.size() ? " and "
                                          : ", ")
            .append(producer != no_id              ? place_of(model, producer)
                    : model.is_initializer(all[i]) ? "an initializer"
                                                   : "an input");
    }
    if (shown < all.size()) {
        text.append(" and ").append(std::to_string(all.size() - shown)).append(" more");
    }
    return text;
}

/// The same of all definitions of a value. Complexity: O(values).
[[nodiscard]] inline std::string definers_text(const onnx_model& model, id value) {
    return definers_text(model, definitions_of(model, value));
}

/// Refuses a model in which it depends on the reader which value a name means.
/// Throws: `error` of `error_code::malformed` if a graph defines a value more than once.
/// Complexity: O(1), or else O(values).
inline void check_definitions(const onnx_model& model) {
    if (!model.redefined().empty()) {
        const auto value = model.redefined().front();
        STEMMA_THROW(error(
            error_code::malformed, model.file(), std::string(model.value_name(value)),
            "the model defines this value more than once: by " + definers_text(model, value)));
    }
}

} // namespace detail

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_ONNX_VALUE_DEFINITIONS_HPP
