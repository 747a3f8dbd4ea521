// SPDX-License-Identifier: Apache-2.0
#include <stemma/fold/unfold_file.hpp>

#include "../catch.hpp"
#include "../model_files.hpp"
#include "../refusal.hpp"
#include "../scratch_folder.hpp"
#include "../wire_builder.hpp"

#include <stemma/error.hpp>
#include <stemma/fold/model_fold.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/open/attributed_model.hpp>

#include <string>

namespace test::fold_unfold_file {

namespace {

std::string dialect(const std::string& name) {
    return std::string(STEMMA_TEST_DATA) + "/dialects/" + name + ".onnx";
}

} // namespace

TEST_CASE("unfold_file: inlines calls, the same in memory as in a file") {
    const test::scratch_folder folder;
    for (const auto* name : {"modular_functions", "nested_functions"}) {
        CAPTURE(name);
        const auto report = stemma::unfold_file(dialect(name), folder.file("flat"),
                                                stemma::unfolded_names::as_before, {.sync = false});
        CHECK(report.calls > 0);
        CHECK(!report.is_restored);
        CHECK(!report.lost_tags);
        const auto flat = test::read_bytes(folder.file("flat"));
        CHECK(flat.size() == report.bytes);
        CHECK(stemma::wire_model(flat, "flat").functions().empty());
        stemma::unfold_file(dialect(name), folder.file("called"), stemma::unfolded_names::as_called,
                            {.sync = false});
        CHECK(test::read_bytes(folder.file("called")) != flat);
    }
}

TEST_CASE("unfold_file: restores the original, unless names after calls are requested") {
    const test::scratch_folder folder;
    const auto source = test::fixture("bert_micro/model.onnx");
    const stemma::attributed_model opened(source, {});
    stemma::model_fold(opened, stemma::module_folding{})
        .write(folder.file("folded"), {.sync = false});
    const auto restored = stemma::unfold_file(folder.file("folded"), folder.file("back"),
                                              stemma::unfolded_names::as_before, {.sync = false});
    CHECK(restored.is_restored);
    CHECK(test::read_bytes(folder.file("back")) == test::read_bytes(source));
    const auto called = stemma::unfold_file(folder.file("folded"), folder.file("called"),
                                            stemma::unfolded_names::as_called, {.sync = false});
    CHECK(called.calls > 0);
    CHECK(!called.is_restored);
    const auto bytes = test::read_bytes(folder.file("called"));
    CHECK(stemma::wire_model(bytes, "called").node_count() == opened.model().node_count());
}

TEST_CASE("unfold_file: rejects a model without functions") {
    const test::scratch_folder folder;
    CHECK(test::refusal([&] {
              return stemma::unfold_file(test::fixture("mlp/model.onnx"), folder.file("flat"));
          }).code() == stemma::error_code::not_found);
    CHECK(folder.file_count() == 0);
}

TEST_CASE("unfold_file: functions that training information calls are not inlined") {
    const test::scratch_folder folder;
    const auto unfold = [&](const char* domain) {
        const auto step = test::graph({test::node("F", {"w"}, {"new"}, "", domain)}, {}, {"new"});
        const auto bytes =
            test::model(test::graph({test::node("F", {"x"}, {"y"}, "c", "d")}, {"x"}, {"y"}))
                .inner(20, test::message().inner(2, step))
                .inner(25,
                       test::function("d", "F", {"a"}, {"b"}, {test::node("Neg", {"a"}, {"b"})}))
                .bytes();
        return stemma::unfold_file(folder.make("model.onnx", bytes), folder.file("flat"),
                                   stemma::unfolded_names::as_before, {.sync = false})
            .calls;
    };
    CHECK(unfold("other") == 1);
    CHECK_THROWS_WITH(unfold("d"), Catch::Contains("training_info: calls the function 'F'"));
}

TEST_CASE("unfold_file: functions that define a value twice are not inlined") {
    const test::scratch_folder folder;
    const auto bytes =
        test::model(test::graph({test::node("F", {"x"}, {"y"}, "c", "d")}, {"x"}, {"y"}))
            .inner(25,
                   test::function("d", "F", {"a"}, {"b"},
                                  {test::node("Neg", {"a"}, {"t"}), test::node("Abs", {"t"}, {"t"}),
                                   test::node("Relu", {"t"}, {"b"})}))
            .bytes();
    const auto source = folder.make("model.onnx", bytes);
    for (const auto names :
         {stemma::unfolded_names::as_before, stemma::unfolded_names::as_called}) {
        CHECK_THROWS_WITH(stemma::unfold_file(source, folder.file("flat"), names),
                          Catch::Contains("t: the model defines this value more than once"));
    }
    CHECK(folder.file_count() == 1);
}

} // namespace test::fold_unfold_file
