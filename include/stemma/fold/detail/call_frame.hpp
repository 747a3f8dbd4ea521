// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_FOLD_DETAIL_CALL_FRAME_HPP
#define STEMMA_FOLD_DETAIL_CALL_FRAME_HPP

#include <stemma/fold/detail/inlined_names.hpp>
#include <stemma/onnx/message_tree.hpp>

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

namespace stemma::inline STEMMA_ABI::detail {

/// One call of a function: what the names and attributes in its body stand for.
struct call_frame {
    std::string scope; ///< stands in front of all names that are not bound
    std::map<std::string_view, std::string> bound{};       ///< inputs and outputs; "" for none
    std::map<std::string_view, message_tree> attributes{}; ///< by name, which they lack
    inlined_place place{};                                 ///< where it runs, if that is asked for
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

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_FOLD_DETAIL_CALL_FRAME_HPP
