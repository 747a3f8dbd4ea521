// SPDX-License-Identifier: Apache-2.0
#include "common.hpp"
#include "report.hpp"

#include <stemma/compare/compare_modules.hpp>
#include <stemma/compare/diff_models.hpp>
#include <stemma/compare/link_nodes.hpp>
#include <stemma/compare/write_diff.hpp>
#include <stemma/onnx/value_definitions.hpp>
#include <stemma/query/find_modules.hpp>
#include <stemma/report/sync_navigation.hpp>
#include <stemma/types/described_attribute.hpp>
#include <stemma_report/html_diff.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cli {

namespace {

using stemma::id;
using stemma::no_id;

struct diff_options {
    common_options common;
    output_options output;
    std::vector<std::string> others;
    std::vector<std::string> other_captures;
    std::vector<std::string> modules;
    bool nodes = false;
    bool no_weights = false;
    double tolerance = 0;
    std::size_t rows = 100;
};

constexpr std::size_t most_panes = 8;

shade shade_of(stemma::model_diff::change change) {
    switch (change) {
    case stemma::model_diff::change::added:
        return shade::good;
    case stemma::model_diff::change::removed:
        return shade::bad;
    default:
        return shade::number;
    }
}

std::string changes_of(const stemma::model_diff::changed_module& entry) {
    std::string text;
    for (auto change : entry.changes) {
        text.append(text.empty() ? "" : ", ").append(shaded(to_string(change), shade_of(change)));
    }
    return text;
}

void print_missing(std::size_t weights) {
    if (weights > 0) {
        put("{} not compared: no data in either model\n", counted(weights, "weight"));
    }
}

void print_weight(const stemma::model_diff::changed_weight& weight,
                  const stemma::attributed_model& first, const stemma::attributed_model& second,
                  const std::string& margin) {
    const auto from = first.model().value_name(weight.first);
    const auto to = second.model().value_name(weight.second);
    const auto name = in_one_line(from == to ? from : fmt::format("{} -> {}", from, to));
    const auto& by = weight.difference;
    put("{}  {} {}{}\n", margin, name, weight.text,
        weight.comparable
            ? fmt::format(": {} of {} differ, by at most {:.3g}, relative {:.3g}",
                          grouped(by.different), grouped(by.elements), by.absolute, by.relative)
            : std::string());
}

bool is_constant(const stemma::wire_model& model, id value) {
    return value != no_id &&
           (model.is_initializer(value) ||
            (model.producer(value) != no_id && model.op_type(model.producer(value)) == "Constant"));
}

/// Returns: what differs between two nodes of equal type: `: epsilon 1e-05 -> 0.001`, or "".
std::string change_of(const stemma::wire_model& first, id v, const stemma::wire_model& second,
                      id w) {
    std::map<std::string, std::pair<std::string, std::string>> values;
    for (const auto& one : stemma::describe_attributes(first, v)) {
        values[one.name].first = one.text;
    }
    for (const auto& one : stemma::describe_attributes(second, w)) {
        values[one.name].second = one.text;
    }
    std::string text;
    const auto note = [&](const std::string& what, const std::string& from, const std::string& to) {
        text.append(text.empty() ? ": " : ", ");
        text.append(fmt::format("{} {} -> {}", what, from, to));
    };
    for (const auto& [name, value] : values) {
        if (value.first != value.second) {
            note(name, value.first.empty() ? "default" : value.first,
                 value.second.empty() ? "default" : value.second);
        }
    }
    const auto from = first.inputs(v);
    const auto to = second.inputs(w);
    for (std::size_t i = 0; i < std::max(from.size(), to.size()); ++i) {
        const auto x = i < from.size() ? from[i] : no_id;
        const auto y = i < to.size() ? to[i] : no_id;
        if ((x == no_id) != (y == no_id) || is_constant(first, x) != is_constant(second, y)) {
            note(fmt::format("input {}", i), x == no_id ? "none" : std::string(first.value_name(x)),
                 y == no_id ? "none" : std::string(second.value_name(y)));
        }
    }
    return text;
}

void print_nodes(const stemma::model_diff::changed_module& entry,
                 const stemma::attributed_model& first, const stemma::attributed_model& second,
                 const std::string& margin) {
    for (auto node : entry.only_first) {
        put("{}  - {} {}\n", margin, first.model().op_type(node),
            stemma::place_of(first.model(), node));
    }
    std::map<id, id> before; // by node of the second model
    for (const auto& [v, w] : entry.changed) {
        before.emplace(w, v);
    }
    for (auto node : entry.only_second) {
        const auto changed = before.find(node);
        put("{}  + {} {}{}\n", margin, second.model().op_type(node),
            stemma::place_of(second.model(), node),
            changed == before.end()
                ? std::string()
                : change_of(first.model(), changed->second, second.model(), node));
    }
    for (const auto& [v, w] : entry.rewired) {
        put("{}  ~ {} {}\n", margin, first.model().op_type(v), stemma::place_of(first.model(), v));
    }
}

/// Prints a tree of the modules that differ, with their ancestors.
class diff_printer {
public:
    diff_printer(const stemma::model_diff& difference, const stemma::attributed_model& first,
                 const stemma::attributed_model& second, const diff_options& options)
        : differences_(difference), first_(first), second_(second), options_(options) {}

