// SPDX-License-Identifier: Apache-2.0
// Files as the program tags and strips them, with the tree that they say themselves. Which carriers
// write the tags follows from the length of the file.
#include "../tagged_bytes.hpp"
#include "../wire_builder.hpp"
#include "fuzz.hpp"

#include <stemma/record/detail/read_tags.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace {

void use(std::string_view bytes) {
    test::tagged_model tagged(bytes);
    for (const auto& attribution : tagged.found.attributions) {
        fuzz::demand(attribution.module < tagged.modules.size(), "a node is of no module");
    }
    static_cast<void>(
        stemma::detail::read_carried_modules(tagged.model, tagged.modules, tagged.found.tags));
    const auto carriers = test::carriers_of(bytes.size() % test::carrier_sets);
    const auto written = tagged.write(carriers);
    const auto stripped = test::strip(written);
    fuzz::demand(stripped == bytes || test::with_minimal_lengths(stripped) ==
                                          test::with_minimal_lengths(test::strip(bytes)),
                 "what was tagged and stripped is not the original");
    fuzz::demand(test::tag(written, carriers) == written, "tagged again, a file changes");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return fuzz::try_input(data, size, use);
}
