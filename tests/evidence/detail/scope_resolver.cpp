// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/scope_resolver.hpp>

#include "../../catch.hpp"
#include "../../operator_scene.hpp"

#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/scope_table.hpp>
#include <stemma/model/confidence.hpp>
#include <stemma/model/module_tree_builder.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace test::evidence_detail_scope_resolver {

using stemma::id;
using stemma::no_id;

namespace {

/// Scopes with given names over a tree, bound one below the other.
struct scene {
    scene(stemma::module_tree modules, std::vector<std::string> operators)
        : tree(std::move(modules)) {
        for (auto& name : operators) {
            const auto type = name.substr(name.rfind('/') + 1);
            ops.add({}, std::move(name), type.substr(0, type.find('_')));
        }
        table = stemma::detail::collect_scopes(ops);
        witness.resize(table.scopes.size());
        weighted.resize(table.scopes.size());
    }

    /// Lets an operator read a weight that does not say whose it is.
    void reads_nameless(id v) { weighted[table.scope_of[v]] = true; }

    /// Lets an operator read a parameter of a module.
    void reads(id v, std::string_view path) {
        for (auto s = table.scope_of[v]; s != no_id; s = table.scopes[s].parent) {
            witness[s].add(test::module_at(tree, path));
        }
    }

    /// Returns: the path of the module that an operator's scope stands for, "?" for none.
    [[nodiscard]] std::string path_of(id v) {
        const auto resolved = resolve(table.scope_of[v]);
        return resolved.module == no_id ? "?" : tree.path(resolved.module);
    }

    [[nodiscard]] stemma::detail::scope_module resolve(id s) {
        stemma::detail::scope_resolver<stemma::module_tree> resolver(table, tree, witness, true,
                                                                     [&] { return weighted; });
        std::vector<id> around;
        for (auto at = s; table.scopes[at].parent != no_id; at = table.scopes[at].parent) {
            around.push_back(at);
        }
        stemma::detail::scope_module resolved{0, no_id, no_id, 1};
        for (auto at = around.rbegin(); at != around.rend(); ++at) {
            resolved = resolved.module == no_id ? resolver.resolve_alone(*at)
                                                : resolver.resolve(*at, resolved.module);
        }
        return resolved;
    }

    stemma::module_tree tree;
    test::operator_scene ops;
    stemma::detail::scope_table table;
    std::vector<stemma::detail::common_module> witness;
    std::vector<bool> weighted; // by scope
};

stemma::module_tree counted(const std::vector<std::pair<std::string, id>>& calls) {
    stemma::module_tree_builder builder;
    for (const auto& [path, count] : calls) {
        builder.set_calls(builder.at_path(path), count);
    }
    return builder.build();
}

} // namespace

TEST_CASE("scope_resolver: a segment is the child with that name") {
    scene s(test::tree_of({"enc.fc", "dec.fc"}), {"/enc/fc/Add", "/dec/fc/Add", "/enc/gone/Add"});
    CHECK(s.path_of(0) == "enc.fc");
    CHECK(s.path_of(1) == "dec.fc");
    CHECK(s.path_of(2) == "?");
}

TEST_CASE("scope_resolver: a segment leads past modules that never run") {
    scene s(counted({{"layer", 0}, {"layer.0", 1}, {"layer.0.fc", 1}}), {"/layer.0/fc/Add"});
    CHECK(s.path_of(0) == "layer.0.fc");
    scene deep(counted({{"a", 0}, {"a.b", 0}, {"a.b.fc", 1}}), {"/fc/Add"});
    CHECK(deep.path_of(0) == "a.b.fc");
}

