// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_WIRE_INFER_SHAPES_HPP
#define STEMMA_ONNX_WIRE_INFER_SHAPES_HPP

#include <stemma/core/id.hpp>
#include <stemma/core/string_pool.hpp>
#include <stemma/onnx/graph_contents.hpp>
#include <stemma/onnx/schema_changes.hpp>
#include <stemma/onnx/wire/node_attributes.hpp>
#include <stemma/onnx/wire/tensor_header.hpp>
#include <stemma/onnx/wire/value_types.hpp>
#include <stemma/onnx/wire/wire_model.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma {

namespace detail {

/// What is known of a tensor. An extent is a number, -1 when unknown, or below that a named one.
struct tensor_facts {
    std::int64_t data_type = 0; // 0: unknown
    std::optional<std::vector<std::int64_t>> dims;
    std::optional<std::vector<std::int64_t>> numbers; // of a small one: elements, as extents

    [[nodiscard]] bool ranked() const noexcept { return dims.has_value(); }
    [[nodiscard]] std::size_t rank() const noexcept { return dims->size(); }
};

constexpr std::int64_t float_type = 1;
constexpr std::int64_t int64_type = 7;
constexpr std::int64_t bool_type = 9;
constexpr std::int64_t any_extent = -1;

[[nodiscard]] inline bool is_one_of(std::string_view name, std::string_view list) {
    for (auto at = list.find(name); at != list.npos; at = list.find(name, at + 1)) {
        if (list[at - 1] == ' ' && list[at + name.size()] == ' ') {
            return true;
        }
    }
    return false;
}

/// Infers types and ranks, and extents where they follow simply, of the values that standard
/// operators make. What it does not know it leaves open.
class shape_inference {
public:
    shape_inference(const wire_model& model, value_types& types)
        : model_(model), types_(types), facts_(model.value_count()), contents_(model) {
        for (const auto& opset : model.opset_imports()) {
            if (opset.domain.empty() || opset.domain == "ai.onnx") {
                opset_ = opset.version;
            }
        }
        for (id value = 0; value < model.value_count(); ++value) {
            if (const auto type = types.type_of(value)) {
                facts_[value] = read_type(*type);
            }
        }
        const auto tensors = model.tensors();
        for (id i = 0; i < tensors.size(); ++i) {
            const auto& tensor = tensors[i];
            tensor_of_.emplace(tensor.value, i);
            auto& known = facts_[tensor.value];
            const auto header = read_tensor_header(model, tensor);
            known.data_type = header.data_type;
            if (!tensor.sparse) {
                known.dims = header.dims;
                note_numbers(known, read_whole_numbers(model.reader(tensor.message)));
            }
        }
    }

    void run() {
        if (opset_ > last_known_opset) {
            return;
        }
        infer_graph(0);
        keep_common_facts();
        for (id value = 0; value < model_.value_count(); ++value) {
            const auto& known = facts_[value];
            if (known.data_type != 0 && known.ranked() && !model_.is_initializer(value)) {
                types_.add(value, write_type(known));
            }
        }
    }

private:
    using extents = std::vector<std::int64_t>;

    static void note_numbers(tensor_facts& facts, whole_numbers tensor) {
        if (tensor.known && tensor.dims.size() <= 1 && tensor.data_type != bool_type) {
            facts.numbers = std::move(tensor.values);
            for (auto& number : *facts.numbers) {
                number = number < 0 ? any_extent : number;
            }
        }
    }

    [[nodiscard]] tensor_facts read_type(std::string_view type) {
        tensor_facts facts;
        wire_reader fields(type.data(), 0, static_cast<std::uint32_t>(type.size()), "type");
        for (wire_field field; fields.next(field);) {
            if (!field.is_bytes(1)) {
                continue;
            }
            auto parts = fields.inner(field);
            for (wire_field part; parts.next(part);) {
                if (part.is(1, wire_type::varint)) {
                    facts.data_type = static_cast<std::int64_t>(part.value);
                } else if (part.is_bytes(2)) {
                    facts.dims = read_shape(parts.inner(part));
                }
            }
        }
        return facts;
    }

    [[nodiscard]] extents read_shape(wire_reader dims) {
        extents shape;
        for (wire_field dim; dims.next(dim);) {
            if (!dim.is_bytes(1)) {
                continue;
            }
            std::int64_t extent = any_extent;
            auto parts = dims.inner(dim);
            for (wire_field part; parts.next(part);) {
                if (part.is(1, wire_type::varint)) {
                    extent = static_cast<std::int64_t>(part.value);
                } else if (part.is_bytes(2) && part.size() > 0) {
                    extent = -2 - static_cast<std::int64_t>(symbols_.intern(parts.text(part)));
                }
            }
            shape.push_back(extent);
        }
        return shape;
    }

