// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/transposed_module.hpp>

#include "../../catch.hpp"
#include "../../operator_scene.hpp"

#include <stemma/core/detail/vertices_by_index.hpp>
#include <stemma/core/id.hpp>

#include <vector>

namespace test::evidence_detail_transposed_module {

using stemma::id;
using stemma::no_id;

namespace {

/// A value that is transposed for a normalization of module 1, which reads it in two places.
struct network {
    test::operator_scene ops;
    std::vector<id> owner;
    id laid_out = add({add({}, "Add", no_id)}, "Transpose", no_id);
    id mean = add({laid_out}, "ReduceMean", 1);
    id norm = add({laid_out, mean}, "Sub", 1);

    id add(const std::vector<id>& inputs, const char* type, id module) {
        owner.push_back(module);
        return ops.add(inputs, "", type);
    }

    [[nodiscard]] id module_of(id v) const {
        const stemma::detail::vertices_by_index<test::operator_scene::graph_type> vertex(
            ops.graph());
        return stemma::detail::transposed_module(ops, vertex, owner, v);
    }
};

} // namespace

TEST_CASE("transposed_module: the only one between a Transpose and others") {
    network net;
    net.add({net.norm}, "Transpose", no_id);
    net.add({net.norm}, "Transpose", 2);
    CHECK(net.module_of(net.laid_out) == 1);
}

TEST_CASE("transposed_module: none if anything else reads the value or the result") {
    network result;
    result.add({result.norm}, "Transpose", no_id);
    result.add({result.mean}, "Relu", no_id);
    CHECK(result.module_of(result.laid_out) == no_id);
    network value;
    value.add({value.norm}, "Transpose", no_id);
    value.add({value.laid_out}, "Transpose", no_id);
    CHECK(value.module_of(value.laid_out) == no_id);
}

TEST_CASE("transposed_module: none if nothing transposes the result, or the value") {
    network end;
    CHECK(end.module_of(end.laid_out) == no_id);
    network other;
    other.add({other.norm}, "Transpose", no_id);
    CHECK(other.module_of(other.norm) == no_id);
}

} // namespace test::evidence_detail_transposed_module
