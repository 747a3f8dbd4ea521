// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_WIRE_EXPORT_REPORT_HPP
#define STEMMA_ONNX_WIRE_EXPORT_REPORT_HPP

#include <stemma/io/json_writer.hpp>
#include <stemma/onnx/html_report.hpp>
#include <stemma/onnx/module_statistics.hpp>
#include <stemma/onnx/wire/attributed_model.hpp>
#include <stemma/onnx/wire/summarize_model.hpp>
#include <stemma/onnx/wire/value_descriptions.hpp>

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

#endif // STEMMA_ONNX_WIRE_EXPORT_REPORT_HPP
