// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CUT_MODEL_CUTTER_HPP
#define STEMMA_CUT_MODEL_CUTTER_HPP

#include <stemma/config.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/ids.hpp>
#include <stemma/cut/cut_options.hpp>
#include <stemma/cut/cut_plan.hpp>
#include <stemma/cut/detail/part_cutter.hpp>
#include <stemma/cut/detail/part_files.hpp>
#include <stemma/cut/detail/write_cuts.hpp>
#include <stemma/cut/model_part.hpp>
#include <stemma/error.hpp>
#include <stemma/fold/detail/inlined_model.hpp>
#include <stemma/io/detail/system_files.hpp>
#include <stemma/io/output_file.hpp>
#include <stemma/onnx/data_placement.hpp>
#include <stemma/onnx/detail/place_external_data.hpp>
#include <stemma/onnx/external_data.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma/record/detail/tag_model.hpp>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// What to cut out of a model: a module with its descendants, or some nodes.
struct cut_subject {
    index_arg<module_id> module = no_id; ///< if there are no nodes
    std::vector<id> nodes{};             ///< in any order
};

/// Cuts modules and sets of nodes out of a model as standalone, runnable models.
///
/// Parts inside functions are cut out of the model with its functions inlined. Requires: the models
/// keep their evidence.
class model_cutter {
public:
    /// Computes what needs no attribution. Requires: the model outlives it.
    /// Complexity: O(nodes + edges).
    explicit model_cutter(const wire_model& model, cut_options options = {})
        : options_(sparing(std::move(options), model.file()))
        , basis_(std::make_shared<detail::cut_basis>(model, options_)) {}

    /// Cuts one part out. Requires, here and below: `opened` has the model of this cutter.
    /// Throws: `error` of `refused` if that is impossible or would take several parts, and for a
    /// node or module that the model does not have; of
    /// `not_found` for a module without nodes.
    /// Complexity: that of `cut_planner::plan`.
    [[nodiscard]] model_part cut(const attributed_model& opened, const cut_subject& subject) {
        auto parts = cut_all(opened, subject);
        if (parts.size() > 1) {
            STEMMA_THROW(error(error_code::refused, opened.file().path(),
                               detail::module_name(opened.modules(), parts.front().record_.module),
                               "makes " + std::to_string(parts.size()) + " parts, not one"));
        }
        return std::move(parts.front());
    }

    /// Cuts out as many parts as the policy requires. Returns: at least one.
    /// Throws: as above. Complexity: as above.
    [[nodiscard]] std::vector<model_part> cut_all(const attributed_model& opened,
                                                  cut_subject subject) {
        check(opened, subject);
        auto from = std::make_shared<model_part::origin>(
            model_part::origin{nullptr, detail::cut_source(opened), basis_});
        detail::part_cutter cutter(options_, from->source, *basis_);
        const auto module = module_of(opened, subject, cutter);
        if (!subject.nodes.empty()) {
            return parts_of(cutter, cutter.plan({subject.nodes, {}}), module, std::move(from));
        }
        if (detail::has_foreign_functions(opened.model())) {
            cutter.leave_functions();
        }
        auto plans = cutter.plan(cutter.request_of(module));
        if (cutter.left().empty()) {
            return parts_of(cutter, std::move(plans), module, std::move(from));
        }
        auto inlined = std::make_shared<detail::inlined_model>(opened, "");
        auto basis = std::make_shared<detail::cut_basis>(inlined->model(), options_);
        auto opened_up = std::make_shared<model_part::origin>(
            model_part::origin{inlined, detail::cut_source(from->source, *inlined), basis});
        detail::part_cutter others(options_, opened_up->source, *basis);
        return parts_of(others, others.plan(others.request_of(module)), module,
                        std::move(opened_up));
    }

