// SPDX-License-Identifier: Apache-2.0
// Uses stemma::compiled like a user's program: opens a model, with functions in the library.
#include <stemma/stemma.hpp>

#ifdef STEMMA_OPEN_HPP
#    error "the library is linked, yet its functions are compiled again"
#endif

#include <range/v3/view/filter.hpp>

#include <iostream>

int main(int argc, char** argv) {
    if (argc != 2) {
        return 2;
    }
    const auto model = stemma::open(argv[1]);
    for (const auto node : model.nodes() | ranges::views::filter(stemma::op_is("Softmax"))) {
        std::cout << node.name() << "  " << node.module().path() << "\n";
        const auto part = model.cut(node.module().path());
        return part.size() > 1 && !model.tagged().empty() ? 0 : 1;
    }
    return 1;
}
