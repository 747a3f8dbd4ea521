// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EXAMPLES_CLI_COMMON_HPP
#define STEMMA_EXAMPLES_CLI_COMMON_HPP

#include <stemma/core/parallel.hpp>
#include <stemma/core/query.hpp>
#include <stemma/onnx/summary.hpp>
#include <stemma/onnx/wire/attributed_model.hpp>

#include <CLI/CLI.hpp>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

/// Exit status, the same for every command.
enum exit_status : int {
    done = 0,
    found_something = 1, ///< a check found something, or what was asked for is not there
    bad_usage = 2,
    bad_input = 3,
    cannot_write = 4,
};

/// What every command takes.
struct common_options {
    std::string model;
    stemma::attribution_options attribution;
    std::string format = "text";
    bool quiet = false;
    unsigned threads = 0; ///< 0: as many as the machine has
};

/// What a command does when it was chosen on the command line.
using action = std::function<int()>;

/// Adds MODEL, the options that say how nodes are attributed, `--format` and `--quiet`.
void add_common_options(CLI::App& command, common_options& options,
                        const std::string& formats = "text,json");

/// Opens a model, and says on standard error what a user should know of how it went.
std::unique_ptr<stemma::attributed_model>
open_model(const common_options& options,
           const std::function<void(const stemma::wire_model&)>& meanwhile = {});

/// Returns: the modules that a query asks for (see docs/query.md; `encoder.layer.*`,
/// `/Net/Block.*`), in the order of the tree, without those that lie below another one. Throws:
/// `stemma::error` of `not_found` when there are none, naming what is like it; of `refused` when
/// the query cannot be read or asks about nodes.
std::vector<stemma::id> find_modules(const stemma::attributed_model& opened,
                                     std::string_view pattern);

/// Returns: the nodes that a query asks for, ascending. Throws: as above.
std::vector<stemma::id> find_nodes(const stemma::attributed_model& opened, std::string_view text);

/// Throws the `stemma::error` that says why nothing fits a query.
[[noreturn]] void refuse_unmatched(const stemma::attributed_model& opened,
                                   const stemma::query& asked);

/// Returns: `#7`, or `5/body#2` for a node of a body.
std::string position_text(const stemma::onnx_model& model, stemma::id node);

/// Returns: the nodes of a module and of all below it, ascending.
std::vector<stemma::id> nodes_of(const stemma::attributed_model& opened, stemma::id module);

/// Adds `--threads`, to commands that can use several.
void add_threads_option(CLI::App& command, common_options& options);

/// Adds `--data`, to commands that write models; what `data` holds is the default.
void add_data_option(CLI::App& command, std::string& data);

/// Adds `--no-sync`, to commands that write files.
void add_no_sync_option(CLI::App& command, bool& no_sync);

/// Returns: how many threads a command may use.
stemma::thread_limit threads_of(const common_options& options);

/// Prints a message to standard error unless the command is quiet.
void note(const common_options& options, std::string_view text);

/// Standard output as a sink for reports.
struct standard_output {
    void write(std::string_view text);
};

/// Adds one command; each stands in a file of its own name.
void add_analyze(CLI::App& app, action& chosen);
void add_compare(CLI::App& app, action& chosen);
void add_cut(CLI::App& app, action& chosen);
void add_dag(CLI::App& app, action& chosen);
void add_explain(CLI::App& app, action& chosen);
void add_export(CLI::App& app, action& chosen);
void add_manual(CLI::App& app, action& chosen);
void add_join(CLI::App& app, action& chosen);
void add_fold(CLI::App& app, action& chosen);
void add_query(CLI::App& app, action& chosen);
void add_split(CLI::App& app, action& chosen);
void add_strip(CLI::App& app, action& chosen);
void add_tag(CLI::App& app, action& chosen);
void add_tree(CLI::App& app, action& chosen);
void add_unfold(CLI::App& app, action& chosen);
void add_validate(CLI::App& app, action& chosen);

} // namespace cli

#endif // STEMMA_EXAMPLES_CLI_COMMON_HPP
