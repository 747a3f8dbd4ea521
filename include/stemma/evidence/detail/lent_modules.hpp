// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_LENT_MODULES_HPP
#define STEMMA_EVIDENCE_DETAIL_LENT_MODULES_HPP

#include <stemma/core/detail/ascii.hpp>
#include <stemma/core/detail/made_once.hpp>
#include <stemma/core/detail/neighbours.hpp>
#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/scope_resolver.hpp>
#include <stemma/evidence/detail/scope_table.hpp>
#include <stemma/model/confidence.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: by scope, whether its own operators compute anything but what weights are made of, as
/// the hooks of a module do that are printed in its caller. Complexity: O(V + E).
template <parameter_readers Ops>
    requires named_operators<Ops>
[[nodiscard]] std::vector<bool> find_computing(const Ops& ops, const scope_table& table) {
    const auto& graph = ops.graph();
    std::vector<bool> computing(table.scopes.size(), false);
    std::vector<bool> of_weights(num_vertices(graph), false);
    for (auto [it, last] = vertices(graph); it != last; ++it) {
        const auto v = index_of(graph, *it);
        bool reads = std::string_view(ops.op_type(*it)) == "Constant";
        ops.for_each_parameter(*it, [&](id) { reads = true; });
        bool other = reads_data(ops, *it);
        for (const auto u : producers_of(graph, *it)) {
            reads = reads || of_weights[u];
            other = other || !of_weights[u];
        }
        of_weights[v] = reads && !other;
        if (const auto s = table.scope_of[v]; s != no_id && !of_weights[v]) {
            computing[s] = true;
        }
    }
    return computing;
}

/// Modules called in scopes of modules that do not own them, as parameters show for some; what runs
/// between or beside these has the same owner.
///
/// A container may only call what the module around it owns: after
/// `self.net = Sequential(self.conv, self.act)`, torch prints `net/conv` and `net/act`, which are
/// `conv` and `act`. And a module run by its `forward` has no scope: where `wrap` runs
/// `ffn.forward`, torch prints `wrap/w_1`, `wrap/act` and `wrap/w_2`, which are `ffn.w_1`,
/// `ffn.act` and `ffn.w_2`. So does a model that calls a method of a module: `conv1`, `layer1` and
/// `layer2`, which are in `model` if all that is known, `model.layer2`, is there.
template <module_view Modules>
class lent_modules {
public:
    /// `shown`: by scope, the module that parameters show, or `no_id`. `computing()` is asked if it
    /// matters, see `find_computing`. Complexity: O(scopes * depth).
    lent_modules(const scope_table& table, const Modules& modules,
                 std::span<const scope_module> shown,
                 const std::function<std::vector<bool>()>& computing)
        : table_(table)
        , modules_(modules)
        , of_scope_(shown)
        , owner_(table.scopes.size(), no_id)
        , inside_(owner_)
        , mixed_(owner_.size(), false)
        , renamed_(owner_.size(), false)
        , between_(owner_.size(), false) {
        // Scopes in the same scope come in the order of their operators.
        auto last = owner_; // by enclosing scope: that of a known module
        for (id s = scope_style_count; s < owner_.size(); ++s) {
            const auto around = table.scopes[s].parent;
            const auto owner = owner_of(s);
            if (owner == no_id) {
                owner_[s] = last[around];
                continue;
            }
            last[around] = s;
            mixed_[around] =
                mixed_[around] || (inside_[around] != no_id && inside_[around] != owner);
            renamed_[around] =
                renamed_[around] || modules.name(owner) != table.scopes[around].instance();
            inside_[around] = inside_[around] == no_id ? owner : inside_[around];
        }
        last.assign(last.size(), no_id);
        for (auto s = static_cast<id>(owner_.size()); s-- > scope_style_count;) {
            const auto around = table.scopes[s].parent;
            const auto before = std::exchange(owner_[s], no_id);
            if (owner_of(s) != no_id) {
                last[around] = s;
            } else if (is_container(around, computing)) {
                owner_[s] = inside_[around];
            } else if (const auto owner = shared_owner(before, last[around]); owner != no_id) {
                owner_[s] = is_elsewhere(owner, around) ? owner : no_id;
                between_[s] = owner_[s] == no_id && is_inside(owner, around);
            }
        }
        find_series();
    }

    /// Returns: the module that owns the unknown module of scope `s`, if it is not that of the
    /// enclosing scope; else `no_id`.
    [[nodiscard]] id owner(id s) const { return owner_[s]; }

    /// Returns: the module of scope `s`, if what runs in it belongs to modules of that name, of
    /// which none is inside the enclosing one; else `no_id`. Of several, the first.
    [[nodiscard]] id elsewhere(id s) const {
        const bool shown = inside_[s] != no_id && !renamed_[s] && of_scope_[s].module == no_id &&
                           table_.scopes[s].operators == 0;
        return shown && is_elsewhere(inside_[s], table_.scopes[s].parent) ? inside_[s] : no_id;
    }

