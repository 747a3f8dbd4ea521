// SPDX-License-Identifier: Apache-2.0
#include "inlined.hpp"

#include <stemma/error.hpp>
#include <stemma/onnx/wire/inline_functions.hpp>
#include <stemma/onnx/wire/inlined_names.hpp>

#include <filesystem>
#include <system_error>

namespace cli {

inlined_model::inlined_model(stemma::attributed_model& opened, const std::string& output) {
    const untagged_model source(opened.file(), opened.model(), output);
    stemma::function_inliner inliner(
        source.model(), stemma::inlined_names(source.model(), opened.modules(),
                                              opened.tags().attributions, opened.calls()));
    const auto rope = inliner.build();
    auto path = output + ".inlined";
    while (std::filesystem::exists(path)) {
        path.push_back('~');
    }
    stemma::output_file copy(path);
    stemma::file_splice splice(source.file(), copy);
    rope.write(splice);
    copy.commit(false);
    path_ = path;
    file_.emplace(path_);
    model_.emplace(file_->bytes(), opened.model().file());
    attributions_ = inliner.attributions();
    if (attributions_.size() != model_->node_count()) { // a call hands on a body of its own
        throw stemma::error(stemma::error_code::unsupported, opened.model().file(), "functions",
                            "cannot be opened to cut what lies in them");
    }
}

inlined_model::~inlined_model() {
    model_.reset();
    file_.reset();
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
}

} // namespace cli
