// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/scope_modules.hpp>

#include "../../catch.hpp"
#include "../../operator_scene.hpp"
#include "../../weighted_operators.hpp"

#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/parameter_owners.hpp>
#include <stemma/evidence/detail/scope_table.hpp>
#include <stemma/model/module_tree_builder.hpp>

#include <string>
#include <utility>
#include <vector>

namespace test::evidence_detail_scope_modules {

using stemma::id;
using stemma::no_id;

namespace {

/// Operators over a known tree, with bound scopes.
struct scene {
    explicit scene(stemma::module_tree modules) : tree(std::move(modules)) {}

    id add(const std::string& name, const std::vector<id>& inputs = {},
           const std::string& parameter = "") {
        const auto last = name.substr(name.rfind('/') + 1);
        const auto v = ops.add(inputs, name, last.substr(0, last.find('_')));
        if (!parameter.empty()) {
            ops.read_parameter(v, parameter);
        }
        return v;
    }

    void bind() {
        table = stemma::detail::collect_scopes(ops);
        bound = stemma::detail::bind_scopes(ops, table, tree,
                                            stemma::detail::find_parameter_owners(ops, tree));
    }

    [[nodiscard]] const stemma::detail::scope_module& of(id v) const {
        return bound.of(v, table.scope_of[v]);
    }
    [[nodiscard]] std::string path(id v) const {
        return of(v).module == no_id ? "?" : tree.path(of(v).module);
    }

    stemma::module_tree tree;
    test::operator_scene ops;
    stemma::detail::scope_table table;
    stemma::detail::scope_modules bound;
};

/// The tree that the operators themselves reveal.
template <class Operators = test::operator_scene>
struct grown_scene {
    void grow() {
        const auto before = builder.build();
        table = stemma::detail::collect_scopes(ops);
        bound = stemma::detail::grow_scopes(
            ops, table, before, stemma::detail::find_parameter_owners(ops, before), builder);
        tree = builder.build();
    }

    [[nodiscard]] std::string path(id v) const {
        return tree.path(builder.rank_of(bound.of(v, table.scope_of[v]).module));
    }

    [[nodiscard]] float sureness(id v) const { return bound.of(v, table.scope_of[v]).confidence; }

