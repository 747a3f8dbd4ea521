// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CUT_CUT_OPTIONS_HPP
#define STEMMA_CUT_CUT_OPTIONS_HPP

#include <stemma/cut/cut.hpp>
#include <stemma/onnx/data_placement.hpp>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI {

class value_types;
class wire_model;

/// Adds types of values to a model, for example as inferred by another library, without changing
/// known ones. Returns: "", or why there are none.
using type_inference = std::function<std::string(const wire_model&, value_types&)>;

/// Options for cutting parts out of a model.
struct cut_options {
    /// What belongs to a part. By default a `standard_cut` that refuses modules that are not convex
    /// or, if `many`, makes a part per convex run.
    std::optional<any_policy<cut_category>> policy{};
    /// Whether a value with this name becomes an input of the parts that read it, even if the
    /// policy would copy its producer in, unless that is a constant.
    std::function<bool(std::string_view)> given{};
    data_placement data = data_placement::copy; ///< of external weights
    bool many = false;                          ///< parts of many modules are requested
    bool force = false;                         ///< replace existing files
    std::vector<std::string> spared{};          ///< files never replaced, like the model
    bool sync = true;                           ///< wait until the bytes are on the medium
    type_inference infer{}; ///< called at most once, if the type of a boundary value is unknown
    std::function<void(std::string_view)> note{}; ///< receives notes for the user
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_CUT_CUT_OPTIONS_HPP
