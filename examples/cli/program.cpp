// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include "common.hpp"

#include <stemma/core/nearest_texts.hpp>
#include <stemma/core/text_list.hpp>
#include <stemma/error.hpp>
#include <stemma/version.hpp>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <iostream>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace {

int status_of(stemma::error_code code) {
    switch (code) {
    case stemma::error_code::cannot_read:
    case stemma::error_code::malformed:
    case stemma::error_code::contradiction:
    case stemma::error_code::unsupported:
        return cli::bad_input;
    case stemma::error_code::cannot_write:
    case stemma::error_code::too_large:
    case stemma::error_code::exists:
        return cli::cannot_write;
    case stemma::error_code::not_found:
        return cli::found_something;
    case stemma::error_code::refused:
        return cli::bad_usage;
    }
    return cli::bad_input;
}

struct command {
    std::string_view name;
    void (*add)(CLI::App& app, cli::action& chosen);
};

constexpr std::array<command, 25> commands{{
    {"tag", cli::add_tag},           {"tree", cli::add_tree},       {"browse", cli::add_browse},
    {"explain", cli::add_explain},   {"analyze", cli::add_analyze}, {"query", cli::add_query},
    {"dag", cli::add_dag},           {"export", cli::add_export},   {"strip", cli::add_strip},
    {"validate", cli::add_validate}, {"compare", cli::add_compare}, {"diff", cli::add_diff},
    {"carry", cli::add_carry},       {"cut", cli::add_cut},         {"split", cli::add_split},
    {"join", cli::add_join},         {"fold", cli::add_fold},       {"unfold", cli::add_unfold},
    {"profile", cli::add_profile},   {"probe", cli::add_probe},     {"numerics", cli::add_numerics},
    {"plan", cli::add_plan},         {"weights", cli::add_weights}, {"patch", cli::add_patch},
    {"manual", cli::add_manual},
}};

/// Declares only the command named by the first word, or all of them if it names none or `manual`:
/// declaring all takes longer than analyzing a small model.
void add_commands(CLI::App& app, cli::action& chosen, std::string_view first) {
    const auto named = std::find_if(commands.begin(), commands.end(),
                                    [&](const command& c) { return c.name == first; });
    if (named != commands.end() && first != "manual") {
        named->add(app, chosen);
        return;
    }
    for (const auto& each : commands) {
        each.add(app, chosen);
    }
}

/// Returns: `; did you mean 'tree'?`, with `prefix` before the name, or "" if nothing is similar.
std::string did_you_mean(std::string_view text, const std::vector<std::string>& candidates,
                         std::string_view prefix = {}) {
    stemma::nearest_texts nearest(text, 1);
    for (const auto& each : candidates) {
        nearest.offer(each);
    }
    const auto like = nearest.take();
    return like.empty() ? std::string()
                        : fmt::format("; did you mean '{}{}'?", prefix, like.front());
}

/// Omits the sets of allowed values, which option descriptions name.
struct help_formatter : CLI::Formatter {
    std::string make_option_opts(const CLI::Option* option) const override {
        auto text = CLI::Formatter::make_option_opts(option);
        const auto open = text.find(":{");
        const auto close = text.find('}', std::min(open, text.size()));
        if (close != text.npos) {
            text.erase(open, close + 1 - open);
        }
        if (text.ends_with(",... ...")) {
            text.resize(text.size() - 4);
        }
        return text;
    }
};

/// Whether a word is a file rather than an unknown command.
bool is_file_name(const std::string& word) {
    std::error_code ignored;
    const std::filesystem::path path(word);
    return std::filesystem::exists(path, ignored) || path.has_parent_path() || path.has_extension();
}

/// Returns: the arguments as a command with options: `help tag` becomes `tag --help`, and a lone
/// file its `tree`.
std::vector<std::string> arguments_of(int argc, char** argv) {
    std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
    if (words.empty()) {
        return words;
    }
    const auto is_command = [&](std::string_view word) {
        return std::any_of(commands.begin(), commands.end(),
                           [&](const command& c) { return c.name == word; });
    };
    if (words[0] == "help") {
        words.erase(words.begin());
        if (!words.empty() && words[0] == "help") {
            words.clear();
        }
        if (words.empty() || words[0].starts_with('-') || is_command(words[0])) {
            words.emplace_back("--help");
        }
    } else if (!words[0].starts_with('-') && !is_command(words[0]) && is_file_name(words[0])) {
        words.insert(words.begin(), "tree");
    }
    return words;
}

