// SPDX-License-Identifier: Apache-2.0
#include <stemma/record/detail/tag_texts.hpp>

#include "../../catch.hpp"
#include "../../model_files.hpp"
#include "../../tagged_bytes.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace test::record_detail_tag_texts {

TEST_CASE("tag_texts: match the table, in text and in JSON", "[tag_texts]") {
    for (const auto* name : {"bert_micro", "control_flow", "shared_twice"}) {
        const auto bytes = test::read_bytes(test::fixture(std::string(name) + "/model.onnx"));
        const auto tree = test::read_capture(test::fixture(std::string(name) + "/modules.json"));
        const test::tagged_model tagged(bytes, &tree);
        stemma::detail::tag_texts texts(tagged.modules, tagged.found);
        for (stemma::id node = 0; node < tagged.model.node_count(); ++node) {
            const auto module = tagged.found.attributions[node].module;
            const auto said = texts.of_operator(node);
            CHECK(said.tag == tagged.found.tags.text(module));
            CHECK(said.module == tagged.modules.path(module));
            const auto set = tagged.found.tag_sets[node];
            const auto count = tagged.found.pool.size_of(set);
            CHECK(said.all.size() == (count > 1 ? count : 0));
            CHECK(said.all_as_json.empty() == said.all.empty());
            if (!said.all.empty()) {
                const std::vector<std::string> all(said.all.begin(), said.all.end());
                CHECK(nlohmann::json::parse(said.all_as_json).get<std::vector<std::string>>() ==
                      all);
            }
            CHECK(nlohmann::json::parse(texts.as_json(set, tagged.found.pool)).size() == count);
        }
    }
}

} // namespace test::record_detail_tag_texts
