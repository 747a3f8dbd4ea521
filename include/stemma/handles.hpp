// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_HANDLES_HPP
#define STEMMA_HANDLES_HPP

#include <stemma/core/id.hpp>
#include <stemma/core/ids.hpp>
#include <stemma/detail/handle_ranges.hpp>
#include <stemma/model/source_lines.hpp>
#include <stemma/types/described_type.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI {

class node_ref;
class value_ref;
class module_ref;
class parameter_ref;
class attribute_ref;
class claim_ref;

namespace detail {

/// Common base of handles: an index into a model whose state does not move.
template <class Handle, class Id>
class handle {
public:
    /// Belongs to no model; may only be assigned to.
    handle() = default;

    /// Returns: the index, from which `model` makes the handle again.
    [[nodiscard]] Id id() const noexcept { return static_cast<Id>(index_); }

    friend bool operator==(const Handle& a, const Handle& b) noexcept {
        return a.state_ == b.state_ && a.index_ == b.index_;
    }

    /// The order of the indices. Requires: both are of one model.
    friend std::strong_ordering operator<=>(const Handle& a, const Handle& b) noexcept {
        return a.index_ <=> b.index_;
    }

    /// For unordered containers, those of Boost too.
    friend std::size_t hash_value(const Handle& one) noexcept {
        return std::hash<const void*>()(one.state_) + one.index_;
    }

    /// Prints `to_text`. The program includes <ostream>.
    friend std::ostream& operator<<(std::ostream& out, const Handle& one) {
        return out << to_text(one);
    }

protected:
    handle(const model_state& state, stemma::id index) : state_(&state), index_(index) {}

    const model_state* state_ = nullptr;
    stemma::id index_ = no_id;
};

/// Makes handles keys of the standard library's unordered containers.
template <class Handle>
struct handle_hash {
    [[nodiscard]] std::size_t operator()(const Handle& one) const noexcept {
        return hash_value(one);
    }
};

} // namespace detail

// A handle is two words. Handles and the text they return are valid as long as the model, even if
// it is moved.

/// A module: the `nn.Module` that nodes came from.
class module_ref : public detail::handle<module_ref, module_id> {
public:
    module_ref() = default;
    /// The module with an index.
    module_ref(const detail::model_state& state, stemma::id index) : handle(state, index) {}

    /// Returns: child names from below the root, joined by dots; "" for the root.
    /// Complexity: O(length).
    [[nodiscard]] std::string path() const;

    /// Returns: its name in its parent.
    [[nodiscard]] std::string_view name() const;

    /// Returns: the class without its package; "" where unknown.
    [[nodiscard]] std::string_view class_name() const;

    /// Returns: the class with its package; "" where unknown.
    [[nodiscard]] std::string_view qualified_class() const;

    /// Returns: the tag of the nearest selected module, itself or an ancestor.
    /// Complexity: O(length).
    [[nodiscard]] std::string tag() const;

    /// Whether it has its own tag.
    [[nodiscard]] bool is_selected() const;
    /// Returns: the line where its forward begins, if a capture recorded it.
    /// Complexity: as `node_ref::source`.
    [[nodiscard]] std::optional<source_position> source() const;

    /// Returns: how often it ran; nothing if unknown.
    [[nodiscard]] std::optional<std::uint32_t> calls() const;

    /// Returns: the number of edges from the root.
    [[nodiscard]] std::uint32_t depth() const;

    /// Returns: nothing for the root.
    [[nodiscard]] std::optional<module_ref> parent() const;

    /// Returns: its child modules, in tree order.
    [[nodiscard]] detail::handle_walk<module_ref> children() const;

    /// Returns: its ancestors, from the parent to the root.
    [[nodiscard]] detail::handle_walk<module_ref> ancestors() const;

    /// Returns: all its descendants, in preorder.
    [[nodiscard]] detail::handle_range<module_ref> descendants() const;

    /// Whether this is `other` or an ancestor of it; false for a module of another model.
    [[nodiscard]] bool contains(const module_ref& other) const;

    /// Returns: the nodes in it and its descendants, by index.
    /// Complexity: O(n log n) of the result; the first call for a model is linear in its nodes.
    [[nodiscard]] detail::handle_list<node_ref> nodes() const;

    /// Returns: the nodes whose deepest module it is, by index. Complexity: as `nodes`.
    [[nodiscard]] detail::handle_list<node_ref> own_nodes() const;

    /// Returns: the weights in it and its descendants, by index.
    /// Complexity: O(weights); the first call for a model finds the weights.
    [[nodiscard]] detail::handle_list<parameter_ref> parameters() const;
};

/// A node of a graph, a body or a local function.
class node_ref : public detail::handle<node_ref, node_id> {
public:
    node_ref() = default;
    /// The node with an index.
    node_ref(const detail::model_state& state, stemma::id index) : handle(state, index) {}

    /// Returns: its name, possibly "". Names need not be unique.
    [[nodiscard]] std::string_view name() const;

