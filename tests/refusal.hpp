// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TESTS_REFUSAL_HPP
#define STEMMA_TESTS_REFUSAL_HPP

#include "catch.hpp"

#include <stemma/error.hpp>

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace test {

/// Returns: the error that a call throws, if it does.
template <class Call>
std::optional<stemma::error> find_refusal(Call call) {
    try {
        static_cast<void>(call());
    } catch (const stemma::error& e) {
        return e;
    }
    return std::nullopt;
}

/// Returns: the error that a call throws; fails if it throws none.
template <class Call>
stemma::error refusal(Call call) {
    if (const auto refused = find_refusal(call)) {
        return *refused;
    }
    throw std::logic_error("nothing was thrown");
}

/// Returns: the code of the error that a call throws, which must name the file.
template <class Call>
std::optional<stemma::error_code> refusal(std::string_view path, Call call) {
    const auto refused = find_refusal(call);
    if (!refused) {
        return std::nullopt;
    }
    CHECK(std::string_view(refused->what()).find(path) == 0);
    CHECK(std::string_view(refused->what()).find('\n') == std::string_view::npos);
    return refused->code();
}

/// Returns: the message of the error that a call throws, or "".
template <class Call>
std::string why_refused(Call call) {
    const auto refused = find_refusal(call);
    return refused ? refused->what() : std::string();
}

} // namespace test

#endif // STEMMA_TESTS_REFUSAL_HPP
