// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_CALL_RESOLVER_HPP
#define STEMMA_EVIDENCE_DETAIL_CALL_RESOLVER_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/detail/ascii.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/evidence/detail/context_facts.hpp>
#include <stemma/evidence/detail/function_names.hpp>
#include <stemma/evidence/detail/handed_parameters.hpp>
#include <stemma/evidence/detail/parameter_owners.hpp>
#include <stemma/evidence/detail/scope_table.hpp>
#include <stemma/evidence/evidence_context.hpp>
#include <stemma/model/module_lookup.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The modules that operators in functions belong to, over all calls.
struct modules_of_calls {
    std::unordered_map<id, std::vector<id>> all{}; ///< by vertex index
    bool every_module = false; ///< is a function: nothing else in the main graph is in one
    /// The same for one calling module of the enclosing function, by `key`.
    std::unordered_map<std::uint64_t, id> by_caller{};

    /// `around` is `no_id` in the main graph, and if nothing is known about the call.
    [[nodiscard]] static std::uint64_t key(id v, id around) noexcept {
        return std::uint64_t{v} << 32U | around;
    }
};

/// Follows calls from the main graph into functions and finds the module of every call.
///
/// A function stands for a class: `domain` is its package and `name` the class, with a suffix such
/// as `.1` for further variants. The name of a call in the main graph has the scope of the last
/// operator in the body; the module is the one on that path with this class or, if classes are
/// unknown, the deepest that holds all parameters passed, as many levels above their owners as
/// there are calls between it and their readers. A call in a body has no scope: its module lies
/// below that of the body, and holds the parameters that the outer calls passed down. Metadata of a
/// call take precedence over all of these. A call in the body of an If or Loop about which nothing
/// is known runs in the module of the operator that owns the body.
template <calling_operators Ops, module_view Modules>
class call_resolver {
public:
    explicit call_resolver(evidence_context<Ops, Modules>& context)
        : ops_(context.ops())
        , modules_(context.modules())
        , tree_(context.index())
        , owners_(context.owners())
        , table_(context.scopes())
        , bound_(context.modules_of_scopes())
        , chains_(context.hierarchies())
        , bound_chains_(context.modules_of_hierarchies())
        , lookup_(modules_)
        , names_(ops_, modules_)
        , handed_(ops_) {
        result_.every_module = names_.any();
        for (const auto& op : operators_in_bodies(ops_)) {
            owner_of_body_.emplace(op.v, op.owner);
        }
        for (auto [it, last] = vertices(ops_.graph()); it != last; ++it) {
            const auto f = ops_.enclosing_function(*it);
            if (f != no_id) {
                bodies_[f].push_back(*it);
            } else if (ops_.callee(*it) != no_id) {
                enter(*it, {});
            }
        }
        for (std::size_t i = 0; i < contexts_.size(); ++i) {
            visit_body(i);
        }
    }

    /// Returns: the result.
    [[nodiscard]] modules_of_calls take() && { return std::move(result_); }

private:
    /// A function as called from one place: its module, and the parameters passed.
    struct call_context {
        id function = no_id;
        id module = no_id; // `no_id` if nothing is known about the call
        id last = no_id;   // that of the last operator in the body, if named
        std::size_t depth = 0;
        std::vector<id> passed; // by formal input: a parameter or `no_id`
    };

    // Limits the cost of recursion and chains of calls in a hostile model.
    static constexpr std::size_t max_contexts = 1U << 20U;

    [[nodiscard]] static std::string_view without_variant(std::string_view name) {
        const auto dot = name.rfind('.');
        const auto rest = dot == name.npos ? std::string_view{} : name.substr(dot + 1);
        return is_number(rest) ? name.substr(0, dot) : name;
    }

    /// Returns: the qualified class that a function stands for.
    [[nodiscard]] std::string class_of(id function) const {
        const std::string_view domain = ops_.function_domain(function);
        return std::string(domain).append(".").append(
            without_variant(ops_.function_name(function)));
    }

    [[nodiscard]] bool has_class(id m, std::string_view type) const {
        return std::string_view(modules_.qualified_class(m)) == type;
    }

    /// The parameters that the operator reads when it runs in `context`.
    [[nodiscard]] std::vector<id> passed_to(operator_t<Ops> v, const call_context& context) const {
        std::vector<id> passed;
        ops_.for_each_argument(v, [&](const operator_argument& argument) {
            const bool formal = argument.formal < context.passed.size();
            passed.push_back(formal ? context.passed[argument.formal] : argument.parameter);
        });
        return passed;
    }

    /// What a call stands for.
    struct called_module {
        id module = no_id;
        bool shown = true; // by more than the parameters passed, which may belong to its children
    };

