// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ALIGN_ALIGN_HPP
#define STEMMA_ALIGN_ALIGN_HPP

#include <stemma/align/alignment.hpp>
#include <stemma/align/captured_operations.hpp>
#include <stemma/align/detail/aligner.hpp>
#include <stemma/align/detail/visit_inputs_first.hpp>
#include <stemma/align/lexicon.hpp>
#include <stemma/core/concepts.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/evidence/detail/path_mapping.hpp>
#include <stemma/model/detail/parameter_shapes.hpp>
#include <stemma/model/detail/stated_module.hpp>
#include <stemma/model/operator_view.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

namespace detail {

/// What an alignment and the positions of operands tell about the order in which operators ran.
struct captured_order {
    std::size_t crossed = 0;   ///< operators that read two results of others in swapped positions
    std::vector<id> operation; ///< by vertex index: the operation that its position stands for;
                               ///< without a position that of the alignment, `no_id` if unknown
};

/// Compares the operands of operators with those of their operations. Two equal branches that a
/// file holds in a different order than they ran align with each other's operations as well as with
/// their own; only an operator that reads both tells them apart.
template <operator_view Ops>
class captured_order_finder {
public:
    /// Requires: all arguments outlive it.
    captured_order_finder(const Ops& ops, const captured_operations& captured,
                          const alignment& aligned)
        : graph_(ops.graph()), captured_(captured), aligned_(aligned), used_(captured.size()) {
        for (const auto& entry : aligned_.of) {
            if (entry.operation != no_id) {
                used_[entry.operation] = true;
            }
        }
    }

    /// Complexity: O(operators + edges), times the operations in between that left no operator.
    [[nodiscard]] captured_order find() {
        order_.operation.resize(aligned_.of.size(), no_id);
        for (std::size_t v = 0; v < aligned_.of.size(); ++v) {
            order_.operation[v] = aligned_.of[v].operation;
        }
        for (auto [it, last] = vertices(graph_); it != last; ++it) {
            compare(*it);
        }
        return std::move(order_);
    }

private:
    static constexpr std::size_t max_passed = 24;

    template <class Vertex>
    void compare(const Vertex& v) {
        const auto reader = aligned_.of[index_of(graph_, v)].operation;
        if (reader == no_id || captured_.sources_of(reader).size() < 2 ||
            reads_first_last(captured_, reader)) {
            return;
        }
        operands_.clear();
        places_.clear();
        for (auto [in, last] = in_edges(v, graph_); in != last; ++in) {
            const auto u = static_cast<id>(index_of(graph_, source(*in, graph_)));
            const auto made_by = aligned_.of[u].operation;
            const auto place =
                made_by == no_id || made_by == reader ? no_id : place_of(made_by, reader);
            if (place != no_id &&
                std::find(places_.begin(), places_.end(), place) == places_.end()) {
                operands_.push_back(u);
                places_.push_back(place);
            }
        }
        if (std::is_sorted(places_.begin(), places_.end())) {
            return;
        }
        ++order_.crossed;
        std::sort(places_.begin(), places_.end());
        for (std::size_t k = 0; k < operands_.size(); ++k) {
            order_.operation[operands_[k]] = captured_.sources_of(reader)[places_[k]];
        }
    }

    /// Returns: the first operand of an operation that comes from another one, possibly through
    /// operations that left no operator.
    [[nodiscard]] id place_of(id from, id reader) {
        const auto sources = captured_.sources_of(reader);
        for (id k = 0; k < sources.size(); ++k) {
            passed_.assign(1, sources[k]);
            for (std::size_t next = 0; next < passed_.size(); ++next) {
                const auto operation = passed_[next];
                if (operation == from) {
                    return k;
                }
                if (!used_[operation] && passed_.size() < max_passed) {
                    const auto further = captured_.sources_of(operation);
                    passed_.insert(passed_.end(), further.begin(), further.end());
                }
            }
        }
        return no_id;
    }

    const graph_of<Ops>& graph_;
    const captured_operations& captured_;
    const alignment& aligned_;
    std::vector<bool> used_; // by operation: an operator comes from it
    captured_order order_;
    std::vector<id> operands_;
    std::vector<id> places_;
    std::vector<id> passed_;
};

/// Captured operations in another order, in which sources still come first.
struct reordered_operations {
    captured_operations operations;
    std::vector<id> number; ///< by number in `operations`: that in the original order
};

/// Puts operations in the order in which they read each other: everything the first source needs
/// before what the second one needs. That order depends on data flow alone, so an optimizer that
/// reorders the operators of a model does not change it.
class reading_order {
public:
    /// Requires: `captured` outlives it.
    explicit reading_order(const captured_operations& captured)
        : captured_(captured)
        , readers_(captured.size(), 0)
        , lookers_(captured.size())
        , missing_(captured.size(), 0)
        , place_(captured.size(), no_id) {
        for (id i = 0; i < captured.size(); ++i) {
            for (const auto source : captured.sources_of(i)) {
                ++readers_[source];
            }
        }
    }

