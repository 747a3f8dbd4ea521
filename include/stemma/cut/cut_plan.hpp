// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CUT_CUT_PLAN_HPP
#define STEMMA_CUT_CUT_PLAN_HPP

#include <stemma/core/id.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/tag_table.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// Why a part cannot be cut out.
enum class cut_refusal : std::uint8_t {
    none,          ///< it can
    non_convex,    ///< a path leaves it and returns; see `witness`
    unknown_type,  ///< the type or rank of a boundary value is unknown
    function_body, ///< it is in a function whose attributes are unbound
    no_output,     ///< nothing outside reads its results
    redefined,     ///< it has a value that the model or the part defines more than once
    cycle,         ///< it has nodes on a cycle, or after one
};

/// Returns: the name used in reports.
[[nodiscard]] constexpr std::string_view to_string(cut_refusal refusal) noexcept {
    constexpr std::array<std::string_view, 7> names{
        "", "non_convex", "unknown_type", "function_body", "no_output", "redefined", "cycle"};
    return names[static_cast<std::size_t>(refusal)];
}

/// A plan for cutting a part out of a model.
struct cut_plan {
    id graph = 0;                 ///< its graph: the main one, a body or a function
    std::vector<id> nodes;        ///< of that graph or an enclosing one, in the order of the part
    std::vector<id> clones;       ///< the nodes that also stay in the rest, ascending
    std::vector<id> inputs;       ///< values, in the order of readers
    std::vector<id> outputs;      ///< values, in the order of producers, then initializers
    std::vector<id> initializers; ///< values
    std::vector<id> functions;    ///< numbers of functions called, directly or not
    bool sorted = false;          ///< file order was not topological, so nodes were sorted
    bool random = false;          ///< contains a nondeterministic operator
    cut_refusal refusal = cut_refusal::none; ///< why it cannot be cut out
    std::vector<id> witness;                 ///< `non_convex`: the nodes on such a path
};

/// A part of a module, written or refused.
struct cut_record {
    id module = no_id;                       ///< the module it was cut out of
    std::size_t part = 0;                    ///< number of the part within the module
    std::string file{};                      ///< "" if refused
    std::vector<std::string> inputs{};       ///< names
    std::vector<std::string> outputs{};      ///< names
    cut_refusal refusal = cut_refusal::none; ///< why it was not written
    std::string text{};                      ///< the same in words; "" if written
    bool exact = true;                       ///< deterministic

    /// Whether it was refused.
    [[nodiscard]] bool is_refused() const noexcept { return refusal != cut_refusal::none; }
};

/// Writes records as JSON, `stemma.cuts/1`, to a sink. `source` is the file name of the model;
/// `modules` and `tags` are its own. Complexity: O(length of the result).
template <text_sink Sink>
void write_json(Sink& sink, std::span<const cut_record> records, std::string_view source,
                const module_tree& modules, const tag_table& tags) {
    detail::write_document(sink, "stemma.cuts/1", [&](auto& json) {
        json.member("source", source);
        json.objects("cuts", records, [&](const auto& record) {
            json.member("module", modules.path(record.module));
            json.member("tag", tags.text(record.module));
            json.member("part", record.part);
            if (!record.file.empty()) {
                json.member("file", std::filesystem::path(record.file).filename().string());
            }
            json.values("inputs", record.inputs);
            json.values("outputs", record.outputs);
            json.member("status", record.is_refused() ? "refused" : "written");
            json.key("reason");
            record.is_refused() ? json.value(to_string(record.refusal)) : json.null();
            if (!record.text.empty()) {
                json.member("text", record.text);
            }
            json.member("exact", record.exact);
        });
    });
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_CUT_CUT_PLAN_HPP
