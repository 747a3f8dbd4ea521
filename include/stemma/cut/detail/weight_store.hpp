// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CUT_DETAIL_WEIGHT_STORE_HPP
#define STEMMA_CUT_DETAIL_WEIGHT_STORE_HPP

#include <stemma/config.hpp>
#include <stemma/core/id.hpp>
#include <stemma/error.hpp>
#include <stemma/io/mapped_file.hpp>
#include <stemma/io/output_file.hpp>
#include <stemma/onnx/data_placement.hpp>
#include <stemma/onnx/detail/for_each_tensor.hpp>
#include <stemma/onnx/detail/message_tree.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/place_external_data.hpp>
#include <stemma/onnx/detail/tensor_size.hpp>
#include <stemma/onnx/external_data.hpp>
#include <stemma/onnx/tensor_header.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// A file with tensor data shared by several models: each tensor is written once.
///  Thread-safe. Tensors are in the order in which they were first added. Files whose data nodes
/// refer to are not divided, but copied beside the store.
class weight_store {
public:
    /// The location of a tensor's data in the file.
    struct place {
        std::uint64_t offset = 0; ///< in the store, a multiple of the alignment
        std::uint64_t length = 0; ///< bytes
        std::uint64_t from = 0;   ///< position in the source file
    };

    /// `source` is the file of the model; `location` is the name of the store in models. External
    /// data stays in place unless the store takes it too. Complexity: as `nested_external_files`.
    weight_store(const wire_model& model, const mapped_file& source, std::string location,
                 bool takes_external = true)
        : model_(&model)
        , source_(&source)
        , location_(std::move(location))
        , takes_external_(takes_external)
        , takes_files_(takes_external && !nested_external_files(model).empty()) {}

    /// Whether the store takes external data.
    [[nodiscard]] bool takes_external() const noexcept { return takes_external_; }

    /// Whether the model has files that may have to be copied, and the store takes external data.
    [[nodiscard]] bool takes_files() const noexcept { return takes_files_; }

    /// Returns: the location of the store relative to the models' folder.
    [[nodiscard]] const std::string& location() const noexcept { return location_; }

    /// Whether nothing was added, so no file is needed.
    [[nodiscard]] bool empty() const noexcept { return pieces_.empty(); }

    /// Returns: the future location of tensor `tensor`, whose data is [begin, begin + size) in the
    /// model's file.
    place add_inline(std::size_t tensor, std::uint32_t begin, std::uint32_t size) {
        return add(tensor, {"", begin, size});
    }

    /// Returns: the future location of tensor `tensor`, whose data is now external.
    /// Throws: `error` for a location outside the model's folder, or data beyond a file's end.
    place add_external(std::size_t tensor, const tensor_header& header) {
        if (const auto placed = find(tensor)) {
            return *placed;
        }
        const auto& file = external_file(header.location);
        const auto size = file.bytes().size();
        const auto length = external_size(header, size);
        if (header.offset > size || length > size - header.offset) {
            const bool is_number = header.offset != tensor_header::unreadable &&
                                   header.length != tensor_header::unreadable;
            STEMMA_THROW(error(error_code::malformed, file.path(),
                               std::string(model_->text(model_->tensors()[tensor].name)),
                               is_number ? "its data ends beyond the file"
                                         : "the place of its data is not a number"));
        }
        return add(tensor, {std::string(header.location), header.offset, length});
    }

    /// Adds the external data files of tensors in a node, function or sparse initializer, unless
    /// external data stays in place. Throws: `error` as above, and of `refused` for a file named
    /// like the store. Complexity: O(fields).
    void add_files_of(wire_reader message, tensors_in kind) {
        if (!takes_files_) {
            return;
        }
        std::vector<std::string> files;
        list_external_files(message, kind, files);
        for (auto& location : files) {
            static_cast<void>(external_file(location));
            if (std::filesystem::path(location).lexically_normal() == location_) {
                STEMMA_THROW(error(error_code::refused, model_->file(), "external data",
                                   "nodes have data in '" + location +
                                       "', the name that the file of weights would get"));
            }
            const std::lock_guard lock(mutex_);
            whole_files_.emplace(std::move(location), false);
        }
    }

    /// Returns: the files to be copied, as named in the model, sorted. Complexity: O(files).
    [[nodiscard]] std::vector<std::string> whole_files() const {
        const std::lock_guard lock(mutex_);
        std::vector<std::string> files;
        for (const auto& file : whole_files_) {
            files.push_back(file.first);
        }
        return files;
    }

    /// Returns: the future location of tensor `tensor`, if it was added.
    [[nodiscard]] std::optional<place> find(std::size_t tensor) const {
        const std::lock_guard lock(mutex_);
        const auto entry = placed_.find(tensor);
        return entry == placed_.end() ? std::nullopt : std::optional(entry->second);
    }

    /// Writes the data added since the last call; `commit` will put the file at `path`, the same
    /// in every call, and copies files beside it, replacing existing ones; `sync` waits until these
    /// are on the medium. Models that refer to
    /// these data may be put in place then: if writing fails later, `commit` still gives them their
    /// data. Requires: no other thread calls it. Throws: `error` of `cannot_write`. Complexity:
    /// O(bytes), from file to file.
    void save(const std::string& path, bool sync) {
        copy_files(path, sync);
        for (; const auto next = piece_to_save(); ++saved_) {
            if (!output_) {
                output_.emplace(path);
            }
            const auto& [from, at] = *next;
            output_->write(std::string(at - position_, '\0'));
            output_->copy(from.file.empty() ? *source_ : external_file(from.file), from.offset,
                          from.length);
            position_ = at + from.length;
        }
        if (output_) {
            output_->flush();
        }
    }

