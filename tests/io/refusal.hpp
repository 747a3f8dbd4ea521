// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TESTS_IO_REFUSAL_HPP
#define STEMMA_TESTS_IO_REFUSAL_HPP

#include "../catch.hpp"

#include <stemma/error.hpp>

#include <optional>
#include <string_view>

namespace test {

/// Returns: the code of the error that a function throws, which must name the file.
template <class Function>
std::optional<stemma::error_code> refusal(std::string_view path, Function f) {
    try {
        f();
    } catch (const stemma::error& e) {
        CHECK(std::string_view(e.what()).find(path) == 0);
        CHECK(std::string_view(e.what()).find('\n') == std::string_view::npos);
        return e.code();
    }
    return std::nullopt;
}

} // namespace test

#endif // STEMMA_TESTS_IO_REFUSAL_HPP
