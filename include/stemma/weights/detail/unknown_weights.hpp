// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_WEIGHTS_DETAIL_UNKNOWN_WEIGHTS_HPP
#define STEMMA_WEIGHTS_DETAIL_UNKNOWN_WEIGHTS_HPP

#include <stemma/checkpoint/checkpoint.hpp>
#include <stemma/core/detail/dotted_path.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/error.hpp>
#include <stemma/onnx/detail/tensor_content.hpp>
#include <stemma/onnx/detail/uniform_data.hpp>
#include <stemma/onnx/tensor_header.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma/weights/detail/call_modules.hpp>
#include <stemma/weights/detail/derived_names.hpp>
#include <stemma/weights/detail/make_values.hpp>
#include <stemma/weights/detail/new_values.hpp>
#include <stemma/weights/detail/slot_roles.hpp>
#include <stemma/weights/detail/weight_uses.hpp>
#include <stemma/weights/parameter_origin.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: the only extents in which two shapes differ, whatever the order of their axes: of parts
/// and a whole, one of which may lack the axis; zeros if there is no such pair.
/// Complexity: O(rank * log rank).
[[nodiscard]] inline std::pair<std::uint64_t, std::uint64_t>
other_extents(std::span<const std::int64_t> one, std::span<const std::int64_t> other) {
    const auto wide = [](std::span<const std::int64_t> shape) {
        std::vector<std::int64_t> dims(shape.begin(), shape.end());
        std::erase(dims, 1);
        range::sort(dims);
        return dims;
    };
    const auto a = wide(one);
    const auto b = wide(other);
    std::vector<std::int64_t> of_a;
    std::vector<std::int64_t> of_b;
    std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(of_a));
    std::set_difference(b.begin(), b.end(), a.begin(), a.end(), std::back_inserter(of_b));
    const bool alike = (a.size() == 1 && b.size() == 1) || (a.size() > 1 && b.size() > 1);
    return alike && of_a.size() < 2 && of_b.size() < 2 ? std::pair(count_of(of_a), count_of(of_b))
                                                       : std::pair<std::uint64_t, std::uint64_t>();
}

/// Whether a tensor may be made of some elements of another one: an extent is the same, or that of
/// a vector can be divided. Complexity: O(product of the ranks).
[[nodiscard]] inline bool are_related(std::span<const std::int64_t> whole,
                                      std::span<const std::int64_t> part) {
    const auto elements = count_of(part);
    return elements > 1 && ((whole.size() == 1 && count_of(whole) % elements == 0) ||
                            range::any_of(part, [&](std::int64_t extent) {
                                return extent > 1 && range::contains(whole, extent);
                            }));
}

/// Weights that a patch leaves as they are, as nothing tells which entries they were made from.
class unknown_weights {
public:
    /// Requires: all outlive it. `weights` are the new ones, or null; `knows` says whether the
    /// present ones are known. Complexity: O(1).
    unknown_weights(const attributed_model& opened, const new_values& values,
                    const checkpoint* weights, bool knows)
        : opened_(opened)
        , model_(opened.model())
        , values_(values)
        , weights_(weights)
        , knows_(knows) {}

    /// Adds an initializer. Complexity: O(1), amortized.
    void add(std::size_t t) { tensors_.push_back(t); }

    /// Throws: `error` of `contradiction` where one may be derived from an entry of the new weights
    /// that `changes`. Complexity: O(initializers * entries).
    template <class Predicate>
    void check_entries(std::span<const std::string> unused, Predicate changes) const {
        if (tensors_.empty()) {
            return;
        }
        const auto uses = collect_weight_uses(model_, call_modules(opened_));
        const std::set<std::string_view> is_unused(unused.begin(), unused.end());
        std::vector<new_entry> entries;
        for (const auto& entry : weights_->entries()) {
            if (is_real_type(entry.data_type) && values_.may_be_used(entry.name) &&
                changes(entry.name)) {
                entries.push_back({&entry, is_unused.contains(entry.name)});
            }
        }
        for (const auto t : tensors_) {
            const auto header = read_tensor_header(model_, model_.tensors()[t]);
            if (is_real_type(header.data_type)) {
                is_weight(uses[t]) ? check_weight(t, header, uses[t], entries)
                                   : check_other(t, header, uses[t], entries);
            }
        }
    }

    /// Throws: `error` of `contradiction` where one may hold the entry of an initializer that
    /// changes, as it has the same extents in some order.
    /// Complexity: O(n log n) in initializers.
    void check_twins(std::span<const parameter_origin* const> changed) const {
        const auto sorted_dims = [&](std::size_t t) {
            auto dims = read_tensor_header(model_, model_.tensors()[t]).dims;
            range::sort(dims);
            return dims;
        };
        std::map<std::vector<std::int64_t>, std::size_t> with_dims; // the first of each
        for (const auto t : tensors_) {
            with_dims.emplace(sorted_dims(t), t);
        }
        for (const auto* origin : changed) {
            const auto dims = sorted_dims(origin->tensor);
            const auto twin = with_dims.find(dims);
            if (dims.size() > 1 && twin != with_dims.end()) {
                refuse(twin->second, origin->entries.front());
            }
        }
    }

private:
    struct new_entry {
        const checkpoint::entry* entry;
        bool is_unused; // by any initializer
    };

