// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_BENCH_GENERATE_MODEL_HPP
#define STEMMA_BENCH_GENERATE_MODEL_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma_bench {

/// Shapes of generated models.
enum class model_shape {
    /// Stacked transformer blocks, named as torch's exporter names them.
    blocks,
    /// One operator read by all others.
    fan_out,
    /// Every operator reads its predecessor.
    chain,
    /// One operator that reads all others.
    fan_in,
    /// A chain without evidence, each step read by a different module: all tag sets differ.
    distinct_sets,
    /// Names that differ only behind a long common prefix.
    long_names,
    /// One operator whose scope has as many segments as operators were asked for.
    deep
};

struct model_options {
    /// The least number of operators; whole blocks are written.
    std::size_t nodes = 1000;
    /// Approximate bytes of weights in the file; determines the width of all layers.
    std::size_t weights = 0;
    /// Whether every node has metadata and a docstring like those of torch's dynamo exporter.
    bool dynamo = false;
    model_shape shape = model_shape::blocks;
};

struct generated_model {
    std::string model;
    std::string capture;
    std::size_t nodes = 0;
};

namespace detail {

inline void put_varint(std::string& out, std::uint64_t value) {
    for (; value >= 0x80; value >>= 7U) {
        out.push_back(static_cast<char>((value & 0x7fU) | 0x80U));
    }
    out.push_back(static_cast<char>(value));
}

inline void put_number(std::string& out, unsigned field, std::uint64_t value) {
    put_varint(out, field << 3U);
    put_varint(out, value);
}

inline void put_bytes(std::string& out, unsigned field, std::string_view bytes) {
    put_varint(out, (field << 3U) | 2U);
    put_varint(out, bytes.size());
    out.append(bytes);
}

/// Writes operators, parameters and modules as an exporter would, in order.
class model_writer {
public:
    explicit model_writer(const model_options& options) : options_(options) {}

    [[nodiscard]] std::size_t nodes() const noexcept { return nodes_; }

    /// Begins a module, which gets everything written until `leave`.
    void enter(std::string_view name, std::string_view type, bool torch = false) {
        if (!path_.empty()) {
            path_ += '.';
        }
        path_ += name;
        scope_ += '/';
        scope_ += name;
        const auto dot = path_.find_last_of('.');
        note_module(path_.substr(0, dot == std::string::npos ? 0 : dot), type, torch);
    }
    void leave(std::string_view name) {
        path_.resize(path_.size() - name.size());
        if (!path_.empty()) {
            path_.pop_back();
        }
        scope_.resize(scope_.size() - name.size() - 1);
    }
    /// Begins a scope without recording a module (a second call).
    void enter_again(std::string_view name, std::string_view scope) {
        path_ += path_.empty() ? "" : ".";
        path_ += name;
        scope_ += '/';
        scope_ += scope;
    }
    void leave_again(std::string_view name, std::string_view scope) {
        leave(name);
        scope_.resize(scope_.size() + name.size() - scope.size());
    }
    void root(std::string_view type) { note_module("", type, false); }

    /// Returns: the name of the result.
    std::string op(std::string_view type, std::initializer_list<std::string_view> inputs,
                   std::string_view attribute = {}) {
        const auto number = std::to_string(nodes_);
        std::string name = scope_ + '/';
        name.append(type).append("_").append(number);
        std::string result = name + "_output_0";
        write(nodes_bytes_, type, inputs, name, result, attribute);
        return result;
    }
    /// A Constant with one float.
    std::string constant(float value) {
        std::string tensor;
        put_number(tensor, 2, float_type);
        put_bytes(tensor, 9, bytes_of(value));
        return op("Constant", {}, tensor_attribute(tensor));
    }
    /// A Constant with an integer, or a vector of them.
    std::string constant(std::int64_t value) {
        std::string tensor;
        put_number(tensor, 2, int64_type);
        put_bytes(tensor, 9, bytes_of(value));
        return op("Constant", {}, tensor_attribute(tensor));
    }
    std::string constant(std::initializer_list<std::int64_t> row) {
        std::string tensor;
        put_number(tensor, 1, row.size());
        put_number(tensor, 2, int64_type);
        std::string data;
        for (const auto value : row) {
            data += bytes_of(value);
        }
        put_bytes(tensor, 9, data);
        return op("Constant", {}, tensor_attribute(tensor));
    }

    /// The shape of a parameter; `width` is common to all.
    enum class extent : std::uint8_t { width, width_by_width, words_by_width };

    /// Returns: the name of the parameter, an initializer of the current module.
    std::string parameter(std::string_view attribute, extent dimensions) {
        auto name = path_ + '.';
        name += attribute;
        parameters_.emplace_back(name, dimensions);
        return name;
    }

