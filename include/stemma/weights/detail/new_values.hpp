// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_WEIGHTS_DETAIL_NEW_VALUES_HPP
#define STEMMA_WEIGHTS_DETAIL_NEW_VALUES_HPP

#include <stemma/checkpoint/checkpoint.hpp>
#include <stemma/config.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/core/parallel.hpp>
#include <stemma/error.hpp>
#include <stemma/io/output_file.hpp>
#include <stemma/onnx/detail/tensor_size.hpp>
#include <stemma/onnx/tensor_header.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma/weights/detail/content_entries.hpp>
#include <stemma/weights/detail/element_moves.hpp>
#include <stemma/weights/detail/make_values.hpp>
#include <stemma/weights/detail/state_entries.hpp>
#include <stemma/weights/low_rank_adapter.hpp>
#include <stemma/weights/parameter_origin.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The new values of entries, and of the initializers made from them.
class new_values {
public:
    /// Requires: all outlive it. Throws: `error` of `contradiction` if the adapter changes an entry
    /// that no initializer was made from, or if the weights are of several models.
    new_values(const attributed_model& opened, const checkpoint* weights,
               const low_rank_adapter* adapter, const checkpoint* saved,
               std::span<const parameter_origin> origins, std::string_view prefix = {})
        : model_(opened.model()), weights_(weights), adapter_(adapter), before_(saved) {
        if (weights != nullptr) {
            new_entries_.emplace(*weights, opened.modules(), prefix);
        }
        if (saved != nullptr) {
            old_entries_.emplace(*saved, opened.modules());
        } else if (weights != nullptr) {
            new_entries_->refuse_rivals(path());
        }
        for (const auto& origin : origins) {
            primary_.insert(origin.entries.begin(), origin.entries.end());
        }
        if (adapter != nullptr) {
            changed_ = match_adapter_names(adapter->entries(), origins, adapter->path());
            for (const auto& names : opened.modules().shared_parameters()) {
                change_tied(names);
            }
            for (const auto* const of : {weights, saved}) {
                if (of != nullptr) {
                    for (const auto& names : tied_entries(*of)) {
                        change_tied(names);
                    }
                }
            }
            if (weights == nullptr && saved == nullptr) {
                for (const auto& origin : origins) {
                    change_alike(origin);
                }
            }
        }
    }

    /// Returns: the source of new values, for messages.
    [[nodiscard]] std::string path() const {
        return weights_ != nullptr ? weights_->files().front().path() : adapter_->path();
    }

    /// Returns: the path of the module of an entry. Complexity: O(length * log entries).
    [[nodiscard]] std::string owner_of(const std::string& name) const {
        for (const auto* const entries : {&old_entries_, &new_entries_}) {
            if (const auto e = *entries ? (*entries)->find(name) : no_id; e != no_id) {
                return (**entries)[e].owner;
            }
        }
        return std::string(owner_path(name));
    }

    /// Returns: the name in the new weights of an entry, its own if they lack it.
    [[nodiscard]] std::string new_name(const std::string& name) const {
        const auto* const entry = find(name);
        return entry == nullptr ? name : entry->name;
    }

    /// Whether an entry of the new weights may be the model's.
    [[nodiscard]] bool may_be_used(std::string_view name) const {
        const auto e = new_entries_->find(name);
        return e != no_id && !new_entries_->is_outside(e);
    }

    /// Returns: the entries that an initializer is made from, and others that it stands for.
    [[nodiscard]] std::vector<std::string> held_by(const parameter_origin& origin) const {
        auto names = others_of(origin);
        names.insert(names.begin(), origin.entries.begin(), origin.entries.end());
        return names;
    }

    /// An entry that keeps its present value.
    void keep(const std::string& name) { kept_.insert(name); }

    /// Returns: a message if some entries of an initializer change and others do not, else "".
    [[nodiscard]] std::string conflict_of(const parameter_origin& origin) const {
        const auto held = held_by(origin);
        const auto is_kept = [&](const std::string& name) { return kept_.contains(name); };
        const auto kept = std::find_if(held.begin(), held.end(), is_kept);
        const auto changed = std::find_if_not(held.begin(), held.end(), is_kept);
        return kept == held.end() || changed == held.end()
                   ? std::string()
                   : "holds " + *changed + ", which would change, and " + *kept +
                         ", whose module is not selected";
    }

