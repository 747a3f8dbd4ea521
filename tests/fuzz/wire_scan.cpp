// SPDX-License-Identifier: Apache-2.0
// Files as the program reads them: tables, types, findings.
#include "fuzz.hpp"

#include <stemma/check/detail/check_structure.hpp>
#include <stemma/onnx/external_data.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/types/detail/infer_shapes.hpp>
#include <stemma/types/value_types.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace {

void use(std::string_view bytes) {
    const stemma::wire_model model(bytes, "model");
    for (stemma::id node = 0; node < model.node_count(); ++node) {
        fuzz::demand(model.graph_of(node) < model.graph_count(), "a node is of no graph");
        for (const auto value : model.inputs(node)) {
            fuzz::demand(value == stemma::no_id || value < model.value_count(),
                         "a node reads no value");
        }
    }
    stemma::detail::check_structure(model, [](const auto&) {});
    static_cast<void>(stemma::external_files(model));
    stemma::value_types types(model);
    stemma::detail::infer_shapes(model, types);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return fuzz::try_input(data, size, use);
}
