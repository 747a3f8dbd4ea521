// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EXAMPLES_CLI_COMMON_HPP
#define STEMMA_EXAMPLES_CLI_COMMON_HPP

#include "terminal.hpp"

#include <stemma/core/parallel.hpp>
#include <stemma/cost/model_cost.hpp>
#include <stemma/error.hpp>
#include <stemma/io/output_file.hpp>
#include <stemma/onnx/write_rope.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma/open/policy_names.hpp>
#include <stemma/query/find_modules.hpp>

#include <CLI/CLI.hpp>

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace cli {

/// Exit status, the same for every command.
enum exit_status : int {
    done = 0,
    found_something = 1, ///< a check found something, or nothing matched
    bad_usage = 2,
    bad_input = 3,
    cannot_write = 4,
};

/// Returns: why a number is not 1 or more; "" if it is.
inline std::string one_or_more(const std::string& text) {
    const bool digits = text.find_first_not_of("0123456789") == text.npos;
    return digits && text.find_first_not_of('0') != text.npos
               ? std::string()
               : "'" + text + "' is not a positive integer";
}

/// Returns: why a number is not 0 or more; "" if it is.
inline std::string zero_or_more(const std::string& text) {
    return text.find_first_not_of("0123456789") == text.npos
               ? std::string()
               : "'" + text + "' is not a non-negative integer";
}

/// Returns: why a text is no number in [0, most]; "" if it is.
std::string number_up_to(const std::string& text,
                         double most = std::numeric_limits<double>::infinity());

struct command_rules;

/// Returns: the error of a request that makes no sense: of which option or command, and why.
inline stemma::error refused(const std::string& what, const std::string& why) {
    return {stemma::error_code::refused, "", what, why};
}

/// Options of every command.
struct common_options {
    std::string model;
    std::vector<std::string> captures;       ///< paths
    stemma::attribution_options attribution; ///< but for captures and policies
    stemma::policy_names policies;
    std::string format = "text";
    bool quiet = false;
    std::shared_ptr<const command_rules> rules; ///< of the command
};

/// Where a command writes its output, and how.
struct output_options {
    std::string path = "-"; ///< `-`: standard output, if the command allows it
    std::string data = "keep";
    bool force = false;
    bool no_sync = false;
    std::vector<std::string> with{}; ///< what is stored besides tags
    bool full_paths = false;         ///< of source lines
};

/// Returns: the origins of initializers for `write_options::parameters`, if `--with` asks for them.
[[nodiscard]] std::vector<std::string> parameters_to_write(const output_options& options,
                                                           const stemma::attributed_model& opened);

/// Returns: how source lines are stored, from `--with` and `--full-paths`.
/// Throws: `stemma::error` (`refused`) if these are invalid.
[[nodiscard]] stemma::written_sources sources_to_write(const output_options& options);

/// Runs the command chosen on the command line.
using action = std::function<int()>;

/// Returns: the program's policies by name. Requires: `run_program` was called.
const stemma::onnx_policy_registry& known_policies();

/// An option that only fits some others.
struct option_rule {
    const CLI::Option* option;
    std::function<bool()> fits;
    std::string why; ///< the message if it is given although it does not fit
};

/// What is checked before a command runs.
struct command_rules {
    const CLI::App* command = nullptr;
    const std::string* model = nullptr; ///< the file that it reads
    bool in_place = false;              ///< the first output may replace the model
    unsigned threads = 1;               ///< at most; 0: as many as the machine has
    std::vector<std::pair<std::string, const std::string*>> outputs{}; ///< with their options
    std::vector<option_rule> options{};
};

/// Sends reports to standard error if an output is a file that standard output leads to.
void make_way_for_outputs(const command_rules& rules);

/// Throws: `stemma::error` (`refused`) if an option does not fit the others, and if an output would
/// replace another one or a file that the command line names.
void check_rules(const command_rules& rules);

/// Returns: the files that the command line names, but for outputs.
[[nodiscard]] std::vector<std::string> files_read(const command_rules& rules);

/// Throws: `stemma::error` (`refused`) if an output, named by an option or made up, would replace a
/// file that the command line names, other than the model if that is allowed.
void check_output(const command_rules& rules, const std::string& option, const std::string& path,
                  bool may_be_model = false);

/// Declares the options of a command.
class command_line {
public:
    explicit command_line(CLI::App& command) : command_(command) { rules_->command = &command; }

    /// Valid when all options are declared.
    [[nodiscard]] std::shared_ptr<const command_rules> rules() const { return rules_; }

    /// Adds an option with a value, called `type` in the help, which shows the default, if any.
    template <class Value>
    CLI::Option* value(const char* names, Value& to, const std::string& type,
                       const std::string& text, const std::string& shown_default = "") const {
        auto* option = command_.add_option(names, to, text)->type_name(type);
        if constexpr (std::is_unsigned_v<Value>) {
            option->check(zero_or_more);
        }
        return shown_default.empty() ? option : option->default_str(shown_default);
    }

    /// The same with an integer of 1 or more.
    template <class Value>
    CLI::Option* positive(const char* names, Value& to, const std::string& type,
                          const std::string& text) const {
        return command_.add_option(names, to, text)->type_name(type)->check(one_or_more);
    }

    /// The same with several comma-separated values.
    template <class Value>
    CLI::Option* list(const char* names, Value& to, const std::string& type,
                      const std::string& text) const {
        return value(names, to, type, text)->delimiter(',')->allow_extra_args(false);
    }

    /// The same with a choice of words, separated by `|` or `,`; `to` holds the default.
    CLI::Option* choice(const char* names, std::string& to, const std::string& words,
                        const std::string& text) const;

    /// Adds a required argument.
    template <class Value>
    void argument(const char* name, Value& to, const std::string& text) const {
        command_.add_option(name, to, text)->required();
    }

    CLI::Option* flag(const char* names, bool& to, const std::string& text) const {
        return command_.add_flag(names, to, text);
    }

    /// Refuses a declared option, with the reason, if it is given and `fits()` is false.
    void applies(const std::string& name, std::string why, std::function<bool()> fits) const {
        rules_->options.push_back({command_.get_option(name), std::move(fits), std::move(why)});
    }
    /// As above, for an option that only applies to one format of results.
    void applies_to(const std::string& name, const common_options& options,
                    const char* format) const {
        applies(name, std::string("requires --format ") + format,
                [&options, format] { return options.format == format; });
    }

    /// Refuses options of an output that is not asked for, where it is optional.
    void needs_output(const std::string& output, const std::string& sidecar) const;

    /// Ends the help.
    void footer(const std::string& text) const { command_.footer(text); }

    /// Adds MODEL (or another name), the attribution options, `--format` and `--quiet`.
    void common(common_options& options, const std::string& formats = "text,json",
                const char* model_name = "MODEL") const;

    /// Adds MODEL.
    void model(std::string& path, const char* name = "MODEL") const {
        argument(name, path, "an ONNX file");
        rules_->model = &path;
    }
    /// Adds an option for a file or folder to write. `to` holds `-` if standard output will do.
    CLI::Option* written(const char* names, std::string& to, const std::string& type,
                         const std::string& text, const std::string& shown_default = "") const;
    /// For commands whose first output may be MODEL.
    void in_place() const { rules_->in_place = true; }
    /// Adds `-m`.
    void captures(std::vector<std::string>& to, const char* text) const {
        value("-m,--modules", to, "CAPTURE", text)->allow_extra_args(false);
    }
    /// Adds `--format` if there are several; `to` holds the default.
    void format(std::string& to, const std::string& formats) const {
        if (formats.find(',') != formats.npos) {
            choice("--format", to, formats, "format of results");
        }
    }
    /// Adds `-q`.
    void quiet(bool& to, const char* text = "no messages except errors") const {
        flag("-q,--quiet", to, text);
    }
    /// Adds `--threads`, for multithreaded commands.
    void threads() const {
        rules_->threads = 0;
        value("--threads", rules_->threads, "N",
              "number of threads; 0: one per processor, at most 8", "0");
    }
    /// Adds a required `-o`.
    void output(std::string& to, const char* text) const {
        to.clear();
        written("-o,--output", to, "OUT", text)->required();
    }
    /// Adds `-o` and `--no-sync`, for commands that write to standard output by default.
    void output(output_options& to) const;
    /// Adds `--data` and `--force`, for commands that write models.
    void data(output_options& to) const {
        data(to.data);
        flag("--force", to.force, "replace existing files beside OUT");
    }
    /// Adds `--data`; `to` holds the default.
    void data(std::string& to) const {
        choice("--data", to, "keep|link|copy", "external weights: keep, link or copy them");
    }
    /// Adds `--dim`, for commands that compute costs.
    void dims(std::vector<std::string>& to, const std::string& text) const {
        value("--dim", to, "NAME=N", text)->allow_extra_args(false);
    }
    /// Adds `--oracle`, for commands that report accuracy.
    void oracle(std::string& to) const {
        value("--oracle", to, "TRUTH|SOURCE",
              "compare with the truth in a file, or with a source of evidence");
    }
    /// Adds `--with` and `--full-paths`, for commands that write tags.
    void with(output_options& to) const;
    /// Adds `--no-sync`, for commands that write files.
    void no_sync(bool& to) const { flag("--no-sync", to, "do not fsync"); }

private:
    CLI::App& command_;
    std::shared_ptr<command_rules> rules_ = std::make_shared<command_rules>();
};

/// Declares a command that calls `run(options)`; `declare(takes, options)` declares its options.
template <class Options, class Run, class Declare>
void add_command(CLI::App& app, action& chosen, const char* name, const char* description, Run run,
                 Declare declare) {
    auto options = std::make_shared<Options>();
    auto& command = *app.add_subcommand(name, description);
    const command_line line(command);
    declare(line, *options);
    command.callback([&chosen, options, run, rules = line.rules()] {
        chosen = [options, run, rules] {
            check_rules(*rules);
            make_way_for_outputs(*rules);
            const stemma::thread_scope threads(rules->threads == 0
                                                   ? stemma::thread_limit::of_machine()
                                                   : stemma::thread_limit{rules->threads});
            return run(*options);
        };
    });
}

/// Opens a model, and prints notes about it to standard error. Throws: `stemma::error` (`refused`)
/// if an output of the command would replace a file with weights of the model.
std::unique_ptr<stemma::attributed_model>
open_model(const common_options& options,
           const std::function<void(const stemma::wire_model&)>& meanwhile = {});

/// Prints notes about an opened model to standard error.
void print_notes(const stemma::attributed_model& opened);

/// Notes that external data, which runtimes look up beside the model, stays behind: `files`.
void warn_of_external_data(const common_options& options, const std::string& output,
                           const std::vector<std::string>& files);
/// The same for a model written to `output`, with its data placed so.
void warn_of_external_data(const common_options& options, const std::string& output,
                           const stemma::wire_model& model, std::string_view data);

/// Returns: cost options with values `NAME=N` for symbolic dimensions.
/// Throws: `error` of `error_code::refused` for malformed ones.
stemma::cost_options cost_options_of(const std::vector<std::string>& dims);

/// Returns: write options for the library.
stemma::write_options writing(const output_options& output);

/// Returns: the first few names for a message, shortened.
std::string first_names(const std::vector<std::string>& names);

/// Prints results as JSON, with the `write_json` that takes them, if the format is that.
///
/// Returns: whether it is.
template <class... Results>
bool print_json(const std::string& format, const Results&... results) {
    if (format == "json") {
        standard_output out;
        write_json(out, results...);
    }
    return format == "json";
}

/// Prints a message to standard error unless the command is quiet.
void note(const common_options& options, std::string_view text);

/// Notes what costs omit or assume.
void note_gaps(const common_options& options, const stemma::model_cost& cost);

/// Calls `write(sink)` for the file, which is created when that is done, or for standard output.
template <class Write>
void write_output(const output_options& options, Write write) {
    if (options.path == "-") {
        standard_output out;
        write(out);
        return;
    }
    stemma::output_file file(options.path);
    write(file);
    file.commit(!options.no_sync);
}

/// Each adds one command, implemented in the file of the same name.
void add_analyze(CLI::App& app, action& chosen);
void add_browse(CLI::App& app, action& chosen);
void add_carry(CLI::App& app, action& chosen);
void add_compare(CLI::App& app, action& chosen);
void add_cut(CLI::App& app, action& chosen);
void add_dag(CLI::App& app, action& chosen);
void add_diff(CLI::App& app, action& chosen);
void add_explain(CLI::App& app, action& chosen);
void add_export(CLI::App& app, action& chosen);
void add_manual(CLI::App& app, action& chosen);
void add_join(CLI::App& app, action& chosen);
void add_fold(CLI::App& app, action& chosen);
void add_numerics(CLI::App& app, action& chosen);
void add_patch(CLI::App& app, action& chosen);
void add_plan(CLI::App& app, action& chosen);
void add_probe(CLI::App& app, action& chosen);
void add_profile(CLI::App& app, action& chosen);
void add_query(CLI::App& app, action& chosen);
void add_split(CLI::App& app, action& chosen);
void add_strip(CLI::App& app, action& chosen);
void add_tag(CLI::App& app, action& chosen);
void add_tree(CLI::App& app, action& chosen);
void add_unfold(CLI::App& app, action& chosen);
void add_validate(CLI::App& app, action& chosen);
void add_weights(CLI::App& app, action& chosen);

} // namespace cli

#endif // STEMMA_EXAMPLES_CLI_COMMON_HPP
