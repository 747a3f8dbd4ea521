// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TYPES_DETAIL_COMPUTED_FACTS_HPP
#define STEMMA_TYPES_DETAIL_COMPUTED_FACTS_HPP

#include <stemma/core/id.hpp>
#include <stemma/onnx/detail/node_attributes.hpp>
#include <stemma/types/detail/fact_table.hpp>
#include <stemma/types/detail/tensor_facts.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::detail {

/// Infers what products, windows, reductions and the like make.
class computed_facts {
public:
    /// Requires: `table` outlives this.
    explicit computed_facts(fact_table& table) : table_(table) {}

    /// Returns: whether the operator is one of them.
    bool infer(id node, std::string_view op) {
        if (is_one_of(op, " Dropout BatchNormalization LayerNormalization ")) {
            infer_normalization(node, op);
        } else if (is_one_of(op, " MatMul MatMulInteger Gemm ")) {
            infer_product(node, op);
        } else if (is_one_of(op, " Conv ConvTranspose MaxPool AveragePool LpPool GlobalAveragePool "
                                 "GlobalMaxPool GlobalLpPool ConvInteger ")) {
            infer_window(node, op);
        } else if (op.starts_with("Reduce") ||
                   is_one_of(op, " ArgMax ArgMin TopK OneHot NonZero ")) {
            infer_reduction(node, op);
        } else if (is_one_of(op, " LSTM GRU RNN ")) {
            infer_recurrence(node, op);
        } else if (is_one_of(op, " QuantizeLinear DequantizeLinear DynamicQuantizeLinear ")) {
            infer_quantization(node, op);
        } else if (op == "Einsum") {
            infer_einsum(node);
        } else if (op == "GridSample") {
            infer_grid_sample(node);
        } else if (op == "NonMaxSuppression") {
            table_.set(node, 0, made(int64_type, extents{any_extent, 3}));
        } else {
            return false;
        }
        return true;
    }

    /// A MatMul whose attributes say which of its inputs are transposed. One whose batch is, has
    /// its first extent in the place before the last.
    void infer_turned_product(id node) {
        const auto attributes = table_.attributes(node);
        const auto is_set = [&](std::string_view name) {
            return attributes.whole(name).value_or(0) != 0;
        };
        const auto turned = [&](std::size_t slot, std::string_view batch, std::string_view matrix) {
            auto x = table_.input(node, slot);
            if (x.ranked() && x.rank() > 1 && is_set(batch)) {
                std::rotate(x.dims->begin(), x.dims->begin() + 1, x.dims->end() - 1);
            }
            if (x.ranked() && x.rank() > 1 && is_set(matrix)) {
                std::swap(x.dims->back(), (*x.dims)[x.rank() - 2]);
            }
            return x;
        };
        const auto a = turned(0, "transBatchA", "transA");
        set_product(node, a, turned(1, "transBatchB", "transB"), a.data_type);
    }

    /// A MatMul whose result is of another type than what it reads.
    void infer_product_of(id node, std::int64_t data_type) {
        set_product(node, table_.input(node, 0), table_.input(node, 1), data_type);
    }

private:
    void infer_normalization(id node, std::string_view op) {
        const auto& x = table_.input(node, 0);
        table_.set(node, 0, made(x.data_type, x.dims));
        if (op == "Dropout") {
            table_.set(node, 1, made(table_.opset() < 10 ? x.data_type : bool_type, x.dims));
        } else if (op == "BatchNormalization") {
            for (std::size_t i = 1; i < table_.model().output_count(node); ++i) {
                const auto& own = table_.input(node, std::min<std::size_t>(i, 2) + 2);
                table_.set(node, i, made(own.data_type, own.dims));
            }
        } else if (x.ranked()) {
            const auto axis = axis_of(table_.attributes(node).whole("axis").value_or(-1), x.rank());
            auto reduced = *x.dims;
            for (auto i = axis.value_or(reduced.size()); i < reduced.size(); ++i) {
                reduced[i] = 1;
            }
            table_.set(node, 1, made(float_type, reduced));
            table_.set(node, 2, made(float_type, reduced));
        }
    }

    void infer_product(id node, std::string_view op) {
        const auto& a = table_.input(node, 0);
        const auto& b = table_.input(node, 1);
        if (!a.ranked() || !b.ranked()) {
            return;
        }
        if (op == "Gemm") {
            const auto attributes = table_.attributes(node);
            if (a.rank() == 2 && b.rank() == 2) {
                const bool turned_a = attributes.whole("transA").value_or(0) != 0;
                const bool turned_b = attributes.whole("transB").value_or(0) != 0;
                table_.set(node, 0,
                           made(a.data_type,
                                extents{(*a.dims)[turned_a ? 1 : 0], (*b.dims)[turned_b ? 0 : 1]}));
            }
            return;
        }
        set_product(node, a, b, op == "MatMul" ? a.data_type : int32_type);
    }

