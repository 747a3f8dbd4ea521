// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_INLINED_PATHS_HPP
#define STEMMA_ONNX_DETAIL_INLINED_PATHS_HPP

#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/printed_scope.hpp>
#include <stemma/onnx/detail/inlined_function.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Finds the path of the module of each inlined call: scopes in a function's body are relative to
/// it, while the results of a call have a scope in the body around it, or in the model, and what it
/// reads may be a parameter of its own. The function may have the module's name.
///
/// Scopes have no slashes around them; texts outlive it.
class inlined_paths {
public:
    static constexpr std::size_t max_length = 4096; ///< of a path

    /// Adds a call, `_inlfunc_Out_token_4`. Returns: its number, the same for equal names.
    id add(std::string_view name) {
        const auto [entry, added] = numbers_.try_emplace(name, static_cast<id>(calls_.size()));
        if (added) {
            const auto function = inlined_function::name_of(name);
            const auto number = static_cast<id>(functions_.size());
            const auto known = function_numbers_.try_emplace(function, number);
            if (known.second) {
                functions_.emplace_back(function);
            }
            calls_.push_back({known.first->second});
        }
        return entry->second;
    }

    /// Notes a node with this scope in the body of a call.
    void add_node(id call, std::string_view scope) {
        auto& facts = calls_[call];
        if (!std::exchange(facts.has_nodes, true)) {
            functions_[facts.function].count_call();
        }
        facts.top = scope.empty() ? scope : facts.top.empty() ? scope : facts.top;
        facts.may_be_whole = facts.may_be_whole && !scope.empty();
    }

    /// Notes that scope `inside` in the body of a call is `whole` around it: in the body of another
    /// call or, for `no_id`, in the model. Unless `surely` it may be what follows the call.
    void add_result(id call, std::string_view inside, id around, std::string_view whole,
                    bool surely) {
        auto& function = functions_[calls_[call].function];
        if (const auto more = function.outer_scope(inside, whole)) {
            if (surely || !inside.empty() || function.is_named(*more)) {
                results_.push_back({call, around, *more});
            }
        }
    }

    /// Notes that a node with scope `inside` in the body of a call reads a parameter of a module.
    /// Unless `surely` it is not known whether the node has that scope.
    void add_parameter(id call, std::string_view inside, std::string_view owner, bool surely) {
        add_top(owner);
        if (owner.size() <= max_length) {
            readings_.push_back({call, inside, owner, surely});
        }
    }

    /// Notes a scope or path in the model.
    void add_top(std::string_view scope) {
        tops_.insert(scope.substr(0, scope.find_first_of("/.")));
    }

    /// Notes that a node in the body of one call reads a value of another: mostly one around it.
    void add_value(id call, id around) {
        const std::pair read(call, around);
        if (call != around && (values_.empty() || values_.back() != read)) {
            values_.push_back(read);
        }
    }

    /// Complexity: O(facts * depth of calls * length) on average.
    void resolve() {
        for (const auto& [call, inside, owner, surely] : readings_) {
            functions_[calls_[call].function].note_reading(inside, owner, surely);
        }
        for (std::size_t round = 0; round < max_rounds; ++round) {
            const bool more = follow_results() || follow_readings(true) || follow_readings(false) ||
                              follow_values() || take_whole();
            if (!more) {
                return;
            }
        }
    }

    /// Returns: the path of the module with a scope in the body of a call; nothing if unknown.
    [[nodiscard]] std::optional<std::string> path(id call, std::string_view scope) const {
        const auto& facts = calls_[call];
        return facts.path ? std::optional(functions_[facts.function].below(*facts.path, scope))
                          : std::nullopt;
    }

    /// Whether several calls of the function of a call have nodes.
    [[nodiscard]] bool is_repeated(id call) const {
        return functions_[calls_[call].function].calls() > 1;
    }

    /// Notes the lists that a scope in the body of a call shows to be called. Requires: resolved.
    void note_lists(id call, std::string_view scope, called_lists& lists) const {
        const auto& facts = calls_[call];
        const auto list = functions_[facts.function].list();
        const bool is_own = !list.empty() && list_in(scope) == list;
        if (facts.path) {
            is_own ? lists.insert(*facts.path) : lists.note(*facts.path, scope);
        }
    }

private:
    struct call_facts {
        id function = no_id;
        bool has_nodes = false;
        bool may_be_whole = true;
        std::string_view top{}; // the scope of one of its nodes
        std::optional<std::string> path{};
    };

