// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CUT_DETAIL_SPLIT_WRITER_HPP
#define STEMMA_CUT_DETAIL_SPLIT_WRITER_HPP

#include <stemma/config.hpp>
#include <stemma/core/detail/on_failure.hpp>
#include <stemma/core/detail/pipeline.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/parallel.hpp>
#include <stemma/cut/detail/cut_writer.hpp>
#include <stemma/cut/detail/split_folder.hpp>
#include <stemma/cut/detail/split_skeleton.hpp>
#include <stemma/cut/detail/weight_store.hpp>
#include <stemma/cut/split_manifest.hpp>
#include <stemma/cut/split_planner.hpp>
#include <stemma/error.hpp>
#include <stemma/io/detail/system_files.hpp>
#include <stemma/io/detail/xxh64.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/io/mapped_file.hpp>
#include <stemma/io/output_file.hpp>
#include <stemma/onnx/detail/message_tree.hpp>
#include <stemma/onnx/detail/splices.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/types/detail/describe_type.hpp>
#include <stemma/types/value_types.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The metadata key of a part's split.
inline constexpr std::string_view split_key = "pkg.stemma.split";

/// The names of the other files of a split model.
inline constexpr std::string_view split_skeleton_name = "skeleton.onnx";
/// The file of shared weights.
inline constexpr std::string_view split_weights_name = "weights.bin";

/// The names of a part.
struct split_part_names {
    std::string file;   ///< in the folder
    std::string module; ///< path of the deepest module that contains it
    std::string tag;    ///< of that module
};

/// Writes a split model: a file per part, one with shared weights, the skeleton, and a manifest for
/// joining.
template <cut_policy Policy = standard_cut>
class split_writer {
public:
    /// `source` is the file of the model; `store` is named `split_weights_name`.
    /// Requires: all outlive the writer; every value between parts has a type.
    split_writer(const wire_model& model, const mapped_file& source, cut_writer<Policy>& cuts,
                 const value_types& types, weight_store& store)
        : model_(model), source_(source), cuts_(cuts), types_(types), store_(store) {}

    /// Gives weights their places in the store, which reads external data. Throws: as
    /// `cut_writer::place_weights`. Complexity: O(fields of initializers).
    void place(std::span<const split_part> parts) {
        for (const auto& part : parts) {
            cuts_.place_weights(part.plan, store_);
        }
    }

    /// Writes everything to `folder`, the manifest last. Requires: `place(parts)` was called. Files
    /// and errors do not depend on the number of threads. Returns: the manifest. Throws: `error` of
    /// `cannot_write`, or of `too_large` for a part of 2 GiB. Complexity: O(bytes); weights are
    /// copied from file to file.
    split_manifest write(std::span<const split_part> parts, std::span<const split_part_names> names,
                         const std::string& folder, bool sync) {
        const auto path = [&](std::string_view file) {
            return (std::filesystem::path(folder) / file).string();
        };
        split_manifest manifest;
        manifest.source.file = std::filesystem::path(source_.path()).filename().string();
        manifest.parts.resize(parts.size());
        const std::size_t workers = std::max(thread_limit::current().most, 1U);
        std::vector<cut_writer<Policy>> writers(workers - 1, cuts_);
        std::vector<std::unique_ptr<output_file>> files(parts.size());
        // The first item is the source, which is only hashed.
        const auto build = [&](std::size_t item, std::size_t worker) {
            if (item == 0) {
                manifest.source.hash = to_hex(xxh64(source_.bytes()));
                return;
            }
            const auto p = item - 1;
            auto& writer = worker == 0 ? cuts_ : writers[worker - 1];
            const auto rope = writer.build(parts[p].plan, origin(p, names[p], manifest.source.file),
                                           &store_, split_key);
            if (rope.size() >= std::uint64_t{1} << 31U) {
                STEMMA_THROW(error(error_code::too_large, path(names[p].file), "",
                                   "the part would have 2 GiB or more without its weights"));
            }
            files[p] = std::make_unique<output_file>(path(names[p].file));
            file_splice splice(source_, *files[p]);
            rope.write(splice);
            files[p]->finish(sync);
        };
        const auto put_in_place = [&](std::size_t item, std::size_t) {
            if (item == 1) { // until all parts are in place, they must not look complete
                std::error_code ignored;
                std::filesystem::remove(path(split_manifest_name), ignored);
            }
            if (item > 0) {
                store_.save(path(split_weights_name), sync);
                files[item - 1]->commit(sync);
                files[item - 1].reset();
            }
        };
        const auto describe = [&](std::size_t item, std::size_t) {
            if (item > 0) {
                const auto p = item - 1;
                manifest.parts[p] = entry_of(parts[p], names[p]);
                manifest.parts[p].at.hash = hash_of(path(names[p].file));
            }
        };
        const on_failure keep_store([&] { store_.commit(sync); }); // for the parts in place
        run_pipeline(parts.size() + 1, {{false, build}, {true, put_in_place}, {false, describe}},
                     {workers, 1, 4});
        manifest.order.resize(parts.size());
        std::iota(manifest.order.begin(), manifest.order.end(), id{0});
        if (!store_.empty()) {
            store_.commit(sync);
            manifest.weights = {std::string(split_weights_name), hash_of(path(split_weights_name))};
        }
        split_skeleton skeleton(model_, parts, store_);
        manifest.skeleton = {std::string(split_skeleton_name),
                             write_rope(skeleton.bytes(), path(split_skeleton_name), sync)};
        manifest.recipe = skeleton.take_recipe();
        find_tensors(parts, manifest);
        output_file output(path(split_manifest_name));
        write_json(output, manifest);
        output.commit(sync);
        return manifest;
    }

private:
    [[nodiscard]] static std::string origin(std::size_t part, const split_part_names& names,
                                            const std::string& source) {
        string_sink text;
        json_writer json(text);
        json.begin_object(true);
        json.member("schema", split_schema);
        json.member("source", source);
        json.member("part", part);
        json.member("module", names.module);
        json.member("tag", names.tag);
        json.end_object();
        json.finish();
        text.text.pop_back();
        return std::move(text.text);
    }

