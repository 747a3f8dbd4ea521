// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CHECKPOINT_DETAIL_SAFETENSORS_HPP
#define STEMMA_CHECKPOINT_DETAIL_SAFETENSORS_HPP

#include <stemma/checkpoint/checkpoint.hpp>
#include <stemma/checkpoint/detail/tensor_layout.hpp>
#include <stemma/config.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/error.hpp>

#include <nlohmann/json.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Reads an object of objects as a stream, such as the header of a safetensors file or the index of
/// several files. The handler receives
/// - `begin(key)` and `end()`: a member of the document that is an object;
/// - `text(key, value)`: a string in it;
/// - `begin_list(key)` and `number(value)`: a list in it, and its natural numbers.
/// Values of other kinds in a member that it `wants(key)` are malformed; other members are skipped.
template <class Handler>
class header_json_splitter {
public:
    using json = nlohmann::json;

    header_json_splitter(Handler& handler, std::string_view file)
        : handler_(&handler), file_(file) {}

    bool null() { return other(); }
    bool boolean(bool) { return other(); }
    bool number_integer(json::number_integer_t) { return other(); }
    bool number_float(json::number_float_t, const std::string&) { return other(); }
    bool binary(const json::binary_t&) { return other(); }

    bool number_unsigned(json::number_unsigned_t value) {
        if (depth_ == 3 && wanted_) {
            handler_->number(value);
            return true;
        }
        return other();
    }

    bool string(const std::string& value) {
        if (depth_ == 2 && wanted_) {
            handler_->text(key_, value);
            return true;
        }
        return other();
    }

    bool key(const std::string& name) {
        key_ = name;
        return true;
    }

    bool start_object(std::size_t) {
        if (depth_ == 1) {
            wanted_ = handler_->wants(key_);
            if (wanted_) {
                handler_->begin(key_);
            }
        } else if (depth_ > 1) {
            static_cast<void>(other());
        }
        ++depth_;
        return true;
    }

    bool end_object() {
        if (depth_ == 2 && wanted_) {
            handler_->end();
        }
        return close();
    }

    bool start_array(std::size_t) {
        if (depth_ == 2 && wanted_) {
            handler_->begin_list(key_);
            ++depth_;
            return true;
        }
        const bool fine = other();
        ++depth_;
        return fine;
    }

    bool end_array() { return close(); }

    bool parse_error(std::size_t position, const std::string&, const json::exception&) {
        fail("byte " + std::to_string(position), "the header is not JSON");
        return false;
    }

private:
    [[noreturn]] void fail(std::string_view place, std::string_view reason) const {
        STEMMA_THROW(error(error_code::malformed, file_, place, reason));
    }

    bool close() {
        --depth_;
        wanted_ = wanted_ && depth_ >= 2;
        return true;
    }

    bool other() {
        if (wanted_ || depth_ == 0 || (depth_ == 1 && handler_->wants(key_))) {
            fail(key_, "the header has unexpected contents");
        }
        return true;
    }

    Handler* handler_;
    std::string_view file_;
    std::string key_;
    std::size_t depth_ = 0;
    bool wanted_ = false; // the current member of the document
};

/// Reads such a document. Throws: `error` of `error_code::malformed`. Complexity: O(bytes).
template <class Handler>
void read_header_json(std::string_view bytes, std::string_view file, Handler& handler) {
    header_json_splitter<Handler> splitter(handler, file);
    static_cast<void>(nlohmann::json::sax_parse(bytes.begin(), bytes.end(), &splitter));
}

inline constexpr std::array<element_type, 17> safetensors_types{{
    {"F32", 1, 4},
    {"U8", 2, 1},
    {"I8", 3, 1},
    {"U16", 4, 2},
    {"I16", 5, 2},
    {"I32", 6, 4},
    {"I64", 7, 8},
    {"BOOL", 9, 1},
    {"F16", 10, 2},
    {"F64", 11, 8},
    {"U32", 12, 4},
    {"U64", 13, 8},
    {"C64", 14, 8},
    {"BF16", 16, 2},
    {"F8_E4M3", 17, 1},
    {"F8_E5M2", 19, 1},
    {"F8_E8M0", 24, 1},
}};