/// Returns: a command line error, worded like other messages.
std::string complaint(const CLI::ParseError& e, const CLI::App& used) {
    const std::string text = e.what();
    const auto between = [&](std::string_view begin, std::string_view end) {
        const auto from = text.find(begin);
        const auto to = from == text.npos ? from : text.find(end, from + begin.size());
        return to == text.npos ? std::string()
                               : text.substr(from + begin.size(), to - from - begin.size());
    };
    if (const auto choices = stemma::split_list(between(" not in {", "}")); !choices.empty()) {
        std::string names;
        for (const auto& each : choices) {
            names.append(names.empty() ? "" : ", ").append(each);
        }
        const auto word = between(": ", " not in {");
        return fmt::format("{}: {}", text.substr(0, text.find(": ")),
                           stemma::detail::unknown_name_text("value", word, names));
    }
    if (const auto word = between(": Value ", " not in range "); !word.empty()) {
        auto range = text.substr(text.find(" not in range ") + 14);
        if (const auto to = range.find(" to "); to != range.npos) {
            range.replace(to, 4, " and ");
        }
        return fmt::format("{}: '{}' is not between {}", text.substr(0, text.find(": ")), word,
                           range);
    }
    if (const auto name = between("Could not convert: ", " = "); !name.empty()) {
        const auto* option = used.get_option_no_throw(name);
        const bool counts = option != nullptr && option->get_type_name() == "N";
        return fmt::format("{}: '{}' is not a {}", name, text.substr(text.find(" = ") + 3),
                           counts ? "non-negative integer" : "number");
    }
    if (const auto name = between("", ": 1 required "); !name.empty()) {
        return name + ": missing value";
    }
    if (const auto name = between("", ": At Most 1 required but received "); !name.empty()) {
        return name + ": is given more than once";
    }
    if (const auto name = between("", " is required"); !name.empty()) {
        return name == "A subcommand" ? "missing command" : "missing " + name;
    }
    if (const auto at = text.find(" not expected: "); at != text.npos) {
        return fmt::format("unexpected argument '{}'{}", text.substr(at + 15),
                           used.get_option_no_throw("--module") == nullptr
                               ? ""
                               : "; --module QUERY selects modules");
    }
    return text;
}

/// Prints a command line error. Returns: the exit status.
int refuse(const CLI::App& app, const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) {
        app.exit(e);
        return cli::done;
    }
    const auto used = app.get_subcommands();
    for (const auto& word : app.remaining(true)) {
        std::vector<std::string> names;
        if (used.empty()) {
            for (const auto& each : commands) {
                names.emplace_back(each.name);
            }
            const auto like = did_you_mean(word, names);
            cli::print_error(
                word.starts_with('-')
                    ? fmt::format("unknown option '{}'; options go after a command", word)
                    : fmt::format("unknown command '{}'{}", word,
                                  like.empty() ? "; 'stemma help' lists all" : like));
            return cli::bad_usage;
        }
        if (word.starts_with('-') && word.size() > 1) {
            if (word.starts_with("--") &&
                used.front()->get_option_no_throw(word.substr(0, word.find('='))) != nullptr) {
                cli::print_error(fmt::format("option '{}' must go after the command {}", word,
                                             used.front()->get_name()));
                return cli::bad_usage;
            }
            const std::size_t same = word.starts_with("--") ? 2 : 0; // dashes are no similarity
            for (const auto* option : used.front()->get_options()) {
                for (const auto& name : option->get_lnames()) {
                    names.push_back(("--" + name).substr(same));
                }
            }
            cli::print_error(
                fmt::format("{}: unknown option '{}'{}", used.front()->get_name(), word,
                            did_you_mean(word.substr(same), names, word.substr(0, same))));
            return cli::bad_usage;
        }
    }
    const auto name = used.empty() ? std::string() : used.front()->get_name();
    cli::print_error(fmt::format("{}{}; see 'stemma help{}'", name.empty() ? "" : name + ": ",
                                 complaint(e, used.empty() ? app : *used.front()),
                                 name.empty() ? "" : " " + name));
    return cli::bad_usage;
}

/// The policies of the running program.
const stemma::onnx_policy_registry* program_policies = nullptr;

} // namespace

const stemma::onnx_policy_registry& cli::known_policies() {
    return *program_policies;
}

int cli::run_program(int argc, char** argv, const stemma::onnx_policy_registry& registry) {
    program_policies = &registry;
    CLI::App app("stemma restores the module hierarchy of an ONNX graph.\n\n"
                 "A PyTorch model is a tree of modules; the ONNX file exported from it is a flat "
                 "list of operators.\nstemma finds which module every node came from, and "
                 "writes that into the file.");
    app.name("stemma");
    app.formatter(std::make_shared<help_formatter>()); // of commands that are added, too
    app.set_version_flag("--version", fmt::format("stemma {}.{}.{}", STEMMA_VERSION_MAJOR,
                                                  STEMMA_VERSION_MINOR, STEMMA_VERSION_PATCH));
    app.require_subcommand(1);
    app.footer("Try it:\n  stemma tree model.onnx\n  stemma tag model.onnx -o tagged.onnx\n"
               "  stemma help COMMAND");
    cli::action chosen;
    auto words = arguments_of(argc, argv);
    add_commands(app, chosen, words.empty() ? "" : words[0]);
    std::reverse(words.begin(), words.end()); // as CLI11 takes them
    const auto flushed = [](int status) -> int {
        if (!std::cout.flush() || std::fflush(stdout) != 0) {
            cli::print_error("standard output: cannot be written");
            return cli::cannot_write;
        }
        return status;
    };
    try {
        app.parse(words);
    } catch (const CLI::ParseError& e) {
        return flushed(refuse(app, e));
    }
    try {
        return flushed(chosen());
    } catch (const stemma::error& e) {
        const bool exists = e.code() == stemma::error_code::exists;
        cli::print_error(std::string(e.what()) + (exists ? "; use --force to replace it" : ""));
        return status_of(e.code());
    } catch (const std::bad_alloc&) {
        cli::print_error("out of memory");
        return cli::bad_input;
    } catch (const std::exception& e) {
        cli::print_error(e.what());
        return cli::bad_input;
    }
}
