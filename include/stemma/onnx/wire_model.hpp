// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_WIRE_MODEL_HPP
#define STEMMA_ONNX_WIRE_MODEL_HPP

#include <stemma/core/id.hpp>
#include <stemma/core/parallel.hpp>
#include <stemma/error.hpp>
#include <stemma/onnx/detail/graph_runs.hpp>
#include <stemma/onnx/detail/model_tables.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/uniform_data.hpp>
#include <stemma/onnx/detail/weight_matrix.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma {

/// A message inside the file: the content lies in [begin, begin + size), behind tag and length.
struct message_ref {
    std::uint32_t begin = 0; ///< bytes from the start of the file
    std::uint32_t size = 0;  ///< bytes of the content
    id container = no_id;    ///< the message around it
};

/// A field of a graph that is neither a node nor a tensor, and declares no value.
struct graph_field {
    detail::wire_field field; ///< where it stands
    id graph = no_id;         ///< number of the graph
};

/// An initializer's message, or that of the values of a sparse one.
struct tensor_ref {
    message_ref message; ///< of the values, for a sparse one
    id graph = no_id;    ///< number of the graph it is listed in
    text_ref name;       ///< "" where it is not written
    id value = no_id;    ///< the one that it initializes
    bool sparse = false; ///< written as a SparseTensorProto
};

/// A ValueInfoProto: input, output or value_info of a graph or function.
struct value_info_ref {
    message_ref message;     ///< where it stands
    id graph = no_id;        ///< number of the graph it is listed in
    text_ref name;           ///< of the value
    id value = no_id;        ///< `no_id` when the graph defines none of this name
    std::uint32_t field = 0; ///< number of the field in the graph
};

/// The structure of an ONNX file, read from its bytes in one pass. Tensor data is not touched.
///
/// Reads what protobuf's own parser would make of the bytes, newer fields included: fields in any
/// order, repeated ones merged, unknown ones passed over. `training_info` is left alone.
class wire_model : public detail::model_tables {
public:
    /// Requires: `bytes` outlives the model. `file` names it in errors.
    /// Throws: `error` when the bytes are no model (`malformed`), or are 4 GiB or more, or nest
    /// bodies
    ///   deeper than protobuf allows (`unsupported`).
    /// Complexity: O(bytes that are not tensor data).
    explicit wire_model(std::string_view bytes, std::string file = "model",
                        thread_limit threads = {})
        : bytes_(bytes), file_(std::move(file)) {
        if (bytes.size() > 0xffff'ffffU) {
            STEMMA_THROW(error(error_code::unsupported, file_, "",
                               "larger than 4 GiB; protobuf itself ends at 2 GiB"));
        }
        base_ = bytes.data();
        if (bytes.empty()) {
            STEMMA_THROW(error(error_code::malformed, file_, "", "the file is empty"));
        }
        add_graph(graph_kind::main);
        const auto bound = finish(scan_model(threads));
        for (auto& tensor : tensors_) {
            tensor.value = bound[tensor.value];
        }
        for (auto& info : value_infos_) {
            info.value = bound[info.value];
        }
    }

    /// As they were given; valid as long as the file.
    [[nodiscard]] std::string_view bytes() const noexcept { return bytes_; }

    /// Returns: the name that was given, for messages.
    [[nodiscard]] const std::string& file() const noexcept { return file_; }

    /// Returns: a reader of the whole file.
    [[nodiscard]] detail::wire_reader reader() const noexcept {
        return {base_, 0, static_cast<std::uint32_t>(bytes_.size()), file_};
    }

    /// Returns: a reader of the content of one message of the file.
    [[nodiscard]] detail::wire_reader reader(message_ref message) const noexcept {
        return {base_, message.begin, message.begin + message.size, file_};
    }

    /// Returns: where the message of a node is.
    [[nodiscard]] message_ref message(id node) const noexcept {
        return {nodes_[node].begin, nodes_[node].size, nodes_[node].container};
    }

    /// In file order, over all graphs.
    [[nodiscard]] std::span<const tensor_ref> tensors() const noexcept { return tensors_; }

