// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_REPORT_WHY_NOTHING_HPP
#define STEMMA_REPORT_WHY_NOTHING_HPP

#include <stemma/core/detail/ascii.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/nearest_texts.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma/report/detail/report_names.hpp>

#include <string>
#include <string_view>

namespace stemma::inline STEMMA_ABI {

namespace detail {

/// Explains why `explainer` finds nothing with a name.
class unknown_name {
public:
    unknown_name(const attributed_model& opened, std::string_view text)
        : opened_(opened), model_(opened.model()), text_(text) {}

    [[nodiscard]] std::string why() const {
        if (const auto position = read_position(text_)) {
            for (id g = 0; g < model_.graph_count(); ++g) {
                if (model_.graph_path(g) == position->graph) {
                    return no_such_position(g);
                }
            }
            return no_such_graph(position->graph);
        }
        if (text_.empty()) {
            return "nothing has an empty name; the root module is \"''\"";
        }
        const auto why = "nothing is named '" + std::string(text_) + "'";
        const auto written = "#" + std::string(text_);
        if (is_number(text_) && read_position(written)->index < model_.graph(0).node_count) {
            return why + "; the node at that position is '" + written + "'";
        }
        if (const auto* const term = term_of_query()) {
            return why + "; query '" + term + std::string(text_) +
                   "' finds everything of that kind";
        }
        return why + similar();
    }

private:
    [[nodiscard]] std::string no_such_position(id g) const {
        const auto count = model_.graph(g).node_count;
        const auto path = model_.graph_path(g);
        return "no node " + std::string(text_) + ": " +
               (g == 0 ? std::string("the main graph") : "'" + path + "'") + " has " +
               std::to_string(count) + (count == 1 ? " node" : " nodes") +
               (count == 0 ? "" : ", " + path + "#0 to " + path + "#" + std::to_string(count - 1));
    }

    [[nodiscard]] std::string no_such_graph(std::string_view path) const {
        nearest_texts nearest(path, 3);
        for (id g = 1; g < model_.graph_count(); ++g) {
            nearest.offer(model_.graph_path(g));
        }
        return "there is no body or function '" + std::string(path) + "'" + nearest.similar();
    }

    /// Returns: the kind of query that finds it, if it is a class or an operator type.
    [[nodiscard]] const char* term_of_query() const {
        const auto& modules = opened_.modules();
        for (id m = 0; m < modules.size() && !text_.empty(); ++m) {
            if (modules.class_name(m) == text_ || modules.qualified_class(m) == text_) {
                return "class:";
            }
        }
        for (id node = 0; node < model_.node_count() && !text_.empty(); ++node) {
            if (model_.op_type(node) == text_) {
                return "op:";
            }
        }
        return nullptr;
    }

    /// Returns: the most similar names of modules, nodes, values and functions.
    [[nodiscard]] std::string similar() const {
        nearest_texts nearest(text_, 3);
        for (id m = 0; m < opened_.modules().size(); ++m) { // before its nodes, which contain it
            nearest.offer(opened_.modules().report_path(m));
        }
        for (id node = 0; node < model_.node_count(); ++node) {
            nearest.offer(model_.name(node));
        }
        for (id value = 0; value < model_.value_count(); ++value) {
            nearest.offer(model_.value_name(value));
        }
        for (const auto& function : model_.functions()) {
            nearest.offer(model_.text(function.name));
        }
        return nearest.similar();
    }

    const attributed_model& opened_;
    const wire_model& model_;
    std::string_view text_;
};

} // namespace detail

/// Returns: why `explainer::explain` finds nothing for a text: similar names, the number of nodes,
/// the syntax of positions, or the query that finds a class or an operator type.
/// Complexity: that of `nearest_texts` for all names.
[[nodiscard]] inline std::string why_nothing(const attributed_model& opened,
                                             std::string_view text) {
    return detail::unknown_name(opened, text).why();
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_REPORT_WHY_NOTHING_HPP
