// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_INLINED_CALLS_HPP
#define STEMMA_ONNX_DETAIL_INLINED_CALLS_HPP

#include <stemma/core/detail/ascii.hpp>
#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/inlined_name.hpp>
#include <stemma/evidence/detail/scoped_name.hpp>
#include <stemma/onnx/onnx_model.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Restores the names that nodes had before they were folded into functions, after ONNX Runtime
/// inlined the calls.
///
/// It prefixes each name of a body with `_inlfunc_<function>_`, from the second call on followed by
/// `token_<number>_`: the call's own name is lost. But a result of the body keeps the name given by
/// the enclosing call, and a weight its own: where `_inlfunc_Out_token_4_/dense/Add` produces
/// `/layer.1/out/dense/Add_output_0` or reads `layer.1.out.dense.bias`, the call was
/// `/layer.1/out`. So calls are identified from those around and within them.
class inlined_calls {
public:
    /// Requires: the model outlives it. Complexity: O(nodes + bytes of their names), and
    /// O(such nodes * depth of calls) on average.
    explicit inlined_calls(const onnx_model& model) {
        std::vector<std::pair<id, inlined_name>> nodes;
        for (id node = 0; node < model.node_count(); ++node) {
            if (const auto name = find_name(model, node)) {
                nodes.emplace_back(node, *name);
                ++calls_[name->call].nodes;
                find_witnesses(model, node, *name);
            }
        }
        for (id node = 0; !nodes.empty() && node < model.node_count(); ++node) {
            if (!find_name(model, node)) {
                find_fused_witnesses(model, node);
            }
        }
        for (const auto& [call, facts] : calls_) {
            functions_[function_of(call)] += facts.nodes > 0 ? 1U : 0U;
        }
        find_scopes();
        for (const auto& [node, name] : nodes) {
            const auto& facts = calls_.at(name.call);
            if (facts.scope) {
                names_.emplace(node, *facts.scope + name_in(facts, name.rest));
            } else if (functions_[function_of(name.call)] > 1) {
                names_.emplace(node, std::string()); // relative to an unknown scope
            }
        }
    }

    /// Returns: the previous name of an inlined node; "" if it may be from any of several calls;
    /// nothing for other nodes. Valid as long as this. Complexity: O(1) on average.
    [[nodiscard]] std::optional<std::string_view> name(id node) const {
        const auto entry = names_.find(node);
        return entry == names_.end() ? std::nullopt
                                     : std::optional<std::string_view>(entry->second);
    }

private:
    /// `_inlfunc_Out_token_4_/dense/Add`: a call, and a name in the body.
    struct inlined_name {
        std::string_view call; ///< up to the last `_`
        std::string_view rest; ///< with a leading slash
    };

    /// The scope of the names in a call's body.
    struct call_facts {
        std::size_t nodes = 0;
        std::optional<std::string> scope{}; // prefix of names in the body
        // A called list repeats its name in its members: in the body, that of the first call.
        std::string_view stem{};
        std::string own_stem{};
    };

    static constexpr std::size_t max_rounds = 500; // maximum nesting of calls

    /// The scope of a call extends that of the enclosing call (of the model: "").
    struct witness {
        std::string_view call;
        std::string_view around;
        std::string more;
    };

    [[nodiscard]] static std::optional<inlined_name> split(std::string_view name) {
        name = detail::without_fused(name);
        const auto end = name.starts_with(inlined_prefix) ? name.find("_/") : name.npos;
        return end == name.npos
                   ? std::nullopt
                   : std::optional(inlined_name{name.substr(0, end), name.substr(end + 1)});
    }

    /// Returns: the call without the number that distinguishes calls of one function.
    [[nodiscard]] static std::string_view function_of(std::string_view call) {
        const auto token = call.rfind("_token_");
        const bool numbered = token != call.npos && is_number(call.substr(token + 7));
        return numbered ? call.substr(0, token) : call;
    }

    /// Returns: the scope of a name, without a trailing slash.
    [[nodiscard]] static std::string_view scope_in(std::string_view name) {
        while (name.ends_with("/")) {
            name.remove_suffix(1);
        }
        const auto slash = name.rfind('/');
        return slash == name.npos ? std::string_view() : name.substr(0, slash);
    }

    [[nodiscard]] static std::optional<inlined_name> find_name(const onnx_model& model, id node) {
        if (auto name = split(model.name(node))) {
            return name;
        }
        if (model.output_count(node) == 0) {
            return std::nullopt;
        }
        auto name = split(model.value_name(model.first_output(node)));
        const auto output = name ? name->rest.rfind("_output_") : std::string_view::npos;
        if (output == std::string_view::npos) {
            return std::nullopt;
        }
        name->rest = name->rest.substr(0, output);
        return name;
    }