    /// An If whose branches hold one operator each.
    std::string branch(std::string_view condition, std::string_view data) {
        std::string attributes;
        for (const std::string_view which : {"then_branch", "else_branch"}) {
            std::string body;
            const auto result = scope_ + '/' + std::string(which) + std::to_string(nodes_);
            write(body, "Identity", {data}, result, result + "_out", {});
            put_bytes(body, 2, which);
            put_info(body, 12, result + "_out", float_type, {"1", sequence, "width"});
            std::string attribute;
            put_bytes(attribute, 1, which);
            put_bytes(attribute, 6, body);
            put_number(attribute, 20, 5);
            put_bytes(attributes, 5, attribute);
        }
        return op("If", {condition}, attributes);
    }

    std::string linear(std::string_view attribute, std::string_view input) {
        enter(attribute, "Linear", true);
        const auto weight = parameter("weight", extent::width_by_width);
        const auto bias = parameter("bias", extent::width);
        auto result = op("Add", {op("MatMul", {input, weight}), bias});
        leave(attribute);
        return result;
    }
    std::string normalize(std::string_view input) {
        enter("LayerNorm", "LayerNorm", true);
        const auto weight = parameter("weight", extent::width);
        const auto bias = parameter("bias", extent::width);
        const auto centred = op("Sub", {input, mean(input)});
        const auto variance = mean(op("Pow", {centred, constant(2.0F)}));
        const auto deviation = op("Sqrt", {op("Add", {variance, constant(1e-5F)})});
        auto result = op("Add", {op("Mul", {op("Div", {centred, deviation}), weight}), bias});
        leave("LayerNorm");
        return result;
    }
    /// The auxiliary chain that computes a shape for Reshape.
    std::string heads(std::string_view input, std::initializer_list<std::int64_t> order) {
        const auto batch = op("Gather", {op("Shape", {input}), constant(std::int64_t{0})});
        const auto first = op("Unsqueeze", {batch, constant({0})});
        const auto shape =
            op("Concat", {first, constant({0, 4, -1})}, integer_attribute("axis", 0));
        return op("Transpose", {op("Reshape", {input, shape})}, integers_attribute("perm", order));
    }
    std::string block(std::size_t index, std::string_view input) {
        const auto name = std::to_string(index);
        enter("layer." + name, "Block");
        enter("attention", "Attention");
        enter("self", "SelfAttention");
        const auto query = heads(linear("query", input), {0, 2, 1, 3});
        const auto key = heads(linear("key", input), {0, 2, 3, 1});
        const auto value = heads(linear("value", input), {0, 2, 1, 3});
        const auto scores = op("Div", {op("MatMul", {query, key}), constant(8.0F)});
        const auto context = op("MatMul", {op("Softmax", {op("Add", {scores, "mask"})}), value});
        const auto mixed =
            op("Reshape", {op("Transpose", {context}, integers_attribute("perm", {0, 2, 1, 3})),
                           constant({0, 0, -1})});
        leave("self");
        enter("output", "SelfOutput");
        const auto attended = normalize(op("Add", {linear("dense", mixed), input}));
        leave("output");
        leave("attention");
        enter("intermediate", "Intermediate");
        const auto wide = linear("dense", attended);
        const auto error = op("Erf", {op("Div", {wide, constant(1.4142135F)})});
        const auto active =
            op("Mul", {op("Mul", {wide, op("Add", {error, constant(1.0F)})}), constant(0.5F)});
        leave("intermediate");
        enter("output", "Output");
        auto result = normalize(op("Add", {linear("dense", active), attended}));
        if (index % 10 == 9) {
            result = branch("flag", result);
        }
        leave("output");
        leave("layer." + name);
        return result;
    }

    [[nodiscard]] generated_model finish(std::string_view result) {
        std::string graph = std::move(nodes_bytes_);
        put_bytes(graph, 2, "main_graph");
        put_parameters(graph);
        const bool words = options_.shape == model_shape::blocks;
        put_info(graph, 11, "input_ids", words ? int64_type : float_type, {"1", sequence});
        put_info(graph, 11, "mask", float_type, {"1", "1", "1", sequence});
        put_info(graph, 11, "flag", bool_type, {});
        put_info(graph, 12, result, float_type, {"rows", "columns", "width"});
        generated_model generated;
        put_number(generated.model, 1, 8);
        put_bytes(generated.model, 2, "pytorch");
        put_bytes(generated.model, 3, "2.1.0");
        put_bytes(generated.model, 7, graph);
        std::string opset;
        put_bytes(opset, 1, "");
        put_number(opset, 2, 17);
        put_bytes(generated.model, 8, opset);
        generated.capture = R"({"format":"fixture-modules/1","root_class":"Model","modules":[)";
        generated.capture += modules_;
        generated.capture += "]}\n";
        generated.nodes = nodes_;
        return generated;
    }

