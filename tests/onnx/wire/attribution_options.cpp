// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/wire/attribution_options.hpp>

#include "../../catch.hpp"
#include "../../model_files.hpp"

#include <stemma/core/id.hpp>
#include <stemma/error.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/onnx/wire/attributed_model.hpp>
#include <stemma/onnx/wire/known_policies.hpp>
#include <stemma/policy/policy_registry.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace test::onnx_wire_attribution_options {

using stemma::id;

namespace {

/// Selects one module, of a rank.
struct only {
    using policy_category = stemma::selection_category;

    id module;

    [[nodiscard]] bool selects(const stemma::module_tree&, id m) const { return m == module; }
};

/// Claims that every operator is in the last module, while `speaks`: what is added stays for all
/// tests of the program.
struct all_in_last {
    using policy_category = stemma::evidence_category;

    static inline bool speaks = false;

    struct claims {
        id last;

        template <class Vertex, class Function>
        void for_each_claim(const Vertex&, Function f) const {
            if (speaks) {
                f(stemma::claim{last, stemma::no_id, 1, stemma::provenance::exported});
            }
        }
    };

    template <class Ops, class Modules>
    [[nodiscard]] claims prepare(stemma::evidence_context<Ops, Modules>& context) const {
        return {static_cast<id>(context.index().size() - 1)};
    }
};

/// What the tests add, once for all.
void add_ours() {
    static const bool added = [] {
        auto& known = stemma::known_policies();
        known.selections.add("only", "RANK", [](std::string_view text) {
            return text == "2" ? std::optional(only{2}) : std::nullopt;
        });
        known.sources.add("last", all_in_last{});
        return true;
    }();
    CHECK(added);
}

std::vector<std::string> refused_options(const stemma::attribution_options& options) {
    try {
        const stemma::attributed_model opened(test::fixture("mlp/model.onnx"), options);
    } catch (const stemma::error& refusal) {
        return {refusal.what()};
    }
    return {};
}

} // namespace

TEST_CASE("attribution_options: name policies in the box", "[attribution_options]") {
    const auto path = test::fixture("mlp/model.onnx");
    stemma::attribution_options options;
    options.captures = {test::fixture("mlp/modules.json")};
    options.selection = "all";
    options.naming = "attribute-paths";
    options.resolution = "cautious";
    options.propagation = "off";
    const stemma::attributed_model opened(path, options);
    const auto& tags = opened.tags().tags;
    for (id m = 0; m < tags.size(); ++m) {
        CHECK(tags.is_selected(m));
    }
    options.naming.clear();
    const stemma::attributed_model named(path, options);
    CHECK(named.tags().tags.text(1) != tags.text(1));
}

TEST_CASE("attribution_options: refuses names of nothing", "[attribution_options]") {
    stemma::attribution_options options;
    CHECK(refused_options(options).empty());
    for (auto* option :
         {&options.selection, &options.naming, &options.resolution, &options.propagation}) {
        *option = "nothing";
        const auto said = refused_options(options);
        REQUIRE(said.size() == 1);
        CHECK(said.front().find("'nothing' is none that is known") != std::string::npos);
        option->clear();
    }
    options.sources = {"scope", "nothing"};
    CHECK(refused_options(options).size() == 1);
    options.sources = {"root"}; // no evidence
    CHECK(refused_options(options).size() == 1);
}

TEST_CASE("attribution_options: name what a program adds", "[attribution_options]") {
    add_ours();
    const auto path = test::fixture("mlp/model.onnx");
    stemma::attribution_options options;
    options.selection = "only:2";
    const stemma::attributed_model chosen(path, options);
    for (id m = 0; m < chosen.modules().size(); ++m) {
        CHECK(chosen.tags().tags.is_selected(m) == (m == 0 || m == 2));
    }
    all_in_last::speaks = true;
    const stemma::attributed_model last(path, options);
    options.sources = {"scope"};
    const stemma::attributed_model without(path, options);
    options.sources = {"last"};
    const stemma::attributed_model alone(path, options);
    all_in_last::speaks = false;
    for (const auto& one : last.tags().attributions) {
        CHECK(one.module + 1 == last.modules().size());
        CHECK(one.source == stemma::provenance::exported);
    }
    CHECK(without.tags().attributions.front().source != stemma::provenance::exported);
    CHECK(alone.tags().attributions.front().source == stemma::provenance::exported);
    options.selection = "only:7";
    CHECK(refused_options(options).size() == 1);
}

} // namespace test::onnx_wire_attribution_options
