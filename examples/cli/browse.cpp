// SPDX-License-Identifier: Apache-2.0
#include "browser.hpp"
#include "child_program.hpp"
#include "common.hpp"
#include "screen.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <unistd.h>
#include <vector>

namespace cli {

namespace {

struct browse_options {
    common_options common;
};

/// Appends the options of this command that another one has too, unless they are given.
void add_options(std::vector<std::string>& words, const CLI::App& own) {
    const auto commands = own.get_parent()->get_subcommands(
        [&](const CLI::App* command) { return command->check_name(words.front()); });
    if (commands.empty()) {
        return;
    }
    for (const auto* option : own.get_options()) {
        const auto name = option->get_name();
        const auto* other = commands.front()->get_option_no_throw(name);
        const bool is_given =
            other == nullptr || std::any_of(words.begin(), words.end(), [&](const auto& word) {
                return other->check_name(word.substr(0, word.find('=')));
            });
        if (option->count() == 0 || option->get_positional() || is_given) {
            continue;
        }
        const bool is_flag = option->get_items_expected_max() == 0;
        for (const auto& value : option->results()) {
            words.push_back(name);
            if (!is_flag) {
                words.push_back(value);
            }
        }
    }
}

/// Runs a command of this program on the full terminal, until enter is pressed.
void run_command(browser& shown, const common_options& common) {
    auto words = shown.command();
    words.insert(words.begin() + 1, common.model);
    add_options(words, *common.rules->command);
    screen::suspend();
    if (const auto problem = run_self(words); !problem.empty()) {
        print_error(problem);
    }
    fmt::print("[enter goes back]");
    std::fflush(stdout);
    for (int c = std::getchar(); c != '\n' && c != EOF;) {
        c = std::getchar();
    }
    screen::resume();
}

int browse(const browse_options& options) {
    if (!is_terminal() || isatty(STDIN_FILENO) != 1) {
        print_error("browse: needs a terminal; `stemma tree` prints the modules");
        return bad_usage;
    }
    const auto opened = open_model(options.common);
    browser shown(*opened);
    const screen terminal(has_colours());
    for (;;) {
        const auto width = screen::width();
        screen::show(shown.lines(width, screen::height()), browser::right_column(width));
        switch (shown.press(screen::key())) {
        case browser::request::quit:
            return done;
        case browser::request::copy:
            screen::copy(shown.selected_text());
            shown.say("copied");
            break;
        case browser::request::run:
            run_command(shown, options.common);
            break;
        case browser::request::none:
            break;
        }
    }
}

} // namespace

void add_browse(CLI::App& app, action& chosen) {
    add_command<browse_options>(
        app, chosen, "browse", "browse the modules interactively", browse,
        [](command_line takes, browse_options& options) {
            takes.common(options.common, "text");
            takes.footer(
                "Examples:\n  stemma browse model.onnx\n"
                "  stemma browse model.onnx -m modules.json\n"
                "Keys: arrows move, / searches, p pictures, : runs a command, ? lists all, "
                "q quits");
        });
}

} // namespace cli