    void set_product(id node, const tensor_facts& a, const tensor_facts& b,
                     std::int64_t data_type) {
        if (!a.ranked() || !b.ranked() || a.rank() == 0 || b.rank() == 0) {
            return;
        }
        const auto front = [](const extents& dims) {
            return std::optional(extents(dims.begin(), dims.end() - (dims.size() > 1 ? 2 : 1)));
        };
        auto dims = *broadcast(front(*a.dims), front(*b.dims));
        if (a.rank() > 1) {
            dims.push_back((*a.dims)[a.rank() - 2]);
        }
        if (b.rank() > 1) {
            dims.push_back(b.dims->back());
        }
        table_.set(node, 0, made(data_type, std::move(dims)));
    }

    void infer_window(id node, std::string_view op) {
        const auto& x = table_.input(node, 0);
        if (!x.ranked() || x.rank() < 2) {
            return;
        }
        extents dims(x.rank(), op.starts_with("Global") ? 1 : any_extent);
        dims[0] = (*x.dims)[0];
        const bool convolves = op.starts_with("Conv");
        const auto& w = table_.input(node, 1);
        dims[1] = !convolves ? (*x.dims)[1] : any_extent;
        if (convolves && w.ranked() && w.rank() == x.rank() && op != "ConvTranspose") {
            dims[1] = (*w.dims)[0];
        }
        if (!op.starts_with("Global") && op != "ConvTranspose") {
            slide(node, x, convolves ? &w : nullptr, dims);
        }
        table_.set(node, 0, made(op == "ConvInteger" ? int32_type : x.data_type, dims));
        table_.set(node, 1, made(int64_type, dims));
    }

    /// Extents behind a window that moves over the input, where all that counts is known.
    void slide(id node, const tensor_facts& x, const tensor_facts* w, extents& dims) const {
        const auto attributes = table_.attributes(node);
        const auto spatial = x.rank() - 2;
        const auto filled = [&](std::string_view name, std::size_t count, std::int64_t value) {
            auto numbers = attributes.wholes(name).value_or(extents{});
            numbers.resize(count, value);
            return numbers;
        };
        auto kernel = attributes.wholes("kernel_shape").value_or(extents{});
        if (kernel.empty() && w != nullptr && w->ranked() && w->rank() == x.rank()) {
            kernel.assign(w->dims->begin() + 2, w->dims->end());
        }
        const auto strides = filled("strides", spatial, 1);
        const auto dilations = filled("dilations", spatial, 1);
        const auto pads = filled("pads", 2 * spatial, 0);
        const auto automatic = attributes.text("auto_pad");
        const bool same = automatic.starts_with("SAME");
        const auto up = attributes.whole("ceil_mode").value_or(0) != 0 ? 1 : 0;
        for (std::size_t i = 0; i < spatial && kernel.size() == spatial; ++i) {
            const auto extent = (*x.dims)[i + 2];
            if (extent < 0 || kernel[i] < 1 || strides[i] < 1 || up != 0) {
                continue;
            }
            const auto reach = multiply_extents(kernel[i] - 1, dilations[i]);
            const auto padded = automatic == "VALID"
                                    ? extent
                                    : add_extents(extent, add_extents(pads[i], pads[i + spatial]));
            if (same) {
                dims[i + 2] = extent / strides[i] + (extent % strides[i] != 0 ? 1 : 0);
            } else if (reach >= 0 && padded > reach) {
                dims[i + 2] = (padded - reach - 1) / strides[i] + 1;
            }
        }
    }

    void infer_reduction(id node, std::string_view op) {
        const auto& x = table_.input(node, 0);
        const auto attributes = table_.attributes(node);
        if (op == "NonZero") {
            table_.set(node, 0,
                       made(int64_type,
                            extents{x.ranked() ? static_cast<std::int64_t>(x.rank()) : any_extent,
                                    any_extent}));
            return;
        }
        if (!x.ranked()) {
            return;
        }
        if (op == "OneHot") {
            table_.set(node, 0,
                       made(table_.input(node, 2).data_type, extents(x.rank() + 1, any_extent)));
            return;
        }
        if (op == "TopK") {
            if (const auto axis = axis_of(attributes.whole("axis").value_or(-1), x.rank())) {
                auto dims = *x.dims;
                dims[*axis] = any_extent;
                table_.set(node, 0, made(x.data_type, dims));
                table_.set(node, 1, made(int64_type, dims));
            }
            return;
        }
        const bool by_argument = op.starts_with("Arg");
        const bool keeps = attributes.whole("keepdims").value_or(1) != 0;
        std::optional<extents> axes;
        if (by_argument) {
            axes = extents{attributes.whole("axis").value_or(0)};
        } else {
            axes = table_.numbers_of(node, 1, "axes");
            if (!axes && table_.has_input(node, 1)) {
                if (keeps) {
                    table_.set(node, 0, made(x.data_type, extents(x.rank(), any_extent)));
                }
                return;
            }
        }
        std::vector<bool> reduced(x.rank(), !axes || axes->empty());
        if (axes && axes->empty() && attributes.whole("noop_with_empty_axes").value_or(0) != 0) {
            reduced.assign(x.rank(), false);
        }
        for (auto axis : axes.value_or(extents{})) {
            if (const auto at = axis_of(axis, x.rank())) {
                reduced[*at] = true;
            }
        }
        extents dims;
        for (std::size_t i = 0; i < x.rank(); ++i) {
            if (!reduced[i] || keeps) {
                dims.push_back(reduced[i] ? 1 : (*x.dims)[i]);
            }
        }
        table_.set(node, 0, made(by_argument ? int64_type : x.data_type, std::move(dims)));
    }

