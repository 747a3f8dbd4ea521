// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TESTS_PARSED_JSON_HPP
#define STEMMA_TESTS_PARSED_JSON_HPP

#include <stemma/io/detail/json_part.hpp>
#include <stemma/io/detail/json_stream.hpp>

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace test {

/// The value of a JSON text.
inline stemma::detail::json_value parsed_json(std::string_view text) {
    struct keeper final : stemma::detail::json_handler {
        stemma::detail::json_value kept;

        void element(const std::string&, stemma::detail::json_part part) override {
            kept = stemma::detail::json_value(part);
        }
    } keep;
    stemma::detail::stream_json("{\"values\":[" + std::string(text) + "]}", "text", keep);
    return keep.kept;
}

/// Whether a value agrees with nlohmann's parser on the same text, ignoring fractions.
inline bool says(stemma::detail::json_part part, const nlohmann::json& value) {
    using type = nlohmann::json::value_t;
    switch (value.type()) {
    case type::null:
        return part.is_null();
    case type::boolean:
        return part.is_boolean() && part.boolean() == value.get<bool>();
    case type::number_integer:
        return part.is_number<std::int64_t>() &&
               part.number<std::int64_t>() == value.get<std::int64_t>();
    case type::number_unsigned:
        return part.is_number<std::uint64_t>() &&
               part.number<std::uint64_t>() == value.get<std::uint64_t>();
    case type::string:
        return part == value.get_ref<const std::string&>();
    case type::array: {
        bool same = part.is_array() && part.size() == value.size();
        std::size_t i = 0;
        for (const auto& element : value) {
            same = same && says(part[i++], element);
        }
        return same;
    }
    case type::object: {
        bool same = part.is_object() && part.size() >= value.size(); // it keeps duplicate keys
        for (const auto& [key, member] : value.items()) {
            same = same && says(part[key], member);
        }
        return same;
    }
    default:
        return bool(part) && !part.is_null() && !part.is_boolean() && !part.is_text() &&
               !part.is_array() && !part.is_object() && !part.is_number<std::int64_t>() &&
               !part.is_number<std::uint64_t>();
    }
}

} // namespace test

#endif // STEMMA_TESTS_PARSED_JSON_HPP
