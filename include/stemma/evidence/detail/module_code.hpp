// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_MODULE_CODE_HPP
#define STEMMA_EVIDENCE_DETAIL_MODULE_CODE_HPP

#include <stemma/core/detail/ascii.hpp>
#include <stemma/core/detail/hash.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/evidence/detail/parameter_owners.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>

#include <cstddef>
#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Modules that know which parameters they declare, read or not.
template <class Modules>
concept declaring_modules = requires(const Modules& modules, id m) {
    modules.parameter_count(m);
};

/// Which modules compute something themselves, and which are alike, as far as names tell.
template <module_view Modules>
class module_code {
public:
    /// Complexity: O(modules + reads + bytes of names), times the logarithm of the types.
    template <parameter_readers Ops>
    module_code(const Ops& ops, const Modules& modules, const parameter_owners& owners)
        : tree_(modules.index())
        , holds_only_numbers_(tree_.size(), false)
        , owns_below_(tree_.size(), false)
        , declares_below_(tree_.size(), false)
        , stays_below_(tree_.size(), false)
        , pattern_(tree_.size(), 0) {
        std::vector<bool> other(tree_.size(), false); // owns a parameter, or has a named child
        for (id p = 0; p < ops.parameter_count(); ++p) {
            const std::string_view name = ops.parameter_name(p);
            for (auto owner : owners.of(p)) {
                other[owner] = true;
                owns_below_[owner] = true;
                pattern_[owner] += hash_bytes(name.substr(name.rfind('.') + 1), 1);
            }
        }
        for (id m = 1; m < tree_.size(); ++m) {
            const auto above = tree_.parent(m);
            holds_only_numbers_[above] = true;
            other[above] = other[above] || !is_number(modules.name(m));
        }
        const auto anonymous = types_without_owners(ops, modules, owners);
        for (auto m = static_cast<id>(tree_.size()); m-- > 1;) {
            const auto above = tree_.parent(m);
            const std::string_view name = modules.name(m);
            pattern_[above] += hash_mix(hash_bytes(name, 2), pattern_[m]);
            owns_below_[above] = owns_below_[above] || owns_below_[m];
            if constexpr (declaring_modules<Modules>) {
                const bool declares = modules.parameter_count(m) > 0;
                declares_below_[m] = declares_below_[m] || declares;
                stays_below_[m] = stays_below_[m] || (declares && stays(modules, m, anonymous));
            }
            declares_below_[above] = declares_below_[above] || declares_below_[m];
            stays_below_[above] = stays_below_[above] || stays_below_[m];
        }
        for (id m = 0; m < tree_.size(); ++m) {
            holds_only_numbers_[m] = holds_only_numbers_[m] && !other[m];
        }
    }

    /// Whether a module only holds numbered children: a list of modules never runs, and a sequence
    /// runs just its children.
    [[nodiscard]] bool is_list(id m) const { return holds_only_numbers_[m]; }

    /// Returns: the module, or its nearest ancestor that is not a list.
    [[nodiscard]] id nearest(id m) const {
        while (m != 0 && is_list(m)) {
            m = tree_.parent(m);
        }
        return m;
    }

    /// Returns: a number that is equal for modules with the same parameter names below.
    [[nodiscard]] std::uint64_t pattern(id m) const { return pattern_[m]; }

    /// Whether a module or a descendant owns a parameter.
    [[nodiscard]] bool owns_below(id m) const { return owns_below_[m]; }

    /// Whether a module or a descendant declares parameters, read or not.
    [[nodiscard]] bool declares_below(id m) const { return declares_below_[m]; }

    /// Whether a module has parameters that are never read, as they were folded into others; and
    /// not as their names are lost.
    [[nodiscard]] bool is_folded(id m) const {
        return declares_below_[m] && !owns_below_[m] && !stays_below_[m];
    }

private:
    using types = std::set<std::string_view>;

    /// Returns: the types of operators that read a parameter without an owner, if modules declare
    /// parameters.
    template <parameter_readers Ops>
    [[nodiscard]] static types types_without_owners(const Ops& ops, const Modules& modules,
                                                    const parameter_owners& owners) {
        types result;
        if constexpr (declaring_modules<Modules> && named_operators<Ops>) {
            bool declared = false;
            for (id m = 0; m < modules.index().size() && !declared; ++m) {
                declared = modules.parameter_count(m) > 0;
            }
            if (!declared) {
                return result;
            }
            for (auto [it, last] = vertices(ops.graph()); it != last; ++it) {
                const auto v = *it;
                ops.for_each_parameter(v, [&](id p) {
                    if (owners.of(p).empty()) {
                        result.insert(ops.op_type(v));
                    }
                });
            }
        }
        return result;
    }

    /// Whether a module is not folded into another: it has a matrix, or one of the operators with
    /// `anonymous` parameters is called like its class, as InstanceNormalization like
    /// InstanceNorm2d.
    [[nodiscard]] static bool stays(const Modules& modules, id m, const types& anonymous) {
        for (std::size_t i = 0; i < modules.parameter_count(m); ++i) {
            if (modules.parameter(m, i).shape.size() > 1) {
                return true;
            }
        }
        std::string_view stem = modules.class_name(m);
        if (stem.ends_with('d')) {
            stem.remove_suffix(1);
            stem = stem.substr(0, stem.find_last_not_of("0123456789") + 1);
        }
        const auto type = anonymous.lower_bound(stem);
        return !stem.empty() && type != anonymous.end() && type->starts_with(stem);
    }

    const tree_index& tree_;
    std::vector<bool> holds_only_numbers_;
    std::vector<bool> owns_below_;
    std::vector<bool> declares_below_;
    std::vector<bool> stays_below_; // declares parameters that are not folded
    std::vector<std::uint64_t> pattern_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_MODULE_CODE_HPP
