// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_IO_JSON_WRITER_HPP
#define STEMMA_IO_JSON_WRITER_HPP

#include <stemma/io/detail/real_text.hpp>
#include <stemma/io/json_text.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace stemma::inline STEMMA_ABI {

/// Accepts text piece by piece, as `output_file` does.
template <class Sink>
concept text_sink = requires(Sink& sink, std::string_view text) {
    sink.write(text);
};

/// Collects text in a string.
struct string_sink {
    std::string text; ///< all that was written

    /// Appends; throws only if memory runs out.
    void write(std::string_view more) { text.append(more); }
};

/// Writes one JSON document to a sink value by value, holding no more than a buffer. nlohmann's
/// document takes ten times as long (bench/io/json_writer_bench.cpp), and memory for all of it.
///
/// An object or array opened `flat` is written on one line, else with one entry per line.
/// Requires: calls nest as JSON does: `key` before every value in an object and nowhere else.
template <text_sink Sink>
class json_writer {
public:
    /// Requires: `sink` outlives the writer.
    explicit json_writer(Sink& sink) : sink_(&sink) {}

    json_writer(const json_writer&) = delete;
    json_writer& operator=(const json_writer&) = delete;

    /// Opens an object as the next value; `flat` applies to everything in it.
    void begin_object(bool flat = false) { open('{', flat); }

    /// Closes the object opened last.
    void end_object() { close('}'); }

    /// Opens an array as the next value; `flat` applies to everything in it.
    void begin_array(bool flat = false) { open('[', flat); }

    /// Closes the array opened last.
    void end_array() { close(']'); }

    /// Names the next value. Keys are written in call order, duplicates included.
    void key(std::string_view name) {
        separate();
        append_json_string(name, buffer_);
        buffer_.append(": ");
        after_key_ = true;
    }

    /// A string, escaped; invalid UTF-8 becomes U+FFFD.
    void value(std::string_view text) {
        separate();
        append_json_string(text, buffer_);
        flush_if_full();
    }

    /// As a string.
    void value(const char* text) { value(std::string_view(text)); }

    /// As a string.
    void value(const std::string& text) { value(std::string_view(text)); }

    /// `true` or `false`; accepts no implicit conversions to bool.
    void value(std::same_as<bool> auto truth) {
        separate();
        buffer_.append(truth ? "true" : "false");
    }

    /// A number, with all its digits.
    template <std::integral Number>
        requires(!std::same_as<Number, bool>)
    void value(Number number) {
        separate();
        append_number(number);
        flush_if_full();
    }

    /// The shortest decimal that reads back as the same number; null for infinities and NaN.
    void value(std::floating_point auto number) {
        separate();
        if (std::isfinite(number)) {
            append_number(number);
        } else {
            buffer_.append("null");
        }
        flush_if_full();
    }

    /// `null`.
    void null() {
        separate();
        buffer_.append("null");
    }

    /// An object on one line: `write()` adds its members.
    void object(std::invocable auto write) {
        begin_object(true);
        write();
        end_object();
    }

    /// A key and such an object.
    void object(std::string_view name, std::invocable auto write) {
        key(name);
        object(write);
    }

    /// A key and an array on one line: `write()` adds its elements.
    void flat_list(std::string_view name, std::invocable auto write) {
        key(name);
        begin_array(true);
        write();
        end_array();
    }

    /// A key and its value.
    template <class T>
    void member(std::string_view name, const T& what) {
        key(name);
        value(what);
    }

    /// A key and a text, or `null` for "": what is unknown.
    void member_or_null(std::string_view name, std::string_view text) {
        key(name);
        text.empty() ? null() : value(text);
    }

    /// A flat array of values as the next value.
    template <class... T>
    void row(const T&... what) {
        begin_array(true);
        (value(what), ...);
        end_array();
    }

    /// A key and an array of what `write(one)` writes for each element of a range.
    /// Complexity: O(elements), and what the writing takes.
    template <class Range, class Write>
    void list(std::string_view name, Range&& range, Write write, bool flat = false) {
        key(name);
        begin_array(flat);
        for (auto&& one : range) {
            write(one);
        }
        end_array();
    }

    /// The same on one line.
    template <class Range, class Write>
    void flat_list(std::string_view name, Range&& range, Write write) {
        list(name, range, write, true);
    }

    /// A key and an array with a flat object for each element of a range, whose members
    /// `write(one)` writes.
    template <class Range, class Write>
    void objects(std::string_view name, Range&& range, Write write) {
        list(name, range, [&](auto&& one) {
            begin_object(true);
            write(one);
            end_object();
        });
    }

    /// A key and a flat array with the value `of(one)` for each element of a range.
    template <class Range, class Of = std::identity>
    void values(std::string_view name, Range&& range, Of of = {}) {
        flat_list(name, range, [&](auto&& one) { value(std::invoke(of, one)); });
    }

    /// Ends the document with a line break and flushes everything to the sink.
    void finish() {
        buffer_.push_back('\n');
        sink_->write(buffer_);
        buffer_.clear();
    }

private:
    static constexpr std::size_t full = 1U << 16U;

    void open(char bracket, bool flat) {
        separate();
        buffer_.push_back(bracket);
        flat_depth_ = flat_depth_ == 0 && flat ? depth_ + 1 : flat_depth_;
        ++depth_;
        first_ = true;
    }

    void close(char bracket) {
        --depth_;
        if (!first_ && flat_depth_ == 0) {
            break_line();
        }
        flat_depth_ = flat_depth_ > depth_ ? 0 : flat_depth_;
        buffer_.push_back(bracket);
        first_ = false;
        flush_if_full();
    }

    void separate() {
        if (after_key_) {
            after_key_ = false;
            return;
        }
        if (depth_ == 0) {
            return;
        }
        if (!first_) {
            buffer_.append(flat_depth_ == 0 ? std::string_view(",") : std::string_view(", "));
        }
        if (flat_depth_ == 0) {
            break_line();
        }
        first_ = false;
    }

    void break_line() {
        buffer_.push_back('\n');
        buffer_.append(depth_, ' ');
    }

    template <class Number>
    void append_number(Number number) {
        std::array<char, detail::real_text_size> digits{};
        const char* end = nullptr;
        if constexpr (std::is_floating_point_v<Number>) {
            end = detail::put_real(digits.data(), number);
        } else {
            end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
        }
        buffer_.append(digits.data(), static_cast<std::size_t>(end - digits.data()));
    }

    void flush_if_full() {
        if (buffer_.size() >= full) {
            sink_->write(buffer_);
            buffer_.clear();
        }
    }

    Sink* sink_;
    std::string buffer_;
    std::size_t depth_ = 0;
    std::size_t flat_depth_ = 0; // of the outermost flat container, 0 outside any
    bool first_ = true;
    bool after_key_ = false;
};

namespace detail {

/// Returns: a document on one line, without the line break: an object with what `write(json)` adds.
template <class Write>
[[nodiscard]] std::string json_line(Write write) {
    string_sink sink;
    json_writer json(sink);
    json.begin_object(true);
    write(json);
    json.end_object();
    json.finish();
    sink.text.pop_back();
    return std::move(sink.text);
}

/// Writes a document with a schema: an object with what `write(json)` adds.
template <text_sink Sink, class Write>
void write_document(Sink& sink, std::string_view schema, Write write) {
    json_writer json(sink);
    json.begin_object();
    json.member("schema", schema);
    write(json);
    json.end_object();
    json.finish();
}

} // namespace detail

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_IO_JSON_WRITER_HPP
