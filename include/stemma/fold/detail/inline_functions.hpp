// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_FOLD_DETAIL_INLINE_FUNCTIONS_HPP
#define STEMMA_FOLD_DETAIL_INLINE_FUNCTIONS_HPP

#include <stemma/config.hpp>
#include <stemma/core/id.hpp>
#include <stemma/error.hpp>
#include <stemma/fold/detail/call_frame.hpp>
#include <stemma/fold/detail/function_bodies.hpp>
#include <stemma/fold/detail/inlined_names.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/detail/operator_domain.hpp>
#include <stemma/onnx/carrier.hpp>
#include <stemma/onnx/detail/attribute_texts.hpp>
#include <stemma/onnx/detail/byte_rope.hpp>
#include <stemma/onnx/detail/message_edits.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/opset_texts.hpp>
#include <stemma/onnx/detail/schema_changes.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma {

/// Puts the bodies of functions where these are called, at any depth and in bodies of control flow.
///
/// What comes out of a call is named after it: `<name of the call>/<name in the function>`; or,
/// where it is given `inlined_names`, values are, and nodes are named after their modules.
/// Attributes of a function have the value that the call gives, else their default.
class function_inliner {
public:
    /// `max_calls` bounds what functions cost that call each other twice, and those again.
    /// Requires: the model outlives it. Complexity: O(bytes of functions and names).
    explicit function_inliner(const wire_model& model, std::size_t max_calls = 1U << 24U)
        : function_inliner(model, std::nullopt, max_calls) {}

    /// As above. Requires: `names` are those of the same model. Complexity: as above.
    function_inliner(const wire_model& model, std::optional<inlined_names> names,
                     std::size_t max_calls = 1U << 24U)
        : model_(model)
        , functions_(read_function_bodies(model))
        , names_(std::move(names))
        , max_calls_(max_calls) {
        for (id value = 0; value < model.value_count(); ++value) {
            scopes_.take(model.value_name(value));
        }
        for (const auto& import : model.opset_imports()) {
            versions_[plain_domain(import.domain)] = import.version;
        }
    }

    /// Returns: how many calls were opened.
    [[nodiscard]] std::size_t calls() const noexcept { return calls_; }

    /// Returns: to what the nodes of the result belong, by number, as it was before; nothing
    /// without `inlined_names`. Requires: `build` was called.
    [[nodiscard]] const std::vector<attribution>& attributions() const noexcept { return made_; }

    /// Makes the bytes of the model without functions.
    /// Throws: `error` of `error_code::malformed` for functions that call themselves; of
    ///   `unsupported` for ones that need other versions of operators than the model has, or nest
    ///   too deep; of `too_large` when the result would reach 2 GiB.
    /// Complexity: O(bytes of the result that are not weights).
    [[nodiscard]] byte_rope build() {
        byte_rope result;
        auto fields = model_.reader();
        std::vector<byte_rope> parts; // first, as they say which imports are still needed
        for (auto look = fields; look.next(field_);) {
            if (field_.is_bytes(at_model::graph)) {
                parts.push_back(main_graph(look.inner(field_)));
            }
        }
        std::size_t part = 0;
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(at_model::graph)) {
                result.add_field(at_model::graph, parts[part++]);
            } else if (stays(fields, field)) {
                result.add_range(field.begin, field.end - field.begin);
            }
        }
        for (const auto& [domain, version] : added_) {
            if (used_domains_.contains(domain)) {
                result.add_field(at_model::opset_import, opset_import_text({domain, version}));
            }
        }
        return result;
    }

