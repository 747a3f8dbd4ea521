// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CHECKPOINT_DETAIL_TORCH_PICKLE_HPP
#define STEMMA_CHECKPOINT_DETAIL_TORCH_PICKLE_HPP

#include <stemma/checkpoint/detail/pickled_values.hpp>
#include <stemma/checkpoint/detail/tensor_layout.hpp>
#include <stemma/config.hpp>
#include <stemma/error.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The result of calling a name in a pickle.
enum class torch_role : std::uint8_t {
    unknown,
    dict,         ///< a dict, empty or of pairs
    empty_dict,   ///< an empty dict, whatever the arguments
    first,        ///< the first argument
    other,        ///< irrelevant to tensors
    tensor,       ///< `(storage, offset, size, stride, [_, requires_grad])`
    tensor_v2,    ///< `(storage, offset, size, stride, requires_grad, ...)`
    tensor_v3,    ///< the same, with a dtype as seventh
    quantized,    ///< `(storage, offset, size, stride, quantizer, requires_grad, ...)`
    parameter,    ///< `(tensor, requires_grad, ...)`
    from_type,    ///< `(function, type, arguments, state)`
    storage,      ///< a storage type
    script_class, ///< a class of a TorchScript archive
};

/// A name that may occur in a pickle.
struct torch_name {
    std::string_view module;
    std::string_view attribute;
    torch_role role;
};

inline constexpr std::array<torch_name, 46> torch_names{{
    {"collections", "OrderedDict", torch_role::dict},
    {"collections", "defaultdict", torch_role::empty_dict},
    {"builtins", "dict", torch_role::dict},
    {"__builtin__", "dict", torch_role::dict},
    {"builtins", "set", torch_role::first},
    {"__builtin__", "set", torch_role::first},
    {"builtins", "frozenset", torch_role::first},
    {"__builtin__", "frozenset", torch_role::first},
    {"builtins", "list", torch_role::first},
    {"__builtin__", "list", torch_role::first},
    {"builtins", "tuple", torch_role::first},
    {"__builtin__", "tuple", torch_role::first},
    {"builtins", "bytearray", torch_role::other},
    {"__builtin__", "bytearray", torch_role::other},
    {"builtins", "complex", torch_role::other},
    {"__builtin__", "complex", torch_role::other},
    {"builtins", "slice", torch_role::other},
    {"__builtin__", "slice", torch_role::other},
    {"_codecs", "encode", torch_role::other},
    {"torch._utils", "_rebuild_tensor", torch_role::tensor},
    {"torch._utils", "_rebuild_tensor_v2", torch_role::tensor_v2},
    {"torch._utils", "_rebuild_tensor_v3", torch_role::tensor_v3},
    {"torch._utils", "_rebuild_qtensor", torch_role::quantized},
    {"torch._utils", "_rebuild_parameter", torch_role::parameter},
    {"torch._utils", "_rebuild_parameter_with_state", torch_role::parameter},
    {"torch._tensor", "_rebuild_from_type_v2", torch_role::from_type},
    {"torch.nn.parameter", "Parameter", torch_role::other},
    {"torch.nn.parameter", "Buffer", torch_role::other},
    {"torch._tensor", "Tensor", torch_role::other},
    {"torch", "Tensor", torch_role::other},
    {"torch", "Size", torch_role::first},
    {"torch", "device", torch_role::other},
    {"torch", "strided", torch_role::other},
    {"torch", "per_tensor_affine", torch_role::other},
    {"torch", "per_channel_affine", torch_role::other},
    {"torch", "per_channel_affine_float_qparams", torch_role::other},
    {"torch", "contiguous_format", torch_role::other},
    {"torch.serialization", "_get_layout", torch_role::other},
    {"torch.jit._pickle", "build_intlist", torch_role::first},
    {"torch.jit._pickle", "build_doublelist", torch_role::first},
    {"torch.jit._pickle", "build_boollist", torch_role::first},
    {"torch.jit._pickle", "build_tensorlist", torch_role::first},
    {"torch.jit._pickle", "restore_type_tag", torch_role::first},
    {"torch.storage", "UntypedStorage", torch_role::storage},
    {"torch.storage", "_UntypedStorage", torch_role::storage},
    {"torch", "UntypedStorage", torch_role::storage},
}};