    stemma::module_tree_builder builder;
    Operators ops;
    stemma::detail::scope_table table;
    stemma::detail::scope_modules bound;
    stemma::module_tree tree;
};

} // namespace

TEST_CASE("bind_scopes: binds the scope of every operator, and the root's") {
    scene s(test::tree_of({"enc.fc", "dec"}));
    const auto a = s.add("/enc/fc/Add");
    const auto b = s.add("/dec/Add");
    const auto root = s.add("/Add");
    const auto unknown = s.add("/gone/Add");
    s.bind();
    CHECK(s.path(a) == "enc.fc");
    CHECK(s.path(b) == "dec");
    CHECK(s.path(root).empty());
    CHECK(s.path(unknown) == "?");
}

TEST_CASE("bind_scopes: numbers the scopes of a module by their first operators") {
    stemma::module_tree_builder builder;
    builder.set_calls(builder.at_path("fc"), 2);
    scene s(builder.build());
    const auto first = s.add("/fc/Add");
    const auto second = s.add("/fc_1/Add");
    const auto again = s.add("/fc/Add_1");
    s.bind();
    CHECK(s.of(first).call == 0);
    CHECK(s.of(second).call == 1);
    CHECK(s.of(again).call == 0);
}

TEST_CASE("bind_scopes: Constants in front do not change the numbers of scopes") {
    stemma::module_tree_builder builder;
    builder.set_calls(builder.at_path("fc"), 3);
    scene s(builder.build());
    const auto alone = s.add("/fc_2/Constant");
    const auto constant = s.add("/fc_1/Constant");
    const auto first = s.add("/fc/Add");
    const auto second = s.add("/fc_1/Add");
    s.bind();
    CHECK(s.of(first).call == 0);
    CHECK(s.of(second).call == 1);
    CHECK(s.of(constant).call == 1);
    CHECK(s.of(alone).call == 2);
}

TEST_CASE("bind_scopes: a further call of one module may print as the first of another") {
    stemma::module_tree_builder builder;
    builder.set_calls(builder.at_path("act"), 2);
    builder.set_calls(builder.at_path("act_1"), 1);
    scene s(builder.build());
    const auto first = s.add("/act/Relu");
    const auto again = s.add("/act_1/Relu", {first});
    const auto other = s.add("/act_1/Sigmoid", {again});
    s.bind();
    CHECK(s.path(again) == "act");
    CHECK(s.of(again).call == 1);
    CHECK(s.path(other) == "act_1");
    CHECK(s.of(other).call == 0);
}

TEST_CASE("bind_scopes: finds a model that is part of the captured one, or wrapped") {
    scene part(test::tree_of({"bert.enc.fc", "bert.enc.norm", "other"}));
    const auto v = part.add("/enc/fc/MatMul", {}, "enc.fc.weight");
    part.bind();
    CHECK(part.path(v) == "bert.enc.fc");
    scene wrapped(test::tree_of({"enc.fc"}));
    const auto w = wrapped.add("/module/enc/fc/MatMul", {}, "module.enc.fc.weight");
    wrapped.bind();
    CHECK(wrapped.path(w) == "enc.fc");
}

TEST_CASE("bind_scopes: operators of two modules in one scope are distinguished by parameters") {
    // Both branches print as `fc`, so operators of b.fc are in the scope of a.fc.
    stemma::module_tree_builder builder;
    builder.set_calls(builder.at_path("a"), 0);
    builder.set_calls(builder.at_path("a.fc"), 1);
    builder.set_calls(builder.at_path("b"), 0);
    builder.set_calls(builder.at_path("b.fc"), 1);
    scene s(builder.build());
    const auto one = s.add("/fc/MatMul", {}, "a.fc.weight");
    const auto one_behind = s.add("/fc/Add", {one});
    const auto other = s.add("/fc/MatMul_1", {}, "b.fc.weight");
    const auto behind = s.add("/fc/Add_1", {other});
    const auto end = s.add("/fc/Relu", {behind});
    s.bind();
    CHECK(s.path(one) == "a.fc");
    CHECK(s.path(one_behind) == "a.fc");
    CHECK(s.path(other) == "b.fc");
    CHECK(s.path(behind) == "b.fc");
    CHECK(s.path(end) == "b.fc");
    CHECK(s.of(other).call == 0);
    CHECK(s.of(behind).call == 0);
}

TEST_CASE(
    "grow_scopes: equal names that read different parameters are modules of several containers") {
    grown_scene<> s;
    for (const auto* path : {"h.0.norm", "h.1.norm"}) {
        s.builder.at_path(path);
    }
    const auto norm = s.ops.add({}, "/norm/Mul", "Mul");
    const auto first = s.ops.add({norm}, "/q/MatMul", "MatMul");
    const auto inner = s.ops.add({first}, "/ff/up/MatMul", "MatMul");
    const auto again = s.ops.add({inner}, "/norm_1/Mul", "Mul");
    const auto second = s.ops.add({again}, "/q_1/MatMul", "MatMul");
    const auto inner_again = s.ops.add({second}, "/ff/up_1/MatMul", "MatMul");
    const auto head = s.ops.add({inner_again}, "/head/MatMul", "MatMul");
    s.ops.read_parameter(norm, "h.0.norm.weight");
    s.ops.read_parameter(again, "h.1.norm.weight");
    s.ops.read_parameter(first, "onnx::MatMul_1");
    s.ops.read_parameter(second, "onnx::MatMul_2");
    s.ops.read_parameter(inner, "onnx::MatMul_3");
    s.ops.read_parameter(inner_again, "onnx::MatMul_4");
    s.ops.read_parameter(head, "onnx::MatMul_5");
    s.grow();
    CHECK(s.path(first) == "h.0.q");
    CHECK(s.path(second) == "h.1.q");
    CHECK(s.path(inner) == "h.0.ff.up");
    CHECK(s.path(inner_again) == "h.1.ff.up");
    CHECK(s.path(head) == "head");
}

namespace {

/// Blocks `a` in two containers, each of which runs an activation.
struct block_scene : grown_scene<> {
    explicit block_scene(const std::vector<std::string>& norms) {
        for (const auto& path : norms) {
            builder.at_path(path);
        }
        id before = ops.add({}, "/Relu", "Relu");
        for (std::size_t i = 0; i < norms.size(); ++i) {
            const auto number = i == 0 ? "" : "_" + std::to_string(i);
            before = ops.add({before}, "/a/norm" + number + "/Mul", "Mul");
            ops.read_parameter(before, norms[i] + ".weight");
            acts.push_back(ops.add({before}, "/a/act" + number + "/Sigmoid", "Sigmoid"));
            sums.push_back(ops.add({acts.back()}, "/a" + number + "/Add"));
            before = sums.back();
        }
    }

