// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ALIGN_DETAIL_MATCH_SECTIONS_HPP
#define STEMMA_ALIGN_DETAIL_MATCH_SECTIONS_HPP

#include <stemma/align/detail/graph_section.hpp>
#include <stemma/core/detail/hash.hpp>
#include <stemma/core/id.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The correspondence between items and values of two equal sections: by item and value of the
/// first one.
struct section_match {
    std::vector<id> items;
    std::vector<id> values;
};

/// Finds the correspondence, starting from what is certain before making choices.
class section_matcher {
public:
    section_matcher(const graph_section& a, const section_colors& of_a, const graph_section& b,
                    const section_colors& of_b)
        : a_(a)
        , b_(b)
        , of_a_(of_a)
        , of_b_(of_b)
        , back_(b.item_count(), no_id)
        , value_back_(b.value_count(), no_id) {
        match_.items.assign(a.item_count(), no_id);
        match_.values.assign(a.value_count(), no_id);
    }

    /// Returns: whether everything was matched.
    [[nodiscard]] bool run() {
        if (a_.item_count() != b_.item_count() || of_a_.digest() != of_b_.digest()) {
            return false;
        }
        const auto left = by_color(a_, of_a_);
        const auto right = by_color(b_, of_b_);
        for (std::size_t i = 0; i < left.size(); ++i) {
            if (left[i].first != right[i].first) {
                return false;
            }
            if (is_single(left, i) && !pair(left[i].second, right[i].second)) {
                return false;
            }
        }
        std::size_t i = 0;
        std::size_t j = 0;
        for (;;) {
            if (!pair_around()) {
                return false;
            }
            if (!tied_.empty()) {
                if (!choose_reader()) {
                    return false;
                }
                continue;
            }
            // Equally many of the same color remain on both sides.
            i = next_open(left, i, match_.items);
            j = next_open(right, j, back_);
            if (i == left.size() || j == right.size()) {
                return i == left.size() && j == right.size();
            }
            if (!pair(left[i].second, right[j].second)) {
                return false;
            }
        }
    }

    [[nodiscard]] section_match take() && { return std::move(match_); }

private:
    using entry = std::pair<std::uint64_t, id>;

    /// Readers of two corresponding values, several of which look the same.
    struct tied_readers {
        std::vector<entry> first;
        std::vector<entry> second;
        std::size_t i = 0;
        std::size_t j = 0;
    };

    [[nodiscard]] static std::vector<entry> by_color(const graph_section& section,
                                                     const section_colors& colors) {
        std::vector<entry> result;
        result.reserve(section.item_count());
        for (id item = 0; item < section.item_count(); ++item) {
            result.emplace_back(colors.item(item), item);
        }
        std::sort(result.begin(), result.end());
        return result;
    }

    [[nodiscard]] static bool is_single(const std::vector<entry>& all, std::size_t i) {
        return (i == 0 || all[i - 1].first != all[i].first) &&
               (i + 1 == all.size() || all[i + 1].first != all[i].first);
    }

    [[nodiscard]] static std::size_t next_open(const std::vector<entry>& all, std::size_t i,
                                               const std::vector<id>& partner) {
        while (i < all.size() && partner[all[i].second] != no_id) {
            ++i;
        }
        return i;
    }

    [[nodiscard]] bool pair(id item, id other) {
        if (match_.items[item] == no_id && back_[other] == no_id &&
            of_a_.item(item) == of_b_.item(other)) {
            match_.items[item] = other;
            back_[other] = item;
            open_.push_back(item);
        }
        return match_.items[item] == other;
    }

    /// Pairs the neighbours of paired items' values.
    [[nodiscard]] bool pair_around() {
        while (!open_.empty()) {
            const auto item = open_.back();
            open_.pop_back();
            const auto other = match_.items[item];
            if (!pair_values(a_.inputs(item), b_.inputs(other)) ||
                !pair_values(a_.outputs(item), b_.outputs(other))) {
                return false;
            }
        }
        return true;
    }

