// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TESTS_CATCH_HPP
#define STEMMA_TESTS_CATCH_HPP

#if __has_include(<catch2/catch_all.hpp>)
#    include <catch2/catch_all.hpp>
#else
#    include <catch2/catch.hpp>
#endif

#endif // STEMMA_TESTS_CATCH_HPP
