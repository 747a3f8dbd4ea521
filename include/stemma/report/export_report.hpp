// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_REPORT_EXPORT_REPORT_HPP
#define STEMMA_REPORT_EXPORT_REPORT_HPP

#include <stemma/io/json_writer.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma/record/module_statistics.hpp>
#include <stemma/report/html_report.hpp>
#include <stemma/report/summarize_model.hpp>
#include <stemma/types/value_descriptions.hpp>

namespace stemma {

/// Writes a page about a model that needs nothing but a browser. Requires: the evidence was not
/// forgotten. Complexity: that of the overload that is given all parts, and of `summarize`.
template <text_sink Sink>
void write_html_report(Sink& sink, attributed_model& opened) {
    const auto& model = opened.model();
    const value_descriptions describe(model);
    const auto counts = collect_statistics(model, opened.modules(), opened.tags());
    const auto summary = summarize(opened);
    write_html_report(sink, model, opened.operators().graph(), opened.modules(), opened.tags(),
                      counts, summary, describe);
}

} // namespace stemma

#endif // STEMMA_REPORT_EXPORT_REPORT_HPP
