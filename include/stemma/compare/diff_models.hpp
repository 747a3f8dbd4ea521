// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_COMPARE_DIFF_MODELS_HPP
#define STEMMA_COMPARE_DIFF_MODELS_HPP

#include <stemma/compare/detail/change_finder.hpp>
#include <stemma/compare/detail/changed_reads.hpp>
#include <stemma/compare/detail/compare_headers.hpp>
#include <stemma/compare/detail/compared_model.hpp>
#include <stemma/compare/detail/explain_reads.hpp>
#include <stemma/compare/detail/module_pairs.hpp>
#include <stemma/compare/detail/node_match.hpp>
#include <stemma/compare/detail/paired_graphs.hpp>
#include <stemma/compare/detail/weight_comparer.hpp>
#include <stemma/compare/model_diff.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/open/attributed_model.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

namespace detail {

/// Collects differences by module.
class model_differ {
public:
    model_differ(const attributed_model& first, const attributed_model& second,
                 const diff_options& options)
        : a_(first), b_(second), options_(options) {}

    [[nodiscard]] model_diff run() {
        result_.pairs = pair_modules(a_.modules(), a_.contents(), b_.modules(), b_.contents());
        match();
        graphs_.emplace(a_.model(), b_.model(), result_.nodes);
        entry_of_first_.assign(a_.modules().size(), no_id);
        entry_of_second_.assign(b_.modules().size(), no_id);
        change_finder changes(a_, b_, result_.pairs, result_.nodes);
        changes.run();
        note_weights();
        note_nodes(changes);
        note_reads();
        find_absorbed(changes);
        classify(changes);
        note_places();
        note_whole_subtrees();
        result_.header = compare_headers(a_.model(), b_.model());
        finish();
        return std::move(result_);
    }

private:
    void match() {
        const auto& pairs = result_.pairs;
        std::vector<std::uint64_t> place_a(a_.model().node_count());
        std::vector<std::uint64_t> place_b(b_.model().node_count());
        for (id v = 0; v < place_a.size(); ++v) {
            const auto m = a_.module_of(v);
            const auto n = pairs.to_second[m];
            place_a[v] = n == no_id ? 0 : std::uint64_t{pairs.to_first[n]} + 1;
        }
        for (id v = 0; v < place_b.size(); ++v) {
            const auto m = pairs.to_first[b_.module_of(v)];
            place_b[v] = m == no_id ? 0 : std::uint64_t{m} + 1;
        }
        result_.nodes = node_match(place_a.size(), place_b.size());
        for (const auto& [v, w] : options_.known_partners) {
            result_.nodes.add(v, w);
        }
        match_nodes(a_.view(place_a), b_.view(place_b), result_.nodes);
        for (id v = 0; v < place_a.size(); ++v) {
            result_.first_nodes += a_.is_quiet(v) ? 0U : 1U;
            result_.matched_nodes += result_.nodes.to_second[v] == no_id ? 0U : 1U;
        }
        for (id v = 0; v < place_b.size(); ++v) {
            result_.second_nodes += b_.is_quiet(v) ? 0U : 1U;
        }
    }

    /// Returns: the entry for a module of the first model.
    [[nodiscard]] model_diff::changed_module& of_first(id m) {
        auto& entry = entry_of_first_[m];
        if (entry == no_id) {
            const auto n = result_.pairs.to_second[m];
            entry = n == no_id ? no_id : entry_of_second_[n];
            if (entry == no_id) {
                entry = static_cast<id>(result_.modules.size());
                result_.modules.emplace_back();
                result_.modules.back().first = m;
                result_.modules.back().second = n;
                if (n != no_id) {
                    entry_of_second_[n] = entry;
                }
            }
        }
        return result_.modules[entry];
    }

