// SPDX-License-Identifier: Apache-2.0
#include "../laws.hpp"

#include "../catch.hpp"
#include "../operator_scene.hpp"

#include <stemma/align/rewritten_operators.hpp>
#include <stemma/core/id.hpp>
#include <stemma/evidence/evidence_context.hpp>
#include <stemma/evidence/name_sources.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/finding.hpp>
#include <stemma/tagging/any_policy.hpp>
#include <stemma/tagging/resolve_evidence.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace test::tagging_laws {

using stemma::attribution;
using stemma::broken_laws;
using stemma::claim;
using stemma::id;
using stemma::no_id;
using stemma::provenance;

namespace {

/// A small model with names, parameters, a skip connection and operators without evidence.
struct scene {
    test::operator_scene ops;
    stemma::module_tree tree =
        test::tree_of({":zoo.Net", "layers:torch.nn.ModuleList", "layers.0:zoo.Layer",
                       "layers.0.fc:zoo.Fc", "layers.1:zoo.Layer", "head:zoo.Fc", "plain"});
    std::vector<id> evidence;

    scene() {
        const auto first = ops.add({}, "/layers.0/fc/MatMul", "MatMul");
        const auto open = ops.add({first}, "open", "Add");
        const auto second = ops.add({open, first}, "/layers.1/Add", "Add");
        const auto last = ops.add({second, second}, "end", "Gemm");
        ops.read_parameter(last, "head.weight");
        ops.add_constant("constant");
        ops.read(first, last, true); // a cycle
        evidence = {3, no_id, 4, no_id, no_id};
    }
};

// A law-breaker for every law. Inconsistent ones change their answer with every query.

struct fickle {
    mutable bool last = false;

    bool flip() const { return last = !last; }
};

struct fickle_selection : fickle {
    using policy_category = stemma::selection_category;
    [[nodiscard]] bool selects(const stemma::module_tree&, id) const { return flip(); }
};

struct fickle_naming : fickle {
    using policy_category = stemma::naming_category;
    void name_modules(const stemma::module_tree&, stemma::tag_table& tags) const {
        const std::string prefix = flip() ? "a" : "b";
        for (id m = 0; m < tags.size(); ++m) {
            tags.is_selected(m) ? tags.set_segment(m, prefix + std::to_string(m)) : void();
        }
    }
};

template <char Text>
struct same_names {
    using policy_category = stemma::naming_category;
    void name_modules(const stemma::module_tree&, stemma::tag_table& tags) const {
        for (id m = 0; m < tags.size(); ++m) {
            const auto text = std::string(1, Text) + (Text == '/' ? std::to_string(m) : "");
            Text != '\0' && tags.is_selected(m) ? tags.set_segment(m, text) : void();
        }
    }
};

struct one_claim {
    claim made;

    template <class Function>
    void for_each_claim(std::size_t, Function f) const {
        f(made);
    }
};

struct given_claim {
    using policy_category = stemma::evidence_category;
    claim made;

    template <class Context>
    [[nodiscard]] one_claim prepare(Context&) const {
        return {made};
    }
};

struct fickle_evidence : fickle {
    using policy_category = stemma::evidence_category;

    struct claims {
        const fickle* mind;

        template <class Function>
        void for_each_claim(std::size_t, Function f) const {
            f(claim{mind->flip() ? id{1} : id{2}, no_id, 1, provenance::scope});
        }
    };

    template <class Context>
    [[nodiscard]] claims prepare(Context&) const {
        return {this};
    }
};

struct given_resolution {
    using policy_category = stemma::resolution_category;
    attribution made;
    [[nodiscard]] attribution resolve(const stemma::tree_index&, std::span<const claim>) const {
        return made;
    }
};

struct fickle_resolution : fickle {
    using policy_category = stemma::resolution_category;
    [[nodiscard]] attribution resolve(const stemma::tree_index&, std::span<const claim>) const {
        return {flip() ? id{1} : id{2}, no_id, 1, provenance::scope, false};
    }
};

/// Writes the same everywhere, respecting evidence or not.
struct given_propagation {
    using policy_category = stemma::propagation_category;
    attribution made;
    bool respects_evidence = true;

    template <class Ops>
    void propagate(const stemma::propagation_problem<Ops>& problem,
                   std::span<attribution> result) const {
        for (std::size_t v = 0; v < result.size(); ++v) {
            if (problem.evidence[v] == no_id || !respects_evidence) {
                result[v] = made;
            }
        }
    }
};

struct by_number {
    using policy_category = stemma::propagation_category;

