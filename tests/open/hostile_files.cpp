// SPDX-License-Identifier: Apache-2.0
#include <stemma/open/attributed_model.hpp>

#include "../catch.hpp"
#include "../inferred_types.hpp"
#include "../model_files.hpp"
#include "../random_numbers.hpp"
#include "../tagged_bytes.hpp"
#include "../wire_builder.hpp"

#include <stemma/cut/detail/random_nodes.hpp>
#include <stemma/error.hpp>
#include <stemma/evidence/dialect.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/onnx/detail/operator_dependence.hpp>
#include <stemma/onnx/external_data.hpp>
#include <stemma/record/detail/read_tags.hpp>
#include <stemma/record/detail/value_tags.hpp>
#include <stemma/record/module_statistics.hpp>
#include <stemma/record/sidecar.hpp>
#include <stemma/record/summary.hpp>
#include <stemma/types/detail/infer_shapes.hpp>
#include <stemma/types/value_types.hpp>

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace test::open_hostile_files {

namespace {

/// Longer runs can be requested from outside; a number of mutations, not a time.
std::size_t mutations_of_a_file() {
    const char* asked = std::getenv("STEMMA_RANDOM_MODELS");
    return asked == nullptr ? 400 : 100 * std::strtoul(asked, nullptr, 10);
}

const std::vector<std::string>& small_fixtures() {
    static const std::vector<std::string> names{
        "mlp/model.onnx", "quirks/model.onnx", "scripted_children/model.onnx",
        "control_flow/model.onnx", "shared_twice/model.functions.onnx"};
    return names;
}

/// Does everything that reads or writes tags with a file. The results must be sound, whatever the
/// file contains.
void use(std::string_view bytes) {
    test::tagged_model tagged(bytes);
    const auto& model = tagged.model;
    REQUIRE(tagged.found.attributions.size() == model.node_count());
    for (const auto& attribution : tagged.found.attributions) {
        REQUIRE(attribution.module < tagged.modules.size());
    }
    for (unsigned set : {1U, 31U}) {
        const auto written = tagged.write(test::carriers_of(set));
        const auto stripped = test::strip(written);
        const bool is_back =
            stripped == bytes ||
            test::with_minimal_lengths(stripped) == test::with_minimal_lengths(test::strip(bytes));
        CHECK(is_back);
        const bool same_again = test::tag(written, test::carriers_of(set)) == written;
        CHECK(same_again);
    }
    static_cast<void>(
        stemma::detail::read_carried_modules(model, tagged.modules, tagged.found.tags));
    static_cast<void>(
        stemma::detail::find_dependence(model, stemma::detail::find_random_nodes(model)));
    static_cast<void>(stemma::external_files(model));
    stemma::value_types types(model);
    stemma::detail::infer_shapes(model, types);
    for (stemma::id value = 0; value < model.value_count(); ++value) {
        const auto type = types.type_of(value);
        const bool complete = !type || stemma::value_types::is_complete(*type);
        CHECK(complete);
    }
    stemma::evidence_context<test::tagged_model::operators, stemma::module_tree> context(
        tagged.ops, tagged.modules);
    const auto summary = stemma::summarize(model, tagged.modules, tagged.found,
                                           stemma::detail::detect_dialects(context));
    CHECK(summary.nodes == model.node_count());
    const auto counts = stemma::collect_statistics(model, tagged.modules, tagged.found);
    const auto value_tags = stemma::detail::find_value_tags(model, tagged.modules, tagged.found);
    stemma::string_sink sidecar;
    stemma::write_sidecar(sidecar, model, tagged.modules, tagged.found, counts, value_tags,
                          summary);
    const bool is_json = nlohmann::json::accept(sidecar.text);
    CHECK(is_json);
}

/// Returns: whether a file was used; if not, it was rejected in the library's usual way.
bool use_or_refuse(std::string_view bytes) {
    try {
        use(bytes);
        return true;
    } catch (const stemma::error& refusal) {
        const std::string text = refusal.what();
        CAPTURE(text);
        const bool code_of_input = refusal.code() == stemma::error_code::malformed ||
                                   refusal.code() == stemma::error_code::unsupported;
        CHECK(code_of_input);
        const bool one_line = !text.empty() && text.find('\n') == text.npos;
        CHECK(one_line);
        return false;
    }
}

constexpr std::uint64_t minus(std::uint64_t n) {
    return ~n + 1;
}

} // namespace

TEST_CASE("attributed_model: files truncated at any 64th of their length are rejected or used",
          "[hostile]") {
    for (const auto& name : small_fixtures()) {
        const auto bytes = test::read_bytes(test::fixture(name));
        const auto tagged = test::tag(bytes, test::carriers_of(31));
        for (std::size_t part = 0; part < 64; ++part) {
            CAPTURE(name, part);
            use_or_refuse(std::string_view(bytes).substr(0, bytes.size() * part / 64));
            use_or_refuse(std::string_view(tagged).substr(0, tagged.size() * part / 64));
        }
    }
}

TEST_CASE("attributed_model: damaged files are rejected or used", "[hostile][random]") {
    test::random_numbers random(29);
    std::size_t used = 0;
    for (const auto& name : small_fixtures()) {
        const auto original = test::read_bytes(test::fixture(name));
        const auto tagged = test::tag(original, test::carriers_of(31));
        for (std::size_t i = 0; i < mutations_of_a_file(); ++i) {
            CAPTURE(name, i);
            auto bytes = i % 2 == 0 ? original : tagged;
            for (auto hits = 1 + random(4); hits > 0; --hits) {
                const auto at = random(bytes.size());
                switch (random(4)) {
                case 0:
                    bytes[at] = static_cast<char>(random(256));
                    break;
                case 1:
                    bytes[at] = static_cast<char>(bytes[at] ^ static_cast<char>(1U << random(8)));
                    break;
                case 2:
                    bytes.erase(at, 1 + random(8));
                    break;
                default:
                    bytes.insert(at, bytes.substr(random(bytes.size()), random(16)));
                    break;
                }
            }
            used += use_or_refuse(bytes) ? 1U : 0U;
        }
    }
    CHECK(used > 0);
}

TEST_CASE("attributed_model: texts and random bytes are rejected or used", "[hostile][random]") {
    test::random_numbers random(31);
    for (const auto* text : {"", "text", "{\"a\": 1}", "\n\n\n", "\x08", "\x3a\x7f"}) {
        CHECK_FALSE(use_or_refuse(text));
    }
    for (std::size_t i = 0; i < 500; ++i) {
        const auto bytes = random.bytes(random(300));
        use_or_refuse(i % 2 == 0 ? bytes : test::message().text(7, bytes).bytes());
    }
}

TEST_CASE("attributed_model: graphs that break the rules are used", "[hostile]") {
    using test::node;
    const auto body = test::graph({node("Relu", {"ghost"}, {"b"}, "/a/b/Relu")}, {}, {"b"});
    const auto branch = test::graph_attribute("then_branch", body);
    for (const auto& graph :
         {test::graph({node("Add", {"x", "c"}, {"a"}, "/m/Add"), node("Relu", {"a"}, {"b"}),
                       node("Tanh", {"b"}, {"c"})}),
          test::graph({node("Relu", {"a"}, {"a"}, "/m/itself")}),
          test::graph({node("Relu", {"x"}, {"y"}, "same"), node("Relu", {"x"}, {"y"}, "same")},
                      {"x", "x"}, {"y", "missing"}, {"w", "w", "x", ""}),
          test::graph({node("", {""}, {""}, ""), node("", {}, {}), node(" ", {"x"}, {"z"})}),
          test::graph({test::owner_node("If", {"y"}, {"y"}, {branch, branch})}),
          test::graph({test::owner_node("Loop", {}, {"y", "z"}, {branch})})}) {
        CHECK(use_or_refuse(test::model(graph).bytes()));
        CHECK(use_or_refuse(test::message().inner(7, graph).bytes())); // no opset
        CHECK(use_or_refuse(test::model(graph, ~0ULL, ~0ULL).bytes()));
    }
}

TEST_CASE("attributed_model: functions that break the rules are used", "[hostile]") {
    auto model =
        test::model(test::graph({test::node("f0", {"x", ""}, {"y"}, "/m/f0", "d")}, {"x"}));
    const auto chain = 20000U;
    for (unsigned i = 0; i < chain; ++i) {
        model.inner(
            25, test::function("d", "f" + std::to_string(i), {"a", "", "a"}, {"b", "", "no"},
                               {test::node("f" + std::to_string(i + 1), {"a"}, {"b"}, "", "d")}));
    }
    const auto bytes = model.bytes();
    const stemma::wire_model deep(bytes);
    stemma::value_types types(deep);
    stemma::detail::infer_shapes(deep, types);
    CHECK(deep.functions().size() == chain);
    auto itself = test::model(test::graph({test::node("f", {"x"}, {"y"}, "", "d")}, {"x"}));
    itself.inner(
        25, test::function("d", "f", {"a", ""}, {"b"}, {test::node("f", {"a"}, {"b"}, "", "d")}));
    CHECK(use_or_refuse(itself.bytes()));
}

TEST_CASE("attributed_model: endlessly nested bodies are rejected", "[hostile]") {
    auto body = test::graph({test::node("Relu", {"x"}, {"y"})}).bytes();
    const auto wrap = [](unsigned field, const std::string& content) {
        std::string out;
        test::put_varint(field << 3U | 2U, out);
        test::put_varint(content.size(), out);
        return out + content;
    };
    for (int i = 0; i < 10000; ++i) {
        body = wrap(1, wrap(5, wrap(6, body)));
    }
    CHECK_FALSE(use_or_refuse(wrap(7, body)));
}

TEST_CASE("infer_shapes: impossible extents are not trusted", "[hostile]") {
    const std::vector<std::uint64_t> numbers{
        0,           1,        7,        1ULL << 31U, 1ULL << 40U, (1ULL << 63U) - 1,
        1ULL << 63U, minus(1), minus(2), minus(3),    minus(1000)};
    test::random_numbers random(37);
    const auto any = [&] { return numbers[random(numbers.size())]; };
    const std::vector<std::string> operators{"Conv",
                                             "MaxPool",
                                             "Reshape",
                                             "Expand",
                                             "ConstantOfShape",
                                             "Unsqueeze",
                                             "Squeeze",
                                             "Concat",
                                             "Gather",
                                             "GatherND",
                                             "Slice",
                                             "Transpose",
                                             "Split",
                                             "ReduceSum",
                                             "ArgMax",
                                             "TopK",
                                             "Shape",
                                             "MatMul",
                                             "Gemm",
                                             "Flatten",
                                             "OneHot",
                                             "NonZero",
                                             "Tile",
                                             "Range",
                                             "LSTM",
                                             "Add",
                                             "Mul",
                                             "Identity",
                                             "Where",
                                             "Cast",
                                             "Pad",
                                             "AveragePool",
                                             "LayerNormalization"};
    for (std::size_t i = 0; i < 3000; ++i) {
        CAPTURE(i);
        const auto dims = [&] {
            std::vector<std::uint64_t> extents(random(5));
            for (auto& dim : extents) {
                dim = any();
            }
            return extents;
        };
        std::vector<test::message> nodes;
        for (std::size_t n = 0; n < 6; ++n) {
            auto node = test::node(operators[random(operators.size())],
                                   {random.one_in(2) ? "x" : "v" + std::to_string(random(6)),
                                    random.one_in(2) ? "w" : "s"},
                                   {"v" + std::to_string(n)});
            for (const char* name :
                 {"kernel_shape", "strides", "dilations", "pads", "axes", "perm", "shape"}) {
                if (random.one_in(2)) {
                    node.inner(5, test::ints_attribute(name, dims()));
                }
            }
            for (const char* name : {"axis", "start", "end", "batch_dims", "ceil_mode", "to"}) {
                if (random.one_in(3)) {
                    node.inner(5, test::int_attribute(name, any()));
                }
            }
            nodes.push_back(node);
        }
        auto graph = test::graph(nodes, {}, {"v5"}, {});
        graph.inner(11, test::typed_value("x", dims())).inner(11, test::typed_value("w", dims()));
        graph.inner(5, test::message().packed(1, {3}).number(2, 7).text(8, "s").packed(
                           7, {any(), any(), any()}));
        graph.inner(5, test::message().packed(1, dims()).number(2, 1).text(8, "v0"));
        const test::inferred_model model(test::model(graph, 8, random.one_in(2) ? 9 : 17));
        const auto& types = model.types;
        // Only what the file itself declares may have such extents.
        for (stemma::id value = 0; value < model.value_count(); ++value) {
            const auto type = types.type_of(value);
            if (!type || types.declaration(value)) {
                continue;
            }
            stemma::detail::tensor_types reader;
            const auto shape = reader.read(*type);
            for (auto extent : *shape.dims) {
                CHECK(extent >= stemma::detail::any_extent);
            }
        }
    }
}

TEST_CASE("infer_shapes: endlessly growing shapes are left open", "[hostile]") {
    std::vector<test::message> nodes;
    for (int i = 0; i < 200; ++i) { // doubles the elements of a shape each time
        const auto from = i == 0 ? std::string("s") : "c" + std::to_string(i - 1);
        nodes.push_back(test::node("Concat", {from, from}, {"c" + std::to_string(i)})
                            .inner(5, test::int_attribute("axis", 0)));
    }
    nodes.push_back(test::node("ConstantOfShape", {"c199"}, {"filled"}));
    nodes.push_back(test::node("Reshape", {"filled", "huge"}, {"reshaped"}));
    nodes.push_back(test::node("Unsqueeze", {"filled", "huge"}, {"unsqueezed"}));
    auto graph = test::graph(nodes, {}, {}, {});
    graph.inner(5, test::message().packed(1, {2}).number(2, 7).text(8, "s").packed(7, {3, 4}));
    graph.inner(11, test::typed_value("huge", {1ULL << 40U}));
    const test::inferred_model model(test::model(graph));
    CHECK(model.types.type_of(model.first_output(0)));
    CHECK_FALSE(model.types.type_of(model.first_output(200)));
}

TEST_CASE("infer_shapes: a negative extent is unknown", "[hostile]") {
    auto graph = test::graph({test::node("Relu", {"x"}, {"y"})}, {}, {}, {});
    graph.inner(11, test::typed_value("x", {minus(7), 3}));
    CHECK(test::inferred_model(test::model(graph)).type_of("y") == "float32[?,3]");
}

TEST_CASE("attributed_model: anything may accompany stemma's tags", "[hostile]") {
    const auto bytes = test::read_bytes(test::fixture("mlp/model.onnx"));
    for (const auto* key : {"pkg.stemma.model", "pkg.stemma.tags", "pkg.stemma.else"}) {
        for (const auto* value :
             {"", "{", "null", "[]", "{\"nodes\": -1}", "{\"modules\": [[0, 0, 0]]}", "\xff"}) {
            CAPTURE(key, value);
            const auto damaged = bytes + test::message().inner(14, test::entry(key, value)).bytes();
            use_or_refuse(damaged);
            const bool stripped_is_original = test::strip(damaged) == bytes;
            CHECK(stripped_is_original);
        }
    }
}

} // namespace test::open_hostile_files
