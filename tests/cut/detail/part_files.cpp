// SPDX-License-Identifier: Apache-2.0
#include <stemma/cut/detail/part_files.hpp>

#include "../../catch.hpp"
#include "../../refusal.hpp"
#include "../../scratch_folder.hpp"

#include <stemma/error.hpp>
#include <stemma/model/module_tree_builder.hpp>
#include <stemma/tagging/name_modules.hpp>

#include <set>
#include <string>
#include <vector>

namespace test::cut_detail_part_files {

using stemma::detail::as_file_name;

TEST_CASE("as_file_name: plain characters, at most 180, neither hidden nor climbing") {
    CHECK(as_file_name("/BertModel/BertLayer.0") == "BertModel-BertLayer.0");
    CHECK(as_file_name("a b") == "a%20b");
    CHECK(as_file_name("") == "_");
    CHECK(as_file_name("../x") == "_..-x");
    const auto one = as_file_name(std::string(500, 'a'));
    const auto other = as_file_name(std::string(501, 'a'));
    CHECK(one.size() == 180);
    CHECK(one != other);
}

TEST_CASE("file_namer: names differ even case-insensitively") {
    stemma::module_tree_builder builder;
    builder.at_path("block");
    builder.at_path("Block");
    const auto tree = builder.build();
    const auto tags = stemma::name_modules(tree);
    stemma::detail::file_namer namer(tree, tags);
    std::set<std::string> names;
    for (stemma::id m = 0; m < tree.size(); ++m) {
        for (std::size_t part = 0; part < 2; ++part) {
            auto name = namer.name(m, part, 2);
            CHECK(name.ends_with(".onnx"));
            for (auto& c : name) {
                c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
            }
            CHECK(names.insert(name).second);
        }
    }
}

TEST_CASE("check_replaceable: an existing file needs force") {
    const test::scratch_folder folder;
    const auto file = folder.make("a", "text");
    CHECK_NOTHROW(stemma::detail::check_replaceable(file, true));
    CHECK_NOTHROW(stemma::detail::check_replaceable(folder.file("b"), false));
    CHECK(test::refusal([&] { stemma::detail::check_replaceable(file, false); }).code() ==
          stemma::error_code::exists);
    CHECK_THROWS_AS(stemma::detail::make_folder(file), stemma::error);
}

TEST_CASE("check_replaceable: a spared file stays even with force") {
    const test::scratch_folder folder;
    const std::vector<std::string> spared{folder.file("none"), folder.make("a", "text")};
    const auto other = folder.make("b", "text");
    CHECK_NOTHROW(stemma::detail::check_replaceable(other, true, spared));
    for (bool force : {false, true}) {
        CHECK(test::refusal([&] {
                  stemma::detail::check_replaceable(folder.path() + "/./a", force, spared);
              }).code() == stemma::error_code::refused);
    }
}

TEST_CASE("check_replaceable: a folder cannot be replaced") {
    const test::scratch_folder folder;
    for (bool force : {false, true}) {
        CHECK_THROWS_AS(stemma::detail::check_replaceable(folder.path(), force), stemma::error);
    }
}

} // namespace test::cut_detail_part_files
