// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_MODEL_ATTRIBUTION_HPP
#define STEMMA_MODEL_ATTRIBUTION_HPP

#include <stemma/config.hpp>
#include <stemma/core/id.hpp>
#include <stemma/error.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// Where an attribution comes from: a source of evidence, in decreasing order of trust, or a rule
/// of propagation. Values from `provenance_count` on are custom sources; a `provenance_names` holds
/// their names.
enum class provenance : std::uint8_t {
    exported,    ///< scopes recorded during the export
    recorded,    ///< tags in the file: edited there, or what is left after a change
    metadata,    ///< node metadata of an exporter
    function,    ///< local functions
    scope,       ///< scoped node names
    parameter,   ///< names of the initializers read
    contents,    ///< contents of the initializers read, found in a checkpoint
    torchscript, ///< a TorchScript archive
    trace,       ///< an aligned trace
    fx,          ///< an aligned FX graph
    leftover,    ///< traces of the origin left by an optimizer
    consumer,    ///< the readers
    producer,    ///< the producers
    between,     ///< readers and producers together
    owner,       ///< the operator that owns the body
    root,        ///< no information
};

namespace detail {

/// The number of built-in provenances.
inline constexpr std::size_t provenance_count = 16;

} // namespace detail

/// Returns: the name used in files and reports; `other` for a custom source.
[[nodiscard]] constexpr std::string_view to_string(provenance p) noexcept {
    constexpr std::array<std::string_view, detail::provenance_count> names{
        "export",   "recorded",    "metadata", "function", "scope",    "parameter",
        "contents", "torchscript", "trace",    "fx",       "leftover", "consumer",
        "producer", "between",     "owner",    "root"};
    const auto number = static_cast<std::size_t>(p);
    return number < detail::provenance_count ? names[number] : "other";
}

namespace detail {

/// Returns: the provenance with that name, the inverse of `to_string`.
/// Complexity: one comparison per provenance.
[[nodiscard]] constexpr std::optional<provenance> parse_provenance(std::string_view name) noexcept {
    for (std::size_t i = 0; i < provenance_count; ++i) {
        if (to_string(static_cast<provenance>(i)) == name) {
            return static_cast<provenance>(i);
        }
    }
    return std::nullopt;
}

} // namespace detail

/// Whether `p` is a source of evidence rather than a rule of propagation.
[[nodiscard]] constexpr bool is_evidence(provenance p) noexcept {
    return p < provenance::consumer || static_cast<std::size_t>(p) >= detail::provenance_count;
}

/// The names of all provenances, built-in and custom.
class provenance_names {
public:
    /// The maximum number of custom sources.
    static constexpr std::size_t most_added = 256 - detail::provenance_count;

    /// Returns: the provenance of the source called `name`, which is added if it is new.
    /// Throws: `error` (`refused`) if the name is empty or built in, and if there are too many.
    /// Complexity: O(names).
    provenance add(std::string_view name) {
        if (name.empty() || name == "other" || detail::parse_provenance(name)) {
            refuse(name, "is not a valid name for a custom source");
        }
        if (const auto existing = find(name)) {
            return *existing;
        }
        if (added_.size() == most_added) {
            refuse(name, "exceeds the number of sources of evidence");
        }
        added_.emplace_back(name);
        return static_cast<provenance>(detail::provenance_count + added_.size() - 1);
    }

    /// Returns: the provenance with that name, if there is one. Complexity: O(names).
    [[nodiscard]] std::optional<provenance> find(std::string_view name) const noexcept {
        const auto position = std::find(added_.begin(), added_.end(), name);
        if (position == added_.end()) {
            return detail::parse_provenance(name);
        }
        return static_cast<provenance>(detail::provenance_count +
                                       static_cast<std::size_t>(position - added_.begin()));
    }

    /// Returns: the name of `p`, as `to_string` for built-in ones.
    [[nodiscard]] std::string_view operator[](provenance p) const noexcept {
        const auto number = static_cast<std::size_t>(p);
        return number < detail::provenance_count || number >= size()
                   ? to_string(p)
                   : std::string_view(added_[number - detail::provenance_count]);
    }

    /// Returns: the number of provenances, including built-in ones.
    [[nodiscard]] std::size_t size() const noexcept {
        return detail::provenance_count + added_.size();
    }

private:
    [[noreturn]] static void refuse(std::string_view name, std::string_view reason) {
        STEMMA_THROW(error(error_code::refused, "", "source of evidence",
                           "'" + std::string(name) + "' " + std::string(reason)));
    }

    std::vector<std::string> added_;
};

/// One source's statement about one operator. Several claims of one source are alternatives or, if
/// doubtful, mean that the operator was fused from operators of all these modules.
struct claim {
    id module = no_id;    ///< preorder rank
    id call = no_id;      ///< which call of the module, from 0; `no_id` where unknown
    float confidence = 0; ///< in [0, 1]
    provenance source = provenance::root; ///< the claimant
    bool exact = true;     ///< the deepest module; otherwise it, an ancestor or a descendant
    id caller = no_id;     ///< the calling module, if not an ancestor of the called one
    bool doubtful = false; ///< the source names just one of several modules here

    friend bool operator==(const claim&, const claim&) = default;
};

/// What is known about an operator's origin.
struct attribution {
    id module = no_id;    ///< the deepest module
    id call = no_id;      ///< which call of the module, from 0; `no_id` where unknown
    float confidence = 0; ///< in [0, 1]
    provenance source = provenance::root; ///< the believed source, or the rule that filled the gap
    bool conflict = false;                ///< some claim disagreed

    friend bool operator==(const attribution&, const attribution&) = default;
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_MODEL_ATTRIBUTION_HPP
