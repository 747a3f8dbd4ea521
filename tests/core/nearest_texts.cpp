// SPDX-License-Identifier: Apache-2.0
#include <stemma/core/nearest_texts.hpp>

#include "../catch.hpp"
#include "../random_numbers.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace test::core_nearest_texts {

using stemma::nearest_texts;

namespace {

/// Returns: the edit distance, by its definition.
std::size_t distance(std::string_view a, std::string_view b) {
    if (a.empty() || b.empty()) {
        return a.size() + b.size();
    }
    const auto x = a.substr(1);
    const auto y = b.substr(1);
    if (a[0] == b[0]) {
        return distance(x, y);
    }
    return 1 + std::min({distance(x, y), distance(a, y), distance(x, b)});
}

std::vector<std::string> slow_nearest(const std::string& wanted, std::size_t count,
                                      const std::vector<std::string>& texts) {
    std::vector<std::pair<std::size_t, std::string>> near;
    for (const auto& text : texts) {
        const auto d = text.find(wanted) != text.npos ? 0 : distance(wanted, text);
        const std::pair entry(d, text);
        if (!text.empty() && d <= std::max<std::size_t>(1, wanted.size() / 2) &&
            std::find(near.begin(), near.end(), entry) == near.end()) {
            near.push_back(entry);
        }
    }
    std::stable_sort(near.begin(), near.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    near.resize(std::min(near.size(), count));
    std::vector<std::string> result;
    for (auto& [d, text] : near) {
        result.push_back(text);
    }
    return result;
}

} // namespace

TEST_CASE("nearest_texts: agrees with measuring and sorting all of them", "[core][nearest_texts]") {
    test::random_numbers random(7);
    const auto word = [&] {
        std::string text;
        for (auto length = random(7); length > 0; --length) {
            text.push_back("abc"[random(3)]);
        }
        return text;
    };
    for (int round = 0; round < 400; ++round) {
        const auto wanted = word() + "a";
        const auto count = random(5);
        std::vector<std::string> texts(random(30));
        nearest_texts nearest(wanted, count);
        for (auto& text : texts) {
            text = word();
            nearest.offer(text);
        }
        REQUIRE(nearest.take() == slow_nearest(wanted, count, texts));
    }
}

TEST_CASE("nearest_texts: a text that contains the wanted one comes first",
          "[core][nearest_texts]") {
    nearest_texts nearest("layer.0", 3);
    for (auto text : {"layer.1", "layr.0", "encoder.layer.0.output", "decoder", "layer.1"}) {
        nearest.offer(text);
    }
    CHECK(nearest.take() ==
          std::vector<std::string>{"encoder.layer.0.output", "layer.1", "layr.0"});
}

TEST_CASE("nearest_texts: nothing is near an empty text", "[core][nearest_texts]") {
    nearest_texts nearest("", 3);
    nearest.offer("a");
    nearest.offer("");
    CHECK(nearest.take().empty());
}

TEST_CASE("unknown_name_text: names near matches and all known ones", "[core][nearest_texts]") {
    using stemma::detail::unknown_name_text;
    CHECK(unknown_name_text("cost", "byte", "operators, bytes") ==
          "unknown cost 'byte'; did you mean 'bytes'? known: operators, bytes");
    CHECK(unknown_name_text("selection", "dept:3", "all, depth:N") ==
          "unknown selection 'dept:3'; did you mean 'depth:N'? known: all, depth:N");
    CHECK(unknown_name_text("selection", "depth:x", "depth:N") ==
          "unknown selection 'depth:x'; did you mean 'depth:N'? known: depth:N");
    CHECK(unknown_name_text("cost", "something", "bytes") ==
          "unknown cost 'something'; known: bytes");
    CHECK(unknown_name_text("cost", "", "bytes") == "unknown cost ''; known: bytes");
}

TEST_CASE("nearest_texts: the end of a message lists what is similar") {
    nearest_texts nearest("laye", 2);
    CHECK(nearest.similar().empty());
    nearest.offer("layer");
    nearest.offer("layers");
    CHECK(nearest.similar() == "; similar: 'layer', 'layers'");
    CHECK(nearest.similar(":") == "; similar: 'layer:', 'layers:'");
}

} // namespace test::core_nearest_texts
