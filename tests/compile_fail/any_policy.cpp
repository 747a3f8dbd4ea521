// SPDX-License-Identifier: Apache-2.0
// Types that hold any policy of a role reject others like the functions that take one.
#include <stemma/cut/cut.hpp>
#include <stemma/cut/partition.hpp>
#include <stemma/evidence/evidence.hpp>
#include <stemma/evidence/user_frames.hpp>
#include <stemma/model/cost.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/operator_graph.hpp>
#include <stemma/tagging/any_policy.hpp>

#include <string>
#include <string_view>

using modules = stemma::module_tree;

class operators {
public:
    using graph_type = stemma::operator_graph;
    const stemma::operator_graph& graph() const;
};

// compiles
struct all {
    using policy_category = stemma::selection_category;
    bool selects(const modules&, stemma::id) const;
};
const stemma::any_policy<stemma::selection_category, modules> chosen = all{};
const stemma::any_policy<stemma::selection_category, modules> copied = chosen;

// expect: selection policy: add `bool selects(const Modules&, stemma::id module) const`
struct selects_nothing {
    using policy_category = stemma::selection_category;
};
const stemma::any_policy<stemma::selection_category, modules> selection = selects_nothing{};

// expect: naming policy: add `void name_modules(const Modules&, stemma::tag_table&) const`
struct names_nothing {
    using policy_category = stemma::naming_category;
};
const stemma::any_policy<stemma::naming_category, modules> naming = names_nothing{};

// expect: evidence policy: add `auto prepare(stemma::evidence_context<Ops, Modules>&) const`
struct claims_nothing {
    using policy_category = stemma::evidence_category;
};
const stemma::any_policy<stemma::evidence_category, operators, modules> evidence = claims_nothing{};

// expect: resolution policy: add `stemma::attribution resolve(const stemma::tree_index&,
// std::span<const stemma::claim>) const`
struct resolves_nothing {
    using policy_category = stemma::resolution_category;
};
const stemma::any_policy<stemma::resolution_category> resolution = resolves_nothing{};

// expect: propagation policy: add `void propagate(const stemma::propagation_problem<Ops>&,
// std::span<stemma::attribution>) const`
struct propagates_nothing {
    using policy_category = stemma::propagation_category;
};
const stemma::any_policy<stemma::propagation_category, operators> propagation =
    propagates_nothing{};

// expect: diagnostics policy: add `std::optional<stemma::severity> judge(const stemma::finding&)
// const`
struct judges_nothing {
    using policy_category = stemma::diagnostics_category;
};
const stemma::any_policy<stemma::diagnostics_category> diagnostics = judges_nothing{};

// expect: cost policy: add `std::uint64_t cost(const stemma::operator_load&) const`
struct costs_nothing {
    using policy_category = stemma::cost_category;
};
const stemma::any_policy<stemma::cost_category> cost = costs_nothing{};

// expect: selection policy: add `using policy_category = stemma::selection_category;`
const stemma::any_policy<stemma::selection_category, modules> selection_by_name =
    stemma::class_paths{};

// expect: naming policy: add `using policy_category = stemma::naming_category;`
const stemma::any_policy<stemma::naming_category, modules> naming_by_selection =
    stemma::all_modules{};

// expect: evidence policy: add `using policy_category = stemma::evidence_category;`
const stemma::any_policy<stemma::evidence_category, operators, modules> evidence_by_trust =
    stemma::by_trust{};

// expect: resolution policy: add `using policy_category = stemma::resolution_category;`
const stemma::any_policy<stemma::resolution_category> resolution_by_selection =
    stemma::all_modules{};

// expect: propagation policy: add `using policy_category = stemma::propagation_category;`
const stemma::any_policy<stemma::propagation_category, operators> propagation_by_trust =
    stemma::by_trust{};

// expect: cost policy: add `using policy_category = stemma::cost_category;`
const stemma::any_policy<stemma::cost_category> cost_as_found = stemma::as_found{};

// expect: diagnostics policy: add `using policy_category = stemma::diagnostics_category;`
const stemma::any_policy<stemma::diagnostics_category> diagnostics_by_cost =
    stemma::cost_in_bytes{};

// expect: frames policy: add `stemma::frame_kind kind(const stemma::source_position&) const`
struct tells_nothing {
    using policy_category = stemma::frames_category;
};
const stemma::any_policy<stemma::frames_category> frames = tells_nothing{};

// expect: partition policy: add `stemma::partition_plan partition(const
// stemma::partition_problem<Graph>&) const`
struct divides_nothing {
    using policy_category = stemma::partition_category;
};
const stemma::any_policy<stemma::partition_category, stemma::operator_graph> partition =
    divides_nothing{};

// expect: cut policy: add `bool keeps_unused_initializers() const`
struct keeps_nothing {
    using policy_category = stemma::cut_category;
    bool pulls(stemma::dependence) const;
    stemma::gap_rule gaps() const;
    std::string boundary_name(std::string_view) const;
};
const stemma::any_policy<stemma::cut_category> cut = keeps_nothing{};
