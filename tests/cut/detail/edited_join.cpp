// SPDX-License-Identifier: Apache-2.0
#include <stemma/cut/detail/edited_join.hpp>

#include "../../catch.hpp"
#include "../../edited_split.hpp"
#include "../../find_in_model.hpp"
#include "../../model_files.hpp"
#include "../../wire_builder.hpp"

#include <stemma/error.hpp>
#include <stemma/types/value_types.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace test::cut_detail_edited_join {

namespace {

std::string text_of(const stemma::detail::message_tree& rope,
                    const stemma::detail::split_folder& folder) {
    std::string text;
    rope.for_each(
        [&](stemma::id file, std::uint64_t begin, std::uint64_t size) {
            text.append(stemma::detail::split_files::at(folder, file).bytes().substr(begin, size));
        },
        [&](std::string_view more) { text.append(more); });
    return text;
}

std::string joined(const test::edited_split& split) {
    const auto folder = split.open();
    return text_of(stemma::detail::edited_join(*folder).build(), *folder);
}

} // namespace

TEST_CASE("edited_join: edits replace the original", "[onnx][join_edited]") {
    test::edited_split split;
    split.replace(1, "Relu", "Tanh");
    const auto source = test::read_bytes(split.folder().file("model.onnx"));
    const auto bytes = joined(split);
    const stemma::wire_model before(source);
    const stemma::wire_model after(bytes);
    REQUIRE(after.node_count() == before.node_count());
    for (stemma::id node = 0; node < after.node_count(); ++node) {
        CHECK(after.name(node) == before.name(node));
        CHECK(after.op_type(node) ==
              (before.op_type(node) == "Relu" ? std::string_view("Tanh") : before.op_type(node)));
        CHECK(after.inputs(node).size() == before.inputs(node).size());
    }
    CHECK(after.tensors().size() == before.tensors().size());
    CHECK(after.graph(0).inputs.size() == 1);
    CHECK(after.graph(0).outputs.size() == 1);
}

TEST_CASE("edited_join: adds new nodes, weights, types, operator sets and functions",
          "[onnx][join_edited]") {
    test::edited_split split;
    split.add_to_graph(0, test::message()
                              .inner(1, test::node("Own", {"x", "new"}, {"n"}, "call", "local"))
                              .inner(5, test::tensor("new", {}, "1234"))
                              .inner(13, test::value_info("n")));
    split.add(0, test::message()
                     .inner(8, test::opset("local", 1))
                     .inner(25, test::function("local", "Own", {"p", "q"}, {"r"},
                                               {test::node("Add", {"p", "q"}, {"r"})})));
    const auto bytes = joined(split);
    const stemma::wire_model after(bytes);
    const auto call = test::node_called(after, "call");
    REQUIRE(call != stemma::no_id);
    CHECK(after.callee(call) != stemma::no_id);
    CHECK(after.is_initializer(test::value_called(after, "new")));
    std::size_t imports = 0;
    for (const auto& opset : after.opset_imports()) {
        imports += opset.domain == "local" && opset.version == 1 ? 1U : 0U;
    }
    CHECK(imports == 1);
    std::size_t declared = 0;
    for (const auto& info : after.value_infos()) {
        declared += after.text(info.name) == "n" ? 1U : 0U;
    }
    CHECK(declared == 1);
}

TEST_CASE("edited_join: keeps the types of initializers and inputs, and edits of sparse ones",
          "[onnx][join_edited]") {
    const test::scratch_folder scratch;
    const auto sparse = [](const std::string& data) {
        return test::message()
            .inner(1, test::tensor("s", {1}, data))
            .inner(2, test::tensor("", {1}, "iiii"))
            .number(3, 4);
    };
    auto graph = test::graph(
        {test::node("Sum", {"x", "w", "s"}, {"a"}, "n1"), test::node("Neg", {"a"}, {"y"}, "n2")},
        {"x"}, {"y"});
    graph.inner(5, test::tensor("w", {}, "wwww")).inner(15, sparse("ssss"));
    for (const auto* name : {"x", "w", "s", "a"}) {
        graph.inner(13, test::value_info(name));
    }
    test::split_scene scene(scratch.make("model.onnx", test::model(graph).bytes()));
    scene.write(scene.planner.divide(stemma::balanced_parts{2}), scratch.path());
    const auto join = [&](const std::string& first) {
        static_cast<void>(scratch.make("0.onnx", first));
        const stemma::detail::split_folder folder(scratch.path());
        return text_of(stemma::detail::edited_join(folder).build(), folder);
    };
    const auto declared = [](const std::string& bytes) {
        test::names names;
        const stemma::wire_model model(bytes);
        for (const auto& info : model.value_infos()) {
            if (info.field == 13) {
                names.emplace_back(model.text(info.name));
            }
        }
        std::sort(names.begin(), names.end());
        return names;
    };
    auto first = test::read_bytes(scratch.file("0.onnx"));
    const auto joined = join(first.replace(first.find("ssss"), 4, "SSSS"));
    CHECK(joined.find("SSSS") != joined.npos);
    CHECK(joined.find("ssss") == joined.npos);
    CHECK(declared(joined) == test::names{"a", "s", "w", "x"});
    CHECK(declared(join(test::with_tensor(first, test::tensor("w", {1}, "wwww")))) ==
          test::names{"a", "s", "x"});
}

