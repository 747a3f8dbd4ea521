// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_FOLD_DETAIL_CALL_FRAME_HPP
#define STEMMA_FOLD_DETAIL_CALL_FRAME_HPP

#include <stemma/fold/detail/inlined_names.hpp>
#include <stemma/onnx/detail/message_edits.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

namespace stemma {

/// One call of a function: what the names and attributes in its body stand for.
struct call_frame {
    std::string scope; ///< stands in front of all names that are not bound
    std::map<std::string_view, std::string> bound{};      ///< inputs and outputs; "" for none
    std::map<std::string_view, std::string> attributes{}; ///< AttributeProtos by name
    inlined_place place{};                                ///< where it runs, if that is asked for
};

/// Returns: where a call runs; outside of functions (`around` is null) nowhere.
[[nodiscard]] inline inlined_place place_of(const call_frame* around) {
    return around == nullptr ? inlined_place{} : around->place;
}

/// Finds scopes for calls that nothing else has.
class call_scopes {
public:
    /// Notes the name of a value, which stays as long as this. Complexity: O(log names).
    void take(std::string_view name) { taken_.emplace(name); }

    /// Returns: a name that no value's name continues with a slash, and that was not given before.
    /// Complexity: O(length * log names) on average, however many calls have one name.
    [[nodiscard]] std::string free(const std::string& wanted) {
        const auto is_free = [&](const std::string& scope) {
            const auto next = taken_.lower_bound(scope + "/");
            return next == taken_.end() || !next->starts_with(scope + "/");
        };
        const auto [known, is_new] = given_.try_emplace(wanted, 0);
        if (is_new && is_free(wanted)) {
            return wanted;
        }
        for (auto& number = known->second;;) {
            auto scope = wanted + "~" + std::to_string(++number);
            if (given_.try_emplace(scope, 0).second && is_free(scope)) {
                return scope;
            }
        }
    }

private:
    std::set<std::string_view> taken_;                   // names of values
    std::unordered_map<std::string, std::size_t> given_; // the last number that was tried
};

/// Returns: what a name in a body stands for; outside of functions (`around` is null) itself.
[[nodiscard]] inline std::string actual(std::string_view name, const call_frame* around) {
    if (around == nullptr || name.empty()) {
        return std::string(name);
    }
    const auto bound = around->bound.find(name);
    return bound != around->bound.end() ? bound->second : around->scope + "/" + std::string(name);
}

/// Returns: an AttributeProto with another name. Complexity: O(bytes).
[[nodiscard]] inline std::string with_name(std::string_view attribute, std::string_view name) {
    std::string out;
    wire_reader fields(attribute.data(), 0, static_cast<std::uint32_t>(attribute.size()), {});
    detail::append_field(detail::onnx_fields::attribute::name, name, out);
    for (wire_field field; fields.next(field);) {
        if (!field.is_bytes(detail::onnx_fields::attribute::name)) {
            out.append(fields.whole(field));
        }
    }
    return out;
}

/// Appends, as field `number`, a message in which field `name` names a value. Complexity: O(bytes).
inline void put_named(wire_reader fields, std::uint32_t name, const call_frame* around,
                      std::uint32_t number, std::string& out) {
    std::string content;
    for (wire_field field; fields.next(field);) {
        if (field.is_bytes(name)) {
            detail::append_field(name, actual(fields.text(field), around), content);
        } else {
            content.append(fields.whole(field));
        }
    }
    detail::append_field(number, content, out);
}

/// Appends a SparseTensorProto likewise: its values have a name. Complexity: O(bytes).
inline void put_sparse(wire_reader fields, const call_frame* around, std::uint32_t number,
                       std::string& out) {
    using at = detail::onnx_fields::sparse_tensor;
    std::string content;
    for (wire_field field; fields.next(field);) {
        if (field.is_bytes(at::values)) {
            put_named(fields.inner(field), detail::onnx_fields::tensor::name, around, field.number,
                      content);
        } else {
            content.append(fields.whole(field));
        }
    }
    detail::append_field(number, content, out);
}

} // namespace stemma

#endif // STEMMA_FOLD_DETAIL_CALL_FRAME_HPP
