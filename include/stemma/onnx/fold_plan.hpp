// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_FOLD_PLAN_HPP
#define STEMMA_ONNX_FOLD_PLAN_HPP

#include <stemma/algorithm/fold_regions.hpp>
#include <stemma/core/id.hpp>

#include <string>
#include <vector>

namespace stemma {

/// A function that a model is to get.
struct planned_function {
    std::string domain; ///< as the policy has it: the package
    std::string name;   ///< as the policy has it: the class
    id number = 0;      ///< tells functions apart that the policy calls the same; 0 for the first
    id region = 0;      ///< the first of those that call it; its body is the function's
    id calls = 0;       ///< regions that call it, in the whole model
    id activations = 0; ///< how many of the inputs are no initializers; they come first
    id attributes = 0;  ///< constants that differ from call to call
    /// By constant, in the order in which calls are opened: which attribute has its value, or
    /// `no_id`. Empty where none may.
    std::vector<id> slots{};

    /// Returns: the name, with the number behind it where that is not 0: `Layer.1`.
    [[nodiscard]] std::string numbered() const {
        return number == 0 ? name : name + "." + std::to_string(number);
    }
};

/// How the main graph of a model becomes calls of functions.
struct fold_plan {
    std::vector<fold_region> regions;     ///< items are positions in the main graph
    std::vector<std::string> paths;       ///< by region: the way from the module around to its own
    std::vector<id> function;             ///< by region; `no_id` for the first, the graph itself
    std::vector<std::vector<id>> inputs;  ///< by region: values, by slot of its function
    std::vector<std::vector<id>> outputs; ///< by region: values, by slot of its function
    /// By region: the Constants in it and in regions inside, in the order in which calls are
    /// opened. Empty where none may be attributes.
    std::vector<std::vector<id>> constants;
    std::vector<planned_function> functions; ///< each behind those it calls
    std::vector<fold_leftover> left;         ///< what the policy would have folded
    std::size_t in_bodies = 0;               ///< operators of such modules in bodies and functions
};

} // namespace stemma

#endif // STEMMA_ONNX_FOLD_PLAN_HPP
