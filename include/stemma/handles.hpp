// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_HANDLES_HPP
#define STEMMA_HANDLES_HPP

#include <stemma/core/id.hpp>
#include <stemma/handle_ranges.hpp>
#include <stemma/ids.hpp>
#include <stemma/model/source_lines.hpp>

#include <cstdint>
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
class claim_ref;

namespace detail {

/// What all handles are: an index into a model that stays where it is.
template <class Handle, class Id>
class handle {
public:
    /// Of no model; only to be assigned to.
    handle() = default;

    /// Returns: the index, which `model` takes back.
    [[nodiscard]] Id id() const noexcept { return static_cast<Id>(index_); }

    friend bool operator==(const Handle& a, const Handle& b) noexcept {
        return a.state_ == b.state_ && a.index_ == b.index_;
    }

protected:
    handle(const model_state& state, stemma::id index) : state_(&state), index_(index) {}

    const model_state* state_ = nullptr;
    stemma::id index_ = no_id;
};

} // namespace detail

// Handles are two words. They and all text that they give are valid as long as the model, also when
// that is moved.

/// A module: the `nn.Module` that nodes came from.
class module_ref : public detail::handle<module_ref, module_id> {
public:
    module_ref() = default;
    /// The module of an index.
    module_ref(const detail::model_state& state, stemma::id index) : handle(state, index) {}

    /// Returns: attribute names from below the root, joined by dots; "" for the root.
    /// Complexity: O(length).
    [[nodiscard]] std::string path() const;

    /// Returns: the name under which the parent holds it.
    [[nodiscard]] std::string_view name() const;

    /// Returns: the class without its package; "" where unknown.
    [[nodiscard]] std::string_view class_name() const;

    /// Returns: the class with its package; "" where unknown.
    [[nodiscard]] std::string_view qualified_class() const;

    /// Returns: the tag of the nearest selected module, this one or one above.
    /// Complexity: O(length).
    [[nodiscard]] std::string tag() const;

    /// Whether it has a tag of its own.
    [[nodiscard]] bool is_selected() const;
    /// Returns: the line at which its forward begins, if a capture says so.
    /// Complexity: as `node_ref::source`.
    [[nodiscard]] std::optional<source_position> source() const;

    /// Returns: how often it ran; nothing where unknown.
    [[nodiscard]] std::optional<std::uint32_t> calls() const;

    /// Returns: edges from the root.
    [[nodiscard]] std::uint32_t depth() const;

    /// Returns: nothing for the root.
    [[nodiscard]] std::optional<module_ref> parent() const;

    /// Returns: the modules that it holds, in the order of the tree.
    [[nodiscard]] handle_walk<module_ref> children() const;

    /// Returns: the modules above it, from the parent to the root.
    [[nodiscard]] handle_walk<module_ref> ancestors() const;

    /// Returns: all modules below it, in preorder.
    [[nodiscard]] handle_range<module_ref> descendants() const;

    /// Whether this is `other` or above it.
    [[nodiscard]] bool contains(const module_ref& other) const;

    /// Returns: the nodes in it and in all below, in order of index.
    /// Complexity: O(n log n) of the result; the first call for a model is linear in its nodes.
    [[nodiscard]] handle_list<node_ref> nodes() const;

    /// Returns: the nodes whose deepest module it is, in order of index. Complexity: as `nodes`.
    [[nodiscard]] handle_list<node_ref> own_nodes() const;

    /// Returns: the weights in it and in all below, in order of index.
    /// Complexity: O(weights); the first call for a model looks for the weights.
    [[nodiscard]] handle_list<parameter_ref> parameters() const;
};

/// A node of a graph, of a body or of a local function.
class node_ref : public detail::handle<node_ref, node_id> {
public:
    node_ref() = default;
    /// The node of an index.
    node_ref(const detail::model_state& state, stemma::id index) : handle(state, index) {}

    /// Returns: "" for a node without a name. Names need not differ.
    [[nodiscard]] std::string_view name() const;

    /// Returns: the operator, or the name of the function that is called.
    [[nodiscard]] std::string_view op_type() const;

    /// Returns: "" for the standard domain.
    [[nodiscard]] std::string_view domain() const;

    /// Returns: the path of its graph: "" for the main one. Complexity: O(length).
    [[nodiscard]] std::string graph() const;

    /// Returns: its place among the nodes of its graph.
    [[nodiscard]] std::uint32_t position() const;

    /// Returns: the deepest module that it came from.
    [[nodiscard]] module_ref module() const;

    /// Returns: the tag of that module. Complexity: O(length).
    [[nodiscard]] std::string tag() const;

    /// Returns: the modules whose tags it has: its own, and those it serves.
    [[nodiscard]] handle_list<module_ref> tags() const;

