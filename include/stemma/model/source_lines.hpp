// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_MODEL_SOURCE_LINES_HPP
#define STEMMA_MODEL_SOURCE_LINES_HPP

#include <stemma/config.hpp>
#include <stemma/core/detail/flat_index.hpp>
#include <stemma/core/detail/hash.hpp>
#include <stemma/core/detail/string_pool.hpp>
#include <stemma/core/id.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// A line of source code.
struct source_position {
    std::string_view file;     ///< the path, possibly shortened
    std::uint32_t line = 0;    ///< from 1
    std::string_view function; ///< "" where unknown

    friend bool operator==(const source_position&, const source_position&) = default;
};

/// Whose code a frame of a call stack runs, in the order a user wants to read it.
enum class frame_kind : std::uint8_t {
    own,     ///< the user
    package, ///< the author of a model package on top of PyTorch
    library, ///< PyTorch, Python or generated code
};

/// Returns: a position as messages show it: `model.py:120 in forward`. Complexity: O(length).
[[nodiscard]] inline std::string to_text(const source_position& at) {
    std::string text(at.file);
    text.append(":").append(std::to_string(at.line));
    return at.function.empty() ? text : text.append(" in ").append(at.function);
}

/// The source lines of a graph's operators: a chain of frames for each. Every text, frame and chain
/// is stored once.
class source_lines {
public:
    /// A line, with texts by number.
    struct frame {
        id file = 0;                       ///< a text
        std::uint32_t line = 0;            ///< from 1
        id function = 0;                   ///< a text
        std::uint32_t text = 0;            ///< hash of the original line, 0 if unknown
        frame_kind kind = frame_kind::own; ///< whose it is

        friend bool operator==(const frame&, const frame&) = default;
    };

    /// Whether nothing is known about any operator or module.
    [[nodiscard]] bool empty() const noexcept { return chain_of_.empty() && frame_of_.empty(); }

    /// Returns: the number of a frame whose file has that full path. Complexity: O(length).
    id add_frame(const source_position& at, frame_kind kind, std::uint32_t text = 0) {
        const frame created{paths_.intern(at.file), at.line, functions_.intern(at.function), text,
                            kind};
        const auto hash = detail::hash_mix(
            detail::hash_mix(created.file, created.line),
            detail::hash_mix(created.function,
                             (std::uint64_t{text} << 8U) | static_cast<std::uint64_t>(kind)));
        const auto next = static_cast<id>(frames_.size());
        const auto existing =
            frame_index_.insert(hash, next, [&](id other) { return frames_[other] == created; });
        if (existing == next) {
            frames_.push_back(created);
        }
        return existing;
    }

    /// Returns: the number of the chain in which frame `at` is called from the frames of chain
    /// `callers`, `no_id` for none. Complexity: O(1) expected.
    id add_link(id callers, id at) {
        const auto next = static_cast<id>(links_.size());
        const auto existing =
            link_index_.insert(detail::hash_mix(callers, at), next, [&](id other) {
                return links_[other].callers == callers && links_[other].at == at;
            });
        if (existing == next) {
            // Among frames of a kind, the innermost counts.
            const auto shown = callers == no_id ? no_id : links_[callers].shown;
            const bool counts =
                shown == no_id || frames_[at].kind <= frames_[links_[shown].at].kind;
            links_.push_back({callers, at, counts ? next : shown});
        }
        return existing;
    }

    /// Sets the chain of an operator. Complexity: O(1) amortized.
    void set(id node, id chain) {
        if (chain == no_id) {
            return;
        }
        if (chain_of_.size() <= node) {
            chain_of_.resize(std::size_t{node} + 1, no_id);
        }
        chain_of_[node] = chain;
    }

    /// Sets the frame at which a module's forward begins. Complexity: O(1) amortized.
    void set_module(id module, id at) {
        if (frame_of_.size() <= module) {
            frame_of_.resize(std::size_t{module} + 1, no_id);
        }
        frame_of_[module] = at;
    }

    /// Sets the display names of files, by number; the default is their paths.
    void name_files(std::vector<std::string> names) { names_ = std::move(names); }

