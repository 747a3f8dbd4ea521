// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_REPORT_DETAIL_OVERLAY_FORMATS_HPP
#define STEMMA_REPORT_DETAIL_OVERLAY_FORMATS_HPP

#include <stemma/report/column_direction.hpp>

#include <array>
#include <span>
#include <string>
#include <string_view>

namespace stemma::inline STEMMA_ABI::detail {

/// The schema of overlays from other programs.
inline constexpr std::string_view own_overlay_schema = "stemma.overlay/1";

/// A column of a report, with its paths in the objects of modules and of values:
/// `outgoing/max_abs`, or "".
struct overlay_field {
    std::string_view name;
    std::string_view unit;
    column_direction better = column_direction::neither;
    bool additive = false;
    bool divided = false; ///< by the divisor of the format
    std::string_view of_module;
    std::string_view of_node{};
};

/// A report of stemma that works as an overlay.
struct overlay_format {
    std::string_view schema;
    std::string_view modules;    ///< the list of modules
    std::string_view module_key; ///< the key of a module's path
    std::string_view values;     ///< the list of values, which represent their nodes; or ""
    std::string_view divisor;    ///< a number in the report, of runs; "" for 1
    std::span<const overlay_field> fields;
};

inline constexpr std::array<overlay_field, 6> profile_fields{{
    {"time", "us per run", column_direction::lower, true, true, "us"},
    {"own time", "us per run", column_direction::lower, false, true, "own_us"},
    {"fastest run", "us", column_direction::lower, false, false, "min_us"},
    {"slowest run", "us", column_direction::lower, false, false, "max_us"},
    {"calls", "per run", column_direction::neither, false, true, "calls"},
    {"run by", "", column_direction::neither, false, false, "providers"},
}};

inline constexpr std::array<overlay_field, 8> cost_fields{{
    {"MACs", "", column_direction::lower, true, false, "macs"},
    {"FLOPs", "", column_direction::lower, true, false, "flops"},
    {"parameters", "", column_direction::neither, false, false, "parameters"},
    {"weights", "bytes", column_direction::lower, false, false, "bytes"},
    {"comes in", "bytes", column_direction::neither, false, false, "in"},
    {"goes out", "bytes", column_direction::neither, false, false, "out"},
    {"peak", "bytes", column_direction::lower, false, false, "peak"},
    {"nodes of unknown cost", "", column_direction::lower, false, false, "unknown"},
}};

inline constexpr std::array<overlay_field, 7> numerics_fields{{
    {"max abs", "", column_direction::lower, false, false, "outgoing/max_abs",
     "difference/max_abs"},
    {"max rel", "", column_direction::lower, false, false, "outgoing/max_rel",
     "difference/max_rel"},
    {"cosine", "", column_direction::higher, false, false, "outgoing/cosine", "difference/cosine"},
    {"SQNR", "dB", column_direction::higher, false, false, "outgoing/sqnr", "difference/sqnr"},
    {"max abs of its own", "", column_direction::lower, false, false, "own/max_abs"},
    {"SQNR of its own", "dB", column_direction::higher, false, false, "own/sqnr"},
    {"verdict", "", column_direction::neither, false, false, "verdict"},
}};

inline constexpr std::array<overlay_format, 3> overlay_formats{{
    {"stemma.profile/1", "modules", "path", "", "runs", profile_fields},
    {"stemma.cost/1", "modules", "path", "", "", cost_fields},
    {"stemma.numerics/1", "modules", "module", "values", "", numerics_fields},
}};

/// Returns: the format of a schema, or null. Complexity: O(formats).
[[nodiscard]] constexpr const overlay_format*
find_overlay_format(std::string_view schema) noexcept {
    for (const auto& format : overlay_formats) {
        if (format.schema == schema) {
            return &format;
        }
    }
    return nullptr;
}

/// Returns: the known schemas, for messages. Complexity: O(formats).
[[nodiscard]] inline std::string known_overlay_schemas() {
    std::string all(own_overlay_schema);
    for (const auto& format : overlay_formats) {
        all.append(", ").append(format.schema);
    }
    return all;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_REPORT_DETAIL_OVERLAY_FORMATS_HPP
