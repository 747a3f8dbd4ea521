// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/printed_scope.hpp>

#include "../../catch.hpp"

#include <string>
#include <string_view>

namespace test::evidence_detail_printed_scope {

namespace {

std::string append(std::string path, std::string_view scope) {
    stemma::detail::append_scope(path, scope);
    return path;
}

} // namespace

TEST_CASE("printed_level: the last name with the numbers behind it") {
    using stemma::detail::printed_level;
    CHECK(printed_level("encoder.layer.0") == "layer.0");
    CHECK(printed_level("blocks.1.0") == "blocks.1.0");
    CHECK(printed_level("encoder.norm") == "norm");
    CHECK(printed_level("0.1") == "0.1");
    CHECK(printed_level("").empty());
}

TEST_CASE("list_in, around_level: the list of the first level, and what is around the last one") {
    CHECK(stemma::detail::list_in("block.5/conv") == "block");
    CHECK(stemma::detail::list_in("blocks.1.0") == "blocks.1");
    CHECK(stemma::detail::list_in("conv/block.5").empty());
    CHECK(stemma::detail::around_level("a/b/c") == "a/b");
    CHECK(stemma::detail::around_level("a/") == "a");
    CHECK(stemma::detail::around_level("a").empty());
}

TEST_CASE("append_scope: members repeat the name of a called list") {
    CHECK(append("", "/encoder/layer.0/attention") == "encoder.layer.0.attention");
    CHECK(append("", "/enc/enc.1/block/block.5") == "enc.1.block.5");
    CHECK(append("enc.1.block", "/block.5/conv") == "enc.1.block.5.conv");
    CHECK(append("enc.1", "/block.5") == "enc.1.block.5");
    CHECK(append("blocks.1", "/blocks.1.0/conv") == "blocks.1.0.conv");
    CHECK(append("block", "/block_1") == "block.block_1");
    CHECK(append("fc", "") == "fc");
}

TEST_CASE("called_lists: scopes are printed with the lists that were called") {
    stemma::detail::called_lists lists;
    CHECK(lists.print("enc.1.block.5.conv") == "enc.1/block.5/conv");
    lists.note({}, "/enc/enc.1/block.0");
    CHECK(lists.print("enc.1.block.5.conv") == "enc/enc.1/block.5/conv");
    lists.note("enc.1.block", "/block.2");
    CHECK(lists.print("enc.1.block.5.conv") == "enc/enc.1/block/block.5/conv");
    CHECK(lists.print("").empty());
}

} // namespace test::evidence_detail_printed_scope
