// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TYPES_DETAIL_DESCRIBE_TYPE_HPP
#define STEMMA_TYPES_DETAIL_DESCRIBE_TYPE_HPP

#include <stemma/onnx/tensor_header.hpp>
#include <stemma/types/described_type.hpp>
#include <stemma/types/detail/type_proto.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: the name of an element type, `type 99` for an unknown number.
[[nodiscard]] inline std::string element_name(std::int64_t data_type) {
    const auto name = data_type_name(data_type);
    return name.empty() && data_type != 0 ? "type " + std::to_string(data_type) : std::string(name);
}

/// Whether no value has both types, which are known: element types, ranks or two numbers of an
/// extent differ. Complexity: O(rank).
[[nodiscard]] inline bool contradict(const described_type& x, const described_type& y) {
    if (x.name != y.name || !x.has_shape || !y.has_shape) {
        return x.name != y.name;
    }
    const auto is_same = [](const described_type::extent& first,
                            const described_type::extent& second) {
        const auto* from = std::get_if<std::int64_t>(&first);
        const auto* to = std::get_if<std::int64_t>(&second);
        return from == nullptr || to == nullptr || *from < 0 || *to < 0 || *from == *to;
    };
    return !std::equal(x.shape.begin(), x.shape.end(), y.shape.begin(), y.shape.end(), is_same);
}

[[nodiscard]] inline described_type describe_type(const type_proto& type, int depth) {
    // Bounded, as a hostile file must not exhaust the stack.
    constexpr int deepest = 32;
    using kind = type_proto::kind;
    described_type described;
    if (type.is_tensor()) {
        const auto element = element_name(type.data_type);
        described.name = type.what == kind::sparse ? "sparse(" + element + ")" : element;
        described.has_shape = type.shape.has_value();
        if (type.shape) {
            for_each_extent(*type.shape, [&](std::int64_t extent, std::string_view name) {
                name.empty() ? described.shape.emplace_back(extent)
                             : described.shape.emplace_back(std::string(name));
            });
        }
        return described;
    }
    const auto or_unknown = [](std::string text) { return text.empty() ? "?" : text; };
    const auto held = type.inner && depth < deepest
                          ? to_text(describe_type(read_type(*type.inner), depth + 1))
                          : std::string();
    if (type.what == kind::sequence) {
        described.name = "sequence(";
    } else if (type.what == kind::optional) {
        described.name = "optional(";
    } else if (type.what == kind::map) {
        described.name = "map(" + or_unknown(element_name(type.data_type)) + ",";
    } else {
        return described;
    }
    described.name.append(or_unknown(held)).append(")");
    return described;
}

/// Reads the bytes of a TypeProto.
/// Returns: the type; its name is "" if unknown.
/// Throws: `error` of `malformed`. Complexity: O(bytes).
[[nodiscard]] inline described_type describe_type(std::string_view type) {
    return detail::describe_type(detail::read_type(type), 0);
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_TYPES_DETAIL_DESCRIBE_TYPE_HPP
