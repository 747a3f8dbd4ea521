// SPDX-License-Identifier: Apache-2.0
// Files as the program reads, tags and strips them.
#include "../tagged_bytes.hpp"
#include "../wire_builder.hpp"
#include "fuzz.hpp"

#include <stemma/error.hpp>
#include <stemma/onnx/wire/check_data.hpp>
#include <stemma/onnx/wire/check_structure.hpp>
#include <stemma/onnx/wire/external_data.hpp>
#include <stemma/onnx/wire/infer_shapes.hpp>
#include <stemma/onnx/wire/read_tags.hpp>
#include <stemma/onnx/wire/value_types.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace {

void use(std::string_view bytes) {
    test::tagged_model tagged(bytes);
    const auto& model = tagged.model;
    for (const auto& made : tagged.found.attributions) {
        fuzz::demand(made.module < tagged.modules.size(), "a node is of no module");
    }
    for (unsigned set : {1U, 31U}) {
        const auto carriers = test::carriers_of(set);
        const auto written = tagged.write(carriers);
        const auto stripped = test::strip(written);
        fuzz::demand(stripped == bytes || test::with_minimal_lengths(stripped) ==
                                              test::with_minimal_lengths(test::strip(bytes)),
                     "what was tagged and stripped is not the original");
        fuzz::demand(test::tag(written, carriers) == written, "tagged again, a file changes");
    }
    static_cast<void>(stemma::read_carried_modules(model, tagged.modules, tagged.found.tags));
    static_cast<void>(stemma::external_files(model));
    stemma::value_types types(model);
    stemma::infer_shapes(model, types);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        use({reinterpret_cast<const char*>(data), size});
    } catch (const stemma::error&) {
        // Refused, as it should be.
    }
    return 0;
}
