// SPDX-License-Identifier: Apache-2.0
#include <stemma/query/model_facts.hpp>

#include "../catch.hpp"
#include "../model_files.hpp"

#include <stemma/open/attributed_model.hpp>
#include <stemma/query/sort_answer.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace test::query_model_facts {

namespace {

using stemma::id;

} // namespace

TEST_CASE("model_facts: every convolution has its attributes, and a kernel of rank 4") {
    const stemma::attributed_model opened(test::fixture("resnet18/model.structure.onnx"), {});
    const auto facts = stemma::detail::facts_of(opened);
    std::size_t count = 0;
    for (id node = 0; node < opened.model().node_count(); ++node) {
        if (opened.model().op_type(node) != "Conv") {
            continue;
        }
        ++count;
        const auto attributes = facts.attributes(node);
        CHECK(std::any_of(attributes.begin(), attributes.end(),
                          [](const auto& one) { return one.name == "kernel_shape"; }));
        REQUIRE(!facts.weights_of(node).empty());
        const auto kernel = facts.value(facts.weights_of(node).front());
        CHECK(kernel.type == "float32");
        CHECK(kernel.extents.size() == 4);
        CHECK(kernel.bytes.value_or(0) % 4 == 0);
        CHECK(facts.value(facts.values_of(node).front()).extents.size() == 4);
    }
    CHECK(count == 20);
}

TEST_CASE("model_facts: sizes of modules add up") {
    const stemma::attributed_model opened(test::fixture("resnet18/model.structure.onnx"), {});
    const auto facts = stemma::detail::facts_of(opened);
    const auto& tree = opened.modules().index();
    for (id m = 1; m < tree.size(); ++m) {
        CHECK(facts.parameters(m) <= facts.parameters(tree.parent(m)));
        CHECK(facts.weight_bytes(m) <= facts.weight_bytes(tree.parent(m)));
    }
    CHECK(facts.parameters(0) > 0);
}

TEST_CASE("model_facts: queries about values list the values, those about nodes their nodes") {
    const stemma::attributed_model opened(test::fixture("bert_micro/model.onnx"), {});
    const auto answer = stemma::answer_query(stemma::parse_query("bytes>4kB"), opened);
    const auto facts = stemma::detail::facts_of(opened);
    CHECK(!answer.initializers.empty());
    for (auto value : answer.initializers) {
        CHECK(opened.model().is_initializer(value));
        CHECK(facts.value(value).bytes.value_or(0) > 4000);
    }
    auto sorted = answer;
    stemma::sort_answer(sorted, opened, stemma::query_answer::order::bytes, 3);
    REQUIRE(sorted.initializers.size() == 3);
    for (std::size_t i = 1; i < sorted.initializers.size(); ++i) {
        CHECK(facts.value(sorted.initializers[i - 1]).bytes >=
              facts.value(sorted.initializers[i]).bytes);
    }
    CHECK(facts.value(sorted.initializers[0]).bytes ==
          facts
              .value(*std::max_element(
                  answer.initializers.begin(), answer.initializers.end(),
                  [&](id a, id b) { return facts.value(a).bytes < facts.value(b).bytes; }))
              .bytes);
}

} // namespace test::query_model_facts
