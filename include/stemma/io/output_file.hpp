// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_IO_OUTPUT_FILE_HPP
#define STEMMA_IO_OUTPUT_FILE_HPP

#include <stemma/config.hpp>
#include <stemma/io/detail/buffered_writer.hpp>
#include <stemma/io/detail/system_files.hpp>
#include <stemma/io/mapped_file.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <ios>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace stemma::inline STEMMA_ABI {

namespace detail {

class output_range;

/// What a caller knows about the target of a file.
enum class target_state : std::uint8_t {
    unknown, ///< check before writing
    absent   ///< skip the check, which costs as much as creating a small file; an existing file is
             ///< replaced
};

} // namespace detail

#if STEMMA_IO >= 1

/// A file that appears whole or not at all: `commit` replaces the target, keeping its permissions.
///
/// Output goes to an unnamed file in the target's folder, so a killed process leaves nothing
/// behind; on file systems without unnamed files, to a temporary one. A target that is not a
/// regular file (a device, a pipe) is written directly.
class output_file {
public:
    /// What a caller knows about the target: `unknown` or `absent`.
    using target_state = detail::target_state;

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
            target_ = state == target_state::unknown ? detail::link_target(path_) : path_;
        }
        open_descriptor();
        if (exists && !direct_) {
            static_cast<void>(::fchmod(descriptor_, status.st_mode & 0777)); // as before
        }
        writer_.attach(descriptor_);
    }

    output_file(const output_file&) = delete;
    output_file& operator=(const output_file&) = delete;

    /// Discards anything not committed.
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

    /// As `write`, but writes at once: for data the caller has already buffered.
    void write_now(std::string_view bytes) { writer_.write_through(bytes); }

    /// Appends a range of `file`; a long one bypasses this process if the system allows.
    void copy(const mapped_file& file, std::size_t offset, std::size_t size) {
        writer_.copy(file, offset, size);
    }

    /// Whether an `output_range` can write to it.
    [[nodiscard]] bool takes_ranges() const noexcept { return !direct_; }

    /// Reserves space for a file of that size, all of which will be written. Speeds up writing on
    /// file systems that preallocate; nothing depends on it.
    void reserve(std::int64_t size) const noexcept {
#    if STEMMA_IO >= 2
        if (!direct_) {
            static_cast<void>(::fallocate(descriptor_, 0, 0, size));
        }
#    else
        static_cast<void>(size);
#    endif
    }

    /// Hands everything to the system.
    void flush() { writer_.flush(); }

    /// Writes everything out so that `commit` has less to do; no writes may follow. `sync` waits
    /// until the bytes are on the medium.
    void finish(bool sync = true) {
        writer_.flush();
        if (!direct_ && sync && !synced_ && ::fsync(descriptor_) != 0) {
            detail::fail_to_write(path_, detail::reason_of(errno));
        }
        synced_ = synced_ || sync;
    }

    /// Moves the file into place. `sync` waits until the bytes are on the medium.
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
    friend class detail::output_range;

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
    // A link cannot replace a file; if there is one, the unnamed file is first linked under a
    // temporary name to rename from. Returns: whether it has the target's name.
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
        // Privileged, but half the cost.
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
    std::string target_;    // with symbolic links resolved
    std::string temporary_; // temporary name, if any
    detail::buffered_writer writer_{path_};
    mutable std::mutex turns_; // between ranges
    int descriptor_ = -1;
    bool direct_ = false;
    bool synced_ = false;
};

namespace detail {

/// A part of a file written from a known position on, so that several threads can write one file.
/// Data written otherwise goes at the file's front.
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

    /// Continues at another position of the same file, after flushing.
    void move_to(std::uint64_t position) {
        finish();
        writer_.move_to(static_cast<off_t>(position));
    }

    /// Flushes the buffer.
    void finish() { writer_.flush(); }

private:
    buffered_writer writer_;
};

} // namespace detail

#else

/// A file that appears whole or not at all: `commit` replaces the target, keeping its permissions.
class output_file {
public:
    /// What a caller knows about the target: `unknown` or `absent`.
    using target_state = detail::target_state;

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
        } else if (state == target_state::unknown) {
            target_ = detail::link_target(path_);
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

    void flush() {
        stream_.flush();
        check();
    }

    void finish(bool = true) { flush(); }

    void commit(bool = true) {
        finish();
        stream_.close();
        check();
        if (direct_) {
            return;
        }
        std::error_code failed;
        if (permissions_ != std::filesystem::perms::unknown) {
            std::filesystem::permissions(temporary_, permissions_, failed); // as before
        }
        std::filesystem::rename(temporary_, target_, failed);
        if (failed) {
            detail::fail_to_write(path_, failed.message());
        }
        temporary_.clear();
    }

private:
    // No standard function opens a file only if it is absent; two processes writing the same file
    // at the same moment may pick the same name.
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
    std::string target_; // with symbolic links resolved
    std::string temporary_;
    std::ofstream stream_;
    std::filesystem::perms permissions_ = std::filesystem::perms::unknown; // of what is replaced
    bool direct_ = false;
};

namespace detail {

/// Unusable here, as a stream has one position.
class output_range {
public:
    output_range(const output_file& file, std::uint64_t) { static_cast<void>(file); }

    void write(std::string_view) {}
    void copy(const mapped_file&, std::size_t, std::size_t) {}
    void move_to(std::uint64_t) {}
    void finish() {}
};

} // namespace detail

#endif

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_IO_OUTPUT_FILE_HPP
