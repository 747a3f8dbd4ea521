// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_GRAPH_RUNS_HPP
#define STEMMA_ONNX_DETAIL_GRAPH_RUNS_HPP

#include <stemma/core/parallel.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Consecutive fields of a graph: bytes [begin, end) of the file.
struct graph_run {
    std::uint32_t begin = 0; ///< of the first field
    std::uint32_t end = 0;   ///< past the last
};

/// A length-delimited field, as far as that can be told without reading on.
struct guessed_field {
    std::uint32_t number = 0; // 0 for none
    std::uint32_t begin = 0;  // of the content
    std::uint32_t end = 0;
};

/// Returns: the length-delimited field with a low number at a position before `end`, if there may
/// be one.
[[nodiscard]] inline guessed_field guess_field(std::string_view bytes, std::uint32_t at,
                                               std::uint32_t end) noexcept {
    const std::uint32_t tag = static_cast<unsigned char>(bytes[at]);
    if (tag >= 0x80U || (tag & 7U) != 2) {
        return {};
    }
    std::uint64_t size = 0;
    unsigned char byte = 0x80;
    for (unsigned shift = 0; byte >= 0x80U && shift < 35 && ++at < end; shift += 7) {
        byte = static_cast<unsigned char>(bytes[at]);
        size |= std::uint64_t{byte & 0x7fU} << shift;
    }
    if (byte >= 0x80U || size > end - at - 1) {
        return {};
    }
    return {tag >> 3U, at + 1, at + 1 + static_cast<std::uint32_t>(size)};
}

/// Whether a field looks like a node, tensor or value of a graph. Complexity: O(fields in it).
[[nodiscard]] inline bool looks_like_graph_field(std::string_view bytes,
                                                 guessed_field field) noexcept {
    using at_graph = onnx_fields::graph;
    const auto first = field.begin < field.end ? static_cast<unsigned char>(bytes[field.begin]) : 0;
    switch (field.number) {
    case at_graph::initializer: {
        constexpr unsigned dims = 0x08;
        constexpr unsigned data_type = 0x10;
        return first == dims || first == data_type;
    }
    case at_graph::node:
    case at_graph::input:
    case at_graph::output:
    case at_graph::value_info: {
        // These contain only texts and messages.
        auto at = field.begin;
        while (at < field.end) {
            const auto inner = guess_field(bytes, at, field.end);
            if (inner.number == 0 || inner.number > onnx_fields::node::metadata_props) {
                return false;
            }
            at = inner.end;
        }
        return field.begin < field.end;
    }
    default:
        return false;
    }
}

/// Returns: a position after a given one where a field of a graph begins, judging by the following
/// ones, or 0. The first ones may be parts of another field, which ends where its last part does.
/// Complexity: constant apart from the size of those fields.
[[nodiscard]] inline std::uint32_t guess_begin(std::string_view bytes, std::uint32_t at,
                                               std::uint32_t end) noexcept {
    constexpr int convincing = 8;
    for (int i = 0; i < convincing; ++i) {
        const auto field = at < end ? guess_field(bytes, at, end) : guessed_field{};
        if (!looks_like_graph_field(bytes, field)) {
            return 0;
        }
        at = field.end;
    }
    return at < end ? at : 0;
}

/// Divides the fields of a graph into runs for the threads allowed, of about equal size.
///
/// Field boundaries are guessed at some places in the file: stepping from field to field would take
/// half as long as reading them. So a run is only valid if reading the preceding ones ends where it
/// begins, which fails if the guess was a field of a body. Tensor data do not look like fields, so
/// boundaries are in structured parts.
///
/// Requires: [begin, end) is the content of a GraphProto in `bytes`.
/// Returns: at least one run; together they are [begin, end).
/// Complexity: O(threads) plus a constant.
[[nodiscard]] inline std::vector<graph_run> guess_runs(std::string_view bytes, std::uint32_t begin,
                                                       std::uint32_t end) {
    constexpr std::size_t places = 128;
    constexpr std::uint32_t window = 1U << 14U;
    std::vector<graph_run> runs{{begin, end}};
    const auto count = thread_limit::current().parts(end - begin);
    if (count == 1) {
        return runs;
    }
    std::vector<std::uint32_t> begins;
    for (std::size_t i = 1; i < places; ++i) {
        const auto first = begin + static_cast<std::uint32_t>((end - begin) / places * i);
        const auto last = std::min(first + window, end);
        for (auto at = first; at < last; ++at) {
            if (const auto guess = detail::guess_begin(bytes, at, end); guess != 0) {
                begins.push_back(guess);
                break;
            }
        }
    }
    for (std::size_t i = 1; i < count; ++i) {
        const auto place = begins.size() * i / count;
        if (place < begins.size() && begins[place] > runs.back().begin) {
            runs.back().end = begins[place];
            runs.push_back({begins[place], end});
        }
    }
    return runs;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_GRAPH_RUNS_HPP
