// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/stated_kinds.hpp>

#include "../../catch.hpp"
#include "../../wire_builder.hpp"

#include <string>
#include <string_view>

namespace test::onnx_detail_stated_kinds {

using stemma::detail::stated_kind;

namespace {

constexpr std::string_view signature_key = "pkg.torch.export.ExportedProgram.graph_signature";

stemma::detail::stated_kinds kinds_in(const std::string& bytes) {
    return stemma::detail::stated_kinds(stemma::wire_model(bytes));
}

test::message with_signature(std::string_view text) {
    return test::model(test::graph().inner(16, test::entry(signature_key, text)));
}

} // namespace

TEST_CASE("stated_kinds: reads a graph signature with a line for each tensor") {
    const auto kinds = kinds_in(with_signature("\n# inputs\n"
                                               "p_fc_weight: PARAMETER target='fc.weight'\n"
                                               "b_it's: BUFFER target=\"it's\" persistent=True\n"
                                               "c_table: CONSTANT_TENSOR target='table'\n"
                                               "x: USER_INPUT\n\n# outputs\n"
                                               "add: BUFFER_MUTATION target='count'\n")
                                    .bytes());
    CHECK(kinds.of("fc.weight") == stated_kind::parameter);
    CHECK(kinds.of("it's") == stated_kind::fixed);
    CHECK(kinds.of("table") == stated_kind::fixed);
    CHECK(kinds.of("count") == stated_kind::none);
    CHECK(kinds.of("x") == stated_kind::none);
}

TEST_CASE("stated_kinds: reads a graph signature that is a Python expression") {
    const auto kinds = kinds_in(
        with_signature("ExportGraphSignature(input_specs=["
                       "InputSpec(kind=<InputKind.PARAMETER: 2>, arg=TensorArgument(name='p_w'), "
                       "target='fc.weight', persistent=None), "
                       "InputSpec(kind=<InputKind.BUFFER: 3>, arg=TensorArgument(name='b_mask'), "
                       "target='mask', persistent=True), "
                       "InputSpec(kind=<InputKind.USER_INPUT: 1>, arg=TensorArgument(name='x'), "
                       "target=None, persistent=None)], output_specs=["
                       "OutputSpec(kind=<OutputKind.BUFFER_MUTATION: 3>, "
                       "arg=TensorArgument(name='add'), target='count')])")
            .bytes());
    CHECK(kinds.of("fc.weight") == stated_kind::parameter);
    CHECK(kinds.of("mask") == stated_kind::fixed);
    CHECK(kinds.of("count") == stated_kind::none);
}

TEST_CASE("stated_kinds: reads what the metadata of values say") {
    const auto note = test::entry("pkg.torch.export.graph_signature.InputSpec.kind", "BUFFER");
    auto graph = test::graph({test::node("Add", {"x", "mask"}, {"y"})}, {"x"}, {"y"}, {"mask"});
    graph.inner(13, test::value_info("mask").inner(4, note));
    const auto kinds = kinds_in(test::model(graph).bytes());
    CHECK(kinds.of("mask") == stated_kind::fixed);
    CHECK(kinds.of("y") == stated_kind::none);
}

TEST_CASE("stated_kinds: ignores damaged signatures") {
    for (const auto* text : {"", "target=", " target=", "a: BUFFER target='b", "BUFFER target=b",
                             "InputKind. target='b'", "InputKind.BUFFER target=\"b"}) {
        CHECK(kinds_in(with_signature(text).bytes()).of("b") == stated_kind::none);
    }
}

} // namespace test::onnx_detail_stated_kinds
