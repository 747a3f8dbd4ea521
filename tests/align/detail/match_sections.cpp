// SPDX-License-Identifier: Apache-2.0
#include <stemma/align/detail/match_sections.hpp>

#include "../../catch.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

namespace test::align_detail_match_sections {

namespace {

using stemma::id;
using stemma::no_id;
using stemma::detail::graph_section;
using stemma::detail::section_colors;
using stemma::detail::section_match;

struct item {
    std::uint64_t label;
    std::vector<id> inputs;
    std::vector<id> outputs;
};

/// The same items in a random order, values numbered at random.
graph_section section_of(std::vector<item> items, id values, std::uint32_t seed,
                         std::vector<id>* number = nullptr) {
    std::mt19937 random(seed);
    std::vector<id> to(values);
    std::iota(to.begin(), to.end(), id{0});
    std::shuffle(to.begin(), to.end(), random);
    std::shuffle(items.begin(), items.end(), random);
    graph_section section;
    for (id i = 0; i < values; ++i) {
        section.add_value();
    }
    for (auto& one : items) {
        for (auto* list : {&one.inputs, &one.outputs}) {
            for (auto& value : *list) {
                value = value == no_id ? no_id : to[value];
            }
        }
        section.add_item(one.label, one.inputs, one.outputs);
    }
    if (number != nullptr) {
        *number = to;
    }
    return section;
}

bool matches(const graph_section& a, const graph_section& b, section_match& match) {
    return stemma::detail::match_sections(
        a, section_colors(a), b, section_colors(b), [](id, id) { return true; }, match);
}

/// Whether all pairs are wired alike.
bool is_right(const graph_section& a, const graph_section& b, const section_match& match) {
    for (id i = 0; i < a.item_count(); ++i) {
        const auto j = match.items[i];
        const auto fits = [&](std::span<const id> from, std::span<const id> to) {
            return std::equal(from.begin(), from.end(), to.begin(), to.end(), [&](id x, id y) {
                return x == no_id ? y == no_id : match.values[x] == y;
            });
        };
        if (a.label(i) != b.label(j) || !fits(a.inputs(i), b.inputs(j)) ||
            !fits(a.outputs(i), b.outputs(j))) {
            return false;
        }
    }
    auto items = match.items;
    std::sort(items.begin(), items.end());
    return std::adjacent_find(items.begin(), items.end()) == items.end();
}

/// Heads that look the same: each splits a common input, and is joined with the others at a slot.
std::vector<item> heads(id count, bool joined_by_slot, id& values) {
    std::vector<item> items;
    values = 1;
    item join{9, {}, {}};
    for (id h = 0; h < count; ++h) {
        const auto a = values++;
        const auto b = values++;
        const auto c = values++;
        items.push_back({1, {0}, {a}});
        items.push_back({2, {a, 0}, {b}});
        items.push_back({2, {b, a}, {c}});
        join.inputs.push_back(c);
    }
    if (joined_by_slot) {
        join.outputs = {values++};
        items.push_back(join);
    }
    return items;
}

} // namespace

TEST_CASE("match_sections: equal sections match in any order") {
    for (const bool joined : {true, false}) {
        id values = 0;
        const auto items = heads(12, joined, values);
        for (std::uint32_t seed = 1; seed < 6; ++seed) {
            const auto a = section_of(items, values, 0);
            const auto b = section_of(items, values, seed);
            section_match match;
            REQUIRE(matches(a, b, match));
            CHECK(is_right(a, b, match));
        }
    }
}

TEST_CASE("match_sections: detects a single changed read") {
    id values = 0;
    const auto items = heads(12, true, values);
    for (std::size_t i = 0; i < items.size(); ++i) {
        for (std::size_t slot = 0; slot < std::min<std::size_t>(items[i].inputs.size(), 2);
             ++slot) {
            auto other = items;
            auto& value = other[i].inputs[slot];
            value = value == 0 ? no_id : 0;
            section_match match;
            CHECK_FALSE(matches(section_of(items, values, 1), section_of(other, values, 2), match));
        }
    }
}

TEST_CASE("match_sections: random graphs match themselves, and not one with an edge moved") {
    std::mt19937 source(11);
    const auto random = [&] { return static_cast<id>(source()); };
    for (int round = 0; round < 50; ++round) {
        std::vector<item> items;
        constexpr id count = 30;
        for (id i = 0; i < count; ++i) {
            items.push_back({random() % 2, {random() % (i + 1)}, {i + 1}});
            if (random() % 2 == 0) {
                items.back().inputs.push_back(random() % (i + 1));
            }
        }
        const auto a = section_of(items, count + 1, 1);
        const auto b = section_of(items, count + 1, 2);
        section_match match;
        REQUIRE(matches(a, b, match));
        CHECK(is_right(a, b, match));
        auto& edge = items[count - 1].inputs[0];
        const auto before = edge;
        edge = (edge + 1) % count;
        const auto c = section_of(items, count + 1, 3);
        // If both values look the same, it is the same graph.
        if (matches(a, c, match)) {
            CHECK(is_right(a, c, match));
        }
        edge = before;
    }
}

TEST_CASE("match_sections: labels alone are not enough") {
    const std::vector<item> items{{1, {0}, {1}}};
    const auto a = section_of(items, 2, 1);
    section_match match;
    CHECK_FALSE(stemma::detail::match_sections(
        a, section_colors(a), a, section_colors(a), [](id, id) { return false; }, match));
}

} // namespace test::align_detail_match_sections