    /// Returns: the chain of an operator, `no_id` if unknown.
    [[nodiscard]] id chain_of(id node) const noexcept {
        return node < chain_of_.size() ? chain_of_[node] : no_id;
    }

    /// Returns: the frame at which a module's forward begins, `no_id` if unknown.
    [[nodiscard]] id frame_of_module(id module) const noexcept {
        return module < frame_of_.size() ? frame_of_[module] : no_id;
    }

    /// Returns: the frame that a user wants to see for a chain: the innermost of the user's own,
    /// else of a package, else of all. Requires: the chain exists.
    [[nodiscard]] id frame_of_chain(id chain) const noexcept {
        return links_[links_[chain].shown].at;
    }

    /// Returns: that frame for an operator, `no_id` if unknown.
    [[nodiscard]] id frame_of(id node) const noexcept {
        const auto chain = chain_of(node);
        return chain == no_id ? no_id : frame_of_chain(chain);
    }

    /// Returns: the line that a user wants to see for an operator, as in `frame_of_chain`.
    [[nodiscard]] std::optional<source_position> of(id node) const {
        const auto number = frame_of(node);
        return number == no_id ? std::nullopt : std::optional(position(number));
    }

    /// The number of frames of a chain that are listed.
    static constexpr std::size_t listed_frames = 256;

    /// Returns: the frames of a chain, innermost first, as many as are listed. Many operators may
    /// share a chain, so lists of all frames would grow with the square of its length.
    /// Complexity: O(length of the result).
    [[nodiscard]] std::vector<id> frames_of_chain(id chain) const {
        std::vector<id> result;
        for (; chain != no_id && result.size() < listed_frames; chain = links_[chain].callers) {
            result.push_back(links_[chain].at);
        }
        return result;
    }

    /// Returns: a frame by number, with its file's display name.
    [[nodiscard]] source_position position(id number) const {
        const auto& one = frames_[number];
        return {file_name(one.file), one.line, functions_[one.function]};
    }

    /// Returns: the display name of a file.
    [[nodiscard]] std::string_view file_name(id file) const {
        return file < names_.size() ? std::string_view(names_[file]) : paths_[file];
    }

    /// Returns: the path of a file as given.
    [[nodiscard]] std::string_view path(id file) const { return paths_[file]; }
    /// Returns: a function by number.
    [[nodiscard]] std::string_view function(id number) const { return functions_[number]; }

    /// Returns: the number of files.
    [[nodiscard]] std::size_t file_count() const noexcept { return paths_.size(); }
    /// Returns: the number of functions.
    [[nodiscard]] std::size_t function_count() const noexcept { return functions_.size(); }

    /// All frames, by number.
    [[nodiscard]] std::span<const frame> frames() const noexcept { return frames_; }
    /// Returns: the number of chains.
    [[nodiscard]] std::size_t chain_count() const noexcept { return links_.size(); }
    /// Returns: the chain of the innermost frame's callers, and that frame.
    [[nodiscard]] std::pair<id, id> link(id chain) const noexcept {
        return {links_[chain].callers, links_[chain].at};
    }

    /// Returns: the hash of a line of text as stored in frames, never 0; surrounding blanks are
    /// ignored. Complexity: O(length).
    [[nodiscard]] static std::uint32_t hash_text(std::string_view line) noexcept {
        constexpr std::string_view blanks = " \t\r\n\f";
        const auto first = line.find_first_not_of(blanks);
        line = first == line.npos ? std::string_view()
                                  : line.substr(first, line.find_last_not_of(blanks) - first + 1);
        const auto whole = detail::fnv1a(line);
        const auto half = static_cast<std::uint32_t>(whole ^ (whole >> 32U));
        return half == 0 ? 1 : half;
    }

private:
    struct chain_link {
        id callers = no_id;
        id at = no_id;    // frame
        id shown = no_id; // chain ending at the frame to show
    };

    detail::string_pool paths_;
    detail::string_pool functions_;
    std::vector<std::string> names_; // by file
    std::vector<frame> frames_;
    detail::flat_index frame_index_;
    std::vector<chain_link> links_;
    detail::flat_index link_index_;
    std::vector<id> chain_of_; // by vertex index
    std::vector<id> frame_of_; // by module
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_MODEL_SOURCE_LINES_HPP
