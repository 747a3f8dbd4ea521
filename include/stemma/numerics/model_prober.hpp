// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_NUMERICS_MODEL_PROBER_HPP
#define STEMMA_NUMERICS_MODEL_PROBER_HPP

#include <stemma/config.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/cut/cut_options.hpp>
#include <stemma/error.hpp>
#include <stemma/io/detail/system_files.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/io/mapped_file.hpp>
#include <stemma/io/output_file.hpp>
#include <stemma/numerics/detail/module_values.hpp>
#include <stemma/onnx/detail/message_edits.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/place_external_data.hpp>
#include <stemma/onnx/detail/splices.hpp>
#include <stemma/onnx/tensor_header.hpp>
#include <stemma/onnx/value_definitions.hpp>
#include <stemma/onnx/write_rope.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma/types/detail/infer_shapes.hpp>
#include <stemma/types/detail/type_proto.hpp>
#include <stemma/types/value_types.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// Options of `model_prober`.
struct probe_options {
    std::vector<bool> modules{};      ///< by module; empty for all
    std::vector<std::string> names{}; ///< further values, if the model produces them
    type_inference infer{};           ///< called once, if the type of a value is unknown
};

/// Why a boundary value is not exposed.
enum class probe_omission : std::uint8_t {
    unknown_type, ///< an output needs element type and rank
    no_tensor,    ///< a sequence, map or optional
    inside,       ///< in the body of a node, or in a function
};

/// Returns: the name used in manifests.
[[nodiscard]] constexpr std::string_view to_string(probe_omission why) noexcept {
    constexpr std::array<std::string_view, 3> names{"unknown_type", "no_tensor", "inside"};
    return names[static_cast<std::size_t>(why)];
}

/// Adds the values at module boundaries to the outputs of a model, so that any runtime returns
/// them. Everything else stays byte for byte.
///  The set is minimal: shared values are exposed once; inputs and outputs of the model, and
/// constants, are left out.
class model_prober {
public:
    /// Requires: `opened` outlives it, and keeps its evidence.
    /// Throws: `error` of `error_code::malformed` if a graph defines a value more than once.
    /// Complexity: O(nodes + edges), and that of `shape_inference` if types are missing.
    explicit model_prober(const attributed_model& opened, probe_options options = {})
        : opened_(opened)
        , model_(opened.model())
        , borders_(detail::find_module_values(opened))
        , modules_(std::move(options.modules))
        , types_(model_) {
        detail::check_definitions(model_);
        modules_.resize(opened.modules().size(), modules_.empty());
        collect_values(options.names);
        find_types(options.infer);
        choose();
    }

    model_prober(const model_prober&) = delete;
    model_prober& operator=(const model_prober&) = delete;

    /// Returns: the observable values, inputs first, then in execution order.
    [[nodiscard]] std::span<const id> shown() const noexcept { return shown_; }

    /// Returns: those of them that become outputs.
    [[nodiscard]] std::span<const id> added() const noexcept { return added_; }

    /// Returns: values that are not exposed, and why.
    [[nodiscard]] std::span<const std::pair<id, probe_omission>> left_out() const noexcept {
        return left_out_;
    }

    /// Writes the model with its new outputs. Returns: its size in bytes.
    /// Throws: `error` of `error_code::too_large` if it reaches 2 GiB, `cannot_write`, and as
    /// `place_external_data`. Complexity: O(bytes).
    std::uint64_t write(const std::string& path, const write_options& options = {}) const {
        output_file written(path);
        detail::file_splice splice(opened_.file(), written);
        const auto size = write_to(splice);
        detail::place_external_data(model_, path, options.data, options.replace_data, options.sync);
        written.commit(options.sync);
        return size;
    }

    /// Returns: the bytes that `write` writes. Throws, Complexity: as `write`.
    [[nodiscard]] std::string bytes() const {
        detail::string_splice splice(model_.bytes());
        write_to(splice);
        return std::move(splice.text);
    }

