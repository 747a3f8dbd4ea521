// SPDX-License-Identifier: Apache-2.0
// Metadata of nodes: a line is a key and a value with a tab between them, an empty line begins the
// next node. Where the text is of even length, the tags are written with some of the carriers.
#include "../model_with_metadata.hpp"
#include "../tagged_bytes.hpp"
#include "fuzz.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::vector<test::metadata> nodes(1);
    for (auto line : fuzz::split({reinterpret_cast<const char*>(data), size}, '\n')) {
        const auto tab = line.find('\t');
        if (line.empty()) {
            nodes.emplace_back();
        } else {
            nodes.back().emplace_back(line.substr(0, tab),
                                      tab == line.npos ? std::string_view{} : line.substr(tab + 1));
        }
    }
    const auto bytes = test::chain_of(nodes);
    test::tagged_model tagged(bytes);
    for (const auto& attribution : tagged.found.attributions) {
        fuzz::demand(attribution.module < tagged.modules.size(), "a node is of no module");
    }
    if (size % 2 == 0) {
        const auto carriers = test::carriers_of(1 + static_cast<unsigned>(size / 2 % 31));
        fuzz::demand(test::strip(tagged.write(carriers)) == test::strip(bytes),
                     "what was tagged and stripped is not the original");
    }
    return 0;
}
