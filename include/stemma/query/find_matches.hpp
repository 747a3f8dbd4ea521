// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_QUERY_FIND_MATCHES_HPP
#define STEMMA_QUERY_FIND_MATCHES_HPP

#include <stemma/config.hpp>
#include <stemma/core/glob.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/detail/operator_domain.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>
#include <stemma/model/tag_table.hpp>
#include <stemma/query/detail/vertices_left.hpp>
#include <stemma/query/query.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma {

namespace detail {

/// Who is left, by number: 1, else 0. A byte each, as many are told at a time, of a type
/// that is nothing else's, so that a compiler knows what stays when one is written.
using marks = std::vector<char8_t>;

/// Leaves only those that `others` mark as `wanted`.
inline void keep(const marks& others, bool wanted, marks& left) {
    const auto unwanted = static_cast<char8_t>(wanted ? 0 : 1);
    std::transform(left.begin(), left.end(), others.begin(), left.begin(),
                   [&](auto a, auto b) { return static_cast<char8_t>(a & (b ^ unwanted)); });
}

/// Takes away what `others` mark.
inline void drop(const marks& others, marks& left) {
    keep(others, false, left);
}

/// Leaves only those for which a query made of parts holds, or does not, as is wanted:
/// `narrow(part, wanted, left)` does so for one.
template <class Left, class Narrow>
void narrow_by_parts(const query& asked, bool wanted, Left& left, const Narrow& narrow) {
    if (asked.kind == query_kind::negation) {
        narrow(asked.parts.front(), !wanted, left);
    } else if ((asked.kind == query_kind::any_of) != wanted) {
        for (const auto& part : asked.parts) {
            narrow(part, wanted, left);
        }
    } else {
        auto rest = left;
        for (const auto& part : asked.parts) {
            narrow(part, !wanted, rest);
        }
        drop(rest, left);
    }
}

/// Whether a query is made of parts, or is everything, rather than a term.
[[nodiscard]] inline bool has_parts(const query& asked) noexcept {
    return asked.kind <= query_kind::negation;
}

/// Answers what is asked of single modules.
template <module_view Modules>
class module_matcher {
public:
    /// Requires: both outlive the matcher.
    module_matcher(const Modules& modules, const tag_table& tags)
        : modules_(&modules), tags_(&tags) {}

    /// Returns: by module, whether what lies in it fits. Requires: `asked` asks about modules only.
    [[nodiscard]] marks fitting(const query& asked) const {
        marks holds(size(), 1);
        narrow_to_fitting(asked, true, holds);
        return holds;
    }

    /// Returns: by module, whether `asked` holds for the module itself.
    [[nodiscard]] marks of_modules(const query& asked) const {
        marks holds(size(), 1);
        narrow(asked, true, holds);
        return holds;
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

    void narrow_to_fitting(const query& asked, bool wanted, marks& left) const {
        if (has_parts(asked)) {
            narrow_by_parts(asked, wanted, left, [&](const query& part, bool holds, marks& still) {
                narrow_to_fitting(part, holds, still);
            });
            return;
        }
        auto inside = of_modules(asked.parts.front());
        for (id m = 1; m < size(); ++m) {
            inside[m] |= inside[index().parent(m)];
        }
        keep(inside, wanted, left);
    }

    void narrow(const query& asked, bool wanted, marks& left) const {
        if (has_parts(asked)) {
            narrow_by_parts(asked, wanted, left, [&](const query& part, bool holds, marks& still) {
                narrow(part, holds, still);
            });
        } else if (asked.kind == query_kind::path) {
            marks holds(size(), 0);
            find_paths(asked.pattern, holds);
            keep(holds, wanted, left);
        } else {
            narrow_to_term(asked, wanted, left);
        }
    }

    void narrow_to_term(const query& term, bool wanted, marks& left) const {
        const auto keep = [&](auto fits) {
            const auto count = static_cast<id>(size());
            for (id m = 0; m < count; ++m) {
                left[m] = left[m] != 0 && fits(m) == wanted ? 1 : 0;
            }
        };
        switch (term.kind) {
        case query_kind::tag:
            return keep([&, pattern = glob(term.pattern, '/')](id m) {
                return tags_->is_selected(m) && pattern.matches(tags_->text(m));
            });
        case query_kind::class_name:
            return keep([&, pattern = glob(term.pattern)](id m) {
                return pattern.matches(modules_->class_name(m)) ||
                       pattern.matches(modules_->qualified_class(m));
            });
        case query_kind::depth:
            return keep([&](id m) { return term.compares(index().depth(m)); });
        case query_kind::leaf:
            return keep([&](id m) { return index().end(m) == m + 1; });
        case query_kind::selected:
            return keep([&](id m) { return tags_->is_selected(m); });
        default:
            return keep([](id) { return false; });
        }
    }

    void find_paths(std::string_view asked, marks& holds) const {
        const glob pattern(asked, '.');
        const bool may_be_root = asked.empty() || asked.starts_with("**");
        const bool passes_dots = asked.find("**") != asked.npos;
        const auto dots = std::count(asked.begin(), asked.end(), '.');
        for_each_path(
            [&](id m, std::string_view path) {
                holds[m] = (m > 0 || may_be_root) && pattern.matches(path) ? 1 : 0;
            },
            passes_dots ? no_id : static_cast<id>(dots + 1));
        if constexpr (requires { modules_->aliases().begin()->path; }) {
            for (const auto& alias : modules_->aliases()) {
                if (alias.module != no_id && pattern.matches(alias.path)) {
                    holds[alias.module] = 1;
                }
            }
        }
    }

    const Modules* modules_;
    const tag_table* tags_;
};

/// Answers what is asked of single operators.
template <module_view Modules, named_operators Ops>
class operator_matcher {
public:
    /// Requires: all outlive the matcher.
    operator_matcher(const module_matcher<Modules>& modules, const Ops& ops,
                     std::span<const attribution> attributions, const provenance_names& provenances)
        : modules_(&modules), ops_(&ops), attributions_(attributions), provenances_(&provenances) {}

