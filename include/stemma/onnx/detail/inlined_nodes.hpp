// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_INLINED_NODES_HPP
#define STEMMA_ONNX_DETAIL_INLINED_NODES_HPP

#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/inlined_name.hpp>
#include <stemma/evidence/detail/printed_paths.hpp>
#include <stemma/model/accuracy.hpp>
#include <stemma/onnx/detail/inlined_calls.hpp>
#include <stemma/onnx/onnx_model.hpp>

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Finds the modules of nodes that stood in functions, after ONNX Runtime inlined the calls of a
/// model in which torch wrote each call of a module as a function.
///
/// A value is named `_inlfunc_<function>_<name>`, after the innermost function that it does not
/// leave, so whatever makes or reads it runs in that module or below. A node is named after its own
/// function, often one of a library that all modules share; values that nodes of one such call pass
/// on to each other carry that name, too.
class inlined_modules {
public:
    /// Requires: the model outlives it. Complexity: O(nodes + edges + bytes of their names) and
    /// O(names of inlined values * their length).
    explicit inlined_modules(const onnx_model& model) : model_(model) {
        for (id node = 0; node < model.node_count(); ++node) {
            for (auto name : {model.name(node), result_name(node)}) {
                note(name);
            }
        }
        if (paths_.empty()) {
            return;
        }
        for (id value = 0; value < model.value_count(); ++value) {
            if (model.is_initializer(value)) {
                const auto name = model.value_name(value);
                name.starts_with(inlined_prefix) ? note(name) : paths_.add_parameter(name);
            }
        }
        paths_.resolve();
        if (!paths_.any_known()) {
            return;
        }
        find_calls();
        for (id node = 0; node < model.node_count(); ++node) {
            place(node);
        }
    }

    /// Returns: the scope of a node, as torch's exporter would have written it; nothing for nodes
    /// that stood in no function. Complexity: O(1) on average.
    [[nodiscard]] std::optional<inlined_scope> find(id node) const {
        const auto entry = places_.find(node);
        return entry == places_.end()
                   ? std::nullopt
                   : std::optional(inlined_scope{entry->second.first, entry->second.second});
    }

private:
    [[nodiscard]] std::string_view result_name(id node) const {
        return model_.output_count(node) == 0 ? std::string_view()
                                              : model_.value_name(model_.first_output(node));
    }

    /// Returns: a name without the prefix, "" without one.
    [[nodiscard]] static std::string_view inlined_part(std::string_view name) {
        name = detail::without_fused(name);
        if (!name.starts_with(inlined_prefix)) {
            return {};
        }
        name.remove_prefix(inlined_prefix.size());
        drop_tool_suffixes(name);
        return name;
    }

    void note(std::string_view name) {
        if (const auto part = inlined_part(name); !part.empty()) {
            paths_.add(part);
        }
    }

    [[nodiscard]] const std::string* path_in(std::string_view name) const {
        const auto part = inlined_part(name);
        return part.empty() ? nullptr : paths_.find(part);
    }

    /// Returns: the paths in the names of what a node makes or reads.
    [[nodiscard]] std::vector<const std::string*> paths_at(id node) const {
        std::vector<const std::string*> paths;
        const auto add = [&](id value) {
            const auto* path = value == no_id ? nullptr : path_in(model_.value_name(value));
            path == nullptr ? void() : paths.push_back(path);
        };
        for (id i = 0; i < model_.output_count(node); ++i) {
            add(model_.first_output(node) + i);
        }
        const auto inputs = model_.inputs(node);
        std::for_each(inputs.begin(), inputs.end(), add);
        return paths;
    }

    /// Joins the nodes that exchange values of a library's function, and collects the paths that
    /// each such call has.
    void find_calls() {
        call_of_.resize(model_.node_count());
        for (id node = 0; node < call_of_.size(); ++node) {
            call_of_[node] = node;
        }
        for (id node = 0; node < call_of_.size(); ++node) {
            for (auto value : model_.inputs(node)) {
                const auto maker = value == no_id ? no_id : model_.producer(value);
                if (maker != no_id && model_.value_name(value).starts_with(inlined_prefix) &&
                    path_in(model_.value_name(value)) == nullptr) {
                    call_of_[call_of(maker)] = call_of(node);
                }
            }
        }
        for (id node = 0; node < call_of_.size(); ++node) {
            if (const auto touched = paths_at(node); !touched.empty()) {
                auto& paths = inside_[call_of(node)];
                paths.insert(paths.end(), touched.begin(), touched.end());
            }
        }
    }

    [[nodiscard]] id call_of(id node) {
        while (call_of_[node] != node) {
            call_of_[node] = call_of_[call_of_[node]];
            node = call_of_[node];
        }
        return node;
    }

    void place(id node) {
        const auto name = model_.name(node);
        if (const auto* own = path_in(name)) {
            places_.emplace(node, std::pair(paths_.scope_of(*own), false));
            return;
        }
        const auto call = inside_.find(call_of(node));
        if (call != inside_.end()) {
            auto [module, forked] = deepest(call->second);
            if (forked) { // an optimizer merged equal operators of several modules
                const auto touched = paths_at(node);
                module = touched.empty() ? module : deepest(touched).first;
            }
            places_.emplace(node, std::pair(paths_.scope_of(module), true));
        } else if (!inlined_part(name).empty() || !inlined_part(result_name(node)).empty()) {
            places_.emplace(node, std::pair(std::string(), true));
        }
    }

    /// Returns: the deepest of these paths, or what they have in common, and whether they fork.
    [[nodiscard]] static std::pair<std::string, bool>
    deepest(const std::vector<const std::string*>& paths) {
        std::string result = *paths.front();
        bool forked = false;
        for (const auto* path : paths) {
            if (!forked && relate(result, *path) == relation::ancestor) {
                result = *path;
            }
            while (relate(result, *path) == relation::contaminated) {
                forked = true;
                const auto dot = result.rfind('.');
                result.resize(dot == result.npos ? 0 : dot);
            }
        }
        return {result, forked};
    }

    const onnx_model& model_;
    printed_paths paths_;
    std::vector<id> call_of_; // by node: another one of the same call, or itself
    std::unordered_map<id, std::vector<const std::string*>> inside_; // by call
    std::unordered_map<id, std::pair<std::string, bool>> places_;
};

/// What is known of nodes that stood in functions before ONNX Runtime inlined the calls.
struct inlined_nodes {
    /// Requires: the model outlives it. Complexity: that of both.
    explicit inlined_nodes(const onnx_model& model) : calls(model), modules(model) {}

    inlined_calls calls;     ///< of functions that folding made
    inlined_modules modules; ///< of those that torch's exporter made
};

/// The same, computed on first use by any thread.
class late_inlined_nodes {
public:
    /// Requires: always the same model. Complexity: that of `inlined_nodes` once, then O(1).
    [[nodiscard]] const inlined_nodes& of(const onnx_model& model) {
        std::call_once(once_, [&] { nodes_.emplace(model); });
        return *nodes_;
    }

private:
    std::once_flag once_;
    std::optional<inlined_nodes> nodes_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_INLINED_NODES_HPP