    /// The same for the second model.
    [[nodiscard]] model_diff::changed_module& of_second(id n) {
        const auto m = result_.pairs.to_first[n];
        if (m != no_id) {
            return of_first(m);
        }
        auto& entry = entry_of_second_[n];
        if (entry == no_id) {
            entry = static_cast<id>(result_.modules.size());
            result_.modules.emplace_back();
            result_.modules.back().second = n;
        }
        return result_.modules[entry];
    }

    static void add(model_diff::changed_module& entry, model_diff::change change) {
        if (!entry.has(change)) {
            entry.changes.push_back(change);
        }
    }

    /// Returns: the owner of a weight by name; else the module of its reader.
    [[nodiscard]] id owner_of(std::string_view name, id reader) const {
        const auto& tree = a_.modules();
        id m = 0;
        while (!name.empty()) {
            const auto dot = name.find('.');
            if (dot == name.npos && m != 0) {
                return m;
            }
            if (dot == name.npos) {
                break;
            }
            m = tree.child(m, name.substr(0, dot));
            if (m == no_id) {
                break;
            }
            name.remove_prefix(dot + 1);
        }
        return reader == no_id ? 0 : a_.module_of(reader);
    }

    void note_weights() {
        const auto pairs = pair_weights(a_, b_, result_.nodes, *graphs_);
        result_.compared_weights = pairs.size();
        changes_weights_.assign(a_.model().node_count(), false);
        if (!options_.weights) {
            return;
        }
        auto differences = compare_all_weights(a_, b_, pairs);
        for (std::size_t i = 0; i < pairs.size(); ++i) {
            auto& [weight, missing] = differences[i];
            result_.missing_weights += missing ? 1 : 0;
            if (!weight || (weight->comparable && options_.tolerance > 0 &&
                            weight->difference.relative <= options_.tolerance)) {
                continue;
            }
            if (pairs[i].node != no_id && weight->comparable) {
                changes_weights_[pairs[i].node] = true;
            }
            const auto name = a_.model().value_name(weight->first);
            auto& entry = of_first(owner_of(name, pairs[i].node));
            add(entry, model_diff::change::weights);
            entry.weights.push_back(*std::move(weight));
        }
    }

    void note_nodes(const change_finder& changes) {
        for (const auto& region : changes.regions()) {
            for (auto v : region.first) {
                auto& entry = of_first(a_.module_of(v));
                entry.only_first.push_back(v);
                entry.same_boundary = entry.same_boundary && region.same_boundary;
            }
            for (auto v : region.second) {
                auto& entry = of_second(b_.module_of(v));
                entry.only_second.push_back(v);
                entry.same_boundary = entry.same_boundary && region.same_boundary;
            }
        }
        for (const auto& [v, w] : result_.nodes.changed) {
            of_first(a_.module_of(v)).changed.emplace_back(v, w);
        }
        for (auto& entry : result_.modules) {
            std::sort(entry.only_first.begin(), entry.only_first.end());
            std::sort(entry.only_second.begin(), entry.only_second.end());
        }
    }

    /// A changed read is reported at its reader; a result, at the node that made it.
    void note_reads() {
        const auto explained = explain_reads(a_, b_, result_.pairs, result_.nodes,
                                             find_changed_reads(a_, b_, result_.nodes, *graphs_));
        for (auto m : explained.moved) {
            add(of_first(m), model_diff::change::moved);
        }
        for (const auto& read : explained.rewired) {
            auto v = read.reader == no_id ? read.before : read.reader;
            if (v == no_id && read.after != no_id) {
                v = result_.nodes.to_first[read.after];
            }
            auto& entry = of_first(v == no_id ? 0 : a_.module_of(v));
            add(entry, model_diff::change::rewired);
            if (v != no_id) {
                entry.rewired.emplace_back(v, result_.nodes.to_second[v]);
            }
        }
    }

