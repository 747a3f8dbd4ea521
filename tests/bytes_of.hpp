// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TESTS_BYTES_OF_HPP
#define STEMMA_TESTS_BYTES_OF_HPP

#include <string>
#include <vector>

namespace test {

/// Returns: numbers as they are in memory.
template <class Number>
std::string bytes_of(const std::vector<Number>& numbers) {
    return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)};
}

} // namespace test

#endif // STEMMA_TESTS_BYTES_OF_HPP