    /// In file order, over all graphs.
    [[nodiscard]] std::span<const value_info_ref> value_infos() const noexcept {
        return value_infos_;
    }
    /// The `metadata_props` entries of the model itself.
    [[nodiscard]] std::span<const message_ref> model_metadata() const noexcept {
        return model_metadata_;
    }

    /// Returns: how many bytes the length in front of a node, a tensor or a value info takes.
    [[nodiscard]] std::uint32_t length_size(message_ref message) const noexcept {
        // Looking back would touch the bytes of the message once more.
        return padding_ ? message.begin - detail::length_position(base_, message.begin)
                        : static_cast<std::uint32_t>(detail::varint_size(message.size));
    }

    /// Whether a node has a field that may hold metadata, a doc_string, or one of our attributes.
    [[nodiscard]] bool may_hold_tags(id node) const noexcept { return holds_text_[node] != 0; }

    /// Whether a node has entries in `metadata_props`.
    [[nodiscard]] bool has_metadata(id node) const noexcept {
        return (holds_text_[node] & holds_metadata) != 0;
    }

    /// Whether an initializer has entries in `metadata_props`. Requires: it is one of `tensors`.
    /// Complexity: O(log initializers that have some).
    [[nodiscard]] bool has_metadata(const tensor_ref& tensor) const noexcept {
        return std::binary_search(described_tensors_.begin(), described_tensors_.end(),
                                  static_cast<id>(&tensor - tensors_.data()));
    }

    /// Whether a value info has entries in `metadata_props`. Requires: it is one of `value_infos`.
    /// Complexity: O(log value infos that have some).
    [[nodiscard]] bool has_metadata(const value_info_ref& info) const noexcept {
        return std::binary_search(described_infos_.begin(), described_infos_.end(),
                                  static_cast<id>(&info - value_infos_.data()));
    }

    using onnx_model::container_record;

    /// Name, docs, metadata and whatever else graphs say beside nodes, values and tensors, in file
    /// order.
    [[nodiscard]] std::span<const graph_field> graph_fields() const noexcept {
        return graph_fields_;
    }

    /// Messages that hold nodes, or hold one that does, in the order in which they begin.
    [[nodiscard]] std::span<const container_record> containers() const noexcept {
        return containers_;
    }

    /// Calls `f(key, value)` for every metadata entry of the model itself, in file order.
    /// Complexity: O(entries).
    template <class Function>
    void for_each_model_metadata(Function f) const {
        for (const auto& entry : model_metadata_) {
            const detail::wire_field field{.type = detail::wire_type::bytes,
                                           .content = entry.begin,
                                           .end = entry.begin + entry.size};
            const auto [key, value] = read_entry(reader(entry), field);
            f(key, value);
        }
    }

    /// Calls `f(key, value)` for every metadata entry of a node, in file order.
    /// Complexity: O(fields of the node).
    template <class Function>
    void for_each_metadata(id node, Function&& f) const {
        if (!has_metadata(node)) {
            return;
        }
        auto fields = reader(message(node));
        for (detail::wire_field field; fields.next(field);) {
            if (field.is_bytes(detail::onnx_fields::node::metadata_props)) {
                const auto [key, value] = read_entry(fields, field);
                f(key, value);
            }
        }
    }

    /// Whether a node has an attribute of a name. Complexity: O(fields of the node).
    [[nodiscard]] bool has_attribute(id node, std::string_view name) const {
        auto fields = reader(message(node));
        for (detail::wire_field field; fields.next(field);) {
            if (field.is_bytes(detail::onnx_fields::node::attribute)) {
                auto inside = fields.inner(field);
                for (detail::wire_field part; inside.next(part);) {
                    if (part.is_bytes(detail::onnx_fields::attribute::name) &&
                        inside.text(part) == name) {
                        return true;
                    }
                }
            }
        }
        return false;
    }

    /// Calls `f(value, key, text)` for every metadata entry of an initializer or value info.
    /// Complexity: O(fields of initializers and value infos).
    template <class Function>
    void for_each_value_metadata(Function f) const {
        const auto read = [&](message_ref message, id value, std::uint32_t metadata_field) {
            auto fields = reader(message);
            for (detail::wire_field field; value != no_id && fields.next(field);) {
                if (field.is_bytes(metadata_field)) {
                    const auto [key, text] = read_entry(fields, field);
                    f(value, key, text);
                }
            }
        };
        for (auto i : described_tensors_) {
            read(tensors_[i].message, tensors_[i].value,
                 detail::onnx_fields::tensor::metadata_props);
        }
        for (auto i : described_infos_) {
            read(value_infos_[i].message, value_infos_[i].value,
                 detail::onnx_fields::value_info::metadata_props);
        }
    }

