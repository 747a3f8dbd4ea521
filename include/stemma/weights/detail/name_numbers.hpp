// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_WEIGHTS_DETAIL_NAME_NUMBERS_HPP
#define STEMMA_WEIGHTS_DETAIL_NAME_NUMBERS_HPP

#include <stemma/core/id.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The numbers in names that PyTorch generates: it numbers values in the order it makes them, also
/// those it removes later. So `onnx::Conv_48` after `onnx::Conv_45` took three steps.
class name_numbers {
public:
    /// Complexity: O(length of names + initializers * log initializers).
    explicit name_numbers(const wire_model& model)
        : numbers_(model.tensors().size(), 0), steps_(model.tensors().size(), 0) {
        std::vector<std::pair<std::uint64_t, std::size_t>> order;
        for (std::size_t t = 0; t < numbers_.size(); ++t) {
            const auto name = model.text(model.tensors()[t].name);
            if (name.find("::") != name.npos && model.tensors()[t].graph == 0) {
                numbers_[t] = tail_of(name);
                order.emplace_back(numbers_[t], t);
            }
        }
        std::uint64_t before = 0;
        for (const auto value : model.graph(0).outputs) {
            const auto name = value == no_id ? std::string_view() : model.value_name(value);
            if (name.find_first_not_of("0123456789") == name.npos) {
                before = std::max(before, tail_of(name));
            }
        }
        std::sort(order.begin(), order.end());
        for (const auto& [number, t] : order) {
            steps_[t] = before == 0 || number <= before ? 0 : number - before;
            before = number;
        }
    }

    /// Returns: the number in the name of an initializer; 0 if PyTorch did not generate it.
    /// Complexity: O(1).
    [[nodiscard]] std::uint64_t of(std::size_t t) const noexcept { return numbers_[t]; }

    /// Returns: how many values were made for an initializer since the one before, or since the
    /// results of the graph; 0 if unknown. Complexity: O(1).
    [[nodiscard]] std::uint64_t steps(std::size_t t) const noexcept { return steps_[t]; }

private:
    [[nodiscard]] static std::uint64_t tail_of(std::string_view name) noexcept {
        const auto tail = name.substr(name.find_last_not_of("0123456789") + 1);
        std::uint64_t number = 0;
        const auto parsed = std::from_chars(tail.data(), tail.data() + tail.size(), number);
        return parsed.ec == std::errc() ? number : 0;
    }

    std::vector<std::uint64_t> numbers_; // by initializer
    std::vector<std::uint64_t> steps_;   // by initializer
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_WEIGHTS_DETAIL_NAME_NUMBERS_HPP
