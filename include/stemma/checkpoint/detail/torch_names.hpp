// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CHECKPOINT_DETAIL_TORCH_NAMES_HPP
#define STEMMA_CHECKPOINT_DETAIL_TORCH_NAMES_HPP

#include <stemma/checkpoint/detail/tensor_layout.hpp>
#include <stemma/config.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

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

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CHECKPOINT_DETAIL_TORCH_NAMES_HPP
