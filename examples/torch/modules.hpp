// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EXAMPLES_TORCH_MODULES_HPP
#define STEMMA_EXAMPLES_TORCH_MODULES_HPP

// The modules of a libtorch model as a stemma::module_tree.

#include <stemma/align/captured_operations.hpp>
#include <stemma/core/id.hpp>
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

/// The modules, and their operations.
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
    module_record record;
    record.qualified_class = without_mangling(module.type()->name()->qualifiedName());
    record.object = module._ivalue().get();
    for (const auto& each : module.named_parameters(false)) {
        add_defined(record.parameters, each.name, each.value);
    }
    for (const auto& each : module.named_buffers(false)) {
        add_defined(record.buffers, each.name, each.value);
    }
    for (const auto& each : module.named_children()) {
        record.children.emplace_back(each.name, describe(each.value));
    }
    return record;
}

inline module_record describe(const torch::nn::Module& module) {
    module_record record;
    record.qualified_class = python_class(module.name());
    record.object = &module;
    for (const auto& each : module.named_parameters(false)) {
        add_defined(record.parameters, each.key(), each.value());
    }
    for (const auto& each : module.named_buffers(false)) {
        add_defined(record.buffers, each.key(), each.value());
    }
    for (const auto& each : module.named_children()) {
        record.children.emplace_back(each.key(), describe(*each.value()));
    }
    return record;
}

/// `Float` is float32.
inline std::string python_type(at::ScalarType type) {
    static const std::map<at::ScalarType, std::string> names = {
        {at::kFloat, "float32"}, {at::kDouble, "float64"}, {at::kHalf, "float16"},
        {at::kLong, "int64"},    {at::kInt, "int32"},      {at::kShort, "int16"},
        {at::kChar, "int8"},     {at::kByte, "uint8"},     {at::kBool, "bool"}};
    const auto entry = names.find(type);
    return entry == names.end() ? c10::toString(type) : entry->second;
}

inline std::string join(const std::string& path, const std::string& name) {
    return path.empty() ? name : path + "." + name;
}

/// Counts the calls of modules through, as they began, where one was looked at as several.
class call_numbers {
public:
    /// Returns: which call of module `m` it is that was call `call` of its part `number`.
    stemma::id through(stemma::id m, stemma::id number, stemma::id call) {
        auto& calls = calls_[m];
        return calls.emplace(std::pair(number, call), static_cast<stemma::id>(calls.size()))
            .first->second;
    }

private:
    std::map<stemma::id, std::map<std::pair<stemma::id, stemma::id>, stemma::id>> calls_;
};

/// A model while it is examined: modules are numbered in order, and calls are counted.
class model_record {
public:
    explicit model_record(module_record root) : root_(std::move(root)) { number(root_, ""); }

    /// Returns: the number of a module, or `no_id`.
    [[nodiscard]] stemma::id number_of(const void* object) const {
        const auto entry = numbers_.find(object);
        return entry == numbers_.end() ? stemma::no_id : entry->second;
    }

    /// Returns: the first path of a parameter or buffer; "" for any other tensor.
    [[nodiscard]] std::string name_of(const at::Tensor& tensor) const {
        const auto entry = named_.find(place_of(tensor));
        return entry == named_.end() ? std::string() : entry->second.front();
    }

    /// Returns: which call of the module that is.
    stemma::id count_call(stemma::id module) { return calls_[module]++; }

    /// Returns: the tree, and the operations with its modules. `complete`: whether all calls were
    /// seen, as of an archive; then modules that look like one are one, see `find_twins`. A module
    /// that was never called may run in another way, so how often it runs is unknown.
    captured_model finish(stemma::captured_operations operations, bool complete) {
        if (complete) {
            find_twins();
        }
        stemma::module_tree_builder builder;
        std::vector<stemma::id> ids(calls_.size(), stemma::no_id);
        add(builder, root_, 0, "", ids);
        for (const auto& [where, names] : named_) {
            if (names.size() > 1) {
                builder.add_shared_parameters(names);
            }
        }
        captured_model result{builder.build(), std::move(operations)};
        call_numbers calls;
        for (stemma::id i = 0; i < result.operations.size(); ++i) {
            auto& operation = result.operations[i];
            const auto m = ids[operation.module];
            operation.call = calls.through(m, operation.module, operation.call);
            operation.module = builder.rank_of(m);
        }
        return result;
    }

private:
    using place = std::pair<const void*, std::vector<std::int64_t>>;
    using twin = std::pair<std::string, std::map<std::string, place>>;

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

