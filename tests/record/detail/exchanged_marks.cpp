// SPDX-License-Identifier: Apache-2.0
#include <stemma/record/detail/exchanged_marks.hpp>

#include "../../built_model.hpp"
#include "../../catch.hpp"
#include "../../wire_builder.hpp"

#include <stemma/core/id.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/record/detail/graph_sketch.hpp>
#include <stemma/record/detail/inserted_nodes.hpp>
#include <stemma/record/detail/sketch_lookup.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace test::record_detail_exchanged_marks {

namespace {

using stemma::id;

/// For each node of a chain of these types whether its mark seems to be another's; `numbers` are
/// those of the marks, `no_id` for nodes without one.
std::vector<bool> exchanged(const std::vector<std::string>& types, const std::vector<id>& numbers) {
    std::vector<test::message> nodes;
    for (std::size_t i = 0; i < types.size(); ++i) {
        nodes.push_back(
            test::node(types[i], {"v" + std::to_string(i)}, {"v" + std::to_string(i + 1)}));
    }
    const test::built_model model(nodes, {"v0"}, {"v" + std::to_string(types.size())});
    stemma::attribution root;
    root.module = 0;
    const std::vector<stemma::attribution> attributions(types.size(), root);
    const auto then =
        *stemma::detail::graph_sketch::read(stemma::detail::sketch_of(model, attributions), 1);
    const stemma::detail::sketch_types kinds(model, then);
    const stemma::detail::sketch_lookup lookup(then);
    const auto readers = stemma::detail::find_readers(model);
    const std::vector<id> holders(types.size(), stemma::no_id);
    auto marked = holders;
    for (id i = 0; i < numbers.size(); ++i) {
        if (numbers[i] != stemma::no_id) {
            marked[numbers[i]] = i;
        }
    }
    std::vector<bool> flags;
    for (id i = 0; i < numbers.size(); ++i) {
        flags.push_back(
            numbers[i] != stemma::no_id &&
            stemma::detail::is_exchanged({model, then, kinds, lookup, readers, holders, marked}, i,
                                         numbers[i], [&](id node) { return numbers[node]; }));
    }
    return flags;
}

} // namespace

TEST_CASE("is_exchanged: where another operator of the type is elsewhere") {
    const std::vector<std::string> types{"Gemm", "Relu", "Gemm", "Relu", "Gemm", "Relu"};
    CHECK(exchanged(types, {0, 1, 2, 3, 4, 5}) == std::vector<bool>(6, false));
    // The last one has no other neighbour.
    CHECK(exchanged(types, {4, 1, 2, 3, 0, 5}) ==
          std::vector<bool>{true, false, false, false, true, true});
    CHECK(exchanged(types, {2, 3, 4, 5, 0, 1}) == std::vector<bool>(6, false)); // in pairs
}

TEST_CASE("is_exchanged: not where the other one may be gone") {
    const std::vector<std::string> types{"Gemm", "Relu", "Gemm", "Relu", "Gemm", "Relu"};
    CHECK(exchanged(types, {4, 1, 2, 3, stemma::no_id, 5}) == std::vector<bool>(6, false));
    CHECK(exchanged(types, {0, stemma::no_id, 4, stemma::no_id, 2, stemma::no_id}) ==
          std::vector<bool>(6, false));
}

TEST_CASE("marks_on: all marks on a node, and no others") {
    const std::vector<stemma::detail::node_mark_found> marks{{1, 7}, {3, 2}, {3, 9}, {4, 0}};
    const auto numbers = [&](stemma::id node) {
        std::vector<stemma::id> listed;
        for (const auto& mark : stemma::detail::marks_on(marks, node)) {
            listed.push_back(mark.number);
        }
        return listed;
    };
    CHECK(numbers(1) == std::vector<stemma::id>{7});
    CHECK(numbers(3) == std::vector<stemma::id>{2, 9});
    CHECK(numbers(2).empty());
    CHECK(numbers(5).empty());
}

} // namespace test::record_detail_exchanged_marks
