// SPDX-License-Identifier: Apache-2.0
#include <stemma/fold/detail/region_forms.hpp>

#include "../../catch.hpp"
#include "../../fold_scene.hpp"

#include <utility>
#include <vector>

namespace test::fold_detail_region_forms {

namespace {

using stemma::id;

/// Two layers of three nodes in different orders; the regions of both.
struct forms_scene {
    forms_scene()
        : scene{test::model(
                    test::graph({test::node("Relu", {"x"}, {"a"}), test::node("Tanh", {"w"}, {"b"}),
                                 test::node("Sub", {"a", "b"}, {"c"}),
                                 test::node("Tanh", {"v"}, {"d"}), test::node("Relu", {"c"}, {"e"}),
                                 test::node("Sub", {"e", "d"}, {"y"})},
                                {"x", "z"}, {"y"}, {"w", "v"}))
                    .bytes(),
                test::layers(2), attributions()} {
        plan.regions.resize(3);
        plan.graph = {0, 0, 0};
        plan.root = {0};
        plan.paths = {"", "layer.0", "layer.1"};
        plan.inputs.resize(3);
        plan.outputs.resize(3);
        for (const id r : {1U, 2U}) {
            plan.regions[r].module = 2 * r;
            plan.regions[r].parent = 0;
            for (id node = 3 * r - 3; node < 3 * r; ++node) {
                plan.regions[r].items.push_back({node, false});
            }
        }
    }

    static std::vector<stemma::attribution> attributions() {
        std::vector<stemma::attribution> attributions;
        for (const id m : {2U, 2U, 2U, 4U, 4U, 4U}) {
            attributions.push_back({m, stemma::no_id, 1, stemma::provenance::scope, false});
        }
        return attributions;
    }

    test::fold_scene scene;
    stemma::detail::fold_plan plan;
};

} // namespace

TEST_CASE("region_forms: tokens tell the order of items, contents and sections do not") {
    forms_scene two;
    stemma::detail::region_forms<stemma::module_tree, stemma::node_shapes> forms(
        two.scene.model, two.scene.contents, two.scene.modules, two.scene.attributions,
        two.scene.shapes, two.plan, false);
    forms.exported(1).emplace_back(two.scene.model.first_output(2), 0);
    forms.exported(2).emplace_back(two.scene.model.first_output(5), 0);
    const auto first = forms.read(1);
    const auto second = forms.read(2);
    CHECK(first.tokens != second.tokens);
    CHECK(first.contents == second.contents);
    const auto a = forms.section(1, first);
    const auto b = forms.section(2, second);
    CHECK(a.item_count() == 3);
    CHECK(a.value_count() == 5);
    CHECK(stemma::detail::section_colors(a).digest() == stemma::detail::section_colors(b).digest());
    // In the same order they are the same.
    std::swap(two.plan.regions[2].items[0], two.plan.regions[2].items[1]);
    CHECK(forms.read(2).tokens == first.tokens);
}

} // namespace test::fold_detail_region_forms
