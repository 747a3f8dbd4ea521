// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CUT_SPLIT_MANIFEST_HPP
#define STEMMA_CUT_SPLIT_MANIFEST_HPP

#include <stemma/config.hpp>
#include <stemma/core/id.hpp>
#include <stemma/error.hpp>
#include <stemma/io/detail/json_part.hpp>
#include <stemma/io/detail/json_stream.hpp>
#include <stemma/io/json_writer.hpp>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// The manifest that `split` writes and `join` reads: `stemma.split/1`, see docs/formats.md.
struct split_manifest {
    /// A file in the folder, and the XXH64 of its bytes in hexadecimal digits.
    struct file_entry {
        std::string file; ///< without its folder
        std::string hash; ///< sixteen digits
    };

    /// A part.
    struct part_entry {
        file_entry at;                          ///< its file
        std::string module;                     ///< path of its nodes' common ancestor
        std::string tag;                        ///< of that module
        id level = 0;                           ///< 0, 1, ... if the module is divided into levels
        std::uint64_t cost = 0;                 ///< of its own nodes, by the policy of the split
        std::vector<id> nodes;                  ///< positions in the source's graph, ascending
        std::vector<id> clones;                 ///< of nodes of other parts, ascending
        std::vector<id> order;                  ///< of both in the file; empty if ascending
        std::vector<std::string> cloned_values; ///< the outputs of the clones
        std::vector<std::string> initializers;  ///< that it reads, by name
    };

    /// A tensor that a part reads or outputs.
    struct tensor_entry {
        std::string name; ///< as in the source
        std::string type; ///< `float32`; as `value_description`
        std::vector<std::variant<std::int64_t, std::string>> shape; ///< -1: unknown
        id from = no_id;     ///< the producing part; `no_id`: an input of the model
        std::vector<id> to;  ///< parts that read it
        bool output = false; ///< of the model
    };

    /// A byte range of the source, and its location now.
    struct piece {
        /// The kind of location.
        enum class kind : std::uint8_t {
            skeleton,    ///< bytes [first, first + count) of the skeleton
            bytes,       ///< `text`
            nodes,       ///< nodes [first, first + count), each with tag and length
            node,        ///< node `first` without them
            weights,     ///< bytes [first, first + count) of the file of weights
            initializer, ///< bytes [first, first + count) of the message of initializer `text`
        };

        kind from = kind::skeleton; ///< the kind of location
        std::uint64_t first = 0;    ///< see `kind`
        std::uint64_t count = 0;    ///< see `kind`
        std::string text;           ///< see `kind`
    };

    file_entry source;                 ///< the split model, by its original name
    file_entry skeleton;               ///< the source without nodes and weights
    file_entry weights;                ///< "" if all weights are elsewhere
    std::vector<part_entry> parts;     ///< referred to by number
    std::vector<tensor_entry> tensors; ///< in the order of the source's values
    std::vector<id> order;             ///< execution order of the parts
    std::vector<piece> recipe;         ///< the source as a sequence of pieces
};

namespace detail {

/// The schema of a manifest.
inline constexpr std::string_view split_schema = "stemma.split/1";

inline constexpr std::string_view piece_names[] = {"skeleton", "bytes",   "nodes",
                                                   "node",     "weights", "initializer"};

[[nodiscard]] inline std::string bytes_to_hex(std::string_view bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        text.push_back(digits[byte >> 4U]);
        text.push_back(digits[byte & 15U]);
    }
    return text;
}

/// Parses a manifest, ignoring unknown members.
class split_manifest_handler final : public json_handler {
public:
    split_manifest_handler(split_manifest& manifest, std::string_view file)
        : manifest_(manifest), file_(file) {}

    void scalar(const std::string& path, json_part value) override {
        if (path == "schema") {
            has_schema_ = value == split_schema;
        } else if (value.is_text()) {
            auto* at = path == "source.file"     ? &manifest_.source.file
                       : path == "source.hash"   ? &manifest_.source.hash
                       : path == "skeleton.file" ? &manifest_.skeleton.file
                       : path == "skeleton.hash" ? &manifest_.skeleton.hash
                       : path == "weights.file"  ? &manifest_.weights.file
                       : path == "weights.hash"  ? &manifest_.weights.hash
                                                 : nullptr;
            if (at != nullptr) {
                *at = value.text();
            }
        }
    }

    void element(const std::string& path, json_part value) override {
        if (path == "parts") {
            read_part(value);
        } else if (path == "recipe") {
            read_piece(value);
        } else if (path == "order") {
            manifest_.order.push_back(value.number<id>());
        }
    }

    [[nodiscard]] bool knows_schema() const noexcept { return has_schema_; }

private:
    void read_part(json_part value) {
        split_manifest::part_entry part;
        part.at = {std::string(value["file"].text()), std::string(value["hash"].text())};
        part.module = value["module"].text();
        part.nodes = value["nodes"].numbers<id>();
        part.clones = value["clones"].numbers<id>();
        part.cloned_values = value["cloned_values"].texts();
        part.initializers = value["initializers"].texts();
        if (const auto order = value["file_order"]) {
            part.order = order.numbers<id>();
        }
        manifest_.parts.push_back(std::move(part));
    }

