// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_PLAN_PRECISION_PLAN_HPP
#define STEMMA_PLAN_PRECISION_PLAN_HPP

#include <stemma/config.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/parse_name.hpp>
#include <stemma/error.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/io/mapped_file.hpp>
#include <stemma/model/module_lookup.hpp>
#include <stemma/onnx/detail/constant_node.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma/query/find_modules.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// The nodes that a quantizer or runtime should treat specially.
struct precision_plan {
    std::vector<id> nodes{};     ///< of the main graph, in order, without Constants
    std::vector<double> ratio{}; ///< by place in `nodes`: SQNR of the module in dB; 0 if unknown
    std::size_t unnamed = 0;     ///< unnamed nodes, which cannot be listed
    std::size_t inside = 0;      ///< nodes in bodies and functions, which tools do not support
    std::size_t modules = 0;     ///< those of a report that the nodes are in; 0 for a query
};

namespace detail {

/// A module that exceeds a bound in `numerics`.
struct sensitive_module {
    std::string path{}; // of the module
    double ratio = 0;   // SQNR of its outputs in dB, on correct inputs if known
    bool adds = false;  // it is known to add errors
};

/// Collects nodes for a plan.
inline void add_to_plan(precision_plan& plan, const attributed_model& opened,
                        const std::vector<id>& nodes, const std::function<double(id)>& ratio) {
    const auto& model = opened.model();
    for (const auto node : nodes) {
        if (model.graph_of(node) != 0) {
            ++plan.inside;
        } else if (model.name(node).empty()) {
            ++plan.unnamed;
        } else if (!is_constant_node(model, node)) {
            plan.nodes.push_back(node);
            plan.ratio.push_back(ratio(node));
        }
    }
}

/// Returns: the modules in a report of `numerics` (`stemma.numerics/1`) that exceed a bound and
/// contain no other module that does: those known to add errors first, then the worst first.
/// Throws: `error` of `error_code::cannot_read`, or of `malformed` for anything else.
/// Complexity: O(bytes + n log n of the modules).
[[nodiscard]] inline std::vector<sensitive_module> sensitive_modules(const std::string& report) {
    const mapped_file file(report);
    const auto fail = [&](std::string_view why) {
        STEMMA_THROW(error(error_code::malformed, report, "", why));
    };
    const auto json = nlohmann::json::parse(file.bytes(), nullptr, false);
    const auto schema = json.is_object() ? json.find("schema") : json.end();
    if (!json.is_object() || schema == json.end() || *schema != "stemma.numerics/1" ||
        !json.contains("modules") || !json["modules"].is_array()) {
        fail("is not a stemma.numerics/1 report");
    }
    const auto ratio_of = [](const nlohmann::json& by) -> std::optional<double> {
        const auto ratio = by.is_object() ? by.find("sqnr") : by.end();
        return by.is_object() && ratio != by.end() && ratio->is_number()
                   ? std::optional(ratio->get<double>())
                   : std::nullopt;
    };
    std::vector<sensitive_module> result;
    for (const auto& one : json["modules"]) {
        if (!one.is_object() || !one.contains("module") || !one["module"].is_string() ||
            !one.contains("verdict") || !one["verdict"].is_string()) {
            fail("a module lacks its path or verdict");
        }
        const auto verdict = one["verdict"].get<std::string>();
        if (verdict != "adds" && verdict != "unclear") {
            continue;
        }
        const auto own = one.contains("own") ? ratio_of(one["own"]) : std::nullopt;
        const auto all = one.contains("outgoing") ? ratio_of(one["outgoing"]) : std::nullopt;
        result.push_back(
            {one["module"].get<std::string>(), own.value_or(all.value_or(0)), verdict == "adds"});
    }
    std::set<std::string> paths;
    for (const auto& one : result) {
        paths.insert(one.path);
    }
    std::erase_if(result, [&](const sensitive_module& one) { // those that contain another one
        const auto inside = one.path.empty() ? "" : one.path + ".";
        const auto next = paths.upper_bound(inside);
        return next != paths.end() && next->starts_with(inside);
    });
    range::stable_sort_by(
        result, [](const sensitive_module& one) { return std::pair(!one.adds, one.ratio); });
    return result;
}

} // namespace detail

/// Returns: a plan for the nodes that match a query.
/// Throws: as `find_nodes`. Complexity: that of `find_nodes`.
[[nodiscard]] inline precision_plan plan_for_query(const attributed_model& opened,
                                                   std::string_view query) {
    precision_plan plan;
    detail::add_to_plan(plan, opened, find_nodes(opened, query), [](id) { return 0.0; });
    return plan;
}

