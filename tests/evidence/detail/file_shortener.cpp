// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/file_shortener.hpp>

#include "../../catch.hpp"

#include <string>
#include <vector>

namespace test::evidence_detail_file_shortener {

namespace {

using list = std::vector<std::string>;

list shorten(const list& paths, const list& classes = {}) {
    return stemma::detail::file_shortener(classes).shorten(paths);
}

} // namespace

TEST_CASE("file_shortener: removes users' folders") {
    CHECK(shorten({"/srv/me/p/net.py", "/v/lib/python3.13/site-packages/torch/nn/x.py",
                   "/usr/lib/python3.11/functools.py", "C:\\Users\\me\\other.py",
                   "C:\\Python311\\Lib\\site-packages\\einops\\a.py", "<eval_with_key>.3"}) ==
          list{"net.py", "torch/nn/x.py", "functools.py", "other.py", "einops/a.py",
               "<eval_with_key>.3"});
}

TEST_CASE("file_shortener: a class shows where its package begins, and what is next to it") {
    CHECK(shorten({"/srv/me/p/app/models/net.py", "/srv/me/p/app/layers.py", "/srv/me/q/layers.py",
                   "/srv/me/p/app/__init__.py"},
                  {"app.models.net.Net.Inner", "app.Root"}) ==
          list{"app/models/net.py", "app/layers.py", "layers.py", "app/__init__.py"});
}

TEST_CASE("file_shortener: equal file names keep as many folders as needed") {
    CHECK(shorten({"/srv/me/a/net.py", "/srv/me/b/net.py", "/srv/me/c.py"}) ==
          list{"a/net.py", "b/net.py", "c.py"});
    CHECK(shorten({"/a/x/net.py", "/b/x/net.py"}) == list{"a/x/net.py", "b/x/net.py"});
}

TEST_CASE("file_shortener: a shortened path stays, and is the same file") {
    CHECK(shorten({"net.py", "/srv/me/net.py", "app/net.py"}) ==
          list{"net.py", "net.py", "app/net.py"});
    CHECK(shorten({}).empty());
    CHECK(shorten({"", "/", "/net.py", "/net.py"}) == list{"", "", "net.py", "net.py"});
}

} // namespace test::evidence_detail_file_shortener