    void read_piece(json_part value) {
        using kind = split_manifest::piece::kind;
        split_manifest::piece piece;
        const std::string name(value[0].text());
        unsigned k = 0;
        while (k < std::size(piece_names) && piece_names[k] != name) {
            ++k;
        }
        if (k == std::size(piece_names)) {
            fail("'" + name + "' is not a kind of piece");
        }
        piece.from = static_cast<kind>(k);
        if (piece.from == kind::bytes) {
            piece.text = from_hex(std::string(value[1].text()));
        } else if (piece.from == kind::initializer) {
            piece.text = value[1].text();
            piece.first = value[2].number<std::uint64_t>();
            piece.count = value[3].number<std::uint64_t>();
        } else {
            piece.first = value[1].number<std::uint64_t>();
            piece.count = piece.from == kind::node ? 1 : value[2].number<std::uint64_t>();
        }
        manifest_.recipe.push_back(std::move(piece));
    }

    [[nodiscard]] std::string from_hex(const std::string& text) const {
        std::string bytes;
        const auto digit = [&](char c) {
            const auto value = std::string_view("0123456789abcdef").find(c);
            if (value == std::string_view::npos) {
                fail("'" + text + "' is not a sequence of bytes");
            }
            return static_cast<unsigned>(value);
        };
        for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
            bytes.push_back(static_cast<char>(digit(text[i]) << 4U | digit(text[i + 1])));
        }
        return bytes;
    }

    [[noreturn]] void fail(const std::string& reason) const {
        STEMMA_THROW(error(error_code::malformed, file_, "recipe", reason));
    }

    split_manifest& manifest_;
    std::string_view file_;
    bool has_schema_ = false;
};

/// Reads a manifest.
/// Throws: `error` of `malformed`, naming `file`.
[[nodiscard]] inline split_manifest read_split_manifest(std::string_view text,
                                                        std::string_view file) {
    split_manifest manifest;
    detail::split_manifest_handler handler(manifest, file);
    try {
        stream_json(text, file, handler);
    } catch (const std::invalid_argument& e) {
        STEMMA_THROW(error(error_code::malformed, file, "", e.what()));
    }
    if (!handler.knows_schema()) {
        STEMMA_THROW(error(error_code::malformed, file, "",
                           "is not a " + std::string(split_schema) + " manifest"));
    }
    return manifest;
}

} // namespace detail

/// Writes a manifest as JSON. Complexity: O(length).
template <text_sink Sink>
void write_json(Sink& sink, const split_manifest& manifest) {
    detail::write_document(sink, detail::split_schema, [&](auto& json) {
        const auto entry = [&](std::string_view name, const split_manifest::file_entry& at) {
            json.key(name);
            if (at.file.empty()) {
                json.null();
                return;
            }
            json.begin_object(true);
            json.member("file", at.file);
            json.member("hash", at.hash);
            json.end_object();
        };
        entry("source", manifest.source);
        entry("skeleton", manifest.skeleton);
        entry("weights", manifest.weights);
        json.objects("parts", manifest.parts, [&](const auto& part) {
            json.member("file", part.at.file);
            json.member("hash", part.at.hash);
            json.member("module", part.module);
            json.member("level", part.level);
            json.member("tag", part.tag);
            json.member("cost", part.cost);
            json.values("nodes", part.nodes);
            json.values("clones", part.clones);
            json.values("cloned_values", part.cloned_values);
            if (!part.order.empty()) {
                json.values("file_order", part.order);
            }
            json.values("initializers", part.initializers);
        });
        json.objects("tensors", manifest.tensors, [&](const auto& tensor) {
            json.member("name", tensor.name);
            json.member("type", tensor.type);
            json.flat_list("shape", tensor.shape, [&](const auto& extent) {
                if (const auto* number = std::get_if<std::int64_t>(&extent)) {
                    *number < 0 ? json.null() : json.value(*number);
                } else {
                    json.value(std::get<std::string>(extent));
                }
            });
            json.key("from");
            tensor.from == no_id ? json.null() : json.value(tensor.from);
            json.values("to", tensor.to);
            json.member("output", tensor.output);
        });
        json.values("order", manifest.order);
        json.list("recipe", manifest.recipe, [&](const auto& piece) {
            using kind = split_manifest::piece::kind;
            json.begin_array(true);
            json.value(detail::piece_names[static_cast<std::size_t>(piece.from)]);
            if (piece.from == kind::bytes) {
                json.value(detail::bytes_to_hex(piece.text));
            } else {
                if (piece.from == kind::initializer) {
                    json.value(piece.text);
                }
                json.value(piece.first);
                if (piece.from != kind::node) {
                    json.value(piece.count);
                }
            }
            json.end_array();
        });
    });
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_CUT_SPLIT_MANIFEST_HPP
