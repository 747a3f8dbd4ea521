// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_WIRE_MODEL_HPP
#define STEMMA_ONNX_WIRE_MODEL_HPP

#include <stemma/core/id.hpp>
#include <stemma/error.hpp>
#include <stemma/onnx/detail/model_scan.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/uniform_data.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/onnx/message_refs.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

namespace detail {

/// Whether a type, a number in TensorProto.DataType, may be that of a weight: it is neither string,
/// 32-bit or 64-bit integer nor boolean.
[[nodiscard]] constexpr bool is_weight_type(std::int64_t data_type) noexcept {
    constexpr std::int64_t int32 = 6;
    constexpr std::int64_t boolean = 9; // int64 and string between them
    return data_type < int32 || data_type > boolean;
}

/// Whether a tensor must be a weight: it has two or more extents above one, and a weight's type.
template <class Extents>
[[nodiscard]] constexpr bool is_weight_matrix(std::int64_t data_type,
                                              const Extents& dims) noexcept {
    int rank = 0;
    int wide = 0;
    for (const auto dim : dims) {
        ++rank;
        wide += dim > 1 ? 1 : 0;
    }
    return (wide > 1 || (wide == 1 && rank == 2)) && is_weight_type(data_type);
}

} // namespace detail

/// The structure of an ONNX file, read from its bytes in one pass. Tensor data are not touched.
///
/// Reads the bytes as protobuf's own parser would, including newer fields: fields in any order,
/// repeated ones merged, unknown ones skipped. `training_info` is ignored.
class wire_model : public detail::model_scan {
public:
    /// Requires: `bytes` outlives the model. `file` names it in errors.
    /// Throws: `error` if the bytes are not a model (`malformed`), or are 4 GiB or more, or nest
    /// bodies deeper than protobuf allows (`unsupported`).
    /// Complexity: O(bytes that are not tensor data).
    explicit wire_model(std::string_view bytes, std::string file = "model")
        : model_scan(bytes, std::move(file)) {
        if (bytes.size() > 0xffff'ffffU) {
            STEMMA_THROW(error(error_code::unsupported, file_, "",
                               "larger than 4 GiB; protobuf's own limit is 2 GiB"));
        }
        if (bytes.empty()) {
            STEMMA_THROW(error(error_code::malformed, file_, "", "the file is empty"));
        }
        add_graph(graph_kind::main);
        const auto bound = finish(scan_model());
        for (auto& tensor : tensors_) {
            tensor.value = bound[tensor.value];
        }
        for (auto& info : value_infos_) {
            info.value = bound[info.value];
        }
    }

    using model_scan::reader;

    /// The bytes passed in; valid as long as the file.
    [[nodiscard]] std::string_view bytes() const noexcept { return bytes_; }

    /// Returns: a reader of the content of one message of the file.
    [[nodiscard]] detail::wire_reader reader(message_ref message) const noexcept {
        return {base_, message.begin, message.begin + message.size, file_};
    }

    /// Returns: a reader of the content of a container.
    [[nodiscard]] detail::wire_reader reader_of(const container_record& container) const noexcept {
        return reader({container.begin, container.size, no_id});
    }

    /// Returns: the position of a node's message.
    [[nodiscard]] message_ref message(id node) const noexcept {
        return {nodes_[node].begin, nodes_[node].size, nodes_[node].container};
    }

    /// In file order, over all graphs.
    [[nodiscard]] std::span<const tensor_ref> tensors() const noexcept { return tensors_; }

    /// In file order, over all graphs.
    [[nodiscard]] std::span<const value_info_ref> value_infos() const noexcept {
        return value_infos_;
    }

    /// Returns: the size of the length prefix of a node, a tensor or a value info.
    [[nodiscard]] std::uint32_t length_size(message_ref message) const noexcept {
        // Looking back would touch the bytes of the message once more.
        return padding_ ? message.begin - detail::length_position(base_, message.begin)
                        : static_cast<std::uint32_t>(detail::varint_size(message.size));
    }

    /// Whether a node has a field that may contain metadata, a doc_string, or one of our
    /// attributes.
    [[nodiscard]] bool may_hold_tags(id node) const noexcept {
        return (holds_[node] & ~holds_tensor) != 0;
    }

    /// Whether a node has tensors in its own attributes.
    [[nodiscard]] bool holds_tensors(id node) const noexcept {
        return (holds_[node] & holds_tensor) != 0;
    }

    /// Whether a node has entries in `metadata_props`.
    [[nodiscard]] bool has_metadata(id node) const noexcept {
        return (holds_[node] & holds_metadata) != 0;
    }

