// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CUT_CUT_RECORD_HPP
#define STEMMA_CUT_CUT_RECORD_HPP

#include <stemma/core/id.hpp>
#include <stemma/cut/cut_plan.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/tag_table.hpp>

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI {

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
    json_writer json(sink);
    json.begin_object();
    json.member("schema", "stemma.cuts/1");
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
    json.end_object();
    json.finish();
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_CUT_CUT_RECORD_HPP
