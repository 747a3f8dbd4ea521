// SPDX-License-Identifier: Apache-2.0
#include <stemma/compare/diff_models.hpp>

#include "../catch.hpp"
#include "../chain_graph.hpp"
#include "../model_files.hpp"
#include "../opened_graph.hpp"
#include "../wire_builder.hpp"

#include <stemma/core/id.hpp>
#include <stemma/io/mapped_file.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma/stemma.hpp>

#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace test::compare_diff_models {

namespace {

using stemma::no_id;

/// Returns: by changed module, its path in either model and the changes: `a.b rewired`.
std::vector<std::string> model_changes(const test::message& first, const test::message& second) {
    const auto a = test::in_memory(first.bytes());
    const auto b = test::in_memory(second.bytes());
    CHECK(stemma::diff_models(a, a).is_equal());
    CHECK(stemma::diff_models(b, b).is_equal());
    std::vector<std::string> changes;
    for (const auto& entry : stemma::diff_models(a, b).modules) {
        auto& text = changes.emplace_back(entry.first != no_id ? a.modules().path(entry.first)
                                                               : b.modules().path(entry.second));
        for (auto change : entry.changes) {
            text.append(" ").append(to_string(change));
        }
        if (entry.first != no_id && entry.second != no_id &&
            a.modules().path(entry.first) != b.modules().path(entry.second)) {
            text.append(" to ").append(b.modules().path(entry.second));
        }
    }
    return changes;
}

std::vector<std::string> changes(const test::message& first, const test::message& second) {
    return model_changes(test::model(first), test::model(second));
}

using texts = std::vector<std::string>;

} // namespace

TEST_CASE("diff_models: the code in docs/library.md works") {
    const auto relu = test::node("Relu", {"x"}, {"t"}, "/a/Relu");
    const auto bytes_with = [&](const std::string& type) {
        const auto last = test::node(type, {"t"}, {"y"}, "/b/" + type);
        return test::model(test::graph({relu, last}, {"x"}, {"y"})).bytes();
    };
    const auto before = stemma::open_bytes(bytes_with("Tanh"));
    const auto after = stemma::open_bytes(bytes_with("Sigmoid"));
    std::vector<std::string> changed;
    for (const auto& one : stemma::diff_models(before, after).modules) {
        const auto module = one.first == stemma::no_id
                                ? after.module(stemma::module_id{one.second})
                                : before.module(stemma::module_id{one.first});
        for (const auto change : one.changes) {
            changed.push_back(to_text(module) + " " + std::string(to_string(change)));
        }
    }
    CHECK(changed == std::vector<std::string>{"b relowered"});
}

TEST_CASE("diff_models: a model equals itself, whatever the names of nodes and values") {
    for (const auto* name : {"bert_micro", "lstm_classifier", "two_tower", "control_flow"}) {
        const auto folder = std::string(name) + "/";
        const stemma::attributed_model a(test::fixture(folder + "model.onnx"), {});
        const stemma::attributed_model b(test::fixture(folder + "anonymous.onnx"), {});
        for (const auto* other : {&a, &b}) {
            const auto diff = stemma::diff_models(a, *other);
            INFO(name);
            CHECK(diff.modules.empty());
            CHECK(diff.matched_nodes == diff.first_nodes);
            CHECK(diff.first_nodes == diff.second_nodes);
        }
    }
}

TEST_CASE("diff_models: reports a changed byte of a weight at its module") {
    const auto bytes = test::read_bytes(test::fixture("unet_tiny/model.onnx"));
    const stemma::attributed_model a(test::fixture("unet_tiny/model.onnx"), {});
    const auto& model = a.model();
    const auto tensor = model.tensors()[0];
    auto other = bytes;
    other[tensor.message.begin + tensor.message.size - 1] ^= 0x10;
    const auto b = test::in_memory(other);
    const auto diff = stemma::diff_models(a, b);
    REQUIRE(diff.modules.size() == 1);
    CHECK(diff.modules[0].changes == std::vector{stemma::model_diff::change::weights});
    REQUIRE(diff.modules[0].weights.size() == 1);
    CHECK(diff.modules[0].weights[0].first == tensor.value);
    CHECK(diff.modules[0].weights[0].difference.different == 1);
    CHECK(stemma::diff_models(a, b, {.weights = false}).is_equal());
}

