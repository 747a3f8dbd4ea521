// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CUT_DETAIL_WRITE_JOINED_HPP
#define STEMMA_CUT_DETAIL_WRITE_JOINED_HPP

#include <stemma/core/id.hpp>
#include <stemma/cut/detail/split_folder.hpp>
#include <stemma/cut/split_manifest.hpp>
#include <stemma/io/detail/xxh64.hpp>
#include <stemma/io/mapped_file.hpp>
#include <stemma/io/output_file.hpp>
#include <stemma/onnx/detail/message_tree.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The files of a split model's folder, as numbered in ropes.
struct split_files {
    /// The skeleton: the source without nodes and weights.
    static constexpr id skeleton = 0;

    /// The file of shared weights.
    static constexpr id weights = 1;

    /// Returns: the number of the file of part `p`.
    [[nodiscard]] static constexpr id part(id p) noexcept { return p + 2; }

    /// Returns: the number of `folder.other(number)`.
    [[nodiscard]] static id other(const split_folder& folder, id number) noexcept {
        return part(static_cast<id>(folder.parts().size())) + number;
    }

    /// Returns: a file by number.
    [[nodiscard]] static const mapped_file& at(const split_folder& folder, id file) {
        const auto first_other = other(folder, 0);
        return file == skeleton      ? *folder.skeleton().file
               : file == weights     ? *folder.weights()
               : file >= first_other ? folder.other(file - first_other)
                                     : *folder.parts()[file - 2].file;
    }
};

/// Restores the source from unedited parts by the recipe.
/// Returns: a rope over `split_files`.
/// Throws: `error` of `malformed` for a recipe that does not match the files.
/// Complexity: O(pieces + nodes).
[[nodiscard]] inline message_tree follow_recipe(const split_folder& folder) {
    using kind = split_manifest::piece::kind;
    message_tree source;
    const auto add_node = [&](std::uint64_t node, bool whole) {
        if (node >= folder.node_count()) {
            folder.fail("recipe", "no node " + std::to_string(node));
        }
        const auto message = folder.message(static_cast<id>(node));
        const auto add_content = [&] {
            source.add_range(message.begin, message.size,
                             split_files::part(folder.home(static_cast<id>(node))));
        };
        if (whole) {
            source.append(detail::onnx_fields::graph::node, add_content);
        } else {
            add_content();
        }
    };
    const auto add_range = [&](id file, std::uint64_t first, std::uint64_t count) {
        const auto size = split_files::at(folder, file).bytes().size();
        if (first > size || count > size - first) {
            folder.fail("recipe", "a piece extends past the end of its file");
        }
        source.add_range(first, count, file);
    };
    std::unordered_map<std::string_view, id> holder; // by initializer: an unedited part
    const auto& manifest = folder.manifest();
    for (id p = 0; p < manifest.parts.size(); ++p) {
        for (const auto& name : manifest.parts[p].initializers) {
            holder.emplace(name, p);
        }
    }
    for (const auto& piece : manifest.recipe) {
        switch (piece.from) {
        case kind::skeleton:
            add_range(split_files::skeleton, piece.first, piece.count);
            break;
        case kind::bytes:
            source.add_text(piece.text);
            break;
        case kind::nodes:
            for (std::uint64_t i = 0; i < piece.count; ++i) {
                add_node(piece.first + i, true);
            }
            break;
        case kind::node:
            add_node(piece.first, false);
            break;
        case kind::weights:
            if (folder.weights() == nullptr) {
                folder.fail("recipe", "the file of weights is missing");
            }
            add_range(split_files::weights, piece.first, piece.count);
            break;
        case kind::initializer: {
            const auto p = holder.find(piece.text);
            const auto* part = p == holder.end() ? nullptr : &folder.parts()[p->second];
            const auto tensor = part == nullptr ? 0 : part->tensors.count(piece.text);
            if (tensor == 0) {
                folder.fail("recipe", "no part holds '" + piece.text + "'");
            }
            const auto message = part->model->tensors()[part->tensors.at(piece.text)].message;
            if (piece.first > message.size || piece.count > message.size - piece.first) {
                folder.fail("recipe", "a piece of '" + piece.text + "' extends past its end");
            }
            source.add_range(message.begin + piece.first, piece.count,
                             split_files::part(p->second));
            break;
        }
        }
    }
    return source;
}

/// Returns: the XXH64 of a rope over the files of a split model.
/// Complexity: O(bytes).
[[nodiscard]] inline std::uint64_t hash_joined(const message_tree& rope,
                                               const split_folder& folder) {
    xxh64_digest digest;
    rope.for_each(
        [&](id file, std::uint64_t begin, std::uint64_t size) {
            digest.add(split_files::at(folder, file).bytes().substr(begin, size));
        },
        [&](std::string_view text) { digest.add(text); });
    return digest.value();
}

/// Writes a rope over the files of a split model. Complexity: O(bytes).
inline void write_joined(const message_tree& rope, const split_folder& folder,
                         output_file& output) {
    rope.for_each(
        [&](id file, std::uint64_t begin, std::uint64_t size) {
            output.copy(split_files::at(folder, file), begin, size);
        },
        [&](std::string_view text) { output.write(text); });
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CUT_DETAIL_WRITE_JOINED_HPP
