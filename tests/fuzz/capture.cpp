// SPDX-License-Identifier: Apache-2.0
// Captures: whatever the text, a tree with all that belongs to it, or a reason.
#include "fuzz.hpp"

#include <stemma/capture/detail/capture_reader.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace {

void use(std::string_view text) {
    stemma::detail::capture_reader reader;
    reader.read(text, "capture");
    const auto modules = reader.tree();
    for (stemma::id m = 0; m < modules.size(); ++m) {
        const auto parent = modules.index().parent(m);
        fuzz::demand(m == 0 || parent < m, "a parent stands behind its child");
    }
    auto parts = reader.fx(modules);
    parts.push_back(reader.trace(modules));
    parts.push_back(reader.torchscript(modules));
    for (const auto& operations : parts) {
        for (stemma::id i = 0; i < operations.size(); ++i) {
            const auto module = operations[i].module;
            fuzz::demand(module == stemma::no_id || module < modules.size(),
                         "an operation is of no module");
        }
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return fuzz::try_input(data, size, use);
}
