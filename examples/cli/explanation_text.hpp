// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EXAMPLES_CLI_EXPLANATION_TEXT_HPP
#define STEMMA_EXAMPLES_CLI_EXPLANATION_TEXT_HPP

#include <stemma/open/attributed_model.hpp>
#include <stemma/report/explanation.hpp>

#include <string>

namespace cli {

/// Returns: what `explain` prints for an answer, lines with shades.
std::string explanation_text(const stemma::attributed_model& opened,
                             const stemma::explainer& explainer, const stemma::explanation& answer);

} // namespace cli

#endif // STEMMA_EXAMPLES_CLI_EXPLANATION_TEXT_HPP
