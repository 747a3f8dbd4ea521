// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_NUMERICS_ISOLATE_MODULES_HPP
#define STEMMA_NUMERICS_ISOLATE_MODULES_HPP

#include <stemma/config.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/cut/cut_options.hpp>
#include <stemma/cut/cut_plan.hpp>
#include <stemma/cut/detail/part_files.hpp>
#include <stemma/cut/model_cutter.hpp>
#include <stemma/error.hpp>
#include <stemma/io/detail/system_files.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/io/mapped_file.hpp>
#include <stemma/io/output_file.hpp>
#include <stemma/model/module_lookup.hpp>
#include <stemma/numerics/compare_numerics.hpp>
#include <stemma/numerics/detail/npz.hpp>
#include <stemma/numerics/pair_values.hpp>
#include <stemma/numerics/value_file.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// A part of the second model to run on values of the first.
struct isolated_part {
    id module = no_id;     ///< of the first model
    std::string file{};    ///< in the folder
    std::string refusal{}; ///< why it cannot be isolated, or ""
    cut_record cut{};      ///< of the second model
};

namespace detail {

inline constexpr std::string_view isolation_file = "isolate.json";
inline constexpr std::string_view isolation_inputs = "inputs.npz";
inline constexpr std::string_view isolation_results = "results.npz";

/// Implements `isolate_modules`.
class module_isolator {
public:
    module_isolator(const observed_model& a, const observed_model& b, const numerics_report& report)
        : a_(a), b_(b), report_(report) {
        for (const auto& one : report.values) {
            mine_.emplace(one.pair.other, a.opened->model().value_name(one.pair.value));
        }
        const auto& model = a.opened->model();
        for (const auto value : model.graph(0).inputs) {
            if (value != no_id) {
                mine_.emplace(model.value_name(value), model.value_name(value));
            }
        }
    }

    [[nodiscard]] std::vector<isolated_part> write(const attributed_model& second,
                                                   const std::string& folder, cut_options options) {
        std::vector<isolated_part> parts;
        const auto module_of = modules_of(second, parts);
        std::vector<id> modules;
        for (const auto& [other, module] : module_of) {
            modules.push_back(other);
        }
        options.many = true;
        options.given = [this](std::string_view name) { return is_known(name); };
        options.spared.push_back(a_.opened->file().path());
        options.spared.push_back(second.file().path());
        for (auto name : {isolation_file, isolation_inputs, isolation_results}) {
            check_replaceable((std::filesystem::path(folder) / name).string(), options.force,
                              options.spared);
        }
        model_cutter cutter(second.model(), std::move(options));
        std::set<id> cut;
        for (auto& record : cutter.write_all(second, modules, folder)) {
            cut.insert(record.module);
            isolated_part part;
            part.module = module_of.at(record.module);
            part.file = std::filesystem::path(record.file).filename().string();
            part.refusal = record.is_refused() ? record.text : missing_input(record);
            part.cut = std::move(record);
            parts.push_back(std::move(part));
        }
        for (const auto& [other, module] : module_of) {
            if (!cut.contains(other)) {
                parts.push_back({module, {}, "the other model has no nodes of this module", {}});
            }
        }
        detail::range::stable_sort_by(parts, &isolated_part::module);
        remove_results(folder);
        write_inputs(parts, folder);
        write_manifest(parts, folder);
        return parts;
    }

private:
    /// Returns: by module of the second model the out-of-bounds one of the first. Adds those
    /// that it lacks to `refused`.
    [[nodiscard]] std::map<id, id> modules_of(const attributed_model& second,
                                              std::vector<isolated_part>& refused) const {
        std::map<id, id> module_of;
        const module_lookup paths(second.modules());
        for (const auto& one : report_.modules) {
            if (one.first == no_id) {
                continue;
            }
            const auto other = find_module(paths, a_.opened->modules().path(one.module));
            if (other == no_id) {
                refused.push_back(
                    {one.module, {}, "the other model has no module with this path", {}});
            } else {
                module_of.emplace(other, one.module);
            }
        }
        return module_of;
    }

    /// Removes what a runner wrote for other parts. Throws: `error` of `cannot_write`.
    static void remove_results(const std::string& folder) {
        const auto path = (std::filesystem::path(folder) / isolation_results).string();
        std::error_code failed;
        std::filesystem::remove(path, failed);
        if (failed) {
            STEMMA_THROW(error(error_code::cannot_write, path, "", failed.message()));
        }
    }

    /// Whether the first run has a value for one of the second model.
    [[nodiscard]] bool is_known(std::string_view name) const {
        const auto mine = mine_.find(name);
        return mine != mine_.end() && a_.values->holds(mine->second);
    }

    [[nodiscard]] std::string missing_input(const cut_record& record) const {
        if (!record.exact) {
            return "it contains a random operator";
        }
        for (const auto& name : record.inputs) {
            if (!is_known(name)) {
                return "the first run has no value for its input '" + name + "'";
            }
        }
        return {};
    }

