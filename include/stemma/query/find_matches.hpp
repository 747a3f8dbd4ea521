// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_QUERY_FIND_MATCHES_HPP
#define STEMMA_QUERY_FIND_MATCHES_HPP

#include <stemma/config.hpp>
#include <stemma/core/concepts.hpp>
#include <stemma/core/detail/vertices_by_index.hpp>
#include <stemma/core/glob.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/detail/operator_domain.hpp>
#include <stemma/model/detail/stored_name.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>
#include <stemma/model/tag_table.hpp>
#include <stemma/query/detail/module_matcher.hpp>
#include <stemma/query/detail/readers.hpp>
#include <stemma/query/detail/vertices_left.hpp>
#include <stemma/query/parse_query.hpp>
#include <stemma/query/query_facts.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

namespace detail {

/// The direction of edges to follow.
enum class direction : bool { to_readers, to_producers };

/// How far.
enum class reach : bool { one_edge, any };

/// Returns: by vertex index, 1 for vertices reachable from the given ones, excluding these.
/// Complexity: O(V + E).
template <operator_graph_like Graph>
[[nodiscard]] std::vector<char8_t> reachable(const Graph& graph, std::span<const id> from,
                                             direction way, reach far) {
    const vertices_by_index<Graph> vertex(graph);
    std::vector<char8_t> met(num_vertices(graph), 0);
    std::vector<id> open(from.begin(), from.end());
    const auto meet = [&](const auto& v) {
        const auto i = static_cast<id>(index_of(graph, v));
        if (met[i] == 0) {
            met[i] = 1;
            if (far == reach::any) {
                open.push_back(i);
            }
        }
    };
    while (!open.empty()) {
        const auto v = vertex[open.back()];
        open.pop_back();
        if (way == direction::to_readers) {
            for (auto [it, last] = out_edges(v, graph); it != last; ++it) {
                meet(target(*it, graph));
            }
        } else {
            for (auto [it, last] = in_edges(v, graph); it != last; ++it) {
                meet(source(*it, graph));
            }
        }
    }
    for (auto v : from) {
        met[v] = 0;
    }
    return met;
}

/// Matches operator terms, and module terms about contents.
template <module_view Modules, named_operators Ops, query_facts Facts = no_facts>
class operator_matcher {
public:
    /// Requires: all outlive the matcher.
    operator_matcher(const Modules& modules, const tag_table& tags, const Ops& ops,
                     std::span<const attribution> attributions, const provenance_names& provenances,
                     const Facts& facts)
        : modules_(modules, tags,
                   {[this](query_kind kind, id m) { return size_of(kind, m); },
                    [this](const query& asked) { return holders_of(asked); },
                    [this](id m) { return like(m); }})
        , tree_(&modules.index())
        , ops_(&ops)
        , attributions_(attributions)
        , provenances_(&provenances)
        , facts_(&facts) {}

    operator_matcher(const operator_matcher&) = delete;
    operator_matcher& operator=(const operator_matcher&) = delete;

    /// Matches module terms.
    [[nodiscard]] const module_matcher<Modules>& modules() const noexcept { return modules_; }

    /// Returns: the operators that match `asked`, by vertex index, ascending.
    [[nodiscard]] std::vector<id> find(const query& asked) const {
        left_t candidates(ops_->graph());
        narrow(asked, true, candidates);
        return std::move(candidates).indices();
    }

private:
    using left_t = vertices_left<graph_of<Ops>>;

    /// Keeps only those that match `asked` or, if not `wanted`, only the others.
    void narrow(const query& asked, bool wanted, left_t& candidates) const {
        if (!asked.asks_for_operators()) {
            const auto fitting = modules_.fitting(asked);
            keep_if_made(candidates, wanted, [&](const attribution& attributed) {
                return fitting[attributed.module] != 0;
            });
        } else if (has_parts(asked)) {
            narrow_by_parts(
                asked, wanted, candidates,
                [&](const query& part, bool holds, left_t& still) { narrow(part, holds, still); });
        } else {
            narrow_to_term(asked, wanted, candidates);
        }
    }

    /// Keeps only those whose attribution satisfies `fits(made)` or, if not `wanted`, only the
    /// others.
    template <class Fits>
    void keep_if_made(left_t& candidates, bool wanted, Fits fits) const {
        candidates.keep_if(wanted, [&](const operator_t<Ops>& v) {
            return fits(attributions_[index_of(ops_->graph(), v)]);
        });
    }

