// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TESTS_PROTO_MODELS_HPP
#define STEMMA_TESTS_PROTO_MODELS_HPP

#include "../model_files.hpp"
#include "../wire_builder.hpp"
#include "newer_onnx.pb.h"

#include <onnx/onnx_pb.h>

#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace test {

template <class Proto = onnx::ModelProto>
Proto parse(const std::string& bytes) {
    Proto model;
    if (!model.ParseFromString(bytes)) {
        throw std::runtime_error("not a model");
    }
    return model;
}

template <class Proto = onnx::ModelProto>
Proto load(const std::string& path) {
    return parse<Proto>(read_bytes(path));
}

inline std::string bytes_of(const google::protobuf::Message& model) {
    return model.SerializeAsString();
}

/// Returns: the number of `metadata_props` in a message.
inline unsigned metadata_field(const google::protobuf::Message& message) {
    const auto& type = message.GetDescriptor()->name();
    return type == "NodeProto"                               ? 9
           : type == "ValueInfoProto"                        ? 4
           : type == "ModelProto" || type == "FunctionProto" ? 14
                                                             : 16; // of a graph or tensor
}

/// Appends an entry, of whatever schema.
inline void add_metadata(google::protobuf::Message& message, const std::string& key,
                         const std::string& value) {
    message.MergeFromString(
        test::message().inner(metadata_field(message), test::entry(key, value)).bytes());
}

template <class Graph>
auto& add_node(Graph& graph, const std::string& type, const std::string& name,
               const std::vector<std::string>& inputs, const std::vector<std::string>& outputs) {
    auto& node = *graph.add_node();
    node.set_op_type(type);
    node.set_name(name);
    for (const auto& input : inputs) {
        node.add_input(input);
    }
    for (const auto& output : outputs) {
        node.add_output(output);
    }
    return node;
}

inline void set_overload(onnx::NodeProto& node, const std::string& overload) {
    node.mutable_unknown_fields()->AddLengthDelimited(8, overload);
}
inline void set_overload(newer_onnx::NodeProto& node, const std::string& overload) {
    node.set_overload(overload);
}
inline void set_overload(onnx::FunctionProto& function, const std::string& overload) {
    function.mutable_unknown_fields()->AddLengthDelimited(13, overload);
}
inline void set_overload(newer_onnx::FunctionProto& function, const std::string& overload) {
    function.set_overload(overload);
}

inline void add_value_info(onnx::FunctionProto& function, const std::string& name) {
    onnx::ValueInfoProto info;
    info.set_name(name);
    add_metadata(info, "theirs", "kept");
    function.mutable_unknown_fields()->AddLengthDelimited(12, info.SerializeAsString());
}
inline void add_value_info(newer_onnx::FunctionProto& function, const std::string& name) {
    auto& info = *function.add_value_info();
    info.set_name(name);
    add_metadata(info, "theirs", "kept");
}

template <class Node>
void add_text_attribute(Node& node, const std::string& name, const std::string& text) {
    auto& attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_s(text);
    attribute.set_type(std::remove_cvref_t<decltype(attribute)>::STRING);
}

template <class Node>
auto& add_body(Node& node, const std::string& name) {
    auto& attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(std::remove_cvref_t<decltype(attribute)>::GRAPH);
    return *attribute.mutable_g();
}

template <class Graph>
void fill_values(Graph& graph) {
    for (const auto* name : {"x", "condition", "layer.weight"}) {
        graph.add_input()->set_name(name);
    }
    auto& weight = *graph.add_initializer();
    weight.set_name("layer.weight");
    weight.set_raw_data(std::string("\0\1\2\3", 4));
    add_metadata(weight, "theirs", "kept");
    graph.add_initializer()->set_name("unread.bias");
    graph.add_sparse_initializer()->mutable_values()->set_name("sparse.weight");
    graph.add_sparse_initializer();
    graph.add_value_info()->set_name("h");
    graph.add_value_info()->set_name("of nothing");
    add_metadata(*graph.mutable_value_info(0), "theirs", "kept");
    graph.add_output()->set_name("y");
    graph.add_output()->set_name("ysecond");
}

