// SPDX-License-Identifier: Apache-2.0
#include <stemma/cut/model_cutter.hpp>

#include "../catch.hpp"
#include "../far_tensor.hpp"
#include "../model_files.hpp"
#include "../refusal.hpp"
#include "../scratch_folder.hpp"

#include <stemma/error.hpp>
#include <stemma/query/find_modules.hpp>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace test::cut_model_cutter {

namespace {

using stemma::id;

std::vector<id> all_modules(const stemma::attributed_model& opened) {
    std::vector<id> modules(opened.modules().size());
    std::iota(modules.begin(), modules.end(), id{0});
    return modules;
}

/// Names values, or only one, without telling them apart.
struct careless_cut : stemma::standard_cut {
    std::string name{};
    std::string only{};

    [[nodiscard]] std::string boundary_name(std::string_view value) const {
        return only.empty() || only == value ? name : std::string(value);
    }
};

} // namespace

TEST_CASE("model_cutter: parts in memory, files and folders are the same", "[onnx][model_cutter]") {
    for (const auto* name :
         {"unet_tiny/model.onnx", "control_flow/model.onnx", "bert_micro/model.functions.onnx"}) {
        INFO(name);
        stemma::attributed_model opened(test::fixture(name), {});
        stemma::cut_options options{.many = true, .force = true, .sync = false};
        stemma::model_cutter cutter(opened.model(), options);
        const test::scratch_folder folder;
        const auto one = folder.file("one.onnx");
        std::size_t written = 0;
        for (auto m : all_modules(opened)) {
            std::vector<stemma::cut_record> records;
            try {
                records = cutter.write(opened, {.module = m}, one);
            } catch (const stemma::error& e) {
                CHECK(e.code() == stemma::error_code::not_found); // no nodes
                CHECK_THROWS_AS(cutter.cut(opened, {.module = m}), stemma::error);
                continue;
            }
            if (std::any_of(records.begin(), records.end(),
                            [](const auto& r) { return r.is_refused(); })) {
                CHECK_THROWS_AS(cutter.cut_all(opened, {.module = m}), stemma::error);
                continue;
            }
            const auto parts = cutter.cut_all(opened, {.module = m});
            REQUIRE(parts.size() == records.size());
            for (std::size_t p = 0; p < parts.size(); ++p) {
                CHECK(parts[p].bytes() == test::read_bytes(records[p].file));
                CHECK(std::vector<std::string>(parts[p].inputs().begin(),
                                               parts[p].inputs().end()) == records[p].inputs);
                CHECK(parts[p].is_exact() == records[p].exact);
                ++written;
            }
            if (parts.size() > 1) {
                CHECK_THROWS_AS(cutter.cut(opened, {.module = m}), stemma::error);
            }
        }
        CHECK(written > 5);
        const auto records = cutter.write_all(opened, all_modules(opened), folder.file("parts"));
        std::size_t in_folder = 0;
        for (const auto& record : records) {
            in_folder += record.is_refused() ? 0U : 1U;
            CHECK(record.is_refused() != std::filesystem::exists(record.file));
        }
        CHECK(in_folder == written);
        CHECK(std::filesystem::exists(folder.file("parts/index.json")));
    }
}

TEST_CASE("model_cutter: nodes can be a part", "[onnx][model_cutter]") {
    stemma::attributed_model opened(test::fixture("mlp/model.onnx"), {});
    stemma::model_cutter cutter(opened.model(), {.sync = false});
    const auto part = cutter.cut(opened, {.nodes = {0}});
    CHECK(part.size() == 1);
    const test::scratch_folder folder;
    const auto records = cutter.write(opened, {.nodes = {0}}, folder.file("one.onnx"));
    REQUIRE(records.size() == 1);
    CHECK(part.bytes() == test::read_bytes(records[0].file));
    CHECK_THROWS_AS(cutter.cut(opened, {}), stemma::error);
    CHECK(cutter.cut(opened, {.nodes = {2, 1, 2}}).size() == 2);
    const auto beyond = opened.model().node_count();
    CHECK_THROWS_WITH(cutter.cut(opened, {.nodes = {0, beyond}}),
                      Catch::Contains("the model has no node " + std::to_string(beyond)));
    CHECK_THROWS_AS(cutter.write(opened, {.nodes = {stemma::no_id}}, folder.file("two.onnx")),
                    stemma::error);
}

TEST_CASE("model_cutter: replaces existing files only with force", "[onnx][model_cutter]") {
    stemma::attributed_model opened(test::fixture("mlp/model.onnx"), {});
    const test::scratch_folder folder;
    const auto modules = all_modules(opened);
    stemma::cut_options options{.many = true, .sync = false};
    stemma::model_cutter careful(opened.model(), options);
    careful.write_all(opened, modules, folder.path());
    CHECK(test::refusal([&] { return careful.write_all(opened, modules, folder.path()); }).code() ==
          stemma::error_code::exists);
    options.force = true;
    stemma::model_cutter forceful(opened.model(), options);
    CHECK_NOTHROW(forceful.write_all(opened, modules, folder.path()));
}

