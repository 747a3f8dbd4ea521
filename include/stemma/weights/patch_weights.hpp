// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_WEIGHTS_PATCH_WEIGHTS_HPP
#define STEMMA_WEIGHTS_PATCH_WEIGHTS_HPP

#include <stemma/checkpoint/checkpoint.hpp>
#include <stemma/core/detail/dotted_path.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/error.hpp>
#include <stemma/io/mapped_file.hpp>
#include <stemma/io/output_file.hpp>
#include <stemma/onnx/detail/node_attributes.hpp>
#include <stemma/onnx/detail/place_external_data.hpp>
#include <stemma/onnx/detail/tensor_content.hpp>
#include <stemma/onnx/tensor_header.hpp>
#include <stemma/onnx/write_rope.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma/query/find_modules.hpp>
#include <stemma/weights/detail/call_modules.hpp>
#include <stemma/weights/detail/data_places.hpp>
#include <stemma/weights/detail/new_values.hpp>
#include <stemma/weights/detail/related_shapes.hpp>
#include <stemma/weights/detail/slot_roles.hpp>
#include <stemma/weights/detail/weight_uses.hpp>
#include <stemma/weights/identify_parameters.hpp>
#include <stemma/weights/low_rank_adapter.hpp>
#include <stemma/weights/parameter_origin.hpp>
#include <stemma/weights/write_parameters.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// Options of `patch_weights`: `weights`, `adapter` or both are required.
struct patch_options {
    const checkpoint* weights = nullptr;       ///< the new values
    const low_rank_adapter* adapter = nullptr; ///< added to them, or to those of the model
    const checkpoint* known = nullptr;         ///< with the model's present values, if known
    std::string prefix{};                      ///< of names in `weights`; "" if to be found
    std::string modules{};                     ///< a query restricting the modules; "" for all
    float epsilon = 0;       ///< of folded batch norms, unless `known` determines it; 0: 1e-5
    bool partial = false;    ///< keep values that are missing in the new ones
    write_options writing{}; ///< options for writing the result
};

/// The result of `patch_weights`.
struct patch_report {
    std::size_t written = 0;                 ///< initializers with values from the new ones
    std::size_t changed = 0;                 ///< those whose values differ from the present ones
    std::vector<std::string> missing{};      ///< initializers whose entries the new values lack
    std::vector<std::string> unknown{};      ///< weights that stay: of unknown origin
    std::vector<std::string> unused{};       ///< unused entries of the new values
    std::size_t assumed_epsilon = 0;         ///< folded batch norms with an assumed epsilon
    float epsilon = 0;                       ///< the assumed epsilon
    std::vector<parameter_origin> origins{}; ///< of all initializers
};

namespace detail {

/// One run of `patch_weights`.
class weight_patcher {
public:
    weight_patcher(const attributed_model& opened, const patch_options& options)
        : opened_(opened), model_(opened.model()), options_(options) {
        if (options.weights == nullptr && options.adapter == nullptr) {
            STEMMA_THROW(error(error_code::refused, model_.file(), "patch",
                               "neither weights nor an adapter is given"));
        }
        const auto* const present = options.known != nullptr ? options.known : options.weights;
        report_.origins = identify_parameters(
            opened, {present, options.known != nullptr,
                     options.known != nullptr ? std::string() : options.prefix});
        values_ = std::make_unique<new_values>(opened, options.weights, options.adapter,
                                               options.known, report_.origins, options.prefix);
        choose();
    }

