// SPDX-License-Identifier: Apache-2.0
#include "browser.hpp"
#include "child_program.hpp"
#include "common.hpp"
#include "screen.hpp"

#include <fmt/core.h>

#include <cstdio>
#include <string>
#include <unistd.h>

namespace cli {

namespace {

struct browse_options {
    common_options common;
};

/// Runs a command of this program on the full terminal, until enter is pressed.
void run_command(browser& shown, const std::string& model) {
    auto words = shown.command();
    words.insert(words.begin() + 1, model);
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
            run_command(shown, options.common.model);
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
