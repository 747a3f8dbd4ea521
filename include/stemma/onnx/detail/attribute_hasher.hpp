// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_ATTRIBUTE_HASHER_HPP
#define STEMMA_ONNX_DETAIL_ATTRIBUTE_HASHER_HPP

#include <stemma/core/detail/hash.hpp>
#include <stemma/core/id.hpp>
#include <stemma/onnx/detail/attribute_defaults.hpp>
#include <stemma/onnx/detail/data_hashes.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/tag_attribute.hpp>
#include <stemma/onnx/detail/tensor_content.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// What a node's attributes say, other than bodies.
struct attributes_read {
    std::uint64_t hash = 0;  ///< of all attributes except graphs
    bool has_graphs = false; ///< the node has bodies
};

/// Hashes the attributes of nodes regardless of their order, of the order of fields, of how numbers
/// are packed and how tensors are named and stored; without defaults, documentation and what stemma
/// wrote.
class attribute_hasher {
public:
    /// Requires: `model` outlives this.
    explicit attribute_hasher(const wire_model& model) : model_(model), tensors_(model) {}

    /// The tensor of a Constant is left out. Complexity: O(bytes of the attributes and tensors).
    [[nodiscard]] attributes_read read(id node, bool constant) {
        attributes_read result;
        auto fields = model_.reader(model_.message(node));
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(onnx_fields::node::attribute)) {
                read_one(node, fields.inner(field), constant, result);
            }
        }
        return result;
    }

private:
    using at = onnx_fields::attribute;

    void read_one(id node, const wire_reader& attribute, bool constant, attributes_read& result) {
        auto fields = attribute;
        std::uint64_t own = 0;
        std::uint64_t list = 0; // of the elements of one repeated field, which are in order
        std::uint32_t number = 0;
        bool documented = false;
        for (wire_field field; fields.next(field);) {
            documented = documented || field.number == at::doc_string;
            if (field.number == at::doc_string || field.number == at::type) {
                continue;
            }
            if (field.number == at::g || field.number == at::graphs) {
                result.has_graphs = true;
                continue;
            }
            if (field.is_bytes(at::t) && constant) {
                continue;
            }
            if (field.number != number) {
                own += list;
                list = 0;
                number = field.number;
            }
            list = add(fields, field, list);
        }
        own += list;
        const bool says_nothing =
            (documented && is_tag_attribute(attribute)) ||
            (!constant && model_.domain(node).empty() &&
             defaults_.holds(model_.operator_id(node), model_.op_type(node), own, attribute));
        result.hash += says_nothing ? 0 : hash_mix(own, 1);
    }

    [[nodiscard]] std::uint64_t add(const wire_reader& fields, const wire_field& field,
                                    std::uint64_t own) {
        const auto mixed = [&](std::uint64_t word) {
            return hash_mix(hash_mix(own, field.number), word);
        };
        if (field.number == at::ints && field.type == wire_type::bytes) {
            numbers_.clear();
            read_dims(fields, field, numbers_);
            for (const auto number : numbers_) {
                own = mixed(static_cast<std::uint64_t>(number));
            }
            return own;
        }
        if (field.number == at::floats && field.type == wire_type::bytes) {
            const auto text = fields.text(field);
            for (std::size_t at_byte = 0; at_byte + 4 <= text.size(); at_byte += 4) {
                own = mixed(hash_bytes(text.substr(at_byte, 4)));
            }
            return own;
        }
        if (field.is_bytes(at::t)) {
            const auto content = tensors_.read(field);
            const auto data = content.readable ? hash_bytes(content.bytes())
                                               : hash_bytes(content.bytes_or_place());
            return mixed(hash_mix(data_layout(content.header).seed, data));
        }
        return mixed(field.type == wire_type::varint ? field.value
                                                     : hash_bytes(fields.text(field)));
    }

    const wire_model& model_;
    tensor_content_reader tensors_;
    default_attributes defaults_;
    std::vector<std::int64_t> numbers_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_ATTRIBUTE_HASHER_HPP
