// SPDX-License-Identifier: Apache-2.0
#include "common.hpp"
#include "inlined.hpp"
#include "parts.hpp"
#include "terminal.hpp"

#include <stemma/error.hpp>
#include <stemma/io/file.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/model/module_members.hpp>
#include <stemma/onnx/cut_plan.hpp>
#include <stemma/onnx/cut_planner.hpp>
#include <stemma/onnx/wire/cut_model.hpp>
#include <stemma/onnx/wire/external_data.hpp>
#include <stemma/onnx/wire/random_nodes.hpp>
#include <stemma/onnx/wire/tag_model.hpp>
#include <stemma/onnx/wire/weight_store.hpp>
#include <stemma/onnx/wire/write_cuts.hpp>
#include <stemma/policy/carrier.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

namespace cli {

namespace {

namespace fs = std::filesystem;
using stemma::id;
using stemma::no_id;

struct cut_options {
    common_options common;
    std::string module;
    std::string output;
    std::string folder;
    std::string pull = "weights";
    std::string gaps;
    std::string data = "copy";
    bool all = false;
    bool force = false;
    bool no_sync = false;

    [[nodiscard]] bool to_folder() const noexcept { return !folder.empty(); }
};

/// One part of one module, written or refused.
struct cut_record {
    id module = no_id;
    std::size_t part = 0;
    std::string file; // "" when refused
    std::vector<std::string> inputs;
    std::vector<std::string> outputs;
    std::string status = "written";
    std::string reason;
    std::string text;
    bool exact = true;
};

/// What cutting needs to know of a model, whatever its modules are.
struct cut_basis {
    cut_basis(const cut_options& options, const stemma::wire_model& model)
        : policy{stemma::parse_pull(options.pull).value(),
                 stemma::parse_gap_rule(options.gaps).value()}
        , planner(model, policy, stemma::find_random_nodes(model))
        , types(model)
        , writer(model, planner.contents(), types.types(), policy) {
        static_cast<void>(planner.facts(0));
        types.prepare(options.to_folder());
    }

    stemma::standard_cut policy;
    stemma::cut_planner<> planner;
    boundary_types types;
    stemma::cut_writer<> writer;
};

/// A model that parts are cut out of, and where its nodes belong.
struct cut_source {
    explicit cut_source(const stemma::attributed_model& opened)
        : file(opened.file())
        , model(opened.model())
        , modules(opened.modules())
        , tags(opened.tags().tags)
        , attributions(opened.tags().attributions) {}

    /// The same with its functions put in, `inlined`, whose nodes belong to the same modules.
    cut_source(const cut_source& whole, const inlined_model& inlined)
        : file(inlined.file())
        , model(inlined.model())
        , modules(whole.modules)
        , tags(whole.tags)
        , attributions(inlined.attributions()) {}

    const stemma::mapped_file& file;
    const stemma::wire_model& model;
    const stemma::module_tree& modules;
    const stemma::tag_table& tags;
    const std::vector<stemma::attribution>& attributions;
};

/// Plans and writes parts of one model.
class cutter {
public:
    /// `basis` is that of the same model.
    cutter(const cut_options& options, const cut_source& source, cut_basis& basis)
        : options_(options)
        , source_(source)
        , model_(source.model)
        , basis_(basis)
        , members_(source.modules.index(), source.attributions) {}

    /// Parts that lie in functions are left out, and their modules noted, by place in the list.
    void leave_functions() { leaves_functions_ = true; }

    [[nodiscard]] const std::vector<std::size_t>& left() const noexcept { return left_; }

    [[nodiscard]] const stemma::module_members& members() const noexcept { return members_; }

    /// Cuts modules into `path(module, part, count)`, `count` parts of each.
    template <class Path>
    std::vector<cut_record> cut(const std::vector<id>& modules, Path path) {
        return cut(
            modules,
            [&](std::size_t i) -> stemma::cut_request {
                auto nodes = members_.all(modules[i]);
                auto calls = calls_of(modules[i], nodes);
                return {std::move(nodes), std::move(calls)};
            },
            path);
    }

