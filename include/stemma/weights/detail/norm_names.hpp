// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_WEIGHTS_DETAIL_NORM_NAMES_HPP
#define STEMMA_WEIGHTS_DETAIL_NORM_NAMES_HPP

#include <stemma/config.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// A candidate name of the batch norm after a convolution.
struct norm_name {
    std::string name;
    bool paired;        ///< with the name of the convolution: `bn_a` with `conv_a`
    bool whole = false; ///< and the pair is the whole name, apart from a number: `bn1` with `conv1`
};

/// What is known about the names of a model's batch norms.
struct norm_style {
    std::set<std::string, std::less<>>
        words{};        ///< of those that left nodes: `bn`; empty if none did
    bool alone = false; ///< no sibling of the convolution has a norm
    unsigned place = 0; ///< of the convolution among siblings with norms and unpaired names, from 1
};

/// Returns: the word for a norm in a name: `batch_norm` of `batch_norm_2`, `bn` of `final_bn`, `n`
/// of `n1`. Complexity: O(length).
[[nodiscard]] inline std::string_view norm_word(std::string_view name) noexcept {
    constexpr std::array<std::string_view, 5> words{"batch_norm", "batchnorm", "BatchNorm", "norm",
                                                    "bn"};
    for (const auto word : words) {
        if (name.find(word) != name.npos) {
            return word;
        }
    }
    return name.substr(0, name.find_last_not_of("0123456789_") + 1);
}

/// Returns: candidate names, siblings of the convolution, the likeliest first.
/// Complexity: O(length * words).
[[nodiscard]] inline std::vector<norm_name> norm_names(std::string_view last,
                                                       const norm_style& style = {}) {
    std::vector<norm_name> names;
    std::uint32_t number = 0;
    const auto digits = last.find_last_not_of("0123456789") + 1;
    const auto tail = last.substr(digits);
    const auto parsed = std::from_chars(tail.data(), tail.data() + tail.size(), number);
    const bool numbered = !tail.empty() && parsed.ec == std::errc() && number < 1'000'000'000;
    if (digits == 0) {
        return numbered ? std::vector{norm_name{std::to_string(number + 1), true, true}} : names;
    }
    const auto add = [&](std::string name, bool paired, bool whole) {
        if (style.words.empty() || style.words.contains(norm_word(name))) {
            names.push_back({std::move(name), paired, whole});
        }
    };
    const auto stem = last.substr(0, digits);
    const auto number_text = std::string(tail);
    constexpr std::array<std::pair<std::string_view, std::string_view>, 6> pairs{
        {{"convolution", "normalization"},
         {"conv", "bn"},
         {"conv", "norm"},
         {"proj", "norm"},
         {"Conv", "BatchNorm"},
         {"conv", "batch_norm"}}};
    for (const auto& word : style.words) {
        if (style.alone && !numbered && word.find("atch") != std::string::npos) {
            add(word, true, false);
        }
    }
    for (const auto& [from, to] : pairs) {
        if (const auto at = last.find(from); at != last.npos) {
            auto name = std::string(last.substr(0, at)).append(to);
            add(name.append(last.substr(at + from.size())), true, stem == from);
        }
    }
    for (const auto& word : style.words) {
        if (numbered || style.alone) {
            add(std::string(word) + number_text, true, true);
        }
    }
    if (numbered && (stem == "conv" || !style.words.empty())) { // pre-activation: the next norm
        const auto next = std::to_string(number + 1);
        add("norm" + next, true, true);
        add("bn" + next, true, true);
        for (const auto& word : style.words) {
            add(std::string(word) + next, true, true);
        }
    }
    const auto unpaired = names.size();
    if (numbered) {
        add("bn" + number_text, false, false);
        add("norm" + number_text, false, false);
    } else if (!style.alone && style.place != 0) {
        add("bn" + std::to_string(style.place), false, false);
    }
    add(std::string(last) + "_bn", false, false);
    add("bn_" + std::string(last), false, false);
    const auto single = names.size();
    add("bn", false, false);
    add("norm", false, false);
    if (style.alone && !numbered) {
        std::rotate(names.begin() + static_cast<std::ptrdiff_t>(unpaired),
                    names.begin() + static_cast<std::ptrdiff_t>(single), names.end());
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
    for (const auto& candidate : norm_names(last)) {
        if (candidate.paired) {
            paths.push_back(std::string(list.substr(0, list.size() - last.size())) +
                            candidate.name + std::string(item));
        }
    }
    return paths;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_WEIGHTS_DETAIL_NORM_NAMES_HPP
