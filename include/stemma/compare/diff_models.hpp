// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_COMPARE_DIFF_MODELS_HPP
#define STEMMA_COMPARE_DIFF_MODELS_HPP

#include <stemma/compare/detail/model_differ.hpp>
#include <stemma/compare/diff_options.hpp>
#include <stemma/compare/model_diff.hpp>
#include <stemma/open/attributed_model.hpp>

namespace stemma::inline STEMMA_ABI {

/// Finds the differences between two models, module by module.
///  Modules are matched by path, class, operators and weights, nodes by function and place, not
/// necessarily by name. Changes are reported for the innermost module, so that one edit affects one
/// module. Attributions that differ only for lack of evidence are no change.
/// Throws: `error` if external data cannot be read, or as `options.check()`.
/// Complexity: O((V + E) log V + modules log modules), and O(data) of weights read by partners.
[[nodiscard]] inline model_diff diff_models(const attributed_model& first,
                                            const attributed_model& second,
                                            const diff_options& options = {}) {
    options.check();
    return detail::model_differ(first, second, options).run();
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_COMPARE_DIFF_MODELS_HPP
