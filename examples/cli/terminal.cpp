// SPDX-License-Identifier: Apache-2.0
#include "terminal.hpp"

#include "character_width.hpp"

#include <stemma/error.hpp>
#include <stemma/io/json_text.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <random>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cli {

namespace {

/// Indexed by `shade`.
constexpr std::array<std::string_view, 7> shade_begins{
    "\033[0m", "\033[1m", "\033[2m", "\033[36m", "\033[33m", "\033[32m", "\033[31m"};

/// What shades within texts begin with until they are written: no name can contain it by design.
const std::string& shade_key() {
    static const std::string key = [] {
        std::random_device random;
        return fmt::format("\033{:08x}{:08x}", random(), random());
    }();
    return key;
}

/// Returns: a shade as it stands in texts.
std::string shade_mark(shade how) {
    return fmt::format("{}{}m", shade_key(), static_cast<int>(how));
}

/// Returns: the length of the mark of a shade that `text` begins with, or 0.
std::size_t mark_length(std::string_view text) {
    static const auto length = shade_mark(shade::plain).size();
    return text.starts_with(shade_key()) && text.size() >= length ? length : 0;
}

/// Whether a character reorders those after it, so that a name shows as another one.
bool is_bidirectional_control(std::string_view character) {
    return (character >= "\xe2\x80\xaa" && character <= "\xe2\x80\xae") ||
           (character >= "\xe2\x81\xa6" && character <= "\xe2\x81\xa9");
}

/// Whether a terminal obeys a character rather than shows it.
bool is_obeyed(std::string_view character) {
    const auto first = static_cast<unsigned char>(character.front());
    return (first < 0x20U && first != '\n' && first != '\t') || first == 0x7fU ||
           (first == 0xc2U && character.size() == 2 &&
            static_cast<unsigned char>(character[1]) < 0xa0U) ||
           is_bidirectional_control(character);
}

/// Returns: `text` with a blank instead of each line break and tab.
std::string without_breaks(std::string_view text) {
    std::string line(text);
    std::replace_if(
        line.begin(), line.end(), [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
    return line;
}

/// Returns: the number of printable ASCII characters that `text` begins with.
std::size_t plain_length(std::string_view text) {
    const auto end =
        std::find_if(text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; });
    return static_cast<std::size_t>(end - text.begin());
}

/// Appends the printable ASCII characters that `text` begins with, or else its first character, or
/// a replacement if that is not printable. Returns: their length in `text`.
std::size_t append_printable(std::string& shown, std::string_view text) {
    if (const auto plain = plain_length(text); plain > 0) {
        shown.append(text.substr(0, plain));
        return plain;
    }
    const auto length = stemma::detail::utf8_length(text);
    const auto character = text.substr(0, length);
    shown.append(length == 0 || is_obeyed(character) ? std::string_view("\xef\xbf\xbd")
                                                     : character);
    return length == 0 ? 1 : length;
}

bool diverted = false; // to standard error

} // namespace

void standard_output::write(std::string_view text) {
    if (std::fwrite(text.data(), 1, text.size(), diverted ? stderr : stdout) != text.size()) {
        throw stemma::error(stemma::error_code::cannot_write,
                            diverted ? "standard error" : "standard output", "",
                            "cannot be written");
    }
}

bool is_standard_output(const std::string& path) {
    struct stat named {};
    struct stat own {};
    return ::stat(path.c_str(), &named) == 0 && ::fstat(STDOUT_FILENO, &own) == 0 &&
           named.st_dev == own.st_dev && named.st_ino == own.st_ino && !S_ISCHR(own.st_mode);
}

void divert_standard_output() {
    diverted = true;
}

bool is_terminal() {
    static const bool terminal = isatty(STDOUT_FILENO) == 1;
    return terminal;
}

std::size_t line_width() {
    static const std::size_t width = [] {
        winsize size{};
        const bool has_size = is_terminal() && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
        return has_size && size.ws_col > 0 ? std::max<std::size_t>(size.ws_col, 60) : 100;
    }();
    return width;
}

bool has_colours() {
    static const bool colours = [] {
        const auto setting = [](const char* name) {
            const char* text = std::getenv(name);
            return std::string_view(text == nullptr ? "" : text);
        };
        const auto term = setting("TERM");
        return is_terminal() && setting("NO_COLOR").empty() && !term.empty() && term != "dumb";
    }();
    return colours;
}

std::string shaded(std::string_view text, shade how) {
    if (!has_colours() || how == shade::plain || text.empty()) {
        return std::string(text);
    }
    return shade_mark(how).append(text).append(shade_mark(shade::plain));
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

std::size_t first_length(std::string_view text) {
    return std::max<std::size_t>(stemma::detail::utf8_length(text), 1);
}

std::size_t first_width(std::string_view text) {
    const auto length = stemma::detail::utf8_length(text);
    if (length < 2 || is_obeyed(text.substr(0, length))) {
        return 1;
    }
    auto character =
        static_cast<char32_t>(static_cast<unsigned char>(text.front()) & (0x7fU >> length));
    for (std::size_t i = 1; i < length; ++i) {
        character = (character << 6U) | (static_cast<unsigned char>(text[i]) & 0x3fU);
    }
    return character_width(character);
}

std::size_t width_of(std::string_view text) {
    auto width = plain_length(text);
    for (text.remove_prefix(width); !text.empty(); text.remove_prefix(first_length(text))) {
        width += first_width(text);
    }
    return width;
}

std::string fitted(std::string_view text, std::size_t width) {
    auto shown = shortened(text, width);
    const auto wide = width_of(shown);
    return shown.append(wide < width ? width - wide : 0, ' ');
}

std::string shortened(std::string_view text, std::size_t width) {
    auto line = without_breaks(text);
    auto wide = width_of(line);
    if (wide <= width) {
        return line;
    }
    // The end of a path says more than its beginning.
    std::size_t length = 0; // bytes
    std::size_t used = 1;   // columns, with the mark
    std::string_view rest = line;
    while (!rest.empty() && used - 1 + first_width(rest) <= width / 3) {
        used += first_width(rest);
        length += first_length(rest);
        rest.remove_prefix(first_length(rest));
    }
    for (wide = width_of(rest); used + wide > width && !rest.empty();) {
        wide -= first_width(rest);
        rest.remove_prefix(first_length(rest));
    }
    while (!rest.empty() && first_width(rest) == 0) {
        rest.remove_prefix(first_length(rest));
    }
    return line.substr(0, length).append("\xe2\x80\xa6").append(rest);
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
    std::string shown;
    while (!text.empty()) {
        if (const auto mark = mark_length(text); mark > 0) {
            shown.append(shade_begins[static_cast<std::size_t>(text[mark - 2] - '0')]);
            text.remove_prefix(mark);
        } else {
            text.remove_prefix(append_printable(shown, text));
        }
    }
    return shown;
}

void put_text(std::string_view text) {
    standard_output().write(printable_shades(text));
}

std::string in_one_line(std::string_view text) {
    std::string line;
    while (!text.empty()) {
        const auto end = std::min(text.find_first_of("\n\r\t"), text.size());
        auto part = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        part.remove_prefix(std::min(part.find_first_not_of(' '), part.size()));
        part = part.substr(0, part.find_last_not_of(' ') + 1);
        line.append(line.empty() || part.empty() ? "" : " ").append(part);
    }
    return line;
}

std::string line_text(std::string_view text) {
    return printable(in_one_line(text));
}

void print_error(std::string_view text) {
    // fmt::print would throw if this cannot be written.
    std::fputs(fmt::format("stemma: {}\n", line_text(text)).c_str(), stderr);
}

namespace {

/// Whether a shell finds a program to run.
bool is_program(const std::string& name) {
    if (name.find('/') != std::string::npos) {
        return access(name.c_str(), X_OK) == 0;
    }
    const char* path = std::getenv("PATH");
    std::string_view folders = path == nullptr ? "" : path;
    while (!folders.empty()) {
        const auto folder = folders.substr(0, folders.find(':'));
        folders.remove_prefix(std::min(folder.size() + 1, folders.size()));
        if (!folder.empty() && access((std::string(folder) + '/' + name).c_str(), X_OK) == 0) {
            return true;
        }
    }
    return false;
}

constexpr std::array<int, 2> interrupting{SIGINT, SIGQUIT};

/// Returns: the pager command; "" for none.
std::string pager_command() {
    const char* named = std::getenv("PAGER");
    const std::string command = named == nullptr ? "less" : named;
    const auto program = command.substr(0, command.find(' '));
    return program == "cat" || !is_program(program) ? "" : command;
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
    // Keys that interrupt are for the pager, which would outlive this program.
    posix_spawnattr_t signals;
    posix_spawnattr_init(&signals);
    sigset_t interrupts;
    sigemptyset(&interrupts);
    for (const auto number : interrupting) {
        sigaddset(&interrupts, number);
    }
    posix_spawnattr_setsigdefault(&signals, &interrupts);
    posix_spawnattr_setflags(&signals, POSIX_SPAWN_SETSIGDEF);
    const bool runs =
        posix_spawn(&child_, "/bin/sh", &actions, &signals, words.data(), environ) == 0;
    posix_spawnattr_destroy(&signals);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[0]);
    if (runs) {
        for (std::size_t i = 0; i < interrupting.size(); ++i) {
            handlers_[i] = std::signal(interrupting[i], SIG_IGN);
        }
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
    for (std::size_t i = 0; i < interrupting.size(); ++i) {
        std::signal(interrupting[i], handlers_[i]);
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
