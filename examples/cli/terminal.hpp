// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EXAMPLES_CLI_TERMINAL_HPP
#define STEMMA_EXAMPLES_CLI_TERMINAL_HPP

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace cli {

/// Shades of text; none if the output is not a terminal.
enum class shade : std::uint8_t { plain, strong, dim, name, number, good, bad };

/// Returns: `text` in a shade, for the terminal on standard output, as `printable_shades` reads it.
std::string shaded(std::string_view text, shade how);

/// Returns: a number with commas between groups of three digits.
std::string grouped(std::uint64_t number);

/// Returns: a share as "99.9 %", rounded down: "100.0 %" is all of them.
std::string percent(double share);

/// Returns: "1 node", "2 nodes".
std::string counted(std::uint64_t number, std::string_view what);

/// Returns: the bytes of the first character of a text that is not empty.
std::size_t first_length(std::string_view text);

/// Returns: the columns that it takes.
std::size_t first_width(std::string_view text);

/// Returns: the columns that a text without shades takes.
std::size_t width_of(std::string_view text);

/// Returns: `text` on one line, padded on the right to a width, or cut in the middle with a mark.
std::string fitted(std::string_view text, std::size_t width);

/// Returns: `text` on one line, cut in the middle to a width.
std::string shortened(std::string_view text, std::size_t width);

/// Returns: `text` padded on the left to a width.
std::string right_aligned(std::string_view text, std::size_t width);

/// A safe message, whatever names it contains: no control characters, no invalid UTF-8.
std::string printable(std::string_view text);

/// As `printable`, but shows shades; colours that names contain are no shades.
std::string printable_shades(std::string_view text);

/// Returns: a text on one line: line breaks, tabs and blanks around these become single blanks.
std::string in_one_line(std::string_view text);

/// Returns: a text within a line: `printable` and `in_one_line`.
std::string line_text(std::string_view text);

/// Writes a message to standard error, as `line_text`: libraries' messages may be longer, and names
/// may contain anything.
void print_error(std::string_view text);

/// Returns: whether standard output is a terminal.
bool is_terminal();

/// Returns: the columns of the terminal on standard output, at least 60; 100 if there is none.
std::size_t line_width();

/// Returns: whether standard output is a terminal that shows colours.
bool has_colours();

/// Writes text for people to standard output: printable, with shades. Throws: `stemma::error` of
/// `cannot_write`.
void put_text(std::string_view text);

/// The same for a formatted text.
template <class... Args>
void put(fmt::format_string<Args...> format, Args&&... args) {
    put_text(fmt::format(format, std::forward<Args>(args)...));
}

/// During its lifetime, output to a terminal goes through `$PAGER` or `less`. `PAGER=cat` disables
/// that.
class pager {
public:
    pager();
    ~pager();
    pager(const pager&) = delete;
    pager& operator=(const pager&) = delete;

private:
    int terminal_ = -1; // the original standard output
    int child_ = 0;
    std::array<void (*)(int), 2> handlers_{}; // of signals that are for the pager
};

/// Prints how many entries of a list beyond the first rows were left out.
void print_rest(std::size_t count, std::size_t rows);

/// Calls `print(entry)` for the first rows of a list, and prints how many more there are.
template <class List, class Print>
void print_first(const List& list, std::size_t rows, Print print) {
    for (std::size_t i = 0; i < std::min<std::size_t>(rows, list.size()); ++i) {
        print(list[i]);
    }
    print_rest(list.size(), rows);
}

/// Whether a file that is no device is what standard output leads to, such as /dev/stdout.
bool is_standard_output(const std::string& path);

/// From now on, what is for standard output goes to standard error, as a result is written to the
/// former by name.
void divert_standard_output();

/// Standard output as a sink for reports. Throws: as above.
struct standard_output {
    void write(std::string_view text);
};

/// Writes data for programs to standard output: unchanged, unless that is a terminal. Throws: as
/// above.
void put_names(std::string_view text);

} // namespace cli

#endif // STEMMA_EXAMPLES_CLI_TERMINAL_HPP
