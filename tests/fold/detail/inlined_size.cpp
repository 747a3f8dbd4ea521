// SPDX-License-Identifier: Apache-2.0
#include <stemma/fold/detail/inlined_size.hpp>

#include "../../built_model.hpp"
#include "../../catch.hpp"
#include "../../wire_builder.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace test::fold_detail_inlined_size {

namespace {

stemma::detail::inlined_size size_of(const std::vector<test::message>& nodes,
                                     const std::vector<test::message>& functions,
                                     std::size_t max_depth = 500) {
    auto message = test::model(test::graph(nodes, {"x"}, {}));
    for (const auto& function : functions) {
        message.inner(25, function);
    }
    const test::built_model model(message);
    return stemma::detail::inlined_sizes(model, max_depth).of_model();
}

test::message call(const std::string& function, const char* name = "") {
    return test::node(function, {}, {}, name, "d");
}

/// Functions F0 to F<depth>, each calling the next one twice.
std::vector<test::message> doubling(int depth) {
    std::vector<test::message> functions;
    for (int i = 0; i < depth; ++i) {
        const auto next = call("F" + std::to_string(i + 1));
        functions.push_back(test::function("d", "F" + std::to_string(i), {}, {}, {next, next}));
    }
    functions.push_back(test::function("d", "F" + std::to_string(depth), {}, {}, {}));
    return functions;
}

} // namespace

TEST_CASE("inlined_sizes: nodes of functions count at each call, also in bodies") {
    const auto body =
        test::graph_attribute("body", test::graph({test::node("Relu", {"a"}, {"bcd"}, "ef")}));
    const auto function =
        test::function("d", "F", {"a"}, {"b"}, {test::owner_node("If", {"a"}, {"b"}, {body})});
    const auto inner = test::graph_attribute("then_branch", test::graph({call("F", "second")}));
    const auto size = size_of({test::node("Relu", {"x"}, {"y"}), call("F", "one"),
                               test::owner_node("If", {"y"}, {}, {inner})},
                              {function, test::function("d", "Unused", {}, {}, {call("F")})});
    CHECK(size.nodes == 2 * 2);
    CHECK(size.names == 2 * (3 + 3 + 2));
    CHECK(size.bytes == 2 * (2 + 6 + 2 + 8) + 8 * (3 + 1) + 8 * (6 + 1));
}

TEST_CASE("inlined_sizes: nested calls multiply, up to the largest number") {
    CHECK(size_of({call("F0")}, doubling(10)).nodes == 2 * 1023);
    const auto huge = size_of({call("F0")}, doubling(300));
    CHECK(huge.nodes == std::numeric_limits<std::uint64_t>::max());
    CHECK(huge.bytes == huge.nodes);
}

TEST_CASE("inlined_sizes: what cannot be inlined counts for nothing") {
    CHECK(size_of({call("F")}, {test::function("d", "F", {}, {}, {call("F")})}).nodes == 1);
    CHECK(size_of({call("F0")}, doubling(10), 3).nodes == 2 + 4 + 8);
}

} // namespace test::fold_detail_inlined_size