    /// Returns: by value, which of those asked for are initializers that hold the same number in
    /// every element, of a fixed size and in this file.
    /// Complexity: O(initializers + data of those asked for).
    [[nodiscard]] std::vector<bool> find_uniform(const std::vector<bool>& asked) const {
        std::vector<bool> uniform(asked.size(), false);
        for (const auto& tensor : tensors_) {
            if (!asked[tensor.value] || tensor.sparse) {
                continue;
            }
            auto fields = reader(tensor.message);
            for (detail::wire_field field; fields.next(field);) {
                const bool holds_data =
                    field.is_bytes(at_tensor::raw_data) || field.is_bytes(at_tensor::float_data);
                if (holds_data && detail::is_uniform(fields.text(field))) {
                    uniform[tensor.value] = true;
                }
            }
        }
        return uniform;
    }

    /// Returns: by value, which of those asked for are initializers that can only be weights: of
    /// two or more extents above one, and of a type that neither counts nor flags.
    /// Complexity: O(initializers + fields of those asked for).
    [[nodiscard]] std::vector<bool> find_matrices(const std::vector<bool>& asked) const {
        using at = detail::onnx_fields::tensor;
        std::vector<bool> matrices(asked.size(), false);
        std::vector<std::int64_t> dims;
        for (const auto& tensor : tensors_) {
            if (!asked[tensor.value] || tensor.sparse) {
                continue;
            }
            dims.clear();
            std::int64_t type = 0;
            auto fields = reader(tensor.message);
            for (detail::wire_field field; fields.next(field);) {
                if (field.number == at::dims && (field.type == detail::wire_type::varint ||
                                                 field.type == detail::wire_type::bytes)) {
                    detail::read_dims(fields, field, dims);
                } else if (field.is(at::data_type, detail::wire_type::varint)) {
                    type = static_cast<std::int64_t>(field.value);
                }
            }
            matrices[tensor.value] = detail::is_weight_matrix(type, dims);
        }
        return matrices;
    }

    /// Returns: key and value of a StringStringEntryProto. Complexity: O(fields).
    [[nodiscard]] static std::pair<std::string_view, std::string_view>
    read_entry(const detail::wire_reader& around, const detail::wire_field& field) {
        std::pair<std::string_view, std::string_view> entry;
        auto fields = around.inner(field);
        for (detail::wire_field inside; fields.next(inside);) {
            if (inside.is_bytes(detail::onnx_fields::entry::key)) {
                entry.first = fields.text(inside);
            } else if (inside.is_bytes(detail::onnx_fields::entry::value)) {
                entry.second = fields.text(inside);
            }
        }
        return entry;
    }

private:
    using at_model = detail::onnx_fields::model;
    using at_opset = detail::onnx_fields::opset;
    using at_graph = detail::onnx_fields::graph;
    using at_node = detail::onnx_fields::node;
    using at_attribute = detail::onnx_fields::attribute;
    using at_tensor = detail::onnx_fields::tensor;
    using at_function = detail::onnx_fields::function;

    static constexpr std::uint8_t holds_metadata = 1;
    static constexpr std::uint8_t holds_doc_string = 2;
    static constexpr std::uint8_t holds_our_attribute = 4;

    // What a node needs to remember while its bodies are read.
    struct node_frame {
        std::vector<text_ref> inputs;
        std::vector<text_ref> outputs;
        std::vector<detail::wire_field> attributes; // those that hold graphs
    };

    // Protobuf gives up behind 100 nested messages: those of 33 bodies, each with the node and the
    // attribute around it, and the main graph. The innermost may have no nodes then.
    static constexpr std::size_t max_nesting = 33;

    [[nodiscard]] static text_ref ref(const detail::wire_field& field) noexcept {
        return {field.content, field.size()};
    }

