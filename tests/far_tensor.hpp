// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TESTS_FAR_TENSOR_HPP
#define STEMMA_TESTS_FAR_TENSOR_HPP

#include "scratch_folder.hpp"
#include "wire_builder.hpp"

#include <cstddef>
#include <string>

namespace test {

/// TensorProto of floats whose data are in another file.
inline message far_tensor(const std::string& name, const std::string& location,
                          std::size_t offset = 0, std::size_t length = 4) {
    return message()
        .number(1, length / 4)
        .number(2, 1)
        .text(8, name)
        .inner(13, entry("location", location))
        .inner(13, entry("offset", std::to_string(offset)))
        .inner(13, entry("length", std::to_string(length)))
        .number(14, 1);
}

/// A model that adds an initializer, the data of a Constant, and an initializer of a body, each
/// of a file of its own: w.bin, c.bin, b.bin.
inline message far_model() {
    const auto constant =
        node("Constant", {}, {"c"}, "/m/Constant")
            .inner(5, message().text(1, "value").inner(5, far_tensor("c", "c.bin")).number(20, 4));
    auto body = graph({node("Add", {"a", "b"}, {"r"}, "/m/inside")}, {}, {"r"});
    body.inner(5, far_tensor("b", "b.bin"));
    auto choice = node("If", {"p"}, {"i"}, "/m/If");
    for (const auto* branch : {"then_branch", "else_branch"}) {
        choice.inner(5, message().text(1, branch).inner(6, body).number(20, 5));
    }
    auto content =
        graph({constant, node("Add", {"x", "w"}, {"a"}, "/m/Add"), choice,
               node("Mul", {"i", "c"}, {"d"}, "/m/Mul"), node("Neg", {"d"}, {"y"}, "/n/Neg")},
              {"x"}, {"y"});
    content.inner(5, far_tensor("w", "w.bin"));
    const auto boolean = message().inner(1, message().number(1, 9).inner(2, message()));
    content.inner(11, message().text(1, "p").inner(2, boolean));
    return model(content);
}

/// Writes it to a folder, with the files, which hold their names. Returns: its path.
inline std::string write_far_model(const scratch_folder& folder) {
    for (const auto* name : {"w.bin", "c.bin", "b.bin"}) {
        static_cast<void>(folder.make(name, name));
    }
    return folder.make("model.onnx", far_model().bytes());
}

} // namespace test

#endif // STEMMA_TESTS_FAR_TENSOR_HPP
