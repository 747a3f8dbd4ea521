// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_WEIGHTS_DETAIL_FOLDED_NORMS_HPP
#define STEMMA_WEIGHTS_DETAIL_FOLDED_NORMS_HPP

#include <stemma/config.hpp>
#include <stemma/core/detail/ascii.hpp>
#include <stemma/core/id.hpp>
#include <stemma/model/confidence.hpp>
#include <stemma/model/module_lookup.hpp>
#include <stemma/weights/detail/name_numbers.hpp>
#include <stemma/weights/detail/weight_search.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// A candidate name of the batch norm after a convolution.
struct norm_name {
    std::string name;
    bool paired;        ///< with the name of the convolution: `bn_a` with `conv_a`
    bool whole = false; ///< and the pair is the whole name, apart from a number: `bn1` with `conv1`
};

/// What is known about the names of a model's batch norms.
struct norm_style {
    std::set<std::string, std::less<>>
        words{};        ///< of those that left nodes: `bn`; empty if none did
    bool alone = false; ///< no sibling of the convolution has a norm
    unsigned place = 0; ///< of the convolution among siblings with norms and unpaired names, from 1
};

/// Returns: the word for a norm in a name: `batch_norm` of `batch_norm_2`, `bn` of `final_bn`, `n`
/// of `n1`. Complexity: O(length).
[[nodiscard]] inline std::string_view norm_word(std::string_view name) noexcept {
    constexpr std::array<std::string_view, 5> words{"batch_norm", "batchnorm", "BatchNorm", "norm",
                                                    "bn"};
    for (const auto word : words) {
        if (name.find(word) != name.npos) {
            return word;
        }
    }
    return name.substr(0, name.find_last_not_of("0123456789_") + 1);
}

/// Returns: candidate names, siblings of the convolution, the likeliest first.
/// Complexity: O(length * words).
[[nodiscard]] inline std::vector<norm_name> norm_names(std::string_view last,
                                                       const norm_style& style = {}) {
    std::vector<norm_name> names;
    std::uint32_t number = 0;
    const auto digits = last.find_last_not_of("0123456789") + 1;
    const auto tail = last.substr(digits);
    const auto parsed = std::from_chars(tail.data(), tail.data() + tail.size(), number);
    const bool numbered = !tail.empty() && parsed.ec == std::errc() && number < 1'000'000'000;
    if (digits == 0) {
        return numbered ? std::vector{norm_name{std::to_string(number + 1), true, true}} : names;
    }
    const auto add = [&](std::string name, bool paired, bool whole) {
        if (style.words.empty() || style.words.contains(norm_word(name))) {
            names.push_back({std::move(name), paired, whole});
        }
    };
    const auto stem = last.substr(0, digits);
    const auto number_text = std::string(tail);
    constexpr std::array<std::pair<std::string_view, std::string_view>, 6> pairs{
        {{"convolution", "normalization"},
         {"conv", "bn"},
         {"conv", "norm"},
         {"proj", "norm"},
         {"Conv", "BatchNorm"},
         {"conv", "batch_norm"}}};
    for (const auto& word : style.words) {
        if (style.alone && !numbered && word.find("atch") != std::string::npos) {
            add(word, true, false);
        }
    }
    for (const auto& [from, to] : pairs) {
        if (const auto at = last.find(from); at != last.npos) {
            auto name = std::string(last.substr(0, at)).append(to);
            add(name.append(last.substr(at + from.size())), true, stem == from);
        }
    }
    for (const auto& word : style.words) {
        if (numbered || style.alone) {
            add(std::string(word) + number_text, true, true);
        }
    }
    if (numbered && (stem == "conv" || !style.words.empty())) { // pre-activation: the next norm
        const auto next = std::to_string(number + 1);
        add("norm" + next, true, true);
        add("bn" + next, true, true);
        for (const auto& word : style.words) {
            add(std::string(word) + next, true, true);
        }
    }
    const auto unpaired = names.size();
    if (numbered) {
        add("bn" + number_text, false, false);
        add("norm" + number_text, false, false);
    } else if (!style.alone && style.place != 0) {
        add("bn" + std::to_string(style.place), false, false);
    }
    add(std::string(last) + "_bn", false, false);
    add("bn_" + std::string(last), false, false);
    const auto single = names.size();
    add("bn", false, false);
    add("norm", false, false);
    if (style.alone && !numbered) {
        std::rotate(names.begin() + static_cast<std::ptrdiff_t>(unpaired),
                    names.begin() + static_cast<std::ptrdiff_t>(single), names.end());
    }
    return names;
}

/// Returns: candidate paths in the list of norms beside a list of convolutions: `bns.1` for
/// `convs.1`. Complexity: O(length).
[[nodiscard]] inline std::vector<std::string> norms_beside(std::string_view path) {
    std::vector<std::string> paths;
    const auto dot = path.rfind('.');
    const auto item = path.substr(dot == path.npos ? path.size() : dot);
    if (item.empty() || item.find_first_not_of("0123456789", 1) != item.npos) {
        return paths;
    }
    const auto list = path.substr(0, dot);
    const auto last = list.substr(list.rfind('.') + 1);
    if (last.find_first_of("0123456789") != last.npos) {
        return paths;
    }
    for (const auto& candidate : norm_names(last)) {
        if (candidate.paired) {
            paths.push_back(std::string(list.substr(0, list.size() - last.size())) +
                            candidate.name + std::string(item));
        }
    }
    return paths;
}

