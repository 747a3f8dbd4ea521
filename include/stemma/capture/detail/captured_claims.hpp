// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CAPTURE_DETAIL_CAPTURED_CLAIMS_HPP
#define STEMMA_CAPTURE_DETAIL_CAPTURED_CLAIMS_HPP

#include <stemma/align/align.hpp>
#include <stemma/align/captured_operations.hpp>
#include <stemma/align/lexicon.hpp>
#include <stemma/capture/capture_source.hpp>
#include <stemma/capture/detail/capture_reader.hpp>
#include <stemma/capture/detail/captured_export.hpp>
#include <stemma/capture/detail/captured_json.hpp>
#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/find_quantized.hpp>
#include <stemma/evidence/detail/path_mapping.hpp>
#include <stemma/evidence/given_claims.hpp>
#include <stemma/evidence/user_frames.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/confidence.hpp>
#include <stemma/model/detail/parameter_shapes.hpp>
#include <stemma/model/detail/stated_module.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/source_lines.hpp>
#include <stemma/onnx/detail/node_attributes.hpp>
#include <stemma/onnx/onnx_operators.hpp>
#include <stemma/onnx/tensor_header.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/record/detail/find_sources.hpp>
#include <stemma/record/detail/recorded_claims.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: for each parameter the number of the initializer that it is or passes on; `no_id` if
/// none. Complexity: O(values + parameters).
[[nodiscard]] inline std::vector<id> tensors_of_parameters(const wire_model& model,
                                                           const onnx_operators<wire_model>& ops) {
    std::vector<id> tensor_of(model.value_count(), no_id);
    for (id t = 0; t < model.tensors().size(); ++t) {
        if (model.tensors()[t].value != no_id) {
            tensor_of[model.tensors()[t].value] = t;
        }
    }
    std::vector<id> tensors;
    for (id p = 0; p < ops.parameter_count(); ++p) {
        tensors.push_back(tensor_of[ops.initializer_of(p)]);
    }
    return tensors;
}

/// Returns: the shapes of matrices that are stored in blocks of a few bits, as in PyTorch, by
/// parameter. Complexity: O(nodes + fields of those that read such).
[[nodiscard]] inline std::unordered_map<id, std::array<std::int64_t, 2>>
find_packed_shapes(const wire_model& model, const onnx_operators<wire_model>& ops) {
    std::unordered_map<id, std::array<std::int64_t, 2>> shapes;
    for (id node = 0; node < model.node_count(); ++node) {
        if (!is_packed_product(model.op_type(node))) {
            continue;
        }
        const node_attributes attributes(model, node);
        const auto rows = attributes.whole("N");
        const auto columns = attributes.whole("K");
        auto packed = no_id; // the first parameter; scales follow
        ops.for_each_parameter(node, [&](id p) { packed = packed == no_id ? p : packed; });
        if (rows && columns && packed != no_id) {
            shapes.emplace(packed, std::array{*rows, *columns});
        }
    }
    return shapes;
}

/// Returns: the shapes of the initializers that operators read.
/// Complexity: O(nodes + fields of initializers); data are not touched.
[[nodiscard]] inline parameter_shapes find_parameter_shapes(const wire_model& model,
                                                            const onnx_operators<wire_model>& ops) {
    parameter_shapes shapes;
    const auto packed = find_packed_shapes(model, ops);
    const auto tensors = tensors_of_parameters(model, ops);
    for (id p = 0; p < tensors.size(); ++p) {
        if (const auto entry = packed.find(p); entry != packed.end()) {
            shapes.add(entry->second);
        } else if (tensors[p] == no_id) {
            shapes.add({});
        } else {
            shapes.add(read_value_header(model, model.tensors()[tensors[p]]).dims);
        }
    }
    return shapes;
}

/// Makes a capture's claims about the nodes of a model.
class captured_claims {
public:
    /// Requires: all arguments outlive it.
    captured_claims(const wire_model& model, const onnx_operators<wire_model>& ops,
                    const module_tree& modules, const path_mapping& mapping)
        : model_(model), ops_(ops), modules_(modules), mapping_(mapping) {}

    /// Aligns all operations of a capture whose source is used; see `align_operations`.
    /// Complexity: that of each alignment.
    template <class Uses>
    void align_all(capture_reader& capture, std::span<const stated_module> stated, Uses uses) {
        if (uses(provenance::torchscript)) {
            align_operations(capture.torchscript(modules_), provenance::torchscript, stated);
        }
        if (uses(provenance::trace)) {
            align_operations(capture.trace(modules_), provenance::trace, stated);
        }
        if (uses(provenance::fx)) {
            for (const auto& graph : capture.fx(modules_)) {
                align_operations(graph, provenance::fx, stated);
            }
        }
    }

    /// Aligns the operations, and makes claims about the nodes that the file itself does not
    /// settle. Complexity: that of `align`.
    void align_operations(const captured_operations& captured, provenance source,
                          std::span<const stated_module> stated) {
        if (captured.empty()) {
            return;
        }
        if (!shapes_known_) {
            shapes_ = find_parameter_shapes(model_, ops_);
            shapes_known_ = true;
        }
        const auto aligned =
            align(ops_, modules_.index(), captured, mapping_, shapes_, torch_lexicon(), stated);
        for (const auto& doubt : aligned.doubts) {
            evidence_.notes.push_back(std::string(to_string(source)) + ": " + doubt);
        }
        if (!aligned.is_plausible() || !aligned.is_consistent()) {
            return;
        }
        claim_table table{source, std::vector<claim>(model_.node_count())};
        for (id node = 0; node < model_.node_count(); ++node) {
            const auto& entry = aligned.of[node];
            if (!stated[node].settled && entry.module != no_id && entry.confidence > 0) {
                table.of[node] = {entry.module, entry.call, in_percent(entry.confidence), source,
                                  entry.exact};
            }
        }
        for (auto& item : evidence_.claims) {
            if (item.source == source) { // another graph of the same kind
                settle(item, table);
                join(item, table);
                return;
            }
        }
        evidence_.claims.push_back(std::move(table));
    }