    void write(std::string& out, std::string_view type,
               std::initializer_list<std::string_view> inputs, std::string_view name,
               std::string_view result, std::string_view attributes) {
        node_.clear();
        for (const auto input : inputs) {
            put_bytes(node_, 1, input);
        }
        finish_node(out, type, name, result, attributes);
    }
    void write(std::string_view type, const std::string& inputs, std::string_view name,
               std::string_view result) {
        node_ = inputs;
        finish_node(nodes_bytes_, type, name, result, {});
    }

private:
    static constexpr std::uint64_t float_type = 1;
    static constexpr std::uint64_t int64_type = 7;
    static constexpr std::uint64_t bool_type = 9;
    static constexpr std::string_view sequence = "16";
    static constexpr std::uint64_t word_count = 64;

    template <class Value>
    static std::string bytes_of(Value value) {
        return {reinterpret_cast<const char*>(&value), sizeof value};
    }

    std::string mean(std::string_view input) {
        return op("ReduceMean", {input}, integers_attribute("axes", {-1}));
    }

    /// Chooses the width of all parameters such that they take the requested bytes.
    void put_parameters(std::string& graph) {
        std::uint64_t vectors = 0;
        std::uint64_t squares = 0;
        for (const auto& [name, dimensions] : parameters_) {
            squares += dimensions == extent::width_by_width ? 1 : 0;
            vectors += dimensions == extent::width            ? 1
                       : dimensions == extent::words_by_width ? word_count
                                                              : 0;
        }
        std::uint64_t width = 4;
        while (squares + vectors > 0 &&
               4 * (width + 4) * ((width + 4) * squares + vectors) <= options_.weights) {
            width += 4;
        }
        const std::string data(4 * width * std::max(width, word_count), '\x3c');
        std::string tensor;
        for (const auto& [name, dimensions] : parameters_) {
            tensor.clear();
            const auto rows = dimensions == extent::width            ? 1
                              : dimensions == extent::words_by_width ? word_count
                                                                     : width;
            if (dimensions != extent::width) {
                put_number(tensor, 1, rows);
            }
            put_number(tensor, 1, width);
            put_number(tensor, 2, float_type);
            put_bytes(tensor, 8, name);
            put_bytes(tensor, 9, std::string_view(data).substr(0, 4 * width * rows));
            put_bytes(graph, 5, tensor);
        }
    }

    void finish_node(std::string& out, std::string_view type, std::string_view name,
                     std::string_view result, std::string_view attributes) {
        put_bytes(node_, 2, result);
        put_bytes(node_, 3, name);
        put_bytes(node_, 4, type);
        node_.append(attributes);
        if (options_.dynamo) {
            put_bytes(node_, 6, "File \"model.py\", line 42, in forward\n    return self.call(x)");
            put_entry("namespace", scope_ + ": Model/" + path_);
            put_entry("pkg.torch.onnx.name_scopes",
                      "['', '" + path_ + "', '" + std::string(name) + "']");
            put_entry(
                "pkg.torch.onnx.stack_trace",
                "File \"/opt/model.py\", line 42, in forward\n    return self.call(hidden_states)");
        }
        put_bytes(out, 1, node_);
        ++nodes_;
    }
    void put_entry(std::string_view key, std::string_view value) {
        std::string entry;
        put_bytes(entry, 1, key);
        put_bytes(entry, 2, value);
        put_bytes(node_, 9, entry);
    }
    /// Dimensions that are not numbers are symbolic.
    static void put_info(std::string& graph, unsigned field, std::string_view name,
                         std::uint64_t element, std::initializer_list<std::string_view> extents) {
        std::string shape;
        for (const auto extent : extents) {
            std::string dimension;
            if (extent.front() >= '0' && extent.front() <= '9') {
                put_number(dimension, 1, std::stoull(std::string(extent)));
            } else {
                put_bytes(dimension, 2, extent);
            }
            put_bytes(shape, 1, dimension);
        }
        std::string tensor;
        put_number(tensor, 1, element);
        put_bytes(tensor, 2, shape);
        std::string type;
        put_bytes(type, 1, tensor);
        std::string info;
        put_bytes(info, 1, name);
        put_bytes(info, 2, type);
        put_bytes(graph, field, info);
    }
    static std::string tensor_attribute(std::string_view tensor) {
        std::string attribute;
        put_bytes(attribute, 1, "value");
        put_bytes(attribute, 5, tensor);
        put_number(attribute, 20, 4);
        std::string field;
        put_bytes(field, 5, attribute);
        return field;
    }
    static std::string integer_attribute(std::string_view name, std::int64_t value) {
        std::string attribute;
        put_bytes(attribute, 1, name);
        put_number(attribute, 3, static_cast<std::uint64_t>(value));
        put_number(attribute, 20, 2);
        std::string field;
        put_bytes(field, 5, attribute);
        return field;
    }
    static std::string integers_attribute(std::string_view name,
                                          std::initializer_list<std::int64_t> values) {
        std::string attribute;
        put_bytes(attribute, 1, name);
        for (const auto value : values) {
            put_number(attribute, 8, static_cast<std::uint64_t>(value));
        }
        put_number(attribute, 20, 7);
        std::string field;
        put_bytes(field, 5, attribute);
        return field;
    }
    void note_module(std::string_view parent, std::string_view type, bool torch) {
        if (!modules_.empty()) {
            modules_ += ',';
        }
        modules_ += "\n{\"name\":\"" + path_ + "\",\"class_name\":\"" + std::string(type) +
                    "\",\"qualified_class\":\"" + (torch ? "torch.nn.modules." : "model.") +
                    std::string(type) + "\",\"parent\":";
        modules_ += path_.empty() ? "null" : '"' + std::string(parent) + '"';
        modules_ += ",\"calls\":1,\"own_parameters\":[],\"own_buffers\":[]}";
    }

