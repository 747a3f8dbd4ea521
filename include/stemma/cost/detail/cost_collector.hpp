// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_COST_DETAIL_COST_COLLECTOR_HPP
#define STEMMA_COST_DETAIL_COST_COLLECTOR_HPP

#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/cost/cost_rules.hpp>
#include <stemma/cost/detail/live_memory.hpp>
#include <stemma/cost/detail/module_flow.hpp>
#include <stemma/cost/detail/operator_costs.hpp>
#include <stemma/onnx/detail/constant_node.hpp>
#include <stemma/onnx/detail/tensor_size.hpp>
#include <stemma/onnx/graph_contents.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/types/detail/extent_algebra.hpp>
#include <stemma/types/detail/fact_table.hpp>
#include <stemma/types/detail/shape_observer.hpp>
#include <stemma/types/polynomial.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Sums the costs of nodes in execution order, by module and by node of the main graph.
class cost_collector final : public shape_observer {
public:
    /// The cost of the nodes of one module.
    struct sums {
        polynomial macs;
        polynomial flops;
        polynomial activations;    // bytes
        std::uint64_t unknown = 0; // nodes
        std::uint64_t loops = 0;   // nodes whose bodies count once
    };

    /// `module_of(node, around)` is the module of a node; `around` is the module of the call for
    /// nodes in functions, else `no_id`. Requires: all outlive this.
    cost_collector(const wire_model& model, const graph_contents& contents, const tree_index& tree,
                   const cost_rules& rules, std::function<id(id, id)> module_of)
        : model_(model)
        , contents_(contents)
        , tree_(tree)
        , costs_(model, rules)
        , module_of_(std::move(module_of))
        , modules_(tree.size())
        , macs_(model.node_count(), 0)
        , flops_(model.node_count(), 0)
        , activations_(model.node_count(), 0)
        , bytes_(model.value_count(), 0)
        , unknown_(model.node_count(), false)
        , buffer_(model.value_count(), no_id)
        , number_(model.value_count(), no_id)
        , flow_(tree) {
        for (id g = 0; g < model.graph_count(); ++g) {
            for (auto formal : model.graph(g).inputs) {
                if (model.graph(g).kind == graph_kind::body && formal != no_id) {
                    owner_of_.emplace(formal, model.graph(g).owner);
                }
            }
        }
    }

    void begin(fact_table& facts) override {
        facts_ = &facts;
        algebra_ = &facts.algebra();
        costs_.begin(facts);
        for (id value = 0; value < model_.value_count(); ++value) {
            if (model_.kind(value) == value_kind::input) {
                make(value);
                number_[value] = flow_.make(no_id, bytes_[value]);
                memory_.keep(buffer_[value]); // the caller's
            }
        }
    }

    void enter(id call) override {
        const auto around = module(call);
        const auto& formals = graph_of(call).inputs;
        const auto inputs = model_.inputs(call);
        for (std::size_t i = 0; i < formals.size(); ++i) {
            if (formals[i] != no_id) {
                const bool given = i < inputs.size() && inputs[i] != no_id;
                buffer_[formals[i]] = given ? buffer_[inputs[i]] : no_id;
                number_[formals[i]] = given ? number_of(inputs[i]) : no_id;
            }
        }
        const auto top = top_of(call);
        frames_.push_back({around, top});
    }

    void leave(id call) override {
        frames_.pop_back();
        const auto& results = graph_of(call).outputs;
        for (id i = 0; i < std::min<std::size_t>(results.size(), model_.output_count(call)); ++i) {
            const auto output = model_.first_output(call) + i;
            buffer_[output] = results[i] == no_id ? no_id : buffer_[results[i]];
            number_[output] = results[i] == no_id ? no_id : number_of(results[i]);
        }
        last_call_ = call;
    }

