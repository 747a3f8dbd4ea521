// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_INLINED_CALLS_HPP
#define STEMMA_ONNX_DETAIL_INLINED_CALLS_HPP

#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/inlined_name.hpp>
#include <stemma/evidence/detail/path_mapping.hpp>
#include <stemma/evidence/detail/printed_scope.hpp>
#include <stemma/evidence/detail/scoped_name.hpp>
#include <stemma/onnx/detail/inlined_paths.hpp>
#include <stemma/onnx/onnx_model.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Restores the names that nodes had before they were folded into functions, after ONNX Runtime
/// inlined the calls.
///
/// It prefixes each name of a body with `_inlfunc_<function>_`, from the second call on followed by
/// `token_<number>_`: the call's own name is lost. But a result of the body keeps the name given by
/// the enclosing call, and a weight its own: where `_inlfunc_Out_token_4_/dense/Add` produces
/// `/layer.1/out/dense/Add_output_0` or reads `layer.1.out.dense.bias`, the call was
/// `/layer.1/out`. So calls are identified from those around and within them.
class inlined_calls {
public:
    /// Requires: the model outlives it. Complexity: O(nodes + bytes of their names), and
    /// O(such nodes * depth of calls) on average.
    explicit inlined_calls(const onnx_model& model) {
        std::vector<inlined_node> nodes;
        for (id node = 0; node < model.node_count(); ++node) {
            if (const auto name = find_name(model, node)) {
                nodes.push_back({node, paths_.add(name->call), *name});
                paths_.add_node(nodes.back().call, name->scope);
            }
        }
        if (nodes.empty()) {
            return;
        }
        auto next = nodes.begin();
        for (id node = 0; node < model.node_count(); ++node) {
            const bool inlined = next != nodes.end() && next->node == node;
            if (inlined) {
                find_facts(model, *next++);
            }
            if (!inlined || !split(model.name(node))) {
                find_fused_facts(model, node);
            }
        }
        paths_.resolve();
        name_nodes(nodes);
    }

    /// Returns: the previous name of an inlined node; "" if it may be from any of several calls;
    /// nothing for other nodes. Valid as long as this. Complexity: O(1) on average.
    [[nodiscard]] std::optional<std::string_view> name(id node) const {
        const auto entry = names_.find(node);
        return entry == names_.end() ? std::nullopt
                                     : std::optional<std::string_view>(entry->second);
    }

private:
    /// `_inlfunc_Out_token_4_/dense/MatMul/MatMulAddFusion`: a call, and a name in the body.
    struct inlined_name {
        std::string_view call;  ///< up to the last `_`
        std::string_view scope; ///< `dense`
        std::string_view last;  ///< `MatMul/MatMulAddFusion`
    };

    struct inlined_node {
        id node = no_id;
        id call = no_id;
        inlined_name name;
    };

    /// Returns: the scope in a name, and what is behind it with what a tool appended.
    [[nodiscard]] static inlined_name split_scope(std::string_view call, std::string_view name) {
        auto plain = name;
        detail::drop_tool_suffixes(plain);
        const auto slash = plain.rfind('/'); // the name starts with one
        return {call, plain.substr(1, slash == 0 ? 0 : slash - 1), name.substr(slash + 1)};
    }

    [[nodiscard]] static std::optional<inlined_name> split(std::string_view name) {
        name = detail::without_fused(name);
        const bool prefixed =
            name.starts_with(inlined_prefix) && name.size() <= inlined_paths::max_length;
        const auto end = prefixed ? name.find("_/") : name.npos;
        return end == name.npos
                   ? std::nullopt
                   : std::optional(split_scope(name.substr(0, end), name.substr(end + 1)));
    }

    [[nodiscard]] static std::optional<inlined_name> find_name(const onnx_model& model, id node) {
        if (auto name = split(model.name(node))) {
            return name;
        }
        if (model.output_count(node) == 0) {
            return std::nullopt;
        }
        auto name = split(model.value_name(model.first_output(node)));
        const auto output = name ? name->last.rfind("_output_") : std::string_view::npos;
        if (output == std::string_view::npos) {
            return std::nullopt;
        }
        name->last = name->last.substr(0, output);
        return name;
    }

    /// Returns: the type in a name that is perhaps counted: `Mul` for `Mul_1_output_0`.
    [[nodiscard]] static std::string_view type_in(std::string_view last) {
        return last.substr(0, last.find_first_of("_/"));
    }

