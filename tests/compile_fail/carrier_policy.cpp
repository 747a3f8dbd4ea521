// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/carrier.hpp>

#include <string_view>

struct members {
    template <stemma::carrier_sink Sink>
    void write(const stemma::operator_tags&, Sink&) const;
};

struct complete : members {
    using policy_category = stemma::carrier_category;
};

// role: carrier

// expect: carrier policy: add `template <stemma::carrier_sink Sink> void write(const
// stemma::operator_tags&, Sink&) const`
struct without_members {
    using policy_category = stemma::carrier_category;
};
static_assert(stemma::explain_policy<stemma::carrier_category, without_members>());

// expect: carrier policy: add `template <stemma::carrier_sink Sink> void write(const
// stemma::operator_tags&, Sink&) const`
struct write_not_const : complete {
    template <stemma::carrier_sink Sink>
    void write(const stemma::operator_tags&, Sink&);
};
static_assert(stemma::explain_policy<stemma::carrier_category, write_not_const>());

struct writes_text : complete {
    template <stemma::carrier_sink Sink>
    void write(std::string_view, Sink&) const;
};
static_assert(stemma::explain_policy<stemma::carrier_category, writes_text>());
