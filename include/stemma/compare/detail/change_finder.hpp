// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_COMPARE_DETAIL_CHANGE_FINDER_HPP
#define STEMMA_COMPARE_DETAIL_CHANGE_FINDER_HPP

#include <stemma/align/fused_operators.hpp>
#include <stemma/compare/detail/compared_model.hpp>
#include <stemma/compare/detail/module_pairs.hpp>
#include <stemma/compare/detail/node_match.hpp>
#include <stemma/core/detail/disjoint_sets.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/model/operator_graph.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Whether operators of a type quantize, dequantize, or compute with quantized numbers.
[[nodiscard]] constexpr bool is_quantizing(std::string_view type) noexcept {
    constexpr std::array<std::string_view, 11> parts{"Quant", "QLinear",  "Integer", "QGemm",
                                                     "QMoE",  "QOrdered", "QEmbed",  "QAttention",
                                                     "NBits", "Bnb4",     "FpQ4"};
    return std::any_of(
               parts.begin(), parts.end(),
               [&](std::string_view part) { return type.find(part) != std::string_view::npos; }) ||
           type == "DequantizeLinear";
}

/// Whether an operator type is a runtime's fused one.
/// Complexity: O(length of the list).
[[nodiscard]] constexpr bool is_fused_type(std::string_view type) noexcept {
    auto rest = fused_operators;
    while (!rest.empty()) {
        const auto end = std::min(rest.find('\n'), rest.size());
        const auto line = rest.substr(0, end);
        auto types = line.substr(0, std::min(line.find('='), line.size()));
        while (!types.empty()) {
            const auto blank = std::min(types.find(' '), types.size());
            if (!type.empty() && types.substr(0, blank) == type) {
                return true;
            }
            types.remove_prefix(std::min(blank + 1, types.size()));
        }
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return false;
}

/// A change of nodes without partners.
enum class region_change : std::uint8_t { gone_or_new, relowered, fused, quantized };

/// Nodes of two models without partners in corresponding places.
struct changed_region {
    region_change change = region_change::gone_or_new;
    bool same_boundary = true; ///< inputs and readers are the same
    std::vector<id> first;     ///< nodes of the first model, ascending
    std::vector<id> second;    ///< nodes of the second model, ascending
};

/// Finds connected nodes without partners.
class change_finder {
public:
    /// Requires: all outlive this.
    change_finder(const compared_model& a, const compared_model& b, const module_pairs& pairs,
                  const node_match& match)
        : a_(a)
        , b_(b)
        , pairs_(pairs)
        , match_(match)
        , count_a_(a.model().node_count())
        , all_(std::size_t{a.model().node_count()} + b.model().node_count())
        , joined_(all_) {}

    /// Complexity: O((V + E) log V).
    void run() {
        join_survivors();
        join_neighbours(a_, match_.to_second, 0);
        join_neighbours(b_, match_.to_first, count_a_);
        for (id v = 0; v < count_a_; ++v) {
            if (match_.to_second[v] != no_id) {
                join_what_is_read(v, match_.to_second[v]);
                join_lone_readers(v, match_.to_second[v]);
            }
        }
        join_results();
        collect();
    }

    [[nodiscard]] const std::vector<changed_region>& regions() const noexcept { return regions_; }

    /// The region of a node of the first model; `no_id` if it has a partner.
    [[nodiscard]] id region_of_first(id v) const noexcept { return region_[v]; }
    /// The same for the second model.
    [[nodiscard]] id region_of_second(id v) const noexcept { return region_[count_a_ + v]; }

private:
    [[nodiscard]] bool is_open_a(id v) const {
        return v != no_id && match_.to_second[v] == no_id && !a_.is_quiet(v);
    }
    [[nodiscard]] bool is_open_b(id v) const {
        return v != no_id && match_.to_first[v] == no_id && !b_.is_quiet(v);
    }

    /// A result that kept its name ends a region on both sides.
    void join_survivors() {
        survives_.assign(all_, false);
        const auto name_of = [](const compared_model& side, id v) {
            return side.model().output_count(v) == 0
                       ? std::string_view()
                       : side.model().value_name(side.model().first_output(v));
        };
        std::unordered_map<std::string_view, id> by_name;
        for (id w = 0; w < match_.to_first.size(); ++w) {
            if (is_open_b(w)) {
                by_name.emplace(name_of(b_, w), w);
            }
        }
        by_name.erase(std::string_view());
        for (id v = 0; v < count_a_; ++v) {
            const auto entry = is_open_a(v) ? by_name.find(name_of(a_, v)) : by_name.end();
            if (entry != by_name.end()) {
                joined_.join(v, count_a_ + entry->second);
                survives_[v] = survives_[count_a_ + entry->second] = true;
            }
        }
    }

    void join_neighbours(const compared_model& side, const std::vector<id>& partner, id base) {
        for (id v = 0; v < partner.size(); ++v) {
            if (partner[v] != no_id || side.is_quiet(v)) {
                continue;
            }
            for (auto from : side.graph().producers(v)) {
                if (partner[from] == no_id && !side.is_quiet(from) && !survives_[base + from]) {
                    joined_.join(base + v, base + from);
                }
            }
        }
    }

    void join_what_is_read(id v, id w) {
        for_each_same_input(a_.graph(), v, b_.graph(), w, [&](const auto& e, const auto& f) {
            if (is_open_a(e.source) && is_open_b(f.source)) {
                joined_.join(e.source, count_a_ + f.source);
            }
        });
    }

    /// The only new reader of a result replaces the only old one.
    void join_lone_readers(id v, id w) {
        const auto lone = [](const compared_model& side, const std::vector<id>& partner, id of) {
            id only = no_id;
            for (auto reader : side.graph().readers(of)) {
                if (partner[reader] == no_id && !side.is_quiet(reader) && reader != only) {
                    if (only != no_id) {
                        return no_id;
                    }
                    only = reader;
                }
            }
            return only;
        };
        const auto from = lone(a_, match_.to_second, v);
        const auto to = from == no_id ? no_id : lone(b_, match_.to_first, w);
        if (to != no_id) {
            joined_.join(from, count_a_ + to);
        }
    }

    void join_results() {
        const auto& from = a_.model().graph(0).outputs;
        const auto& to = b_.model().graph(0).outputs;
        for (std::size_t i = 0; i < std::min(from.size(), to.size()); ++i) {
            const auto v = from[i] == no_id ? no_id : a_.model().producer(from[i]);
            const auto w = to[i] == no_id ? no_id : b_.model().producer(to[i]);
            if (is_open_a(v) && is_open_b(w)) {
                joined_.join(v, count_a_ + w);
            }
        }
    }

    void collect() {
        region_.assign(all_, no_id);
        std::vector<id> number(all_, no_id);
        const auto add = [&](id v) {
            const auto top = joined_.find(v);
            if (number[top] == no_id) {
                number[top] = static_cast<id>(regions_.size());
                regions_.emplace_back();
            }
            region_[v] = number[top];
            return number[top];
        };
        for (id v = 0; v < count_a_; ++v) {
            if (is_open_a(v)) {
                regions_[add(v)].first.push_back(v);
            }
        }
        for (id v = 0; v < match_.to_first.size(); ++v) {
            if (is_open_b(v)) {
                regions_[add(count_a_ + v)].second.push_back(v);
            }
        }
        for (auto& region : regions_) {
            region.change = classify(region);
            region.same_boundary = has_same_boundary(region);
        }
    }

    [[nodiscard]] static std::size_t modules_in(const compared_model& side,
                                                const std::vector<id>& nodes) {
        std::vector<id> modules;
        for (auto node : nodes) {
            modules.push_back(side.module_of(node));
        }
        std::sort(modules.begin(), modules.end());
        return static_cast<std::size_t>(std::unique(modules.begin(), modules.end()) -
                                        modules.begin());
    }

    /// Returns: what identifies the weights that nodes read, ascending.
    [[nodiscard]] static std::vector<std::uint64_t> weights_of(const compared_model& side,
                                                               const std::vector<id>& nodes) {
        std::vector<std::uint64_t> prints;
        for (auto node : nodes) {
            for (auto value : side.model().inputs(node)) {
                const auto constant = side.constant_of(value);
                if (constant != no_id && side.constants()[constant].is_weight) {
                    prints.push_back(side.constants()[constant].print);
                }
            }
        }
        return range::each_once(std::move(prints));
    }

    /// Whether there are new modules, which keep no weight or value of the first model.
    [[nodiscard]] bool is_replaced(const changed_region& region) const {
        bool replaced = false;
        for (auto v : region.second) {
            const bool is_new = pairs_.to_first[b_.module_of(v)] == no_id;
            if (is_fused_type(b_.model().op_type(v)) || (is_new && survives_[count_a_ + v])) {
                return false;
            }
            replaced = replaced || is_new;
        }
        const auto before = weights_of(a_, region.first);
        const auto after = weights_of(b_, region.second);
        return replaced && std::none_of(after.begin(), after.end(), [&](std::uint64_t print) {
                   return std::binary_search(before.begin(), before.end(), print);
               });
    }

    [[nodiscard]] region_change classify(const changed_region& region) const {
        const auto quantizes = [](const compared_model& side, const std::vector<id>& nodes) {
            return std::any_of(nodes.begin(), nodes.end(),
                               [&](id v) { return is_quantizing(side.model().op_type(v)); });
        };
        if (quantizes(a_, region.first) != quantizes(b_, region.second)) {
            return region_change::quantized;
        }
        if (region.first.empty() || region.second.empty() || is_replaced(region)) {
            return region_change::gone_or_new;
        }
        const auto has_fused = [&](id v) { return is_fused_type(b_.model().op_type(v)); };
        const bool fewer = region.second.size() < region.first.size();
        const bool joins = modules_in(b_, region.second) < modules_in(a_, region.first);
        return fewer &&
                       (joins || std::any_of(region.second.begin(), region.second.end(), has_fused))
                   ? region_change::fused
                   : region_change::relowered;
    }

    /// Whether both sides have the same partners as producers and readers.
    [[nodiscard]] bool has_same_boundary(const changed_region& region) const {
        std::vector<id> before;
        std::vector<id> after;
        std::vector<id> readers_before;
        std::vector<id> readers_after;
        for (auto v : region.first) {
            for (auto from : a_.graph().producers(v)) {
                before.push_back(match_.to_second[from]);
            }
            for (auto to : a_.graph().readers(v)) {
                readers_before.push_back(match_.to_second[to]);
            }
        }
        const auto partner_or_none = [&](id v) { return match_.to_first[v] == no_id ? no_id : v; };
        for (auto v : region.second) {
            for (auto from : b_.graph().producers(v)) {
                after.push_back(partner_or_none(from));
            }
            for (auto to : b_.graph().readers(v)) {
                readers_after.push_back(partner_or_none(to));
            }
        }
        const auto tidy = [](std::vector<id>& all) {
            std::erase(all, no_id);
            all = range::each_once(std::move(all));
        };
        tidy(before);
        tidy(after);
        tidy(readers_before);
        tidy(readers_after);
        return before == after && readers_before == readers_after;
    }

    const compared_model& a_;
    const compared_model& b_;
    const module_pairs& pairs_;
    const node_match& match_;
    id count_a_;
    std::size_t all_;            // nodes
    disjoint_sets joined_;       // by node of the first model, then of the second
    std::vector<bool> survives_; // the same: whether the other model has a value of this name
    std::vector<id> region_;     // the same: number of its region
    std::vector<changed_region> regions_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_COMPARE_DETAIL_CHANGE_FINDER_HPP