    [[nodiscard]] std::string_view name(std::size_t t) const {
        return model_.text(model_.tensors()[t].name);
    }

    [[nodiscard]] bool has_gates(std::span<const weight_use> uses) const {
        return range::any_of(uses, [&](const weight_use& use) {
            return gates_of_slot(model_.op_type(use.node), use.slot) > 0;
        });
    }

    /// Whether an operator reads it as its weight or bias, rather than as a summand or the like.
    [[nodiscard]] bool is_weight(std::span<const weight_use> uses) const {
        return has_gates(uses) || range::any_of(uses, [&](const weight_use& use) {
                   return role_of_slot(model_.op_type(use.node), use.slot).sure;
               });
    }

    void check_weight(std::size_t t, const tensor_header& header, std::span<const weight_use> uses,
                      std::span<const new_entry> entries) const {
        const bool of_gates = has_gates(uses); // possibly of both directions, and of two biases
        const bool is_blocked = is_named_after_layout(name(t));
        const auto elements = count_of(header.dims);
        std::uint64_t parts = 0; // of the axis in which unused entries are shorter
        for (const auto& [entry, is_unused] : entries) {
            const auto count = count_of(entry->shape);
            const bool fits =
                count == elements || (of_gates && count > 0 && elements % count == 0 &&
                                      (elements / count == 2 || elements / count == 4));
            const auto [of_entry, of_weight] = other_extents(entry->shape, header.dims);
            const bool is_part = of_entry < of_weight;
            parts += is_part && is_unused ? of_entry : 0;
            const bool may_differ =
                of_entry > 0 && (is_part ? of_weight % of_entry == 0 || parts == of_weight
                                         : of_entry % of_weight == 0);
            const bool may_be_padded = is_blocked && count > 1 && count <= elements &&
                                       entry->shape.size() == header.dims.size();
            if ((fits && !knows_) || ((fits || may_differ || may_be_padded) && is_unused)) {
                refuse(t, entry->name);
            }
        }
    }

    void check_other(std::size_t t, const tensor_header& header, std::span<const weight_use> uses,
                     std::span<const new_entry> entries) const {
        for (const auto& [entry, is_unused] : entries) {
            if (!is_near(entry->name, uses)) {
                continue;
            }
            const bool is_part = is_unused && are_related(entry->shape, header.dims);
            const bool fits = !knows_ && entry->shape.size() > 1 &&
                              count_of(entry->shape) == count_of(header.dims) && !is_uniform_now(t);
            if ((is_part || fits) && !is_slice(t, header, *entry)) {
                refuse(t, entry->name);
            }
        }
    }

    /// Whether an entry is one of a module that reads an initializer, of one around, or of one
    /// right below that has no bias: an embedding, rather than a layer that is not called.
    [[nodiscard]] bool is_near(const std::string& entry, std::span<const weight_use> uses) const {
        const auto owner = values_.owner_of(entry);
        const auto bias = entry.substr(0, entry.rfind('.') + 1) + "bias";
        const bool is_layer = weights_->find(bias) != nullptr;
        return range::any_of(uses, [&](const weight_use& use) {
            const auto reader = opened_.modules().path(use.module);
            return owner.empty() || reader == owner || reader.starts_with(owner + ".") ||
                   (path_around(owner) == reader && !is_layer);
        });
    }

    /// Whether the present values of an initializer are consecutive ones of a new entry.
    [[nodiscard]] bool is_slice(std::size_t t, const tensor_header& header,
                                const checkpoint::entry& entry) const {
        tensor_content_reader reader(model_);
        const auto content = reader.read(model_.tensors()[t]);
        return content.readable && header.data_type == entry.data_type &&
               weights_->bytes(entry).find(content.bytes()) != std::string::npos;
    }

    [[nodiscard]] bool is_uniform_now(std::size_t t) const {
        tensor_content_reader reader(model_);
        const auto content = reader.read(model_.tensors()[t]);
        return content.readable && is_uniform(content.bytes());
    }

    /// Throws: always.
    void refuse(std::size_t t, const std::string& entry) const {
        STEMMA_THROW(error(
            error_code::contradiction, model_.file(), name(t),
            "may be derived from " + entry + " in an unknown way" +
                (knows_ ? "" : "; the checkpoint with the model's current values would tell")));
    }

    const attributed_model& opened_;
    const wire_model& model_;
    const new_values& values_;
    const checkpoint* weights_;
    bool knows_;
    std::vector<std::size_t> tensors_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_WEIGHTS_DETAIL_UNKNOWN_WEIGHTS_HPP