    std::vector<id> acts;
    std::vector<id> sums;
};

} // namespace

TEST_CASE("grow_scopes: modules without parameters belong to the modules that call them") {
    block_scene s({"h.0.a.norm", "h.1.a.norm", "h.2.a.norm"});
    s.grow();
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK(s.path(s.sums[i]) == "h." + std::to_string(i) + ".a");
        CHECK(s.path(s.acts[i]) == "h." + std::to_string(i) + ".a.act");
        CHECK(s.bound.of(s.acts[i], s.table.scope_of[s.acts[i]]).call == 0);
    }
    CHECK(s.sureness(s.acts[0]) > s.sureness(s.acts[1]));
}

TEST_CASE("grow_scopes: modules without parameters belong to what runs before and after them") {
    grown_scene<> s;
    std::vector<id> cores;
    id before = s.ops.add({}, "/Relu", "Relu");
    for (const std::string list : {"h.0.", "h.1."}) {
        const std::string number = cores.empty() ? "" : "_1";
        const auto step = [&](const std::string& name, const std::string& path) {
            before = s.ops.add({before}, "/sub/" + name + number + "/MatMul", "MatMul");
            s.builder.at_path(list + path);
            s.ops.read_parameter(before, list + path + ".weight");
        };
        step("norm", "sub.norm");
        step("q", "att.q");
        before = s.ops.add({before}, "/sub/core" + number + "/Softmax", "Softmax");
        cores.push_back(before);
        step("o", "att.o");
        before = s.ops.add({before}, "/sub" + number + "/Add");
    }
    s.grow();
    CHECK(s.path(cores[0]) == "h.0.att.core");
    CHECK(s.path(cores[1]) == "h.1.att.core");
}

TEST_CASE("grow_scopes: modules without parameters are called again by a module called again") {
    block_scene s({"a.norm", "a.norm"});
    s.grow();
    CHECK(s.path(s.acts[0]) == "a.act");
    CHECK(s.path(s.acts[1]) == "a.act");
}

TEST_CASE("grow_scopes: modules without parameters may be shared beside those of containers") {
    grown_scene<> s;
    std::vector<id> acts;
    for (const std::string number : {"", "_1"}) {
        const auto list = number.empty() ? "h.0.norm" : "h.1.norm";
        s.builder.at_path(list);
        const auto norm = s.ops.add({}, "/norm" + number + "/Mul", "Mul");
        s.ops.read_parameter(norm, std::string(list) + ".weight");
        acts.push_back(s.ops.add({norm}, "/act" + number + "/Relu", "Relu"));
    }
    s.grow();
    CHECK(s.path(acts[0]) == "act");
    CHECK(s.path(acts[1]) == "act");
}

TEST_CASE("grow_scopes: equal names that read the same parameters are calls of one module") {
    grown_scene<> s;
    for (const auto* path : {"h.0.norm", "h.1.norm"}) {
        s.builder.at_path(path);
    }
    const auto norm = s.ops.add({}, "/norm/Mul", "Mul");
    const auto first = s.ops.add({norm}, "/q/MatMul", "MatMul");
    const auto again = s.ops.add({first}, "/norm_1/Mul", "Mul");
    const auto second = s.ops.add({again}, "/q_1/MatMul", "MatMul");
    s.ops.read_parameter(norm, "h.0.norm.weight");
    s.ops.read_parameter(again, "h.1.norm.weight");
    s.ops.read_parameter(first, "onnx::MatMul_1");
    s.ops.read_parameter(second, "onnx::MatMul_1");
    s.grow();
    CHECK(s.path(first) == "q");
    CHECK(s.path(second) == "q");
}