    /// Returns: the deepest module that contains the owners of all these parameters, or `no_id`.
    [[nodiscard]] id common_owner(std::span<const id> parameters) const {
        id common = no_id;
        for (auto p : parameters) {
            if (p != no_id && owners_.of(p).size() == 1) {
                const auto owner = nearest_called(modules_, owners_.of(p).front());
                common = common == no_id ? owner : tree_.lca(common, owner);
            }
        }
        return common;
    }

    /// Returns: the same for a call below `top`, restricted to ancestors of the owners that may
    /// make it: parameters that a call passes on belong to a module further down.
    [[nodiscard]] id common_caller(std::span<const id> parameters, id top, id function) const {
        // Functions of operators, such as those that torch's exporter adds, are not modules.
        const bool levels = !std::string_view(ops_.function_domain(function)).starts_with("pkg.");
        id common = no_id;
        for (std::size_t slot = 0; slot < parameters.size(); ++slot) {
            const auto p = parameters[slot];
            if (p == no_id || owners_.of(p).size() != 1) {
                continue;
            }
            auto m = nearest_called(modules_, owners_.of(p).front());
            auto up = levels ? handed_.calls_below(function, static_cast<id>(slot)) : 0;
            for (; up > 0 && m != 0 && tree_.parent(m) != top; --up) {
                m = nearest_called(modules_, tree_.parent(m));
            }
            common = common == no_id ? m : tree_.lca(common, m);
        }
        return common;
    }

    /// Returns: the deepest ancestor of `m`, or `m`, below `top` that has a class.
    [[nodiscard]] id of_class_above(id m, id top, std::string_view type) const {
        while (m != top && !has_class(m, type)) {
            m = tree_.parent(m);
        }
        return has_class(m, type) ? m : no_id;
    }

    /// Returns: the only module below `top` with a class, or `no_id`.
    /// Complexity: O(log modules * length of names), and O(modules) times that for the first call.
    [[nodiscard]] id only_one_below(id top, std::string_view type) {
        const auto key = [&](id m) {
            return std::pair<std::string_view, id>(modules_.qualified_class(m), m);
        };
        if (by_class_.empty()) {
            by_class_.resize(tree_.size());
            std::iota(by_class_.begin(), by_class_.end(), id{0});
            std::sort(by_class_.begin(), by_class_.end(),
                      [&](id a, id b) { return key(a) < key(b); });
        }
        const auto first =
            std::lower_bound(by_class_.begin(), by_class_.end(), std::pair(type, top + 1),
                             [&](id m, const auto& wanted) { return key(m) < wanted; });
        const auto is_one = [&](auto at) {
            return at != by_class_.end() && *at < tree_.end(top) && has_class(*at, type);
        };
        return is_one(first) && !is_one(std::next(first)) ? *first : no_id;
    }

    [[nodiscard]] called_module module_of_call(operator_t<Ops> v, const call_context& around,
                                               std::span<const id> passed) {
        const auto function = ops_.callee(v);
        const auto index = static_cast<id>(index_of(ops_.graph(), v));
        const auto top = around.function == no_id || around.module == no_id ? 0 : around.module;
        const auto owner = common_owner(passed);
        const auto caller = common_caller(passed, around.function == no_id ? no_id : top, function);
        const auto scope = around.function == no_id ? table_.scope_of[index] : no_id;
        const bool described = around.function == no_id && !chains_.chain_of.empty();
        const auto chain = described ? chains_.chain_of[index] : no_id;
        if (chain != no_id && bound_chains_.of_chain[chain].module != no_id) {
            return {bound_chains_.of_chain[chain].module};
        }
        if (const auto named = names_.module_of(function, top, owner); named != no_id) {
            return {named};
        }
        auto module = scope == no_id ? no_id : bound_.of(index, scope).module;
        const bool shown = module != no_id || around.function != no_id;
        if (module == no_id) {
            module = owner != no_id && tree_.is_ancestor(top, owner) ? owner : no_id;
        }
        if (module == no_id && around.function == no_id && result_.every_module) {
            return {0};
        }
        const auto type = class_of(function);
        if (module == no_id) {
            const auto only = only_one_below(top, type);
            return {only != no_id              ? only
                    : around.function != no_id ? around.module
                                               : top_level_module_of(index)};
        }
        if (caller != no_id && tree_.is_ancestor(caller, module) && has_class(caller, type)) {
            return {caller};
        }
        if (const auto typed = of_class_above(module, top, type); typed != no_id) {
            return {typed};
        }
        while (module != top && caller != no_id && !tree_.is_ancestor(module, caller)) {
            module = tree_.parent(module);
        }
        return {module, shown};
    }

