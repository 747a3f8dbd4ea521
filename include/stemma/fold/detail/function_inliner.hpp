// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_FOLD_DETAIL_FUNCTION_INLINER_HPP
#define STEMMA_FOLD_DETAIL_FUNCTION_INLINER_HPP

#include <stemma/config.hpp>
#include <stemma/core/id.hpp>
#include <stemma/error.hpp>
#include <stemma/fold/detail/call_frame.hpp>
#include <stemma/fold/detail/function_bodies.hpp>
#include <stemma/fold/detail/inlined_names.hpp>
#include <stemma/fold/detail/inlined_size.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/detail/operator_domain.hpp>
#include <stemma/onnx/carrier.hpp>
#include <stemma/onnx/detail/attribute_texts.hpp>
#include <stemma/onnx/detail/message_tree.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/opset_texts.hpp>
#include <stemma/onnx/detail/rename_values.hpp>
#include <stemma/onnx/detail/schema_changes.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Inlines functions, at any depth and in control-flow bodies.
///  Results are named after the call: `<name of the call>/<name in the function>`; with
/// `inlined_names` only values are, and nodes are named after their modules. Attributes of a
/// function take the value given by the call, else their default.
class function_inliner {
public:
    /// Requires: the model outlives it, and `names` are those of the same model. Complexity:
    /// O(bytes of functions and names).
    explicit function_inliner(const wire_model& model,
                              std::optional<inlined_names> names = std::nullopt)
        : model_(model), functions_(read_function_bodies(model)), names_(std::move(names)) {
        for (id value = 0; value < model.value_count(); ++value) {
            scopes_.take(model.value_name(value));
        }
        for (const auto& import : model.opset_imports()) {
            versions_[plain_domain(import.domain)] = import.version;
        }
    }

    /// Returns: the number of inlined calls.
    [[nodiscard]] std::size_t calls() const noexcept { return calls_; }

    /// Returns: the attributions of the result's nodes, by number; nothing without `inlined_names`.
    /// Requires: `build` was called.
    [[nodiscard]] const std::vector<attribution>& attributions() const noexcept {
        return attributions_;
    }

