// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_OPEN_HPP
#define STEMMA_OPEN_HPP

#include <stemma/model.hpp>
#include <stemma/open/attribution_options.hpp>

#include <concepts>
#include <string>
#include <utility>

namespace stemma::inline STEMMA_ABI {

/// Opens an ONNX file with policies of the caller's, in any order, where the defaults are left out:
/// one of each role, of evidence as many as there are. Part of <stemma/stemma.hpp>, unless a
/// program takes the facade from a library. Captures (`captures({path})`) and a `thread_limit` may
/// stand among them. Throws, Complexity: as `open`, and those of the
/// policies.
template <class... Ps>
    requires(sizeof...(Ps) > 0 && (!std::convertible_to<Ps, attribution_options> && ...))
[[nodiscard]] model open(const std::string& path, Ps... chosen) {
    attribution_options options;
    options.set(std::move(chosen)...);
    return open(path, std::move(options));
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_OPEN_HPP
