// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EXAMPLES_CLI_REPORT_HPP
#define STEMMA_EXAMPLES_CLI_REPORT_HPP

#include <stemma/onnx/module_statistics.hpp>
#include <stemma/onnx/summary.hpp>
#include <stemma/onnx/wire/attributed_model.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

/// Prints a label and what belongs to it on one line.
void print_row(std::string_view label, std::string_view text);

/// As many of the most frequent operators, three at most, as fit into a width.
std::string top_operators(const stemma::onnx_model& model,
                          const std::vector<stemma::module_statistics::operator_count>& counts,
                          std::size_t width);

/// Sums a model up; against the truth in the file `oracle` when that is not "".
stemma::tag_summary summarize(stemma::attributed_model& opened, const std::string& oracle);

/// The same of some nodes.
stemma::tag_summary summarize(stemma::attributed_model& opened, const std::string& oracle,
                              const std::vector<stemma::id>& nodes);

/// Prints a summary in a few lines.
void print_summary(const stemma::tag_summary& summary);

/// Prints a summary as `stemma.summary/1`.
void print_summary_json(const stemma::tag_summary& summary);

} // namespace cli

#endif // STEMMA_EXAMPLES_CLI_REPORT_HPP
