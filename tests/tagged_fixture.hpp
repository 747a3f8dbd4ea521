// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TESTS_TAGGED_FIXTURE_HPP
#define STEMMA_TESTS_TAGGED_FIXTURE_HPP

#include "built_model.hpp"
#include "model_files.hpp"
#include "tagged_bytes.hpp"

#include <stemma/model/module_tree.hpp>

#include <string>

namespace test {

/// A model of the fixtures with the tags that the modules captured beside it give its nodes.
class tagged_fixture : held_bytes, public tagged_model {
public:
    explicit tagged_fixture(const std::string& folder)
        : tagged_fixture(folder, read_capture(fixture(folder + "/modules.json"))) {}

private:
    tagged_fixture(const std::string& folder, const stemma::module_tree& captured)
        : held_bytes{read_bytes(fixture(folder + "/model.onnx"))}, tagged_model(held, &captured) {}
};

} // namespace test

#endif // STEMMA_TESTS_TAGGED_FIXTURE_HPP
