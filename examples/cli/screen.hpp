// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EXAMPLES_CLI_SCREEN_HPP
#define STEMMA_EXAMPLES_CLI_SCREEN_HPP

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

/// Keys other than characters, which are bytes of UTF-8.
enum screen_key : int {
    key_none = 0, ///< no meaning, or the size has changed
    key_up = 256,
    key_down,
    key_left,
    key_right,
    key_page_up,
    key_page_down,
    key_home,
    key_end,
    key_tab,
    key_enter,
    key_escape,
    key_backspace,
    key_gone, ///< the terminal closed
};

/// A line in two parts, with shades from `shaded`.
struct screen_line {
    std::string left;
    std::string right;
    bool selected = false; ///< whether the left part is inverted
};

/// Owns the terminal. Implemented with curses: not all supported Debian releases have FTXUI or
/// notcurses.
class screen {
public:
    /// Throws: `stemma::error` of `refused` for an unknown terminal.
    explicit screen(bool colours);
    ~screen();
    screen(const screen&) = delete;
    screen& operator=(const screen&) = delete;

    [[nodiscard]] static std::size_t width();
    [[nodiscard]] static std::size_t height();

    /// Shows lines, with right parts starting at a column.
    static void show(const std::vector<screen_line>& lines, std::size_t right);

    /// Returns: the next key.
    static int key();

    /// Releases the terminal, until `resume`.
    static void suspend();
    /// Reacquires the terminal.
    static void resume();

    /// Copies a text to the terminal's clipboard (OSC 52), which works over ssh.
    static void copy(std::string_view text);

private:
    struct terminal;
    std::unique_ptr<terminal> terminal_;
};

} // namespace cli

#endif // STEMMA_EXAMPLES_CLI_SCREEN_HPP
