// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_FOLD_DETAIL_OPENED_CALLS_HPP
#define STEMMA_FOLD_DETAIL_OPENED_CALLS_HPP

#include <stemma/config.hpp>
#include <stemma/core/id.hpp>
#include <stemma/error.hpp>
#include <stemma/fold/detail/call_attributes.hpp>
#include <stemma/fold/detail/fold_record.hpp>
#include <stemma/fold/detail/folded_functions.hpp>
#include <stemma/fold/node_shapes.hpp>
#include <stemma/onnx/carrier.hpp>
#include <stemma/onnx/detail/byte_rope.hpp>
#include <stemma/onnx/detail/message_edits.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/splices.hpp>
#include <stemma/onnx/detail/value_renaming.hpp>
#include <stemma/onnx/detail/values_read.hpp>
#include <stemma/onnx/graph_contents.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace stemma {

namespace detail {

inline void check_fold(bool fits, const wire_model& model) {
    if (!fits) {
        STEMMA_THROW(error(error_code::contradiction, model.file(), "",
                           "was changed since it was folded, and cannot be unfolded to what it "
                           "was"));
    }
}

} // namespace detail

/// What opening calls may still make: bounds what a hostile file costs.
struct opening_budget {
    std::uint64_t bytes = std::uint64_t{1} << 31U; ///< of nodes that are made, and calls opened
    std::size_t depth = 1000; ///< calls inside each other; folding nests less deep
    std::size_t bodies = 33;  ///< bodies inside each other, as in a `wire_model`
};

/// The nodes of a graph as they were before it was folded, in the order in which calls are opened.
class opened_calls {
public:
    /// Returns the message of a node as it was, but for names of what its bodies capture: of one
    /// that `folded_functions` says is changed.
    using body_opener = std::function<const byte_rope&(id node)>;

    /// `graph` is the main graph or a body, and `record` what is known of it.
    /// Requires: all outlive it; the model carries no tags (see `strip_editor`).
    /// Throws: `error` of `error_code::contradiction` when the record does not fit the model; of
    ///   `too_large` when the nodes alone would reach 2 GiB.
    /// Complexity: O(bytes of the nodes that are made and of the calls that are opened).
    opened_calls(const wire_model& model, const graph_contents& contents,
                 const folded_functions& functions, const folded_graph_record& record, id graph,
                 opening_budget& budget, const body_opener& bodies)
        : model_(model)
        , contents_(contents)
        , functions_(functions)
        , record_(record)
        , budget_(budget)
        , bodies_(bodies) {
        for (auto node : contents_.own_nodes(graph)) {
            if (functions_.is_call(node)) {
                open_call(node, nullptr);
            } else if (functions_.changed(node)) {
                keep_rope(bodies_(node));
            } else {
                const auto message = model_.message(node);
                keep({message.begin, message.size, true, no_id});
            }
        }
        check(opened_.size() == record_.nodes && next_change_ == record_.changes.size());
    }

    /// Returns: how many nodes there were.
    [[nodiscard]] std::size_t size() const noexcept { return opened_.size(); }

    /// Appends the node that was number `i`, as a field.
    void append(std::size_t i, std::uint32_t field, byte_rope& out) const {
        const auto& node = opened_[i];
        if (node.in_file) {
            out.add_message(bytes(), field, static_cast<std::uint32_t>(node.begin), node.size);
        } else if (node.rope != no_id) {
            out.add_field(field, ropes_[node.rope]);
        } else {
            out.add_field(field, std::string_view(text_).substr(node.begin, node.size));
        }
    }

private:
    using at_node = detail::onnx_fields::node;

    /// A function as called from one place.
    struct frame {
        id function = no_id;
        std::string scope;
        std::vector<std::string> names; // by local number of a value; "" where not known yet
        call_attributes attributes{};
    };

    /// A node of the model as it was: bytes of the file, or others.
    struct opened_node {
        std::uint64_t begin = 0;
        std::uint32_t size = 0;
        bool in_file = false;
        id rope = no_id; // of a large one
    };

    static constexpr std::uint32_t large = 1U << 16U; // not copied into memory then

    [[nodiscard]] std::string_view bytes() const noexcept { return model_.bytes(); }

    void check(bool fits) const { detail::check_fold(fits, model_); }

    void keep(opened_node node) {
        check(opened_.size() < record_.nodes);
        spend(node.size + sizeof(opened_node)); // a node may have no bytes at all
        opened_.push_back(node);
    }

