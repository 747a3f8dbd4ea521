// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TYPES_DETAIL_FACT_TABLE_HPP
#define STEMMA_TYPES_DETAIL_FACT_TABLE_HPP

#include <stemma/core/id.hpp>
#include <stemma/model/detail/operator_domain.hpp>
#include <stemma/onnx/detail/constant_node.hpp>
#include <stemma/onnx/detail/node_attributes.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/opset_texts.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/onnx/tensor_header.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/types/detail/extent_algebra.hpp>
#include <stemma/types/detail/fact_pool.hpp>
#include <stemma/types/detail/tensor_facts.hpp>
#include <stemma/types/detail/tensor_types.hpp>
#include <stemma/types/value_types.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Facts about all values of a model, by value and by operand of a node.
class fact_table {
public:
    /// Starts with declared types and initializers. With `exact`, inferred extents take precedence
    /// over declared names, and the algebra assumes what a run would need.
    fact_table(const wire_model& model, value_types& types, bool exact = false)
        : model_(&model)
        , exact_(exact)
        , facts_(model.value_count(), 0)
        , tensor_of_(model.value_count(), no_id)
        , literals_(model.value_count(), 0)
        , algebra_(types_.names(), exact) {
        for (const auto& opset : model.opset_imports()) {
            if (plain_domain(opset.domain).empty()) {
                opset_ = opset.version;
            }
        }
        function_opsets_ = function_opsets(model, opset_);
        for (id value = 0; value < model.value_count(); ++value) {
            if (types.has_type(value)) {
                put(value, types_.read(*types.type_of(value)));
            }
        }
        const auto tensors = model.tensors();
        for (id i = 0; i < tensors.size(); ++i) {
            const auto& tensor = tensors[i];
            if (tensor_of_[tensor.value] == no_id) {
                tensor_of_[tensor.value] = i;
            }
            auto facts = (*this)[tensor.value];
            if (tensor.sparse) {
                const auto header = read_value_header(model, tensor);
                facts.data_type = header.data_type;
                facts.dims = as_extents(header.dims);
            } else {
                auto read = read_whole_numbers(model.reader(tensor.message));
                facts.data_type = read.data_type;
                facts.dims = as_extents(read.dims);
                note_numbers(facts, std::move(read));
            }
            put(tensor.value, std::move(facts));
        }
        is_constant_.resize(model.operator_count());
        for (id op = 0; op < model.operator_count(); ++op) {
            is_constant_[op] = is_constant_operator(model, op);
        }
    }

    /// What inference of one node learned.
    struct inferred {
        std::vector<std::pair<id, id>> made; ///< output, and its facts
        bool looks_closer = false;           ///< at attributes or constants
        bool looks_beyond = false;           ///< at what is in no key
    };

    [[nodiscard]] const wire_model& model() const noexcept { return *model_; }
    /// Returns: the opset of the standard domain, 0 if the model imports none.
    [[nodiscard]] std::int64_t opset() const noexcept { return opset_; }
    /// Returns: the same for a node; one in a function uses what the function imports.
    /// Complexity: O(depth of the bodies around it) for a model with functions, else O(1).
    [[nodiscard]] std::int64_t opset_of(id node) const {
        if (function_opsets_.empty()) {
            return opset_;
        }
        const auto f = model_->graph(model_->outermost(model_->graph_of(node))).function;
        return f == no_id ? opset_ : function_opsets_[f];
    }

    [[nodiscard]] const tensor_facts& operator[](id value) const noexcept {
        return pool_[facts_[value]];
    }

    /// Replaces the facts about a value.
    void put(id value, tensor_facts facts) {
        forget_monsters(facts);
        facts_[value] = pool_.intern(std::move(facts));
    }

    /// Adds facts about a value; known facts stay.
    void add(id value, const tensor_facts& facts) { put(value, joined((*this)[value], facts)); }

    /// Says which value a call passes as a formal input of its function, `no_id` for none.
    void give(id formal, id argument) {
        given_.resize(model_->value_count(), no_id);
        given_[formal] = argument;
    }

    /// What is inferred depends on more than operator, inputs, attributes and small constants.
    void look_beyond() const { seen_.looks_beyond = true; }

    /// Returns: the attributes of a node.
    [[nodiscard]] node_attributes attributes(id node) const {
        seen_.looks_closer = true;
        return {*model_, node};
    }

    /// Returns: the facts about a value as a TypeProto.
    /// Requires: they are ranked.
    [[nodiscard]] std::string type_of(id value) const { return types_.write((*this)[value]); }

    /// Returns: the facts about an input; unknown for an omitted one.
    [[nodiscard]] const tensor_facts& input(id node, std::size_t slot) const {
        const auto inputs = model_->inputs(node);
        return slot < inputs.size() && inputs[slot] != no_id ? (*this)[inputs[slot]] : pool_[0];
    }

