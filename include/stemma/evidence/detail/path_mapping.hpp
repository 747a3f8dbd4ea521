// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_PATH_MAPPING_HPP
#define STEMMA_EVIDENCE_DETAIL_PATH_MAPPING_HPP

#include <stemma/core/detail/ascii.hpp>
#include <stemma/core/detail/dotted_path.hpp>
#include <stemma/core/detail/text_words.hpp>
#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/scoped_name.hpp>
#include <stemma/io/json_text.hpp>
#include <stemma/model/module_lookup.hpp>
#include <stemma/model/module_view.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: why the name of a parameter is invalid, or null. No model has that many levels or such
/// long names, which would cost their square, nor unnamed levels.
[[nodiscard]] inline const char* find_parameter_problem(std::string_view parameter) noexcept {
    constexpr std::ptrdiff_t max_levels = 1024;
    return parameter.size() > (1U << 18U) ? "the name of a parameter is too long"
           : !detail::is_utf8(parameter)  ? "the name of a parameter is not valid UTF-8"
           : parameter.size() > max_levels &&
                   std::count(parameter.begin(), parameter.end(), '.') > max_levels
               ? "the name of a parameter has too many levels"
           : has_empty_part(parameter.substr(0, std::min(parameter.rfind('.'), parameter.size())))
               ? "the name of a parameter has an empty level"
               : nullptr;
}

/// Whether what follows the last dot in a name is not a member: a tool appended something to a
/// number, or the dot is a decimal point, and the only one: `const_-3.4e+38_f32`.
[[nodiscard]] constexpr bool ends_in_fraction(std::string_view path,
                                              std::string_view last) noexcept {
    if (last.front() < '0' || last.front() > '9') {
        return false;
    }
    if (last.find_first_of("_+-") != last.npos) {
        return true;
    }
    if (path.find('.') != path.npos) {
        return false;
    }
    const auto digits =
        path.size() - std::min(path.find_last_not_of("0123456789") + 1, path.size());
    const auto before = path.substr(0, path.size() - digits);
    return digits > 0 && (before.empty() || before.back() == '_' || before.back() == '-');
}

/// Returns: the name of the parameter that a tensor of training was derived from: `fc.weight` for
/// `fc.weight_grad.accumulation.buffer`; other names unchanged.
[[nodiscard]] constexpr std::string_view without_gradient(std::string_view name) noexcept {
    if (name.find("_grad") == name.npos) { // `rfind` alone compares at each place
        return name;
    }
    const auto gradient = name.rfind("_grad");
    const auto behind = name.substr(gradient + 5);
    const bool derived = behind.empty() || behind.starts_with(".accumulation") ||
                         (behind.front() == '_' && behind.find('.') == behind.npos);
    return derived ? name.substr(0, gradient) : name;
}

/// Returns: the module path in the name of a parameter, all but its last part; "" if there is none,
/// if an exporter made the name up (`onnx::MatMul_7`, `/encoder/Add_output_0`, `const_0.5_f32`,
/// `p2o.helper.constant.0`), or if it is invalid. Prefixes of optimizers are removed, and tensors
/// that training derives from a parameter belong to its module: `fc` for
/// `fc.weight_grad.accumulation.buffer`.
[[nodiscard]] inline std::string_view owner_path(std::string_view parameter) noexcept {
    constexpr std::size_t short_name = 1024; // fewer levels than any limit
    std::uint64_t bars = 0;
    std::uint64_t odd = 0; // what hardly any name has: `/`, `:`, `;`, or a character beyond ASCII
    for_each_word(parameter, [&](std::uint64_t word) {
        bars |= bytes_equal(word, '_');
        odd |= bytes_equal(word, '/') | bytes_equal(word, ':') | bytes_equal(word, ';') |
               (word & top_bits);
    });
    if (bars != 0) {
        parameter = without_fusion_prefix(without_gradient(without_cast(parameter)));
    }
    const auto dot = std::min(parameter.rfind('.'), parameter.size());
    const auto path = parameter.substr(0, dot);
    if (path.empty() || dot + 1 >= parameter.size() || has_empty_part(path) ||
        begins_with(parameter, "p2o.") || ends_in_fraction(path, parameter.substr(dot + 1))) {
        return {};
    }
    if ((odd != 0 || parameter.size() > short_name) &&
        (parameter.find("::") != parameter.npos || parameter.find('/') != parameter.npos ||
         parameter.find(';') != parameter.npos || find_parameter_problem(parameter) != nullptr)) {
        return {};
    }
    return path;
}

