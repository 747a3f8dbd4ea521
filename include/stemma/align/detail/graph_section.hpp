// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ALIGN_DETAIL_GRAPH_SECTION_HPP
#define STEMMA_ALIGN_DETAIL_GRAPH_SECTION_HPP

#include <stemma/core/detail/grouped_ids.hpp>
#include <stemma/core/detail/hash.hpp>
#include <stemma/core/id.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// A piece of a graph to be compared with others: items, and the values in and around it. Both are
/// numbered from 0, in order of addition.
class graph_section {
public:
    /// Returns: a new value. Marks are equal if values may correspond, regardless of producers and
    /// readers.
    id add_value(std::uint64_t mark = 0) {
        marks_.push_back(mark);
        makers_.push_back(no_id);
        return static_cast<id>(marks_.size() - 1);
    }

    /// Adds to the mark of a value.
    void mark(id value, std::uint64_t more) { marks_[value] = hash_mix(marks_[value], more); }

    /// Returns: a new item. Labels are equal if items may correspond. Requires: no value is
    /// produced twice; `no_id` is an omitted one. Complexity: O(values).
    id add_item(std::uint64_t label, std::span<const id> inputs, std::span<const id> outputs) {
        const auto item = static_cast<id>(labels_.size());
        labels_.push_back(label);
        inputs_.insert(inputs_.end(), inputs.begin(), inputs.end());
        first_input_.push_back(static_cast<id>(inputs_.size()));
        outputs_.insert(outputs_.end(), outputs.begin(), outputs.end());
        first_output_.push_back(static_cast<id>(outputs_.size()));
        for (auto value : outputs) {
            if (value != no_id) {
                makers_[value] = item;
            }
        }
        return item;
    }

    /// Returns: the number of items.
    [[nodiscard]] id item_count() const noexcept { return static_cast<id>(labels_.size()); }
    /// Returns: the number of values.
    [[nodiscard]] id value_count() const noexcept { return static_cast<id>(marks_.size()); }
    /// Returns: the label as given.
    [[nodiscard]] std::uint64_t label(id item) const noexcept { return labels_[item]; }
    /// Returns: the combined marks of a value.
    [[nodiscard]] std::uint64_t mark(id value) const noexcept { return marks_[value]; }
    /// Returns: the item that produces a value; `no_id` for none.
    [[nodiscard]] id maker(id value) const noexcept { return makers_[value]; }
    /// Returns: values, by slot.
    [[nodiscard]] std::span<const id> inputs(id item) const noexcept {
        return std::span(inputs_).subspan(first_input_[item],
                                          first_input_[item + 1] - first_input_[item]);
    }
    /// Returns: values, by slot.
    [[nodiscard]] std::span<const id> outputs(id item) const noexcept {
        return std::span(outputs_).subspan(first_output_[item],
                                           first_output_[item + 1] - first_output_[item]);
    }

    /// Calls `f(item, slot, value)` for every read. Complexity: O(reads).
    template <class Function>
    void for_each_read(Function f) const {
        for (id item = 0; item < item_count(); ++item) {
            const auto read = inputs(item);
            for (id slot = 0; slot < read.size(); ++slot) {
                if (read[slot] != no_id) {
                    f(item, slot, read[slot]);
                }
            }
        }
    }

private:
    std::vector<std::uint64_t> labels_; // by item
    std::vector<id> first_input_{0};    // by item, plus one
    std::vector<id> first_output_{0};   // by item, plus one
    std::vector<id> inputs_;
    std::vector<id> outputs_;
    std::vector<std::uint64_t> marks_; // by value
    std::vector<id> makers_;           // by value
};

