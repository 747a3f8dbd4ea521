// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_DEFINITIONS_HPP
#define STEMMA_DEFINITIONS_HPP

// The definitions of the facade's functions, unless the program links a library that contains them.
#ifndef STEMMA_COMPILED
#    include <stemma/detail/define_handles.hpp>
#    include <stemma/detail/define_model.hpp>
#    include <stemma/detail/define_part.hpp>
#    include <stemma/open.hpp>
#endif

#endif // STEMMA_DEFINITIONS_HPP
