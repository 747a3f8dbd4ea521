// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ALIGN_COMPARABLE_GRAPH_HPP
#define STEMMA_ALIGN_COMPARABLE_GRAPH_HPP

#include <stemma/config.hpp>
#include <stemma/core/concepts.hpp>
#include <stemma/core/detail/hash.hpp>
#include <stemma/core/detail/vertices_by_index.hpp>
#include <stemma/core/id.hpp>
#include <stemma/model/operator_edge.hpp>
#include <stemma/model/operator_view.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// Hashes of the contents of a stored value; 0 if unknown.
struct content_hash {
    std::uint64_t exact = 0;   ///< of type, shape and data
    std::uint64_t loose = 0;   ///< of the elements in any order: equal for transposed data, and
                               ///< additive for concatenated data
    std::uint64_t scaled = 0;  ///< equal when slices along the first dimension are scaled, as by
                               ///< folding a normalization
    std::uint64_t nonzero = 0; ///< not a hash, but the number of elements that are not zero:
                               ///< equal when they are reordered, padded or scaled

    friend bool operator==(const content_hash&, const content_hash&) = default;
};

/// What `align_graphs` compares of a graph: operators in topological order, and the values between
/// them. Texts stay with the caller and must outlive it.
class comparable_graph {
public:
    /// Where a value of a `comparable_graph` comes from.
    enum class value_role : std::uint8_t {
        made,   ///< produced by an operator of the graph
        given,  ///< an input of the graph, of a body or of a function
        stored, ///< a parameter or constant
    };

    /// What is known about an operator besides its values.
    struct operator_facts {
        std::string_view type;   ///< with the domain in front, as in `com.microsoft::FusedConv`
        std::string_view name{}; ///< possibly ""
        std::uint64_t attributes =
            0;                   ///< a hash of everything else that determines what it computes
        bool opaque = false;     ///< equal operators may compute different things
        bool hides_data = false; ///< the result depends only on shapes
        bool constant = false;   ///< produces a stored value
    };

    /// Reserves room for that many operators and values.
    void reserve(std::size_t operators, std::size_t values) {
        operators_.reserve(operators + 1);
        values_.reserve(values);
    }

    /// Returns: the number of a new value. Its name may be "".
    id add_value(value_role role, std::string_view name, content_hash content = {}) {
        values_.push_back({name, content.exact, content.nonzero, no_id, role});
        const auto added = static_cast<id>(values_.size() - 1);
        note(added, content);
        return added;
    }

    /// Returns: the number of a new operator. Requires: its values were added; `no_id` is an
    /// omitted one. Complexity: O(inputs + outputs).
    id add_operator(const operator_facts& facts, std::span<const id> inputs,
                    std::span<const id> outputs) {
        const auto op = operator_count();
        if (operators_.empty()) {
            operators_.push_back({});
        }
        auto& entry = operators_.back();
        entry.name = facts.name;
        entry.attributes = facts.attributes;
        entry.type = type_number(facts.type);
        entry.flags = static_cast<std::uint8_t>((facts.opaque ? is_opaque : 0U) |
                                                (facts.hides_data ? is_hiding : 0U) |
                                                (facts.constant ? is_constant_ : 0U));
        inputs_.insert(inputs_.end(), inputs.begin(), inputs.end());
        outputs_.insert(outputs_.end(), outputs.begin(), outputs.end());
        for (const auto value : outputs) {
            if (value != no_id) {
                values_[value].maker = op;
            }
        }
        operators_.push_back({});
        operators_.back().first_input = static_cast<id>(inputs_.size());
        operators_.back().first_output = static_cast<id>(outputs_.size());
        return op;
    }

    /// Adds a result of the graph, in order.
    void add_result(id value) { results_.push_back(value); }

    /// Sets the contents of a stored value.
    void set_content(id value, content_hash content) {
        values_[value].content = content.exact;
        values_[value].nonzero = content.nonzero;
        values_[value].role = value_role::stored;
        note(value, content);
    }