    [[nodiscard]] patch_report run(const std::string& output) && {
        refuse_own_data(model_, output);
        std::vector<std::unique_ptr<output_file>> written;
        std::size_t next = 0;
        written.push_back(std::make_unique<output_file>(output));
        write(opened_.file(), *written.back(), "", next);
        std::error_code failed;
        const bool in_place = std::filesystem::equivalent(model_.file(), output, failed);
        const auto from = std::filesystem::absolute(model_.file()).parent_path();
        const auto to = std::filesystem::absolute(output).parent_path();
        std::vector<std::unique_ptr<mapped_file>> sources;
        std::set<std::string> locations;
        for (const auto& location : external_files(model_)) {
            check_location(model_, location);
            locations.insert(normal_location(location));
        }
        for (const auto& location : locations) {
            const auto path = to / location;
            const bool changes = next < places_.size() && places_[next].location == location;
            if (!changes && std::filesystem::equivalent(from / location, path, failed)) {
                continue;
            }
            if (!in_place) {
                refuse_own_data(model_, path.string());
            }
            if (std::filesystem::exists(path, failed) && !options_.writing.replace_data) {
                STEMMA_THROW(error(error_code::exists, path.string(), "", "already exists"));
            }
            std::filesystem::create_directories(path.parent_path(), failed);
            sources.push_back(std::make_unique<mapped_file>((from / location).string()));
            written.push_back(std::make_unique<output_file>(path.string()));
            write(*sources.back(), *written.back(), location, next);
        }
        // The model comes first but is committed last, after the data it refers to.
        for (auto file = written.rbegin(); file != written.rend(); ++file) {
            (*file)->commit(options_.writing.sync);
        }
        return std::move(report_);
    }

private:
    /// Which entries of an initializer belong to selected modules.
    enum class wanted_entries : unsigned char { none, some, all };

    /// Notes that the others keep their values. Throws: `error` of `contradiction` if these are
    /// unknown.
    [[nodiscard]] wanted_entries find_wanted(const parameter_origin& origin,
                                             const std::vector<bool>& wanted) {
        if (options_.modules.empty()) {
            return wanted_entries::all;
        }
        const auto is_wanted = [&](const std::string& entry) {
            const auto m = find_by_path(opened_.modules(), values_->owner_of(entry));
            return wanted[m != no_id ? m : origin.module];
        };
        const auto held = values_->held_by(origin);
        const auto count = range::count_if(held, is_wanted);
        if (held.empty() ? wanted[origin.module] : count == held.size()) {
            return wanted_entries::all;
        }
        if (count == 0) {
            return wanted_entries::none;
        }
        for (const auto& entry : held) {
            if (!is_wanted(entry)) {
                values_->keep(entry);
            }
        }
        if (options_.weights != nullptr && options_.known == nullptr) {
            STEMMA_THROW(error(error_code::contradiction, model_.file(), name(origin.tensor),
                               values_->conflict_of(origin) +
                                   "; the checkpoint with the model's current values would tell"));
        }
        return wanted_entries::some;
    }

    [[nodiscard]] std::string_view name(std::size_t t) const {
        return model_.text(model_.tensors()[t].name);
    }

    /// Whether an initializer is named like an entry missing in the new weights.
    [[nodiscard]] bool is_called(std::size_t t) {
        if (options_.weights == nullptr) {
            return false;
        }
        if (called_.empty()) {
            called_ = identify_parameters(opened_);
        }
        return called_[t].basis == parameter_basis::name;
    }

    /// Returns: the epsilon of folded batch norms: the given one, else that of an unfolded norm,
    /// else PyTorch's default.
    [[nodiscard]] float likely_epsilon() const {
        constexpr auto usual = 1e-5F;
        if (options_.epsilon > 0) {
            return options_.epsilon;
        }
        for (id node = 0; node < model_.node_count(); ++node) {
            if (model_.op_type(node) == "BatchNormalization" && model_.domain(node).empty()) {
                return node_attributes(model_, node).real("epsilon").value_or(usual);
            }
        }
        return usual;
    }