TEST_CASE("edited_join: an input with an initializer goes with it, and has its type",
          "[onnx][join_edited]") {
    const test::scratch_folder scratch;
    const auto two = [](const test::message& first) {
        return test::graph({first, test::node("Neg", {"a"}, {"y"}, "n2")}, {"x", "w"}, {"y"});
    };
    auto graph = two(test::node("Add", {"x", "w"}, {"a"}, "n1"));
    graph.inner(5, test::tensor("w", {}, "wwww")).inner(13, test::value_info("a"));
    test::split_scene scene(scratch.make("model.onnx", test::model(graph, 3).bytes()));
    scene.write(scene.planner.divide(stemma::balanced_parts{2}), scratch.path());
    const auto first = test::read_bytes(scratch.file("0.onnx"));
    using inputs = std::vector<std::pair<std::string, std::string>>; // names and types
    const auto join = [&](const std::string& part) {
        static_cast<void>(scratch.make("0.onnx", part));
        const stemma::detail::split_folder folder(scratch.path());
        const auto bytes = text_of(stemma::detail::edited_join(folder).build(), folder);
        const stemma::wire_model model(bytes);
        inputs infos;
        for (const auto& info : model.value_infos()) {
            if (info.field == 11) {
                infos.emplace_back(model.text(info.name),
                                   stemma::detail::declared_type(model, info));
            }
        }
        return infos;
    };
    const auto scalar = stemma::detail::tensor_type({.data_type = 1});
    const auto part = [](const test::message& node, const test::names& in) {
        return test::model(test::graph({node}, in, {"a"}), 3).bytes();
    };
    CHECK(join(part(test::node("Neg", {"x"}, {"a"}), {"x"})) == inputs{{"x", scalar}});
    CHECK(join(test::with_tensor(first, test::tensor("w", {1}, "wwww"))) ==
          inputs{{"x", scalar}, {"w", stemma::detail::tensor_type({.dims = {1}, .data_type = 1})}});
    // The part now takes it from outside.
    CHECK(join(part(test::node("Add", {"x", "w"}, {"a"}), {"x", "w"})) ==
          inputs{{"x", scalar}, {"w", scalar}});
    CHECK_THROWS_WITH(join(part(test::node("Add", {"x", "w"}, {"a"}), {"x"})),
                      Catch::Contains("reads 'w', which no part produces"));
}

TEST_CASE("edited_join: an output of the model has the type that an edited part declares",
          "[onnx][join_edited]") {
    test::edited_split split;
    auto info = test::value_info("y").bytes();
    const auto before = info;
    info[info.find("\x08\x01") + 1] = 10;
    split.replace(1, before, info);
    const auto bytes = joined(split);
    const stemma::wire_model after(bytes);
    REQUIRE(after.graph(0).outputs.size() == 1);
    CHECK(bytes.find(info) != bytes.npos);
    CHECK(bytes.find(before) == bytes.npos);
}

TEST_CASE("edited_join: rejects another version of an operator set or function",
          "[onnx][join_edited]") {
    test::edited_split version;
    version.add(0, test::message().inner(8, test::opset("", 11)));
    CHECK_THROWS_AS(joined(version), stemma::error);
    version.add(0, test::message().inner(8, test::opset("", 17)));
    CHECK_NOTHROW(joined(version)); // the last one counts

    const auto function = [](const std::string& op) {
        return test::message().inner(
            25, test::function("local", "Own", {"p"}, {"r"}, {test::node(op, {"p"}, {"r"})}));
    };
    test::edited_split same;
    same.add(0, function("Neg")).add(1, function("Neg"));
    CHECK_NOTHROW(joined(same));
    test::edited_split other;
    other.add(0, function("Neg")).add(1, function("Abs"));
    CHECK_THROWS_AS(joined(other), stemma::error);
}

TEST_CASE("edited_join: a function may be written anew, with other tags", "[onnx][join_edited]") {
    const auto function = [](const test::message& node) {
        return test::message().inner(25, test::function("local", "Own", {"p"}, {"r"}, {node}));
    };
    const auto plain = [] { return test::node("Neg", {"p"}, {"r"}); };
    const auto entry = test::entry("key", "value");
    test::edited_split same;
    same.add(0, function(plain().inner(9, entry).text(6, "note")));
    same.add(1, function(plain()
                             .inner(9, test::entry("pkg.stemma.module", "fc"))
                             .text(6, "note\nstemma#1")
                             .inner(9, entry)));
    CHECK_NOTHROW(joined(same));
    test::edited_split other;
    other.add(0, function(plain().inner(9, entry).text(6, "note")));
    other.add(1, function(plain().text(6, "another").inner(9, entry)));
    CHECK_THROWS_AS(joined(other), stemma::error);
}

} // namespace test::cut_detail_edited_join
