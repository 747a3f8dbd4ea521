// SPDX-License-Identifier: Apache-2.0
// stemma 0.2.0: <stemma/stemma.hpp> and all it includes, as one file. Made by
// single_include/amalgamate.py; to change something, change the headers it joins.
#ifndef STEMMA_STEMMA_HPP
#define STEMMA_STEMMA_HPP

#include "verbs.hpp"

#include <range/v3/view/interface.hpp>
#include <range/v3/view/iota.hpp>
#include <range/v3/view/subrange.hpp>
#include <range/v3/view/transform.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// <stemma/handle_ranges.hpp>
#ifndef STEMMA_HANDLE_RANGES_HPP
#define STEMMA_HANDLE_RANGES_HPP

namespace stemma::inline STEMMA_ABI {

namespace detail {

struct model_state;

/// Makes a handle of an index.
template <class Handle>
struct to_handle {
    const model_state* state = nullptr;

    [[nodiscard]] Handle operator()(id i) const { return Handle(*state, i); }
};

/// The same, and keeps what the indices stand in.
template <class Handle>
struct to_listed_handle {
    const model_state* state = nullptr;
    std::shared_ptr<const std::vector<id>> indices{};

    [[nodiscard]] Handle operator()(id i) const { return Handle(*state, i); }
};

} // namespace detail

/// Handles of consecutive indices: a random-access view.
template <class Handle>
using handle_range = ranges::transform_view<ranges::iota_view<id, id>, detail::to_handle<Handle>>;

/// Handles of listed indices: a random-access view, cheap to copy.
template <class Handle>
using handle_list =
    ranges::transform_view<ranges::subrange<const id*>, detail::to_listed_handle<Handle>>;

/// Handles that lead from one to the next: a forward view. Complexity: O(1) a step.
template <class Handle>
class handle_walk : public ranges::view_interface<handle_walk<Handle>> {
public:
    /// Returns: the index behind `i`.
    using step = id (*)(const detail::model_state&, id i);

    /// A forward iterator, whose reference is a handle.
    class iterator {
    public:
        using iterator_concept = std::forward_iterator_tag;
        using iterator_category = std::input_iterator_tag;
        using value_type = Handle;
        using difference_type = std::ptrdiff_t;
        using pointer = void;
        using reference = Handle;

        iterator() = default;
        iterator(const detail::model_state* state, step next, id at)
            : state_(state), next_(next), at_(at) {}

        [[nodiscard]] Handle operator*() const { return Handle(*state_, at_); }
        iterator& operator++() {
            at_ = next_(*state_, at_);
            return *this;
        }
        iterator operator++(int) {
            auto before = *this;
            ++*this;
            return before;
        }
        friend bool operator==(const iterator& a, const iterator& b) noexcept {
            return a.at_ == b.at_;
        }

    private:
        const detail::model_state* state_ = nullptr;
        step next_ = nullptr;
        id at_ = no_id;
    };

    handle_walk() = default;

    /// From `first` on, until a step gives `last`.
    handle_walk(const detail::model_state& state, step next, id first, id last)
        : state_(&state), next_(next), first_(first), last_(last) {}

