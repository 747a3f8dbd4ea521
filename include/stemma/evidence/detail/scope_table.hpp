// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_SCOPE_TABLE_HPP
#define STEMMA_EVIDENCE_DETAIL_SCOPE_TABLE_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/detail/dotted_path.hpp>
#include <stemma/core/detail/flat_index.hpp>
#include <stemma/core/detail/grouped_ids.hpp>
#include <stemma/core/detail/hash.hpp>
#include <stemma/core/detail/path_trail.hpp>
#include <stemma/core/detail/prefetch.hpp>
#include <stemma/core/detail/vertex_ranges.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/parallel.hpp>
#include <stemma/evidence/detail/find_scope.hpp>
#include <stemma/evidence/detail/scoped_name.hpp>
#include <stemma/io/json_text.hpp>
#include <stemma/model/finding.hpp>
#include <stemma/model/operator_view.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Splits `fc_12` into `fc` and 12; nothing for a name without such a suffix.
[[nodiscard]] inline std::optional<std::pair<std::string_view, std::size_t>>
split_count(std::string_view segment) {
    const auto bar = segment.rfind('_');
    if (bar == segment.npos || bar == 0 || bar + 1 == segment.size() || segment.size() - bar > 10) {
        return std::nullopt;
    }
    std::size_t count = 0;
    for (char c : segment.substr(bar + 1)) {
        if (c < '0' || c > '9') {
            return std::nullopt;
        }
        count = count * 10 + static_cast<std::size_t>(c - '0');
    }
    return std::pair{segment.substr(0, bar), count};
}

/// The distinct scopes in the names of operators: a tree whose edges are segments of names.
///
/// The first scopes are the roots, one for each style. A scope comes after its parent, and
/// otherwise in the order in which operators are first found in or below it.
struct scope_table {
    /// One scope: its name in the enclosing scope.
    struct scope {
        std::string_view segment;  ///< a view of some operator's name
        std::uint64_t hash = 0;    ///< of the segment
        std::uint64_t kinds = 0;   ///< equal if its own operators have equal types, as a multiset,
                                   ///< ignoring constants
        id parent = no_id;         ///< number of the enclosing scope; `no_id` for the roots
        id first_operator = no_id; ///< vertex index of its first own operator
        id operators = 0;          ///< number of its own operators
        scope_style style = scope_style::called; ///< that of its root
        bool numbered = false; ///< the instance ends in `_` and a number, as in `split_count`
        bool indexed = false;  ///< the instance ends in `.` and a number, like a member of a list

        /// Returns: the name of the instance: the segment without its class prefix.
        [[nodiscard]] std::string_view instance() const noexcept {
            const auto colons = style == scope_style::typed ? segment.rfind("::") : segment.npos;
            return colons == segment.npos ? segment : segment.substr(colons + 2);
        }
        /// Returns: what `split_count` makes of the instance. Complexity: O(length) if it has a
        /// number, else O(1), without touching the name.
        [[nodiscard]] std::optional<std::pair<std::string_view, std::size_t>> counted() const {
            return numbered ? split_count(instance()) : std::nullopt;
        }
        /// Returns: the name of the instance without the number at its end, which is none of a
        /// further call or of a member of a list: `norm` for `norm1`; "" for others. Complexity:
        /// O(length).
        [[nodiscard]] std::string_view stem() const noexcept {
            const auto name = instance();
            const auto stem = name.substr(0, name.find_last_not_of("0123456789") + 1);
            const bool fits = stem.size() < name.size() && !stem.ends_with('_');
            return fits && !stem.ends_with('.') ? stem : std::string_view{};
        }

        /// Returns: the class prefix of the name, possibly "".
        [[nodiscard]] std::string_view qualified_class() const noexcept {
            const auto colons = style == scope_style::typed ? segment.rfind("::") : segment.npos;
            return colons == segment.npos ? std::string_view{} : segment.substr(0, colons);
        }
    };

    std::vector<scope> scopes; ///< the roots, then every scope after its parent
    std::vector<id> scope_of;  ///< by vertex index; `no_id` for a name without a scope
    std::vector<id> leftover;  ///< operators with the scope of one they replaced, ascending
    std::vector<id> within;    ///< those of them with the scope of a function around, ascending
    std::vector<std::pair<id, id>> ends; ///< operators fused with others, and the scopes of the
                                         ///< last of these, and of sums; ascending
    std::vector<finding> problems;       ///< unreadable names (up to a limit)

