// SPDX-License-Identifier: Apache-2.0
#include <stemma/fold/detail/edit_bodies.hpp>

#include "../../catch.hpp"
#include "../../random_model.hpp"
#include "../../wire_builder.hpp"

#include <map>
#include <string>

namespace test::fold_detail_edit_bodies {

namespace {

using stemma::id;

} // namespace

TEST_CASE("edit_bodies: nodes with rebuilt but unchanged bodies stay the same") {
    std::size_t bodies = 0;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        CAPTURE(seed);
        const auto bytes = test::random_model(seed, false, false).bytes();
        const stemma::wire_model model(bytes);
        const stemma::graph_contents contents(model);
        for (id node = 0; node < model.node_count(); ++node) {
            std::map<id, int> met;
            stemma::detail::message_tree rebuilt;
            stemma::detail::edit_bodies(
                rebuilt, model, contents, node,
                [&](id g, const stemma::detail::wire_reader& fields) {
                    ++met[g];
                    CHECK(model.graph(g).owner == node);
                    stemma::detail::edit_nodes(
                        rebuilt, model, contents, g, fields, [](id) { return true; },
                        [&](id inside) {
                            CHECK(model.graph_of(inside) == g);
                            rebuilt.add_range(model.message(inside).begin,
                                              model.message(inside).size);
                        });
                },
                [](stemma::detail::edited_field&) {});
            const auto message = model.message(node);
            CHECK(rebuilt.text(bytes) == bytes.substr(message.begin, message.size));
            CHECK(met.size() == contents.bodies_of(node).size());
            bodies += met.size();
        }
    }
    CHECK(bodies > 200);
}

TEST_CASE("edit_bodies: every body and node gets its own content, and fields can be removed") {
    const auto body = [](const char* name) {
        return test::graph({test::node("Relu", {"x"}, {name}), test::node("Abs", {"x"}, {"z"})}, {},
                           {name});
    };
    const auto bytes =
        test::model(
            test::graph({test::owner_node("Custom", {"x"}, {"y"},
                                          {test::graph_attribute("one", body("a")),
                                           test::graphs_attribute("more", {body("b"), body("c")})},
                                          "name")},
                        {"x"}, {"y"}))
            .bytes();
    const stemma::wire_model model(bytes);
    const stemma::graph_contents contents(model);
    const auto owner = model.node_count() - 1;
    stemma::detail::message_tree tree;
    stemma::detail::edit_bodies(
        tree, model, contents, owner,
        [&](id g, const stemma::detail::wire_reader& fields) {
            stemma::detail::edit_nodes(
                tree, model, contents, g, fields,
                [&](id inside) { return model.op_type(inside) == "Relu"; },
                [&](id inside) {
                    tree.append(4, "Tanh" + std::to_string(model.graph_of(inside)));
                });
        },
        [](stemma::detail::edited_field& field) {
            if (field.number == 3) {
                field.erase();
            }
        });
    const auto text = tree.text(bytes);
    CHECK(text.find("\x1a\x04name") == text.npos);
    CHECK(text.find("Relu") == text.npos);
    for (const auto g : contents.bodies_of(owner)) {
        CHECK(text.find("Tanh" + std::to_string(g)) != text.npos);
    }
    CHECK(text.find("Abs") != text.npos);
}

} // namespace test::fold_detail_edit_bodies
