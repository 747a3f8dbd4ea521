// SPDX-License-Identifier: Apache-2.0
// The libtorch adapter, compared with what Python recorded of the same models.
#include "../examples/torch/archive.hpp"
#include "../examples/torch/recorder.hpp"
#include "../examples/torch/write_capture.hpp"

#include "catch.hpp"
#include "scratch_folder.hpp"

#include <stemma/capture/captures.hpp>
#include <stemma/capture/detail/capture_reader.hpp>
#include <stemma/capture/detail/captured_claims.hpp>
#include <stemma/capture/detail/oracle.hpp>
#include <stemma/evidence/given_claims.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/io/mapped_file.hpp>
#include <stemma/model/accuracy.hpp>
#include <stemma/model/detail/stated_module.hpp>
#include <stemma/onnx/onnx_operators.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/open/attributed_model.hpp>

#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/linear.h>
#include <torch/script.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

// The code in docs/capture.md; the tests' namespace has a name of the adapter's.
namespace {

struct shown_netImpl : torch::nn::Module {
    torch::Tensor forward(torch::Tensor x) {
        const torch_capture::module_scope scope(*this);
        return x;
    }
};
TORCH_MODULE(shown_net);

[[maybe_unused]] void capture_an_archive() {
    const auto captured = torch_capture::from_archive(torch::jit::load("model.pt"));
    const stemma::module_tree& modules = captured.modules; // with the graphs that are in it
    const stemma::captured_operations& operations = captured.operations; // for stemma::align
    static_cast<void>(modules);
    static_cast<void>(operations);
}

[[maybe_unused]] void capture_a_run(shown_net net, const torch::Tensor& input) {
    torch_capture::recorder record(*net);
    const auto captured = record.run([&] { net->forward(input); });
    static_cast<void>(captured);
}

} // namespace

namespace test::torch_capture {

namespace adapter = ::torch_capture;

namespace fs = std::filesystem;
using stemma::id;
using stemma::no_id;

namespace {

/// The fixtures with an archive.
std::vector<fs::path> archives() {
    std::vector<fs::path> paths;
    for (const auto& entry : fs::directory_iterator(fs::path(STEMMA_TEST_DATA) / "fixtures")) {
        if (fs::exists(entry.path() / "model.pt")) {
            paths.push_back(entry.path());
        }
    }
    return paths;
}

adapter::captured_model capture(const fs::path& folder) {
    return adapter::from_archive(torch::jit::load((folder / "model.pt").string()));
}

stemma::detail::capture_reader read(const std::string& text) {
    stemma::detail::capture_reader reader;
    reader.read(text, "capture");
    return reader;
}

std::string write(const adapter::captured_model& captured) {
    stemma::string_sink sink;
    adapter::write_capture(captured, sink);
    return sink.text;
}

using tensors = std::map<std::string, std::vector<std::int64_t>>;
using described = std::map<std::string, std::tuple<std::string, std::string, id, tensors, tensors>>;

/// Everything about the modules, by path.
described describe(const stemma::module_tree& modules) {
    described by_path;
    for (id m = 0; m < modules.size(); ++m) {
        tensors parameters;
        for (std::size_t i = 0; i < modules.parameter_count(m); ++i) {
            const auto parameter = modules.parameter(m, i);
            parameters[std::string(parameter.name)] = {parameter.shape.begin(),
                                                       parameter.shape.end()};
        }
        tensors buffers;
        for (std::size_t i = 0; i < modules.buffer_count(m); ++i) {
            const auto buffer = modules.buffer(m, i);
            buffers[std::string(buffer.name)] = {buffer.shape.begin(), buffer.shape.end()};
        }
        by_path[modules.path(m)] = {std::string(modules.class_name(m)),
                                    std::string(modules.qualified_class(m)), modules.calls(m),
                                    parameters, buffers};
    }
    return by_path;
}

std::map<std::string, std::string> describe_aliases(const stemma::module_tree& modules) {
    std::map<std::string, std::string> aliases;
    for (const auto& alias : modules.aliases()) {
        aliases[alias.path] = modules.path(alias.module);
    }
    return aliases;
}

struct described_operation {
    std::string name;
    std::string module;
    id call;
    bool varies;
    std::vector<std::string> parameters;
    std::vector<id> sources;

