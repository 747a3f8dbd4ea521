// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_WEIGHTS_DETAIL_WRITE_ORIGIN_HPP
#define STEMMA_WEIGHTS_DETAIL_WRITE_ORIGIN_HPP

#include <stemma/io/json_writer.hpp>
#include <stemma/weights/parameter_origin.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Adds the origin of one initializer to an open object.
template <text_sink Sink>
void write_origin(json_writer<Sink>& json, const parameter_origin& origin) {
    const auto list = [&](std::string_view key, const std::vector<std::string>& names) {
        json.key(key);
        json.begin_array();
        for (const auto& name : names) {
            json.value(name);
        }
        json.end_array();
    };
    list("entries", origin.entries);
    json.member("transform", to_string(origin.transform));
    json.member("cast", origin.cast);
    json.member("quantized", origin.quantized);
    list("shared", origin.shared);
    json.member("basis", to_string(origin.basis));
    json.member("confidence", origin.confidence);
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_WEIGHTS_DETAIL_WRITE_ORIGIN_HPP
