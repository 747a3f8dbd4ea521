// SPDX-License-Identifier: Apache-2.0
#include <stemma/open.hpp>

#include "catch.hpp"
#include "model_files.hpp"

#include <stemma/core/category.hpp>
#include <stemma/core/id.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/module_lookup.hpp>
#include <stemma/stemma.hpp>
#include <stemma/tagging/naming.hpp>
#include <stemma/tagging/selection.hpp>

#include <range/v3/algorithm/count_if.hpp>

#include <string_view>

namespace test::open {

namespace {

/// Selects the modules of one class. Holds a lambda, so it cannot be assigned.
template <class Fits>
struct of_fitting_paths {
    using policy_category = stemma::selection_category;

    Fits fits;

    template <class Modules>
    [[nodiscard]] bool selects(const Modules& modules, stemma::id m) const {
        return fits(modules.name(m));
    }
};

template <class Fits>
of_fitting_paths(Fits) -> of_fitting_paths<Fits>;

/// Claims that everything comes from one module.
struct all_to_pooler {
    using policy_category = stemma::evidence_category;
    static constexpr std::string_view name = "oracle";

    struct claims {
        stemma::id module = stemma::no_id;

        template <class Function>
        void for_each_claim(stemma::id, Function f) const {
            f(stemma::claim{.module = module, .confidence = 1});
        }
    };

    template <class Context>
    [[nodiscard]] claims prepare(Context& context) const {
        return {stemma::find_module(stemma::module_lookup(context.modules()), "pooler")};
    }
};

} // namespace

TEST_CASE("open: accepts policies in any order") {
    const auto path = fixture("bert_micro/model.onnx");
    const auto one = stemma::open(path, stemma::all_modules{}, stemma::module_paths{});
    const auto other = stemma::open(path, stemma::module_paths{}, stemma::all_modules{});
    for (const auto node : one.nodes()) {
        REQUIRE(node.tag() == other.node(node.id()).tag());
    }
    CHECK(one.find_module("pooler.dense")->tag() == "/model/pooler/dense");
    const auto in_memory = stemma::open_bytes(test::read_bytes(path), "memory",
                                              stemma::module_paths{}, stemma::all_modules{});
    CHECK(in_memory.find_module("pooler.dense")->tag() == "/model/pooler/dense");
}

TEST_CASE("open: accepts a policy that holds a lambda") {
    const auto model =
        stemma::open(fixture("bert_micro/model.onnx"),
                     of_fitting_paths{[](std::string_view name) { return name == "pooler"; }});
    CHECK(model.find_module("pooler")->is_selected());
    CHECK(!model.find_module("encoder")->is_selected());
    CHECK(model.find_module("pooler.dense")->tag() == "/model/pooler");
}

TEST_CASE("open: a custom source of evidence is queried, under its own name") {
    const auto model = stemma::open(fixture("bert_micro/model.onnx"), all_to_pooler{});
    const auto claims = model.find_node("/pooler/dense/Gemm")->claims();
    CHECK(ranges::count_if(claims, [](const auto& c) { return c.source() == "oracle"; }) == 1);
}

} // namespace test::open
