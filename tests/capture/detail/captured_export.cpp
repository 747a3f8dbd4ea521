// SPDX-License-Identifier: Apache-2.0
#include <stemma/capture/detail/captured_export.hpp>

#include "../../catch.hpp"
#include "../../parsed_json.hpp"

#include <stemma/error.hpp>

namespace test::capture_detail_captured_export {

using stemma::detail::captured_export;

TEST_CASE("captured_export: the module is the path of the innermost scope") {
    captured_export exported;
    CHECK(exported.empty());
    for (
        const char* node :
        {R"({"graph":"","index":0,"op_type":"Add","scope":"app.Net::"})",
         R"({"index":3,"op_type":"MatMul","scope":"app.Net::/app.Enc::encoder/torch.nn.Linear::encoder.fc"})",
         R"({"graph":"5/then_branch","index":1,"op_type":"Relu","scope":"app.Net::/app.Gate::gate"})",
         R"({"graph":"","index":4,"op_type":"Constant","scope":""})",
         R"({"graph":"","index":5,"op_type":"Constant","scope":null})"}) {
        exported.read_node(test::parsed_json(node).part(), "file");
    }
    REQUIRE(exported.nodes().size() == 3); // the last two had no scope
    CHECK(exported.nodes()[0].module.empty());
    CHECK(exported.nodes()[1].module == "encoder.fc");
    CHECK(exported.nodes()[1].index == 3);
    CHECK(exported.nodes()[2].graph == "5/then_branch");
    CHECK(exported.nodes()[2].op_type == "Relu");
}

TEST_CASE("captured_export: rejects anything but a node") {
    for (const char* damaged :
         {"7", "{}", R"({"index":0,"op_type":"Add"})", R"({"op_type":"Add","scope":"a::"})",
          R"({"index":-1,"op_type":"Add","scope":"a::"})", R"({"index":0,"scope":"a::"})"}) {
        INFO(damaged);
        captured_export exported;
        CHECK_THROWS_AS(exported.read_node(test::parsed_json(damaged).part(), "file"),
                        stemma::error);
    }
}

} // namespace test::capture_detail_captured_export
