// SPDX-License-Identifier: Apache-2.0
#include <stemma/handles.hpp>

#include "catch.hpp"
#include "model_files.hpp"
#include "wire_builder.hpp"

#include <stemma/onnx/carrier.hpp>
#include <stemma/onnx/onnx_model.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma/open/write_tagged.hpp>
#include <stemma/record/detail/value_tags.hpp>
#include <stemma/stemma.hpp>
#include <stemma/types/value_descriptions.hpp>

#include <boost/container_hash/hash.hpp>
#include <range/v3/algorithm/equal.hpp>
#include <range/v3/range/conversion.hpp>
#include <range/v3/range/primitives.hpp>
#include <range/v3/view/drop.hpp>
#include <range/v3/view/filter.hpp>
#include <range/v3/view/transform.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace test::handles {

using stemma::id;
using stemma::no_id;
using stemma::to_index;

namespace {

/// The numbers of a range of handles.
const auto indices = [](auto&& range) {
    return range | ranges::views::transform([](const auto& h) { return to_index(h.id()); }) |
           ranges::to<std::vector>();
};

} // namespace

TEST_CASE("handles: are ordered as their indices") {
    const auto model = stemma::open(test::fixture("mlp/model.onnx"));
    std::set<stemma::node_ref> nodes;
    for (const auto node : model.nodes()) {
        nodes.insert(node);
    }
    CHECK(ranges::equal(nodes, model.nodes()));
}

TEST_CASE("handles: are keys of unordered containers, as are ids") {
    const auto model = stemma::open(test::fixture("mlp/model.onnx"));
    std::unordered_map<stemma::module_ref, std::unordered_set<stemma::node_ref>> own;
    for (const auto node : model.nodes()) {
        own[node.module()].insert(node);
    }
    for (const auto module : model.modules()) {
        const auto nodes = module.own_nodes();
        CHECK(own[module] == std::unordered_set<stemma::node_ref>(nodes.begin(), nodes.end()));
    }
    const std::unordered_set<stemma::value_ref> values(model.values().begin(),
                                                       model.values().end());
    CHECK(values.size() == ranges::size(model.values()));
    std::unordered_map<stemma::parameter_ref, stemma::parameter_id> ids;
    for (const auto parameter : model.parameters()) {
        ids.emplace(parameter, parameter.id());
    }
    CHECK(ids.size() == ranges::size(model.parameters()));
    CHECK(boost::hash<stemma::node_ref>()(model.node(stemma::node_id{1})) !=
          boost::hash<stemma::node_ref>()(model.node(stemma::node_id{2})));
    CHECK(std::unordered_set<stemma::node_id>{stemma::node_id{1}}.count(stemma::node_id{1}) == 1);
}

TEST_CASE("handles: two words, cheap to copy") {
    STATIC_REQUIRE(sizeof(stemma::node_ref) <= 2 * sizeof(void*));
    STATIC_REQUIRE(std::is_trivially_copyable_v<stemma::node_ref>);
    STATIC_REQUIRE(std::is_trivially_copyable_v<stemma::value_ref>);
    STATIC_REQUIRE(std::is_trivially_copyable_v<stemma::module_ref>);
    STATIC_REQUIRE(std::is_trivially_copyable_v<stemma::parameter_ref>);
}

TEST_CASE("handles: agree with the attribution of every node in all fixtures") {
    for (const auto& path : model_files()) {
        CAPTURE(path);
        const auto model = stemma::open(path);
        const auto& file = model.parts().model();
        const auto& tagged = model.parts().tags();
        REQUIRE(ranges::distance(model.nodes()) == static_cast<int>(file.node_count()));
        for (const auto node : model.nodes()) {
            const auto i = to_index(node.id());
            const auto& origin = tagged.attributions[i];
            REQUIRE(node.name() == file.name(i));
            REQUIRE(node.op_type() == file.op_type(i));
            REQUIRE(to_index(node.module().id()) == origin.module);
            REQUIRE(node.tag() == tagged.tags.text(origin.module));
            REQUIRE(node.confidence() == origin.confidence);
            REQUIRE(node.has_conflict() == origin.conflict);
            REQUIRE(node.conflicts().empty() == !origin.conflict);
            REQUIRE(node.call().value_or(no_id) == origin.call);
            for (const auto value : node.outputs()) {
                REQUIRE(value.producer() == node);
            }
        }
    }
}