    void print() {
        for (const auto& one : differences_.header) {
            put("{}: {} -> {}\n", one.what, one.first.empty() ? "none" : one.first,
                one.second.empty() ? "none" : one.second);
        }
        print_first(differences_.modules, options_.rows, [&](const auto& entry) { print(entry); });
        put("{} and {}: {} matched, {} the same; {} and {}: {} matched\n",
            grouped(differences_.first_modules), counted(differences_.second_modules, "module"),
            grouped(differences_.paired_modules), grouped(differences_.same_modules),
            grouped(differences_.first_nodes), counted(differences_.second_nodes, "node"),
            grouped(differences_.matched_nodes));
        print_missing(differences_.missing_weights);
    }

private:
    /// Prints the ancestors of a module that were not printed yet. Returns: the indent.
    std::size_t print_above(const stemma::module_tree& tree, id m) {
        std::vector<id> way;
        for (auto above = m; above != 0; above = tree.index().parent(above)) {
            way.push_back(above);
        }
        way.push_back(0);
        std::reverse(way.begin(), way.end());
        std::size_t same = 0;
        while (same < std::min(printed_.size(), way.size()) && printed_[same] == way[same]) {
            ++same;
        }
        constexpr std::size_t widest = 40;
        for (auto i = same; i + 1 < way.size(); ++i) {
            put("{}{}\n", std::string(2 * std::min(i, widest), ' '), name_of(tree, way[i]));
        }
        printed_ = way;
        return 2 * std::min(way.size() - 1, widest);
    }

    static std::string name_of(const stemma::module_tree& tree, id m) {
        const auto type = tree.class_name(m);
        auto name = in_one_line(tree.name(m));
        if (name.empty()) {
            name = type.empty() ? "model" : std::string(type);
        } else if (!type.empty()) {
            name.append(" ").append(shaded(type, shade::dim));
        }
        return name;
    }

    /// Added modules appear where their parent would be in the first tree, below added parents.
    void print(const stemma::model_diff::changed_module& entry) {
        std::size_t indent = 0;
        std::string name;
        if (entry.first != no_id) {
            indent = print_above(first_.modules(), entry.first);
            name = name_of(first_.modules(), entry.first);
            named_.insert(entry.first);
        } else {
            indent = print_above_added(entry.second);
            name = name_of(second_.modules(), entry.second);
            named_second_.insert(entry.second);
        }
        const std::string margin(indent, ' ');
        put("{}{}  {}{}\n", margin, name, changes_of(entry), details(entry));
        for (const auto& weight : entry.weights) {
            print_weight(weight, first_, second_, margin);
        }
        if (options_.nodes) {
            print_nodes(entry, first_, second_, margin);
        }
    }

    /// Prints the ancestors of a module of the second tree without a partner that were not printed
    /// yet: partners, then added ones. Returns: the indent.
    std::size_t print_above_added(id n) {
        const auto& tree = second_.modules().index();
        std::vector<id> added;
        id m = no_id;
        for (auto above = tree.parent(n); above != no_id; above = tree.parent(above)) {
            m = differences_.pairs.to_first[above];
            if (m != no_id) {
                break;
            }
            added.push_back(above);
        }
        std::size_t indent = 0;
        if (m != no_id) {
            indent = print_above(first_.modules(), m);
            if (!is_named(m)) {
                put("{}{}\n", std::string(indent, ' '), name_of(first_.modules(), m));
            }
            indent += 2;
        }
        for (auto above = added.rbegin(); above != added.rend(); ++above) {
            if (named_second_.insert(*above).second) {
                put("{}{}\n", std::string(indent, ' '), name_of(second_.modules(), *above));
            }
            indent += 2;
        }
        return indent;
    }

