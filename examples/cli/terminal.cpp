// SPDX-License-Identifier: Apache-2.0
#include "terminal.hpp"

#include <stemma/error.hpp>
#include <stemma/io/json_text.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cli {

namespace {

constexpr std::string_view shade_end = "\033[0m";

/// Indexed by `shade`.
constexpr std::array<std::string_view, 7> shade_begins{
    shade_end, "\033[1m", "\033[2m", "\033[36m", "\033[33m", "\033[32m", "\033[31m"};

/// Returns: the length of the shade that `text` begins with, or 0.
std::size_t shade_length(std::string_view text) {
    for (auto begin : shade_begins) {
        if (text.substr(0, begin.size()) == begin) {
            return begin.size();
        }
    }
    return 0;
}

/// Whether a character reorders those after it, so that a name shows as another one.
bool is_bidirectional_control(std::string_view character) {
    return (character >= "\xe2\x80\xaa" && character <= "\xe2\x80\xae") ||
           (character >= "\xe2\x81\xa6" && character <= "\xe2\x81\xa9");
}

/// Appends the first character of `text`, or a replacement if it is not printable. Returns: its
/// length in `text`.
std::size_t append_printable(std::string& shown, std::string_view text) {
    const auto length = stemma::detail::utf8_length(text);
    const auto character = text.substr(0, length);
    const auto first = static_cast<unsigned char>(text.front());
    const bool obeyed =
        (first < 0x20U && first != '\n' && first != '\t') || first == 0x7fU ||
        (first == 0xc2U && length == 2 && static_cast<unsigned char>(text[1]) < 0xa0U) ||
        is_bidirectional_control(character);
    shown.append(length == 0 || obeyed ? std::string_view("\xef\xbf\xbd") : character);
    return length == 0 ? 1 : length;
}

} // namespace

void standard_output::write(std::string_view text) {
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) {
        throw stemma::error(stemma::error_code::cannot_write, "standard output", "",
                            "cannot be written");
    }
}

bool is_terminal() {
    static const bool terminal = isatty(STDOUT_FILENO) == 1;
    return terminal;
}

std::size_t line_width() {
    static const std::size_t width = [] {
        winsize size{};
        const bool known = is_terminal() && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
        return known && size.ws_col > 0 ? std::max<std::size_t>(size.ws_col, 60) : 100;
    }();
    return width;
}

bool has_colours() {
    static const bool colours = [] {
        const char* term = std::getenv("TERM");
        return is_terminal() && std::getenv("NO_COLOR") == nullptr && term != nullptr &&
               std::string_view(term) != "dumb";
    }();
    return colours;
}

std::string shaded(std::string_view text, shade how) {
    if (!has_colours() || how == shade::plain || text.empty()) {
        return std::string(text);
    }
    return std::string(shade_begins[static_cast<std::size_t>(how)]).append(text).append(shade_end);
}

std::string grouped(std::uint64_t number) {
    const auto digits = std::to_string(number);
    std::string text;
    for (std::size_t i = 0; i < digits.size(); ++i) {
        if (i > 0 && (digits.size() - i) % 3 == 0) {
            text.push_back(',');
        }
        text.push_back(digits[i]);
    }
    return text;
}

std::string percent(double share) {
    // Even for counts of millions, shares differ by more than the rounding corrected here.
    return fmt::format("{:.1f} %", std::floor(1000 * share + 1e-9) / 10);
}

std::string counted(std::uint64_t number, std::string_view what) {
    return grouped(number).append(" ").append(what).append(number == 1 ? "" : "s");
}

std::size_t width_of(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;
    }));
}