TEST_CASE("grow_scopes: a series that does not alternate with others is no evidence about them") {
    grown_scene<> s;
    for (const auto* path : {"h.0.norm", "h.1.norm"}) {
        s.builder.at_path(path);
    }
    const auto norm = s.ops.add({}, "/norm/Mul", "Mul");
    const auto again = s.ops.add({norm}, "/norm_1/Mul", "Mul");
    const auto first = s.ops.add({again}, "/q/MatMul", "MatMul");
    const auto second = s.ops.add({first}, "/q_1/MatMul", "MatMul");
    s.ops.read_parameter(norm, "h.0.norm.weight");
    s.ops.read_parameter(again, "h.1.norm.weight");
    s.ops.read_parameter(first, "onnx::MatMul_1");
    s.ops.read_parameter(second, "onnx::MatMul_2");
    s.grow();
    CHECK(s.path(first) == "q");
}

TEST_CASE("grow_scopes: equal names that read different weights are in unknown containers") {
    grown_scene<test::weighted_operators> s;
    const auto down = s.ops.add({}, "/proj/default/MatMul", "MatMul");
    const auto up = s.ops.add({down}, "/proj/default_1/MatMul", "MatMul");
    const auto act = s.ops.add({up}, "/proj/act/Reshape", "Reshape");
    const auto again = s.ops.add({act}, "/proj/act_1/Reshape", "Reshape");
    const auto once = s.ops.add({again}, "/tied/MatMul", "MatMul");
    const auto twice = s.ops.add({once}, "/tied_1/MatMul", "MatMul");
    s.ops.read_parameter(down, "onnx::MatMul_1");
    s.ops.read_parameter(up, "onnx::MatMul_2");
    s.ops.read_parameter(act, "shape1");
    s.ops.read_parameter(again, "shape2");
    s.ops.read_parameter(once, "onnx::MatMul_3");
    s.ops.read_parameter(twice, "onnx::MatMul_3'");
    s.grow();
    CHECK(s.path(down) == "proj");
    CHECK(s.path(up) == "proj");
    CHECK(s.path(act) == "proj.act");
    CHECK(s.sureness(act) ==
          stemma::detail::confidence::shallow); // it may be in the containers, too
    CHECK(s.path(again) == "proj.act");
    CHECK(s.sureness(again) == stemma::detail::confidence::shallow);
    CHECK(s.path(twice) == "tied");
    CHECK(s.sureness(once) > stemma::detail::confidence::shallow);
    CHECK(s.tree.size() == 4);
}

TEST_CASE("grow_scopes: a module called each time beside equal names shows that these are calls") {
    const auto grown = [](const std::string& second_weight) {
        grown_scene<test::weighted_operators> s;
        const auto wide = s.ops.add({}, "/head/wide/Conv", "Conv");
        const auto point = s.ops.add({wide}, "/head/point/Conv", "Conv");
        const auto wide_again = s.ops.add({point}, "/head/wide_1/Conv", "Conv");
        const auto point_again = s.ops.add({wide_again}, "/head/point_1/Conv", "Conv");
        s.ops.read_parameter(wide, "head.wide.weight");
        s.ops.read_parameter(wide_again, second_weight);
        s.ops.read_parameter(point, "onnx::Conv_1");
        s.ops.read_parameter(point_again, "onnx::Conv_2");
        s.builder.at_path("head.wide");
        s.grow();
        return std::pair(s.path(point), s.path(point_again));
    };
    CHECK(grown("head.wide.weight'") ==
          std::pair<std::string, std::string>("head.point", "head.point"));
    CHECK(grown("onnx::Conv_3") == std::pair<std::string, std::string>("head", "head"));
}

