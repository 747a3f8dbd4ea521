// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/transposed_module.hpp>

#include "../../catch.hpp"
#include "../../region_scene.hpp"

#include <stemma/core/id.hpp>

#include <string>

namespace test::evidence_detail_transposed_module {

using stemma::id;

namespace {

/// A value that is transposed for a normalization, which reads it in two places.
struct network : test::region_scene<> {
    id laid_out = add({add()}, "", "Transpose");
    id mean = add({laid_out}, "norm", "ReduceMean");
    id norm = add({laid_out, mean}, "norm", "Sub");

    [[nodiscard]] std::string module_of(id v) const {
        const test::region_knowledge known(*this);
        return known.path(stemma::detail::transposed_module(known.facts, v));
    }
};

} // namespace

TEST_CASE("transposed_module: the only one between a Transpose and others") {
    network net;
    net.add({net.norm}, "", "Transpose");
    net.add({net.norm}, "other", "Transpose");
    CHECK(net.module_of(net.laid_out) == "norm");
}

TEST_CASE("transposed_module: none if anything else reads the value or the result") {
    network result;
    result.add({result.norm}, "", "Transpose");
    result.add({result.mean}, "", "Relu");
    CHECK(result.module_of(result.laid_out) == "none");
    network value;
    value.add({value.norm}, "", "Transpose");
    value.add({value.laid_out}, "", "Transpose");
    CHECK(value.module_of(value.laid_out) == "none");
}

TEST_CASE("transposed_module: none if nothing transposes the result, or the value") {
    network end;
    CHECK(end.module_of(end.laid_out) == "none");
    network other;
    other.add({other.norm}, "", "Transpose");
    CHECK(other.module_of(other.norm) == "none");
}

} // namespace test::evidence_detail_transposed_module
