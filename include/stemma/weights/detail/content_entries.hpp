// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_WEIGHTS_DETAIL_CONTENT_ENTRIES_HPP
#define STEMMA_WEIGHTS_DETAIL_CONTENT_ENTRIES_HPP

#include <stemma/checkpoint/checkpoint.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/parallel.hpp>
#include <stemma/io/detail/xxh64.hpp>
#include <stemma/model/confidence.hpp>
#include <stemma/onnx/detail/data_hashes.hpp>
#include <stemma/onnx/detail/tensor_content.hpp>
#include <stemma/onnx/detail/uniform_data.hpp>
#include <stemma/weights/detail/make_values.hpp>
#include <stemma/weights/detail/weight_search.hpp>
#include <stemma/weights/parameter_origin.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: the elements of an entry, in place if contiguous.
[[nodiscard]] inline entry_values values_of(const checkpoint& from,
                                            const checkpoint::entry& entry) {
    entry_values values{entry.data_type, entry.shape, {}, {}};
    if (entry.is_contiguous()) {
        values.data = from.mapped_bytes(entry);
    } else {
        values.own = from.bytes(entry);
    }
    return values;
}

/// Finds initializers whose values are in a checkpoint, possibly in another order or type.
///  Tensors of equal size on both sides are hashed once, streaming, for each possible type in the
/// model; equal hashes are then compared byte by byte.
class content_entries {
public:
    /// Requires: both outlive it; the entries are those of the checkpoint.
    /// Complexity: O(bytes of tensors of equal size on both sides).
    content_entries(weight_search& search, const checkpoint& saved)
        : search_(search), saved_(saved), reader_(search.model) {
        hash_tensors();
        hash_entries();
    }

    /// Notes matches. Complexity: O(bytes compared).
    void find() {
        for (std::size_t t = 0; t < search_.headers.size(); ++t) {
            if (hashes_[t].exact != 0 && search_.is_open(t)) {
                find(t);
            }
        }
    }

    /// Whether the model appears to hold the checkpoint's values: then unmatched initializers are
    /// not moved entries. Those named like an entry of their shape tell, unless all of their
    /// elements are equal; without such, all weights do. Complexity: O(initializers * log entries).
    [[nodiscard]] bool is_reliable() const {
        struct votes {
            std::size_t all = 0;
            std::size_t matched = 0;
        };
        votes weights;
        votes named;
        for (std::size_t t = 0; t < search_.headers.size(); ++t) {
            if (!search_.weights[t]) {
                continue;
            }
            const auto add = [&](votes& to) {
                ++to.all;
                to.matched +=
                    search_.origins[t].basis == parameter_origin::basis_kind::content ? 1U : 0U;
            };
            add(weights);
            const auto e = search_.entries.find(search_.name(t));
            if (e != no_id && uniform_[t] == 0 &&
                search_.relation(t, e, false).transform ==
                    parameter_origin::transform_kind::as_is) {
                add(named);
            }
        }
        const auto& counted = named.all > 0 ? named : weights;
        return counted.matched * 2 >= counted.all && weights.matched > 0;
    }

    /// Whether an initializer has the values of an entry in this relation, or either are unknown.
    /// Complexity: O(bytes) if these are likely, else O(1), expected.
    [[nodiscard]] bool may_be(std::size_t t, id e, const shape_relation& how) {
        const auto sum = sum_of_tensor(t);
        return sum == sum_of_entry(e, search_.headers[t].data_type) &&
               (sum == 0 || holds(t, e, how));
    }

    /// Returns: the sum of hashes of the elements of an initializer; 0 if unknown.
    [[nodiscard]] std::uint64_t sum_of_tensor(std::size_t t) const { return hashes_[t].loose; }

    /// Returns: the same for an entry as a type. Complexity: O(1), expected.
    [[nodiscard]] std::uint64_t sum_of_entry(id e, std::int64_t type) const {
        const auto sum = sums_.find(key_of(e, type));
        return sum == sums_.end() ? 0 : sum->second;
    }

    /// Returns: the elements of an initializer. Complexity: O(fields).
    [[nodiscard]] tensor_content content(std::size_t t) {
        return reader_.read(search_.model.tensors()[t]);
    }

    /// Returns: the elements of an entry of the checkpoint, if it exists.
    [[nodiscard]] std::optional<entry_values> values(const std::string& name) const {
        const auto* const entry = saved_.find(name);
        return entry == nullptr ? std::nullopt : std::optional(values_of(saved_, *entry));
    }

