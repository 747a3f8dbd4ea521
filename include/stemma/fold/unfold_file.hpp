// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_FOLD_UNFOLD_FILE_HPP
#define STEMMA_FOLD_UNFOLD_FILE_HPP

#include <stemma/config.hpp>
#include <stemma/error.hpp>
#include <stemma/fold/detail/fold_opener.hpp>
#include <stemma/fold/detail/function_bodies.hpp>
#include <stemma/fold/detail/function_inliner.hpp>
#include <stemma/fold/detail/inlined_model.hpp>
#include <stemma/fold/detail/inlined_names.hpp>
#include <stemma/io/mapped_file.hpp>
#include <stemma/io/output_file.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/onnx/carrier.hpp>
#include <stemma/onnx/data_placement.hpp>
#include <stemma/onnx/detail/message_tree.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/place_external_data.hpp>
#include <stemma/onnx/detail/splices.hpp>
#include <stemma/onnx/detail/temporary_model.hpp>
#include <stemma/onnx/detail/training_graphs.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/onnx/external_data.hpp>
#include <stemma/onnx/graph_contents.hpp>
#include <stemma/onnx/map_model.hpp>
#include <stemma/onnx/value_definitions.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/onnx/write_rope.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma/open/detail/untagged_model.hpp>
#include <stemma/record/detail/tag_model.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// Names of inlined nodes.
enum class unfolded_names : std::uint8_t {
    as_before, ///< as before folding, if recorded; otherwise after their modules
    as_called  ///< always after the call, `<name of the call>/<name in the function>`
};

/// The result of unfolding.
struct unfold_report {
    std::uint64_t bytes = 0;                ///< of the result
    std::size_t calls = 0;                  ///< inlined one by one; 0 if the model was restored
    bool is_restored = false;               ///< the model is as before folding
    bool lost_tags = false;                 ///< the model had tags, which are lost
    std::string problem{};                  ///< why it could not be restored despite its record
    std::vector<std::string> left_behind{}; ///< weight files that stay beside the source, but not
                                            ///< beside the result
};

