// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_COST_MODEL_COST_HPP
#define STEMMA_COST_MODEL_COST_HPP

#include <stemma/core/detail/range.hpp>
#include <stemma/core/detail/string_pool.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/ids.hpp>
#include <stemma/core/nearest_texts.hpp>
#include <stemma/core/parse_name.hpp>
#include <stemma/core/short_number.hpp>
#include <stemma/core/text_list.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/cost/cost_rules.hpp>
#include <stemma/cost/detail/cost_collector.hpp>
#include <stemma/error.hpp>
#include <stemma/onnx/graph_contents.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma/types/detail/infer_shapes.hpp>
#include <stemma/types/polynomial.hpp>
#include <stemma/types/value_types.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// Options for costs.
struct cost_options {
    std::map<std::string, std::int64_t> dims; ///< values of named extents
    cost_rules rules{};                       ///< costs of operators
    std::int64_t typical = 64; ///< assumed for other symbolic extents if a number is needed
};

/// A measure for sorting modules and nodes by cost.
/// Names: `macs`, `flops` or `activations`.
enum class cost_measure : std::uint8_t {
    macs,        ///< multiply-accumulates
    flops,       ///< two per MAC, plus all other operations
    activations, ///< bytes of produced values
};

namespace detail {

template <>
inline constexpr std::array<std::string_view, 3> names_of_values<cost_measure>{"macs", "flops",
                                                                               "activations"};

} // namespace detail

/// The cost of the modules of a model, as polynomials in symbolic extents.
class model_cost {
public:
    /// The cost of a module with its descendants. Unknown parts are in `unknown`, not in the sums.
    struct of_module {
        polynomial macs;           ///< multiply-accumulates
        polynomial flops;          ///< two per MAC, plus all other operations
        polynomial in;             ///< bytes of values from outside, without weights
        polynomial out;            ///< bytes of values read outside
        polynomial peak;           ///< maximum bytes of live values while it runs
        polynomial activations;    ///< bytes of all values its nodes produce
        std::uint64_t unknown = 0; ///< nodes whose cost is unknown
        std::uint64_t loops = 0;   ///< nodes whose bodies count once
    };

    /// `module_of(node, around)` is the module of a node; `around` is the module of the call for
    /// nodes in functions, else `no_id`. Throws: `error` of `error_code::refused` for the name of
    /// an extent that the model does not have, and for a negative extent. Complexity: O(nodes +
    /// values), and the nodes of functions for each call.
    model_cost(const wire_model& model, const tree_index& tree,
               const std::function<id(id, id)>& module_of, const cost_options& options = {})
        : modules_(tree.size()), own_(tree.size()), typical_(options.typical) {
        const graph_contents contents(model);
        detail::cost_collector collector(model, contents, tree, options.rules, module_of);
        value_types types(model);
        check_names(model, types, options);
        const detail::shape_inference inference(model, types, options.dims, collector);
        collector.end();
        auto& algebra = inference.algebra();
        for (id m = 0; m < tree.size(); ++m) {
            const auto& sums = collector.modules()[m];
            own_[m] = {sums.macs, sums.flops,       {},           {},
                       {},        sums.activations, sums.unknown, sums.loops};
        }
        const auto value = [&](std::int64_t bytes) {
            return bytes == detail::any_extent ? polynomial() : algebra.value(bytes);
        };
        const auto typical = [&](id symbol) {
            return algebra
                .value_of(symbol, [&](std::string_view) { return std::optional(options.typical); })
                .value_or(options.typical);
        };
        const auto peaks = collector.memory().peaks(
            tree, [&](std::int64_t bytes) { return value(bytes).estimate(typical); }, value);
        modules_ = own_;
        collector.flow().add([&](id m, std::int64_t bytes, bool comes_in, std::int64_t sign) {
            (comes_in ? modules_[m].in : modules_[m].out) += value(bytes) * sign;
        });
        for (auto m = static_cast<id>(tree.size()); m-- > 1;) {
            add(modules_[m], modules_[tree.parent(m)]);
        }
        for (id m = 0; m < tree.size(); ++m) {
            modules_[m].peak = peaks[m];
        }
        unlisted_ = collector.unlisted();
        unknown_ = collector.unknown();
        unknown_values_ =
            static_cast<std::uint64_t>(detail::range::count(collector.bytes(), detail::any_extent));
        keep_names(algebra);
        for (id symbol = 0; symbol < names_.size(); ++symbol) {
            typical_of_.push_back(typical(symbol));
        }
        for (id node = 0; node < model.node_count(); ++node) {
            estimates_.push_back(value(collector.flops()[node]).estimate(typical));
            macs_.push_back(value(collector.macs()[node]).estimate(typical));
            polynomial produced;
            bool is_sized = true;
            for (auto made : model.outputs(node)) {
                const auto bytes = collector.bytes()[made];
                is_sized = is_sized && bytes != detail::any_extent;
                produced += value(bytes);
            }
            bytes_.push_back(produced.estimate(typical));
            sized_.push_back(is_sized);
            activations_.push_back(value(collector.activations()[node]).estimate(typical));
        }
    }

