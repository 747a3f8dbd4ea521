// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_WEIGHTS_DETAIL_DATA_PLACES_HPP
#define STEMMA_WEIGHTS_DETAIL_DATA_PLACES_HPP

#include <stemma/error.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/tensor_size.hpp>
#include <stemma/onnx/external_data.hpp>
#include <stemma/onnx/tensor_header.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Where the contiguous elements of an initializer are.
struct data_place {
    std::string location{};  ///< the external file, see `normal_location`; "" for the model's own
    std::uint64_t begin = 0; ///< bytes from the start of that file
    std::uint64_t size = 0;  ///< bytes
    std::size_t tensor = 0;  ///< number of the initializer
};

/// Returns: the normal spelling of a location: `w.bin` for `./w.bin`.
[[nodiscard]] inline std::string normal_location(std::string_view location) {
    return std::filesystem::path(location).lexically_normal().generic_string();
}

/// Returns: where the elements of an initializer are.
/// Throws: `error` of `unsupported` if they are encoded or not contiguous; of `malformed` for a
/// place outside the model's folder, or a size that does not match the shape.
/// Complexity: O(fields).
[[nodiscard]] inline data_place place_of_data(const wire_model& model, std::size_t number) {
    using at = onnx_fields::tensor;
    const auto& tensor = model.tensors()[number];
    const auto header = read_tensor_header(model, tensor);
    const auto name = model.text(tensor.name);
    const auto wanted = data_size(header);
    if (header.external) {
        if (!is_inside_folder(header.location)) {
            STEMMA_THROW(error(error_code::malformed, model.file(), name,
                               "its data is outside the model's folder"));
        }
        if (!wanted || (header.length != 0 && header.length != *wanted)) {
            STEMMA_THROW(error(error_code::malformed, model.file(), name,
                               "has a size that does not match its shape"));
        }
        if (header.offset == tensor_header::unreadable) {
            STEMMA_THROW(error(error_code::malformed, model.file(), name,
                               "has an offset that is not a number"));
        }
        return {normal_location(header.location), header.offset, *wanted, number};
    }
    data_place place{{}, 0, 0, number};
    unsigned pieces = 0;
    auto fields = model.reader(tensor.message);
    for (wire_field field; fields.next(field);) {
        const bool plain = field.is_bytes(at::raw_data) ||
                           (field.is_bytes(at::float_data) && header.data_type == 1) ||
                           (field.is_bytes(at::double_data) && header.data_type == 11);
        const bool encoded = field.number == at::float_data || field.number == at::double_data ||
                             field.number == at::int32_data || field.number == at::int64_data ||
                             field.number == at::uint64_data || field.number == at::string_data;
        if (plain) {
            place.begin = field.content;
            place.size = field.size();
        }
        pieces += plain ? 1U : encoded ? 2U : 0U;
    }
    if (tensor.sparse || pieces > 1) {
        STEMMA_THROW(error(error_code::unsupported, model.file(), name,
                           "its data is not contiguous raw bytes"));
    }
    if (!wanted || place.size != *wanted) {
        STEMMA_THROW(error(error_code::malformed, model.file(), name,
                           "has a size that does not match its shape"));
    }
    return place;
}

/// Sorts places by position, dropping empty ones. Throws: `error` of `unsupported` if one overlaps
/// another, or data of an initializer that is not among them. Complexity: O(n log n).
inline void sort_places(std::vector<data_place>& places, const wire_model& model) {
    std::erase_if(places, [](const data_place& place) { return place.size == 0; });
    std::vector<bool> is_chosen(model.tensors().size(), false);
    for (const auto& place : places) {
        is_chosen[place.tensor] = true;
    }
    for (std::size_t t = 0; t < is_chosen.size(); ++t) {
        if (is_chosen[t]) {
            continue;
        }
        const auto header = read_tensor_header(model, model.tensors()[t]);
        if (const auto size = data_size(header); header.external && size.value_or(0) > 0) {
            places.push_back({normal_location(header.location), header.offset, *size, t});
        }
    }
    std::sort(places.begin(), places.end(), [](const data_place& a, const data_place& b) {
        return std::tie(a.location, a.begin, a.tensor) < std::tie(b.location, b.begin, b.tensor);
    });
    std::string_view file;
    std::uint64_t end = 0;        // of what is chosen in that file
    std::uint64_t end_of_all = 0; // of everything in it
    for (const auto& place : places) {
        if (place.location != file) {
            file = place.location;
            end = end_of_all = 0;
        }
        const bool chosen = is_chosen[place.tensor];
        if (place.begin < (chosen ? end_of_all : end)) {
            STEMMA_THROW(error(error_code::unsupported, model.file(),
                               model.text(model.tensors()[place.tensor].name),
                               "shares bytes of its data with another initializer"));
        }
        const auto past = place.begin + std::min(place.size, ~std::uint64_t{0} - place.begin);
        end_of_all = std::max(end_of_all, past);
        end = chosen ? std::max(end, past) : end;
    }
    std::erase_if(places, [&](const data_place& place) { return !is_chosen[place.tensor]; });
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_WEIGHTS_DETAIL_DATA_PLACES_HPP
