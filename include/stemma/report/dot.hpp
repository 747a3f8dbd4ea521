// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_REPORT_DOT_HPP
#define STEMMA_REPORT_DOT_HPP

#include <stemma/core/detail/vertices_by_index.hpp>
#include <stemma/core/id.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/model/detail/stored_name.hpp>
#include <stemma/model/edge_values.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>
#include <stemma/report/detail/dot_text.hpp>
#include <stemma/report/detail/module_looks.hpp>
#include <stemma/report/fold_graph.hpp>
#include <stemma/report/visibility.hpp>
#include <stemma/tagging/tag_operators.hpp>
#include <stemma/types/value_description.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

namespace detail {

/// Annotations of a picture beyond graph and tree. Provide your own with the same interface.
struct no_annotations {
    /// A line below an operator, such as its weights.
    [[nodiscard]] std::string operator_note(id) const { return {}; }
    /// Two more lines there: its attributes, in full as a tooltip.
    [[nodiscard]] std::string operator_attributes(id) const { return {}; }
    /// Whether an operator is shape arithmetic: connected ones become one box.
    [[nodiscard]] bool is_quiet(id) const { return false; }
    /// A line in a closed module's box; in an open one, if it has a colour, below the title.
    [[nodiscard]] std::string module_note(id) const { return {}; }
    /// The colour of an operator's box: `#dbeafe`; "" for the default.
    [[nodiscard]] std::string operator_colour(id) const { return {}; }
    /// The same for a module.
    [[nodiscard]] std::string module_colour(id) const { return {}; }
    /// Calls `f(value)` for inputs of an operator from outside the graph.
    template <class Function>
    void for_each_input(id, Function) const {}
    /// Calls `f(value)` for outputs of an operator that leave the graph.
    template <class Function>
    void for_each_output(id, Function) const {}
};

/// Writes one picture.
template <text_sink Sink, named_operators Ops, module_view Modules, value_describer Describe,
          class Annotations>
class dot_picture {
public:
    dot_picture(Sink& sink, const Ops& ops, const Modules& modules, const tagging& tagged,
                const folded_graph& folded, const std::vector<bool>& shown,
                const Describe& describe, const Annotations& annotations)
        : sink_(sink)
        , ops_(ops)
        , modules_(modules)
        , tree_(modules.index())
        , tags_(tagged)
        , folded_(folded)
        , shown_(shown)
        , describe_(describe)
        , annotations_(annotations)
        , looks_(module_looks(ops, modules, tagged))
        , boxes_in_(tree_.size())
        , nodes_in_(tree_.size())
        , vertex_(ops.graph()) {
        for (auto [it, last] = vertices(ops.graph()); it != last; ++it) {
            ++nodes_in_[tagged.attributions[index_of(ops.graph(), *it)].module];
        }
        for (auto m = static_cast<id>(tree_.size()); m-- > 1;) {
            nodes_in_[tree_.parent(m)] += nodes_in_[m];
        }
        for (id b = 0; b < folded.boxes.size(); ++b) {
            boxes_in_[folded.boxes[b].around].push_back(b);
        }
    }

    void write(id root) {
        text_ +=
            "digraph model {\n"
            "graph [rankdir=TB, newrank=true, ranksep=0.35, nodesep=0.25, fontname=\"Helvetica\", "
            "fontsize=11, bgcolor=\"white\", compound=true]\n"
            "node [shape=box, style=\"filled,rounded\", fillcolor=\"white\", "
            "color=\"#64748b\", fontname=\"Helvetica\", fontsize=11, height=0.3, "
            "margin=\"0.12,0.05\"]\n"
            "edge [color=\"#64748b\", fontname=\"Helvetica\", fontsize=8, "
            "fontcolor=\"#475569\", arrowsize=0.6]\n";
        write_clusters(root);
        write_edges();
        write_ends();
        text_ += "}\n";
        sink_.write(text_);
    }

private:
    static constexpr std::size_t longest_name = 40;
    static constexpr std::size_t widest_list = 34;

