// SPDX-License-Identifier: Apache-2.0
// Cut: what belongs to a part that is cut out of a model? Here the part alone: constants come along
// because they must, weights computed from others do not, and boundaries have names for C.
#include <stemma/onnx/cut_planner.hpp>
#include <stemma/onnx/wire/attributed_model.hpp>
#include <stemma/policy/cut.hpp>

#include <algorithm>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

struct for_c {
    using policy_category = stemma::cut_category;

    [[nodiscard]] bool pulls(stemma::dependence d) const {
        return d == stemma::dependence::constant;
    }
    [[nodiscard]] stemma::gap_rule gaps() const { return stemma::gap_rule::refuse; }
    [[nodiscard]] std::string boundary_name(std::string_view name) const {
        std::string text("v");
        for (char c : name) {
            // Two underscores for one keep different names different; so does the code of the rest.
            const bool plain =
                (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
            text += plain      ? std::string(1, c)
                    : c == '_' ? "__"
                               : "_" + std::to_string(static_cast<unsigned char>(c)) + "_";
        }
        return text;
    }
    [[nodiscard]] bool keeps_unused_initializers() const { return false; }
};

static_assert(stemma::explain_cut_policy<for_c>());

int main(int, char** arguments) {
    stemma::attributed_model opened(arguments[1], {.captures = {arguments[2]}});
    const auto& model = opened.model();
    std::vector<stemma::id> wanted;
    for (stemma::id node = 0; node < model.node_count(); ++node) {
        const auto module = opened.tags().attributions[node].module;
        if (opened.modules().path(module).starts_with("encoder.layer.0.output")) {
            wanted.push_back(node);
        }
    }
    const for_c policy;
    stemma::cut_planner<for_c> planner(model, policy);
    for (const auto& plan : planner.plan(wanted)) {
        std::cout << plan.nodes.size() << " nodes\n";
        for (auto value : plan.inputs) {
            std::cout << "  reads " << policy.boundary_name(model.value_name(value)) << "\n";
        }
        for (auto value : plan.outputs) {
            std::cout << "  makes " << policy.boundary_name(model.value_name(value)) << "\n";
        }
    }
}
