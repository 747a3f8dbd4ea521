// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_RECORD_DETAIL_FIND_SOURCES_HPP
#define STEMMA_RECORD_DETAIL_FIND_SOURCES_HPP

#include <stemma/core/detail/flat_index.hpp>
#include <stemma/core/detail/hash.hpp>
#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/file_shortener.hpp>
#include <stemma/evidence/detail/stack_formats.hpp>
#include <stemma/evidence/user_frames.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/source_lines.hpp>
#include <stemma/onnx/carrier.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/record/detail/graph_sketch.hpp>
#include <stemma/record/detail/read_tags.hpp>
#include <stemma/record/detail/recorded_origins.hpp>
#include <stemma/record/detail/recorded_sources.hpp>
#include <stemma/record/detail/tag_model.hpp>

#include <array>
#include <charconv>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Adds stack texts to source lines; equal texts are parsed once.
class told_sources {
public:
    /// Requires: both outlive this, as do the texts.
    told_sources(source_lines& to, const any_policy<frames_category>& policy)
        : to_(to), policy_(policy) {}

    /// Returns: the chain described by a text, `no_id` if none.
    /// Complexity: O(length).
    [[nodiscard]] id chain_of(std::string_view text) {
        const auto next = static_cast<id>(texts_.size());
        const auto existing =
            index_.insert(hash_bytes(text), next, [&](id other) { return texts_[other] == text; });
        if (existing != next) {
            return chains_[existing];
        }
        texts_.push_back(text);
        id chain = no_id;
        if (read_stack(text, frames_) != nullptr) {
            for (auto at = frames_.rbegin(); at != frames_.rend(); ++at) {
                const source_position position{at->file, at->line, at->function};
                const auto hash = at->text.empty() ? 0 : source_lines::hash_text(at->text);
                chain = to_.add_link(chain, to_.add_frame(position, policy_.kind(position), hash));
            }
        }
        chains_.push_back(chain);
        return chain;
    }

private:
    source_lines& to_;
    const any_policy<frames_category>& policy_;
    std::vector<told_frame> frames_;
    std::vector<std::string_view> texts_;
    std::vector<id> chains_;
    flat_index index_;
};

/// What a node carries about its source line.
struct carried_source {
    std::string_view told;   ///< by the exporter
    std::string_view number; ///< number of a chain in the record
};

/// Returns: what a node carries; of several texts, the first one that is no doc_string.
/// Complexity: O(fields of the node).
[[nodiscard]] inline carried_source read_carried_source(const wire_model& model, id node) {
    carried_source result;
    std::string_view doc;
    if (!model.may_hold_tags(node)) {
        return result;
    }
    auto fields = model.reader(model.message(node));
    for (wire_field field; fields.next(field);) {
        if (field.is_bytes(onnx_fields::node::metadata_props)) {
            const auto [key, value] = wire_model::read_entry(fields, field);
            if (key == "pkg.torch.onnx.stack_trace" && result.told.empty()) {
                result.told = value;
            } else if (key == source_key) {
                result.number = value;
            }
        } else if (field.is_bytes(onnx_fields::node::doc_string)) {
            const auto text = fields.text(field);
            const auto split = tag_edits::split_doc_string(text);
            doc = split.whole_field_ours ? std::string_view() : text.substr(0, split.kept);
        }
    }
    result.told = result.told.empty() ? doc : result.told;
    return result;
}

/// Returns: for each node its number when the graph was tagged: unchanged if `fresh`, else derived
/// from marks and names of values, `no_id` if unknown. Complexity: as `find_recorded`.
[[nodiscard]] inline std::vector<id> find_recorded_numbers(const wire_model& model,
                                                           const module_tree& modules) {
    const auto text = find_model_metadata(model, sketch_key);
    const auto sketch = text ? read_sketch(*text, modules.size()) : std::nullopt;
    if (!sketch) {
        return {};
    }
    std::vector<node_mark_found> marks;
    for (id node = 0; node < model.node_count(); ++node) {
        for (const auto number : read_node_carriers(model, node).marks) {
            marks.push_back({node, number});
        }
    }
    return origin_finder(model, *sketch, modules.index(), marks).find_numbers();
}

/// What source lines are found from.
struct source_evidence {
    const wire_model& model;
    const module_tree& modules;
    const module_tree& recorded_modules;        ///< at the time of tagging
    const std::function<source_lines()>& given; ///< from a capture or an original; may be empty
    bool reads_record = false;                  ///< earlier tags in the file are trusted
    bool fresh = false;                         ///< the nodes are unchanged since tagging
    const any_policy<frames_category>& policy;
};

/// Finds the source lines of a model's nodes: from each node itself, else from what is given, else
/// from what the file recorded when it was tagged.
/// Complexity: O(fields of the nodes + bytes of distinct texts); for files changed since they were
/// tagged, as `find_recorded`.
[[nodiscard]] inline source_lines find_sources(const source_evidence& by) {
    const auto& model = by.model;
    source_lines lines;
    std::optional<recorded_sources> record;
    if (const auto text =
            by.reads_record ? find_model_metadata(model, sources_key) : std::nullopt) {
        record = read_sources(*text, by.policy, by.recorded_modules.size());
    }
    std::optional<chain_copier> kept;
    std::vector<id> numbers;
    if (record) {
        kept.emplace(record->lines, lines, by.policy);
        if (!by.fresh) {
            numbers = find_recorded_numbers(model, by.recorded_modules);
        }
    }
    const auto told_by_others = by.given ? by.given() : source_lines();
    std::optional<chain_copier> given;
    if (!told_by_others.empty()) {
        given.emplace(told_by_others, lines, by.policy);
    }
    const auto kept_chain = [&](id node, std::string_view number) {
        id place = no_id;
        const auto* end = number.data() + number.size();
        if (by.fresh) {
            place = node;
        } else if (!number.empty()) {
            const bool read = std::from_chars(number.data(), end, place).ptr == end;
            return read && place < record->chains.size() ? record->chains[place] : no_id;
        } else if (node < numbers.size()) {
            place = numbers[node];
        }
        return place == no_id ? no_id : record->chain_of(place);
    };
    told_sources told(lines, by.policy);
    for (id node = 0; node < model.node_count(); ++node) {
        const auto carried = read_carried_source(model, node);
        auto chain = carried.told.empty() ? no_id : told.chain_of(carried.told);
        if (chain == no_id && given) {
            const auto other_chain = told_by_others.chain_of(node);
            chain = other_chain == no_id ? no_id : given->chain(other_chain);
        }
        if (chain == no_id && record) {
            const auto old_chain = kept_chain(node, carried.number);
            chain = old_chain == no_id ? no_id : kept->chain(old_chain);
        }
        lines.set(node, chain);
    }
    for (id module = 0; module < by.modules.size(); ++module) {
        auto at = given ? told_by_others.frame_of_module(module) : no_id;
        if (at != no_id) {
            lines.set_module(module, given->frame(at));
        } else if (record && by.modules.size() == by.recorded_modules.size()) {
            at = record->lines.frame_of_module(module);
            if (at != no_id) {
                lines.set_module(module, kept->frame(at));
            }
        }
    }
    std::vector<std::string> classes;
    for (id module = 0; module < by.modules.size(); ++module) {
        classes.emplace_back(by.modules.qualified_class(module));
    }
    std::vector<std::string> paths;
    for (id file = 0; file < lines.file_count(); ++file) {
        paths.emplace_back(lines.path(file));
    }
    if (!paths.empty()) {
        lines.name_files(file_shortener(classes).shorten(paths));
    }
    return lines;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_RECORD_DETAIL_FIND_SOURCES_HPP
