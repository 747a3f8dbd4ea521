// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/dialect.hpp>

#include "../catch.hpp"
#include "../evidence_scene.hpp"
#include "../model_with_metadata.hpp"

#include <set>
#include <string>
#include <string_view>

namespace test::evidence_dialect {

using stemma::dialect;
using stemma::dialect_report;

TEST_CASE("detect_dialects: each operator has its own, within one model") {
    const auto plain = [](const char* type, const char* name, const char* from, const char* to) {
        return test::node(type, {from}, {to}, name);
    };
    auto model = test::model(
        test::graph(
            {test::described(plain("Relu", "d", "x", "a"),
                             test::dynamo({"", "m", "relu"}, {"app.Net", "app.M", "aten.relu"})),
             test::described(plain("Relu", "p", "a", "b"),
                             {{"pkg.torch.onnx.name_scopes", "['', 'm', 'relu']"}}),
             test::described(plain("Relu", "s", "b", "c"),
                             test::builder({"", "m"}, {"app.Net", "app.M"})),
             plain("Relu", "/m/Relu", "c", "d"), plain("Relu", "m/Relu_node_3", "d", "e"),
             plain("Relu", "app.Net::/app.M::m/Relu", "e", "f"),
             plain("FusedConv", "fused /m/Conv", "f", "g"), plain("Relu", "Relu_12", "g", "h"),
             test::node("F", {"h"}, {"i"}, "call", "lib"),
             test::described(plain("Relu", "w", "i", "j"),
                             {{"winml.hierarchy.tag", "/Net/Block.0"}})},
            {"x"}, {"j"}),
        10);
    model.inner(
        25, test::function("lib", "F", {"a"}, {"b"}, {test::node("Relu", {"a"}, {"b"}, "body")}));
    test::evidence_scene scene(model.bytes());
    const auto report = stemma::detail::detect_dialects(scene.context());
    const auto check = [&](std::string_view name, dialect of,
                           dialect_report::scope_quality quality) {
        INFO(name);
        CHECK(report.of[scene.node(name)] == of);
        CHECK(report.quality[scene.node(name)] == quality);
    };
    check("d", dialect::dynamo, dialect_report::scope_quality::path_and_class);
    check("p", dialect::dynamo, dialect_report::scope_quality::path);
    check("s", dialect::builder, dialect_report::scope_quality::path_and_class);
    check("/m/Relu", dialect::torchscript, dialect_report::scope_quality::path);
    check("m/Relu_node_3", dialect::builder_name, dialect_report::scope_quality::path);
    check("app.Net::/app.M::m/Relu", dialect::torchscript,
          dialect_report::scope_quality::path_and_class);
    check("fused /m/Conv", dialect::optimized, dialect_report::scope_quality::path);
    check("w", dialect::winml, dialect_report::scope_quality::path_and_class);
    check("Relu_12", dialect::none, dialect_report::scope_quality::operator_only);
    check("call", dialect::function, dialect_report::scope_quality::path_and_class);
    check("body", dialect::function, dialect_report::scope_quality::operator_only);
}

TEST_CASE("to_string: every dialect has a unique name") {
    std::set<std::string_view> names;
    for (std::size_t d = 0; d < stemma::detail::dialect_count; ++d) {
        names.insert(stemma::to_string(static_cast<dialect>(d)));
    }
    CHECK(names.size() == stemma::detail::dialect_count);
}

} // namespace test::evidence_dialect
