// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_FOLD_DETAIL_CALL_FRAME_HPP
#define STEMMA_FOLD_DETAIL_CALL_FRAME_HPP

#include <stemma/fold/detail/function_bodies.hpp>
#include <stemma/fold/detail/inlined_names.hpp>
#include <stemma/onnx/detail/message_tree.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// One call of a function: bindings of names and attributes in its body.
struct call_frame {
    std::string scope;                                     ///< prefix of all unbound names
    std::map<std::string_view, std::string> bound{};       ///< inputs and outputs; "" for none
    std::map<std::string_view, message_tree> attributes{}; ///< by name, which they omit
    inlined_place place{};                                 ///< where it runs, if requested
};

/// Returns: where a call runs; nowhere outside functions (`around` is null).
[[nodiscard]] inline inlined_place place_of(const call_frame* around) {
    return around == nullptr ? inlined_place{} : around->place;
}

/// Finds scopes for calls, such that no two values get one name.
class call_scopes {
public:
    /// Notes the name of a value, which must outlive this. Complexity: O(log names).
    void take(std::string_view name) { taken_.emplace(name); }

    /// Returns: a new name that is not a scope of any value's name. In that scope the values `own`
    /// have names that no other call's values have; these are noted. Complexity: O(length * log
    /// names + length of the noted names) on average, even for many calls of one name.
    [[nodiscard]] std::string free(const std::string& wanted,
                                   const std::vector<std::string_view>& own = {}) {
        const auto [entry, is_new] = given_.try_emplace(wanted, 0);
        if (is_new && is_free(wanted, own)) {
            return with(wanted, own);
        }
        for (auto& number = entry->second;;) {
            auto scope = wanted + "~" + std::to_string(++number);
            if (given_.try_emplace(scope, 0).second && is_free(scope, own)) {
                return with(std::move(scope), own);
            }
        }
    }

private:
    [[nodiscard]] bool is_free(const std::string& scope,
                               const std::vector<std::string_view>& own) const {
        auto name = scope + "/";
        const auto next = taken_.lower_bound(name);
        return (next == taken_.end() || !next->starts_with(name)) &&
               std::none_of(own.begin(), own.end(), [&, length = name.size()](auto value) {
                   name.resize(length);
                   return call_values_.contains(name.append(value));
               });
    }

    [[nodiscard]] std::string with(std::string scope, const std::vector<std::string_view>& own) {
        for (const auto value : own) {
            call_values_.insert((scope + "/").append(value));
        }
        return scope;
    }

    std::set<std::string_view> taken_;                   // names of values
    std::unordered_set<std::string> call_values_;        // names of values of calls
    std::unordered_map<std::string, std::size_t> given_; // the last number tried
};

/// Returns: the binding of a name in a body; outside functions (`around` is null) the name itself.
[[nodiscard]] inline std::string actual(std::string_view name, const call_frame* around) {
    if (around == nullptr || name.empty()) {
        return std::string(name);
    }
    const auto bound = around->bound.find(name);
    return bound != around->bound.end() ? bound->second : around->scope + "/" + std::string(name);
}

/// Returns: the bindings in a body, read by `fields`, that defines bound names itself, where they
/// have the scope of the call; nothing for other bodies. Complexity: O(fields).
[[nodiscard]] inline std::optional<call_frame> frame_in_body(wire_reader fields,
                                                             const call_frame& around) {
    std::optional<call_frame> inside;
    for_each_defined_name(fields, [&](std::string_view name) {
        if (around.bound.contains(name)) {
            (inside ? *inside : inside.emplace(around)).bound.erase(name);
        }
    });
    return inside;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_FOLD_DETAIL_CALL_FRAME_HPP
