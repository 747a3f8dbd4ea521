// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TESTS_RANDOM_NUMBERS_HPP
#define STEMMA_TESTS_RANDOM_NUMBERS_HPP

#include <cstddef>
#include <cstdint>
#include <string>

namespace test {

/// The same numbers on every platform for the same seed (splitmix64).
class random_numbers {
public:
    explicit random_numbers(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() {
        auto z = state_ += 0x9e37'79b9'7f4a'7c15U;
        z = (z ^ (z >> 30U)) * 0xbf58'476d'1ce4'e5b9U;
        z = (z ^ (z >> 27U)) * 0x94d0'49bb'1331'11ebU;
        return z ^ (z >> 31U);
    }

    /// Returns: a number below `n`; 0 for 0.
    std::size_t operator()(std::size_t n) { return n == 0 ? 0 : next() % n; }

    /// Returns: true once in `n` times on average.
    bool one_in(std::size_t n) { return (*this)(n) == 0; }

    std::string bytes(std::size_t count) {
        std::string text;
        while (text.size() < count) {
            text.push_back(static_cast<char>(next() & 0xffU));
        }
        return text;
    }

private:
    std::uint64_t state_;
};

} // namespace test

#endif // STEMMA_TESTS_RANDOM_NUMBERS_HPP