TEST_CASE("model_cutter: parts replace neither their model nor spared files",
          "[onnx][model_cutter]") {
    const test::scratch_folder folder;
    const auto content = test::read_bytes(test::fixture("mlp/model.onnx"));
    const auto refused = [&](const std::string& source, std::vector<std::string> spared) {
        stemma::attributed_model opened(source, {});
        const stemma::cut_options options{
            .many = true, .force = true, .spared = std::move(spared), .sync = false};
        stemma::model_cutter cutter(opened.model(), options);
        CHECK(test::refusal([&] {
                  return cutter.write_all(opened, all_modules(opened), folder.path());
              }).code() == stemma::error_code::refused);
    };
    const auto whole = folder.make("model.onnx", content); // as the part of the root is called
    refused(whole, {});
    CHECK(folder.file_count() == 1);
    const auto index = folder.make("index.json", "mine");
    const auto other = folder.make("other.onnx", content);
    refused(other, {index});
    refused(other, {whole});
    CHECK(test::read_bytes(whole) == content);
    CHECK(test::read_bytes(index) == "mine");
    CHECK(folder.file_count() == 3);
}

TEST_CASE("model_cutter: a numbered part does not replace the model", "[onnx][model_cutter]") {
    const test::scratch_folder folder;
    const auto content = test::read_bytes(test::fixture("mlp/model.onnx"));
    const auto source = folder.make("part.1.onnx", content);
    stemma::attributed_model opened(source, {});
    const stemma::cut_options options{.many = true, .force = true, .sync = false};
    const stemma::cut_subject ends{.nodes = {0, opened.model().node_count() - 1}};
    CHECK_THROWS_AS(
        stemma::model_cutter(opened.model(), options).write(opened, ends, folder.file("part.onnx")),
        stemma::error);
    CHECK(test::read_bytes(source) == content);
    CHECK(folder.file_count() == 1);
}

TEST_CASE("model_cutter: numbered files are replaced only with force", "[onnx][model_cutter]") {
    stemma::attributed_model opened(test::fixture("mlp/model.onnx"), {});
    const test::scratch_folder folder;
    const auto path = folder.make("part.onnx", "replaced");
    const auto mine = folder.make("part.1.onnx", "mine");
    const stemma::cut_subject ends{.nodes = {0, opened.model().node_count() - 1}};
    stemma::cut_options options{.many = true, .sync = false};
    CHECK_THROWS_AS(stemma::model_cutter(opened.model(), options).write(opened, ends, path),
                    stemma::error);
    CHECK(test::read_bytes(mine) == "mine");
    CHECK(folder.file_count() == 2);
    options.force = true;
    const auto records = stemma::model_cutter(opened.model(), options).write(opened, ends, path);
    REQUIRE(records.size() == 2);
    CHECK(records[1].file == mine);
    CHECK(test::read_bytes(mine) != "mine");
}

TEST_CASE("model_cutter: parts that were written before an error have their weights",
          "[onnx][model_cutter]") {
    stemma::attributed_model opened(test::fixture("unet_tiny/model.onnx"), {});
    const auto modules = all_modules(opened);
    stemma::model_cutter cutter(opened.model(), {.many = true, .force = true, .sync = false});
    const test::scratch_folder whole;
    const auto records = cutter.write_all(opened, modules, whole.path());
    // A name that a late part is the first to have at its boundary.
    std::set<std::string> met;
    careless_cut fails;
    for (const auto& record : records) {
        for (const auto* names : {&record.inputs, &record.outputs}) {
            for (const auto& name : *names) {
                fails.only = met.insert(name).second ? name : fails.only;
            }
        }
    }
    stemma::model_cutter failing(opened.model(),
                                 {.policy = fails, .many = true, .force = true, .sync = false});
    const test::scratch_folder folder;
    CHECK_THROWS_AS(failing.write_all(opened, modules, folder.path()), stemma::error);
    std::size_t stored = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
        if (entry.path().extension() != ".onnx") {
            continue;
        }
        const stemma::mapped_file file(entry.path().string());
        const stemma::wire_model part(file.bytes(), file.path());
        for (const auto& tensor : part.tensors()) {
            const auto header = stemma::read_tensor_header(part, tensor);
            if (!header.location.empty()) {
                ++stored;
                CHECK(header.offset + header.length <=
                      std::filesystem::file_size(folder.file(std::string(header.location))));
            }
        }
    }
    CHECK(stored > 0);
}