TEST_CASE("scope_resolver: of modules that print alike, those with parameters read the weights") {
    const auto adapted = [] {
        stemma::module_tree_builder builder;
        for (const auto* path : {"q.dropout.d", "q.down.d", "q.up.d"}) {
            const auto m = builder.at_path(path);
            builder.set_calls(builder.parent(m), 0); // a dictionary
            builder.set_calls(m, 1);
            if (path != std::string_view("q.dropout.d")) {
                stemma::tensor_info weight;
                weight.name = "weight";
                builder.add_parameter(m, weight);
            }
        }
        return builder.build();
    };
    scene silent(adapted(), {"/q/d/MatMul", "/q/d_1/MatMul"}); // dropout leaves nothing
    silent.reads_nameless(0);
    silent.reads_nameless(1);
    CHECK(silent.path_of(0) == "q.down.d");
    CHECK(silent.path_of(1) == "q.up.d");
    scene trained(adapted(), {"/q/d/Dropout", "/q/d_1/MatMul", "/q/d_2/MatMul"});
    trained.reads_nameless(1);
    trained.reads_nameless(2);
    CHECK(trained.path_of(0) == "q.dropout.d");
    CHECK(trained.path_of(1) == "q.down.d");
    CHECK(trained.path_of(2) == "q.up.d");
}

TEST_CASE("scope_resolver: an uncounted module can have a scope that no other one has") {
    // as in layers whose capture took another path
    scene s(counted({{"layer", 1}, {"layer.fc", 0}, {"layer.norm", 0}}),
            {"/layer/fc/Add", "/layer/norm/Add"});
    CHECK(s.path_of(0) == "layer.fc");
    CHECK(s.path_of(1) == "layer.norm");
    scene called(counted({{"a", 1}, {"a.b", 1}, {"a.b.fc", 0}, {"fc", 1}}), {"/a/b/fc/Add"});
    CHECK(called.path_of(0) == "fc"); // one that ran comes first, wherever it is
}

TEST_CASE("scope_resolver: an uncounted module is doubtful if others that print alike ran") {
    scene one(counted({{"act", 0}, {"f", 1}, {"f.act", 1}, {"g", 1}, {"g.act", 1}}), {"/act/Relu"});
    const auto resolved = one.resolve(one.table.scope_of[0]);
    CHECK(one.tree.path(resolved.module) == "act");
    CHECK(resolved.confidence == stemma::detail::confidence::scope_unfit);
    scene alone(counted({{"act", 0}, {"f", 1}, {"f.gate", 1}}), {"/act/Relu"});
    CHECK(alone.resolve(alone.table.scope_of[0]).confidence ==
          stemma::detail::confidence::scope_elsewhere);
}

TEST_CASE("scope_resolver: a module that ran where it belongs is not one that was not counted") {
    const std::vector<std::pair<std::string, id>> calls{{"a", 1}, {"a.net", 1}, {"a.net.1", 0},
                                                        {"b", 1}, {"b.net", 1}, {"b.net.1", 1}};
    scene both(counted(calls), {"/a/net/net.1/Relu", "/b/net/net.1/Relu"});
    CHECK(both.path_of(0) == "a.net.1");
    CHECK(both.path_of(1) == "b.net.1");
    scene lent(counted(calls), {"/a/net/net.1/Relu"});
    CHECK(lent.path_of(0) == "b.net.1");
}

TEST_CASE("scope_resolver: an uncounted module can have several scopes") {
    scene s(counted({{"cell", 0}, {"out", 2}}), {"/cell/Add", "/cell_1/Mul", "/out/Add"});
    CHECK(s.path_of(0) == "cell");
    CHECK(s.path_of(1) == "cell");
    CHECK(s.path_of(2) == "out");
}

TEST_CASE("scope_resolver: a called Sequential repeats its name in its children") {
    scene s(counted({{"layer1", 1}, {"layer1.0", 1}, {"layer1.1", 1}}),
            {"/layer1/layer1.0/Add", "/layer1/layer1.1/Add"});
    CHECK(s.path_of(0) == "layer1.0");
    CHECK(s.path_of(1) == "layer1.1");
}

TEST_CASE("scope_resolver: a number after a name is a further call, or part of the name") {
    scene calls(counted({{"fc", 3}}), {"/fc/Add", "/fc_1/Add", "/fc_2/Add"});
    CHECK(calls.path_of(1) == "fc");
    CHECK(calls.path_of(2) == "fc");
    scene names(counted({{"fc", 1}, {"fc_1", 1}}), {"/fc/Add", "/fc_1/Add"});
    CHECK(names.path_of(0) == "fc");
    CHECK(names.path_of(1) == "fc_1");
}