    /// At the first handle.
    [[nodiscard]] iterator begin() const noexcept { return {state_, next_, first_}; }
    /// Behind the last.
    [[nodiscard]] iterator end() const noexcept { return {state_, next_, last_}; }

private:
    const detail::model_state* state_ = nullptr;
    step next_ = nullptr;
    id first_ = no_id;
    id last_ = no_id;
};

namespace detail {

template <class Handle>
[[nodiscard]] handle_range<Handle> make_range(const model_state& state, id first, id last) {
    return {ranges::iota_view<id, id>(first, last), to_handle<Handle>{&state}};
}

template <class Handle>
[[nodiscard]] handle_list<Handle> make_list(const model_state& state, std::vector<id> indices) {
    auto kept = std::make_shared<const std::vector<id>>(std::move(indices));
    const auto* first = kept->data();
    return {ranges::subrange<const id*>(first, first + kept->size()),
            to_listed_handle<Handle>{&state, std::move(kept)}};
}

} // namespace detail

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_HANDLE_RANGES_HPP

// <stemma/ids.hpp>
#ifndef STEMMA_IDS_HPP
#define STEMMA_IDS_HPP

namespace stemma::inline STEMMA_ABI {

// Each kind of thing in a model has an index type of its own, dense from 0. They do not mix, and
// none converts to a number by itself: `to_index` does.

/// The index of a node over all graphs of a model: a vertex of its operator graph.
enum class node_id : id {};

/// The index of a value over all graphs of a model; the outputs of nodes come first.
enum class value_id : id {};

/// The preorder rank of a module: a vertex of the module tree. The root is 0.
enum class module_id : id {};

/// The index of a weight that the file stores.
enum class parameter_id : id {};

/// The index types.
template <class Id>
concept typed_id = std::same_as<Id, node_id> || std::same_as<Id, value_id> ||
    std::same_as<Id, module_id> || std::same_as<Id, parameter_id>;

/// Returns: the number behind an index, for tables and Boost.Graph.
template <typed_id Id>
[[nodiscard]] constexpr id to_index(Id i) noexcept {
    return static_cast<id>(i);
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_IDS_HPP

// <stemma/handles.hpp>
#ifndef STEMMA_HANDLES_HPP
#define STEMMA_HANDLES_HPP

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

// <stemma/part.hpp>
#ifndef STEMMA_PART_HPP
#define STEMMA_PART_HPP

namespace stemma::inline STEMMA_ABI {

class model_part;

/// A part of a model, cut out and not yet written: a model of its own that runs. Cheap to copy.
///
/// Requires: the model that it was cut out of outlives it.
class part {
public:
    /// Stands for what was cut out.
    explicit part(std::shared_ptr<const model_part> made) : made_(std::move(made)) {}

    /// Returns: the names of the values that it reads.
    [[nodiscard]] std::span<const std::string> inputs() const;

    /// Returns: the names of the values that it makes.
    [[nodiscard]] std::span<const std::string> outputs() const;

    /// Returns: how many nodes it has, those in bodies aside.
    [[nodiscard]] std::size_t size() const;

    /// Whether it gives the same results each time: no operator in it is random.
    [[nodiscard]] bool is_exact() const;

    /// Returns: the part as an ONNX file. Weights that the model has in other files stay there.
    /// Throws: `error` of `error_code::too_large` for 2 GiB or more. Complexity: O(bytes).
    [[nodiscard]] std::string bytes() const;

    /// Writes the part as an ONNX file, which replaces what is there. Weights that the model has in
    /// other files go to `<path>.data`.
    /// Throws: `error` of `error_code::cannot_write` or `too_large`. Complexity: O(bytes).
    void write(const std::string& path) const;

private:
    std::shared_ptr<const model_part> made_;
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_PART_HPP

// <stemma/model.hpp>
#ifndef STEMMA_MODEL_HPP
#define STEMMA_MODEL_HPP

namespace stemma::inline STEMMA_ABI {

class attributed_model;
class module_tree;
class operator_graph;
struct attribution_options;
struct cut_options;
struct write_options;

/// What a query finds.
struct query_result {
    handle_list<node_ref> nodes;     ///< in order of index
    handle_list<module_ref> modules; ///< in preorder, none below another; empty where the query
                                     ///< asks about nodes
};

/// An ONNX model and where all of it came from: what `open` returns.
///
/// Nodes, values, modules and parameters are handles, several of them ranges that compose with the
/// views of range-v3. Handles stay valid when the model is moved, and end with it. Reading from
/// several threads at once is safe.
class model {
public:
    /// Leaves `other` without a model, only to be assigned to.
    model(model&&) noexcept;
    /// As above; what this one held is gone, with its handles.
    model& operator=(model&&) noexcept;
    /// Ends the validity of all handles.
    ~model();

    /// Returns: all nodes, those of bodies and local functions included. Values of one node follow
    /// each other, and a node of a body comes before the node that holds it.
    [[nodiscard]] handle_range<node_ref> nodes() const;

    /// Requires: an index of this model, as for `value`, `module` and `parameter`.
    [[nodiscard]] node_ref node(node_id i) const;

    /// Returns: the first node of a name, if there is one. Complexity: O(nodes).
    [[nodiscard]] std::optional<node_ref> find_node(std::string_view name) const;

    /// Returns: all values of all graphs.
    [[nodiscard]] handle_range<value_ref> values() const;
    /// Requires: an index of this model.
    [[nodiscard]] value_ref value(value_id i) const;

    /// Returns: the first value of a name, if there is one. Complexity: O(values).
    [[nodiscard]] std::optional<value_ref> find_value(std::string_view name) const;

    /// Returns: the values that the file holds itself. Complexity: O(values).
    [[nodiscard]] handle_list<value_ref> initializers() const;

    /// Returns: the weights, shared ones once; what counts as one, docs/formats.md says.
    /// Complexity: the first call looks for them, in O(nodes + values).
    [[nodiscard]] handle_range<parameter_ref> parameters() const;
    /// Requires: an index of this model.
    [[nodiscard]] parameter_ref parameter(parameter_id i) const;

    /// Returns: the module tree in preorder.
    [[nodiscard]] handle_range<module_ref> modules() const;
    /// Requires: an index of this model.
    [[nodiscard]] module_ref module(module_id i) const;

    /// Returns: the module that is the whole model.
    [[nodiscard]] module_ref root() const;

    /// Returns: the module of a path, `encoder.layer.0`, if there is one. Complexity: O(length).
    [[nodiscard]] std::optional<module_ref> find_module(std::string_view path) const;

    /// Returns: what fits a query: module paths, tags, conditions; see docs/query.md.
    /// Throws: `error` of `error_code::refused` for one that cannot be read.
    /// Complexity: O(terms * (modules + length of paths + nodes)).
    [[nodiscard]] query_result query(std::string_view text) const;

    /// Cuts a module out: the one that a query asks for.
    /// Throws: `error` of `error_code::not_found` when nothing fits, `refused` with the reason when
    ///   several modules do or when it cannot be a model of its own.
    /// Complexity: O(nodes + edges); weights are not read.
    [[nodiscard]] part cut(std::string_view query) const;
    /// The same with choices of one's own.
    [[nodiscard]] part cut(std::string_view query, const cut_options& options) const;

    /// Writes the file with its tags in it: node metadata, and marks that survive optimizers.
    /// Nothing else changes, and tags that were there before are replaced. Throws: `error` of
    /// `error_code::cannot_write`, or of `too_large` when the result reaches
    ///   2 GiB. Complexity: O(bytes).
    void write(const std::string& path) const;
    /// The same with choices of one's own.
    void write(const std::string& path, const write_options& options) const;

    /// Returns: the bytes that `write` writes. Throws, Complexity: as `write`.
    [[nodiscard]] std::string tagged() const;

    /// Returns: what a user should know of how the file, its tags and a capture could be read.
    [[nodiscard]] std::vector<std::string> notes() const;

    /// Returns: the module tree as a graph of Boost.Graph: vertices are `to_index` of modules.
    [[nodiscard]] const module_tree& tree() const noexcept;

    /// Returns: the nodes as a graph of Boost.Graph: vertices are `to_index` of nodes.
    [[nodiscard]] const operator_graph& graph() const noexcept;

    /// Returns: the model with all its parts, which everything takes that is no member here: what
    /// folds, splits, compares, checks, explains and reports. A model converts to it. Requires: one
    /// thread at a time, unless it only reads through const.
    [[nodiscard]] attributed_model& parts() noexcept;
    /// The same, to read.
    [[nodiscard]] const attributed_model& parts() const noexcept;

    /// As `parts`.
    operator attributed_model&() noexcept; // NOLINT(google-explicit-constructor): it is one
    /// As `parts`.
    operator const attributed_model&() const noexcept; // NOLINT(google-explicit-constructor)

private:
    explicit model(std::unique_ptr<detail::model_state> state) noexcept;

    friend struct detail::model_state;

    std::unique_ptr<detail::model_state> state_;
};

/// Opens an ONNX file and says of everything in it which module it came from.
/// Throws: `error` for a file that cannot be read or is damaged.
/// Complexity: linear in what is not tensor data.
[[nodiscard]] model open(const std::string& path);

/// The same with choices of one's own: captures, policies.
[[nodiscard]] model open(const std::string& path, attribution_options options);

/// Opens a model that is in memory: the bytes of a file, or of a message, `SerializeAsString()`.
/// `name` stands for the file in messages. Throws, Complexity: as `open`.
[[nodiscard]] model open_bytes(std::string bytes, const std::string& name = "model");
/// The same with choices of one's own.
[[nodiscard]] model open_bytes(std::string bytes, const std::string& name,
                               attribution_options options);

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_MODEL_HPP

// <stemma/detail/model_state.hpp>
#ifndef STEMMA_DETAIL_MODEL_STATE_HPP
#define STEMMA_DETAIL_MODEL_STATE_HPP

namespace stemma::inline STEMMA_ABI::detail {

/// The weights of a model, and where they belong.
struct placed_weights {
    std::vector<stored_weight> weights;
    std::vector<detail::weight_place> places;
};

/// What handles refer to.
struct model_state {
    template <class... Arguments>
    explicit model_state(Arguments&&... arguments)
        : opened(std::forward<Arguments>(arguments)...) {}

    [[nodiscard]] static model open(std::unique_ptr<model_state> state) {
        return model(std::move(state));
    }

    [[nodiscard]] const wire_model& file() const noexcept { return opened.model(); }
    [[nodiscard]] const module_tree& modules() const noexcept { return opened.modules(); }
    [[nodiscard]] const tagging& tags() const noexcept { return opened.tags(); }

    [[nodiscard]] const detail::grouped_ids& readers() const {
        return readers_.get([&] { return detail::collect_value_readers(file()); });
    }

    [[nodiscard]] const detail::module_members& members() const {
        return members_.get(
            [&] { return detail::module_members(modules().index(), tags().attributions); });
    }

    [[nodiscard]] const placed_weights& weights() const {
        return weights_.get([&] {
            auto weights = find_weights(file());
            auto places = detail::place_weights(file(), modules(), tags(), weights);
            return placed_weights{std::move(weights), std::move(places)};
        });
    }

    /// Returns: the set of modules whose tags each value has.
    /// Requires: `asking` is held, as new sets go to the pool of the tagging.
    [[nodiscard]] const std::vector<id_set>& value_tags() const {
        return value_tags_.get(
            [&] { return detail::find_value_tags(file(), modules(), opened.tags()); });
    }

    mutable attributed_model
        opened;                // what is read of evidence and sets of tags grows with questions
    mutable std::mutex asking; // these, one at a time

private:
    made_once<detail::grouped_ids> readers_;
    made_once<detail::module_members> members_;
    made_once<placed_weights> weights_;
    made_once<std::vector<id_set>> value_tags_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_DETAIL_MODEL_STATE_HPP

// <stemma/detail/define_handles.hpp>
#ifndef STEMMA_DETAIL_DEFINE_HANDLES_HPP
#define STEMMA_DETAIL_DEFINE_HANDLES_HPP

// What facade/handles.hpp declares: compiled with each program that includes it, or once in a
// library.
namespace stemma::inline STEMMA_ABI {

namespace detail {

[[nodiscard]] inline std::optional<std::uint32_t> known(id number) {
    return number == no_id ? std::nullopt : std::optional(number);
}

/// Returns: the modules in a set of tags.
[[nodiscard]] inline handle_list<module_ref> modules_in(const model_state& state, id_set set) {
    std::vector<id> modules;
    state.tags().pool.for_each(set, [&](id m) { modules.push_back(m); });
    return make_list<module_ref>(state, std::move(modules));
}

} // namespace detail

STEMMA_INLINE std::string module_ref::path() const {
    return state_->modules().path(index_);
}

STEMMA_INLINE std::string_view module_ref::name() const {
    return state_->modules().attribute(index_);
}

STEMMA_INLINE std::string_view module_ref::class_name() const {
    return state_->modules().class_name(index_);
}

STEMMA_INLINE std::string_view module_ref::qualified_class() const {
    return state_->modules().qualified_class(index_);
}

STEMMA_INLINE std::string module_ref::tag() const {
    return state_->tags().tags.text(index_);
}

STEMMA_INLINE bool module_ref::is_selected() const {
    return state_->tags().tags.is_selected(index_);
}

STEMMA_INLINE std::optional<source_position> module_ref::source() const {
    const auto& lines = state_->opened.lines();
    const auto at = lines.frame_of_module(index_);
    return at == no_id ? std::nullopt : std::optional(lines.position(at));
}

STEMMA_INLINE std::optional<std::uint32_t> module_ref::calls() const {
    return detail::known(state_->modules().calls(index_));
}

STEMMA_INLINE std::uint32_t module_ref::depth() const {
    return state_->modules().index().depth(index_);
}

STEMMA_INLINE std::optional<module_ref> module_ref::parent() const {
    const auto parent = state_->modules().index().parent(index_);
    return parent == no_id ? std::nullopt : std::optional(module_ref(*state_, parent));
}

STEMMA_INLINE handle_walk<module_ref> module_ref::children() const {
    const auto next = [](const detail::model_state& state, stemma::id m) {
        return state.modules().index().end(m);
    };
    return {*state_, next, index_ + 1, state_->modules().index().end(index_)};
}

STEMMA_INLINE handle_walk<module_ref> module_ref::ancestors() const {
    const auto next = [](const detail::model_state& state, stemma::id m) {
        return state.modules().index().parent(m);
    };
    return {*state_, next, state_->modules().index().parent(index_), no_id};
}

STEMMA_INLINE handle_range<module_ref> module_ref::descendants() const {
    return detail::make_range<module_ref>(*state_, index_ + 1,
                                          state_->modules().index().end(index_));
}

STEMMA_INLINE bool module_ref::contains(const module_ref& other) const {
    return state_->modules().index().is_ancestor(index_, other.index_);
}

STEMMA_INLINE handle_list<node_ref> module_ref::nodes() const {
    return detail::make_list<node_ref>(*state_, state_->members().all(index_));
}

STEMMA_INLINE handle_list<node_ref> module_ref::own_nodes() const {
    const auto own = state_->members().direct(index_);
    return detail::make_list<node_ref>(*state_, {own.begin(), own.end()});
}

STEMMA_INLINE handle_list<parameter_ref> module_ref::parameters() const {
    const auto& places = state_->weights().places;
    std::vector<stemma::id> inside;
    for (stemma::id w = 0; w < places.size(); ++w) {
        if (state_->modules().index().is_ancestor(index_, places[w].module)) {
            inside.push_back(w);
        }
    }
    return detail::make_list<parameter_ref>(*state_, std::move(inside));
}

STEMMA_INLINE std::string_view node_ref::name() const {
    return state_->file().name(index_);
}

STEMMA_INLINE std::string_view node_ref::op_type() const {
    return state_->file().op_type(index_);
}

STEMMA_INLINE std::string_view node_ref::domain() const {
    return state_->file().domain(index_);
}

STEMMA_INLINE std::string node_ref::graph() const {
    return state_->file().graph_path(state_->file().graph_of(index_));
}

STEMMA_INLINE std::uint32_t node_ref::position() const {
    return state_->file().position(index_);
}

STEMMA_INLINE module_ref node_ref::module() const {
    return {*state_, state_->tags().attributions[index_].module};
}

STEMMA_INLINE std::string node_ref::tag() const {
    return state_->tags().tags.text(state_->tags().attributions[index_].module);
}

STEMMA_INLINE handle_list<module_ref> node_ref::tags() const {
    const std::lock_guard lock(state_->asking);
    return detail::modules_in(*state_, state_->tags().tag_sets[index_]);
}

STEMMA_INLINE std::string_view node_ref::provenance() const {
    return state_->tags().provenances[state_->tags().attributions[index_].source];
}

STEMMA_INLINE std::optional<source_position> node_ref::source() const {
    return state_->opened.lines().of(index_);
}

STEMMA_INLINE std::vector<source_position> node_ref::frames() const {
    const auto& lines = state_->opened.lines();
    std::vector<source_position> all;
    for (const auto number : lines.frames_of_chain(lines.chain_of(index_))) {
        all.push_back(lines.position(number));
    }
    return all;
}

STEMMA_INLINE float node_ref::confidence() const {
    return state_->tags().attributions[index_].confidence;
}

STEMMA_INLINE std::optional<std::uint32_t> node_ref::call() const {
    return detail::known(state_->tags().attributions[index_].call);
}

STEMMA_INLINE bool node_ref::has_conflict() const {
    return state_->tags().attributions[index_].conflict;
}

STEMMA_INLINE std::vector<claim_ref> node_ref::claims() const {
    const std::lock_guard lock(state_->asking);
    std::vector<claim_ref> all;
    for (const auto& made : state_->opened.claims_about(index_)) {
        all.emplace_back(module_ref(*state_, made.module), state_->tags().provenances[made.source],
                         made.confidence, made.exact);
    }
    return all;
}

STEMMA_INLINE handle_list<module_ref> node_ref::callers() const {
    const auto callers = state_->tags().callers.of(index_);
    return detail::make_list<module_ref>(*state_, {callers.begin(), callers.end()});
}

STEMMA_INLINE handle_list<value_ref> node_ref::inputs() const {
    std::vector<stemma::id> values;
    for (auto value : state_->file().inputs(index_)) {
        if (value != no_id) {
            values.push_back(value);
        }
    }
    return detail::make_list<value_ref>(*state_, std::move(values));
}

STEMMA_INLINE handle_range<value_ref> node_ref::outputs() const {
    const auto first = state_->file().first_output(index_);
    return detail::make_range<value_ref>(*state_, first,
                                         first + state_->file().output_count(index_));
}

STEMMA_INLINE handle_list<node_ref> node_ref::producers() const {
    std::vector<stemma::id> nodes;
    for (auto value : state_->file().inputs(index_)) {
        if (value != no_id && state_->file().producer(value) != no_id) {
            nodes.push_back(state_->file().producer(value));
        }
    }
    return detail::make_list<node_ref>(*state_, std::move(nodes));
}

STEMMA_INLINE handle_list<node_ref> node_ref::readers() const {
    std::vector<stemma::id> nodes;
    for (const auto value : outputs()) {
        const auto more = state_->readers()[to_index(value.id())];
        nodes.insert(nodes.end(), more.begin(), more.end());
    }
    return detail::make_list<node_ref>(*state_, std::move(nodes));
}

STEMMA_INLINE std::string_view value_ref::name() const {
    return state_->file().value_name(index_);
}

STEMMA_INLINE std::string_view value_ref::kind() const {
    return to_string(state_->file().kind(index_));
}

STEMMA_INLINE bool value_ref::is_initializer() const {
    return state_->file().is_initializer(index_);
}

STEMMA_INLINE std::optional<node_ref> value_ref::producer() const {
    const auto node = state_->file().producer(index_);
    return node == no_id ? std::nullopt : std::optional(node_ref(*state_, node));
}

STEMMA_INLINE handle_list<node_ref> value_ref::readers() const {
    const auto nodes = state_->readers()[index_];
    return detail::make_list<node_ref>(*state_, {nodes.begin(), nodes.end()});
}

STEMMA_INLINE handle_list<module_ref> value_ref::tags() const {
    const std::lock_guard lock(state_->asking);
    return detail::modules_in(*state_, state_->value_tags()[index_]);
}

STEMMA_INLINE value_ref parameter_ref::value() const {
    return {*state_, state_->weights().weights[index_].value};
}

STEMMA_INLINE std::string_view parameter_ref::name() const {
    return value().name();
}

STEMMA_INLINE module_ref parameter_ref::module() const {
    return {*state_, state_->weights().places[index_].module};
}

STEMMA_INLINE std::string_view parameter_ref::kind() const {
    return to_string(state_->weights().weights[index_].kind);
}

STEMMA_INLINE std::string_view parameter_ref::type() const {
    return data_type_name(state_->weights().weights[index_].data_type);
}

STEMMA_INLINE std::uint64_t parameter_ref::elements() const {
    return state_->weights().weights[index_].elements;
}

STEMMA_INLINE std::uint64_t parameter_ref::bytes() const {
    return state_->weights().weights[index_].bytes;
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_DETAIL_DEFINE_HANDLES_HPP

// <stemma/detail/define_model.hpp>
#ifndef STEMMA_DETAIL_DEFINE_MODEL_HPP
#define STEMMA_DETAIL_DEFINE_MODEL_HPP

// What facade/model.hpp declares: compiled with each program that includes it, or once in a
// library.
namespace stemma::inline STEMMA_ABI {

STEMMA_INLINE model::model(std::unique_ptr<detail::model_state> state) noexcept
    : state_(std::move(state)) {}

STEMMA_INLINE model::model(model&&) noexcept = default;
STEMMA_INLINE model& model::operator=(model&&) noexcept = default;
STEMMA_INLINE model::~model() = default;

STEMMA_INLINE handle_range<node_ref> model::nodes() const {
    return detail::make_range<node_ref>(*state_, 0, state_->file().node_count());
}

STEMMA_INLINE node_ref model::node(node_id i) const {
    STEMMA_ASSERT(to_index(i) < state_->file().node_count(), "model: no node of this index");
    return {*state_, to_index(i)};
}

STEMMA_INLINE std::optional<node_ref> model::find_node(std::string_view name) const {
    for (const auto node : nodes()) {
        if (node.name() == name) {
            return node;
        }
    }
    return std::nullopt;
}

STEMMA_INLINE handle_range<value_ref> model::values() const {
    return detail::make_range<value_ref>(*state_, 0, state_->file().value_count());
}

STEMMA_INLINE value_ref model::value(value_id i) const {
    STEMMA_ASSERT(to_index(i) < state_->file().value_count(), "model: no value of this index");
    return {*state_, to_index(i)};
}

STEMMA_INLINE std::optional<value_ref> model::find_value(std::string_view name) const {
    for (const auto value : values()) {
        if (value.name() == name) {
            return value;
        }
    }
    return std::nullopt;
}

STEMMA_INLINE handle_list<value_ref> model::initializers() const {
    std::vector<id> found;
    for (id value = 0; value < state_->file().value_count(); ++value) {
        if (state_->file().is_initializer(value)) {
            found.push_back(value);
        }
    }
    return detail::make_list<value_ref>(*state_, std::move(found));
}

STEMMA_INLINE handle_range<parameter_ref> model::parameters() const {
    return detail::make_range<parameter_ref>(*state_, 0,
                                             static_cast<id>(state_->weights().weights.size()));
}

STEMMA_INLINE parameter_ref model::parameter(parameter_id i) const {
    STEMMA_ASSERT(to_index(i) < state_->weights().weights.size(),
                  "model: no parameter of this index");
    return {*state_, to_index(i)};
}

STEMMA_INLINE handle_range<module_ref> model::modules() const {
    return detail::make_range<module_ref>(*state_, 0, static_cast<id>(state_->modules().size()));
}

STEMMA_INLINE module_ref model::module(module_id i) const {
    STEMMA_ASSERT(to_index(i) < state_->modules().size(), "model: no module of this index");
    return {*state_, to_index(i)};
}

STEMMA_INLINE module_ref model::root() const {
    return {*state_, 0};
}

STEMMA_INLINE std::optional<module_ref> model::find_module(std::string_view path) const {
    const auto found = stemma::find_module(module_lookup(state_->modules()), path);
    return found == no_id ? std::nullopt : std::optional(module_ref(*state_, found));
}

STEMMA_INLINE query_result model::query(std::string_view text) const {
    const auto asked = parse_query(text);
    const auto& found = state_->tags();
    const auto& ops = state_->opened.operators();
    const model_facts facts(state_->opened.model(), state_->modules(), found,
                            [&]() -> const source_lines& { return state_->opened.lines(); });
    std::vector<id> modules;
    if (!asked.asks_for_operators()) {
        modules = find_matching_modules(asked, state_->modules(), found.tags, ops,
                                        found.attributions, found.provenances, facts);
    }
    auto nodes = find_matching_operators(asked, state_->modules(), found.tags, ops,
                                         found.attributions, found.provenances, facts);
    return {detail::make_list<node_ref>(*state_, std::move(nodes)),
            detail::make_list<module_ref>(*state_, std::move(modules))};
}

STEMMA_INLINE void model::write(const std::string& path) const {
    write(path, write_options{});
}

STEMMA_INLINE void model::write(const std::string& path, const write_options& options) const {
    const std::lock_guard lock(state_->asking);
    write_tagged(state_->opened, path, usual_carriers, options);
}

STEMMA_INLINE std::string model::tagged() const {
    const std::lock_guard lock(state_->asking);
    return tagged_bytes(state_->opened);
}

STEMMA_INLINE std::vector<std::string> model::notes() const {
    const std::lock_guard lock(state_->asking);
    std::vector<std::string> texts;
    for (const auto& note : model_notes(state_->opened)) {
        texts.push_back(note.place.empty() ? note.text : note.place + ": " + note.text);
    }
    return texts;
}

STEMMA_INLINE const module_tree& model::tree() const noexcept {
    return state_->modules();
}

STEMMA_INLINE const operator_graph& model::graph() const noexcept {
    return state_->opened.operators().graph();
}

STEMMA_INLINE attributed_model& model::parts() noexcept {
    return state_->opened;
}

STEMMA_INLINE const attributed_model& model::parts() const noexcept {
    return state_->opened;
}

STEMMA_INLINE model::operator attributed_model&() noexcept {
    return state_->opened;
}

STEMMA_INLINE model::operator const attributed_model&() const noexcept {
    return state_->opened;
}

STEMMA_INLINE model open(const std::string& path) {
    return open(path, attribution_options{});
}

STEMMA_INLINE model open(const std::string& path, attribution_options options) {
    return detail::model_state::open(
        std::make_unique<detail::model_state>(path, std::move(options)));
}

STEMMA_INLINE model open_bytes(std::string bytes, const std::string& name) {
    return open_bytes(std::move(bytes), name, attribution_options{});
}

STEMMA_INLINE model open_bytes(std::string bytes, const std::string& name,
                               attribution_options options) {
    return detail::model_state::open(std::make_unique<detail::model_state>(
        mapped_file::holding(std::move(bytes), name), std::move(options)));
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_DETAIL_DEFINE_MODEL_HPP

// <stemma/detail/define_part.hpp>
#ifndef STEMMA_DETAIL_DEFINE_PART_HPP
#define STEMMA_DETAIL_DEFINE_PART_HPP

// What facade/part.hpp declares, and how a model cuts: compiled with each program that includes it,
// or once in a library.
namespace stemma::inline STEMMA_ABI {

STEMMA_INLINE std::span<const std::string> part::inputs() const {
    return made_->inputs();
}

STEMMA_INLINE std::span<const std::string> part::outputs() const {
    return made_->outputs();
}

STEMMA_INLINE std::size_t part::size() const {
    return made_->size();
}

STEMMA_INLINE bool part::is_exact() const {
    return made_->is_exact();
}

STEMMA_INLINE std::string part::bytes() const {
    return made_->bytes();
}

STEMMA_INLINE void part::write(const std::string& path) const {
    made_->write(path);
}

STEMMA_INLINE part model::cut(std::string_view query) const {
    return cut(query, cut_options{});
}

STEMMA_INLINE part model::cut(std::string_view query, const cut_options& options) const {
    const std::lock_guard lock(state_->asking);
    const auto modules = find_modules(state_->opened, query);
    if (modules.size() > 1) {
        STEMMA_THROW(error(error_code::refused, state_->opened.file().path(), "cut",
                           "'" + std::string(query) + "' fits " + std::to_string(modules.size()) +
                               " modules; a part is made of one"));
    }
    model_cutter cutter(state_->file(), options);
    return part(std::make_shared<const model_part>(
        cutter.cut(state_->opened, {.module = modules.front()})));
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_DETAIL_DEFINE_PART_HPP

// <stemma/open.hpp>
#ifndef STEMMA_OPEN_HPP
#define STEMMA_OPEN_HPP

namespace stemma::inline STEMMA_ABI {

/// Opens an ONNX file with policies of the caller's, in any order, where the defaults are left out:
/// one of each role, of evidence as many as there are. Part of <stemma/stemma.hpp>, unless a
/// program takes the facade from a library. Captures (`captures({path})`) and a `thread_limit` may
/// stand among them. Throws, Complexity: as `open`, and those of the
/// policies.
template <class... Ps>
    requires(sizeof...(Ps) > 0 && (!std::convertible_to<Ps, attribution_options> && ...))
[[nodiscard]] model open(const std::string& path, Ps... chosen) {
    attribution_options options;
    options.set(std::move(chosen)...);
    return open(path, std::move(options));
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_OPEN_HPP

// <stemma/definitions.hpp>
#ifndef STEMMA_DEFINITIONS_HPP
#define STEMMA_DEFINITIONS_HPP

// The functions that the facade declares, unless the program links the library that holds them.

#endif // STEMMA_DEFINITIONS_HPP

// <stemma/op_is.hpp>
#ifndef STEMMA_OP_IS_HPP
#define STEMMA_OP_IS_HPP

#include <range/v3/view/filter.hpp> // what they are for

namespace stemma::inline STEMMA_ABI {

// Predicates for `ranges::views::filter`.

/// Returns: a predicate that holds for nodes of an operator of the standard domain, or of `domain`.
[[nodiscard]] inline auto op_is(std::string_view type, std::string_view domain = "") {
    return [type = std::string(type), domain = std::string(domain)](const node_ref& node) {
        return node.op_type() == type && node.domain() == domain;
    };
}

/// Returns: a predicate that holds for nodes in `module` or below it.
[[nodiscard]] inline auto is_in(module_ref module) {
    return [module](const node_ref& node) { return module.contains(node.module()); };
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_OP_IS_HPP

#endif // STEMMA_STEMMA_HPP
