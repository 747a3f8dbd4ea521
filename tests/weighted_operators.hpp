// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TESTS_WEIGHTED_OPERATORS_HPP
#define STEMMA_TESTS_WEIGHTED_OPERATORS_HPP

#include "operator_scene.hpp"

#include <stemma/core/id.hpp>

#include <string_view>
#include <vector>

namespace test {

/// Operators whose parameters are weights, except those with "shape" in their name; `a'` is `a`
/// under another name.
struct weighted_operators : operator_scene {
    void keep_matrices(std::vector<bool>& marked) const {
        for (stemma::id p = 0; p < marked.size(); ++p) {
            marked[p] = parameter_name(p).find("shape") == std::string_view::npos;
        }
    }

    [[nodiscard]] stemma::id initializer_of(stemma::id p) const {
        auto name = parameter_name(p);
        name.remove_suffix(name.ends_with("'") ? 1 : 0);
        stemma::id origin = 0;
        while (parameter_name(origin) != name) {
            ++origin;
        }
        return origin;
    }
};

} // namespace test

#endif // STEMMA_TESTS_WEIGHTED_OPERATORS_HPP
