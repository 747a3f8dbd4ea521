// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TESTS_PROTO_TOLD_MODELS_HPP
#define STEMMA_TESTS_PROTO_TOLD_MODELS_HPP

#include "newer_onnx.pb.h"

#include <stemma/core/id.hpp>
#include <stemma/error.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <google/protobuf/unknown_field_set.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// What protobuf's own parser makes of a file is the truth: whatever it accepts, the scan accepts
// and reads alike. Both tell what they read as sorted lines of text, which are compared.
namespace test {

using stemma::id;
using lines = std::vector<std::string>;

inline std::string in_brackets(std::string_view text) {
    return "<" + std::string(text) + ">";
}

template <class Names>
std::string list_of(const Names& all) {
    std::string text = "(";
    for (const auto& name : all) {
        text += in_brackets(name);
    }
    return text + ")";
}

/// Returns: the last text in a field that the schema does not know.
template <class Message>
std::string unknown_text(const Message& message, int number) {
    std::string text;
    const auto& fields = message.GetReflection()->GetUnknownFields(message);
    for (int i = 0; i < fields.field_count(); ++i) {
        if (fields.field(i).number() == number &&
            fields.field(i).type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED) {
            text = fields.field(i).length_delimited();
        }
    }
    return text;
}

template <class Message>
std::string overload_of(const Message& message, int number) {
    if constexpr (requires { message.overload(); }) {
        return message.overload();
    } else {
        return unknown_text(message, number);
    }
}

/// Lists the contents of a message parsed by protobuf.
class proto_teller {
public:
    lines told;

    template <class Model>
    void tell(const Model& model) {
        told.push_back("ir " + std::to_string(model.ir_version()));
        told.push_back("by " + in_brackets(model.producer_name()) +
                       in_brackets(model.producer_version()));
        for (const auto& set : model.opset_import()) {
            told.push_back("opset " + in_brackets(set.domain()) + std::to_string(set.version()));
        }
        for (const auto& entry : model.metadata_props()) {
            told.push_back("metadata " + in_brackets(entry.key()) + in_brackets(entry.value()));
        }
        tell_graph(model.graph(), "");
        for (const auto& function : model.functions()) {
            tell_function(function);
        }
    }

private:
    template <class Graph>
    void tell_graph(const Graph& graph, const std::string& path) {
        told.push_back(path + " graph " + in_brackets(graph.name()));
        const auto tell_names = [&](const char* what, const auto& messages) {
            for (const auto& message : messages) {
                told.push_back(path + what + in_brackets(message.name()));
            }
        };
        tell_names(" input ", graph.input());
        tell_names(" output ", graph.output());
        tell_names(" value ", graph.value_info());
        tell_names(" initializer ", graph.initializer());
        for (const auto& sparse : graph.sparse_initializer()) {
            if (sparse.has_values()) {
                told.push_back(path + " sparse " + in_brackets(sparse.values().name()));
            }
        }
        tell_nodes(graph.node(), path);
    }

    template <class Nodes>
    void tell_nodes(const Nodes& nodes, const std::string& path) {
        for (int i = 0; i < nodes.size(); ++i) {
            const auto& node = nodes.Get(i);
            const auto place = path + " " + std::to_string(i);
            told.push_back(place + in_brackets(node.name()) + in_brackets(node.op_type()) +
                           in_brackets(node.domain()) + in_brackets(overload_of(node, 8)) +
                           list_of(node.input()) + list_of(node.output()));
            for (const auto& attribute : node.attribute()) {
                const auto body =
                    path + (path.empty() ? "" : "/") + std::to_string(i) + "/" + attribute.name();
                if (attribute.has_g()) {
                    tell_graph(attribute.g(), body);
                }
                for (int k = 0; k < attribute.graphs_size(); ++k) {
                    tell_graph(attribute.graphs(k), body + "[" + std::to_string(k) + "]");
                }
            }
        }
    }

