// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_WIRE_TEXT_HPP
#define STEMMA_ONNX_DETAIL_WIRE_TEXT_HPP

#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace stemma::inline STEMMA_ABI::detail {

inline constexpr std::size_t max_varint_size = 10;

/// Writes a varint. Returns: the position after it.
inline char* put_varint(std::uint64_t value, char* out) noexcept {
    for (; value >= 0x80; value >>= 7U) {
        *out++ = static_cast<char>(value | 0x80U);
    }
    *out++ = static_cast<char>(value);
    return out;
}

/// Writes tag and length of a length-delimited field. Returns: the position after them.
inline char* put_header(std::uint32_t field, std::uint64_t size, char* out) noexcept {
    return put_varint(size, put_varint(field << 3U | 2U, out));
}

// Text is appended as a view: given two pointers, a string takes a detour via replace. libc++ makes
// a view from two pointers from version 15 on.
[[nodiscard]] inline std::string_view text_between(const char* begin, const char* end) noexcept {
    return {begin, static_cast<std::size_t>(end - begin)};
}

inline void append_varint(std::uint64_t value, std::string& out) {
    char bytes[max_varint_size];
    out.append(text_between(bytes, put_varint(value, bytes)));
}

/// Appends the tag of a length-delimited field.
inline void append_tag(std::uint32_t field, std::string& out) {
    append_varint(field << 3U | 2U, out);
}

/// Appends a length-delimited field: tag, length, content.
inline void append_field(std::uint32_t field, std::string_view content, std::string& out) {
    char header[2 * max_varint_size];
    out.append(text_between(header, put_header(field, content.size(), header)));
    out.append(content);
}

/// Appends a numeric field; negative numbers take ten bytes, as in protobuf.
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
    char header[4 * max_varint_size];
    char* const end = put_header(entry::key, key.size(), put_header(field, size, header));
    out.append(text_between(header, end));
    out.append(key);
    append_field(entry::value, value, out);
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_WIRE_TEXT_HPP
