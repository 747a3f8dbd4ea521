// SPDX-License-Identifier: Apache-2.0
// Checkpoints: whatever the bytes, entries that lie in the file, or a reason. The first byte says
// what the others are: an archive, a pickle, a safetensors file or an index.
#include "fuzz.hpp"

#include <stemma/checkpoint/checkpoint_modules.hpp>
#include <stemma/checkpoint/detail/pickle.hpp>
#include <stemma/checkpoint/detail/safetensors.hpp>
#include <stemma/checkpoint/detail/state_finder.hpp>
#include <stemma/checkpoint/detail/torch_archive.hpp>
#include <stemma/checkpoint/read_checkpoint.hpp>
#include <stemma/io/file.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace {

void use_archive(std::string_view bytes) {
    const auto known = stemma::read_checkpoint(stemma::mapped_file::viewing(bytes, "checkpoint"));
    std::size_t read = 0;
    for (const auto& entry : known.entries()) {
        fuzz::demand(known.find(entry.name) == &entry, "an entry is not found by its name");
        known.for_each_piece(entry, [&](std::string_view piece) { read += piece.size(); });
        read -= entry.size;
    }
    fuzz::demand(read == 0, "an entry has other bytes than it says");
    const auto modules = stemma::modules_of(known);
    fuzz::demand(modules.size() > 0, "there is no root");
}

void use_pickle(std::string_view bytes, bool script) {
    using stemma::detail::torch_pickle;
    torch_pickle calls(script);
    stemma::detail::pickled_values values(bytes, "file", "data.pkl");
    const auto root = stemma::detail::pickle_reader<torch_pickle>(bytes, values, calls).read();
    stemma::detail::state_finder state(values);
    state.find(root);
    for (const auto& [name, number] : state.tensors()) {
        const auto& tensor = calls.tensor(number);
        fuzz::demand(tensor.shape.size() == tensor.strides.size(), "an extent has no stride");
        fuzz::demand(calls.storage(tensor.storage).type != nullptr, "a storage has no type");
    }
}

void use(std::string_view text) {
    const auto kind = text.empty() ? '\0' : text.front();
    const auto bytes = text.substr(text.empty() ? 0 : 1);
    if (kind == 1 || kind == 2) {
        use_pickle(bytes, kind == 2);
    } else if (kind == 3) {
        static_cast<void>(stemma::detail::checkpoint_index_reader("index").read(bytes));
    } else {
        use_archive(bytes);
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return fuzz::try_input(data, size, use);
}
