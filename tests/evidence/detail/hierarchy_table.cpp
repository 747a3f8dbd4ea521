// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/hierarchy_table.hpp>

#include "../../catch.hpp"
#include "../../model_with_metadata.hpp"

#include <stemma/core/id.hpp>
#include <stemma/onnx/onnx_operators.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <string>
#include <vector>

namespace test::evidence_detail_hierarchy_table {

using stemma::no_id;
using stemma::detail::hierarchy_dialect;
using texts = std::vector<std::string>;

namespace {

stemma::detail::hierarchy_table read(const std::vector<test::metadata>& entries) {
    const auto bytes = test::chain_of(entries);
    const stemma::wire_model model(bytes);
    return stemma::detail::collect_hierarchies(stemma::onnx_operators(model));
}

texts paths_of(const stemma::detail::hierarchy_table& table, stemma::id v) {
    texts paths;
    if (!table.chain_of.empty() && table.chain_of[v] != no_id) {
        for (const auto& level : table.chains[table.chain_of[v]].levels) {
            paths.push_back(level.path);
        }
    }
    return paths;
}

texts classes_of(const stemma::detail::hierarchy_table& table, stemma::id v) {
    texts classes;
    if (!table.chain_of.empty() && table.chain_of[v] != no_id) {
        for (const auto& level : table.chains[table.chain_of[v]].levels) {
            classes.push_back(level.qualified_class);
        }
    }
    return classes;
}

const auto good =
    test::dynamo({"", "blocks.0", "linear"}, {"app.Net", "app.Block", "aten.linear.default"});

} // namespace

TEST_CASE("collect_hierarchies: the last of torch's items is an operation, and an uncalled list of "
          "modules is skipped") {
    const auto table = read({good});
    CHECK(paths_of(table, 0) == texts{"", "blocks.0"});
    CHECK(classes_of(table, 0) == texts{"app.Net", "app.Block"});
    CHECK(table.chains[0].dialect == hierarchy_dialect::dynamo);
    CHECK(table.chains[0].from_root);
    CHECK(table.problems.empty());
}

TEST_CASE("collect_hierarchies: the builder writes relative names and no operation") {
    const auto table = read({test::builder({"", "model", "layers.0", "self_attn"},
                                           {"app.Net", "app.Model", "app.Layer", "app.Attn"})});
    CHECK(paths_of(table, 0) == texts{"", "model", "model.layers.0", "model.layers.0.self_attn"});
    CHECK(classes_of(table, 0).back() == "app.Attn");
    CHECK(table.chains[0].dialect == hierarchy_dialect::builder);
}

TEST_CASE("collect_hierarchies: operations of one module share a chain") {
    const auto table = read(
        {good, test::dynamo({"", "blocks.0", "add"}, {"app.Net", "app.Block", "aten.add.Tensor"}),
         test::dynamo({"", "blocks.1", "add_1"}, {"app.Net", "app.Block", "aten.add.Tensor"})});
    CHECK(table.chains.size() == 2);
    CHECK(table.chain_of[0] == table.chain_of[1]);
    CHECK(table.chain_of[0] != table.chain_of[2]);
}

TEST_CASE("collect_hierarchies: without modules there is neither claim nor problem") {
    const auto table =
        read({test::dynamo({"pad"}, {"aten.constant_pad_nd.default"}),
              test::dynamo(
                  {"", "_empty_nn_module_stack_from_metadata_hook", "sym_size_int"},
                  {"app.Net", "_empty_nn_module_stack_from_metadata_hook", "aten.sym_size.int"}),
              {{"namespace", ": app.Net/_empty_nn_module_stack_from_metadata_hook: "
                             "_empty_nn_module_stack_from_metadata_hook/sym_size: aten.sym_size"}},
              {}});
    CHECK(table.chains.empty());
    CHECK(table.problems.empty());
}

TEST_CASE("collect_hierarchies: names that are Python expressions are paths") {
    const auto table = read({test::dynamo(
        {"", "getattr(L['self'].layers, '0')", "getattr(L['self'].layers, '0').fc", "linear"},
        {"pkg.f.<locals>.Net", "app.Block", "torch.nn.modules.linear.Linear",
         "aten.linear.default"})});
    CHECK(paths_of(table, 0) == texts{"", "layers.0", "layers.0.fc"});
    CHECK(classes_of(table, 0).front() == "pkg.f.<locals>.Net");
}

TEST_CASE("collect_hierarchies: a namespace alone is enough") {
    const auto table =
        read({{{"namespace", ": app.Net/blocks.0: app.Block/linear: aten.linear.default"}},
              {{"namespace", ": app.Net/blocks.0: app/Block/add: aten.add.Tensor"}},
              {{"namespace", "encoder/layer.0"}}, // as viewers write it: no chain of modules
              {{"namespace", "add: aten.add.Tensor"}}});
    CHECK(paths_of(table, 0) == texts{"", "blocks.0"});
    CHECK(classes_of(table, 0) == texts{"app.Net", "app.Block"});
    CHECK(classes_of(table, 1) == texts{"app.Net", "app/Block"});
    CHECK(paths_of(table, 2).empty());
    CHECK(paths_of(table, 3).empty());
    CHECK(table.problems.empty());
}

TEST_CASE("collect_hierarchies: lists win over the namespace, and a slash in a class separates no "
          "levels") {
    auto entries = test::dynamo({"", "a", "add"}, {"app.Net", "app/odd.Block", "aten.add.Tensor"});
    entries.insert(entries.begin(), {"namespace", ": app.Net/add: aten.add.Tensor"});
    const auto table = read({entries});
    CHECK(paths_of(table, 0) == texts{"", "a"});
    CHECK(classes_of(table, 0) == texts{"app.Net", "app/odd.Block"});
}

TEST_CASE("collect_hierarchies: scopes without classes are enough") {
    const auto table = read({{{"pkg.torch.onnx.name_scopes", "['', 'a', 'add']"}}});
    CHECK(paths_of(table, 0) == texts{"", "a"});
    CHECK(classes_of(table, 0) == texts{"", ""});
}

TEST_CASE("collect_hierarchies: unreadable metadata is a problem and no chain") {
    const auto scopes = [](std::string names) {
        return test::metadata{
            {"pkg.torch.onnx.class_hierarchy", "['app.Net', 'app.Block', 'aten.linear.default']"},
            {"pkg.torch.onnx.name_scopes", std::move(names)}};
    };
    std::vector<std::string> deep;
    for (int i = 0; i < 10'000; ++i) {
        deep.push_back("m" + std::to_string(i));
    }
    const std::vector<test::metadata> bad{
        scopes("blocks.0"),
        scopes("['', 'linear']"),
        scopes("['', 'blocks.0', 'linear"),
        scopes("['', 'blocks.0, 'linear']"),
        scopes("['', 'blocks.0', 'linear'] "),
        scopes("['', 'blocks.\xff', 'linear']"),
        scopes("['', '" + std::string(1U << 20U, 'x') + "', 'linear']"),
        scopes("['', 'getattr(L[', 'linear']"),
        scopes(""),
        test::builder(deep, deep),
        test::dynamo(deep, deep),
        {{"namespace", "\xc3: app.Net/a: b/c: d"}},
        {{"namespace", "x/: app.Net/a: b/c: d"}},
        scopes("['', 'blocks..0', 'linear']"),
        {{"namespace", ": app.Net/a.: b/c: d"}},
    };
    for (std::size_t i = 0; i < bad.size(); ++i) {
        INFO(i);
        // Nor does a text that is damaged after its modules use another one's chain.
        for (const auto& order : {std::vector{bad[i], good}, std::vector{good, bad[i]}}) {
            const auto table = read(order);
            const stemma::id at = order[0] == good ? 0 : 1;
            CHECK(paths_of(table, at) == texts{"", "blocks.0"});
            CHECK(table.chain_of[1 - at] == no_id);
            REQUIRE(table.problems.size() == 1);
            CHECK(table.problems[0].node == 1 - at);
            CHECK(table.problems[0].code == "metadata.unreadable");
        }
    }
}

TEST_CASE("collect_hierarchies: rewritten operators are recorded, with or without modules") {
    auto fused = good;
    fused.emplace_back("pkg.onnxscript.rewriter.rule_name", "FuseConvBatchNorm");
    const auto table =
        read({good, fused, {{"pkg.onnxscript.rewriter.rule_name", "CastCast"}}, good});
    CHECK(table.rewritten == std::vector<stemma::id>{1, 2});
    CHECK(table.chain_of[1] == table.chain_of[0]);
    CHECK(table.chain_of[2] == no_id);
}

} // namespace test::evidence_detail_hierarchy_table
