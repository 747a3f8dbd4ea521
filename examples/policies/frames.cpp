// SPDX-License-Identifier: Apache-2.0
// Frames: which lines of a call stack are the user's? Here all but helpers, to see their callers
// instead.
#include <stemma/evidence/user_frames.hpp>
#include <stemma/model/source_lines.hpp>

#include <iostream>

struct not_in_helpers {
    using policy_category = stemma::frames_category;

    [[nodiscard]] stemma::frame_kind kind(const stemma::source_position& at) const {
        const auto usual = stemma::not_in_packages{}.kind(at);
        const bool helper = at.file.ends_with("/helpers.py");
        return usual == stemma::frame_kind::own && helper ? stemma::frame_kind::package : usual;
    }
};

static_assert(stemma::explain_policy<stemma::frames_category, not_in_helpers>());

int main() {
    // As options of a model: `stemma::open(path, not_in_helpers{})`.
    const stemma::source_position stack[]{
        {"/srv/me/net.py", 120, "forward"},
        {"/srv/me/helpers.py", 8, "scaled"},
        {"/v/site-packages/torch/nn/functional.py", 77, "linear"}};
    stemma::source_lines lines;
    auto chain = stemma::no_id;
    for (const auto& at : stack) {
        chain = lines.add_link(chain, lines.add_frame(at, not_in_helpers{}.kind(at)));
    }
    std::cout << stemma::to_text(lines.position(lines.frame_of_chain(chain))) << "\n";
}
