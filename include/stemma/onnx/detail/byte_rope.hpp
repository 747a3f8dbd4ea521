// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_BYTE_ROPE_HPP
#define STEMMA_ONNX_DETAIL_BYTE_ROPE_HPP

#include <stemma/core/id.hpp>
#include <stemma/onnx/detail/message_edits.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stemma {

/// Bytes to be written: ranges of files, and texts between them. Adjacent ranges become one.
class byte_rope {
public:
    /// Appends bytes of file number `file`.
    void add_range(std::uint64_t begin, std::uint64_t size, id file = 0) {
        if (size == 0) {
            return;
        }
        size_ += size;
        if (!pieces_.empty() && pieces_.back().file == file &&
            pieces_.back().begin + pieces_.back().size == begin) {
            pieces_.back().size += size;
        } else {
            pieces_.push_back({begin, size, file});
        }
    }

    /// Appends other bytes.
    void add_text(std::string_view text) {
        if (text.empty()) {
            return;
        }
        size_ += text.size();
        if (!pieces_.empty() && pieces_.back().file == no_id) {
            pieces_.back().size += text.size();
        } else {
            pieces_.push_back({text_.size(), text.size(), no_id});
        }
        text_.append(text);
    }

    /// Appends a field of bytes that holds a message of the file: as it stands there, when its tag
    /// and length are written as we would.
    void add_message(std::string_view file, std::uint32_t field, std::uint32_t begin,
                     std::uint32_t size) {
        std::string header;
        detail::append_tag(field, header);
        detail::append_varint(size, header);
        if (begin >= header.size() && file.substr(begin - header.size(), header.size()) == header) {
            add_range(begin - static_cast<std::uint32_t>(header.size()),
                      static_cast<std::uint32_t>(header.size()) + size);
        } else {
            add_text(header);
            add_range(begin, size);
        }
    }

    /// Appends a field of bytes with this content.
    void add_field(std::uint32_t field, std::string_view content) {
        std::string text;
        detail::append_field(field, content, text);
        add_text(text);
    }

    /// Appends a field of bytes that holds another rope.
    void add_field(std::uint32_t field, const byte_rope& content) {
        std::string header;
        detail::append_tag(field, header);
        detail::append_varint(content.size(), header);
        add_text(header);
        append(content);
    }

    /// Appends a StringStringEntryProto as a field.
    void add_entry(std::uint32_t field, std::string_view key, std::string_view value) {
        std::string text;
        detail::append_entry(field, key, value, text);
        add_text(text);
    }

    /// Appends all pieces of another rope, over the same files.
    /// Complexity: O(pieces + bytes of texts).
    void append(const byte_rope& other) {
        for (const auto& p : other.pieces_) {
            p.file == no_id ? add_text(std::string_view(other.text_).substr(p.begin, p.size))
                            : add_range(p.begin, p.size, p.file);
        }
    }

    /// Returns: bytes, those of ranges included.
    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

    /// Calls `range(file, begin, size)` and `text(bytes)` for all pieces in order.
    /// Complexity: O(pieces).
    template <class Range, class Text>
    void for_each(Range range, Text text) const {
        for (const auto& p : pieces_) {
            if (p.file == no_id) {
                text(std::string_view(text_).substr(p.begin, p.size));
            } else {
                range(p.file, p.begin, p.size);
            }
        }
    }

    /// Hands everything to a splice sink over the one file there is.
    template <class Sink>
    void write(Sink& sink) const {
        for_each(
            [&](id, std::uint64_t begin, std::uint64_t size) {
                sink.copy(static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(size));
            },
            [&](std::string_view text) { sink.write(text); });
    }

private:
    struct piece {
        std::uint64_t begin = 0; // in the file, or in `text_`
        std::uint64_t size = 0;
        id file = no_id;
    };

    std::vector<piece> pieces_;
    std::string text_;
    std::uint64_t size_ = 0;
};

} // namespace stemma

#endif // STEMMA_ONNX_DETAIL_BYTE_ROPE_HPP
