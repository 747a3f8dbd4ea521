// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_ONNX_FIELDS_HPP
#define STEMMA_ONNX_DETAIL_ONNX_FIELDS_HPP

#include <stemma/config.hpp>

#include <cstdint>

/// Field numbers of the messages in onnx.proto3, IR version 13, by message.
namespace stemma::inline STEMMA_ABI::detail::onnx_fields {

struct model {
    enum : std::uint32_t {
        ir_version = 1,
        producer_name = 2,
        producer_version = 3,
        graph = 7,
        opset_import = 8,
        metadata_props = 14,
        training_info = 20,
        functions = 25,
    };
};

struct training_info {
    enum : std::uint32_t { initialization = 1, algorithm = 2 };
};

struct opset {
    enum : std::uint32_t { domain = 1, version = 2 };
};

struct graph {
    enum : std::uint32_t {
        node = 1,
        name = 2,
        initializer = 5,
        doc_string = 10,
        input = 11,
        output = 12,
        value_info = 13,
        quantization_annotation = 14,
        sparse_initializer = 15,
        metadata_props = 16,
    };
};

struct annotation {
    enum : std::uint32_t { tensor_name = 1, parameters = 2 };
};

struct node {
    enum : std::uint32_t {
        input = 1,
        output = 2,
        name = 3,
        op_type = 4,
        attribute = 5,
        doc_string = 6,
        domain = 7,
        overload = 8,
        metadata_props = 9,
    };
};

struct attribute {
    enum : std::uint32_t {
        name = 1,
        f = 2,
        i = 3,
        s = 4,
        t = 5,
        g = 6,
        floats = 7,
        ints = 8,
        strings = 9,
        tensors = 10,
        graphs = 11,
        doc_string = 13,
        type_proto = 14,
        type_protos = 15,
        type = 20,
        ref_attr_name = 21,
        sparse_tensor = 22,
        sparse_tensors = 23,
    };
};

struct tensor {
    enum : std::uint32_t {
        dims = 1,
        data_type = 2,
        float_data = 4,
        int32_data = 5,
        string_data = 6,
        int64_data = 7,
        name = 8,
        raw_data = 9,
        double_data = 10,
        uint64_data = 11,
        doc_string = 12,
        external_data = 13,
        data_location = 14,
        metadata_props = 16,
    };
};

struct sparse_tensor {
    enum : std::uint32_t { values = 1, indices = 2, dims = 3 };
};

struct value_info {
    enum : std::uint32_t { name = 1, type = 2, metadata_props = 4 };
};

struct function {
    enum : std::uint32_t {
        name = 1,
        input = 4,
        output = 5,
        attribute = 6,
        node = 7,
        opset_import = 9,
        domain = 10,
        attribute_proto = 11,
        value_info = 12,
        overload = 13,
        metadata_props = 14,
    };
};

struct entry {
    enum : std::uint32_t { key = 1, value = 2 };
};

} // namespace stemma::inline STEMMA_ABI::detail::onnx_fields

#endif // STEMMA_ONNX_DETAIL_ONNX_FIELDS_HPP
