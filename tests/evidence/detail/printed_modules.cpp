// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/printed_modules.hpp>

#include "../../catch.hpp"
#include "../../operator_scene.hpp"

#include <stemma/core/id.hpp>
#include <stemma/model/module_tree.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace test::evidence_detail_printed_modules {

using texts = std::vector<std::string>;

TEST_CASE("printed_modules: finds modules by the path from the last non-numeric name") {
    const auto tree = test::tree_of({"enc.layer.0.fc", "enc.layer.1.fc", "dec.layer.0", "7.fc"});
    const stemma::detail::printed_modules printed(tree);
    const auto paths = [&](std::string_view text) {
        texts listed;
        for (auto m : printed.of(text)) {
            listed.push_back(tree.path(m));
        }
        return listed;
    };
    CHECK(paths("fc") == texts{"enc.layer.0.fc", "enc.layer.1.fc", "7.fc"});
    CHECK(paths("layer.0") == texts{"enc.layer.0", "dec.layer.0"});
    CHECK(paths("layer") == texts{"enc.layer", "dec.layer"});
    CHECK(paths("7") == texts{"7"});
    CHECK(paths("0").empty());
    CHECK(paths("").empty());
}

} // namespace test::evidence_detail_printed_modules
