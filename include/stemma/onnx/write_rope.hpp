// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_WRITE_ROPE_HPP
#define STEMMA_ONNX_WRITE_ROPE_HPP

#include <stemma/config.hpp>
#include <stemma/error.hpp>
#include <stemma/io/detail/system_files.hpp>
#include <stemma/io/mapped_file.hpp>
#include <stemma/io/output_file.hpp>
#include <stemma/onnx/detail/message_tree.hpp>
#include <stemma/onnx/detail/place_external_data.hpp>
#include <stemma/onnx/detail/splices.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// Whether a tagged file or a sidecar records the source lines of its nodes.
enum class written_sources : std::uint8_t {
    as_before,  ///< if stemma recorded them before
    shortened,  ///< with paths stripped of users' folders
    full_paths, ///< with the exporter's full paths
};

/// How a model is written to a file.
struct write_options {
    data_placement data = data_placement::keep; ///< what happens to external data files
    bool replace_data = false;                  ///< whether those may replace existing files
    bool sync = true;        ///< whether to wait until the bytes are on the medium
    bool name_nodes = false; ///< for `write_tagged`: names unnamed nodes
    written_sources sources = written_sources::as_before; ///< of tagged files and sidecars
    const std::vector<std::string>* parameters = nullptr; ///< for `write_tagged`: by initializer
                                                          ///< the value of `parameter_key`, or ""
};

namespace detail {

inline void check_rope_size(const message_tree& rope, const std::string& name) {
    if (rope.size() >= std::uint64_t{1} << 31U) {
        STEMMA_THROW(
            error(error_code::too_large, name, "", "would reach protobuf's limit of 2 GiB"));
    }
}

/// Returns: the bytes of a model derived from `file`.
/// Throws: `error` of `error_code::too_large` if they reach 2 GiB. Complexity: O(bytes).
[[nodiscard]] inline std::string rope_bytes(const message_tree& rope, const mapped_file& file) {
    detail::check_rope_size(rope, file.path());
    string_splice splice(file.bytes());
    rope.write(splice);
    return std::move(splice.text);
}

} // namespace detail

/// Writes a model derived from the bytes of `file`, which are those of `model`.
/// Throws: as above, `error` of `error_code::cannot_write`, and as `place_external_data`.
/// Complexity: O(bytes).
inline void write_rope(const detail::message_tree& rope, const mapped_file& file,
                       const wire_model& model, const std::string& output,
                       const write_options& options = {}) {
    detail::check_rope_size(rope, output);
    output_file written(output);
    detail::file_splice splice(file, written);
    rope.write(splice);
    detail::place_external_data(model, output, options.data, options.replace_data, options.sync);
    written.commit(options.sync);
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_ONNX_WRITE_ROPE_HPP
