// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/grow_class_tags.hpp>

#include "../../catch.hpp"

#include <stemma/evidence/detail/hierarchy_table.hpp>
#include <stemma/model/module_tree_builder.hpp>

#include <string>
#include <string_view>

namespace test::evidence_detail_grow_class_tags {

TEST_CASE("for_each_class: a number is the name of a module") {
    std::string read;
    stemma::detail::for_each_class(
        "/Net/Layer.12/Conv2.x/fc", [&](std::string_view class_name, std::string_view number) {
            read.append(class_name).append("(").append(number).append(") ");
        });
    CHECK(read == "Net() Layer(12) Conv2.x() fc() ");
}

TEST_CASE("is_class_path: refuses what is no path of names") {
    CHECK(stemma::detail::is_class_path("/Net/Layer.12"));
    for (const char* tag : {"", "/", "Net", "/Net/", "/Net//fc", "/Net/.1", "/Net/a.b", "/\xff"}) {
        CHECK_FALSE(stemma::detail::is_class_path(tag));
    }
    CHECK_FALSE(stemma::detail::is_class_path("/" + std::string(1U << 19U, 'a')));
    std::string deep;
    for (int i = 0; i < 2000; ++i) {
        deep += "/a";
    }
    CHECK_FALSE(stemma::detail::is_class_path(deep));
}

TEST_CASE("grow_class_tags: unreadable tags add nothing") {
    stemma::detail::hierarchy_table table;
    table.class_tags = {{0, "/Net//fc"}, {1, "/Net/Layer.3"}, {2, "/Net/Layer.3"}};
    stemma::module_tree_builder builder;
    stemma::detail::grow_class_tags(table, builder);
    const auto modules = builder.build();
    REQUIRE(modules.size() == 3);
    CHECK(modules.class_name(0) == "Net");
    CHECK(modules.path(2) == "Layer.3");
    CHECK(modules.class_name(2) == "Layer");
}

} // namespace test::evidence_detail_grow_class_tags
