// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TESTS_CAPTURED_MODEL_HPP
#define STEMMA_TESTS_CAPTURED_MODEL_HPP

#include "model_files.hpp"

#include <stemma/capture/captures.hpp>
#include <stemma/open/attributed_model.hpp>

#include <string>

namespace test {

/// Opens a model of the fixtures with the modules captured beside it.
inline stemma::attributed_model captured_model(const std::string& folder,
                                               const std::string& file = "model.onnx") {
    return {fixture(folder + "/" + file),
            {.captures = stemma::captures({fixture(folder + "/modules.json")})}};
}

} // namespace test

#endif // STEMMA_TESTS_CAPTURED_MODEL_HPP
