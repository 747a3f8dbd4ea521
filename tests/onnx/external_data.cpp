// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/external_data.hpp>

#include "../catch.hpp"
#include "../far_tensor.hpp"
#include "../model_files.hpp"
#include "../scratch_folder.hpp"
#include "../wire_builder.hpp"

#include <stemma/error.hpp>
#include <stemma/io/output_file.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace test::onnx_external_data {

namespace fs = std::filesystem;

using stemma::data_placement;
using stemma::detail::is_inside_folder;
using stemma::detail::place_external_data;
using texts = std::vector<std::string>;

namespace {

/// A model whose initializers store their data in these locations.
std::string model_at(const texts& locations) {
    auto graph = test::graph();
    for (const auto& location : locations) {
        graph.inner(5, test::message()
                           .text(8, "w" + location)
                           .number(14, 1)
                           .inner(13, test::entry("location", location)));
    }
    graph.inner(5, test::tensor("inside", {1}, "four"));
    return test::model(graph).bytes();
}

stemma::error_code code_of(const std::function<void()>& run) {
    try {
        run();
    } catch (const stemma::error& e) {
        return e.code();
    }
    FAIL("nothing was thrown");
    return {};
}

/// Two folders, the first with a model in it.
struct scene {
    explicit scene(const texts& locations)
        : from(folder.file("from")), to(folder.file("to")), bytes(model_at(locations)) {
        fs::create_directories(from);
        fs::create_directories(to);
    }

    void make(const std::string& path, const std::string& content) const {
        fs::create_directories(fs::path(path).parent_path());
        stemma::output_file out(path);
        out.write(content);
        out.commit(false);
    }

    void place(data_placement placement, bool replace = false) const {
        const stemma::wire_model model(bytes, from + "/model.onnx");
        place_external_data(model, to + "/model.onnx", placement, replace);
    }

    test::scratch_folder folder;
    std::string from;
    std::string to;
    std::string bytes;
};

} // namespace

TEST_CASE("is_inside_folder: rejects locations that climb out or are absolute") {
    for (const auto* location : {"w.bin", "a/w.bin", "./w.bin", "a..b", "..."}) {
        CHECK(is_inside_folder(location));
    }
    for (const auto* location : {"", "/w.bin", "../w.bin", "a/../../w.bin", "a/..", ".."}) {
        CHECK_FALSE(is_inside_folder(location));
    }
    CHECK_FALSE(is_inside_folder(std::string_view("w\0.bin", 6)));
}

TEST_CASE("external_files: lists each once, sorted, without data inside the file") {
    const auto bytes = model_at({"b.bin", "a.bin", "b.bin"});
    CHECK(stemma::external_files(stemma::wire_model(bytes)) == texts{"a.bin", "b.bin"});
    const auto none = model_at({});
    CHECK(stemma::external_files(stemma::wire_model(none)).empty());
}

TEST_CASE("place_external_data: keep does nothing, whatever the locations") {
    const scene s({"../out.bin", "missing.bin"});
    s.place(data_placement::keep);
    CHECK(fs::is_empty(s.to));
}

TEST_CASE("place_external_data: link and copy put the file next to the output") {
    for (auto placement : {data_placement::link, data_placement::copy}) {
        const scene s({"parts/w.bin"});
        s.make(s.from + "/parts/w.bin", "weights");
        s.place(placement);
        CHECK(test::read_bytes(s.to + "/parts/w.bin") == "weights");
        CHECK(fs::equivalent(s.from + "/parts/w.bin", s.to + "/parts/w.bin") ==
              (placement == data_placement::link));
        if (placement == data_placement::link) {
            s.place(placement); // the same file again
        }
    }
}

TEST_CASE("place_external_data: overwrites no other file") {
    for (auto placement : {data_placement::link, data_placement::copy}) {
        const scene s({"w.bin"});
        s.make(s.from + "/w.bin", "weights");
        s.make(s.to + "/w.bin", "others");
        CHECK(code_of([&] { s.place(placement); }) == stemma::error_code::exists);
        CHECK(test::read_bytes(s.to + "/w.bin") == "others");
    }
}

