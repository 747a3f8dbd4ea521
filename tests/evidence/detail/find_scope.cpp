// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/find_scope.hpp>

#include "../../catch.hpp"
#include "../../operator_scene.hpp"

#include <stemma/evidence/detail/scoped_name.hpp>

#include <string>

namespace test::evidence_detail_find_scope {

using stemma::detail::is_own_result;

namespace {

/// A single operator whose result also has a name.
class one_operator : public test::operator_scene {
public:
    one_operator(const std::string& name, const std::string& type, std::string result,
                 std::string sum = "")
        : result_(std::move(result)), sum_(std::move(sum)) {
        add({}, name, type);
    }

    [[nodiscard]] std::string_view result_name(std::size_t) const { return result_; }

    [[nodiscard]] std::string_view sum_name(std::size_t) const { return sum_; }

    /// Its scope and, after a bar, the scope in which the operator fused with it ended; after a
    /// plus, that of a sum.
    [[nodiscard]] std::string scopes() const {
        const auto scope = stemma::detail::find_scope(*this, 0);
        const auto text = [](const auto& part) {
            return part ? (part->exact ? "" : "~") + std::string(part->scope) : std::string("-");
        };
        return text(scope.name) + (scope.end ? "|" + text(scope.end) : "") +
               (scope.sum ? "+" + text(scope.sum) : "");
    }

private:
    std::string result_;
    std::string sum_;
};

} // namespace

TEST_CASE("is_own_result: named after its operator, or without information") {
    CHECK(is_own_result("/fc/Add_output_0", "/fc/Add"));
    CHECK(is_own_result("logits", "/fc/Add"));
    CHECK(is_own_result("", "/fc/Add"));
    CHECK_FALSE(is_own_result("/act/Relu_output_0", "/fc/Add"));
    CHECK_FALSE(is_own_result("/fc/Add_1_output_0", "/fc/Add"));
}

TEST_CASE("find_scope: from the name, else from the result, else from remains of either") {
    CHECK(one_operator("/fc/Add", "Add", "/fc/Add_output_0").scopes() == "fc");
    CHECK(one_operator("n7", "Add", "/fc/Add_output_0").scopes() == "fc");
    CHECK(one_operator("n7", "Gemm", "/fc/Add_output_0").scopes() == "~fc");
    CHECK(one_operator("fused /fc/Add", "FusedGemm", "y").scopes() == "~fc");
    CHECK(one_operator("n7", "Add", "v7").scopes() == "-");
}

TEST_CASE("find_scope: a result in another scope shows what was fused at the end") {
    CHECK(one_operator("/conv/Conv", "FusedConv", "/act/Relu_output_0").scopes() == "~conv|~act");
    CHECK(one_operator("/conv/Conv", "Conv", "/act/Relu_output_0").scopes() == "~conv|~act");
    CHECK(one_operator("/conv/Conv", "Conv", "/conv/Relu_output_0").scopes() == "conv");
}

TEST_CASE("find_scope: what computes a gradient is in the scope of what it differentiates") {
    const auto* const result = "/enc/act/Relu_output_0_grad";
    CHECK(one_operator("/head/Gemm_Grad/MatMul_1", "MatMul", result).scopes() == "~head");
    CHECK(one_operator("Gemm_4_Grad/MatMul_1", "MatMul", result).scopes() == "~enc/act");
    CHECK(one_operator("n7", "MatMul", result).scopes() == "~enc/act");
}

TEST_CASE("find_scope: a sum that is returned as well has a scope of its own") {
    const auto scopes = [](const char* name, const char* result, const char* sum) {
        return one_operator(name, "Skip", result, sum).scopes();
    };
    CHECK(scopes("n7", "/b/norm/Div_output_0", "/a/Add_output_0") == "~b/norm+~a");
    CHECK(scopes("n7", "y", "/a/Add_output_0") == "~a+~a");
    CHECK(scopes("/b/norm/Skip", "y", "/a/Add_output_0") == "b/norm");
    CHECK(scopes("n7", "/b/norm/Div_output_0", "sum") == "~b/norm");
}

TEST_CASE("ends_in_own_scope: what was fused in behind is in the scope of the operator") {
    const auto ends = [](const char* name, const char* result) {
        return stemma::detail::ends_in_own_scope(one_operator(name, "FusedGemm", result), 0);
    };
    CHECK(ends("fused /fc/Gemm", "/fc/Relu_output_0"));
    CHECK_FALSE(ends("fused /fc/Gemm", "/fc/act/Relu_output_0"));
    CHECK_FALSE(ends("fused /fc/Gemm", "/act/Relu_output_0"));
    CHECK_FALSE(ends("/fc/Gemm", "/fc/Gemm_output_0"));
    CHECK_FALSE(ends("FusedGemm", "/fc/Relu_output_0"));
    CHECK_FALSE(ends("fused /fc/Gemm", "y"));
}

TEST_CASE("makes_transposed: the result has the name of a Transpose") {
    const auto makes = [](const char* result) {
        return stemma::detail::makes_transposed(one_operator("r", "ReorderOutput", result), 0);
    };
    CHECK(makes("/b/Transpose_1_output_0"));
    CHECK_FALSE(makes("/b/Add_output_0"));
    CHECK_FALSE(makes("Transpose"));
}

} // namespace test::evidence_detail_find_scope
