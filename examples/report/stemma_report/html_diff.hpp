// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EXAMPLES_REPORT_STEMMA_REPORT_HTML_DIFF_HPP
#define STEMMA_EXAMPLES_REPORT_STEMMA_REPORT_HTML_DIFF_HPP

#include <stemma/compare/link_nodes.hpp>
#include <stemma/compare/model_diff.hpp>
#include <stemma/core/id.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma/report/summarize_model.hpp>
#include <stemma_report/html_report.hpp>
#include <stemma_report/page.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stemma_report {

namespace detail {

/// Writes what became of the modules and nodes of a model in the next one.
template <stemma::text_sink Sink>
class step_data {
public:
    step_data(stemma::json_writer<Sink>& json, const stemma::model_diff& diff,
              const stemma::attributed_model& first, const stemma::attributed_model& second)
        : json_(json), diff_(diff), first_(first), second_(second) {}

    void write(const stemma::diff_options& options) {
        json_.begin_object();
        json_.member("same", diff_.same_modules);
        json_.member("of", diff_.first_modules);
        json_.list("header", diff_.header,
                   [&](const auto& one) { json_.row(one.what, one.first, one.second); });
        json_.list("changes", diff_.modules, [&](const auto& entry) { write_change(entry); });
        json_.key("modules");
        json_.begin_array();
        write_ids(diff_.pairs.to_second);
        write_ids(diff_.pairs.to_first);
        json_.end_array();
        json_.key("nodes"); // pairs, one after the other
        json_.begin_array(true);
        for (const auto& [v, w] : linked_pairs(diff_, first_, second_, options)) {
            json_.value(v);
            json_.value(w);
        }
        json_.end_array();
        json_.end_object();
    }

private:
    void write_change(const stemma::model_diff::changed_module& entry) {
        json_.begin_object(true);
        json_.key("ends");
        write_ids({entry.first, entry.second});
        json_.values("changes", entry.changes, [&](auto change) { return to_string(change); });
        json_.key("nodes");
        json_.row(entry.only_first.size(), entry.only_second.size());
        double relative = 0;
        std::size_t comparable = 0;
        for (const auto& weight : entry.weights) {
            relative = std::max(relative, weight.comparable ? weight.difference.relative : 0);
            comparable += weight.comparable ? 1U : 0U;
        }
        // Their number, the largest relative difference, null if infinite, and of how many it is.
        json_.key("weights");
        json_.row(entry.weights.size(), relative, comparable);
        json_.end_object();
    }

    void write_ids(const std::vector<stemma::id>& all) {
        json_.begin_array(true);
        for (auto one : all) {
            one == stemma::no_id ? json_.value(-1) : json_.value(one);
        }
        json_.end_array();
    }

    stemma::json_writer<Sink>& json_;
    const stemma::model_diff& diff_;
    const stemma::attributed_model& first_;
    const stemma::attributed_model& second_;
};

} // namespace detail

/// Writes a page that shows models side by side, each as `write_html_report` does: what is chosen
/// in one is found in the others, and changed modules are listed. `diffs[i]` compares
/// `models[i]` with `models[i + 1]` by these options.
///
/// Requires: at least two models, whose evidence was not forgotten, and a difference for each but
/// the last. Complexity: that of `linked_pairs` for each difference, and O(length of the result).
template <stemma::text_sink Sink>
void write_html_diff(Sink& sink, std::span<const stemma::attributed_model* const> models,
                     std::span<const stemma::model_diff> diffs,
                     const stemma::diff_options& options = {}) {
    std::string title;
    for (const auto* model : models) {
        const std::string path(model->model().file());
        title.append(title.empty() ? "" : ", ").append(path, path.find_last_of("/\\") + 1);
    }
    sink.write(detail::panes[0]);
    sink.write(stemma::detail::xml_text(title));
    sink.write(detail::panes[1]);
    detail::script_sink script(sink);
    const auto end_data = [&] { sink.write("</script>\n"); };
    for (auto* model : models) {
        sink.write("<script type=\"application/json\" class=\"model\">");
        detail::report_data(script, *model).write(stemma::summarize(*model), {});
        end_data();
    }
    sink.write("<script type=\"application/json\" id=\"steps\">");
    stemma::json_writer json(script);
    json.begin_object();
    json.list("page", detail::page, [&](const auto part) { json.value(part); });
    json.key("files");
    json.begin_array();
    for (const auto* model : models) {
        json.value(model->model().file());
    }
    json.end_array();
    json.key("steps");
    json.begin_array();
    for (std::size_t i = 0; i < diffs.size(); ++i) {
        detail::step_data(json, diffs[i], *models[i], *models[i + 1]).write(options);
    }
    json.end_array();
    json.end_object();
    json.finish();
    end_data();
    sink.write(detail::panes[2]);
}

} // namespace stemma_report

#endif // STEMMA_EXAMPLES_REPORT_STEMMA_REPORT_HTML_DIFF_HPP