    void narrow_to_term(const query& term, bool wanted, left_t& candidates) const {
        const glob pattern(term.pattern);
        switch (term.kind) {
        case query_kind::op_type:
            return narrow_to_types(term.pattern, wanted, candidates);
        case query_kind::name:
            return candidates.keep_if(wanted, [&](const operator_t<Ops>& v) {
                return pattern.matches(detail::stored_name(*ops_, v));
            });
        case query_kind::position:
            return narrow_to_position(term.pattern, wanted, candidates);
        case query_kind::source:
            return keep_if_made(candidates, wanted, [&](const attribution& attributed) {
                return pattern.matches((*provenances_)[attributed.source]);
            });
        case query_kind::confidence:
            return keep_if_made(candidates, wanted, [&](const attribution& attributed) {
                return term.compares(attributed.confidence);
            });
        case query_kind::conflict:
            return keep_if_made(candidates, wanted,
                                [](const attribution& attributed) { return attributed.conflict; });
        case query_kind::reads:
            return narrow_to_readers(term.pattern, wanted, candidates);
        case query_kind::line:
            return narrow_to_lines(term, pattern, wanted, candidates);
        case query_kind::attribute:
            return keep_if_some(candidates, wanted, &Facts::attributes,
                                [&](const auto& fact) { return fits_attribute(term, fact); });
        case query_kind::weight:
            return keep_if_some(candidates, wanted, &Facts::weights_of, fits_value_of(term));
        case query_kind::type:
        case query_kind::rank:
        case query_kind::shape:
        case query_kind::bytes:
            return keep_if_some(candidates, wanted, &Facts::values_of, fits_value_of(term));
        case query_kind::feeds:
        case query_kind::fed_by:
        case query_kind::before:
        case query_kind::after:
        case query_kind::between:
            return narrow_to_place(term, wanted, candidates);
        default:
            return keep_if_made(candidates, wanted, [](const attribution&) { return false; });
        }
    }

    void narrow_to_position(std::string_view asked, bool wanted, left_t& candidates) const {
        candidates.keep_if(wanted, [&](const operator_t<Ops>& v) {
            if constexpr (positioned_facts<Facts>) {
                return facts_->position(static_cast<id>(index_of(ops_->graph(), v))) == asked;
            } else {
                return false;
            }
        });
    }

    void narrow_to_lines(const query& term, const glob& pattern, bool wanted,
                         left_t& candidates) const {
        candidates.keep_if(wanted, [&](const operator_t<Ops>& v) {
            if constexpr (sourced_facts<Facts>) {
                const auto number = static_cast<id>(index_of(ops_->graph(), v));
                const std::optional<source_position> at = facts_->source(number);
                return at && fits_line(term, pattern, *at, recorded_path(*facts_, number));
            } else {
                return false;
            }
        });
    }

    [[nodiscard]] auto fits_value_of(const query& term) const {
        return [&term, this](id value) { return fits_value(term, facts_->value(value)); };
    }

    /// Keeps only those with a matching fact, or only the others.
    template <class List, class Fits>
    void keep_if_some(left_t& candidates, bool wanted, List list, Fits fits) const {
        candidates.keep_if(wanted, [&](const operator_t<Ops>& v) {
            const auto all = (facts_->*list)(static_cast<id>(index_of(ops_->graph(), v)));
            return std::any_of(all.begin(), all.end(), fits);
        });
    }

    void narrow_to_place(const query& term, bool wanted, left_t& candidates) const {
        const auto reached = [&](const query& from, direction way, reach far) {
            return reachable(ops_->graph(), std::span<const id>(find(from)), way, far);
        };
        const bool forward = term.kind == query_kind::fed_by || term.kind == query_kind::after ||
                             term.kind == query_kind::between;
        const bool near = term.kind == query_kind::feeds || term.kind == query_kind::fed_by;
        auto holds =
            reached(term.parts.front(), forward ? direction::to_readers : direction::to_producers,
                    near ? reach::one_edge : reach::any);
        if (term.kind == query_kind::between) {
            keep(reached(term.parts.back(), direction::to_producers, reach::any), true, holds);
        }
        candidates.keep_if(wanted, [&](const operator_t<Ops>& v) {
            return holds[index_of(ops_->graph(), v)] != 0;
        });
    }

    [[nodiscard]] double size_of(query_kind kind, id m) const {
        if (kind == query_kind::parameters) {
            return static_cast<double>(facts_->parameters(m));
        }
        if (kind == query_kind::weights) {
            return static_cast<double>(facts_->weight_bytes(m));
        }
        if (nodes_.empty()) {
            nodes_.resize(tree_->size(), 0);
            for (const auto& one : attributions_) {
                ++nodes_[one.module];
            }
            for (auto below = static_cast<id>(tree_->size()); below-- > 1;) {
                nodes_[tree_->parent(below)] += nodes_[below];
            }
        }
        return nodes_[m];
    }

    /// Returns: the modules with the same function as one, if the facts know.
    [[nodiscard]] std::vector<id> like(id m) const {
        if constexpr (requires { facts_->like(m); }) {
            return facts_->like(m);
        } else {
            return {};
        }
    }

    /// Returns: by module, whether it contains a matching operator.
    [[nodiscard]] vertex_marks holders_of(const query& asked) const {
        vertex_marks holds(tree_->size(), 0);
        for (auto v : find(asked)) {
            holds[attributions_[v].module] = 1;
        }
        for (auto m = static_cast<id>(tree_->size()); m-- > 1;) {
            holds[tree_->parent(m)] |= holds[m];
        }
        return holds;
    }