    [[nodiscard]] std::string write_type(const tensor_facts& facts) const {
        std::string shape;
        for (auto extent : *facts.dims) {
            std::string dim;
            if (extent >= 0) {
                append_varint(1U << 3U, dim);
                append_varint(static_cast<std::uint64_t>(extent), dim);
            } else if (extent < any_extent) {
                append_field(2, symbols_[static_cast<id>(-2 - extent)], dim);
            }
            append_field(1, dim, shape);
        }
        std::string tensor;
        append_varint(1U << 3U, tensor);
        append_varint(static_cast<std::uint64_t>(facts.data_type), tensor);
        append_field(2, shape, tensor);
        std::string type;
        append_field(1, tensor, type);
        return type;
    }

    /// Infers the nodes of the main graph or of a function.
    void infer_graph(id g) {
        const bool in_function = model_.graph(g).kind == graph_kind::function;
        for (auto node : contents_.nodes(g)) {
            if (const auto f = model_.callee(node); f != no_id) {
                infer_call(node, model_.functions()[f].graph);
            } else if (!in_function || !node_attributes(model_, node).has_reference()) {
                infer(node);
            } else if (is_one_of(model_.op_type(node), keeps_rank)) {
                infer(node);
                forget_extents(node);
            }
        }
    }

    /// Infers the body of a function as one call of it sees it. What is known of values in the body
    /// in the end is what all calls agree on.
    void infer_call(id call, id g) {
        const auto& function = model_.graph(g);
        if (inferred_ > 8 * std::size_t{model_.node_count()} || calls_[g].open) {
            return; // calls within calls, doubling; or a recursion
        }
        calls_[g].open = true;
        inferred_ += contents_.nodes(g).size();
        for_each_value(g, [&](id value) { facts_[value] = {}; });
        for (std::size_t i = 0; i < function.inputs.size(); ++i) {
            if (function.inputs[i] != no_id) {
                facts_[function.inputs[i]] = input(call, i);
            }
        }
        infer_graph(g);
        for (std::size_t i = 0; i < function.outputs.size(); ++i) {
            if (function.outputs[i] != no_id) {
                set(call, i, facts_[function.outputs[i]]);
            }
        }
        auto& common = calls_[g].common;
        std::size_t at = 0;
        const bool first = common.empty();
        for_each_value(g, [&](id value) {
            if (first) {
                common.emplace_back(value, facts_[value]);
            } else {
                keep_common(common[at++].second, facts_[value]);
            }
        });
        calls_[g].open = false;
    }

    /// Calls `f(value)` for all that is defined in a function and its bodies.
    template <class Function>
    void for_each_value(id g, Function f) const {
        const auto formals = [&](id graph) {
            for (auto value : model_.graph(graph).inputs) {
                if (value != no_id) {
                    f(value);
                }
            }
        };
        formals(g);
        for (auto body : contents_.bodies(g)) {
            formals(body);
        }
        for (auto node : contents_.nodes(g)) {
            for (id i = 0; i < model_.output_count(node); ++i) {
                f(model_.first_output(node) + i);
            }
        }
    }

    static void keep_common(tensor_facts& common, const tensor_facts& other) {
        if (common.data_type != other.data_type) {
            common.data_type = 0;
        }
        if (!common.ranked() || !other.ranked() || common.rank() != other.rank()) {
            common.dims.reset();
            return;
        }
        for (std::size_t d = 0; d < common.rank(); ++d) {
            if ((*common.dims)[d] != (*other.dims)[d]) {
                (*common.dims)[d] = any_extent;
            }
        }
    }

    void keep_common_facts() {
        for (auto& [g, call] : calls_) {
            for (auto& [value, facts] : call.common) {
                facts_[value] = std::move(facts);
            }
        }
    }

    void forget_extents(id node) {
        for (id i = 0; i < model_.output_count(node); ++i) {
            auto& facts = facts_[model_.first_output(node) + i];
            facts.numbers.reset();
            if (facts.ranked()) {
                facts.dims->assign(facts.rank(), any_extent);
            }
        }
    }

    [[nodiscard]] const tensor_facts& input(id node, std::size_t slot) const {
        static const tensor_facts unknown;
        const auto inputs = model_.inputs(node);
        return slot < inputs.size() && inputs[slot] != no_id ? facts_[inputs[slot]] : unknown;
    }

