// SPDX-License-Identifier: Apache-2.0
#include <stemma/align/lexicon.hpp>

#include <string_view>

struct members {
    stemma::correspondence correspond(std::string_view, std::string_view) const;
    stemma::trail trail_of(std::string_view) const;
};

struct complete : members {
    using policy_category = stemma::lexicon_category;
};

// role: lexicon

// expect: lexicon policy: add `stemma::correspondence correspond(std::string_view captured,
// std::string_view type) const`

// expect: lexicon policy: add `stemma::trail trail_of(std::string_view captured) const`
struct without_members {
    using policy_category = stemma::lexicon_category;
};
static_assert(stemma::explain_policy<stemma::lexicon_category, without_members>());

// expect: lexicon policy: add `stemma::correspondence correspond(std::string_view captured,
// std::string_view type) const`
struct correspond_not_const : complete {
    stemma::correspondence correspond(std::string_view, std::string_view);
};
static_assert(stemma::explain_policy<stemma::lexicon_category, correspond_not_const>());

struct correspond_yes_or_no : complete {
    bool correspond(std::string_view, std::string_view) const;
};
static_assert(stemma::explain_policy<stemma::lexicon_category, correspond_yes_or_no>());

// expect: lexicon policy: add `stemma::trail trail_of(std::string_view captured) const`
struct trail_of_not_const : complete {
    stemma::trail trail_of(std::string_view);
};
static_assert(stemma::explain_policy<stemma::lexicon_category, trail_of_not_const>());

struct trail_of_yes_or_no : complete {
    bool trail_of(std::string_view) const;
};
static_assert(stemma::explain_policy<stemma::lexicon_category, trail_of_yes_or_no>());
