// SPDX-License-Identifier: Apache-2.0
#include <stemma/checkpoint/read_checkpoint.hpp>

#include "../catch.hpp"
#include "../checkpoint_files.hpp"
#include "../refusal.hpp"
#include "../scratch_folder.hpp"

#include <stemma/error.hpp>
#include <stemma/io/detail/xxh64.hpp>
#include <stemma/io/mapped_file.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace test::checkpoint_read_checkpoint {

namespace {

using namespace test::pickled;

const std::string four_floats("\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40\0\0\x80\x40", 16); // 1 2 3 4

stemma::checkpoint read(const std::string& bytes) {
    return stemma::read_checkpoint(stemma::mapped_file::holding(bytes, "file"));
}

std::string why_refused(const std::string& bytes) {
    return test::why_refused([&] { return read(bytes); });
}

std::string pickle_of(const std::string& value) {
    return torch_archive(value, four_floats);
}

std::string floats(const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& strides,
                   std::int64_t offset = 0) {
    return tensor(storage("FloatStorage", "0", 4), offset, shape, strides);
}

} // namespace

TEST_CASE("read_checkpoint: reads a safetensors file") {
    const auto checkpoint =
        read(safetensors(R"({"__metadata__":{"format":"pt"},)"
                         R"("b.weight":{"dtype":"F16","shape":[2,2],"data_offsets":[8,16]},)"
                         R"("a":{"dtype":"I64","shape":[],"data_offsets":[0,8]}})",
                         "\1\2\3\4\5\6\7\10\11\12\13\14\15\16\17\20"));
    REQUIRE(checkpoint.entries().size() == 2);
    const auto& scalar = checkpoint.entries()[0];
    CHECK(scalar.name == "a");
    CHECK(scalar.data_type == 7);
    CHECK(scalar.shape.empty());
    CHECK(checkpoint.bytes(scalar) == "\1\2\3\4\5\6\7\10");
    const auto* matrix = checkpoint.find("b.weight");
    REQUIRE(matrix != nullptr);
    CHECK(matrix->data_type == 10);
    CHECK(matrix->shape == std::vector<std::int64_t>{2, 2});
    CHECK(checkpoint.mapped_bytes(*matrix) == "\11\12\13\14\15\16\17\20");
    CHECK(checkpoint.find("c") == nullptr);
}

TEST_CASE("read_checkpoint: the code in docs/checkpoints.md reads all elements") {
    const test::scratch_folder folder;
    const auto path = folder.make("a.pt", pickle_of(dict({{"w", floats({4}, {1})}})));
    stemma::detail::xxh64_digest digest;
    const auto checkpoint = stemma::read_checkpoint(path);
    for (const auto& entry : checkpoint.entries()) {
        checkpoint.for_each_piece(entry, [&](std::string_view bytes) { digest.add(bytes); });
    }
    CHECK(digest.value() == stemma::detail::xxh64(four_floats));
}

TEST_CASE("read_checkpoint: a header length may look like another format") {
    const std::string header = R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})";
    for (const std::size_t length :
         {0x7bU, 0x280U, 0x480U}) { // like the beginning of JSON and of pickles
        const auto padded = header + std::string(length - header.size(), ' ');
        const auto bytes = safetensors(padded, "x");
        CHECK(stemma::detail::is_checkpoint(bytes, "file"));
        CHECK(read(bytes).entries().size() == 1);
    }
}

TEST_CASE("read_checkpoint: reads an archive of torch.save, whose tensors are views of storages") {
    const auto checkpoint = read(pickle_of(dict({{"w", floats({2, 2}, {2, 1})},
                                                 {"tied", floats({2, 2}, {2, 1})},
                                                 {"turned", floats({2, 2}, {1, 2})},
                                                 {"last", floats({1}, {7}, 3)}})));
    REQUIRE(checkpoint.entries().size() == 4);
    CHECK(checkpoint.entries()[0].is_contiguous());
    CHECK(checkpoint.bytes(checkpoint.entries()[0]) == four_floats);
    CHECK(checkpoint.entries()[1].alias_of == 0);
    CHECK(checkpoint.entries()[2].alias_of == 2);
    CHECK_FALSE(checkpoint.entries()[2].is_contiguous());
    CHECK(checkpoint.bytes(checkpoint.entries()[2]) ==
          four_floats.substr(0, 4) + four_floats.substr(8, 4) + four_floats.substr(4, 4) +
              four_floats.substr(12));
    CHECK(checkpoint.bytes(checkpoint.entries()[3]) == four_floats.substr(12));
}

