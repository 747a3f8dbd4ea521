// SPDX-License-Identifier: Apache-2.0
#include <stemma/weights/detail/call_modules.hpp>

#include "../../catch.hpp"
#include "../../model_files.hpp"
#include "../../scratch_folder.hpp"
#include "../../wire_builder.hpp"

#include <stemma/weights/detail/weight_uses.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace test::weights_detail_call_modules {

using namespace stemma::detail;

TEST_CASE("call_modules: each call of a function runs in a module of its own") {
    auto bytes = test::model(test::graph(
        {test::node("blocks", {"x", "blocks.0.scale", "blocks.1.scale"}, {"y"}, "/blocks", "own"),
         test::node("block", {"y", "last.scale"}, {"z"}, "/last", "own")},
        {"x"}, {"z"}, {"blocks.0.scale", "blocks.1.scale", "last.scale"}));
    bytes.inner(8, test::opset("own", 1))
        .inner(25, test::function("own", "blocks", {"x", "a", "b"}, {"y"},
                                  {test::node("block", {"x", "a"}, {"h"}, "", "own"),
                                   test::node("block", {"h", "b"}, {"y"}, "", "own")}))
        .inner(25, test::function("own", "block", {"x", "s"}, {"y"},
                                  {test::node("Mul", {"x", "s"}, {"y"})}));
    const test::scratch_folder folder;
    const stemma::attributed_model opened(folder.make("model.onnx", bytes.bytes()), {});
    const call_modules modules(opened);
    const auto uses = collect_weight_uses(opened.model(), modules);
    REQUIRE(uses.size() == 3);
    std::vector<std::string> paths;
    std::vector<stemma::id> calls;
    for (const auto& one : uses) {
        REQUIRE(one.size() == 1);
        CHECK(one.front().node == uses[0].front().node);
        CHECK(opened.model().op_type(one.front().node) == "Mul");
        CHECK(opened.model().graph_of(one.front().top) == 0);
        paths.push_back(opened.modules().path(one.front().module));
        calls.push_back(one.front().call);
    }
    CHECK(paths == std::vector<std::string>{"blocks.0", "blocks.1", "last"});
    CHECK(calls[0] != calls[1]);
    CHECK(calls[0] != calls[2]);
    CHECK(calls[1] != calls[2]);
    const auto product = uses[0].front().node;
    CHECK(modules.copies(product) == 3);
    CHECK(modules.copies(uses[0].front().top) == 0);
    std::vector<std::string> all;
    modules.for_each(product, [&](stemma::id m) { all.push_back(opened.modules().path(m)); });
    std::sort(all.begin(), all.end());
    CHECK(all == paths);
}

TEST_CASE("call_modules: without functions a node runs once, where it is") {
    const stemma::attributed_model opened(test::fixture("mlp/model.onnx"), {});
    const call_modules modules(opened);
    for (stemma::id node = 0; node < opened.model().node_count(); ++node) {
        const auto module = opened.tags().attributions[node].module;
        CHECK(modules.of(node).module == module);
        CHECK(modules.copies(node) == 1);
        modules.for_each(node, [&](stemma::id m) { CHECK(m == module); });
    }
}

TEST_CASE("call_modules: functions that call themselves never run") {
    auto bytes = test::model(test::graph({test::node("f", {"x"}, {"y"}, "", "own")}, {"x"}, {"y"}));
    bytes.inner(8, test::opset("own", 1))
        .inner(25, test::function("own", "f", {"x"}, {"y"},
                                  {test::node("Relu", {"x"}, {"h"}),
                                   test::node("f", {"h"}, {"y"}, "", "own")}));
    const test::scratch_folder folder;
    const stemma::attributed_model opened(folder.make("model.onnx", bytes.bytes()), {});
    CHECK_NOTHROW(call_modules(opened));
}

} // namespace test::weights_detail_call_modules
