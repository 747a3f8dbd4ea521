// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_RECORD_DETAIL_RECORDED_TAGS_HPP
#define STEMMA_RECORD_DETAIL_RECORDED_TAGS_HPP

#include <stemma/config.hpp>
#include <stemma/core/id.hpp>
#include <stemma/error.hpp>
#include <stemma/io/detail/json_part.hpp>
#include <stemma/io/detail/json_stream.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/onnx/carrier.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The tags of all nodes in one table (`model_carrier`): modules as ranks in the record's tree.
struct recorded_tags {
    std::vector<id> module;                ///< by node
    std::map<id, std::vector<id>> several; ///< nodes with more than one tag
};

/// Returns: the table as one line of JSON: runs of [count, module], followed by a list of the
/// selected modules if there are several tags.
/// Complexity: O(nodes).
[[nodiscard]] inline std::string to_json(const recorded_tags& tags) {
    const auto several = [&](std::size_t v) -> const std::vector<id>* {
        const auto entry = tags.several.find(static_cast<id>(v));
        return entry == tags.several.end() ? nullptr : &entry->second;
    };
    return json_line([&](auto& json) {
        json.member("schema", "stemma.tags/1");
        json.flat_list("runs", [&] {
            for (std::size_t v = 0; v < tags.module.size();) {
                auto end = v + 1;
                while (end < tags.module.size() && tags.module[end] == tags.module[v] &&
                       (several(v) == nullptr) == (several(end) == nullptr) &&
                       (several(v) == nullptr || *several(v) == *several(end))) {
                    ++end;
                }
                json.begin_array(true);
                json.value(end - v);
                json.value(tags.module[v]);
                if (several(v) != nullptr) {
                    json.begin_array(true);
                    for (auto m : *several(v)) {
                        json.value(m);
                    }
                    json.end_array();
                }
                json.end_array();
                v = end;
            }
        });
    });
}

/// Reads the output of `to_json(recorded_tags)`.
struct tags_reader final : json_handler {
    // A short run can expand to many lists: more than any tagging has is not a table but an attack.
    static constexpr std::size_t max_tags_on_average = 64;

    recorded_tags tags;
    std::size_t nodes = 0;
    std::size_t listed = 0;
    id modules = 0;
    bool valid = true;

    [[nodiscard]] bool wants(const std::string& path) override { return path == "runs"; }

    void element(const std::string&, json_part run) override {
        const auto is_module = [&](json_part m) {
            return m.is_number<id>() && m.number<id>() < modules;
        };
        const auto several = run[2];
        valid = valid && run[0].is_number<std::size_t>() &&
                run[0].number<std::size_t>() <= nodes - tags.module.size() && is_module(run[1]) &&
                (!several || several.is_array());
        if (!valid) {
            return;
        }
        const auto count = run[0].number<std::size_t>();
        if (several) {
            listed += count * several.size();
            valid = listed <= nodes * max_tags_on_average;
            for (const auto m : several) {
                valid = valid && is_module(m);
            }
            for (std::size_t i = 0; valid && i < count; ++i) {
                tags.several[static_cast<id>(tags.module.size() + i)] = several.numbers<id>();
            }
        }
        tags.module.insert(tags.module.end(), count, run[1].number<id>());
    }
};

/// Reads a table of tags for a model with that many nodes and modules.
/// Throws: `error` of `error_code::malformed`, naming `file`.
[[nodiscard]] inline recorded_tags read_recorded_tags(std::string_view text, std::string_view file,
                                                      std::size_t nodes, std::size_t modules) {
    detail::tags_reader reader;
    reader.nodes = nodes;
    reader.modules = static_cast<id>(modules);
    const auto place = std::string(file) + ": " + std::string(tag_table_key);
    stream_json(text, place, reader);
    if (!reader.valid || reader.tags.module.size() != nodes) {
        STEMMA_THROW(error(error_code::malformed, place, "", "does not fit the model"));
    }
    return std::move(reader.tags);
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_RECORD_DETAIL_RECORDED_TAGS_HPP
