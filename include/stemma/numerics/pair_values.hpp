// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_NUMERICS_PAIR_VALUES_HPP
#define STEMMA_NUMERICS_PAIR_VALUES_HPP

#include <stemma/align/align_graphs.hpp>
#include <stemma/align/graph_alignment.hpp>
#include <stemma/core/detail/ascii.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/model/module_lookup.hpp>
#include <stemma/numerics/detail/module_values.hpp>
#include <stemma/numerics/value_file.hpp>
#include <stemma/onnx/detail/comparable_model.hpp>
#include <stemma/open/attributed_model.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// A model with the values of a run.
struct observed_model {
    /// Requires: both outlive this; the model keeps its evidence. Complexity: O(nodes + edges).
    observed_model(const attributed_model& of, const value_file& run)
        : opened(&of), values(&run), borders(detail::find_module_values(of)) {}

    const attributed_model* opened; ///< the model
    const value_file* values;       ///< of the run
    detail::module_values borders;  ///< which values are at the boundaries of modules
};

/// A value of the first model, and its counterpart in the second.
struct paired_value {
    /// The basis for pairing two values.
    enum class pairing : std::uint8_t {
        given,   ///< by the caller
        name,    ///< same name
        carried, ///< same computation, see `align_graphs`
        order,   ///< modules of the same path have equally many values without counterpart
    };

    id value = no_id;            ///< of the first model
    std::string other{};         ///< its name in the second
    pairing how = pairing::name; ///< the basis
};

/// Returns: the name used in reports.
[[nodiscard]] constexpr std::string_view to_string(paired_value::pairing how) noexcept {
    constexpr std::array<std::string_view, 4> names{"given", "name", "carried", "order"};
    return names[static_cast<std::size_t>(how)];
}

namespace detail {

/// Known pairs: names in the first model to names in the second.
using given_pairs = std::map<std::string, std::string, std::less<>>;

/// Pairs the values of two runs.
class value_pairer {
public:
    value_pairer(const observed_model& a, const observed_model& b, const given_pairs& given)
        : a_(a), b_(b), given_(given), made_in_a_(makers_in(a)), made_in_b_(makers_in(b)) {}

    [[nodiscard]] std::vector<paired_value> pair() {
        const auto& model = a_.opened->model();
        const auto modules = static_cast<id>(a_.opened->modules().size());
        for (id m = 0; m < modules; ++m) {
            for (const auto border : {a_.borders.inputs[m], a_.borders.outputs[m]}) {
                for (const auto v : border) {
                    pair_by_name(v);
                }
            }
        }
        pair_by_carry();
        // Submodules first, as their values have fewer candidates.
        const module_lookup paths(b_.opened->modules());
        for (id m = modules; m-- > 0;) {
            const auto other = find_module(paths, a_.opened->modules().path(m));
            if (other != no_id) {
                pair_in_order(m, other);
            }
        }
        detail::range::stable_sort_by(pairs_, [&](const paired_value& one) {
            const auto producer = model.producer(one.value);
            return producer == no_id ? std::pair(id{0}, id{0})
                                     : std::pair(id{1}, a_.borders.rank[producer]);
        });
        return std::move(pairs_);
    }

private:
    using makers = std::unordered_map<std::string_view, id>; // by names of values

    [[nodiscard]] static makers makers_in(const observed_model& of) {
        makers result;
        const auto& model = of.opened->model();
        for (id value = 0; value < model.value_count(); ++value) {
            if (model.graph_of_value(value) == 0 && model.producer(value) != no_id) {
                result.emplace(model.value_name(value), model.producer(value));
            }
        }
        return result;
    }

    void take(id value, std::string_view other, paired_value::pairing how) {
        pairs_.push_back({value, std::string(other), how});
        taken_.insert(pairs_.back().other);
    }

    void pair_by_name(id value) {
        const auto name = a_.opened->model().value_name(value);
        if (!a_.values->holds(name) || !met_.insert(value).second) {
            return;
        }
        const auto given = given_.find(name);
        if (given != given_.end() && b_.values->holds(given->second)) {
            take(value, given->second, paired_value::pairing::given);
        } else if (b_.values->holds(name) && means_the_same(value, name)) {
            take(value, name, paired_value::pairing::name);
        } else {
            met_.erase(value); // possibly paired by order
        }
    }

    /// Pairs renamed values by aligning the graphs.
    void pair_by_carry() {
        const auto& model = a_.opened->model();
        std::unordered_set<id> open;
        const auto see = [&](id value) {
            if (a_.values->holds(model.value_name(value)) && !met_.contains(value)) {
                open.insert(value);
            }
        };
        for (id m = 0; m < a_.opened->modules().size(); ++m) {
            for (const auto border : {a_.borders.inputs[m], a_.borders.outputs[m]}) {
                std::for_each(border.begin(), border.end(), see);
            }
        }
        if (open.empty()) {
            return;
        }
        const auto& other = b_.opened->model();
        const auto graphs = comparable_models(model, other);
        const auto alignment = align_graphs(graphs[0], graphs[1]);
        std::map<id, id> best; // by value of a, one of b
        for (id v = 0; v < other.value_count(); ++v) {
            const auto before = alignment.values()[v];
            if (before == no_id || alignment.basis(v) < graph_alignment::match_basis::derived) {
                continue;
            }
            matched_in_a_.insert(before);
            matched_in_b_.insert(v);
            if (!open.contains(before) || !may_stand_for(before, v)) {
                continue;
            }
            const auto chosen = best.try_emplace(before, v).first;
            if (alignment.basis(v) > alignment.basis(chosen->second)) {
                chosen->second = v;
            }
        }
        for (const auto& [before, v] : best) {
            met_.insert(before);
            take(before, other.value_name(v), paired_value::pairing::carried);
        }
    }