    void infer_recurrence(id node, std::string_view op) {
        const auto& x = table_.input(node, 0);
        const auto& r = table_.input(node, 2);
        if (!x.ranked() || x.rank() != 3 || table_.attributes(node).whole("layout") == 1) {
            return;
        }
        const auto directions = r.ranked() && r.rank() == 3 ? (*r.dims)[0] : any_extent;
        const auto hidden = r.ranked() && r.rank() == 3 ? (*r.dims)[2] : any_extent;
        table_.set(node, 0,
                   made(x.data_type, extents{(*x.dims)[0], directions, (*x.dims)[1], hidden}));
        table_.set(node, 1, made(x.data_type, extents{directions, (*x.dims)[1], hidden}));
        if (op == "LSTM") {
            table_.set(node, 2, made(x.data_type, extents{directions, (*x.dims)[1], hidden}));
        }
    }

    void infer_quantization(id node, std::string_view op) {
        const auto& x = table_.input(node, 0);
        if (op == "DequantizeLinear") {
            table_.set(node, 0, made(table_.input(node, 1).data_type, x.dims));
        } else if (op == "QuantizeLinear") {
            const auto asked = table_.attributes(node).whole("output_dtype").value_or(0);
            table_.set(node, 0,
                       made(table_.has_input(node, 2) ? table_.input(node, 2).data_type
                            : asked != 0              ? asked
                                                      : uint8_type,
                            x.dims));
        } else {
            table_.set(node, 0, made(uint8_type, x.dims));
            table_.set(node, 1, made(float_type, extents{}));
            table_.set(node, 2, made(uint8_type, extents{}));
        }
    }

    /// Equations with `...` are left alone.
    void infer_einsum(id node) {
        std::string equation(table_.attributes(node).text("equation"));
        equation.erase(std::remove(equation.begin(), equation.end(), ' '), equation.end());
        if (equation.find('.') != equation.npos) {
            return;
        }
        const auto arrow = equation.find("->");
        std::map<char, std::int64_t> extent_of;
        std::map<char, unsigned> uses;
        std::size_t slot = 0;
        std::size_t place = 0;
        for (const char letter : equation.substr(0, arrow)) {
            if (letter == ',') {
                ++slot;
                place = 0;
                continue;
            }
            const auto& x = table_.input(node, slot);
            const auto extent = x.ranked() && place < x.rank() ? (*x.dims)[place] : any_extent;
            ++place;
            ++uses[letter];
            const auto known = extent_of.try_emplace(letter, extent).first;
            known->second = broadcast(extents{known->second}, extents{extent})->front();
        }
        std::string result;
        if (arrow != equation.npos) {
            result = equation.substr(arrow + 2);
        } else {
            for (const auto& [letter, count] : uses) {
                result.append(count == 1 ? 1 : 0, letter);
            }
        }
        extents dims;
        for (const char letter : result) {
            const auto known = extent_of.find(letter);
            dims.push_back(known == extent_of.end() ? any_extent : known->second);
        }
        if (dims.size() <= max_extents) {
            table_.set(node, 0, made(table_.input(node, 0).data_type, std::move(dims)));
        }
    }

    void infer_grid_sample(id node) {
        const auto& x = table_.input(node, 0);
        const auto& grid = table_.input(node, 1);
        if (!x.ranked() || !grid.ranked() || x.rank() != grid.rank() || x.rank() < 3) {
            return;
        }
        extents dims(x.dims->begin(), x.dims->begin() + 2);
        dims.insert(dims.end(), grid.dims->begin() + 1, grid.dims->end() - 1);
        table_.set(node, 0, made(x.data_type, std::move(dims)));
    }

    fact_table& table_;
};

} // namespace stemma::detail

#endif // STEMMA_TYPES_DETAIL_COMPUTED_FACTS_HPP
