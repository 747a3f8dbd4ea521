// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ALIGN_ALIGN_HPP
#define STEMMA_ALIGN_ALIGN_HPP

#include <stemma/align/alignment.hpp>
#include <stemma/align/captured_operations.hpp>
#include <stemma/align/detail/aligner.hpp>
#include <stemma/align/detail/captured_order.hpp>
#include <stemma/align/detail/reading_order.hpp>
#include <stemma/align/lexicon.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/evidence/detail/path_mapping.hpp>
#include <stemma/model/detail/parameter_shapes.hpp>
#include <stemma/model/detail/stated_module.hpp>
#include <stemma/model/operator_view.hpp>

#include <span>
#include <utility>

namespace stemma::inline STEMMA_ABI {

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
