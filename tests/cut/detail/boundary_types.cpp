// SPDX-License-Identifier: Apache-2.0
#include <stemma/cut/detail/boundary_types.hpp>

#include "../../catch.hpp"
#include "../../model_files.hpp"

#include <stemma/types/detail/infer_shapes.hpp>

#include <string>

namespace test::cut_detail_boundary_types {

using stemma::id;

TEST_CASE("boundary_types: the fallback is called once, and its message is passed on") {
    const auto path = test::fixture("bert_micro/model.onnx");
    const stemma::mapped_file file(path);
    const stemma::wire_model model(file.bytes(), path);
    const stemma::graph_contents contents(model);
    int asked = 0;
    stemma::detail::boundary_types types(model, [&](const auto&, auto&) {
        ++asked;
        return std::string("nobody knows");
    });
    types.prepare(true);
    id unknown = stemma::no_id; // of no input, and of no operator
    for (id value = 0; value < model.value_count() && unknown == stemma::no_id; ++value) {
        stemma::cut_plan plan;
        plan.inputs = {value};
        const auto reason = types.refuse_unknown(plan, contents);
        CHECK(reason.empty() == (plan.refusal == stemma::cut_refusal::none));
        if (plan.refusal == stemma::cut_refusal::unknown_type) {
            unknown = value;
            CHECK(reason.ends_with("is unknown: nobody knows"));
            CHECK(asked == 1);
            stemma::cut_plan again;
            again.outputs = {value};
            CHECK(types.refuse_unknown(again, contents) == reason);
        }
    }
    CHECK(asked <= 1);
}

TEST_CASE("boundary_types: another library may provide missing types") {
    const auto path = test::fixture("bert_micro/model.onnx");
    const stemma::mapped_file file(path);
    const stemma::wire_model model(file.bytes(), path);
    const stemma::graph_contents contents(model);
    const std::string type("\x0a\x06\x08\x01\x12\x02\x0a\x00", 8); // float, of one dimension
    const auto untyped = [&](stemma::type_inference infer) {
        stemma::detail::boundary_types types(model, std::move(infer));
        std::size_t count = 0;
        for (id value = 0; value < model.value_count(); ++value) {
            stemma::cut_plan plan;
            plan.outputs = {value};
            static_cast<void>(types.refuse_unknown(plan, contents));
            count += plan.refusal == stemma::cut_refusal::unknown_type ? 1U : 0U;
        }
        return count;
    };
    const auto all = untyped([&](const stemma::wire_model& of, stemma::value_types& types) {
        for (id value = 0; value < of.value_count(); ++value) {
            types.add(value, type);
        }
        return std::string();
    });
    CHECK(all == 0);
    CHECK(untyped({}) >= all);
}

TEST_CASE("boundary_types: a refused plan stays refused") {
    const auto path = test::fixture("mlp/model.onnx");
    const stemma::mapped_file file(path);
    const stemma::wire_model model(file.bytes(), path);
    const stemma::graph_contents contents(model);
    stemma::detail::boundary_types types(model);
    stemma::cut_plan plan;
    plan.refusal = stemma::cut_refusal::no_output;
    CHECK(types.refuse_unknown(plan, contents).empty());
    CHECK(plan.refusal == stemma::cut_refusal::no_output);
}

} // namespace test::cut_detail_boundary_types