/// Storage classes, in `torch` and `torch.cuda`.
inline constexpr std::array<element_type, 16> torch_storages{{
    {"FloatStorage", 1, 4},
    {"DoubleStorage", 11, 8},
    {"HalfStorage", 10, 2},
    {"BFloat16Storage", 16, 2},
    {"LongStorage", 7, 8},
    {"IntStorage", 6, 4},
    {"ShortStorage", 5, 2},
    {"CharStorage", 3, 1},
    {"ByteStorage", 2, 1},
    {"BoolStorage", 9, 1},
    {"ComplexFloatStorage", 14, 8},
    {"ComplexDoubleStorage", 15, 16},
    {"QInt8Storage", 3, 1},
    {"QUInt8Storage", 2, 1},
    {"QInt32Storage", 6, 4},
    {"UntypedStorage", 2, 1},
}};

/// Element types, in `torch`.
inline constexpr std::array<element_type, 21> torch_types{{
    {"float32", 1, 4},
    {"float", 1, 4},
    {"float64", 11, 8},
    {"float16", 10, 2},
    {"bfloat16", 16, 2},
    {"int64", 7, 8},
    {"int32", 6, 4},
    {"int16", 5, 2},
    {"int8", 3, 1},
    {"uint8", 2, 1},
    {"bool", 9, 1},
    {"complex64", 14, 8},
    {"complex128", 15, 16},
    {"uint16", 4, 2},
    {"uint32", 12, 4},
    {"uint64", 13, 8},
    {"float8_e4m3fn", 17, 1},
    {"float8_e4m3fnuz", 18, 1},
    {"float8_e5m2", 19, 1},
    {"float8_e5m2fnuz", 20, 1},
    {"float8_e8m0fnu", 24, 1},
}};

/// Returns: what a name means, `unknown` if it is neither tensor nor container.
/// Complexity: O(names).
[[nodiscard]] inline torch_role role_of(std::string_view module,
                                        std::string_view attribute) noexcept {
    const auto position =
        std::find_if(torch_names.begin(), torch_names.end(), [&](const torch_name& one) {
            return one.module == module && one.attribute == attribute;
        });
    if (position != torch_names.end()) {
        return position->role;
    }
    if ((module == "torch" || module == "torch.cuda") &&
        find_type(torch_storages, attribute) != nullptr) {
        return torch_role::storage;
    }
    return module == "torch" && find_type(torch_types, attribute) != nullptr ? torch_role::other
                                                                             : torch_role::unknown;
}

/// A storage that a pickle refers to.
struct pickled_storage {
    std::string_view key;               ///< the name of its archive member
    const element_type* type = nullptr; ///< of its elements; null for bytes
    std::uint64_t count = 0;            ///< of elements
};

/// A tensor that a pickle describes.
struct pickled_tensor {
    std::size_t storage = 0;
    const element_type* type = nullptr;
    std::uint64_t offset = 0; ///< in elements
    std::vector<std::int64_t> shape{};
    std::vector<std::int64_t> strides{};
    bool trainable = false;
};

/// The meaning of names in a torch pickle: tensors, storages and containers.
class torch_pickle {
public:
    /// `script` allows TorchScript classes.
    explicit torch_pickle(bool script) : script_(script) {}

    /// The tensors; a value of kind `tensor` contains the number of one.
    [[nodiscard]] const pickled_tensor& tensor(std::int64_t number) const noexcept {
        return tensors_[static_cast<std::size_t>(number)];
    }
    [[nodiscard]] const pickled_storage& storage(std::size_t number) const noexcept {
        return storages_[number];
    }

    /// For `pickle_reader`. Throws: `error` (`unsupported`) for any other name.
    void name(const pickled_values& values, std::string_view module,
              std::string_view attribute) const {
        if (role(module, attribute) == torch_role::unknown) {
            const auto full = std::string(module.substr(0, longest)) + "." +
                              std::string(attribute.substr(0, longest));
            values.fail(error_code::unsupported,
                        "needs '" + quoted_name(full) +
                            "', neither a tensor nor a container, and pickles are not executed: "
                            "save model.state_dict()");
        }
    }

