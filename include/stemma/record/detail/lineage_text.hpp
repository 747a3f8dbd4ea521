// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_RECORD_DETAIL_LINEAGE_TEXT_HPP
#define STEMMA_RECORD_DETAIL_LINEAGE_TEXT_HPP

#include <stemma/core/id.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// A module's text composed from all its ancestors, like its path and its tag: those of neighbours
/// mostly share a prefix, so each is spelled from where it differs from the previous one.
class lineage_text {
public:
    /// Spells the text of `m`: `above(m)` is its predecessor, `no_id` for the first one, and
    /// `append(m, level, text)` adds its own part; the first one has level 0.
    ///
    /// Requires: predecessors have lower numbers; both functions are deterministic.
    /// Returns: the text; valid until the next call.
    /// Complexity: that of the parts not shared with the previous text.
    template <class Above, class Append>
    std::string_view spell(id m, Above above, Append append) {
        missing_.clear();
        for (; m != no_id; m = above(m)) {
            while (!spelled_.empty() && spelled_.back().m > m) {
                spelled_.pop_back();
            }
            if (!spelled_.empty() && spelled_.back().m == m) {
                break;
            }
            missing_.push_back(m);
        }
        text_.resize(spelled_.empty() ? 0 : spelled_.back().end);
        for (; !missing_.empty(); missing_.pop_back()) {
            append(missing_.back(), spelled_.size(), text_);
            spelled_.push_back({missing_.back(), text_.size()});
        }
        return text_;
    }

private:
    struct part {
        id m = no_id;
        std::size_t end = 0; // of its text
    };

    std::string text_;
    std::vector<part> spelled_; // each precedes the next one
    std::vector<id> missing_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_RECORD_DETAIL_LINEAGE_TEXT_HPP
