// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/file_parts.hpp>

#include "../../catch.hpp"
#include "../../random_model.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace test::onnx_detail_file_parts {

namespace {

using stemma::id;

std::vector<id> owners_of(const stemma::wire_model& model) {
    std::vector<bool> owns(model.node_count(), false);
    for (const auto& container : model.containers()) {
        if (container.owner != stemma::no_id) {
            owns[container.owner] = true;
        }
    }
    std::vector<id> owners;
    for (id node = 0; node < model.node_count(); ++node) {
        if (owns[node]) {
            owners.push_back(node);
        }
    }
    return owners;
}

} // namespace

TEST_CASE("divide_file: parts are consecutive, and no message spans two") {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        const auto bytes = test::random_model(seed, seed % 2 == 0).bytes();
        const stemma::wire_model model(bytes);
        const auto owners = owners_of(model);
        for (const std::size_t count : {1U, 2U, 5U, 100U}) {
            CAPTURE(seed, count);
            const auto parts = stemma::detail::divide_file(model, owners, count);
            REQUIRE(!parts.empty());
            CHECK(parts.size() <= count);
            CHECK(parts.front().begin == 0);
            CHECK(parts.back().end == bytes.size());
            for (std::size_t i = 1; i < parts.size(); ++i) {
                CHECK(parts[i].begin == parts[i - 1].end);
                CHECK(parts[i].begin < parts[i].end);
            }
            const auto part_of = [&](stemma::message_ref message) {
                std::size_t part = 0;
                while (part + 1 < parts.size() && parts[part + 1].begin < message.begin) {
                    ++part;
                }
                CHECK(message.begin + message.size <= parts[part].end);
                return part;
            };
            for (id node = 0; node < model.node_count(); ++node) {
                if (!std::binary_search(owners.begin(), owners.end(), node)) {
                    const auto part = part_of(model.message(node));
                    CHECK(node >= parts[part].node);
                    CHECK((part + 1 == parts.size() || node < parts[part + 1].node));
                }
            }
            for (std::size_t t = 0; t < model.tensors().size(); ++t) {
                const auto part = part_of(model.tensors()[t].message);
                CHECK(t >= parts[part].tensor);
                CHECK((part + 1 == parts.size() || t < parts[part + 1].tensor));
            }
        }
    }
}

} // namespace test::onnx_detail_file_parts