namespace detail {

/// The unfolded form of a model without tags.
struct unfolded_rope {
    message_tree rope;
    unfold_report report;
    std::vector<attribution> attributions{}; ///< of its nodes; none where they are not known
};

inline void check_functions(const wire_model& model) {
    if (model.functions().empty()) {
        STEMMA_THROW(error(error_code::not_found, model.file(), "", "has no functions"));
    }
}

/// Refuses to inline functions that are called elsewhere. Throws: `error` of `unsupported`.
/// Complexity: O(fields of the model, of its functions and of training information).
inline void check_training(const wire_model& model) {
    std::set<operator_name> called;
    for_each_training_graph(model, [&](wire_reader graph) {
        for_each_node(graph, [&](wire_reader node) {
            for_each_operator(node, [&](const operator_name& name) { called.insert(name); });
        });
    });
    if (called.empty()) { // as in most models
        return;
    }
    const auto functions = read_function_bodies(model);
    for (const auto& name : called) {
        if (functions.contains(name)) {
            STEMMA_THROW(error(error_code::unsupported, model.file(), "training_info",
                               "calls the function '" + std::string(name.type) +
                                   "', which must therefore stay"));
        }
    }
}

/// Whether a file has a fold record, without reading the rest.
[[nodiscard]] inline bool says_how_folded(std::string_view bytes, const std::string& file) {
    if (bytes.size() >= std::uint64_t{1} << 32U) {
        return false; // not a model either
    }
    wire_reader fields(bytes.data(), 0, static_cast<std::uint32_t>(bytes.size()), file);
    for (wire_field field; fields.next(field);) {
        if (field.is_bytes(onnx_fields::model::metadata_props) &&
            wire_model::read_entry(fields, field).first == fold_key) {
            return true;
        }
    }
    return false;
}

/// Unfolds by the record. Returns: nothing without a record, or, with the problem in `report`, if
/// it no longer matches the model.
[[nodiscard]] inline std::optional<message_tree> restore_folds(const wire_model& model,
                                                               unfold_report& report) {
    const auto record = find_fold_record(model);
    if (!record) {
        return std::nullopt;
    }
    const graph_contents contents(model);
    std::optional<message_tree> rope;
    try {
        fold_opener opener(model, contents, *record);
        rope = opener.build();
        report.is_restored = opener.is_whole();
        report.problem = opener.is_whole() ? ""
                                           : "the model changed since it was folded; parts that "
                                             "functions do not keep are lost";
        report.lost_tags = !opener.restored_tags();
    } catch (const error& e) {
        if (e.code() != error_code::contradiction) {
            throw;
        }
        report.problem = e.what();
    }
    return rope;
}

/// `tagged` has the modules of nodes; null if nodes are named after their calls.
[[nodiscard]] inline unfolded_rope
unfold_rope(const untagged_model& source, const attributed_model* tagged, unfolded_names names) {
    const auto& model = source.model();
    const bool had_tags =
        source.was_tagged() || find_model_metadata(model, fold_source_tags_key).has_value();
    unfolded_rope unfolded;
    unfolded.report.lost_tags = true;
    std::optional<message_tree> restored;
    if (names == unfolded_names::as_before) {
        restored = restore_folds(model, unfolded.report);
    }
    if (restored) {
        unfolded.rope = std::move(*restored);
    } else {
        const bool by_module = tagged != nullptr && names == unfolded_names::as_before &&
                               !find_model_metadata(model, fold_key);
        std::optional<inlined_names> inlined;
        if (by_module) {
            inlined.emplace(model, tagged->modules(), tagged->tags().attributions, tagged->calls());
        }
        check_training(model);
        check_definitions(model);
        function_inliner inliner(model, std::move(inlined));
        unfolded.rope = inliner.build();
        unfolded.report.calls = inliner.calls();
        unfolded.attributions = inliner.attributions();
    }
    unfolded.report.lost_tags = unfolded.report.lost_tags && had_tags;
    unfolded.report.bytes = unfolded.rope.size();
    return unfolded;
}

/// Calls `write(file, plan)` with a copy of the unfolded form of a tagged model, and the plan that
/// writes the tags into it; not if the nodes' modules are unknown. The copy is a `temporary_model`.
/// Returns: whether it did. Complexity: O(bytes), and that of `tag_inlined`.
template <class Write>
bool tag_unfolded(const attributed_model& tagged, const untagged_model& source,
                  unfolded_rope& unfolded, const std::string& output, Write write) {
    if (!unfolded.report.lost_tags || unfolded.attributions.empty()) {
        return false;
    }
    const temporary_model plain(source.file(), source.model().file(), output, ".unfolded",
                                [&](auto& to) { unfolded.rope.write(to); });
    if (plain.model().node_count() != unfolded.attributions.size()) { // a call passes a body
        return false;
    }
    tag_inlined(tagged, plain.model(), std::move(unfolded.attributions), [&](auto& plan) {
        write(plain, plan);
        unfolded.report.bytes = static_cast<std::uint64_t>(plan.size());
    });
    unfolded.report.lost_tags = false;
    return true;
}

} // namespace detail

/// Writes a file with its functions inlined. Looks for the modules of nodes only if the file has no
/// fold record.
/// Throws: `error` of `error_code::not_found` if it has no functions, of `unsupported` if training
/// information calls one that must be inlined, of `malformed` if a value is defined more than once
/// where one is; as `function_inliner::build`, `fold_opener::build` and `write_rope`.
/// Complexity: O(bytes), plus that of these.
inline unfold_report unfold_file(const std::string& input, const std::string& output,
                                 unfolded_names names = unfolded_names::as_before,
                                 const write_options& options = {}) {
    auto file = map_model(input);
    const auto write = [&](const mapped_file& from, const wire_model& model,
                           const attributed_model* tagged) {
        detail::check_functions(model);
        const detail::untagged_model source(from, model, output);
        auto unfolded = detail::unfold_rope(source, tagged, names);
        const auto write_tags = [&](const detail::temporary_model& plain, auto& plan) {
            output_file written(output);
            plan.write(plain.file(), written);
            detail::place_external_data(model, output, options.data, options.replace_data,
                                        options.sync);
            written.commit(options.sync);
        };
        if (tagged == nullptr ||
            !detail::tag_unfolded(*tagged, source, unfolded, output, write_tags)) {
            write_rope(unfolded.rope, source.file(), source.model(), output, options);
        }
        unfolded.report.left_behind = files_left_behind(model, output, options.data);
        return std::move(unfolded.report);
    };
    if (names == unfolded_names::as_called || detail::says_how_folded(file.bytes(), input)) {
        return write(file, wire_model(file.bytes(), input), nullptr);
    }
    attributed_model tagged(std::move(file), {});
    return write(tagged.file(), tagged.model(), &tagged);
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_FOLD_UNFOLD_FILE_HPP
