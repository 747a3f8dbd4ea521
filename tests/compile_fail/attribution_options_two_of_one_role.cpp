// SPDX-License-Identifier: Apache-2.0
// expect: attribution_options: two arguments have the same policy_category
#include <stemma/open/attribution_options.hpp>

const auto chosen =
    stemma::attribution_options().set(stemma::all_modules{}, stemma::down_to_depth{2});
