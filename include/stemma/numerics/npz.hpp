// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_NUMERICS_NPZ_HPP
#define STEMMA_NUMERICS_NPZ_HPP

#include <stemma/config.hpp>
#include <stemma/error.hpp>
#include <stemma/io/file.hpp>
#include <stemma/numerics/npy.hpp>

#include <boost/crc.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma {

/// A member of an .npz file: the content of an .npy file.
struct npz_entry {
    std::string_view name;  ///< without `.npy`
    std::string_view bytes; ///< in the file
};

namespace detail {

/// Reads the directory of a zip file whose members are not compressed.
class zip_directory_reader {
public:
    zip_directory_reader(std::string_view bytes, std::string_view file)
        : bytes_(bytes), file_(file) {}

    [[nodiscard]] std::vector<npz_entry> read() const {
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
        std::vector<npz_entry> entries;
        entries.reserve(count);
        for (std::uint64_t i = 0; i < count; ++i) {
            at = read_entry(at, entries);
        }
        return entries;
    }

private:
    static constexpr std::uint64_t header_size = 46;

    struct extents {
        std::uint64_t packed;
        std::uint64_t plain;
        std::uint64_t at;
    };

    [[noreturn]] void fail(error_code code, std::string_view place, std::string_view why) const {
        STEMMA_THROW(error(code, file_, place, why));
    }

    void check(bool right) const {
        if (!right) {
            fail(error_code::malformed, "", "is no .npz file, or a damaged one");
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

    /// A comment of up to 64 KiB may stand behind the end of the directory.
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

    /// Numbers too large for their field stand in an extra one.
    [[nodiscard]] extents read_extents(std::uint64_t at, std::string_view extra) const {
        extents found{number(at + 20, 4), number(at + 24, 4), number(at + 42, 4)};
        auto field = static_cast<std::uint64_t>(extra.data() - bytes_.data());
        const auto end = field + extra.size();
        while (field + 4 <= end) {
            const auto kind = number(field, 2);
            const auto size = number(field + 2, 2);
            field += 4;
            check(size <= end - field);
            auto next = field;
            for (auto* one : {&found.plain, &found.packed, &found.at}) {
                if (kind == 1 && *one == 0xffff'ffffU) {
                    check(next + 8 <= field + size);
                    *one = number(next, 8);
                    next += 8;
                }
            }
            field += size;
        }
        return found;
    }

    [[nodiscard]] std::uint64_t read_entry(std::uint64_t at,
                                           std::vector<npz_entry>& entries) const {
        check(number(at, 4) == 0x02014b50U);
        const auto flags = number(at + 8, 2);
        const auto method = number(at + 10, 2);
        auto name = text(at + header_size, number(at + 28, 2));
        const auto extra = text(at + header_size + name.size(), number(at + 30, 2));
        const auto where = read_extents(at, extra);
        const auto next = at + header_size + name.size() + extra.size() + number(at + 32, 2);
        if (name.ends_with('/')) {
            return next; // a folder
        }
        const auto place = name.substr(0, 200);
        if ((flags & 1U) != 0) {
            fail(error_code::unsupported, place, "is encrypted");
        }
        if (method != 0) {
            fail(error_code::unsupported, place,
                 "is compressed; save with numpy.savez, which does not compress, instead of "
                 "numpy.savez_compressed");
        }
        check(number(where.at, 4) == 0x04034b50U && where.plain == where.packed);
        const auto data = where.at + 30 + number(where.at + 26, 2) + number(where.at + 28, 2);
        const auto content = text(data, where.plain);
        if (name.ends_with(".npy")) {
            name.remove_suffix(4);
        }
        entries.push_back({name, content});
        return next;
    }

    std::string_view bytes_;
    std::string_view file_;
};

} // namespace detail

namespace detail {

// namespace detail

/// Returns: the members of an .npz file as `numpy.savez` writes it, in its order. Checksums are not
/// looked at.
/// Requires: `bytes` outlive the result.
/// Throws: `error` of `error_code::malformed`, or of `unsupported` for members that are compressed
/// or encrypted. Complexity: O(members).
[[nodiscard]] inline std::vector<npz_entry> read_npz(std::string_view bytes,
                                                     std::string_view file) {
    return detail::zip_directory_reader(bytes, file).read();
}

} // namespace detail

/// Writes an .npz file, member by member.
class npz_writer {
public:
    /// Requires: nothing was written to `out`, which outlives the writer.
    npz_writer(output_file& out, std::string path) : out_(&out), path_(std::move(path)) {}

    /// Adds a tensor: `elements` as they stand in memory. Requires: `npy_header` knows the type,
    /// and names differ. Throws: `error` of `error_code::too_large` for 4 GiB or more in all.
    /// Complexity: O(bytes).
    void add(std::string_view name, std::int64_t data_type, std::span<const std::int64_t> dims,
             std::string_view elements) {
        const auto header = npy_header(data_type, dims);
        const auto size = std::uint64_t{header.size()} + elements.size();
        const auto file_name = std::string(name) + ".npy";
        if (at_ + size + file_name.size() + 100 + directory_.size() >= 0xffff'ffffU) {
            STEMMA_THROW(error(error_code::too_large, path_, "",
                               "the values have 4 GiB or more; ask for fewer modules"));
        }
        boost::crc_32_type crc;
        crc.process_bytes(header.data(), header.size());
        crc.process_bytes(elements.data(), elements.size());
        std::string facts;
        append(facts, 20, 2);       // version
        append(facts, 0x800, 2);    // names are UTF-8
        append(facts, 0, 2);        // not compressed
        append(facts, 0x210000, 4); // no time
        append(facts, crc.checksum(), 4);
        append(facts, size, 4);
        append(facts, size, 4);
        append(facts, file_name.size(), 2);
        append(facts, 0, 2);
        directory_.append("PK\1\2");
        append(directory_, 20, 2);
        directory_.append(facts);
        append(directory_, 0, 2 + 2 + 2);
        append(directory_, 0, 4);
        append(directory_, at_, 4);
        directory_.append(file_name);
        ++count_;
        put("PK\3\4" + facts + file_name);
        put(header);
        put(elements);
    }

    /// Writes the directory, after which nothing may be added.
    /// Throws: as `output_file::write`; `too_large` for 65,535 members or more.
    void finish() {
        if (count_ >= 0xffffU) {
            STEMMA_THROW(error(error_code::too_large, path_, "",
                               "the file would have 65,535 members or more"));
        }
        const auto begin = at_;
        put(directory_);
        std::string end = "PK\5\6";
        append(end, 0, 4);
        append(end, count_, 2);
        append(end, count_, 2);
        append(end, directory_.size(), 4);
        append(end, begin, 4);
        append(end, 0, 2);
        put(end);
    }

private:
    static void append(std::string& to, std::uint64_t value, unsigned size) {
        for (unsigned i = 0; i < size; ++i) {
            to.push_back(static_cast<char>(i < 8 ? value >> 8U * i & 0xffU : 0));
        }
    }

    void put(std::string_view bytes) {
        out_->write(bytes);
        at_ += bytes.size();
    }

    output_file* out_;
    std::string path_;
    std::string directory_;
    std::uint64_t at_ = 0;
    std::uint64_t count_ = 0;
};

} // namespace stemma

#endif // STEMMA_NUMERICS_NPZ_HPP