    [[nodiscard]] bool has_input(id node, std::size_t slot) const {
        return slot < model_->inputs(node).size() && model_->inputs(node)[slot] != no_id;
    }

    /// Adds facts about an output; known facts stay.
    void set(id node, std::size_t output, tensor_facts facts) {
        if (output >= model_->output_count(node)) {
            return;
        }
        forget_monsters(facts);
        note(node, static_cast<id>(output), pool_.intern(std::move(facts)));
    }

    /// As `set`, for facts of this number.
    void note(id node, id output, id number) {
        if (watching_) {
            seen_.made.emplace_back(output, number);
        }
        auto& stored = facts_[model_->first_output(node) + output];
        if (stored == 0) {
            stored = number;
        } else if (stored != number) {
            stored = pool_.intern(joined(pool_[stored], pool_[number]));
        }
    }

    /// Records, until `stop_watching`, what is learned and whether attributes or constants are
    /// read.
    void watch() {
        seen_ = {};
        watching_ = true;
    }
    [[nodiscard]] inferred stop_watching() {
        watching_ = false;
        return std::exchange(seen_, {});
    }

    /// Appends the operator of a node, its opset and the facts about its inputs to a key.
    void append_inputs(id node, std::string& key) const {
        append_number(model_->operator_id(node), key);
        append_number(model_->output_count(node), key);
        if (!function_opsets_.empty()) {
            append_number(static_cast<id>(opset_of(node)), key);
        }
        for (auto value : model_->inputs(node)) {
            append_number(value == no_id ? no_id : facts_[value], key);
        }
    }

    /// Appends the attributes of a node and the constants that it reads to a key.
    /// Returns: false if they are too long.
    [[nodiscard]] bool append_details(id node, std::string& key) {
        constexpr std::uint32_t most_bytes = 512;
        if (model_->message(node).size > most_bytes) {
            return false;
        }
        for (auto value : model_->inputs(node)) {
            append_number(value == no_id ? 0 : literal_number(value), key);
        }
        auto fields = model_->reader(model_->message(node));
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(detail::onnx_fields::node::attribute)) {
                key.append(fields.whole(field));
            }
        }
        return true;
    }

    /// Returns: the elements of a small constant, including signs.
    [[nodiscard]] std::optional<extents> literal(id value) const {
        seen_.looks_closer = true;
        return read_literal(value);
    }

    /// Returns: the elements of a small constant of floats, or of several that a Concat joins.
    [[nodiscard]] std::optional<std::vector<float>> reals(id value) const {
        look_beyond();
        value = behind_copies(value);
        const auto producer = producer_of(value);
        if (producer == no_id || model_->op_type(producer) != "Concat" ||
            model_->inputs(producer).size() > max_extents) {
            return read_reals(value);
        }
        std::optional<std::vector<float>> joined(std::in_place);
        for (auto part : model_->inputs(producer)) {
            const auto read = read_reals(behind_copies(part));
            if (!read || joined->size() + read->size() > max_extents) {
                return std::nullopt;
            }
            joined->insert(joined->end(), read->begin(), read->end());
        }
        return joined;
    }

    /// Returns: the names of extents, and the arithmetic on these.
    [[nodiscard]] string_pool& names() noexcept { return types_.names(); }
    [[nodiscard]] extent_algebra& algebra() noexcept { return algebra_; }
    [[nodiscard]] const extent_algebra& algebra() const noexcept { return algebra_; }

    /// Returns: the length of a small one-dimensional input.
    [[nodiscard]] static std::optional<std::size_t> length_of(const tensor_facts& facts) {
        if (facts.ranked() && facts.rank() == 1 && facts.dims->front() >= 0 &&
            facts.dims->front() <= static_cast<std::int64_t>(max_extents)) {
            return static_cast<std::size_t>(facts.dims->front());
        }
        return std::nullopt;
    }

    /// Returns: the shape given by a tensor of extents.
    [[nodiscard]] static std::optional<extents> shape_in(const tensor_facts& facts) {
        if (facts.numbers) {
            return facts.numbers;
        }
        const auto length = length_of(facts);
        return length ? std::optional(extents(*length, any_extent)) : std::nullopt;
    }

    static void note_numbers(tensor_facts& facts, whole_numbers tensor) {
        if (tensor.known && tensor.dims.size() <= 1 && tensor.data_type != bool_type) {
            facts.numbers = as_extents(std::move(tensor.values));
        }
    }

