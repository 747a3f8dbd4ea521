// SPDX-License-Identifier: Apache-2.0
#include <stemma/checkpoint/detail/torch_archive.hpp>

#include "../../catch.hpp"
#include "../../checkpoint_files.hpp"
#include "../../refusal.hpp"

#include <stemma/error.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace test::checkpoint_detail_torch_archive {

namespace {

using namespace test::pickled;

std::string why_refused(const std::string& bytes) {
    return test::why_refused(
        [&] { return stemma::detail::torch_archive_reader(bytes, "file").read(); });
}

/// The error for a tensor in a storage of four numbers.
std::string of_tensor(std::int64_t offset, const std::vector<std::int64_t>& shape,
                      const std::vector<std::int64_t>& strides, std::int64_t count = 4) {
    const auto value =
        dict({{"w", tensor(storage("FloatStorage", "0", count), offset, shape, strides)}});
    return why_refused(torch_archive(value, std::string(16, '\0')));
}

} // namespace

TEST_CASE(
    "torch_archive_reader: checks that tensors lie in their storages, and those in the archive") {
    constexpr auto huge = std::int64_t{1} << 62U;
    CHECK(of_tensor(0, {2, 2}, {2, 1}).empty());
    CHECK(of_tensor(4, {0}, {1}).empty());
    CHECK(of_tensor(3, {1, 1, 1}, {huge, huge, huge}).empty());
    const std::string outside = "file: w: has elements outside its storage";
    CHECK(of_tensor(1, {2, 2}, {2, 1}) == outside);
    CHECK(of_tensor(0, {2, 2}, {3, 1}) == outside);
    CHECK(of_tensor(0, {2, 2}, {huge, 1}) == outside);
    CHECK(of_tensor(0, {3, 2}, {huge - 1, huge - 1}) == outside);
    CHECK(of_tensor(5, {0}, {1}) == outside);
    CHECK(of_tensor(huge - 1, {1}, {1}).find("file: w: ") == 0);
    CHECK(of_tensor(0, {4}, {1}, 5) == "file: w: its storage is shorter than declared");
    CHECK(of_tensor(0, {4}, {1}, huge) == "file: w: its storage is shorter than declared");
    CHECK(of_tensor(0, {huge, 4}, {0, 1}) == "file: w: its storage is shorter than declared");
    CHECK(of_tensor(0, {1000, 4}, {0, 1}) ==
          "file: w: has more elements than its storage: save it after tensor.contiguous()");
    CHECK(of_tensor(-1, {1}, {1}) == "file: a/data.pkl: has a tensor with an invalid number");
    CHECK(of_tensor(0, {-1}, {1}) == "file: a/data.pkl: has a tensor with an invalid number");
    CHECK(of_tensor(0, {1}, {1, 1}) ==
          "file: a/data.pkl: has a tensor with different numbers of extents and strides");
    CHECK(of_tensor(0, std::vector<std::int64_t>(65, 1), std::vector<std::int64_t>(65, 1)) ==
          "file: a/data.pkl: has a tensor with an invalid shape");
}

TEST_CASE("torch_archive_reader: rejects archives that torch does not write") {
    const auto value =
        document(dict({{"w", tensor(storage("FloatStorage", "0", 1), 0, {1}, {1})}}));
    const std::string four(4, '\0');
    CHECK(why_refused(zip({{"a/data.pkl", value}, {"a/data/0", four}})).empty());
    CHECK(why_refused(zip({{"data.pkl", value}, {"data/0", four}})).empty());
    CHECK(why_refused(zip({{"a/data.pkl", value}})) ==
          "file: w: its storage '0' is not in the archive");
    CHECK(why_refused(zip({{"a/data.pkl", value}, {"a/data/0", four}, {"a/data/0", four}})) ==
          "file: a/data/0: occurs twice");
    CHECK(why_refused(zip({{"a/data.pkl", value, 8}, {"a/data/0", four}})) ==
          "file: a/data.pkl: is compressed, which torch.save does not do: load the checkpoint and "
          "save it again");
    CHECK(why_refused(zip({{"a/data.pkl", value}, {"a/data/0", four, 8}})).find("is compressed") !=
          std::string::npos);
    CHECK(why_refused(zip({{"a/data.pkl", value}, {"a/data/0", four}, {"a/byteorder", "big"}})) ==
          "file: a/byteorder: its elements are big-endian");
    // Two members with the same bytes, as in zip bombs.
    CHECK(why_refused(zip({{"a/data.pkl", value}, {"a/data/0", four}, {"a/data/1", four, 0, 0}})) ==
          "file: a/data/1: overlaps 'a/data.pkl'");
    CHECK(why_refused(zip({{"a/data.pkl", value}, {"a/data/0", four, 0, -1, 1'000'000}})) ==
          "file: is not a zip archive, or is damaged");
    CHECK(why_refused(zip({{"a/data.pkl", document("}")}})) ==
          "file: a/data.pkl: contains no tensors");
    CHECK(why_refused(
              torch_archive(dict({{"w", tensor(storage("FloatStorage", "0", 1), 0, {1}, {1})},
                                  {"w", tensor(storage("FloatStorage", "0", 1), 0, {1}, {1})}}),
                            four)) == "file: w: occurs twice");
    CHECK(why_refused(torch_archive(dict({{"w", tensor(tuple({}), 0, {1}, {1})}}), four)) ==
          "file: a/data.pkl: has a tensor without a storage");
    CHECK(why_refused(torch_archive(
              dict({{"w", tensor(tuple({text("storage"), global("collections", "OrderedDict"),
                                        text("0"), text("cpu"), integer(1)}) +
                                     "Q",
                                 0, {1}, {1})}}),
              four)) == "file: a/data.pkl: refers to an object that is not a storage");
}

