// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_INLINED_PATHS_HPP
#define STEMMA_ONNX_DETAIL_INLINED_PATHS_HPP

#include <stemma/core/detail/ascii.hpp>
#include <stemma/core/detail/dotted_path.hpp>
#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/inlined_name.hpp>
#include <stemma/evidence/detail/printed_scope.hpp>
#include <stemma/evidence/detail/scope_table.hpp>

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
            const auto function = function_of(name);
            const auto number = static_cast<id>(functions_.size());
            const auto known = function_numbers_.try_emplace(function, number);
            if (known.second) {
                functions_.push_back({module_of(function)});
            }
            calls_.push_back({known.first->second});
        }
        return entry->second;
    }

    /// Notes a node with this scope in the body of a call.
    void add_node(id call, std::string_view scope) {
        auto& facts = calls_[call];
        functions_[facts.function].calls += facts.has_nodes ? 0U : 1U;
        facts.has_nodes = true;
        facts.top = scope.empty() ? scope : facts.top.empty() ? scope : facts.top;
        facts.may_be_whole = facts.may_be_whole && !scope.empty();
    }

    /// Notes that scope `inside` in the body of a call is `whole` around it: in the body of another
    /// call or, for `no_id`, in the model. Unless `surely` it may be what follows the call.
    void add_result(id call, std::string_view inside, id around, std::string_view whole,
                    bool surely) {
        if (auto more = outer_scope(calls_[call].function, inside, whole)) {
            const bool named = is_named(calls_[call].function, *more);
            if (surely || !inside.empty() || named) {
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
        for (const auto& fact : readings_) {
            note_members(fact);
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
        return facts.path ? std::optional(below(facts.function, *facts.path, scope)) : std::nullopt;
    }

    /// Whether several calls of the function of a call have nodes.
    [[nodiscard]] bool is_repeated(id call) const {
        return functions_[calls_[call].function].calls > 1;
    }

    /// Notes the lists that a scope in the body of a call shows to be called. Requires: resolved.
    void note_lists(id call, std::string_view scope, called_lists& lists) const {
        const auto& facts = calls_[call];
        const auto list = functions_[facts.function].list;
        const bool is_own = !list.empty() && detail::list_in(scope) == list;
        if (facts.path) {
            is_own ? lists.insert(*facts.path) : lists.note(*facts.path, scope);
        }
    }

private:
    struct function_facts {
        std::string_view module{}; // perhaps the name of its modules
        std::size_t calls = 0;     // with nodes
        // A called list repeats its name in its members: in the body, that of the first call.
        std::string_view list{};
    };

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

    /// Returns: the call without the number that tells calls of one function apart.
    [[nodiscard]] static std::string_view function_of(std::string_view call) {
        const auto token = call.rfind("_token_");
        const bool numbered = token != call.npos && is_number(call.substr(token + 7));
        return numbered ? call.substr(0, token) : call;
    }

    /// Returns: what a function is called, without the number that makes it unique.
    [[nodiscard]] static std::string_view module_of(std::string_view function) {
        function.remove_prefix(function.starts_with(inlined_prefix) ? inlined_prefix.size() : 0);
        const auto dot = function.rfind('.');
        return dot != function.npos && is_number(function.substr(dot + 1)) ? function.substr(0, dot)
                                                                           : function;
    }

    /// Whether a function has the name of the module with this path or scope.
    [[nodiscard]] bool is_named(id function, std::string_view path) const {
        const auto level = detail::printed_level(path.substr(path.rfind('/') + 1));
        const auto name = functions_[function].module;
        return begins_with(level, name) &&
               (level.size() == name.size() ||
                (level[name.size()] == '.' && is_numbers(level.substr(name.size() + 1))));
    }

    [[nodiscard]] static bool ends_in_level(std::string_view text, std::string_view end,
                                            char separator) {
        return text.ends_with(end) && (text.size() == end.size() || end.empty() ||
                                       text[text.size() - end.size() - 1] == separator);
    }

    /// Returns: a text without its end, and without a separator before that.
    [[nodiscard]] static std::string_view before(std::string_view text, std::size_t end) {
        const auto size = text.size() - end;
        return text.substr(0, end > 0 && size > 0 ? size - 1 : size);
    }

    /// Returns: the scope around a call for which `inside` is `whole`, if it may be: levels of
    /// later calls of one module are numbered, and a function may be named after another list.
    [[nodiscard]] std::optional<std::string_view> outer_scope(id function, std::string_view inside,
                                                              std::string_view whole) {
        const auto list = detail::list_in(inside);
        if (ends_in_level(whole, inside, '/')) {
            const auto more = before(whole, inside.size());
            if (!list.empty() && ends_in_level(more, list, '/')) {
                functions_[function].list = list;
            }
            return more;
        }
        auto rest = inside;
        auto more = whole;
        for (bool open = true; open;) { // from the last level to the first
            const auto level = rest.substr(rest.rfind('/') + 1);
            const auto other = more.substr(more.rfind('/') + 1);
            open = level.size() < rest.size();
            if (uncounted(level) != uncounted(other)) {
                const auto number = level.substr(std::min(list.size(), level.size()));
                if (open || list.empty() || !other.ends_with(number)) {
                    return std::nullopt;
                }
                const auto own = other.substr(0, other.size() - number.size());
                more = detail::around_level(more);
                if (!ends_in_level(more, own, '/')) {
                    return std::nullopt;
                }
                functions_[function].list = list;
                return more;
            }
            rest = detail::around_level(rest);
            more = detail::around_level(more);
        }
        return more;
    }

    [[nodiscard]] static std::string_view uncounted(std::string_view level) {
        const auto counted = detail::split_count(level);
        return counted ? counted->first : level;
    }

    /// Returns: the path of a scope below that of the call around it.
    [[nodiscard]] std::string below(id function, std::string path, std::string_view scope) const {
        const auto list = functions_[function].list;
        if (!path.empty() && !list.empty() &&
            detail::list_in(scope) == list) { // whatever it is called
            const auto level = scope.substr(0, scope.find('/'));
            path.append(".").append(level.substr(list.size() + 1));
            scope.remove_prefix(level.size());
        }
        detail::append_scope(path, scope);
        return path;
    }

    /// Returns: the path of a call in whose body `inside` is `whole`; nothing if it cannot be.
    [[nodiscard]] std::optional<std::string> above(id function, std::string_view inside,
                                                   std::string_view whole) const {
        const auto list = functions_[function].list;
        const bool repeats = !list.empty() && detail::list_in(inside) == list;
        const auto end = below(function, {}, inside).substr(repeats ? list.size() + 1 : 0);
        if (!ends_in_level(whole, end, '.')) {
            return std::nullopt;
        }
        std::string path(before(whole, end.size()));
        return below(function, path, inside) == whole ? std::optional(path) : std::nullopt;
    }

    /// A function named after a list, or in which what it reads belongs to members of another list,
    /// is that list.
    void note_members(const reading& fact) {
        auto& facts = functions_[calls_[fact.call].function];
        const auto list = detail::list_in(fact.inside);
        if (list.empty() || !facts.list.empty()) {
            return;
        }
        std::string end;
        detail::append_scope(end, fact.inside);
        const auto members = std::string_view(end).substr(list.size() + 1);
        const bool is_other = !ends_in_level(fact.owner, end, '.') &&
                              ends_in_level(fact.owner, members, '.') && fact.surely;
        if (facts.module == list || is_other) {
            facts.list = list;
        }
    }

    /// Takes the path of each call that was said most often; of those, one that its function is
    /// named after, and the shortest. Returns: whether there is any.
    bool settle(const std::unordered_map<id, votes>& said) {
        bool any = false;
        for (const auto& [call, paths] : said) {
            const auto rank = [&, function = calls_[call].function](const auto& path) {
                return std::tuple(path.second, is_named(function, path.first), ~path.first.size());
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
                ++said[call][around == no_id ? below_top(more)
                                             : below(calls_[around].function, *outer, more)];
            } else if (inner && !outer) {
                if (const auto path = above(calls_[around].function, more, *inner)) {
                    ++said[around][*path];
                }
            }
        }
        return settle(said);
    }

    [[nodiscard]] static std::string below_top(std::string_view scope) {
        std::string path;
        detail::append_scope(path, scope);
        return path;
    }

    /// Finds calls from the parameters that they read: at first those with the function's name.
    bool follow_readings(bool named) {
        std::unordered_map<id, votes> said;
        for (const auto& [call, inside, owner, surely] : readings_) {
            if (calls_[call].path) {
                continue;
            }
            const auto function = calls_[call].function;
            auto path = above(function, inside, owner);
            const auto plain = path ? std::string() : without_counts(inside);
            path = path || plain == inside ? path : above(function, plain, owner);
            if (!path) {
                continue;
            }
            // A module may read parameters of one that it does not call.
            if (const auto around = named_around(function, *path); !around.empty()) {
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
                const auto path = named_around(calls_[around].function, *calls_[call].path);
                if (!path.empty()) {
                    ++said[around][std::string(path)];
                }
            }
        }
        return settle(said);
    }

    /// Returns: the path of the nearest module at or around a path that a function is named after;
    /// "" if there is none.
    [[nodiscard]] std::string_view named_around(id function, std::string_view path) const {
        while (!path.empty() && !is_named(function, path)) {
            path = detail::path_around(path);
        }
        return path;
    }

    [[nodiscard]] static std::string without_counts(std::string_view scope) {
        std::string plain;
        detail::for_each_level(scope, [&](std::string_view level) {
            plain.append(plain.empty() ? "" : "/").append(uncounted(level));
        });
        return plain;
    }

    /// A function that is called once keeps whole names.
    bool take_whole() {
        bool any = false;
        for (auto& facts : calls_) {
            const bool whole = !facts.path && facts.has_nodes && facts.may_be_whole &&
                               functions_[facts.function].calls == 1 &&
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
    std::vector<function_facts> functions_;
    std::vector<result> results_;
    std::vector<reading> readings_;
    std::vector<std::pair<id, id>> values_;     // a call, and one whose value it reads
    std::unordered_set<std::string_view> tops_; // first names of paths
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_INLINED_PATHS_HPP
