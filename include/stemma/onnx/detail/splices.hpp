// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_SPLICES_HPP
#define STEMMA_ONNX_DETAIL_SPLICES_HPP

#include <stemma/io/mapped_file.hpp>
#include <stemma/io/output_file.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace stemma::inline STEMMA_ABI::detail {

/// Receives a copy of a file piece by piece, in order: `copy(from, size)` takes bytes of the file,
/// `write(text)` others.
template <class Sink>
concept splice_sink = requires(Sink& sink, std::uint32_t from, std::uint32_t size,
                               std::string_view text) {
    sink.copy(from, size);
    sink.write(text);
};

/// A `splice_sink` that writes to an output file; long untouched ranges are copied from file to
/// file.
class file_splice {
public:
    /// Requires: both outlive it.
    file_splice(const mapped_file& from, output_file& to) : from_(&from), to_(&to) {}

    void copy(std::uint32_t from, std::uint32_t size) { to_->copy(*from_, from, size); }
    void write(std::string_view text) { to_->write(text); }

private:
    const mapped_file* from_;
    output_file* to_;
};

/// A `splice_sink` that writes to an output file from a position on.
class range_splice {
public:
    /// Requires: both outlive it; `to` takes ranges.
    range_splice(const mapped_file& from, const output_file& to, std::uint64_t position)
        : from_(&from), to_(to, position) {}

    void copy(std::uint32_t from, std::uint32_t size) { to_.copy(*from_, from, size); }
    void write(std::string_view text) { to_.write(text); }

    /// Continues at another position, after flushing.
    void move_to(std::uint64_t position) { to_.move_to(position); }

    /// Flushes the buffer; nothing is complete before.
    void finish() { to_.finish(); }

private:
    const mapped_file* from_;
    output_range to_;
};

/// A `splice_sink` that writes to a string.
class string_splice {
public:
    /// Reuses the memory of `buffer`.
    /// Requires: the bytes of `from` outlive it.
    explicit string_splice(std::string_view from, std::string buffer = {})
        : text(std::move(buffer)), from_(from) {
        text.clear();
    }

    void copy(std::uint32_t from, std::uint32_t size) { text.append(from_.substr(from, size)); }
    void write(std::string_view more) { text.append(more); }

    std::string text; ///< what was written so far

private:
    std::string_view from_;
};

/// A `splice_sink` that passes on views: bytes of the file as views of `from`, without touching
/// them.
template <class Sink>
class view_splice {
public:
    /// Requires: both outlive it.
    view_splice(std::string_view from, Sink& to) : from_(from), to_(&to) {}

    void copy(std::uint32_t from, std::uint32_t size) { to_->write(from_.substr(from, size)); }
    void write(std::string_view text) { to_->write(text); }

private:
    std::string_view from_;
    Sink* to_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_SPLICES_HPP
