// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_NUMERICS_PROBED_NAMES_HPP
#define STEMMA_NUMERICS_PROBED_NAMES_HPP

#include <stemma/config.hpp>
#include <stemma/error.hpp>
#include <stemma/io/mapped_file.hpp>

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// Returns: the names of the values in a list that `model_prober` wrote (`stemma.probe/1`).
/// Throws: `error` of `error_code::cannot_read`, or of `malformed` for anything else.
/// Complexity: O(bytes).
[[nodiscard]] inline std::vector<std::string> probed_names(const std::string& path) {
    const mapped_file file(path);
    const auto fail = [&](std::string_view why) {
        STEMMA_THROW(error(error_code::malformed, path, "", why));
    };
    const auto json = nlohmann::json::parse(file.bytes(), nullptr, false);
    const auto schema = json.is_object() ? json.find("schema") : json.end();
    if (!json.is_object() || schema == json.end() || *schema != "stemma.probe/1" ||
        !json.contains("values") || !json["values"].is_array()) {
        fail("is not a stemma.probe/1 list of values");
    }
    std::vector<std::string> names;
    for (const auto& value : json["values"]) {
        if (!value.is_object() || !value.contains("name") || !value["name"].is_string()) {
            fail("a value has no name");
        }
        names.push_back(value["name"].get<std::string>());
    }
    return names;
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_NUMERICS_PROBED_NAMES_HPP
