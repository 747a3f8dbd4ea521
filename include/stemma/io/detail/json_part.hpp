// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_IO_DETAIL_JSON_PART_HPP
#define STEMMA_IO_DETAIL_JSON_PART_HPP

#include <stemma/config.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

enum class json_kind : std::uint8_t { null, boolean, negative, natural, real, text, array, object };

/// A value, with its key if it is a member of an object. Nested values follow it.
struct json_node {
    json_kind kind = json_kind::null;
    std::size_t key = 0; // offset into the texts
    std::size_t key_size = 0;
    std::uint64_t content = 0; // number, offset into the texts, or number of children
    std::size_t size = 1;      // in bytes for a text, in nodes otherwise

    /// Returns: the distance in nodes to the next value that is not nested in this one.
    [[nodiscard]] std::size_t step() const noexcept { return kind == json_kind::text ? 1 : size; }
};

/// A view of one value of a JSON document, or of none, as a missing index or key yields. Valid
/// until the `json_value` that holds it changes.
class json_part {
    using kind = detail::json_kind;

public:
    /// Iterates over the elements of an array.
    class iterator {
    public:
        /// At a node, or past the last one.
        iterator(const detail::json_node* at, const char* texts) : at_(at), texts_(texts) {}

        /// The element. Requires: it is not the end.
        [[nodiscard]] json_part operator*() const noexcept { return {at_, texts_}; }
        /// Advances to the next element, past everything nested in this one.
        iterator& operator++() noexcept {
            at_ += at_->step();
            return *this;
        }
        /// Whether both are at the same position of the same array.
        [[nodiscard]] bool operator==(const iterator& other) const noexcept {
            return at_ == other.at_;
        }

    private:
        const detail::json_node* at_;
        const char* texts_;
    };

    /// No value.
    json_part() = default;

    /// The value of a node whose texts begin at `texts`.
    json_part(const detail::json_node* node, const char* texts) : node_(node), texts_(texts) {}

    /// Whether there is a value, possibly null.
    [[nodiscard]] explicit operator bool() const noexcept { return node_ != nullptr; }

    /// Whether it is a null value.
    [[nodiscard]] bool is_null() const noexcept { return is(kind::null); }
    /// Whether it is true or false.
    [[nodiscard]] bool is_boolean() const noexcept { return is(kind::boolean); }
    /// Whether it is a string.
    [[nodiscard]] bool is_text() const noexcept { return is(kind::text); }
    /// Whether it is an array, possibly empty.
    [[nodiscard]] bool is_array() const noexcept { return is(kind::array); }
    /// Whether it is an object, possibly empty.
    [[nodiscard]] bool is_object() const noexcept { return is(kind::object); }

    /// Whether it is a list of texts. Complexity: O(length).
    [[nodiscard]] bool is_texts() const noexcept {
        if (!is_array()) {
            return false;
        }
        for (const auto element : *this) {
            if (!element.is_text()) {
                return false;
            }
        }
        return true;
    }

    /// Whether it is a number without a fraction that `Number` can hold.
    template <std::integral Number>
    [[nodiscard]] bool is_number() const noexcept {
        return is(kind::natural) ? std::in_range<Number>(node_->content)
                                 : is(kind::negative) && std::in_range<Number>(negative());
    }

    /// Throws: `std::invalid_argument` if it is not a boolean.
    [[nodiscard]] bool boolean() const {
        check(is_boolean(), "a boolean");
        return node_->content != 0;
    }

    /// Throws: `std::invalid_argument` if it is not a string.
    [[nodiscard]] std::string_view text() const {
        check(is_text(), "a text");
        return {texts_ + node_->content, node_->size};
    }

    /// Throws: `std::invalid_argument` unless `is_number<Number>()`.
    template <std::integral Number>
    [[nodiscard]] Number number() const {
        check(is_number<Number>(), "a number");
        return is(kind::natural) ? static_cast<Number>(node_->content)
                                 : static_cast<Number>(negative());
    }

    /// Returns: the number of elements or members; 0 if it is neither array nor object.
    [[nodiscard]] std::size_t size() const noexcept {
        return is_array() || is_object() ? static_cast<std::size_t>(node_->content) : 0;
    }

    /// Returns: element `i` of an array, or none. Complexity: O(i).
    [[nodiscard]] json_part operator[](std::size_t i) const noexcept {
        if (!is_array() || i >= size()) {
            return {};
        }
        iterator element(node_ + 1, texts_);
        while (i-- > 0) {
            ++element;
        }
        return *element;
    }

    /// Returns: the member with that key, the last if there are several, or none.
    /// Complexity: O(members), which saves building a table of them.
    [[nodiscard]] json_part operator[](std::string_view key) const noexcept {
        const detail::json_node* node = nullptr;
        const auto* member = is_object() ? node_ + 1 : nullptr;
        for (auto remaining = member == nullptr ? 0 : size(); remaining-- > 0;
             member += member->step()) {
            if (std::string_view(texts_ + member->key, member->key_size) == key) {
                node = member;
            }
        }
        return {node, texts_};
    }

