// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CORE_DETAIL_PATH_TRAIL_HPP
#define STEMMA_CORE_DETAIL_PATH_TRAIL_HPP

#include <stemma/core/detail/text_words.hpp>
#include <stemma/core/id.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Follows one path after another through a tree, resuming each where it diverges from the previous
/// one: neighbouring names mostly differ in their last segment.
class path_trail {
public:
    /// `separator` separates path segments; empty segments count.
    explicit path_trail(char separator) : separator_(separator) {}

    /// Follows `path` down from `start`: `step(at, segment)` returns the next position.
    ///
    /// Requires: `step` is deterministic and never returns `no_id`.
    /// Complexity: O(length); one step per segment not shared with the previous path.
    template <class Step>
    id follow(id start, std::string_view path, Step step) {
        if (places_.empty() || places_.front().at != start) {
            places_.assign(1, {0, start});
            previous_.clear();
        } else if (path == previous_) {
            return places_.back().at;
        }
        const auto shared = leave(path);
        while (places_.back().end < path.size()) {
            const auto begin = places_.back().end + (places_.size() > 1 ? 1 : 0);
            const auto end = std::min(path.find(separator_, begin), path.size());
            places_.push_back({end, step(places_.back().at, path.substr(begin, end - begin))});
        }
        previous_.replace(shared, previous_.npos, path.substr(shared));
        return places_.back().at;
    }

private:
    struct place {
        std::size_t end = 0; // of its segment, as an offset into the path
        id at = no_id;
    };

    /// Returns: the length of the prefix shared with the previous path.
    std::size_t leave(std::string_view path) {
        const auto shared = shared_prefix(path, previous_);
        const auto ends_here = [&](std::size_t end) {
            return end <= shared && (end == path.size() || path[end] == separator_) &&
                   (end == previous_.size() || previous_[end] == separator_);
        };
        // An empty path has no segments, though a segment may be empty.
        while (places_.size() > 1 && (path.empty() || !ends_here(places_.back().end))) {
            places_.pop_back();
        }
        return shared;
    }

    char separator_;
    std::string previous_;
    std::vector<place> places_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CORE_DETAIL_PATH_TRAIL_HPP
