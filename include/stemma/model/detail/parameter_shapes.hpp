// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_MODEL_DETAIL_PARAMETER_SHAPES_HPP
#define STEMMA_MODEL_DETAIL_PARAMETER_SHAPES_HPP

#include <stemma/core/id.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The shapes of a model's parameters, as far as they are known, by number.
class parameter_shapes {
public:
    /// Adds the next parameter's shape.
    void add(std::span<const std::int64_t> shape) {
        extents_.insert(extents_.end(), shape.begin(), shape.end());
        ends_.push_back(extents_.size());
    }

    /// Returns: false for a parameter whose shape was not added.
    [[nodiscard]] bool knows(id parameter) const noexcept { return parameter < ends_.size(); }

    /// Requires: `knows(parameter)`.
    [[nodiscard]] std::span<const std::int64_t> of(id parameter) const noexcept {
        const auto begin = parameter == 0 ? 0 : ends_[parameter - 1];
        return std::span(extents_).subspan(begin, ends_[parameter] - begin);
    }

private:
    std::vector<std::int64_t> extents_;
    std::vector<std::size_t> ends_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_MODEL_DETAIL_PARAMETER_SHAPES_HPP
