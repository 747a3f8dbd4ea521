// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/for_each_tensor.hpp>

#include "../../catch.hpp"
#include "../../refusal.hpp"
#include "../../wire_builder.hpp"

#include <stemma/error.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace test::onnx_detail_for_each_tensor {

using stemma::detail::tensors_in;
using stemma::detail::wire_field;
using stemma::detail::wire_reader;

namespace {

/// Returns: the names of the tensors in a message.
test::names tensors_of(const test::message& message, tensors_in kind) {
    const auto bytes = message.bytes();
    test::names names;
    stemma::detail::for_each_tensor(
        wire_reader(bytes.data(), 0, static_cast<std::uint32_t>(bytes.size()), "file"), kind,
        [&](wire_reader fields) {
            for (wire_field field; fields.next(field);) {
                if (field.is_bytes(8)) {
                    names.emplace_back(fields.text(field));
                }
            }
        });
    return names;
}

test::message sparse(const std::string& name) {
    return test::message()
        .inner(1, test::tensor(name + ".values"))
        .inner(2, test::tensor(name + ".indices"));
}

} // namespace

TEST_CASE("for_each_tensor: finds tensors of graphs, nodes, bodies and functions") {
    const auto in_attribute = [](unsigned field, const test::message& content) {
        return test::node("Op", {}, {}).inner(5, test::message().inner(field, content));
    };
    auto body = test::graph({in_attribute(5, test::tensor("constant"))}, {}, {});
    body.inner(5, test::tensor("in body"));
    auto graph = test::graph({in_attribute(10, test::tensor("of list")), in_attribute(6, body),
                              in_attribute(11, body), in_attribute(22, sparse("one")),
                              in_attribute(23, sparse("list"))},
                             {}, {});
    graph.inner(5, test::tensor("initializer")).inner(15, sparse("sparse"));
    auto model = test::message().inner(7, graph);
    model.inner(25, test::message()
                        .inner(7, in_attribute(5, test::tensor("in function")))
                        .inner(11, test::message().inner(5, test::tensor("default"))));
    CHECK(tensors_of(model, tensors_in::model) ==
          test::names{"of list", "constant", "in body", "constant", "in body", "one.values",
                      "one.indices", "list.values", "list.indices", "initializer", "sparse.values",
                      "sparse.indices", "in function", "default"});
    CHECK(tensors_of(body, tensors_in::graph) == test::names{"constant", "in body"});
    CHECK(tensors_of(test::tensor("itself"), tensors_in::tensor) == test::names{"itself"});
}

TEST_CASE("for_each_tensor: messages nested deeper than protobuf allows are refused") {
    const auto default_of_function = [](unsigned levels) {
        auto attribute = test::message();
        for (unsigned level = 0; level < levels; ++level) {
            const auto node = test::message().inner(5, attribute);
            attribute = test::message().inner(6, test::message().inner(1, node));
        }
        return test::message().inner(25, test::message().inner(11, attribute));
    };
    CHECK(tensors_of(default_of_function(32), tensors_in::model).empty());
    for (const auto levels : {33U, 300U}) {
        CHECK(test::refusal("file", [&] {
                  static_cast<void>(tensors_of(default_of_function(levels), tensors_in::model));
              }) == stemma::error_code::malformed);
    }
}

} // namespace test::onnx_detail_for_each_tensor
