// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_PROTO_INFER_TYPES_HPP
#define STEMMA_ONNX_PROTO_INFER_TYPES_HPP

#include <stemma/onnx/schema_changes.hpp>

#include <onnx/defs/schema.h>
#include <onnx/onnx_pb.h>
#include <onnx/shape_inference/implementation.h>

#include <cstdint>
#include <exception>
#include <string>

namespace stemma {

namespace detail {

/// Whether all operators of a graph, at any depth, mean the same in both opsets.
[[nodiscard]] inline bool is_same_in(const onnx::GraphProto& graph, std::int64_t earlier,
                                     std::int64_t later) {
    for (const auto& node : graph.node()) {
        const bool standard = node.domain().empty() || node.domain() == "ai.onnx";
        if (standard && changed_between(node.op_type(), earlier, later)) {
            return false;
        }
        for (const auto& attribute : node.attribute()) {
            if (attribute.has_g() && !is_same_in(attribute.g(), earlier, later)) {
                return false;
            }
            for (const auto& inner : attribute.graphs()) {
                if (!is_same_in(inner, earlier, later)) {
                    return false;
                }
            }
        }
    }
    return true;
}

/// Makes a model one that the installed library knows, if that changes no operator's meaning.
[[nodiscard]] inline bool lower(onnx::ModelProto& model) {
    const auto& known = onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map();
    if (model.ir_version() > onnx::Version::IR_VERSION) {
        model.set_ir_version(onnx::Version::IR_VERSION);
    }
    for (auto& opset : *model.mutable_opset_import()) {
        const bool standard = opset.domain().empty() || opset.domain() == "ai.onnx";
        const auto range = known.find(standard ? std::string() : opset.domain());
        if (range == known.end() || opset.version() <= range->second.second) {
            continue;
        }
        const std::int64_t newest = range->second.second;
        if (!standard || !is_same_in(model.graph(), newest, opset.version())) {
            return false;
        }
        opset.set_version(newest);
    }
    return true;
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
///
/// A model newer than the library is looked at as an older one when no operator in it changed
/// since. Calls `f(graph, name, type)` for each value of a known type: graphs are numbered as in
/// onnx_model without functions, and a type is the bytes of a TypeProto. Returns: "" or why nothing
/// could be inferred. Complexity: that of the library.
template <class Function>
[[nodiscard]] std::string infer_types(onnx::ModelProto& model, Function f) {
    if (!detail::lower(model)) {
        return "the model uses operators of an opset newer than the installed onnx library knows";
    }
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

} // namespace stemma

#endif // STEMMA_ONNX_PROTO_INFER_TYPES_HPP
