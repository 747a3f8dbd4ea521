// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_MODEL_TABLES_HPP
#define STEMMA_ONNX_DETAIL_MODEL_TABLES_HPP

#include <stemma/core/detail/ascii.hpp>
#include <stemma/core/detail/flat_index.hpp>
#include <stemma/core/detail/hash.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/parallel.hpp>
#include <stemma/onnx/detail/name_binder.hpp>
#include <stemma/onnx/onnx_model.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Fills the tables of an onnx_model: a reader reports what it finds, in file order, and `finish`
/// binds names. Parts of a file can be read separately and appended.
class model_tables : public name_binder {
    [[nodiscard]] static std::uint64_t operator_hash(std::string_view type, std::string_view domain,
                                                     std::string_view overload) noexcept {
        // Usually there is only a type.
        const bool plain = domain.empty() && overload.empty();
        return hash_bytes(type, plain ? 0 : hash_bytes(domain, hash_bytes(overload)));
    }

    [[nodiscard]] auto same_operator(std::string_view type, std::string_view domain,
                                     std::string_view overload) const {
        return [this, type, domain, overload](id other) {
            const auto& op = operators_[other];
            return is_same_text(text(op.type), type) && is_same_text(text(op.domain), domain) &&
                   is_same_text(text(op.overload), overload);
        };
    }

protected:
    id add_graph(graph_kind kind) {
        graphs_.emplace_back().kind = kind;
        return static_cast<id>(graphs_.size() - 1);
    }

    onnx_model::graph_record& graph_at(id g) { return graphs_[g]; }

    id add_operator(std::string_view type, std::string_view domain, std::string_view overload,
                    const operator_record& record) {
        const auto next = static_cast<id>(operators_.size());
        const auto existing = operator_index_.insert(operator_hash(type, domain, overload), next,
                                                     same_operator(type, domain, overload));
        if (existing == next) {
            operators_.push_back(record);
        }
        return existing;
    }

    /// Reserves room for that many nodes in total, and for the inputs and values they have on
    /// average. Growing step by step would write each table several times.
    void expect_nodes(std::size_t count) {
        const auto nodes_so_far = std::max<std::size_t>(nodes_.size(), 1);
        const auto make_room = [&](auto& table) {
            table.reserve(table.size() * count / nodes_so_far);
        };
        make_room(nodes_);
        make_room(inputs_);
        make_room(value_names_);
        make_room(value_graphs_);
        make_room(producers_);
        expect_names(producers_.size() * count / nodes_so_far);
    }

    /// Numbers a node; the nodes of its bodies must have been added before.
    id add_node(const node_record& node, std::span<const onnx_model::text_ref> inputs,
                std::span<const onnx_model::text_ref> outputs) {
        const auto added = static_cast<id>(nodes_.size());
        nodes_.push_back(node);
        nodes_.back().position = graphs_[containers_[node.container].graph].node_count++;
        nodes_.back().first_input = static_cast<id>(inputs_.size());
        nodes_.back().first_output = static_cast<id>(value_names_.size());
        const auto g = containers_[node.container].graph;
        for (const auto name : inputs) {
            inputs_.push_back(no_id);
            if (name.size > 0) {
                meet_input(static_cast<id>(inputs_.size() - 1), name, g);
            }
        }
        for (const auto name : outputs) {
            value_names_.push_back(name);
            value_graphs_.push_back(g);
            producers_.push_back(added);
            if (name.size > 0) {
                meet_result(static_cast<id>(value_names_.size() - 1), name, g);
            }
        }
        return added;
    }

    /// Offsets added to the numbers of a part when it is appended to the whole.
    struct part_offsets {
        id graph = 0;                ///< graphs other than the main one
        id container = 0;            ///< containers other than that of the main graph, `main`
        id main = 0;                 ///< the whole's container of the main graph
        id node = 0;                 ///< nodes
        id position = 0;             ///< nodes of the main graph
        id input = 0;                ///< inputs of nodes
        id value = 0;                ///< values
        id named = 0;                ///< what `add_graph_input` and the like returned
        std::vector<id> operators{}; ///< the number of each in the whole

        /// Returns: a graph's number in the whole.
        [[nodiscard]] id graph_of(id g) const noexcept { return g == 0 ? 0 : g + graph; }
        /// Returns: a container's number in the whole; `no_id` stays.
        [[nodiscard]] id container_of(id c) const noexcept {
            return c == 0 ? main : c == no_id ? no_id : c + container;
        }
        /// Returns: a node's number in the whole; `no_id` stays.
        [[nodiscard]] id node_of(id v) const noexcept { return v == no_id ? no_id : v + node; }
    };

