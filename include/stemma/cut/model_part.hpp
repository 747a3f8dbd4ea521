// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CUT_MODEL_PART_HPP
#define STEMMA_CUT_MODEL_PART_HPP

#include <stemma/config.hpp>
#include <stemma/core/id.hpp>
#include <stemma/cut/cut.hpp>
#include <stemma/cut/cut_plan.hpp>
#include <stemma/cut/detail/cut_writer.hpp>
#include <stemma/cut/detail/part_cutter.hpp>
#include <stemma/cut/detail/part_files.hpp>
#include <stemma/cut/detail/weight_store.hpp>
#include <stemma/error.hpp>
#include <stemma/fold/detail/inlined_model.hpp>
#include <stemma/io/detail/system_files.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/io/output_file.hpp>
#include <stemma/onnx/data_placement.hpp>
#include <stemma/onnx/detail/message_tree.hpp>
#include <stemma/onnx/detail/place_external_data.hpp>
#include <stemma/onnx/detail/splices.hpp>
#include <stemma/onnx/external_data.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// A cut part of a model, not yet written. Cheap to copy.
///
/// Requires: the model outlives it.
class model_part {
public:
    /// Returns: the names of its inputs.
    [[nodiscard]] std::span<const std::string> inputs() const noexcept { return record_.inputs; }

    /// Returns: the names of its outputs.
    [[nodiscard]] std::span<const std::string> outputs() const noexcept { return record_.outputs; }

    /// Returns: the number of its nodes, without those in bodies.
    [[nodiscard]] std::size_t size() const noexcept { return plan_->nodes.size(); }

    /// Whether it is deterministic.
    [[nodiscard]] bool is_exact() const noexcept { return record_.exact; }

    /// Returns: the part as an ONNX file. External weights stay where they are.
    /// Throws: `error` of `too_large` for 2 GiB or more.
    /// Complexity: O(bytes).
    [[nodiscard]] std::string bytes() const {
        const auto rope = build(nullptr);
        check_size(rope, from_->source.path);
        detail::string_splice splice(from_->source.file.bytes());
        rope.write(splice);
        return std::move(splice.text);
    }

    /// Streams the result of `bytes` to a sink; weights are views of the model's bytes. Throws,
    /// Complexity: as `bytes`.
    template <text_sink Sink>
    void write(Sink& sink) const {
        const auto rope = build(nullptr);
        check_size(rope, from_->source.path);
        detail::view_splice splice(from_->source.file.bytes(), sink);
        rope.write(splice);
    }

    /// Writes the part as an ONNX file, replacing an existing one. External weights go to
    /// `<path>.data`, or as `cut_options::data` says; so do weights of a part of 2 GiB or more.
    /// Throws: `error` of `exists` for a file of weights that `cut_options::force` would replace;
    /// of `cannot_write`, or of `too_large` if even that does not suffice.
    /// Complexity: O(bytes).
    void write(const std::string& path) const {
        const auto& source = from_->source;
        detail::refuse_own_data(source.model, path);
        const bool beside = detail::folder_of(path) == detail::folder_of(source.path);
        const bool external = !beside && !external_files(source.model).empty();
        if (external && data_ == data_placement::link) {
            detail::place_external_data(source.model, path, data_, force_, sync_);
        }
        const auto data = path + ".data";
        std::optional<detail::weight_store> store;
        const auto use_store = [&] {
            store.emplace(source.model, source.file,
                          std::filesystem::path(data).filename().string());
        };
        if (external && data_ == data_placement::copy) {
            use_store();
        }
        auto rope = build(store ? &*store : nullptr);
        if (!store && rope.size() >= most_bytes) {
            use_store();
            rope = build(&*store);
        }
        check_size(rope, path);
        const std::span spared(&source.path, 1);
        if (store && !store->empty()) {
            detail::refuse_own_data(source.model, data);
            detail::check_replaceable(data, force_, spared);
        }
        if (store) {
            detail::check_whole_files(source.model, store->whole_files(), data, force_, spared);
        }
        output_file output(path);
        detail::file_splice splice(source.file, output);
        rope.write(splice);
        if (store) {
            store->save(data, sync_);
            store->commit(sync_);
        }
        output.commit(sync_); // last, as it refers to the data
    }

private:
    friend class model_cutter;

    static constexpr std::uint64_t most_bytes = std::uint64_t{1} << 31U;

    /// Shared by all parts of a model.
    struct origin {
        std::shared_ptr<const detail::inlined_model> inlined; // if functions had to be inlined
        detail::cut_source source;
        std::shared_ptr<const detail::cut_basis> basis;
    };

    model_part(std::shared_ptr<const origin> from, cut_plan plan, cut_record record,
               const cut_options& options)
        : from_(std::move(from))
        , plan_(std::make_shared<const cut_plan>(std::move(plan)))
        , record_(std::move(record))
        , data_(options.data)
        , force_(options.force)
        , sync_(options.sync) {}

    [[nodiscard]] detail::message_tree build(detail::weight_store* store) const {
        auto writer = from_->basis->writer; // writers keep state about renaming
        if (store != nullptr) {
            writer.place_weights(*plan_, *store);
        }
        return writer.build(*plan_, detail::origin_of(from_->source, record_), store);
    }

    static void check_size(const detail::message_tree& rope, const std::string& file) {
        if (rope.size() >= most_bytes) {
            STEMMA_THROW(error(error_code::too_large, file, "",
                               "the part would have 2 GiB or more even without its weights"));
        }
    }

    std::shared_ptr<const origin> from_;
    std::shared_ptr<const cut_plan> plan_;
    cut_record record_;
    data_placement data_;
    bool force_;
    bool sync_;
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_CUT_MODEL_PART_HPP