TEST_CASE("grow_scopes: equal operators that read another weight are not a further call") {
    const auto grown = [](const std::string& weight) {
        grown_scene<test::weighted_operators> s;
        const auto first = s.ops.add({}, "/conv/Conv", "Conv");
        const auto other = s.ops.add({first}, "/conv_1/Conv", "Conv");
        s.ops.read_parameter(first, "conv.weight");
        s.ops.read_parameter(other, weight);
        s.builder.at_path("conv");
        s.grow();
        return s.path(other);
    };
    CHECK(grown("onnx::Conv_1").empty());
    CHECK(grown("conv.weight'") == "conv");
    CHECK(grown("shape") == "conv");
}

TEST_CASE("grow_scopes: calls of one module may differ, but read the same weights") {
    grown_scene<test::weighted_operators> s;
    const auto first = s.ops.add({}, "/att/q/MatMul", "MatMul");
    const auto act = s.ops.add({first}, "/att/Tanh", "Tanh");
    const auto again = s.ops.add({act}, "/att_1/q/MatMul", "MatMul");
    const auto sum = s.ops.add({again}, "/att_1/Add", "Add");
    const auto other = s.ops.add({sum}, "/att_2/q/MatMul", "MatMul");
    s.ops.add({other}, "/att_2/Add", "Add");
    const auto loc = s.ops.add({other}, "/loc/v/MatMul", "MatMul");
    const auto inner = s.ops.add({loc}, "/loc/v_1/MatMul", "MatMul");
    const auto outer = s.ops.add({inner}, "/loc_1/Add", "Add");
    s.ops.read_parameter(first, "onnx::MatMul_1");
    s.ops.read_parameter(again, "onnx::MatMul_1'");
    s.ops.read_parameter(other, "onnx::MatMul_2");
    s.ops.read_parameter(loc, "onnx::MatMul_3");
    s.ops.read_parameter(inner, "onnx::MatMul_3'");
    s.grow();
    CHECK(s.path(outer) == "loc");
    CHECK(s.path(again) == "att.q");
    CHECK(s.path(sum) == "att");
    CHECK(s.path(other) == "att_2.q");
}

TEST_CASE("grow_scopes: calls of one module may read copies of weights, if most they call do not") {
    const auto grown = [](const std::string& second_gru) {
        grown_scene<test::weighted_operators> s;
        const auto first = s.ops.add({}, "/block/gru/MatMul", "MatMul");
        const auto own = s.ops.add({first}, "/block/MatMul", "MatMul");
        const auto again = s.ops.add({own}, "/block/gru_1/MatMul", "MatMul");
        const auto copy = s.ops.add({again}, "/block_1/MatMul", "MatMul");
        s.ops.read_parameter(first, "onnx::MatMul_1");
        s.ops.read_parameter(again, "onnx::MatMul_1" + second_gru);
        s.ops.read_parameter(own, "fused_1");
        s.ops.read_parameter(copy, "fused_2");
        s.grow();
        return s.path(copy);
    };
    CHECK(grown("'") == "block");
    CHECK(grown("0").empty());
}

TEST_CASE("grow_scopes: what a module calls again tells of a further call without weights") {
    const auto grown = [](const std::string& inner, const std::string& weight) {
        grown_scene<test::weighted_operators> s;
        const auto first = s.ops.add({}, "/att/q/Conv", "Conv"); // by weights that were computed
        const auto act = s.ops.add({first}, "/att/Tanh", "Tanh");
        const auto again = s.ops.add({act}, inner + "/Conv", "Conv");
        const auto sum = s.ops.add({again}, "/att_1/Add", "Add");
        if (!weight.empty()) {
            s.ops.read_parameter(sum, weight);
        }
        s.grow();
        return s.path(sum);
    };
    CHECK(grown("/att/q_1", "") == "att");
    CHECK(grown("/att/q_1", "att_1.weight") == "att_1");
    CHECK(grown("/att_1/q", "") == "att_1");
    CHECK(grown("/att/q_2", "") == "att_1");
}

TEST_CASE("grow_scopes: what a sequence shares with the module around it may run there alone") {
    grown_scene<> s;
    s.ops.add({}, "/block/norm1/Mul", "Mul");
    s.ops.add({}, "/block/down/down.0/Conv", "Conv");
    const auto shared = s.ops.add({}, "/block/down/norm2/Mul", "Mul");
    s.grow();
    CHECK(s.path(shared) == "block.norm2");
}

