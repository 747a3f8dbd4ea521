// SPDX-License-Identifier: Apache-2.0
#include <stemma/fold/detail/inlined_model.hpp>

#include "../../catch.hpp"
#include "../../model_files.hpp"
#include "../../scratch_folder.hpp"

#include <string>

namespace test::fold_detail_inlined_model {

TEST_CASE("inlined_model: no functions are left, and every node has a module",
          "[onnx][inlined_model]") {
    const auto path = test::fixture("bert_micro/model.functions.onnx");
    stemma::attributed_model opened(path, {});
    REQUIRE_FALSE(opened.model().functions().empty());
    const test::scratch_folder folder;
    std::string bytes;
    for (const auto& output : {std::string(), folder.file("out.onnx")}) {
        {
            const stemma::detail::inlined_model inlined(opened, output);
            CHECK(inlined.model().functions().empty());
            CHECK(inlined.attributions().size() == inlined.model().node_count());
            for (const auto& a : inlined.attributions()) {
                CHECK(a.module < opened.modules().size());
            }
            CHECK((bytes.empty() || bytes == inlined.file().bytes()));
            bytes = inlined.file().bytes();
            CHECK(folder.file_count() == (output.empty() ? 0 : 1));
        }
        CHECK(folder.file_count() == 0);
    }
}

} // namespace test::fold_detail_inlined_model