    /// Whether the adapter changes an entry of an initializer, or one that it stands for as well.
    [[nodiscard]] bool changes(const parameter_origin& origin) const {
        const auto changes = [&](const std::string& name) {
            return adapter_name(name).has_value();
        };
        return range::any_of(origin.entries, changes) || range::any_of(others_of(origin), changes);
    }

    /// Whether there are new values for all entries of an initializer.
    [[nodiscard]] bool has(const parameter_origin& origin) const {
        return range::all_of(origin.entries, [&](const auto& name) {
            return source_of(name).entry != nullptr || whole(name) != nullptr;
        });
    }

    /// Throws: `error` of `contradiction` if entries that share an initializer now differ.
    /// Complexity: O(bytes of those).
    void check_shared(const parameter_origin& origin, std::string_view initializer) const {
        if (origin.entries.size() != 1 || origin.shared.empty()) {
            return;
        }
        const auto first = source_of(origin.entries.front());
        for (const auto& name : others_of(origin)) {
            const auto other = source_of(name);
            const bool tied =
                other.entry == nullptr || first.entry == nullptr ||
                (other.of == first.of && other.entry->alias_of == first.entry->alias_of) ||
                (other.entry->shape == first.entry->shape &&
                 other.entry->data_type == first.entry->data_type &&
                 values_of(*other.of, *other.entry).bytes() ==
                     values_of(*first.of, *first.entry).bytes());
            if (!tied || adapter_name(name) != adapter_name(origin.entries.front())) {
                const auto conflict = conflict_of(origin);
                STEMMA_THROW(error(error_code::contradiction, path(), initializer,
                                   conflict.empty() ? "stands for " + origin.entries.front() +
                                                          " and " + name + ", which differ"
                                                    : conflict));
            }
        }
    }

    /// Writes the new values of an initializer, whose present values are `bytes`. Returns: whether
    /// they differ. Throws: `error` of `contradiction` or `unsupported` if they do not fit.
    /// Complexity: O(bytes).
    bool write(const parameter_origin& origin, std::string_view initializer, std::string_view bytes,
               output_file& to) {
        const auto header = read_tensor_header(model_, model_.tensors()[origin.tensor]);
        if (weights_ != nullptr) {
            if (const auto differs = write_moved(origin, header, bytes, to)) {
                return *differs;
            }
        }
        const auto get = [this](const std::string& name) { return values(name); };
        value_maker maker(get);
        std::optional<std::string> result;
        const auto wholes = range::count_if(
            origin.entries, [&](const auto& name) { return whole(name) != nullptr; });
        if (weights_ != nullptr || wholes == origin.entries.size() ||
            (wholes > 0 && before_ != nullptr)) {
            result = maker.make(origin, header);
        } else {
            result = added(origin, header, bytes);
        }
        if (!result || result->size() != bytes.size()) {
            const auto why = maker.problem().empty() ? problem_ : maker.problem();
            STEMMA_THROW(
                error(origin.quantized ? error_code::unsupported : error_code::contradiction,
                      path(), initializer, why));
        }
        to.write_now(*result);
        return *result != bytes;
    }

private:
    [[nodiscard]] const checkpoint::entry* find(const std::string& name) const {
        if (weights_ == nullptr) {
            return nullptr;
        }
        auto e = new_entries_->find(name);
        const auto before = old_entries_ ? old_entries_->find(name) : no_id;
        if (before != no_id && !old_entries_->is_outside(before) &&
            (e == no_id || new_entries_->is_outside(e))) {
            e = new_entries_->find((*old_entries_)[before].owner,
                                   (*old_entries_)[before].attribute);
        }
        if (e != no_id && (*new_entries_)[e].name != name) {
            new_entries_->refuse_rivals(path());
        }
        const auto* const old = e == no_id && before_ != nullptr ? before_->find(name) : nullptr;
        if (old != nullptr) { // some formats keep one name of a tied tensor
            for (const auto& tied : before_->entries()) {
                e = e == no_id && tied.alias_of == old->alias_of ? new_entries_->find(tied.name)
                                                                 : e;
            }
        }
        return e == no_id ? nullptr : &weights_->entries()[e];
    }