    [[nodiscard]] bool has_input(id node, std::size_t slot) const {
        return slot < model_.inputs(node).size() && model_.inputs(node)[slot] != no_id;
    }

    void set(id node, std::size_t output, tensor_facts facts) {
        if (output >= model_.output_count(node)) {
            return;
        }
        auto& known = facts_[model_.first_output(node) + output];
        if (known.data_type == 0) {
            known.data_type = facts.data_type;
        }
        if (!known.ranked()) {
            known.dims = std::move(facts.dims);
        } else if (facts.ranked() && facts.rank() == known.rank()) {
            for (std::size_t i = 0; i < known.rank(); ++i) {
                auto& extent = (*known.dims)[i];
                extent = extent == any_extent ? (*facts.dims)[i] : extent;
            }
        }
        if (!known.numbers) {
            known.numbers = std::move(facts.numbers);
        }
    }

    [[nodiscard]] static tensor_facts made(std::int64_t data_type, std::optional<extents> dims) {
        return {data_type, std::move(dims), {}};
    }

    /// Returns: an axis counted from the front, or nothing when it is out of range.
    [[nodiscard]] static std::optional<std::size_t> axis_of(std::int64_t axis, std::size_t rank) {
        const auto signed_rank = static_cast<std::int64_t>(rank);
        axis += axis < 0 ? signed_rank : 0;
        return axis >= 0 && axis < signed_rank ? std::optional(static_cast<std::size_t>(axis))
                                               : std::nullopt;
    }

    [[nodiscard]] static std::optional<extents> broadcast(const std::optional<extents>& a,
                                                          const std::optional<extents>& b) {
        if (!a || !b) {
            return std::nullopt;
        }
        extents result(std::max(a->size(), b->size()));
        for (std::size_t i = 0; i < result.size(); ++i) {
            const auto x = i < a->size() ? (*a)[a->size() - 1 - i] : 1;
            const auto y = i < b->size() ? (*b)[b->size() - 1 - i] : 1;
            result[result.size() - 1 - i] = x == 1             ? y
                                            : y == 1 || x == y ? x
                                            : x > 1            ? x
                                            : y > 1            ? y
                                                               : any_extent;
        }
        return result;
    }

    [[nodiscard]] std::optional<extents> broadcast_inputs(id node) const {
        std::optional<extents> dims = input(node, 0).dims;
        for (std::size_t slot = 1; slot < model_.inputs(node).size(); ++slot) {
            dims = broadcast(dims, input(node, slot).dims);
        }
        return dims;
    }

    /// Returns: the numbers in an input, or those of an attribute that older opsets have instead.
    [[nodiscard]] std::optional<extents> axes_of(id node, std::size_t slot,
                                                 std::string_view name) const {
        if (has_input(node, slot)) {
            const auto value = model_.inputs(node)[slot];
            return literal(value);
        }
        return node_attributes(model_, node).wholes(name);
    }

    /// Returns: the elements of a small constant, signs and all.
    [[nodiscard]] std::optional<extents> literal(id value) const {
        if (model_.is_initializer(value)) {
            const auto& tensor = model_.tensors()[tensor_of_.at(value)];
            if (tensor.sparse) {
                return std::nullopt;
            }
            auto numbers = read_whole_numbers(model_.reader(tensor.message));
            return numbers.known ? std::optional(std::move(numbers.values)) : std::nullopt;
        }
        const auto producer = model_.producer(value);
        if (producer == no_id || model_.op_type(producer) != "Constant") {
            return std::nullopt;
        }
        const node_attributes attributes(model_, producer);
        if (auto tensor = attributes.tensor("value")) {
            return tensor->known ? std::optional(std::move(tensor->values)) : std::nullopt;
        }
        if (const auto whole = attributes.whole("value_int")) {
            return extents{*whole};
        }
        return attributes.wholes("value_ints");
    }

    /// Returns: how many elements a one-dimensional input has.
    [[nodiscard]] std::optional<std::size_t> length_of(const tensor_facts& facts) const {
        if (facts.ranked() && facts.rank() == 1 && facts.dims->front() >= 0) {
            return static_cast<std::size_t>(facts.dims->front());
        }
        return std::nullopt;
    }

    /// Returns: the shape that a tensor of extents asks for.
    [[nodiscard]] std::optional<extents> shape_in(const tensor_facts& facts) const {
        if (facts.numbers) {
            return facts.numbers;
        }
        const auto length = length_of(facts);
        return length ? std::optional(extents(*length, any_extent)) : std::nullopt;
    }

