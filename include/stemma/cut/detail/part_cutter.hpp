// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CUT_DETAIL_PART_CUTTER_HPP
#define STEMMA_CUT_DETAIL_PART_CUTTER_HPP

#include <stemma/config.hpp>
#include <stemma/core/detail/on_failure.hpp>
#include <stemma/core/id.hpp>
#include <stemma/cut/cut.hpp>
#include <stemma/cut/cut_options.hpp>
#include <stemma/cut/cut_plan.hpp>
#include <stemma/cut/cut_planner.hpp>
#include <stemma/cut/detail/boundary_types.hpp>
#include <stemma/cut/detail/cut_writer.hpp>
#include <stemma/cut/detail/part_files.hpp>
#include <stemma/cut/detail/random_nodes.hpp>
#include <stemma/cut/detail/weight_store.hpp>
#include <stemma/cut/detail/write_cuts.hpp>
#include <stemma/error.hpp>
#include <stemma/fold/detail/inlined_model.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/io/mapped_file.hpp>
#include <stemma/io/output_file.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/detail/module_members.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/tag_table.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/open/attributed_model.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The basis for cutting a model, independent of its modules.
struct cut_basis {
    cut_basis(const wire_model& model, const cut_options& options)
        : policy(options.policy.value_or(
              standard_cut{dependence::weight, options.many ? gap_rule::runs : gap_rule::refuse}))
        , planner(model, policy, find_random_nodes(model), options.given)
        , types(model, options.infer)
        , writer(model, planner.contents(), types.types(), policy) {
        static_cast<void>(planner.facts(0));
        types.prepare(options.many);
    }

    any_policy<cut_category> policy;
    cut_planner<any_policy<cut_category>> planner;
    boundary_types types;
    cut_writer<any_policy<cut_category>> writer;
};

/// A model to cut, with the attributions of its nodes.
struct cut_source {
    explicit cut_source(const attributed_model& opened)
        : path(opened.file().path())
        , file(opened.file())
        , model(opened.model())
        , modules(opened.modules())
        , tags(opened.tags().tags)
        , attributions(opened.tags().attributions) {}

    /// The same with functions inlined, in `inlined`, whose nodes belong to the same modules.
    cut_source(const cut_source& whole, const inlined_model& inlined)
        : path(whole.path)
        , file(inlined.file())
        , model(inlined.model())
        , modules(whole.modules)
        , tags(whole.tags)
        , attributions(inlined.attributions()) {}

    const std::string& path; // of the opened model
    const mapped_file& file;
    const wire_model& model;
    const module_tree& modules;
    const tag_table& tags;
    const std::vector<attribution>& attributions;
};

/// Returns: the name of a module in messages. Complexity: O(length).
[[nodiscard]] inline std::string module_name(const module_tree& modules, id module) {
    return module == 0 ? "the root" : modules.path(module);
}

/// Returns: the origin of a part, for its metadata.
[[nodiscard]] inline std::string origin_of(const cut_source& source, const cut_record& record) {
    string_sink origin;
    json_writer json(origin);
    json.begin_object(true);
    json.member("schema", "stemma.cut/1");
    json.member("source", std::filesystem::path(source.path).filename().string());
    json.member("module", source.modules.path(record.module));
    json.member("tag", source.tags.text(record.module));
    json.member("part", record.part);
    json.end_object();
    json.finish();
    origin.text.pop_back();
    return std::move(origin.text);
}

/// Plans and writes parts of one model.
class part_cutter {
public:
    /// `basis` is that of the same model; parts of many modules go to `folder`, or "" for one.
    /// Requires: all outlive it.
    part_cutter(const cut_options& options, const cut_source& source, cut_basis& basis,
                std::string folder = {})
        : options_(options)
        , source_(source)
        , model_(source.model)
        , basis_(basis)
        , folder_(std::move(folder))
        , members_(source.modules.index(), source.attributions) {}

    /// Parts in functions are left out, and their modules noted by place in the list.
    void leave_functions() { leaves_functions_ = true; }

    [[nodiscard]] const std::vector<std::size_t>& left() const noexcept { return pending_; }

    /// Returns: the number of nodes in or below a module.
    [[nodiscard]] std::size_t count(id module) const { return members_.count(module); }

    /// Returns: the nodes in or below a module, with their calls.
    [[nodiscard]] cut_request request_of(id module) const {
        auto nodes = members_.all(module);
        auto calls = calls_of(module, nodes);
        return {std::move(nodes), std::move(calls)};
    }

    /// Returns: plans for the parts of a module, which only `record_of` may still refuse; none if
    /// functions must be inlined first.
    [[nodiscard]] std::vector<cut_plan> plan(const cut_request& asked) {
        auto plans = basis_.planner.plan(asked.nodes, asked.calls);
        if (leaves(0, plans)) {
            plans.clear();
        }
        return plans;
    }

