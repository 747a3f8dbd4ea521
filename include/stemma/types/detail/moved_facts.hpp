// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TYPES_DETAIL_MOVED_FACTS_HPP
#define STEMMA_TYPES_DETAIL_MOVED_FACTS_HPP

#include <stemma/core/id.hpp>
#include <stemma/onnx/detail/node_attributes.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/types/detail/fact_table.hpp>
#include <stemma/types/detail/tensor_facts.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::detail {

/// Infers what constants, shapes, and operators that move elements without changing them make.
class moved_facts {
public:
    /// Requires: `table` outlives this.
    explicit moved_facts(fact_table& table) : table_(table) {}

    /// Returns: whether the operator is one of them.
    bool infer(id node, std::string_view op) {
        if (op == "Constant") {
            infer_constant(node);
        } else if (is_one_of(op,
                             " Shape Size ConstantOfShape Expand Reshape Flatten Range Tile ")) {
            infer_shape_operator(node, op);
        } else if (is_one_of(op,
                             " Unsqueeze Squeeze Transpose Gather GatherElements GatherND Concat "
                             "Pad Resize Upsample DepthToSpace SpaceToDepth ")) {
            infer_movement(node, op);
        } else {
            return false;
        }
        return true;
    }

private:
    void infer_constant(id node) {
        const auto attributes = table_.attributes(node);
        if (auto tensor = attributes.tensor("value")) {
            auto facts = made(tensor->data_type, as_extents(tensor->dims));
            fact_table::note_numbers(facts, std::move(*tensor));
            table_.set(node, 0, std::move(facts));
        }
        attributes.for_each([&](std::string_view name, wire_reader) {
            if (name == "value_int") {
                table_.set(node, 0, made(int64_type, extents{}));
            } else if (name == "value_float") {
                table_.set(node, 0, made(float_type, extents{}));
            } else if (name == "value_ints") {
                const auto count = attributes.wholes(name)->size();
                table_.set(node, 0, made(int64_type, extents{static_cast<std::int64_t>(count)}));
            } else if (name == "value_floats") {
                table_.set(node, 0, made(float_type, extents{any_extent}));
            }
        });
    }

    void infer_shape_operator(id node, std::string_view op) {
        const auto& x = table_.input(node, 0);
        const auto attributes = table_.attributes(node);
        if (op == "Size") {
            table_.set(node, 0, made(int64_type, extents{}));
        } else if (op == "Shape") {
            infer_shape(node, x, attributes);
        } else if (op == "ConstantOfShape") {
            const auto value = attributes.tensor("value");
            table_.set(node, 0,
                       made(value ? value->data_type : float_type, fact_table::shape_in(x)));
        } else if (op == "Expand") {
            table_.set(
                node, 0,
                made(x.data_type, broadcast(x.dims, fact_table::shape_in(table_.input(node, 1)))));
        } else if (op == "Reshape") {
            infer_reshape(node, x);
        } else if (op == "Flatten") {
            table_.set(node, 0, made(x.data_type, extents{any_extent, any_extent}));
        } else if (op == "Range") {
            table_.set(node, 0, made(x.data_type, extents{any_extent}));
        } else if (x.ranked()) {
            table_.set(node, 0, made(x.data_type, extents(x.rank(), any_extent)));
        }
    }