    void see(id node) override {
        const auto m = module(node);
        for (auto value : model_.inputs(node)) {
            memory_.use(value == no_id ? no_id : buffer_[value]);
        }
        if (last_call_ != node) { // else the nodes of the function have read them
            for (auto value : model_.inputs(node)) {
                read(value, m);
            }
        }
        if (!contents_.bodies_of(node).empty()) {
            leave_bodies(node, m);
            for_each_read(model_, contents_, node, [&](id value) { memory_.use(buffer_[value]); });
            modules_[m].loops += model_.op_type(node) == "If" ? 0U : 1U;
            make_all(node, m);
        } else if (model_.callee(node) == no_id) {
            add_cost(node, m);
            make_all(node, m);
        } else if (last_call_ == node) {
            note_sizes(node);
        } else { // too deep, or a recursion
            note_unknown(node, m);
            make_all(node, m);
        }
        for (auto value : model_.outputs(node)) {
            memory_.use(buffer_[value]);
        }
        memory_.step(m);
        last_call_ = no_id;
    }

    /// After the last node.
    void end() {
        for (auto value : model_.graph(0).outputs) {
            memory_.keep(value == no_id ? no_id : buffer_[value]);
            if (value != no_id && number_[value] != no_id) {
                flow_.keep(number_[value]);
            }
        }
        flow_.end();
    }

    [[nodiscard]] std::vector<sums>& modules() noexcept { return modules_; }
    [[nodiscard]] const live_memory& memory() const noexcept { return memory_; }
    [[nodiscard]] const module_flow& flow() const noexcept { return flow_; }
    [[nodiscard]] const std::map<std::string, std::uint64_t>& unlisted() const noexcept {
        return unlisted_;
    }
    /// By node of the main graph, including everything inside: extents.
    [[nodiscard]] std::vector<std::int64_t>& macs() noexcept { return macs_; }
    [[nodiscard]] std::vector<std::int64_t>& flops() noexcept { return flops_; }
    [[nodiscard]] std::vector<std::int64_t>& activations() noexcept { return activations_; }
    /// By node of the main graph: whether its cost, or that of a node inside, is unknown.
    [[nodiscard]] const std::vector<bool>& unknown() const noexcept { return unknown_; }
    /// By value outside functions, formals of bodies excluded: an extent; 0 if stored in the file.
    [[nodiscard]] std::vector<std::int64_t>& bytes() noexcept { return bytes_; }

private:
    struct frame {
        id around = no_id; // the module of the call
        id top = no_id;    // the node of the main graph
    };

    [[nodiscard]] const onnx_model::graph_record& graph_of(id call) const {
        return model_.graph(model_.functions()[model_.callee(call)].graph);
    }

    [[nodiscard]] id module(id node) const {
        if (frames_.empty()) {
            return module_of_(node, no_id);
        }
        const auto around = frames_.back().around;
        const auto m = module_of_(node, around);
        return tree_.is_ancestor(around, m) ? m : around;
    }

    [[nodiscard]] id top_of(id node) const {
        if (!frames_.empty()) {
            return frames_.front().top;
        }
        while (model_.owner(node) != no_id) {
            node = model_.owner(node);
        }
        return node;
    }

    void note_unknown(id node, id m) {
        ++modules_[m].unknown;
        unknown_[top_of(node)] = true;
    }

    void add_cost(id node, id m) {
        if (costs_.rule(node) == nullptr) {
            const auto domain = model_.domain(node);
            std::string name(domain);
            ++unlisted_[name.append(domain.empty() ? "" : "::").append(model_.op_type(node))];
            note_unknown(node, m);
            return;
        }
        const auto cost = costs_.cost(node);
        if (!cost.macs.is_known() || !cost.flops.is_known()) {
            note_unknown(node, m);
            return;
        }
        modules_[m].macs += cost.macs;
        modules_[m].flops += cost.flops;
        const auto top = top_of(node);
        macs_[top] = algebra_->add(macs_[top], algebra_->extent(cost.macs));
        flops_[top] = algebra_->add(flops_[top], algebra_->extent(cost.flops));
    }