    void find_facts(const onnx_model& model, const inlined_node& node) {
        for (id i = 0; i < model.output_count(node.node); ++i) {
            add_result(model, node, model.first_output(node.node) + i);
        }
        const bool named = split(model.name(node.node)).has_value();
        add_parameters(model, node.node, node.call, node.name.scope, named);
        for (auto value : model.inputs(node.node)) {
            if (const auto name = named ? find_value(model, value) : std::nullopt) {
                paths_.add_value(node.call, paths_.add(name->call));
            }
        }
    }

    /// Returns: the name of a computed value, or of what was reshaped for a product.
    [[nodiscard]] static std::optional<inlined_name> find_value(const onnx_model& model, id value) {
        const auto maker = value == no_id ? no_id : model.producer(value);
        if (maker == no_id) {
            return std::nullopt;
        }
        const auto inputs = model.inputs(maker);
        const bool reshapes = detail::is_reshaped_name(model.name(maker)) && !inputs.empty() &&
                              inputs.front() != no_id;
        const auto name = model.value_name(reshapes ? inputs.front() : value);
        return name.starts_with("gemm_input_reshape") ? split(model.name(maker)) : split(name);
    }

    /// The Reshape that ONNX Runtime inserts behind a product makes what the product made.
    void follow_reshape(const onnx_model& model, id node) {
        const auto inputs = model.inputs(node);
        const auto from = inputs.empty() || inputs[0] == no_id ? no_id : model.producer(inputs[0]);
        if (from == no_id || !detail::reshapes_product(model.name(node))) {
            return;
        }
        if (const auto name = split(model.name(from))) {
            add_result(model, {from, paths_.add(name->call), *name}, model.first_output(node));
        }
    }

    void add_result(const onnx_model& model, const inlined_node& node, id value) {
        const auto result = model.value_name(value);
        const auto around = split(result);
        if (around ? around->call == node.name.call : !is_result_name(result)) {
            return;
        }
        if (result.size() > inlined_paths::max_length) {
            return;
        }
        const auto whole = around ? *around : split_scope({}, result);
        const bool same = type_in(whole.last) == type_in(node.name.last);
        const auto caller = around ? paths_.add(around->call) : no_id;
        if (!around) {
            add_scope(whole.scope);
        }
        paths_.add_result(node.call, node.name.scope, caller, whole.scope, same);
    }

    /// A node that lost its name when it was fused, but reads what only its call knows, reads its
    /// parameters there. Others tell what scopes there are.
    void find_fused_facts(const onnx_model& model, id node) {
        bool inlined = false;
        for (auto value : model.inputs(node)) {
            if (value != no_id && !model.is_initializer(value)) {
                if (const auto name = split(model.value_name(value))) {
                    add_parameters(model, node, paths_.add(name->call), name->scope, false);
                    inlined = true;
                }
            }
        }
        follow_reshape(model, node);
        const auto name = model.name(node);
        if (!inlined && name.starts_with('/')) {
            add_scope(split_scope({}, name).scope);
        }
    }

    void add_scope(std::string_view scope) {
        if (scope == last_scope_ || scope.size() > inlined_paths::max_length) {
            return;
        }
        last_scope_ = scope;
        paths_.add_top(scope);
        lists_.note({}, scope);
    }

    void add_parameters(const onnx_model& model, id node, id call, std::string_view scope,
                        bool surely) {
        std::string_view before;
        for (auto value : model.inputs(node)) {
            if (value != no_id && model.is_initializer(value)) {
                const auto owner = detail::owner_path(model.value_name(value));
                if (!owner.empty() && owner != before) {
                    paths_.add_parameter(call, scope, owner, surely);
                    before = owner;
                }
            }
        }
    }

    void name_nodes(const std::vector<inlined_node>& nodes) {
        for (const auto& [node, call, name] : nodes) {
            paths_.note_lists(call, name.scope, lists_);
        }
        std::optional<std::string> around;
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            const auto& [node, call, name] = nodes[i];
            if (i == 0 || call != nodes[i - 1].call || name.scope != nodes[i - 1].name.scope) {
                const auto path = paths_.path(call, name.scope);
                around = path ? std::optional("/" + lists_.print(*path)) : std::nullopt;
                around ? void(around->append(path->empty() ? "" : "/")) : void();
            }
            if (around) {
                names_.emplace(node, *around).first->second.append(name.last);
            } else if (paths_.is_repeated(call)) {
                names_.emplace(node, std::string()); // relative to an unknown scope
            }
        }
    }

    inlined_paths paths_;
    called_lists lists_;
    std::string_view last_scope_; // that was noted
    std::unordered_map<id, std::string> names_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_INLINED_CALLS_HPP