    /// Cuts nodes of modules into files `path(module, part, count)`, `count` parts each;
    /// `request(i)` gives the nodes of number `i`.
    template <class Request, class Path>
    std::vector<cut_record> cut(const std::vector<id>& modules, Request request, Path path) {
        std::error_code unknown;
        nothing_there_ = !folder_.empty() && std::filesystem::is_empty(folder_, unknown);
        job<Request, Path> task{*this, modules, request, path, {}};
        const on_failure keep_store([&] { commit_store(); }); // for the parts that are in place
        write_cuts(source_.file, basis_.planner, basis_.writer, task, modules.size(),
                   options_.sync);
        commit_store();
        return std::move(task.records);
    }

    /// As above, for all nodes in the modules.
    template <class Path>
    std::vector<cut_record> cut(const std::vector<id>& modules, Path path) {
        return cut(
            modules, [&](std::size_t i) { return request_of(modules[i]); }, path);
    }

    /// Weights of parts go to a store of this name in the folder, or stay in place.
    /// Throws: as `check_replaceable`.
    void use_store(const std::string& folder, const std::string& name, bool takes_external = true) {
        store_path_ = (std::filesystem::path(folder) / name).string();
        check_replaceable(store_path_, options_.force, options_.spared);
        const std::lock_guard lock(mutex_);
        store_.emplace(model_, source_.file, name, takes_external);
    }

    /// The same, in a file beside the only part.
    void use_store_of(const std::string& part) {
        use_store(folder_of(part).string(),
                  std::filesystem::path(part).filename().string() + ".data");
    }

    /// Writes what was added to the store.
    void save_store() {
        weight_store* store = nullptr;
        {
            const std::lock_guard lock(mutex_);
            store = store_ ? &*store_ : nullptr;
        }
        if (store != nullptr) {
            store->save(store_path_, options_.sync);
        }
    }

    /// Refuses a plan that cannot be written. Returns: the record of the part.
    [[nodiscard]] cut_record record_of(id module, std::size_t part, cut_plan& plan) {
        cut_record record;
        record.module = module;
        record.part = part;
        for (auto value : plan.inputs) {
            record.inputs.push_back(basis_.policy.boundary_name(model_.value_name(value)));
        }
        for (auto value : plan.outputs) {
            record.outputs.push_back(basis_.policy.boundary_name(model_.value_name(value)));
        }
        check_names(plan, record);
        record.exact = !plan.random;
        record.text = basis_.types.refuse_unknown(plan, basis_.planner.contents());
        record.refusal = plan.refusal;
        if (record.is_refused()) {
            record.text = why_refused(plan, record.text);
        }
        return record;
    }

    /// Notes about a part for users.
    void tell(const cut_plan& plan) const {
        if (plan.sorted && options_.note) {
            options_.note("nodes were not in order; they are in the part");
        }
    }

private:
    void commit_store() {
        if (store_) {
            store_->commit(options_.sync);
        }
    }

    /// A `cut_job`.
    template <class Request, class Path>
    struct job {
        part_cutter& to;
        const std::vector<id>& modules;
        Request nodes_of;
        Path path;
        std::vector<cut_record> records;

        [[nodiscard]] cut_request request(std::size_t i) const { return nodes_of(i); }

        cut_target target(std::size_t i, std::size_t part, std::vector<cut_plan>& plans) {
            cut_target target;
            if (part == 0 ? to.leaves(i, plans) : to.has_left(i)) {
                return target;
            }
            if (part == 0 && to.folder_.empty() && plans.size() > 1) { // files that nobody named
                for (std::size_t p = 0; p < plans.size(); ++p) {
                    check_replaceable(path(modules[i], p, plans.size()), to.options_.force,
                                      to.options_.spared);
                }
            }
            auto record = to.record_of(modules[i], part, plans[part]);
            if (!record.is_refused()) {
                record.file = path(modules[i], part, plans.size());
                target = to.target_of(plans[part], record);
            }
            records.push_back(std::move(record));
            return target;
        }

        void save() { to.save_store(); }

        void done(std::size_t, std::size_t, const cut_plan& plan) { to.tell(plan); }
    };

