// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CHECK_DETAIL_CHECK_STRUCTURE_HPP
#define STEMMA_CHECK_DETAIL_CHECK_STRUCTURE_HPP

#include <stemma/core/detail/range.hpp>
#include <stemma/core/detail/strong_components.hpp>
#include <stemma/core/id.hpp>
#include <stemma/model/detail/operator_domain.hpp>
#include <stemma/model/finding.hpp>
#include <stemma/onnx/detail/flat_graph.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/onnx/onnx_model.hpp>
#include <stemma/onnx/value_definitions.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Checks the rules of ONNX that hold for every version.
template <class Report>
class structure_checker {
public:
    structure_checker(const wire_model& model, Report& report) : model_(model), report_(report) {}

    void check() {
        check_opsets();
        check_definitions();
        check_order();
        check_functions();
        check_metadata();
    }

private:
    using at_function = onnx_fields::function;
    using domains = std::set<std::string_view>;

    void tell(const char* code, std::string place, std::string text,
              severity level = severity::error, id node = no_id) {
        report_(finding{code, node, std::move(text), level, std::move(place)});
    }

    void tell_node(const char* code, id node, std::string text) {
        tell(code, place_of(model_, node), std::move(text), severity::error, node);
    }

    void take_import(std::string_view domain, const std::string& place, domains& imports) {
        if (!imports.insert(plain_domain(domain)).second) {
            tell("opset.repeated", place,
                 "imports the operators of domain '" + std::string(domain) + "' more than once");
        }
    }

    void check_opsets() {
        if (model_.ir_version() <= 0) {
            tell("model.ir_version", "model", "has no ir_version");
        }
        domains of_model;
        for (const auto& import : model_.opset_imports()) {
            take_import(import.domain, "model", of_model);
            if (import.version <= 0) {
                tell("opset.version", "model",
                     "imports domain '" + std::string(import.domain) + "' without a version");
            }
        }
        if (of_model.empty()) {
            tell("opset.none", "model", "has no opset imports");
            return;
        }
        const auto of_functions = read_function_imports();
        for (id node = 0; node < model_.node_count(); ++node) {
            const auto function = function_around(node);
            const auto& imports = function == no_id ? of_model : of_functions[function];
            if (model_.op_type(node).empty()) {
                tell_node("node.no_operator", node, "has no operator type");
            } else if (imports.count(model_.domain(node)) == 0) {
                tell_node("opset.missing", node,
                          "domain '" + std::string(model_.domain(node)) + "' of " +
                              std::string(model_.op_type(node)) + " is not imported");
            }
        }
    }

    [[nodiscard]] id function_around(id node) const {
        auto g = model_.graph_of(node);
        while (model_.graph(g).kind == graph_kind::body) {
            g = model_.graph_of(model_.graph(g).owner);
        }
        return model_.graph(g).kind == graph_kind::function ? model_.graph(g).function : no_id;
    }

    /// Returns: by function its imports.
    [[nodiscard]] std::vector<domains> read_function_imports() {
        std::vector<domains> result(model_.functions().size());
        std::size_t next = 0;
        auto fields = model_.reader();
        for (wire_field field; next < result.size() && fields.next(field);) {
            if (!field.is_bytes(onnx_fields::model::functions)) {
                continue;
            }
            auto parts = fields.inner(field);
            for (wire_field part; parts.next(part);) {
                if (part.is_bytes(at_function::opset_import)) {
                    std::string_view domain;
                    auto inner = parts.inner(part);
                    for (wire_field each; inner.next(each);) {
                        domain =
                            each.is_bytes(onnx_fields::opset::domain) ? inner.text(each) : domain;
                    }
                    take_import(domain, function_text(static_cast<id>(next)), result[next]);
                }
            }
            ++next;
        }
        return result;
    }

    [[nodiscard]] std::string function_text(id f) const {
        return "function '" + model_.graph_path(model_.functions()[f].graph).substr(1) + "'";
    }

    [[nodiscard]] std::string value_text(id value) const {
        auto text = "value '" + std::string(model_.value_name(value)) + "'";
        if (const auto graph = model_.graph_path(model_.graph_of_value(value)); !graph.empty()) {
            text.append(" of ").append(graph);
        }
        return text;
    }

    /// Returns: a key that `for_each(f)` passes to `f(key, value)` twice; "" if there is none.
    /// Complexity: O(entries log entries).
    template <class ForEach>
    [[nodiscard]] std::string_view repeated_key(ForEach for_each) {
        keys_.clear();
        for_each([&](std::string_view key, std::string_view) { keys_.push_back(key); });
        std::sort(keys_.begin(), keys_.end());
        const auto repeated = std::adjacent_find(keys_.begin(), keys_.end());
        return repeated == keys_.end() ? std::string_view{} : *repeated;
    }

    void check_metadata() {
        constexpr auto text = " more than once in its metadata, which ONNX checkers refuse";
        if (const auto key = repeated_key([&](auto f) { model_.for_each_model_metadata(f); });
            !key.empty()) {
            tell("metadata.repeated", "model", "has '" + std::string(key) + "'" + text);
        }
        for (id node = 0; node < model_.node_count(); ++node) {
            if (const auto key = repeated_key([&](auto f) { model_.for_each_metadata(node, f); });
                !key.empty()) {
                tell("metadata.repeated", place_of(model_, node),
                     "has '" + std::string(key) + "'" + text, severity::warning, node);
            }
        }
    }

