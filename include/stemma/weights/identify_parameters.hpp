// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_WEIGHTS_IDENTIFY_PARAMETERS_HPP
#define STEMMA_WEIGHTS_IDENTIFY_PARAMETERS_HPP

#include <stemma/checkpoint/checkpoint.hpp>
#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/path_mapping.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma/weights/detail/content_entries.hpp>
#include <stemma/weights/detail/derived_entries.hpp>
#include <stemma/weights/detail/layer_entries.hpp>
#include <stemma/weights/detail/named_entries.hpp>
#include <stemma/weights/detail/normed_entries.hpp>
#include <stemma/weights/detail/sliced_entries.hpp>
#include <stemma/weights/detail/used_entries.hpp>
#include <stemma/weights/detail/weight_search.hpp>
#include <stemma/weights/parameter_origin.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// Options for finding the entries of initializers.
struct identify_options {
    const checkpoint* known = nullptr; ///< whose entries they are; without it, what the tree of
                                       ///< modules declares, else what modules usually have
    bool contents = true;              ///< whether the checkpoint has the model's values
    std::string prefix{};              ///< of the names of the model's entries; "" if to be found
};

namespace detail {

/// Detects initializers computed by an exporter: they follow the unchanged ones, which are in the
/// order of the `state_dict`.
class computed_initializers {
public:
    /// Complexity: O(initializers).
    computed_initializers(const weight_search& search, const named_entries& names)
        : names_(&names), search_(&search) {
        for (std::size_t t = 0; t < search.headers.size(); ++t) {
            known_names_ = known_names_ || !names.is_made_up(search.name(t));
            entry_names_ =
                entry_names_ || search.origins[t].basis == parameter_origin::basis_kind::name;
        }
        for (std::size_t t = 0; t < search.headers.size(); ++t) {
            const bool taken = std::any_of(
                search.uses[t].begin(), search.uses[t].end(), [&](const weight_use& use) {
                    const auto type = search.model.op_type(use.node);
                    const auto role = search.role(use);
                    const bool may_be_computed =
                        type == "MatMul" || type.find("Conv") != type.npos || type == "LSTM" ||
                        type == "GRU" || type == "RNN" || role.attribute.empty() ||
                        (!role.sure && search.headers[t].dims.size() != 1);
                    return !may_be_computed;
                });
            from_ = taken && search.weights[t] && !search.headers[t].dims.empty() ? t + 1 : from_;
        }
        from_ = std::max(from_, first_again(search));
    }

    /// Whether an initializer is computed, if its name is generated, or not an entry's although
    /// others are; if all names are generated, by position.
    /// Complexity: O(length of the name * log entries).
    [[nodiscard]] bool operator()(std::size_t t) const {
        const auto name = search_->name(t);
        const bool other =
            entry_names_ && !search_->entries.empty() && search_->entries.find(name) == no_id;
        return known_names_ ? other || names_->is_made_up(name) : t >= from_;
    }

    /// Whether it is computed since others have names and this one has not.
    /// Complexity: as above.
    [[nodiscard]] bool is_renamed(std::size_t t) const { return known_names_ && (*this)(t); }

    /// Whether a name is uninformative: none is an entry's, and this one is not generated.
    /// Complexity: O(length of the name * log names).
    [[nodiscard]] bool is_unclear(std::size_t t) const {
        return known_names_ && !entry_names_ && !names_->is_made_up(search_->name(t));
    }

private:
    /// Returns: the initializer at which the order of first readers restarts, or 0.
    [[nodiscard]] static std::size_t first_again(const weight_search& search) {
        std::size_t restart = 0;
        id drop = 0;
        id last = 0;
        id before = 0;
        for (std::size_t t = 0; t < search.headers.size(); ++t) {
            if (search.uses[t].empty() || !search.weights[t]) {
                continue;
            }
            const auto first = search.uses[t].front().top;
            if (before > first && before - first > drop) {
                drop = before - first;
                restart = t;
            }
            last = std::max(last, first);
            before = first;
        }
        return drop > last / 2 ? restart : 0;
    }