/// A convolution and its initializers.
struct convolution {
    id module = 0;
    id weight = no_id; ///< initializer
    id bias = no_id;   ///< initializer
};

/// Returns: the convolutions, each pair of initializers once. Complexity: O(uses).
[[nodiscard]] inline std::vector<convolution> find_convolutions(const weight_search& search) {
    std::map<std::pair<id, id>, convolution> by_node; // within a call
    for (id t = 0; t < search.uses.size(); ++t) {
        for (const auto& use : search.uses[t]) {
            const auto type = search.model.op_type(use.node);
            if (type == "Conv" || type == "FusedConv" || type == "NhwcFusedConv") {
                auto& one = by_node[{use.call, use.node}];
                one.module = use.module;
                if (use.slot == 1) {
                    one.weight = t;
                } else if (use.slot == 2) {
                    one.bias = t;
                }
            }
        }
    }
    std::vector<convolution> result;
    std::set<id> seen;
    for (const auto& [node, one] : by_node) {
        if (one.weight != no_id && seen.insert(one.weight).second) {
            result.push_back(one);
        }
    }
    return result;
}

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

/// The likely names of batch norms that left no node and no entry: they were folded into the
/// convolutions before them.
class usual_norms {
public:
    /// Requires: `search` outlives it. Complexity: O(nodes + modules).
    usual_norms(const weight_search& search, std::span<const convolution> folded)
        : search_(search) {
        for (const auto& one : folded) {
            folded_.insert(one.module);
        }
        // If some norms left nodes, the others are named like them.
        const auto& modules = search.modules;
        for (id node = 0; node < search.model.node_count(); ++node) {
            if (search.model.op_type(node) == "BatchNormalization") {
                words_.emplace(style_of(modules.name(search.attributions[node].module)));
            }
        }
        words_.erase("");
        for (id m = 0; m < modules.index().size() && words_.empty(); ++m) {
            const auto* const other =
                std::find_if(spelled_out.begin(), spelled_out.end(), [&](const auto& pair) {
                    return modules.name(m).find(pair.first) != std::string_view::npos;
                });
            if (other != spelled_out.end()) {
                words_.emplace(other->second);
            }
        }
    }

    /// A path, and the confidence in it.
    struct likely_norm {
        std::string path{}; ///< "" if there is none
        float sure = 0;
    };

    /// Returns: the norm after a convolution. Complexity: O(siblings * log modules).
    [[nodiscard]] likely_norm behind(id module) const {
        const auto& modules = search_.modules;
        if (module == 0) {
            return {};
        }
        const auto path = modules.path(module);
        const auto parent = modules.index().parent(module);
        const auto last = modules.name(module);
        const auto is_folded = [&](id m) {
            return m != module && m != no_id && folded_.contains(m);
        };
        if (is_folded(modules.child(parent, neighbour(last, 1))) ||
            is_folded(modules.child(parent, neighbour(last, -1)))) {
            for (const auto& candidate : norms_beside(path)) {
                const auto m = find_module(module_lookup<module_tree>(modules), candidate);
                if (m == no_id || search_.nodes_of[m] == 0) {
                    return {candidate, confidence::entry_unpaired};
                }
            }
        }
        norm_style style{words_, true, 0};
        for (const auto m : modules.children(parent)) {
            style.alone = style.alone && !is_folded(m);
            if (folded_.contains(m)) {
                const auto names = norm_names(modules.name(m));
                if (!names.empty() && names.front().paired) {
                    style.place = 0;
                    break;
                }
                style.place += m <= module ? 1U : 0U;
            }
        }
        const auto prefix = path.substr(0, path.size() - last.size());
        auto names = norm_names(last, style);
        if (names.empty()) {
            names = norm_names(last, {{}, style.alone, style.place});
        }
        for (const auto& [name, paired, whole] : names) {
            const auto m = modules.child(parent, name);
            if (m == no_id || search_.nodes_of[m] == 0) {
                return {prefix + name, !paired ? confidence::entry_unpaired
                                       : whole ? confidence::entry_folded
                                               : confidence::entry_guessed};
            }
        }
        return {};
    }

private:
    /// Other norms, and batch norms in the same style.
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 6> spelled_out{
        {{"layer_norm", "batch_norm"},
         {"group_norm", "batch_norm"},
         {"layernorm", "batchnorm"},
         {"groupnorm", "batchnorm"},
         {"LayerNorm", "BatchNorm"},
         {"GroupNorm", "BatchNorm"}}};

    /// Returns: the word that a norm's name shows others to have: `bn`, or another before a number.
    [[nodiscard]] static std::string_view style_of(std::string_view name) noexcept {
        const auto word = norm_word(name);
        const bool usual = word == "bn" || word.find("orm") != word.npos;
        return usual || word.size() < name.size() ? word : std::string_view();
    }

    /// Returns: the name of a module so many places after one in a list; "" for other names.
    [[nodiscard]] static std::string neighbour(std::string_view name, int places) {
        int number = 0;
        const auto parsed = std::from_chars(name.data(), name.data() + name.size(), number);
        const bool whole = parsed.ec == std::errc() && parsed.ptr == name.data() + name.size();
        return whole && number < 1'000'000'000 ? std::to_string(number + places) : std::string();
    }

    const weight_search& search_;
    std::set<id> folded_; // modules of convolutions with a norm
    std::set<std::string, std::less<>> words_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_WEIGHTS_DETAIL_FOLDED_NORMS_HPP
