// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TESTS_FUZZ_FUZZ_HPP
#define STEMMA_TESTS_FUZZ_FUZZ_HPP

#include <stemma/error.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

// A fuzz target is a source of its own. It refuses an input by `stemma::error`, see `try_input`,
// and else what it demands holds.
namespace fuzz {

inline void demand(bool holds, const std::string& what) {
    if (!holds) {
        std::fprintf(stderr, "fuzz: %s\n", what.c_str());
        std::abort();
    }
}

/// Hands an input to a target, which may refuse it. Returns: 0, as libFuzzer wants.
template <class Target>
int try_input(const std::uint8_t* data, std::size_t size, Target target) {
    try {
        target(std::string_view(reinterpret_cast<const char*>(data), size));
    } catch (const stemma::error&) {
        // Refused, as it should be.
    }
    return 0;
}

/// Returns: the parts of a text between separators.
inline std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    for (std::size_t begin = 0; begin <= text.size();) {
        const auto end = std::min(text.find(separator, begin), text.size());
        parts.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

} // namespace fuzz

#endif // STEMMA_TESTS_FUZZ_FUZZ_HPP