    /// Whether an initializer has entries in `metadata_props`. Requires: it is one of `tensors`.
    /// Complexity: O(log initializers with entries).
    [[nodiscard]] bool has_metadata(const tensor_ref& tensor) const noexcept {
        return std::binary_search(described_tensors_.begin(), described_tensors_.end(),
                                  static_cast<id>(&tensor - tensors_.data()));
    }

    /// Whether a value info has entries in `metadata_props`. Requires: it is one of `value_infos`.
    /// Complexity: O(log value infos with entries).
    [[nodiscard]] bool has_metadata(const value_info_ref& info) const noexcept {
        return std::binary_search(described_infos_.begin(), described_infos_.end(),
                                  static_cast<id>(&info - value_infos_.data()));
    }

    using onnx_model::container_record;

    /// Name, docs, metadata and any other fields of graphs besides nodes, values and tensors, in
    /// file order.
    [[nodiscard]] std::span<const graph_field> graph_fields() const noexcept {
        return graph_fields_;
    }

    /// Messages that contain nodes, directly or indirectly, in the order in which they begin.
    [[nodiscard]] std::span<const container_record> containers() const noexcept {
        return containers_;
    }

    /// Calls `f(key, value)` for every metadata entry of the model itself, in file order.
    /// Complexity: O(entries).
    template <class Function>
    void for_each_model_metadata(Function f) const {
        for (const auto& entry : model_metadata_) {
            const detail::wire_field field{.type = detail::wire_type::bytes,
                                           .content = entry.begin,
                                           .end = entry.begin + entry.size};
            const auto [key, value] = read_entry(reader(entry), field);
            f(key, value);
        }
    }

    /// Calls `f(key, value)` for every metadata entry of a node, in file order.
    /// Complexity: O(fields of the node).
    template <class Function>
    void for_each_metadata(id node, Function&& f) const {
        if (!has_metadata(node)) {
            return;
        }
        for_each_entry(message(node), detail::onnx_fields::node::metadata_props, f);
    }

    /// Calls `f(key, value)` for every metadata entry of a message, which are its fields of that
    /// number. Complexity: O(fields).
    template <class Function>
    void for_each_entry(message_ref message, std::uint32_t number, Function&& f) const {
        auto fields = reader(message);
        for (detail::wire_field field; fields.next(field);) {
            if (field.is_bytes(number)) {
                const auto [key, value] = read_entry(fields, field);
                f(key, value);
            }
        }
    }

    /// Whether a node has an attribute with this name that is neither the integer zero nor an empty
    /// text. Complexity: O(fields of the node).
    [[nodiscard]] bool sets_attribute(id node, std::string_view name) const {
        using at = detail::onnx_fields::attribute;
        constexpr std::uint64_t integer = 2; // AttributeProto::INT
        constexpr std::uint64_t string = 3;
        auto fields = reader(message(node));
        for (detail::wire_field field; fields.next(field);) {
            if (!field.is_bytes(detail::onnx_fields::node::attribute)) {
                continue;
            }
            bool is_named = false;
            std::uint64_t type = 0;
            std::uint64_t number = 0;
            std::string_view text;
            auto inside = fields.inner(field);
            for (detail::wire_field part; inside.next(part);) {
                if (part.is_bytes(at::name)) {
                    is_named = inside.text(part) == name;
                } else if (part.is_bytes(at::s)) {
                    text = inside.text(part);
                } else if (part.is(at::i, detail::wire_type::varint)) {
                    number = part.value;
                } else if (part.is(at::type, detail::wire_type::varint)) {
                    type = part.value;
                }
            }
            if (is_named) {
                return type == integer ? number != 0 : type != string || !text.empty();
            }
        }
        return false;
    }

    /// Calls `f(value, key, text)` for every metadata entry of an initializer or value info.
    /// Complexity: O(fields of initializers and value infos).
    template <class Function>
    void for_each_value_metadata(Function f) const {
        const auto read = [&](message_ref message, id value, std::uint32_t metadata_field) {
            if (value != no_id) {
                for_each_entry(
                    message, metadata_field,
                    [&](std::string_view key, std::string_view text) { f(value, key, text); });
            }
        };
        for (auto i : described_tensors_) {
            read(tensors_[i].message, tensors_[i].value,
                 detail::onnx_fields::tensor::metadata_props);
        }
        for (auto i : described_infos_) {
            read(value_infos_[i].message, value_infos_[i].value,
                 detail::onnx_fields::value_info::metadata_props);
        }
    }

