// SPDX-License-Identifier: Apache-2.0
#include "common.hpp"
#include "report.hpp"

#include <stemma/record/module_statistics.hpp>
#include <stemma/report/export_model.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace cli {

namespace {

using stemma::id;

struct tree_options {
    common_options common;
    id depth = stemma::no_id;
    std::string module;
};

/// The branches drawn before a module: `│  ├─ `.
std::string branches(const stemma::tree_index& tree, id m) {
    if (m == 0) {
        return {};
    }
    std::string text;
    const auto is_last = [&](id module) {
        return tree.end(module) == tree.end(tree.parent(module));
    };
    // No line shows more, and drawing all levels of a very deep tree takes the square of its depth.
    constexpr std::size_t most = 64;
    std::vector<bool> ends;
    for (auto above = tree.parent(m); above != 0 && ends.size() < most;
         above = tree.parent(above)) {
        ends.push_back(is_last(above));
    }
    for (auto end = ends.rbegin(); end != ends.rend(); ++end) {
        text.append(*end ? "   " : "\xe2\x94\x82  ");
    }
    return text.append(is_last(m) ? "\xe2\x94\x94\xe2\x94\x80 " : "\xe2\x94\x9c\xe2\x94\x80 ");
}

class tree_printer {
public:
    tree_printer(const stemma::attributed_model& opened, std::vector<bool> shown, id depth)
        : opened_(opened)
        , modules_(opened.modules())
        , tree_(modules_.index())
        , depth_(depth)
        , shown_(std::move(shown))
        , counts_(stemma::collect_statistics(opened.model(), modules_, opened.tags())) {
        for (id m = 0; m < modules_.size(); ++m) {
            if (shown_[m]) {
                widest_ = std::max(widest_, 3 * std::size_t{tree_.depth(m)} + width_of(label(m)));
            }
        }
        widest_ = std::clamp<std::size_t>(widest_, 6, max_label);
    }

    void print() const {
        put("{}\n", shaded(fmt::format("{} {:>8} {:>13}  {}", fitted("module", widest_), "nodes",
                                       "parameters", "operators"),
                           shade::dim));
        for (id m = 0; m < modules_.size(); ++m) {
            if (shown_[m]) {
                print_module(m);
            }
        }
        put("{}\n", shaded(fmt::format("{}, {}, {}{}", counted(modules_.size(), "module"),
                                       counted(opened_.model().node_count(), "node"),
                                       counted(counts_.parameters[0], "parameter"), stored()),
                           shade::dim));
    }

private:
    /// What the file holds of the parameters, by type: ` (16,064 in the file: int8 16.0 kB)`.
    [[nodiscard]] std::string stored() const {
        const auto types = stemma::weights_text(counts_.weights[0]);
        const auto differs = counts_.stored[0] != counts_.parameters[0];
        return types.empty() ? std::string()
               : differs ? fmt::format(" ({} in the file: {})", grouped(counts_.stored[0]), types)
                         : fmt::format(" ({})", types);
    }

    /// What the segment of the tag says, or the class of a module without one.
    [[nodiscard]] std::string class_text(id m) const {
        if (modules_.class_name(m).empty()) {
            return {};
        }
        return std::string(opened_.tags().tags.is_selected(m) ? opened_.tags().tags.segment(m)
                                                              : modules_.class_name(m));
    }

    [[nodiscard]] std::string name_text(id m) const {
        return m == 0 && !modules_.class_name(0).empty() ? std::string()
               : m == 0 && modules_.attribute(0).empty() ? std::string("model")
                                                         : std::string(modules_.attribute(m));
    }

    [[nodiscard]] std::string label(id m) const {
        const auto name = name_text(m);
        const auto type = class_text(m);
        return name.empty() || type.empty() ? name + type : name + " " + type;
    }

    void print_module(id m) const {
        const auto indent = branches(tree_, m);
        const auto name = name_text(m);
        const auto type = class_text(m);
        const auto room = widest_ > width_of(indent) + 8 ? widest_ - width_of(indent) : 8;
        const auto text = fitted(label(m), room);
        // Colours only where nothing was cut.
        std::string shown = text;
        if (width_of(label(m)) <= room) {
            const auto& selected = opened_.tags().tags;
            shown = shaded(name, shade::strong) + (name.empty() || type.empty() ? "" : " ") +
                    shaded(type, selected.is_selected(m) ? shade::name : shade::dim) +
                    std::string(room - width_of(label(m)), ' ');
        }
        const bool hides = tree_.depth(m) == depth_ && tree_.end(m) > m + 1;
        const auto hidden =
            hides ? fmt::format("  (+{})", counted(tree_.end(m) - m - 1, "module")) : "";
        const auto numbers_width = 26;
        const auto operators = top_operators(opened_.model(), counts_.operators[m],
                                             line_width - widest_ - numbers_width - hidden.size());
        const auto rest = operators + hidden;
        put("{}{} {:>8} {}{}{}\n", shaded(indent, shade::dim), shown, grouped(counts_.nodes[m]),
            shaded(right_aligned(grouped(counts_.parameters[m]), 13), shade::number),
            rest.empty() ? "" : "  ", shaded(rest, shade::dim));
    }

    static constexpr std::size_t line_width = 100;
    static constexpr std::size_t max_label = 52;

    const stemma::attributed_model& opened_;
    const stemma::module_tree& modules_;
    const stemma::tree_index& tree_;
    id depth_;
    std::vector<bool> shown_;
    stemma::module_statistics counts_;
    std::size_t widest_ = 0;
};

int tree(const tree_options& options) {
    const auto opened = open_model(options.common);
    auto shown = stemma::find_branches(*opened, options.module, options.depth);
    if (options.common.format == "json") {
        standard_output out;
        stemma::write_tree(out, *opened, shown);
    } else {
        tree_printer(*opened, std::move(shown), options.depth).print();
    }
    return done;
}

} // namespace

void add_tree(CLI::App& app, action& chosen) {
    add_command<tree_options>(
        app, chosen, "tree", "show the modules with their nodes, parameters and operators", tree,
        [](command_line takes, tree_options& options) {
            takes.common(options.common);
            takes.value("--depth", options.depth, "N", "show so many levels below the root");
            takes.value("--module", options.module, "QUERY",
                        "show only these modules, with all above and below");
            takes.footer("Examples:\n  stemma tree model.onnx\n  stemma tree model.onnx --depth 2\n"
                         "  stemma tree model.onnx --module 'encoder.layer.0'\n"
                         "  stemma tree model.onnx -m modules.json --format json");
        });
}

} // namespace cli