    /// Cuts parts out and writes them to `path`, which is replaced, or, if there are several, with
    /// numbers before the extension.
    /// Returns: the records of written and refused parts.
    /// Throws: `error` of `not_found` for a module without nodes, of `exists` for a file of weights
    /// or with a number that may not be replaced, of `cannot_write`, of `too_large`; of `refused`
    /// for a node or module that the model does not have, if `path` has the model's weights, and
    /// for a numbered file that is to be spared, like the model.
    /// Complexity: O(bytes).
    std::vector<cut_record> write(const attributed_model& opened, cut_subject subject,
                                  const std::string& path) {
        check(opened, subject);
        detail::refuse_own_data(opened.model(), path);
        const detail::cut_source source(opened);
        detail::part_cutter parts(options_, source, *basis_);
        const auto module = module_of(opened, subject, parts);
        const bool beside = is_beside(path, opened);
        const bool external = !beside && !external_files(opened.model()).empty();
        if (external && options_.data == data_placement::link) {
            detail::place_external_data(opened.model(), path, options_.data, options_.force,
                                        options_.sync);
        }
        const bool copies = external && options_.data == data_placement::copy;
        if (copies) {
            check_whole_files(opened.model(), path);
        }
        const auto place_weights = [&](detail::part_cutter& to, std::string_view) {
            if (copies) {
                to.use_store_of(path);
            }
        };
        const auto path_of = [&](id, std::size_t part, std::size_t count) {
            const std::filesystem::path one(path);
            return count == 1
                       ? path
                       : (one.parent_path() / (one.stem().string() + "." + std::to_string(part) +
                                               one.extension().string()))
                             .string();
        };
        if (subject.nodes.empty()) {
            return cut_modules(opened, source, parts, {module}, path, {}, path_of, place_weights);
        }
        place_weights(parts, {});
        return parts.cut(
            {module},
            [&](std::size_t) {
                return detail::cut_request{subject.nodes, {}};
            },
            path_of);
    }

    /// Cuts modules out and writes them to a folder, with an `index.json` (see docs/formats.md) and
    /// a shared file of weights.
    /// Returns: the records of written and refused parts, by module.
    /// Throws: `error` of `exists` for a file that may not be replaced, and of `refused` for the
    /// model or another file to spare, before anything is written; of `cannot_write`, of
    /// `too_large`. Complexity: O(bytes).
    std::vector<cut_record> write_all(const attributed_model& opened, std::span<const id> modules,
                                      const std::string& folder) {
        const std::vector<id> wanted(modules.begin(), modules.end());
        const auto leave_nothing = detail::make_folder(folder);
        const auto in_folder = [&](std::string_view name) {
            return (std::filesystem::path(folder) / name).string();
        };
        const detail::cut_source source(opened);
        detail::file_namer names(source.modules, source.tags);
        const bool has_functions = detail::has_foreign_functions(opened.model());
        detail::check_replaceable(in_folder("index.json"), options_.force, options_.spared);
        names.check(wanted, folder, options_.force, options_.spared);
        if (has_functions) {
            detail::check_replaceable(in_folder("weights.inlined.bin"), options_.force,
                                      options_.spared);
        }
        detail::part_cutter parts(options_, source, *basis_, folder);
        const auto inside = in_folder("x");
        const bool beside = is_beside(inside, opened);
        const bool external = !external_files(opened.model()).empty();
        const bool link = options_.data == data_placement::link;
        if (link && external) {
            detail::place_external_data(opened.model(), inside, options_.data, options_.force,
                                        options_.sync);
        } else if (external && !beside && options_.data == data_placement::copy) {
            check_whole_files(opened.model(), inside);
        }
        const auto place_weights = [&](detail::part_cutter& to, std::string_view inlined) {
            if (!external || (!link && !beside)) {
                to.use_store(folder, "weights" + std::string(inlined) + ".bin",
                             options_.data != data_placement::keep);
            }
        };
        const auto path_of = [&](id m, std::size_t part, std::size_t count) {
            return in_folder(names.name(m, part, count));
        };
        const auto records =
            cut_modules(opened, source, parts, wanted, inside, folder, path_of, place_weights);
        output_file index(in_folder("index.json"));
        write_json(index, records, std::filesystem::path(source.path).filename().string(),
                   source.modules, source.tags);
        index.commit(options_.sync);
        return records;
    }

private:
    [[nodiscard]] static cut_options sparing(cut_options options, std::string model) {
        options.spared.push_back(std::move(model));
        return options;
    }

