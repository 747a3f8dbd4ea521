// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/common_contents.hpp>

#include "../../built_model.hpp"
#include "../../catch.hpp"
#include "../../wire_builder.hpp"

#include <stemma/core/parallel.hpp>
#include <stemma/onnx/detail/data_hashes.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace test::onnx_detail_common_contents {

namespace {

/// Data of a few layouts and lengths, many of them equal but for something small.
class tensor_maker {
public:
    explicit tensor_maker(unsigned seed) : random_(seed) {}

    test::message make() {
        const auto rows = std::array<std::uint64_t, 4>{4, 64, 128, 129}[pick(4)];
        auto data = floats(rows * 64, static_cast<unsigned>(pick(2)));
        switch (pick(8)) {
        case 0:
            std::shuffle(data.begin(), data.end(), random_);
            break;
        case 1:
            std::for_each(data.begin() + 64, data.begin() + 128, [](float& x) { x *= -3; });
            break;
        case 2:
            data.back() += 1;
            break;
        case 3:
            std::swap(data[data.size() - 1], data[data.size() - 2]);
            break;
        case 4:
            data[pick(data.size())] = 0;
            break;
        case 5: // equal sums of other elements
            data[data.size() - 1] = moved(data[data.size() - 1], 1);
            data[data.size() - 2] = moved(data[data.size() - 2], -1);
            break;
        default:
            break;
        }
        std::string raw(data.size() * sizeof(float), '\0');
        std::memcpy(raw.data(), data.data(), raw.size());
        const std::array<std::vector<std::uint64_t>, 3> shapes{
            {{rows, 64}, {64, rows}, {rows * 64}}};
        return test::tensor("w" + std::to_string(made_++), shapes[pick(4) % 3], raw);
    }

private:
    [[nodiscard]] std::size_t pick(std::size_t count) { return random_() % count; }

    [[nodiscard]] static std::vector<float> floats(std::size_t count, unsigned seed) {
        std::minstd_rand random(seed + 1);
        std::vector<float> result(count);
        std::generate(result.begin(), result.end(),
                      [&] { return static_cast<float>(random() % 2001) - 1000.5F; });
        return result;
    }

    [[nodiscard]] static float moved(float number, int step) {
        std::uint32_t word = 0;
        std::memcpy(&word, &number, sizeof word);
        word += static_cast<std::uint32_t>(step);
        std::memcpy(&number, &word, sizeof number);
        return number;
    }

    std::mt19937 random_;
    int made_ = 0;
};

std::string model_of(tensor_maker& maker, int count) {
    auto graph = test::graph();
    for (int i = 0; i < count; ++i) {
        graph.inner(5, maker.make());
    }
    return test::model(graph).bytes();
}

/// Returns: for each pair of hashes whether they are equal and known.
std::vector<bool> equal_pairs(const std::vector<stemma::content_hash>& hashes,
                              std::uint64_t stemma::content_hash::*kind) {
    std::vector<bool> result;
    for (const auto& a : hashes) {
        for (const auto& b : hashes) {
            result.push_back(a.*kind == b.*kind && a.*kind != 0);
        }
    }
    return result;
}

} // namespace

TEST_CASE("common_contents: tells apart what hashes of all data tell apart") {
    for (unsigned seed = 0; seed < 8; ++seed) {
        tensor_maker maker(seed);
        const std::array bytes{model_of(maker, 24), model_of(maker, 24)};
        const std::array models{stemma::wire_model(bytes[0]), stemma::wire_model(bytes[1])};
        const std::array stored{stemma::detail::stored_tensors(models[0]),
                                stemma::detail::stored_tensors(models[1])};
        auto expected = stemma::detail::hash_contents(models[0]);
        const auto more = stemma::detail::hash_contents(models[1]);
        expected.insert(expected.end(), more.begin(), more.end());
        for (const unsigned most : {1U, 3U}) {
            const stemma::thread_scope threads({most, 1});
            const stemma::detail::common_contents common(stored[0], stored[1]);
            auto hashes = common.of(0);
            hashes.insert(hashes.end(), common.of(1).begin(), common.of(1).end());
            REQUIRE(hashes.size() == expected.size());
            for (const auto kind : {&stemma::content_hash::exact, &stemma::content_hash::loose,
                                    &stemma::content_hash::scaled}) {
                const auto pairs = equal_pairs(expected, kind);
                CHECK(std::count(pairs.begin(), pairs.end(), true) > 48);
                if (kind == &stemma::content_hash::scaled) {
                    // A hash that nothing shares may be left out.
                    auto equal = equal_pairs(hashes, kind);
                    for (std::size_t i = 0; i < hashes.size(); ++i) {
                        equal[i * hashes.size() + i] = expected[i].scaled != 0;
                    }
                    CHECK(equal == pairs);
                } else {
                    CHECK(equal_pairs(hashes, kind) == pairs);
                }
            }
            for (std::size_t i = 0; i < hashes.size(); ++i) {
                CHECK(hashes[i].nonzero == expected[i].nonzero);
            }
        }
    }
}

