// SPDX-License-Identifier: Apache-2.0
#include <stemma/weights/detail/sliced_entries.hpp>

#include "../../catch.hpp"
#include "../../model_files.hpp"

#include <stemma/capture/captures.hpp>
#include <stemma/checkpoint/read_checkpoint.hpp>
#include <stemma/weights/identify_parameters.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

namespace test::weights_detail_sliced_entries {

namespace {

struct slice {
    std::string entry;
    std::uint64_t first;
    std::size_t axis;

    friend bool operator==(const slice&, const slice&) = default;
};

std::vector<slice> slices_of(const std::vector<stemma::parameter_origin>& origins) {
    std::vector<slice> found;
    for (const auto& origin : origins) {
        if (origin.transform == stemma::parameter_transform::sliced) {
            found.push_back({origin.entries.at(0), origin.first, origin.axis});
        }
    }
    return found;
}

} // namespace

TEST_CASE("sliced_entries: projections of an attention's query and of its keys and values",
          "[weights][sliced_entries]") {
    const auto data = std::string(STEMMA_TEST_DATA "/weights/attention");
    const std::vector<slice> right{{"cross.in_proj_bias", 0, 0},
                                   {"cross.in_proj_bias", 8, 0},
                                   {"cross.in_proj_weight", 0, 1},
                                   {"cross.in_proj_weight", 8, 1}};
    const auto in_order = [](std::vector<slice> found) {
        std::sort(found.begin(), found.end(), [](const slice& a, const slice& b) {
            return std::tie(a.entry, a.first) < std::tie(b.entry, b.first);
        });
        return found;
    };
    const stemma::attributed_model alone(data + ".onnx", {});
    CHECK(in_order(slices_of(stemma::identify_parameters(alone))) == right);
    stemma::attribution_options declared;
    declared.set(stemma::captures({data + ".modules.json"}));
    const stemma::attributed_model captured(data + ".onnx", declared);
    CHECK(in_order(slices_of(stemma::identify_parameters(captured))) == right);
    const auto known = stemma::read_checkpoint(data + ".pt");
    CHECK(in_order(slices_of(stemma::identify_parameters(alone, {.known = &known}))) == right);
}

} // namespace test::weights_detail_sliced_entries