    void choose() {
        std::vector<bool> wanted(opened_.modules().size(), options_.modules.empty());
        if (!options_.modules.empty()) {
            for (const auto m : find_modules(opened_, options_.modules)) {
                std::fill(wanted.begin() + m, wanted.begin() + opened_.modules().index().end(m),
                          true);
            }
        }
        std::vector<bool> weights(model_.value_count(), false);
        for (const auto& weight : find_weights(model_)) {
            weights[weight.value] = weight.kind != weight_kind::buffer;
        }
        const auto epsilon = likely_epsilon();
        report_.epsilon = epsilon;
        for (auto& origin : report_.origins) {
            const auto& tensor = model_.tensors()[origin.tensor];
            const auto asked = find_wanted(origin, wanted);
            if (asked == wanted_entries::none) {
                continue;
            }
            if (origin.transform == parameter_transform::none && is_called(origin.tensor)) {
                report_.missing.emplace_back(name(origin.tensor));
                continue;
            }
            if (origin.transform == parameter_transform::none) {
                if (tensor.value != no_id && weights[tensor.value] &&
                    !read_tensor_header(model_, tensor).dims.empty()) {
                    report_.unknown.emplace_back(name(origin.tensor));
                    unknown_.push_back(origin.tensor);
                }
                continue;
            }
            if (origin.transform == parameter_transform::folded && origin.epsilon == 0) {
                origin.epsilon = epsilon;
                report_.assumed_epsilon += !origin.bias && options_.epsilon <= 0 ? 1U : 0U;
            }
            if (options_.weights == nullptr && !values_->changes(origin)) {
                continue;
            }
            if (options_.weights != nullptr && !values_->has(origin)) {
                report_.missing.emplace_back(name(origin.tensor));
                continue;
            }
            if (origin.confidence < confidence::entry_below) {
                STEMMA_THROW(error(error_code::contradiction, model_.file(), name(origin.tensor),
                                   "may be " + origin.entries.front() +
                                       ", which is uncertain; the checkpoint with the model's "
                                       "current values would tell"));
            }
            values_->check_shared(origin, name(origin.tensor));
            if (asked == wanted_entries::some && origin.entries.size() == 1) {
                continue; // as it has the value of one that stays
            }
            places_.push_back(place_of_data(model_, origin.tensor));
        }
        if (!report_.missing.empty() && !options_.partial) {
            STEMMA_THROW(
                error(error_code::contradiction, values_->path(), report_.missing.front(),
                      "has no entry for this initializer" +
                          (report_.missing.size() == 1
                               ? std::string()
                               : " and " + std::to_string(report_.missing.size() - 1) + " more")));
        }
        if (places_.empty()) {
            STEMMA_THROW(error(error_code::contradiction, model_.file(), "",
                               "no initializer was made from an entry of " + values_->path()));
        }
        sort_places(places_, model_);
        report_.written = places_.size();
        if (options_.weights != nullptr) {
            report_.unused =
                unused_entries(*options_.weights, report_.origins,
                               [&](const auto& name) { return values_->new_name(name); });
            if (!options_.partial) {
                check_unknown();
            }
        }
    }

    /// Throws: where a weight that would stay may be derived from an entry of the new weights.
    /// Complexity: O(initializers that stay * entries).
    void check_unknown() const {
        if (unknown_.empty()) {
            return;
        }
        const auto uses = collect_weight_uses(model_, call_modules(opened_));
        const std::set<std::string_view> unused(report_.unused.begin(), report_.unused.end());
        std::vector<std::pair<const checkpoint_entry*, bool>> entries; // and whether it is unused
        for (const auto& entry : options_.weights->entries()) {
            if (is_convertible(entry.data_type) && values_->may_be_used(entry.name)) {
                entries.emplace_back(&entry, unused.contains(entry.name));
            }
        }
        for (const auto t : unknown_) {
            bool is_weight = false;
            bool of_gates = false; // possibly of both directions, and of two biases
            for (const auto& use : uses[t]) {
                const auto type = model_.op_type(use.node);
                of_gates = of_gates || gates_of_slot(type, use.slot) > 0;
                is_weight = is_weight || of_gates || role_of_slot(type, use.slot).sure;
            }
            const auto header = read_tensor_header(model_, model_.tensors()[t]);
            if (!is_convertible(header.data_type)) {
                continue;
            }
            if (!is_weight) {
                for (const auto& [entry, is_unused] : entries) {
                    if (is_unused && are_related(entry->shape, header.dims) &&
                        is_near(entry->name, uses[t]) && !is_slice(t, header, *entry)) {
                        refuse_derived(t, entry->name);
                    }
                }
                continue;
            }
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
                if ((fits && options_.known == nullptr) || ((fits || may_differ) && is_unused)) {
                    refuse_derived(t, entry->name);
                }
            }
        }
    }