    /// Takes over, with that many threads, what other readers found in the main graph, in sequence
    /// and after everything that this one found. Graph 0 and container 0 of a part are the main
    /// graph and its container `main`. Calls `f(part, offsets)` for every part, in order.
    /// Complexity: O(size of the parts) expected.
    template <class Part, class Function>
    void append(std::span<Part* const> parts, id main, std::size_t threads, Function f) {
        settle();
        part_offsets next{graph_count() - 1,
                          static_cast<id>(containers_.size()) - 1,
                          main,
                          node_count(),
                          graphs_[0].node_count,
                          static_cast<id>(inputs_.size()),
                          value_count(),
                          static_cast<id>(named_.size())};
        std::vector<part_offsets> offsets;
        for (model_tables* part : parts) {
            part->settle();
            offsets.push_back(next);
            add_operators(*part, offsets.back());
            next.graph += part->graph_count() - 1;
            next.container += static_cast<id>(part->containers_.size()) - 1;
            next.node += part->node_count();
            next.position += part->graphs_[0].node_count;
            next.input += static_cast<id>(part->inputs_.size());
            next.value += part->value_count();
            next.named += static_cast<id>(part->named_.size());
        }
        value_names_.reserve(std::size_t{next.value} + next.named);
        value_graphs_.reserve(std::size_t{next.value} + next.named);
        producers_.reserve(next.value);
        const auto for_each = [&](auto append) {
            for (std::size_t i = 0; i < parts.size(); ++i) {
                append(*parts[i], offsets[i]);
            }
        };
        // Parts are freed as soon as they are merged, to make room.
        const auto values_and_names = [&] {
            for_each([&](model_tables& part, const part_offsets& offset) {
                append_values(part, offset);
                append_names(part);
            });
        };
        const auto inputs = [&] {
            for_each([&](model_tables& part, const part_offsets& offset) {
                append_inputs(part, offset.value, offset.graph);
            });
        };
        const auto nodes_and_others = [&] {
            nodes_.reserve(next.node);
            for_each([&](model_tables& part, const part_offsets& offset) {
                append_nodes(part, offset);
            });
            named_.reserve(next.named);
            for_each([&](Part& part, const part_offsets& offset) {
                append_graphs(part, offset);
                f(part, offset);
            });
        };
        run_tasks(threads, {values_and_names, inputs, nodes_and_others});
    }

    /// Each returns the position in `finish`'s result that tells which value it is.
    id add_graph_input(id g, onnx_model::text_ref name) { return add_named(g, name, role::input); }
    id add_graph_output(id g, onnx_model::text_ref name) {
        return add_named(g, name, role::output);
    }
    id add_initializer(id g, onnx_model::text_ref name, bool sparse) {
        return add_named(g, name, sparse ? role::sparse_initializer : role::initializer);
    }
    /// Adds another reference to a value by name.
    id add_mention(id g, onnx_model::text_ref name) { return add_named(g, name, role::mention); }

    /// Binds all names, with that many threads. Nothing may be added afterwards.
    /// Returns: the value of every input, output, initializer and mention added, in order; `no_id`
    /// for a mention of something that the graph does not define.
    /// Complexity: O(nodes + values + names) expected.
    std::vector<id> finish(std::size_t threads = 1) {
        settle();
        result_count_ = static_cast<id>(value_names_.size());
        value_kinds_.reserve(result_count_ + named_.size());
        value_kinds_.assign(result_count_, value_kind::result);
        expect_names(result_count_ + named_.size());
        std::vector<id> bound(named_.size(), no_id);
        define_named(bound);
        bind_later_inputs(threads);
        for (std::size_t i = 0; i < named_.size(); ++i) {
            const auto& entry = named_[i];
            prefetch_named(i + batch, role::mention);
            if (entry.what == role::output) {
                bound[i] = look_up(entry.graph, entry.name, entry.hash);
                graphs_[entry.graph].outputs.push_back(bound[i]);
            } else if (entry.what == role::mention && entry.name.size > 0) {
                const auto visible = find_visible(entry.graph, entry.name, entry.hash);
                bound[i] =
                    visible != no_id && value_graphs_[visible] == entry.graph ? visible : no_id;
            }
        }
        prefer_last_constants();
        bind_calls();
        std::vector<named_value>().swap(named_);
        forget_names();
        return bound;
    }

private:
    enum class role : std::uint8_t { input, output, initializer, sparse_initializer, mention };

    struct named_value {
        id graph;
        onnx_model::text_ref name;
        role what;
        std::uint64_t hash; // of the name
    };

    id add_named(id g, onnx_model::text_ref name, role what) {
        named_.push_back({g, name, what, hash_of(name)});
        return static_cast<id>(named_.size() - 1);
    }

    /// A part has few operators, and their numbers are needed for its nodes.
    void add_operators(const model_tables& part, part_offsets& offset) {
        for (const auto& record : part.operators_) {
            offset.operators.push_back(add_operator(text(record.type), text(record.domain),
                                                    text(record.overload), record));
        }
    }

