// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CUT_SPLIT_TO_FOLDER_HPP
#define STEMMA_CUT_SPLIT_TO_FOLDER_HPP

#include <stemma/config.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/cost/model_cost.hpp>
#include <stemma/cut/cut.hpp>
#include <stemma/cut/cut_options.hpp>
#include <stemma/cut/cut_planner.hpp>
#include <stemma/cut/detail/boundary_types.hpp>
#include <stemma/cut/detail/cut_writer.hpp>
#include <stemma/cut/detail/part_files.hpp>
#include <stemma/cut/detail/random_nodes.hpp>
#include <stemma/cut/detail/split_folder.hpp>
#include <stemma/cut/detail/split_writer.hpp>
#include <stemma/cut/detail/weight_store.hpp>
#include <stemma/cut/model_loads.hpp>
#include <stemma/cut/partition.hpp>
#include <stemma/cut/split_manifest.hpp>
#include <stemma/cut/split_planner.hpp>
#include <stemma/error.hpp>
#include <stemma/io/detail/system_files.hpp>
#include <stemma/io/mapped_file.hpp>
#include <stemma/model/cost.hpp>
#include <stemma/onnx/data_placement.hpp>
#include <stemma/onnx/detail/place_external_data.hpp>
#include <stemma/onnx/external_data.hpp>
#include <stemma/open/attributed_model.hpp>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// Options for dividing a model into parts that run in sequence.
struct split_options {
    any_policy<partition_category, operator_graph> partition =
        balanced_parts{};                             ///< the part of each node
    any_policy<cost_category> cost = cost_in_bytes{}; ///< what a node adds to its part
    cost_options work{};                              ///< how a node's work is counted
    bool merge = false;                               ///< merge levels of a part where possible
    data_placement data = data_placement::copy;       ///< of external weights
    bool force = false;                               ///< replace existing files
    std::vector<std::string> spared{};                ///< files never replaced, like the model
    bool sync = true;                                 ///< wait until the bytes are on the medium
    type_inference infer{}; ///< called at most once, if the type of a boundary value is unknown
    std::function<void(std::string_view)> note{}; ///< receives notes for the user
};

namespace detail {

/// Returns: the names of the parts of a split model. Complexity: O(length).
[[nodiscard]] inline std::vector<split_part_names> name_parts(const attributed_model& opened,
                                                              std::span<const split_part> parts) {
    const auto digits = std::to_string(parts.size() - 1).size();
    std::vector<split_part_names> names;
    for (std::size_t p = 0; p < parts.size(); ++p) {
        const auto module = parts[p].module;
        const auto tag = opened.tags().tags.text(module);
        const auto path = opened.modules().path(module);
        const auto tagged = opened.modules().path(opened.tags().tags.selected(module)).size();
        const auto below =
            path.size() == tagged ? "" : "/" + path.substr(tagged + (tagged == 0 ? 0 : 1));
        auto number = std::to_string(p);
        number.insert(0, digits - number.size(), '0');
        names.push_back({number + "-" + as_file_name(tag + below) + ".onnx", path, tag});
    }
    return names;
}

/// Returns: the parts listed by the manifest in a folder that are files directly in it; none
/// without a readable manifest.
[[nodiscard]] inline std::vector<std::string> parts_in(const std::filesystem::path& folder) {
    std::vector<std::string> parts;
    std::error_code missing;
    if (!std::filesystem::is_regular_file(folder / split_manifest_name, missing)) {
        return parts;
    }
    try {
        const mapped_file text((folder / split_manifest_name).string());
        for (const auto& part : read_split_manifest(text.bytes(), text.path()).parts) {
            if (std::filesystem::path(part.at.file).filename() == part.at.file &&
                part.at.file.ends_with(".onnx")) {
                parts.push_back(part.at.file);
            }
        }
    } catch (const error&) {
        parts.clear(); // the files may not be ours
    }
    return parts;
}

/// Checks that a split model can be written to a folder.
/// Returns: the parts of the split model to be replaced, which still exist.
/// Throws: as `check_replaceable` and `refuse_own_data`.
[[nodiscard]] inline std::vector<std::string> make_room(const wire_model& model,
                                                        const std::string& folder,
                                                        std::span<const split_part_names> names,
                                                        const weight_store& store, bool force,
                                                        std::span<const std::string> spared) {
    const std::filesystem::path path(folder);
    auto old = force ? parts_in(path) : std::vector<std::string>();
    const auto check = [&](std::string_view name) {
        refuse_own_data(model, (path / name).string());
        check_replaceable((path / name).string(), force, spared);
    };
    for (const auto& part : names) {
        check(part.file);
    }
    for (auto name : {split_skeleton_name, split_weights_name, split_manifest_name}) {
        check(name);
    }
    check_whole_files(model, store.whole_files(), (path / split_weights_name).string(), force,
                      spared);
    return old;
}

/// Removes the parts of a replaced model, except those overwritten by new ones, and `spared`.
inline void remove_old(const std::string& folder, std::span<const std::string> old,
                       std::span<const split_part_names> names,
                       std::span<const std::string> spared) {
    for (const auto& part : old) {
        const auto path = std::filesystem::path(folder) / part;
        const bool replaced = std::any_of(names.begin(), names.end(),
                                          [&](const auto& name) { return name.file == part; });
        if (!replaced && !is_one_of(path, spared)) {
            std::error_code ignored;
            std::filesystem::remove(path, ignored);
        }
    }
}

} // namespace detail