    /// Whether a module is on the path printed last, or was printed itself.
    bool is_named(id m) { return !named_.insert(m).second; }

    [[nodiscard]] std::string details(const stemma::model_diff::changed_module& entry) const {
        using change = stemma::model_diff::change;
        std::string text;
        if (entry.has(change::moved) || entry.has(change::renamed)) {
            const auto from = first_.modules().report_path(entry.first);
            const auto to = second_.modules().report_path(entry.second);
            text += from == to ? " (runs in a different order)" : " to " + to;
        }
        if (entry.has(change::fused) && !entry.into.empty()) {
            const auto path = second_.modules().report_path(entry.into.front());
            text += " into " + (path.empty() ? std::string("the whole") : path);
            text += entry.into.size() > 1 ? fmt::format(" and {} more", entry.into.size() - 1) : "";
        }
        if (!entry.only_first.empty() || !entry.only_second.empty()) {
            text += fmt::format(" ({} -> {}{})", counted(entry.only_first.size(), "node"),
                                grouped(entry.only_second.size()),
                                entry.same_boundary || entry.has(change::added) ||
                                        entry.has(change::removed)
                                    ? ""
                                    : ", another boundary");
        }
        return text;
    }

    const stemma::model_diff& differences_;
    const stemma::attributed_model& first_;
    const stemma::attributed_model& second_;
    const diff_options& options_;
    std::vector<id> printed_;   // the path printed last, of the first tree
    std::set<id> named_;        // modules of the first tree that were printed
    std::set<id> named_second_; // added ones
};

/// Returns: the single module that a query selects.
id module_of(const stemma::attributed_model& opened, const std::string& asked) {
    const auto modules = stemma::find_modules(opened, asked);
    if (modules.size() != 1) {
        throw stemma::error(stemma::error_code::refused, opened.file().path(), "--module",
                            fmt::format("'{}' matches {} modules; name one per model", asked,
                                        grouped(modules.size())));
    }
    return modules.front();
}

int diff_modules(const diff_options& options, const stemma::diff_options& how,
                 const stemma::attributed_model& first, const stemma::attributed_model& second) {
    if (options.modules.size() > 2) {
        throw refused("--module", "is given more than twice: one module of each model is compared");
    }
    const auto comparison =
        stemma::compare_modules(first, module_of(first, options.modules.front()), second,
                                module_of(second, options.modules.back()), how);
    if (options.common.format == "json") {
        write_output(options.output, [&](auto& sink) {
            stemma::write_json(sink, comparison, first, second, options.nodes);
        });
    } else {
        const auto& entry = comparison.difference;
        put("{} and {}: {}; {} and {}: {} matched", path_text(first, entry.first),
            path_text(second, entry.second),
            comparison.same_function ? "the same function"
                                     : shaded("different functions", shade::bad),
            grouped(comparison.first_nodes), counted(comparison.second_nodes, "node"),
            grouped(comparison.matched_nodes));
        put("{}\n", options.no_weights
                        ? std::string()
                        : fmt::format("; {} of {} differ", grouped(entry.weights.size()),
                                      counted(comparison.compared_weights, "weight")));
        print_first(entry.weights, options.rows,
                    [&](const auto& weight) { print_weight(weight, first, second, ""); });
        print_missing(comparison.missing_weights);
        if (options.nodes) {
            print_nodes(entry, first, second, "");
        }
    }
    return comparison.same_function ? done : found_something;
}

int diff(const diff_options& options) {
    stemma::diff_options how;
    how.weights = !options.no_weights;
    how.tolerance = options.tolerance;
    how.check();
    std::vector<std::unique_ptr<stemma::attributed_model>> models;
    models.push_back(open_model(options.common));
    for (const auto& path : options.others) {
        auto other = options.common;
        other.model = path;
        if (!options.other_captures.empty()) {
            other.captures = options.other_captures;
        }
        models.push_back(open_model(other));
    }
    const auto& first = *models[0];
    const auto& second = *models[1];
    for (std::size_t i = 1; i < models.size(); ++i) {
        const bool has_calls = !models[i]->model().functions().empty();
        if (models[i - 1]->model().functions().empty() == has_calls) {
            note(options.common,
                 fmt::format("{}: has functions, which the other model lacks; 'stemma unfold' "
                             "inlines them for a comparison node by node",
                             models[has_calls ? i : i - 1]->file().path()));
        }
    }
    if (!options.modules.empty()) {
        return diff_modules(options, how, first, second);
    }
    std::vector<stemma::model_diff> all;
    for (std::size_t i = 1; i < models.size(); ++i) {
        all.push_back(stemma::diff_models(*models[i - 1], *models[i], how));
    }
    const auto& difference = all.front();
    if (options.common.format == "text") {
        diff_printer(difference, first, second, options).print();
    } else {
        write_output(options.output, [&](auto& sink) {
            if (options.common.format == "html") {
                std::vector<const stemma::attributed_model*> shown;
                for (const auto& model : models) {
                    shown.push_back(model.get());
                }
                stemma_report::write_html_diff(sink, shown, all, how);
            } else if (options.common.format == "sync_navigation") {
                stemma::write_sync_navigation(sink,
                                              stemma::link_nodes(difference, first, second, how),
                                              first.model(), second.model());
            } else {
                stemma::write_json(sink, difference, first, second, options.nodes);
            }
        });
    }
    const auto is_equal = [](const auto& one) { return one.is_equal(); };
    return std::all_of(all.begin(), all.end(), is_equal) ? done : found_something;
}

} // namespace

