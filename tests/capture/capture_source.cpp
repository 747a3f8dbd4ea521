// SPDX-License-Identifier: Apache-2.0
#include <stemma/capture/capture_source.hpp>

#include "../catch.hpp"

#include <memory>

namespace test::capture_capture_source {

TEST_CASE("capture_source: is empty until given something to open") {
    CHECK(stemma::capture_source().empty());
    int opened = 0;
    const stemma::capture_source source([&] {
        ++opened;
        return std::unique_ptr<stemma::detail::opened_capture>();
    });
    CHECK_FALSE(source.empty());
    CHECK(opened == 0);
    CHECK(source.open() == nullptr);
    CHECK(opened == 1);
}

} // namespace test::capture_capture_source
