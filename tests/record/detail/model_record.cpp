// SPDX-License-Identifier: Apache-2.0
#include <stemma/record/detail/model_record.hpp>

#include "../../catch.hpp"
#include "../../model_files.hpp"
#include "../../random_numbers.hpp"

#include <stemma/core/id.hpp>
#include <stemma/error.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/module_tree_builder.hpp>
#include <stemma/record/detail/recorded_claims.hpp>

#include <nlohmann/json.hpp>

#include <range/v3/algorithm/equal.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace test::record_detail_model_record {

namespace {

using nlohmann::json;
using stemma::id;
using stemma::module_tree;
using stemma::detail::recorded_model;

/// A tree with everything a tree can contain, including hostile names.
module_tree random_tree(test::random_numbers& random) {
    static const std::vector<std::string> names{
        "layer", "0", "1", "a b", "\"quoted\"", "back\\slash", "sl/ash", "é", "\n", "", "a: b"};
    stemma::module_tree_builder builder(names[random(names.size())]);
    for (auto i = random(30); i > 0; --i) {
        builder.child(static_cast<id>(random(builder.size())), names[random(names.size())]);
    }
    const auto count = static_cast<id>(builder.size());
    for (id m = 0; m < count; ++m) {
        if (!random.one_in(3)) {
            const auto name = names[random(names.size())];
            builder.set_class(m, name.empty() ? "Net" : name,
                              random.one_in(2) ? "" : "pkg." + name);
        }
        if (random.one_in(2)) {
            builder.set_calls(m, static_cast<id>(random(5)));
        }
        for (auto i = random(3); i > 0; --i) {
            const std::vector<std::int64_t> shape(random(4),
                                                  static_cast<std::int64_t>(random(9)) - 1);
            const stemma::tensor_info tensor{names[random(names.size())],
                                             random.one_in(3) ? "" : "float32", shape,
                                             random.one_in(2)};
            random.one_in(3) ? builder.add_buffer(m, tensor) : builder.add_parameter(m, tensor);
        }
    }
    auto built = builder.build();
    for (auto i = random(3); i > 0; --i) {
        builder.add_alias("alias." + names[random(names.size())], static_cast<id>(random(count)));
        builder.add_shared_parameters({"a.weight", names[random(names.size())]});
    }
    return random.one_in(2) ? built : builder.build();
}

bool same_tensor(const stemma::tensor_info& a, const stemma::tensor_info& b) {
    return a.name == b.name && a.dtype == b.dtype && ranges::equal(a.shape, b.shape) &&
           a.trainable == b.trainable;
}

void check_same_tree(const module_tree& a, const module_tree& b) {
    REQUIRE(a.size() == b.size());
    for (id m = 0; m < a.size(); ++m) {
        CHECK(a.index().parent(m) == b.index().parent(m));
        CHECK(a.name(m) == b.name(m));
        CHECK(a.class_name(m) == b.class_name(m));
        CHECK(a.qualified_class(m) == b.qualified_class(m));
        CHECK(a.calls(m) == b.calls(m));
        REQUIRE(a.parameter_count(m) == b.parameter_count(m));
        for (std::size_t i = 0; i < a.parameter_count(m); ++i) {
            CHECK(same_tensor(a.parameter(m, i), b.parameter(m, i)));
        }
        REQUIRE(a.buffer_count(m) == b.buffer_count(m));
        for (std::size_t i = 0; i < a.buffer_count(m); ++i) {
            CHECK(same_tensor(a.buffer(m, i), b.buffer(m, i)));
        }
    }
    REQUIRE(a.aliases().size() == b.aliases().size());
    for (std::size_t i = 0; i < a.aliases().size(); ++i) {
        CHECK(a.aliases()[i].path == b.aliases()[i].path);
        CHECK(a.aliases()[i].module == b.aliases()[i].module);
    }
    CHECK(ranges::equal(a.shared_parameters(), b.shared_parameters()));
}

void check_round_trip(const recorded_model& record) {
    const auto text = stemma::detail::to_json(record, record.modules);
    CHECK(text.find('\n') == text.npos);
    CHECK(json::accept(text));
    const auto read = stemma::detail::read_model_record(text, "file");
    CHECK(read.carriers == record.carriers);
    CHECK(read.options == record.options);
    CHECK(read.nodes == record.nodes);
    CHECK(read.digest == record.digest);
    CHECK(read.names == record.names);
    CHECK(read.node_names == record.node_names);
    CHECK(read.from_model == record.from_model);
    CHECK(read.claims.size() == record.claims.size());
    check_same_tree(read.modules, record.modules);
    CHECK(stemma::detail::to_json(read, read.modules) == text);
}

/// Whether a record is read, or rejected as malformed; anything else fails the test.
bool is_read(const std::string& text) {
    try {
        const auto record = stemma::detail::read_model_record(text, "file");
        CHECK(record.modules.size() >= 1);
        for (id m = 0; m < record.modules.size(); ++m) {
            CHECK(record.modules.path(m).size() == record.modules.path_length(m));
        }
        static_cast<void>(stemma::detail::to_json(record, record.modules));
        return true;
    } catch (const stemma::error& refusal) {
        CHECK(refusal.code() == stemma::error_code::malformed);
        CHECK(std::string_view(refusal.what()).starts_with("file: "));
        return false;
    }
}

json small_record() {
    test::random_numbers random(4);
    recorded_model record;
    record.options = {{"select", "all"}};
    record.modules = random_tree(random);
    while (record.modules.size() < 5 || record.modules.aliases().empty()) {
        record.modules = random_tree(random);
    }
    return json::parse(stemma::detail::to_json(record, record.modules));
}

} // namespace