    void write_inputs(std::vector<isolated_part>& parts, const std::string& folder) const {
        const auto path = (std::filesystem::path(folder) / isolation_inputs).string();
        output_file file(path);
        npz_writer out(file, path);
        std::set<std::string> written;
        for (auto& part : parts) {
            for (const auto& name : part.cut.inputs) {
                if (!part.refusal.empty() || written.contains(name)) {
                    continue;
                }
                const auto& mine = mine_.at(name);
                const auto value = a_.values->find(mine);
                const auto other = b_.values->find(name);
                const auto type = other ? other->data_type() : value->data_type();
                const auto bytes = value->bytes_as(type);
                if (!bytes) {
                    part.refusal = "its input '" + name + "' has elements of another kind";
                    break;
                }
                out.add(name, type, value->dims(), *bytes);
                a_.values->release(mine);
                written.insert(name);
            }
        }
        out.finish();
        file.commit();
    }

    void write_manifest(const std::vector<isolated_part>& parts, const std::string& folder) const {
        output_file file((std::filesystem::path(folder) / isolation_file).string());
        detail::write_document(file, "stemma.isolate/1", [&](auto& json) {
            json.member("model",
                        std::filesystem::path(b_.opened->model().file()).filename().string());
            json.member("inputs", isolation_inputs);
            json.member("results", isolation_results);
            json.objects("parts", parts, [&](const auto& part) {
                json.member("module", a_.opened->modules().path(part.module));
                json.key("file");
                part.refusal.empty() ? json.value(part.file) : json.null();
                json.key("reason");
                part.refusal.empty() ? json.null() : json.value(part.refusal);
                json.list("inputs", part.cut.inputs, [&](const auto& name) { json.value(name); });
                json.list("outputs", part.cut.outputs, [&](const auto& name) { json.value(name); });
            });
        });
        file.commit();
    }

    const observed_model& a_;
    const observed_model& b_;
    const numerics_report& report_;
    std::map<std::string, std::string, std::less<>> mine_; // names in b: names in a
};

} // namespace detail

/// Prepares to distinguish modules that add errors from those that pass them on: cuts the
/// out-of-bounds modules out of the second model, and writes them to a folder with `inputs.npz`,
/// their inputs from the first run, and `isolate.json`, which says what to run. A runner
/// (docs/numerics.md) writes the results beside them, for `add_isolated`.
///
/// Existing files in the folder are replaced, and a runner's results removed, only with
/// `cut_options::force`. Requires: the second model keeps its evidence.
/// Returns: the parts, including those that cannot run.
/// Throws: as `model_cutter::write_all`, also for these files; `error` of `too_large` for 4 GiB of
/// inputs.
/// Complexity: O(bytes).
inline std::vector<isolated_part> isolate_modules(const observed_model& a, const observed_model& b,
                                                  const numerics_report& report,
                                                  const std::string& folder,
                                                  cut_options options = {}) {
    return detail::module_isolator(a, b, report).write(*b.opened, folder, std::move(options));
}

/// Adds the results of isolated modules: from a folder written by `isolate_modules`, with the
/// runner's `results.npz`. A module without the result of an output, or with one of another shape,
/// is not judged. Returns: the number of modules that are.
/// Throws: `error` of `cannot_read` if there are no results, `malformed` or `unsupported`.
/// Complexity: O(bytes of the results).
inline std::size_t add_isolated(numerics_report& report, const observed_model& a,
                                const std::string& folder) {
    const auto path = (std::filesystem::path(folder) / detail::isolation_file).string();
    const mapped_file manifest(path);
    const auto fail = [&](std::string_view why) {
        STEMMA_THROW(error(error_code::malformed, path, "", why));
    };
    const auto json = nlohmann::json::parse(manifest.bytes(), nullptr, false);
    if (json.is_discarded() || !json.is_object() || !json.contains("schema") ||
        json["schema"] != "stemma.isolate/1" || !json.contains("parts") ||
        !json["parts"].is_array()) {
        fail("is not a stemma.isolate/1 list of parts to run");
    }
    const value_file results((std::filesystem::path(folder) / detail::isolation_results).string());
    std::map<std::string_view, std::string_view> mine; // names in b: names in a
    for (const auto& one : report.values) {
        mine.emplace(one.pair.other, a.opened->model().value_name(one.pair.value));
    }
    std::map<std::string, std::optional<value_difference>> own; // by path of a module
    std::set<std::string> unknown;                              // paths of modules
    for (const auto& part : json["parts"]) {
        if (!part.is_object() || !part.contains("file") || !part.contains("module") ||
            !part["module"].is_string() || !part.contains("outputs") ||
            !part["outputs"].is_array()) {
            fail("a part lacks its module, file or outputs");
        }
        for (const auto& output : part["outputs"]) {
            if (!output.is_string() || !part["file"].is_string()) {
                continue; // it was not run
            }
            const auto name = output.get<std::string>();
            const auto entry = mine.find(name);
            const auto result = results.find(part["file"].get<std::string>() + "#" + name);
            const auto wanted = entry == mine.end() ? std::nullopt : a.values->find(entry->second);
            if (!wanted) {
                continue;
            }
            const auto apart = result ? detail::compare_values(*wanted, *result) : std::nullopt;
            if (apart) {
                auto& worst = own[part["module"].get<std::string>()];
                worst ? worst->merge(*apart) : static_cast<void>(worst = apart);
            } else {
                unknown.insert(part["module"].get<std::string>());
            }
        }
    }
    std::size_t count = 0;
    for (auto& one : report.modules) {
        const auto entry = own.find(a.opened->modules().path(one.module));
        if (entry != own.end() && !unknown.contains(entry->first)) {
            one.own = entry->second;
            one.verdict = detail::verdict_of(one, report.bounds);
            ++count;
        }
    }
    return count;
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_NUMERICS_ISOLATE_MODULES_HPP
