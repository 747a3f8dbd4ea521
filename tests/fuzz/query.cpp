// SPDX-License-Identifier: Apache-2.0
// Queries: an answer that holds together, or a reason.
#include "../query_scene.hpp"
#include "fuzz.hpp"

#include <stemma/query/detail/explain_no_match.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace {

void use(std::string_view text) {
    static const test::query_scene scene;
    const auto asked = stemma::parse_query(text);
    const auto nodes = stemma::find_matching_operators(asked, scene.modules, scene.tags, scene,
                                                       scene.attributions);
    fuzz::demand(std::is_sorted(nodes.begin(), nodes.end()), "nodes are not ascending");
    if (!asked.asks_for_operators()) {
        const auto modules = stemma::find_matching_modules(asked, scene.modules, scene.tags);
        fuzz::demand(std::is_sorted(modules.begin(), modules.end()), "modules are not ascending");
    }
    if (nodes.empty()) {
        fuzz::demand(!stemma::detail::explain_no_match(asked, scene.modules, scene.tags, scene,
                                                       scene.attributions)
                          .empty(),
                     "nothing fits, and nothing is said about it");
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return fuzz::try_input(data, size, use);
}