    [[nodiscard]] std::int64_t bytes_of(id value) {
        const auto bits = bits_of_type((*facts_)[value].data_type);
        const auto elements = costs_.elements(value);
        if (bits == 0 || !elements.is_known()) {
            return any_extent;
        }
        return bits % 8 == 0 ? algebra_->extent(elements * (bits / 8))
                             : algebra_->extent(algebra_->divide(elements * bits + 7, 8));
    }

    void make(id value) {
        const auto bytes = bytes_of(value);
        bytes_[value] = bytes;
        buffer_[value] = memory_.add(bytes);
    }

    /// Returns: the number of a value in the flow. A formal of a body becomes one when it is first
    /// read: its owner makes it.
    [[nodiscard]] id number_of(id value) {
        const auto owner = number_[value] == no_id ? owner_of_.find(value) : owner_of_.end();
        if (owner != owner_of_.end()) {
            number_[value] = flow_.make(module(owner->second), bytes_of(value));
        }
        return number_[value];
    }

    void read(id value, id m) {
        const auto number = value == no_id ? no_id : number_of(value);
        if (number != no_id) {
            flow_.read(number, m);
        }
    }

    /// The owner of bodies reads their results.
    void leave_bodies(id node, id m) {
        for (auto g : contents_.bodies_of(node)) {
            for (auto value : model_.graph(g).outputs) {
                read(value, m);
            }
            for (auto formal : model_.graph(g).inputs) {
                if (formal != no_id) {
                    number_[formal] = no_id; // another one at the next call
                }
            }
        }
    }

    void note_sizes(id node) {
        for (auto value : model_.outputs(node)) {
            if (frames_.empty()) {
                bytes_[value] = model_.value_name(value).empty() ? 0 : bytes_of(value);
            }
        }
    }

    void make_all(id node, id m) {
        if (is_constant_node(model_, node)) {
            return; // stored in the file
        }
        const auto inputs = model_.inputs(node);
        const bool aliases = !inputs.empty() && inputs[0] != no_id && costs_.is_alias(node);
        const bool stored =
            aliases && buffer_[inputs[0]] == no_id && number_[inputs[0]] == no_id; // in the file
        const bool shares = aliases && (stored || buffer_[inputs[0]] != no_id);
        for (auto value : model_.outputs(node)) {
            if (model_.value_name(value).empty()) {
                continue;
            }
            const bool is_first = value == model_.first_output(node);
            if (shares && is_first) {
                bytes_[value] = bytes_of(value);
                buffer_[value] = buffer_[inputs[0]];
            } else {
                make(value);
                count(bytes_[value], node, m);
            }
            number_[value] = stored && is_first ? no_id : flow_.make(m, bytes_[value]);
        }
    }

    /// Counts the bytes of an output; outputs of unknown size are counted separately.
    void count(std::int64_t bytes, id node, id m) {
        if (bytes == any_extent) {
            return;
        }
        modules_[m].activations += algebra_->value(bytes);
        auto& all = activations_[top_of(node)];
        all = algebra_->add(all, bytes);
    }

    const wire_model& model_;
    const graph_contents& contents_;
    const tree_index& tree_;
    operator_costs costs_;
    std::function<id(id, id)> module_of_;
    const fact_table* facts_ = nullptr;
    extent_algebra* algebra_ = nullptr;
    std::vector<sums> modules_;
    std::vector<std::int64_t> macs_;
    std::vector<std::int64_t> flops_;
    std::vector<std::int64_t> activations_;
    std::vector<std::int64_t> bytes_;
    std::vector<bool> unknown_;
    std::vector<id> buffer_; // by value: its buffer
    std::vector<id> number_; // by value: its number in the flow; `no_id` if stored in the file
    std::unordered_map<id, id> owner_of_; // of the body, by formal
    module_flow flow_;
    live_memory memory_;
    std::vector<frame> frames_; // open calls
    id last_call_ = no_id;      // the last completed call
    std::map<std::string, std::uint64_t> unlisted_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_COST_DETAIL_COST_COLLECTOR_HPP
