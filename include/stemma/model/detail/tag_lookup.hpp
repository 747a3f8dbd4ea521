// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_MODEL_DETAIL_TAG_LOOKUP_HPP
#define STEMMA_MODEL_DETAIL_TAG_LOOKUP_HPP

#include <stemma/core/detail/flat_index.hpp>
#include <stemma/core/detail/hash.hpp>
#include <stemma/core/id.hpp>
#include <stemma/model/tag_table.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace stemma::inline STEMMA_ABI::detail {

/// Finds selected modules by their tags, segment by segment.
class tag_lookup {
public:
    /// Requires: `tags` is finished, and outlives the look-up.
    /// Complexity: O(modules + bytes of segments).
    explicit tag_lookup(const tag_table& tags) : tags_(&tags) {
        for (id m = 1; m < tags.size(); ++m) {
            if (tags.is_selected(m)) {
                below_.insert(hash_of(tags.above(m), tags.segment(m)), m, [](id) { return false; });
            }
        }
    }

    /// Returns: the selected module with this tag, or `no_id`.
    /// Complexity: O(length) expected.
    [[nodiscard]] id find(std::string_view tag) const {
        id result = no_id;
        while (!tag.empty()) {
            if (tag.front() != '/') {
                return no_id;
            }
            const auto segment = tag.substr(1, end_of_segment(tag) - 1);
            tag.remove_prefix(1 + segment.size());
            result = result == no_id ? root(segment) : below(result, segment);
            if (result == no_id) {
                return no_id;
            }
        }
        return result;
    }

private:
    /// Returns: the end of the segment that starts after the first character.
    [[nodiscard]] static std::size_t end_of_segment(std::string_view tag) noexcept {
        std::size_t end = 1;
        while (end < tag.size() && tag[end] != '/') {
            end += tag[end] == '\\' ? 2U : 1U;
        }
        return std::min(end, tag.size());
    }

    [[nodiscard]] id root(std::string_view segment) const {
        return tags_->size() > 0 && tags_->segment(0) == segment ? 0 : no_id;
    }

    [[nodiscard]] id below(id above, std::string_view segment) const {
        return below_.find(hash_of(above, segment), [&](id m) {
            return tags_->above(m) == above && tags_->segment(m) == segment;
        });
    }

    [[nodiscard]] static std::uint64_t hash_of(id above, std::string_view segment) noexcept {
        return hash_bytes(segment, above);
    }

    const tag_table* tags_;
    flat_index below_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_MODEL_DETAIL_TAG_LOOKUP_HPP
