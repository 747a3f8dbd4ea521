// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_WEIGHTS_DETAIL_SLICED_ENTRIES_HPP
#define STEMMA_WEIGHTS_DETAIL_SLICED_ENTRIES_HPP

#include <stemma/core/detail/dotted_path.hpp>
#include <stemma/core/id.hpp>
#include <stemma/model/confidence.hpp>
#include <stemma/weights/detail/name_numbers.hpp>
#include <stemma/weights/detail/weight_search.hpp>
#include <stemma/weights/parameter_origin.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Finds initializers that together make up one entry: an exporter slices the merged projections
/// of an attention if queries and keys come from different tensors.
class sliced_entries {
public:
    /// Requires: `search` outlives it. Complexity: O(uses * log uses).
    explicit sliced_entries(weight_search& search) : search_(search), numbers_(search.model) {
        for (id t = 0; t < search.uses.size(); ++t) {
            const auto& uses = search.uses[t];
            const auto rank = search.headers[t].dims.size();
            const bool fits =
                search.is_open(t) && search.weights[t] && !uses.empty() && (rank == 1 || rank == 2);
            if (fits && std::all_of(uses.begin(), uses.end(), [&](const weight_use& use) {
                    return use.module == uses.front().module;
                })) {
                parts_[uses.front().module].push_back(t);
            }
        }
        for (auto& [module, parts] : parts_) {
            // An optimizer keeps PyTorch's numbers, but not the order of nodes.
            const bool numbered =
                std::all_of(parts.begin(), parts.end(), [&](id t) { return numbers_.of(t) != 0; });
            std::stable_sort(parts.begin(), parts.end(), [&](id a, id b) {
                return numbered ? numbers_.of(a) < numbers_.of(b)
                                : search.uses[a].front().node < search.uses[b].front().node;
            });
        }
    }

    /// Entries of the reading modules. Only PyTorch's attention is known to read them in order.
    /// Complexity: O(initializers * entries of their modules).
    void find_declared() {
        for (const auto& [module, parts] : parts_) {
            for (const auto e : search_.entries.own(search_.modules.path(module))) {
                const auto& entry = search_.entries[e];
                if (!search_.claimed[e] && !search_.entries.is_parametrized(e)) {
                    settle(parts, entry.shape, entry.name, {&e, 1},
                           parameter_origin::basis_kind::declared,
                           entry.attribute.starts_with("in_proj_") ? confidence::entry_fits
                                                                   : confidence::entry_guessed);
                }
            }
        }
    }

    /// PyTorch's names of merged projections, if the module's output projection is a child without
    /// nodes. Complexity: O(initializers * log children).
    void find_usual() {
        for (const auto& [module, parts] : parts_) {
            const auto child = search_.modules.child(module, "out_proj");
            const auto matrix = std::find_if(parts.begin(), parts.end(), [&](id t) {
                return search_.is_open(t) && search_.headers[t].dims.size() == 2;
            });
            if (child == no_id || search_.nodes_of[child] != 0 || matrix == parts.end()) {
                continue;
            }
            const auto path = search_.modules.path(module);
            const auto width = search_.headers[*matrix].dims[is_transposed(*matrix) ? 0 : 1];
            if (width > std::numeric_limits<std::int64_t>::max() / 3) {
                continue;
            }
            const std::array shape{3 * width, width};
            settle(parts, shape, member_path(path, "in_proj_weight"), {},
                   parameter_origin::basis_kind::usage, confidence::entry_below);
            settle(parts, std::span(shape).first(1), member_path(path, "in_proj_bias"), {},
                   parameter_origin::basis_kind::usage, confidence::entry_below);
        }
    }

private:
    [[nodiscard]] bool is_transposed(id t) const {
        const auto& use = search_.uses[t].front();
        return search_.headers[t].dims.size() == 2 &&
               search_.role(use).transposed != use.transposed;
    }

    /// Takes the parts of an entry, in the order of their readers, if two or more make it up.
    void settle(std::span<const id> parts, std::span<const std::int64_t> shape,
                const std::string& name, std::span<const id> entry,
                parameter_origin::basis_kind basis, float sure) {
        std::vector<std::pair<id, std::int64_t>> chosen; // with the start of each
        std::int64_t end = 0;
        for (const auto t : parts) {
            const auto& dims = search_.headers[t].dims;
            const bool matrix = dims.size() == 2;
            const bool transposed = is_transposed(t);
            if (end == shape_front(shape) || !search_.is_open(t) || dims.size() != shape.size() ||
                (matrix && dims[transposed ? 0 : 1] != shape[1])) {
                continue;
            }
            const auto extent = dims[transposed ? 1 : 0];
            if (extent < 0 || extent > shape_front(shape) - end) {
                return;
            }
            chosen.emplace_back(t, end);
            end += extent;
        }
        if (chosen.size() < 2 || end != shape_front(shape)) {
            return;
        }
        for (const auto& [t, first] : chosen) {
            auto& origin = search_.origins[t];
            origin.entries = {name};
            origin.transform = parameter_origin::transform_kind::sliced;
            origin.first = static_cast<std::uint64_t>(first);
            if (is_transposed(t)) {
                origin.axes = {1, 0};
                origin.axis = 1;
            }
            if (!entry.empty()) {
                search_.note_type(t, entry.front());
            }
            search_.settle(t, entry, search_.modules.path(search_.uses[t].front().module), basis,
                           sure);
        }
    }

    [[nodiscard]] static std::int64_t shape_front(std::span<const std::int64_t> shape) noexcept {
        return shape.empty() ? -1 : shape.front();
    }

    weight_search& search_;
    name_numbers numbers_;
    std::map<id, std::vector<id>> parts_; // by reading module: initializers, in reading order
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_WEIGHTS_DETAIL_SLICED_ENTRIES_HPP
