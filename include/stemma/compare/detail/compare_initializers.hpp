// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_COMPARE_DETAIL_COMPARE_INITIALIZERS_HPP
#define STEMMA_COMPARE_DETAIL_COMPARE_INITIALIZERS_HPP

#include <stemma/core/detail/hash.hpp>
#include <stemma/core/id.hpp>
#include <stemma/onnx/detail/tensor_content.hpp>
#include <stemma/onnx/tensor_header.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The relation of an initializer to those of another model.
enum class initializer_change : std::uint8_t {
    same,     ///< name, type, shape and data are equal
    vanished, ///< only in the first model
    appeared, ///< only in the second one
    renamed,  ///< same content, other name in the second one
    retyped,  ///< type or shape differ
    changed,  ///< same type and shape, different data
    unknown,  ///< data of one is missing
};

/// Returns: the name used in reports.
[[nodiscard]] constexpr std::string_view to_string(initializer_change change) noexcept {
    constexpr std::array<std::string_view, 7> names{"same",    "vanished", "appeared", "renamed",
                                                    "retyped", "changed",  "unknown"};
    return names[static_cast<std::size_t>(change)];
}

/// A difference of an initializer.
struct initializer_difference {
    initializer_change change = initializer_change::same; ///< never `same`
    std::string name;  ///< in the first model; for `appeared` in the second one
    std::string other; ///< `renamed`: in the second model
    std::string text;  ///< contents in the first and in the second model
};

[[nodiscard]] inline std::string type_text(const tensor_header& header) {
    auto text = std::string(data_type_name(header.data_type));
    text = text.empty() ? "type " + std::to_string(header.data_type) : text;
    for (std::size_t i = 0; i < header.dims.size(); ++i) {
        text.append(i == 0 ? "[" : ", ").append(std::to_string(header.dims[i]));
    }
    return text.append(header.dims.empty() ? "[]" : "]");
}

/// The initializers of a model by name, prefixed with the graph path in bodies.
class named_tensors {
public:
    explicit named_tensors(const wire_model& model) : model_(&model), reader_(model) {
        for (std::size_t i = 0; i < model.tensors().size(); ++i) {
            auto name = name_of(i);
            const auto next = names_.size();
            if (by_name_.emplace(name, next).second) {
                names_.push_back(std::move(name));
                tensors_.push_back(i);
            }
        }
    }

    [[nodiscard]] std::size_t size() const noexcept { return names_.size(); }
    [[nodiscard]] const std::string& name(std::size_t i) const noexcept { return names_[i]; }
    [[nodiscard]] tensor_content content(std::size_t i) {
        return reader_.read(model_->tensors()[tensors_[i]]);
    }
    /// Returns: the one with this name, or `size()`.
    [[nodiscard]] std::size_t find(const std::string& name) const {
        const auto entry = by_name_.find(name);
        return entry == by_name_.end() ? size() : entry->second;
    }

private:
    [[nodiscard]] std::string name_of(std::size_t i) const {
        const auto& tensor = model_->tensors()[i];
        const auto path = tensor.graph == 0 ? "" : model_->graph_path(tensor.graph) + "/";
        return path + std::string(model_->text(tensor.name)) + (tensor.sparse ? " (sparse)" : "");
    }

    const wire_model* model_;
    tensor_content_reader reader_;
    std::vector<std::string> names_;
    std::vector<std::size_t> tensors_;
    std::unordered_map<std::string, std::size_t> by_name_;
};

[[nodiscard]] inline initializer_change compare_contents(const tensor_content& a,
                                                         const tensor_content& b) {
    if (a.header.data_type != b.header.data_type || a.header.dims != b.header.dims) {
        return initializer_change::retyped;
    }
    if (!a.readable || !b.readable) {
        return initializer_change::unknown;
    }
    return have_same_data(a, b) ? initializer_change::same : initializer_change::changed;
}

/// Calls `report(difference)` for every initializer that differs between two models: those of the
/// first in order, then those only in the second.
///  Data is compared in place, in mapped files, in any encoding. Returns: the number of equal
/// ones. Complexity: O(data) of initializers of equal name, and of unmatched ones.
template <class Report>
std::size_t compare_initializers(const wire_model& a, const wire_model& b, Report report) {
    detail::named_tensors first(a);
    detail::named_tensors second(b);
    std::size_t same = 0;
    // Those only in the second one, by content hash.
    std::multimap<std::uint64_t, std::size_t> by_content;
    std::vector<bool> is_new(second.size(), false);
    const auto hash = [](const tensor_content& content) {
        return hash_bytes(content.bytes(), hash_bytes(detail::type_text(content.header)));
    };
    for (std::size_t i = 0; i < second.size(); ++i) {
        if (first.find(second.name(i)) == first.size()) {
            is_new[i] = true;
            if (const auto content = second.content(i); content.readable) {
                by_content.emplace(hash(content), i);
            }
        }
    }
    for (std::size_t i = 0; i < first.size(); ++i) {
        initializer_difference difference;
        difference.name = first.name(i);
        const auto content = first.content(i);
        if (const auto partner = second.find(difference.name); partner < second.size()) {
            const auto other = second.content(partner);
            difference.change = detail::compare_contents(content, other);
            if (difference.change == initializer_change::same) {
                ++same;
                continue;
            }
            difference.text = detail::type_text(content.header);
            if (difference.change == initializer_change::retyped) {
                difference.text.append(" and ").append(detail::type_text(other.header));
            }
        } else {
            difference.change = initializer_change::vanished;
            difference.text = detail::type_text(content.header);
            const auto [begin, end] = by_content.equal_range(content.readable ? hash(content) : 0);
            for (auto it = begin; it != end; ++it) {
                if (detail::compare_contents(content, second.content(it->second)) ==
                    initializer_change::same) {
                    difference.change = initializer_change::renamed;
                    difference.other = second.name(it->second);
                    is_new[it->second] = false;
                    by_content.erase(it);
                    break;
                }
            }
        }
        report(difference);
    }
    for (std::size_t i = 0; i < second.size(); ++i) {
        if (is_new[i]) {
            report(initializer_difference{initializer_change::appeared, second.name(i), "",
                                          detail::type_text(second.content(i).header)});
        }
    }
    return same;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_COMPARE_DETAIL_COMPARE_INITIALIZERS_HPP