    /// Writes the manifest of values and modules (`stemma.probe/1`). `probed` is the path of the
    /// written model.
    /// Complexity: O(length of the result).
    template <text_sink Sink>
    void write_manifest(Sink& sink, const std::string& probed) const {
        detail::write_document(sink, "stemma.probe/1", [&](auto& json) {
            json.member("model", std::filesystem::path(model_.file()).filename().string());
            json.member("probed", std::filesystem::path(probed).filename().string());
            write_values(json);
            write_modules(json);
            write_left_out(json);
        });
    }

private:
    using at_graph = detail::onnx_fields::graph;

    void collect_values(const std::vector<std::string>& names) {
        std::unordered_set<id> met;
        const auto take = [&](id value) {
            if (met.insert(value).second) {
                shown_.push_back(value);
            }
        };
        for (id m = 0; m < modules_.size(); ++m) {
            if (modules_[m]) {
                std::for_each(borders_.inputs[m].begin(), borders_.inputs[m].end(), take);
                std::for_each(borders_.outputs[m].begin(), borders_.outputs[m].end(), take);
                for (const auto value : borders_.hidden[m]) {
                    if (met.insert(value).second) {
                        left_out_.emplace_back(value, probe_omission::inside);
                    }
                }
            }
        }
        if (!names.empty()) {
            const std::unordered_set<std::string_view> wanted(names.begin(), names.end());
            for (id value = 0; value < model_.value_count(); ++value) {
                if (model_.graph_of_value(value) == 0 && !model_.is_initializer(value) &&
                    model_.kind(value) != value_kind::undefined &&
                    wanted.contains(model_.value_name(value))) {
                    take(value);
                }
            }
        }
        detail::range::stable_sort_by(shown_, [&](id value) {
            const auto producer = model_.producer(value);
            return producer == no_id ? std::pair(id{0}, id{0})
                                     : std::pair(id{1}, borders_.rank[producer]);
        });
    }

    void find_types(const type_inference& infer) {
        const auto find = [&] {
            if (detail::range::all_of(shown_, [&](id v) { return types_.has_type(v); })) {
                return true;
            }
            detail::shape_inference inference(model_, types_);
            for (const auto v : shown_) {
                inference.find(v);
            }
            return detail::range::all_of(shown_, [&](id v) { return types_.has_type(v); });
        };
        if (!find() && infer) {
            static_cast<void>(infer(model_, types_));
            static_cast<void>(find());
        }
    }

    void choose() {
        std::unordered_set<id> given(model_.graph(0).outputs.begin(),
                                     model_.graph(0).outputs.end());
        std::erase_if(shown_, [&](id value) {
            if (model_.producer(value) == no_id || given.contains(value)) {
                return false;
            }
            const auto type = types_.type_of(value);
            if (!type || detail::read_type(*type).what != detail::type_proto::kind::tensor) {
                left_out_.emplace_back(value, type ? probe_omission::no_tensor
                                                   : probe_omission::unknown_type);
                return true;
            }
            added_.push_back(value);
            return false;
        });
    }

    /// Returns: the new outputs, as fields of a graph.
    [[nodiscard]] std::string output_fields() const {
        using at_info = detail::onnx_fields::value_info;
        std::string fields;
        for (const auto value : added_) {
            std::string info;
            detail::append_field(at_info::name, model_.value_name(value), info);
            detail::append_field(at_info::type, *types_.type_of(value), info);
            detail::append_field(at_graph::output, info, fields);
        }
        return fields;
    }

    template <detail::splice_sink Sink>
    std::uint64_t write_to(Sink& sink) const {
        const auto whole = static_cast<std::uint32_t>(model_.bytes().size());
        const auto fields = output_fields();
        // A graph may come in chunks; new fields go to the last one.
        std::uint32_t begin = 0;
        std::uint32_t end = 0;
        for (const auto& container : model_.containers()) {
            if (container.graph == 0 && container.parent == no_id && container.owner == no_id &&
                container.begin >= begin) {
                begin = container.begin;
                end = container.begin + container.size;
            }
        }
        if (fields.empty() || begin == 0) {
            sink.copy(0, whole);
            return whole;
        }
        std::string length;
        detail::append_varint(std::uint64_t{end} - begin + fields.size(), length);
        const auto length_at = detail::length_position(model_.bytes().data(), begin);
        const auto size =
            std::uint64_t{whole} - (begin - length_at) + length.size() + fields.size();
        if (size >= std::uint64_t{1} << 31U) {
            STEMMA_THROW(error(error_code::too_large, model_.file(), "",
                               "the result would have " + std::to_string(size) +
                                   " bytes; protobuf's limit is 2 GiB"));
        }
        sink.copy(0, length_at);
        sink.write(length);
        sink.copy(begin, end - begin);
        sink.write(fields);
        sink.copy(end, whole - end);
        return size;
    }