    /// Cuts nodes that lie in modules: `request(i)` says which ones of number `i`.
    template <class Request, class Path>
    std::vector<cut_record> cut(const std::vector<id>& modules, Request request, Path path) {
        std::error_code unknown;
        nothing_there_ = options_.to_folder() && fs::is_empty(options_.folder, unknown);
        job<Request, Path> made{*this, modules, request, path, {}};
        stemma::write_cuts(source_.file, basis_.planner, basis_.writer, made, modules.size(),
                           !options_.no_sync, threads_of(options_.common));
        return std::move(made.records);
    }

    /// Weights of parts go to a store of this name in the folder, or stay where they are.
    void use_store(const std::string& folder, const std::string& name, bool takes_external = true) {
        store_path_ = (fs::path(folder) / name).string();
        store_.emplace(model_, source_.file, name, takes_external);
    }

    void write_store() {
        if (store_ && !store_->empty()) {
            store_->write(store_path_, !options_.no_sync);
        }
    }

private:
    /// A `stemma::cut_job`.
    template <class Request, class Path>
    struct job {
        cutter& to;
        const std::vector<id>& modules;
        Request nodes_of;
        Path path;
        std::vector<cut_record> records;

        [[nodiscard]] stemma::cut_request request(std::size_t i) const { return nodes_of(i); }

        stemma::cut_target target(std::size_t i, std::size_t part,
                                  std::vector<stemma::cut_plan>& plans) {
            stemma::cut_target made;
            if (to.leaves(i, plans)) {
                return made;
            }
            auto record = to.record_of(modules[i], part, plans[part]);
            if (plans[part].refusal == stemma::cut_refusal::none) {
                record.file = path(modules[i], part, plans.size());
                made = to.target_of(plans[part], record);
            }
            records.push_back(std::move(record));
            return made;
        }

        void done(std::size_t, std::size_t, const stemma::cut_plan& plan) {
            if (plan.sorted) {
                note(to.options_.common,
                     fmt::format("{}: nodes were not in order; they are in the part",
                                 to.options_.common.model));
            }
        }
    };

    /// Whether parts are left to whoever opens the functions in which some of them lie, or whose
    /// results have types that only calls tell.
    [[nodiscard]] bool leaves(std::size_t i, std::vector<stemma::cut_plan>& plans) {
        if (!leaves_functions_ || plans.empty()) {
            return false;
        }
        if (left_.empty() || left_.back() != i) {
            const auto& contents = basis_.planner.contents();
            const bool inside = std::any_of(plans.begin(), plans.end(), [&](auto& plan) {
                const auto root = contents.root(plan.graph);
                auto tried = plan;
                static_cast<void>(basis_.types.refuse_unknown(tried, contents));
                return model_.graph(root).kind == stemma::graph_kind::function ||
                       tried.refusal == stemma::cut_refusal::unknown_type;
            });
            if (!inside) {
                return false;
            }
            left_.push_back(i);
        }
        return true;
    }

    /// Refuses a plan that cannot be written.
    [[nodiscard]] cut_record record_of(id module, std::size_t part, stemma::cut_plan& plan) {
        cut_record record;
        record.module = module;
        record.part = part;
        for (auto value : plan.inputs) {
            record.inputs.push_back(basis_.policy.boundary_name(model_.value_name(value)));
        }
        for (auto value : plan.outputs) {
            record.outputs.push_back(basis_.policy.boundary_name(model_.value_name(value)));
        }
        record.exact = !plan.random;
        record.text = basis_.types.refuse_unknown(plan, basis_.planner.contents());
        if (plan.refusal != stemma::cut_refusal::none) {
            record.status = "refused";
            record.reason = stemma::to_string(plan.refusal);
            record.text = why_refused(plan, record.text);
        }
        return record;
    }

    /// A list of modules is not called itself; what holds it is.
    [[nodiscard]] id nearest_called(id module) const {
        const auto& modules = source_.modules;
        while (module != no_id && modules.calls(module) == 0) {
            module = modules.index().parent(module);
        }
        return module;
    }

    /// Of a module that is called several times: the call that each node belongs to.
    [[nodiscard]] std::vector<id> calls_of(id module, const std::vector<id>& nodes) const {
        std::vector<id> calls;
        const auto& modules = source_.modules;
        const auto called = nearest_called(module);
        if (called != no_id && modules.calls(called) != no_id && modules.calls(called) > 1) {
            for (auto node : nodes) {
                calls.push_back(stemma::call_of(called, source_.attributions[node],
                                                [&](id m) { return modules.calls(m); }));
            }
        }
        return calls;
    }

