// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_SCOPE_TABLE_HPP
#define STEMMA_EVIDENCE_SCOPE_TABLE_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/dotted_path.hpp>
#include <stemma/core/flat_index.hpp>
#include <stemma/core/hash.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/json_text.hpp>
#include <stemma/core/path_trail.hpp>
#include <stemma/model/finding.hpp>
#include <stemma/model/operator_view.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace stemma {

/// How the names of operators carry scopes.
enum class scope_style : std::uint8_t {
    called,   ///< `/encoder/layer.0/Add_1`: instance names of the modules called, as torch exports
    relative, ///< `model/layers.0/Add_node_7`: attribute names relative to the parent, of builders
    typed,    ///< `app.Net::/app.Block::layer.0/Add`: instances with classes, as PyTorch keeps them
};

/// How many styles there are; as many scopes stand for their roots.
inline constexpr id scope_style_count = 3;

/// Returns: whether `text` is `stem`, or `stem` followed by `_` and a number.
[[nodiscard]] constexpr bool is_counted(std::string_view text, std::string_view stem) noexcept {
    if (!text.starts_with(stem)) {
        return false;
    }
    text.remove_prefix(stem.size());
    return text.empty() ||
           (text.size() > 1 && text.front() == '_' &&
            std::all_of(text.begin() + 1, text.end(), [](char c) { return c >= '0' && c <= '9'; }));
}

/// A name taken apart: where the scope ends, and in which style it is written.
struct scoped_name {
    std::string_view scope;                  ///< without the slashes around it; "" for the root
    scope_style style = scope_style::called; ///< which root it starts at
    bool exact = true; ///< written for this operator; else a trace of one that was replaced
};

/// Returns: the scope in an operator's name, if it has the form of a scoped name of such an
/// operator.
[[nodiscard]] constexpr std::optional<scoped_name>
split_scoped_name(std::string_view name, std::string_view op_type) noexcept {
    const auto slash = name.rfind('/');
    if (op_type.empty()) {
        return std::nullopt;
    }
    if (slash == name.npos) {
        // Builders leave the root's operators without any slash.
        const bool built = name.size() > op_type.size() && name.starts_with(op_type) &&
                           is_counted(name.substr(op_type.size()), "_node") && name.back() != 'e';
        return built ? std::optional(scoped_name{"", scope_style::relative, true}) : std::nullopt;
    }
    auto last = name.substr(slash + 1);
    if (name.substr(0, slash).find("::") != name.npos) {
        return is_counted(last, op_type)
                   ? std::optional(scoped_name{name.substr(0, slash), scope_style::typed, true})
                   : std::nullopt;
    }
    if (name.front() == '/') {
        if (!is_counted(last, op_type)) {
            return std::nullopt;
        }
        return scoped_name{name.substr(1, slash == 0 ? 0 : slash - 1), scope_style::called, true};
    }
    if (last.starts_with(op_type)) {
        last.remove_prefix(op_type.size());
        if (is_counted(last, "") || is_counted(last, "_node")) {
            return scoped_name{name.substr(0, slash), scope_style::relative, true};
        }
    }
    return std::nullopt;
}

/// Returns: the scope of the operator whose name an optimizer left as part of this one:
/// `fused /layer1/conv1/Conv`, `/encoder/dense/MatMul/MatMulAddFusion`,
/// `/norm/Pow/LayerNormFusion/`,
/// `_inlfunc_Gelu_/act/Mul`, `/fc/MatMul_quant`.
/// Complexity: O(length).
[[nodiscard]] constexpr std::optional<scoped_name>
split_leftover_name(std::string_view name) noexcept {
    constexpr std::string_view inlined = "_inlfunc_";
    constexpr std::string_view fused = "fused ";
    constexpr std::string_view fusion = "Fusion";
    if (name.starts_with(inlined)) {
        const auto original = name.find("_/");
        if (original == name.npos) {
            return std::nullopt;
        }
        name.remove_prefix(original + 1);
    }
    if (name.starts_with(fused)) {
        name.remove_prefix(fused.size());
    }
    while (name.size() > 1 && name.back() == '/') {
        name.remove_suffix(1);
    }
    auto slash = name.rfind('/');
    while (slash != name.npos && slash > 0 && name.ends_with(fusion)) {
        name.remove_suffix(name.size() - slash);
        slash = name.rfind('/');
    }
    if (slash == name.npos || slash + 1 == name.size()) {
        return std::nullopt;
    }
    // Operators are written like classes, modules like variables.
    const char first = name[slash + 1];
    if (first < 'A' || first > 'Z') {
        return std::nullopt;
    }
    return name.front() == '/'
               ? scoped_name{name.substr(1, slash == 0 ? 0 : slash - 1), scope_style::called, false}
               : scoped_name{name.substr(0, slash), scope_style::relative, false};
}

