// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CHECKPOINT_DETAIL_CONTENT_MATCHER_HPP
#define STEMMA_CHECKPOINT_DETAIL_CONTENT_MATCHER_HPP

#include <stemma/checkpoint/checkpoint.hpp>
#include <stemma/checkpoint/detail/row_sketch.hpp>
#include <stemma/config.hpp>
#include <stemma/core/detail/hash.hpp>
#include <stemma/onnx/detail/data_hashes.hpp>
#include <stemma/onnx/detail/tensor_content.hpp>
#include <stemma/onnx/detail/tensor_size.hpp>
#include <stemma/onnx/tensor_header.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Finds entries of a checkpoint among the initializers of a model by contents:
/// - the same numbers in any order, after transposing, reshaping or reordering gates;
/// - several entries concatenated;
/// - the same rows, each multiplied by a factor, after folding a normalization, also transposed and
/// rounded to another type.
/// Tensors with all elements equal, or without floating-point elements, are no evidence.
class content_matcher {
public:
    /// Requires: the arguments outlive this.
    content_matcher(const wire_model& model, const checkpoint& saved)
        : model_(&model), saved_(&saved), reader_(model) {}

    /// Returns: for each initializer, as numbered by `wire_model::tensors`, the entries it was made
    /// from; none if unknown, or not `wanted`.
    /// Complexity: O(bytes of those wanted + bytes of the entries), if any are.
    [[nodiscard]] std::vector<std::vector<std::size_t>> match(const std::vector<bool>& wanted) {
        candidates_.assign(model_->tensors().size(), {});
        read_initializers(wanted);
        if (!open_.empty()) {
            read_entries();
            find_equal();
            find_joined();
            find_scaled();
        }
        return std::move(candidates_);
    }

private:
    /// Numbers in any order.
    struct contents {
        std::uint64_t sum = 0;
        std::uint64_t count = 0;
        std::int64_t data_type = 0;
        bool uniform = false; ///< all of them are equal

        friend bool operator==(const contents& a, const contents& b) noexcept {
            return a.sum == b.sum && a.count == b.count && a.data_type == b.data_type;
        }
    };

    struct contents_hash {
        [[nodiscard]] std::size_t operator()(const contents& of) const noexcept {
            return hash_mix(of.sum, of.count + static_cast<std::uint64_t>(of.data_type));
        }
    };

    /// An initializer without entries so far.
    struct open_initializer {
        std::size_t number;
        contents holds;
    };

    /// An entry viewed along an axis.
    struct entry_rows {
        std::size_t entry;
        row_sketch rows;
    };

    static constexpr std::uint64_t least_elements = 4; // unlikely to match by accident
    static constexpr std::size_t several = ~std::size_t{0};

    /// Adds numbers to the contents; `first` is the first number of all.
    static void add(contents& to, std::string_view bytes, std::string_view first) {
        const auto width = first.size();
        to.sum += sum_of_elements(bytes, static_cast<unsigned>(8 * width));
        to.count += bytes.size() / width;
        to.uniform = to.uniform && bytes.starts_with(first) &&
                     bytes.substr(width) == bytes.substr(0, bytes.size() - width);
    }

    void read_initializers(const std::vector<bool>& wanted) {
        const auto tensors = model_->tensors();
        for (std::size_t i = 0; i < tensors.size() && i < wanted.size(); ++i) {
            if (!wanted[i] || tensors[i].sparse) {
                continue;
            }
            const auto content = reader_.read(tensors[i]);
            const auto width = bits_of_type(content.header.data_type) / 8;
            const auto bytes = content.bytes();
            const auto count = content.header.elements();
            if (!content.readable || !is_floating_type(content.header.data_type) || width == 0 ||
                count < least_elements || bytes.size() / width != count) {
                continue;
            }
            contents holds{0, 0, content.header.data_type, true};
            add(holds, bytes, bytes.substr(0, width));
            if (!holds.uniform) {
                open_.push_back({i, holds});
            }
        }
    }

    void read_entries() {
        const auto entries = saved_->entries();
        for (std::size_t i = 0; i < entries.size(); ++i) {
            const auto& entry = entries[i];
            contents holds{0, 0, entry.data_type, true};
            if (entry.alias_of == i && entry.size > 0 && is_floating_type(entry.data_type)) {
                std::string first;
                saved_->for_each_piece(entry, [&](std::string_view piece) {
                    first = first.empty() ? std::string(piece.substr(0, entry.width)) : first;
                    add(holds, piece, first);
                });
            }
            entries_.push_back(holds);
        }
    }

    /// Removes the open initializers for which `find(holds)` knows entries.
    template <class Find>
    void close(Find find) {
        std::erase_if(open_, [&](const open_initializer& one) {
            candidates_[one.number] = find(one);
            return !candidates_[one.number].empty();
        });
    }

