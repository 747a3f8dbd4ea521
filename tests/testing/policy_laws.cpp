// SPDX-License-Identifier: Apache-2.0
#include <stemma/testing/policy_laws.hpp>

#include "../catch.hpp"
#include "../operator_scene.hpp"

#include <stemma/evidence/leftovers.hpp>
#include <stemma/evidence/parameter_names.hpp>
#include <stemma/evidence/scope_names.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

using stemma::broken_laws;
using stemma::find_broken_laws;
using stemma::id;
using stemma::no_id;

namespace {

const auto tree = test::tree_of({"a:app.Block", "a.x:torch.nn.Linear", "a.y:torch.nn.Linear",
                                 "b:app.Block", "b.x:torch.nn.Linear", "c"});

const test::operator_scene& operators() {
    static const auto scene = [] {
        test::operator_scene made;
        const auto first = made.add({}, "/a/x/MatMul", "MatMul");
        const auto second = made.add({first}, "", "Add");
        const auto third = made.add({second, first}, "/b/x/MatMul", "MatMul");
        made.add({third}, "", "Relu");
        made.add({}, "", "Constant");
        return made;
    }();
    return scene;
}

bool breaks(const broken_laws& broken, std::string_view law) {
    return std::find(broken.begin(), broken.end(), law) != broken.end();
}

// Policies that model their concept and break a law.

struct moody_selection {
    using policy_category = stemma::selection_category;
    int* asked;
    template <stemma::module_view Modules>
    bool selects(const Modules&, id) const {
        return ++*asked % 2 == 0;
    }
};

struct same_names {
    using policy_category = stemma::naming_category;
    template <stemma::module_view Modules>
    void name_modules(const Modules& modules, stemma::tag_table& tags) const {
        for (id m = 0; m < modules.index().size(); ++m) {
            tags.set_segment(m, "a/b");
        }
    }
};

struct wild_claims {
    using policy_category = stemma::evidence_category;
    struct claims {
        template <class Vertex, class Function>
        void for_each_claim(const Vertex&, Function f) const {
            f(stemma::claim{1000, no_id, 2.0F, stemma::provenance::consumer});
            f(stemma::claim{0, no_id, 0.5F, stemma::provenance::scope});
        }
    };
    template <class Ops, class Modules>
    claims prepare(stemma::evidence_context<Ops, Modules>&) const {
        return {};
    }
};

struct inventing {
    using policy_category = stemma::resolution_category;
    stemma::attribution resolve(const stemma::tree_index& modules,
                                std::span<const stemma::claim>) const {
        return {static_cast<id>(modules.size()), no_id, -1.0F, stemma::provenance::fx, false};
    }
};

struct overwriting {
    using policy_category = stemma::propagation_category;
    template <stemma::operator_view Ops>
    void propagate(const stemma::propagation_problem<Ops>&,
                   std::span<stemma::attribution> result) const {
        for (auto& one : result) {
            one = {0, no_id, 0.5F, stemma::provenance::scope, false};
        }
    }
};

struct loud_carrier {
    using policy_category = stemma::carrier_category;
    template <stemma::carrier_sink Sink>
    void write(const stemma::operator_tags& tags, Sink& sink) const {
        sink.metadata("layer", tags.tag);
        sink.attribute("layer", tags.tag);
        sink.doc_line("layer\n");
    }
};

struct careless_cut {
    using policy_category = stemma::cut_category;
    bool pulls(stemma::dependence d) const { return d == stemma::dependence::data; }
    stemma::gap_rule gaps() const { return stemma::gap_rule::refuse; }
    std::string boundary_name(std::string_view) const { return "x"; }
    bool keeps_unused_initializers() const { return false; }
};

struct dear {
    using policy_category = stemma::cost_category;
    std::uint64_t cost(const stemma::operator_load&) const { return ~std::uint64_t{0}; }
};

} // namespace

