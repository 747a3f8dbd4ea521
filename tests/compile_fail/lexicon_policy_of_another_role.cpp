// SPDX-License-Identifier: Apache-2.0
// expect: lexicon policy: add `using policy_category = stemma::lexicon_category;`
#include <stemma/policy/lexicon.hpp>

#include <string_view>

struct mine {
    using policy_category = stemma::cut_category;

    [[nodiscard]] stemma::correspondence correspond(std::string_view, std::string_view) const;
    [[nodiscard]] stemma::trail trail_of(std::string_view) const;
};

static_assert(stemma::explain_lexicon_policy<mine>());
