// SPDX-License-Identifier: Apache-2.0
#include <stemma/fold/detail/fold_record.hpp>

#include "../../catch.hpp"
#include "../../random_numbers.hpp"

#include <stemma/io/json_text.hpp>

#include <string>

namespace test::fold_detail_fold_record {

TEST_CASE("find_change: turns the expected text into the actual one, in whole characters") {
    test::random_numbers random(11);
    const auto text = [&] {
        std::string letters;
        for (auto parts = random(6); parts > 0; --parts) {
            static const char* const some[] = {"a", "ab", "é", "è", "漢", "/layer.", "1"};
            letters += some[random(7)];
        }
        return letters;
    };
    for (int round = 0; round < 2000; ++round) {
        const auto expected = text();
        const auto actual = text();
        const auto change = stemma::detail::find_change(expected, actual);
        CHECK(stemma::detail::apply_change(change, expected) == actual);
        CHECK(stemma::detail::is_utf8(change.middle));
        CHECK((expected != actual || change.middle.empty()));
    }
    CHECK(stemma::detail::find_change("/layer.0/Add", "/layer.1/Add").middle == "1");
}

TEST_CASE("apply_change: rejects a change that does not apply") {
    CHECK_FALSE(stemma::detail::apply_change({0, 0, 3, 2, "x"}, "four"));
    CHECK_FALSE(stemma::detail::apply_change({0, 0, 0xffff'ffffU, 2, "x"}, "four"));
}

TEST_CASE("fold_record: round-trips through JSON") {
    stemma::detail::fold_record record;
    record.lifted = true;
    record.ir_version = 6;
    record.functions = {{"net", "Layer"}, {"net", "Layer.1"}};
    record.domains = {"net"};
    record.nodes = 9;
    record.layout = {{0, 0, 4}, {1, 7, 5}};
    record.order = {{5, 4}, {0, 5}};
    record.infos = {{0, 6, std::string("\0\xff\x6a", 3)}, {1, 0, "more"}};
    record.changes = {{0, 2, 0, 1, "é\"\\"}, {0, 3, 0, 0, ""}, {8, 0, 1, 2, "x"}};
    record.bodies.resize(2);
    record.bodies[0].nodes = 3;
    record.bodies[0].order = {{1, 2}, {0, 1}};
    record.bodies[1].nodes = 4;
    record.bodies[1].layout = {{0, 1, 2}, {0, 2, 2}};
    record.bodies[1].infos = {{0, 0, "i"}};
    record.bodies[1].changes = {{2, 0, 0, 0, "a"}, {3, 1, 1, 1, "b"}};
    const auto text = stemma::detail::to_json(record);
    CHECK(text.find('\n') == text.npos);
    const auto back = stemma::detail::read_fold_record(text, "file");
    CHECK(back.lifted);
    CHECK(back.ir_version == record.ir_version);
    CHECK(back.functions == record.functions);
    CHECK(back.domains == record.domains);
    CHECK(back.nodes == 9);
    CHECK(back.layout == record.layout);
    CHECK(back.order == record.order);
    CHECK(back.infos == record.infos);
    CHECK(back.changes == record.changes);
    CHECK(back.bodies == record.bodies);
    const auto plain = stemma::detail::read_fold_record(
        stemma::detail::to_json(stemma::detail::fold_record{}), "file");
    CHECK_FALSE(plain.lifted);
    CHECK(plain.order.empty());
}

TEST_CASE("read_fold_record: rejects malformed records") {
    for (const char* text : {"",
                             "[]",
                             "{}",
                             R"({"schema": "stemma.fold/2"})",
                             R"({"schema": "stemma.fold/1", "nodes": -1})",
                             R"({"schema": "stemma.fold/1", "nodes": 99999999999})",
                             R"({"schema": "stemma.fold/1", "functions": [["a"]]})",
                             R"({"schema": "stemma.fold/1", "functions": [1]})",
                             R"({"schema": "stemma.fold/1", "domains": [1]})",
                             R"({"schema": "stemma.fold/1", "layout": [[1, 2]]})",
                             R"({"schema": "stemma.fold/1", "order": "1"})",
                             R"({"schema": "stemma.fold/1", "order": "-1 1"})",
                             R"({"schema": "stemma.fold/1", "order": "0 0"})",
                             R"({"schema": "stemma.fold/1", "order": "0 1 x"})",
                             R"({"schema": "stemma.fold/1", "order": 3})",
                             R"({"schema": "stemma.fold/1", "ir_version": "8"})",
                             R"({"schema": "stemma.fold/1", "infos": [[0, 0]]})",
                             R"({"schema": "stemma.fold/1", "infos": [[0, 0, "?"]]})",
                             R"({"schema": "stemma.fold/1", "texts": [[0, 0, 0, 0, 0]]})",
                             R"({"schema": "stemma.fold/1", "texts": [[0, 0, 0, "x"]]})",
                             R"({"schema": "stemma.fold/1", "bodies": [1]})",
                             R"({"schema": "stemma.fold/1", "bodies": [{"nodes": "1"}]})",
                             R"({"schema": "stemma.fold/1", "bodies": [{"order": "1"}]})",
                             R"({"schema": "stemma.fold/1", "bodies": [{"layout": [[1]]}]})"}) {
        CAPTURE(text);
        CHECK_THROWS_AS(stemma::detail::read_fold_record(text, "file"), stemma::error);
    }
}

} // namespace test::fold_detail_fold_record