    /// Returns: the number of operators.
    [[nodiscard]] id operator_count() const noexcept {
        return operators_.empty() ? 0 : static_cast<id>(operators_.size() - 1);
    }
    /// Returns: the number of values.
    [[nodiscard]] id value_count() const noexcept { return static_cast<id>(values_.size()); }

    /// Returns: the number of an operator's type, see `type_text`.
    [[nodiscard]] id type(id op) const noexcept { return operators_[op].type; }
    /// Returns: the number of types.
    [[nodiscard]] id type_count() const noexcept { return static_cast<id>(types_.size()); }
    /// Returns: the type with that number.
    [[nodiscard]] std::string_view type_text(id type) const noexcept { return types_[type]; }

    /// Returns: the name of an operator, possibly "".
    [[nodiscard]] std::string_view name(id op) const noexcept { return operators_[op].name; }
    /// Returns: the hash of its attributes, as given.
    [[nodiscard]] std::uint64_t attributes(id op) const noexcept {
        return operators_[op].attributes;
    }
    /// Whether equal operators may compute different things.
    [[nodiscard]] bool opaque(id op) const noexcept {
        return (operators_[op].flags & is_opaque) != 0;
    }
    /// Whether the result depends only on shapes.
    [[nodiscard]] bool hides_data(id op) const noexcept {
        return (operators_[op].flags & is_hiding) != 0;
    }
    /// Whether it produces a stored value.
    [[nodiscard]] bool constant(id op) const noexcept {
        return (operators_[op].flags & is_constant_) != 0;
    }

    /// Returns: values, by slot.
    [[nodiscard]] std::span<const id> inputs(id op) const noexcept {
        return std::span(inputs_).subspan(operators_[op].first_input,
                                          operators_[op + 1].first_input -
                                              operators_[op].first_input);
    }
    /// Returns: values, by slot.
    [[nodiscard]] std::span<const id> outputs(id op) const noexcept {
        return std::span(outputs_).subspan(operators_[op].first_output,
                                           operators_[op + 1].first_output -
                                               operators_[op].first_output);
    }

    /// Returns: the name of a value, possibly "".
    [[nodiscard]] std::string_view value_name(id value) const noexcept {
        return values_[value].name;
    }
    /// Returns: the operator that produces a value, or `no_id`.
    [[nodiscard]] id maker(id value) const noexcept { return values_[value].maker; }
    /// Returns: where a value comes from.
    [[nodiscard]] value_role role(id value) const noexcept { return values_[value].role; }
    /// Returns: the exact hash of a value's contents, 0 if unknown.
    [[nodiscard]] std::uint64_t content(id value) const noexcept { return values_[value].content; }
    /// Returns: how many elements of a stored value are not zero, 0 if unknown.
    [[nodiscard]] std::uint64_t nonzero(id value) const noexcept { return values_[value].nonzero; }
    /// Returns: the values with a hash that ignores the order of elements.
    [[nodiscard]] std::span<const std::pair<id, std::uint64_t>> loose_contents() const noexcept {
        return loose_;
    }
    /// Returns: the values with a hash that does not depend on the scale of slices.
    [[nodiscard]] std::span<const std::pair<id, std::uint64_t>> scaled_contents() const noexcept {
        return scaled_;
    }
    /// Returns: the results of the graph.
    [[nodiscard]] std::span<const id> results() const noexcept { return results_; }

private:
    static constexpr unsigned is_opaque = 1;
    static constexpr unsigned is_hiding = 2;
    static constexpr unsigned is_constant_ = 4;

    struct operator_record {
        std::string_view name;
        std::uint64_t attributes = 0;
        id type = no_id;
        id first_input = 0;
        id first_output = 0;
        std::uint8_t flags = 0;
    };

    struct value_record {
        std::string_view name;
        std::uint64_t content = 0;
        std::uint64_t nonzero = 0;
        id maker = no_id;
        value_role role = value_role::made;
    };

    void note(id value, const content_hash& content) {
        if (content.loose != 0) {
            loose_.emplace_back(value, content.loose);
        }
        if (content.scaled != 0) {
            scaled_.emplace_back(value, content.scaled);
        }
    }