private:
    /// Returns: what the calls around a formal input of a function pass; other values as they are.
    [[nodiscard]] id argument_of(id value) const {
        while (!given_.empty() && value != no_id && given_[value] != no_id) {
            value = given_[value];
        }
        return value;
    }

    [[nodiscard]] id producer_of(id value) const {
        return value == no_id ? no_id : model_->producer(value);
    }

    /// Returns: the value that a few nested Identity or Cast pass on.
    [[nodiscard]] id behind_copies(id value) const {
        constexpr int most = 8;
        for (int i = 0; i < most; ++i) {
            value = argument_of(value);
            const auto producer = producer_of(value);
            if (producer == no_id || model_->inputs(producer).size() != 1 ||
                (model_->op_type(producer) != "Identity" && model_->op_type(producer) != "Cast")) {
                break;
            }
            value = model_->inputs(producer).front();
        }
        return value;
    }

    [[nodiscard]] std::optional<std::vector<float>> read_reals(id value) const {
        std::optional<std::vector<float>> read;
        value = argument_of(value);
        if (value != no_id && model_->is_initializer(value)) {
            const auto& tensor = model_->tensors()[tensor_of_[value]];
            return tensor.sparse ? read : read_small_floats(model_->reader(tensor.message));
        }
        const auto producer = producer_of(value);
        if (producer != no_id && is_constant_[model_->operator_id(producer)]) {
            if (const auto tensor = model_->constant_tensor(producer)) {
                read = read_small_floats(model_->reader(*tensor));
            }
        }
        return read;
    }

    [[nodiscard]] std::optional<extents> read_literal(id value) const {
        value = argument_of(value);
        if (model_->is_initializer(value)) {
            const auto& tensor = model_->tensors()[tensor_of_[value]];
            if (tensor.sparse) {
                return std::nullopt;
            }
            auto numbers = read_whole_numbers(model_->reader(tensor.message));
            return numbers.known ? std::optional(std::move(numbers.values)) : std::nullopt;
        }
        const auto producer = model_->producer(value);
        if (producer == no_id || !is_constant_[model_->operator_id(producer)]) {
            return std::nullopt;
        }
        const node_attributes attributes(*model_, producer);
        if (auto tensor = attributes.tensor("value")) {
            return tensor->known ? std::optional(std::move(tensor->values)) : std::nullopt;
        }
        if (const auto whole = attributes.whole("value_int")) {
            return extents{*whole};
        }
        auto numbers = attributes.wholes("value_ints");
        return numbers && numbers->size() <= max_extents ? numbers : std::nullopt;
    }

    /// Returns: a number shared by equal constants; 0 for anything else.
    [[nodiscard]] id literal_number(id value) {
        value = argument_of(value);
        if (literals_[value] == 0) {
            auto read = read_literal(value);
            literals_[value] = read ? pool_.intern({0, {}, std::move(read)}) : no_id;
        }
        return literals_[value] == no_id ? 0 : literals_[value];
    }

    static void append_number(id number, std::string& key) {
        char bytes[sizeof number];
        std::memcpy(bytes, &number, sizeof number);
        key.append(bytes, sizeof number);
    }

    /// Returns: known facts, completed by new ones.
    [[nodiscard]] tensor_facts joined(tensor_facts result, const tensor_facts& facts) const {
        if (result.data_type == 0) {
            result.data_type = facts.data_type;
        }
        if (!result.ranked()) {
            result.dims = facts.dims;
        } else if (facts.ranked() && facts.rank() == result.rank()) {
            for (std::size_t i = 0; i < result.rank(); ++i) {
                auto& extent = (*result.dims)[i];
                const bool open = extent == any_extent || (exact_ && extent < any_extent);
                extent = open && (*facts.dims)[i] != any_extent ? (*facts.dims)[i] : extent;
            }
        }
        if (!result.numbers) {
            result.numbers = facts.numbers;
        }
        return result;
    }

    static void forget_monsters(tensor_facts& facts) {
        if (facts.ranked() && facts.rank() > max_extents) {
            facts.dims.reset();
        }
        if (facts.numbers && facts.numbers->size() > max_extents) {
            facts.numbers.reset();
        }
    }

    const wire_model* model_;
    bool exact_;
    fact_pool pool_;
    std::vector<id> facts_;         // by value: number in the pool
    std::vector<id> tensor_of_;     // by value: number of the initializer
    std::vector<id> literals_;      // by value: number in the pool, or `no_id`; 0 until needed
    std::vector<bool> is_constant_; // by operator: Constant
    std::vector<id> given_;         // by formal input: the argument; empty before the first call
    mutable inferred seen_;
    bool watching_ = false;
    tensor_types types_;
    extent_algebra algebra_;
    std::int64_t opset_ = 0;
    std::vector<std::int64_t> function_opsets_; // by function
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_TYPES_DETAIL_FACT_TABLE_HPP
