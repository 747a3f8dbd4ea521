// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_COMPARE_DETAIL_WEIGHT_COMPARER_HPP
#define STEMMA_COMPARE_DETAIL_WEIGHT_COMPARER_HPP

#include <stemma/compare/detail/compare_initializers.hpp>
#include <stemma/compare/detail/compared_model.hpp>
#include <stemma/compare/detail/paired_graphs.hpp>
#include <stemma/compare/model_diff.hpp>
#include <stemma/compare/tensor_difference.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/parallel.hpp>
#include <stemma/onnx/detail/tensor_content.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Two constants in the same role, with a reader.
struct weight_pair {
    id first = no_id;  ///< number of a constant of the first model
    id second = no_id; ///< the same of the second one
    id node = no_id;   ///< of the first model, its first reader; `no_id` for a result
};

/// Returns: the weights read by partners at the same input or that are the same result of graphs,
/// each pair once, and those of equal name not read by partners. A weight that two modules share in
/// one model only is in several pairs.
/// Complexity: O(nodes + inputs + constants) expected, and O(log pairs) for each further pair.
[[nodiscard]] inline std::vector<weight_pair> pair_weights(const compared_model& a,
                                                           const compared_model& b,
                                                           const node_match& match,
                                                           const paired_graphs& graphs) {
    std::vector<weight_pair> pairs;
    std::vector<id> partner(a.constants().size(), no_id); // the first one
    std::vector<bool> taken(b.constants().size(), false);
    std::set<std::pair<id, id>> more;
    const auto add = [&](id from, id to, id node) {
        if (from == no_id || to == no_id || partner[from] == to || !a.constants()[from].is_weight ||
            !b.constants()[to].is_weight) {
            return;
        }
        if (partner[from] != no_id && !more.emplace(from, to).second) {
            return;
        }
        partner[from] = partner[from] == no_id ? to : partner[from];
        taken[to] = true;
        pairs.push_back({from, to, node});
    };
    const auto read_by = [&](id node, id other) {
        const auto from = a.model().inputs(node);
        const auto to = b.model().inputs(other);
        for (std::size_t i = 0; i < std::min(from.size(), to.size()); ++i) {
            add(a.constant_of(from[i]), b.constant_of(to[i]), node);
        }
    };
    for (id node = 0; node < match.to_second.size(); ++node) {
        if (match.to_second[node] != no_id) {
            read_by(node, match.to_second[node]);
        }
    }
    graphs.for_each_result(
        [&](id owner, id x, id y) { add(a.constant_of(x), b.constant_of(y), owner); });
    std::unordered_map<std::string_view, id> by_name;
    for (id c = 0; c < taken.size(); ++c) {
        if (!taken[c]) {
            by_name.emplace(b.model().value_name(b.constants()[c].tensor.value), c);
        }
    }
    for (id node = 0; node < match.to_second.size(); ++node) {
        if (match.to_second[node] != no_id) {
            continue;
        }
        for (auto value : a.model().inputs(node)) {
            const auto constant = a.constant_of(value);
            if (constant != no_id && partner[constant] == no_id) {
                const auto entry =
                    by_name.find(a.model().value_name(a.constants()[constant].tensor.value));
                add(constant, entry == by_name.end() ? no_id : entry->second, node);
            }
        }
    }
    return pairs;
}

/// What comparing the data of two constants gave.
struct weight_comparison {
    std::optional<model_diff::changed_weight> difference; ///< nothing if there is none
    bool missing = false; ///< the data are missing in both models, and were not compared
};

/// Compares the data of two constants. Complexity: O(data).
[[nodiscard]] inline weight_comparison compare_weights(tensor_content_reader& in_a,
                                                       const compared_constant& from,
                                                       tensor_content_reader& in_b,
                                                       const compared_constant& to) {
    const auto x = in_a.read(from.tensor);
    const auto y = in_b.read(to.tensor);
    model_diff::changed_weight difference;
    difference.first = from.tensor.value;
    difference.second = to.tensor.value;
    difference.text = type_text(x.header);
    if (const auto other = type_text(y.header); other != difference.text) {
        difference.text.append(" and ").append(other);
    } else if (!x.readable && !y.readable) {
        return {std::nullopt, true};
    } else if (x.readable && y.readable && x.bytes().size() < data_size(x.header).value_or(0) &&
               have_same_data(x, y)) {
        return {};
    }
    if (!x.readable || !y.readable) {
        difference.text.append(", the data of one are missing");
        return {difference};
    }
    // Numbers of quantized and floating-point tensors, or of other elements, are not comparable.
    if (is_floating_type(x.header.data_type) == is_floating_type(y.header.data_type) &&
        x.places == y.places) {
        if (const auto measured = measure_difference(x.header, x.bytes(), y.header, y.bytes())) {
            difference.comparable = true;
            difference.difference = *measured;
        }
    }
    const bool same_type =
        x.header.data_type == y.header.data_type && x.header.dims == y.header.dims;
    const bool equal =
        difference.comparable ? difference.difference.different == 0 : have_same_data(x, y);
    return same_type && equal ? weight_comparison() : weight_comparison{difference};
}

/// Returns: by pair, the difference of the data. Each byte is read once for each pair.
/// Complexity: O(data).
[[nodiscard]] inline std::vector<weight_comparison>
compare_all_weights(const compared_model& a, const compared_model& b,
                    const std::vector<weight_pair>& pairs) {
    std::vector<weight_comparison> differences(pairs.size());
    std::size_t bytes = 0;
    for (const auto& pair : pairs) {
        bytes += a.constants()[pair.first].bytes;
    }
    const auto parts =
        std::clamp<std::size_t>(pairs.size(), 1, thread_limit::current().parts(bytes));
    for_each_range(pairs.size(), parts, [&](std::size_t, std::size_t i, std::size_t end) {
        tensor_content_reader in_a(a.model());
        tensor_content_reader in_b(b.model());
        for (; i < end; ++i) {
            differences[i] = compare_weights(in_a, a.constants()[pairs[i].first], in_b,
                                             b.constants()[pairs[i].second]);
        }
    });
    return differences;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_COMPARE_DETAIL_WEIGHT_COMPARER_HPP