/// The distinct scopes in the names of operators: a tree whose edges are segments of names.
///
/// The first scopes are the roots, one for each style. A scope comes after the one around it, and
/// otherwise in the order in which operators are first found in or below it.
struct scope_table {
    /// One scope: its name in the scope around it.
    struct scope {
        id parent = no_id;         ///< number of the scope around; `no_id` for the roots
        std::string_view segment;  ///< a part of some operator's name; valid as long as that
        id first_operator = no_id; ///< vertex index of the first operator of its own, by order
        id operators = 0;          ///< of its own
        std::uint64_t kinds = 0;   ///< equal when the own operators have equal types, as a multiset
        scope_style style = scope_style::called; ///< that of its root

        /// Returns: the name of the instance: the segment without a class in front of it.
        [[nodiscard]] std::string_view instance() const noexcept {
            const auto colons = style == scope_style::typed ? segment.rfind("::") : segment.npos;
            return colons == segment.npos ? segment : segment.substr(colons + 2);
        }
        /// Returns: the class in front of the name, "" where there is none.
        [[nodiscard]] std::string_view qualified_class() const noexcept {
            const auto colons = style == scope_style::typed ? segment.rfind("::") : segment.npos;
            return colons == segment.npos ? std::string_view{} : segment.substr(0, colons);
        }
    };

    std::vector<scope> scopes; ///< the roots, then every scope behind the one around it
    std::vector<id> scope_of;  ///< by vertex index; `no_id` for a name without a scope
    std::vector<id> leftover;  ///< operators whose scope is that of one they replaced, ascending
    std::vector<finding> problems; ///< names that cannot be read (at most so many)

    /// Returns: the number of a scope, or `no_id`. Complexity: O(length) on average.
    [[nodiscard]] id find(id parent, std::string_view segment) const {
        return index_.find(hash_of(parent, segment), [&](id s) {
            return scopes[s].parent == parent && scopes[s].segment == segment;
        });
    }

    /// Returns: the number of a scope, new or known. Requires: `segment` stays as long as the
    /// table.
    id find_or_add(id parent, std::string_view segment) {
        const auto next = static_cast<id>(scopes.size());
        const auto found = index_.insert(hash_of(parent, segment), next, [&](id s) {
            return scopes[s].parent == parent && scopes[s].segment == segment;
        });
        if (found == next) {
            scopes.push_back({parent, segment, no_id, 0, 0, scopes[parent].style});
        }
        return found;
    }

private:
    [[nodiscard]] static std::uint64_t hash_of(id parent, std::string_view segment) noexcept {
        return hash_bytes(segment, parent);
    }

    flat_index index_;
};