    [[nodiscard]] bool pair_values(std::span<const id> from, std::span<const id> to) {
        return std::equal(from.begin(), from.end(), to.begin(), to.end(),
                          [&](id value, id other) { return pair_value(value, other); });
    }

    [[nodiscard]] bool pair_value(id value, id other) {
        if (value == no_id || other == no_id || match_.values[value] != no_id) {
            return value == other || (value != no_id && match_.values[value] == other);
        }
        if (value_back_[other] != no_id || a_.mark(value) != b_.mark(other) ||
            of_a_.value(value) != of_b_.value(other)) {
            return false;
        }
        match_.values[value] = other;
        value_back_[other] = value;
        const auto maker = a_.maker(value);
        const auto other_maker = b_.maker(other);
        if (maker == no_id || other_maker == no_id) {
            return maker == other_maker && pair_readers(value, other);
        }
        return pair(maker, other_maker) && pair_readers(value, other);
    }

    /// Returns: the readers of a value, each once, by hash and by slot.
    [[nodiscard]] static std::vector<entry> readers_of(const section_colors& colors, id value) {
        std::vector<entry> result;
        const auto readers = colors.readers(value);
        const auto slots = colors.slots(value);
        for (std::size_t i = 0; i < readers.size(); ++i) {
            if (result.empty() || result.back().second != readers[i]) {
                result.emplace_back(colors.item(readers[i]), readers[i]);
            }
            result.back().first = hash_mix(result.back().first, slots[i]);
        }
        std::sort(result.begin(), result.end());
        return result;
    }

    [[nodiscard]] bool pair_readers(id value, id other) {
        tied_readers readers{readers_of(of_a_, value), readers_of(of_b_, other)};
        const auto& first = readers.first;
        const auto& second = readers.second;
        if (first.size() != second.size()) {
            return false;
        }
        bool tied = false;
        for (std::size_t i = 0; i < first.size(); ++i) {
            if (first[i].first != second[i].first) {
                return false;
            }
            if (!is_single(first, i)) {
                tied = true;
            } else if (!pair(first[i].second, second[i].second)) {
                return false;
            }
        }
        if (tied) {
            tied_.push_back(std::move(readers));
        }
        return true;
    }

    /// Pairs the next two readers that look the same, if any remain.
    [[nodiscard]] bool choose_reader() {
        auto& readers = tied_.back();
        readers.i = next_open(readers.first, readers.i, match_.items);
        readers.j = next_open(readers.second, readers.j, back_);
        const bool ends = readers.i == readers.first.size();
        if (ends || readers.j == readers.second.size()) {
            const bool both = ends && readers.j == readers.second.size();
            tied_.pop_back();
            return both;
        }
        return readers.first[readers.i].first == readers.second[readers.j].first &&
               pair(readers.first[readers.i].second, readers.second[readers.j].second);
    }

    const graph_section& a_;
    const graph_section& b_;
    const section_colors& of_a_;
    const section_colors& of_b_;
    section_match match_;
    std::vector<id> back_;       // by item of b
    std::vector<id> value_back_; // by value of b
    std::vector<id> open_;       // items of a whose values were not visited
    std::vector<tied_readers> tied_;
};

/// Compares two sections, regardless of the order of items. `same(i, j)` returns whether two items
/// with the same label do the same.
///
/// Returns: whether they are equal, and then fills in `match`: corresponding items are equivalent
/// and wired in the same way, and values have the same marks. If several items look the same from
/// all sides but are wired such that a choice between them can be wrong, it may fail to recognize
/// equality. Complexity: O(n log n) of items and reads.
template <class Same>
[[nodiscard]] bool match_sections(const graph_section& a, const section_colors& of_a,
                                  const graph_section& b, const section_colors& of_b, Same same,
                                  section_match& match) {
    section_matcher matcher(a, of_a, b, of_b);
    if (!matcher.run()) {
        return false;
    }
    match = std::move(matcher).take();
    for (id item = 0; item < a.item_count(); ++item) {
        const auto other = match.items[item];
        if (a.label(item) != b.label(other) || !same(item, other)) {
            return false;
        }
    }
    return true;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ALIGN_DETAIL_MATCH_SECTIONS_HPP