    void infer(id node) {
        if (!model_.domain(node).empty() && model_.domain(node) != "ai.onnx") {
            return;
        }
        const auto op = model_.op_type(node);
        const auto& x = input(node, 0);
        if (is_one_of(
                op, " Abs Acos Acosh Asin Asinh Atan Atanh Celu Ceil Clip Cos Cosh CumSum Elu Erf "
                    "Exp Floor Gelu GroupNormalization HardSigmoid HardSwish Hardmax Identity "
                    "InstanceNormalization LRN LeakyRelu Log LogSoftmax LpNormalization "
                    "MeanVarianceNormalization Mish Neg PRelu RMSNormalization Reciprocal Relu "
                    "ReverseSequence Round Scatter ScatterElements ScatterND Selu Shrink Sigmoid "
                    "Sign Sin Sinh Softmax Softplus Softsign Sqrt Swish Tan Tanh ThresholdedRelu "
                    "Trilu BitwiseNot Not ")) {
            set(node, 0, {x.data_type, x.dims, op == "Identity" ? x.numbers : std::nullopt});
        } else if (is_one_of(op,
                             " Add Sub Mul Div Pow Mod And Or Xor BitShift BitwiseAnd BitwiseOr "
                             "BitwiseXor Max Min Sum Mean ")) {
            set(node, 0, {x.data_type, broadcast_inputs(node), arithmetic(node, op)});
        } else if (is_one_of(op, " Equal Greater Less GreaterOrEqual LessOrEqual ")) {
            set(node, 0, made(bool_type, broadcast_inputs(node)));
        } else if (is_one_of(op, " IsNaN IsInf ")) {
            set(node, 0, made(bool_type, x.dims));
        } else if (op == "Where") {
            set(node, 0, made(input(node, 1).data_type, broadcast_inputs(node)));
        } else if (op == "Cast") {
            set(node, 0,
                {node_attributes(model_, node).whole("to").value_or(0), x.dims, x.numbers});
        } else if (op == "CastLike") {
            set(node, 0, {input(node, 1).data_type, x.dims, x.numbers});
        } else if (op == "Constant") {
            infer_constant(node);
        } else if (is_one_of(op, " Dropout BatchNormalization LayerNormalization ")) {
            infer_normalization(node, op);
        } else if (is_one_of(op, " MatMul MatMulInteger Gemm ")) {
            infer_product(node, op);
        } else if (is_one_of(op, " Conv ConvTranspose MaxPool AveragePool LpPool GlobalAveragePool "
                                 "GlobalMaxPool GlobalLpPool ConvInteger ")) {
            infer_window(node, op);
        } else if (is_one_of(op,
                             " Shape Size ConstantOfShape Expand Reshape Flatten Range Tile ")) {
            infer_shape_operator(node, op);
        } else if (is_one_of(op,
                             " Unsqueeze Squeeze Transpose Gather GatherElements GatherND Concat "
                             "Split Slice Pad Resize Upsample DepthToSpace SpaceToDepth ")) {
            infer_movement(node, op);
        } else if (op.starts_with("Reduce") ||
                   is_one_of(op, " ArgMax ArgMin TopK OneHot NonZero ")) {
            infer_reduction(node, op);
        } else if (is_one_of(op, " LSTM GRU RNN ")) {
            infer_recurrence(node, op);
        } else if (is_one_of(op, " QuantizeLinear DequantizeLinear DynamicQuantizeLinear ")) {
            infer_quantization(node, op);
        } else if (is_one_of(op, " If Loop Scan ")) {
            infer_bodies(node, op);
        }
    }

    /// Sums and products of extents.
    [[nodiscard]] std::optional<extents> arithmetic(id node, std::string_view op) const {
        const auto& a = input(node, 0).numbers;
        const auto& b = input(node, 1).numbers;
        if (!a || !b || a->size() != b->size() || model_.inputs(node).size() != 2) {
            return std::nullopt;
        }
        extents result;
        for (std::size_t i = 0; i < a->size(); ++i) {
            const auto x = (*a)[i];
            const auto y = (*b)[i];
            std::int64_t value = any_extent;
            const bool failed = x < 0 || y < 0 ||
                                (op == "Add"   ? __builtin_add_overflow(x, y, &value)
                                 : op == "Mul" ? __builtin_mul_overflow(x, y, &value)
                                               : true);
            result.push_back(failed ? any_extent : value);
        }
        return result;
    }

