// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ALGORITHM_FIND_MATCHES_HPP
#define STEMMA_ALGORITHM_FIND_MATCHES_HPP

#include <stemma/config.hpp>
#include <stemma/core/glob.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/query.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>
#include <stemma/model/tag_table.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stemma {

namespace detail {

/// Answers a query for everything of a kind at once: `leaf(part)` does so for a single term.
template <class Leaf>
[[nodiscard]] std::vector<bool> combine_terms(const query& asked, std::size_t size,
                                              const Leaf& leaf) {
    switch (asked.kind) {
    case query_kind::everything:
        return std::vector<bool>(size, true);
    case query_kind::negation: {
        auto holds = combine_terms(asked.parts.front(), size, leaf);
        holds.flip();
        return holds;
    }
    case query_kind::all_of:
    case query_kind::any_of: {
        const bool all = asked.kind == query_kind::all_of;
        std::vector<bool> holds(size, all);
        for (const auto& part : asked.parts) {
            const auto more = combine_terms(part, size, leaf);
            for (std::size_t i = 0; i < size; ++i) {
                holds[i] = all ? holds[i] && more[i] : holds[i] || more[i];
            }
        }
        return holds;
    }
    default:
        return leaf(asked);
    }
}

/// Answers what is asked of single modules.
template <module_view Modules>
class module_matcher {
public:
    /// Requires: both outlive the matcher.
    module_matcher(const Modules& modules, const tag_table& tags)
        : modules_(&modules), tags_(&tags) {}

    /// Returns: by module, whether it is, or lies in, one for which `asked` holds.
    [[nodiscard]] std::vector<bool> inside(const query& asked) const {
        auto holds = of_modules(asked);
        for (id m = 1; m < size(); ++m) {
            holds[m] = holds[m] || holds[index().parent(m)];
        }
        return holds;
    }

    /// Returns: by module, whether `asked` holds for it.
    [[nodiscard]] std::vector<bool> of_modules(const query& asked) const {
        return combine_terms(asked, size(), [&](const query& term) { return of_term(term); });
    }

    /// Calls `f(m, path)` for the modules down to a depth, in order.
    /// Complexity: O(modules + length of those paths).
    template <class Function>
    void for_each_path(Function f, id deepest = no_id) const {
        std::string path;
        std::vector<std::size_t> length(size(), 0); // by module
        for (id m = 0; m < size(); ++m) {
            if (index().depth(m) > deepest) {
                continue;
            }
            if (m > 0) {
                path.resize(length[index().parent(m)]);
                path.append(path.empty() ? "" : ".").append(modules_->attribute(m));
                length[m] = path.size();
            }
            f(m, std::string_view(path));
        }
    }

private:
    [[nodiscard]] std::size_t size() const { return index().size(); }
    [[nodiscard]] const tree_index& index() const { return modules_->index(); }

    [[nodiscard]] std::vector<bool> of_term(const query& term) const {
        std::vector<bool> holds(size(), false);
        if (term.kind == query_kind::path) {
            find_paths(term.pattern, holds);
            return holds;
        }
        for (id m = 0; m < size(); ++m) {
            holds[m] = fits(term, m);
        }
        return holds;
    }

    void find_paths(std::string_view pattern, std::vector<bool>& holds) const {
        const bool passes_dots = pattern.find("**") != pattern.npos;
        const auto dots = std::count(pattern.begin(), pattern.end(), '.');
        for_each_path(
            [&](id m, std::string_view path) {
                const bool may_be_root = pattern.empty() || pattern.starts_with("**");
                holds[m] = (m > 0 || may_be_root) && glob_match(pattern, path, '.');
            },
            passes_dots ? no_id : static_cast<id>(dots + 1));
        if constexpr (requires { modules_->aliases().begin()->path; }) {
            for (const auto& alias : modules_->aliases()) {
                if (alias.module != no_id && glob_match(pattern, alias.path, '.')) {
                    holds[alias.module] = true;
                }
            }
        }
    }

    [[nodiscard]] bool fits(const query& term, id m) const {
        switch (term.kind) {
        case query_kind::tag:
            return tags_->is_selected(m) && glob_match(term.pattern, tags_->text(m), '/');
        case query_kind::class_name:
            return glob_match(term.pattern, modules_->class_name(m)) ||
                   glob_match(term.pattern, modules_->qualified_class(m));
        case query_kind::depth:
            return term.compares(index().depth(m));
        case query_kind::leaf:
            return index().end(m) == m + 1;
        case query_kind::selected:
            return tags_->is_selected(m);
        default:
            return false;
        }
    }