/// Divides a model into parts that run in sequence, and writes them to a folder: a file per part,
/// their weights, and a manifest for `join_folder`. A call of a function stands for its body.
///
/// Returns: the manifest. Throws: `error` of `refused` if the model cannot be divided so, also for
/// a value of unknown type between parts; of `exists` for a file that may not be replaced (`force`
/// also removes the parts of a replaced split model), of `refused` for the model or another file to
/// spare; of `cannot_write`, of `too_large`; as `place_external_data`. Existing files stay if the
/// model or its external data cannot be read. Complexity: O(bytes).
inline split_manifest split_to_folder(const attributed_model& opened, const std::string& folder,
                                      const split_options& options = {}) {
    const auto& model = opened.model();
    const auto& source = opened.file().path();
    cut_planner<> cuts(model, {}, detail::find_random_nodes(model));
    const model_loads loads(model, opened.modules(), opened.tags().attributions, options.work);
    split_planner<any_policy<cost_category>> planner(model, cuts, opened.modules().index(),
                                                     opened.tags().attributions, loads.all(),
                                                     options.cost);
    auto parts = planner.divide(options.partition, options.merge);
    detail::boundary_types types(model, options.infer);
    for (auto& part : parts) {
        const auto reason = types.refuse_unknown(part.plan, cuts.contents());
        if (part.plan.refusal != cut_refusal::none) {
            STEMMA_THROW(error(error_code::refused, source, "split",
                               reason.empty() ? to_string(part.plan.refusal) : reason));
        }
    }
    const auto names = detail::name_parts(opened, parts);
    const auto inside = (std::filesystem::path(folder) / "x").string();
    const bool beside = detail::folder_of(inside) == detail::folder_of(source);
    detail::weight_store store(model, opened.file(), std::string(detail::split_weights_name),
                               options.data == data_placement::copy && !beside);
    detail::cut_writer<> cut_writer(model, cuts.contents(), types.types());
    detail::split_writer<> writer(model, opened.file(), cut_writer, types.types(), store);
    writer.place(parts);
    if (!store.empty() && !store.takes_external() &&
        detail::range::contains(external_files(model), detail::split_weights_name)) {
        STEMMA_THROW(error(error_code::refused, source, "external data",
                           "is in a file with the name of the parts' file of weights"));
    }
    auto spared = options.spared;
    spared.push_back(source);
    const auto old = detail::make_room(model, folder, names, store, options.force, spared);
    const auto leave_nothing = detail::make_folder(folder);
    if (options.data == data_placement::link && !beside) {
        detail::place_external_data(model, inside, options.data, options.force, options.sync);
    }
    auto manifest = writer.write(parts, names, folder, options.sync);
    detail::remove_old(folder, old, names, spared);
    if (options.note &&
        std::any_of(parts.begin(), parts.end(), [](const auto& p) { return p.plan.random; })) {
        options.note("some operators are not deterministic");
    }
    if (const auto* cost = loads.counted(); cost != nullptr && options.note) {
        for (const auto& text : cost->gaps()) {
            options.note(text);
        }
    }
    return manifest;
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_CUT_SPLIT_TO_FOLDER_HPP
