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

/// A value, and its key where it is a member of an object. The values inside follow it.
struct json_node {
    json_kind kind = json_kind::null;
    std::size_t key = 0; // begins there in the texts
    std::size_t key_size = 0;
    std::uint64_t content = 0; // number, begin in the texts, or how many values are directly inside
    std::size_t size = 1;      // of a text in bytes, of all else in nodes

    /// Returns: how many nodes on the next value stands that is not inside of this one.
    [[nodiscard]] std::size_t step() const noexcept { return kind == json_kind::text ? 1 : size; }
};

/// A view of one value of a JSON document, or of none, which is what an index or a key gives that
/// leads nowhere. Valid until the `json_value` that holds it changes.
class json_part {
    using kind = detail::json_kind;

public:
    /// The elements of an array, for loops over it.
    class iterator {
    public:
        /// Stands at a node, or behind the last one.
        iterator(const detail::json_node* at, const char* texts) : at_(at), texts_(texts) {}

        /// The element. Requires: it is not the end.
        [[nodiscard]] json_part operator*() const noexcept { return {at_, texts_}; }
        /// To the next element, behind all that is inside of this one.
        iterator& operator++() noexcept {
            at_ += at_->step();
            return *this;
        }
        /// Whether both stand at one place of one array.
        [[nodiscard]] bool operator==(const iterator& other) const noexcept {
            return at_ == other.at_;
        }

    private:
        const detail::json_node* at_;
        const char* texts_;
    };

    /// No value.
    json_part() = default;

    /// The value of a node, the texts of which begin at `texts`.
    json_part(const detail::json_node* node, const char* texts) : node_(node), texts_(texts) {}

    /// Whether there is a value, be it null.
    [[nodiscard]] explicit operator bool() const noexcept { return node_ != nullptr; }

    /// Whether it is null, which is a value.
    [[nodiscard]] bool is_null() const noexcept { return is(kind::null); }
    /// Whether it is true or false.
    [[nodiscard]] bool is_boolean() const noexcept { return is(kind::boolean); }
    /// Whether it is a string.
    [[nodiscard]] bool is_text() const noexcept { return is(kind::text); }
    /// Whether it has elements, be they none.
    [[nodiscard]] bool is_array() const noexcept { return is(kind::array); }
    /// Whether it has members, be they none.
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

    /// Throws: `std::invalid_argument` when it is no boolean.
    [[nodiscard]] bool boolean() const {
        check(is_boolean(), "a boolean");
        return node_->content != 0;
    }

    /// Throws: `std::invalid_argument` when it is no text.
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

    /// Returns: how many values an array or object holds, 0 for all else.
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

    /// Returns: the member of an object, the last of several of one key, or none.
    /// Complexity: O(members), so no table of them needs to be made.
    [[nodiscard]] json_part operator[](std::string_view key) const noexcept {
        const detail::json_node* found = nullptr;
        const auto* member = is_object() ? node_ + 1 : nullptr;
        for (auto left = member == nullptr ? 0 : size(); left-- > 0; member += member->step()) {
            if (std::string_view(texts_ + member->key, member->key_size) == key) {
                found = member;
            }
        }
        return {found, texts_};
    }

    /// Throws: `std::invalid_argument` when it is no array.
    [[nodiscard]] iterator begin() const {
        check(is_array(), "a list");
        return {node_ + 1, texts_};
    }

    /// Requires: an array.
    [[nodiscard]] iterator end() const noexcept { return {node_ + node_->size, texts_}; }

    /// Throws: `std::invalid_argument` when it is no list of texts. Complexity: O(length).
    [[nodiscard]] std::vector<std::string> texts() const {
        std::vector<std::string> result;
        for (const auto element : *this) {
            result.emplace_back(element.text());
        }
        return result;
    }

    /// Throws: `std::invalid_argument` when it is no list of such numbers. Complexity: O(length).
    template <std::integral Number>
    [[nodiscard]] std::vector<Number> numbers() const {
        std::vector<Number> result;
        for (const auto element : *this) {
            result.push_back(element.number<Number>());
        }
        return result;
    }

    /// Whether it is this text.
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
            STEMMA_THROW(std::invalid_argument(std::string("something else stands where ") +
                                               wanted + " belongs"));
        }
    }

    const detail::json_node* node_ = nullptr;
    const char* texts_ = nullptr;
};

/// Holds a JSON value, made from the events of a parser in their order.
///
/// Two arrays for all of it, which are used again for the next value: nlohmann's values allocate
/// for every name and text, and take longer to make than to parse
/// (bench/capture/capture_bench.cpp).
class json_value {
    using kind = detail::json_kind;

public:
    /// Without a value.
    json_value() = default;

    /// Keeps what `part` sees. Complexity: O(size of that).
    explicit json_value(const json_part& part) : nodes_(part.node_, part.node_ + part.steps()) {
        for (auto& node : nodes_) {
            node.key = keep({part.texts_ + node.key, node.key_size});
            if (node.kind == kind::text) {
                node.content = keep({part.texts_ + node.content, node.size});
            }
        }
    }

    /// Returns: a view of it all, of none before anything was added.
    [[nodiscard]] json_part part() const noexcept {
        return nodes_.empty() ? json_part() : json_part(nodes_.data(), texts_.data());
    }

    /// Forgets the value, and keeps the room.
    void clear() noexcept {
        nodes_.clear();
        texts_.clear();
    }

    /// Whether every array and object that was begun has come to its end.
    [[nodiscard]] bool is_whole() const noexcept { return open_.empty(); }

    /// The key of what is added next.
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

    /// A number that is below zero.
    void negative(std::int64_t value) {
        add(kind::negative).content = static_cast<std::uint64_t>(value);
    }

    /// A number that is not.
    void natural(std::uint64_t value) { add(kind::natural).content = value; }

    /// A number with a fraction, or one that is too large for the others. Its value is not kept,
    /// as nothing that is read has one.
    void real() { add(kind::real); }

    /// What is added up to the matching `end` is inside.
    void begin_array() { begin(kind::array); }

    /// As `begin_array`, each value behind its key.
    void begin_object() { begin(kind::object); }

    /// Of the array or object that was begun last.
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

    std::vector<std::size_t> open_; // arrays and objects that have not ended
    std::size_t key_ = 0;
    std::size_t key_size_ = 0;
    std::vector<detail::json_node> nodes_;
    std::string texts_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_IO_DETAIL_JSON_PART_HPP