    /// Puts the saved data in place, if there are any. Throws: as `save`.
    void commit(bool sync) {
        if (output_) {
            output_->commit(sync);
            output_.reset();
        }
    }

private:
    // Runtimes can map page-aligned data; 64 bytes suffice for vector loads.
    static constexpr std::uint64_t alignment = 64;

    struct origin {
        std::string file; // "" for the model itself
        std::uint64_t offset = 0;
        std::uint64_t length = 0;
    };

    struct piece {
        origin from;
        std::uint64_t at = 0;
    };

    place add(std::size_t tensor, origin from) {
        const std::lock_guard lock(mutex_);
        const auto entry = placed_.find(tensor);
        if (entry != placed_.end()) {
            return entry->second;
        }
        const auto at = (end_ + alignment - 1) / alignment * alignment;
        end_ = at + from.length;
        const place added{at, from.length, from.offset};
        pieces_.push_back({std::move(from), at});
        placed_.emplace(tensor, added);
        return added;
    }

    [[nodiscard]] std::optional<piece> piece_to_save() const {
        const std::lock_guard lock(mutex_);
        return saved_ < pieces_.size() ? std::optional(pieces_[saved_]) : std::nullopt;
    }

    void copy_files(const std::string& path, bool sync) {
        for (const auto& location : whole_files()) {
            const auto is_new = [&] {
                const std::lock_guard lock(mutex_);
                return !std::exchange(whole_files_[location], true);
            };
            if (is_new()) {
                place_data_file(*model_, location, path, data_placement::copy, true, sync);
            }
        }
    }

    const mapped_file& external_file(std::string_view location) {
        const std::lock_guard lock(mutex_);
        auto& file = files_[std::string(location)];
        if (!file) {
            if (!is_inside_folder(location)) {
                STEMMA_THROW(
                    error(error_code::malformed, model_->file(), "external data",
                          "'" + std::string(location) + "' is outside the model's folder"));
            }
            const auto path = std::filesystem::path(model_->file()).parent_path() / location;
            file = std::make_unique<mapped_file>(path.string());
        }
        return *file;
    }

    const wire_model* model_;
    const mapped_file* source_;
    std::string location_;
    bool takes_external_;
    bool takes_files_;
    mutable std::mutex mutex_;
    std::map<std::string, std::unique_ptr<mapped_file>> files_;
    std::map<std::string, bool> whole_files_; // whether they were copied
    std::unordered_map<std::size_t, place> placed_;
    std::vector<piece> pieces_;
    std::uint64_t end_ = 0;
    std::optional<output_file> output_; // not in place yet
    std::size_t saved_ = 0;             // pieces in it
    std::uint64_t position_ = 0;        // behind the last one
};

/// Adds tensor `tensor` of `model` to the store, unless it has no raw data, less than `least`
/// bytes, or the store does not take it. Returns: its future location. Complexity: O(fields).
inline std::optional<weight_store::place> place_in_store(const wire_model& model, id tensor,
                                                         weight_store& store,
                                                         std::uint32_t least = 1024) {
    using at = detail::onnx_fields::tensor;
    const auto& info = model.tensors()[tensor];
    bool external = false;
    wire_field data; // the last one of a repeated field counts
    auto fields = model.reader(info.message);
    for (wire_field field; fields.next(field);) {
        if (field.is_bytes(at::raw_data)) {
            data = field;
        } else if (field.is(at::data_location, wire_type::varint)) {
            external = field.value == 1;
        }
    }
    if (external) {
        return store.takes_external()
                   ? std::optional(store.add_external(tensor, read_tensor_header(model, info)))
                   : std::nullopt;
    }
    return data.size() >= least ? std::optional(store.add_inline(tensor, data.content, data.size()))
                                : std::nullopt;
}

/// Appends tensor `tensor` of `model` to a graph, named `name`, with its data in the store.
/// Returns: false if it has no raw data or less than `least` bytes. Complexity: O(fields).
inline bool append_stored(const wire_model& model, id tensor, std::string_view name,
                          weight_store& store, message_tree& graph, std::uint32_t least = 1024) {
    using at = detail::onnx_fields::tensor;
    const auto place = place_in_store(model, tensor, store, least);
    if (!place) {
        return false;
    }
    graph.append(detail::onnx_fields::graph::initializer, [&] {
        graph.edit(model.reader(model.tensors()[tensor].message), [&](edited_field& field) {
            if (field.is_bytes(at::name) && field.text() != name) {
                field.set(name);
            } else if (field.is_bytes(at::raw_data) || field.number == at::external_data ||
                       field.number == at::data_location) {
                field.erase();
            }
        });
        graph.append_entry(at::external_data, "location", store.location());
        graph.append_entry(at::external_data, "offset", std::to_string(place->offset));
        graph.append_entry(at::external_data, "length", std::to_string(place->length));
        graph.append_number(at::data_location, 1); // EXTERNAL
    });
    return true;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CUT_DETAIL_WEIGHT_STORE_HPP
