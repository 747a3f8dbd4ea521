// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TESTS_RANDOM_MODEL_HPP
#define STEMMA_TESTS_RANDOM_MODEL_HPP

#include "random_numbers.hpp"
#include "wire_builder.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace test {

/// Generates valid ONNX files that no exporter would write: fields in any order, graphs in chunks,
/// padded varints, unknown fields of all types, and remains of other tools on nodes.
class random_model {
public:
    /// `pads_edited`: also pads lengths that an editor of tags may rewrite. `pads`: pads anything
    /// at all.
    random_model(std::uint64_t seed, bool pads_edited, bool pads = true)
        : random_(seed), pads_edited_(pads_edited), pads_(pads) {}

    [[nodiscard]] std::string bytes() {
        message fields;
        fields.number(1, 3 + random_(11), pad());
        fields.text(2, "any tool", pad());
        if (!random_.one_in(4)) {
            fields.inner(8, opset("", 8 + random_(16)), pad());
        }
        fields.inner(8, opset("local", 1), pad());
        for (std::size_t f = random_(3); f > 0; --f) {
            fields.inner(25, make_function(f), edited_pad());
        }
        visible_ = {"x", "w", "encoder.layer.0.fc.weight"};
        for (const auto& chunk : make_graph(0)) {
            fields.inner(7, chunk, edited_pad());
        }
        for (auto i = random_(3); i > 0; --i) {
            fields.inner(14, make_entry(pick({"author", "namespace", "pkg.other"})), edited_pad());
        }
        if (random_.one_in(3)) {
            fields.inner(20, message().inner(2, graph({node("Any", {}, {"t"})})), pad());
        }
        add_unknown(fields);
        return fields.shuffle(random_).bytes();
    }

private:
    padding pad() {
        return pads_ && random_.one_in(4) ? padding{1 + random_(4), 1 + random_(4)} : padding{};
    }
    padding edited_pad() {
        auto padding = pad();
        padding.length = pads_edited_ ? padding.length : 1;
        return padding;
    }

    std::string pick(const std::vector<std::string>& of) { return of[random_(of.size())]; }

    void add_unknown(message& to) {
        if (!random_.one_in(3)) {
            return;
        }
        const auto field = static_cast<unsigned>(100 + random_(1000));
        switch (random_(5)) {
        case 0:
            to.number(field, random_.next(), pad());
            break;
        case 1:
            to.fixed32(field, "four", pad());
            break;
        case 2:
            to.fixed64(field, "eight by", pad());
            break;
        case 3:
            to.text(field, random_.bytes(random_(6)), pad());
            break;
        default:
            to.group(field, message().number(1, 2).group(7, message().text(3, "in")), pad());
        }
    }

    message make_entry(std::string_view key) {
        static const std::vector<std::string> values{
            "", "a/b/c", "text", ": app.Net/blocks.0: app.Block/linear: aten.linear.default",
            "['', 'blocks.1', 'linear']"};
        message fields;
        if (random_.one_in(8)) {
            fields.text(1, "an earlier key", edited_pad());
        }
        fields.text(1, key, edited_pad()).text(2, pick(values), pad());
        add_unknown(fields);
        return fields;
    }

    void add_doc_string(message& to) {
        static const std::vector<std::string> texts{
            "", "one line", "several\nlines", "\n", "ends with a break\n", "pkg.stemma", "é\xff"};
        for (auto i = random_.one_in(6) ? 2 : random_(2); i > 0; --i) {
            to.text(6, pick(texts), edited_pad());
        }
    }

    void add_foreign_tags(message& to) {
        static const std::vector<std::string> keys{
            "namespace", "namespace", "pkg.torch.onnx.name_scopes", "hierarchy_tags", "pkg.stemm"};
        for (auto i = random_.one_in(2) ? random_(4) : 0; i > 0; --i) {
            to.inner(9, make_entry(pick(keys)), edited_pad());
        }
        if (random_.one_in(4)) {
            auto attribute =
                text_attribute(pick({"source_module", "hierarchy_tags", "axis"}), "theirs");
            if (random_.one_in(3)) {
                attribute.text(13, "about it");
            }
            if (random_.one_in(5)) {
                attribute.text(1, "its last name");
            }
            to.inner(5, attribute, edited_pad());
        }
    }