/// Whether bytes begin like a safetensors file: the length of a header, then JSON.
[[nodiscard]] inline bool is_safetensors(std::string_view bytes) noexcept {
    return bytes.size() > 9 && bytes.substr(4, 4) == std::string_view("\0\0\0\0", 4) &&
           bytes[8] == '{';
}

/// Reads the header of a safetensors file.
class safetensors_reader {
public:
    /// Requires: the arguments outlive this.
    safetensors_reader(std::string_view bytes, std::string_view file)
        : bytes_(bytes), file_(file) {}

    /// Returns: the entries, of file 0, in the order of their data.
    /// Throws: `error` of `error_code::malformed` or `unsupported`.
    /// Complexity: O(bytes of the header), and that of sorting the entries.
    [[nodiscard]] std::vector<checkpoint::entry> read() {
        if (bytes_.size() < 8) {
            fail("", "is not a safetensors file, or is damaged");
        }
        std::uint64_t size = 0;
        for (std::size_t i = 8; i-- > 0;) {
            size = size << 8U | static_cast<unsigned char>(bytes_[i]);
        }
        if (size > bytes_.size() - 8) {
            fail("", "the header extends past the end of the file");
        }
        if (size > longest_header) {
            fail("", "the header is larger than 100 MB");
        }
        data_ = 8 + size;
        read_header_json(bytes_.substr(8, size), file_, *this);
        range::stable_sort(entries_, [](const auto& one, const auto& other) {
            return std::tie(one.offset, one.size) < std::tie(other.offset, other.size);
        });
        for (std::size_t i = 1; i < entries_.size(); ++i) {
            if (entries_[i].offset < entries_[i - 1].offset + entries_[i - 1].size) {
                fail(entries_[i].name, "overlaps '" + quoted_name(entries_[i - 1].name) + "'");
            }
        }
        return std::move(entries_);
    }

    /// For `read_header_json`, like the others.
    [[nodiscard]] static bool wants(std::string_view key) noexcept { return key != "__metadata__"; }

    /// A tensor.
    void begin(const std::string& name) {
        entry_ = {};
        entry_.name = name;
        type_.clear();
        places_.clear();
        has_shape_ = false;
        list_ = nullptr;
    }

    /// A string member of a tensor.
    void text(std::string_view key, const std::string& value) {
        if (key != "dtype" || !type_.empty()) {
            fail(entry_.name, "'" + quoted_name(key) + "' is a string, or occurs twice");
        }
        type_ = value;
    }

    /// A list member of a tensor.
    void begin_list(std::string_view key) {
        const bool is_known = key == "shape" || key == "data_offsets";
        if (!is_known || (key == "shape" ? has_shape_ : !places_.empty())) {
            fail(entry_.name, "'" + quoted_name(key) + "' is a list, or occurs twice");
        }
        has_shape_ = has_shape_ || key == "shape";
        list_ = key == "shape" ? &extents_ : &places_;
        list_->clear();
    }

    /// An element of that list.
    void number(std::uint64_t value) { list_->push_back(value); }

