// SPDX-License-Identifier: Apache-2.0
#include <stemma/report/module_explanation.hpp>

#include "../captured_model.hpp"
#include "../catch.hpp"
#include "../model_files.hpp"

#include <stemma/open/attributed_model.hpp>
#include <stemma/report/analyze_model.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace test::report_module_explanation {

namespace {

using stemma::id;
using stemma::no_id;

struct scene {
    explicit scene(const std::string& fixture)
        : opened(test::captured_model(fixture))
        , describe(opened.model(), stemma::value_descriptions::inferring::asked)
        , explainer(opened, describe) {}

    stemma::attributed_model opened;
    stemma::value_descriptions describe;
    stemma::detail::module_explainer explainer;
};

} // namespace

TEST_CASE("module_explainer: inputs are produced outside, outputs are read there") {
    for (const auto* fixture : {"bert_micro", "unet_tiny", "shared_twice", "control_flow"}) {
        scene s(fixture);
        const auto& model = s.opened.model();
        const auto& tree = s.opened.modules().index();
        for (id m = 0; m < tree.size(); ++m) {
            const auto holds = [&](id below) { return below >= m && below < tree.end(m); };
            const auto explanation = s.explainer.explain(m);
            for (const auto& in : explanation.inputs) {
                const auto producer = model.producer(in.value);
                CHECK(in.of_model == (model.kind(in.value) == stemma::value_kind::input));
                CHECK((producer != no_id || in.of_model || !in.modules.empty()));
                CHECK(!model.is_initializer(in.value));
                CHECK(std::none_of(in.modules.begin(), in.modules.end(), holds));
            }
            for (const auto& out : explanation.outputs) {
                const auto producer = model.producer(out.value);
                REQUIRE(producer != no_id);
                CHECK(holds(s.opened.tags().attributions[producer].module));
                CHECK((out.of_model || !out.modules.empty()));
                CHECK(std::none_of(out.modules.begin(), out.modules.end(), holds));
            }
        }
    }
}

TEST_CASE("module_explainer: what functions take and give is of the model only in its main graph") {
    std::size_t formals = 0;
    for (const auto* name : {"modular_functions", "nested_functions"}) {
        stemma::attributed_model opened(test::fixture("../dialects/" + std::string(name) + ".onnx"),
                                        {});
        const stemma::value_descriptions describe(opened.model(),
                                                  stemma::value_descriptions::inferring::asked);
        stemma::detail::module_explainer explainer(opened, describe);
        const auto& model = opened.model();
        for (id m = 0; m < opened.modules().size(); ++m) {
            const auto explanation = explainer.explain(m);
            for (const auto& in : explanation.inputs) {
                CHECK(in.of_model ==
                      (model.graph_of_value(in.value) == 0 && model.producer(in.value) == no_id));
                CHECK(in.of_model == in.modules.empty());
                formals += model.kind(in.value) == stemma::value_kind::formal ? 1U : 0U;
            }
            for (const auto& out : explanation.outputs) {
                CHECK((!out.of_model || model.graph_of_value(out.value) == 0));
            }
        }
        const auto root = explainer.explain(0); // all calls are in it
        CHECK(root.inputs.size() == 1);
        CHECK(root.outputs.size() == 1);
    }
    CHECK(formals > 0);
}

TEST_CASE("module_explainer: weights agree with the statistics") {
    scene s("bert_micro");
    for (id m = 0; m < s.opened.modules().size(); ++m) {
        std::uint64_t bytes = 0;
        for (const auto& one : s.explainer.explain(m).weights) {
            bytes += one.weight.kind == stemma::weight_kind::parameter ? one.weight.bytes : 0;
        }
        CHECK(bytes == s.explainer.counts().bytes[m]);
    }
}

TEST_CASE("module_explainer: non-convex modules agree with the analysis") {
    std::size_t count = 0;
    for (const auto* fixture : {"bert_micro", "unet_tiny", "shared_twice", "gpt2_tiny"}) {
        scene s(fixture);
        const auto& opened = s.opened;
        std::vector<id> all(opened.model().node_count());
        const auto analysis = stemma::detail::analyze_modules(
            opened.model(), opened.operators().graph(), opened.modules(), opened.tags(), all);
        for (id m = 1; m < opened.modules().size(); ++m) {
            const bool listed = std::any_of(analysis.non_convex.begin(), analysis.non_convex.end(),
                                            [&](const auto& one) { return one.module == m; });
            const auto explanation = s.explainer.explain(m);
            CHECK(explanation.reentry.has_value() == listed);
            if (explanation.reentry) {
                ++count;
                CHECK(explanation.reentry->nodes.size() >= 3);
                CHECK(explanation.reentry->runs >= 2);
                CHECK(explanation.reentry->absorbed >= explanation.reentry->nodes.size() - 2);
            }
        }
    }
    CHECK(count > 0);
}

} // namespace test::report_module_explanation
