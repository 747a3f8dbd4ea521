// SPDX-License-Identifier: Apache-2.0
// Policies chosen by name at run time: linked with the commands of `stemma`, this file is a program
// with two more, `--select under:PATH` and `--naming numbers`.
#include <stemma/open/attribution_options.hpp>

#include <program.hpp> // of examples/cli

#include <optional>
#include <string>
#include <string_view>

/// A module and its descendants.
struct under {
    using policy_category = stemma::selection_category;

    std::string path;

    [[nodiscard]] bool selects(const stemma::module_tree& modules, stemma::id m) const {
        const auto inside = modules.path(m);
        return inside == path || inside.starts_with(path + ".");
    }
};

/// Tags made of numbers: the preorder rank of each module.
struct numbers {
    using policy_category = stemma::naming_category;
    static constexpr std::string_view name = "numbers";

    template <stemma::module_view Modules>
    void name_modules(const Modules& modules, stemma::tag_table& tags) const {
        for (stemma::id m = 0; m < modules.index().size(); ++m) {
            if (tags.is_selected(m)) {
                tags.set_segment(m, std::to_string(m));
            }
        }
    }
};

int main(int argc, char** argv) {
    stemma::onnx_policy_registry registry;
    registry.selections.add("under", "PATH", [](std::string_view path) {
        return path.empty() ? std::optional<under>() : under{std::string(path)};
    });
    registry.namings.add(numbers{});
    return cli::run_program(argc, argv, registry);
}