TEST_CASE("model_record: round-trips through JSON") {
    test::random_numbers random(1);
    for (unsigned i = 0; i < 200; ++i) {
        CAPTURE(i);
        recorded_model record;
        record.carriers = {(i & 1U) != 0, (i & 2U) != 0, (i & 4U) != 0, (i & 8U) != 0,
                           (i & 16U) != 0};
        record.options = {{"select", "depth:3"}, {"keep", "a,\"b\""}, {"min-confidence", "0.5"}};
        record.nodes = i == 0 ? 0 : 0xffff'fffeU - i;
        record.digest = random.next() >> (i % 64);
        if (random.one_in(2)) {
            record.names = random.next();
            record.node_names = random.next();
        }
        record.from_model = random.one_in(2);
        record.modules = random_tree(random);
        if (random.one_in(2)) {
            stemma::detail::claim_runs claims{stemma::provenance::fx, {{record.nodes / 2, {}}}};
            stemma::claim claim{0, stemma::no_id, 0.5F, stemma::provenance::fx};
            claims.runs.push_back({record.nodes - record.nodes / 2, claim});
            record.claims.push_back(claims);
        }
        check_round_trip(record);
    }
    check_round_trip({});
}

TEST_CASE("model_record: fits the graph that it describes, whose names count if known") {
    recorded_model record;
    record.describe(3, {7, 8, 9});
    CHECK(record.fits(3, {7, 8, 9}));
    CHECK_FALSE(record.fits(4, {7, 8, 9}));
    CHECK_FALSE(record.fits(3, {6, 8, 9}));
    CHECK_FALSE(record.fits(3, {7, 9, 9}));
    CHECK_FALSE(record.fits(3, {7, 8, 8}));
    record.node_names.reset();
    CHECK(record.fits(3, {7, 8, 8}));
    record.names.reset();
    CHECK(record.fits(3, {7, 9, 8}));
    CHECK_FALSE(record.fits(3, {6, 9, 8}));
}

TEST_CASE("model_record: the trees of all captures round-trip through JSON") {
    for (const auto& path : test::capture_files()) {
        CAPTURE(path);
        recorded_model record;
        record.modules = test::read_capture(path);
        check_round_trip(record);
    }
}

TEST_CASE("model_record: anything else is an error") {
    for (const auto* text :
         {"", "{", "null", "[]", "7", "\"text\"", "{}", "{\"modules\": []}", "{\"modules\": 3}",
          "{\"modules\": [[]]}", "{\"modules\": [1]}", "{\"modules\": {\"a\": 1}}",
          "{\"modules\": [[null, 5]]}",
          "{\"modules\": [[null, \"\", null, null, null]], \"nodes\": -1}",
          "{\"schema\": \"other/1\", \"modules\": [[null, \"\", null, null, null]]}", "\xff\xfe",
          "{\"modules\": [[null, \"\", 3, 3, null]]}"}) {
        CAPTURE(text);
        CHECK_FALSE(is_read(text));
    }
    CHECK(is_read("{\"modules\": [[null, \"\", null, null, null]]}"));
}

