// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_WEIGHTS_DETAIL_FOLDED_BIASES_HPP
#define STEMMA_WEIGHTS_DETAIL_FOLDED_BIASES_HPP

#include <stemma/core/detail/ascii.hpp>
#include <stemma/core/id.hpp>
#include <stemma/model/confidence.hpp>
#include <stemma/weights/detail/convolutions.hpp>
#include <stemma/weights/detail/name_numbers.hpp>
#include <stemma/weights/detail/weight_search.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Whether a convolution had a bias before a batch norm was folded into it.
struct folded_bias {
    bool present = false;
    float sure = confidence::entry_folded; ///< at most
};

/// Returns: the path with one `0` for each number in it. Complexity: O(length).
[[nodiscard]] inline std::string without_numbers(const std::string& path) {
    std::string result;
    for (const char c : path) {
        const bool digit = is_digit(c);
        if (!digit || !result.ends_with('0')) {
            result.push_back(digit ? '0' : c);
        }
    }
    return result;
}

/// Returns: for each convolution with a folded norm whether it had a bias.
///
/// PyTorch numbers values in the order it makes them, so the number in the first name that it
/// generates for a folded one counts all before it: inputs, entries of the `state_dict`, outputs of
/// nodes, one more, and the result for each weight that is transposed later. The remaining ones are
/// biases: of all, of none, or of those with similar names. If still more remain, other values were
/// removed, and it is a guess: in one dimension and beside recurrent layers most have one.
/// Complexity: O(nodes + initializers + folded * length of paths).
[[nodiscard]] inline std::vector<folded_bias>
find_folded_biases(const weight_search& search, std::span<const convolution> folded) {
    constexpr std::uint64_t of_norm = 6; // entries and output
    const auto& model = search.model;
    const name_numbers numbers(model);
    std::uint64_t first = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t last = 0;
    for (const auto& one : folded) {
        first = std::min(first, numbers.of(one.weight));
        last = std::max({last, numbers.of(one.weight), numbers.of(one.bias)});
    }
    bool recurrent = false;
    std::uint64_t before =
        1 + model.graph(0).inputs.size() + model.tensors().size() + folded.size() * (of_norm - 1);
    for (id node = 0; node < model.node_count(); ++node) {
        const auto type = model.op_type(node);
        const auto more = type == "BatchNormalization" ? 1U : 0U; // its batch counter
        before += search.calls.copies(node) * (model.output_count(node) + more);
        recurrent = recurrent || type == "LSTM" || type == "GRU" || type == "RNN";
    }
    for (id t = 0; t < search.headers.size(); ++t) {
        before += numbers.of(t) > last ? 1U : 0U;
    }
    std::vector<folded_bias> result(folded.size());
    if (folded.empty() || first == 0 || first == before) {
        return result;
    }
    const auto remaining = first > before ? first - before : 0;
    std::map<std::string, std::vector<std::size_t>> alike;
    for (std::size_t i = 0; i < folded.size(); ++i) {
        alike[without_numbers(search.modules.path(folded[i].module))].push_back(i);
    }
    const auto fits = [&](const auto& group) { return group.second.size() == remaining; };
    const bool all = remaining == folded.size();
    const bool some = !all && std::count_if(alike.begin(), alike.end(), fits) == 1;
    for (const auto& group : alike) {
        for (const auto i : group.second) {
            const bool line = search.headers[folded[i].weight].dims.size() == 3;
            const bool usual = remaining > folded.size() && (line || recurrent);
            result[i].present = all || (some ? fits(group) : usual);
            result[i].sure = all ? result[i].sure : confidence::entry_guessed;
        }
    }
    return result;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_WEIGHTS_DETAIL_FOLDED_BIASES_HPP
