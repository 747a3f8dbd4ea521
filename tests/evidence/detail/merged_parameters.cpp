// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/merged_parameters.hpp>

#include "../../catch.hpp"
#include "../../operator_scene.hpp"

#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/scope_table.hpp>
#include <stemma/model/module_tree.hpp>

#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace test::evidence_detail_merged_parameters {

using stemma::id;
using names = std::set<std::string>;

namespace {

/// Operators that read one parameter each; some parameters are uniform.
struct scene : test::operator_scene {
    void add_reader(const std::string& name, const std::string& parameter) {
        const auto last = name.substr(name.rfind('/') + 1);
        read_parameter(add({}, name, last.substr(0, last.find('_'))), parameter);
    }

    void keep_uniform(std::vector<bool>& marked) const {
        for (id p = 0; p < marked.size(); ++p) {
            marked[p] = marked[p] && uniform.contains(std::string(parameter_name(p)));
        }
    }

    void keep_matrices(std::vector<bool>& marked) const {
        for (id p = 0; p < marked.size(); ++p) {
            marked[p] = marked[p] && parameter_name(p).ends_with(".weight");
        }
    }

    [[nodiscard]] bool passes_parameter_on(std::size_t v) const {
        return op_type(v) == "DequantizeLinear";
    }

    [[nodiscard]] names merged(const stemma::module_tree& modules) const {
        const auto merged = stemma::detail::find_merged_parameters(
            *this, stemma::detail::collect_scopes(*this), modules);
        names result;
        for (id p = 0; p < merged.size(); ++p) {
            if (merged[p]) {
                result.emplace(parameter_name(p));
            }
        }
        return result;
    }

    names uniform;
};

} // namespace

TEST_CASE("find_merged_parameters: finds untrained ones read in several places") {
    scene ops;
    ops.uniform = {"embed.norm.weight", "head.norm.weight"};
    ops.add_reader("/embed/norm/LayerNormalization", "embed.norm.weight");
    ops.add_reader("/layer/norm/LayerNormalization", "embed.norm.weight");
    ops.add_reader("/head/norm/LayerNormalization", "head.norm.weight");
    ops.add_reader("/embed/words/Gather", "embed.words.weight");
    ops.add_reader("/head/MatMul", "embed.words.weight");
    const auto tree = test::tree_of({"embed.norm", "embed.words", "head.norm"});
    CHECK(ops.merged(tree) == names{"embed.norm.weight"});
}

TEST_CASE("find_merged_parameters: a module that runs twice reads each of its parameters twice") {
    scene ops;
    ops.uniform = {"block.norm.weight"};
    for (const std::string call : {"/block", "/block_1"}) {
        ops.add_reader(call + "/norm/LayerNormalization", "block.norm.weight");
        ops.add_reader(call + "/fc/MatMul", "block.fc.weight");
    }
    CHECK(ops.merged(test::tree_of({"block.norm", "block.fc"})).empty());
}

TEST_CASE("find_merged_parameters: finds copies of a layer only one of which is left") {
    scene ops;
    for (const std::string layer : {"/net/layers.0", "/net/layers.1"}) {
        ops.add_reader(layer + "/fc1/Add", "net.layers.0.fc1.bias");
        ops.add_reader(layer + "/fc2/Add", "net.layers.0.fc2.bias");
    }
    CHECK(ops.merged(test::tree_of({"net.layers.0.fc1", "net.layers.0.fc2"})) ==
          names{"net.layers.0.fc1.bias", "net.layers.0.fc2.bias"});
}

TEST_CASE("find_merged_parameters: one module in several wrappers is shared") {
    scene ops;
    ops.add_reader("/wrap.0/inner/MatMul", "wrap.0.inner.weight");
    ops.add_reader("/wrap.1/inner/MatMul", "wrap.0.inner.weight");
    CHECK(ops.merged(test::tree_of({"wrap.0.inner"})).empty());
}

TEST_CASE("find_merged_parameters: a layer that runs only under another name is shared") {
    scene ops;
    for (const std::string layer : {"/layers.2", "/layers.1"}) {
        ops.add_reader(layer + "/fc1/Add", "layers.0.fc1.bias");
        ops.add_reader(layer + "/fc2/Add", "layers.0.fc2.bias");
    }
    CHECK(ops.merged(test::tree_of({"layers.0.fc1", "layers.0.fc2"})).empty());
}

TEST_CASE("find_merged_parameters: a known module reads the counterpart's parameter") {
    scene ops;
    ops.add_reader("/stack/stack.0/fc/Add", "stack.0.fc.bias");
    ops.add_reader("/stack/stack.1/fc/Add", "stack.0.fc.bias");
    CHECK(ops.merged(test::tree_of({"stack.0.fc", "stack.1.fc"})) == names{"stack.0.fc.bias"});
    CHECK(ops.merged(test::tree_of({"stack.0.fc", "stack.1.other"})) == names{"stack.0.fc.bias"});
    ops.add_reader("/Mul", "stack.1.fc.bias"); // now names contradict each other
    CHECK(ops.merged(test::tree_of({"stack.0.fc", "stack.1.fc"})).empty());
}