    /// Complexity: O(operations + what they read).
    [[nodiscard]] reordered_operations find() {
        // Results of the model come first, as in a file; others may have left nothing.
        const auto results = captured_.results();
        std::vector<id> ends(results.begin(), results.end());
        for (id i = 0; i < captured_.size(); ++i) {
            if (i + 1 < captured_.size() && only_looks(i)) {
                for (const auto source : captured_.sources_of(i)) {
                    lookers_[source].push_back(i);
                    ++missing_[i];
                }
            } else if (readers_[i] == 0) {
                ends.push_back(i);
            }
        }
        // What nothing but lookers read comes last.
        for (id i = 0; i < captured_.size(); ++i) {
            ends.push_back(i);
        }
        visit_inputs_first(
            ends, captured_.size(), [](id i) { return i; },
            [&](id i, std::vector<id>& inputs) {
                const auto sources = captured_.sources_of(i);
                inputs.assign(sources.begin(), sources.end());
                if (inputs.size() > 1 && reads_first_last(captured_, i)) {
                    std::rotate(inputs.begin(), inputs.begin() + 1, inputs.end());
                }
            },
            [&](id i) { append(i); });
        for (const auto i : results) {
            result_.operations.add_result(place_[i]);
        }
        for (const auto& fault : captured_.faults()) {
            result_.operations.add_fault(fault);
        }
        return std::move(result_);
    }

private:
    /// Whether nothing reads an operation, and all that it reads is read by others too: it looks at
    /// a tensor in passing, as `size` does, and is no result.
    [[nodiscard]] bool only_looks(id i) const {
        const auto sources = captured_.sources_of(i);
        return readers_[i] == 0 && !sources.empty() &&
               std::all_of(sources.begin(), sources.end(),
                           [&](id source) { return readers_[source] > 1; });
    }

    /// Appends an operation after its sources, and then those that look at nothing still to come.
    void append(id i) {
        if (place_[i] != no_id) {
            return;
        }
        const auto names = captured_.names_of(i);
        auto& to = result_.operations;
        place_[i] = to.add(captured_[i], captured_.names()[names[0]]);
        for (const auto name : names.subspan(1)) {
            to.add_name(captured_.names()[name]);
        }
        for (const auto& p : captured_.parameters_of(i)) {
            to.add_parameter(captured_.parameter_names()[p.name], p.shape);
        }
        for (const auto source : captured_.sources_of(i)) {
            to.add_source(place_[source]);
        }
        result_.number.push_back(i);
        for (const auto looker : lookers_[i]) {
            if (--missing_[looker] == 0) {
                append(looker);
            }
        }
    }

    const captured_operations& captured_;
    std::vector<std::size_t> readers_;     // by operation: their number
    std::vector<std::vector<id>> lookers_; // by operation: those that look at it
    std::vector<std::size_t> missing_;     // by operation that looks: sources without a place
    std::vector<id> place_;                // by operation: its new number
    reordered_operations result_;
};

} // namespace detail

/// Finds the captured operations that a model's operators come from, and thus their modules.
///
/// Both sequences are aligned as a whole: in order, every operation producing any number of
/// operators, weighted by the lexicon, by the parameters read (by name, else by shape), by what
/// names and metadata state (`stated`, by vertex index, may be empty), and by data flow. The
/// confidence of a module is its share of all alignments by weight; if the capture as a whole does
/// not fit, it is low everywhere. If data flow contradicts the order of the operators or much does
/// not fit, as after an optimizer reordered them, the order in which they read each other is tried
/// too, then with the operations in that order as well, and the best fit wins. If operands are in
/// other positions than captured, equal branches are exchanged.
/// Complexity: O((operators + operations) * width of a beam that does not depend on them).
template <named_operators Ops, lexicon_policy Lexicon = torch_lexicon>
    requires parameter_readers<Ops>
[[nodiscard]] alignment
align(const Ops& ops, const tree_index& modules, const captured_operations& captured,
      const detail::path_mapping& mapping = {}, const detail::parameter_shapes& shapes = {},
      const Lexicon& lexicon = {}, std::span<const detail::stated_module> stated = {}) {
    const auto run = [&](const captured_operations& operations, detail::run_order order,
                         std::span<const id> ran = {}) {
        return detail::aligner<Ops, Lexicon>(ops, order, ran, modules, operations, mapping, shapes,
                                             lexicon, stated)
            .run();
    };
    using detail::run_order;
    auto result = run(captured, run_order::as_written);
    const auto flows_otherwise = [&] {
        return result.flows < result.links || result.denied > 0 || result.quality() < 0.95;
    };
    const auto keep_better = [&](alignment other) {
        if (detail::is_better(other, result)) {
            result = std::move(other);
        }
    };
    if (flows_otherwise() || result.fitting_inside < result.inside) {
        keep_better(run(captured, run_order::as_read));
    }
    if (flows_otherwise()) {
        const auto reordered = detail::reading_order(captured).find();
        auto other = run(reordered.operations, run_order::as_read);
        for (auto& entry : other.of) {
            entry.operation = entry.operation == no_id ? no_id : reordered.number[entry.operation];
        }
        keep_better(std::move(other));
    }
    constexpr int max_rounds = 3; // branches within exchanged branches show afterwards
    auto order = detail::captured_order_finder(ops, captured, result).find();
    for (int round = 0; round < max_rounds && order.crossed > 0; ++round) {
        auto other = run(captured, run_order::as_read, order.operation);
        auto next = detail::captured_order_finder(ops, captured, other).find();
        if (other.quality() < result.quality() || next.crossed >= order.crossed) {
            break;
        }
        result = std::move(other);
        order = std::move(next);
    }
    return result;
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_ALIGN_ALIGN_HPP