    /// Returns: the number of a scope, or `no_id`. Complexity: O(length) on average.
    [[nodiscard]] id find(id parent, std::string_view segment) const {
        return index_.find(hash_mix(hash_bytes(segment), parent), [&](id s) {
            return scopes[s].parent == parent && scopes[s].segment == segment;
        });
    }

    /// Returns: the number of a scope, added if missing. Requires: `segment` outlives the table.
    id find_or_add(id parent, std::string_view segment) {
        return find_or_add(parent, segment, hash_bytes(segment));
    }

    /// As above, with the segment's hash already known from another table.
    id find_or_add(id parent, std::string_view segment, std::uint64_t hash) {
        const auto next = static_cast<id>(scopes.size());
        const auto existing = index_.insert(hash_mix(hash, parent), next, [&](id s) {
            return scopes[s].parent == parent && scopes[s].segment == segment;
        });
        if (existing == next) {
            auto& added = scopes.emplace_back();
            added.segment = segment;
            added.hash = hash;
            added.parent = parent;
            added.style = scopes[parent].style;
            const auto name = added.instance();
            added.numbered = split_count(name).has_value();
            added.indexed =
                name.find('.') != name.npos && is_number(name.substr(name.rfind('.') + 1));
        }
        return existing;
    }

    /// Prefetches what `find_or_add` will need.
    void prefetch(id parent, std::uint64_t hash) const noexcept {
        index_.prefetch(hash_mix(hash, parent));
    }

private:
    flat_index index_;
};

/// Returns: the scope beside scope `s` that has its name without the number, `fc` for `fc_1`;
/// `no_id` if there is none. Complexity: O(length) on average.
[[nodiscard]] inline id unnumbered_scope(const scope_table& table, id s) {
    const auto& scope = table.scopes[s];
    const auto counted = scope.counted();
    return counted ? table.find(scope.parent, counted->first) : no_id;
}

/// Returns: why a scope is invalid, or null. No model has that many levels or such long names,
/// which would cost their square, and no module has an empty name.
[[nodiscard]] inline const char* find_scope_problem(const scoped_name& name) noexcept {
    constexpr std::size_t max_bytes = std::size_t{1} << 18U;
    constexpr std::ptrdiff_t max_levels = 1024;
    const auto text = name.scope;
    if (text.size() > max_bytes) {
        return "the scope in the name is too long";
    }
    if (!is_utf8(text)) {
        return "the scope in the name is not valid UTF-8";
    }
    if (text.size() > max_levels && std::count(text.begin(), text.end(), '/') >= max_levels) {
        return "the scope in the name has too many levels";
    }
    std::uint64_t adjacent = 0; // `..`, `./`, `/.`
    for_each_word_pair(text, [&](std::uint64_t word, std::uint64_t next) {
        const auto dot = bytes_equal(word, '.');
        const auto next_dot = bytes_equal(next, '.');
        adjacent |= ((dot | bytes_equal(word, '/')) & next_dot) | (dot & bytes_equal(next, '/'));
    });
    if (adjacent != 0 || text.starts_with('.') || text.ends_with('.')) {
        return "the scope in the name has an empty level";
    }
    if (name.style == scope_style::typed) {
        // A `/` in a class is indistinguishable from one between levels.
        for (std::size_t begin = 0; begin < text.size();) {
            const auto end = std::min(text.find('/', begin), text.size());
            if (text.substr(begin, end - begin).find("::") == text.npos) {
                return "the scope in the name has a level without a class";
            }
            begin = end + 1;
        }
    }
    return nullptr;
}

inline constexpr std::size_t max_scope_problems = 1000;

/// Returns: a table with just the roots.
[[nodiscard]] inline scope_table make_scope_table() {
    scope_table table;
    table.scopes.resize(scope_style_count);
    for (id root = 0; root < scope_style_count; ++root) {
        table.scopes[root].style = static_cast<scope_style>(root);
    }
    return table;
}

