// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include "common.hpp"
#include "terminal.hpp"

#include <stemma/io/file.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/io/oracle.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <vector>

namespace cli {

void print_row(std::string_view label, std::string_view text) {
    put("{} {}\n", shaded(fitted(label, 12), shade::dim), text);
}

namespace {

/// Returns: the true module of each node, from a file or as one source of evidence claims it; none
/// where that names several.
std::vector<std::optional<std::string>> read_oracle(stemma::attributed_model& opened,
                                                    const std::string& oracle) {
    std::vector<std::optional<std::string>> truth(opened.model().node_count());
    if (const auto source = stemma::parse_provenance(oracle)) {
        if (!stemma::is_evidence(*source)) {
            throw stemma::error(stemma::error_code::refused, "", "oracle",
                                "'" + oracle + "' is a rule, not a source of evidence");
        }
        opened.for_each_claimed(*source, [&](stemma::id node, auto claims) {
            const bool one = std::all_of(claims.begin(), claims.end(), [&](const auto& c) {
                return c.module == claims.front().module;
            });
            if (one) {
                truth[node] = opened.modules().path(claims.front().module);
            }
        });
        return truth;
    }
    const stemma::mapped_file file(oracle);
    const stemma::oracle_file known(file.bytes(), oracle);
    for (stemma::id node = 0; node < truth.size(); ++node) {
        truth[node] = known.module_of(opened.model().name(node));
    }
    if (std::none_of(truth.begin(), truth.end(), [](const auto& one) { return one.has_value(); })) {
        throw stemma::error(stemma::error_code::malformed, oracle, "",
                            "speaks of no node of " + opened.file().path());
    }
    return truth;
}

} // namespace

stemma::tag_summary summarize(stemma::attributed_model& opened, const std::string& oracle) {
    std::vector<stemma::id> nodes(opened.model().node_count());
    std::iota(nodes.begin(), nodes.end(), stemma::id{0});
    return summarize(opened, oracle, nodes);
}

stemma::tag_summary summarize(stemma::attributed_model& opened, const std::string& oracle,
                              const std::vector<stemma::id>& nodes) {
    auto summary = stemma::summarize(opened.model(), opened.modules(), opened.tags(),
                                     opened.dialects(), nodes);
    summary.model = opened.file().path();
    if (oracle.empty()) {
        return summary;
    }
    const auto truth = read_oracle(opened, oracle);
    stemma::accuracy result;
    std::map<std::string, stemma::accuracy> by_module;
    for (auto node : nodes) {
        if (const auto& module = truth[node]) {
            const auto& made = opened.tags().attributions[node];
            auto& of_module = by_module[*module];
            if (made.source == stemma::provenance::root) {
                ++result.missing;
                ++of_module.missing;
                continue;
            }
            const auto how = stemma::relate(opened.modules().path(made.module), *module);
            result.add(how);
            of_module.add(how);
        }
    }
    summary.against_oracle = result;
    summary.oracle_modules.assign(by_module.begin(), by_module.end());
    return summary;
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

void print_summary(const stemma::tag_summary& summary) {
    print_row("model", fmt::format("{}: {}, {}, {}", summary.model, counted(summary.nodes, "node"),
                                   counted(summary.modules, "module"),
                                   counted(summary.initializers, "initializer")));
    print_row("tagged", fmt::format("{} of {} ({}), {}", grouped(summary.tagged),
                                    counted(summary.nodes, "node"), percent(summary.coverage()),
                                    counted(summary.tags.size(), "tag")));
    std::string sources;
    for (std::size_t p = 0; p < stemma::provenance_count; ++p) {
        if (summary.provenance[p] > 0) {
            sources += fmt::format("{}{} {}", sources.empty() ? "" : ", ",
                                   stemma::to_string(static_cast<stemma::provenance>(p)),
                                   grouped(summary.provenance[p]));
        }
    }
    print_row("known from", sources);
    if (summary.conflicts > 0 || summary.dropped > 0) {
        print_row("conflicts", fmt::format("{}{}", counted(summary.conflicts, "node"),
                                           summary.dropped > 0
                                               ? fmt::format("; claims about {} were not believed",
                                                             counted(summary.dropped, "node"))
                                               : ""));
    }
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

void print_summary_json(const stemma::tag_summary& summary) {
    standard_output out;
    stemma::json_writer json(out);
    json.begin_object();
    json.member("schema", "stemma.summary/1");
    stemma::write_summary(json, summary);
    json.end_object();
    json.finish();
}

} // namespace cli
