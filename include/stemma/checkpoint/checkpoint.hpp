// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CHECKPOINT_CHECKPOINT_HPP
#define STEMMA_CHECKPOINT_CHECKPOINT_HPP

#include <stemma/config.hpp>
#include <stemma/io/mapped_file.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// The tensors of a checkpoint in one file or several, which stay mapped; data are read on demand.
class checkpoint {
public:
    /// A tensor of a checkpoint: its description, and where its elements are.
    struct entry {
        std::string name{};         ///< in the state dict: `encoder.layer.0.attention.weight`
        std::int32_t data_type = 0; ///< a number in TensorProto.DataType
        std::uint32_t width = 0;    ///< bytes of one element
        std::vector<std::int64_t> shape{};   ///< extents, none for a scalar
        std::vector<std::int64_t> strides{}; ///< in elements; empty if contiguous
        std::size_t file = 0;                ///< number of the file, see `checkpoint::file`
        std::uint64_t offset = 0;            ///< of the first element in that file
        std::uint64_t size = 0;              ///< bytes of all elements
        std::size_t alias_of = 0; ///< the first entry at the same place in the same storage; itself
                                  ///< if there is none before
        bool trainable = false;   ///< whether the file says that it requires a gradient

        /// Whether its elements are contiguous in the file, so that they can be copied directly.
        [[nodiscard]] bool is_contiguous() const noexcept { return strides.empty(); }
    };

    /// A module named by a checkpoint, with or without tensors.
    struct module {
        std::string path{};            ///< "" for the root
        std::string qualified_class{}; ///< "" if not given
    };

    /// Requires: entries lie within the files, have unique names, and the size that their shape
    /// implies. Complexity: O(entries).
    checkpoint(std::vector<mapped_file> files, std::vector<entry> entries,
               std::vector<module> modules = {})
        : files_(std::move(files)), entries_(std::move(entries)), modules_(std::move(modules)) {
        for (std::size_t i = 0; i < entries_.size(); ++i) {
            by_name_.emplace(entries_[i].name, i);
        }
    }

    checkpoint(checkpoint&&) = default;
    checkpoint& operator=(checkpoint&&) = default;

    /// The tensors, in the order of the files.
    [[nodiscard]] std::span<const entry> entries() const noexcept { return entries_; }

    /// The modules that the file names besides those in the names of tensors, parents first; none
    /// if it names no modules.
    [[nodiscard]] std::span<const module> modules() const noexcept { return modules_; }

    /// The files: one, or those listed by an index.
    [[nodiscard]] std::span<const mapped_file> files() const noexcept { return files_; }

    /// Returns: the entry with that name, or null.
    [[nodiscard]] const entry* find(std::string_view name) const {
        const auto at = by_name_.find(name);
        return at == by_name_.end() ? nullptr : &entries_[at->second];
    }

    /// Returns: the bytes of an entry, in place. Requires: it is contiguous.
    [[nodiscard]] std::string_view mapped_bytes(const entry& tensor) const {
        STEMMA_ASSERT(tensor.is_contiguous(), "the elements are contiguous");
        return files_[tensor.file].bytes().substr(tensor.offset, tensor.size);
    }

    /// Calls `f(bytes)` for consecutive pieces of an entry's elements, in row-major order; a piece
    /// is valid during the call. Pages that were read are released from the process's memory.
    /// Complexity: O(bytes); memory for one piece.
    template <class Function>
    void for_each_piece(const entry& tensor, Function f) const {
        if (tensor.is_contiguous()) {
            const auto& file = files_[tensor.file];
            for (std::uint64_t at = 0; at < tensor.size; at += piece_size) {
                const auto size = std::min(piece_size, tensor.size - at);
                f(file.bytes().substr(tensor.offset + at, size));
                file.release(tensor.offset + at, size);
            }
        } else {
            gather(tensor, f);
        }
    }

    /// Returns: the elements of an entry. Complexity: O(bytes).
    [[nodiscard]] std::string bytes(const entry& tensor) const {
        std::string all;
        all.reserve(tensor.size);
        for_each_piece(tensor, [&](std::string_view piece) { all.append(piece); });
        return all;
    }

private:
    static constexpr std::uint64_t piece_size = 1U << 22U;

    /// Gathers non-contiguous elements.
    template <class Function>
    void gather(const entry& tensor, Function f) const {
        constexpr std::size_t full = 1U << 16U;
        const char* const begin = files_[tensor.file].bytes().data() + tensor.offset;
        const auto rank = tensor.shape.size();
        std::vector<std::int64_t> index(rank, 0);
        std::string piece;
        std::int64_t at = 0;
        for (auto remaining = tensor.size / tensor.width; remaining > 0; --remaining) {
            piece.append(begin + at * static_cast<std::int64_t>(tensor.width), tensor.width);
            if (piece.size() >= full) {
                f(std::string_view(piece));
                piece.clear();
            }
            for (auto axis = rank; axis-- > 0;) {
                at += tensor.strides[axis];
                if (++index[axis] < tensor.shape[axis]) {
                    break;
                }
                at -= tensor.strides[axis] * tensor.shape[axis];
                index[axis] = 0;
            }
        }
        if (!piece.empty()) {
            f(std::string_view(piece));
        }
    }

    std::vector<mapped_file> files_;
    std::vector<entry> entries_;
    std::vector<module> modules_;
    std::unordered_map<std::string_view, std::size_t> by_name_; // views of the entries' names
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_CHECKPOINT_CHECKPOINT_HPP
