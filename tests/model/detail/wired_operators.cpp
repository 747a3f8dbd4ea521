// SPDX-License-Identifier: Apache-2.0
#include <stemma/model/detail/wired_operators.hpp>

#include "../../catch.hpp"
#include "../../operator_scene.hpp"

#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>

#include <vector>

namespace test::model_detail_wired_operators {

using stemma::id;
using stemma::no_id;

TEST_CASE("wired_operators: tell what operators read, and what reads them and depends on data") {
    test::operator_scene ops;
    const auto x = ops.add({}, "", "Relu");
    const auto shape = ops.add({x}, "", "Shape");
    const auto y = ops.add({x, shape}, "", "Reshape");
    const auto z = ops.add({y, y}, "", "Mul");
    const stemma::detail::wired_operators wires(ops, {false, true, false, false});
    CHECK(wires.is(y, "Reshape"));
    CHECK(wires.position[x] < wires.position[y]);
    CHECK(wires.producers(x).empty());
    CHECK(stemma::detail::range::count(wires.producers(z), y) == 2);
    CHECK(wires.only_producer(y) == x);
    CHECK(wires.only_producer(z) == no_id); // two wires
    CHECK(wires.forks(x));
    CHECK_FALSE(wires.forks(shape));
    CHECK(wires.count_readers(x) == 1);
    CHECK(wires.count_readers(y) == 2);
    std::vector<id> readers;
    wires.for_each_reader(x, [&](id w) { readers.push_back(w); });
    CHECK(readers == std::vector<id>{y});
}

} // namespace test::model_detail_wired_operators
