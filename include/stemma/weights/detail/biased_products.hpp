// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_WEIGHTS_DETAIL_BIASED_PRODUCTS_HPP
#define STEMMA_WEIGHTS_DETAIL_BIASED_PRODUCTS_HPP

#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/path_mapping.hpp>
#include <stemma/model/confidence.hpp>
#include <stemma/weights/detail/weight_search.hpp>
#include <stemma/weights/parameter_origin.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace stemma::inline STEMMA_ABI::detail {

/// The weights of products by the named biases that are added to them: a module may use the
/// parameters of its children itself, or have parameters with names of its own.
class biased_products {
public:
    /// A weight of a product.
    struct weight_name {
        std::string owner{};  ///< path of the module
        std::string weight{}; ///< name in it
        float sure = 0;
    };

    /// Complexity: O(uses * log uses).
    explicit biased_products(const weight_search& search) {
        for (std::size_t t = 0; t < search.headers.size(); ++t) {
            if (search.origins[t].basis == parameter_origin::basis_kind::name) {
                const auto& entry = search.origins[t].entries.front();
                own_[std::string(owner_path(entry))].insert(entry.substr(entry.rfind('.') + 1));
            }
        }
        for (std::size_t t = 0; t < search.headers.size(); ++t) {
            const auto& origin = search.origins[t];
            if (origin.basis != parameter_origin::basis_kind::name ||
                search.headers[t].dims.size() != 1) {
                continue;
            }
            for (const auto& use : search.uses[t]) {
                const auto inputs = search.model.inputs(use.node);
                if (search.model.op_type(use.node) == "Add" && inputs.size() == 2) {
                    note({use.call, inputs[1 - use.slot]}, origin.entries.front());
                }
            }
        }
    }

    /// Returns: the weight of the product that makes a value within a call, or null.
    /// Complexity: O(log uses).
    [[nodiscard]] const weight_name* of(id call, id value) const {
        const auto weight = weights_.find({call, value});
        return weight == weights_.end() ? nullptr : &weight->second;
    }

    /// Whether a module has parameters, but none with a usual name. Complexity: O(log modules).
    [[nodiscard]] bool is_custom(std::string_view path) const {
        const auto entry = own_.find(path);
        return entry != own_.end() && !entry->second.contains("weight") &&
               !entry->second.contains("bias");
    }

private:
    void note(std::pair<id, id> value, const std::string& bias) {
        const std::string owner(owner_path(bias));
        const auto name = bias.substr(bias.rfind('.') + 1);
        const auto& own = own_[owner];
        const auto add = [&](std::string weight, float sure) {
            if (!own.contains(weight)) {
                weights_.emplace(value, weight_name{owner, std::move(weight), sure});
            }
        };
        const auto at = name.find("bias");
        const bool letter =
            name[0] == 'b' && (name.size() == 1 || name.find_first_of("_0123456789", 1) == 1);
        if (name == "bias") {
            add("weight", confidence::entry_used);
        } else if (at != name.npos) {
            add(std::string(name).replace(at, 4, "weight"), confidence::entry_guessed);
        } else if (letter) {
            // `b1` goes with `w1`, or `W1` if others are written so.
            const auto tail = name.substr(1);
            const auto capital = own.lower_bound("W");
            const bool large = capital != own.end() && capital->starts_with('W');
            add((large ? "W" : "w") + tail, confidence::entry_guessed);
        }
    }

    std::map<std::string, std::set<std::string>, std::less<>> own_; // names by module
    std::map<std::pair<id, id>, weight_name> weights_; // by call and result of the product
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_WEIGHTS_DETAIL_BIASED_PRODUCTS_HPP
