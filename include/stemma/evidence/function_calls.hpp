// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_FUNCTION_CALLS_HPP
#define STEMMA_EVIDENCE_FUNCTION_CALLS_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/evidence/evidence_context.hpp>
#include <stemma/evidence/handed_parameters.hpp>
#include <stemma/evidence/parameter_owners.hpp>
#include <stemma/evidence/scope_table.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/module_lookup.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>
#include <stemma/policy/category.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace stemma {

namespace detail {

/// Follows calls from the main graph into functions and finds the module of every call.
///
/// A function stands for a class: `domain` is its package and `name` the class, with `.1` behind it
/// for a further variant. The name of a call in the main graph is scoped as that of the last
/// operator in the body; the module is the one on that way that has the class, or, where classes
/// are unknown, the deepest that holds all parameters passed, and as many levels above their owners
/// as there are calls between it and who reads them. A call inside a body has no scope:
/// its module lies below that of the body, and holds the parameters that the outer calls passed
/// down. Metadata of a call, where it has some, name its module before all of these. A call in the
/// body of an If or Loop about which nothing is known runs in the module of what owns the body.
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
        , handed_(ops_) {
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

    /// The modules that the operators of functions, and all calls, may belong to, by vertex index.
    [[nodiscard]] std::unordered_map<id, std::vector<id>> take() && { return std::move(found_); }

private:
    /// A function as called from one place: its module, and the parameters passed.
    struct call_context {
        id function = no_id;
        id module = no_id; // `no_id` where nothing is known of the call
        std::size_t depth = 0;
        std::vector<id> passed; // by formal input: a parameter or `no_id`
    };

    // Bounds what recursion and chains of calls in a hostile model can cost.
    static constexpr std::size_t max_contexts = 1U << 20U;

    [[nodiscard]] static std::string_view without_variant(std::string_view name) {
        const auto dot = name.rfind('.');
        const auto rest = dot == name.npos ? std::string_view{} : name.substr(dot + 1);
        const bool number = !rest.empty() && std::all_of(rest.begin(), rest.end(), [](char c) {
            return c >= '0' && c <= '9';
        });
        return number ? name.substr(0, dot) : name;
    }

    /// Returns: the module whose path, with `_` for `.`, stands before the number in the name of a
    /// function that was made for one module; `no_id` for other functions.
    [[nodiscard]] id module_named(id function, id top) const {
        std::string_view name = ops_.function_name(function);
        const auto number = name.rfind('_');
        const std::string_view domain = ops_.function_domain(function);
        const bool branch = domain == "pkg.torch.__subgraph__"; // named by torch.cond and the like
        if (!domain.starts_with("pkg.") || branch || number == name.npos) {
            return no_id;
        }
        name = name.substr(0, number);
        id best = no_id;
        std::size_t best_length = 0;
        std::string path;
        for (auto m = top + 1; m < tree_.end(top); ++m) {
            path = path_of(modules_, m);
            std::replace(path.begin(), path.end(), '.', '_');
            if (path.size() > best_length && name.ends_with(path) &&
                (path.size() == name.size() || name[name.size() - path.size() - 1] == '_')) {
                best = m;
                best_length = path.size();
            }
        }
        return best;
    }

    [[nodiscard]] bool has_class(id m, id function) const {
        const std::string_view domain = ops_.function_domain(function);
        const auto name = without_variant(ops_.function_name(function));
        const std::string_view qualified = modules_.qualified_class(m);
        return qualified.size() == domain.size() + 1 + name.size() &&
               qualified.starts_with(domain) && qualified.ends_with(name);
    }

    /// What the operator reads as parameters when it runs in `context`.
    [[nodiscard]] std::vector<id> passed_to(operator_t<Ops> v, const call_context& context) const {
        std::vector<id> passed;
        ops_.for_each_argument(v, [&](const operator_argument& argument) {
            const bool formal = argument.formal < context.passed.size();
            passed.push_back(formal ? context.passed[argument.formal] : argument.parameter);
        });
        return passed;
    }

    /// Returns: the deepest module that holds the owners of all these parameters, or `no_id`.
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

    /// Returns: the same for a call below `top`, of those modules above the owners that may make
    /// it: what a call hands on belongs to a module further down.
    [[nodiscard]] id common_caller(std::span<const id> parameters, id top, id function) const {
        // Functions of operators, such as torch's exporter adds, are no modules.
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

    /// Returns: the deepest module at or above `m`, down from `top`, that has the function's class.
    [[nodiscard]] id of_class_above(id m, id top, id function) const {
        while (m != top && !has_class(m, function)) {
            m = tree_.parent(m);
        }
        return has_class(m, function) ? m : no_id;
    }

    [[nodiscard]] id only_one_below(id top, id function) const {
        id only = no_id;
        for (auto m = top + 1; m < tree_.end(top); ++m) {
            if (has_class(m, function)) {
                if (only != no_id) {
                    return no_id;
                }
                only = m;
            }
        }
        return only;
    }

    [[nodiscard]] id module_of_call(operator_t<Ops> v, const call_context& around,
                                    std::span<const id> passed) const {
        const auto function = ops_.callee(v);
        const auto index = static_cast<id>(index_of(ops_.graph(), v));
        const auto top = around.function == no_id || around.module == no_id ? 0 : around.module;
        const auto owner = common_owner(passed);
        const auto caller = common_caller(passed, around.function == no_id ? no_id : top, function);
        const auto scope = around.function == no_id ? table_.scope_of[index] : no_id;
        const bool described = around.function == no_id && !chains_.chain_of.empty();
        const auto chain = described ? chains_.chain_of[index] : no_id;
        if (chain != no_id && bound_chains_.of_chain[chain].module != no_id) {
            return bound_chains_.of_chain[chain].module;
        }
        if (const auto named = module_named(function, top); named != no_id) {
            return named;
        }
        auto module = scope == no_id ? no_id : bound_.of(index, scope).module;
        if (module == no_id) {
            module = owner != no_id && tree_.is_ancestor(top, owner) ? owner : no_id;
        }
        if (module == no_id) {
            const auto only = only_one_below(top, function);
            return only != no_id              ? only
                   : around.function != no_id ? around.module
                                              : top_level_module_of(index);
        }
        if (caller != no_id && tree_.is_ancestor(caller, module) && has_class(caller, function)) {
            return caller;
        }
        if (const auto typed = of_class_above(module, top, function); typed != no_id) {
            return typed;
        }
        while (module != top && caller != no_id && !tree_.is_ancestor(module, caller)) {
            module = tree_.parent(module);
        }
        return module;
    }

    /// Returns: the module of the nearest owner of a body around `v` that is known, or `no_id`.
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

    /// Returns: the module that a folded operator names; where the tree ends before, the last one.
    [[nodiscard]] id on_path(operator_t<Ops> v, id from) const {
        if constexpr (folded_operators<Ops>) {
            return find_longest(lookup_, ops_.fold_path(v), from).first;
        }
        return from;
    }

    void enter(operator_t<Ops> v, const call_context& around) {
        call_context inside;
        inside.function = ops_.callee(v);
        inside.passed = passed_to(v, around);
        inside.module = is_folded(v) ? on_path(v, around.function == no_id ? 0 : around.module)
                                     : module_of_call(v, around, inside.passed);
        inside.depth = around.depth + 1;
        note(v, inside.module);
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
            if (ops_.callee(v) != no_id) {
                enter(v, context);
                continue;
            }
            if (is_folded(v)) {
                note(v, on_path(v, context.module));
                continue;
            }
            const auto owner = common_owner(passed_to(v, context));
            const bool known = context.module != no_id;
            const bool below =
                owner != no_id && (!known || tree_.is_ancestor(context.module, owner));
            note(v, below ? owner : context.module);
        }
    }

    void note(operator_t<Ops> v, id module) {
        if (module == no_id) {
            return;
        }
        const auto index = static_cast<id>(index_of(ops_.graph(), v));
        if (noted_.insert(std::uint64_t{index} << 32U | module).second) {
            found_[index].push_back(module);
        }
    }

    const Ops& ops_;
    const Modules& modules_;
    const tree_index& tree_;
    const parameter_owners& owners_;
    const scope_table& table_;
    const scope_modules& bound_;
    const hierarchy_table& chains_;
    const hierarchy_modules& bound_chains_;
    std::unordered_map<id, id> owner_of_body_; // by vertex index of what stands in a body
    std::unordered_map<id, std::vector<operator_t<Ops>>> bodies_;
    const module_lookup<Modules> lookup_;
    const handed_parameters handed_;
    std::unordered_map<id, std::unordered_set<id>> entered_; // modules a function was entered for
    std::unordered_set<std::uint64_t> noted_;                // operator and module
    std::vector<call_context> contexts_;
    std::unordered_map<id, std::vector<id>> found_;
};

} // namespace detail

