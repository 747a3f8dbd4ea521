// SPDX-License-Identifier: Apache-2.0
#include <stemma/cut/cut.hpp>

#include <string>
#include <string_view>

struct members {
    bool pulls(stemma::dependence) const;
    stemma::gap_rule gaps() const;
    std::string boundary_name(std::string_view) const;
    bool keeps_unused_initializers() const;
};

struct complete : members {
    using policy_category = stemma::cut_category;
};

// role: cut

// expect: cut policy: add `bool pulls(stemma::dependence) const`

// expect: cut policy: add `stemma::gap_rule gaps() const`

// expect: cut policy: add `std::string boundary_name(std::string_view) const`

// expect: cut policy: add `bool keeps_unused_initializers() const`
struct without_members {
    using policy_category = stemma::cut_category;
};
static_assert(stemma::explain_policy<stemma::cut_category, without_members>());

// expect: cut policy: add `bool pulls(stemma::dependence) const`
struct pulls_not_const : complete {
    bool pulls(stemma::dependence);
};
static_assert(stemma::explain_policy<stemma::cut_category, pulls_not_const>());

struct pulls_names : complete {
    bool pulls(std::string_view) const;
};
static_assert(stemma::explain_policy<stemma::cut_category, pulls_names>());

// expect: cut policy: add `stemma::gap_rule gaps() const`
struct gaps_not_const : complete {
    stemma::gap_rule gaps();
};
static_assert(stemma::explain_policy<stemma::cut_category, gaps_not_const>());

struct gaps_yes_or_no : complete {
    bool gaps() const;
};
static_assert(stemma::explain_policy<stemma::cut_category, gaps_yes_or_no>());

// expect: cut policy: add `std::string boundary_name(std::string_view) const`
struct boundary_name_not_const : complete {
    std::string boundary_name(std::string_view);
};
static_assert(stemma::explain_policy<stemma::cut_category, boundary_name_not_const>());

struct boundary_name_view : complete {
    std::string_view boundary_name(std::string_view) const;
};
static_assert(stemma::explain_policy<stemma::cut_category, boundary_name_view>());

// expect: cut policy: add `bool keeps_unused_initializers() const`
struct keeps_not_const : complete {
    bool keeps_unused_initializers();
};
static_assert(stemma::explain_policy<stemma::cut_category, keeps_not_const>());

struct keeps_void : complete {
    void keeps_unused_initializers() const;
};
static_assert(stemma::explain_policy<stemma::cut_category, keeps_void>());
