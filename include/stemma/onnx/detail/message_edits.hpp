// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_MESSAGE_EDITS_HPP
#define STEMMA_ONNX_DETAIL_MESSAGE_EDITS_HPP

#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/onnx/detail/wire_text.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Replaces `removed` bytes of a file at `at` by `text`.
struct edit {
    std::uint32_t at = 0;      ///< offset from the start of the file
    std::uint32_t removed = 0; ///< how many bytes
    std::string_view text;     ///< valid until the list changes
};

/// Changes within one message, in file order: a list that is filled, read and cleared repeatedly.
class message_edits {
public:
    /// Clears all edits; memory is kept.
    void clear() noexcept {
        records_.clear();
        text_.clear();
        growth_ = 0;
    }

    /// Whether nothing changes.
    [[nodiscard]] bool empty() const noexcept { return records_.empty(); }

    /// Returns: the growth of the content in bytes; negative if it shrinks.
    [[nodiscard]] std::int64_t growth() const noexcept { return growth_; }

    /// Requires: edits are reported in file order and do not overlap.
    void replace(std::uint32_t begin, std::uint32_t end, std::string_view text) {
        add(begin, end - begin, text_.size(), text.size(), nullptr);
        text_.append(text);
    }

    /// As `insert`, for a StringStringEntryProto as a field.
    void insert_entry(std::uint32_t at, std::uint32_t field, std::string_view key,
                      std::string_view value) {
        const auto begin = text_.size();
        detail::append_entry(field, key, value, text_);
        add(at, 0, begin, text_.size() - begin, nullptr);
    }

    /// As `insert`, for a text or a message as a field.
    void insert_field(std::uint32_t at, std::uint32_t field, std::string_view content) {
        const auto begin = text_.size();
        detail::append_field(field, content, text_);
        add(at, 0, begin, text_.size() - begin, nullptr);
    }

    /// As `insert`, for a text that outlives the list and is not copied.
    void insert_kept(std::uint32_t at, std::string_view text) {
        add(at, 0, 0, text.size(), text.data());
    }

    /// As `replace` with nothing.
    void remove(std::uint32_t begin, std::uint32_t end) { replace(begin, end, {}); }

    /// As `replace` of nothing.
    void insert(std::uint32_t at, std::string_view text) { replace(at, at, text); }

    /// Replaces the content [begin, end) of a length-delimited field, along with its length.
    void replace_content(const char* base, std::uint32_t begin, std::uint32_t end,
                         std::string_view content) {
        std::string text;
        detail::append_varint(content.size(), text);
        text.append(content);
        replace(detail::length_position(base, begin), end, text);
    }

    /// Calls `f(edit)` in file order. The texts are valid until the next change.
    /// Complexity: O(edits).
    template <class Function>
    void for_each(Function f) const {
        for (const auto& r : records_) {
            f(edit{r.at, r.removed, {r.kept != nullptr ? r.kept : text_.data() + r.text, r.size}});
        }
    }

private:
    struct record {
        std::uint32_t at;
        std::uint32_t removed;
        std::size_t text; // offset into `text_`
        std::uint32_t size;
        const char* kept; // or a pointer to text elsewhere
    };

    void add(std::uint32_t at, std::uint32_t removed, std::size_t text, std::size_t size,
             const char* kept) {
        // Assign members separately: copying a whole temporary stalls on store forwarding.
        auto& added = records_.emplace_back();
        added.at = at;
        added.removed = removed;
        added.text = text;
        added.size = static_cast<std::uint32_t>(size);
        added.kept = kept;
        growth_ += static_cast<std::int64_t>(size) - removed;
    }

    std::vector<record> records_;
    std::string text_;
    std::int64_t growth_ = 0;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_MESSAGE_EDITS_HPP
