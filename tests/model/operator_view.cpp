// SPDX-License-Identifier: Apache-2.0
#include <stemma/model/operator_view.hpp>

#include "../alignment_scene.hpp"
#include "../catch.hpp"
#include "../model_files.hpp"

#include <stemma/core/id.hpp>
#include <stemma/model/operator_graph.hpp>
#include <stemma/onnx/onnx_operators.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace test::model_operator_view {

namespace {

using stemma::id;
using stemma::operator_graph;

struct bare {
    using graph_type = operator_graph;

    [[nodiscard]] const operator_graph& graph() const;
};

struct without_graph_type {
    [[nodiscard]] const operator_graph& graph() const;
};

struct named : bare {
    [[nodiscard]] std::string_view name(id) const;
    [[nodiscard]] std::string_view op_type(id) const;
};

struct half_named : bare {
    [[nodiscard]] std::string_view name(id) const;
};

struct qualified : named {
    [[nodiscard]] std::string_view domain(id) const;
};

struct qualified_in_passing : named {
    [[nodiscard]] std::string domain(id) const;
};

struct reading : bare {
    [[nodiscard]] std::size_t parameter_count() const;
    [[nodiscard]] std::string_view parameter_name(id) const;
    template <class Function>
    void for_each_parameter(id, Function) const;
};

struct valued : reading {
    void keep_uniform(std::vector<bool>&) const;
};

struct nested : bare {
    [[nodiscard]] id owner(id) const;
};

struct with_bodies : nested {
    [[nodiscard]] id body(id) const;
};

struct described : bare {
    template <class Function>
    void for_each_metadata(id, Function) const;
};

struct aware : bare {
    [[nodiscard]] bool reads_data(id) const;
    [[nodiscard]] bool hides_data(id) const;
};

struct steered : bare {
    [[nodiscard]] bool reads_condition(const operator_graph::edge&) const;
};

struct calling : bare {
    [[nodiscard]] id function_count() const;
    [[nodiscard]] std::string_view function_domain(id) const;
    [[nodiscard]] std::string_view function_name(id) const;
    [[nodiscard]] id callee(id) const;
    [[nodiscard]] id enclosing_function(id) const;
    template <class Function>
    void for_each_argument(id, Function) const;
};

} // namespace

TEST_CASE("operator_view: requires a graph and its type", "[model][operator_view]") {
    STATIC_REQUIRE(stemma::operator_view<bare>);
    STATIC_REQUIRE(stemma::explain_operator_view<bare>());
    STATIC_REQUIRE_FALSE(stemma::operator_view<without_graph_type>);
    STATIC_REQUIRE_FALSE(stemma::operator_view<operator_graph>);
    STATIC_REQUIRE(std::same_as<stemma::graph_of<bare>, operator_graph>);
    STATIC_REQUIRE(std::same_as<stemma::operator_t<bare>, id>);
}

TEST_CASE("operator_view: each further concept requires only its own members",
          "[model][operator_view]") {
    STATIC_REQUIRE(stemma::named_operators<named>);
    STATIC_REQUIRE_FALSE(stemma::named_operators<half_named>);
    STATIC_REQUIRE_FALSE(stemma::qualified_operators<named>);
    STATIC_REQUIRE(stemma::qualified_operators<qualified>);
    STATIC_REQUIRE_FALSE(stemma::qualified_operators<qualified_in_passing>);
    STATIC_REQUIRE(stemma::parameter_readers<reading>);
    STATIC_REQUIRE_FALSE(stemma::valued_parameters<reading>);
    STATIC_REQUIRE(stemma::valued_parameters<valued>);
    STATIC_REQUIRE(stemma::nested_operators<nested>);
    STATIC_REQUIRE_FALSE(stemma::body_operators<nested>);
    STATIC_REQUIRE(stemma::body_operators<with_bodies>);
    STATIC_REQUIRE(stemma::described_operators<described>);
    STATIC_REQUIRE(stemma::data_aware_operators<aware>);
    STATIC_REQUIRE(stemma::steered_operators<steered>);
    STATIC_REQUIRE(stemma::calling_operators<calling>);
}

TEST_CASE("operator_view: a minimal view models no further concept", "[model][operator_view]") {
    STATIC_REQUIRE_FALSE(stemma::named_operators<bare>);
    STATIC_REQUIRE_FALSE(stemma::parameter_readers<bare>);
    STATIC_REQUIRE_FALSE(stemma::nested_operators<bare>);
    STATIC_REQUIRE_FALSE(stemma::described_operators<bare>);
    STATIC_REQUIRE_FALSE(stemma::data_aware_operators<bare>);
    STATIC_REQUIRE_FALSE(stemma::steered_operators<bare>);
    STATIC_REQUIRE_FALSE(stemma::calling_operators<bare>);
}

TEST_CASE("operator_view: what operators cannot tell of themselves is false",
          "[model][operator_view]") {
    test::exported_graph graph; // knows data, but no functions
    const auto first = graph.add("Relu", {stemma::no_id});
    const auto second = graph.add("Relu", {first});
    graph.finish();
    CHECK(stemma::detail::reads_data(graph, first));
    CHECK_FALSE(stemma::detail::reads_data(graph, second));
    CHECK_FALSE(stemma::detail::is_in_function(graph, first));
    const bare neither;
    CHECK_FALSE(stemma::detail::reads_data(neither, 0));
    CHECK_FALSE(stemma::detail::is_in_function(neither, 0));
    const auto bytes = test::read_bytes(test::fixture("bert_micro/model.functions_all.onnx"));
    const stemma::wire_model model(bytes);
    const stemma::onnx_operators<stemma::wire_model> ops(model);
    std::size_t inside = 0;
    for (id node = 0; node < model.node_count(); ++node) {
        inside += stemma::detail::is_in_function(ops, node) ? 1U : 0U;
    }
    CHECK(inside > 0);
    CHECK(inside < model.node_count());
}

} // namespace test::model_operator_view
