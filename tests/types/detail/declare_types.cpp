// SPDX-License-Identifier: Apache-2.0
#include <stemma/types/detail/declare_types.hpp>

#include "../../catch.hpp"
#include "../../inferred_types.hpp"
#include "../../wire_builder.hpp"

#include <stemma/onnx/wire_model.hpp>
#include <stemma/types/detail/infer_shapes.hpp>
#include <stemma/types/value_types.hpp>

#include <string>

namespace test::types_detail_declare_types {

TEST_CASE("declare_types: types that were added are in the file, others as before", "[detail]") {
    auto graph = test::graph({test::node("Relu", {"x"}, {"a"}), test::node("Abs", {"a"}, {"b"}),
                              test::node("Unknown", {"b"}, {"c"}, "", "own"),
                              test::node("Neg", {"b"}, {"y"})},
                             {}, {"y"});
    graph.inner(11, test::typed_value("x", {2, 3})).inner(13, test::typed_value("b", {2, 3}));
    const auto bytes = test::model(graph).bytes();
    const stemma::wire_model model(bytes);
    stemma::value_types types(model);
    CHECK(stemma::detail::declare_types(model, types).empty());
    stemma::detail::infer_shapes(model, types);
    const auto more = bytes + stemma::detail::declare_types(model, types);
    const stemma::wire_model declared(more);
    const stemma::value_types read(declared);
    std::string names;
    for (const auto& info : declared.value_infos()) {
        if (info.value != stemma::no_id && declared.producer(info.value) != stemma::no_id &&
            declared.value_name(info.value) != "y" && read.type_of(info.value)) {
            names.append(declared.value_name(info.value)).append(" ");
            CHECK(to_text(stemma::detail::describe_type(*read.type_of(info.value))) ==
                  "float32[2,3]");
        }
    }
    CHECK(names == "b a ");
}

} // namespace test::types_detail_declare_types
