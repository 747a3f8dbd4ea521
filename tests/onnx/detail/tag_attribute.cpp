// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/tag_attribute.hpp>

#include "../../catch.hpp"
#include "../../wire_builder.hpp"

#include <stemma/onnx/carrier.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>

#include <cstdint>
#include <string_view>

namespace test::onnx_detail_tag_attribute {

TEST_CASE("is_tag_attribute: needs one of stemma's names and its mark") {
    const auto is_ours = [](std::string_view name, std::string_view docs) {
        const auto bytes = test::text_attribute(name, "a.b").text(13, docs).bytes();
        return stemma::detail::is_tag_attribute(
            {bytes.data(), 0, static_cast<std::uint32_t>(bytes.size()), "file"});
    };
    const auto mark = stemma::detail::attribute_mark;
    CHECK(is_ours("source_module", mark));
    CHECK(is_ours("hierarchy_tags", mark));
    CHECK_FALSE(is_ours("source_module", "where it is from"));
    CHECK_FALSE(is_ours("module", mark));
    const auto graph = test::graph_attribute("source_module", test::graph()).text(13, mark).bytes();
    CHECK_FALSE(stemma::detail::is_tag_attribute(
        {graph.data(), 0, static_cast<std::uint32_t>(graph.size()), "file"}));
}

} // namespace test::onnx_detail_tag_attribute
