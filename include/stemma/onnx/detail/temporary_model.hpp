// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_TEMPORARY_MODEL_HPP
#define STEMMA_ONNX_DETAIL_TEMPORARY_MODEL_HPP

#include <stemma/io/mapped_file.hpp>
#include <stemma/io/output_file.hpp>
#include <stemma/onnx/detail/splices.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace stemma::inline STEMMA_ABI::detail {

/// A modified copy of a model that is deleted with this object: a file next to an output, or bytes
/// in memory.
class temporary_model {
public:
    /// `write(splice)` writes the copy; its path is `output` and `suffix`, or it stays in memory if
    /// `output` is "". Errors refer to it as `name`.
    template <class Write>
    temporary_model(const mapped_file& source, const std::string& name, const std::string& output,
                    std::string_view suffix, Write write) {
        if (output.empty()) {
            string_splice splice(source.bytes());
            write(splice);
            file_.emplace(mapped_file::holding(std::move(splice.text), name));
        } else {
            auto path = output;
            path.append(suffix);
            while (std::filesystem::exists(path)) {
                path.push_back('~');
            }
            output_file copy(path);
            file_splice splice(source, copy);
            write(splice);
            copy.commit(false);
            on_disk_.path = path;
            file_.emplace(path);
        }
        model_.emplace(file_->bytes(), name);
    }

    temporary_model(const temporary_model&) = delete;
    temporary_model& operator=(const temporary_model&) = delete;

    [[nodiscard]] const mapped_file& file() const noexcept { return *file_; }
    [[nodiscard]] const wire_model& model() const noexcept { return *model_; }

private:
    // A member, so that it is deleted too if the constructor fails afterwards.
    struct made_file {
        std::string path; // "" in memory
        ~made_file() {
            std::error_code ignored;
            std::filesystem::remove(path, ignored);
        }
    };

    made_file on_disk_;
    std::optional<mapped_file> file_;
    std::optional<wire_model> model_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_TEMPORARY_MODEL_HPP
