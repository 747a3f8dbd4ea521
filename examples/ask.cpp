// SPDX-License-Identifier: Apache-2.0
// Explores a model by module: its contents, sizes and inputs, with the evidence.
//
//   ask MODEL.onnx MODULE
#include <stemma/stemma.hpp>

#include <range/v3/numeric/accumulate.hpp>
#include <range/v3/range/primitives.hpp>

#include <cstdint>
#include <exception>
#include <iostream>
#include <map>
#include <string_view>

namespace {

std::uint64_t elements_in(stemma::module_ref module) {
    const auto elements = [](const stemma::parameter_ref& one) { return one.elements(); };
    return ranges::accumulate(module.parameters(), std::uint64_t{0}, {}, elements);
}

void ask(const stemma::model& model, std::string_view path) {
    const auto module = model.find_module(path).value_or(model.root());
    for (const auto child : module.children()) {
        std::cout << child.path() << ": " << ranges::distance(child.nodes()) << " nodes, "
                  << elements_in(child) << " elements of weights\n";
    }

    const auto comes_from_outside = [&](const stemma::value_ref& value) {
        return !value.is_initializer() &&
               !(value.producer() && module.contains(value.producer()->module()));
    };
    for (const auto node : module.nodes()) {
        for (const auto value : node.inputs() | ranges::views::filter(comes_from_outside)) {
            std::cout << node.name() << " reads " << value.name() << '\n';
        }
    }

    std::map<std::string_view, int> known_from;
    for (const auto node : module.nodes()) {
        ++known_from[node.provenance()];
    }
    for (const auto& [source, count] : known_from) {
        std::cout << source << ": " << count << '\n';
    }
}

} // namespace

int main(int, char** argv) {
    try {
        ask(stemma::open(argv[1]), argv[2]);
    } catch (const std::exception& problem) {
        std::cerr << problem.what() << '\n';
        return 1;
    }
}
