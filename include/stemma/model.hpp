// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_MODEL_HPP
#define STEMMA_MODEL_HPP

#include <stemma/handles.hpp>
#include <stemma/ids.hpp>
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