    void note_padding(const detail::wire_field& field) noexcept {
        padding_ |= field.content - field.begin != 1 + detail::varint_size(field.size());
    }

    // Some fields of the main graph, read for the whole, which then takes over what was found.
    // `end` is where the last of them ends.
    wire_model(const wire_model& whole, const detail::wire_field& graph,
               const detail::graph_run& run, std::uint32_t& end)
        : bytes_(whole.bytes_), file_(whole.file_) {
        base_ = whole.base_;
        add_graph(graph_kind::main);
        end = scan_graph_fields(run, run, begin_container(graph, 0, no_id));
    }

    /// Returns: by how many threads the main graph was read.
    std::size_t scan_model(thread_limit threads) {
        auto fields = reader();
        bool has_graph = false;
        std::size_t used = 1;
        for (detail::wire_field field; fields.next(field);) {
            if (field.is_bytes(at_model::graph)) {
                has_graph = true;
                used = std::max(used, scan_main_graph(field, threads));
            } else if (field.is_bytes(at_model::functions)) {
                scan_function(fields, field);
            } else if (field.is_bytes(at_model::opset_import)) {
                scan_opset(fields.inner(field));
            } else if (field.is(at_model::ir_version, detail::wire_type::varint)) {
                ir_version_ = static_cast<std::int64_t>(field.value);
            } else if (field.is_bytes(at_model::producer_name)) {
                producer_name_ = ref(field);
            } else if (field.is_bytes(at_model::producer_version)) {
                producer_version_ = ref(field);
            } else if (field.is_bytes(at_model::metadata_props)) {
                model_metadata_.push_back({field.content, field.size(), no_id});
            }
        }
        if (!has_graph) {
            STEMMA_THROW(
                error(error_code::malformed, file_, "", "not an ONNX model: it has no graph"));
        }
        return used;
    }

    std::size_t scan_main_graph(const detail::wire_field& where, thread_limit threads) {
        const auto container = begin_container(where, 0, no_id);
        const detail::graph_run all{where.content, where.end};
        const auto runs = detail::guess_runs(bytes_, all.begin, all.end, threads);
        std::vector<std::optional<wire_model>> parts(runs.size());
        std::vector<std::uint32_t> ends(runs.size());
        for_each_part(runs.size(), [&](std::size_t i) {
            if (i == 0) {
                ends[0] = scan_graph_fields(runs[0], all, container);
                return;
            }
            try {
                parts[i] = wire_model(*this, where, runs[i], ends[i]);
            } catch (const error&) {
                // Whoever comes to this place by reading what is before it will meet it again.
            }
        });
        std::vector<wire_model*> taken;
        auto read_to = ends[0];
        for (std::size_t i = 1; i < runs.size() && read_to == runs[i].begin && parts[i]; ++i) {
            taken.push_back(&*parts[i]);
            read_to = ends[i];
        }
        append<wire_model>(taken, container, runs.size(),
                           [&](wire_model& part, const part_offsets& offset) {
                               if (&part == taken.front()) {
                                   expect_refs(taken);
                               }
                               append_refs(part, offset);
                           });
        parts.clear();
        // What was no run after all.
        scan_graph_fields({read_to, all.end}, all, container);
        end_container(container);
        return runs.size();
    }

    void expect_refs(std::span<wire_model* const> parts) {
        const auto make_room = [&](auto table) {
            auto size = (this->*table).size();
            for (const auto* part : parts) {
                size += (part->*table).size();
            }
            (this->*table).reserve(size);
        };
        make_room(&wire_model::tensors_);
        make_room(&wire_model::value_infos_);
        make_room(&wire_model::graph_fields_);
    }