    [[nodiscard]] id type_number(std::string_view text) {
        const auto [entry, is_new] = number_of_type_.try_emplace(std::string(text), type_count());
        if (is_new) {
            types_.emplace_back(text);
        }
        return entry->second;
    }

    std::vector<operator_record> operators_; // plus one for the end of the last
    std::vector<value_record> values_;
    std::vector<id> inputs_;
    std::vector<id> outputs_;
    std::vector<id> results_;
    std::vector<std::pair<id, std::uint64_t>> loose_;
    std::vector<std::pair<id, std::uint64_t>> scaled_;
    std::vector<std::string> types_;
    std::unordered_map<std::string, id> number_of_type_;
};

namespace detail {

/// Returns: the slot number of an edge: as given by the graph, else in the order of edges.
template <class Graph, class Tag>
[[nodiscard]] id slot_of(const Graph& graph, const edge_t<Graph>& e, Tag tag, id otherwise) {
    if constexpr (requires {
                      { get(tag, graph, e) } -> std::convertible_to<id>;
                  }) {
        return get(tag, graph, e);
    } else {
        return otherwise;
    }
}

} // namespace detail

/// Returns: any operators in the form that `align_graphs` compares; they are numbered by vertex
/// index. Values are distinguished if edges have output numbers; parameters are compared by name.
///
/// Requires: vertex indices are a topological order.
/// Complexity: O(operators + edges + parameters).
template <named_operators Ops>
[[nodiscard]] comparable_graph comparable(const Ops& ops) {
    const auto& graph = ops.graph();
    const auto by_index = detail::vertices_by_index(graph);
    const auto count = static_cast<id>(num_vertices(graph));
    comparable_graph result;
    std::vector<id> parameters;
    if constexpr (parameter_readers<Ops>) {
        for (id p = 0; p < ops.parameter_count(); ++p) {
            parameters.push_back(
                result.add_value(comparable_graph::value_role::stored, ops.parameter_name(p)));
        }
    }
    std::map<std::pair<id, id>, id> seen; // by operator and output
    std::vector<std::vector<id>> outputs(count);
    for (id v = 0; v < count; ++v) {
        for (auto [it, last] = out_edges(by_index[v], graph); it != last; ++it) {
            seen.try_emplace({v, detail::slot_of(graph, *it, detail::out_port, 0)}, no_id);
        }
        for (auto entry = seen.lower_bound({v, 0}); entry != seen.end(); ++entry) {
            entry->second = result.add_value(comparable_graph::value_role::made, "");
            outputs[v].push_back(entry->second);
        }
        if (outputs[v].empty()) {
            outputs[v].push_back(result.add_value(comparable_graph::value_role::made, ""));
            result.add_result(outputs[v].back());
        }
    }
    for (id v = 0; v < count; ++v) {
        std::multimap<id, id> read; // by slot
        id next = 0;
        for (auto [it, last] = in_edges(by_index[v], graph); it != last; ++it, ++next) {
            const auto from = static_cast<id>(detail::index_of(graph, source(*it, graph)));
            read.emplace(detail::slot_of(graph, *it, detail::in_port, next),
                         seen.at({from, detail::slot_of(graph, *it, detail::out_port, 0)}));
        }
        std::vector<id> inputs;
        for (const auto& [slot, value] : read) {
            inputs.push_back(value);
        }
        if constexpr (parameter_readers<Ops>) {
            ops.for_each_parameter(by_index[v], [&](id p) { inputs.push_back(parameters[p]); });
        }
        std::string type(ops.op_type(by_index[v]));
        if constexpr (qualified_operators<Ops>) {
            const std::string_view domain = ops.domain(by_index[v]);
            type = domain.empty() ? type : std::string(domain).append("::").append(type);
        }
        comparable_graph::operator_facts facts{.type = type, .name = ops.name(by_index[v])};
        if constexpr (data_aware_operators<Ops>) {
            facts.hides_data = ops.hides_data(by_index[v]);
        }
        result.add_operator(facts, inputs, outputs[v]);
    }
    return result;
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_ALIGN_COMPARABLE_GRAPH_HPP
