// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_QUERY_DETAIL_EXPLAIN_NO_MATCH_HPP
#define STEMMA_QUERY_DETAIL_EXPLAIN_NO_MATCH_HPP

#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/nearest_texts.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/detail/stored_name.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>
#include <stemma/model/tag_table.hpp>
#include <stemma/query/detail/readers.hpp>
#include <stemma/query/find_matches.hpp>
#include <stemma/query/parse_query.hpp>
#include <stemma/query/query_facts.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// What there is not if a term of a kind matches nothing.
struct lost_text {
    query_kind kind;
    std::string_view text;
    bool quotes = false;   ///< its pattern follows
    bool has_like = false; ///< and what there is that is like it
};
inline constexpr std::array<lost_text, 22> lost_texts{
    {{query_kind::path, "no module has the path ", true, true},
     {query_kind::like, "no module has the path ", true, true},
     {query_kind::tag, "no module has the tag ", true, true},
     {query_kind::class_name, "no module is of class ", true, true},
     {query_kind::depth, "no module has that depth"},
     {query_kind::nodes, "no module has that size"},
     {query_kind::parameters, "no module has that size"},
     {query_kind::weights, "no module has that size"},
     {query_kind::has, "no module contains such a node"},
     {query_kind::weight, "no node reads parameters of type ", true, true},
     {query_kind::type, "no node makes a value of type ", true, true},
     {query_kind::shape, "no node makes a value of shape ", true},
     {query_kind::position, "no node is at ", true},
     {query_kind::feeds, "no node comes before it"},
     {query_kind::before, "no node comes before it"},
     {query_kind::fed_by, "no node comes after it"},
     {query_kind::after, "no node comes after it"},
     {query_kind::between, "nothing lies between them"},
     {query_kind::op_type, "no node is of type ", true, true},
     {query_kind::name, "no node is named ", true, true},
     {query_kind::source, "no node has evidence ", true, true},
     {query_kind::reads, "no node reads ", true, true}}};

/// Finds the terms of a query that match nothing.
template <module_view Modules, named_operators Ops, query_facts Facts>
class lost_terms {
public:
    lost_terms(const Modules& modules, const tag_table& tags, const Ops& ops,
               std::span<const attribution> attributions, const provenance_names& provenances,
               const Facts& facts)
        : modules_(modules)
        , tags_(tags)
        , ops_(ops)
        , attributions_(attributions)
        , provenances_(provenances)
        , facts_(facts)
        , matcher_(modules, tags, ops, attributions, provenances, facts) {}

    /// Returns: a sentence about the first of them, or "". Negated terms are skipped.
    [[nodiscard]] std::string find(const query& asked) const {
        if (asked.kind == query_kind::negation || asked.kind == query_kind::everything) {
            return {};
        }
        if (asked.kind == query_kind::all_of || asked.kind == query_kind::any_of ||
            asked.kind == query_kind::module) {
            return find_in_parts(asked);
        }
        if (asked.kind == query_kind::has || asked.kind >= query_kind::feeds) {
            if (auto reason = find_in_places(asked); !reason.empty()) {
                return reason;
            }
        }
        return holds_for_something(asked) ? std::string() : describe(asked);
    }

private:
    [[nodiscard]] std::string find_in_parts(const query& asked) const {
        for (const auto& part : asked.parts) {
            if (auto reason = find(part); !reason.empty()) {
                return reason;
            }
        }
        return {};
    }

    /// As above; for a name that may be a module's or a node's, the sentence about modules.
    [[nodiscard]] std::string find_in_places(const query& asked) const {
        for (const auto& part : asked.parts) {
            if (!matcher_.find(part).empty()) {
                continue;
            }
            auto reason = find(part);
            return !reason.empty() ? reason : at_column("no such node", part);
        }
        return {};
    }

    [[nodiscard]] bool holds_for_something(const query& term) const {
        if (term.kind >= query_kind::op_type) {
            return !matcher_.find(term).empty();
        }
        const auto holds = matcher_.modules().of_modules(term);
        return std::find(holds.begin(), holds.end(), 1) != holds.end();
    }

    [[nodiscard]] std::string describe(const query& term) const {
        if (term.kind == query_kind::line) {
            return describe_line(term);
        }
        if (term.kind == query_kind::attribute) {
            return describe_attribute(term);
        }
        if (term.kind == query_kind::rank || term.kind == query_kind::bytes) {
            return describe_size(term);
        }
        const auto* what =
            range::find_if(lost_texts, [&](const lost_text& one) { return one.kind == term.kind; });
        if (what == lost_texts.end()) {
            return at_column("matches no node", term);
        }
        auto text = std::string(what->text);
        text += what->quotes ? "'" + term.pattern + "'" : "";
        if (!what->has_like) {
            return at_column(text, term);
        }
        nearest_texts like(term.pattern, 3);
        offer_all(term.kind, like);
        auto names = like.similar();
        if (term.kind == query_kind::class_name && !knows_classes()) {
            names = "; the tree knows no classes";
        } else if (names.empty()) {
            names = what_there_is(term.kind);
        }
        return at_column(text, term) + names + meant_otherwise(term);
    }