    /// The path of a call is scope `more` in that of the call around (of the model: "").
    struct result {
        id call = no_id;
        id around = no_id;
        std::string_view more;
    };

    struct reading {
        id call = no_id;
        std::string_view inside;
        std::string_view owner;
        bool surely = true;
    };

    using votes = std::map<std::string, std::size_t>;

    static constexpr std::size_t max_rounds = 500; // maximum nesting of calls

    /// Takes the path of each call that was said most often; of those, one that its function is
    /// named after, and the shortest. Returns: whether there is any.
    bool settle(const std::unordered_map<id, votes>& said) {
        bool any = false;
        for (const auto& [call, paths] : said) {
            const auto rank = [&function = functions_[calls_[call].function]](const auto& path) {
                return std::tuple(path.second, function.is_named(path.first), ~path.first.size());
            };
            const auto best =
                std::max_element(paths.begin(), paths.end(),
                                 [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
            if (best->first.size() <= max_length) {
                calls_[call].path = best->first;
                any = true;
            }
        }
        return any;
    }

    /// Finds calls from known ones within and around them; the majority counts.
    bool follow_results() {
        std::unordered_map<id, votes> said;
        for (const auto& [call, around, more] : results_) {
            const auto& inner = calls_[call].path;
            const auto outer =
                around == no_id ? std::optional<std::string>(std::in_place) : calls_[around].path;
            if (!inner && outer) {
                ++said[call][around == no_id
                                 ? below_top(more)
                                 : functions_[calls_[around].function].below(*outer, more)];
            } else if (inner && !outer) {
                if (const auto path = functions_[calls_[around].function].above(more, *inner)) {
                    ++said[around][*path];
                }
            }
        }
        return settle(said);
    }

    [[nodiscard]] static std::string below_top(std::string_view scope) {
        std::string path;
        append_scope(path, scope);
        return path;
    }

    /// Finds calls from the parameters that they read: at first those with the function's name.
    bool follow_readings(bool named) {
        std::unordered_map<id, votes> said;
        for (const auto& [call, inside, owner, surely] : readings_) {
            if (calls_[call].path) {
                continue;
            }
            const auto& function = functions_[calls_[call].function];
            auto path = function.above(inside, owner);
            const auto plain = path ? std::string() : inlined_function::without_counts(inside);
            path = path || plain == inside ? path : function.above(plain, owner);
            if (!path) {
                continue;
            }
            // A module may read parameters of one that it does not call.
            if (const auto around = function.named_around(*path); !around.empty()) {
                ++said[call][std::string(around)];
            } else if (!named && (surely || !inside.empty())) {
                ++said[call][*path];
            }
        }
        return settle(said);
    }

    /// Finds calls by their function's name around those that read their values.
    bool follow_values() {
        std::unordered_map<id, votes> said;
        for (const auto& [call, around] : values_) {
            if (calls_[call].path && !calls_[around].path) {
                const auto path =
                    functions_[calls_[around].function].named_around(*calls_[call].path);
                if (!path.empty()) {
                    ++said[around][std::string(path)];
                }
            }
        }
        return settle(said);
    }

    /// A function that is called once keeps whole names.
    bool take_whole() {
        bool any = false;
        for (auto& facts : calls_) {
            const bool whole = !facts.path && facts.has_nodes && facts.may_be_whole &&
                               functions_[facts.function].calls() == 1 &&
                               tops_.contains(facts.top.substr(0, facts.top.find_first_of("/.")));
            if (whole) {
                facts.path = "";
                any = true;
            }
        }
        return any;
    }

    std::unordered_map<std::string_view, id> numbers_;          // of calls
    std::unordered_map<std::string_view, id> function_numbers_; // the same
    std::vector<call_facts> calls_;
    std::vector<inlined_function> functions_;
    std::vector<result> results_;
    std::vector<reading> readings_;
    std::vector<std::pair<id, id>> values_;     // a call, and one whose value it reads
    std::unordered_set<std::string_view> tops_; // first names of paths
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_INLINED_PATHS_HPP