TEST_CASE("place_external_data: never replaces the model's own files, not even beside it") {
    const scene s({"parts/w.bin"});
    const auto own = s.from + "/parts/w.bin";
    s.make(own, "weights");
    s.make(s.from + "/other.bin", "others");
    const stemma::wire_model model(s.bytes, s.from + "/model.onnx");
    for (auto placement : {data_placement::keep, data_placement::copy}) {
        CHECK(code_of([&] { place_external_data(model, own, placement, true); }) ==
              stemma::error_code::refused);
    }
    for (const auto* free : {"/other.bin", "/new.bin", "/model.onnx"}) {
        CHECK_NOTHROW(stemma::detail::refuse_own_data(model, s.from + free));
    }
}

TEST_CASE("place_external_data: replaces the file rather than its bytes") {
    for (auto placement : {data_placement::link, data_placement::copy}) {
        const scene s({"w.bin"});
        s.make(s.from + "/w.bin", "weights");
        s.make(s.to + "/w.bin", "others");
        fs::create_hard_link(s.to + "/w.bin", s.to + "/kept.bin");
        s.place(placement, true);
        CHECK(test::read_bytes(s.to + "/w.bin") == "weights");
        CHECK(test::read_bytes(s.to + "/kept.bin") == "others");
        CHECK(fs::equivalent(s.from + "/w.bin", s.to + "/w.bin") ==
              (placement == data_placement::link));
        CHECK(std::distance(fs::directory_iterator(s.to), fs::directory_iterator()) == 2);
    }
}

TEST_CASE("place_external_data: rejects files outside the folder and missing ones") {
    const scene outside({"../w.bin"});
    outside.make(outside.folder.file("w.bin"), "secret");
    CHECK(code_of([&] { outside.place(data_placement::copy); }) == stemma::error_code::malformed);
    CHECK(fs::is_empty(outside.to));
    const scene missing({"w.bin"});
    CHECK(code_of([&] { missing.place(data_placement::link); }) == stemma::error_code::cannot_read);
}

TEST_CASE("check_location: names an initializer whose data are outside the folder") {
    const auto bytes = model_at({"w.bin", "../w.bin"});
    const stemma::wire_model model(bytes, "m.onnx");
    CHECK_NOTHROW(stemma::detail::check_location(model, "w.bin"));
    try {
        stemma::detail::check_location(model, "../w.bin");
        FAIL("is outside");
    } catch (const stemma::error& e) {
        CHECK(e.what() ==
              std::string("m.onnx: w../w.bin: its data '../w.bin' are outside the model's folder"));
    }
}

TEST_CASE("place_external_data: does nothing for an output in the model's folder") {
    scene s({"w.bin"});
    s.make(s.from + "/w.bin", "weights");
    s.to = s.from;
    s.place(data_placement::copy);
    CHECK(test::read_bytes(s.from + "/w.bin") == "weights");
}

TEST_CASE("files_left_behind: lists missing files only for another folder") {
    const scene s({"b.bin", "a.bin", "b.bin"});
    const stemma::wire_model model(s.bytes, s.from + "/model.onnx");
    CHECK(stemma::files_left_behind(model, s.from + "/other.onnx").empty());
    CHECK(stemma::files_left_behind(model, s.from + "/../from/other.onnx").empty());
    CHECK(stemma::files_left_behind(model, s.from + "/./other.onnx").empty());
    CHECK(stemma::files_left_behind(model, s.to + "/model.onnx") == texts{"a.bin", "b.bin"});
}

TEST_CASE("external_files: lists those of attributes and bodies too") {
    const auto bytes = test::far_model().bytes();
    const stemma::wire_model model(bytes);
    CHECK(stemma::external_files(model) == texts{"b.bin", "c.bin", "w.bin"});
    CHECK(stemma::detail::nested_external_files(model) == texts{"b.bin", "c.bin"});
}

} // namespace test::onnx_external_data