    /// Builds the model without functions.
    /// Throws: `error` of `error_code::malformed` for recursive functions; of `unsupported` for
    /// functions that need other operator versions than the model has, nest too deeply, or multiply
    /// to millions of nodes; of `too_large` if the result would reach 2 GiB.
    /// Complexity: O(bytes of the result without weights).
    [[nodiscard]] message_tree build() {
        check_size();
        std::vector<message_tree> parts; // first, as they determine the required imports
        for (auto [fields, field] = std::pair(model_.reader(), wire_field()); fields.next(field);) {
            if (field.is_bytes(at_model::graph)) {
                put_graph(fields.inner(field), parts.emplace_back());
            }
        }
        message_tree result;
        std::size_t part = 0;
        result.edit(model_.reader(), [&](edited_field& field) {
            if (field.is_bytes(at_model::graph)) {
                field.replace([&] { result.append(parts[part++]); });
            } else if (!stays(field)) {
                field.erase();
            }
        });
        for (const auto& [domain, version] : added_) {
            if (used_domains_.contains(domain)) {
                result.append(at_model::opset_import, opset_import_text({domain, version}));
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
    static constexpr std::uint64_t most_nodes = 1'000'000; // or eight times those of the model
    static constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30U;

    /// Calls of calls make exponentially large models.
    void check_size() const {
        const auto size = inlined_sizes(model_, max_depth).of_model();
        const auto check = [&](std::uint64_t number, std::uint64_t most, const char* of) {
            if (number > most) {
                STEMMA_THROW(error(error_code::unsupported, model_.file(), "functions",
                                   "would become " + std::to_string(number) + of + ", more than " +
                                       std::to_string(most)));
            }
        };
        check(size.nodes,
              std::max<std::uint64_t>(8 * std::uint64_t{model_.node_count()}, most_nodes),
              " nodes");
        check(size.bytes, most_bytes, " bytes of names");
    }

    [[noreturn]] void fail(error_code code, const operator_name& function,
                           std::string_view reason) const {
        STEMMA_THROW(
            error(code, model_.file(),
                  "function " + std::string(function.domain) + "::" + std::string(function.type),
                  reason));
    }

    [[nodiscard]] bool stays(const edited_field& field) const {
        if (field.is_bytes(at_model::opset_import)) {
            const auto domain = read_opset_import(field.inner()).domain;
            return domain.empty() || used_domains_.contains(domain) || !names_function(domain);
        }
        if (field.is_bytes(at_model::metadata_props)) {
            return !is_fold_entry(wire_model::read_entry(field.around(), field).first);
        }
        return !field.is_bytes(at_model::functions);
    }

    [[nodiscard]] bool names_function(std::string_view domain) const {
        const auto from = functions_.lower_bound({domain, {}, {}});
        return from != functions_.end() && from->first.domain == domain;
    }

    void put_graph(wire_reader fields, message_tree& out) {
        out.edit(fields, [&](edited_field& field) {
            if (!field.is_bytes(at_graph::node)) {
                return;
            }
            if (holds_call(field.inner())) {
                put_node(field.inner(), nullptr, at_graph::node, out);
                field.erase();
            } else if (names_) {
                names_->note_unchanged(field.content, attributions_);
            }
        });
    }

    /// Whether a node is a call or contains one; notes the domains of other nodes.
    [[nodiscard]] bool holds_call(wire_reader fields) {
        bool holds = false;
        for_each_operator(fields, [&](const operator_name& name) {
            const bool is_call = functions_.contains(name);
            holds = holds || is_call;
            if (!is_call) {
                used_domains_.insert(name.domain);
            }
        });
        return holds;
    }

    void put_node(wire_reader fields, const call_frame* around, std::uint32_t number,
                  message_tree& out) {
        const auto name = read_operator_name(fields);
        const auto called = functions_.find(name);
        if (called != functions_.end()) {
            open(called->second, fields, around, number, out);
            return;
        }
        used_domains_.insert(name.domain);
        const auto position = fields.position();
        const auto own = name_of(position, name.type, around);
        out.append(number, [&] {
            if (!own.empty()) {
                out.append(at_node::name, own);
            }
            out.edit(fields, [&](edited_field& field) {
                if (field.is_bytes(at_node::input) || field.is_bytes(at_node::output)) {
                    field.set(actual(field.text(), around));
                } else if (field.is_bytes(at_node::attribute)) {
                    put_attribute(field, around, out);
                } else if (around != nullptr) {
                    put_note(field, own, *around);
                }
            });
        });
        if (names_) {
            names_->note(position, place_of(around), attributions_);
        }
        if (out.size() >= std::uint64_t{1} << 31U) {
            fail(error_code::too_large, name, "the result would reach protobuf's limit of 2 GiB");
        }
    }

    /// Renames a node of a function; `own` is its new name.
    void put_note(edited_field& field, std::string_view own, const call_frame& around) const {
        if (field.is_bytes(at_node::name)) {
            if (!own.empty()) {
                field.erase();
            } else if (!field.text().empty()) {
                field.set(around.scope + between() + std::string(field.text()));
            }
        } else if (field.is_bytes(at_node::metadata_props) &&
                   is_fold_entry(wire_model::read_entry(field.around(), field).first)) {
            field.erase();
        }
    }

    [[nodiscard]] std::string name_of(std::uint32_t position, std::string_view op_type,
                                      const call_frame* around) {
        return names_ && around ? names_->name(position, op_type, around->place) : std::string();
    }

    // No slash in names by module, as an unattributed call is no module.
    [[nodiscard]] const char* between() const noexcept { return names_ ? "." : "/"; }

    void put_attribute(edited_field& field, const call_frame* around, message_tree& out) {
        const auto [name, reference] = detail::read_attribute_names(field.inner());
        if (around != nullptr && !reference.empty()) {
            field.erase(); // without a value it counts as absent
            const auto given = around->attributes.find(reference);
            if (given != around->attributes.end()) {
                out.append(at_node::attribute, [&, own = name] {
                    out.append(at_attribute::name, own);
                    out.append(given->second);
                });
            }
            return;
        }
        field.edit([&](edited_field& part) { put_bodies(part, around, out); });
    }

    /// Inlines calls in a field of an attribute.
    void put_bodies(edited_field& field, const call_frame* around, message_tree& out) {
        if (field.is_bytes(at_attribute::g) || field.is_bytes(at_attribute::graphs)) {
            const auto own = around ? frame_in_body(field.inner(), *around) : std::nullopt;
            field.edit(
                [&](edited_field& inside) { put_in_body(inside, own ? &*own : around, out); });
        }
    }

    void put_in_body(edited_field& field, const call_frame* around, message_tree& out) {
        if (field.is_bytes(at_graph::node)) {
            put_node(field.inner(), around, field.number, out);
            field.erase();
        } else if (around != nullptr && field.is_bytes(at_graph::quantization_annotation)) {
            field.erase();
        } else if (around != nullptr) {
            detail::rename_values(field, detail::names_in::graph,
                                  [&](std::string_view name) { return actual(name, around); });
        }
    }

    /// Inlines a function at a call.
    void open(const function_body& function, wire_reader call, const call_frame* around,
              std::uint32_t number, message_tree& out) {
        if (!open_.insert(&function).second) {
            fail(error_code::malformed, function.name, "calls itself");
        }
        if (open_.size() > max_depth) {
            fail(error_code::unsupported, function.name, "its calls are nested too deeply");
        }
        ++calls_;
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
                give(call.inner(field), around, inside);
            }
        }
        const auto file = model_.reader();
        for (const auto& [attribute, value] : function.defaults) {
            const auto entry = inside.attributes.try_emplace(attribute);
            if (entry.second) {
                entry.first->second.edit(file.inner(value), detail::erase_attribute_name);
            }
        }
        for (std::size_t i = 0; i < function.inputs.size(); ++i) {
            inside.bound.emplace(function.inputs[i], i < inputs.size() ? inputs[i] : "");
        }
        if (name.empty()) {
            name = outputs.empty() ? std::string(function.name.type) : outputs.front();
        } else if (around != nullptr) {
            name = around->scope + "/" + name;
        }
        std::vector<std::pair<std::string_view, std::string>> passed;
        for (std::size_t i = 0; i < function.outputs.size() && i < outputs.size(); ++i) {
            if (!outputs[i].empty() &&
                !inside.bound.emplace(function.outputs[i], outputs[i]).second) {
                passed.emplace_back(function.outputs[i], outputs[i]);
            }
        }
        inside.scope = scopes_.free(name, unbound(function, inside));
        for (const auto& field : function.nodes) {
            put_node(file.inner(field), &inside, number, out);
        }
        for (const auto& [from, to] : passed) {
            pass_on(actual(from, &inside), to, inside, number, out);
        }
        open_.erase(&function);
    }

    /// Returns: the values in a function that are named after its call.
    [[nodiscard]] static std::vector<std::string_view> unbound(const function_body& function,
                                                               const call_frame& call) {
        std::vector<std::string_view> values;
        std::copy_if(function.values.begin(), function.values.end(), std::back_inserter(values),
                     [&](auto value) {
                         return !value.empty() && (!call.bound.contains(value) ||
                                                   function.inner_values.contains(value));
                     });
        return values;
    }

    /// Notes an attribute of a call, which may refer to one of the call `around`.
    void give(wire_reader fields, const call_frame* around, call_frame& inside) {
        const auto [name, reference] = detail::read_attribute_names(fields);
        message_tree content;
        if (around == nullptr || reference.empty()) {
            content.edit(fields, [&](edited_field& field) {
                put_bodies(field, around, content);
                detail::erase_attribute_name(field);
            });
        } else if (const auto given = around->attributes.find(reference);
                   given != around->attributes.end()) {
            content = given->second;
        } else {
            return;
        }
        inside.attributes.emplace(name, std::move(content));
    }

    /// A function may return an input, or a value twice.
    void pass_on(const std::string& from, const std::string& to, const call_frame& call,
                 std::uint32_t number, message_tree& out) {
        out.append(number, [&] {
            out.append(at_node::input, from);
            out.append(at_node::output, to);
            const auto own = names_ ? names_->name("Identity", call.place) : std::string{};
            out.append(at_node::name, own.empty() ? call.scope + between() + "Identity" : own);
            out.append(at_node::op_type, "Identity");
        });
        if (names_) {
            names_->note(no_id, call.place, attributions_);
        }
        used_domains_.insert({});
    }

    /// The operators of a function have the versions that it imports.
    void check_versions(const function_body& function) {
        if (!checked_.insert(&function).second) {
            return;
        }
        const auto file = model_.reader();
        for (const auto& [domain, version] : function.imports) {
            const auto entry = versions_.find(domain);
            if (entry == versions_.end()) {
                versions_.emplace(domain, version);
                added_.emplace(domain, version);
                continue;
            }
            if (entry->second == version) {
                continue;
            }
            const auto check = [&, &domain = domain,
                                &version = version](const operator_name& node) {
                const auto [low, high] = std::minmax(entry->second, version);
                if (node.domain == domain && !functions_.contains(node) &&
                    (!domain.empty() || changed_between(node.type, low, high))) {
                    fail(error_code::unsupported, function.name,
                         "uses '" + std::string(node.type) + "' of version " +
                             std::to_string(version) + ", and the model has version " +
                             std::to_string(entry->second));
                }
            };
            for (const auto& field : function.nodes) {
                for_each_operator(file.inner(field), check);
            }
        }
    }

    const wire_model& model_;
    std::map<operator_name, function_body> functions_;
    std::optional<inlined_names> names_;
    std::vector<attribution> attributions_;
    call_scopes scopes_;
    std::set<const function_body*> open_;
    std::set<const function_body*> checked_;
    std::map<std::string_view, std::int64_t> versions_; // by domain
    std::map<std::string_view, std::int64_t> added_;
    std::set<std::string_view> used_domains_;
    std::size_t calls_ = 0;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_FOLD_DETAIL_FUNCTION_INLINER_HPP
