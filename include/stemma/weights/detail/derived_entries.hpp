// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_WEIGHTS_DETAIL_DERIVED_ENTRIES_HPP
#define STEMMA_WEIGHTS_DETAIL_DERIVED_ENTRIES_HPP

#include <stemma/core/detail/dotted_path.hpp>
#include <stemma/core/id.hpp>
#include <stemma/model/confidence.hpp>
#include <stemma/weights/detail/content_entries.hpp>
#include <stemma/weights/detail/layer_entries.hpp>
#include <stemma/weights/detail/make_values.hpp>
#include <stemma/weights/detail/normed_entries.hpp>
#include <stemma/weights/detail/weight_search.hpp>
#include <stemma/weights/parameter_origin.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Finds initializers computed from several entries of a checkpoint.
class derived_entries {
public:
    /// Requires: both outlive it.
    derived_entries(weight_search& search, content_entries& contents)
        : search_(search), contents_(contents) {}

    /// Weights of recurrent layers: of the module that reads them, else of any with matching
    /// values. Complexity: O(layers * modules tried), plus the bytes of matches.
    void find_gates() {
        std::vector<std::string> owners;
        for (id e = 0; e < search_.entries.size(); ++e) {
            if (search_.entries[e].attribute == "weight_ih_l0") {
                owners.push_back(search_.entries[e].owner);
            }
        }
        for (auto layer : find_recurrent(search_)) {
            const auto home = search_.modules.path(layer.module);
            std::stable_partition(owners.begin(), owners.end(),
                                  [&](const std::string& owner) { return owner == home; });
            for (const auto& owner : std::span(owners).first(std::min(owners.size(), most_tried))) {
                for (layer.layer = 0; has_layer(owner, layer); ++layer.layer) {
                    settle_gates(layer, owner);
                }
            }
        }
    }

    /// Convolutions with a folded batch norm. Complexity: O(convolutions * (kernels tried +
    /// norms)), plus the bytes of matches.
    void find_folded() {
        folded_entries folds(search_);
        std::unordered_map<std::string, std::vector<id>> of_shape; // possible kernels
        for (id e = 0; e < search_.entries.size(); ++e) {
            if (search_.entries[e].attribute == "weight" && search_.entries[e].shape.size() > 2) {
                of_shape[shape_text(search_.entries[e].shape)].push_back(e);
            }
        }
        for (const auto& one : find_convolutions(search_)) {
            if (!search_.is_open(one.weight) || one.bias == no_id ||
                !is_float_or_double(search_.headers[one.weight].data_type)) {
                continue;
            }
            const auto path = search_.modules.path(one.module);
            const auto home = search_.entries.find(path, "weight");
            std::vector<id> kernels;
            if (home != no_id && is_kernel(one, home)) {
                kernels.push_back(home);
            }
            for (const auto left : {true, false}) { // a layer may be folded in some calls only
                for (const auto e : of_shape[shape_text(search_.headers[one.weight].dims)]) {
                    if (e != home && kernels.size() < most_tried && is_kernel(one, e) &&
                        folds.is_left(e) == left) {
                        kernels.push_back(e);
                    }
                }
            }
            for (const auto e : kernels) {
                if (find_folded(one, e, folds)) {
                    break;
                }
            }
        }
    }

    /// Weights with weight norm: of the module that reads them, else of any with matching values.
    /// Complexity: O(initializers * entries tried), plus the bytes of matching shapes.
    void find_normed() {
        const normed_entries normed(search_);
        for (id t = 0; t < search_.headers.size(); ++t) {
            auto tried = normed.candidates(t);
            tried.resize(std::min(tried.size(), most_tried));
            for (auto& [origin, taken] : tried) {
                if (contents_.holds(t, origin, 1e-5F)) {
                    const auto& owner = search_.entries[taken.front()].owner;
                    accept(t, std::move(origin), taken, normed_entries::module_of(owner));
                    break;
                }
            }
        }
    }

    /// Concatenated entries: queries, keys and values in one matrix. Complexity: O(entries), plus
    /// the bytes of matches.
    void find_joined() {
        std::unordered_map<std::uint64_t, std::vector<id>> open; // by sum of the elements
        std::set<std::int64_t> types;
        for (id t = 0; t < search_.headers.size(); ++t) {
            if (search_.is_open(t) && search_.weights[t] && !search_.headers[t].dims.empty() &&
                bits_of_type(search_.headers[t].data_type) >= 16) {
                if (const auto sum = sum_of(t); sum != 0 || contents_.content(t).readable) {
                    open[sum].push_back(t);
                    types.insert(search_.headers[t].data_type);
                }
            }
        }
        std::unordered_map<std::string, std::vector<id>> alike; // by parent and attribute, in order
        for (id e = 0; e < search_.entries.size() && !open.empty(); ++e) {
            const auto& entry = search_.entries[e];
            auto& row = alike[std::string(path_around(entry.owner)) + " " + entry.attribute];
            row.push_back(e);
            for (const auto type : types) {
                std::uint64_t sum = 0;
                for (std::size_t n = 1; n <= std::min<std::size_t>(row.size(), 4); ++n) {
                    sum += contents_.sum_of_entry(row[row.size() - n], type);
                    if (const auto other = open.find(sum); n > 1 && other != open.end()) {
                        join(other->second, std::span(row).last(n));
                    }
                }
            }
        }
    }

