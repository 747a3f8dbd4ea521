// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_IO_MAPPED_FILE_HPP
#define STEMMA_IO_MAPPED_FILE_HPP

#include <stemma/config.hpp>
#include <stemma/io/detail/system_files.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace stemma::inline STEMMA_ABI {

/// The page size with which to map a file that the system caches in large folios.
enum class mapped_pages : std::uint8_t {
    any,  ///< large: reading a byte maps up to 2 MiB into the process
    small ///< maps little beyond what is read; slower if all is read; Linux only
};

#if STEMMA_IO >= 1

namespace detail {

#    if STEMMA_IO >= 2
/// Maps a file at an address where large pages do not fit. Linux keeps recently written data in
/// large ones.
///
/// Returns: the beginning, or `MAP_FAILED` with `errno` set.
[[nodiscard]] inline void* map_in_small_pages(int descriptor, std::size_t size) noexcept {
    constexpr std::uintptr_t large_page = 1U << 21U;
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    void* const room = ::mmap(nullptr, size + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED) {
        return MAP_FAILED;
    }
    char* begin = static_cast<char*>(room);
    char* unused = begin + (size + page - 1) / page * page;
    if (reinterpret_cast<std::uintptr_t>(begin) % large_page == 0) { // NOLINT
        unused = std::exchange(begin, begin + page);
    }
    ::munmap(unused, page);
    void* const mapped = ::mmap(begin, size, PROT_READ, MAP_PRIVATE | MAP_FIXED, descriptor, 0);
    if (mapped == MAP_FAILED) {
        ::munmap(begin, size);
    }
    return mapped;
}
#    endif

/// Maps a file. Returns: as above.
[[nodiscard]] inline void* map_file(int descriptor, std::size_t size, mapped_pages pages) noexcept {
#    if STEMMA_IO >= 2
    if (pages == mapped_pages::small) {
        return map_in_small_pages(descriptor, size);
    }
#    else
    static_cast<void>(pages);
#    endif
    return ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
}

} // namespace detail

/// The bytes of a file, mapped: pages are read when touched. Or bytes in memory, for code that
/// expects a file.
///
/// The file must not shrink while it is mapped.
class mapped_file {
public:
    /// Returns: bytes in memory; `name` stands in for a path in messages.
    [[nodiscard]] static mapped_file holding(std::string bytes, std::string name) {
        mapped_file file;
        file.path_ = std::move(name);
        file.stream_ = std::move(bytes);
        file.data_ = file.stream_.data();
        file.size_ = file.stream_.size();
        return file;
    }

    /// As `holding`, for bytes that the caller keeps. Requires: they outlive the result.
    [[nodiscard]] static mapped_file viewing(std::string_view bytes, std::string name) {
        mapped_file file;
        file.path_ = std::move(name);
        file.data_ = bytes.data();
        file.size_ = bytes.size();
        return file;
    }

    /// Throws: `error` of `error_code::cannot_read`.
    explicit mapped_file(const std::string& path, mapped_pages pages = mapped_pages::any)
        : path_(path) {
        descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
        if (descriptor_ < 0) {
            detail::fail_to_read(path, detail::reason_of(errno));
        }
        struct stat status {};
        const bool failed = ::fstat(descriptor_, &status) != 0;
        // A device such as /dev/zero may have no end.
        if (failed || S_ISDIR(status.st_mode) || S_ISCHR(status.st_mode)) {
            const auto reason = failed                    ? detail::reason_of(errno)
                                : S_ISDIR(status.st_mode) ? std::string("is a folder")
                                                          : std::string("is a device");
            ::close(descriptor_);
            detail::fail_to_read(path, reason);
        }
        if (!S_ISREG(status.st_mode)) {
            read_stream();
            return;
        }
        if (static_cast<std::uintmax_t>(status.st_size) >
            std::numeric_limits<std::size_t>::max() / 2) {
            ::close(descriptor_);
            detail::fail_to_read(path, detail::too_large);
        }
        size_ = static_cast<std::size_t>(status.st_size);
        if (size_ > 0) {
            void* mapped = detail::map_file(descriptor_, size_, pages);
            if (mapped == MAP_FAILED) {
                const auto reason = detail::reason_of(errno);
                ::close(descriptor_);
                detail::fail_to_read(path, reason);
            }
            data_ = static_cast<const char*>(mapped);
            mapped_ = true;
        }
    }

    /// Leaves `other` empty; views of the bytes stay valid, except for those of a pipe or held
    /// bytes.
    mapped_file(mapped_file&& other) noexcept { swap(other); }

    /// Leaves `other` with what this one held.
    mapped_file& operator=(mapped_file&& other) noexcept {
        swap(other);
        return *this;
    }
    mapped_file(const mapped_file&) = delete;
    mapped_file& operator=(const mapped_file&) = delete;

    /// Invalidates every view of the bytes.
    ~mapped_file() {
        if (mapped_) {
            ::munmap(const_cast<char*>(data_), size_); // NOLINT: munmap takes no const
        }
        if (descriptor_ >= 0) {
            ::close(descriptor_);
        }
    }

    /// Valid as long as the file stays mapped; moving it preserves that, except for a pipe or held
    /// bytes.
    [[nodiscard]] std::string_view bytes() const noexcept { return {data_, size_}; }