    void append_nodes(model_tables& part, const part_offsets& offset) {
        for (auto node : std::exchange(part.nodes_, {})) {
            node.op = offset.operators[node.op];
            node.position += part.containers_[node.container].graph == 0 ? offset.position : 0;
            node.container = offset.container_of(node.container);
            node.first_input += offset.input;
            node.first_output += offset.value;
            nodes_.push_back(node);
        }
    }

    void append_values(const model_tables& part, const part_offsets& offset) {
        value_names_.insert(value_names_.end(), part.value_names_.begin(), part.value_names_.end());
        for (std::size_t value = 0; value < part.value_names_.size(); ++value) {
            value_graphs_.push_back(offset.graph_of(part.value_graphs_[value]));
            producers_.push_back(part.producers_[value] + offset.node);
        }
    }

    void append_graphs(const model_tables& part, const part_offsets& offset) {
        graphs_[0].node_count += part.graphs_[0].node_count;
        for (std::size_t g = 1; g < part.graphs_.size(); ++g) {
            graphs_.push_back(part.graphs_[g]);
            graphs_.back().owner = offset.node_of(graphs_.back().owner);
        }
        for (std::size_t c = 1; c < part.containers_.size(); ++c) {
            auto container = part.containers_[c];
            container.graph = offset.graph_of(container.graph);
            container.parent = offset.container_of(container.parent);
            container.owner = offset.node_of(container.owner);
            container.ends_before += offset.node;
            containers_.push_back(container);
        }
        for (auto entry : part.named_) {
            entry.graph = offset.graph_of(entry.graph);
            named_.push_back(entry);
        }
    }

    void define_named(std::vector<id>& bound) {
        // An initializer may also be listed as an input; it counts as an initializer.
        for (const auto what : {role::initializer, role::sparse_initializer, role::input}) {
            for (std::size_t i = 0; i < named_.size(); ++i) {
                prefetch_named(i + batch, what);
                if (named_[i].what == what) {
                    bound[i] = define_named(named_[i]);
                }
            }
        }
    }

    void prefetch_named(std::size_t i, role what) const noexcept {
        if (i < named_.size() && named_[i].what == what) {
            prefetch_name(named_[i].hash);
        }
    }

    id define_named(const named_value& entry) {
        auto& graph = graphs_[entry.graph];
        const auto kind = entry.what == role::initializer          ? value_kind::initializer
                          : entry.what == role::sparse_initializer ? value_kind::sparse_initializer
                          : graph.kind == graph_kind::main         ? value_kind::input
                                                                   : value_kind::formal;
        const auto added = add_value(entry.graph, entry.name, kind);
        auto value = added;
        if (entry.name.size > 0) {
            value = define(entry.graph, entry.name, added, entry.hash);
            if (value != added && (entry.what != role::input || !is_initializer(value))) {
                redefined_.push_back(added);
                value = added;
            }
        }
        if (value != added) {
            value_names_.pop_back();
            value_graphs_.pop_back();
            value_kinds_.pop_back();
        }
        (entry.what == role::input ? graph.inputs : graph.initializers).push_back(value);
        return value;
    }

    [[nodiscard]] bool is_constant(id value) const {
        return is_initializer(value) ||
               (value < result_count_ && domain(producers_[value]).empty() &&
                op_type(producers_[value]) == "Constant");
    }

    /// Of constants with one name in the main graph the last one counts, and Constant nodes before
    /// initializers, as in runtimes that accept such models. Of anything else, the first.
    void prefer_last_constants() {
        std::map<id, id> last; // by the one bound before
        for (auto value : redefined_) {
            if (value_graphs_[value] != 0) {
                continue;
            }
            const auto bound = find_visible(0, value_names_[value], hash_of(value_names_[value]));
            const auto [entry, added] = last.try_emplace(bound, is_constant(bound) ? bound : no_id);
            if (entry->second != no_id &&
                (value < result_count_ || entry->second >= result_count_)) {
                entry->second = is_constant(value) ? value : no_id;
            }
        }
        std::erase_if(last, [](const auto& entry) { return entry.second == no_id; });
        const auto rebind = [&](std::vector<id>& values) {
            for (auto& value : values) {
                const auto match = last.find(value);
                value = match == last.end() ? value : match->second;
            }
        };
        if (!last.empty()) {
            rebind(inputs_);
            std::for_each(graphs_.begin(), graphs_.end(), [&](auto& g) { rebind(g.outputs); });
        }
    }

    void bind_calls() {
        for (id f = 0; f < functions_.size(); ++f) {
            const auto name = text(functions_[f].name);
            const auto domain = text(functions_[f].domain);
            const auto overload = text(functions_[f].overload);
            const auto op = operator_index_.find(operator_hash(name, domain, overload),
                                                 same_operator(name, domain, overload));
            if (op != no_id && operators_[op].callee == no_id) {
                operators_[op].callee = f;
            }
        }
    }

    std::vector<named_value> named_;
    flat_index operator_index_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_MODEL_TABLES_HPP
