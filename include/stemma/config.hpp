// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CONFIG_HPP
#define STEMMA_CONFIG_HPP

#include <stemma/version.hpp>

// Every header includes this one before anything that requires C++20. The include below does not
// exist on purpose: most compilers continue after #error but stop at a missing file.
#if defined(_MSVC_LANG) ? _MSVC_LANG < 202002L : __cplusplus < 202002L
#    error "stemma needs C++20: compile with -std=c++20 (MSVC: /std:c++20)"
#    include <stemma_needs_cxx20>
#endif

/// Checks a precondition. Define before the first include to route it elsewhere.
#ifndef STEMMA_ASSERT
#    include <cassert>
#    define STEMMA_ASSERT(condition, text) assert((condition) && (text))
#endif

/// The only way the library throws exceptions of its own.
#ifndef STEMMA_THROW
#    if defined(__cpp_exceptions)
#        define STEMMA_THROW(exception) throw exception
#    else
#        include <cstdlib>
#        define STEMMA_THROW(exception) (static_cast<void>(exception), std::abort())
#    endif
#endif

/// Marks a member that takes no space if its type is empty: a stateless policy costs nothing.
#if defined(_MSC_VER)
#    define STEMMA_NO_UNIQUE_ADDRESS [[msvc::no_unique_address]]
#else
#    define STEMMA_NO_UNIQUE_ADDRESS [[no_unique_address]]
#endif

/// The I/O backend: 0 is standard C++, 1 POSIX, 2 POSIX with Linux extensions. Define it before the
/// first include, consistently across the program, to use less than the system offers.
#ifndef STEMMA_IO
#    if defined(__linux__)
#        define STEMMA_IO 2
#    elif (defined(__unix__) || defined(__APPLE__)) && !defined(__EMSCRIPTEN__)
#        define STEMMA_IO 1
#    else
#        define STEMMA_IO 0
#    endif
#endif

/// Precedes function definitions: `inline` when a program compiles them from headers, empty when
/// they are built into a library.
#ifndef STEMMA_INLINE
#    define STEMMA_INLINE inline
#endif

#endif // STEMMA_CONFIG_HPP
