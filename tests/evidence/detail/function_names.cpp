// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/function_names.hpp>

#include "../../catch.hpp"
#include "../../evidence_scene.hpp"
#include "../../wire_builder.hpp"

#include <stemma/core/id.hpp>

#include <string>
#include <vector>

namespace test::evidence_detail_function_names {

namespace {

/// The path of the module that a function with a name and domain was made for, in a model with
/// these weights; `-` for none; `owner` holds the parameters passed.
std::string module_of(const std::string& domain, const std::string& name,
                      const std::vector<std::string>& weights, const std::string& owner = "-") {
    const auto function =
        test::function(domain, name, {"a"}, {"b"}, {test::node("Relu", {"a"}, {"b"}, "inside")});
    auto model = test::model(
        test::graph({test::node(name, {"x"}, {"y"}, "call", domain)}, {"x"}, {"y"}, weights), 10);
    model.inner(25, function);
    test::evidence_scene scene(model.bytes());
    const auto& modules = scene.modules();
    stemma::id holder = stemma::no_id;
    for (stemma::id m = 0; m < modules.size(); ++m) {
        holder = modules.path(m) == owner ? m : holder;
    }
    const stemma::detail::function_names names(scene.ops(), modules);
    const auto module = names.module_of(0, 0, holder);
    CHECK(names.any() == (names.module_of(0, 0, stemma::no_id) != stemma::no_id));
    return module == stemma::no_id ? "-" : std::string(modules.path(module));
}

} // namespace

TEST_CASE("function_names: the path is between the class and the call number") {
    const std::vector<std::string> weights{"layer.0.fc.weight", "fc.weight"};
    CHECK(module_of("pkg.torch.2.2.0", "torch_nn_modules_linear_Linear_layer_0_fc_1", weights) ==
          "layer.0.fc");
    CHECK(module_of("pkg.app.1.0", "app_Layer_layer_0_2", weights) == "layer.0");
    CHECK(module_of("pkg.app.1.0", "fc_1", weights) == "fc");
    CHECK(module_of("pkg.app", "app_Net_layer_0_fc_1", {"layer.0.fc.in_proj.weight"}) ==
          "layer.0.fc");
}

TEST_CASE("function_names: sequence members are written as dynamo reaches them") {
    CHECK(module_of("pkg.torch.2.2.0",
                    "torch_nn_modules_linear_Linear_getattr_L__self___head___1___1",
                    {"head.1.weight"}) == "head.1");
    CHECK(module_of("pkg.app", "app_Block_getattr_getattr_L__self___stages___0___blocks___1___fc_1",
                    {"stages.0.blocks.1.fc.weight"}) == "stages.0.blocks.1.fc");
}

TEST_CASE("function_names: functions of operators and foreign ones are for no module") {
    const std::vector<std::string> weights{"norm.weight", "fn.weight"};
    CHECK(module_of("pkg.onnxscript.torch_lib", "aten_layer_norm", weights) == "-");
    CHECK(module_of("local", "app_Norm_norm_1", weights) == "-");
    CHECK(module_of("pkg.torch.__subgraph__", "graph_norm_1", weights) == "-");
    CHECK(module_of("pkg.app", "norm_", weights) == "-");
    // The end of a longer path that the tree lacks.
    CHECK(module_of("pkg.app", "app_Act_act_fn_1", weights) == "-");
    CHECK(module_of("pkg.app", "app_act_fn_1", weights, "fn") == "fn");
}

} // namespace test::evidence_detail_function_names