TEST_CASE("scope_resolver: without call counts, equal operators indicate a further call") {
    scene alike(test::tree_of({"fc"}), {"/fc/Add", "/fc_1/Add"});
    CHECK(alike.path_of(1) == "fc");
    scene other(test::tree_of({"fc"}), {"/fc/Add", "/fc_1/Mul"});
    CHECK(other.path_of(1) == "?");
}

TEST_CASE("scope_resolver: parameters resolve ambiguity") {
    const auto tree = counted({{"a", 0}, {"a.fc", 1}, {"b", 0}, {"b.fc", 1}});
    scene s(tree, {"/fc/Add", "/fc_1/Add"});
    s.reads(0, "b.fc");
    CHECK(s.path_of(0) == "b.fc");
    s.reads(1, "a.fc");
    CHECK(s.path_of(1) == "a.fc");
}

TEST_CASE("scope_resolver: scopes that print alike are numbered consecutively across modules") {
    scene s(counted({{"a", 0}, {"a.fc", 2}, {"b", 0}, {"b.fc", 1}}),
            {"/fc/Add", "/fc_1/Add", "/fc_2/Add"});
    CHECK(s.path_of(0) == "a.fc");
    CHECK(s.path_of(1) == "a.fc");
    CHECK(s.path_of(2) == "b.fc");
}

TEST_CASE("scope_resolver: children of modules that print alike are numbered consecutively too") {
    const std::vector<std::string> names{"/x/fc/Add", "/x/Mul", "/x/fc_1/Add", "/x_1/Mul"};
    scene s(counted({{"a", 0}, {"a.x", 1}, {"a.x.fc", 1}, {"b", 0}, {"b.x", 1}, {"b.x.fc", 1}}),
            names);
    CHECK(s.path_of(0) == "a.x.fc");
    CHECK(s.path_of(1) == "a.x");
    CHECK(s.path_of(2) == "b.x.fc");
    CHECK(s.path_of(3) == "b.x");
    // Unless they are known to have run more often, each ran once.
    scene unknown(test::tree_of({"a.x.fc", "b.x.fc"}), names);
    CHECK(unknown.path_of(2) == "b.x.fc");
    CHECK(unknown.path_of(3) == "b.x");
    scene twice(counted({{"a", 0}, {"a.x", 2}, {"a.x.fc", 2}, {"b", 0}, {"b.x", 1}}), names);
    CHECK(twice.path_of(2) == "a.x.fc");
    CHECK(twice.path_of(3) == "a.x");
}

TEST_CASE("scope_resolver: any of the modules that print alike may call what only one has") {
    scene s(counted({{"a", 0}, {"a.x", 1}, {"b", 0}, {"b.x", 1}, {"b.x.act", 1}, {"c.act", 1}}),
            {"/x/Mul", "/x/act/Add", "/x/gone/Add"});
    CHECK(s.path_of(1) == "b.x.act");
    CHECK(s.resolve(s.table.scope_of[1]).caller == no_id);
    CHECK(s.path_of(2) == "?");
    // Without calls, others may have what leaves no parameters.
    scene partial(test::tree_of({"a.x", "b.x.act", "c.act"}), {"/x/Mul", "/x/act/Add"});
    CHECK(partial.path_of(1) != "b.x.act");
}

TEST_CASE("scope_resolver: parameters decide against a further call of another module") {
    scene s(counted({{"a", 0}, {"a.fc", 2}, {"b", 1}, {"b.fc", 1}}), {"/fc/Add", "/fc_1/Add"});
    CHECK(s.path_of(1) == "a.fc");
    s.reads(1, "b.fc");
    CHECK(s.path_of(1) == "b.fc");
}

TEST_CASE("scope_resolver: finds a module owned elsewhere") {
    scene s(counted({{"a", 1}, {"a.act", 2}, {"b", 1}}), {"/a/act/Add", "/b/act/Add"});
    CHECK(s.path_of(1) == "a.act");
    CHECK(s.resolve(s.table.scope_of[1]).caller == test::module_at(s.tree, "b"));
    scene unclear(counted({{"a", 1}, {"a.act", 2}, {"b", 1}, {"c", 1}, {"c.act", 1}}),
                  {"/b/act/Add"});
    CHECK(unclear.path_of(0) == "?");
}

