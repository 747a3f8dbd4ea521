// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/wire/wire_model.hpp>

#include "../../catch.hpp"
#include "../../model_files.hpp"
#include "../../random_model.hpp"
#include "../../random_numbers.hpp"
#include "../../wire_builder.hpp"
#include "newer_onnx.pb.h"

#include <stemma/core/id.hpp>
#include <stemma/error.hpp>

#include <google/protobuf/unknown_field_set.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What protobuf's own parser makes of a file is the truth: whatever it accepts, the scan accepts
// and reads alike. Both tell what they read as sorted lines of text, which are compared.
namespace {

using stemma::id;
using lines = std::vector<std::string>;

/// Longer runs are asked for from outside: how often every file is damaged.
std::size_t rounds() {
    const char* asked = std::getenv("STEMMA_RANDOM_ROUNDS");
    return asked == nullptr ? 1 : std::strtoul(asked, nullptr, 10);
}

std::string in_brackets(std::string_view text) {
    return "<" + std::string(text) + ">";
}

template <class Names>
std::string list_of(const Names& names) {
    std::string text = "(";
    for (const auto& name : names) {
        text += in_brackets(name);
    }
    return text + ")";
}

/// Returns: the last text in a field that the schema does not know.
template <class Message>
std::string unknown_text(const Message& message, int number) {
    std::string found;
    const auto& fields = message.GetReflection()->GetUnknownFields(message);
    for (int i = 0; i < fields.field_count(); ++i) {
        if (fields.field(i).number() == number &&
            fields.field(i).type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED) {
            found = fields.field(i).length_delimited();
        }
    }
    return found;
}

template <class Message>
std::string overload_of(const Message& message, int number) {
    if constexpr (requires { message.overload(); }) {
        return message.overload();
    } else {
        return unknown_text(message, number);
    }
}

/// Tells what is in a message that protobuf parsed.
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
lines told_by_scan(const stemma::wire_model& model) {
    lines told;
    told.push_back("ir " + std::to_string(model.ir_version()));
    told.push_back("by " + in_brackets(model.producer_name()) +
                   in_brackets(model.producer_version()));
    for (const auto& set : model.opset_imports()) {
        told.push_back("opset " + in_brackets(set.domain) + std::to_string(set.version));
    }
    model.for_each_model_metadata([&](std::string_view key, std::string_view value) {
        told.push_back("metadata " + in_brackets(key) + in_brackets(value));
    });
    lines paths;
    for (id g = 0; g < model.graph_count(); ++g) {
        paths.push_back(model.graph_path(g));
        told.push_back(paths.back() + " graph " + in_brackets(model.text(model.graph(g).name)));
        if (model.graph(g).kind == stemma::graph_kind::function) {
            for (auto value : model.graph(g).inputs) {
                told.push_back(paths.back() + " input " + in_brackets(model.value_name(value)));
            }
            for (auto value : model.graph(g).outputs) {
                told.push_back(paths.back() + " output " +
                               in_brackets(value == stemma::no_id ? "" : model.value_name(value)));
            }
        }
    }
    for (const auto& info : model.value_infos()) {
        if (model.graph(info.graph).kind != stemma::graph_kind::function) {
            const char* what = info.field == 11   ? " input "
                               : info.field == 12 ? " output "
                                                  : " value ";
            told.push_back(paths[info.graph] + what + in_brackets(model.text(info.name)));
        }
    }
    for (const auto& tensor : model.tensors()) {
        told.push_back(paths[tensor.graph] + (tensor.sparse ? " sparse " : " initializer ") +
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
        told.push_back(paths[model.graph_of(node)] + " " + std::to_string(model.position(node)) +
                       in_brackets(model.name(node)) + in_brackets(model.op_type(node)) +
                       in_brackets(model.domain(node)) + in_brackets(model.overload(node)) +
                       list_of(inputs) + list_of(outputs));
    }
    return told;
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

struct tally {
    std::size_t accepted = 0;
    std::size_t refused = 0;
};

lines sorted(lines told) {
    std::sort(told.begin(), told.end());
    return told;
}

/// Compares the scan with the parser of one schema.
template <class Model>
void compare(const std::string& bytes, tally& counts) {
    Model parsed;
    const bool accepted =
        parsed.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) && parsed.has_graph();
    ++(accepted ? counts.accepted : counts.refused);
    std::optional<stemma::wire_model> scanned;
    try {
        scanned.emplace(bytes, "scanned");
    } catch (const stemma::error& refusal) {
        if (accepted && !has_unreadable_value_infos(parsed)) {
            FAIL_CHECK("protobuf accepts what the scan refuses: " << refusal.what());
        }
        return;
    }
    if (!accepted) {
        return;
    }
    proto_teller expected;
    expected.tell(parsed);
    const auto told = sorted(told_by_scan(*scanned));
    const auto truth = sorted(std::move(expected.told));
    const auto [mine, theirs] = std::mismatch(told.begin(), told.end(), truth.begin(), truth.end());
    if (mine != told.end() || theirs != truth.end()) {
        FAIL_CHECK("the scan reads '" << (mine == told.end() ? "nothing" : *mine) << "', protobuf '"
                                      << (theirs == truth.end() ? "nothing" : *theirs) << "'");
    }
}

void compare_both(const std::string& bytes, tally& counts) {
    compare<onnx::ModelProto>(bytes, counts);
    compare<newer_onnx::ModelProto>(bytes, counts);
}

/// Damages files, mostly where their structure is and not in the weights.
class damager {
public:
    damager(const std::string& bytes, std::uint64_t seed) : random_(seed) {
        const stemma::wire_model model(bytes);
        for (id node = 0; node < model.node_count(); ++node) {
            places_.push_back(model.message(node).begin);
        }
        for (const auto& tensor : model.tensors()) {
            places_.push_back(tensor.message.begin);
        }
        for (const auto& info : model.value_infos()) {
            places_.push_back(info.message.begin);
        }
        for (const auto& container : model.containers()) {
            places_.push_back(container.begin);
        }
        places_.push_back(0);
    }

    std::string damage(std::string bytes) {
        for (auto hits = 1 + random_(3); hits > 0 && !bytes.empty(); --hits) {
            const auto at = place(bytes.size());
            const auto size = std::min(bytes.size() - at, 1 + random_(12));
            switch (random_(8)) {
            case 0:
                bytes.erase(at, size);
                break;
            case 1:
                bytes.insert(at, random_.bytes(size));
                break;
            case 2:
                bytes.insert(at, bytes.substr(at, size));
                break;
            case 3:
                bytes.resize(random_.one_in(8) ? at : bytes.size());
                break;
            case 4:
                bytes[at] = static_cast<char>(random_(256));
                break;
            default:
                bytes[at] =
                    static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ (1U << random_(8)));
            }
        }
        return bytes;
    }

private:
    std::size_t place(std::size_t size) {
        const auto near = places_[random_(places_.size())] + random_(64);
        return random_.one_in(4) || near < 4 ? random_(size) : std::min(size - 1, near - 4);
    }

    test::random_numbers random_;
    std::vector<std::size_t> places_;
};

std::string nested_bodies(std::size_t depth, const test::message& innermost) {
    auto body = innermost;
    for (std::size_t i = 0; i < depth; ++i) {
        body = test::graph(
            {test::owner_node("If", {"x"}, {"y"}, {test::graph_attribute("then_branch", body)})});
    }
    return test::model(body).bytes();
}

} // namespace