TEST_CASE("diff_models: weights whose data neither model has are counted") {
    auto graph = test::graph({test::node("MatMul", {"x", "fc.weight"}, {"y"})}, {"x"}, {"y"});
    graph.inner(5, test::message()
                       .packed(1, {4, 6})
                       .number(2, 1)
                       .text(8, "fc.weight")
                       .inner(13, test::entry("location", "absent.bin"))
                       .number(14, 1));
    const auto a = test::open_graph(graph);
    const auto diff = stemma::diff_models(a, a);
    CHECK(diff.is_equal());
    CHECK(diff.compared_weights == 1);
    CHECK(diff.missing_weights == 1);
    CHECK(stemma::diff_models(a, a, {.weights = false}).missing_weights == 0);
}

TEST_CASE("diff_models: a caller of a function with other weights is not the same") {
    const auto path = test::fixture("bert_micro/model.functions_all.onnx");
    auto bytes = test::read_bytes(path);
    const stemma::attributed_model a(path, {});
    const auto& model = a.model();
    for (const auto& tensor : model.tensors()) {
        if (model.value_name(tensor.value) == "encoder.layer.1.attention.self.key.bias") {
            bytes[tensor.message.begin + tensor.message.size - 1] ^= 0x10;
        }
    }
    const auto diff = stemma::diff_models(a, test::in_memory(bytes));
    REQUIRE(diff.modules.size() == 1);
    CHECK(diff.same_modules == diff.paired_modules - 1);
}

TEST_CASE("diff_models: a layer added, a layer removed") {
    const stemma::attributed_model a(test::fixture("bert_micro/model.onnx"), {});
    const stemma::attributed_model b(test::fixture("bert_micro_12l/model.onnx"), {});
    const auto more = stemma::diff_models(a, b, {.weights = false});
    const auto less = stemma::diff_models(b, a, {.weights = false});
    std::size_t added = 0;
    for (const auto& entry : more.modules) {
        const auto path = entry.second == no_id ? "" : b.modules().path(entry.second);
        added += entry.has(stemma::model_diff::change::added) && path.starts_with("encoder.layer.")
                     ? 1U
                     : 0U;
        CHECK(!entry.has(stemma::model_diff::change::removed));
    }
    CHECK(added > 10);
    for (const auto& entry : less.modules) {
        CHECK(!entry.has(stemma::model_diff::change::added));
    }
}

TEST_CASE("diff_models: the code in docs/diff.md works") {
    const stemma::attributed_model first(test::fixture("mlp/model.onnx"), {});
    auto bytes = test::read_bytes(test::fixture("mlp/model.onnx"));
    const auto tensor = first.model().tensors()[0];
    bytes[tensor.message.begin + tensor.message.size - 1] ^= 0x10;
    const auto second = test::in_memory(std::move(bytes));
    std::vector<std::string> names;
    const auto diff = stemma::diff_models(first, second, {.tolerance = 1e-3});
    for (const auto& entry : diff.modules) {
        if (entry.has(stemma::model_diff::change::weights)) {
            names.push_back(first.modules().path(entry.first));
        }
    }
    CHECK(names == std::vector<std::string>{"fc1"});
}

TEST_CASE("diff_models: a tolerance that is no number is refused") {
    const stemma::attributed_model a(test::fixture("mlp/model.onnx"), {});
    CHECK_THROWS_WITH(stemma::diff_models(a, a, {.tolerance = std::nan("")}),
                      "tolerance: nan is not a number from 0");
}

TEST_CASE("diff_models: keeps partners given by the caller") {
    const stemma::attributed_model a(test::fixture("mlp/model.onnx"), {});
    const std::vector<std::pair<stemma::id, stemma::id>> partners{{0, 2}};
    const auto diff = stemma::diff_models(a, a, {.known_partners = partners});
    CHECK(diff.nodes.to_second[0] == 2);
}