    /// Whether an initializer matches its origin, up to rounding if allowed.
    /// Complexity: O(bytes).
    [[nodiscard]] bool holds(std::size_t t, const parameter_origin& origin, float rounding = 0) {
        value_maker maker([this](const std::string& name) { return values(name); });
        const auto values = maker.make(origin, search_.headers[t]);
        const auto is = content(t);
        if (!values || !is.readable || values->size() != is.bytes().size()) {
            return false;
        }
        if (*values == is.bytes()) {
            return true;
        }
        const auto type = search_.headers[t].data_type;
        if (rounding == 0 || !is_float_or_double(type)) {
            return false;
        }
        const auto a = rounded_to_floats(*values, type);
        const auto b = rounded_to_floats(is.bytes(), type);
        float size = 0;
        float worst = 0;
        for (std::size_t i = 0; i < a.size(); ++i) {
            size = std::max(size, std::abs(b[i]));
            worst = std::max(worst, std::abs(a[i] - b[i]));
        }
        return worst <= rounding * size;
    }

private:
    [[nodiscard]] static std::uint64_t key_of(id e, std::int64_t type) noexcept {
        return std::uint64_t{e} << 8U | static_cast<std::uint64_t>(type & 0xff);
    }

    [[nodiscard]] static content_hash hash_of(std::string_view bytes, std::int64_t type) {
        return {hash_mix(static_cast<std::uint64_t>(type), xxh64(bytes)) | 1U,
                sum_of_elements(bytes, bits_of_type(type))};
    }

    void hash_tensors() {
        std::set<std::uint64_t> counts;
        for (const auto& entry : saved_.entries()) {
            counts.insert(count_of(entry.shape));
        }
        const auto tensors = search_.model.tensors();
        hashes_.resize(tensors.size());
        uniform_.assign(tensors.size(), 0);
        const auto parts = thread_limit::current().parts_of_tensors(tensors.size());
        for_each_range(tensors.size(), parts, [&](std::size_t, std::size_t t, std::size_t end) {
            tensor_content_reader reader(search_.model);
            for (; t < end; ++t) {
                if (tensors[t].sparse || bits_of_type(search_.headers[t].data_type) < 8 ||
                    !counts.contains(search_.headers[t].elements())) {
                    continue;
                }
                if (const auto content = reader.read(tensors[t]); content.readable) {
                    hashes_[t] = hash_of(content.bytes(), content.header.data_type);
                    uniform_[t] = is_uniform(content.bytes()) ? 1 : 0;
                }
            }
        });
    }

    void hash_entries() {
        std::set<std::pair<std::uint64_t, std::int64_t>> wanted;
        for (std::size_t t = 0; t < hashes_.size(); ++t) {
            wanted.emplace(search_.headers[t].elements(), search_.headers[t].data_type);
        }
        struct hashed {
            id entry;
            std::int64_t type;
            content_hash hash;
        };
        const auto entries = saved_.entries();
        const auto parts = thread_limit::current().parts_of_tensors(entries.size());
        std::vector<std::vector<hashed>> hashes(parts);
        for_each_range(
            entries.size(), parts, [&](std::size_t part, std::size_t e, std::size_t end) {
                for (; e < end; ++e) {
                    const auto& entry = entries[e];
                    const auto count = count_of(entry.shape);
                    std::vector<std::int64_t> types;
                    for (auto it = wanted.lower_bound({count, 0});
                         it != wanted.end() && it->first == count; ++it) {
                        if (it->second == entry.data_type ||
                            (is_real_type(entry.data_type) && is_real_type(it->second))) {
                            types.push_back(it->second);
                        }
                    }
                    if (!range::contains(types, entry.data_type) && is_real_type(entry.data_type)) {
                        types.push_back(entry.data_type); // for slices
                    }
                    const auto values = types.empty() ? entry_values() : values_of(saved_, entry);
                    for (const auto type : types) {
                        const auto same = type == entry.data_type;
                        const auto bytes =
                            same ? std::string()
                                 : convert_reals(values.bytes(), entry.data_type, type);
                        hashes[part].push_back({static_cast<id>(e), type,
                                                hash_of(same ? values.bytes() : bytes, type)});
                    }
                }
            });
        for (const auto& of_part : hashes) {
            for (const auto& [e, type, hash] : of_part) {
                by_exact_[hash.exact].push_back(e);
                by_sum_[hash.loose].push_back(e);
                sums_.emplace(key_of(e, type), hash.loose);
            }
        }
    }

    struct match {
        id entry;
        shape_relation how;
        int score;
    };

