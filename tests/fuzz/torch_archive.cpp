// SPDX-License-Identifier: Apache-2.0
// Archives of torch: whatever the bytes, entries that lie in the file, and their modules, or a
// reason.
#include "fuzz.hpp"

#include <stemma/checkpoint/checkpoint_modules.hpp>
#include <stemma/checkpoint/read_checkpoint.hpp>
#include <stemma/io/mapped_file.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace {

void use(std::string_view bytes) {
    const auto checkpoint =
        stemma::read_checkpoint(stemma::mapped_file::viewing(bytes, "checkpoint"));
    for (const auto& entry : checkpoint.entries()) {
        fuzz::demand(checkpoint.find(entry.name) == &entry, "an entry is not found by its name");
        fuzz::demand(checkpoint.bytes(entry).size() == entry.size,
                     "an entry has other bytes than it says");
    }
    fuzz::demand(stemma::modules_of(checkpoint).size() > 0, "there is no root");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return fuzz::try_input(data, size, use);
}
