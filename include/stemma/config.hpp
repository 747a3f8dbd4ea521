// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CONFIG_HPP
#define STEMMA_CONFIG_HPP

#include <stemma/version.hpp>

// Every header includes this one before anything that an older language does not know. What is
// included here exists nowhere: most compilers go on behind #error, and end behind that.
#if defined(_MSVC_LANG) ? _MSVC_LANG < 202002L : __cplusplus < 202002L
#    error "stemma needs C++20: compile with -std=c++20 (MSVC: /std:c++20)"
#    include <stemma_needs_cxx20>
#endif

/// Checks a caller's promise. Define before the first include to route it elsewhere.
#ifndef STEMMA_ASSERT
#    include <cassert>
#    define STEMMA_ASSERT(condition, text) assert((condition) && (text))
#endif

/// The only way the library raises an exception of its own.
#ifndef STEMMA_THROW
#    if defined(__cpp_exceptions)
#        define STEMMA_THROW(exception) throw exception
#    else
#        include <cstdlib>
#        define STEMMA_THROW(exception) (static_cast<void>(exception), std::abort())
#    endif
#endif

/// Marks a member that takes no room when its type is empty: a stateless policy costs nothing.
#if defined(_MSC_VER)
#    define STEMMA_NO_UNIQUE_ADDRESS [[msvc::no_unique_address]]
#else
#    define STEMMA_NO_UNIQUE_ADDRESS [[no_unique_address]]
#endif

/// What files are read and written with: 0 is standard C++, 1 is POSIX, 2 is POSIX and what Linux
/// adds. Define it before the first include, the same everywhere, to have less than the system
/// offers.
#ifndef STEMMA_IO
#    if defined(__linux__)
#        define STEMMA_IO 2
#    elif (defined(__unix__) || defined(__APPLE__)) && !defined(__EMSCRIPTEN__)
#        define STEMMA_IO 1
#    else
#        define STEMMA_IO 0
#    endif
#endif

/// Stands before functions that a program compiles as it includes them; empty where a library is
/// made of them.
#ifndef STEMMA_INLINE
#    define STEMMA_INLINE inline
#endif

#endif // STEMMA_CONFIG_HPP