/// Hashes that are equal for items, values and whole sections in the same position of equal
/// sections, regardless of the order of items. Different ones may have equal hashes by chance, or
/// if only distant surroundings distinguish them.
class section_colors {
public:
    /// Requires: `section` outlives this. Complexity: O(items + values + reads).
    explicit section_colors(const graph_section& section)
        : section_(&section)
        , readers_(section.value_count(),
                   [&](auto take) {
                       section.for_each_read([&](id item, id, id value) { take(value, item); });
                   })
        , slots_(section.value_count(), [&](auto take) {
            section.for_each_read([&](id, id slot, id value) { take(value, slot); });
        }) {
        items_.resize(section.item_count());
        for (id item = 0; item < items_.size(); ++item) {
            items_[item] = section.label(item);
        }
        values_.resize(section.value_count());
        for (id value = 0; value < values_.size(); ++value) {
            values_[value] = section.mark(value);
        }
        find_order();
        // Twice, so that the uses of a value reach everything computed beside it.
        for (int round = 0; round < 2; ++round) {
            look_back();
            look_ahead();
        }
        for (auto color : items_) {
            digest_ += hash_mix(color, 1);
        }
        for (auto color : values_) {
            digest_ += hash_mix(color, 2);
        }
    }

    /// Returns: the hash of an item.
    [[nodiscard]] std::uint64_t item(id item) const noexcept { return items_[item]; }
    /// Returns: the hash of a value.
    [[nodiscard]] std::uint64_t value(id value) const noexcept { return values_[value]; }
    /// Returns: the hash of the section.
    [[nodiscard]] std::uint64_t digest() const noexcept { return digest_; }
    /// Returns: the items that read a value, ascending, once per read.
    [[nodiscard]] std::span<const id> readers(id value) const noexcept { return readers_[value]; }
    /// Returns: the input slots of those reads.
    [[nodiscard]] std::span<const id> slots(id value) const noexcept { return slots_[value]; }

private:
    /// Producers first; items in a cycle come last.
    void find_order() {
        std::vector<id> waiting(items_.size(), 0);
        section_->for_each_read([&](id item, id, id value) {
            waiting[item] += section_->maker(value) == no_id ? 0U : 1U;
        });
        order_.reserve(items_.size());
        for (id item = 0; item < items_.size(); ++item) {
            if (waiting[item] == 0) {
                order_.push_back(item);
            }
        }
        for (std::size_t next = 0; next < order_.size(); ++next) {
            for (auto value : section_->outputs(order_[next])) {
                if (value == no_id) {
                    continue;
                }
                for (auto reader : readers_[value]) {
                    if (--waiting[reader] == 0) {
                        order_.push_back(reader);
                    }
                }
            }
        }
        for (id item = 0; order_.size() < items_.size(); ++item) {
            if (waiting[item] != 0) {
                order_.push_back(item);
            }
        }
    }

    void look_back() {
        for (auto item : order_) {
            auto color = items_[item];
            for (auto value : section_->inputs(item)) {
                color = hash_mix(color, value == no_id ? 0 : values_[value]);
            }
            items_[item] = color;
            std::uint64_t slot = 0;
            for (auto value : section_->outputs(item)) {
                ++slot;
                if (value != no_id) {
                    values_[value] = hash_mix(values_[value], hash_mix(color, slot));
                }
            }
        }
    }

    void look_ahead() {
        std::vector<std::uint64_t> uses(values_.size(), 0);
        for (auto next = order_.size(); next-- > 0;) {
            const auto item = order_[next];
            auto color = items_[item];
            for (auto value : section_->outputs(item)) {
                color = hash_mix(color, value == no_id ? 0 : hash_mix(uses[value], 3));
            }
            items_[item] = color;
            std::uint64_t slot = 0;
            for (auto value : section_->inputs(item)) {
                ++slot;
                if (value != no_id) {
                    uses[value] += hash_mix(color, slot);
                }
            }
        }
        for (id value = 0; value < values_.size(); ++value) {
            values_[value] = hash_mix(values_[value], uses[value]);
        }
    }

    const graph_section* section_;
    grouped_ids readers_; // by value
    grouped_ids slots_;   // by value
    std::vector<id> order_;
    std::vector<std::uint64_t> items_;  // by item
    std::vector<std::uint64_t> values_; // by value
    std::uint64_t digest_ = 0;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ALIGN_DETAIL_GRAPH_SECTION_HPP
