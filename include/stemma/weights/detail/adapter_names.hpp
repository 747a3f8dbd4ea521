// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_WEIGHTS_DETAIL_ADAPTER_NAMES_HPP
#define STEMMA_WEIGHTS_DETAIL_ADAPTER_NAMES_HPP

#include <stemma/config.hpp>
#include <stemma/error.hpp>
#include <stemma/weights/parameter_origin.hpp>

#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: by entry of the model, the name in an adapter: the same, a shorter one that only this
/// entry ends with, or a longer one. The additional prefix of longer names is the same for all, as
/// for an adapter for a part of a larger model.
/// Throws: `error` of `contradiction`, with the adapter's `path`, for a name that is not an
/// entry's, or is another one's, and for names in several parts.
/// Complexity: O(names * length * log entries).
[[nodiscard]] inline std::map<std::string, std::string>
match_adapter_names(std::span<const std::string> names, std::span<const parameter_origin> origins,
                    const std::string& path) {
    std::map<std::string, std::string, std::less<>> by_end; // reversed, for common ends
    const auto reversed = [](std::string_view name) {
        return std::string(name.rbegin(), name.rend());
    };
    for (const auto& origin : origins) {
        for (const auto* list : {&origin.entries, &origin.shared}) {
            for (const auto& name : *list) {
                by_end.emplace(reversed(name), name);
            }
        }
    }
    std::map<std::string, std::string> result;
    std::optional<std::string> part; // what names have in front, reversed
    const std::string* example = nullptr;
    for (const auto& name : names) {
        const auto refuse = [&](const std::string& why) {
            STEMMA_THROW(error(error_code::contradiction, path, name, why));
        };
        const auto asked = reversed(name);
        std::string match;
        std::optional<std::string> front;
        if (const auto same = by_end.find(asked); same != by_end.end()) {
            match = same->second;
            front = "";
        } else if (const auto longer = by_end.lower_bound(asked + ".");
                   longer != by_end.end() && longer->first.starts_with(asked + ".")) {
            const auto next = std::next(longer);
            const bool alone = next == by_end.end() || !next->first.starts_with(asked + ".");
            match = alone ? longer->second : std::string();
        } else {
            for (auto dot = asked.rfind('.'); dot != asked.npos && dot > 0 && match.empty();
                 dot = asked.rfind('.', dot - 1)) {
                const auto shorter = by_end.find(asked.substr(0, dot));
                const bool of_module = asked.find('.') != dot;
                match = shorter != by_end.end() && of_module ? shorter->second : std::string();
                front = asked.substr(dot);
            }
        }
        if (match.empty()) {
            refuse("no initializer was made from it");
        }
        if (front && !part) {
            part = front;
            example = &name;
        } else if (front && *front != *part) {
            refuse("would be " + match + ", but is in another part of a model than " + *example);
        }
        if (const auto [entry, is_new] = result.emplace(match, name); !is_new) {
            refuse("would be " + match + ", as would " + entry->second);
        }
    }
    return result;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_WEIGHTS_DETAIL_ADAPTER_NAMES_HPP