    const named_entries* names_;
    const weight_search* search_;
    bool known_names_ = false; // some are not generated
    bool entry_names_ = false; // some are those of entries
    std::size_t from_ = 0;     // after the last unchanged one
};

/// Adds alternative names of entries: those of tied tensors. Complexity: O(entries * log entries +
/// names added).
inline void add_ties(std::vector<parameter_origin>& origins, const module_tree& modules,
                     const checkpoint* saved) {
    using names_of_one = std::vector<std::string>;
    std::map<std::string, names_of_one, std::less<>> ties; // by each name
    const auto tied = saved != nullptr ? tied_entries(*saved) : std::vector<names_of_one>();
    for (const auto& names :
         saved != nullptr ? std::span<const names_of_one>(tied) : modules.shared_parameters()) {
        for (const auto& name : names) {
            ties.emplace(name, names);
        }
    }
    for (auto& origin : origins) {
        const auto add = [&](const std::string& name) {
            const auto has = [&](const std::vector<std::string>& names) {
                return std::find(names.begin(), names.end(), name) != names.end();
            };
            if (!has(origin.entries) && !has(origin.shared)) {
                origin.shared.push_back(name);
            }
        };
        if (origin.entries.size() != 1) {
            continue;
        }
        if (const auto entry = ties.find(origin.entries.front()); entry != ties.end()) {
            std::for_each(entry->second.begin(), entry->second.end(), add);
        }
    }
}

/// Whether a model shows traces of PyTorch: its producer, the names of parameters, or scopes.
/// Complexity: O(length of names).
[[nodiscard]] inline bool is_from_pytorch(const weight_search& search) {
    if (search.model.producer_name().find("torch") != std::string_view::npos) {
        return true;
    }
    for (std::size_t t = 0; t < search.headers.size(); ++t) {
        const auto name = search.name(t);
        if (name.find("::") != name.npos || !owner_path(name).empty()) {
            return true;
        }
    }
    for (id node = 0; node < search.model.node_count(); ++node) {
        if (search.model.name(node).starts_with('/')) {
            return true;
        }
    }
    return false;
}

} // namespace detail

/// Returns: the `state_dict` entries and the transform of every initializer, numbered as in
/// `wire_model::tensors`.
///  Decided by values in the checkpoint, else by names, else by the reading modules: their declared
/// entries, or PyTorch's conventions if anything in the model comes from PyTorch.
/// Requires: the model keeps its evidence.
/// Complexity: O(nodes + reads * entries of their modules), and O(bytes) with contents.
[[nodiscard]] inline std::vector<parameter_origin>
identify_parameters(const attributed_model& opened, const identify_options& options = {}) {
    const bool of_checkpoint = options.known != nullptr;
    detail::weight_search search(
        opened, of_checkpoint
                    ? detail::state_entries(*options.known, opened.modules(), options.prefix)
                    : detail::state_entries(opened.modules()));
    std::optional<detail::content_entries> contents;
    if (of_checkpoint && options.contents) {
        contents.emplace(search, *options.known);
        contents->find();
        detail::derived_entries derived(search, *contents);
        derived.find_gates();
        derived.find_folded();
        derived.find_normed();
        derived.find_joined();
        derived.find_sliced();
    }
    const bool reliable = contents && contents->is_reliable();
    detail::named_entries names(search);
    names.find();
    detail::folded_entries folds(search);
    const bool usual = search.entries.empty() && detail::is_from_pytorch(search);
    if (!reliable) {
        if (usual || !search.entries.empty()) {
            detail::find_gates(search);
        }
        folds.find_declared();
        detail::normed_entries(search).find_declared();
    }
    const detail::computed_initializers computed(search, names);
    detail::used_entries used(search, reliable ? &*contents : nullptr);
    used.find_declared(computed);
    if (!reliable) {
        detail::sliced_entries(search).find_declared();
        folds.doubt_unfolded();
    }
    if (usual) {
        folds.find_usual(computed);
        detail::sliced_entries(search).find_usual();
        used.find_usual(computed);
    }
    detail::add_ties(search.origins, opened.modules(), options.known);
    return std::move(search.origins);
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_WEIGHTS_IDENTIFY_PARAMETERS_HPP
