// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_MESSAGE_TREE_HPP
#define STEMMA_ONNX_DETAIL_MESSAGE_TREE_HPP

#include <stemma/core/id.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/onnx/detail/wire_text.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

class edited_field;

/// A protobuf message to be written: ranges of mapped files, new fields between them, and nested
/// messages, whose lengths follow from their contents.
///
/// It is built from front to back. `edit` iterates over the fields of a message in a file; each can
/// be erased, set, or edited recursively. The others stay as they are, including padding, unknown
/// fields and order, and adjacent ones become one range, so a model with one changed node is a
/// handful of ranges. `append` adds fields. Sizes are known as soon as a message is complete:
/// nothing is measured again, and writing is one pass.
///
/// Used by the verbs that change what a model contains. Those that add to nearly every message, or
/// remove from it, such as `tag` and `strip`, use `rewrite` instead, which measures and writes
/// messages as it meets them, in several threads and without a tree in memory.
class message_tree {
public:
    /// The number of a file that no longer exists when the tree is written: its bytes are copied.
    static constexpr id in_memory = no_id;

    /// Unchanged fields of at most this size are copied if they follow new ones: a range of the
    /// file would take more memory.
    static constexpr std::uint32_t usual_copies = 32;

    message_tree() = default;

    /// With a limit other than `usual_copies`; 0 makes ranges of everything unchanged.
    explicit message_tree(std::uint32_t most_copied) : most_copied_(most_copied) {}

    /// Appends bytes of file number `file`. Adjacent ranges are merged.
    void add_range(std::uint64_t begin, std::uint64_t size, id file = 0) {
        if (size == 0) {
            return;
        }
        size_ += size;
        extend({begin, size, file});
    }

    /// Appends other bytes: whole fields.
    void add_text(std::string_view text) {
        const auto begin = text_.size();
        text_.append(text);
        take_text(begin);
    }

    /// Appends a length-delimited field.
    void append(std::uint32_t field, std::string_view content) {
        const auto begin = text_.size();
        detail::append_field(field, content, text_);
        take_text(begin);
    }

    /// Appends a numeric field.
    void append_number(std::uint32_t field, std::int64_t number) {
        const auto begin = text_.size();
        detail::append_number(field, number, text_);
        take_text(begin);
    }

    /// Appends a StringStringEntryProto as a field.
    void append_entry(std::uint32_t field, std::string_view key, std::string_view value) {
        const auto begin = text_.size();
        detail::append_entry(field, key, value, text_);
        take_text(begin);
    }

    /// Appends a message as a field: what `content()` adds to this tree.
    template <std::invocable Function>
    void append(std::uint32_t field, Function content) {
        const auto opened = open(field);
        content();
        close(opened);
    }

    /// Appends a complete message as a field. Complexity: as below.
    void append(std::uint32_t field, const message_tree& content) {
        append(field, [&] { append(content); });
    }

    /// Appends all fields of another tree over the same files.
    /// Complexity: O(pieces + bytes of texts).
    void append(const message_tree& other) { append(other, 0, other.pieces_.size()); }

    /// Appends a message of file 0, whose bytes are `file`, as a field: verbatim, if its tag and
    /// length are encoded as we would.
    void append_message(std::string_view file, std::uint32_t field, std::uint32_t begin,
                        std::uint32_t size) {
        char text[2 * max_varint_size];
        const auto* const end = put_header(field, size, text);
        const std::string_view header(text, static_cast<std::size_t>(end - text));
        if (begin >= header.size() && file.substr(begin - header.size(), header.size()) == header) {
            add_range(begin - header.size(), header.size() + size);
        } else {
            add_text(header);
            add_range(begin, size);
        }
    }

    /// Appends the message that `fields` reads, of file number `file`: `change(field)` decides
    /// about each `edited_field`, and may append fields before it.
    /// Returns: whether anything has changed.
    /// Complexity: O(fields), and that of `change`.
    template <std::invocable<edited_field&> Function>
    bool edit(wire_reader fields, Function change, id file = 0);

