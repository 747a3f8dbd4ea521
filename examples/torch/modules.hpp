// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EXAMPLES_TORCH_MODULES_HPP
#define STEMMA_EXAMPLES_TORCH_MODULES_HPP

// The modules of a libtorch model as a stemma::module_tree.

#include <stemma/core/id.hpp>
#include <stemma/model/captured_operations.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/module_tree_builder.hpp>

#include <torch/nn/module.h>
#include <torch/script.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace torch_capture {

/// The modules, and what they did.
struct captured_model {
    stemma::module_tree modules;
    stemma::captured_operations operations;
};

namespace detail {

/// A module of either kind.
struct module_record {
    std::string qualified_class;
    const void* object = nullptr;
    std::vector<std::pair<std::string, at::Tensor>> parameters;
    std::vector<std::pair<std::string, at::Tensor>> buffers;
    std::vector<std::pair<std::string, module_record>> children;
};

/// `__torch__.app.___torch_mangle_7.Net` is app.Net.
inline std::string without_mangling(std::string name) {
    constexpr std::string_view package = "__torch__.";
    constexpr std::string_view mangle = "___torch_mangle_";
    if (name.starts_with(package)) {
        name.erase(0, package.size());
    }
    for (auto at = name.find(mangle); at != name.npos; at = name.find(mangle)) {
        const auto dot = name.find('.', at);
        name.erase(at, dot == name.npos ? dot : dot + 1 - at);
    }
    return name;
}

/// `torch::nn::LinearImpl` is torch.nn.Linear.
inline std::string python_class(std::string name) {
    for (auto at = name.find("::"); at != name.npos; at = name.find("::")) {
        name.replace(at, 2, ".");
    }
    if (name.ends_with("Impl")) {
        name.resize(name.size() - 4);
    }
    return name;
}

inline void add_defined(std::vector<std::pair<std::string, at::Tensor>>& tensors,
                        const std::string& name, const at::Tensor& tensor) {
    if (tensor.defined()) {
        tensors.emplace_back(name, tensor);
    }
}

inline module_record describe(const torch::jit::Module& module) {
    module_record made;
    made.qualified_class = without_mangling(module.type()->name()->qualifiedName());
    made.object = module._ivalue().get();
    for (const auto& each : module.named_parameters(false)) {
        add_defined(made.parameters, each.name, each.value);
    }
    for (const auto& each : module.named_buffers(false)) {
        add_defined(made.buffers, each.name, each.value);
    }
    for (const auto& each : module.named_children()) {
        made.children.emplace_back(each.name, describe(each.value));
    }
    return made;
}

inline module_record describe(const torch::nn::Module& module) {
    module_record made;
    made.qualified_class = python_class(module.name());
    made.object = &module;
    for (const auto& each : module.named_parameters(false)) {
        add_defined(made.parameters, each.key(), each.value());
    }
    for (const auto& each : module.named_buffers(false)) {
        add_defined(made.buffers, each.key(), each.value());
    }
    for (const auto& each : module.named_children()) {
        made.children.emplace_back(each.key(), describe(*each.value()));
    }
    return made;
}

/// `Float` is float32.
inline std::string python_type(at::ScalarType type) {
    static const std::map<at::ScalarType, std::string> known = {
        {at::kFloat, "float32"}, {at::kDouble, "float64"}, {at::kHalf, "float16"},
        {at::kLong, "int64"},    {at::kInt, "int32"},      {at::kShort, "int16"},
        {at::kChar, "int8"},     {at::kByte, "uint8"},     {at::kBool, "bool"}};
    const auto found = known.find(type);
    return found == known.end() ? c10::toString(type) : found->second;
}

inline std::string join(const std::string& path, const std::string& name) {
    return path.empty() ? name : path + "." + name;
}

/// A model while it is looked at: modules are numbered as they stand, and calls are counted.
class model_record {
public:
    explicit model_record(module_record root) : root_(std::move(root)) { number(root_, ""); }

    /// Returns: the number of a module, or `no_id`.
    [[nodiscard]] stemma::id number_of(const void* object) const {
        const auto found = numbers_.find(object);
        return found == numbers_.end() ? stemma::no_id : found->second;
    }

    /// Returns: the first path of a parameter or buffer; "" for any other tensor.
    [[nodiscard]] std::string name_of(const at::Tensor& tensor) const {
        const auto found = named_.find(place_of(tensor));
        return found == named_.end() ? std::string() : found->second.front();
    }

    /// Returns: which call of the module that is.
    stemma::id count_call(stemma::id module) { return calls_[module]++; }

