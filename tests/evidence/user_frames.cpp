// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/user_frames.hpp>

#include "../catch.hpp"

#include <type_traits>
#include <utility>
#include <vector>

namespace test::evidence_user_frames {

using stemma::frame_kind;
using stemma::not_in_packages;

namespace {

frame_kind kind_of(std::string_view file, const not_in_packages& policy = {}) {
    return policy.kind({file, 1, "forward"});
}

} // namespace

static_assert(stemma::explain_policy<stemma::frames_category, not_in_packages>());
static_assert(stemma::explain_policy<stemma::frames_category, stemma::in_folders>());
static_assert(stemma::explain_policy<stemma::frames_category, stemma::innermost_frame>());
static_assert(
    stemma::explain_policy<stemma::frames_category, stemma::any_policy<stemma::frames_category>>());
static_assert(std::is_empty_v<stemma::innermost_frame>);

TEST_CASE("not_in_packages: installed files, PyTorch's and Python's are not the user's") {
    const std::vector<std::pair<const char*, frame_kind>> table{
        {"/srv/me/project/model.py", frame_kind::own},
        {"C:\\work\\net.py", frame_kind::own},
        {"net.py", frame_kind::own},
        // A user's folders named like packages.
        {"/srv/me/torch/model.py", frame_kind::own},
        {"/srv/me/transformers/net.py", frame_kind::own},
        {"ipykernel_12/345.py", frame_kind::own},
        {"<ipython-input-3-0a1b>", frame_kind::own},
        {"<stdin>", frame_kind::own},
        {"<eval_with_key>.3", frame_kind::library},
        {"<frozen importlib._bootstrap>", frame_kind::library},
        {"", frame_kind::library},
        {"/usr/lib/python3/dist-packages/torch/nn/modules/linear.py", frame_kind::library},
        {"/v/lib/python3.13/site-packages/torch/_tensor.py", frame_kind::library},
        {"C:\\Python311\\Lib\\site-packages\\torch\\nn\\functional.py", frame_kind::library},
        {"/srv/me/pytorch/torch/nn/modules/conv.py", frame_kind::library},
        {"torch/nn/modules/linear.py", frame_kind::library},
        {"/usr/lib/python3.11/functools.py", frame_kind::library},
        {"C:\\Python311\\Lib\\functools.py", frame_kind::library},
        {"/v/lib/python3.13/site-packages/transformers/models/bert/m.py", frame_kind::package},
        {"/v/lib/python3.13/site-packages/einops/layers.py", frame_kind::package},
        {"/srv/me/src/transformers/models/bert/m.py", frame_kind::package}};
    for (const auto& [file, kind] : table) {
        INFO(file);
        CHECK(kind_of(file) == kind);
    }
}

TEST_CASE("not_in_packages: packages can be added, or declared the user's") {
    const auto mine = "/v/site-packages/transformers/models/bert/m.py";
    CHECK(kind_of(mine, {.own = {"transformers"}}) == frame_kind::own);
    CHECK(kind_of("/srv/me/zoo/net.py", {.packages = {"zoo"}}) == frame_kind::package);
    CHECK(kind_of("/srv/me/zoology/net.py", {.packages = {"zoo"}}) == frame_kind::own);
}

TEST_CASE("in_folders: only files below the folders are the user's") {
    const stemma::in_folders policy{{"me/project"}};
    CHECK(policy.kind({"/srv/me/project/a/net.py", 1, ""}) == frame_kind::own);
    CHECK(policy.kind({"/srv/me/other/net.py", 1, ""}) == frame_kind::package);
    CHECK(policy.kind({"/v/site-packages/torch/nn/x.py", 1, ""}) == frame_kind::library);
}

TEST_CASE("innermost_frame: every frame is the user's") {
    CHECK(stemma::innermost_frame{}.kind({"torch/nn/x.py", 1, ""}) == frame_kind::own);
}

TEST_CASE("any_frames: holds a policy, or a function, or acts as the default") {
    const stemma::source_position at{"torch/nn/x.py", 1, ""};
    const stemma::any_policy<stemma::frames_category> unchosen;
    const stemma::any_policy<stemma::frames_category> policy = stemma::innermost_frame{};
    const stemma::any_policy<stemma::frames_category> called =
        [](const stemma::source_position& one) {
            return one.line == 1 ? frame_kind::package : frame_kind::own;
        };
    CHECK(unchosen.kind(at) == frame_kind::library);
    CHECK_FALSE(unchosen.is_chosen());
    CHECK(policy.kind(at) == frame_kind::own);
    CHECK(policy.is_chosen());
    CHECK(called.kind(at) == frame_kind::package);
}

} // namespace test::evidence_user_frames
