// SPDX-License-Identifier: Apache-2.0
// expect: stemma needs C++20: compile with -std=c++20 (MSVC: /std:c++20)

// options: -std=c++17

// at most 12 lines
#include <stemma/tagging/tagger.hpp>

int main() {}
