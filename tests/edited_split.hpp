// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TESTS_EDITED_SPLIT_HPP
#define STEMMA_TESTS_EDITED_SPLIT_HPP

#include "scratch_folder.hpp"
#include "split_scene.hpp"
#include "wire_builder.hpp"

#include <stemma/cut/detail/split_folder.hpp>
#include <stemma/onnx/detail/message_tree.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace test {

/// Returns: a model with another initializer in place of the one of its name.
inline std::string with_tensor(const std::string& bytes, const message& other) {
    const stemma::wire_model model(bytes);
    const auto replacement = other.bytes();
    const auto name_of = [](stemma::detail::wire_reader fields) {
        std::string_view name;
        for (stemma::detail::wire_field field; fields.next(field);) {
            name = field.is_bytes(8) ? fields.text(field) : name;
        }
        return name;
    };
    const auto size = static_cast<std::uint32_t>(replacement.size());
    const auto name = name_of({replacement.data(), 0, size, "tensor"});
    stemma::detail::message_tree result;
    result.edit(model.reader(), [&](stemma::detail::edited_field& field) {
        if (field.is_bytes(7)) {
            field.edit([&](stemma::detail::edited_field& inside) {
                if (inside.is_bytes(5) && name_of(inside.inner()) == name) {
                    inside.set(replacement);
                }
            });
        }
    });
    return result.text(bytes);
}

/// A small model in two parts that share the constant `k` and the weight `w`, to be edited.
class edited_split {
public:
    edited_split() {
        const auto scalar = message().number(2, 1).text(9, std::string(4, 'k'));
        const auto value = message().text(1, "value").inner(5, scalar).number(20, 4);
        auto content =
            graph({node("Constant", {}, {"k"}, "k").inner(5, value),
                   node("Sum", {"x", "w", "k"}, {"a"}, "n1"), node("Neg", {"a"}, {"b"}, "n2"),
                   node("Relu", {"b"}, {"c"}, "n3"), node("Mul", {"c", "k"}, {"d"}, "n4"),
                   node("Div", {"d", "w"}, {"y"}, "n5")},
                  {"x"}, {"y"});
        content.inner(5, tensor("w", {}, "wwww"));
        static_cast<void>(folder_.make("model.onnx", model(content).bytes()));
        split_scene scene(folder_.file("model.onnx"));
        scene.write(scene.planner.divide(stemma::balanced_parts{2}), folder_.path());
    }

    [[nodiscard]] const scratch_folder& folder() const noexcept { return folder_; }
    [[nodiscard]] std::string part(int p) const {
        return read_bytes(folder_.file(std::to_string(p) + ".onnx"));
    }

    /// Replaces a text in a part by another one of the same length.
    edited_split& replace(int p, const std::string& from, const std::string& to) {
        auto bytes = part(p);
        return put(p, bytes.replace(bytes.find(from), from.size(), to));
    }

    /// Replaces the initializer of that name in a part.
    edited_split& replace_tensor(int p, const message& other) {
        return put(p, with_tensor(part(p), other));
    }

    /// Adds fields of the model to a part.
    edited_split& add(int p, const message& fields) { return put(p, part(p) + fields.bytes()); }

    /// Adds to the graph of a part.
    edited_split& add_to_graph(int p, const message& fields) {
        return add(p, message().inner(7, fields));
    }

    edited_split& put(int p, const std::string& bytes) {
        static_cast<void>(folder_.make(std::to_string(p) + ".onnx", bytes));
        return *this;
    }

    [[nodiscard]] std::unique_ptr<stemma::detail::split_folder> open() const {
        return std::make_unique<stemma::detail::split_folder>(folder_.path());
    }

private:
    scratch_folder folder_;
};

} // namespace test

#endif // STEMMA_TESTS_EDITED_SPLIT_HPP
