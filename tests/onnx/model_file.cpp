// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/model_file.hpp>

#include "../catch.hpp"
#include "../model_files.hpp"

#include <stemma/error.hpp>
#include <stemma/io/mapped_file.hpp>

#include <string>

namespace test::onnx_model_file {

TEST_CASE("model_file: a file on disk and its bytes contain the same model") {
    const auto path = test::fixture("mlp/model.onnx");
    const stemma::model_file on_disk(path);
    const stemma::model_file in_memory(
        stemma::mapped_file::holding(std::string(on_disk.file().bytes()), "mlp"));
    CHECK(on_disk.file().path() == path);
    CHECK(in_memory.file().path() == "mlp");
    CHECK(on_disk.model().node_count() == in_memory.model().node_count());
    CHECK(on_disk.model().node_count() > 0);
}

TEST_CASE("model_file: rejects anything but a model") {
    CHECK_THROWS_AS(stemma::model_file("/no such file"), stemma::error);
    CHECK_THROWS_AS(stemma::model_file(stemma::mapped_file::holding("{}", "text")), stemma::error);
}

} // namespace test::onnx_model_file
