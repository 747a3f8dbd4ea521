// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_OPEN_WRITE_TAGGED_HPP
#define STEMMA_OPEN_WRITE_TAGGED_HPP

#include <stemma/config.hpp>
#include <stemma/core/detail/id_set_pool.hpp>
#include <stemma/core/nearest_texts.hpp>
#include <stemma/core/parallel.hpp>
#include <stemma/core/text_list.hpp>
#include <stemma/error.hpp>
#include <stemma/io/detail/system_files.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/io/output_file.hpp>
#include <stemma/onnx/carrier.hpp>
#include <stemma/onnx/detail/place_external_data.hpp>
#include <stemma/onnx/detail/rewrite.hpp>
#include <stemma/onnx/detail/splices.hpp>
#include <stemma/onnx/write_rope.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma/record/detail/given_names.hpp>
#include <stemma/record/detail/graph_sketch.hpp>
#include <stemma/record/detail/model_record.hpp>
#include <stemma/record/detail/recorded_tags.hpp>
#include <stemma/record/detail/tag_model.hpp>
#include <stemma/record/detail/value_tags.hpp>
#include <stemma/record/module_statistics.hpp>
#include <stemma/record/sidecar.hpp>
#include <stemma/record/summary.hpp>

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace stemma::inline STEMMA_ABI {

namespace detail {

/// Returns: how a record describes where a carrier stores tags. An unknown carrier is recorded as
/// the table, which then is written as well: readers that know no other carrier find all tags
/// there.
template <carrier_policy Carrier>
[[nodiscard]] carrier_set recorded_carriers([[maybe_unused]] const Carrier& carrier) {
    if constexpr (std::same_as<Carrier, carrier_set>) {
        return carrier;
    } else {
        constexpr bool metadata = std::same_as<Carrier, metadata_carrier>;
        constexpr bool attribute = std::same_as<Carrier, attribute_carrier>;
        constexpr bool doc_string = std::same_as<Carrier, doc_string_carrier>;
        constexpr bool name_space = std::same_as<Carrier, namespace_carrier>;
        constexpr bool mark = std::same_as<Carrier, mark_carrier>;
        return {metadata,
                attribute,
                doc_string,
                name_space,
                !(metadata || attribute || doc_string || name_space || mark),
                mark};
    }
}

/// Returns: an editor that writes these tags into a model's file, with everything that belongs to
/// them: the record that `record(carriers)` returns, the sketch, table and tags of values that the
/// carrier needs.
///
/// Requires: the arguments outlive it. Complexity: that of `find_value_tags` and `sketch_of`.
template <carrier_policy Carrier, class Record>
[[nodiscard]] tag_editor<Carrier>
make_tag_editor(const wire_model& model, const module_tree& modules, const tagging& tags,
                Record record, const Carrier& carrier, std::string_view sources = {}) {
    const auto carriers = detail::recorded_carriers(carrier);
    std::string recorded;
    std::string sketch;
    value_tags values;
    const bool carries_values =
        carriers.metadata && !(model.tensors().empty() && model.value_infos().empty());
    run_tasks(thread_limit::current().parts_of_operators(model.node_count()),
              {[&] { recorded = detail::to_json(record(carriers), modules); },
               [&] {
                   if (carries_values) {
                       values = detail::find_value_tags(model, modules, tags);
                   }
               }});
    if (carriers.mark) {
        sketch = detail::to_json(detail::sketch_of(model, tags.attributions));
    }
    const auto table = carriers.model ? detail::to_json(to_table(tags)) : std::string();
    return tag_editor<Carrier>(model, modules, tags, carrier, std::move(values), recorded, table,
                               sketch, sources);
}

/// Whether tagging keeps the parameters of initializers and the names given to nodes that the file
/// already has. Complexity: O(1).
[[nodiscard]] inline bool keeps_additions(const attributed_model& opened) {
    return opened.is_fresh() && !opened.options().recompute;
}

/// Source lines that tagging writes.
struct sources_to_write {
    const source_lines* lines = nullptr; ///< null for none
    std::string text;                    ///< of all of them, for the model's metadata
};

/// Requires: the model outlives the result. Complexity: O(length).
[[nodiscard]] inline sources_to_write find_sources_to_write(const attributed_model& opened,
                                                            written_sources written) {
    const auto& model = opened.model();
    const bool writes = written != written_sources::as_before ||
                        find_model_metadata(model, sources_key).has_value();
    if (!writes || opened.lines().empty()) {
        return {};
    }
    return {&opened.lines(),
            to_json(opened.lines(), model.node_count(), static_cast<id>(opened.modules().size()),
                    written == written_sources::full_paths)};
}

/// Returns: an editor that writes a model's tags into its file, with everything that belongs to
/// them: the record, the sketch, table and tags of values that the carrier needs; and source lines.
///
/// Requires: the model outlives it. Complexity: that of `find_value_tags` and `sketch_of`.
template <carrier_policy Carrier>
[[nodiscard]] tag_editor<Carrier>
make_tag_editor(const attributed_model& opened, const Carrier& carrier,
                written_sources written = written_sources::as_before) {
    const auto sources = detail::find_sources_to_write(opened, written);
    auto editor = detail::make_tag_editor(
        opened.model(), opened.modules(), opened.tags(),
        [&](const carrier_set& carriers) { return opened.record(carriers); }, carrier,
        sources.text);
    if (sources.lines != nullptr) {
        editor.write_sources(*sources.lines);
    }
    return editor;
}

/// Returns: the editor that `options` ask for. Complexity: that of `make_tag_editor`.
template <carrier_policy Carrier>
[[nodiscard]] auto editor_for(const attributed_model& opened, const Carrier& carrier,
                              const write_options& options) {
    auto editor = make_tag_editor(opened, carrier, options.sources);
    const bool keeps = keeps_additions(opened);
    if (options.name_nodes || (keeps && has_given_names(opened.model()))) {
        editor.name_nodes(opened.model());
    }
    if (options.parameters != nullptr) {
        editor.write_parameters(*options.parameters);
    } else if (keeps) {
        editor.keep_parameters();
    }
    return editor;
}

} // namespace detail

/// Writes a model's file with tags, replacing existing ones. Needs no evidence (see
/// `attributed_model::forget_evidence`).
///
/// Returns: the size of the result in bytes.
/// Throws: `error` of `error_code::too_large` if it reaches 2 GiB, of `cannot_write`, and as
/// `place_external_data`.
/// Complexity: O(bytes), and that of `make_tag_editor`.
template <carrier_policy Carrier = carrier_set>
std::uint64_t write_tagged(const attributed_model& opened, const std::string& output,
                           const Carrier& carrier = usual_carriers,
                           const write_options& options = {}) {
    auto editor = detail::editor_for(opened, carrier, options);
    detail::rewrite plan(opened.model(), editor);
    output_file written(output);
    plan.write(opened.file(), written);
    detail::place_external_data(opened.model(), output, options.data, options.replace_data,
                                options.sync);
    written.commit(options.sync);
    return static_cast<std::uint64_t>(plan.size());
}

/// The same to a sink, piece by piece: unchanged parts are views of the model's bytes. Weights in
/// other files stay there. Throws: `error` of `too_large`. Complexity: as above.
template <text_sink Sink, carrier_policy Carrier = carrier_set>
void write_tagged(Sink& sink, const attributed_model& opened,
                  const Carrier& carrier = usual_carriers, const write_options& options = {}) {
    auto editor = detail::editor_for(opened, carrier, options);
    detail::rewrite plan(opened.model(), editor);
    detail::view_splice splice(opened.model().bytes(), sink);
    plan.write(splice);
}

/// Returns: the bytes of a model with tags. Throws: `error` of `too_large`.
/// Complexity: as above.
template <carrier_policy Carrier = carrier_set>
[[nodiscard]] std::string tagged_bytes(const attributed_model& opened,
                                       const Carrier& carrier = usual_carriers,
                                       const write_options& options = {}) {
    auto editor = detail::editor_for(opened, carrier, options);
    detail::rewrite plan(opened.model(), editor);
    detail::string_splice bytes(opened.model().bytes());
    plan.write(bytes);
    return std::move(bytes.text);
}

/// Writes everything known about a model (`stemma.sidecar/1`) to a sink, with `sources` including
/// known source lines of nodes. Complexity: as the overload that takes all parts, and that of
/// `collect_statistics`.
template <text_sink Sink>
void write_sidecar(Sink& sink, const attributed_model& opened, const tag_summary& summary,
                   written_sources sources = written_sources::as_before) {
    const auto& model = opened.model();
    const auto values = detail::find_value_tags(model, opened.modules(), opened.tags());
    write_sidecar(sink, model, opened.modules(), opened.tags(),
                  collect_statistics(model, opened.modules(), opened.tags()), values, summary,
                  {sources == written_sources::as_before ? nullptr : &opened.lines(),
                   sources == written_sources::full_paths});
}

/// The same to a file; of the options, `sync` and `sources` apply. Throws: `error` of
/// `error_code::cannot_write`, and of `refused` if that file has weights of the model.
/// Complexity: as above.
inline void write_sidecar(const std::string& output, const attributed_model& opened,
                          const tag_summary& summary, const write_options& options = {}) {
    detail::refuse_own_data(opened.model(), output);
    output_file written(output);
    write_sidecar(written, opened, summary, options.sources);
    written.commit(options.sync);
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_OPEN_WRITE_TAGGED_HPP