TEST_CASE("diff_models: reads of inputs of the model are compared") {
    const auto with = [](const char* first, const char* second, const test::names& inputs) {
        return test::graph({test::node("Relu", {first}, {"r"}, "/p/Relu"),
                            test::node("Sub", {"r", second}, {"y"}, "/q/Sub")},
                           inputs, {"y"});
    };
    const test::names both{"a", "b"};
    CHECK(changes(with("a", "b", both), with("b", "a", both)) == texts{"p rewired", "q rewired"});
    CHECK(changes(with("a", "b", both), with("a", "r", both)) == texts{"q rewired"});
    CHECK(changes(with("a", "r", both), with("a", "a", both)) == texts{"q rewired"});
    // Inputs with other names correspond in their order, those with the same names do not.
    CHECK(changes(with("a", "b", both), with("s", "t", {"s", "t"})).empty());
    CHECK(changes(with("a", "b", both), with("a", "b", {"b", "a"})).empty());
}

TEST_CASE("diff_models: reads and results of bodies are compared") {
    const auto with = [](const char* read, const char* result) {
        const auto body = test::graph({test::node("Relu", {read}, {"t"}, "/b/Relu"),
                                       test::node("Exp", {"t"}, {"u"}, "/c/Exp")},
                                      {}, {result});
        return test::graph({test::node("Tanh", {"x"}, {"p"}, "/a/Tanh"),
                            test::owner_node("If", {"c"}, {"y"},
                                             {test::graph_attribute("then_branch", body)}, "/d/If"),
                            test::node("Add", {"p", "y"}, {"z"}, "/e/Add")},
                           {"x", "c"}, {"z"});
    };
    CHECK(changes(with("p", "u"), with("x", "u")) == texts{"b rewired"});
    CHECK(changes(with("x", "u"), with("p", "u")) == texts{"b rewired"});
    CHECK(changes(with("p", "u"), with("p", "t")) == texts{"d rewired"});
}

TEST_CASE("diff_models: formal inputs of bodies are compared by their number") {
    const auto with = [](const char* read) {
        const auto body = test::graph({test::node("Identity", {"go"}, {"go_on"}, "/b/Identity"),
                                       test::node("Neg", {read}, {"u"}, "/b/Neg")},
                                      {"i", "go", "s", "t"}, {"go_on", "u", "u"});
        return test::graph({test::owner_node("Loop", {"n", "c", "x", "z"}, {"y", "v"},
                                             {test::graph_attribute("body", body)}, "/d/Loop")},
                           {"n", "c", "x", "z"}, {"y", "v"});
    };
    CHECK(changes(with("s"), with("t")) == texts{"b rewired"});
    CHECK(changes(with("i"), with("s")) == texts{"b rewired"});
}

TEST_CASE("diff_models: producers of outputs are compared") {
    const auto with = [](const char* first, const char* second, const test::names& outputs) {
        return test::graph({test::node("Relu", {"x"}, {first}, "/p/Relu"),
                            test::node("Exp", {"x"}, {second}, "/q/Exp")},
                           {"x"}, outputs);
    };
    const test::names both{"y", "z"};
    CHECK(changes(with("y", "z", both), with("z", "y", both)) == texts{"p rewired", "q rewired"});
    CHECK(changes(with("y", "z", both), with("y", "z", {"z", "y"})).empty());
    CHECK(changes(with("y", "z", both), with("s", "t", {"s", "t"})).empty());
}

TEST_CASE("diff_models: the order of an attribute's numbers is compared") {
    const auto with = [](const std::vector<std::uint64_t>& axes, bool packed) {
        auto perm = test::message().text(1, "perm");
        for (const auto axis : axes) {
            packed ? perm : perm.number(8, axis);
        }
        packed ? perm.packed(8, axes) : perm;
        return test::graph({test::owner_node("Transpose", {"x"}, {"y"}, {perm}, "/a/Transpose")},
                           {"x"}, {"y"});
    };
    CHECK(changes(with({0, 2, 1, 3}, false), with({0, 3, 2, 1}, false)) == texts{"a relowered"});
    CHECK(changes(with({0, 2, 1, 3}, false), with({0, 2, 1, 3}, true)).empty());
}

