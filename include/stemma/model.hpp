// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_MODEL_HPP
#define STEMMA_MODEL_HPP

#include <stemma/core/ids.hpp>
#include <stemma/handles.hpp>
#include <stemma/part.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI {

class attributed_model;
class module_tree;
class operator_graph;
struct attribution_options;
struct cut_options;
struct write_options;

/// An ONNX model with the origin of everything in it: what `open` returns.
///
/// Nodes, values, modules and parameters are handles; ranges of them compose with range-v3's views.
/// Handles stay valid when the model is moved, and end with it: a temporary gives none. Concurrent
/// reads are safe.
class model {
public:
    /// The result of a query.
    struct query_result {
        detail::handle_list<node_ref> nodes;     ///< in order of index
        detail::handle_list<module_ref> modules; ///< in preorder, none below another; empty if the
                                                 ///< query asks about nodes
    };

    /// Leaves `other` without a model; it may only be assigned to.
    model(model&&) noexcept;
    /// As above; invalidates the handles of the previous model.
    model& operator=(model&&) noexcept;
    /// Invalidates all handles.
    ~model();

    /// Returns: all nodes, including those of bodies and local functions. The output values of one
    /// node are consecutive, and a node in a body precedes the node that owns the body.
    [[nodiscard]] detail::handle_range<node_ref> nodes() const&;

    /// Requires: an index of this model, as for `value`, `module` and `parameter`.
    [[nodiscard]] node_ref node(node_id i) const&;

    /// Returns: the first node with that name, if any. Complexity: O(nodes).
    [[nodiscard]] std::optional<node_ref> find_node(std::string_view name) const&;

    /// Returns: all values of all graphs.
    [[nodiscard]] detail::handle_range<value_ref> values() const&;
    /// Requires: an index of this model.
    [[nodiscard]] value_ref value(value_id i) const&;

    /// Returns: the first value with that name, if any. Complexity: O(values).
    [[nodiscard]] std::optional<value_ref> find_value(std::string_view name) const&;

    /// Returns: the values stored in the file. Complexity: O(values).
    [[nodiscard]] detail::handle_list<value_ref> initializers() const&;

    /// Returns: the weights, shared ones once; docs/formats.md defines what counts as one.
    /// Complexity: the first call finds them in O(nodes + values).
    [[nodiscard]] detail::handle_range<parameter_ref> parameters() const&;
    /// Requires: an index of this model.
    [[nodiscard]] parameter_ref parameter(parameter_id i) const&;

    /// Returns: the module tree in preorder.
    [[nodiscard]] detail::handle_range<module_ref> modules() const&;
    /// Requires: an index of this model.
    [[nodiscard]] module_ref module(module_id i) const&;

    /// Returns: the module that represents the whole model.
    [[nodiscard]] module_ref root() const&;

    // References into a temporary would dangle.
    void nodes() const&& = delete;
    void values() const&& = delete;
    void initializers() const&& = delete;
    void parameters() const&& = delete;
    void modules() const&& = delete;
    void root() const&& = delete;
    void node(node_id) const&& = delete;
    void find_node(std::string_view) const&& = delete;
    void value(value_id) const&& = delete;
    void find_value(std::string_view) const&& = delete;
    void parameter(parameter_id) const&& = delete;
    void module(module_id) const&& = delete;
    void find_module(std::string_view) const&& = delete;
    void query(std::string_view) const&& = delete;
    void cut(std::string_view) const&& = delete;
    void cut(std::string_view, const cut_options&) const&& = delete;
    void cut(const module_ref&) const&& = delete;
    void cut(const module_ref&, const cut_options&) const&& = delete;
    void tree() const&& = delete;
    void graph() const&& = delete;
    void parts() const&& = delete;

    /// Returns: the module at a path, `encoder.layer.0`, if any. Complexity: O(length).
    [[nodiscard]] std::optional<module_ref> find_module(std::string_view path) const&;

    /// Returns: what matches a query: module paths, tags, conditions; see docs/query.md.
    /// Throws: `error` of `error_code::refused` if the query is malformed.
    /// Complexity: O(terms * (modules + length of paths + nodes)).
    [[nodiscard]] query_result query(std::string_view text) const&;

    /// Cuts out the module that matches a query; `model_cutter` also takes nodes. The part refers
    /// to this model.
    /// Throws: `error` of `error_code::not_found` if nothing matches; `refused` with the reason if
    /// the query asks for nodes, several modules match or it cannot be a model of its own.
    /// Complexity: O(nodes + edges); weights are not read.
    [[nodiscard]] part cut(std::string_view query) const&;
    /// The same with options.
    [[nodiscard]] part cut(std::string_view query, const cut_options& options) const&;
    /// Cuts out a module of this model. Throws, Complexity: as above.
    [[nodiscard]] part cut(const module_ref& module) const&;
    /// The same with options.
    [[nodiscard]] part cut(const module_ref& module, const cut_options& options) const&;

    /// Writes the file with tags: node metadata, and marks that survive optimizers (`write_tagged`
    /// takes other carriers). Nothing else changes; existing tags are replaced. Weights in other
    /// files stay there: in another folder, the file lacks those of `files_left_behind`, unless the
    /// options place them. Throws: `error` of `error_code::cannot_write`, or of `too_large` if the
    /// result reaches 2 GiB. Complexity: O(bytes).
    void write(const std::string& path) const;
    /// The same with options. Throws: also as `place_external_data`.
    void write(const std::string& path, const write_options& options) const;

    /// Returns: the bytes that `write` would write. Throws, Complexity: as `write`.
    [[nodiscard]] std::string tagged() const;
    /// The same with options; weights in other files stay there.
    [[nodiscard]] std::string tagged(const write_options& options) const;

    /// Returns: what a user should know about problems in reading the file, its tags and captures.
    [[nodiscard]] std::vector<std::string> notes() const;

    /// Returns: the module tree as a Boost graph: vertices are `to_index` of modules.
    [[nodiscard]] const module_tree& tree() const& noexcept;

    /// Returns: the nodes as a Boost graph: vertices are `to_index` of nodes.
    [[nodiscard]] const operator_graph& graph() const& noexcept;

    /// Returns: the model with all its parts, the argument of everything that is not a member here:
    /// folding, splitting, comparing, checking, explaining and reporting. A model converts to it.
    [[nodiscard]] const attributed_model& parts() const& noexcept;

    /// As `parts`.
    operator const attributed_model&() const& noexcept; // NOLINT(google-explicit-constructor)
    operator const attributed_model&() const&& = delete;

private:
    explicit model(std::unique_ptr<detail::model_state> state) noexcept;

    friend struct detail::model_state;

    std::unique_ptr<detail::model_state> state_;
};

/// Opens an ONNX file and finds the module that everything in it came from.
/// Throws: `error` if the file cannot be read or is damaged.
/// Complexity: linear in everything except tensor data.
[[nodiscard]] model open(const std::string& path);

/// The same with options: captures, policies.
[[nodiscard]] model open(const std::string& path, attribution_options options);

/// Opens a model in memory: the bytes of a file, or a serialized message (`SerializeAsString()`).
/// `name` stands in for the path, in messages and for weights in other files: their folder is that
/// of `name`. Throws, Complexity: as `open`.
[[nodiscard]] model open_bytes(std::string bytes, const std::string& name = "model");
/// The same with options.
[[nodiscard]] model open_bytes(std::string bytes, const std::string& name,
                               attribution_options options);

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_MODEL_HPP