TEST_CASE("torch_archive_reader: handles TorchScript modules that contain each other") {
    const auto object = global("__torch__", "M") + ")\x81q\1";
    const auto value = document(object + dict({{"self", "h\1"}}) + "b");
    CHECK(why_refused(zip({{"a/data.pkl", value}, {"a/constants.pkl", "\x80\2)."}})) ==
          "file: a/data.pkl: has values nested deeper than 200");
    // Each level contains the one below twice: there would be 2 to the power of the depth names.
    std::string shared = "q\1";
    std::string doubled = global("__torch__", "M") + ")\x81}b" + shared;
    for (int level = 0; level < 100; ++level) {
        doubled += "0" + global("__torch__", "M") + ")\x81" + dict({{"a", "h\1"}, {"b", "h\1"}}) +
                   "b" + shared;
    }
    CHECK(why_refused(zip({{"a/data.pkl", document(doubled)}, {"a/constants.pkl", "\x80\2)."}})) ==
          "file: a/data.pkl: has names that are too long in total");
}

TEST_CASE("torch_archive_reader: a large state that many refer to takes no time for each") {
    constexpr int many = 40'000;
    std::string state = "}(";
    for (int i = 0; i < many; ++i) {
        state += text(std::to_string(i)) + "K\1";
    }
    auto root = global("__torch__", "M") + ")\x81}(" + text("a") + global("__torch__", "M") +
                ")\x81" + state + "ubq\1";
    for (int i = 0; i < many; ++i) {
        root += text("b") + "h\1";
    }
    CHECK(why_refused(
              zip({{"a/data.pkl", document(root + "ub")}, {"a/constants.pkl", "\x80\2)."}})) ==
          "file: a/data.pkl: has names that are too long in total");
}

TEST_CASE("torch_archive_reader: rejects lazy views, whose storages hold other numbers") {
    const auto view = [](const std::string& kind) {
        const auto in = storage("FloatStorage", "0", 1);
        const auto value =
            call(global("torch._utils", "_rebuild_tensor_v2"),
                 {in, integer(0), numbers({1}), numbers({1}), "\x89", "}", dict({{kind, "\x88"}})});
        return why_refused(torch_archive(dict({{"w", value}}), std::string(4, '\0')));
    };
    CHECK(view("other").empty());
    CHECK(view("conj") == "file: a/data.pkl: has a tensor that is a lazy conj view");
    CHECK(view("neg") == "file: a/data.pkl: has a tensor that is a lazy neg view");
}

TEST_CASE("torch_archive_reader: visits dicts that contain each other once") {
    std::string doubled =
        dict({{"w", tensor(storage("FloatStorage", "0", 1), 0, {1}, {1})}}) + "q\1";
    for (int level = 0; level < 60; ++level) {
        doubled += "0" + dict({{"model", "h\1"}, {"net", "h\1"}, {"c", "h\1"}}) + "q\1";
    }
    const auto bytes = torch_archive(doubled, std::string(4, '\0'));
    stemma::detail::torch_archive_reader reader(bytes, "file");
    reader.read();
    REQUIRE(reader.entries().size() == 1);
    CHECK(reader.entries().front().name.find("model.model.") == 0);
}

} // namespace test::checkpoint_detail_torch_archive
