// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_WEIGHTS_DETAIL_LAYER_ENTRIES_HPP
#define STEMMA_WEIGHTS_DETAIL_LAYER_ENTRIES_HPP

#include <stemma/core/detail/dotted_path.hpp>
#include <stemma/core/id.hpp>
#include <stemma/model/confidence.hpp>
#include <stemma/model/module_lookup.hpp>
#include <stemma/onnx/detail/node_attributes.hpp>
#include <stemma/weights/detail/folded_norms.hpp>
#include <stemma/weights/detail/weight_search.hpp>
#include <stemma/weights/parameter_origin.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// A recurrent operator: its weights, and its layer within its module.
struct recurrent_layer {
    id node = no_id;
    std::array<id, 3> tensors{no_id, no_id, no_id}; ///< of the inputs, of the states, of biases
    id module = 0;
    unsigned layer = 0;
    unsigned gates = 0;
    bool both_ways = false;
    bool backwards = false;

    /// Returns: PyTorch's names of the entries of one of the three.
    [[nodiscard]] std::vector<std::string> attributes(std::size_t slot) const {
        static constexpr std::array<std::array<std::string_view, 2>, 3> names{
            {{"weight_ih_l", ""}, {"weight_hh_l", ""}, {"bias_ih_l", "bias_hh_l"}}};
        std::vector<std::string> result;
        for (unsigned way = 0; way < (both_ways ? 2U : 1U); ++way) {
            const bool reverse = way == 1 || (backwards && !both_ways);
            for (const auto name : names[slot]) {
                if (!name.empty()) {
                    result.push_back(std::string(name) + std::to_string(layer) +
                                     (reverse ? "_reverse" : ""));
                }
            }
        }
        return result;
    }
};

/// Returns: the recurrent operators, in node order. Complexity: O(nodes + uses).
[[nodiscard]] inline std::vector<recurrent_layer> find_recurrent(const weight_search& search) {
    std::map<std::pair<id, id>, recurrent_layer> by_node; // within a call
    for (id t = 0; t < search.uses.size(); ++t) {
        for (const auto& use : search.uses[t]) {
            const auto gates = gates_of_slot(search.model.op_type(use.node), use.slot);
            if (gates == 0) {
                continue;
            }
            auto& layer = by_node[{use.call, use.node}];
            layer.node = use.node;
            layer.module = use.module;
            layer.gates = gates;
            layer.tensors[use.slot - 1] = t;
        }
    }
    std::map<id, std::vector<std::array<id, 3>>> of_module; // distinct ones, in order
    std::vector<recurrent_layer> layers;
    for (auto& [node, layer] : by_node) {
        const auto direction = node_attributes(search.model, layer.node).text("direction");
        layer.both_ways = direction == "bidirectional";
        layer.backwards = direction == "reverse";
        auto& numbered = of_module[layer.module];
        auto place = std::find(numbered.begin(), numbered.end(), layer.tensors);
        if (place == numbered.end()) {
            place = numbered.insert(numbered.end(), layer.tensors);
        }
        layer.layer = static_cast<unsigned>(place - numbered.begin());
        layers.push_back(layer);
    }
    return layers;
}

/// Returns: the only module with entries of recurrent layers, if it is below the module that reads
/// all of them and has exactly these layers, in these sizes; else "".
/// Complexity: O(entries + layers * log entries).
[[nodiscard]] inline std::string only_recurrent(const weight_search& search,
                                                std::span<const recurrent_layer> layers) {
    const auto& entries = search.entries;
    std::string owner;
    for (id e = 0; e < entries.size(); ++e) {
        if (entries[e].attribute == "weight_ih_l0") {
            if (!owner.empty() || entries[e].owner.empty()) {
                return {};
            }
            owner = entries[e].owner;
        }
    }
    if (owner.empty() || layers.empty()) {
        return {};
    }
    const auto path = search.modules.path(layers.front().module);
    unsigned last = 0;
    for (const auto& layer : layers) {
        last = std::max(last, layer.layer);
        for (std::size_t slot = 0; slot < 2; ++slot) {
            std::uint64_t elements = 0;
            for (const auto& attribute : layer.attributes(slot)) {
                const auto e = entries.find(owner, attribute);
                elements += e == no_id ? 0 : count_of(entries[e].shape);
            }
            if (layer.module != layers.front().module || layer.tensors[slot] == no_id ||
                search.headers[layer.tensors[slot]].elements() != elements) {
                return {};
            }
        }
    }
    const bool more = entries.find(owner, "weight_ih_l" + std::to_string(last + 1)) != no_id;
    return !more && (path.empty() || owner.starts_with(path + ".")) ? owner : std::string();
}