void add_diff(CLI::App& app, action& chosen) {
    add_command<diff_options>(
        app, chosen, "diff", "show what changed between two models, module by module", diff,
        [](command_line takes, diff_options& options) {
            takes.common(options.common, "text,json,html,sync_navigation");
            takes.argument("OTHER", options.others,
                           "the model to compare with; html: each is compared with the previous "
                           "one, and all are shown side by side");
            takes.output(options.output);
            takes
                .value("--other-modules", options.other_captures, "CAPTURE",
                       "a capture of OTHER, if it needs its own")
                ->allow_extra_args(false);
            takes
                .value("--module", options.modules, "QUERY",
                       "compare only this module; given twice: one of MODEL with one of OTHER")
                ->allow_extra_args(false);
            takes.flag("--nodes", options.nodes, "list the nodes that differ");
            takes.flag("--no-weights", options.no_weights, "do not compare weight data");
            takes.value("--tolerance", options.tolerance, "X",
                        "ignore relative differences up to X", "0");
            takes.value("--rows", options.rows, "N", "maximum number of modules printed", "100");
            const auto is = [&](std::string_view format) {
                return options.common.format == format;
            };
            takes.applies("--module",
                          "does not apply to --format sync_navigation and html, which show whole "
                          "models",
                          [=] { return !is("sync_navigation") && !is("html"); });
            takes.applies("--output", "does not apply to text", [=] { return !is("text"); });
            takes.applies_to("--rows", options.common, "text");
            takes.applies("--nodes", "requires --format text or json",
                          [=] { return is("text") || is("json"); });
            takes.applies("--tolerance", "does not apply to --no-weights",
                          [&] { return !options.no_weights; });
            takes.applies("OTHER",
                          "is given more than once; only --format html shows more than two models",
                          [=, &options] { return options.others.size() == 1 || is("html"); });
            takes.applies(
                "OTHER",
                fmt::format("is given too often: at most {} models fit side by side", most_panes),
                [&] { return options.others.size() < most_panes; });
            takes.footer("Exits with 1 if anything differs; for modules, if their functions\n"
                         "differ beyond weights and names.\n\n"
                         "Examples:\n  stemma diff old.onnx new.onnx\n"
                         "  stemma diff model.onnx optimized.onnx --nodes\n"
                         "  stemma diff model.onnx finetuned.onnx --tolerance 1e-3 --format json\n"
                         "  stemma diff model.onnx optimized.onnx compiled.onnx --format html -o "
                         "diff.html\n"
                         "  stemma diff model.onnx model.onnx --module layer.0 --module layer.1");
        });
}

} // namespace cli
