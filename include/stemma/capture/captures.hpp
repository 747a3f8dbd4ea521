// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CAPTURE_CAPTURES_HPP
#define STEMMA_CAPTURE_CAPTURES_HPP

#include <stemma/capture/capture.hpp>
#include <stemma/capture/capture_source.hpp>
#include <stemma/capture/detail/captured_claims.hpp>
#include <stemma/evidence/detail/capture_match.hpp>
#include <stemma/evidence/detail/path_mapping.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/onnx/onnx_operators.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/record/tag_model.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace stemma {

namespace detail {

/// Captures in files, read and aligned.
class file_captures final : public opened_capture {
public:
    explicit file_captures(capture_reader reader) : reader_(std::move(reader)) {}

    [[nodiscard]] module_tree modules() override { return reader_.tree(); }

    [[nodiscard]] std::optional<std::string> is_foreign(const onnx_operators<wire_model>& ops,
                                                        const module_tree& modules) const override {
        const auto match = match_capture(ops, modules);
        return match.is_foreign() ? std::optional(match.note()) : std::nullopt;
    }

    [[nodiscard]] bool has_operations() const override { return reader_.has_operations(); }

    [[nodiscard]] std::function<source_lines()>
    module_lines(const wire_model& model, const onnx_operators<wire_model>& ops,
                 const module_tree& modules, const path_mapping& mapping) const override {
        captured_claims finder(model, ops, modules, mapping);
        finder.tell_modules(reader_.module_sources());
        return finder.finish().sources;
    }

    [[nodiscard]] captured_evidence
    find_claims(const wire_model& model, const onnx_operators<wire_model>& ops,
                const module_tree& modules, const path_mapping& mapping,
                const std::function<bool(provenance)>& uses,
                const std::function<std::vector<bool>()>& find_open) override {
        const auto open = find_open();
        captured_claims finder(model, ops, modules, mapping);
        finder.tell_modules(reader_.module_sources());
        if (uses(provenance::exported)) {
            finder.look_up(reader_.exported());
        }
        if (std::find(open.begin(), open.end(), true) != open.end()) {
            finder.align_all(reader_, open, uses);
        }
        return finder.finish();
    }

private:
    capture_reader reader_;
};

} // namespace detail

/// Returns: captures of one model in files, also modules in a sidecar or in a tagged model, to be
/// given to `attribution_options`. What it takes to read and align them is compiled into programs
/// that call this, and into no others.
/// Throws: when the model is attributed, as `read_captures`.
[[nodiscard]] inline capture_source captures(std::vector<std::string> paths) {
    if (paths.empty()) {
        return {};
    }
    return capture_source([paths = std::move(paths)]() -> std::unique_ptr<opened_capture> {
        return std::make_unique<detail::file_captures>(read_captures(paths, recorded_modules{}));
    });
}

} // namespace stemma

#endif // STEMMA_CAPTURE_CAPTURES_HPP
