// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_STATED_KINDS_HPP
#define STEMMA_ONNX_DETAIL_STATED_KINDS_HPP

#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/python_text.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace stemma::inline STEMMA_ABI::detail {

/// What a file says a tensor is, if anything.
enum class stated_kind : std::uint8_t {
    none,
    parameter, ///< of a PyTorch module: learned
    fixed,     ///< a buffer of one, or a tensor that its code makes
};

/// Returns: the kind that torch.export calls by this name. Complexity: O(1).
[[nodiscard]] constexpr stated_kind exported_kind(std::string_view name) noexcept {
    return name == "PARAMETER"                             ? stated_kind::parameter
           : name == "BUFFER" || name == "CONSTANT_TENSOR" ? stated_kind::fixed
                                                           : stated_kind::none;
}

/// Calls `f(name, kind)` for every tensor in the text of a graph signature, which has a line
/// `b_mask: BUFFER target='mask'` for each, or is one Python expression with
/// `InputSpec(kind=<InputKind.BUFFER: 3>, arg=..., target='mask', ...)`. Complexity: O(length).
template <class Function>
void for_each_in_signature(std::string_view text, Function f) {
    constexpr std::string_view target = " target=";
    constexpr std::string_view input_kind = "InputKind.";
    std::string name;
    for (auto at = text.find(target); at != text.npos; at = text.find(target)) {
        auto before = text.substr(0, at);
        text.remove_prefix(at + target.size());
        if (const auto kind = before.rfind(input_kind); kind != before.npos) {
            before = before.substr(kind + input_kind.size());
            before = before.substr(0, before.find(':'));
        } else {
            before.remove_prefix(before.rfind(' ') + 1);
        }
        const auto kind = exported_kind(before);
        if (kind != stated_kind::none && read_python_string(text, name) > 0) {
            f(std::string_view(name), kind);
        }
    }
}

/// What torch's exporter says of a model's initializers: parameter or buffer.
class stated_kinds {
public:
    /// Complexity: O(fields of graphs, and of initializers and value infos with metadata).
    explicit stated_kinds(const wire_model& model) {
        using at = onnx_fields::graph;
        for (const auto& [field, g] : model.graph_fields()) {
            if (field.is_bytes(at::metadata_props)) {
                const auto [key, text] = wire_model::read_entry(
                    model.reader({field.content, field.size(), no_id}), field);
                if (key == "pkg.torch.export.ExportedProgram.graph_signature") {
                    for_each_in_signature(text, [&](std::string_view name, stated_kind kind) {
                        kinds_.insert_or_assign(std::string(name), kind);
                    });
                }
            }
        }
        model.for_each_value_metadata([&](id value, std::string_view key, std::string_view text) {
            if (const auto kind = exported_kind(text);
                kind != stated_kind::none &&
                key == "pkg.torch.export.graph_signature.InputSpec.kind") {
                kinds_.insert_or_assign(std::string(model.value_name(value)), kind);
            }
        });
    }

    /// Whether nothing is said of any tensor.
    [[nodiscard]] bool empty() const noexcept { return kinds_.empty(); }

    /// Returns: the kind of the tensor with this name. Complexity: O(length).
    [[nodiscard]] stated_kind of(std::string_view name) const {
        if (empty()) {
            return stated_kind::none;
        }
        const auto kind = kinds_.find(std::string(name));
        return kind == kinds_.end() ? stated_kind::none : kind->second;
    }

private:
    std::unordered_map<std::string, stated_kind> kinds_; // by name
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_STATED_KINDS_HPP
