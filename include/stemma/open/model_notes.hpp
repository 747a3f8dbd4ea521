// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_OPEN_MODEL_NOTES_HPP
#define STEMMA_OPEN_MODEL_NOTES_HPP

#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/parameter_owners.hpp>
#include <stemma/evidence/detail/scoped_name.hpp>
#include <stemma/evidence/scope_names.hpp>
#include <stemma/model/finding.hpp>
#include <stemma/onnx/onnx_model.hpp>
#include <stemma/onnx/value_definitions.hpp>
#include <stemma/open/attributed_model.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

namespace detail {

/// Collects messages for the user about the attribution of a model.
class note_taker {
public:
    explicit note_taker(const attributed_model& opened) : opened_(opened) {}

    [[nodiscard]] std::vector<finding> notes() && {
        note_record();
        if (!opened_.options().captures.empty()) {
            if (opened_.tags().origins.empty()) { // an original may have other names
                note_mapping();
                note_misfit();
            }
            for (const auto& text : opened_.capture_notes()) {
                add_of_capture("capture.unused", text);
            }
        }
        note_tree();
        note_evidence();
        note_structure();
        return std::move(notes_);
    }

private:
    void add(const char* code, std::string text, std::string place, id node = no_id) {
        notes_.push_back({code, node, std::move(text), severity::warning, std::move(place)});
    }

    void add(const char* code, std::string text, id node = no_id) {
        add(code, std::move(text), opened_.model().file(), node);
    }

    void add_of_capture(const char* code, std::string text) {
        add(code, std::move(text), opened_.options().captures.name());
    }

    void note_record() {
        if (opened_.was_tagged() && !opened_.is_fresh()) {
            add("tags.stale",
                std::string("the model changed since it was tagged; tags are recomputed") +
                    (opened_.uses_record() ? " from what is left of them" : ""));
        }
        for (const auto& text : opened_.record_notes()) {
            add("tags.unreadable", text);
        }
    }

    void note_mapping() {
        const auto& mapping = opened_.mapping();
        if (mapping.is_identity() || mapping.matched == 0) {
            return;
        }
        add_of_capture("capture.mapping",
                       mapping.base != 0
                           ? "paths in the model start at '" +
                                 opened_.modules().path(mapping.base) + "' of the capture"
                           : "paths in the model start with '" + std::string(mapping.strip) +
                                 ".', which the capture lacks");
    }

    /// Reports how much of the model leads to a module of the capture, if that is not nearly all.
    void note_misfit() {
        const auto& mapping = opened_.mapping();
        std::size_t scopes = 0;
        std::size_t bound = 0;
        for (id s = scope_style_count; s < opened_.scopes().scopes.size(); ++s) {
            ++scopes;
            bound += opened_.modules_of_scopes().of_scope[s].module == no_id ? 0U : 1U;
        }
        const auto tried = scopes + mapping.paths;
        const auto fits = bound + mapping.matched;
        if (tried == 0 || fits * 10 >= tried * 9) {
            return;
        }
        // Scopes do not tell where the name of a module ends if it has a slash.
        const bool foreign =
            fits * 2 < tried && (mapping.paths == 0 || mapping.matched * 2 < mapping.paths);
        const auto of = [](std::size_t count, std::size_t all) {
            return std::to_string(count) + " of " + std::to_string(all);
        };
        add_of_capture(
            "capture.misfit",
            of(bound, scopes) + " scopes and " + of(mapping.matched, mapping.paths) +
                " parameter paths of " + opened_.model().file() +
                " lead to a module of the capture; " +
                (foreign ? "it seems to belong to another model" : "the rest does not fit it"));
    }

    void note_tree() {
        const auto& modules = opened_.modules();
        if (opened_.tree_from_model() && modules.size() == 1 && modules.class_name(0).empty() &&
            opened_.model().node_count() > 0) {
            add("tree.unnamed", "nothing in it names a module");
        }
    }

    /// One message represents all similar ones.
    void note_evidence() {
        auto findings = opened_.hierarchies().problems;
        const auto& names = opened_.scopes().problems;
        findings.insert(findings.end(), names.begin(), names.end());
        const auto parameters = find_unreadable_parameters(opened_.operators());
        findings.insert(findings.end(), parameters.begin(), parameters.end());
        if (findings.empty()) {
            return;
        }
        auto first = std::move(findings.front());
        if (findings.size() > 1) {
            first.text += "; " + std::to_string(findings.size() - 1) + " similar";
        }
        first.place = opened_.model().file();
        notes_.push_back(std::move(first));
    }

    void note_structure() {
        const auto& model = opened_.model();
        if (model.opset_imports().empty()) {
            add("model.no_opsets", "has no opset imports");
        }
        if (!model.redefined().empty()) {
            const auto value = model.redefined().front();
            add("value.redefined", "value '" + std::string(model.value_name(value)) +
                                       "' is defined more than once, by " +
                                       definers_text(model, value));
        }
        for (id value = 0; value < model.value_count(); ++value) {
            if (model.kind(value) == value_kind::undefined) {
                add("value.undefined", "value '" + std::string(model.value_name(value)) +
                                           "' is read, but nothing produces it");
                break;
            }
        }
    }

    const attributed_model& opened_;
    std::vector<finding> notes_;
};

} // namespace detail

/// Returns: what a user should know about the attribution of a model: outdated tags, a capture that
/// does not fit or is of another model, a tree without names, unreadable evidence, values with no
/// definition or several. One of each kind; `place` is the file, "" for the capture; `node` is the
/// node concerned.
///
/// Requires: the evidence was not freed.
/// Complexity: O(nodes + values), and that of what was not computed yet.
[[nodiscard]] inline std::vector<finding> model_notes(const attributed_model& opened) {
    return detail::note_taker(opened).notes();
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_OPEN_MODEL_NOTES_HPP
