// SPDX-License-Identifier: Apache-2.0
#include <stemma/report/why_nothing.hpp>

#include "../captured_model.hpp"
#include "../catch.hpp"
#include "../model_files.hpp"

#include <stemma/open/attributed_model.hpp>

#include <string>

namespace test::report_why_nothing {

TEST_CASE("why_nothing: says how many nodes there are, and how a position is written") {
    const stemma::attributed_model opened(test::fixture("bert_micro/model.onnx"), {});
    const auto count = opened.model().graph(0).node_count;
    const auto last = std::to_string(count - 1);
    CHECK(stemma::why_nothing(opened, "#99999") ==
          "no node #99999: the main graph has " + std::to_string(count) + " nodes, #0 to #" + last);
    CHECK(stemma::why_nothing(opened, "7") ==
          "nothing is named '7'; the node at that position is '#7'");
    CHECK(stemma::why_nothing(opened, "99999").find("#99999") == std::string::npos);
    CHECK(stemma::why_nothing(opened, "3/body#0") == "there is no body or function '3/body'");
    const stemma::attributed_model branching(test::fixture("control_flow/model.onnx"), {});
    CHECK(stemma::why_nothing(branching, "3/then_branch#0").find("'5/then_branch'") !=
          std::string::npos);
}

TEST_CASE("why_nothing: suggests similar names") {
    const stemma::attributed_model opened(test::fixture("bert_micro/model.onnx"), {});
    const std::string name(opened.model().name(0));
    CHECK(stemma::why_nothing(opened, name + "x").find("'" + name + "'") != std::string::npos);
    CHECK(stemma::why_nothing(opened, "encoder.layr.0").find("'encoder.layer.0'") !=
          std::string::npos);
    CHECK(stemma::why_nothing(opened, "layer.0.attention.self")
              .starts_with("nothing is named 'layer.0.attention.self'; similar: "
                           "'encoder.layer.0.attention.self', "));
    CHECK(stemma::why_nothing(opened, "") ==
          "nothing has an empty name; the root module is \"''\"");
}

TEST_CASE("why_nothing: names the query that finds a class or an operator type") {
    const auto opened = test::captured_model("bert_micro");
    CHECK(stemma::why_nothing(opened, "BertLayer") ==
          "nothing is named 'BertLayer'; query 'class:BertLayer' finds everything of that kind");
    CHECK(stemma::why_nothing(opened, "Softmax") ==
          "nothing is named 'Softmax'; query 'op:Softmax' finds everything of that kind");
}

} // namespace test::report_why_nothing
