// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_NUMERICS_DETAIL_NPZ_HPP
#define STEMMA_NUMERICS_DETAIL_NPZ_HPP

#include <stemma/config.hpp>
#include <stemma/error.hpp>
#include <stemma/io/detail/system_files.hpp>
#include <stemma/io/detail/zip_directory.hpp>
#include <stemma/io/output_file.hpp>
#include <stemma/numerics/detail/npy.hpp>

#include <boost/crc.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// A member of an .npz file: an .npy file.
struct npz_entry {
    std::string_view name;  ///< without `.npy`
    std::string_view bytes; ///< in the file
};

/// Returns: the members of an .npz file of `numpy.savez`, in order. Checksums are not verified.
/// Requires: `bytes` outlive the result.
/// Throws: `error` of `error_code::malformed`, or of `unsupported` for compressed or encrypted
/// members. Complexity: O(members).
[[nodiscard]] inline std::vector<npz_entry> read_npz(std::string_view bytes,
                                                     std::string_view file) {
    std::vector<npz_entry> entries;
    for (const auto& member : zip_directory_reader(bytes, file, ".npz file").read()) {
        auto name = member.name;
        if (member.packed) {
            STEMMA_THROW(error(error_code::unsupported, file, name,
                               member.encrypted
                                   ? "is encrypted"
                                   : "is compressed; save with numpy.savez, which does not "
                                     "compress, instead of numpy.savez_compressed"));
        }
        if (name.ends_with(".npy")) {
            name.remove_suffix(4);
        }
        entries.push_back({name, member.bytes});
    }
    return entries;
}

/// Appends the low bytes of a number, little-endian.
inline void append_little_endian(std::uint64_t number, unsigned bytes, std::string& to) {
    for (unsigned i = 0; i < bytes; ++i) {
        to.push_back(static_cast<char>(i < 8 ? number >> 8U * i & 0xffU : 0U));
    }
}

/// Writes an .npz file, member by member.
class npz_writer {
public:
    /// Requires: nothing was written to `out`, which outlives the writer.
    npz_writer(output_file& out, std::string path) : out_(&out), path_(std::move(path)) {}

    /// Adds a tensor with `elements` in memory order. Requires: `npy_header` knows the type, and
    /// names differ. Throws: `error` of `error_code::too_large` for 4 GiB or more in total, and
    /// for a name of 64 KiB.
    /// Complexity: O(bytes).
    void add(std::string_view name, std::int64_t data_type, std::span<const std::int64_t> dims,
             std::string_view elements) {
        const auto header = npy_header(data_type, dims);
        const auto size = std::uint64_t{header.size()} + elements.size();
        const auto file_name = std::string(name) + ".npy";
        if (file_name.size() > 0xffffU) {
            STEMMA_THROW(error(error_code::too_large, path_,
                               std::string(name.substr(0, 60)) + "...",
                               "the name of the value is too long for the format"));
        }
        if (at_ + size + file_name.size() + 100 + directory_.size() >= 0xffff'ffffU) {
            STEMMA_THROW(error(error_code::too_large, path_, "",
                               "the values have 4 GiB or more; select fewer modules"));
        }
        boost::crc_32_type crc;
        crc.process_bytes(header.data(), header.size());
        crc.process_bytes(elements.data(), elements.size());
        std::string facts;
        append_little_endian(20, 2, facts);       // version
        append_little_endian(0x800, 2, facts);    // names are UTF-8
        append_little_endian(0, 2, facts);        // not compressed
        append_little_endian(0x210000, 4, facts); // no time
        append_little_endian(crc.checksum(), 4, facts);
        append_little_endian(size, 4, facts);
        append_little_endian(size, 4, facts);
        append_little_endian(file_name.size(), 2, facts);
        append_little_endian(0, 2, facts);
        directory_.append("PK\1\2");
        append_little_endian(20, 2, directory_);
        directory_.append(facts);
        append_little_endian(0, 2 + 2 + 2, directory_);
        append_little_endian(0, 4, directory_);
        append_little_endian(at_, 4, directory_);
        directory_.append(file_name);
        ++count_;
        put("PK\3\4" + facts + file_name);
        put(header);
        put(elements);
    }

    /// Writes the directory; nothing may be added afterwards.
    /// Throws: as `output_file::write`; `too_large` for 65,535 members or more.
    void finish() {
        if (count_ >= 0xffffU) {
            STEMMA_THROW(error(error_code::too_large, path_, "",
                               "the file would have 65,535 members or more"));
        }
        const auto begin = at_;
        put(directory_);
        std::string end = "PK\5\6";
        append_little_endian(0, 4, end);
        append_little_endian(count_, 2, end);
        append_little_endian(count_, 2, end);
        append_little_endian(directory_.size(), 4, end);
        append_little_endian(begin, 4, end);
        append_little_endian(0, 2, end);
        put(end);
    }

private:
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

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_NUMERICS_DETAIL_NPZ_HPP
