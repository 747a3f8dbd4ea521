// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CORE_NEAREST_TEXTS_HPP
#define STEMMA_CORE_NEAREST_TEXTS_HPP

#include <stemma/config.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// Keeps the texts most similar to a given one, for "did you mean".
///
/// Measured by edit distance; a text that contains the given one counts as very near. Only texts
/// within half its length are considered.
class nearest_texts {
public:
    /// Keeps at most `count` texts; none when `wanted` is empty. Requires: `wanted` outlives it.
    nearest_texts(std::string_view wanted, std::size_t count) : wanted_(wanted), count_(count) {
        limit_ = std::max<std::size_t>(1, wanted.size() / 2);
    }

    /// Complexity: O(limit * length); constant for texts that are far too long or too short.
    void offer(std::string_view text) {
        if (text.empty() || wanted_.empty()) {
            return;
        }
        const auto distance = text.find(wanted_) != text.npos ? 0 : edit_distance(text);
        if (distance > limit_) {
            return;
        }
        const auto place =
            std::upper_bound(best_.begin(), best_.end(), distance,
                             [](std::size_t d, const auto& entry) { return d < entry.first; });
        if (place == best_.end() && best_.size() == count_) {
            return;
        }
        const bool is_known = std::any_of(best_.begin(), best_.end(),
                                          [&](const auto& other) { return other.second == text; });
        if (!is_known) {
            best_.emplace(place, distance, text);
            best_.resize(std::min(best_.size(), count_));
            limit_ = best_.size() == count_ ? best_.back().first : limit_;
        }
    }

    /// Returns: the nearest texts, nearest first. Complexity: O(texts kept).
    [[nodiscard]] std::vector<std::string> take() const {
        std::vector<std::string> result;
        for (const auto& [distance, text] : best_) {
            result.push_back(text);
        }
        return result;
    }

    /// Returns: the end of a message, "; similar: " and the texts in quotes, with `suffix` after
    /// each; "" if nothing is near. Complexity: as `take`.
    [[nodiscard]] std::string similar(std::string_view suffix = {}) const {
        std::string list;
        for (const auto& [distance, text] : best_) {
            list.append(list.empty() ? "; similar: '" : ", '").append(text).append(suffix);
            list.append("'");
        }
        return list;
    }

private:
    /// Returns: the number of insertions, deletions and replacements, or anything above the limit.
    [[nodiscard]] std::size_t edit_distance(std::string_view text) {
        const auto n = wanted_.size();
        if (std::max(n, text.size()) - std::min(n, text.size()) > limit_) {
            return limit_ + 1;
        }
        row_.resize(n + 1);
        for (std::size_t i = 0; i <= n; ++i) {
            row_[i] = i;
        }
        for (std::size_t j = 0; j < text.size(); ++j) {
            auto diagonal = std::exchange(row_[0], j + 1);
            auto least = row_[0];
            for (std::size_t i = 0; i < n; ++i) {
                const auto replaced = diagonal + (wanted_[i] == text[j] ? 0 : 1);
                diagonal = row_[i + 1];
                row_[i + 1] = std::min({replaced, row_[i] + 1, row_[i + 1] + 1});
                least = std::min(least, row_[i + 1]);
            }
            if (least > limit_) {
                return limit_ + 1;
            }
        }
        return row_[n];
    }

    std::string wanted_;
    std::size_t count_;
    std::size_t limit_;
    std::vector<std::pair<std::size_t, std::string>> best_;
    std::vector<std::size_t> row_;
};

namespace detail {

/// Returns: a message that no `what` has this name, with near matches and the known names. `names`
/// lists names separated by commas, each with its arguments after a colon.
/// Complexity: that of the edit distances.
[[nodiscard]] inline std::string unknown_name_text(std::string_view what, std::string_view name,
                                                   std::string_view names) {
    const auto without_argument = [](std::string_view text) {
        return text.substr(0, text.find(':'));
    };
    nearest_texts like(without_argument(name), 1);
    std::string meant;
    for (auto rest = names; !rest.empty();) {
        const auto one = rest.substr(0, rest.find(", "));
        like.offer(without_argument(one));
        if (const auto best = like.take(); !best.empty() && best[0] == without_argument(one)) {
            meant = one;
        }
        rest.remove_prefix(one.size() == rest.size() ? rest.size() : one.size() + 2);
    }
    auto text = std::string("unknown ").append(what).append(" '").append(name).append("'");
    text.append(meant.empty() ? "; " : "; did you mean '" + meant + "'? ");
    return text.append("known: ").append(names);
}

} // namespace detail

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_CORE_NEAREST_TEXTS_HPP