    void append_refs(const wire_model& part, const part_offsets& offset) {
        const auto moved = [&](auto entry) {
            entry.graph = offset.graph_of(entry.graph);
            return entry;
        };
        const auto moved_named = [&](auto entry) {
            entry.message.container = offset.container_of(entry.message.container);
            entry.value += offset.named;
            return moved(entry);
        };
        const auto append_all = [](auto& to, const auto& from, auto f) {
            std::transform(from.begin(), from.end(), std::back_inserter(to), f);
        };
        append_all(described_tensors_, part.described_tensors_,
                   [n = tensors_.size()](id i) { return static_cast<id>(i + n); });
        append_all(described_infos_, part.described_infos_,
                   [n = value_infos_.size()](id i) { return static_cast<id>(i + n); });
        append_all(tensors_, part.tensors_, moved_named);
        append_all(value_infos_, part.value_infos_, moved_named);
        append_all(graph_fields_, part.graph_fields_, moved);
        holds_text_.insert(holds_text_.end(), part.holds_text_.begin(), part.holds_text_.end());
        padding_ |= part.padding_;
        for (const auto& [field, g] : part.graph_fields_) {
            if (g == 0 && field.is_bytes(at_graph::name)) {
                graph_at(0).name = ref(field);
            }
        }
    }

    void scan_opset(detail::wire_reader fields) {
        opset_import import;
        for (detail::wire_field field; fields.next(field);) {
            if (field.is_bytes(at_opset::domain)) {
                import.domain = fields.text(field);
            } else if (field.is(at_opset::version, detail::wire_type::varint)) {
                import.version = static_cast<std::int64_t>(field.value);
            }
        }
        opsets_.push_back(import);
    }

    id begin_container(const detail::wire_field& field, id g, id parent) {
        containers_.push_back({field.content, field.size(), g, parent, no_id, 0});
        return static_cast<id>(containers_.size() - 1);
    }

    void end_container(id c) { containers_[c].ends_before = node_count(); }

    void scan_body(const detail::wire_field& where, id g, id parent) {
        const auto container = begin_container(where, g, parent);
        scan_graph_fields({where.content, where.end}, {where.content, where.end}, container);
        end_container(container);
    }

    /// Reads the fields that begin in a run; they tell how many nodes `all` will have.
    /// Returns: behind the last.
    std::uint32_t scan_graph_fields(const detail::graph_run& run, const detail::graph_run& all,
                                    id container) {
        const auto g = containers_[container].graph;
        const auto& around = containers_[container];
        detail::wire_reader fields{base_, run.begin, around.begin + around.size, file_};
        for (detail::wire_field field; fields.position() < run.end && fields.next(field);) {
            if (field.is_bytes(at_graph::node)) {
                scan_node(fields, field, container);
                if (g == 0 && node_count() >= next_estimate_) {
                    estimate_nodes(all, field.end);
                }
            } else if (field.is_bytes(at_graph::initializer)) {
                scan_tensor(fields, field, container);
            } else if (field.is_bytes(at_graph::sparse_initializer)) {
                scan_sparse_tensor(fields, field, container);
            } else if (field.is_bytes(at_graph::input) || field.is_bytes(at_graph::output) ||
                       field.is_bytes(at_graph::value_info)) {
                scan_value_info(fields, field, container);
            } else {
                graph_fields_.push_back({field, g});
                if (field.is_bytes(at_graph::name)) {
                    graph_at(g).name = ref(field);
                }
            }
        }
        return fields.position();
    }

    // Weights mostly come behind the nodes, so what is left is no measure by itself.
    void estimate_nodes(const detail::graph_run& all, std::uint32_t at) {
        const auto known = std::uint64_t{node_count()};
        const auto left = known * (all.end - at) / std::max(at - all.begin, 1U);
        next_estimate_ = known * 16;
        expect_nodes(static_cast<std::size_t>(std::min(known + left + left / 16, next_estimate_)));
    }

    // Each reads the message `where` of the one `around`, and makes a reader of its own: one that
    // is handed over is put together in memory first, and is waited for.

    void scan_value_info(const detail::wire_reader& around, const detail::wire_field& where,
                         id container) {
        note_padding(where);
        value_info_ref info;
        info.message = {where.content, where.size(), container};
        info.graph = containers_[container].graph;
        info.field = where.number;
        auto fields = around.inner(where);
        for (detail::wire_field field; fields.next(field);) {
            if (field.is_bytes(detail::onnx_fields::value_info::name)) {
                info.name = ref(field);
            } else if (field.is_bytes(detail::onnx_fields::value_info::metadata_props)) {
                note_described(described_infos_, value_infos_.size());
            }
        }
        const bool in_function = graph_at(info.graph).kind == graph_kind::function;
        info.value = in_function                        ? add_mention(info.graph, info.name)
                     : where.number == at_graph::input  ? add_graph_input(info.graph, info.name)
                     : where.number == at_graph::output ? add_graph_output(info.graph, info.name)
                                                        : add_mention(info.graph, info.name);
        value_infos_.push_back(info);
    }