    /// Opens and closes clusters in tree order.
    void write_clusters(id root) {
        std::vector<id> open;
        const auto close_until = [&](id m) {
            for (; !open.empty() && tree_.end(open.back()) <= m; open.pop_back()) {
                text_ += "}\n";
            }
        };
        for (id m = root; m < tree_.end(root);) {
            close_until(m);
            if (!folded_.open[m]) {
                m = tree_.end(m);
                continue;
            }
            open.push_back(m);
            text_ += "subgraph cluster_" + std::to_string(m) + " {\n";
            const auto own = annotations_.module_colour(m);
            text_ += "label=<" + title(m, m == root) +
                     below(own.empty() ? std::string() : annotations_.module_note(m)) +
                     ">; labeljust=l; style=\"filled,rounded\"; color=\"#94a3b8\"; fillcolor=\"" +
                     colour(m) + "\"; tooltip=\"" + dot_text(path_of(modules_, m)) + "\"\n";
            for (auto b : boxes_in_[m]) {
                write_box(b);
            }
            ++m;
        }
        close_until(tree_.end(root));
    }

    [[nodiscard]] std::string name_text(id m, bool with_path) const {
        const auto path = path_of(modules_, m);
        const std::string name = m == 0 ? "" : with_path ? path : std::string(modules_.name(m));
        return name.empty() ? name : label_text(shortened(name, longest_name));
    }

    [[nodiscard]] std::string title(id m, bool with_path) const {
        const auto name = name_text(m, with_path);
        std::string type(modules_.class_name(m));
        type = type.empty() ? type : label_text(shortened(type, longest_name));
        if (name.empty() && type.empty()) {
            const std::string_view root_name = modules_.name(m);
            type = root_name.empty() ? "model" : label_text(shortened(root_name, longest_name));
        }
        auto text = "<B>" + (name.empty() ? type : name) + "</B>";
        return name.empty() || type.empty() ? text : text + "  " + type;
    }

    [[nodiscard]] static std::string small(const std::string& text,
                                           std::string_view end_of_line = "<BR/>") {
        return text.empty()
                   ? text
                   : std::string(end_of_line) + "<FONT POINT-SIZE=\"9\" COLOR=\"#475569\">" +
                         label_text(text) + "</FONT>";
    }

    /// The same, left-aligned.
    [[nodiscard]] static std::string below(const std::string& text) {
        constexpr std::string_view new_line = "<BR ALIGN=\"LEFT\"/>";
        return text.empty() ? text : small(text, new_line).append(new_line);
    }

    [[nodiscard]] static std::string count_text(std::size_t n) {
        return std::to_string(n) + (n == 1 ? " node" : " nodes");
    }

    void write_box(id b) {
        const auto& box = folded_.boxes[b];
        text_ += "b" + std::to_string(b) + " [label=<";
        if (box.kind == folded_graph::box_kind::one_operator) {
            const auto attributes = annotations_.operator_attributes(box.of);
            text_ += label_text(shortened(ops_.op_type(vertex_[box.of]), longest_name)) +
                     small(shortened(annotations_.operator_note(box.of), 60));
            for (const auto& line : wrapped_list(attributes, widest_list, 2)) {
                text_ += small(line);
            }
            const auto colour = annotations_.operator_colour(box.of);
            text_ += ">" + (colour.empty() ? "" : ", fillcolor=\"" + colour + "\"") +
                     ", tooltip=\"" + dot_text(detail::stored_name(ops_, vertex_[box.of])) +
                     (attributes.empty() ? "" : "&#10;" + dot_text(attributes)) + "\"]\n";
            return;
        }
        if (box.kind == folded_graph::box_kind::shape_arithmetic) {
            text_ += "shape arithmetic, " + count_text(box.operators) +
                     ">, style=\"filled,rounded\", color=\"#cbd5e1\", fontcolor=\"#475569\", "
                     "fillcolor=\"#f1f5f9\", fontsize=9, height=0.2, tooltip=\"" +
                     dot_text(path_of(modules_, box.of)) + "\"]\n";
            return;
        }
        if (box.kind == folded_graph::box_kind::rest) {
            text_ += "<I>and " + std::to_string(box.operators) +
                     " more nodes</I>>, style=\"filled,rounded,dashed\", tooltip=\"\"]\n";
            return;
        }
        const auto note = annotations_.module_note(box.of);
        text_ += title(box.of, false) +
                 small(count_text(nodes_in_[box.of]) + (note.empty() ? "" : ", " + note)) +
                 ">, penwidth=1.6, fillcolor=\"" + colour(box.of) + "\", tooltip=\"" +
                 dot_text(path_of(modules_, box.of)) + "\"]\n";
    }

