// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include "terminal.hpp"

#include <stemma/open/write_tagged.hpp>
#include <stemma/report/summarize_model.hpp>

#include <fmt/core.h>

namespace cli {

void print_row(std::string_view label, std::string_view text) {
    put("{} {}\n", shaded(fitted(label, 12), shade::dim), text);
}

std::string path_text(const stemma::attributed_model& opened, stemma::id m) {
    return m == 0 ? std::string("the root") : line_text(opened.modules().path(m));
}

std::string source_text(const stemma::line_row& row) {
    return row.line == 0
               ? shaded("(unknown)", shade::dim)
               : shaded(shortened(stemma::to_text({row.file, row.line, row.function}), 60),
                        shade::name);
}

std::string top_operators(const stemma::onnx_model& model,
                          const std::vector<stemma::module_statistics::operator_count>& counts,
                          std::size_t width) {
    constexpr std::string_view more = ", \xe2\x80\xa6";
    std::string text;
    std::size_t shown = 0;
    for (; shown < counts.size() && shown < 3; ++shown) {
        const auto next =
            fmt::format("{}{} {}", shown == 0 ? "" : ", ", model.operator_type(counts[shown].op),
                        grouped(counts[shown].count));
        if (width_of(text) + width_of(next) + width_of(more) > width) {
            break;
        }
        text += next;
    }
    return shown > 0 && shown < counts.size() ? text.append(more) : text;
}

void print_summary(const stemma::tag_summary& summary, std::size_t nodes) {
    print_row("model", fmt::format("{}: {}, {}, {}", summary.model, counted(nodes, "node"),
                                   counted(summary.modules, "module"),
                                   counted(summary.initializers, "initializer")));
    print_row("tagged", fmt::format("{} of {} ({}), {}", grouped(summary.tagged),
                                    counted(summary.nodes, "node"), percent(summary.coverage()),
                                    counted(summary.tags.size(), "tag")));
    std::string sources;
    for (std::size_t p = 0; p < summary.provenance.size(); ++p) {
        if (summary.provenance[p] > 0) {
            sources += fmt::format("{}{} {}", sources.empty() ? "" : ", ",
                                   summary.provenances[static_cast<stemma::provenance>(p)],
                                   grouped(summary.provenance[p]));
        }
    }
    print_row("evidence", sources);
    if (summary.conflicts > 0 || summary.dropped > 0) {
        print_row("conflicts",
                  fmt::format("{}{}", counted(summary.conflicts, "node"),
                              summary.dropped > 0 ? fmt::format("; claims about {} were dropped",
                                                                counted(summary.dropped, "node"))
                                                  : ""));
    }
    print_accuracy(summary);
}

void print_accuracy(const stemma::tag_summary& summary) {
    if (const auto& result = summary.against_oracle) {
        print_row("accuracy",
                  fmt::format("exact {}, ancestor {}, descendant {}, contaminated {}{} of {}",
                              grouped(result->exact), grouped(result->ancestor),
                              grouped(result->descendant), grouped(result->contaminated),
                              result->missing > 0
                                  ? fmt::format(", missing {}", grouped(result->missing))
                                  : "",
                              grouped(result->total())));
        std::size_t shown = 0;
        for (const auto& [module, counts] : summary.oracle_modules) {
            if (counts.exact < counts.total() && ++shown <= 10) {
                print_row("",
                          fmt::format("{}: exact {} of {}, contaminated {}",
                                      module.empty() ? "the root" : module, grouped(counts.exact),
                                      grouped(counts.total()), grouped(counts.contaminated)));
            }
        }
    }
}

void write_tags(const common_options& options, const tag_output& output,
                stemma::attributed_model& opened, const stemma::tag_summary& summary,
                const stemma::carrier_set& carriers) {
    if (!output.sidecar.empty()) {
        stemma::write_sidecar(output.sidecar, opened, summary, writing(output.file));
        if (prints_text(options)) {
            print_row("sidecar", output.sidecar);
        }
    }
    if (const auto& path = output.file.path; !path.empty()) {
        warn_of_external_data(options, path, opened.model(), output.file.data);
        const auto parameters = parameters_to_write(output.file, opened);
        opened.forget_evidence();
        auto how = writing(output.file);
        how.name_nodes = output.name_nodes;
        how.parameters = parameters.empty() ? nullptr : &parameters;
        const auto bytes = stemma::write_tagged(opened, path, carriers, how);
        if (prints_text(options)) {
            print_row("written", fmt::format("{}, {} bytes, carrier {}", path, grouped(bytes),
                                             output.carriers));
        }
    }
    print_json(options.format, summary);
}

} // namespace cli