    /// Returns: the cost of a module with its descendants.
    [[nodiscard]] const of_module& operator[](index_arg<module_id> m) const noexcept {
        return modules_[m];
    }
    /// Returns: the cost of its own nodes, without inputs, outputs and live memory.
    [[nodiscard]] const of_module& own(index_arg<module_id> m) const noexcept { return own_[m]; }
    /// Returns: the number of modules.
    [[nodiscard]] std::size_t size() const noexcept { return modules_.size(); }

    /// Returns: the operations of a node of the main graph including everything inside, for typical
    /// symbolic extents; 0 for other nodes, and if unknown.
    [[nodiscard]] double node_flops(index_arg<node_id> node) const noexcept {
        return estimates_[node];
    }
    /// Returns: the same for MACs.
    [[nodiscard]] double node_macs(index_arg<node_id> node) const noexcept { return macs_[node]; }

    /// Returns: the same for bytes of its outputs.
    [[nodiscard]] double node_bytes(index_arg<node_id> node) const noexcept { return bytes_[node]; }

    /// Returns: the same for bytes of all produced values, inside and as outputs.
    [[nodiscard]] double node_activations(index_arg<node_id> node) const noexcept {
        return activations_[node];
    }

    /// Whether the operations of a node are known, those of everything inside included.
    [[nodiscard]] bool knows_cost(index_arg<node_id> node) const noexcept {
        return !unknown_[node];
    }
    /// Whether the sizes of all its outputs are known.
    [[nodiscard]] bool knows_bytes(index_arg<node_id> node) const noexcept { return sized_[node]; }

    /// Returns: a module's number by a measure, for typical symbolic extents.
    /// Complexity: O(terms).
    [[nodiscard]] double estimate(index_arg<module_id> m, cost_measure by) const {
        const auto& cost = modules_[m];
        const auto& number = by == cost_measure::macs    ? cost.macs
                             : by == cost_measure::flops ? cost.flops
                                                         : cost.activations;
        return number.estimate([&](id symbol) { return typical_of_[symbol]; });
    }
    /// Returns: the number of a node by a measure, as `node_macs`.
    [[nodiscard]] double node_estimate(index_arg<node_id> node, cost_measure by) const noexcept {
        return by == cost_measure::macs    ? node_macs(node)
               : by == cost_measure::flops ? node_flops(node)
                                           : node_activations(node);
    }

    /// Operators without a rule, `domain::type`, with their numbers of nodes.
    [[nodiscard]] const std::map<std::string, std::uint64_t>& unlisted() const noexcept {
        return unlisted_;
    }

    /// Values of unknown size; they count in no activation.
    [[nodiscard]] std::uint64_t unknown_values() const noexcept { return unknown_values_; }

    /// Returns: the names of symbolic extents that numbers depend on. Complexity: O(terms).
    [[nodiscard]] std::vector<std::string> open_dims() const {
        std::vector<bool> used(names_.size());
        for (const auto& cost : modules_) {
            for (const auto* number :
                 {&cost.macs, &cost.flops, &cost.in, &cost.out, &cost.peak, &cost.activations}) {
                for (const auto& term : number->terms()) {
                    for (auto symbol : term.symbols) {
                        for (auto name : bases_[symbol]) {
                            used[name] = true;
                        }
                    }
                }
            }
        }
        std::vector<std::string> result;
        for (std::size_t i = 0; i < used.size(); ++i) {
            if (used[i]) {
                result.push_back(names_[i]);
            }
        }
        return result;
    }

