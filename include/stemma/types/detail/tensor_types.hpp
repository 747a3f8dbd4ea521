// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TYPES_DETAIL_TENSOR_TYPES_HPP
#define STEMMA_TYPES_DETAIL_TENSOR_TYPES_HPP

#include <stemma/core/detail/string_pool.hpp>
#include <stemma/core/id.hpp>
#include <stemma/types/detail/tensor_facts.hpp>
#include <stemma/types/detail/type_proto.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace stemma::inline STEMMA_ABI::detail {

/// Reads and writes tensor types as TypeProto bytes, interning the names of extents.
class tensor_types {
public:
    /// Returns: unknown for anything but a tensor.
    /// Throws: `error` of `error_code::malformed` for malformed bytes.
    [[nodiscard]] tensor_facts read(std::string_view type) {
        tensor_facts facts;
        const auto proto = read_type(type);
        if (proto.what != type_proto::kind::tensor) {
            return facts;
        }
        facts.data_type = proto.data_type;
        if (proto.shape) {
            facts.dims.emplace();
            for_each_extent(*proto.shape, [&](std::int64_t extent, std::string_view name) {
                facts.dims->push_back(
                    name.empty() ? extent : -2 - static_cast<std::int64_t>(symbols_.intern(name)));
            });
        }
        declared_ = symbols_.size();
        return facts;
    }

    /// Returns: the type; extents with other names than those that were read are unknown.
    /// Requires: `facts` are ranked.
    [[nodiscard]] std::string write(const tensor_facts& facts) const {
        return write_tensor_type(facts.data_type, *facts.dims, [&](std::int64_t extent) {
            const auto name = static_cast<std::size_t>(-2 - extent);
            return name < declared_ ? symbols_[static_cast<id>(name)] : std::string_view();
        });
    }

    /// Returns: the names of extents, starting with that of -2.
    [[nodiscard]] string_pool& names() noexcept { return symbols_; }

private:
    string_pool symbols_;      // names of extents
    std::size_t declared_ = 0; // how many of them were read
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_TYPES_DETAIL_TENSOR_TYPES_HPP