TEST_CASE("find_broken_laws: the policies in the box break none") {
    CHECK(find_broken_laws(stemma::not_infrastructure{}, tree) == broken_laws{});
    CHECK(find_broken_laws(stemma::all_modules{}, tree) == broken_laws{});
    CHECK(find_broken_laws(stemma::in_packages{{"app"}}, tree) == broken_laws{});
    CHECK(find_broken_laws(stemma::of_classes{{"Lin*"}}, tree) == broken_laws{});
    CHECK(find_broken_laws(stemma::down_to_depth{1}, tree) == broken_laws{});
    CHECK(find_broken_laws(stemma::class_paths{}, tree) == broken_laws{});
    CHECK(find_broken_laws(stemma::attribute_paths{}, tree) == broken_laws{});
    CHECK(find_broken_laws(stemma::class_paths{}, tree, stemma::not_infrastructure{}) ==
          broken_laws{});
    CHECK(find_broken_laws(stemma::scope_names{}, operators(), tree) == broken_laws{});
    CHECK(find_broken_laws(stemma::leftovers{}, operators(), tree) == broken_laws{});
    CHECK(find_broken_laws(stemma::by_trust{}, tree.index()) == broken_laws{});
    CHECK(find_broken_laws(stemma::cautious{}, tree.index()) == broken_laws{});
    CHECK(find_broken_laws(stemma::both_sides{}, operators(), tree.index()) == broken_laws{});
    CHECK(find_broken_laws(stemma::residual_aware{}, operators(), tree.index()) == broken_laws{});
    CHECK(find_broken_laws(stemma::consumers_only{}, operators(), tree.index()) == broken_laws{});
    CHECK(find_broken_laws(stemma::producers_only{}, operators(), tree.index()) == broken_laws{});
    CHECK(find_broken_laws(stemma::nearest_evidence{}, operators(), tree.index()) == broken_laws{});
    CHECK(find_broken_laws(stemma::no_propagation{}, operators(), tree.index()) == broken_laws{});
    CHECK(find_broken_laws(stemma::carrier_set{true, true, true, true, true}) == broken_laws{});
    CHECK(find_broken_laws(stemma::standard_cut{}) == broken_laws{});
    CHECK(find_broken_laws(stemma::plain_names_cut{}) == broken_laws{});
    CHECK(find_broken_laws(stemma::cost_in_bytes{}) == broken_laws{});
    CHECK(find_broken_laws(stemma::cost_in_parameters{}) == broken_laws{});
    CHECK(find_broken_laws(stemma::cost_in_operators{}) == broken_laws{});
    CHECK(find_broken_laws(stemma::torch_lexicon{}) == broken_laws{});
    CHECK(find_broken_laws(stemma::hide_constants{}, operators()) == broken_laws{});
    CHECK(find_broken_laws(stemma::show_all{}, operators()) == broken_laws{});
}

TEST_CASE("find_broken_laws: says of a policy of each role which law it breaks") {
    int asked = 0;
    CHECK(breaks(find_broken_laws(moody_selection{&asked}, tree),
                 "the same answer for the same module"));
    const auto names = find_broken_laws(same_names{}, tree);
    CHECK(breaks(names, "no segment holds a bare '/'"));
    CHECK(breaks(names, "a tag names exactly one module"));
    const auto claims = find_broken_laws(wild_claims{}, operators(), tree);
    CHECK(breaks(claims, "modules are ranks in the tree"));
    CHECK(breaks(claims, "confidences lie between 0 and 1"));
    CHECK(breaks(claims, "claims name a provenance of evidence"));
    CHECK(breaks(claims, "all claims of one source name the same provenance"));
    const auto resolved = find_broken_laws(inventing{}, tree.index());
    CHECK(breaks(resolved, "the result is a module of the tree"));
    CHECK(breaks(resolved, "the confidence lies between 0 and 1"));
    CHECK(breaks(resolved, "the result names a source that made a claim"));
    const auto spread = find_broken_laws(overwriting{}, operators(), tree.index());
    CHECK(breaks(spread, "evidence stays as it is"));
    CHECK(breaks(spread, "what is inferred does not pass for evidence"));
    const auto carried = find_broken_laws(loud_carrier{});
    CHECK(breaks(carried, "metadata keys start with pkg.stemma."));
    CHECK(breaks(carried, "attributes are source_module and hierarchy_tags"));
    CHECK(breaks(carried, "a line of the doc_string is one line"));
    const auto cut = find_broken_laws(careless_cut{});
    CHECK(breaks(cut, "constants are pulled in"));
    CHECK(breaks(cut, "whoever pulls in data pulls in everything"));
    CHECK(breaks(cut, "different names stay different"));
    CHECK(breaks(find_broken_laws(dear{}), "a million of such operators cost less than 2^63"));
}