TEST_CASE("read_checkpoint: finds the state dict in a training checkpoint") {
    const auto state = dict({{"w", floats({4}, {1})}});
    const auto other = dict({{"m", floats({2}, {1})}});
    for (const auto* key : {"state_dict", "model_state_dict", "model", "module", "net"}) {
        const auto checkpoint = read(pickle_of(dict(
            {{"epoch", integer(3)}, {"loss", floats({1}, {1})}, {key, state}, {"ema", other}})));
        REQUIRE(checkpoint.entries().size() == 1);
        CHECK(checkpoint.entries()[0].name == "w");
    }
    const auto nested = read(pickle_of(dict({{"model", dict({{"state_dict", state}})}})));
    CHECK(nested.entries()[0].name == "w");
    const auto flat = read(pickle_of(dict({{"a", state}, {"b", other}})));
    REQUIRE(flat.entries().size() == 2);
    CHECK(flat.entries()[0].name == "a.w");
    CHECK(flat.entries()[1].name == "b.m");
}

TEST_CASE("read_checkpoint: reads the modules listed in a state dict") {
    const auto none = call(global("collections", "OrderedDict"), {});
    const auto checkpoint = read(pickle_of(
        none + "(" + text("fc.weight") + floats({4}, {1}) + "u" +
        dict({{"_metadata", dict({{"", dict({})}, {"fc", dict({})}, {"act", dict({})}})}}) + "b"));
    REQUIRE(checkpoint.modules().size() == 3);
    CHECK(checkpoint.modules()[0].path.empty());
    CHECK(checkpoint.modules()[2].path == "act");
    CHECK(checkpoint.modules()[2].qualified_class.empty());
}

TEST_CASE("read_checkpoint: reads modules and tensors of a TorchScript archive") {
    const auto object = [](const std::string& name, const std::string& state) {
        return global("__torch__.zoo.___torch_mangle_12", name) + ")\x81" + state + "b";
    };
    const auto inner = object("Inner", dict({{"training", "\x88"}, {"w", floats({4}, {1})}}));
    const auto value = document(object("Outer", dict({{"fc", inner}, {"act", inner}})));
    const auto archive = zip({{"m/data.pkl", value},
                              {"m/data/0", four_floats},
                              {"m/code/__torch__/zoo.py", "packed", 8},
                              {"m/constants.pkl", "\x80\x02)."}});
    const auto checkpoint = read(archive);
    REQUIRE(checkpoint.entries().size() == 2);
    CHECK(checkpoint.entries()[0].name == "fc.w");
    CHECK(checkpoint.entries()[1].name == "act.w");
    CHECK(checkpoint.entries()[1].alias_of == 0);
    REQUIRE(checkpoint.modules().size() == 3);
    CHECK(checkpoint.modules()[0].qualified_class == "zoo.Outer");
    CHECK(checkpoint.modules()[1].path == "fc");
    CHECK(checkpoint.modules()[1].qualified_class == "zoo.Inner");
    // Outside TorchScript the same names are unknown classes.
    CHECK(why_refused(zip({{"m/data.pkl", value}, {"m/data/0", four_floats}})) ==
          "file: m/data.pkl: needs '__torch__.zoo.___torch_mangle_12.Outer', neither a "
          "tensor nor a container, and pickles are not executed: save model.state_dict()");
}

TEST_CASE("read_checkpoint: reads the index of several files next to it") {
    const test::scratch_folder folder;
    const auto one = R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
                     R"("stale":{"dtype":"U8","shape":[1],"data_offsets":[2,3]}})";
    static_cast<void>(folder.make("1.safetensors", safetensors(one, "xyz")));
    static_cast<void>(folder.make("2.bin", pickle_of(dict({{"b", floats({4}, {1})}}))));
    const auto index = folder.make(
        "model.safetensors.index.json",
        R"({"metadata":{"total_size":3},"weight_map":{"a":"1.safetensors","b":"2.bin"}})");
    const auto checkpoint = stemma::read_checkpoint(index);
    REQUIRE(checkpoint.entries().size() == 2);
    CHECK(checkpoint.bytes(*checkpoint.find("a")) == "xy");
    CHECK(checkpoint.bytes(*checkpoint.find("b")) == four_floats);
    CHECK(checkpoint.files().size() == 2);

    const auto refused = [&](const std::string& content) {
        const auto path = folder.make("bad.safetensors.index.json", content);
        const auto text = test::why_refused([&] { return stemma::read_checkpoint(path); });
        return text.substr(text.find(": ") + 2);
    };
    CHECK(refused(R"({"weight_map":{"a":"../1.safetensors"}})") ==
          "a: is in '../1.safetensors', which is not next to the index");
    CHECK(refused(R"({"weight_map":{"a":"/etc/passwd"}})") ==
          "a: is in '/etc/passwd', which is not next to the index");
    CHECK(refused(R"({"weight_map":{"a":".."}})") ==
          "a: is in '..', which is not next to the index");
    CHECK(refused(R"({"weight_map":{"c":"1.safetensors"}})") == "c: is not in '1.safetensors'");
    CHECK(refused(R"({"weight_map":{"a":["1.safetensors"]}})") ==
          "a: is a list rather than a file");
    CHECK(refused(R"({"weight_map":{}})") == "weight_map: names no files");
}

