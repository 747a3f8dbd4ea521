// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_EVIDENCE_CONTEXT_HPP
#define STEMMA_EVIDENCE_EVIDENCE_CONTEXT_HPP

#include <stemma/core/id.hpp>
#include <stemma/core/sweep_order.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>
#include <stemma/model/sweeps.hpp>

#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

namespace detail {

struct hierarchy_modules;
struct hierarchy_table;
struct known_facts;
class parameter_owners;
struct scope_modules;
struct scope_table;

template <operator_view Ops, module_view Modules>
class context_facts;

/// Facts about operators and modules that several sources of evidence read, as far as computed.
struct evidence_facts {
    std::optional<std::vector<bool>> independent{}; ///< what `data_independent` says of them
    std::shared_ptr<known_facts> known{};           ///< from names and metadata; may be null
};

} // namespace detail

/// The input of sources of evidence: the operators, the modules, and facts that several of them
/// need, each computed on first use.
///
/// Facts from names, metadata and parameters need <stemma/evidence/name_sources.hpp>.
template <operator_view Ops, module_view Modules>
class evidence_context {
public:
    /// Requires: both outlive the context; if a `thread_scope` allows several threads, these may
    /// read them concurrently, and query what sources prepare.
    evidence_context(const Ops& ops, const Modules& modules) : ops_(&ops), modules_(&modules) {}

    /// As above, reusing known facts. Requires: they are for these operators and modules.
    evidence_context(const Ops& ops, const Modules& modules, detail::evidence_facts facts)
        : ops_(&ops), modules_(&modules), facts_(std::move(facts)) {}

    /// Returns: the given facts and those computed since.
    [[nodiscard]] detail::evidence_facts release() && {
        facts().keep_known();
        return std::move(facts_);
    }

    /// The operators.
    [[nodiscard]] const Ops& ops() const noexcept { return *ops_; }

    /// The modules.
    [[nodiscard]] const Modules& modules() const noexcept { return *modules_; }

    /// The ancestry of modules; claims refer to modules by rank in it.
    [[nodiscard]] const tree_index& index() const { return modules_->index(); }

    /// The names of the sources; a named source adds its own when it prepares itself.
    [[nodiscard]] provenance_names& provenances() noexcept { return provenances_; }

    /// The scopes in the names of the operators.
    [[nodiscard]] const detail::scope_table& scopes() requires named_operators<Ops> {
        return facts().scopes();
    }

    /// The modules that own the parameters.
    [[nodiscard]] const detail::parameter_owners& owners() requires parameter_readers<Ops> {
        return facts().owners();
    }

    /// The modules that the scopes stand for.
    [[nodiscard]] const detail::scope_modules&
    modules_of_scopes() requires named_operators<Ops> && parameter_readers<Ops> {
        return facts().modules_of_scopes();
    }

    /// The hierarchies in the metadata of the operators.
    [[nodiscard]] const detail::hierarchy_table& hierarchies() { return facts().hierarchies(); }

    /// The modules that those hierarchies denote.
    [[nodiscard]] const detail::hierarchy_modules& modules_of_hierarchies() {
        return facts().modules_of_hierarchies();
    }

    /// The modules at which names and metadata stop short; see `find_shallow_modules`.
    [[nodiscard]] const std::vector<id>&
    shallow() requires named_operators<Ops> && parameter_readers<Ops> {
        return facts().shallow();
    }

    /// The modules whose parameters are used by their parents directly; see
    /// `find_bypassed_modules`.
    [[nodiscard]] const std::vector<id>& bypassed() requires parameter_readers<Ops> {
        return facts().bypassed();
    }

    /// The modules of operators that were fused with the addition that follows them, by vertex
    /// index; see `find_joined_sums`. Complexity: that of `find_joined_sums`, the first time.
    [[nodiscard]] const std::unordered_map<id, id>& sums() requires parameter_readers<Ops> {
        return facts().sums();
    }

    /// The modules of what operators were fused with, by vertex index: of what a result is named
    /// after, and of additions. Complexity: as `sums`, and O(V) if any was fused, the first time.
    [[nodiscard]] const std::unordered_map<id, id>& joined() requires parameter_readers<Ops> {
        return facts().joined();
    }

    /// The result of `data_independent` for the operators.
    [[nodiscard]] const std::vector<bool>& independent() {
        if (!facts_.independent) {
            facts_.independent = data_independent(*ops_, sweep_order(ops_->graph()));
        }
        return *facts_.independent;
    }

private:
    [[nodiscard]] detail::context_facts<Ops, Modules> facts() {
        return detail::context_facts<Ops, Modules>(*this, facts_.known);
    }

    const Ops* ops_;
    const Modules* modules_;
    provenance_names provenances_;
    detail::evidence_facts facts_;
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_EVIDENCE_EVIDENCE_CONTEXT_HPP
