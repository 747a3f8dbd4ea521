// SPDX-License-Identifier: Apache-2.0
// Finds the module whose results differ between two runs of a model.
//
//   compare_runs MODEL.onnx
#include <stemma/numerics/compare_numerics.hpp>
#include <stemma/numerics/model_prober.hpp>
#include <stemma/stemma.hpp>

#include <cmath>
#include <cstdint>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using elements = std::vector<float>;

/// In place of a runtime, which would run `prober.bytes()`: makes up results, and rounds those of
/// the nodes from one on, as a quantizer would.
std::map<std::string, elements> run(const stemma::model& model, const stemma::model_prober& prober,
                                    std::optional<stemma::node_ref> first_rounded) {
    std::map<std::string, elements> results;
    for (const auto number : prober.shown()) {
        const auto value = model.value(stemma::value_id{number});
        const auto producer = value.producer();
        const bool rounded = first_rounded && producer && *producer >= *first_rounded;
        auto& result = results[std::string(value.name())];
        for (std::uint32_t i = 0; i < 100; ++i) {
            const auto exact = static_cast<float>((number + i) * 37 % 101) / 101;
            result.push_back(rounded ? std::round(exact * 64) / 64 : exact);
        }
    }
    return results;
}

stemma::value_file values_of(const std::map<std::string, elements>& results) {
    std::map<std::string, stemma::tensor_values> values;
    for (const auto& [name, result] : results) {
        const std::string_view bytes(reinterpret_cast<const char*>(result.data()),
                                     result.size() * sizeof(float));
        values.emplace(name, stemma::tensor_values(1, {100}, bytes, "a run", name)); // 1: float32
    }
    return {"a run", std::move(values)};
}

} // namespace

int main(int, char** argv) {
    const auto model = stemma::open(argv[1]);
    const stemma::model_prober prober(model);
    std::cout << prober.added().size() << " values become outputs\n";

    const auto wrong = model.find_module("encoder.layer.1.attention").value();
    const auto exact = run(model, prober, std::nullopt);
    const auto rounded = run(model, prober, wrong.nodes()[0]);
    const auto values = values_of(exact);
    const auto others = values_of(rounded);
    const auto report =
        stemma::compare_numerics({model, values}, {model, others}, {.bounds = {.min_sqnr = 50}});

    const auto first = report.first_module;
    std::cout << "first: "
              << (first == stemma::no_id ? "none" : to_text(model.module(stemma::module_id{first})))
              << '\n';
    for (const auto& one : report.modules) {
        if (one.verdict == stemma::numerics_report::module_verdict::adds && one.outgoing) {
            std::cout << model.module(stemma::module_id{one.module}) << ": "
                      << std::lround(one.outgoing->sqnr) << " dB\n";
        }
    }
}
