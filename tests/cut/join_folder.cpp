// SPDX-License-Identifier: Apache-2.0
#include <stemma/cut/join_folder.hpp>

#include "../catch.hpp"
#include "../edited_split.hpp"
#include "../far_tensor.hpp"
#include "../model_files.hpp"
#include "../refusal.hpp"
#include "../scratch_folder.hpp"
#include "../wire_builder.hpp"

#include <stemma/cut/split_to_folder.hpp>
#include <stemma/error.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace test::cut_join_folder {

TEST_CASE("join_folder: lists changed files", "[onnx][join_folder]") {
    stemma::attributed_model opened(test::fixture("mlp/model.onnx"), {});
    const test::scratch_folder folder;
    const auto manifest = stemma::split_to_folder(opened, folder.path(), {.sync = false});
    const auto whole = folder.file("whole.onnx");
    auto joined = stemma::join_folder(folder.path(), whole, false);
    CHECK(joined.source == "model.onnx");
    CHECK(joined.edited.empty());
    CHECK(joined.missing.empty());
    CHECK(test::read_bytes(whole) == test::read_bytes(opened.file().path()));
    // metadata_props { key: "a" }
    const auto& edited = manifest.parts[1].at.file;
    const auto text = test::read_bytes(folder.file(edited)) + "\x72\x03\x0a\x01"
                                                              "a";
    static_cast<void>(folder.make(edited, text));
    joined = stemma::join_folder(folder.path(), whole, false);
    CHECK(joined.edited == std::vector<std::string>{edited});
    CHECK_THROWS_AS(stemma::join_folder(folder.file("nothing"), whole, false), stemma::error);
}

namespace {

/// A model with external weights `v` and `w` that is split into two parts; of `v` alone if the
/// parts share it.
struct far_split {
    test::scratch_folder folder;
    std::string parts = folder.file("parts");
    std::string first;
    std::string second;

    explicit far_split(bool shared = false) {
        auto graph = test::graph({test::node("Add", {"x", "v"}, {"a"}, "n1"),
                                  test::node("Mul", {"a", shared ? "v" : "w"}, {"y"}, "n2")},
                                 {"x"}, {"y"});
        graph.inner(5, test::far_tensor("v", "w.bin", 0));
        graph.inner(5, test::far_tensor("w", "w.bin", 4));
        static_cast<void>(folder.make("w.bin", "vvvvwwww"));
        stemma::attributed_model opened(folder.make("model.onnx", test::model(graph).bytes()), {});
        const auto manifest = stemma::split_to_folder(
            opened, parts, {.partition = stemma::balanced_parts{2}, .sync = false});
        first = manifest.parts[0].at.file;
        second = manifest.parts[1].at.file;
    }

    void make(const std::string& name, const std::string& content) const {
        static_cast<void>(folder.make("parts/" + name, content));
    }

    /// Returns: the joined model.
    [[nodiscard]] std::string join() const {
        stemma::join_folder(parts, folder.file("whole.onnx"), false);
        return test::read_bytes(folder.file("whole.onnx"));
    }

    [[nodiscard]] std::string refusal() const {
        const auto e = test::refusal([&] { return join(); });
        CHECK(e.code() == stemma::error_code::refused);
        return e.what();
    }

    /// Replaces a weight in a part.
    void put(const std::string& part, const test::message& weight) const {
        make(part, test::with_tensor(test::read_bytes(parts + "/" + part), weight));
    }

    /// Saves the first part with `v` in another file.
    void move_data(const std::string& location) const {
        put(first, test::far_tensor("v", location));
    }
};

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("join_folder: takes edited data of external weights", "[onnx][join_folder]") {
    const far_split split;
    CHECK(split.join() == test::read_bytes(split.folder.file("model.onnx")));
    auto weights = test::read_bytes(split.parts + "/weights.bin");
    weights.replace(weights.find("vvvv"), 4, "VVVV");
    split.make("weights.bin", weights);
    const auto joined = split.join();
    CHECK(has(joined, "VVVV"));
    CHECK(has(joined, "wwww"));
    CHECK_FALSE(has(joined, "w.bin"));
    split.make("weights.bin", "");
    CHECK(has(split.refusal(), "past the end of the file of weights"));
}

TEST_CASE("join_folder: takes data that an edited part has in another file",
          "[onnx][join_folder]") {
    const far_split split;
    split.move_data("n.bin");
    CHECK(has(split.refusal(), "'n.bin', which is not in the folder"));
    split.make("n.bin", "nnnn");
    const auto joined = split.join();
    CHECK(has(joined, "nnnn"));
    CHECK_FALSE(has(joined, "n.bin"));
    CHECK(has(joined, "w.bin")); // where unchanged data stay
    split.make("n.bin", "nnn");
    CHECK(has(split.refusal(), "past the end of 'n.bin'"));
}

TEST_CASE("join_folder: takes other places in the file of weights", "[onnx][join_folder]") {
    const far_split split;
    const auto weights = test::read_bytes(split.parts + "/weights.bin");
    const auto place = [&](const char* name) {
        return test::far_tensor(name, "weights.bin", weights.find(std::string(4, *name)));
    };
    const auto with_place_of = [&](const std::string& name, const char* other) {
        auto bytes = place(other).bytes();
        return test::message().raw(bytes.replace(bytes.find(other), 1, name));
    };
    split.put(split.first, place("v").append(test::message().text(12, "doc")));
    CHECK(has(split.join(), "w.bin"));
    CHECK(has(split.join(), "doc"));
    CHECK_FALSE(has(split.join(), "vvvv"));

    split.put(split.first, with_place_of("v", "w"));
    split.put(split.second, with_place_of("w", "v"));
    CHECK(has(split.join(), test::tensor("v", {1}, "wwww").bytes()));
    CHECK(has(split.join(), test::tensor("w", {1}, "vvvv").bytes()));

    // As another type.
    split.put(split.second, place("w"));
    split.put(split.first, place("v").append(test::message().number(2, 6)));
    const auto joined = split.join();
    CHECK(has(joined, "vvvv"));
    CHECK_FALSE(has(joined, "wwww"));
}

TEST_CASE("join_folder: knows external weights that a part has within", "[onnx][join_folder]") {
    const far_split split(true);
    const auto inside = [](const std::string& data) {
        return test::tensor("v", {1}, data).append(test::message().number(14, 0));
    };
    split.put(split.first, inside("vvvv"));
    CHECK(has(split.join(), "w.bin"));
    CHECK_FALSE(has(split.join(), "vvvv"));
    const std::string shared = "changes the initializer 'v', which other parts share";
    split.put(split.first, inside("VVVV"));
    CHECK(has(split.refusal(), shared));
    split.put(split.first,
              test::far_tensor("v", "weights.bin").append(test::message().number(2, 6)));
    CHECK(has(split.refusal(), shared));
}

TEST_CASE("join_folder: never replaces data of the model", "[onnx][join_folder]") {
    const far_split split;
    for (const auto* file : {"parts/weights.bin", "w.bin"}) {
        const auto before = test::read_bytes(split.folder.file(file));
        CHECK_THROWS_AS(stemma::join_folder(split.parts, split.folder.file(file), false),
                        stemma::error);
        CHECK(test::read_bytes(split.folder.file(file)) == before);
    }
}

} // namespace test::cut_join_folder
