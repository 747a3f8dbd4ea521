// SPDX-License-Identifier: Apache-2.0
#include <stemma/fold/detail/inlined_names.hpp>

#include "../../catch.hpp"
#include "../../model_files.hpp"
#include "../../scratch_folder.hpp"

#include <stemma/capture/captures.hpp>
#include <stemma/fold/detail/function_inliner.hpp>
#include <stemma/onnx/detail/splices.hpp>
#include <stemma/open/attributed_model.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace test::fold_detail_inlined_names {

using stemma::id;

namespace {

/// A model, and its form without functions in a temporary file.
struct unfolded {
    explicit unfolded(const std::string& path, stemma::attribution_options options = {})
        : before(path, std::move(options)) {
        stemma::detail::function_inliner inliner(
            before.model(),
            stemma::detail::inlined_names(before.model(), before.modules(),
                                          before.tags().attributions, before.calls()));
        stemma::detail::string_splice splice(before.model().bytes());
        inliner.build().write(splice);
        attributions = inliner.attributions();
        file = folder.make("unfolded.onnx", splice.text);
    }

    test::scratch_folder folder;
    stemma::attributed_model before;
    std::vector<stemma::attribution> attributions;
    std::string file;
};

std::set<std::string> paths_of(const stemma::module_tree& modules) {
    std::set<std::string> paths;
    for (id m = 0; m < modules.size(); ++m) {
        paths.emplace(modules.path(m));
    }
    return paths;
}

} // namespace

TEST_CASE(
    "inlined_names: without functions a model has the modules that it had, and each node that "
    "came out of a call is in that of the call") {
    std::size_t opened = 0;
    for (const auto& path : test::model_files()) {
        const auto bytes = test::read_bytes(path);
        if (stemma::wire_model(bytes).functions().empty()) {
            continue;
        }
        CAPTURE(path);
        const unfolded inlining(path);
        const stemma::attributed_model after(inlining.file, {});
        const auto& modules = inlining.before.modules();
        CHECK(paths_of(after.modules()) == paths_of(modules));
        REQUIRE(inlining.attributions.size() == after.model().node_count());
        for (id node = 0; node < after.model().node_count(); ++node) {
            const auto& one = inlining.attributions[node];
            if (one.source <= stemma::provenance::scope) { // named, or named by the call
                CAPTURE(after.model().name(node));
                CHECK(after.modules().path(after.tags().attributions[node].module) ==
                      modules.path(one.module));
            }
        }
        ++opened;
    }
    CHECK(opened > 5);
}

TEST_CASE("inlined_names: nodes are named after their modules, and each name once") {
    const unfolded inlining(STEMMA_TEST_DATA "/dialects/modular_functions.onnx");
    const auto bytes = test::read_bytes(inlining.file);
    const stemma::wire_model after(bytes);
    std::set<std::string> names;
    for (id node = 0; node < after.node_count(); ++node) {
        names.emplace(after.name(node));
    }
    CHECK(names.size() == after.node_count());
    CHECK(std::count_if(names.begin(), names.end(), [](const std::string& name) {
              return name.starts_with("encoder/layer.0/attention/self/query/Gemm_node_");
          }) == 1);
    CHECK(std::none_of(names.begin(), names.end(),
                       [](const std::string& name) { return name.find("aten") != name.npos; }));
}

TEST_CASE("inlined_names: attributions from a capture hold after inlining") {
    const std::string folder = STEMMA_TEST_DATA "/fixtures/bert_micro/";
    stemma::attribution_options options;
    options.captures = stemma::captures({folder + "modules.json"});
    const unfolded inlining(folder + "model.functions.onnx", options);
    const stemma::attributed_model after(inlining.file, options);
    REQUIRE(inlining.attributions.size() == after.model().node_count());
    std::size_t same = 0;
    for (id node = 0; node < after.model().node_count(); ++node) {
        same +=
            after.tags().attributions[node].module == inlining.attributions[node].module ? 1U : 0U;
    }
    CHECK(same == after.model().node_count());
}

} // namespace test::fold_detail_inlined_names
