// SPDX-License-Identifier: Apache-2.0
#include <stemma/cut/detail/part_records.hpp>

#include "../../catch.hpp"
#include "../../find_in_model.hpp"
#include "../../model_files.hpp"
#include "../../operator_scene.hpp"
#include "../../tagged_bytes.hpp"
#include "../../wire_builder.hpp"

#include <stemma/core/id.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/module_tree_builder.hpp>
#include <stemma/onnx/carrier.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/record/detail/model_record.hpp>
#include <stemma/record/detail/tag_model.hpp>
#include <stemma/tagging/name_modules.hpp>

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace test::cut_detail_part_records {

namespace {

using stemma::id;
using test::node;

/// Two stacks of one class, each with blocks of one class, and an unread tensor.
stemma::module_tree stacks() {
    stemma::module_tree_builder builder("net");
    const auto set = [&](const std::string& path, const std::string& class_name) {
        const auto m = builder.at_path(path);
        builder.set_class(m, class_name, "own." + class_name);
        const std::vector<std::int64_t> shape{4, 4};
        builder.add_parameter(m, {"weight", "float32", shape, true});
    };
    builder.set_class(0, "Net", "own.Net");
    set("encoder", "Stack");
    set("encoder.block", "Block");
    set("decoder", "Stack");
    set("decoder.block", "Block");
    set("decoder.block.idle", "Idle");
    set("head", "Head");
    return builder.build();
}

std::string model() {
    return test::model(
               test::graph(
                   {node("MatMul", {"x", "encoder.block.weight"}, {"1"}, "/encoder/block/MatMul"),
                    node("MatMul", {"1", "decoder.block.weight"}, {"2"}, "/decoder/block/MatMul"),
                    node("MatMul", {"2", "head.weight"}, {"y"}, "/head/MatMul")},
                   {"x"}, {"y"}, {"encoder.block.weight", "decoder.block.weight", "head.weight"}))
        .bytes();
}

std::set<std::string> paths_of(const stemma::module_tree& tree) {
    std::set<std::string> paths;
    for (id m = 0; m < tree.size(); ++m) {
        paths.insert(tree.path(m));
    }
    return paths;
}

stemma::detail::recorded_model record_of_part(const std::string& tagged,
                                              const std::vector<id>& nodes,
                                              const std::vector<std::string>& weights) {
    const stemma::wire_model read(tagged, "tagged");
    std::vector<id> values;
    for (const auto& name : weights) {
        values.push_back(test::value_called(read, name));
    }
    return stemma::detail::part_records(read, *stemma::detail::find_model_record(read))
        .of(nodes, values)
        .about;
}

std::size_t parameters_of(const stemma::module_tree& tree) {
    std::size_t count = 0;
    for (id m = 0; m < tree.size(); ++m) {
        count += tree.parameter_count(m);
    }
    return count;
}

} // namespace

TEST_CASE(
    "part_records: a part has the modules of its nodes, their ancestors, and its parameters") {
    const auto tree = stacks();
    const auto tagged = test::tag(model(), {}, &tree);
    const auto record = record_of_part(tagged, {2}, {"head.weight"});
    CHECK(paths_of(record.modules) == std::set<std::string>{"", "head"});
    CHECK(record.modules.class_name(0) == "Net");
    CHECK(record.modules.qualified_class(1) == "own.Head");
    CHECK(record.nodes == 1);
    REQUIRE(parameters_of(record.modules) == 1);
    CHECK(record.modules.parameter(1, 0).shape.size() == 2);
}

TEST_CASE("part_records: modules that distinguish equal classes in tags stay, without parameters") {
    const auto tree = stacks();
    const auto tagged = test::tag(model(), {}, &tree);
    const auto record = record_of_part(tagged, {1}, {"decoder.block.weight"});
    CHECK(paths_of(record.modules) ==
          std::set<std::string>{"", "encoder", "decoder", "decoder.block"});
    CHECK(parameters_of(record.modules) == 1);
}

TEST_CASE("part_records: a parameter of another module is its owner's") {
    const auto tree = stacks();
    const auto tagged = test::tag(model(), {}, &tree);
    const auto record = record_of_part(tagged, {2}, {"head.weight", "encoder.block.weight"});
    CHECK(paths_of(record.modules).contains("encoder.block"));
    CHECK(parameters_of(record.modules) == 2);
}

TEST_CASE("part_records: if nodes do not record their module, the part has all modules") {
    const auto tree = stacks();
    const auto tagged = test::tag(model(), {.metadata = false, .mark = true}, &tree);
    const auto record = record_of_part(tagged, {2}, {"head.weight"});
    CHECK(record.modules.size() == tree.size());
}

TEST_CASE("part_records: claims about nodes refer to the part's modules") {
    const auto tree = stacks();
    const auto tagged = test::tag(model(), {}, &tree);
    const stemma::wire_model read(tagged, "tagged");
    auto whole = *stemma::detail::find_model_record(read);
    const auto head = test::module_at(whole.modules, "head");
    const auto block = test::module_at(whole.modules, "encoder.block");
    const stemma::claim of_block{block, stemma::no_id, 0.5F, stemma::provenance::trace};
    const stemma::claim of_head{head, stemma::no_id, 0.5F, stemma::provenance::trace};
    whole.claims = {{stemma::provenance::trace, {{1, of_head}, {1, {}}, {1, of_block}}}};
    const auto record = stemma::detail::part_records(read, std::move(whole))
                            .of(std::vector<id>{2}, std::vector<id>{})
                            .about;
    REQUIRE(record.claims.size() == 2);
    REQUIRE(record.claims[1].runs.size() == 1);
    CHECK(record.modules.path(record.claims[1].runs[0].made.module) == "encoder.block");
}

TEST_CASE("part_records: the modules that nodes have in the model are the first claims") {
    const auto tree = stacks();
    for (const bool mark : {false, true}) {
        const auto tagged = test::tag(model(), {.mark = mark}, &tree);
        const auto record = record_of_part(tagged, {1, 2}, {"head.weight"});
        CHECK(record.carried);
        REQUIRE(record.claims.size() == 1);
        CHECK(record.claims[0].source == stemma::provenance::recorded);
        const auto claims = stemma::detail::to_table(record.claims[0]).of;
        REQUIRE(claims.size() == 2);
        CHECK(record.modules.path(claims[0].module) == "decoder.block");
        CHECK(record.modules.path(claims[1].module) == "head");
        CHECK((claims[0].confidence < 1) == mark);
        CHECK((claims[0].call != stemma::no_id) == mark);
    }
}

TEST_CASE("part_records: a part has the table of the model, and no marks") {
    const auto tree = stacks();
    const auto tagged = test::tag(model(), {.metadata = false, .model = true, .mark = true}, &tree);
    const stemma::wire_model read(tagged, "tagged");
    const auto [record, table] =
        stemma::detail::part_records(read, *stemma::detail::find_model_record(read))
            .of(std::vector<id>{2, 1}, std::vector<id>{});
    CHECK(record.carriers == stemma::carrier_set{.metadata = false, .model = true});
    REQUIRE(table);
    REQUIRE(table->module.size() == 2);
    CHECK(record.modules.path(table->module[0]) == "head");
    CHECK(record.modules.path(table->module[1]) == "decoder.block");
}

TEST_CASE("part_records: names in the part do not replace the modules that it has in the model") {
    const auto tagged = test::tag(model(), {});
    const auto whole = *stemma::detail::find_model_record(stemma::wire_model(tagged, "tagged"));
    CHECK(whole.from_model);
    CHECK_FALSE(record_of_part(tagged, {2, 1}, {}).from_model);
}

TEST_CASE("part_records: parts of all fixtures have the tags of the whole", "[fixtures]") {
    for (const auto* fixture : {"bert_micro", "shared_twice", "control_flow", "two_tower"}) {
        const auto path = test::fixture(std::string(fixture) + "/model.onnx");
        const auto bytes = test::read_bytes(path);
        const auto tree = test::read_capture(test::fixture(std::string(fixture) + "/modules.json"));
        const auto tagged = test::tag(bytes, {}, &tree);
        const stemma::wire_model read(tagged, "tagged");
        const stemma::detail::part_records records(read, *stemma::detail::find_model_record(read));
        const auto all = stemma::name_modules(tree);
        const std::size_t step = 7;
        for (id first = 0; first < read.node_count(); first += step) {
            std::vector<id> nodes;
            for (id v = first; v < read.node_count() && v < first + step; ++v) {
                nodes.push_back(v);
            }
            const auto part = records.of(nodes, {}).about;
            const auto tags = stemma::name_modules(part.modules);
            for (id m = 0; m < part.modules.size(); ++m) {
                const auto same = test::module_at(tree, part.modules.path(m));
                REQUIRE(tags.text(m) == all.text(same));
            }
        }
    }
}

} // namespace test::cut_detail_part_records