TEST_CASE("diff_models: results of functions are compared") {
    const auto with = [](const char* result, const char* name) {
        return test::model(test::graph({test::node("Exp", {"x"}, {"e"}, "/a/Exp"),
                                        test::node(name, {"e"}, {"y"}, "/f/F", "my")},
                                       {"x"}, {"y"}))
            .inner(8, test::opset("my", 1))
            .inner(25, test::function("my", name, {"i"}, {result},
                                      {test::node("Relu", {"i"}, {"r"}, "Relu"),
                                       test::node("Sigmoid", {"r"}, {"s"}, "Sigmoid")}));
    };
    CHECK(model_changes(with("s", "F"), with("s", "F")).empty());
    CHECK(model_changes(with("s", "F"), with("r", "F")).size() == 1);
    CHECK(model_changes(with("r", "F"), with("s", "F")).size() == 1);
}

TEST_CASE("diff_models: results that are constants are compared") {
    const auto constant = [](char digit, std::uint64_t count) {
        return test::tensor("k", {count}, std::string(4 * count, digit));
    };
    const auto branch = [&](char digit) {
        const auto value = test::message().text(1, "value").inner(5, constant(digit, 1));
        const auto body = test::graph(
            {test::owner_node("Constant", {}, {"k"}, {value}, "/b/Constant")}, {}, {"k"});
        return test::graph(
            {test::owner_node("If", {"c"}, {"y"}, {test::graph_attribute("then_branch", body)},
                              "/d/If")},
            {"c"}, {"y"});
    };
    CHECK(changes(branch('1'), branch('1')).empty());
    CHECK(changes(branch('1'), branch('2')) == texts{"d weights"});
    for (const std::uint64_t count : {1U, 1000U}) {
        const auto output = [&](char digit) {
            return test::graph({test::node("Relu", {"x"}, {"y"}, "/a/Relu")}, {"x"}, {"y", "k"})
                .inner(5, constant(digit, count));
        };
        CHECK(changes(output('1'), output('1')).empty());
        CHECK(changes(output('1'), output('2')).size() == 1);
    }
}

TEST_CASE("diff_models: a weight tied to another one is a difference") {
    const auto with = [](const char* second, const char* third) {
        const auto matrix = [](const char* name, char digit) {
            return test::tensor(name, {2, 2}, std::string(16, digit));
        };
        return test::graph({test::node("MatMul", {"x", "a.weight"}, {"s"}, "/a/MatMul"),
                            test::node("MatMul", {"s", second}, {"t"}, "/b/MatMul"),
                            test::node("MatMul", {"t", third}, {"y"}, "/c/MatMul")},
                           {"x"}, {"y"})
            .inner(5, matrix("a.weight", '1'))
            .inner(5, matrix("b.weight", '2'))
            .inner(5, matrix("c.weight", '3'));
    };
    CHECK(changes(with("b.weight", "c.weight"), with("a.weight", "c.weight")) ==
          texts{"b weights"});
    CHECK(changes(with("b.weight", "c.weight"), with("b.weight", "b.weight")) ==
          texts{"c weights"});
    CHECK(changes(with("a.weight", "c.weight"), with("b.weight", "c.weight")) ==
          texts{"a weights"});
}

TEST_CASE("diff_models: modules moved only if data flows the other way") {
    const auto emb = test::node("Relu", {"x"}, {"e"}, "/emb/Relu");
    const auto mask = test::node("Sigmoid", {"m"}, {"s"}, "/blk/Sigmoid");
    const auto mul = test::node("Mul", {"e", "s"}, {"b"}, "/blk/Mul");
    const auto add = [](const char* second) {
        return test::node("Add", {"b", second}, {"y"}, "/head/Add");
    };
    CHECK(changes(test::graph({emb, mask, mul, add("e")}, {"x", "m"}, {"y"}),
                  test::graph({mask, emb, mul, add("b")}, {"x", "m"}, {"y"})) ==
          texts{"head rewired"});
}

TEST_CASE("diff_models: readers of moved modules are not rewired, others are") {
    const auto with = test::chain_graph;
    const test::names y{"y"};
    const auto base = with({"Abs", "Exp", "Neg", "Sin", "Cos"}, "vAbs", y);
    CHECK(changes(base, with({"Abs", "Neg", "Exp", "Sin", "Cos"}, "vAbs", y)) ==
          texts{"layers.Exp moved", "layers.Neg moved"});
    CHECK(changes(base, with({"Abs", "Neg", "Sin", "Exp", "Cos"}, "vAbs", y)) ==
          texts{"layers.Exp moved"});
    CHECK(changes(base, with({"Abs", "Exp", "Neg", "Cos", "Sin"}, "vAbs", y)) ==
          texts{"layers.Sin moved", "layers.Cos moved"});
    CHECK(changes(base, with({"Abs", "Neg", "Exp", "Sin", "Cos"}, "x", y)) ==
          texts{"layers.Exp moved", "layers.Neg moved", "head rewired"});
}