    model_options options_;
    std::string path_;
    std::string scope_;
    std::string nodes_bytes_;
    std::string node_;
    std::string modules_;
    std::vector<std::pair<std::string, extent>> parameters_;
    std::size_t nodes_ = 0;
};

inline generated_model write_blocks(const model_options& options) {
    model_writer out(options);
    out.root("Model");
    out.enter("embeddings", "Embeddings");
    const auto words =
        out.parameter("word_embeddings.weight", model_writer::extent::words_by_width);
    auto data = out.normalize(out.op("Gather", {words, "input_ids"}));
    out.leave("embeddings");
    out.enter("encoder", "Encoder");
    out.enter("layer", "ModuleList", true);
    out.leave("layer");
    for (std::size_t i = 0; i == 0 || out.nodes() + 20 < options.nodes; ++i) {
        data = out.block(i, data);
    }
    out.leave("encoder");
    out.enter("pooler", "Pooler");
    data = out.op("Tanh", {data});
    out.leave("pooler");
    out.enter_again("pooler", "pooler_1");
    data = out.op("Tanh", {data});
    out.leave_again("pooler", "pooler_1");
    out.enter("head", "Head");
    data = out.op("MatMul", {data, out.op("Transpose", {words})});
    out.leave("head");
    return out.finish(data);
}

inline generated_model write_deep(const model_options& options) {
    model_writer out(options);
    out.root("Model");
    std::string scope;
    for (std::size_t i = 0; i < options.nodes; ++i) {
        scope += "/m";
    }
    std::string input;
    put_bytes(input, 1, "input_ids");
    out.write("Relu", input, scope + "/Relu", "deep");
    input.clear();
    put_bytes(input, 1, "deep");
    out.write("Concat", input, "last", "result");
    return out.finish("result");
}

inline generated_model write_adverse(const model_options& options) {
    model_writer out(options);
    out.root("Model");
    const bool chained = options.shape == model_shape::chain;
    const bool spread = options.shape == model_shape::distinct_sets;
    const std::string prefix =
        options.shape == model_shape::long_names ? '/' + std::string(200, 'a') : std::string();
    std::string last = "input_ids";
    std::string inputs;
    if (!chained && !spread) {
        out.write(
            "Relu",
            [&] {
                std::string in;
                put_bytes(in, 1, last);
                return in;
            }(),
            "first", "v");
        last = "v";
    }
    for (std::size_t i = 0; out.nodes() + 1 < options.nodes; ++i) {
        const auto number = std::to_string(i);
        std::string input;
        put_bytes(input, 1, last);
        const auto name = spread ? "n" + number : prefix + "/m" + number + "/Relu";
        out.write("Relu", input, name, name + "_o");
        if (spread) {
            std::string reader;
            put_bytes(reader, 1, name + "_o");
            out.write("Relu", reader, "/m" + number + "/Relu", "r" + number);
        }
        if (chained || spread) {
            last = name + "_o";
        } else if (options.shape == model_shape::fan_in) {
            put_bytes(inputs, 1, name + "_o");
        }
    }
    if (inputs.empty()) {
        put_bytes(inputs, 1, last);
    }
    out.write("Concat", inputs, "last", "result");
    return out.finish("result");
}

} // namespace detail

/// Returns: a model, always the same bytes for the same options.
inline generated_model generate_model(const model_options& options) {
    return options.shape == model_shape::blocks ? detail::write_blocks(options)
           : options.shape == model_shape::deep ? detail::write_deep(options)
                                                : detail::write_adverse(options);
}

} // namespace stemma_bench

#endif // STEMMA_BENCH_GENERATE_MODEL_HPP
