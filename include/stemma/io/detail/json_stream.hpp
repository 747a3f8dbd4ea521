// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_IO_DETAIL_JSON_STREAM_HPP
#define STEMMA_IO_DETAIL_JSON_STREAM_HPP

#include <stemma/config.hpp>
#include <stemma/error.hpp>
#include <stemma/io/detail/json_part.hpp>

#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Receives the parts of a JSON document one at a time, see `stream_json`.
class json_handler {
public:
    /// Called before the first element of an array; if it returns false, all are skipped.
    [[nodiscard]] virtual bool wants(const std::string&) { return true; }
    virtual void element(const std::string& path, json_part part) = 0;
    virtual void scalar(const std::string&, json_part) {}

protected:
    ~json_handler() = default;
};

/// Builds a value for each element of the arrays directly in the document or in one of its members,
/// and for each scalar there; passes it on and forgets it.
class json_splitter {
public:
    using json = nlohmann::json;

    json_splitter(json_handler& handler, std::string_view file) : handler_(handler), file_(file) {}

    bool null() {
        return put([&] { value_.null(); });
    }
    bool boolean(bool value) {
        return put([&] { value_.boolean(value); });
    }
    bool number_integer(json::number_integer_t value) {
        return put([&] { value_.negative(value); });
    }
    bool number_unsigned(json::number_unsigned_t value) {
        return put([&] { value_.natural(value); });
    }
    bool number_float(json::number_float_t, const std::string&) {
        return put([&] { value_.real(); });
    }
    bool string(const std::string& value) {
        return put([&] { value_.text(value); });
    }
    bool binary(const json::binary_t&) { return true; }

    bool key(const std::string& name) {
        if (depth_ == 0) {
            name_ = name;
        } else if (wanted_) {
            value_.key(name);
        }
        return true;
    }

    bool start_object(std::size_t) {
        if (depth_ == 0 && !in_array_ && path_.size() < 2) {
            enter_member();
            return true;
        }
        return open([&] { value_.begin_object(); });
    }

    bool end_object() {
        if (depth_ == 0) {
            path_.pop_back();
            return true;
        }
        return close();
    }

    bool start_array(std::size_t) {
        if (depth_ == 0 && !in_array_) {
            if (path_.empty()) {
                fail("", "the document is not an object");
            }
            in_array_ = true;
            array_ = full_path();
            wanted_ = handler_.wants(array_);
            return true;
        }
        return open([&] { value_.begin_array(); });
    }

    bool end_array() {
        if (depth_ == 0) {
            in_array_ = false;
            wanted_ = true;
            return true;
        }
        return close();
    }

    bool parse_error(std::size_t position, const std::string&, const json::exception& e) {
        std::string reason = e.what();
        if (const auto text = reason.find("] "); text != reason.npos) {
            reason.erase(0, text + 2);
        }
        fail("byte " + std::to_string(position), reason);
        return false;
    }

    [[nodiscard]] bool saw_document() const noexcept { return saw_document_; }

private:
    // Beyond any real document; keeps a hostile one from building a value without bound.
    static constexpr std::size_t max_depth = 1000;

    [[noreturn]] void fail(std::string_view place, std::string_view reason) const {
        STEMMA_THROW(error(error_code::malformed, file_, place, reason));
    }

    void enter_member() {
        saw_document_ = true;
        path_.push_back(path_.empty() ? std::string() : name_);
    }

    [[nodiscard]] std::string full_path() const {
        return path_.size() < 2 ? name_ : path_.back() + "." + name_;
    }

    template <class Add>
    bool put(Add add) {
        if (path_.empty()) {
            fail("", "the document is not an object");
        }
        if (wanted_) {
            add();
            hand_on();
        }
        return true;
    }

    template <class Begin>
    bool open(Begin begin) {
        if (depth_ >= max_depth) {
            fail("", "values nested deeper than 1000");
        }
        ++depth_;
        if (wanted_) {
            begin();
        }
        return true;
    }

    bool close() {
        --depth_;
        if (wanted_) {
            value_.end();
            hand_on();
        }
        return true;
    }

    void hand_on() {
        if (depth_ > 0) {
            return;
        }
        if (in_array_) {
            handler_.element(array_, value_.part());
        } else {
            handler_.scalar(full_path(), value_.part());
        }
        value_.clear();
    }

    json_handler& handler_;
    std::string_view file_;
    std::vector<std::string> path_; // open members, the document first
    std::string name_;
    std::string array_;
    json_value value_;      // the one being built
    std::size_t depth_ = 0; // of nesting within it
    bool in_array_ = false;
    bool wanted_ = true; // unwanted ones are not built
    bool saw_document_ = false;
};

/// Reads a JSON document as a stream: `handler.element(path, value)` for every element of an array,
/// `handler.scalar(path, value)` for everything else, where the path is `modules` or
/// `trace.events`. Deeper members are part of an element, or come as one scalar.
/// A part is valid during the call. Throws: `error` of `error_code::malformed` naming `file` and
/// the byte. Complexity: O(bytes); memory for one element.
inline void stream_json(std::string_view bytes, std::string_view file, json_handler& handler) {
    json_splitter splitter(handler, file);
    static_cast<void>(nlohmann::json::sax_parse(bytes.begin(), bytes.end(), &splitter));
    if (!splitter.saw_document()) {
        STEMMA_THROW(error(error_code::malformed, file, "", "the document is not an object"));
    }
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_IO_DETAIL_JSON_STREAM_HPP
