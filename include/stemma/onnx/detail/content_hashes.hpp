// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_CONTENT_HASHES_HPP
#define STEMMA_ONNX_DETAIL_CONTENT_HASHES_HPP

#include <stemma/align/comparable_graph.hpp>
#include <stemma/core/parallel.hpp>
#include <stemma/onnx/detail/data_hashes.hpp>
#include <stemma/onnx/detail/tensor_content.hpp>
#include <stemma/onnx/message_refs.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <cstddef>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Hashes the contents of a model's tensors, wherever and however they are stored.
class content_hasher {
public:
    /// Requires: `model` outlives this.
    explicit content_hasher(const wire_model& model) : reader_(model) {}

    /// Returns: three hashes; 0 if the data are missing or, except for the first, if there are too
    /// few elements to be distinctive. Complexity: O(bytes).
    [[nodiscard]] content_hash hash(const tensor_ref& tensor) {
        const auto content = reader_.read(tensor);
        if (!content.readable || tensor.sparse) {
            return {};
        }
        return hash_data(data_layout(content.header), content.bytes());
    }

private:
    tensor_content_reader reader_;
};

/// Returns: the hashes of all initializers, numbered as in `wire_model::tensors`. Data are read
/// once, in sequence. Complexity: O(bytes).
[[nodiscard]] inline std::vector<content_hash> hash_contents(const wire_model& model) {
    const auto tensors = model.tensors();
    std::vector<content_hash> result(tensors.size());
    const auto parts = thread_limit::current().parts_of_tensors(tensors.size());
    for_each_range(tensors.size(), parts, [&](std::size_t, std::size_t begin, std::size_t end) {
        content_hasher hasher(model);
        for (auto i = begin; i < end; ++i) {
            result[i] = hasher.hash(tensors[i]);
        }
    });
    return result;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_CONTENT_HASHES_HPP
