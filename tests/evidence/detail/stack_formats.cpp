// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/stack_formats.hpp>

#include "../../catch.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace test::evidence_detail_stack_formats {

using stemma::detail::read_stack;
using stemma::detail::told_frame;

namespace {

/// Returns: frames as `file:line function|text`, preceded by the format.
std::vector<std::string> read(std::string_view text) {
    std::vector<told_frame> frames;
    const auto* format = read_stack(text, frames);
    std::vector<std::string> all;
    if (format != nullptr) {
        all.emplace_back(format->name);
    }
    for (const auto& one : frames) {
        all.push_back(std::string(one.file) + ":" + std::to_string(one.line) + " " +
                      std::string(one.function) + "|" + std::string(one.text));
    }
    return all;
}

using list = std::vector<std::string>;

} // namespace

TEST_CASE("read_stack: Python's traceback ends with the innermost frame") {
    CHECK(read("File \"/a/net.py\", line 12, in forward\n    x = self.fc(x)\n"
               "  File \"/v/linear.py\", line 125, in forward\n    return F.linear(x)") ==
          list{"traceback", "/v/linear.py:125 forward|    return F.linear(x)",
               "/a/net.py:12 forward|    x = self.fc(x)"});
    // Without source lines, with a repeated frame, and with more than one line.
    CHECK(read("  File \"a.py\", line 1, in f\n  File \"a.py\", line 2, in <listcomp>\n") ==
          list{"traceback", "a.py:2 <listcomp>|", "a.py:1 f|"});
    CHECK(read("  File \"a.py\", line 1, in f\n    g(\n    ~^\n  [Previous line repeated 3 more "
               "times]\n"
               "  File \"a.py\", line 9, in g\n    x)\r\n") ==
          list{"traceback", "a.py:9 g|    x)", "a.py:1 f|    g("});
}

TEST_CASE("read_stack: a source line that looks like a frame is not one") {
    CHECK(read("File \"a.py\", line 7, in f\n    File \"b.py\", line 8, in g") ==
          list{"traceback", "a.py:7 f|    File \"b.py\", line 8, in g"});
}

TEST_CASE("read_stack: a location in TorchScript is underlined") {
    CHECK(read("  File \"/a/net.py\", line 15\n    def forward(self, x):\n        y = F.gelu(y)\n"
               "            ~~~~~~ <--- HERE\n        y = g(\n") ==
          list{"highlight", "/a/net.py:15 |        y = F.gelu(y)"});
    CHECK(read("  File \"code/__torch__/net.py\", line 9\nSerialized   File \"code/x.py\", line 2\n"
               "    y = z\n    ~~~~~ <--- HERE\n") ==
          list{"highlight", "code/__torch__/net.py:9 |"});
}

TEST_CASE("read_stack: a traced stack begins with the innermost frame, and ends where it was run") {
    CHECK(read("/v/torch/nn/modules/linear.py(114): forward\n/a/my (1) net.py(14): forward\n"
               "/v/torch/jit/_trace.py(118): wrapper\n/a/export.py(3): <module>\n") ==
          list{"calls", "/v/torch/nn/modules/linear.py:114 forward|",
               "/a/my (1) net.py:14 forward|"});
    CHECK(read("a.py(3): f\nstemma#1x") == list{"calls", "a.py:3 f|"});
    // What the exporter added itself comes from no line of the model.
    CHECK(read("/v/torch/onnx/utils.py(114): export\n/a/export.py(3): <module>\n") ==
          list{"calls", "/v/torch/onnx/utils.py:114 export|"});
}

TEST_CASE("read_stack: reads a single location") {
    CHECK(read("# /a/net.py:31:15") == list{"place", "/a/net.py:31 |"});
    CHECK(read("C:\\a\\net.py:31:0") == list{"place", "C:\\a\\net.py:31 |"});
    CHECK(read("/a/net.py:0:3").empty());
    CHECK(read("see net.txt:3:1").empty());
}

TEST_CASE("read_stack: rejects other texts") {
    const std::vector<std::string> table{"",
                                         "\n\n\n",
                                         "a layer",
                                         "File \"a.py\", line , in f",
                                         "File \"a.py\", line 0, in f",
                                         "File \"a.py\", line 99999999999999999999, in f",
                                         "File \"a.py\", line 3x, in f",
                                         "File \"\", line 3, in f",
                                         "a.py(): f",
                                         "(3): f",
                                         "a.py(3):f",
                                         std::string(1U << 21U, 'x'),
                                         "File \"" + std::string(5000, 'a') + "\", line 3, in f",
                                         "File \"a\x1b[31m.py\", line 3, in f",
                                         "File \"a.py\", line 3, in f\x07",
                                         "File \"a\xff.py\", line 3, in f"};
    for (const auto& text : table) {
        INFO(text.substr(0, 40));
        CHECK(read(text).empty());
    }
}

TEST_CASE("read_stack: truncates a very deep stack") {
    std::string text;
    for (int i = 1; i <= 5000; ++i) {
        text.append("File \"a.py\", line ").append(std::to_string(i)).append(", in f\n");
    }
    const auto all = read(text);
    REQUIRE(all.size() == 2049);
    CHECK(all[1] == "a.py:5000 f|");
}

} // namespace test::evidence_detail_stack_formats
