// SPDX-License-Identifier: Apache-2.0
#include <stemma/record/detail/tag_texts.hpp>

#include "../../catch.hpp"
#include "../../random_numbers.hpp"
#include "../../tagged_bytes.hpp"
#include "../../tagged_fixture.hpp"

#include <stemma/core/id.hpp>

#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace test::record_detail_tag_texts {

TEST_CASE("tag_texts: match the table, in text and in JSON") {
    for (const auto* name : {"bert_micro", "control_flow", "shared_twice"}) {
        const test::tagged_fixture tagged(name);
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

using stemma::id;
using stemma::no_id;

TEST_CASE("lineage_text: agrees with spelling each text separately, in any order") {
    test::random_numbers random(4);
    for (int round = 0; round < 100; ++round) {
        std::vector<id> parent{no_id};
        std::vector<std::string> whole{"root"};
        for (id m = 1; m < 60; ++m) {
            parent.push_back(static_cast<id>(random(m)));
            whole.push_back(whole[parent[m]] + "/" + std::to_string(m));
        }
        stemma::detail::lineage_text text;
        for (int i = 0; i < 300; ++i) {
            const auto m = static_cast<id>(random(parent.size()));
            const auto spelled = text.spell(
                m, [&](id below) { return parent[below]; },
                [&](id part, std::size_t level, std::string& out) {
                    CHECK((level == 0) == (part == 0));
                    out += part == 0 ? "root" : "/" + std::to_string(part);
                });
            REQUIRE(spelled == whole[m]);
        }
    }
}

} // namespace test::record_detail_tag_texts