TEST_CASE("model_cutter: replaces a file of weights beside the part only with force",
          "[onnx][model_cutter]") {
    stemma::attributed_model inside(test::fixture("bert_micro/model.onnx"), {});
    const test::scratch_folder folder;
    stemma::model_cutter all(inside.model(), {.many = true, .sync = false});
    all.write_all(inside, std::vector<stemma::id>{0}, folder.file("whole"));
    std::string whole;
    for (const auto& entry : std::filesystem::directory_iterator(folder.file("whole"))) {
        whole = entry.path().extension() == ".onnx" ? entry.path().string() : whole;
    }
    stemma::attributed_model outside(whole, {}); // with its weights in another file
    const auto module = stemma::find_modules(outside, "encoder.layer.0").front();
    const auto path = folder.file("part.onnx");
    const auto data = folder.make("part.onnx.data", "precious");
    const auto code = [&](auto write) { return test::refusal(write).code(); };
    stemma::cut_options options{.sync = false};
    stemma::model_cutter careful(outside.model(), options);
    CHECK(code([&] { careful.write(outside, {.module = module}, path); }) ==
          stemma::error_code::exists);
    CHECK(code([&] { careful.cut(outside, {.module = module}).write(path); }) ==
          stemma::error_code::exists);
    CHECK(test::read_bytes(data) == "precious");
    CHECK_FALSE(std::filesystem::exists(path));
    options.force = true;
    stemma::model_cutter forceful(outside.model(), options);
    forceful.cut(outside, {.module = module}).write(path);
    const auto weights = test::read_bytes(data);
    CHECK(weights != "precious");
    forceful.write(outside, {.module = module}, path);
    CHECK(test::read_bytes(data) == weights);
}

TEST_CASE("model_cutter: a refusal has a reason", "[onnx][model_cutter]") {
    stemma::attributed_model opened(test::fixture("shared_twice/model.onnx"), {});
    stemma::model_cutter cutter(opened.model());
    std::size_t refused = 0;
    for (auto m : all_modules(opened)) {
        const auto why = test::find_refusal([&] { return cutter.cut(opened, {.module = m}); });
        if (why && why->code() == stemma::error_code::refused) {
            ++refused;
            CHECK(std::string(why->what()).find(opened.modules().path(m)) != std::string::npos);
        }
    }
    CHECK(refused > 0);
}

TEST_CASE("model_cutter: rejects a policy that returns an empty or repeated name",
          "[onnx][model_cutter]") {
    stemma::attributed_model opened(test::fixture("bert_micro/model.onnx"), {});
    const auto inner = std::string(opened.model().value_name(opened.model().first_output(40)));
    for (const auto& name : {std::string(), std::string("same"), inner}) {
        stemma::model_cutter cutter(opened.model(), {.policy = careless_cut{{}, name, {}}});
        const auto e = test::refusal([&] { return cutter.cut(opened, {.module = 0}); });
        CHECK(e.code() == stemma::error_code::refused);
        CHECK(std::string(e.what()).find("cut policy") != std::string::npos);
    }
}

TEST_CASE("model_cutter: checks all files of a folder before it writes one",
          "[onnx][model_cutter]") {
    stemma::attributed_model opened(test::fixture("mlp/model.onnx"), {});
    const auto modules = all_modules(opened);
    const test::scratch_folder whole;
    stemma::cut_options options{.many = true, .sync = false};
    stemma::model_cutter careful(opened.model(), options);
    const auto records = careful.write_all(opened, modules, whole.path());
    options.force = true;
    stemma::model_cutter forceful(opened.model(), options);
    for (bool force : {false, true}) {
        const test::scratch_folder folder;
        const auto last = std::filesystem::path(records.back().file).filename().string();
        std::filesystem::create_directory(folder.file(last));
        CHECK_THROWS_AS((force ? forceful : careful).write_all(opened, modules, folder.path()),
                        stemma::error);
        CHECK(folder.file_count() == 1);
    }
    const test::scratch_folder folder;
    const auto index = folder.make("index.json", "precious");
    CHECK_THROWS_AS(careful.write_all(opened, modules, folder.path()), stemma::error);
    CHECK(test::read_bytes(index) == "precious");
    CHECK(folder.file_count() == 1);
}

TEST_CASE("model_cutter: parts have the external data of bodies and attributes beside them",
          "[onnx][model_cutter]") {
    const test::scratch_folder folder;
    stemma::attributed_model opened(test::write_far_model(folder), {});
    const auto module = stemma::find_modules(opened, "m").front();
    stemma::model_cutter cutter(opened.model(), {.many = true, .sync = false});
    const auto check = [&](const std::string& to, auto write) {
        std::filesystem::create_directory(folder.file(to));
        write(folder.file(to));
        CHECK(test::read_bytes(folder.file(to + "/b.bin")) == "b.bin");
        CHECK(test::read_bytes(folder.file(to + "/c.bin")) == "c.bin");
        CHECK_FALSE(std::filesystem::exists(folder.file(to + "/w.bin")));
    };
    check("one", [&](const std::string& to) {
        cutter.write(opened, {.module = module}, to + "/part.onnx");
    });
    check("part", [&](const std::string& to) {
        cutter.cut(opened, {.module = module}).write(to + "/part.onnx");
    });
    check("all",
          [&](const std::string& to) { cutter.write_all(opened, std::vector<id>{module}, to); });
}

} // namespace test::cut_model_cutter
