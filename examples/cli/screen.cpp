// SPDX-License-Identifier: Apache-2.0
#include "screen.hpp"

#include <stemma/error.hpp>
#include <stemma/io/detail/base64.hpp>

#include <algorithm>
#include <array>
#include <clocale>
#include <cstdio>
#include <langinfo.h>

// Its macros collide with range-v3: no file can include both.
#define NCURSES_NOMACROS
#include <curses.h>

namespace cli {

namespace {

struct shade_colour {
    std::string_view number; // as in "\033[36m"
    short colour;
};
constexpr std::array<shade_colour, 4> shade_colours{
    {{"36", COLOR_CYAN}, {"33", COLOR_YELLOW}, {"32", COLOR_GREEN}, {"31", COLOR_RED}}};

struct key_meaning {
    int code;
    int means;
};
constexpr std::array<key_meaning, 17> key_meanings{{{KEY_UP, key_up},
                                                    {KEY_DOWN, key_down},
                                                    {KEY_LEFT, key_left},
                                                    {KEY_RIGHT, key_right},
                                                    {KEY_PPAGE, key_page_up},
                                                    {KEY_NPAGE, key_page_down},
                                                    {KEY_HOME, key_home},
                                                    {KEY_END, key_end},
                                                    {KEY_ENTER, key_enter},
                                                    {KEY_BACKSPACE, key_backspace},
                                                    {'\n', key_enter},
                                                    {'\r', key_enter},
                                                    {'\t', key_tab},
                                                    {'\033', key_escape},
                                                    {'\b', key_backspace},
                                                    {0x7f, key_backspace},
                                                    {ERR, key_gone}}};

void set_shade(std::string_view number) {
    int attributes = static_cast<int>(number == "1" ? A_BOLD : number == "2" ? A_DIM : A_NORMAL);
    for (std::size_t i = 0; i < shade_colours.size(); ++i) {
        if (number == shade_colours[i].number) {
            attributes = COLOR_PAIR(static_cast<int>(i + 1));
        }
    }
    attrset(attributes);
}

void draw(int y, std::size_t x, std::string_view text, bool selected) {
    move(y, static_cast<int>(x));
    while (!text.empty()) {
        const auto next = std::min(text.find('\033'), text.size());
        addnstr(text.data(), static_cast<int>(next));
        text.remove_prefix(next);
        const auto end = text.find('m');
        if (text.empty() || end == text.npos) {
            break;
        }
        if (!selected) {
            set_shade(text.substr(2, end - 2));
        }
        text.remove_prefix(end + 1);
    }
    attrset(static_cast<int>(A_NORMAL));
}

} // namespace

struct screen::terminal {
    SCREEN* handle;
};

screen::screen(bool colours) {
    std::setlocale(LC_CTYPE, "");
    if (std::string_view(nl_langinfo(CODESET)) != "UTF-8") {
        std::setlocale(LC_CTYPE, "C.UTF-8");
    }
    // Not initscr, which exits the program for an unknown terminal.
    auto* handle = newterm(nullptr, stdout, stdin);
    if (handle == nullptr) {
        throw stemma::error(stemma::error_code::refused, "", "browse",
                            "unknown terminal; set TERM to its type");
    }
    terminal_ = std::make_unique<terminal>(terminal{handle});
    cbreak();
    noecho();
    keypad(stdscr, TRUE);
    set_escdelay(25);
    curs_set(0);
    if (colours && has_colors()) {
        start_color();
        use_default_colors();
        for (std::size_t i = 0; i < shade_colours.size(); ++i) {
            init_pair(static_cast<short>(i + 1), shade_colours[i].colour, -1);
        }
    }
}

screen::~screen() {
    endwin();
    delscreen(terminal_->handle);
}

std::size_t screen::width() {
    return static_cast<std::size_t>(COLS);
}

std::size_t screen::height() {
    return static_cast<std::size_t>(LINES);
}

void screen::show(const std::vector<screen_line>& lines, std::size_t right) {
    erase();
    int y = 0;
    for (const auto& line : lines) {
        if (line.selected) {
            attrset(static_cast<int>(A_REVERSE));
            mvhline(y, 0, ' ', static_cast<int>(right));
            move(y, 0);
        }
        draw(y, 0, line.left, line.selected);
        if (!line.right.empty()) {
            draw(y, right, line.right, false);
        }
        ++y;
    }
    refresh();
}

int screen::key() {
    const int code = getch();
    for (const auto& each : key_meanings) {
        if (each.code == code) {
            return each.means;
        }
    }
    return code >= 0x20 && code < 0x100 ? code : key_none;
}

void screen::suspend() {
    endwin();
}

void screen::resume() {
    refresh();
}

void screen::copy(std::string_view text) {
    const auto request = "\033]52;c;" + stemma::detail::to_base64(text) + "\a";
    std::fwrite(request.data(), 1, request.size(), stdout);
    std::fflush(stdout);
}

} // namespace cli
