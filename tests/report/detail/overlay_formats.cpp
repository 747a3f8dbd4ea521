// SPDX-License-Identifier: Apache-2.0
#include <stemma/report/detail/overlay_formats.hpp>

#include "../../catch.hpp"

#include <set>
#include <string_view>

namespace test::report_detail_overlay_formats {

TEST_CASE("find_overlay_format: every report has columns of different names") {
    CHECK(stemma::detail::find_overlay_format("stemma.tree/1") == nullptr);
    CHECK(stemma::detail::find_overlay_format(stemma::detail::own_overlay_schema) == nullptr);
    for (const auto& format : stemma::detail::overlay_formats) {
        CHECK(stemma::detail::find_overlay_format(format.schema) == &format);
        CHECK(stemma::detail::known_overlay_schemas().find(format.schema) != std::string::npos);
        std::set<std::string_view> names;
        for (const auto& field : format.fields) {
            CHECK(names.insert(field.name).second);
            CHECK_FALSE(field.of_module.empty());
            CHECK((format.divisor.empty() ? !field.divided : true));
        }
    }
}

} // namespace test::report_detail_overlay_formats
