// SPDX-License-Identifier: Apache-2.0
#include <stemma/report/export_report.hpp>

#include "../catch.hpp"
#include "../model_files.hpp"

#include <stemma/capture/captures.hpp>
#include <stemma/open/attributed_model.hpp>

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace test::report_export_report {

TEST_CASE("write_html_report: the page holds the model as data") {
    stemma::attributed_model opened(
        test::fixture("bert_micro/model.onnx"),
        {.captures = stemma::captures({test::fixture("bert_micro/modules.json")})});
    stemma::string_sink sink;
    stemma::write_html_report(sink, opened);
    constexpr std::string_view mark = "id=\"data\">";
    const auto begin = sink.text.find(mark);
    REQUIRE(begin != std::string::npos);
    const auto from = begin + mark.size();
    const auto data =
        nlohmann::json::parse(sink.text.substr(from, sink.text.find("</script>", from) - from));
    CHECK(data.is_object());
    CHECK(data.dump().find("encoder") != std::string::npos);
    CHECK(sink.text.find(opened.file().path()) != std::string::npos);
}

} // namespace test::report_export_report
