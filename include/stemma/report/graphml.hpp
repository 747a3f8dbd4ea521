// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_REPORT_GRAPHML_HPP
#define STEMMA_REPORT_GRAPHML_HPP

#include <stemma/core/detail/vertices_by_index.hpp>
#include <stemma/core/id.hpp>
#include <stemma/io/detail/xml_text.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/detail/module_members.hpp>
#include <stemma/model/detail/stored_name.hpp>
#include <stemma/model/edge_values.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>
#include <stemma/report/visibility.hpp>
#include <stemma/tagging/tag_operators.hpp>
#include <stemma/types/value_description.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI {

namespace detail {

/// Writes the lines of a GraphML file.
template <text_sink Sink>
class graphml_lines {
public:
    explicit graphml_lines(Sink& sink) : sink_(sink) {}

    void line(std::string_view text) {
        buffer_.append(text).push_back('\n');
        if (buffer_.size() >= full) {
            flush();
        }
    }

    /// A `<data>` element, unless the value is unknown.
    void data(std::string_view key, std::string_view value) {
        if (!value.empty()) {
            buffer_.append("<data key=\"").append(key).append("\">");
            append_xml_text(value, buffer_);
            line("</data>");
        }
    }

    void flush() {
        sink_.write(buffer_);
        buffer_.clear();
    }

private:
    static constexpr std::size_t full = 1U << 16U;

    Sink& sink_;
    std::string buffer_;
};

inline constexpr std::string_view graphml_head =
    R"(<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="kind" for="all" attr.name="kind" attr.type="string"/>
<key id="name" for="all" attr.name="name" attr.type="string"/>
<key id="path" for="all" attr.name="path" attr.type="string"/>
<key id="tag" for="all" attr.name="tag" attr.type="string"/>
<key id="class" for="all" attr.name="class" attr.type="string"/>
<key id="op_type" for="node" attr.name="op_type" attr.type="string"/>
<key id="attributes" for="node" attr.name="attributes" attr.type="string"/>
<key id="provenance" for="node" attr.name="provenance" attr.type="string"/>
<key id="confidence" for="node" attr.name="confidence" attr.type="double"/>
<key id="tensor" for="edge" attr.name="tensor" attr.type="string"/>
<key id="type" for="edge" attr.name="type" attr.type="string"/>
<key id="shape" for="edge" attr.name="shape" attr.type="string"/>)";

} // namespace detail

/// No attributes of operators.
struct no_attributes {
    /// Returns: "".
    [[nodiscard]] std::string operator()(id) const { return {}; }
};

enum class graphml_form : std::uint8_t {
    nested, ///< a graph per module, inside that of its parent
    flat,   ///< one graph, with modules as paths and tags of operators
};

/// Writes a graph with its modules as GraphML; all edges are in the outermost graph.
///
/// Nodes are `m<rank>` for modules, marked as groups as in yEd, which NetworkX also reads, and
/// `n<index>` for operators. `describe` describes the values on edges, `attributes` returns the
/// attributes of an operator by vertex index. (Boost.Graph's writer supports no nested graphs, and
/// does not escape control characters.)
/// Complexity: O(V + E + modules + length of the result); memory O(V).
template <text_sink Sink, named_operators Ops, module_view Modules,
          detail::value_describer Describe = detail::no_descriptions,
          detail::showing<Ops> Visibility = show_all, class Attributes = no_attributes>
void write_graphml(Sink& sink, const Ops& ops, const Modules& modules, const tagging& tagged,
                   graphml_form form = graphml_form::nested, const Describe& describe = {},
                   const Visibility& visibility = {}, const Attributes& attributes = {}) {
    const auto& graph = ops.graph();
    const tree_index& tree = modules.index();
    const detail::vertices_by_index vertex(graph);
    std::vector<bool> shown(num_vertices(graph));
    for (auto [it, last] = vertices(graph); it != last; ++it) {
        shown[detail::index_of(graph, *it)] = detail::shows(visibility, ops, *it);
    }
    const detail::module_members members(tree, tagged.attributions);
    detail::graphml_lines out(sink);
    const auto number = [](char kind, std::size_t n) { return kind + std::to_string(n); };
    const auto write_module = [&](id m) {
        out.data("kind", "module");
        out.data("name", modules.name(m));
        out.data("path", path_of(modules, m));
        out.data("tag", tagged.tags.is_selected(m) ? tagged.tags.text(m) : std::string());
        out.data("class", modules.class_name(m));
    };
    const auto write_operators = [&](id m) {
        for (auto v : members.direct(m)) {
            if (!shown[v]) {
                continue;
            }
            const auto& attribution = tagged.attributions[v];
            out.line("<node id=\"" + number('n', v) + "\">");
            out.data("kind", "operator");
            out.data("name", detail::stored_name(ops, vertex[v]));
            out.data("op_type", ops.op_type(vertex[v]));
            out.data("attributes", attributes(v));
            out.data("path", path_of(modules, m));
            out.data("tag", tagged.tags.text(m));
            out.data("class", modules.class_name(m));
            out.data("provenance", tagged.provenances[attribution.source]);
            out.data("confidence", std::to_string(attribution.confidence));
            out.line("</node>");
        }
    };
    out.line(detail::graphml_head);
    out.line("<graph id=\"m0\" edgedefault=\"directed\">");
    write_module(0);
    write_operators(0);
    std::vector<id> open; // ancestors of the current module, without the root
    const auto close_until = [&](id m) {
        for (; !open.empty() && tree.end(open.back()) <= m; open.pop_back()) {
            out.line("</graph>\n</node>");
        }
    };
    for (id m = 1; m < tree.size(); ++m) {
        if (form == graphml_form::flat) {
            write_operators(m);
            continue;
        }
        close_until(m);
        open.push_back(m);
        out.line("<node id=\"" + number('m', m) + "\" yfiles.foldertype=\"group\">");
        write_module(m);
        out.line("<graph id=\"" + number('m', m) + ":\" edgedefault=\"directed\">");
        write_operators(m);
    }
    close_until(static_cast<id>(tree.size()));
    std::size_t edges = 0;
    for (id v = 0; v < shown.size(); ++v) {
        for (auto [it, last] = in_edges(vertex[v], graph); shown[v] && it != last; ++it) {
            const auto from = detail::index_of(graph, source(*it, graph));
            if (!shown[from]) {
                continue;
            }
            out.line("<edge id=\"" + number('e', edges++) + "\" source=\"" + number('n', from) +
                     "\" target=\"" + number('n', v) + "\">");
            if constexpr (carries_values<graph_of<Ops>>) {
                const value_description value = describe(detail::value_on(graph, *it));
                out.data("tensor", value.name);
                out.data("type", value.type);
                out.data("shape", value.shape);
            }
            out.line("</edge>");
        }
    }
    out.line("</graph>\n</graphml>");
    out.flush();
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_REPORT_GRAPHML_HPP