    void find_witnesses(const onnx_model& model, id node, const inlined_name& name) {
        const auto inside = scope_in(name.rest);
        for (id i = 0; i < model.output_count(node); ++i) {
            const auto result = model.value_name(model.first_output(node) + i);
            const auto around = split(result);
            const auto whole = around ? around->rest : result;
            if ((!around || around->call != name.call) && is_result_name(whole)) {
                compare(name.call, inside, around ? around->call : std::string_view(),
                        scope_in(whole));
            }
        }
        compare_parameters(model, node, name.call, inside);
    }

    /// A node that lost its name when it was fused, but reads what only its call knows, reads its
    /// parameters there.
    void find_fused_witnesses(const onnx_model& model, id node) {
        for (auto value : model.inputs(node)) {
            if (value != no_id && !model.is_initializer(value)) {
                if (const auto name = split(model.value_name(value))) {
                    compare_parameters(model, node, name->call, scope_in(name->rest));
                }
            }
        }
    }

    void compare_parameters(const onnx_model& model, id node, std::string_view call,
                            std::string_view inside) {
        for (auto value : model.inputs(node)) {
            if (value != no_id && model.is_initializer(value)) {
                if (const auto owner = as_scope(model.value_name(value)); !owner.empty()) {
                    compare(call, inside, {}, owner);
                }
            }
        }
    }

    /// Records the scope of a call whose body has scope `inside` for what is `whole` outside.
    void compare(std::string_view call, std::string_view inside, std::string_view around,
                 std::string_view whole) {
        if (whole.ends_with(inside)) {
            witnesses_.push_back(
                {call, around, std::string(whole.substr(0, whole.size() - inside.size()))});
            return;
        }
        const auto dot = inside.find('.');
        const auto tail = dot == inside.npos ? std::string_view() : inside.substr(dot);
        if (tail.empty() || !whole.ends_with(tail) || inside.find('/', 1) < dot) {
            return;
        }
        const auto before = whole.substr(0, whole.size() - tail.size()); // `/down/conv/conv`
        const auto more = scope_in(before);
        const auto stem = before.substr(more.size());
        if (more.ends_with(stem)) {
            auto& facts = calls_[call];
            facts.stem = inside.substr(0, dot);
            facts.own_stem = stem;
            witnesses_.push_back({call, around, std::string(more)});
        }
    }

    [[nodiscard]] static std::string name_in(const call_facts& facts, std::string_view rest) {
        const bool changes = !facts.stem.empty() && rest.starts_with(facts.stem) &&
                             rest.substr(facts.stem.size()).starts_with(".");
        return changes ? facts.own_stem + std::string(rest.substr(facts.stem.size()))
                       : std::string(rest);
    }

    /// Propagates scopes from known calls to those within and around them; among contradictory
    /// ones, the majority counts.
    void find_scopes() {
        for (std::size_t round = 0; round < max_rounds; ++round) {
            std::map<std::string_view, std::map<std::string, std::size_t>> said;
            for (const auto& [call, around, more] : witnesses_) {
                const auto& inner = calls_[call].scope;
                const auto& outer = around.empty() ? top_ : calls_[around].scope;
                if (!inner && outer) {
                    ++said[call][*outer + more];
                } else if (inner && !outer && inner->ends_with(more)) {
                    ++said[around][inner->substr(0, inner->size() - more.size())];
                }
            }
            if (said.empty()) {
                return;
            }
            for (const auto& [call, scopes] : said) {
                calls_[call].scope = std::max_element(scopes.begin(), scopes.end(),
                                                      [](const auto& a, const auto& b) {
                                                          return a.second < b.second;
                                                      })
                                         ->first;
            }
        }
    }

    /// Returns: the scope of a parameter's owner, with list members named as by torch's exporter;
    /// "" if the name reveals none.
    [[nodiscard]] static std::string as_scope(std::string_view parameter) {
        std::string scope;
        if (parameter.find_first_of("/:") != parameter.npos) {
            return scope;
        }
        for (std::size_t begin = 0, dot = parameter.find('.'); dot != parameter.npos;
             begin = dot + 1, dot = parameter.find('.', begin)) {
            const auto part = parameter.substr(begin, dot - begin);
            const bool member = !scope.empty() && is_number(part);
            scope.append(member ? "." : "/").append(part);
        }
        return scope;
    }

    std::unordered_map<std::string_view, call_facts> calls_;
    std::unordered_map<std::string_view, std::size_t>
        functions_; // number of remaining calls of each
    std::vector<witness> witnesses_;
    std::unordered_map<id, std::string> names_;
    const std::optional<std::string> top_ = std::string();
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_INLINED_CALLS_HPP
