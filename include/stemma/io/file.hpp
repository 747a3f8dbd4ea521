// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_IO_FILE_HPP
#define STEMMA_IO_FILE_HPP

// Everything that is not portable C++ stands in this header; STEMMA_IO of <stemma/config.hpp> says
// what of it is used. Without POSIX, files are read whole and written through a temporary file
// beside the target.

#include <stemma/config.hpp>
#include <stemma/error.hpp>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#if STEMMA_IO >= 1
#    include <fcntl.h>
#    include <sys/mman.h>
#    include <sys/stat.h>
#    include <unistd.h>
// A macro of <sys/mman.h> that a header of the ONNX library uses as a name.
#    undef MAP_TYPE
#endif

namespace stemma {

/// What a caller knows of the place where a file is to stand.
enum class target_state : std::uint8_t {
    unknown, ///< whoever writes there looks first
    absent   ///< nothing is there: nobody looks, which takes as long as making a small file; what
             ///< is there all the same is replaced
};

/// In which pages a file is mapped that the system keeps in large ones.
enum class mapped_pages : std::uint8_t {
    any,  ///< in those: every byte that is read brings up to 2 MiB into the memory of the process
    small ///< what is read and little around it, which is slower where all is read; on Linux only
};

namespace detail {

[[noreturn]] inline void fail_to_read(std::string_view path, std::string_view reason) {
    STEMMA_THROW(error(error_code::cannot_read, path, "", reason));
}

[[noreturn]] inline void fail_to_write(std::string_view path, std::string_view reason) {
    STEMMA_THROW(error(error_code::cannot_write, path, "", reason));
}

[[nodiscard]] inline std::string reason_of(int number) {
    return std::generic_category().message(number);
}

inline constexpr std::string_view too_large = "is larger than this program can address";

} // namespace detail

#if STEMMA_IO >= 1

namespace detail {

#    if STEMMA_IO >= 2
/// Maps a file where large pages do not fit. Linux keeps what was just written in such.
///
/// Returns: where it begins, or `MAP_FAILED` and `errno`.
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

/// The bytes of a file, mapped: pages are read when they are touched. Or bytes in memory, for
/// whoever takes a file.
///
/// The file must not shrink while it is mapped.
class mapped_file {
public:
    /// Returns: bytes in memory; `name` stands for a path in messages.
    [[nodiscard]] static mapped_file holding(std::string bytes, std::string name) {
        mapped_file file;
        file.path_ = std::move(name);
        file.stream_ = std::move(bytes);
        file.data_ = file.stream_.data();
        file.size_ = file.stream_.size();
        return file;
    }

    /// As `holding`, of bytes that stay with the caller. Requires: they outlive the result.
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
        if (::fstat(descriptor_, &status) != 0 || S_ISDIR(status.st_mode)) {
            const bool folder = S_ISDIR(status.st_mode);
            const auto reason = folder ? std::string("is a folder") : detail::reason_of(errno);
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

    /// Leaves `other` without bytes; views of them stay valid, but for those of a pipe and of bytes
    /// that are held.
    mapped_file(mapped_file&& other) noexcept { swap(other); }

    /// Leaves `other` with what this one held.
    mapped_file& operator=(mapped_file&& other) noexcept {
        swap(other);
        return *this;
    }
    mapped_file(const mapped_file&) = delete;
    mapped_file& operator=(const mapped_file&) = delete;

    /// Ends every view of the bytes.
    ~mapped_file() {
        if (mapped_) {
            ::munmap(const_cast<char*>(data_), size_); // NOLINT: munmap takes no const
        }
        if (descriptor_ >= 0) {
            ::close(descriptor_);
        }
    }

    /// Valid as long as the file stays mapped; moving it does not end that, but for a pipe and for
    /// bytes that are held.
    [[nodiscard]] std::string_view bytes() const noexcept { return {data_, size_}; }

    /// Copies a range to `to` without making its pages part of the memory of the process.
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
                detail::fail_to_read(path_,
                                     got < 0 ? detail::reason_of(errno) : "has become shorter");
            }
            offset += static_cast<std::size_t>(got);
            size -= static_cast<std::size_t>(got);
            to += got;
        }
    }

    /// Says that a range will hardly be read again: its pages leave the memory of the process, and
    /// come back if it is.
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

