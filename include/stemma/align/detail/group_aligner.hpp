// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ALIGN_DETAIL_GROUP_ALIGNER_HPP
#define STEMMA_ALIGN_DETAIL_GROUP_ALIGNER_HPP

#include <stemma/align/comparable_graph.hpp>
#include <stemma/align/detail/graph_matcher.hpp>
#include <stemma/align/detail/type_pairs.hpp>
#include <stemma/align/lexicon.hpp>
#include <stemma/core/id.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Divides what lies between matched values of the original among the operators that are there now.
class group_aligner {
public:
    group_aligner(const comparable_graph& before, const comparable_graph& after,
                  const type_pairs& types, const graph_matcher& values)
        : before_(before), after_(after), types_(types), values_(values) {}

    /// Returns: for each operator of `group` its operators of `region`, both ascending; none for an
    /// inserted one. Complexity: O(group * region).
    [[nodiscard]] std::vector<std::vector<id>> divide(std::span<const id> group,
                                                      std::span<const id> region) {
        std::vector<std::vector<id>> parts(group.size());
        std::vector<std::size_t> holder(region.size(), group.size());
        pair_in_order(group, region, holder);
        take_results(group, region, holder);
        for (std::size_t r = region.size(); r-- > 0;) {
            if (holder[r] == group.size()) {
                holder[r] = neighbour(group, region, holder, r);
            }
        }
        for (std::size_t r = 0; r < region.size(); ++r) {
            if (holder[r] < group.size()) {
                parts[holder[r]].push_back(region[r]);
            }
        }
        share(group, parts);
        return parts;
    }

private:
    /// Returns: how well an operator fits one of the original.
    [[nodiscard]] int fit(id op, id before) const {
        int score = 0;
        switch (types_.fit(before_.type(before), after_.type(op))) {
        case correspondence::head:
            score = 6;
            break;
        case correspondence::part:
            score = 2;
            break;
        default:
            break;
        }
        const auto outputs = after_.outputs(op);
        for (const auto v : outputs) {
            if (v != no_id && values_.value(v) != no_id &&
                before_.maker(values_.value(v)) == before) {
                score += 4;
            }
        }
        const auto others = before_.inputs(before);
        for (const auto v : after_.inputs(op)) {
            if (v != no_id && values_.value(v) != no_id &&
                before_.role(values_.value(v)) == comparable_graph::value_role::stored &&
                std::find(others.begin(), others.end(), values_.value(v)) != others.end()) {
                score += 5;
            }
        }
        const auto name = after_.name(op);
        if (score > 0 && !name.empty() && values_.uses_names() && name == before_.name(before)) {
            score += 5;
        }
        return score;
    }

    /// Finds the best pairing without crossings.
    void pair_in_order(std::span<const id> group, std::span<const id> region,
                       std::vector<std::size_t>& holder) {
        const auto width = region.size() + 1;
        std::vector<int> best((group.size() + 1) * width, 0);
        std::vector<int> fits(group.size() * region.size());
        for (std::size_t g = group.size(); g-- > 0;) {
            for (std::size_t r = region.size(); r-- > 0;) {
                const auto score = fit(group[g], region[r]);
                fits[g * region.size() + r] = score;
                auto most = std::max(best[(g + 1) * width + r], best[g * width + r + 1]);
                if (score > 0) {
                    most = std::max(most, score + best[(g + 1) * width + r + 1]);
                }
                best[g * width + r] = most;
            }
        }
        std::size_t g = 0;
        std::size_t r = 0;
        while (g < group.size() && r < region.size()) {
            const auto score = fits[g * region.size() + r];
            if (score > 0 && best[g * width + r] == score + best[(g + 1) * width + r + 1]) {
                holder[r++] = g++;
            } else if (best[g * width + r] == best[(g + 1) * width + r]) {
                ++g;
            } else {
                ++r;
            }
        }
    }

