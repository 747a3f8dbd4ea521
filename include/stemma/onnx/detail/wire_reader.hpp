// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_WIRE_READER_HPP
#define STEMMA_ONNX_DETAIL_WIRE_READER_HPP

#include <stemma/config.hpp>
#include <stemma/error.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

// Numbers are copied directly from the file, in the byte order of protobuf and ONNX.
static_assert(std::endian::native == std::endian::little);

/// Returns: the length of a varint in minimal form.
[[nodiscard]] constexpr std::size_t varint_size(std::uint64_t value) noexcept {
    return (static_cast<std::size_t>(std::bit_width(value | 1U)) + 6) / 7;
}

/// Returns: the start of the length prefix of a message's content; it ends where the content
/// begins.
[[nodiscard]] inline std::uint32_t length_position(const char* base,
                                                   std::uint32_t content) noexcept {
    auto at = content - 1;
    while (at > 0 && static_cast<unsigned char>(base[at - 1]) >= 0x80U) {
        --at;
    }
    return at;
}

/// How a field is encoded, see "Encoding" in the Protocol Buffers documentation.
enum class wire_type : std::uint8_t {
    varint = 0,    ///< a number of one to ten bytes
    fixed64 = 1,   ///< eight bytes
    bytes = 2,     ///< length-delimited: text, message, packed numbers
    group = 3,     ///< fields up to an `end_group` of the same number
    end_group = 4, ///< never returned as a field
    fixed32 = 5,   ///< four bytes
};

/// One field of a message: its position and content.
struct wire_field {
    std::uint32_t number = 0;           ///< in the schema
    wire_type type = wire_type::varint; ///< as encoded, whatever the schema says
    std::uint32_t begin = 0;            ///< of the tag
    std::uint32_t content = 0;          ///< of the content: after the tag and any length
    std::uint64_t value = 0; ///< of a varint; separates `end` from `content`, or GCC would load
                             ///< both at once right after storing them separately, and stall
    std::uint32_t end = 0;   ///< end of the field

    /// Whether it has this number and encoding.
    [[nodiscard]] bool is(std::uint32_t wanted, wire_type how) const noexcept {
        return number == wanted && type == how;
    }

    /// Whether it has this number and is length-delimited: a text, a message, packed numbers.
    [[nodiscard]] bool is_bytes(std::uint32_t wanted) const noexcept {
        return is(wanted, wire_type::bytes);
    }

    /// Returns: the size of the content in bytes.
    [[nodiscard]] std::uint32_t size() const noexcept { return end - content; }
};

/// Iterates over the fields of one message without decoding their contents.
///
/// Accepts what protobuf's own parser accepts: padded varints, unknown fields, groups. Positions
/// are offsets from the start of the file.
class wire_reader {
public:
    /// Reads the message at [begin, end) of a file; `file` is its name in errors.
    wire_reader(const char* base, std::uint32_t begin, std::uint32_t end, std::string_view file)
        : base_(reinterpret_cast<const unsigned char*>(base)), at_(begin), end_(end), file_(file) {}

    /// Returns: whether there was a field.
    /// Throws: `error` of `error_code::malformed` for bytes that are not a message.
    [[nodiscard, gnu::always_inline]] bool next(wire_field& field) {
        // Inlined, or fields would go through memory: a twentieth of the time of a scan. Nearly all
        // fields are short and have a low number: two bytes describe them.
        if (at_ < end_ && end_ - at_ >= 2) {
            const std::uint32_t tag = base_[at_];
            const std::uint32_t size = base_[at_ + 1];
            if ((tag & 0x87U) == 2 && tag > 7 && size < 0x80U && size <= end_ - at_ - 2) {
                field.number = tag >> 3U;
                field.type = wire_type::bytes;
                field.begin = at_;
                field.content = at_ + 2;
                at_ += 2 + size;
                field.end = at_;
                return true;
            }
        }
        return next_of_any_kind(field);
    }

    /// Returns: the content of a length-delimited field; valid as long as the file.
    [[nodiscard]] std::string_view text(const wire_field& field) const noexcept {
        return {reinterpret_cast<const char*>(base_) + field.content, field.size()};
    }

    /// Returns: the entire field, including its tag.
    [[nodiscard]] std::string_view whole(const wire_field& field) const noexcept {
        return {reinterpret_cast<const char*>(base_) + field.begin, field.end - field.begin};
    }

    /// Returns: a reader of the message in a length-delimited field.
    [[nodiscard]] wire_reader inner(const wire_field& field) const noexcept {
        return {reinterpret_cast<const char*>(base_), field.content, field.end, file_};
    }

    /// Returns: where the next field begins.
    [[nodiscard]] std::uint32_t position() const noexcept { return at_; }