    /// Returns: the evidence that was believed, or the rule that filled the gap: `scope`,
    /// `between`.
    [[nodiscard]] std::string_view provenance() const;
    /// Returns: the line of the user's program that it comes from, if that is known; see
    /// docs/source.md. Valid as long as the model. Complexity: O(1), the first time that of
    /// `attributed_model::lines`.
    [[nodiscard]] std::optional<source_position> source() const;
    /// Returns: all frames of the call stack, the innermost one first; none where it is unknown.
    /// Complexity: O(frames), the first time as above.
    [[nodiscard]] std::vector<source_position> frames() const;

    /// Returns: how sure that is, in [0, 1]; calibrated, 0.9 is right in 99 of 100 cases.
    [[nodiscard]] float confidence() const;

    /// Returns: which call of its module, from 0; nothing where unknown.
    [[nodiscard]] std::optional<std::uint32_t> call() const;

    /// Whether some evidence disagreed.
    [[nodiscard]] bool has_conflict() const;

    /// Returns: what each source of evidence says. Complexity: that of asking the sources.
    [[nodiscard]] std::vector<claim_ref> claims() const;

    /// Returns: modules that called its module without being above it.
    [[nodiscard]] handle_list<module_ref> callers() const;

    /// Returns: the values that it reads, by slot; omitted ones are left out.
    [[nodiscard]] handle_list<value_ref> inputs() const;

    /// Returns: the values that it makes, by slot; an omitted one has the name "".
    [[nodiscard]] handle_range<value_ref> outputs() const;

    /// Returns: the nodes that make what it reads, in order of slots.
    [[nodiscard]] handle_list<node_ref> producers() const;

    /// Returns: the nodes that read what it makes, in order of slots, each as often as it reads.
    /// Complexity: O(result); the first call for a model is linear in it.
    [[nodiscard]] handle_list<node_ref> readers() const;
};

/// A value: what a node makes, an input, or an initializer.
class value_ref : public detail::handle<value_ref, value_id> {
public:
    value_ref() = default;
    /// The value of an index.
    value_ref(const detail::model_state& state, stemma::id index) : handle(state, index) {}

    /// Returns: "" for an omitted output. Equal names in different graphs are different values.
    [[nodiscard]] std::string_view name() const;

    /// Returns: `intermediate`, `input`, `formal`, `initializer` or `undefined`.
    [[nodiscard]] std::string_view kind() const;

    /// Whether the file holds the value itself.
    [[nodiscard]] bool is_initializer() const;

    /// Returns: the node that makes it, if one does.
    [[nodiscard]] std::optional<node_ref> producer() const;

    /// Returns: the nodes that read it, in order of index, each as often as it reads.
    /// Complexity: O(result); the first call for a model is linear in it.
    [[nodiscard]] handle_list<node_ref> readers() const;

    /// Returns: the modules whose tags it has: those of its readers, else of its producer.
    /// Complexity: O(result); the first call for a model is linear in it.
    [[nodiscard]] handle_list<module_ref> tags() const;
};

/// A weight that the file stores, as an initializer or in a Constant.
class parameter_ref : public detail::handle<parameter_ref, parameter_id> {
public:
    parameter_ref() = default;
    /// The weight of an index.
    parameter_ref(const detail::model_state& state, stemma::id index) : handle(state, index) {}

    /// Returns: the value that it is.
    [[nodiscard]] value_ref value() const;

    /// Returns: the name of that value.
    [[nodiscard]] std::string_view name() const;

    /// Returns: the module that its name tells, else the deepest that holds all readers.
    [[nodiscard]] module_ref module() const;

    /// Returns: `parameter`, `buffer`, `scale` or `zero_point`.
    [[nodiscard]] std::string_view kind() const;

    /// Returns: the element type as PyTorch prints it: `float32`.
    [[nodiscard]] std::string_view type() const;

    /// Returns: how many elements; each of several packed into one counts.
    [[nodiscard]] std::uint64_t elements() const;

    /// Returns: bytes of its data.
    [[nodiscard]] std::uint64_t bytes() const;
};

/// What one source of evidence says of a node.
class claim_ref {
public:
    claim_ref() = default;
    /// Of its parts.
    claim_ref(module_ref module, std::string_view source, float confidence, bool exact)
        : module_(module), source_(source), confidence_(confidence), exact_(exact) {}

    /// Returns: the module that it names.
    [[nodiscard]] module_ref module() const noexcept { return module_; }

    /// Returns: the name of the source: `scope`, `parameter`.
    [[nodiscard]] std::string_view source() const noexcept { return source_; }

    /// Returns: how sure the source is, in [0, 1].
    [[nodiscard]] float confidence() const noexcept { return confidence_; }

    /// Whether it names the deepest module, rather than one above or below it.
    [[nodiscard]] bool is_exact() const noexcept { return exact_; }

private:
    module_ref module_;
    std::string_view source_;
    float confidence_ = 0;
    bool exact_ = true;
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_HANDLES_HPP
