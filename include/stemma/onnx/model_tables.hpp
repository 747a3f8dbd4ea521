// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_MODEL_TABLES_HPP
#define STEMMA_ONNX_MODEL_TABLES_HPP

#include <stemma/core/flat_index.hpp>
#include <stemma/core/hash.hpp>
#include <stemma/core/id.hpp>
#include <stemma/onnx/onnx_model.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma {

/// Fills the tables of an onnx_model: a reader reports what it meets, in file order, and `finish`
/// binds the names that nodes read to the values that carry them.
class model_tables : public onnx_model {
    [[nodiscard]] static std::uint64_t operator_hash(std::string_view type, std::string_view domain,
                                                     std::string_view overload) noexcept {
        return hash_bytes(type, hash_bytes(domain, hash_bytes(overload)));
    }

    [[nodiscard]] auto same_operator(std::string_view type, std::string_view domain,
                                     std::string_view overload) const {
        return [this, type, domain, overload](id known) {
            const auto& op = operators_[known];
            return text(op.type) == type && text(op.domain) == domain &&
                   text(op.overload) == overload;
        };
    }

protected:
    id add_graph(graph_kind kind) {
        graphs_.emplace_back().kind = kind;
        return static_cast<id>(graphs_.size() - 1);
    }

    graph_record& graph_at(id g) { return graphs_[g]; }

    id add_operator(std::string_view type, std::string_view domain, std::string_view overload,
                    const operator_record& record) {
        const auto next = static_cast<id>(operators_.size());
        const auto found = operator_index_.insert(operator_hash(type, domain, overload), next,
                                                  same_operator(type, domain, overload));
        if (found == next) {
            operators_.push_back(record);
        }
        return found;
    }

    /// Numbers a node; the nodes of its bodies must have been added before.
    id add_node(const node_record& node, std::span<const text_ref> inputs,
                std::span<const text_ref> outputs) {
        const auto added = static_cast<id>(nodes_.size());
        nodes_.push_back(node);
        nodes_.back().position = graphs_[containers_[node.container].graph].node_count++;
        nodes_.back().first_input = static_cast<id>(input_names_.size());
        nodes_.back().first_output = static_cast<id>(value_names_.size());
        input_names_.insert(input_names_.end(), inputs.begin(), inputs.end());
        value_names_.insert(value_names_.end(), outputs.begin(), outputs.end());
        return added;
    }

    /// Each returns where `finish` says which value it is.
    id add_graph_input(id g, text_ref name) { return add_named(g, name, role::input); }
    id add_graph_output(id g, text_ref name) { return add_named(g, name, role::output); }
    id add_initializer(id g, text_ref name, bool sparse) {
        return add_named(g, name, sparse ? role::sparse_initializer : role::initializer);
    }
    /// Something else that speaks of a value by name.
    id add_mention(id g, text_ref name) { return add_named(g, name, role::mention); }

    /// Binds all names. Nothing may be added afterwards.
    /// Returns: the value of every input, output, initializer and mention that was added, in order;
    /// `no_id` for a mention of nothing that the graph defines.
    /// Complexity: O(nodes + values + names) expected.
    std::vector<id> finish() {
        result_count_ = static_cast<id>(value_names_.size());
        value_kinds_.assign(result_count_, value_kind::result);
        value_graphs_.resize(result_count_);
        producers_.resize(result_count_);
        for (id node = 0; node < node_count(); ++node) {
            for (id i = 0; i < output_count(node); ++i) {
                value_graphs_[first_output(node) + i] = graph_of(node);
                producers_[first_output(node) + i] = node;
            }
        }
        define_results();
        std::vector<id> bound(named_.size(), no_id);
        define_named(bound);
        bind_inputs();
        for (std::size_t i = 0; i < named_.size(); ++i) {
            const auto& entry = named_[i];
            if (entry.what == role::output) {
                bound[i] = look_up(entry.graph, entry.name);
                graphs_[entry.graph].outputs.push_back(bound[i]);
            } else if (entry.what == role::mention && entry.name.size > 0) {
                const auto found =
                    find_visible(entry.graph, text(entry.name), hash_bytes(text(entry.name)));
                bound[i] = found != no_id && value_graphs_[found] == entry.graph ? found : no_id;
            }
        }
        bind_calls();
        std::vector<named_value>().swap(named_);
        main_names_ = {};
        nested_names_ = {};
        return bound;
    }

private:
    enum class role : std::uint8_t { input, output, initializer, sparse_initializer, mention };

    struct named_value {
        id graph;
        text_ref name;
        role what;
    };

