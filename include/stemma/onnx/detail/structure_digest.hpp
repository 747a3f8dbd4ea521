// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_STRUCTURE_DIGEST_HPP
#define STEMMA_ONNX_DETAIL_STRUCTURE_DIGEST_HPP

#include <stemma/core/detail/hash.hpp>
#include <stemma/core/detail/prefetch.hpp>
#include <stemma/core/id.hpp>
#include <stemma/io/detail/xxh64.hpp>
#include <stemma/onnx/carrier.hpp>
#include <stemma/onnx/onnx_model.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Computes digests that depend on the operators of some nodes and their wiring, not on names,
/// weights, attributes or metadata. Stable across platforms, so they may be stored.
///
/// Values and graphs are numbered by first appearance, so a part that was cut out has the same
/// digest as its nodes in the whole.
class structure_digester {
public:
    /// Requires: `model` outlives the digester. Complexity: O(values + graphs + operators).
    explicit structure_digester(const onnx_model& model)
        : model_(model), values_(model.value_count()), graphs_(model.graph_count()) {
        // Each text with a terminator, and not by hash_bytes, which depends on byte order.
        constexpr std::string_view end = "\xff";
        for (id op = 0; op < model.operator_count(); ++op) {
            const auto domain = fnv1a(end, fnv1a(model.operator_domain(op)));
            operators_.push_back(fnv1a(end, fnv1a(model.operator_type(op), domain)));
        }
        for (id g = 1; g < model.graph_count(); ++g) {
            if (model.graph(g).kind == graph_kind::body) {
                bodies_.emplace_back(model.graph(g).owner, g);
            }
        }
        std::sort(bodies_.begin(), bodies_.end());
    }

    /// Complexity: O(nodes + inputs) expected.
    [[nodiscard]] std::uint64_t operator()(std::span<const id> nodes) {
        std::uint64_t digest = nodes.size();
        for (auto node : nodes) {
            digest = hash_mix(digest ^ operators_[model_.operator_id(node)],
                              graphs_.number(model_.graph_of(node)));
            for (auto value : model_.inputs(node)) {
                digest = hash_mix(digest, of_value(value));
            }
            for (id i = 0; i < model_.output_count(node); ++i) {
                digest = hash_mix(digest, of_value(model_.first_output(node) + i));
            }
        }
        // What a body returns to its owner is wiring, too.
        for (auto node : nodes) {
            for (auto body =
                     std::lower_bound(bodies_.begin(), bodies_.end(), std::pair(node, id{0}));
                 body != bodies_.end() && body->first == node; ++body) {
                for (auto value : model_.graph(body->second).outputs) {
                    digest = hash_mix(digest, of_value(value));
                }
            }
        }
        values_.forget();
        graphs_.forget();
        return digest;
    }

private:
    /// Numbers things by first appearance.
    class numbering {
    public:
        explicit numbering(std::size_t count) : next_of_(count) {}

        [[nodiscard]] id number(id what) {
            if (next_of_[what] <= first_) {
                next_of_[what] = ++last_;
            }
            return next_of_[what] - first_ - 1;
        }

        /// Restarts at 0, as if nothing had appeared.
        void forget() {
            first_ = last_;
            if (first_ > no_id / 2) { // more than there can be
                std::fill(next_of_.begin(), next_of_.end(), 0);
                first_ = last_ = 0;
            }
        }

    private:
        std::vector<id> next_of_; // plus its number; at most `first_` if it did not appear
        id first_ = 0;
        id last_ = 0;
    };

    [[nodiscard]] id of_value(id value) { return value == no_id ? no_id : values_.number(value); }

    const onnx_model& model_;
    std::vector<std::uint64_t> operators_;
    std::vector<std::pair<id, id>> bodies_; // owner, graph
    numbering values_;
    numbering graphs_;
};

/// What distinguishes models that differ in more than data.
struct model_digests {
    std::uint64_t structure = 0;  ///< see `structure_digester`
    std::uint64_t names = 0;      ///< of the values that nodes compute, in their order
    std::uint64_t node_names = 0; ///< of the nodes, except those given by stemma

    friend bool operator==(const model_digests&, const model_digests&) = default;
};

/// Returns: the name of a node, "" if stemma gave it. Complexity: O(length), for a name with the
/// node's type also O(fields of the node).
template <class Model>
[[nodiscard]] std::string_view find_own_name(const Model& model, id node) {
    const auto name = model.name(node);
    // As given names have it.
    const bool has_type = name.starts_with(model.op_type(node));
    return has_type && has_given_name(model, node) ? std::string_view() : name;
}

/// Returns: the digests of a model, which may be stored, too.
/// Complexity: O(nodes + inputs + length of names), and that of `find_own_name`.
template <class Model>
[[nodiscard]] model_digests find_digests(const Model& model) {
    std::vector<id> nodes(model.node_count());
    std::iota(nodes.begin(), nodes.end(), id{0});
    model_digests digests{structure_digester(model)(nodes)};
    constexpr id ahead = 16;
    for (id node = 0; node < model.node_count(); ++node) {
        if (node + ahead < model.node_count()) {
            prefetch(model.name(node + ahead).data());
            if (model.output_count(node + ahead) > 0) {
                prefetch(model.value_name(model.first_output(node + ahead)).data());
            }
        }
        digests.node_names = hash_mix(digests.node_names, xxh64(find_own_name(model, node)));
        for (id i = 0; i < model.output_count(node); ++i) {
            digests.names =
                hash_mix(digests.names, xxh64(model.value_name(model.first_output(node) + i)));
        }
    }
    return digests;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_STRUCTURE_DIGEST_HPP