/// Finds the entries of recurrent operators by their modules. Complexity: O(entries + uses * log
/// entries).
inline void find_gates(weight_search& search) {
    const auto layers = find_recurrent(search);
    const auto only = only_recurrent(search, layers);
    for (const auto& layer : layers) {
        auto path = search.modules.path(layer.module);
        const bool below = !only.empty() && search.entries.find(path, "weight_ih_l0") == no_id;
        path = below ? only : path;
        for (std::size_t slot = 0; slot < 3; ++slot) {
            const auto t = layer.tensors[slot];
            if (t == no_id || !search.is_open(t)) {
                continue;
            }
            auto& origin = search.origins[t];
            std::vector<id> entries;
            std::vector<std::string> names;
            for (const auto& attribute : layer.attributes(slot)) {
                names.push_back(member_path(path, attribute));
                if (const auto e = search.entries.find(path, attribute); e != no_id) {
                    names.back() = search.entries[e].name;
                    entries.push_back(e);
                }
            }
            if (!search.entries.empty() && entries.size() != names.size()) {
                continue;
            }
            origin.entries = std::move(names);
            origin.transform = parameter_origin::transform_kind::gates;
            origin.gates = layer.gates;
            origin.bias = slot == 2;
            const bool declared = !entries.empty();
            search.settle(t, entries, path,
                          declared ? parameter_origin::basis_kind::declared
                                   : parameter_origin::basis_kind::usage,
                          below      ? confidence::entry_below
                          : declared ? confidence::entry_declared
                                     : confidence::entry_used);
        }
    }
}

/// Finds convolutions with a folded batch norm.
class folded_entries {
public:
    explicit folded_entries(weight_search& search) : search_(search) {
        for (id e = 0; e < search.entries.size(); ++e) {
            if (search.entries[e].attribute == "running_var" && is_free(search.entries[e].owner)) {
                norms_.push_back(e);
            }
        }
        for (const auto& origin : search.origins) {
            if (origin.transform == parameter_origin::transform_kind::folded) {
                for (const auto& name : origin.entries) {
                    folded_.insert(search.entries.find(name));
                }
            }
        }
    }

    /// With entries: unread norms after convolutions that gained a bias; if a convolution has none
    /// of its own, also one that was folded into another.
    /// Complexity: O(convolutions * log entries).
    void find_declared() {
        for (const auto& one : find_convolutions(search_)) {
            const auto path = search_.modules.path(one.module);
            const auto weight = search_.entries.find(path, "weight");
            if (weight == no_id || one.bias == no_id || !search_.is_open(one.weight) ||
                search_.relation(one.weight, weight, false).transform !=
                    parameter_origin::transform_kind::as_is) {
                continue;
            }
            auto norm = norm_behind(path, weight);
            const bool shared = norm == no_id && !folded_.contains(weight) &&
                                search_.entries.find(path, "bias") == no_id;
            norm = shared ? norm_behind(path, weight, shared) : norm;
            if (norm != no_id) {
                settle(one, path, search_.entries[norm].owner,
                       shared ? confidence::entry_fits : confidence::entry_folded,
                       parameter_origin::basis_kind::declared);
            }
        }
    }

    /// Lowers the confidence in declared weights and biases of convolutions that may have a folded
    /// norm: they gained a bias, the exporter computed the weight, or a norm after them is unread.
    /// Complexity: O(convolutions * log entries).
    void doubt_unfolded() {
        const auto& entries = search_.entries;
        const auto entry_of = [&](const parameter_origin& origin) {
            return origin.entries.empty() ? no_id : entries.find(origin.entries.front());
        };
        const auto doubt = [](parameter_origin& origin) {
            if (origin.basis == parameter_origin::basis_kind::declared) {
                origin.confidence = std::min(origin.confidence, confidence::entry_guessed);
            }
        };
        for (const auto& one : find_convolutions(search_)) {
            auto& weight = search_.origins[one.weight];
            if (one.bias == no_id || weight.transform == parameter_origin::transform_kind::folded ||
                weight.transform == parameter_origin::transform_kind::normed) {
                continue;
            }
            auto& bias = search_.origins[one.bias];
            const auto e = entry_of(weight);
            const auto shift = entry_of(bias);
            const auto owner = e == no_id ? std::string() : entries[e].owner;
            const bool own = e != no_id && shift != no_id && entries[shift].owner == owner;
            if (e == no_id || (!own && entries.find(owner, "bias") == no_id) ||
                search_.name(one.weight).find("::") != std::string_view::npos ||
                norm_behind(owner, e) != no_id) {
                doubt(weight);
                doubt(bias);
            } else if (!own) {
                doubt(bias);
            }
        }
    }

    /// Without: a norm without nodes, if `moved` says that the exporter computed both.
    /// Complexity: O(convolutions * length).
    template <class Function>
    void find_usual(Function moved) {
        if (!search_.entries.empty()) {
            return;
        }
        auto folded = find_convolutions(search_);
        std::erase_if(folded, [&](const convolution& one) {
            if (one.bias == no_id || !search_.is_open(one.weight) || !moved(one.weight)) {
                return true;
            }
            // Untrained norms have equal biases, which share an initializer.
            const auto own = search_.modules.path(one.module) + ".bias";
            return search_.is_open(one.bias)
                       ? !moved(one.bias)
                       : search_.name(one.weight).find("::") == std::string_view::npos ||
                             search_.name(one.bias) == own || search_.uses[one.bias].size() < 2;
        });
        const auto biases = find_folded_biases(search_, folded);
        const usual_norms norms(search_, folded);
        for (std::size_t i = 0; i < folded.size(); ++i) {
            const auto path = search_.modules.path(folded[i].module);
            const auto norm = norms.behind(folded[i].module);
            if (!norm.path.empty()) {
                // A fused operator belongs to the module around all that it stands for.
                const auto sure = search_.is_leaf(folded[i].module)
                                      ? norm.sure
                                      : std::min(norm.sure, confidence::entry_guessed);
                settle(folded[i], path, norm.path, sure, parameter_origin::basis_kind::usage, 0,
                       biases[i].present);
                auto& bias = search_.origins[folded[i].bias];
                bias.confidence = std::min(bias.confidence, biases[i].sure);
            }
        }
    }