    /// Whether a value has its channels in blocks, as ONNX Runtime arranges them for convolutions:
    /// the same shape, but its elements in another order.
    [[nodiscard]] static bool is_blocked(const attributed_model& opened, id value) {
        const auto& model = opened.model();
        const auto producer = model.producer(value);
        return producer != no_id && model.domain(producer) == "com.microsoft.nchwc" &&
               model.op_type(producer) != "ReorderOutput";
    }

    /// Whether a value of b exists, is unpaired, and has the same kind of numbers, shape and
    /// layout.
    [[nodiscard]] bool may_stand_for(id value, id other) const {
        const auto name = b_.opened->model().value_name(other);
        if (b_.opened->model().graph_of_value(other) != 0 || !b_.values->holds(name) ||
            taken_.contains(std::string(name)) ||
            is_blocked(*a_.opened, value) != is_blocked(*b_.opened, other)) {
            return false;
        }
        const auto mine = a_.values->find(a_.opened->model().value_name(value));
        const auto theirs = b_.values->find(name);
        return mine->dims() == theirs->dims() &&
               (mine->data_type() == theirs->data_type() ||
                (is_real_type(mine->data_type()) && is_real_type(theirs->data_type())));
    }

    /// Exporters number values, so equal numbers only match within the same module.
    [[nodiscard]] bool means_the_same(id value, std::string_view name) const {
        const auto maker = made_in_b_.find(name);
        const auto producer = a_.opened->model().producer(value);
        return !detail::is_number(name) || maker == made_in_b_.end() || producer == no_id ||
               path_of(*a_.opened, producer) == path_of(*b_.opened, maker->second);
    }

    [[nodiscard]] static std::string path_of(const attributed_model& opened, id node) {
        return opened.modules().path(opened.tags().attributions[node].module);
    }

    /// Whether both models make a value of this name, be it a boundary value or not.
    [[nodiscard]] bool is_in_both(std::string_view name) const {
        return !detail::is_number(name) && made_in_a_.contains(name) && made_in_b_.contains(name);
    }

    /// Pairs values without a counterpart.
    void pair_in_order(id m, id other) {
        const auto open = in_order(a_, m, [&](id v, std::string_view name) {
            return met_.contains(v) || matched_in_a_.contains(v) || is_in_both(name);
        });
        const auto candidates = in_order(b_, other, [&](id v, std::string_view name) {
            return taken_.contains(std::string(name)) || matched_in_b_.contains(v) ||
                   is_in_both(name);
        });
        if (open.size() != candidates.size()) {
            return;
        }
        for (std::size_t i = 0; i < open.size(); ++i) {
            if (may_stand_for(open[i], candidates[i])) {
                met_.insert(open[i]);
                take(open[i], b_.opened->model().value_name(candidates[i]),
                     paired_value::pairing::order);
            }
        }
    }

    template <class Excluded>
    [[nodiscard]] static std::vector<id> in_order(const observed_model& of, id m,
                                                  Excluded excluded) {
        const auto& model = of.opened->model();
        std::vector<id> values;
        for (const auto value : of.borders.outputs[m]) {
            const auto name = model.value_name(value);
            if (of.values->holds(name) && !excluded(value, name)) {
                values.push_back(value);
            }
        }
        detail::range::stable_sort_by(values,
                                      [&](id v) { return of.borders.rank[model.producer(v)]; });
        return values;
    }

    const observed_model& a_;
    const observed_model& b_;
    const given_pairs& given_;
    makers made_in_a_;
    makers made_in_b_;
    std::unordered_set<id> met_;            // values of a
    std::unordered_set<std::string> taken_; // names of values of b
    std::unordered_set<id> matched_in_a_;   // values that the other model computes, too
    std::unordered_set<id> matched_in_b_;
    std::vector<paired_value> pairs_;
};

/// Pairs the boundary values of two runs: as `given`, else by name, else by equal computation, else
/// by order if modules with the same path have equally many that the other model lacks. Returns:
/// inputs first, then in execution order. Complexity: O(n log n) in the values, plus that of
/// `align_graphs` if names do not suffice.
[[nodiscard]] inline std::vector<paired_value> pair_values(const observed_model& a,
                                                           const observed_model& b,
                                                           const detail::given_pairs& given = {}) {
    return value_pairer(a, b, given).pair();
}

} // namespace detail

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_NUMERICS_PAIR_VALUES_HPP
