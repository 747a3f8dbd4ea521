// SPDX-License-Identifier: Apache-2.0
// compiles
#include <stemma/policy/carrier.hpp>

#include <string_view>

struct mine {
    using policy_category = stemma::carrier_category;

    template <stemma::carrier_sink Sink>
    void write(const stemma::operator_tags&, Sink&) const;
};

static_assert(stemma::explain_carrier_policy<mine>());