TEST_CASE("diff_models: a module put into new ones has moved, and these were added") {
    const auto with = [](const std::string& path) {
        auto name = path;
        for (auto& letter : name) {
            letter = letter == '.' ? '/' : letter;
        }
        return test::graph(
                   {test::node("Relu", {"x"}, {"r"}, "/body/Relu"),
                    test::node("MatMul", {"r", path + ".weight"}, {"y"}, "/" + name + "/MatMul")},
                   {"x"}, {"y"})
            .inner(5, test::tensor(path + ".weight", {2, 2}, std::string(16, '1')));
    };
    CHECK(changes(with("head"), with("decoder.out.head")) ==
          texts{"decoder added", "decoder.out added", "head moved to decoder.out.head"});
    CHECK(changes(with("decoder.out.head"), with("head")) ==
          texts{"decoder removed", "decoder.out removed", "decoder.out.head moved to head"});
    CHECK(changes(with("head"), with("decoder")) == texts{"head renamed to decoder"});
}

TEST_CASE("diff_models: a module replaced by a smaller new one is not fused into it") {
    using nodes = std::vector<test::message>;
    const auto with = [](nodes inner, const std::string& last) {
        inner.insert(inner.begin(), test::node("Tanh", {"x"}, {"p"}, "/stem/Tanh"));
        inner.push_back(test::node("Exp", {last}, {"y"}, "/head/Exp"));
        auto graph = test::graph(inner, {"x"}, {"y"});
        for (const auto* name : {"mid.fc1.weight", "mid.fc2.weight", "mid.new.weight"}) {
            graph.inner(5, test::tensor(name, {2, 2}, std::string(16, name[6])));
        }
        return graph;
    };
    const auto multiply = [](const char* in, const std::string& path, const char* out) {
        return test::node("MatMul", {in, "mid." + path + ".weight"}, {out},
                          "/mid/" + path + "/MatMul");
    };
    const auto old =
        with({multiply("p", "fc1", "a"), test::node("Relu", {"a"}, {"b"}, "/mid/act/Relu"),
              multiply("b", "fc2", "c"), test::node("Add", {"p", "c"}, {"d"}, "/mid/Add")},
             "d");
    const auto replaced =
        with({multiply("p", "new", "n"), test::node("Clip", {"n"}, {"m"}, "/mid/last/Clip")}, "m");
    CHECK(changes(old, replaced) == texts{"mid relowered", "mid.last added", "mid.fc1 weights",
                                          "mid.act removed", "mid.fc2 removed"});
    CHECK(changes(replaced, old) == texts{"mid relowered", "mid.act added", "mid.fc2 added",
                                          "mid.last removed", "mid.new weights"});
    const auto fused = with(
        {test::node("Both", {"p", "mid.fc1.weight", "mid.fc2.weight"}, {"m"}, "/mid/both/Both")},
        "m");
    CHECK(changes(old, fused) ==
          texts{"mid fused", "mid.both added", "mid.fc1 fused", "mid.act fused", "mid.fc2 fused"});
}

TEST_CASE("diff_models: what follows a weight of another shape was removed, not folded into it") {
    const auto with = [](std::size_t columns, bool activates) {
        std::vector<test::message> nodes{
            test::node("MatMul", {"x", "a.weight"}, {"p"}, "/a/MatMul")};
        if (activates) {
            nodes.push_back(test::node("Relu", {"p"}, {"q"}, "/b/Relu"));
        }
        nodes.push_back(test::node("Exp", {activates ? "q" : "p"}, {"y"}, "/c/Exp"));
        return test::graph(nodes, {"x"}, {"y"})
            .inner(5, test::tensor("a.weight", {2, columns},
                                   std::string(8 * columns, activates ? '1' : '2')));
    };
    CHECK(changes(with(4, true), with(2, false)) == texts{"a weights", "b removed"});
}

} // namespace test::compare_diff_models
