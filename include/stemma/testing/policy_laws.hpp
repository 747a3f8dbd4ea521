// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TESTING_POLICY_LAWS_HPP
#define STEMMA_TESTING_POLICY_LAWS_HPP

#include <stemma/algorithm/name_modules.hpp>
#include <stemma/algorithm/propagate.hpp>
#include <stemma/core/id.hpp>
#include <stemma/evidence/evidence_context.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>
#include <stemma/model/tag_table.hpp>
#include <stemma/policy/carrier.hpp>
#include <stemma/policy/cost.hpp>
#include <stemma/policy/cut.hpp>
#include <stemma/policy/evidence.hpp>
#include <stemma/policy/lexicon.hpp>
#include <stemma/policy/naming.hpp>
#include <stemma/policy/propagation.hpp>
#include <stemma/policy/resolution.hpp>
#include <stemma/policy/selection.hpp>
#include <stemma/policy/visibility.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma {

/// The laws of a role that a policy breaks, in words; empty when it keeps them. For tests of
/// policies: what a concept requires and no compiler can see, tried on one model.
using broken_laws = std::vector<std::string>;

namespace detail {

class law_book {
public:
    void demand(bool holds, const std::string& law) {
        if (!holds && said_.insert(law).second) {
            broken_.push_back(law);
        }
    }
    [[nodiscard]] broken_laws broken() && { return std::move(broken_); }

private:
    std::set<std::string> said_;
    broken_laws broken_;
};

[[nodiscard]] inline bool equal(const attribution& a, const attribution& b) {
    return a.module == b.module && a.call == b.call && a.confidence == b.confidence &&
           a.source == b.source && a.conflict == b.conflict;
}

[[nodiscard]] inline bool is_share(float x) {
    return x >= 0 && x <= 1;
}

/// Whether every `/` of a segment stands behind a `\`.
[[nodiscard]] inline bool is_one_segment(std::string_view segment) {
    for (std::size_t i = 0; i < segment.size(); ++i) {
        if (segment[i] == '\\') {
            ++i;
        } else if (segment[i] == '/') {
            return false;
        }
    }
    return true;
}

} // namespace detail

/// Complexity: three questions for each module.
template <module_view Modules, selection_policy<Modules> Policy>
[[nodiscard]] broken_laws find_broken_laws(const Policy& policy, const Modules& modules) {
    detail::law_book laws;
    const auto copy = policy;
    std::vector<bool> first;
    for (id m = 0; m < modules.index().size(); ++m) {
        first.push_back(policy.selects(modules, m));
    }
    for (auto m = static_cast<id>(first.size()); m-- > 0;) {
        laws.demand(policy.selects(modules, m) == first[m], "the same answer for the same module");
        laws.demand(copy.selects(modules, m) == first[m], "a copy answers like the original");
    }
    return std::move(laws).broken();
}

/// `select` is the selection that the tags are for.
/// Complexity: that of the policy, and of sorting the tags.
template <module_view Modules, naming_policy<Modules> Policy,
          selection_policy<Modules> Select = all_modules>
[[nodiscard]] broken_laws find_broken_laws(const Policy& policy, const Modules& modules,
                                           const Select& select = {}) {
    detail::law_book laws;
    const auto tags = name_modules(modules, select, policy);
    const auto again = name_modules(modules, select, policy);
    std::set<std::string> texts;
    for (id m = 0; m < modules.index().size(); ++m) {
        if (!tags.is_selected(m)) {
            continue;
        }
        laws.demand(detail::is_one_segment(tags.segment(m)), "no segment holds a bare '/'");
        laws.demand(!tags.segment(m).empty(), "every selected module gets a segment");
        laws.demand(texts.insert(tags.text(m)).second, "a tag names exactly one module");
        laws.demand(tags.segment(m) == again.segment(m), "the same names every time");
    }
    return std::move(laws).broken();
}

