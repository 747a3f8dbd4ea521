// SPDX-License-Identifier: Apache-2.0
#include <stemma/weights/parameter_origin.hpp>

#include "../catch.hpp"

#include <set>
#include <string>

namespace test::weights_parameter_origin {

TEST_CASE("parameter_origin: transforms and bases have names that differ") {
    std::set<std::string_view> names;
    for (int i = 0; i < 8; ++i) {
        names.insert(to_string(static_cast<stemma::parameter_origin::transform_kind>(i)));
    }
    CHECK(names.size() == 8);
    names.clear();
    for (int i = 0; i < 5; ++i) {
        names.insert(to_string(static_cast<stemma::parameter_origin::basis_kind>(i)));
    }
    CHECK(names.size() == 5);
}

TEST_CASE("parameter_origin: words name conversions after the transform") {
    stemma::parameter_origin origin;
    CHECK(transform_text(origin) == "none");
    origin.transform = stemma::parameter_origin::transform_kind::as_is;
    CHECK(transform_text(origin) == "as is");
    origin.cast = true;
    CHECK(transform_text(origin) == "cast");
    origin.transform = stemma::parameter_origin::transform_kind::transposed;
    origin.shared = {"b.weight"};
    CHECK(transform_text(origin) == "transposed, cast, shared");
    origin.quantized = true;
    CHECK(transform_text(origin) == "transposed, cast, quantized, shared");
}

} // namespace test::weights_parameter_origin
