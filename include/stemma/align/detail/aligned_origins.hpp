// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ALIGN_DETAIL_ALIGNED_ORIGINS_HPP
#define STEMMA_ALIGN_DETAIL_ALIGNED_ORIGINS_HPP

#include <stemma/align/comparable_graph.hpp>
#include <stemma/align/detail/graph_matcher.hpp>
#include <stemma/align/detail/group_aligner.hpp>
#include <stemma/align/detail/slice_finder.hpp>
#include <stemma/align/detail/type_pairs.hpp>
#include <stemma/align/detail/value_numbers.hpp>
#include <stemma/align/graph_alignment.hpp>
#include <stemma/align/lexicon.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/model/confidence.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Finds the operators of the original that those of a changed graph came from, given matched
/// values.
class aligned_origins {
public:
    aligned_origins(const comparable_graph& before, const comparable_graph& after,
                    const value_numbers& numbers, const type_pairs& types,
                    const graph_matcher& values)
        : before_(before)
        , after_(after)
        , numbers_(numbers)
        , types_(types)
        , values_(values)
        , remaining_(before.value_count(), false)
        , slices_(before, numbers, remaining_)
        , groups_(before, after, types, values)
        , origins_(after.operator_count())
        , traced_(after.operator_count())
        , grouped_(after.operator_count(), false) {
        for (id v = 0; v < after.value_count(); ++v) {
            if (values.value(v) != no_id) {
                remaining_[values.value(v)] = true;
            }
        }
    }

    /// Adds the results to an alignment.
    void run(graph_alignment& result) {
        for (id op = 0; op < after_.operator_count(); ++op) {
            if (!grouped_[op]) {
                settle(op);
            }
        }
        for (auto op = after_.operator_count(); op-- > 0;) {
            if (traced_[op].kind == origin_kind::inserted && serves_readers(op)) {
                traced_[op].kind = origin_kind::served;
            }
        }
        for (id op = 0; op < after_.operator_count(); ++op) {
            if (traced_[op].kind == origin_kind::inserted) {
                follow_data(op);
            }
        }
        for (auto op = after_.operator_count(); op-- > 0;) {
            if (traced_[op].kind == origin_kind::served) {
                follow_readers(op);
            }
        }
        result.reserve(after_.operator_count());
        for (id op = 0; op < after_.operator_count(); ++op) {
            result.add(traced_[op], origins_of(op));
        }
    }

private:
    static constexpr std::size_t most_in_group = 512;

    static void add(std::vector<id>& list, id v) {
        if (std::find(list.begin(), list.end(), v) == list.end()) {
            list.push_back(v);
        }
    }

    /// Returns: the origins of a settled operator; of one that is the same, its partner.
    [[nodiscard]] std::span<const id> origins_of(id op) const {
        const auto& own = origins_[op];
        return own.empty() && traced_[op].kind == origin_kind::kept
                   ? std::span(&values_.partner(op), 1)
                   : std::span(own);
    }

    [[nodiscard]] bool is_known(id v) const { return v == no_id || values_.value(v) != no_id; }

    /// Whether all of its values are matched, so that it can be treated separately.
    [[nodiscard]] bool stands_alone(id op) const {
        const auto inputs = after_.inputs(op);
        const auto outputs = after_.outputs(op);
        const auto known_or_stored = [&](id v) { return is_known(v) || after_.maker(v) == no_id; };
        return std::all_of(inputs.begin(), inputs.end(), known_or_stored) &&
               std::any_of(outputs.begin(), outputs.end(),
                           [&](id v) { return v != no_id && values_.value(v) != no_id; });
    }

    void settle(id op) {
        if (is_same(op)) {
            traced_[op] = {origin_kind::kept, certainty(op)};
            return;
        }
        begins_.clear();
        ends_.clear();
        passed_.clear();
        if (!stands_alone(op)) {
            settle_group(op);
            return;
        }
        note(op);
        settle_slice(op);
    }