TEST_CASE("grow_scopes: a list whose members each run in another module belongs to their caller") {
    grown_scene<> s;
    const auto first = s.ops.add({}, "/enc/shared/glu.0/shared.0/MatMul", "MatMul");
    const auto gate = s.ops.add({first}, "/enc/shared/glu.0/Mul", "Mul");
    const auto second = s.ops.add({gate}, "/enc/shared/glu.1/shared.1/MatMul", "MatMul");
    s.grow();
    CHECK(s.path(first) == "enc.shared.shared.0");
    CHECK(s.path(gate) == "enc.shared.glu.0");
    CHECK(s.path(second) == "enc.shared.shared.1");
    CHECK(s.bound.of(second, s.table.scope_of[second]).caller != no_id);
}

TEST_CASE("grow_scopes: a further call is one of the same module if the first call is gone") {
    grown_scene<test::weighted_operators> s;
    const auto inner = s.ops.add({}, "/pre/fc.0/lin_1/MatMul", "MatMul");
    const auto act = s.ops.add({inner}, "/pre_1/Relu", "Relu");
    const auto again = s.ops.add({act}, "/pre/fc.0/lin_2/MatMul", "MatMul");
    const auto outer = s.ops.add({again}, "/pre_2/Relu", "Relu");
    const auto other = s.ops.add({outer}, "/pre/proj_1/MatMul", "MatMul");
    s.ops.read_parameter(inner, "onnx::MatMul_1");
    s.ops.read_parameter(again, "onnx::MatMul_1'");
    s.ops.read_parameter(other, "onnx::MatMul_2");
    s.grow();
    CHECK(s.path(inner) == "pre.fc.0.lin");
    CHECK(s.path(again) == "pre.fc.0.lin");
    CHECK(s.path(act) == "pre");
    CHECK(s.path(outer) == "pre");
    CHECK(s.path(other) == "pre.proj_1");
}

TEST_CASE("grow_scopes: what a module calls again may be known from other parameters") {
    grown_scene<test::weighted_operators> s;
    s.builder.at_path("fn.out");
    const auto first = s.ops.add({}, "/fn/q/MatMul", "MatMul");
    const auto out = s.ops.add({first}, "/fn/out/Add", "Add");
    const auto again = s.ops.add({out}, "/fn/q_1/MatMul", "MatMul");
    const auto sum = s.ops.add({again}, "/fn_1/Softmax", "Softmax");
    const auto out_again = s.ops.add({sum}, "/fn/out_1/Add", "Add");
    s.ops.read_parameter(first, "quantized");
    s.ops.read_parameter(again, "onnx::MatMul_1");
    s.ops.read_parameter(out, "fn.out.shape");
    s.ops.read_parameter(out_again, "fn.out.shape");
    s.grow();
    CHECK(s.path(sum) == "fn");
}

TEST_CASE("grow_scopes: a module run by its forward has the names of its caller") {
    grown_scene<> s;
    for (const auto* path : {"wrap.norm", "ffn.w_1", "ffn.w_2"}) {
        s.builder.at_path(path);
    }
    const auto norm = s.ops.add({}, "/wrap/norm/Add", "Add");
    const auto first = s.ops.add({norm}, "/wrap/w_1/Gemm", "Gemm");
    const auto act = s.ops.add({first}, "/wrap/act/Relu", "Relu");
    const auto second = s.ops.add({act}, "/wrap/w_2/Gemm", "Gemm");
    const auto sum = s.ops.add({second, norm}, "/wrap/Add", "Add");
    s.ops.read_parameter(norm, "wrap.norm.bias");
    s.ops.read_parameter(first, "ffn.w_1.weight");
    s.ops.read_parameter(second, "ffn.w_2.weight");
    s.grow();
    CHECK(s.path(act) == "ffn.act");
    CHECK(s.path(sum) == "wrap");
}

