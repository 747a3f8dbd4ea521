// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CHECKPOINT_DETAIL_HEADER_JSON_HPP
#define STEMMA_CHECKPOINT_DETAIL_HEADER_JSON_HPP

#include <stemma/config.hpp>
#include <stemma/error.hpp>

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

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

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CHECKPOINT_DETAIL_HEADER_JSON_HPP
