// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EXAMPLES_CLI_SCREEN_HPP
#define STEMMA_EXAMPLES_CLI_SCREEN_HPP

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

/// Keys besides characters, which are bytes of UTF-8.
enum screen_key : int {
    key_none = 0, ///< one that means nothing, or the size has changed
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
    key_gone, ///< the terminal is
};

/// A line in two parts, with shades as `shaded` makes them.
struct screen_line {
    std::string left;
    std::string right;
    bool selected = false; ///< whether the left part is shown the other way round
};

/// The whole terminal, until this ends. curses stands behind it: Debian has neither FTXUI nor
/// notcurses in all releases that this is built on.
class screen {
public:
    /// Throws: `stemma::error` of `refused` for a terminal that nothing is known of.
    explicit screen(bool colours);
    ~screen();
    screen(const screen&) = delete;
    screen& operator=(const screen&) = delete;

    [[nodiscard]] static std::size_t width();
    [[nodiscard]] static std::size_t height();

    /// Shows lines, whose right parts begin at a column.
    static void show(const std::vector<screen_line>& lines, std::size_t right);

    /// Returns: the next key.
    static int key();

    /// Gives the terminal back, until `resume`.
    static void suspend();
    /// Takes the terminal again.
    static void resume();

    /// Asks the terminal to put a text on the clipboard (OSC 52), which works through ssh.
    static void copy(std::string_view text);

private:
    struct terminal;
    std::unique_ptr<terminal> terminal_;
};

} // namespace cli

#endif // STEMMA_EXAMPLES_CLI_SCREEN_HPP