    /// The end of a tensor.
    void end() {
        const auto& name = entry_.name;
        const auto* type = find_type(safetensors_types, type_);
        if (type_.empty() || !has_shape_ || places_.size() != 2) {
            fail(name, "lacks its type, shape or data_offsets");
        }
        if (type == nullptr) {
            STEMMA_THROW(error(error_code::unsupported, file_, name,
                               "has elements of unknown type '" + type_.substr(0, 40) + "'"));
        }
        if (!names_.insert(name).second) {
            fail(name, "occurs twice");
        }
        if (extents_.size() > most_extents ||
            range::any_of(extents_, [](std::uint64_t extent) { return extent >> 62U != 0; })) {
            fail(name, "has an impossible shape");
        }
        for (const auto extent : extents_) {
            entry_.shape.push_back(static_cast<std::int64_t>(extent));
        }
        const auto count = count_elements(entry_.shape);
        const auto size = count ? times(*count, type->width) : count;
        if (places_[0] > places_[1] || places_[1] > bytes_.size() - data_) {
            fail(name, "its data lie outside the file");
        }
        if (!size || *size != places_[1] - places_[0]) {
            fail(name, "has a size that does not match its shape");
        }
        entry_.data_type = type->data_type;
        entry_.width = type->width;
        entry_.offset = data_ + places_[0];
        entry_.size = *size;
        entries_.push_back(std::move(entry_));
    }

private:
    static constexpr std::uint64_t longest_header = 100'000'000; // as in other implementations
    static constexpr std::size_t most_extents = 64;

    [[noreturn]] void fail(std::string_view place, std::string_view reason) const {
        STEMMA_THROW(error(error_code::malformed, file_, place, reason));
    }

    std::string_view bytes_;
    std::string_view file_;
    std::uint64_t data_ = 0; // offset of the data
    std::vector<checkpoint::entry> entries_;
    std::unordered_set<std::string> names_;
    checkpoint::entry entry_; // being read
    std::string type_;
    std::vector<std::uint64_t> extents_;
    std::vector<std::uint64_t> places_;
    std::vector<std::uint64_t>* list_ = nullptr;
    bool has_shape_ = false;
};

/// The assignment of tensors to files in an index.
class checkpoint_index_reader {
public:
    /// Requires: `file` outlives this.
    explicit checkpoint_index_reader(std::string_view file) : file_(file) {}

    /// Returns: the files, each once, and the number of the file of each tensor.
    /// Throws: `error` of `error_code::malformed`. Complexity: O(bytes).
    [[nodiscard]] std::pair<std::vector<std::string>, std::unordered_map<std::string, std::size_t>>
    read(std::string_view bytes) {
        read_header_json(bytes, file_, *this);
        if (files_.empty()) {
            fail("weight_map", "names no files");
        }
        return {std::move(files_), std::move(tensors_)};
    }

    /// For `read_header_json`, like the others.
    [[nodiscard]] static bool wants(std::string_view key) noexcept { return key == "weight_map"; }
    /// The map.
    void begin(std::string_view) {}
    /// A tensor and its file.
    void text(const std::string& tensor, const std::string& file) {
        const bool stays = !file.empty() && file != "." && file != ".." &&
                           file.find_first_of(std::string_view("/\\:\0", 4)) == file.npos;
        if (!stays) {
            fail(tensor, "is in '" + quoted_name(file) + "', which is not next to the index");
        }
        const auto number = numbers_.emplace(file, files_.size()).first->second;
        if (number == files_.size()) {
            files_.push_back(file);
        }
        if (files_.size() > most_files) {
            fail(tensor, "is in more files than supported");
        }
        if (!tensors_.emplace(tensor, number).second) {
            fail(tensor, "occurs twice");
        }
    }
    /// Not in an index.
    void begin_list(const std::string& key) { fail(key, "is a list rather than a file"); }
    /// Not in an index.
    void number(std::uint64_t) {}
    /// The end of the map.
    void end() {}

private:
    static constexpr std::size_t most_files = 10'000;

    [[noreturn]] void fail(std::string_view place, std::string_view reason) const {
        STEMMA_THROW(error(error_code::malformed, file_, place, reason));
    }

    std::string_view file_;
    std::vector<std::string> files_;
    std::unordered_map<std::string, std::size_t> numbers_;
    std::unordered_map<std::string, std::size_t> tensors_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CHECKPOINT_DETAIL_SAFETENSORS_HPP