template <class Graph>
void add_described_nodes(Graph& graph) {
    auto& first = add_node(graph, "MatMul", "/layer/MatMul", {"x", "layer.weight"}, {"h"});
    add_metadata(first, "namespace", "a/b");
    add_metadata(first, "theirs", "kept");
    first.set_doc_string("two\nlines");
    auto& second = add_node(graph, "Add", "/layer/Add", {"h", "sparse.weight"}, {"h2"});
    second.set_doc_string("");
    add_text_attribute(second, "source_module", "somebody's");
    auto& third = add_node(graph, "Split", "", {"h2", "", "nowhere"}, {"", "s0", "h"});
    third.set_doc_string("pkg.stemma is a name\nthat may stand in a text");
    add_text_attribute(third, "hierarchy_tags", "somebody's");
    third.mutable_attribute(0)->set_doc_string("pkg.stemma, they say");
}

template <class Graph>
void add_bodies(Graph& graph) {
    auto& branch = add_node(graph, "If", "/gate/If", {"condition"}, {"g"});
    for (const auto* name : {"then_branch", "else_branch"}) {
        auto& body = add_body(branch, name);
        body.set_name(name);
        body.add_initializer()->set_name("gate.weight");
        auto& loop = add_node(body, "Loop", "/gate/Loop", {"", "condition", "s0"}, {"r"});
        auto& inner = add_body(loop, "body");
        for (const auto* formal : {"i", "c", "v"}) {
            inner.add_input()->set_name(formal);
        }
        add_node(inner, "Mul", "/gate/inner/Mul", {"v", "gate.weight"}, {"w"});
        inner.add_output()->set_name("c");
        inner.add_output()->set_name("w");
        body.add_output()->set_name("r");
        add_node(body, "Identity", "/gate/Identity", {"r"}, {"x"});
    }
    auto& listed = add_node(graph, "Case", "/gate/Case", {"g"}, {"k"});
    listed.set_domain("their.domain");
    auto& cases = *listed.add_attribute();
    cases.set_name("cases");
    cases.set_type(std::remove_cvref_t<decltype(cases)>::GRAPHS);
    for (int i = 0; i < 2; ++i) {
        auto& body = *cases.add_graphs();
        add_node(body, "Neg", "", {"h2"}, {"n"});
        body.add_output()->set_name("n");
    }
}

template <class Proto>
void add_function_with_call(Proto& model, const std::string& overload) {
    auto& function = *model.add_functions();
    function.set_domain("their.domain");
    function.set_name("Block");
    set_overload(function, overload);
    add_metadata(function, "function", "has some");
    function.add_input("a");
    function.add_input("b");
    function.add_output("c");
    add_node(function, "Add", "inside", {"a", "b"}, {"t"});
    add_node(function, "Relu", "", {"t"}, {"c"});
    add_value_info(function, "t");
    add_value_info(function, "of nothing");
    auto& call = add_node(*model.mutable_graph(), "Block", "/block/Block", {"k", "layer.weight"},
                          {"y" + overload});
    call.set_domain("their.domain");
    set_overload(call, overload);
}

/// A small model with everything that exporters seldom write: bodies in bodies, a list of bodies,
/// an overloaded function with value infos, sparse initializers, values without a name, defined
/// twice or not at all, an initializer that is also an input, metadata of somebody else,
/// doc_strings and attributes that look like ours.
template <class Proto>
Proto rare_model() {
    Proto model;
    model.set_ir_version(10);
    model.set_producer_name("hand");
    model.set_producer_version("1");
    auto& opset = *model.add_opset_import();
    opset.set_domain("");
    opset.set_version(21);
    add_metadata(model, "theirs", "kept");
    auto& graph = *model.mutable_graph();
    graph.set_name("main");
    add_metadata(graph, "graph", "has some");
    fill_values(graph);
    add_described_nodes(graph);
    add_bodies(graph);
    add_function_with_call(model, "");
    add_function_with_call(model, "second");
    return model;
}

} // namespace test

#endif // STEMMA_TESTS_PROTO_MODELS_HPP
