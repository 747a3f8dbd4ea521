// SPDX-License-Identifier: Apache-2.0
// Visibility: which operators does a picture show? Here only those that read parameters.
#include "small_model.hpp"

#include <stemma/report/visibility.hpp>

struct readers_of_parameters {
    using policy_category = stemma::visibility_category;

    template <stemma::parameter_readers Ops>
    [[nodiscard]] bool shows(const Ops& ops, stemma::operator_t<Ops> v) const {
        bool reads = false;
        ops.for_each_parameter(v, [&](stemma::id) { reads = true; });
        return reads;
    }
};

int main() {
    const auto graph = make_graph();
    const auto ops = view_of(graph);
    static_assert(stemma::explain_policy<stemma::visibility_category, readers_of_parameters,
                                         decltype(ops)>());
    // Writers of pictures ask such a policy for every operator; see report/dot.hpp.
    for (std::size_t v = 0; v < num_vertices(graph); ++v) {
        std::cout << graph[v].type
                  << (readers_of_parameters{}.shows(ops, v) ? ": shown" : ": not shown") << "\n";
    }
}
