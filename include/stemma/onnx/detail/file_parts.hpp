// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_FILE_PARTS_HPP
#define STEMMA_ONNX_DETAIL_FILE_PARTS_HPP

#include <stemma/core/id.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// A range of a file, and the first leaf message of each kind in it. It begins with the length
/// prefix of one of those, or with the file.
struct file_part {
    std::uint32_t begin = 0; ///< offset from the start of the file
    std::uint32_t end = 0;   ///< where the next part begins
    id node = 0;             ///< the first without bodies that ends in the part
    std::size_t tensor = 0;  ///< the first initializer whose message ends in the part
    std::size_t info = 0;    ///< the first value info whose message ends in the part
};

/// Returns: the part that begins with the first message ending after a position, or at the end.
[[nodiscard]] inline file_part part_behind(const wire_model& model, std::span<const id> owners,
                                           std::uint32_t position) {
    file_part result;
    result.begin = static_cast<std::uint32_t>(model.bytes().size());
    const auto begin_with = [&](message_ref message) {
        result.begin = std::min(result.begin, message.begin - model.length_size(message));
    };
    const auto ends_before = [&](message_ref message) {
        return message.begin + message.size <= position;
    };
    const auto first_of = [&](const auto& messages) {
        const auto it =
            std::partition_point(messages.begin(), messages.end(),
                                 [&](const auto& one) { return ends_before(one.message); });
        if (it != messages.end()) {
            begin_with(it->message);
        }
        return static_cast<std::size_t>(it - messages.begin());
    };
    // Nodes are numbered by where they end.
    for (id count = model.node_count(); count > 0;) {
        const auto middle = result.node + count / 2;
        const bool before = ends_before(model.message(middle));
        result.node = before ? middle + 1 : result.node;
        count = before ? count - count / 2 - 1 : count / 2;
    }
    while (std::binary_search(owners.begin(), owners.end(), result.node)) {
        ++result.node;
    }
    if (result.node < model.node_count()) {
        begin_with(model.message(result.node));
    }
    result.tensor = first_of(model.tensors());
    result.info = first_of(model.value_infos());
    return result;
}

/// Divides a file into at most `count` parts of about equal size, at least one.
///
/// Requires: `owners` are the nodes with bodies, ascending.
/// Complexity: O(count * log messages).
[[nodiscard]] inline std::vector<file_part>
divide_file(const wire_model& model, std::span<const id> owners, std::size_t count) {
    const auto size = model.bytes().size();
    std::vector<file_part> parts(1);
    for (std::size_t i = 1; i < count; ++i) {
        const auto next =
            detail::part_behind(model, owners, static_cast<std::uint32_t>(size / count * i));
        if (next.begin > parts.back().begin && next.begin < size) {
            parts.back().end = next.begin;
            parts.push_back(next);
        }
    }
    parts.back().end = static_cast<std::uint32_t>(size);
    return parts;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_FILE_PARTS_HPP
