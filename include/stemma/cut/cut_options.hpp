// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CUT_CUT_OPTIONS_HPP
#define STEMMA_CUT_CUT_OPTIONS_HPP

#include <stemma/core/parallel.hpp>
#include <stemma/cut/cut.hpp>
#include <stemma/onnx/data_placement.hpp>

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace stemma::inline STEMMA_ABI {

class value_types;
class wire_model;

/// Adds the types of values of a model, as another library infers them, say; those that are known
/// stay. Returns: "", or why there are none.
using type_inference = std::function<std::string(const wire_model&, value_types&)>;

/// How parts are cut out of a model.
struct cut_options {
    /// What belongs to a part. Where none is given, it is a `standard_cut`, which refuses modules
    /// that are not convex, or, of `many`, makes a part for each convex run.
    std::optional<any_cut> policy{};
    data_placement data = data_placement::copy; ///< weights in other files
    bool many = false;      ///< parts of many modules are asked for, not of a few
    bool force = false;     ///< files that exist are replaced
    bool sync = true;       ///< waits until the bytes are on the medium
    thread_limit threads{}; ///< for many parts
    type_inference infer{}; ///< asked once, when the library knows no type for a boundary
    std::function<void(std::string_view)> note{}; ///< hears what a user should know
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_CUT_CUT_OPTIONS_HPP