/// Complexity: two questions for each operator.
template <operator_view Ops, module_view Modules, evidence_policy<Ops, Modules> Policy>
[[nodiscard]] broken_laws find_broken_laws(const Policy& policy, const Ops& ops,
                                           const Modules& modules) {
    detail::law_book laws;
    evidence_context<Ops, Modules> context(ops, modules);
    const auto prepared = policy.prepare(context);
    const auto claims_of = [&](operator_t<Ops> v) {
        std::vector<claim> claims;
        prepared.for_each_claim(v, [&](const claim& made) { claims.push_back(made); });
        return claims;
    };
    std::set<provenance> sources;
    for (auto [it, last] = vertices(ops.graph()); it != last; ++it) {
        const auto claims = claims_of(*it);
        laws.demand(claims.size() == claims_of(*it).size(), "the same claims at every call");
        for (const auto& made : claims) {
            laws.demand(made.module < modules.index().size(), "modules are ranks in the tree");
            laws.demand(detail::is_share(made.confidence), "confidences lie between 0 and 1");
            laws.demand(is_evidence(made.source), "claims name a provenance of evidence");
            sources.insert(made.source);
        }
    }
    laws.demand(sources.size() <= 1, "all claims of one source name the same provenance");
    return std::move(laws).broken();
}

/// Tries all sets of up to three claims about a few modules of a tree.
/// Complexity: some thousand questions.
template <resolution_policy Policy>
[[nodiscard]] broken_laws find_broken_laws(const Policy& policy, const tree_index& modules) {
    detail::law_book laws;
    const auto try_claims = [&](std::span<const claim> claims) {
        const auto result = policy.resolve(modules, claims);
        laws.demand(detail::equal(result, policy.resolve(modules, claims)),
                    "the same result every time");
        if (result.module == no_id) {
            return;
        }
        laws.demand(result.module < modules.size(), "the result is a module of the tree");
        laws.demand(detail::is_share(result.confidence), "the confidence lies between 0 and 1");
        bool named = false;
        for (const auto& one : claims) {
            named = named || one.source == result.source;
        }
        laws.demand(named, "the result names a source that made a claim");
    };
    std::vector<claim> some;
    for (const auto source : {provenance::metadata, provenance::scope, provenance::parameter}) {
        for (id m = 0; m < modules.size() && m < 6; ++m) {
            some.push_back({m, no_id, 0.9F, source, m % 2 == 0});
        }
    }
    for (std::size_t a = 0; a < some.size(); ++a) {
        try_claims(std::array{some[a]});
        for (std::size_t b = a; b < some.size(); ++b) {
            try_claims(std::array{some[a], some[b]});
            for (std::size_t c = b; c < some.size(); c += 5) {
                try_claims(std::array{some[a], some[b], some[c]});
            }
        }
    }
    return std::move(laws).broken();
}

/// Tries a policy on the operators given, with evidence for every second, third, ... of them.
/// Complexity: a few times that of the policy.
template <operator_view Ops, propagation_policy<Ops> Policy>
[[nodiscard]] broken_laws find_broken_laws(const Policy& policy, const Ops& ops,
                                           const tree_index& modules) {
    detail::law_book laws;
    const auto count = num_vertices(ops.graph());
    for (std::size_t step = 1; step <= 7; ++step) {
        std::vector<attribution> known(count);
        for (std::size_t v = 0; v < count; v += step) {
            const auto module = static_cast<id>((v * 7 + step) % modules.size());
            known[v] = {module, no_id, 0.9F, provenance::scope, false};
        }
        auto result = known;
        auto again = known;
        propagate(ops, modules, result, policy);
        propagate(ops, modules, again, policy);
        for (std::size_t v = 0; v < count; ++v) {
            laws.demand(detail::equal(result[v], again[v]), "the same result every time");
            if (known[v].module != no_id) {
                laws.demand(detail::equal(result[v], known[v]), "evidence stays as it is");
                continue;
            }
            laws.demand(result[v].module < modules.size(),
                        "every operator gets a module of the tree");
            laws.demand(!is_evidence(result[v].source),
                        "what is inferred does not pass for evidence");
            laws.demand(detail::is_share(result[v].confidence), "confidences lie between 0 and 1");
        }
    }
    return std::move(laws).broken();
}

namespace detail {

/// Notes what a carrier writes, and what of it could not be found again.
class law_sink {
public:
    explicit law_sink(law_book& laws) : laws_(&laws) {}

    void metadata(std::string_view key, std::string_view value) {
        laws_->demand(key.starts_with(key_prefix), "metadata keys start with pkg.stemma.");
        note(key, value);
    }
    void attribute(std::string_view name, std::string_view value) {
        check_name(name);
        note(name, value);
    }
    void attribute(std::string_view name, std::span<const std::string> values) {
        check_name(name);
        for (const auto& value : values) {
            note(name, value);
        }
    }
    void doc_line(std::string_view line) {
        laws_->demand(line.starts_with(doc_line_mark),
                      "a line of the doc_string starts with its mark");
        laws_->demand(line.find('\n') == line.npos, "a line of the doc_string is one line");
        note("doc", line);
    }
    void name_space(std::string_view text) { note("namespace", text); }