TEST_CASE("wire_model: reads every fixture as protobuf does", "[onnx][scan_differential]") {
    tally counts;
    for (const auto& path : test::model_files()) {
        CAPTURE(path);
        compare_both(test::read_bytes(path), counts);
    }
    CHECK(counts.refused == 0);
    CHECK(counts.accepted == 2 * test::model_files().size());
}

TEST_CASE("wire_model: reads restructured fixtures as protobuf does", "[onnx][scan_differential]") {
    test::random_numbers random(5);
    tally counts;
    for (const auto& path : test::model_files()) {
        CAPTURE(path);
        compare_both(test::restructured(test::read_bytes(path), test::onnx_message::model, random),
                     counts);
    }
    CHECK(counts.refused == 0);
}

TEST_CASE("wire_model: reads random models as protobuf does", "[onnx][scan_differential]") {
    tally counts;
    for (std::uint64_t seed = 0; seed < 2000 * rounds(); ++seed) {
        CAPTURE(seed);
        compare_both(test::random_model(seed, true).bytes(), counts);
    }
    CHECK(counts.refused == 0);
}

TEST_CASE("wire_model: accepts and reads of damaged fixtures what protobuf does",
          "[onnx][scan_differential]") {
    tally counts;
    for (const auto& path : test::model_files()) {
        const auto bytes = test::read_bytes(path);
        damager damager(bytes, bytes.size());
        const auto times = rounds() * std::min<std::size_t>(400, 20 + 2'000'000 / bytes.size());
        for (std::size_t i = 0; i < times; ++i) {
            CAPTURE(path, i);
            compare_both(damager.damage(bytes), counts);
        }
    }
    CHECK(counts.accepted > 1000);
    CHECK(counts.refused > 1000);
}

TEST_CASE("wire_model: accepts and reads of damaged random models what protobuf does",
          "[onnx][scan_differential]") {
    tally counts;
    for (std::uint64_t seed = 0; seed < 500 * rounds(); ++seed) {
        const auto bytes = test::random_model(seed, true).bytes();
        damager damager(bytes, seed);
        for (std::size_t i = 0; i < 40; ++i) {
            CAPTURE(seed, i);
            compare_both(damager.damage(bytes), counts);
        }
    }
    CHECK(counts.accepted > 1000);
    CHECK(counts.refused > 1000);
}

TEST_CASE("wire_model: accepts bodies as deeply nested as protobuf does",
          "[onnx][scan_differential]") {
    tally counts;
    for (std::size_t depth = 28; depth < 40; ++depth) {
        CAPTURE(depth);
        compare_both(nested_bodies(depth, test::message()), counts);
        compare_both(nested_bodies(depth, test::message().text(2, "innermost")), counts);
        compare_both(nested_bodies(depth, test::graph({}, {"x"}, {"y"}, {"w"})), counts);
        compare_both(nested_bodies(depth, test::graph({test::node("Relu", {"x"}, {"y"})})), counts);
    }
    CHECK(counts.accepted > 0);
    CHECK(counts.refused > 0);
}

TEST_CASE("wire_model: accepts unknown groups as deeply nested as protobuf does",
          "[onnx][scan_differential]") {
    tally counts;
    for (std::size_t depth = 90; depth < 105; ++depth) {
        test::message group;
        for (std::size_t i = 0; i < depth; ++i) {
            group = test::message().group(200, group);
        }
        CAPTURE(depth);
        compare_both(test::model(test::graph()).append(group).bytes(), counts);
        compare_both(test::model(test::graph().append(group)).bytes(), counts);
    }
    CHECK(counts.accepted > 0);
    CHECK(counts.refused > 0);
}
