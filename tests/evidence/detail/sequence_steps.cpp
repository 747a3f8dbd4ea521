// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/sequence_steps.hpp>

#include "../../catch.hpp"
#include "../../region_scene.hpp"
#include "../../weighted_operators.hpp"

#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/module_exits.hpp>
#include <stemma/evidence/detail/sequence_starts.hpp>
#include <stemma/model/detail/functional_units.hpp>

#include <string>
#include <utility>
#include <vector>

namespace test::evidence_detail_sequence_steps {

using stemma::id;
using stemma::no_id;
using texts = std::vector<std::string>;
using pairs = std::vector<std::pair<std::string, std::string>>;

namespace {

/// A chain of operators: a type, and the owner of a weight, `?` for an unknown one, or nothing.
struct chain : test::region_scene<test::weighted_operators> {
    explicit chain(const pairs& operators, texts all = {}, texts unread = {}) {
        for (const auto& [type, owner] : operators) {
            const auto inputs = modules.empty() ? std::vector<id>()
                                                : std::vector{static_cast<id>(modules.size() - 1)};
            const auto v = add(inputs, owner == "?" ? "" : owner, type, type);
            if (owner == "?") {
                ops.read_parameter(v, "onnx::" + type + "_9");
            }
        }
        others = std::move(all);
        folded = std::move(unread);
    }