    static constexpr std::size_t batch = 32;

    id add_named(id g, text_ref name, role what) {
        named_.push_back({g, name, what});
        return static_cast<id>(named_.size() - 1);
    }

    [[nodiscard]] auto same_name(std::string_view name) const {
        return [this, name](id value) { return value_name(value) == name; };
    }

    [[nodiscard]] auto same_name_in(id g, std::string_view name) const {
        return [this, g, name](id value) {
            return value_graphs_[value] == g && value_name(value) == name;
        };
    }

    // Names of the main graph have a table of their own, so that most of a model needs one look-up;
    // those of bodies and functions share one, keyed by graph and name.
    [[nodiscard]] id define(id g, text_ref ref, id value, std::uint64_t hash) {
        const auto name = text(ref);
        return g == 0 ? main_names_.insert(hash, value, same_name(name))
                      : nested_names_.insert(hash_mix(hash, g), value, same_name_in(g, name));
    }

    // Hashing a batch of names before the first look-up lets the loads of the table overlap.
    template <class Name, class Use>
    void in_batches(id count, Name name_of, Use use) {
        std::array<std::uint64_t, batch> hashes{};
        for (id first = 0; first < count; first += batch) {
            const auto size = std::min<id>(batch, count - first);
            for (id i = 0; i < size; ++i) {
                hashes[i] = hash_bytes(text(name_of(first + i)));
                main_names_.prefetch(hashes[i]);
            }
            for (id i = 0; i < size; ++i) {
                use(first + i, hashes[i]);
            }
        }
    }

    void define_results() {
        main_names_.reserve(result_count_ + named_.size());
        in_batches(
            result_count_, [&](id value) { return value_names_[value]; },
            [&](id value, std::uint64_t hash) {
                if (value_names_[value].size > 0 &&
                    define(value_graphs_[value], value_names_[value], value, hash) != value) {
                    redefined_.push_back(value);
                }
            });
    }

    id add_value(id g, text_ref name, value_kind kind) {
        value_names_.push_back(name);
        value_graphs_.push_back(g);
        value_kinds_.push_back(kind);
        return static_cast<id>(value_names_.size() - 1);
    }

    void define_named(std::vector<id>& bound) {
        // An initializer may also be listed as an input; it counts as the former.
        for (const auto what : {role::initializer, role::sparse_initializer, role::input}) {
            for (std::size_t i = 0; i < named_.size(); ++i) {
                if (named_[i].what == what) {
                    bound[i] = define_named(named_[i]);
                }
            }
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
            value = define(entry.graph, entry.name, added, hash_bytes(text(entry.name)));
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

    /// Returns: the value that `name` means inside graph `g`, or `no_id`.
    [[nodiscard]] id find_visible(id g, std::string_view name, std::uint64_t hash) const {
        while (g != 0) {
            const auto found = nested_names_.find(hash_mix(hash, g), same_name_in(g, name));
            if (found != no_id || graphs_[g].kind == graph_kind::function) {
                return found;
            }
            g = graph_of(graphs_[g].owner);
        }
        return main_names_.find(hash, same_name(name));
    }

    [[nodiscard]] id look_up(id g, text_ref name) {
        return name.size == 0 ? no_id : look_up(g, name, hash_bytes(text(name)));
    }

    [[nodiscard]] id look_up(id g, text_ref name, std::uint64_t hash) {
        if (const auto found = find_visible(g, text(name), hash); found != no_id) {
            return found;
        }
        while (graphs_[g].kind == graph_kind::body) {
            g = graph_of(graphs_[g].owner);
        }
        const auto value = add_value(g, name, value_kind::undefined);
        static_cast<void>(define(g, name, value, hash));
        return value;
    }

    void bind_inputs() {
        inputs_.resize(input_names_.size(), no_id);
        id node = 0;
        in_batches(
            static_cast<id>(input_names_.size()), [&](id i) { return input_names_[i]; },
            [&](id i, std::uint64_t hash) {
                while (node + 1 < nodes_.size() && nodes_[node + 1].first_input <= i) {
                    ++node;
                }
                if (input_names_[i].size > 0) {
                    inputs_[i] = look_up(graph_of(node), input_names_[i], hash);
                }
            });
        std::vector<text_ref>().swap(input_names_);
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

    std::vector<text_ref> input_names_;
    std::vector<named_value> named_;
    flat_index operator_index_;
    flat_index main_names_;
    flat_index nested_names_;
};

} // namespace stemma

#endif // STEMMA_ONNX_MODEL_TABLES_HPP