TEST_CASE("handles: producers and readers are inverse") {
    for (const auto& path : model_files()) {
        CAPTURE(path);
        const auto model = stemma::open(path);
        std::vector<std::pair<id, id>> down;
        std::vector<std::pair<id, id>> up;
        for (const auto node : model.nodes()) {
            for (const auto reader : node.readers()) {
                down.emplace_back(to_index(node.id()), to_index(reader.id()));
            }
            for (const auto producer : node.producers()) {
                up.emplace_back(to_index(producer.id()), to_index(node.id()));
            }
        }
        std::sort(down.begin(), down.end());
        std::sort(up.begin(), up.end());
        REQUIRE(down == up);
    }
}

TEST_CASE("module_ref: children, ancestors and descendants match the tree") {
    for (const auto& path : model_files()) {
        CAPTURE(path);
        const auto model = stemma::open(path);
        const auto& tree = model.tree();
        for (const auto module : model.modules()) {
            const auto m = to_index(module.id());
            const auto [first, last] = adjacent_vertices(m, tree);
            REQUIRE(indices(module.children()) == std::vector<id>(first, last));
            std::vector<id> above;
            for (auto a = tree.index().parent(m); a != no_id; a = tree.index().parent(a)) {
                above.push_back(a);
            }
            REQUIRE(indices(module.ancestors()) == above);
            REQUIRE(above.size() == module.depth());
            REQUIRE(ranges::distance(module.descendants()) ==
                    static_cast<int>(tree.index().end(m) - m - 1));
            REQUIRE(module.path() == tree.path(m));
            if (const auto parent = module.parent()) {
                REQUIRE(parent->contains(module));
                REQUIRE(!module.contains(*parent));
            }
        }
    }
}

TEST_CASE("module_ref: nodes of a module are its own and those of its children") {
    for (const auto& path : model_files()) {
        CAPTURE(path);
        const auto model = stemma::open(path);
        for (const auto module : model.modules()) {
            auto expected = indices(module.own_nodes());
            for (const auto child : module.children()) {
                const auto more = indices(child.nodes());
                expected.insert(expected.end(), more.begin(), more.end());
            }
            std::sort(expected.begin(), expected.end());
            REQUIRE(indices(module.nodes()) == expected);
        }
        REQUIRE(ranges::distance(model.root().nodes()) == ranges::distance(model.nodes()));
        REQUIRE(ranges::distance(model.root().parameters()) ==
                ranges::distance(model.parameters()));
    }
}

TEST_CASE("parameter_ref: a weight with its module, type and size") {
    const auto model = stemma::open(fixture("bert_micro/model.onnx"));
    const auto query = model.find_module("encoder.layer.0.attention.self.query").value();
    const auto own = query.parameters() | ranges::to<std::vector>();
    REQUIRE(own.size() == 2);
    for (const auto& weight : own) {
        CHECK(weight.module() == query);
        CHECK(weight.kind() == "parameter");
        CHECK(weight.type() == "float32");
        CHECK(weight.bytes() == 4 * weight.elements());
        CHECK(weight.value().is_initializer());
    }
}

TEST_CASE("value_ref: tags are those of find_value_tags") {
    const auto path = fixture("bert_micro/model.onnx");
    const auto model = stemma::open(path);
    const stemma::attributed_model opened(path, {});
    const auto all =
        stemma::detail::find_value_tags(opened.model(), opened.modules(), opened.tags());
    for (const auto value : model.values()) {
        std::vector<id> expected;
        all.pool.for_each(all.sets[to_index(value.id())], [&](id m) { expected.push_back(m); });
        REQUIRE(indices(value.tags()) == expected);
    }
}

