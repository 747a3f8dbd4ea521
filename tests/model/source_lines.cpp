// SPDX-License-Identifier: Apache-2.0
#include <stemma/model/source_lines.hpp>

#include "../catch.hpp"

#include <stemma/core/id.hpp>

#include <vector>

namespace test::model_source_lines {

using stemma::frame_kind;
using stemma::id;
using stemma::no_id;
using stemma::source_lines;
using stemma::source_position;

namespace {

/// Returns: the chain of some frames, outermost first.
id chain_of(source_lines& lines,
            const std::vector<std::pair<source_position, frame_kind>>& frames) {
    id chain = no_id;
    for (const auto& [at, kind] : frames) {
        chain = lines.add_link(chain, lines.add_frame(at, kind));
    }
    return chain;
}

const source_position outer{"a/net.py", 10, "forward"};
const source_position inner{"a/block.py", 20, "forward"};
const source_position package{"hub/bert.py", 30, "forward"};
const source_position linear{"torch/nn/linear.py", 114, "forward"};

} // namespace

TEST_CASE("source_lines: the innermost user frame is the line of an operator") {
    source_lines lines;
    lines.set(2, chain_of(lines, {{outer, frame_kind::own},
                                  {inner, frame_kind::own},
                                  {package, frame_kind::package},
                                  {linear, frame_kind::library}}));
    CHECK(lines.of(2) == inner);
    CHECK(lines.of(0) == std::nullopt);
    CHECK(lines.of(7) == std::nullopt);
    std::vector<source_position> all;
    for (const auto number : lines.frames_of_chain(lines.chain_of(2))) {
        all.push_back(lines.position(number));
    }
    CHECK(all == std::vector<source_position>{linear, package, inner, outer});
}

TEST_CASE("source_lines: of a very long chain the innermost frames are listed") {
    source_lines lines;
    id chain = no_id;
    std::vector<id> frames;
    for (stemma::id line = 0; line < 1000; ++line) {
        frames.insert(frames.begin(), lines.add_frame({"a.py", line, "f"}, frame_kind::own));
        chain = lines.add_link(chain, frames.front());
    }
    frames.resize(source_lines::listed_frames);
    CHECK(lines.frames_of_chain(chain) == frames);
}

TEST_CASE("source_lines: without a user's frame a package's counts, then any") {
    source_lines lines;
    const auto in_package =
        chain_of(lines, {{package, frame_kind::package}, {linear, frame_kind::library}});
    const auto in_library = chain_of(lines, {{linear, frame_kind::library}});
    CHECK(lines.position(lines.frame_of_chain(in_package)) == package);
    CHECK(lines.position(lines.frame_of_chain(in_library)) == linear);
}

TEST_CASE("source_lines: equal chains are stored once, and share their callers") {
    source_lines lines;
    const auto first = chain_of(lines, {{outer, frame_kind::own}, {inner, frame_kind::own}});
    CHECK(chain_of(lines, {{outer, frame_kind::own}, {inner, frame_kind::own}}) == first);
    chain_of(lines, {{outer, frame_kind::own}, {linear, frame_kind::library}});
    CHECK(lines.chain_count() == 3);
    CHECK(lines.frames().size() == 3);
    CHECK(lines.file_count() == 3);
    CHECK(lines.function_count() == 1);
}

TEST_CASE("source_lines: files have display names once set") {
    source_lines lines;
    const auto frame = lines.add_frame(outer, frame_kind::own);
    lines.name_files({"net.py"});
    CHECK(stemma::to_text(lines.position(frame)) == "net.py:10 in forward");
    CHECK(lines.path(lines.frames()[frame].file) == "a/net.py");
    CHECK(stemma::to_text({"net.py", 3, ""}) == "net.py:3");
}

TEST_CASE("source_lines: modules have their own lines") {
    source_lines lines;
    CHECK(lines.empty());
    lines.set_module(1, lines.add_frame(inner, frame_kind::own));
    CHECK_FALSE(lines.empty());
    CHECK(lines.frame_of_module(0) == no_id);
    CHECK(lines.position(lines.frame_of_module(1)) == inner);
    CHECK(lines.frame_of_module(9) == no_id);
}

TEST_CASE("source_lines: a line has the same hash regardless of indentation, never 0") {
    CHECK(source_lines::hash_text("    x = f(y)\r") == source_lines::hash_text("x = f(y)"));
    CHECK(source_lines::hash_text("x = f(y)") != source_lines::hash_text("x = f(z)"));
    CHECK(source_lines::hash_text("") != 0);
}

} // namespace test::model_source_lines