TEST_CASE("model_record: modules must have earlier parents") {
    const auto with = [](const char* modules) {
        return "{\"classes\": [\"A\"], \"modules\": [[null, \"\", 0, 0, 1]" + std::string(modules) +
               "]}";
    };
    CHECK(is_read(with(", [0, \"a\", null, null, null], [1, \"b\", 0, 0, 2]")));
    CHECK_FALSE(is_read(with(", [1, \"a\", null, null, null]"))); // its own parent
    CHECK_FALSE(is_read(with(", [2, \"a\", null, null, null], [0, \"b\", null, null, null]")));
    CHECK_FALSE(is_read(with(", [null, \"a\", null, null, null]"))); // two roots
    CHECK_FALSE(is_read(with(", [0, \"a\", null, null, null], [0, \"a\", null, null, null]")));
    CHECK_FALSE(is_read(with(", [4294967295, \"a\", null, null, null]")));
    CHECK_FALSE(is_read(with(", [-1, \"a\", null, null, null]")));
    CHECK_FALSE(is_read(with(", [0.5, \"a\", null, null, null]")));
    CHECK_FALSE(is_read(with(", [0, \"a\", 1, 0, null]"))); // no such class
    CHECK_FALSE(is_read(with("], \"aliases\": [[\"a\", 1]")));
    CHECK(is_read(with("], \"aliases\": [[\"a\", 0]")));
}

TEST_CASE("model_record: tables of claims are limited, as a short one is about all nodes") {
    const auto with = [](std::size_t tables) {
        std::string captured;
        for (std::size_t i = 0; i < tables; ++i) {
            captured.append(i == 0 ? "" : ", ");
            captured.append(R"({"source": "trace", "runs": [[20000]]})");
        }
        return R"({"nodes": 20000, "modules": [[null, "", null, null, null]], "captured": [)" +
               captured + "]}";
    };
    CHECK(is_read(with(stemma::detail::max_claim_tables)));
    CHECK_FALSE(is_read(with(stemma::detail::max_claim_tables + 1)));
    CHECK_FALSE(is_read(with(1000)));
}

TEST_CASE("model_record: reads or rejects junk in any place") {
    const auto valid = small_record();
    REQUIRE(is_read(valid.dump()));
    const std::vector<json> junk{nullptr,
                                 true,
                                 -1,
                                 7,
                                 1e300,
                                 0xffff'ffffU,
                                 ~std::uint64_t{0},
                                 std::int64_t{-1} << 62U,
                                 "",
                                 "text",
                                 json::array(),
                                 json::object(),
                                 json::array({1, "a", nullptr}),
                                 json::object({{"a", 1}})};
    const auto flat = valid.flatten();
    for (const auto& [pointer, value] : flat.items()) {
        auto at = json::json_pointer(pointer);
        for (; !at.empty(); at = at.parent_pointer()) {
            for (const auto& replacement : junk) {
                auto damaged = valid;
                damaged[at] = replacement;
                static_cast<void>(is_read(damaged.dump()));
            }
        }
    }
}

TEST_CASE("model_record: reads or rejects damaged text") {
    test::random_numbers random(9);
    const auto valid = small_record().dump();
    std::size_t refused = 0;
    for (int i = 0; i < 2000; ++i) {
        auto text = valid;
        for (auto hits = 1 + random(3); hits > 0; --hits) {
            text[random(text.size())] = static_cast<char>(random(256));
        }
        refused += is_read(text) ? 0U : 1U;
    }
    CHECK(refused > 0);
    for (std::size_t cut = 0; cut < valid.size(); ++cut) {
        CHECK_FALSE(is_read(valid.substr(0, cut)));
    }
}

TEST_CASE("model_record: an option not chosen is empty") {
    stemma::detail::model_record record;
    record.options["naming"] = "module-paths";
    CHECK(record.option("naming") == "module-paths");
    CHECK(record.option("select").empty());
}

} // namespace test::record_detail_model_record
