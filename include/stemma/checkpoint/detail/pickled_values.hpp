// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CHECKPOINT_DETAIL_PICKLED_VALUES_HPP
#define STEMMA_CHECKPOINT_DETAIL_PICKLED_VALUES_HPP

#include <stemma/config.hpp>
#include <stemma/error.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// What a value of a pickle is.
enum class pickled_kind : std::uint8_t {
    none,
    boolean,
    integer,
    real,
    text,   ///< also bytes
    list,   ///< also tuples and sets
    dict,   ///< keys and values in turn
    global, ///< a name of Python, never resolved
    object, ///< an instance of a class; its state is stored as for `dict`
    tensor, ///< defined by the user of the pickle
    storage,
    other ///< anything else
};

/// A value of a pickle: a number in `pickled_values`.
using pickled = std::uint32_t;

/// The values of a pickle, which refer to each other by number, possibly in cycles.
class pickled_values {
public:
    /// A value; `content` depends on the kind.
    struct value {
        pickled_kind kind = pickled_kind::none;
        std::uint32_t size = 0;    ///< of a text
        std::int64_t content = 0;  ///< a number; the list of a container; the offset of a text
        pickled attributes = none; ///< what was set on a dict or an object
    };

    /// No value.
    static constexpr pickled none = std::numeric_limits<pickled>::max();

    /// Requires: the bytes outlive this.
    pickled_values(std::string_view bytes, std::string_view file, std::string_view place)
        : bytes_(bytes), file_(file), place_(place) {}

    /// Returns: the number of a new value. Throws: `error` (`unsupported`) if there are too many.
    pickled add(pickled_kind kind, std::int64_t content = 0, std::uint32_t size = 0) {
        if (values_.size() >= most_values) {
            fail(error_code::unsupported, "has more values than any checkpoint");
        }
        values_.push_back({kind, size, content, none});
        return static_cast<pickled>(values_.size() - 1);
    }

    /// Returns: the number of a new container.
    pickled add_container(pickled_kind kind, std::vector<pickled> items = {}) {
        const auto result = add(kind, static_cast<std::int64_t>(lists_.size()));
        lists_.push_back(std::move(items));
        return result;
    }

    /// Returns: a text or name of the pickle as a value. Requires: it is within the bytes.
    pickled add_text(pickled_kind kind, std::string_view text) {
        return add(kind, text.data() - bytes_.data(), static_cast<std::uint32_t>(text.size()));
    }

    [[nodiscard]] value& operator[](pickled v) noexcept { return values_[v]; }
    [[nodiscard]] const value& operator[](pickled v) const noexcept { return values_[v]; }

    [[nodiscard]] bool is(pickled v, pickled_kind kind) const noexcept {
        return v != none && values_[v].kind == kind;
    }

    /// Returns: the characters of a text or a name. Requires: it is one.
    [[nodiscard]] std::string_view text(pickled v) const noexcept {
        return bytes_.substr(static_cast<std::size_t>(values_[v].content), values_[v].size);
    }

    /// Returns: the contents of a container. Requires: it is one.
    [[nodiscard]] std::vector<pickled>& items(pickled v) noexcept {
        return lists_[static_cast<std::size_t>(values_[v].content)];
    }
    [[nodiscard]] const std::vector<pickled>& items(pickled v) const noexcept {
        return lists_[static_cast<std::size_t>(values_[v].content)];
    }

    /// Returns: the value for a key of a dict, or `none`. Complexity: O(length).
    [[nodiscard]] pickled member(pickled dict, std::string_view key) const noexcept {
        if (is(dict, pickled_kind::dict)) {
            const auto& all = items(dict);
            for (std::size_t i = 0; i + 1 < all.size(); i += 2) {
                if (is(all[i], pickled_kind::text) && text(all[i]) == key) {
                    return all[i + 1];
                }
            }
        }
        return none;
    }

    /// Throws: `error` of that code, naming the file and the pickle in it.
    [[noreturn]] void fail(error_code code, std::string_view reason) const {
        STEMMA_THROW(error(code, file_, place_, reason));
    }

    [[noreturn]] void fail(std::string_view reason) const { fail(error_code::malformed, reason); }

private:
    // At fifteen per tensor, enough for a quarter of a million tensors.
    static constexpr std::size_t most_values = std::size_t{1} << 22U;

    std::string_view bytes_;
    std::string_view file_;
    std::string_view place_;
    std::vector<value> values_;
    std::vector<std::vector<pickled>> lists_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CHECKPOINT_DETAIL_PICKLED_VALUES_HPP
