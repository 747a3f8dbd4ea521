// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_NUMERICS_DETAIL_NPY_HPP
#define STEMMA_NUMERICS_DETAIL_NPY_HPP

#include <stemma/config.hpp>
#include <stemma/error.hpp>
#include <stemma/numerics/tensor_values.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// NumPy's codes of element types by their numbers in ONNX. Types unknown to NumPy are raw bytes,
/// `V`; two of them are read as bfloat16.
inline constexpr std::array<std::string_view, 17> npy_types{"",   "f4", "u1", "i1",  "u2", "i2",
                                                            "i4", "i8", "",   "b1",  "f2", "f8",
                                                            "u4", "u8", "c8", "c16", "V2"};

/// Reads the header of an .npy file: a Python dictionary literal.
class npy_header_reader {
public:
    npy_header_reader(std::string_view text, std::string_view file, std::string_view place)
        : text_(text), file_(file), place_(place) {
        expect('{');
        while (!takes('}')) {
            const auto key = quoted();
            expect(':');
            if (key == "descr") {
                if (next() == '[') {
                    fail(error_code::unsupported, "structured records are not supported");
                }
                descr = quoted();
            } else if (key == "fortran_order") {
                column_major = word() == "True";
            } else if (key == "shape") {
                read_shape();
            } else {
                fail(error_code::malformed, "unknown key in the header");
            }
            if (!takes(',') && next() != '}') {
                fail(error_code::malformed, "the header is not a dictionary");
            }
        }
        if (descr.empty() || !has_shape_) {
            fail(error_code::malformed, "the header has no type or no shape");
        }
    }

    std::string_view descr;         ///< as written: `<f4`
    bool column_major = false;      ///< Fortran order
    std::vector<std::int64_t> dims; ///< extents

private:
    [[noreturn]] void fail(error_code code, std::string_view why) const {
        STEMMA_THROW(error(code, file_, place_, why));
    }

    [[nodiscard]] char next() {
        const auto at = text_.find_first_not_of(" \n\t\r");
        text_.remove_prefix(at == text_.npos ? text_.size() : at);
        return text_.empty() ? '\0' : text_.front();
    }

    [[nodiscard]] bool takes(char c) {
        const bool there = next() == c;
        text_.remove_prefix(there ? 1 : 0);
        return there;
    }

    void expect(char c) {
        if (!takes(c)) {
            fail(error_code::malformed, std::string("the header lacks '") + c + "'");
        }
    }

    [[nodiscard]] std::string_view quoted() {
        const auto quote = next();
        const auto end = quote == '\'' || quote == '"' ? text_.find(quote, 1) : text_.npos;
        if (end == text_.npos) {
            fail(error_code::malformed, "the header is not a dictionary");
        }
        const auto inside = text_.substr(1, end - 1);
        text_.remove_prefix(end + 1);
        return inside;
    }

    [[nodiscard]] std::string_view word() {
        static_cast<void>(next());
        const auto end = std::min(text_.find_first_of(",}"), text_.size());
        const auto inside = text_.substr(0, end);
        text_.remove_prefix(end);
        return inside.substr(0, inside.find_last_not_of(" \n\t\r") + 1);
    }

    void read_shape() {
        has_shape_ = true;
        dims.clear();
        expect('(');
        while (!takes(')')) {
            static_cast<void>(next());
            std::int64_t extent = -1;
            const auto [end, failed] =
                std::from_chars(text_.data(), text_.data() + text_.size(), extent);
            if (failed != std::errc() || extent < 0 || dims.size() == 64) {
                fail(error_code::malformed, "the shape is not a list of numbers");
            }
            text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
            static_cast<void>(takes('L')); // Python 2's long
            dims.push_back(extent);
            if (!takes(',') && next() != ')') {
                fail(error_code::malformed, "the shape is not a list of numbers");
            }
        }
    }

    std::string_view text_;
    std::string_view file_;
    std::string_view place_;
    bool has_shape_ = false;
};

/// Reads an .npy tensor; the elements are not copied.
/// Requires: `bytes` outlive the result.
/// Throws: `error` of `error_code::malformed` or `unsupported`, naming `file` and `place`.
/// Complexity: O(length of the header).
[[nodiscard]] inline tensor_values read_npy(std::string_view bytes, std::string_view file,
                                            std::string_view place = {}) {
    constexpr std::string_view magic = "\x93NUMPY";
    const auto fail = [&](error_code code, std::string_view why) {
        STEMMA_THROW(error(code, file, place, why));
    };
    const auto byte = [&](std::size_t at) {
        return std::size_t{static_cast<unsigned char>(bytes[at])};
    };
    if (!bytes.starts_with(magic) || bytes.size() < 12) {
        fail(error_code::malformed, "is not .npy data");
    }
    const bool is_long = byte(6) > 1;
    const auto begin = is_long ? std::size_t{12} : std::size_t{10};
    auto size = byte(8) | byte(9) << 8U;
    size |= is_long ? byte(10) << 16U | byte(11) << 24U : 0;
    if (byte(6) < 1 || byte(6) > 3 || size > bytes.size() - begin) {
        fail(error_code::malformed, "the header is truncated, or of an unknown version");
    }
    npy_header_reader header(bytes.substr(begin, size), file, place);
    auto type = header.descr;
    const bool has_order = std::string_view("<>=|").find(type.front()) != type.npos;
    const auto order = has_order ? type.front() : '=';
    type.remove_prefix(has_order ? 1 : 0);
    const auto* const entry = std::find(npy_types.begin(), npy_types.end(), type);
    if (type.empty() || entry == npy_types.end()) {
        STEMMA_THROW(
            error(error_code::unsupported, file, place,
                  "elements of type '" + std::string(header.descr) + "' are not supported"));
    }
    constexpr char swapped = std::endian::native == std::endian::little ? '>' : '<';
    return {
        entry - npy_types.begin(), std::move(header.dims), bytes.substr(begin + size), file, place,
        order == swapped,          header.column_major};
}

/// Returns: the .npy header of a tensor, or "" for an element type unknown to NumPy. Complexity:
/// O(rank).
[[nodiscard]] inline std::string npy_header(std::int64_t data_type,
                                            std::span<const std::int64_t> dims) {
    const bool is_known = data_type >= 0 && data_type < std::int64_t{npy_types.size()};
    const auto type = is_known ? npy_types[static_cast<std::size_t>(data_type)] : "";
    if (type.empty()) {
        return {};
    }
    constexpr bool little = std::endian::native == std::endian::little;
    std::string text = "{'descr': '";
    text.append(type.ends_with('1') ? "|" : little ? "<" : ">").append(type);
    text.append("', 'fortran_order': False, 'shape': (");
    for (const auto dim : dims) {
        text.append(std::to_string(dim)).append(",");
    }
    text.append("), }");
    constexpr std::size_t before = 10;
    constexpr std::size_t alignment = 64; // of the elements, required by NumPy
    text.append(alignment - 1 - (before + text.size()) % alignment, ' ').append("\n");
    std::string header = "\x93NUMPY\x01";
    header.push_back('\0');
    header.push_back(static_cast<char>(text.size() & 0xffU));
    header.push_back(static_cast<char>(text.size() >> 8U));
    return header.append(text);
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_NUMERICS_DETAIL_NPY_HPP
