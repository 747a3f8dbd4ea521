// SPDX-License-Identifier: Apache-2.0
#include <stemma/cut/detail/weight_store.hpp>

#include "../../catch.hpp"
#include "../../far_tensor.hpp"
#include "../../scratch_folder.hpp"
#include "../../wire_builder.hpp"

#include <stemma/error.hpp>
#include <stemma/io/mapped_file.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace test::cut_detail_weight_store {

namespace {

/// A model file with a large and a small tensor inside and one whose data are elsewhere.
struct scene {
    test::scratch_folder folder;
    std::string large = std::string(2000, 'L');
    stemma::mapped_file file;
    stemma::wire_model model;

    explicit scene(const std::string& location = "data.bin", const std::string& length = "5000")
        : file(write(folder, large, location, length)), model(file.bytes(), file.path()) {}

    static std::string write(const test::scratch_folder& folder, const std::string& large,
                             const std::string& location, const std::string& length) {
        static_cast<void>(folder.make("data.bin", std::string(100, '-') + std::string(5000, 'E')));
        auto graph = test::graph({test::node("Sum", {"large", "small", "far"}, {"y"})}, {}, {"y"});
        graph.inner(5, test::tensor("large", {500}, large));
        graph.inner(5, test::tensor("small", {1}, "1234"));
        graph.inner(5, test::message()
                           .number(1, 1250)
                           .number(2, 1)
                           .text(8, "far")
                           .inner(13, test::entry("location", location))
                           .inner(13, test::entry("offset", "100"))
                           .inner(13, test::entry("length", length))
                           .number(14, 1));
        return folder.make("model.onnx", test::model(graph).bytes());
    }

    [[nodiscard]] stemma::tensor_header header(stemma::id tensor) const {
        return stemma::read_tensor_header(model, model.tensors()[tensor]);
    }
};

} // namespace

TEST_CASE("weight_store: stores every tensor once, aligned", "[onnx][weight_store]") {
    const scene s;
    stemma::detail::weight_store store(s.model, s.file, "store.bin");
    CHECK(store.empty());
    for (int twice = 0; twice < 2; ++twice) {
        CHECK(stemma::detail::place_in_store(s.model, 0, store));
        CHECK_FALSE(stemma::detail::place_in_store(s.model, 1, store)); // too small to be worth it
        CHECK(stemma::detail::place_in_store(s.model, 2, store));
    }
    REQUIRE(store.find(0));
    REQUIRE(store.find(2));
    CHECK_FALSE(store.find(1));
    CHECK(store.find(0)->length == 2000);
    CHECK(store.find(2)->offset % 64 == 0);
    CHECK(store.find(2)->offset >= 2000);
    const auto path = s.folder.file("store.bin");
    store.save(path, false);
    CHECK_FALSE(std::filesystem::exists(path));
    store.commit(false);
    const stemma::mapped_file written(s.folder.file("store.bin"));
    CHECK(written.bytes().substr(store.find(0)->offset, 2000) == s.large);
    CHECK(written.bytes().substr(store.find(2)->offset, 5000) == std::string(5000, 'E'));
    CHECK(written.bytes().size() == store.find(2)->offset + 5000);
}

TEST_CASE("weight_store: can be saved piece by piece", "[onnx][weight_store]") {
    const scene s;
    std::string bytes[2];
    for (const bool twice : {false, true}) {
        stemma::detail::weight_store store(s.model, s.file, "store.bin");
        const auto path = s.folder.file("store.bin");
        stemma::detail::place_in_store(s.model, 0, store);
        if (twice) {
            store.save(path, false);
        }
        stemma::detail::place_in_store(s.model, 2, store);
        store.save(path, false);
        store.save(path, false);
        store.commit(false);
        bytes[twice ? 1 : 0] = stemma::mapped_file(path).bytes();
    }
    CHECK(bytes[0] == bytes[1]);
}

TEST_CASE("append_stored: records the new location of data, and keeps the rest",
          "[onnx][weight_store]") {
    const scene s;
    stemma::detail::weight_store store(s.model, s.file, "store.bin");
    stemma::detail::message_tree graph;
    REQUIRE(stemma::detail::append_stored(s.model, 0, "other", store, graph));
    CHECK(graph.text(s.file.bytes()) ==
          test::message()
              .inner(5, test::message()
                            .number(1, 500)
                            .number(2, 1)
                            .text(8, "other")
                            .inner(13, test::entry("location", "store.bin"))
                            .inner(13, test::entry("offset", "0"))
                            .inner(13, test::entry("length", "2000"))
                            .number(14, 1))
              .bytes());
}

TEST_CASE("weight_store: external data stay in place unless it takes them",
          "[onnx][weight_store]") {
    const scene s;
    stemma::detail::weight_store store(s.model, s.file, "store.bin", false);
    CHECK_FALSE(stemma::detail::place_in_store(s.model, 2, store));
    CHECK(store.empty());
}

TEST_CASE("weight_store: rejects data outside the folder, and missing data",
          "[onnx][weight_store]") {
    for (const auto& [location, length] :
         {std::pair("../data.bin", "5000"), std::pair("/etc/passwd", "10"),
          std::pair("data.bin", "5001"), std::pair("data.bin", "18446744073709551615"),
          std::pair("missing.bin", "10")}) {
        const scene s(location, length);
        stemma::detail::weight_store store(s.model, s.file, "store.bin");
        CHECK_THROWS_AS(store.add_external(2, s.header(2)), stemma::error);
    }
}

TEST_CASE("weight_store: data without a length have that of their type, else extend to the end of "
          "their file",
          "[onnx][weight_store]") {
    const scene s("data.bin", "0");
    const auto length = [&](const std::vector<std::int64_t>& dims, std::int64_t type) {
        stemma::detail::weight_store store(s.model, s.file, "store.bin");
        auto header = s.header(2);
        header.dims = dims;
        header.data_type = type;
        return store.add_external(2, header).length;
    };
    CHECK(length({1250}, 1) == 5000);
    CHECK(length({10}, 1) == 40);
    CHECK(length({0}, 1) == 0);
    CHECK(length({10}, 99) == 5000);
    CHECK_THROWS_AS(length({1251}, 1), stemma::error);
}

TEST_CASE("weight_store: copies files whose data nodes refer to", "[onnx][weight_store]") {
    const test::scratch_folder folder;
    const stemma::mapped_file file(test::write_far_model(folder));
    const stemma::wire_model model(file.bytes(), file.path());
    const auto add_all = [&](stemma::detail::weight_store& store) {
        for (stemma::id node = 0; node < model.node_count(); ++node) {
            store.add_files_of(model.reader(model.message(node)), stemma::detail::tensors_in::node);
        }
    };
    std::filesystem::create_directory(folder.file("to"));
    for (bool takes : {false, true}) {
        stemma::detail::weight_store store(model, file, "store.bin", takes);
        add_all(store);
        store.save(folder.file("to/store.bin"), false);
        store.commit(false);
        CHECK(store.whole_files().size() == (takes ? 2U : 0U));
        CHECK(std::filesystem::exists(folder.file("to/b.bin")) == takes);
        CHECK(std::filesystem::exists(folder.file("to/c.bin")) == takes);
        CHECK_FALSE(std::filesystem::exists(folder.file("to/w.bin")));
    }
    stemma::detail::weight_store clashing(model, file, "c.bin");
    CHECK_THROWS_AS(add_all(clashing), stemma::error);
}

} // namespace test::cut_detail_weight_store