    /// Returns: the operator type, or the name of the called function.
    [[nodiscard]] std::string_view op_type() const;

    /// Returns: "" for the standard domain.
    [[nodiscard]] std::string_view domain() const;

    /// Returns: its attributes in file order, without stemma's own; defaults are not among them.
    /// Throws: `error` of `error_code::malformed`, as the members of attributes.
    /// Complexity: O(fields); values are read on demand.
    [[nodiscard]] std::vector<attribute_ref> attributes() const;

    /// Returns: the attribute with that name, if the file has it. Throws, Complexity: as above.
    [[nodiscard]] std::optional<attribute_ref> attribute(std::string_view name) const;

    /// Returns: the path of its graph: "" for the main one. Complexity: O(length).
    [[nodiscard]] std::string graph() const;

    /// Returns: its position among the nodes of its graph.
    [[nodiscard]] std::uint32_t position() const;

    /// Returns: the deepest module that it came from.
    [[nodiscard]] module_ref module() const;

    /// Returns: the tag of that module. Complexity: O(length).
    [[nodiscard]] std::string tag() const;

    /// Returns: the modules whose tags it has: its own, and those it serves.
    [[nodiscard]] detail::handle_list<module_ref> tags() const;

    /// Returns: the believed evidence, or the rule that filled the gap: `scope`, `between`.
    [[nodiscard]] std::string_view provenance() const;

    /// Returns: the confidence in the module, in [0, 1]: of the nodes at 0.9 or more, 99 in 100 are
    /// right.
    [[nodiscard]] float confidence() const;

    /// Returns: the line of the user's program that it comes from, if known; see docs/source.md.
    /// Valid as long as the model. Complexity: O(1); the first call as `attributed_model::lines`.
    [[nodiscard]] std::optional<source_position> source() const;
    /// Returns: the frames of the call stack, innermost first, at most
    /// `source_lines::listed_frames`; none if unknown.
    /// Complexity: O(frames); the first call as above.
    [[nodiscard]] std::vector<source_position> frames() const;

    /// Returns: which call of its module, from 0; nothing if unknown.
    [[nodiscard]] std::optional<std::uint32_t> call() const;

    /// Whether some evidence disagreed.
    [[nodiscard]] bool has_conflict() const;

    /// Returns: what each source of evidence says. Complexity: that of asking the sources.
    [[nodiscard]] std::vector<claim_ref> claims() const;

    /// Returns: the claims that disagreed, its own and those of its neighbours; none if all agree.
    /// Complexity: O(log of the number of such nodes + result).
    [[nodiscard]] std::vector<claim_ref> conflicts() const;

    /// Returns: modules that called its module without being ancestors of it.
    [[nodiscard]] detail::handle_list<module_ref> callers() const;

    /// Returns: the values it reads, by slot, without omitted ones.
    [[nodiscard]] detail::handle_list<value_ref> inputs() const;

    /// Returns: the values it produces, by slot; an omitted one has the name "".
    [[nodiscard]] detail::handle_range<value_ref> outputs() const;

    /// Returns: the producers of what it reads, in slot order.
    [[nodiscard]] detail::handle_list<node_ref> producers() const;

    /// Returns: the readers of what it produces, in slot order, repeated for each read.
    /// Complexity: O(result); the first call for a model is linear in it.
    [[nodiscard]] detail::handle_list<node_ref> readers() const;
};

/// A value: an output of a node, an input, or an initializer.
class value_ref : public detail::handle<value_ref, value_id> {
public:
    value_ref() = default;
    /// The value with an index.
    value_ref(const detail::model_state& state, stemma::id index) : handle(state, index) {}

    /// Returns: "" for an omitted output. Equal names in different graphs are different values.
    [[nodiscard]] std::string_view name() const;

    /// Returns: `intermediate`, `input`, `formal`, `initializer` or `undefined`.
    [[nodiscard]] std::string_view kind() const;

    /// Returns: its type: declared by the file, that of its initializer, or inferred from the
    /// nodes. Throws: `error` of `error_code::malformed`.
    /// Complexity: O(length); the first call for a model is linear in it.
    [[nodiscard]] described_type type() const;

    /// Whether the file stores the value.
    [[nodiscard]] bool is_initializer() const;

    /// Returns: the node that produces it, if any.
    [[nodiscard]] std::optional<node_ref> producer() const;

    /// Returns: the nodes that read it, by index, repeated for each read.
    /// Complexity: O(result); the first call for a model is linear in it.
    [[nodiscard]] detail::handle_list<node_ref> readers() const;

    /// Returns: the modules whose tags it has: those of its readers, else of its producer.
    /// Complexity: O(result); the first call for a model is linear in it.
    [[nodiscard]] detail::handle_list<module_ref> tags() const;
};

