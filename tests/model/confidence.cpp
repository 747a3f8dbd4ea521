// SPDX-License-Identifier: Apache-2.0
#include <stemma/model/confidence.hpp>

#include "../catch.hpp"

#include <stemma/model/attribution.hpp>
#include <stemma/record/summary.hpp>

#include <algorithm>

namespace test::model_confidence {

namespace confidence = stemma::detail::confidence;

TEST_CASE("confidence: guesses are unsure, and an exporter's statement is sure") {
    using namespace confidence;
    CHECK(std::min({metadata, function_call, scope, scope_read, recorded, aligned_reader}) >= sure);
    CHECK(std::max({function_body, main_graph, scope_nth, scope_hidden, scope_numbered, scope_unfit,
                    shallow, parameter, region, leftover, folded, class_tag, readers, related_sides,
                    both_sides, bodies, skip_connection}) < sure);
    CHECK(std::max({foreign_function, tied_parameter, aligned_against, producers_alone, nearest}) <=
          common_ancestor);
}

TEST_CASE("confidence: more evidence of a kind is surer than less") {
    using namespace confidence;
    CHECK(scope_read > scope);
    CHECK(scope > scope_call);
    CHECK(scope_call > scope_nth);
    CHECK(function_call > function_leaf);
    CHECK(function_leaf > function_body);
    CHECK(parameter > region);
    CHECK(leftover_of_both > leftover);
    CHECK(recorded > recorded_alone);
    CHECK(capture_flaw > capture_doubt);
    CHECK(capture_doubt > capture_of_other);
    CHECK(both_sides > related_sides);
    CHECK(related_sides > readers_alone);
    CHECK(entry_folded > entry_below);
    CHECK(entry_unpaired < entry_guessed);
}

TEST_CASE("confidence: thresholds separate what their names say") {
    stemma::attribution root{.module = 0, .confidence = confidence::sure_of_root};
    CHECK(stemma::detail::is_tagged(root));
    root.confidence = confidence::common_ancestor;
    CHECK_FALSE(stemma::detail::is_tagged(root));
    const stemma::attribution below{.module = 1, .confidence = confidence::common_ancestor};
    CHECK(stemma::detail::is_only_below(below));
}

} // namespace test::model_confidence
