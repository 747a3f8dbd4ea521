// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_WIRE_MESSAGE_EDITS_HPP
#define STEMMA_ONNX_WIRE_MESSAGE_EDITS_HPP

#include <stemma/core/id.hpp>
#include <stemma/detail/onnx_fields.hpp>
#include <stemma/onnx/wire/wire_reader.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stemma {

namespace detail {

inline void append_varint(std::uint64_t value, std::string& out) {
    for (; value >= 0x80; value >>= 7U) {
        out.push_back(static_cast<char>(value | 0x80U));
    }
    out.push_back(static_cast<char>(value));
}

/// Appends the tag of a field of bytes.
inline void append_tag(std::uint32_t field, std::string& out) {
    append_varint(field << 3U | 2U, out);
}

/// Appends a field of bytes: tag, length, content.
inline void append_field(std::uint32_t field, std::string_view content, std::string& out) {
    append_tag(field, out);
    append_varint(content.size(), out);
    out.append(content);
}

/// Appends a field that holds a number; one below zero as protobuf has it, in ten bytes.
inline void append_number(std::uint32_t field, std::int64_t number, std::string& out) {
    append_varint(field << 3U, out);
    append_varint(static_cast<std::uint64_t>(number), out);
}

/// Appends a StringStringEntryProto as a field.
inline void append_entry(std::uint32_t field, std::string_view key, std::string_view value,
                         std::string& out) {
    using entry = onnx_fields::entry;
    const auto size =
        2 + varint_size(key.size()) + key.size() + varint_size(value.size()) + value.size();
    append_tag(field, out);
    append_varint(size, out);
    append_field(entry::key, key, out);
    append_field(entry::value, value, out);
}

} // namespace detail

/// Replaces `removed` bytes of a file at `at` by `text`.
struct edit {
    std::uint32_t at = 0;      ///< bytes from the start of the file
    std::uint32_t removed = 0; ///< how many bytes
    std::string_view text;     ///< valid until the list changes
};

/// What changes inside one message, in file order: a list that is filled, read and cleared again.
class message_edits {
public:
    /// Forgets all edits; the memory is kept.
    void clear() noexcept {
        records_.clear();
        text_.clear();
        growth_ = 0;
    }

    /// Whether nothing changes.
    [[nodiscard]] bool empty() const noexcept { return records_.empty(); }

    /// Returns: by how many bytes the content grows; negative when it shrinks.
    [[nodiscard]] std::int64_t growth() const noexcept { return growth_; }

    /// Requires: edits are reported in file order and do not overlap.
    void replace(std::uint32_t begin, std::uint32_t end, std::string_view text) {
        records_.push_back({begin, end - begin, static_cast<std::uint32_t>(text_.size()),
                            static_cast<std::uint32_t>(text.size())});
        text_.append(text);
        growth_ += static_cast<std::int64_t>(text.size()) - (end - begin);
    }

    /// As `replace` by nothing.
    void remove(std::uint32_t begin, std::uint32_t end) { replace(begin, end, {}); }

    /// As `replace` of nothing.
    void insert(std::uint32_t at, std::string_view text) { replace(at, at, text); }

    /// Gives a field of bytes with content at [begin, end) other content, and the length for it.
    void replace_content(const char* base, std::uint32_t begin, std::uint32_t end,
                         std::string_view content) {
        std::string length;
        detail::append_varint(content.size(), length);
        replace(detail::length_position(base, begin), begin, length);
        replace(begin, end, content);
    }

    /// Calls `f(edit)` in file order. The texts are valid until the next change.
    /// Complexity: O(edits).
    template <class Function>
    void for_each(Function f) const {
        for (const auto& r : records_) {
            f(edit{r.at, r.removed, std::string_view(text_).substr(r.text, r.size)});
        }
    }

private:
    struct record {
        std::uint32_t at;
        std::uint32_t removed;
        std::uint32_t text;
        std::uint32_t size;
    };

    std::vector<record> records_;
    std::string text_;
    std::int64_t growth_ = 0;
};

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_MESSAGE_EDITS_HPP