    /// Throws: `std::invalid_argument` if it is not an array.
    [[nodiscard]] iterator begin() const {
        check(is_array(), "a list");
        return {node_ + 1, texts_};
    }

    /// Requires: it is an array.
    [[nodiscard]] iterator end() const noexcept { return {node_ + node_->size, texts_}; }

    /// Throws: `std::invalid_argument` if it is not a list of texts. Complexity: O(length).
    [[nodiscard]] std::vector<std::string> texts() const {
        std::vector<std::string> result;
        for (const auto element : *this) {
            result.emplace_back(element.text());
        }
        return result;
    }

    /// Throws: `std::invalid_argument` if it is not a list of such numbers. Complexity: O(length).
    template <std::integral Number>
    [[nodiscard]] std::vector<Number> numbers() const {
        std::vector<Number> result;
        for (const auto element : *this) {
            result.push_back(element.number<Number>());
        }
        return result;
    }

    /// Whether it is this string.
    friend bool operator==(const json_part& part, std::string_view text) {
        return part.is_text() && part.text() == text;
    }

private:
    friend class json_value;

    [[nodiscard]] bool is(kind wanted) const noexcept {
        return node_ != nullptr && node_->kind == wanted;
    }

    [[nodiscard]] std::size_t steps() const noexcept {
        return node_ == nullptr ? 0 : node_->step();
    }

    [[nodiscard]] std::int64_t negative() const noexcept {
        return static_cast<std::int64_t>(node_->content);
    }

    static void check(bool right, const char* wanted) {
        if (!right) {
            STEMMA_THROW(std::invalid_argument(std::string("expected ") + wanted));
        }
    }

    const detail::json_node* node_ = nullptr;
    const char* texts_ = nullptr;
};

/// Holds a JSON value, built from a parser's events in order.
///
/// Two arrays hold all of it and are reused for the next value: nlohmann's values allocate for
/// every name and text, and take longer to build than to parse
/// (bench/capture/detail/capture_reader_bench.cpp).
class json_value {
    using kind = detail::json_kind;

public:
    /// Empty.
    json_value() = default;

    /// Copies the value that `part` views. Complexity: O(its size).
    explicit json_value(const json_part& part) : nodes_(part.node_, part.node_ + part.steps()) {
        for (auto& node : nodes_) {
            node.key = keep({part.texts_ + node.key, node.key_size});
            if (node.kind == kind::text) {
                node.content = keep({part.texts_ + node.content, node.size});
            }
        }
    }

    /// Returns: a view of the whole; of none before anything was added.
    [[nodiscard]] json_part part() const noexcept {
        return nodes_.empty() ? json_part() : json_part(nodes_.data(), texts_.data());
    }

    /// Clears the value but keeps the memory.
    void clear() noexcept {
        nodes_.clear();
        texts_.clear();
    }

    /// Whether every array and object has been closed.
    [[nodiscard]] bool is_whole() const noexcept { return open_.empty(); }

    /// Sets the key of the next value.
    void key(std::string_view name) {
        key_ = keep(name);
        key_size_ = name.size();
    }

    /// Adds null.
    void null() { add(kind::null); }
    /// Adds true or false.
    void boolean(bool value) { add(kind::boolean).content = value ? 1 : 0; }

    /// Adds a copy of a text.
    void text(std::string_view value) {
        auto& node = add(kind::text);
        node.content = keep(value);
        node.size = value.size();
    }

    /// Adds a negative number.
    void negative(std::int64_t value) {
        add(kind::negative).content = static_cast<std::uint64_t>(value);
    }

    /// Adds a non-negative integer.
    void natural(std::uint64_t value) { add(kind::natural).content = value; }

    /// Adds a number with a fraction or out of range for the others. Its value is not kept: no
    /// reader needs one.
    void real() { add(kind::real); }

    /// Opens an array, up to the matching `end`.
    void begin_array() { begin(kind::array); }

    /// Opens an object; each value follows its key.
    void begin_object() { begin(kind::object); }

    /// Closes the array or object opened last.
    void end() {
        nodes_[open_.back()].size = nodes_.size() - open_.back();
        open_.pop_back();
    }

private:
    detail::json_node& add(kind added) {
        if (!open_.empty()) {
            ++nodes_[open_.back()].content;
        }
        return nodes_.emplace_back(
            detail::json_node{added, key_, std::exchange(key_size_, 0), 0, 1});
    }

    void begin(kind added) {
        add(added);
        open_.push_back(nodes_.size() - 1);
    }

    [[nodiscard]] std::size_t keep(std::string_view text) {
        texts_.append(text);
        return texts_.size() - text.size();
    }

    std::vector<std::size_t> open_; // open arrays and objects
    std::size_t key_ = 0;
    std::size_t key_size_ = 0;
    std::vector<detail::json_node> nodes_;
    std::string texts_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_IO_DETAIL_JSON_PART_HPP
