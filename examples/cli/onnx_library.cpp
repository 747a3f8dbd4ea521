// SPDX-License-Identifier: Apache-2.0
#include "onnx_library.hpp"

#include "onnx_plugin.h"

#include <stemma/core/hash.hpp>
#include <stemma/onnx/wire/message_edits.hpp>
#include <stemma/onnx/wire/rewrite.hpp>

#include <array>
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

/// Finds values by graph and name, and gives them types.
struct type_taker {
    stemma::value_types& types;
    std::map<std::pair<id, std::string_view>, id> values;
    std::vector<id> graphs; // by number without functions
};

void take_type(void* user, unsigned graph, const char* name, size_t name_size, const char* type,
               size_t type_size) {
    auto& taker = *static_cast<type_taker*>(user);
    if (graph >= taker.graphs.size()) {
        return;
    }
    const auto found = taker.values.find({taker.graphs[graph], {name, name_size}});
    if (found != taker.values.end()) {
        taker.types.add(found->second, std::string(type, type_size));
    }
}

} // namespace

std::string add_inferred_types(const stemma::wire_model& model, stemma::value_types& types) {
    const auto& library = load_plugin();
    if (library.infer_types == nullptr) {
        return library.problem;
    }
    type_taker taker{types, {}, {}};
    for (id value = 0; value < model.value_count(); ++value) {
        taker.values.emplace(std::pair(model.graph_of_value(value), model.value_name(value)),
                             value);
    }
    for (id g = 0; g < model.graph_count(); ++g) {
        if (model.graph(g).kind != stemma::graph_kind::function) {
            taker.graphs.push_back(g);
        }
    }
    const auto light = without_weights(model);
    std::array<char, 512> message{};
    const int status = library.infer_types(light.data(), light.size(), take_type, &taker,
                                           message.data(), message.size());
    return status == 0 ? std::string() : std::string(message.data());
}

check_answer check_with_onnx(const stemma::wire_model& model) {
    const auto& library = load_plugin();
    if (library.check_model == nullptr) {
        return {check_answer::verdict::cannot_judge, library.problem};
    }
    std::array<char, 2048> message{};
    const int status = library.check_model(model.bytes().data(), model.bytes().size(),
                                           model.file().c_str(), message.data(), message.size());
    using verdict = check_answer::verdict;
    return {status == 0   ? verdict::valid
            : status == 1 ? verdict::invalid
                          : verdict::cannot_judge,
            message.data()};
}

} // namespace cli
