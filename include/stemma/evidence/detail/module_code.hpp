// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_MODULE_CODE_HPP
#define STEMMA_EVIDENCE_DETAIL_MODULE_CODE_HPP

#include <stemma/core/detail/ascii.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/evidence/detail/parameter_owners.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>

#include <cstddef>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Modules that know which parameters they declare, read or not.
template <class Modules>
concept declaring_modules = requires(const Modules& modules, id m) {
    modules.parameter_count(m);
};

/// Which modules compute something themselves, as far as names tell.
template <module_view Modules>
class module_code {
public:
    /// Complexity: O(modules + parameters).
    template <parameter_readers Ops>
    module_code(const Ops& ops, const Modules& modules, const parameter_owners& owners)
        : tree_(modules.index())
        , holds_only_numbers_(tree_.size(), false)
        , owns_below_(tree_.size(), false)
        , declares_below_(tree_.size(), false)
        , stays_below_(tree_.size(), false) {
        std::vector<bool> other(tree_.size(), false); // owns a parameter, or has a named child
        for (id p = 0; p < ops.parameter_count(); ++p) {
            for (auto owner : owners.of(p)) {
                other[owner] = true;
                owns_below_[owner] = true;
            }
        }
        for (id m = 1; m < tree_.size(); ++m) {
            const auto above = tree_.parent(m);
            holds_only_numbers_[above] = true;
            other[above] = other[above] || !is_number(modules.name(m));
        }
        for (auto m = static_cast<id>(tree_.size()); m-- > 1;) {
            const auto above = tree_.parent(m);
            owns_below_[above] = owns_below_[above] || owns_below_[m];
            if constexpr (declaring_modules<Modules>) {
                const bool declares = modules.parameter_count(m) > 0;
                declares_below_[m] = declares_below_[m] || declares;
                stays_below_[m] =
                    stays_below_[m] || (declares && stays(modules.qualified_class(m)));
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
    /// Whether modules of a class are not folded into others. Of torch's own, those are that apply
    /// nothing but constants to each channel.
    [[nodiscard]] static bool stays(std::string_view qualified_class) {
        return qualified_class.starts_with("torch.nn.") &&
               qualified_class.find("BatchNorm") == qualified_class.npos;
    }

    const tree_index& tree_;
    std::vector<bool> holds_only_numbers_;
    std::vector<bool> owns_below_;
    std::vector<bool> declares_below_;
    std::vector<bool> stays_below_; // declares parameters of a class that is never folded
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_MODULE_CODE_HPP
