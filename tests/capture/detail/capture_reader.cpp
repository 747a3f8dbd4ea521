// SPDX-License-Identifier: Apache-2.0
#include <stemma/capture/detail/capture_reader.hpp>

#include "../../catch.hpp"
#include "../../model_files.hpp"
#include "../../refusal.hpp"

#include <stemma/core/id.hpp>
#include <stemma/error.hpp>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace test::capture_detail_capture_reader {

using stemma::error_code;
using stemma::detail::capture_reader;

namespace {

std::optional<error_code> refusal(std::string_view text) {
    return test::refusal("capture.json", [&] {
        capture_reader reader;
        reader.read(text, "capture.json");
        return reader.tree();
    });
}

} // namespace

TEST_CASE("capture_reader: modules become a tree") {
    capture_reader reader;
    CHECK_FALSE(reader.has_modules());
    reader.read(R"({"schema":"stemma.capture/1","future":[1,{"a":2}],"modules":[
        {"name":"","class_name":"Net","qualified_class":"app.Net","parent":null,"calls":1},
        {"name":"fc","class_name":"Linear","parent":"","aliases":["head"],
         "own_parameters":[{"name":"weight","shape":[4,8],"dtype":"float32","trainable":true}],
         "own_buffers":[{"name":"mask","shape":[8]}]},
        {"name":"fc.act"}]})",
                "capture.json");
    CHECK(reader.has_modules());
    CHECK_FALSE(reader.has_operations());
    const auto tree = reader.tree();
    REQUIRE(tree.size() == 3);
    CHECK(tree.class_name(0) == "Net");
    CHECK(tree.path(2) == "fc.act");
    CHECK(tree.parameter_count(1) == 1);
    CHECK(tree.buffer_count(1) == 1);
    REQUIRE(tree.aliases().size() == 1);
    CHECK(tree.aliases()[0].path == "head");
}

TEST_CASE("capture_reader: where nothing was counted to run, calls are unknown") {
    const auto calls_of = [](const std::string& root, const std::string& child) {
        capture_reader reader;
        reader.read(R"({"modules":[{"name":"","class_name":"Net","calls":)" + root +
                        R"(},{"name":"fc","class_name":"Linear","calls":)" + child + "}]}",
                    "capture.json");
        const auto tree = reader.tree();
        return std::pair(tree.calls(0), tree.calls(1));
    };
    CHECK(calls_of("0", "0") == std::pair(stemma::no_id, stemma::no_id));
    CHECK(calls_of("1", "0") == std::pair(stemma::id{1}, stemma::id{0}));
    CHECK(calls_of("0", "2") == std::pair(stemma::id{0}, stemma::id{2}));
}

TEST_CASE("capture_reader: of several files with modules, the first counts") {
    capture_reader reader;
    reader.read(R"({"modules":[{"name":"","class_name":"Net"},{"name":"fc","aliases":["head"]}]})",
                "first.json");
    reader.read(
        R"({"modules":[{"name":"","class_name":"Other"},["fc","Linear","torch.nn.Linear",[]]],
        "aliases":[{"alias":"head","canonical":"fc"}],
        "events":[{"kind":"enter","module":"","stack":[]},
        {"kind":"func","op":"relu","stack":[""],"in_ids":["i0"]},{"kind":"exit","module":""}]})",
        "second.json");
    const auto tree = reader.tree();
    CHECK(tree.size() == 2);
    CHECK(tree.class_name(0) == "Net");
    CHECK(tree.aliases().size() == 1);
    reader.read(tree, "third.onnx");
    CHECK(reader.trace(tree).size() == 1);
    CHECK_THROWS_WITH(reader.read(R"({"modules":[{"name":""},{"name":"conv"}]})", "fourth.json"),
                      "fourth.json: module 2: 'conv' is not among the modules of the previous "
                      "files; the one that "
                      "lists all must come first");
    CHECK_THROWS_WITH(reader.read(R"({"modules":[{"name":""},{"name":""}]})", "fifth.json"),
                      "fifth.json: module 2: has two roots");
}

TEST_CASE("capture_reader: parts may come in one file or in several, under either name") {
    const std::string modules = R"("modules":[{"name":""},{"name":"fc"}])";
    const std::string events = R"([{"kind":"enter","module":"","stack":[]},
        {"kind":"func","op":"relu","stack":[""],"in_ids":["i0"]},{"kind":"exit","module":""}])";
    const std::string nodes = R"([{"name":"r","op":"call_method","target":"relu"},
        {"name":"output","op":"output","target":"output"}])";
    for (const auto& files : {std::vector{"{" + modules + R"(,"trace":{"events":)" + events +
                                          R"(},"fx":{"nodes":)" + nodes + "}}"},
                              std::vector{"{" + modules + "}",
                                          R"({"format":"fixture-trace/1","events":)" + events + "}",
                                          R"({"format":"fixture-fx/1","nodes":)" + nodes + "}"}}) {
        capture_reader reader;
        for (const auto& file : files) {
            reader.read(file, "capture.json");
        }
        CHECK(reader.has_operations());
        const auto tree = reader.tree();
        CHECK(reader.trace(tree).size() == 1);
        const auto graphs = reader.fx(tree);
        REQUIRE(graphs.size() == 1);
        CHECK(graphs.front().size() == 1);
        CHECK(reader.torchscript(tree).empty());
        CHECK(reader.exported().empty());
    }
}

