// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DIALECT_HPP
#define STEMMA_EVIDENCE_DIALECT_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/context_facts.hpp>
#include <stemma/evidence/detail/hierarchy_table.hpp>
#include <stemma/evidence/detail/scope_table.hpp>
#include <stemma/evidence/evidence_context.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// Which tool gave an operator its name and metadata, as far as these show its origin.
enum class dialect : std::uint8_t {
    none,         ///< nothing shows its origin
    dynamo,       ///< metadata of torch's exporter on top of torch.export
    builder,      ///< metadata of the onnxscript builder
    torchscript,  ///< names of torch's TorchScript exporter
    builder_name, ///< names from model builders, without a leading slash
    function,     ///< a call of a local function, or inside one
    optimized,    ///< remains of a name left by an optimizer
    winml,        ///< tags of winml-cli alone
};

namespace detail {

/// The number of dialects.
inline constexpr std::size_t dialect_count = 8;

} // namespace detail

/// Returns: the name used in reports.
[[nodiscard]] constexpr std::string_view to_string(dialect d) noexcept {
    constexpr std::array<std::string_view, detail::dialect_count> names{
        "none",          "dynamo",   "builder",   "torchscript",
        "builder-names", "function", "optimized", "winml"};
    return names[static_cast<std::size_t>(d)];
}

/// Which dialects a model uses, by operator.
struct dialect_report {
    /// What a dialect reveals about an operator's module.
    enum class scope_quality : std::uint8_t {
        path_and_class, ///< which module of the tree, and of which class
        path,           ///< which module of the tree
        operator_only,  ///< nothing: the name is the operator's alone
    };

    std::vector<dialect> of;            ///< by vertex index
    std::vector<scope_quality> quality; ///< by vertex index
};

namespace detail {

/// Finds the dialect of each operator separately; a model may mix several.
/// Complexity: O(operators), after the facts of the context.
template <named_operators Ops, module_view Modules>
    requires parameter_readers<Ops>
[[nodiscard]] dialect_report detect_dialects(evidence_context<Ops, Modules>& context) {
    const auto& ops = context.ops();
    const auto& hierarchies = context.hierarchies();
    const auto& scopes = context.scopes();
    dialect_report report;
    report.of.resize(num_vertices(ops.graph()), dialect::none);
    report.quality.resize(report.of.size(), dialect_report::scope_quality::operator_only);
    for (auto [it, last] = vertices(ops.graph()); it != last; ++it) {
        const auto v = static_cast<id>(index_of(ops.graph(), *it));
        auto& entry = report.of[v];
        auto& quality = report.quality[v];
        const auto chain = hierarchies.chain_of.empty() ? no_id : hierarchies.chain_of[v];
        if (chain != no_id) {
            const auto& slot = hierarchies.chains[chain];
            const bool classes = !slot.levels.back().qualified_class.empty();
            entry = slot.dialect == hierarchy_dialect::dynamo ? dialect::dynamo : dialect::builder;
            quality = classes ? dialect_report::scope_quality::path_and_class
                              : dialect_report::scope_quality::path;
            continue;
        }
        if (std::binary_search(hierarchies.bare.begin(), hierarchies.bare.end(), v)) {
            entry = dialect::dynamo;
            continue;
        }
        if constexpr (calling_operators<Ops>) {
            const bool call = ops.callee(*it) != no_id;
            if (call || ops.enclosing_function(*it) != no_id) {
                entry = dialect::function;
                quality = call ? dialect_report::scope_quality::path_and_class
                               : dialect_report::scope_quality::operator_only;
                continue;
            }
        }
        const auto scope = scopes.scope_of[v];
        if (scope == no_id) {
            const auto& tags = hierarchies.class_tags;
            const auto tag = std::lower_bound(tags.begin(), tags.end(), v,
                                              [](const auto& one, id u) { return one.first < u; });
            if (tag != tags.end() && tag->first == v) {
                entry = dialect::winml;
                quality = dialect_report::scope_quality::path_and_class;
            }
            continue;
        }
        const bool is_leftover =
            std::binary_search(scopes.leftover.begin(), scopes.leftover.end(), v);
        const auto style = scopes.scopes[scope].style;
        entry = is_leftover                      ? dialect::optimized
                : style == scope_style::relative ? dialect::builder_name
                                                 : dialect::torchscript;
        const bool classes = style == scope_style::typed && !is_leftover;
        quality = classes ? dialect_report::scope_quality::path_and_class
                          : dialect_report::scope_quality::path;
    }
    return report;
}

} // namespace detail

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_EVIDENCE_DIALECT_HPP
