// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/owner_paths.hpp>

#include "../../catch.hpp"
#include "../../operator_scene.hpp"

#include <stemma/core/id.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace test::evidence_detail_owner_paths {

using stemma::detail::owner_paths;
using path_list = std::vector<std::string_view>;

namespace {

/// An operator of some name that reads parameters.
test::operator_scene reader_of(const std::string& name,
                               const std::vector<std::string>& parameters) {
    test::operator_scene ops;
    const auto v = ops.add({}, name, "MatMul");
    for (const auto& parameter : parameters) {
        ops.read_parameter(v, parameter);
    }
    return ops;
}

/// Parameters, but operators without names.
struct plain_view {
    using graph_type = test::operator_scene::graph_type;
    const test::operator_scene* ops;

    [[nodiscard]] const graph_type& graph() const { return ops->graph(); }
    [[nodiscard]] std::size_t parameter_count() const { return ops->parameter_count(); }
    [[nodiscard]] std::string_view parameter_name(stemma::id p) const {
        return ops->parameter_name(p);
    }
    template <class Function>
    void for_each_parameter(std::size_t v, Function f) const {
        ops->for_each_parameter(v, f);
    }
};

} // namespace

TEST_CASE("owner_paths: what is named after its reader belongs to the module around that") {
    const auto ops = reader_of("/model/layers.0/q_proj/MatMul",
                               {"model.layers.0.q_proj.MatMul.weight", "model.norm.weight", "b"});
    CHECK(owner_paths(ops) == path_list{"model.layers.0.q_proj", "model.norm", ""});
    CHECK(owner_paths(plain_view{&ops}) ==
          path_list{"model.layers.0.q_proj.MatMul", "model.norm", ""});
    CHECK(owner_paths(reader_of("/MatMul", {"MatMul.weight"})) == path_list{""});
    CHECK(owner_paths(test::operator_scene()).empty());
}

TEST_CASE("owner_paths: a quantizer's suffix is not part of the reader's name") {
    CHECK(owner_paths(reader_of("/lm_head/MatMul_Q4", {"lm_head.MatMul.weight_Q4G32"})) ==
          path_list{"lm_head"});
    CHECK(owner_paths(reader_of("/lm_head/MatMulNBits", {"lm_head.MatMulNBits.qweight"})) ==
          path_list{"lm_head"});
}

TEST_CASE(
    "owner_paths: names of values in TorchScript are no evidence, those of list members are") {
    CHECK(owner_paths(reader_of("/Add", {"input.7", "weight.5", "fc.weight"})) ==
          path_list{"", "", "fc"});
    CHECK(owner_paths(reader_of("/Add", {"scales.0", "scales.1"})) ==
          path_list{"scales", "scales"});
    CHECK(owner_paths(reader_of("/Add", {"enc.2", "enc.fc.weight"})) == path_list{"enc", "enc.fc"});
    CHECK(owner_paths(reader_of("/Add", {"enc.scales.2"})) == path_list{"enc.scales"});
}

TEST_CASE("owner_paths: one reader speaks for all parameters with the path") {
    auto ops = reader_of("/lm_head/MatMul_Q4", {"lm_head.MatMul.weight"});
    ops.read_parameter(ops.add({}, "/embed/Gather"), "lm_head.MatMul.scales");
    CHECK(owner_paths(ops) == path_list{"lm_head", "lm_head"});
}

TEST_CASE("owner_paths: a capitalized module keeps its parameters") {
    CHECK(owner_paths(reader_of("/enc/Conv/MatMul", {"enc.Conv.weight"})) == path_list{"enc.Conv"});
    CHECK(owner_paths(reader_of("/enc/Add", {"enc.Conv.weight"})) == path_list{"enc.Conv"});
    CHECK(owner_paths(reader_of("enc/Conv", {"enc.Conv.weight"})) == path_list{"enc.Conv"});
    CHECK(owner_paths(reader_of("", {"enc.Conv.weight"})) == path_list{"enc.Conv"});
    auto ops = reader_of("/enc/Add", {"enc.Conv.weight"});
    ops.add({}, "/enc/Conv", "Conv");
    CHECK(owner_paths(ops) == path_list{"enc.Conv"});
}

TEST_CASE("owner_paths: only capitalized parts may be operators") {
    CHECK(owner_paths(reader_of("/enc/fc", {"enc.fc.weight"})) == path_list{"enc.fc"});
    CHECK(stemma::detail::may_end_in_operator("fc.MatMul"));
    CHECK(stemma::detail::may_end_in_operator("Add"));
    CHECK_FALSE(stemma::detail::may_end_in_operator("MatMul.fc"));
    CHECK_FALSE(stemma::detail::may_end_in_operator(""));
}

TEST_CASE("owner_paths: the path in an operator's name") {
    using stemma::detail::operator_path;
    CHECK(operator_path("/a_1/b.0/Add") == "a_1.b.0.Add");
    CHECK(operator_path("/a_1/Add_Q4_x") == "a_1.Add");
    CHECK(operator_path("/_x").empty());
    CHECK(operator_path("/").empty());
    CHECK(operator_path("a/Add").empty());
    CHECK(operator_path("").empty());
}

TEST_CASE("owner_paths: the reader's type may follow a dot") {
    CHECK(owner_paths(reader_of("/enc/fc.MatMul_1", {"enc.fc.MatMul.weight"})) ==
          path_list{"enc.fc"});
}

} // namespace test::evidence_detail_owner_paths
