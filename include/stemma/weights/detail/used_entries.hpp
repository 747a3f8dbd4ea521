// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_WEIGHTS_DETAIL_USED_ENTRIES_HPP
#define STEMMA_WEIGHTS_DETAIL_USED_ENTRIES_HPP

#include <stemma/core/detail/dotted_path.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/model/confidence.hpp>
#include <stemma/onnx/detail/node_attributes.hpp>
#include <stemma/weights/detail/biased_products.hpp>
#include <stemma/weights/detail/content_entries.hpp>
#include <stemma/weights/detail/derived_names.hpp>
#include <stemma/weights/detail/name_numbers.hpp>
#include <stemma/weights/detail/slot_roles.hpp>
#include <stemma/weights/detail/weight_search.hpp>
#include <stemma/weights/parameter_origin.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Whether a matrix is three times as long as wide, or as wide as long, like a joint projection.
[[nodiscard]] constexpr bool is_tripled(std::span<const std::int64_t> dims) noexcept {
    const auto is_third = [](std::int64_t a, std::int64_t b) { return b % 3 == 0 && b / 3 == a; };
    return dims.size() == 2 && (is_third(dims[0], dims[1]) || is_third(dims[1], dims[0]));
}

/// Whether a shape may be that of a tensor with permuted axes as well. Complexity: O(rank^2).
[[nodiscard]] inline bool has_equal_extents(std::span<const std::int64_t> dims) noexcept {
    return std::any_of(dims.begin(), dims.end(), [&](auto extent) {
        return extent > 1 && std::count(dims.begin(), dims.end(), extent) > 1;
    });
}

/// Finds entries by the readers of initializers.
class used_entries {
public:
    explicit used_entries(weight_search& search, content_entries* contents = nullptr)
        : search_(search), contents_(contents), numbers_(search.model) {
        for (std::size_t t = 0; t < search.headers.size(); ++t) {
            const auto& dims = search.headers[t].dims;
            if (is_tripled(dims)) {
                for (const auto& use : search.uses[t]) {
                    tripled_.emplace(use.module, std::min(dims[0], dims[1]));
                }
            }
        }
    }

    /// Entries of the reading module and its descendants. `computed(t)` says whether the exporter
    /// computed an initializer, `computed.is_renamed(t)` whether that is sure, and
    /// `computed.is_unclear(t)` whether its name may not tell.
    /// Complexity: O(uses * entries of their modules * log entries).
    template <class Computed>
    void find_declared(const Computed& computed) {
        if (search_.entries.empty()) {
            return;
        }
        named_.assign(search_.entries.size(), false);
        for (const auto& origin : search_.origins) {
            if (origin.basis == parameter_origin::basis_kind::name) {
                named_[search_.entries.find(origin.entries.front())] = true;
            }
        }
        for (const auto below : {false, true}) {
            for (std::size_t t = 0; t < search_.headers.size(); ++t) {
                for (const auto& use : search_.uses[t]) {
                    if (search_.is_open(t) && is_candidate(t)) {
                        choose(t, use, below, computed);
                    }
                }
            }
        }
        for (std::size_t t = 0; t < search_.headers.size(); ++t) {
            add_shared(t);
            if (contents_ == nullptr && computed.is_renamed(t)) {
                doubt_vector(t);
            }
        }
    }

    /// Names of remaining initializers by PyTorch's conventions; `computed` as above.
    /// Complexity: O(uses * log uses).
    template <class Computed>
    void find_usual(const Computed& computed) {
        std::map<std::string, std::size_t> taken;
        for (std::size_t t = 0; t < search_.headers.size(); ++t) {
            for (const auto& entry : search_.origins[t].entries) {
                taken.emplace(entry, t);
            }
        }
        const bool any_named = range::any_of(search_.origins, [](const auto& origin) {
            return origin.basis == parameter_origin::basis_kind::name;
        });
        product_.emplace(search_);
        for (std::size_t t = 0; t < search_.headers.size(); ++t) {
            any_normed_ = any_normed_ || (search_.is_open(t) && !search_.uses[t].empty() &&
                                          numbers_.steps(t) == steps_of_norm &&
                                          is_read_as_stored(t, search_.uses[t].front()) &&
                                          has_own_bias(search_.uses[t].front()));
        }
        for (std::size_t t = 0; t < search_.headers.size(); ++t) {
            // Beside named parameters, constants are part of the code.
            if (!search_.is_open(t) || !is_candidate(t) || search_.uses[t].empty() ||
                (any_named && type_in_result(search_.name(t)) == "Constant")) {
                continue;
            }
            guess(t, computed(t), computed.is_renamed(t), taken);
        }
    }

private:
    /// A scalar usually belongs to the computation.
    [[nodiscard]] bool is_candidate(std::size_t t) const {
        return search_.weights[t] && !search_.headers[t].dims.empty();
    }

