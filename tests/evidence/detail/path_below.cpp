// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/path_below.hpp>

#include "../../catch.hpp"

#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/scoped_name.hpp>
#include <stemma/model/module_tree_builder.hpp>

namespace test::evidence_detail_path_below {

using stemma::detail::module_below;
using stemma::detail::path_below;
using stemma::detail::scope_style;

TEST_CASE("path_below: a Sequential repeats its name in its children") {
    stemma::module_tree_builder builder;
    const auto layer = builder.at_path("layer1");
    const auto second = builder.at_path("blocks.2");
    CHECK(path_below(builder, layer, scope_style::called, "layer1.0") == "0");
    CHECK(path_below(builder, second, scope_style::called, "blocks.2.1") == "1");
    CHECK(path_below(builder, layer, scope_style::called, "layer1") == "layer1");
    CHECK(path_below(builder, layer, scope_style::called, "layer10.0") == "layer10.0");
    CHECK(path_below(builder, 0, scope_style::called, "layer1.0") == "layer1.0");
    CHECK(path_below(builder, layer, scope_style::relative, "layer1.0") == "layer1.0");
}

TEST_CASE("module_below: dots separate numbered and known modules, and are else part of a name") {
    stemma::module_tree_builder builder;
    const auto layer = builder.at_path("enc.fc");
    const auto add = [&](const char* path) { return module_below(builder, 0, path); };
    const auto parent_name = [&](stemma::id m) { return builder.name(builder.parent(m)); };
    CHECK(parent_name(add("layer.0")) == "layer");
    CHECK(parent_name(add("grid.0.1_2")) == "0");
    CHECK(parent_name(add("blocks.0.conv")) == "0");
    CHECK(add("enc.fc") == layer);
    CHECK(builder.parent(add("enc.act")) == builder.parent(layer));
    const auto maximum = add("tf.math.maximum_3");
    CHECK(builder.name(maximum) == "tf.math.maximum_3");
    CHECK(builder.parent(maximum) == 0);
    CHECK(add("tf.math.maximum_3") == maximum);
}

} // namespace test::evidence_detail_path_below