TEST_CASE(
    "value_ref: has the type that the file declares or its tensor has, else the inferred one") {
    const auto model = stemma::open(fixture("bert_micro/model.onnx"));
    const stemma::value_descriptions describe(model.parts().model());
    std::size_t count = 0;
    for (const auto value : model.values()) {
        REQUIRE(to_text(value.type()) == describe(value).type_and_shape());
        count += value.type().has_shape ? 1U : 0U;
    }
    CHECK(count > 0);
    const auto input = model.find_value("input_ids").value().type();
    CHECK(input.name == "int64");
    CHECK(to_text(input) == "int64[batch_size,sequence]");
    const auto weight = model.find_module("pooler.dense")->parameters()[0];
    CHECK(weight.value().type().name == weight.type());
    const auto output = model.find_node("/encoder/layer.1/attention/self/Add").value().outputs()[0];
    CHECK(to_text(output.type()) == "float32[?,2,?,?]");
}

TEST_CASE("node_ref: claims name their source, including the believed one") {
    const auto model = stemma::open(fixture("bert_micro/model.onnx"));
    const auto node = model.find_node("/encoder/layer.1/attention/self/Softmax").value();
    CHECK(node.provenance() == "scope");
    const auto claims = node.claims();
    REQUIRE(!claims.empty());
    CHECK(node.claims() == claims);
    CHECK(std::any_of(claims.begin(), claims.end(), [&](const stemma::claim_ref& claim) {
        return claim.source() == "scope" && claim.module() == node.module() && claim.is_exact() &&
               claim.confidence() > 0.9;
    }));
}

TEST_CASE("node_ref: conflicts are claims that disagree, those of sources among them") {
    const auto names = [](const stemma::claim_ref& one, const stemma::claim_ref& other) {
        return one.module() == other.module() && one.source() == other.source();
    };
    std::size_t disputed = 0;
    for (const auto& path : model_files()) {
        CAPTURE(path);
        const auto model = stemma::open(path);
        for (const auto node : model.nodes()) {
            const auto conflicts = node.conflicts();
            if (conflicts.empty()) {
                continue;
            }
            ++disputed;
            CHECK(
                std::any_of(conflicts.begin(), conflicts.end(), [&](const stemma::claim_ref& one) {
                    return one.module() != conflicts.front().module();
                }));
            for (const auto& claim : node.claims()) {
                CHECK(std::any_of(conflicts.begin(), conflicts.end(),
                                  [&](const stemma::claim_ref& one) { return names(one, claim); }));
            }
        }
    }
    CHECK(disputed > 0);
}

TEST_CASE("node_ref: has the attributes that the file has, without stemma's own") {
    const auto node =
        test::node("Conv", {"x"}, {"y"}, "/conv/Conv")
            .inner(5, test::message().text(1, "group").number(20, 2).number(3, 2))
            .inner(5, test::message().text(1, "pads").number(20, 7).packed(8, {0, 1}));
    const auto plain = test::node("Relu", {"y"}, {"z"}, "/act/Relu");
    const auto bytes = test::model(test::graph({node, plain}, {"x"}, {"z"})).bytes();
    const auto model = stemma::open_bytes(bytes);
    const auto names = [](const stemma::node_ref& of) {
        std::vector<std::string_view> all;
        for (const auto& one : of.attributes()) {
            all.push_back(one.name());
        }
        return all;
    };
    const auto conv = model.find_node("/conv/Conv").value();
    CHECK(names(conv) == std::vector<std::string_view>{"group", "pads"});
    CHECK(conv.attribute("group")->type() == "int");
    CHECK(conv.attribute("group")->as_int() == 2);
    CHECK(conv.attribute("group")->as_ints().empty());
    CHECK(conv.attribute("pads")->as_ints() == std::vector<std::int64_t>{0, 1});
    CHECK(conv.attribute("pads") == conv.attributes().back());
    CHECK(conv.attribute("strides") == std::nullopt);
    CHECK(model.find_node("/act/Relu")->attributes().empty());

    const auto tagged =
        stemma::open_bytes(stemma::tagged_bytes(model, stemma::attribute_carrier{}));
    CHECK(names(tagged.find_node("/conv/Conv").value()) == names(conv));
    CHECK(tagged.find_node("/act/Relu")->attributes().empty());
}

