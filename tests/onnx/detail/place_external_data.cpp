// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/place_external_data.hpp>

#include "../../catch.hpp"
#include "../../data_scene.hpp"
#include "../../model_files.hpp"
#include "../../refusal.hpp"

#include <stemma/error.hpp>
#include <stemma/onnx/data_placement.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <filesystem>
#include <iterator>
#include <string>

namespace test::onnx_detail_place_external_data {

namespace fs = std::filesystem;

using stemma::data_placement;
using stemma::detail::place_external_data;

namespace {

struct scene : test::data_scene {
    using test::data_scene::data_scene;

    void place(data_placement placement, bool replace = false) const {
        const stemma::wire_model model(bytes, from + "/model.onnx");
        place_external_data(model, to + "/model.onnx", placement, replace, false);
    }
};

} // namespace

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
        CHECK(test::refusal([&] { s.place(placement); }).code() == stemma::error_code::exists);
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
        CHECK(test::refusal([&] {
                  place_external_data(model, own, placement, true, false);
              }).code() == stemma::error_code::refused);
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
    CHECK(test::refusal([&] { outside.place(data_placement::copy); }).code() ==
          stemma::error_code::malformed);
    CHECK(fs::is_empty(outside.to));
    const scene missing({"w.bin"});
    CHECK(test::refusal([&] { missing.place(data_placement::link); }).code() ==
          stemma::error_code::cannot_read);
}

TEST_CASE("check_location: names an initializer whose data are outside the folder") {
    const auto bytes = test::model_at({"w.bin", "../w.bin"});
    const stemma::wire_model model(bytes, "m.onnx");
    CHECK_NOTHROW(stemma::detail::check_location(model, "w.bin"));
    CHECK_THROWS_WITH(stemma::detail::check_location(model, "../w.bin"),
                      "m.onnx: w../w.bin: its data '../w.bin' are outside the model's folder");
}

TEST_CASE("place_external_data: does nothing for an output in the model's folder") {
    scene s({"w.bin"});
    s.make(s.from + "/w.bin", "weights");
    s.to = s.from;
    s.place(data_placement::copy);
    CHECK(test::read_bytes(s.from + "/w.bin") == "weights");
}

TEST_CASE("place_external_data: a link in the model's folder is followed") {
    for (auto placement : {data_placement::link, data_placement::copy}) {
        const scene s({"w.bin"});
        s.make(s.folder.file("blobs") + "/1", "weights");
        fs::create_symlink("../blobs/1", s.from + "/w.bin");
        s.place(placement);
        CHECK(fs::is_regular_file(fs::symlink_status(s.to + "/w.bin")));
        CHECK(test::read_bytes(s.to + "/w.bin") == "weights");
    }
}

TEST_CASE("place_external_data: the model does not take the place of its weights") {
    for (auto placement : {data_placement::link, data_placement::copy}) {
        const scene s({"model.onnx"});
        s.make(s.from + "/model.onnx", "weights");
        CHECK(test::refusal([&] { s.place(placement, true); }).code() ==
              stemma::error_code::refused);
        CHECK(fs::is_empty(s.to));
    }
}

TEST_CASE("place_external_data: a file is placed once, however it is spelled") {
    const scene s({"./w.bin", "w.bin", "a/././w.bin", "a/w.bin"});
    s.make(s.from + "/w.bin", "weights");
    s.make(s.from + "/a/w.bin", "more");
    s.place(data_placement::copy);
    CHECK(test::read_bytes(s.to + "/w.bin") == "weights");
}

TEST_CASE("place_external_data: all files or none") {
    const scene s({"a.bin", "b.bin"});
    s.make(s.from + "/a.bin", "weights");
    s.make(s.from + "/b.bin", "weights");
    s.make(s.to + "/b.bin", "others");
    CHECK(test::refusal([&] { s.place(data_placement::copy); }).code() ==
          stemma::error_code::exists);
    CHECK_FALSE(fs::exists(s.to + "/a.bin"));
    fs::remove(s.to + "/b.bin");
    fs::create_directories(s.to + "/b.bin/full");
    CHECK(test::refusal([&] { s.place(data_placement::link); }).code() ==
          stemma::error_code::cannot_write);
    CHECK_FALSE(fs::exists(s.to + "/a.bin"));
    fs::remove_all(s.to + "/b.bin");
    fs::create_symlink("b.bin", s.to + "/b.bin");
    CHECK(test::refusal([&] { s.place(data_placement::copy); }).code() ==
          stemma::error_code::cannot_write);
    CHECK(std::distance(fs::directory_iterator(s.to), fs::directory_iterator()) == 1);
}

} // namespace test::onnx_detail_place_external_data