    /// Returns: by box, whether it only feeds one adjacent box, such as unpacked weights: it gets
    /// that box's level, so as not to stretch the layout.
    [[nodiscard]] std::vector<bool> find_aside() const {
        const auto& graph = ops_.graph();
        std::vector<bool> reads(folded_.boxes.size(), false);
        for (id v = 0; v < folded_.box_of.size(); ++v) {
            const auto box = folded_.box_of[v];
            if (box == no_id || reads[box]) {
                continue;
            }
            for (auto [it, last] = in_edges(vertex_[v], graph); it != last; ++it) {
                const auto from = index_of(graph, source(*it, graph));
                reads[box] = reads[box] || (shown_[from] && folded_.box_of[from] != box);
            }
            annotations_.for_each_input(v, [&](id) { reads[box] = true; });
        }
        std::vector<id> reader(folded_.boxes.size(), no_id); // the only one
        std::vector<bool> aside(folded_.boxes.size(), false);
        for (const auto& edge : folded_.edges) {
            aside[edge.from] = reader[edge.from] == no_id && !reads[edge.from] &&
                               folded_.boxes[edge.from].kind != folded_graph::box_kind::rest &&
                               folded_.boxes[edge.from].around == folded_.boxes[edge.to].around;
            reader[edge.from] = edge.to;
        }
        return aside;
    }

    void write_edges() {
        const auto aside = find_aside();
        for (const auto& edge : folded_.edges) {
            const value_description value = describe_(edge.value);
            const auto shape = shape_label(value.shape);
            auto label = shape.empty() ? shape : label_text(shape);
            if (edge.values > 1) {
                label +=
                    (label.empty() ? "" : " ") + std::string("+") + std::to_string(edge.values - 1);
            }
            const bool quiet = is_quiet(edge.from) || is_quiet(edge.to);
            // The box for the rest is on many paths; it must not reverse other edges.
            const bool loose = folded_.boxes[edge.to].kind == folded_graph::box_kind::rest;
            const std::string look = quiet ? ", color=\"#94a3b8\", weight=0" : "";
            write_edge("b" + std::to_string(edge.from), "b" + std::to_string(edge.to),
                       aside[edge.from] ? "" : edge_label(quiet ? "" : label), value,
                       look + (loose              ? ", constraint=false"
                               : aside[edge.from] ? ", minlen=0"
                                                  : ""));
        }
    }

    /// Returns: the attribute, which takes space even for an empty label.
    [[nodiscard]] static std::string edge_label(const std::string& label) {
        return "label=<" + (label.empty() ? " " : "  " + label + " ") + ">, ";
    }

    void write_edge(const std::string& from, const std::string& to, const std::string& label,
                    const value_description& value, const std::string& more = {}) {
        const auto about = dot_text(value.name + " " + value.type_and_shape());
        text_ += from + " -> " + to + " [" + label + "tooltip=\"" + about + "\", labeltooltip=\"" +
                 about + "\"" + more + "]\n";
    }

    [[nodiscard]] bool is_quiet(id box) const {
        return folded_.boxes[box].kind == folded_graph::box_kind::shape_arithmetic;
    }

    /// Draws a boundary value on first use.
    [[nodiscard]] std::string end_called(char kind, id value, const value_description& about) {
        auto name = kind + std::to_string(value);
        if (ends_.insert(name).second) {
            text_ += name + " [fillcolor=\"#e2e8f0\", penwidth=0.8, fontsize=10, label=<" +
                     label_text(shortened(about.name, longest_name)) +
                     small(about.type_and_shape()) + ">]\n";
        }
        return name;
    }