    /// Returns: the tensor that a Constant holds as its value, if it is a tensor.
    /// Complexity: O(fields of the node).
    [[nodiscard]] std::optional<message_ref> constant_tensor(id node) const {
        std::optional<message_ref> tensor;
        auto fields = reader(message(node));
        for (detail::wire_field field; fields.next(field);) {
            if (field.is_bytes(detail::onnx_fields::node::attribute)) {
                auto attribute = fields.inner(field);
                for (detail::wire_field part; attribute.next(part);) {
                    if (part.is_bytes(detail::onnx_fields::attribute::t)) {
                        tensor = {part.content, part.size(), no_id};
                    }
                }
            }
        }
        return tensor;
    }

    /// Whether a Constant holds a tensor with extents, of a type that a weight may have.
    /// Complexity: O(fields of node and tensor).
    [[nodiscard]] bool may_hold_weight(id node) const {
        const auto tensor = constant_tensor(node);
        const auto shape = tensor ? read_shape(reader(*tensor)) : typed_shape();
        return !shape.dims.empty() && detail::is_weight_type(shape.type);
    }

    /// Returns: by value, which of those marked are stored as they were created, as initializers or
    /// by Constants: with all elements equal, of a fixed-size type and in this file; single numbers
    /// only if they are zero or one.
    /// Complexity: O(values + initializers + fields and data of those marked).
    [[nodiscard]] std::vector<bool> find_uniform(const std::vector<bool>& asked) const {
        std::vector<bool> uniform(asked.size(), false);
        for_each_stored(asked, [&](id value, detail::wire_reader fields) {
            std::int64_t type = 0;
            std::string_view data;
            for (detail::wire_field field; fields.next(field);) {
                if (field.is(at_tensor::data_type, detail::wire_type::varint)) {
                    type = static_cast<std::int64_t>(field.value);
                } else if (field.is_bytes(at_tensor::raw_data) ||
                           field.is_bytes(at_tensor::float_data)) {
                    data = fields.text(field);
                }
            }
            uniform[value] = detail::is_initial(data, type);
        });
        return uniform;
    }

    /// Returns: by value, which of those marked must be weights, stored as initializers or by
    /// Constants: with two or more extents above one, and neither of an integer, boolean nor string
    /// type. Complexity: O(values + initializers + fields of those marked).
    [[nodiscard]] std::vector<bool> find_matrices(const std::vector<bool>& asked) const {
        std::vector<bool> matrices(asked.size(), false);
        for_each_stored(asked, [&](id value, const detail::wire_reader& fields) {
            const auto shape = read_shape(fields);
            matrices[value] = detail::is_weight_matrix(shape.type, shape.dims);
        });
        return matrices;
    }

    /// Returns: key and value of a StringStringEntryProto. Complexity: O(fields).
    [[nodiscard]] static std::pair<std::string_view, std::string_view>
    read_entry(const detail::wire_reader& around, const detail::wire_field& field) {
        std::pair<std::string_view, std::string_view> entry;
        auto fields = around.inner(field);
        for (detail::wire_field inside; fields.next(inside);) {
            if (inside.is_bytes(detail::onnx_fields::entry::key)) {
                entry.first = fields.text(inside);
            } else if (inside.is_bytes(detail::onnx_fields::entry::value)) {
                entry.second = fields.text(inside);
            }
        }
        return entry;
    }

private:
    using at_tensor = detail::onnx_fields::tensor;

    struct typed_shape {
        std::vector<std::int64_t> dims;
        std::int64_t type = 0;
    };

    [[nodiscard]] static typed_shape read_shape(detail::wire_reader fields) {
        typed_shape shape;
        for (detail::wire_field field; fields.next(field);) {
            if (field.number == at_tensor::dims && (field.type == detail::wire_type::varint ||
                                                    field.type == detail::wire_type::bytes)) {
                detail::read_dims(fields, field, shape.dims);
            } else if (field.is(at_tensor::data_type, detail::wire_type::varint)) {
                shape.type = static_cast<std::int64_t>(field.value);
            }
        }
        return shape;
    }

    /// Calls `f(value, fields)` with a reader of the tensor of each value marked that is a dense
    /// initializer or made by a Constant.
    template <class Function>
    void for_each_stored(const std::vector<bool>& asked, Function f) const {
        for (const auto& tensor : tensors_) {
            if (asked[tensor.value] && !tensor.sparse) {
                f(tensor.value, reader(tensor.message));
            }
        }
        for (id value = 0; value < result_count_; ++value) {
            if (const auto tensor =
                    asked[value] ? constant_tensor(producer(value)) : std::nullopt) {
                f(value, reader(*tensor));
            }
        }
    }
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_ONNX_WIRE_MODEL_HPP
