// SPDX-License-Identifier: Apache-2.0
// Uses a library whose headers use stemma.
#include <engine.hpp>

#include <iostream>

int main() {
    const auto path = engine().path(2);
    std::cout << path << "\n";
    return path == "engine.pump" ? 0 : 1;
}