    /// Whether an entry is one of a module that reads an initializer, of one around, or of one
    /// right below that has no bias: an embedding, rather than a layer that is not called.
    [[nodiscard]] bool is_near(const std::string& entry, std::span<const weight_use> uses) const {
        const auto owner = values_->owner_of(entry);
        const auto bias = entry.substr(0, entry.rfind('.') + 1) + "bias";
        const bool is_layer = options_.weights->find(bias) != nullptr;
        return range::any_of(uses, [&](const weight_use& use) {
            const auto reader = opened_.modules().path(use.module);
            return owner.empty() || reader == owner || reader.starts_with(owner + ".") ||
                   (path_around(owner) == reader && !is_layer);
        });
    }

    /// Whether the present values of an initializer are consecutive ones of a new entry.
    [[nodiscard]] bool is_slice(std::size_t t, const tensor_header& header,
                                const checkpoint_entry& entry) const {
        tensor_content_reader reader(model_);
        const auto content = reader.read(model_.tensors()[t]);
        return content.readable && header.data_type == entry.data_type &&
               options_.weights->bytes(entry).find(content.bytes()) != std::string::npos;
    }

    /// Throws: always.
    void refuse_derived(std::size_t t, const std::string& entry) const {
        STEMMA_THROW(error(error_code::contradiction, model_.file(), name(t),
                           "may be derived from " + entry + " in an unknown way" +
                               (options_.known == nullptr
                                    ? "; the checkpoint with the model's current values would tell"
                                    : "")));
    }

    /// Rewrites a file with new values in its places.
    void write(const mapped_file& source, output_file& to, std::string_view location,
               std::size_t& next) {
        std::uint64_t at = 0;
        const auto size = source.bytes().size();
        for (; next < places_.size() && places_[next].location == location; ++next) {
            const auto& place = places_[next];
            if (place.begin > size || place.size > size - place.begin) {
                STEMMA_THROW(error(error_code::malformed, source.path(), name(place.tensor),
                                   "is beyond the end of the file"));
            }
            to.copy(source, at, place.begin - at);
            report_.changed += values_->write(report_.origins[place.tensor], name(place.tensor),
                                              source.bytes().substr(place.begin, place.size), to)
                                   ? 1U
                                   : 0U;
            source.release(place.begin, place.size);
            at = place.begin + place.size;
        }
        to.copy(source, at, size - at);
    }

    const attributed_model& opened_;
    const wire_model& model_;
    const patch_options& options_;
    patch_report report_;
    std::unique_ptr<new_values> values_;
    std::vector<parameter_origin> called_; // origins by name, computed on demand
    std::vector<std::size_t> unknown_;     // initializers without a known entry
    std::vector<data_place> places_;       // by file and position
};

} // namespace detail

/// Writes a model with new values in its initializers: those of a checkpoint, transformed like the
/// present ones, or with low-rank changes added. Everything else stays byte for byte; external
/// weights are written beside `output`. Nothing is written on failure.
///
/// Requires: the model keeps its evidence.
/// Throws: `error` of `contradiction` for shapes or types that do not fit, for missing entries, for
/// entries that share an initializer but differ, for uncertain initializers, and for those of which
/// only some entries change, if the others are unknown; of `unsupported` for quantized ones; of
/// `exists` for a weight file that may not be replaced, of `refused` for one of the model; as
/// `find_modules`, `read_checkpoint` and `output_file`.
/// Complexity: that of `identify_parameters`, and O(bytes); memory for one initializer.
inline patch_report patch_weights(const attributed_model& opened, const std::string& output,
                                  const patch_options& options) {
    return detail::weight_patcher(opened, options).run(output);
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_WEIGHTS_PATCH_WEIGHTS_HPP
