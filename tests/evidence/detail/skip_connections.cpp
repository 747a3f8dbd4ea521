// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/skip_connections.hpp>

#include "../../catch.hpp"
#include "../../region_scene.hpp"

#include <stemma/core/id.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace test::evidence_detail_skip_connections {

using stemma::id;
using texts = std::vector<std::string>;

namespace {

/// Operators that may read an input of the model.
struct reading_operators : test::operator_scene {
    std::vector<bool> reads_input; ///< by operator, as far as set

    template <class Function>
    void for_each_data(std::size_t v, Function f) const {
        if (v < reads_input.size() && reads_input[v]) {
            f(id{0});
        }
    }
};

/// A chain of operators in which some skip what came before.
class chain {
public:
    /// Adds a reader of a module's weight and of the input of the model.
    chain& enter(const std::string& module) {
        last_ = scene_.add({}, module, "Conv");
        return read_input();
    }

    /// Adds an operator that joins the result with the input of the model.
    chain& join_input() {
        last_ = scene_.add({last_}, "", "Add", "join");
        return read_input();
    }

    /// Adds a reader of a module's weight.
    chain& call(const std::string& module) {
        last_ = scene_.add({last_}, module, "Conv");
        return *this;
    }

    /// Adds an operator that joins the result with that of `steps` operators before.
    chain& join(id steps, const char* type = "Add") {
        last_ = scene_.add({last_, last_ - steps}, "", type, "join");
        return *this;
    }

    /// Adds an operator without parameters.
    chain& step(const char* type) {
        last_ = scene_.add({last_}, "", type);
        return *this;
    }

    /// Makes a module an attention of torch.
    chain& attend(const std::string& module) {
        attending_.push_back(module);
        return *this;
    }

    /// The modules of the joins, in order; "none" if unknown.
    [[nodiscard]] texts joins() const {
        test::region_knowledge known(scene_);
        for (const auto& module : attending_) {
            known.facts.attends[known.at(module)] = true;
        }
        const auto module_of = stemma::detail::skip_connections(known.facts).run();
        texts modules;
        for (id v = 0; v < module_of.size(); ++v) {
            if (scene_.ops.name(v) == "join") {
                modules.push_back(known.path(module_of[v]));
            }
        }
        return modules;
    }

private:
    chain& read_input() {
        scene_.ops.reads_input.resize(last_ + 1);
        scene_.ops.reads_input[last_] = true;
        return *this;
    }

    test::region_scene<reading_operators> scene_;
    texts attending_;
    id last_ = scene_.add();
};

} // namespace

TEST_CASE("skip_connections: end in what they skip, or in the caller of a sequence") {
    const auto block = chain().call("a.conv").call("b.norm").call("b.conv").join(2).call("c.conv");
    CHECK(block.joins() == texts{"b"});
    CHECK(chain().call("a").call("b.net.0").call("b.net.2").join(2).call("b.out").joins() ==
          texts{"b"});
    CHECK(chain().call("a").call("b").join(1).joins() == texts{"none"}); // a single call
}

TEST_CASE("skip_connections: a caller adds the results of different modules itself") {
    const auto layer = chain()
                           .call("in")
                           .call("layer.attn.q")
                           .call("layer.attn.out")
                           .join(2)
                           .call("layer.mlp.fc1")
                           .call("layer.mlp.fc2")
                           .join(2)
                           .call("layer.norm");
    CHECK(layer.joins() == texts{"layer", "layer"});
    // Equal blocks add themselves.
    const auto blocks = chain()
                            .call("net.stem")
                            .call("net.one.conv1")
                            .call("net.one.conv2")
                            .join(2)
                            .call("net.two.conv1")
                            .call("net.two.conv2")
                            .join(2)
                            .call("net.head");
    CHECK(blocks.joins() == texts{"net.one", "net.two"});
}

TEST_CASE(
    "skip_connections: members of a list add alike, though only one names all that it skips") {
    const auto blocks = [](const std::string& first, const std::string& second) {
        chain net;
        net.call("stem");
        for (const auto& block : {first, second}) {
            block == first ? net.call(block + ".norm") : net.step("Norm");
            net.call(block + ".f.fc1").call(block + ".f.fc2").join(3);
            net.step("Norm").call(block + ".g.fc1").call(block + ".g.fc2").join(3);
        }
        return net.call("head").joins();
    };
    CHECK(blocks("net.0", "net.1") == texts{"net.0", "net.0", "net.1", "net.1"});
    CHECK(blocks("one", "two") == texts{"one", "one", "two.f", "two.g"});
}

TEST_CASE("skip_connections: a memory may be projected before what is skipped") {
    test::region_scene net;
    const auto memory = net.add({net.add({}, "memory")}, "layer.cross.k", "Gemm");
    const auto self = net.add({net.add({}, "stem")}, "layer.self.q", "Gemm");
    const auto x = net.add({self, net.add({self}, "layer.self.out", "Gemm")}, "", "Add");
    const auto query = net.add({x}, "layer.cross.q", "Gemm");
    const auto out = net.add({net.add({query, memory})}, "layer.cross.out", "Gemm");
    const auto sum = net.add({x, out}, "", "Add");
    const auto fc = net.add({sum}, "layer.mlp.fc1", "Gemm");
    net.add({sum, net.add({fc}, "layer.mlp.fc2", "Gemm")}, "", "Add");
    const test::region_knowledge known(net);
    CHECK(known.path(stemma::detail::skip_connections(known.facts).run()[sum]) == "layer");
}

TEST_CASE("skip_connections: a module around nothing else adds") {
    CHECK(chain().call("stem").call("block.f.a").call("block.f.b").join(2).call("head").joins() ==
          texts{"block"});
    // Members of a list are not called by it.
    CHECK(chain().call("stem").call("net.0.a").call("net.0.b").join(2).call("head").joins() ==
          texts{"net.0"});
}

TEST_CASE("skip_connections: begin at an input of the model, too") {
    const auto layers = chain().enter("net.0.a").call("net.0.b").join_input().call("net.1.a");
    CHECK(layers.joins() == texts{"net.0"});
    CHECK(chain().call("net.0.a").call("net.0.b").join_input().joins() == texts{"none"});
}

TEST_CASE("skip_connections: an attention of torch adds nothing, its caller does") {
    const auto layer = [] {
        return chain().call("in").call("net.0.q").call("net.0.out").join(2).call("head");
    };
    CHECK(layer().joins() == texts{"net.0"});
    CHECK(layer().attend("net.0").joins() == texts{""});
}

TEST_CASE("skip_connections: part of a value passes by a sequence, and is joined by its caller") {
    CHECK(chain()
              .call("stem")
              .call("block.branch.0")
              .call("block.branch.2")
              .join(2, "Concat")
              .joins() == texts{"block"});
    const auto joined_behind = [](const char* type) {
        return chain()
            .call("stem")
            .call("block.branch.0")
            .call("block.branch.2")
            .step(type)
            .join(3, "Concat")
            .joins();
    };
    CHECK(joined_behind("Relu") == texts{"block"});
    // Another module may have resized the result, to join it.
    CHECK(joined_behind("Resize") == texts{"none"});
    // A module that is no sequence may have joined these itself.
    CHECK(chain().call("stem").call("block.a").call("block.b").join(2, "Concat").joins() ==
          texts{"none"});
}

} // namespace test::evidence_detail_skip_connections
