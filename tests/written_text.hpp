// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TESTS_WRITTEN_TEXT_HPP
#define STEMMA_TESTS_WRITTEN_TEXT_HPP

#include <stemma/io/json_writer.hpp>

#include <nlohmann/json.hpp>

#include <string>

namespace test {

/// Returns: what `write_csv` makes of what follows the sink.
template <class... Written>
[[nodiscard]] std::string csv_of(const Written&... written) {
    stemma::string_sink sink;
    write_csv(sink, written...);
    return sink.text;
}

/// Returns: what `write_json` makes of it, parsed.
template <class... Written>
[[nodiscard]] nlohmann::json json_of(const Written&... written) {
    stemma::string_sink sink;
    write_json(sink, written...);
    return nlohmann::json::parse(sink.text);
}

} // namespace test

#endif // STEMMA_TESTS_WRITTEN_TEXT_HPP
