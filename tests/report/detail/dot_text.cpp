// SPDX-License-Identifier: Apache-2.0
#include <stemma/report/detail/dot_text.hpp>

#include "../../catch.hpp"

#include <string>
#include <vector>

namespace test::report_detail_dot_text {

TEST_CASE("shape_label: extents are separated by times signs", "[dot]") {
    CHECK(stemma::detail::shape_label("[1,seq,32]") == "1\xc3\x97seq\xc3\x97"
                                                       "32");
    CHECK(stemma::detail::shape_label("[2]") == "[2]");
    CHECK(stemma::detail::shape_label("[]") == "scalar");
    CHECK(stemma::detail::shape_label("").empty());
}

TEST_CASE("dot_text: is escaped, and cut between characters", "[dot]") {
    const std::string mark = "\xe2\x80\xa6";
    const std::string full(1024, 'x');
    CHECK(stemma::detail::dot_text("a\\\"b\\") == "a&#92;&quot;b&#92;");
    CHECK(stemma::detail::dot_text(full) == full);
    CHECK(stemma::detail::dot_text(full + "y") == full + mark);
    CHECK(stemma::detail::dot_text(full.substr(2) + "\xc3\xa4\xc3\xa4") ==
          full.substr(2) + "\xc3\xa4" + mark);
    CHECK(stemma::detail::dot_text(full.substr(1) + "\xc3\xa4") == full.substr(1) + mark);
    // Twice this fits into a string for Graphviz.
    CHECK(stemma::detail::dot_text(std::string(100'000, '"')).size() < 8000);
    CHECK(stemma::detail::dot_text(std::string(100'000, '\x80')).size() < 8000);
}

TEST_CASE("label_text: is never empty, and contains no control characters", "[dot]") {
    CHECK(stemma::detail::label_text("") == " ");
    CHECK(stemma::detail::label_text("a\n<\t") == "a &lt; ");
    CHECK(stemma::detail::label_text("\xc3\xa4") == "\xc3\xa4");
}

TEST_CASE("wrapped_list: breaks after commas, and cuts long lists", "[dot]") {
    using lines = std::vector<std::string>;
    CHECK(stemma::detail::wrapped_list("", 10, 2).empty());
    CHECK(stemma::detail::wrapped_list("axis=1", 10, 2) == lines{"axis=1"});
    CHECK(stemma::detail::wrapped_list("axis=1, to=int64", 10, 2) == lines{"axis=1,", "to=int64"});
    CHECK(stemma::detail::wrapped_list("a=1, b=2, c=3, d=4, e=5", 9, 2) ==
          lines{"a=1, b=2,", "c=3, d=4,\xe2\x80\xa6"});
    CHECK(stemma::detail::wrapped_list("kernel_shape=[1,2,3], b=1", 8, 2) ==
          lines{"kernel_s\xe2\x80\xa6", "b=1"});
}

} // namespace test::report_detail_dot_text