    /// Unchanged, or reordered.
    void find_equal() {
        std::unordered_map<contents, std::size_t, contents_hash> by_contents;
        for (std::size_t i = 0; i < entries_.size(); ++i) {
            if (entries_[i].count >= least_elements && !entries_[i].uniform) {
                const auto [entry, added] = by_contents.emplace(entries_[i], i);
                entry->second = added ? i : several;
            }
        }
        close([&](const open_initializer& one) -> std::vector<std::size_t> {
            const auto entry = by_contents.find(one.holds);
            if (entry == by_contents.end() || entry->second == several) {
                return {};
            }
            return {entry->second};
        });
    }

    /// Concatenated: the gates, biases and directions of a recurrent layer, or projections of one
    /// input. They are at equal distances in the checkpoint.
    void find_joined() {
        constexpr std::size_t most_joined = 4;
        constexpr std::size_t most_distance = 8;
        std::unordered_map<contents, std::vector<std::size_t>, contents_hash> wanted;
        for (const auto& one : open_) {
            wanted.emplace(one.holds, std::vector<std::size_t>());
        }
        for (std::size_t first = 0; first < entries_.size(); ++first) {
            for (std::size_t step = 1; step <= most_distance; ++step) {
                auto sum = entries_[first];
                std::vector<std::size_t> joined{first};
                for (auto i = first + step; i < entries_.size() && joined.size() < most_joined &&
                                            entries_[i].data_type == sum.data_type;
                     i += step) {
                    sum.sum += entries_[i].sum;
                    sum.count += entries_[i].count;
                    joined.push_back(i);
                    if (const auto entry = wanted.find(sum);
                        entry != wanted.end() && entry->second.empty()) {
                        entry->second = joined;
                    }
                }
            }
        }
        close([&](const open_initializer& one) { return wanted.find(one.holds)->second; });
    }

    /// With rows multiplied by factors.
    void find_scaled() {
        std::unordered_set<std::uint64_t> counts;
        for (const auto& one : open_) {
            counts.insert(one.holds.count);
        }
        std::vector<entry_rows> rows;
        std::unordered_map<std::uint64_t, std::vector<std::size_t>> by_key;
        for (std::size_t i = 0; i < entries_.size(); ++i) {
            const auto& entry = saved_->entries()[i];
            if (!counts.contains(entries_[i].count) || entries_[i].uniform) {
                continue;
            }
            const strided_floats floats{
                saved_->files()[entry.file].bytes().substr(entry.offset), entry.data_type,
                entry.shape, entry.is_contiguous() ? strides_of(entry.shape) : entry.strides};
            for_each_sketch(floats, [&](row_sketch sketch) {
                for (const auto key : sketch.keys()) {
                    by_key[key].push_back(rows.size());
                }
                rows.push_back({i, std::move(sketch)});
            });
        }
        if (rows.empty()) {
            return;
        }
        close([&](const open_initializer& one) { return find_scaled(one, rows, by_key); });
    }

    [[nodiscard]] std::vector<std::size_t>
    find_scaled(const open_initializer& one, const std::vector<entry_rows>& rows,
                const std::unordered_map<std::uint64_t, std::vector<std::size_t>>& by_key) {
        constexpr std::size_t most_alike = 16; // examined one by one
        const auto content = reader_.read(model_->tensors()[one.number]);
        const auto& dims = content.header.dims;
        std::size_t entry = several;
        bool one_only = true;
        for_each_sketch({content.bytes(), content.header.data_type, dims, strides_of(dims)},
                        [&](const row_sketch& sketch) {
                            for (const auto key : sketch.keys()) {
                                const auto alike = by_key.find(key);
                                if (alike == by_key.end() || alike->second.size() > most_alike) {
                                    continue;
                                }
                                for (const auto number : alike->second) {
                                    const auto& other = rows[number];
                                    if (other.entry != entry && sketch.fits(other.rows)) {
                                        one_only = one_only && entry == several;
                                        entry = other.entry;
                                    }
                                }
                            }
                        });
        return entry == several || !one_only ? std::vector<std::size_t>()
                                             : std::vector<std::size_t>{entry};
    }

    /// Along the first axis and along the second.
    template <class Function>
    static void for_each_sketch(const strided_floats& floats, Function f) {
        if (is_real_type(floats.data_type)) {
            for (std::size_t axis = 0; axis < 2 && floats.shape.size() > 1; ++axis) {
                f(row_sketch(floats, axis));
            }
        }
    }

    [[nodiscard]] static std::vector<std::int64_t>
    strides_of(const std::vector<std::int64_t>& shape) {
        std::vector<std::int64_t> strides(shape.size(), 1);
        for (auto axis = shape.size(); axis-- > 1;) {
            strides[axis - 1] = strides[axis] * shape[axis];
        }
        return strides;
    }

    const wire_model* model_;
    const checkpoint* saved_;
    tensor_content_reader reader_;
    std::vector<open_initializer> open_;
    std::vector<contents> entries_; // by number
    std::vector<std::vector<std::size_t>> candidates_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CHECKPOINT_DETAIL_CONTENT_MATCHER_HPP