    struct candidate {
        id entry = no_id;
        int score = 0;
        bool alone = true;
    };

    [[nodiscard]] candidate best_of(std::size_t t, const slot_role& role, bool transposed,
                                    std::span<const id> offered) const {
        candidate best;
        for (const auto e : offered) {
            const auto how = search_.relation(t, e, transposed);
            if (how.transform == parameter_origin::transform_kind::none || search_.claimed[e] ||
                search_.entries.is_outside(e) || search_.entries.is_parametrized(e) ||
                (contents_ != nullptr && !contents_->may_be(t, e, how))) {
                continue;
            }
            const auto& attribute = search_.entries[e].attribute;
            const int score = 1 + (attribute == role.attribute ? 8 : 0) +
                              (means_alike(attribute, role.attribute) ? 4 : 0) +
                              (how.transform == parameter_origin::transform_kind::reshaped ? 0 : 2);
            if (score > best.score) {
                best = {e, score, true};
            } else if (score == best.score) {
                best = {std::min(e, best.entry), score, false};
            }
        }
        return best;
    }

    /// Whether an initializer may be the transposed one of an entry below a module that another
    /// initializer is named after.
    [[nodiscard]] bool may_be_again(std::size_t t, std::string_view path) const {
        const auto others = search_.entries.below(path);
        return others.size() <= most_below && std::any_of(others.begin(), others.end(), [&](id e) {
                   return named_[e] && search_.relation(t, e, true).transform ==
                                           parameter_origin::transform_kind::transposed;
               });
    }

    template <class Computed>
    void choose(std::size_t t, const weight_use& use, bool below, const Computed& computed) {
        const auto path = search_.modules.path(use.module);
        const auto offered = below ? search_.entries.below(path) : search_.entries.own(path);
        const auto role = search_.role(use);
        const bool turned = role.transposed != use.transposed;
        const bool transposed = turned && computed(t);
        const auto best = best_of(t, role, transposed, offered);
        const bool reordered = gates_of_slot(search_.model.op_type(use.node), use.slot) > 1;
        if (best.entry == no_id || reordered || (below && offered.size() > most_below)) {
            return;
        }
        const bool exact = search_.entries[best.entry].attribute == role.attribute;
        const auto& dims = search_.headers[t].dims;
        const bool square = dims.size() == 2 && dims[0] == dims[1];
        auto how = search_.relation(t, best.entry, transposed);
        const bool renamed = contents_ == nullptr && computed.is_renamed(t);
        const bool permuted = renamed && how.transform == parameter_origin::transform_kind::as_is &&
                              (has_equal_extents(dims) || is_result(t, best.entry));
        const bool other = renamed && !exact &&
                           (below ? !role.sure && !role.attribute.empty()
                                  : how.transform == parameter_origin::transform_kind::transposed &&
                                        may_be_again(t, path));
        const bool unclear = permuted || other || (square && turned && computed.is_unclear(t));
        const auto sure = unclear || (!best.alone && (below || !exact)) ? confidence::entry_guessed
                          : below                                       ? confidence::entry_below
                          : exact                                       ? confidence::entry_declared
                                                                        : confidence::entry_fits;
        search_.settle(t, best.entry, std::move(how), parameter_origin::basis_kind::declared, sure);
    }

    /// Whether an initializer was named after a computation that changes values or their layout:
    /// those stored as they are keep their names. Without an entry, types are taken to be equal.
    [[nodiscard]] bool is_result(std::size_t t, id e = no_id) const {
        const auto type = e == no_id ? 0 : search_.entries[e].data_type;
        const bool is_cast = type != 0 && type != search_.headers[t].data_type;
        const auto name = search_.name(t);
        return !is_cast && (is_named_after_result(name) || is_named_after_layout(name));
    }