    template <class Ops>
    void propagate(const stemma::propagation_problem<Ops>& problem,
                   std::span<attribution> result) const {
        for (id v = 0; v < result.size(); ++v) {
            if (problem.evidence[v] == no_id) {
                result[v] = {v % 3, no_id, 0, provenance::between, false};
            }
        }
    }
};

struct fickle_carrier : fickle {
    using policy_category = stemma::carrier_category;
    void write(const stemma::operator_tags&, auto& sink) const {
        sink.name_space(std::string_view(flip() ? "a" : "b"));
    }
};

struct foreign_carrier {
    using policy_category = stemma::carrier_category;
    int kind = 0;
    void write(const stemma::operator_tags& tags, auto& sink) const {
        kind == 0   ? sink.metadata("other.key", tags.tag)
        : kind == 1 ? sink.attribute(std::string_view("tag"), tags.tag)
        : kind == 2 ? sink.doc_line("unmarked")
                    : sink.doc_line("pkg.stemma {}\n{}");
    }
};

struct odd_cut : stemma::standard_cut {
    int kind = 0;
    [[nodiscard]] bool pulls(stemma::dependence d) const {
        return kind == 0   ? d != stemma::dependence::constant
               : kind == 1 ? d != stemma::dependence::shape
                           : true;
    }
    [[nodiscard]] std::string boundary_name(std::string_view name) const {
        return std::string(kind == 2 ? name.substr(0, 1) : kind == 3 ? "" : name);
    }
};

struct fickle_lexicon : fickle {
    using policy_category = stemma::lexicon_category;
    int kind = 0;
    [[nodiscard]] stemma::correspondence correspond(std::string_view, std::string_view) const {
        return kind == 0 && flip() ? stemma::correspondence::head : stemma::correspondence::none;
    }
    [[nodiscard]] stemma::trail trail_of(std::string_view) const {
        return kind == 1 && flip() ? stemma::trail::never : stemma::trail::always;
    }
};

struct odd_fold : fickle {
    int kind = 4;
    [[nodiscard]] bool folds() const { return kind == 0 ? flip() : kind != 5; }
    [[nodiscard]] stemma::function_name name() const {
        return {kind == 3 || kind == 5 ? "ai.onnx.ml" : "zoo", kind == 2 || kind == 5 ? ""
                                                               : kind == 1 && flip()  ? "a"
                                                                                      : "b"};
    }
};

struct fickle_frames : fickle {
    using policy_category = stemma::frames_category;
    [[nodiscard]] stemma::frame_kind kind(const stemma::source_position&) const {
        return flip() ? stemma::frame_kind::own : stemma::frame_kind::library;
    }
};

struct fickle_visibility : fickle {
    using policy_category = stemma::visibility_category;
    [[nodiscard]] bool shows(const test::operator_scene&, std::size_t) const { return flip(); }
};

struct fickle_diagnostics : fickle {
    using policy_category = stemma::diagnostics_category;

    [[nodiscard]] std::optional<stemma::severity> judge(const stemma::finding&) const {
        return flip() ? std::optional(stemma::severity::error) : std::nullopt;
    }
};

struct unheard_diagnostics {
    using policy_category = stemma::diagnostics_category;

    [[nodiscard]] std::optional<stemma::severity> judge(const stemma::finding&) const {
        return static_cast<stemma::severity>(7);
    }
};

struct fickle_cost : fickle {
    using policy_category = stemma::cost_category;
    [[nodiscard]] std::uint64_t cost(const stemma::operator_load&) const { return flip() ? 1 : 2; }
};

struct huge_cost {
    using policy_category = stemma::cost_category;
    [[nodiscard]] std::uint64_t cost(const stemma::operator_load&) const {
        return std::uint64_t{1} << 62U;
    }
};

const std::vector<std::string> names{"a", "ab", "a.b", "/x/y", "0"};
const std::vector<std::string> several{"/Net/A", "/Net/B"};
const stemma::operator_tags some_tags{"/Net/A", "a.0", several, R"(["/Net/A", "/Net/B"])"};

} // namespace

TEST_CASE("laws: selection", "[policy][laws]") {
    const scene s;
    CHECK(stemma::broken_selection_laws(stemma::not_infrastructure{}, s.tree).empty());
    CHECK(stemma::broken_selection_laws(
              stemma::any_policy<stemma::selection_category, stemma::module_tree>{}, s.tree)
              .empty());
    CHECK(stemma::broken_selection_laws(stemma::down_to_depth{1}, s.tree).empty());
    CHECK(stemma::broken_selection_laws(stemma::all_modules{}, s.tree).empty());
    CHECK(stemma::broken_selection_laws(stemma::in_packages{{"zoo"}}, s.tree).empty());
    CHECK(stemma::broken_selection_laws(stemma::of_classes{{"L*"}}, s.tree).empty());
    CHECK(stemma::broken_selection_laws(fickle_selection{}, s.tree).size() == 1);
}

