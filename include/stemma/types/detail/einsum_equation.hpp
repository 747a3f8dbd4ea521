// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TYPES_DETAIL_EINSUM_EQUATION_HPP
#define STEMMA_TYPES_DETAIL_EINSUM_EQUATION_HPP

#include <stemma/types/detail/tensor_facts.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The subscripts of an Einsum, one letter per axis. The axes of `...` get characters outside
/// ASCII, -1 for the last one.
class einsum_equation {
public:
    /// Returns: the equation for operands of these ranks; nothing if it does not fit them.
    /// Complexity: O(length + sum of the ranks).
    [[nodiscard]] static std::optional<einsum_equation>
    read(std::string_view text, const std::vector<std::size_t>& ranks) {
        std::string plain;
        for (const char letter : text) {
            plain.append(letter == ' ' ? 0 : 1, letter);
        }
        const auto arrow = plain.find("->");
        const auto inputs = std::string_view(plain).substr(0, arrow);
        einsum_equation equation;
        std::size_t widest = 0;
        for (std::size_t at = 0; at <= inputs.size();) {
            const auto comma = std::min(inputs.find(',', at), inputs.size());
            const auto term = inputs.substr(at, comma - at);
            const auto slot = equation.operands.size();
            const auto letters = term.size() - (term.find("...") == term.npos ? 0 : 3);
            if (slot >= ranks.size() || letters > ranks[slot] || ranks[slot] > max_extents) {
                return std::nullopt;
            }
            equation.operands.push_back(written_out(term, ranks[slot] - letters));
            if (equation.operands.back().size() != ranks[slot]) {
                return std::nullopt;
            }
            widest = letters < term.size() ? std::max(widest, ranks[slot] - letters) : widest;
            at = comma + 1;
        }
        if (equation.operands.size() != ranks.size()) {
            return std::nullopt;
        }
        equation.result = arrow == plain.npos
                              ? written_out("...", widest) + letters_used_once(inputs)
                              : written_out(std::string_view(plain).substr(arrow + 2), widest);
        return equation;
    }

    std::vector<std::string> operands; ///< each as long as its rank
    std::string result;

private:
    [[nodiscard]] static std::string written_out(std::string_view term, std::size_t width) {
        std::string letters(term);
        if (const auto dots = term.find("..."); dots != term.npos) {
            std::string axes;
            for (auto i = width; i > 0; --i) {
                axes.push_back(static_cast<char>(-static_cast<int>(i)));
            }
            letters.replace(dots, 3, axes);
        }
        return letters;
    }

    [[nodiscard]] static std::string letters_used_once(std::string_view terms) {
        std::map<char, int> uses;
        for (const char letter : terms) {
            ++uses[letter];
        }
        std::string once;
        for (const auto& [letter, count] : uses) {
            once.append(count == 1 && letter != ',' && letter != '.' ? 1 : 0, letter);
        }
        return once;
    }
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_TYPES_DETAIL_EINSUM_EQUATION_HPP
