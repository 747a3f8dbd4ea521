// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CHECK_CHECK_MODEL_HPP
#define STEMMA_CHECK_CHECK_MODEL_HPP

#include <stemma/check/detail/check_data.hpp>
#include <stemma/check/detail/check_structure.hpp>
#include <stemma/check/detail/check_tags.hpp>
#include <stemma/core/id.hpp>
#include <stemma/error.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/model/finding.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/onnx/onnx_model.hpp>
#include <stemma/onnx/value_definitions.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/tagging/diagnostics.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// Options of `check_model`.
struct check_options {
    bool data = true;                      ///< whether to check the data of weights
    const module_tree* expected = nullptr; ///< the tree that a tagged file should have; null: any
    const onnx_policy_registry* known =
        nullptr; ///< policies by name, for records; null: the library's
};

/// Checks structure, data and tags of a model, and calls `report(finding)` for every problem.
/// Unreadable tags are one finding, `tags.damaged`.
/// Complexity: that of `check_structure`, `check_data` and `check_tags`.
template <class Report>
void check_model(const wire_model& model, Report report, const check_options& options = {}) {
    detail::check_structure(model, std::ref(report));
    if (options.data) {
        detail::check_data(model, std::ref(report));
    }
    detail::check_tags(model, std::ref(report),
                       options.known != nullptr ? *options.known : onnx_policy_registry{});
    if (options.expected != nullptr) {
        detail::check_tree(model, *options.expected, std::ref(report));
    }
}

/// Returns: the findings about a model, filtered by a policy or function. Complexity: as above.
template <detail::judging Policy = as_found>
[[nodiscard]] std::vector<finding> find_problems(const wire_model& model,
                                                 const check_options& options = {},
                                                 const Policy& policy = {}) {
    std::vector<finding> result;
    check_model(model, judged(policy, [&](finding one) { result.push_back(std::move(one)); }),
                options);
    return result;
}

/// Returns: the number of findings of a severity. Complexity: O(findings).
[[nodiscard]] inline std::size_t count_of(std::span<const finding> findings, severity level) {
    return static_cast<std::size_t>(std::count_if(
        findings.begin(), findings.end(), [&](const finding& one) { return one.level == level; }));
}

/// Writes findings about a model named `name` (`stemma.validate/1`). Complexity: O(length).
template <text_sink Sink>
void write_json(Sink& sink, std::span<const finding> findings, const onnx_model& model,
                std::string_view name) {
    detail::write_document(sink, "stemma.validate/1", [&](auto& json) {
        const auto errors = count_of(findings, severity::error);
        json.member("model", name);
        json.member("valid", errors == 0);
        json.member("errors", errors);
        json.member("warnings", count_of(findings, severity::warning));
        json.objects("findings", findings, [&](const auto& one) {
            json.member("code", one.code);
            json.member("severity", to_string(one.level));
            json.member("place", one.place);
            json.key("node");
            one.node == no_id ? json.null() : json.value(position_text(model, one.node));
            json.member("text", one.text);
        });
    });
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_CHECK_CHECK_MODEL_HPP