TEST_CASE("laws: naming", "[policy][laws]") {
    const scene s;
    CHECK(stemma::broken_naming_laws(stemma::class_paths{}, s.tree).empty());
    CHECK(stemma::broken_naming_laws(stemma::module_paths{}, s.tree).empty());
    CHECK(stemma::broken_naming_laws(stemma::names_and_classes{}, s.tree).empty());
    CHECK(stemma::broken_naming_laws(stemma::class_paths{}, s.tree, stemma::not_infrastructure{})
              .empty());
    CHECK(stemma::broken_naming_laws(fickle_naming{}, s.tree) ==
          broken_laws{"naming: a module gets different tags on repeated calls"});
    CHECK(stemma::broken_naming_laws(same_names<'x'>{}, s.tree) ==
          broken_laws{"naming: two modules have the same tag"});
    CHECK(stemma::broken_naming_laws(same_names<'/'>{}, s.tree) ==
          broken_laws{"naming: a segment holds a `/` that is not escaped"});
    CHECK(stemma::broken_naming_laws(same_names<'\0'>{}, s.tree) ==
          broken_laws{"naming: a selected module gets no segment"});
}

TEST_CASE("laws: evidence", "[policy][laws]") {
    const scene s;
    stemma::evidence_context context(s.ops, s.tree);
    CHECK(stemma::broken_evidence_laws(stemma::name_sources{}, context).empty());
    const auto broken = [&](claim claim) {
        return stemma::broken_evidence_laws(given_claim{claim}, context).size();
    };
    CHECK(broken({1, no_id, 1, provenance::scope}) == 0);
    CHECK(broken({99, no_id, 1, provenance::scope}) == 1);
    CHECK(broken({no_id, no_id, 1, provenance::scope}) == 1);
    CHECK(broken({1, no_id, 1, provenance::consumer}) == 1);
    CHECK(broken({1, no_id, 1.5F, provenance::scope}) == 1);
    CHECK(stemma::broken_evidence_laws(fickle_evidence{}, context).size() == 1);
}

TEST_CASE("laws: resolution", "[policy][laws]") {
    const scene s;
    const std::vector<claim> claims{{1, no_id, 0.9F, provenance::scope},
                                    {2, no_id, 0.8F, provenance::trace},
                                    {6, no_id, 0.7F, provenance::trace}};
    const auto broken = [&](const auto& policy) {
        return stemma::broken_resolution_laws(policy, s.tree.index(), claims).size();
    };
    CHECK(broken(stemma::by_trust{}) == 0);
    CHECK(broken(stemma::by_trust{1}) == 0);
    CHECK(broken(stemma::by_weight{}) == 0);
    CHECK(broken(stemma::by_weight{1}) == 0);
    CHECK(broken(stemma::cautious{}) == 0);
    CHECK(broken(stemma::by_confidence{}) == 0);
    CHECK(broken(given_resolution{{99, no_id, 1, provenance::scope, false}}) == 1);
    CHECK(broken(given_resolution{{1, no_id, -1, provenance::scope, false}}) == 1);
    CHECK(broken(given_resolution{{1, no_id, 1, provenance::owner, false}}) == 1);
    CHECK(broken(fickle_resolution{}) == 1);
}

TEST_CASE("laws: propagation", "[policy][laws]") {
    const scene s;
    const auto broken = [&](const auto& policy) {
        return stemma::broken_propagation_laws(policy, s.ops, s.tree.index(), s.evidence);
    };
    CHECK(broken(stemma::both_sides{}).empty());
    CHECK(broken(stemma::residual_aware{}).empty());
    CHECK(broken(stemma::consumers_only{}).empty());
    CHECK(broken(stemma::producers_only{}).empty());
    CHECK(broken(stemma::nearest_evidence{}).empty());
    CHECK(broken(stemma::no_propagation{}).empty());
    CHECK(broken(given_propagation{{1, no_id, 0, provenance::between, false}, false}) ==
          broken_laws{"propagation: an operator with evidence is changed"});
    CHECK(broken(given_propagation{{99, no_id, 0, provenance::between, false}}).size() == 1);
    CHECK(broken(given_propagation{{1, no_id, 0, provenance::scope, false}}).size() == 1);
    CHECK(broken(given_propagation{{1, no_id, 2, provenance::between, false}}).size() == 1);
    CHECK(broken(by_number{}) ==
          broken_laws{"propagation: the result depends on how the operators are numbered"});
}

