// SPDX-License-Identifier: Apache-2.0
#include <stemma/report/graphml.hpp>

#include "../catch.hpp"
#include "../count_of.hpp"
#include "../model_files.hpp"
#include "../tagged_bytes.hpp"
#include "../tagged_fixture.hpp"

#include <stemma/types/value_descriptions.hpp>

#include <boost/graph/graphml.hpp>
#include <boost/property_map/function_property_map.hpp>

#include <sstream>
#include <string>

namespace test::report_graphml {

namespace {

using stemma::id;

} // namespace

TEST_CASE("write_graphml: has a graph per module, and every operator and edge once", "[graphml]") {
    for (const auto* name : {"bert_micro", "control_flow", "shared_twice"}) {
        CAPTURE(name);
        const test::tagged_fixture tagged(name);
        const stemma::value_descriptions describe(tagged.model);
        stemma::string_sink nested;
        stemma::write_graphml(nested, tagged.ops, tagged.modules, tagged.found,
                              stemma::graphml_form::nested, describe);
        CHECK(count_of(nested.text, "<graph id=") == tagged.modules.size());
        CHECK(count_of(nested.text, "</graph>") == tagged.modules.size());
        CHECK(count_of(nested.text, "<node id=\"n") == tagged.model.node_count());
        CHECK(count_of(nested.text, "<node id=\"m") == tagged.modules.size() - 1);
        CHECK(count_of(nested.text, "<edge id=") == num_edges(tagged.ops.graph()));
        stemma::string_sink flat;
        stemma::write_graphml(flat, tagged.ops, tagged.modules, tagged.found,
                              stemma::graphml_form::flat, describe);
        CHECK(count_of(flat.text, "<graph id=") == 1);
        CHECK(count_of(flat.text, "<node id=\"n") == tagged.model.node_count());
        CHECK(count_of(flat.text, "<node id=\"m") == 0);
        CHECK(count_of(flat.text, "<edge id=") == num_edges(tagged.ops.graph()));
    }
}

TEST_CASE("write_graphml: a policy selects what is shown, and edges need both ends", "[graphml]") {
    const auto bytes = test::read_bytes(test::fixture("bert_micro/model.onnx"));
    const test::tagged_model tagged(bytes);
    std::size_t operators = 0;
    std::size_t wanted = 0;
    for (id v = 0; v < tagged.model.node_count(); ++v) {
        operators += tagged.model.op_type(v) == "Constant" ? 0U : 1U;
    }
    for (auto [it, last] = edges(tagged.ops.graph()); it != last; ++it) {
        wanted += tagged.model.op_type((*it).source) == "Constant" ? 0U : 1U;
    }
    stemma::string_sink sink;
    stemma::write_graphml(sink, tagged.ops, tagged.modules, tagged.found,
                          stemma::graphml_form::nested, stemma::detail::no_descriptions{},
                          stemma::hide_constants{});
    CHECK(count_of(sink.text, "<node id=\"n") == operators);
    CHECK(count_of(sink.text, "<edge id=") == wanted);
}

TEST_CASE("operator_graph: Boost.Graph's GraphML writer accepts it", "[graphml]") {
    const auto bytes = test::read_bytes(test::fixture("bert_micro/model.onnx"));
    const test::tagged_model tagged(bytes);
    const auto& graph = tagged.ops.graph();
    boost::dynamic_properties properties;
    properties.property("op_type", boost::make_function_property_map<id>(
                                       [&](id v) { return std::string(tagged.model.op_type(v)); }));
    std::ostringstream out;
    boost::write_graphml(out, graph, properties, true);
    CHECK(count_of(out.str(), "<node id=") == num_vertices(graph));
    CHECK(count_of(out.str(), "<edge id=") == num_edges(graph));
    CHECK(count_of(out.str(), ">Softmax<") == 2);
}

} // namespace test::report_graphml