    /// Removed nodes whose producers got other weights were folded into these.
    void find_absorbed(const change_finder& changes) {
        for (const auto& region : changes.regions()) {
            if (!region.second.empty()) {
                continue;
            }
            std::vector<id> into;
            for (auto v : region.first) {
                for (auto from : a_.graph().producers(v)) {
                    if (result_.nodes.to_second[from] != no_id && changes_weights_[from]) {
                        into.push_back(b_.module_of(result_.nodes.to_second[from]));
                    }
                }
            }
            for (auto v : region.first) {
                auto& entry = of_first(a_.module_of(v));
                entry.into.insert(entry.into.end(), into.begin(), into.end());
            }
        }
    }

    void classify(const change_finder& changes) {
        const auto modules_of = [&](const changed_region& region) {
            std::vector<id> modules;
            for (auto v : region.second) {
                if (region.change != region_change::gone_or_new) {
                    modules.push_back(b_.module_of(v));
                }
            }
            return range::each_once(std::move(modules));
        };
        std::vector<std::vector<id>> modules; // of the second model, by region
        for (const auto& region : changes.regions()) {
            modules.push_back(modules_of(region));
        }
        for (auto& entry : result_.modules) {
            if (entry.only_first.empty() && entry.only_second.empty()) {
                continue;
            }
            auto strongest = region_change::gone_or_new;
            std::vector<id> regions;
            for (auto v : entry.only_first) {
                regions.push_back(changes.region_of_first(v));
            }
            for (auto v : entry.only_second) {
                regions.push_back(changes.region_of_second(v));
            }
            for (auto r : range::each_once(std::move(regions))) {
                strongest = std::max(strongest, changes.regions()[r].change);
                entry.into.insert(entry.into.end(), modules[r].begin(), modules[r].end());
            }
            entry.into = range::each_once(std::move(entry.into));
            std::erase(entry.into, entry.second);
            add(entry, change_of(entry, strongest));
        }
    }

    [[nodiscard]] model_diff::change change_of(const model_diff::changed_module& entry,
                                               region_change strongest) const {
        if (strongest == region_change::quantized) {
            return model_diff::change::quantized;
        }
        const bool lost_all = entry.second == no_id && entry.only_second.empty() &&
                              entry.only_first.size() == a_.own_nodes(entry.first);
        if (lost_all) {
            return entry.into.empty() ? model_diff::change::removed : model_diff::change::fused;
        }
        const bool new_all =
            entry.first == no_id && entry.only_second.size() == b_.own_nodes(entry.second);
        if (new_all) {
            return model_diff::change::added;
        }
        const bool gave_all = entry.only_second.empty() && !entry.into.empty();
        return strongest == region_change::fused || gave_all ? model_diff::change::fused
                                                             : model_diff::change::relowered;
    }

    void note_places() {
        const auto& tree = a_.modules().index();
        const auto& other = b_.modules().index();
        const auto& pairs = result_.pairs;
        for (id m = 1; m < tree.size(); ++m) {
            const auto n = pairs.to_second[m];
            if (n == no_id || n == 0 || pairs.to_first[n] != m || m == pairs.first_root ||
                n == pairs.second_root || tree.is_ancestor(m, pairs.first_root)) {
                continue;
            }
            const auto above = tree.parent(m);
            const auto other_above = other.parent(n);
            const bool same_parent =
                pairs.to_second[above] == other_above || pairs.to_first[other_above] == above;
            if (!same_parent) {
                add(of_first(m), model_diff::change::moved);
                note_containers(a_, pairs.to_second, above, true);
                note_containers(b_, pairs.to_first, other_above, false);
            } else if (a_.modules().name(m) != b_.modules().name(n)) {
                add(of_first(m), model_diff::change::renamed);
            }
        }
    }

    /// What was made to hold a moved module was added; what held nothing else was removed.
    void note_containers(const compared_model& side, const std::vector<id>& partner, id m,
                         bool is_first) {
        for (; partner[m] == no_id; m = side.modules().index().parent(m)) {
            if (side.own_nodes(m) == 0) {
                is_first ? add(of_first(m), model_diff::change::removed)
                         : add(of_second(m), model_diff::change::added);
            }
        }
    }

