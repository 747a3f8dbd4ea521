// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_MERGED_PARAMETERS_HPP
#define STEMMA_EVIDENCE_DETAIL_MERGED_PARAMETERS_HPP

#include <stemma/core/detail/ascii.hpp>
#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/path_mapping.hpp>
#include <stemma/evidence/detail/scope_table.hpp>
#include <stemma/model/detail/class_path_namer.hpp>
#include <stemma/model/module_lookup.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: the instances of a scope and its ancestors as one path. A Sequential repeats its name
/// in its children: below `layer1` the instance `layer1.0` is `0`.
[[nodiscard]] inline std::string path_of_scope(const scope_table& table, id s) {
    std::vector<std::string_view> instances;
    for (; s >= scope_style_count; s = table.scopes[s].parent) {
        instances.push_back(table.scopes[s].instance());
    }
    std::string path;
    std::string_view around;
    for (auto it = instances.rbegin(); it != instances.rend(); ++it) {
        const bool repeats = !around.empty() && it->size() > around.size() &&
                             it->starts_with(around) && (*it)[around.size()] == '.';
        path.append(path.empty() ? "" : ".").append(it->substr(repeats ? around.size() + 1 : 0));
        around = *it;
    }
    return path;
}

/// How the path of a scope relates to that of a module.
struct path_comparison {
    bool is_above = false;  ///< the scope's path is the module's or an ancestor's
    std::size_t member = 0; ///< if equal except for numbers: the length of the scope's up to the
                            ///< first number that differs; else 0
    std::size_t length = 0; ///< how much of the module's is beside the scope's
};

[[nodiscard]] inline path_comparison compare_paths(std::string_view scope,
                                                   std::string_view module) noexcept {
    path_comparison result;
    std::size_t beside = 0;
    for (std::size_t at = 0; at <= scope.size();) {
        const auto part = scope.substr(at, scope.find('.', at) - at);
        const auto other = module.substr(std::min(beside, module.size()));
        const auto other_part = other.substr(0, other.find('.'));
        const bool both_numbers = is_number(part) && is_number(other_part);
        if (other_part.empty() || (part != other_part && !both_numbers)) {
            return {};
        }
        at += part.size() + 1;
        beside += other_part.size() + 1;
        if (part != other_part && result.member == 0) {
            result.member = at - 1;
        }
    }
    result.is_above = result.member == 0;
    result.length = beside - 1;
    return result;
}

/// Whether an operator only passes a parameter on, as what dequantizes it does.
template <operator_view Ops>
[[nodiscard]] bool passes_parameter_on(const Ops& ops, const operator_t<Ops>& v) {
    if constexpr (requires { ops.passes_parameter_on(v); }) {
        return ops.passes_parameter_on(v);
    }
    return false;
}

/// A parameter and an operator that reads it.
template <operator_view Ops>
struct parameter_read {
    id parameter = no_id;
    operator_t<Ops> reader;
};

/// Of parameters that several operators read, leaves those marked whose elements are all equal,
/// unless another one of their owner is read as often, by operators of one type.
template <named_operators Ops>
void keep_untrained(const Ops& ops, const std::vector<parameter_read<Ops>>& reads,
                    std::vector<bool>& marked) {
    if constexpr (valued_parameters<Ops>) {
        struct readers {
            std::size_t count = 0;
            std::string_view type;
            bool alike = true;
        };
        std::map<id, readers> readers_of;
        for (const auto& [p, v] : reads) {
            auto& entry = readers_of[p];
            const std::string_view type = ops.op_type(v);
            entry.alike = entry.alike && (entry.count == 0 || entry.type == type);
            entry.type = type;
            ++entry.count;
        }
        const auto place = [&](id p, const readers& other) {
            const auto owner = owner_path(ops.parameter_name(p));
            const auto dot = owner.rfind('.');
            return std::pair(owner.substr(0, dot == owner.npos ? 0 : dot), other.count);
        };
        ops.keep_uniform(marked);
        std::set<std::pair<std::string_view, std::size_t>> trained;
        for (const auto& [p, group] : readers_of) {
            if (!marked[p] && group.alike) {
                trained.insert(place(p, group));
            }
        }
        for (const auto& [p, group] : readers_of) {
            marked[p] = marked[p] && !trained.contains(place(p, group));
        }
    } else {
        marked.assign(marked.size(), false);
    }
}