    void infer_constant(id node) {
        const node_attributes attributes(model_, node);
        if (auto tensor = attributes.tensor("value")) {
            auto facts = made(tensor->data_type, tensor->dims);
            note_numbers(facts, std::move(*tensor));
            set(node, 0, std::move(facts));
        }
        attributes.for_each([&](std::string_view name, wire_reader) {
            if (name == "value_int") {
                set(node, 0, made(int64_type, extents{}));
            } else if (name == "value_float") {
                set(node, 0, made(float_type, extents{}));
            } else if (name == "value_ints") {
                const auto count = attributes.wholes(name)->size();
                set(node, 0, made(int64_type, extents{static_cast<std::int64_t>(count)}));
            } else if (name == "value_floats") {
                set(node, 0, made(float_type, extents{any_extent}));
            }
        });
    }

    void infer_normalization(id node, std::string_view op) {
        const auto& x = input(node, 0);
        set(node, 0, made(x.data_type, x.dims));
        if (op == "Dropout") {
            set(node, 1, made(opset_ < 10 ? x.data_type : bool_type, x.dims));
        } else if (op == "BatchNormalization") {
            for (std::size_t i = 1; i < model_.output_count(node); ++i) {
                const auto& own = input(node, std::min<std::size_t>(i, 2) + 2);
                set(node, i, made(own.data_type, own.dims));
            }
        } else if (x.ranked()) {
            const auto axis =
                axis_of(node_attributes(model_, node).whole("axis").value_or(-1), x.rank());
            auto reduced = *x.dims;
            for (auto i = axis.value_or(reduced.size()); i < reduced.size(); ++i) {
                reduced[i] = 1;
            }
            set(node, 1, made(float_type, reduced));
            set(node, 2, made(float_type, reduced));
        }
    }

    void infer_product(id node, std::string_view op) {
        const auto& a = input(node, 0);
        const auto& b = input(node, 1);
        if (!a.ranked() || !b.ranked()) {
            return;
        }
        if (op == "Gemm") {
            const node_attributes attributes(model_, node);
            if (a.rank() == 2 && b.rank() == 2) {
                const bool turned_a = attributes.whole("transA").value_or(0) != 0;
                const bool turned_b = attributes.whole("transB").value_or(0) != 0;
                set(node, 0,
                    made(a.data_type,
                         extents{(*a.dims)[turned_a ? 1 : 0], (*b.dims)[turned_b ? 0 : 1]}));
            }
            return;
        }
        if (a.rank() == 0 || b.rank() == 0) {
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
        constexpr std::int64_t int32_type = 6;
        set(node, 0, made(op == "MatMul" ? a.data_type : int32_type, std::move(dims)));
    }

    void infer_window(id node, std::string_view op) {
        const auto& x = input(node, 0);
        if (!x.ranked() || x.rank() < 2) {
            return;
        }
        extents dims(x.rank(), op.starts_with("Global") ? 1 : any_extent);
        dims[0] = (*x.dims)[0];
        const bool convolves = op.starts_with("Conv");
        const auto& w = input(node, 1);
        dims[1] = !convolves ? (*x.dims)[1] : any_extent;
        if (convolves && w.ranked() && w.rank() == x.rank() && op != "ConvTranspose") {
            dims[1] = (*w.dims)[0];
        }
        if (!op.starts_with("Global") && op != "ConvTranspose") {
            slide(node, x, convolves ? &w : nullptr, dims);
        }
        constexpr std::int64_t int32_type = 6;
        set(node, 0, made(op == "ConvInteger" ? int32_type : x.data_type, dims));
        set(node, 1, made(int64_type, dims));
    }

    /// Extents behind a window that moves over the input, where all that counts is known.
    void slide(id node, const tensor_facts& x, const tensor_facts* w, extents& dims) const {
        const node_attributes attributes(model_, node);
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
            const auto reach = (kernel[i] - 1) * dilations[i] + 1;
            const auto padded = extent + (automatic == "VALID" ? 0 : pads[i] + pads[i + spatial]);
            dims[i + 2] =
                same ? (extent + strides[i] - 1) / strides[i] : (padded - reach) / strides[i] + 1;
        }
    }

    void infer_shape_operator(id node, std::string_view op) {
        const auto& x = input(node, 0);
        const node_attributes attributes(model_, node);
        if (op == "Size") {
            set(node, 0, made(int64_type, extents{}));
        } else if (op == "Shape") {
            infer_shape(node, x, attributes);
        } else if (op == "ConstantOfShape") {
            const auto value = attributes.tensor("value");
            set(node, 0, made(value ? value->data_type : float_type, shape_in(x)));
        } else if (op == "Expand") {
            set(node, 0, made(x.data_type, broadcast(x.dims, shape_in(input(node, 1)))));
        } else if (op == "Reshape") {
            infer_reshape(node, x);
        } else if (op == "Flatten") {
            set(node, 0, made(x.data_type, extents{any_extent, any_extent}));
        } else if (op == "Range") {
            set(node, 0, made(x.data_type, extents{any_extent}));
        } else if (x.ranked()) {
            set(node, 0, made(x.data_type, extents(x.rank(), any_extent)));
        }
    }