    /// Slices of an entry of the reading module or an ancestor. Complexity: O(uses * entries of
    /// their modules), plus the bytes of matches.
    void find_sliced() {
        for (id t = 0; t < search_.headers.size(); ++t) {
            if (!search_.is_open(t) || !search_.weights[t] || search_.headers[t].dims.empty() ||
                search_.headers[t].elements() < 4) {
                continue;
            }
            for (const auto& use : search_.uses[t]) {
                const auto own = search_.entries.own(search_.modules.path(use.module));
                if (std::any_of(own.begin(), own.end(), [&](id e) { return is_part(t, e); })) {
                    break;
                }
            }
        }
    }

private:
    [[nodiscard]] bool has_layer(const std::string& owner, const recurrent_layer& layer) const {
        return search_.entries.find(owner, layer.attributes(0).front()) != no_id;
    }

    void settle_gates(const recurrent_layer& layer, const std::string& owner) {
        for (std::size_t slot = 0; slot < 3; ++slot) {
            const auto t = layer.tensors[slot];
            if (t == no_id || !search_.is_open(t)) {
                continue;
            }
            parameter_origin tried;
            std::vector<id> taken;
            for (const auto& attribute : layer.attributes(slot)) {
                const auto e = search_.entries.find(owner, attribute);
                if (e != no_id) {
                    tried.entries.push_back(search_.entries[e].name);
                    taken.push_back(e);
                }
            }
            tried.transform = parameter_origin::transform_kind::gates;
            tried.gates = layer.gates;
            tried.bias = slot == 2;
            if (!tried.entries.empty() && contents_.holds(t, tried)) {
                accept(t, std::move(tried), taken, owner);
            }
        }
    }

    void accept(id t, parameter_origin tried, std::span<const id> taken, std::string_view owner) {
        search_.settle(t, std::move(tried), taken, owner, parameter_origin::basis_kind::content,
                       confidence::entry_content);
    }

    [[nodiscard]] bool is_kernel(const convolution& one, id e) const {
        return search_.relation(one.weight, e, false).transform ==
               parameter_origin::transform_kind::as_is;
    }

    /// Returns: the factor of one channel of a convolution; 0 if there is none.
    [[nodiscard]] static float factor_of(std::span<const float> is, std::span<const float> was) {
        std::size_t largest = 0;
        for (std::size_t i = 0; i < was.size(); ++i) {
            largest = std::abs(was[i]) > std::abs(was[largest]) ? i : largest;
        }
        if (was.empty() || was[largest] == 0) {
            return 0;
        }
        const auto factor = is[largest] / was[largest];
        const auto bound = 1e-4F * std::abs(is[largest]);
        for (std::size_t i = 0; i < was.size(); ++i) {
            if (!(std::abs(was[i] * factor - is[i]) <= bound)) {
                return 0;
            }
        }
        return factor;
    }

    bool find_folded(const convolution& one, id kernel, folded_entries& folds) {
        const auto& entry = search_.entries[kernel];
        const auto content = contents_.content(one.weight);
        const auto values = contents_.values(entry.name);
        if (!content.readable || !values || values->data_type != content.header.data_type ||
            entry.shape.empty() || entry.shape[0] == 0 ||
            content.bytes().size() != values->bytes().size()) {
            return false;
        }
        const auto channels = static_cast<std::size_t>(entry.shape[0]);
        const auto each = content.bytes().size() / channels;
        const auto channel = [&](std::string_view bytes, std::size_t c) {
            return rounded_to_floats(bytes.substr(c * each, each), content.header.data_type);
        };
        std::vector<std::pair<std::size_t, float>> factors;
        for (std::size_t i = 0; i < std::min<std::size_t>(channels, 4); ++i) {
            const auto c = i * (channels - 1) /
                           std::max<std::size_t>(1, std::min<std::size_t>(channels, 4) - 1);
            const auto factor = factor_of(channel(content.bytes(), c), channel(values->bytes(), c));
            if (factor == 0) {
                return false;
            }
            factors.emplace_back(c, factor);
        }
        const auto behind = folds.norm_behind(entry.owner, kernel);
        if (behind != no_id && is_folded(one, kernel, behind, factors, folds)) {
            return true;
        }
        return std::any_of(folds.norms().begin(), folds.norms().end(), [&](id norm) {
            return norm != behind && is_folded(one, kernel, norm, factors, folds);
        });
    }

