// SPDX-License-Identifier: Apache-2.0
#include <stemma/fold/detail/function_inliner.hpp>

#include "../../catch.hpp"
#include "../../model_files.hpp"
#include "../../wire_builder.hpp"

#include <stemma/onnx/detail/splices.hpp>

#include <string>
#include <vector>

namespace test::fold_detail_function_inliner {

namespace {

using test::message;

std::string inlined(const std::string& bytes) {
    const stemma::wire_model model(bytes);
    stemma::detail::function_inliner inliner(model);
    stemma::detail::string_splice splice(bytes);
    inliner.build().write(splice);
    return splice.text;
}

/// A model of some nodes and functions of domain "d".
message with_functions(const std::vector<message>& nodes, const std::vector<message>& functions,
                       const test::names& outputs = {"y"}) {
    message model;
    model.number(1, 8).inner(8, test::opset("", 17)).inner(8, test::opset("d", 1));
    model.inner(7, test::graph(nodes, {"x"}, outputs));
    for (const auto& function : functions) {
        model.inner(25, function);
    }
    return model;
}

/// What comes of `with_functions` when its nodes come to these.
std::string plain(const std::vector<message>& nodes, const test::names& outputs = {"y"}) {
    return message()
        .number(1, 8)
        .inner(8, test::opset("", 17))
        .inner(7, test::graph(nodes, {"x"}, outputs))
        .bytes();
}

message call(const char* type, const test::names& in, const test::names& out, const char* name) {
    return test::node(type, in, out, name, "d");
}

message reference(const char* name, const char* to) {
    return message().text(1, name).text(21, to).number(20, 3);
}

} // namespace

TEST_CASE("function_inliner: names inlined values after the calls, at any depth") {
    const auto inner =
        test::function("d", "G", {"a"}, {"b"}, {test::node("Relu", {"a"}, {"b"}, "r")});
    const auto outer = test::function("d", "F", {"a"}, {"c"},
                                      {call("G", {"a"}, {"m"}, "g"), call("G", {"m"}, {"c"}, "")});
    const auto bytes =
        with_functions({call("F", {"x"}, {"u"}, "one"), call("F", {"u"}, {"y"}, "two")},
                       {inner, outer})
            .bytes();
    CHECK(inlined(bytes) == plain({test::node("Relu", {"x"}, {"one/m"}, "one/g/r"),
                                   test::node("Relu", {"one/m"}, {"u"}, "u/r"),
                                   test::node("Relu", {"u"}, {"two/m"}, "two/g/r"),
                                   test::node("Relu", {"two/m"}, {"y"}, "y/r")}));
}

TEST_CASE(
    "function_inliner: attributes have the call's value, else the default, else are omitted") {
    const auto function = test::function("d", "F", {"a"}, {"b"},
                                         {test::node("Op", {"a"}, {"b"})
                                              .inner(5, reference("given", "p"))
                                              .inner(5, reference("kept", "q"))
                                              .inner(5, reference("gone", "r"))})
                              .text(6, "p")
                              .inner(11, test::text_attribute("q", "default"));
    const auto bytes =
        with_functions({call("F", {"x"}, {"y"}, "f").inner(5, test::text_attribute("p", "call"))},
                       {function})
            .bytes();
    CHECK(inlined(bytes) == plain({test::node("Op", {"x"}, {"y"})
                                       .inner(5, test::text_attribute("given", "call"))
                                       .inner(5, test::text_attribute("kept", "default"))}));
    // Handed on from the function around.
    const auto around = test::function(
        "d", "H", {"a"}, {"b"}, {call("F", {"a"}, {"b"}, "f").inner(5, reference("p", "s"))});
    CHECK(inlined(with_functions(
                      {call("H", {"x"}, {"y"}, "h").inner(5, test::text_attribute("s", "far"))},
                      {function, around})
                      .bytes()) == plain({test::node("Op", {"x"}, {"y"})
                                              .inner(5, test::text_attribute("given", "far"))
                                              .inner(5, test::text_attribute("kept", "default"))}));
}

TEST_CASE("function_inliner: omitted inputs and outputs stay omitted") {
    const auto function = test::function("d", "F", {"a", "b"}, {"c", "e"},
                                         {test::node("Op", {"a", "b"}, {"c", "e"})});
    CHECK(inlined(with_functions({call("F", {"x"}, {"y"}, "f")}, {function}).bytes()) ==
          plain({test::node("Op", {"x", ""}, {"y", "f/e"})}));
}

TEST_CASE("function_inliner: copies an output that is an input or repeated") {
    const auto function =
        test::function("d", "F", {"a"}, {"a", "b", "b"}, {test::node("Relu", {"a"}, {"b"})});
    CHECK(inlined(
              with_functions({call("F", {"x"}, {"p", "q", "r"}, "f")}, {function}, {"p", "q", "r"})
                  .bytes()) == plain({test::node("Relu", {"x"}, {"q"}),
                                      test::node("Identity", {"x"}, {"p"}, "f/Identity"),
                                      test::node("Identity", {"q"}, {"r"}, "f/Identity")},
                                     {"p", "q", "r"}));
}

TEST_CASE("function_inliner: inlines calls in bodies, and renames bodies in functions") {
    const auto relu = test::function("d", "F", {"a"}, {"b"}, {test::node("Relu", {"a"}, {"b"})});
    const auto body = [](const message& node, const char* result) {
        return test::graph_attribute("then_branch", test::graph({node}, {}, {result}));
    };
    CHECK(inlined(with_functions({test::owner_node("If", {"x"}, {"y"},
                                                   {body(call("F", {"x"}, {"z"}, "f"), "z")})},
                                 {relu})
                      .bytes()) ==
          plain({test::owner_node("If", {"x"}, {"y"},
                                  {body(test::node("Relu", {"x"}, {"z"}), "z")})}));
    const auto branching = test::function(
        "d", "F", {"a"}, {"b"},
        {test::owner_node("If", {"a"}, {"b"}, {body(test::node("Relu", {"a"}, {"z"}), "z")})});
    CHECK(inlined(with_functions({call("F", {"x"}, {"y"}, "f")}, {branching}).bytes()) ==
          plain({test::owner_node("If", {"x"}, {"y"},
                                  {body(test::node("Relu", {"x"}, {"f/z"}), "f/z")})}));
}

TEST_CASE("function_inliner: what a body defines hides inputs and results of the function") {
    const auto body = [](const char* in, const char* captured, const char* out) {
        return test::graph_attribute(
            "body", test::graph({test::node("Add", {in, captured}, {out})}, {in}, {out}));
    };
    const auto scan = [&](const char* in, const char* captured, const char* out) {
        return test::function("d", "F", {"a", "b"}, {"c"},
                              {test::owner_node("Scan", {"a"}, {"c"}, {body(in, captured, out)})});
    };
    const auto called = [](const test::names& in, const message& function) {
        return inlined(with_functions({call("F", in, {"y"}, "f")}, {function}).bytes());
    };
    CHECK(called({"x", "x"}, scan("a", "b", "s")) ==
          plain({test::owner_node("Scan", {"x"}, {"y"}, {body("f/a", "x", "f/s")})}));
    CHECK(called({"x", "x"}, scan("e", "a", "c")) ==
          plain({test::owner_node("Scan", {"x"}, {"y"}, {body("f/e", "x", "f/c")})}));
    CHECK(called({"x"}, scan("b", "a", "s")) ==
          plain({test::owner_node("Scan", {"x"}, {"y"}, {body("f/b", "x", "f/s")})}));
    // No other call makes such a value.
    const auto far =
        test::function("d", "Far", {"p"}, {"q"},
                       {test::node("Relu", {"p"}, {"f/a"}), test::node("Relu", {"f/a"}, {"q"})});
    const auto result = inlined(
        with_functions({call("F", {"x", "x"}, {"u"}, "o/f"), call("Far", {"u"}, {"y"}, "o")},
                       {scan("a", "b", "s"), far})
            .bytes());
    CHECK(stemma::wire_model(result).node_count() == 4);
    CHECK(result.find("o~1/f/a") != result.npos);
}

TEST_CASE("function_inliner: does not reuse names") {
    const auto function =
        test::function("d", "F", {"a"}, {"b"},
                       {test::node("Relu", {"a"}, {"m"}), test::node("Relu", {"m"}, {"b"})});
    const auto bytes =
        with_functions({test::node("Relu", {"x"}, {"f/m"}), call("F", {"f/m"}, {"u"}, "f"),
                        call("F", {"u"}, {"y"}, "f")},
                       {function})
            .bytes();
    const auto result = inlined(bytes);
    const stemma::wire_model model(result);
    CHECK(model.node_count() == 5);
    CHECK(model.redefined().empty());
}

TEST_CASE("function_inliner: rejects recursive and exponential calls") {
    const auto f = test::function("d", "F", {"a"}, {"b"}, {call("G", {"a"}, {"b"}, "")});
    const auto g = test::function("d", "G", {"a"}, {"b"}, {call("F", {"a"}, {"b"}, "")});
    CHECK_THROWS_AS(inlined(with_functions({call("F", {"x"}, {"y"}, "f")}, {f, g}).bytes()),
                    stemma::error);
    std::vector<message> deep;
    for (int i = 0; i < 20'000; ++i) {
        const auto callee = "F" + std::to_string(i + 1);
        deep.push_back(test::function("d", "F" + std::to_string(i), {"a"}, {"b"},
                                      {test::node(callee, {"a"}, {"b"}, "", "d")}));
    }
    CHECK_THROWS_AS(inlined(with_functions({call("F0", {"x"}, {"y"}, "f")}, deep).bytes()),
                    stemma::error);
    // Twice as many calls at each level, of a function without nodes.
    const auto doubling = [](int levels, const std::string& name) {
        std::vector<message> functions{test::function("d", "F0", {}, {}, {})};
        for (int i = 0; i < levels; ++i) {
            const auto next = test::node("F" + std::to_string(i), {}, {}, name, "d");
            functions.push_back(
                test::function("d", "F" + std::to_string(i + 1), {}, {}, {next, next}));
        }
        const auto top = "F" + std::to_string(levels);
        return with_functions({test::node(top, {}, {}, "", "d")}, functions).bytes();
    };
    CHECK_NOTHROW(inlined(doubling(9, "")));
    CHECK_THROWS_WITH(inlined(doubling(19, "")),
                      Catch::Contains("would become 1048574 nodes, more than 1000000"));
    CHECK_THROWS_WITH(inlined(doubling(60, "")), Catch::Contains("nodes, more than 1000000"));
    CHECK_THROWS_WITH(inlined(doubling(9, std::string(1 << 18, 'n'))),
                      Catch::Contains("bytes of names, more than 1073741824"));
}

TEST_CASE("function_inliner: calls with the same name have different scopes") {
    const auto f = test::function(
        "d", "F", {"a"}, {"b"},
        {test::node("Relu", {"a"}, {"m"}, "r"), test::node("Neg", {"m"}, {"b"}, "n")});
    const auto bytes =
        with_functions({call("F", {"x"}, {"p"}, "f"), call("F", {"p"}, {"q"}, "f"),
                        call("F", {"q"}, {"f~2/m"}, "f"), call("F", {"f~2/m"}, {"y"}, "f")},
                       {f})
            .bytes();
    const auto result = inlined(bytes);
    const stemma::wire_model model(result, "made");
    REQUIRE(model.node_count() == 8);
    CHECK(model.name(0) == "f/r");
    CHECK(model.name(2) == "f~1/r");
    CHECK(model.name(4) == "f~3/r"); // a value is called f~2/m
    CHECK(model.name(6) == "f~4/r");
}

TEST_CASE("function_inliner: values of different calls never get the same name") {
    const auto f = [](const char* name, const test::names& values) {
        return test::function("d", name, {"a"}, {"b"},
                              {test::node("Relu", {"a"}, values, "r"),
                               test::node("Neg", {values.front()}, {"b"}, "n")});
    };
    const auto check = [](const message& with) {
        const auto result = inlined(with.bytes());
        const stemma::wire_model model(result, "made");
        CHECK(model.redefined().empty());
        CHECK(model.functions().empty());
        return std::string(model.value_name(model.first_output(model.node_count() - 2)));
    };
    // One scope is in the other.
    const std::vector<message> functions = {f("Far", {"layer/t"}), f("Near", {"t"})};
    CHECK(check(with_functions(
              {call("Far", {"x"}, {"u"}, "enc"), call("Near", {"u"}, {"y"}, "enc/layer")},
              functions)) == "enc/layer~1/t");
    CHECK(check(with_functions(
              {call("Near", {"x"}, {"u"}, "enc/layer"), call("Far", {"u"}, {"y"}, "enc")},
              functions)) == "enc~1/layer/t");
    // A value of the function around a call, before or after it.
    const auto around = [&](const std::vector<message>& nodes) {
        return with_functions(
            {call("Outer", {"x"}, {"y"}, "o")},
            {test::function("d", "Outer", {"a"}, {"b"}, nodes), f("Near", {"t"})});
    };
    CHECK(check(around({test::node("Abs", {"a"}, {"c/t"}), call("Near", {"c/t"}, {"b"}, "c")})) ==
          "o/c~1/t");
    const auto after =
        inlined(around({call("Near", {"a"}, {"c/m"}, "c"), test::node("Abs", {"c/m"}, {"c/t"}),
                        test::node("Exp", {"c/t"}, {"b"})})
                    .bytes());
    CHECK(stemma::wire_model(after).redefined().empty());
    // In a body of a function.
    const auto body = test::graph({test::node("Abs", {"a"}, {"c/t"})}, {}, {"c/t"});
    const auto nested = inlined(
        around({call("Near", {"a"}, {"m"}, "c"),
                test::owner_node("If", {"m"}, {"b"}, {test::graph_attribute("then_branch", body)})})
            .bytes());
    const stemma::wire_model opened(nested);
    CHECK(opened.value_name(opened.first_output(0)) == "o/c~1/t");
}

TEST_CASE("function_inliner: the overload selects among functions with one name") {
    const auto of = [](const char* op, const char* overload) {
        return test::function("d", "F", {"a"}, {"b"}, {test::node(op, {"a"}, {"b"})})
            .text(13, overload);
    };
    const auto result = inlined(with_functions({call("F", {"x"}, {"m"}, "f").text(8, "two"),
                                                call("F", {"m"}, {"y"}, "g").text(8, "one")},
                                               {of("Neg", "one"), of("Exp", "two")})
                                    .bytes());
    const stemma::wire_model model(result, "made");
    REQUIRE(model.node_count() == 2);
    CHECK(model.op_type(0) == "Exp");
    CHECK(model.op_type(1) == "Neg");
}

TEST_CASE("function_inliner: rejects operators of another version, and keeps imports") {
    const auto function = [](std::uint64_t version) {
        return test::function("d", "F", {"a"}, {"b"}, {test::node("Split", {"a"}, {"b"})})
            .inner(9, test::opset("", version));
    };
    const auto model = [&](std::uint64_t version) {
        return with_functions({call("F", {"x"}, {"y"}, "f")}, {function(version)}).bytes();
    };
    CHECK(inlined(model(17)) == plain({test::node("Split", {"x"}, {"y"})}));
    CHECK_THROWS_AS(inlined(model(18)), stemma::error);
    const auto body = test::graph_attribute(
        "then_branch", test::graph({test::node("ReduceMean", {"a"}, {"z"})}, {}, {"z"}));
    const auto branching = [&](std::uint64_t version) {
        const auto outer =
            test::function("d", "F", {"a"}, {"b"}, {test::owner_node("If", {"a"}, {"b"}, {body})})
                .inner(9, test::opset("", version));
        return with_functions({call("F", {"x"}, {"y"}, "f")}, {outer}).bytes();
    };
    CHECK_NOTHROW(inlined(branching(17)));
    CHECK_THROWS_AS(inlined(branching(18)), stemma::error);
    const auto odd =
        test::function("d", "F", {"a"}, {"b"}, {test::node("Odd", {"a"}, {"b"}, "", "e")})
            .inner(9, test::opset("e", 4));
    const auto in_domain = [](std::uint64_t version) {
        const auto outer =
            test::function("d", "F", {"a"}, {"b"},
                           {call("G", {"a"}, {"m"}, ""), call("Op", {"m"}, {"b"}, "")})
                .inner(9, test::opset("d", version));
        return with_functions(
                   {call("F", {"x"}, {"y"}, "f")},
                   {outer, test::function("d", "G", {"a"}, {"b"}, {test::node("Neg", {"a"}, {"b"})})
                               .inner(9, test::opset("d", 2))})
            .bytes();
    };
    CHECK_NOTHROW(inlined(in_domain(1)));
    CHECK_THROWS_WITH(inlined(in_domain(2)), Catch::Contains("uses 'Op' of version 2"));
    const auto text = inlined(with_functions({call("F", {"x"}, {"y"}, "f")}, {odd}).bytes());
    CHECK(stemma::wire_model(text).opset_imports().back().domain == "e");
    CHECK(stemma::wire_model(text).opset_imports().back().version == 4);
}

TEST_CASE("function_inliner: fixtures with functions of PyTorch become well-formed without them") {
    std::size_t opened = 0;
    for (const auto& file : test::model_files()) {
        const auto bytes = test::read_bytes(file);
        const stemma::wire_model before(bytes);
        if (before.functions().empty()) {
            continue;
        }
        CAPTURE(file);
        const auto text = inlined(bytes);
        const stemma::wire_model after(text);
        CHECK(after.functions().empty());
        CHECK(after.redefined().empty());
        for (stemma::id value = 0; value < after.value_count(); ++value) {
            CHECK(after.kind(value) != stemma::value_kind::undefined);
        }
        ++opened;
    }
    CHECK(opened > 5);
}

} // namespace test::fold_detail_function_inliner
