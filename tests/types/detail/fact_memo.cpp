// SPDX-License-Identifier: Apache-2.0
#include <stemma/types/detail/fact_memo.hpp>

#include "../../built_model.hpp"
#include "../../catch.hpp"
#include "../../inferred_types.hpp"

#include <stemma/core/id.hpp>
#include <stemma/types/value_types.hpp>

#include <cstdint>
#include <vector>

namespace test::types_detail_fact_memo {

namespace {

namespace d = stemma::detail;
using stemma::id;

test::message with_axis(test::message node, std::uint64_t axis) {
    return node.inner(5, test::message().text(1, "axis").number(3, axis).number(20, 2));
}

} // namespace

TEST_CASE("fact_memo: infers once for nodes that inference cannot distinguish",
          "[detail][fact_memo]") {
    auto graph = test::graph({
        test::node("Relu", {"x"}, {"a"}),
        test::node("Relu", {"x"}, {"b"}),
        test::node("Relu", {"w"}, {"c"}),
        test::node("Neg", {"x"}, {"d"}),
        with_axis(test::node("Own", {"x"}, {"e"}), 1),
        with_axis(test::node("Own", {"x"}, {"f"}), 1),
        with_axis(test::node("Own", {"x"}, {"g"}), 2),
        test::node("Reads", {"x", "k"}, {"h"}),
        test::node("Reads", {"x", "l"}, {"i"}),
        test::node("Reads", {"x", "m"}, {"j"}),
    });
    graph.inner(11, test::typed_value("x", {2, 3}));
    graph.inner(5, test::whole_numbers("w", {4, 5}));
    graph.inner(5, test::whole_numbers("k", {~std::uint64_t{0}}));
    graph.inner(5, test::whole_numbers("l", {~std::uint64_t{0}}));
    graph.inner(5, test::whole_numbers("m", {~std::uint64_t{1}}));
    const test::built_model model(test::model(graph));
    stemma::value_types types(model);
    d::fact_table table(model, types);
    d::fact_memo memo(table);
    std::vector<id> asked;
    for (int twice = 0; twice < 2; ++twice) {
        for (id node = 0; node < model.node_count(); ++node) {
            memo.infer(node, [&] {
                asked.push_back(node);
                std::int64_t extent = 7;
                if (model.op_type(node) == "Own") {
                    extent = table.attributes(node).whole("axis").value_or(0);
                } else if (model.op_type(node) == "Reads") {
                    extent = -table.literal(model.inputs(node)[1])->front();
                }
                table.set(node, 0, d::made(table.input(node, 0).data_type, d::extents{extent}));
            });
        }
    }
    CHECK(asked == std::vector<id>{0, 2, 3, 4, 6, 7, 9});
    const std::vector<std::int64_t> extents{7, 7, 7, 7, 1, 1, 2, 1, 1, 2};
    for (id node = 0; node < model.node_count(); ++node) {
        CHECK(table[model.first_output(node)].dims == d::extents{extents[node]});
        CHECK(table[model.first_output(node)].data_type == table.input(node, 0).data_type);
    }
}

} // namespace test::types_detail_fact_memo