    /// The producer of a matched value goes to the operator that produces it now.
    void take_results(std::span<const id> group, std::span<const id> region,
                      std::vector<std::size_t>& holder) const {
        for (std::size_t g = 0; g < group.size(); ++g) {
            for (const auto v : after_.outputs(group[g])) {
                const auto maker = v == no_id || values_.value(v) == no_id
                                       ? no_id
                                       : before_.maker(values_.value(v));
                const auto at = std::lower_bound(region.begin(), region.end(), maker);
                if (maker != no_id && at != region.end() && *at == maker &&
                    !types_.passes(after_.type(group[g]))) {
                    auto& held = holder[static_cast<std::size_t>(at - region.begin())];
                    held = held == group.size() ? g : held;
                }
            }
        }
    }

    /// Returns: the holder of an input's producer if it fits too, else the holder of a reader.
    [[nodiscard]] std::size_t neighbour(std::span<const id> group, std::span<const id> region,
                                        const std::vector<std::size_t>& holder,
                                        std::size_t r) const {
        const auto held_by = [&](id op) {
            const auto at = std::lower_bound(region.begin(), region.end(), op);
            return op != no_id && at != region.end() && *at == op
                       ? holder[static_cast<std::size_t>(at - region.begin())]
                       : group.size();
        };
        const auto fuses = [&](std::size_t g) {
            return g < group.size() && types_.fit(before_.type(region[r]), after_.type(group[g])) >=
                                           correspondence::part;
        };
        auto reads = group.size();
        for (const auto v : before_.inputs(region[r])) {
            const auto g = v == no_id ? group.size() : held_by(before_.maker(v));
            if (fuses(g)) {
                return g;
            }
            reads = g < group.size() ? g : reads;
        }
        auto read = group.size();
        for (const auto v : before_.outputs(region[r])) {
            if (v == no_id) {
                continue;
            }
            for (const auto reader : values_.before_readers()[v]) {
                const auto g = held_by(reader);
                if (fuses(g)) {
                    return g;
                }
                read = g < group.size() ? g : read;
            }
        }
        return read < group.size() ? read : reads;
    }

    /// The results of splitting an operator share it: an operator that got nothing and passes
    /// nothing on takes what its neighbours have.
    void share(std::span<const id> group, std::vector<std::vector<id>>& parts) const {
        const auto at = [&](id op) {
            const auto position = std::lower_bound(group.begin(), group.end(), op);
            return op != no_id && position != group.end() && *position == op
                       ? static_cast<std::size_t>(position - group.begin())
                       : group.size();
        };
        std::vector<bool> lacks(group.size());
        for (std::size_t g = 0; g < group.size(); ++g) {
            lacks[g] = parts[g].empty() && !types_.passes(after_.type(group[g]));
        }
        for (std::size_t g = group.size(); g-- > 0;) { // from its readers
            for (const auto v : after_.outputs(group[g])) {
                if (v == no_id || !lacks[g] || !parts[g].empty()) {
                    continue;
                }
                for (const auto reader : values_.after_readers()[v]) {
                    if (const auto other = at(reader);
                        other < group.size() && shares(group[g], parts[other])) {
                        parts[g] = parts[other];
                        break;
                    }
                }
            }
        }
        for (std::size_t g = 0; g < group.size(); ++g) { // else from its producers
            for (const auto v : after_.inputs(group[g])) {
                const auto other = v == no_id || !lacks[g] || !parts[g].empty()
                                       ? group.size()
                                       : at(after_.maker(v));
                if (other < group.size() && shares(group[g], parts[other])) {
                    parts[g] = parts[other];
                }
            }
        }
    }

    /// Whether an operator may be part of what one of some operators was split into.
    [[nodiscard]] bool shares(id op, const std::vector<id>& origins) const {
        return !origins.empty() && (!types_.lays_out(after_.type(op)) ||
                                    std::any_of(origins.begin(), origins.end(), [&](id before) {
                                        return types_.fit(before_.type(before), after_.type(op)) >=
                                               correspondence::part;
                                    }));
    }

    const comparable_graph& before_;
    const comparable_graph& after_;
    const type_pairs& types_;
    const graph_matcher& values_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ALIGN_DETAIL_GROUP_ALIGNER_HPP
