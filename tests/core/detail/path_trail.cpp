// SPDX-License-Identifier: Apache-2.0
#include <stemma/core/detail/path_trail.hpp>

#include "../../catch.hpp"

#include <map>
#include <random>
#include <string>
#include <string_view>
#include <utility>

namespace test::core_detail_path_trail {

namespace {

using stemma::id;

/// Places by the path that leads to them, and the number of steps requested.
struct places {
    std::map<std::pair<id, std::string>, id> known;
    int steps = 0;

    id step(id from, std::string_view segment) {
        ++steps;
        return known.try_emplace({from, std::string(segment)}, static_cast<id>(10 + known.size()))
            .first->second;
    }
};

/// Returns: where a path leads when every segment is followed.
id follow_all(places& tree, id at, std::string_view path) {
    while (!path.empty()) {
        const auto end = path.find('/');
        at = tree.step(at, path.substr(0, end));
        if (end == path.npos) {
            return at;
        }
        path.remove_prefix(end + 1);
        if (path.empty()) {
            return tree.step(at, "");
        }
    }
    return at;
}

} // namespace

TEST_CASE("path_trail: leads where following every segment leads", "[core][path_trail]") {
    std::mt19937 random(7);
    places tree;
    stemma::detail::path_trail trail('/');
    for (int i = 0; i < 5000; ++i) {
        std::string path;
        const auto length = random() % 12;
        for (std::size_t c = 0; c < length; ++c) {
            path += "a/b/"[random() % 4];
        }
        const id start = static_cast<id>(random() % 3);
        const auto wanted = follow_all(tree, start, path);
        CHECK(trail.follow(start, path, [&](id at, std::string_view segment) {
            return tree.step(at, segment);
        }) == wanted);
    }
}

TEST_CASE("path_trail: steps only through segments not shared with the previous path",
          "[core][path_trail]") {
    places tree;
    stemma::detail::path_trail trail('.');
    const auto steps = [&](std::string_view path) {
        tree.steps = 0;
        static_cast<void>(trail.follow(
            0, path, [&](id at, std::string_view segment) { return tree.step(at, segment); }));
        return tree.steps;
    };
    CHECK(steps("a.b.c") == 3);
    CHECK(steps("a.b.c") == 0);
    CHECK(steps("a.b.d") == 1);
    CHECK(steps("a.bb.d") == 2);
    CHECK(steps("a") == 0);
    CHECK(steps("") == 0);
    CHECK(steps("a.bb") == 2);
}

} // namespace test::core_detail_path_trail
