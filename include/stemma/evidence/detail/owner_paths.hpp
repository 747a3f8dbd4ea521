// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_OWNER_PATHS_HPP
#define STEMMA_EVIDENCE_DETAIL_OWNER_PATHS_HPP

#include <stemma/core/detail/ascii.hpp>
#include <stemma/core/detail/dotted_path.hpp>
#include <stemma/core/detail/prefetch.hpp>
#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/path_mapping.hpp>
#include <stemma/model/operator_view.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Prefetches the name that will be read a little after that of parameter `p`: names are far apart
/// in the file.
template <parameter_readers Ops>
void prefetch_name_behind(const Ops& ops, id p) {
    constexpr std::size_t ahead = 16;
    if (p + ahead < ops.parameter_count()) {
        const std::string_view name = ops.parameter_name(static_cast<id>(p + ahead));
        prefetch(name.data());
    }
}

/// Whether the last part of a path may be a type of operator, which are capitalized.
[[nodiscard]] constexpr bool may_end_in_operator(std::string_view path) noexcept {
    const auto last = path.substr(path.rfind('.') + 1);
    return !last.empty() && is_capital(last.front());
}

/// Returns: `enc.fc.MatMul` for the name `/enc/fc/MatMul_Q4`; "" for one without `/` in front.
[[nodiscard]] inline std::string operator_path(std::string_view name) {
    if (!name.starts_with('/')) {
        return {};
    }
    const auto end = std::min(name.find('_', name.rfind('/')), name.size());
    std::string path(name.substr(1, end - 1));
    std::replace(path.begin(), path.end(), '/', '.');
    return path;
}

/// Whether a parameter may have the name of a value in TorchScript, `input.7`.
[[nodiscard]] constexpr bool may_be_value(std::string_view owner, std::string_view name) noexcept {
    return !owner.empty() && owner.find('.') == owner.npos &&
           is_number(name.substr(name.rfind('.') + 1));
}

/// Clears the paths of parameters called `input.7`, like a value in TorchScript, unless they may be
/// members of a ParameterList: then there is an `input.0`, or something else in `input`.
/// Complexity: O(bytes of names).
template <parameter_readers Ops>
void clear_values(const Ops& ops, std::vector<std::string_view>& paths) {
    std::unordered_set<std::string_view> owners;
    for (id p = 0; p < paths.size(); ++p) {
        const std::string_view name = ops.parameter_name(p);
        const auto owner = paths[p].substr(0, paths[p].find('.'));
        if (!owner.empty() && (!may_be_value(paths[p], name) || name.ends_with(".0"))) {
            owners.insert(owner);
        }
    }
    for (id p = 0; p < paths.size(); ++p) {
        if (may_be_value(paths[p], ops.parameter_name(p)) && !owners.contains(paths[p])) {
            paths[p] = {};
        }
    }
}

/// Returns: for each parameter the `owner_path` of its name. Builders may name a parameter after
/// the operator that reads it, as in `enc.fc.MatMul.weight` of `/enc/fc/MatMul`: all parameters
/// with that path belong to the module around the operator, `enc.fc`. Parameters called like a
/// value in TorchScript have none. Complexity: O(bytes of names); if a path ends in a capitalized
/// part, also O(operators + reads) expected.
template <parameter_readers Ops>
[[nodiscard]] std::vector<std::string_view> owner_paths(const Ops& ops) {
    std::vector<std::string_view> paths;
    paths.reserve(ops.parameter_count());
    std::vector<bool> doubtful(ops.parameter_count()); // may be named after an operator
    bool any_doubtful = false;
    bool values = false;
    for (id p = 0; p < ops.parameter_count(); ++p) {
        prefetch_name_behind(ops, p);
        const std::string_view name = ops.parameter_name(p);
        paths.push_back(owner_path(name));
        values = values || may_be_value(paths.back(), name);
        doubtful[p] = may_end_in_operator(paths.back());
        any_doubtful = any_doubtful || doubtful[p];
    }
    if (values) {
        clear_values(ops, paths);
    }
    if constexpr (named_operators<Ops>) {
        std::unordered_set<std::string_view> of_readers;
        for (auto [it, last] = vertices(ops.graph()); it != last && any_doubtful; ++it) {
            const operator_t<Ops> v = *it;
            std::optional<std::string> reader; // found when needed
            ops.for_each_parameter(v, [&](id p) {
                if (!doubtful[p]) {
                    return;
                }
                if (!reader) {
                    reader = operator_path(ops.name(v));
                }
                if (*reader == paths[p]) {
                    of_readers.insert(paths[p]);
                }
            });
        }
        for (id p = 0; p < paths.size() && !of_readers.empty(); ++p) {
            paths[p] = of_readers.contains(paths[p]) ? path_around(paths[p]) : paths[p];
        }
    }
    return paths;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_OWNER_PATHS_HPP
