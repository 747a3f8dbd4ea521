// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_WIRE_KNOWN_POLICIES_HPP
#define STEMMA_ONNX_WIRE_KNOWN_POLICIES_HPP

#include <stemma/model/module_tree.hpp>
#include <stemma/onnx/onnx_operators.hpp>
#include <stemma/onnx/wire/wire_model.hpp>
#include <stemma/policy/policy_registry.hpp>

namespace stemma {

/// Policies by name, for ONNX files.
using onnx_policy_registry = policy_registry<onnx_operators<wire_model>, module_tree>;

/// Returns: the policies that `attributed_model` and the `stemma` program know by name, those in
/// the box to start with.
///
/// Requires: policies are added before the first model is opened, and by one thread.
[[nodiscard]] inline onnx_policy_registry& known_policies() {
    static onnx_policy_registry known;
    return known;
}

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_KNOWN_POLICIES_HPP