    /// As it was given.
    [[nodiscard]] const std::string& path() const noexcept { return path_; }

    /// Returns: a descriptor from which ranges can be copied by position, or -1.
    [[nodiscard]] int descriptor() const noexcept { return stream_.empty() ? descriptor_ : -1; }

    /// Gives the descriptor back, of which a process has few; the bytes stay.
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

namespace detail {

/// Collects what is written to a descriptor, at its own position or from a given one on.
class buffered_writer {
public:
    /// `path` names the file in errors. Requires: it outlives the writer.
    explicit buffered_writer(const std::string& path) : path_(&path) {}

    /// From here on, what is handed over goes to `descriptor`: to `position`, if there is one. Who
    /// shares it with others holds `turns` while the kernel writes.
    void attach(int descriptor, std::optional<off_t> position = {},
                std::mutex* turns = nullptr) noexcept {
        descriptor_ = descriptor;
        placed_ = position.has_value();
        turns_ = turns;
        at_ = position.value_or(0);
    }

    /// Requires: nothing is held back, and there was a position.
    void move_to(off_t position) noexcept { at_ = position; }

    void write(std::string_view bytes) {
        while (used_ + bytes.size() >= room()) {
            const auto first = bytes.substr(0, room() - used_);
            bytes.remove_prefix(first.size());
            if (used_ == 0) {
                write_now(first);
            } else {
                append(first);
                flush();
            }
        }
        append(bytes);
    }

    /// As `write`, for what the caller has collected.
    void write_through(std::string_view bytes) {
        flush();
        write_now(bytes);
    }

    void copy(const mapped_file& file, std::size_t offset, std::size_t size) {
        if (size < direct_copy_size) {
            write(file.bytes().substr(offset, size));
            return;
        }
        if (file.descriptor() >= 0 && offset % block_size == 0 &&
            (static_cast<std::size_t>(at_) + used_) % block_size == 0) {
            flush();
            const auto copied = copy_blocks(file, offset, size);
            offset += copied;
            size -= copied;
        }
        // What lies elsewhere in its blocks the kernel would copy page by page, at half the speed.
        while (size > 0) {
            const auto part = std::min(size, room() - used_);
            file.read(offset, part, space());
            used_ += part;
            offset += part;
            size -= part;
            if (used_ == room()) {
                flush();
            }
        }
    }

    void flush() {
        write_now({buffer_.get(), used_});
        used_ = 0;
    }

private:
    // Small enough to stay in the cache between being filled and being written.
    static constexpr std::size_t buffer_size = 1U << 19U;
    static constexpr std::size_t direct_copy_size = 1U << 18U;
    static constexpr std::size_t block_size = 4096; // of nearly all file systems

    /// Returns: how much fits until the next multiple of the buffer's size in the file: the kernel
    /// keeps what begins and ends there in larger pieces.
    [[nodiscard]] std::size_t room() const noexcept {
        return buffer_size - static_cast<std::size_t>(at_) % buffer_size;
    }

    /// Returns: where the buffer goes on.
    [[nodiscard]] char* space() {
        if (!buffer_) {
            buffer_.reset(
                new char[buffer_size]); // NOLINT: libc++ has the function for it from 16 on
        }
        return buffer_.get() + used_;
    }

    void append(std::string_view bytes) {
        if (!bytes.empty()) {
            std::memcpy(space(), bytes.data(), bytes.size());
            used_ += bytes.size();
        }
    }

    /// Some file systems let files share whole blocks instead of copying them.
    /// Returns: how many bytes were copied, all or fewer.
    [[nodiscard]] std::size_t copy_blocks(const mapped_file& file, std::size_t offset,
                                          std::size_t size) {
        std::size_t done = 0;
#    if STEMMA_IO >= 2
        auto from = static_cast<off_t>(offset);
        while (done < size) {
            const auto turn = take_turn();
            auto to = at_;
            const auto copied = ::copy_file_range(file.descriptor(), &from, descriptor_,
                                                  placed_ ? &to : nullptr, size - done, 0);
            if (copied < 0 && errno == EINTR) {
                continue;
            }
            if (copied <= 0) {
                break;
            }
            done += static_cast<std::size_t>(copied);
            at_ += copied;
        }
#    else
        static_cast<void>(file);
        static_cast<void>(offset);
        static_cast<void>(size);
#    endif
        return done;
    }

