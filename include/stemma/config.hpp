// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CONFIG_HPP
#define STEMMA_CONFIG_HPP

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

#endif // STEMMA_CONFIG_HPP
