// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_MODEL_TAG_TABLE_HPP
#define STEMMA_MODEL_TAG_TABLE_HPP

#include <stemma/config.hpp>
#include <stemma/core/detail/string_pool.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

namespace detail {

/// The longest tag ever written, in bytes.
inline constexpr std::size_t max_tag_length = std::size_t{64} * 1024;

} // namespace detail

/// The tags of a tree's selected modules, stored as one segment each.
///
/// A tag is `/` and a segment for every selected module from the root down: `/Net/Block.0`.
class tag_table {
public:
    tag_table() = default;

    /// `selected[m]` is the nearest selected module at or above `m`, see `select_modules`.
    /// Complexity: O(modules).
    tag_table(const tree_index& tree, std::vector<id> selected)
        : selected_(std::move(selected))
        , above_(tree.size(), no_id)
        , segment_(tree.size(), no_id)
        , length_(tree.size()) {
        for (id m = 1; m < tree.size(); ++m) {
            if (is_selected(m)) {
                above_[m] = selected_[tree.parent(m)];
            }
        }
    }

    /// Returns: the number of modules, selected or not.
    [[nodiscard]] std::size_t size() const noexcept { return selected_.size(); }

    /// Whether `m` has its own segment rather than sharing the tag of an ancestor.
    [[nodiscard]] bool is_selected(id m) const noexcept { return selected_[m] == m; }

    /// Returns: the nearest selected module at or above `m`.
    [[nodiscard]] id selected(id m) const noexcept { return selected_[m]; }

    /// Returns: the nearest selected proper ancestor of `m`, `no_id` for the root.
    [[nodiscard]] id above(id m) const noexcept {
        return is_selected(m) ? above_[m] : selected_[m];
    }

    /// Requires: nothing below `m` has a segment yet. A segment of a module that is not selected
    /// is not stored, see `is_misplaced`.
    void set_segment(id m, std::string_view text) {
        if (m >= size() || !is_selected(m)) {
            misplaced_ = true;
            return;
        }
        segment_[m] = segments_.intern(text);
    }

    /// Whether `set_segment` was called for a module that is not selected or does not exist.
    [[nodiscard]] bool is_misplaced() const noexcept { return misplaced_; }

    /// Whether `set_segment` was called for `m`.
    [[nodiscard]] bool has_segment(id m) const noexcept { return segment_[m] != no_id; }

    /// Call once after setting the segment of every selected module. Complexity: O(modules).
    void finish() {
        for (id m = 0; m < size(); ++m) {
            if (is_selected(m)) {
                length_[m] = 1 + segment(m).size() + (m == 0 ? 0 : length_[above_[m]]);
            }
        }
    }

    /// Requires: `m` is selected.
    [[nodiscard]] std::string_view segment(id m) const noexcept { return segments_[segment_[m]]; }

    /// Returns: the length in bytes of the tag of the selected module `m`.
    [[nodiscard]] std::size_t length(id m) const noexcept { return length_[m]; }

    /// Returns: the deepest selected module at or above `m` whose tag is short enough to write.
    /// Complexity: O(1), or O(depth) if the tag is too long.
    [[nodiscard]] id writable(id m) const noexcept {
        m = selected_[m];
        while (length_[m] > detail::max_tag_length && m != 0) {
            m = above_[m];
        }
        return m;
    }

    /// Returns: the tag of the nearest selected module at or above `m`.
    /// Complexity: O(length).
    [[nodiscard]] std::string text(id m) const {
        std::string tag;
        append(m, tag);
        return tag;
    }

    /// Appends `text(m)`. Complexity: O(length).
    void append(id m, std::string& out) const {
        m = selected_[m];
        auto end = out.size() + length_[m];
        out.resize(end);
        for (; m != no_id; m = above_[m]) {
            const auto part = segment(m);
            end -= part.size();
            part.copy(out.data() + end, part.size());
            out[--end] = '/';
        }
    }

private:
    std::vector<id> selected_;
    std::vector<id> above_;
    std::vector<id> segment_;
    std::vector<std::uint64_t> length_;
    detail::string_pool segments_;
    bool misplaced_ = false;
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_MODEL_TAG_TABLE_HPP