/// Returns: the reads of vectors, which are those that `keep_matrices` does not leave.
template <sized_parameters Ops>
[[nodiscard]] std::vector<parameter_read<Ops>>
reads_of_vectors(const Ops& ops, const std::vector<parameter_read<Ops>>& reads) {
    std::vector<bool> matrices(static_cast<std::size_t>(ops.parameter_count()), false);
    for (const auto& [p, v] : reads) {
        matrices[p] = true;
    }
    ops.keep_matrices(matrices);
    std::vector<parameter_read<Ops>> result;
    std::copy_if(reads.begin(), reads.end(), std::back_inserter(result),
                 [&](const auto& read) { return !matrices[read.parameter]; });
    return result;
}

/// Marks vectors that more operators read than another parameter of their owner: a module that runs
/// reads all its parameters, so the extra readers use what was an equal vector in modules of their
/// own. Parameters count if they are marked in `is_used`.
template <named_operators Ops>
void mark_outnumbered(const Ops& ops, const std::vector<parameter_read<Ops>>& reads,
                      const std::vector<parameter_read<Ops>>& of_vectors,
                      const std::vector<bool>& is_used, std::vector<bool>& merged) {
    std::map<std::string_view, std::size_t> fewest; // by owner of a vector
    for (const auto& [p, v] : of_vectors) {
        if (const auto owner = owner_path(ops.parameter_name(p)); is_used[p] && !owner.empty()) {
            fewest.emplace(owner, no_id);
        }
    }
    if (fewest.empty()) {
        return;
    }
    const auto fewest_beside = [&](id p) {
        return is_used[p] ? fewest.find(owner_path(ops.parameter_name(p))) : fewest.end();
    };
    std::map<id, std::size_t> several;
    for (const auto& [p, v] : reads) {
        ++several[p];
    }
    for (id p = 0; p < is_used.size(); ++p) {
        const auto least = fewest_beside(p);
        if (least != fewest.end()) {
            const auto entry = several.find(p);
            least->second = std::min(least->second, entry == several.end() ? 1 : entry->second);
        }
    }
    for (const auto& [p, v] : of_vectors) {
        const auto least = fewest_beside(p);
        merged[p] = merged[p] || (least != fewest.end() && several[p] > least->second);
    }
}

/// Returns: one type for all products of matrices, and one for all convolutions: a runtime may fuse
/// the calls of one module in different ways.
[[nodiscard]] inline std::string_view unfused_type(std::string_view type) noexcept {
    return type.ends_with("Conv")                                               ? "Conv"
           : type.find("MatMul") != type.npos || type.find("Gemm") != type.npos ? "Gemm"
                                                                                : type;
}

/// Marks vectors that operators read in several ways where a module has just one use for such a
/// vector: the bias of a product, the scale of a normalization.
template <named_operators Ops>
void mark_of_several_kinds(const Ops& ops, const std::vector<parameter_read<Ops>>& of_vectors,
                           std::vector<bool>& merged) {
    constexpr std::array<std::string_view, 9> kinds{"BatchNormalization",
                                                    "Conv",
                                                    "ConvTranspose",
                                                    "FusedConv",
                                                    "Gemm",
                                                    "GroupNormalization",
                                                    "InstanceNormalization",
                                                    "LayerNormalization",
                                                    "SkipLayerNormalization"};
    struct seen {
        std::string_view type;
        bool of_kind = false;
        bool several = false;
    };
    std::map<id, seen> types;
    for (const auto& [p, v] : of_vectors) {
        const std::string_view type = ops.op_type(v);
        auto& entry = types.try_emplace(p, seen{unfused_type(type)}).first->second;
        entry.several = entry.several || entry.type != unfused_type(type);
        entry.of_kind = entry.of_kind || std::find(kinds.begin(), kinds.end(), type) != kinds.end();
    }
    for (const auto& [p, entry] : types) {
        merged[p] = merged[p] || (entry.several && entry.of_kind);
    }
}

/// Finds parameters that also stand for those of other list members, judging by scopes.
template <parameter_readers Ops, module_view Modules>
class merged_members {
public:
    merged_members(const Ops& ops, const scope_table& scopes, const Modules& modules)
        : ops_(&ops)
        , scopes_(&scopes)
        , lookup_(modules)
        , read_at_home_(static_cast<std::size_t>(ops.parameter_count())) {}

