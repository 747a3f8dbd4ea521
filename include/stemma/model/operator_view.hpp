// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_MODEL_OPERATOR_VIEW_HPP
#define STEMMA_MODEL_OPERATOR_VIEW_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/id.hpp>

#include <concepts>
#include <cstddef>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// The underlying graph of a view of operators.
template <class Ops>
using graph_of = typename Ops::graph_type;

/// The vertex type of that graph.
template <class Ops>
using operator_t = vertex_t<graph_of<Ops>>;

namespace detail {

template <class Ops>
concept has_graph = requires(const Ops& ops) {
    typename Ops::graph_type;
    { ops.graph() } -> std::same_as<const typename Ops::graph_type&>;
};

} // namespace detail

/// A graph of operators, with more information where the concepts below hold. An algorithm or
/// policy constrains itself to what it reads. `mapped_operators` makes a view of any Boost graph.
///
/// Requires: graph and text live as long as the view.
template <class Ops>
concept operator_view = detail::has_graph<Ops> && operator_graph_like<graph_of<Ops>>;

/// Put `static_assert(explain_operator_view<mine>());` next to a view that is rejected.
template <class Ops>
consteval bool explain_operator_view() {
    static_assert(detail::has_graph<Ops>,
                  "operators: add `using graph_type` and `const graph_type& "
                  "graph() const`, or wrap the graph in mapped_operators");
    if constexpr (detail::has_graph<Ops>) {
        static_assert(explain_operator_graph<graph_of<Ops>>());
    }
    return true; // any violation has failed above
}

/// Operators that have a name and a type, either possibly "".
template <class Ops>
concept named_operators = operator_view<Ops> && requires(const Ops& ops, operator_t<Ops> v) {
    { ops.name(v) } -> lasting_text;
    { ops.op_type(v) } -> lasting_text;
};

/// Operators whose types also have a domain; "" is the standard one.
template <class Ops>
concept qualified_operators = named_operators<Ops> && requires(const Ops& ops, operator_t<Ops> v) {
    { ops.domain(v) } -> lasting_text;
};

namespace detail {

struct take_id {
    void operator()(id) const {}
};

} // namespace detail

/// Operators that read named parameters (initializers), numbered from 0.
template <class Ops>
concept parameter_readers = operator_view<Ops> &&
    requires(const Ops& ops, operator_t<Ops> v, id p) {
    { ops.parameter_count() } -> std::convertible_to<std::size_t>;
    { ops.parameter_name(p) } -> lasting_text;
    ops.for_each_parameter(v, detail::take_id{});
};

/// Parameters that can be tested for uniform contents (all elements equal; a single one to zero or
/// one): `keep_uniform` leaves only such parameters marked, by number.
template <class Ops>
concept valued_parameters = parameter_readers<Ops> &&
    requires(const Ops& ops, std::vector<bool>& marked) {
    ops.keep_uniform(marked);
};

/// Parameters that can be told from constants by shape and type: `keep_matrices` leaves only those
/// marked, by number, that must be weights.
template <class Ops>
concept sized_parameters = parameter_readers<Ops> &&
    requires(const Ops& ops, std::vector<bool>& marked) {
    ops.keep_matrices(marked);
};

/// Operators that may be fusions of two: one that reads parameters, and a neighbour in another
/// module, such as an activation.
template <class Ops>
concept joined_operators = operator_view<Ops> && requires(const Ops& ops, operator_t<Ops> v) {
    { ops.is_joined(v) } -> std::convertible_to<bool>;
};

/// Operators that may be in the body of another one (If, Loop, Scan): `owner` is the vertex index
/// of that one, or `no_id`.
template <class Ops>
concept nested_operators = operator_view<Ops> && requires(const Ops& ops, operator_t<Ops> v) {
    { ops.owner(v) } -> std::convertible_to<id>;
};

/// Nested operators that also report which of their owner's bodies they are in, by number; `no_id`
/// if they have no owner.
template <class Ops>
concept body_operators = nested_operators<Ops> && requires(const Ops& ops, operator_t<Ops> v) {
    { ops.body(v) } -> std::convertible_to<id>;
};

namespace detail {

struct take_entry {
    void operator()(std::string_view, std::string_view) const {}
};

struct take_folded {
    template <class Vertex>
    void operator()(const Vertex&, std::string_view) const {}
};

} // namespace detail

/// Operators that carry metadata: key-value pairs.
template <class Ops>
concept described_operators = operator_view<Ops> && requires(const Ops& ops, operator_t<Ops> v) {
    ops.for_each_metadata(v, detail::take_entry{});
};

/// What an operator reads at one input: a parameter, an input of the enclosing function, or
/// neither.
struct operator_argument {
    id parameter = no_id; ///< `no_id` if it is none
    id formal = no_id;    ///< which input of the function, from 0; `no_id` if it is none
};

namespace detail {

struct take_argument {
    void operator()(const operator_argument&) const {}
};

} // namespace detail

/// Operators that may call functions whose bodies are operators of the same view.
template <class Ops>
concept calling_operators = operator_view<Ops> &&
    requires(const Ops& ops, operator_t<Ops> v, id f) {
    { ops.function_count() } -> std::convertible_to<id>;
    { ops.function_domain(f) } -> lasting_text;
    { ops.function_name(f) } -> lasting_text;
    { ops.callee(v) } -> std::convertible_to<id>;
    { ops.enclosing_function(v) } -> std::convertible_to<id>;
    ops.for_each_argument(v, detail::take_argument{});
};

/// Operators some of which are in functions that stemma made from modules, or call such a function,
/// and know their origin: `fold_path` is the path from the module of the enclosing call. Their
/// names are no evidence, as calls share them.
template <class Ops>
concept folded_operators = calling_operators<Ops> && requires(const Ops& ops, operator_t<Ops> v) {
    { ops.is_folded(v) } -> std::convertible_to<bool>;
    { ops.fold_path(v) } -> std::convertible_to<std::string_view>;
};

/// Operators that know what they do with the data flowing through the model.
///
/// `reads_data`: reads an input of the model directly. `hides_data`: the result depends only on the
/// shapes of the values read (Shape, Size).
template <class Ops>
concept data_aware_operators = operator_view<Ops> && requires(const Ops& ops, operator_t<Ops> v) {
    { ops.reads_data(v) } -> std::convertible_to<bool>;
    { ops.hides_data(v) } -> std::convertible_to<bool>;
};

namespace detail {

/// Whether an operator reads an input of the model directly; false if operators cannot tell.
template <operator_view Ops>
[[nodiscard]] bool reads_data(const Ops& ops, operator_t<Ops> v) {
    if constexpr (data_aware_operators<Ops>) {
        return ops.reads_data(v);
    } else {
        return false;
    }
}

/// Whether an operator is in the body of a function; false if operators cannot tell.
template <operator_view Ops>
[[nodiscard]] bool is_in_function(const Ops& ops, operator_t<Ops> v) {
    if constexpr (calling_operators<Ops>) {
        return ops.enclosing_function(v) != no_id;
    } else {
        return false;
    }
}

} // namespace detail

/// Operators that know where they read a condition (of If, of Loop) rather than data.
template <class Ops>
concept steered_operators = operator_view<Ops> &&
    requires(const Ops& ops, edge_t<graph_of<Ops>> e) {
    { ops.reads_condition(e) } -> std::convertible_to<bool>;
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_MODEL_OPERATOR_VIEW_HPP
