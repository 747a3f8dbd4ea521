// SPDX-License-Identifier: Apache-2.0
#include <stemma/model/detail/stated_module.hpp>

#include "../../catch.hpp"

#include <stemma/core/id.hpp>
#include <stemma/model/attribution.hpp>

#include <vector>

namespace test::model_detail_stated_module {

using stemma::claim;
using stemma::id;
using stemma::no_id;
using stemma::provenance;

TEST_CASE("stated_module: nothing is stated unless said otherwise") {
    const stemma::detail::stated_module unknown;
    CHECK(unknown.module == stemma::no_id);
    CHECK(unknown.confidence == 0);
    CHECK_FALSE(unknown.settled);
}

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

const claim sure{1, no_id, 0.95F, provenance::scope};
const claim unsure{1, no_id, 0.8F, provenance::scope};
const claim inexact{1, no_id, 0.95F, provenance::metadata, false};
const claim parameter{1, no_id, 0.95F, provenance::parameter};
const claim leftover{1, no_id, 0.95F, provenance::leftover};

} // namespace

TEST_CASE("stated_by: a node is settled if a source of the file is sure of exactly one module") {
    auto doubtful = sure;
    doubtful.doubtful = true;
    const given all{
        {{sure}, {}, {unsure}, {inexact}, {parameter}, {doubtful}, {sure, sure}, {leftover}}};
    std::vector<bool> settled;
    for (const auto& one : stemma::detail::stated_by(all, static_cast<id>(all.claims.size()))) {
        settled.push_back(one.settled);
    }
    CHECK(settled == std::vector<bool>{true, false, false, false, false, false, false, false});
}

TEST_CASE("stated_by: names and metadata state a module, unless they contradict each other") {
    auto other = leftover;
    other.module = 2;
    const given all{
        {{sure}, {unsure, parameter}, {leftover}, {inexact}, {parameter}, {sure, other}}};
    std::vector<id> modules;
    const auto stated = stemma::detail::stated_by(all, static_cast<id>(all.claims.size()));
    for (const auto& one : stated) {
        modules.push_back(one.module);
    }
    CHECK(modules == std::vector<id>{1, 1, 1, no_id, no_id, no_id});
    CHECK(stated[1].confidence == unsure.confidence);
}

} // namespace test::model_detail_stated_module