    /// Copies a range to `to` without adding its pages to the process's memory.
    /// Throws: `error` of `error_code::cannot_read`. Complexity: O(size).
    void read(std::size_t offset, std::size_t size, char* to) const {
        if (descriptor() < 0) {
            std::memcpy(to, data_ + offset, size);
            return;
        }
        while (size > 0) {
            const auto got = ::pread(descriptor_, to, size, static_cast<off_t>(offset));
            if (got < 0 && errno == EINTR) {
                continue;
            }
            if (got <= 0) {
                detail::fail_to_read(path_, got < 0 ? detail::reason_of(errno)
                                                    : "was truncated while being read");
            }
            offset += static_cast<std::size_t>(got);
            size -= static_cast<std::size_t>(got);
            to += got;
        }
    }

    /// Hints that a range will hardly be read again: its pages leave the process's memory, and come
    /// back if touched.
    void release(std::size_t offset, std::size_t size) const noexcept {
        if (mapped_ && size > 0) {
            const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
            const auto begin = (offset + page - 1) / page * page;
            const auto end = (offset + size) / page * page;
            if (begin < end) {
                char* const from = const_cast<char*>(data_) + begin; // NOLINT: neither takes const
#    if STEMMA_IO >= 2
                ::madvise(from, end - begin, MADV_DONTNEED);
#    else
                static_cast<void>(::posix_madvise(from, end - begin, POSIX_MADV_DONTNEED));
#    endif
            }
        }
    }

    /// The path as given.
    [[nodiscard]] const std::string& path() const noexcept { return path_; }

    /// Returns: a descriptor for positional copies of ranges, or -1.
    [[nodiscard]] int descriptor() const noexcept { return stream_.empty() ? descriptor_ : -1; }

    /// Closes the descriptor, a scarce resource; the bytes stay.
    void release_descriptor() noexcept {
        if (descriptor_ >= 0) {
            ::close(std::exchange(descriptor_, -1));
        }
    }

private:
    mapped_file() = default;

    // A pipe has no size and cannot be mapped.
    void read_stream() {
        char buffer[65536];
        for (;;) {
            const auto got = ::read(descriptor_, buffer, sizeof buffer);
            if (got < 0 && errno == EINTR) {
                continue;
            }
            if (got < 0) {
                const auto reason = detail::reason_of(errno);
                ::close(descriptor_);
                detail::fail_to_read(path_, reason);
            }
            if (got == 0) {
                break;
            }
            stream_.append(buffer, static_cast<std::size_t>(got));
        }
        data_ = stream_.data();
        size_ = stream_.size();
    }

    void swap(mapped_file& other) noexcept {
        std::swap(path_, other.path_);
        std::swap(stream_, other.stream_);
        std::swap(descriptor_, other.descriptor_);
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(mapped_, other.mapped_);
        data_ = stream_.empty() ? data_ : stream_.data();
        other.data_ = other.stream_.empty() ? other.data_ : other.stream_.data();
    }

    std::string path_;
    std::string stream_; // of a pipe, or held
    int descriptor_ = -1;
    const char* data_ = nullptr;
    std::size_t size_ = 0;
    bool mapped_ = false;
};

#else

/// The bytes of a file.
class mapped_file {
public:
    explicit mapped_file(const std::string& path, mapped_pages = mapped_pages::any) : path_(path) {
        std::error_code unknown;
        if (std::filesystem::is_directory(path, unknown)) {
            detail::fail_to_read(path, "is a folder");
        }
        if (std::filesystem::is_character_file(path, unknown)) {
            detail::fail_to_read(path, "is a device");
        }
        errno = 0;
        std::ifstream stream(path, std::ios::binary);
        if (!stream) {
            detail::fail_to_read(path, detail::last_reason("cannot be read"));
        }
        const auto size = std::filesystem::file_size(path, unknown);
        if (!unknown && size > std::numeric_limits<std::size_t>::max() / 2) {
            detail::fail_to_read(path, detail::too_large);
        }
        std::string bytes;
        if (!unknown && size > 0) {
            bytes.resize(static_cast<std::size_t>(size));
            stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
            bytes.resize(static_cast<std::size_t>(stream.gcount()));
        }
        if (stream) { // a pipe, which has no size
            bytes.append(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
        }
        if (stream.bad()) {
            detail::fail_to_read(path, detail::last_reason("cannot be read"));
        }
        hold(std::move(bytes));
    }

    [[nodiscard]] static mapped_file holding(std::string bytes, std::string name) {
        mapped_file file;
        file.path_ = std::move(name);
        file.hold(std::move(bytes));
        return file;
    }
    [[nodiscard]] static mapped_file viewing(std::string_view bytes, std::string name) {
        mapped_file file;
        file.path_ = std::move(name);
        file.bytes_ = bytes;
        return file;
    }

    [[nodiscard]] std::string_view bytes() const noexcept { return bytes_; }
    void read(std::size_t offset, std::size_t size, char* to) const {
        std::memcpy(to, bytes_.data() + offset, size);
    }
    void release(std::size_t, std::size_t) const noexcept {}
    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    [[nodiscard]] int descriptor() const noexcept { return -1; }
    void release_descriptor() noexcept {}

private:
    mapped_file() = default;

    void hold(std::string bytes) {
        held_ = std::make_unique<std::string>(std::move(bytes));
        bytes_ = *held_;
    }

    std::string path_;
    std::unique_ptr<std::string> held_;
    std::string_view bytes_;
};

#endif

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_IO_MAPPED_FILE_HPP
