// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EXAMPLES_CLI_TERMINAL_HPP
#define STEMMA_EXAMPLES_CLI_TERMINAL_HPP

#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace cli {

/// Shades of text; none where the output is no terminal.
enum class shade : std::uint8_t { plain, strong, dim, name, number, good, bad };

/// Returns: `text` in a shade, as the terminal on standard output understands it.
std::string shaded(std::string_view text, shade how);

/// Returns: a number with commas between groups of three digits.
std::string grouped(std::uint64_t number);

/// Returns: a share as "99.9 %", rounded down: "100.0 %" is all of them.
std::string percent(double share);

/// Returns: "1 node", "2 nodes".
std::string counted(std::uint64_t number, std::string_view what);

/// Returns: columns that `text` takes: one for each code point.
std::size_t width_of(std::string_view text);

/// Returns: `text` with spaces behind it up to a width; cut with a mark in the middle when longer.
std::string fitted(std::string_view text, std::size_t width);

/// Returns: `text`, which loses its middle when it is longer than a width.
std::string shortened(std::string_view text, std::size_t width);

/// Returns: `text` with spaces before it up to a width.
std::string right_aligned(std::string_view text, std::size_t width);

/// A message in one piece, whatever the names in it: no character that a terminal obeys, no byte
/// that is no UTF-8.
std::string printable(std::string_view text);

/// As `printable`, save for shades.
std::string printable_shades(std::string_view text);

/// Returns: a text without line breaks, and without the blanks around them.
std::string in_one_line(std::string_view text);

/// Writes a message to standard error, as `printable` and `in_one_line`: libraries have longer
/// ones, and names may hold anything.
void print_error(std::string_view text);

/// Returns: whether standard output is a terminal.
bool is_terminal();

/// Returns: columns of the terminal on standard output, at least 60; 100 where there is none.
std::size_t line_width();

/// Returns: whether standard output is a terminal that shows colours.
bool has_colours();

/// Writes to standard output what people read: as `printable`, save for shades. Throws:
/// `stemma::error` of `cannot_write`.
void put_text(std::string_view text);

/// The same of a formatted text.
template <class... Args>
void put(fmt::format_string<Args...> format, Args&&... args) {
    put_text(fmt::format(format, std::forward<Args>(args)...));
}

/// While this lives, what is printed goes through `$PAGER`, or `less` where there is one, if
/// standard output is a terminal: text that is longer than it can be read. `PAGER=cat` does
/// without.
class pager {
public:
    pager();
    ~pager();
    pager(const pager&) = delete;
    pager& operator=(const pager&) = delete;

private:
    int terminal_ = -1; // the one that was standard output
    int child_ = 0;
};

/// Says how many entries of a list were left out, when only so many rows of it are printed.
void print_rest(std::size_t count, std::size_t rows);

/// Standard output as a sink for reports. Throws: as above.
struct standard_output {
    void write(std::string_view text);
};

/// Writes to standard output what programs read: as it is, unless that is a terminal. Throws: as
/// above.
void put_names(std::string_view text);

} // namespace cli

#endif // STEMMA_EXAMPLES_CLI_TERMINAL_HPP