    /// The existing sources or types, which are few.
    [[nodiscard]] std::string what_there_is(query_kind kind) const {
        std::set<std::string> existing;
        if (kind == query_kind::source) {
            existing = existing_sources();
        } else if (kind == query_kind::type || kind == query_kind::weight) {
            for_each_value(kind, [&](const value_fact& fact) { existing.insert(fact.type); });
            existing.erase("");
        }
        std::string names;
        for (const auto& name : existing) {
            names.append(names.empty() ? "; existing: '" : ", '").append(name).append("'");
        }
        return names;
    }

    [[nodiscard]] std::set<std::string> existing_sources() const {
        std::set<std::string> names;
        for (const auto& one : attributions_) {
            names.emplace(provenances_[one.source]);
        }
        return names;
    }

    /// Calls `f(fact)` for the values that nodes produce, or for the parameters that they read.
    template <class F>
    void for_each_value(query_kind kind, F f) const {
        for (id v = 0; v < num_vertices(ops_.graph()); ++v) {
            for (auto value :
                 kind == query_kind::weight ? facts_.weights_of(v) : facts_.values_of(v)) {
                f(facts_.value(value));
            }
        }
    }

    [[nodiscard]] std::string describe_size(const query& term) const {
        const bool rank = term.kind == query_kind::rank;
        std::size_t unknown = 0;
        std::size_t all = 0;
        for_each_value(term.kind, [&](const value_fact& fact) {
            ++all;
            unknown += (rank ? fact.ranked : fact.bytes.has_value()) ? 0U : 1U;
        });
        const auto text =
            std::string("no node produces a value of that ") + (rank ? "rank" : "size");
        return at_column(unknown == 0 ? text
                                      : text + "; it is unknown for " + std::to_string(unknown) +
                                            " of " + std::to_string(all),
                         term);
    }

    /// The existing lines or files.
    [[nodiscard]] std::string describe_line(const query& term) const {
        const glob pattern(term.pattern);
        nearest_texts like(term.pattern, 3);
        std::uint32_t before = 0;
        std::uint32_t behind = 0;
        bool any = false;
        bool in_file = false;
        if constexpr (sourced_facts<Facts>) {
            query file = term;
            file.last = 0;
            for (auto [it, last] = vertices(ops_.graph()); it != last; ++it) {
                const auto number = static_cast<id>(index_of(ops_.graph(), *it));
                const std::optional<source_position> at = facts_.source(number);
                if (!at) {
                    continue;
                }
                any = true;
                like.offer(at->file);
                if (!fits_line(file, pattern, *at, recorded_path(facts_, number))) {
                    continue;
                }
                in_file = true;
                if (at->line < term.number) {
                    before = std::max(before, at->line);
                } else {
                    behind = behind == 0 ? at->line : std::min(behind, at->line);
                }
            }
        }
        if (!any) {
            return at_column("no node has a source line, see docs/source.md", term);
        }
        std::string text = "no node was written in '" + term.pattern + "'";
        if (in_file) {
            const bool both = before != 0 && behind != 0;
            text = std::string("no node was written there; the nearest ") +
                   (both ? "lines of '" : "line of '") + term.pattern + (both ? "' are " : "' is ");
            text.append(before == 0 ? "" : std::to_string(before));
            text.append(both ? " and " : "");
            text.append(behind == 0 ? "" : std::to_string(behind));
            return at_column(text, term);
        }
        std::string names;
        for (const auto& name : like.take()) {
            names.append(names.empty() ? "; files with similar names: '" : ", '")
                .append(name)
                .append("'");
        }
        return at_column(text + names, term);
    }

    /// The values of an attribute that some node has, or attributes with similar names.
    [[nodiscard]] std::string describe_attribute(const query& term) const {
        nearest_texts names(term.word, 3);
        nearest_texts texts(term.pattern, 3);
        bool named = false;
        for (id v = 0; v < num_vertices(ops_.graph()); ++v) {
            for (const auto& fact : facts_.attributes(v)) {
                names.offer(fact.name);
                if (glob_match(term.word, fact.name)) {
                    named = true;
                    texts.offer(fact.text);
                }
            }
        }
        return named ? at_column("no node has that value of attribute '" + term.word + "'", term) +
                           texts.similar()
                     : at_column("no node has an attribute '" + term.word + "'", term) +
                           names.similar();
    }