    /// Throws: always, `error` of `malformed` that names file and position.
    [[noreturn]] void fail(std::uint32_t where, std::string_view reason) const {
        STEMMA_THROW(error(error_code::malformed, file_, "byte " + std::to_string(where), reason));
    }

private:
    [[nodiscard]] bool next_of_any_kind(wire_field& field) {
        if (at_ >= end_) {
            return false;
        }
        field.begin = at_;
        read_tag(field);
        switch (field.type) {
        case wire_type::varint:
            field.content = at_;
            field.value = varint();
            break;
        case wire_type::bytes: {
            const auto size = varint();
            field.content = at_;
            if (size > end_ - at_) {
                fail(field.begin, "a field extends past the end of its message");
            }
            at_ += static_cast<std::uint32_t>(size);
            break;
        }
        case wire_type::fixed64:
            skip_fixed(field, 8);
            break;
        case wire_type::fixed32:
            skip_fixed(field, 4);
            break;
        case wire_type::group:
            field.content = at_;
            skip_group(field.number);
            break;
        case wire_type::end_group:
            fail(field.begin, "unmatched end of a group");
        }
        field.end = at_;
        return true;
    }

    void read_tag(wire_field& field) {
        // As in protobuf's parser: 32 bits of a tag of up to five bytes count.
        const auto tag = static_cast<std::uint32_t>(varint());
        if (at_ - field.begin > 5 || (tag >> 3U) == 0) {
            fail(field.begin, "invalid field number");
        }
        const auto type = tag & 7U;
        if (type > 5) {
            fail(field.begin, "invalid wire type");
        }
        field.number = tag >> 3U;
        field.type = static_cast<wire_type>(type);
    }

    [[nodiscard, gnu::always_inline]] std::uint64_t varint() {
        return at_ < end_ && base_[at_] < 0x80U ? base_[at_++] : long_varint();
    }

    [[nodiscard, gnu::noinline]] std::uint64_t long_varint() {
        const auto begin = at_;
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 70 && at_ < end_; shift += 7) {
            const std::uint64_t byte = base_[at_++];
            value |= shift < 64 ? (byte & 0x7fU) << shift : 0;
            if (byte < 0x80U) {
                return value;
            }
        }
        fail(begin,
             at_ < end_ ? "a varint longer than ten bytes" : "the file ends within a varint");
    }

    void skip_fixed(wire_field& field, std::uint32_t size) {
        field.content = at_;
        if (end_ - at_ < size) {
            fail(field.begin, "a field extends past the end of its message");
        }
        at_ += size;
    }

    // Groups nest; a counter would accept a mismatched end, so open ones are kept on a small stack.
    void skip_group(std::uint32_t number) {
        constexpr std::size_t max_depth = 100;
        std::uint32_t open[max_depth] = {number};
        std::size_t depth = 1;
        while (depth > 0) {
            if (at_ >= end_) {
                fail(at_, "the message ends within a group");
            }
            wire_field inside;
            inside.begin = at_;
            read_tag(inside);
            if (inside.type == wire_type::group) {
                if (depth == max_depth) {
                    fail(inside.begin, "groups nested deeper than 100");
                }
                open[depth++] = inside.number;
            } else if (inside.type == wire_type::end_group) {
                if (open[--depth] != inside.number) {
                    fail(inside.begin, "unmatched end of a group");
                }
            } else {
                at_ = inside.begin;
                static_cast<void>(next(inside));
            }
        }
    }

    const unsigned char* base_;
    std::uint32_t at_;
    std::uint32_t end_;
    std::string_view file_;
};

/// Adds the varints of a repeated field, packed or not.
inline void read_dims(const wire_reader& around, const wire_field& field,
                      std::vector<std::int64_t>& dims) {
    if (field.type == wire_type::varint) {
        dims.push_back(static_cast<std::int64_t>(field.value));
        return;
    }
    const auto packed = around.text(field);
    std::uint64_t value = 0;
    unsigned shift = 0;
    for (char c : packed) {
        const auto byte = static_cast<unsigned char>(c);
        value |= shift < 64 ? static_cast<std::uint64_t>(byte & 0x7fU) << shift : 0;
        shift += 7;
        if (byte < 0x80U) {
            dims.push_back(static_cast<std::int64_t>(value));
            value = 0;
            shift = 0;
        }
    }
}

/// Adds the floats of a repeated field, packed or not.
inline void read_floats(const wire_reader& around, const wire_field& field,
                        std::vector<float>& numbers) {
    const auto packed = around.text(field);
    for (std::size_t i = 0; i + sizeof(float) <= packed.size(); i += sizeof(float)) {
        std::memcpy(&numbers.emplace_back(), packed.data() + i, sizeof(float));
    }
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_WIRE_READER_HPP
