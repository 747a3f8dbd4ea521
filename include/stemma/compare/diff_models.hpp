// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_COMPARE_DIFF_MODELS_HPP
#define STEMMA_COMPARE_DIFF_MODELS_HPP

#include <stemma/compare/detail/change_finder.hpp>
#include <stemma/compare/detail/compared_model.hpp>
#include <stemma/compare/detail/weight_comparer.hpp>
#include <stemma/compare/model_diff.hpp>
#include <stemma/compare/module_pairs.hpp>
#include <stemma/compare/node_match.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/parallel.hpp>
#include <stemma/onnx/wire/attributed_model.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma {

/// How two models are compared module by module.
struct diff_options {
    bool weights = true;     ///< whether data of weights are compared
    double tolerance = 0;    ///< weights whose largest relative difference is no more are the same
    thread_limit threads = {};              ///< for the data of weights
    std::span<const std::pair<id, id>> known_partners = {}; ///< nodes that are partners for sure
};

namespace detail {

/// Puts together what was found, module by module.
class model_differ {
public:
    model_differ(const attributed_model& first, const attributed_model& second,
                 const diff_options& options)
        : a_(first), b_(second), options_(options) {}

    [[nodiscard]] model_diff run() {
        result_.pairs =
            pair_modules(a_.modules(), a_.contents(), b_.modules(), b_.contents());
        match();
        entry_of_first_.assign(a_.modules().size(), no_id);
        entry_of_second_.assign(b_.modules().size(), no_id);
        change_finder changes(a_, b_, result_.nodes);
        changes.run();
        note_weights();
        note_nodes(changes);
        note_reads(changes.reads());
        find_absorbed(changes);
        classify(changes);
        note_places();
        note_whole_subtrees();
        note_header();
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

    /// Returns: what is said of a module of the first model.
    [[nodiscard]] module_difference& of_first(id m) {
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

    /// The same of the second model.
    [[nodiscard]] module_difference& of_second(id n) {
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

    static void add(module_difference& entry, module_change change) {
        if (!entry.has(change)) {
            entry.changes.push_back(change);
        }
    }

    /// Returns: the module that the name of a weight says owns it; else that of who reads it.
    [[nodiscard]] id owner_of(std::string_view name, id reader) const {
        const auto& tree = a_.modules();
        id m = 0;
        while (!name.empty()) {
            const auto dot = name.find('.');
            if (dot == name.npos) {
                return m;
            }
            m = tree.child(m, name.substr(0, dot));
            if (m == no_id) {
                break;
            }
            name.remove_prefix(dot + 1);
        }
        return a_.module_of(reader);
    }

    void note_weights() {
        const auto pairs = pair_weights(a_, b_, result_.nodes);
        result_.compared_weights = pairs.size();
        changes_weights_.assign(a_.model().node_count(), false);
        if (!options_.weights) {
            return;
        }
        auto found = compare_all_weights(a_, b_, pairs, options_.threads);
        for (std::size_t i = 0; i < pairs.size(); ++i) {
            if (!found[i] || (found[i]->comparable && options_.tolerance > 0 &&
                              found[i]->difference.relative <= options_.tolerance)) {
                continue;
            }
            changes_weights_[pairs[i].node] = true;
            const auto name = a_.model().value_name(found[i]->first);
            auto& entry = of_first(owner_of(name, pairs[i].node));
            add(entry, module_change::weights);
            entry.weights.push_back(*std::move(found[i]));
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

    /// Returns: the child of `above` in which a module is; itself where that is `above`.
    [[nodiscard]] static id child_with(const tree_index& tree, id above, id m) {
        return m == above ? m : tree.child_towards(above, m);
    }

    /// Where partners read something else, modules may run in another order: then those that moved
    /// are named, and not all that read them.
    void note_reads(const std::vector<changed_read>& reads) {
        const auto& tree = a_.modules().index();
        std::map<id, std::vector<changed_read>> by_module; // the innermost around both
        for (const auto& read : reads) {
            by_module[tree.lca(a_.module_of(read.reader), a_.module_of(read.before))].push_back(
                read);
        }
        for (const auto& [around, all] : by_module) {
            std::vector<id> involved;
            for (const auto& read : all) {
                for (auto node : {read.reader, read.before, result_.nodes.to_first[read.after]}) {
                    const auto m = a_.module_of(node);
                    if (m != around && tree.is_ancestor(around, m)) {
                        involved.push_back(child_with(tree, around, m));
                    }
                }
            }
            std::sort(involved.begin(), involved.end());
            involved.erase(std::unique(involved.begin(), involved.end()), involved.end());
            const auto moved = find_reordered(involved);
            for (auto m : moved) {
                add(of_first(m), module_change::moved);
            }
            for (const auto& read : all) {
                auto& entry = of_first(a_.module_of(read.reader));
                if (moved.empty()) {
                    add(entry, module_change::rewired);
                    entry.rewired.emplace_back(read.reader,
                                               result_.nodes.to_second[read.reader]);
                }
            }
        }
    }

    /// Returns: of modules those that run in another order than before, as few as explain it; both
    /// of two neighbours that changed places.
    [[nodiscard]] std::vector<id> find_reordered(const std::vector<id>& modules) const {
        struct run {
            id before = 0;
            id after = 0;
            id module = 0;
        };
        std::vector<run> runs;
        for (auto m : modules) {
            const auto n = result_.pairs.to_second[m];
            const auto from = first_node(a_, m);
            const auto to = n == no_id ? no_id : first_node(b_, n);
            if (from != no_id && to != no_id) {
                runs.push_back({from, to, m});
            }
        }
        std::sort(runs.begin(), runs.end(),
                  [](const run& x, const run& y) { return x.before < y.before; });
        // The longest rising sequence stays.
        std::vector<id> ends;                            // by length: where the best one ends
        std::vector<id> previous(runs.size(), no_id);    // in the sequence
        for (id i = 0; i < runs.size(); ++i) {
            const auto at = std::lower_bound(ends.begin(), ends.end(), i, [&](id x, id y) {
                return runs[x].after < runs[y].after;
            });
            previous[i] = at == ends.begin() ? no_id : *(at - 1);
            at == ends.end() ? ends.push_back(i) : static_cast<void>(*at = i);
        }
        std::vector<bool> stays(runs.size(), false);
        for (auto i = ends.empty() ? no_id : ends.back(); i != no_id; i = previous[i]) {
            stays[i] = true;
        }
        std::vector<id> moved;
        for (id i = 0; i < runs.size(); ++i) {
            const bool swapped_before = i > 0 && !stays[i - 1] && is_swap(runs[i - 1], runs[i]) &&
                                        (i < 2 || stays[i - 2]);
            const bool swapped_behind =
                i + 1 < runs.size() && !stays[i + 1] && is_swap(runs[i], runs[i + 1]) &&
                (i + 2 >= runs.size() || stays[i + 2]);
            if (!stays[i] || swapped_before || swapped_behind) {
                moved.push_back(runs[i].module);
            }
        }
        return moved;
    }

    [[nodiscard]] static bool is_swap(const auto& earlier, const auto& later) {
        return later.after < earlier.after;
    }

    /// Returns: the first node in or below a module.
    [[nodiscard]] id first_node(const compared_model& side, id m) const {
        auto& firsts = &side == &a_ ? first_in_a_ : first_in_b_;
        if (firsts.empty()) {
            const auto& tree = side.modules().index();
            firsts.assign(tree.size(), no_id);
            for (auto v = side.model().node_count(); v-- > 0;) {
                if (!side.is_quiet(v)) {
                    firsts[side.module_of(v)] = v;
                }
            }
            for (auto child = static_cast<id>(tree.size()); child-- > 1;) {
                firsts[tree.parent(child)] = std::min(firsts[tree.parent(child)], firsts[child]);
            }
        }
        return firsts[m];
    }

    /// Nodes that went while who made what they read got other weights: folded into those.
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
        for (auto& entry : result_.modules) {
            if (entry.only_first.empty() && entry.only_second.empty()) {
                continue;
            }
            auto strongest = region_change::gone_or_new;
            const auto meet = [&](id r) {
                const auto& region = changes.regions()[r];
                strongest = std::max(strongest, region.change);
                for (auto v : region.second) {
                    entry.into.push_back(b_.module_of(v));
                }
            };
            for (auto v : entry.only_first) {
                meet(changes.region_of_first(v));
            }
            for (auto v : entry.only_second) {
                meet(changes.region_of_second(v));
            }
            std::sort(entry.into.begin(), entry.into.end());
            entry.into.erase(std::unique(entry.into.begin(), entry.into.end()), entry.into.end());
            std::erase(entry.into, entry.second);
            add(entry, change_of(entry, strongest));
        }
    }

    [[nodiscard]] module_change change_of(const module_difference& entry,
                                          region_change strongest) const {
        if (strongest == region_change::quantized) {
            return module_change::quantized;
        }
        const bool lost_all =
            entry.second == no_id && entry.only_second.empty() &&
            entry.only_first.size() == own_nodes(a_, entry.first);
        if (lost_all) {
            return entry.into.empty() ? module_change::removed : module_change::fused;
        }
        if (strongest == region_change::fused) {
            return module_change::fused;
        }
        const bool new_all = entry.first == no_id &&
                             entry.only_second.size() == own_nodes(b_, entry.second);
        return new_all                                              ? module_change::added
               : entry.only_second.empty() && !entry.into.empty() ? module_change::fused
                                                                   : module_change::relowered;
    }

    [[nodiscard]] std::size_t own_nodes(const compared_model& side, id m) const {
        auto& own = &side == &a_ ? own_in_a_ : own_in_b_;
        if (own.empty()) {
            own.assign(side.modules().size(), 0);
            for (id v = 0; v < side.model().node_count(); ++v) {
                own[side.module_of(v)] += side.is_quiet(v) ? 0U : 1U;
            }
        }
        return own[m];
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
            const bool same_parent = pairs.to_second[above] == other_above ||
                                     pairs.to_first[other_above] == above;
            if (!same_parent) {
                add(of_first(m), module_change::moved);
            } else if (a_.modules().attribute(m) != b_.modules().attribute(n)) {
                add(of_first(m), module_change::renamed);
            }
        }
    }

    /// A module with nothing but modules that were added or removed was so itself.
    void note_whole_subtrees() {
        const auto sweep = [&](const compared_model& side, const std::vector<id>& partner,
                               bool is_first) {
            const auto& tree = side.modules().index();
            std::vector<std::size_t> gone(tree.size(), 0);
            const auto wanted = is_first ? module_change::removed : module_change::added;
            for (const auto& entry : result_.modules) {
                const auto m = is_first ? entry.first : entry.second;
                if (m != no_id && entry.has(wanted)) {
                    gone[m] += is_first ? entry.only_first.size() : entry.only_second.size();
                }
            }
            for (auto m = static_cast<id>(tree.size()); m-- > 1;) {
                if (partner[m] == no_id && gone[m] > 0 &&
                    gone[m] == side.contents().operators[m]) {
                    add(is_first ? of_first(m) : of_second(m), wanted);
                }
                gone[tree.parent(m)] += gone[m];
            }
        };
        sweep(a_, result_.pairs.to_second, true);
        sweep(b_, result_.pairs.to_first, false);
    }

    void note_header() {
        std::map<std::string, std::pair<std::string, std::string>> opsets;
        const auto domain = [](std::string_view text) {
            return text.empty() ? std::string("ai.onnx") : std::string(text);
        };
        for (const auto& opset : a_.model().opset_imports()) {
            opsets[domain(opset.domain)].first = std::to_string(opset.version);
        }
        for (const auto& opset : b_.model().opset_imports()) {
            opsets[domain(opset.domain)].second = std::to_string(opset.version);
        }
        for (auto& [name, versions] : opsets) {
            if (versions.first != versions.second) {
                result_.header.push_back({"opset " + name, versions.first, versions.second});
            }
        }
        compare_names("input", &graph_record::inputs);
        compare_names("output", &graph_record::outputs);
    }

    void compare_names(const std::string& what, std::vector<id> graph_record::*list) {
        const auto names = [&](const wire_model& model) {
            std::vector<std::string> found;
            for (auto value : model.graph(0).*list) {
                if (value != no_id && !model.is_initializer(value)) {
                    found.emplace_back(model.value_name(value));
                }
            }
            return found;
        };
        const auto first = names(a_.model());
        const auto second = names(b_.model());
        for (std::size_t i = 0; i < std::max(first.size(), second.size()); ++i) {
            const auto from = i < first.size() ? first[i] : std::string();
            const auto to = i < second.size() ? second[i] : std::string();
            if (from != to) {
                result_.header.push_back({what + " " + std::to_string(i), from, to});
            }
        }
    }

    /// Puts differences into the order of the trees, and leaves out what is none.
    void finish() {
        auto& all = result_.modules;
        std::erase_if(all, [](const auto& entry) { return entry.changes.empty(); });
        const auto& other = b_.modules().index();
        const auto key = [&](const module_difference& entry) {
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
            if (entry.first != no_id) {
                differs[entry.first] = true;
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
    std::vector<id> entry_of_first_;
    std::vector<id> entry_of_second_;
    std::vector<bool> changes_weights_; // by node of the first model
    mutable std::vector<id> first_in_a_;
    mutable std::vector<id> first_in_b_;
    mutable std::vector<std::size_t> own_in_a_;
    mutable std::vector<std::size_t> own_in_b_;
};

} // namespace detail

/// Says how two models differ, module by module.
///
/// Modules are partners by path, class, operators and weights, nodes by what they do and where;
/// neither need have the same name. A module is named for what stands in it and not in modules
/// below it, so that one edit names one module. Of what is attributed to another module by the
/// evidence of one model alone nothing is said.
/// Throws: `error` where external data cannot be read.
/// Complexity: O((V + E) log V + modules log modules), and O(data) of weights that partners read.
[[nodiscard]] inline model_diff diff_models(const attributed_model& first,
                                            const attributed_model& second,
                                            const diff_options& options = {}) {
    return detail::model_differ(first, second, options).run();
}

} // namespace stemma

#endif // STEMMA_COMPARE_DIFF_MODELS_HPP
