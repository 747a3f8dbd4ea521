// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_BODY_PLACE_HPP
#define STEMMA_ONNX_DETAIL_BODY_PLACE_HPP

#include <stemma/core/id.hpp>
#include <stemma/onnx/onnx_model.hpp>

#include <string_view>
#include <tuple>

namespace stemma::inline STEMMA_ABI::detail {

/// The owner of a body, its attribute, and the index there: whatever the order of attributes.
using body_place = std::tuple<id, std::string_view, id>;

/// Requires: `g` is a body.
[[nodiscard]] inline body_place place_of_body(const onnx_model& model, id g) {
    const auto& body = model.graph(g);
    return {body.owner, model.text(body.attribute), body.attribute_index};
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_BODY_PLACE_HPP