    bool operator==(const described_operation&) const = default;
};

std::vector<described_operation> describe(const adapter::captured_model& captured) {
    std::vector<described_operation> list;
    const auto& operations = captured.operations;
    for (id i = 0; i < operations.size(); ++i) {
        described_operation each{std::string(operations.names()[operations.names_of(i).front()]),
                                 captured.modules.path(operations[i].module),
                                 operations[i].call,
                                 operations[i].varies,
                                 {},
                                 {}};
        for (const auto& parameter : operations.parameters_of(i)) {
            each.parameters.emplace_back(operations.parameter_names()[parameter.name]);
        }
        each.sources = {operations.sources_of(i).begin(), operations.sources_of(i).end()};
        list.push_back(std::move(each));
    }
    return list;
}

/// Two layers with an activation between them, which is not hooked.
struct pair_of_layersImpl : torch::nn::Module {
    pair_of_layersImpl()
        : first(register_module("first", torch::nn::Linear(4, 4)))
        , act(register_module("act", torch::nn::ReLU()))
        , second(register_module("second", torch::nn::Linear(4, 4))) {
        scale = register_parameter("scale", torch::ones({4}));
    }
    torch::Tensor forward(torch::Tensor x) {
        const adapter::module_scope scope(*this);
        return second(act(first(x))) * scale;
    }
    torch::nn::Linear first;
    torch::nn::ReLU act;
    torch::nn::Linear second;
    torch::Tensor scale;
};
TORCH_MODULE(pair_of_layers);

/// A block that runs twice under two names.
struct netImpl : torch::nn::Module {
    netImpl()
        : block(register_module("block", pair_of_layers()))
        , other(register_module("other", pair_of_layers()))
        , again(register_module("again", block)) {}
    torch::Tensor forward(torch::Tensor x) {
        x = torch::tanh(again(block(x)));
        if (fails) {
            throw std::runtime_error("no");
        }
        return other(x) + x;
    }
    pair_of_layers block;
    pair_of_layers other;
    pair_of_layers again;
    bool fails = false;
};

} // namespace

TEST_CASE("torch_capture: an archive has the modules recorded in Python", "[torch]") {
    for (const auto& folder : archives()) {
        INFO(folder.string());
        const stemma::mapped_file file((folder / "modules.json").string());
        stemma::detail::capture_reader reader;
        reader.read(file.bytes(), file.path());
        const auto expected = reader.tree();
        const auto captured = capture(folder);
        const auto description = describe(captured.modules);
        const auto truth = describe(expected);
        CHECK(description.size() == truth.size());
        for (const auto& [path, module] : truth) {
            INFO(path);
            REQUIRE(description.count(path) == 1);
            const auto& [name, qualified, calls, parameters, buffers] = description.at(path);
            CHECK(name == std::get<0>(module));
            if (!std::get<1>(module).starts_with("torch.jit.")) { // all that Python says of scripts
                CHECK(qualified == std::get<1>(module));
            }
            CHECK((parameters == std::get<3>(module)));
            CHECK((buffers == std::get<4>(module)));
        }
        CHECK((describe_aliases(captured.modules) == describe_aliases(expected)));
    }
}

TEST_CASE("torch_capture: the number of runs is unknown for modules an archive never calls",
          "[torch]") {
    // as the layers of a Transformer that computes them all in one operator
    torch::jit::Module layer("Layer");
    layer.register_parameter("weight", torch::ones({4, 4}), false);
    layer.define("def forward(self, x):\n    return torch.matmul(x, self.weight)\n");
    torch::jit::Module root("Net");
    root.register_module("slow", layer);
    root.register_module("fast", torch::jit::Module("Layer2"));
    root.define("def forward(self, x):\n    return self.slow.forward(self.slow.forward(x))\n");
    const auto all = describe(adapter::from_archive(root).modules);
    CHECK(std::get<2>(all.at("slow")) == 2);
    CHECK(std::get<2>(all.at("fast")) == no_id);
}

TEST_CASE("torch_capture: a module with several names has the first one", "[torch]") {
    // Tracing copies it for each name, calls the last, and passes its tensors to it as arguments.
    torch::jit::Module inner("Inner");
    inner.register_parameter("weight", torch::ones({4, 4}), false);
    inner.register_parameter("bias", torch::ones({4}), false);
    inner.define("def forward(self, w, b, x):\n    return torch.matmul(x, w) + b\n");
    torch::jit::Module caller("Caller");
    caller.register_module("inner", inner.copy());
    caller.define("def forward(self, w, b, x):\n    return self.inner.forward(w, b, x)\n");
    torch::jit::Module root("Net");
    root.register_module("shared", inner.copy());
    root.register_module("caller", caller);
    SECTION("calls go to the last") {
        root.define("def forward(self, x):\n"
                    "    w, b = self.shared.weight, self.shared.bias\n"
                    "    x = self.caller.forward(w, b, x)\n"
                    "    return self.caller.inner.forward(w, b, x)\n");
    }
    SECTION("calls go to each") {
        root.define("def forward(self, x):\n"
                    "    w, b = self.shared.weight, self.shared.bias\n"
                    "    return self.shared.forward(w, b, self.caller.forward(w, b, x))\n");
    }
    const auto captured = adapter::from_archive(root);
    CHECK((describe_aliases(captured.modules) ==
           std::map<std::string, std::string>{{"caller.inner", "shared"}}));
    const auto all = describe(captured.modules);
    CHECK(all.size() == 3);
    CHECK(std::get<2>(all.at("shared")) == 2);
    const auto description = describe(captured);
    REQUIRE(description.size() == 4);
    for (std::size_t i = 0; i < description.size(); ++i) {
        CHECK(description[i].module == "shared");
        CHECK(description[i].call == i / 2);
    }
    CHECK(description[0].parameters == std::vector<std::string>{"shared.weight"});
}

TEST_CASE("torch_capture: modules that share their only tensor but both run stay separate",
          "[torch]") {
    torch::jit::Module table("Table");
    table.register_parameter("weight", torch::ones({4, 4}), false);
    table.define("def forward(self, x):\n    return torch.matmul(x, self.weight)\n");
    torch::jit::Module root("Net");
    root.register_module("unused", table.copy());
    root.register_module("first", table.copy());
    root.register_module("second", table.copy());
    root.define("def forward(self, x):\n    return self.second.forward(self.first.forward(x))\n");
    const auto captured = adapter::from_archive(root);
    CHECK(captured.modules.aliases().empty());
    const auto description = describe(captured);
    REQUIRE(description.size() == 2);
    CHECK(description[0].module == "first");
    CHECK(description[1].module == "second");
}

TEST_CASE("torch_capture: a layer's operators are in the module whose weights they read",
          "[torch]") {
    std::size_t count = 0;
    for (const auto& folder : archives()) {
        const auto captured = capture(folder);
        std::set<std::string> shared; // are called by their first path
        for (const auto& group : captured.modules.shared_parameters()) {
            shared.insert(group.begin(), group.end());
        }
        for (const auto& each : describe(captured)) {
            for (const auto& name : each.parameters) {
                if (each.name == "aten::linear" && shared.count(name) == 0) {
                    INFO(folder.string());
                    // a module above may use the weights as its own
                    CHECK(name.starts_with(each.module));
                    count += each.module == name.substr(0, name.rfind('.')) ? 1U : 0U;
                }
            }
        }
    }
    CHECK(count > 250);
}

TEST_CASE("torch_capture: the file agrees with the capture in memory", "[torch]") {
    for (const auto& folder : archives()) {
        INFO(folder.string());
        const auto captured = capture(folder);
        auto reader = read(write(captured));
        adapter::captured_model again{reader.tree(), {}};
        again.operations = reader.torchscript(again.modules);
        CHECK((describe(again.modules) == describe(captured.modules)));
        CHECK((describe_aliases(again.modules) == describe_aliases(captured.modules)));
        CHECK(again.operations.faults().empty());
        CHECK((describe(again) == describe(captured)));
        CHECK(write(again) == write(captured));
    }
}

TEST_CASE("torch_capture: unnamed nodes get their modules from an archive", "[torch]") {
    test::scratch_folder scratch;
    stemma::accuracy pooled;
    std::size_t sure = 0;
    std::size_t sure_right = 0;
    for (const auto& folder : archives()) {
        INFO(folder.string());
        const auto path = (fs::path(scratch.path()) / "capture.json").string();
        std::ofstream(path) << write(capture(folder));
        const stemma::mapped_file file((folder / "truth.json").string());
        const stemma::detail::oracle_file truth(file.bytes(), file.path());
        for (const char* name : {"model.onnx", "unnamed.onnx", "anonymous.onnx"}) {
            stemma::attribution_options options;
            options.captures = stemma::captures({path});
            if (std::string_view(name) != "model.onnx") {
                options.sources = std::vector{stemma::provenance::torchscript};
            }
            stemma::attributed_model opened((folder / name).string(), options);
            stemma::accuracy own;
            for (id node = 0; node < opened.model().node_count(); ++node) {
                if (const auto module = truth.module_of(opened.model().name(node))) {
                    const auto& attribution = opened.tags().attributions[node];
                    const auto how =
                        stemma::relate(opened.modules().path(attribution.module), *module);
                    own.add(how);
                    sure += attribution.confidence >= 0.9F ? 1U : 0U;
                    sure_right +=
                        attribution.confidence >= 0.9F && how == stemma::relation::exact ? 1U : 0U;
                }
            }
            INFO(name);
            CHECK((own.exact * 100 >= own.total() * 95 || own.total() - own.exact <= 1));
            CHECK(own.contaminated <= 1);
            pooled += own;
        }
    }
    CHECK(pooled.total() > 3000);
    CHECK(pooled.exact * 1000 >= pooled.total() * 995);
    CHECK(sure * 100 >= pooled.total() * 85);
    CHECK(sure_right * 100 >= sure * 99);
}

TEST_CASE("torch_capture: an archive makes no file worse", "[torch]") {
    test::scratch_folder scratch;
    const auto path = (fs::path(scratch.path()) / "capture.json").string();
    for (const auto& folder : archives()) {
        std::ofstream(path) << write(capture(folder));
        const stemma::mapped_file file((folder / "truth.json").string());
        const stemma::detail::oracle_file truth(file.bytes(), file.path());
        const auto measure = [&](const fs::path& model, const std::vector<std::string>& captures) {
            stemma::attribution_options options;
            options.captures = stemma::captures(captures);
            const stemma::attributed_model opened(model.string(), options);
            stemma::accuracy result;
            for (id node = 0; node < opened.model().node_count(); ++node) {
                if (const auto module = truth.module_of(opened.model().name(node))) {
                    const auto chosen = opened.tags().attributions[node].module;
                    result.add(stemma::relate(opened.modules().path(chosen), *module));
                }
            }
            return result;
        };
        for (const auto& entry : fs::directory_iterator(folder)) {
            if (entry.path().extension() == ".onnx") {
                INFO(entry.path().string());
                const auto alone = measure(entry.path(), {});
                const auto with = measure(entry.path(), {path});
                CHECK(with.exact >= alone.exact);
                CHECK(with.contaminated <= alone.contaminated);
            }
        }
    }
}

TEST_CASE("torch_capture: an archive aligns with a model in one process", "[torch]") {
    const auto folder = fs::path(STEMMA_TEST_DATA) / "fixtures" / "two_tower";
    const auto captured = capture(folder);
    const stemma::mapped_file file((folder / "unnamed.onnx").string());
    const stemma::wire_model model(file.bytes(), file.path());
    const stemma::onnx_operators<stemma::wire_model> ops(model);
    stemma::evidence_context context(ops, captured.modules);
    stemma::detail::captured_claims finder(model, ops, captured.modules, context.owners().mapping);
    finder.align_operations(captured.operations, stemma::provenance::torchscript,
                            std::vector<stemma::detail::stated_module>(model.node_count()));
    const auto claims = finder.finish();
    REQUIRE(claims.claims.size() == 1);
    CHECK(claims.notes.empty());
    const stemma::mapped_file truth_file((folder / "truth.json").string());
    const stemma::detail::oracle_file truth(truth_file.bytes(), truth_file.path());
    std::size_t right = 0;
    for (id node = 0; node < model.node_count(); ++node) {
        const auto& claim = claims.claims.front().of[node];
        const auto module = truth.module_of(model.name(node));
        if (claim.module != no_id && module) {
            CHECK(captured.modules.path(claim.module) == *module);
            ++right;
        }
    }
    CHECK(right * 10 >= model.node_count() * 6); // the rest are constants
}

TEST_CASE("torch_capture: classes are demangled", "[torch]") {
    using adapter::detail::without_mangling;
    CHECK(without_mangling("__torch__.app.Net") == "app.Net");
    CHECK(without_mangling("__torch__.app.___torch_mangle_12.Net") == "app.Net");
    CHECK(without_mangling("__torch__.___torch_mangle_0.app.___torch_mangle_3.Net") == "app.Net");
    CHECK(without_mangling("app.Net") == "app.Net");
    CHECK(adapter::detail::python_class("torch::nn::LinearImpl") == "torch.nn.Linear");
    CHECK(adapter::detail::python_class("app::Net") == "app.Net");
}

TEST_CASE("torch_capture: a C++ model is recorded while it runs", "[torch]") {
    netImpl net;
    const auto input = torch::rand({2, 4});
    adapter::recorder record(net);
    const auto captured = record.run([&] { net.forward(input); });
    const auto& modules = captured.modules;
    CHECK((describe_aliases(modules) ==
           std::map<std::string, std::string>{{"again", "block"},
                                              {"again.first", "block.first"},
                                              {"again.act", "block.act"},
                                              {"again.second", "block.second"}}));
    const auto all = describe(modules);
    CHECK(std::get<1>(all.at("block.first")) == "torch.nn.Linear");
    CHECK(std::get<0>(all.at("block")) == "pair_of_layers");
    CHECK(std::get<2>(all.at("")) == 1);
    CHECK(std::get<2>(all.at("block")) == 2);
    CHECK(std::get<2>(all.at("other")) == 1);
    CHECK(std::get<2>(all.at("block.first")) == no_id); // not hooked
    CHECK((std::get<3>(all.at("block")) == tensors{{"scale", {4}}}));

    // torch::nn::Linear transposes its weight and calls addmm.
    std::vector<described_operation> expected;
    const auto add_block = [&](const std::string& module, id call) {
        const auto at = static_cast<id>(expected.size());
        const auto input_of = [&](id second) {
            return at == 0 ? std::vector<id>{second} : std::vector<id>{at - 1, second};
        };
        expected.push_back({"aten::t", module, call, false, {module + ".first.weight"}, {}});
        expected.push_back(
            {"aten::addmm", module, call, true, {module + ".first.bias"}, input_of(at)});
        expected.push_back({"aten::relu", module, call, true, {}, {at + 1}});
        expected.push_back({"aten::t", module, call, false, {module + ".second.weight"}, {}});
        expected.push_back(
            {"aten::addmm", module, call, true, {module + ".second.bias"}, {at + 2, at + 3}});
        expected.push_back({"aten::mul", module, call, true, {module + ".scale"}, {at + 4}});
    };
    add_block("block", 0);
    add_block("block", 1);
    expected.push_back({"aten::tanh", "", 0, true, {}, {11}});
    add_block("other", 0);
    expected.push_back({"aten::add", "", 0, true, {}, {18, 12}});
    const auto description = describe(captured);
    REQUIRE(description.size() == expected.size());
    for (std::size_t i = 0; i < description.size(); ++i) {
        INFO(i << " " << description[i].name << " in " << description[i].module);
        CHECK((description[i] == expected[i]));
    }
    CHECK(read(write(captured)).has_operations());
}

TEST_CASE("torch_capture: recording ends if a model throws", "[torch]") {
    netImpl net;
    net.fails = true;
    const auto input = torch::rand({2, 4});
    {
        adapter::recorder record(net);
        CHECK_THROWS_AS(record.run([&] { net.forward(input); }), std::runtime_error);
    }
    net.fails = false;
    CHECK_NOTHROW(net.forward(input)); // no longer recording
    adapter::recorder record(net);
    const auto captured = record.run([&] { net.forward(input); });
    CHECK(captured.operations.size() == 20);
    CHECK(captured.modules.path(captured.operations[0].module) == "block");
    CHECK(captured.modules.path(captured.operations[19].module).empty());
}

TEST_CASE("torch_capture: modules of another model are not mistaken for this one's", "[torch]") {
    netImpl net;
    netImpl other;
    adapter::recorder record(net);
    const auto captured = record.run([&] { other.forward(torch::rand({2, 4})); });
    for (id i = 0; i < captured.operations.size(); ++i) {
        CHECK(captured.operations[i].module == 0);
    }
}

} // namespace test::torch_capture
