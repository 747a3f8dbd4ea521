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
        // Nearly always there is only a type.
        const bool plain = domain.empty() && overload.empty();
        return hash_bytes(type, plain ? 0 : hash_bytes(domain, hash_bytes(overload)));
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

    /// Makes room for so many nodes in all, and for what nodes have on average. Growing step by
    /// step would write each table several times.
    void expect_nodes(std::size_t count) {
        const auto known = std::max<std::size_t>(nodes_.size(), 1);
        const auto make_room = [&](auto& table) { table.reserve(table.size() * count / known); };
        make_room(nodes_);
        make_room(inputs_);
        make_room(value_names_);
        make_room(value_graphs_);
        make_room(producers_);
        main_names_.reserve(producers_.size() * count / known);
    }

    /// Numbers a node; the nodes of its bodies must have been added before.
    id add_node(const node_record& node, std::span<const text_ref> inputs,
                std::span<const text_ref> outputs) {
        const auto added = static_cast<id>(nodes_.size());
        nodes_.push_back(node);
        nodes_.back().position = graphs_[containers_[node.container].graph].node_count++;
        nodes_.back().first_input = static_cast<id>(inputs_.size());
        nodes_.back().first_output = static_cast<id>(value_names_.size());
        const auto g = containers_[node.container].graph;
        for (const auto name : inputs) {
            inputs_.push_back(no_id);
            if (name.size > 0) {
                enqueue(
                    {hash_bytes(text(name)), name, static_cast<id>(inputs_.size() - 1), g, false});
            }
        }
        for (const auto name : outputs) {
            value_names_.push_back(name);
            value_graphs_.push_back(g);
            producers_.push_back(added);
            if (name.size > 0) {
                enqueue({hash_bytes(text(name)), name, static_cast<id>(value_names_.size() - 1), g,
                         true});
            }
        }
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
        settle();
        result_count_ = static_cast<id>(value_names_.size());
        value_kinds_.assign(result_count_, value_kind::result);
        main_names_.reserve(result_count_ + named_.size());
        std::vector<id> bound(named_.size(), no_id);
        define_named(bound);
        bind_later_inputs();
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

    /// A name of an input or result of a node that is to be looked up or defined.
    struct met_name {
        std::uint64_t hash = 0;
        text_ref name;
        id what = no_id; ///< value, or index of the input
        id graph = no_id;
        bool defines = false;
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

    // Names are hashed when they are met, while their bytes are near, but used a batch later: by
    // then the slots they need have been loaded, all at the same time.
    void enqueue(const met_name& met) {
        if (met.graph == 0) {
            main_names_.prefetch(met.hash);
        }
        met_[met_count_++] = met;
        if (met_count_ == batch) {
            settle();
        }
    }

    // Exporters write values before their readers, so that an input of the main graph finds its
    // value at once. In a body the value may still follow that hides one of an outer graph.
    void settle() {
        for (const auto& met : std::span(met_).first(met_count_)) {
            if (met.defines) {
                if (define(met.graph, met.name, met.what, met.hash) != met.what) {
                    redefined_.push_back(met.what);
                }
                continue;
            }
            const auto found =
                met.graph == 0 ? main_names_.find(met.hash, same_name(text(met.name))) : no_id;
            if (found != no_id) {
                inputs_[met.what] = found;
            } else {
                later_.push_back(met);
            }
        }
        met_count_ = 0;
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

    void bind_later_inputs() {
        for (std::size_t i = 0; i < later_.size(); ++i) {
            if (i + batch < later_.size()) {
                main_names_.prefetch(later_[i + batch].hash);
            }
            const auto& met = later_[i];
            inputs_[met.what] = look_up(met.graph, met.name, met.hash);
        }
        std::vector<met_name>().swap(later_);
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

    std::array<met_name, batch> met_{};
    std::size_t met_count_ = 0;
    std::vector<met_name> later_;
    std::vector<named_value> named_;
    flat_index operator_index_;
    flat_index main_names_;
    flat_index nested_names_;
};

} // namespace stemma

#endif // STEMMA_ONNX_MODEL_TABLES_HPP
