// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/wire_model.hpp>

#include "../catch.hpp"
#include "../model_files.hpp"
#include "../random_model.hpp"
#include "../random_numbers.hpp"
#include "../sanitized.hpp"
#include "../wire_builder.hpp"
#include "newer_onnx.pb.h"
#include "told_models.hpp"

#include <stemma/core/id.hpp>

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

namespace test::proto_scan_differential {

namespace {

using stemma::id;

/// The reduction of tries under a sanitizer.
constexpr std::size_t slowness = test::sanitized ? 8 : 1;

/// How often every file is damaged; `STEMMA_RANDOM_ROUNDS` overrides it.
std::size_t rounds() {
    const char* asked = std::getenv("STEMMA_RANDOM_ROUNDS");
    return asked == nullptr ? 1 : std::strtoul(asked, nullptr, 10);
}

struct tally {
    std::size_t accepted = 0;
    std::size_t refused = 0;
};

/// Compares the scan with the parser of one schema.
template <class Model>
void compare(const std::string& bytes, tally& counts) {
    const auto result = test::compare<Model>(bytes);
    ++(result.accepted ? counts.accepted : counts.refused);
    if (!result.difference.empty()) {
        FAIL_CHECK(result.difference);
    }
}

void compare_both(const std::string& bytes, tally& counts) {
    compare<onnx::ModelProto>(bytes, counts);
    compare<newer_onnx::ModelProto>(bytes, counts);
}

/// Damages files, mostly where their structure is and not in the weights.
class damager {
public:
    damager(const std::string& bytes, std::uint64_t seed) : random_(seed) {
        const stemma::wire_model model(bytes);
        for (id node = 0; node < model.node_count(); ++node) {
            places_.push_back(model.message(node).begin);
        }
        for (const auto& tensor : model.tensors()) {
            places_.push_back(tensor.message.begin);
        }
        for (const auto& info : model.value_infos()) {
            places_.push_back(info.message.begin);
        }
        for (const auto& container : model.containers()) {
            places_.push_back(container.begin);
        }
        places_.push_back(0);
    }

    std::string damage(std::string bytes) {
        for (auto hits = 1 + random_(3); hits > 0 && !bytes.empty(); --hits) {
            const auto at = place(bytes.size());
            const auto size = std::min(bytes.size() - at, 1 + random_(12));
            switch (random_(8)) {
            case 0:
                bytes.erase(at, size);
                break;
            case 1:
                bytes.insert(at, random_.bytes(size));
                break;
            case 2:
                bytes.insert(at, bytes.substr(at, size));
                break;
            case 3:
                bytes.resize(random_.one_in(8) ? at : bytes.size());
                break;
            case 4:
                bytes[at] = static_cast<char>(random_(256));
                break;
            default:
                bytes[at] =
                    static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ (1U << random_(8)));
            }
        }
        return bytes;
    }

private:
    std::size_t place(std::size_t size) {
        const auto near = places_[random_(places_.size())] + random_(64);
        return random_.one_in(4) || near < 4 ? random_(size) : std::min(size - 1, near - 4);
    }

    test::random_numbers random_;
    std::vector<std::size_t> places_;
};

std::string nested_bodies(std::size_t depth, const test::message& innermost) {
    auto body = innermost;
    for (std::size_t i = 0; i < depth; ++i) {
        body = test::graph(
            {test::owner_node("If", {"x"}, {"y"}, {test::graph_attribute("then_branch", body)})});
    }
    return test::model(body).bytes();
}

} // namespace

TEST_CASE("wire_model: reads every fixture as protobuf does") {
    tally counts;
    for (const auto& path : test::model_files()) {
        CAPTURE(path);
        compare_both(test::read_bytes(path), counts);
    }
    CHECK(counts.refused == 0);
    CHECK(counts.accepted == 2 * test::model_files().size());
}

TEST_CASE("wire_model: reads restructured fixtures as protobuf does") {
    test::random_numbers random(5);
    tally counts;
    for (const auto& path : test::model_files()) {
        CAPTURE(path);
        compare_both(test::restructured(test::read_bytes(path), test::onnx_message::model, random),
                     counts);
    }
    CHECK(counts.refused == 0);
}

TEST_CASE("wire_model: reads random models as protobuf does") {
    tally counts;
    for (std::uint64_t seed = 0; seed < 2000 * rounds() / slowness; ++seed) {
        CAPTURE(seed);
        compare_both(test::random_model(seed, true).bytes(), counts);
    }
    CHECK(counts.refused == 0);
}

TEST_CASE("wire_model: agrees with protobuf on damaged fixtures") {
    tally counts;
    for (const auto& path : test::model_files()) {
        const auto bytes = test::read_bytes(path);
        damager damager(bytes, bytes.size());
        const auto times =
            rounds() * std::min<std::size_t>(400, 20 + 2'000'000 / bytes.size()) / slowness;
        for (std::size_t i = 0; i < times; ++i) {
            CAPTURE(path, i);
            compare_both(damager.damage(bytes), counts);
        }
    }
    CHECK(counts.accepted > 1000 / slowness);
    CHECK(counts.refused > 1000 / slowness);
}

TEST_CASE("wire_model: agrees with protobuf on damaged random models") {
    tally counts;
    for (std::uint64_t seed = 0; seed < 500 * rounds() / slowness; ++seed) {
        const auto bytes = test::random_model(seed, true).bytes();
        damager damager(bytes, seed);
        for (std::size_t i = 0; i < 40; ++i) {
            CAPTURE(seed, i);
            compare_both(damager.damage(bytes), counts);
        }
    }
    CHECK(counts.accepted > 1000 / slowness);
    CHECK(counts.refused > 1000 / slowness);
}

TEST_CASE("wire_model: accepts bodies as deeply nested as protobuf does") {
    tally counts;
    for (std::size_t depth = 28; depth < 40; ++depth) {
        CAPTURE(depth);
        compare_both(nested_bodies(depth, test::message()), counts);
        compare_both(nested_bodies(depth, test::message().text(2, "innermost")), counts);
        compare_both(nested_bodies(depth, test::graph({}, {"x"}, {"y"}, {"w"})), counts);
        compare_both(nested_bodies(depth, test::graph({test::node("Relu", {"x"}, {"y"})})), counts);
    }
    CHECK(counts.accepted > 0);
    CHECK(counts.refused > 0);
}

TEST_CASE("wire_model: accepts unknown groups as deeply nested as protobuf does") {
    tally counts;
    for (std::size_t depth = 90; depth < 105; ++depth) {
        test::message group;
        for (std::size_t i = 0; i < depth; ++i) {
            group = test::message().group(200, group);
        }
        CAPTURE(depth);
        compare_both(test::model(test::graph()).append(group).bytes(), counts);
        compare_both(test::model(test::graph().append(group)).bytes(), counts);
    }
    CHECK(counts.accepted > 0);
    CHECK(counts.refused > 0);
}

} // namespace test::proto_scan_differential
