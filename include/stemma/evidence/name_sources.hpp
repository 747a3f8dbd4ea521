// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_NAME_SOURCES_HPP
#define STEMMA_EVIDENCE_NAME_SOURCES_HPP

#include <stemma/evidence/class_tags.hpp>
#include <stemma/evidence/evidence_sources.hpp>
#include <stemma/evidence/function_calls.hpp>
#include <stemma/evidence/hierarchy_metadata.hpp>
#include <stemma/evidence/leftovers.hpp>
#include <stemma/evidence/parameter_names.hpp>
#include <stemma/evidence/parameter_regions.hpp>
#include <stemma/evidence/scope_names.hpp>

namespace stemma::inline STEMMA_ABI {

/// The sources that need only the model itself.
using name_sources =
    evidence_sources<exporter_metadata, builder_metadata, function_calls, scope_names,
                     parameter_names, parameter_regions, leftovers, class_tags>;

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_EVIDENCE_NAME_SOURCES_HPP