    void infer_shape(id node, const tensor_facts& x, const node_attributes& attributes) {
        if (!x.ranked()) {
            table_.set(node, 0, made(int64_type, extents{any_extent}));
            return;
        }
        const auto rank = static_cast<std::int64_t>(x.rank());
        const auto clamp = [&](std::int64_t at) {
            return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank);
        };
        const auto first = clamp(attributes.whole("start").value_or(0));
        const auto last = std::max(first, clamp(attributes.whole("end").value_or(rank)));
        tensor_facts facts = made(int64_type, extents{last - first});
        facts.numbers = extents(x.dims->begin() + first, x.dims->begin() + last);
        table_.set(node, 0, std::move(facts));
    }

    void infer_reshape(id node, const tensor_facts& x) {
        if (!table_.has_input(node, 1)) {
            const auto shape = table_.attributes(node).wholes("shape");
            table_.set(node, 0,
                       made(x.data_type, shape ? std::optional(extents(shape->size(), any_extent))
                                               : std::nullopt));
            return;
        }
        auto dims = fact_table::shape_in(table_.input(node, 1));
        if (const auto exact = table_.literal(table_.model().inputs(node)[1])) {
            dims = as_extents(*exact);
            std::int64_t rest = 1;
            std::size_t open = dims->size();
            bool known = x.ranked();
            for (std::size_t i = 0; i < dims->size(); ++i) {
                auto& extent = (*dims)[i];
                if (extent == 0) {
                    extent = x.ranked() && i < x.rank() ? (*x.dims)[i] : any_extent;
                }
                if ((*exact)[i] == -1) {
                    open = i;
                } else if (extent < 0 || __builtin_mul_overflow(rest, extent, &rest)) {
                    known = false;
                }
            }
            std::int64_t all = 1;
            for (std::size_t i = 0; known && i < x.rank(); ++i) {
                known = (*x.dims)[i] >= 0 && !__builtin_mul_overflow(all, (*x.dims)[i], &all);
            }
            if (open < dims->size()) {
                (*dims)[open] = known && rest > 0 ? all / rest : any_extent;
            }
        }
        table_.set(node, 0, made(x.data_type, std::move(dims)));
    }

    void infer_movement(id node, std::string_view op) {
        const auto& x = table_.input(node, 0);
        if (op == "Unsqueeze") {
            infer_unsqueeze(node, x);
        } else if (op == "Squeeze") {
            infer_squeeze(node, x);
        } else if (op == "Transpose") {
            infer_transpose(node, x);
        } else if (op == "Concat") {
            infer_concat(node);
        } else if (op.starts_with("Gather")) {
            infer_gather(node, op, x);
        } else if (x.ranked()) {
            table_.set(node, 0, made(x.data_type, extents(x.rank(), any_extent)));
        }
    }

    void infer_unsqueeze(id node, const tensor_facts& x) {
        const auto axes = table_.numbers_of(node, 1, "axes");
        const auto added =
            axes ? std::optional(axes->size()) : fact_table::length_of(table_.input(node, 1));
        if (!x.ranked() || !added) {
            return;
        }
        const auto rank = x.rank() + *added;
        if (rank > max_extents) {
            return;
        }
        extents dims(rank, any_extent);
        if (axes) {
            std::vector<bool> is_new(rank, false);
            for (auto axis : *axes) {
                const auto at = axis_of(axis, rank);
                if (!at) {
                    return;
                }
                is_new[*at] = true;
            }
            std::size_t from = 0;
            for (std::size_t i = 0; i < rank; ++i) {
                dims[i] = is_new[i] ? 1 : from < x.rank() ? (*x.dims)[from++] : any_extent;
            }
        }
        table_.set(node, 0,
                   {x.data_type, std::move(dims), x.rank() == 0 ? x.numbers : std::nullopt});
    }

    void infer_squeeze(id node, const tensor_facts& x) {
        const auto axes = table_.numbers_of(node, 1, "axes");
        if (!x.ranked() || (!axes && table_.has_input(node, 1))) {
            return;
        }
        std::vector<bool> gone(x.rank(), false);
        if (axes) {
            for (auto axis : *axes) {
                const auto at = axis_of(axis, x.rank());
                if (!at) {
                    return;
                }
                gone[*at] = true;
            }
        } else {
            for (std::size_t i = 0; i < x.rank(); ++i) {
                if ((*x.dims)[i] < 0) {
                    return; // whether an unknown extent goes is not known
                }
                gone[i] = (*x.dims)[i] == 1;
            }
        }
        extents dims;
        for (std::size_t i = 0; i < x.rank(); ++i) {
            if (!gone[i]) {
                dims.push_back((*x.dims)[i]);
            }
        }
        table_.set(node, 0, {x.data_type, std::move(dims), x.numbers});
    }

    void infer_transpose(id node, const tensor_facts& x) {
        if (!x.ranked()) {
            return;
        }
        auto order = table_.attributes(node).wholes("perm").value_or(extents{});
        for (auto i = x.rank(); order.size() < x.rank() && i-- > 0;) {
            order.push_back(static_cast<std::int64_t>(i));
        }
        extents dims;
        for (auto from : order) {
            const auto at = axis_of(from, x.rank());
            dims.push_back(at ? (*x.dims)[*at] : any_extent);
        }
        if (dims.size() == x.rank()) {
            table_.set(node, 0, made(x.data_type, std::move(dims)));
        }
    }

    void infer_concat(id node) {
        const auto& x = table_.input(node, 0);
        std::optional<extents> dims = x.dims;
        std::optional<extents> numbers = extents{};
        for (std::size_t slot = 0; slot < table_.model().inputs(node).size(); ++slot) {
            const auto& part = table_.input(node, slot);
            if (!dims && part.ranked()) {
                dims = extents(part.rank(), any_extent);
            }
            if (numbers && numbers->size() > max_extents) {
                numbers.reset();
            } else if (part.numbers && numbers) {
                numbers->insert(numbers->end(), part.numbers->begin(), part.numbers->end());
            } else if (const auto length = fact_table::length_of(part); length && numbers) {
                numbers->insert(numbers->end(), *length, any_extent);
            } else {
                numbers.reset();
            }
        }
        if (!dims) {
            return;
        }
        const auto axis = axis_of(table_.attributes(node).whole("axis").value_or(1), dims->size());
        std::int64_t sum = 0;
        for (std::size_t slot = 0; axis && slot < table_.model().inputs(node).size(); ++slot) {
            const auto& part = table_.input(node, slot);
            const bool known = part.ranked() && part.rank() == dims->size() &&
                               (*part.dims)[*axis] >= 0 && sum >= 0;
            sum = known ? add_extents(sum, (*part.dims)[*axis]) : any_extent;
        }
        if (axis) {
            (*dims)[*axis] = sum;
            const bool flat = dims->size() == 1;
            table_.set(node, 0, {x.data_type, std::move(dims), flat ? numbers : std::nullopt});
        }
    }

    void infer_gather(id node, std::string_view op, const tensor_facts& x) {
        const auto& indices = table_.input(node, 1);
        if (!indices.ranked()) {
            return;
        }
        if (op == "GatherElements") {
            table_.set(node, 0, made(x.data_type, indices.dims));
        } else if (x.ranked() && op == "Gather") {
            const auto axis = axis_of(table_.attributes(node).whole("axis").value_or(0), x.rank());
            if (!axis) {
                return;
            }
            const auto at = static_cast<std::ptrdiff_t>(*axis);
            extents dims(x.dims->begin(), x.dims->begin() + at);
            dims.insert(dims.end(), indices.dims->begin(), indices.dims->end());
            dims.insert(dims.end(), x.dims->begin() + at + 1, x.dims->end());
            table_.set(node, 0, {x.data_type, std::move(dims), gathered(node, x)});
        } else if (x.ranked() && indices.rank() > 0 && indices.dims->back() >= 0) {
            const auto taken =
                static_cast<std::size_t>(indices.dims->back()) +
                static_cast<std::size_t>(table_.attributes(node).whole("batch_dims").value_or(0));
            if (taken <= x.rank()) {
                table_.set(
                    node, 0,
                    made(x.data_type, extents(indices.rank() - 1 + x.rank() - taken, any_extent)));
            }
        }
    }

    /// Extents picked out of a shape by a constant index.
    [[nodiscard]] std::optional<extents> gathered(id node, const tensor_facts& x) const {
        const auto indices = table_.literal(table_.model().inputs(node)[1]);
        if (!x.numbers || !indices) {
            return std::nullopt;
        }
        extents picked;
        for (auto index : *indices) {
            const auto at = axis_of(index, x.numbers->size());
            picked.push_back(at ? (*x.numbers)[*at] : any_extent);
        }
        return picked;
    }

    fact_table& table_;
};

} // namespace stemma::detail

#endif // STEMMA_TYPES_DETAIL_MOVED_FACTS_HPP