    /// Lowers the confidence in a vector that the exporter computed, if nothing reads others of its
    /// module with as many elements: a norm written out is a function of all of them.
    void doubt_vector(std::size_t t) {
        auto& origin = search_.origins[t];
        if (origin.basis != parameter_origin::basis_kind::declared || origin.entries.size() != 1 ||
            origin.transform > parameter_origin::transform_kind::reshaped) {
            return;
        }
        const auto& entry = search_.entries[search_.entries.find(origin.entries.front())];
        const auto own = search_.entries.own(entry.owner);
        if (entry.shape.size() == 1 && std::any_of(own.begin(), own.end(), [&](id e) {
                return !search_.claimed[e] && search_.entries[e].shape == entry.shape &&
                       search_.fits_type(t, e);
            })) {
            origin.confidence = std::min(origin.confidence, confidence::entry_guessed);
        }
    }

    /// Adds the entries of other modules that read the same initializer.
    void add_shared(std::size_t t) {
        auto& origin = search_.origins[t];
        if (search_.is_open(t) || origin.entries.size() != 1 ||
            origin.transform > parameter_origin::transform_kind::transposed) {
            return;
        }
        for (const auto& use : search_.uses[t]) {
            const auto role = search_.role(use);
            const auto e = search_.entries.find(search_.modules.path(use.module), role.attribute);
            if (e == no_id || search_.claimed[e] || !role.sure ||
                search_.relation(t, e, role.transposed != use.transposed).transform ==
                    parameter_origin::transform_kind::none) {
                continue;
            }
            search_.claimed[e] = true;
            origin.shared.push_back(search_.entries[e].name);
        }
    }

    /// `renamed` says whether it is sure that the exporter `moved` or computed it.
    void guess(std::size_t t, bool moved, bool renamed, std::map<std::string, std::size_t>& taken) {
        for (const auto& use : search_.uses[t]) {
            const auto role = search_.role(use);
            const auto& dims = search_.headers[t].dims;
            const auto wide = std::count_if(dims.begin(), dims.end(), [](auto n) { return n > 1; });
            const bool leaf = search_.is_leaf(use.module);
            if (role.attribute.empty() || (!role.sure && (!leaf || wide > 1))) {
                continue;
            }
            if (moved && wide > 1 && role.sure && is_normed(t, use)) {
                guess_normed(t, use);
                continue;
            }
            const bool transposed = role.transposed != use.transposed && moved && dims.size() == 2;
            const bool reshaped = dims.size() == 3 && wide < 2;
            if (moved &&
                ((wide > 1 && role.sure && !role.transposed && is_read_as_stored(t, use)) ||
                 (renamed && !transposed && !reshaped && is_result(t)))) {
                continue;
            }
            auto path = search_.modules.path(use.module);
            std::string attribute(role.attribute);
            const auto* const beside =
                role.transposed ? product_->of(use.call, search_.model.first_output(use.node))
                                : nullptr;
            if (beside != nullptr) {
                path = beside->owner;
                attribute = beside->weight;
            } else if (role.transposed && product_->is_custom(path)) {
                continue;
            } else if (auto name = attention_name(t, use, role); !name.empty()) {
                attribute = std::move(name);
            }
            auto entry = member_path(path, attribute);
            if (const auto holder = taken.find(entry); holder != taken.end()) {
                const bool more = search_.origins[t].entries.empty();
                if (more || !role.sure) {
                    continue;
                }
            }
            auto& origin = search_.origins[t];
            if (!origin.entries.empty()) {
                if (entry != origin.entries[0] &&
                    std::find(origin.shared.begin(), origin.shared.end(), entry) ==
                        origin.shared.end()) {
                    taken.emplace(entry, t);
                    origin.shared.push_back(std::move(entry));
                }
                continue;
            }
            taken.emplace(entry, t);
            origin.transform = transposed ? parameter_origin::transform_kind::transposed
                               : reshaped ? parameter_origin::transform_kind::reshaped
                                          : parameter_origin::transform_kind::as_is;
            if (transposed) {
                origin.axes = {1, 0};
            }
            origin.entries = {std::move(entry)};
            origin.quantized = is_narrow_type(search_.headers[t].data_type);
            search_.settle(t, {}, path, parameter_origin::basis_kind::usage,
                           beside != nullptr ? beside->sure
                           : leaf            ? confidence::entry_used
                                             : confidence::entry_guessed);
        }
    }

