// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_MODEL_CONFIDENCE_HPP
#define STEMMA_MODEL_CONFIDENCE_HPP

#include <stemma/config.hpp>

// How sure sources and rules are of their answers, and where each number comes from:
// - curve: correct answers by provenance and confidence, tests/runtime/optimized.mjs
// - alignment: correct answers by confidence on aligned models without names, tests/accuracy.cpp
// - hidden: correct propagation with evidence hidden, tests/leave_one_out.cpp
// - carried: correct origins in optimized models, tests/runtime/carried.mjs
// - entries: correct entries of initializers by confidence, tests/cli/weights_test.py
// - defined: not measured
namespace stemma::inline STEMMA_ABI::detail::confidence {

// Thresholds used by others.
inline constexpr float sure = 0.9F;            ///< 99 of 100 are correct: curve
inline constexpr float sure_of_root = 0.8F;    ///< the root for lack of information: defined
inline constexpr float common_ancestor = 0.5F; ///< no more than "in it or below": defined
inline constexpr float odds_limit = 0.995F;    ///< no claim outweighs all others: defined
inline constexpr float odds_margin = 0.01F;    ///< rounding, between equal weights: defined

// Metadata and local functions.
inline constexpr float metadata = 0.97F;        ///< stated by the exporter: curve
inline constexpr float function_call = 0.95F;   ///< a call of a module's function: curve
inline constexpr float function_leaf = 0.92F;   ///< in the body of a module without children: curve
inline constexpr float function_body = 0.85F;   ///< in a body, or a child's: curve
inline constexpr float main_graph = 0.85F;      ///< outside, where all modules are functions: curve
inline constexpr float foreign_function = 0.5F; ///< as `common_ancestor`

// Scopes in names.
inline constexpr float scope_read = 0.97F;     ///< parameters read agree: curve
inline constexpr float scope = 0.95F;          ///< matches one module: curve
inline constexpr float scope_call = 0.93F;     ///< a call, by number: curve
inline constexpr float scope_new = 0.92F;      ///< a module that only names mention: curve
inline constexpr float scope_elsewhere = 0.9F; ///< a module owned by another one: curve
inline constexpr float scope_nth = 0.85F;      ///< a call, numbered over several modules: curve
inline constexpr float scope_hidden = 0.85F;   ///< new, levels may leave no names: curve
inline constexpr float scope_numbered = 0.8F;  ///< by number, a call or a sibling: curve
inline constexpr float scope_unfit = 0.7F;     ///< parameters or counts disagree: curve
inline constexpr float shallow = 0.6F;         ///< names stop above the module: curve

// Names of parameters.
inline constexpr float parameter = 0.85F;     ///< the owner or its caller: curve
inline constexpr float tied_parameter = 0.5F; ///< one owner of several: as `common_ancestor`
inline constexpr float region = 0.6F;         ///< between readers of parameters: curve

// What optimizers left behind, and what was recorded before they ran.
inline constexpr float leftover_of_both = 0.93F; ///< names of the first and last operator: curve
inline constexpr float leftover = 0.88F;         ///< the name of one of several: curve
inline constexpr float folded = 0.7F;            ///< what a constant was folded from: curve
inline constexpr float class_tag = 0.7F;         ///< classes without instances: curve
inline constexpr float recorded = 0.95F;         ///< a mark confirmed by its neighbours: curve
inline constexpr float recorded_alone = 0.9F;    ///< a mark or a path alone: curve

// Aligned operations.
inline constexpr float aligned_reader = 0.97F; ///< factor, from readers to a constant: alignment
inline constexpr float aligned_handed = 0.9F;  ///< with the operation of its readers: alignment
inline constexpr float aligned_passed = 0.85F; ///< at most, inserted behind an operation: alignment
inline constexpr float aligned_branch = 0.6F;  ///< at most, in a branch that never ran: alignment
inline constexpr float aligned_against = 0.5F; ///< at most, if a parameter disagrees: alignment
inline constexpr float aligned_denied = 0.3F;  ///< at most, if names state another module: curve
inline constexpr float capture_flaw = 0.85F;   ///< at most, few parameters disagree: alignment
inline constexpr float capture_doubt = 0.6F;   ///< at most, a large part does not fit: alignment
inline constexpr float capture_of_other = 0.3F; ///< at most, most does not fit: alignment
inline constexpr float capture_margin = 0.5F;   ///< to override another capture: defined

// Alignment of two graphs, by how an operator's results were identified.
inline constexpr float carried_computed = 0.99F; ///< same computation on same inputs: carried
inline constexpr float carried_named = 0.97F;    ///< the same name: carried
inline constexpr float carried_derived = 0.93F;  ///< all neighbours are known: carried
inline constexpr float carried_passed = 0.9F;    ///< passed on, or one of a group: carried
inline constexpr float carried_between = 0.8F;   ///< between known operators: carried

// State dict entries that initializers were made from.
inline constexpr float entry_content = 0.99F;  ///< no other entry has the same values: entries
inline constexpr float entry_equal = 0.9F;     ///< several have, one in its module: entries
inline constexpr float entry_named = 0.98F;    ///< by name: entries
inline constexpr float entry_declared = 0.95F; ///< same use and shape in its module: entries
inline constexpr float entry_folded = 0.9F;    ///< with the batch norm after its module: entries
inline constexpr float entry_fits = 0.8F;      ///< the only one of its module that fits: entries
inline constexpr float entry_below = 0.7F;     ///< of a descendant of its module: entries
inline constexpr float entry_used = 0.9F;      ///< named after its use in the module: entries
inline constexpr float entry_guessed = 0.5F;   ///< as above, among many other uses: entries
inline constexpr float entry_unpaired = 0.3F;  ///< with a norm whose name is not its pair: entries

// Resolution.
inline constexpr float doubtful = 0.7F;       ///< at most, an ancestor of alternatives: curve
inline constexpr float refining = 0.5F;       ///< at least, to choose within a claim: alignment
inline constexpr float overruling = 0.9F;     ///< at least, to contradict one: as `sure`
inline constexpr float read_by_others = 0.7F; ///< at most, a constant of several modules: curve

// Propagation.
inline constexpr float constant_of_sure = 0.9F; ///< a constant whose readers are sure: hidden
inline constexpr float both_sides = 0.85F;      ///< readers and producers agree: hidden
inline constexpr float readers = 0.8F;          ///< no producers, or independent of data: hidden
inline constexpr float bodies = 0.8F;           ///< at most, an owner of bodies: hidden
inline constexpr float related_sides = 0.7F;    ///< one side is above the other: hidden
inline constexpr float skip_connection = 0.7F;  ///< what the connection bypasses: hidden
inline constexpr float owner = 0.7F;            ///< at most, in a body: hidden
inline constexpr float readers_alone = 0.6F;    ///< whatever the producers are: hidden
inline constexpr float producers = 0.6F;        ///< no readers: hidden
inline constexpr float producers_alone = 0.5F;  ///< whatever the readers are: hidden
inline constexpr float nearest = 0.5F;          ///< as `common_ancestor`

} // namespace stemma::inline STEMMA_ABI::detail::confidence

#endif // STEMMA_MODEL_CONFIDENCE_HPP
