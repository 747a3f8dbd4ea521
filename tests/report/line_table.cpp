// SPDX-License-Identifier: Apache-2.0
#include <stemma/report/line_table.hpp>

#include "../catch.hpp"
#include "../model_with_metadata.hpp"
#include "../opened_graph.hpp"

#include <stemma/core/id.hpp>
#include <stemma/io/json_writer.hpp>

#include <string>
#include <vector>

namespace test::report_line_table {

namespace {

test::metadata at(const std::string& place) {
    return {{"pkg.torch.onnx.stack_trace", place}};
}

} // namespace

TEST_CASE("group_by_line: by file and line, unknown ones last") {
    const auto bytes =
        test::chain_of({at("/a/net.py:20:1"), {}, at("/a/net.py:3:1"), at("/a/net.py:20:1")});
    const auto opened = test::in_memory(bytes);
    const auto rows = stemma::group_by_line(opened, {}, [](stemma::id node) { return node + 1; });
    REQUIRE(rows.size() == 3);
    CHECK(rows[0].line == 3);
    CHECK(rows[1].line == 20);
    CHECK(rows[1].file == "net.py");
    CHECK(rows[1].nodes == std::vector<stemma::id>{0, 3});
    CHECK(rows[1].amount == 5);
    CHECK(rows[1].operators.front().second == 2);
    CHECK(rows[2].line == 0);
    CHECK(rows[2].nodes == std::vector<stemma::id>{1});
    stemma::string_sink csv;
    stemma::write_csv(csv, rows, {{"size", [](const auto& row) {
                                       return static_cast<std::int64_t>(row.amount);
                                   }}});
    CHECK(csv.text == "file,line,function,nodes,size\nnet.py,3,,1,3\nnet.py,20,,2,5\n,0,,1,2\n");
    stemma::string_sink json;
    stemma::write_json(json, rows, opened);
    CHECK(json.text.find("\"line\": null") != std::string::npos);
}

} // namespace test::report_line_table