    static void note_described(std::vector<id>& list, std::size_t i) {
        if (list.empty() || list.back() != i) {
            list.push_back(static_cast<id>(i));
        }
    }

    void scan_tensor(const detail::wire_reader& around, const detail::wire_field& where,
                     id container) {
        note_padding(where);
        tensor_ref tensor;
        tensor.message = {where.content, where.size(), container};
        tensor.graph = containers_[container].graph;
        auto fields = around.inner(where);
        for (detail::wire_field field; fields.next(field);) {
            if (field.is_bytes(at_tensor::name)) {
                tensor.name = ref(field);
            } else if (field.is_bytes(at_tensor::metadata_props)) {
                note_described(described_tensors_, tensors_.size());
            }
        }
        tensor.value = add_initializer(tensor.graph, tensor.name, false);
        tensors_.push_back(tensor);
    }

    void scan_sparse_tensor(const detail::wire_reader& around, const detail::wire_field& where,
                            id container) {
        const auto outer = begin_container(where, containers_[container].graph, container);
        const auto g = containers_[container].graph;
        tensor_ref tensor;
        tensor.graph = g;
        tensor.sparse = true;
        auto fields = around.inner(where);
        for (detail::wire_field field; fields.next(field);) {
            if (field.is_bytes(detail::onnx_fields::sparse_tensor::values)) {
                note_padding(field);
                tensor.message = {field.content, field.size(), outer};
                auto inner = fields.inner(field);
                for (detail::wire_field inside; inner.next(inside);) {
                    if (inside.is_bytes(at_tensor::name)) {
                        tensor.name = ref(inside);
                    } else if (inside.is_bytes(at_tensor::metadata_props)) {
                        note_described(described_tensors_, tensors_.size());
                    }
                }
            }
        }
        end_container(outer);
        if (tensor.message.container != no_id) {
            tensor.value = add_initializer(g, tensor.name, true);
            tensors_.push_back(tensor);
        }
    }

    void scan_node(const detail::wire_reader& around, const detail::wire_field& where,
                   id container) {
        if (depth_ == frames_.size()) {
            frames_.emplace_back();
        }
        auto& frame = frames_[depth_];
        frame.inputs.clear();
        frame.outputs.clear();
        frame.attributes.clear();
        note_padding(where);
        node_record node;
        node.begin = where.content;
        node.size = where.size();
        node.container = container;
        operator_record op;
        std::uint8_t holds = 0;
        auto fields = around.inner(where);
        for (detail::wire_field field; fields.next(field);) {
            if (field.type != detail::wire_type::bytes) {
                continue;
            }
            switch (field.number) {
            case at_node::input:
                frame.inputs.push_back(ref(field));
                break;
            case at_node::output:
                frame.outputs.push_back(ref(field));
                break;
            case at_node::name:
                node.name = ref(field);
                break;
            case at_node::op_type:
                op.type = ref(field);
                break;
            case at_node::attribute:
                holds |= look_at_attribute(fields, field, frame);
                break;
            case at_node::doc_string:
                holds |= holds_doc_string;
                break;
            case at_node::domain:
                op.domain = ref(field);
                break;
            case at_node::overload:
                op.overload = ref(field);
                break;
            case at_node::metadata_props:
                holds |= holds_metadata;
                break;
            default:
                break;
            }
        }
        node.op = add_operator(text(op.type), text(op.domain), text(op.overload), op);
        if (frame.attributes.empty()) {
            add_node(node, frame.inputs, frame.outputs);
            holds_text_.push_back(holds);
        } else {
            scan_bodies(frame, node, holds);
        }
    }