    /// Whether it is an operator of the original that also reads the same values.
    [[nodiscard]] bool is_same(id op) const {
        const auto partner = values_.partner(op);
        if (partner == no_id) {
            return false;
        }
        const auto inputs = after_.inputs(op);
        const auto others = before_.inputs(partner);
        if (inputs.size() != others.size()) {
            return false;
        }
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            const auto v = inputs[i] == no_id ? no_id : values_.value(inputs[i]);
            const bool alike =
                inputs[i] == no_id
                    ? others[i] == no_id
                    : others[i] != no_id && !is_folded(inputs[i], others[i]) &&
                          (v == no_id ? after_.maker(inputs[i]) == no_id
                                      : v == others[i] ||
                                            numbers_.of_value(v) == numbers_.of_value(others[i]));
            if (!alike) {
                return false;
            }
        }
        return true;
    }

    /// Whether a value that the original computed is stored: its reader stands for the computation,
    /// too.
    [[nodiscard]] bool is_folded(id v, id before) const {
        const auto maker = before_.maker(before);
        return after_.maker(v) == no_id && after_.role(v) == comparable_graph::value_role::stored &&
               maker != no_id && !before_.constant(maker);
    }

    void note(id op) {
        for (const auto v : after_.inputs(op)) {
            if (v != no_id && values_.value(v) != no_id &&
                before_.role(values_.value(v)) != comparable_graph::value_role::stored &&
                !is_folded(v, values_.value(v))) {
                add(begins_, values_.value(v));
            }
        }
        for (const auto v : after_.outputs(op)) {
            if (v != no_id && values_.value(v) != no_id) {
                const bool passed = values_.basis(v) == graph_alignment::match_basis::passed &&
                                    types_.passes(after_.type(op));
                add(passed ? passed_ : ends_, values_.value(v));
            }
        }
    }

    void settle_slice(id op) {
        const auto slice = between();
        auto& entry = traced_[op];
        entry.confidence = slice.whole ? certainty(op) : certainty(op) / 2;
        if (slice.operators.empty()) {
            entry.kind = origin_kind::inserted;
            return;
        }
        origins_[op] = counted(slice.operators);
        entry.kind =
            origins_[op].size() == 1 && types_.equal(before_.type(origins_[op][0]), after_.type(op))
                ? origin_kind::kept
                : origin_kind::replaced;
    }

    /// Returns: what lies between `begins_` and `ends_`; nothing if these are equal.
    [[nodiscard]] graph_slice between() {
        auto ends = ends_;
        std::erase_if(ends, [&](id end) {
            return std::any_of(begins_.begin(), begins_.end(), [&](id v) {
                return numbers_.of_value(v) == numbers_.of_value(end);
            });
        });
        return ends.empty() ? graph_slice{} : slices_.find(begins_, ends);
    }

    /// Returns: the relevant ones of some operators: those that compute with data, if any.
    [[nodiscard]] std::vector<id> counted(const std::vector<id>& all) const {
        std::vector<id> result;
        const auto keep = [&](auto wanted) {
            std::copy_if(all.begin(), all.end(), std::back_inserter(result), wanted);
        };
        keep([&](id op) {
            const auto outputs = before_.outputs(op);
            return std::any_of(outputs.begin(), outputs.end(),
                               [&](id v) { return v != no_id && numbers_.is_data(v); });
        });
        if (result.empty()) {
            keep([&](id op) { return !before_.constant(op); });
        }
        return result.empty() ? all : result;
    }

    [[nodiscard]] float certainty(id op) const {
        auto best = graph_alignment::match_basis::none;
        for (const auto v : after_.outputs(op)) {
            best = v == no_id ? best : std::max(best, values_.basis(v));
        }
        switch (best) {
        case graph_alignment::match_basis::computed:
            return confidence::carried_computed;
        case graph_alignment::match_basis::named:
            return confidence::carried_named;
        case graph_alignment::match_basis::derived:
            return confidence::carried_derived;
        case graph_alignment::match_basis::passed:
            return confidence::carried_passed;
        default:
            return confidence::carried_between;
        }
    }

    /// Settles operators that share values missing from the original.
    void settle_group(id op) {
        group_.assign(1, op);
        grouped_[op] = true;
        for (std::size_t at = 0; at < group_.size(); ++at) {
            const auto join = [&](id other) {
                if (other != no_id && !grouped_[other] && group_.size() < most_in_group) {
                    grouped_[other] = true;
                    group_.push_back(other);
                }
            };
            for (const auto v : after_.inputs(group_[at])) {
                is_known(v) ? void() : join(after_.maker(v));
            }
            for (const auto v : after_.outputs(group_[at])) {
                if (!is_known(v)) {
                    const auto readers = values_.after_readers()[v];
                    std::for_each(readers.begin(), readers.end(), join);
                }
            }
        }
        std::sort(group_.begin(), group_.end());
        std::for_each(group_.begin(), group_.end(), [&](id member) { note(member); });
        const auto ends = ends_;
        std::erase_if(begins_,
                      [&](id v) { return std::find(ends.begin(), ends.end(), v) != ends.end(); });
        const auto slice = between();
        if (slice.operators.empty()) {
            std::for_each(group_.begin(), group_.end(), [&](id member) {
                traced_[member] = {ends.empty() && passed_.empty() ? origin_kind::unknown
                                                                   : origin_kind::inserted,
                                   certainty(member)};
            });
            return;
        }
        const auto region = counted(slice.operators);
        const auto parts = groups_.divide(group_, region);
        for (std::size_t i = 0; i < group_.size(); ++i) {
            const auto member = group_[i];
            origins_[member] = parts[i];
            traced_[member].confidence = std::min(certainty(member), confidence::carried_passed);
            traced_[member].kind = parts[i].empty() ? origin_kind::inserted
                                   : parts[i].size() == 1 && types_.equal(before_.type(parts[i][0]),
                                                                          after_.type(member))
                                       ? origin_kind::kept
                                       : origin_kind::replaced;
        }
    }

    /// Whether a value of the original is still there, rather than passed on or similar.
    [[nodiscard]] bool survives(id v) const {
        return v != no_id && values_.basis(v) >= graph_alignment::match_basis::named;
    }

    [[nodiscard]] bool takes_matrices(id op) const {
        return op != no_id && types_.takes_matrices(after_.type(op));
    }

    /// Whether an inserted operator belongs to its readers, as it lies between a surviving value
    /// and their results, or is a `Reshape` for a `Gemm`.
    [[nodiscard]] bool serves_readers(id op) const {
        const auto inputs = after_.inputs(op);
        const auto outputs = after_.outputs(op);
        if (types_.passes(after_.type(op)) || inputs.empty() || inputs[0] == no_id ||
            after_.maker(inputs[0]) == no_id ||
            std::any_of(outputs.begin(), outputs.end(), [&](id v) { return survives(v); })) {
            return false;
        }
        const bool from_matrix = takes_matrices(after_.maker(inputs[0]));
        return std::any_of(outputs.begin(), outputs.end(), [&](id v) {
            if (v == no_id) {
                return false;
            }
            const auto readers = values_.after_readers()[v];
            return std::any_of(readers.begin(), readers.end(), [&](id reader) {
                return reader > op &&
                       (survives(inputs[0]) || (takes_matrices(reader) && !from_matrix)) &&
                       (!origins_of(reader).empty() || traced_[reader].kind == origin_kind::served);
            });
        });
    }

    /// An inserted operator belongs where its data come from, the latest if from several places or,
    /// if those are stored or given, where they go.
    void follow_data(id op) {
        id from = no_id;
        for (const auto v : after_.inputs(op)) {
            const auto maker = v == no_id ? no_id : after_.maker(v);
            if (maker == no_id || after_.constant(maker)) {
                if (from == no_id && v != no_id &&
                    after_.role(v) != comparable_graph::value_role::stored) {
                    break;
                }
                continue;
            }
            if (traced_[maker].kind == origin_kind::unknown || maker >= op) {
                if (from == no_id) {
                    break;
                }
            } else if (traced_[maker].kind != origin_kind::served &&
                       (from == no_id || is_later(maker, from))) {
                from = maker;
            }
        }
        if (from == no_id || prepares_scale(op, from)) {
            traced_[op].kind = origin_kind::served;
            return;
        }
        const auto origins = origins_of(from);
        origins_[op].assign(origins.begin(), origins.end());
        traced_[op].confidence = std::min(traced_[op].confidence, traced_[from].confidence);
    }

    /// Whether an operator combines what a quantization returned with something stored, for what
    /// reads the quantized values.
    [[nodiscard]] bool prepares_scale(id op, id from) const {
        const auto inputs = after_.inputs(op);
        const auto outputs = after_.outputs(op);
        return !types_.passes(after_.type(op)) && types_.passes(after_.type(from)) &&
               std::any_of(inputs.begin(), inputs.end(),
                           [&](id v) {
                               return v != no_id &&
                                      after_.role(v) == comparable_graph::value_role::stored;
                           }) &&
               std::none_of(outputs.begin(), outputs.end(),
                            [&](id v) { return v != no_id && values_.value(v) != no_id; });
    }

    /// Whether the origins of one operator end after those of another.
    [[nodiscard]] bool is_later(id op, id other) const {
        const auto a = origins_of(op);
        const auto b = origins_of(other);
        return !a.empty() && (b.empty() || *std::max_element(a.begin(), a.end()) >
                                               *std::max_element(b.begin(), b.end()));
    }

    void follow_readers(id op) {
        auto& mine = origins_[op];
        for (const auto v : after_.outputs(op)) {
            if (v == no_id) {
                continue;
            }
            for (const auto reader : values_.after_readers()[v]) {
                if (reader > op && mine.size() < most_in_group) {
                    const auto origins = origins_of(reader);
                    mine.insert(mine.end(), origins.begin(), origins.end());
                }
            }
        }
        mine = range::each_once(std::move(mine));
        traced_[op].kind = mine.empty() ? origin_kind::unknown : origin_kind::served;
    }

    const comparable_graph& before_;
    const comparable_graph& after_;
    const value_numbers& numbers_;
    const type_pairs& types_;
    const graph_matcher& values_;
    std::vector<bool> remaining_; // by value of the original: whether the changed graph has it
    slice_finder slices_;
    group_aligner groups_;
    std::vector<std::vector<id>> origins_; // empty for an operator that is the same
    std::vector<graph_alignment::found_origins> traced_;
    std::vector<bool> grouped_;
    std::vector<id> begins_; // values of the original that a group reads,
    std::vector<id> ends_;   // and those that it makes
    std::vector<id> passed_; // or passes on in another type or layout
    std::vector<id> group_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ALIGN_DETAIL_ALIGNED_ORIGINS_HPP
