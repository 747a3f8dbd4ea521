// SPDX-License-Identifier: Apache-2.0
#include <stemma/record/detail/find_sources.hpp>

#include "../../catch.hpp"
#include "../../model_with_metadata.hpp"

#include <stemma/evidence/user_frames.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/module_tree_builder.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <functional>
#include <string>
#include <vector>

namespace test::record_detail_find_sources {

using stemma::source_lines;

namespace {

const char* const key = "pkg.torch.onnx.stack_trace";
const std::string stack = "File \"/srv/me/app/net.py\", line 12, in forward\n    x = self.fc(x)\n"
                          "  File \"/v/site-packages/torch/nn/linear.py\", line 125, in forward\n"
                          "    return F.linear(x)";

stemma::module_tree tree() {
    stemma::module_tree_builder builder;
    builder.set_class(0, "Net", "app.net.Net");
    return builder.build();
}

source_lines lines_of(const std::string& bytes, const std::function<source_lines()>& given = {},
                      const stemma::any_policy<stemma::frames_category>& policy = {}) {
    const stemma::wire_model model(bytes, "memory");
    const auto modules = tree();
    return stemma::detail::find_sources({model, modules, modules, given, false, false, policy});
}

std::string text_of(const source_lines& lines, stemma::id node) {
    const auto at = lines.of(node);
    return at ? stemma::to_text(*at) : "";
}

} // namespace

TEST_CASE("find_sources: only nodes with information have source lines") {
    const auto lines = lines_of(
        test::chain_of({{{key, stack}}, {}, {{key, ""}}, {{key, "no stack"}}, {{key, stack}}}));
    CHECK(text_of(lines, 0) == "app/net.py:12 in forward");
    CHECK(lines.chain_of(4) == lines.chain_of(0));
    for (stemma::id node = 1; node < 4; ++node) {
        CHECK(lines.of(node) == std::nullopt);
    }
    CHECK(lines.frames_of_chain(lines.chain_of(0)).size() == 2);
}

TEST_CASE("find_sources: the first of several texts counts, and the policy is queried") {
    const auto bytes = test::chain_of({{{key, stack}, {key, "net.py:1:1"}}});
    CHECK(text_of(lines_of(bytes), 0) == "app/net.py:12 in forward");
    CHECK(text_of(lines_of(bytes, {}, stemma::innermost_frame{}), 0) ==
          "torch/nn/linear.py:125 in forward");
}

TEST_CASE("find_sources: given lines apply to nodes without their own") {
    source_lines given;
    const auto chain = given.add_link(
        stemma::no_id, given.add_frame({"/srv/me/app/other.py", 3, "f"}, stemma::frame_kind::own));
    given.set(0, chain);
    given.set(1, chain);
    given.set_module(0, given.frame_of_chain(chain));
    const auto lines = lines_of(test::chain_of({{{key, stack}}, {}, {}}), [&] { return given; });
    CHECK(text_of(lines, 0) == "app/net.py:12 in forward");
    CHECK(text_of(lines, 1) == "app/other.py:3 in f");
    CHECK(text_of(lines, 2).empty());
    CHECK(stemma::to_text(lines.position(lines.frame_of_module(0))) == "app/other.py:3 in f");
}

TEST_CASE("find_sources: hostile texts are ignored and leave nothing") {
    for (const auto& text : std::vector<std::string>{
             std::string(1U << 21U, 'x'), "File \"/a/\x1b]0;pwned\x07.py\", line 3, in f",
             "File \"a.py\", line 3, in \xff", std::string(1U << 16U, '\n')}) {
        CHECK(lines_of(test::chain_of({{{key, text}}})).empty());
    }
}

} // namespace test::record_detail_find_sources
