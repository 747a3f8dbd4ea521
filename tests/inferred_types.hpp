// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TESTS_INFERRED_TYPES_HPP
#define STEMMA_TESTS_INFERRED_TYPES_HPP

#include "built_model.hpp"
#include "bytes_of.hpp"
#include "find_in_model.hpp"
#include "wire_builder.hpp"

#include <stemma/onnx/wire_model.hpp>
#include <stemma/types/detail/describe_type.hpp>
#include <stemma/types/detail/extent_algebra.hpp>
#include <stemma/types/detail/fact_table.hpp>
#include <stemma/types/detail/infer_shapes.hpp>
#include <stemma/types/detail/shape_observer.hpp>
#include <stemma/types/value_types.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace test {

using dims = std::vector<std::uint64_t>;

/// AttributeProto of one integer, of several, and of several floats.
inline message int_attribute(std::string_view name, std::uint64_t value) {
    return message().text(1, name).number(3, value).number(20, 2);
}
inline message ints_attribute(std::string_view name, const dims& values) {
    auto fields = message().text(1, name);
    for (auto value : values) {
        fields.number(8, value);
    }
    return fields.number(20, 7);
}

inline message floats_attribute(std::string_view name, const std::vector<float>& values) {
    return message().text(1, name).text(7, bytes_of(values)).number(20, 6);
}

/// Returns: the parts of a text between blanks.
inline std::vector<std::string> words_of(std::string_view text) {
    std::istringstream all{std::string(text)};
    return {std::istream_iterator<std::string>(all), {}};
}

/// Attributes as in `axis=1 perm=[1,0] mode='linear'`.
inline std::vector<message> attributes(std::string_view text) {
    std::vector<message> result;
    for (const auto& word : words_of(text)) {
        const auto name = word.substr(0, word.find('='));
        const auto value = word.substr(name.size() + 1);
        if (value.front() == '\'') {
            result.push_back(text_attribute(name, value.substr(1, value.size() - 2)));
            continue;
        }
        std::istringstream numbers(value.substr(value.front() == '[' ? 1 : 0));
        dims read;
        for (std::int64_t number = 0; numbers >> number; numbers.ignore()) {
            read.push_back(static_cast<std::uint64_t>(number));
        }
        result.push_back(value.front() == '[' ? ints_attribute(name, read)
                                              : int_attribute(name, read.front()));
    }
    return result;
}

/// One-dimensional int64 TensorProto.
inline message whole_numbers(std::string_view name, const dims& values) {
    message fields;
    return fields.number(1, values.size()).number(2, 7).packed(7, values).text(8, name);
}

/// ValueInfoProto: a tensor with element type and extents.
inline message typed_value(std::string_view name, const dims& extents, std::uint64_t type = 1) {
    message shape;
    for (auto extent : extents) {
        shape.inner(1, message().number(1, extent));
    }
    return message().text(1, name).inner(
        2, message().inner(1, message().number(1, type).inner(2, shape)));
}

/// The same with extents as text: numbers or names.
inline message named_value(std::string_view name, const names& extents, std::uint64_t type = 1) {
    message shape;
    for (const auto& extent : extents) {
        const bool named = extent.find_first_not_of("0123456789") != extent.npos;
        shape.inner(1, named ? message().text(2, extent) : message().number(1, std::stoul(extent)));
    }
    return message().text(1, name).inner(
        2, message().inner(1, message().number(1, type).inner(2, shape)));
}

namespace detail {

/// Keeps what exact inference found.
struct keeping_observer final : stemma::detail::shape_observer {
    void begin(stemma::detail::fact_table& table) override {
        facts = &table;
        algebra = &table.algebra();
    }

    const stemma::detail::fact_table* facts = nullptr;
    const stemma::detail::extent_algebra* algebra = nullptr;
};

} // namespace detail