    // The kernel writes to a file for one thread at a time, and keeps the others busy waiting.
    [[nodiscard]] std::unique_lock<std::mutex> take_turn() const {
        return turns_ == nullptr ? std::unique_lock<std::mutex>()
                                 : std::unique_lock<std::mutex>(*turns_);
    }

    void write_now(std::string_view bytes) {
        while (!bytes.empty()) {
            const auto turn = take_turn();
            const auto written = placed_ ? ::pwrite(descriptor_, bytes.data(), bytes.size(), at_)
                                         : ::write(descriptor_, bytes.data(), bytes.size());
            if (written < 0 && errno == EINTR) {
                continue;
            }
            if (written <= 0) {
                fail_to_write(*path_, reason_of(errno));
            }
            bytes.remove_prefix(static_cast<std::size_t>(written));
            at_ += written;
        }
    }

    const std::string* path_;
    int descriptor_ = -1;
    std::mutex* turns_ = nullptr;
    off_t at_ = 0;                   // where the buffer goes, from the position it began at
    bool placed_ = false;            // the descriptor's own position does not count
    std::unique_ptr<char[]> buffer_; // once there is something to keep
    std::size_t used_ = 0;           // of it
};

} // namespace detail

/// A file that appears whole or not at all: `commit` puts it in place of what was there, with the
/// permissions that had.
///
/// What is written goes to a file without a name in the target's folder, so nothing is left behind
/// by a process that is killed; where the file system has none, to one with a name of its own. A
/// target that is no regular file (a device, a pipe) is written directly.
class output_file {
public:
    /// Throws: `error` of `error_code::cannot_write`, as do all members.
    explicit output_file(std::string path, target_state state = target_state::unknown)
        : path_(std::move(path)) {
        struct stat status {};
        const bool exists = state == target_state::unknown && ::stat(path_.c_str(), &status) == 0;
        if (exists) {
            if (S_ISDIR(status.st_mode)) {
                detail::fail_to_write(path_, "is a folder");
            }
            direct_ = !S_ISREG(status.st_mode);
            char* resolved = direct_ ? nullptr : ::realpath(path_.c_str(), nullptr);
            target_ = resolved == nullptr ? path_ : resolved;
            std::free(resolved); // NOLINT: realpath allocates with malloc
        } else {
            target_ = path_;
        }
        open_descriptor();
        if (exists && !direct_) {
            static_cast<void>(::fchmod(descriptor_, status.st_mode & 0777)); // as it was
        }
        writer_.attach(descriptor_);
    }

    output_file(const output_file&) = delete;
    output_file& operator=(const output_file&) = delete;

    /// What was not committed is gone.
    ~output_file() {
        if (descriptor_ >= 0) {
            ::close(descriptor_);
        }
        if (!temporary_.empty()) {
            ::unlink(temporary_.c_str());
        }
    }

    /// Appends; the bytes are copied or written before it returns.
    void write(std::string_view bytes) { writer_.write(bytes); }

    /// As `write`, but hands the bytes over at once: for what the caller has collected.
    void write_now(std::string_view bytes) { writer_.write_through(bytes); }

    /// Appends a range of `file`; a long one does not pass through this process where the system
    /// can do without.
    void copy(const mapped_file& file, std::size_t offset, std::size_t size) {
        writer_.copy(file, offset, size);
    }

    /// Whether an `output_range` can write to it.
    [[nodiscard]] bool takes_ranges() const noexcept { return !direct_; }

    /// Makes room for a file of so many bytes, all of which will be written. Where the file system
    /// allocates them beforehand, to write them takes less time; nothing depends on it.
    void reserve(std::int64_t size) const noexcept {
#    if STEMMA_IO >= 2
        if (!direct_) {
            static_cast<void>(::fallocate(descriptor_, 0, 0, size));
        }
#    else
        static_cast<void>(size);
#    endif
    }

    /// Hands over all that was written, so that `commit` has less to do; nothing is written
    /// afterwards. `sync` waits until the bytes are on the medium.
    void finish(bool sync = true) {
        writer_.flush();
        if (!direct_ && sync && !synced_ && ::fsync(descriptor_) != 0) {
            detail::fail_to_write(path_, detail::reason_of(errno));
        }
        synced_ = synced_ || sync;
    }