    /// Everything that two records of one module have in common: the class, and the tensors by
    /// name.
    static twin describe_twin(const module_record& module) {
        twin key{module.qualified_class, {}};
        for (const auto* list : {&module.parameters, &module.buffers}) {
            for (const auto& [name, tensor] : *list) {
                key.second.emplace(name, place_of(tensor));
            }
        }
        for (const auto& [name, child] : module.children) {
            for (const auto& [below, where] : describe_twin(child).second) {
                key.second.emplace(join(name, below), where);
            }
        }
        return key;
    }

    bool was_called(const module_record& module) const {
        return calls_[number_of(module.object)] > 0 ||
               std::any_of(module.children.begin(), module.children.end(),
                           [&](const auto& child) { return was_called(child.second); });
    }

    void collect_twins(const module_record& module,
                       std::map<twin, std::vector<const module_record*>>& twins) const {
        auto looks = describe_twin(module);
        if (!looks.second.empty()) {
            twins[std::move(looks)].push_back(&module);
        }
        for (const auto& [name, child] : module.children) {
            collect_twins(child, twins);
        }
    }

    /// An archive has a module of several names several times, and calls of it go to one of them or
    /// to each: the first stands for all. Modules of a single tensor that ran apart may as well be
    /// different ones that share it.
    void find_twins() {
        std::map<twin, std::vector<const module_record*>> twins;
        collect_twins(root_, twins);
        for (const auto& [looks, modules] : twins) {
            const auto called = std::count_if(modules.begin(), modules.end(),
                                              [&](const auto* each) { return was_called(*each); });
            const auto first = number_of(modules.front()->object);
            for (const auto* each : modules) {
                const auto number = number_of(each->object);
                if (number != first && (called <= 1 || looks.second.size() > 1)) {
                    first_of_[number] = first;
                }
            }
        }
    }

    void add(stemma::module_tree_builder& builder, const module_record& module, stemma::id m,
             const std::string& path, std::vector<stemma::id>& ids) const {
        const auto number = number_of(module.object);
        ids[number] = m;
        const auto dot = module.qualified_class.rfind('.');
        builder.set_class(m, std::string_view(module.qualified_class).substr(dot + 1),
                          module.qualified_class);
        add_calls(builder, m, number);
        for (const bool is_buffer : {false, true}) {
            for (const auto& [name, tensor] : is_buffer ? module.buffers : module.parameters) {
                const auto shape = tensor.sizes().vec();
                const auto dtype = python_type(tensor.scalar_type());
                const stemma::tensor_info info{name, dtype, shape, tensor.requires_grad()};
                is_buffer ? builder.add_buffer(m, info) : builder.add_parameter(m, info);
            }
        }
        for (const auto& [name, child] : module.children) {
            auto first = ids[number_of(child.object)];
            if (const auto entry = first_of_.find(number_of(child.object));
                first == stemma::no_id && entry != first_of_.end()) {
                first = ids[entry->second];
            }
            if (first == stemma::no_id) {
                add(builder, child, builder.child(m, name), join(path, name), ids);
            } else {
                add_alias(builder, child, first, join(path, name), ids);
            }
        }
    }

    void add_calls(stemma::module_tree_builder& builder, stemma::id m, stemma::id number) const {
        if (calls_[number] > 0) {
            const auto calls = builder.calls(m);
            builder.set_calls(m, calls_[number] + (calls == stemma::no_id ? 0 : calls));
        }
    }

    void add_alias(stemma::module_tree_builder& builder, const module_record& module, stemma::id m,
                   const std::string& path, std::vector<stemma::id>& ids) const {
        const auto number = number_of(module.object);
        if (ids[number] == stemma::no_id) {
            ids[number] = m;
            add_calls(builder, m, number);
        }
        builder.add_alias(path, m);
        for (const auto& [name, child] : module.children) {
            const auto below = builder.find_child(m, name);
            if (below != stemma::no_id) {
                add_alias(builder, child, below, join(path, name), ids);
            }
        }
    }

    module_record root_;
    std::unordered_map<const void*, stemma::id> numbers_;
    std::vector<stemma::id> calls_;
    std::unordered_map<stemma::id, stemma::id> first_of_; // by number, of those that are aliases
    std::map<place, std::vector<std::string>> named_;
};

} // namespace detail

} // namespace torch_capture

#endif // STEMMA_EXAMPLES_TORCH_MODULES_HPP