    /// An entry and its checkpoint.
    struct entry_source {
        const checkpoint* of = nullptr;
        const checkpoint::entry* entry = nullptr;
    };

    /// Returns: where the present value of an entry is, if known.
    [[nodiscard]] entry_source present(const std::string& name) const {
        return {before_, before_ == nullptr ? nullptr : before_->find(name)};
    }

    /// Returns: where the new value is, without the adapter.
    [[nodiscard]] entry_source source_of(const std::string& name) const {
        return kept_.contains(name) ? present(name) : entry_source{weights_, find(name)};
    }

    /// Returns: the adapter's name for an entry that it changes.
    [[nodiscard]] std::optional<std::string_view> adapter_name(const std::string& name) const {
        const auto entry = changed_.find(name);
        return entry == changed_.end() || kept_.contains(name)
                   ? std::nullopt
                   : std::optional<std::string_view>(entry->second);
    }

    /// Returns: the other entries that an initializer stands for: those that come first for none.
    [[nodiscard]] std::vector<std::string> others_of(const parameter_origin& origin) const {
        std::vector<std::string> names;
        std::copy_if(origin.shared.begin(), origin.shared.end(), std::back_inserter(names),
                     [&](const auto& name) { return !primary_.contains(name); });
        return names;
    }

    [[nodiscard]] const checkpoint::entry* whole(const std::string& name) const {
        const auto changed = adapter_name(name);
        return changed ? adapter_->whole(*changed) : nullptr;
    }

    /// Returns: the new values of an entry: without new weights, from the present ones.
    [[nodiscard]] std::optional<entry_values> values(const std::string& name) const {
        if (const auto* const entry = whole(name)) {
            return values_of(adapter_->tensors(), *entry);
        }
        const auto source = weights_ == nullptr ? present(name) : source_of(name);
        if (source.entry == nullptr) {
            return std::nullopt;
        }
        auto result = values_of(*source.of, *source.entry);
        if (const auto changed = adapter_name(name)) {
            if (!is_real_type(result.data_type)) {
                STEMMA_THROW(error(error_code::unsupported, adapter_->path(), *changed,
                                   "changes weights that are not floating-point numbers"));
            }
            result.own = sum_of(result.bytes(), result.data_type,
                                *adapter_->change_of(*changed, result.shape));
        }
        return result;
    }

    /// Streams a copy or a transposed matrix. Returns: whether it differs from `bytes`; nothing if
    /// the values are neither.
    std::optional<bool> write_moved(const parameter_origin& origin, const tensor_header& header,
                                    std::string_view bytes, output_file& to) const {
        const auto* const entry = find(origin.entries.front());
        if (entry == nullptr || origin.quantized || origin.entries.size() != 1 ||
            changed_.contains(origin.entries.front()) || !entry->is_contiguous() ||
            entry->data_type != header.data_type) {
            return std::nullopt;
        }
        const auto& file = weights_->files()[entry->file];
        if (origin.transform == parameter_origin::transform_kind::as_is &&
            entry->shape == header.dims) {
            to.copy(file, entry->offset, entry->size);
            return weights_->mapped_bytes(*entry) != bytes;
        }
        const bool turned = origin.transform == parameter_origin::transform_kind::transposed &&
                            origin.axes == std::vector<std::uint8_t>{1, 0} &&
                            entry->shape.size() == 2 && header.dims.size() == 2 &&
                            entry->shape[0] == header.dims[1] && entry->shape[1] == header.dims[0];
        if (!turned || entry->size == 0) {
            return std::nullopt;
        }
        constexpr std::size_t piece = std::size_t{1} << 24U;
        const auto rows = static_cast<std::size_t>(entry->shape[0]);
        const auto columns = static_cast<std::size_t>(entry->shape[1]);
        const std::size_t width = entry->width;
        const auto most = std::max<std::size_t>(64, piece / (rows * width) / 64 * 64);
        std::string buffer;
        bool differs = false;
        for (std::size_t first = 0; first < columns; first += most) {
            const auto count = std::min(most, columns - first);
            buffer.resize(count * rows * width);
            const auto* const from = weights_->mapped_bytes(*entry).data();
            for_each_range(count, thread_limit::current().parts(4 * buffer.size()),
                           [&](std::size_t, std::size_t begin, std::size_t end) {
                               transpose_columns(width, from, rows, columns, first + begin,
                                                 end - begin, buffer.data() + begin * rows * width);
                           });
            to.write_now(buffer);
            differs = differs || !bytes.starts_with(buffer);
            bytes.remove_prefix(std::min(bytes.size(), buffer.size()));
        }
        file.release(entry->offset, entry->size);
        return differs;
    }

