// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_WEIGHTS_DETAIL_USUAL_NORMS_HPP
#define STEMMA_WEIGHTS_DETAIL_USUAL_NORMS_HPP

#include <stemma/core/id.hpp>
#include <stemma/model/confidence.hpp>
#include <stemma/model/module_lookup.hpp>
#include <stemma/weights/detail/convolutions.hpp>
#include <stemma/weights/detail/norm_names.hpp>
#include <stemma/weights/detail/weight_search.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace stemma::inline STEMMA_ABI::detail {

/// The likely names of batch norms that left no node and no entry: they were folded into the
/// convolutions before them.
class usual_norms {
public:
    /// Requires: `search` outlives it. Complexity: O(nodes + modules).
    usual_norms(const weight_search& search, std::span<const convolution> folded)
        : search_(search) {
        for (const auto& one : folded) {
            folded_.insert(one.module);
        }
        // If some norms left nodes, the others are named like them.
        const auto& modules = search.modules;
        for (id node = 0; node < search.model.node_count(); ++node) {
            if (search.model.op_type(node) == "BatchNormalization") {
                words_.emplace(style_of(modules.name(search.attributions[node].module)));
            }
        }
        words_.erase("");
        for (id m = 0; m < modules.index().size() && words_.empty(); ++m) {
            const auto* const other =
                std::find_if(spelled_out.begin(), spelled_out.end(), [&](const auto& pair) {
                    return modules.name(m).find(pair.first) != std::string_view::npos;
                });
            if (other != spelled_out.end()) {
                words_.emplace(other->second);
            }
        }
    }

    /// A path, and the confidence in it.
    struct likely_norm {
        std::string path{}; ///< "" if there is none
        float sure = 0;
    };

    /// Returns: the norm after a convolution. Complexity: O(siblings * log modules).
    [[nodiscard]] likely_norm behind(id module) const {
        const auto& modules = search_.modules;
        if (module == 0) {
            return {};
        }
        const auto path = modules.path(module);
        const auto parent = modules.index().parent(module);
        const auto last = modules.name(module);
        const auto is_folded = [&](id m) {
            return m != module && m != no_id && folded_.contains(m);
        };
        if (is_folded(modules.child(parent, neighbour(last, 1))) ||
            is_folded(modules.child(parent, neighbour(last, -1)))) {
            for (const auto& candidate : norms_beside(path)) {
                const auto m = find_module(module_lookup<module_tree>(modules), candidate);
                if (m == no_id || search_.nodes_of[m] == 0) {
                    return {candidate, confidence::entry_unpaired};
                }
            }
        }
        norm_style style{words_, true, 0};
        for (const auto m : modules.children(parent)) {
            style.alone = style.alone && !is_folded(m);
            if (folded_.contains(m)) {
                const auto names = norm_names(modules.name(m));
                if (!names.empty() && names.front().paired) {
                    style.place = 0;
                    break;
                }
                style.place += m <= module ? 1U : 0U;
            }
        }
        const auto prefix = path.substr(0, path.size() - last.size());
        auto names = norm_names(last, style);
        if (names.empty()) {
            names = norm_names(last, {{}, style.alone, style.place});
        }
        for (const auto& [name, paired, whole] : names) {
            const auto m = modules.child(parent, name);
            if (m == no_id || search_.nodes_of[m] == 0) {
                return {prefix + name, !paired ? confidence::entry_unpaired
                                       : whole ? confidence::entry_folded
                                               : confidence::entry_guessed};
            }
        }
        return {};
    }

private:
    /// Other norms, and batch norms in the same style.
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 6> spelled_out{
        {{"layer_norm", "batch_norm"},
         {"group_norm", "batch_norm"},
         {"layernorm", "batchnorm"},
         {"groupnorm", "batchnorm"},
         {"LayerNorm", "BatchNorm"},
         {"GroupNorm", "BatchNorm"}}};

    /// Returns: the word that a norm's name shows others to have: `bn`, or another before a number.
    [[nodiscard]] static std::string_view style_of(std::string_view name) noexcept {
        const auto word = norm_word(name);
        const bool usual = word == "bn" || word.find("orm") != word.npos;
        return usual || word.size() < name.size() ? word : std::string_view();
    }

    /// Returns: the name of a module so many places after one in a list; "" for other names.
    [[nodiscard]] static std::string neighbour(std::string_view name, int places) {
        int number = 0;
        const auto parsed = std::from_chars(name.data(), name.data() + name.size(), number);
        const bool whole = parsed.ec == std::errc() && parsed.ptr == name.data() + name.size();
        return whole && number < 1'000'000'000 ? std::to_string(number + places) : std::string();
    }

    const weight_search& search_;
    std::set<id> folded_; // modules of convolutions with a norm
    std::set<std::string, std::less<>> words_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_WEIGHTS_DETAIL_USUAL_NORMS_HPP