/// Cached facts about operator types. Operators of a type mostly share its text, which is then
/// examined just once, unless another one evicts it from a small table.
class type_facts {
public:
    struct fact {
        std::string_view type;
        std::uint64_t hash = 0;
        bool may_be_counted = false; ///< may be in the last part of a name
    };

    /// Valid until the next call. Requires: type texts do not change.
    [[nodiscard]] const fact& of(std::string_view type) {
        const auto place = std::hash<const void*>{}(type.data());
        auto& slot = facts_[(place ^ place >> 6U) % facts_.size()];
        if (slot.type.data() != type.data() || slot.type.size() != type.size()) {
            slot = look_at(type);
        }
        return slot;
    }

private:
    [[nodiscard]] static fact look_at(std::string_view type) {
        // The number of constants depends on what else an exporter has already written.
        return {type, type == "Constant" ? 0 : hash_bytes(type),
                !type.empty() && type.find('/') == type.npos};
    }

    std::array<fact, 64> facts_ = [] {
        std::array<fact, 64> result;
        result.fill(look_at({}));
        return result;
    }();
};

/// Whether an operator is in the same scope as an earlier one whose name begins with `around`: true
/// for most, and cheaper to test than parsing their names.
template <named_operators Ops>
[[nodiscard]] bool is_beside(const Ops& ops, operator_t<Ops> v, std::string_view around,
                             const type_facts::fact& kind) {
    if constexpr (folded_operators<Ops>) {
        if (ops.is_folded(v)) {
            return false;
        }
    }
    const std::string_view name = ops.name(v);
    return !around.empty() && kind.may_be_counted && name.size() > around.size() &&
           std::memcmp(name.data(), around.data(), around.size()) == 0 &&
           is_counted(name.substr(around.size()), kind.type) && is_own_result(ops, v, name);
}

/// Adds the scopes of some operators to a table, and records them in `scope_of`.
template <named_operators Ops, class Iterator>
void collect_scopes(const Ops& ops, Iterator it, Iterator last, std::vector<id>& scope_of,
                    scope_table& table) {
    const auto& graph = ops.graph();
    path_trail trail('/');
    type_facts types;
    std::string_view around; // the last scoped name, without its last part
    id before = no_id;       // that scope
    const auto count = [&](id v, id in, std::uint64_t kind) {
        auto& scope = table.scopes[in];
        scope_of[v] = in;
        scope.first_operator = scope.operators == 0 ? v : scope.first_operator;
        ++scope.operators;
        scope.kinds += kind;
    };
    for (; it != last; ++it) {
        if constexpr (requires { it[0], last - it; }) { // names are far apart in the file
            constexpr auto ahead = 16;
            if (last - it > ahead) {
                prefetch(std::string_view(ops.name(it[ahead])).data());
            }
        }
        const auto v = static_cast<id>(index_of(graph, *it));
        const auto& kind = types.of(ops.op_type(*it));
        if (is_beside(ops, *it, around, kind)) {
            count(v, before, kind.hash);
            continue;
        }
        const auto [scoped, end, sum] = find_scope(ops, *it);
        if (!scoped) {
            continue;
        }
        const char* problem = find_scope_problem(*scoped);
        for (const auto& other : {end, sum}) {
            problem = problem == nullptr && other ? find_scope_problem(*other) : problem;
        }
        if (problem != nullptr) {
            if (table.problems.size() < max_scope_problems) {
                table.problems.push_back({"scope.unreadable", v, problem});
            }
            continue;
        }
        const auto follow = [&](const scoped_name& to) {
            return trail.follow(static_cast<id>(to.style), to.scope,
                                [&](id parent, std::string_view segment) {
                                    return table.find_or_add(parent, segment);
                                });
        };
        const auto in = follow(*scoped);
        if (!scoped->exact) {
            scope_of[v] = in;
            table.leftover.push_back(v);
            if (scoped->within) {
                table.within.push_back(v);
            }
            for (const auto& other : {end, sum}) {
                if (other) {
                    table.ends.emplace_back(v, follow(*other));
                }
            }
            continue;
        }
        count(v, in, kind.hash);
        // The name itself rather than that of a result, whose style sibling operators share.
        const std::string_view name = ops.name(*it);
        const std::size_t begin = scoped->style == scope_style::called ? 1 : 0;
        if (scoped->style != scope_style::relative && name.size() > begin &&
            scoped->scope.data() == name.data() + begin) {
            around = name.substr(0, begin + scoped->scope.size() + (scoped->scope.empty() ? 0 : 1));
            before = in;
        }
    }
}