    template <class Json>
    void write_values(Json& json) const {
        const std::unordered_set<id> added(added_.begin(), added_.end());
        json.objects("values", shown_, [&](const auto value) {
            json.member("name", model_.value_name(value));
            const auto producer = model_.producer(value);
            json.key("module");
            producer == no_id ? json.null() : json.value(path_of(producer));
            write_type(json, types_.type_of(value));
            json.member("added", added.contains(value));
        });
    }

    template <class Json>
    static void write_type(Json& json, std::optional<std::string_view> declared) {
        const auto type = declared ? detail::read_type(*declared) : detail::type_proto();
        const bool is_tensor = type.what == detail::type_proto::kind::tensor;
        json.key("shape");
        if (is_tensor && type.shape) {
            json.begin_array();
            detail::for_each_extent(*type.shape, [&](std::int64_t extent, std::string_view name) {
                !name.empty() ? json.value(name) : extent < 0 ? json.null() : json.value(extent);
            });
            json.end_array();
        } else {
            json.null();
        }
        json.member_or_null("type", is_tensor ? data_type_name(type.data_type) : "");
    }

    template <class Json>
    void write_modules(Json& json) const {
        const std::unordered_set<id> shown(shown_.begin(), shown_.end());
        const auto write_names = [&](std::string_view key, std::span<const id> values) {
            json.list(key, values, [&](const auto value) {
                if (shown.contains(value)) {
                    json.value(model_.value_name(value));
                }
            });
        };
        json.key("modules");
        json.begin_array();
        for (id m = 0; m < modules_.size(); ++m) {
            if (modules_[m] && !borders_.outputs[m].empty()) {
                json.begin_object(true);
                json.member("module", opened_.modules().path(m));
                json.member("class", opened_.modules().class_name(m));
                write_names("inputs", borders_.inputs[m]);
                write_names("outputs", borders_.outputs[m]);
                json.end_object();
            }
        }
        json.end_array();
    }

    template <class Json>
    void write_left_out(Json& json) const {
        json.objects("left_out", left_out_, [&](const auto& pair) {
            const auto& [value, why] = pair;
            json.member("name", model_.value_name(value));
            json.member("graph", model_.graph_path(model_.graph_of_value(value)));
            json.member("module", path_of(model_.producer(value)));
            json.member("reason", to_string(why));
        });
    }

    [[nodiscard]] std::string path_of(id node) const {
        return opened_.modules().path(opened_.tags().attributions[node].module);
    }

    const attributed_model& opened_;
    const wire_model& model_;
    detail::module_values borders_;
    std::vector<bool> modules_; // by module: its boundary is exposed
    value_types types_;
    std::vector<id> shown_;
    std::vector<id> added_;
    std::vector<std::pair<id, probe_omission>> left_out_;
};

/// Returns: the names of the values in a list that `model_prober` wrote (`stemma.probe/1`).
/// Throws: `error` of `error_code::cannot_read`, or of `malformed` for anything else.
/// Complexity: O(bytes).
[[nodiscard]] inline std::vector<std::string> probed_names(const std::string& path) {
    const mapped_file file(path);
    const auto fail = [&](std::string_view why) {
        STEMMA_THROW(error(error_code::malformed, path, "", why));
    };
    const auto json = nlohmann::json::parse(file.bytes(), nullptr, false);
    const auto schema = json.is_object() ? json.find("schema") : json.end();
    if (!json.is_object() || schema == json.end() || *schema != "stemma.probe/1" ||
        !json.contains("values") || !json["values"].is_array()) {
        fail("is not a stemma.probe/1 list of values");
    }
    std::vector<std::string> names;
    for (const auto& value : json["values"]) {
        if (!value.is_object() || !value.contains("name") || !value["name"].is_string()) {
            fail("a value has no name");
        }
        names.push_back(value["name"].get<std::string>());
    }
    return names;
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_NUMERICS_MODEL_PROBER_HPP
