// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_COST_READ_PROFILES_HPP
#define STEMMA_COST_READ_PROFILES_HPP

#include <stemma/config.hpp>
#include <stemma/cost/profile.hpp>
#include <stemma/cost/profile_readers.hpp>
#include <stemma/error.hpp>
#include <stemma/io/mapped_file.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace stemma::inline STEMMA_ABI {

/// Returns: the runs of all profiles of a model, each without its first ones: `warm_up`, else one
/// if it has several. Throws: `error`: of `error_code::cannot_read`; of `malformed` for other
/// files; of `refused` if no run is left, as if there are no files. Complexity: O(bytes).
[[nodiscard]] inline profile read_profiles(std::span<const std::string> paths,
                                           std::optional<std::size_t> warm_up = {}) {
    profile all;
    if (paths.empty()) {
        STEMMA_THROW(error(error_code::refused, "", "profiles", "no file is given"));
    }
    for (const auto& path : paths) {
        const mapped_file file(path);
        profile read;
        read_profile(file.bytes(), path, read);
        if (read.runs() == 0) {
            STEMMA_THROW(error(error_code::malformed, path, "", "contains no run"));
        }
        const auto drop = warm_up.value_or(read.runs() > 1 ? 1 : 0);
        if (drop >= read.runs()) {
            STEMMA_THROW(error(error_code::refused, path, "warm-up",
                               "leaves none of " + std::to_string(read.runs()) +
                                   (read.runs() == 1 ? " run" : " runs")));
        }
        read.drop_runs(drop);
        all.append(read);
    }
    return all;
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_COST_READ_PROFILES_HPP
