// SPDX-License-Identifier: Apache-2.0
#include <stemma/align/detail/graph_section.hpp>

#include "../../catch.hpp"

#include <array>
#include <cstdint>
#include <random>
#include <vector>

namespace test::align_detail_graph_section {

namespace {

using stemma::id;
using stemma::no_id;
using stemma::detail::graph_section;
using stemma::detail::section_colors;

/// Items that read two earlier values and produce one, in a random numbering.
graph_section shuffled(std::uint32_t seed, std::size_t odd = 0) {
    std::mt19937 source(7); // generator of the section
    const auto random = [&] { return static_cast<id>(source()); };
    constexpr id count = 40;
    struct item {
        std::uint64_t label;
        std::vector<id> inputs;
    };
    std::vector<item> items;
    for (id i = 0; i < count; ++i) {
        items.push_back({random() % 3 + (i == odd && odd != 0 ? 100U : 0U),
                         {i == 0 ? no_id : random() % i, i < 2 ? no_id : random() % i}});
    }
    std::vector<id> order(count);
    for (id i = 0; i < count; ++i) {
        order[i] = i;
    }
    std::shuffle(order.begin(), order.end(), std::mt19937(seed));
    graph_section section;
    for (id i = 0; i < count; ++i) {
        section.add_value();
    }
    for (auto i : order) {
        section.add_item(items[i].label, items[i].inputs, std::array{i});
    }
    return section;
}

} // namespace

TEST_CASE("graph_section: returns what was added") {
    graph_section section;
    const auto given = section.add_value(5);
    const auto output = section.add_value();
    section.mark(output, 3);
    const auto item = section.add_item(9, std::array{given, no_id, given}, std::array{output});
    CHECK(section.item_count() == 1);
    CHECK(section.value_count() == 2);
    CHECK(section.label(item) == 9);
    CHECK(section.mark(given) == 5);
    CHECK(section.mark(output) != 0);
    CHECK(section.maker(output) == item);
    CHECK(section.maker(given) == no_id);
    CHECK(section.inputs(item).size() == 3);
    CHECK(section.outputs(item).front() == output);
    std::vector<id> slots;
    section.for_each_read([&](id, id slot, id value) {
        CHECK(value == given);
        slots.push_back(slot);
    });
    CHECK(slots == std::vector<id>{0, 2});
}

TEST_CASE("section_colors: item order is irrelevant, everything else counts") {
    const auto one = shuffled(1);
    const section_colors first(one);
    const auto two = shuffled(2);
    CHECK(first.digest() == section_colors(two).digest());
    for (const std::size_t odd : {1U, 20U, 39U}) {
        const auto other = shuffled(1, odd);
        CHECK(first.digest() != section_colors(other).digest());
    }
}

TEST_CASE("section_colors: slots, marks and readers count") {
    const auto section = [](bool swapped, std::uint64_t mark, bool shared) {
        graph_section built;
        const auto x = built.add_value(1);
        const auto y = built.add_value(mark);
        const auto a = built.add_value();
        const auto b = built.add_value();
        built.add_item(1, swapped ? std::array{y, x} : std::array{x, y}, std::array{a});
        built.add_item(2, std::array{shared ? x : a}, std::array{b});
        return section_colors(built).digest();
    };
    const auto plain = section(false, 1, false);
    CHECK(plain == section(false, 1, false));
    CHECK(section(false, 2, false) != section(true, 2, false));
    CHECK(plain != section(false, 2, false));
    CHECK(plain != section(false, 1, true));
}

TEST_CASE("section_colors: handles cycles") {
    graph_section section;
    const auto x = section.add_value();
    const auto y = section.add_value();
    section.add_item(1, std::array{x}, std::array{y});
    section.add_item(1, std::array{y}, std::array{x});
    CHECK(section_colors(section).digest() == section_colors(section).digest());
}

} // namespace test::align_detail_graph_section
