// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_OPEN_DETAIL_UNTAGGED_MODEL_HPP
#define STEMMA_OPEN_DETAIL_UNTAGGED_MODEL_HPP

#include <stemma/io/detail/base64.hpp>
#include <stemma/io/mapped_file.hpp>
#include <stemma/onnx/detail/byte_patch.hpp>
#include <stemma/onnx/detail/rewrite.hpp>
#include <stemma/onnx/detail/temporary_model.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/record/detail/tag_model.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace stemma::inline STEMMA_ABI::detail {

/// A model without tags: the file itself or, if it is tagged, a stripped copy that is deleted with
/// this object.
class untagged_model {
public:
    /// A copy, if needed, is a file next to `output`, or in memory if that is "".
    /// Requires: file and model outlive it. Throws: `error` of `cannot_write`.
    /// Complexity: O(bytes) for a tagged model.
    untagged_model(const mapped_file& file, const wire_model& model, const std::string& output)
        : untagged_model(file, model, output, strip_editor(model)) {}

    /// As above; `editor` removes the tags, and other things. Complexity: as above.
    template <model_editor Editor>
    untagged_model(const mapped_file& file, const wire_model& model, const std::string& output,
                   Editor editor)
        : file_(file), model_(model) {
        rewrite plan(model, editor);
        if (plan.size() != static_cast<std::int64_t>(file.bytes().size())) {
            copy_.emplace(file, model.file(), output, ".untagged",
                          [&](auto& to) { plan.write(to); });
            find_way_ = [&model, editor](way_back& way) mutable {
                rewrite(model, editor).write(way);
            };
        }
    }

    untagged_model(const untagged_model&) = delete;
    untagged_model& operator=(const untagged_model&) = delete;

    /// Returns: the file with the untagged model.
    [[nodiscard]] const mapped_file& file() const noexcept { return copy_ ? copy_->file() : file_; }

    /// Returns: the untagged model.
    [[nodiscard]] const wire_model& model() const noexcept {
        return copy_ ? copy_->model() : model_;
    }

    /// Whether there were tags to remove.
    [[nodiscard]] bool was_tagged() const noexcept { return copy_.has_value(); }

    /// Returns: how to make the tagged file from this one; "" if it is this one.
    /// Complexity: O(bytes).
    [[nodiscard]] std::string tags() const {
        if (!copy_) {
            return {};
        }
        way_back way(file_.bytes());
        find_way_(way);
        return to_base64(std::move(way).take().to_bytes());
    }

private:
    const mapped_file& file_;
    const wire_model& model_;
    std::optional<detail::temporary_model> copy_;
    std::function<void(way_back&)> find_way_; // if there is a copy
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_OPEN_DETAIL_UNTAGGED_MODEL_HPP