/// Returns: the extents of the first value with a name, as exact inference finds them:
/// `[2*rows,?]`;
/// "" if the rank is unknown.
inline std::string exact_extents(const std::string& bytes, std::string_view name) {
    const stemma::wire_model model(bytes);
    stemma::value_types types(model);
    detail::keeping_observer observer;
    const stemma::detail::shape_inference inference(model, types, {}, observer);
    for (stemma::id value = 0; value < model.value_count(); ++value) {
        const auto& fact = (*observer.facts)[value];
        if (model.value_name(value) == name) {
            std::string text;
            for (std::size_t i = 0; fact.ranked() && i < fact.rank(); ++i) {
                const auto extent = observer.algebra->value((*fact.dims)[i]);
                text +=
                    (i == 0 ? "" : ",") + (extent.is_known() ? extent.text([&](stemma::id symbol) {
                        return std::string(observer.algebra->names()[symbol]);
                    })
                                                             : "?");
            }
            return fact.ranked() ? "[" + text + "]" : "";
        }
    }
    return "no such value";
}

/// A model with the types that are inferred for its values.
struct inferred_model : built_model {
    template <class Made>
    explicit inferred_model(const Made& made) : built_model(made), types(*this) {
        stemma::detail::infer_shapes(*this, types);
    }

    /// Returns: a type as text; "" for none.
    [[nodiscard]] std::string type_of(stemma::id value) const {
        const auto type = types.type_of(value);
        return type ? to_text(stemma::detail::describe_type(*type)) : "";
    }
    [[nodiscard]] std::string type_of(std::string_view name, stemma::id graph = 0) const {
        const auto value = value_called(*this, name, graph);
        return value == stemma::no_id ? "no such value" : type_of(value);
    }

    stemma::value_types types;
};

/// One operator on inputs of known types.
class inference_scene {
public:
    inference_scene& input(std::string_view name, const dims& extents, std::uint64_t type = 1) {
        graph_.inner(11, typed_value(name, extents, type));
        return *this;
    }
    inference_scene& open_input(std::string_view name, const names& extents,
                                std::uint64_t type = 1) {
        graph_.inner(11, named_value(name, extents, type));
        return *this;
    }
    inference_scene& weight(std::string_view name, const dims& extents) {
        graph_.inner(5, tensor(name, extents));
        return *this;
    }
    inference_scene& numbers(std::string_view name, const dims& values) {
        graph_.inner(5, whole_numbers(name, values));
        return *this;
    }
    inference_scene& floats(std::string_view name, const std::vector<float>& values) {
        return raw(name, 1, values);
    }
    inference_scene& halves(std::string_view name, const std::vector<std::uint16_t>& bits) {
        return raw(name, 10, bits);
    }
    inference_scene& node(const message& fields) {
        graph_.inner(1, fields);
        return *this;
    }

    /// Returns: the model whose output is a value.
    [[nodiscard]] std::string model_with(std::string_view name, std::uint64_t opset = 17) const {
        auto graph = graph_;
        return model(graph.inner(12, message().text(1, name)), 8, opset).bytes();
    }

    /// Returns: the inferred type of a value, as text; "" for none.
    [[nodiscard]] std::string type_of(std::string_view name, std::uint64_t opset = 17) const {
        return inferred_model(model_with(name, opset)).type_of(name);
    }

private:
    template <class Number>
    inference_scene& raw(std::string_view name, std::uint64_t type,
                         const std::vector<Number>& values) {
        graph_.inner(5, message()
                            .number(1, values.size())
                            .number(2, type)
                            .text(8, name)
                            .text(9, bytes_of(values)));
        return *this;
    }

    message graph_;
};

/// Returns: the inferred type of the result of one operator with attributes.
inline std::string inferred(inference_scene scene, std::string_view op, const names& inputs,
                            const std::vector<message>& attributes = {}, std::uint64_t opset = 17) {
    return scene.node(owner_node(op, inputs, {"y"}, attributes)).type_of("y", opset);
}

/// Returns: the same for the last output of an operator in another domain.
inline std::string inferred_in(std::string_view domain, inference_scene scene, std::string_view op,
                               const names& inputs, const std::vector<message>& attributes = {},
                               const names& outputs = {"y"}) {
    auto owner = owner_node(op, inputs, outputs, attributes);
    return scene.node(owner.text(7, domain)).type_of(outputs.back());
}

} // namespace test

#endif // STEMMA_TESTS_INFERRED_TYPES_HPP
