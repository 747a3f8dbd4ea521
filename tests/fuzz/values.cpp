// SPDX-License-Identifier: Apache-2.0
// Values: what can be read of .npz, .npy and .pb data holds together. The first byte says which.
#include "fuzz.hpp"

#include <stemma/numerics/value_difference.hpp>
#include <stemma/numerics/value_file.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace {

void use(std::string_view text) {
    constexpr std::array<const char*, 3> names{"a.npz", "a.npy", "a.pb"};
    if (text.empty()) {
        return;
    }
    const auto kind = static_cast<unsigned char>(text.front()) % names.size();
    const stemma::value_file values(stemma::mapped_file::viewing(text.substr(1), names[kind]));
    for (const auto name : values.names()) {
        const auto value = values.find(name);
        fuzz::demand(value.has_value(), "a value that is listed is not there");
        const auto same = stemma::detail::compare_values(*value, *value);
        fuzz::demand(same && same->identical, "a value differs from itself");
        const auto wide = value->bytes_as(value->data_type() == 14 ? 15 : 11);
        fuzz::demand(!wide || wide->size() % 8 == 0, "a number was cut off");
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return fuzz::try_input(data, size, use);
}