    [[nodiscard]] std::string why_refused(const stemma::cut_plan& plan,
                                          const std::string& text) const {
        if (plan.refusal == stemma::cut_refusal::no_output) {
            return "nothing outside reads what it makes";
        }
        if (plan.refusal != stemma::cut_refusal::non_convex) {
            return text;
        }
        std::string way;
        for (auto node : plan.witness) {
            way += fmt::format("{}{} ({})", way.empty() ? "" : " -> ", node_name(model_, node),
                               module_name(source_.attributions[node].module));
        }
        return "a way leads out of it and back: " + way;
    }

    [[nodiscard]] std::string module_name(id module) const {
        return module == 0 ? "the root" : source_.modules.path(module);
    }

    [[nodiscard]] stemma::cut_target target_of(const stemma::cut_plan& plan,
                                               const cut_record& record) {
        stemma::string_sink origin;
        stemma::json_writer json(origin);
        json.begin_object(true);
        json.member("schema", "stemma.cut/1");
        json.member("source", fs::path(options_.common.model).filename().string());
        json.member("module", source_.modules.path(record.module));
        json.member("tag", source_.tags.text(record.module));
        json.member("part", record.part);
        json.end_object();
        json.finish();
        origin.text.pop_back();
        // Only a part of a model that is nearly as large itself can be too large.
        if (!store_ && model_.bytes().size() >= std::size_t{1} << 30U &&
            basis_.writer.build(plan, origin.text).size() >= std::uint64_t{1} << 31U) {
            use_store(folder_of(record.file).string(),
                      fs::path(record.file).filename().string() + ".data");
        }
        if (options_.to_folder() && !nothing_there_) {
            check_replaceable(record.file, options_.force);
        }
        return {record.file, std::move(origin.text), store_ ? &*store_ : nullptr,
                nothing_there_ ? stemma::target_state::absent : stemma::target_state::unknown};
    }

