// SPDX-License-Identifier: Apache-2.0
#include "untagged.hpp"

#include <stemma/core/base64.hpp>
#include <stemma/error.hpp>
#include <stemma/onnx/wire/byte_patch.hpp>
#include <stemma/onnx/wire/external_data.hpp>
#include <stemma/onnx/wire/rewrite.hpp>
#include <stemma/onnx/wire/tag_model.hpp>

#include <cstdint>
#include <filesystem>
#include <system_error>
#include <utility>

namespace cli {

untagged_model::untagged_model(const stemma::mapped_file& file, const stemma::wire_model& model,
                               const std::string& output)
    : file_(file), model_(model) {
    stemma::strip_editor editor(model);
    stemma::rewrite plan(model, editor);
    if (plan.size() == static_cast<std::int64_t>(file.bytes().size())) {
        return;
    }
    path_ = output + ".untagged";
    while (std::filesystem::exists(path_)) {
        path_.push_back('~');
    }
    stemma::output_file copy(path_);
    stemma::file_splice splice(file, copy);
    plan.write(splice);
    copy.commit(false);
    copy_.emplace(path_);
    copied_.emplace(copy_->bytes(), model.file());
}

untagged_model::~untagged_model() {
    if (copy_) {
        copied_.reset();
        copy_.reset();
        std::error_code ignored;
        std::filesystem::remove(path_, ignored);
    }
}

std::string untagged_model::tags() const {
    if (!copy_) {
        return {};
    }
    stemma::strip_editor editor(model_);
    stemma::rewrite plan(model_, editor);
    stemma::way_back way(file_.bytes());
    plan.write(way);
    return stemma::to_base64(std::move(way).take().to_bytes());
}

void write_rope(const stemma::byte_rope& rope, const stemma::mapped_file& file,
                const stemma::wire_model& model, const std::string& output, const std::string& data,
                bool sync) {
    if (rope.size() >= std::uint64_t{1} << 31U) {
        throw stemma::error(stemma::error_code::too_large, output, "",
                            "would reach 2 GiB, where protobuf ends");
    }
    stemma::output_file written(output);
    stemma::file_splice splice(file, written);
    rope.write(splice);
    stemma::place_external_data(model, output, stemma::parse_data_placement(data).value());
    written.commit(sync);
}

} // namespace cli