TEST_CASE("scope_resolver: finds a module by an alias, also without call counts") {
    stemma::module_tree_builder builder;
    for (const auto* path : {"a.act", "b.fc", "seq", "c.act"}) {
        builder.at_path(path);
    }
    builder.add_alias("b.act", builder.at_path("a.act"));
    builder.add_alias("b.fc_1", builder.at_path("c.act"));
    builder.add_alias("seq.1", builder.at_path("c.act"));
    scene s(builder.build(), {"/b/act/Add", "/b/act_1/Add", "/b/fc_1/Add", "/seq/seq.1/Add"});
    CHECK(s.path_of(0) == "a.act");
    CHECK(s.resolve(s.table.scope_of[0]).caller == test::module_at(s.tree, "b"));
    CHECK(s.path_of(1) == "a.act");
    CHECK(s.path_of(2) == "c.act");
    CHECK(s.path_of(3) == "c.act");
    s.reads(0, "b.fc");
    CHECK(s.path_of(0) != "a.act");
}

TEST_CASE("scope_resolver: finds what several containers hold as an alias, by its own name") {
    stemma::module_tree_builder builder;
    for (const std::string block : {"0", "1"}) {
        builder.set_calls(builder.at_path(block), 1);
        builder.set_calls(builder.at_path(block + ".net"), 1);
        builder.set_calls(builder.at_path(block + ".act"), block == "0" ? 2 : 1);
        builder.add_alias(block + ".net.1", builder.at_path(block + ".act"));
    }
    scene s(builder.build(), {"/0/net/act/Add", "/0/net/act_1/Add", "/1/net/act/Add"});
    CHECK(s.path_of(0) == "0.act");
    CHECK(s.path_of(1) == "0.act");
    CHECK(s.path_of(2) == "1.act");
    for (id v = 0; v < 3; ++v) {
        const auto net = test::module_at(s.tree, v < 2 ? "0.net" : "1.net");
        CHECK(s.resolve(s.table.scope_of[v]).caller == net);
    }
}

TEST_CASE("scope_resolver: a scope below an unknown one is resolved by its parameters") {
    scene s(test::tree_of({"x.enc.fc", "y.enc.fc"}), {"/wrapper/enc/fc/Add"});
    CHECK(s.path_of(0) == "?");
    s.reads(0, "y.enc.fc");
    CHECK(s.path_of(0) == "y.enc.fc");
}

TEST_CASE("scope_resolver: scopes with classes, relative to the parent or in full") {
    scene s(test::tree_of({"layers.0.fc"}),
            {"app.Net::/app.Block::layers.0/app.Linear::fc/Add",
             "app.Net::/app.Block::layers.0/app.Linear::layers.0.fc/Add", "app.Net::/Add"});
    CHECK(s.path_of(0) == "layers.0.fc");
    CHECK(s.path_of(1) == "layers.0.fc");
    CHECK(s.path_of(2).empty());
}

TEST_CASE("scope_resolver: relative scopes are exactly paths") {
    scene s(counted({{"m", 1}, {"m.layers", 0}, {"m.layers.0", 2}}),
            {"m/layers.0/Add_node_1", "m/0/Add_node_2", "m/layers.0_1/Add_node_3"});
    CHECK(s.path_of(0) == "m.layers.0");
    CHECK(s.path_of(1) == "?");
    CHECK(s.path_of(2) == "?");
}

TEST_CASE("scope_resolver: confidence grows if parameters agree") {
    scene s(test::tree_of({"enc.fc"}), {"/enc/fc/Add"});
    const auto before = s.resolve(s.table.scope_of[0]).confidence;
    s.reads(0, "enc.fc");
    CHECK(s.resolve(s.table.scope_of[0]).confidence > before);
}

} // namespace test::evidence_detail_scope_resolver