/// A weight stored in the file, as an initializer or in a Constant.
class parameter_ref : public detail::handle<parameter_ref, parameter_id> {
public:
    parameter_ref() = default;
    /// The weight with an index.
    parameter_ref(const detail::model_state& state, stemma::id index) : handle(state, index) {}

    /// Returns: the value that it is.
    [[nodiscard]] value_ref value() const;

    /// Returns: the name of that value.
    [[nodiscard]] std::string_view name() const;

    /// Returns: the module its name identifies, else the deepest that contains all readers.
    [[nodiscard]] module_ref module() const;

    /// Returns: `parameter`, `buffer`, `scale` or `zero_point`.
    [[nodiscard]] std::string_view kind() const;

    /// Returns: the element type as PyTorch prints it: `float32`.
    [[nodiscard]] std::string_view type() const;

    /// Returns: the number of elements, counting each of several packed into one.
    [[nodiscard]] std::uint64_t elements() const;

    /// Returns: the size of its data in bytes.
    [[nodiscard]] std::uint64_t bytes() const;
};

/// An attribute of a node, read from the file at each call. A value of another type than asked for
/// is none, as is one that refers to an attribute of the enclosing function. Complexity of each
/// member: O(fields).
class attribute_ref {
public:
    attribute_ref() = default;
    /// The attribute whose message has that place in the file.
    attribute_ref(const detail::model_state& state, std::uint32_t begin, std::uint32_t size)
        : state_(&state), begin_(begin), size_(size) {}

    /// Returns: its name: `strides`.
    [[nodiscard]] std::string_view name() const;

    /// Returns: `float`, `int`, `string`, `tensor`, `graph`, `sparse_tensor`, `type`, or one of
    /// these with an s for a list; "" if unknown.
    [[nodiscard]] std::string_view type() const;

    /// Returns: the attribute of the enclosing function whose value it has; "" for none.
    [[nodiscard]] std::string_view reference() const;

    /// Returns: the value of an `int`.
    [[nodiscard]] std::optional<std::int64_t> as_int() const;
    /// Returns: the value of a `float`.
    [[nodiscard]] std::optional<float> as_float() const;
    /// Returns: the bytes of a `string`.
    [[nodiscard]] std::optional<std::string_view> as_string() const;
    /// Returns: the values of `ints`, empty for another type.
    [[nodiscard]] std::vector<std::int64_t> as_ints() const;
    /// Returns: the values of `floats`, likewise.
    [[nodiscard]] std::vector<float> as_floats() const;
    /// Returns: the values of `strings`, likewise.
    [[nodiscard]] std::vector<std::string_view> as_strings() const;

    friend bool operator==(const attribute_ref&, const attribute_ref&) = default;

private:
    const detail::model_state* state_ = nullptr;
    std::uint32_t begin_ = 0;
    std::uint32_t size_ = 0;
};

/// Returns: its name, or its position where it has none: `#7`, `5/body#2`. Queries and `explain`
/// accept both.
[[nodiscard]] std::string to_text(const node_ref& node);

/// Returns: its name, or "(omitted)" for an output without one.
[[nodiscard]] std::string to_text(const value_ref& value);

/// Returns: its path, or "(root)". Complexity: O(length).
[[nodiscard]] std::string to_text(const module_ref& module);

/// Returns: its name.
[[nodiscard]] std::string to_text(const parameter_ref& parameter);

/// The statement of one source of evidence about a node.
class claim_ref {
public:
    claim_ref() = default;
    /// From its components.
    claim_ref(module_ref module, std::string_view source, float confidence, bool exact)
        : module_(module), source_(source), confidence_(confidence), exact_(exact) {}

    /// Returns: the module it names.
    [[nodiscard]] module_ref module() const noexcept { return module_; }

    /// Returns: the name of the source: `scope`, `parameter`.
    [[nodiscard]] std::string_view source() const noexcept { return source_; }

    /// Returns: the source's confidence, in [0, 1].
    [[nodiscard]] float confidence() const noexcept { return confidence_; }

    /// Whether it names the deepest module, rather than one above or below it.
    [[nodiscard]] bool is_exact() const noexcept { return exact_; }

    friend bool operator==(const claim_ref&, const claim_ref&) = default;

private:
    module_ref module_;
    std::string_view source_;
    float confidence_ = 0;
    bool exact_ = true;
};

} // namespace stemma::inline STEMMA_ABI

namespace std {

/// Of nodes as keys.
template <>
struct hash<stemma::node_ref> : stemma::detail::handle_hash<stemma::node_ref> {};
/// Of values as keys.
template <>
struct hash<stemma::value_ref> : stemma::detail::handle_hash<stemma::value_ref> {};
/// Of modules as keys.
template <>
struct hash<stemma::module_ref> : stemma::detail::handle_hash<stemma::module_ref> {};
/// Of parameters as keys.
template <>
struct hash<stemma::parameter_ref> : stemma::detail::handle_hash<stemma::parameter_ref> {};

} // namespace std

#endif // STEMMA_HANDLES_HPP
