// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_IO_DETAIL_ZIP_DIRECTORY_HPP
#define STEMMA_IO_DETAIL_ZIP_DIRECTORY_HPP

#include <stemma/config.hpp>
#include <stemma/error.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// A file in a zip archive.
struct zip_member {
    std::string_view name;  ///< as stored, with folders
    std::string_view bytes; ///< as stored in the archive
    bool packed = false;    ///< compressed or encrypted: the bytes are not the content
    bool encrypted = false; ///< needs a password
};

/// Reads the directory of a zip archive, including zip64.
class zip_directory_reader {
public:
    /// `kind` says what the archive should be, for messages: `.npz file`. Requires: the arguments
    /// outlive this, and `bytes` outlives what is read.
    zip_directory_reader(std::string_view bytes, std::string_view file, std::string_view kind)
        : bytes_(bytes), file_(file), kind_(kind) {}

    /// Returns: the members that are files, in directory order. Checksums are ignored. Throws:
    /// `error` of `error_code::malformed`. Complexity: O(members).
    [[nodiscard]] std::vector<zip_member> read() const {
        const auto end = find_end();
        std::uint64_t count = number(end + 10, 2);
        std::uint64_t size = number(end + 12, 4);
        std::uint64_t at = number(end + 16, 4);
        if (count == 0xffffU || size == 0xffff'ffffU || at == 0xffff'ffffU) {
            constexpr std::uint64_t locator_size = 20;
            check(end >= locator_size && number(end - locator_size, 4) == 0x07064b50U);
            const auto wide = number(end - locator_size + 8, 8);
            check(number(wide, 4) == 0x06064b50U);
            count = number(wide + 32, 8);
            size = number(wide + 40, 8);
            at = number(wide + 48, 8);
        }
        check(at <= end && size <= end - at && count <= size / header_size);
        std::vector<zip_member> members;
        members.reserve(count);
        for (std::uint64_t i = 0; i < count; ++i) {
            at = read_member(at, members);
        }
        return members;
    }

private:
    static constexpr std::uint64_t header_size = 46;

    struct extents {
        std::uint64_t packed;
        std::uint64_t plain;
        std::uint64_t at;
    };

    void check(bool right) const {
        if (!right) {
            STEMMA_THROW(error(error_code::malformed, file_, "",
                               "is not a " + std::string(kind_) + ", or is damaged"));
        }
    }

    [[nodiscard]] std::uint64_t number(std::uint64_t at, unsigned size) const {
        check(at <= bytes_.size() && size <= bytes_.size() - at);
        std::uint64_t value = 0;
        for (auto i = size; i-- > 0;) {
            value = value << 8U | static_cast<unsigned char>(bytes_[at + i]);
        }
        return value;
    }

    [[nodiscard]] std::string_view text(std::uint64_t at, std::uint64_t size) const {
        check(at <= bytes_.size() && size <= bytes_.size() - at);
        return bytes_.substr(at, size);
    }

    /// A comment of up to 64 KiB may follow the end of the directory.
    [[nodiscard]] std::uint64_t find_end() const {
        constexpr std::uint64_t end_size = 22;
        constexpr std::uint64_t most = end_size + 0xffffU;
        check(bytes_.size() >= end_size);
        const auto last = bytes_.size() - end_size;
        const auto first = bytes_.size() > most ? bytes_.size() - most : 0;
        for (auto at = last;; --at) {
            if (bytes_.substr(at, 4) == "PK\5\6" &&
                number(at + 20, 2) == bytes_.size() - at - end_size) {
                return at;
            }
            check(at > first);
        }
    }

    /// Numbers too large for their field are in an extra field.
    [[nodiscard]] extents read_extents(std::uint64_t at, std::string_view extra) const {
        extents result{number(at + 20, 4), number(at + 24, 4), number(at + 42, 4)};
        auto field = static_cast<std::uint64_t>(extra.data() - bytes_.data());
        const auto end = field + extra.size();
        while (field + 4 <= end) {
            const auto kind = number(field, 2);
            const auto size = number(field + 2, 2);
            field += 4;
            check(size <= end - field);
            auto next = field;
            for (auto* one : {&result.plain, &result.packed, &result.at}) {
                if (kind == 1 && *one == 0xffff'ffffU) {
                    check(next + 8 <= field + size);
                    *one = number(next, 8);
                    next += 8;
                }
            }
            field += size;
        }
        return result;
    }

    [[nodiscard]] std::uint64_t read_member(std::uint64_t at,
                                            std::vector<zip_member>& members) const {
        check(number(at, 4) == 0x02014b50U);
        const auto flags = number(at + 8, 2);
        const auto method = number(at + 10, 2);
        const auto name = text(at + header_size, number(at + 28, 2));
        const auto extra = text(at + header_size + name.size(), number(at + 30, 2));
        const auto where = read_extents(at, extra);
        const auto next = at + header_size + name.size() + extra.size() + number(at + 32, 2);
        if (name.ends_with('/')) {
            return next; // a folder
        }
        const bool encrypted = (flags & 1U) != 0;
        const bool packed = encrypted || method != 0;
        check(number(where.at, 4) == 0x04034b50U && (packed || where.plain == where.packed));
        const auto data = where.at + 30 + number(where.at + 26, 2) + number(where.at + 28, 2);
        members.push_back({name, text(data, where.packed), packed, encrypted});
        return next;
    }

    std::string_view bytes_;
    std::string_view file_;
    std::string_view kind_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_IO_DETAIL_ZIP_DIRECTORY_HPP
