// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CORE_DETAIL_GROUPED_IDS_HPP
#define STEMMA_CORE_DETAIL_GROUPED_IDS_HPP

#include <stemma/core/id.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Ids by group, groups contiguous: two tables, filled by counting sort.
class grouped_ids {
public:
    /// No groups.
    grouped_ids() : first_(1, 0) {}

    /// `for_each(take)` calls `take(group, member)` for every member; it is called twice.
    /// Requires: groups are below `count`, and both calls yield the same members.
    /// Complexity: O(members + groups).
    template <class ForEach>
    grouped_ids(std::size_t count, ForEach for_each) : first_(count + 2, 0) {
        // Counts are kept two slots ahead of their group; the entry then becomes the group's write
        // position and finally its end.
        for_each([&](id group, id) { ++first_[std::size_t{group} + 2]; });
        for (std::size_t g = 2; g < first_.size(); ++g) {
            first_[g] += first_[g - 1];
        }
        members_.resize(first_.back());
        for_each([&](id group, id member) { members_[first_[std::size_t{group} + 1]++] = member; });
        first_.pop_back();
    }

    /// Returns: the number of groups, including empty ones.
    [[nodiscard]] std::size_t size() const noexcept { return first_.size() - 1; }

    /// Returns: the members of a group in insertion order.
    [[nodiscard]] std::span<const id> operator[](std::size_t group) const noexcept {
        return range(group, group + 1);
    }

    /// Returns: the members of groups [begin, end), concatenated.
    [[nodiscard]] std::span<const id> range(std::size_t begin, std::size_t end) const noexcept {
        return std::span(members_).subspan(first_[begin], first_[end] - first_[begin]);
    }

private:
    std::vector<id> first_; // by group, plus one
    std::vector<id> members_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CORE_DETAIL_GROUPED_IDS_HPP
