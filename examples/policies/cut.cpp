// SPDX-License-Identifier: Apache-2.0
// Cut: what belongs to a cut part? Here only its nodes and the required constants, not weights
// computed from others, with boundary names valid in C.
#include <stemma/capture/captures.hpp>
#include <stemma/cut/cut.hpp>
#include <stemma/cut/model_cutter.hpp>
#include <stemma/open/attributed_model.hpp>

#include <iostream>
#include <string>
#include <string_view>

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

static_assert(stemma::explain_policy<stemma::cut_category, for_c>());

int main(int, char** arguments) {
    const stemma::attributed_model opened(arguments[1],
                                          {.captures = stemma::captures({arguments[2]})});
    stemma::id module = 0;
    while (opened.modules().path(module) != "encoder.layer.0.output") {
        ++module;
    }
    stemma::model_cutter cutter(opened.model(), {.policy = for_c{}});
    const auto part = cutter.cut(opened, {.module = module});
    std::cout << part.size() << " nodes\n";
    for (const auto& name : part.inputs()) {
        std::cout << "  reads " << name << "\n";
    }
    for (const auto& name : part.outputs()) {
        std::cout << "  makes " << name << "\n";
    }
    std::cout << part.bytes().size() << " bytes, with their weights\n";
}
