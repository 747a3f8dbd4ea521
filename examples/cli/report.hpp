// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EXAMPLES_CLI_REPORT_HPP
#define STEMMA_EXAMPLES_CLI_REPORT_HPP

#include "common.hpp"

#include <stemma/onnx/carrier.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma/record/module_statistics.hpp>
#include <stemma/record/summary.hpp>
#include <stemma/report/line_table.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

/// Prints a labelled line.
void print_row(std::string_view label, std::string_view text);

/// Returns: the path of a module for people; "the root" for the root.
std::string path_text(const stemma::attributed_model& opened, stemma::id m);

/// Returns: the position of a source line for people, in a shade.
std::string source_text(const stemma::line_row& row);

/// The most frequent operators, at most three, as far as they fit into a width.
std::string top_operators(const stemma::onnx_model& model,
                          const std::vector<stemma::module_statistics::operator_count>& counts,
                          std::size_t width);

/// Prints a summary in a few lines.
void print_summary(const stemma::tag_summary& summary, std::size_t nodes);

/// Whether a command prints a report for people.
[[nodiscard]] inline bool prints_text(const common_options& options) {
    return options.format == "text" && !options.quiet;
}

/// Where `tag` and `carry` write tags, and how.
struct tag_output {
    output_options file{.path = ""};
    std::string carriers = "metadata,mark";
    std::string sidecar;
    bool name_nodes = false;
};

/// Writes the sidecar, the tagged file and the summary that are asked for, and forgets the
/// evidence.
void write_tags(const common_options& options, const tag_output& output,
                stemma::attributed_model& opened, const stemma::tag_summary& summary,
                const stemma::carrier_set& carriers);

/// Prints the accuracy, if there was a truth to compare with.
void print_accuracy(const stemma::tag_summary& summary);

} // namespace cli

#endif // STEMMA_EXAMPLES_CLI_REPORT_HPP
