// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_MODEL_PARAMETERS_HPP
#define STEMMA_ONNX_DETAIL_MODEL_PARAMETERS_HPP

#include <stemma/core/detail/prefetch.hpp>
#include <stemma/core/detail/ranked_ids.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/parallel.hpp>
#include <stemma/evidence/detail/path_mapping.hpp>
#include <stemma/onnx/detail/constant_node.hpp>
#include <stemma/onnx/detail/pass_on.hpp>
#include <stemma/onnx/onnx_model.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The parameters that nodes read. Frequently queried for all nodes, most of which read none.
class parameter_reads {
public:
    parameter_reads() = default;

    /// `append(node, reads)` appends the parameters a node reads, and returns how many there are.
    /// Requires: it may be called concurrently if a `thread_scope` allows it.
    /// Complexity: O(nodes + reads).
    template <class Append>
    parameter_reads(std::size_t nodes, Append append) : readers_(nodes) {
        struct part {
            std::vector<id> count; // by node with any
            std::vector<id> reads;
        };
        constexpr auto word = ranked_ids::word_size;
        const auto count = thread_limit::current().parts_of_operators(nodes);
        std::vector<part> parts(count);
        for_each_range((nodes + word - 1) / word, count,
                       [&](std::size_t i, std::size_t first, std::size_t last) {
                           const auto end = std::min(last * word, nodes);
                           part result;
                           for (auto node = static_cast<id>(first * word); node < end; ++node) {
                               if (const id read = append(node, result.reads); read > 0) {
                                   readers_.insert(node);
                                   result.count.push_back(read);
                               }
                           }
                           parts[i] = std::move(result);
                       });
        first_.reserve(readers_.count() + std::size_t{1});
        for (const auto& entry : parts) {
            for (const auto read : entry.count) {
                first_.push_back(first_.back() + read);
            }
        }
        reads_ = std::move(parts[0].reads);
        reads_.reserve(first_.back());
        for (std::size_t i = 1; i < count; ++i) {
            reads_.insert(reads_.end(), parts[i].reads.begin(), parts[i].reads.end());
        }
    }

    /// Returns: the parameters that a node reads, in the order of its inputs. Complexity: O(1).
    [[nodiscard, gnu::always_inline]] std::span<const id> of(id node) const noexcept {
        return readers_.contains(node) ? of_reader(readers_.rank(node)) : std::span<const id>();
    }

private:
    [[nodiscard, gnu::noinline]] std::span<const id> of_reader(id rank) const noexcept {
        return {reads_.data() + first_[rank], reads_.data() + first_[rank + 1]};
    }

    ranked_ids readers_;       // nodes
    std::vector<id> first_{0}; // by rank of the reader, plus one
    std::vector<id> reads_;
};

/// Returns: the Constants that hold weights whose names are paths, ascending; none if the model
/// does not know what they hold. Complexity: O(nodes + fields of Constants with such names).
template <class Model>
[[nodiscard]] std::vector<id> find_constant_weights(const Model& model) {
    std::vector<id> nodes;
    if constexpr (requires { model.may_hold_weight(id()); }) {
        std::vector<bool> is_constant; // by operator
        for (id op = 0; op < model.operator_count(); ++op) {
            is_constant.push_back(is_constant_operator(model, op));
        }
        for (id node = 0; node < model.node_count(); ++node) {
            if (is_constant[model.operator_id(node)] && model.output_count(node) == 1) {
                nodes.push_back(node);
            }
        }
        constexpr std::size_t ahead = 16; // names are far apart in the file
        std::size_t kept = 0;
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            if (i + ahead < nodes.size()) {
                prefetch(model.value_name(model.first_output(nodes[i + ahead])).data());
            }
            const auto name = model.value_name(model.first_output(nodes[i]));
            if (!name.starts_with('/') && !owner_path(name).empty() &&
                model.may_hold_weight(nodes[i])) {
                nodes[kept++] = nodes[i];
            }
        }
        nodes.resize(kept);
    }
    return nodes;
}

/// The parameters of a model, numbered: its initializers, then the results of Constants that hold
/// weights and of nodes that pass a parameter on. An Identity's result has a name of its own, that
/// of a DequantizeLinear, or of a Cast to another precision, has the name of what it was made from.
class model_parameters {
public:
    /// Requires: `model` outlives this; `constants` are the Constants that hold weights, ascending.
    /// Complexity: O(nodes + inputs + values).
    explicit model_parameters(const onnx_model& model, std::span<const id> constants = {})
        : model_(&model), are_parameters_(model.value_count()) {
        for (id value = 0; value < model.value_count(); ++value) {
            if (model.is_initializer(value)) {
                are_parameters_.insert(value);
                values_.push_back(value);
            }
        }
        initializers_ = static_cast<id>(values_.size());
        find_results(constants);
        static_cast<void>(are_parameters_.count());
        reads_ = parameter_reads(model.node_count(), [&](id node, std::vector<id>& reads) {
            return append_reads(node, reads);
        });
    }