    /// The same as a field, but only if anything changes. Returns: whether it did. Complexity: as
    /// above.
    template <std::invocable<edited_field&> Function>
    bool append_edited(std::uint32_t field, wire_reader fields, Function change, id file = 0);

    /// Returns: the size in bytes, including ranges.
    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

    /// Returns: the number of pieces; whatever is appended next begins another one.
    std::size_t seal() noexcept { return sealed_ = pieces_.size(); }

    /// Appends `count` pieces of another tree over the same files, from number `first` on.
    /// Requires: `other` was sealed at both ends. Complexity: O(count + bytes of texts between
    /// them).
    void append(const message_tree& other, std::size_t first, std::size_t count) {
        for (auto i = first; i < first + count; ++i) {
            const auto& p = other.pieces_[i];
            if (p.file == text_of_tree) {
                add_text(std::string_view(other.text_).substr(p.begin, p.size));
            } else if (p.file == header_of_message) {
                pieces_.push_back(p);
                size_ += header_size(p);
            } else {
                add_range(p.begin, p.size, p.file);
            }
        }
    }

    /// Calls `range(file, begin, size)` and `text(bytes)` for all pieces in order.
    /// Complexity: O(pieces).
    template <class Range, class Text>
    void for_each(Range range, Text text) const {
        for (const auto& p : pieces_) {
            if (p.file == text_of_tree) {
                text(std::string_view(text_).substr(p.begin, p.size));
            } else if (p.file == header_of_message) {
                char header[2 * max_varint_size];
                const auto* const end =
                    put_header(static_cast<std::uint32_t>(p.begin), p.size, header);
                text(std::string_view(header, static_cast<std::size_t>(end - header)));
            } else {
                range(p.file, p.begin, p.size);
            }
        }
    }

    /// Passes everything to a splice sink over the only file.
    /// Complexity: O(bytes).
    template <class Sink>
    void write(Sink& sink) const {
        for_each(
            [&](id, std::uint64_t begin, std::uint64_t size) {
                sink.copy(static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(size));
            },
            [&](std::string_view text) { sink.write(text); });
    }

    /// Returns: everything, over the only file. Complexity: O(bytes).
    [[nodiscard]] std::string text(std::string_view file) const {
        std::string bytes;
        bytes.reserve(size_);
        for_each([&](id, std::uint64_t begin,
                     std::uint64_t size) { bytes.append(file.substr(begin, size)); },
                 [&](std::string_view more) { bytes.append(more); });
        return bytes;
    }

private:
    friend class edited_field;

    static constexpr id text_of_tree = no_id;
    static constexpr id header_of_message = no_id - 1;

    struct piece {
        std::uint64_t begin = 0; // in the file, or in `text_`; for a header: the field number
        std::uint64_t size = 0;  // for a header: of the message's content
        id file = no_id;
    };

    [[nodiscard]] static std::uint64_t header_size(const piece& header) noexcept {
        return varint_size(header.begin << 3U) + varint_size(header.size);
    }

    /// A message being appended, and the preceding state.
    struct opened_message {
        std::size_t header;
        std::size_t text;
        std::uint64_t size;
    };

    opened_message open(std::uint32_t field) {
        pieces_.push_back({field, 0, header_of_message});
        return {pieces_.size() - 1, text_.size(), size_};
    }

    /// A short message of texts becomes a text itself.
    void close(const opened_message& message) {
        constexpr std::uint64_t most_moved = 1024;
        auto& header = pieces_[message.header];
        header.size = size_ - message.size;
        const bool is_text = pieces_.size() == message.header + 1 ||
                             (pieces_.size() == message.header + 2 && ends_in_text());
        if (!is_text || header.size > most_moved) {
            size_ += header_size(header);
            return;
        }
        char bytes[2 * max_varint_size];
        const auto* const end =
            put_header(static_cast<std::uint32_t>(header.begin), header.size, bytes);
        text_.insert(message.text, bytes, static_cast<std::size_t>(end - bytes));
        pieces_.resize(message.header);
        size_ = message.size;
        take_text(message.text);
    }