TEST_CASE("grow_scopes: a container that calls its owner's modules has none of its own") {
    grown_scene<> s;
    s.builder.at_path("block.conv");
    const auto conv = s.ops.add({}, "/block/net/conv/Conv", "Conv");
    const auto act = s.ops.add({conv}, "/block/net/act/Relu", "Relu");
    const auto again = s.ops.add({act}, "/block/net/act_1/Relu", "Relu");
    s.ops.read_parameter(conv, "block.conv.weight");
    s.grow();
    CHECK(s.path(conv) == "block.conv");
    CHECK(s.path(act) == "block.act");
    CHECK(s.path(again) == "block.act");
}

TEST_CASE("grow_scopes: adds the modules of scopes") {
    grown_scene<> s;
    const auto a = s.ops.add({}, "/enc/layer.0/fc/Add", "Add");
    const auto b = s.ops.add({}, "/enc/layer.0/Mul", "Mul");
    const auto root = s.ops.add({}, "/Mul", "Mul");
    s.grow();
    CHECK(s.path(a) == "enc.layer.0.fc");
    CHECK(s.path(b) == "enc.layer.0");
    CHECK(s.path(root).empty());
    CHECK(s.tree.size() == 5);
}

TEST_CASE("grow_scopes: a module without parameters is not one inside a module that was called") {
    grown_scene<> s;
    s.builder.at_path("block.gate.down");
    s.builder.at_path("block.list.0.up");
    const auto own = s.ops.add({}, "/block/down/Conv", "Conv");
    const auto inside = s.ops.add({}, "/block/gate/down/Conv", "Conv");
    const auto listed = s.ops.add({}, "/block/up/Conv", "Conv");
    s.grow();
    CHECK(s.path(own) == "block.down");
    CHECK(s.path(inside) == "block.gate.down");
    CHECK(s.path(listed) == "block.list.0.up");
}

TEST_CASE("grow_scopes: a Sequential that repeats its name is added once") {
    grown_scene<> s;
    const auto v = s.ops.add({}, "/layer1/layer1.0/Add", "Add");
    s.grow();
    CHECK(s.path(v) == "layer1.0");
    CHECK(s.tree.size() == 3);
}

TEST_CASE("grow_scopes: classes in scopes become those of the modules") {
    grown_scene<> s;
    const auto v = s.ops.add({}, "app.Net::/app.zoo.Block::layers.0/Add", "Add");
    s.grow();
    CHECK(s.path(v) == "layers.0");
    CHECK(s.tree.class_name(test::module_at(s.tree, "layers.0")) == "Block");
    CHECK(s.tree.qualified_class(test::module_at(s.tree, "layers.0")) == "app.zoo.Block");
    CHECK(s.tree.class_name(0) == "Net");
}

TEST_CASE("grow_scopes: further calls add no modules, other names do") {
    grown_scene<> s;
    const auto first = s.ops.add({}, "/fc/Add", "Add");
    const auto second = s.ops.add({}, "/fc_1/Add", "Add");
    const auto other = s.ops.add({}, "/fc_2/Mul", "Mul");
    s.grow();
    CHECK(s.path(first) == "fc");
    CHECK(s.path(second) == "fc");
    CHECK(s.path(other) == "fc_2");
    CHECK(s.tree.calls(test::module_at(s.tree, "fc")) == 2);
}

TEST_CASE("grow_scopes: a further call of one module may print as the first of another") {
    grown_scene<> s;
    s.ops.add({}, "/act/Relu", "Relu");
    s.ops.add({}, "/act_1/Relu", "Relu");
    s.ops.add({}, "/act_1/Sigmoid", "Sigmoid");
    s.ops.add({}, "/act_1_1/Sigmoid", "Sigmoid");
    s.grow();
    CHECK(s.path(0) == "act");
    CHECK(s.path(1) == "act");
    CHECK(s.path(2) == "act_1");
    CHECK(s.path(3) == "act_1");
    CHECK(s.tree.calls(test::module_at(s.tree, "act")) == 2);
    CHECK(s.tree.calls(test::module_at(s.tree, "act_1")) == 2);
    CHECK(s.tree.size() == 3);
}

TEST_CASE("grow_scopes: modules between two scopes are known never to run") {
    grown_scene<> s;
    s.ops.add({}, "/layer.0/fc/Add", "Add");
    s.grow();
    CHECK(s.tree.calls(test::module_at(s.tree, "layer")) == 0);
    CHECK(s.tree.calls(test::module_at(s.tree, "layer.0")) == 1);
    CHECK(s.tree.calls(test::module_at(s.tree, "layer.0.fc")) == 1);
}