    /// For `pickle_reader`. Throws: `error`.
    [[nodiscard]] pickled refer(pickled_values& values, pickled reference) {
        const auto parts = items(values, reference, 5);
        if (!values.is(parts[0], pickled_kind::text) || values.text(parts[0]) != "storage" ||
            !values.is(parts[1], pickled_kind::global) ||
            !values.is(parts[2], pickled_kind::text)) {
            values.fail("refers to an object that is not a storage");
        }
        const auto class_name = values.text(values[parts[1]].attributes);
        if (role(values.text(parts[1]), class_name) != torch_role::storage) {
            values.fail("refers to an object that is not a storage");
        }
        const bool typed = class_name.find("Untyped") == class_name.npos;
        storages_.push_back({values.text(parts[2]),
                             find_type(torch_storages, typed ? class_name : "UntypedStorage"),
                             natural(values, parts[4])});
        return values.add(pickled_kind::storage, static_cast<std::int64_t>(storages_.size() - 1));
    }

    /// For `pickle_reader`. Throws: `error`.
    [[nodiscard]] pickled call(pickled_values& values, pickled function, pickled arguments) {
        const auto what = role(values.text(function), values.text(values[function].attributes));
        switch (what) {
        case torch_role::dict:
            return make_dict(values, arguments);
        case torch_role::empty_dict:
            return values.add_container(pickled_kind::dict);
        case torch_role::first: {
            const auto& all = values.items(arguments);
            return all.empty() ? values.add_container(pickled_kind::list) : all.front();
        }
        case torch_role::tensor:
        case torch_role::tensor_v2:
        case torch_role::tensor_v3:
        case torch_role::quantized:
            return make_tensor(values, what, arguments);
        case torch_role::parameter:
            return make_parameter(values, arguments);
        case torch_role::from_type: {
            const auto parts = items(values, arguments, 3);
            if (!values.is(parts[0], pickled_kind::global) ||
                !values.is(parts[2], pickled_kind::list) || depth_ > 0) {
                values.fail("rebuilds a tensor with an object that is not a name");
            }
            ++depth_;
            const auto result = call(values, parts[0], parts[2]);
            --depth_;
            return result;
        }
        case torch_role::script_class:
            return make_object(values, function);
        case torch_role::other:
        case torch_role::storage:
        case torch_role::unknown:
            return values.add(pickled_kind::other);
        }
        return values.add(pickled_kind::other);
    }

private:
    static constexpr std::size_t longest = 100;
    static constexpr std::size_t most_extents = 64;

    [[nodiscard]] torch_role role(std::string_view module,
                                  std::string_view attribute) const noexcept {
        if (script_ && (module.starts_with("__torch__.") || module == "__torch__")) {
            return torch_role::script_class;
        }
        return role_of(module, attribute);
    }

    /// Returns: the contents of a tuple with at least that many values.
    [[nodiscard]] static std::vector<pickled> items(const pickled_values& values, pickled tuple,
                                                    std::size_t least) {
        constexpr std::size_t most = 16;
        if (!values.is(tuple, pickled_kind::list) || values.items(tuple).size() < least ||
            values.items(tuple).size() > most) {
            values.fail("has a tensor or storage with unexpected arguments");
        }
        return values.items(tuple);
    }

    [[nodiscard]] static std::uint64_t natural(const pickled_values& values, pickled v) {
        if (!values.is(v, pickled_kind::integer) || values[v].content < 0) {
            values.fail("has a tensor with an invalid number");
        }
        return static_cast<std::uint64_t>(values[v].content);
    }

    [[nodiscard]] static std::vector<std::int64_t> naturals(const pickled_values& values,
                                                            pickled list) {
        if (!values.is(list, pickled_kind::list) || values.items(list).size() > most_extents) {
            values.fail("has a tensor with an invalid shape");
        }
        std::vector<std::int64_t> numbers;
        for (const auto v : values.items(list)) {
            numbers.push_back(static_cast<std::int64_t>(natural(values, v)));
        }
        return numbers;
    }

