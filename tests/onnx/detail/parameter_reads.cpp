// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/parameter_reads.hpp>

#include "../../catch.hpp"

#include <stemma/core/id.hpp>
#include <stemma/core/parallel.hpp>

#include <cstddef>
#include <vector>

namespace test::onnx_detail_parameter_reads {

using stemma::id;

TEST_CASE("parameter_reads: finds what each node reads, with any number of threads") {
    constexpr id nodes = 100'000;
    const auto reads_of = [](id node) {
        std::vector<id> reads;
        for (id i = 0; i < node % 7; i += 3) {
            reads.push_back(node + i);
        }
        return reads;
    };
    for (const unsigned most : {1U, 4U}) {
        const stemma::thread_scope threads({most, 1});
        const stemma::detail::parameter_reads all(nodes, [&](id node, std::vector<id>& reads) {
            const auto own = reads_of(node);
            reads.insert(reads.end(), own.begin(), own.end());
            return static_cast<id>(own.size());
        });
        bool same = true;
        for (id node = 0; node < nodes; ++node) {
            const auto parameters = all.of(node);
            same = same && std::vector<id>(parameters.begin(), parameters.end()) == reads_of(node);
        }
        CHECK(same);
    }
}

} // namespace test::onnx_detail_parameter_reads
