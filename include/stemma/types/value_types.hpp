// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TYPES_VALUE_TYPES_HPP
#define STEMMA_TYPES_VALUE_TYPES_HPP

#include <stemma/core/id.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/onnx/tensor_header.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/types/detail/type_proto.hpp>

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

namespace detail {

/// Returns: the TypeProto in a ValueInfoProto, "" if it has none; the last one if it is repeated.
/// Complexity: O(fields).
[[nodiscard]] inline std::string_view declared_type(const wire_model& model,
                                                    const value_info_ref& info) {
    std::string_view type;
    auto fields = model.reader(info.message);
    for (wire_field field; fields.next(field);) {
        if (field.is_bytes(onnx_fields::value_info::type)) {
            type = fields.text(field);
        }
    }
    return type;
}

/// Whether a ValueInfoProto states a complete type. Throws: `error` of `error_code::malformed` that
/// names file and position if it, or an extent, is damaged. Complexity: O(fields).
[[nodiscard]] inline bool declares_type(const wire_model& model, const value_info_ref& info) {
    bool complete = false;
    auto fields = model.reader(info.message);
    for (wire_field field; fields.next(field);) {
        if (field.is_bytes(onnx_fields::value_info::type)) {
            const auto type = read_type(fields.inner(field));
            if (type.shape) {
                for_each_extent(*type.shape, [](std::int64_t, std::string_view) {});
            }
            complete = type.is_complete();
        }
    }
    return complete;
}

} // namespace detail

/// The types of values: declared by the file, or added.
///  A type is the bytes of a TypeProto. While one thread adds types, others may query values that
/// already have one.
class value_types {
public:
    /// Throws: `error` of `error_code::malformed`. Complexity: O(value infos + values).
    explicit value_types(const wire_model& model)
        : model_(&model)
        , declared_(model.value_count(), no_id)
        , added_(model.value_count(), nullptr) {
        const auto infos = model.value_infos();
        for (id i = 0; i < infos.size(); ++i) {
            if (infos[i].value != no_id && detail::declares_type(model, infos[i])) {
                declared_[infos[i].value] = i;
            }
        }
    }

    // Types point into the texts.
    value_types(const value_types&) = delete;
    value_types& operator=(const value_types&) = delete;

    /// Returns: the ValueInfoProto that declares a complete type for a value, if any.
    [[nodiscard]] std::optional<message_ref> declaration(id value) const {
        return declared_[value] == no_id
                   ? std::nullopt
                   : std::optional(model_->value_infos()[declared_[value]].message);
    }

    /// Adds a type from inference or a capture; the first one counts.
    void add(id value, std::string type) {
        if (added_[value] == nullptr && is_complete(type)) {
            added_[value] = &texts_.emplace_back(std::move(type));
        }
    }

    /// Whether `type_of` knows the type of a value.
    [[nodiscard]] bool has_type(id value) const {
        return declared_[value] != no_id || added_[value] != nullptr;
    }

    /// Returns: the type of a value; nothing if element type or rank is unknown.
    [[nodiscard]] std::optional<std::string_view> type_of(id value) const {
        if (declared_[value] != no_id) {
            return type_in(model_->value_infos()[declared_[value]]);
        }
        return added_[value] == nullptr ? std::nullopt
                                        : std::optional<std::string_view>(*added_[value]);
    }

    /// Whether a TypeProto is complete: element type and rank of a tensor, or any sequence, map or
    /// optional.
    /// Complexity: O(fields).
    [[nodiscard]] static bool is_complete(std::string_view type) {
        return detail::read_type(type).is_complete();
    }

private:
    [[nodiscard]] std::string_view type_in(const value_info_ref& info) const {
        return detail::declared_type(*model_, info);
    }

    const wire_model* model_;
    std::vector<id> declared_;              // by value: number of its value info
    std::vector<const std::string*> added_; // by value
    std::deque<std::string> texts_;         // with stable addresses
};

namespace detail {

/// Returns: the TypeProto of a tensor with an element type and extents. Complexity: O(rank).
[[nodiscard]] inline std::string tensor_type(const tensor_header& header) {
    return detail::write_tensor_type(header.data_type, header.dims,
                                     [](std::int64_t) { return std::string_view(); });
}

} // namespace detail

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_TYPES_VALUE_TYPES_HPP
