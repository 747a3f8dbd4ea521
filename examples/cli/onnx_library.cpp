// SPDX-License-Identifier: Apache-2.0
#include "onnx_library.hpp"

#include "isolated.hpp"
#include "onnx_plugin.h"

#include <stemma/core/hash.hpp>
#include <stemma/onnx/wire/message_edits.hpp>
#include <stemma/onnx/wire/rewrite.hpp>

#include <array>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <map>
#include <utility>

namespace cli {

namespace {

using stemma::id;

/// The functions of the plugin, found once; null where it is not there.
struct plugin {
    decltype(&stemma_infer_types) infer_types = nullptr;
    decltype(&stemma_check_model) check_model = nullptr;
    std::string problem;
};

const plugin& load_plugin() {
    static const plugin loaded = [] {
        plugin found;
        std::error_code ignored;
        const auto program = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
        void* library = nullptr;
        for (const auto& folder : {program, program / ".." / "lib" / "stemma" / "plugins"}) {
            const auto path = folder / "stemma_onnx_plugin.so";
            library = library != nullptr ? library : dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        }
        if (library == nullptr) {
            found.problem = "this program was built without the onnx library";
            return found;
        }
        // Functions of another version may take other arguments.
        const auto version = reinterpret_cast<decltype(&stemma_plugin_version)>(
            dlsym(library, "stemma_plugin_version"));
        if (version == nullptr || version() != STEMMA_PLUGIN_VERSION) {
            found.problem = "stemma_onnx_plugin.so was built for another version of this program";
            return found;
        }
        found.infer_types =
            reinterpret_cast<decltype(found.infer_types)>(dlsym(library, "stemma_infer_types"));
        found.check_model =
            reinterpret_cast<decltype(found.check_model)>(dlsym(library, "stemma_check_model"));
        return found;
    }();
    return loaded;
}

/// Takes the data out of large initializers: types do not need them.
class weight_remover {
public:
    explicit weight_remover(const stemma::wire_model& model) : model_(&model) {}

    void edit_node(id, stemma::message_edits&) const {}
    void edit_value_info(const stemma::value_info_ref&, stemma::message_edits&) const {}
    void edit_model(stemma::message_edits&) const {}

    void edit_tensor(const stemma::tensor_ref& tensor, stemma::message_edits& edits) const {
        constexpr std::uint32_t large = 4096;
        auto fields = model_->reader(tensor.message);
        for (stemma::wire_field field; fields.next(field);) {
            if (field.is_bytes(stemma::detail::onnx_fields::tensor::raw_data) &&
                field.size() > large) {
                edits.remove(field.begin, field.end);
            }
        }
    }

private:
    const stemma::wire_model* model_;
};

std::string without_weights(const stemma::wire_model& model) {
    weight_remover editor(model);
    stemma::rewrite plan(model, editor);
    stemma::string_splice light(model.bytes());
    plan.write(light);
    return std::move(light.text);
}

/// A type as it comes from the library: number of the graph without functions, name, TypeProto.
struct type_record {
    std::uint32_t graph;
    std::uint32_t name_size;
    std::uint32_t type_size;
};

void write_type(void* out, unsigned graph, const char* name, size_t name_size, const char* type,
                size_t type_size) {
    const type_record record{graph, static_cast<std::uint32_t>(name_size),
                             static_cast<std::uint32_t>(type_size)};
    auto* const file = static_cast<std::FILE*>(out);
    std::fwrite(&record, sizeof record, 1, file);
    std::fwrite(name, 1, name_size, file);
    std::fwrite(type, 1, type_size, file);
}

/// Takes the first bytes of a text away.
///
/// Returns: them, or nothing when there are fewer.
std::string_view take(std::string_view& text, std::size_t size) {
    const auto taken = text.substr(0, size);
    text.remove_prefix(taken.size());
    return taken.size() == size ? taken : std::string_view();
}

} // namespace

std::string add_inferred_types(const stemma::wire_model& model, stemma::value_types& types) {
    const auto& library = load_plugin();
    if (library.infer_types == nullptr) {
        return library.problem;
    }
    // What is written: types, then a record of a name alone, which is the reason why not all are
    // there.
    const auto answer = run_isolated([&](std::FILE* out) {
        const auto light = without_weights(model);
        std::array<char, 512> message{};
        library.infer_types(light.data(), light.size(), write_type, out, message.data(),
                            message.size());
        write_type(out, 0, message.data(), std::strlen(message.data()), "", 0);
    });
    if (!answer.problem.empty()) {
        return "the onnx library " + answer.problem;
    }
    std::map<std::pair<id, std::string_view>, id> values;
    for (id value = 0; value < model.value_count(); ++value) {
        values.emplace(std::pair(model.graph_of_value(value), model.value_name(value)), value);
    }
    std::vector<id> graphs;
    for (id g = 0; g < model.graph_count(); ++g) {
        if (model.graph(g).kind != stemma::graph_kind::function) {
            graphs.push_back(g);
        }
    }
    std::string_view left = answer.text;
    for (;;) {
        type_record record{};
        const auto bytes = take(left, sizeof record);
        if (bytes.empty()) {
            return "the onnx library ended without an answer";
        }
        std::memcpy(&record, bytes.data(), sizeof record);
        const auto name = take(left, record.name_size);
        const auto type = take(left, record.type_size);
        if (left.empty()) {
            return std::string(name);
        }
        if (record.graph < graphs.size()) {
            if (const auto found = values.find({graphs[record.graph], name});
                found != values.end()) {
                types.add(found->second, std::string(type));
            }
        }
    }
}

check_answer check_with_onnx(const stemma::wire_model& model) {
    using verdict = check_answer::verdict;
    const auto& library = load_plugin();
    if (library.check_model == nullptr) {
        return {verdict::cannot_judge, library.problem};
    }
    const auto answer = run_isolated([&](std::FILE* out) {
        std::array<char, 2048> message{};
        const int status =
            library.check_model(model.bytes().data(), model.bytes().size(), model.file().c_str(),
                                message.data(), message.size());
        std::fputc(status, out);
        std::fputs(message.data(), out);
    });
    if (!answer.problem.empty() || answer.text.empty()) {
        return {verdict::cannot_judge, "the onnx library " + answer.problem};
    }
    const auto status = answer.text.front();
    return {status == 0   ? verdict::valid
            : status == 1 ? verdict::invalid
                          : verdict::cannot_judge,
            answer.text.substr(1)};
}

} // namespace cli
