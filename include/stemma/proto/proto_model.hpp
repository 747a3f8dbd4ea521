// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_PROTO_PROTO_MODEL_HPP
#define STEMMA_PROTO_PROTO_MODEL_HPP

#include <stemma/config.hpp>
#include <stemma/error.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/uniform_data.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream.h>
#include <google/protobuf/message_lite.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <string_view>

namespace stemma::inline STEMMA_ABI {

namespace detail {

/// Serializes into zeroed memory, skipping long tensor data: untouched pages take no memory.
class outline_stream final : public google::protobuf::io::ZeroCopyOutputStream {
public:
    outline_stream(char* begin, std::size_t size) : begin_(begin), size_(size) {}

    bool Next(void** data, int* size) override {
        const auto room = std::min(size_ - used_, small);
        *data = begin_ + used_;
        *size = static_cast<int>(room);
        used_ += room;
        return room > 0;
    }
    void BackUp(int count) override { used_ -= static_cast<std::size_t>(count); }
    [[nodiscard]] std::int64_t ByteCount() const override {
        return static_cast<std::int64_t>(used_);
    }
    [[nodiscard]] bool AllowsAliasing() const override { return true; }

    bool WriteAliasedRaw(const void* data, int size) override {
        const std::string_view bytes(static_cast<const char*>(data),
                                     static_cast<std::size_t>(size));
        if (bytes.size() > size_ - used_) {
            return false;
        }
        char* const to = begin_ + used_;
        if (bytes.size() < small || !is_data()) {
            std::memcpy(to, bytes.data(), bytes.size());
        } else if (!is_uniform(bytes)) {
            *to = 1;
        }
        used_ += bytes.size();
        return true;
    }

private:
    static constexpr std::size_t small = 1U << 16U;

    /// Whether the field whose tag and length were written has the number of tensor data.
    [[nodiscard]] bool is_data() const {
        constexpr auto tag = static_cast<char>(onnx_fields::tensor::raw_data << 3U | 2U);
        const auto continues = [&](std::size_t at) {
            return static_cast<unsigned char>(begin_[at]) >= 0x80U;
        };
        auto length = used_; // ends here
        do {
            --length;
        } while (length > 1 && continues(length - 1));
        return begin_[length - 1] == tag;
    }

    char* begin_;
    std::size_t size_;
    std::size_t used_ = 0;
};

/// The serialized bytes of a message without the data of long tensors, which is zero, or zero after
/// a one if not all elements are equal; so are long texts in lists of attributes, which have the
/// number of such data. Every other byte is in its place, so names, types, shapes and sizes read
/// the same; omitted data takes no memory.
class message_outline {
public:
    /// Throws: `error` of `error_code::unsupported` for messages of 4 GiB and more.
    /// Complexity: O(bytes); omitted ones are read until elements differ.
    explicit message_outline(const google::protobuf::MessageLite& message)
        : size_(message.ByteSizeLong()) {
        if (size_ > std::numeric_limits<std::uint32_t>::max()) {
            STEMMA_THROW(error(error_code::unsupported, "model", "", "larger than 4 GiB"));
        }
        // Fresh pages from calloc are zero and untouched.
        bytes_.reset(static_cast<char*>(std::calloc(std::max<std::size_t>(size_, 1), 1)));
        if (!bytes_) {
            STEMMA_THROW(std::bad_alloc());
        }
        detail::outline_stream stream(bytes_.get(), size_);
        google::protobuf::io::CodedOutputStream out(&stream);
        out.EnableAliasing(true);
        message.SerializeWithCachedSizes(&out);
        STEMMA_ASSERT(!out.HadError(), "the stream has room for what protobuf counted");
    }

    /// Valid as long as this.
    [[nodiscard]] std::string_view bytes() const noexcept { return {bytes_.get(), size_}; }

private:
    struct freed {
        void operator()(char* bytes) const noexcept { std::free(bytes); } // NOLINT: of calloc
    };

    std::size_t size_;
    std::unique_ptr<char, freed> bytes_;
};

/// A ModelProto, of whatever namespace and schema.
template <class Proto>
concept model_message = requires(const Proto& model, Proto& editable) {
    model.graph().node(0);
    model.functions(0);
    model.metadata_props();
    editable.mutable_graph();
};

} // namespace detail

/// The structure of a model in protobuf messages: the `wire_model` of the bytes they would be
/// written as, without the data of long tensors, see `message_outline`.
///
/// The message is an `onnx::ModelProto` or the same message of another namespace or a newer schema.
/// Fields that the schema does not know are found among the unknown ones.
class proto_model : private detail::message_outline, public wire_model {
public:
    /// The model may change or end afterwards.
    /// Throws: `error` as `message_outline` and `wire_model`.
    /// Complexity: that of `message_outline`.
    template <detail::model_message Proto = onnx::ModelProto>
    explicit proto_model(const Proto& model)
        : message_outline(model), wire_model(message_outline::bytes()) {}

    using wire_model::bytes;
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_PROTO_PROTO_MODEL_HPP
