// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EXAMPLES_WEB_SPARSE_FILE_HPP
#define STEMMA_EXAMPLES_WEB_SPARSE_FILE_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace web {

/// A model file in memory without large tensor data: untouched pages take no memory. Unread bytes
/// are unspecified.
class sparse_file {
public:
    /// Larger tensor data is not read, except for its beginning.
    static constexpr std::uint64_t usual_limit = std::uint64_t{1} << 16U;

    /// Throws: `stemma::error` for a file that cannot be read, or has 2 GiB or more.
    explicit sparse_file(std::string path, std::uint64_t limit = usual_limit);
    sparse_file(const sparse_file&) = delete;
    sparse_file& operator=(const sparse_file&) = delete;
    ~sparse_file();

    [[nodiscard]] std::string_view bytes() const noexcept { return {data_, size_}; }
    [[nodiscard]] const std::string& path() const noexcept { return path_; }

    /// Returns: the number of bytes read.
    [[nodiscard]] std::uint64_t loaded() const noexcept { return loaded_; }

    /// Reads the rest. Complexity: O(bytes).
    void load_all() { load(0, size_); }

    /// Whether a text is a range of the file, read or not.
    [[nodiscard]] bool holds(std::string_view text) const noexcept {
        return text.data() >= data_ && text.data() + text.size() <= data_ + size_;
    }

private:
    enum class message : std::uint8_t { model, graph, node, attribute, tensor, sparse, function };
    struct field {
        message of;
        std::uint32_t number;
        message inside;
    };
    static const std::array<field, 16> fields;

    void load(std::uint64_t begin, std::uint64_t end);
    void walk(message kind, std::uint64_t begin, std::uint64_t end, unsigned depth);
    [[nodiscard]] bool read_varint(std::uint64_t& at, std::uint64_t end, std::uint64_t& value);

    std::string path_;
    int descriptor_ = -1;
    char* data_ = nullptr;
    std::size_t size_ = 0;
    std::uint64_t limit_;
    std::uint64_t loaded_ = 0;
    std::vector<bool> blocks_; // that were read
    std::uint64_t next_ = 0;   // the block after the last slice
    std::uint64_t ahead_ = 1;  // blocks of the next slice, if it begins there
};

} // namespace web

#endif // STEMMA_EXAMPLES_WEB_SPARSE_FILE_HPP