std::string fitted(std::string_view text, std::size_t width) {
    const auto wide = width_of(text);
    if (wide <= width) {
        return std::string(text).append(width - wide, ' ');
    }
    // The end of a path says more than its beginning.
    auto keep = text.substr(0, width / 3);
    while (!keep.empty() && (static_cast<unsigned char>(keep.back()) & 0x80U) != 0) {
        keep.remove_suffix(1);
    }
    auto rest = text;
    for (auto left = wide + width_of(keep) + 1; left > width && !rest.empty(); --left) {
        do {
            rest.remove_prefix(1);
        } while (!rest.empty() && (static_cast<unsigned char>(rest.front()) & 0xc0U) == 0x80U);
    }
    return std::string(keep).append("\xe2\x80\xa6").append(rest);
}

std::string shortened(std::string_view text, std::size_t width) {
    return width_of(text) > width ? fitted(text, width) : std::string(text);
}

std::string right_aligned(std::string_view text, std::size_t width) {
    const auto wide = width_of(text);
    return std::string(wide < width ? width - wide : 0, ' ').append(text);
}

std::string printable(std::string_view text) {
    std::string shown;
    while (!text.empty()) {
        text.remove_prefix(append_printable(shown, text));
    }
    return shown;
}

std::string printable_shades(std::string_view text) {
    const bool colours = has_colours();
    std::string shown;
    while (!text.empty()) {
        const auto shade_bytes = colours ? shade_length(text) : 0;
        shown.append(text.substr(0, shade_bytes));
        text.remove_prefix(shade_bytes > 0 ? shade_bytes : append_printable(shown, text));
    }
    return shown;
}

void put_text(std::string_view text) {
    standard_output().write(printable_shades(text));
}

std::string in_one_line(std::string_view text) {
    std::string line;
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        auto part = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        part.remove_prefix(std::min(part.find_first_not_of(" \t\r"), part.size()));
        part = part.substr(0, part.find_last_not_of(" \t\r") + 1);
        line.append(line.empty() || part.empty() ? "" : " ").append(part);
    }
    return line;
}

std::string line_text(std::string_view text) {
    return printable(in_one_line(text));
}

void print_error(std::string_view text) {
    fmt::print(stderr, "stemma: {}\n", line_text(text));
}

namespace {

/// Returns: the pager command; "" for none.
std::string pager_command() {
    if (const char* named = std::getenv("PAGER")) {
        return std::string_view(named) == "cat" ? "" : named;
    }
    const char* path = std::getenv("PATH");
    std::string_view folders = path == nullptr ? "" : path;
    while (!folders.empty()) {
        const auto folder = folders.substr(0, folders.find(':'));
        folders.remove_prefix(std::min(folder.size() + 1, folders.size()));
        if (!folder.empty() && access(std::string(folder).append("/less").c_str(), X_OK) == 0) {
            return "less";
        }
    }
    return "";
}

} // namespace

pager::pager() {
    const auto command = is_terminal() ? pager_command() : std::string();
    std::array<int, 2> ends{};
    if (command.empty() || pipe2(ends.data(), O_CLOEXEC) != 0) {
        return;
    }
    // Query the terminal while it is still connected.
    static_cast<void>(has_colours());
    static_cast<void>(line_width());
    std::fflush(stdout);
    setenv("LESS", "FRX",
           0); // quit if all fits, keep colours, leave the text on screen
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
    std::string shell = "sh";
    std::string option = "-c";
    std::string text = command;
    std::array<char*, 4> words{shell.data(), option.data(), text.data(), nullptr};
    const bool runs =
        posix_spawn(&child_, "/bin/sh", &actions, nullptr, words.data(), environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    close(ends[0]);
    if (runs) {
        terminal_ = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
        dup2(ends[1], STDOUT_FILENO);
    }
    close(ends[1]);
}

pager::~pager() {
    if (terminal_ < 0) {
        return;
    }
    std::fflush(stdout);
    dup2(terminal_, STDOUT_FILENO);
    close(terminal_);
    while (waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
    }
}

void print_rest(std::size_t count, std::size_t rows) {
    if (count > rows) {
        put("  and {} more\n", grouped(count - rows));
    }
}

void put_names(std::string_view text) {
    is_terminal() ? put_text(text) : standard_output().write(text);
}

} // namespace cli
