// SPDX-License-Identifier: Apache-2.0
#include <stemma/io/detail/system_files.hpp>

#include "../../catch.hpp"
#include "../../scratch_folder.hpp"

#include <filesystem>
#include <string>

namespace test::io_detail_system_files {

namespace fs = std::filesystem;

TEST_CASE("link_target: follows links to where a file would be") {
    const test::scratch_folder folder;
    const auto absent = folder.file("absent");
    CHECK(stemma::detail::link_target(absent) == absent);
    CHECK(stemma::detail::link_target("absent") == "absent");
    fs::create_symlink("absent", folder.file("one"));
    fs::create_symlink(folder.file("one"), folder.file("two"));
    CHECK(stemma::detail::link_target(folder.file("one")) == absent);
    CHECK(stemma::detail::link_target(folder.file("two")) == absent);
}

TEST_CASE("link_target: ends in a circle of links") {
    const test::scratch_folder folder;
    fs::create_symlink("b", folder.file("a"));
    fs::create_symlink("a", folder.file("b"));
    CHECK(fs::is_symlink(stemma::detail::link_target(folder.file("a"))));
}

} // namespace test::io_detail_system_files
