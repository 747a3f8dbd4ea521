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
#include <string_view>
#include <utility>
#include <vector>

namespace test::evidence_detail_scope_modules {

using stemma::id;
using stemma::no_id;

namespace {

/// Operators with scopes in their names, and the modules found for these.
template <class Operators = test::operator_scene>
struct scoped_operators {
    /// Adds an operator whose type is in its name, and which may read a parameter.
    id add(const std::string& name, const std::vector<id>& inputs = {},
           const std::string& parameter = "") {
        const auto last = name.substr(name.rfind('/') + 1);
        const auto v = ops.add(inputs, name, last.substr(0, last.find('_')));
        if (!parameter.empty()) {
            ops.read_parameter(v, parameter);
        }
        return v;
    }

    [[nodiscard]] const stemma::detail::scope_module& of(id v) const {
        return bound.of(v, table.scope_of[v]);
    }

    Operators ops;
    stemma::detail::scope_table table;
    stemma::detail::scope_modules bound;
};

/// Operators over a known tree, with bound scopes.
struct scene : scoped_operators<> {
    explicit scene(stemma::module_tree modules) : tree(std::move(modules)) {}

    /// Of modules that ran so often.
    explicit scene(const std::vector<std::pair<std::string, id>>& calls) {
        stemma::module_tree_builder builder;
        for (const auto& [path, count] : calls) {
            builder.set_calls(builder.at_path(path), count);
        }
        tree = builder.build();
    }

    void bind() {
        table = stemma::detail::collect_scopes(ops);
        bound = stemma::detail::bind_scopes(ops, table, tree,
                                            stemma::detail::find_parameter_owners(ops, tree));
    }

    [[nodiscard]] std::string path(id v) const {
        return of(v).module == no_id ? "?" : tree.path(of(v).module);
    }

    stemma::module_tree tree;
};

/// The tree that the operators themselves reveal, beside some modules.
template <class Operators = test::operator_scene>
struct grown_scene : scoped_operators<Operators> {
    explicit grown_scene(const std::vector<std::string>& known = {}) {
        for (const auto& path : known) {
            builder.at_path(path);
        }
    }

    void grow() {
        const auto before = builder.build();
        this->table = stemma::detail::collect_scopes(this->ops);
        this->bound = stemma::detail::grow_scopes(
            this->ops, this->table, before,
            stemma::detail::find_parameter_owners(this->ops, before), builder);
        tree = builder.build();
    }

    [[nodiscard]] std::string path(id v) const {
        return tree.path(builder.rank_of(this->of(v).module));
    }
    [[nodiscard]] float sureness(id v) const { return this->of(v).confidence; }
    [[nodiscard]] id calls(std::string_view module) const {
        return tree.calls(test::module_at(tree, module));
    }