TEST_CASE("node_ref: knows its source line, and that line's callers") {
    const auto model = stemma::open(std::string(STEMMA_TEST_DATA) + "/source/traced.onnx");
    const auto node = model.find_node("/blocks.0/Softmax").value();
    CHECK(node.source() == stemma::source_position{"net.py", 9, "scaled"});
    const auto frames = node.frames();
    REQUIRE(frames.size() > 2);
    CHECK(frames.front() == *node.source());
    const stemma::source_position of_root{"net.py", 33, "forward"};
    CHECK(std::find(frames.begin(), frames.end(), of_root) != frames.end());
    CHECK(model.root().source() == std::nullopt);
    const auto without = stemma::open(fixture("bert_micro/model.onnx"));
    CHECK((*without.nodes().begin()).source() == std::nullopt);
    CHECK((*without.nodes().begin()).frames().empty());
}

TEST_CASE("handles: attributes and types are those of the exported model") {
    const auto model = stemma::open(fixture("unet_tiny/model.onnx"));
    const auto module = model.find_module("inc").value();
    std::map<std::string_view, std::vector<std::int64_t>> kernels;
    for (const auto node : module.nodes() | ranges::views::filter(stemma::op_is("Conv"))) {
        if (const auto kernel = node.attribute("kernel_shape")) {
            kernels.emplace(node.name(), kernel->as_ints());
        }
    }
    const auto images = to_text(model.find_value("x")->type()); // float32[batch,3,32,32]
    CHECK(kernels.size() == 2);
    CHECK(kernels.at("/inc/inc.0/Conv") == std::vector<std::int64_t>{3, 3});
    CHECK(images == "float32[batch,3,32,32]");
}

TEST_CASE("handles: print as what queries accept, without names as positions") {
    const auto bytes =
        test::model(test::graph({test::node("Relu", {"x"}, {"t"}, "/act/Relu"),
                                 test::node("MatMul", {"t", "fc.weight"}, {"y"}, "")},
                                {"x"}, {"y"}, {"fc.weight"}))
            .bytes();
    const auto model = stemma::open_bytes(bytes);
    const auto printed = [](const auto& one) {
        std::ostringstream out;
        out << one;
        return out.str();
    };
    CHECK(printed(model.nodes()[0]) == "/act/Relu");
    CHECK(printed(model.nodes()[1]) == "#1");
    CHECK(to_text(model.query(printed(model.nodes()[1])).nodes[0]) == "#1");
    CHECK(printed(model.find_value("t").value()) == "t");
    CHECK(printed(model.find_module("act").value()) == "act");
    CHECK(printed(model.root()) == "(root)");
    CHECK(printed(model.parameters()[0]) == "fc.weight");
    CHECK(Catch::Detail::stringify(model.root()) == "(root)");
}

TEST_CASE("handles: ranges compose with views, and outlive the handle they came from") {
    const auto model = stemma::open(fixture("bert_micro/model.onnx"));
    auto names = model.find_module("encoder.layer.0")->nodes() |
                 ranges::views::filter(stemma::op_is("MatMul")) |
                 ranges::views::transform([](const auto& node) { return node.name(); });
    CHECK(ranges::distance(names) == 8);
    auto paths = model.root().children() | ranges::views::drop(1) |
                 ranges::views::transform([](const auto& m) { return m.path(); });
    CHECK(ranges::equal(paths, std::vector<std::string>{"encoder", "pooler"}));
}

} // namespace test::handles
