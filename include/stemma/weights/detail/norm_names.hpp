// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_WEIGHTS_DETAIL_NORM_NAMES_HPP
#define STEMMA_WEIGHTS_DETAIL_NORM_NAMES_HPP

#include <stemma/config.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// A candidate name of the batch norm after a convolution.
struct norm_name {
    std::string name;
    bool paired; ///< with the name of the convolution: `bn1` with `conv1`
};

/// Returns: candidate names, siblings of the convolution, the likeliest first. `alone` says that it
/// has no sibling with a norm. Complexity: O(length).
[[nodiscard]] inline std::vector<norm_name> norm_names(std::string_view last, bool alone = false) {
    std::vector<norm_name> names;
    std::uint32_t number = 0;
    const auto digits = last.find_last_not_of("0123456789") + 1;
    const auto tail = last.substr(digits);
    const auto parsed = std::from_chars(tail.data(), tail.data() + tail.size(), number);
    const bool numbered = !tail.empty() && parsed.ec == std::errc() && number < 1'000'000'000;
    if (digits == 0) {
        return numbered ? std::vector{norm_name{std::to_string(number + 1), true}} : names;
    }
    constexpr std::array<std::pair<std::string_view, std::string_view>, 6> pairs{
        {{"convolution", "normalization"},
         {"conv", "bn"},
         {"conv", "norm"},
         {"proj", "norm"},
         {"Conv", "BatchNorm"},
         {"conv", "batch_norm"}}};
    for (const auto& [from, to] : pairs) {
        if (const auto at = last.find(from); at != last.npos) {
            auto name = std::string(last.substr(0, at)).append(to);
            names.push_back({name.append(last.substr(at + from.size())), true});
        }
    }
    const auto stem = last.substr(0, digits);
    if (numbered && stem == "conv") { // pre-activation: the next norm
        names.push_back({"norm" + std::to_string(number + 1), true});
        names.push_back({"bn" + std::to_string(number + 1), true});
    }
    const auto unpaired = names.size();
    names.push_back({std::string(last) + "_bn", false});
    names.push_back({"bn_" + std::string(last), false});
    names.push_back({"bn", false});
    names.push_back({"norm", false});
    if (alone) {
        std::rotate(names.begin() + static_cast<std::ptrdiff_t>(unpaired), names.end() - 2,
                    names.end());
    }
    return names;
}

/// Returns: candidate paths in the list of norms beside a list of convolutions: `bns.1` for
/// `convs.1`. Complexity: O(length).
[[nodiscard]] inline std::vector<std::string> norms_beside(std::string_view path) {
    std::vector<std::string> paths;
    const auto dot = path.rfind('.');
    const auto item = path.substr(dot == path.npos ? path.size() : dot);
    if (item.empty() || item.find_first_not_of("0123456789", 1) != item.npos) {
        return paths;
    }
    const auto list = path.substr(0, dot);
    const auto last = list.substr(list.rfind('.') + 1);
    if (last.find_first_of("0123456789") != last.npos) {
        return paths;
    }
    for (const auto& [name, paired] : norm_names(last)) {
        if (paired) {
            paths.push_back(std::string(list.substr(0, list.size() - last.size())) + name +
                            std::string(item));
        }
    }
    return paths;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_WEIGHTS_DETAIL_NORM_NAMES_HPP
