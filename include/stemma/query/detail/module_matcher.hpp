// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_QUERY_DETAIL_MODULE_MATCHER_HPP
#define STEMMA_QUERY_DETAIL_MODULE_MATCHER_HPP

#include <stemma/core/glob.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/tag_table.hpp>
#include <stemma/query/query.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Remaining candidates by number: 1 or 0. Bytes, for vectorization, of a type that does not alias
/// others.
using vertex_marks = std::vector<char8_t>;

/// Keeps only those that `others` mark as `wanted`.
inline void keep(const vertex_marks& others, bool wanted, vertex_marks& candidates) {
    const auto unwanted = static_cast<char8_t>(wanted ? 0 : 1);
    std::transform(candidates.begin(), candidates.end(), others.begin(), candidates.begin(),
                   [&](auto a, auto b) { return static_cast<char8_t>(a & (b ^ unwanted)); });
}

/// Removes those that `others` mark.
inline void drop(const vertex_marks& others, vertex_marks& candidates) {
    keep(others, false, candidates);
}

/// Keeps only those that match a compound query, or do not, as `wanted`; `narrow(part, wanted,
/// left)` does so for a part.
template <class Left, class Narrow>
void narrow_by_parts(const query& asked, bool wanted, Left& candidates, const Narrow& narrow) {
    if (asked.kind == query_kind::negation) {
        narrow(asked.parts.front(), !wanted, candidates);
    } else if ((asked.kind == query_kind::any_of) != wanted) {
        for (const auto& part : asked.parts) {
            narrow(part, wanted, candidates);
        }
    } else {
        auto rest = candidates;
        for (const auto& part : asked.parts) {
            narrow(part, !wanted, rest);
        }
        drop(rest, candidates);
    }
}

/// Whether a query is compound or empty rather than a term.
[[nodiscard]] inline bool has_parts(const query& asked) noexcept {
    return asked.kind <= query_kind::negation;
}

/// Matches module terms.
template <module_view Modules>
class module_matcher {
public:
    /// Sizes of modules; empty functions if unknown.
    struct sizes {
        std::function<double(query_kind, id)> size;        ///< nodes, parameters or weights
        std::function<vertex_marks(const query&)> holders; ///< that contain a match
        std::function<std::vector<id>(id)> like;           ///< with the same function as one
    };

    /// Requires: both outlive the matcher.
    module_matcher(const Modules& modules, const tag_table& tags, sizes of = {})
        : modules_(&modules), tags_(&tags), sizes_(std::move(of)) {}

    /// Returns: by module, whether everything inside matches. Requires: `asked` has only module
    /// terms.
    [[nodiscard]] vertex_marks fitting(const query& asked) const {
        vertex_marks holds(size(), 1);
        narrow_to_fitting(asked, true, holds);
        return holds;
    }

    /// Returns: by module, whether the module itself matches.
    [[nodiscard]] vertex_marks of_modules(const query& asked) const {
        vertex_marks holds(size(), 1);
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
                path.append(path.empty() ? "" : ".").append(modules_->name(m));
                length[m] = path.size();
            }
            f(m, std::string_view(path));
        }
    }

