// SPDX-License-Identifier: Apache-2.0
#include <stemma/error.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/io/mapped_file.hpp>
#include <stemma/io/output_file.hpp>
#include <stemma/onnx/detail/message_edits.hpp>
#include <stemma/onnx/detail/message_tree.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/rename_values.hpp>
#include <stemma/onnx/detail/rewrite.hpp>
#include <stemma/onnx/external_data.hpp>
#include <stemma/onnx/tensor_header.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// What the runtime tests need to know of a model and change in it.

namespace {

namespace fields = stemma::detail::onnx_fields;
using stemma::id;
using stemma::no_id;

struct opened_model {
    stemma::mapped_file file;
    stemma::wire_model model;

    explicit opened_model(const std::string& path) : file(path), model(file.bytes(), path) {}
};

/// Takes text to standard output.
struct standard_output {
    void write(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }
};

using json = stemma::json_writer<standard_output>;

/// Field numbers of the messages that say what type a value has.
struct type_fields {
    enum : std::uint32_t {
        tensor = 1,
        tensor_elem_type = 1,
        tensor_shape = 2,
        shape_dim = 1,
        dim_value = 1,
        dim_param = 2,
    };
};

constexpr std::array<std::string_view, 10> type_kinds{
    "", "tensor", "", "", "sequence", "map", "", "opaque", "sparse_tensor", "optional"};

/// Writes a shape: a number for a known dimension, a text for a named one, null for an unknown one.
void describe_shape(json& out, stemma::detail::wire_reader shape) {
    out.begin_array(true);
    for (stemma::detail::wire_field dim; shape.next(dim);) {
        if (!dim.is_bytes(type_fields::shape_dim)) {
            continue;
        }
        auto inside = shape.inner(dim);
        stemma::detail::wire_field what;
        bool is_stated = false;
        while (inside.next(what)) {
            is_stated = true;
            if (what.is_bytes(type_fields::dim_param)) {
                out.value(inside.text(what));
            } else if (what.is(type_fields::dim_value, stemma::detail::wire_type::varint)) {
                out.value(static_cast<std::int64_t>(what.value));
            } else {
                is_stated = false;
                continue;
            }
            break;
        }
        if (!is_stated) {
            out.null();
        }
    }
    out.end_array();
}

/// Writes `kind` and, of a tensor, `type` and `shape` (null without a rank) of a TypeProto.
void describe_type(json& out, stemma::detail::wire_reader type) {
    for (stemma::detail::wire_field field; type.next(field);) {
        if (field.number >= type_kinds.size() || type_kinds[field.number].empty() ||
            field.type != stemma::detail::wire_type::bytes) {
            continue;
        }
        out.member("kind", type_kinds[field.number]);
        if (field.number != type_fields::tensor) {
            return;
        }
        auto tensor = type.inner(field);
        bool has_shape = false;
        for (stemma::detail::wire_field inside; tensor.next(inside);) {
            if (inside.is(type_fields::tensor_elem_type, stemma::detail::wire_type::varint)) {
                out.member("type", stemma::data_type_name(static_cast<std::int64_t>(inside.value)));
            } else if (inside.is_bytes(type_fields::tensor_shape)) {
                has_shape = true;
                out.key("shape");
                describe_shape(out, tensor.inner(inside));
            }
        }
        if (!has_shape) {
            out.key("shape");
            out.null();
        }
        return;
    }
}

/// Writes the inputs or outputs of the main graph.
void describe_values(json& out, const stemma::wire_model& model, std::uint32_t graph_field) {
    out.begin_array();
    for (const auto& info : model.value_infos()) {
        if (info.graph != 0 || info.field != graph_field) {
            continue;
        }
        out.begin_object(true);
        out.member("name", model.text(info.name));
        if (graph_field == fields::graph::input) {
            out.member("initialized", info.value != no_id && model.is_initializer(info.value));
        }
        auto inside = model.reader(info.message);
        for (stemma::detail::wire_field field; inside.next(field);) {
            if (field.is_bytes(fields::value_info::type)) {
                describe_type(out, inside.inner(field));
            }
        }
        out.end_object();
    }
    out.end_array();
}

/// An initializer whose data is in another file.
struct external_tensor {
    stemma::tensor_header header;
    std::string_view name;