TEST_CASE("capture_reader: reads TorchScript operators and the record of an export") {
    capture_reader reader;
    reader.read(R"({"modules":[{"name":""}],
        "torchscript":{"operations":[{"op":"aten::relu","module":""}]},
        "export":{"nodes":[{"graph":"","index":0,"op_type":"Relu","scope":"app.Net::"}]}})",
                "capture.json");
    CHECK(reader.has_operations());
    const auto tree = reader.tree();
    CHECK(reader.torchscript(tree).size() == 1);
    CHECK(reader.exported().nodes().size() == 1);
}

TEST_CASE("capture_reader: reads just the modules of a sidecar") {
    capture_reader reader;
    reader.read(R"({"nodes":[{"index":0,"name":"n","op_type":"Relu","scope_module":"a"}],
        "modules":[{"path":"","class":"Net","qualified_class":"app.Net","parent":null,"calls":1},
        {"path":"a","class":"A","parent":"","aliases":["b"],"calls":2,
         "parameters":[{"name":"w","shape":[2,3],"dtype":"float32","trainable":true}],
         "buffers":[{"name":"mean","shape":[3],"dtype":"float32"}]}],
        "schema":"stemma.sidecar/1"})",
                "sidecar.json");
    CHECK_FALSE(reader.has_operations());
    const auto tree = reader.tree();
    REQUIRE(tree.size() == 2);
    CHECK(tree.qualified_class(0) == "app.Net");
    CHECK(tree.class_name(1) == "A");
    CHECK(tree.calls(1) == 2);
    CHECK(tree.aliases().size() == 1);
    REQUIRE(tree.parameter_count(1) == 1);
    CHECK(tree.parameter(1, 0).trainable);
    CHECK(tree.buffer_count(1) == 1);
}

TEST_CASE("capture_reader: a tree is read as if its modules had been listed") {
    const auto before = test::read_capture(test::fixture("shared_twice/modules.json"));
    capture_reader reader;
    reader.read(before, "record");
    reader.read(R"({"torchscript":{"operations":[{"op":"aten::relu","module":""}]}})", "more");
    CHECK(reader.has_modules());
    const auto after = reader.tree();
    REQUIRE(after.size() == before.size());
    for (stemma::id m = 0; m < before.size(); ++m) {
        CHECK(after.path(m) == before.path(m));
        CHECK(after.class_name(m) == before.class_name(m));
        CHECK(after.calls(m) == before.calls(m));
        REQUIRE(after.parameter_count(m) == before.parameter_count(m));
        for (std::size_t i = 0; i < before.parameter_count(m); ++i) {
            CHECK(after.parameter(m, i).name == before.parameter(m, i).name);
        }
    }
    CHECK(after.aliases().size() == before.aliases().size());
    CHECK(after.shared_parameters().size() == before.shared_parameters().size());
}

TEST_CASE("capture_reader: rejects inconsistent captures and anything else") {
    for (const char* text :
         {"", "[]", "7", R"({"modules":[7]})", R"({"modules":[{}]})", R"({"modules":[{"name":"")",
          R"({"trace":{"events":[{}]}})", R"({"events":[7]})", R"({"nodes":[{"name":"a"}]})",
          R"({"export":{"nodes":[{}]}})", R"({"torchscript":{"operations":[{}]}})",
          R"({"trace":{"unhooked":[7]}})"}) {
        INFO(text);
        CHECK(refusal(text) == error_code::malformed);
    }
    for (const char* text :
         {R"({"modules":[{"name":""},{"name":""}]})", R"({"modules":[{"name":"a"}]})",
          R"({"modules":[{"name":""},{"name":"a.b"}]})",
          R"({"modules":[{"name":""},{"name":"."}]})",
          R"({"modules":[{"name":""},{"name":"a","parent":"b"}]})",
          R"({"modules":[{"name":""}],"aliases":[{"alias":"b","canonical":"a"}]})"}) {
        INFO(text);
        CHECK(refusal(text) == error_code::contradiction);
    }
}

TEST_CASE("capture_reader: reads every trace and FX graph of the fixtures without faults") {
    std::size_t traces = 0;
    for (const auto& modules : test::capture_files()) {
        const auto folder = std::filesystem::path(modules).parent_path();
        capture_reader reader;
        for (const char* part : {"modules.json", "trace.json", "fx.json"}) {
            if (std::filesystem::exists(folder / part)) {
                reader.read(test::read_bytes((folder / part).string()), part);
            }
        }
        const auto tree = reader.tree();
        const auto trace = reader.trace(tree);
        INFO(folder.string());
        CHECK(trace.faults().empty());
        for (const auto& graph : reader.fx(tree)) {
            CHECK(graph.faults().empty());
        }
        traces += trace.empty() ? 0U : 1U;
    }
    CHECK(traces > 10);
}

} // namespace test::capture_detail_capture_reader
