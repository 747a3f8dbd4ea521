// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_COMPARE_DIFF_MODELS_HPP
#define STEMMA_COMPARE_DIFF_MODELS_HPP

#include <stemma/compare/detail/model_differ.hpp>
#include <stemma/compare/diff_options.hpp>
#include <stemma/compare/model_diff.hpp>
#include <stemma/open/attributed_model.hpp>

namespace stemma::inline STEMMA_ABI {

/// Says how two models differ, module by module.
///
/// Modules are partners by path, class, operators and weights, nodes by what they do and where;
/// neither need have the same name. A module is named for what stands in it and not in modules
/// below it, so that one edit names one module. Of what is attributed to another module by the
/// evidence of one model alone nothing is said.
/// Throws: `error` where external data cannot be read.
/// Complexity: O((V + E) log V + modules log modules), and O(data) of weights that partners read.
[[nodiscard]] inline model_diff diff_models(const attributed_model& first,
                                            const attributed_model& second,
                                            const diff_options& options = {}) {
    return detail::model_differ(first, second, options).run();
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_COMPARE_DIFF_MODELS_HPP
