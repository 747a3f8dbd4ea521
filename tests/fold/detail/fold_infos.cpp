// SPDX-License-Identifier: Apache-2.0
#include <stemma/fold/detail/fold_infos.hpp>

#include "../../catch.hpp"
#include "../../fold_scene.hpp"

#include <stemma/onnx/detail/onnx_fields.hpp>

#include <map>
#include <string>
#include <vector>

namespace test::fold_detail_fold_infos {

namespace {

/// A ValueInfo of a float tensor with so many elements.
test::message typed(const std::string& name, std::uint64_t elements) {
    const auto shape = test::message().inner(1, test::message().number(1, elements));
    const auto tensor = test::message().number(1, 1).inner(2, shape);
    return test::message().text(1, name).inner(2, test::message().inner(1, tensor));
}

/// Layers whose values have ValueInfos, between nodes and behind them. The last layer's Relu is
/// another one.
test::fold_scene typed_layers(std::uint64_t version) {
    test::message graph;
    std::vector<stemma::attribution> where;
    for (std::size_t i = 0; i < 3; ++i) {
        const auto number = std::to_string(i);
        const auto scope = "/layer." + number + "/";
        const auto flowing = i == 0 ? "x" : "/layer." + std::to_string(i - 1) + "/out";
        graph.inner(13, typed(scope + "out", 4));
        graph.inner(1, test::node("Abs", {flowing}, {scope + "a"}, scope + "Abs"));
        graph.inner(13, typed(scope + "a", 4));
        graph.inner(13, typed(scope + "b", i < 2 ? 5 : 6));
        graph.inner(1, test::node("Neg", {scope + "a"}, {scope + "b"}, scope + "Neg"));
        graph.inner(1, test::node("Exp", {scope + "b"}, {scope + "out"}, scope + "Exp"));
        where.insert(where.end(), 3,
                     {static_cast<stemma::id>(2 + 2 * i), stemma::no_id, 1,
                      stemma::provenance::scope, false});
    }
    graph.inner(13, typed("nowhere", 1)).inner(11, test::value_info("x"));
    graph.inner(12, test::value_info("/layer.2/out")).inner(13, typed("x", 9));
    return {
        test::message().number(1, version).inner(7, graph).inner(8, test::opset("", 17)).bytes(),
        test::layers(3), where};
}

} // namespace

TEST_CASE("fold_infos: ValueInfos of values inside functions are removed, and restored") {
    for (const std::uint64_t version : {3U, 8U, 10U}) {
        auto scene = typed_layers(version);
        const auto folded = scene.fold();
        const stemma::wire_model model(folded, "folded");
        REQUIRE(model.functions().size() == 1);
        std::vector<std::string> remaining;
        for (const auto& info : model.value_infos()) {
            if (info.graph == 0 && info.field == stemma::detail::onnx_fields::graph::value_info) {
                remaining.emplace_back(model.text(info.name));
            }
        }
        CHECK(remaining == std::vector<std::string>{"/layer.0/out", "/layer.1/out", "/layer.2/out",
                                                    "nowhere", "x"});
        CHECK(test::unfold(folded) == scene.bytes);
    }
}

TEST_CASE("fold_infos: functions have the types on which all calls agree, if the version allows") {
    for (const std::uint64_t version : {8U, 10U}) {
        auto scene = typed_layers(version);
        const auto plan = scene.plan();
        const stemma::detail::fold_infos infos(scene.model, plan);
        std::map<std::string, std::string> types;
        for (const auto& [value, type] : infos.of_function(0)) {
            types.emplace(scene.model.value_name(value), type);
        }
        const auto tensor = [](std::uint64_t elements) {
            auto info = typed("", elements).bytes();
            return info.substr(info.size() - 10);
        };
        if (version < stemma::detail::first_version_with_function_infos) {
            CHECK(types.empty());
            continue;
        }
        CHECK(types == std::map<std::string, std::string>{{"/layer.0/a", tensor(4)},
                                                          {"/layer.0/out", tensor(4)}});
        const auto folded = scene.fold();
        CHECK(folded.find("\x0a\x02/a\x12") != folded.npos); // by its name in the body
    }
}

} // namespace test::fold_detail_fold_infos