    /// The operators of members without parameters: `sequence number: types`.
    [[nodiscard]] texts steps() const {
        const test::region_knowledge known(*this);
        std::vector<bool> free;
        for (const auto& module : modules) {
            free.push_back(module.empty());
        }
        const stemma::detail::functional_units units(known.facts, free);
        const stemma::detail::module_exits exits(known.facts, known.facts.owner);
        const stemma::detail::sequence_starts starts(known.facts, free, known.facts.owner, units,
                                                     exits);
        texts listed;
        for (const auto& step :
             stemma::detail::sequence_steps(known.facts, units, exits, starts).run()) {
            auto text = known.path(step.sequence) + " " +
                        (step.member == no_id ? "new " + std::to_string(step.number)
                                              : known.path(step.member)) +
                        ":";
            for (auto v : step.operators) {
                text += " " + std::string(ops.name(v));
            }
            listed.push_back(std::move(text));
        }
        return listed;
    }
};

} // namespace

TEST_CASE("sequence_steps: a gap in numbers is what comes between") {
    const chain one(pairs{{"Gemm", "net.0"}, {"Relu", ""}, {"Gemm", "net.2"}});
    CHECK(one.steps() == texts{"net new 1: Relu"});
    const chain two(pairs{{"Conv", "net.0"}, {"Relu", ""}, {"MaxPool", ""}, {"Conv", "net.3"}});
    CHECK(two.steps() == texts{"net new 1: Relu", "net new 2: MaxPool"});
    const chain gapped(pairs{{"Gemm", "net.0"}, {"Relu", ""}, {"Gemm", "net.2"}},
                       {"net.0", "net.1"});
    CHECK(gapped.steps() == texts{"net net.1: Relu"});
}

TEST_CASE("sequence_steps: a product with a lost weight may be inside a member that has members") {
    const chain leaves(pairs{{"Conv", "net.0"}, {"Conv", ""}, {"Conv", "net.2"}});
    CHECK(leaves.steps() == texts{"net new 1: Conv"});
    const chain behind(pairs{{"Conv", "net.0"}, {"Conv", ""}, {"Conv", "net.2.1"}});
    CHECK(behind.steps().empty());
    const chain before(pairs{{"Conv", "net.0.0"}, {"Conv", ""}, {"Conv", "net.2"}});
    CHECK(before.steps().empty());
    const chain other(pairs{{"Conv", "net.0"}, {"Relu", ""}, {"Conv", "net.2.1"}});
    CHECK(other.steps() == texts{"net new 1: Relu"});
}

TEST_CASE("sequence_steps: a module around a single other one may do what follows that") {
    const chain gated(pairs{{"Gemm", "net.0.proj"}, {"Gelu", ""}, {"Gemm", "net.2"}});
    CHECK(gated.steps().empty());
    const chain list(pairs{{"Gemm", "net.0.0"}, {"Gelu", ""}, {"Gemm", "net.2"}});
    CHECK(list.steps() == texts{"net new 1: Gelu"});
    const chain several(
        pairs{{"Gemm", "net.0.proj"}, {"Gemm", "net.0.out"}, {"Gelu", ""}, {"Gemm", "net.2"}});
    CHECK(several.steps() == texts{"net new 1: Gelu"});
}

TEST_CASE("sequence_steps: members that do nothing any more come last, except folded ones") {
    const chain dropout(pairs{{"Gemm", "net.0"}, {"Relu", ""}, {"Gemm", "net.3"}});
    CHECK(dropout.steps() == texts{"net new 1: Relu"});
    const chain folded(pairs{{"Conv", "net.0"}, {"Relu", ""}, {"Conv", "net.3"}});
    CHECK(folded.steps().empty());
}

TEST_CASE("sequence_steps: members with unread parameters were folded away") {
    const texts all{"net.0", "net.1", "net.2", "net.3"};
    const chain between(pairs{{"Conv", "net.0"}, {"Relu", ""}, {"Conv", "net.3"}}, all, {"net.1"});
    CHECK(between.steps() == texts{"net net.2: Relu"});
    const chain behind(pairs{{"Conv", "net.0"}, {"Relu", ""}, {"Conv", "out"}},
                       {"net.0", "net.1", "net.2"}, {"net.1"});
    CHECK(behind.steps() == texts{"net net.2: Relu"});
    const chain unknown(pairs{{"Conv", "net.0"}, {"Relu", ""}, {"Conv", "out"}},
                        {"net.0", "net.1", "net.2"});
    CHECK(unknown.steps().empty());
    const chain inside(pairs{{"Conv", "net.0.0"}, {"Clip", ""}, {"Conv", "net.1"}},
                       {"net.0.0", "net.0.1", "net.0.2"}, {"net.0.1"});
    CHECK(inside.steps().back() == "net.0 net.0.2: Clip");
    for (const auto& step : inside.steps()) {
        CHECK(step == "net.0 net.0.2: Clip");
    }
}

TEST_CASE("sequence_steps: a member whose parameters lost their names was not folded away") {
    const texts all{"net.0", "net.1", "net.2", "net.3"};
    const chain alone(pairs{{"Conv", "net.0"}, {"Mul", "?"}, {"Conv", "net.2"}}, all, {"net.1"});
    CHECK(alone.steps() == texts{"net net.1: Mul"});
    const chain both(pairs{{"Conv", "net.0"}, {"Mul", "?"}, {"Relu", ""}, {"Conv", "net.3"}}, all,
                     {"net.1"});
    CHECK(both.steps() == texts{"net net.1: Mul", "net net.2: Relu"});
    const chain only(pairs{{"Conv", "net.0"}, {"Sub", ""}, {"Conv", "net.2"}}, all, {"net.1"});
    CHECK(only.steps() == texts{"net net.1: Sub"});
}

TEST_CASE("sequence_steps: uniform members without gaps may be a mere list") {
    CHECK(chain(pairs{{"Gemm", "net.0"}, {"Relu", ""}, {"Gemm", "net.1"}}).steps().empty());
    CHECK(chain(pairs{{"Gemm", "net.0.a"}, {"Relu", ""}, {"Gemm", "net.1.a"}}).steps().empty());
    CHECK(chain(pairs{{"Gemm", "net.a"}, {"Relu", ""}, {"Gemm", "net.c"}}).steps().empty());
}

TEST_CASE("sequence_steps: with mixed members, one contains what follows it") {
    const chain list(pairs{{"Conv", "net.0.0"}, {"Clip", ""}, {"Conv", "net.1"}});
    CHECK(list.steps() == texts{"net.0 new 1: Clip"});
    const chain block(pairs{{"Conv", "net.0.conv"}, {"Clip", ""}, {"Conv", "net.1"}});
    CHECK(block.steps() == texts{"net net.0: Clip"});
    const chain shifted(pairs{{"Conv", "net.0.conv"}, {"Add", ""}, {"Conv", "net.1"}});
    CHECK(shifted.steps().empty()); // the caller may do that
}

TEST_CASE("sequence_steps: lists in a sequence contain what does not follow the last one") {
    pairs nodes{{"Conv", "net.0.0"}, {"Norm", "net.0.1"}, {"Relu", ""},
                {"Conv", "net.1.0"}, {"Norm", "net.1.1"}, {"Conv", "out"}};
    CHECK(chain(nodes).steps() == texts{"net.0 new 2: Relu"});
    nodes.insert(nodes.end() - 1, {"Relu", ""}); // a loop over a list does so, too
    CHECK(chain(nodes).steps().empty());
    nodes[2] = {"Pad", ""};
    CHECK(chain(nodes).steps().empty());
}

TEST_CASE("sequence_steps: a sequence ends as it went on, where that is no accident") {
    const chain again(pairs{{"Conv", "net.0"},
                            {"Norm", "net.1"},
                            {"Relu", ""},
                            {"Conv", "net.3"},
                            {"Norm", "net.4"},
                            {"Relu", ""},
                            {"Conv", "out"}});
    CHECK(again.steps() == texts{"net new 2: Relu", "net new 5: Relu"});
    const chain open(
        pairs{{"Gemm", "net.0"}, {"Relu", ""}, {"Gemm", "net.2"}, {"Relu", ""}, {"Gemm", "out"}});
    CHECK(open.steps() == texts{"net new 1: Relu"});
}

TEST_CASE("sequence_steps: sequences with equal parameters end alike") {
    pairs nodes;
    for (const std::string net : {"a", "b"}) {
        nodes.insert(nodes.end(), {{"Conv", net + ".0.0"},
                                   {"Norm", net + ".0.1"},
                                   {"Relu", ""},
                                   {"Conv", net + ".1.0"},
                                   {"Norm", net + ".1.1"}});
    }
    nodes.insert(nodes.end(), {{"Conv", "c.0"}, {"Norm", "c.1"}, {"Relu", ""}, {"Conv", "out"}});
    CHECK(chain(nodes).steps() == texts{"a.0 new 2: Relu", "b.0 new 2: Relu", "c new 2: Relu"});
}

TEST_CASE("sequence_steps: a sequence starts with what leads to its first parameters") {
    const chain norm(
        pairs{{"Conv", "stem"}, {"InstanceNormalization", ""}, {"Relu", ""}, {"Conv", "net.2"}});
    CHECK(norm.steps() == texts{"net new 0: InstanceNormalization", "net new 1: Relu"});
    const chain drop(pairs{{"Conv", "stem"}, {"Relu", ""}, {"Conv", "net.1"}});
    CHECK(drop.steps().empty());
}

TEST_CASE("has_open_sequences: finds gaps in numbers, and lists in lists") {
    const auto open = [](const chain& model) {
        const test::region_knowledge known(model);
        return stemma::detail::has_open_sequences(model.ops, known.tree, known.owners);
    };
    CHECK(open(chain(pairs{{"Gemm", "net.0"}, {"Gemm", "net.2"}})));
    CHECK(open(chain(pairs{{"Gemm", "net.0.0"}, {"Gemm", "net.1"}})));
    CHECK_FALSE(open(chain(pairs{{"Gemm", "net.0"}, {"Gemm", "net.1"}})));
    CHECK_FALSE(open(chain(pairs{{"Gemm", "net.a"}, {"Gemm", "net.c"}})));
    CHECK(open(chain(pairs{{"Gemm", "0"}, {"Gemm", "1"}}))); // something may follow
}

} // namespace test::evidence_detail_sequence_steps
