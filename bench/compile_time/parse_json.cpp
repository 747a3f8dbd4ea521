// SPDX-License-Identifier: Apache-2.0
// The unit of measurement: a program that parses JSON and prints it.
#include <nlohmann/json.hpp>

#include <fstream>
#include <iostream>

int main(int argc, char** argv) {
    std::ifstream file(argc == 2 ? argv[1] : "");
    std::cout << nlohmann::json::parse(file).dump(2) << "\n";
}
