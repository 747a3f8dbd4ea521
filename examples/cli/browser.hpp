// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EXAMPLES_CLI_BROWSER_HPP
#define STEMMA_EXAMPLES_CLI_BROWSER_HPP

#include "screen.hpp"

#include <stemma/core/detail/grouped_ids.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma/record/module_statistics.hpp>
#include <stemma/report/explanation.hpp>
#include <stemma/report/fold_graph.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

/// The model of the interactive view: a tree of modules and nodes, and an explanation of the
/// selection. Independent of the terminal: keys in, lines out.
class browser {
public:
    /// Actions left to the owner of the terminal.
    enum class request : std::uint8_t {
        none,
        quit,
        copy, ///< `selected_text` to the clipboard
        run,  ///< `command`
    };

    /// Requires: `opened` outlives this.
    explicit browser(const stemma::attributed_model& opened);

    /// Handles a key.
    request press(int key);

    /// Returns: `height` lines, the last of which lists keys. Complexity: O(height), plus
    /// explaining a new selection.
    std::vector<screen_line> lines(std::size_t width, std::size_t height);

    /// Returns: the start column of the right part; the end on a narrow screen.
    [[nodiscard]] static std::size_t right_column(std::size_t width) {
        return width < 90 ? width : width * 9 / 20;
    }

    /// Returns: the selection as `explain` accepts it: a path, or `#7`.
    [[nodiscard]] std::string selected_text() const;

    /// Returns: the words of the command to run, without program and file.
    [[nodiscard]] std::vector<std::string> command() const;

    /// Shows a message until the next key.
    void say(std::string text) { message_ = std::move(text); }

private:
    using id = stemma::id;

    /// A module, or a node of it.
    struct place {
        id module = 0;
        id node = stemma::no_id;

        friend bool operator==(const place&, const place&) = default;
    };
    struct row {
        place at;
        id depth = 0;
    };
    enum class mode : std::uint8_t { walk, search, command };

    [[nodiscard]] bool is_module(const place& at) const { return at.node == stemma::no_id; }
    [[nodiscard]] bool has_rows(id m) const;
    [[nodiscard]] bool comes_before(const place& a, const place& b) const;

    void open(id m, bool opens);
    void open_all(id m);
    void list_rows();
    void select(const place& at);
    void move(std::ptrdiff_t by);
    void close_or_leave();
    void open_or_enter();
    void search();
    void next_match(bool backward);
    request press_in_prompt(int key);

    [[nodiscard]] std::string tree_line(const row& shown, std::size_t width) const;
    [[nodiscard]] std::string bottom_line(std::size_t width) const;
    const std::vector<std::string>& detail_lines(std::size_t width);
    std::string picture(const place& at);
    [[nodiscard]] std::string box_text(const stemma::folded_graph::box& box) const;

    const stemma::attributed_model& opened_;
    const stemma::module_tree& modules_;
    stemma::explainer explainer_;
    stemma::detail::grouped_ids own_nodes_; // by module
    std::vector<bool> open_;                // by module
    std::vector<row> rows_;
    std::size_t selected_ = 0;
    std::size_t top_ = 0;
    std::size_t page_ = 1;

    mode mode_ = mode::walk;
    std::string typed_;
    place before_search_;
    std::vector<place> matches_;
    std::string message_;

    bool in_detail_ = false; // keys scroll it
    bool shows_picture_ = false;
    bool shows_keys_ = false;
    std::size_t detail_top_ = 0;
    place detailed_{stemma::no_id, stemma::no_id};
    std::size_t detail_width_ = 0;
    std::vector<std::string> detail_;
    std::vector<bool> quiet_; // by node; once there is a picture
};

} // namespace cli

#endif // STEMMA_EXAMPLES_CLI_BROWSER_HPP
