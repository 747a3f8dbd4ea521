// SPDX-License-Identifier: Apache-2.0
#include <stemma/cut/detail/edited_types.hpp>

#include "../../catch.hpp"
#include "../../edited_split.hpp"

#include <stemma/error.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace test::cut_detail_edited_types {

namespace {

constexpr int unknown = 0;
constexpr int float16 = 10;

std::string scalar(const std::string& name, int element) {
    auto info = test::value_info(name).bytes();
    info[info.find("\x08\x01") + 1] = static_cast<char>(element);
    return info;
}

/// A declaration of a value, so far a float32, as another scalar.
struct edit {
    int part;
    std::string name;
    int element;
};

/// Returns: why the edited parts do not fit together, or the part that changes the output `y`.
std::string result_of(const std::vector<edit>& edits) {
    test::edited_split split;
    for (const auto& [part, name, element] : edits) {
        split.replace(part, scalar(name, 1), scalar(name, element));
    }
    const auto folder = split.open();
    const stemma::detail::edited_tensors tensors(*folder);
    const stemma::detail::edited_nodes nodes(*folder, tensors);
    try {
        const stemma::detail::edited_types types(*folder, nodes, tensors);
        const auto source = scalar("y", 1);
        const auto changed = types.find_changed("y", std::string_view(source).substr(5));
        return changed.info == nullptr ? "fits" : "changed by " + std::to_string(changed.part);
    } catch (const stemma::error& e) {
        CHECK(e.code() == stemma::error_code::refused);
        return e.what();
    }
}

} // namespace

TEST_CASE("edited_types: what a part gives is what the others read", "[onnx][edited_types]") {
    CHECK(result_of({}) == "fits");
    CHECK_THAT(result_of({{0, "a", float16}}),
               Catch::Contains("0.onnx: gives 'a' as float16[], which '") &&
                   Catch::Contains("1.onnx' reads as float32[]"));
    CHECK_THAT(result_of({{1, "a", float16}}),
               Catch::Contains("1.onnx: reads 'a' as float16[], which '") &&
                   Catch::Contains("0.onnx' gives as float32[]"));
    CHECK(result_of({{0, "a", float16}, {1, "a", float16}}) == "fits");
    CHECK(result_of({{0, "a", unknown}}) == "fits");
}

TEST_CASE("edited_types: inputs of the model keep their type, outputs may change it",
          "[onnx][edited_types]") {
    CHECK_THAT(result_of({{0, "x", float16}}),
               Catch::Contains("0.onnx: reads 'x' as float16[], which the model takes as float32"));
    CHECK(result_of({{1, "y", float16}}) == "changed by 1");
    CHECK(result_of({{1, "y", unknown}}) == "fits");
}

} // namespace test::cut_detail_edited_types
