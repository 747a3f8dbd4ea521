// SPDX-License-Identifier: Apache-2.0
// Pickles of torch: whatever the bytes, tensors, or a reason. The first byte says whether classes
// of TorchScript may stand in the others.
#include "fuzz.hpp"

#include <stemma/checkpoint/detail/pickle.hpp>
#include <stemma/checkpoint/detail/torch_archive.hpp>
#include <stemma/checkpoint/detail/torch_pickle.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace {

void use(std::string_view text) {
    using stemma::detail::torch_pickle;
    const auto bytes = text.substr(text.empty() ? 0 : 1);
    torch_pickle calls(!text.empty() && text.front() == 1);
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

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return fuzz::try_input(data, size, use);
}
