// SPDX-License-Identifier: Apache-2.0
#include <stemma/record/detail/recorded_sources.hpp>

#include "../../catch.hpp"

#include <string>

namespace test::record_detail_recorded_sources {

using any_frames = stemma::any_policy<stemma::frames_category>;
using stemma::frame_kind;
using stemma::no_id;
using stemma::source_lines;
using stemma::detail::read_sources;

namespace {

source_lines some_lines() {
    source_lines lines;
    const auto outer = lines.add_link(
        no_id, lines.add_frame({"/srv/me/net.py", 10, "forward"}, frame_kind::own, 7));
    const auto inner =
        lines.add_link(outer, lines.add_frame({"/v/linear.py", 114, ""}, frame_kind::library));
    lines.set(0, inner);
    lines.set(1, inner);
    lines.set(3, outer);
    lines.set_module(1, lines.frame_of_chain(outer));
    lines.name_files({"net.py", "linear.py"});
    return lines;
}

} // namespace

TEST_CASE("recorded_sources: round-trip, with names in place of paths") {
    const auto lines = some_lines();
    const auto text = stemma::detail::to_json(lines, 5, 2, false);
    CHECK(text.find("/srv") == text.npos);
    CHECK(text.find("net.py") == text.rfind("net.py"));
    const auto sources = read_sources(text, any_frames(), 2);
    REQUIRE(sources);
    const auto& recorded = sources->lines;
    const auto shown = [&](stemma::id node) {
        const auto chain = sources->chain_of(node);
        return chain == no_id ? ""
                              : stemma::to_text(recorded.position(recorded.frame_of_chain(chain)));
    };
    CHECK(shown(0) == "net.py:10 in forward");
    CHECK(shown(1) == "net.py:10 in forward");
    CHECK(shown(2).empty());
    CHECK(shown(3) == "net.py:10 in forward");
    CHECK(shown(4).empty());
    CHECK(shown(5).empty());
    CHECK(recorded.frames_of_chain(sources->chain_of(0)).size() == 2);
    CHECK(recorded.frames()[recorded.frame_of_module(1)].text == 7);
}

TEST_CASE("recorded_sources: full paths are kept on request") {
    const auto text = stemma::detail::to_json(some_lines(), 5, 2, true);
    CHECK(text.find("/srv/me/net.py") != text.npos);
}

TEST_CASE("recorded_sources: a chosen policy is queried again") {
    const auto text = stemma::detail::to_json(some_lines(), 5, 2, false);
    const any_frames innermost = stemma::innermost_frame{};
    const auto sources = read_sources(text, innermost, 2);
    REQUIRE(sources);
    const auto& recorded = sources->lines;
    CHECK(stemma::to_text(recorded.position(recorded.frame_of_chain(sources->chain_of(0)))) ==
          "linear.py:114");
}

TEST_CASE("recorded_sources: damaged records are rejected") {
    const std::string good = stemma::detail::to_json(some_lines(), 5, 2, false);
    const auto with = [&](std::string_view from, std::string_view to) {
        auto text = good;
        const auto at = text.find(from);
        REQUIRE(at != text.npos);
        return text.replace(at, from.size(), to);
    };
    for (const auto& text :
         {std::string(), std::string("[]"), std::string("{"), with("sources/1", "sources/9"),
          with("\"net.py\"", "\"\\u001b[1m\""), with("\"net.py\"", "3"), with("null", "5"),
          with("114", "-1"), with("114", "4294967295"),
          with("\"nodes\": [[2", "\"nodes\": [[-2")}) {
        INFO(text);
        CHECK_FALSE(read_sources(text, any_frames(), 2));
    }
    // Any number of nodes in a damaged record takes no memory.
    const auto many =
        read_sources(with("\"nodes\": [[2", "\"nodes\": [[4000000000"), any_frames(), 2);
    REQUIRE(many);
    CHECK(many->chain_of(3'000'000'000U) != no_id);
    // Missing modules are skipped.
    CHECK(read_sources(good, any_frames(), 1)->lines.frame_of_module(1) == no_id);
}

} // namespace test::record_detail_recorded_sources
