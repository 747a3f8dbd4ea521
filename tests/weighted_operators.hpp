// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TESTS_WEIGHTED_OPERATORS_HPP
#define STEMMA_TESTS_WEIGHTED_OPERATORS_HPP

#include "operator_scene.hpp"

#include <stemma/core/id.hpp>

#include <string_view>
#include <vector>

namespace test {

/// Operators whose parameters are weights, except those with "shape" in their name; one with a `'`
/// passes on the one before.
struct weighted_operators : operator_scene {
    void keep_matrices(std::vector<bool>& marked) const {
        for (stemma::id p = 0; p < marked.size(); ++p) {
            marked[p] = parameter_name(p).find("shape") == std::string_view::npos;
        }
    }

    [[nodiscard]] stemma::id initializer_of(stemma::id p) const {
        return parameter_name(p).ends_with("'") ? p - 1 : p;
    }
};

} // namespace test

#endif // STEMMA_TESTS_WEIGHTED_OPERATORS_HPP