    const Modules* modules_;
    const tag_table* tags_;
};

/// Whether what is asked about single operators holds for one.
template <named_operators Ops>
[[nodiscard]] bool operator_fits(const query& term, const Ops& ops, const operator_t<Ops>& v,
                                 const attribution& made) {
    switch (term.kind) {
    case query_kind::op_type: {
        if (glob_match(term.pattern, ops.op_type(v))) {
            return true;
        }
        if constexpr (requires { ops.domain(v); }) {
            return glob_match(term.pattern,
                              std::string(ops.domain(v)) + "::" + std::string(ops.op_type(v)));
        }
        return false;
    }
    case query_kind::name:
        return glob_match(term.pattern, ops.name(v));
    case query_kind::source:
        return glob_match(term.pattern, to_string(made.source));
    case query_kind::confidence:
        return term.compares(made.confidence);
    case query_kind::conflict:
        return made.conflict;
    default:
        return false;
    }
}

/// Returns: by vertex index, whether a term holds for the operator or for the module it is in.
template <module_view Modules, named_operators Ops>
[[nodiscard]] std::vector<bool> match_term(const query& term,
                                           const module_matcher<Modules>& modules, const Ops& ops,
                                           std::span<const attribution> attributions) {
    const auto& graph = ops.graph();
    std::vector<bool> holds(attributions.size(), false);
    if (term.kind == query_kind::module) {
        const auto inside = modules.inside(term.parts.front());
        for (std::size_t v = 0; v < holds.size(); ++v) {
            holds[v] = inside[attributions[v].module];
        }
        return holds;
    }
    std::vector<bool> parameters; // those that fit
    if constexpr (parameter_readers<Ops>) {
        for (id p = 0; term.kind == query_kind::reads && p < ops.parameter_count(); ++p) {
            parameters.push_back(glob_match(term.pattern, ops.parameter_name(p), '.'));
        }
    }
    for (auto [it, last] = vertices(graph); it != last; ++it) {
        const auto v = index_of(graph, *it);
        if (term.kind != query_kind::reads) {
            holds[v] = operator_fits(term, ops, *it, attributions[v]);
        } else if constexpr (parameter_readers<Ops>) {
            ops.for_each_parameter(*it, [&](id p) { holds[v] = holds[v] || parameters[p]; });
        }
    }
    return holds;
}

} // namespace detail

/// Returns: the modules that lie in what is asked for with all that is below them, in the order of
/// the tree, without those that are below another one.
///
/// Requires: the query asks about modules only.
/// Complexity: O(terms * (modules + length of all paths)).
template <module_view Modules>
[[nodiscard]] std::vector<id> find_matching_modules(const query& asked, const Modules& modules,
                                                    const tag_table& tags) {
    STEMMA_ASSERT(!asked.asks_for_operators(), "the query asks about operators");
    const tree_index& tree = modules.index();
    const detail::module_matcher<Modules> matcher(modules, tags);
    const auto holds = detail::combine_terms(
        asked, tree.size(), [&](const query& term) { return matcher.inside(term.parts.front()); });
    std::vector<id> misses(tree.size() + 1, 0); // before each module
    for (id m = 0; m < tree.size(); ++m) {
        misses[m + 1] = misses[m] + (holds[m] ? 0U : 1U);
    }
    std::vector<id> found;
    for (id m = 0; m < tree.size();) {
        const bool whole = misses[tree.end(m)] == misses[m];
        if (whole) {
            found.push_back(m);
        }
        m = whole ? tree.end(m) : m + 1;
    }
    return found;
}

/// Returns: the operators for which a query holds, by vertex index, ascending.
///
/// `attributions` is by vertex index; everyone has a module. An operator is in its module and in
/// all above. Complexity: O(terms * (modules + length of all paths + operators)), and the operators
/// with their parameters for terms that ask what is read.
template <module_view Modules, named_operators Ops>
[[nodiscard]] std::vector<id> find_matching_operators(const query& asked, const Modules& modules,
                                                      const tag_table& tags, const Ops& ops,
                                                      std::span<const attribution> attributions) {
    const detail::module_matcher<Modules> matcher(modules, tags);
    const auto holds = detail::combine_terms(asked, attributions.size(), [&](const query& term) {
        return detail::match_term(term, matcher, ops, attributions);
    });
    std::vector<id> found;
    for (id v = 0; v < holds.size(); ++v) {
        if (holds[v]) {
            found.push_back(v);
        }
    }
    return found;
}

} // namespace stemma

#endif // STEMMA_ALGORITHM_FIND_MATCHES_HPP
