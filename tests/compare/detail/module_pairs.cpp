// SPDX-License-Identifier: Apache-2.0
#include <stemma/compare/detail/module_pairs.hpp>

#include "../../catch.hpp"

#include <stemma/core/id.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/module_tree_builder.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace test::compare_detail_module_pairs {

namespace {

using stemma::id;
using stemma::no_id;

/// A tree with structure and weights of modules given by path.
struct scene {
    stemma::module_tree tree;
    stemma::detail::module_contents contents;

    explicit scene(const std::map<std::string, std::pair<std::uint64_t, std::uint64_t>>& modules) {
        stemma::module_tree_builder builder;
        for (const auto& [path, what] : modules) {
            builder.at_path(path);
        }
        tree = builder.build();
        const auto size = tree.size();
        contents.operators.assign(size, 1);
        contents.structure.assign(size, 0);
        contents.weights.assign(size, 0);
        for (auto m = static_cast<id>(size); m-- > 1;) {
            if (const auto own = modules.find(tree.path(m)); own != modules.end()) {
                contents.structure[m] += own->second.first;
                contents.weights[m] += own->second.second;
            }
            contents.structure[tree.index().parent(m)] += contents.structure[m];
            contents.weights[tree.index().parent(m)] += contents.weights[m];
        }
    }
};

/// Returns: by path of the first tree the path of the partner; "-" for none.
std::map<std::string, std::string> pair(const scene& a, const scene& b) {
    const auto pairs = stemma::detail::pair_modules(a.tree, a.contents, b.tree, b.contents);
    std::map<std::string, std::string> paths;
    for (id m = 1; m < a.tree.size(); ++m) {
        const auto n = pairs.to_second[m];
        paths[a.tree.path(m)] = n == no_id ? "-" : b.tree.path(n);
    }
    return paths;
}

using paths = std::map<std::string, std::string>;

} // namespace

TEST_CASE("pair_modules: modules with the same path are partners, whatever their contents") {
    const scene a({{"a", {1, 1}}, {"b", {2, 2}}});
    CHECK(pair(a, a) == paths{{"a", "a"}, {"b", "b"}});
    const scene b({{"a", {1, 7}}, {"b", {9, 9}}});
    CHECK(pair(a, b) == paths{{"a", "a"}, {"b", "b"}});
}

TEST_CASE("pair_modules: an inserted layer shifts the numbers of its successors") {
    const scene a({{"layer.0", {1, 1}}, {"layer.1", {1, 2}}, {"layer.2", {1, 3}}});
    const scene b(
        {{"layer.0", {1, 1}}, {"layer.1", {1, 9}}, {"layer.2", {1, 2}}, {"layer.3", {1, 3}}});
    CHECK(pair(a, b) == paths{{"layer", "layer"},
                              {"layer.0", "layer.0"},
                              {"layer.1", "layer.2"},
                              {"layer.2", "layer.3"}});
    CHECK(pair(b, a)["layer.1"] == "-");
}

TEST_CASE("pair_modules: a moved module is recognized by its contents, with its descendants") {
    const scene a({{"x.inner.deep", {3, 3}}, {"y.other", {4, 4}}});
    const scene b({{"x.left", {5, 5}}, {"y.inner.deep", {3, 3}}, {"y.other", {4, 4}}});
    const auto pairs = pair(a, b);
    CHECK(pairs.at("x.inner") == "y.inner");
    CHECK(pairs.at("x.inner.deep") == "y.inner.deep");
    CHECK(pairs.at("y.other") == "y.other");
}

TEST_CASE("pair_modules: a model may be wrapped") {
    const scene a({{"conv", {1, 0}}, {"head", {2, 0}}});
    const scene b({{"model.conv", {1, 0}}, {"model.head", {2, 0}}});
    CHECK(pair(a, b) == paths{{"conv", "model.conv"}, {"head", "model.head"}});
    CHECK(pair(b, a) == paths{{"model", ""}, {"model.conv", "conv"}, {"model.head", "head"}});
}

TEST_CASE("pair_modules: a renamed module is recognized by its contents") {
    const scene a({{"fc", {1, 5}}, {"act", {2, 0}}});
    const scene b({{"proj", {1, 5}}, {"act", {2, 0}}});
    CHECK(pair(a, b).at("fc") == "proj");
}

TEST_CASE("pair_modules: a module with another name is the one in a wrapper that has its name") {
    const scene a({{"head", {1, 1}}, {"other", {2, 2}}});
    const scene b({{"decoder.out.head", {1, 1}}, {"other", {2, 2}}});
    CHECK(pair(a, b) == paths{{"head", "decoder.out.head"}, {"other", "other"}});
    CHECK(pair(b, a) == paths{{"decoder", "-"},
                              {"decoder.out", "-"},
                              {"decoder.out.head", "head"},
                              {"other", "other"}});
    const scene renamed({{"decoder.out.tail", {1, 1}}, {"other", {2, 2}}});
    CHECK(pair(a, renamed) == paths{{"head", "decoder"}, {"other", "other"}});
}

TEST_CASE("pair_modules: a wrapper with another number is not another wrapper's child") {
    const scene a({{"0.0", {1, 1}}, {"1.0", {2, 2}}});
    const scene b({{"0.0", {3, 3}}, {"1.0", {1, 1}}, {"2.0", {2, 2}}});
    CHECK(pair(a, b) == paths{{"0", "1"}, {"0.0", "1.0"}, {"1", "2"}, {"1.0", "2.0"}});
}

} // namespace test::compare_detail_module_pairs
