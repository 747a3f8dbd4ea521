// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_FOLD_DETAIL_FOLD_NAMES_HPP
#define STEMMA_FOLD_DETAIL_FOLD_NAMES_HPP

#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/printed_scope.hpp>
#include <stemma/fold/detail/fold_plan.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/onnx/graph_contents.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: the longest prefix up to a `/` shared by four of five names.
[[nodiscard]] inline std::string_view common_scope(std::vector<std::string_view> names) {
    if (names.empty()) {
        return {};
    }
    std::sort(names.begin(), names.end());
    auto scope = names[names.size() / 2];
    while (true) {
        const auto slash = scope.rfind('/');
        if (slash == scope.npos) {
            return {};
        }
        scope = scope.substr(0, slash);
        const auto inside = detail::range::count_if(names, [&](std::string_view name) {
            return name.size() > scope.size() && name.starts_with(scope) &&
                   name[scope.size()] == '/';
        });
        if (static_cast<std::size_t>(inside) * 5 >= names.size() * 4) {
            return scope;
        }
    }
}

/// Returns: a scope, or what is around it if that is the scope of the module with this path, and
/// of some of the names. Complexity: O(levels * (names + length)).
[[nodiscard]] inline std::string_view module_scope(std::string_view scope,
                                                   const std::vector<std::string_view>& names,
                                                   std::string_view path) {
    for (auto around = scope; !around.empty();) {
        const bool holds = detail::range::any_of(names, [&](std::string_view name) {
            return name.starts_with(around) && name.rfind('/') == around.size();
        });
        std::string printed;
        holds ? detail::append_scope(printed, around) : void();
        if (holds && printed == path) {
            return around;
        }
        around = detail::around_level(around);
    }
    return scope;
}

/// Names in function bodies.
///  A function that is called once keeps the original names. A shared function has those of the
/// first call without its scope (`/encoder/layer.0`), and each call records its scope. Names
/// captured in bodies stay, too.
class fold_names {
public:
    /// Requires: the model and the plan outlive it.
    /// Complexity: O(regions + items + length of names).
    template <module_view Modules>
    fold_names(const wire_model& model, const graph_contents& contents, const Modules& modules,
               const fold_plan& plan)
        : model_(model)
        , plan_(plan)
        , own_scope_(plan.regions.size())
        , call_scope_(plan.regions.size())
        , scope_(plan.regions.size())
        , keeps_(plan.functions.size())
        , given_(model.value_count(), false) {
        for (id f = 0; f < plan.functions.size(); ++f) {
            keeps_[f] =
                plan.functions[f].calls == 1 || owns_bodies(plan.functions[f].region, contents);
        }
        for (auto r = static_cast<id>(plan.regions.size()); r-- > 0;) {
            if (!plan.is_graph(r) && !keeps_[plan.function[r]]) {
                own_scope_[r] = find_scope(r, path_of(modules, plan.regions[r].module));
            }
        }
        for (id r = 0; r < plan.regions.size(); ++r) {
            hand_down_scopes(r);
        }
        for (id r = 0; r < plan.regions.size(); ++r) {
            for (auto value : plan.is_graph(r) ? std::span<const id>() : plan.outputs[r]) {
                given_[value] = given_[value] || plan.is_graph(plan.regions[r].parent);
            }
        }
        names_.resize(plan.functions.size());
        for (id f = 0; f < plan.functions.size(); ++f) {
            if (!keeps_[f]) {
                const auto module = plan.regions[plan.functions[f].region].module;
                name_values(f, path_of(modules, module) + ".");
            }
        }
    }

    /// Whether the body of a function keeps the model's names.
    [[nodiscard]] bool keeps(id function) const { return keeps_[function]; }

    /// Whether a value is an input or output of a call in a graph, so that its name is known when
    /// inlining.
    [[nodiscard]] bool is_given(id value) const { return given_[value]; }

