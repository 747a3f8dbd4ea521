// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/user_frames.hpp>

struct members {
    stemma::frame_kind kind(const stemma::source_position&) const;
};

struct complete : members {
    using policy_category = stemma::frames_category;
};

// role: frames

// expect: frames policy: add `stemma::frame_kind kind(const stemma::source_position&) const`
struct without_members {
    using policy_category = stemma::frames_category;
};
static_assert(stemma::explain_policy<stemma::frames_category, without_members>());

// expect: frames policy: add `stemma::frame_kind kind(const stemma::source_position&) const`
struct kind_not_const : complete {
    stemma::frame_kind kind(const stemma::source_position&);
};
static_assert(stemma::explain_policy<stemma::frames_category, kind_not_const>());

struct kind_of_truth : complete {
    bool kind(const stemma::source_position&) const;
};
static_assert(stemma::explain_policy<stemma::frames_category, kind_of_truth>());
