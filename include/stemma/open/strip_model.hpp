// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_OPEN_STRIP_MODEL_HPP
#define STEMMA_OPEN_STRIP_MODEL_HPP

#include <stemma/io/output_file.hpp>
#include <stemma/onnx/detail/place_external_data.hpp>
#include <stemma/onnx/detail/rewrite.hpp>
#include <stemma/onnx/detail/splices.hpp>
#include <stemma/onnx/external_data.hpp>
#include <stemma/onnx/map_model.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/onnx/write_rope.hpp>
#include <stemma/record/detail/tag_model.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// Sizes of a file before and after removing something.
struct stripped_sizes {
    std::uint64_t before = 0;               ///< bytes of the source
    std::uint64_t after = 0;                ///< bytes of the result
    std::vector<std::string> left_behind{}; ///< weight files that stay beside the source, but not
                                            ///< beside the result
};

/// Returns: the bytes of a model without anything written by stemma.
/// Throws, Complexity: as `rewrite`.
[[nodiscard]] inline std::string strip_model(const wire_model& model) {
    detail::strip_editor editor(model);
    detail::rewrite plan(model, editor);
    detail::string_splice bytes(model.bytes());
    plan.write(bytes);
    return std::move(bytes.text);
}

/// Rewrites a file without anything written by stemma. `input` and `output` may be the same path.
/// Throws: `error` if a file cannot be read or written, or is damaged.
/// Complexity: O(bytes).
inline stripped_sizes strip_model(const std::string& input, const std::string& output,
                                  const write_options& options = {}) {
    const auto file = map_model(input);
    const wire_model model(file.bytes(), input);
    detail::strip_editor editor(model);
    detail::rewrite plan(model, editor);
    output_file written(output);
    plan.write(file, written);
    detail::place_external_data(model, output, options.data, options.replace_data, options.sync);
    written.commit(options.sync);
    return {file.bytes().size(), static_cast<std::uint64_t>(plan.size()),
            files_left_behind(model, output, options.data)};
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_OPEN_STRIP_MODEL_HPP
