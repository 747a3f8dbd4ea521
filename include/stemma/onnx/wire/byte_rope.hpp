// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_WIRE_BYTE_ROPE_HPP
#define STEMMA_ONNX_WIRE_BYTE_ROPE_HPP

#include <stemma/onnx/wire/message_edits.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stemma {

/// Bytes to be written: ranges of one file, and texts between them. Adjacent ranges become one.
class byte_rope {
public:
    /// Appends bytes of the file.
    void add_range(std::uint32_t begin, std::uint32_t size) {
        if (size == 0) {
            return;
        }
        size_ += size;
        if (!pieces_.empty() && pieces_.back().from_file &&
            pieces_.back().begin + pieces_.back().size == begin) {
            pieces_.back().size += size;
        } else {
            pieces_.push_back({begin, size, true});
        }
    }

    /// Appends other bytes.
    void add_text(std::string_view text) {
        if (text.empty()) {
            return;
        }
        size_ += text.size();
        if (!pieces_.empty() && !pieces_.back().from_file) {
            pieces_.back().size += static_cast<std::uint32_t>(text.size());
        } else {
            pieces_.push_back({static_cast<std::uint32_t>(text_.size()),
                               static_cast<std::uint32_t>(text.size()), false});
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

    /// Appends a field of bytes that holds another rope of the same file.
    void add_field(std::uint32_t field, const byte_rope& content) {
        std::string header;
        detail::append_tag(field, header);
        detail::append_varint(content.size(), header);
        add_text(header);
        append(content);
    }

    void append(const byte_rope& other) {
        for (const auto& p : other.pieces_) {
            p.from_file ? add_range(p.begin, p.size)
                        : add_text(std::string_view(other.text_).substr(p.begin, p.size));
        }
    }

    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

    /// Hands everything to a splice sink over the file.
    template <class Sink>
    void write(Sink& sink) const {
        for (const auto& p : pieces_) {
            if (p.from_file) {
                sink.copy(p.begin, p.size);
            } else {
                sink.write(std::string_view(text_).substr(p.begin, p.size));
            }
        }
    }

private:
    struct piece {
        std::uint32_t begin = 0; // in the file or in `text_`
        std::uint32_t size = 0;
        bool from_file = false;
    };

    std::vector<piece> pieces_;
    std::string text_;
    std::uint64_t size_ = 0;
};

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_BYTE_ROPE_HPP