/// How paths in a model lead to modules of a tree that was captured around it, or inside it.
struct path_mapping {
    std::string strip;       ///< leading parts of every path that the tree lacks: `module`
    id base = 0;             ///< module of the tree at which paths in the model start
    std::size_t paths = 0;   ///< number of distinct paths tried
    std::size_t matched = 0; ///< number that lead to a module

    /// Whether paths in the model are paths in the tree.
    [[nodiscard]] bool is_identity() const noexcept { return strip.empty() && base == 0; }

    /// Whether `path` starts with the stripped parts.
    [[nodiscard]] bool applies_to(std::string_view path) const noexcept {
        return strip.empty() || (path.starts_with(strip) &&
                                 (path.size() == strip.size() || path[strip.size()] == '.'));
    }

    /// Returns: `path` without the stripped parts.
    [[nodiscard]] std::string_view apply(std::string_view path) const noexcept {
        if (!strip.empty() && applies_to(path)) {
            path.remove_prefix(std::min(path.size(), strip.size() + 1));
        }
        return path;
    }
};

/// Returns: so many leading parts of a path, "" if it has no more than these.
/// Complexity: O(length).
[[nodiscard]] constexpr std::string_view leading_parts(std::string_view path,
                                                       unsigned count) noexcept {
    std::size_t end = 0;
    for (unsigned i = 0; i < count && end != path.npos; ++i) {
        end = path.find('.', end + (i > 0 ? 1 : 0));
    }
    return end == path.npos ? std::string_view() : path.substr(0, end);
}

/// Finds the constant prefix between the paths that a model uses and a module tree, if there is
/// one.
///
/// Tries the paths as they are, without one to three leading parts of the first path, if `partly`
/// of any path, and from every module that holds the first part of the first path; the variant that
/// leads most paths to a module wins, earlier ones on a tie. Requires: `lookup` is for `modules`.
/// Complexity: O(modules + paths * tries), at most 256 paths and twice 64 tries.
template <module_view Modules>
[[nodiscard]] path_mapping
find_path_mapping(const Modules& modules, const module_lookup<Modules>& lookup,
                  std::span<const std::string_view> paths, bool partly = false) {
    constexpr std::size_t max_paths = 256;
    constexpr std::size_t max_tries = 64;
    std::vector<std::string_view> sample;
    const auto step = std::max<std::size_t>(1, paths.size() / max_paths);
    for (std::size_t i = 0; i < paths.size() && sample.size() < max_paths; i += step) {
        sample.push_back(paths[i]);
    }
    path_mapping best;
    best.paths = sample.size();
    const auto attempt = [&](path_mapping tried) {
        tried.paths = sample.size();
        module_trail trail(lookup);
        for (auto path : sample) {
            const auto rest = tried.apply(path);
            if (tried.applies_to(path) && !rest.empty() && trail.find(rest, tried.base) != no_id) {
                ++tried.matched;
            }
        }
        if (tried.matched > best.matched) {
            best = tried;
        }
    };
    attempt({});
    if (sample.empty() || best.matched == sample.size()) {
        return best;
    }
    std::vector<std::string_view> strips;
    const auto leading = std::span(sample).first(partly ? sample.size() : 1);
    for (unsigned parts = 1; parts <= 3; ++parts) {
        for (const auto path : leading) {
            const auto strip = leading_parts(path, parts);
            if (!strip.empty() && strips.size() < max_tries &&
                std::find(strips.begin(), strips.end(), strip) == strips.end()) {
                strips.push_back(strip);
                attempt({std::string(strip), 0, 0, 0});
            }
        }
    }
    const auto head = sample.front().substr(0, sample.front().find('.'));
    std::size_t tries = 0;
    for (id m = 1; m < modules.index().size() && tries < max_tries; ++m) {
        if (modules.name(m) == head && modules.index().parent(m) != 0) {
            attempt({{}, modules.index().parent(m), 0, 0});
            ++tries;
        }
    }
    return best;
}

/// As above, building the look-up. Complexity: that, and O(modules).
template <module_view Modules>
[[nodiscard]] path_mapping find_path_mapping(const Modules& modules,
                                             std::span<const std::string_view> paths,
                                             bool partly = false) {
    return find_path_mapping(modules, module_lookup<Modules>(modules), paths, partly);
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_PATH_MAPPING_HPP