TEST_CASE("laws: carrier", "[policy][laws]") {
    CHECK(stemma::broken_carrier_laws(stemma::carrier_set{true, true, true, true, true, true},
                                      some_tags)
              .empty());
    CHECK(stemma::broken_carrier_laws(stemma::metadata_carrier{}, some_tags).empty());
    CHECK(stemma::broken_carrier_laws(stemma::attribute_carrier{}, some_tags).empty());
    CHECK(stemma::broken_carrier_laws(stemma::doc_string_carrier{}, some_tags).empty());
    CHECK(stemma::broken_carrier_laws(stemma::namespace_carrier{}, some_tags).empty());
    CHECK(stemma::broken_carrier_laws(stemma::mark_carrier{}, some_tags).empty());
    CHECK(stemma::broken_carrier_laws(stemma::model_carrier{}, some_tags).empty());
    CHECK(stemma::broken_carrier_laws(fickle_carrier{}, some_tags).size() == 1);
    for (int kind = 0; kind < 4; ++kind) {
        CHECK(stemma::broken_carrier_laws(foreign_carrier{kind}, some_tags).size() == 1);
    }
}

TEST_CASE("laws: cut", "[policy][laws]") {
    CHECK(stemma::broken_cut_laws(stemma::standard_cut{}, names).empty());
    CHECK(stemma::broken_cut_laws(stemma::plain_names_cut{}, names).empty());
    CHECK(stemma::broken_cut_laws(stemma::prefixed_names_cut{{}, "a"}, names).empty());
    const auto broken = [&](int kind) {
        odd_cut policy;
        policy.kind = kind;
        return stemma::broken_cut_laws(policy, names);
    };
    CHECK(broken(0).size() == 2); // a constant is less than data as well
    CHECK(broken(1) == broken_laws{"cut: data is copied in, but something simpler is not"});
    CHECK(broken(2) == broken_laws{"cut: two boundary values get the same name"});
    CHECK(broken(3).size() == 2); // empty names are equal
}

TEST_CASE("laws: lexicon", "[policy][laws]") {
    const std::vector<std::string> captured{"aten.add.Tensor", "linear", "size"};
    const std::vector<std::string> types{"Add", "Gemm", "Shape"};
    CHECK(stemma::broken_lexicon_laws(stemma::torch_lexicon{}, captured, types).empty());
    CHECK(stemma::broken_lexicon_laws(stemma::similar_names{}, captured, types).empty());
    CHECK(stemma::broken_lexicon_laws(stemma::equal_names{}, captured, types).empty());
    CHECK(stemma::broken_lexicon_laws(stemma::rewritten_operators{}, captured, types).empty());
    CHECK(stemma::broken_lexicon_laws(fickle_lexicon{{}, 0}, captured, types).size() == 1);
    CHECK(stemma::broken_lexicon_laws(fickle_lexicon{{}, 1}, captured, types).size() == 1);
}

TEST_CASE("laws: frames", "[policy][laws]") {
    const stemma::source_position frames[]{{"/srv/me/net.py", 3, "forward"},
                                           {"/v/site-packages/torch/nn/x.py", 4, ""},
                                           {"<eval_with_key>.1", 5, "forward"},
                                           {"", 0, ""}};
    CHECK(stemma::broken_frames_laws(stemma::not_in_packages{}, frames).empty());
    CHECK(stemma::broken_frames_laws(stemma::in_folders{{"me"}}, frames).empty());
    CHECK(stemma::broken_frames_laws(stemma::innermost_frame{}, frames).empty());
    CHECK(stemma::broken_frames_laws(fickle_frames{}, frames).size() == 1);
}

TEST_CASE("laws: visibility", "[policy][laws]") {
    const scene s;
    CHECK(stemma::broken_visibility_laws(stemma::hide_constants{}, s.ops).empty());
    CHECK(stemma::broken_visibility_laws(stemma::show_all{}, s.ops).empty());
    CHECK(stemma::broken_visibility_laws(stemma::hide_types{{"A*"}}, s.ops).empty());
    CHECK(stemma::broken_visibility_laws(fickle_visibility{}, s.ops).size() == 1);
}