/// Returns: a plan for the nodes in and below the modules in a report of `numerics`
/// (`stemma.numerics/1`) that exceed a bound and contain no other module that does: those known to
/// add errors first, then the worst first, and only the first `top` of them, unless that is 0.
/// Throws: `error` of `error_code::cannot_read`; of `malformed` for anything else; of `not_found`
/// for modules that are not in the model. Complexity: O(nodes + bytes), and O(n log n) in the
/// modules.
[[nodiscard]] inline precision_plan
plan_for_report(const attributed_model& opened, const std::string& report, std::size_t top = 0) {
    auto modules = detail::sensitive_modules(report);
    modules.resize(top == 0 ? modules.size() : std::min(top, modules.size()));
    const auto& tree = opened.modules().index();
    const module_lookup paths(opened.modules());
    std::vector<const detail::sensitive_module*> of(tree.size(), nullptr);
    for (const auto& one : modules) {
        const auto m = find_module(paths, one.path);
        if (m == no_id) {
            STEMMA_THROW(error(error_code::not_found, opened.file().path(), one.path,
                               "the model has no such module"));
        }
        std::fill(of.begin() + m, of.begin() + tree.end(m), &one);
    }
    std::vector<id> nodes;
    const auto of_node = [&](id node) { return of[opened.tags().attributions[node].module]; };
    for (id node = 0; node < opened.model().node_count(); ++node) {
        if (of_node(node) != nullptr) {
            nodes.push_back(node);
        }
    }
    precision_plan plan;
    plan.modules = modules.size();
    detail::add_to_plan(plan, opened, nodes, [&](id node) { return of_node(node)->ratio; });
    return plan;
}

/// Formats of plans, described in docs/plan.md.
/// Names: `ort`, `ort-overrides`, `olive`, `nncf`, `tensorrt` or `aimet`.
enum class plan_format : std::uint8_t {
    ort,           ///< ONNX Runtime: `nodes_to_exclude`
    ort_overrides, ///< ONNX Runtime: `TensorQuantOverrides`, activations of 16 bits
    olive,         ///< Olive: a pass `OnnxStaticQuantization`
    nncf,          ///< NNCF: `IgnoredScope`
    tensorrt,      ///< trtexec: `--layerPrecisions`, `--layerOutputTypes`
    aimet,         ///< AIMET: what `flip_layers_to_higher_precision` takes
};

namespace detail {

template <>
inline constexpr std::array<std::string_view, 6> names_of_values<plan_format>{
    "ort", "ort-overrides", "olive", "nncf", "tensorrt", "aimet"};

/// Whether trtexec can parse a name in a list.
[[nodiscard]] inline bool is_layer_name(std::string_view name) {
    return name.find_first_of(",:*\"' \n") == name.npos;
}

template <text_sink Sink>
void write_layer_precisions(Sink& sink, std::span<const std::string_view> names) {
    if (!range::any_of(names, is_layer_name)) {
        return; // options without values say something else
    }
    sink.write("--precisionConstraints=obey\n");
    for (const std::string_view option : {"--layerPrecisions=", "--layerOutputTypes="}) {
        sink.write(option);
        bool first = true;
        for (const auto name : names) {
            if (is_layer_name(name)) {
                sink.write(std::exchange(first, false) ? "" : ",");
                sink.write(name);
                sink.write(":fp32");
            }
        }
        sink.write("\n");
    }
}

} // namespace detail

/// Writes a plan in a tool's format. Requires: a plan for this model. Returns: the number of
/// omitted nodes, whose names the format cannot represent.
/// Complexity: O(length of the result).
template <text_sink Sink>
std::size_t write_plan(Sink& sink, const precision_plan& plan, const attributed_model& opened,
                       plan_format format) {
    const auto& model = opened.model();
    std::vector<std::string_view> names;
    for (const auto node : plan.nodes) {
        names.push_back(model.name(node));
    }
    if (format == plan_format::tensorrt) {
        detail::write_layer_precisions(sink, names);
        return names.size() -
               static_cast<std::size_t>(detail::range::count_if(names, detail::is_layer_name));
    }
    json_writer json(sink);
    const auto list = [&](std::string_view key) {
        json.key(key);
        json.begin_array();
        for (const auto name : names) {
            json.value(name);
        }
        json.end_array();
    };
    json.begin_object();
    switch (format) {
    case plan_format::ort:
        list("nodes_to_exclude");
        break;
    case plan_format::ort_overrides:
        json.key("TensorQuantOverrides");
        json.begin_object();
        for (const auto node : plan.nodes) {
            for (id i = 0; i < model.output_count(node); ++i) {
                if (const auto name = model.value_name(model.first_output(node) + i);
                    !name.empty()) {
                    json.flat_list(
                        name, [&] { json.object([&] { json.member("quant_type", "QUInt16"); }); });
                }
            }
        }
        json.end_object();
        break;
    case plan_format::olive:
        json.key("passes");
        json.begin_object();
        json.key("quantization");
        json.begin_object();
        json.member("type", "OnnxStaticQuantization");
        list("nodes_to_exclude");
        json.end_object();
        json.end_object();
        break;
    case plan_format::nncf:
        list("names");
        break;
    case plan_format::aimet:
    case plan_format::tensorrt:
        for (std::size_t i = 0; i < names.size(); ++i) {
            json.member(names[i], plan.ratio[i]);
        }
        break;
    }
    json.end_object();
    json.finish();
    return 0;
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_PLAN_PRECISION_PLAN_HPP