/// Adds the scopes of one table to another.
/// Returns: for each scope of `part`, its number in `whole`.
[[nodiscard]] inline std::vector<id> append_scopes(const scope_table& part, scope_table& whole) {
    constexpr id ahead = 16;
    std::vector<id> number(part.scopes.size());
    for (id s = 0; s < number.size(); ++s) {
        if (s + ahead < number.size() && part.scopes[s + ahead].parent < s) {
            const auto& next = part.scopes[s + ahead];
            whole.prefetch(number[next.parent], next.hash);
        }
        const auto& from = part.scopes[s];
        number[s] = s < scope_style_count
                        ? s
                        : whole.find_or_add(number[from.parent], from.segment, from.hash);
        auto& to = whole.scopes[number[s]];
        to.first_operator = to.operators == 0 ? from.first_operator : to.first_operator;
        to.operators += from.operators;
        to.kinds += from.kinds;
    }
    whole.leftover.insert(whole.leftover.end(), part.leftover.begin(), part.leftover.end());
    whole.within.insert(whole.within.end(), part.within.begin(), part.within.end());
    for (const auto& [v, scope] : part.ends) {
        whole.ends.emplace_back(v, number[scope]);
    }
    const auto room = max_scope_problems - whole.problems.size();
    whole.problems.insert(whole.problems.end(), part.problems.begin(),
                          part.problems.begin() +
                              static_cast<std::ptrdiff_t>(std::min(room, part.problems.size())));
    return number;
}

/// Collects the scopes in the names of all operators.
///
/// Requires: names outlive the table; `ops` may be read concurrently if a `thread_scope` allows it.
/// Complexity: O(bytes of names); a look-up only for segments not shared with the previous name.
template <named_operators Ops>
[[nodiscard]] scope_table collect_scopes(const Ops& ops) {
    const auto& graph = ops.graph();
    const auto size = static_cast<std::size_t>(num_vertices(graph));
    const auto workers = thread_limit::current().parts_of_operators(size);
    const auto count = workers == 1 ? 1 : workers * 4; // as their costs vary
    std::vector<id> scope_of(size, no_id);
    std::vector<scope_table> parts(count);
    for_each_item(count, workers, [&](std::size_t part, std::size_t) {
        const auto [first, last] = vertex_range(graph, count, part);
        parts[part] = detail::make_scope_table();
        detail::collect_scopes(ops, first, last, scope_of, parts[part]);
    });
    auto table = std::move(parts[0]);
    std::vector<std::vector<id>> numbers(count);
    for (std::size_t part = 1; part < count; ++part) {
        // Each part is freed as soon as it is merged, to make room.
        numbers[part] = detail::append_scopes(std::exchange(parts[part], {}), table);
    }
    for_each_item(count, workers, [&](std::size_t part, std::size_t) {
        for (auto [it, last] = vertex_range(graph, count, part); part > 0 && it != last; ++it) {
            auto& scope = scope_of[static_cast<std::size_t>(index_of(graph, *it))];
            scope = scope == no_id ? no_id : numbers[part][scope];
        }
    });
    table.scope_of = std::move(scope_of);
    std::sort(table.leftover.begin(), table.leftover.end());
    std::sort(table.within.begin(), table.within.end());
    std::sort(table.ends.begin(), table.ends.end());
    return table;
}

/// Returns: by scope, the scopes in it, not those in these. Complexity: O(scopes).
[[nodiscard]] inline grouped_ids scopes_inside(const scope_table& table) {
    return grouped_ids(table.scopes.size(), [&](auto take) {
        for (id s = scope_style_count; s < table.scopes.size(); ++s) {
            take(table.scopes[s].parent, s);
        }
    });
}

/// Returns: by scope, whether it has others inside. Complexity: O(scopes).
[[nodiscard]] inline std::vector<bool> find_enclosing(const scope_table& table) {
    std::vector<bool> encloses(table.scopes.size(), false);
    for (id s = scope_style_count; s < table.scopes.size(); ++s) {
        encloses[table.scopes[s].parent] = true;
    }
    return encloses;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_SCOPE_TABLE_HPP
