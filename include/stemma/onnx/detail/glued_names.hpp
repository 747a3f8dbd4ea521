// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_GLUED_NAMES_HPP
#define STEMMA_ONNX_DETAIL_GLUED_NAMES_HPP

#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/path_mapping.hpp>
#include <stemma/onnx/detail/model_parameters.hpp>
#include <stemma/onnx/onnx_model.hpp>

#include <algorithm>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The names in a model whose tool glued a prefix to every name when it merged models, as
/// `onnx.compose` and spox do: `enc_/fc/Gemm` reads `enc_fc.weight`.
///
/// A prefix that all names share is removed. One of several names the module that a merged model
/// became: `/enc_/fc/Gemm` reads `enc_.fc.weight`.
class glued_names {
public:
    /// Looks for prefixes. Requires: `model` and `parameters` outlive this.
    /// Complexity: O(1) if a sample of the nodes has no such names, else O(names + reads) expected.
    glued_names(const onnx_model& model, const model_parameters& parameters) {
        if (!may_be_glued(model)) {
            return;
        }
        find_prefixes(model, parameters);
        if (!prefixes_.empty()) {
            rewrite(model, parameters);
        }
    }

    /// Whether nothing is glued to the names.
    [[nodiscard]] bool empty() const noexcept { return prefixes_.empty(); }

    /// Returns: the name of a node. Requires: not `empty()`.
    [[nodiscard]] std::string_view node(id node) const noexcept { return nodes_[node]; }
    /// Returns: the name of a node's first output, "" if it has none. Requires: not `empty()`.
    [[nodiscard]] std::string_view result(id node) const noexcept { return results_[node]; }
    /// Returns: the name of parameter `p`. Requires: not `empty()`.
    [[nodiscard]] std::string_view parameter(id p) const noexcept { return parameters_[p]; }

private:
    struct scopes {
        std::unordered_set<std::string_view> children; // first levels of scopes
        std::unordered_set<std::string_view> owners;   // first levels of glued parameters' paths
        bool separated = false; // parameters are written as `prefix.path` or `prefix/path`
    };

    /// Returns: what precedes the first scope in a node's name; "" if nothing does.
    [[nodiscard]] static std::string_view before_scope(std::string_view name) noexcept {
        auto slash = name.find('/');
        if (slash == 0 || slash == name.npos) {
            return {};
        }
        while (slash + 1 < name.size() && name[slash + 1] == '/') {
            ++slash;
        }
        return name.substr(0, slash);
    }

    /// Returns: the first level of a scope or path.
    [[nodiscard]] static std::string_view first_level(std::string_view path) noexcept {
        return path.substr(0, path.find_first_of("./"));
    }

    /// Returns: what names the module of a merged model.
    [[nodiscard]] static std::string_view module_of(std::string_view prefix) noexcept {
        return prefix.substr(0, prefix.find_last_not_of("./") + 1);
    }

    [[nodiscard]] static bool may_be_glued(const onnx_model& model) {
        constexpr id sample = 1024;
        const auto step = std::max<id>(1, model.node_count() / sample);
        for (id node = 0; node < model.node_count(); node += step) {
            if (!before_scope(model.name(node)).empty()) {
                return true;
            }
        }
        return false;
    }

    void find_prefixes(const onnx_model& model, const model_parameters& parameters) {
        std::unordered_map<std::string_view, scopes> candidates;
        for (id node = 0; node < model.node_count(); ++node) {
            const auto name = model.name(node);
            const auto prefix = before_scope(name);
            if (prefix.empty()) {
                continue;
            }
            auto& candidate = candidates[prefix];
            const auto scope = name.substr(prefix.size() + 1);
            if (scope.find('/') != scope.npos) {
                candidate.children.insert(first_level(scope));
            }
            for (const auto p : parameters.read_by(node)) {
                auto parameter = parameters.name(p);
                if (parameter.starts_with(prefix)) {
                    parameter.remove_prefix(prefix.size());
                    candidate.separated = candidate.separated || parameter.starts_with('.') ||
                                          parameter.starts_with('/');
                    candidate.owners.insert(first_level(owner_path(parameter)));
                }
            }
        }
        for (const auto& [prefix, candidate] : candidates) {
            const auto& children = candidate.children;
            if (!candidate.separated && !module_of(prefix).empty() &&
                std::any_of(candidate.owners.begin(), candidate.owners.end(),
                            [&](std::string_view owner) { return children.contains(owner); })) {
                prefixes_.push_back(prefix);
            }
        }
        // The longest first, as one may begin another.
        std::sort(prefixes_.begin(), prefixes_.end(), [](std::string_view a, std::string_view b) {
            return std::pair(b.size(), a) < std::pair(a.size(), b);
        });
        common_ = prefixes_.size() == 1;
        const auto is_glued = [&](std::string_view name) {
            return name.starts_with(prefixes_.front());
        };
        for (id node = 0; common_ && node < model.node_count(); ++node) {
            const auto name = model.name(node);
            common_ = is_glued(name) || name.find('/') == name.npos;
        }
        for (id p = 0; common_ && p < parameters.count(); ++p) {
            const auto name = parameters.name(p);
            common_ = is_glued(name) || owner_path(name).empty();
        }
    }

    /// Returns: a name as it was before `prefix` was glued to it.
    [[nodiscard]] std::string_view without(std::string_view prefix, std::string_view name) {
        const auto rest = name.substr(prefix.size());
        const bool scoped = rest.starts_with('/');
        if (common_ || (!scoped && owner_path(rest).empty())) {
            return rest;
        }
        const std::string module(module_of(prefix));
        return texts_.emplace_back(scoped ? "/" + module + std::string(rest)
                                          : module + "." + std::string(rest));
    }

    [[nodiscard]] std::string_view rewritten(std::string_view name) {
        const auto prefix =
            std::find_if(prefixes_.begin(), prefixes_.end(),
                         [&](std::string_view candidate) { return name.starts_with(candidate); });
        return prefix == prefixes_.end() ? name : without(*prefix, name);
    }

    void rewrite(const onnx_model& model, const model_parameters& parameters) {
        for (id node = 0; node < model.node_count(); ++node) {
            nodes_.push_back(rewritten(model.name(node)));
            results_.push_back(model.output_count(node) == 0
                                   ? std::string_view()
                                   : rewritten(model.value_name(model.first_output(node))));
        }
        for (id p = 0; p < parameters.count(); ++p) {
            parameters_.push_back(rewritten(parameters.name(p)));
        }
    }

    std::vector<std::string_view> prefixes_; // of the model's names
    bool common_ = false;                    // all names have the prefix
    std::deque<std::string> texts_;          // rewritten names
    std::vector<std::string_view> nodes_;    // by node
    std::vector<std::string_view> results_;  // by node
    std::vector<std::string_view> parameters_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_GLUED_NAMES_HPP