    void spend(std::uint64_t bytes) {
        if (bytes >= budget_.bytes) {
            STEMMA_THROW(error(error_code::too_large, model_.file(), "",
                               "the result would reach 2 GiB, where protobuf ends"));
        }
        budget_.bytes -= bytes;
    }

    void keep_rope(byte_rope rope) {
        check(rope.size() < std::uint64_t{1} << 31U);
        ropes_.push_back(std::move(rope));
        keep({0, static_cast<std::uint32_t>(ropes_.back().size()), false,
              static_cast<id>(ropes_.size() - 1)});
    }

    [[nodiscard]] std::string name_of(id value, const frame* around) const {
        return std::string(around == nullptr || functions_.local(value) == no_id
                               ? model_.value_name(value)
                               : std::string_view(around->names[functions_.local(value)]));
    }

    /// Opens a call in the graph, or in a function that is being opened.
    void open_call(id call, frame* around) {
        const auto f = model_.callee(call);
        check(budget_.depth > 0 && open_.insert(f).second);
        spend(model_.message(call).size);
        --budget_.depth;
        const auto opened_before = opened_.size();
        frame inside;
        inside.function = f;
        inside.names.resize(functions_.value_count(f));
        inside.scope = around == nullptr ? std::string() : around->scope;
        model_.for_each_metadata(call, [&](std::string_view key, std::string_view value) {
            if (key == fold_scope_key) {
                inside.scope.append(value);
            }
        });
        const auto* outer = around == nullptr ? nullptr : &around->attributes;
        check(inside.attributes.read(model_, call, outer));
        const auto& graph = model_.graph(model_.functions()[f].graph);
        const auto inputs = model_.inputs(call);
        check(inputs.size() == graph.inputs.size() &&
              model_.output_count(call) == graph.outputs.size());
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            check(inputs[i] != no_id && graph.inputs[i] != no_id);
            inside.names[functions_.local(graph.inputs[i])] = name_of(inputs[i], around);
            check(!inside.names[functions_.local(graph.inputs[i])].empty());
        }
        for (id i = 0; i < graph.outputs.size(); ++i) {
            check(graph.outputs[i] != no_id && functions_.local(graph.outputs[i]) != no_id);
            auto& name = inside.names[functions_.local(graph.outputs[i])];
            check(name.empty());
            name = name_of(model_.first_output(call) + i, around);
        }
        for (auto node : contents_.own_nodes(model_.functions()[f].graph)) {
            functions_.is_call(node) ? open_call(node, &inside) : open_node(node, inside);
        }
        for (id i = 0; around != nullptr && i < graph.outputs.size(); ++i) {
            around->names[functions_.local(model_.first_output(call) + i)] =
                inside.names[functions_.local(graph.outputs[i])];
        }
        check(opened_.size() > opened_before); // folding makes no function of nothing
        ++budget_.depth;
        open_.erase(f);
    }

    /// Makes a node of the model of one in the body of a function.
    void open_node(id node, frame& around) {
        const auto message = model_.message(node);
        const auto renamed = with_own_bodies(node, around);
        auto fields = renamed ? reader_of(*renamed) : model_.reader(message);
        if (message.size >= large && !renamed) {
            byte_rope rope;
            write_node(node, fields, around, rope_target{rope});
            keep_rope(std::move(rope));
            return;
        }
        const auto begin = text_.size();
        write_node(node, fields, around, text_target{text_});
        const auto made = std::string_view(text_).substr(begin);
        if (made == bytes().substr(message.begin, message.size)) {
            text_.resize(begin);
            keep({message.begin, message.size, true, no_id});
        } else {
            keep({begin, static_cast<std::uint32_t>(made.size()), false, no_id});
        }
    }

    struct text_target {
        std::string& out;
        void whole(const wire_reader& fields, const wire_field& field) {
            out.append(fields.whole(field));
        }
        void text(std::string_view more) { out.append(more); }
        void rope(std::string_view file, std::uint32_t field, const byte_rope& content) {
            string_splice splice(file);
            content.write(splice);
            detail::append_field(field, splice.text, out);
        }
    };

    struct rope_target {
        byte_rope& out;
        void whole(const wire_reader&, const wire_field& field) {
            out.add_range(field.begin, field.end - field.begin);
        }
        void text(std::string_view more) { out.add_text(more); }
        void rope(std::string_view, std::uint32_t field, const byte_rope& content) {
            out.add_field(field, content);
        }
    };

    template <class Target>
    void write_node(id node, wire_reader fields, frame& around, Target target) {
        const auto inputs = model_.inputs(node);
        std::size_t input = 0;
        id output = 0;
        std::uint32_t slot = 0;
        std::string field_text;
        const auto put = [&](const wire_field& field, std::string_view content) {
            if (fields.text(field) == content) {
                target.whole(fields, field); // also where its length was padded
                return;
            }
            field_text.clear();
            detail::append_field(field.number, content, field_text);
            target.text(field_text);
        };
        for (wire_field field; fields.next(field);) {
            switch (text_kind(field)) {
            case node_text::none:
                if (const auto given = around.attributes.given(model_, fields, field)) {
                    target.rope(bytes(), field.number, *given);
                } else {
                    target.whole(fields, field);
                }
                break;
            case node_text::input: {
                const auto value = inputs[input++];
                const auto name = value == no_id ? std::string() : name_of(value, &around);
                check(value == no_id || !name.empty());
                put(field, name);
                break;
            }
            case node_text::output: {
                auto& name = around.names[functions_.local(model_.first_output(node) + output++)];
                if (name.empty()) {
                    name = restored(slot, fields.text(field), around.scope);
                }
                put(field, name);
                ++slot;
                break;
            }
            case node_text::name:
                put(field, restored(slot++, fields.text(field), around.scope));
                break;
            case node_text::note:
                write_note(fields, field, slot, target);
                break;
            }
        }
    }

    template <class Target>
    void write_note(const wire_reader& fields, const wire_field& field, std::uint32_t& slot,
                    Target& target) {
        const bool is_entry = field.is_bytes(at_node::metadata_props);
        if (is_entry && is_fold_entry(wire_model::read_entry(fields, field).first)) {
            return;
        }
        const auto text = text_of(fields, field);
        const auto actual = restored(slot++, text, {});
        if (actual == text) {
            target.whole(fields, field);
            return;
        }
        std::string out;
        if (!is_entry) {
            detail::append_field(field.number, actual, out);
            target.text(out);
            return;
        }
        std::string entry;
        auto parts = fields.inner(field);
        for (wire_field part; parts.next(part);) {
            if (part.is_bytes(detail::onnx_fields::entry::value)) {
                detail::append_field(part.number, actual, entry);
            } else {
                entry.append(fields.whole(part));
            }
        }
        detail::append_field(field.number, entry, out);
        target.text(out);
    }

    /// Returns: a text of the node that is being opened, as it was.
    [[nodiscard]] std::string restored(std::uint32_t slot, std::string_view text,
                                       std::string_view scope) {
        std::string expected(text);
        if (!expected.empty()) {
            expected.insert(0, scope);
        }
        if (next_change_ < record_.changes.size()) {
            const auto& change = record_.changes[next_change_];
            if (change.node == opened_.size() && change.slot == slot) {
                ++next_change_;
                auto changed = apply_change(change, expected);
                check(changed.has_value());
                return std::move(*changed);
            }
        }
        return expected;
    }

    /// Returns: the message of a node whose bodies were folded, or capture values that had other
    /// names.
    [[nodiscard]] std::optional<std::string> with_own_bodies(id node, const frame& around) const {
        if (contents_.bodies_of(node).empty()) {
            return std::nullopt;
        }
        value_renaming renaming;
        const auto read = values_read(model_, contents_, node);
        for (auto i = model_.inputs(node).size(); i < read.size(); ++i) {
            auto actual = name_of(read[i], &around);
            check(!actual.empty());
            if (actual != model_.value_name(read[i])) {
                renaming.add(model_.value_name(read[i]), std::move(actual));
            }
        }
        std::optional<std::string> message;
        if (functions_.changed_inside(node)) {
            string_splice splice(bytes());
            bodies_(node).write(splice);
            message = std::move(splice.text);
        }
        if (!renaming.empty()) {
            message =
                renaming.node(message ? reader_of(*message) : model_.reader(model_.message(node)));
        }
        return message;
    }

    [[nodiscard]] wire_reader reader_of(const std::string& text) const {
        return {text.data(), 0, static_cast<std::uint32_t>(text.size()), model_.file()};
    }

    const wire_model& model_;
    const graph_contents& contents_;
    const folded_functions& functions_;
    const folded_graph_record& record_;
    opening_budget& budget_;
    const body_opener& bodies_;
    std::unordered_set<id> open_; // functions of which a call is being opened
    std::vector<opened_node> opened_;
    std::vector<byte_rope> ropes_;
    std::string text_;
    std::size_t next_change_ = 0;
};

} // namespace stemma

#endif // STEMMA_FOLD_DETAIL_OPENED_CALLS_HPP