    /// Returns: the tree, and the operations with its modules. `complete`: whether all calls were
    /// seen; then a module that was never called is an alias when it has the class and tensors of
    /// one that was, since tracing makes two of one.
    captured_model finish(stemma::captured_operations operations, bool complete) {
        stemma::module_tree_builder builder;
        std::map<twin, stemma::id> twins;
        if (complete) {
            find_called(root_, twins);
        }
        std::vector<stemma::id> made(calls_.size(), stemma::no_id);
        add(builder, root_, 0, "", twins, made, complete);
        for (const auto& [where, names] : named_) {
            if (names.size() > 1) {
                builder.add_shared_parameters(names);
            }
        }
        captured_model result{builder.build(), std::move(operations)};
        for (stemma::id i = 0; i < result.operations.size(); ++i) {
            auto& module = result.operations[i].module;
            module = builder.rank_of(made[module]);
        }
        return result;
    }

private:
    using place = std::pair<const void*, std::vector<std::int64_t>>;
    using twin = std::pair<std::string, std::vector<place>>;

    /// Where a tensor lies, its shape and strides: the same for all that is said to be it.
    static place place_of(const at::Tensor& tensor) {
        const bool lies = tensor.has_storage() && tensor.numel() > 0;
        auto extents = tensor.sizes().vec();
        if (lies) {
            extents.insert(extents.end(), tensor.strides().begin(), tensor.strides().end());
        }
        return {lies ? tensor.data_ptr() : tensor.unsafeGetTensorImpl(), extents};
    }

    void number(const module_record& module, const std::string& path) {
        numbers_.emplace(module.object, static_cast<stemma::id>(numbers_.size()));
        calls_.resize(numbers_.size(), 0);
        for (const auto* list : {&module.parameters, &module.buffers}) {
            for (const auto& [name, tensor] : *list) {
                named_[place_of(tensor)].push_back(join(path, name));
            }
        }
        for (const auto& [name, child] : module.children) {
            number(child, join(path, name));
        }
    }

    /// Everything that two records of one module have in common.
    static twin describe_twin(const module_record& module) {
        twin found{module.qualified_class, {}};
        for (const auto* list : {&module.parameters, &module.buffers}) {
            for (const auto& [name, tensor] : *list) {
                found.second.push_back(place_of(tensor));
            }
        }
        for (const auto& [name, child] : module.children) {
            const auto below = describe_twin(child).second;
            found.second.insert(found.second.end(), below.begin(), below.end());
        }
        return found;
    }

    bool was_called(const module_record& module) const {
        return calls_[number_of(module.object)] > 0 ||
               std::any_of(module.children.begin(), module.children.end(),
                           [&](const auto& child) { return was_called(child.second); });
    }

    void find_called(const module_record& module, std::map<twin, stemma::id>& twins) const {
        if (calls_[number_of(module.object)] > 0) {
            twins.emplace(describe_twin(module), number_of(module.object));
        }
        for (const auto& [name, child] : module.children) {
            find_called(child, twins);
        }
    }

    void add(stemma::module_tree_builder& builder, const module_record& module, stemma::id m,
             const std::string& path, const std::map<twin, stemma::id>& twins,
             std::vector<stemma::id>& made, bool complete) const {
        const auto number = number_of(module.object);
        made[number] = m;
        const auto dot = module.qualified_class.rfind('.');
        builder.set_class(m, std::string_view(module.qualified_class).substr(dot + 1),
                          module.qualified_class);
        if (complete || calls_[number] > 0) {
            builder.set_calls(m, calls_[number]);
        }
        for (const bool is_buffer : {false, true}) {
            for (const auto& [name, tensor] : is_buffer ? module.buffers : module.parameters) {
                const auto shape = tensor.sizes().vec();
                const auto dtype = python_type(tensor.scalar_type());
                const stemma::tensor_info info{name, dtype, shape, tensor.requires_grad()};
                is_buffer ? builder.add_buffer(m, info) : builder.add_parameter(m, info);
            }
        }
        for (const auto& [name, child] : module.children) {
            auto first = made[number_of(child.object)];
            if (first == stemma::no_id && !was_called(child)) {
                const auto looks = describe_twin(child);
                const auto found = looks.second.empty() ? twins.end() : twins.find(looks);
                first = found == twins.end() ? stemma::no_id : made[found->second];
            }
            if (first == stemma::no_id) {
                add(builder, child, builder.child(m, name), join(path, name), twins, made,
                    complete);
            } else {
                add_alias(builder, child, first, join(path, name), made);
            }
        }
    }

    void add_alias(stemma::module_tree_builder& builder, const module_record& module, stemma::id m,
                   const std::string& path, std::vector<stemma::id>& made) const {
        made[number_of(module.object)] = m;
        builder.add_alias(path, m);
        for (const auto& [name, child] : module.children) {
            const auto below = builder.find_child(m, name);
            if (below != stemma::no_id) {
                add_alias(builder, child, below, join(path, name), made);
            }
        }
    }

    module_record root_;
    std::unordered_map<const void*, stemma::id> numbers_;
    std::vector<stemma::id> calls_;
    std::map<place, std::vector<std::string>> named_;
};

} // namespace detail

} // namespace torch_capture

#endif // STEMMA_EXAMPLES_TORCH_MODULES_HPP