    bool is_folded(const convolution& one, id kernel, id norm,
                   std::span<const std::pair<std::size_t, float>> factors, folded_entries& folds) {
        constexpr std::array<float, 8> usual{1e-5F, 1e-3F,  1e-6F, 1e-4F,
                                             1e-8F, 1e-12F, 1e-2F, 1e-7F};
        const auto& owner = search_.entries[norm].owner;
        const auto numbers = [&](std::string_view attribute) {
            const auto e = search_.entries.find(owner, attribute);
            const auto values =
                e == no_id ? std::nullopt : contents_.values(search_.entries[e].name);
            const bool fits = values && is_float_or_double(values->data_type) &&
                              search_.entries[e].shape == search_.entries[norm].shape;
            return fits ? rounded_to_floats(values->bytes(), values->data_type)
                        : std::vector<float>();
        };
        if (search_.entries[norm].shape.size() != 1 || !folds.is_left(norm) ||
            search_.entries[norm].shape[0] != search_.entries[kernel].shape[0]) {
            return false;
        }
        const auto weight = numbers("weight");
        const auto variance = numbers("running_var");
        if (weight.empty() || variance.empty()) {
            return false;
        }
        for (const auto epsilon : usual) {
            const bool fits = std::all_of(factors.begin(), factors.end(), [&](const auto& factor) {
                const auto expected =
                    weight[factor.first] / std::sqrt(variance[factor.first] + epsilon);
                return std::abs(expected - factor.second) <= 2e-6F * std::abs(expected);
            });
            if (fits) {
                folds.settle(one, search_.entries[kernel].owner, owner, confidence::entry_content,
                             parameter_origin::basis_kind::content, epsilon);
                if (!contents_.holds(one.weight, search_.origins[one.weight], 1e-5F)) {
                    search_.origins[one.weight].confidence = confidence::entry_fits;
                }
                return true;
            }
        }
        return false;
    }

    [[nodiscard]] std::uint64_t sum_of(id t) {
        if (const auto sum = contents_.sum_of_tensor(t); sum != 0) {
            return sum;
        }
        const auto content = contents_.content(t);
        return content.readable
                   ? sum_of_elements(content.bytes(), bits_of_type(content.header.data_type))
                   : 0;
    }

    void join(std::span<const id> tensors, std::span<const id> parts) {
        for (const auto t : tensors) {
            if (!search_.is_open(t)) {
                continue;
            }
            parameter_origin tried;
            for (const auto e : parts) {
                tried.entries.push_back(search_.entries[e].name);
            }
            tried.transform = parameter_origin::transform_kind::concatenated;
            for (tried.axis = 0; tried.axis < search_.headers[t].dims.size(); ++tried.axis) {
                for (const auto transposed : {false, true}) {
                    tried.axes =
                        transposed ? std::vector<std::uint8_t>{1, 0} : std::vector<std::uint8_t>();
                    if (contents_.holds(t, tried)) {
                        accept(t, tried, parts, search_.entries[parts.front()].owner);
                        return;
                    }
                }
            }
        }
    }

    bool is_part(id t, id e) {
        const auto& shape = search_.entries[e].shape;
        const auto& dims = search_.headers[t].dims;
        if (shape.size() != dims.size() || dims.size() > 2 || !search_.fits_type(t, e)) {
            return false;
        }
        for (const auto transposed : {false, true}) {
            auto whole = shape;
            parameter_origin tried;
            tried.entries = {search_.entries[e].name};
            tried.transform = parameter_origin::transform_kind::sliced;
            if (transposed && shape.size() == 2) {
                tried.axes = {1, 0};
                std::swap(whole[0], whole[1]);
            } else if (transposed) {
                break;
            }
            for (std::size_t axis = 0; axis < dims.size(); ++axis) {
                auto part = whole;
                part[axis] = dims[axis];
                if (part != dims || dims[axis] <= 0 || dims[axis] >= whole[axis] ||
                    whole[axis] / std::gcd(dims[axis], whole[axis]) > 16) {
                    continue;
                }
                tried.axis = axis;
                const auto step = std::gcd(dims[axis], whole[axis]);
                for (std::int64_t at = 0; at + dims[axis] <= whole[axis]; at += step) {
                    tried.first = static_cast<std::uint64_t>(at);
                    if (contents_.holds(t, tried)) {
                        accept(t, tried, {&e, 1}, search_.entries[e].owner);
                        return true;
                    }
                }
            }
        }
        return false;
    }

    static constexpr std::size_t most_tried = 256; // candidate modules each

    weight_search& search_;
    content_entries& contents_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_WEIGHTS_DETAIL_DERIVED_ENTRIES_HPP