    /// Sorts the nodes. Throws: `error` of `refused` if something is not of the model.
    static void check(const attributed_model& opened, cut_subject& subject) {
        auto& nodes = subject.nodes;
        nodes = detail::range::each_once(std::move(nodes));
        const auto refuse = [&](std::string_view what, id number) {
            STEMMA_THROW(
                error(error_code::refused, opened.file().path(), "cut",
                      "the model has no " + std::string(what) + " " + std::to_string(number)));
        };
        if (!nodes.empty() && nodes.back() >= opened.model().node_count()) {
            refuse("node", nodes.back());
        }
        if (nodes.empty() && subject.module >= opened.modules().size()) {
            refuse("module", subject.module);
        }
    }

    /// Cuts modules out with `parts`; those that need nodes of called functions come from a copy
    /// of the model with its calls inlined. `place_weights(cutter, infix)` prepares each of the
    /// two. Returns: the records by module.
    template <class PathOf, class PlaceWeights>
    std::vector<cut_record>
    cut_modules(const attributed_model& opened, const detail::cut_source& source,
                detail::part_cutter& parts, const std::vector<id>& wanted, const std::string& near,
                const std::string& folder, PathOf path_of, PlaceWeights place_weights) {
        place_weights(parts, "");
        if (detail::has_foreign_functions(opened.model())) {
            parts.leave_functions();
        }
        auto records = parts.cut(wanted, path_of);
        if (parts.left().empty()) {
            return records;
        }
        const detail::inlined_model inlined(opened, near);
        const detail::cut_source inside(source, inlined);
        detail::cut_basis basis(inlined.model(), options_);
        detail::part_cutter others(options_, inside, basis, folder);
        place_weights(others, ".inlined");
        std::vector<id> remaining;
        for (auto i : parts.left()) {
            remaining.push_back(wanted[i]);
        }
        const auto more = others.cut(remaining, path_of);
        records.insert(records.end(), more.begin(), more.end());
        std::stable_sort(records.begin(), records.end(),
                         [](const auto& a, const auto& b) { return a.module < b.module; });
        return records;
    }

    /// Throws: as `check_replaceable` for files that parts share as a whole.
    void check_whole_files(const wire_model& model, const std::string& part) const {
        detail::check_whole_files(model, detail::nested_external_files(model), part, options_.force,
                                  options_.spared);
    }

    [[nodiscard]] static bool is_beside(const std::string& path, const attributed_model& opened) {
        return detail::folder_of(path) == detail::folder_of(opened.file().path());
    }

    /// Returns: the module, or the common ancestor of the nodes.
    [[nodiscard]] static id module_of(const attributed_model& opened, const cut_subject& subject,
                                      const detail::part_cutter& cutter) {
        const auto& attributions = opened.tags().attributions;
        if (!subject.nodes.empty()) {
            auto module = attributions[subject.nodes.front()].module;
            for (auto node : subject.nodes) {
                module = opened.modules().index().lca(module, attributions[node].module);
            }
            return module;
        }
        if (subject.module == no_id || cutter.count(subject.module) == 0) {
            STEMMA_THROW(
                error(error_code::not_found, opened.file().path(), "",
                      subject.module == no_id
                          ? "no nodes to cut out"
                          : "module '" + opened.modules().path(subject.module) + "' has no nodes"));
        }
        return subject.module;
    }

    [[nodiscard]] std::vector<model_part>
    parts_of(detail::part_cutter& cutter, std::vector<cut_plan> plans, id module,
             std::shared_ptr<const model_part::origin> from) const {
        std::vector<model_part> parts;
        for (std::size_t p = 0; p < plans.size(); ++p) {
            auto record = cutter.record_of(module, p, plans[p]);
            if (record.is_refused()) {
                const auto& source = from->source;
                STEMMA_THROW(error(error_code::refused, source.path,
                                   detail::module_name(source.modules, module), record.text));
            }
            cutter.tell(plans[p]);
            parts.push_back(model_part(from, std::move(plans[p]), std::move(record), options_));
        }
        return parts;
    }

    cut_options options_;
    std::shared_ptr<detail::cut_basis> basis_;
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_CUT_MODEL_CUTTER_HPP
