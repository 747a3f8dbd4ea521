// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_WEIGHTS_DETAIL_NORMED_ENTRIES_HPP
#define STEMMA_WEIGHTS_DETAIL_NORMED_ENTRIES_HPP

#include <stemma/core/id.hpp>
#include <stemma/model/confidence.hpp>
#include <stemma/weights/detail/make_values.hpp>
#include <stemma/weights/detail/weight_norm.hpp>
#include <stemma/weights/detail/weight_search.hpp>
#include <stemma/weights/parameter_origin.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Finds initializers computed by weight norm from two entries: directions and lengths.
class normed_entries {
public:
    /// An origin, and its entries.
    using candidate = std::pair<parameter_origin, std::vector<id>>;

    /// Requires: `search` outlives it. Complexity: O(entries * log entries).
    explicit normed_entries(weight_search& search) : search_(search) {
        for (id e = 0; e < search.entries.size(); ++e) {
            const auto& entry = search.entries[e];
            const auto other = lengths_name(entry.name);
            const auto lengths = other.empty() ? no_id : search.entries.find(other);
            if (lengths != no_id && entry.shape.size() > 1 &&
                length_axis_of(entry.shape, search.entries[lengths].shape)) {
                of_size_[count_of(entry.shape)].emplace_back(e, lengths);
            }
        }
    }

    /// Returns: the module with weight norm that an entry belongs to, by the path of the entry's
    /// module. Complexity: O(length).
    [[nodiscard]] static std::string_view module_of(std::string_view owner) noexcept {
        const auto at = parametrization_at(owner);
        return at == owner.npos ? owner : owner.substr(0, at == 0 ? 0 : at - 1);
    }

    /// Returns: possible origins of an open weight, those of the modules that read it first.
    /// Complexity: O(entries of that size * uses).
    [[nodiscard]] std::vector<candidate> candidates(id t) const {
        std::vector<candidate> result;
        const auto& header = search_.headers[t];
        const auto pairs = of_size_.find(header.elements());
        if (!search_.is_open(t) || !search_.weights[t] || pairs == of_size_.end()) {
            return result;
        }
        for (const auto& [directions, lengths] : pairs->second) {
            const auto how = search_.relation(t, directions, reads_transposed(t));
            if (search_.claimed[directions] ||
                (how.transform != parameter_origin::transform_kind::as_is &&
                 how.transform != parameter_origin::transform_kind::transposed)) {
                continue;
            }
            parameter_origin origin;
            origin.entries = {search_.entries[directions].name, search_.entries[lengths].name};
            origin.transform = parameter_origin::transform_kind::normed;
            origin.axes = how.axes;
            result.emplace_back(std::move(origin), std::vector<id>{directions, lengths});
        }
        std::stable_partition(result.begin(), result.end(), [&](const candidate& one) {
            return is_read_by(t, module_of(search_.entries[one.second.front()].owner));
        });
        return result;
    }

    /// Entries of the reading modules. Complexity: O(initializers * entries of their size).
    void find_declared() {
        for (id t = 0; t < search_.headers.size(); ++t) {
            auto offered = candidates(t);
            if (offered.empty()) {
                continue;
            }
            auto& [origin, taken] = offered.front();
            const auto path = module_of(search_.entries[taken.front()].owner);
            if (is_read_by(t, path)) {
                search_.settle(t, std::move(origin), taken, path,
                               parameter_origin::basis_kind::declared, confidence::entry_declared);
            }
        }
    }

private:
    [[nodiscard]] bool reads_transposed(id t) const {
        const auto& uses = search_.uses[t];
        return !uses.empty() && search_.role(uses.front()).transposed != uses.front().transposed;
    }

    [[nodiscard]] bool is_read_by(id t, std::string_view path) const {
        const auto& uses = search_.uses[t];
        return std::any_of(uses.begin(), uses.end(), [&](const weight_use& use) {
            return search_.modules.path(use.module) == path;
        });
    }

    weight_search& search_;
    std::map<std::uint64_t, std::vector<std::pair<id, id>>> of_size_; // by elements: both entries
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_WEIGHTS_DETAIL_NORMED_ENTRIES_HPP
