// SPDX-License-Identifier: Apache-2.0
#include <stemma/model/operator_edge.hpp>

#include "../catch.hpp"

#include <boost/graph/properties.hpp>

#include <concepts>

namespace test::model_operator_edge {

template <class Tag>
concept edge_tag = std::same_as<typename boost::property_kind<Tag>::type, boost::edge_property_tag>;

TEST_CASE("operator_edge: its properties are properties of edges to Boost",
          "[model][operator_edge]") {
    STATIC_REQUIRE(edge_tag<stemma::value_index_t>);
    STATIC_REQUIRE(edge_tag<stemma::detail::in_port_t>);
    STATIC_REQUIRE(edge_tag<stemma::detail::out_port_t>);
}

TEST_CASE("operator_edge: a default edge leads nowhere", "[model][operator_edge]") {
    const stemma::operator_edge edge;
    for (const auto said : {edge.source, edge.target, edge.value, edge.in_port, edge.out_port}) {
        CHECK(said == stemma::no_id);
    }
}

} // namespace test::model_operator_edge