    /// Evidence besides values that an initializer is an entry.
    [[nodiscard]] int score(std::size_t t, id e) const {
        const auto& entry = search_.entries[e];
        int best = entry.name == search_.name(t) ? 16 : 0;
        for (const auto& use : search_.uses[t]) {
            if (search_.modules.path(use.module) == entry.owner) {
                best = std::max(best, search_.role(use).attribute == entry.attribute ? 8 : 4);
            }
        }
        return best;
    }

    void find(std::size_t t) {
        std::vector<match> matches;
        const auto offer = [&](id e, bool in_order) {
            auto how = in_order ? search_.relation(t, e, false) : permutation(t, e);
            const bool moved = how.transform == parameter_origin::transform_kind::transposed;
            if (how.transform == parameter_origin::transform_kind::none ||
                !search_.fits_type(t, e)) {
                return;
            }
            const auto& dims = search_.headers[t].dims;
            if (in_order && moved && !range::contains(dims, 1)) {
                how = {parameter_origin::transform_kind::reshaped, {}};
            }
            matches.push_back({e, std::move(how), score(t, e)});
        };
        if (const auto same = by_exact_.find(hashes_[t].exact); same != by_exact_.end()) {
            std::for_each(same->second.begin(), same->second.end(), [&](id e) { offer(e, true); });
        }
        if (const auto sum = by_sum_.find(hashes_[t].loose);
            matches.empty() && hashes_[t].loose != 0 && sum != by_sum_.end() &&
            search_.headers[t].dims.size() > 1) {
            std::for_each(sum->second.begin(), sum->second.end(), [&](id e) { offer(e, false); });
        }
        settle(t, matches);
    }

    /// Returns: the other order of axes in which an initializer holds an entry, if there is one.
    /// Complexity: O(factorial(rank)), and the bytes for each possible order.
    [[nodiscard]] shape_relation permutation(std::size_t t, id e) {
        constexpr std::size_t max_rank = 8;
        constexpr unsigned max_tries = 120;
        const auto& shape = search_.entries[e].shape;
        const auto& dims = search_.headers[t].dims;
        if (shape.size() != dims.size() || dims.size() > max_rank) {
            return {};
        }
        shape_relation how{parameter_origin::transform_kind::transposed,
                           std::vector<std::uint8_t>(dims.size(), 0)};
        std::iota(how.axes.begin(), how.axes.end(), std::uint8_t{0});
        for (unsigned tries = 0;
             tries < max_tries && std::next_permutation(how.axes.begin(), how.axes.end());) {
            const bool fits =
                std::equal(dims.begin(), dims.end(), how.axes.begin(),
                           [&](auto extent, auto axis) { return extent == shape[axis]; });
            tries += fits ? 1 : 0;
            if (fits && holds(t, e, how)) {
                return how;
            }
        }
        return {};
    }

    [[nodiscard]] bool holds(std::size_t t, id e, const shape_relation& how) {
        parameter_origin tried;
        tried.entries = {search_.entries[e].name};
        tried.transform = how.transform;
        tried.axes = how.axes;
        return holds(t, tried);
    }

    /// Among equal entries, those of the readers' modules count; all if there are none and the
    /// values are distinctive.
    void settle(std::size_t t, std::vector<match>& matches) {
        if (matches.empty()) {
            return;
        }
        const bool few = uniform_[t] != 0 || search_.headers[t].elements() < 2;
        range::stable_sort(matches, [](const match& a, const match& b) {
            return std::pair(-a.score, a.entry) < std::pair(-b.score, b.entry);
        });
        const auto best = matches.front().score;
        if (few && best == 0) {
            return; // by its use
        }
        const auto least = few ? std::max(best > 8 ? 8 : best, 1) : 0;
        std::erase_if(matches, [&](const match& one) { return one.score < least; });
        const bool alone = matches.size() == 1 || best > 0;
        search_.settle(t, matches.front().entry, matches.front().how,
                       parameter_origin::basis_kind::content,
                       alone ? confidence::entry_content : confidence::entry_equal);
        for (std::size_t i = 1; i < matches.size(); ++i) {
            search_.claimed[matches[i].entry] = true;
            search_.origins[t].shared.push_back(search_.entries[matches[i].entry].name);
        }
    }

    weight_search& search_;
    const checkpoint& saved_;
    tensor_content_reader reader_;
    std::vector<content_hash> hashes_;  // by initializer
    std::vector<std::uint8_t> uniform_; // by initializer: whether all elements are equal
    std::unordered_map<std::uint64_t, std::vector<id>> by_exact_;
    std::unordered_map<std::uint64_t, std::vector<id>> by_sum_;
    std::unordered_map<std::uint64_t, std::uint64_t> sums_; // by entry and type
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_WEIGHTS_DETAIL_CONTENT_ENTRIES_HPP