    void infer_shape(id node, const tensor_facts& x, const node_attributes& attributes) {
        if (!x.ranked()) {
            set(node, 0, made(int64_type, extents{any_extent}));
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
        set(node, 0, std::move(facts));
    }

    void infer_reshape(id node, const tensor_facts& x) {
        if (!has_input(node, 1)) {
            const auto shape = node_attributes(model_, node).wholes("shape");
            set(node, 0,
                made(x.data_type,
                     shape ? std::optional(extents(shape->size(), any_extent)) : std::nullopt));
            return;
        }
        auto dims = shape_in(input(node, 1));
        if (const auto exact = literal(model_.inputs(node)[1])) {
            dims = *exact;
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
        set(node, 0, made(x.data_type, std::move(dims)));
    }

    void infer_movement(id node, std::string_view op) {
        const auto& x = input(node, 0);
        if (op == "Unsqueeze") {
            infer_unsqueeze(node, x);
        } else if (op == "Squeeze") {
            infer_squeeze(node, x);
        } else if (op == "Transpose") {
            infer_transpose(node, x);
        } else if (op == "Concat") {
            infer_concat(node);
        } else if (op == "Split") {
            const auto axis =
                x.ranked()
                    ? axis_of(node_attributes(model_, node).whole("axis").value_or(0), x.rank())
                    : std::nullopt;
            for (std::size_t i = 0; axis && i < model_.output_count(node); ++i) {
                auto dims = *x.dims;
                dims[*axis] = any_extent;
                set(node, i, made(x.data_type, std::move(dims)));
            }
        } else if (op.starts_with("Gather")) {
            infer_gather(node, op, x);
        } else if (op == "Slice") {
            infer_slice(node, x);
        } else if (x.ranked()) {
            set(node, 0, made(x.data_type, extents(x.rank(), any_extent)));
        }
    }

    void infer_unsqueeze(id node, const tensor_facts& x) {
        const auto axes = axes_of(node, 1, "axes");
        const auto added = axes ? std::optional(axes->size()) : length_of(input(node, 1));
        if (!x.ranked() || !added) {
            return;
        }
        const auto rank = x.rank() + *added;
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
        set(node, 0, {x.data_type, std::move(dims), x.rank() == 0 ? x.numbers : std::nullopt});
    }

    void infer_squeeze(id node, const tensor_facts& x) {
        const auto axes = axes_of(node, 1, "axes");
        if (!x.ranked() || (!axes && has_input(node, 1))) {
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
        set(node, 0, {x.data_type, std::move(dims), x.numbers});
    }

    void infer_transpose(id node, const tensor_facts& x) {
        if (!x.ranked()) {
            return;
        }
        auto order = node_attributes(model_, node).wholes("perm").value_or(extents{});
        for (auto i = x.rank(); order.size() < x.rank() && i-- > 0;) {
            order.push_back(static_cast<std::int64_t>(i));
        }
        extents dims;
        for (auto from : order) {
            const auto at = axis_of(from, x.rank());
            dims.push_back(at ? (*x.dims)[*at] : any_extent);
        }
        if (dims.size() == x.rank()) {
            set(node, 0, made(x.data_type, std::move(dims)));
        }
    }

    void infer_concat(id node) {
        const auto& x = input(node, 0);
        std::optional<extents> dims = x.dims;
        std::optional<extents> numbers = extents{};
        for (std::size_t slot = 0; slot < model_.inputs(node).size(); ++slot) {
            const auto& part = input(node, slot);
            if (!dims && part.ranked()) {
                dims = extents(part.rank(), any_extent);
            }
            if (part.numbers && numbers) {
                numbers->insert(numbers->end(), part.numbers->begin(), part.numbers->end());
            } else if (const auto length = length_of(part); length && numbers) {
                numbers->insert(numbers->end(), *length, any_extent);
            } else {
                numbers.reset();
            }
        }
        if (!dims) {
            return;
        }
        const auto axis =
            axis_of(node_attributes(model_, node).whole("axis").value_or(1), dims->size());
        std::int64_t sum = 0;
        for (std::size_t slot = 0; axis && slot < model_.inputs(node).size(); ++slot) {
            const auto& part = input(node, slot);
            const bool known = part.ranked() && part.rank() == dims->size() &&
                               (*part.dims)[*axis] >= 0 && sum >= 0;
            sum = known ? sum + (*part.dims)[*axis] : any_extent;
        }
        if (axis) {
            (*dims)[*axis] = sum;
            const bool flat = dims->size() == 1;
            set(node, 0, {x.data_type, std::move(dims), flat ? numbers : std::nullopt});
        }
    }

    void infer_gather(id node, std::string_view op, const tensor_facts& x) {
        const auto& indices = input(node, 1);
        if (!indices.ranked()) {
            return;
        }
        if (op == "GatherElements") {
            set(node, 0, made(x.data_type, indices.dims));
        } else if (x.ranked() && op == "Gather") {
            const auto axis =
                axis_of(node_attributes(model_, node).whole("axis").value_or(0), x.rank());
            if (!axis) {
                return;
            }
            const auto at = static_cast<std::ptrdiff_t>(*axis);
            extents dims(x.dims->begin(), x.dims->begin() + at);
            dims.insert(dims.end(), indices.dims->begin(), indices.dims->end());
            dims.insert(dims.end(), x.dims->begin() + at + 1, x.dims->end());
            set(node, 0, {x.data_type, std::move(dims), gathered(node, x)});
        } else if (x.ranked() && indices.rank() > 0 && indices.dims->back() >= 0) {
            const auto taken = static_cast<std::size_t>(indices.dims->back()) +
                               static_cast<std::size_t>(
                                   node_attributes(model_, node).whole("batch_dims").value_or(0));
            if (taken <= x.rank()) {
                set(node, 0,
                    made(x.data_type, extents(indices.rank() - 1 + x.rank() - taken, any_extent)));
            }
        }
    }

    /// Extents picked out of a shape by a constant index.
    [[nodiscard]] std::optional<extents> gathered(id node, const tensor_facts& x) const {
        const auto indices = literal(model_.inputs(node)[1]);
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

    void infer_slice(id node, const tensor_facts& x) {
        if (!x.ranked()) {
            return;
        }
        extents dims = *x.dims;
        std::optional<extents> axes;
        if (has_input(node, 3)) {
            axes = literal(model_.inputs(node)[3]);
        } else if (opset_ < 10) {
            axes = node_attributes(model_, node).wholes("axes");
        }
        if (!axes && (has_input(node, 3) || opset_ < 10)) {
            dims.assign(dims.size(), any_extent);
        } else if (!axes) {
            const auto count = length_of(input(node, 1)).value_or(dims.size());
            std::fill_n(dims.begin(), static_cast<std::ptrdiff_t>(std::min(count, dims.size())),
                        any_extent);
        }
        for (auto axis : axes.value_or(extents{})) {
            if (const auto at = axis_of(axis, x.rank())) {
                dims[*at] = any_extent;
            }
        }
        set(node, 0, made(x.data_type, std::move(dims)));
    }

    void infer_reduction(id node, std::string_view op) {
        const auto& x = input(node, 0);
        const node_attributes attributes(model_, node);
        if (op == "NonZero") {
            set(node, 0,
                made(int64_type,
                     extents{x.ranked() ? static_cast<std::int64_t>(x.rank()) : any_extent,
                             any_extent}));
            return;
        }
        if (!x.ranked()) {
            return;
        }
        if (op == "OneHot") {
            set(node, 0, made(input(node, 2).data_type, extents(x.rank() + 1, any_extent)));
            return;
        }
        if (op == "TopK") {
            if (const auto axis = axis_of(attributes.whole("axis").value_or(-1), x.rank())) {
                auto dims = *x.dims;
                dims[*axis] = any_extent;
                set(node, 0, made(x.data_type, dims));
                set(node, 1, made(int64_type, dims));
            }
            return;
        }
        const bool by_argument = op.starts_with("Arg");
        const bool keeps = attributes.whole("keepdims").value_or(1) != 0;
        std::optional<extents> axes;
        if (by_argument) {
            axes = extents{attributes.whole("axis").value_or(0)};
        } else {
            axes = axes_of(node, 1, "axes");
            if (!axes && has_input(node, 1)) {
                if (keeps) {
                    set(node, 0, made(x.data_type, extents(x.rank(), any_extent)));
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
        set(node, 0, made(by_argument ? int64_type : x.data_type, std::move(dims)));
    }

    void infer_recurrence(id node, std::string_view op) {
        const auto& x = input(node, 0);
        const auto& r = input(node, 2);
        if (!x.ranked() || x.rank() != 3 || node_attributes(model_, node).whole("layout") == 1) {
            return;
        }
        const auto directions = r.ranked() && r.rank() == 3 ? (*r.dims)[0] : any_extent;
        const auto hidden = r.ranked() && r.rank() == 3 ? (*r.dims)[2] : any_extent;
        set(node, 0, made(x.data_type, extents{(*x.dims)[0], directions, (*x.dims)[1], hidden}));
        set(node, 1, made(x.data_type, extents{directions, (*x.dims)[1], hidden}));
        if (op == "LSTM") {
            set(node, 2, made(x.data_type, extents{directions, (*x.dims)[1], hidden}));
        }
    }

    void infer_quantization(id node, std::string_view op) {
        const auto& x = input(node, 0);
        constexpr std::int64_t uint8_type = 2;
        if (op == "DequantizeLinear") {
            set(node, 0, made(input(node, 1).data_type, x.dims));
        } else if (op == "QuantizeLinear") {
            const auto asked = node_attributes(model_, node).whole("output_dtype").value_or(0);
            set(node, 0,
                made(has_input(node, 2) ? input(node, 2).data_type
                     : asked != 0       ? asked
                                        : uint8_type,
                     x.dims));
        } else {
            set(node, 0, made(uint8_type, x.dims));
            set(node, 1, made(float_type, extents{}));
            set(node, 2, made(uint8_type, extents{}));
        }
    }

    /// The results of bodies are inferred before their owner, as body nodes come first.
    void infer_bodies(id node, std::string_view op) {
        const auto bodies = contents_.bodies_of(node);
        if (bodies.empty()) {
            return;
        }
        for (std::size_t i = 0; i < model_.output_count(node); ++i) {
            std::optional<tensor_facts> common;
            for (auto g : bodies) {
                const auto& outputs = model_.graph(g).outputs;
                const auto slot = op == "Loop" ? i + 1 : i;
                if (slot >= outputs.size() || outputs[slot] == no_id) {
                    return;
                }
                const auto& facts = facts_[outputs[slot]];
                if (!common) {
                    common = made(facts.data_type, facts.dims);
                } else {
                    keep_common(*common, facts);
                }
            }
            if (!common || !common->ranked()) {
                continue;
            }
            if (op == "If") {
                set(node, i, std::move(*common));
                continue;
            }
            const auto states = states_of(node, op, bodies.front());
            extents dims(common->rank() + (i < states ? 0 : 1), any_extent);
            set(node, i, made(common->data_type, std::move(dims)));
        }
    }

    /// Returns: how many results of a loop are its last state; the others stack up.
    [[nodiscard]] std::size_t states_of(id node, std::string_view op, id body) const {
        if (op == "Loop") {
            return model_.inputs(node).size() < 2 ? 0 : model_.inputs(node).size() - 2;
        }
        const auto scanned = node_attributes(model_, node).whole("num_scan_inputs").value_or(0);
        const auto formals = model_.graph(body).inputs.size();
        return formals - std::min(formals, static_cast<std::size_t>(scanned));
    }

    struct function_calls {
        std::vector<std::pair<id, tensor_facts>> common; // by value: what all calls agree on
        bool open = false;
    };

    // Operators whose results have a rank that no attribute changes.
    static constexpr std::string_view keeps_rank =
        " Transpose Softmax LogSoftmax Concat Gather LayerNormalization BatchNormalization Gemm "
        "Conv "
        "MaxPool AveragePool Dropout LeakyRelu Elu Selu Clip HardSigmoid LRN ";

    const wire_model& model_;
    value_types& types_;
    std::vector<tensor_facts> facts_; // by value
    graph_contents contents_;
    std::unordered_map<id, id> tensor_of_; // by initializer: its number
    std::map<id, function_calls> calls_;   // by graph of a function
    std::size_t inferred_ = 0;             // nodes in bodies of functions, call after call
    string_pool symbols_;                  // names of extents
    std::int64_t opset_ = 0;
};

} // namespace detail

/// Adds the types of the values that standard operators make, as far as they follow from declared
/// types and small constants: element type and rank, and extents where they follow simply.
///
/// Never guesses: what depends on data, on operators of other domains or on opsets that are not
/// known stays open. Formal inputs of bodies count as declared only; functions are inferred call by
/// call, and of values in them what all calls agree on is known. Complexity: O(nodes + values).
inline void infer_shapes(const wire_model& model, value_types& types) {
    detail::shape_inference(model, types).run();
}

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_INFER_SHAPES_HPP
