// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_MODEL_CONFIDENCE_HPP
#define STEMMA_MODEL_CONFIDENCE_HPP

#include <stemma/config.hpp>

// How sure sources and rules are of what they say, and where each number comes from:
// - curve: right answers by provenance and confidence, tests/runtime/optimized.mjs
// - alignment: right answers by confidence where models without names are aligned,
// tests/accuracy.cpp
// - hidden: right answers of propagation where evidence is hidden, tests/leave_one_out.cpp
// - carried: right origins of optimized models, tests/runtime/carried.mjs
// - entries: right entries of initializers by confidence, tests/cli/weights_test.py
// - defined: nothing to measure
namespace stemma::inline STEMMA_ABI::detail::confidence {

// What others compare with.
inline constexpr float sure = 0.9F;            ///< 99 of 100 are right: curve
inline constexpr float sure_of_root = 0.8F;    ///< more than that nothing is known: defined
inline constexpr float common_ancestor = 0.5F; ///< no more than "in it or below": defined
inline constexpr float odds_limit = 0.995F;    ///< no claim outweighs all others: defined
inline constexpr float odds_margin = 0.01F;    ///< rounding, between equal weights: defined

// Metadata and local functions.
inline constexpr float metadata = 0.97F;        ///< an exporter's own word: curve
inline constexpr float function_call = 0.95F;   ///< a call of a module's function: curve
inline constexpr float function_leaf = 0.92F;   ///< in the body of a module without children: curve
inline constexpr float function_body = 0.85F;   ///< in a body, or a child's: curve
inline constexpr float main_graph = 0.85F;      ///< outside, where all modules are functions: curve
inline constexpr float foreign_function = 0.5F; ///< as `common_ancestor`

// Scopes in names.
inline constexpr float scope_read = 0.97F;     ///< parameters that are read agree: curve
inline constexpr float scope = 0.95F;          ///< one module prints so: curve
inline constexpr float scope_call = 0.93F;     ///< a call, by number: curve
inline constexpr float scope_new = 0.92F;      ///< a module that only names mention: curve
inline constexpr float scope_elsewhere = 0.9F; ///< a module that another one owns: curve
inline constexpr float scope_nth = 0.85F;      ///< a call, numbered over several modules: curve
inline constexpr float scope_hidden = 0.85F;   ///< new, where levels may leave no names: curve
inline constexpr float scope_numbered = 0.8F;  ///< by number, a call or a sibling: curve
inline constexpr float scope_unfit = 0.7F;     ///< parameters or counts disagree: curve
inline constexpr float shallow = 0.6F;         ///< names stop above the module: curve

// Names of parameters.
inline constexpr float parameter = 0.85F;     ///< the owner, or what calls it: curve
inline constexpr float tied_parameter = 0.5F; ///< one owner of several: as `common_ancestor`
inline constexpr float region = 0.6F;         ///< between readers of parameters: curve

// What optimizers left, and what was recorded before they ran.
inline constexpr float leftover_of_both = 0.93F; ///< names of the first and last operator: curve
inline constexpr float leftover = 0.88F;         ///< the name of one of several: curve
inline constexpr float folded = 0.7F;            ///< what a constant was folded from: curve
inline constexpr float class_tag = 0.7F;         ///< classes without instances: curve
inline constexpr float recorded = 0.95F;         ///< a mark that its neighbours confirm: curve
inline constexpr float recorded_alone = 0.9F;    ///< a mark or a path alone: curve

// Aligned operations.
inline constexpr float aligned_reader = 0.97F;  ///< factor, from readers to a constant: alignment
inline constexpr float aligned_handed = 0.9F;   ///< with the operation of its readers: alignment
inline constexpr float aligned_branch = 0.6F;   ///< at most, in a branch that never ran: alignment
inline constexpr float aligned_against = 0.5F;  ///< at most, where a parameter disagrees: alignment
inline constexpr float capture_flaw = 0.85F;    ///< at most, few parameters disagree: alignment
inline constexpr float capture_doubt = 0.6F;    ///< at most, a good part does not fit: alignment
inline constexpr float capture_of_other = 0.3F; ///< at most, most does not fit: alignment
inline constexpr float capture_margin = 0.5F;   ///< what overrides another capture: defined

// Alignment of two graphs, by what an operator's results are known from.
inline constexpr float carried_computed = 0.99F; ///< the same is computed of the same: carried
inline constexpr float carried_named = 0.97F;    ///< the same name: carried
inline constexpr float carried_derived = 0.93F;  ///< all around is known: carried
inline constexpr float carried_passed = 0.9F;    ///< handed on, or one of a group: carried
inline constexpr float carried_between = 0.8F;   ///< somewhere between what is known: carried

// Entries of a state dict that initializers were made of.
inline constexpr float entry_content = 0.99F; ///< no other entry has the same values: entries
inline constexpr float entry_equal = 0.9F;    ///< several have, and its module one of them: entries
inline constexpr float entry_named = 0.98F;   ///< it is called so: entries
inline constexpr float entry_declared =
    0.95F;                                   ///< its module has one of that use and shape: entries
inline constexpr float entry_folded = 0.9F;  ///< with the batch norm behind its module: entries
inline constexpr float entry_fits = 0.8F;    ///< the only one of its module that fits: entries
inline constexpr float entry_below = 0.7F;   ///< of a module inside of its own: entries
inline constexpr float entry_used = 0.9F;    ///< modules call so what they read there: entries
inline constexpr float entry_guessed = 0.5F; ///< as above, where they read much else too: entries

// Resolution.
inline constexpr float doubtful = 0.7F;       ///< at most, an ancestor of alternatives: curve
inline constexpr float refining = 0.5F;       ///< at least, to choose within a claim: alignment
inline constexpr float overruling = 0.9F;     ///< at least, to contradict one: as `sure`
inline constexpr float read_by_others = 0.7F; ///< at most, a constant of several modules: curve

// Propagation.
inline constexpr float constant_of_sure = 0.9F; ///< a constant of readers that are sure: hidden
inline constexpr float both_sides = 0.85F;      ///< readers and producers agree: hidden
inline constexpr float readers = 0.8F;          ///< no producers, or the same for all data: hidden
inline constexpr float bodies = 0.8F;           ///< at most, an owner of bodies: hidden
inline constexpr float related_sides = 0.7F;    ///< one side is above the other: hidden
inline constexpr float skip_connection = 0.7F;  ///< what a connection goes around: hidden
inline constexpr float owner = 0.7F;            ///< at most, in a body: hidden
inline constexpr float readers_alone = 0.6F;    ///< whatever the producers are: hidden
inline constexpr float producers = 0.6F;        ///< no readers: hidden
inline constexpr float producers_alone = 0.5F;  ///< whatever the readers are: hidden
inline constexpr float nearest = 0.5F;          ///< as `common_ancestor`

} // namespace stemma::inline STEMMA_ABI::detail::confidence

#endif // STEMMA_MODEL_CONFIDENCE_HPP