    /// Draws the inputs and outputs of the shown part.
    void write_ends() {
        const auto& graph = ops_.graph();
        std::set<std::pair<id, id>> entered; // box, value
        std::set<std::pair<id, id>> exited;
        for (id v = 0; v < folded_.box_of.size(); ++v) {
            const auto box = folded_.box_of[v];
            if (box == no_id) {
                continue;
            }
            const auto enter = [&](id value) {
                if (entered.emplace(box, value).second) {
                    const value_description about = describe_(value);
                    write_edge(end_called('i', value, about), "b" + std::to_string(box),
                               edge_label(""), about);
                }
            };
            const auto leave = [&](id value) {
                if (exited.emplace(box, value).second) {
                    const value_description about = describe_(value);
                    write_edge("b" + std::to_string(box), end_called('o', value, about),
                               edge_label(""), about);
                }
            };
            const auto is_outside = [&](const auto& u) {
                const auto i = index_of(graph, u);
                return shown_[i] && folded_.box_of[i] == no_id;
            };
            for (auto [it, last] = in_edges(vertex_[v], graph); it != last; ++it) {
                if (is_outside(source(*it, graph))) {
                    enter(value_on(graph, *it));
                }
            }
            for (auto [it, last] = out_edges(vertex_[v], graph); it != last; ++it) {
                if (is_outside(target(*it, graph))) {
                    leave(value_on(graph, *it));
                }
            }
            annotations_.for_each_input(v, enter);
            annotations_.for_each_output(v, leave);
        }
    }

    /// That of the annotations, else one colour per look.
    [[nodiscard]] std::string colour(id m) const {
        constexpr std::array<std::string_view, 12> shades{
            "#dbeafe", "#dcfce7", "#fef3c7", "#fce7f3", "#ede9fe", "#cffafe",
            "#ffedd5", "#e0e7ff", "#d1fae5", "#fef9c3", "#fae8ff", "#f1f5f9"};
        if (auto own = annotations_.module_colour(m); !own.empty()) {
            return own;
        }
        return std::string(looks_[m] == no_id ||
                                   (m == 0 && modules_.class_name(m) == std::string_view())
                               ? "#f8fafc"
                               : shades[looks_[m] % shades.size()]);
    }

    Sink& sink_;
    const Ops& ops_;
    const Modules& modules_;
    const tree_index& tree_;
    const tagging& tags_;
    const folded_graph& folded_;
    const std::vector<bool>& shown_;
    const Describe& describe_;
    const Annotations& annotations_;
    std::vector<id> looks_;                 // by module
    std::vector<std::vector<id>> boxes_in_; // by module
    std::vector<std::size_t> nodes_in_;     // by module, including hidden ones
    vertices_by_index<graph_of<Ops>> vertex_;
    std::set<std::string> ends_;
    std::string text_;
};

} // namespace detail

/// Draws a module or the whole model as DOT: a cluster for every open module, a box for every
/// closed one, coloured by class or else by contents; edges are labelled with shapes.
///  `options` limit what is open and the size, `describe` describes values, `annotations` has the
/// interface of `no_annotations`. Complexity: O(V + E log E + modules).
template <text_sink Sink, named_operators Ops, module_view Modules,
          detail::value_describer Describe = detail::no_descriptions,
          class Annotations = detail::no_annotations,
          detail::showing<Ops> Visibility = hide_constants>
void write_dot(Sink& sink, const Ops& ops, const Modules& modules, const tagging& tagged,
               const collapse_options& options = {}, const Describe& describe = {},
               const Annotations& annotations = {}, const Visibility& visibility = {}) {
    const auto& graph = ops.graph();
    std::vector<bool> shown(num_vertices(graph));
    for (auto [it, last] = vertices(graph); it != last; ++it) {
        shown[detail::index_of(graph, *it)] = detail::shows(visibility, ops, *it);
    }
    std::vector<id> module;
    for (const auto& one : tagged.attributions) {
        module.push_back(one.module);
    }
    std::vector<bool> quiet;
    for (std::size_t v = 0; v < shown.size(); ++v) {
        quiet.push_back(annotations.is_quiet(static_cast<id>(v)));
    }
    const auto folded = fold_graph(graph, modules.index(), module, shown, options, quiet);
    detail::dot_picture(sink, ops, modules, tagged, folded, shown, describe, annotations)
        .write(options.root);
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_REPORT_DOT_HPP
