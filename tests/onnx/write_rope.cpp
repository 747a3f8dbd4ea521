// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/write_rope.hpp>

#include "../catch.hpp"
#include "../model_files.hpp"
#include "../refusal.hpp"
#include "../scratch_folder.hpp"

#include <stemma/error.hpp>
#include <stemma/io/mapped_file.hpp>
#include <stemma/onnx/detail/message_tree.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <cstdint>
#include <string>

namespace test::onnx_write_rope {

TEST_CASE("write_rope: writes what rope_bytes returns") {
    const stemma::mapped_file file(test::fixture("mlp/model.onnx"));
    const stemma::wire_model model(file.bytes(), file.path());
    stemma::detail::message_tree rope;
    rope.add_range(0, 100);
    rope.add_text("between");
    rope.add_range(200, file.bytes().size() - 200);
    const test::scratch_folder folder;
    stemma::write_rope(rope, file, model, folder.file("made"), {.sync = false});
    const auto bytes = stemma::detail::rope_bytes(rope, file);
    CHECK(test::read_bytes(folder.file("made")) == bytes);
    CHECK(bytes == std::string(file.bytes().substr(0, 100)) + "between" +
                       std::string(file.bytes().substr(200)));
    CHECK(folder.file_count() == 1);
}

TEST_CASE("write_rope: rejects what protobuf could not read, and leaves nothing") {
    const stemma::mapped_file file(test::fixture("mlp/model.onnx"));
    const stemma::wire_model model(file.bytes(), file.path());
    stemma::detail::message_tree rope;
    rope.add_range(0, std::uint64_t{1} << 31U); // only its size is used
    const test::scratch_folder folder;
    const auto write = [&] { stemma::write_rope(rope, file, model, folder.file("made")); };
    CHECK(test::refusal(write).code() == stemma::error_code::too_large);
    CHECK(test::refusal([&] { return stemma::detail::rope_bytes(rope, file); }).code() ==
          stemma::error_code::too_large);
    CHECK(folder.file_count() == 0);
}

} // namespace test::onnx_write_rope