    message make_node(std::size_t depth) {
        static const std::vector<std::string> node_names{"",
                                                         "/encoder/layer.0/fc/MatMul",
                                                         "/encoder/layer.0/fc/Add",
                                                         "/encoder/layer.1/MatMul",
                                                         "/a: b/Conv",
                                                         "/block_1/Add",
                                                         "Constant_7",
                                                         "twice",
                                                         "/\xff\x01/odd"};
        message fields;
        for (auto i = random_(4); i > 0; --i) {
            fields.text(1, random_.one_in(8) ? "" : pick(visible_), pad());
        }
        for (auto i = random_(3); i > 0; --i) {
            const auto result = "v" + std::to_string(random_(40));
            fields.text(2, random_.one_in(8) ? "" : result, pad());
            visible_.push_back(result);
        }
        if (!random_.one_in(5)) {
            fields.text(3, pick(node_names), pad());
        }
        const bool owner = depth < 3 && random_.one_in(5);
        fields.text(4, owner ? pick({"If", "Loop", "Scan"}) : pick({"MatMul", "Identity", "Shape"}),
                    pad());
        if (random_.one_in(6)) {
            fields.text(4, pick({"Block", "Sigmoid"}), pad()).text(7, "local", pad());
        }
        if (random_.one_in(6)) {
            fields.text(8, "o1", pad());
        }
        add_doc_string(fields);
        add_foreign_tags(fields);
        if (owner) {
            add_bodies(fields, depth);
        }
        add_unknown(fields);
        return fields.shuffle(random_);
    }

    void add_bodies(message& to, std::size_t depth) {
        for (auto i = 1 + random_(2); i > 0; --i) {
            auto attribute = message().text(1, "body" + std::to_string(i), pad());
            const bool listed = random_.one_in(4);
            for (const auto& part : make_graph(depth + 1)) {
                attribute.inner(listed ? 11 : 6, part, edited_pad());
            }
            add_unknown(attribute);
            to.inner(5, attribute.shuffle(random_), edited_pad());
        }
    }

    message make_tensor() {
        auto fields = message().text(
            8, pick({"w", "", "encoder.layer.0.fc.weight", "v3", "onnx::MatMul_3"}), pad());
        fields.packed(1, {2, 300}, pad());
        fields.text(9, random_.bytes(random_(30)), pad());
        for (auto i = random_.one_in(4) ? 2 : 0; i > 0; --i) {
            fields.inner(16, make_entry("pkg.other"), edited_pad());
        }
        add_unknown(fields);
        return fields.shuffle(random_);
    }

    message make_info() {
        auto fields = value_info(pick(visible_));
        if (random_.one_in(4)) {
            fields.inner(4, make_entry("namespace"), edited_pad());
        }
        add_unknown(fields);
        return fields.shuffle(random_);
    }

    /// Returns: the chunks of a graph; occasionally several.
    std::vector<message> make_graph(std::size_t depth) {
        const auto outer = visible_.size();
        std::vector<message> chunks;
        for (auto i = random_.one_in(3) ? 1 + random_(3) : 1; i > 0; --i) {
            message fields;
            for (auto n = random_(depth == 0 ? 12 : 4); n > 0; --n) {
                fields.inner(1, make_node(depth), edited_pad());
            }
            for (auto n = random_(3); n > 0; --n) {
                fields.inner(5, make_tensor(), edited_pad());
            }
            for (auto n = random_(3); n > 0; --n) {
                fields.inner(static_cast<unsigned>(11 + random_(3)), make_info(), edited_pad());
            }
            if (random_.one_in(5)) {
                auto sparse = message().inner(1, make_tensor(), edited_pad());
                if (random_.one_in(3)) {
                    sparse.inner(1, make_tensor(), edited_pad());
                }
                if (random_.one_in(2)) {
                    sparse.inner(2, tensor("i"), pad());
                }
                fields.inner(15, sparse.shuffle(random_), edited_pad());
            }
            if (random_.one_in(6)) {
                fields.inner(14, message().text(1, "x").inner(2, entry("SCALE_TENSOR", "w")),
                             pad());
            }
            if (random_.one_in(4)) {
                fields.inner(16, make_entry("namespace"), pad());
            }
            fields.text(2, "main", pad());
            add_unknown(fields);
            chunks.push_back(fields.shuffle(random_));
        }
        visible_.resize(outer);
        return chunks;
    }

    message make_function(std::size_t number) {
        auto fields = message()
                          .text(1, number == 1 ? "Block" : "Sigmoid", pad())
                          .text(10, "local", pad())
                          .text(4, "in", pad())
                          .text(5, "v1", pad());
        visible_ = {"in"};
        for (auto i = random_(4); i > 0; --i) {
            fields.inner(7, make_node(1), edited_pad());
        }
        if (random_.one_in(2)) {
            fields.inner(12, make_info(), edited_pad());
        }
        if (random_.one_in(2)) {
            fields.text(13, "o1", pad());
        }
        if (random_.one_in(3)) {
            fields.inner(14, make_entry("namespace"), pad());
        }
        add_unknown(fields);
        return fields.shuffle(random_);
    }

    random_numbers random_;
    bool pads_edited_;
    bool pads_;
    names visible_;
};

} // namespace test

#endif // STEMMA_TESTS_RANDOM_MODEL_HPP
