// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CAPTURE_DETAIL_CAPTURED_EXPORT_HPP
#define STEMMA_CAPTURE_DETAIL_CAPTURED_EXPORT_HPP

#include <stemma/capture/detail/captured_json.hpp>
#include <stemma/core/id.hpp>
#include <stemma/io/detail/json_part.hpp>
#include <stemma/model/module_tree.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// A node of the file as exported, and the module it was exported for.
struct exported_node {
    std::string graph;   ///< "" for the main graph, see docs/formats.md
    id index = no_id;    ///< position in that graph
    std::string op_type; ///< without its domain
    bool scoped = false; ///< whether the exporter knew its module
    std::string module;  ///< path
    id stack = no_id;    ///< number of its call stack
};

/// Reads what was recorded during export: nodes with their full scopes
/// `pkg.Class::path/pkg.Class::path.of.child`.
class captured_export {
public:
    /// Whether no node was read.
    [[nodiscard]] bool empty() const noexcept { return nodes_.empty(); }

    /// Throws: `error` of `error_code::malformed`, naming `file`.
    void read_node(json_part node, std::string_view file) {
        const captured_json at(node, file, "exported node", count_++);
        if (!at.has("scope")) {
            at.fail("lacks the string 'scope'");
        }
        exported_node result;
        result.graph = at.has("graph") ? at.text("graph") : std::string();
        result.index = at.number("index");
        result.op_type = at.text("op_type");
        if (result.index == no_id) {
            at.fail("lacks the number 'index'");
        }
        const auto scope = at.is_text("scope") ? at.text("scope") : std::string();
        if (const auto colons = scope.rfind("::"); colons != scope.npos) {
            result.scoped = true;
            result.module = scope.substr(colons + 2);
        }
        result.stack = at.number("stack");
        if (result.scoped || result.stack != no_id) {
            nodes_.push_back(std::move(result));
        }
    }

    /// Reads the call stacks of nodes, in any format of `stack_formats`.
    void read_stack(json_part text) {
        stacks_.emplace_back(text.is_text() ? text.text() : std::string_view());
    }

    /// The call stacks, by number.
    [[nodiscard]] std::span<const std::string> stacks() const noexcept { return stacks_; }

    /// The nodes that had a scope, or have a known call stack.
    [[nodiscard]] std::span<const exported_node> nodes() const noexcept { return nodes_; }

private:
    std::vector<exported_node> nodes_;
    std::vector<std::string> stacks_;
    std::size_t count_ = 0;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CAPTURE_DETAIL_CAPTURED_EXPORT_HPP
