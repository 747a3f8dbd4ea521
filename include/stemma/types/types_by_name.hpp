// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TYPES_TYPES_BY_NAME_HPP
#define STEMMA_TYPES_TYPES_BY_NAME_HPP

#include <stemma/core/id.hpp>
#include <stemma/onnx/detail/without_weights.hpp>
#include <stemma/onnx/onnx_model.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/types/detail/declare_types.hpp>
#include <stemma/types/detail/infer_shapes.hpp>
#include <stemma/types/value_types.hpp>

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// Returns: the bytes of a model for inference with the ONNX library: without large weights, and
/// with the types that stemma infers, which it adds: where the library's own rules stop, it goes on
/// from these.
/// Throws: `error` of `error_code::too_large` if that would reach 2 GiB.
/// Complexity: O(nodes + values + bytes without weights).
[[nodiscard]] inline std::string model_to_infer(const wire_model& model, value_types& types) {
    detail::infer_shapes(model, types);
    return detail::without_weights(model) + detail::declare_types(model, types);
}

/// Adds types to values identified by graph and name, as reported by inference with the ONNX
/// library.
class types_by_name {
public:
    /// Requires: both outlive this. Complexity: O(values * log values).
    types_by_name(const wire_model& model, value_types& types) : types_(&types) {
        for (id value = 0; value < model.value_count(); ++value) {
            values_.emplace(std::pair(model.graph_of_value(value), model.value_name(value)), value);
        }
        for (id g = 0; g < model.graph_count(); ++g) {
            if (model.graph(g).kind != graph_kind::function) {
                graphs_.push_back(g);
            }
        }
    }

    /// Adds a type, the bytes of a TypeProto. `graph` counts graphs other than functions; unknown
    /// values are skipped.
    /// Complexity: O(log values + length).
    void add(std::size_t graph, std::string_view name, std::string_view type) {
        if (graph >= graphs_.size()) {
            return;
        }
        if (const auto entry = values_.find({graphs_[graph], name}); entry != values_.end()) {
            types_->add(entry->second, std::string(type));
        }
    }

private:
    value_types* types_;
    std::map<std::pair<id, std::string_view>, id> values_;
    std::vector<id> graphs_;
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_TYPES_TYPES_BY_NAME_HPP