TEST_CASE(
    "find_merged_parameters: finds an equal table in known layers whose other names are lost") {
    scene ops;
    for (const auto* layer : {"/h.0", "/h.1"}) {
        ops.add_reader(std::string(layer) + "/att/rope/Mul", "h.0.att.rope.table");
    }
    CHECK(ops.merged(test::tree_of({"h.0.att.rope", "h.0.norm", "h.1.norm"})) ==
          names{"h.0.att.rope.table"});
    CHECK(ops.merged(test::tree_of({"h.0.att.rope", "h.0.norm"})).empty());
}

TEST_CASE("find_merged_parameters: a known module with the name of the owner is a copy of it") {
    scene ops;
    ops.add_reader("/online/fc/MatMul", "online.fc.weight");
    ops.add_reader("/target/fc/MatMul", "online.fc.weight");
    CHECK(ops.merged(test::tree_of({"online.fc", "target.fc"})) == names{"online.fc.weight"});
    CHECK(ops.merged(test::tree_of({"online.fc", "target.act"})).empty()); // lent to target
    ops.add_reader("/other/MatMul", "target.fc.weight"); // now names contradict each other
    CHECK(ops.merged(test::tree_of({"online.fc", "target.fc"})).empty());
}

TEST_CASE("find_merged_parameters: a known module with another name shares the parameter") {
    scene ops;
    ops.add_reader("/embed/words/Gather", "embed.words.weight");
    ops.add_reader("/head/decoder/MatMul", "embed.words.weight");
    CHECK(ops.merged(test::tree_of({"embed.words", "head.decoder"})).empty());
}

TEST_CASE("find_merged_parameters: finds a vector read more often than its owner's weight") {
    scene ops;
    ops.add_reader("MatMul_0", "fc1.weight");
    ops.add_reader("MatMul_1", "fc2.weight");
    for (int i = 0; i < 3; ++i) {
        ops.add_reader("Add_" + std::to_string(i), "fc1.bias");
    }
    const auto tree = test::tree_of({"fc1", "fc2"});
    CHECK(ops.merged(tree) == names{"fc1.bias"});
    ops.add_reader("MatMul_2", "fc2.weight"); // tied: the matrix alone
    ops.add_reader("Add_3", "fc2.bias");
    CHECK(ops.merged(tree) == names{"fc1.bias"});
}

TEST_CASE("find_merged_parameters: but not if its module runs twice") {
    scene ops;
    for (int i = 0; i < 2; ++i) {
        ops.add_reader("MatMul_" + std::to_string(i), "fc.weight");
        ops.add_reader("Add_" + std::to_string(i), "fc.bias");
    }
    CHECK(ops.merged(test::tree_of({"fc"})).empty());
}

TEST_CASE("find_merged_parameters: finds a vector with several roles, but not a shared table") {
    scene ops;
    ops.add_reader("/a/fc/Gemm", "a.norm.bias");
    ops.add_reader("/a/norm/LayerNormalization", "a.norm.bias");
    ops.add_reader("/words/Gather", "words.weight");
    ops.add_reader("/head/Gemm", "words.weight");
    ops.add_reader("/scale/Mul", "scale.gamma");
    ops.add_reader("/scale/Add", "scale.gamma");
    CHECK(ops.merged(test::tree_of({"a.norm", "words", "scale"})) == names{"a.norm.bias"});
}

TEST_CASE("find_merged_parameters: calls of one module may be fused in different ways") {
    scene ops;
    ops.add_reader("/fc/MatMulNBits", "fc.bias");
    ops.add_reader("/fc_1/Gemm", "fc.bias");
    ops.add_reader("/conv/FusedConv", "conv.bias");
    ops.add_reader("/conv_1/Conv", "conv.bias");
    CHECK(ops.merged(test::tree_of({"fc", "conv"})).empty());
    ops.add_reader("/norm/LayerNormalization", "fc.bias");
    ops.add_reader("/up/ConvTranspose", "conv.bias");
    CHECK(ops.merged(test::tree_of({"fc", "conv"})) == names{"conv.bias", "fc.bias"});
}

TEST_CASE("find_merged_parameters: a quantized module's bias may be read as often as its weight") {
    scene ops;
    for (const auto* part : {"weight", "bias"}) {
        const auto own = std::string("proj.") + part;
        ops.add_reader(own + "/DequantizeLinear", own + "_quantized");
        ops.add_reader(own + "/DequantizeLinear", own + "_scale");
    }
    for (const auto* tower : {"a", "b"}) {
        ops.add_reader(std::string("/") + tower + "/proj/Gemm", "proj.weight");
        ops.add_reader(std::string("/") + tower + "/proj/Gemm", "proj.bias");
    }
    CHECK(ops.merged(test::tree_of({"proj"})).empty());
}

} // namespace test::evidence_detail_merged_parameters
