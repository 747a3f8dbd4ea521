// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EXAMPLES_CLI_EXPLANATION_TEXT_HPP
#define STEMMA_EXAMPLES_CLI_EXPLANATION_TEXT_HPP

#include <stemma/open/attributed_model.hpp>
#include <stemma/report/explanation.hpp>
#include <stemma/report/source_text.hpp>

#include <string>

namespace cli {

/// Returns: the output of `explain` for an answer, with shades; source lines from `texts`, if any.
std::string explanation_text(const stemma::attributed_model& opened,
                             const stemma::explainer& explainer, const stemma::explanation& answer,
                             stemma::source_folder* texts = nullptr);

} // namespace cli

#endif // STEMMA_EXAMPLES_CLI_EXPLANATION_TEXT_HPP
