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

/// The graph under a view of operators.
template <class Ops>
using graph_of = typename Ops::graph_type;

/// How that graph names an operator.
template <class Ops>
using operator_t = vertex_t<graph_of<Ops>>;

namespace detail {

template <class Ops>
concept has_graph = requires(const Ops& ops) {
    typename Ops::graph_type;
    { ops.graph() } -> std::same_as<const typename Ops::graph_type&>;
};

} // namespace detail

/// A graph of operators, and more of them where the concepts below hold. An algorithm or policy
/// says in its constraint how much it reads. `mapped_operators` makes one of any Boost graph.
///
/// Requires: graph and text stay as long as the view.
template <class Ops>
concept operator_view = detail::has_graph<Ops> && operator_graph_like<graph_of<Ops>>;

/// Put `static_assert(explain_operator_view<mine>());` beside a view that is refused.
template <class Ops>
consteval bool explain_operator_view() {
    static_assert(detail::has_graph<Ops>,
                  "operators: add `using graph_type` and `const graph_type& "
                  "graph() const`, or make mapped_operators of the graph");
    if constexpr (detail::has_graph<Ops>) {
        static_assert(explain_operator_graph<graph_of<Ops>>());
    }
    return true; // else it was said
}

/// Operators that have a name and a type, either possibly "".
template <class Ops>
concept named_operators = operator_view<Ops> && requires(const Ops& ops, operator_t<Ops> v) {
    { ops.name(v) } -> lasting_text;
    { ops.op_type(v) } -> lasting_text;
};

/// Operators that also say in which domain their type is; "" is that of the standard.
template <class Ops>
concept qualified_operators = named_operators<Ops> && requires(const Ops& ops, operator_t<Ops> v) {
    { ops.domain(v) } -> lasting_text;
};

namespace detail {

struct take_id {
    void operator()(id) const {}
};

} // namespace detail

/// Operators that read named parameters (initializers), which are numbered from 0.
template <class Ops>
concept parameter_readers = operator_view<Ops> &&
    requires(const Ops& ops, operator_t<Ops> v, id p) {
    { ops.parameter_count() } -> std::convertible_to<std::size_t>;
    { ops.parameter_name(p) } -> lasting_text;
    ops.for_each_parameter(v, detail::take_id{});
};

/// Parameters of which is known which have the same number in every element: `keep_uniform` leaves
/// those marked, by parameter.
template <class Ops>
concept valued_parameters = parameter_readers<Ops> &&
    requires(const Ops& ops, std::vector<bool>& marked) {
    ops.keep_uniform(marked);
};

/// Parameters that can be told from constants by their shape and type: `keep_matrices` leaves those
/// marked, by parameter, that can only be weights.
template <class Ops>
concept sized_parameters = parameter_readers<Ops> &&
    requires(const Ops& ops, std::vector<bool>& marked) {
    ops.keep_matrices(marked);
};

/// Operators of which some were made of two: of one that reads parameters, and one beside it in
/// another module, as an activation.
template <class Ops>
concept joined_operators = operator_view<Ops> && requires(const Ops& ops, operator_t<Ops> v) {
    { ops.is_joined(v) } -> std::convertible_to<bool>;
};

/// Operators that may sit in the body of another one (If, Loop, Scan): `owner` is the vertex index
/// of that one, or `no_id`.
template <class Ops>
concept nested_operators = operator_view<Ops> && requires(const Ops& ops, operator_t<Ops> v) {
    { ops.owner(v) } -> std::convertible_to<id>;
};

/// Operators of which is known in which of its owner's bodies each is: a number, `no_id` for those
/// without an owner.
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

/// Operators that carry metadata: pairs of key and value.
template <class Ops>
concept described_operators = operator_view<Ops> && requires(const Ops& ops, operator_t<Ops> v) {
    ops.for_each_metadata(v, detail::take_entry{});
};

/// What an operator reads at one input: a parameter, an input of the function it is in, or neither.
struct operator_argument {
    id parameter = no_id; ///< `no_id` where it is none
    id formal = no_id;    ///< which input of the function, from 0; `no_id` where it is none
};

namespace detail {

struct take_argument {
    void operator()(const operator_argument&) const {}
};

} // namespace detail

/// Operators that may call functions, whose bodies are operators of the same view.
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

/// Operators of which some stand in functions that stemma made of modules, or call such a function,
/// and say where they come from: `fold_path` is the way there from the module of the call around.
/// Names of these tell nothing, as calls share them.
template <class Ops>
concept folded_operators = calling_operators<Ops> && requires(const Ops& ops, operator_t<Ops> v) {
    { ops.is_folded(v) } -> std::convertible_to<bool>;
    { ops.fold_path(v) } -> std::convertible_to<std::string_view>;
};

/// Operators of which is known what they do with the data that flows through the model.
///
/// `reads_data`: reads an input of the whole directly. `hides_data`: the result does not depend on
/// the values read, only on their shape (Shape, Size).
template <class Ops>
concept data_aware_operators = operator_view<Ops> && requires(const Ops& ops, operator_t<Ops> v) {
    { ops.reads_data(v) } -> std::convertible_to<bool>;
    { ops.hides_data(v) } -> std::convertible_to<bool>;
};

/// Operators of which is known where they read a condition (of If, of Loop) rather than data.
template <class Ops>
concept steered_operators = operator_view<Ops> &&
    requires(const Ops& ops, edge_t<graph_of<Ops>> e) {
    { ops.reads_condition(e) } -> std::convertible_to<bool>;
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_MODEL_OPERATOR_VIEW_HPP
