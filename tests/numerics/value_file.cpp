// SPDX-License-Identifier: Apache-2.0
#include <stemma/numerics/value_file.hpp>

#include "../catch.hpp"
#include "../scratch_folder.hpp"
#include "../wire_builder.hpp"

#include <stemma/error.hpp>
#include <stemma/numerics/detail/npy.hpp>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace test::numerics_value_file {

namespace {

std::string npy_of(float number) {
    std::string elements(4, '\0');
    std::memcpy(elements.data(), &number, 4);
    return stemma::detail::npy_header(1, {}) + elements;
}

void put(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
}

double number_of(const stemma::value_file& values, std::string_view name) {
    const auto value = values.find(name);
    REQUIRE(value);
    std::vector<double> numbers(value->size());
    value->read(0, numbers);
    return numbers.front();
}

} // namespace

TEST_CASE("value_file: a folder has a file per value", "[numerics][value_file]") {
    const test::scratch_folder folder;
    put(folder.file("%2Fa%2Fb.npy"), npy_of(2));
    put(folder.file("plain.npy"), npy_of(3));
    put(folder.file("output_0.pb"),
        test::message().number(2, 7).number(7, 5).text(8, "logits").bytes());
    put(folder.file("notes.txt"), "no value");
    const stemma::value_file values(folder.path());
    CHECK(values.names() == std::vector<std::string_view>{"/a/b", "logits", "plain"});
    CHECK(number_of(values, "/a/b") == 2);
    CHECK(number_of(values, "plain") == 3);
    CHECK(number_of(values, "logits") == 5);
    values.release("plain");
    CHECK(number_of(values, "plain") == 3);
    CHECK_FALSE(values.find("b"));
}

TEST_CASE("value_file: has the values of a runtime in the same program", "[numerics][value_file]") {
    const std::vector<float> elements{3, 4};
    const std::string_view bytes(reinterpret_cast<const char*>(elements.data()),
                                 elements.size() * sizeof(float));
    const stemma::value_file values("a run",
                                    {{"/a/b", stemma::tensor_values(1, {2}, bytes, "", "")}});
    CHECK(values.path() == "a run");
    CHECK(values.names() == std::vector<std::string_view>{"/a/b"});
    CHECK(number_of(values, "/a/b") == 3);
    CHECK(values.find("/a/b")->dims() == std::vector<std::int64_t>{2});
    values.release("/a/b");
    CHECK(number_of(values, "/a/b") == 3);
    CHECK_FALSE(values.find("b"));
}

TEST_CASE("value_file: reads ONNX tensors with typed fields", "[numerics][value_file]") {
    const auto read = [](const test::message& tensor) {
        const auto bytes = tensor.bytes();
        const auto values = stemma::detail::read_tensor_message(bytes, "a.pb");
        std::vector<double> numbers(values.values.size());
        values.values.read(0, numbers);
        return numbers;
    };
    CHECK(read(test::message().number(1, 1).number(2, 7).number(7, 9)) == std::vector<double>{9});
    CHECK(read(test::message().number(2, 10).number(5, 0x3c00)) == std::vector<double>{1});
    CHECK(read(test::message().number(2, 2).text(9, "\x05")) == std::vector<double>{5});
    CHECK(read(test::message().number(2, 15).number(7, 0)) == std::vector<double>{0, 0});
    CHECK_THROWS_AS(read(test::message().number(2, 1).text(9, "123")), stemma::error);
    CHECK_THROWS_AS(read(test::message().text(9, "123")), stemma::error);
}

TEST_CASE("value_file: rejects missing, empty or ambiguous files", "[numerics][value_file]") {
    const test::scratch_folder folder;
    CHECK_THROWS_AS(stemma::value_file(folder.file("missing.npz")), stemma::error);
    CHECK_THROWS_AS(stemma::value_file(folder.path()), stemma::error);
    put(folder.file("a.npy"), npy_of(1));
    put(folder.file("b.pb"), test::message().number(2, 7).number(7, 5).text(8, "a").bytes());
    CHECK_THROWS_AS(stemma::value_file(folder.path()), stemma::error);
}

} // namespace test::numerics_value_file
