// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/opset_texts.hpp>

#include "../../catch.hpp"

#include <cstdint>
#include <limits>
#include <string>

namespace test::onnx_detail_opset_texts {

namespace {

stemma::detail::wire_reader reader(const std::string& bytes) {
    return {bytes.data(), 0, static_cast<std::uint32_t>(bytes.size()), "import"};
}

} // namespace

TEST_CASE("opset_texts: round-trip") {
    for (const auto* domain : {"", "com.microsoft", "a.domain"}) {
        for (const std::int64_t version :
             {std::int64_t{0}, std::int64_t{1}, std::int64_t{21}, std::int64_t{1} << 40U,
              std::int64_t{-1}, std::numeric_limits<std::int64_t>::max()}) {
            const auto text = stemma::detail::opset_import_text({domain, version});
            const auto import = stemma::detail::read_opset_import(reader(text));
            CHECK(import.domain == domain);
            CHECK(import.version == version);
        }
    }
}

TEST_CASE("opset_texts: the standard domain is , and fields may be missing") {
    const auto text = stemma::detail::opset_import_text({"ai.onnx", 17});
    CHECK(stemma::detail::read_opset_import(reader(text)).domain.empty());
    CHECK(stemma::detail::read_opset_import(reader(text)).version == 17);
    CHECK(stemma::detail::read_opset_import(reader({})).version == 0);
}

} // namespace test::onnx_detail_opset_texts
