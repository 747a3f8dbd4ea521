// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EXAMPLES_CLI_GRAPHVIZ_HPP
#define STEMMA_EXAMPLES_CLI_GRAPHVIZ_HPP

#include <string>
#include <string_view>

namespace cli {

/// Returns: what Graphviz draws of a text in its language, as SVG. Throws: `stemma::error` of
/// `cannot_write` when the program `dot` is not there, or fails.
std::string draw_svg(std::string_view dot);

} // namespace cli

#endif // STEMMA_EXAMPLES_CLI_GRAPHVIZ_HPP