    template <class Function>
    void tell_function(const Function& function) {
        const auto overload = overload_of(function, 13);
        const auto path = "@" + function.domain() + "::" + function.name() +
                          (overload.empty() ? "" : ":" + overload);
        told.push_back(path + " graph " + in_brackets(function.name()));
        for (const auto& name : function.input()) {
            told.push_back(path + " input " + in_brackets(name));
        }
        for (const auto& name : function.output()) {
            told.push_back(path + " output " + in_brackets(name));
        }
        tell_nodes(function.node(), path);
    }
};

/// Tells what the scan found.
inline lines told_by_scan(const stemma::wire_model& model) {
    lines texts;
    texts.push_back("ir " + std::to_string(model.ir_version()));
    texts.push_back("by " + in_brackets(model.producer_name()) +
                    in_brackets(model.producer_version()));
    for (const auto& set : model.opset_imports()) {
        texts.push_back("opset " + in_brackets(set.domain) + std::to_string(set.version));
    }
    model.for_each_model_metadata([&](std::string_view key, std::string_view value) {
        texts.push_back("metadata " + in_brackets(key) + in_brackets(value));
    });
    lines paths;
    for (id g = 0; g < model.graph_count(); ++g) {
        paths.push_back(model.graph_path(g));
        texts.push_back(paths.back() + " graph " + in_brackets(model.text(model.graph(g).name)));
        if (model.graph(g).kind == stemma::graph_kind::function) {
            for (auto value : model.graph(g).inputs) {
                texts.push_back(paths.back() + " input " + in_brackets(model.value_name(value)));
            }
            for (auto value : model.graph(g).outputs) {
                texts.push_back(paths.back() + " output " +
                                in_brackets(value == stemma::no_id ? "" : model.value_name(value)));
            }
        }
    }
    for (const auto& info : model.value_infos()) {
        if (model.graph(info.graph).kind != stemma::graph_kind::function) {
            const char* what = info.field == 11   ? " input "
                               : info.field == 12 ? " output "
                                                  : " value ";
            texts.push_back(paths[info.graph] + what + in_brackets(model.text(info.name)));
        }
    }
    for (const auto& tensor : model.tensors()) {
        texts.push_back(paths[tensor.graph] + (tensor.sparse ? " sparse " : " initializer ") +
                        in_brackets(model.text(tensor.name)));
    }
    for (id node = 0; node < model.node_count(); ++node) {
        lines inputs;
        lines outputs;
        for (auto value : model.inputs(node)) {
            inputs.emplace_back(value == stemma::no_id ? "" : model.value_name(value));
        }
        for (id i = 0; i < model.output_count(node); ++i) {
            outputs.emplace_back(model.value_name(model.first_output(node) + i));
        }
        texts.push_back(paths[model.graph_of(node)] + " " + std::to_string(model.position(node)) +
                        in_brackets(model.name(node)) + in_brackets(model.op_type(node)) +
                        in_brackets(model.domain(node)) + in_brackets(model.overload(node)) +
                        list_of(inputs) + list_of(outputs));
    }
    return texts;
}

/// Whether a newer schema cannot read what this one keeps as unknown `value_info` of functions. It
/// refuses the file then, and so may the scan.
template <class Model>
bool has_unreadable_value_infos(const Model& model) {
    for (const auto& function : model.functions()) {
        const auto& fields = function.GetReflection()->GetUnknownFields(function);
        for (int i = 0; i < fields.field_count(); ++i) {
            newer_onnx::ValueInfoProto info;
            if (fields.field(i).number() == 12 &&
                fields.field(i).type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED &&
                !info.ParseFromString(fields.field(i).length_delimited())) {
                return true;
            }
        }
    }
    return false;
}

inline lines sorted(lines texts) {
    std::sort(texts.begin(), texts.end());
    return texts;
}

/// What the scan and the parser of one schema make of a file.
struct comparison {
    bool accepted = false;  ///< by protobuf
    std::string difference; ///< "" where they agree
};

template <class Model>
comparison compare(std::string_view bytes) {
    Model parsed;
    comparison result;
    result.accepted =
        parsed.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) && parsed.has_graph();
    std::optional<stemma::wire_model> scanned;
    try {
        scanned.emplace(bytes, "scanned");
    } catch (const stemma::error& refusal) {
        if (result.accepted && !has_unreadable_value_infos(parsed)) {
            result.difference =
                std::string("protobuf accepts what the scan refuses: ") + refusal.what();
        }
        return result;
    }
    if (!result.accepted) {
        return result;
    }
    proto_teller expected;
    expected.tell(parsed);
    const auto by_scan = sorted(told_by_scan(*scanned));
    const auto truth = sorted(std::move(expected.told));
    const auto [mine, theirs] =
        std::mismatch(by_scan.begin(), by_scan.end(), truth.begin(), truth.end());
    if (mine != by_scan.end() || theirs != truth.end()) {
        result.difference = "the scan reads '" + (mine == by_scan.end() ? "nothing" : *mine) +
                            "', protobuf '" + (theirs == truth.end() ? "nothing" : *theirs) + "'";
    }
    return result;
}

} // namespace test

#endif // STEMMA_TESTS_PROTO_TOLD_MODELS_HPP