    /// A policy with colliding names would produce an invalid model.
    void check_names(const cut_plan& plan, const cut_record& record) const {
        const std::array lists{std::pair(&plan.inputs, &record.inputs),
                               std::pair(&plan.outputs, &record.outputs)};
        std::map<std::string_view, id> value_of;
        bool renamed = false;
        for (const auto& [values, names] : lists) {
            for (std::size_t i = 0; i < values->size(); ++i) {
                renamed = renamed || (*names)[i] != model_.value_name((*values)[i]);
            }
        }
        for (const auto& [values, names] : lists) {
            for (std::size_t i = 0; renamed && i < values->size(); ++i) {
                const auto entry = value_of.emplace((*names)[i], (*values)[i]).first;
                if ((*names)[i].empty() || entry->second != (*values)[i]) {
                    refuse_name((*names)[i]);
                }
            }
        }
        if (!renamed) {
            return;
        }
        const auto look = [&](id value) {
            const auto entry = value_of.find(model_.value_name(value));
            if (entry != value_of.end() && entry->second != value &&
                std::find(plan.outputs.begin(), plan.outputs.end(), value) == plan.outputs.end()) {
                refuse_name(std::string(entry->first));
            }
        };
        std::for_each(plan.initializers.begin(), plan.initializers.end(), look);
        for (auto node : plan.nodes) {
            for (auto value : model_.outputs(node)) {
                look(value);
            }
        }
    }

    [[noreturn]] void refuse_name(const std::string& name) const {
        STEMMA_THROW(error(error_code::refused, source_.path, "cut policy",
                           name.empty() ? "a value loses its name at the boundary"
                                        : "two values are named '" + name + "' in one part"));
    }

    /// Whether `leaves` found that for the module.
    [[nodiscard]] bool has_left(std::size_t i) const noexcept {
        return !pending_.empty() && pending_.back() == i;
    }

    /// Whether functions must be inlined first, because parts are inside them or need types that
    /// only calls reveal. Complexity: that of all plans.
    [[nodiscard]] bool leaves(std::size_t i, std::vector<cut_plan>& plans) {
        if (!leaves_functions_ || plans.empty()) {
            return false;
        }
        if (!has_left(i)) {
            const auto& contents = basis_.planner.contents();
            const bool inside = std::any_of(plans.begin(), plans.end(), [&](auto& plan) {
                const auto root = contents.root(plan.graph);
                auto tried = plan;
                static_cast<void>(basis_.types.refuse_unknown(tried, contents));
                return model_.graph(root).kind == graph_kind::function ||
                       tried.refusal == cut_refusal::unknown_type;
            });
            if (!inside) {
                return false;
            }
            pending_.push_back(i);
        }
        return true;
    }

    /// A module list is not called itself; its parent is.
    [[nodiscard]] id nearest_called(id module) const {
        const auto& modules = source_.modules;
        while (module != no_id && modules.calls(module) == 0) {
            module = modules.index().parent(module);
        }
        return module;
    }

    /// For a module that is called several times: the call of each node.
    [[nodiscard]] std::vector<id> calls_of(id module, const std::vector<id>& nodes) const {
        std::vector<id> calls;
        const auto& modules = source_.modules;
        const auto called = nearest_called(module);
        if (called != no_id && modules.calls(called) != no_id && modules.calls(called) > 1) {
            for (auto node : nodes) {
                calls.push_back(call_of(called, source_.attributions[node],
                                        [&](id m) { return modules.calls(m); }));
            }
        }
        return calls;
    }

    [[nodiscard]] std::string why_refused(const cut_plan& plan, const std::string& text) const {
        if (plan.refusal == cut_refusal::no_output) {
            return "nothing outside reads its results";
        }
        if (plan.refusal == cut_refusal::cycle) {
            return "it has nodes on a cycle, or after one";
        }
        if (plan.refusal != cut_refusal::non_convex) {
            return text;
        }
        std::string way;
        for (auto node : plan.witness) {
            const auto module = source_.attributions[node].module;
            way.append(way.empty() ? "" : " -> ").append(node_name(model_, node)).append(" (");
            way.append(module_name(source_.modules, module)).append(")");
        }
        return "a path leaves it and returns: " + way;
    }

    [[nodiscard]] cut_target target_of(const cut_plan& plan, const cut_record& record) {
        auto origin = origin_of(source_, record);
        // Only a part of a model near the limit can exceed it.
        if (!store_ && model_.bytes().size() >= std::size_t{1} << 30U) {
            auto writer = basis_.writer; // which other threads copy meanwhile
            if (writer.build(plan, origin).size() >= std::uint64_t{1} << 31U) {
                use_store_of(record.file);
            }
        }
        if (!folder_.empty() && !nothing_there_) {
            check_replaceable(record.file, options_.force, options_.spared);
        }
        return {record.file, std::move(origin), store_ ? &*store_ : nullptr,
                nothing_there_ ? output_file::target_state::absent
                               : output_file::target_state::unknown};
    }

    const cut_options& options_;
    const cut_source& source_;
    const wire_model& model_;
    cut_basis& basis_;
    std::string folder_;
    module_members members_;
    std::mutex mutex_; // while a target makes `store_`, another part may be put in place
    std::optional<weight_store> store_;
    std::string store_path_;
    bool nothing_there_ = false; // the folder is empty before the parts are written
    bool leaves_functions_ = false;
    std::vector<std::size_t> pending_; // places of modules, ascending
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CUT_DETAIL_PART_CUTTER_HPP
