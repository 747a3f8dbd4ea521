// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_IO_DETAIL_BUFFERED_WRITER_HPP
#define STEMMA_IO_DETAIL_BUFFERED_WRITER_HPP

#include <stemma/config.hpp>
#include <stemma/io/detail/system_files.hpp>
#include <stemma/io/mapped_file.hpp>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#if STEMMA_IO >= 1

namespace stemma::inline STEMMA_ABI::detail {

/// Buffers writes to a descriptor, at its own position or from a given one on.
class buffered_writer {
public:
    /// `path` names the file in errors. Requires: it outlives the writer.
    explicit buffered_writer(const std::string& path) : path_(&path) {}

    /// From now on output goes to `descriptor`, at `position` if given. If the descriptor is
    /// shared, `turns` is held during system calls.
    void attach(int descriptor, std::optional<off_t> position = {},
                std::mutex* turns = nullptr) noexcept {
        descriptor_ = descriptor;
        placed_ = position.has_value();
        turns_ = turns;
        at_ = position.value_or(0);
    }

    /// Requires: the buffer is empty, and a position was given.
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

    /// As `write`, for data the caller has already buffered.
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
        // The kernel would copy unaligned data page by page, at half the speed.
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
    // Small enough to stay in cache between filling and writing.
    static constexpr std::size_t buffer_size = 1U << 19U;
    static constexpr std::size_t direct_copy_size = 1U << 18U;
    static constexpr std::size_t block_size = 4096; // on nearly all file systems

    /// Returns: the space up to the next multiple of the buffer size in the file: aligned writes
    /// let the kernel use larger folios.
    [[nodiscard]] std::size_t room() const noexcept {
        return buffer_size - static_cast<std::size_t>(at_) % buffer_size;
    }

    /// Returns: the end of the buffered data.
    [[nodiscard]] char* space() {
        if (!buffer_) {
            buffer_.reset(
                new char[buffer_size]); // NOLINT: libc++ lacks make_unique_for_overwrite before 16
        }
        return buffer_.get() + used_;
    }

    void append(std::string_view bytes) {
        if (!bytes.empty()) {
            std::memcpy(space(), bytes.data(), bytes.size());
            used_ += bytes.size();
        }
    }

    /// Some file systems let files share whole blocks instead of copying.
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

    // The kernel writes to a file for one thread at a time while others spin.
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
    off_t at_ = 0;                   // file offset of the buffer, relative to the start
    bool placed_ = false;            // writes at explicit positions
    std::unique_ptr<char[]> buffer_; // allocated on first use
    std::size_t used_ = 0;           // of it
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif

#endif // STEMMA_IO_DETAIL_BUFFERED_WRITER_HPP