    /// Notes an attribute that holds graphs; returns whether it may be one of ours.
    static std::uint8_t look_at_attribute(const detail::wire_reader& around,
                                          const detail::wire_field& where, node_frame& frame) {
        bool holds_graph = false;
        bool ours = false;
        auto fields = around.inner(where);
        for (detail::wire_field field; fields.next(field);) {
            if (field.is_bytes(at_attribute::name)) {
                const auto name = fields.text(field);
                ours = name == "source_module" || name == "hierarchy_tags";
            } else if (field.is_bytes(at_attribute::g) || field.is_bytes(at_attribute::graphs)) {
                holds_graph = true;
            }
        }
        if (holds_graph) {
            frame.attributes.push_back(where);
        }
        return ours ? holds_our_attribute : std::uint8_t{0};
    }

    void scan_bodies(node_frame& frame, const node_record& node, std::uint8_t holds) {
        if (++depth_ > max_nesting) {
            STEMMA_THROW(error(error_code::unsupported, file_, "byte " + std::to_string(node.begin),
                               "bodies nested deeper than protobuf allows"));
        }
        const auto first_graph = graph_count();
        std::vector<id> outer_containers;
        const auto file_fields = reader();
        for (const auto& attribute : frame.attributes) {
            outer_containers.push_back(
                begin_container(attribute, containers_[node.container].graph, no_id));
            scan_attribute(file_fields.inner(attribute), outer_containers.back());
            end_container(outer_containers.back());
        }
        --depth_;
        const auto owner = add_node(node, frame.inputs, frame.outputs);
        holds_text_.push_back(holds);
        for (auto c : outer_containers) {
            containers_[c].owner = owner;
        }
        for (auto g = first_graph; g < graph_count(); ++g) {
            if (graph_at(g).owner == no_id) {
                graph_at(g).owner = owner;
            }
        }
    }

    void scan_attribute(detail::wire_reader fields, id container) {
        text_ref name;
        id alone = no_id;
        id listed = 0;
        std::vector<id> made;
        for (detail::wire_field field; fields.next(field);) {
            if (field.is_bytes(at_attribute::name)) {
                name = ref(field);
            } else if (field.is_bytes(at_attribute::g)) {
                if (alone == no_id) {
                    alone = add_graph(graph_kind::body);
                    made.push_back(alone);
                }
                scan_body(field, alone, container);
            } else if (field.is_bytes(at_attribute::graphs)) {
                const auto g = add_graph(graph_kind::body);
                made.push_back(g);
                graph_at(g).listed = true;
                graph_at(g).attribute_index = listed++;
                scan_body(field, g, container);
            }
        }
        for (auto g : made) {
            graph_at(g).attribute = name;
        }
    }

    void scan_function(const detail::wire_reader& around, const detail::wire_field& where) {
        function_record function;
        function.graph = add_graph(graph_kind::function);
        graph_at(function.graph).function = static_cast<id>(functions_.size());
        const auto container = begin_container(where, function.graph, no_id);
        auto fields = around.inner(where);
        for (detail::wire_field field; fields.next(field);) {
            if (field.type != detail::wire_type::bytes) {
                continue;
            }
            switch (field.number) {
            case at_function::name:
                function.name = ref(field);
                break;
            case at_function::domain:
                function.domain = ref(field);
                break;
            case at_function::overload:
                function.overload = ref(field);
                break;
            case at_function::input:
                add_graph_input(function.graph, ref(field));
                break;
            case at_function::output:
                add_graph_output(function.graph, ref(field));
                break;
            case at_function::node:
                scan_node(fields, field, container);
                break;
            case at_function::value_info:
                scan_value_info(fields, field, container);
                break;
            default:
                break;
            }
        }
        end_container(container);
        graph_at(function.graph).name = function.name;
        functions_.push_back(function);
    }

    std::string_view bytes_;
    std::string file_;
    std::vector<tensor_ref> tensors_;
    std::vector<value_info_ref> value_infos_;
    std::vector<graph_field> graph_fields_;
    std::vector<message_ref> model_metadata_;
    std::vector<id> described_tensors_; // those with metadata
    std::vector<id> described_infos_;
    std::vector<std::uint8_t> holds_text_;
    std::deque<node_frame> frames_;
    std::size_t depth_ = 0;
    std::uint64_t next_estimate_ = 4096; // nodes
    bool padding_ = false;               // some length has more bytes than it needs, or a tag has
};

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_MODEL_HPP