    /// Returns: the operators for which `asked` holds, by vertex index, ascending.
    [[nodiscard]] std::vector<id> find(const query& asked) const {
        left_t left(ops_->graph());
        narrow(asked, true, left);
        return std::move(left).indices();
    }

private:
    using left_t = vertices_left<graph_of<Ops>>;

    /// Leaves only those for which `asked` holds, or does not, as is wanted.
    void narrow(const query& asked, bool wanted, left_t& left) const {
        if (!asked.asks_for_operators()) {
            const auto fitting = modules_->fitting(asked);
            keep_if_made(left, wanted,
                         [&](const attribution& made) { return fitting[made.module] != 0; });
        } else if (has_parts(asked)) {
            narrow_by_parts(asked, wanted, left, [&](const query& part, bool holds, left_t& still) {
                narrow(part, holds, still);
            });
        } else {
            narrow_to_term(asked, wanted, left);
        }
    }

    /// Leaves only those for whose attribution `fits(made)` is what is wanted.
    template <class Fits>
    void keep_if_made(left_t& left, bool wanted, Fits fits) const {
        left.keep_if(wanted, [&](const operator_t<Ops>& v) {
            return fits(attributions_[index_of(ops_->graph(), v)]);
        });
    }

    void narrow_to_term(const query& term, bool wanted, left_t& left) const {
        const glob pattern(term.pattern);
        switch (term.kind) {
        case query_kind::op_type:
            return narrow_to_types(term.pattern, wanted, left);
        case query_kind::name:
            return left.keep_if(
                wanted, [&](const operator_t<Ops>& v) { return pattern.matches(ops_->name(v)); });
        case query_kind::source:
            return keep_if_made(left, wanted, [&](const attribution& made) {
                return pattern.matches((*provenances_)[made.source]);
            });
        case query_kind::confidence:
            return keep_if_made(left, wanted, [&](const attribution& made) {
                return term.compares(made.confidence);
            });
        case query_kind::conflict:
            return keep_if_made(left, wanted,
                                [](const attribution& made) { return made.conflict; });
        case query_kind::reads:
            return narrow_to_readers(term.pattern, wanted, left);
        default:
            return keep_if_made(left, wanted, [](const attribution&) { return false; });
        }
    }

    void narrow_to_types(std::string_view asked, bool wanted, left_t& left) const {
        if (asked.find("::") != asked.npos) {
            return narrow_to_qualified_types(glob(asked), wanted, left);
        }
        if (asked.find_first_of("*?{") == asked.npos) {
            return left.keep_if(wanted, [=, this](const operator_t<Ops>& v) {
                return is_same_text(asked, ops_->op_type(v));
            });
        }
        left.keep_if(wanted, [this, pattern = glob(asked)](const operator_t<Ops>& v) {
            return pattern.matches(ops_->op_type(v));
        });
    }

    void narrow_to_qualified_types(const glob& pattern, bool wanted, left_t& left) const {
        std::string qualified;
        left.keep_if(wanted, [&](const operator_t<Ops>& v) {
            const std::string_view op_type = ops_->op_type(v);
            bool fits = pattern.matches(op_type);
            if constexpr (qualified_operators<Ops>) {
                if (!fits && pattern.may_end_in(op_type)) {
                    qualified.assign(spelled_domain(ops_->domain(v)));
                    fits = pattern.matches(qualified.append("::").append(op_type));
                }
            }
            return fits;
        });
    }

    void narrow_to_readers(std::string_view asked, bool wanted, left_t& left) const {
        const glob pattern(asked, '.');
        std::vector<char8_t> fits; // by parameter
        if constexpr (parameter_readers<Ops>) {
            fits.resize(ops_->parameter_count());
            for (id p = 0; p < fits.size(); ++p) {
                fits[p] = pattern.matches(ops_->parameter_name(p)) ? 1 : 0;
            }
        }
        left.keep_if(wanted, [&](const operator_t<Ops>& v) {
            char8_t reads = 0;
            if constexpr (parameter_readers<Ops>) {
                ops_->for_each_parameter(v, [&](id p) { reads |= fits[p]; });
            }
            return reads != 0;
        });
    }

    const module_matcher<Modules>* modules_;
    const Ops* ops_;
    std::span<const attribution> attributions_;
    const provenance_names* provenances_;
};

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
    const auto holds = detail::module_matcher<Modules>(modules, tags).fitting(asked);
    std::vector<id> misses(tree.size() + 1, 0); // before each module
    for (id m = 0; m < tree.size(); ++m) {
        misses[m + 1] = misses[m] + (holds[m] != 0 ? 0U : 1U);
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
/// `attributions` is by vertex index; everyone has a module; their sources are called as
/// `provenances` says. An operator is in its module and in
/// all above. Complexity: O(terms * (modules + length of all paths + operators)), and the operators
/// with their parameters for terms that ask what is read.
template <module_view Modules, named_operators Ops>
[[nodiscard]] std::vector<id> find_matching_operators(const query& asked, const Modules& modules,
                                                      const tag_table& tags, const Ops& ops,
                                                      std::span<const attribution> attributions,
                                                      const provenance_names& provenances = {}) {
    const detail::module_matcher<Modules> of_modules(modules, tags);
    return detail::operator_matcher(of_modules, ops, attributions, provenances).find(asked);
}

} // namespace stemma

#endif // STEMMA_QUERY_FIND_MATCHES_HPP
