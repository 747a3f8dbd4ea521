// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_PROTO_INFER_TYPES_HPP
#define STEMMA_PROTO_INFER_TYPES_HPP

#include <stemma/model/detail/operator_domain.hpp>
#include <stemma/onnx/detail/schema_changes.hpp>

#include <onnx/defs/schema.h>
#include <onnx/onnx_pb.h>
#include <onnx/shape_inference/implementation.h>

#include <cstdint>
#include <exception>
#include <string>

namespace stemma::inline STEMMA_ABI {

namespace detail {

/// Whether all of these nodes and those in their bodies, at any depth, satisfy `fits`.
template <class Nodes, class Predicate>
[[nodiscard]] bool every_node(const Nodes& nodes, const Predicate& fits) {
    for (const auto& node : nodes) {
        if (!fits(node)) {
            return false;
        }
        for (const auto& attribute : node.attribute()) {
            if (attribute.has_g() && !every_node(attribute.g().node(), fits)) {
                return false;
            }
            for (const auto& inner : attribute.graphs()) {
                if (!every_node(inner.node(), fits)) {
                    return false;
                }
            }
        }
    }
    return true;
}

/// Lowers the imports of a model or function to versions known to the installed library, if no used
/// operator changes meaning.
template <class Importer, class Nodes>
[[nodiscard]] bool lower_imports(Importer& importer, const Nodes& nodes) {
    const auto& versions = onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map();
    for (auto& opset : *importer.mutable_opset_import()) {
        const auto domain = plain_domain(opset.domain());
        const auto range = versions.find(std::string(domain));
        if (range == versions.end() || opset.version() <= range->second.second) {
            continue;
        }
        const std::int64_t newest = range->second.second;
        const bool same = every_node(nodes, [&](const onnx::NodeProto& node) {
            return plain_domain(node.domain()) != domain ||
                   (domain.empty() && !changed_between(node.op_type(), newest, opset.version()));
        });
        if (!same) {
            return false;
        }
        opset.set_version(newest);
    }
    return true;
}

/// Lowers a model to versions known to the installed library, if no operator changes meaning.
[[nodiscard]] inline bool lower(onnx::ModelProto& model) {
    if (model.ir_version() > onnx::Version::IR_VERSION) {
        model.set_ir_version(onnx::Version::IR_VERSION);
    }
    for (auto& function : *model.mutable_functions()) {
        if (!lower_imports(function, function.node())) {
            return false;
        }
    }
    return lower_imports(model, model.graph().node());
}

/// Declares sparse initializers as dense, as operators see them.
inline void make_dense(onnx::GraphProto& graph) {
    for (const auto& sparse : graph.sparse_initializer()) {
        auto& info = *graph.add_value_info();
        info.set_name(sparse.values().name());
        auto& type = *info.mutable_type()->mutable_tensor_type();
        type.set_elem_type(sparse.values().data_type());
        type.mutable_shape();
        for (auto extent : sparse.dims()) {
            type.mutable_shape()->add_dim()->set_dim_value(extent);
        }
    }
    graph.clear_sparse_initializer();
    for (auto& node : *graph.mutable_node()) {
        for (auto& attribute : *node.mutable_attribute()) {
            if (attribute.has_g()) {
                make_dense(*attribute.mutable_g());
            }
            for (auto& inner : *attribute.mutable_graphs()) {
                make_dense(inner);
            }
        }
    }
}

template <class Function>
void visit_types(const onnx::GraphProto& graph, std::uint32_t& number, Function& f) {
    const auto own = number++;
    for (const auto* infos : {&graph.value_info(), &graph.input(), &graph.output()}) {
        for (const auto& info : *infos) {
            f(own, info.name(), info.type().SerializeAsString());
        }
    }
    for (const auto& node : graph.node()) {
        for (const auto& attribute : node.attribute()) {
            if (attribute.has_g()) {
                visit_types(attribute.g(), number, f);
            }
            for (const auto& inner : attribute.graphs()) {
                visit_types(inner, number, f);
            }
        }
    }
}

} // namespace detail

/// Infers the types of all values with the shape inference of the ONNX library.
///  A model newer than the library is treated as an older one if no operator in it has changed
/// since; sparse initializers count as dense. Calls `f(graph, name, type)` for each value of a
/// known type: graphs are numbered as in onnx_model without functions, and a type is the bytes of a
/// TypeProto. Returns: "" or why nothing could be inferred. Complexity: that of the library.
template <class Function>
[[nodiscard]] std::string infer_types(onnx::ModelProto& model, Function f) {
    if (!detail::lower(model)) {
        return "the model uses operators of an opset newer than the installed onnx library knows";
    }
    detail::make_dense(*model.mutable_graph());
    try {
        const onnx::ShapeInferenceOptions options(false, 0, true);
        onnx::shape_inference::InferShapes(model, onnx::OpSchemaRegistry::Instance(), options);
    } catch (const std::exception& e) {
        return e.what();
    }
    std::uint32_t number = 0;
    detail::visit_types(model.graph(), number, f);
    return {};
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_PROTO_INFER_TYPES_HPP