private:
    [[nodiscard]] std::size_t size() const { return index().size(); }
    [[nodiscard]] const tree_index& index() const { return modules_->index(); }

    void narrow_to_fitting(const query& asked, bool wanted, vertex_marks& candidates) const {
        if (has_parts(asked)) {
            narrow_by_parts(asked, wanted, candidates,
                            [&](const query& part, bool holds, vertex_marks& still) {
                                narrow_to_fitting(part, holds, still);
                            });
            return;
        }
        if (asked.kind != query_kind::module) {
            keep(of_modules(asked), wanted, candidates); // size terms do not apply to descendants
            return;
        }
        auto inside = of_modules(asked.parts.front());
        for (id m = 1; m < size(); ++m) {
            inside[m] |= inside[index().parent(m)];
        }
        keep(inside, wanted, candidates);
    }

    void narrow(const query& asked, bool wanted, vertex_marks& candidates) const {
        if (has_parts(asked)) {
            narrow_by_parts(asked, wanted, candidates,
                            [&](const query& part, bool holds, vertex_marks& still) {
                                narrow(part, holds, still);
                            });
        } else if (asked.kind == query_kind::path) {
            vertex_marks holds(size(), 0);
            find_paths(asked.pattern, holds);
            keep(holds, wanted, candidates);
        } else if (asked.kind == query_kind::like) {
            keep(find_like(asked.pattern), wanted, candidates);
        } else if (asked.kind == query_kind::has) {
            keep(sizes_.holders ? sizes_.holders(asked.parts.front()) : vertex_marks(size(), 0),
                 wanted, candidates);
        } else {
            narrow_to_term(asked, wanted, candidates);
        }
    }

    void narrow_to_term(const query& term, bool wanted, vertex_marks& candidates) const {
        const auto keep = [&](auto fits) {
            const auto count = static_cast<id>(size());
            for (id m = 0; m < count; ++m) {
                candidates[m] = candidates[m] != 0 && fits(m) == wanted ? 1 : 0;
            }
        };
        switch (term.kind) {
        case query_kind::tag:
            return keep([holds = find_tags(term.pattern)](id m) { return holds[m] != 0; });
        case query_kind::class_name:
            return keep([&, pattern = glob(term.pattern)](id m) {
                return pattern.matches(modules_->class_name(m)) ||
                       pattern.matches(modules_->qualified_class(m));
            });
        case query_kind::depth:
            return keep([&](id m) { return term.compares(index().depth(m)); });
        case query_kind::leaf:
            return keep([&](id m) { return index().is_leaf(m); });
        case query_kind::selected:
            return keep([&](id m) { return tags_->is_selected(m); });
        case query_kind::nodes:
        case query_kind::parameters:
        case query_kind::weights:
            return keep(
                [&](id m) { return sizes_.size && term.compares(sizes_.size(term.kind, m)); });
        default:
            return keep([](id) { return false; });
        }
    }

    /// Returns: by module, whether path or tag matches a pattern, or it has the function of one
    /// that does.
    [[nodiscard]] vertex_marks find_like(std::string_view asked) const {
        vertex_marks named(size(), 0);
        if (asked.starts_with('/')) {
            named = find_tags(asked);
        } else {
            find_paths(asked, named);
        }
        auto holds = named;
        for (id m = 0; sizes_.like && m < size(); ++m) {
            // A module like a previous match has already added its equals.
            if (named[m] != 0 && (m == 0 || holds[m] != 2)) {
                for (auto other : sizes_.like(m)) {
                    holds[other] = 2;
                }
            }
        }
        std::replace(holds.begin(), holds.end(), char8_t{2}, char8_t{1});
        return holds;
    }

    [[nodiscard]] static bool has_wildcards(std::string_view asked) noexcept {
        return asked.find_first_of("*?{") != asked.npos;
    }

    /// Returns: by module, whether it has such a tag. A tag that reads as a pattern means its own
    /// modules.
    [[nodiscard]] vertex_marks find_tags(std::string_view asked) const {
        const glob pattern(asked, '/');
        const bool may_differ = has_wildcards(asked);
        vertex_marks holds(size(), 0);
        vertex_marks same(size(), 0);
        bool any = false;
        for (id m = 0; m < size(); ++m) {
            if (tags_->is_selected(m)) {
                const auto text = tags_->text(m);
                holds[m] = pattern.matches(text) ? 1 : 0;
                same[m] = may_differ && text == asked ? 1 : 0;
                any = any || same[m] != 0;
            }
        }
        return any ? same : holds;
    }

    /// Marks the modules with such a path. A path that reads as a pattern means its own module.
    void find_paths(std::string_view asked, vertex_marks& holds) const {
        if (has_wildcards(asked) &&
            find_paths_by(
                asked, [&](std::string_view path) { return path == asked; }, holds)) {
            return;
        }
        find_paths_by(
            asked,
            [pattern = glob(asked, '.')](std::string_view path) { return pattern.matches(path); },
            holds);
    }

    /// As above, by `matches(path)`. Returns: whether there are any.
    template <class Matches>
    bool find_paths_by(std::string_view asked, Matches matches, vertex_marks& holds) const {
        bool any = false;
        const bool may_be_root = asked.empty() || asked.starts_with("**");
        const bool passes_dots = asked.find("**") != asked.npos;
        const auto dots = std::count(asked.begin(), asked.end(), '.');
        for_each_path(
            [&](id m, std::string_view path) {
                holds[m] = (m > 0 || may_be_root) && matches(path) ? 1 : 0;
                any = any || holds[m] != 0;
            },
            passes_dots ? no_id : static_cast<id>(dots + 1));
        if constexpr (requires { modules_->aliases().begin()->path; }) {
            for (const auto& alias : modules_->aliases()) {
                if (alias.module != no_id && matches(std::string_view(alias.path))) {
                    holds[alias.module] = 1;
                    any = true;
                }
            }
        }
        return any;
    }

    const Modules* modules_;
    const tag_table* tags_;
    sizes sizes_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_QUERY_DETAIL_MODULE_MATCHER_HPP
