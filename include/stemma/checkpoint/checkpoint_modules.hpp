// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CHECKPOINT_CHECKPOINT_MODULES_HPP
#define STEMMA_CHECKPOINT_CHECKPOINT_MODULES_HPP

#include <stemma/checkpoint/checkpoint.hpp>
#include <stemma/config.hpp>
#include <stemma/core/detail/dotted_path.hpp>
#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/path_mapping.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/module_tree_builder.hpp>
#include <stemma/onnx/tensor_header.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

namespace detail {

/// Returns: the length of the wrapper names that prefix every name of a checkpoint: modules that
/// run a model on several devices, or compiled. Complexity: O(entries).
[[nodiscard]] inline std::size_t wrapper_length(const checkpoint& saved) {
    constexpr std::array<std::string_view, 2> wrappers{"module.", "_orig_mod."};
    std::size_t length = 0;
    for (bool has_match = !saved.entries().empty(); has_match;) {
        has_match = false;
        for (const auto wrapper : wrappers) {
            const bool all =
                std::all_of(saved.entries().begin(), saved.entries().end(), [&](const auto& entry) {
                    return entry.name.size() > length + wrapper.size() &&
                           entry.name.compare(length, wrapper.size(), wrapper) == 0;
                });
            length += all ? wrapper.size() : 0;
            has_match = has_match || all;
        }
    }
    return length;
}

/// Returns: a path without the wrappers; that of the root for a wrapper.
[[nodiscard]] inline std::string_view without_wrappers(std::string_view path,
                                                       std::size_t length) noexcept {
    return path.substr(std::min(length, path.size()));
}

} // namespace detail

/// Returns: the modules of a checkpoint, with their tensors: those it names, in its order, those in
/// the names of entries, and `others`, which are paths. Classes are known if the file names them.
/// Wrappers, `module` and `_orig_mod`, that prefix all names are removed.
///
/// A tensor without floating-point elements is a buffer; if the file marks trained ones, the others
/// are buffers as well. Entries that are one tensor are shared.
/// Complexity: O(bytes of names).
[[nodiscard]] inline module_tree modules_of(const checkpoint& saved,
                                            std::span<const std::string> others = {}) {
    module_tree_builder builder;
    const auto wrapped = detail::wrapper_length(saved);
    for (const auto& module : saved.modules()) {
        const auto path = detail::without_wrappers(module.path, wrapped);
        const auto fits = [](std::string_view text) {
            return text.empty() || (!detail::has_empty_part(text) &&
                                    detail::find_parameter_problem(text) == nullptr);
        };
        if (!fits(path)) {
            continue;
        }
        const auto m = path.empty() ? 0 : builder.at_path(path);
        if (!module.qualified_class.empty()) {
            const std::string_view full = module.qualified_class;
            builder.set_class(m, full.substr(full.rfind('.') + 1), full);
        }
    }
    const bool says_trained =
        std::any_of(saved.entries().begin(), saved.entries().end(),
                    [](const checkpoint::entry& entry) { return entry.trainable; });
    std::map<std::size_t, std::vector<std::string>> shared; // by the first entry
    for (const auto& entry : saved.entries()) {
        const auto name = detail::without_wrappers(entry.name, wrapped);
        if (name.empty() || detail::find_parameter_problem(name) != nullptr) {
            continue;
        }
        const auto path = detail::path_around(name);
        const auto m = path.empty() ? 0 : builder.at_path(path);
        const bool trained =
            says_trained ? entry.trainable : detail::is_floating_type(entry.data_type);
        const tensor_info info{name.substr(name.rfind('.') + 1), data_type_name(entry.data_type),
                               entry.shape, trained};
        trained ? builder.add_parameter(m, info) : builder.add_buffer(m, info);
        const auto& first = saved.entries()[entry.alias_of];
        if (&first != &entry) {
            auto& names = shared[entry.alias_of];
            if (names.empty()) {
                names.emplace_back(detail::without_wrappers(first.name, wrapped));
            }
            names.emplace_back(name);
        }
    }
    for (auto& [first, names] : shared) {
        builder.add_shared_parameters(std::move(names));
    }
    for (const auto& path : others) {
        static_cast<void>(builder.at_path(path));
    }
    return builder.build();
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_CHECKPOINT_CHECKPOINT_MODULES_HPP