    /// Notes that a convolution and its bias were folded with a norm; `biased` says whether the
    /// convolution had a bias, if no entries tell.
    void settle(const convolution& one, const std::string& path, const std::string& norm,
                float sure, parameter_origin::basis_kind basis, float epsilon = 0,
                bool biased = false) {
        const auto& entries = search_.entries;
        const auto name = [&](const std::string& owner, std::string_view attribute) {
            const auto e = entries.find(owner, attribute);
            taken_.push_back(e);
            folded_.insert(e);
            return e != no_id ? entries[e].name : member_path(owner, attribute);
        };
        const auto note = [&](id t, bool bias, std::vector<std::string> of) {
            if (t != no_id && search_.is_open(t)) {
                auto& origin = search_.origins[t];
                origin.entries = std::move(of);
                origin.transform = parameter_origin::transform_kind::folded;
                origin.bias = bias;
                origin.epsilon = epsilon;
                std::erase(taken_, no_id);
                search_.settle(t, taken_, path, basis, sure);
            }
            taken_.clear();
        };
        note(one.weight, false,
             {name(path, "weight"), name(norm, "weight"), name(norm, "running_var")});
        std::vector<std::string> of;
        if (biased || entries.find(path, "bias") != no_id) {
            of.push_back(name(path, "bias"));
        }
        for (const auto* const attribute : {"weight", "bias", "running_mean", "running_var"}) {
            of.push_back(name(norm, attribute));
        }
        note(one.bias, true, std::move(of));
    }

    /// Whether no initializer has an entry yet, or only those of folded convolutions: several may
    /// share a kernel or a norm. Complexity: O(log entries).
    [[nodiscard]] bool is_left(id e) const { return !search_.claimed[e] || folded_.contains(e); }

    /// Returns: the entry `running_var` of the norm after a convolution, or `no_id`; if `shared`,
    /// it may have been folded into others. Complexity: O(log entries).
    [[nodiscard]] id norm_behind(const std::string& path, id weight, bool shared = false) const {
        const auto& entries = search_.entries;
        const auto channels = entries[weight].shape.empty() ? -1 : entries[weight].shape[0];
        const auto fits = [&](id e) {
            return e != no_id && entries[e].shape.size() == 1 && entries[e].shape[0] == channels &&
                   (shared ? is_left(e) : !search_.claimed[e]) && is_free(entries[e].owner) &&
                   entries.find(entries[e].owner, "weight") != no_id &&
                   entries.find(entries[e].owner, "bias") != no_id &&
                   entries.find(entries[e].owner, "running_mean") != no_id;
        };
        const auto parent = path.substr(0, path.rfind('.') + 1);
        const auto names = norm_names(std::string_view(path).substr(parent.size()));
        for (const auto& candidate : names) {
            if (const auto e = entries.find(parent + candidate.name, "running_var"); fits(e)) {
                return e;
            }
        }
        for (const auto& candidate : norms_beside(path)) {
            if (const auto e = entries.find(candidate, "running_var"); fits(e)) {
                return e;
            }
        }
        const auto next = std::upper_bound(norms_.begin(), norms_.end(), weight);
        const bool beside = next != norms_.end() && entries[*next].owner.starts_with(parent);
        return beside && fits(*next) && !has_convolution(weight + 1, *next) ? *next : no_id;
    }

    /// The entries `running_var` of norms without nodes.
    [[nodiscard]] const std::vector<id>& norms() const noexcept { return norms_; }

private:
    [[nodiscard]] bool is_free(std::string_view owner) const {
        const auto m = find_module(module_lookup<module_tree>(search_.modules), owner);
        return m == no_id || m == 0 || search_.nodes_of[m] == 0;
    }

    /// Whether an entry between two others can be the weight of a convolution; its norm follows
    /// within a few entries.
    [[nodiscard]] bool has_convolution(id from, id to) const {
        if (to - from > 64) {
            return true;
        }
        for (auto e = from; e < to; ++e) {
            if (search_.entries[e].shape.size() > 2) {
                return true;
            }
        }
        return false;
    }

    weight_search& search_;
    std::vector<id> norms_;
    std::vector<id> taken_;
    std::set<id> folded_; // entries of folded convolutions and their norms
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_WEIGHTS_DETAIL_LAYER_ENTRIES_HPP