    /// Returns: the hash of the written bytes.
    [[nodiscard]] std::string write_rope(const message_tree& rope, const std::string& path,
                                         bool sync) const {
        output_file output(path);
        file_splice splice(source_, output);
        rope.write(splice);
        output.commit(sync);
        return hash_of(path);
    }

    [[nodiscard]] static std::string hash_of(const std::string& path) {
        return to_hex(xxh64(mapped_file(path).bytes()));
    }

    [[nodiscard]] split_manifest::part_entry entry_of(const split_part& part,
                                                      const split_part_names& names) const {
        const auto positions = [&](const std::vector<id>& nodes) {
            std::vector<id> result;
            result.reserve(nodes.size());
            for (auto node : nodes) {
                result.push_back(model_.position(node));
            }
            return result;
        };
        split_manifest::part_entry entry;
        entry.at.file = names.file;
        entry.module = names.module;
        entry.tag = names.tag;
        entry.level = part.level;
        entry.cost = part.cost;
        entry.nodes = positions(part.nodes);
        entry.clones = positions(part.clones);
        entry.order = positions(part.plan.nodes);
        if (std::is_sorted(entry.order.begin(), entry.order.end())) {
            entry.order.clear();
        }
        for (auto node : part.clones) {
            for (auto value : model_.outputs(node)) {
                entry.cloned_values.emplace_back(model_.value_name(value));
            }
        }
        for (auto value : part.plan.initializers) {
            entry.initializers.emplace_back(model_.value_name(value));
        }
        return entry;
    }

    void find_tensors(std::span<const split_part> parts, split_manifest& manifest) {
        std::map<id, split_manifest::tensor_entry> tensors; // by value
        for (id p = 0; p < parts.size(); ++p) {
            for (auto value : parts[p].plan.outputs) {
                tensors[value].from = p;
            }
            for (auto value : parts[p].plan.inputs) {
                tensors[value].to.push_back(p);
            }
        }
        for (auto value : model_.graph(0).outputs) {
            if (value != no_id) {
                tensors[value].output = true;
            }
        }
        for (auto& [value, tensor] : tensors) {
            tensor.name = model_.value_name(value);
            if (const auto type = types_.type_of(value)) {
                auto described = describe_type(*type);
                tensor.type = std::move(described.name);
                tensor.shape = std::move(described.shape);
            }
            manifest.tensors.push_back(std::move(tensor));
        }
    }

    const wire_model& model_;
    const mapped_file& source_;
    cut_writer<Policy>& cuts_;
    const value_types& types_;
    weight_store& store_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CUT_DETAIL_SPLIT_WRITER_HPP
