// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ALIGN_DETAIL_PARAMETER_SCORES_HPP
#define STEMMA_ALIGN_DETAIL_PARAMETER_SCORES_HPP

#include <stemma/align/captured_operations.hpp>
#include <stemma/align/detail/aligned_items.hpp>
#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/find_quantized.hpp>
#include <stemma/evidence/detail/path_mapping.hpp>
#include <stemma/model/detail/parameter_shapes.hpp>
#include <stemma/model/operator_view.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: whether two shapes may be those of one tensor, possibly transposed, or with more or
/// fewer extents of one.
[[nodiscard]] inline bool are_alike(std::span<const std::int64_t> a,
                                    std::span<const std::int64_t> b) {
    // By sum and product: extents in any order, ones ignored.
    const auto summary = [](std::span<const std::int64_t> shape) {
        std::array<std::uint64_t, 4> of{0, 0, 0, 1};
        for (auto extent : shape) {
            const auto e = static_cast<std::uint64_t>(extent);
            if (e != 1) {
                of[0] += 1;
                of[1] += e;
                of[2] += e * e;
                of[3] *= e;
            }
        }
        return of;
    };
    return summary(a) == summary(b);
}

/// Returns: whether a shape may be another one, padded.
[[nodiscard]] inline bool covers(std::span<const std::int64_t> whole,
                                 std::span<const std::int64_t> part) {
    return whole.size() == part.size() &&
           std::equal(whole.begin(), whole.end(), part.begin(),
                      [](auto extent, auto other) { return extent >= other; });
}

/// The evidence of an operator's parameters for an operation.
class parameter_scores {
public:
    template <parameter_readers Ops>
    parameter_scores(const Ops& ops, const captured_operations& captured,
                     const path_mapping& mapping, const parameter_shapes& shapes,
                     const alignment_weights& weights)
        : captured_(captured), shapes_(shapes), weights_(weights) {
        name_in_capture_.resize(ops.parameter_count(), no_id);
        for (id p = 0; p < name_in_capture_.size(); ++p) {
            const std::string_view name = ops.parameter_name(p);
            name_in_capture_[p] = captured.parameter_names().find(mapping.apply(name));
            for (const auto suffix : quantized_suffixes) {
                if (name_in_capture_[p] == no_id && name.ends_with(suffix)) {
                    name_in_capture_[p] = captured.parameter_names().find(
                        mapping.apply(name.substr(0, name.size() - suffix.size())));
                }
            }
        }
        items_.resize(captured.parameter_names().size());
        for (id i = 0; i < captured.size(); ++i) {
            for (const auto& read : captured.parameters_of(i)) {
                items_[read.name].push_back(i);
            }
        }
    }

    /// Returns: whether the capture knows any of the parameters by name.
    [[nodiscard]] bool knows_any(std::span<const id> parameters) const {
        return std::any_of(parameters.begin(), parameters.end(),
                           [&](id p) { return name_in_capture_[p] != no_id; });
    }

    /// Returns: the operations that read a parameter by name, ascending.
    [[nodiscard]] std::span<const id> readers(id parameter) const {
        return name_in_capture_[parameter] == no_id ? std::span<const id>()
                                                    : items_[name_in_capture_[parameter]];
    }

    /// Returns: whether an operation reads a parameter, by name or else by shape; nothing if
    /// neither is known, or if the shape says little.
    [[nodiscard]] std::optional<bool> agrees(id parameter, id item) const {
        const auto read = captured_.parameters_of(item);
        if (name_in_capture_[parameter] != no_id) {
            return std::any_of(read.begin(), read.end(), [&](const auto& r) {
                return r.name == name_in_capture_[parameter];
            });
        }
        const auto shape =
            shapes_.knows(parameter) ? shapes_.of(parameter) : std::span<const std::int64_t>{};
        const auto count_extents = [](std::span<const std::int64_t> of) {
            return std::count_if(of.begin(), of.end(), [](auto e) { return e != 1; });
        };
        if (count_extents(shape) < 2) {
            return std::nullopt;
        }
        const auto elements = [](std::span<const std::int64_t> of) {
            std::uint64_t product = 1;
            for (auto e : of) {
                product *= static_cast<std::uint64_t>(e);
            }
            return product;
        };
        const auto whole = elements(shape);
        std::uint64_t in_vectors = 0;
        for (const auto& r : read) {
            if (are_alike(r.shape, shape)) {
                return true;
            }
            in_vectors += count_extents(r.shape) == 1 ? elements(r.shape) : 0;
        }
        for (const auto& r : read) {
            const auto part = elements(r.shape);
            const bool fits = part > 1 && (count_extents(r.shape) > 1 || in_vectors >= whole);
            if (fits && (whole % part == 0 || covers(shape, r.shape))) {
                return std::nullopt; // may combine several, or be padded for a layout
            }
        }
        const auto sources = captured_.sources_of(item);
        if (std::any_of(sources.begin(), sources.end(),
                        [&](id source) { return !captured_[source].varies; })) {
            return std::nullopt; // may have been computed during export
        }
        return false;
    }

    /// Whether the capture knows a parameter by name.
    [[nodiscard]] bool is_named(id parameter) const { return name_in_capture_[parameter] != no_id; }

    [[nodiscard]] double of(std::span<const id> parameters, id item, bool head) const {
        const auto read = captured_.parameters_of(item);
        double score = 0;
        for (auto p : parameters) {
            if (name_in_capture_[p] != no_id) {
                const auto is_read = std::any_of(read.begin(), read.end(), [&](const auto& r) {
                    return r.name == name_in_capture_[p];
                });
                score += is_read ? weights_.known_parameter : -weights_.other_parameter;
            } else if (shapes_.knows(p)) {
                const auto shape = shapes_.of(p);
                const auto matches = std::any_of(read.begin(), read.end(), [&](const auto& r) {
                    return are_alike(r.shape, shape);
                });
                const bool small =
                    std::all_of(shape.begin(), shape.end(), [](auto e) { return e == 1; });
                score += matches        ? weights_.shaped_parameter
                         : small        ? 0
                         : read.empty() ? -weights_.unread_parameter
                                        : -weights_.misshapen_parameter;
            }
        }
        if (head && parameters.empty() && !read.empty()) {
            score -= weights_.unread_parameter / 2;
        }
        return score;
    }

private:
    const captured_operations& captured_;
    const parameter_shapes& shapes_;
    const alignment_weights& weights_;
    std::vector<id> name_in_capture_;    // by parameter of the graph: its name in the capture
    std::vector<std::vector<id>> items_; // by name in the capture
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ALIGN_DETAIL_PARAMETER_SCORES_HPP
