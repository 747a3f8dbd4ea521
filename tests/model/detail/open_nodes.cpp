// SPDX-License-Identifier: Apache-2.0
#include <stemma/model/detail/open_nodes.hpp>

#include "../../catch.hpp"

#include <stemma/core/id.hpp>
#include <stemma/model/attribution.hpp>

#include <vector>

namespace test::model_detail_open_nodes {

using stemma::claim;
using stemma::id;
using stemma::no_id;
using stemma::provenance;

namespace {

/// Prepared claims, by node.
struct given {
    std::vector<std::vector<claim>> claims;

    template <class Function>
    void for_each_claim(id node, Function f) const {
        for (const auto& one : claims[node]) {
            f(one);
        }
    }
};

} // namespace

TEST_CASE("find_open: a node is closed if a source of the file is sure of exactly one module") {
    const claim sure{1, no_id, 0.95F, provenance::scope};
    const claim unsure{1, no_id, 0.8F, provenance::scope};
    const claim inexact{1, no_id, 0.95F, provenance::metadata, false};
    const claim parameter{1, no_id, 0.95F, provenance::parameter};
    auto doubtful = sure;
    doubtful.doubtful = true;
    const given all{{{sure}, {}, {unsure}, {inexact}, {parameter}, {doubtful}, {sure, sure}}};
    CHECK(stemma::detail::find_open(all, static_cast<id>(all.claims.size())) ==
          std::vector<bool>{false, true, true, true, true, true, true});
}

} // namespace test::model_detail_open_nodes