    [[nodiscard]] static bool is_true(const pickled_values& values, pickled v) noexcept {
        return values.is(v, pickled_kind::boolean) && values[v].content != 0;
    }

    /// The argument may be a list of pairs.
    [[nodiscard]] pickled make_dict(pickled_values& values, pickled arguments) {
        const auto result = values.add_container(pickled_kind::dict);
        const auto& all = values.items(arguments);
        if (all.empty() || !values.is(all.front(), pickled_kind::list)) {
            return result;
        }
        spend(values, values.items(all.front()).size());
        std::vector<pickled> flat;
        for (const auto pair : values.items(all.front())) {
            if (!values.is(pair, pickled_kind::list) || values.items(pair).size() != 2) {
                values.fail("has a dict whose items are not pairs");
            }
            flat.push_back(values.items(pair)[0]);
            flat.push_back(values.items(pair)[1]);
        }
        values.items(result) = std::move(flat);
        return result;
    }

    [[nodiscard]] pickled make_tensor(pickled_values& values, torch_role what, pickled arguments) {
        const auto parts = items(values, arguments, what == torch_role::tensor ? 4 : 5);
        if (!values.is(parts[0], pickled_kind::storage)) {
            values.fail("has a tensor without a storage");
        }
        pickled_tensor result;
        result.storage = static_cast<std::size_t>(values[parts[0]].content);
        result.type = storages_[result.storage].type;
        result.offset = natural(values, parts[1]);
        result.shape = naturals(values, parts[2]);
        result.strides = naturals(values, parts[3]);
        if (result.shape.size() != result.strides.size()) {
            values.fail("has a tensor with different numbers of extents and strides");
        }
        if (what == torch_role::tensor_v3) {
            result.type = parts.size() > 6 && values.is(parts[6], pickled_kind::global)
                              ? find_type(torch_types, values.text(values[parts[6]].attributes))
                              : nullptr;
            if (result.type == nullptr) {
                values.fail(error_code::unsupported, "has a tensor of unknown type");
            }
        }
        const std::size_t views = what == torch_role::tensor_v3 ? 7 : 6;
        for (const auto* const view : {"conj", "neg"}) {
            if (parts.size() > views && is_true(values, values.member(parts[views], view))) {
                values.fail(error_code::unsupported,
                            "has a tensor that is a lazy " + std::string(view) + " view");
            }
        }
        const std::size_t flag = what == torch_role::quantized ? 5 : 4;
        result.trainable =
            what != torch_role::tensor && parts.size() > flag && is_true(values, parts[flag]);
        return add_tensor(values, std::move(result));
    }

    [[nodiscard]] pickled make_parameter(pickled_values& values, pickled arguments) {
        const auto parts = items(values, arguments, 2);
        if (!values.is(parts[0], pickled_kind::tensor)) {
            values.fail("has a parameter that is not a tensor");
        }
        auto created = tensor(values[parts[0]].content);
        created.trainable = is_true(values, parts[1]);
        return add_tensor(values, std::move(created));
    }

    [[nodiscard]] pickled add_tensor(pickled_values& values, pickled_tensor tensor) {
        spend(values, tensor.shape.size());
        tensors_.push_back(std::move(tensor));
        return values.add(pickled_kind::tensor, static_cast<std::int64_t>(tensors_.size() - 1));
    }

    /// Values built repeatedly from one take memory out of proportion to the pickle's size.
    void spend(const pickled_values& values, std::size_t amount) {
        constexpr std::size_t most = std::size_t{1} << 23U;
        spent_ += amount;
        if (spent_ > most) {
            values.fail(error_code::unsupported, "has more tensors than any checkpoint");
        }
    }

    /// Its class is the first of its contents.
    [[nodiscard]] static pickled make_object(pickled_values& values, pickled function) {
        return values.add_container(pickled_kind::object, {function});
    }

    bool script_;
    unsigned depth_ = 0;    // of calls by other calls
    std::size_t spent_ = 0; // on extents and pairs
    std::vector<pickled_storage> storages_;
    std::vector<pickled_tensor> tensors_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CHECKPOINT_DETAIL_TORCH_PICKLE_HPP
