// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_WIRE_CAPTURES_HPP
#define STEMMA_ONNX_WIRE_CAPTURES_HPP

#include <stemma/capture/original_model.hpp>
#include <stemma/core/parallel.hpp>
#include <stemma/error.hpp>
#include <stemma/evidence/capture_match.hpp>
#include <stemma/evidence/path_mapping.hpp>
#include <stemma/io/capture.hpp>
#include <stemma/io/file.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/onnx/onnx_operators.hpp>
#include <stemma/onnx/wire/capture_source.hpp>
#include <stemma/onnx/wire/captured_claims.hpp>
#include <stemma/onnx/wire/wire_model.hpp>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
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

    [[nodiscard]] captured_evidence
    find_claims(const wire_model& model, const onnx_operators<wire_model>& ops,
                const module_tree& modules, const path_mapping& mapping,
                const std::function<bool(provenance)>& uses,
                const std::function<std::vector<bool>()>& find_open) override {
        const auto open = find_open();
        captured_claims finder(model, ops, modules, mapping);
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

/// Whether a file holds a model rather than text, which begins with no control characters but
/// white space.
[[nodiscard]] inline bool holds_model(const std::string& path) {
    std::error_code failed; // a pipe can be read once only
    if (!std::filesystem::is_regular_file(path, failed)) {
        return false;
    }
    const mapped_file file(path);
    const auto bytes = file.bytes();
    return !bytes.empty() && static_cast<unsigned char>(bytes.front()) < 0x20 &&
           std::string_view("\t\n\r").find(bytes.front()) == std::string_view::npos;
}

} // namespace detail

/// Returns: captures of one model in files, also modules in a sidecar, to be given to
/// `attribution_options`; an ONNX file among them is the original that the model was made of, see
/// `carried_from`, and the others are captures of that. What it takes to read and align them is
/// compiled into programs that call this, and into no others.
/// Throws: when the model is attributed, as `read_captures` and `attributed_model`, and `error` of
///   `error_code::refused` where there are several ONNX files.
[[nodiscard]] inline capture_source captures(std::vector<std::string> paths,
                                             thread_limit threads = {}) {
    if (paths.empty()) {
        return {};
    }
    return capture_source([paths = std::move(paths), threads]() -> std::unique_ptr<opened_capture> {
        auto others = paths;
        const auto model =
            std::stable_partition(others.begin(), others.end(), [](const std::string& path) {
                return !detail::holds_model(path);
            });
        if (others.end() - model > 1) {
            STEMMA_THROW(error(error_code::refused, *(model + 1), "",
                               "is one original too many, beside " + *model));
        }
        if (model == others.end()) {
            return std::make_unique<detail::file_captures>(read_captures(paths));
        }
        const auto original = *model;
        others.erase(model, others.end());
        return carried_from(original,
                            {.captures = captures(std::move(others), threads), .threads = threads})
            .open();
    });
}

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_CAPTURES_HPP