    /// Returns: the module of the nearest known owner of a body around `v`, or `no_id`.
    [[nodiscard]] id top_level_module_of(id v) const {
        for (auto owner = owner_of_body_.find(v); owner != owner_of_body_.end();
             owner = owner_of_body_.find(owner->second)) {
            const auto u = owner->second;
            const auto chain = chains_.chain_of.empty() ? no_id : chains_.chain_of[u];
            if (chain != no_id && bound_chains_.of_chain[chain].module != no_id) {
                return bound_chains_.of_chain[chain].module;
            }
            if (const auto scope = table_.scope_of[u]; scope != no_id) {
                return bound_.of(u, scope).module;
            }
        }
        return no_id;
    }

    [[nodiscard]] bool is_folded(operator_t<Ops> v) const {
        if constexpr (folded_operators<Ops>) {
            return ops_.is_folded(v);
        }
        return false;
    }

    /// Returns: the module at a folded operator's path; the last one on it if the tree ends
    /// earlier.
    [[nodiscard]] id on_path(operator_t<Ops> v, id from) const {
        if constexpr (folded_operators<Ops>) {
            return find_longest(lookup_, ops_.fold_path(v), from).first;
        }
        return from;
    }

    /// Returns: the module whose scope names a call, if it is below the one called.
    [[nodiscard]] id last_module(operator_t<Ops> v, const call_context& inside) const {
        const auto index = static_cast<id>(index_of(ops_.graph(), v));
        const auto scope = is_folded(v) ? no_id : table_.scope_of[index];
        const auto named = scope == no_id ? no_id : bound_.of(index, scope).module;
        const bool below = named != no_id && inside.module != no_id && named != inside.module &&
                           tree_.is_ancestor(inside.module, named);
        return below ? named : no_id;
    }

    void enter(operator_t<Ops> v, const call_context& around, id last = no_id) {
        call_context inside;
        inside.function = ops_.callee(v);
        inside.passed = passed_to(v, around);
        const auto [module, shown] =
            is_folded(v) ? called_module{on_path(v, around.function == no_id ? 0 : around.module)}
                         : module_of_call(v, around, inside.passed);
        inside.module = module;
        inside.depth = around.depth + 1;
        inside.last = around.function == no_id ? last_module(v, inside) : last;
        if (shown) {
            note(v, around, module);
        }
        if (inside.depth > ops_.function_count() || contexts_.size() >= max_contexts ||
            !entered_[inside.function].insert(inside.module).second) {
            return;
        }
        contexts_.push_back(std::move(inside));
    }

    void visit_body(std::size_t i) {
        const auto context = contexts_[i];
        const auto body = bodies_.find(context.function);
        if (body == bodies_.end()) {
            return;
        }
        for (const auto& v : body->second) {
            const auto last = &v == &body->second.back() ? context.last : no_id;
            if (ops_.callee(v) != no_id) {
                enter(v, context, last);
                continue;
            }
            if (is_folded(v)) {
                note(v, context, on_path(v, context.module));
                continue;
            }
            if (last != no_id) {
                note(v, context, last);
                continue;
            }
            const auto owner = common_owner(passed_to(v, context));
            const bool is_known = context.module != no_id;
            const bool below =
                owner != no_id && (!is_known || tree_.is_ancestor(context.module, owner));
            note(v, context, below ? owner : context.module);
        }
    }

    void note(operator_t<Ops> v, const call_context& around, id module) {
        if (module == no_id) {
            return;
        }
        const auto index = static_cast<id>(index_of(ops_.graph(), v));
        if (noted_.insert(std::uint64_t{index} << 32U | module).second) {
            result_.all[index].push_back(module);
        }
        result_.by_caller.emplace(modules_of_calls::key(index, around.module), module);
    }

    const Ops& ops_;
    const Modules& modules_;
    const tree_index& tree_;
    const parameter_owners& owners_;
    const scope_table& table_;
    const scope_modules& bound_;
    const hierarchy_table& chains_;
    const hierarchy_modules& bound_chains_;
    std::unordered_map<id, id> owner_of_body_; // by vertex index of operators in bodies
    std::unordered_map<id, std::vector<operator_t<Ops>>> bodies_;
    const module_lookup<Modules> lookup_;
    const function_names<Ops, Modules> names_;
    const handed_parameters handed_;
    std::unordered_map<id, std::unordered_set<id>> entered_; // modules a function was entered for
    std::unordered_set<std::uint64_t> noted_;                // operator and module
    std::vector<call_context> contexts_;
    std::vector<id> by_class_; // modules by qualified class, once asked for
    modules_of_calls result_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_CALL_RESOLVER_HPP