    void narrow_to_types(std::string_view asked, bool wanted, left_t& candidates) const {
        if (asked.find("::") != asked.npos) {
            return narrow_to_qualified_types(glob(asked), wanted, candidates);
        }
        if (asked.find_first_of("*?{") == asked.npos) {
            return candidates.keep_if(wanted, [=, this](const operator_t<Ops>& v) {
                return is_same_text(asked, ops_->op_type(v));
            });
        }
        candidates.keep_if(wanted, [this, pattern = glob(asked)](const operator_t<Ops>& v) {
            return pattern.matches(ops_->op_type(v));
        });
    }

    void narrow_to_qualified_types(const glob& pattern, bool wanted, left_t& candidates) const {
        std::string qualified;
        candidates.keep_if(wanted, [&](const operator_t<Ops>& v) {
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

    void narrow_to_readers(std::string_view asked, bool wanted, left_t& candidates) const {
        const auto reads = find_readers(*ops_, asked);
        candidates.keep_if(wanted, [&](const operator_t<Ops>& v) {
            return reads[index_of(ops_->graph(), v)] != 0;
        });
    }

    module_matcher<Modules> modules_;
    const tree_index* tree_;
    const Ops* ops_;
    std::span<const attribution> attributions_;
    const provenance_names* provenances_;
    const Facts* facts_;
    mutable std::vector<id> nodes_; // by module with descendants; computed on demand
};

/// Returns: the matching modules: the topmost ones that match with all descendants; or, for size
/// queries, each match except the root, unless it is the only one.
[[nodiscard]] inline std::vector<id> list_modules(const query& asked, const tree_index& tree,
                                                  const vertex_marks& holds) {
    std::vector<id> result;
    if (asked.asks_for_sizes()) {
        for (id m = 1; m < tree.size(); ++m) {
            if (holds[m] != 0) {
                result.push_back(m);
            }
        }
        if (result.empty() && holds[0] != 0) {
            result.push_back(0);
        }
        return result;
    }
    std::vector<id> misses(tree.size() + 1, 0); // before each module
    for (id m = 0; m < tree.size(); ++m) {
        misses[m + 1] = misses[m] + (holds[m] != 0 ? 0U : 1U);
    }
    for (id m = 0; m < tree.size();) {
        const bool whole = misses[tree.end(m)] == misses[m];
        if (whole) {
            result.push_back(m);
        }
        m = whole ? tree.end(m) : m + 1;
    }
    return result;
}

} // namespace detail

/// Returns: the topmost modules that match with all descendants, in tree order.
///
/// Requires: the query has only module terms.
/// Complexity: O(terms * (modules + length of all paths)).
template <module_view Modules>
[[nodiscard]] std::vector<id> find_matching_modules(const query& asked, const Modules& modules,
                                                    const tag_table& tags) {
    STEMMA_ASSERT(!asked.asks_for_operators(), "the query asks about operators");
    const auto holds = detail::module_matcher<Modules>(modules, tags).fitting(asked);
    return detail::list_modules(asked, modules.index(), holds);
}

/// The same for queries with size or contents terms: each match except the root.
///  `attributions` is by vertex index; every one has a module; `provenances` names their sources;
/// `facts` provides further facts. Complexity: that, and of `find_matching_operators` for contents.
template <module_view Modules, named_operators Ops, query_facts Facts = detail::no_facts>
[[nodiscard]] std::vector<id>
find_matching_modules(const query& asked, const Modules& modules, const tag_table& tags,
                      const Ops& ops, std::span<const attribution> attributions,
                      const provenance_names& provenances = {}, const Facts& facts = {}) {
    STEMMA_ASSERT(!asked.asks_for_operators(), "the query asks about operators");
    const detail::operator_matcher<Modules, Ops, Facts> matcher(modules, tags, ops, attributions,
                                                                provenances, facts);
    return detail::list_modules(asked, modules.index(), matcher.modules().fitting(asked));
}

/// Returns: the operators that match a query, by vertex index, ascending. `attributions` is by
/// vertex index; every one has a module; `provenances` names their sources. An operator is in its
/// module and all ancestors. Without `facts`, terms about attributes, values and weights match
/// nothing. Complexity: O(terms * (modules + length of all paths + operators)), plus parameters,
/// attributes, values or edges for terms about these.
template <module_view Modules, named_operators Ops, query_facts Facts = detail::no_facts>
[[nodiscard]] std::vector<id>
find_matching_operators(const query& asked, const Modules& modules, const tag_table& tags,
                        const Ops& ops, std::span<const attribution> attributions,
                        const provenance_names& provenances = {}, const Facts& facts = {}) {
    return detail::operator_matcher<Modules, Ops, Facts>(modules, tags, ops, attributions,
                                                         provenances, facts)
        .find(asked);
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_QUERY_FIND_MATCHES_HPP
