// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TESTS_REFUSAL_HPP
#define STEMMA_TESTS_REFUSAL_HPP

#include <stemma/error.hpp>

#include <stdexcept>

namespace test {

/// Returns: the error that a call throws; fails if it throws none.
template <class Call>
stemma::error refusal(Call call) {
    try {
        static_cast<void>(call());
    } catch (const stemma::error& e) {
        return e;
    }
    throw std::logic_error("nothing was thrown");
}

} // namespace test

#endif // STEMMA_TESTS_REFUSAL_HPP