    [[nodiscard]] std::uint64_t end() const noexcept { return header.offset + header.length; }
};

/// Returns: how many bits an element of a data type takes; 0 where there is no fixed number.
unsigned bits_of(std::int64_t data_type) {
    constexpr std::array<unsigned, 24> bits{0,  32, 8,  8,   16, 16, 32, 64, 0, 8, 16, 64,
                                            32, 64, 64, 128, 16, 8,  8,  8,  8, 4, 4,  4};
    return data_type > 0 && data_type < 24 ? bits[static_cast<std::size_t>(data_type)] : 0;
}

std::vector<external_tensor> external_tensors(const stemma::wire_model& model) {
    std::vector<external_tensor> tensors;
    for (const auto& tensor : model.tensors()) {
        auto header = stemma::read_tensor_header(model, tensor);
        if (header.external) {
            if (header.length == 0) {
                header.length = (header.elements() * bits_of(header.data_type) + 7) / 8;
            }
            tensors.push_back({std::move(header), model.text(tensor.name)});
        }
    }
    return tensors;
}

/// Nodes whose operator may draw random numbers.
bool is_random(const stemma::wire_model& model, id node) {
    static const std::set<std::string_view> random{
        "Bernoulli",        "Dropout",       "Multinomial",      "RandomNormal",
        "RandomNormalLike", "RandomUniform", "RandomUniformLike"};
    const auto opsets = model.opset_imports();
    // Before opset 12 Dropout does nothing.
    const bool old = std::none_of(opsets.begin(), opsets.end(), [](const auto& opset) {
        return opset.domain.empty() && opset.version >= 12;
    });
    return model.domain(node).empty() && random.contains(model.op_type(node)) &&
           !(old && model.op_type(node) == "Dropout");
}

void describe(json& out, const std::string& path) {
    const opened_model opened(path);
    const auto& model = opened.model;
    out.begin_object();
    out.member("file", path);
    out.member("ir_version", model.ir_version());
    out.key("opsets");
    out.begin_array(true);
    for (const auto& opset : model.opset_imports()) {
        out.begin_object();
        out.member("domain", opset.domain);
        out.member("version", opset.version);
        out.end_object();
    }
    out.end_array();
    out.key("inputs");
    describe_values(out, model, fields::graph::input);
    out.key("outputs");
    describe_values(out, model, fields::graph::output);
    id random = 0;
    for (id node = 0; node < model.node_count(); ++node) {
        random += is_random(model, node) ? 1U : 0U;
    }
    out.member("nodes", model.node_count());
    out.member("random_nodes", random);
    out.key("external");
    out.begin_array();
    for (const auto& tensor : external_tensors(model)) {
        out.begin_object(true);
        out.member("name", tensor.name);
        out.member("type", stemma::data_type_name(tensor.header.data_type));
        out.key("shape");
        out.begin_array();
        for (auto dim : tensor.header.dims) {
            out.value(dim);
        }
        out.end_array();
        out.member("location", tensor.header.location);
        out.member("offset", tensor.header.offset);
        out.member("length", tensor.header.length);
        out.end_object();
    }
    out.end_array();
    out.end_object();
}

/// Numbers that look random and are the same everywhere.
class splitmix {
public:
    explicit splitmix(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() noexcept {
        state_ += 0x9e37'79b9'7f4a'7c15U;
        auto z = state_;
        z = (z ^ (z >> 30U)) * 0xbf58'476d'1ce4'e5b9U;
        z = (z ^ (z >> 27U)) * 0x94d0'49bb'1331'11ebU;
        return z ^ (z >> 31U);
    }

    /// Returns: a number in [0, 1) that a float holds exactly.
    float uniform() noexcept { return static_cast<float>(next() >> 40U) * 0x1p-24F; }

private:
    std::uint64_t state_;
};

template <class T>
void append_bytes(T value, std::string& out) {
    const auto bytes = std::bit_cast<std::array<char, sizeof(T)>>(value);
    out.append(bytes.data(), bytes.size());
}

/// Returns: the bits of a half-precision number; small ones become zero, digits are cut off.
std::uint16_t half_bits(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const auto sign = bits >> 16U & 0x8000U;
    const auto exponent = static_cast<int>(bits >> 23U & 0xffU) - 112;
    return exponent <= 0
               ? static_cast<std::uint16_t>(sign)
               : static_cast<std::uint16_t>(sign | static_cast<unsigned>(exponent) << 10U |
                                            (bits >> 13U & 0x3ffU));
}

/// Returns: the seeded data of one tensor.
///
/// Floats of rank 2 and more are uniform around zero and as large as keeps sums of products in
/// proportion; vectors lie in [0.5, 1.5), as some must be positive (variances); other types hold
/// zeros and ones, which are valid as indices and flags.
std::string seeded_data(const stemma::tensor_header& header, std::uint64_t seed) {
    splitmix numbers(seed ^ (header.offset * 0x9e37'79b9'7f4a'7c15U));
    const auto rows = header.dims.empty() ? std::int64_t{1} : header.dims.front();
    const auto fan =
        static_cast<float>(header.elements()) / static_cast<float>(std::max<std::int64_t>(rows, 1));
    const auto bound = std::sqrt(3.0F / std::max(fan, 1.0F));
    const bool vector = header.dims.size() < 2;
    const auto type = stemma::data_type_name(header.data_type);
    const auto bits = bits_of(header.data_type);
    std::string data;
    data.reserve(header.length + 16);
    while (data.size() < header.length) {
        const auto u = numbers.uniform();
        const auto number = vector ? 0.5F + u : (2 * u - 1) * bound;
        const bool one = u >= 0.5F;
        if (type == "float32") {
            append_bytes(number, data);
        } else if (type == "float64") {
            append_bytes(static_cast<double>(number), data);
        } else if (type == "float16") {
            append_bytes(half_bits(number), data);
        } else if (type == "bfloat16") {
            append_bytes(static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(number) >> 16U),
                         data);
        } else {
            data.push_back(one ? '\1' : '\0');
            data.append(bits / 8 > 1 ? bits / 8 - 1 : 0, '\0');
        }
    }
    data.resize(header.length);
    return data;
}

/// Writes every file of external data that a model names, exactly as large as the model says.
void write_weights(const std::string& path, const std::string& folder, std::uint64_t seed) {
    const opened_model opened(path);
    std::map<std::string, std::vector<external_tensor>> by_location;
    for (auto& tensor : external_tensors(opened.model)) {
        by_location[std::string(tensor.header.location)].push_back(std::move(tensor));
    }
    for (auto& [location, tensors] : by_location) {
        if (!stemma::detail::is_inside_folder(location)) {
            throw stemma::error(stemma::error_code::refused, path, "external data",
                                "'" + location + "' is outside the model's folder");
        }
        std::stable_sort(tensors.begin(), tensors.end(), [](const auto& a, const auto& b) {
            return a.header.offset < b.header.offset;
        });
        const auto target = std::filesystem::path(folder) / location;
        std::filesystem::create_directories(target.parent_path());
        stemma::output_file output(target.string());
        std::uint64_t at = 0;
        for (const auto& tensor : tensors) {
            if (tensor.header.offset > at) {
                output.write(std::string(tensor.header.offset - at, '\0'));
                at = tensor.header.offset;
            }
            // Tensors may share bytes: what is written already stays.
            if (tensor.end() > at) {
                output.write(std::string_view(seeded_data(tensor.header, seed))
                                 .substr(at - tensor.header.offset));
                at = tensor.end();
            }
        }
        output.commit(false);
    }
}

/// Writes a copy of a model in which all that nodes of the main graph make is a graph output.
///
/// The outputs are added by name alone, in a second chunk of the graph behind the file's last byte:
/// parsers merge chunks, so no other byte changes.
void expose(const std::string& path, const std::string& target) {
    const opened_model opened(path);
    const auto& model = opened.model;
    std::set<std::string_view> names{""};
    for (auto value : model.graph(0).outputs) {
        names.insert(model.value_name(value));
    }
    std::string outputs;
    std::string info;
    for (id value = 0; value < model.value_count(); ++value) {
        const bool made_here =
            model.kind(value) == stemma::value_kind::result && model.graph_of_value(value) == 0;
        if (made_here && names.insert(model.value_name(value)).second) {
            info.clear();
            stemma::detail::append_field(fields::value_info::name, model.value_name(value), info);
            stemma::detail::append_field(fields::graph::output, info, outputs);
        }
    }
    std::string chunk;
    stemma::detail::append_field(fields::model::graph, outputs, chunk);
    stemma::output_file output(target);
    output.copy(opened.file, 0, opened.file.bytes().size());
    output.write(chunk);
    output.commit(false);
}

/// Lets everything in a file read a copy of the first input instead of the input: an edit that
/// changes no result. Returns: whether there is an input.
bool detour(const std::string& path) {
    const auto copy = std::filesystem::path(path).filename().string() + " input";
    const opened_model opened(path);
    const auto& model = opened.model;
    const auto inputs = model.graph(0).inputs;
    const auto input = std::find_if(inputs.begin(), inputs.end(), [&](id v) {
        return v != stemma::no_id && !model.is_initializer(v);
    });
    if (input == inputs.end()) {
        return false;
    }
    const auto name = model.value_name(*input);
    stemma::detail::new_names names;
    names.add(name, copy);
    stemma::detail::message_tree result;
    bool first = true;
    result.edit(model.reader(), [&](stemma::detail::edited_field& field) {
        if (!field.is_bytes(fields::model::graph)) {
            return;
        }
        field.replace([&] {
            if (std::exchange(first, false)) {
                result.append(fields::graph::node, [&] {
                    result.append(fields::node::input, name);
                    result.append(fields::node::output, copy);
                    result.append(fields::node::op_type, "Identity");
                });
            }
            result.edit(field.inner(), [&](stemma::detail::edited_field& part) {
                if (part.is_bytes(fields::graph::node)) {
                    rename_values(part, stemma::detail::names_in::graph, names);
                }
            });
        });
    });
    stemma::output_file output(path);
    output.write(result.text(model.bytes()));
    output.commit(false);
    return true;
}

/// Gives random operators a `seed` where they have none.
class seed_editor {
public:
    explicit seed_editor(const stemma::wire_model& model) : model_(model) {}

    void edit_node(id node, stemma::detail::message_edits& edits) {
        if (!is_random(model_, node) || has_seed(node)) {
            return;
        }
        constexpr std::uint32_t float_type = 1;
        constexpr std::uint32_t integer_type = 2;
        const bool integer = model_.op_type(node) == "Dropout";
        std::string attribute;
        stemma::detail::append_field(fields::attribute::name, "seed", attribute);
        if (integer) {
            attribute.append("\x18\x07"); // i = 7
        } else {
            attribute.append("\x15", 1); // f = 7
            append_bytes(7.0F, attribute);
        }
        stemma::detail::append_varint(fields::attribute::type << 3U, attribute);
        stemma::detail::append_varint(integer ? integer_type : float_type, attribute);
        std::string field;
        stemma::detail::append_field(fields::node::attribute, attribute, field);
        const auto message = model_.message(node);
        edits.insert(message.begin + message.size, field);
    }
    void edit_tensor(const stemma::tensor_ref&, stemma::detail::message_edits&) {}
    void edit_value_info(const stemma::value_info_ref&, stemma::detail::message_edits&) {}
    void edit_model(stemma::detail::message_edits&) {}

private:
    [[nodiscard]] bool has_seed(id node) const {
        auto reader = model_.reader(model_.message(node));
        for (stemma::detail::wire_field field; reader.next(field);) {
            if (!field.is_bytes(fields::node::attribute)) {
                continue;
            }
            auto attribute = reader.inner(field);
            for (stemma::detail::wire_field inside; attribute.next(inside);) {
                if (inside.is_bytes(fields::attribute::name) && attribute.text(inside) == "seed") {
                    return true;
                }
            }
        }
        return false;
    }

    const stemma::wire_model& model_;
};

void seed(const std::string& path, const std::string& target) {
    const opened_model opened(path);
    seed_editor editor(opened.model);
    stemma::detail::rewrite plan(opened.model, editor);
    stemma::output_file output(target);
    stemma::detail::file_splice splice(opened.file, output);
    plan.write(splice);
    output.commit(false);
}

constexpr std::string_view usage =
    "usage: model_info describe MODEL...               JSON: inputs, outputs, external data\n"
    "       model_info weights MODEL FOLDER [SEED]     the external data of a model, seeded\n"
    "       model_info expose MODEL OUT                every value of the main graph an output\n"
    "       model_info detour MODEL...                 in place, an input of each read by way of "
    "a\n"
    "                                                  copy; prints how many have inputs\n"
    "       model_info seed MODEL OUT                  random operators with a fixed seed\n";

int run(const std::vector<std::string>& words) {
    const auto& command = words.empty() ? std::string() : words[0];
    if (command == "describe" && words.size() >= 2) {
        standard_output sink;
        json out(sink);
        out.begin_array();
        std::for_each(words.begin() + 1, words.end(),
                      [&](const auto& path) { describe(out, path); });
        out.end_array();
        out.finish();
    } else if (command == "weights" && (words.size() == 3 || words.size() == 4)) {
        write_weights(words[1], words[2], words.size() == 4 ? std::stoull(words[3]) : 1);
    } else if (command == "expose" && words.size() == 3) {
        expose(words[1], words[2]);
    } else if (command == "detour" && words.size() >= 2) {
        const auto edited = std::count_if(words.begin() + 1, words.end(), detour);
        std::printf("%td\n", edited);
    } else if (command == "seed" && words.size() == 3) {
        seed(words[1], words[2]);
    } else {
        std::fwrite(usage.data(), 1, usage.size(), stderr);
        return 2;
    }
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    try {
        return run({argv + 1, argv + argc});
    } catch (const std::exception& e) {
        std::fprintf(stderr, "model_info: %s\n", e.what());
        return 1;
    }
}
