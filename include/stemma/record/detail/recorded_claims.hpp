// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_RECORD_DETAIL_RECORDED_CLAIMS_HPP
#define STEMMA_RECORD_DETAIL_RECORDED_CLAIMS_HPP

#include <stemma/core/id.hpp>
#include <stemma/evidence/given_claims.hpp>
#include <stemma/io/detail/json_part.hpp>
#include <stemma/model/attribution.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: a confidence as rounded in records, to whole per cent.
[[nodiscard]] inline float in_percent(float confidence) {
    return static_cast<float>(std::lround(confidence * 100)) / 100;
}

/// The most tables of claims that a model has: a short one expands to claims about all nodes, so
/// more than sources make would not be evidence but an attack.
inline constexpr std::size_t max_claim_tables = 64;

/// A table of claims as recorded: runs of nodes with the same claim.
struct claim_runs {
    /// Consecutive operators with the same claim.
    struct run {
        std::uint64_t count = 0; ///< how many
        claim made;              ///< `module == no_id`: none
    };

    provenance source = provenance::root; ///< of all claims
    std::vector<run> runs;                ///< from node 0 on

    /// Returns: the number of nodes covered, with or without claims. Complexity: O(runs).
    [[nodiscard]] std::uint64_t nodes() const noexcept {
        std::uint64_t total = 0;
        for (const auto& part : runs) {
            total += part.count;
        }
        return total;
    }
};

/// Complexity: O(claims).
[[nodiscard]] inline claim_runs to_runs(const claim_table& table) {
    const auto is_same = [](const claim& a, const claim& b) {
        return a.module == b.module &&
               (a.module == no_id || (a.call == b.call && a.confidence == b.confidence &&
                                      a.exact == b.exact && a.doubtful == b.doubtful));
    };
    claim_runs result{table.source, {}};
    for (const auto& entry : table.of) {
        if (result.runs.empty() || !is_same(result.runs.back().made, entry)) {
            result.runs.push_back({0, entry});
        }
        ++result.runs.back().count;
    }
    return result;
}

/// Requires: as many nodes as a model in memory has. Complexity: O(nodes).
[[nodiscard]] inline claim_table to_table(const claim_runs& runs) {
    claim_table table{runs.source, {}};
    for (const auto& [count, one] : runs.runs) {
        table.of.insert(table.of.end(), static_cast<std::size_t>(count), one);
    }
    return table;
}

/// Writes claims as `{"source", "runs"}`: a run is `[count]` for nodes without a claim, or `[count,
/// module, per cent]`, followed by the call, or null, and 0 if the module need not be the deepest,
/// 2 if it is one of several.
/// Complexity: O(runs).
template <class Writer>
void write_claims(Writer& json, const claim_runs& claims) {
    json.object([&] {
        json.member("source", to_string(claims.source));
        json.flat_list("runs", claims.runs, [&](const auto& run) {
            const auto& [count, one] = run;
            json.begin_array(true);
            json.value(count);
            if (one.module != no_id) {
                json.value(one.module);
                json.value(std::lround(one.confidence * 100));
                if (one.call != no_id || !one.exact || one.doubtful) {
                    one.call == no_id ? json.null() : json.value(one.call);
                }
                if (!one.exact || one.doubtful) {
                    json.value(one.exact ? 2 : 0);
                }
            }
            json.end_array();
        });
    });
}

/// Reads the output of `write_claims`, for a model with that many nodes and modules.
/// Returns: nothing for anything else.
/// Complexity: O(runs).
[[nodiscard]] inline std::optional<claim_runs> read_claims(json_part part, std::uint64_t nodes,
                                                           std::size_t modules) {
    const auto source = part["source"];
    const auto runs = part["runs"];
    if (!source.is_text() || !runs.is_array()) {
        return std::nullopt;
    }
    const auto source_kind = parse_provenance(source.text());
    if (!source_kind || !is_evidence(*source_kind)) {
        return std::nullopt;
    }
    claim_runs result{*source_kind, {}};
    std::uint64_t total = 0;
    for (const auto run : runs) {
        const auto number = [&](std::size_t i) -> std::uint64_t {
            const auto entry = run[i];
            return entry.is_number<std::uint64_t>() ? entry.number<std::uint64_t>() : UINT64_MAX;
        };
        if (!run.is_array() || run.size() == 2 || number(0) > nodes - total) {
            return std::nullopt;
        }
        claim candidate;
        if (run.size() > 2) {
            if (number(1) >= modules || number(2) > 100) {
                return std::nullopt;
            }
            candidate.module = static_cast<id>(number(1));
            candidate.confidence = static_cast<float>(number(2)) / 100;
            candidate.source = *source_kind;
            candidate.call = number(3) < no_id ? static_cast<id>(number(3)) : no_id;
            candidate.exact = number(4) != 0;
            candidate.doubtful = number(4) == 2;
        }
        total += number(0);
        result.runs.push_back({number(0), candidate});
    }
    return total == nodes ? std::optional(std::move(result)) : std::nullopt;
}

/// Returns: the claims about some nodes of a model, renumbered in that order; none if they are
/// about a model of another size.
/// Complexity: O(tables * nodes of the model).
[[nodiscard]] inline std::vector<claim_runs> claims_about(const std::vector<claim_runs>& all,
                                                          std::span<const id> nodes,
                                                          std::size_t model_nodes) {
    std::vector<claim_runs> result;
    for (const auto& claims : all) {
        if (claims.nodes() == model_nodes) {
            const auto table = to_table(claims);
            claim_table part{claims.source, {}};
            for (auto node : nodes) {
                part.of.push_back(table.of[node]);
            }
            result.push_back(to_runs(part));
        }
    }
    return result;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_RECORD_DETAIL_RECORDED_CLAIMS_HPP