    [[nodiscard]] static std::string at_column(const std::string& text, const query& term) {
        return "column " + std::to_string(term.column) + ": " + text;
    }

    /// Returns: how to query a class, operator, node or value with the name, or "".
    [[nodiscard]] std::string meant_otherwise(const query& term) const {
        if (term.kind == query_kind::reads) {
            return explain_value(ops_, facts_, term.pattern);
        }
        if (term.kind != query_kind::path && term.kind != query_kind::tag) {
            return {};
        }
        const auto hint = [&](std::string_view word, std::string_view what) {
            return "; '" + std::string(word) + term.pattern + "' matches " + std::string(what);
        };
        for (id m = 0; m < modules_.index().size(); ++m) {
            if (std::string_view(modules_.class_name(m)) == term.pattern) {
                return hint("class:", "modules of that class");
            }
        }
        for (auto [it, last] = vertices(ops_.graph()); it != last; ++it) {
            if (std::string_view(ops_.op_type(*it)) == term.pattern) {
                return hint("op:", "nodes of that type");
            }
            if (std::string_view(stored_name(ops_, *it)) == term.pattern) {
                return hint("name:", "the node of that name");
            }
        }
        return explain_value(ops_, facts_, term.pattern);
    }

    [[nodiscard]] bool knows_classes() const {
        bool any = false;
        for (id m = 0; m < modules_.index().size(); ++m) {
            any = any || !std::string_view(modules_.class_name(m)).empty();
        }
        return any;
    }

    void offer_all(query_kind kind, nearest_texts& like) const {
        const auto count = static_cast<id>(modules_.index().size());
        if (kind == query_kind::type || kind == query_kind::weight) {
            for_each_value(kind, [&](const value_fact& fact) { like.offer(fact.type); });
        } else if (kind == query_kind::path || kind == query_kind::like) {
            matcher_.modules().for_each_path([&](id, std::string_view path) { like.offer(path); });
        } else if (kind == query_kind::tag) {
            for (id m = 0; m < count; ++m) {
                if (tags_.is_selected(m)) {
                    like.offer(tags_.text(m));
                }
            }
        } else if (kind == query_kind::class_name) {
            for (id m = 0; m < count; ++m) {
                like.offer(modules_.class_name(m));
            }
        } else if (kind == query_kind::source) {
            for (const auto& name : existing_sources()) {
                like.offer(name);
            }
        } else if (kind == query_kind::reads) {
            if constexpr (parameter_readers<Ops>) {
                for (id p = 0; p < ops_.parameter_count(); ++p) {
                    like.offer(stored_parameter_name(ops_, p));
                }
            }
            if constexpr (reads_values<Ops>) {
                for_each_input(ops_, [&](id value) { like.offer(ops_.model().value_name(value)); });
            }
        } else {
            for (auto [it, last] = vertices(ops_.graph()); it != last; ++it) {
                like.offer(kind == query_kind::name ? std::string_view(stored_name(ops_, *it))
                                                    : std::string_view(ops_.op_type(*it)));
            }
        }
    }

    const Modules& modules_;
    const tag_table& tags_;
    const Ops& ops_;
    std::span<const attribution> attributions_;
    const provenance_names& provenances_;
    const Facts& facts_;
    operator_matcher<Modules, Ops, Facts> matcher_;
};

/// Explains why a query matches nothing: the failing term, similar names, and how to query a class,
/// operator, node or value of that name; or that nothing matches all terms.
///
/// Complexity: that of `find_matching_operators`, and the edit distances of `nearest_texts`.
template <module_view Modules, named_operators Ops, query_facts Facts = no_facts>
[[nodiscard]] std::string
explain_no_match(const query& asked, const Modules& modules, const tag_table& tags, const Ops& ops,
                 std::span<const attribution> attributions,
                 const provenance_names& provenances = {}, const Facts& facts = {}) {
    auto text =
        lost_terms<Modules, Ops, Facts>(modules, tags, ops, attributions, provenances, facts)
            .find(asked);
    if (!text.empty() || asked.asks_for_operators()) {
        return text.empty() ? "no node matches all terms" : text;
    }
    return find_matching_modules(asked, modules, tags, ops, attributions, provenances, facts)
                   .empty()
               ? "no module matches all terms"
               : "the matching modules have no nodes";
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_QUERY_DETAIL_EXPLAIN_NO_MATCH_HPP