    /// Puts the file in its place. `sync` waits until the bytes are on the medium.
    void commit(bool sync = true) {
        finish(sync);
        if (!direct_) {
            put_in_place();
            if (sync) {
                sync_folder();
            }
        }
        const auto closed = ::close(std::exchange(descriptor_, -1));
        if (closed != 0 && errno != EINTR) {
            detail::fail_to_write(path_, detail::reason_of(errno));
        }
    }

private:
    friend class output_range;

    [[nodiscard]] std::string folder() const {
        const auto slash = target_.rfind('/');
        return slash == target_.npos ? "." : slash == 0 ? "/" : target_.substr(0, slash);
    }

    void open_descriptor() {
        if (direct_) {
            descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
        } else {
#    if STEMMA_IO >= 2
            descriptor_ = ::open(folder().c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
#    endif
            for (unsigned attempt = 0; descriptor_ < 0 && attempt < 100; ++attempt) {
                auto name = temporary_name(attempt);
                descriptor_ = ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
                if (descriptor_ >= 0) {
                    temporary_ = std::move(name);
                } else if (errno != EEXIST) {
                    break;
                }
            }
        }
        if (descriptor_ < 0) {
            detail::fail_to_write(path_, detail::reason_of(errno));
        }
    }

    [[nodiscard]] std::string temporary_name(unsigned attempt) const {
        return target_ + ".stemma-" + std::to_string(::getpid()) + "-" + std::to_string(attempt);
    }

    void put_in_place() {
#    if STEMMA_IO >= 2
        if (temporary_.empty() && link_in_place()) {
            return;
        }
#    endif
        if (temporary_.empty() || ::rename(temporary_.c_str(), target_.c_str()) != 0) {
            detail::fail_to_write(path_, detail::reason_of(errno));
        }
        temporary_.clear();
    }

#    if STEMMA_IO >= 2
    // A link cannot replace a file; where there is one, the nameless one first gets a name to be
    // renamed from. Returns: whether it has that of the target.
    [[nodiscard]] bool link_in_place() {
        if (link_as(target_)) {
            return true;
        }
        for (unsigned attempt = 0; temporary_.empty() && attempt < 100; ++attempt) {
            auto name = temporary_name(attempt);
            if (link_as(name)) {
                temporary_ = std::move(name);
            } else if (errno != EEXIST) {
                break;
            }
        }
        return false;
    }

    [[nodiscard]] bool link_as(const std::string& name) const {
        // Not for everybody, but at half the cost.
        if (::linkat(descriptor_, "", AT_FDCWD, name.c_str(), AT_EMPTY_PATH) == 0) {
            return true;
        }
        if (errno == EEXIST) {
            return false;
        }
        const auto self = "/proc/self/fd/" + std::to_string(descriptor_);
        return ::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
    }
#    endif

    void sync_folder() const {
        const int opened = ::open(folder().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (opened >= 0) {
            ::fsync(opened);
            ::close(opened);
        }
    }

    std::string path_;
    std::string target_;    // behind symbolic links
    std::string temporary_; // its name, while it has one
    detail::buffered_writer writer_{path_};
    mutable std::mutex turns_; // of the ranges
    int descriptor_ = -1;
    bool direct_ = false;
    bool synced_ = false;
};

/// A part of a file that is written from a known position on, so that several threads can write one
/// file. What is written by other means starts at its front.
class output_range {
public:
    /// Requires: `file.takes_ranges()`, and outlives the range.
    output_range(const output_file& file, std::uint64_t position) : writer_(file.path_) {
        writer_.attach(file.descriptor_, static_cast<off_t>(position), &file.turns_);
    }

    /// Appends. Throws: `error` of `error_code::cannot_write`, as do the others.
    void write(std::string_view bytes) { writer_.write(bytes); }

    /// Appends a range of `from`, as `output_file` does. Complexity: O(size).
    void copy(const mapped_file& from, std::size_t offset, std::size_t size) {
        writer_.copy(from, offset, size);
    }

    /// Goes on at another position of the same file, once all before is handed over.
    void move_to(std::uint64_t position) {
        finish();
        writer_.move_to(static_cast<off_t>(position));
    }

    /// Hands over what is still held back.
    void finish() { writer_.flush(); }

private:
    detail::buffered_writer writer_;
};

#else

namespace detail {

/// Returns: why the last call failed that may have said so, which not every library does.
[[nodiscard]] inline std::string last_reason(std::string_view otherwise) {
    return errno != 0 ? reason_of(errno) : std::string(otherwise);
}

} // namespace detail

/// The bytes of a file.
class mapped_file {
public:
    explicit mapped_file(const std::string& path, mapped_pages = mapped_pages::any) : path_(path) {
        std::error_code unknown;
        if (std::filesystem::is_directory(path, unknown)) {
            detail::fail_to_read(path, "is a folder");
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

/// A file that appears whole or not at all: `commit` puts it in place of what was there, with the
/// permissions that had.
class output_file {
public:
    explicit output_file(std::string path, target_state state = target_state::unknown)
        : path_(std::move(path)), target_(path_) {
        namespace fs = std::filesystem;
        std::error_code none;
        const auto status = state == target_state::absent
                                ? fs::file_status(fs::file_type::not_found)
                                : fs::status(path_, none);
        if (fs::is_directory(status)) {
            detail::fail_to_write(path_, "is a folder");
        }
        direct_ = fs::exists(status) && !fs::is_regular_file(status);
        if (fs::is_regular_file(status)) {
            permissions_ = status.permissions();
            const auto behind_links = fs::canonical(path_, none);
            target_ = none ? path_ : behind_links.string();
        }
        errno = 0;
        if (direct_) {
            stream_.open(path_, std::ios::binary);
        } else {
            open_temporary();
        }
        check();
    }

    output_file(const output_file&) = delete;
    output_file& operator=(const output_file&) = delete;

    ~output_file() {
        if (!temporary_.empty()) {
            stream_.close();
            std::error_code ignored;
            std::filesystem::remove(temporary_, ignored);
        }
    }

    void write(std::string_view bytes) {
        stream_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        check();
    }

    void copy(const mapped_file& file, std::size_t offset, std::size_t size) {
        write(file.bytes().substr(offset, size));
    }

    void write_now(std::string_view bytes) { write(bytes); }

    [[nodiscard]] bool takes_ranges() const noexcept { return false; }

    void reserve(std::int64_t) const noexcept {}

    void finish(bool = true) {
        stream_.flush();
        check();
    }

    void commit(bool = true) {
        finish();
        stream_.close();
        check();
        if (direct_) {
            return;
        }
        std::error_code failed;
        if (permissions_ != std::filesystem::perms::unknown) {
            std::filesystem::permissions(temporary_, permissions_, failed); // as it was
        }
        std::filesystem::rename(temporary_, target_, failed);
        if (failed) {
            detail::fail_to_write(path_, failed.message());
        }
        temporary_.clear();
    }

private:
    // Nothing standard opens only what is not there; two processes that write the same file at the
    // same moment may both take a name.
    void open_temporary() {
        std::error_code none;
        for (unsigned attempt = 0; attempt < 100; ++attempt) {
            auto name = target_ + ".stemma-" + std::to_string(attempt);
            if (!std::filesystem::exists(name, none)) {
                stream_.open(name, std::ios::binary);
                if (stream_) {
                    temporary_ = std::move(name);
                }
                return;
            }
        }
        stream_.setstate(std::ios::failbit);
    }

    void check() const {
        if (!stream_) {
            detail::fail_to_write(path_, detail::last_reason("cannot be written"));
        }
    }

    std::string path_;
    std::string target_; // behind symbolic links
    std::string temporary_;
    std::ofstream stream_;
    std::filesystem::perms permissions_ = std::filesystem::perms::unknown; // of what is replaced
    bool direct_ = false;
};

/// Of no use here, as a stream has one position.
class output_range {
public:
    output_range(const output_file& file, std::uint64_t) { static_cast<void>(file); }

    void write(std::string_view) {}
    void copy(const mapped_file&, std::size_t, std::size_t) {}
    void move_to(std::uint64_t) {}
    void finish() {}
};

#endif

} // namespace stemma

#endif // STEMMA_IO_FILE_HPP
