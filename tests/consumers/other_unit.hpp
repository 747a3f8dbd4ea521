// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TESTS_CONSUMERS_OTHER_UNIT_HPP
#define STEMMA_TESTS_CONSUMERS_OTHER_UNIT_HPP

#include <string>

/// Returns: the path of a module in a tree of two levels.
std::string other_unit();

#endif // STEMMA_TESTS_CONSUMERS_OTHER_UNIT_HPP