    stemma::module_tree_builder builder;
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
    scene s({{"fc", 2}});
    const auto first = s.add("/fc/Add");
    const auto second = s.add("/fc_1/Add");
    const auto again = s.add("/fc/Add_1");
    s.bind();
    CHECK(s.of(first).call == 0);
    CHECK(s.of(second).call == 1);
    CHECK(s.of(again).call == 0);
}

TEST_CASE("bind_scopes: Constants in front do not change the numbers of scopes") {
    scene s({{"fc", 3}});
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
    scene s({{"act", 2}, {"act_1", 1}});
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
    scene s({{"a", 0}, {"a.fc", 1}, {"b", 0}, {"b.fc", 1}});
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
    grown_scene<> s({"h.0.norm", "h.1.norm"});
    const auto norm = s.add("/norm/Mul", {}, "h.0.norm.weight");
    const auto first = s.add("/q/MatMul", {norm}, "onnx::MatMul_1");
    const auto inner = s.add("/ff/up/MatMul", {first}, "onnx::MatMul_3");
    const auto again = s.add("/norm_1/Mul", {inner}, "h.1.norm.weight");
    const auto second = s.add("/q_1/MatMul", {again}, "onnx::MatMul_2");
    const auto inner_again = s.add("/ff/up_1/MatMul", {second}, "onnx::MatMul_4");
    const auto head = s.add("/head/MatMul", {inner_again}, "onnx::MatMul_5");
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
        CHECK(s.of(s.acts[i]).call == 0);
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
    grown_scene<> s({"h.0.norm", "h.1.norm"});
    const auto norm = s.add("/norm/Mul", {}, "h.0.norm.weight");
    const auto first = s.add("/q/MatMul", {norm}, "onnx::MatMul_1");
    const auto again = s.add("/norm_1/Mul", {first}, "h.1.norm.weight");
    const auto second = s.add("/q_1/MatMul", {again}, "onnx::MatMul_1");
    s.grow();
    CHECK(s.path(first) == "q");
    CHECK(s.path(second) == "q");
}

TEST_CASE("grow_scopes: a series that does not alternate with others is no evidence about them") {
    grown_scene<> s({"h.0.norm", "h.1.norm"});
    const auto norm = s.add("/norm/Mul", {}, "h.0.norm.weight");
    const auto again = s.add("/norm_1/Mul", {norm}, "h.1.norm.weight");
    const auto first = s.add("/q/MatMul", {again}, "onnx::MatMul_1");
    s.add("/q_1/MatMul", {first}, "onnx::MatMul_2");
    s.grow();
    CHECK(s.path(first) == "q");
}

TEST_CASE("grow_scopes: equal names that read different weights are in unknown containers") {
    grown_scene<test::weighted_operators> s;
    const auto down = s.add("/proj/default/MatMul", {}, "onnx::MatMul_1");
    const auto up = s.add("/proj/default_1/MatMul", {down}, "onnx::MatMul_2");
    const auto act = s.add("/proj/act/Reshape", {up}, "shape1");
    const auto again = s.add("/proj/act_1/Reshape", {act}, "shape2");
    const auto once = s.add("/tied/MatMul", {again}, "onnx::MatMul_3");
    const auto twice = s.add("/tied_1/MatMul", {once}, "onnx::MatMul_3'");
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
        const auto wide = s.add("/head/wide/Conv", {}, "head.wide.weight");
        const auto point = s.add("/head/point/Conv", {wide}, "onnx::Conv_1");
        const auto wide_again = s.add("/head/wide_1/Conv", {point}, second_weight);
        const auto point_again = s.add("/head/point_1/Conv", {wide_again}, "onnx::Conv_2");
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
        const auto first = s.add("/conv/Conv", {}, "conv.weight");
        const auto other = s.add("/conv_1/Conv", {first}, weight);
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
    const auto first = s.add("/att/q/MatMul", {}, "onnx::MatMul_1");
    const auto act = s.add("/att/Tanh", {first});
    const auto again = s.add("/att_1/q/MatMul", {act}, "onnx::MatMul_1'");
    const auto sum = s.add("/att_1/Add", {again});
    const auto other = s.add("/att_2/q/MatMul", {sum}, "onnx::MatMul_2");
    s.add("/att_2/Add", {other});
    const auto loc = s.add("/loc/v/MatMul", {other}, "onnx::MatMul_3");
    const auto inner = s.add("/loc/v_1/MatMul", {loc}, "onnx::MatMul_3'");
    const auto outer = s.add("/loc_1/Add", {inner});
    s.grow();
    CHECK(s.path(outer) == "loc");
    CHECK(s.path(again) == "att.q");
    CHECK(s.path(sum) == "att");
    CHECK(s.path(other) == "att_2.q");
}

TEST_CASE("grow_scopes: calls of one module may read copies of weights, if most they call do not") {
    const auto grown = [](const std::string& second_gru) {
        grown_scene<test::weighted_operators> s;
        const auto first = s.add("/block/gru/MatMul", {}, "onnx::MatMul_1");
        const auto own = s.add("/block/MatMul", {first}, "fused_1");
        const auto again = s.add("/block/gru_1/MatMul", {own}, "onnx::MatMul_1" + second_gru);
        const auto copy = s.add("/block_1/MatMul", {again}, "fused_2");
        s.grow();
        return s.path(copy);
    };
    CHECK(grown("'") == "block");
    CHECK(grown("0").empty());
}

TEST_CASE("grow_scopes: what a module calls again tells of a further call without weights") {
    const auto grown = [](const std::string& inner, const std::string& weight) {
        grown_scene<test::weighted_operators> s;
        const auto first = s.add("/att/q/Conv"); // by weights that were computed
        const auto act = s.add("/att/Tanh", {first});
        const auto again = s.ops.add({act}, inner + "/Conv", "Conv");
        const auto sum = s.add("/att_1/Add", {again}, weight);
        if (!weight.empty()) {
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
    s.add("/block/norm1/Mul");
    s.add("/block/down/down.0/Conv");
    const auto shared = s.add("/block/down/norm2/Mul");
    s.grow();
    CHECK(s.path(shared) == "block.norm2");
}

TEST_CASE("grow_scopes: a list whose members each run in another module belongs to their caller") {
    grown_scene<> s;
    const auto first = s.add("/enc/shared/glu.0/shared.0/MatMul");
    const auto gate = s.add("/enc/shared/glu.0/Mul", {first});
    const auto second = s.add("/enc/shared/glu.1/shared.1/MatMul", {gate});
    s.grow();
    CHECK(s.path(first) == "enc.shared.shared.0");
    CHECK(s.path(gate) == "enc.shared.glu.0");
    CHECK(s.path(second) == "enc.shared.shared.1");
    CHECK(s.of(second).caller != no_id);
}

TEST_CASE("grow_scopes: a further call is one of the same module if the first call is gone") {
    grown_scene<test::weighted_operators> s;
    const auto inner = s.add("/pre/fc.0/lin_1/MatMul", {}, "onnx::MatMul_1");
    const auto act = s.add("/pre_1/Relu", {inner});
    const auto again = s.add("/pre/fc.0/lin_2/MatMul", {act}, "onnx::MatMul_1'");
    const auto outer = s.add("/pre_2/Relu", {again});
    const auto other = s.add("/pre/proj_1/MatMul", {outer}, "onnx::MatMul_2");
    s.grow();
    CHECK(s.path(inner) == "pre.fc.0.lin");
    CHECK(s.path(again) == "pre.fc.0.lin");
    CHECK(s.path(act) == "pre");
    CHECK(s.path(outer) == "pre");
    CHECK(s.path(other) == "pre.proj_1");
}

TEST_CASE("grow_scopes: what a module calls again may be known from other parameters") {
    grown_scene<test::weighted_operators> s({"fn.out"});
    const auto first = s.add("/fn/q/MatMul", {}, "quantized");
    const auto out = s.add("/fn/out/Add", {first}, "fn.out.shape");
    const auto again = s.add("/fn/q_1/MatMul", {out}, "onnx::MatMul_1");
    const auto sum = s.add("/fn_1/Softmax", {again});
    s.add("/fn/out_1/Add", {sum}, "fn.out.shape");
    s.grow();
    CHECK(s.path(sum) == "fn");
}

TEST_CASE("grow_scopes: a module run by its forward has the names of its caller") {
    grown_scene<> s({"wrap.norm", "ffn.w_1", "ffn.w_2"});
    const auto norm = s.add("/wrap/norm/Add", {}, "wrap.norm.bias");
    const auto first = s.add("/wrap/w_1/Gemm", {norm}, "ffn.w_1.weight");
    const auto act = s.add("/wrap/act/Relu", {first});
    const auto second = s.add("/wrap/w_2/Gemm", {act}, "ffn.w_2.weight");
    const auto sum = s.add("/wrap/Add", {second, norm});
    s.grow();
    CHECK(s.path(act) == "ffn.act");
    CHECK(s.path(sum) == "wrap");
}

TEST_CASE("grow_scopes: a container that calls its owner's modules has none of its own") {
    grown_scene<> s({"block.conv"});
    const auto conv = s.add("/block/net/conv/Conv", {}, "block.conv.weight");
    const auto act = s.add("/block/net/act/Relu", {conv});
    const auto again = s.add("/block/net/act_1/Relu", {act});
    s.grow();
    CHECK(s.path(conv) == "block.conv");
    CHECK(s.path(act) == "block.act");
    CHECK(s.path(again) == "block.act");
}

TEST_CASE("grow_scopes: adds the modules of scopes") {
    grown_scene<> s;
    const auto a = s.add("/enc/layer.0/fc/Add");
    const auto b = s.add("/enc/layer.0/Mul");
    const auto root = s.ops.add({}, "/Mul", "Mul");
    s.grow();
    CHECK(s.path(a) == "enc.layer.0.fc");
    CHECK(s.path(b) == "enc.layer.0");
    CHECK(s.path(root).empty());
    CHECK(s.tree.size() == 5);
}

TEST_CASE("grow_scopes: a module without parameters is not one inside a module that was called") {
    grown_scene<> s({"block.gate.down", "block.list.0.up"});
    const auto own = s.add("/block/down/Conv");
    const auto inside = s.add("/block/gate/down/Conv");
    const auto listed = s.add("/block/up/Conv");
    s.grow();
    CHECK(s.path(own) == "block.down");
    CHECK(s.path(inside) == "block.gate.down");
    CHECK(s.path(listed) == "block.list.0.up");
}

TEST_CASE("grow_scopes: a Sequential that repeats its name is added once") {
    grown_scene<> s;
    const auto v = s.add("/layer1/layer1.0/Add");
    s.grow();
    CHECK(s.path(v) == "layer1.0");
    CHECK(s.tree.size() == 3);
}

TEST_CASE("grow_scopes: classes in scopes become those of the modules") {
    grown_scene<> s;
    const auto v = s.add("app.Net::/app.zoo.Block::layers.0/Add");
    s.grow();
    CHECK(s.path(v) == "layers.0");
    CHECK(s.tree.class_name(test::module_at(s.tree, "layers.0")) == "Block");
    CHECK(s.tree.qualified_class(test::module_at(s.tree, "layers.0")) == "app.zoo.Block");
    CHECK(s.tree.class_name(0) == "Net");
}

TEST_CASE("grow_scopes: further calls add no modules, other names do") {
    grown_scene<> s;
    const auto first = s.add("/fc/Add");
    const auto second = s.add("/fc_1/Add");
    const auto other = s.add("/fc_2/Mul");
    s.grow();
    CHECK(s.path(first) == "fc");
    CHECK(s.path(second) == "fc");
    CHECK(s.path(other) == "fc_2");
    CHECK(s.calls("fc") == 2);
}

TEST_CASE("grow_scopes: a further call of one module may print as the first of another") {
    grown_scene<> s;
    s.add("/act/Relu");
    s.add("/act_1/Relu");
    s.add("/act_1/Sigmoid");
    s.add("/act_1_1/Sigmoid");
    s.grow();
    CHECK(s.path(0) == "act");
    CHECK(s.path(1) == "act");
    CHECK(s.path(2) == "act_1");
    CHECK(s.path(3) == "act_1");
    CHECK(s.calls("act") == 2);
    CHECK(s.calls("act_1") == 2);
    CHECK(s.tree.size() == 3);
}

TEST_CASE("grow_scopes: modules between two scopes are known never to run") {
    grown_scene<> s;
    s.add("/layer.0/fc/Add");
    s.grow();
    CHECK(s.calls("layer") == 0);
    CHECK(s.calls("layer.0") == 1);
    CHECK(s.calls("layer.0.fc") == 1);
}

TEST_CASE("grow_scopes: list members show each other the levels that scopes leave out") {
    grown_scene<> s({"block.0.layer.0.att", "block.1.layer.0.norm", "block.2.norm"});
    const auto shown = s.add("/block.0/att/Add");
    const auto hidden = s.add("/block.1/att/Mul");
    const auto inside = s.add("/block.1/att/q/Mul");
    const auto other = s.add("/block.2/att/Sub");
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
    s.add("/a/fc/Add");
    const auto beside = s.add("/a/fc_1/Mul");
    const auto alone = s.add("/b/fc_1/Mul");
    s.grow();
    CHECK(s.path(beside) == "a.fc_1");
    CHECK(s.path(alone) == "b.fc_1");
    CHECK(s.sureness(beside) < s.sureness(alone));
}

TEST_CASE("grow_scopes: a number after a member's is a further call of it") {
    grown_scene<> s;
    const auto first = s.add("/net/list/list.0/Add");
    const auto again = s.add("/net/list/list.0_1/Mul");
    const auto later = s.add("/net/list/list.1_2/Mul");
    const auto built = s.add("net/list.1_2/Mul_node_1");
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
        const auto v = s.add("/b/fc_1/Mul");
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
        const auto norm = s.add("/block.0/norm/Mul", {}, parameter);
        s.builder.at_path(parameter.substr(0, parameter.rfind('.')));
        const auto v = s.add("/block.0/att/Softmax", {norm});
        s.grow();
        CHECK(s.path(v) == "block.0.att");
        return s.sureness(v);
    };
    CHECK(sureness("block.0.layer.0.norm.weight") < sureness("block.0.norm.weight"));
}

TEST_CASE("grow_scopes: known modules are used") {
    grown_scene<> s({"enc.block.fc"});
    const auto v = s.add("/enc/block/fc/Add");
    s.grow();
    CHECK(s.path(v) == "enc.block.fc");
    CHECK(s.tree.size() == 4);
}

} // namespace test::evidence_detail_scope_modules
