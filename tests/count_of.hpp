// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TESTS_COUNT_OF_HPP
#define STEMMA_TESTS_COUNT_OF_HPP

#include <cstddef>
#include <string_view>

namespace test {

/// Returns: the number of non-overlapping occurrences of one text in another.
inline std::size_t count_of(std::string_view text, std::string_view part) {
    std::size_t count = 0;
    for (auto at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) {
        ++count;
    }
    return count;
}

} // namespace test

#endif // STEMMA_TESTS_COUNT_OF_HPP