    /// Returns: the module inside that of the enclosing scope that owns the unknown one of scope
    /// `s`, as it owns a known one called there, from which a number distinguishes that of `s`, or
    /// that of another unknown one if it owns all known ones. Else `no_id`.
    [[nodiscard]] id unprinted(id s) const {
        const auto around = table_.scopes[s].parent;
        const auto series = series_.find({around, table_.scopes[s].stem()});
        if (series != series_.end() && series->second.in != no_id && series->second.unknown) {
            return series->second.in;
        }
        const bool all = !mixed_[around] && is_inside(inside_[around], around);
        return all && std::binary_search(in_series_.begin(), in_series_.end(), around)
                   ? inside_[around]
                   : no_id;
    }

    /// Returns: how sure one may be at most that the unknown module of scope `s` is in that of the
    /// enclosing one: those called before and after it may be in another one inside that.
    [[nodiscard]] float surest(id s) const { return between_[s] ? confidence::scope_hidden : 1; }

private:
    /// Modules called in one scope whose names differ only by a number.
    struct named_series {
        id in = no_id;        // the owner of all known ones, inside the module of the scope
        bool mixed = false;   // whether they have several
        bool unknown = false; // whether some are unknown
    };

    /// Finds the series of scopes in modules that are called without a level.
    void find_series() {
        for (id s = scope_style_count; s < owner_.size(); ++s) {
            const auto around = table_.scopes[s].parent;
            const auto stem = table_.scopes[s].stem();
            if (stem.empty() || table_.scopes[s].style != scope_style::called ||
                inside_[around] == no_id) {
                continue;
            }
            auto& series = series_[{around, stem}];
            if (of_scope_[s].module == no_id) {
                series.unknown = true;
                continue;
            }
            const auto owner = owner_of(s);
            series.mixed = series.mixed || !is_inside(owner, around) ||
                           (series.in != no_id && series.in != owner);
            series.in = series.mixed ? no_id : owner;
        }
        for (const auto& [key, series] : series_) {
            if (series.in != no_id && series.unknown) {
                in_series_.push_back(key.first);
            }
        }
    }

    /// Whether module `m` is below that of scope `s`.
    [[nodiscard]] bool is_inside(id m, id s) const {
        const auto above = of_scope_[s].module;
        return m != no_id && above != no_id && m != above && modules_.index().is_ancestor(above, m);
    }

    /// The owner of the known module of a scope, past the numbers of lists, but not past the
    /// enclosing scope's own.
    [[nodiscard]] id owner_of(id s) const {
        auto m = of_scope_[s].module;
        if (m == no_id || m == 0 || table_.scopes[s].style != scope_style::called) {
            return no_id;
        }
        const auto around = of_scope_[table_.scopes[s].parent].module;
        while (m != 0 && is_number(modules_.name(m)) && modules_.index().parent(m) != around) {
            m = modules_.index().parent(m);
        }
        return m == 0 ? no_id : modules_.index().parent(m);
    }

    /// Returns: the owner of the known modules of two scopes, if they are two of one owner: one
    /// that is called twice, like a normalization for all, says nothing about what it is called
    /// around. Else `no_id`.
    [[nodiscard]] id shared_owner(id s, id t) const {
        return s != no_id && t != no_id && of_scope_[s].module != of_scope_[t].module &&
                       owner_of(s) == owner_of(t)
                   ? owner_of(s)
                   : no_id;
    }

    /// Whether scope `s` only calls what the module around it owns.
    [[nodiscard]] bool is_container(id s,
                                    const std::function<std::vector<bool>()>& computing) const {
        const auto& scope = table_.scopes[s];
        return inside_[s] != no_id && !mixed_[s] && of_scope_[s].module == no_id &&
               of_scope_[scope.parent].module == inside_[s] &&
               (scope.operators == 0 || !computing_.get(computing)[s]);
    }

    /// Whether module `m` is not inside the nearest known module of the scopes around `s`, or `s`.
    [[nodiscard]] bool is_elsewhere(id m, id s) const {
        while (s >= scope_style_count && of_scope_[s].module == no_id) {
            s = table_.scopes[s].parent;
        }
        return m != no_id && s >= scope_style_count &&
               !modules_.index().is_ancestor(of_scope_[s].module, m);
    }

    const scope_table& table_;
    const Modules& modules_;
    std::span<const scope_module> of_scope_;
    std::vector<id> owner_;     // by scope
    std::vector<id> inside_;    // by scope: owner of the first known module called there
    std::vector<bool> mixed_;   // by scope: whether these have several owners
    std::vector<bool> renamed_; // by scope: whether one of these has another name
    std::vector<bool> between_; // by scope: whether it may be deeper
    std::map<std::pair<id, std::string_view>, named_series> series_; // by enclosing scope, stem
    std::vector<id> in_series_; // scopes that call unknown modules like known ones, ascending
    made_once<std::vector<bool>> computing_; // by scope
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_LENT_MODULES_HPP