TEST_CASE("common_contents: of all widths of elements") {
    struct width {
        std::uint64_t type;
        std::size_t bytes;
    };
    for (const auto [type, size] : {width{3, 1}, {10, 2}, {1, 4}, {7, 8}}) {
        std::string data(100 * 1000 * size, '\0');
        std::mt19937 random(7);
        std::generate(data.begin(), data.end(), [&] { return static_cast<char>(random() >> 24U); });
        auto turned = data.substr(50 * 1000 * size) + data.substr(0, 50 * 1000 * size);
        auto other = turned;
        other[7] = static_cast<char>(other[7] ^ 1);
        const auto tensor = [type = type](const char* name, const std::string& raw) {
            return test::message()
                .number(1, 100)
                .number(1, 1000)
                .number(2, type)
                .text(8, name)
                .text(9, raw);
        };
        const auto first = test::model(test::graph().inner(5, tensor("a", data))).bytes();
        const auto second =
            test::model(test::graph().inner(5, tensor("b", turned)).inner(5, tensor("c", other)))
                .bytes();
        const stemma::wire_model before(first);
        const stemma::wire_model after(second);
        const stemma::detail::stored_tensors old(before);
        const stemma::detail::stored_tensors now(after);
        const stemma::detail::common_contents common(old, now);
        CHECK(common.of(0)[0].loose == common.of(1)[0].loose);
        CHECK(common.of(0)[0].loose != common.of(1)[1].loose);
        CHECK(common.of(0)[0].exact != common.of(1)[0].exact);
        CHECK(common.of(0)[0].nonzero == stemma::detail::hash_contents(before)[0].nonzero);
    }
}

TEST_CASE("stored_tensors: initializers, then the tensors of Constants") {
    const auto value = test::tensor("", {2, 4}, std::string(32, 'x'));
    const auto with_tensor = [&](test::message node) {
        return node.inner(5, test::message().text(1, "value").inner(5, value).number(20, 4));
    };
    auto graph = test::graph();
    graph.inner(1, with_tensor(test::node("Constant", {}, {"a"}, "a")));
    graph.inner(1, test::node("Constant", {}, {"b"}, "b")
                       .inner(5, test::message().text(1, "value_int").number(3, 1).number(20, 2)));
    graph.inner(1, with_tensor(test::node("Other", {}, {"c"}, "c")));
    graph.inner(1, with_tensor(test::node("Constant", {}, {"d"}, "d")));
    graph.inner(5, test::tensor("w", {2, 4}, std::string(32, 'x')));
    const test::built_model model(test::model(graph));
    const stemma::detail::stored_tensors stored(model);
    REQUIRE(stored.size() == 3);
    CHECK(model.text(stored[0].name) == "w");
    REQUIRE(stored.constants().size() == 2);
    CHECK(model.name(stored.constants()[0]) == "a");
    CHECK(model.name(stored.constants()[1]) == "d");
    stemma::detail::content_hasher hasher(model);
    CHECK(hasher.hash(stored[1]) == hasher.hash(stored[0]));
    CHECK(hasher.hash(stored[2]) == hasher.hash(stored[0]));
}

} // namespace test::onnx_detail_common_contents