private:
    using at_model = detail::onnx_fields::model;
    using at_graph = detail::onnx_fields::graph;
    using at_node = detail::onnx_fields::node;
    using at_attribute = detail::onnx_fields::attribute;

    static constexpr std::size_t max_depth = 500;

    [[nodiscard]] std::string_view bytes() const noexcept { return model_.bytes(); }

    [[noreturn]] void fail(error_code code, const operator_name& function,
                           std::string_view reason) const {
        STEMMA_THROW(
            error(code, model_.file(),
                  "function " + std::string(function.domain) + "::" + std::string(function.type),
                  reason));
    }

    [[nodiscard]] bool stays(const wire_reader& fields, const wire_field& field) const {
        if (field.is_bytes(at_model::opset_import)) {
            const auto domain = read_opset_import(fields.inner(field)).domain;
            return domain.empty() || used_domains_.contains(domain) || !names_function(domain);
        }
        if (field.is_bytes(at_model::metadata_props)) {
            return !is_fold_entry(wire_model::read_entry(fields, field).first);
        }
        return !field.is_bytes(at_model::functions);
    }

    [[nodiscard]] bool names_function(std::string_view domain) const {
        const auto from = functions_.lower_bound({domain, {}, {}});
        return from != functions_.end() && from->first.domain == domain;
    }

    [[nodiscard]] byte_rope main_graph(wire_reader fields) {
        byte_rope graph;
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(at_graph::node) && holds_call(fields.inner(field))) {
                std::string nodes;
                put_node(fields.inner(field), nullptr, at_graph::node, nodes);
                graph.add_text(nodes);
            } else {
                if (names_ && field.is_bytes(at_graph::node)) {
                    names_->note_unchanged(field.content, made_);
                }
                graph.add_range(field.begin, field.end - field.begin);
            }
        }
        return graph;
    }

    /// Whether a node is a call, or there is one in its bodies; notes the domains of the others.
    [[nodiscard]] bool holds_call(wire_reader fields) {
        const auto name = read_operator_name(fields);
        bool found = functions_.contains(name);
        if (!found) {
            used_domains_.insert(name.domain);
        }
        for (wire_field field; fields.next(field);) {
            if (!field.is_bytes(at_node::attribute)) {
                continue;
            }
            auto parts = fields.inner(field);
            for (wire_field part; parts.next(part);) {
                if (!part.is_bytes(at_attribute::g) && !part.is_bytes(at_attribute::graphs)) {
                    continue;
                }
                auto graph = parts.inner(part);
                for (wire_field inside; graph.next(inside);) {
                    found = (inside.is_bytes(at_graph::node) && holds_call(graph.inner(inside))) ||
                            found;
                }
            }
        }
        return found;
    }

    void put_node(wire_reader fields, const call_frame* around, std::uint32_t number,
                  std::string& out) {
        const auto name = read_operator_name(fields);
        const auto called = functions_.find(name);
        if (called != functions_.end()) {
            open(called->second, fields, around, number, out);
            return;
        }
        used_domains_.insert(name.domain);
        std::string content;
        const auto position = fields.position();
        const auto own = name_of(position, name.type, around);
        if (!own.empty()) {
            detail::append_field(at_node::name, own, content);
        }
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(at_node::input) || field.is_bytes(at_node::output)) {
                detail::append_field(field.number, actual(fields.text(field), around), content);
            } else if (field.is_bytes(at_node::name) && around != nullptr) {
                const auto text = fields.text(field);
                if (own.empty()) {
                    detail::append_field(field.number,
                                         text.empty()
                                             ? std::string()
                                             : around->scope + between() + std::string(text),
                                         content);
                }
            } else if (field.is_bytes(at_node::attribute)) {
                put_attribute(fields.inner(field), around, field.number, content);
            } else if (!(around != nullptr && field.is_bytes(at_node::metadata_props) &&
                         is_fold_entry(wire_model::read_entry(fields, field).first))) {
                content.append(fields.whole(field));
            }
        }
        if (names_) {
            names_->note(position, place_of(around), made_);
        }
        detail::append_field(number, content, out);
        if (out.size() >= std::size_t{1} << 31U) {
            fail(error_code::too_large, name, "the result would reach 2 GiB, where protobuf ends");
        }
    }

    [[nodiscard]] std::string name_of(std::uint32_t position, std::string_view op_type,
                                      const call_frame* around) {
        return names_ && around ? names_->name(position, op_type, around->place) : std::string();
    }

    // No slash where names say modules, as a call of which nothing is known is none.
    [[nodiscard]] const char* between() const noexcept { return names_ ? "." : "/"; }

    void put_attribute(wire_reader fields, const call_frame* around, std::uint32_t number,
                       std::string& out) {
        const auto [name, reference] = read_attribute_names(fields);
        if (around != nullptr && !reference.empty()) {
            const auto given = around->attributes.find(reference);
            if (given != around->attributes.end()) {
                detail::append_field(number, with_name(given->second, name), out);
            }
            return; // without a value it is as if it were not there
        }
        std::string content;
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(at_attribute::g) || field.is_bytes(at_attribute::graphs)) {
                detail::append_field(field.number, body(fields.inner(field), around), content);
            } else {
                content.append(fields.whole(field));
            }
        }
        detail::append_field(number, content, out);
    }

    [[nodiscard]] std::string body(wire_reader fields, const call_frame* around) {
        std::string out;
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(at_graph::node)) {
                put_node(fields.inner(field), around, field.number, out);
            } else if (around == nullptr) {
                out.append(fields.whole(field));
            } else if (field.is_bytes(at_graph::input) || field.is_bytes(at_graph::output) ||
                       field.is_bytes(at_graph::value_info)) {
                put_named(fields.inner(field), detail::onnx_fields::value_info::name, around,
                          field.number, out);
            } else if (field.is_bytes(at_graph::initializer)) {
                put_named(fields.inner(field), detail::onnx_fields::tensor::name, around,
                          field.number, out);
            } else if (field.is_bytes(at_graph::sparse_initializer)) {
                put_sparse(fields.inner(field), around, field.number, out);
            } else if (!field.is_bytes(at_graph::quantization_annotation)) {
                out.append(fields.whole(field));
            }
        }
        return out;
    }

    /// Puts the body of a function where a node calls it.
    void open(const function_body& function, wire_reader call, const call_frame* around,
              std::uint32_t number, std::string& out) {
        if (!open_.insert(&function).second) {
            fail(error_code::malformed, function.name, "calls itself");
        }
        if (open_.size() > max_depth || ++calls_ > max_calls_) {
            fail(error_code::unsupported, function.name, "is called too deep, or too often");
        }
        check_versions(function);
        std::vector<std::string> inputs;
        std::vector<std::string> outputs;
        std::string name;
        call_frame inside;
        if (names_) {
            inside.place = names_->enter(call.position(), place_of(around));
        }
        for (wire_field field; call.next(field);) {
            if (field.is_bytes(at_node::input)) {
                inputs.push_back(actual(call.text(field), around));
            } else if (field.is_bytes(at_node::output)) {
                outputs.push_back(actual(call.text(field), around));
            } else if (field.is_bytes(at_node::name)) {
                name = call.text(field);
            } else if (field.is_bytes(at_node::attribute)) {
                std::string attribute;
                put_attribute(call.inner(field), around, at_node::attribute, attribute);
                if (!attribute.empty()) {
                    wire_reader made(attribute.data(), 0,
                                     static_cast<std::uint32_t>(attribute.size()), model_.file());
                    static_cast<void>(made.next(field_));
                    inside.attributes.emplace(read_attribute_names(call.inner(field)).name,
                                              std::string(made.text(field_)));
                }
            }
        }
        const auto file = model_.reader();
        for (const auto& [attribute, value] : function.defaults) {
            inside.attributes.emplace(attribute, std::string(file.text(value)));
        }
        for (std::size_t i = 0; i < function.inputs.size(); ++i) {
            inside.bound.emplace(function.inputs[i], i < inputs.size() ? inputs[i] : "");
        }
        if (name.empty()) {
            name = outputs.empty() ? std::string(function.name.type) : outputs.front();
        } else if (around != nullptr) {
            name = around->scope + "/" + name;
        }
        inside.scope = scopes_.free(name);
        std::vector<std::pair<std::string_view, std::string>> passed;
        for (std::size_t i = 0; i < function.outputs.size() && i < outputs.size(); ++i) {
            if (!outputs[i].empty() &&
                !inside.bound.emplace(function.outputs[i], outputs[i]).second) {
                passed.emplace_back(function.outputs[i], outputs[i]);
            }
        }
        for (const auto& field : function.nodes) {
            put_node(file.inner(field), &inside, number, out);
        }
        for (const auto& [from, to] : passed) {
            pass_on(actual(from, &inside), to, inside, number, out);
        }
        open_.erase(&function);
    }

    /// A function may give away what it was given, and one value twice.
    void pass_on(const std::string& from, const std::string& to, const call_frame& call,
                 std::uint32_t number, std::string& out) {
        std::string node;
        detail::append_field(at_node::input, from, node);
        detail::append_field(at_node::output, to, node);
        const auto own = names_ ? names_->name("Identity", call.place) : std::string{};
        detail::append_field(at_node::name, own.empty() ? call.scope + between() + "Identity" : own,
                             node);
        detail::append_field(at_node::op_type, "Identity", node);
        if (names_) {
            names_->note(no_id, call.place, made_);
        }
        detail::append_field(number, node, out);
        used_domains_.insert({});
    }

    /// The operators of a function mean what the versions say that it imports.
    void check_versions(const function_body& function) {
        if (!checked_.insert(&function).second) {
            return;
        }
        const auto file = model_.reader();
        for (const auto& [domain, version] : function.imports) {
            const auto known = versions_.find(domain);
            if (known == versions_.end()) {
                versions_.emplace(domain, version);
                added_.emplace(domain, version);
                continue;
            }
            if (known->second == version || names_function(domain)) {
                continue;
            }
            for (const auto& field : function.nodes) {
                const auto node = read_operator_name(file.inner(field));
                const auto [low, high] = std::minmax(known->second, version);
                if (node.domain == domain &&
                    (!domain.empty() || changed_between(node.type, low, high))) {
                    fail(error_code::unsupported, function.name,
                         "uses '" + std::string(node.type) + "' of version " +
                             std::to_string(version) + ", and the model has version " +
                             std::to_string(known->second));
                }
            }
        }
    }

    const wire_model& model_;
    std::map<operator_name, function_body> functions_;
    std::optional<inlined_names> names_;
    std::vector<attribution> made_;
    call_scopes scopes_;
    std::set<const function_body*> open_;
    std::set<const function_body*> checked_;
    std::map<std::string_view, std::int64_t> versions_; // by domain
    std::map<std::string_view, std::int64_t> added_;
    std::set<std::string_view> used_domains_;
    wire_field field_; // of what is only looked at
    std::size_t max_calls_;
    std::size_t calls_ = 0;
};

} // namespace stemma

#endif // STEMMA_FOLD_DETAIL_INLINE_FUNCTIONS_HPP
