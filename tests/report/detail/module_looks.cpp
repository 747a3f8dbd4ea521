// SPDX-License-Identifier: Apache-2.0
#include <stemma/report/detail/module_looks.hpp>

#include "../../catch.hpp"
#include "../../model_files.hpp"
#include "../../tagged_bytes.hpp"
#include "../../tagged_fixture.hpp"

#include <map>
#include <set>
#include <string>

namespace test::report_detail_module_looks {

namespace {

using stemma::id;

} // namespace

TEST_CASE("module_looks: modules of one class look the same, and others do not") {
    const test::tagged_fixture tagged("bert_micro");
    const auto looks = stemma::detail::module_looks(tagged.ops, tagged.modules, tagged.found);
    REQUIRE(looks.size() == tagged.modules.size());
    std::map<std::string, std::set<id>> by_class;
    std::set<id> all;
    for (id m = 0; m < tagged.modules.size(); ++m) {
        REQUIRE(tagged.modules.class_name(m) != std::string_view());
        by_class[std::string(tagged.modules.class_name(m))].insert(looks[m]);
        all.insert(looks[m]);
    }
    for (const auto& [name, numbers] : by_class) {
        CAPTURE(name);
        CHECK(numbers.size() == 1);
    }
    CHECK(all.size() == by_class.size());
}

TEST_CASE("module_looks: without classes, equal layers look the same, and others do not") {
    const auto bytes = test::read_bytes(test::fixture("bert_micro_12l/model.onnx"));
    const test::tagged_model tagged(bytes);
    const auto& tree = tagged.modules;
    const auto looks = stemma::detail::module_looks(tagged.ops, tree, tagged.found);
    const auto look_of = [&](const std::string& path) {
        for (id m = 0; m < tree.size(); ++m) {
            if (tree.path(m) == path) {
                return looks[m];
            }
        }
        FAIL("no module " << path);
        return stemma::no_id;
    };
    const auto layer = look_of("encoder.layer.1");
    CHECK(layer != stemma::no_id);
    for (const auto* other : {"encoder.layer.2", "encoder.layer.10", "encoder.layer.11"}) {
        CHECK(look_of(other) == layer);
    }
    CHECK(look_of("encoder.layer.1.attention.self.query") ==
          look_of("encoder.layer.11.attention.self.key"));
    CHECK(look_of("encoder.layer.1.attention") != layer);
    CHECK(look_of("pooler") != layer);
}

} // namespace test::report_detail_module_looks
