// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_WEIGHTS_PATCH_WEIGHTS_HPP
#define STEMMA_WEIGHTS_PATCH_WEIGHTS_HPP

#include <stemma/checkpoint/checkpoint.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/error.hpp>
#include <stemma/io/mapped_file.hpp>
#include <stemma/io/output_file.hpp>
#include <stemma/onnx/detail/node_attributes.hpp>
#include <stemma/onnx/detail/place_external_data.hpp>
#include <stemma/onnx/tensor_header.hpp>
#include <stemma/onnx/write_rope.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma/query/find_modules.hpp>
#include <stemma/weights/detail/data_places.hpp>
#include <stemma/weights/detail/new_values.hpp>
#include <stemma/weights/detail/unknown_weights.hpp>
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

    /// Whether an entry is one of a selected module; of a module that the tree lacks, as that
    /// instead.
    [[nodiscard]] bool is_wanted(const std::string& entry, id instead) const {
        const auto m = find_by_path(opened_.modules(), values_->owner_of(entry));
        return wanted_[m != no_id ? m : instead];
    }

    /// Notes that the others keep their values. Throws: `error` of `contradiction` if these are
    /// unknown.
    [[nodiscard]] wanted_entries find_wanted(const parameter_origin& origin) {
        if (options_.modules.empty()) {
            return wanted_entries::all;
        }
        const auto held = values_->held_by(origin);
        const auto wanted = [&](const auto& entry) { return is_wanted(entry, origin.module); };
        const auto count = range::count_if(held, wanted);
        if (held.empty() ? wanted_[origin.module] : count == held.size()) {
            return wanted_entries::all;
        }
        if (count == 0) {
            return wanted_entries::none;
        }
        for (const auto& entry : held) {
            if (!wanted(entry)) {
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
        return called_[t].basis == parameter_origin::basis_kind::name;
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
        wanted_.assign(opened_.modules().size(), options_.modules.empty());
        if (!options_.modules.empty()) {
            for (const auto m : find_modules(opened_, options_.modules)) {
                std::fill(wanted_.begin() + m, wanted_.begin() + opened_.modules().index().end(m),
                          true);
            }
        }
        std::vector<bool> weights(model_.value_count(), false);
        for (const auto& weight : find_weights(model_)) {
            weights[weight.value] = weight.kind != weight_kind::buffer;
        }
        const auto epsilon = likely_epsilon();
        report_.epsilon = epsilon;
        unknown_weights unknown(opened_, *values_, options_.weights, options_.known != nullptr);
        for (auto& origin : report_.origins) {
            const auto& tensor = model_.tensors()[origin.tensor];
            const auto asked = find_wanted(origin);
            const bool is_asked = asked != wanted_entries::none;
            if (origin.transform == parameter_origin::transform_kind::none && is_asked &&
                is_called(origin.tensor)) {
                report_.missing.emplace_back(name(origin.tensor));
                continue;
            }
            const bool changes = options_.weights != nullptr || values_->changes(origin);
            if (origin.transform == parameter_origin::transform_kind::none ||
                (!changes && origin.confidence < confidence::entry_below)) {
                if (tensor.value != no_id && weights[tensor.value] &&
                    !read_tensor_header(model_, tensor).dims.empty()) {
                    unknown.add(origin.tensor);
                    if (is_asked && origin.transform == parameter_origin::transform_kind::none) {
                        report_.unknown.emplace_back(name(origin.tensor));
                    }
                }
                continue;
            }
            if (!is_asked) {
                continue;
            }
            if (origin.transform == parameter_origin::transform_kind::folded &&
                origin.epsilon == 0) {
                origin.epsilon = epsilon;
                report_.assumed_epsilon += !origin.bias && options_.epsilon <= 0 ? 1U : 0U;
            }
            if (!changes) {
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
        }
        if (!options_.partial) {
            check(unknown);
        }
    }

    /// Throws: where a weight that stays may be derived from an entry that changes.
    void check(const unknown_weights& unknown) const {
        if (options_.weights != nullptr) {
            unknown.check_entries(report_.unused,
                                  [&](const auto& entry) { return is_wanted(entry, 0); });
        } else if (options_.known == nullptr) {
            std::vector<const parameter_origin*> changed;
            for (const auto& place : places_) {
                changed.push_back(&report_.origins[place.tensor]);
            }
            unknown.check_twins(changed);
        }
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
    std::vector<bool> wanted_;             // by module: whether it is selected
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