    /// Returns: how many there are, read or not.
    [[nodiscard]] std::size_t count() const noexcept { return values_.size(); }

    /// Returns: the value that is parameter `p`.
    [[nodiscard]] id value(id p) const noexcept { return values_[p]; }

    /// Returns: the parameter that a value is, or `no_id`. Complexity: O(1).
    [[nodiscard]] id of(id value) const noexcept {
        return value != no_id && are_parameters_.contains(value) ? number_of(value) : no_id;
    }

    /// Returns: the value that parameter `p` has its name from.
    [[nodiscard]] id named_after(id p) const noexcept {
        return p < initializers_ ? values_[p] : origins_[p - initializers_].named;
    }

    /// Returns: the initializer behind parameter `p`, or the result of the Constant.
    [[nodiscard]] id initializer(id p) const noexcept {
        return p < initializers_ ? values_[p] : origins_[p - initializers_].initializer;
    }

    /// Returns: the name of parameter `p`, which may be the one given by `rename`.
    [[nodiscard]] std::string_view name(id p) const noexcept {
        return is_renamed(p) ? std::string_view(names_[p]) : model_->value_name(named_after(p));
    }

    /// Whether `rename` gave parameter `p` another name.
    [[nodiscard]] bool is_renamed(id p) const noexcept {
        return p < names_.size() && !names_[p].empty();
    }

    /// Gives parameters other names, by number; "" and missing ones change nothing.
    void rename(std::vector<std::string> names) { names_ = std::move(names); }

    /// Whether a node's result is a parameter. Complexity: O(1).
    [[nodiscard]] bool passes_on(id node) const noexcept {
        return model_->output_count(node) == 1 &&
               are_parameters_.contains(model_->first_output(node));
    }

    /// Returns: the parameters that a node reads, in the order of its inputs; not the one that an
    /// Identity passes on.
    [[nodiscard, gnu::always_inline]] std::span<const id> read_by(id node) const noexcept {
        return reads_.of(node);
    }

private:
    struct origin {
        id named = no_id;
        id initializer = no_id;
    };

    void find_results(std::span<const id> constants) {
        std::vector<bool> passes;
        for (id op = 0; op < model_->operator_count(); ++op) {
            const auto domain = model_->operator_domain(op);
            const auto type = model_->operator_type(op);
            converts_.push_back(detail::dequantizes(domain, type) ||
                                (type == "Cast" && domain.empty()));
            passes.push_back(converts_.back() || detail::passes_on(domain, type));
        }
        std::unordered_map<id, origin> origins; // by result
        for (id node = 0; node < model_->node_count(); ++node) {
            if (!constants.empty() && constants.front() == node) {
                constants = constants.subspan(1);
                const auto result = model_->first_output(node);
                add_result(result, {result, result});
                continue;
            }
            const auto op = model_->operator_id(node);
            const auto inputs = model_->inputs(node);
            if (!passes[op] || inputs.empty() || inputs[0] == no_id ||
                !are_parameters_.contains(inputs[0]) || model_->output_count(node) != 1) {
                continue;
            }
            const auto result = model_->first_output(node);
            const auto before = origins.find(inputs[0]);
            auto from = before == origins.end() ? origin{inputs[0], inputs[0]} : before->second;
            from.named = converts_[op] ? from.named : result;
            origins.emplace(result, from);
            add_result(result, from);
        }
    }

    void add_result(id result, origin from) {
        are_parameters_.insert(result);
        values_.push_back(result);
        origins_.push_back(from);
    }

    // Initializers are numbered first, and have higher numbers as values than results.
    [[nodiscard]] id number_of(id value) const noexcept {
        const auto rank = are_parameters_.rank(value);
        const auto results = static_cast<id>(origins_.size());
        return rank < results ? rank + initializers_ : rank - results;
    }

    id append_reads(id node, std::vector<id>& reads) const {
        if (passes_on(node) && !converts_[model_->operator_id(node)]) {
            return 0;
        }
        id count = 0;
        for (const auto value : model_->inputs(node)) {
            if (const auto p = of(value); p != no_id) {
                reads.push_back(p);
                ++count;
            }
        }
        return count;
    }

    const onnx_model* model_;
    std::vector<id> values_;         // by parameter: initializers, then results
    std::vector<origin> origins_;    // of results
    std::vector<std::string> names_; // by parameter, if different from those of the values
    std::vector<bool> converts_;     // by operator
    ranked_ids are_parameters_;      // values
    id initializers_ = 0;
    parameter_reads reads_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_MODEL_PARAMETERS_HPP