TEST_CASE("laws: fold", "[policy][laws]") {
    const scene s;
    using options = stemma::fold_options<>;
    CHECK(stemma::broken_fold_laws(options{}, s.tree).empty());
    CHECK(
        stemma::broken_fold_laws(
            options{.selection = stemma::all_modules{}, .name_of = stemma::named_by_path{}}, s.tree)
            .empty());
    CHECK(stemma::broken_fold_laws(options{.selection = stemma::innermost<>{}}, s.tree).empty());
    const auto broken = [&](int kind) {
        odd_fold odd;
        odd.kind = kind;
        return stemma::broken_fold_laws(
            options{.selection = [odd](auto&&, id) { return odd.folds(); },
                    .name_of = [odd](auto&&, id) { return odd.name(); }},
            s.tree);
    };
    CHECK(broken(0) == broken_laws{"fold: a module is not selected consistently"});
    CHECK(broken(1) == broken_laws{"fold: a function gets different names on repeated calls"});
    CHECK(broken(2) == broken_laws{"fold: a function has no name"});
    CHECK(broken(3) == broken_laws{"fold: the domain of a function is a standard one"});
    CHECK(broken(4).empty());
    CHECK(broken(5).empty()); // without folding no name is needed
}

TEST_CASE("laws: cost", "[policy][laws]") {
    const std::vector<stemma::operator_load> loads(3, stemma::operator_load{1, 10, 40, 70});
    CHECK(stemma::broken_cost_laws(stemma::cost_in_bytes{}, loads).empty());
    CHECK(stemma::broken_cost_laws(stemma::cost_in_parameters{}, loads).empty());
    CHECK(stemma::broken_cost_laws(stemma::cost_in_operators{}, loads).empty());
    CHECK(stemma::broken_cost_laws(stemma::cost_in_macs{}, loads).empty());
    CHECK(stemma::broken_cost_laws(stemma::cost_in_flops{}, loads).empty());
    CHECK(stemma::broken_cost_laws(stemma::cost_in_activations{}, loads).empty());
    CHECK(stemma::broken_cost_laws(fickle_cost{}, loads).size() == 1);
    CHECK(stemma::broken_cost_laws(huge_cost{}, loads) ==
          broken_laws{"cost: the sum of all costs is not below 2^63"});
}

TEST_CASE("laws: partition", "[policy][laws]") {
    const stemma::operator_graph graph(3, [](auto) {});
    const std::vector<id> order{0, 1, 2};
    const std::vector<std::uint64_t> costs{1, 1, 1};
    const std::vector<id> parents{stemma::no_id, 0};
    const stemma::tree_index modules(parents);
    const std::vector<id> module_of{0, 1, 1};
    const stemma::partition_problem<stemma::operator_graph> problem{graph, order, costs, module_of,
                                                                    &modules};
    const auto broken = [&](const auto& policy) {
        return stemma::broken_partition_laws(policy, problem);
    };
    CHECK(broken(stemma::balanced_parts{2}).empty());
    CHECK(broken(stemma::balanced_parts{9}).empty()); // refuses
    CHECK(broken(stemma::parts_by_depth{1}).empty());
    CHECK(broken(stemma::parts_by_modules{{1}}).empty());
    CHECK(broken(stemma::parts_by_level{}).empty());
    CHECK(broken(stemma::parts_by_rule{3, [](id v) { return v; }}).empty());
    CHECK(broken(stemma::parts_by_rule{2, [](id v) { return v; }}) ==
          broken_laws{"partition: a vertex has no valid part"});
    CHECK(broken(stemma::parts_by_rule{2, [f = fickle()](id) { return f.flip() ? 1 : 0; }}) ==
          broken_laws{"partition: a graph is divided differently on repeated calls"});
}

TEST_CASE("laws: diagnostics", "[policy][laws]") {
    const std::vector<stemma::finding> findings{{"a.code", 1, "is odd"}};
    CHECK(stemma::broken_diagnostics_laws(stemma::as_found{}, findings).empty());
    CHECK(stemma::broken_diagnostics_laws(stemma::warnings_as_errors{}, findings).empty());
    CHECK(stemma::broken_diagnostics_laws(stemma::errors_only{}, findings).empty());
    CHECK(stemma::broken_diagnostics_laws(stemma::without_findings{{"a.*"}}, findings).empty());
    CHECK(stemma::broken_diagnostics_laws(fickle_diagnostics{}, findings).size() == 1);
    CHECK(stemma::broken_diagnostics_laws(unheard_diagnostics{}, findings) ==
          broken_laws{"diagnostics: a severity is not one of the enumerators"});
}

} // namespace test::tagging_laws