    /// Returns: present values plus the adapter's change, if possible without the entries' values;
    /// else `problem_` says why.
    [[nodiscard]] std::optional<std::string>
    added(const parameter_origin& origin, const tensor_header& header, std::string_view bytes) {
        if (origin.quantized || origin.transform == parameter_origin::transform_kind::folded ||
            origin.transform == parameter_origin::transform_kind::normed ||
            origin.transform == parameter_origin::transform_kind::gates ||
            !is_real_type(header.data_type)) {
            problem_ =
                "is " + transform_text(origin) + "; merging the adapter needs the original weights";
            return std::nullopt;
        }
        for (const auto& name : origin.entries) {
            if (whole(name) != nullptr) {
                problem_ = "is made from " + name +
                           ", which the adapter replaces, and others; merging it needs the "
                           "original weights";
                return std::nullopt;
            }
        }
        value_maker maker([&](const std::string& name) { return change_of(name, origin, header); });
        auto as_float = header;
        as_float.data_type = float32;
        const auto values = maker.make(origin, as_float);
        problem_ = maker.problem();
        return values ? std::optional(sum_of(bytes, header.data_type, floats_of(*values)))
                      : std::nullopt;
    }

    [[nodiscard]] std::optional<entry_values> change_of(const std::string& name,
                                                        const parameter_origin& origin,
                                                        const tensor_header& header) const {
        entry_values result{float32, header.dims, {}, {}};
        if (const auto* const old = before_ == nullptr ? nullptr : before_->find(name)) {
            result.shape = old->shape;
        } else if (origin.transform == parameter_origin::transform_kind::transposed) {
            for (std::size_t i = 0; i < origin.axes.size(); ++i) {
                result.shape[origin.axes[i]] = header.dims[i];
            }
        } else if (origin.transform != parameter_origin::transform_kind::as_is) {
            return std::nullopt;
        }
        const auto changed = adapter_name(name);
        result.own = changed ? bytes_of(*adapter_->change_of(*changed, result.shape))
                             : std::string(count_of(result.shape) * sizeof(float), '\0');
        return result;
    }

    /// Changes what is one tensor with an entry that changes. `names` are of one tensor.
    void change_tied(std::span<const std::string> names) {
        const auto first = std::find_if(names.begin(), names.end(),
                                        [&](const auto& name) { return changed_.contains(name); });
        if (first == names.end()) {
            return;
        }
        const auto asked = changed_.at(*first);
        for (const auto& name : names) {
            changed_.emplace(name, asked);
        }
    }

    /// Takes entries that share an initializer for one tensor, as nothing says otherwise.
    void change_alike(const parameter_origin& origin) {
        if (origin.entries.size() == 1) {
            auto names = others_of(origin);
            names.insert(names.begin(), origin.entries.front());
            change_tied(names);
        }
    }

    const wire_model& model_;
    const checkpoint* weights_;
    const low_rank_adapter* adapter_;
    const checkpoint* before_;
    std::optional<state_entries> new_entries_;
    std::optional<state_entries> old_entries_;
    std::map<std::string, std::string> changed_; // by entry: the adapter's name
    std::set<std::string, std::less<>> primary_; // entries that come first for some initializer
    std::set<std::string> kept_;                 // entries that keep their values
    std::string problem_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_WEIGHTS_DETAIL_NEW_VALUES_HPP