    /// Looks up the nodes recorded by an export.
    /// Complexity: O((nodes + recorded nodes) log nodes).
    void look_up(const captured_export& exported) {
        if (exported.empty()) {
            return;
        }
        std::map<std::string, id, std::less<>> graphs;
        for (id g = 0; g < model_.graph_count(); ++g) {
            graphs.emplace(model_.graph_path(g), g);
        }
        std::map<std::pair<id, id>, id> places;
        for (id node = 0; node < model_.node_count(); ++node) {
            places.emplace(std::pair(model_.graph_of(node), model_.position(node)), node);
        }
        claim_table table{provenance::exported, std::vector<claim>(model_.node_count())};
        std::size_t strangers = 0;
        std::size_t scoped = 0;
        const any_policy<frames_category> frames;
        told_sources told(lines_, frames);
        std::vector<std::pair<id, id>> chains; // of nodes
        for (const auto& recorded : exported.nodes()) {
            const auto g = graphs.find(recorded.graph);
            const auto place =
                g == graphs.end() ? places.end() : places.find({g->second, recorded.index});
            const auto module = recorded.scoped ? find_path(modules_, recorded.module) : no_id;
            scoped += recorded.scoped ? 1U : 0U;
            if (place == places.end() || model_.op_type(place->second) != recorded.op_type ||
                (recorded.scoped && module == no_id)) {
                strangers += 1;
                continue;
            }
            if (recorded.scoped) {
                table.of[place->second] = {module, no_id, 1, provenance::exported};
            }
            if (recorded.stack < exported.stacks().size()) {
                chains.emplace_back(place->second,
                                    told.chain_of(exported.stacks()[recorded.stack]));
            }
        }
        if (strangers > 0) {
            evidence_.notes.push_back(
                "export: " + std::to_string(strangers) + " of " +
                std::to_string(exported.nodes().size()) +
                " nodes are not in this file; it is the record of another export");
            return;
        }
        for (const auto& [node, chain] : chains) {
            lines_.set(node, chain);
        }
        if (scoped > 0) {
            evidence_.claims.push_back(std::move(table));
        }
    }

    /// Records where the forward of modules begins. Complexity: O(length of paths and texts).
    void tell_modules(const std::vector<std::pair<std::string, std::string>>& sources) {
        const any_policy<frames_category> frames;
        told_sources told(lines_, frames);
        for (const auto& [path, stack] : sources) {
            const auto module = find_path(modules_, path);
            const auto chain = module == no_id ? no_id : told.chain_of(stack);
            if (chain != no_id) {
                lines_.set_module(module, lines_.frame_of_chain(chain));
            }
        }
    }

    /// Returns: everything found; call once. Complexity: O(nodes).
    [[nodiscard]] captured_evidence finish() {
        if (!lines_.empty()) {
            evidence_.sources = [lines = std::move(lines_)] { return lines; };
        }
        claim_table* trace = nullptr;
        claim_table* fx = nullptr;
        for (auto& table : evidence_.claims) {
            trace = table.source == provenance::trace ? &table : trace;
            fx = table.source == provenance::fx ? &table : fx;
        }
        if (trace != nullptr && fx != nullptr) {
            settle(*trace, *fx);
        }
        return std::move(evidence_);
    }

private:
    /// If two graphs, or a trace and a graph, give different modules, both lose confidence by the
    /// weight of the other; if the first one weighs much less, it is dropped.
    void settle(claim_table& first_table, claim_table& second_table) const {
        for (id node = 0; node < model_.node_count(); ++node) {
            auto& a = first_table.of[node];
            auto& b = second_table.of[node];
            if (a.module == no_id || b.module == no_id || a.module == b.module ||
                ((!a.exact || !b.exact) && modules_.index().are_related(a.module, b.module))) {
                continue;
            }
            const auto first = a.confidence * (1 - b.confidence);
            const auto second = b.confidence * (1 - a.confidence);
            const auto sum = first + second;
            a.confidence = in_percent(sum > 0 ? first / sum : 0);
            b.confidence = in_percent(sum > 0 ? second / sum : 0);
            if (b.confidence > a.confidence + detail::confidence::capture_margin) {
                a = {};
            }
        }
    }

    /// Adds the claims that are new or have more confidence.
    static void join(claim_table& into, const claim_table& from) {
        for (std::size_t node = 0; node < into.of.size(); ++node) {
            const auto& entry = from.of[node];
            auto& slot = into.of[node];
            slot = slot.module == no_id ||
                           (entry.module != no_id && entry.confidence > slot.confidence)
                       ? entry
                       : slot;
        }
    }

    const wire_model& model_;
    const onnx_operators<wire_model>& ops_;
    const module_tree& modules_;
    const path_mapping& mapping_;
    parameter_shapes shapes_;
    bool shapes_known_ = false;
    source_lines lines_;
    captured_evidence evidence_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CAPTURE_DETAIL_CAPTURED_CLAIMS_HPP
