// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_OPEN_HPP
#define STEMMA_OPEN_HPP

#include <stemma/model.hpp>
#include <stemma/open/attribution_options.hpp>

#include <concepts>
#include <string>
#include <utility>

namespace stemma::inline STEMMA_ABI {

/// Opens an ONNX file with custom policies, in any order; the rest are defaults. One per role, but
/// any number of evidence sources. Part of <stemma/stemma.hpp>, unless a program links the facade
/// as a library. Captures (`captures({path})`) may be among the arguments.
/// Throws, Complexity: as `open`, and those of the policies.
template <class... Ps>
    requires(sizeof...(Ps) > 0 && (!std::convertible_to<Ps, attribution_options> && ...))
[[nodiscard]] model open(const std::string& path, Ps... chosen) {
    attribution_options options;
    options.set(std::move(chosen)...);
    return open(path, std::move(options));
}

/// The same for a model in memory. Throws, Complexity: as `open_bytes`, and as above.
template <class... Ps>
    requires(sizeof...(Ps) > 0 && (!std::convertible_to<Ps, attribution_options> && ...))
[[nodiscard]] model open_bytes(std::string bytes, const std::string& name, Ps... chosen) {
    attribution_options options;
    options.set(std::move(chosen)...);
    return open_bytes(std::move(bytes), name, std::move(options));
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_OPEN_HPP
