// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/tensor_size.hpp>

#include "../../catch.hpp"
#include "../../model_files.hpp"

#include <stemma/io/mapped_file.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace test::onnx_detail_tensor_size {

namespace {

stemma::tensor_header of(std::int64_t data_type, std::vector<std::int64_t> dims) {
    stemma::tensor_header header;
    header.data_type = data_type;
    header.dims = std::move(dims);
    return header;
}

} // namespace

TEST_CASE("tensor_size: bits agree with type names") {
    for (std::int64_t type = 1; type < 27; ++type) {
        const std::string name(stemma::data_type_name(type));
        const auto digits = name.find_first_of("0123456789");
        if (digits != name.npos) {
            INFO(name);
            CHECK(stemma::detail::bits_of_type(type) == std::stoul(name.substr(digits)));
        }
    }
    CHECK(stemma::detail::bits_of_type(9) == 8);
    CHECK(stemma::detail::bits_of_type(0) == 0);
    CHECK(stemma::detail::bits_of_type(-1) == 0);
    CHECK(stemma::detail::bits_of_type(27) == 0);
}

TEST_CASE("tensor_size: elements count by dims, packed") {
    CHECK(stemma::detail::data_size(of(1, {})) == 4U);
    CHECK(stemma::detail::data_size(of(1, {2, 3})) == 24U);
    CHECK(stemma::detail::data_size(of(1, {2, 0})) == 0U);
    CHECK(stemma::detail::data_size(of(22, {3})) == 2U);
    CHECK_FALSE(stemma::detail::data_size(of(8, {3})));
    CHECK_FALSE(stemma::detail::data_size(of(1, {-1})));
    CHECK_FALSE(stemma::detail::data_size(of(1, {1LL << 62, 1})));
    CHECK_FALSE(stemma::detail::data_size(of(1, {1LL << 32, 1LL << 32})));
}

TEST_CASE("external_size: as declared, else by type and dims") {
    stemma::tensor_header header{.dims = {3}, .data_type = 1};
    CHECK(stemma::detail::external_size(header) == 12U);
    header.length = 8;
    CHECK(stemma::detail::external_size(header) == 8U);
    CHECK_FALSE(stemma::detail::external_size({.dims = {3}, .data_type = 8}));
}

TEST_CASE("tensor_size: matches the raw data of exported models") {
    std::size_t checked = 0;
    for (const auto& path : test::model_files()) {
        const stemma::mapped_file file(path);
        const stemma::wire_model model(file.bytes(), path);
        for (const auto& tensor : model.tensors()) {
            auto fields = model.reader(tensor.message);
            for (stemma::detail::wire_field field; fields.next(field);) {
                if (field.is_bytes(stemma::detail::onnx_fields::tensor::raw_data)) {
                    CHECK(stemma::detail::data_size(stemma::read_tensor_header(model, tensor)) ==
                          std::uint64_t{field.size()});
                    ++checked;
                }
            }
        }
    }
    CHECK(checked > 0);
}

} // namespace test::onnx_detail_tensor_size