    /// Discards a message.
    void drop(const opened_message& message) {
        pieces_.resize(message.header);
        text_.resize(message.text);
        size_ = message.size;
    }

    /// Whether short pieces are better copied than referenced.
    [[nodiscard]] bool ends_in_text() const noexcept {
        return !pieces_.empty() && pieces_.back().file >= header_of_message;
    }

    void extend(piece next) {
        if (pieces_.size() > sealed_ && pieces_.back().file == next.file &&
            pieces_.back().begin + pieces_.back().size == next.begin) {
            pieces_.back().size += next.size;
        } else {
            pieces_.push_back(next);
        }
    }

    /// Makes a piece of what was appended to `text_`.
    void take_text(std::size_t begin) {
        if (const auto size = text_.size() - begin; size > 0) {
            size_ += size;
            extend({begin, size, text_of_tree});
        }
    }

    std::vector<piece> pieces_;
    std::string text_;
    std::uint64_t size_ = 0;
    std::size_t sealed_ = 0; // pieces not to be merged with
    std::uint32_t most_copied_ = usual_copies;
};

/// A field of a message that a `message_tree` iterates over. It stays as it is unless one of the
/// functions below is called.
class edited_field : public wire_field {
public:
    /// Requires: both outlive it.
    edited_field(message_tree& tree, const wire_reader& around, id file)
        : tree_(tree), around_(around), file_(file) {}

    /// Returns: the content of a length-delimited field.
    [[nodiscard]] std::string_view text() const noexcept { return around_.text(*this); }

    /// Returns: the entire field, including tag and length.
    [[nodiscard]] std::string_view whole() const noexcept { return around_.whole(*this); }

    /// Returns: a reader of the message in it.
    [[nodiscard]] wire_reader inner() const noexcept { return around_.inner(*this); }

    /// Returns: the reader of the enclosing message.
    [[nodiscard]] const wire_reader& around() const noexcept { return around_; }

    /// Appends it to the tree now, so that more can follow it; otherwise that happens at the end.
    void keep() {
        is_done_ = true;
        if (file_ == message_tree::in_memory ||
            (end - begin <= tree_.most_copied_ && tree_.ends_in_text())) {
            tree_.add_text(whole());
        } else {
            tree_.add_range(begin, end - begin, file_);
        }
    }

    /// Drops it.
    void erase() noexcept { is_done_ = true; }

    /// Replaces its content; if it is equal, the field stays as it is.
    void set(std::string_view other) {
        if (other != text()) {
            is_done_ = true;
            tree_.append(number, other);
        }
    }

    /// Replaces its content by a message, which `make()` adds to the tree.
    template <std::invocable Function>
    void replace(Function make) {
        is_done_ = true;
        tree_.append(number, make);
    }

    /// Edits the message in it, see `message_tree::edit`. If nothing changes, it stays as it is.
    template <std::invocable<edited_field&> Function>
    void edit(Function change) {
        is_done_ = tree_.append_edited(number, inner(), change, file_);
    }

private:
    friend class message_tree;

    message_tree& tree_;
    const wire_reader& around_;
    id file_;
    bool is_done_ = false;
};

template <std::invocable<edited_field&> Function>
bool message_tree::edit(wire_reader fields, Function change, id file) {
    bool changed = false;
    edited_field field(*this, fields, file);
    while (fields.next(field)) {
        const auto before = size_;
        field.is_done_ = false;
        change(field);
        changed = changed || field.is_done_ || size_ != before;
        if (!field.is_done_) {
            field.keep();
        }
    }
    return changed;
}

template <std::invocable<edited_field&> Function>
bool message_tree::append_edited(std::uint32_t field, wire_reader fields, Function change,
                                 id file) {
    const auto opened = open(field);
    const bool changed = edit(fields, change, file);
    changed ? close(opened) : drop(opened);
    return changed;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_MESSAGE_TREE_HPP
