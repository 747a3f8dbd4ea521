// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include "common.hpp"

#include <stemma/error.hpp>
#include <stemma/version.hpp>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <string_view>

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

constexpr std::array<command, 17> commands{{
    {"tag", cli::add_tag},
    {"tree", cli::add_tree},
    {"explain", cli::add_explain},
    {"analyze", cli::add_analyze},
    {"query", cli::add_query},
    {"dag", cli::add_dag},
    {"export", cli::add_export},
    {"strip", cli::add_strip},
    {"carry", cli::add_carry},
    {"validate", cli::add_validate},
    {"compare", cli::add_compare},
    {"cut", cli::add_cut},
    {"split", cli::add_split},
    {"join", cli::add_join},
    {"fold", cli::add_fold},
    {"unfold", cli::add_unfold},
    {"manual", cli::add_manual},
}};

/// Declares the command that the first word names; all of them where it names none, or the one that
/// describes the others. Declaring all takes longer than analyzing a small model.
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

/// Those of the program that runs.
const stemma::onnx_policy_registry* program_policies = nullptr;

} // namespace

const stemma::onnx_policy_registry& cli::known_policies() {
    return *program_policies;
}

int cli::run_program(int argc, char** argv, const stemma::onnx_policy_registry& known) {
    program_policies = &known;
    CLI::App app("stemma gives an ONNX graph its module hierarchy back.\n\n"
                 "A PyTorch model is a tree of modules; the ONNX file exported from it is a flat "
                 "list of operators.\nstemma says for every node which module it came from, and "
                 "writes that into the file.");
    app.name("stemma");
    app.set_version_flag("--version", fmt::format("stemma {}.{}.{}", STEMMA_VERSION_MAJOR,
                                                  STEMMA_VERSION_MINOR, STEMMA_VERSION_PATCH));
    app.require_subcommand(1);
    app.footer("Try it:\n  stemma tree model.onnx\n  stemma tag model.onnx -o tagged.onnx\n"
               "  stemma COMMAND --help");
    cli::action chosen;
    add_commands(app, chosen, argc > 1 ? argv[1] : "");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        return app.exit(e) == 0 ? cli::done : cli::bad_usage;
    }
    try {
        const int status = chosen();
        if (std::fflush(stdout) != 0) {
            cli::print_error("standard output: cannot be written");
            return cli::cannot_write;
        }
        return status;
    } catch (const stemma::error& e) {
        const bool exists = e.code() == stemma::error_code::exists;
        cli::print_error(std::string(e.what()) + (exists ? "; --force replaces it" : ""));
        return status_of(e.code());
    } catch (const std::bad_alloc&) {
        cli::print_error("out of memory");
        return cli::bad_input;
    } catch (const std::exception& e) {
        cli::print_error(e.what());
        return cli::bad_input;
    }
}
