// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_WEIGHTS_WRITE_PARAMETERS_HPP
#define STEMMA_WEIGHTS_WRITE_PARAMETERS_HPP

#include <stemma/checkpoint/checkpoint.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/onnx/tensor_header.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma/weights/parameter_origin.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

namespace detail {

/// Adds the origin of one initializer to an open object.
template <text_sink Sink>
void write_origin(json_writer<Sink>& json, const parameter_origin& origin) {
    json.values("entries", origin.entries);
    json.member("transform", to_string(origin.transform));
    json.member("cast", origin.cast);
    json.member("quantized", origin.quantized);
    json.values("shared", origin.shared);
    json.member("basis", to_string(origin.basis));
    json.member("confidence", origin.confidence);
}

} // namespace detail

/// Returns: the unused entries of a checkpoint in order, except those only used in training:
/// `num_batches_tracked`. `name_of(entry)` is the name in the checkpoint of an entry of an origin.
/// Complexity: O(length of names), expected, and the calls of `name_of`.
template <class Function = std::identity>
[[nodiscard]] std::vector<std::string> unused_entries(const checkpoint& saved,
                                                      std::span<const parameter_origin> origins,
                                                      Function name_of = {}) {
    std::unordered_set<std::string> used;
    for (const auto& origin : origins) {
        for (const auto* const names : {&origin.entries, &origin.shared}) {
            std::transform(names->begin(), names->end(), std::inserter(used, used.end()), name_of);
        }
    }
    std::vector<std::string> unused;
    for (const auto& entry : saved.entries()) {
        const bool counts = entry.shape.empty() && entry.name.ends_with("num_batches_tracked");
        if (!counts && !used.contains(entry.name) &&
            !used.contains(saved.entries()[entry.alias_of].name)) {
            unused.push_back(entry.name);
        }
    }
    return unused;
}

/// Returns: by initializer the text for `write_options::parameters`: entries and transform as JSON;
/// "" if unknown. Complexity: O(length of names).
[[nodiscard]] inline std::vector<std::string>
parameter_texts(std::span<const parameter_origin> origins) {
    std::vector<std::string> texts(origins.size());
    for (const auto& origin : origins) {
        if (origin.basis == parameter_origin::basis_kind::none) {
            continue;
        }
        texts[origin.tensor] =
            detail::json_line([&](auto& json) { detail::write_origin(json, origin); });
    }
    return texts;
}

/// Writes the entries of a model's initializers (`stemma.weights/1`) to a sink.
/// Complexity: O(initializers + entries).
template <text_sink Sink>
void write_json(Sink& sink, std::span<const parameter_origin> origins,
                const attributed_model& opened, const checkpoint* saved = nullptr) {
    detail::write_document(sink, "stemma.weights/1", [&](auto& json) {
        json.member("model", opened.model().file());
        json.key("initializers");
        json.begin_array();
        for (const auto& origin : origins) {
            const auto& tensor = opened.model().tensors()[origin.tensor];
            const auto header = detail::read_value_header(opened.model(), tensor);
            json.begin_object(true);
            json.member("name", opened.model().text(tensor.name));
            json.member("graph", opened.model().graph_path(tensor.graph));
            json.member("type", data_type_name(header.data_type));
            json.values("shape", header.dims);
            json.member("module", opened.modules().report_path(origin.module));
            detail::write_origin(json, origin);
            json.end_object();
        }
        json.end_array();
        if (saved != nullptr) {
            json.key("unused");
            json.begin_array();
            for (const auto& name : unused_entries(*saved, origins)) {
                json.value(name);
            }
            json.end_array();
        }
    });
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_WEIGHTS_WRITE_PARAMETERS_HPP