    /// Records that a parameter is read in a scope.
    void add(id parameter, id scope) {
        const std::string_view name = ops_->parameter_name(parameter);
        const auto owner = owner_path(name);
        if (owner.empty() || scope == no_id || scope < scope_style_count) {
            return;
        }
        const auto path = path_of_scope(*scopes_, scope);
        const auto compared = compare_paths(path, owner);
        const auto member = std::string_view(path).substr(0, compared.member);
        if (compared.is_above) {
            read_at_home_[parameter] = true;
        } else if (member.empty() && last_name(path) == last_name(owner) &&
                   find_module(lookup_, path) != no_id) {
            of_known_.emplace(path + std::string(name.substr(owner.size())), parameter);
        } else if (!member.empty() &&
                   (find_module(lookup_, path) != no_id || find_module(lookup_, member) != no_id)) {
            of_known_.emplace(path + std::string(name.substr(compared.length)), parameter);
        } else if (!member.empty()) {
            of_unknown_[std::string(member)].emplace_back(owner, parameter);
        }
    }

    /// Marks parameters read in a known module, or in a known member, that lacks a corresponding
    /// one; and for an unknown member, those shared with another one if there are several: a single
    /// one is more likely held by both.
    void mark(std::vector<bool>& merged) {
        for (id p = 0; p < merged.size() && !of_known_.empty(); ++p) {
            of_known_.erase(std::string(ops_->parameter_name(p)));
        }
        const auto mark_merged = [&](id p) { merged[p] = merged[p] || read_at_home_[p]; };
        for (const auto& [name, parameter] : of_known_) {
            mark_merged(parameter);
        }
        for (const auto& [member, reads] : of_unknown_) {
            const auto& first = reads.front().first;
            if (std::any_of(reads.begin(), reads.end(),
                            [&](const auto& read) { return read.first != first; })) {
                std::for_each(reads.begin(), reads.end(),
                              [&](const auto& read) { mark_merged(read.second); });
            }
        }
    }

private:
    [[nodiscard]] static std::string_view last_name(std::string_view path) {
        return path.substr(path.rfind('.') + 1);
    }

    const Ops* ops_;
    const scope_table* scopes_;
    module_lookup<Modules> lookup_;
    std::vector<bool> read_at_home_;          // by parameter: in a scope of its owner
    std::multimap<std::string, id> of_known_; // by the parameter's name there
    std::map<std::string, std::vector<std::pair<std::string_view, id>>> of_unknown_; // by member
};

/// Returns: by parameter, whether it also stands for others whose names are lost, so that its own
/// name says little about its readers.
///
/// Optimizers and exporters keep one of several equal initializers. Untrained ones are equal in
/// many modules: all ones, all zeros. They stand for others unless a trained parameter of their
/// owner is read as often: then its modules ran that often. The same goes for a vector that is read
/// more often than its owner's other parameters. Layers created as copies are equal as a whole:
/// then scopes denote modules in list members, or known modules of the same name, that own nothing.
/// Complexity: O(operators + inputs); for parameters that several operators read, O(data) and
/// O(readers * depth).
template <named_operators Ops, module_view Modules>
    requires parameter_readers<Ops>
[[nodiscard]] std::vector<bool> find_merged_parameters(const Ops& ops, const scope_table& scopes,
                                                       const Modules& modules) {
    const auto& graph = ops.graph();
    std::vector<operator_t<Ops>> last_reader(ops.parameter_count());
    std::vector<bool> is_read(last_reader.size());
    std::vector<bool> is_used(last_reader.size()); // by what does not only pass it on
    std::vector<bool> merged(last_reader.size());
    std::vector<detail::parameter_read<Ops>> reads; // of those read by several operators
    for (auto [it, last] = vertices(graph); it != last; ++it) {
        const operator_t<Ops> v = *it;
        ops.for_each_parameter(v, [&](id p) {
            is_used[p] = is_used[p] || !detail::passes_parameter_on(ops, v);
            if (is_read[p] && index_of(graph, last_reader[p]) != index_of(graph, v)) {
                if (!merged[p]) {
                    merged[p] = true;
                    reads.push_back({p, last_reader[p]});
                }
                reads.push_back({p, v});
            }
            is_read[p] = true;
            last_reader[p] = v;
        });
    }
    if (!reads.empty()) {
        detail::keep_untrained(ops, reads, merged);
        if constexpr (sized_parameters<Ops>) {
            const auto of_vectors = detail::reads_of_vectors(ops, reads);
            detail::mark_outnumbered(ops, reads, of_vectors, is_used, merged);
            detail::mark_of_several_kinds(ops, of_vectors, merged);
        }
        detail::merged_members members(ops, scopes, modules);
        for (const auto& [p, v] : reads) {
            members.add(p, scopes.scope_of[index_of(graph, v)]);
        }
        members.mark(merged);
    }
    return merged;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_MERGED_PARAMETERS_HPP