    const cut_options& options_;
    const cut_source& source_;
    const stemma::wire_model& model_;
    cut_basis& basis_;
    stemma::module_members members_;
    std::optional<stemma::weight_store> store_;
    std::string store_path_;
    bool nothing_there_ = false; // in the folder, before there are parts
    bool leaves_functions_ = false;
    std::vector<std::size_t> left_; // places of modules, ascending
};

template <class Sink>
void write_index(Sink& sink, const stemma::attributed_model& opened,
                 const std::vector<cut_record>& records) {
    const auto write_names = [](auto& json, std::string_view key,
                                const std::vector<std::string>& names) {
        json.key(key);
        json.begin_array(true);
        for (const auto& name : names) {
            json.value(name);
        }
        json.end_array();
    };
    stemma::json_writer json(sink);
    json.begin_object();
    json.member("schema", "stemma.cuts/1");
    json.member("source", fs::path(opened.file().path()).filename().string());
    json.key("cuts");
    json.begin_array();
    for (const auto& record : records) {
        json.begin_object(true);
        json.member("module", opened.modules().path(record.module));
        json.member("tag", opened.tags().tags.text(record.module));
        json.member("part", record.part);
        if (!record.file.empty()) {
            json.member("file", fs::path(record.file).filename().string());
        }
        write_names(json, "inputs", record.inputs);
        write_names(json, "outputs", record.outputs);
        json.member("status", record.status);
        json.key("reason");
        record.reason.empty() ? json.null() : json.value(record.reason);
        if (!record.text.empty()) {
            json.member("text", record.text);
        }
        json.member("exact", record.exact);
        json.end_object();
    }
    json.end_array();
    json.end_object();
    json.finish();
}

void report(const cut_options& options, const stemma::attributed_model& opened,
            const std::vector<cut_record>& records) {
    if (options.common.format == "json") {
        standard_output out;
        write_index(out, opened, records);
        return;
    }
    constexpr std::size_t most_refusals = 20;
    std::size_t refused = 0;
    for (const auto& record : records) {
        const auto module =
            record.module == 0 ? std::string("the root") : opened.modules().path(record.module);
        if (record.status == "refused") {
            if (++refused <= most_refusals || !options.to_folder()) {
                print_error(fmt::format("{}: {}: {}", module, record.reason, record.text));
            }
        } else if (!options.common.quiet && !options.to_folder()) {
            put("{}: {} in, {} out{}\n", record.file, counted(record.inputs.size(), "value"),
                record.outputs.size(), record.exact ? "" : ", gives other results each time");
        }
    }
    if (refused > most_refusals && options.to_folder()) {
        print_error(fmt::format("{} more refused: index.json says why", refused - most_refusals));
    }
}

/// Returns: the modules that go to a folder: those that are named, or all.
std::vector<id> modules_to_cut(const cut_options& options, const stemma::attributed_model& opened) {
    if (!options.all) {
        return find_modules(opened, options.module);
    }
    std::vector<id> modules(opened.modules().size());
    std::iota(modules.begin(), modules.end(), id{0});
    return modules;
}

/// Whether functions are to be opened where parts lie in them; those that folding made are not.
bool opens_functions(const stemma::wire_model& model) {
    return !model.functions().empty() &&
           !stemma::find_model_metadata(model, stemma::fold_key).has_value();
}

int cut_to_folder(const cut_options& options, stemma::attributed_model& opened, cut_basis& basis) {
    const auto modules = modules_to_cut(options, opened);
    make_folder(options.folder);
    const cut_source source(opened);
    cutter parts(options, source, basis);
    const auto inside = (fs::path(options.folder) / "x").string();
    const bool beside = folder_of(inside) == folder_of(options.common.model);
    const bool external = !stemma::external_files(opened.model()).empty();
    if (options.data == "link" && external) {
        stemma::place_external_data(opened.model(), inside, stemma::data_placement::link,
                                    options.force);
    }
    const auto place_weights = [&](cutter& to, const std::string& store) {
        if (!external || (options.data != "link" && !beside)) {
            to.use_store(options.folder, store, options.data != "keep");
        }
    };
    place_weights(parts, "weights.bin");
    file_namer names;
    const auto path_of = [&](id m, std::size_t part, std::size_t count) {
        return (fs::path(options.folder) / names.name(opened, m, part, count)).string();
    };
    if (opens_functions(opened.model())) {
        parts.leave_functions();
    }
    auto records = parts.cut(modules, path_of);
    parts.write_store();
    if (!parts.left().empty()) {
        const inlined_model inlined(opened, inside);
        const cut_source open(source, inlined);
        cut_basis of_open(options, inlined.model());
        cutter others(options, open, of_open);
        place_weights(others, "weights.inlined.bin");
        std::vector<id> left;
        for (auto i : parts.left()) {
            left.push_back(modules[i]);
        }
        const auto more = others.cut(left, path_of);
        others.write_store();
        records.insert(records.end(), more.begin(), more.end());
        std::stable_sort(records.begin(), records.end(),
                         [](const auto& a, const auto& b) { return a.module < b.module; });
    }
    stemma::output_file index((fs::path(options.folder) / "index.json").string());
    write_index(index, opened, records);
    index.commit(!options.no_sync);
    report(options, opened, records);
    const auto refused = std::count_if(records.begin(), records.end(),
                                       [](const auto& r) { return r.status == "refused"; });
    if (options.common.format == "text" && !options.common.quiet) {
        put("{}: {}, {} refused\n", options.folder,
            counted(records.size() - static_cast<std::size_t>(refused), "part"), refused);
    }
    return refused == 0 ? done : found_something;
}

/// Returns: the deepest module that all of these nodes lie in.
id module_around(const stemma::attributed_model& opened, const std::vector<id>& nodes) {
    auto module = opened.tags().attributions[nodes.front()].module;
    for (auto node : nodes) {
        module = opened.modules().index().lca(module, opened.tags().attributions[node].module);
    }
    return module;
}

id one_module(const cut_options& options, const stemma::attributed_model& opened) {
    const auto modules = find_modules(opened, options.module);
    if (modules.size() > 1) {
        throw stemma::error(stemma::error_code::not_found, options.common.model, "",
                            fmt::format("'{}' names {} modules, '{}' and '{}' among them: name one",
                                        options.module, modules.size(),
                                        opened.modules().path(modules[0]),
                                        opened.modules().path(modules[1])));
    }
    return modules.front();
}

int cut_one(const cut_options& options, stemma::attributed_model& opened, cut_basis& basis) {
    const bool of_nodes = stemma::parse_query(options.module).asks_for_operators();
    const auto nodes = of_nodes ? find_nodes(opened, options.module) : std::vector<id>{};
    const auto module = of_nodes ? module_around(opened, nodes) : one_module(options, opened);
    const cut_source source(opened);
    cutter parts(options, source, basis);
    if (parts.members().count(module) == 0) {
        throw stemma::error(stemma::error_code::not_found, options.common.model, "",
                            fmt::format("module '{}' has no nodes", opened.modules().path(module)));
    }
    const bool beside = folder_of(options.output) == folder_of(options.common.model);
    const bool external = !beside && !stemma::external_files(opened.model()).empty();
    if (external && options.data == "link") {
        stemma::place_external_data(opened.model(), options.output, stemma::data_placement::link,
                                    options.force);
    }
    const auto place_weights = [&](cutter& to) {
        if (external && options.data == "copy") {
            to.use_store(folder_of(options.output).string(),
                         fs::path(options.output).filename().string() + ".data");
        }
    };
    place_weights(parts);
    const auto path_of = [&](id, std::size_t part, std::size_t count) {
        if (count == 1) {
            return options.output;
        }
        fs::path path(options.output);
        return (path.parent_path() /
                fmt::format("{}.{}{}", path.stem().string(), part, path.extension().string()))
            .string();
    };
    if (!of_nodes && opens_functions(opened.model())) {
        parts.leave_functions();
    }
    auto records = of_nodes ? parts.cut(
                                  {module},
                                  [&](std::size_t) {
                                      return stemma::cut_request{nodes, {}};
                                  },
                                  path_of)
                            : parts.cut({module}, path_of);
    parts.write_store();
    if (!parts.left().empty()) {
        const inlined_model inlined(opened, options.output);
        const cut_source open(source, inlined);
        cut_basis of_open(options, inlined.model());
        cutter others(options, open, of_open);
        place_weights(others);
        records = others.cut({module}, path_of);
        others.write_store();
    }
    report(options, opened, records);
    return std::any_of(records.begin(), records.end(),
                       [](const auto& r) { return r.status == "refused"; })
               ? found_something
               : done;
}

int cut(cut_options options) {
    if (options.gaps.empty()) {
        options.gaps = options.to_folder() ? "runs" : "refuse";
    }
    if (options.all != options.module.empty() || options.to_folder() != options.output.empty() ||
        (options.all && !options.to_folder())) {
        throw stemma::error(stemma::error_code::refused, "", "cut",
                            "takes --module QUERY and -o OUT, or --module QUERY or --all and "
                            "-d DIR");
    }
    std::optional<cut_basis> basis;
    const auto opened = open_model(
        options.common, [&](const stemma::wire_model& model) { basis.emplace(options, model); });
    return options.to_folder() ? cut_to_folder(options, *opened, *basis)
                               : cut_one(options, *opened, *basis);
}

} // namespace

void add_cut(CLI::App& app, action& chosen) {
    auto options = std::make_shared<cut_options>();
    auto& command = *app.add_subcommand("cut", "write a module as a model of its own that runs");
    add_common_options(command, options->common);
    command
        .add_option("--module", options->module,
                    "the module; a query for nodes, or with -d for modules")
        ->type_name("QUERY");
    command.add_option("-o,--output", options->output, "where the part goes")->type_name("OUT");
    command.add_flag("--all", options->all, "write every module that has nodes");
    command
        .add_option("-d,--directory", options->folder,
                    "where parts of several modules go, with index.json")
        ->type_name("DIR");
    command
        .add_option("--pull", options->pull,
                    "what is copied in rather than made an input: none, constants, weights, "
                    "shapes, all")
        ->type_name("P")
        ->check(CLI::IsMember({"none", "constants", "weights", "shapes", "all"}))
        ->default_str("weights");
    command
        .add_option("--non-convex", options->gaps,
                    "a module with a way out and back: refuse, absorb what lies on it, or one "
                    "part for each of the runs")
        ->type_name("refuse|absorb|runs")
        ->check(CLI::IsMember({"refuse", "absorb", "runs"}));
    add_data_option(command, options->data);
    command.add_flag("--force", options->force, "replace files that exist");
    add_no_sync_option(command, options->no_sync);
    command.footer(
        "Examples:\n  stemma cut model.onnx --module encoder.layer.3.attention -o part.onnx\n"
        "  stemma cut model.onnx --module 'encoder.layer.*' -d blocks\n"
        "  stemma cut model.onnx --all -d parts");
    command.callback([&chosen, options] { chosen = [options] { return cut(*options); }; });
}

} // namespace cli
