// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TYPES_DETAIL_FACT_MEMO_HPP
#define STEMMA_TYPES_DETAIL_FACT_MEMO_HPP

#include <stemma/core/detail/hash.hpp>
#include <stemma/core/id.hpp>
#include <stemma/types/detail/fact_table.hpp>

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace stemma::inline STEMMA_ABI::detail {

/// Memoizes inference: outputs follow from the operator, the facts about its inputs and, if
/// inference reads them, attributes and small constants.
class fact_memo {
public:
    /// Requires: `table` outlives this.
    explicit fact_memo(fact_table& table) : table_(table) {}

    /// Adds the facts that `infer()` finds for a node, calling it only if needed. Complexity:
    /// O(inputs, bytes of attributes), expected, and that of `infer`.
    template <class Infer>
    void infer(id node, Infer infer) {
        key_.clear();
        table_.append_inputs(node, key_);
        auto entry = inferred_.find(std::string_view(key_));
        const bool looks_closer = entry != inferred_.end() && entry->second.looks_closer;
        if (looks_closer) {
            if (!table_.append_details(node, key_)) {
                infer();
                return;
            }
            entry = inferred_.find(std::string_view(key_));
        }
        if (entry != inferred_.end()) {
            for (const auto& [output, facts] : entry->second.made) {
                table_.note(node, output, facts);
            }
            return;
        }
        table_.watch();
        infer();
        auto seen = table_.stop_watching();
        if (inferred_.size() >= most || seen.looks_beyond) {
            return;
        }
        if (seen.looks_closer && !looks_closer) {
            inferred_[key_].looks_closer = true;
            if (!table_.append_details(node, key_)) {
                return;
            }
        }
        seen.looks_closer = false;
        inferred_.insert_or_assign(key_, std::move(seen));
    }

private:
    // Bounded, for models without similar nodes.
    static constexpr std::size_t most = std::size_t{1} << 16U;

    struct hash_text {
        using is_transparent = void;
        [[nodiscard]] std::size_t operator()(std::string_view text) const noexcept {
            return static_cast<std::size_t>(hash_bytes(text));
        }
    };

    fact_table& table_;
    std::string key_;
    std::unordered_map<std::string, fact_table::inferred, hash_text, std::equal_to<>> inferred_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_TYPES_DETAIL_FACT_MEMO_HPP