    void check_definitions() {
        for (const auto& [value, all] : repeated_definitions(model_)) {
            tell("value.redefined", value_text(value),
                 "is defined more than once: by " + definers_text(model_, all), severity::error,
                 model_.producer(value));
        }
        check_undefined();
        if (model_.graph(0).outputs.empty()) {
            tell("graph.no_output", "model", "has no outputs", severity::warning);
        }
        check_shadowing();
    }

    /// What is read must be defined; names the first reader.
    void check_undefined() {
        std::vector<id> undefined;
        for (id value = 0; value < model_.value_count(); ++value) {
            if (model_.kind(value) == value_kind::undefined) {
                undefined.push_back(value);
            }
        }
        std::vector<id> readers(undefined.size(), no_id);
        for (id node = model_.node_count(); !undefined.empty() && node-- > 0;) {
            for (auto value : model_.inputs(node)) {
                const auto at = std::lower_bound(undefined.begin(), undefined.end(), value);
                if (at != undefined.end() && *at == value) {
                    readers[static_cast<std::size_t>(at - undefined.begin())] = node;
                }
            }
        }
        for (std::size_t i = 0; i < undefined.size(); ++i) {
            const auto reader = readers[i];
            tell("value.undefined", value_text(undefined[i]),
                 (reader == no_id ? std::string("is an output of its graph")
                                  : "is read by " + place_of(model_, reader)) +
                     ", but never produced",
                 severity::error, reader);
        }
    }

    /// A name in a body must not be one of an enclosing graph.
    void check_shadowing() {
        std::vector<bool> is_around(model_.graph_count(), false);
        bool any = false;
        for (id g = 1; g < model_.graph_count(); ++g) {
            if (model_.graph(g).kind == graph_kind::body) {
                is_around[model_.graph_of(model_.graph(g).owner)] = true;
                any = true;
            }
        }
        if (!any) {
            return;
        }
        std::unordered_set<std::pair<id, std::string_view>, graph_name_hash> names;
        const auto counts = [&](id value) {
            return model_.kind(value) != value_kind::undefined && !model_.value_name(value).empty();
        };
        for (id value = 0; value < model_.value_count(); ++value) {
            if (is_around[model_.graph_of_value(value)] && counts(value)) {
                names.emplace(model_.graph_of_value(value), model_.value_name(value));
            }
        }
        for (id value = 0; value < model_.value_count(); ++value) {
            auto g = model_.graph_of_value(value);
            while (counts(value) && model_.graph(g).kind == graph_kind::body) {
                g = model_.graph_of(model_.graph(g).owner);
                if (names.count({g, model_.value_name(value)}) > 0) {
                    tell("value.shadowed", value_text(value),
                         "has the name of a value in an enclosing graph", severity::error,
                         model_.producer(value));
                    break;
                }
            }
        }
    }

    void check_order() {
        for (id node = 0; node < model_.node_count(); ++node) {
            for (auto value : model_.inputs(node)) {
                const auto producer = value == no_id ? no_id : model_.producer(value);
                if (producer == no_id) {
                    continue;
                }
                const auto reader = enclosing_node(model_, model_.graph_of(producer), node);
                if (reader != no_id && model_.position(producer) >= model_.position(reader)) {
                    tell_node("node.unsorted", node,
                              "reads " + value_text(value) +
                                  (producer == reader ? ", which it produces itself"
                                                      : ", which a later node produces"));
                    break;
                }
            }
        }
    }

    /// Functions must have different names, or overloads, and must not be recursive.
    void check_functions() {
        const auto count = static_cast<id>(model_.functions().size());
        std::set<std::array<std::string_view, 3>> known;
        for (id f = 0; f < count; ++f) {
            const auto& function = model_.functions()[f];
            if (!known
                     .insert({model_.text(function.domain), model_.text(function.name),
                              model_.text(function.overload)})
                     .second) {
                tell("function.repeated", function_text(f), "is defined more than once");
            }
        }
        std::vector<std::pair<id, id>> calls; // caller, callee
        for (id node = 0; count > 0 && node < model_.node_count(); ++node) {
            if (const auto caller = function_around(node);
                caller != no_id && model_.callee(node) != no_id) {
                calls.emplace_back(caller, model_.callee(node));
            }
        }
        calls = range::each_once(std::move(calls));
        const auto component = strong_components<id>(
            count,
            [&](auto visit) {
                for (id f = 0; f < count; ++f) {
                    visit(f);
                }
            },
            std::identity(),
            [&](id f) {
                return std::pair(
                    std::lower_bound(calls.begin(), calls.end(), std::pair(f, id{0})),
                    std::lower_bound(calls.begin(), calls.end(), std::pair(f + 1, id{0})));
            },
            [](const auto& call) { return call.second; });
        const auto back = range::find_if(calls, [&](const auto& call) {
            return component[call.first] == component[call.second];
        });
        if (back != calls.end()) {
            tell("function.recursive", function_text(back->first), "is recursive");
        }
    }

    const wire_model& model_;
    Report& report_;
    std::vector<std::string_view> keys_; // of the metadata last looked at
};

/// Calls `report(finding)` for every violated structural rule of ONNX: definitions, order of nodes,
/// names in bodies, opset imports, functions and their calls. Works for any version.
///
/// Complexity: O((nodes + values) * depth of bodies) expected, and sorting the calls of functions.
template <class Report>
void check_structure(const wire_model& model, Report report) {
    structure_checker<Report>(model, report).check();
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CHECK_DETAIL_CHECK_STRUCTURE_HPP
