// SPDX-License-Identifier: Apache-2.0
#include <stemma/fold/detail/inlined_model.hpp>

#include "../../catch.hpp"
#include "../../find_in_model.hpp"
#include "../../model_files.hpp"
#include "../../scratch_folder.hpp"
#include "../../wire_builder.hpp"

#include <stemma/fold/unfold_file.hpp>
#include <stemma/onnx/carrier.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma/open/write_tagged.hpp>

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

TEST_CASE("tag_inlined: what comes out of functions has the tags and carriers of the model") {
    const test::scratch_folder folder;
    const auto tagged = folder.file("tagged.onnx");
    const auto flat = folder.file("flat.onnx");
    const auto plain = std::string(STEMMA_TEST_DATA) + "/dialects/nested_functions.onnx";
    stemma::attributed_model source(plain, {});
    stemma::write_tagged(source, tagged, stemma::carrier_set::named("metadata"), {.sync = false});
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

TEST_CASE("tag_inlined: what only functions told is kept, also when tagged again") {
    const test::scratch_folder folder;
    const auto bytes = test::model(test::graph({test::node("app_Net_net_1", {"x", "net.fc.weight"},
                                                           {"h"}, "net_1", "pkg.app"),
                                                test::node("Softmax", {"h"}, {"y"}, "sm")},
                                               {"x"}, {"y"}, {"net.fc.weight"}))
                           .inner(25, test::function("pkg.app", "app_Net_net_1", {"x", "w"}, {"y"},
                                                     {test::node("MatMul", {"x", "w"}, {"m"}, "mm"),
                                                      test::node("Relu", {"m"}, {"y"}, "relu")}))
                           .bytes();
    const auto flat = folder.file("flat.onnx");
    stemma::write_tagged(stemma::attributed_model(folder.make("model.onnx", bytes), {}),
                         folder.file("tagged.onnx"), stemma::carrier_set::named("metadata,mark"),
                         {.sync = false});
    stemma::unfold_file(folder.file("tagged.onnx"), flat, stemma::unfolded_names::as_before,
                        {.sync = false});
    const stemma::attributed_model read(flat, {});
    stemma::attribution_options again;
    again.retag = true;
    const stemma::attributed_model opened(flat, again);
    const auto softmax = test::node_called(read.model(), "sm");
    CHECK(read.tags().attributions[softmax].module == 0);
    CHECK(read.tags().attributions[softmax] == opened.tags().attributions[softmax]);
    for (stemma::id node = 0; node < read.model().node_count(); ++node) {
        CHECK(read.tags().attributions[node].module == opened.tags().attributions[node].module);
    }
}

} // namespace test::fold_detail_inlined_model