TEST_CASE("read_checkpoint: rejects inconsistent safetensors files") {
    const auto one = [](const std::string& tensor) {
        return why_refused(safetensors("{\"a\":" + tensor + "}", "12345678"));
    };
    CHECK(one(R"({"dtype":"F32","shape":[2],"data_offsets":[0,8]})").empty());
    CHECK(one(R"({"dtype":"F32","shape":[2],"data_offsets":[4,12]})") ==
          "file: a: its data lie outside the file");
    CHECK(one(R"({"dtype":"F32","shape":[2],"data_offsets":[8,0]})") ==
          "file: a: its data lie outside the file");
    CHECK(one(R"({"dtype":"F32","shape":[3],"data_offsets":[0,8]})") ==
          "file: a: has a size that does not match its shape");
    CHECK(one(R"({"dtype":"F32","shape":[4294967296,4294967296,2],"data_offsets":[0,8]})") ==
          "file: a: has a size that does not match its shape");
    CHECK(one(R"({"dtype":"F32","shape":[9223372036854775808],"data_offsets":[0,8]})") ==
          "file: a: has an impossible shape");
    CHECK(one(R"({"dtype":"F4","shape":[2],"data_offsets":[0,8]})") ==
          "file: a: has elements of unknown type 'F4'");
    CHECK(one(R"({"dtype":"F32","shape":[2]})") ==
          "file: a: lacks its type, shape or data_offsets");
    CHECK(one(R"({"dtype":"F32","shape":[-2],"data_offsets":[0,8]})") ==
          "file: shape: the header has unexpected contents");
    CHECK(one("5") == "file: a: the header has unexpected contents");
    CHECK(one("[") == "file: a: the header has unexpected contents");
    CHECK(one("") == "file: byte 6: the header is not JSON");
    CHECK(why_refused(safetensors(R"({"a":{"dtype":"U8","shape":[8],"data_offsets":[0,8]},)"
                                  R"("b":{"dtype":"U8","shape":[1],"data_offsets":[7,8]}})",
                                  "12345678")) == "file: b: overlaps 'a'");
    CHECK(why_refused(safetensors(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                                  R"("a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})",
                                  "12345678")) == "file: a: occurs twice");
    CHECK(why_refused(little(100, 8) + "{\"a\":{}}") ==
          "file: the header extends past the end of the file");
    CHECK(why_refused(safetensors(std::string(100'000, '['), "")).find("file: ") == 0);
}

TEST_CASE("read_checkpoint: empty tensors overlap nothing, wherever they are listed") {
    const std::string full = R"("a":{"dtype":"U8","shape":[8],"data_offsets":[0,8]})";
    const auto empty = [](const std::string& name, const std::string& at) {
        return "\"" + name + R"(":{"dtype":"U8","shape":[0],"data_offsets":[)" + at + "," + at +
               "]}";
    };
    const std::string data = "12345678";
    const auto first = empty("first", "0");
    const auto last = empty("last", "8");
    CHECK(read(safetensors("{" + full + "," + first + "," + last + "}", data)).entries().size() ==
          3);
    CHECK(read(safetensors("{" + last + "," + first + "," + full + "}", data)).entries().size() ==
          3);
    CHECK(why_refused(safetensors("{" + full + "," + empty("inside", "4") + "}", data)) ==
          "file: inside: overlaps 'a'");
}

TEST_CASE("read_checkpoint: rejects other files, and says what to do") {
    CHECK(why_refused("") == "file: is neither a safetensors file nor an archive of torch.save");
    CHECK(why_refused("\x80\x02\x8a\x0a") ==
          "file: is a pickle outside of an archive, as torch.save wrote it before 1.6: load it and "
          "save it again with torch.save");
    CHECK(why_refused(zip({{"a/readme", "x"}})) ==
          "file: is a zip archive without a data.pkl, which torch.save always writes");
    CHECK(why_refused("PK\3\4") == "file: is not a zip archive, or is damaged");
}

} // namespace test::checkpoint_read_checkpoint