    /// Returns: what the numbers omit or assume, as phrases. Complexity: that of `open_dims`.
    [[nodiscard]] std::vector<std::string> gaps() const {
        std::vector<std::string> texts;
        const auto say = [&](std::uint64_t count, std::string_view one, std::string_view text) {
            if (count > 0) {
                texts.push_back(std::to_string(count) + " " + std::string(one) +
                                (count == 1 ? "" : "s") + " " + std::string(text));
            }
        };
        if (const auto dims = open_dims(); !dims.empty()) {
            texts.push_back("not fixed, taken as " + std::to_string(typical_) + ": " +
                            detail::join_list(dims));
        }
        say(modules_[0].unknown, "node", "of unknown cost not counted");
        say(unknown_values_, "value", "of unknown size not counted");
        say(modules_[0].loops, "loop", "counted as if the body ran once");
        return texts;
    }

    /// Returns: a number as exact text: `3072*batch*sequence^2`.
    [[nodiscard]] std::string text(const polynomial& number) const {
        return number.text([&](id symbol) { return names_[symbol]; });
    }

    /// Returns: the same rounded to three digits: `3.07 k*batch*sequence^2`.
    [[nodiscard]] std::string short_text(const polynomial& number) const {
        return number.text([&](id symbol) { return names_[symbol]; }, short_number);
    }

private:
    static void add(const of_module& below, of_module& above) {
        above.macs += below.macs;
        above.flops += below.flops;
        above.in += below.in;
        above.out += below.out;
        above.activations += below.activations;
        above.unknown += below.unknown;
        above.loops += below.loops;
    }

    static void check_names(const wire_model& model, value_types& types,
                            const cost_options& options) {
        if (options.dims.empty()) {
            return;
        }
        detail::fact_table facts(model, types);
        std::vector<std::string> names;
        for (id value = 0; value < model.value_count(); ++value) {
            const auto& dims = facts[value].dims;
            for (std::size_t i = 0; dims && i < dims->size(); ++i) {
                if ((*dims)[i] == detail::any_extent && model.kind(value) == value_kind::input) {
                    names.push_back(std::string(model.value_name(value)) + "." + std::to_string(i));
                }
            }
        }
        for (id i = 0; i < facts.names().size(); ++i) {
            names.emplace_back(facts.names()[i]);
        }
        for (const auto& [name, size] : options.dims) {
            if (!detail::range::contains(names, name)) {
                STEMMA_THROW(error(error_code::refused, "", "",
                                   names.empty()
                                       ? "dimension " + name + ": all dimensions are fixed"
                                       : detail::unknown_name_text(
                                             "dimension", name, detail::join_list(names, ", "))));
            }
            if (size < 0) {
                STEMMA_THROW(error(error_code::refused, "", "dimension " + name,
                                   std::to_string(size) + " is negative"));
            }
        }
    }

    void keep_names(const detail::extent_algebra& algebra) {
        for (id i = 0; i < algebra.names().size(); ++i) {
            names_.emplace_back(algebra.names()[i]);
            auto& bases = bases_.emplace_back();
            algebra.for_each_name_in(i, [&](id name) { bases.push_back(name); });
        }
    }

    std::vector<of_module> modules_;
    std::vector<of_module> own_;
    std::int64_t typical_ = 0;      // for symbolic extents
    std::vector<double> estimates_; // by node: operations
    std::vector<double> macs_;
    std::vector<double> bytes_;
    std::vector<double> activations_;
    std::vector<bool> unknown_; // by node
    std::vector<bool> sized_;
    std::map<std::string, std::uint64_t> unlisted_;
    std::uint64_t unknown_values_ = 0;
    std::vector<std::string> names_;       // by symbol
    std::vector<std::vector<id>> bases_;   // by symbol: the named extents in it
    std::vector<std::int64_t> typical_of_; // by symbol
};

/// Computes the cost of the modules of an opened model; functions count per call.
/// Requires: the model keeps its evidence. Throws and complexity: as `model_cost`.
[[nodiscard]] inline model_cost find_cost(const attributed_model& opened,
                                          const cost_options& options = {}) {
    const auto& model = opened.model();
    const auto& attributions = opened.tags().attributions;
    if (model.functions().empty()) {
        return {model, opened.modules().index(),
                [&](id node, id) { return attributions[node].module; }, options};
    }
    const auto calls = opened.calls();
    const auto module_of = [&](id node, id around) {
        const auto called = calls.module_of(node, around);
        return called == no_id ? attributions[node].module : called;
    };
    return {model, opened.modules().index(), module_of, options};
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_COST_MODEL_COST_HPP
