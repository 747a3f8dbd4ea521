// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TYPES_DETAIL_TENSOR_TYPES_HPP
#define STEMMA_TYPES_DETAIL_TENSOR_TYPES_HPP

#include <stemma/core/detail/string_pool.hpp>
#include <stemma/core/id.hpp>
#include <stemma/onnx/detail/message_edits.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/types/detail/tensor_facts.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace stemma::detail {

/// Reads and writes types of tensors: the bytes of a TypeProto. Remembers the names of extents.
class tensor_types {
public:
    /// Throws: `error` of `error_code::malformed` for what is no message.
    [[nodiscard]] tensor_facts read(std::string_view type) {
        tensor_facts facts;
        wire_reader fields(type.data(), 0, static_cast<std::uint32_t>(type.size()), "type");
        for (wire_field field; fields.next(field);) {
            if (!field.is_bytes(1)) {
                continue;
            }
            auto parts = fields.inner(field);
            for (wire_field part; parts.next(part);) {
                if (part.is(1, wire_type::varint)) {
                    facts.data_type = static_cast<std::int64_t>(part.value);
                } else if (part.is_bytes(2)) {
                    facts.dims = read_shape(parts.inner(part));
                }
            }
        }
        return facts;
    }

    /// Requires: `facts` are ranked, and named extents come from `read`.
    [[nodiscard]] std::string write(const tensor_facts& facts) const {
        std::string shape;
        for (auto extent : *facts.dims) {
            std::string dim;
            if (extent >= 0) {
                append_number(1, extent, dim);
            } else if (extent < any_extent) {
                append_field(2, symbols_[static_cast<id>(-2 - extent)], dim);
            }
            append_field(1, dim, shape);
        }
        std::string tensor;
        append_number(1, facts.data_type, tensor);
        append_field(2, shape, tensor);
        std::string type;
        append_field(1, tensor, type);
        return type;
    }

private:
    [[nodiscard]] extents read_shape(wire_reader dims) {
        extents shape;
        for (wire_field dim; dims.next(dim);) {
            if (!dim.is_bytes(1)) {
                continue;
            }
            std::int64_t extent = any_extent;
            auto parts = dims.inner(dim);
            for (wire_field part; parts.next(part);) {
                if (part.is(1, wire_type::varint)) {
                    const auto number = static_cast<std::int64_t>(part.value);
                    extent = number < 0 ? any_extent : number;
                } else if (part.is_bytes(2) && part.size() > 0) {
                    extent = -2 - static_cast<std::int64_t>(symbols_.intern(parts.text(part)));
                }
            }
            shape.push_back(extent);
        }
        return shape;
    }

    string_pool symbols_; // names of extents
};

} // namespace stemma::detail

#endif // STEMMA_TYPES_DETAIL_TENSOR_TYPES_HPP
