// SPDX-License-Identifier: Apache-2.0
// Safetensors files and indices of several: whatever the bytes, entries that lie in the file, or a
// reason. The first byte says which of both the others are.
#include "fuzz.hpp"

#include <stemma/checkpoint/detail/safetensors.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace {

void use(std::string_view text) {
    const auto bytes = text.substr(text.empty() ? 0 : 1);
    if (!text.empty() && text.front() == 1) {
        const auto [files, tensors] = stemma::detail::checkpoint_index_reader("index").read(bytes);
        for (const auto& file : files) {
            fuzz::demand(file.find('/') == file.npos && file != "..", "a file is elsewhere");
        }
        for (const auto& [name, number] : tensors) {
            fuzz::demand(number < files.size(), "a tensor is in no file");
        }
        return;
    }
    std::uint64_t end = 0;
    for (const auto& entry : stemma::detail::safetensors_reader(bytes, "file").read()) {
        fuzz::demand(entry.offset >= end, "entries overlap");
        end = entry.offset + entry.size;
        fuzz::demand(end <= bytes.size(), "an entry lies outside of the file");
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return fuzz::try_input(data, size, use);
}