TEST_CASE("grow_scopes: list members show each other the levels that scopes leave out") {
    grown_scene<> s;
    s.builder.at_path("block.0.layer.0.att");
    s.builder.at_path("block.1.layer.0.norm");
    s.builder.at_path("block.2.norm");
    const auto shown = s.ops.add({}, "/block.0/att/Add", "Add");
    const auto hidden = s.ops.add({}, "/block.1/att/Mul", "Mul");
    const auto inside = s.ops.add({}, "/block.1/att/q/Mul", "Mul");
    const auto other = s.ops.add({}, "/block.2/att/Sub", "Sub");
    s.grow();
    CHECK(s.path(shown) == "block.0.layer.0.att");
    CHECK(s.path(hidden) == "block.1.layer.0.att");
    CHECK(s.path(inside) == "block.1.layer.0.att.q");
    CHECK(s.path(other) == "block.2.att");
    CHECK(s.sureness(hidden) < s.sureness(shown));
    CHECK(s.sureness(inside) <= s.sureness(hidden));
}

TEST_CASE("grow_scopes: a number after an existing name is less certainly part of it") {
    grown_scene<> s;
    s.ops.add({}, "/a/fc/Add", "Add");
    const auto beside = s.ops.add({}, "/a/fc_1/Mul", "Mul");
    const auto alone = s.ops.add({}, "/b/fc_1/Mul", "Mul");
    s.grow();
    CHECK(s.path(beside) == "a.fc_1");
    CHECK(s.path(alone) == "b.fc_1");
    CHECK(s.sureness(beside) < s.sureness(alone));
}

TEST_CASE("grow_scopes: a number after a member's is a further call of it") {
    grown_scene<> s;
    const auto first = s.ops.add({}, "/net/list/list.0/Add", "Add");
    const auto again = s.ops.add({}, "/net/list/list.0_1/Mul", "Mul");
    const auto later = s.ops.add({}, "/net/list/list.1_2/Mul", "Mul");
    const auto built = s.ops.add({}, "net/list.1_2/Mul_node_1", "Mul");
    s.grow();
    CHECK(s.path(first) == "net.list.0");
    CHECK(s.path(again) == "net.list.0");
    CHECK(s.path(later) == "net.list.1");
    CHECK(s.path(built) == "net.list.1_2");
    CHECK(s.sureness(later) < s.sureness(first));
}

TEST_CASE("grow_scopes: after an optimizer, a number is less certainly part of a name") {
    const auto sureness = [](const std::string& other) {
        grown_scene<> s;
        const auto v = s.ops.add({}, "/b/fc_1/Mul", "Mul");
        s.ops.add({}, other, "FusedConv");
        s.grow();
        CHECK(s.path(v) == "b.fc_1");
        return s.sureness(v);
    };
    CHECK(sureness("fused /a/conv/Conv") < sureness("/a/conv/FusedConv"));
}

TEST_CASE("grow_scopes: if scopes leave out levels, none is certain to be complete") {
    const auto sureness = [](const std::string& parameter) {
        grown_scene<> s;
        const auto norm = s.ops.add({}, "/block.0/norm/Mul", "Mul");
        s.ops.read_parameter(norm, parameter);
        s.builder.at_path(parameter.substr(0, parameter.rfind('.')));
        const auto v = s.ops.add({norm}, "/block.0/att/Softmax", "Softmax");
        s.grow();
        CHECK(s.path(v) == "block.0.att");
        return s.sureness(v);
    };
    CHECK(sureness("block.0.layer.0.norm.weight") < sureness("block.0.norm.weight"));
}

TEST_CASE("grow_scopes: known modules are used") {
    grown_scene<> s;
    s.builder.at_path("enc.block.fc");
    const auto v = s.ops.add({}, "/enc/block/fc/Add", "Add");
    s.grow();
    CHECK(s.path(v) == "enc.block.fc");
    CHECK(s.tree.size() == 4);
}

} // namespace test::evidence_detail_scope_modules
