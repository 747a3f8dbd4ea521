// SPDX-License-Identifier: Apache-2.0
#include <stemma/fold/detail/tag_inlined.hpp>

#include "../../catch.hpp"
#include "../../scratch_folder.hpp"

#include <stemma/fold/unfold_file.hpp>
#include <stemma/onnx/carrier.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma/open/write_tagged.hpp>

#include <string>

namespace test::fold_detail_tag_inlined {

TEST_CASE("tag_inlined: what comes out of functions has the tags and carriers of the model") {
    const test::scratch_folder folder;
    const auto tagged = folder.file("tagged.onnx");
    const auto flat = folder.file("flat.onnx");
    const auto plain = std::string(STEMMA_TEST_DATA) + "/dialects/nested_functions.onnx";
    stemma::attributed_model source(plain, {});
    stemma::write_tagged(source, tagged, stemma::carriers_named("metadata"), {.sync = false});
    const auto report =
        stemma::unfold_file(tagged, flat, stemma::unfolded_names::as_before, {.sync = false});
    CHECK_FALSE(report.lost_tags);
    const stemma::attributed_model opened(flat, {});
    CHECK(opened.was_tagged());
    CHECK(opened.is_fresh());
    CHECK(opened.model().functions().empty());
    CHECK(opened.modules().size() == source.modules().size());
    for (stemma::id node = 0; node < opened.model().node_count(); ++node) {
        const auto carriers = stemma::detail::read_carried_tags(opened.model(), node);
        REQUIRE(carriers.module);
        CHECK(opened.modules().path(opened.tags().attributions[node].module) == *carriers.module);
    }
}

} // namespace test::fold_detail_tag_inlined
