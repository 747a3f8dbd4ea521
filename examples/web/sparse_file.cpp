// SPDX-License-Identifier: Apache-2.0
#include "sparse_file.hpp"

#include <stemma/error.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace web {

namespace {

constexpr std::uint64_t block_size = std::uint64_t{1} << 14U;
constexpr std::uint64_t beginning = std::uint64_t{1}
                                    << 12U; // the first numbers of a tensor may be shown
constexpr std::uint64_t farthest = 64;      // blocks that are read at once, beyond what is needed
constexpr unsigned deepest = 100;

[[noreturn]] void fail(const std::string& path, std::string_view reason) {
    throw stemma::error(stemma::error_code::cannot_read, path, "", reason);
}

} // namespace

// Messages that may contain tensors, by field numbers of onnx.proto.
const std::array<sparse_file::field, 16> sparse_file::fields{{
    {message::model, 7, message::graph},
    {message::model, 25, message::function},
    {message::graph, 1, message::node},
    {message::graph, 5, message::tensor},
    {message::graph, 15, message::sparse},
    {message::function, 7, message::node},
    {message::function, 11, message::attribute},
    {message::node, 5, message::attribute},
    {message::attribute, 5, message::tensor},
    {message::attribute, 10, message::tensor},
    {message::attribute, 6, message::graph},
    {message::attribute, 11, message::graph},
    {message::attribute, 22, message::sparse},
    {message::attribute, 23, message::sparse},
    {message::sparse, 1, message::tensor},
    {message::sparse, 2, message::tensor},
}};

sparse_file::sparse_file(std::string path, std::uint64_t limit)
    : path_(std::move(path)), limit_(limit) {
    descriptor_ = ::open(path_.c_str(), O_RDONLY);
    struct stat status {};
    if (descriptor_ < 0 || ::fstat(descriptor_, &status) != 0) {
        fail(path_, std::generic_category().message(errno));
    }
    const auto size = static_cast<std::uint64_t>(status.st_size);
    if (size >= std::uint64_t{1} << 31U) {
        fail(path_, "has 2 GiB or more, protobuf's limit: store larger weights in separate files");
    }
    size_ = static_cast<std::size_t>(size);
    data_ =
        static_cast<char*>(std::malloc(std::max<std::size_t>(size_, 1))); // NOLINT: stays untouched
    if (data_ == nullptr) {
        fail(path_, "does not fit into the memory of this page");
    }
    blocks_.resize((size_ + block_size - 1) / block_size);
    load(0, std::min<std::uint64_t>(size_, std::uint64_t{1} << 16U));
    walk(message::model, 0, size_, 0);
}

sparse_file::~sparse_file() {
    std::free(data_); // NOLINT: as above
    if (descriptor_ >= 0) {
        ::close(descriptor_);
    }
}

void sparse_file::load(std::uint64_t begin, std::uint64_t end) {
    for (auto block = begin / block_size; block * block_size < end; ++block) {
        if (blocks_[block]) {
            continue;
        }
        // A slice takes long to ask for: where slices follow each other, they grow.
        ahead_ = block == next_ ? std::min(2 * ahead_, farthest) : 1;
        auto last = block;
        for (; last < blocks_.size() && !blocks_[last] &&
               (last * block_size < end || last < block + ahead_);
             ++last) {
            blocks_[last] = true;
        }
        next_ = last;
        auto at = block * block_size;
        const auto stop = std::min<std::uint64_t>(last * block_size, size_);
        loaded_ += stop - at;
        while (at < stop) {
            const auto got = ::pread(descriptor_, data_ + at, stop - at, static_cast<off_t>(at));
            if (got <= 0) {
                fail(path_, got < 0 ? std::generic_category().message(errno)
                                    : "was truncated while being read");
            }
            at += static_cast<std::uint64_t>(got);
        }
        block = last - 1;
    }
}

bool sparse_file::read_varint(std::uint64_t& at, std::uint64_t end, std::uint64_t& value) {
    load(at, std::min(at + 10, end));
    value = 0;
    for (unsigned shift = 0; shift < 70 && at < end; shift += 7) {
        const auto byte = static_cast<unsigned char>(data_[at++]);
        value |= std::uint64_t{byte & 0x7fU} << shift;
        if (byte < 0x80U) {
            return true;
        }
    }
    return false;
}

// The rest of a damaged message is left to the library, which reports it.
void sparse_file::walk(message kind, std::uint64_t begin, std::uint64_t end, unsigned depth) {
    if (end - begin <= limit_ || depth > deepest) {
        load(begin, end);
        return;
    }
    for (auto at = begin; at < end;) {
        std::uint64_t tag = 0;
        std::uint64_t size = 0;
        if (!read_varint(at, end, tag)) {
            return;
        }
        switch (tag & 7U) {
        case 0:
            if (!read_varint(at, end, size)) {
                return;
            }
            continue;
        case 1:
            size = 8;
            break;
        case 5:
            size = 4;
            break;
        case 2:
            if (!read_varint(at, end, size)) {
                return;
            }
            break;
        default:
            load(at, std::min(end, at + limit_));
            return;
        }
        if (size > end - at) {
            return;
        }
        const auto number = static_cast<std::uint32_t>(tag >> 3U);
        const auto* inside = std::find_if(fields.begin(), fields.end(), [&](const field& one) {
            return one.of == kind && one.number == number;
        });
        // float_data, int32_data, string_data, int64_data, raw_data, double_data, uint64_data
        const bool is_data = kind == message::tensor &&
                             ((number >= 4 && number <= 7) || (number >= 9 && number <= 11));
        if ((tag & 7U) == 2 && inside != fields.end()) {
            walk(inside->inside, at, at + size, depth + 1);
        } else if (is_data && size > limit_) {
            load(at, at + std::min(size, beginning));
        } else {
            load(at, at + size);
        }
        at += size;
    }
}

} // namespace web