    /// Whether an exporter had no reason to compute a weight other than that it is a function of
    /// several entries: it does not move those of convolutions and of transposing products.
    [[nodiscard]] bool is_read_as_stored(std::size_t t, const weight_use& use) const {
        return search_.headers[t].dims.size() > 2 ||
               (search_.model.op_type(use.node) == "Gemm" && use.slot == 1 &&
                search_.name(t).find("::") != std::string_view::npos &&
                node_attributes(search_.model, use.node).whole("transB").value_or(0) != 0);
    }

    /// Whether an exporter computed a weight the way it computes weight norm: in three steps,
    /// before transposing.
    [[nodiscard]] bool is_normed(std::size_t t, const weight_use& use) const {
        const auto steps = numbers_.steps(t);
        const bool first = numbers_.of(t) != 0 && steps == 0;
        return any_normed_ && has_own_bias(use) &&
               (is_read_as_stored(t, use)
                    ? first || steps == steps_of_norm
                    : search_.role(use).transposed && steps == steps_of_norm + 1);
    }

    /// Whether the reader of a weight has the bias of its module, or none: that of a folded norm
    /// may be another's.
    [[nodiscard]] bool has_own_bias(const weight_use& use) const {
        const auto inputs = search_.model.inputs(use.node);
        const auto path = search_.modules.path(use.module);
        return inputs.size() <= use.slot + 1 || inputs[use.slot + 1] == no_id ||
               search_.model.value_name(inputs[use.slot + 1]) == member_path(path, "bias");
    }

    void guess_normed(std::size_t t, const weight_use& use) {
        auto& origin = search_.origins[t];
        const auto role = search_.role(use);
        if (!origin.entries.empty() || role.attribute != "weight") {
            return;
        }
        const auto path = search_.modules.path(use.module);
        origin.entries = {member_path(path, "weight_v"), member_path(path, "weight_g")};
        origin.transform = parameter_origin::transform_kind::normed;
        if (role.transposed) {
            origin.axes = {1, 0};
        }
        search_.settle(t, {}, path, parameter_origin::basis_kind::usage, confidence::entry_guessed);
    }

    /// Returns: the name in `torch.nn.MultiheadAttention` of a matrix or bias three times as long
    /// as wide, and of the one after it; else "".
    [[nodiscard]] std::string attention_name(std::size_t t, const weight_use& use,
                                             const slot_role& role) const {
        const auto path = search_.modules.path(use.module);
        const auto last = path.substr(path.rfind('.') + 1);
        constexpr std::array<std::string_view, 7> names{
            "self_attn", "self_attention", "attn",           "attention",
            "mha",       "multihead_attn", "cross_attention"};
        if (std::find(names.begin(), names.end(), last) == names.end()) {
            return {};
        }
        const auto& dims = search_.headers[t].dims;
        const bool matrix = dims.size() == 2 && (role.transposed || role.sure);
        if (matrix && is_tripled(dims)) {
            return "in_proj_weight";
        }
        const bool is_joined = tripled_.contains({use.module, dims.empty() ? 0 : dims[0]});
        if (matrix && dims[0] == dims[1] && is_joined) {
            return "out_proj.weight";
        }
        if (dims.size() != 1 || role.attribute != "bias") {
            return {};
        }
        const bool is_joint = dims[0] % 3 == 0 && tripled_.contains({use.module, dims[0] / 3});
        return is_joint ? "in_proj_bias" : is_joined ? "out_proj.bias" : std::string();
    }

    static constexpr std::size_t most_below = 4096;
    static constexpr std::uint64_t steps_of_norm = 3; // length, quotient, product

    weight_search& search_;
    content_entries* contents_; // if the model holds the entries' values
    name_numbers numbers_;
    std::vector<bool> named_;                // by entry: an initializer is named after it
    bool any_normed_ = false;                // a weight took as many steps as weight norm does
    std::optional<biased_products> product_; // weights named by biases added later
    std::set<std::pair<id, std::int64_t>> tripled_; // reading modules and shorter extents of
                                                    // matrices three times as long as wide
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_WEIGHTS_DETAIL_USED_ENTRIES_HPP
