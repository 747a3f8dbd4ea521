// SPDX-License-Identifier: Apache-2.0
// expect: attribution_options: tagging uses no policy with this policy_category
#include <stemma/open/attribution_options.hpp>

const auto chosen = stemma::attribution_options().set(stemma::cost_in_bytes{});