    /// A module that contains only added or removed modules was added or removed itself.
    void note_whole_subtrees() {
        const auto sweep = [&](const compared_model& side, const std::vector<id>& partner,
                               bool is_first) {
            const auto& tree = side.modules().index();
            std::vector<std::size_t> gone(tree.size(), 0);
            const auto wanted = is_first ? model_diff::change::removed : model_diff::change::added;
            for (const auto& entry : result_.modules) {
                const auto m = is_first ? entry.first : entry.second;
                if (m != no_id && entry.has(wanted)) {
                    gone[m] += is_first ? entry.only_first.size() : entry.only_second.size();
                }
            }
            for (auto m = static_cast<id>(tree.size()); m-- > 1;) {
                if (partner[m] == no_id && gone[m] > 0 && gone[m] == side.contents().operators[m]) {
                    add(is_first ? of_first(m) : of_second(m), wanted);
                }
                gone[tree.parent(m)] += gone[m];
            }
        };
        sweep(a_, result_.pairs.to_second, true);
        sweep(b_, result_.pairs.to_first, false);
    }

    /// Sorts differences in tree order, dropping empty ones.
    void finish() {
        auto& all = result_.modules;
        std::erase_if(all, [](const auto& entry) { return entry.changes.empty(); });
        const auto& other = b_.modules().index();
        const auto key = [&](const model_diff::changed_module& entry) {
            id m = entry.first;
            for (auto n = entry.second; m == no_id && n != no_id; n = other.parent(n)) {
                m = result_.pairs.to_first[n];
            }
            return std::pair(m == no_id ? 0 : m, entry.first == no_id ? entry.second + 1 : 0);
        };
        std::stable_sort(all.begin(), all.end(),
                         [&](const auto& x, const auto& y) { return key(x) < key(y); });
        std::vector<bool> differs(a_.modules().size(), false);
        for (auto& entry : all) {
            std::sort(entry.changes.begin(), entry.changes.end());
            entry.rewired = range::each_once(std::move(entry.rewired));
            // A module whose operators are all in functions differs as the caller of these.
            auto m = entry.first;
            while (m != no_id && m != 0 && a_.contents().operators[m] == 0) {
                m = a_.modules().index().parent(m);
            }
            if (m != no_id) {
                differs[m] = true;
            }
        }
        for (id m = 0; m < differs.size(); ++m) {
            if (a_.contents().operators[m] > 0) {
                const bool paired = result_.pairs.to_second[m] != no_id;
                ++result_.first_modules;
                result_.paired_modules += paired ? 1U : 0U;
                result_.same_modules += paired && !differs[m] ? 1U : 0U;
            }
        }
        for (auto count : b_.contents().operators) {
            result_.second_modules += count > 0 ? 1U : 0U;
        }
    }

    compared_model a_;
    compared_model b_;
    const diff_options& options_;
    model_diff result_;
    std::optional<paired_graphs> graphs_; // once nodes are matched
    std::vector<id> entry_of_first_;
    std::vector<id> entry_of_second_;
    std::vector<bool> changes_weights_; // by node of the first model
};

} // namespace detail

/// Finds the differences between two models, module by module.
///  Modules are matched by path, class, operators and weights, nodes by function and place, not
/// necessarily by name. Changes are reported for the innermost module, so that one edit affects one
/// module. Attributions that differ only for lack of evidence are no change.
/// Throws: `error` if external data cannot be read, or as `options.check()`.
/// Complexity: O((V + E) log V + modules log modules), and O(data) of weights read by partners.
[[nodiscard]] inline model_diff diff_models(const attributed_model& first,
                                            const attributed_model& second,
                                            const diff_options& options = {}) {
    options.check();
    return detail::model_differ(first, second, options).run();
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_COMPARE_DIFF_MODELS_HPP