namespace detail {

/// Returns: the scope in an operator's name; else in the name of its first result, which exporters
/// write as `<operator>_output_0`; else what an optimizer left of one.
template <named_operators Ops>
[[nodiscard]] std::optional<scoped_name> find_scope(const Ops& ops, operator_t<Ops> v) {
    if constexpr (folded_operators<Ops>) {
        if (ops.is_folded(v)) {
            return std::nullopt;
        }
    }
    const std::string_view name = ops.name(v);
    const std::string_view op_type = ops.op_type(v);
    if (auto found = split_scoped_name(name, op_type)) {
        if constexpr (calling_operators<Ops>) {
            // The root of what is inside of a function is not that of the model.
            if (found->scope.empty() && found->style == scope_style::relative &&
                ops.enclosing_function(v) != no_id) {
                return std::nullopt;
            }
        }
        return found;
    }
    std::string_view result;
    if constexpr (requires {
                      { ops.result_name(v) } -> std::convertible_to<std::string_view>;
                  }) {
        result = ops.result_name(v);
        const auto output = result.rfind("_output_");
        if (output != result.npos && result.front() == '/') {
            result = result.substr(0, output);
            if (auto found = split_scoped_name(result, op_type)) {
                return found;
            }
        } else {
            result = {};
        }
    }
    if (name.find('/') != name.npos) {
        if (auto found = split_leftover_name(name)) {
            return found;
        }
    }
    return result.empty() ? std::nullopt : split_leftover_name(result);
}

/// Returns: what keeps a scope from being read, or null. No model has so many levels, or such long
/// names, and they would cost their square; and no module has an empty name.
[[nodiscard]] constexpr const char* find_scope_problem(const scoped_name& name) noexcept {
    constexpr std::size_t max_bytes = std::size_t{1} << 18U;
    constexpr std::ptrdiff_t max_levels = 1024;
    const auto text = name.scope;
    if (text.size() > max_bytes) {
        return "the scope in the name is too long";
    }
    unsigned char bits = 0;
    for (const char c : text) {
        bits = static_cast<unsigned char>(bits | static_cast<unsigned char>(c));
    }
    if (bits >= 0x80 && !is_utf8(text)) {
        return "the scope in the name is not valid UTF-8";
    }
    if (text.size() > max_levels && std::count(text.begin(), text.end(), '/') >= max_levels) {
        return "the scope in the name has too many levels";
    }
    if (has_empty_part(text) || text.find("/.") != text.npos || text.find("./") != text.npos) {
        return "the scope in the name has an empty level";
    }
    if (name.style == scope_style::typed) {
        // A `/` in a class cannot be told from one between levels.
        for (std::size_t begin = 0; begin < text.size();) {
            const auto end = std::min(text.find('/', begin), text.size());
            if (text.substr(begin, end - begin).find("::") == text.npos) {
                return "the scope in the name has a level without a class";
            }
            begin = end + 1;
        }
    }
    return nullptr;
}

} // namespace detail

/// Collects the scopes in the names of all operators.
///
/// Requires: names outlive the table.
/// Complexity: O(bytes of names); a look-up only for segments that the previous name did not share.
template <named_operators Ops>
[[nodiscard]] scope_table collect_scopes(const Ops& ops) {
    constexpr std::size_t max_problems = 1000;
    const auto& graph = ops.graph();
    scope_table table;
    table.scope_of.assign(num_vertices(graph), no_id);
    table.scopes.resize(scope_style_count);
    for (id root = 0; root < scope_style_count; ++root) {
        table.scopes[root].style = static_cast<scope_style>(root);
    }
    path_trail trail('/');
    for (auto [it, last] = vertices(graph); it != last; ++it) {
        const std::string_view op_type = ops.op_type(*it);
        const auto found = detail::find_scope(ops, *it);
        if (!found) {
            continue;
        }
        if (const char* problem = detail::find_scope_problem(*found)) {
            if (table.problems.size() < max_problems) {
                table.problems.push_back(
                    {"scope.unreadable", static_cast<id>(index_of(graph, *it)), problem});
            }
            continue;
        }
        const auto in = trail.follow(static_cast<id>(found->style), found->scope,
                                     [&](id parent, std::string_view segment) {
                                         return table.find_or_add(parent, segment);
                                     });
        const auto v = static_cast<id>(index_of(graph, *it));
        auto& scope = table.scopes[in];
        table.scope_of[v] = in;
        if (!found->exact) {
            table.leftover.push_back(v);
            continue;
        }
        scope.first_operator = scope.operators == 0 ? v : scope.first_operator;
        ++scope.operators;
        scope.kinds += hash_bytes(op_type);
    }
    std::sort(table.leftover.begin(), table.leftover.end());
    return table;
}

} // namespace stemma

#endif // STEMMA_EVIDENCE_SCOPE_TABLE_HPP
