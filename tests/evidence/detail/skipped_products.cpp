// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/skipped_products.hpp>

#include "../../catch.hpp"
#include "../../operator_scene.hpp"

#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/module_code.hpp>
#include <stemma/evidence/detail/parameter_owners.hpp>
#include <stemma/model/module_tree.hpp>

#include <cstddef>
#include <numeric>
#include <string>
#include <unordered_map>
#include <vector>

namespace test::evidence_detail_skipped_products {

using stemma::id;
using stemma::no_id;

namespace {

/// `x + last(second(product(first(x))))`, where each but the products reads a parameter.
struct skip_scene {
    explicit skip_scene(const std::vector<std::string>& parameters) {
        const auto x = ops.add({}, "", "Relu");
        auto last = x;
        for (const auto& parameter : parameters) {
            last = ops.add({last}, "", parameter.empty() ? "MatMul" : "Mul");
            if (!parameter.empty()) {
                ops.read_parameter(last, parameter);
            }
        }
        ops.add({x, last}, "", "Add");
    }

    /// Returns: the modules of the products, one after the other.
    [[nodiscard]] std::vector<std::string> complete() const {
        std::vector<std::string> paths;
        for (std::size_t p = 0; p < ops.parameter_count(); ++p) {
            const std::string name(ops.parameter_name(static_cast<id>(p)));
            paths.push_back(name.substr(0, name.rfind('.')));
        }
        const auto tree = test::tree_of(paths);
        const auto owners = stemma::detail::find_parameter_owners(ops, tree);
        std::vector<id> owner(ops.size(), no_id);
        std::vector<bool> lost(ops.size());
        for (std::size_t v = 0; v < ops.size(); ++v) {
            ops.for_each_parameter(v, [&](id p) { owner[v] = owners.of(p).front(); });
            lost[v] = ops.op_type(v) == "MatMul";
        }
        std::vector<id> position(ops.size());
        std::iota(position.begin(), position.end(), id{0});
        const std::vector<bool> steady(ops.size(), false);
        const std::unordered_map<id, id> sums;
        const stemma::detail::module_code<stemma::module_tree> code(ops, tree, owners);
        stemma::detail::skipped_products(ops, tree, code, steady, lost, sums, position)
            .complete(owner);
        std::vector<std::string> modules;
        for (std::size_t v = 0; v < ops.size(); ++v) {
            if (lost[v]) {
                modules.emplace_back(owner[v] == no_id ? "?" : tree.path(owner[v]));
            }
        }
        return modules;
    }

    test::operator_scene ops;
};

using paths = std::vector<std::string>;

} // namespace

TEST_CASE("skipped_products: are in the only module there that calls others") {
    CHECK(skip_scene({"block.norm.weight", "", "block.mixer.conv.bias", ""}).complete() ==
          paths{"block.mixer", "block.mixer"});
    CHECK(skip_scene({"", "block.mixer.query.weight", "block.mixer.key.weight", ""}).complete() ==
          paths{"block.mixer", "block.mixer"});
}

TEST_CASE("skipped_products: unknown beside two such modules, a list, or one parameter") {
    CHECK(skip_scene({"block.one.conv.bias", "", "block.other.conv.bias"}).complete() ==
          paths{"?"});
    CHECK(skip_scene({"block.norm.weight", "", "block.fc.0.bias"}).complete() == paths{"?"});
    CHECK(skip_scene({"block.norm.weight", ""}).complete() == paths{"?"});
}

TEST_CASE("skipped_products: unknown if nothing passes them by") {
    skip_scene scene({"block.norm.weight", "block.mixer.conv.bias"});
    scene.ops.add({static_cast<id>(scene.ops.size() - 1)}, "", "MatMul");
    CHECK(scene.complete() == paths{"?"});
}

} // namespace test::evidence_detail_skipped_products