    [[nodiscard]] const std::string& written() const { return written_; }

private:
    void check_name(std::string_view name) {
        laws_->demand(name == source_module_attribute || name == hierarchy_tags_attribute,
                      "attributes are source_module and hierarchy_tags");
    }
    void note(std::string_view key, std::string_view value) {
        written_.append(key).append("=").append(value).append("\n");
    }

    law_book* laws_;
    std::string written_;
};

/// Names with everything in them that is special somewhere.
inline constexpr std::array<std::string_view, 10> awkward_names{
    "", "a", "a_b", "a__b", "a.b", "a/b", "/a/b", "1a", "\xc3\xa4", "a\nb"};

} // namespace detail

/// Complexity: a few questions.
template <carrier_policy Policy>
[[nodiscard]] broken_laws find_broken_laws(const Policy& policy) {
    detail::law_book laws;
    const std::vector<std::string> all{"/Net/A", "/Net/B"};
    for (const operator_tags& tags :
         {operator_tags{"/Net", "", {}, ""}, operator_tags{"/Net/A.0", "a.0", {}, ""},
          operator_tags{"/Net/\"\\\n", "x", {}, ""},
          operator_tags{"/Net/A", "a", all, R"(["/Net/A", "/Net/B"])"}}) {
        detail::law_sink first(laws);
        detail::law_sink second(laws);
        policy.write(tags, first);
        policy.write(tags, second);
        laws.demand(first.written() == second.written(), "the same for equal tags");
    }
    return std::move(laws).broken();
}

/// Complexity: a few questions.
template <cut_policy Policy>
[[nodiscard]] broken_laws find_broken_laws(const Policy& policy) {
    detail::law_book laws;
    laws.demand(policy.pulls(dependence::constant), "constants are pulled in");
    if (policy.pulls(dependence::data)) {
        laws.demand(policy.pulls(dependence::weight) && policy.pulls(dependence::shape),
                    "whoever pulls in data pulls in everything");
    }
    std::map<std::string, std::string_view> names;
    for (const auto name : detail::awkward_names) {
        const auto made = policy.boundary_name(name);
        laws.demand(names.emplace(made, name).second, "different names stay different");
        laws.demand(made == policy.boundary_name(name), "the same name every time");
    }
    return std::move(laws).broken();
}

/// Complexity: a few questions.
template <cost_policy Policy>
[[nodiscard]] broken_laws find_broken_laws(const Policy& policy) {
    detail::law_book laws;
    for (const auto& load :
         {operator_load{}, operator_load{1, 1000, 4000, 100},
          operator_load{7, std::uint64_t{1} << 36U, std::uint64_t{1} << 38U, 1}}) {
        const std::uint64_t cost = policy.cost(load);
        laws.demand(cost == policy.cost(load), "the same cost every time");
        laws.demand(cost < std::uint64_t{1} << 43U,
                    "a million of such operators cost less than 2^63");
    }
    return std::move(laws).broken();
}

/// Complexity: a few hundred questions.
template <lexicon_policy Policy>
[[nodiscard]] broken_laws find_broken_laws(const Policy& policy) {
    detail::law_book laws;
    for (const std::string_view captured : {"aten.linear.default", "torch.add", "relu", "", "?"}) {
        laws.demand(policy.trail_of(captured) == policy.trail_of(captured),
                    "the same answer every time");
        for (const std::string_view type : {"MatMul", "Add", "Relu", "Constant", ""}) {
            laws.demand(policy.correspond(captured, type) == policy.correspond(captured, type),
                        "the same answer every time");
        }
    }
    return std::move(laws).broken();
}

/// Complexity: two questions for each operator.
template <operator_view Ops, visibility_policy<Ops> Policy>
[[nodiscard]] broken_laws find_broken_laws(const Policy& policy, const Ops& ops) {
    detail::law_book laws;
    const auto copy = policy;
    for (auto [it, last] = vertices(ops.graph()); it != last; ++it) {
        const bool shown = policy.shows(ops, *it);
        laws.demand(policy.shows(ops, *it) == shown && copy.shows(ops, *it) == shown,
                    "the same answer for the same operator");
    }
    return std::move(laws).broken();
}

} // namespace stemma

#endif // STEMMA_TESTING_POLICY_LAWS_HPP
