// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_MODEL_FINDING_HPP
#define STEMMA_MODEL_FINDING_HPP

#include <stemma/core/id.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace stemma::inline STEMMA_ABI {

/// How much a finding matters.
enum class severity : std::uint8_t {
    error,       ///< the input breaks a rule
    warning,     ///< the input is valid, but probably not what was intended
    information, ///< what a reader should know
};

/// Returns: the name used in reports.
[[nodiscard]] constexpr std::string_view to_string(severity s) noexcept {
    constexpr std::array<std::string_view, 3> names{"error", "warning", "information"};
    return names[static_cast<std::size_t>(s)];
}

/// A fact about the input that a reader should know, but that did not stop processing.
struct finding {
    std::string code;                   ///< stable: `metadata.lengths`
    id node = no_id;                    ///< where, by vertex index; `no_id` if not at an operator
    std::string text;                   ///< the finding, as a sentence
    severity level = severity::warning; ///< how much it matters
    std::string place{};                ///< where, for the reader: `value 'x'`
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_MODEL_FINDING_HPP
