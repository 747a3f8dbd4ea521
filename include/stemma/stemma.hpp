// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_STEMMA_HPP
#define STEMMA_STEMMA_HPP

#include <stemma/definitions.hpp>
#include <stemma/handles.hpp>
#include <stemma/model.hpp>
#include <stemma/op_is.hpp>
#include <stemma/part.hpp>

#endif // STEMMA_STEMMA_HPP