/// Evidence from local functions: calls, and the operators in bodies, once for every module that
/// the function is called for. The body of a function that nobody calls, or of which nothing is
/// known, is the root's. Below a module without children there is nothing, so what runs there is
/// surely its own.
struct function_calls {
    using policy_category = evidence_category;

    template <class Ops>
    class claims {
    public:
        claims(const Ops& ops, const tree_index& tree,
               std::unordered_map<id, std::vector<id>> found)
            : ops_(&ops), tree_(&tree), found_(std::move(found)) {}

        template <class Function>
        void for_each_claim(operator_t<Ops> vertex, Function f) const {
            const auto say = [&](id module, float confidence, bool exact) {
                f(claim{module, no_id, confidence, provenance::function, exact, no_id});
            };
            if constexpr (calling_operators<Ops>) {
                const bool call = ops_->callee(vertex) != no_id;
                if (!call && ops_->enclosing_function(vertex) == no_id) {
                    return;
                }
                const auto found = found_.find(static_cast<id>(index_of(ops_->graph(), vertex)));
                if (found == found_.end()) {
                    if (ops_->enclosing_function(vertex) != no_id) {
                        say(0, 0.5F, false);
                    }
                    return;
                }
                for (auto module : found->second) {
                    const bool leaf = tree_->end(module) == module + 1;
                    say(module, call ? 0.95F : leaf ? 0.92F : 0.85F, call);
                }
            }
        }

    private:
        const Ops* ops_;
        const tree_index* tree_;
        std::unordered_map<id, std::vector<id>> found_;
    };

    /// Complexity: linear in operators, and in the bodies of functions times the modules each is
    /// called for.
    template <operator_view Ops, module_view Modules>
    [[nodiscard]] claims<Ops> prepare(evidence_context<Ops, Modules>& context) const {
        if constexpr (calling_operators<Ops>) {
            if (context.ops().function_count() > 0) {
                return {context.ops(), context.index(),
                        detail::call_resolver<Ops, Modules>(context).take()};
            }
        }
        return {context.ops(), context.index(), {}};
    }
};

} // namespace stemma

#endif // STEMMA_EVIDENCE_FUNCTION_CALLS_HPP
