// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TESTS_NUMERICS_SCENE_HPP
#define STEMMA_TESTS_NUMERICS_SCENE_HPP

#include "scratch_folder.hpp"
#include "wire_builder.hpp"

#include <stemma/io/mapped_file.hpp>
#include <stemma/io/output_file.hpp>
#include <stemma/numerics/compare_numerics.hpp>
#include <stemma/numerics/detail/npz.hpp>

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace test {

/// A model with two consecutive modules, `a.fc` and `a.act`, and a separate `b`, which reads the
/// results of both; `prefix` precedes the names of values between them.
inline std::string two_modules(const std::string& prefix = "") {
    const auto t = prefix + "t";
    const auto u = prefix + "u";
    return model(
               graph({node("MatMul", {"x", "a.fc.weight"}, {t}, "/a/fc/MatMul"),
                      node("Relu", {t}, {u}, "/a/act/Relu"), node("Add", {t, u}, {"y"}, "/b/Add")},
                     {"x"}, {"y"}, {"a.fc.weight"})
                   .inner(13, value_info(t))
                   .inner(13, value_info(u)))
        .bytes();
}

/// A model whose module `a` computes `w` from weights, for the product in `a.fc`, and has a
/// constant that `b` reads.
inline std::string computed_weights() {
    return model(graph({node("Mul", {"a.weight", "a.scale"}, {"w"}, "/a/Mul"),
                        node("Constant", {}, {"c"}, "/a/Constant"),
                        node("MatMul", {"x", "w"}, {"t"}, "/a/fc/MatMul"),
                        node("Add", {"t", "c"}, {"y"}, "/b/Add")},
                       {"x"}, {"y"}, {"a.weight", "a.scale"})
                     .inner(13, value_info("w"))
                     .inner(13, value_info("t")))
        .bytes();
}

/// A model with the values of a run.
struct observed {
    observed(const scratch_folder& folder, const std::string& name, const std::string& bytes,
             const std::map<std::string, std::vector<float>>& numbers)
        : opened(stemma::mapped_file::holding(bytes, name + ".onnx"), {}) {
        const auto path = folder.file(name + ".npz");
        stemma::output_file file(path);
        stemma::detail::npz_writer out(file, path);
        for (const auto& [value, elements] : numbers) {
            std::string content(4 * elements.size(), '\0');
            std::memcpy(content.data(), elements.data(), content.size());
            const std::vector<std::int64_t> dims{static_cast<std::int64_t>(elements.size())};
            out.add(value, 1, dims, content);
        }
        out.finish();
        file.commit(false);
        values = std::make_unique<stemma::value_file>(path);
    }

    [[nodiscard]] stemma::observed_model get() const { return {opened, *values}; }

    stemma::attributed_model opened;
    std::unique_ptr<stemma::value_file> values;
};

} // namespace test

#endif // STEMMA_TESTS_NUMERICS_SCENE_HPP
