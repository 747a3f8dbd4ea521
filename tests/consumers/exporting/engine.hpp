// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TESTS_CONSUMERS_EXPORTING_ENGINE_HPP
#define STEMMA_TESTS_CONSUMERS_EXPORTING_ENGINE_HPP

#include <stemma/model/module_tree.hpp>

/// Returns: a tree of two levels.
stemma::module_tree engine();

#endif // STEMMA_TESTS_CONSUMERS_EXPORTING_ENGINE_HPP