    /// Returns: the scope recorded at the call of a region, relative to that of the enclosing call.
    /// Requires: the region provides the written body, or is a call in a graph.
    [[nodiscard]] std::string_view call_scope(id region) const { return call_scope_[region]; }

    /// Returns: the scope of a region, the expected prefix of its names.
    [[nodiscard]] const std::string& scope(id region) const { return scope_[region]; }

    /// Returns: the name in the function body of a value of the first call.
    [[nodiscard]] std::string_view in_body(id function, id value) const {
        const auto entry = names_[function].find(value);
        return entry == names_[function].end() ? model_.value_name(value)
                                               : std::string_view(entry->second);
    }

    /// Returns: the name in the function body for a name of the first call.
    [[nodiscard]] std::string_view in_body(id function, std::string_view name) const {
        return keeps_[function] ? name
                                : without(own_scope_[plan_.functions[function].region], name);
    }

private:
    // The number of names sampled for the scope of a region.
    static constexpr std::size_t sample = 64;

    [[nodiscard]] static std::string_view without(std::string_view scope, std::string_view name) {
        return name.size() > scope.size() && name.starts_with(scope) ? name.substr(scope.size())
                                                                     : name;
    }

    [[nodiscard]] bool owns_bodies(id region, const graph_contents& contents) const {
        const auto& items = plan_.regions[region].items;
        return detail::range::any_of(items, [&](const fold_item& item) {
            return !item.is_region && !contents.bodies_of(item.index).empty();
        });
    }

    [[nodiscard]] std::string find_scope(id region, std::string_view path) const {
        const auto& items = plan_.regions[region].items;
        std::vector<std::string_view> names;
        for (std::size_t i = 0; i < items.size(); i += 1 + items.size() / sample) {
            const auto name = items[i].is_region ? std::string_view(own_scope_[items[i].index])
                                                 : model_.name(items[i].index);
            if (!name.empty()) {
                names.push_back(name);
            }
        }
        return std::string(detail::module_scope(detail::common_scope(names), names, path));
    }

    /// Sets the scopes of nested regions from the function body.
    void hand_down_scopes(id r) {
        const auto first = plan_.body_of(r);
        const auto& items = plan_.regions[r].items;
        const auto& in_body = plan_.regions[first].items;
        for (std::size_t i = 0; i < items.size(); ++i) {
            if (items[i].is_region) {
                const auto child = in_body[i].index;
                const std::string_view scope = own_scope_[child];
                const std::string_view around = own_scope_[first];
                if (scope.starts_with(around)) {
                    call_scope_[child] = scope.substr(around.size());
                }
                scope_[items[i].index] = scope_[r] + std::string(call_scope_[child]);
            }
        }
    }

    void name_values(id f, const std::string& parameters) {
        const auto region = plan_.functions[f].region;
        std::unordered_set<std::string> taken;
        const auto name = [&](id value, std::string_view wanted) {
            if (value == no_id || wanted.empty() || names_[f].contains(value)) {
                return;
            }
            std::string text(wanted);
            while (!taken.insert(text).second) {
                text.push_back('~');
            }
            names_[f].emplace(value, std::move(text));
        };
        const auto& scope = own_scope_[region];
        plan_.for_each_made(model_, region, [&](id value) {
            name(value, without(scope, model_.value_name(value)));
        });
        for (auto value : plan_.inputs[region]) {
            const auto whole = model_.value_name(value);
            const auto short_one = without(parameters, whole);
            name(value, short_one.size() < whole.size() ? short_one : without(scope, whole));
        }
    }

    const wire_model& model_;
    const fold_plan& plan_;
    std::vector<std::string> own_scope_; // by region
    std::vector<std::string_view> call_scope_;
    std::vector<std::string> scope_;
    std::vector<bool> keeps_;                                // by function
    std::vector<bool> given_;                                // by value
    std::vector<std::unordered_map<id, std::string>> names_; // by function: of values
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_FOLD_DETAIL_FOLD_NAMES_HPP
