// SPDX-License-Identifier: Apache-2.0
// stemma 0.1.0: <stemma/core.hpp> and all it includes, as one file. Made by
// single_include/amalgamate.py; to change something, change the headers it joins.
#ifndef STEMMA_CORE_HPP
#define STEMMA_CORE_HPP

#include <boost/graph/graph_traits.hpp>
#include <boost/graph/properties.hpp>
#include <boost/iterator/counting_iterator.hpp>
#include <boost/iterator/iterator_facade.hpp>
#include <boost/pending/property.hpp>
#include <boost/property_map/property_map.hpp>
#include <range/v3/range_fwd.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <compare>
#include <concepts>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <exception>
#include <filesystem>
#include <functional>
#include <future>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <queue>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

// <stemma/version.hpp>
#ifndef STEMMA_VERSION_HPP
#define STEMMA_VERSION_HPP

/// Raised by what breaks callers, from 1.0 on.
#define STEMMA_VERSION_MAJOR 0
/// Raised by what is new; before 1.0 also by what breaks callers.
#define STEMMA_VERSION_MINOR 1
/// Raised by what is corrected.
#define STEMMA_VERSION_PATCH 0

/// major * 10000 + minor * 100 + patch
#define STEMMA_VERSION                                                                             \
    (STEMMA_VERSION_MAJOR * 10000 + STEMMA_VERSION_MINOR * 100 + STEMMA_VERSION_PATCH)

#endif // STEMMA_VERSION_HPP

// <stemma/config.hpp>
#ifndef STEMMA_CONFIG_HPP
#define STEMMA_CONFIG_HPP

// Every header includes this one before anything that an older language does not know. What is
// included here exists nowhere: most compilers go on behind #error, and end behind that.
#if defined(_MSVC_LANG) ? _MSVC_LANG < 202002L : __cplusplus < 202002L
#    error "stemma needs C++20: compile with -std=c++20 (MSVC: /std:c++20)"
#    include <stemma_needs_cxx20>
#endif

/// Checks a caller's promise. Define before the first include to route it elsewhere.
#ifndef STEMMA_ASSERT
#    include <cassert>
#    define STEMMA_ASSERT(condition, text) assert((condition) && (text))
#endif

/// The only way the library raises an exception of its own.
#ifndef STEMMA_THROW
#    if defined(__cpp_exceptions)
#        define STEMMA_THROW(exception) throw exception
#    else
#        include <cstdlib>
#        define STEMMA_THROW(exception) (static_cast<void>(exception), std::abort())
#    endif
#endif

/// Marks a member that takes no room when its type is empty: a stateless policy costs nothing.
#if defined(_MSC_VER)
#    define STEMMA_NO_UNIQUE_ADDRESS [[msvc::no_unique_address]]
#else
#    define STEMMA_NO_UNIQUE_ADDRESS [[no_unique_address]]
#endif

/// Stands before functions that a program compiles as it includes them; empty where a library is
/// made of them.
#ifndef STEMMA_INLINE
#    define STEMMA_INLINE inline
#endif

#endif // STEMMA_CONFIG_HPP

// <stemma/core/id.hpp>
#ifndef STEMMA_CORE_ID_HPP
#define STEMMA_CORE_ID_HPP

namespace stemma {

/// The index of a module, operator, value, edge or name: dense from 0.
using id = std::uint32_t;

/// Stands for "none" wherever an `id` may be absent.
inline constexpr id no_id = 0xffff'ffffU;

} // namespace stemma

#endif // STEMMA_CORE_ID_HPP

// <stemma/align/alignment.hpp>
#ifndef STEMMA_ALIGN_ALIGNMENT_HPP
#define STEMMA_ALIGN_ALIGNMENT_HPP

namespace stemma {

/// Which captured operation an operator comes from.
struct aligned_operator {
    id module = no_id;    ///< the module that ran the operation; `no_id` for operators left out
    id call = no_id;      ///< which call of the module, from 0; `no_id` where unknown
    id operation = no_id; ///< `no_id` where no operation explains the operator
    float confidence = 0; ///< in [0, 1]; no more than the alignment as a whole deserves
    bool exact = true;    ///< else: the module, or one below or above it
};

/// An alignment as a whole.
struct alignment {
    std::vector<aligned_operator> of; ///< by vertex index
    std::size_t placed = 0;           ///< operators that took part
    std::size_t explained = 0;        ///< those an operation explains
    std::size_t expected = 0;         ///< operations that should have left operators
    std::size_t found = 0;            ///< those that did
    std::size_t links = 0;            ///< where one placed operator reads another
    std::size_t flows = 0;            ///< those of them that the operations have as well
    std::size_t reads = 0;            ///< parameters of known name or shape that are read
    std::size_t agreed = 0;           ///< those that the operations read as well
    std::size_t contradicted = 0;     ///< parameters that by their name others should read
    bool partial = false;             ///< bodies of functions, which took no part, hold operators
    std::vector<std::string> doubts;  ///< why it is not to be trusted, in words

    /// Returns: the share of both sides that fits, 0 to 1.
    [[nodiscard]] double quality() const noexcept {
        const auto share = [](std::size_t part, std::size_t whole) {
            return whole == 0 ? 1.0 : static_cast<double>(part) / static_cast<double>(whole);
        };
        return std::min({share(explained, placed), share(found, expected), share(flows, links),
                         share(agreed, reads)});
    }

    /// Returns: whether capture and model may be of one model at all.
    [[nodiscard]] bool is_plausible() const noexcept { return quality() >= 0.5; }
};

namespace detail {

/// Where much of one side has no counterpart on the other, or something else is wrong, what seems
/// to fit may be chance: no confidence stays above what that leaves.
inline void doubt(alignment& result, std::span<const std::string> faults) {
    float limit = 1;
    if (!result.is_plausible()) {
        result.doubts.push_back(
            result.partial ? "it is looked for outside of functions, where most of it is not"
                           : "it looks like one of another model");
        limit = 0.3F;
    } else if (result.quality() < 0.85) {
        result.doubts.push_back(
            result.partial ? "it is looked for outside of functions, where a good part of it is not"
                           : "a good part of it does not fit the model");
        limit = 0.6F;
    }
    if (result.contradicted > 0) {
        result.doubts.push_back(std::to_string(result.contradicted) +
                                " parameters are read by other operations than it says");
        limit = std::min(limit, result.contradicted * 20 > result.reads ? 0.6F : 0.85F);
    }
    for (const auto& fault : faults) {
        result.doubts.push_back(fault);
        limit = std::min(limit, 0.6F);
    }
    for (auto& made : result.of) {
        made.confidence = std::round(std::min(made.confidence, limit) * 100) / 100;
    }
}

} // namespace detail

} // namespace stemma

#endif // STEMMA_ALIGN_ALIGNMENT_HPP

// <stemma/core/detail/prefetch.hpp>
#ifndef STEMMA_CORE_DETAIL_PREFETCH_HPP
#define STEMMA_CORE_DETAIL_PREFETCH_HPP

namespace stemma {

/// Asks the processor to load what will be read soon. Without effect on what is computed; any
/// address may be given. Complexity: constant.
inline void prefetch(const void* address) noexcept {
#if defined(__GNUC__)
    __builtin_prefetch(address);
    // Else GCC takes a function that does nothing else for one without effect, and calls to it go.
    __asm__ volatile("");
#else
    static_cast<void>(address);
#endif
}

} // namespace stemma

#endif // STEMMA_CORE_DETAIL_PREFETCH_HPP

// <stemma/core/detail/flat_index.hpp>
#ifndef STEMMA_CORE_DETAIL_FLAT_INDEX_HPP
#define STEMMA_CORE_DETAIL_FLAT_INDEX_HPP

namespace stemma {

/// An open-addressing table from hashes to ids; the keys stay with the caller, who compares them.
///
/// A slot is 8 bytes (half of the hash, and the id), so a miss rarely touches a key. Never erases.
class flat_index {
public:
    flat_index() = default;

    /// Makes room for `expected` ids at once.
    explicit flat_index(std::size_t expected) { reserve(expected); }

    /// Returns: how many ids were stored; an equal one that was there before counts once.
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    /// Makes room for `expected` ids without growing on the way.
    /// Complexity: O(ids stored) where room is lacking.
    void reserve(std::size_t expected) {
        std::size_t wanted = 16;
        while (is_full(expected, wanted)) {
            wanted *= 2;
        }
        if (wanted > slots_.size()) {
            rehash(wanted);
        }
    }

    /// Returns: the id stored under `hash` for which `equal(id)` holds, else `no_id`.
    /// Complexity: constant on average.
    template <class Equal>
    [[nodiscard]] id find(std::uint64_t hash, Equal equal) const {
        if (slots_.empty()) {
            return no_id;
        }
        for (auto at = home(hash);; at = (at + 1) & mask_) {
            const auto& found = slots_[at];
            if (found.value == no_id) {
                return no_id;
            }
            if (found.check == check(hash) && equal(found.value)) {
                return found.value;
            }
        }
    }

    /// Stores `value` under `hash` unless an equal one is there.
    ///
    /// Returns: the id that is stored now: `value`, or the equal one that was there before.
    /// Complexity: constant on average.
    template <class Equal>
    id insert(std::uint64_t hash, id value, Equal equal) {
        if (is_full(size_ + 1, slots_.size())) {
            rehash(slots_.empty() ? 16 : slots_.size() * 2);
        }
        auto at = home(hash);
        for (; slots_[at].value != no_id; at = (at + 1) & mask_) {
            if (slots_[at].check == check(hash) && equal(slots_[at].value)) {
                return slots_[at].value;
            }
        }
        slots_[at] = {check(hash), value};
        ++size_;
        return value;
    }

    /// Stores all ids of another table, each raised by `shift`. Calls `met(known, raised)` for
    /// those that are not stored, as an equal one was there before. Complexity: O(slots of the
    /// other) on average; asks `equal(known, raised)` where half of the hashes agree.
    template <class Equal, class Met>
    void insert_all(const flat_index& other, id shift, Equal equal, Met met) {
        constexpr std::size_t ahead = 16;
        reserve(size_ + other.size_);
        for (std::size_t i = 0; i < other.slots_.size(); ++i) {
            if (i + ahead < other.slots_.size()) {
                prefetch(hash_of(other.slots_[i + ahead]));
            }
            if (other.slots_[i].value != no_id) {
                const auto raised = other.slots_[i].value + shift;
                const auto found = insert(hash_of(other.slots_[i]), raised,
                                          [&](id known) { return equal(known, raised); });
                if (found != raised) {
                    met(found, raised);
                }
            }
        }
    }

    /// Asks the processor to load the slot that `hash` will need.
    void prefetch(std::uint64_t hash) const noexcept {
        if (!slots_.empty()) {
            stemma::prefetch(&slots_[home(hash)]);
        }
    }

private:
    struct slot {
        std::uint32_t check = 0;
        id value = no_id;
    };

    // Eight slots share a line of the cache, so that long searches cost less than a larger table.
    [[nodiscard]] static bool is_full(std::size_t size, std::size_t slots) noexcept {
        return size * 4 > slots * 3;
    }

    // The home position comes from the stored half, so that growing needs no key.
    [[nodiscard]] static std::uint32_t check(std::uint64_t hash) noexcept {
        return static_cast<std::uint32_t>(hash >> 32U);
    }

    // Half of it, which is all that this table looks at.
    [[nodiscard]] static std::uint64_t hash_of(const slot& filled) noexcept {
        return std::uint64_t{filled.check} << 32U;
    }

    [[nodiscard]] std::size_t home(std::uint64_t hash) const noexcept { return place(check(hash)); }

    [[nodiscard]] std::size_t place(std::uint32_t checked) const noexcept {
        return (static_cast<std::uint64_t>(checked) * 0x9e37'79b9'7f4a'7c15U >> shift_) & mask_;
    }

    void rehash(std::size_t wanted) {
        std::vector<slot> old(wanted);
        old.swap(slots_);
        mask_ = wanted - 1;
        shift_ = 64;
        for (auto bits = wanted; bits > 1; bits /= 2) {
            --shift_;
        }
        for (const auto& moved : old) {
            if (moved.value == no_id) {
                continue;
            }
            auto at = place(moved.check);
            while (slots_[at].value != no_id) {
                at = (at + 1) & mask_;
            }
            slots_[at] = moved;
        }
    }

    std::vector<slot> slots_;
    std::size_t size_ = 0;
    std::size_t mask_ = 0;
    unsigned shift_ = 63;
};

} // namespace stemma

#endif // STEMMA_CORE_DETAIL_FLAT_INDEX_HPP

// <stemma/core/detail/hash.hpp>
#ifndef STEMMA_CORE_DETAIL_HASH_HPP
#define STEMMA_CORE_DETAIL_HASH_HPP

namespace stemma {

namespace detail {

__extension__ using uint128 = unsigned __int128;

[[nodiscard]] constexpr std::uint64_t fold_multiply(std::uint64_t a, std::uint64_t b) noexcept {
    const auto product = static_cast<uint128>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

[[nodiscard]] inline std::uint64_t load64(const char* p) noexcept {
    std::uint64_t x = 0;
    std::memcpy(&x, p, 8);
    return x;
}

[[nodiscard]] inline std::uint64_t load32(const char* p) noexcept {
    std::uint32_t x = 0;
    std::memcpy(&x, p, 4);
    return x;
}

inline constexpr std::uint64_t hash_key0 = 0x9e37'79b9'7f4a'7c15U;
inline constexpr std::uint64_t hash_key1 = 0xbf58'476d'1ce4'e5b9U;

} // namespace detail

/// Mixes two words into one; every bit of both reaches every bit of the result.
[[nodiscard]] constexpr std::uint64_t hash_mix(std::uint64_t a, std::uint64_t b) noexcept {
    return detail::fold_multiply(a ^ detail::hash_key0, b ^ detail::hash_key1);
}

/// The FNV-1a hash of a text, or of one that goes on behind another of hash `before`. The same
/// everywhere, so that it may be stored. Complexity: one multiplication for each byte.
[[nodiscard]] constexpr std::uint64_t
fnv1a(std::string_view text, std::uint64_t before = 0xcbf2'9ce4'8422'2325U) noexcept {
    for (char c : text) {
        before = (before ^ static_cast<unsigned char>(c)) * 0x100'0000'01b3U;
    }
    return before;
}

/// A 64-bit hash of all bytes. Not a promise across versions: never write it to a file.
///
/// Complexity: one multiplication per 16 bytes (folded multiply, as in wyhash).
[[nodiscard]] inline std::uint64_t hash_bytes(std::string_view text,
                                              std::uint64_t seed = 0) noexcept {
    const char* p = text.data();
    auto left = text.size();
    auto h = seed ^ detail::hash_key0 ^ left;
    for (; left > 16; p += 16, left -= 16) {
        h = detail::fold_multiply(detail::load64(p) ^ detail::hash_key1, detail::load64(p + 8) ^ h);
    }
    std::uint64_t a = 0;
    std::uint64_t b = 0;
    if (left >= 8) {
        a = detail::load64(p);
        b = detail::load64(p + left - 8);
    } else if (left >= 4) {
        a = detail::load32(p);
        b = detail::load32(p + left - 4);
    } else if (left > 0) {
        a = static_cast<unsigned char>(p[0]) |
            (static_cast<std::uint64_t>(static_cast<unsigned char>(p[left / 2])) << 8U) |
            (static_cast<std::uint64_t>(static_cast<unsigned char>(p[left - 1])) << 16U);
    }
    return detail::fold_multiply(detail::hash_key1 ^ text.size(),
                                 detail::fold_multiply(a ^ detail::hash_key1, b ^ h));
}

} // namespace stemma

#endif // STEMMA_CORE_DETAIL_HASH_HPP

// <stemma/core/detail/string_pool.hpp>
#ifndef STEMMA_CORE_DETAIL_STRING_POOL_HPP
#define STEMMA_CORE_DETAIL_STRING_POOL_HPP

namespace stemma {

/// Keeps one copy of every distinct string and names it by a dense id, in order of arrival.
class string_pool {
public:
    /// Returns: the id of `text`, new or known.
    /// Complexity: O(length) on average.
    id intern(std::string_view text) {
        const auto next = static_cast<id>(size());
        const auto found =
            index_.insert(hash_bytes(text), next, [&](id known) { return (*this)[known] == text; });
        if (found == next) {
            text_.append(text);
            ends_.push_back(text_.size());
        }
        return found;
    }

    /// Returns: the id of `text`, or `no_id`.
    [[nodiscard]] id find(std::string_view text) const {
        return index_.find(hash_bytes(text), [&](id known) { return (*this)[known] == text; });
    }

    /// Valid until the next `intern`.
    [[nodiscard]] std::string_view operator[](id known) const noexcept {
        const auto begin = known == 0 ? 0 : ends_[known - 1];
        return {text_.data() + begin, ends_[known] - begin};
    }

    /// Returns: how many distinct strings there are; their ids are those below it.
    [[nodiscard]] std::size_t size() const noexcept { return ends_.size(); }

private:
    std::string text_;
    std::vector<std::size_t> ends_;
    flat_index index_;
};

} // namespace stemma

#endif // STEMMA_CORE_DETAIL_STRING_POOL_HPP

// <stemma/align/captured_operations.hpp>
#ifndef STEMMA_ALIGN_CAPTURED_OPERATIONS_HPP
#define STEMMA_ALIGN_CAPTURED_OPERATIONS_HPP

namespace stemma {

/// Operations that a front end saw, in the order in which they ran, with the module that ran each
/// and what it read.
///
/// An operation may have several names: the call as the user wrote it
/// (`torch.nn.functional.linear`) and what ran below it (`aten.addmm.default`).
class captured_operations {
public:
    /// What is known of one operation, besides its names.
    struct operation {
        id module = no_id;   ///< as the caller numbers modules
        id call = no_id;     ///< which call of the module, from 0; `no_id` where unknown
        bool exact = true;   ///< else: that module or one below it
        bool varies = false; ///< reads what is not the same at every run: an input of the model, or
                             ///< what came of one
        bool optional = false; ///< may leave nothing in the model, whatever its name
    };

    /// A parameter that an operation reads, by name, with its shape where that is known.
    struct parameter {
        id name = no_id;                 ///< in `parameter_names()`
        std::vector<std::int64_t> shape; ///< empty where unknown; an unknown extent is negative
    };

    /// Adds an operation and returns its number. What follows belongs to it, until the next one.
    id add(const operation& made, std::string_view name) {
        const auto number = static_cast<id>(operations_.size());
        operations_.push_back({made, names_begin(), static_cast<id>(parameters_.size()),
                               static_cast<id>(sources_.size())});
        add_name(name);
        return number;
    }

    /// Adds a further name to the operation added last.
    void add_name(std::string_view name) { operation_names_.push_back(names_.intern(name)); }

    /// The operation added last reads a parameter.
    void add_parameter(std::string_view name, std::span<const std::int64_t> shape) {
        parameters_.push_back({parameter_names_.intern(name), {shape.begin(), shape.end()}});
    }

    /// The operation added last reads what an earlier one made.
    /// Requires: `earlier` is below its number.
    void add_source(id earlier) {
        sources_.push_back(earlier);
        operations_.back().made.varies |= operations_[earlier].made.varies;
    }

    /// The operation added last reads something that no operation made and that is no parameter.
    void add_input() { operations_.back().made.varies = true; }

    /// Something that makes the capture less believable, in words.
    void add_fault(std::string text) { faults_.push_back(std::move(text)); }

    /// Returns: how many operations were added; they are numbered from 0 in this order.
    [[nodiscard]] id size() const noexcept { return static_cast<id>(operations_.size()); }

    /// Whether no operation was added.
    [[nodiscard]] bool empty() const noexcept { return operations_.empty(); }

    /// Requires: `i` is below `size()`. Valid until the next `add`.
    [[nodiscard]] const operation& operator[](id i) const noexcept { return operations_[i].made; }

    /// To change what was said of an operation when it was added.
    [[nodiscard]] operation& operator[](id i) noexcept { return operations_[i].made; }

    /// Returns: ids in `names()`, in the order in which they were added; the first is the one that
    /// `add` got. Valid until a name is added.
    [[nodiscard]] std::span<const id> names_of(id i) const noexcept {
        return slice(operation_names_, operations_[i].first_name,
                     i + 1 < size() ? operations_[i + 1].first_name : no_id);
    }

    /// Returns: what the operation reads, as added; valid until a parameter is added.
    [[nodiscard]] std::span<const parameter> parameters_of(id i) const noexcept {
        return slice(parameters_, operations_[i].first_parameter,
                     i + 1 < size() ? operations_[i + 1].first_parameter : no_id);
    }

    /// Returns: numbers of earlier operations, as added; valid until a source is added.
    [[nodiscard]] std::span<const id> sources_of(id i) const noexcept {
        return slice(sources_, operations_[i].first_source,
                     i + 1 < size() ? operations_[i + 1].first_source : no_id);
    }

    /// The distinct names of operations and of parameters.
    [[nodiscard]] const string_pool& names() const noexcept { return names_; }

    /// The distinct names of parameters.
    [[nodiscard]] const string_pool& parameter_names() const noexcept { return parameter_names_; }

    /// Sentences in the order in which they were added; valid until the next one is.
    [[nodiscard]] std::span<const std::string> faults() const noexcept { return faults_; }

private:
    struct entry {
        operation made;
        id first_name = 0;
        id first_parameter = 0;
        id first_source = 0;
    };

    [[nodiscard]] id names_begin() const noexcept {
        return static_cast<id>(operation_names_.size());
    }

    template <class T>
    [[nodiscard]] static std::span<const T> slice(const std::vector<T>& all, id first, id last) {
        const auto end = last == no_id ? all.size() : last;
        return std::span(all).subspan(first, end - first);
    }

    std::vector<entry> operations_;
    std::vector<id> operation_names_;
    std::vector<parameter> parameters_;
    std::vector<id> sources_;
    string_pool names_;
    string_pool parameter_names_;
    std::vector<std::string> faults_;
};

} // namespace stemma

#endif // STEMMA_ALIGN_CAPTURED_OPERATIONS_HPP

// <stemma/core/concepts.hpp>
#ifndef STEMMA_CORE_CONCEPTS_HPP
#define STEMMA_CORE_CONCEPTS_HPP

namespace stemma {

/// How a graph names a vertex.
template <class Graph>
using vertex_t = typename boost::graph_traits<Graph>::vertex_descriptor;

/// How a graph names an edge.
template <class Graph>
using edge_t = typename boost::graph_traits<Graph>::edge_descriptor;

/// A Boost.Graph VertexListGraph, as far as the library uses one. `operator_graph` models it.
///
/// Requires: iterators may be copied and gone over again, as Boost asks of them.
template <class Graph>
concept vertex_list_graph = std::regular<vertex_t<Graph>> && requires(const Graph& g) {
    { *vertices(g).first } -> std::convertible_to<vertex_t<Graph>>;
    { num_vertices(g) } -> std::unsigned_integral;
};

/// A Boost.Graph IncidenceGraph, as far as the library uses one. `module_tree` models it.
template <class Graph>
concept incidence_graph = std::regular<vertex_t<Graph>> && std::regular<edge_t<Graph>> &&
    requires(const Graph& g, vertex_t<Graph> v, edge_t<Graph> e) {
    { *out_edges(v, g).first } -> std::convertible_to<edge_t<Graph>>;
    { source(e, g) } -> std::convertible_to<vertex_t<Graph>>;
    { target(e, g) } -> std::convertible_to<vertex_t<Graph>>;
};

/// A Boost.Graph BidirectionalGraph, as far as the library uses one. `operator_graph` models it.
template <class Graph>
concept bidirectional_graph = incidence_graph<Graph> &&
    requires(const Graph& g, vertex_t<Graph> v) {
    { *in_edges(v, g).first } -> std::convertible_to<edge_t<Graph>>;
};

namespace detail {

/// An adjacency_list that does not number its vertices by itself.
template <class Graph>
concept unnumbered_list = std::is_void_v<std::remove_pointer_t<vertex_t<Graph>>> && requires {
    typename Graph::vertex_property_type;
};

/// Whether `get(boost::vertex_index, ...)` may be asked for: of an adjacency_list whose vertices
/// have no such property, that is an error inside of Boost and not a concept that does not hold.
template <class Graph>
inline constexpr bool may_have_vertex_index = true;

template <unnumbered_list Graph>
inline constexpr bool may_have_vertex_index<Graph> =
    boost::lookup_one_property<typename Graph::vertex_property_type, boost::vertex_index_t>::found;

} // namespace detail

/// A graph whose vertices carry an interior `vertex_index`.
///
/// Requires: the indices are 0 to `num_vertices(g)` - 1, each once.
template <class Graph>
concept vertex_indexed_graph = detail::may_have_vertex_index<Graph> &&
    requires(const Graph& g, vertex_t<Graph> v) {
    { get(boost::vertex_index, g, v) } -> std::convertible_to<std::size_t>;
};

/// What the algorithms over operators ask of a graph.
template <class Graph>
concept operator_graph_like =
    vertex_list_graph<Graph> && bidirectional_graph<Graph> && vertex_indexed_graph<Graph>;

/// Put `static_assert(explain_operator_graph<mine>());` beside a graph that is refused.
template <class Graph>
consteval bool explain_operator_graph() {
    static_assert(vertex_list_graph<Graph>, "graph of operators: model Boost's VertexListGraph "
                                            "(`vertices(g)`, `num_vertices(g)`)");
    static_assert(incidence_graph<Graph>, "graph of operators: model Boost's IncidenceGraph "
                                          "(`out_edges(v, g)`, `source(e, g)`, `target(e, g)`)");
    static_assert(bidirectional_graph<Graph> || !incidence_graph<Graph>,
                  "graph of operators: add `in_edges(v, g)`; an adjacency_list has it with "
                  "`boost::bidirectionalS`");
    static_assert(vertex_indexed_graph<Graph>,
                  "graph of operators: add a `vertex_index` from 0; an adjacency_list has it with "
                  "`boost::vecS` for vertices, or as a property of these");
    return true; // else it was said
}

/// Text that does not go away with the expression that gave it: a view, a pointer, a reference, but
/// no string by value.
template <class T>
concept lasting_text = std::convertible_to<T, std::string_view> &&
    (std::is_lvalue_reference_v<T> || std::is_trivially_copyable_v<T>);

/// A Boost property map that yields text, which outlives the call.
template <class Map, class Key>
concept text_map = requires(const Map& map, const Key& key) {
    { get(map, key) } -> lasting_text;
};

/// The position of a vertex in [0, n).
template <vertex_indexed_graph Graph>
[[nodiscard]] std::size_t index_of(const Graph& graph, vertex_t<Graph> v) {
    return static_cast<std::size_t>(get(boost::vertex_index, graph, v));
}

} // namespace stemma

#endif // STEMMA_CORE_CONCEPTS_HPP

// <stemma/core/topological_order.hpp>
#ifndef STEMMA_CORE_TOPOLOGICAL_ORDER_HPP
#define STEMMA_CORE_TOPOLOGICAL_ORDER_HPP

namespace stemma {

/// Whether every edge leads from a lower `vertex_index` to a higher one, and `vertices` follows it.
///
/// Complexity: O(V + E).
template <operator_graph_like Graph>
[[nodiscard]] bool is_topologically_indexed(const Graph& graph) {
    std::size_t expected = 0;
    for (auto [it, last] = vertices(graph); it != last; ++it, ++expected) {
        if (index_of(graph, *it) != expected) {
            return false;
        }
        for (auto [in, in_last] = in_edges(*it, graph); in != in_last; ++in) {
            if (index_of(graph, source(*in, graph)) >= expected) {
                return false;
            }
        }
    }
    return true;
}

namespace detail {

/// Orders vertices behind all they depend on (Kahn 1962): `count(v)` says on how many, with
/// repeats, and `release(v, f)` calls `f(w)` for each that depends on `v`, as often as it does.
///
/// `boost::topological_sort` takes 1.6 to 5 times as long (bench/core/topological_order_bench.cpp),
/// and throws at a cycle where this orders what it can.
template <operator_graph_like Graph, class Count, class Release>
[[nodiscard]] std::vector<vertex_t<Graph>> order_by_dependence(const Graph& graph, Count count,
                                                               Release release) {
    std::vector<vertex_t<Graph>> order;
    order.reserve(num_vertices(graph));
    std::vector<id> waiting(num_vertices(graph));
    for (auto [it, last] = vertices(graph); it != last; ++it) {
        const auto open = static_cast<id>(count(*it));
        waiting[index_of(graph, *it)] = open;
        if (open == 0) {
            order.push_back(*it);
        }
    }
    for (std::size_t done = 0; done < order.size(); ++done) {
        const auto v = order[done];
        release(v, [&](const vertex_t<Graph>& w) {
            if (--waiting[index_of(graph, w)] == 0) {
                order.push_back(w);
            }
        });
    }
    return order;
}

/// Returns: how many steps lead from one iterator to the other.
template <class Iterator>
[[nodiscard]] std::size_t count_steps(std::pair<Iterator, Iterator> range) {
    std::size_t steps = 0;
    for (auto [it, last] = range; it != last; ++it) {
        ++steps;
    }
    return steps;
}

} // namespace detail

/// Every vertex behind all its producers. What hangs on a cycle has no such place and is left out.
///
/// Returns: a prefix-closed order; shorter than `num_vertices` exactly when there is a cycle.
/// Complexity: O(V + E).
template <operator_graph_like Graph>
[[nodiscard]] std::vector<vertex_t<Graph>> topological_order(const Graph& graph) {
    return detail::order_by_dependence(
        graph, [&](const auto& v) { return detail::count_steps(in_edges(v, graph)); },
        [&](const auto& v, auto f) {
            for (auto [it, last] = out_edges(v, graph); it != last; ++it) {
                f(target(*it, graph));
            }
        });
}

/// The same against the edges: every vertex behind all its readers. Complexity: O(V + E).
template <operator_graph_like Graph>
[[nodiscard]] std::vector<vertex_t<Graph>> reverse_topological_order(const Graph& graph) {
    return detail::order_by_dependence(
        graph, [&](const auto& v) { return detail::count_steps(out_edges(v, graph)); },
        [&](const auto& v, auto f) {
            for (auto [it, last] = in_edges(v, graph); it != last; ++it) {
                f(source(*it, graph));
            }
        });
}

} // namespace stemma

#endif // STEMMA_CORE_TOPOLOGICAL_ORDER_HPP

// <stemma/model/operator_view.hpp>
#ifndef STEMMA_MODEL_OPERATOR_VIEW_HPP
#define STEMMA_MODEL_OPERATOR_VIEW_HPP

namespace stemma {

/// The graph under a view of operators.
template <class Ops>
using graph_of = typename Ops::graph_type;

/// How that graph names an operator.
template <class Ops>
using operator_t = vertex_t<graph_of<Ops>>;

namespace detail {

template <class Ops>
concept has_graph = requires(const Ops& ops) {
    typename Ops::graph_type;
    { ops.graph() } -> std::same_as<const typename Ops::graph_type&>;
};

} // namespace detail

/// A graph of operators, and more of them where the concepts below hold. An algorithm or policy
/// says in its constraint how much it reads. `mapped_operators` makes one of any Boost graph.
///
/// Requires: graph and text stay as long as the view.
template <class Ops>
concept operator_view = detail::has_graph<Ops> && operator_graph_like<graph_of<Ops>>;

/// Put `static_assert(explain_operator_view<mine>());` beside a view that is refused.
template <class Ops>
consteval bool explain_operator_view() {
    static_assert(detail::has_graph<Ops>,
                  "operators: add `using graph_type` and `const graph_type& "
                  "graph() const`, or make mapped_operators of the graph");
    if constexpr (detail::has_graph<Ops>) {
        static_assert(explain_operator_graph<graph_of<Ops>>());
    }
    return true; // else it was said
}

/// Operators that have a name and a type, either possibly "".
template <class Ops>
concept named_operators = operator_view<Ops> && requires(const Ops& ops, operator_t<Ops> v) {
    { ops.name(v) } -> lasting_text;
    { ops.op_type(v) } -> lasting_text;
};

/// Operators that also say in which domain their type is; "" is that of the standard.
template <class Ops>
concept qualified_operators = named_operators<Ops> && requires(const Ops& ops, operator_t<Ops> v) {
    { ops.domain(v) } -> lasting_text;
};

namespace detail {

struct take_id {
    void operator()(id) const {}
};

} // namespace detail

/// Operators that read named parameters (initializers), which are numbered from 0.
template <class Ops>
concept parameter_readers = operator_view<Ops> &&
    requires(const Ops& ops, operator_t<Ops> v, id p) {
    { ops.parameter_count() } -> std::convertible_to<std::size_t>;
    { ops.parameter_name(p) } -> lasting_text;
    ops.for_each_parameter(v, detail::take_id{});
};

/// Parameters of which is known which have the same number in every element: `keep_uniform` leaves
/// those marked, by parameter.
template <class Ops>
concept valued_parameters = parameter_readers<Ops> &&
    requires(const Ops& ops, std::vector<bool>& marked) {
    ops.keep_uniform(marked);
};

/// Parameters that can be told from constants by their shape and type: `keep_matrices` leaves those
/// marked, by parameter, that can only be weights.
template <class Ops>
concept sized_parameters = parameter_readers<Ops> &&
    requires(const Ops& ops, std::vector<bool>& marked) {
    ops.keep_matrices(marked);
};

/// Operators of which some were made of two: of one that reads parameters, and one beside it in
/// another module, as an activation.
template <class Ops>
concept joined_operators = operator_view<Ops> && requires(const Ops& ops, operator_t<Ops> v) {
    { ops.is_joined(v) } -> std::convertible_to<bool>;
};

/// Operators that may sit in the body of another one (If, Loop, Scan): `owner` is the vertex index
/// of that one, or `no_id`.
template <class Ops>
concept nested_operators = operator_view<Ops> && requires(const Ops& ops, operator_t<Ops> v) {
    { ops.owner(v) } -> std::convertible_to<id>;
};

/// Operators of which is known in which of its owner's bodies each is: a number, `no_id` for those
/// without an owner.
template <class Ops>
concept body_operators = nested_operators<Ops> && requires(const Ops& ops, operator_t<Ops> v) {
    { ops.body(v) } -> std::convertible_to<id>;
};

namespace detail {

struct take_entry {
    void operator()(std::string_view, std::string_view) const {}
};

struct take_folded {
    template <class Vertex>
    void operator()(const Vertex&, std::string_view) const {}
};

} // namespace detail

/// Operators that carry metadata: pairs of key and value.
template <class Ops>
concept described_operators = operator_view<Ops> && requires(const Ops& ops, operator_t<Ops> v) {
    ops.for_each_metadata(v, detail::take_entry{});
};

/// What an operator reads at one input: a parameter, an input of the function it is in, or neither.
struct operator_argument {
    id parameter = no_id; ///< `no_id` where it is none
    id formal = no_id;    ///< which input of the function, from 0; `no_id` where it is none
};

namespace detail {

struct take_argument {
    void operator()(const operator_argument&) const {}
};

} // namespace detail

/// Operators that may call functions, whose bodies are operators of the same view.
template <class Ops>
concept calling_operators = operator_view<Ops> &&
    requires(const Ops& ops, operator_t<Ops> v, id f) {
    { ops.function_count() } -> std::convertible_to<id>;
    { ops.function_domain(f) } -> lasting_text;
    { ops.function_name(f) } -> lasting_text;
    { ops.callee(v) } -> std::convertible_to<id>;
    { ops.enclosing_function(v) } -> std::convertible_to<id>;
    ops.for_each_argument(v, detail::take_argument{});
};

/// Operators of which some stand in functions that stemma made of modules, or call such a function,
/// and say where they come from: `fold_path` is the way there from the module of the call around.
/// Names of these tell nothing, as calls share them.
template <class Ops>
concept folded_operators = calling_operators<Ops> && requires(const Ops& ops, operator_t<Ops> v) {
    { ops.is_folded(v) } -> std::convertible_to<bool>;
    { ops.fold_path(v) } -> std::convertible_to<std::string_view>;
};

/// Operators of which is known what they do with the data that flows through the model.
///
/// `reads_data`: reads an input of the whole directly. `hides_data`: the result does not depend on
/// the values read, only on their shape (Shape, Size).
template <class Ops>
concept data_aware_operators = operator_view<Ops> && requires(const Ops& ops, operator_t<Ops> v) {
    { ops.reads_data(v) } -> std::convertible_to<bool>;
    { ops.hides_data(v) } -> std::convertible_to<bool>;
};

/// Operators of which is known where they read a condition (of If, of Loop) rather than data.
template <class Ops>
concept steered_operators = operator_view<Ops> &&
    requires(const Ops& ops, edge_t<graph_of<Ops>> e) {
    { ops.reads_condition(e) } -> std::convertible_to<bool>;
};

} // namespace stemma

#endif // STEMMA_MODEL_OPERATOR_VIEW_HPP

// <stemma/align/detail/aligned_nodes.hpp>
#ifndef STEMMA_ALIGN_DETAIL_ALIGNED_NODES_HPP
#define STEMMA_ALIGN_DETAIL_ALIGNED_NODES_HPP

namespace stemma::detail {

/// Lists of numbers behind each other, one for each of 0, 1, 2 and so on.
class id_lists {
public:
    void add(id item) { items_.push_back(item); }
    void close() { ends_.push_back(static_cast<id>(items_.size())); }
    [[nodiscard]] std::span<const id> operator[](id i) const noexcept {
        const auto begin = i == 0 ? 0 : ends_[i - 1];
        return std::span(items_).subspan(begin, ends_[i] - begin);
    }
    [[nodiscard]] id size() const noexcept { return static_cast<id>(ends_.size()); }

    /// Returns: for each number below `count` the lists that hold it.
    [[nodiscard]] id_lists reversed(id count) const {
        std::vector<std::vector<id>> by_item(count);
        for (id i = 0; i < size(); ++i) {
            for (auto item : (*this)[i]) {
                by_item[item].push_back(i);
            }
        }
        id_lists result;
        for (const auto& list : by_item) {
            for (auto i : list) {
                result.add(i);
            }
            result.close();
        }
        return result;
    }

private:
    std::vector<id> items_;
    std::vector<id> ends_;
};

/// The operators of a graph that an alignment places, in the order of the graph. Constants and
/// bodies of functions are left out.
struct aligned_nodes {
    std::vector<id> vertex;
    std::vector<id> type;        ///< number of the operator type, with a domain not the standard's
    std::vector<bool> of_shapes; ///< computes with shapes only
    std::vector<bool> fixed;     ///< computes with constants only
    std::vector<bool> owns;      ///< owns bodies, and stands for all that ran there
    std::vector<id> chain;       ///< which chain it is in: 0 for those in no body
    id chains = 1;               ///< one for each body besides
    std::vector<id> owner_of;    ///< by chain: the owner of the body, `no_id` for the first
    id_lists parameters;         ///< those of the graph that it reads
    id_lists producers;          ///< among the aligned ones
    id_lists readers;
    string_pool types;
    bool partial = false; ///< some operators are in bodies of functions

    [[nodiscard]] id size() const noexcept { return static_cast<id>(vertex.size()); }

    /// Returns: the operators of each chain.
    [[nodiscard]] std::vector<std::vector<id>> by_chain() const {
        std::vector<std::vector<id>> lists(chains);
        for (id n = 0; n < size(); ++n) {
            lists[chain[n]].push_back(n);
        }
        return lists;
    }
};

/// In which order operators are taken to have run.
enum class run_order : std::uint8_t {
    as_written, ///< as they are numbered, unless one comes before what it reads
    as_read,    ///< all that the first input needs before what the second one needs
};

template <named_operators Ops>
class aligned_nodes_finder {
public:
    explicit aligned_nodes_finder(const Ops& ops, run_order order = run_order::as_written)
        : ops_(ops)
        , graph_(ops.graph())
        , count_(num_vertices(graph_))
        , as_written_(order == run_order::as_written && is_topologically_indexed(graph_))
        , place_(count_, no_id) {
        found_.owner_of.push_back(no_id);
    }

    [[nodiscard]] aligned_nodes find() {
        std::vector<bool> owns(count_, false);
        if constexpr (nested_operators<Ops>) {
            for (auto [it, last] = vertices(graph_); it != last; ++it) {
                if (const id owner = ops_.owner(*it); owner != no_id) {
                    owns[owner] = true;
                }
            }
        }
        for_each_in_order([&](vertex_type v) {
            const auto i = index_of(graph_, v);
            const bool outside = in_function(v);
            found_.partial = found_.partial || outside;
            if (!outside && (owns[i] || !is_constant(v))) {
                add(v, static_cast<id>(i), owns[i]);
            }
        });
        for (auto& owner : found_.owner_of) {
            owner = owner == no_id ? no_id : place_[owner];
        }
        found_.readers = found_.producers.reversed(found_.size());
        return std::move(found_);
    }

private:
    using vertex_type = operator_t<Ops>;

    template <class Function>
    void for_each_in_order(Function f) const {
        const auto [first_vertex, last_vertex] = vertices(graph_);
        if (as_written_) {
            std::for_each(first_vertex, last_vertex, f);
            return;
        }
        // From the results back; what is part of a cycle is no result, and comes last.
        std::vector<vertex_type> ends(first_vertex, last_vertex);
        std::stable_partition(ends.begin(), ends.end(), [&](const vertex_type& v) {
            const auto [out, out_last] = out_edges(v, graph_);
            return out == out_last;
        });
        std::vector<std::uint8_t> state(count_, 0); // 1: being visited, 2: done
        std::vector<vertex_type> open;
        for (const auto& end : ends) {
            open.push_back(end);
            while (!open.empty()) {
                const auto v = open.back();
                auto& at = state[index_of(graph_, v)];
                if (at == 0) {
                    at = 1;
                    const auto first = open.size();
                    for (auto [in, in_last] = in_edges(v, graph_); in != in_last; ++in) {
                        if (state[index_of(graph_, source(*in, graph_))] == 0) {
                            open.push_back(source(*in, graph_));
                        }
                    }
                    std::reverse(open.begin() + static_cast<std::ptrdiff_t>(first), open.end());
                    continue;
                }
                open.pop_back();
                if (at == 1) {
                    at = 2;
                    f(v);
                }
            }
        }
    }

    [[nodiscard]] std::string type_of(vertex_type v) const {
        std::string type(std::string_view(ops_.op_type(v)));
        if constexpr (qualified_operators<Ops>) {
            const std::string_view domain = ops_.domain(v);
            return domain.empty() || domain == "ai.onnx" ? type : std::string(domain) + "::" + type;
        }
        return type;
    }

    [[nodiscard]] bool in_function(vertex_type v) const {
        if constexpr (calling_operators<Ops>) {
            return ops_.enclosing_function(v) != no_id;
        }
        return false;
    }

    /// Whether it is a constant, as far as the operators tell data from constants. In a body what
    /// is computed from constants counts as one: exporters put conditions there that no program
    /// had.
    [[nodiscard]] bool is_constant(vertex_type v) const {
        if constexpr (data_aware_operators<Ops>) {
            bool in_body = false;
            if constexpr (nested_operators<Ops>) {
                in_body = ops_.owner(v) != no_id;
            }
            bool reads = ops_.reads_data(v);
            for (auto [it, last] = in_edges(v, graph_); it != last; ++it) {
                reads = reads || !in_body || place_[index_of(graph_, source(*it, graph_))] != no_id;
            }
            if constexpr (parameter_readers<Ops>) {
                ops_.for_each_parameter(v, [&](id) { reads = true; });
            }
            return !reads;
        }
        return false;
    }

    /// Returns: the chain of an operator, which may be new.
    [[nodiscard]] id chain_of(vertex_type v) {
        if constexpr (nested_operators<Ops>) {
            const id owner = ops_.owner(v);
            if (owner == no_id) {
                return 0;
            }
            auto body = owner;
            if constexpr (body_operators<Ops>) {
                body = ops_.body(v);
            }
            const auto [known, added] =
                chain_of_body_.emplace(std::pair(owner, body), found_.chains);
            if (added) {
                ++found_.chains;
                found_.owner_of.push_back(owner);
            }
            return known->second;
        }
        return 0;
    }

    void add(vertex_type v, id index, bool owns) {
        found_.owns.push_back(owns);
        found_.chain.push_back(chain_of(v));
        bool shapes_only = !owns;
        bool fixed = data_aware_operators<Ops> && !owns;
        bool has_producer = false;
        std::vector<id> producers;
        for (auto [it, last] = in_edges(v, graph_); it != last; ++it) {
            const auto u = place_[index_of(graph_, source(*it, graph_))];
            if (u != no_id) {
                has_producer = true;
                fixed = fixed && found_.fixed[u];
                shapes_only = shapes_only && found_.of_shapes[u];
                if (!owns && std::find(producers.begin(), producers.end(), u) == producers.end()) {
                    producers.push_back(u);
                }
            }
        }
        for (auto u : producers) {
            found_.producers.add(u);
        }
        found_.producers.close();
        if constexpr (parameter_readers<Ops>) {
            ops_.for_each_parameter(v, [&](id p) {
                found_.parameters.add(p);
                shapes_only = false;
                fixed = false;
            });
        }
        found_.parameters.close();
        shapes_only = shapes_only && has_producer;
        if constexpr (data_aware_operators<Ops>) {
            shapes_only = !owns && ((shapes_only && !ops_.reads_data(v)) || ops_.hides_data(v));
            fixed = fixed && !ops_.reads_data(v);
        }
        place_[index] = found_.size();
        found_.vertex.push_back(index);
        found_.type.push_back(found_.types.intern(type_of(v)));
        found_.of_shapes.push_back(shapes_only);
        found_.fixed.push_back(fixed);
    }

    const Ops& ops_;
    const graph_of<Ops>& graph_;
    std::size_t count_;
    bool as_written_;
    std::vector<id> place_; // by vertex index
    std::map<std::pair<id, id>, id> chain_of_body_;
    aligned_nodes found_;
};

} // namespace stemma::detail

#endif // STEMMA_ALIGN_DETAIL_ALIGNED_NODES_HPP

// <stemma/align/detail/torch_operators.hpp>
#ifndef STEMMA_ALIGN_DETAIL_TORCH_OPERATORS_HPP
#define STEMMA_ALIGN_DETAIL_TORCH_OPERATORS_HPP

namespace stemma::detail {

/// What exporters make of PyTorch's operators, one group on a line:
/// `names = operators that stand for it | operators that come with them | such as rarely do`.
///
/// `*` stands for any operator. A line that starts with `?` holds operators that often leave
/// nothing in the exported graph, one that starts with `-` such that hardly ever leave anything.
/// Names are written without underscores and overload.
inline constexpr std::string_view torch_operators = R"(
linear addmm mm matmul bmm baddbmm mv dot addbmm addmv addr unsafeview = MatMul Gemm Einsum | Add Transpose | Mul Reshape
bilinear tensordot einsum outer chainmatmul multidot = Einsum MatMul Gemm | | Transpose Reshape Add Mul Shape Concat Cast Unsqueeze Squeeze
conv1d conv2d conv3d convolution mkldnnconvolution convtbc slowconv2d thnnconv2d cudnnconvolution = Conv ConvTranspose | | Add Transpose Pad
convtranspose1d convtranspose2d convtranspose3d = ConvTranspose Conv | | Add Slice Pad
?batchnorm nativebatchnorm cudnnbatchnorm batchnormimplindex nativebatchnormlegit nativebatchnormlegitnotraining syncbatchnorm = BatchNormalization | | Mul Add Sub Div Sqrt Reshape Transpose Unsqueeze Squeeze
layernorm nativelayernorm fusedlayernorm = LayerNormalization ReduceMean | Sub Pow Mul Add Sqrt Div | Cast Reciprocal
rmsnorm = RMSNormalization SimplifiedLayerNormalization ReduceMean | Pow Mul Add Sqrt Div Cast Reciprocal
groupnorm nativegroupnorm = GroupNormalization InstanceNormalization | Reshape Shape Mul Add Unsqueeze
instancenorm = InstanceNormalization BatchNormalization | Shape ConstantOfShape Expand Tile Reshape Transpose
localresponsenorm = LRN | Pow Div Mul Add AveragePool Unsqueeze Squeeze Pad
normalize = Div LpNormalization | ReduceL2 Clip Expand Shape Max ReduceSum Pow
weightnorm = Mul | Div ReduceL2 ReduceSum Sqrt Abs Pow
embedding embeddingrenorm = Gather | | Shape Unique Add Div Mul Where Greater ScatterND Unsqueeze
embeddingbag = Gather Loop | Concat Unsqueeze Squeeze Slice Mul ReduceSum ReduceMean ReduceMax Cast Shape
onehot = OneHot | | Cast Concat
relu clampmin = Relu Clip Max | | Cast
relu6 hardtanh clamp clip clampmax threshold = Clip Min Max Relu | | Cast
leakyrelu = LeakyRelu
rrelu = PRelu LeakyRelu RandomUniformLike
prelu = PRelu | Unsqueeze | Squeeze
elu = Elu
selu = Selu
celu = Celu | | Div Elu Mul
gelu = Gelu Erf Tanh | Mul Add Div | Pow And
silu = Sigmoid Swish | Mul
mish = Softplus Mish | Tanh Mul
glu = Split | Sigmoid Mul
softplus = Softplus | | Mul Div
softshrink = Greater | Where Mul Sub Less Neg Add Cast
hardshrink = Greater | Or Cast Less Neg Where
tanhshrink = Tanh | Sub
hardsigmoid = HardSigmoid | | Add Clip Div Mul
hardswish = HardSwish HardSigmoid | Mul Add Clip Div
sigmoid = Sigmoid
logsigmoid = Log LogSigmoid | Sigmoid | Neg Softplus
tanh = Tanh
sin = Sin
cos = Cos
tan = Tan
asin arcsin = Asin
acos arccos = Acos
atan arctan = Atan
sinh = Sinh
cosh = Cosh
asinh = Asinh
acosh = Acosh
atanh = Atanh
exp expm1 exp2 = Exp Pow | | Sub
log log2 log10 log1p = Log | | Div Add Mul
erf erfc = Erf | | Sub
sqrt = Sqrt
rsqrt = Reciprocal Sqrt Rsqrt | Div
reciprocal = Reciprocal Div | | Cast
abs = Abs
neg negative = Neg
sign sgn = Sign
ceil = Ceil
floor = Floor
round = Round
trunc fix frac = Floor Trunc Cast | Sub
square = Mul Pow
pow floatpower rpow = Pow Mul | Cast
softmax safesoftmax softmin = Softmax | | Transpose Cast Sub ReduceMax Exp ReduceSum Div
logsoftmax = LogSoftmax | | Transpose Cast
gumbelsoftmax = Softmax | Exp Log Neg Add RandomUniformLike
logsumexp = ReduceLogSumExp | Exp Log ReduceSum
maxpool1d maxpool2d maxpool3d maxpool1dwithindices maxpool2dwithindices maxpool3dwithindices = MaxPool | | Mul Sub Unsqueeze Squeeze Flatten Slice
avgpool1d avgpool2d avgpool3d = AveragePool | Pad | Cast
lppool1d lppool2d = LpPool AveragePool | | Pow Mul Relu Sign Abs
adaptiveavgpool1d adaptiveavgpool2d adaptiveavgpool3d = GlobalAveragePool AveragePool ReduceMean
adaptivemaxpool1d adaptivemaxpool2d adaptivemaxpool3d adaptivemaxpool2dwithindices = GlobalMaxPool MaxPool | | Mul Sub
maxunpool1d maxunpool2d maxunpool3d = MaxUnpool
lstm quantizedlstm = LSTM | Transpose Concat Unsqueeze Squeeze Reshape Slice Shape Gather ConstantOfShape Expand
gru = GRU | Transpose Concat Unsqueeze Squeeze Reshape Slice Shape Gather ConstantOfShape Expand
rnntanh rnnrelu rnn = RNN | Transpose Concat Unsqueeze Squeeze Reshape Slice Shape Gather ConstantOfShape Expand
lstmcell = LSTM Gemm MatMul | Add Split Slice Sigmoid Tanh Mul Unsqueeze Squeeze Transpose Concat Reshape
grucell rnntanhcell rnnrelucell = GRU RNN Gemm MatMul | Add Sub Split Slice Sigmoid Tanh Relu Mul Unsqueeze Squeeze Transpose Concat Reshape
multiheadattentionforward multiheadattention nativemultiheadattention = MatMul Gemm Softmax Attention | Add Mul Div Sqrt Transpose Reshape Squeeze Split Unsqueeze Gather Concat Shape Slice Cast Where Expand Equal Not IsNaN | ReduceMean
transformerencoderlayer transformerencoderlayerfwd transformerdecoderlayer transformer transformerencoder transformerdecoder = MatMul Gemm Softmax Attention | Add Mul Div Sqrt Transpose Reshape Squeeze Split Unsqueeze Gather Concat Shape Slice Cast Relu Gelu Erf Where Expand Equal Not IsNaN ReduceMean Sub Pow LayerNormalization
scaleddotproductattention scaleddotproductflashattention scaleddotproductefficientattention scaleddotproductflashattentionforcpu = Softmax MatMul Attention | Mul Div Sqrt Transpose Add Where IsNaN Shape Cast Trilu
attention = Attention Softmax MatMul | Mul Div Sqrt Transpose Add Where Reshape
add radd iadd sum2 = Add SequenceInsert Sum Or | | Mul
sub rsub subtract isub = Sub | | Mul Neg
mul multiply rmul imul = Mul And
div truedivide divide rtruediv truediv idiv itruediv = Div Mul | | Cast Floor Sub Not Equal Less Mod Where And Xor
floordivide floordiv rfloordiv = Div Floor | Floor Cast | Xor Less Mod And Not Equal Sub Where
fmod remainder mod = Mod | Div Cast Floor Xor Sub Mul And Not Equal
addcmul addcdiv = Mul Div | Add
lerp = Sub Mul | Add Where Less Cast
maximum max amax = Max ReduceMax ArgMax TopK | | Cast Squeeze
minimum min amin = Min ReduceMin ArgMin TopK | | Cast Squeeze
aminmax = ReduceMin ReduceMax
eq ne equal = Equal | | Not Cast
gt = Greater | | Cast Not Less
ge = GreaterOrEqual Less Greater | | Not Cast
lt = Less | | Cast Not
le = LessOrEqual Greater Less | | Not Cast
is isnot = Equal Not OptionalHasElement | Cast
logicaland and bitwiseand iand = And BitwiseAnd Mul | | Cast
logicalor or bitwiseor ior = Or BitwiseOr | | Cast
logicalxor xor bitwisexor ixor = Xor BitwiseXor | | Cast
logicalnot not bitwisenot invert = Not BitwiseNot | | Cast
lshift bitwiseleftshift = BitShift Mul | Cast Pow
rshift bitwiserightshift = BitShift Div | Cast Pow
isnan = IsNaN
isinf = IsInf | | Cast
isfinite = IsInf IsNaN Or Not | Cast
nantonum = Where IsNaN IsInf | And Cast Greater Less
where = Where NonZero | | Cast Transpose
maskedfill maskedscatter = Where ScatterND | Cast Transpose NonZero Shape Expand Reshape
maskedselect nonzero nonzeronumpy argwhere = NonZero GatherND Split | Transpose Shape Expand Squeeze
sum = ReduceSum Sum | | Cast
mean = ReduceMean GlobalAveragePool | | Cast
prod = ReduceProd | | Cast
std var stdmean varmean = ReduceMean Sqrt | Shape ReduceProd Gather Sub Mul Cast Div Add ReduceSum
norm frobeniusnorm linalgvectornorm linalgmatrixnorm linalgnorm nuclearnorm = ReduceL2 ReduceL1 ReduceSum ReduceMax ReduceMin | Abs Pow Sqrt Mul Div Cast Reshape Not Equal ArgMax ArgMin
all any = ReduceSum ReduceMin ReduceMax | | Not Cast Greater
argmax = ArgMax | | Reshape Cast
argmin = ArgMin | | Reshape Cast
cumsum = CumSum | | Cast
cumprod = Exp Log Loop
topk = TopK | Reshape Cast
sort argsort msort = TopK | | Shape Gather
unique uniquedim unique2 uniqueconsecutive = Unique
searchsorted bucketize = Less LessOrEqual Greater | ReduceSum Cast Concat Shape Unsqueeze Expand
cosinesimilarity = ReduceSum Div | Mul Max ReduceMax Sqrt Cast ReduceL2 Clip ArgMax
pairwisedistance cdist = Pow ReduceSum | Sub Add Abs Unsqueeze Sqrt
cross linalgcross = Mul Sub | Concat Slice Split
binarycrossentropywithlogits binarycrossentropy mseloss l1loss smoothl1loss huberloss kldiv = Log Sub | Sigmoid Mul Neg Add ReduceMean ReduceSum Exp Pow Abs Where Less Cast Shape ConstantOfShape Greater NonZero Transpose
crossentropyloss nllloss nllloss2d nlllossnd = SoftmaxCrossEntropyLoss NegativeLogLikelihoodLoss | LogSoftmax Squeeze Unsqueeze
det linalgdet logdet = Det | Log
view reshape unsafereshape reshapeas viewas reshapefromtensor unflatten viewascomplex viewasreal reshapealias = Reshape Flatten | Shape Gather Unsqueeze Concat Slice Squeeze Cast Mul Div
flatten = Flatten Reshape | Shape Slice Concat
transpose t permute movedim moveaxis swapaxes swapdims numpyt adjoint h mt mh = Transpose
squeeze = Squeeze | | Shape Gather Equal If Reshape
unsqueeze = Unsqueeze | | Reshape
expand broadcastto expandas broadcasttensors = Expand | Reshape Unsqueeze Concat Shape ConstantOfShape Mul Equal Where Cast
repeat tile repeatinterleave = Tile Expand Loop | Shape ConstantOfShape Reshape Unsqueeze Concat Mul Where Equal Cast Split SplitToSequence Add SequenceAt SequenceEmpty ConcatFromSequence Gather Slice
cat concat concatenate = Concat ConcatFromSequence
stack hstack vstack dstack columnstack = Concat ConcatFromSequence | Unsqueeze Reshape
split splitwithsizes chunk unsafechunk unsafesplit unsafesplitwithsizes tensorsplit hsplit vsplit = Split SplitToSequence Slice | SequenceAt Gather Shape Add Sub Div Unsqueeze Squeeze Concat Mul Mod Tile SequenceEmpty SequenceInsert Loop
unbind = Split SplitToSequence Gather | Squeeze
getitem select narrow diagonal derivegetitem = Slice Gather GatherND | Unsqueeze Squeeze Shape Add Sub Mul Div Cast Concat SequenceAt Reshape Transpose Flatten NonZero Equal Where Expand ReduceSum EyeLike CumSum
?slice = Slice Gather GatherND | Unsqueeze Squeeze Shape Add Sub Mul Div Cast Concat SequenceAt Reshape Transpose Flatten NonZero Equal Where Expand ReduceSum EyeLike CumSum
index indexselect take takealongdim gather = Gather GatherElements GatherND | Reshape Cast Squeeze Unsqueeze Transpose NonZero Shape Flatten Mul Add Concat OneHot ReduceSum Slice
setitem indexput indexputimpl indexcopy indexfill indexadd indexreduce scatter scatteradd scatterreduce selectscatter slicescatter = ScatterND ScatterElements Scatter SequenceInsert | Mul Add NonZero Shape Unsqueeze Reshape Concat ConstantOfShape Cast Transpose Where Equal Expand Range Slice SequenceErase
pad constantpadnd reflectionpad1d reflectionpad2d reflectionpad3d replicationpad1d replicationpad2d replicationpad3d padcircular zeropad2d constantpad2d constantpad1d = Pad Concat | Cast ConcatFromSequence Shape Size Sub Mul ConstantOfShape Reshape Transpose Slice Unsqueeze
roll = Concat | Slice
flip fliplr flipud rot90 = Slice | Transpose
tril triu triltriuindices = Trilu | Where Mul
eye = EyeLike | Unsqueeze Concat ConstantOfShape
unfold im2col asstrided = Gather Concat | Unsqueeze Transpose Reshape Range Shape Add Sub Mul Pad Slice Squeeze Cast Min Loop
fold col2im = Col2Im ScatterND | Reshape Transpose Concat Range
pixelshuffle pixelunshuffle channelshuffle = DepthToSpace SpaceToDepth Reshape | Transpose Unsqueeze Squeeze
interpolate upsample upsamplebicubic2d upsamplebilinear2d upsamplelinear1d upsamplenearest1d upsamplenearest2d upsamplenearest3d upsampletrilinear3d upsamplenearestexact2d = Resize Upsample | Concat Unsqueeze Cast Shape Div Slice Mul Floor Gather
gridsampler gridsampler2d gridsample affinegrid affinegridgenerator = GridSample AffineGrid MatMul
roialign = RoiAlign
nms = NonMaxSuppression | Unsqueeze Gather Squeeze
fakequantizeperchannelaffine fakequantizepertensoraffine fakequantize = QuantizeLinear | DequantizeLinear Cast Clip
quantizepertensor quantizeperchannel = QuantizeLinear | Cast
dequantize = DequantizeLinear | Cast
meshgrid = Expand Reshape | Shape Concat Unsqueeze
?arange range dimarange linspace hannwindow = Range | Cast Unsqueeze Squeeze Shape Gather | Ceil Transpose NonZero ConstantOfShape Sub Add Mul Div Sin
?full zeros ones empty newfull newzeros newones newempty fulllike zeroslike oneslike emptylike fill zero scalartensor newtensor asarray = ConstantOfShape Expand | Shape Cast Concat Unsqueeze Gather | Mul Add
?rand randn randlike randnlike normal uniform bernoulli multinomial randint randintlike randperm sampledirichlet standardgamma = RandomUniformLike RandomNormalLike RandomUniform RandomNormal Multinomial Bernoulli | ConstantOfShape Shape Less Cast Log Mul Add Concat Expand
?dropout nativedropout alphadropout featuredropout featurealphadropout dropout1d dropout2d dropout3d droppath = Dropout | | Cast Mul
?to typeas float double half bfloat16 long int short char byte bool type tocopy castbfloat16 castbool castbyte castchar castcomplexdouble castcomplexfloat castdouble castfloat casthalf castint castlong castshort convertelementtype = Cast
?size shape getattr len numel symsize shapeastensor symnumel = Shape Size | Gather Squeeze Unsqueeze SequenceLength ReduceProd Slice
?tensor astensor list tolist scalar item scalarimplicit localscalardense intimplicit floatimplicit = Cast Concat | Reshape Unsqueeze ConcatFromSequence Squeeze Gather
?append insert pop delete setitemlist = SequenceInsert SequenceErase SequenceConstruct | SequenceAt
?packpaddedsequence padpackedsequence = Transpose | Cast
?rangelength deriveindex = Add Sub Div Mul | Ceil Cast
?forward call recursivescriptmodule scriptmodule topleveltracedmodule tracedmodule = *
?nativemaskedlinear scan cond whileloop = If Loop Scan
-contiguous clone copy detach alias lift liftfresh liftfreshcopy conj conjphysical resolveconj resolveneg identity requiresgrad data cpu cuda dataptr positive = Identity | Cast Transpose
-dim ndim dtype device layout isfloatingpoint ispinned isnested iscomplex isquantized getpoolceilpadding assert asserttensormetadata isspared requiresgradget grad itemsize stride storageoffset iscontiguous isinference names ismeta iscuda = Identity | Shape Size
)";

} // namespace stemma::detail

#endif // STEMMA_ALIGN_DETAIL_TORCH_OPERATORS_HPP

// <stemma/align/fused_operators.hpp>
#ifndef STEMMA_ALIGN_FUSED_OPERATORS_HPP
#define STEMMA_ALIGN_FUSED_OPERATORS_HPP

namespace stemma::detail {

/// What runtimes make one operator of, one group on a line: `types = operators that lead |
/// operators that are fused in`.
///
/// The first compute what the fused operator is there for; the others may be part of it. A type of
/// a domain whose operators have names of the standard's is written behind that, as `domain::Type`.
inline constexpr std::string_view fused_operators = R"(
FusedConv NhwcFusedConv com.microsoft.nchwc::Conv = Conv | Add Sum Relu Sigmoid Tanh LeakyRelu Clip HardSigmoid
NhwcConv QLinearConv ConvInteger NhwcQLinearConv = Conv
QLinearConvTranspose ConvTransposeWithDynamicPads = ConvTranspose
com.microsoft.nchwc::MaxPool com.ms.internal.nhwc::MaxPool NhwcMaxPool = MaxPool
com.microsoft.nchwc::AveragePool QLinearAveragePool = AveragePool
com.microsoft.nchwc::GlobalAveragePool QLinearGlobalAveragePool = GlobalAveragePool
com.microsoft.nchwc::GlobalMaxPool = GlobalMaxPool
com.microsoft.nchwc::Upsample = Resize Upsample
FusedMatMul TransposeMatMul = MatMul | Transpose Mul Div
FusedMatMulActivation = MatMul | Transpose Mul Div Add Relu Sigmoid Tanh LeakyRelu Clip
FusedGemm GemmFastGelu = Gemm MatMul | Relu Sigmoid Tanh LeakyRelu Elu Selu Softplus Softsign HardSigmoid Gelu Erf
GemmFloat8 QGemm MatMulNBits MatMulBnb4 MatMulFpQ4 QLinearMatMul MatMulInteger MatMulIntegerToFloat MatMulInteger16 DynamicQuantizeMatMul = MatMul Gemm | Add
BiasGelu BiasSplitGelu = Gelu Erf | Add Mul Split
FastGelu = Gelu Tanh | Add
QuickGelu = Sigmoid Swish | Mul
BiasAdd = Add
BiasDropout BitmaskBiasDropout = Dropout | Add
BiasSoftmax = Softmax | Add
SkipLayerNormalization = LayerNormalization ReduceMean | Add
SkipSimplifiedLayerNormalization SkipRMSNormalization = SimplifiedLayerNormalization RMSNormalization ReduceMean | Add
EmbedLayerNormalization QEmbedLayerNormalization = LayerNormalization ReduceMean | Gather Add
SkipGroupNorm GroupNorm = GroupNormalization InstanceNormalization | Add Sigmoid Mul
Attention QAttention QOrderedAttention LongformerAttention PackedAttention DecoderAttention = Softmax | MatMul Gemm Add Mul Div Sub Sqrt Transpose Reshape Split Slice Squeeze Unsqueeze Where Concat Expand Cast Trilu
MultiHeadAttention PackedMultiHeadAttention DecoderMaskedMultiHeadAttention DecoderMaskedSelfAttention GroupQueryAttention SparseAttention PagedAttention MultiScaleDeformableAttention = Softmax | MatMul Add Mul Div Sub Sqrt Transpose Reshape Where Concat Expand Cast Trilu
RelativePositionBias GatedRelativePositionBias = Gather | MatMul Add Mul Sub Where Log Min Abs Less Cast Sigmoid Transpose Reshape
RotaryEmbedding GemmaRotaryEmbedding = Mul | Add Sub Neg Slice Split Concat Cos Sin Gather Unsqueeze
QMoE MoE = MatMul | Gemm TopK Softmax Relu Gelu Sigmoid Mul Add
QLinearAdd = Add
QLinearMul = Mul
QLinearSigmoid = Sigmoid
QLinearLeakyRelu = LeakyRelu
QLinearSoftmax = Softmax
QLinearConcat = Concat
QLinearWhere = Where
QLinearReduceMean = ReduceMean
DynamicQuantizeLSTM = LSTM
ReorderInput ReorderOutput = Transpose
)";

/// Whether a fused operator of a type always holds one of a module beside that whose parameters it
/// reads: an activation, or the addition in front of a normalization.
[[nodiscard]] constexpr bool joins_neighbour(std::string_view type) noexcept {
    constexpr std::array<std::string_view, 6> types{
        "BiasGelu",    "BiasSplitGelu",          "BiasSoftmax",
        "BiasDropout", "SkipLayerNormalization", "SkipSimplifiedLayerNormalization"};
    return std::find(types.begin(), types.end(), type) != types.end();
}

} // namespace stemma::detail

#endif // STEMMA_ALIGN_FUSED_OPERATORS_HPP

// <stemma/core/category.hpp>
#ifndef STEMMA_CORE_CATEGORY_HPP
#define STEMMA_CORE_CATEGORY_HPP

namespace stemma {

/// Which modules get a tag of their own?
struct selection_category {};
/// What do tags look like?
struct naming_category {};
/// Which module does a source claim for an operator?
struct evidence_category {};
/// Which claim is believed when sources differ?
struct resolution_category {};
/// Where do operators without evidence belong?
struct propagation_category {};
/// How are tags stored in a file?
struct carrier_category {};
/// What belongs to a part that is cut out of a model?
struct cut_category {};
/// What does an operator add to the part it is in?
struct cost_category {};
/// Which operators go to one part?
struct partition_category {};
/// Which modules become functions, and which of them may share one?
struct fold_category {};
/// Which operators does an exporter make of a captured one?
struct lexicon_category {};
/// Which operators does a view show?
struct visibility_category {};
/// Which findings about a model are told, and how much do they matter?
struct diagnostics_category {};

/// A class that declares which question it answers.
template <class P>
concept policy = std::copy_constructible<P> && requires {
    typename P::policy_category;
};

/// A policy that answers the question of `Category`.
template <class P, class Category>
concept policy_for = policy<P> && std::same_as<typename P::policy_category, Category>;

} // namespace stemma

#endif // STEMMA_CORE_CATEGORY_HPP

// <stemma/align/lexicon.hpp>
#ifndef STEMMA_ALIGN_LEXICON_HPP
#define STEMMA_ALIGN_LEXICON_HPP

namespace stemma {

/// How an exported operator fits a captured one, from not at all to best.
enum class correspondence : std::uint8_t {
    none,     ///< is none of its operators
    plumbing, ///< moves data or computes shapes, which any operation may need
    rare,     ///< may come with the operator that stands for it
    part,     ///< comes with the operator that stands for it
    head,     ///< stands for it
};

/// Whether a captured operator leaves anything in the exported graph.
enum class trail : std::uint8_t {
    never,  ///< nothing: it is gone, or becomes part of what reads it
    maybe,  ///< nothing, or some operators
    always, ///< at least one operator
};

namespace detail {

template <class P>
concept has_correspond = requires(const P& p, std::string_view captured, std::string_view type) {
    { p.correspond(captured, type) } -> std::convertible_to<correspondence>;
};

template <class P>
concept has_trail_of = requires(const P& p, std::string_view captured) {
    { p.trail_of(captured) } -> std::convertible_to<trail>;
};

template <class P>
concept has_fuses = requires(const P& p, std::string_view captured, std::string_view type) {
    { p.fuses(captured, type) } -> std::convertible_to<bool>;
};

} // namespace detail

/// Says which operators an exporter makes of which captured ones.
///
/// `correspond(captured, type)`: how an exported operator of a type fits a captured one.
/// `trail_of(captured)`: whether a captured one leaves anything. Names of captured operators come
/// as the front end prints them, see `plain_operator_name`. It may say more: `fuses(captured,
/// type)`, whether a runtime makes operators of a type of several, one of which stands for the
/// captured one; types of other domains than the standard's come as `domain::Type`.
///
/// Requires: the same answer every time. Complexity: callers ask once per pair of distinct names.
template <class P>
concept lexicon_policy =
    policy_for<P, lexicon_category> && detail::has_correspond<P> && detail::has_trail_of<P>;

/// Returns: the operator in a name as a front end prints it, in lower case and without underscores:
/// `batchnorm` for `torch.nn.functional.batch_norm`, `add` for `aten.add_.Tensor` and
/// `torch.Tensor.__radd__`-like names keep their `r`, `shape` for `torch.Tensor.shape.__get__`.
/// Complexity: O(length).
[[nodiscard]] inline std::string plain_operator_name(std::string_view name) {
    if (name.starts_with('<')) { // <function _assert at 0x...>
        const auto space = name.find(' ');
        name.remove_prefix(space == name.npos ? 1 : space + 1);
        name = name.substr(0, name.find_first_of(" >"));
    }
    std::string_view rest = name;
    for (const std::string_view prefix : {"aten", "prims", "prim", "quantized"}) {
        // aten.add.Tensor and aten::add.Tensor: what follows the operator is its overload
        if (rest.starts_with(prefix) && rest.size() > prefix.size() + 1 &&
            (rest[prefix.size()] == '.' || rest.substr(prefix.size(), 2) == "::")) {
            rest.remove_prefix(prefix.size() + (rest[prefix.size()] == '.' ? 1 : 2));
            rest = rest.substr(0, rest.find('.'));
            break;
        }
    }
    if (rest.ends_with(".__get__")) {
        rest.remove_suffix(8);
    }
    if (const auto dot = rest.find_last_of(".:"); dot != rest.npos) {
        rest.remove_prefix(dot + 1);
    }
    std::string plain;
    for (char c : rest) {
        if (c != '_') {
            plain.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
        }
    }
    return plain;
}

/// Returns: `fuses` of a lexicon, if it says that. Complexity: that of the lexicon.
template <lexicon_policy Lexicon>
[[nodiscard]] bool fuses(const Lexicon& lexicon, std::string_view captured, std::string_view type) {
    if constexpr (detail::has_fuses<Lexicon>) {
        return lexicon.fuses(captured, type);
    } else {
        return false;
    }
}

/// Returns: a type without its domain: `FusedConv` for `com.microsoft::FusedConv`.
[[nodiscard]] inline std::string_view plain_type(std::string_view type) noexcept {
    const auto domain = type.rfind("::");
    return domain == type.npos ? type : type.substr(domain + 2);
}

/// PyTorch's operators and layers, and what its exporters make of them; what is not listed is
/// compared by name. Operators that runtimes fuse are what they were fused from.
class torch_lexicon {
public:
    using policy_category = lexicon_category;

    /// PyTorch's operators and those of runtimes, from the tables in the box.
    torch_lexicon() : torch_lexicon(detail::torch_operators, detail::fused_operators) {}

    /// Reads tables of that form. Requires: they outlive the lexicon. Complexity: O(length).
    explicit torch_lexicon(std::string_view table, std::string_view fused = "") {
        for_each_line(table, [&](std::string_view line) { read_line(line); });
        for_each_line(fused, [&](std::string_view line) { read_fused(line); });
    }

    [[nodiscard]] correspondence correspond(std::string_view captured,
                                            std::string_view type) const {
        const auto plain = plain_operator_name(captured);
        auto best = compare(plain, plain_type(type));
        if (const auto* made = find_fused(type)) {
            for (auto part : made->heads) {
                best = std::max(best, compare(plain, part));
            }
            for (auto part : made->parts) {
                best = std::max(best, std::min(compare(plain, part), correspondence::rare));
            }
        }
        return best;
    }

    /// Whether operators of a type may be made of one for the captured operator, and of others.
    [[nodiscard]] bool fuses(std::string_view captured, std::string_view type) const {
        const auto* made = find_fused(type);
        if (made == nullptr || made->parts.empty()) {
            return false;
        }
        const auto plain = plain_operator_name(captured);
        const auto stands_for_it = [&](std::string_view part) {
            return compare(plain, part) == correspondence::head;
        };
        return std::any_of(made->heads.begin(), made->heads.end(), stands_for_it) ||
               std::any_of(made->parts.begin(), made->parts.end(), stands_for_it);
    }

    [[nodiscard]] trail trail_of(std::string_view captured) const {
        const auto* known = find(plain_operator_name(captured));
        return known == nullptr ? trail::maybe : known->leaves;
    }

    /// Returns: whether the table lists an operator.
    [[nodiscard]] bool lists(std::string_view captured) const {
        return find(plain_operator_name(captured)) != nullptr;
    }

private:
    using types = std::vector<std::string_view>;

    struct group {
        types heads;
        types parts;
        types rare;
        trail leaves = trail::always;
    };

    template <class Function>
    static void for_each_line(std::string_view table, Function f) {
        while (!table.empty()) {
            const auto end = table.find('\n');
            f(table.substr(0, end));
            table.remove_prefix(end == table.npos ? table.size() : end + 1);
        }
    }

    [[nodiscard]] correspondence compare(const std::string& plain, std::string_view type) const {
        if (const auto* known = find(plain)) {
            if (contains(known->heads, "*")) {
                return correspondence::rare; // anything may come of it
            }
            if (contains(known->heads, type)) {
                return correspondence::head;
            }
            if (contains(known->parts, type)) {
                return correspondence::part;
            }
            if (contains(known->rare, type)) {
                return correspondence::rare;
            }
        } else if (is_similar(plain, type)) {
            return correspondence::head;
        }
        return is_plumbing(type) ? correspondence::plumbing : correspondence::none;
    }

    static types split(std::string_view text) {
        types words;
        while (true) {
            const auto first = text.find_first_not_of(' ');
            if (first == text.npos) {
                return words;
            }
            text.remove_prefix(first);
            words.push_back(text.substr(0, text.find(' ')));
            text.remove_prefix(words.back().size());
        }
    }

    void read_line(std::string_view line) {
        group made;
        if (line.starts_with('?') || line.starts_with('-')) {
            made.leaves = line.front() == '?' ? trail::maybe : trail::never;
            line.remove_prefix(1);
        }
        read_into(line, made, group_of_, groups_);
    }

    void read_fused(std::string_view line) { read_into(line, {}, fused_of_, fused_); }

    using numbers = std::unordered_map<std::string, std::size_t>;

    static void read_into(std::string_view line, group made, numbers& group_of,
                          std::vector<group>& groups) {
        const auto equals = line.find('=');
        if (equals == line.npos) {
            return;
        }
        auto rest = line.substr(equals + 1);
        for (auto* list : {&made.heads, &made.parts, &made.rare}) {
            const auto bar = rest.find('|');
            *list = split(rest.substr(0, bar));
            rest.remove_prefix(bar == rest.npos ? rest.size() : bar + 1);
        }
        for (auto name : split(line.substr(0, equals))) {
            group_of.emplace(std::string(name), groups.size());
        }
        groups.push_back(std::move(made));
    }

    /// The whole type, or else what it is called in any domain.
    [[nodiscard]] const group* find_fused(std::string_view type) const {
        auto found = fused_of_.find(std::string(type));
        found = found == fused_of_.end() ? fused_of_.find(std::string(plain_type(type))) : found;
        return found == fused_of_.end() ? nullptr : &fused_[found->second];
    }

    /// Also finds `batchnorm2d` as `batchnorm`, `adaptiveavgpool` only by its whole name, and
    /// `qconv2d` or `iadd` without their first letter.
    [[nodiscard]] const group* find(const std::string& plain) const {
        const auto known = [&](const std::string& name) -> const group* {
            const auto found = group_of_.find(name);
            return found == group_of_.end() ? nullptr : &groups_[found->second];
        };
        if (const auto* found = known(plain)) {
            return found;
        }
        if (plain.size() > 2 && plain.back() == 'd' && plain[plain.size() - 2] >= '1' &&
            plain[plain.size() - 2] <= '3') {
            return known(plain.substr(0, plain.size() - 2));
        }
        if (plain.size() > 3 && (plain.front() == 'i' || plain.front() == 'r')) {
            return known(plain.substr(1));
        }
        return nullptr;
    }

    [[nodiscard]] static bool contains(const types& list, std::string_view type) {
        return std::find(list.begin(), list.end(), type) != list.end();
    }

    [[nodiscard]] static bool is_similar(const std::string& plain, std::string_view type) {
        const auto other = plain_operator_name(type);
        const auto& [shorter, longer] = std::minmax(
            plain, other, [](const auto& a, const auto& b) { return a.size() < b.size(); });
        return shorter.size() >= 3 && longer.find(shorter) != longer.npos;
    }

    [[nodiscard]] static bool is_plumbing(std::string_view type) {
        static constexpr std::string_view list[]{
            "Shape",           "Gather",  "Unsqueeze", "Squeeze",   "Concat",   "Cast",  "Reshape",
            "Slice",           "Size",    "Expand",    "Transpose", "Identity", "Range", "Constant",
            "ConstantOfShape", "CastLike"};
        return std::find(std::begin(list), std::end(list), type) != std::end(list);
    }

    std::vector<group> groups_;
    numbers group_of_;
    std::vector<group> fused_; // what leads as heads, what is fused in as parts
    numbers fused_of_;
};

/// No table: what is captured and what is exported are compared by name alone, as for front ends
/// other than PyTorch. `add` fits `Add` and `AddV2`.
class similar_names : public torch_lexicon {
public:
    /// With a table of no lines.
    similar_names() : torch_lexicon("") {}
};

/// Operators of the same name only, case and underscores aside: for graphs that were captured in
/// the terms of the exported one.
struct equal_names {
    using policy_category = lexicon_category;

    [[nodiscard]] correspondence correspond(std::string_view captured,
                                            std::string_view type) const {
        return plain_operator_name(captured) == plain_operator_name(type) ? correspondence::head
                                                                          : correspondence::none;
    }

    [[nodiscard]] constexpr trail trail_of(std::string_view) const noexcept {
        return trail::always;
    }
};

/// Put `static_assert(explain_lexicon_policy<mine>());` beside a policy that is refused.
template <class P>
consteval bool explain_lexicon_policy() {
    static_assert(std::copy_constructible<P>, "lexicon policy: make the class copyable");
    static_assert(policy_for<P, lexicon_category>,
                  "lexicon policy: add `using policy_category = stemma::lexicon_category;`");
    static_assert(
        detail::has_correspond<P>,
        "lexicon policy: add `stemma::correspondence correspond(std::string_view captured, "
        "std::string_view type) const`");
    static_assert(detail::has_trail_of<P>,
                  "lexicon policy: add `stemma::trail trail_of(std::string_view captured) const`");
    return lexicon_policy<P>;
}

} // namespace stemma

#endif // STEMMA_ALIGN_LEXICON_HPP

// <stemma/align/detail/aligned_items.hpp>
#ifndef STEMMA_ALIGN_DETAIL_ALIGNED_ITEMS_HPP
#define STEMMA_ALIGN_DETAIL_ALIGNED_ITEMS_HPP

namespace stemma::detail {

/// The captured operations with what the alignment asks of them.
struct aligned_items {
    std::vector<id> profile; ///< which row of the table says what they stand for
    std::vector<trail> leaves;
    std::vector<bool> of_shapes; ///< asks for a shape
    id_lists sources; ///< items whose results they may read, through such as may leave no trace
    std::vector<std::vector<correspondence>> table; ///< by profile, then by type of operator
    std::vector<std::vector<bool>> fuses; ///< the same: the type may be made of it and of others
    std::vector<bool> is_fused;     ///< by type of operator: it may be made of several operations
    std::vector<double> part_costs; ///< by profile
    std::vector<double> skipped;    ///< what it costs to leave out all before

    /// Whether what one item makes may be read by another, or is its own.
    [[nodiscard]] bool flows(id from, id to) const {
        const auto all = sources[to];
        return from == to || std::binary_search(all.begin(), all.end(), from);
    }
};

/// What the steps of an alignment weigh: natural logarithms of likelihoods, up to a constant.
struct alignment_weights {
    double part = 0.2;  ///< and the more,
    double parts = 0.3; ///< the more kinds of parts there are (times the logarithm)
    double rare = 2;
    double plumbing = 2.5;
    double early = 0.7;     ///< ahead of the head, but for shapes that the operation needs
    double late = 1;        ///< shapes behind the head,
    double late_part = 0.3; ///< and such as the operation usually comes with
    double foreign = 7;     ///< an operator that does not fit the operation at all
    double repeated = 2;    ///< a second head of one operation
    double silent = 3;      ///< anything from an operation that leaves no trace
    double headless = 4;    ///< an operation without its head
    double skip_always = 5; ///< an operation that should have left something
    double skip_maybe = 0.8;
    double skip_never = 0.02;
    double jump = 30;         ///< leaving out any number of operations costs no more
    double lost = 3;          ///< entering a stretch that nothing explains
    double unexplained = 4.5; ///< each operator in it
    double known_parameter = 5;
    double other_parameter = 6;
    double shaped_parameter = 3;
    double misshapen_parameter = 1.5;
    double unread_parameter = 2;
    double flow = 1.2;
    double against_flow = 1.5;
    double leak = 1.5; ///< reading a result of the operation that comes from it
    double owner = 1;  ///< an owner of bodies: what ran there is left out
    double entry = 2;  ///< starting or ending a body anywhere in what its owner left out
    double beam = 25;
};

template <class Lexicon>
[[nodiscard]] aligned_items describe_items(const captured_operations& captured,
                                           const string_pool& types, const Lexicon& lexicon,
                                           const alignment_weights& weights) {
    aligned_items items;
    items.is_fused.resize(types.size(), false);
    const auto& names = captured.names();
    std::vector<std::vector<correspondence>> by_name(names.size());
    std::vector<std::vector<bool>> fused_by_name(names.size());
    std::vector<bool> has_head(names.size(), false);
    for (id n = 0; n < names.size(); ++n) {
        for (id t = 0; t < types.size(); ++t) {
            by_name[n].push_back(lexicon.correspond(names[n], plain_type(types[t])));
            fused_by_name[n].push_back(fuses(lexicon, names[n], types[t]));
            has_head[n] = has_head[n] || by_name[n].back() == correspondence::head;
        }
    }
    std::map<std::vector<id>, id> profiles;
    double total = 0;
    for (id i = 0; i < captured.size(); ++i) {
        const auto own = captured.names_of(i);
        std::vector<id> key(own.begin(), own.end());
        std::sort(key.begin() + 1, key.end());
        key.erase(std::unique(key.begin() + 1, key.end()), key.end());
        const auto [known, added] = profiles.emplace(key, static_cast<id>(items.table.size()));
        if (added) {
            auto row = by_name[key.front()];
            for (std::size_t k = 1; k < key.size(); ++k) {
                for (id t = 0; t < types.size(); ++t) {
                    auto other = by_name[key[k]][t];
                    if (has_head[key.front()]) {
                        other = std::min(other, correspondence::rare);
                    }
                    row[t] = std::max(row[t], other);
                }
            }
            const auto parts = std::count(row.begin(), row.end(), correspondence::part);
            items.part_costs.push_back(weights.part +
                                       weights.parts * std::log1p(static_cast<double>(parts)));
            items.table.push_back(std::move(row));
            items.fuses.push_back(fused_by_name[key.front()]);
            for (id t = 0; t < types.size(); ++t) {
                items.is_fused[t] = items.is_fused[t] || items.fuses.back()[t];
            }
        }
        auto leaves = lexicon.trail_of(names[own.front()]);
        bool head = has_head[own.front()];
        for (auto n : own) {
            head = head || has_head[n];
        }
        // what stands for it occurs nowhere in the model, so it cannot be missed here
        // or it is the same at every run, and may have been computed while exporting,
        // or it may have become part of another operator
        const auto& row = items.table[known->second];
        bool spared = !head || !captured[i].varies || captured[i].optional;
        for (id t = 0; t < types.size() && !spared; ++t) {
            spared = items.fuses[known->second][t] && row[t] != correspondence::head;
        }
        leaves = leaves == trail::always && spared ? trail::maybe : leaves;
        const auto shape = types.find("Shape");
        items.of_shapes.push_back(shape != no_id &&
                                  items.table[known->second][shape] == correspondence::head);
        items.profile.push_back(known->second);
        items.leaves.push_back(leaves);
        items.skipped.push_back(total);
        total += leaves == trail::always  ? weights.skip_always
                 : leaves == trail::maybe ? weights.skip_maybe
                                          : weights.skip_never;
    }
    items.skipped.push_back(total);
    constexpr std::size_t max_sources = 24;
    std::vector<id> sources;
    for (id i = 0; i < captured.size(); ++i) {
        sources.clear();
        for (auto s : captured.sources_of(i)) {
            sources.push_back(s);
            if (items.leaves[s] != trail::always) {
                const auto further = items.sources[s];
                sources.insert(sources.end(), further.begin(), further.end());
            }
        }
        std::sort(sources.begin(), sources.end());
        sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
        const auto first = sources.size() > max_sources ? sources.size() - max_sources : 0;
        for (auto k = first; k < sources.size(); ++k) {
            items.sources.add(sources[k]);
        }
        items.sources.close();
    }
    return items;
}

} // namespace stemma::detail

#endif // STEMMA_ALIGN_DETAIL_ALIGNED_ITEMS_HPP

// <stemma/align/detail/log_sum.hpp>
#ifndef STEMMA_ALIGN_DETAIL_LOG_SUM_HPP
#define STEMMA_ALIGN_DETAIL_LOG_SUM_HPP

namespace stemma {

/// Returns: the logarithm of the sum of two numbers given by theirs; minus infinity stands for 0.
[[nodiscard]] inline double log_sum(double a, double b) {
    const auto high = std::max(a, b);
    const auto low = std::min(a, b);
    return std::isinf(low) ? high : high + std::log1p(std::exp(low - high));
}

} // namespace stemma

#endif // STEMMA_ALIGN_DETAIL_LOG_SUM_HPP

// <stemma/align/detail/alignment_lattice.hpp>
#ifndef STEMMA_ALIGN_DETAIL_ALIGNMENT_LATTICE_HPP
#define STEMMA_ALIGN_DETAIL_ALIGNMENT_LATTICE_HPP

namespace stemma::detail {

/// Which operation a place in an alignment stands at, and what it has made so far.
struct lattice_state {
    id item = no_id;
    std::uint8_t phase = 0; ///< 0: no head yet, 1: a head, 2: in a stretch that is not explained

    friend auto operator<=>(const lattice_state&, const lattice_state&) = default;
};

/// How likely it is that an operator comes from an operation.
struct placement {
    id item = no_id; ///< `no_id`: from none
    float mass = 0;
};

/// Sums over all monotone alignments of a sequence of operators with a sequence of operations, each
/// of which makes any number of operators (a hidden Markov model; forward-backward algorithm), as
/// far as they are not hopeless against the best one.
///
/// `score(node, item, head)` is what data flow and parameters add. Complexity: O(nodes * width of
/// the beam).
class alignment_lattice {
public:
    alignment_lattice(const aligned_nodes& nodes, const aligned_items& items,
                      const alignment_weights& weights)
        : nodes_(nodes), items_(items), weights_(weights) {}

    /// Aligns the operators of one chain with the operations from `first` up to `last`.
    template <class Score, class Candidates>
    void run(std::span<const id> chain, id first, id last, Score score, Candidates candidates) {
        chain_ = chain;
        first_ = first;
        last_ = last;
        inside_ = first > 0 || last < items_.profile.size();
        states_.clear();
        begins_.assign(1, 0);
        for (id k = 0; k < chain_.size(); ++k) {
            step(k, score, candidates);
        }
        run_backward();
    }

    /// Calls `f(node, placements)` for every operator.
    template <class Function>
    void for_each_placement(Function f) const {
        std::vector<placement> found;
        for (id k = 0; k < chain_.size(); ++k) {
            const auto n = chain_[k];
            found.clear();
            for (auto i = begins_[k]; i < begins_[k + 1]; ++i) {
                const auto& s = states_[i];
                const bool lost = s.at.phase == 2;
                if (s.mass < 1e-4F) {
                    continue;
                }
                if (!found.empty() && !lost && found.back().item == s.at.item) {
                    found.back().mass += s.mass;
                } else {
                    found.push_back({lost ? no_id : s.at.item, s.mass});
                }
            }
            f(n, std::span<const placement>(found));
        }
    }

private:
    struct entry {
        lattice_state at;
        bool head = false; ///< the operator is a head
        float forward = 0; ///< logarithm, the best at this step being 0
        float made = 0;    ///< what making the operator here scores
        float mass = 0;
    };

    static constexpr double none = -std::numeric_limits<double>::infinity();
    static constexpr std::size_t max_width = 160;
    static constexpr std::size_t max_owner_width = 1024;

    [[nodiscard]] double leaving(const lattice_state& s) const {
        if (s.phase != 0) {
            return 0;
        }
        switch (items_.leaves[s.item]) {
        case trail::always:
            return weights_.headless;
        case trail::maybe:
            return weights_.skip_maybe;
        default:
            return weights_.skip_never;
        }
    }

    /// What it costs to leave out the operations behind `from` and before `to`.
    [[nodiscard]] double skipping(id from, id to) const {
        return items_.skipped[to] - items_.skipped[from + 1];
    }

    template <class Score>
    void consider(id n, id item, double stay0, double stay1, double stay2, double arrive,
                  bool starts, Score& score) {
        const auto fits = items_.table[items_.profile[item]][nodes_.type[n]];
        const bool head = fits == correspondence::head;
        const bool shapes = nodes_.of_shapes[n];
        double made = 0;
        switch (fits) {
        case correspondence::head:
            break;
        case correspondence::part:
            made -= items_.part_costs[items_.profile[item]];
            break;
        case correspondence::rare:
            made -= weights_.rare;
            break;
        case correspondence::plumbing:
            made -= weights_.plumbing;
            break;
        default:
            made -= shapes ? weights_.plumbing + weights_.part : weights_.foreign;
        }
        const auto early = shapes && fits >= correspondence::part ? 0 : weights_.early;
        const auto late = !shapes || items_.of_shapes[item] ? 0
                          : fits >= correspondence::part    ? weights_.late_part
                                                            : weights_.late;
        const auto repeated = shapes ? 0 : weights_.repeated;
        if (items_.leaves[item] == trail::never) {
            made -= weights_.silent;
        }
        const auto evidence = score(n, item, head);
        made += evidence.first;
        const auto lost = -weights_.unexplained + evidence.second;
        if (head) {
            put(item, 1, true, log_sum(log_sum(stay0, arrive), stay1 - repeated), made);
        } else {
            put(item, 0, false, log_sum(stay0, arrive), made - early);
            put(item, 1, false, stay1, made - late);
        }
        const auto left0 = items_.leaves[item] == trail::always ? weights_.headless : 0;
        const auto start = starts ? arrive : none;
        put(item, 2, false,
            log_sum(stay2, log_sum(log_sum(stay0 - left0, stay1), start) - weights_.lost), lost);
    }

    void put(id item, std::uint8_t phase, bool head, double reached, double made) {
        if (!std::isinf(reached)) {
            next_.push_back({{item, phase}, head, static_cast<float>(made), reached + made});
        }
    }

    template <class Score, class Candidates>
    void step(id k, Score& score, Candidates& candidates) {
        next_.clear();
        const auto n = chain_[k];
        const auto first = k == 0 ? states_.size() : begins_[k - 1];
        const auto last = states_.size();
        if (nodes_.owns[n]) {
            pass_owner(first, last);
            keep_best(max_owner_width);
            return;
        }
        wanted_.clear();
        if (k == 0) {
            add_window(first_, first_);
        } else {
            auto best = first;
            for (auto i = first; i < last; ++i) {
                best = states_[i].forward > states_[best].forward ? i : best;
                wanted_.push_back(states_[i].at.item);
            }
            const auto behind_owner = nodes_.owns[chain_[k - 1]];
            const auto from = states_[behind_owner ? last - 1 : best].at.item + 1;
            add_window(from, from);
        }
        candidates(n, wanted_);
        std::erase_if(wanted_, [&](id item) { return item < first_ || item >= last_; });
        std::sort(wanted_.begin(), wanted_.end());
        wanted_.erase(std::unique(wanted_.begin(), wanted_.end()), wanted_.end());
        double passed = k == 0 ? items_.skipped[first_] : none; // those before, with what was
                                                                // skipped since the start
        double furthest = k == 0 ? 0 : none;                    // the best of them
        auto i = first;
        for (auto item : wanted_) {
            for (; i < last && states_[i].at.item < item; ++i) {
                const auto left = states_[i].forward - leaving(states_[i].at);
                passed = log_sum(passed, left + items_.skipped[states_[i].at.item + 1]);
                furthest = std::max(furthest, left);
            }
            double stay[3] = {none, none, none};
            for (auto j = i; j < last && states_[j].at.item == item; ++j) {
                stay[states_[j].at.phase] = states_[j].forward;
            }
            // A jump back would break the order; one forward costs no more than `jump`, and where
            // a body starts among what its owner left out is anybody's guess.
            const auto jump = k == 0 && inside_ ? weights_.entry : weights_.jump;
            const auto arrive = std::isinf(passed)
                                    ? none
                                    : std::max(passed - items_.skipped[item], furthest - jump);
            consider(n, item, stay[0], stay[1], stay[2], arrive, k == 0, score);
        }
        keep_best(max_width);
    }

    /// Behind an owner of bodies may stand any operation that is not too far on.
    void pass_owner(std::size_t first, std::size_t last) {
        double best = first == last ? 0 : none;
        auto item = first == last ? first_ : states_[first].at.item;
        const auto end = std::min<std::size_t>(
            last_, (first == last ? first_ : states_[last - 1].at.item) + max_owner_width / 2);
        double since = 0;
        for (auto i = first; item < end; ++item, ++since) {
            for (; i < last && states_[i].at.item == item; ++i) {
                const auto left = states_[i].forward - leaving(states_[i].at);
                since = left > best ? 0 : since;
                best = std::max(best, left);
            }
            put(item, 2, false, best - owner_cost(since), 0);
        }
    }

    [[nodiscard]] double owner_cost(double distance) const {
        return weights_.owner + std::log1p(distance) / 2;
    }

    void add_window(id from, id base) {
        for (auto item = from;
             item < last_ && items_.skipped[item] - items_.skipped[base] <= weights_.beam &&
             item - from < static_cast<id>(4 * max_width);
             ++item) {
            wanted_.push_back(item);
        }
    }

    void keep_best(std::size_t width) {
        double best = none;
        for (const auto& s : next_) {
            best = std::max(best, s.reached);
        }
        auto limit = best - weights_.beam;
        if (next_.size() > width) {
            values_.clear();
            for (const auto& s : next_) {
                values_.push_back(s.reached);
            }
            std::nth_element(values_.begin(), values_.begin() + static_cast<std::ptrdiff_t>(width),
                             values_.end(), std::greater<>());
            limit = std::max(limit, values_[width]);
        }
        for (const auto& s : next_) {
            if (s.reached >= limit) {
                states_.push_back({s.at, s.head, static_cast<float>(s.reached - best), s.made, 0});
            }
        }
        begins_.push_back(states_.size());
    }

    /// Turns the forward weights into shares of all alignments, from the end to the start.
    void run_backward() {
        const auto count = static_cast<id>(chain_.size());
        if (count == 0) {
            return;
        }
        std::vector<double> after;  // by state of the step
        std::vector<double> before; // the same, one step earlier
        const auto jump = inside_ ? weights_.entry : weights_.jump;
        for (auto k = count; k-- > 0;) {
            const auto first = begins_[k];
            const auto last = begins_[k + 1];
            if (k + 1 == count) {
                after.assign(last - first, 0);
                for (auto i = first; i < last; ++i) {
                    const auto& s = states_[i].at;
                    after[i - first] = -leaving(s) - std::min(skipping(s.item, last_), jump);
                }
            }
            double total = none;
            for (auto i = first; i < last; ++i) {
                total = log_sum(total, states_[i].forward + after[i - first]);
            }
            for (auto i = first; i < last; ++i) {
                states_[i].mass =
                    static_cast<float>(std::exp(states_[i].forward + after[i - first] - total));
            }
            if (k > 0) {
                again_ = nodes_.of_shapes[chain_[k]] ? 0 : weights_.repeated;
                if (nodes_.owns[chain_[k]]) {
                    go_back_over_owner(begins_[k - 1], first, last, after, before);
                } else {
                    go_back(begins_[k - 1], first, last, after, before);
                }
                std::swap(after, before);
            }
        }
    }

    /// Finds what follows each state of a step from what follows those of the next one.
    void go_back(std::size_t first, std::size_t middle, std::size_t last,
                 const std::vector<double>& after, std::vector<double>& before) const {
        before.assign(middle - first, none);
        double passed = none;   // those behind, with what is skipped up to them
        double furthest = none; // the best of them
        auto k = last;
        for (auto i = middle; i-- > first;) {
            const auto& s = states_[i].at;
            for (; k > middle && states_[k - 1].at.item > s.item; --k) {
                const auto& t = states_[k - 1];
                const auto value = after[k - 1 - middle] + t.made;
                if (arrives(t)) {
                    passed = log_sum(passed, value - items_.skipped[t.at.item]);
                    furthest = std::max(furthest, value);
                }
            }
            auto value = std::max(passed + items_.skipped[s.item + 1], furthest - weights_.jump) -
                         leaving(s);
            for (auto j = k; j > middle && states_[j - 1].at.item == s.item; --j) {
                const auto& t = states_[j - 1];
                if (const auto cost = staying(s, t); !std::isinf(cost)) {
                    value = log_sum(value, after[j - 1 - middle] + t.made + cost);
                }
            }
            before[i - first] = value;
        }
    }

    void go_back_over_owner(std::size_t first, std::size_t middle, std::size_t last,
                            const std::vector<double>& after, std::vector<double>& before) const {
        before.assign(middle - first, none);
        for (auto i = first; i < middle; ++i) {
            for (auto j = last; j > middle && states_[j - 1].at.item >= states_[i].at.item; --j) {
                const double distance = states_[j - 1].at.item - states_[i].at.item;
                before[i - first] =
                    std::max(before[i - first],
                             after[j - 1 - middle] - owner_cost(distance) - leaving(states_[i].at));
            }
        }
    }

    /// A stretch without explanation begins behind an operation, not on arriving at it; and who
    /// arrives by a head is in phase 1, by anything else in phase 0.
    [[nodiscard]] static bool arrives(const entry& to) { return to.at.phase == (to.head ? 1 : 0); }

    [[nodiscard]] double staying(const lattice_state& from, const entry& to) const {
        if (to.at.phase == 2) {
            const auto left0 = from.phase == 0 && items_.leaves[from.item] == trail::always
                                   ? weights_.headless
                                   : 0;
            return from.phase == 2 ? 0 : -weights_.lost - left0;
        }
        if (from.phase == 2) {
            return none;
        }
        if (to.head) {
            return from.phase == 1 ? -again_ : 0;
        }
        return from.phase == to.at.phase ? 0 : none;
    }

    struct candidate {
        lattice_state at;
        bool head = false;
        float made = 0;
        double reached = 0;
    };

    const aligned_nodes& nodes_;
    const aligned_items& items_;
    const alignment_weights& weights_;
    std::span<const id> chain_;
    id first_ = 0; // the operations that may be placed
    id last_ = 0;
    bool inside_ = false; // of an owner
    std::vector<entry> states_;
    std::vector<std::size_t> begins_;
    std::vector<candidate> next_;
    std::vector<id> wanted_;
    std::vector<double> values_;
    double again_ = 0; // what a second head costs at the step that is gone back from
};

} // namespace stemma::detail

#endif // STEMMA_ALIGN_DETAIL_ALIGNMENT_LATTICE_HPP

// <stemma/align/detail/follow_readers.hpp>
#ifndef STEMMA_ALIGN_DETAIL_FOLLOW_READERS_HPP
#define STEMMA_ALIGN_DETAIL_FOLLOW_READERS_HPP

namespace stemma::detail {

/// Gives what has no place and is constant to the module of all its readers.
template <operator_view Ops>
void follow_readers(const Ops& ops, const aligned_nodes& nodes, alignment& result) {
    constexpr float follow_confidence = 0.97F;
    const auto& graph = ops.graph();
    std::vector<operator_t<Ops>> order;
    for (auto [it, last] = vertices(graph); it != last; ++it) {
        order.push_back(*it);
    }
    std::vector<bool> aligned(order.size(), false);
    for (id n = 0; n < nodes.size(); ++n) {
        const auto v = nodes.vertex[n];
        aligned[v] = !nodes.fixed[n] || result.of[v].module != no_id;
    }
    for (auto v = order.rbegin(); v != order.rend(); ++v) {
        const auto i = index_of(graph, *v);
        if (aligned[i]) {
            continue;
        }
        aligned_operator made;
        bool agreed = true;
        for (auto [it, last] = out_edges(*v, graph); it != last && agreed; ++it) {
            const auto& reader = result.of[index_of(graph, target(*it, graph))];
            agreed =
                reader.module != no_id && (made.module == no_id || (made.module == reader.module));
            const auto confidence = made.module == no_id
                                        ? reader.confidence
                                        : std::min(made.confidence, reader.confidence);
            const bool same_call = made.module == no_id || made.call == reader.call;
            const bool exact = made.exact && reader.exact;
            made = reader;
            made.operation = no_id;
            made.confidence = confidence;
            made.exact = exact;
            made.call = same_call ? reader.call : no_id;
        }
        if (agreed && made.module != no_id) {
            made.confidence *= follow_confidence;
            result.of[i] = made;
        }
    }
}

} // namespace stemma::detail

#endif // STEMMA_ALIGN_DETAIL_FOLLOW_READERS_HPP

// <stemma/core/detail/dotted_path.hpp>
#ifndef STEMMA_CORE_DETAIL_DOTTED_PATH_HPP
#define STEMMA_CORE_DETAIL_DOTTED_PATH_HPP

namespace stemma {

namespace detail {

/// Whether a part of a path is the number of a list's member.
[[nodiscard]] constexpr bool is_number(std::string_view text) noexcept {
    return !text.empty() &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

} // namespace detail

/// Returns: whether one of the parts that dots separate is empty. No path of a module has such a
/// part, as nothing would tell the module from the one above it; the path of the root, "", has no
/// parts at all. Complexity: O(length).
[[nodiscard]] constexpr bool has_empty_part(std::string_view path) noexcept {
    return path.starts_with('.') || path.ends_with('.') || path.find("..") != path.npos;
}

} // namespace stemma

#endif // STEMMA_CORE_DETAIL_DOTTED_PATH_HPP

// <stemma/io/json_text.hpp>
#ifndef STEMMA_IO_JSON_TEXT_HPP
#define STEMMA_IO_JSON_TEXT_HPP

namespace stemma {

namespace detail {

/// Returns: the length of the well-formed UTF-8 sequence that `text` starts with, or 0.
[[nodiscard]] constexpr std::size_t utf8_length(std::string_view text) noexcept {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const auto follows = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xbf) {
        return i < text.size() && byte(i) >= low && byte(i) <= high;
    };
    const unsigned lead = byte(0);
    if (lead < 0x80) {
        return 1;
    }
    if (lead >= 0xc2 && lead <= 0xdf) {
        return follows(1) ? 2 : 0;
    }
    if (lead >= 0xe0 && lead <= 0xef) {
        const unsigned low = lead == 0xe0 ? 0xa0 : 0x80;
        const unsigned high = lead == 0xed ? 0x9f : 0xbf;
        return follows(1, low, high) && follows(2) ? 3 : 0;
    }
    if (lead >= 0xf0 && lead <= 0xf4) {
        const unsigned low = lead == 0xf0 ? 0x90 : 0x80;
        const unsigned high = lead == 0xf4 ? 0x8f : 0xbf;
        return follows(1, low, high) && follows(2) && follows(3) ? 4 : 0;
    }
    return 0;
}

/// Returns: whether all of `text` is well-formed UTF-8.
[[nodiscard]] constexpr bool is_utf8(std::string_view text) noexcept {
    unsigned char bits = 0; // nearly all texts are ASCII, which this sees many bytes at a time
    for (const char c : text) {
        bits = static_cast<unsigned char>(bits | static_cast<unsigned char>(c));
    }
    if (bits < 0x80) {
        return true;
    }
    while (!text.empty()) {
        const auto length = utf8_length(text);
        if (length == 0) {
            return false;
        }
        text.remove_prefix(length);
    }
    return true;
}

/// Returns: a position before which nothing in `text` needs an escape or a look at its UTF-8.
/// Nearly all texts are plain, so eight characters are tested at a time.
[[nodiscard]] inline std::size_t plain_prefix(std::string_view text) noexcept {
    constexpr std::uint64_t ones = 0x0101'0101'0101'0101U;
    constexpr std::uint64_t tops = 0x8080'8080'8080'8080U;
    const auto any_zero = [](std::uint64_t x) { return (x - ones) & ~x; };
    std::size_t at = 0;
    for (; at + 8 <= text.size(); at += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, text.data() + at, 8);
        const auto controls = (word - 0x20U * ones) & ~word;
        const auto marked =
            word | controls | any_zero(word ^ (ones * '"')) | any_zero(word ^ (ones * '\\'));
        if ((marked & tops) != 0) {
            break;
        }
    }
    return at;
}

} // namespace detail

/// Appends `text` as a JSON string with its quotes. A byte that is no UTF-8 becomes U+FFFD.
/// Complexity: O(length); runs without special characters are copied whole.
inline void append_json_string(std::string_view text, std::string& out) {
    constexpr std::string_view hex = "0123456789abcdef";
    out.push_back('"');
    std::size_t copied = 0;
    for (std::size_t i = detail::plain_prefix(text); i < text.size();) {
        const auto c = static_cast<unsigned char>(text[i]);
        if (c >= 0x20 && c < 0x80 && c != '"' && c != '\\') {
            ++i;
            continue;
        }
        const auto length = c < 0x80 ? 0 : detail::utf8_length(text.substr(i));
        if (length != 0) {
            i += length;
            continue;
        }
        out.append(text.substr(copied, i - copied));
        if (c == '"' || c == '\\') {
            out.push_back('\\');
            out.push_back(static_cast<char>(c));
        } else if (c == '\n') {
            out.append("\\n");
        } else if (c == '\t') {
            out.append("\\t");
        } else if (c < 0x20) {
            out.append("\\u00");
            out.push_back(hex[c >> 4U]);
            out.push_back(hex[c & 15U]);
        } else {
            out.append("\xef\xbf\xbd");
        }
        copied = ++i;
    }
    out.append(text.substr(copied));
    out.push_back('"');
}

} // namespace stemma

#endif // STEMMA_IO_JSON_TEXT_HPP

// <stemma/core/detail/path_trail.hpp>
#ifndef STEMMA_CORE_DETAIL_PATH_TRAIL_HPP
#define STEMMA_CORE_DETAIL_PATH_TRAIL_HPP

namespace stemma {

/// Follows one path after the other through a tree, and begins each where it leaves the previous
/// one: neighbours in a list of names mostly differ in their last segment.
class path_trail {
public:
    /// `separator` stands between the segments of a path; an empty segment is one as well.
    explicit path_trail(char separator) : separator_(separator) {}

    /// Follows `path` down from `start`: `step(at, segment)` says which place comes next.
    ///
    /// Requires: a step leads to the same place whenever it is taken, and never to `no_id`.
    /// Complexity: O(length); one step for each segment that the previous path did not share.
    template <class Step>
    id follow(id start, std::string_view path, Step step) {
        if (places_.empty() || places_.front().at != start) {
            places_.assign(1, {0, start});
            previous_.clear();
        } else if (path == previous_) {
            return places_.back().at;
        }
        const auto shared = leave(path);
        while (places_.back().end < path.size()) {
            const auto begin = places_.back().end + (places_.size() > 1 ? 1 : 0);
            const auto end = std::min(path.find(separator_, begin), path.size());
            places_.push_back({end, step(places_.back().at, path.substr(begin, end - begin))});
        }
        previous_.replace(shared, previous_.npos, path.substr(shared));
        return places_.back().at;
    }

private:
    struct place {
        std::size_t end = 0; // of its segment, counted from the start of the path
        id at = no_id;
    };

    /// Returns: how much of the path was in the previous one.
    std::size_t leave(std::string_view path) {
        const auto shared = static_cast<std::size_t>(
            std::mismatch(path.begin(), path.end(), previous_.begin(), previous_.end()).first -
            path.begin());
        const auto ends_here = [&](std::size_t end) {
            return end <= shared && (end == path.size() || path[end] == separator_) &&
                   (end == previous_.size() || previous_[end] == separator_);
        };
        // Nothing at all is no segment, while one may be empty.
        while (places_.size() > 1 && (path.empty() || !ends_here(places_.back().end))) {
            places_.pop_back();
        }
        return shared;
    }

    char separator_;
    std::string previous_;
    std::vector<place> places_;
};

} // namespace stemma

#endif // STEMMA_CORE_DETAIL_PATH_TRAIL_HPP

// <stemma/core/detail/id_ranges.hpp>
#ifndef STEMMA_CORE_DETAIL_ID_RANGES_HPP
#define STEMMA_CORE_DETAIL_ID_RANGES_HPP

// Of range-v3 just what makes a range one of its views: it costs a compiler nothing.

namespace stemma {

namespace detail {

/// A random access iterator over ids that follow each other.
class id_iterator {
public:
    using value_type = id;
    using difference_type = std::ptrdiff_t;
    using reference = id;
    using pointer = void;
    using iterator_category = std::input_iterator_tag; // as it gives no reference
    using iterator_concept = std::random_access_iterator_tag;

    id_iterator() = default;

    /// At an id.
    explicit id_iterator(id at) : at_(at) {}

    [[nodiscard]] id operator*() const noexcept { return at_; }
    [[nodiscard]] id operator[](difference_type n) const noexcept { return *(*this + n); }
    id_iterator& operator++() noexcept {
        ++at_;
        return *this;
    }
    id_iterator operator++(int) noexcept { return id_iterator(at_++); }
    id_iterator& operator--() noexcept {
        --at_;
        return *this;
    }
    id_iterator operator--(int) noexcept { return id_iterator(at_--); }
    id_iterator& operator+=(difference_type n) noexcept {
        at_ = static_cast<id>(at_ + n);
        return *this;
    }
    id_iterator& operator-=(difference_type n) noexcept { return *this += -n; }
    friend id_iterator operator+(id_iterator i, difference_type n) noexcept { return i += n; }
    friend id_iterator operator+(difference_type n, id_iterator i) noexcept { return i += n; }
    friend id_iterator operator-(id_iterator i, difference_type n) noexcept { return i -= n; }
    friend difference_type operator-(id_iterator a, id_iterator b) noexcept {
        return difference_type{a.at_} - difference_type{b.at_};
    }
    friend auto operator<=>(id_iterator, id_iterator) = default;

private:
    id at_ = 0;
};

/// A forward iterator that finds behind each id the next one in a table.
class linked_id_iterator {
public:
    using value_type = id;
    using difference_type = std::ptrdiff_t;
    using reference = id;
    using pointer = void;
    using iterator_category = std::input_iterator_tag; // as it gives no reference
    using iterator_concept = std::forward_iterator_tag;

    linked_id_iterator() = default;

    /// At an id. Requires: `next` is by id, and outlives the iterator.
    linked_id_iterator(const id* next, id at) : next_(next), at_(at) {}

    [[nodiscard]] id operator*() const noexcept { return at_; }
    linked_id_iterator& operator++() noexcept {
        at_ = next_[at_];
        return *this;
    }
    linked_id_iterator operator++(int) noexcept {
        const auto before = *this;
        ++*this;
        return before;
    }
    friend bool operator==(const linked_id_iterator& a, const linked_id_iterator& b) noexcept {
        return a.at_ == b.at_;
    }

private:
    const id* next_ = nullptr;
    id at_ = 0;
};

} // namespace detail

/// Ids from one iterator to another: a view for range-v3 and for the standard library.
///
/// Requires: what the iterators read outlives it.
template <class Iterator>
class id_range : public ranges::view_base, public std::ranges::view_base {
public:
    id_range() = default;

    /// The ids from `first` on, without that at `last`.
    id_range(Iterator first, Iterator last) : first_(first), last_(last) {}

    /// Returns: at the first id.
    [[nodiscard]] Iterator begin() const noexcept { return first_; }
    /// Returns: behind the last id.
    [[nodiscard]] Iterator end() const noexcept { return last_; }
    /// Whether there is none.
    [[nodiscard]] bool empty() const noexcept { return first_ == last_; }

    /// Returns: how many there are, where the iterators tell without walking.
    [[nodiscard]] std::size_t size() const noexcept requires std::random_access_iterator<Iterator> {
        return static_cast<std::size_t>(last_ - first_);
    }

private:
    Iterator first_{};
    Iterator last_{};
};

/// Ids that follow each other.
using consecutive_ids = id_range<detail::id_iterator>;

/// Ids of which a table says what follows each.
using linked_ids = id_range<detail::linked_id_iterator>;

} // namespace stemma

#endif // STEMMA_CORE_DETAIL_ID_RANGES_HPP

// <stemma/core/tree_index.hpp>
#ifndef STEMMA_CORE_TREE_INDEX_HPP
#define STEMMA_CORE_TREE_INDEX_HPP

namespace stemma {

/// Answers questions about a rooted tree in constant time, for vertices named by preorder rank.
///
/// The root has rank 0, and a subtree is the ranks [r, end(r)). Lowest common ancestors follow
/// Schieber and Vishkin, "On finding lowest common ancestors" (1988): linear space, no recursion.
class tree_index {
public:
    tree_index() = default;

    /// Requires: `parents[r] < r` for every rank but 0; a vertex's descendants follow it directly.
    /// Complexity: O(n).
    explicit tree_index(std::vector<id> parents) : parent_(std::move(parents)) {
        STEMMA_ASSERT(!parent_.empty(), "a rooted tree has at least a root");
        number_subtrees();
        number_paths();
    }

    /// Returns: how many vertices there are; 0 only for a default-constructed index.
    [[nodiscard]] std::size_t size() const noexcept { return parent_.size(); }

    /// Returns: `no_id` for the root.
    [[nodiscard]] id parent(id r) const noexcept { return parent_[r]; }

    /// Returns: one past the last rank of the subtree of `r`.
    [[nodiscard]] id end(id r) const noexcept { return end_[r]; }

    /// The vertices one below `r`, in order; valid as long as the index, as are the other ranges.
    [[nodiscard]] linked_ids children(id r) const noexcept {
        return {{end_.data(), r + 1}, {end_.data(), end_[r]}};
    }

    /// The vertices above `r`, from its parent to the root.
    [[nodiscard]] linked_ids ancestors(id r) const noexcept {
        return {{parent_.data(), parent_[r]}, {parent_.data(), no_id}};
    }

    /// The vertices below `r`, however deep, in order.
    [[nodiscard]] consecutive_ids descendants(id r) const noexcept {
        return {detail::id_iterator(r + 1), detail::id_iterator(end_[r])};
    }

    /// Returns: edges between the root and `r`.
    [[nodiscard]] id depth(id r) const noexcept { return depth_[r]; }

    /// Returns: whether `a` is `b` or above it.
    [[nodiscard]] bool is_ancestor(id a, id b) const noexcept { return a <= b && b < end_[a]; }

    /// Returns: whether one of the two is an ancestor of the other, or they are equal.
    [[nodiscard]] bool are_related(id a, id b) const noexcept {
        return is_ancestor(a, b) || is_ancestor(b, a);
    }

    /// Returns: the deepest vertex that is above or equal to both.
    [[nodiscard]] id lca(id a, id b) const noexcept {
        const auto low = std::min(a, b);
        const auto high = std::max(a, b);
        return high < end_[low] ? low : lca_of_unrelated(low, high);
    }

    /// Returns: the child of `above` on the way to `below`.
    /// Requires: `above` is a proper ancestor of `below`.
    /// Complexity: O(depth(below) - depth(above)).
    [[nodiscard]] id child_towards(id above, id below) const noexcept {
        STEMMA_ASSERT(above != below && is_ancestor(above, below), "not a proper ancestor");
        while (parent_[below] != above) {
            below = parent_[below];
        }
        return below;
    }

    /// Returns: the parent of each rank, `no_id` for the root; valid as long as the index.
    [[nodiscard]] std::span<const id> parents() const noexcept { return parent_; }

private:
    void number_subtrees() {
        const auto n = parent_.size();
        parent_[0] = no_id;
        end_.resize(n);
        depth_.resize(n);
        for (id r = 0; r < n; ++r) {
            end_[r] = r + 1;
            depth_[r] = r == 0 ? 0 : depth_[parent_[r]] + 1;
        }
        for (auto r = static_cast<id>(n) - 1; r > 0; --r) {
            end_[parent_[r]] = std::max(end_[parent_[r]], end_[r]);
        }
    }

    // inlabel: the vertices that share one form a path from some vertex (its head) downwards.
    // ascendant: one bit for each such path between a vertex and the root.
    void number_paths() {
        const auto n = parent_.size();
        inlabel_.resize(n);
        ascendant_.resize(n);
        head_.assign(n + 1, no_id);
        for (id r = 0; r < n; ++r) {
            const id first = r + 1;
            const id last = end_[r];
            const auto zeros = std::bit_width((first - 1) ^ last) - 1;
            inlabel_[r] = last >> zeros << zeros;
            const auto inherited = r == 0 ? 0 : ascendant_[parent_[r]];
            ascendant_[r] = inherited | (inlabel_[r] & (~inlabel_[r] + 1));
            if (head_[inlabel_[r]] == no_id) {
                head_[inlabel_[r]] = r;
            }
        }
    }

    [[nodiscard]] id lca_of_unrelated(id a, id b) const noexcept {
        const auto split = std::bit_floor(inlabel_[a] ^ inlabel_[b]);
        const auto common = ascendant_[a] & ascendant_[b] & -split;
        const auto below = (common & -common) - 1;
        return std::min(climb(a, below), climb(b, below));
    }

    /// Returns: the lowest ancestor of `r` on a path that is not one of those in `below`.
    [[nodiscard]] id climb(id r, id below) const noexcept {
        const auto top = std::bit_floor(ascendant_[r] & below);
        return top == 0 ? r : parent_[head_[(inlabel_[r] & -top) | top]];
    }

    std::vector<id> parent_;
    std::vector<id> end_;
    std::vector<id> depth_;
    std::vector<id> inlabel_;
    std::vector<id> ascendant_;
    std::vector<id> head_;
};

/// A tree_index together with the way from a graph's vertices to ranks and back.
template <incidence_graph Tree>
struct indexed_tree {
    tree_index index;                   ///< of the ranks
    std::vector<vertex_t<Tree>> vertex; ///< by rank
    std::vector<id> rank;               ///< by vertex index
};

/// Numbers a rooted tree in preorder; children stand in the order of `out_edges`.
///
/// Requires: every vertex is reached from `root` on exactly one path.
/// Complexity: O(n), without recursion.
template <incidence_graph Tree>
    requires vertex_indexed_graph<Tree>
[[nodiscard]] indexed_tree<Tree> index_tree(const Tree& tree, vertex_t<Tree> root) {
    indexed_tree<Tree> result;
    result.rank.assign(num_vertices(tree), no_id);
    std::vector<id> parents;
    std::vector<std::pair<vertex_t<Tree>, id>> open{{root, no_id}};
    while (!open.empty()) {
        const auto [v, parent] = open.back();
        open.pop_back();
        const auto rank = static_cast<id>(parents.size());
        parents.push_back(parent);
        result.vertex.push_back(v);
        result.rank[index_of(tree, v)] = rank;
        const auto first_child = static_cast<std::ptrdiff_t>(open.size());
        for (auto [it, last] = out_edges(v, tree); it != last; ++it) {
            open.emplace_back(target(*it, tree), rank);
        }
        std::reverse(open.begin() + first_child, open.end());
    }
    STEMMA_ASSERT(parents.size() == num_vertices(tree), "the graph is not a tree below `root`");
    result.index = tree_index(std::move(parents));
    return result;
}

} // namespace stemma

#endif // STEMMA_CORE_TREE_INDEX_HPP

// <stemma/model/module_tree.hpp>
#ifndef STEMMA_MODEL_MODULE_TREE_HPP
#define STEMMA_MODEL_MODULE_TREE_HPP

namespace stemma {

/// A parameter or buffer as its module declares it.
struct tensor_info {
    std::string_view name;  ///< the attribute of its module, without the path of that: `weight`
    std::string_view dtype; ///< as PyTorch prints it, `float32`; empty where unknown
    std::span<const std::int64_t> shape; ///< an unknown extent is negative
    bool trainable = false;              ///< false for a buffer and for a frozen parameter

    /// Returns: the product of the shape; 1 for a scalar, 0 when an extent is unknown (negative).
    /// Complexity: O(rank).
    [[nodiscard]] std::uint64_t elements() const noexcept {
        std::uint64_t product = 1;
        for (auto extent : shape) {
            product *= extent < 0 ? 0 : static_cast<std::uint64_t>(extent);
        }
        return product;
    }
};

/// A tree of modules: who contains whom, of which class, with which parameters.
///
/// Models Boost's VertexListGraph, EdgeListGraph, BidirectionalGraph and AdjacencyGraph; edges lead
/// from a module to the modules it contains. A vertex is the module's preorder rank: the root is 0,
/// a subtree is a range. Immutable; made by a module_tree_builder. Each function of these concepts
/// takes O(1), but `out_degree` and `degree` O(children).
class module_tree {
public:
    /// From a parent to a child.
    struct edge {
        id source = no_id; ///< the parent
        id target = no_id; ///< the child

        friend bool operator==(const edge&, const edge&) = default;
    };

    /// A further path under which a module is reachable.
    struct alias {
        std::string path;  ///< joined by dots, from below the root
        id module = no_id; ///< the module of the tree that it leads to
    };

    /// A tree of one unnamed module.
    module_tree() : index_({no_id}), attribute_{names_.intern("")} { fill_optional_columns(); }

    /// Returns: how many modules there are, at least the root.
    [[nodiscard]] std::size_t size() const noexcept { return index_.size(); }

    /// Answers what is above what by rank; valid as long as the tree.
    [[nodiscard]] const tree_index& index() const noexcept { return index_; }

    /// All modules, the root first; ranges go into range-v3's views as they are.
    [[nodiscard]] consecutive_ids modules() const noexcept {
        return {detail::id_iterator(0), detail::id_iterator(static_cast<id>(size()))};
    }
    /// The modules that a module holds itself, in order.
    [[nodiscard]] linked_ids children(id m) const noexcept { return index_.children(m); }
    /// The modules around a module, from the nearest to the root.
    [[nodiscard]] linked_ids ancestors(id m) const noexcept { return index_.ancestors(m); }
    /// The modules below a module, however deep, in order.
    [[nodiscard]] consecutive_ids descendants(id m) const noexcept { return index_.descendants(m); }

    /// The name under which the parent holds the module. For the root: the name of the whole.
    [[nodiscard]] std::string_view attribute(id m) const noexcept { return names_[attribute_[m]]; }

    /// Returns: empty where unknown.
    [[nodiscard]] std::string_view class_name(id m) const noexcept { return names_[class_[m]]; }

    /// Returns: the class with its package, `torch.nn.modules.linear.Linear`; empty where unknown.
    [[nodiscard]] std::string_view qualified_class(id m) const noexcept {
        return names_[qualified_[m]];
    }

    /// Returns: how often the module ran; `no_id` where unknown.
    [[nodiscard]] id calls(id m) const noexcept { return calls_[m]; }

    /// Returns: attribute names from below the root, joined by dots: `encoder.layer.0`.
    /// Complexity: O(length of the result).
    [[nodiscard]] std::string path(id m) const {
        std::string text;
        append_path(m, text);
        return text;
    }

    /// Appends `path(m)` without making a string of its own. Complexity: O(length).
    void append_path(id m, std::string& text) const {
        const auto first = text.size();
        text.resize(first + path_length_[m]);
        for (auto end = text.size(); m != 0; m = index_.parent(m)) {
            const auto name = attribute(m);
            end -= name.size();
            name.copy(text.data() + end, name.size());
            if (end > first) {
                text[--end] = '.';
            }
        }
    }

    /// Returns: the path; of one longer than `report_path_length`, an ellipsis and the last names
    /// that fit. A list of the full paths of a very deep tree would be as long as the square of its
    /// depth.
    /// Complexity: O(length of the result).
    [[nodiscard]] std::string report_path(id m) const {
        if (path_length_[m] <= report_path_length) {
            return path(m);
        }
        std::vector<std::string_view> names;
        for (auto left = report_path_length; m != 0 && attribute(m).size() < left;
             m = index_.parent(m)) {
            names.push_back(attribute(m));
            left -= names.back().size() + 1;
        }
        std::string text = "\xe2\x80\xa6";
        for (; !names.empty(); names.pop_back()) {
            text.append(".").append(names.back());
        }
        return text;
    }

    /// Bytes of the longest path that reports print in full.
    static constexpr std::size_t report_path_length = 1024;

    /// Returns: bytes of `path(m)`, which need not be made for it.
    [[nodiscard]] std::size_t path_length(id m) const noexcept { return path_length_[m]; }

    /// Returns: the module that `parent` holds as `attribute`, or `no_id`.
    /// Complexity: O(length) on average.
    [[nodiscard]] id child(id parent, std::string_view attribute) const {
        const auto end = index_.end(parent);
        auto m = parent + 1;
        for (id i = 0; i < near_children && m < end; ++i, m = index_.end(m)) {
            if (this->attribute(m) == attribute) {
                return m;
            }
        }
        return m >= end ? no_id : children_.find(child_hash(parent, attribute), [&](id known) {
            return index_.parent(known) == parent && this->attribute(known) == attribute;
        });
    }

    /// Parameters that the module itself owns, then its buffers, as they were declared.
    [[nodiscard]] std::size_t parameter_count(id m) const noexcept { return own_range(m).second; }

    /// Returns: how many buffers the module itself owns.
    [[nodiscard]] std::size_t buffer_count(id m) const noexcept {
        return own_first_[m + 1] - own_first_[m] - parameter_count(m);
    }

    /// Requires: `i` is below `parameter_count(m)`.
    [[nodiscard]] tensor_info parameter(id m, std::size_t i) const {
        return tensor_at(own_first_[m] + i);
    }

    /// Requires: `i` is below `buffer_count(m)`.
    [[nodiscard]] tensor_info buffer(id m, std::size_t i) const {
        return tensor_at(own_first_[m] + parameter_count(m) + i);
    }

    /// The ways to a module besides its path, for modules that are held more than once.
    [[nodiscard]] std::span<const alias> aliases() const noexcept { return aliases_; }

    /// Groups of parameter paths that share one tensor.
    [[nodiscard]] std::span<const std::vector<std::string>> shared_parameters() const noexcept {
        return shared_;
    }

private:
    // Steps from sibling to sibling.
    template <class Derived, class Value>
    class child_walk
        : public boost::iterator_facade<Derived, Value, boost::forward_traversal_tag, Value> {
    public:
        child_walk() = default;
        child_walk(const module_tree* tree, id at) : tree_(tree), at_(at) {}

    protected:
        const module_tree* tree_ = nullptr;
        id at_ = 0;

    private:
        friend class boost::iterator_core_access;
        [[nodiscard]] bool equal(const child_walk& other) const { return at_ == other.at_; }
        void increment() { at_ = tree_->index_.end(at_); }
    };

public:
    /// For Boost.Graph.
    class out_edge_iterator : public child_walk<out_edge_iterator, edge> {
    public:
        using child_walk<out_edge_iterator, edge>::child_walk;

    private:
        friend class boost::iterator_core_access;
        [[nodiscard]] edge dereference() const { return {tree_->index_.parent(at_), at_}; }
    };

    /// For Boost.Graph.
    class adjacency_iterator : public child_walk<adjacency_iterator, id> {
    public:
        using child_walk<adjacency_iterator, id>::child_walk;

    private:
        friend class boost::iterator_core_access;
        [[nodiscard]] id dereference() const { return at_; }
    };

    /// For Boost.Graph: the edges to modules of successive ranks.
    class edge_iterator
        : public boost::iterator_facade<edge_iterator, edge, boost::forward_traversal_tag, edge> {
    public:
        edge_iterator() = default;

        /// At the edge to `module`.
        edge_iterator(const module_tree* tree, id module) : tree_(tree), module_(module) {}

    private:
        friend class boost::iterator_core_access;
        [[nodiscard]] edge dereference() const { return {tree_->index_.parent(module_), module_}; }
        [[nodiscard]] bool equal(const edge_iterator& other) const {
            return module_ == other.module_;
        }
        void increment() { ++module_; }

        const module_tree* tree_ = nullptr;
        id module_ = 0;
    };

    friend std::pair<out_edge_iterator, out_edge_iterator> out_edges(id m, const module_tree& t) {
        return {{&t, m + 1}, {&t, t.index_.end(m)}};
    }
    friend std::pair<adjacency_iterator, adjacency_iterator>
    adjacent_vertices(id m, const module_tree& t) {
        return {{&t, m + 1}, {&t, t.index_.end(m)}};
    }
    friend std::pair<edge_iterator, edge_iterator> in_edges(id m, const module_tree& t) {
        return {{&t, m == 0 ? 1 : m}, {&t, m + 1}};
    }
    friend std::pair<edge_iterator, edge_iterator> edges(const module_tree& t) {
        return {{&t, 1}, {&t, num_vertices(t)}};
    }
    friend id out_degree(id m, const module_tree& t) {
        const auto children = t.children(m);
        return static_cast<id>(std::ranges::distance(children.begin(), children.end()));
    }
    friend id in_degree(id m, const module_tree&) { return m == 0 ? 0 : 1; }
    friend id degree(id m, const module_tree& t) { return in_degree(m, t) + out_degree(m, t); }
    friend std::pair<boost::counting_iterator<id>, boost::counting_iterator<id>>
    vertices(const module_tree& t) {
        return {boost::counting_iterator<id>(0),
                boost::counting_iterator<id>(static_cast<id>(t.size()))};
    }
    friend id num_vertices(const module_tree& t) { return static_cast<id>(t.size()); }
    friend id num_edges(const module_tree& t) { return static_cast<id>(t.size() - 1); }
    friend id source(const edge& e, const module_tree&) { return e.source; }
    friend id target(const edge& e, const module_tree&) { return e.target; }

private:
    friend class module_tree_builder;

    struct tensor_record {
        id name = no_id;
        id dtype = no_id;
        std::uint32_t first_extent = 0;
        std::uint32_t rank = 0;
        bool trainable = false;
        bool is_buffer = false;
    };

    [[nodiscard]] std::uint64_t child_hash(id parent, std::string_view attribute) const noexcept {
        return hash_bytes(attribute, hash_mix(parent, 1));
    }

    /// Returns: position of the first own tensor, and how many of them are parameters.
    [[nodiscard]] std::pair<std::size_t, std::size_t> own_range(id m) const noexcept {
        std::size_t count = 0;
        for (auto i = own_first_[m]; i < own_first_[m + 1] && !tensors_[i].is_buffer; ++i) {
            ++count;
        }
        return {own_first_[m], count};
    }

    [[nodiscard]] tensor_info tensor_at(std::size_t i) const {
        const auto& t = tensors_[i];
        return {names_[t.name], names_[t.dtype],
                std::span(extents_).subspan(t.first_extent, t.rank), t.trainable};
    }

    void fill_optional_columns() {
        const auto n = index_.size();
        const auto nothing = names_.intern("");
        class_.resize(n, nothing);
        qualified_.resize(n, nothing);
        calls_.resize(n, no_id);
        own_first_.resize(n + 1, static_cast<id>(tensors_.size()));
        path_length_.resize(n);
        for (id m = 1; m < n; ++m) {
            const auto parent = index_.parent(m);
            path_length_[m] =
                path_length_[parent] + static_cast<id>(attribute(m).size()) + (parent == 0 ? 0 : 1);
        }
        for (const id parent : modules()) {
            id i = 0;
            for (const id m : children(parent)) {
                if (i++ >= near_children) {
                    children_.insert(child_hash(parent, attribute(m)), m, [](id) { return false; });
                }
            }
        }
    }

    // So many children of a module are found by looking at one after the other: they stand near in
    // memory, where a table of all children would be touched in random places.
    static constexpr id near_children = 8;

    tree_index index_;
    string_pool names_;
    std::vector<id> attribute_;
    std::vector<id> class_;
    std::vector<id> qualified_;
    std::vector<id> calls_;
    std::vector<id> path_length_;
    std::vector<id> own_first_;
    std::vector<tensor_record> tensors_;
    std::vector<std::int64_t> extents_;
    std::vector<alias> aliases_;
    std::vector<std::vector<std::string>> shared_;
    flat_index children_; // those behind the first few of their parents
};

inline boost::identity_property_map get(boost::vertex_index_t, const module_tree&) {
    return {};
}
inline id get(boost::vertex_index_t, const module_tree&, id m) {
    return m;
}

} // namespace stemma

namespace boost {

template <>
struct graph_traits<stemma::module_tree> {
    using vertex_descriptor = stemma::id;
    using edge_descriptor = stemma::module_tree::edge;
    using directed_category = bidirectional_tag;
    using edge_parallel_category = disallow_parallel_edge_tag;
    struct traversal_category : virtual vertex_list_graph_tag,
                                virtual edge_list_graph_tag,
                                virtual bidirectional_graph_tag,
                                virtual adjacency_graph_tag {};
    using vertex_iterator = counting_iterator<stemma::id>;
    using edge_iterator = stemma::module_tree::edge_iterator;
    using out_edge_iterator = stemma::module_tree::out_edge_iterator;
    using in_edge_iterator = stemma::module_tree::edge_iterator;
    using adjacency_iterator = stemma::module_tree::adjacency_iterator;
    using vertices_size_type = stemma::id;
    using edges_size_type = stemma::id;
    using degree_size_type = stemma::id;
    static stemma::id null_vertex() { return stemma::no_id; }
};

template <>
struct property_map<stemma::module_tree, vertex_index_t> {
    using type = identity_property_map;
    using const_type = identity_property_map;
};

} // namespace boost

#endif // STEMMA_MODEL_MODULE_TREE_HPP

// <stemma/model/module_view.hpp>
#ifndef STEMMA_MODEL_MODULE_VIEW_HPP
#define STEMMA_MODEL_MODULE_VIEW_HPP

namespace stemma {

/// What the algorithms and policies read of a module tree. `module_tree` models it, and
/// `mapped_modules` makes one of any Boost graph with property maps.
///
/// Requires: a module is its preorder rank in `index()`; an unknown class reads as ""; text
///   stays as long as the view.
template <class Modules>
concept module_view = requires(const Modules& modules, id m) {
    { modules.index() } -> std::same_as<const tree_index&>;
    { modules.attribute(m) } -> lasting_text;
    { modules.class_name(m) } -> lasting_text;
    { modules.qualified_class(m) } -> lasting_text;
};

/// A module view that also knows how often each module ran (`no_id` where it does not).
template <class Modules>
concept counts_calls = module_view<Modules> && requires(const Modules& modules, id m) {
    { modules.calls(m) } -> std::convertible_to<id>;
};

/// Returns: attribute names from below the root, joined by dots.
/// Complexity: O(depth + length).
template <module_view Modules>
[[nodiscard]] std::string path_of(const Modules& modules, id m) {
    if constexpr (requires {
                      { modules.path(m) } -> std::convertible_to<std::string>;
                  }) {
        return modules.path(m);
    } else {
        std::string reversed;
        for (auto at = m; at != 0; at = modules.index().parent(at)) {
            const std::string_view name = modules.attribute(at);
            reversed.append(at == m ? "" : ".").append(name.rbegin(), name.rend());
        }
        return {reversed.rbegin(), reversed.rend()};
    }
}

} // namespace stemma

#endif // STEMMA_MODEL_MODULE_VIEW_HPP

// <stemma/model/module_lookup.hpp>
#ifndef STEMMA_MODEL_MODULE_LOOKUP_HPP
#define STEMMA_MODEL_MODULE_LOOKUP_HPP

namespace stemma {

/// Finds modules of any view by attribute name.
template <module_view Modules>
class module_lookup {
public:
    /// Requires: `modules` outlives the look-up.
    /// Complexity: O(modules).
    explicit module_lookup(const Modules& modules) : modules_(&modules) {
        const tree_index& tree = modules.index();
        children_.reserve(tree.size());
        for (id m = 1; m < tree.size(); ++m) {
            children_.insert(hash_of(tree.parent(m), modules.attribute(m)), m,
                             [](id) { return false; });
        }
    }

    /// Returns: the module that `parent` holds as `attribute`, or `no_id`.
    [[nodiscard]] id child(id parent, std::string_view attribute) const {
        return children_.find(hash_of(parent, attribute), [&](id m) {
            return modules_->index().parent(m) == parent && modules_->attribute(m) == attribute;
        });
    }

private:
    [[nodiscard]] static std::uint64_t hash_of(id parent, std::string_view attribute) noexcept {
        return hash_bytes(attribute, parent);
    }

    const Modules* modules_;
    flat_index children_;
};

/// A module_tree finds its children itself.
template <>
class module_lookup<module_tree> {
public:
    /// Requires: `modules` outlives the look-up.
    explicit module_lookup(const module_tree& modules) : modules_(&modules) {}

    /// Returns: the module that `parent` holds as `attribute`, or `no_id`.
    [[nodiscard]] id child(id parent, std::string_view attribute) const {
        return modules_->child(parent, attribute);
    }

private:
    const module_tree* modules_;
};

/// Returns: the deepest module on a dotted path below `from`, and what of the path lies below it.
/// Complexity: O(length) expected.
template <class Lookup>
[[nodiscard]] std::pair<id, std::string_view> find_longest(const Lookup& lookup,
                                                           std::string_view path, id from = 0) {
    while (!path.empty()) {
        const auto dot = path.find('.');
        const auto next = lookup.child(from, path.substr(0, dot));
        if (next == no_id) {
            break;
        }
        from = next;
        path.remove_prefix(dot == path.npos ? path.size() : dot + 1);
    }
    return {from, path};
}

/// Returns: the module at a dotted path below `from`, or `no_id`.
template <class Lookup>
[[nodiscard]] id find_module(const Lookup& lookup, std::string_view path, id from = 0) {
    const auto [module, rest] = find_longest(lookup, path, from);
    return rest.empty() ? module : no_id;
}

/// Finds modules at one dotted path after the other, and begins each where it leaves the previous
/// one.
template <class Lookup>
class module_trail {
public:
    /// Requires: the look-up outlives the trail.
    explicit module_trail(const Lookup& lookup) : lookup_(&lookup) {}

    /// Returns: the module at a dotted path below `from`, or `no_id`.
    /// Complexity: O(length); one look-up for each segment that the previous path did not share.
    [[nodiscard]] id find(std::string_view path, id from = 0) {
        const auto found = trail_.follow(from, path, [&](id parent, std::string_view attribute) {
            return parent == nowhere ? nowhere
                                     : std::min(lookup_->child(parent, attribute), nowhere);
        });
        return found == nowhere ? no_id : found;
    }

private:
    static constexpr id nowhere = no_id - 1; // a trail leads to some place, whatever it is

    const Lookup* lookup_;
    path_trail trail_{'.'};
};

} // namespace stemma

#endif // STEMMA_MODEL_MODULE_LOOKUP_HPP

// <stemma/evidence/path_mapping.hpp>
#ifndef STEMMA_EVIDENCE_PATH_MAPPING_HPP
#define STEMMA_EVIDENCE_PATH_MAPPING_HPP

namespace stemma {

/// Returns: why the name of a parameter is no model's, or null. None has so many levels, or so long
/// names, and they would cost their square; and none has a level without a name.
[[nodiscard]] constexpr const char* find_parameter_problem(std::string_view parameter) noexcept {
    constexpr std::ptrdiff_t max_levels = 1024;
    return parameter.size() > (1U << 18U) ? "the name of a parameter is too long"
           : !detail::is_utf8(parameter)  ? "the name of a parameter is not valid UTF-8"
           : parameter.size() > max_levels &&
                   std::count(parameter.begin(), parameter.end(), '.') > max_levels
               ? "the name of a parameter has too many levels"
           : has_empty_part(parameter.substr(0, std::min(parameter.rfind('.'), parameter.size())))
               ? "the name of a parameter has an empty level"
               : nullptr;
}

namespace detail {

/// Returns: the name that a parameter had before an optimizer put it together with others and wrote
/// in front what it made of it: `ConvBnFusion_BN_B_layer1.bn.bias`.
[[nodiscard]] constexpr std::string_view without_fusion_prefix(std::string_view name) noexcept {
    constexpr std::string_view fusion = "Fusion_";
    const auto found = name.substr(0, name.find('.')).find(fusion);
    if (found == name.npos || name.front() < 'A' || name.front() > 'Z') {
        return name;
    }
    name.remove_prefix(found + fusion.size());
    for (std::size_t at = 0; at < name.size() && name[at] >= 'A' && name[at] <= 'Z';) {
        ++at;
        if (at < name.size() && name[at] == '_') {
            name.remove_prefix(at + 1);
            at = 0;
        }
    }
    return name;
}

/// Whether the last dot in a name is that of a number: `const_-3.4e+38_f32`.
[[nodiscard]] constexpr bool ends_in_fraction(std::string_view path,
                                              std::string_view last) noexcept {
    if (last.front() < '0' || last.front() > '9') {
        return false;
    }
    if (!is_number(last)) {
        return true; // no attribute is called so
    }
    const auto digits =
        path.size() - std::min(path.find_last_not_of("0123456789") + 1, path.size());
    const auto before = path.substr(0, path.size() - digits);
    return digits > 0 && (before.empty() || before.back() == '_' || before.back() == '-');
}

} // namespace detail

/// Returns: the module path in the name of a parameter, all but its last part; "" when there is
/// none, when an exporter made the name up (`onnx::MatMul_7`, `/encoder/Add_output_0`,
/// `const_0.5_f32`), or when it is no model's. What optimizers write in front is left out, and what
/// training derives from a parameter is its module's: `fc` of `fc.weight_grad.accumulation.buffer`.
[[nodiscard]] constexpr std::string_view owner_path(std::string_view parameter) noexcept {
    if (const auto gradient = parameter.find("_grad"); gradient != parameter.npos) {
        const auto behind = parameter.substr(gradient + 5);
        parameter = behind.empty() || behind.front() == '.' || behind.front() == '_'
                        ? parameter.substr(0, gradient)
                        : parameter;
    }
    parameter = detail::without_fusion_prefix(parameter);
    const auto dot = parameter.rfind('.');
    const bool made_up =
        parameter.find("::") != parameter.npos || parameter.find('/') != parameter.npos ||
        parameter.find(';') != parameter.npos || dot == parameter.npos || dot == 0 ||
        dot + 1 == parameter.size() ||
        detail::ends_in_fraction(parameter.substr(0, dot), parameter.substr(dot + 1));
    if (made_up || find_parameter_problem(parameter) != nullptr) {
        return {};
    }
    return parameter.substr(0, dot);
}

/// How paths in a model lead to modules of a tree that was captured around it, or inside it.
struct path_mapping {
    std::string strip;     ///< first parts of every path in the model that the tree lacks: `module`
    id base = 0;           ///< module of the tree at which paths in the model start
    std::size_t paths = 0; ///< how many different paths were tried
    std::size_t matched = 0; ///< how many lead to a module

    /// Whether paths in the model are paths in the tree.
    [[nodiscard]] bool is_identity() const noexcept { return strip.empty() && base == 0; }

    /// Returns: `path` without the stripped parts.
    [[nodiscard]] std::string_view apply(std::string_view path) const noexcept {
        if (!strip.empty() && path.starts_with(strip) &&
            (path.size() == strip.size() || path[strip.size()] == '.')) {
            path.remove_prefix(std::min(path.size(), strip.size() + 1));
        }
        return path;
    }
};

/// Finds the constant prefix between the paths that a model uses and a module tree, if there is
/// one.
///
/// Tries the paths as they are, without up to three first parts that all share, and from every
/// module that holds the first part of the first path; the way that leads most paths to a module
/// wins, in this order. Requires: `lookup` is of the modules.
/// Complexity: O(paths * tries), at most 256 paths and 64 tries.
template <module_view Modules>
[[nodiscard]] path_mapping find_path_mapping(const Modules& modules,
                                             const module_lookup<Modules>& lookup,
                                             std::span<const std::string_view> paths) {
    constexpr std::size_t max_paths = 256;
    constexpr std::size_t max_tries = 64;
    std::vector<std::string_view> sample;
    const auto step = std::max<std::size_t>(1, paths.size() / max_paths);
    for (std::size_t i = 0; i < paths.size() && sample.size() < max_paths; i += step) {
        sample.push_back(paths[i]);
    }
    path_mapping best;
    best.paths = sample.size();
    const auto attempt = [&](path_mapping tried) {
        tried.paths = sample.size();
        module_trail trail(lookup);
        for (auto path : sample) {
            const auto rest = tried.apply(path);
            if (!rest.empty() && trail.find(rest, tried.base) != no_id) {
                ++tried.matched;
            }
        }
        if (tried.matched > best.matched) {
            best = tried;
        }
    };
    attempt({});
    if (sample.empty() || best.matched == sample.size()) {
        return best;
    }
    const auto first = sample.front();
    for (std::size_t dot = first.find('.'), parts = 0; dot != first.npos && parts < 3;
         dot = first.find('.', dot + 1), ++parts) {
        attempt({std::string(first.substr(0, dot)), 0, 0, 0});
    }
    const auto head = first.substr(0, first.find('.'));
    std::size_t tries = 0;
    for (id m = 1; m < modules.index().size() && tries < max_tries; ++m) {
        if (modules.attribute(m) == head && modules.index().parent(m) != 0) {
            attempt({{}, modules.index().parent(m), 0, 0});
            ++tries;
        }
    }
    return best;
}

/// As above, with a look-up of its own. Complexity: that, and O(modules).
template <module_view Modules>
[[nodiscard]] path_mapping find_path_mapping(const Modules& modules,
                                             std::span<const std::string_view> paths) {
    return find_path_mapping(modules, module_lookup<Modules>(modules), paths);
}

} // namespace stemma

#endif // STEMMA_EVIDENCE_PATH_MAPPING_HPP

// <stemma/model/parameter_shapes.hpp>
#ifndef STEMMA_MODEL_PARAMETER_SHAPES_HPP
#define STEMMA_MODEL_PARAMETER_SHAPES_HPP

namespace stemma {

/// The shapes of the parameters of a model, as far as they are known, by number.
class parameter_shapes {
public:
    /// Adds the shape of the next parameter.
    void add(std::span<const std::int64_t> shape) {
        extents_.insert(extents_.end(), shape.begin(), shape.end());
        ends_.push_back(extents_.size());
    }

    /// Returns: false for a parameter whose shape was never added.
    [[nodiscard]] bool knows(id parameter) const noexcept { return parameter < ends_.size(); }

    /// Requires: `knows(parameter)`.
    [[nodiscard]] std::span<const std::int64_t> of(id parameter) const noexcept {
        const auto begin = parameter == 0 ? 0 : ends_[parameter - 1];
        return std::span(extents_).subspan(begin, ends_[parameter] - begin);
    }

private:
    std::vector<std::int64_t> extents_;
    std::vector<std::size_t> ends_;
};

} // namespace stemma

#endif // STEMMA_MODEL_PARAMETER_SHAPES_HPP

// <stemma/align/detail/parameter_scores.hpp>
#ifndef STEMMA_ALIGN_DETAIL_PARAMETER_SCORES_HPP
#define STEMMA_ALIGN_DETAIL_PARAMETER_SCORES_HPP

namespace stemma::detail {

/// Returns: whether two shapes are those of one tensor, perhaps transposed, or with extents of one
/// more or less.
[[nodiscard]] inline bool are_alike(std::span<const std::int64_t> a,
                                    std::span<const std::int64_t> b) {
    // As sums and products: the extents in any order, those of one left out.
    const auto summary = [](std::span<const std::int64_t> shape) {
        std::array<std::uint64_t, 4> of{0, 0, 0, 1};
        for (auto extent : shape) {
            const auto e = static_cast<std::uint64_t>(extent);
            if (e != 1) {
                of[0] += 1;
                of[1] += e;
                of[2] += e * e;
                of[3] *= e;
            }
        }
        return of;
    };
    return summary(a) == summary(b);
}

/// What one operator's parameters say of one operation.
class parameter_scores {
public:
    template <parameter_readers Ops>
    parameter_scores(const Ops& ops, const captured_operations& captured,
                     const path_mapping& mapping, const parameter_shapes& shapes,
                     const alignment_weights& weights)
        : captured_(captured), shapes_(shapes), weights_(weights) {
        known_.resize(ops.parameter_count(), no_id);
        for (id p = 0; p < known_.size(); ++p) {
            known_[p] = captured.parameter_names().find(mapping.apply(ops.parameter_name(p)));
        }
        items_.resize(captured.parameter_names().size());
        for (id i = 0; i < captured.size(); ++i) {
            for (const auto& read : captured.parameters_of(i)) {
                items_[read.name].push_back(i);
            }
        }
    }

    /// Returns: whether the capture speaks of any parameter that the operator reads by its name.
    [[nodiscard]] bool knows_any(std::span<const id> parameters) const {
        return std::any_of(parameters.begin(), parameters.end(),
                           [&](id p) { return known_[p] != no_id; });
    }

    /// Calls `f(item)` for all operations that read a parameter by its name.
    template <class Function>
    void for_each_reader(id parameter, Function f) const {
        if (known_[parameter] != no_id) {
            for (auto item : items_[known_[parameter]]) {
                f(item);
            }
        }
    }

    /// Returns: whether an operation reads a parameter, by name or else by shape; nothing where
    /// neither is known, or where the shape says little.
    [[nodiscard]] std::optional<bool> agrees(id parameter, id item) const {
        const auto read = captured_.parameters_of(item);
        if (known_[parameter] != no_id) {
            return std::any_of(read.begin(), read.end(),
                               [&](const auto& r) { return r.name == known_[parameter]; });
        }
        const auto shape =
            shapes_.knows(parameter) ? shapes_.of(parameter) : std::span<const std::int64_t>{};
        if (std::count_if(shape.begin(), shape.end(), [](auto e) { return e != 1; }) < 2) {
            return std::nullopt;
        }
        const auto elements = [](std::span<const std::int64_t> of) {
            std::uint64_t product = 1;
            for (auto e : of) {
                product *= static_cast<std::uint64_t>(e);
            }
            return product;
        };
        const auto whole = elements(shape);
        for (const auto& r : read) {
            if (are_alike(r.shape, shape)) {
                return true;
            }
        }
        for (const auto& r : read) {
            if (const auto part = elements(r.shape); part > 1 && whole % part == 0) {
                return std::nullopt; // may be several as one
            }
        }
        const auto sources = captured_.sources_of(item);
        if (std::any_of(sources.begin(), sources.end(),
                        [&](id source) { return !captured_[source].varies; })) {
            return std::nullopt; // may have been computed while exporting
        }
        return false;
    }

    /// Whether the capture speaks of a parameter by its name.
    [[nodiscard]] bool is_named(id parameter) const { return known_[parameter] != no_id; }

    [[nodiscard]] double of(std::span<const id> parameters, id item, bool head) const {
        const auto read = captured_.parameters_of(item);
        double score = 0;
        for (auto p : parameters) {
            if (known_[p] != no_id) {
                const auto found = std::any_of(read.begin(), read.end(),
                                               [&](const auto& r) { return r.name == known_[p]; });
                score += found ? weights_.known_parameter : -weights_.other_parameter;
            } else if (shapes_.knows(p)) {
                const auto shape = shapes_.of(p);
                const auto found = std::any_of(read.begin(), read.end(), [&](const auto& r) {
                    return are_alike(r.shape, shape);
                });
                const bool small =
                    std::all_of(shape.begin(), shape.end(), [](auto e) { return e == 1; });
                score += found          ? weights_.shaped_parameter
                         : small        ? 0
                         : read.empty() ? -weights_.unread_parameter
                                        : -weights_.misshapen_parameter;
            }
        }
        if (head && parameters.empty() && !read.empty()) {
            score -= weights_.unread_parameter / 2;
        }
        return score;
    }

private:
    const captured_operations& captured_;
    const parameter_shapes& shapes_;
    const alignment_weights& weights_;
    std::vector<id> known_;              // by parameter of the graph: its name in the capture
    std::vector<std::vector<id>> items_; // by name in the capture
};

} // namespace stemma::detail

#endif // STEMMA_ALIGN_DETAIL_PARAMETER_SCORES_HPP

// <stemma/align/detail/join_fused.hpp>
#ifndef STEMMA_ALIGN_DETAIL_JOIN_FUSED_HPP
#define STEMMA_ALIGN_DETAIL_JOIN_FUSED_HPP

namespace stemma::detail {

/// Gives operators that a runtime made of several to the common ancestor of what they were made of:
/// of the operations around the one they were found to come from, connected with it, that their
/// type may be made of and that left no operator of their own; and of those that read their
/// parameters.
class fused_joiner {
public:
    /// Requires: all outlive it. Complexity: O(operators).
    fused_joiner(const aligned_nodes& nodes, const aligned_items& items,
                 const captured_operations& captured, const tree_index& modules,
                 const parameter_scores& parameters, alignment& result)
        : nodes_(nodes)
        , items_(items)
        , captured_(captured)
        , modules_(modules)
        , parameters_(parameters)
        , result_(result)
        , made_(captured.size(), false) {
        for (id n = 0; n < nodes.size(); ++n) {
            const auto item = result.of[nodes.vertex[n]].operation;
            if (item != no_id &&
                items.table[items.profile[item]][nodes.type[n]] == correspondence::head) {
                made_[item] = true;
            }
        }
    }

    /// Complexity: O(fused operators) steps of bounded size.
    void run() {
        for (id n = 0; n < nodes_.size(); ++n) {
            auto& found = result_.of[nodes_.vertex[n]];
            if (found.operation == no_id || !items_.is_fused[nodes_.type[n]]) {
                continue;
            }
            joined_.assign(1, found.operation);
            join_neighbours(found.operation, nodes_.type[n]);
            auto module = found.module;
            for (auto item : joined_) {
                module = modules_.lca(module, captured_[item].module);
            }
            for (auto p : nodes_.parameters[n]) {
                parameters_.for_each_reader(
                    p, [&](id item) { module = modules_.lca(module, captured_[item].module); });
            }
            found.call = module == found.module ? found.call : no_id;
            found.module = module;
        }
    }

private:
    static constexpr id max_distance = 64;

    void join_neighbours(id item, id type) {
        const auto first = item > max_distance ? item - max_distance : 0;
        const auto last = std::min<std::size_t>(captured_.size(), item + max_distance);
        for (std::size_t before = 0; before != joined_.size();) { // once more while it grows
            before = joined_.size();
            for (auto i = item + 1; i < last; ++i) {
                join(i, type);
            }
            for (auto i = item; i-- > first;) {
                join(i, type);
            }
        }
    }

    void join(id item, id type) {
        const auto is_connected = [&](id other) {
            return items_.flows(item, other) || items_.flows(other, item);
        };
        if (!made_[item] && items_.fuses[items_.profile[item]][type] &&
            std::any_of(joined_.begin(), joined_.end(), is_connected)) {
            made_[item] = true;
            joined_.push_back(item);
        }
    }

    const aligned_nodes& nodes_;
    const aligned_items& items_;
    const captured_operations& captured_;
    const tree_index& modules_;
    const parameter_scores& parameters_;
    alignment& result_;
    std::vector<bool> made_; // by operation: it left an operator, or is part of one
    std::vector<id> joined_;
};

} // namespace stemma::detail

#endif // STEMMA_ALIGN_DETAIL_JOIN_FUSED_HPP

// <stemma/align/detail/aligner.hpp>
#ifndef STEMMA_ALIGN_DETAIL_ALIGNER_HPP
#define STEMMA_ALIGN_DETAIL_ALIGNER_HPP

namespace stemma::detail {

template <class Ops, class Lexicon>
class aligner {
public:
    aligner(const Ops& ops, run_order order, const tree_index& modules,
            const captured_operations& captured, const path_mapping& mapping,
            const parameter_shapes& shapes, const Lexicon& lexicon)
        : ops_(ops)
        , modules_(modules)
        , captured_(captured)
        , nodes_(aligned_nodes_finder<Ops>(ops, order).find())
        , items_(describe_items(captured, nodes_.types, lexicon, weights_))
        , parameters_(ops, captured, mapping, shapes, weights_)
        , item_of_(nodes_.size(), no_id)
        , sure_(nodes_.size(), 0) {}

    [[nodiscard]] alignment run() {
        alignment result;
        result.of.resize(num_vertices(ops_.graph()));
        if (nodes_.size() == 0 || captured_.empty()) {
            return result;
        }
        const auto chains = nodes_.by_chain();
        left_out_.resize(captured_.size(), false);
        bodies_.resize(nodes_.size());
        for (id chain = 1; chain < chains.size(); ++chain) {
            if (nodes_.owner_of[chain] != no_id) {
                bodies_[nodes_.owner_of[chain]].push_back(chain);
            }
        }
        align_chain(chains, 0, 0, captured_.size(), 0, result);
        for (id item = 0; item < captured_.size(); ++item) {
            if (items_.leaves[item] == trail::always && !left_out_[item]) {
                ++result.expected;
                result.found += made_head_[item] ? 1U : 0U;
            }
        }
        fused_joiner(nodes_, items_, captured_, modules_, parameters_, result).run();
        follow_readers(ops_, nodes_, result);
        result.partial = nodes_.partial;
        doubt(result, captured_.faults());
        return result;
    }

private:
    static constexpr std::size_t max_candidates = 64;
    static constexpr std::size_t max_readers = 8;
    static constexpr int max_depth = 6; // a body may be aligned twice at each level

    /// Aligns a chain, and then the bodies of the owners in it, each with what the owner left out:
    /// the branches of an If are alternatives, and a Loop ran its body any number of times.
    void align_chain(const std::vector<std::vector<id>>& chains, id chain, id first, id last,
                     int depth, alignment& result) {
        const auto& nodes = chains[chain];
        alignment_lattice lattice(nodes_, items_, weights_);
        for (int pass = 0; pass < 3; ++pass) { // the first without data flow
            lattice.run(
                nodes, first, last,
                [&](id n, id item, bool head) { return score(n, item, head, pass > 0); },
                [&](id n, std::vector<id>& wanted) { add_readers(n, wanted); });
            lattice.for_each_placement(
                [&](id n, std::span<const placement> places) { note(n, places); });
        }
        length_.assign(captured_.size(), 0);
        lattice.for_each_placement(
            [&](id n, std::span<const placement> places) { decide(n, places, result); });
        for (auto n = nodes.rbegin(); n != nodes.rend(); ++n) {
            hand_over(*n, result);
        }
        made_head_.resize(captured_.size(), false);
        made_count_.resize(captured_.size(), 0);
        for (auto n : nodes) {
            result.placed += chain == 0 && !nodes_.owns[n] && is_judged(n) ? 1U : 0U;
            const auto item = result.of[nodes_.vertex[n]].operation;
            if (item != no_id) {
                const bool again = made_head_[item];
                made_head_[item] = made_head_[item] || fits(n, item) == correspondence::head;
                if (chain == 0) {
                    judge(n, item, again, result);
                }
            }
        }
        for (std::size_t k = 0; k < nodes.size(); ++k) {
            if (nodes_.owns[nodes[k]] && depth < max_depth) {
                align_bodies(chains, nodes, k, first, last, depth + 1, result);
            }
        }
    }

    /// Exporters compute shapes and constants as they like.
    [[nodiscard]] bool is_judged(id n) const { return !nodes_.of_shapes[n] && !nodes_.fixed[n]; }

    /// Counts what speaks for a placement and what does not.
    void judge(id n, id item, bool again, alignment& result) {
        const auto fit = fits(n, item);
        // One operation makes only so much; what runs below it tells how much that may be.
        const auto below = captured_.names_of(item).size();
        const auto room = captured_[item].exact ? 6 + 2 * below : 64;
        const bool surplus =
            ++made_count_[item] > room || (again && fit == correspondence::head && below < 8);
        result.explained += is_judged(n) && fit >= correspondence::part && !surplus ? 1U : 0U;
        for (auto u : nodes_.producers[n]) {
            if (is_judged(n) && is_judged(u) && item_of_[u] != no_id && item_of_[u] != item) {
                ++result.links;
                result.flows += items_.flows(item_of_[u], item) ? 1U : 0U;
            }
        }
        for (auto p : nodes_.parameters[n]) {
            const auto fitting = parameters_.agrees(p, item);
            result.reads += fitting ? 1U : 0U;
            result.agreed += fitting.value_or(false) ? 1U : 0U;
            if (parameters_.is_named(p) && !*fitting && !items_.is_fused[nodes_.type[n]]) {
                ++result.contradicted;
                auto& made = result.of[nodes_.vertex[n]];
                made.confidence = std::min(made.confidence, 0.5F);
            }
        }
    }

    /// One that fits its operation badly, but that of all its readers well, goes there; so does one
    /// at the end of an operation that is longer than the next, where both are the same.
    void hand_over(id n, alignment& result) {
        auto& made = result.of[nodes_.vertex[n]];
        if (made.operation == no_id || nodes_.of_shapes[n]) {
            return;
        }
        aligned_operator first;
        bool agreed = true;
        for (auto r : nodes_.readers[n]) {
            const auto& reader = result.of[nodes_.vertex[r]];
            if (!nodes_.of_shapes[r]) {
                agreed =
                    agreed && (first.operation == no_id || first.operation == reader.operation);
                first = reader;
            }
        }
        if (!agreed || first.operation == no_id || first.operation == made.operation ||
            fits(n, first.operation) < correspondence::part) {
            return;
        }
        const bool uneven = items_.profile[made.operation] == items_.profile[first.operation] &&
                            length_[made.operation] > length_[first.operation] + 1;
        if (fits(n, made.operation) < correspondence::part ||
            (uneven && nodes_.parameters[n].empty())) {
            --length_[made.operation];
            ++length_[first.operation];
            made = first;
            made.confidence = std::min(made.confidence, 0.9F);
            item_of_[n] = first.operation;
        }
    }

    void align_bodies(const std::vector<std::vector<id>>& chains, std::span<const id> nodes,
                      std::size_t k, id first, id last, int depth, alignment& result) {
        for (auto i = k; i-- > 0;) {
            const auto inner = used_.find(nodes[i]);
            const auto before = inner != used_.end() ? inner->second.second : item_of_[nodes[i]];
            if (before != no_id) {
                first = before;
                break;
            }
        }
        for (auto i = k + 1; i < nodes.size(); ++i) {
            if (item_of_[nodes[i]] != no_id) {
                last = item_of_[nodes[i]] + 1;
                break;
            }
        }
        last = std::max(first + 1, last);
        for (auto item = first + 1; item + 1 < last; ++item) {
            left_out_[item] = true;
        }
        auto ran = no_id; // the body that ran, starting first where there are several
        std::pair<id, id> used{no_id, no_id};
        for (auto chain : bodies_[nodes[k]]) {
            align_chain(chains, chain, first, last, depth, result);
            const auto here = used_by(chains[chain], result);
            if (here.first != no_id && (used.first == no_id || here.first < used.first)) {
                used = here;
                ran = chain;
            }
        }
        if (ran != no_id) {
            used_[nodes[k]] = used;
            for (auto chain : bodies_[nodes[k]]) {
                if (chain != ran) {
                    align_chain(chains, chain, used.first, used.second + 1, depth, result);
                    doubt_branch(chains[chain], chains[ran], result);
                }
            }
        }
    }

    /// Returns: the first and the last operation that explain operators of a body.
    [[nodiscard]] std::pair<id, id> used_by(std::span<const id> body,
                                            const alignment& result) const {
        std::pair<id, id> used{no_id, no_id};
        for (auto n : body) {
            auto item = result.of[nodes_.vertex[n]].operation;
            auto end = item;
            if (nodes_.owns[n]) {
                const auto inner = used_.find(n);
                item = inner == used_.end() ? no_id : inner->second.first;
                end = inner == used_.end() ? no_id : inner->second.second;
            }
            if (item != no_id) {
                used.first = std::min(used.first, item);
                used.second = used.second == no_id ? end : std::max(used.second, end);
            }
        }
        return used;
    }

    /// A branch that did not run is known by the one that did: it is somewhere among its modules.
    void doubt_branch(std::span<const id> branch, std::span<const id> ran,
                      alignment& result) const {
        auto common = no_id;
        bool several = false;
        for (auto n : ran) {
            const auto module = result.of[nodes_.vertex[n]].module;
            if (module != no_id) {
                several = several || (common != no_id && common != module);
                common = common == no_id ? module : modules_.lca(common, module);
            }
        }
        for (auto n : branch) {
            auto& made = result.of[nodes_.vertex[n]];
            if (common != no_id && !nodes_.owns[n]) {
                made.module = common;
                made.call = no_id;
                made.exact = made.exact && !several;
                made.confidence = std::min(made.confidence, 0.6F);
            }
        }
    }

    [[nodiscard]] correspondence fits(id n, id item) const {
        return items_.table[items_.profile[item]][nodes_.type[n]];
    }

    /// What is added to an operator that comes from an operation, and to one that comes from none.
    [[nodiscard]] std::pair<double, double> score(id n, id item, bool head, bool with_flow) const {
        const auto read = nodes_.parameters[n];
        double made = parameters_.of(read, item, head);
        made = items_.is_fused[nodes_.type[n]] ? std::max(0.0, made) : made;
        const double lost = parameters_.knows_any(read) ? -weights_.unread_parameter : 0;
        if (!with_flow) {
            return {made, lost};
        }
        for (auto u : nodes_.producers[n]) {
            if (!nodes_.of_shapes[u] && item_of_[u] != no_id) {
                made += items_.flows(item_of_[u], item) ? weights_.flow * sure_[u]
                                                        : -weights_.against_flow * sure_[u];
                made -= item_of_[u] == item ? weights_.leak * leaks(u, n) : 0;
            }
        }
        if (!nodes_.of_shapes[n]) {
            for (auto w : nodes_.readers[n]) {
                if (item_of_[w] != no_id) {
                    made +=
                        (items_.flows(item, item_of_[w]) ? weights_.flow : -weights_.against_flow) *
                        sure_[w] / static_cast<double>(nodes_.readers[n].size());
                }
            }
        }
        return {made, lost};
    }

    /// Returns: how sure it is that another operation than its own reads an operator besides `n`:
    /// then it is a result, and what reads it comes from elsewhere.
    [[nodiscard]] double leaks(id u, id n) const {
        double most = 0;
        std::size_t seen = 0;
        for (auto w : nodes_.readers[u]) {
            if (w != n && !nodes_.of_shapes[w] && item_of_[w] != no_id &&
                item_of_[w] != item_of_[u]) {
                most = std::max(most, sure_[w]);
            }
            if (++seen == max_readers) {
                break;
            }
        }
        return most;
    }

    /// Operations that read a parameter of the operator by name are worth a look from anywhere.
    void add_readers(id n, std::vector<id>& wanted) const {
        for (auto p : nodes_.parameters[n]) {
            std::size_t added = 0;
            parameters_.for_each_reader(p, [&](id item) {
                if (added++ < max_candidates) {
                    wanted.push_back(item);
                }
            });
        }
    }

    void note(id n, std::span<const placement> places) {
        const auto best = std::max_element(
            places.begin(), places.end(),
            [](const placement& a, const placement& b) { return a.mass < b.mass; });
        item_of_[n] = best == places.end() || nodes_.owns[n] ? no_id : best->item;
        sure_[n] = best == places.end() ? 0 : static_cast<double>(best->mass);
    }

    /// Gives an operator to the module that most alignments give it to.
    void decide(id n, std::span<const placement> places, alignment& result) {
        if (nodes_.owns[n]) {
            return; // its bodies tell
        }
        auto& made = result.of[nodes_.vertex[n]];
        shares_.clear();
        double lost = 0;
        for (const auto& place : places) {
            if (place.item == no_id) {
                lost += static_cast<double>(place.mass);
                continue;
            }
            const auto module = captured_[place.item].module;
            auto share = std::find_if(shares_.begin(), shares_.end(),
                                      [&](const auto& s) { return s.module == module; });
            if (share == shares_.end()) {
                shares_.push_back({module, place.item, 0, 0});
                share = shares_.end() - 1;
            }
            share->mass += static_cast<double>(place.mass);
            if (place.mass > share->best) {
                share->best = place.mass;
                share->item = place.item;
            }
        }
        const auto best =
            std::max_element(shares_.begin(), shares_.end(),
                             [](const auto& a, const auto& b) { return a.mass < b.mass; });
        if (best != shares_.end() && best->mass >= lost) {
            ++length_[best->item];
            const auto& operation = captured_[best->item];
            const bool fitting = nodes_.of_shapes[n] || fits(n, best->item) >= correspondence::part;
            const auto limit =
                fitting ? (operation.exact ? 0.99 : 0.7) : (operation.exact ? 0.85 : 0.5);
            made = {best->module, operation.call, best->item,
                    static_cast<float>(std::min(best->mass, limit)), operation.exact};
        }
    }

    struct module_share {
        id module = no_id;
        id item = no_id;
        double mass = 0;
        float best = 0;
    };
    const alignment_weights weights_{};
    const Ops& ops_;
    const tree_index& modules_;
    const captured_operations& captured_;
    aligned_nodes nodes_;
    aligned_items items_;
    parameter_scores parameters_;
    std::vector<id> item_of_; // by node: as the last pass has it
    std::vector<double> sure_;
    std::vector<module_share> shares_;
    std::vector<std::vector<id>> bodies_;  // by owner: the chains of its bodies
    std::map<id, std::pair<id, id>> used_; // by owner: the operations of its bodies
    std::vector<bool> left_out_;           // by operation: it ran in a body
    std::vector<bool> made_head_;          // by operation
    std::vector<std::size_t> made_count_;
    std::vector<id> length_; // by operation: how many operators of the chain come from it
};

} // namespace stemma::detail

#endif // STEMMA_ALIGN_DETAIL_ALIGNER_HPP

// <stemma/align/align.hpp>
#ifndef STEMMA_ALIGN_ALIGN_HPP
#define STEMMA_ALIGN_ALIGN_HPP

namespace stemma {

/// Finds for the operators of a model which captured operations they come from, and so which
/// modules.
///
/// Both sequences are aligned as a whole: in order, every operation making any number of operators,
/// weighed by what the lexicon says, by the parameters that are read (by name, else by shape), and
/// by data flow. The confidence of a module is its share of all alignments by weight; where the
/// capture as a whole does not fit, it is low everywhere. Where data flow contradicts the order of
/// the operators or much does not fit, as behind an optimizer that sorted them anew, the order in
/// which they read each other is tried as well, and the one that fits better counts.
/// Complexity: O((operators + operations) * width of a beam that does not depend on them).
template <named_operators Ops, lexicon_policy Lexicon = torch_lexicon>
    requires parameter_readers<Ops>
[[nodiscard]] alignment align(const Ops& ops, const tree_index& modules,
                              const captured_operations& captured, const path_mapping& mapping = {},
                              const parameter_shapes& shapes = {}, const Lexicon& lexicon = {}) {
    const auto run = [&](detail::run_order order) {
        return detail::aligner<Ops, Lexicon>(ops, order, modules, captured, mapping, shapes,
                                             lexicon)
            .run();
    };
    auto found = run(detail::run_order::as_written);
    if (found.flows < found.links || found.quality() < 0.95) {
        auto other = run(detail::run_order::as_read);
        if (other.quality() > found.quality()) {
            return other;
        }
    }
    return found;
}

} // namespace stemma

#endif // STEMMA_ALIGN_ALIGN_HPP

// <stemma/error.hpp>
#ifndef STEMMA_ERROR_HPP
#define STEMMA_ERROR_HPP

namespace stemma {

/// Why an operation ended. The numbers are stable.
enum class error_code {
    cannot_read = 1,   ///< the file is missing, a folder, or not readable
    malformed = 2,     ///< the bytes are not what the format says
    contradiction = 3, ///< the input disagrees with itself
    unsupported = 4,   ///< well-formed, but beyond a stated limit
    cannot_write = 5,  ///< the output could not be written
    too_large = 6,     ///< the output would reach protobuf's limit of 2 GiB
    not_found = 7,     ///< what was asked for is not in the model
    refused = 8,       ///< the request is understood, and declined with a reason
    exists = 9,        ///< a file is there already, and may not be replaced
};

/// Base of everything the library throws: `file: place: reason`, lower case, no trailing period.
class error : public std::runtime_error {
public:
    /// `file` and `place` may be empty: then only the reason is told.
    error(error_code code, std::string_view file, std::string_view place, std::string_view reason)
        : std::runtime_error(join(file, place, reason)), code_(code) {}

    /// For programs: the number stays when the words of `what()` change.
    [[nodiscard]] error_code code() const noexcept { return code_; }

private:
    static std::string join(std::string_view file, std::string_view place,
                            std::string_view reason) {
        std::string text;
        for (auto part : {file, place}) {
            if (!part.empty()) {
                text.append(part).append(": ");
            }
        }
        return text.append(reason);
    }

    error_code code_;
};

} // namespace stemma

#endif // STEMMA_ERROR_HPP

// <stemma/io/detail/json_part.hpp>
#ifndef STEMMA_IO_DETAIL_JSON_PART_HPP
#define STEMMA_IO_DETAIL_JSON_PART_HPP

namespace stemma {

namespace detail {

enum class json_kind : std::uint8_t { null, boolean, negative, natural, real, text, array, object };

/// A value, and its key where it is a member of an object. The values inside follow it.
struct json_node {
    json_kind kind = json_kind::null;
    std::size_t key = 0; // begins there in the texts
    std::size_t key_size = 0;
    std::uint64_t content = 0; // number, begin in the texts, or how many values are directly inside
    std::size_t size = 1;      // of a text in bytes, of all else in nodes

    /// Returns: how many nodes on the next value stands that is not inside of this one.
    [[nodiscard]] std::size_t step() const noexcept { return kind == json_kind::text ? 1 : size; }
};

} // namespace detail

/// A view of one value of a JSON document, or of none, which is what an index or a key gives that
/// leads nowhere. Valid until the `json_value` that holds it changes.
class json_part {
    using kind = detail::json_kind;

public:
    /// The elements of an array, for loops over it.
    class iterator {
    public:
        /// Stands at a node, or behind the last one.
        iterator(const detail::json_node* at, const char* texts) : at_(at), texts_(texts) {}

        /// The element. Requires: it is not the end.
        [[nodiscard]] json_part operator*() const noexcept { return {at_, texts_}; }
        /// To the next element, behind all that is inside of this one.
        iterator& operator++() noexcept {
            at_ += at_->step();
            return *this;
        }
        /// Whether both stand at one place of one array.
        [[nodiscard]] bool operator==(const iterator& other) const noexcept {
            return at_ == other.at_;
        }

    private:
        const detail::json_node* at_;
        const char* texts_;
    };

    /// No value.
    json_part() = default;

    /// The value of a node, the texts of which begin at `texts`.
    json_part(const detail::json_node* node, const char* texts) : node_(node), texts_(texts) {}

    /// Whether there is a value, be it null.
    [[nodiscard]] explicit operator bool() const noexcept { return node_ != nullptr; }

    /// Whether it is null, which is a value.
    [[nodiscard]] bool is_null() const noexcept { return is(kind::null); }
    /// Whether it is true or false.
    [[nodiscard]] bool is_boolean() const noexcept { return is(kind::boolean); }
    /// Whether it is a string.
    [[nodiscard]] bool is_text() const noexcept { return is(kind::text); }
    /// Whether it has elements, be they none.
    [[nodiscard]] bool is_array() const noexcept { return is(kind::array); }
    /// Whether it has members, be they none.
    [[nodiscard]] bool is_object() const noexcept { return is(kind::object); }

    /// Whether it is a list of texts. Complexity: O(length).
    [[nodiscard]] bool is_texts() const noexcept {
        if (!is_array()) {
            return false;
        }
        for (const auto element : *this) {
            if (!element.is_text()) {
                return false;
            }
        }
        return true;
    }

    /// Whether it is a number without a fraction that `Number` can hold.
    template <std::integral Number>
    [[nodiscard]] bool is_number() const noexcept {
        return is(kind::natural) ? std::in_range<Number>(node_->content)
                                 : is(kind::negative) && std::in_range<Number>(negative());
    }

    /// Throws: `std::invalid_argument` when it is no boolean.
    [[nodiscard]] bool boolean() const {
        check(is_boolean(), "a boolean");
        return node_->content != 0;
    }

    /// Throws: `std::invalid_argument` when it is no text.
    [[nodiscard]] std::string_view text() const {
        check(is_text(), "a text");
        return {texts_ + node_->content, node_->size};
    }

    /// Throws: `std::invalid_argument` unless `is_number<Number>()`.
    template <std::integral Number>
    [[nodiscard]] Number number() const {
        check(is_number<Number>(), "a number");
        return is(kind::natural) ? static_cast<Number>(node_->content)
                                 : static_cast<Number>(negative());
    }

    /// Returns: how many values an array or object holds, 0 for all else.
    [[nodiscard]] std::size_t size() const noexcept {
        return is_array() || is_object() ? static_cast<std::size_t>(node_->content) : 0;
    }

    /// Returns: element `i` of an array, or none. Complexity: O(i).
    [[nodiscard]] json_part operator[](std::size_t i) const noexcept {
        if (!is_array() || i >= size()) {
            return {};
        }
        iterator element(node_ + 1, texts_);
        while (i-- > 0) {
            ++element;
        }
        return *element;
    }

    /// Returns: the member of an object, the last of several of one key, or none.
    /// Complexity: O(members), so no table of them needs to be made.
    [[nodiscard]] json_part operator[](std::string_view key) const noexcept {
        const detail::json_node* found = nullptr;
        const auto* member = is_object() ? node_ + 1 : nullptr;
        for (auto left = member == nullptr ? 0 : size(); left-- > 0; member += member->step()) {
            if (std::string_view(texts_ + member->key, member->key_size) == key) {
                found = member;
            }
        }
        return {found, texts_};
    }

    /// Throws: `std::invalid_argument` when it is no array.
    [[nodiscard]] iterator begin() const {
        check(is_array(), "a list");
        return {node_ + 1, texts_};
    }

    /// Requires: an array.
    [[nodiscard]] iterator end() const noexcept { return {node_ + node_->size, texts_}; }

    /// Throws: `std::invalid_argument` when it is no list of texts. Complexity: O(length).
    [[nodiscard]] std::vector<std::string> texts() const {
        std::vector<std::string> result;
        for (const auto element : *this) {
            result.emplace_back(element.text());
        }
        return result;
    }

    /// Throws: `std::invalid_argument` when it is no list of such numbers. Complexity: O(length).
    template <std::integral Number>
    [[nodiscard]] std::vector<Number> numbers() const {
        std::vector<Number> result;
        for (const auto element : *this) {
            result.push_back(element.number<Number>());
        }
        return result;
    }

    /// Whether it is this text.
    friend bool operator==(const json_part& part, std::string_view text) {
        return part.is_text() && part.text() == text;
    }

private:
    friend class json_value;

    [[nodiscard]] bool is(kind wanted) const noexcept {
        return node_ != nullptr && node_->kind == wanted;
    }

    [[nodiscard]] std::size_t steps() const noexcept {
        return node_ == nullptr ? 0 : node_->step();
    }

    [[nodiscard]] std::int64_t negative() const noexcept {
        return static_cast<std::int64_t>(node_->content);
    }

    static void check(bool right, const char* wanted) {
        if (!right) {
            STEMMA_THROW(std::invalid_argument(std::string("something else stands where ") +
                                               wanted + " belongs"));
        }
    }

    const detail::json_node* node_ = nullptr;
    const char* texts_ = nullptr;
};

/// Holds a JSON value, made from the events of a parser in their order.
///
/// Two arrays for all of it, which are used again for the next value: nlohmann's values allocate
/// for every name and text, and take longer to make than to parse.
class json_value {
    using kind = detail::json_kind;

public:
    /// Without a value.
    json_value() = default;

    /// Keeps what `part` sees. Complexity: O(size of that).
    explicit json_value(const json_part& part) : nodes_(part.node_, part.node_ + part.steps()) {
        for (auto& node : nodes_) {
            node.key = keep({part.texts_ + node.key, node.key_size});
            if (node.kind == kind::text) {
                node.content = keep({part.texts_ + node.content, node.size});
            }
        }
    }

    /// Returns: a view of it all, of none before anything was added.
    [[nodiscard]] json_part part() const noexcept {
        return nodes_.empty() ? json_part() : json_part(nodes_.data(), texts_.data());
    }

    /// Forgets the value, and keeps the room.
    void clear() noexcept {
        nodes_.clear();
        texts_.clear();
    }

    /// Whether every array and object that was begun has come to its end.
    [[nodiscard]] bool is_whole() const noexcept { return open_.empty(); }

    /// The key of what is added next.
    void key(std::string_view name) {
        key_ = keep(name);
        key_size_ = name.size();
    }

    /// Adds null.
    void null() { add(kind::null); }
    /// Adds true or false.
    void boolean(bool value) { add(kind::boolean).content = value ? 1 : 0; }

    /// Adds a copy of a text.
    void text(std::string_view value) {
        auto& node = add(kind::text);
        node.content = keep(value);
        node.size = value.size();
    }

    /// A number that is below zero.
    void negative(std::int64_t value) {
        add(kind::negative).content = static_cast<std::uint64_t>(value);
    }

    /// A number that is not.
    void natural(std::uint64_t value) { add(kind::natural).content = value; }

    /// A number with a fraction, or one that is too large for the others. Its value is not kept,
    /// as nothing that is read has one.
    void real() { add(kind::real); }

    /// What is added up to the matching `end` is inside.
    void begin_array() { begin(kind::array); }

    /// As `begin_array`, each value behind its key.
    void begin_object() { begin(kind::object); }

    /// Of the array or object that was begun last.
    void end() {
        nodes_[open_.back()].size = nodes_.size() - open_.back();
        open_.pop_back();
    }

private:
    detail::json_node& add(kind added) {
        if (!open_.empty()) {
            ++nodes_[open_.back()].content;
        }
        return nodes_.emplace_back(
            detail::json_node{added, key_, std::exchange(key_size_, 0), 0, 1});
    }

    void begin(kind added) {
        add(added);
        open_.push_back(nodes_.size() - 1);
    }

    [[nodiscard]] std::size_t keep(std::string_view text) {
        texts_.append(text);
        return texts_.size() - text.size();
    }

    std::vector<std::size_t> open_; // arrays and objects that have not ended
    std::size_t key_ = 0;
    std::size_t key_size_ = 0;
    std::vector<detail::json_node> nodes_;
    std::string texts_;
};

} // namespace stemma

#endif // STEMMA_IO_DETAIL_JSON_PART_HPP

// <stemma/capture/detail/captured_json.hpp>
#ifndef STEMMA_CAPTURE_DETAIL_CAPTURED_JSON_HPP
#define STEMMA_CAPTURE_DETAIL_CAPTURED_JSON_HPP

namespace stemma {

/// One object of a capture, and what to say when it is not as it should be.
class captured_json {
public:
    /// Throws: `error` of `error_code::malformed` when the part is no object.
    captured_json(json_part object, std::string_view file, std::string_view what,
                  std::size_t number)
        : object_(object), file_(file), what_(what), number_(number) {
        if (!object_.is_object()) {
            fail("is no object");
        }
    }

    /// Whether the object has a key, be it null.
    [[nodiscard]] bool has(std::string_view key) const { return bool(object_[key]); }

    /// Whether the object has a text under a key.
    [[nodiscard]] bool is_text(std::string_view key) const { return object_[key].is_text(); }

    /// Throws: when it is missing or no text.
    [[nodiscard]] std::string text(std::string_view key) const {
        const auto found = object_[key];
        if (!found.is_text()) {
            fail("lacks the text '" + std::string(key) + "'");
        }
        return std::string(found.text());
    }

    /// Returns: `no_id` when it is missing, null or out of range.
    [[nodiscard]] id number(std::string_view key) const {
        const auto found = object_[key];
        return found.is_number<id>() ? found.number<id>() : no_id;
    }

    /// Returns: the texts in a list; empty when it is missing. Throws: when it is no list of texts.
    /// Complexity: O(length of the list).
    [[nodiscard]] std::vector<std::string> strings(std::string_view key) const {
        const auto found = object_[key];
        if (!found || found.is_null()) {
            return {};
        }
        if (!found.is_array()) {
            fail("has something else than a list as '" + std::string(key) + "'");
        }
        if (!found.is_texts()) {
            fail("has something else than texts in '" + std::string(key) + "'");
        }
        return found.texts();
    }

    /// Returns: the shapes in a list, that of what has none being empty.
    /// Complexity: O(length of the list).
    [[nodiscard]] std::vector<std::vector<std::int64_t>> shapes(std::string_view key) const {
        std::vector<std::vector<std::int64_t>> result;
        const auto found = object_[key];
        if (found.is_array()) {
            for (const auto shape : found) {
                result.push_back(shape.is_array() ? extents(shape) : std::vector<std::int64_t>());
            }
        }
        return result;
    }

    /// Throws: always, `error` of `error_code::malformed` that names file, part and number.
    [[noreturn]] void fail(std::string_view reason) const {
        STEMMA_THROW(error(error_code::malformed, file_,
                           std::string(what_) + " " + std::to_string(number_), reason));
    }

private:
    /// What is no number is -1.
    [[nodiscard]] static std::vector<std::int64_t> extents(json_part shape) {
        std::vector<std::int64_t> result;
        for (const auto extent : shape) {
            const bool known = extent.is_number<std::int64_t>();
            result.push_back(known ? extent.number<std::int64_t>() : -1);
        }
        return result;
    }

    json_part object_;
    std::string_view file_;
    std::string_view what_;
    std::size_t number_;
};

/// Returns: the module at a path or under an alias, or `no_id`.
/// Complexity: O(length) expected, and O(aliases) where no path leads there.
[[nodiscard]] inline id find_path(const module_tree& modules, std::string_view path) {
    id m = 0;
    auto rest = path;
    while (!rest.empty() && m != no_id) {
        const auto dot = rest.find('.');
        m = modules.child(m, rest.substr(0, dot));
        rest.remove_prefix(dot == rest.npos ? rest.size() : dot + 1);
    }
    if (m == no_id) {
        for (const auto& alias : modules.aliases()) {
            if (alias.path == path) {
                return alias.module;
            }
        }
    }
    return m;
}

/// Returns: the parameter of a path, which may lead through an alias; none for buffers and unknown.
/// Complexity: as `find_path`, and O(parameters of the module).
[[nodiscard]] inline std::optional<tensor_info> find_parameter(const module_tree& modules,
                                                               std::string_view path) {
    const auto dot = path.rfind('.');
    const auto owner =
        find_path(modules, dot == path.npos ? std::string_view{} : path.substr(0, dot));
    const auto last = dot == path.npos ? path : path.substr(dot + 1);
    if (owner != no_id) {
        for (std::size_t i = 0; i < modules.parameter_count(owner); ++i) {
            if (const auto found = modules.parameter(owner, i); found.name == last) {
                return found;
            }
        }
    }
    return std::nullopt;
}

/// The modules of the paths that a part of a capture names.
class captured_paths {
public:
    /// What leads nowhere becomes a fault of `made`.
    /// Complexity: for each path as `find_path`, for each of its ends that leads nowhere.
    captured_paths(const module_tree& modules, const string_pool& paths, captured_operations& made,
                   std::string_view part) {
        std::size_t lost = 0;
        std::string example;
        for (id p = 0; p < paths.size(); ++p) {
            std::string_view path = paths[p];
            auto m = find_path(modules, path);
            exact_.push_back(m != no_id);
            if (m == no_id) {
                example = lost++ == 0 ? std::string(path) : example;
                while (m == no_id) {
                    const auto dot = path.rfind('.');
                    path = dot == path.npos ? std::string_view{} : path.substr(0, dot);
                    m = find_path(modules, path);
                }
            }
            modules_.push_back(m);
        }
        if (lost > 0) {
            made.add_fault(std::to_string(lost) + " of " + std::to_string(paths.size()) +
                           " modules in the " + std::string(part) +
                           " are not in the tree, such as '" + example + "'");
        }
    }

    /// Returns: the module of a path, or the nearest above it; then `exact` becomes false.
    [[nodiscard]] id module_of(id path, bool& exact) const {
        exact = exact && exact_[path];
        return modules_[path];
    }

private:
    std::vector<id> modules_;
    std::vector<bool> exact_;
};

} // namespace stemma

#endif // STEMMA_CAPTURE_DETAIL_CAPTURED_JSON_HPP

// <stemma/capture/captured_export.hpp>
#ifndef STEMMA_CAPTURE_CAPTURED_EXPORT_HPP
#define STEMMA_CAPTURE_CAPTURED_EXPORT_HPP

namespace stemma {

/// A node of the file that an export wrote, and the module it was exported for.
struct exported_node {
    std::string graph;   ///< "" for the main graph, see docs/formats.md
    id index = no_id;    ///< place in that graph
    std::string op_type; ///< without its domain
    std::string module;  ///< path
};

/// Reads what was recorded while a model was exported: nodes with their full scopes
/// `pkg.Class::path/pkg.Class::path.of.child`.
class captured_export {
public:
    /// Whether no node was read.
    [[nodiscard]] bool empty() const noexcept { return nodes_.empty(); }

    /// Throws: `error` of `error_code::malformed`; `file` is named in it.
    void read_node(json_part node, std::string_view file) {
        const captured_json at(node, file, "exported node", count_++);
        if (!at.has("scope")) {
            at.fail("lacks the text 'scope'");
        }
        exported_node made;
        made.graph = at.has("graph") ? at.text("graph") : std::string();
        made.index = at.number("index");
        made.op_type = at.text("op_type");
        if (made.index == no_id) {
            at.fail("lacks the number 'index'");
        }
        const auto scope = at.is_text("scope") ? at.text("scope") : std::string();
        if (const auto colons = scope.rfind("::"); colons != scope.npos) {
            made.module = scope.substr(colons + 2);
            nodes_.push_back(std::move(made));
        }
    }

    /// The nodes that had a scope.
    [[nodiscard]] std::span<const exported_node> nodes() const noexcept { return nodes_; }

private:
    std::vector<exported_node> nodes_;
    std::size_t count_ = 0;
};

} // namespace stemma

#endif // STEMMA_CAPTURE_CAPTURED_EXPORT_HPP

// <stemma/capture/captured_fx.hpp>
#ifndef STEMMA_CAPTURE_CAPTURED_FX_HPP
#define STEMMA_CAPTURE_CAPTURED_FX_HPP

namespace stemma {

/// Reads the nodes of an FX graph, or of several, whose nodes say which `tracer` they are of.
///
/// A placeholder is an input, or a parameter when it says which; get_attr is a parameter;
/// call_module is the operation of a layer, which reads the layer's parameters; call_function and
/// call_method are operations; output is none. Unknown keys are ignored.
class captured_fx {
public:
    /// Whether no node was read.
    [[nodiscard]] bool empty() const noexcept { return graphs_.empty(); }

    /// Throws: `error` of `error_code::malformed` for what is no FX node; `file` is named in it.
    void read_node(json_part node, std::string_view file) {
        const captured_json at(node, file, "FX node", count_++);
        node_record made;
        made.kind = at.text("op");
        made.name = at.text("name");
        made.target = at.text("target");
        const bool known = made.kind == "placeholder" || made.kind == "get_attr" ||
                           made.kind == "call_module" || made.kind == "call_function" ||
                           made.kind == "call_method" || made.kind == "output";
        if (!known) {
            at.fail("is of the unknown kind '" + made.kind + "'");
        }
        made.arguments = at.strings("args");
        made.is_tensor = at.has("shape");
        const auto stack = at.strings("module_stack");
        made.path = made.kind == "call_module" ? made.target
                    : stack.empty()            ? std::string()
                                               : stack.back();
        made.operation = made.target;
        if (made.kind == "call_module" && at.has("class")) {
            made.operation = at.text("class");
        }
        if (made.kind == "placeholder" && at.has("parameter")) {
            made.kind = "get_attr";
            made.target = at.text("parameter");
        }
        auto tracer = at.has("tracer") ? at.text("tracer") : std::string();
        const auto known_graph =
            std::find_if(graphs_.begin(), graphs_.end(),
                         [&](const graph_record& graph) { return graph.tracer == tracer; });
        auto& graph = known_graph == graphs_.end()
                          ? graphs_.emplace_back(graph_record{std::move(tracer), {}, false})
                          : *known_graph;
        graph.shapes_known = graph.shapes_known || made.is_tensor;
        graph.nodes.push_back(std::move(made));
    }

    /// Returns: the operations of every graph, with modules of the tree. What does not add up is
    /// among the faults.
    /// Complexity: O(nodes and what they read) expected.
    [[nodiscard]] std::vector<captured_operations> finish(const module_tree& modules) {
        std::vector<captured_operations> made;
        for (const auto& graph : graphs_) {
            made.push_back(operations_of(graph, modules));
        }
        graphs_.clear();
        return made;
    }

private:
    struct node_record {
        std::string kind;
        std::string name;
        std::string target;
        std::string operation;
        std::string path;
        std::vector<std::string> arguments;
        bool is_tensor = false; // as far as shapes are known
    };

    struct graph_record {
        std::string tracer;
        std::vector<node_record> nodes;
        bool shapes_known = false;
    };

    enum class result { tensor, number, tuple };

    [[nodiscard]] static captured_operations operations_of(const graph_record& graph,
                                                           const module_tree& modules) {
        captured_operations made;
        string_pool paths;
        std::vector<id> path_of;
        std::unordered_map<std::string, id> maker;
        std::unordered_map<std::string, std::string> parameter;
        std::unordered_map<std::string, result> results;
        bool finished = false;
        for (const auto& node : graph.nodes) {
            finished = finished || node.kind == "output";
            if (node.kind == "get_attr") {
                parameter[node.name] = node.target;
                continue;
            }
            if (!node.kind.starts_with("call_")) {
                continue;
            }
            results[node.name] = result_of(node, graph.shapes_known, results);
            if (const auto whole = tuple_of(node, results); !whole.empty()) {
                if (const auto source = maker.find(whole); source != maker.end()) {
                    maker[node.name] = source->second;
                }
                continue;
            }
            const auto number = made.add({}, node.operation);
            made[number].module = paths.intern(node.path);
            // a whole module called as a method
            made[number].exact = node.kind != "call_method" || node.target != "forward";
            for (const auto& argument : node.arguments) {
                if (const auto source = maker.find(argument); source != maker.end()) {
                    made.add_source(source->second);
                } else if (const auto read = parameter.find(argument); read != parameter.end()) {
                    add_parameter(made, modules, read->second);
                } else {
                    made.add_input();
                }
            }
            if (node.kind == "call_module") {
                read_layer(made, modules, node.path, number);
            }
            made[number].optional = results[node.name] == result::number;
            maker[node.name] = number;
        }
        if (!finished) {
            made.add_fault("the FX graph has no output: it is cut short");
        }
        const captured_paths known(modules, paths, made, "FX graph");
        for (id i = 0; i < made.size(); ++i) {
            made[i].module = known.module_of(made[i].module, made[i].exact);
        }
        return made;
    }

    /// Python computes with sizes and tuples as well; hardly anything of that is exported.
    [[nodiscard]] static result result_of(const node_record& node, bool shapes_known,
                                          const std::unordered_map<std::string, result>& results) {
        const auto is_number = [&](const std::string& name) {
            const auto known = results.find(name);
            return known != results.end() && known->second == result::number;
        };
        if (shapes_known && node.is_tensor) {
            return result::tensor;
        }
        const bool asks = node.target == "size" || node.target == "dim" ||
                          node.target == "builtins.getattr" || node.target == "builtins.len";
        const bool computes = !node.arguments.empty() &&
                              std::all_of(node.arguments.begin(), node.arguments.end(), is_number);
        if (node.kind != "call_module" && (asks || computes)) {
            return result::number;
        }
        return shapes_known ? result::tuple : result::tensor;
    }

    /// Returns: the node whose several results this one only picks from, or "".
    [[nodiscard]] static std::string
    tuple_of(const node_record& node, const std::unordered_map<std::string, result>& results) {
        const auto whole = node.target.ends_with("getitem") && !node.arguments.empty()
                               ? results.find(node.arguments.front())
                               : results.end();
        return whole != results.end() && whole->second == result::tuple ? whole->first
                                                                        : std::string();
    }

    static void add_parameter(captured_operations& made, const module_tree& modules,
                              std::string_view name) {
        if (const auto known = find_parameter(modules, name)) {
            const auto shape = known->shape;
            made.add_parameter(name, std::vector<std::int64_t>(shape.begin(), shape.end()));
            return;
        }
        made.add_parameter(name, {});
    }

    /// A layer may be more than one module: then what it does is done there or below.
    static void read_layer(captured_operations& made, const module_tree& modules,
                           const std::string& path, id number) {
        const auto layer = find_path(modules, path);
        if (layer == no_id) {
            return;
        }
        const auto& tree = modules.index();
        if (tree.end(layer) > layer + 1) {
            made[number].exact = false;
            made.add_name("forward");
        }
        for (auto m = layer; m < tree.end(layer); ++m) {
            const auto prefix = modules.path(m);
            for (std::size_t i = 0; i < modules.parameter_count(m); ++i) {
                const auto tensor = modules.parameter(m, i);
                made.add_parameter(
                    prefix.empty() ? std::string(tensor.name)
                                   : prefix + "." + std::string(tensor.name),
                    std::vector<std::int64_t>(tensor.shape.begin(), tensor.shape.end()));
            }
        }
    }

    std::vector<graph_record> graphs_;
    std::size_t count_ = 0;
};

} // namespace stemma

#endif // STEMMA_CAPTURE_CAPTURED_FX_HPP

// <stemma/capture/detail/tensor_makers.hpp>
#ifndef STEMMA_CAPTURE_DETAIL_TENSOR_MAKERS_HPP
#define STEMMA_CAPTURE_DETAIL_TENSOR_MAKERS_HPP

namespace stemma::detail {

/// Which operation of a run made a tensor last, and which operations do what another did before.
class tensor_makers {
public:
    /// Notes results of an operation; names that start with `p:` are parameters, and stay so.
    void note(std::span<const std::string> results, id operation) {
        for (const auto& tensor : results) {
            if (!tensor.starts_with("p:")) {
                maker_[tensor] = operation;
            }
        }
    }

    /// Returns: what made the tensor, or `no_id`.
    [[nodiscard]] id maker(const std::string& tensor) const {
        const auto found = maker_.find(tensor);
        return found == maker_.end() ? no_id : found->second;
    }

    /// Returns: the operation that an operation repeats, or `no_id`.
    [[nodiscard]] id repeated(id operation) const {
        const auto found = first_of_.find(operation);
        return found == first_of_.end() ? no_id : found->second;
    }

    /// Notes an operation before its results are. It repeats an earlier one of that name that read
    /// the same tensors, as they were then, and whose results have the same shapes.
    /// Returns: whether it repeats one.
    bool is_repeated(id operation, std::string_view name, std::span<const std::string> inputs,
                     std::span<const std::string> results,
                     std::span<const std::vector<std::int64_t>> shapes) {
        if (inputs.empty() || results.empty()) {
            return false;
        }
        std::string key(name);
        for (const auto& input : inputs) {
            const auto same = same_as_.find(input);
            const auto& tensor = same == same_as_.end() ? input : same->second;
            key.append("\n").append(tensor).append("@").append(std::to_string(maker(tensor)));
        }
        for (const auto& shape : shapes) {
            key += '\n';
            for (auto extent : shape) {
                key.append(std::to_string(extent)).append(",");
            }
        }
        const auto [known, added] =
            computed_.emplace(std::move(key), call{operation, {results.begin(), results.end()}});
        if (added) {
            return false;
        }
        const auto& first = known->second;
        first_of_.emplace(operation, first.operation);
        for (std::size_t i = 0; i < std::min(results.size(), first.results.size()); ++i) {
            same_as_.emplace(results[i], first.results[i]);
        }
        return true;
    }

private:
    struct call {
        id operation = no_id;
        std::vector<std::string> results;
    };

    std::unordered_map<std::string, id> maker_;
    std::unordered_map<std::string, call> computed_; // by name, what is read, shapes of results
    std::unordered_map<std::string, std::string> same_as_;
    std::unordered_map<id, id> first_of_;
};

} // namespace stemma::detail

#endif // STEMMA_CAPTURE_DETAIL_TENSOR_MAKERS_HPP

// <stemma/capture/captured_trace.hpp>
#ifndef STEMMA_CAPTURE_CAPTURED_TRACE_HPP
#define STEMMA_CAPTURE_CAPTURED_TRACE_HPP

namespace stemma {

/// Reads the events of a trace: modules entered and left, calls as the user wrote them (`func`),
/// and the operators below (`op`).
///
/// A call and what ran below it are one operation. Unknown keys and kinds are ignored.
class captured_trace {
public:
    /// Whether no event was read that says anything.
    [[nodiscard]] bool empty() const noexcept { return made_.empty() && open_.empty(); }

    /// Throws: `error` of `error_code::malformed` for what is no event; `file` is named in it.
    /// Complexity: O(size of the event).
    void read_event(json_part event, std::string_view file) {
        const captured_json at(event, file, "event", count_++);
        const auto kind = at.text("kind");
        if (kind == "enter") {
            enter(at);
        } else if (kind == "exit") {
            exit(at);
        } else if (kind == "func" || kind == "op") {
            run(at, kind == "func");
        }
    }

    /// Reads an operation that comes without events: `op`, `module`, and ids and shapes as there.
    void read_operation(json_part operation, std::string_view file) {
        const captured_json at(operation, file, "operation", count_++);
        captured_operations::operation made;
        made.module = paths_.intern(at.text("module"));
        made.call = at.number("call");
        add(at, at.text("op"), at.strings("in_ids"), made);
        note_results(at, made_.size() - 1);
    }

    /// Reads an entry of the list of modules that could not be watched: a path, or path and reason.
    /// Throws: as `read_event`.
    void read_unhooked(json_part entry, std::string_view file) {
        const auto path = entry.is_array() ? entry[0] : entry;
        if (!path.is_text()) {
            STEMMA_THROW(
                error(error_code::malformed, file, "unhooked modules", "an entry names no module"));
        }
        unhooked_.emplace_back(path.text());
    }

    /// Returns: the operations, with modules of the tree. What does not add up is among the faults.
    /// Complexity: O(operations * depth).
    [[nodiscard]] captured_operations finish(const module_tree& modules) {
        if (!open_.empty()) {
            made_.add_fault("the trace ends inside of module '" + open_.back().path +
                            "': it is cut short");
        }
        if (misplaced_ > 0) {
            made_.add_fault(std::to_string(misplaced_) +
                            " events of the trace do not stand where their module is open");
        }
        const captured_paths paths(modules, paths_, made_, "trace");
        for (id i = 0; i < made_.size(); ++i) {
            made_[i].module = paths.module_of(made_[i].module, made_[i].exact);
        }
        place_unhooked(modules);
        compare_shapes(modules);
        find_unused();
        return std::move(made_);
    }

private:
    struct open_module {
        std::string path;
        id call = no_id;
    };

    struct call_above {
        std::string name;
        std::vector<std::string> inputs;
        id operation = no_id;
    };

    void enter(const captured_json& at) {
        const auto path = at.text("module");
        misplaced_ += at.has("stack") && !stands_in(at) ? 1U : 0U;
        open_.push_back({path, at.number("call")});
    }

    void exit(const captured_json& at) {
        const auto path = at.text("module");
        if (!open_.empty() && open_.back().path == path) {
            open_.pop_back();
            if (open_.empty()) {
                note_outputs(at);
            }
            return;
        }
        ++misplaced_;
        const auto known = std::find_if(open_.rbegin(), open_.rend(),
                                        [&](const open_module& m) { return m.path == path; });
        if (known != open_.rend()) {
            open_.erase(known.base() - 1, open_.end());
        }
    }

    /// Whether the modules that an event names are those that are open.
    [[nodiscard]] bool stands_in(const captured_json& at) const {
        const auto stack = at.strings("stack");
        return stack.size() == open_.size() &&
               std::equal(stack.begin(), stack.end(), open_.begin(),
                          [](const std::string& a, const open_module& b) { return a == b.path; });
    }

    void run(const captured_json& at, bool is_call) {
        const auto name = at.text("op");
        const auto inputs = at.strings("in_ids");
        const auto seq = at.number("seq");
        const auto call = at.number("func");
        auto into = no_id;
        if (!is_call && call != no_id) {
            const auto found = by_seq_.find(call);
            into = found == by_seq_.end() ? no_id : found->second;
        } else if (!is_call) {
            into = seen_above(name, inputs);
        }
        if (into == no_id) {
            add(at, name, inputs);
            find_earlier(at, name, inputs);
            if (is_call) {
                by_seq_.clear(); // what ran below a call follows it
                by_seq_.emplace(seq, made_.size() - 1);
                above_.push_back({name, inputs, made_.size() - 1});
                if (above_.size() > 64) {
                    above_.erase(above_.begin(), above_.begin() + 32);
                }
            }
        } else if (into + 1 == made_.size()) {
            made_.add_name(name);
        }
        const auto maker = into == no_id ? made_.size() - 1 : into;
        note_results(at, maker);
    }

    void note_results(const captured_json& at, id maker) {
        makers_.note(at.strings("out_ids"), maker);
    }

    void note_outputs(const captured_json& at) {
        for (const auto& tensor : at.strings("out_ids")) {
            if (const auto maker = makers_.maker(tensor); maker != no_id) {
                outputs_.push_back(maker);
            }
        }
    }

    /// Exporters compute once what is written several times, so what repeats an operation may leave
    /// nothing.
    void find_earlier(const captured_json& at, const std::string& name,
                      const std::vector<std::string>& inputs) {
        const auto number = made_.size() - 1;
        if (makers_.is_repeated(number, name, inputs, at.strings("out_ids"),
                                at.shapes("output_shapes"))) {
            made_[number].optional = true;
        }
    }

    /// What nothing reads that comes out of the model is not exported.
    void find_unused() {
        if (outputs_.empty()) {
            return;
        }
        std::vector<bool> used(made_.size(), false);
        for (auto i : outputs_) {
            used[i] = true;
        }
        for (auto i = made_.size(); i-- > 0;) {
            if (used[i]) {
                for (auto source : made_.sources_of(i)) {
                    used[source] = true;
                }
            } else {
                made_[i].optional = true;
            }
        }
    }

    /// Some operators are seen twice: as a call, and a little later as what runs below none.
    /// Returns: the call that is the same operator, or `no_id`.
    [[nodiscard]] id seen_above(const std::string& name, const std::vector<std::string>& inputs) {
        constexpr std::size_t lookback = 8;
        auto result = no_id;
        const auto first = above_.size() > lookback ? above_.size() - lookback : 0;
        for (auto i = above_.size(); i-- > first && result == no_id;) {
            if (above_[i].name == name && above_[i].inputs == inputs) {
                result = above_[i].operation;
                above_.erase(above_.begin(), above_.begin() + static_cast<std::ptrdiff_t>(i + 1));
                return result;
            }
        }
        above_.erase(above_.begin(), above_.begin() + static_cast<std::ptrdiff_t>(first));
        return result;
    }

    void add(const captured_json& at, const std::string& name,
             const std::vector<std::string>& inputs) {
        const auto stack = at.strings("stack");
        misplaced_ += stands_in(at) ? 0U : 1U;
        captured_operations::operation made;
        made.module = paths_.intern(stack.empty() ? std::string() : stack.back());
        if (!open_.empty() && !stack.empty() && open_.back().path == stack.back()) {
            made.call = open_.back().call;
        }
        add(at, name, inputs, made);
    }

    void add(const captured_json& at, const std::string& name,
             const std::vector<std::string>& inputs, const captured_operations::operation& made) {
        made_.add(made, name);
        const auto shapes = at.shapes("input_shapes");
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            const std::string_view input = inputs[i];
            if (input.starts_with("p:")) {
                made_.add_parameter(input.substr(2),
                                    i < shapes.size() ? shapes[i] : std::vector<std::int64_t>{});
            } else if (const auto maker = makers_.maker(inputs[i]); maker != no_id) {
                made_.add_source(maker);
                if (const auto first = makers_.repeated(maker); first != no_id) {
                    made_.add_source(first);
                }
            } else {
                made_.add_input();
            }
        }
    }

    /// A parameter of another shape than the tree says shows that the two are of different models.
    void compare_shapes(const module_tree& modules) {
        enum class state : std::uint8_t { unknown, equal, different };
        std::vector<state> states(made_.parameter_names().size(), state::unknown);
        std::size_t different = 0;
        std::string example;
        for (id i = 0; i < made_.size(); ++i) {
            for (const auto& p : made_.parameters_of(i)) {
                if (p.shape.empty() || states[p.name] != state::unknown) {
                    continue;
                }
                const std::string_view name = made_.parameter_names()[p.name];
                const auto known = find_parameter(modules, name);
                const bool differs = known && !known->shape.empty() &&
                                     !std::equal(p.shape.begin(), p.shape.end(),
                                                 known->shape.begin(), known->shape.end());
                states[p.name] = differs ? state::different : state::equal;
                example = differs && different++ == 0 ? std::string(name) : example;
            }
        }
        if (different > 0) {
            made_.add_fault(std::to_string(different) +
                            " parameters have other shapes in the trace than in the modules, "
                            "such as '" +
                            example + "'");
        }
    }

    /// Nothing tells in which module below an unwatched one an operation ran but the parameters it
    /// reads; without any, it is taken to be the unwatched module's own.
    void place_unhooked(const module_tree& modules) {
        if (unhooked_.empty()) {
            return;
        }
        const auto& tree = modules.index();
        std::vector<bool> hidden(tree.size(), false);
        for (const auto& path : unhooked_) {
            const auto m = find_path(modules, path);
            if (m != no_id) {
                hidden[m] = true;
            }
        }
        std::vector<id> reads(made_.size(), no_id); // the hidden module whose parameters are read
        for (id i = 0; i < made_.size(); ++i) {
            for (const auto& p : made_.parameters_of(i)) {
                const std::string_view name = made_.parameter_names()[p.name];
                const auto dot = name.rfind('.');
                const auto owner =
                    find_path(modules, dot == name.npos ? std::string_view{} : name.substr(0, dot));
                if (owner != no_id && hidden[owner] && tree.is_ancestor(made_[i].module, owner)) {
                    reads[i] = owner;
                }
            }
        }
        const auto outermost = [&](id m, id below) {
            auto found = no_id;
            for (; m != below && m != no_id; m = m == 0 ? no_id : tree.parent(m)) {
                found = hidden[m] ? m : found;
            }
            return found;
        };
        for (id i = 0; i < made_.size();) {
            auto end = i + 1;
            while (end < made_.size() && made_[end].module == made_[i].module) {
                ++end;
            }
            place_run(i, end, reads, outermost);
            i = end;
        }
    }

    /// Places the operations of a run in one watched module.
    template <class Outermost>
    void place_run(id first, id last, const std::vector<id>& reads, Outermost outermost) {
        const auto around = made_[first].module;
        auto next = last;
        auto before = no_id; // hidden module that was read last
        for (auto i = first; i < last; ++i) {
            if (next == last || next < i) {
                next = i;
                while (next < last && reads[next] == no_id) {
                    ++next;
                }
            }
            if (reads[i] != no_id) {
                before = reads[i];
                made_[i].module = reads[i];
                made_[i].exact = false;
            } else if (const auto near = before != no_id ? before
                                         : next < last   ? reads[next]
                                                         : no_id;
                       near != no_id) {
                made_[i].module = outermost(near, around);
                made_[i].exact = false;
            }
        }
    }

    captured_operations made_;
    string_pool paths_;
    std::vector<open_module> open_;
    std::unordered_map<id, id> by_seq_;
    detail::tensor_makers makers_;
    std::vector<id> outputs_; // what made them
    std::vector<std::string> unhooked_;
    std::vector<call_above> above_; // the last calls
    std::size_t count_ = 0;
    std::size_t misplaced_ = 0;
};

} // namespace stemma

#endif // STEMMA_CAPTURE_CAPTURED_TRACE_HPP

// <stemma/core/glob.hpp>
#ifndef STEMMA_CORE_GLOB_HPP
#define STEMMA_CORE_GLOB_HPP

namespace stemma {

namespace detail {

/// Returns: one past the part of `pattern` that starts with `{`, or 0 when no `}` closes it.
[[nodiscard]] constexpr std::size_t end_of_braces(std::string_view pattern) noexcept {
    std::size_t depth = 0;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        depth += pattern[i] == '{' ? 1U : 0U;
        if (pattern[i] == '}' && --depth == 0) {
            return i + 1;
        }
    }
    return 0;
}

} // namespace detail

/// Whether `pattern` describes all of `text`.
///
/// `?` is one character but `separator`; `*` any run that holds none; `**` any run; `{a,b}` either.
/// With the default separator, which is none, `*` and `**` are the same. A `{` that nothing closes
/// stands for itself.
/// Complexity: O(|pattern| * |text|) without braces; where `**` stands in front of `*`, another
/// |text|; each brace multiplies by its alternatives and the places it may end at.
[[nodiscard, gnu::always_inline]] inline constexpr bool
glob_match(std::string_view pattern, std::string_view text, char separator = '\0') noexcept;

namespace detail {

[[nodiscard]] constexpr bool any_alternative(std::string_view pattern, std::string_view text,
                                             std::size_t end, char separator) noexcept;

/// `a == b`, without a call where the sizes differ: the standard's is one for some compilers.
[[nodiscard]] constexpr bool is_same_text(std::string_view a, std::string_view b) noexcept {
    return a.size() == b.size() &&
           std::char_traits<char>::compare(a.data(), b.data(), a.size()) == 0;
}

/// Whether a character of a pattern stands for itself, wherever it is.
[[nodiscard]] constexpr bool is_literal(char c) noexcept {
    return c != '*' && c != '?' && c != '{';
}

/// As `glob_match`; without `Separated`, the separator is none.
template <bool Separated>
[[nodiscard]] constexpr bool match_whole(std::string_view pattern, std::string_view text,
                                         char separator) noexcept {
    std::size_t p = 0;
    std::size_t t = 0;
    // Where to resume after a mismatch: behind the last `*` and the last `**` seen.
    struct retry {
        std::size_t pattern = std::string_view::npos;
        std::size_t text = 0;
    };
    retry run;
    retry deep_run;
    while (t < text.size() || p < pattern.size()) {
        if (p < pattern.size()) {
            if (pattern[p] == '*') {
                const bool deep = !Separated || (p + 1 < pattern.size() && pattern[p + 1] == '*');
                while (p < pattern.size() && pattern[p] == '*') {
                    ++p;
                }
                (deep ? deep_run : run) = {p, t};
                if (deep) {
                    run = {};
                }
                continue;
            }
            if (pattern[p] == '{') {
                if (const auto end = end_of_braces(pattern.substr(p)); end != 0) {
                    if (any_alternative(pattern.substr(p), text.substr(t), end, separator)) {
                        return true;
                    }
                } else if (t < text.size() && text[t] == '{') {
                    ++p;
                    ++t;
                    continue;
                }
            } else if (t < text.size() &&
                       (pattern[p] == text[t] ||
                        (pattern[p] == '?' && (!Separated || text[t] != separator)))) {
                ++p;
                ++t;
                continue;
            }
        }
        if (Separated && run.pattern != std::string_view::npos && run.text < text.size() &&
            text[run.text] != separator) {
            p = run.pattern;
            ++run.text;
            if (p < pattern.size() && is_literal(pattern[p])) {
                while (run.text < text.size() && text[run.text] != pattern[p] &&
                       text[run.text] != separator) {
                    ++run.text;
                }
            }
            t = run.text;
        } else if (deep_run.pattern != std::string_view::npos && deep_run.text < text.size()) {
            p = deep_run.pattern;
            ++deep_run.text;
            if (p < pattern.size() && is_literal(pattern[p])) {
                deep_run.text = std::min(text.find(pattern[p], deep_run.text), text.size());
            }
            t = deep_run.text;
            run = {};
        } else {
            return false;
        }
    }
    return true;
}

} // namespace detail

constexpr bool glob_match(std::string_view pattern, std::string_view text,
                          char separator) noexcept {
    // Most texts differ from most patterns in the first character, which takes no call to see.
    const bool differs = !pattern.empty() && detail::is_literal(pattern.front()) &&
                         (text.empty() || text.front() != pattern.front());
    return !differs && (separator == '\0' ? detail::match_whole<false>(pattern, text, separator)
                                          : detail::match_whole<true>(pattern, text, separator));
}

namespace detail {

/// Matches what braces and all that follows them describe; one alternative after the other.
constexpr bool any_alternative(std::string_view pattern, std::string_view text, std::size_t end,
                               char separator) noexcept {
    const auto rest = pattern.substr(end);
    std::size_t depth = 0;
    std::size_t begin = 1;
    for (std::size_t i = 0; i < end; ++i) {
        const bool closes = pattern[i] == '}' && --depth == 0;
        if (closes || (pattern[i] == ',' && depth == 1)) {
            const auto alternative = pattern.substr(begin, i - begin);
            begin = i + 1;
            for (std::size_t length = 0; length <= text.size(); ++length) {
                if (glob_match(alternative, text.substr(0, length), separator) &&
                    glob_match(rest, text.substr(length), separator)) {
                    return true;
                }
            }
        }
        depth += pattern[i] == '{' ? 1U : 0U;
    }
    return false;
}

} // namespace detail

/// A pattern that many texts are held against, as `glob_match` does: read once.
///
/// Requires: the text of the pattern outlives it.
class glob {
public:
    /// Complexity: O(|pattern|).
    constexpr explicit glob(std::string_view pattern, char separator = '\0') noexcept
        : separator_(separator) {
        const auto is_special = [](char c) { return !detail::is_literal(c) || c == '}'; };
        const auto first = std::find_if(pattern.begin(), pattern.end(), is_special);
        const auto last = std::find_if(pattern.rbegin(), pattern.rend(), is_special);
        const auto front = static_cast<std::size_t>(first - pattern.begin());
        const auto back =
            first == pattern.end() ? 0 : static_cast<std::size_t>(last - pattern.rbegin());
        front_ = pattern.substr(0, front);
        back_ = pattern.substr(pattern.size() - back);
        middle_ = pattern.substr(front, pattern.size() - front - back);
        fits_any_ = middle_ == "**" || (middle_ == "*" && separator == '\0');
    }

    /// Whether it describes all of `text`. Complexity: as `glob_match`.
    [[nodiscard, gnu::always_inline]] constexpr bool matches(std::string_view text) const noexcept {
        if (middle_.empty()) {
            return detail::is_same_text(text, front_);
        }
        // Most texts differ in the ends, which takes no call to see.
        return text.size() >= front_.size() + back_.size() &&
               (front_.empty() || front_.front() == text.front()) && may_end_in(text) &&
               matches_inside(text);
    }

    /// Whether some text that ends in `text` may match: false where the last character tells that
    /// none does. Complexity: constant.
    [[nodiscard]] constexpr bool may_end_in(std::string_view text) const noexcept {
        const auto end = middle_.empty() ? front_ : back_;
        return end.empty() || text.empty() || end.back() == text.back();
    }

private:
    [[nodiscard]] constexpr bool matches_inside(std::string_view text) const noexcept {
        if (!detail::is_same_text(text.substr(0, front_.size()), front_) ||
            !detail::is_same_text(text.substr(text.size() - back_.size()), back_)) {
            return false;
        }
        text.remove_prefix(front_.size());
        text.remove_suffix(back_.size());
        return fits_any_ ||
               (separator_ == '\0' ? detail::match_whole<false>(middle_, text, separator_)
                                   : detail::match_whole<true>(middle_, text, separator_));
    }

    std::string_view front_;  ///< stands for itself, up to what does not
    std::string_view middle_; ///< begins and ends with what does not
    std::string_view back_;   ///< stands for itself
    char separator_;
    bool fits_any_ = false; ///< whether the middle does
};

} // namespace stemma

#endif // STEMMA_CORE_GLOB_HPP

// <stemma/core/id_set_pool.hpp>
#ifndef STEMMA_CORE_ID_SET_POOL_HPP
#define STEMMA_CORE_ID_SET_POOL_HPP

namespace stemma {

/// Names one set of ids: a set of one by its element, a larger one by its place in an id_set_pool.
/// `no_id` is the empty set.
using id_set = id;

namespace detail {

/// Some of 32 neighbouring ids: which ones in the lower half, a bit for each; which 32 in the
/// upper. A set is a list of these, ascending: its elements mostly stand near each other.
using id_chunk = std::uint64_t;

[[nodiscard]] constexpr id_chunk chunk_of(id element) noexcept {
    return std::uint64_t{element / 32} << 32U | std::uint64_t{1} << element % 32;
}

[[nodiscard]] constexpr std::uint64_t place_of(id_chunk chunk) noexcept {
    return chunk >> 32U;
}

[[nodiscard]] constexpr std::uint32_t bits_of(id_chunk chunk) noexcept {
    return static_cast<std::uint32_t>(chunk);
}

[[nodiscard]] constexpr id least_of(id_chunk chunk) noexcept {
    return static_cast<id>(place_of(chunk)) * 32 +
           static_cast<id>(std::countr_zero(bits_of(chunk)));
}

[[nodiscard]] constexpr id greatest_of(id_chunk chunk) noexcept {
    return static_cast<id>(place_of(chunk)) * 32 + 31 -
           static_cast<id>(std::countl_zero(bits_of(chunk)));
}

[[nodiscard]] inline std::size_t count_ids(std::span<const id_chunk> set) noexcept {
    std::size_t count = 0;
    for (auto chunk : set) {
        count += static_cast<std::size_t>(std::popcount(bits_of(chunk)));
    }
    return count;
}

} // namespace detail

/// Keeps one copy of every distinct set of two or more ids below 2^31.
class id_set_pool {
public:
    /// Returns: whether `set` is empty or a single id, and so needs no pool.
    [[nodiscard]] static constexpr bool is_single(id_set set) noexcept {
        return set < first_pooled || set == no_id;
    }

    /// Returns: the set of `sorted`.
    /// Requires: ascending, each id once.
    /// Complexity: O(size) on average.
    id_set intern(std::span<const id> sorted) {
        made_.clear();
        for (auto element : sorted) {
            const auto chunk = detail::chunk_of(element);
            if (!made_.empty() && detail::place_of(made_.back()) == detail::place_of(chunk)) {
                made_.back() |= chunk;
            } else {
                made_.push_back(chunk);
            }
        }
        return intern_chunks(made_);
    }

    /// Calls `f(id)` for every element, ascending. Complexity: O(elements).
    template <class Function>
    void for_each(id_set set, Function f) const {
        if (is_single(set)) {
            if (set != no_id) {
                f(set);
            }
            return;
        }
        for (auto chunk : pooled(set)) {
            for (auto left = chunk; detail::bits_of(left) != 0; left &= left - 1) {
                f(detail::least_of(left));
            }
        }
    }

    /// Returns: how many elements `set` has; 0 for `no_id`, which is the empty set.
    [[nodiscard]] std::size_t size_of(id_set set) const noexcept {
        return set == no_id ? 0 : is_single(set) ? 1 : entries_[set - first_pooled].size;
    }

    /// Returns: how many sets of two or more are kept.
    [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }

private:
    friend class id_set_union;

    static constexpr id first_pooled = id{1} << 31;

    struct entry {
        std::uint32_t first = 0; // of its chunks
        std::uint32_t size = 0;  // in elements
    };

    [[nodiscard]] id_set intern_chunks(std::span<const detail::id_chunk> chunks) {
        if (chunks.empty()) {
            return no_id;
        }
        if (const auto only = detail::least_of(chunks[0]);
            chunks.size() == 1 && chunks[0] == detail::chunk_of(only)) {
            return only;
        }
        std::uint64_t hash = chunks.size();
        for (auto chunk : chunks) {
            hash = hash_mix(hash, chunk);
        }
        const auto next = static_cast<id>(entries_.size());
        const auto found = index_.insert(hash, next, [&](id known) {
            return std::ranges::equal(pooled(first_pooled + known), chunks);
        });
        if (found == next) {
            entries_.push_back({static_cast<std::uint32_t>(chunks_.size()),
                                static_cast<std::uint32_t>(detail::count_ids(chunks))});
            chunks_.insert(chunks_.end(), chunks.begin(), chunks.end());
        }
        return first_pooled + found;
    }

    [[nodiscard]] std::span<const detail::id_chunk> pooled(id_set set) const noexcept {
        const auto place = set - first_pooled;
        const auto first = entries_[place].first;
        const auto end = place + 1 < entries_.size() ? entries_[place + 1].first : chunks_.size();
        return {chunks_.data() + first, chunks_.data() + end};
    }

    std::vector<entry> entries_;
    std::vector<detail::id_chunk> chunks_;
    std::vector<detail::id_chunk> made_; // from the ids that are being interned
    flat_index index_;
};

} // namespace stemma

#endif // STEMMA_CORE_ID_SET_POOL_HPP

// <stemma/core/nearest_texts.hpp>
#ifndef STEMMA_CORE_NEAREST_TEXTS_HPP
#define STEMMA_CORE_NEAREST_TEXTS_HPP

namespace stemma {

/// Keeps those of many texts that look most like a given one, for "did you mean".
///
/// Measured by edit distance; a text that contains the given one counts as very near. Only texts
/// within half of its length count at all.
class nearest_texts {
public:
    /// Keeps at most `count` texts; none when `wanted` is empty. Requires: `wanted` stays.
    nearest_texts(std::string_view wanted, std::size_t count) : wanted_(wanted), count_(count) {
        limit_ = std::max<std::size_t>(1, wanted.size() / 2);
    }

    /// Complexity: O(limit * length), constant for texts that are far too long or too short.
    void offer(std::string_view text) {
        if (text.empty() || wanted_.empty()) {
            return;
        }
        const auto distance = text.find(wanted_) != text.npos ? 0 : edit_distance(text);
        if (distance > limit_) {
            return;
        }
        const auto place =
            std::upper_bound(best_.begin(), best_.end(), distance,
                             [](std::size_t d, const auto& known) { return d < known.first; });
        if (place == best_.end() && best_.size() == count_) {
            return;
        }
        const bool known = std::any_of(best_.begin(), best_.end(),
                                       [&](const auto& other) { return other.second == text; });
        if (!known) {
            best_.emplace(place, distance, text);
            best_.resize(std::min(best_.size(), count_));
            limit_ = best_.size() == count_ ? best_.back().first : limit_;
        }
    }

    /// Returns: the nearest texts, nearest first. Complexity: O(texts kept).
    [[nodiscard]] std::vector<std::string> take() const {
        std::vector<std::string> result;
        for (const auto& [distance, text] : best_) {
            result.push_back(text);
        }
        return result;
    }

private:
    /// Returns: the number of insertions, deletions and replacements, or more than the limit.
    [[nodiscard]] std::size_t edit_distance(std::string_view text) {
        const auto n = wanted_.size();
        if (std::max(n, text.size()) - std::min(n, text.size()) > limit_) {
            return limit_ + 1;
        }
        row_.resize(n + 1);
        for (std::size_t i = 0; i <= n; ++i) {
            row_[i] = i;
        }
        for (std::size_t j = 0; j < text.size(); ++j) {
            auto diagonal = std::exchange(row_[0], j + 1);
            auto least = row_[0];
            for (std::size_t i = 0; i < n; ++i) {
                const auto replaced = diagonal + (wanted_[i] == text[j] ? 0 : 1);
                diagonal = row_[i + 1];
                row_[i + 1] = std::min({replaced, row_[i] + 1, row_[i + 1] + 1});
                least = std::min(least, row_[i + 1]);
            }
            if (least > limit_) {
                return limit_ + 1;
            }
        }
        return row_[n];
    }

    std::string wanted_;
    std::size_t count_;
    std::size_t limit_;
    std::vector<std::pair<std::size_t, std::string>> best_;
    std::vector<std::size_t> row_;
};

/// Returns: that a program knows no `what` of this name, which one may be meant, and which there
/// are. In `known`, names stand between commas, what they take behind a colon.
/// Complexity: that of the edit distances.
[[nodiscard]] inline std::string unknown_name_text(std::string_view what, std::string_view name,
                                                   std::string_view known) {
    const auto without_argument = [](std::string_view text) {
        return text.substr(0, text.find(':'));
    };
    nearest_texts like(without_argument(name), 1);
    std::string meant;
    for (auto rest = known; !rest.empty();) {
        const auto one = rest.substr(0, rest.find(", "));
        like.offer(without_argument(one));
        if (const auto best = like.take(); !best.empty() && best[0] == without_argument(one)) {
            meant = one;
        }
        rest.remove_prefix(one.size() == rest.size() ? rest.size() : one.size() + 2);
    }
    auto text = std::string("unknown ").append(what).append(" '").append(name).append("'");
    text.append(meant.empty() ? "; " : "; did you mean '" + meant + "'? ");
    return text.append("known: ").append(known);
}

} // namespace stemma

#endif // STEMMA_CORE_NEAREST_TEXTS_HPP

// <stemma/core/parallel.hpp>
#ifndef STEMMA_CORE_PARALLEL_HPP
#define STEMMA_CORE_PARALLEL_HPP

namespace stemma {

/// How many threads a call may use. What it computes and writes is the same for any number.
///
/// A library has no business starting threads in somebody's process, so one is the default.
struct thread_limit {
    unsigned most = 1;                               ///< threads at once; 0 counts as 1
    std::size_t least_bytes = std::size_t{1} << 23U; ///< of a file, that are worth a thread

    /// Returns: as many as the process has processors, yet at most `ceiling`: what cannot be
    /// divided leaves more of them idle.
    [[nodiscard]] static thread_limit of_machine(unsigned ceiling = 8) {
        return {std::clamp(std::thread::hardware_concurrency(), 1U, ceiling)};
    }

    /// Returns: into how many parts to divide so many bytes, at least one.
    [[nodiscard]] std::size_t parts(std::size_t bytes) const noexcept {
        const auto worth = bytes / std::max<std::size_t>(least_bytes, 1);
        return std::clamp<std::size_t>(worth, 1, std::max(most, 1U));
    }

    /// Returns: into how many parts to divide so many operators: those of a file that holds them.
    [[nodiscard]] std::size_t parts_of_operators(std::size_t operators) const noexcept {
        constexpr std::size_t bytes_of_one = 256;
        return parts(operators * bytes_of_one);
    }

    /// Returns: the limit while one of these threads does something else; at least one.
    [[nodiscard]] thread_limit without_one() const noexcept {
        return {std::max(most, 2U) - 1, least_bytes};
    }
};

/// Calls `f(part)` for every part in [0, count), each in a thread of its own and the first in this
/// one, and waits for all.
///
/// Throws: what the call for the lowest part threw.
/// Complexity: that of `f`; a single part runs in this thread.
template <class Function>
void for_each_part(std::size_t count, Function f) {
    if (count <= 1) {
        for (std::size_t part = 0; part < count; ++part) {
            f(part);
        }
        return;
    }
#if defined(__cpp_exceptions)
    std::vector<std::exception_ptr> thrown(count);
    const auto guarded = [&](std::size_t part) {
        try {
            f(part);
        } catch (...) {
            thrown[part] = std::current_exception();
        }
    };
#else
    const auto& guarded = f;
#endif
    {
        struct joined_threads {
            std::vector<std::thread> threads;
            ~joined_threads() {
                for (auto& thread : threads) {
                    thread.join();
                }
            }
        } started;
        started.threads.reserve(count - 1);
        for (std::size_t part = 1; part < count; ++part) {
#if defined(__cpp_exceptions)
            try {
                started.threads.emplace_back(guarded, part);
            } catch (const std::system_error&) { // no more threads for this process
                guarded(part);
            }
#else
            started.threads.emplace_back(guarded, part);
#endif
        }
        guarded(0);
    }
#if defined(__cpp_exceptions)
    for (const auto& exception : thrown) {
        if (exception) {
            std::rethrow_exception(exception);
        }
    }
#endif
}

/// Returns: where range `part` begins, where [0, size) is divided into `count` ranges of about the
/// same length, in order; for `part == count` the end.
[[nodiscard]] constexpr std::size_t range_begin(std::size_t size, std::size_t count,
                                                std::size_t part) noexcept {
    return size / count * part + std::min(part, size % count);
}

/// Divides [0, size) into `count` ranges of about the same length, in order, and calls
/// `f(part, begin, end)` for each, as `for_each_part` does.
///
/// Throws: what the call for the lowest part threw.
template <class Function>
void for_each_range(std::size_t size, std::size_t count, Function f) {
    for_each_part(count, [&](std::size_t part) {
        f(part, range_begin(size, count, part), range_begin(size, count, part + 1));
    });
}

/// Starts `make()` in a thread of its own where `threads` allows several and so many operators are
/// worth one; else it is called when its result is asked for. Whoever goes on meanwhile has
/// `threads.without_one()`.
///
/// Returns: a future of what it returns, which is waited for before it goes out of scope.
/// Requires: what it refers to outlives the future.
/// Throws: where the result is asked for, what `make` throws.
template <class Make>
[[nodiscard]] auto start_beside(thread_limit threads, std::size_t operators, Make make) {
    if (threads.parts_of_operators(operators) > 1) {
#if defined(__cpp_exceptions)
        try {
            return std::async(std::launch::async, make);
        } catch (const std::system_error&) { // no more threads for this process
        }
#else
        return std::async(std::launch::async, make);
#endif
    }
    return std::async(std::launch::deferred, std::move(make));
}

/// Runs all tasks, each once, in at most so many threads, this one among them, and waits for all.
///
/// Requires: no task needs another one.
/// Throws: what a task threw.
/// Complexity: that of the tasks.
inline void run_tasks(std::size_t threads, std::initializer_list<std::function<void()>> tasks) {
    const auto count = std::min(std::max<std::size_t>(threads, 1), tasks.size());
    for_each_part(count, [&](std::size_t part) {
        for (auto i = part; i < tasks.size(); i += count) {
            tasks.begin()[i]();
        }
    });
}

} // namespace stemma

#endif // STEMMA_CORE_PARALLEL_HPP

// <stemma/core/policies.hpp>
#ifndef STEMMA_CORE_POLICIES_HPP
#define STEMMA_CORE_POLICIES_HPP

namespace stemma {

namespace detail {

template <class P>
struct policy_slot {
    STEMMA_NO_UNIQUE_ADDRESS P value;
};

template <class Category, class... Ps>
struct find_policy {};

template <class Category, class P, class... Ps>
struct find_policy<Category, P, Ps...>
    : std::conditional_t<policy_for<P, Category>, std::type_identity<P>,
                         find_policy<Category, Ps...>> {};

template <class P, class Q>
inline constexpr bool is_same_role = false;

template <policy P, policy Q>
inline constexpr bool is_same_role<P, Q> =
    std::same_as<typename P::policy_category, typename Q::policy_category>;

/// Whether at most one of some policies has the role of `P`.
template <class P, class... Ps>
inline constexpr bool is_alone = (0 + ... + (is_same_role<P, Ps> ? 1 : 0)) <= 1;

} // namespace detail

/// A set of policies, at most one for each category; the order of arguments does not matter.
template <class... Ps>
class policies : detail::policy_slot<Ps>... {
    static_assert((std::copy_constructible<Ps> && ...),
                  "policies: make the class of each argument copyable");
    static_assert((policy<Ps> && ...),
                  "policies: add `using policy_category` to the class of each argument");
    static_assert((detail::is_alone<Ps, Ps...> && ...),
                  "policies: two arguments have the same policy_category");

public:
    /// Holds a copy of each; stateless policies take no room.
    constexpr explicit policies(Ps... ps) : detail::policy_slot<Ps>{std::move(ps)}... {}

    /// Returns: the member for `Category`, else a `Default`.
    template <class Category, policy_for<Category> Default>
    [[nodiscard]] constexpr auto get_or() const {
        if constexpr ((policy_for<Ps, Category> || ...)) {
            using found = typename detail::find_policy<Category, Ps...>::type;
            return static_cast<const detail::policy_slot<found>&>(*this).value;
        } else {
            return Default();
        }
    }
};

} // namespace stemma

#endif // STEMMA_CORE_POLICIES_HPP

// <stemma/core/sweep_order.hpp>
#ifndef STEMMA_CORE_SWEEP_ORDER_HPP
#define STEMMA_CORE_SWEEP_ORDER_HPP

namespace stemma {

/// The orders in which results can flow along the edges of a graph, and against them.
///
/// A vertex on a cycle, or behind one, has no place in the forward order; one on a cycle, or before
/// one, has none in the backward order. So what a sweep computes depends on the graph alone.
template <operator_graph_like Graph>
class sweep_order {
public:
    /// Complexity: O(V + E); no order is stored for a graph that is topologically indexed and whose
    /// vertices can be counted back.
    explicit sweep_order(const Graph& graph)
        : graph_(&graph), indexed_(is_topologically_indexed(graph)) {
        if (!indexed_ || !counts_back) {
            forward_ = topological_order(graph);
            if (forward_.size() < num_vertices(graph)) {
                backward_ = reverse_topological_order(graph);
                std::reverse(backward_.begin(), backward_.end());
            }
        }
    }

    /// Whether some vertices have no place in one of the orders.
    [[nodiscard]] bool has_cycle() const noexcept {
        return !indexed_ && forward_.size() < num_vertices(*graph_);
    }

    /// Calls `f(v)` for every vertex behind all its producers. Complexity: O(V).
    template <class Function>
    void forward(Function f) const {
        if (indexed_) {
            for (auto [it, last] = vertices(*graph_); it != last; ++it) {
                f(vertex_t<Graph>(*it));
            }
            return;
        }
        for (const auto& v : forward_) {
            f(v);
        }
    }

    /// Calls `f(v)` for every vertex behind all its readers. Complexity: O(V).
    template <class Function>
    void backward(Function f) const {
        if constexpr (counts_back) {
            if (indexed_) {
                // By number: GCC compares and subtracts iterators over 32-bit vertices one by one.
                const auto [first, last] = vertices(*graph_);
                for (auto i = last - first; i-- > 0;) {
                    f(vertex_t<Graph>(first[i]));
                }
                return;
            }
        }
        const auto& listed = has_cycle() ? backward_ : forward_;
        for (auto i = listed.size(); i-- > 0;) {
            f(listed[i]);
        }
    }

private:
    // A graph that is topologically indexed is swept back over its vertices where they allow it.
    static constexpr bool counts_back =
        requires(const decltype(vertices(std::declval<const Graph&>()).first) it) {
        vertex_t<Graph>(it[it - it]);
    };

    const Graph* graph_;
    bool indexed_;
    std::vector<vertex_t<Graph>> forward_;
    std::vector<vertex_t<Graph>> backward_; // from its end; empty where `forward_` does
};

} // namespace stemma

#endif // STEMMA_CORE_SWEEP_ORDER_HPP

// <stemma/core/text_list.hpp>
#ifndef STEMMA_CORE_TEXT_LIST_HPP
#define STEMMA_CORE_TEXT_LIST_HPP

namespace stemma {

/// Returns: the parts of a list separated by commas, without empty ones. Complexity: O(length).
[[nodiscard]] inline std::vector<std::string> split_list(std::string_view text) {
    std::vector<std::string> parts;
    while (!text.empty()) {
        const auto comma = text.find(',');
        if (comma != 0) {
            parts.emplace_back(text.substr(0, comma));
        }
        text.remove_prefix(comma == text.npos ? text.size() : comma + 1);
    }
    return parts;
}

namespace detail {

/// Returns: the parts, separated by commas. Complexity: O(length).
[[nodiscard]] inline std::string join_list(const std::vector<std::string>& parts) {
    std::string text;
    for (const auto& part : parts) {
        text.append(text.empty() ? "" : ",").append(part);
    }
    return text;
}

} // namespace detail

} // namespace stemma

#endif // STEMMA_CORE_TEXT_LIST_HPP

// <stemma/core/detail/grouped_ids.hpp>
#ifndef STEMMA_CORE_DETAIL_GROUPED_IDS_HPP
#define STEMMA_CORE_DETAIL_GROUPED_IDS_HPP

namespace stemma {

/// Ids by the group they are in, groups side by side: two tables, made by counting.
class grouped_ids {
public:
    /// No groups.
    grouped_ids() : first_(1, 0) {}

    /// `for_each(take)` calls `take(group, member)` for every member, and is called twice.
    /// Requires: groups are below `count`, and both calls say the same.
    /// Complexity: O(members + groups).
    template <class ForEach>
    grouped_ids(std::size_t count, ForEach for_each) : first_(count + 2, 0) {
        // A group's entry counts two places behind it, then says where it is written next, and
        // last where it ends.
        for_each([&](id group, id) { ++first_[std::size_t{group} + 2]; });
        for (std::size_t g = 2; g < first_.size(); ++g) {
            first_[g] += first_[g - 1];
        }
        members_.resize(first_.back());
        for_each([&](id group, id member) { members_[first_[std::size_t{group} + 1]++] = member; });
        first_.pop_back();
    }

    /// Returns: how many groups there are, empty ones included.
    [[nodiscard]] std::size_t size() const noexcept { return first_.size() - 1; }

    /// Returns: the members of a group, in the order in which they came.
    [[nodiscard]] std::span<const id> operator[](std::size_t group) const noexcept {
        return range(group, group + 1);
    }

    /// Returns: the members of the groups in [begin, end), one group after the other.
    [[nodiscard]] std::span<const id> range(std::size_t begin, std::size_t end) const noexcept {
        return std::span(members_).subspan(first_[begin], first_[end] - first_[begin]);
    }

private:
    std::vector<id> first_; // by group, and one more
    std::vector<id> members_;
};

} // namespace stemma

#endif // STEMMA_CORE_DETAIL_GROUPED_IDS_HPP

// <stemma/core/detail/strong_components.hpp>
#ifndef STEMMA_CORE_DETAIL_STRONG_COMPONENTS_HPP
#define STEMMA_CORE_DETAIL_STRONG_COMPONENTS_HPP

namespace stemma {

namespace detail {

/// Tarjan's algorithm without recursion. `boost::strong_components` finds the same in up to 1.4
/// times the time (bench/core/detail/strong_components_bench.cpp), and takes a compiler twice as
/// long.
///
/// `for_each_vertex(f)` calls `f(v)` for all of `size` vertices, `index(v)` numbers them, and
/// `edges(v)` gives the iterators over what leads from one to `target(*iterator)`.
template <class Vertex, class ForEachVertex, class Index, class Edges, class Target>
[[nodiscard]] std::vector<id> strong_components(std::size_t size, ForEachVertex for_each_vertex,
                                                Index index, Edges edges, Target target) {
    struct frame {
        std::size_t v;
        decltype(edges(std::declval<Vertex>())) left; // those that were not followed yet
    };
    std::vector<id> component(size, no_id);
    std::vector<id> found(size, no_id); // in the order of discovery
    std::vector<id> lowest(size, no_id);
    std::vector<std::size_t> open; // found, and without a component
    std::vector<frame> way;
    id next = 0;
    id components = 0;
    const auto enter = [&](const Vertex& vertex) {
        const std::size_t v = index(vertex);
        found[v] = lowest[v] = next++;
        open.push_back(v);
        way.push_back({v, edges(vertex)});
    };
    for_each_vertex([&](const Vertex& root) {
        if (found[index(root)] == no_id) {
            enter(root);
        }
        while (!way.empty()) {
            const auto v = way.back().v;
            auto& [edge, end] = way.back().left;
            if (edge != end) {
                const Vertex reader = target(*edge);
                ++edge;
                const std::size_t u = index(reader);
                if (found[u] == no_id) {
                    enter(reader);
                } else if (component[u] == no_id) {
                    lowest[v] = std::min(lowest[v], found[u]);
                }
                continue;
            }
            way.pop_back();
            if (!way.empty()) {
                lowest[way.back().v] = std::min(lowest[way.back().v], lowest[v]);
            }
            if (lowest[v] == found[v]) {
                for (std::size_t u = size; u != v;) {
                    u = open.back();
                    open.pop_back();
                    component[u] = components;
                }
                ++components;
            }
        }
    });
    return component;
}

} // namespace detail

/// Returns: by vertex index the number of its strong component: equal for two vertices when ways
/// lead from each to the other. A component has a lower number than those that lead to it.
///
/// Complexity: O(V + E).
template <operator_graph_like Graph>
[[nodiscard]] std::vector<id> find_strong_components(const Graph& graph) {
    return detail::strong_components<vertex_t<Graph>>(
        num_vertices(graph),
        [&](auto f) {
            for (auto [it, last] = vertices(graph); it != last; ++it) {
                f(*it);
            }
        },
        [&](const auto& v) { return index_of(graph, v); },
        [&](const auto& v) { return out_edges(v, graph); },
        [&](const auto& e) { return target(e, graph); });
}

} // namespace stemma

#endif // STEMMA_CORE_DETAIL_STRONG_COMPONENTS_HPP

// <stemma/core/detail/sparse_ids.hpp>
#ifndef STEMMA_CORE_DETAIL_SPARSE_IDS_HPP
#define STEMMA_CORE_DETAIL_SPARSE_IDS_HPP

namespace stemma::detail {

/// A set of ids, which are few of many, or close together: bits, by the page that they are on.
class sparse_ids {
public:
    sparse_ids() = default;
    sparse_ids(const sparse_ids&) = delete;
    sparse_ids& operator=(const sparse_ids&) = delete;

    /// Returns: whether it was missing. Complexity: constant on average.
    bool insert(id member) {
        if (member / page_size != number_) {
            turn_to(member / page_size);
        }
        auto& bits = page_[member % page_size / 64];
        const auto bit = std::uint64_t{1} << member % 64;
        if ((bits & bit) != 0) {
            return false;
        }
        bits |= bit;
        return true;
    }

private:
    static constexpr id page_size = 512; // as many bits as a line of the cache holds

    void turn_to(id number) {
        // All that the table looks at is the number.
        const auto fresh = static_cast<id>(pages_.size());
        const auto at = index_.insert(std::uint64_t{number} << 32U, fresh, [](id) { return true; });
        if (at == fresh) {
            pages_.emplace_back();
        }
        page_ = pages_[at].data();
        number_ = number;
    }

    flat_index index_; // of pages, by number
    std::vector<std::array<std::uint64_t, page_size / 64>> pages_;
    id number_ = no_id;             // of the page that was asked for last
    std::uint64_t* page_ = nullptr; // the bits on it
};

} // namespace stemma::detail

#endif // STEMMA_CORE_DETAIL_SPARSE_IDS_HPP

// <stemma/model/operator_edge.hpp>
#ifndef STEMMA_MODEL_OPERATOR_EDGE_HPP
#define STEMMA_MODEL_OPERATOR_EDGE_HPP

namespace stemma {

/// Edge property: the tensor that flows along the edge.
struct value_index_t {
    using kind = boost::edge_property_tag;
};
/// Edge property: which input of the reader; `no_id` where no input slot is meant (a body's
/// result).
struct in_port_t {
    using kind = boost::edge_property_tag;
};
/// Edge property: which output of the producer.
struct out_port_t {
    using kind = boost::edge_property_tag;
};

/// Property: which value an edge carries.
inline constexpr value_index_t value_index{};
/// Property: as which input the value is read.
inline constexpr in_port_t in_port{};
/// Property: as which output the value is made.
inline constexpr out_port_t out_port{};

/// One edge as it is handed to an operator_graph.
struct operator_edge {
    id source = no_id;   ///< the producer
    id target = no_id;   ///< the reader
    id value = no_id;    ///< what flows, as the caller numbers values
    id in_port = no_id;  ///< `no_id` where no input slot is meant
    id out_port = no_id; ///< which output of the producer
};

} // namespace stemma

#endif // STEMMA_MODEL_OPERATOR_EDGE_HPP

// <stemma/model/operator_graph.hpp>
#ifndef STEMMA_MODEL_OPERATOR_GRAPH_HPP
#define STEMMA_MODEL_OPERATOR_GRAPH_HPP

namespace stemma {

/// Operators and the tensors between them: compressed in both directions, 32-bit, immutable.
///
/// Models Boost's VertexListGraph, EdgeListGraph, BidirectionalGraph, AdjacencyGraph and
/// PropertyGraph with `boost::vertex_index`, `boost::edge_index`, `value_index`, `in_port`,
/// `out_port`. Parallel edges are kept. In-edges stand in the order they were given, out-edges
/// in the order of their readers. Each function of these concepts takes O(1).
class operator_graph {
public:
    /// From a producer to a reader.
    struct edge {
        id source = no_id; ///< the producer
        id target = no_id; ///< the reader
        id index = no_id;  ///< in [0, num_edges), rising with the reader

        friend bool operator==(const edge&, const edge&) = default;
    };

    /// Without vertices.
    operator_graph() : operator_graph(0, {}) {}

    /// Requires: every source and target is below `count`.
    /// Complexity: O(V + E) by counting; two passes over `edges`.
    operator_graph(std::size_t count, std::span<const operator_edge> edges)
        : operator_graph(count, [&](auto take) {
            for (const auto& e : edges) {
                take(e);
            }
        }) {}

    /// `for_each(take)` calls `take(edge)` with an `operator_edge` for every edge, and is called
    /// twice.
    /// Requires: as above, and both calls say the same.
    /// Complexity: O(V + E) by counting, beside the two calls.
    template <std::invocable<void (*)(const operator_edge&)> ForEach>
    operator_graph(std::size_t count, ForEach for_each)
        : in_first_(count + 2), out_first_(count + 2) {
        for_each([&](const operator_edge& e) {
            ++in_first_[std::size_t{e.target} + 2];
            ++out_first_[std::size_t{e.source} + 2];
            leads_upwards_ = leads_upwards_ && e.source < e.target;
        });
        std::partial_sum(in_first_.begin(), in_first_.end(), in_first_.begin());
        std::partial_sum(out_first_.begin(), out_first_.end(), out_first_.begin());
        const auto size = in_first_.back();
        source_.resize(size);
        value_.resize(size);
        in_port_.resize(size);
        out_port_.resize(size);
        out_target_.resize(size);
        out_index_.resize(size);
        for_each([&](const operator_edge& e) {
            const auto at = in_first_[std::size_t{e.target} + 1]++;
            source_[at] = e.source;
            value_[at] = e.value;
            in_port_[at] = e.in_port;
            out_port_[at] = e.out_port;
        });
        for (id v = 0; v < count; ++v) {
            for (auto at = in_first_[v]; at < in_first_[v + 1]; ++at) {
                const auto out = out_first_[std::size_t{source_[at]} + 1]++;
                out_target_[out] = v;
                out_index_[out] = at;
            }
        }
        in_first_.pop_back();
        out_first_.pop_back();
    }

    /// Returns: as `num_vertices`.
    [[nodiscard]] id vertex_count() const noexcept { return static_cast<id>(in_first_.size() - 1); }

    /// Returns: as `num_edges`.
    [[nodiscard]] id edge_count() const noexcept { return static_cast<id>(source_.size()); }

    /// The producers of `v`, parallel ones repeated; goes into range-v3's views as it is.
    [[nodiscard]] std::span<const id> producers(id v) const noexcept {
        return {source_.data() + in_first_[v], source_.data() + in_first_[v + 1]};
    }

    /// The readers of `v`, in order, parallel ones repeated.
    [[nodiscard]] std::span<const id> readers(id v) const noexcept {
        return {out_target_.data() + out_first_[v], out_target_.data() + out_first_[v + 1]};
    }

    /// By the index of the edge; valid as long as the graph.
    [[nodiscard]] const std::vector<id>& property(value_index_t) const noexcept { return value_; }

    /// By the index of the edge; `no_id` where no input slot is meant.
    [[nodiscard]] const std::vector<id>& property(in_port_t) const noexcept { return in_port_; }

    /// By the index of the edge.
    [[nodiscard]] const std::vector<id>& property(out_port_t) const noexcept { return out_port_; }

private:
    // A position in one of the compressed arrays; `Derived` says what stands there.
    template <class Derived, class Value>
    class array_iterator
        : public boost::iterator_facade<Derived, Value, boost::random_access_traversal_tag, Value> {
    public:
        array_iterator() = default;
        array_iterator(const operator_graph* graph, id v, id at) : graph_(graph), v_(v), at_(at) {}

    protected:
        const operator_graph* graph_ = nullptr;
        id v_ = no_id;
        id at_ = 0;

    private:
        friend class boost::iterator_core_access;
        [[nodiscard]] bool equal(const array_iterator& other) const { return at_ == other.at_; }
        void increment() { ++at_; }
        void decrement() { --at_; }
        void advance(std::ptrdiff_t n) { at_ = static_cast<id>(at_ + n); }
        [[nodiscard]] std::ptrdiff_t distance_to(const array_iterator& other) const {
            return static_cast<std::ptrdiff_t>(other.at_) - static_cast<std::ptrdiff_t>(at_);
        }
    };

public:
    /// For Boost.Graph.
    class in_edge_iterator : public array_iterator<in_edge_iterator, edge> {
    public:
        using array_iterator<in_edge_iterator, edge>::array_iterator;

    private:
        friend class boost::iterator_core_access;
        [[nodiscard]] edge dereference() const { return {graph_->source_[at_], v_, at_}; }
    };

    /// For Boost.Graph.
    class out_edge_iterator : public array_iterator<out_edge_iterator, edge> {
    public:
        using array_iterator<out_edge_iterator, edge>::array_iterator;

    private:
        friend class boost::iterator_core_access;
        [[nodiscard]] edge dereference() const {
            return {v_, graph_->out_target_[at_], graph_->out_index_[at_]};
        }
    };

    /// For Boost.Graph.
    class adjacency_iterator : public array_iterator<adjacency_iterator, id> {
    public:
        using array_iterator<adjacency_iterator, id>::array_iterator;

    private:
        friend class boost::iterator_core_access;
        [[nodiscard]] id dereference() const { return graph_->out_target_[at_]; }
    };

    /// All edges, those of a reader together, readers in order.
    class edge_iterator
        : public boost::iterator_facade<edge_iterator, edge, boost::forward_traversal_tag, edge> {
    public:
        edge_iterator() = default;

        /// At the edge of index `at`. Complexity: O(V), and O(1) at the end.
        edge_iterator(const operator_graph* graph, id at) : graph_(graph), at_(at) { settle(); }

    private:
        friend class boost::iterator_core_access;
        [[nodiscard]] edge dereference() const { return {graph_->source_[at_], v_, at_}; }
        [[nodiscard]] bool equal(const edge_iterator& other) const { return at_ == other.at_; }
        void increment() {
            ++at_;
            settle();
        }
        void settle() {
            while (at_ < graph_->edge_count() && graph_->in_first_[v_ + 1] <= at_) {
                ++v_;
            }
        }

        const operator_graph* graph_ = nullptr;
        id v_ = 0;
        id at_ = 0;
    };

    friend std::pair<in_edge_iterator, in_edge_iterator> in_edges(id v, const operator_graph& g) {
        return {{&g, v, g.in_first_[v]}, {&g, v, g.in_first_[v + 1]}};
    }

    friend std::pair<out_edge_iterator, out_edge_iterator> out_edges(id v,
                                                                     const operator_graph& g) {
        return {{&g, v, g.out_first_[v]}, {&g, v, g.out_first_[v + 1]}};
    }

    friend std::pair<edge_iterator, edge_iterator> edges(const operator_graph& g) {
        return {{&g, 0}, {&g, g.edge_count()}};
    }

    friend std::pair<adjacency_iterator, adjacency_iterator>
    adjacent_vertices(id v, const operator_graph& g) {
        return {{&g, v, g.out_first_[v]}, {&g, v, g.out_first_[v + 1]}};
    }

    /// Whether every edge leads from a lower vertex to a higher one: noted when the graph was made,
    /// so that sweeps need not look.
    friend bool is_topologically_indexed(const operator_graph& g) { return g.leads_upwards_; }

    friend id in_degree(id v, const operator_graph& g) {
        return g.in_first_[v + 1] - g.in_first_[v];
    }
    friend id out_degree(id v, const operator_graph& g) {
        return g.out_first_[v + 1] - g.out_first_[v];
    }
    friend id degree(id v, const operator_graph& g) { return in_degree(v, g) + out_degree(v, g); }

    friend std::pair<boost::counting_iterator<id>, boost::counting_iterator<id>>
    vertices(const operator_graph& g) {
        return {boost::counting_iterator<id>(0), boost::counting_iterator<id>(g.vertex_count())};
    }
    friend id num_vertices(const operator_graph& g) { return g.vertex_count(); }
    friend id num_edges(const operator_graph& g) { return g.edge_count(); }
    friend id source(const edge& e, const operator_graph&) { return e.source; }
    friend id target(const edge& e, const operator_graph&) { return e.target; }

private:
    // By vertex, and one more; while they are made, two more: counts stand two places behind a
    // vertex, then turn into the place where its next edge goes, and last into where it ends.
    std::vector<id> in_first_;
    std::vector<id> out_first_;
    std::vector<id> source_;
    std::vector<id> value_;
    std::vector<id> in_port_;
    std::vector<id> out_port_;
    std::vector<id> out_target_; // apart, as most who go through readers need no index
    std::vector<id> out_index_;
    bool leads_upwards_ = true;
};

/// Reads an edge property of an operator_graph by the edge's index.
class edge_id_map {
public:
    using key_type = operator_graph::edge;
    using value_type = id;
    using reference = id;
    using category = boost::readable_property_map_tag;

    edge_id_map() = default;

    /// Requires: `ids` outlives the map and stays as long.
    explicit edge_id_map(const std::vector<id>& ids) : ids_(ids.data()) {}

    friend id get(const edge_id_map& map, const key_type& e) { return map.ids_[e.index]; }

private:
    const id* ids_ = nullptr;
};

/// Reads the index of an edge in [0, num_edges).
class edge_index_map {
public:
    using key_type = operator_graph::edge;
    using value_type = id;
    using reference = id;
    using category = boost::readable_property_map_tag;

    friend id get(const edge_index_map&, const key_type& e) { return e.index; }
};

inline boost::identity_property_map get(boost::vertex_index_t, const operator_graph&) {
    return {};
}
inline id get(boost::vertex_index_t, const operator_graph&, id v) {
    return v;
}
inline edge_index_map get(boost::edge_index_t, const operator_graph&) {
    return {};
}
inline id get(boost::edge_index_t, const operator_graph&, const operator_graph::edge& e) {
    return e.index;
}

inline edge_id_map get(value_index_t tag, const operator_graph& g) {
    return edge_id_map(g.property(tag));
}
inline edge_id_map get(in_port_t tag, const operator_graph& g) {
    return edge_id_map(g.property(tag));
}
inline edge_id_map get(out_port_t tag, const operator_graph& g) {
    return edge_id_map(g.property(tag));
}
inline id get(value_index_t tag, const operator_graph& g, const operator_graph::edge& e) {
    return g.property(tag)[e.index];
}
inline id get(in_port_t tag, const operator_graph& g, const operator_graph::edge& e) {
    return g.property(tag)[e.index];
}
inline id get(out_port_t tag, const operator_graph& g, const operator_graph::edge& e) {
    return g.property(tag)[e.index];
}

} // namespace stemma

namespace boost {

template <>
struct graph_traits<stemma::operator_graph> {
    using vertex_descriptor = stemma::id;
    using edge_descriptor = stemma::operator_graph::edge;
    using directed_category = bidirectional_tag;
    using edge_parallel_category = allow_parallel_edge_tag;
    struct traversal_category : virtual vertex_list_graph_tag,
                                virtual edge_list_graph_tag,
                                virtual bidirectional_graph_tag,
                                virtual adjacency_graph_tag {};
    using vertex_iterator = counting_iterator<stemma::id>;
    using out_edge_iterator = stemma::operator_graph::out_edge_iterator;
    using in_edge_iterator = stemma::operator_graph::in_edge_iterator;
    using edge_iterator = stemma::operator_graph::edge_iterator;
    using adjacency_iterator = stemma::operator_graph::adjacency_iterator;
    using vertices_size_type = stemma::id;
    using edges_size_type = stemma::id;
    using degree_size_type = stemma::id;
    static stemma::id null_vertex() { return stemma::no_id; }
};

template <>
struct property_map<stemma::operator_graph, vertex_index_t> {
    using type = identity_property_map;
    using const_type = identity_property_map;
};

template <>
struct property_map<stemma::operator_graph, edge_index_t> {
    using type = stemma::edge_index_map;
    using const_type = stemma::edge_index_map;
};

template <>
struct property_map<stemma::operator_graph, stemma::value_index_t> {
    using type = stemma::edge_id_map;
    using const_type = stemma::edge_id_map;
};

template <>
struct property_map<stemma::operator_graph, stemma::in_port_t> {
    using type = stemma::edge_id_map;
    using const_type = stemma::edge_id_map;
};

template <>
struct property_map<stemma::operator_graph, stemma::out_port_t> {
    using type = stemma::edge_id_map;
    using const_type = stemma::edge_id_map;
};

} // namespace boost

#endif // STEMMA_MODEL_OPERATOR_GRAPH_HPP

// <stemma/cut/boundary.hpp>
#ifndef STEMMA_CUT_BOUNDARY_HPP
#define STEMMA_CUT_BOUNDARY_HPP

namespace stemma {

namespace detail {

// Boost's own graphs know their properties as a list, and fail hard when asked for another one.
template <class Graph>
concept lacks_value_property = requires {
    typename Graph::edge_property_type;
    requires !boost::lookup_one_property<typename Graph::edge_property_type, value_index_t>::found;
};

} // namespace detail

/// Whether edges of a graph say which value they carry. Where they do not, each vertex is taken to
/// make one value.
template <class Graph>
concept carries_values =
    !detail::lacks_value_property<Graph> && requires(const Graph& graph, edge_t<Graph> e) {
    { get(value_index, graph, e) } -> std::convertible_to<id>;
};

/// Returns: what flows along an edge.
template <operator_graph_like Graph>
[[nodiscard]] id value_on(const Graph& graph, edge_t<Graph> e) {
    if constexpr (carries_values<Graph>) {
        return get(value_index, graph, e);
    } else {
        return static_cast<id>(index_of(graph, source(e, graph)));
    }
}

/// A part of the vertices of a graph, by vertex index.
///
/// `inside` are those of the set. `apart` are those that do not count on either side, because every
/// reader gets a copy of them: constants, say.
struct vertex_set {
    std::vector<bool> inside; ///< by vertex index
    std::vector<bool> apart;  ///< by vertex index

    /// Without members.
    explicit vertex_set(std::size_t vertex_count) : inside(vertex_count), apart(vertex_count) {}

    /// Whether `v` counts as one of the set.
    [[nodiscard]] bool is_inside(std::size_t v) const { return inside[v] && !apart[v]; }

    /// Whether `v` counts as one of the others; those apart are neither.
    [[nodiscard]] bool is_outside(std::size_t v) const { return !inside[v] && !apart[v]; }
};

/// What crosses the border of a set: one edge for each value.
template <operator_graph_like Graph>
struct boundary_result {
    std::vector<edge_t<Graph>> inputs;  ///< into the set, in the order of readers
    std::vector<edge_t<Graph>> outputs; ///< out of it, in the order of producers
};

/// Finds the values that cross the border of a set.
///
/// Readers and producers are taken in the order of `members`, which are the vertices of the set.
/// Complexity: O(edges at the members), and a look-up for each edge that crosses.
template <operator_graph_like Graph>
[[nodiscard]] boundary_result<Graph> find_boundary(const Graph& graph, const vertex_set& set,
                                                   std::span<const vertex_t<Graph>> members) {
    // `edges` are those of a member, `beyond` is the end of one that is not the member.
    const auto cross = [&](auto edges, auto beyond) {
        std::vector<edge_t<Graph>> kept;
        detail::sparse_ids met; // values
        for (const auto& v : members) {
            if (set.apart[index_of(graph, v)]) {
                continue;
            }
            for (auto [it, last] = edges(v); it != last; ++it) {
                const auto value = value_on(graph, *it);
                if (set.is_outside(index_of(graph, beyond(*it))) && met.insert(value)) {
                    kept.push_back(*it);
                }
            }
        }
        return kept;
    };
    return {cross([&](const auto& v) { return in_edges(v, graph); },
                  [&](const auto& e) { return source(e, graph); }),
            cross([&](const auto& v) { return out_edges(v, graph); },
                  [&](const auto& e) { return target(e, graph); })};
}

/// Part of a topological order: from the first to the last member of a set of vertices. What lies
/// outside of it is on no way between members.
template <operator_graph_like Graph>
class order_stretch {
public:
    /// `order` holds every vertex behind all its producers, and `rank` says by vertex index where;
    /// an empty one says that it is in the order of indices. Complexity: O(members).
    order_stretch(const Graph& graph, std::span<const vertex_t<Graph>> order,
                  std::span<const id> rank, std::span<const vertex_t<Graph>> members)
        : rank_(rank) {
        std::size_t end = 0;
        first_ = members.empty() ? 0 : order.size();
        for (const auto& v : members) {
            const auto at = rank_of(index_of(graph, v));
            first_ = std::min(first_, at);
            end = std::max(end, at + 1);
        }
        vertices_ = order.subspan(first_, end - first_);
    }

    /// From the place `first` up to `end`; the rest is as above. Complexity: O(1).
    order_stretch(std::span<const vertex_t<Graph>> order, std::span<const id> rank,
                  std::size_t first, std::size_t end)
        : vertices_(order.subspan(first, end - first)), rank_(rank), first_(first) {}

    /// Returns: the stretch, producers first; valid as long as the order it was made of.
    [[nodiscard]] std::span<const vertex_t<Graph>> vertices() const noexcept { return vertices_; }

    /// Returns: the place of a vertex, by its index, in `vertices()`; beyond its end for others.
    [[nodiscard]] std::size_t place(std::size_t v) const {
        return rank_of(v) - first_; // those before the first one wrap around
    }

private:
    [[nodiscard]] std::size_t rank_of(std::size_t v) const { return rank_.empty() ? v : rank_[v]; }

    std::span<const vertex_t<Graph>> vertices_;
    std::span<const id> rank_;
    std::size_t first_ = 0;
};

namespace detail {

/// As below, where the path holds `name(vertex)` of each vertex. `led_by` is room for a number by
/// place: where a way from a member comes from, of a member its own place.
template <operator_graph_like Graph, class Name>
[[nodiscard]] auto find_reentry(const Graph& graph, const vertex_set& set,
                                const order_stretch<Graph>& stretch, std::vector<id>& led_by,
                                Name name) {
    const auto all = stretch.vertices();
    const auto place_of = [&](vertex_t<Graph> v) { return stretch.place(index_of(graph, v)); };
    led_by.resize(all.size());
    auto back = all.size(); // the first member with such a way through others
    for (std::size_t at = 0; at < back; ++at) {
        const auto v = index_of(graph, all[at]);
        if (set.inside[v] || set.apart[v]) {
            led_by[at] = set.apart[v] ? no_id : static_cast<id>(at);
            continue;
        }
        id led = no_id;
        for (auto [it, last] = in_edges(all[at], graph); it != last; ++it) {
            const auto from = place_of(source(*it, graph));
            if (from < at && led_by[from] != no_id) {
                led = static_cast<id>(from);
                break;
            }
        }
        led_by[at] = led;
        if (led == no_id) {
            continue;
        }
        for (auto [it, last] = out_edges(all[at], graph); it != last; ++it) {
            if (set.is_inside(index_of(graph, target(*it, graph)))) {
                back = std::min(back, place_of(target(*it, graph)));
            }
        }
    }
    std::vector<decltype(name(all[back]))> path;
    if (back == all.size()) {
        return path;
    }
    path.push_back(name(all[back]));
    for (auto [it, last] = in_edges(all[back], graph); it != last && path.size() == 1; ++it) {
        auto from = place_of(source(*it, graph));
        if (from >= back || led_by[from] == no_id || led_by[from] == from) {
            continue;
        }
        for (; led_by[from] != from; from = led_by[from]) {
            path.push_back(name(all[from]));
        }
        path.push_back(name(all[from]));
    }
    std::reverse(path.begin(), path.end());
    return path;
}

} // namespace detail

/// Returns: a path that leaves the set and comes back: the vertex it leaves from, the ones outside,
/// and the one it comes back to. Empty when there is none, that is, when the set is convex.
///
/// `stretch` covers all members of the set. Complexity: O(vertices + edges) of the stretch.
template <operator_graph_like Graph>
[[nodiscard]] std::vector<vertex_t<Graph>> find_reentry(const Graph& graph, const vertex_set& set,
                                                        const order_stretch<Graph>& stretch) {
    std::vector<id> led_by;
    return detail::find_reentry(graph, set, stretch, led_by,
                                [](const vertex_t<Graph>& v) { return v; });
}

/// Divides a set into convex runs: a vertex is in run r when the way to it leaves the set r times,
/// at most.
///
/// `stretch` covers all members of the set.
/// Returns: by place in the stretch the run, `no_id` for what is not inside.
/// Complexity: O(vertices + edges) of the stretch.
template <operator_graph_like Graph>
[[nodiscard]] std::vector<id> convex_runs(const Graph& graph, const vertex_set& set,
                                          const order_stretch<Graph>& stretch) {
    const auto all = stretch.vertices();
    std::vector<id> run(all.size(), 0); // twice as much for now, and one more for what is inside
    for (std::size_t at = 0; at < all.size(); ++at) {
        const auto v = index_of(graph, all[at]);
        if (set.apart[v]) {
            continue;
        }
        const id inside = set.inside[v] ? 1 : 0;
        id least = 0; // of one outside: the first run it may feed
        for (auto [it, last] = in_edges(all[at], graph); it != last; ++it) {
            const auto from = stretch.place(index_of(graph, source(*it, graph)));
            if (from < at) {
                least = std::max(least, (run[from] + 1 - inside) / 2);
            }
        }
        run[at] = 2 * least + inside;
    }
    for (auto& r : run) {
        r = r % 2 == 0 ? no_id : r / 2;
    }
    return run;
}

namespace detail {

/// Calls `f(from, to)` for every edge between two parts, readers in the order of the graph.
template <operator_graph_like Graph, class Function>
void for_each_between(const Graph& graph, std::span<const id> part, Function f) {
    for (auto [it, last] = vertices(graph); it != last; ++it) {
        const auto to = part[index_of(graph, *it)];
        if (to == no_id) {
            continue;
        }
        for (auto [in, in_last] = in_edges(*it, graph); in != in_last; ++in) {
            const auto from = part[index_of(graph, source(*in, graph))];
            if (from != to && from != no_id) {
                f(from, to);
            }
        }
    }
}

} // namespace detail

/// Returns: the graph of the parts of a partition, numbered from 0: one edge between two parts
/// where any vertex of one reads from the other.
///
/// `part` is by vertex index, each below `part_count`; vertices with `no_id` are left out.
/// Complexity: O(V + E + parts), and O(n log n) of the edges of the result.
template <operator_graph_like Graph>
[[nodiscard]] operator_graph quotient_graph(const Graph& graph, std::span<const id> part,
                                            std::size_t part_count) {
    const grouped_ids producers(part_count, [&](auto take) {
        detail::for_each_between(graph, part, [&](id from, id to) { take(to, from); });
    });
    std::vector<std::pair<id, id>> pairs;
    std::vector<id> read_by(part_count, no_id); // by part: the last that reads from it
    for (id to = 0; to < part_count; ++to) {
        const auto first = static_cast<std::ptrdiff_t>(pairs.size());
        for (auto from : producers[to]) {
            if (read_by[from] != to) {
                read_by[from] = to;
                pairs.emplace_back(to, from);
            }
        }
        std::sort(pairs.begin() + first, pairs.end());
    }
    return {part_count, [&](auto take) {
                for (const auto& [to, from] : pairs) {
                    take({from, to, no_id, no_id, no_id});
                }
            }};
}

/// The values that cross the border of every module of a tree, ascending by vertex that makes them.
struct module_boundaries {
    grouped_ids inputs;  ///< by module: made outside of it and read in it
    grouped_ids outputs; ///< by module: made in it and read, or needed, outside of it
};

/// Finds what crosses the border of all modules at once, each with all that lies below it.
///
/// `module` is by vertex index. A value that a vertex makes is an output of every module that holds
/// the vertex and not all of its readers; an input of every module that holds a reader of it and
/// not the vertex. `leaves(value)` says whether a value also leaves the graph as a whole. `apart`
/// is as in `vertex_set`. Complexity: O(V + E + length of the result).
template <operator_graph_like Graph, class Leaving>
[[nodiscard]] module_boundaries
find_module_boundaries(const Graph& graph, const tree_index& modules, std::span<const id> module,
                       const std::vector<bool>& apart, Leaving leaving) {
    std::vector<std::pair<id, id>> in; // module, value
    std::vector<std::pair<id, id>> out;
    std::vector<id> last_in(modules.size(), no_id);
    std::vector<std::pair<id, id>> made; // value, reader's module
    for (auto [it, last] = vertices(graph); it != last; ++it) {
        const auto v = index_of(graph, *it);
        if (apart[v]) {
            continue;
        }
        made.clear();
        for (auto [edge, edge_last] = out_edges(*it, graph); edge != edge_last; ++edge) {
            const auto reader = index_of(graph, target(*edge, graph));
            if (!apart[reader]) {
                made.emplace_back(value_on(graph, *edge), module[reader]);
            }
        }
        const auto& leaves = leaving(*it);
        for (auto value : leaves) {
            made.emplace_back(value, no_id);
        }
        std::sort(made.begin(), made.end());
        for (std::size_t i = 0, end = 0; i < made.size(); i = end) {
            const auto value = made[i].first;
            auto highest = module[v]; // the deepest module that holds the vertex and all readers
            bool leaves_all = false;
            for (; end < made.size() && made[end].first == value; ++end) {
                const auto reader = made[end].second;
                if (reader == no_id) {
                    leaves_all = true;
                    continue;
                }
                highest = modules.lca(highest, reader);
                const auto meet = modules.lca(module[v], reader);
                for (auto m = reader; m != meet && last_in[m] != value; m = modules.parent(m)) {
                    last_in[m] = value;
                    in.emplace_back(m, value);
                }
            }
            for (auto m = module[v]; m != no_id && (leaves_all || m != highest);
                 m = modules.parent(m)) {
                out.emplace_back(m, value);
            }
        }
    }
    const auto by_module = [&](const std::vector<std::pair<id, id>>& pairs) {
        return grouped_ids(modules.size(), [&](auto take) {
            for (const auto& [m, value] : pairs) {
                take(m, value);
            }
        });
    };
    return {by_module(in), by_module(out)};
}

} // namespace stemma

#endif // STEMMA_CUT_BOUNDARY_HPP

// <stemma/cut/acyclic_partition.hpp>
#ifndef STEMMA_CUT_ACYCLIC_PARTITION_HPP
#define STEMMA_CUT_ACYCLIC_PARTITION_HPP

namespace stemma {

/// A partition whose parts can be run one after the other.
struct acyclic_partition {
    /// A part of the partition it was made from, or one level of it.
    struct piece {
        id part = no_id; ///< of the partition that was given
        id level = 0;    ///< 0 of a part that was not divided
    };

    std::vector<piece> pieces; ///< in an order in which they can be run
    std::vector<id> piece_of;  ///< by vertex index; `no_id` of one without a part
};

namespace detail {

/// Returns: by part those that read from it, each as often as its vertices do.
template <operator_graph_like Graph>
[[nodiscard]] grouped_ids readers_by_part(const Graph& graph, std::span<const id> part,
                                          std::size_t part_count) {
    return {part_count, [&](auto take) { for_each_between(graph, part, take); }};
}

/// Returns: by part its strong component, as `find_strong_components` does.
[[nodiscard]] inline std::vector<id> circles_of(const grouped_ids& readers) {
    return strong_components<id>(
        readers.size(),
        [&](auto f) {
            for (id p = 0; p < readers.size(); ++p) {
                f(p);
            }
        },
        [](id p) { return p; },
        [&](id p) { return std::pair(readers[p].begin(), readers[p].end()); },
        [](id p) { return p; });
}

/// Returns: by part its place in a topological order that prefers low ones.
[[nodiscard]] inline std::vector<id> places_in_order(const grouped_ids& readers) {
    std::vector<std::size_t> waiting(readers.size());
    for (auto to : readers.range(0, readers.size())) {
        ++waiting[to];
    }
    std::priority_queue<id, std::vector<id>, std::greater<>> ready;
    for (id p = 0; p < waiting.size(); ++p) {
        if (waiting[p] == 0) {
            ready.push(p);
        }
    }
    std::vector<id> place(waiting.size(), no_id);
    for (id next = 0; !ready.empty(); ++next) {
        const auto p = ready.top();
        ready.pop();
        place[p] = next;
        for (auto to : readers[p]) {
            if (--waiting[to] == 0) {
                ready.push(to);
            }
        }
    }
    return place;
}

} // namespace detail

/// Divides the parts of a partition that read from each other in circles by level: a vertex's level
/// is the number of times that the way to it, among such parts, goes from one to another, at most.
/// Parts on no circle stay whole.
///
/// `part` is by vertex index, below `part_count` or `no_id`; `order` holds the vertices with a
/// part, each behind its producers. Complexity: O(V + E + parts), and O(log n) for each of n pieces
/// and for each vertex of a level above 0.
template <operator_graph_like Graph>
[[nodiscard]] acyclic_partition make_acyclic(const Graph& graph, std::span<const id> part,
                                             std::size_t part_count,
                                             std::span<const vertex_t<Graph>> order) {
    const auto circle = detail::circles_of(detail::readers_by_part(graph, part, part_count));
    std::vector<id> level(num_vertices(graph), 0);
    std::vector<id> lowest(part_count, no_id); // by part: its piece of level 0
    std::map<std::pair<id, id>, id> others;    // part and level: piece
    acyclic_partition result;
    result.piece_of.assign(num_vertices(graph), no_id);
    for (const auto& v : order) {
        const auto i = index_of(graph, v);
        const auto own = part[i];
        if (own == no_id) {
            continue;
        }
        id highest = 0;
        for (auto [it, last] = in_edges(v, graph); it != last; ++it) {
            const auto u = index_of(graph, source(*it, graph));
            if (part[u] != no_id && circle[part[u]] == circle[own]) {
                highest = std::max(highest, level[u] + (part[u] == own ? 0U : 1U));
            }
        }
        level[i] = highest;
        auto& piece =
            highest == 0 ? lowest[own] : others.try_emplace({own, highest}, no_id).first->second;
        if (piece == no_id) {
            piece = static_cast<id>(result.pieces.size());
            result.pieces.push_back({own, highest});
        }
        result.piece_of[i] = piece;
    }
    // Pieces are numbered by their first vertex now; put them behind what they read.
    const auto place = detail::places_in_order(
        detail::readers_by_part(graph, result.piece_of, result.pieces.size()));
    auto sorted = result.pieces;
    for (std::size_t p = 0; p < place.size(); ++p) {
        sorted[place[p]] = result.pieces[p];
    }
    result.pieces = std::move(sorted);
    for (auto& p : result.piece_of) {
        p = p == no_id ? no_id : place[p];
    }
    return result;
}

/// Joins pieces of one part again where nothing between them keeps them apart: a later level joins
/// the one before it when no way leads from there through other pieces to it.
///
/// Complexity: O(pieces * (pieces + edges between them)).
template <operator_graph_like Graph>
void join_levels(const Graph& graph, acyclic_partition& partition) {
    auto count = partition.pieces.size();
    std::map<id, std::vector<id>> of_part;
    for (id p = 0; p < count; ++p) {
        of_part[partition.pieces[p].part].push_back(p);
    }
    std::vector<id> joined(count); // by piece: the one it is part of now
    for (id p = 0; p < count; ++p) {
        joined[p] = p;
    }
    const auto between =
        quotient_graph(graph, std::span<const id>(partition.piece_of), partition.pieces.size());
    std::vector<std::vector<id>> members(count);
    for (id p = 0; p < count; ++p) {
        members[p] = {p};
    }
    // Whether a way leads from `from` through another piece to `to`.
    const auto leads_around = [&](id from, id to) {
        std::vector<bool> seen(count, false);
        std::vector<id> open;
        const auto visit_readers = [&](id group) {
            for (auto p : members[group]) {
                for (auto [it, last] = adjacent_vertices(p, between); it != last; ++it) {
                    const auto reader = joined[*it];
                    if (reader != from && !seen[reader] && (reader != to || group != from)) {
                        seen[reader] = true;
                        open.push_back(reader);
                    }
                }
            }
        };
        visit_readers(from);
        while (!open.empty() && !seen[to]) {
            const auto group = open.back();
            open.pop_back();
            visit_readers(group);
        }
        return bool{seen[to]};
    };
    for (const auto& [part, levels] : of_part) {
        auto into = levels.front();
        for (std::size_t i = 1; i < levels.size(); ++i) {
            if (leads_around(into, levels[i]) || leads_around(levels[i], into)) {
                into = levels[i];
                continue;
            }
            joined[levels[i]] = into;
            members[into].push_back(levels[i]);
            members[levels[i]].clear();
        }
    }
    std::vector<id> number(count, no_id);
    std::vector<acyclic_partition::piece> kept;
    for (id p = 0; p < count; ++p) {
        if (joined[p] == p) {
            number[p] = static_cast<id>(kept.size());
            kept.push_back(partition.pieces[p]);
        }
    }
    for (auto& p : partition.piece_of) {
        p = p == no_id ? no_id : number[joined[p]];
    }
    const auto place =
        detail::places_in_order(detail::readers_by_part(graph, partition.piece_of, kept.size()));
    partition.pieces.resize(kept.size());
    for (std::size_t p = 0; p < kept.size(); ++p) {
        partition.pieces[place[p]] = kept[p];
    }
    for (auto& p : partition.piece_of) {
        p = p == no_id ? no_id : place[p];
    }
}

/// Divides a sequence into exactly `parts` stretches of about equal cost: none costs more than the
/// mean and the costliest element together.
///
/// `penalty(i)` says how little it suits to divide in front of element i; among places that are as
/// good by cost, the first with the least is taken.
/// Requires: 0 < parts <= costs.size().
/// Returns: where each stretch begins.
/// Complexity: O(costs), and as many calls of `penalty`.
template <class Penalty>
[[nodiscard]] std::vector<std::size_t> divide_evenly(std::span<const std::uint64_t> costs,
                                                     std::size_t parts, Penalty penalty) {
    std::uint64_t total = 0;
    for (auto cost : costs) {
        total += cost;
    }
    std::vector<std::size_t> begins{0};
    std::uint64_t before = 0; // cost of all in front of `at`
    std::size_t at = 0;
    for (std::size_t k = 1; k < parts; ++k) {
        // The whole part of k / parts of the total, without leaving 64 bits.
        const auto target = total / parts * k + total % parts * k / parts;
        const auto least = begins.back() + 1;
        const auto most = costs.size() - (parts - k);
        while (at < least || (at < most && before + costs[at] <= target)) {
            before += costs[at++];
        }
        auto best = at;
        auto least_penalty = penalty(best);
        // What costs nothing can go to either side.
        for (auto i = at; i > least && costs[i - 1] == 0; --i) {
            if (const auto other = penalty(i - 1); other <= least_penalty) {
                best = i - 1;
                least_penalty = other;
            }
        }
        begins.push_back(best);
    }
    return begins;
}

} // namespace stemma

#endif // STEMMA_CUT_ACYCLIC_PARTITION_HPP

// <stemma/model/dependence.hpp>
#ifndef STEMMA_MODEL_DEPENDENCE_HPP
#define STEMMA_MODEL_DEPENDENCE_HPP

namespace stemma {

/// What an operator's results depend on.
enum class dependence : std::uint8_t {
    constant, ///< on nothing: a constant
    weight,   ///< on constants and initializers only
    shape,    ///< on the shapes of data, not on the data
    data,     ///< on the data that flows through the model
};

} // namespace stemma

#endif // STEMMA_MODEL_DEPENDENCE_HPP

// <stemma/cut/cut.hpp>
#ifndef STEMMA_CUT_CUT_HPP
#define STEMMA_CUT_CUT_HPP

namespace stemma {

/// What happens when a set of operators is not convex: when some way leads out of it and back.
enum class gap_rule : std::uint8_t {
    refuse, ///< no cut; the way is shown
    absorb, ///< what lies on such ways is taken in
    runs,   ///< one cut for each convex run
};

/// Returns: `refuse`, `absorb` or `runs`.
[[nodiscard]] constexpr std::optional<gap_rule> parse_gap_rule(std::string_view name) noexcept {
    return name == "refuse"   ? std::optional(gap_rule::refuse)
           : name == "absorb" ? std::optional(gap_rule::absorb)
           : name == "runs"   ? std::optional(gap_rule::runs)
                              : std::nullopt;
}

namespace detail {

template <class P>
concept has_pulls = requires(const P& p, dependence d) {
    { p.pulls(d) } -> std::convertible_to<bool>;
};

template <class P>
concept has_gaps = requires(const P& p) {
    { p.gaps() } -> std::convertible_to<gap_rule>;
};

template <class P>
concept has_boundary_name = requires(const P& p, std::string_view name) {
    { p.boundary_name(name) } -> std::convertible_to<std::string>;
};

template <class P>
concept has_keeps_unused_initializers = requires(const P& p) {
    { p.keeps_unused_initializers() } -> std::convertible_to<bool>;
};

} // namespace detail

/// Says what belongs to a part that is cut out of a model, beyond the operators asked for.
///
/// `pulls(d)`: whether an operator outside that the part reads from is copied in rather than making
/// an input, by what its results depend on. Constants always are. `gaps()`: what to do with a set
/// that is not convex. `boundary_name(name)`: how an input or output is called that was `name` in
/// the whole. `keeps_unused_initializers()`: whether initializers that nothing reads go along.
///
/// Requires: `pulls(dependence::constant)`; whoever pulls in data pulls in everything;
///   different names stay different.
template <class P>
concept cut_policy = policy_for<P, cut_category> && detail::has_pulls<P> && detail::has_gaps<P> &&
    detail::has_boundary_name<P> && detail::has_keeps_unused_initializers<P>;

/// Copies in what depends on weights at most, and keeps all names.
struct standard_cut {
    using policy_category = cut_category;

    dependence pulled = dependence::weight; ///< the most that is copied in
    gap_rule rule = gap_rule::refuse;       ///< what to do with a set that is not convex

    [[nodiscard]] constexpr bool pulls(dependence d) const noexcept {
        return d == dependence::constant || d <= pulled;
    }
    [[nodiscard]] constexpr gap_rule gaps() const noexcept { return rule; }
    [[nodiscard]] std::string boundary_name(std::string_view name) const {
        return std::string(name);
    }
    [[nodiscard]] constexpr bool keeps_unused_initializers() const noexcept { return false; }
};

/// Returns: the most that is copied in: `none`, `constants`, `weights`, `shapes` or `all`.
[[nodiscard]] constexpr std::optional<dependence> parse_pull(std::string_view name) noexcept {
    return name == "none" || name == "constants" ? std::optional(dependence::constant)
           : name == "weights"                   ? std::optional(dependence::weight)
           : name == "shapes"                    ? std::optional(dependence::shape)
           : name == "all"                       ? std::optional(dependence::data)
                                                 : std::nullopt;
}

/// As standard_cut, with names that are valid identifiers in most languages.
struct plain_names_cut : standard_cut {
    [[nodiscard]] std::string boundary_name(std::string_view name) const {
        constexpr std::string_view hex = "0123456789abcdef";
        std::string plain;
        for (char c : name) {
            const bool keeps = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                               (c >= '0' && c <= '9' && !plain.empty());
            if (keeps) {
                plain.push_back(c);
            } else {
                const auto byte = static_cast<unsigned char>(c);
                plain.append("_").append(1, hex[byte >> 4U]).append(1, hex[byte & 15U]);
            }
        }
        return plain;
    }
};

/// As standard_cut, with a prefix to the names at the boundary: parts of several models can stand
/// in one without meeting.
struct prefixed_names_cut : standard_cut {
    std::string prefix{}; ///< goes in front of every name, as it is

    [[nodiscard]] std::string boundary_name(std::string_view name) const {
        return std::string(prefix).append(name);
    }
};

/// Any cut policy. What it pulls in and does with gaps is asked once, when it is held.
class any_cut {
public:
    using policy_category = cut_category;

    /// Holds a copy of `chosen`. Complexity: that of the copy.
    template <class P>
        requires(!std::same_as<P, any_cut> && cut_policy<P>)
    any_cut(P chosen) // NOLINT(google-explicit-constructor): it stands for the policy
        : gaps_(chosen.gaps()), keeps_unused_(chosen.keeps_unused_initializers()) {
        for (auto d :
             {dependence::constant, dependence::weight, dependence::shape, dependence::data}) {
            pulls_[static_cast<std::size_t>(d)] = chosen.pulls(d);
        }
        boundary_name_ = [chosen = std::move(chosen)](std::string_view name) -> std::string {
            return chosen.boundary_name(name);
        };
    }

    [[nodiscard]] bool pulls(dependence d) const { return pulls_[static_cast<std::size_t>(d)]; }
    [[nodiscard]] gap_rule gaps() const noexcept { return gaps_; }
    [[nodiscard]] std::string boundary_name(std::string_view name) const {
        return boundary_name_(name);
    }
    [[nodiscard]] bool keeps_unused_initializers() const noexcept { return keeps_unused_; }

private:
    gap_rule gaps_;
    bool keeps_unused_;
    std::array<bool, 4> pulls_{};
    std::function<std::string(std::string_view)> boundary_name_;
};

/// Put `static_assert(explain_cut_policy<mine>());` beside a policy that is refused.
template <class P>
consteval bool explain_cut_policy() {
    static_assert(std::copy_constructible<P>, "cut policy: make the class copyable");
    static_assert(policy_for<P, cut_category>,
                  "cut policy: add `using policy_category = stemma::cut_category;`");
    static_assert(detail::has_pulls<P>, "cut policy: add `bool pulls(stemma::dependence) const`");
    static_assert(detail::has_gaps<P>, "cut policy: add `stemma::gap_rule gaps() const`");
    static_assert(detail::has_boundary_name<P>,
                  "cut policy: add `std::string boundary_name(std::string_view) const`");
    static_assert(detail::has_keeps_unused_initializers<P>,
                  "cut policy: add `bool keeps_unused_initializers() const`");
    return cut_policy<P>;
}

} // namespace stemma

#endif // STEMMA_CUT_CUT_HPP

// <stemma/cut/cut_plan.hpp>
#ifndef STEMMA_CUT_CUT_PLAN_HPP
#define STEMMA_CUT_CUT_PLAN_HPP

namespace stemma {

/// Why a part cannot be cut out.
enum class cut_refusal : std::uint8_t {
    none,          ///< it can be cut out
    non_convex,    ///< some way leads out of it and back; see the witness
    unknown_type,  ///< type or rank of a value at the boundary is not known
    function_body, ///< it lies in a function whose attributes are not bound
    no_output,     ///< nothing outside reads what it makes
    redefined,     ///< it reads or makes a value that the model defines more than once
};

/// Returns: the name that reports use.
[[nodiscard]] constexpr std::string_view to_string(cut_refusal refusal) noexcept {
    switch (refusal) {
    case cut_refusal::none:
        return "";
    case cut_refusal::non_convex:
        return "non_convex";
    case cut_refusal::unknown_type:
        return "unknown_type";
    case cut_refusal::function_body:
        return "function_body";
    case cut_refusal::no_output:
        return "no_output";
    case cut_refusal::redefined:
        return "redefined";
    }
    return "";
}

/// A part of a model, as it is to be cut out.
struct cut_plan {
    id graph = 0;                 ///< the graph it is cut out of: the main one, a body, a function
    std::vector<id> nodes;        ///< of that graph or one around it, in the order they will have
    std::vector<id> clones;       ///< those of them that stay in the rest as well, ascending
    std::vector<id> inputs;       ///< values, in the order of readers
    std::vector<id> outputs;      ///< values, in the order of producers
    std::vector<id> initializers; ///< values
    std::vector<id> functions;    ///< numbers of functions that are called, directly or not
    bool sorted = false;          ///< nodes had to be put in another order to be behind producers
    bool random = false;          ///< holds an operator that gives other results each time
    cut_refusal refusal = cut_refusal::none; ///< why not, if anything
    std::vector<id> witness;                 ///< `non_convex`: the nodes on a way out and back
};

} // namespace stemma

#endif // STEMMA_CUT_CUT_PLAN_HPP

// <stemma/io/json_writer.hpp>
#ifndef STEMMA_IO_JSON_WRITER_HPP
#define STEMMA_IO_JSON_WRITER_HPP

namespace stemma {

/// Something that takes text piece by piece: `output_file` is one.
template <class Sink>
concept text_sink = requires(Sink& sink, std::string_view text) {
    sink.write(text);
};

/// Takes text into a string.
struct string_sink {
    std::string text; ///< all that was written

    /// Never fails but for want of memory.
    void write(std::string_view more) { text.append(more); }
};

/// Writes one JSON document to a sink as it is told, value by value; never holds more than a
/// buffer.
///
/// An object or array is written on one line when it is opened `flat`, else one entry a line.
/// Requires: calls nest as JSON does: `key` before every value in an object and nowhere else.
template <text_sink Sink>
class json_writer {
public:
    /// Requires: `sink` outlives the writer.
    explicit json_writer(Sink& sink) : sink_(&sink) {}

    json_writer(const json_writer&) = delete;
    json_writer& operator=(const json_writer&) = delete;

    /// Opens an object as the next value; `flat` holds for all that it contains.
    void begin_object(bool flat = false) { open('{', flat); }

    /// Closes the object opened last, which then is complete.
    void end_object() { close('}'); }

    /// Opens an array as the next value; `flat` holds for all that it contains.
    void begin_array(bool flat = false) { open('[', flat); }

    /// Closes the array opened last, which then is complete.
    void end_array() { close(']'); }

    /// Names the next value. Keys are written in the order they come, twice when they come twice.
    void key(std::string_view name) {
        separate();
        append_json_string(name, buffer_);
        buffer_.append(": ");
        after_key_ = true;
    }

    /// A string, escaped as JSON asks; bytes that are not valid UTF-8 are written as U+FFFD.
    void value(std::string_view text) {
        separate();
        append_json_string(text, buffer_);
        flush_if_full();
    }

    /// As a string.
    void value(const char* text) { value(std::string_view(text)); }

    /// As a string.
    void value(const std::string& text) { value(std::string_view(text)); }

    /// `true` or `false`; nothing else turns into a bool on the way.
    void value(std::same_as<bool> auto truth) {
        separate();
        buffer_.append(truth ? "true" : "false");
    }

    /// A number, all digits of it.
    template <std::integral Number>
        requires(!std::same_as<Number, bool>)
    void value(Number number) {
        separate();
        append_number(number);
        flush_if_full();
    }

    /// The shortest decimal that reads back as the same number; null for what JSON has no number.
    void value(std::floating_point auto number) {
        separate();
        if (std::isfinite(number)) {
            append_number(number);
        } else {
            buffer_.append("null");
        }
        flush_if_full();
    }

    /// `null`.
    void null() {
        separate();
        buffer_.append("null");
    }

    /// A key and its value.
    template <class T>
    void member(std::string_view name, const T& what) {
        key(name);
        value(what);
    }

    /// Ends the document with a line break and hands everything to the sink.
    void finish() {
        buffer_.push_back('\n');
        sink_->write(buffer_);
        buffer_.clear();
    }

private:
    static constexpr std::size_t full = 1U << 16U;

    void open(char bracket, bool flat) {
        separate();
        buffer_.push_back(bracket);
        flat_depth_ = flat_depth_ == 0 && flat ? depth_ + 1 : flat_depth_;
        ++depth_;
        first_ = true;
    }

    void close(char bracket) {
        --depth_;
        if (!first_ && flat_depth_ == 0) {
            break_line();
        }
        flat_depth_ = flat_depth_ > depth_ ? 0 : flat_depth_;
        buffer_.push_back(bracket);
        first_ = false;
        flush_if_full();
    }

    void separate() {
        if (after_key_) {
            after_key_ = false;
            return;
        }
        if (depth_ == 0) {
            return;
        }
        if (!first_) {
            buffer_.append(flat_depth_ == 0 ? std::string_view(",") : std::string_view(", "));
        }
        if (flat_depth_ == 0) {
            break_line();
        }
        first_ = false;
    }

    void break_line() {
        buffer_.push_back('\n');
        buffer_.append(depth_, ' ');
    }

    template <class Number>
    void append_number(Number number) {
        std::array<char, 32> digits{};
        const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
        buffer_.append(std::string_view(digits.data(), end));
    }

    void flush_if_full() {
        if (buffer_.size() >= full) {
            sink_->write(buffer_);
            buffer_.clear();
        }
    }

    Sink* sink_;
    std::string buffer_;
    std::size_t depth_ = 0;
    std::size_t flat_depth_ = 0; // of the outermost flat container, 0 outside of any
    bool first_ = true;
    bool after_key_ = false;
};

} // namespace stemma

#endif // STEMMA_IO_JSON_WRITER_HPP

// <stemma/model/tag_table.hpp>
#ifndef STEMMA_MODEL_TAG_TABLE_HPP
#define STEMMA_MODEL_TAG_TABLE_HPP

namespace stemma {

/// Longest tag that is written anywhere, in bytes.
inline constexpr std::size_t max_tag_length = std::size_t{64} * 1024;

/// The tags of the selected modules of a tree, kept as one segment for each.
///
/// A tag is `/` and a segment for every selected module from the root down: `/Net/Block.0`.
class tag_table {
public:
    tag_table() = default;

    /// `selected[m]` is the nearest selected module at or above `m`, see `select_modules`.
    /// Complexity: O(modules).
    tag_table(const tree_index& tree, std::vector<id> selected)
        : selected_(std::move(selected))
        , above_(tree.size(), no_id)
        , segment_(tree.size(), no_id)
        , length_(tree.size()) {
        for (id m = 1; m < tree.size(); ++m) {
            if (is_selected(m)) {
                above_[m] = selected_[tree.parent(m)];
            }
        }
    }

    /// Returns: how many modules there are, selected or not.
    [[nodiscard]] std::size_t size() const noexcept { return selected_.size(); }

    /// Whether `m` has a segment in the tags, rather than sharing the tag of a module above.
    [[nodiscard]] bool is_selected(id m) const noexcept { return selected_[m] == m; }

    /// Returns: the nearest selected module at or above `m`.
    [[nodiscard]] id selected(id m) const noexcept { return selected_[m]; }

    /// Returns: the nearest selected module properly above `m`, `no_id` for the root.
    [[nodiscard]] id above(id m) const noexcept {
        return is_selected(m) ? above_[m] : selected_[m];
    }

    /// Requires: `m` is selected, and so long as it has no segment nothing below it has one.
    void set_segment(id m, std::string_view text) {
        STEMMA_ASSERT(is_selected(m), "only a selected module has a segment");
        segment_[m] = segments_.intern(text);
    }

    /// Whether `set_segment` was called for `m`.
    [[nodiscard]] bool has_segment(id m) const noexcept { return segment_[m] != no_id; }

    /// Call once when every selected module has its segment. Complexity: O(modules).
    void finish() {
        for (id m = 0; m < size(); ++m) {
            if (is_selected(m)) {
                length_[m] = 1 + segment(m).size() + (m == 0 ? 0 : length_[above_[m]]);
            }
        }
    }

    /// Requires: `m` is selected.
    [[nodiscard]] std::string_view segment(id m) const noexcept { return segments_[segment_[m]]; }

    /// Returns: bytes of the tag of the selected module `m`.
    [[nodiscard]] std::size_t length(id m) const noexcept { return length_[m]; }

    /// Returns: the deepest selected module at or above `m` whose tag is short enough to write.
    /// Complexity: O(1), and of too long a tag O(depth).
    [[nodiscard]] id writable(id m) const noexcept {
        m = selected_[m];
        while (length_[m] > max_tag_length && m != 0) {
            m = above_[m];
        }
        return m;
    }

    /// Returns: the tag of the selected module at or above `m`.
    /// Complexity: O(length).
    [[nodiscard]] std::string text(id m) const {
        std::string tag;
        append(m, tag);
        return tag;
    }

    /// Appends `text(m)`. Complexity: O(length).
    void append(id m, std::string& out) const {
        m = selected_[m];
        auto end = out.size() + length_[m];
        out.resize(end);
        for (; m != no_id; m = above_[m]) {
            const auto part = segment(m);
            end -= part.size();
            part.copy(out.data() + end, part.size());
            out[--end] = '/';
        }
    }

private:
    std::vector<id> selected_;
    std::vector<id> above_;
    std::vector<id> segment_;
    std::vector<std::uint64_t> length_;
    string_pool segments_;
};

} // namespace stemma

#endif // STEMMA_MODEL_TAG_TABLE_HPP

// <stemma/cut/cut_record.hpp>
#ifndef STEMMA_CUT_CUT_RECORD_HPP
#define STEMMA_CUT_CUT_RECORD_HPP

namespace stemma {

/// One part of one module, written or refused.
struct cut_record {
    id module = no_id;                       ///< that it was cut out of
    std::size_t part = 0;                    ///< which of its parts
    std::string file{};                      ///< where it is; "" when refused
    std::vector<std::string> inputs{};       ///< names of values that it reads
    std::vector<std::string> outputs{};      ///< names of values that it makes
    cut_refusal refusal = cut_refusal::none; ///< why it is not written, if it is not
    std::string text{};                      ///< the same in words; "" when written
    bool exact = true; ///< gives the same results each time; false: some operator is random

    /// Whether there is no file.
    [[nodiscard]] bool is_refused() const noexcept { return refusal != cut_refusal::none; }
};

/// Writes records as JSON, `stemma.cuts/1`, to a sink with `write(text)`. `source` is the file name
/// of the model, to whose tree `modules` and `tags` belong. Complexity: O(length of the result).
template <class Sink>
void write_cut_records(std::span<const cut_record> records, std::string_view source,
                       const module_tree& modules, const tag_table& tags, Sink& sink) {
    json_writer json(sink);
    const auto write_names = [&](std::string_view key, const std::vector<std::string>& names) {
        json.key(key);
        json.begin_array(true);
        for (const auto& name : names) {
            json.value(name);
        }
        json.end_array();
    };
    json.begin_object();
    json.member("schema", "stemma.cuts/1");
    json.member("source", source);
    json.key("cuts");
    json.begin_array();
    for (const auto& record : records) {
        json.begin_object(true);
        json.member("module", modules.path(record.module));
        json.member("tag", tags.text(record.module));
        json.member("part", record.part);
        if (!record.file.empty()) {
            json.member("file", std::filesystem::path(record.file).filename().string());
        }
        write_names("inputs", record.inputs);
        write_names("outputs", record.outputs);
        json.member("status", record.is_refused() ? "refused" : "written");
        json.key("reason");
        record.is_refused() ? json.value(to_string(record.refusal)) : json.null();
        if (!record.text.empty()) {
            json.member("text", record.text);
        }
        json.member("exact", record.exact);
        json.end_object();
    }
    json.end_array();
    json.end_object();
    json.finish();
}

} // namespace stemma

#endif // STEMMA_CUT_CUT_RECORD_HPP

// <stemma/cut/find_gaps.hpp>
#ifndef STEMMA_CUT_FIND_GAPS_HPP
#define STEMMA_CUT_FIND_GAPS_HPP

namespace stemma {

/// Returns: what lies on ways that leave a set and come back: with these vertices it is convex. In
/// the order of the stretch.
///
/// `stretch` covers all members of the set. Complexity: O(vertices + edges) of the stretch.
template <operator_graph_like Graph>
[[nodiscard]] std::vector<vertex_t<Graph>> find_gaps(const Graph& graph, const vertex_set& set,
                                                     const order_stretch<Graph>& stretch) {
    enum state : std::uint8_t { nothing, behind_members, member, gap };
    const auto all = stretch.vertices();
    std::vector<state> known(all.size(), nothing);
    const auto known_of = [&](vertex_t<Graph> v) {
        const auto place = stretch.place(index_of(graph, v));
        return place < all.size() ? known[place] : nothing;
    };
    for (std::size_t at = 0; at < all.size(); ++at) {
        const auto v = index_of(graph, all[at]);
        if (set.apart[v]) {
            continue;
        }
        if (set.inside[v]) {
            known[at] = member;
            continue;
        }
        for (auto [it, last] = in_edges(all[at], graph); it != last; ++it) {
            if (known_of(source(*it, graph)) != nothing) {
                known[at] = behind_members;
                break;
            }
        }
    }
    std::vector<vertex_t<Graph>> gaps;
    for (auto at = all.size(); at-- > 0;) {
        if (known[at] != behind_members) {
            continue;
        }
        for (auto [it, last] = out_edges(all[at], graph); it != last; ++it) {
            if (known_of(target(*it, graph)) >= member) {
                known[at] = gap;
                gaps.push_back(all[at]);
                break;
            }
        }
    }
    std::reverse(gaps.begin(), gaps.end());
    return gaps;
}

} // namespace stemma

#endif // STEMMA_CUT_FIND_GAPS_HPP

// <stemma/model/attribution.hpp>
#ifndef STEMMA_MODEL_ATTRIBUTION_HPP
#define STEMMA_MODEL_ATTRIBUTION_HPP

namespace stemma {

/// Where an attribution comes from: a source of evidence, in falling order of trust, or a rule of
/// propagation. Numbers from `provenance_count` on are sources that the library does not know; a
/// `provenance_names` has their names.
enum class provenance : std::uint8_t {
    exported,    ///< scopes recorded during the export
    recorded,    ///< what the file carries of tags that it got before it was changed
    metadata,    ///< node metadata of an exporter
    function,    ///< local functions
    scope,       ///< scoped node names
    parameter,   ///< names of the initializers that are read
    torchscript, ///< a TorchScript archive
    trace,       ///< an aligned trace
    fx,          ///< an aligned FX graph
    leftover,    ///< what an optimizer left of the origin
    consumer,    ///< the readers
    producer,    ///< the producers
    between,     ///< readers and producers together
    owner,       ///< the operator that owns the body
    root,        ///< nothing is known
};

/// How many the library knows.
inline constexpr std::size_t provenance_count = 15;

/// Returns: the name that files and reports use; `other` for a source that the library does not
/// know.
[[nodiscard]] constexpr std::string_view to_string(provenance p) noexcept {
    constexpr std::array<std::string_view, provenance_count> names{
        "export",    "recorded",    "metadata", "function", "scope",
        "parameter", "torchscript", "trace",    "fx",       "leftover",
        "consumer",  "producer",    "between",  "owner",    "root"};
    const auto number = static_cast<std::size_t>(p);
    return number < provenance_count ? names[number] : "other";
}

/// Returns: the provenance of a name, as `to_string` gives it.
/// Complexity: one comparison for each provenance.
[[nodiscard]] constexpr std::optional<provenance> parse_provenance(std::string_view name) noexcept {
    for (std::size_t i = 0; i < provenance_count; ++i) {
        if (to_string(static_cast<provenance>(i)) == name) {
            return static_cast<provenance>(i);
        }
    }
    return std::nullopt;
}

/// Whether `p` is a source of evidence rather than a rule of propagation.
[[nodiscard]] constexpr bool is_evidence(provenance p) noexcept {
    return p < provenance::consumer || static_cast<std::size_t>(p) >= provenance_count;
}

/// The names of all provenances: those that the library knows, and sources of a program's own.
class provenance_names {
public:
    /// How many sources of its own a program can have.
    static constexpr std::size_t most_added = 256 - provenance_count;

    /// Returns: the provenance of the source called `name`, which is added if it is new.
    /// Throws: `error` (`refused`) for no name or one that the library uses, and where there are
    ///   too many.
    /// Complexity: O(names).
    provenance add(std::string_view name) {
        if (name.empty() || name == "other" || parse_provenance(name)) {
            refuse(name, "is no name for a source of one's own");
        }
        if (const auto known = find(name)) {
            return *known;
        }
        if (added_.size() == most_added) {
            refuse(name, "is one source of evidence too many");
        }
        added_.emplace_back(name);
        return static_cast<provenance>(provenance_count + added_.size() - 1);
    }

    /// Returns: the provenance of that name, if there is one. Complexity: O(names).
    [[nodiscard]] std::optional<provenance> find(std::string_view name) const noexcept {
        const auto found = std::find(added_.begin(), added_.end(), name);
        if (found == added_.end()) {
            return parse_provenance(name);
        }
        return static_cast<provenance>(provenance_count +
                                       static_cast<std::size_t>(found - added_.begin()));
    }

    /// Returns: the name of `p`, as `to_string` for those that the library knows.
    [[nodiscard]] std::string_view operator[](provenance p) const noexcept {
        const auto number = static_cast<std::size_t>(p);
        return number < provenance_count || number >= size()
                   ? to_string(p)
                   : std::string_view(added_[number - provenance_count]);
    }

    /// Returns: how many there are, those that the library knows included.
    [[nodiscard]] std::size_t size() const noexcept { return provenance_count + added_.size(); }

private:
    [[noreturn]] static void refuse(std::string_view name, std::string_view reason) {
        STEMMA_THROW(error(error_code::refused, "", "source of evidence",
                           "'" + std::string(name) + "' " + std::string(reason)));
    }

    std::vector<std::string> added_;
};

/// One source's word on one operator. Several claims of one source mean: one of these; or, where
/// they are doubtful, that it was made of operators of all of them.
struct claim {
    id module = no_id;    ///< preorder rank
    id call = no_id;      ///< which call of the module, from 0; `no_id` where unknown
    float confidence = 0; ///< in [0, 1]
    provenance source = provenance::root; ///< who says so
    bool exact = true;     ///< the deepest module; else: the module, or one above or below it
    id caller = no_id;     ///< module that called, where it is not above the one called
    bool doubtful = false; ///< the source is known to name one of several modules here

    friend bool operator==(const claim&, const claim&) = default;
};

/// What is known of one operator's origin.
struct attribution {
    id module = no_id;    ///< the deepest module
    id call = no_id;      ///< which call of the module, from 0; `no_id` where unknown
    float confidence = 0; ///< in [0, 1]
    provenance source = provenance::root; ///< who was believed, or the rule that filled the gap
    bool conflict = false;                ///< some claim disagreed

    friend bool operator==(const attribution&, const attribution&) = default;
};

} // namespace stemma

#endif // STEMMA_MODEL_ATTRIBUTION_HPP

// <stemma/model/module_members.hpp>
#ifndef STEMMA_MODEL_MODULE_MEMBERS_HPP
#define STEMMA_MODEL_MODULE_MEMBERS_HPP

namespace stemma {

/// The operators of every module, each with all that lies below it.
class module_members {
public:
    /// `attributions` is by vertex index; everyone has a module.
    /// Requires: modules are numbered in preorder. Complexity: O(operators + modules).
    module_members(const tree_index& modules, std::span<const attribution> attributions)
        : modules_(&modules), members_(modules.size(), [&](auto take) {
            for (id v = 0; v < attributions.size(); ++v) {
                take(attributions[v].module, v);
            }
        }) {}

    /// Returns: how many operators are in a module or below it.
    [[nodiscard]] std::size_t count(id m) const { return below(m).size(); }

    /// Returns: the operators in a module itself, ascending.
    [[nodiscard]] std::span<const id> direct(id m) const { return members_[m]; }

    /// Returns: the operators in a module or below it, ascending.
    /// Complexity: O(n log n) of the result.
    [[nodiscard]] std::vector<id> all(id m) const {
        const auto found = below(m);
        std::vector<id> sorted(found.begin(), found.end());
        std::sort(sorted.begin(), sorted.end());
        return sorted;
    }

private:
    [[nodiscard]] std::span<const id> below(id m) const {
        return members_.range(m, modules_->end(m));
    }

    const tree_index* modules_;
    grouped_ids members_;
};

/// Returns: which call of module `m` an operator belongs to, by the call of the operator's own
/// module below it; `no_id` where that does not follow.
///
/// `calls(module)` says how often a module is called, `no_id` where that is not known.
template <class Calls>
[[nodiscard]] id call_of(id m, const attribution& a, Calls calls) {
    const id outer = calls(m);
    const id inner = calls(a.module);
    const bool known = outer != no_id && inner != no_id && a.call < inner && outer > 0;
    return known && inner % outer == 0 ? a.call / (inner / outer) : no_id;
}

} // namespace stemma

#endif // STEMMA_MODEL_MODULE_MEMBERS_HPP

// <stemma/cut/find_non_convex.hpp>
#ifndef STEMMA_CUT_FIND_NON_CONVEX_HPP
#define STEMMA_CUT_FIND_NON_CONVEX_HPP

namespace stemma {

namespace detail {

/// Tells of most modules at once that they are convex: nothing else stands between their first and
/// their last operator.
class contiguous_modules {
public:
    /// Requires: `order` is one of all vertices. Complexity: O(vertices + modules).
    template <operator_graph_like Graph>
    contiguous_modules(const Graph& graph, const sweep_order<Graph>& order,
                       const tree_index& modules, std::span<const attribution> attributions,
                       const std::vector<bool>& apart)
        : first_(modules.size(), no_id)
        , end_(modules.size(), 0)
        , members_(modules.size(), 0)
        , counted_(num_vertices(graph) + 1, 0) {
        id at = 0;
        id counted = 0;
        order.forward([&](const vertex_t<Graph>& vertex) {
            const auto v = index_of(graph, vertex);
            if (!apart[v]) {
                const auto m = attributions[v].module;
                first_[m] = std::min(first_[m], at);
                end_[m] = at + 1;
                ++members_[m];
                ++counted;
            }
            counted_[++at] = counted;
        });
        for (auto m = static_cast<id>(modules.size()); m-- > 1;) {
            const auto above = modules.parent(m);
            first_[above] = std::min(first_[above], first_[m]);
            end_[above] = std::max(end_[above], end_[m]);
            members_[above] += members_[m];
        }
    }

    [[nodiscard]] bool operator()(id m) const {
        return members_[m] < 2 || counted_[end_[m]] - counted_[first_[m]] == members_[m];
    }

    /// Returns: the place of the first operator of a module that is not apart.
    [[nodiscard]] id first(id m) const { return first_[m]; }

    /// Returns: the place behind the last one.
    [[nodiscard]] id end(id m) const { return end_[m]; }

private:
    std::vector<id> first_;
    std::vector<id> end_;
    std::vector<id> members_; // how many they are, with all below
    std::vector<id> counted_; // by place: operators before it that are not apart
};

} // namespace detail

/// A module whose operators cannot run in one go: some way leads out of it and back.
struct non_convex_module {
    id module = no_id; ///< whose operators, with all below, they are
    std::vector<id>
        witness; ///< vertex indices: the one it leaves from, those outside, the one back
};

/// Returns: the modules that are not convex, each with all that lies below it, in order.
///
/// `attributions` is by vertex index. `apart` is as in `vertex_set`. Nothing is found in a graph
/// with cycles. Complexity: O(V + E + modules), and for every module that is not contiguous in a
/// topological order, the part of it between its first and its last operator.
template <operator_graph_like Graph>
[[nodiscard]] std::vector<non_convex_module>
find_non_convex_modules(const Graph& graph, const tree_index& modules,
                        std::span<const attribution> attributions, std::vector<bool> apart) {
    std::vector<non_convex_module> result;
    // Files keep modules together where the order by levels does not.
    const sweep_order<Graph> sweep(graph);
    if (sweep.has_cycle()) {
        return result;
    }
    const detail::contiguous_modules contiguous(graph, sweep, modules, attributions, apart);
    std::vector<id> scattered;
    for (id m = 1; m < modules.size(); ++m) {
        if (!contiguous(m)) {
            scattered.push_back(m);
        }
    }
    if (scattered.empty()) {
        return result;
    }
    std::vector<vertex_t<Graph>> order(num_vertices(graph));
    std::size_t listed = 0;
    bool by_index = true;
    sweep.forward([&](const vertex_t<Graph>& v) {
        by_index = by_index && index_of(graph, v) == listed;
        order[listed++] = v;
    });
    std::vector<id> rank(by_index ? 0 : order.size());
    for (std::size_t i = 0; i < rank.size(); ++i) {
        rank[index_of(graph, order[i])] = static_cast<id>(i);
    }
    const module_members members(modules, attributions);
    vertex_set set(order.size());
    set.apart = std::move(apart);
    const auto put_inside = [&](id m, bool inside) {
        for (auto below = m; below < modules.end(m); ++below) {
            for (auto v : members.direct(below)) {
                set.inside[v] = inside;
            }
        }
    };
    std::vector<id> led_by;
    for (auto m : scattered) {
        // What holds the same operators as the module above is what that is.
        if (members.count(m) == members.count(modules.parent(m))) {
            if (!result.empty() && result.back().module == modules.parent(m)) {
                result.push_back({m, result.back().witness});
            }
            continue;
        }
        put_inside(m, true);
        const order_stretch<Graph> stretch(order, rank, contiguous.first(m), contiguous.end(m));
        auto path = detail::find_reentry(graph, set, stretch, led_by, [&](const auto& v) {
            return static_cast<id>(index_of(graph, v));
        });
        if (!path.empty()) {
            result.push_back({m, std::move(path)});
        }
        put_inside(m, false);
    }
    return result;
}

} // namespace stemma

#endif // STEMMA_CUT_FIND_NON_CONVEX_HPP

// <stemma/cut/partition.hpp>
#ifndef STEMMA_CUT_PARTITION_HPP
#define STEMMA_CUT_PARTITION_HPP

namespace stemma {

/// A graph that is to be divided into parts which run one after the other.
template <operator_graph_like Graph>
struct partition_problem {
    const Graph& graph;                     ///< any graph of Boost, `operator_graph` for one
    std::span<const vertex_t<Graph>> order; ///< what is to be divided, each behind its producers
    std::span<const std::uint64_t> costs;   ///< by place in `order`
    std::span<const id> module_of = {};     ///< by place in `order`; empty where there are none
    const tree_index* modules = nullptr;    ///< the tree of these, or null
};

/// Which part everything goes to. Parts need not be convex: those that read from each other in
/// circles are divided further.
struct partition_plan {
    std::size_t parts = 0;       ///< how many; a part may be empty
    std::vector<id> part_of{};   ///< by place in the order, each below `parts`
    std::vector<id> module_of{}; ///< by part, what it is named after; empty: what holds all of it
    std::string refusal{};       ///< why the graph cannot be divided like this; "" when it can
};

namespace detail {

template <class P, class Graph>
concept has_partition = requires(const P& policy, const partition_problem<Graph>& problem) {
    { policy.partition(problem) } -> std::convertible_to<partition_plan>;
};

/// Returns: by place in the order how many values cross the border in front of it, at least.
template <operator_graph_like Graph>
[[nodiscard]] std::vector<std::int64_t> count_crossing(const Graph& graph,
                                                       std::span<const vertex_t<Graph>> order) {
    std::vector<std::int64_t> crossing(order.size() + 1, 0);
    std::vector<id> place(num_vertices(graph), no_id);
    for (std::size_t i = 0; i < order.size(); ++i) {
        place[index_of(graph, order[i])] = static_cast<id>(i);
    }
    for (std::size_t i = 0; i < order.size(); ++i) {
        std::size_t last_reader = i;
        for (auto [it, last] = out_edges(order[i], graph); it != last; ++it) {
            const auto reader = place[index_of(graph, target(*it, graph))];
            last_reader =
                reader == no_id ? last_reader : std::max<std::size_t>(last_reader, reader);
        }
        ++crossing[i + 1];
        if (last_reader + 1 < crossing.size()) {
            --crossing[last_reader + 1];
        }
    }
    std::partial_sum(crossing.begin(), crossing.end(), crossing.begin());
    return crossing;
}

/// Returns: the plan of one part for each module for which `is_part(m)` holds, and the root.
template <class Graph, class IsPart>
[[nodiscard]] partition_plan plan_by_module(const partition_problem<Graph>& problem,
                                            IsPart is_part) {
    partition_plan plan;
    if (problem.modules == nullptr) {
        plan.refusal = "by module: the graph has none";
        return plan;
    }
    const auto& modules = *problem.modules;
    plan.parts = modules.size();
    plan.module_of.resize(modules.size());
    for (id m = 1; m < modules.size(); ++m) {
        plan.module_of[m] = is_part(m) ? m : plan.module_of[modules.parent(m)];
    }
    for (auto m : problem.module_of) {
        plan.part_of.push_back(m == no_id ? 0 : plan.module_of[m]);
    }
    std::iota(plan.module_of.begin(), plan.module_of.end(), id{0});
    return plan;
}

} // namespace detail

/// Says into which parts a graph is divided.
///
/// `partition(problem)` returns a `partition_plan`; the same for the same problem.
template <class P, class Graph = operator_graph>
concept partition_policy = policy_for<P, partition_category> && detail::has_partition<P, Graph>;

/// Exactly so many parts of about equal cost, each a stretch of the order: none costs more than the
/// mean and the costliest vertex together. Where it makes no difference, borders lie where few
/// values cross, between modules.
struct balanced_parts {
    using policy_category = partition_category;

    std::size_t parts = 2; ///< at least one, at most one for each vertex

    template <operator_graph_like Graph>
    [[nodiscard]] partition_plan partition(const partition_problem<Graph>& problem) const {
        partition_plan plan;
        const auto size = problem.order.size();
        if (parts == 0 || parts > size) {
            plan.refusal = "into " + std::to_string(parts) + " parts: the graph has " +
                           std::to_string(size) + " nodes that are not constant";
            return plan;
        }
        const auto crossing = detail::count_crossing(problem.graph, problem.order);
        const auto depth_between = [&](std::size_t i) -> id {
            return problem.modules == nullptr
                       ? 0
                       : problem.modules->depth(
                             problem.modules->lca(problem.module_of[i - 1], problem.module_of[i]));
        };
        auto begins = divide_evenly(problem.costs, parts, [&](std::size_t i) {
            return std::pair(crossing[i], depth_between(i));
        });
        begins.push_back(size);
        plan.parts = parts;
        plan.part_of.resize(size);
        for (std::size_t p = 0; p < parts; ++p) {
            std::fill(plan.part_of.begin() + static_cast<std::ptrdiff_t>(begins[p]),
                      plan.part_of.begin() + static_cast<std::ptrdiff_t>(begins[p + 1]),
                      static_cast<id>(p));
        }
        return plan;
    }
};

/// One part for each module down to a depth, the root at 0, with what lies below it.
struct parts_by_depth {
    using policy_category = partition_category;

    id depth = 1; ///< `no_id`: one part for each module

    template <operator_graph_like Graph>
    [[nodiscard]] partition_plan partition(const partition_problem<Graph>& problem) const {
        return detail::plan_by_module(problem,
                                      [&](id m) { return problem.modules->depth(m) <= depth; });
    }
};

/// One part for each of some modules, with what lies below it and in none of the others; the rest
/// is a part of the root.
struct parts_by_modules {
    using policy_category = partition_category;

    std::vector<id> modules{}; ///< in any order

    template <operator_graph_like Graph>
    [[nodiscard]] partition_plan partition(const partition_problem<Graph>& problem) const {
        std::vector<bool> wanted(problem.modules == nullptr ? 0 : problem.modules->size(), false);
        for (auto m : modules) {
            if (m < wanted.size()) {
                wanted[m] = true;
            }
        }
        return detail::plan_by_module(problem, [&](id m) { return bool{wanted[m]}; });
    }
};

/// One part for so many levels: the level of a vertex is the length of the longest way to it.
struct parts_by_level {
    using policy_category = partition_category;

    id levels = 1; ///< of one part; 0 counts as 1

    template <operator_graph_like Graph>
    [[nodiscard]] partition_plan partition(const partition_problem<Graph>& problem) const {
        const auto& graph = problem.graph;
        std::vector<id> behind(num_vertices(graph), 0); // one more than the level
        partition_plan plan;
        for (const auto& v : problem.order) {
            id level = 0;
            for (auto [it, last] = in_edges(v, graph); it != last; ++it) {
                level = std::max(level, behind[index_of(graph, source(*it, graph))]);
            }
            behind[index_of(graph, v)] = level + 1;
            plan.part_of.push_back(level / std::max<id>(levels, 1));
            plan.parts = std::max<std::size_t>(plan.parts, plan.part_of.back() + 1);
        }
        return plan;
    }
};

/// Parts as a rule has it: `rule(vertex)` returns the part, below `parts`.
template <class Rule>
struct parts_by_rule {
    using policy_category = partition_category;

    std::size_t parts; ///< how many there are
    Rule rule;         ///< a lambda, say

    template <operator_graph_like Graph>
        requires std::invocable<const Rule&, vertex_t<Graph>>
    [[nodiscard]] partition_plan partition(const partition_problem<Graph>& problem) const {
        partition_plan plan{parts};
        for (const auto& v : problem.order) {
            plan.part_of.push_back(static_cast<id>(rule(v)));
        }
        return plan;
    }
};

/// Deduces the rule.
template <class Rule>
parts_by_rule(std::size_t, Rule) -> parts_by_rule<Rule>;

/// Any partition policy for `Graph`.
template <operator_graph_like Graph = operator_graph>
class any_partition {
public:
    using policy_category = partition_category;

    /// Holds a copy of `chosen`.
    template <class P>
        requires(!std::same_as<P, any_partition> && partition_policy<P, Graph>)
    any_partition(P chosen) // NOLINT(google-explicit-constructor): it stands for the policy
        : partition_([chosen = std::move(chosen)](const partition_problem<Graph>& problem)
                         -> partition_plan { return chosen.partition(problem); }) {}

    [[nodiscard]] partition_plan partition(const partition_problem<Graph>& problem) const {
        return partition_(problem);
    }

private:
    std::function<partition_plan(const partition_problem<Graph>&)> partition_;
};

/// Put `static_assert(explain_partition_policy<mine>());` beside a policy that is refused.
template <class P, class Graph = operator_graph>
consteval bool explain_partition_policy() {
    static_assert(std::copy_constructible<P>, "partition policy: make the class copyable");
    static_assert(policy_for<P, partition_category>,
                  "partition policy: add `using policy_category = stemma::partition_category;`");
    static_assert(detail::has_partition<P, Graph>,
                  "partition policy: add `stemma::partition_plan partition(const "
                  "stemma::partition_problem<Graph>&) const`");
    return partition_policy<P, Graph>;
}

} // namespace stemma

#endif // STEMMA_CUT_PARTITION_HPP

// <stemma/cut/partition_graph.hpp>
#ifndef STEMMA_CUT_PARTITION_GRAPH_HPP
#define STEMMA_CUT_PARTITION_GRAPH_HPP

namespace stemma {

/// Returns: what is wrong with a plan, as a policy made it for `count` vertices and `modules`
/// modules; "" when nothing is. Complexity: O(vertices + parts).
[[nodiscard]] inline std::string_view find_partition_fault(const partition_plan& plan,
                                                           std::size_t count, std::size_t modules) {
    if (plan.part_of.size() != count) {
        return "partition: not every vertex has a part";
    }
    if (std::any_of(plan.part_of.begin(), plan.part_of.end(),
                    [&](id p) { return p >= plan.parts; })) {
        return "partition: a vertex goes to a part that is not there";
    }
    if (!plan.module_of.empty() && plan.module_of.size() != plan.parts) {
        return "partition: not every part has a module";
    }
    if (std::any_of(plan.module_of.begin(), plan.module_of.end(),
                    [&](id m) { return m >= modules; })) {
        return "partition: a part is named after a module that is not there";
    }
    return {};
}

/// Makes pieces that can be run one after the other of a plan: parts that read from each other in
/// circles are divided by level, and with `joins` levels that nothing keeps apart joined again.
///
/// Requires: nothing is wrong with the plan, which has no refusal. Complexity: that of
/// `make_acyclic`, and of `join_levels`.
template <operator_graph_like Graph>
[[nodiscard]] acyclic_partition make_pieces(const partition_problem<Graph>& problem,
                                            const partition_plan& plan, bool joins = false) {
    std::vector<id> part(num_vertices(problem.graph), no_id);
    for (std::size_t i = 0; i < problem.order.size(); ++i) {
        part[index_of(problem.graph, problem.order[i])] = plan.part_of[i];
    }
    auto pieces = make_acyclic(problem.graph, std::span<const id>(part), plan.parts, problem.order);
    if (joins) {
        join_levels(problem.graph, pieces);
    }
    return pieces;
}

/// Divides any graph into pieces that can be run one after the other, as a policy has it.
///
/// Requires: the policy refuses nothing, and answers as its role asks: in debug builds an assertion
/// names one that does not. Returns: no pieces for one that refuses.
/// Complexity: that of the policy, and of `make_acyclic`.
template <operator_graph_like Graph, partition_policy<Graph> Policy>
[[nodiscard]] acyclic_partition partition_graph(const partition_problem<Graph>& problem,
                                                const Policy& policy, bool joins = false) {
    const partition_plan plan = policy.partition(problem);
    const auto modules = problem.modules == nullptr ? 0 : problem.modules->size();
    const bool answers = find_partition_fault(plan, problem.order.size(), modules).empty();
    STEMMA_ASSERT(answers || !plan.refusal.empty(),
                  "partition policy: every vertex goes to a part that is there");
    if (!answers || !plan.refusal.empty()) {
        return {};
    }
    return make_pieces(problem, plan, joins);
}

} // namespace stemma

#endif // STEMMA_CUT_PARTITION_GRAPH_HPP

// <stemma/cut/plan_cuts.hpp>
#ifndef STEMMA_CUT_PLAN_CUTS_HPP
#define STEMMA_CUT_PLAN_CUTS_HPP

namespace stemma {

/// A part of a graph, as it is to be cut out.
template <operator_graph_like Graph>
struct graph_cut {
    std::vector<vertex_t<Graph>> vertices; ///< in an order in which they can run
    std::vector<vertex_t<Graph>> copies; ///< those of them that the rest has as well, in that order
    std::vector<edge_t<Graph>> inputs;   ///< one for each value that it reads, in order of readers
    std::vector<edge_t<Graph>> outputs;  ///< one for each that others read, in order of producers
    std::vector<vertex_t<Graph>> way_back; ///< leads out of it and in again, where that is refused
};

namespace detail {

/// Plans cuts of one graph.
template <operator_graph_like Graph, cut_policy Policy, class DependsOn>
class graph_cutter {
public:
    graph_cutter(const Graph& graph, const Policy& policy, DependsOn depends_on)
        : graph_(graph)
        , policy_(policy)
        , depends_on_(std::move(depends_on))
        , order_(topological_order(graph))
        , rank_(num_vertices(graph), no_id)
        , set_(num_vertices(graph))
        , chosen_(num_vertices(graph), false) {
        for (std::size_t i = 0; i < order_.size(); ++i) {
            rank_[at(order_[i])] = static_cast<id>(i);
        }
        for (auto [it, last] = vertices(graph); it != last; ++it) {
            // What is on a circle, or behind one, belongs to no part.
            set_.apart[at(*it)] =
                rank_[at(*it)] == no_id || (depends_on_(*it) <= dependence::weight && pulls(*it));
        }
    }

    [[nodiscard]] std::vector<graph_cut<Graph>> plan(std::vector<vertex_t<Graph>> members) {
        members.erase(std::remove_if(members.begin(), members.end(),
                                     [&](const auto& v) { return rank_[at(v)] == no_id; }),
                      members.end());
        std::sort(members.begin(), members.end(),
                  [&](const auto& a, const auto& b) { return rank_[at(a)] < rank_[at(b)]; });
        members.erase(std::unique(members.begin(), members.end()), members.end());
        put(set_.inside, members, true);
        // All that a part of constants has would else belong to its readers.
        if (std::all_of(members.begin(), members.end(),
                        [&](const auto& v) { return bool{set_.apart[at(v)]}; })) {
            put(set_.apart, members, false);
        }
        pull_in(members);
        std::vector<graph_cut<Graph>> cuts;
        if (members.empty()) {
            return cuts;
        }
        if (policy_.gaps() == gap_rule::runs) {
            const auto run = convex_runs(graph_, set_, stretch(members));
            const auto first = rank_[at(members.front())];
            std::vector<std::vector<vertex_t<Graph>>> runs;
            for (const auto& v : members) {
                if (const auto r = run[rank_[at(v)] - first]; r != no_id) {
                    runs.resize(std::max<std::size_t>(runs.size(), r + 1));
                    runs[r].push_back(v);
                }
            }
            put(set_.inside, members, false);
            for (const auto& one : runs) {
                if (!one.empty()) {
                    put(set_.inside, one, true);
                    cuts.push_back(cut(one));
                    put(set_.inside, one, false);
                }
            }
            return cuts;
        }
        if (policy_.gaps() == gap_rule::absorb) {
            const auto gaps = find_gaps(graph_, set_, stretch(members));
            put(set_.inside, gaps, true);
            members.insert(members.end(), gaps.begin(), gaps.end());
        }
        cuts.push_back(cut(members));
        cuts.back().way_back = find_reentry(graph_, set_, stretch(members));
        return cuts;
    }

private:
    using vertex_list = std::vector<vertex_t<Graph>>;

    [[nodiscard]] std::size_t at(const vertex_t<Graph>& v) const { return index_of(graph_, v); }
    [[nodiscard]] bool pulls(const vertex_t<Graph>& v) const {
        return policy_.pulls(depends_on_(v));
    }

    [[nodiscard]] order_stretch<Graph> stretch(const vertex_list& members) const {
        return {graph_, std::span<const vertex_t<Graph>>(order_), std::span<const id>(rank_),
                std::span<const vertex_t<Graph>>(members)};
    }

    void put(std::vector<bool>& in, const vertex_list& members, bool value) const {
        for (const auto& v : members) {
            in[at(v)] = value;
        }
    }

    /// Sets apart what is upstream of the members and pulled in by policy beyond constants.
    void pull_in(const vertex_list& members) {
        auto open = members;
        while (!open.empty()) {
            const auto v = open.back();
            open.pop_back();
            for (auto [it, last] = in_edges(v, graph_); it != last; ++it) {
                const auto from = source(*it, graph_);
                if (set_.is_outside(at(from)) && pulls(from)) {
                    set_.apart[at(from)] = true;
                    open.push_back(from);
                }
            }
        }
    }

    /// Requires: exactly the members are inside of the set.
    [[nodiscard]] graph_cut<Graph> cut(const vertex_list& members) {
        graph_cut<Graph> made;
        for (const auto& v : members) {
            if (set_.is_inside(at(v))) {
                made.vertices.push_back(v);
                chosen_[at(v)] = true;
            }
        }
        made.outputs =
            find_boundary(graph_, set_, std::span<const vertex_t<Graph>>(made.vertices)).outputs;
        for (auto open = made.vertices; !open.empty();) {
            const auto v = open.back();
            open.pop_back();
            for (auto [it, last] = in_edges(v, graph_); it != last; ++it) {
                const auto from = source(*it, graph_);
                if (set_.apart[at(from)] && rank_[at(from)] != no_id && !chosen_[at(from)]) {
                    chosen_[at(from)] = true;
                    made.copies.push_back(from);
                    open.push_back(from);
                }
            }
        }
        made.vertices.insert(made.vertices.end(), made.copies.begin(), made.copies.end());
        for (auto* list : {&made.vertices, &made.copies}) {
            std::sort(list->begin(), list->end(),
                      [&](const auto& a, const auto& b) { return rank_[at(a)] < rank_[at(b)]; });
        }
        sparse_ids met; // values
        for (const auto& v : made.vertices) {
            for (auto [it, last] = in_edges(v, graph_); it != last; ++it) {
                if (!chosen_[at(source(*it, graph_))] && met.insert(value_on(graph_, *it))) {
                    made.inputs.push_back(*it);
                }
            }
        }
        put(chosen_, made.vertices, false);
        return made;
    }

    const Graph& graph_;
    const Policy& policy_;
    DependsOn depends_on_;
    vertex_list order_;
    std::vector<id> rank_; // by vertex index: place in the order
    vertex_set set_;
    std::vector<bool> chosen_; // of the part being made, by vertex index
};

} // namespace detail

/// Plans how a set of vertices is cut out of any graph: one part, or one for each convex run, as
/// the policy has it. With a way back in the plan, the part cannot be run alone.
///
/// `depends_on(vertex)` says what the results of a vertex depend on: of constants, and what the
/// policy pulls in besides, every part has a copy. What is on a circle, or behind one, is in no
/// part. Complexity: O(V + E), and O(n log n) of the part.
template <operator_graph_like Graph, cut_policy Policy, class DependsOn>
    requires std::regular_invocable<const DependsOn&, vertex_t<Graph>>
[[nodiscard]] std::vector<graph_cut<Graph>> plan_cuts(const Graph& graph,
                                                      std::vector<vertex_t<Graph>> wanted,
                                                      const Policy& policy, DependsOn depends_on) {
    return detail::graph_cutter<Graph, Policy, DependsOn>(graph, policy, std::move(depends_on))
        .plan(std::move(wanted));
}

/// The same of a graph in which all depends on data. Complexity: as above.
template <operator_graph_like Graph, cut_policy Policy = standard_cut>
[[nodiscard]] std::vector<graph_cut<Graph>>
plan_cuts(const Graph& graph, std::vector<vertex_t<Graph>> wanted, const Policy& policy = {}) {
    return plan_cuts(graph, std::move(wanted), policy,
                     [](const vertex_t<Graph>&) { return dependence::data; });
}

} // namespace stemma

#endif // STEMMA_CUT_PLAN_CUTS_HPP

// <stemma/model/finding.hpp>
#ifndef STEMMA_MODEL_FINDING_HPP
#define STEMMA_MODEL_FINDING_HPP

namespace stemma {

/// How much a finding matters.
enum class severity : std::uint8_t {
    error,       ///< the input breaks a rule
    warning,     ///< the input keeps the rules, but is probably not as it was meant
    information, ///< what a reader should know
};

/// Returns: the name that reports use.
[[nodiscard]] constexpr std::string_view to_string(severity s) noexcept {
    constexpr std::array<std::string_view, 3> names{"error", "warning", "information"};
    return names[static_cast<std::size_t>(s)];
}

/// Something about the input that a reader should know, and that stopped nothing.
struct finding {
    std::string code; ///< stable: `metadata.lengths`
    id node = no_id;  ///< where it was found, by vertex index; `no_id` when at no operator
    std::string text; ///< what was found, in a sentence
    severity level = severity::warning; ///< how much it matters
    std::string place{};                ///< where it was found, as a reader knows it: `value 'x'`
};

} // namespace stemma

#endif // STEMMA_MODEL_FINDING_HPP

// <stemma/evidence/detail/parameter_owners.hpp>
#ifndef STEMMA_EVIDENCE_DETAIL_PARAMETER_OWNERS_HPP
#define STEMMA_EVIDENCE_DETAIL_PARAMETER_OWNERS_HPP

namespace stemma {

/// For each parameter of a model the modules that own it: none where its name leads nowhere or
/// tells nothing, several where modules share it.
class parameter_owners {
public:
    parameter_owners() = default;

    /// Makes room for so many parameters with one owner each.
    void reserve(std::size_t count) {
        owners_.reserve(count);
        first_.reserve(count + 1);
    }

    /// The owners of the next parameter; to be called for each in turn, from parameter 0 on.
    /// Complexity: O(owners) amortized.
    void add(std::span<const id> owners) {
        for (auto owner : owners) {
            owners_.push_back(owner);
        }
        first_.push_back(static_cast<id>(owners_.size()));
    }

    /// Returns: modules, as they were added; valid until `add`. Requires: they were added.
    [[nodiscard]] std::span<const id> of(id parameter) const noexcept {
        return {owners_.data() + first_[parameter],
                owners_.data() + first_[std::size_t{parameter} + 1]};
    }

    /// How paths in the names lead to modules.
    path_mapping mapping;

private:
    std::vector<id> owners_;
    std::vector<id> first_{0}; // by parameter, and one more
};

/// Returns: `m`, or where it is known never to have run, the nearest module above that did.
/// Complexity: O(depth).
template <module_view Modules>
[[nodiscard]] id nearest_called(const Modules& modules, id m) {
    if constexpr (counts_calls<Modules>) {
        while (m != 0 && modules.calls(m) == 0) {
            m = modules.index().parent(m);
        }
    }
    return m;
}

namespace detail {

/// Loads the name that will be read a little later than that of parameter `p`: names lie far from
/// each other, in the file.
template <parameter_readers Ops>
void prefetch_name_behind(const Ops& ops, id p) {
    constexpr std::size_t ahead = 16;
    if (p + ahead < ops.parameter_count()) {
        const std::string_view name = ops.parameter_name(static_cast<id>(p + ahead));
        prefetch(name.data());
    }
}

} // namespace detail

/// Returns: the parameters whose names cannot be read, each with the first operator that reads it.
/// Requires: several threads may read `ops` at once, if so many are given.
/// Complexity: O(bytes of names), and O(operators) where there are any.
template <parameter_readers Ops>
[[nodiscard]] std::vector<finding> find_unreadable_parameters(const Ops& ops,
                                                              thread_limit threads = {}) {
    const auto parts = threads.parts_of_operators(num_vertices(ops.graph()));
    std::vector<std::unordered_map<id, const char*>> unreadable(parts);
    for_each_range(ops.parameter_count(), parts,
                   [&](std::size_t part, std::size_t p, std::size_t end) {
                       for (; p < end; ++p) {
                           const auto number = static_cast<id>(p);
                           detail::prefetch_name_behind(ops, number);
                           const auto name = ops.parameter_name(number);
                           if (const char* problem = find_parameter_problem(name)) {
                               unreadable[part].emplace(number, problem);
                           }
                       }
                   });
    std::unordered_map<id, const char*> open;
    for (auto& of_part : unreadable) {
        open.merge(of_part);
    }
    std::vector<finding> problems;
    for (auto [it, last] = vertices(ops.graph()); it != last && !open.empty(); ++it) {
        const auto v = static_cast<id>(index_of(ops.graph(), *it));
        ops.for_each_parameter(*it, [&](id p) {
            if (const auto found = open.find(p); found != open.end()) {
                problems.push_back({"parameter.unreadable", v, found->second});
                open.erase(found);
            }
        });
    }
    return problems;
}

namespace detail {

/// What a module_tree knows beyond paths: declared tensors, aliases, shared parameters.
class declared_owners {
public:
    explicit declared_owners(const module_tree& modules) : modules_(&modules) {
        for (const auto& alias : modules.aliases()) {
            aliases_.emplace(alias.path, alias.module);
        }
        for (std::size_t g = 0; g < modules.shared_parameters().size(); ++g) {
            for (const auto& path : modules.shared_parameters()[g]) {
                groups_.emplace(path, g);
            }
        }
    }

    [[nodiscard]] id alias(std::string_view path) const {
        const auto found = aliases_.empty() ? aliases_.end() : aliases_.find(std::string(path));
        return found == aliases_.end() ? no_id : found->second;
    }

    [[nodiscard]] bool declares(id m, std::string_view tensor) const {
        for (std::size_t i = 0; i < modules_->parameter_count(m); ++i) {
            if (modules_->parameter(m, i).name == tensor) {
                return true;
            }
        }
        for (std::size_t i = 0; i < modules_->buffer_count(m); ++i) {
            if (modules_->buffer(m, i).name == tensor) {
                return true;
            }
        }
        return false;
    }

    /// Returns: all paths of the tensor that has this one, or none when it has no other.
    [[nodiscard]] std::span<const std::string> sharing(std::string_view path) const {
        const auto found = groups_.empty() ? groups_.end() : groups_.find(std::string(path));
        return found == groups_.end()
                   ? std::span<const std::string>{}
                   : std::span<const std::string>(modules_->shared_parameters()[found->second]);
    }

private:
    const module_tree* modules_;
    std::unordered_map<std::string, id> aliases_;
    std::unordered_map<std::string, std::size_t> groups_;
};

/// Returns: for parameters that were folded from others, the common ancestor of what those belong
/// to.
template <parameter_readers Ops, class OwnerOf>
[[nodiscard]] std::unordered_map<id, id> find_folded_owners(const Ops& ops, const tree_index& tree,
                                                            OwnerOf owner_of) {
    std::unordered_map<id, id> folded;
    if constexpr (requires { ops.for_each_folded_parameter(take_folded{}); }) {
        ops.for_each_folded_parameter([&](id p, std::string_view origin) {
            if (const auto owner = owner_of(origin); owner != no_id) {
                const auto [known, added] = folded.emplace(p, owner);
                known->second = added ? owner : tree.lca(known->second, owner);
            }
        });
    }
    return folded;
}

} // namespace detail

/// Finds the modules that the names of the parameters speak of; none for those in `merged`, which
/// is by parameter or empty. Complexity: O(bytes of names).
template <parameter_readers Ops, module_view Modules>
[[nodiscard]] parameter_owners find_parameter_owners(const Ops& ops, const Modules& modules,
                                                     const std::vector<bool>& merged = {}) {
    const auto count = static_cast<id>(ops.parameter_count());
    std::vector<std::string_view> path_of; // by parameter
    path_of.reserve(count);
    for (id p = 0; p < count; ++p) {
        path_of.push_back(owner_path(ops.parameter_name(p)));
    }
    std::vector<std::string_view> paths;
    paths.reserve(count);
    std::copy_if(path_of.begin(), path_of.end(), std::back_inserter(paths),
                 [](std::string_view path) { return !path.empty(); });
    const module_lookup<Modules> lookup(modules);
    parameter_owners result;
    result.reserve(count);
    result.mapping = find_path_mapping(modules, lookup, paths);
    module_trail trail(lookup);
    const auto module_at = [&](std::string_view path) {
        return path.empty() ? no_id : trail.find(result.mapping.apply(path), result.mapping.base);
    };
    const auto owner_of = [&](std::string_view name) { return module_at(owner_path(name)); };
    const auto folded = detail::find_folded_owners(ops, modules.index(), owner_of);
    const auto is_merged = [&](id p) { return p < merged.size() && merged[p]; };
    std::vector<id> owners;
    if constexpr (std::same_as<Modules, module_tree>) {
        const detail::declared_owners declared(modules);
        for (id p = 0; p < count; ++p) {
            if (is_merged(p)) {
                result.add({});
                continue;
            }
            const std::string_view name = ops.parameter_name(p);
            owners.clear();
            auto owner = module_at(path_of[p]);
            if (owner == no_id) {
                owner = declared.alias(path_of[p]);
            }
            if (owner == no_id && declared.declares(0, name)) {
                owner = 0;
            }
            if (const auto origin = folded.find(p); owner == no_id && origin != folded.end()) {
                owner = origin->second;
            }
            if (owner != no_id) {
                owners.push_back(owner);
            }
            for (const auto& path : declared.sharing(result.mapping.apply(name))) {
                auto other = owner_of(path);
                other = other == no_id ? declared.alias(owner_path(path)) : other;
                if (other != no_id &&
                    std::find(owners.begin(), owners.end(), other) == owners.end()) {
                    owners.push_back(other);
                }
            }
            result.add(owners);
        }
    } else {
        for (id p = 0; p < count; ++p) {
            if (is_merged(p)) {
                result.add({});
                continue;
            }
            auto owner = module_at(path_of[p]);
            if (const auto origin = folded.find(p); owner == no_id && origin != folded.end()) {
                owner = origin->second;
            }
            result.add({&owner, owner == no_id ? 0U : 1U});
        }
    }
    return result;
}

} // namespace stemma

#endif // STEMMA_EVIDENCE_DETAIL_PARAMETER_OWNERS_HPP

// <stemma/evidence/bypassed_modules.hpp>
#ifndef STEMMA_EVIDENCE_BYPASSED_MODULES_HPP
#define STEMMA_EVIDENCE_BYPASSED_MODULES_HPP

namespace stemma {

/// Returns: the modules whose parameters the module around computes with, past them; sorted.
///
/// `torch.nn.MultiheadAttention` is known by what it owns, `in_proj_weight` and `in_proj_bias`. It
/// never calls its `out_proj`.
/// Complexity: O(parameters), and O(children) of each such module.
template <parameter_readers Ops, module_view Modules>
[[nodiscard]] std::vector<id> find_bypassed_modules(const Ops& ops, const Modules& modules,
                                                    const parameter_owners& owners) {
    const tree_index& tree = modules.index();
    std::vector<id> bypassed;
    for (id p = 0; p < ops.parameter_count(); ++p) {
        const std::string_view name = ops.parameter_name(p);
        if (!name.ends_with("in_proj_weight") && !name.ends_with("in_proj_bias")) {
            continue;
        }
        for (auto owner : owners.of(p)) {
            for (auto m = owner + 1; m < tree.end(owner); m = tree.end(m)) {
                if (std::string_view(modules.attribute(m)) == "out_proj") {
                    bypassed.push_back(m);
                }
            }
        }
    }
    std::sort(bypassed.begin(), bypassed.end());
    bypassed.erase(std::unique(bypassed.begin(), bypassed.end()), bypassed.end());
    return bypassed;
}

/// Returns: `m`, or the module around where `m` is one of `bypassed`.
/// Complexity: O(log bypassed).
template <module_view Modules>
[[nodiscard]] id past_bypassed(const Modules& modules, const std::vector<id>& bypassed, id m) {
    const bool found = !bypassed.empty() && std::binary_search(bypassed.begin(), bypassed.end(), m);
    return found ? modules.index().parent(m) : m;
}

} // namespace stemma

#endif // STEMMA_EVIDENCE_BYPASSED_MODULES_HPP

// <stemma/evidence/capture_match.hpp>
#ifndef STEMMA_EVIDENCE_CAPTURE_MATCH_HPP
#define STEMMA_EVIDENCE_CAPTURE_MATCH_HPP

namespace stemma {

namespace detail {

/// Whether a path leads to a module below the root, as it is or behind what an optimizer put before
/// it, as in `Fused_W_layer.0.conv`.
template <class Lookup>
[[nodiscard]] bool ends_in_module(const Lookup& lookup, std::string_view path) {
    for (std::size_t steps = 0; steps < 8; ++steps) {
        if (!path.empty() && find_module(lookup, path) != no_id) {
            return true;
        }
        const auto bar = path.find('_');
        if (bar == path.npos) {
            return false;
        }
        path.remove_prefix(bar + 1);
    }
    return false;
}

/// Whether some scope in the name of an operator has one of some names, apart from what numbers it:
/// `layer` or `fc` in `/layer.0/fc/Add`.
[[nodiscard]] inline bool has_scope_among(std::string_view name,
                                          const std::unordered_set<std::string>& names) {
    for (auto slash = name.find('/', 1); slash != name.npos; slash = name.find('/', 1)) {
        const auto scope = name.substr(1, slash - 1);
        if (names.contains(std::string(scope.substr(0, scope.find('.'))))) {
            return true;
        }
        name.remove_prefix(slash);
    }
    return false;
}

} // namespace detail

/// How much of what a model says of modules speaks of those of a capture.
struct capture_match {
    std::size_t paths = 0;        ///< of parameters, different ones
    std::size_t known_paths = 0;  ///< those that lead to a module
    std::size_t scopes = 0;       ///< operators with a scope
    std::size_t known_scopes = 0; ///< those with a scope that a module has the name of

    /// Whether the capture is one of another model entirely: hardly anything is known. Where a
    /// model has few paths and few scopes, nothing is said.
    [[nodiscard]] bool is_foreign() const noexcept {
        constexpr std::size_t share = 10;
        const auto hardly = [](std::size_t known, std::size_t all) {
            return known == 0 || known * share < all;
        };
        return hardly(known_paths, paths) && hardly(known_scopes, scopes) &&
               (paths >= 4 || scopes >= 8);
    }

    /// Returns: what a user should know of a foreign capture.
    [[nodiscard]] std::string note() const {
        const auto of = [](std::size_t known, std::size_t all) {
            return std::to_string(known) + " of " + std::to_string(all);
        };
        return "modules: it has " + of(known_scopes, scopes) + " scopes and " +
               of(known_paths, paths) +
               " parameter paths of the file; it looks like one of another model, and is not used";
    }
};

/// Finds what a model and the modules of a capture have in common.
/// Complexity: O(parameters + bytes of names + modules).
template <parameter_readers Ops, module_view Modules>
    requires named_operators<Ops>
[[nodiscard]] capture_match match_capture(const Ops& ops, const Modules& modules) {
    capture_match found;
    std::unordered_set<std::string_view> seen;
    std::vector<std::string_view> paths;
    for (id p = 0; p < ops.parameter_count(); ++p) {
        const auto path = owner_path(ops.parameter_name(p));
        if (!path.empty() && seen.insert(path).second) {
            paths.push_back(path);
        }
    }
    const module_lookup<Modules> lookup(modules);
    const auto mapping = find_path_mapping(modules, lookup, paths);
    found.paths = paths.size();
    for (auto path : paths) {
        const auto rest = mapping.apply(path);
        found.known_paths += (!rest.empty() && find_module(lookup, rest, mapping.base) != no_id) ||
                                     detail::ends_in_module(lookup, path)
                                 ? 1U
                                 : 0U;
    }
    std::unordered_set<std::string> names;
    for (id m = 1; m < modules.index().size(); ++m) {
        names.emplace(modules.attribute(m));
    }
    for (auto [it, last] = vertices(ops.graph()); it != last; ++it) {
        const std::string_view name = ops.name(*it);
        const bool has_scope = name.starts_with('/') && name.find('/', 1) != name.npos;
        found.scopes += has_scope ? 1U : 0U;
        found.known_scopes += has_scope && detail::has_scope_among(name, names) ? 1U : 0U;
    }
    return found;
}

} // namespace stemma

#endif // STEMMA_EVIDENCE_CAPTURE_MATCH_HPP

// <stemma/evidence/detail/python_text.hpp>
#ifndef STEMMA_EVIDENCE_DETAIL_PYTHON_TEXT_HPP
#define STEMMA_EVIDENCE_DETAIL_PYTHON_TEXT_HPP

namespace stemma::detail {

inline void append_utf8(std::uint32_t code, std::string& out) {
    const auto put = [&](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
    if (code < 0x80) {
        put(code);
    } else if (code < 0x800) {
        put(0xc0U | code >> 6U);
        put(0x80U | (code & 0x3fU));
    } else if (code < 0x1'0000) {
        put(0xe0U | code >> 12U);
        put(0x80U | (code >> 6U & 0x3fU));
        put(0x80U | (code & 0x3fU));
    } else {
        put(0xf0U | code >> 18U);
        put(0x80U | (code >> 12U & 0x3fU));
        put(0x80U | (code >> 6U & 0x3fU));
        put(0x80U | (code & 0x3fU));
    }
}

/// Reads the number of `digits` hexadecimal digits at `at`.
[[nodiscard]] inline std::optional<std::uint32_t> read_hex(std::string_view text, std::size_t at,
                                                           std::size_t digits) {
    std::uint32_t value = 0;
    if (text.size() < at + digits) {
        return std::nullopt;
    }
    for (char c : text.substr(at, digits)) {
        const auto digit = c >= '0' && c <= '9'   ? c - '0'
                           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                  : -1;
        if (digit < 0) {
            return std::nullopt;
        }
        value = value << 4U | static_cast<std::uint32_t>(digit);
    }
    return value <= 0x10'ffffU ? std::optional(value) : std::nullopt;
}

/// Reads the `repr` of a Python string at the start of `text`, in either kind of quotes.
///
/// Returns: how many bytes it takes with its quotes, 0 when it is none. `value` is what it says.
[[nodiscard]] inline std::size_t read_python_string(std::string_view text, std::string& value) {
    value.clear();
    if (text.empty() || (text[0] != '\'' && text[0] != '"')) {
        return 0;
    }
    for (std::size_t i = 1; i < text.size();) {
        const auto stop = text.find_first_of(text[0] == '\'' ? "'\\" : "\"\\", i);
        if (stop == text.npos) {
            return 0;
        }
        value.append(text.substr(i, stop - i));
        if (text[stop] != '\\') {
            return stop + 1;
        }
        if (stop + 1 == text.size()) {
            return 0;
        }
        const char escape = text[stop + 1];
        i = stop + 2;
        const std::size_t digits = escape == 'x' ? 2 : escape == 'u' ? 4 : escape == 'U' ? 8 : 0;
        if (digits != 0) {
            const auto code = read_hex(text, i, digits);
            if (!code) {
                return 0;
            }
            append_utf8(*code, value);
            i += digits;
        } else if (escape == 'n' || escape == 't' || escape == 'r') {
            value.push_back(escape == 'n' ? '\n' : escape == 't' ? '\t' : '\r');
        } else if (escape == '\\' || escape == '\'' || escape == '"') {
            value.push_back(escape);
        } else {
            return 0;
        }
    }
    return 0;
}

/// Reads the `repr` of a Python list of strings: `['', 'blocks.0', "it's"]`.
///
/// Returns: whether all of `text` is one; `items` holds what it says.
/// Complexity: O(length); strings of `items` are reused.
[[nodiscard]] inline bool read_python_list(std::string_view text, std::vector<std::string>& items) {
    std::size_t count = 0;
    const auto skip_blanks = [&] {
        while (!text.empty() && (text.front() == ' ' || text.front() == '\n')) {
            text.remove_prefix(1);
        }
    };
    const auto finish = [&](bool valid) {
        items.resize(valid ? count : 0);
        return valid;
    };
    if (!text.starts_with('[')) {
        return finish(false);
    }
    text.remove_prefix(1);
    skip_blanks();
    while (!text.starts_with(']')) {
        if (items.size() == count) {
            items.emplace_back();
        }
        const auto read = read_python_string(text, items[count]);
        if (read == 0) {
            return finish(false);
        }
        ++count;
        text.remove_prefix(read);
        skip_blanks();
        if (text.starts_with(',')) {
            text.remove_prefix(1);
            skip_blanks();
        } else if (!text.starts_with(']')) {
            return finish(false);
        }
    }
    return finish(text.size() == 1);
}

/// Turns a Python expression for a module into its path: `L['self'].layers[0].fc` and
/// `getattr(getattr(L['self'].layers, '0'), 'fc')` into `layers.0.fc`. A text that is no such
/// expression is a path already.
///
/// Returns: nothing for an expression that is malformed.
// One loop over the tokens, whose state has no parts. NOLINTNEXTLINE(readability-function-size)
[[nodiscard]] inline std::optional<std::string> module_path_of(std::string_view text) {
    if (text.find_first_of("[(") == text.npos) {
        return std::string(text);
    }
    constexpr std::string_view call = "getattr(";
    std::size_t open = 0;
    for (; text.starts_with(call); text.remove_prefix(call.size())) {
        ++open;
    }
    std::string path;
    std::string name;
    const auto descend = [&](std::string_view part) {
        path.append(path.empty() ? "" : ".").append(part);
    };
    // The base: a local variable, which is the module that is exported, whatever it is called.
    if (text.starts_with("L[")) {
        const auto read = read_python_string(text.substr(2), name);
        if (read == 0 || !text.substr(2 + read).starts_with(']')) {
            return std::nullopt;
        }
        text.remove_prefix(3 + read);
    } else {
        const auto end = std::min(text.find_first_of(".[,)"), text.size());
        if (text.substr(0, end) != "self") {
            descend(text.substr(0, end));
        }
        text.remove_prefix(end);
    }
    while (!text.empty()) {
        if (text.front() == '.') {
            const auto end = std::min(text.find_first_of(".[,)", 1), text.size());
            descend(text.substr(1, end - 1));
            text.remove_prefix(end);
        } else if (text.front() == '[') {
            text.remove_prefix(1);
            auto read = read_python_string(text, name);
            if (read == 0) {
                read = std::min(text.find(']'), text.size());
                name = text.substr(0, read);
            }
            text.remove_prefix(read);
            if (name.empty() || !text.starts_with(']')) {
                return std::nullopt;
            }
            descend(name);
            text.remove_prefix(1);
        } else if (text.front() == ',' && open > 0) {
            text.remove_prefix(1);
            while (text.starts_with(' ')) {
                text.remove_prefix(1);
            }
            const auto read = read_python_string(text, name);
            if (read == 0 || !text.substr(read).starts_with(')')) {
                return std::nullopt;
            }
            descend(name);
            text.remove_prefix(read + 1);
            --open;
        } else {
            return std::nullopt;
        }
    }
    return open == 0 ? std::optional(path) : std::nullopt;
}

} // namespace stemma::detail

#endif // STEMMA_EVIDENCE_DETAIL_PYTHON_TEXT_HPP

// <stemma/evidence/detail/hierarchy_table.hpp>
#ifndef STEMMA_EVIDENCE_DETAIL_HIERARCHY_TABLE_HPP
#define STEMMA_EVIDENCE_DETAIL_HIERARCHY_TABLE_HPP

namespace stemma {

/// Who wrote the module hierarchy into metadata.
enum class hierarchy_dialect : std::uint8_t {
    dynamo,  ///< torch's exporter on top of torch.export, keys `pkg.torch.onnx.*`
    builder, ///< the onnxscript builder, keys `pkg.onnxscript.*`
};

/// The modules around an operator, from the outside in.
struct module_chain {
    /// One module of a chain.
    struct level {
        std::string path;            ///< of the module, "" for the root
        std::string qualified_class; ///< "" where it is not written
    };

    hierarchy_dialect dialect = hierarchy_dialect::dynamo; ///< who wrote it
    bool from_root = true;     ///< else paths start at some module that is not named
    std::vector<level> levels; ///< from the outside in, at least one
};

/// The distinct chains of modules in the metadata of operators.
struct hierarchy_table {
    std::vector<module_chain> chains; ///< in the order in which operators first have them
    std::vector<id> chain_of; ///< by vertex index; `no_id` for none; empty when nothing has one
    std::vector<std::pair<id, id>> further; ///< a vertex index and one more chain, of those that
                                            ///< have a key several times; ascending
    std::vector<id> rewritten; ///< operators that an optimizer made of several, ascending
    std::vector<id> bare;      ///< operators of which torch's lists name no module, ascending
    std::vector<std::pair<id, std::string_view>>
        class_tags;                ///< of winml-cli, at the operators that
                                   ///< have one, or several; ascending
    std::vector<finding> problems; ///< metadata that cannot be read, at the operators that have it
};

namespace detail {

/// Reads the metadata of operators, one after the other.
class hierarchy_reader {
public:
    explicit hierarchy_reader(hierarchy_table& table) : table_(table) {}

    void begin() {
        names_ = classes_ = spaces_ = {};
        rewritten = false;
        found_ = false;
        for (auto& values : further_) {
            values.clear();
        }
    }

    /// What an optimizer made of several operators may have each key once for each of them.
    void entry(id v, std::string_view key, std::string_view value) {
        constexpr std::string_view torch = "pkg.torch.onnx.";
        constexpr std::string_view builder = "pkg.onnxscript.";
        if (key == "namespace") {
            note(spaces_, 2, value);
        } else if (key == "pkg.onnxscript.rewriter.rule_name") {
            rewritten = true;
        } else if (key == "winml.hierarchy.tag") {
            table_.class_tags.emplace_back(v, value);
        } else if (key.starts_with(torch) || key.starts_with(builder)) {
            const bool is_torch = key.starts_with(torch);
            const auto rest = key.substr(is_torch ? torch.size() : builder.size());
            if (rest == "name_scopes" || rest == "class_hierarchy") {
                rest == "name_scopes" ? note(names_, 0, value) : note(classes_, 1, value);
                dialect_ = is_torch ? hierarchy_dialect::dynamo : hierarchy_dialect::builder;
                found_ = true;
            }
        }
    }

    /// Calls `f(chain)` for the chains of the operator whose entries were given, none or several.
    template <class Function>
    void end(id v, Function f) {
        const auto count =
            std::max({further_[0].size(), further_[1].size(), further_[2].size()}) + 1;
        for (std::size_t i = 0; i < count; ++i) {
            if (i > 0) {
                const auto at = [&](std::size_t key) {
                    return i <= further_[key].size() ? further_[key][i - 1] : std::string_view{};
                };
                names_ = at(0);
                classes_ = at(1);
                spaces_ = at(2);
            }
            if (const auto chain = chain_of(v); chain != no_id) {
                f(chain);
            }
        }
    }

    bool rewritten = false;

private:
    void note(std::string_view& first, std::size_t key, std::string_view value) {
        if (first.data() == nullptr) {
            first = value;
        } else {
            further_[key].push_back(value);
        }
    }

    [[nodiscard]] id chain_of(id v) {
        if (!found_ && spaces_.find(": ") == spaces_.npos) {
            return no_id;
        }
        if (names_.size() + classes_.size() + spaces_.size() > max_bytes) {
            table_.problems.push_back({"metadata.unreadable", v, "the hierarchy is too long"});
            return no_id;
        }
        const auto key = key_of_chain();
        const auto hash = hash_bytes(key.first, hash_bytes(key.second, found_ ? 1 : 0));
        const auto next = static_cast<id>(keys_.size());
        const auto known = index_.insert(hash, next, [&](id other) { return keys_[other] == key; });
        if (known != next) {
            note_bare(v, known);
            return chain_[known];
        }
        keys_.push_back(key);
        module_chain chain;
        name_items_.clear();
        const char* problem = found_ ? read_lists(chain) : read_namespace(chain);
        bare_.push_back(problem == nullptr && found_ && dialect_ == hierarchy_dialect::dynamo &&
                        name_items_.size() == 1);
        note_bare(v, known);
        if (problem != nullptr) {
            table_.problems.push_back({"metadata.unreadable", v, problem});
        }
        const bool says_something = problem == nullptr && !chain.levels.empty();
        chain_.push_back(says_something ? static_cast<id>(table_.chains.size()) : no_id);
        if (says_something) {
            table_.chains.push_back(std::move(chain));
        }
        return chain_.back();
    }

    void note_bare(id v, id key) {
        if (bare_[key]) {
            table_.bare.push_back(v);
        }
    }

    // The level that torch.export puts on shape operations instead of a module.
    static constexpr std::string_view no_module = "_empty_nn_module_stack_from_metadata_hook";

    // What a hierarchy of modules may take; more is no model's, and would cost its square.
    static constexpr std::size_t max_bytes = std::size_t{1} << 18U;
    static constexpr std::size_t max_levels = 1024;

    /// What operations of one module have in common. Only operations that are well-formed share,
    /// so that what cannot be read takes nothing with it.
    [[nodiscard]] std::pair<std::string_view, std::string_view> key_of_chain() {
        if (!found_) {
            const auto slash = spaces_.rfind('/');
            const bool operation =
                slash != spaces_.npos && spaces_.find(": ", slash) != spaces_.npos;
            return {operation ? spaces_.substr(0, slash) : spaces_, {}};
        }
        if (dialect_ == hierarchy_dialect::builder) {
            return {names_, classes_};
        }
        const auto names = before_operation(names_);
        const auto classes = before_operation(classes_);
        return names == names_.npos || classes == classes_.npos
                   ? std::pair(names_, classes_)
                   : std::pair(names_.substr(0, names), classes_.substr(0, classes));
    }

    /// Returns: where the last item of a list begins, or `npos` when that is not well-formed.
    [[nodiscard]] std::size_t before_operation(std::string_view list) {
        const auto comma = list.rfind(", ");
        if (comma == list.npos) {
            return comma;
        }
        const auto last = list.substr(comma + 2);
        const auto read = read_python_string(last, operation_);
        return read != 0 && last.substr(read) == "]" && is_utf8(operation_) ? comma : list.npos;
    }

    /// Returns: what is wrong, or null.
    const char* read_lists(module_chain& chain) {
        chain.dialect = dialect_;
        if (!read_python_list(names_, name_items_)) {
            return "name_scopes is not a list of texts";
        }
        if (!classes_.empty() && !read_python_list(classes_, class_items_)) {
            return "class_hierarchy is not a list of texts";
        }
        if (classes_.empty()) {
            class_items_.assign(name_items_.size(), {});
        }
        if (name_items_.size() != class_items_.size()) {
            return "name_scopes and class_hierarchy have different lengths";
        }
        const bool dynamo = dialect_ == hierarchy_dialect::dynamo;
        const auto modules = name_items_.size() - (dynamo && !name_items_.empty() ? 1 : 0);
        if (modules > max_levels) {
            return "the hierarchy has too many levels";
        }
        for (const auto* items : {&name_items_, &class_items_}) {
            if (!std::all_of(items->begin(), items->end(), is_utf8)) {
                return "the hierarchy is not valid UTF-8";
            }
        }
        std::string path;
        for (std::size_t i = 0; i < modules; ++i) {
            if (name_items_[i].find(no_module) != std::string::npos) {
                chain.levels.clear();
                return nullptr;
            }
            if (dynamo) {
                const auto read = module_path_of(name_items_[i]);
                if (!read) {
                    return "a module is named by an expression that cannot be read";
                }
                path = *read;
            } else if (!name_items_[i].empty()) {
                path.append(path.empty() ? "" : ".").append(name_items_[i]);
            }
            if (has_empty_part(path)) {
                return "a module has an empty name";
            }
            chain.levels.push_back({path, class_items_[i]});
        }
        chain.from_root = chain.levels.empty() || chain.levels.front().path.empty();
        return nullptr;
    }

    /// `: app.Net/blocks.0: app.Block/linear: aten.linear.default`, cumulative paths; a `/` in a
    /// class or path makes a part without `: `, which belongs to the one before.
    const char* read_namespace(module_chain& chain) {
        auto text = spaces_;
        if (!is_utf8(text)) {
            return "the hierarchy is not valid UTF-8";
        }
        while (!text.empty()) {
            const auto slash = text.find('/');
            const auto part = text.substr(0, slash);
            text.remove_prefix(slash == text.npos ? text.size() : slash + 1);
            const auto colon = part.find(": ");
            if (colon == part.npos) {
                if (chain.levels.empty()) {
                    return "namespace does not start with a module";
                }
                chain.levels.back().qualified_class.append("/").append(part);
                continue;
            }
            if (text.find(": ") == text.npos) {
                break; // the last is an operation
            }
            const auto path = module_path_of(part.substr(0, colon));
            if (!path) {
                return "a module is named by an expression that cannot be read";
            }
            if (has_empty_part(*path)) {
                return "a module has an empty name";
            }
            if (part.find(no_module) != part.npos) {
                chain.levels.clear();
                return nullptr;
            }
            if (chain.levels.size() == max_levels) {
                return "the hierarchy has too many levels";
            }
            chain.levels.push_back({*path, std::string(part.substr(colon + 2))});
        }
        chain.from_root = chain.levels.empty() || chain.levels.front().path.empty();
        return nullptr;
    }

    hierarchy_table& table_;
    std::string_view names_;
    std::string_view classes_;
    std::string_view spaces_;
    hierarchy_dialect dialect_ = hierarchy_dialect::dynamo;
    bool found_ = false;
    std::array<std::vector<std::string_view>, 3> further_; // names, classes, spaces that repeat
    flat_index index_;
    std::vector<std::pair<std::string_view, std::string_view>> keys_;
    std::vector<id> chain_;  // by key
    std::vector<bool> bare_; // by key
    std::vector<std::string> name_items_;
    std::vector<std::string> class_items_;
    std::string operation_;
};

} // namespace detail

/// Reads the hierarchies that exporters left in the metadata of operators.
///
/// Requires: metadata outlive the table's making. What cannot be read is a problem, once for each
///   distinct text.
/// Complexity: O(bytes of metadata); lists are taken apart once for each distinct chain.
template <operator_view Ops>
[[nodiscard]] hierarchy_table collect_hierarchies(const Ops& ops) {
    hierarchy_table table;
    if constexpr (described_operators<Ops>) {
        const auto& graph = ops.graph();
        detail::hierarchy_reader reader(table);
        for (auto [it, last] = vertices(graph); it != last; ++it) {
            const auto v = static_cast<id>(index_of(graph, *it));
            bool any = false;
            ops.for_each_metadata(*it, [&](std::string_view key, std::string_view value) {
                if (!std::exchange(any, true)) {
                    reader.begin();
                }
                reader.entry(v, key, value);
            });
            if (!any) {
                continue;
            }
            if (reader.rewritten) {
                table.rewritten.push_back(v);
            }
            reader.end(v, [&](id chain) {
                table.chain_of.resize(num_vertices(graph), no_id);
                auto& first = table.chain_of[v];
                if (first == no_id) {
                    first = chain;
                } else if (first != chain) {
                    table.further.emplace_back(v, chain);
                }
            });
        }
        std::sort(table.rewritten.begin(), table.rewritten.end());
        std::sort(table.bare.begin(), table.bare.end());
        const auto stands_before = [](const auto& a, const auto& b) { return a.first < b.first; };
        std::stable_sort(table.further.begin(), table.further.end(), stands_before);
        std::stable_sort(table.class_tags.begin(), table.class_tags.end(), stands_before);
    }
    return table;
}

} // namespace stemma

#endif // STEMMA_EVIDENCE_DETAIL_HIERARCHY_TABLE_HPP

// <stemma/model/detail/nesting.hpp>
#ifndef STEMMA_MODEL_DETAIL_NESTING_HPP
#define STEMMA_MODEL_DETAIL_NESTING_HPP

namespace stemma::detail {

/// An operator in a body, by vertex index, and the one that owns the body.
struct body_operator {
    id v = no_id;
    id owner = no_id;
    id depth = 0; ///< how many bodies are around it
};

/// Returns: the operators in bodies, outer ones first; none where the view knows no owners.
/// Complexity: O(V), and O(depth * log) for each operator in a body.
template <operator_view Ops>
[[nodiscard]] std::vector<body_operator> operators_in_bodies(const Ops& ops) {
    std::vector<body_operator> inner;
    if constexpr (nested_operators<Ops>) {
        const auto& graph = ops.graph();
        std::vector<std::pair<id, id>> owners; // by operator
        for (auto [it, last] = vertices(graph); it != last; ++it) {
            if (const auto o = ops.owner(*it); o != no_id) {
                const auto v = static_cast<id>(index_of(graph, *it));
                owners.emplace_back(v, o);
                inner.push_back({v, o, 0});
            }
        }
        std::sort(owners.begin(), owners.end());
        for (auto& op : inner) {
            for (auto o = op.owner; o != no_id; ++op.depth) {
                const auto above =
                    std::lower_bound(owners.begin(), owners.end(), std::pair<id, id>(o, 0));
                o = above != owners.end() && above->first == o ? above->second : no_id;
            }
        }
        std::stable_sort(inner.begin(), inner.end(),
                         [](const auto& a, const auto& b) { return a.depth < b.depth; });
    }
    return inner;
}

} // namespace stemma::detail

#endif // STEMMA_MODEL_DETAIL_NESTING_HPP

// <stemma/model/module_tree_builder.hpp>
#ifndef STEMMA_MODEL_MODULE_TREE_BUILDER_HPP
#define STEMMA_MODEL_MODULE_TREE_BUILDER_HPP

namespace stemma {

/// Collects modules in any order in which a parent comes before its children, then builds the tree.
///
/// A module is named by the id it got here (the root is 0); `rank_of` translates after `build`.
class module_tree_builder {
public:
    /// `root_name` is the attribute of the root, which no path shows.
    explicit module_tree_builder(std::string_view root_name = "") {
        add_module(no_id, names_.intern(root_name));
    }

    /// Returns: how many modules were added, with the root.
    [[nodiscard]] std::size_t size() const noexcept { return modules_.size(); }

    /// Returns: `no_id` for the root.
    [[nodiscard]] id parent(id m) const noexcept { return modules_[m].parent; }

    /// Valid until the next call that adds a name.
    [[nodiscard]] std::string_view attribute(id m) const noexcept {
        return names_[modules_[m].attribute];
    }

    /// Returns: the module that `parent` holds as `attribute`, or `no_id`.
    [[nodiscard]] id find_child(id parent, std::string_view attribute) const {
        const auto name = names_.find(attribute);
        return name == no_id ? no_id : children_.find(hash_mix(parent, name), [&](id m) {
            return modules_[m].parent == parent && modules_[m].attribute == name;
        });
    }

    /// Returns: the module that `parent` holds as `attribute`, new or known.
    id child(id parent, std::string_view attribute) {
        const auto name = names_.intern(attribute);
        const auto next = static_cast<id>(modules_.size());
        const auto found = children_.insert(hash_mix(parent, name), next, [&](id m) {
            return modules_[m].parent == parent && modules_[m].attribute == name;
        });
        return found == next ? add_module(parent, name) : found;
    }

    /// Returns: the module at a dotted path below `from`, made with its ancestors where missing.
    id at_path(std::string_view path, id from = 0) {
        if (path == ".") {
            return child(from, "");
        }
        // A dot at the end begins no segment.
        return trail_.follow(
            from, path.ends_with('.') ? path.substr(0, path.size() - 1) : path,
            [&](id parent, std::string_view attribute) { return child(parent, attribute); });
    }

    /// Replaces the attribute of the root.
    void set_root_name(std::string_view name) { modules_[0].attribute = names_.intern(name); }

    /// Replaces what was known of the class; "" for what is unknown.
    void set_class(id m, std::string_view class_name, std::string_view qualified_class) {
        modules_[m].class_name = names_.intern(class_name);
        modules_[m].qualified = names_.intern(qualified_class);
    }

    /// Whether `set_class` was called for `m`, be it with "".
    [[nodiscard]] bool has_class(id m) const noexcept { return modules_[m].class_name != no_id; }

    /// How often the module ran; `no_id` where unknown.
    void set_calls(id m, id calls) { modules_[m].calls = calls; }

    /// Returns: what `set_calls` said last, `no_id` before.
    [[nodiscard]] id calls(id m) const noexcept { return modules_[m].calls; }

    /// Adds to what `m` owns, behind what was added before; the text and shape of `tensor` are
    /// copied.
    void add_parameter(id m, const tensor_info& tensor) { add_tensor(m, tensor, false); }

    /// As `add_parameter`, of a tensor that is no parameter. `trainable` is kept as it is.
    void add_buffer(id m, const tensor_info& tensor) { add_tensor(m, tensor, true); }

    /// `m` is also reached by `path`, joined by dots from below the root.
    void add_alias(std::string path, id m) { aliases_.push_back({std::move(path), m}); }

    /// The parameters at these paths are one tensor.
    void add_shared_parameters(std::vector<std::string> paths) {
        shared_.push_back(std::move(paths));
    }

    /// Returns: the tree; children stand in the order in which they were added, or in which they
    /// stand in `siblings`, which then holds all modules but the root.
    /// Complexity: O(modules + tensors).
    [[nodiscard]] module_tree build(std::span<const id> siblings = {}) {
        const auto order = preorder(siblings);
        rank_.resize(modules_.size());
        for (id rank = 0; rank < order.size(); ++rank) {
            rank_[order[rank]] = rank;
        }
        module_tree tree;
        tree.names_ = names_;
        const auto nothing = tree.names_.intern("");
        const auto or_nothing = [&](id name) { return name == no_id ? nothing : name; };
        std::vector<id> parents;
        for (auto* column :
             {&parents, &tree.attribute_, &tree.class_, &tree.qualified_, &tree.calls_}) {
            column->clear();
            column->reserve(order.size());
        }
        tree.path_length_.clear();
        tree.children_ = {};
        for (auto m : order) {
            const auto& from = modules_[m];
            parents.push_back(from.parent == no_id ? no_id : rank_[from.parent]);
            tree.attribute_.push_back(from.attribute);
            tree.class_.push_back(or_nothing(from.class_name));
            tree.qualified_.push_back(or_nothing(from.qualified));
            tree.calls_.push_back(from.calls);
        }
        tree.index_ = tree_index(std::move(parents));
        place_tensors(tree);
        for (const auto& known : aliases_) {
            tree.aliases_.push_back({known.path, rank_[known.module]});
        }
        tree.shared_ = shared_;
        tree.fill_optional_columns();
        return tree;
    }

    /// Returns: where module `m` of the builder stands in the tree that `build` gave last.
    [[nodiscard]] id rank_of(id m) const noexcept { return rank_[m]; }

private:
    struct module_record {
        id parent = no_id;
        id attribute = no_id;
        id class_name = no_id;
        id qualified = no_id;
        id calls = no_id;
    };

    struct owned_tensor {
        id owner = no_id;
        module_tree::tensor_record tensor;
    };

    id add_module(id parent, id attribute) {
        module_record added;
        added.parent = parent;
        added.attribute = attribute;
        modules_.push_back(added);
        return static_cast<id>(modules_.size() - 1);
    }

    void add_tensor(id m, const tensor_info& tensor, bool is_buffer) {
        owned_tensor added;
        added.owner = m;
        added.tensor.name = names_.intern(tensor.name);
        added.tensor.dtype = names_.intern(tensor.dtype);
        added.tensor.first_extent = static_cast<std::uint32_t>(extents_.size());
        added.tensor.rank = static_cast<std::uint32_t>(tensor.shape.size());
        added.tensor.trainable = tensor.trainable;
        added.tensor.is_buffer = is_buffer;
        extents_.insert(extents_.end(), tensor.shape.begin(), tensor.shape.end());
        tensors_.push_back(added);
    }

    // Sibling lists by counting, then a walk with an explicit stack.
    [[nodiscard]] std::vector<id> preorder(std::span<const id> siblings) const {
        std::vector<id> next_sibling(modules_.size(), no_id);
        std::vector<id> first_child(modules_.size(), no_id);
        for (auto i = static_cast<id>(modules_.size() - 1); i-- > 0;) {
            const auto m = siblings.empty() ? i + 1 : siblings[i];
            next_sibling[m] = std::exchange(first_child[modules_[m].parent], m);
        }
        std::vector<id> order;
        order.reserve(modules_.size());
        std::vector<id> open{0};
        while (!open.empty()) {
            const auto m = open.back();
            open.pop_back();
            order.push_back(m);
            if (next_sibling[m] != no_id) {
                open.push_back(next_sibling[m]);
            }
            if (first_child[m] != no_id) {
                open.push_back(first_child[m]);
            }
        }
        return order;
    }

    void place_tensors(module_tree& tree) {
        auto sorted = tensors_;
        std::stable_sort(sorted.begin(), sorted.end(), [&](const auto& a, const auto& b) {
            return std::pair(rank_[a.owner], a.tensor.is_buffer) <
                   std::pair(rank_[b.owner], b.tensor.is_buffer);
        });
        tree.own_first_.assign(modules_.size() + 1, 0);
        for (const auto& owned : sorted) {
            ++tree.own_first_[rank_[owned.owner] + 1];
            tree.tensors_.push_back(owned.tensor);
        }
        for (std::size_t m = 0; m < modules_.size(); ++m) {
            tree.own_first_[m + 1] += tree.own_first_[m];
        }
        tree.extents_ = extents_;
    }

    string_pool names_;
    std::vector<module_record> modules_;
    std::vector<owned_tensor> tensors_;
    std::vector<std::int64_t> extents_;
    std::vector<module_tree::alias> aliases_;
    std::vector<std::vector<std::string>> shared_;
    std::vector<id> rank_;
    flat_index children_;
    path_trail trail_{'.'};
};

} // namespace stemma

#endif // STEMMA_MODEL_MODULE_TREE_BUILDER_HPP

// <stemma/evidence/detail/hierarchy_modules.hpp>
#ifndef STEMMA_EVIDENCE_DETAIL_HIERARCHY_MODULES_HPP
#define STEMMA_EVIDENCE_DETAIL_HIERARCHY_MODULES_HPP

namespace stemma {

/// Where the metadata of operators lead in a tree.
struct hierarchy_modules {
    /// Where a chain of modules ends.
    struct place {
        id module = no_id; ///< rank; `no_id` for a chain that does not start at the root
        bool exact = true; ///< else the tree lacks what lies below
    };

    std::vector<place> of_chain;      ///< by number of the chain in the hierarchy_table
    std::vector<id> of_body_operator; ///< by vertex index, for chains that do not start at the root
};

namespace detail {

/// Adds the modules of chains to a tree; those on a path that no chain ends in or passes never run.
inline void grow_hierarchies(const hierarchy_table& table, module_tree_builder& builder) {
    for (const auto& chain : table.chains) {
        if (!chain.from_root) {
            continue;
        }
        for (const auto& level : chain.levels) {
            const auto m = builder.at_path(level.path);
            if (!level.qualified_class.empty() && !builder.has_class(m)) {
                const auto dot = level.qualified_class.rfind('.');
                builder.set_class(m,
                                  std::string_view(level.qualified_class)
                                      .substr(dot == std::string::npos ? 0 : dot + 1),
                                  level.qualified_class);
            }
            if (builder.calls(m) == no_id || builder.calls(m) == 0) {
                builder.set_calls(m, 1);
            }
            for (auto above = builder.parent(m); above != no_id; above = builder.parent(above)) {
                if (builder.calls(above) == no_id) {
                    builder.set_calls(above, 0);
                }
            }
        }
    }
}

} // namespace detail

/// Finds the modules that the metadata of operators speak of.
///
/// A chain that starts inside (as the exporter writes in the branches of a condition) is looked for
/// below the module of the owner of the body, then further out; an operator there of which no
/// module is written is of the owner's. Complexity: O(chains * depth + operators in bodies *
/// depth).
template <operator_view Ops, module_view Modules>
[[nodiscard]] hierarchy_modules bind_hierarchies(const Ops& ops, const hierarchy_table& table,
                                                 const Modules& modules,
                                                 const path_mapping& mapping) {
    const module_lookup<Modules> lookup(modules);
    hierarchy_modules result;
    for (const auto& chain : table.chains) {
        hierarchy_modules::place place;
        if (chain.from_root) {
            const auto [module, rest] =
                find_longest(lookup, mapping.apply(chain.levels.back().path), mapping.base);
            place = {module, rest.empty()};
        }
        result.of_chain.push_back(place);
    }
    if (table.chain_of.empty()) {
        return result;
    }
    for (const auto& op : detail::operators_in_bodies(ops)) {
        const auto chain = table.chain_of[op.v];
        const bool bare =
            chain == no_id && std::binary_search(table.bare.begin(), table.bare.end(), op.v);
        if (!bare && (chain == no_id || table.chains[chain].from_root)) {
            continue;
        }
        const auto of_owner = table.chain_of[op.owner];
        auto around = of_owner == no_id ? no_id : result.of_chain[of_owner].module;
        if (around == no_id && !result.of_body_operator.empty()) {
            around = result.of_body_operator[op.owner];
        }
        if (bare) {
            if (around != no_id) {
                result.of_body_operator.resize(num_vertices(ops.graph()), no_id);
                result.of_body_operator[op.v] = around;
            }
            continue;
        }
        around = around == no_id ? 0 : around;
        auto module = find_module(lookup, table.chains[chain].levels.back().path, around);
        while (module == no_id && around != 0) {
            around = modules.index().parent(around);
            module = find_module(lookup, table.chains[chain].levels.back().path, around);
        }
        if (module != no_id) {
            result.of_body_operator.resize(num_vertices(ops.graph()), no_id);
            result.of_body_operator[op.v] = module;
        }
    }
    return result;
}

} // namespace stemma

#endif // STEMMA_EVIDENCE_DETAIL_HIERARCHY_MODULES_HPP

// <stemma/core/detail/pipeline.hpp>
#ifndef STEMMA_CORE_DETAIL_PIPELINE_HPP
#define STEMMA_CORE_DETAIL_PIPELINE_HPP

namespace stemma {

/// One of the steps that every item of a pipeline goes through.
struct pipeline_step {
    bool in_order = false; ///< one item at a time, lower numbers first; else several at once
    std::function<void(std::size_t item, std::size_t worker)> run; ///< does it
};

/// How items go through a pipeline.
struct pipeline_limits {
    std::size_t workers = 1;   ///< threads, this one included; 0 counts as 1
    std::size_t group = 1;     ///< items that a thread takes at once; 0 counts as 1
    std::size_t in_flight = 4; ///< groups for every worker that were begun and are not done
};

namespace detail {

/// The state of a pipeline that its workers share.
class pipeline_run {
public:
    pipeline_run(std::size_t count, const std::vector<pipeline_step>& steps,
                 const pipeline_limits& limits)
        : count_(count)
        , group_size_(std::max<std::size_t>(limits.group, 1))
        , groups_(count / group_size_ + (count % group_size_ != 0 ? 1 : 0))
        , steps_(steps)
        , open_(std::max<std::size_t>(limits.workers, 1) *
                std::max<std::size_t>(limits.in_flight, 1))
        , turn_(steps.size(), 0)
        , end_(groups_) {}

    /// Does what there is to do, until nothing is left.
    void work(std::size_t worker) {
        std::unique_lock lock(mutex_);
        while (done_ < end_) {
            const auto g = take();
            if (g == groups_) {
                changed_.wait(lock);
                continue;
            }
            auto& taken = open_[g % open_.size()];
            lock.unlock();
            run(taken, worker);
            lock.lock();
            finish(g, taken);
        }
        changed_.notify_all();
    }

    /// Throws what the item of the lowest number threw that did.
    void rethrow() const {
#if defined(__cpp_exceptions)
        if (thrown_) {
            std::rethrow_exception(thrown_);
        }
#endif
    }

private:
    struct group {
        std::size_t step = 0;
        std::size_t first = 0; // items
        std::size_t last = 0;  // behind the last one that did not fail
        bool busy = false;
        std::exception_ptr thrown{};
    };

    /// Returns: a group to work on, the oldest first, or `groups_`.
    [[nodiscard]] std::size_t take() {
        for (auto g = done_; g < std::min(begun_, end_); ++g) {
            auto& next = open_[g % open_.size()];
            if (!next.busy && (!steps_[next.step].in_order || turn_[next.step] == g)) {
                next.busy = true;
                return g;
            }
        }
        if (begun_ >= end_ || begun_ - done_ == open_.size() ||
            (steps_.front().in_order && turn_.front() != begun_)) {
            return groups_;
        }
        const auto first = begun_ * group_size_;
        open_[begun_ % open_.size()] = {0, first, std::min(count_, first + group_size_), true, {}};
        return begun_++;
    }

    void run(group& taken, std::size_t worker) const {
        auto item = taken.first;
#if defined(__cpp_exceptions)
        try {
#endif
            for (; item < taken.last; ++item) {
                steps_[taken.step].run(item, worker);
            }
#if defined(__cpp_exceptions)
        } catch (...) { // those before it go on
            taken.last = item;
            taken.thrown = std::current_exception();
        }
#endif
    }

    void finish(std::size_t g, group& taken) {
        turn_[taken.step] = g + 1; // of use in steps in order only
        if (taken.thrown && g < end_) {
            end_ = g + 1;
            thrown_ = taken.thrown;
        }
        taken.busy = ++taken.step == steps_.size();
        while (done_ < begun_ && open_[done_ % open_.size()].step == steps_.size()) {
            ++done_;
        }
        changed_.notify_all();
    }

    std::size_t count_;
    std::size_t group_size_;
    std::size_t groups_;
    const std::vector<pipeline_step>& steps_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<group> open_;       // groups in flight, by number modulo their count
    std::vector<std::size_t> turn_; // by step in order: the group that is next
    std::size_t begun_ = 0;         // groups that were begun
    std::size_t done_ = 0;          // groups before this one are through
    std::size_t end_;               // no group from this one on goes on
    std::exception_ptr thrown_;
};

} // namespace detail

/// Takes items 0, 1, ... through all steps, several at once. A step that is `in_order` sees them
/// one after the other, so what such steps do is the same for any number of workers; steps of one
/// item never overlap. With one worker everything happens in this thread, one group after the
/// other.
///
/// What a step throws ends the item: items before it still go through all steps, and in steps in
/// order that are behind, none after it does.
/// Throws: what the lowest item threw that did. Complexity: that of the steps.
inline void run_pipeline(std::size_t count, const std::vector<pipeline_step>& steps,
                         const pipeline_limits& limits = {}) {
    if (count == 0 || steps.empty()) {
        return;
    }
    detail::pipeline_run run(count, steps, limits);
    for_each_part(std::max<std::size_t>(limits.workers, 1),
                  [&](std::size_t worker) { run.work(worker); });
    run.rethrow();
}

/// Calls `f(item, worker)` for items 0, 1, ..., each by one of so many threads that is free: more
/// items than threads keep all at work where items do not take equally long.
/// Throws: what the lowest item threw that did. Complexity: that of `f`.
inline void for_each_item(std::size_t count, std::size_t workers,
                          const std::function<void(std::size_t item, std::size_t worker)>& f) {
    if (workers <= 1 || count == 1) {
        for (std::size_t item = 0; item < count; ++item) {
            f(item, 0);
        }
        return;
    }
    run_pipeline(count, {{false, f}}, {workers, 1, count});
}

} // namespace stemma

#endif // STEMMA_CORE_DETAIL_PIPELINE_HPP

// <stemma/core/detail/vertex_ranges.hpp>
#ifndef STEMMA_CORE_DETAIL_VERTEX_RANGES_HPP
#define STEMMA_CORE_DETAIL_VERTEX_RANGES_HPP

namespace stemma {

/// Returns: the first iterator and the last of range `part`, where the vertices of a graph are
/// divided into `count` ranges of about the same length, in the graph's order. Complexity: that of
/// moving an iterator so far.
template <vertex_list_graph G>
[[nodiscard]] auto vertex_range(const G& graph, std::size_t count, std::size_t part) {
    const auto size = static_cast<std::size_t>(num_vertices(graph));
    const auto begin = static_cast<std::ptrdiff_t>(range_begin(size, count, part));
    const auto end = static_cast<std::ptrdiff_t>(range_begin(size, count, part + 1));
    const auto first = std::next(vertices(graph).first, begin);
    return std::pair(first, std::next(first, end - begin));
}

/// Divides the vertices of a graph into `count` ranges of about the same length, in the graph's
/// order, and calls `f(part, first, last)` with the iterators of each, as `for_each_part` does.
///
/// Throws: what the call for the lowest part threw.
/// Complexity: that of `f`, and of moving an iterator to where each range begins.
template <vertex_list_graph G, class Function>
void for_each_vertex_range(const G& graph, std::size_t count, Function f) {
    for_each_part(count, [&](std::size_t part) {
        const auto [first, last] = vertex_range(graph, count, part);
        f(part, first, last);
    });
}

} // namespace stemma

#endif // STEMMA_CORE_DETAIL_VERTEX_RANGES_HPP

// <stemma/evidence/detail/scoped_name.hpp>
#ifndef STEMMA_EVIDENCE_DETAIL_SCOPED_NAME_HPP
#define STEMMA_EVIDENCE_DETAIL_SCOPED_NAME_HPP

namespace stemma {

/// How the names of operators carry scopes.
enum class scope_style : std::uint8_t {
    called,   ///< `/encoder/layer.0/Add_1`: instance names of the modules called, as torch exports
    relative, ///< `model/layers.0/Add_node_7`: attribute names relative to the parent, of builders
    typed,    ///< `app.Net::/app.Block::layer.0/Add`: instances with classes, as PyTorch keeps them
};

/// How many styles there are; as many scopes stand for their roots.
inline constexpr id scope_style_count = 3;

/// Returns: whether `text` is `stem`, or `stem` followed by `_` and a number.
[[nodiscard]] constexpr bool is_counted(std::string_view text, std::string_view stem) noexcept {
    if (!text.starts_with(stem)) {
        return false;
    }
    text.remove_prefix(stem.size());
    return text.empty() ||
           (text.size() > 1 && text.front() == '_' &&
            std::all_of(text.begin() + 1, text.end(), [](char c) { return c >= '0' && c <= '9'; }));
}

/// A name taken apart: where the scope ends, and in which style it is written.
struct scoped_name {
    std::string_view scope;                  ///< without the slashes around it; "" for the root
    scope_style style = scope_style::called; ///< which root it starts at
    bool exact = true; ///< written for this operator; else a trace of one that was replaced
};

namespace detail {

/// Removes `suffix` and a number behind it, `_token_12`; leaves other names as they are.
constexpr void drop_numbered(std::string_view& name, std::string_view suffix) noexcept {
    auto stem = name;
    while (!stem.empty() && stem.back() >= '0' && stem.back() <= '9') {
        stem.remove_suffix(1);
    }
    if (stem.size() < name.size() && stem.ends_with(suffix)) {
        name = stem.substr(0, stem.size() - suffix.size());
    }
}

/// Removes what runtimes and quantizers append to the name of an operator or a value that they
/// replace: `/MatMulAddFusion`, `_nchwc`, `_token_12`, `_output_0`.
constexpr void drop_tool_suffixes(std::string_view& name) noexcept {
    constexpr std::array<std::string_view, 2> layouts{"_nchwc", "_bn"};
    for (std::size_t before = 0; before != name.size();) {
        before = name.size();
        while (name.size() > 1 && name.back() == '/') {
            name.remove_suffix(1);
        }
        const auto slash = name.rfind('/');
        if (slash != name.npos && slash > 0 && name.ends_with("Fusion")) {
            name.remove_suffix(name.size() - slash);
        }
        drop_numbered(name, "_token_");
        for (const auto layout : layouts) {
            name.remove_suffix(name.ends_with(layout) ? layout.size() : 0);
        }
    }
    drop_numbered(name, "_output_");
}

/// Returns: the name of the operator whose gradient one computes, `/fc/Gemm` of
/// `/fc/Gemm_Grad/ReduceSum_2`; other names as they are.
[[nodiscard]] constexpr std::string_view differentiated(std::string_view name) noexcept {
    constexpr std::string_view gradient = "_Grad";
    for (auto at = name.find(gradient); at != name.npos; at = name.find(gradient, at + 1)) {
        const auto behind = name.substr(at + gradient.size());
        if (behind.empty() || behind.front() == '/' || behind.front() == '_') {
            return name.substr(0, at);
        }
    }
    return name;
}

/// Whether `text` begins with `stem`, in capitals or not: some write operators as `add`.
[[nodiscard]] constexpr bool starts_alike(std::string_view text, std::string_view stem) noexcept {
    const auto small = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    return text.size() >= stem.size() &&
           std::equal(stem.begin(), stem.end(), text.begin(),
                      [&](char a, char b) { return small(a) == small(b); });
}

/// Whether somebody joined the names of several operators to one: `a/Conv2D;a/BiasAdd`.
[[nodiscard]] constexpr bool is_joined(std::string_view name) noexcept {
    return !name.starts_with('/') && name.find(';') != name.npos;
}

} // namespace detail

/// Returns: the scope in an operator's name, if it has the form of a scoped name of such an
/// operator.
[[nodiscard]] constexpr std::optional<scoped_name>
split_scoped_name(std::string_view name, std::string_view op_type) noexcept {
    const auto slash = name.rfind('/');
    if (op_type.empty() || detail::is_joined(name) ||
        detail::differentiated(name).size() != name.size()) {
        return std::nullopt;
    }
    if (slash == name.npos) {
        // Builders leave the root's operators without any slash.
        const bool built = name.size() > op_type.size() && name.starts_with(op_type) &&
                           is_counted(name.substr(op_type.size()), "_node") && name.back() != 'e';
        return built ? std::optional(scoped_name{"", scope_style::relative, true}) : std::nullopt;
    }
    auto last = name.substr(slash + 1);
    if (name.substr(0, slash).find("::") != name.npos) {
        return is_counted(last, op_type)
                   ? std::optional(scoped_name{name.substr(0, slash), scope_style::typed, true})
                   : std::nullopt;
    }
    if (name.front() == '/') {
        if (!is_counted(last, op_type)) {
            return std::nullopt;
        }
        return scoped_name{name.substr(1, slash == 0 ? 0 : slash - 1), scope_style::called, true};
    }
    if (detail::starts_alike(last, op_type)) {
        last.remove_prefix(op_type.size());
        if (is_counted(last, "") || is_counted(last, "_") || is_counted(last, "_node")) {
            return scoped_name{name.substr(0, slash), scope_style::relative, true};
        }
    }
    return std::nullopt;
}

/// Returns: the scope of the operator whose name, or whose result's name, an optimizer left as part
/// of this one: `fused /layer1/conv1/Conv`, `/encoder/dense/MatMul/MatMulAddFusion`,
/// `/norm/Pow/LayerNormFusion/`, `/conv1/Conv_output_0_nchwc`, `_inlfunc_Gelu_/act/Mul`,
/// `/fc/MatMul_quant`.
/// Complexity: O(length).
[[nodiscard]] constexpr std::optional<scoped_name>
split_leftover_name(std::string_view name) noexcept {
    constexpr std::string_view inlined = "_inlfunc_";
    constexpr std::string_view fused = "fused ";
    if (name.starts_with(inlined)) {
        const auto original = name.find("_/");
        if (original == name.npos) {
            return std::nullopt;
        }
        name.remove_prefix(original + 1);
    }
    if (name.starts_with(fused)) {
        name.remove_prefix(fused.size());
    }
    name = detail::differentiated(name);
    detail::drop_tool_suffixes(name);
    if (detail::is_joined(name)) {
        return std::nullopt;
    }
    const auto slash = name.rfind('/');
    if (slash == name.npos || slash + 1 == name.size()) {
        return std::nullopt;
    }
    // Operators are written like classes, modules like variables.
    const char first = name[slash + 1];
    if (first < 'A' || first > 'Z') {
        return std::nullopt;
    }
    if (name.substr(0, slash).find("::") != name.npos) {
        return scoped_name{name.substr(0, slash), scope_style::typed, false};
    }
    return name.front() == '/'
               ? scoped_name{name.substr(1, slash == 0 ? 0 : slash - 1), scope_style::called, false}
               : scoped_name{name.substr(0, slash), scope_style::relative, false};
}

} // namespace stemma

#endif // STEMMA_EVIDENCE_DETAIL_SCOPED_NAME_HPP

// <stemma/evidence/detail/inlined_name.hpp>
#ifndef STEMMA_EVIDENCE_DETAIL_INLINED_NAME_HPP
#define STEMMA_EVIDENCE_DETAIL_INLINED_NAME_HPP

namespace stemma {

/// How a name begins that ONNX Runtime gave to what came out of a call of a function:
/// `_inlfunc_<function>_<name>`, from the second call on `_inlfunc_<function>_token_<k>_<name>`.
inline constexpr std::string_view inlined_prefix = "_inlfunc_";

/// Returns: the scope in the name that an operator had before the call around it was opened, where
/// the operators tell that (`inlined_name`); an empty one where they say that it cannot be told;
/// nothing for other operators. Complexity: O(length of names).
template <named_operators Ops>
[[nodiscard]] std::optional<std::optional<scoped_name>> find_inlined_scope(const Ops& ops,
                                                                           operator_t<Ops> v) {
    if constexpr (requires { ops.inlined_name(v); }) {
        const std::string_view name = ops.name(v);
        if (name.starts_with(inlined_prefix) ||
            (name.find('/') == name.npos && ops.result_name(v).starts_with(inlined_prefix))) {
            if (const auto before = ops.inlined_name(v)) {
                const auto found = split_scoped_name(*before, ops.op_type(v));
                return found ? found : split_leftover_name(*before);
            }
        }
    }
    return std::nullopt;
}

} // namespace stemma

#endif // STEMMA_EVIDENCE_DETAIL_INLINED_NAME_HPP

// <stemma/evidence/detail/find_scope.hpp>
#ifndef STEMMA_EVIDENCE_DETAIL_FIND_SCOPE_HPP
#define STEMMA_EVIDENCE_DETAIL_FIND_SCOPE_HPP

namespace stemma::detail {

/// What the names of an operator and of its first result say of where it is.
struct found_scope {
    std::optional<scoped_name> name; ///< of the operator
    std::optional<scoped_name> end;  ///< of its result, where that is another one: of an operator
                                     ///< that was joined with it
};

/// Returns: the name of an operator's first result, where it has the form of exporters that write
/// scopes: `/encoder/fc/Add_output_0`; else "".
template <named_operators Ops>
[[nodiscard]] std::string_view scoped_result(const Ops& ops, operator_t<Ops> v) {
    if constexpr (requires {
                      { ops.result_name(v) } -> std::convertible_to<std::string_view>;
                  }) {
        const std::string_view result = ops.result_name(v);
        return result.starts_with('/') && result.find("_output_") != result.npos ? result : "";
    } else {
        return {};
    }
}

/// Whether the result of an operator is called after that operator, or says nothing.
[[nodiscard]] inline bool is_own_result(std::string_view result, std::string_view name) noexcept {
    return !result.starts_with('/') ||
           (result.starts_with(name) && result.substr(name.size()).starts_with("_output_"));
}

template <named_operators Ops>
[[nodiscard]] bool is_own_result(const Ops& ops, operator_t<Ops> v, std::string_view name) {
    if constexpr (requires {
                      { ops.result_name(v) } -> std::convertible_to<std::string_view>;
                  }) {
        return is_own_result(ops.result_name(v), name);
    } else {
        return true;
    }
}

/// Returns: the scope in an operator's name; else in the name of its first result, which exporters
/// write as `<operator>_output_0`; else what an optimizer left of one.
template <named_operators Ops>
[[nodiscard]] found_scope find_scope(const Ops& ops, operator_t<Ops> v) {
    if constexpr (folded_operators<Ops>) {
        if (ops.is_folded(v)) {
            return {};
        }
    }
    const std::string_view name = ops.name(v);
    const std::string_view op_type = ops.op_type(v);
    if (const auto inlined = find_inlined_scope(ops, v)) {
        return {*inlined, std::nullopt};
    }
    const auto result = scoped_result(ops, v);
    found_scope found{split_scoped_name(name, op_type), std::nullopt};
    if constexpr (calling_operators<Ops>) {
        // The root of what is inside of a function is not that of the model.
        if (found.name && found.name->scope.empty() && found.name->style == scope_style::relative &&
            ops.enclosing_function(v) != no_id) {
            return {};
        }
    }
    if (is_own_result(result, name)) {
        if (!found.name && name.find('/') != name.npos) {
            found.name = split_leftover_name(name);
        }
        return found;
    }
    auto maker = result;
    drop_tool_suffixes(maker);
    auto end = split_scoped_name(maker, op_type);
    if (!found.name && end) {
        return {end, std::nullopt};
    }
    end = end ? end : split_leftover_name(result);
    if (!found.name && name.find('/') != name.npos) {
        found.name = split_leftover_name(name);
    }
    if (!found.name) {
        return {end, std::nullopt};
    }
    if (end && found.name->style == scope_style::called && found.name->scope != end->scope) {
        found.name->exact = false;
        found.end = end;
    }
    return found;
}

} // namespace stemma::detail

#endif // STEMMA_EVIDENCE_DETAIL_FIND_SCOPE_HPP

// <stemma/evidence/detail/scope_table.hpp>
#ifndef STEMMA_EVIDENCE_DETAIL_SCOPE_TABLE_HPP
#define STEMMA_EVIDENCE_DETAIL_SCOPE_TABLE_HPP

namespace stemma {

/// The distinct scopes in the names of operators: a tree whose edges are segments of names.
///
/// The first scopes are the roots, one for each style. A scope comes after the one around it, and
/// otherwise in the order in which operators are first found in or below it.
struct scope_table {
    /// One scope: its name in the scope around it.
    struct scope {
        std::string_view segment; ///< a part of some operator's name; valid as long as that
        std::uint64_t hash = 0;   ///< of the segment
        std::uint64_t kinds = 0;  ///< equal when the own operators have equal types, as a multiset,
                                  ///< but for constants
        id parent = no_id;        ///< number of the scope around; `no_id` for the roots
        id first_operator = no_id; ///< vertex index of the first operator of its own, by order
        id operators = 0;          ///< of its own
        scope_style style = scope_style::called; ///< that of its root

        /// Returns: the name of the instance: the segment without a class in front of it.
        [[nodiscard]] std::string_view instance() const noexcept {
            const auto colons = style == scope_style::typed ? segment.rfind("::") : segment.npos;
            return colons == segment.npos ? segment : segment.substr(colons + 2);
        }
        /// Returns: the class in front of the name, "" where there is none.
        [[nodiscard]] std::string_view qualified_class() const noexcept {
            const auto colons = style == scope_style::typed ? segment.rfind("::") : segment.npos;
            return colons == segment.npos ? std::string_view{} : segment.substr(0, colons);
        }
    };

    std::vector<scope> scopes; ///< the roots, then every scope behind the one around it
    std::vector<id> scope_of;  ///< by vertex index; `no_id` for a name without a scope
    std::vector<id> leftover;  ///< operators whose scope is that of one they replaced, ascending
    std::vector<std::pair<id, id>> ends; ///< those that were joined with others behind them, and
                                         ///< the scope in which the last of these was; ascending
    std::vector<finding> problems;       ///< names that cannot be read (at most so many)

    /// Returns: the number of a scope, or `no_id`. Complexity: O(length) on average.
    [[nodiscard]] id find(id parent, std::string_view segment) const {
        return index_.find(hash_mix(hash_bytes(segment), parent), [&](id s) {
            return scopes[s].parent == parent && scopes[s].segment == segment;
        });
    }

    /// Returns: the number of a scope, new or known. Requires: `segment` stays as long as the
    /// table.
    id find_or_add(id parent, std::string_view segment) {
        return find_or_add(parent, segment, hash_bytes(segment));
    }

    /// As above, of a segment with the hash that it has in another table.
    id find_or_add(id parent, std::string_view segment, std::uint64_t hash) {
        const auto next = static_cast<id>(scopes.size());
        const auto found = index_.insert(hash_mix(hash, parent), next, [&](id s) {
            return scopes[s].parent == parent && scopes[s].segment == segment;
        });
        if (found == next) {
            scopes.push_back({segment, hash, 0, parent, no_id, 0, scopes[parent].style});
        }
        return found;
    }

    /// Asks the processor to load what `find_or_add` will need.
    void prefetch(id parent, std::uint64_t hash) const noexcept {
        index_.prefetch(hash_mix(hash, parent));
    }

private:
    flat_index index_;
};

namespace detail {

/// Returns: what keeps a scope from being read, or null. No model has so many levels, or such long
/// names, and they would cost their square; and no module has an empty name.
[[nodiscard]] constexpr const char* find_scope_problem(const scoped_name& name) noexcept {
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
    if (has_empty_part(text) || text.find("/.") != text.npos || text.find("./") != text.npos) {
        return "the scope in the name has an empty level";
    }
    if (name.style == scope_style::typed) {
        // A `/` in a class cannot be told from one between levels.
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

/// Returns: a table of the roots.
[[nodiscard]] inline scope_table make_scope_table() {
    scope_table table;
    table.scopes.resize(scope_style_count);
    for (id root = 0; root < scope_style_count; ++root) {
        table.scopes[root].style = static_cast<scope_style>(root);
    }
    return table;
}

/// What is to be known of types of operators. Mostly those of a type share its text, which is then
/// looked at once, so long as no other takes its place in a small table.
class type_facts {
public:
    struct fact {
        std::string_view type;
        std::uint64_t hash = 0;
        bool may_be_counted = false; ///< that it is in the last part of a name
    };

    /// Valid until the next one. Requires: types stay as they are.
    [[nodiscard]] const fact& of(std::string_view type) {
        const auto place = std::hash<const void*>{}(type.data());
        auto& known = known_[(place ^ place >> 6U) % known_.size()];
        if (known.type.data() != type.data() || known.type.size() != type.size()) {
            known = look_at(type);
        }
        return known;
    }

private:
    [[nodiscard]] static fact look_at(std::string_view type) {
        // How many constants there are depends on what else an exporter has already written.
        return {type, type == "Constant" ? 0 : hash_bytes(type),
                !type.empty() && type.find('/') == type.npos};
    }

    std::array<fact, 64> known_ = [] {
        std::array<fact, 64> known;
        known.fill(look_at({}));
        return known;
    }();
};

/// Whether an operator is in the scope of one before, whose name begins with `around`: that is true
/// of most, and taking their names apart takes longer than comparing them.
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

/// Adds the scopes of some operators to a table, and notes them in `scope_of`.
template <named_operators Ops, class Iterator>
void collect_scopes(const Ops& ops, Iterator it, Iterator last, std::vector<id>& scope_of,
                    scope_table& table) {
    const auto& graph = ops.graph();
    path_trail trail('/');
    type_facts types;
    std::string_view around; // the last name that was in a scope, up to what it is called there
    id before = no_id;       // that scope
    const auto count = [&](id v, id in, std::uint64_t kind) {
        auto& scope = table.scopes[in];
        scope_of[v] = in;
        scope.first_operator = scope.operators == 0 ? v : scope.first_operator;
        ++scope.operators;
        scope.kinds += kind;
    };
    for (; it != last; ++it) {
        const auto v = static_cast<id>(index_of(graph, *it));
        const auto& kind = types.of(ops.op_type(*it));
        if (is_beside(ops, *it, around, kind)) {
            count(v, before, kind.hash);
            continue;
        }
        const auto [found, end] = find_scope(ops, *it);
        if (!found) {
            continue;
        }
        const char* problem = find_scope_problem(*found);
        problem = problem == nullptr && end ? find_scope_problem(*end) : problem;
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
        const auto in = follow(*found);
        if (!found->exact) {
            scope_of[v] = in;
            table.leftover.push_back(v);
            if (end) {
                table.ends.emplace_back(v, follow(*end));
            }
            continue;
        }
        count(v, in, kind.hash);
        // Of the name itself rather than that of a result, whose style the operators beside share.
        const std::string_view name = ops.name(*it);
        const std::size_t begin = found->style == scope_style::called ? 1 : 0;
        if (found->style != scope_style::relative && name.size() > begin &&
            found->scope.data() == name.data() + begin) {
            around = name.substr(0, begin + found->scope.size() + (found->scope.empty() ? 0 : 1));
            before = in;
        }
    }
}

/// Adds the scopes of operators behind those of a table.
/// Returns: by scope of `part`, its number in `whole`.
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
    for (const auto& [v, scope] : part.ends) {
        whole.ends.emplace_back(v, number[scope]);
    }
    const auto room = max_scope_problems - whole.problems.size();
    whole.problems.insert(whole.problems.end(), part.problems.begin(),
                          part.problems.begin() +
                              static_cast<std::ptrdiff_t>(std::min(room, part.problems.size())));
    return number;
}

} // namespace detail

/// Collects the scopes in the names of all operators.
///
/// Requires: names outlive the table; several threads may read `ops` at once, if so many are given.
/// Complexity: O(bytes of names); a look-up only for segments that the previous name did not share.
template <named_operators Ops>
[[nodiscard]] scope_table collect_scopes(const Ops& ops, thread_limit threads = {}) {
    const auto& graph = ops.graph();
    const auto size = static_cast<std::size_t>(num_vertices(graph));
    const auto workers = threads.parts_of_operators(size);
    const auto count = workers == 1 ? 1 : workers * 4; // as not all take as long
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
        // What was taken over goes at once, and makes room for what comes.
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
    std::sort(table.ends.begin(), table.ends.end());
    return table;
}

} // namespace stemma

#endif // STEMMA_EVIDENCE_DETAIL_SCOPE_TABLE_HPP

// <stemma/model/detail/class_path_namer.hpp>
#ifndef STEMMA_MODEL_DETAIL_CLASS_PATH_NAMER_HPP
#define STEMMA_MODEL_DETAIL_CLASS_PATH_NAMER_HPP

namespace stemma::detail {

/// Characters that have a meaning in a tag, and are written behind a `\`.
class special_characters {
public:
    constexpr explicit special_characters(std::string_view all) {
        for (char c : all) {
            is_special_[static_cast<unsigned char>(c)] = true;
        }
    }

    /// Appends a name with a `\` before each of them.
    void append_escaped(std::string_view name, std::string& out) const {
        if (!are_in(name)) {
            out.append(name);
            return;
        }
        for (char c : name) {
            if (is_special(c)) {
                out.push_back('\\');
            }
            out.push_back(c);
        }
    }

    /// Returns: the name with a `\` before each of them, which is `name` or stands in `text`.
    [[nodiscard]] std::string_view escaped(std::string_view name, std::string& text) const {
        if (!are_in(name)) {
            return name;
        }
        text.clear();
        append_escaped(name, text);
        return text;
    }

private:
    [[nodiscard]] bool is_special(char c) const noexcept {
        return is_special_[static_cast<unsigned char>(c)];
    }

    [[nodiscard]] bool are_in(std::string_view name) const noexcept {
        return std::any_of(name.begin(), name.end(), [&](char c) { return is_special(c); });
    }

    std::array<bool, 256> is_special_{};
};

/// Writes the attribute names on the way down to a module, joined by dots.
template <class Modules>
class name_path {
public:
    name_path(const Modules& modules, const special_characters& special)
        : modules_(modules), special_(special) {}

    /// Returns: the names from below `above` down to `m`; valid until the next call.
    [[nodiscard]] std::string_view operator()(id above, id m) {
        if (modules_.index().parent(m) == above) {
            return special_.escaped(modules_.attribute(m), text_);
        }
        text_.clear();
        append(above, m, text_);
        return text_;
    }

    /// Appends them; where there are more than `most`, the last.
    void append(id above, id m, std::string& out, std::size_t most = no_id) {
        names_.clear();
        for (auto at = m; at != above && names_.size() < most; at = modules_.index().parent(at)) {
            names_.push_back(modules_.attribute(at));
        }
        for (auto i = names_.size(); i-- > 0;) {
            special_.append_escaped(names_[i], out);
            if (i > 0) {
                out.push_back('.');
            }
        }
    }

private:
    const Modules& modules_;
    special_characters special_;
    std::vector<std::string_view> names_;
    std::string text_;
};

/// Gives every selected module its segment, as `class_paths` describes it.
template <class Modules>
class class_path_namer {
public:
    class_path_namer(const Modules& modules, tag_table& tags, std::size_t max_names)
        : modules_(modules)
        , tree_(modules.index())
        , tags_(tags)
        , max_names_(max_names)
        , path_(modules, special_) {}

    void run() {
        print_classes();
        write_segment(0, 0);
        const auto below = sort_modules();
        for (std::size_t above = 0; above < below.size(); ++above) {
            name_groups(below[above]);
        }
        if (has_numbers_) {
            part_unknown();
        }
    }

private:
    // So many modules are compared each with each, which is faster than a table.
    static constexpr std::size_t few = 8;

    // A member's names from itself upwards, and a running hash of the last k of them.
    struct suffix {
        id module = no_id;
        id next = no_id; // the module whose name comes next, or the ancestor where names end
        std::uint64_t hash = 0;
    };

    [[nodiscard]] bool is_unknown(id m) const {
        const std::string_view class_name = modules_.class_name(m);
        return class_name.empty();
    }

    void print_classes() {
        printed_.resize(tree_.size(), no_id);
        for (id m = 0; m < tree_.size(); ++m) {
            if (!tags_.is_selected(m)) {
                continue;
            }
            const std::string_view known = modules_.class_name(m);
            printed_[m] =
                classes_.intern(known.empty() ? name_run(m) : special_.escaped(known, text_));
        }
    }

    // From the last name that is no number to the module's own, so many at most: `layer.0`.
    [[nodiscard]] std::string_view name_run(id m) {
        auto first = m;
        for (std::size_t names = 1; names < max_names_ && first != 0 && tree_.parent(first) != 0 &&
                                    is_number(modules_.attribute(first));
             ++names) {
            first = tree_.parent(first);
        }
        has_numbers_ = has_numbers_ || (m != 0 && is_number(modules_.attribute(m)));
        const auto run = path_(tree_.parent(first), m);
        return m == 0 && run.empty() ? "model" : run;
    }

    /// Returns: the selected modules by what is above them, those that print alike side by side.
    [[nodiscard]] grouped_ids sort_modules() const {
        const grouped_ids by_class(classes_.size(), [&](auto take) {
            for (id m = 1; m < tree_.size(); ++m) {
                if (printed_[m] != no_id) {
                    take(printed_[m], m);
                }
            }
        });
        return {tree_.size(), [&](auto take) {
                    for (auto m : by_class.range(0, by_class.size())) {
                        take(tags_.above(m), m);
                    }
                }};
    }

    void name_groups(std::span<const id> modules) {
        for (std::size_t first = 0, last = 0; first < modules.size(); first = last) {
            const auto printed = printed_[modules[first]];
            while (last < modules.size() && printed_[modules[last]] == printed) {
                ++last;
            }
            name_group(modules.subspan(first, last - first));
        }
    }

    void name_group(std::span<const id> group) {
        if (group.size() == 1) {
            const auto m = group.front();
            const bool number = !is_unknown(m) && is_number(modules_.attribute(m));
            write_segment(m, number ? 1 : 0);
            return;
        }
        suffixes_.clear();
        for (auto m : group) {
            suffixes_.push_back({m, m, 0});
        }
        for (std::size_t k = 1; k <= max_names_; ++k) {
            for (auto& s : suffixes_) {
                extend(s);
            }
            if (all_differ(k)) {
                for (auto m : group) {
                    write_segment(m, k);
                }
                return;
            }
        }
        write_ordinals(group);
    }

    void extend(suffix& s) const {
        if (s.next != tags_.above(s.module)) {
            s.hash = hash_mix(s.hash, hash_bytes(modules_.attribute(s.next)));
            s.next = tree_.parent(s.next);
        }
    }

    /// Whether the last `k` names tell the modules apart. Complexity: O(modules) expected.
    [[nodiscard]] bool all_differ(std::size_t k) const {
        const auto are_equal = [&](const suffix& a, const suffix& b) {
            return a.hash == b.hash && compare_names(a.module, b.module, k) == 0;
        };
        if (suffixes_.size() <= few) {
            for (auto s = suffixes_.begin(); s != suffixes_.end(); ++s) {
                if (std::any_of(suffixes_.begin(), s,
                                [&](const auto& other) { return are_equal(*s, other); })) {
                    return false;
                }
            }
            return true;
        }
        flat_index seen(suffixes_.size());
        for (id i = 0; i < suffixes_.size(); ++i) {
            const auto found = seen.insert(suffixes_[i].hash, i, [&](id other) {
                return are_equal(suffixes_[i], suffixes_[other]);
            });
            if (found != i) {
                return false;
            }
        }
        return true;
    }

    /// Compares the last `k` names of two modules below the same selected one, last name first.
    [[nodiscard]] int compare_names(id a, id b, std::size_t k) const {
        const auto end = tags_.above(a);
        for (; k > 0 && a != end && b != end; --k) {
            const std::string_view name_a = modules_.attribute(a);
            const std::string_view name_b = modules_.attribute(b);
            if (name_a != name_b) {
                return name_a < name_b ? -1 : 1;
            }
            a = tree_.parent(a);
            b = tree_.parent(b);
        }
        return k == 0 ? 0 : static_cast<int>(a != end) - static_cast<int>(b != end);
    }

    void write_segment(id m, std::size_t k) {
        text_ = classes_[printed_[m]];
        if (k > 0) {
            text_.push_back('.');
            path_.append(tags_.above(m), m, text_, k);
        }
        tags_.set_segment(m, text_);
    }

    void write_ordinals(std::span<const id> group) {
        std::vector<id> sorted(group.begin(), group.end());
        std::sort(sorted.begin(), sorted.end(), [&](id a, id b) {
            return compare_names(a, b, static_cast<std::size_t>(-1)) < 0;
        });
        for (std::size_t i = 0; i < sorted.size(); ++i) {
            std::string segment(classes_[printed_[sorted[i]]]);
            tags_.set_segment(sorted[i], segment.append("#").append(std::to_string(i)));
        }
    }

    // Names that stand for unknown classes hold dots: `layer.0` can also be a class `layer` told
    // apart as `.0`, or the end of another run of names. No name holds a `#` that is not escaped.
    // Without a dot they are just what was printed, and groups have told these apart.
    void part_unknown() {
        flat_index known;
        std::vector<id> equal;
        for (id m = 1; m < tree_.size(); ++m) {
            if (tags_.is_selected(m) && tags_.segment(m).find('.') != std::string_view::npos) {
                const auto found =
                    known.insert(hash_bytes(tags_.segment(m), tags_.above(m)), m, [&](id other) {
                        return tags_.above(other) == tags_.above(m) &&
                               tags_.segment(other) == tags_.segment(m);
                    });
                if (found != m) {
                    equal.insert(equal.end(), {found, m});
                }
            }
        }
        std::sort(equal.begin(), equal.end());
        equal.erase(std::unique(equal.begin(), equal.end()), equal.end());
        std::sort(equal.begin(), equal.end(), [&](id a, id b) { return stands_before(a, b); });
        std::size_t number = 0;
        std::string before;
        for (std::size_t i = 0; i < equal.size(); ++i) {
            const auto m = equal[i];
            const std::string segment(tags_.segment(m));
            if (i == 0 || segment != before || tags_.above(m) != tags_.above(equal[i - 1])) {
                number = 0;
                before = segment;
            }
            if (is_unknown(m)) {
                tags_.set_segment(m, segment + "##" + std::to_string(number++));
            }
        }
    }

    // By selected module above, segment and names, last name first.
    [[nodiscard]] bool stands_before(id a, id b) const {
        if (tags_.above(a) != tags_.above(b)) {
            return tags_.above(a) < tags_.above(b);
        }
        const auto how = tags_.segment(a).compare(tags_.segment(b));
        return how != 0 ? how < 0 : compare_names(a, b, static_cast<std::size_t>(-1)) < 0;
    }

    const Modules& modules_;
    const tree_index& tree_;
    tag_table& tags_;
    std::size_t max_names_;
    special_characters special_{"\\/.#"};
    name_path<Modules> path_;
    string_pool classes_;
    std::vector<id> printed_;      // by module, the number of its class as it is written
    bool has_numbers_ = false;     // as names that stand for unknown classes
    std::vector<suffix> suffixes_; // of one group
    std::string text_;
};

} // namespace stemma::detail

#endif // STEMMA_MODEL_DETAIL_CLASS_PATH_NAMER_HPP

// <stemma/evidence/detail/merged_parameters.hpp>
#ifndef STEMMA_EVIDENCE_DETAIL_MERGED_PARAMETERS_HPP
#define STEMMA_EVIDENCE_DETAIL_MERGED_PARAMETERS_HPP

namespace stemma {

namespace detail {

/// Returns: the instances of a scope and those around it as one path. A Sequential repeats itself
/// in its children: below `layer1` the instance `layer1.0` is `0`.
[[nodiscard]] inline std::string path_of_scope(const scope_table& table, id s) {
    std::vector<std::string_view> instances;
    for (; s >= scope_style_count; s = table.scopes[s].parent) {
        instances.push_back(table.scopes[s].instance());
    }
    std::string path;
    std::string_view around;
    for (auto it = instances.rbegin(); it != instances.rend(); ++it) {
        const bool repeats = !around.empty() && it->size() > around.size() &&
                             it->starts_with(around) && (*it)[around.size()] == '.';
        path.append(path.empty() ? "" : ".").append(it->substr(repeats ? around.size() + 1 : 0));
        around = *it;
    }
    return path;
}

/// How the path of a scope lies to that of a module.
struct path_comparison {
    bool is_above = false;  ///< the scope's is that of the module, or of one above it
    std::size_t member = 0; ///< where they are equal but for numbers: the length of the scope's up
                            ///< to the first number that differs; else 0
    std::size_t length = 0; ///< how much of the module's is beside the scope's
};

[[nodiscard]] inline path_comparison compare_paths(std::string_view scope,
                                                   std::string_view module) noexcept {
    path_comparison result;
    std::size_t beside = 0;
    for (std::size_t at = 0; at <= scope.size();) {
        const auto part = scope.substr(at, scope.find('.', at) - at);
        const auto other = module.substr(std::min(beside, module.size()));
        const auto other_part = other.substr(0, other.find('.'));
        const bool both_numbers = is_number(part) && is_number(other_part);
        if (other_part.empty() || (part != other_part && !both_numbers)) {
            return {};
        }
        at += part.size() + 1;
        beside += other_part.size() + 1;
        if (part != other_part && result.member == 0) {
            result.member = at - 1;
        }
    }
    result.is_above = result.member == 0;
    result.length = beside - 1;
    return result;
}

/// A parameter and an operator that reads it.
template <operator_view Ops>
struct parameter_read {
    id parameter = no_id;
    operator_t<Ops> reader;
};

/// Of parameters that several operators read, leaves those marked that are one number over and
/// over, unless another beside their owner is read as often, by operators of one type.
template <named_operators Ops>
void keep_untrained(const Ops& ops, const std::vector<parameter_read<Ops>>& reads,
                    std::vector<bool>& marked) {
    if constexpr (valued_parameters<Ops>) {
        struct readers {
            std::size_t count = 0;
            std::string_view type;
            bool alike = true;
        };
        std::map<id, readers> readers_of;
        for (const auto& [p, v] : reads) {
            auto& known = readers_of[p];
            const std::string_view type = ops.op_type(v);
            known.alike = known.alike && (known.count == 0 || known.type == type);
            known.type = type;
            ++known.count;
        }
        const auto place = [&](id p, const readers& known) {
            const auto owner = owner_path(ops.parameter_name(p));
            const auto dot = owner.rfind('.');
            return std::pair(owner.substr(0, dot == owner.npos ? 0 : dot), known.count);
        };
        ops.keep_uniform(marked);
        std::set<std::pair<std::string_view, std::size_t>> trained;
        for (const auto& [p, known] : readers_of) {
            if (!marked[p] && known.alike) {
                trained.insert(place(p, known));
            }
        }
        for (const auto& [p, known] : readers_of) {
            marked[p] = marked[p] && !trained.contains(place(p, known));
        }
    } else {
        marked.assign(marked.size(), false);
    }
}

/// Marks vectors that more operators read than another parameter of their owner: a module that runs
/// reads all that it has, so the others read what was equal in modules of their own.
template <named_operators Ops>
void mark_outnumbered(const Ops& ops, const std::vector<parameter_read<Ops>>& reads,
                      const std::vector<bool>& is_read, std::vector<bool>& merged) {
    if constexpr (sized_parameters<Ops>) {
        std::map<id, std::size_t> several;
        for (const auto& [p, v] : reads) {
            ++several[p];
        }
        std::vector<bool> weights(is_read.size(), false);
        std::set<std::string_view> owners;
        for (const auto& [p, count] : several) {
            weights[p] = true;
            owners.insert(owner_path(ops.parameter_name(p)));
        }
        ops.keep_matrices(weights);
        std::map<std::string_view, std::size_t> fewest; // by owner
        for (id p = 0; p < is_read.size(); ++p) {
            const auto owner = owner_path(ops.parameter_name(p));
            if (is_read[p] && !owner.empty() && owners.contains(owner)) {
                const auto known = several.find(p);
                auto& least = fewest.try_emplace(owner, no_id).first->second;
                least = std::min(least, known == several.end() ? 1 : known->second);
            }
        }
        for (const auto& [p, count] : several) {
            const auto owner = fewest.find(owner_path(ops.parameter_name(p)));
            merged[p] =
                merged[p] || (!weights[p] && owner != fewest.end() && count > owner->second);
        }
    }
}

/// Marks vectors that operators read in several ways where one way is all that a module has for
/// such a vector: the bias of a product, the scale of a normalization.
template <named_operators Ops>
void mark_of_several_kinds(const Ops& ops, const std::vector<parameter_read<Ops>>& reads,
                           std::vector<bool>& merged) {
    if constexpr (sized_parameters<Ops>) {
        constexpr std::array<std::string_view, 9> kinds{"BatchNormalization",
                                                        "Conv",
                                                        "ConvTranspose",
                                                        "FusedConv",
                                                        "Gemm",
                                                        "GroupNormalization",
                                                        "InstanceNormalization",
                                                        "LayerNormalization",
                                                        "SkipLayerNormalization"};
        std::vector<bool> weights(merged.size(), true);
        ops.keep_matrices(weights);
        struct seen {
            std::string_view type;
            bool of_kind = false;
            bool several = false;
        };
        std::map<id, seen> types;
        for (const auto& [p, v] : reads) {
            if (weights[p]) {
                continue;
            }
            const std::string_view type = ops.op_type(v);
            auto& known = types.try_emplace(p, seen{type}).first->second;
            known.several = known.several || known.type != type;
            known.of_kind =
                known.of_kind || std::find(kinds.begin(), kinds.end(), type) != kinds.end();
        }
        for (const auto& [p, known] : types) {
            merged[p] = merged[p] || (known.several && known.of_kind);
        }
    }
}

/// Finds parameters that stand for those of other members of a list too, as scopes show.
template <parameter_readers Ops, module_view Modules>
class merged_members {
public:
    merged_members(const Ops& ops, const scope_table& scopes, const Modules& modules)
        : ops_(&ops)
        , scopes_(&scopes)
        , lookup_(modules)
        , read_at_home_(static_cast<std::size_t>(ops.parameter_count())) {}

    /// Looks at a parameter that is read in a scope.
    void add(id parameter, id scope) {
        const std::string_view name = ops_->parameter_name(parameter);
        const auto owner = owner_path(name);
        if (owner.empty() || scope == no_id || scope < scope_style_count) {
            return;
        }
        const auto path = path_of_scope(*scopes_, scope);
        const auto compared = compare_paths(path, owner);
        const auto member = std::string_view(path).substr(0, compared.member);
        if (compared.is_above) {
            read_at_home_[parameter] = true;
        } else if (!member.empty() && find_module(lookup_, path) != no_id) {
            of_known_.emplace(path + std::string(name.substr(compared.length)), parameter);
        } else if (!member.empty() && find_module(lookup_, member) == no_id) {
            of_unknown_[std::string(member)].emplace_back(owner, parameter);
        }
    }

    /// Marks what a module reads that is known itself and lacks the like; and of a member that is
    /// not known, what it shares with another where that is several modules: a single one is rather
    /// held by both.
    void mark(std::vector<bool>& merged) {
        for (id p = 0; p < merged.size() && !of_known_.empty(); ++p) {
            of_known_.erase(std::string(ops_->parameter_name(p)));
        }
        const auto found = [&](id p) { merged[p] = merged[p] || read_at_home_[p]; };
        for (const auto& [name, parameter] : of_known_) {
            found(parameter);
        }
        for (const auto& [member, reads] : of_unknown_) {
            const auto& first = reads.front().first;
            if (std::any_of(reads.begin(), reads.end(),
                            [&](const auto& read) { return read.first != first; })) {
                std::for_each(reads.begin(), reads.end(),
                              [&](const auto& read) { found(read.second); });
            }
        }
    }

private:
    const Ops* ops_;
    const scope_table* scopes_;
    module_lookup<Modules> lookup_;
    std::vector<bool> read_at_home_;          // by parameter: in a scope of its owner
    std::multimap<std::string, id> of_known_; // by what the parameter would be called there
    std::map<std::string, std::vector<std::pair<std::string_view, id>>> of_unknown_; // by member
};

} // namespace detail

/// Returns: by parameter, whether it stands for others too, whose names are lost, so that its own
/// name tells little of who reads it.
///
/// Optimizers and exporters keep one of several equal initializers. Those that were never trained
/// are equal in many modules: all ones, all zeros. They stand for others unless a trained parameter
/// beside their owner is read as often: then the modules there ran so often. So does a vector that
/// is read more often than what else its owner has. Layers that were made as copies are equal as a
/// whole: then scopes speak of members of a list that own nothing. Complexity: O(operators + what
/// they read); of parameters that several operators read, O(data) and O(readers * depth).
template <named_operators Ops, module_view Modules>
    requires parameter_readers<Ops>
[[nodiscard]] std::vector<bool> find_merged_parameters(const Ops& ops, const scope_table& scopes,
                                                       const Modules& modules) {
    const auto& graph = ops.graph();
    std::vector<operator_t<Ops>> last_reader(ops.parameter_count());
    std::vector<bool> is_read(last_reader.size());
    std::vector<bool> merged(last_reader.size());
    std::vector<detail::parameter_read<Ops>> reads; // of those that several operators read
    for (auto [it, last] = vertices(graph); it != last; ++it) {
        const operator_t<Ops> v = *it;
        ops.for_each_parameter(v, [&](id p) {
            if (is_read[p] && index_of(graph, last_reader[p]) != index_of(graph, v)) {
                if (!merged[p]) {
                    merged[p] = true;
                    reads.push_back({p, last_reader[p]});
                }
                reads.push_back({p, v});
            }
            is_read[p] = true;
            last_reader[p] = v;
        });
    }
    if (!reads.empty()) {
        detail::keep_untrained(ops, reads, merged);
        detail::mark_outnumbered(ops, reads, is_read, merged);
        detail::mark_of_several_kinds(ops, reads, merged);
        detail::merged_members members(ops, scopes, modules);
        for (const auto& [p, v] : reads) {
            members.add(p, scopes.scope_of[index_of(graph, v)]);
        }
        members.mark(merged);
    }
    return merged;
}

} // namespace stemma

#endif // STEMMA_EVIDENCE_DETAIL_MERGED_PARAMETERS_HPP

// <stemma/evidence/detail/hidden_levels.hpp>
#ifndef STEMMA_EVIDENCE_DETAIL_HIDDEN_LEVELS_HPP
#define STEMMA_EVIDENCE_DETAIL_HIDDEN_LEVELS_HPP

namespace stemma::detail {

/// The levels that scopes leave out, since nobody calls those modules, as members of lists show
/// them for each other: where parameters tell that `att` in `block.0` is `block.0.layer.0.att`, it
/// is `block.1.layer.0.att` in `block.1`.
class hidden_levels {
public:
    /// Requires: `builder` outlives the object.
    explicit hidden_levels(const module_tree_builder& builder) : builder_(&builder) {}

    /// Notes that `segment` in the scope of module `around` means `module`. Requires: `segment`
    /// stays as long as this. Complexity: O(length of the path + log(what is noted)).
    void note(id around, std::string_view segment, id module) {
        if (!is_member(around) || builder_->parent(module) == around) {
            return; // of a child nothing is left out
        }
        std::vector<id> way;
        for (auto m = module; m != around; m = builder_->parent(m)) {
            if (m == 0) {
                return;
            }
            way.push_back(m);
        }
        std::string path;
        for (auto it = way.rbegin(); it != way.rend(); ++it) {
            path.append(path.empty() ? "" : ".").append(builder_->attribute(*it));
        }
        if (path.size() > segment.size()) {
            paths_.try_emplace({builder_->parent(around), segment}, std::move(path));
        }
    }

    /// Whether some scope leaves out levels.
    [[nodiscard]] bool any_noted() const noexcept { return !paths_.empty(); }

    /// Returns: the path below `around` that `segment` has in another member of the list, if this
    /// one begins alike; else "". Valid until the next `note`. Complexity: O(log(what is noted)).
    [[nodiscard]] std::string_view find(id around, std::string_view segment) const {
        if (!is_member(around)) {
            return {};
        }
        const auto found = paths_.find({builder_->parent(around), segment});
        if (found == paths_.end()) {
            return {};
        }
        const std::string_view path = found->second;
        const auto first = path.substr(0, path.find('.'));
        return builder_->find_child(around, first) == no_id ? std::string_view{} : path;
    }

private:
    [[nodiscard]] bool is_member(id m) const { return m != 0 && is_number(builder_->attribute(m)); }

    const module_tree_builder* builder_;
    std::map<std::pair<id, std::string_view>, std::string> paths_; // by list, segment
};

} // namespace stemma::detail

#endif // STEMMA_EVIDENCE_DETAIL_HIDDEN_LEVELS_HPP

// <stemma/evidence/detail/path_below.hpp>
#ifndef STEMMA_EVIDENCE_DETAIL_PATH_BELOW_HPP
#define STEMMA_EVIDENCE_DETAIL_PATH_BELOW_HPP

namespace stemma::detail {

/// Returns: the path of the module that an instance of a scope means, below that of the scope
/// around it. A called Sequential repeats itself in its children: below `layer1` the instance
/// `layer1.0` is child `0`.
[[nodiscard]] inline std::string_view path_below(const module_tree_builder& builder, id parent,
                                                 scope_style style, std::string_view rest) {
    if (style == scope_style::relative || parent == 0) {
        return rest;
    }
    std::string printed;
    for (auto m = parent; m != 0; m = builder.parent(m)) {
        printed.insert(0, std::string(builder.attribute(m)).append("."));
        if (!is_number(builder.attribute(m))) {
            break;
        }
    }
    if (rest.starts_with(printed) && rest.size() > printed.size()) {
        rest.remove_prefix(printed.size());
    }
    return rest;
}

} // namespace stemma::detail

#endif // STEMMA_EVIDENCE_DETAIL_PATH_BELOW_HPP

// <stemma/evidence/detail/printed_modules.hpp>
#ifndef STEMMA_EVIDENCE_DETAIL_PRINTED_MODULES_HPP
#define STEMMA_EVIDENCE_DETAIL_PRINTED_MODULES_HPP

namespace stemma::detail {

/// Finds modules by what a call of them prints: their path from its last name that is no number.
template <module_view Modules>
class printed_modules {
public:
    /// Complexity: O(bytes of names).
    explicit printed_modules(const Modules& modules) {
        const auto& tree = modules.index();
        std::vector<std::uint64_t> hashes(tree.size());
        std::vector<id> text_of(tree.size());
        for (id m = 1; m < tree.size(); ++m) {
            const std::string_view name = modules.attribute(m);
            const auto above = tree.parent(m);
            const bool goes_on = is_number(name) && above != 0;
            hashes[m] = goes_on ? fnv1a(name, fnv1a(".", hashes[above])) : fnv1a(name);
            const auto next = static_cast<id>(hash_of_.size());
            text_of[m] = texts_.insert(hashes[m], next,
                                       [&](id text) { return hash_of_[text] == hashes[m]; });
            if (text_of[m] == next) {
                hash_of_.push_back(hashes[m]);
            }
        }
        modules_ = {hash_of_.size(), [&](auto take) {
                        for (id m = 1; m < tree.size(); ++m) {
                            take(text_of[m], m);
                        }
                    }};
    }

    /// Returns: the modules that print as `text`, ascending, and perhaps a few others.
    /// Complexity: O(length) expected.
    [[nodiscard]] std::span<const id> of(std::string_view text) const {
        const auto hash = fnv1a(text);
        const auto found = texts_.find(hash, [&](id known) { return hash_of_[known] == hash; });
        return found == no_id ? std::span<const id>{} : modules_[found];
    }

private:
    flat_index texts_;
    std::vector<std::uint64_t> hash_of_; // by text
    grouped_ids modules_;                // by text
};

} // namespace stemma::detail

#endif // STEMMA_EVIDENCE_DETAIL_PRINTED_MODULES_HPP

// <stemma/model/sweeps.hpp>
#ifndef STEMMA_MODEL_SWEEPS_HPP
#define STEMMA_MODEL_SWEEPS_HPP

namespace stemma {

/// What a propagation policy works on. Arrays are by vertex index.
template <operator_view Ops>
struct propagation_problem {
    const Ops& ops;                          ///< with whatever its concepts let a policy read
    const tree_index& modules;               ///< of the modules that attributions name
    const sweep_order<graph_of<Ops>>& order; ///< of the operators, in either direction
    /// The deepest module where it is known, else `no_id`. An owner of bodies without evidence of
    /// its own has here what the evidence in its bodies has in common.
    std::span<const id> evidence;
    thread_limit threads{}; ///< that may read `ops` at once; the same is found by any number
    /// What `data_independent` says of `ops`, where that is known; else null.
    const std::vector<bool>* independent = nullptr;
};

namespace detail {

/// The common ancestor of a growing set of modules, from the least and greatest rank among them.
struct common_module {
    id low = no_id;
    id behind = 0; // one more than the greatest

    /// Of `no_id` one more is 0, so that it changes nothing.
    void add(id module) noexcept {
        low = std::min(low, module);
        behind = std::max(behind, module + 1);
    }

    void add(const common_module& other) noexcept {
        low = std::min(low, other.low);
        behind = std::max(behind, other.behind);
    }

    [[nodiscard]] id get(const tree_index& modules) const noexcept {
        return low == no_id ? no_id : modules.lca(low, behind - 1);
    }
};

/// Returns: for each operator its evidence; without any, the deepest module that holds all its
/// neighbours, which `for_each(v, f)` goes through and `sweep(f)` comes to before it.
template <operator_view Ops, class Sweep, class ForEach>
[[nodiscard]] std::vector<id> common_modules(const propagation_problem<Ops>& problem, Sweep sweep,
                                             ForEach for_each) {
    const auto& graph = problem.ops.graph();
    std::vector<id> known(problem.evidence.begin(), problem.evidence.end());
    if (std::all_of(known.begin(), known.end(), [](id module) { return module == no_id; })) {
        return known;
    }
    sweep([&](operator_t<Ops> vertex) {
        const auto v = index_of(graph, vertex);
        if (known[v] == no_id) {
            common_module common;
            for_each(vertex,
                     [&](operator_t<Ops> next) { common.add(known[index_of(graph, next)]); });
            known[v] = common.get(problem.modules);
        }
    });
    return known;
}

} // namespace detail

/// Returns: for each operator its evidence; without any, the deepest module that holds all its
/// readers: those with evidence by that, the others by their own readers. Else `no_id`: nothing
/// downstream is known, or, in a graph with cycles, it leads into one.
/// Complexity: O(V + edges of operators without evidence); one ancestor query for each of these.
template <operator_view Ops>
[[nodiscard]] std::vector<id> common_reader_modules(const propagation_problem<Ops>& problem) {
    const auto& graph = problem.ops.graph();
    return detail::common_modules(
        problem, [&](auto f) { problem.order.backward(f); },
        [&](operator_t<Ops> vertex, auto f) {
            for (auto [it, last] = out_edges(vertex, graph); it != last; ++it) {
                f(target(*it, graph));
            }
        });
}

/// Returns: the same for producers.
/// Complexity: O(V + edges of operators without evidence); one ancestor query for each of these.
template <operator_view Ops>
[[nodiscard]] std::vector<id> common_producer_modules(const propagation_problem<Ops>& problem) {
    const auto& graph = problem.ops.graph();
    return detail::common_modules(
        problem, [&](auto f) { problem.order.forward(f); },
        [&](operator_t<Ops> vertex, auto f) {
            for (auto [it, last] = in_edges(vertex, graph); it != last; ++it) {
                f(source(*it, graph));
            }
        });
}

/// Returns: for each operator whether its result is the same for all inputs of the same shapes, as
/// far as the view knows; never, when it knows nothing. What sits on or behind a cycle is not.
/// Complexity: O(V + E).
template <operator_view Ops>
[[nodiscard]] std::vector<bool> data_independent(const Ops& ops,
                                                 const sweep_order<graph_of<Ops>>& order) {
    std::vector<bool> independent(num_vertices(ops.graph()), false);
    if constexpr (data_aware_operators<Ops>) {
        const auto& graph = ops.graph();
        order.forward([&](operator_t<Ops> vertex) {
            if (!ops.hides_data(vertex)) {
                if (ops.reads_data(vertex)) {
                    return;
                }
                for (auto [it, last] = in_edges(vertex, graph); it != last; ++it) {
                    if (!independent[index_of(graph, source(*it, graph))]) {
                        return;
                    }
                }
            }
            independent[index_of(graph, vertex)] = true;
        });
    }
    return independent;
}

/// The same; looked up where the problem says it. Complexity: O(V + E).
template <operator_view Ops>
[[nodiscard]] std::vector<bool> data_independent(const propagation_problem<Ops>& problem) {
    return problem.independent != nullptr ? *problem.independent
                                          : data_independent(problem.ops, problem.order);
}

/// Returns: for each operator without evidence that computes a constant whether all its readers
/// surely belong to one module, which `down` then names: their evidence says so with a confidence
/// of 0.9 or more, or they are settled in this way themselves. Never, when the view knows nothing
/// of data. Complexity: O(V + E).
template <operator_view Ops>
[[nodiscard]] std::vector<bool> settled_by_readers(const propagation_problem<Ops>& problem,
                                                   std::span<const id> down,
                                                   std::span<const attribution> evidence) {
    std::vector<bool> settled(problem.evidence.size(), false);
    if constexpr (data_aware_operators<Ops>) {
        const auto& graph = problem.ops.graph();
        const auto* independent = problem.independent; // as every constant is
        const auto is_constant = [&](operator_t<Ops> vertex) {
            for (auto [it, last] = in_edges(vertex, graph); it != last; ++it) {
                if (!settled[index_of(graph, source(*it, graph))]) {
                    return false;
                }
            }
            return true;
        };
        problem.order.forward([&](operator_t<Ops> vertex) {
            const auto v = index_of(graph, vertex);
            if ((independent == nullptr || (*independent)[v]) && !problem.ops.hides_data(vertex) &&
                !problem.ops.reads_data(vertex) && is_constant(vertex)) {
                settled[v] = true;
            }
        });
        problem.order.backward([&](operator_t<Ops> vertex) {
            const auto v = index_of(graph, vertex);
            if (!settled[v]) {
                return;
            }
            bool all = problem.evidence[v] == no_id && down[v] != no_id;
            for (auto [it, last] = out_edges(vertex, graph); it != last && all; ++it) {
                const auto reader = index_of(graph, target(*it, graph));
                const bool known = problem.evidence[reader] != no_id;
                all = known ? evidence[reader].module == down[v] &&
                                  evidence[reader].confidence >= 0.9F
                            : settled[reader] && down[reader] == down[v];
            }
            settled[v] = all;
        });
    }
    return settled;
}

/// Returns: for each operator the nearest evidence, counted in edges of either direction; where
/// several are equally near, their common ancestor.
/// Complexity: O(V + E).
template <operator_view Ops>
[[nodiscard]] std::vector<id> nearest_modules(const propagation_problem<Ops>& problem) {
    const auto& graph = problem.ops.graph();
    std::vector<id> near(problem.evidence.begin(), problem.evidence.end());
    std::vector<operator_t<Ops>> front;
    for (auto [it, last] = vertices(graph); it != last; ++it) {
        if (near[index_of(graph, *it)] != no_id) {
            front.push_back(*it);
        }
    }
    if (front.empty()) {
        return near;
    }
    std::vector<detail::common_module> found(near.size());
    std::vector<operator_t<Ops>> next;
    const auto reach = [&](operator_t<Ops> vertex, id module) {
        const auto v = index_of(graph, vertex);
        if (near[v] == no_id) {
            if (found[v].low == no_id) {
                next.push_back(vertex);
            }
            found[v].add(module);
        }
    };
    const auto tell_neighbours = [&](const operator_t<Ops>& vertex) {
        const auto module = near[index_of(graph, vertex)];
        for (auto [it, last] = in_edges(vertex, graph); it != last; ++it) {
            reach(source(*it, graph), module);
        }
        for (auto [it, last] = out_edges(vertex, graph); it != last; ++it) {
            reach(target(*it, graph), module);
        }
    };
    while (!front.empty()) {
        next.clear();
        std::for_each(front.begin(), front.end(), tell_neighbours);
        for (const auto& vertex : next) {
            const auto v = index_of(graph, vertex);
            near[v] = found[v].get(problem.modules);
        }
        front.swap(next);
    }
    return near;
}

/// Returns: for each operator that joins a skip connection the deepest module that holds what is
/// skipped, else `no_id`.
///
/// A skip connection: some producer of the operator feeds the computation of another of its inputs,
/// of which up to `reach` operators are looked at. What the evidence on that computation has in
/// common, as far as it goes, is the module.
/// Complexity: O(V + E + joins * reach).
template <operator_view Ops>
[[nodiscard]] std::vector<id> residual_modules(const propagation_problem<Ops>& problem,
                                               std::size_t reach = 64) {
    const auto& graph = problem.ops.graph();
    std::vector<id> joined(problem.evidence.size(), no_id);
    std::vector<operator_t<Ops>> seen;
    std::vector<std::size_t> mark(problem.evidence.size(), 0);
    std::size_t stamp = 0;
    // Walks from `from` against the edges until `goal`; collects the evidence on the way.
    const auto skipped = [&](operator_t<Ops> from, operator_t<Ops> goal) -> id {
        ++stamp;
        detail::common_module modules;
        bool reached = false;
        seen.assign(1, from);
        mark[index_of(graph, from)] = stamp;
        for (std::size_t i = 0; i < seen.size() && i < reach; ++i) {
            const auto vertex = seen[i];
            modules.add(problem.evidence[index_of(graph, vertex)]);
            for (auto [it, last] = in_edges(vertex, graph); it != last; ++it) {
                const auto producer = source(*it, graph);
                reached = reached || producer == goal;
                auto& visited = mark[index_of(graph, producer)];
                if (producer != goal && visited != stamp) {
                    visited = stamp;
                    seen.push_back(producer);
                }
            }
        }
        return reached ? modules.get(problem.modules) : no_id;
    };
    for (auto [it, last] = vertices(graph); it != last; ++it) {
        const auto v = index_of(graph, *it);
        if (problem.evidence[v] != no_id) {
            continue;
        }
        std::array<operator_t<Ops>, 2> producers{};
        std::size_t count = 0;
        for (auto [in, end] = in_edges(*it, graph); in != end && count <= 2; ++in, ++count) {
            producers[std::min<std::size_t>(count, 1)] = source(*in, graph);
        }
        if (count != 2 || producers[0] == producers[1]) {
            continue;
        }
        for (std::size_t a = 0; a < 2; ++a) {
            const auto module = skipped(producers[a], producers[1 - a]);
            joined[v] = module == no_id ? joined[v] : module;
        }
    }
    return joined;
}

/// Returns: for each operator without evidence whether its result only steers: all it is used for,
/// through operators without evidence, is the condition of an If or Loop. Nowhere, when the view
/// knows no conditions. Complexity: O(V + edges of operators without evidence).
template <operator_view Ops>
[[nodiscard]] std::vector<bool> steering_only(const propagation_problem<Ops>& problem) {
    std::vector<bool> steers(problem.evidence.size(), false);
    if constexpr (steered_operators<Ops>) {
        const auto& graph = problem.ops.graph();
        const auto all_steer = [&](operator_t<Ops> vertex) {
            bool read = false;
            for (auto [it, last] = out_edges(vertex, graph); it != last; ++it) {
                read = true;
                if (!problem.ops.reads_condition(*it) &&
                    !steers[index_of(graph, target(*it, graph))]) {
                    return false;
                }
            }
            return read;
        };
        problem.order.backward([&](operator_t<Ops> vertex) {
            const auto v = index_of(graph, vertex);
            if (problem.evidence[v] == no_id && all_steer(vertex)) {
                steers[v] = true;
            }
        });
    }
    return steers;
}

/// Keeps operators in bodies with the operator that owns the body, which is settled before them:
/// what is lost (`lost(v)`) takes the owner's module, and what lies outside of that module comes
/// back to it, since the owner's module is the one that runs the body. Only operators without
/// evidence. Complexity: O(V + operators in bodies).
template <operator_view Ops, class Lost>
void stay_with_owners(const propagation_problem<Ops>& problem, std::span<attribution> result,
                      Lost lost) {
    for (const auto& op : detail::operators_in_bodies(problem.ops)) {
        const auto& owner = result[op.owner];
        if (problem.evidence[op.v] == no_id &&
            (lost(op.v) || !problem.modules.is_ancestor(owner.module, result[op.v].module))) {
            result[op.v] = {owner.module, no_id, std::min(owner.confidence, 0.7F),
                            provenance::owner, false};
        }
    }
}

} // namespace stemma

#endif // STEMMA_MODEL_SWEEPS_HPP

// <stemma/evidence/detail/scope_resolver.hpp>
#ifndef STEMMA_EVIDENCE_DETAIL_SCOPE_RESOLVER_HPP
#define STEMMA_EVIDENCE_DETAIL_SCOPE_RESOLVER_HPP

namespace stemma {

/// Which module a scope stands for.
struct scope_module {
    id module = no_id; ///< `no_id`: none that is known
    id call = no_id;   ///< which of the module's scopes, in the order of their first operators
    id caller = no_id; ///< module around the scope, where that is not above the module
    float confidence = 0;
};

namespace detail {

/// Splits `fc_12` into `fc` and 12; nothing for a name that does not end so.
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

/// Where the parameters point that are read in a scope, and in the scopes below it.
struct scope_witness {
    common_module deep;
};

/// Binds scopes to the modules of a tree.
///
/// A segment of style `called` is the part of a module's path from its last name that is no number.
/// Modules that never run have no scope, so a segment may lead several levels down. A repeated
/// scope gets `_1`, `_2` behind it; so may a real name end.
///
/// What a scope comes to depends on those around it only, of which the resolver keeps some. Copies
/// share what is the same for all scopes, so that every thread may have its own.
template <module_view Modules>
class scope_resolver {
public:
    scope_resolver(const scope_table& table, const Modules& modules,
                   std::vector<scope_witness> witness)
        : table_(table)
        , modules_(modules)
        , tree_(modules.index())
        , shared_(std::make_shared<shared_facts>(modules, std::move(witness))) {
        if constexpr (counts_calls<Modules>) {
            for (id m = 0; m < tree_.size() && !calls_known_; ++m) {
                calls_known_ = modules.calls(m) != no_id;
            }
        }
    }

    /// What is found for scope `s`, whose surrounding scope stands for `around`.
    [[nodiscard]] scope_module resolve(id s, id around) {
        const auto segment = table_.scopes[s].instance();
        const auto deep = shared_->witness[s].deep.get(tree_);
        if (segment.empty() && table_.scopes[s].style == scope_style::typed) {
            return found(around, around, deep, 0.95F); // the root, which is written like a module
        }
        if (table_.scopes[s].style == scope_style::relative) {
            const auto module = find_module(shared_->lookup, segment, around);
            return found(module, around, deep, 0.95F);
        }
        if (table_.scopes[s].style == scope_style::typed) {
            // Some recorders write full paths.
            const auto full = find_module(shared_->lookup, segment);
            if (full != no_id && full != around && tree_.is_ancestor(around, full)) {
                return found(full, around, deep, 0.97F);
            }
        }
        auto plain = candidates(around, segment);
        note_alternatives(s, around, plain);
        if (auto fit = best_fit(plain, deep); fit != no_id && agrees(fit, deep)) {
            return found(fit, around, deep, 0.95F);
        }
        if (const auto counted = split_count(segment)) {
            const auto repeated = repeated_call(s, around, counted->first, counted->second, deep);
            if (repeated.module != no_id && (plain.empty() || agrees(repeated.module, deep))) {
                return repeated;
            }
        }
        if (const auto elsewhere = from_elsewhere(segment, deep); elsewhere != no_id) {
            return found(elsewhere, around, deep, 0.9F);
        }
        if (plain.empty() && calls_known_) {
            // Here it ran, though not where calls were counted.
            plain = candidates(around, segment, true);
            if (auto fit = best_fit(plain, deep); fit != no_id && agrees(fit, deep)) {
                return found(fit, around, deep, 0.9F);
            }
        }
        return plain.empty() ? scope_module{} : found(plain.front(), around, deep, 0.7F);
    }

    /// What is found for scope `s` when the surrounding scope stands for nothing that is known.
    [[nodiscard]] scope_module resolve_alone(id s) {
        const auto deep = shared_->witness[s].deep.get(tree_);
        const auto module =
            deep == no_id ? no_id : from_elsewhere(table_.scopes[s].instance(), deep);
        return module == no_id ? scope_module{} : scope_module{module, no_id, no_id, 0.9F};
    }

    /// Whether what is read in one scope and below it, and in another, tells of the same modules.
    [[nodiscard]] bool read_alike(id s, id t) const {
        const auto& [a, b] = std::pair(shared_->witness[s].deep, shared_->witness[t].deep);
        return a.low == b.low && a.behind == b.behind;
    }

    /// Whether `module` could print as the segment of scope `s` below `around`.
    [[nodiscard]] bool could_print(id s, id around, id module) const {
        const auto segment = table_.scopes[s].instance();
        const auto counted = split_count(segment);
        return tree_.is_ancestor(around, module) &&
               (prints_as(module, segment) || (counted && prints_as(module, counted->first)));
    }

private:
    struct shared_facts {
        shared_facts(const Modules& modules, std::vector<scope_witness> seen)
            : lookup(modules), witness(std::move(seen)) {}

        module_lookup<Modules> lookup;
        std::vector<scope_witness> witness; // by scope
        std::once_flag asked;
        std::optional<printed_modules<Modules>> printed; // of all, once somebody asks
    };

    static constexpr std::size_t max_candidates = 64;

    [[nodiscard]] bool agrees(id module, id deep) const {
        return deep == no_id || tree_.are_related(module, deep);
    }

    [[nodiscard]] id calls(id m) const {
        if constexpr (counts_calls<Modules>) {
            return modules_.calls(m);
        } else {
            return no_id;
        }
    }

    [[nodiscard]] scope_module found(id module, id around, id deep, float confidence) const {
        if (module == no_id) {
            return {};
        }
        if (deep != no_id && tree_.is_ancestor(module, deep)) {
            confidence = std::max(confidence, 0.97F);
        }
        return {module, no_id, tree_.is_ancestor(around, module) ? no_id : around, confidence};
    }

    /// Whether the path of `m` ends in `segment`, from the last name that is no number.
    [[nodiscard]] bool prints_as(id m, std::string_view segment) const {
        while (m != 0) {
            const std::string_view name = modules_.attribute(m);
            if (!segment.ends_with(name)) {
                return false;
            }
            segment.remove_suffix(name.size());
            const bool goes_on = is_number(name) && tree_.parent(m) != 0;
            if (!goes_on) {
                return segment.empty();
            }
            if (!segment.ends_with('.')) {
                return false;
            }
            segment.remove_suffix(1);
            m = tree_.parent(m);
        }
        return segment.empty();
    }

    /// Whether everything between `above` and `m` is known not to run, or may be.
    [[nodiscard]] bool reached_without_call(id above, id m) const {
        for (m = tree_.parent(m); m != above; m = tree_.parent(m)) {
            if (calls(m) != no_id && calls(m) != 0) {
                return false;
            }
        }
        return true;
    }

    /// The modules below `around` that a call from there prints as `segment`, likely ones first;
    /// among them such as are known never to have run only if these are `uncalled` ones as well.
    [[nodiscard]] std::vector<id> candidates(id around, std::string_view segment,
                                             bool uncalled = false) {
        std::vector<id> fits;
        const auto add = [&](id m) {
            if (m != no_id && m != around && (uncalled || calls(m) != 0) && prints_as(m, segment) &&
                reached_without_call(around, m) &&
                std::find(fits.begin(), fits.end(), m) == fits.end()) {
                fits.push_back(m);
            }
        };
        // A called Sequential repeats itself: its child 0 is `layer1.0`, not `layer1.layer1.0`.
        const auto digits = segment.find('.');
        if (digits != segment.npos) {
            const auto own = own_segment_length(around, segment);
            if (own != 0) {
                add(find_module(shared_->lookup, segment.substr(own + 1), around));
            }
        }
        add(find_module(shared_->lookup, segment, around));
        if (fits.empty() || digits != segment.npos) {
            for (auto m : printed_below(around, segment)) {
                add(m);
            }
        }
        return fits;
    }

    /// Returns: how much of `segment` is what `m` itself prints, when the rest are numbers; else 0.
    [[nodiscard]] std::size_t own_segment_length(id m, std::string_view segment) const {
        if (m == 0) {
            return 0;
        }
        for (auto dot = segment.rfind('.'); dot != segment.npos && dot > 0;
             dot = segment.rfind('.', dot - 1)) {
            if (prints_as(m, segment.substr(0, dot))) {
                return dot;
            }
        }
        return 0;
    }

    /// The modules below `around` that print as `segment` (at most so many).
    [[nodiscard]] std::vector<id> printed_below(id around, std::string_view segment) {
        const auto all = printing_as(segment);
        auto it = std::upper_bound(all.begin(), all.end(), around);
        std::vector<id> fits;
        for (; it != all.end() && *it < tree_.end(around) && fits.size() < max_candidates; ++it) {
            if (prints_as(*it, segment) && reached_without_call(around, *it)) {
                fits.push_back(*it);
            }
        }
        return fits;
    }

    /// The modules that print as `segment`, and perhaps a few others.
    [[nodiscard]] std::span<const id> printing_as(std::string_view segment) const {
        std::call_once(shared_->asked, [&] { shared_->printed.emplace(modules_); });
        return shared_->printed->of(segment);
    }

    /// The modules that a call prints as `segment` in scope `s`. Where several modules print like
    /// `s`, calls in all of them are numbered through.
    [[nodiscard]] std::vector<id> candidates_in(id s, id around, std::string_view segment) {
        const auto known = alternatives_.find(s);
        if (known == alternatives_.end() ||
            std::find(known->second.begin(), known->second.end(), around) == known->second.end()) {
            return candidates(around, segment);
        }
        std::vector<id> fits;
        for (auto module : known->second) {
            for (auto m : candidates(module, segment)) {
                if (fits.size() < max_candidates &&
                    std::find(fits.begin(), fits.end(), m) == fits.end()) {
                    fits.push_back(m);
                }
            }
        }
        return fits;
    }

    void note_alternatives(id s, id around, const std::vector<id>& plain) {
        const auto parent = table_.scopes[s].parent;
        if (alternatives_.contains(parent)) {
            auto all = candidates_in(parent, around, table_.scopes[s].instance());
            if (all.size() > 1) {
                alternatives_.emplace(s, std::move(all));
            }
        } else if (plain.size() > 1) {
            alternatives_.emplace(s, plain);
        }
    }

    /// The candidate that holds what the parameters point at, else the first.
    [[nodiscard]] id best_fit(const std::vector<id>& fits, id deep) const {
        if (deep != no_id) {
            for (auto m : fits) {
                if (tree_.is_ancestor(m, deep)) {
                    return m;
                }
            }
        }
        return fits.empty() ? no_id : fits.front();
    }

    [[nodiscard]] scope_module repeated_call(id s, id around, std::string_view stem,
                                             std::size_t count, id deep) {
        const auto parent = table_.scopes[s].parent;
        const auto first = table_.find(parent, stem);
        auto [known, added] = stems_.try_emplace({parent, stem});
        if (added) {
            known->second = candidates_in(parent, around, stem);
        }
        const auto& fits = known->second;
        if (fits.empty()) {
            return {};
        }
        const auto fit = best_fit(fits, deep);
        if (deep != no_id && tree_.is_ancestor(fit, deep)) {
            return found(fit, fit, deep, 0.95F);
        }
        if (calls_known_) {
            // Scopes that print alike are numbered through: first all calls of one module ...
            for (auto m : fits) {
                const auto times = calls(m) == no_id ? count + 1 : calls(m);
                if (count < times) {
                    return found(m, m, deep, fits.size() == 1 ? 0.93F : 0.85F);
                }
                count -= times;
            }
            return found(fit, fit, deep, 0.7F);
        }
        if (count < fits.size()) {
            return found(fits[count], fits[count], deep, 0.8F);
        }
        const bool alike = first != no_id && table_.scopes[first].operators > 0 &&
                           table_.scopes[first].kinds == table_.scopes[s].kinds;
        return alike ? found(fit, fit, deep, 0.8F) : scope_module{};
    }

    /// A module that somebody else owns and the surrounding one calls: by an alias, by what the
    /// parameters point at, or as the only one of its name.
    [[nodiscard]] id from_elsewhere(std::string_view segment, id deep) {
        const auto counted = split_count(segment);
        const auto prints = [&](id m) {
            return prints_as(m, segment) || (counted && prints_as(m, counted->first));
        };
        if (deep != no_id) {
            for (auto m = deep; m != 0; m = tree_.parent(m)) {
                if (prints(m)) {
                    return m;
                }
            }
            return no_id;
        }
        if (!calls_known_) {
            return no_id;
        }
        id only = no_id;
        for (const auto stem : {segment, counted ? counted->first : segment}) {
            for (auto m : printing_as(stem)) {
                if (prints_as(m, stem) && calls(m) != 0 && m != only) {
                    if (only != no_id) {
                        return no_id;
                    }
                    only = m;
                }
            }
        }
        return only;
    }

    const scope_table& table_;
    const Modules& modules_;
    const tree_index& tree_;
    std::shared_ptr<shared_facts> shared_;
    std::map<std::pair<id, std::string_view>, std::vector<id>> stems_;
    std::unordered_map<id, std::vector<id>> alternatives_; // by scope: modules that print like it
    bool calls_known_ = false;
};

} // namespace detail

} // namespace stemma

#endif // STEMMA_EVIDENCE_DETAIL_SCOPE_RESOLVER_HPP

// <stemma/evidence/detail/reordered_names.hpp>
#ifndef STEMMA_EVIDENCE_DETAIL_REORDERED_NAMES_HPP
#define STEMMA_EVIDENCE_DETAIL_REORDERED_NAMES_HPP

namespace stemma::detail {

/// Whether somebody changed the order of operators: exporters count those of one type in a scope,
/// `Mul`, `Mul_1`, `Mul_2`, in the order in which they run.
/// They count calls in the same way, `fc`, `fc_1`: of members of lists, and where `are_one(s, t)`
/// says that two scopes stand for one module.
/// Complexity: O(operators * log of the scopes), until some pair stands the wrong way round.
template <named_operators Ops, class AreOne>
[[nodiscard]] bool are_reordered(const Ops& ops, const scope_table& table, AreOne are_one) {
    std::map<std::pair<id, std::string_view>, std::size_t> last;
    for (auto [it, end] = vertices(ops.graph()); it != end; ++it) {
        const auto scope = table.scope_of[index_of(ops.graph(), *it)];
        const std::string_view type = ops.op_type(*it);
        std::string_view name = ops.name(*it);
        name.remove_prefix(name.rfind('/') + 1);
        if (scope == no_id || !is_counted(name, type)) {
            continue;
        }
        std::size_t count = 0;
        for (char c : name.substr(name.size() == type.size() ? type.size() : type.size() + 1)) {
            count = count * 10 + static_cast<std::size_t>(c - '0');
        }
        auto [known, added] = last.try_emplace({scope, type}, count);
        if (!added && count < known->second) {
            return true;
        }
        known->second = count;
    }
    for (id s = scope_style_count; s < table.scopes.size(); ++s) {
        const auto& scope = table.scopes[s];
        const auto counted = split_count(scope.instance());
        const auto first = counted ? table.find(scope.parent, counted->first) : no_id;
        if (first != no_id && first > s &&
            (is_number(counted->first.substr(counted->first.rfind('.') + 1)) ||
             are_one(s, first))) {
            return true;
        }
    }
    return false;
}

} // namespace stemma::detail

#endif // STEMMA_EVIDENCE_DETAIL_REORDERED_NAMES_HPP

// <stemma/evidence/detail/scope_modules.hpp>
#ifndef STEMMA_EVIDENCE_DETAIL_SCOPE_MODULES_HPP
#define STEMMA_EVIDENCE_DETAIL_SCOPE_MODULES_HPP

namespace stemma {

/// The modules of all scopes, and of single operators that share a scope with another module's.
struct scope_modules {
    std::vector<scope_module> of_scope;               ///< by number of the scope in the scope_table
    std::unordered_map<id, scope_module> of_operator; ///< by vertex index; overrides the scope's

    /// Returns: what the scope of vertex index `v`, which is `scope`, says of it.
    [[nodiscard]] const scope_module& of(id v, id scope) const {
        const auto own = of_operator.empty() ? of_operator.end() : of_operator.find(v);
        return own == of_operator.end() ? of_scope[scope] : own->second;
    }
};

namespace detail {

template <parameter_readers Ops, module_view Modules>
[[nodiscard]] std::vector<scope_witness>
collect_witnesses(const Ops& ops, const scope_table& table, const Modules& modules,
                  const parameter_owners& owners, thread_limit threads) {
    const auto count = threads.parts_of_operators(num_vertices(ops.graph()));
    std::vector<std::vector<scope_witness>> parts(count);
    for_each_vertex_range(ops.graph(), count, [&](std::size_t part, auto it, auto last) {
        auto& seen = parts[part];
        seen.resize(table.scopes.size());
        for (; it != last; ++it) {
            const auto s = table.scope_of[index_of(ops.graph(), *it)];
            if (s == no_id) {
                continue;
            }
            ops.for_each_parameter(*it, [&](id p) {
                if (owners.of(p).size() == 1) {
                    seen[s].deep.add(nearest_called(modules, owners.of(p).front()));
                }
            });
        }
    });
    auto witness = std::move(parts[0]);
    for (std::size_t part = 1; part < count; ++part) {
        for (std::size_t s = 0; s < witness.size(); ++s) {
            witness[s].deep.add(parts[part][s].deep);
        }
    }
    for (auto s = static_cast<id>(table.scopes.size()); s-- > scope_style_count;) {
        const auto& deep = witness[s].deep;
        if (deep.low != no_id) {
            witness[table.scopes[s].parent].deep.add(deep);
        }
    }
    return witness;
}

/// Resolves every scope. The roots stand for `base`, and so do scopes called `strip` below them.
///
/// Threads take ranges of scopes; what stands around a scope in another range each resolves for
/// itself. Complexity: O(scopes * depth) expected.
template <module_view Modules>
[[nodiscard]] std::vector<scope_module>
resolve_scopes(const scope_table& table, const scope_resolver<Modules>& resolver, id base,
               std::optional<std::string_view> strip, thread_limit threads) {
    constexpr auto roots = static_cast<std::size_t>(scope_style_count);
    constexpr std::size_t ahead = 16; // segments lie far from each other, in the names
    const scope_module root{base, no_id, no_id, 0.95F};
    std::vector<scope_module> result(table.scopes.size(), root);
    const auto count = table.scopes.size() - roots;
    const auto parts = threads.parts_of_operators(count);
    for_each_range(count, parts, [&](std::size_t, std::size_t first, std::size_t last) {
        const auto begin = static_cast<id>(roots + first);
        const auto end = static_cast<id>(roots + last);
        auto own = resolver;
        std::unordered_map<id, scope_module> before; // of scopes in other ranges
        const auto find = [&](id s) -> const scope_module* {
            if (s < roots || s >= begin) {
                return &result[s];
            }
            const auto known = before.find(s);
            return known == before.end() ? nullptr : &known->second;
        };
        const auto resolve = [&](id s) {
            const auto& scope = table.scopes[s];
            const auto around = find(scope.parent)->module;
            return scope.parent < roots && scope.instance() == strip ? root
                   : around == no_id                                 ? own.resolve_alone(s)
                                                                     : own.resolve(s, around);
        };
        std::vector<id> open;
        for (auto s = begin; s < end; ++s) {
            if (s + ahead < end) {
                prefetch(table.scopes[s + ahead].segment.data());
            }
            for (auto above = table.scopes[s].parent; find(above) == nullptr;
                 above = table.scopes[above].parent) {
                open.push_back(above);
            }
            for (; !open.empty(); open.pop_back()) {
                before.emplace(open.back(), resolve(open.back()));
            }
            result[s] = resolve(s);
        }
    });
    return result;
}

/// Finds operators whose parameters contradict their scope where the scope can be read both ways,
/// and the operators of the same scope behind them. Modules are ranks in `modules`.
template <parameter_readers Ops, module_view Modules>
void part_shared_scopes(const Ops& ops, const scope_table& table, const Modules& modules,
                        const parameter_owners& owners, const scope_resolver<Modules>& resolver,
                        scope_modules& result, thread_limit threads) {
    const auto& graph = ops.graph();
    const tree_index& tree = modules.index();
    const auto is_scope = [](id s) { return s != no_id && s >= scope_style_count; };
    struct reading {
        id other = no_id; // the module whose parameters are read instead of the scope's
        bool own = false;

        [[nodiscard]] bool contradicts() const { return other != no_id && !own; }
    };
    const auto read = [&](const operator_t<Ops>& vertex, id s) {
        const auto module = result.of_scope[s].module;
        const auto around = result.of_scope[table.scopes[s].parent].module;
        reading found;
        ops.for_each_parameter(vertex, [&](id p) {
            for (auto owner : owners.of(p)) {
                const auto called = nearest_called(modules, owner);
                if (module != no_id && tree.are_related(module, called)) {
                    found.own = true;
                } else if (around != no_id && resolver.could_print(s, around, called)) {
                    found.other = called;
                }
            }
        });
        return found;
    };
    // In most models no operator contradicts its scope.
    const auto count = threads.parts_of_operators(num_vertices(graph));
    std::vector<std::uint8_t> contradicted(count);
    for_each_vertex_range(graph, count, [&](std::size_t part, auto first, auto last) {
        contradicted[part] = std::any_of(first, last, [&](const operator_t<Ops>& vertex) {
            const auto s = table.scope_of[index_of(graph, vertex)];
            return is_scope(s) && read(vertex, s).contradicts();
        });
    });
    if (std::find(contradicted.begin(), contradicted.end(), 1) == contradicted.end()) {
        return;
    }
    for (auto [it, last] = vertices(graph); it != last; ++it) {
        const auto v = static_cast<id>(index_of(graph, *it));
        const auto s = table.scope_of[v];
        if (!is_scope(s)) {
            continue;
        }
        const auto found = read(*it, s);
        if (found.contradicts()) {
            result.of_operator[v] = {found.other, no_id, no_id, 0.97F};
            continue;
        }
        if (!found.own && !result.of_operator.empty()) {
            for (auto [in, in_last] = in_edges(*it, graph); in != in_last; ++in) {
                const auto u = static_cast<id>(index_of(graph, source(*in, graph)));
                const auto before = result.of_operator.find(u);
                if (table.scope_of[u] == s && before != result.of_operator.end()) {
                    const auto behind = before->second;
                    result.of_operator[v] = behind;
                    break;
                }
            }
        }
    }
}

/// Numbers the scopes of each module in the order in which their first operators stand.
template <operator_view Ops>
void number_scopes(const Ops& ops, const scope_table& table, scope_modules& result,
                   std::size_t module_count) {
    std::vector<id> calls(module_count, 0);
    std::unordered_map<id, std::vector<std::pair<id, id>>> shared; // by scope: module, call
    for (auto [it, last] = vertices(ops.graph()); it != last; ++it) {
        const auto v = static_cast<id>(index_of(ops.graph(), *it));
        const auto s = table.scope_of[v];
        if (s == no_id) {
            continue;
        }
        if (const auto own = result.of_operator.find(v); own != result.of_operator.end()) {
            auto& known = shared[s];
            const auto same = std::find_if(known.begin(), known.end(), [&](const auto& entry) {
                return entry.first == own->second.module;
            });
            own->second.call = same != known.end() ? same->second : calls[own->second.module]++;
            if (same == known.end()) {
                known.emplace_back(own->second.module, own->second.call);
            }
        } else if (auto& scope = result.of_scope[s]; scope.call == no_id && scope.module != no_id) {
            scope.call = calls[scope.module]++;
        }
    }
}

/// Tells a builder how often modules ran: as often as they have scopes; and never, where a scope
/// leads from one module past another to one below.
inline void note_calls(const scope_table& table, const scope_modules& bound,
                       module_tree_builder& builder) {
    std::vector<id> calls(builder.size(), 0);
    for (const auto& scope : bound.of_scope) {
        calls[scope.module] =
            std::max(calls[scope.module], scope.call == no_id ? 1 : scope.call + 1);
    }
    for (id m = 0; m < calls.size(); ++m) {
        if (calls[m] != 0) {
            builder.set_calls(m, calls[m]);
        }
    }
    for (id s = scope_style_count; s < table.scopes.size(); ++s) {
        const auto around = bound.of_scope[table.scopes[s].parent].module;
        auto m = builder.parent(bound.of_scope[s].module);
        for (; m != no_id && m != around; m = builder.parent(m)) {
            if (builder.calls(m) == no_id) {
                builder.set_calls(m, 0);
            }
        }
    }
}

} // namespace detail

/// Binds every scope in the names of operators to a module of a known tree.
///
/// `owners` are those of the operators' parameters in that tree; what they point at decides where a
/// name can be read in two ways, for a whole scope and for single operators.
/// Requires: several threads may read `ops` at once, if so many are given.
/// Complexity: O(operators + scopes * depth) expected.
template <parameter_readers Ops, module_view Modules>
[[nodiscard]] scope_modules bind_scopes(const Ops& ops, const scope_table& table,
                                        const Modules& modules, const parameter_owners& owners,
                                        thread_limit threads = {}) {
    const detail::scope_resolver<Modules> resolver(
        table, modules, detail::collect_witnesses(ops, table, modules, owners, threads));
    scope_modules result;
    result.of_scope =
        detail::resolve_scopes(table, resolver, owners.mapping.base, owners.mapping.strip, threads);
    detail::part_shared_scopes(ops, table, modules, owners, resolver, result, threads);
    detail::number_scopes(ops, table, result, modules.index().size());
    return result;
}

/// Adds the modules that scopes speak of to a tree that holds only what other sources speak of.
///
/// `known` is what `builder` built last.
/// Returns: for every scope a module, named by its id in `builder`.
/// Complexity: as `bind_scopes`.
template <parameter_readers Ops>
[[nodiscard]] scope_modules grow_scopes(const Ops& ops, const scope_table& table,
                                        const module_tree& known, const parameter_owners& owners,
                                        module_tree_builder& builder, thread_limit threads = {}) {
    const detail::scope_resolver<module_tree> resolver(
        table, known, detail::collect_witnesses(ops, table, known, owners, threads));
    std::vector<id> builder_id(known.size());
    for (id m = 0; m < builder.size(); ++m) {
        builder_id[builder.rank_of(m)] = m;
    }
    scope_modules ranks; // in `known`, where the module is there
    ranks.of_scope = detail::resolve_scopes(table, resolver, 0, std::nullopt, threads);
    auto result = ranks;
    std::vector<bool> has_inside(table.scopes.size(), false); // scopes of others
    for (id s = scope_style_count; s < table.scopes.size(); ++s) {
        has_inside[table.scopes[s].parent] = true;
    }
    detail::hidden_levels hidden(builder);
    std::vector<bool> is_grown(table.scopes.size(), false);
    std::optional<bool> reordered; // once it matters
    const auto grow = [&](id s, auto& self) -> void {
        if (is_grown[s]) {
            return;
        }
        is_grown[s] = true;
        const auto& scope = table.scopes[s];
        const auto parent = result.of_scope[scope.parent].module;
        auto& module = result.of_scope[s];
        if (module.module != no_id) {
            module.module = builder_id[module.module];
            module.caller = module.caller == no_id ? no_id : builder_id[module.caller];
            hidden.note(parent, scope.instance(), module.module);
            return;
        }
        auto counted = detail::split_count(scope.instance());
        if (scope.style == scope_style::relative) {
            counted.reset(); // those are the names of attributes
        }
        const auto first = counted ? table.find(scope.parent, counted->first) : no_id;
        if (first != no_id && first > s && !reordered) {
            reordered = detail::are_reordered(ops, table, [&](id a, id b) {
                const auto m = ranks.of_scope[a].module;
                return m != no_id && m == ranks.of_scope[b].module;
            });
        }
        const bool repeats = first != no_id && (first < s || *reordered);
        if (repeats) {
            self(first, self);
        }
        // What is guessed is no surer than the module in which it was found.
        const auto guess = [&](id m, float confidence) {
            const auto at_most = result.of_scope[scope.parent].confidence;
            module = {m, no_id, no_id, std::min(confidence, at_most)};
        };
        const auto make = [&](std::string_view instance) {
            const auto path = detail::path_below(builder, parent, scope.style, instance);
            return builder.at_path(path, parent);
        };
        // Members of lists are numbers: `list.1_2` is a call of `list.1`.
        const bool is_call =
            counted && detail::is_number(counted->first.substr(counted->first.rfind('.') + 1));
        // Where an optimizer took operators away, what is left of two calls may not be alike; what
        // calls nothing, and reads nothing or the same, is then rather called again than beside one
        // of its name.
        const bool plain = first != no_id && !table.leftover.empty() && !has_inside[s] &&
                           !has_inside[first] && resolver.read_alike(s, first);
        if (repeats &&
            (is_call || plain ||
             (table.scopes[first].operators > 0 && table.scopes[first].kinds == scope.kinds))) {
            guess(result.of_scope[first].module, 0.8F);
        } else if (is_call) {
            guess(make(counted->first), 0.8F);
        } else if (const auto path = hidden.find(parent, scope.instance()); !path.empty()) {
            guess(builder.at_path(path, parent), 0.85F);
        } else if (counted && (first != no_id || !table.leftover.empty())) {
            // `att_1` beside `att` may be another module that prints as the first; and so it may
            // without, where an optimizer took operators away.
            guess(make(scope.instance()), 0.8F);
        } else {
            guess(make(scope.instance()), hidden.any_noted() ? 0.85F : 0.92F);
        }
    };
    for (id s = scope_style_count; s < table.scopes.size(); ++s) {
        grow(s, grow);
    }
    for (id s = scope_style_count; s < table.scopes.size(); ++s) {
        const auto qualified = table.scopes[s].qualified_class();
        if (!qualified.empty() && !builder.has_class(result.of_scope[s].module)) {
            const auto dot = qualified.rfind('.');
            builder.set_class(result.of_scope[s].module,
                              qualified.substr(dot == qualified.npos ? 0 : dot + 1), qualified);
        }
    }
    detail::part_shared_scopes(ops, table, known, owners, resolver, ranks, threads);
    for (const auto& [v, own] : ranks.of_operator) {
        result.of_operator[v] = {builder_id[own.module], own.call, no_id, own.confidence};
    }
    detail::number_scopes(ops, table, result, builder.size());
    detail::note_calls(table, result, builder);
    return result;
}

} // namespace stemma

#endif // STEMMA_EVIDENCE_DETAIL_SCOPE_MODULES_HPP

// <stemma/evidence/detail/shallow_modules.hpp>
#ifndef STEMMA_EVIDENCE_DETAIL_SHALLOW_MODULES_HPP
#define STEMMA_EVIDENCE_DETAIL_SHALLOW_MODULES_HPP

namespace stemma {

namespace detail {

/// Returns: how many parts of the path from `above` down to `m` are names rather than numbers.
template <module_view Modules>
[[nodiscard]] std::size_t names_between(const Modules& modules, id above, id m) {
    std::size_t names = 0;
    for (; m != above; m = modules.index().parent(m)) {
        names += is_number(modules.attribute(m)) ? 0U : 1U;
    }
    return names;
}

} // namespace detail

/// Returns: the modules at which names and metadata of operators stop although their operators are
/// in modules below; sorted.
///
/// `named(v)` is the module that these say of an operator, or `no_id`. They stop at a module that
/// they never go below while the parameters read there lie deeper: in several modules of which
/// some level is never named, or where names of a sibling do go that deep. A module that uses the
/// parameters of one that it holds is none.
/// Complexity: O(operators + what they read), and O(modules) where some parameter lies deeper.
template <parameter_readers Ops, module_view Modules, class Named>
[[nodiscard]] std::vector<id> find_shallow_modules(const Ops& ops, const Modules& modules,
                                                   const parameter_owners& owners, Named named) {
    const tree_index& tree = modules.index();
    std::vector<std::pair<id, id>> deeper; // what is named, and the owner below that is read there
    std::vector<bool> is_named(tree.size(), false);
    for (auto [it, last] = vertices(ops.graph()); it != last; ++it) {
        const auto m = named(*it);
        if (m == no_id) {
            continue;
        }
        is_named[m] = true;
        ops.for_each_parameter(*it, [&](id p) {
            for (auto owner : owners.of(p)) {
                const auto called = nearest_called(modules, owner);
                const std::pair found(m, called);
                if (called != m && tree.is_ancestor(m, called) &&
                    (deeper.empty() || deeper.back() != found)) {
                    deeper.push_back(found);
                }
            }
        });
    }
    std::vector<id> shallow;
    if (deeper.empty()) {
        return shallow;
    }
    std::sort(deeper.begin(), deeper.end());
    deeper.erase(std::unique(deeper.begin(), deeper.end()), deeper.end());
    const module_lookup<Modules> lookup(modules);
    const auto sibling_goes_deeper = [&](id m, id owner) {
        constexpr std::size_t max_siblings = 64;
        if (m == 0) {
            return false;
        }
        const auto above = tree.parent(m);
        const auto way = path_of(modules, owner).substr(path_of(modules, m).size() + 1);
        std::size_t tried = 0;
        for (auto s = above + 1; s < tree.end(above) && tried < max_siblings; s = tree.end(s)) {
            const auto like = s == m ? no_id : find_module(lookup, way, s);
            ++tried;
            if (like != no_id && is_named[like]) {
                return true;
            }
        }
        return false;
    };
    for (std::size_t first = 0, end = 0; first < deeper.size(); first = end) {
        const auto m = deeper[first].first;
        std::size_t skipped = 0;
        bool like_sibling = false;
        for (end = first; end < deeper.size() && deeper[end].first == m; ++end) {
            skipped += detail::names_between(modules, m, deeper[end].second) > 1 ? 1U : 0U;
            like_sibling = like_sibling || sibling_goes_deeper(m, deeper[end].second);
        }
        const auto inside = is_named.begin() + m + 1;
        const bool named_below = std::find(inside, is_named.begin() + tree.end(m), true) !=
                                 is_named.begin() + tree.end(m);
        if (!named_below && (skipped > 1 || like_sibling)) {
            shallow.push_back(m);
        }
    }
    return shallow;
}

} // namespace stemma

#endif // STEMMA_EVIDENCE_DETAIL_SHALLOW_MODULES_HPP

// <stemma/evidence/evidence_context.hpp>
#ifndef STEMMA_EVIDENCE_EVIDENCE_CONTEXT_HPP
#define STEMMA_EVIDENCE_EVIDENCE_CONTEXT_HPP

namespace stemma {

/// What several sources of evidence read of operators and modules, as far as it is known.
struct evidence_facts {
    std::optional<scope_table> scopes{};            ///< in the names of the operators
    std::optional<parameter_owners> owners{};       ///< modules that own the parameters
    std::optional<scope_modules> bound{};           ///< modules that the scopes stand for
    std::optional<hierarchy_table> hierarchies{};   ///< in the metadata of the operators
    std::optional<std::vector<bool>> independent{}; ///< what `data_independent` says of them
};

/// What sources of evidence read: the operators, the modules, and facts that several of them need,
/// each found when it is first asked for.
template <operator_view Ops, module_view Modules>
class evidence_context {
public:
    /// Requires: both outlive the context; several threads may read them at once, and ask what
    ///   sources prepare, if so many are given.
    evidence_context(const Ops& ops, const Modules& modules, thread_limit threads = {})
        : ops_(&ops), modules_(&modules), threads_(threads) {}

    /// As above; what is known already is not found anew. Requires: it is of these operators and
    /// modules.
    evidence_context(const Ops& ops, const Modules& modules, evidence_facts known,
                     thread_limit threads = {})
        : ops_(&ops), modules_(&modules), threads_(threads), known_(std::move(known)) {}

    /// Gives back what was known, and what was found since.
    [[nodiscard]] evidence_facts release() && { return std::move(known_); }

    /// The operators that were given.
    [[nodiscard]] const Ops& ops() const noexcept { return *ops_; }

    /// The modules that were given.
    [[nodiscard]] const Modules& modules() const noexcept { return *modules_; }

    /// How the modules lie to each other; claims name modules by rank in it.
    [[nodiscard]] const tree_index& index() const { return modules_->index(); }

    /// How many threads may read what was given.
    [[nodiscard]] thread_limit threads() const noexcept { return threads_; }

    /// The names of the sources that were asked; one with a name of its own is added when it
    /// prepares itself.
    [[nodiscard]] provenance_names& provenances() noexcept { return provenances_; }

    /// The scopes in the names of the operators.
    [[nodiscard]] const scope_table& scopes() requires named_operators<Ops> {
        if (!known_.scopes) {
            known_.scopes = collect_scopes(*ops_, threads_);
        }
        return *known_.scopes;
    }

    /// The modules that own the parameters.
    [[nodiscard]] const parameter_owners& owners() requires parameter_readers<Ops> {
        if (!known_.owners) {
            std::vector<bool> merged;
            if constexpr (named_operators<Ops>) {
                merged = find_merged_parameters(*ops_, scopes(), *modules_);
            }
            known_.owners = find_parameter_owners(*ops_, *modules_, merged);
        }
        return *known_.owners;
    }

    /// The modules that the scopes stand for.
    [[nodiscard]] const scope_modules&
    modules_of_scopes() requires named_operators<Ops> && parameter_readers<Ops> {
        if (!known_.bound) {
            known_.bound = bind_scopes(*ops_, scopes(), *modules_, owners(), threads_);
        }
        return *known_.bound;
    }

    /// The hierarchies in the metadata of the operators.
    [[nodiscard]] const hierarchy_table& hierarchies() {
        if (!known_.hierarchies) {
            known_.hierarchies = collect_hierarchies(*ops_);
        }
        return *known_.hierarchies;
    }

    /// The modules that those speak of.
    [[nodiscard]] const hierarchy_modules& modules_of_hierarchies() {
        if (!bound_hierarchies_) {
            path_mapping mapping;
            if constexpr (parameter_readers<Ops>) {
                mapping = owners().mapping;
            }
            bound_hierarchies_ = bind_hierarchies(*ops_, hierarchies(), *modules_, mapping);
        }
        return *bound_hierarchies_;
    }

    /// The modules at which names and metadata stop short; see `find_shallow_modules`.
    [[nodiscard]] const std::vector<id>&
    shallow() requires named_operators<Ops> && parameter_readers<Ops> {
        if (!shallow_ && names_reach_parameters()) {
            shallow_.emplace();
        }
        if (!shallow_) {
            const auto& table = scopes();
            const auto& bound = modules_of_scopes();
            const auto& chains = hierarchies().chain_of;
            const auto& places = modules_of_hierarchies().of_chain;
            shallow_ = find_shallow_modules(
                *ops_, *modules_, owners(), [&](const operator_t<Ops>& vertex) {
                    const auto v = static_cast<id>(index_of(ops_->graph(), vertex));
                    if (!chains.empty() && chains[v] != no_id) {
                        return places[chains[v]].exact ? places[chains[v]].module : no_id;
                    }
                    const auto scope = table.scope_of[v];
                    return scope == no_id ? no_id : bound.of(v, scope).module;
                });
        }
        return *shallow_;
    }

    /// The modules whose parameters the ones around compute with; see `find_bypassed_modules`.
    [[nodiscard]] const std::vector<id>& bypassed() requires parameter_readers<Ops> {
        if (!bypassed_) {
            bypassed_ = find_bypassed_modules(*ops_, *modules_, owners());
        }
        return *bypassed_;
    }

    /// What `data_independent` says of the operators.
    [[nodiscard]] const std::vector<bool>& independent() {
        if (!known_.independent) {
            known_.independent = data_independent(*ops_, sweep_order(ops_->graph()));
        }
        return *known_.independent;
    }

private:
    /// Whether every module that runs with parameters is named by some operator, so that names and
    /// metadata stop short of none. Complexity: O(scopes + parameters).
    [[nodiscard]] bool
    names_reach_parameters() requires named_operators<Ops> && parameter_readers<Ops> {
        std::vector<bool> is_named(index().size(), false);
        if (!hierarchies().chain_of.empty()) {
            for (const auto& place : modules_of_hierarchies().of_chain) {
                if (place.exact && place.module != no_id) {
                    is_named[place.module] = true;
                }
            }
        } else if (const auto& bound = modules_of_scopes(); bound.of_operator.empty()) {
            for (std::size_t s = 0; s < bound.of_scope.size(); ++s) {
                const auto module = bound.of_scope[s].module;
                if (module != no_id && scopes().scopes[s].operators > 0) {
                    is_named[module] = true;
                }
            }
        }
        for (id p = 0; p < ops_->parameter_count(); ++p) {
            for (auto owner : owners().of(p)) {
                if (!is_named[nearest_called(*modules_, owner)]) {
                    return false;
                }
            }
        }
        return true;
    }

    const Ops* ops_;
    const Modules* modules_;
    thread_limit threads_;
    provenance_names provenances_;
    evidence_facts known_;
    std::optional<hierarchy_modules> bound_hierarchies_;
    std::optional<std::vector<id>> shallow_;
    std::optional<std::vector<id>> bypassed_;
};

} // namespace stemma

#endif // STEMMA_EVIDENCE_EVIDENCE_CONTEXT_HPP

// <stemma/evidence/class_tags.hpp>
#ifndef STEMMA_EVIDENCE_CLASS_TAGS_HPP
#define STEMMA_EVIDENCE_CLASS_TAGS_HPP

namespace stemma {

/// Evidence in the tags of winml-cli, `winml.hierarchy.tag`: `/BertModel/BertEncoder/BertLayer.3`.
///
/// A segment is a class, with a number behind it where that is the module's name, or the name of an
/// attribute. Modules without a segment may be between, and below; a tag that fits several modules
/// is that of their common ancestor, as are several tags on one operator.
struct class_tags {
    using policy_category = evidence_category;

    template <class Ops>
    class claims {
    public:
        claims(const Ops& ops, std::unordered_map<id, id> found)
            : ops_(&ops), found_(std::move(found)) {}

        template <class Function>
        void for_each_claim(operator_t<Ops> vertex, Function f) const {
            if (found_.empty()) {
                return;
            }
            const auto found = found_.find(static_cast<id>(index_of(ops_->graph(), vertex)));
            if (found != found_.end()) {
                f(claim{found->second, no_id, 0.7F, provenance::leftover, false});
            }
        }

    private:
        const Ops* ops_;
        std::unordered_map<id, id> found_;
    };

    /// Complexity: O(operators with tags), and O(modules * length) for each distinct tag.
    template <operator_view Ops, module_view Modules>
    [[nodiscard]] claims<Ops> prepare(evidence_context<Ops, Modules>& context) const {
        std::unordered_map<id, id> found;
        std::unordered_map<std::string_view, id> known;
        for (const auto& [v, tag] : context.hierarchies().class_tags) {
            const auto [read, is_new] = known.emplace(tag, no_id);
            if (is_new) {
                read->second = find(context.modules(), tag);
            }
            if (read->second != no_id) {
                const auto [first, alone] = found.emplace(v, read->second);
                if (!alone) {
                    first->second = context.index().lca(first->second, read->second);
                }
            }
        }
        return {context.ops(), std::move(found)};
    }

private:
    /// Returns: the module that a tag leads to, `no_id` for none but the root.
    template <class Modules>
    [[nodiscard]] static id find(const Modules& modules, std::string_view tag) {
        const tree_index& tree = modules.index();
        std::vector<id> here{0};
        bool is_root = true;
        while (!tag.empty()) {
            tag.remove_prefix(1);
            const auto segment = tag.substr(0, tag.find('/'));
            tag.remove_prefix(segment.size());
            if (!std::exchange(is_root, false)) {
                std::vector<id> below;
                for (const auto m : here) {
                    add_nearest(modules, m, segment, below);
                }
                here = std::move(below);
            }
        }
        auto module = here.empty() ? no_id : here.front();
        for (const auto m : here) {
            module = tree.lca(module, m);
        }
        return module == 0 ? no_id : module;
    }

    /// Appends the modules below another one that a segment may mean, with none of them in between.
    template <class Modules>
    static void add_nearest(const Modules& modules, id above, std::string_view segment,
                            std::vector<id>& found) {
        const tree_index& tree = modules.index();
        for (id m = above + 1; m < tree.end(above);) {
            if (fits(modules, m, segment)) {
                found.push_back(m);
                m = tree.end(m);
            } else {
                ++m;
            }
        }
    }

    template <class Modules>
    [[nodiscard]] static bool fits(const Modules& modules, id m, std::string_view segment) {
        const std::string_view attribute = modules.attribute(m);
        const std::string_view class_name = modules.class_name(m);
        const bool numbered =
            !attribute.empty() && std::all_of(attribute.begin(), attribute.end(),
                                              [](char c) { return c >= '0' && c <= '9'; });
        if (!numbered) {
            return segment == class_name || segment == attribute;
        }
        return segment.size() == class_name.size() + 1 + attribute.size() &&
               segment.starts_with(class_name) && segment[class_name.size()] == '.' &&
               segment.ends_with(attribute);
    }
};

} // namespace stemma

#endif // STEMMA_EVIDENCE_CLASS_TAGS_HPP

// <stemma/evidence/dialect.hpp>
#ifndef STEMMA_EVIDENCE_DIALECT_HPP
#define STEMMA_EVIDENCE_DIALECT_HPP

namespace stemma {

/// Who gave an operator its name and metadata, as far as these say where it came from.
enum class dialect : std::uint8_t {
    none,         ///< nothing says where it came from
    dynamo,       ///< metadata of torch's exporter on top of torch.export
    builder,      ///< metadata of the onnxscript builder
    torchscript,  ///< names of torch's TorchScript exporter
    builder_name, ///< names of model builders, without a leading slash
    function,     ///< a call of a local function, or inside one
    optimized,    ///< what an optimizer left of a name
};

/// How many dialects there are.
inline constexpr std::size_t dialect_count = 7;

/// Returns: the name that reports use.
[[nodiscard]] constexpr std::string_view to_string(dialect d) noexcept {
    constexpr std::array<std::string_view, dialect_count> names{
        "none", "dynamo", "builder", "torchscript", "builder-names", "function", "optimized"};
    return names[static_cast<std::size_t>(d)];
}

/// What a dialect says of an operator's module.
enum class scope_quality : std::uint8_t {
    path_and_class, ///< which module of the tree, and of which class
    path,           ///< which module of the tree
    operator_only,  ///< nothing: the name is the operator's alone
};

/// How much of a model is written in which dialect.
struct dialect_report {
    std::vector<dialect> of;            ///< by vertex index
    std::vector<scope_quality> quality; ///< by vertex index
};

/// Finds the dialect of every operator by itself; one model may mix several.
/// Complexity: O(operators), after the facts of the context.
template <named_operators Ops, module_view Modules>
    requires parameter_readers<Ops>
[[nodiscard]] dialect_report detect_dialects(evidence_context<Ops, Modules>& context) {
    const auto& ops = context.ops();
    const auto& hierarchies = context.hierarchies();
    const auto& scopes = context.scopes();
    dialect_report report;
    report.of.resize(num_vertices(ops.graph()), dialect::none);
    report.quality.resize(report.of.size(), scope_quality::operator_only);
    for (auto [it, last] = vertices(ops.graph()); it != last; ++it) {
        const auto v = static_cast<id>(index_of(ops.graph(), *it));
        auto& found = report.of[v];
        auto& quality = report.quality[v];
        const auto chain = hierarchies.chain_of.empty() ? no_id : hierarchies.chain_of[v];
        if (chain != no_id) {
            const auto& known = hierarchies.chains[chain];
            const bool classes = !known.levels.back().qualified_class.empty();
            found = known.dialect == hierarchy_dialect::dynamo ? dialect::dynamo : dialect::builder;
            quality = classes ? scope_quality::path_and_class : scope_quality::path;
            continue;
        }
        if (std::binary_search(hierarchies.bare.begin(), hierarchies.bare.end(), v)) {
            found = dialect::dynamo;
            continue;
        }
        if constexpr (calling_operators<Ops>) {
            const bool call = ops.callee(*it) != no_id;
            if (call || ops.enclosing_function(*it) != no_id) {
                found = dialect::function;
                quality = call ? scope_quality::path_and_class : scope_quality::operator_only;
                continue;
            }
        }
        const auto scope = scopes.scope_of[v];
        if (scope == no_id) {
            continue;
        }
        const bool left = std::binary_search(scopes.leftover.begin(), scopes.leftover.end(), v);
        const auto style = scopes.scopes[scope].style;
        found = left                             ? dialect::optimized
                : style == scope_style::relative ? dialect::builder_name
                                                 : dialect::torchscript;
        const bool classes = style == scope_style::typed && !left;
        quality = classes ? scope_quality::path_and_class : scope_quality::path;
    }
    return report;
}

} // namespace stemma

#endif // STEMMA_EVIDENCE_DIALECT_HPP

// <stemma/evidence/evidence.hpp>
#ifndef STEMMA_EVIDENCE_EVIDENCE_HPP
#define STEMMA_EVIDENCE_EVIDENCE_HPP

namespace stemma {

namespace detail {

struct take_claim {
    void operator()(const claim&) const {}
};

template <class P, class Ops, class Modules>
concept has_prepare = requires(const P& p, evidence_context<Ops, Modules>& context) {
    p.prepare(context);
};

template <class P, class Ops, class Modules>
using prepared_t =
    decltype(std::declval<const P&>().prepare(std::declval<evidence_context<Ops, Modules>&>()));

template <class P, class Ops, class Modules>
concept has_for_each_claim = has_prepare<P, Ops, Modules> &&
    requires(const prepared_t<P, Ops, Modules>& claims, operator_t<Ops> v) {
    claims.for_each_claim(v, take_claim{});
};

} // namespace detail

/// A source of claims about operators.
///
/// `prepare(context)` reads whatever the source needs once, and returns an object whose
/// `for_each_claim(v, f)` calls `f(claim)` for what is known of `v`: not at all, once, or once for
/// each alternative.
///
/// Requires: modules in claims are ranks in `context.index()`; the same claims at every call; all
///   claims of one source name the same provenance.
/// Complexity: `prepare` linear in operators and modules; `for_each_claim` constant.
template <class P, class Ops, class Modules>
concept evidence_policy = policy_for<P, evidence_category> &&
    detail::has_prepare<P, Ops, Modules> && detail::has_for_each_claim<P, Ops, Modules>;

/// Put `static_assert(explain_evidence_policy<mine, ops, modules>());` beside a refused policy.
template <class P, class Ops, class Modules>
consteval bool explain_evidence_policy() {
    static_assert(std::copy_constructible<P>, "evidence policy: make the class copyable");
    static_assert(policy_for<P, evidence_category>,
                  "evidence policy: add `using policy_category = stemma::evidence_category;`");
    static_assert(
        detail::has_prepare<P, Ops, Modules>,
        "evidence policy: add `auto prepare(stemma::evidence_context<Ops, Modules>&) const`");
    if constexpr (detail::has_prepare<P, Ops, Modules>) {
        static_assert(detail::has_for_each_claim<P, Ops, Modules>,
                      "evidence policy: what prepare() returns needs "
                      "`void for_each_claim(vertex, Function) const`");
    }
    return evidence_policy<P, Ops, Modules>;
}

} // namespace stemma

#endif // STEMMA_EVIDENCE_EVIDENCE_HPP

// <stemma/core/detail/policy_name.hpp>
#ifndef STEMMA_CORE_DETAIL_POLICY_NAME_HPP
#define STEMMA_CORE_DETAIL_POLICY_NAME_HPP

namespace stemma::detail {

/// A policy with `static constexpr std::string_view name`, or one that each object has.
template <class P>
concept has_name_member = requires(const P& policy) {
    { policy.name } -> std::convertible_to<std::string_view>;
};

/// A policy with `std::string name() const`, whose name tells its options too.
template <class P>
concept has_name_function = requires(const P& policy) {
    { policy.name() } -> std::convertible_to<std::string>;
};

/// A policy that says what it is called.
template <class P>
concept named_policy = has_name_member<P> || has_name_function<P>;

/// Returns: what a policy calls itself, "" where it does not.
template <class P>
[[nodiscard]] std::string name_of_policy([[maybe_unused]] const P& policy) {
    if constexpr (has_name_member<P>) {
        return std::string(std::string_view(policy.name));
    } else if constexpr (has_name_function<P>) {
        return policy.name();
    } else {
        return {};
    }
}

} // namespace stemma::detail

#endif // STEMMA_CORE_DETAIL_POLICY_NAME_HPP

// <stemma/evidence/detail/named_claims.hpp>
#ifndef STEMMA_EVIDENCE_DETAIL_NAMED_CLAIMS_HPP
#define STEMMA_EVIDENCE_DETAIL_NAMED_CLAIMS_HPP

namespace stemma::detail {

/// The claims of a source that has a name, under that name.
template <class Claims>
struct named_claims {
    Claims made;                        ///< as the source prepared them
    std::optional<provenance> source{}; ///< of all of them; as they say where there is none

    template <class Vertex, class Function>
    void for_each_claim(const Vertex& v, Function f) const {
        if (!source) {
            made.for_each_claim(v, f);
            return;
        }
        made.for_each_claim(v, [&](claim one) {
            one.source = *source;
            f(one);
        });
    }
};

/// Returns: what `source.prepare(context)` does; where the source has a name, its claims bear that.
template <class Source, class Ops, class Modules>
[[nodiscard]] auto prepare_source(const Source& source, evidence_context<Ops, Modules>& context) {
    if constexpr (named_policy<Source>) {
        const auto name = name_of_policy(source);
        const auto number =
            name.empty() ? std::optional<provenance>() : context.provenances().add(name);
        return named_claims<decltype(source.prepare(context))>{source.prepare(context), number};
    } else {
        return source.prepare(context);
    }
}

} // namespace stemma::detail

#endif // STEMMA_EVIDENCE_DETAIL_NAMED_CLAIMS_HPP

// <stemma/evidence/evidence_sources.hpp>
#ifndef STEMMA_EVIDENCE_EVIDENCE_SOURCES_HPP
#define STEMMA_EVIDENCE_EVIDENCE_SOURCES_HPP

namespace stemma {

/// Several sources of evidence as one: their claims stand one source after the other.
template <policy_for<evidence_category>... Sources>
class evidence_sources {
public:
    using policy_category = evidence_category;

    constexpr evidence_sources() = default;

    /// The sources are asked in this order, and their claims come in it.
    constexpr explicit evidence_sources(Sources... sources) requires(sizeof...(Sources) > 0)
        : sources_(std::move(sources)...) {}

    template <class... Claims>
    class claims {
    public:
        explicit claims(Claims... parts) : parts_(std::move(parts)...) {}

        template <class Vertex, class Function>
        void for_each_claim(const Vertex& v, Function f) const {
            std::apply([&](const auto&... part) { (part.for_each_claim(v, f), ...); }, parts_);
        }

    private:
        std::tuple<Claims...> parts_;
    };

    template <class Ops, class Modules>
    [[nodiscard]] auto prepare(evidence_context<Ops, Modules>& context) const {
        return std::apply(
            [&](const auto&... source) {
                // In braces, so that they prepare themselves in their order.
                return claims<decltype(detail::prepare_source(source, context))...>{
                    detail::prepare_source(source, context)...};
            },
            sources_);
    }

private:
    STEMMA_NO_UNIQUE_ADDRESS std::tuple<Sources...> sources_;
};

/// A source that can be switched off at run time.
template <policy_for<evidence_category> Source>
struct optional_source {
    using policy_category = evidence_category;

    Source source{};     ///< asked while `enabled`
    bool enabled = true; ///< false: it claims nothing, but still prepares itself

    template <class Claims>
    struct claims {
        Claims made;
        bool enabled = true;

        template <class Vertex, class Function>
        void for_each_claim(const Vertex& v, Function f) const {
            if (enabled) {
                made.for_each_claim(v, f);
            }
        }
    };

    template <class Ops, class Modules>
    [[nodiscard]] auto prepare(evidence_context<Ops, Modules>& context) const {
        return claims<decltype(detail::prepare_source(source, context))>{
            detail::prepare_source(source, context), enabled};
    }
};

} // namespace stemma

#endif // STEMMA_EVIDENCE_EVIDENCE_SOURCES_HPP

// <stemma/evidence/detail/function_names.hpp>
#ifndef STEMMA_EVIDENCE_DETAIL_FUNCTION_NAMES_HPP
#define STEMMA_EVIDENCE_DETAIL_FUNCTION_NAMES_HPP

namespace stemma::detail {

/// Reads from the names of functions for which modules they were made, as torch does that writes a
/// function for each call of a module, in the domain `pkg.` and its package: behind the class the
/// path, with `_` for all but letters and digits, and the number of the call:
/// `torch_nn_modules_linear_Linear_encoder_layer_0_fc_1`.
template <calling_operators Ops, module_view Modules>
class function_names {
public:
    /// Requires: both outlive it. Complexity: O(length of paths), and for each function with such a
    /// name that of `module_of`, up to the first that names a module.
    function_names(const Ops& ops, const Modules& modules) : ops_(ops), modules_(modules) {
        for (id f = 0; f < ops.function_count() && !any_; ++f) {
            any_ = module_of(f, 0, no_id) != no_id;
        }
    }

    /// Whether there is such a function.
    [[nodiscard]] bool any() const noexcept { return any_; }

    /// Returns: the module below `top` that a function was made for; `no_id` for other functions.
    /// `owner` is the module that holds the parameters passed, or `no_id`.
    /// Complexity: O(modules below `top` * length of the name).
    [[nodiscard]] id module_of(id function, id top, id owner) const {
        const auto text = path_in(function);
        if (text.empty()) {
            return no_id;
        }
        const auto& tree = modules_.index();
        id best = no_id;
        for (auto m = top + 1; m < tree.end(top); ++m) {
            const auto& path = plain_path_of(m);
            const auto rest = text.size() - path.size();
            if (path.empty() || !text.ends_with(path) || (rest > 0 && text[rest - 1] != '_') ||
                (best != no_id && path.size() <= plain_path_of(best).size())) {
                continue;
            }
            // A path of a module that the tree does not know may end like that of another.
            const bool whole =
                rest == 0 || ends_in_class(std::string_view(text).substr(0, rest - 1));
            if (whole || (owner != no_id && tree.is_ancestor(m, owner))) {
                best = m;
            }
        }
        return best;
    }

private:
    /// Returns: the name before its number; "" for names of another form.
    [[nodiscard]] std::string path_in(id function) const {
        const std::string_view name = ops_.function_name(function);
        const std::string_view domain = ops_.function_domain(function);
        const auto number = name.rfind('_');
        const bool branch = domain == "pkg.torch.__subgraph__"; // named by torch.cond and the like
        if (!domain.starts_with("pkg.") || branch || number == name.npos ||
            number + 1 == name.size() || !is_digits(name.substr(number + 1))) {
            return {};
        }
        return plain_path(name.substr(0, number));
    }

    [[nodiscard]] static bool is_digits(std::string_view text) {
        return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
    }

    /// Returns: a text with one `_` for whatever stands between letters and digits.
    [[nodiscard]] static std::string plain_path(std::string_view text) {
        std::string plain;
        for (char c : text) {
            const bool word =
                (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
            if (word || (!plain.empty() && plain.back() != '_')) {
                plain.push_back(word ? c : '_');
            }
        }
        if (!plain.empty() && plain.back() == '_') {
            plain.pop_back();
        }
        return plain;
    }

    [[nodiscard]] const std::string& plain_path_of(id m) const {
        if (plain_.empty()) {
            for (id each = 0; each < modules_.index().size(); ++each) {
                plain_.push_back(plain_path(path_of(modules_, each)));
            }
        }
        return plain_[m];
    }

    /// Whether the last word is written like a class, or is what dynamo calls the model itself.
    [[nodiscard]] static bool ends_in_class(std::string_view text) {
        const auto word = text.substr(text.rfind('_') + 1);
        return text.ends_with("L_self") || (!word.empty() && word[0] >= 'A' && word[0] <= 'Z');
    }

    const Ops& ops_;
    const Modules& modules_;
    bool any_ = false;
    mutable std::vector<std::string> plain_; // paths, by module; empty until one is asked for
};

} // namespace stemma::detail

#endif // STEMMA_EVIDENCE_DETAIL_FUNCTION_NAMES_HPP

// <stemma/evidence/detail/handed_parameters.hpp>
#ifndef STEMMA_EVIDENCE_DETAIL_HANDED_PARAMETERS_HPP
#define STEMMA_EVIDENCE_DETAIL_HANDED_PARAMETERS_HPP

namespace stemma {

/// How far functions hand down what they are called with: an operator in the body may read it, or a
/// call in there may hand it on.
class handed_parameters {
public:
    handed_parameters() = default;

    /// Complexity: linear in what operators in bodies read, on average.
    template <calling_operators Ops>
    explicit handed_parameters(const Ops& ops) {
        std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> handed_by;
        std::vector<std::uint64_t> level;
        for (auto [it, last] = vertices(ops.graph()); it != last; ++it) {
            const auto function = ops.enclosing_function(*it);
            if (function == no_id) {
                continue;
            }
            const auto callee = ops.callee(*it);
            id slot = 0;
            ops.for_each_argument(*it, [&](const operator_argument& argument) {
                if (argument.formal != no_id) {
                    const auto from = key(function, argument.formal);
                    if (callee != no_id) {
                        handed_by[key(callee, slot)].push_back(from);
                    } else if (calls_.emplace(from, 0).second) {
                        level.push_back(from);
                    }
                }
                ++slot;
            });
        }
        for (id calls = 1; !level.empty(); ++calls) {
            std::vector<std::uint64_t> next;
            for (auto to : level) {
                if (const auto found = handed_by.find(to); found != handed_by.end()) {
                    for (auto from : found->second) {
                        if (calls_.emplace(from, calls).second) {
                            next.push_back(from);
                        }
                    }
                }
            }
            level = std::move(next);
        }
    }

    /// Returns: through how many calls at least an input of a function goes before an operator that
    /// is no call reads it; 0 where none does. Complexity: O(1) on average.
    [[nodiscard]] id calls_below(id function, id formal) const {
        const auto found = calls_.find(key(function, formal));
        return found == calls_.end() ? 0 : found->second;
    }

private:
    [[nodiscard]] static std::uint64_t key(id function, id formal) noexcept {
        return std::uint64_t{function} << 32U | formal;
    }

    std::unordered_map<std::uint64_t, id> calls_; // by function and input
};

} // namespace stemma

#endif // STEMMA_EVIDENCE_DETAIL_HANDED_PARAMETERS_HPP

// <stemma/evidence/detail/call_resolver.hpp>
#ifndef STEMMA_EVIDENCE_DETAIL_CALL_RESOLVER_HPP
#define STEMMA_EVIDENCE_DETAIL_CALL_RESOLVER_HPP

namespace stemma::detail {

/// The modules that operators of functions belong to, and all calls.
struct modules_of_calls {
    std::unordered_map<id, std::vector<id>> all{}; ///< by vertex index
    bool every_module = false; ///< is a function, so that nothing else in the main graph is in one
    /// The same when the function around is called for one module, by `key`.
    std::unordered_map<std::uint64_t, id> by_caller{};

    /// `around` is `no_id` in the main graph, and where nothing is known of the call.
    [[nodiscard]] static std::uint64_t key(id v, id around) noexcept {
        return std::uint64_t{v} << 32U | around;
    }
};

/// Follows calls from the main graph into functions and finds the module of every call.
///
/// A function stands for a class: `domain` is its package and `name` the class, with `.1` behind it
/// for a further variant. The name of a call in the main graph is scoped as that of the last
/// operator in the body; the module is the one on that way that has the class, or, where classes
/// are unknown, the deepest that holds all parameters passed, and as many levels above their owners
/// as there are calls between it and who reads them. A call inside a body has no scope:
/// its module lies below that of the body, and holds the parameters that the outer calls passed
/// down. Metadata of a call, where it has some, name its module before all of these. A call in the
/// body of an If or Loop about which nothing is known runs in the module of what owns the body.
template <calling_operators Ops, module_view Modules>
class call_resolver {
public:
    explicit call_resolver(evidence_context<Ops, Modules>& context)
        : ops_(context.ops())
        , modules_(context.modules())
        , tree_(context.index())
        , owners_(context.owners())
        , table_(context.scopes())
        , bound_(context.modules_of_scopes())
        , chains_(context.hierarchies())
        , bound_chains_(context.modules_of_hierarchies())
        , lookup_(modules_)
        , names_(ops_, modules_)
        , handed_(ops_) {
        found_.every_module = names_.any();
        for (const auto& op : operators_in_bodies(ops_)) {
            owner_of_body_.emplace(op.v, op.owner);
        }
        for (auto [it, last] = vertices(ops_.graph()); it != last; ++it) {
            const auto f = ops_.enclosing_function(*it);
            if (f != no_id) {
                bodies_[f].push_back(*it);
            } else if (ops_.callee(*it) != no_id) {
                enter(*it, {});
            }
        }
        for (std::size_t i = 0; i < contexts_.size(); ++i) {
            visit_body(i);
        }
    }

    /// What was found.
    [[nodiscard]] modules_of_calls take() && { return std::move(found_); }

private:
    /// A function as called from one place: its module, and the parameters passed.
    struct call_context {
        id function = no_id;
        id module = no_id; // `no_id` where nothing is known of the call
        id last = no_id;   // that of the last operator in the body, where the name says it
        std::size_t depth = 0;
        std::vector<id> passed; // by formal input: a parameter or `no_id`
    };

    // Bounds what recursion and chains of calls in a hostile model can cost.
    static constexpr std::size_t max_contexts = 1U << 20U;

    [[nodiscard]] static std::string_view without_variant(std::string_view name) {
        const auto dot = name.rfind('.');
        const auto rest = dot == name.npos ? std::string_view{} : name.substr(dot + 1);
        const bool number = !rest.empty() && std::all_of(rest.begin(), rest.end(), [](char c) {
            return c >= '0' && c <= '9';
        });
        return number ? name.substr(0, dot) : name;
    }

    [[nodiscard]] bool has_class(id m, id function) const {
        const std::string_view domain = ops_.function_domain(function);
        const auto name = without_variant(ops_.function_name(function));
        const std::string_view qualified = modules_.qualified_class(m);
        return qualified.size() == domain.size() + 1 + name.size() &&
               qualified.starts_with(domain) && qualified.ends_with(name);
    }

    /// What the operator reads as parameters when it runs in `context`.
    [[nodiscard]] std::vector<id> passed_to(operator_t<Ops> v, const call_context& context) const {
        std::vector<id> passed;
        ops_.for_each_argument(v, [&](const operator_argument& argument) {
            const bool formal = argument.formal < context.passed.size();
            passed.push_back(formal ? context.passed[argument.formal] : argument.parameter);
        });
        return passed;
    }

    /// Returns: the deepest module that holds the owners of all these parameters, or `no_id`.
    [[nodiscard]] id common_owner(std::span<const id> parameters) const {
        id common = no_id;
        for (auto p : parameters) {
            if (p != no_id && owners_.of(p).size() == 1) {
                const auto owner = nearest_called(modules_, owners_.of(p).front());
                common = common == no_id ? owner : tree_.lca(common, owner);
            }
        }
        return common;
    }

    /// Returns: the same for a call below `top`, of those modules above the owners that may make
    /// it: what a call hands on belongs to a module further down.
    [[nodiscard]] id common_caller(std::span<const id> parameters, id top, id function) const {
        // Functions of operators, such as torch's exporter adds, are no modules.
        const bool levels = !std::string_view(ops_.function_domain(function)).starts_with("pkg.");
        id common = no_id;
        for (std::size_t slot = 0; slot < parameters.size(); ++slot) {
            const auto p = parameters[slot];
            if (p == no_id || owners_.of(p).size() != 1) {
                continue;
            }
            auto m = nearest_called(modules_, owners_.of(p).front());
            auto up = levels ? handed_.calls_below(function, static_cast<id>(slot)) : 0;
            for (; up > 0 && m != 0 && tree_.parent(m) != top; --up) {
                m = nearest_called(modules_, tree_.parent(m));
            }
            common = common == no_id ? m : tree_.lca(common, m);
        }
        return common;
    }

    /// Returns: the deepest module at or above `m`, down from `top`, that has the function's class.
    [[nodiscard]] id of_class_above(id m, id top, id function) const {
        while (m != top && !has_class(m, function)) {
            m = tree_.parent(m);
        }
        return has_class(m, function) ? m : no_id;
    }

    [[nodiscard]] id only_one_below(id top, id function) const {
        id only = no_id;
        for (auto m = top + 1; m < tree_.end(top); ++m) {
            if (has_class(m, function)) {
                if (only != no_id) {
                    return no_id;
                }
                only = m;
            }
        }
        return only;
    }

    [[nodiscard]] id module_of_call(operator_t<Ops> v, const call_context& around,
                                    std::span<const id> passed) const {
        const auto function = ops_.callee(v);
        const auto index = static_cast<id>(index_of(ops_.graph(), v));
        const auto top = around.function == no_id || around.module == no_id ? 0 : around.module;
        const auto owner = common_owner(passed);
        const auto caller = common_caller(passed, around.function == no_id ? no_id : top, function);
        const auto scope = around.function == no_id ? table_.scope_of[index] : no_id;
        const bool described = around.function == no_id && !chains_.chain_of.empty();
        const auto chain = described ? chains_.chain_of[index] : no_id;
        if (chain != no_id && bound_chains_.of_chain[chain].module != no_id) {
            return bound_chains_.of_chain[chain].module;
        }
        if (const auto named = names_.module_of(function, top, owner); named != no_id) {
            return named;
        }
        auto module = scope == no_id ? no_id : bound_.of(index, scope).module;
        if (module == no_id) {
            module = owner != no_id && tree_.is_ancestor(top, owner) ? owner : no_id;
        }
        if (module == no_id && around.function == no_id && found_.every_module) {
            return 0;
        }
        if (module == no_id) {
            const auto only = only_one_below(top, function);
            return only != no_id              ? only
                   : around.function != no_id ? around.module
                                              : top_level_module_of(index);
        }
        if (caller != no_id && tree_.is_ancestor(caller, module) && has_class(caller, function)) {
            return caller;
        }
        if (const auto typed = of_class_above(module, top, function); typed != no_id) {
            return typed;
        }
        while (module != top && caller != no_id && !tree_.is_ancestor(module, caller)) {
            module = tree_.parent(module);
        }
        return module;
    }

    /// Returns: the module of the nearest owner of a body around `v` that is known, or `no_id`.
    [[nodiscard]] id top_level_module_of(id v) const {
        for (auto owner = owner_of_body_.find(v); owner != owner_of_body_.end();
             owner = owner_of_body_.find(owner->second)) {
            const auto u = owner->second;
            const auto chain = chains_.chain_of.empty() ? no_id : chains_.chain_of[u];
            if (chain != no_id && bound_chains_.of_chain[chain].module != no_id) {
                return bound_chains_.of_chain[chain].module;
            }
            if (const auto scope = table_.scope_of[u]; scope != no_id) {
                return bound_.of(u, scope).module;
            }
        }
        return no_id;
    }

    [[nodiscard]] bool is_folded(operator_t<Ops> v) const {
        if constexpr (folded_operators<Ops>) {
            return ops_.is_folded(v);
        }
        return false;
    }

    /// Returns: the module that a folded operator names; where the tree ends before, the last one.
    [[nodiscard]] id on_path(operator_t<Ops> v, id from) const {
        if constexpr (folded_operators<Ops>) {
            return find_longest(lookup_, ops_.fold_path(v), from).first;
        }
        return from;
    }

    /// Returns: the module in whose scope a call is named, if that is below the one called.
    [[nodiscard]] id last_module(operator_t<Ops> v, const call_context& inside) const {
        const auto index = static_cast<id>(index_of(ops_.graph(), v));
        const auto scope = is_folded(v) ? no_id : table_.scope_of[index];
        const auto named = scope == no_id ? no_id : bound_.of(index, scope).module;
        const bool below = named != no_id && inside.module != no_id && named != inside.module &&
                           tree_.is_ancestor(inside.module, named);
        return below ? named : no_id;
    }

    void enter(operator_t<Ops> v, const call_context& around, id last = no_id) {
        call_context inside;
        inside.function = ops_.callee(v);
        inside.passed = passed_to(v, around);
        inside.module = is_folded(v) ? on_path(v, around.function == no_id ? 0 : around.module)
                                     : module_of_call(v, around, inside.passed);
        inside.depth = around.depth + 1;
        inside.last = around.function == no_id ? last_module(v, inside) : last;
        note(v, around, inside.module);
        if (inside.depth > ops_.function_count() || contexts_.size() >= max_contexts ||
            !entered_[inside.function].insert(inside.module).second) {
            return;
        }
        contexts_.push_back(std::move(inside));
    }

    void visit_body(std::size_t i) {
        const auto context = contexts_[i];
        const auto body = bodies_.find(context.function);
        if (body == bodies_.end()) {
            return;
        }
        for (const auto& v : body->second) {
            const auto last = &v == &body->second.back() ? context.last : no_id;
            if (ops_.callee(v) != no_id) {
                enter(v, context, last);
                continue;
            }
            if (is_folded(v)) {
                note(v, context, on_path(v, context.module));
                continue;
            }
            if (last != no_id) {
                note(v, context, last);
                continue;
            }
            const auto owner = common_owner(passed_to(v, context));
            const bool known = context.module != no_id;
            const bool below =
                owner != no_id && (!known || tree_.is_ancestor(context.module, owner));
            note(v, context, below ? owner : context.module);
        }
    }

    void note(operator_t<Ops> v, const call_context& around, id module) {
        if (module == no_id) {
            return;
        }
        const auto index = static_cast<id>(index_of(ops_.graph(), v));
        if (noted_.insert(std::uint64_t{index} << 32U | module).second) {
            found_.all[index].push_back(module);
        }
        found_.by_caller.emplace(modules_of_calls::key(index, around.module), module);
    }

    const Ops& ops_;
    const Modules& modules_;
    const tree_index& tree_;
    const parameter_owners& owners_;
    const scope_table& table_;
    const scope_modules& bound_;
    const hierarchy_table& chains_;
    const hierarchy_modules& bound_chains_;
    std::unordered_map<id, id> owner_of_body_; // by vertex index of what stands in a body
    std::unordered_map<id, std::vector<operator_t<Ops>>> bodies_;
    const module_lookup<Modules> lookup_;
    const function_names<Ops, Modules> names_;
    const handed_parameters handed_;
    std::unordered_map<id, std::unordered_set<id>> entered_; // modules a function was entered for
    std::unordered_set<std::uint64_t> noted_;                // operator and module
    std::vector<call_context> contexts_;
    modules_of_calls found_;
};

} // namespace stemma::detail

#endif // STEMMA_EVIDENCE_DETAIL_CALL_RESOLVER_HPP

// <stemma/evidence/function_calls.hpp>
#ifndef STEMMA_EVIDENCE_FUNCTION_CALLS_HPP
#define STEMMA_EVIDENCE_FUNCTION_CALLS_HPP

namespace stemma {

/// Evidence from local functions: calls, and the operators in bodies, once for every module that
/// the function is called for. The body of a function that nobody calls, or of which nothing is
/// known, is the root's. Below a module without children there is nothing, so what runs there is
/// surely its own. Where every module is a function, what stands in no function is the root's.
struct function_calls {
    using policy_category = evidence_category;

    template <class Ops>
    class claims {
    public:
        claims(const Ops& ops, const tree_index& tree, detail::modules_of_calls found)
            : ops_(&ops), tree_(&tree), found_(std::move(found)) {}

        template <class Function>
        void for_each_claim(operator_t<Ops> vertex, Function f) const {
            const auto say = [&](id module, float confidence, bool exact) {
                f(claim{module, no_id, confidence, provenance::function, exact, no_id});
            };
            if constexpr (calling_operators<Ops>) {
                const bool call = ops_->callee(vertex) != no_id;
                if (!call && ops_->enclosing_function(vertex) == no_id) {
                    if (found_.every_module) {
                        say(0, 0.85F, true);
                    }
                    return;
                }
                const auto found =
                    found_.all.find(static_cast<id>(index_of(ops_->graph(), vertex)));
                if (found == found_.all.end()) {
                    if (ops_->enclosing_function(vertex) != no_id) {
                        say(0, 0.5F, false);
                    }
                    return;
                }
                for (auto module : found->second) {
                    const bool leaf = tree_->end(module) == module + 1;
                    say(module, call ? 0.95F : leaf ? 0.92F : 0.85F, call);
                }
            }
        }

        /// Returns: the module of what has vertex index `v` when the function around it is called
        /// for module `around` (`no_id`: in the main graph, or for one that is not known);
        /// `no_id` where nothing is known. Complexity: O(1) on average.
        [[nodiscard]] id module_of(id v, id around) const {
            const auto found = found_.by_caller.find(detail::modules_of_calls::key(v, around));
            return found == found_.by_caller.end() ? no_id : found->second;
        }

    private:
        const Ops* ops_;
        const tree_index* tree_;
        detail::modules_of_calls found_;
    };

    /// Complexity: linear in operators, and in the bodies of functions times the modules each is
    /// called for.
    template <operator_view Ops, module_view Modules>
    [[nodiscard]] claims<Ops> prepare(evidence_context<Ops, Modules>& context) const {
        if constexpr (calling_operators<Ops>) {
            if (context.ops().function_count() > 0) {
                return {context.ops(), context.index(),
                        detail::call_resolver<Ops, Modules>(context).take()};
            }
        }
        return {context.ops(), context.index(), {}};
    }
};

} // namespace stemma

#endif // STEMMA_EVIDENCE_FUNCTION_CALLS_HPP

// <stemma/evidence/given_claims.hpp>
#ifndef STEMMA_EVIDENCE_GIVEN_CLAIMS_HPP
#define STEMMA_EVIDENCE_GIVEN_CLAIMS_HPP

namespace stemma {

/// What one source claims about all operators, at most one claim each.
struct claim_table {
    provenance source = provenance::root; ///< the one that all claims name
    std::vector<claim> of; ///< by vertex index; `module == no_id` where it claims nothing

    /// Returns: how many operators it speaks of. Complexity: O(operators).
    [[nodiscard]] std::size_t count() const noexcept {
        std::size_t claimed = 0;
        for (const auto& made : of) {
            claimed += made.module == no_id ? 0U : 1U;
        }
        return claimed;
    }
};

/// Evidence that was found elsewhere: by aligning a capture, or by whoever tagged the model.
struct given_claims {
    using policy_category = evidence_category;

    /// Asked in this order; none where it is null.
    const std::vector<claim_table>* tables = nullptr;

    template <class Ops>
    class claims {
    public:
        claims(const Ops& ops, const std::vector<claim_table>* tables)
            : ops_(&ops), tables_(tables) {}

        template <class Function>
        void for_each_claim(operator_t<Ops> vertex, Function f) const {
            if (tables_ == nullptr) {
                return;
            }
            const auto v = index_of(ops_->graph(), vertex);
            for (const auto& table : *tables_) {
                if (v < table.of.size() && table.of[v].module != no_id) {
                    f(table.of[v]);
                }
            }
        }

    private:
        const Ops* ops_;
        const std::vector<claim_table>* tables_;
    };

    /// Requires: the tables outlive the claims, and their modules are those of the context.
    template <class Ops, class Modules>
    [[nodiscard]] claims<Ops> prepare(evidence_context<Ops, Modules>& context) const {
        return {context.ops(), tables};
    }
};

} // namespace stemma

#endif // STEMMA_EVIDENCE_GIVEN_CLAIMS_HPP

// <stemma/evidence/hierarchy_metadata.hpp>
#ifndef STEMMA_EVIDENCE_HIERARCHY_METADATA_HPP
#define STEMMA_EVIDENCE_HIERARCHY_METADATA_HPP

namespace stemma {

/// Evidence from the hierarchy that an exporter wrote into the metadata of operators: the modules
/// that were running, with their classes.
///
/// What an optimizer made of several operators carries the metadata of the first of them only, or
/// of all, one key several times: a claim for each, marked as doubtful.
template <hierarchy_dialect Dialect>
struct hierarchy_metadata {
    using policy_category = evidence_category;

    template <class Ops>
    class claims {
    public:
        claims(const Ops& ops, const hierarchy_table& table, const hierarchy_modules& bound,
               std::span<const id> shallow)
            : ops_(&ops), table_(&table), bound_(&bound), shallow_(shallow) {}

        template <class Function>
        void for_each_claim(operator_t<Ops> vertex, Function f) const {
            if (table_->chain_of.empty()) {
                return;
            }
            const auto v = static_cast<id>(index_of(ops_->graph(), vertex));
            const auto chain = table_->chain_of[v];
            // Only torch's exporter leaves out the modules around a body.
            const auto written =
                chain == no_id ? hierarchy_dialect::dynamo : table_->chains[chain].dialect;
            if (written != Dialect) {
                return;
            }
            auto place = chain == no_id ? hierarchy_modules::place{} : bound_->of_chain[chain];
            if (place.module == no_id && !bound_->of_body_operator.empty()) {
                place.module = bound_->of_body_operator[v];
            }
            if (place.module == no_id) {
                return;
            }
            const bool exact =
                place.exact && !std::binary_search(shallow_.begin(), shallow_.end(), place.module);
            claim made{place.module,         no_id, exact ? 0.97F : 0.6F,
                       provenance::metadata, exact, no_id};
            const auto stands_before = [](const auto& one, id wanted) {
                return one.first < wanted;
            };
            auto other =
                std::lower_bound(table_->further.begin(), table_->further.end(), v, stands_before);
            const bool several = other != table_->further.end() && other->first == v;
            made.doubtful = several || std::binary_search(table_->rewritten.begin(),
                                                          table_->rewritten.end(), v);
            f(made);
            for (; several && other != table_->further.end() && other->first == v; ++other) {
                const auto further = bound_->of_chain[other->second];
                if (further.module != no_id) {
                    made.module = further.module;
                    f(made);
                }
            }
        }

    private:
        const Ops* ops_;
        const hierarchy_table* table_;
        const hierarchy_modules* bound_;
        std::span<const id> shallow_; // where metadata stop short
    };

    /// Requires: the context outlives the claims.
    template <operator_view Ops, module_view Modules>
    [[nodiscard]] claims<Ops> prepare(evidence_context<Ops, Modules>& context) const {
        std::span<const id> shallow;
        if constexpr (named_operators<Ops> && parameter_readers<Ops>) {
            shallow = context.shallow();
        }
        return {context.ops(), context.hierarchies(), context.modules_of_hierarchies(), shallow};
    }
};

/// The metadata of torch's exporter on top of torch.export.
using exporter_metadata = hierarchy_metadata<hierarchy_dialect::dynamo>;

/// The metadata of the onnxscript builder.
using builder_metadata = hierarchy_metadata<hierarchy_dialect::builder>;

} // namespace stemma

#endif // STEMMA_EVIDENCE_HIERARCHY_METADATA_HPP

// <stemma/evidence/leftovers.hpp>
#ifndef STEMMA_EVIDENCE_LEFTOVERS_HPP
#define STEMMA_EVIDENCE_LEFTOVERS_HPP

namespace stemma {

/// Evidence in what optimizers leave of operators they replaced: a name that still holds the name
/// of one of them, or the names of the values that a constant was folded from.
///
/// An operator made of several may belong to several modules, so the claim is for the common
/// ancestor of the module that is left and the owners of the parameters that are read.
struct leftovers {
    using policy_category = evidence_category;

    template <class Ops>
    class claims {
    public:
        claims(const Ops& ops, std::unordered_map<id, std::pair<id, float>> found)
            : ops_(&ops), found_(std::move(found)) {}

        template <class Function>
        void for_each_claim(operator_t<Ops> vertex, Function f) const {
            if (found_.empty()) {
                return;
            }
            const auto found = found_.find(static_cast<id>(index_of(ops_->graph(), vertex)));
            if (found != found_.end()) {
                f(claim{found->second.first, no_id, found->second.second, provenance::leftover,
                        true, no_id});
            }
        }

    private:
        const Ops* ops_;
        std::unordered_map<id, std::pair<id, float>> found_;
    };

    /// Complexity: O(operators with leftovers).
    template <named_operators Ops, module_view Modules>
        requires parameter_readers<Ops>
    [[nodiscard]] claims<Ops> prepare(evidence_context<Ops, Modules>& context) const {
        std::unordered_map<id, std::pair<id, float>> found;
        const auto& table = context.scopes();
        const tree_index& tree = context.index();
        const auto& graph = context.ops().graph();
        if (!table.leftover.empty()) {
            const auto& bound = context.modules_of_scopes();
            for (auto [it, last] = vertices(graph); it != last; ++it) {
                const auto v = static_cast<id>(index_of(graph, *it));
                if (!std::binary_search(table.leftover.begin(), table.leftover.end(), v)) {
                    continue;
                }
                auto module = bound.of_scope[table.scope_of[v]].module;
                if (module == no_id) {
                    continue;
                }
                const auto end =
                    std::lower_bound(table.ends.begin(), table.ends.end(), std::pair(v, id{0}));
                const bool ends = end != table.ends.end() && end->first == v;
                if (ends) {
                    const auto joined = bound.of_scope[end->second].module;
                    module = joined == no_id ? module : tree.lca(module, joined);
                }
                if constexpr (joined_operators<Ops>) {
                    // The name is that of one of two, and the other is in another module.
                    if (!ends && module != 0 && tree.end(module) == module + 1 &&
                        context.ops().is_joined(*it)) {
                        module = tree.parent(module);
                    }
                }
                context.ops().for_each_parameter(*it, [&](id p) {
                    for (auto owner : context.owners().of(p)) {
                        module = tree.lca(module, nearest_called(context.modules(), owner));
                    }
                });
                found[v] = {module, ends ? 0.93F : 0.88F};
            }
        }
        follow_data(context, found);
        add_folded(context, found);
        return {context.ops(), std::move(found)};
    }

private:
    /// What was put in to lay data out for a runtime belongs where the data comes from.
    template <class Ops, class Modules>
    static void follow_data(evidence_context<Ops, Modules>& context,
                            std::unordered_map<id, std::pair<id, float>>& found) {
        const auto& graph = context.ops().graph();
        const auto& table = context.scopes();
        for (auto [it, last] = vertices(graph); it != last; ++it) {
            const std::string_view type = context.ops().op_type(*it);
            if (type != "ReorderInput" && type != "ReorderOutput") {
                continue;
            }
            const auto v = static_cast<id>(index_of(graph, *it));
            for (auto [in, in_last] = in_edges(*it, graph); in != in_last; ++in) {
                const auto u = static_cast<id>(index_of(graph, source(*in, graph)));
                const auto known = found.find(u);
                if (known != found.end()) {
                    found[v] = known->second;
                } else if (table.scope_of[u] != no_id) {
                    const auto& bound = context.modules_of_scopes().of(u, table.scope_of[u]);
                    found[v] = {bound.module, std::min(bound.confidence, 0.88F)};
                }
                if (found.contains(v) && found[v].first == no_id) {
                    found.erase(v);
                }
            }
        }
    }

    /// Constants whose metadata say what they were folded from.
    template <class Ops, class Modules>
    static void add_folded(evidence_context<Ops, Modules>& context,
                           std::unordered_map<id, std::pair<id, float>>& found) {
        if constexpr (requires(const Ops& ops) { ops.for_each_folded(detail::take_folded{}); }) {
            const module_lookup<Modules> lookup(context.modules());
            const auto& mapping = context.owners().mapping;
            context.ops().for_each_folded([&](operator_t<Ops> vertex, std::string_view origin) {
                const auto path = owner_path(origin);
                if (path.empty()) {
                    return;
                }
                auto module = find_module(lookup, mapping.apply(path), mapping.base);
                if (module == no_id) {
                    return;
                }
                module = nearest_called(context.modules(), module);
                const auto v = static_cast<id>(index_of(context.ops().graph(), vertex));
                const auto [known, added] = found.emplace(v, std::pair(module, 0.7F));
                if (!added) {
                    known->second.first = context.index().lca(known->second.first, module);
                }
            });
        }
    }
};

} // namespace stemma

#endif // STEMMA_EVIDENCE_LEFTOVERS_HPP

// <stemma/evidence/named_modules.hpp>
#ifndef STEMMA_EVIDENCE_NAMED_MODULES_HPP
#define STEMMA_EVIDENCE_NAMED_MODULES_HPP

namespace stemma {

/// What names and metadata alone tell of modules, before anybody looks at how operators are wired.
struct named_modules {
    module_tree_builder builder; ///< of the modules in metadata and in names of parameters
    module_tree modules;         ///< what it built
    std::vector<id> owner;       ///< by parameter: a module of the builder, or `no_id`
    std::vector<std::pair<id, id>> folded; ///< a parameter, the owner of one it was folded from
    id size = 0;                 ///< how many modules the builder had before those of `folded`
    scope_table scopes;          ///< of the operators' names
    hierarchy_table hierarchies; ///< of the operators' metadata
};

/// Collects the modules in the metadata of operators and in the names of parameters, and the scopes
/// in the names of operators.
/// Requires: several threads may read `ops` at once, if so many are given.
/// Complexity: O(bytes of names and metadata) expected.
template <named_operators Ops>
    requires parameter_readers<Ops>
[[nodiscard]] named_modules collect_named_modules(const Ops& ops, std::string_view root_name = "",
                                                  thread_limit threads = {}) {
    named_modules found;
    found.builder.set_root_name(root_name);
    const auto grow_owners = [&] {
        found.hierarchies = collect_hierarchies(ops);
        detail::grow_hierarchies(found.hierarchies, found.builder);
        found.owner.resize(ops.parameter_count(), no_id);
        for (id p = 0; p < found.owner.size(); ++p) {
            detail::prefetch_name_behind(ops, p);
            if (const auto path = owner_path(ops.parameter_name(p)); !path.empty()) {
                found.owner[p] = found.builder.at_path(path);
            }
        }
        found.size = static_cast<id>(found.builder.size());
        if constexpr (requires { ops.for_each_folded_parameter(detail::take_folded{}); }) {
            ops.for_each_folded_parameter([&](id p, std::string_view origin) {
                if (const auto path = owner_path(origin);
                    !path.empty() && found.owner[p] == no_id) {
                    found.folded.emplace_back(p, found.builder.at_path(path));
                }
            });
        }
        found.modules = found.builder.build();
    };
    const auto size = static_cast<std::size_t>(num_vertices(ops.graph()));
    auto owners = start_beside(threads, size, grow_owners);
    found.scopes = collect_scopes(ops, threads.without_one());
    owners.get();
    return found;
}

} // namespace stemma

#endif // STEMMA_EVIDENCE_NAMED_MODULES_HPP

// <stemma/evidence/detail/tied_parameters.hpp>
#ifndef STEMMA_EVIDENCE_DETAIL_TIED_PARAMETERS_HPP
#define STEMMA_EVIDENCE_DETAIL_TIED_PARAMETERS_HPP

namespace stemma {

/// Which owner of a parameter that several modules share its readers speak for.
///
/// A file calls such a parameter as the module does whose operator reads it first, as an embedding
/// ahead of the output layer. Operators of that one's type speak for the owner in the name, others
/// for the other owners.
template <parameter_readers Ops>
class tied_parameters {
public:
    /// Requires: both outlive it.
    /// Complexity: O(parameters), and O(operators) where any is shared.
    tied_parameters(const Ops& ops, const parameter_owners& owners) : ops_(&ops), owners_(&owners) {
        if constexpr (named_operators<Ops>) {
            bool any = false;
            for (id p = 0; p < ops.parameter_count() && !any; ++p) {
                any = owners.of(p).size() > 1;
            }
            if (!any) {
                return;
            }
            for (auto [it, last] = vertices(ops.graph()); it != last; ++it) {
                const auto v = *it;
                ops.for_each_parameter(v, [&](id p) {
                    if (owners.of(p).size() > 1) {
                        first_type_.emplace(p, std::string(ops.op_type(v)));
                    }
                });
            }
        }
    }

    /// Returns: whether an operator that reads parameter `p` speaks for the owner at `place` among
    /// its owners rather than for others. Complexity: O(1) expected.
    [[nodiscard]] bool favours(operator_t<Ops> v, id p, std::size_t place) const {
        if constexpr (named_operators<Ops>) {
            const auto first = first_type_.find(p);
            if (owners_->of(p).size() > 1 && first != first_type_.end()) {
                return (first->second == std::string_view(ops_->op_type(v))) == (place == 0);
            }
        }
        return true;
    }

private:
    const Ops* ops_;
    const parameter_owners* owners_;
    std::unordered_map<id, std::string> first_type_; // by parameter with several owners
};

} // namespace stemma

#endif // STEMMA_EVIDENCE_DETAIL_TIED_PARAMETERS_HPP

// <stemma/evidence/parameter_names.hpp>
#ifndef STEMMA_EVIDENCE_PARAMETER_NAMES_HPP
#define STEMMA_EVIDENCE_PARAMETER_NAMES_HPP

namespace stemma {

/// Evidence from the parameters that are read: `encoder.layer.0.attention.self.query.weight`.
///
/// A witness, not a proof: the operator may belong to the owner, to a module above it that uses the
/// parameter itself, or, when the owner hands it down, to one below. A parameter of several owners
/// makes a claim for each, surer ones for those that the type of the operator favours; of several
/// parameters those owners count that all have in common, else the common ancestor of all.
struct parameter_names {
    using policy_category = evidence_category;

    template <class Ops, class Modules>
    class claims {
    public:
        claims(const Ops& ops, const Modules& modules, const parameter_owners& owners,
               const std::vector<id>& bypassed, std::span<const id> shallow)
            : ops_(&ops)
            , modules_(&modules)
            , owners_(&owners)
            , bypassed_(&bypassed)
            , shallow_(shallow)
            , tied_(ops, owners) {}

        template <class Function>
        void for_each_claim(operator_t<Ops> vertex, Function f) const {
            id first = no_id; // parameter that has owners
            bool several = false;
            ops_->for_each_parameter(vertex, [&](id p) {
                if (p != first && !owners_->of(p).empty()) {
                    several = first != no_id;
                    first = several ? first : p;
                }
            });
            if (first == no_id) {
                return;
            }
            const auto owners = owners_->of(first);
            const auto say = [&](id owner, float confidence) {
                const auto runner = past_bypassed(*modules_, *bypassed_, owner);
                const auto module = around_joined(vertex, nearest_called(*modules_, runner));
                f(claim{module, no_id, confidence, provenance::parameter,
                        is_below_shallow(module)});
            };
            if (several && owners_differ(vertex, owners)) {
                const auto joined = join_owners(vertex, owners);
                std::for_each(joined.begin(), joined.end(), [&](id owner) { say(owner, 0.85F); });
            } else {
                for (std::size_t i = 0; i < owners.size(); ++i) {
                    say(owners[i], tied_.favours(vertex, first, i) ? 0.85F : 0.5F);
                }
            }
        }

    private:
        /// Returns: what calls a module that owns parameters of an operator, where that was joined
        /// with one beside the module.
        [[nodiscard]] id around_joined(operator_t<Ops> vertex, id module) const {
            const tree_index& tree = modules_->index();
            if constexpr (joined_operators<Ops>) {
                if (module != 0 && tree.end(module) == module + 1 && ops_->is_joined(vertex)) {
                    return tree.parent(module);
                }
            }
            return module;
        }

        /// Whether names and metadata stop at a module above, so that parameters tell more.
        [[nodiscard]] bool is_below_shallow(id module) const {
            return std::any_of(shallow_.begin(), shallow_.end(), [&](id m) {
                return m != module && modules_->index().is_ancestor(m, module);
            });
        }

        // What only operators with several parameters need stays apart: within the loop over
        // operators it would take the others' registers.

        /// Returns: whether some parameter that has owners has others than these.
        [[nodiscard, gnu::noinline]] bool owners_differ(operator_t<Ops> vertex,
                                                        std::span<const id> first) const {
            bool differ = false;
            ops_->for_each_parameter(vertex, [&](id p) {
                const auto owners = owners_->of(p);
                differ = differ || (!owners.empty() && !std::equal(owners.begin(), owners.end(),
                                                                   first.begin(), first.end()));
            });
            return differ;
        }

        /// Returns: the owners that all parameters have, else what is above all of them.
        [[nodiscard, gnu::noinline]] std::vector<id>
        join_owners(operator_t<Ops> vertex, std::span<const id> candidates) const {
            std::vector<id> common(candidates.begin(), candidates.end());
            ops_->for_each_parameter(vertex, [&](id p) {
                const auto owners = owners_->of(p);
                if (!owners.empty()) {
                    std::erase_if(common, [&](id m) {
                        return std::find(owners.begin(), owners.end(), m) == owners.end();
                    });
                }
            });
            if (common.empty()) {
                common.push_back(ancestor_of_all(vertex));
            }
            return common;
        }

        [[nodiscard]] id ancestor_of_all(operator_t<Ops> vertex) const {
            const tree_index& tree = modules_->index();
            id module = no_id;
            ops_->for_each_parameter(vertex, [&](id p) {
                for (auto owner : owners_->of(p)) {
                    module = module == no_id ? owner : tree.lca(module, owner);
                }
            });
            return module;
        }

        const Ops* ops_;
        const Modules* modules_;
        const parameter_owners* owners_;
        const std::vector<id>* bypassed_;
        std::span<const id> shallow_; // where names and metadata stop short
        tied_parameters<Ops> tied_;
    };

    /// Requires: the context outlives the claims.
    template <parameter_readers Ops, module_view Modules>
    [[nodiscard]] claims<Ops, Modules> prepare(evidence_context<Ops, Modules>& context) const {
        std::span<const id> shallow;
        if constexpr (named_operators<Ops>) {
            shallow = context.shallow();
        }
        return {context.ops(), context.modules(), context.owners(), context.bypassed(), shallow};
    }
};

} // namespace stemma

#endif // STEMMA_EVIDENCE_PARAMETER_NAMES_HPP

// <stemma/core/detail/vertices_by_index.hpp>
#ifndef STEMMA_CORE_DETAIL_VERTICES_BY_INDEX_HPP
#define STEMMA_CORE_DETAIL_VERTICES_BY_INDEX_HPP

namespace stemma {

namespace detail {

template <class Map>
inline constexpr bool is_identity_map = false;

template <class T>
inline constexpr bool is_identity_map<boost::typed_identity_property_map<T>> = true;

} // namespace detail

/// A graph whose vertices are numbers, and each its own index, as its interior `vertex_index` is
/// Boost's map of each number to itself.
template <class Graph>
concept vertices_are_indices = vertex_indexed_graph<Graph> && std::integral<vertex_t<Graph>> &&
    requires(const Graph& g) {
    requires detail::is_identity_map<std::remove_cvref_t<decltype(get(boost::vertex_index, g))>>;
};

/// The vertices of a graph by index. Where these are the same, no table is made.
template <class Graph>
    requires vertex_list_graph<Graph> && vertex_indexed_graph<Graph>
class vertices_by_index {
public:
    /// Complexity: O(V), or O(1) where vertices are indices.
    explicit vertices_by_index(const Graph& graph) {
        if constexpr (!vertices_are_indices<Graph>) {
            vertices_.resize(num_vertices(graph));
            for (auto [it, last] = vertices(graph); it != last; ++it) {
                vertices_[index_of(graph, *it)] = *it;
            }
        }
    }

    /// Returns: the vertex with an index. Requires: there is one.
    [[nodiscard]] vertex_t<Graph> operator[](std::size_t index) const {
        if constexpr (vertices_are_indices<Graph>) {
            return static_cast<vertex_t<Graph>>(index);
        } else {
            return vertices_[index];
        }
    }

private:
    std::vector<vertex_t<Graph>> vertices_;
};

} // namespace stemma

#endif // STEMMA_CORE_DETAIL_VERTICES_BY_INDEX_HPP

// <stemma/evidence/detail/module_code.hpp>
#ifndef STEMMA_EVIDENCE_DETAIL_MODULE_CODE_HPP
#define STEMMA_EVIDENCE_DETAIL_MODULE_CODE_HPP

namespace stemma::detail {

/// Which modules compute something themselves, as far as names tell.
template <module_view Modules>
class module_code {
public:
    /// Complexity: O(modules + parameters).
    template <parameter_readers Ops>
    module_code(const Ops& ops, const Modules& modules, const parameter_owners& owners)
        : tree_(modules.index())
        , holds_only_numbers_(tree_.size(), false)
        , owns_below_(tree_.size(), false) {
        std::vector<bool> other(tree_.size(), false); // owns a parameter, or what has a name
        for (id p = 0; p < ops.parameter_count(); ++p) {
            for (auto owner : owners.of(p)) {
                other[owner] = true;
                owns_below_[owner] = true;
            }
        }
        for (id m = 1; m < tree_.size(); ++m) {
            const auto above = tree_.parent(m);
            holds_only_numbers_[above] = true;
            other[above] = other[above] || !is_number(modules.attribute(m));
        }
        for (auto m = static_cast<id>(tree_.size()); m-- > 1;) {
            const auto above = tree_.parent(m);
            owns_below_[above] = owns_below_[above] || owns_below_[m];
        }
        for (id m = 0; m < tree_.size(); ++m) {
            holds_only_numbers_[m] = holds_only_numbers_[m] && !other[m];
        }
    }

    /// Whether a module only holds others by numbers: a list of modules never runs, and a sequence
    /// runs what it holds and nothing else.
    [[nodiscard]] bool is_list(id m) const { return holds_only_numbers_[m]; }

    /// Returns: the module, or the nearest one above that is no list.
    [[nodiscard]] id nearest(id m) const {
        while (m != 0 && is_list(m)) {
            m = tree_.parent(m);
        }
        return m;
    }

    /// Whether a module or one inside owns a parameter.
    [[nodiscard]] bool owns_below(id m) const { return owns_below_[m]; }

private:
    const tree_index& tree_;
    std::vector<bool> holds_only_numbers_;
    std::vector<bool> owns_below_;
};

} // namespace stemma::detail

#endif // STEMMA_EVIDENCE_DETAIL_MODULE_CODE_HPP

// <stemma/model/detail/functional_units.hpp>
#ifndef STEMMA_MODEL_DETAIL_FUNCTIONAL_UNITS_HPP
#define STEMMA_MODEL_DETAIL_FUNCTIONAL_UNITS_HPP

namespace stemma::detail {

/// Takes what is computed from one value apart into steps, as modules without parameters take
/// them: each makes one value of one value.
template <operator_view Ops>
class functional_units {
public:
    /// By vertex index: `steady` operators are independent of data; `free` ones depend on it, and
    /// nothing is known of their modules. Requires: all outlive it.
    functional_units(const Ops& ops, const std::vector<bool>& steady, const std::vector<bool>& free)
        : ops_(ops), graph_(ops.graph()), vertex_(graph_), steady_(steady), free_(free) {}

    /// Returns: the operators of the step that all readers of `v` begin, the one that makes its
    /// result last; none where they do something else. Numbers that scale or move the result are
    /// part of it.
    /// Complexity: O(readers of an operator), for each of a limited number of operators.
    [[nodiscard]] std::vector<id> behind(id v) const {
        auto unit = whole_behind(v);
        while (!unit.empty()) {
            const auto next = whole_behind(unit.back());
            if (next.size() != 1 || !is_scaling(next.front())) {
                break;
            }
            unit.push_back(next.front());
        }
        return unit;
    }

    /// Calls `f(w)` for the operators that read what `v` makes, but for those independent of data.
    template <class Function>
    void for_each_reader(id v, Function f) const {
        for (auto [out, last] = out_edges(vertex_[v], graph_); out != last; ++out) {
            if (const auto w = index_of(graph_, target(*out, graph_)); !steady_[w]) {
                f(static_cast<id>(w));
            }
        }
    }

private:
    [[nodiscard]] std::vector<id> whole_behind(id v) const {
        constexpr std::size_t max_unit = 16;
        std::vector<id> unit;
        std::vector<id> open; // readers outside of the unit
        const auto read_inside = [&](id w) {
            bool inside = true;
            for (auto [in, last] = in_edges(vertex_[w], graph_); in != last && inside; ++in) {
                const auto u = static_cast<id>(index_of(graph_, source(*in, graph_)));
                inside =
                    steady_[u] || u == v || std::find(unit.begin(), unit.end(), u) != unit.end();
            }
            return inside;
        };
        const auto open_readers = [&](id u) {
            for_each_reader(u, [&](id w) {
                if (std::find(unit.begin(), unit.end(), w) == unit.end() &&
                    std::find(open.begin(), open.end(), w) == open.end()) {
                    open.push_back(w);
                }
            });
        };
        open_readers(v);
        while (!open.empty() && unit.size() < max_unit) {
            const auto next = std::find_if(open.begin(), open.end(),
                                           [&](id w) { return free_[w] && read_inside(w); });
            if (next == open.end()) {
                return {};
            }
            unit.push_back(*next);
            open.erase(next);
            std::vector<id> makers; // of what is read outside
            const auto note_maker = [&](id u) {
                bool read = false;
                for_each_reader(u, [&](id w) {
                    read = read || std::find(unit.begin(), unit.end(), w) == unit.end();
                });
                if (read) {
                    makers.push_back(u);
                }
            };
            note_maker(v);
            std::for_each(unit.begin(), unit.end(), note_maker);
            open_readers(unit.back());
            if (makers.size() == 1 && makers.front() == unit.back()) {
                return unit;
            }
        }
        return {};
    }

    /// Whether an operator only computes with one value and a constant.
    [[nodiscard]] bool is_scaling(id v) const {
        constexpr std::array<std::string_view, 4> types{"Add", "Div", "Mul", "Sub"};
        return std::find(types.begin(), types.end(), std::string_view(ops_.op_type(vertex_[v]))) !=
               types.end();
    }

    const Ops& ops_;
    const graph_of<Ops>& graph_;
    vertices_by_index<graph_of<Ops>> vertex_;
    const std::vector<bool>& steady_;
    const std::vector<bool>& free_;
};

} // namespace stemma::detail

#endif // STEMMA_MODEL_DETAIL_FUNCTIONAL_UNITS_HPP

// <stemma/evidence/detail/module_exits.hpp>
#ifndef STEMMA_EVIDENCE_DETAIL_MODULE_EXITS_HPP
#define STEMMA_EVIDENCE_DETAIL_MODULE_EXITS_HPP

namespace stemma::detail {

/// The operators that make what modules hand on.
template <operator_view Ops>
class module_exits {
public:
    /// `placed` is by vertex index, the module of what is known. Requires: all outlive it.
    /// Complexity: O(V + E), times the depth of the tree.
    module_exits(const Ops& ops, const tree_index& tree, const parameter_owners& owners,
                 const functional_units<Ops>& units, const std::vector<id>& placed)
        : tree_(tree)
        , units_(units)
        , placed_(placed)
        , reads_(placed.size())
        , exit_(tree.size(), no_id)
        , has_several_(tree.size(), false) {
        const vertices_by_index<graph_of<Ops>> vertex(ops.graph());
        for (id v = 0; v < placed_.size(); ++v) {
            ops.for_each_parameter(vertex[v], [&](id p) {
                for (auto owner : owners.of(p)) {
                    reads_[v].add(owner);
                }
            });
        }
        for (id v = 0; v < placed_.size(); ++v) {
            note(v, placed_[v]);
            note(v, reads_[v].low);
            note(v, reads_[v].low == no_id ? no_id : reads_[v].behind - 1);
        }
    }

    /// Whether anything is known to run in a module whose result others read.
    [[nodiscard]] bool has_any(id m) const { return exit_[m] != no_id; }

    /// Returns: the operator whose result others read, or `no_id` where it is not one.
    [[nodiscard]] id only(id m) const { return has_several_[m] ? no_id : exit_[m]; }

    /// Whether an operator belongs to a module; what was fused of several belongs to each.
    [[nodiscard]] bool is_in(id v, id m) const {
        const auto& read = reads_[v];
        return placed_[v] != no_id &&
               (tree_.is_ancestor(m, placed_[v]) ||
                (read.low != no_id &&
                 (tree_.is_ancestor(m, read.low) || tree_.is_ancestor(m, read.behind - 1))));
    }

    /// Whether all that read what an operator makes belong to a module.
    [[nodiscard]] bool leads_to(id v, id m) const {
        bool all = true;
        units_.for_each_reader(v, [&](id w) { all = all && is_in(w, m); });
        return all;
    }

private:
    void note(id v, id from) {
        bool ends = true; // nobody reads it: it is what the whole is asked for
        units_.for_each_reader(v, [&](id) { ends = false; });
        for (auto m = placed_[v] == no_id ? no_id : from; m != no_id && m != 0;
             m = tree_.parent(m)) {
            if (!ends && leads_to(v, m)) {
                return;
            }
            has_several_[m] = has_several_[m] || (exit_[m] != no_id && exit_[m] != v);
            exit_[m] = v;
        }
    }

    const tree_index& tree_;
    const functional_units<Ops>& units_;
    const std::vector<id>& placed_;
    std::vector<common_module> reads_; // parameters of these
    std::vector<id> exit_;             // by module, the last that was found
    std::vector<bool> has_several_;
};

} // namespace stemma::detail

#endif // STEMMA_EVIDENCE_DETAIL_MODULE_EXITS_HPP

// <stemma/evidence/detail/equal_modules.hpp>
#ifndef STEMMA_EVIDENCE_DETAIL_EQUAL_MODULES_HPP
#define STEMMA_EVIDENCE_DETAIL_EQUAL_MODULES_HPP

namespace stemma::detail {

/// Returns: by module, a number that is equal where the parameters below have equal names.
/// Complexity: O(modules + bytes of names).
template <parameter_readers Ops, module_view Modules>
[[nodiscard]] std::vector<std::uint64_t>
find_parameter_patterns(const Ops& ops, const Modules& modules, const parameter_owners& owners) {
    const tree_index& tree = modules.index();
    std::vector<std::uint64_t> pattern(tree.size(), 0);
    for (id p = 0; p < ops.parameter_count(); ++p) {
        const std::string_view name = ops.parameter_name(p);
        for (auto owner : owners.of(p)) {
            pattern[owner] += hash_bytes(name.substr(name.rfind('.') + 1), 1);
        }
    }
    for (auto m = static_cast<id>(tree.size()); m-- > 1;) {
        const std::string_view attribute = modules.attribute(m);
        pattern[tree.parent(m)] += hash_mix(hash_bytes(attribute, 2), pattern[m]);
    }
    return pattern;
}

/// Finds what modules of one kind do last, after all that reads their parameters: what follows each
/// of them, whoever calls it.
template <operator_view Ops, module_view Modules>
class equal_modules {
public:
    /// Requires: all outlive it.
    equal_modules(const Ops& ops, const Modules& modules, const module_code<Modules>& code,
                  const parameter_owners& owners, const functional_units<Ops>& units,
                  const module_exits<Ops>& exits)
        : ops_(ops)
        , tree_(modules.index())
        , code_(code)
        , units_(units)
        , exits_(exits)
        , pattern_(find_parameter_patterns(ops, modules, owners))
        , vertex_(ops.graph()) {}

    /// Calls `f(m, operators)` for each such module. Complexity: O(modules * log modules).
    template <class Function>
    void for_each_end(Function f) const {
        std::vector<std::pair<std::uint64_t, id>> kinds;
        for (id m = 1; m < tree_.size(); ++m) {
            const bool holds = tree_.end(m) != m + 1;
            if (holds && !code_.is_list(m) && code_.owns_below(m)) {
                kinds.emplace_back(pattern_[m], m);
            }
        }
        std::sort(kinds.begin(), kinds.end());
        for (std::size_t first = 0, end = 0; first < kinds.size(); first = end) {
            for (end = first; end < kinds.size() && kinds[end].first == kinds[first].first; ++end) {
            }
            const auto units = common_ends(kinds, first, end);
            for (std::size_t i = 0; i < units.size(); ++i) {
                f(kinds[first + i].second, units[i]);
            }
        }
    }

private:
    /// Returns: what follows all modules of one kind, if it is the same, and not what one caller
    /// does with each of them.
    [[nodiscard]] std::vector<std::vector<id>>
    common_ends(const std::vector<std::pair<std::uint64_t, id>>& kinds, std::size_t first,
                std::size_t end) const {
        constexpr std::size_t min_modules = 3;
        std::vector<std::vector<id>> units;
        bool several_callers = false;
        for (auto i = first; i < end && end - first >= min_modules; ++i) {
            const auto m = kinds[i].second;
            const auto exit = exits_.only(m);
            auto unit = exit == no_id ? std::vector<id>() : units_.behind(exit);
            const bool fits = !unit.empty() && computes_elementwise(unit) &&
                              (units.empty() || are_alike(unit, units.front()));
            if (!fits) {
                return {};
            }
            units.push_back(std::move(unit));
            several_callers =
                several_callers || pattern_of_caller(m) != pattern_of_caller(kinds[first].second);
        }
        return several_callers ? units : std::vector<std::vector<id>>();
    }

    [[nodiscard]] std::uint64_t pattern_of_caller(id m) const { return pattern_[tree_.parent(m)]; }

    [[nodiscard]] bool are_alike(const std::vector<id>& a, const std::vector<id>& b) const {
        return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](id v, id w) {
            return std::string_view(ops_.op_type(vertex_[v])) ==
                   std::string_view(ops_.op_type(vertex_[w]));
        });
    }

    /// Whether operators do with each number what they do with every other, as activations do.
    [[nodiscard]] bool computes_elementwise(const std::vector<id>& unit) const {
        constexpr std::array<std::string_view, 27> types{
            "Abs",       "Add",         "Celu",
            "Clip",      "Div",         "Elu",
            "Erf",       "Exp",         "FastGelu",
            "Gelu",      "HardSigmoid", "HardSwish",
            "LeakyRelu", "Max",         "Min",
            "Mish",      "Mul",         "Pow",
            "QuickGelu", "Relu",        "Selu",
            "Sigmoid",   "Softplus",    "Softsign",
            "Sub",       "Tanh",        "ThresholdedRelu"};
        return std::all_of(unit.begin(), unit.end(), [&](id v) {
            return std::find(types.begin(), types.end(),
                             std::string_view(ops_.op_type(vertex_[v]))) != types.end();
        });
    }

    const Ops& ops_;
    const tree_index& tree_;
    const module_code<Modules>& code_;
    const functional_units<Ops>& units_;
    const module_exits<Ops>& exits_;
    std::vector<std::uint64_t> pattern_;
    vertices_by_index<graph_of<Ops>> vertex_;
};

} // namespace stemma::detail

#endif // STEMMA_EVIDENCE_DETAIL_EQUAL_MODULES_HPP

// <stemma/evidence/detail/nearest_owners.hpp>
#ifndef STEMMA_EVIDENCE_DETAIL_NEAREST_OWNERS_HPP
#define STEMMA_EVIDENCE_DETAIL_NEAREST_OWNERS_HPP

namespace stemma::detail {

/// The modules whose parameters are read nearest to an operator, on one side of it; one entry for
/// each module, and `no_id` for all whose parameters have lost their names.
class nearest_owners {
public:
    struct entry {
        id position = 0; ///< in the order of the graph
        id module = no_id;
        bool named = false; ///< a name or metadata says so: the operator is in just that module
    };

    static constexpr std::size_t capacity = 8;

    /// Adds an entry; `closer(a, b)` says which of two positions is the nearer one.
    template <class Closer>
    void add(entry added, Closer closer) {
        auto* const last = entries_.data() + size_;
        auto* known = std::find_if(entries_.data(), last,
                                   [&](const entry& e) { return e.module == added.module; });
        if (known == last && size_ < capacity) {
            entries_[size_++] = added;
            return;
        }
        if (known == last) {
            known = std::max_element(entries_.data(), last, [&](const entry& a, const entry& b) {
                return closer(a.position, b.position);
            });
        }
        if (closer(added.position, known->position)) {
            *known = added;
        }
    }

    template <class Closer>
    void add(const nearest_owners& others, Closer closer) {
        for (const auto& e : others) {
            add(e, closer);
        }
    }

    [[nodiscard]] bool holds(id module) const noexcept {
        return std::any_of(begin(), end(), [&](const entry& e) { return e.module == module; });
    }

    [[nodiscard]] const entry* begin() const noexcept { return entries_.data(); }
    [[nodiscard]] const entry* end() const noexcept { return entries_.data() + size_; }

private:
    std::array<entry, capacity> entries_{};
    std::size_t size_ = 0;
};

/// Returns: what calls a module without any inside, else the module itself.
[[nodiscard]] inline id around(const tree_index& tree, id module) {
    const bool leaf = tree.end(module) == module + 1;
    return leaf && module != 0 ? tree.parent(module) : module;
}

/// Returns: the deepest module shared by an owner before and one behind; the root before the first
/// owner, and behind the last what all before have in common.
[[nodiscard]] inline id shared_around(const tree_index& tree, id here, const nearest_owners& before,
                                      const nearest_owners& behind) {
    if (behind.begin() == behind.end()) { // the end of a model: who knows whose
        common_module all;
        for (const auto& e : before) {
            all.add(e.module == no_id ? 0 : around(tree, e.module));
        }
        return all.low == no_id ? no_id : all.get(tree);
    }
    id best = 0;
    id best_distance = no_id;
    for (const auto& a : before) {
        for (const auto& b : behind) {
            if (a.module == no_id || b.module == no_id) {
                continue;
            }
            const auto shared = a.module != b.module ? tree.lca(a.module, b.module)
                                : a.named && b.named ? a.module
                                                     : around(tree, a.module);
            const auto distance = std::max(here - a.position, b.position - here);
            if (tree.depth(shared) > tree.depth(best) ||
                (tree.depth(shared) == tree.depth(best) && distance < best_distance)) {
                best = shared;
                best_distance = distance;
            }
        }
    }
    return best;
}

} // namespace stemma::detail

#endif // STEMMA_EVIDENCE_DETAIL_NEAREST_OWNERS_HPP

// <stemma/evidence/detail/parameter_blocks.hpp>
#ifndef STEMMA_EVIDENCE_DETAIL_PARAMETER_BLOCKS_HPP
#define STEMMA_EVIDENCE_DETAIL_PARAMETER_BLOCKS_HPP

namespace stemma::detail {

/// Returns: the operator whose data one reads, by vertex index, or `no_id` where there is none or
/// several are; `steady` ones are independent of data. Complexity: O(in-edges).
template <class Graph>
[[nodiscard]] id only_source(const Graph& graph, vertex_t<Graph> v,
                             const std::vector<bool>& steady) {
    id only = no_id;
    for (auto [in, last] = in_edges(v, graph); in != last; ++in) {
        const auto u = static_cast<id>(index_of(graph, source(*in, graph)));
        if (!steady[u]) {
            if (only != no_id) {
                return no_id;
            }
            only = u;
        }
    }
    return only;
}

/// Finds the operators that a module needs around those that read its parameters, in a model
/// without names: the product before a bias, the steps of a normalization before its scale.
template <operator_view Ops>
class parameter_blocks {
public:
    /// All by vertex index: `bare` operators have nothing but parameters to tell where they come
    /// from, `steady` ones are independent of data, `products` read a weight, and `lost` ones one
    /// without a name.
    parameter_blocks(const Ops& ops, const std::vector<bool>& bare, const std::vector<bool>& steady,
                     const std::vector<bool>& products, const std::vector<bool>& lost)
        : ops_(ops)
        , graph_(ops.graph())
        , vertex_(graph_)
        , bare_(bare)
        , steady_(steady)
        , products_(products)
        , lost_(lost) {}

    /// Gives such operators the module of those that read its parameters: `owner` is by vertex
    /// index, and `no_id` where no parameter tells.
    /// Complexity: O(V + E).
    void complete(std::vector<id>& owner) {
        owner_.swap(owner);
        complete_affine_operators();
        complete_normalizations();
        complete_flattened();
        owner_.swap(owner);
    }

private:
    /// A multiplication with a weight whose name is lost, and the addition of a bias behind it.
    void complete_affine_operators() {
        for (std::size_t v = 0; v < owner_.size(); ++v) {
            if (owner_[v] != no_id || !bare_[v] || !lost_[v]) {
                continue;
            }
            auto [out, out_last] = out_edges(vertex_[v], graph_);
            if (out == out_last) {
                continue;
            }
            const auto reader = target(*out, graph_);
            const bool alone = ++out == out_last;
            auto [in, in_last] = in_edges(reader, graph_);
            if (alone && ++in == in_last && !products_[index_of(graph_, reader)]) {
                owner_[v] = owner_[index_of(graph_, reader)];
            }
        }
    }

    /// What lies between one value and the scale of a normalization, and is used for nothing else.
    void complete_normalizations() {
        for (std::size_t v = 0; v < owner_.size(); ++v) {
            if (owner_[v] != no_id && bare_[v] &&
                std::string_view(ops_.op_type(vertex_[v])) == "Mul") {
                complete_normalization(v);
            }
        }
    }

    void complete_normalization(std::size_t scale) {
        constexpr std::size_t max_region = 32;
        std::vector<std::size_t> region;
        std::size_t complete = 0; // how much of the region is known to hang on one value
        std::vector<std::pair<std::size_t, std::size_t>> outside; // operator, times read inside
        const auto is_inside = [&](std::size_t v) {
            return v == scale || std::find(region.begin(), region.end(), v) != region.end();
        };
        const auto look = [&](std::size_t v) {
            for (auto [in, last] = in_edges(vertex_[v], graph_); in != last; ++in) {
                const auto u = index_of(graph_, source(*in, graph_));
                if (steady_[u] || is_inside(u)) {
                    continue;
                }
                const auto known = std::find_if(outside.begin(), outside.end(),
                                                [&](const auto& o) { return o.first == u; });
                known == outside.end() ? outside.emplace_back(u, 1)
                                       : * known = {u, known->second + 1};
            }
        };
        const auto is_used_inside_only = [&](std::size_t u) {
            for (auto [out, last] = out_edges(vertex_[u], graph_); out != last; ++out) {
                if (!is_inside(index_of(graph_, target(*out, graph_)))) {
                    return false;
                }
            }
            return owner_[u] == no_id && bare_[u];
        };
        for (;;) {
            outside.clear();
            look(scale);
            std::for_each(region.begin(), region.end(), look);
            if (outside.size() == 1 && outside.front().second > 1) {
                complete = region.size();
            }
            const auto next = std::find_if(outside.begin(), outside.end(), [&](const auto& o) {
                return is_used_inside_only(o.first);
            });
            if (next == outside.end() || region.size() == max_region) {
                break;
            }
            region.push_back(next->first);
        }
        for (std::size_t i = 0; i < complete; ++i) {
            owner_[region[i]] = owner_[scale];
        }
    }

    /// What only makes a matrix of a value for an operator that wants one, and undoes that behind
    /// it.
    void complete_flattened() {
        const auto is_reshape = [&](std::size_t v) {
            return owner_[v] == no_id && bare_[v] &&
                   std::string_view(ops_.op_type(vertex_[v])) == "Reshape";
        };
        for (std::size_t v = 0; v < owner_.size(); ++v) {
            if (owner_[v] == no_id || std::string_view(ops_.op_type(vertex_[v])) != "Gemm") {
                continue;
            }
            const auto before = only_source(graph_, vertex_[v], steady_);
            const auto behind = only_target(v);
            if (before != no_id && behind != no_id && is_reshape(before) && is_reshape(behind) &&
                only_target(before) == v) {
                owner_[before] = owner_[v];
                owner_[behind] = owner_[v];
            }
        }
    }

    /// Returns: the operator that alone reads the results of one, or `no_id`.
    [[nodiscard]] id only_target(std::size_t v) const {
        auto [out, last] = out_edges(vertex_[v], graph_);
        if (out == last) {
            return no_id;
        }
        const auto only = static_cast<id>(index_of(graph_, target(*out, graph_)));
        return ++out == last ? only : no_id;
    }

    const Ops& ops_;
    const graph_of<Ops>& graph_;
    vertices_by_index<graph_of<Ops>> vertex_;
    const std::vector<bool>& bare_;
    const std::vector<bool>& steady_;
    const std::vector<bool>& products_;
    const std::vector<bool>& lost_;
    std::vector<id> owner_;
};

} // namespace stemma::detail

#endif // STEMMA_EVIDENCE_DETAIL_PARAMETER_BLOCKS_HPP

// <stemma/evidence/detail/region_facts.hpp>
#ifndef STEMMA_EVIDENCE_DETAIL_REGION_FACTS_HPP
#define STEMMA_EVIDENCE_DETAIL_REGION_FACTS_HPP

namespace stemma::detail {

/// What is known of operators before anybody looks at what is around them. All by vertex index.
template <operator_view Ops, module_view Modules>
class region_facts {
public:
    std::vector<id> owner;      ///< the module whose parameters it reads, or that its name tells
    std::vector<id> named;      ///< what metadata or a name says
    std::vector<id> reads;      ///< `owner`, but for those that only run what reads parameters
    std::vector<bool> bare;     ///< nothing but parameters can tell where it comes from
    std::vector<bool> products; ///< it reads a weight
    std::vector<bool> lost;     ///< it reads a weight whose name is lost

    /// Complexity: O(V + E).
    explicit region_facts(evidence_context<Ops, Modules>& context)
        : owner(num_vertices(context.ops().graph()), no_id)
        , named(owner.size(), no_id)
        , bare(owner.size())
        , products(owner.size())
        , lost(owner.size())
        , ops_(context.ops())
        , modules_(context.modules())
        , tree_(context.index())
        , owners_(context.owners())
        , bypassed_(context.bypassed())
        , tied_(ops_, owners_) {
        const auto& scopes = context.scopes();
        const auto& chains = context.hierarchies().chain_of;
        const auto& steady = context.independent();
        if constexpr (sized_parameters<Ops>) {
            weights_.resize(static_cast<std::size_t>(ops_.parameter_count()), true);
            ops_.keep_matrices(weights_);
        }
        for (auto [it, last] = vertices(ops_.graph()); it != last; ++it) {
            const auto v = index_of(ops_.graph(), *it);
            bool has_name = scopes.scope_of[v] != no_id || (!chains.empty() && chains[v] != no_id);
            if constexpr (calling_operators<Ops>) {
                has_name =
                    has_name || ops_.callee(*it) != no_id || ops_.enclosing_function(*it) != no_id;
            }
            bare[v] = !has_name;
            owner[v] = owner_of(*it);
            named[v] = named_module(context, v);
            // What is computed without data has the name of whoever was first to need it.
            owner[v] = named[v] != no_id && !steady[v] ? named[v] : owner[v];
            note_weights(*it, v);
        }
        reads = owner;
        hear_bodies();
    }

private:
    /// Returns: the module in the metadata or the name of an operator, or `no_id`.
    [[nodiscard]] static id named_module(evidence_context<Ops, Modules>& context, std::size_t v) {
        const auto& chains = context.hierarchies().chain_of;
        if (!chains.empty() && chains[v] != no_id) {
            const auto& place = context.modules_of_hierarchies().of_chain[chains[v]];
            return place.exact ? place.module : no_id;
        }
        const auto scope = context.scopes().scope_of[v];
        return scope == no_id ? no_id
                              : context.modules_of_scopes().of(static_cast<id>(v), scope).module;
    }

    [[nodiscard]] id owner_of(operator_t<Ops> v) const {
        id module = no_id;
        ops_.for_each_parameter(v, [&](id p) {
            const auto owners = owners_.of(p);
            for (std::size_t i = 0; i < owners.size(); ++i) {
                if (tied_.favours(v, p, i)) {
                    const auto runner = past_bypassed(modules_, bypassed_, owners[i]);
                    module = module == no_id ? runner : tree_.lca(module, runner);
                }
            }
        });
        return module;
    }

    /// Notes whether an operator reads weights, and one whose name is lost: it belongs to some
    /// module, and nobody knows to which. Other constants without an owner tell nothing.
    void note_weights(operator_t<Ops> vertex, std::size_t v) {
        if constexpr (sized_parameters<Ops>) {
            ops_.for_each_parameter(vertex, [&](id p) {
                if (weights_[p]) {
                    products[v] = true;
                    lost[v] = lost[v] || (owners_.of(p).empty() && owner[v] == no_id && bare[v]);
                }
            });
        }
    }

    /// What owns bodies runs what parameters are read in there.
    void hear_bodies() {
        const auto inner = operators_in_bodies(ops_);
        std::vector<common_module> inside(inner.empty() ? 0 : owner.size());
        const auto settle = [&](id v) {
            if (owner[v] == no_id && bare[v]) {
                owner[v] = inside[v].get(tree_);
            }
        };
        for (auto op = inner.rbegin(); op != inner.rend(); ++op) {
            settle(op->v);
            inside[op->owner].add(owner[op->v] == no_id ? no_id : around(tree_, owner[op->v]));
        }
        for (const auto& op : inner) {
            settle(op.owner);
        }
    }

    const Ops& ops_;
    const Modules& modules_;
    const tree_index& tree_;
    const parameter_owners& owners_;
    const std::vector<id>& bypassed_;
    tied_parameters<Ops> tied_;
    std::vector<bool> weights_; // by parameter
};

} // namespace stemma::detail

#endif // STEMMA_EVIDENCE_DETAIL_REGION_FACTS_HPP

// <stemma/evidence/detail/sibling_order.hpp>
#ifndef STEMMA_EVIDENCE_DETAIL_SIBLING_ORDER_HPP
#define STEMMA_EVIDENCE_DETAIL_SIBLING_ORDER_HPP

namespace stemma::detail {

/// Returns: the number that an attribute is, as those of a list are.
[[nodiscard]] inline std::optional<std::uint64_t> list_place(std::string_view attribute) {
    std::uint64_t number = 0;
    const auto* const end = attribute.data() + attribute.size();
    const auto read = std::from_chars(attribute.data(), end, number);
    return read.ec == std::errc() && read.ptr == end ? std::optional(number) : std::nullopt;
}

/// Guesses the order in which siblings were defined, from where their names were found.
///
/// Members of a list stand by their numbers. Others whose names parameters have, the first
/// `named`, keep their order, which is that of the definition. A module that only operators know
/// comes before the first of these that is used after it. `first_use` is by module of the builder.
/// Returns: all modules but the root, siblings in that order. Complexity: O(modules * log
/// siblings).
[[nodiscard]] inline std::vector<id> sibling_order(const module_tree_builder& builder, id named,
                                                   std::span<const id> first_use) {
    const auto count = static_cast<id>(builder.size());
    const grouped_ids children(count, [&](auto take) {
        for (id m = 1; m < count; ++m) {
            take(builder.parent(m), m);
        }
    });
    std::vector<id> order;
    order.reserve(count - 1);
    std::vector<std::pair<std::uint64_t, id>> numbered;
    std::vector<id> used; // siblings that only operators know
    for (id parent = 0; parent < count; ++parent) {
        const auto siblings = children[parent];
        numbered.clear();
        for (auto m : siblings) {
            if (const auto place = list_place(builder.attribute(m))) {
                numbered.emplace_back(*place, m);
            }
        }
        if (numbered.size() == siblings.size()) {
            std::sort(numbered.begin(), numbered.end());
            std::transform(numbered.begin(), numbered.end(), std::back_inserter(order),
                           [](const auto& entry) { return entry.second; });
            continue;
        }
        const auto other =
            std::partition_point(siblings.begin(), siblings.end(), [&](id m) { return m < named; });
        used.assign(other, siblings.end());
        std::stable_sort(used.begin(), used.end(),
                         [&](id a, id b) { return first_use[a] < first_use[b]; });
        auto next = siblings.begin();
        for (auto m : used) {
            const auto later =
                std::find_if(next, other, [&](id n) { return first_use[n] > first_use[m]; });
            order.insert(order.end(), next, later);
            order.push_back(m);
            next = later;
        }
        order.insert(order.end(), next, other);
    }
    return order;
}

} // namespace stemma::detail

#endif // STEMMA_EVIDENCE_DETAIL_SIBLING_ORDER_HPP

// <stemma/evidence/detail/sequence_steps.hpp>
#ifndef STEMMA_EVIDENCE_DETAIL_SEQUENCE_STEPS_HPP
#define STEMMA_EVIDENCE_DETAIL_SEQUENCE_STEPS_HPP

namespace stemma::detail {

/// Operators that one member of a sequence computes with, which no parameter names.
struct sequence_step {
    id sequence = no_id;
    std::uint64_t number = 0;  ///< of the member
    id member = no_id;         ///< where the tree has it
    std::vector<id> operators; ///< by vertex index
};

/// Whether the numbers of the members of some sequence leave one out, or may go on.
/// Complexity: O(modules + parameters).
template <parameter_readers Ops, module_view Modules>
[[nodiscard]] bool has_open_sequences(const Ops& ops, const Modules& modules,
                                      const parameter_owners& owners) {
    const tree_index& tree = modules.index();
    const module_code<Modules> code(ops, modules, owners);
    for (id m = 0; m < tree.size(); ++m) {
        std::uint64_t members = 0;
        std::uint64_t behind = 0; // one more than the greatest number
        bool lists = false;
        for (auto c = m + 1; code.is_list(m) && c < tree.end(m); c = tree.end(c)) {
            behind = std::max(behind, list_place(modules.attribute(c)).value_or(0) + 1);
            lists = lists || code.is_list(c);
            ++members;
        }
        if (members != behind || lists) {
            return true;
        }
    }
    return false;
}

/// Finds members of sequences that have no parameters: `act(fc(x))` where the numbers of the
/// members that have some leave out one between them.
template <operator_view Ops, module_view Modules>
class sequence_steps {
public:
    /// Requires: all outlive it.
    sequence_steps(const Ops& ops, const Modules& modules, const module_code<Modules>& code,
                   const functional_units<Ops>& units, const module_exits<Ops>& exits)
        : ops_(ops)
        , modules_(modules)
        , tree_(modules.index())
        , code_(code)
        , units_(units)
        , exits_(exits)
        , vertex_(ops.graph()) {}

    /// Complexity: O(modules * log modules), and O(operators between members).
    [[nodiscard]] std::vector<sequence_step> run() {
        for (id m = 0; m < tree_.size(); ++m) {
            if (code_.is_list(m)) {
                look_at(m);
            }
        }
        return std::move(steps_);
    }

private:
    struct member {
        std::uint64_t number = 0;
        id module = no_id;
    };

    [[nodiscard]] bool is_leaf(id m) const { return tree_.end(m) == m + 1; }

    void look_at(id sequence) {
        std::vector<member> members;
        for (auto m = sequence + 1; m < tree_.end(sequence); m = tree_.end(m)) {
            if (const auto number = list_place(modules_.attribute(m))) {
                members.push_back({*number, m});
            }
        }
        std::sort(members.begin(), members.end(),
                  [](const member& a, const member& b) { return a.number < b.number; });
        // A list of modules is of one kind; what is not is a sequence.
        bool leaves = false;
        bool lists = false;
        bool others = false;
        for (const auto& one : members) {
            const bool runs = code_.owns_below(one.module);
            leaves = leaves || (runs && is_leaf(one.module));
            lists = lists || (runs && code_.is_list(one.module));
            others = others || (runs && !is_leaf(one.module) && !code_.is_list(one.module));
        }
        const bool mixed = int{leaves} + int{lists} + int{others} > 1;
        for (std::size_t a = 0, b = 0; a < members.size(); a = b) {
            for (b = a + 1; b < members.size() && !exits_.has_any(members[b].module); ++b) {
            }
            if (b < members.size() && exits_.only(members[a].module) != no_id) {
                look_between(sequence, members, a, b, mixed);
            }
        }
    }

    void look_between(id sequence, const std::vector<member>& members, std::size_t a, std::size_t b,
                      bool mixed) {
        constexpr std::size_t max_units = 8;
        const auto first = exits_.only(members[a].module);
        std::vector<std::vector<id>> found;
        for (auto v = first; !exits_.leads_to(v, members[b].module); v = found.back().back()) {
            auto unit = units_.behind(v);
            if (unit.empty() || found.size() == max_units) {
                return;
            }
            found.push_back(std::move(unit));
        }
        if (found.empty()) {
            return;
        }
        std::vector<member> vacant;
        auto next = a + 1;
        for (auto n = members[a].number + 1; n < members[b].number; ++n) {
            const bool known = next < b && members[next].number == n;
            if (!known) {
                vacant.push_back({n, no_id});
            } else if (!code_.owns_below(members[next].module)) {
                vacant.push_back(members[next]);
            }
            next += known ? 1 : 0;
            if (vacant.size() > max_units) {
                return;
            }
        }
        const auto take = [&](const member& one, id of, std::vector<id> operators) {
            steps_.push_back({of, one.number, one.module, std::move(operators)});
        };
        if (found.size() == vacant.size()) {
            for (std::size_t i = 0; i < found.size(); ++i) {
                take(vacant[i], sequence, found[i]);
            }
        } else if (vacant.size() == 1) {
            for (auto& unit : found) {
                take(vacant.front(), sequence, std::move(unit));
            }
        } else if (found.size() == 1 && !vacant.empty() && !is_convolution(first)) {
            // What is left out then does nothing any more, as a dropout: that comes last.
            take(vacant.front(), sequence, std::move(found.front()));
        } else if (vacant.empty() && mixed && found.size() == 1) {
            look_inside(members[a].module, found.front());
        }
    }

    /// What stands behind the last member of a sequence, inside of one that has no room for it.
    void look_inside(id m, const std::vector<id>& unit) {
        if (is_leaf(m)) {
            return;
        }
        if (!code_.is_list(m)) {
            steps_.push_back({tree_.parent(m), 0, m, unit});
            return;
        }
        member last{0, no_id};
        member vacant{0, no_id};
        for (auto c = m + 1; c < tree_.end(m); c = tree_.end(c)) {
            if (const auto number = list_place(modules_.attribute(c))) {
                const bool owns = code_.owns_below(c);
                last = owns && *number >= last.number ? member{*number, c} : last;
            }
        }
        vacant.number = last.number + 1;
        for (auto c = m + 1; c < tree_.end(m); c = tree_.end(c)) {
            vacant.module = list_place(modules_.attribute(c)) == vacant.number ? c : vacant.module;
        }
        if (last.module != no_id) {
            steps_.push_back({m, vacant.number, vacant.module, unit});
        }
    }

    /// Whether an exporter may have folded what follows into an operator.
    [[nodiscard]] bool is_convolution(id v) const {
        return std::string_view(ops_.op_type(vertex_[v])).starts_with("Conv");
    }

    const Ops& ops_;
    const Modules& modules_;
    const tree_index& tree_;
    const module_code<Modules>& code_;
    const functional_units<Ops>& units_;
    const module_exits<Ops>& exits_;
    vertices_by_index<graph_of<Ops>> vertex_;
    std::vector<sequence_step> steps_;
};

} // namespace stemma::detail

#endif // STEMMA_EVIDENCE_DETAIL_SEQUENCE_STEPS_HPP

// <stemma/evidence/detail/region_finder.hpp>
#ifndef STEMMA_EVIDENCE_DETAIL_REGION_FINDER_HPP
#define STEMMA_EVIDENCE_DETAIL_REGION_FINDER_HPP

namespace stemma::detail {

/// Finds the modules of operators that have no name, from those around them that do or that read
/// parameters.
template <operator_view Ops, module_view Modules>
class region_finder {
public:
    explicit region_finder(evidence_context<Ops, Modules>& context)
        : ops_(context.ops())
        , graph_(ops_.graph())
        , modules_(context.modules())
        , tree_(context.index())
        , owners_(context.owners())
        , code_(ops_, modules_, owners_)
        , order_(graph_)
        , steady_(context.independent())
        , known_(context)
        , owner_(known_.owner)
        , named_(known_.named)
        , products_(known_.products)
        , lost_(known_.lost)
        , bare_(known_.bare)
        , vertex_(graph_)
        , goes_on_(owner_.size(), false) {}

    /// Returns: by vertex index, a module for operators without parameters of their own.
    [[nodiscard]] std::vector<id> run() {
        const auto& direct = known_.reads;
        parameter_blocks<Ops>(ops_, bare_, steady_, products_, lost_).complete(owner_);
        for (std::size_t v = 0; v < owner_.size(); ++v) {
            lost_[v] = lost_[v] && owner_[v] == no_id;
        }
        std::vector<id> found(owner_.size(), no_id);
        for (std::size_t v = 0; v < found.size(); ++v) {
            found[v] = direct[v] == no_id && bare_[v] ? owner_[v] : no_id;
        }
        // What joins the results of several modules is sure enough to tell where its neighbours
        // belong.
        surround(found);
        for (std::size_t v = 0; v < found.size(); ++v) {
            owner_[v] = joins_[v] ? found[v] : owner_[v];
        }
        surround(found);
        lay_out(found);
        take_steps(found);
        // Regions end where parameters are read, whoever ran there.
        for (auto& module : found) {
            module = caller(module);
        }
        serve_readers(found);
        return found;
    }

    /// Returns: members of sequences that operators speak of and the tree lacks: the sequence and a
    /// number.
    [[nodiscard]] const std::vector<std::pair<id, std::uint64_t>>& missing() const noexcept {
        return missing_;
    }

private:
    /// Gives what members of sequences do to these.
    void take_steps(std::vector<id>& found) {
        std::vector<bool> free(found.size());
        std::vector<id> placed = found;
        for (std::size_t v = 0; v < found.size(); ++v) {
            free[v] = bare_[v] && owner_[v] == no_id && !steady_[v];
            placed[v] = steady_[v] ? no_id : owner_[v] != no_id ? owner_[v] : found[v];
        }
        const functional_units<Ops> units(ops_, steady_, free);
        const module_exits<Ops> exits(ops_, tree_, owners_, units, placed);
        const auto give = [&](id module, const std::vector<id>& operators) {
            for (auto v : operators) {
                found[v] = module;
            }
        };
        equal_modules(ops_, modules_, code_, owners_, units, exits).for_each_end(give);
        sequence_steps<Ops, Modules> steps(ops_, modules_, code_, units, exits);
        for (const auto& step : steps.run()) {
            if (step.member == no_id) {
                missing_.emplace_back(step.sequence, step.number);
            }
            give(step.member == no_id ? step.sequence : step.member, step.operators);
        }
    }

    /// Adds what is known of a neighbour; where nothing is, what that one's neighbours are.
    template <class Closer>
    void add_neighbour(nearest_owners& to, std::size_t neighbour, id position,
                       const nearest_owners& beyond, Closer closer) const {
        if (owner_[neighbour] != no_id) {
            to.add({position, owner_[neighbour], named_[neighbour] != no_id}, closer);
            return;
        }
        if (steady_[neighbour]) {
            return;
        }
        to.add(beyond, closer);
        if (lost_[neighbour]) {
            to.add({position, no_id}, closer);
        }
    }

    /// What is computed without data, as shapes and positions are, serves who reads it. What reads
    /// parameters itself is served by whoever calls its module. Some module ran that; a constant
    /// runs nowhere, so several readers share it in what holds them all, called or not.
    void serve_readers(std::vector<id>& found) const {
        const auto& direct = known_.reads;
        order_.backward([&](operator_t<Ops> vertex) {
            const auto v = index_of(graph_, vertex);
            if (!steady_[v] || !bare_[v] || owner_[v] != no_id) {
                return;
            }
            common_module readers;
            for (auto [out, last] = out_edges(vertex, graph_); out != last; ++out) {
                const auto w = index_of(graph_, target(*out, graph_));
                const bool reads = named_[w] != no_id ? products_[w] : direct[w] != no_id;
                const auto module = named_[w] != no_id   ? named_[w]
                                    : direct[w] != no_id ? direct[w]
                                                         : found[w];
                if (module != no_id) {
                    readers.add(reads ? caller(around(tree_, module)) : module);
                }
            }
            const auto shared = readers.get(tree_);
            found[v] = is_constant(vertex) ? shared : caller(shared);
        });
    }

    /// Whether an operator without data has no inputs to compute anything from.
    [[nodiscard]] bool is_constant(operator_t<Ops> v) const {
        const auto [in, last] = in_edges(v, graph_);
        bool reads = in != last;
        if constexpr (data_aware_operators<Ops>) {
            reads = reads || ops_.hides_data(v); // as a shape of data does
        }
        return !reads;
    }

    /// Returns: the module, or the one above that ran it if none did; `no_id` of that.
    [[nodiscard]] id caller(id module) const {
        return module == no_id ? no_id : nearest_called(modules_, code_.nearest(module));
    }

    /// Whether two operators are in the same body.
    [[nodiscard]] bool are_together(operator_t<Ops> u, operator_t<Ops> v) const {
        if constexpr (nested_operators<Ops>) {
            return ops_.owner(u) == ops_.owner(v);
        } else {
            return true;
        }
    }

    /// Gives every other operator the deepest module that the nearest owners before and behind it
    /// share: it is what calls both. What joins results is also where these meet.
    void surround(std::vector<id>& found) {
        std::vector<nearest_owners> before(owner_.size());
        std::vector<nearest_owners> behind(owner_.size());
        std::vector<id> position(owner_.size(), no_id);
        id step = 0;
        order_.forward([&](operator_t<Ops> vertex) {
            const auto v = index_of(graph_, vertex);
            position[v] = step++;
            for (auto [in, last] = in_edges(vertex, graph_); in != last; ++in) {
                if (const auto u = source(*in, graph_); are_together(u, vertex)) {
                    const auto i = index_of(graph_, u);
                    add_neighbour(before[v], i, position[i], before[i], std::greater<>());
                }
            }
        });
        order_.backward([&](operator_t<Ops> vertex) {
            const auto v = index_of(graph_, vertex);
            for (auto [out, last] = out_edges(vertex, graph_); out != last; ++out) {
                if (const auto w = target(*out, graph_); are_together(w, vertex)) {
                    const auto i = index_of(graph_, w);
                    add_neighbour(behind[v], i, position[i], behind[i], std::less<>());
                }
            }
        });
        const auto residual = residual_modules(
            propagation_problem<Ops>{ops_, tree_, order_, owner_, thread_limit(), &steady_});
        std::vector<bool> goes_on = goes_on_; // what is between calls of others in its module
        joins_.assign(found.size(), false);
        order_.forward([&](operator_t<Ops> vertex) {
            const auto v = index_of(graph_, vertex);
            if (!bare_[v] || owner_[v] != no_id || steady_[v]) {
                return;
            }
            const bool adds = ops_.op_type(vertex) == std::string_view("Add");
            // A single call that is skipped tells little of who calls.
            const bool several = residual[v] != no_id && around(tree_, residual[v]) == residual[v];
            const auto skipped = adds && several ? residual[v] : no_id;
            const auto between = lost_[v] && behind[v].begin() == behind[v].end()
                                     ? 0
                                     : shared_around(tree_, position[v], before[v], behind[v]);
            const auto joined = meeting_point(v, before, skipped);
            joins_[v] = joined != no_id && !tree_.is_ancestor(joined, between);
            found[v] = joins_[v] ? joined : between;
            goes_on[v] = joins_[v] && skipped == no_id;
            const auto u = only_source(graph_, vertex, steady_);
            if (!joins_[v] && u != no_id && (goes_on[u] || computes_itself(u)) &&
                arranges(vertex)) {
                found[v] = owner_[u] != no_id ? owner_[u] : found[u];
                goes_on[v] = true;
            }
        });
        goes_on_ = std::move(goes_on);
        place_inputs(before, behind, found);
    }

    /// What is computed before anything reads parameters is for all that reads it first.
    void place_inputs(const std::vector<nearest_owners>& before,
                      const std::vector<nearest_owners>& behind, std::vector<id>& found) const {
        const auto comes_first = [&](std::size_t v) {
            return owner_[v] == no_id && before[v].begin() == before[v].end();
        };
        common_module first;
        for (std::size_t v = 0; v < found.size(); ++v) {
            bool reads_first = owner_[v] != no_id && before[v].begin() == before[v].end();
            for (auto [in, last] = in_edges(vertex_[v], graph_); in != last && !steady_[v]; ++in) {
                const auto u = index_of(graph_, source(*in, graph_));
                reads_first = reads_first || (!steady_[u] && comes_first(u) && !comes_first(v));
            }
            const auto module = owner_[v] != no_id ? owner_[v] : found[v];
            first.add(reads_first && module != no_id ? around(tree_, module) : no_id);
        }
        for (std::size_t v = 0; v < found.size() && first.low + 1 < first.behind; ++v) {
            if (bare_[v] && !steady_[v] && comes_first(v) && behind[v].begin() != behind[v].end()) {
                found[v] = first.get(tree_);
            }
        }
    }

    /// Gives what only lays out values for a module that computes with parameters itself to it.
    void lay_out(std::vector<id>& found) const {
        order_.backward([&](operator_t<Ops> vertex) {
            const auto v = index_of(graph_, vertex);
            if (!bare_[v] || owner_[v] != no_id || steady_[v] || !arranges(vertex)) {
                return;
            }
            common_module readers;
            bool all = true;
            bool direct = false;
            for (auto [out, last] = out_edges(vertex, graph_); out != last; ++out) {
                const auto w = index_of(graph_, target(*out, graph_));
                if (!steady_[w]) {
                    all = all && owner_[w] != no_id;
                    direct = direct || computes_itself(w);
                    readers.add(owner_[w]);
                }
            }
            if (all && direct && readers.low + 1 == readers.behind) {
                found[v] = readers.low;
            }
        });
    }

    /// Whether an operator reads parameters of a module that holds others.
    [[nodiscard]] bool computes_itself(std::size_t v) const {
        return owner_[v] != no_id && named_[v] == no_id && tree_.end(owner_[v]) != owner_[v] + 1;
    }

    /// Whether an operator only lays out anew what it reads: a module does that with what it
    /// computed itself, before it hands it on.
    [[nodiscard]] bool arranges(operator_t<Ops> v) const {
        constexpr std::array<std::string_view, 5> types{"Transpose", "Reshape", "Squeeze",
                                                        "Unsqueeze", "Flatten"};
        return std::find(types.begin(), types.end(), std::string_view(ops_.op_type(v))) !=
               types.end();
    }

    /// Returns: where the results meet that an operator joins: in the module around what it skips,
    /// else the deepest one that owners before two of its inputs share; `no_id` where it joins
    /// none.
    [[nodiscard]] id meeting_point(std::size_t v, const std::vector<nearest_owners>& before,
                                   id residual) const {
        std::vector<nearest_owners> inputs;
        for (auto [in, last] = in_edges(vertex_[v], graph_); in != last; ++in) {
            if (const auto u = source(*in, graph_); are_together(u, vertex_[v])) {
                const auto i = index_of(graph_, u);
                nearest_owners owners;
                add_neighbour(owners, i, 0, before[i], std::greater<>());
                inputs.push_back(owners);
            }
        }
        id best = residual;
        for (std::size_t i = 0; i < inputs.size() && residual == no_id; ++i) {
            for (std::size_t j = 0; j < i; ++j) {
                for (const auto& a : inputs[i]) {
                    for (const auto& b : inputs[j]) {
                        // What is before both inputs has met before.
                        if (a.module != no_id && b.module != no_id && !inputs[j].holds(a.module) &&
                            !inputs[i].holds(b.module)) {
                            const auto shared = tree_.lca(a.module, b.module);
                            best = best == no_id || tree_.depth(shared) > tree_.depth(best) ? shared
                                                                                            : best;
                        }
                    }
                }
            }
        }
        return best;
    }

    const Ops& ops_;
    const graph_of<Ops>& graph_;
    const Modules& modules_;
    const tree_index& tree_;
    const parameter_owners& owners_;
    module_code<Modules> code_;
    sweep_order<graph_of<Ops>> order_;
    const std::vector<bool>& steady_; // independent of data
    region_facts<Ops, Modules> known_;
    std::vector<id>& owner_; // whose parameters an operator reads or is part of reading
    const std::vector<id>& named_;
    const std::vector<bool>& products_;
    std::vector<bool>& lost_; // of those whose module is not known
    const std::vector<bool>& bare_;
    vertices_by_index<graph_of<Ops>> vertex_;
    std::vector<std::pair<id, std::uint64_t>> missing_;
    std::vector<bool> goes_on_; // joins results that its module goes on with
    std::vector<bool> joins_;   // joins results of several modules
};

} // namespace stemma::detail

#endif // STEMMA_EVIDENCE_DETAIL_REGION_FINDER_HPP

// <stemma/evidence/parameter_regions.hpp>
#ifndef STEMMA_EVIDENCE_PARAMETER_REGIONS_HPP
#define STEMMA_EVIDENCE_PARAMETER_REGIONS_HPP

namespace stemma {

/// Evidence from parameters for the operators around those that read them, where names and metadata
/// are gone: the rest of a module that reads its parameters in its last steps, and what a module
/// does with the results of the modules it calls.
struct parameter_regions {
    using policy_category = evidence_category;

    template <class Ops>
    class claims {
    public:
        claims(const Ops& ops, std::vector<id> found) : ops_(&ops), found_(std::move(found)) {}

        template <class Function>
        void for_each_claim(operator_t<Ops> vertex, Function f) const {
            const auto v = index_of(ops_->graph(), vertex);
            if (v < found_.size() && found_[v] != no_id) {
                f(claim{found_[v], no_id, 0.6F, provenance::parameter, false});
            }
        }

    private:
        const Ops* ops_;
        std::vector<id> found_;
    };

    /// Complexity: O(V + E).
    template <named_operators Ops, module_view Modules>
        requires parameter_readers<Ops>
    [[nodiscard]] claims<Ops> prepare(evidence_context<Ops, Modules>& context) const {
        std::vector<id> found;
        if (has_regions(context)) {
            found = detail::region_finder<Ops, Modules>(context).run();
        }
        return {context.ops(), std::move(found)};
    }

    /// Returns: members of sequences that operators speak of and the modules lack, as they have no
    /// parameters: the sequence and a number; sorted. Complexity: O(V + E).
    template <named_operators Ops, module_view Modules>
        requires parameter_readers<Ops>
    [[nodiscard]] static std::vector<std::pair<id, std::uint64_t>>
    find_missing_members(evidence_context<Ops, Modules>& context) {
        std::vector<std::pair<id, std::uint64_t>> missing;
        if (has_regions(context) &&
            detail::has_open_sequences(context.ops(), context.modules(), context.owners())) {
            detail::region_finder<Ops, Modules> finder(context);
            static_cast<void>(finder.run());
            missing = finder.missing();
            std::sort(missing.begin(), missing.end());
            missing.erase(std::unique(missing.begin(), missing.end()), missing.end());
        }
        return missing;
    }

private:
    /// Whether parameters are what tells of operators.
    template <class Ops, class Modules>
    [[nodiscard]] static bool has_regions(evidence_context<Ops, Modules>& context) {
        // Where names have scopes, what is left is better told by its neighbours; and where most
        // have metadata, as constants are what is left.
        constexpr std::size_t few = 20;
        const auto& scopes = context.scopes().scope_of;
        const auto& chains = context.hierarchies().chain_of;
        std::size_t scoped = 0;
        std::size_t described = 0;
        for (std::size_t v = 0; v < scopes.size(); ++v) {
            const bool has_chain = !chains.empty() && chains[v] != no_id;
            described += has_chain ? 1U : 0U;
            scoped += !has_chain && scopes[v] != no_id ? 1U : 0U;
        }
        bool owned = false;
        for (id p = 0; p < context.ops().parameter_count() && !owned; ++p) {
            owned = !context.owners().of(p).empty();
        }
        return owned && scoped * few <= scopes.size() && described * 4 <= scopes.size() * 3;
    }
};

} // namespace stemma

#endif // STEMMA_EVIDENCE_PARAMETER_REGIONS_HPP

// <stemma/evidence/rebuild_tree.hpp>
#ifndef STEMMA_EVIDENCE_REBUILD_TREE_HPP
#define STEMMA_EVIDENCE_REBUILD_TREE_HPP

namespace stemma {

/// A module tree made from the operators alone, with what was learnt about them on the way.
struct rebuilt_tree {
    module_tree modules;  ///< of unknown classes where nothing tells them
    evidence_facts facts; ///< scopes, hierarchies, and their modules in `modules`
};

namespace detail {

/// Gives the modules of scopes, and their callers, the numbers that `number(m)` returns.
template <class Number>
void renumber(scope_modules& scopes, Number number) {
    const auto change = [&](scope_module& bound) {
        bound.module = bound.module == no_id ? no_id : number(bound.module);
        bound.caller = bound.caller == no_id ? no_id : number(bound.caller);
    };
    for (auto& bound : scopes.of_scope) {
        change(bound);
    }
    for (auto& [v, bound] : scopes.of_operator) {
        change(bound);
    }
}

/// Adds the members of sequences that only operators speak of. `module_at` has the numbers of
/// modules in the builder, by rank. Returns: whether there were any.
template <class Ops>
[[nodiscard]] bool add_missing_members(const Ops& ops, rebuilt_tree& tree,
                                       std::span<const id> module_at, module_tree_builder& builder,
                                       thread_limit threads) {
    evidence_context<Ops, module_tree> context(ops, tree.modules, std::move(tree.facts), threads);
    const auto missing = parameter_regions::find_missing_members(context);
    tree.facts = std::move(context).release();
    for (const auto& [sequence, number] : missing) {
        builder.child(module_at[sequence], std::to_string(number));
    }
    return !missing.empty();
}

} // namespace detail

/// Makes a module tree of the hierarchies in the metadata of operators, the paths in the names of
/// parameters and the scopes in the names of operators. Classes are known where metadata tell them,
/// numbers of calls where scopes do.
/// Requires: several threads may read `ops` at once, if so many are given; `named` was collected of
///   the same operators.
/// Complexity: O(operators + parameters + depth * scopes) expected.
template <named_operators Ops>
    requires parameter_readers<Ops>
[[nodiscard]] rebuilt_tree rebuild_tree(const Ops& ops, named_modules named,
                                        thread_limit threads = {}) {
    auto& builder = named.builder;
    rebuilt_tree result;
    result.modules = std::move(named.modules);
    result.facts.scopes = std::move(named.scopes);
    result.facts.hierarchies = std::move(named.hierarchies);
    const auto& scopes = *result.facts.scopes;
    const auto merged = find_merged_parameters(ops, scopes, result.modules);
    const auto owners_by_rank = [&] {
        std::vector<id> ranks(named.owner.size(), no_id);
        for (id p = 0; p < ranks.size(); ++p) {
            if (named.owner[p] != no_id && !merged[p]) {
                ranks[p] = builder.rank_of(named.owner[p]);
            }
        }
        for (const auto& [p, m] : named.folded) {
            const auto rank = builder.rank_of(m);
            ranks[p] = ranks[p] == no_id ? rank : result.modules.index().lca(ranks[p], rank);
        }
        parameter_owners owners;
        owners.reserve(ranks.size());
        for (const auto& rank : ranks) {
            owners.add({&rank, rank == no_id ? 0U : 1U});
        }
        return owners;
    };
    auto bound_scopes =
        grow_scopes(ops, scopes, result.modules, owners_by_rank(), builder, threads);
    std::vector<id> first_use(builder.size(), no_id);
    for (id s = 0; s < scopes.scopes.size(); ++s) {
        const auto m = bound_scopes.of_scope[s].module;
        const auto& scope = scopes.scopes[s];
        if (m != no_id && scope.operators > 0) {
            first_use[m] = std::min(first_use[m], scope.first_operator);
        }
    }
    for (auto m = static_cast<id>(builder.size()); m-- > 1;) {
        auto& above = first_use[builder.parent(m)];
        above = std::min(above, first_use[m]);
    }
    result.modules = builder.build(detail::sibling_order(builder, named.size, first_use));
    result.facts.owners = owners_by_rank();
    detail::renumber(bound_scopes, [&](id m) { return builder.rank_of(m); });
    result.facts.bound = std::move(bound_scopes);
    std::vector<id> module_at(builder.size()); // by rank
    for (id m = 0; m < module_at.size(); ++m) {
        module_at[builder.rank_of(m)] = m;
    }
    if (detail::add_missing_members(ops, result, module_at, builder, threads)) {
        first_use.resize(builder.size(), no_id);
        result.modules = builder.build(detail::sibling_order(builder, named.size, first_use));
        result.facts.owners = owners_by_rank();
        detail::renumber(*result.facts.bound,
                         [&](id rank) { return builder.rank_of(module_at[rank]); });
    }
    return result;
}

/// As above, of operators of which nothing was collected yet; the root is called `root_name`.
template <named_operators Ops>
    requires parameter_readers<Ops>
[[nodiscard]] rebuilt_tree rebuild_tree(const Ops& ops, std::string_view root_name = "",
                                        thread_limit threads = {}) {
    return rebuild_tree(ops, collect_named_modules(ops, root_name, threads), threads);
}

/// Refuses operators that are none, with a sentence.
template <class Ops, class... Others>
    requires(!operator_view<Ops>)
rebuilt_tree rebuild_tree(const Ops&, const Others&...) {
    static_assert(explain_operator_view<Ops>());
    return {};
}

} // namespace stemma

#endif // STEMMA_EVIDENCE_REBUILD_TREE_HPP

// <stemma/evidence/scope_names.hpp>
#ifndef STEMMA_EVIDENCE_SCOPE_NAMES_HPP
#define STEMMA_EVIDENCE_SCOPE_NAMES_HPP

namespace stemma {

/// Evidence from scoped names: `/encoder/layer.0/attention/self/query/MatMul`. What the name of a
/// call says is left to `function_calls`.
struct scope_names {
    using policy_category = evidence_category;

    template <class Ops>
    class claims {
    public:
        claims(const Ops& ops, const scope_table& table, const scope_modules& bound,
               std::span<const id> shallow)
            : ops_(&ops), table_(&table), bound_(&bound), shallow_(shallow) {}

        template <class Function>
        void for_each_claim(operator_t<Ops> vertex, Function f) const {
            const auto v = static_cast<id>(index_of(ops_->graph(), vertex));
            const auto scope = table_->scope_of[v];
            if (scope == no_id ||
                std::binary_search(table_->leftover.begin(), table_->leftover.end(), v)) {
                return;
            }
            if constexpr (calling_operators<Ops>) {
                if (ops_->callee(vertex) != no_id) {
                    return;
                }
            }
            const auto& bound = bound_->of(v, scope);
            if (bound.module != no_id) {
                claim made{bound.module, bound.call, bound.confidence, provenance::scope, true};
                made.caller = bound.caller;
                if (std::binary_search(shallow_.begin(), shallow_.end(), bound.module)) {
                    made.exact = false;
                    made.confidence = std::min(made.confidence, 0.6F);
                }
                f(made);
            }
        }

    private:
        const Ops* ops_;
        const scope_table* table_;
        const scope_modules* bound_;
        std::span<const id> shallow_; // where names stop short
    };

    /// Requires: the context outlives the claims.
    template <named_operators Ops, module_view Modules>
        requires parameter_readers<Ops>
    [[nodiscard]] claims<Ops> prepare(evidence_context<Ops, Modules>& context) const {
        return {context.ops(), context.scopes(), context.modules_of_scopes(), context.shallow()};
    }
};

} // namespace stemma

#endif // STEMMA_EVIDENCE_SCOPE_NAMES_HPP

// <stemma/fold/acyclic_parts.hpp>
#ifndef STEMMA_FOLD_ACYCLIC_PARTS_HPP
#define STEMMA_FOLD_ACYCLIC_PARTS_HPP

namespace stemma {

/// The edges between some vertices of a graph, each vertex by its place among them.
struct induced_edges {
    std::vector<id> first;   ///< by place, and one more: where its readers begin
    std::vector<id> readers; ///< places, those of one vertex together, once for each edge

    /// Returns: places of the readers of the vertex at `place`; parallel edges are repeated.
    [[nodiscard]] std::span<const id> of(id place) const noexcept {
        return std::span(readers).subspan(first[place], first[place + 1] - first[place]);
    }

    /// Returns: how many vertices there are.
    [[nodiscard]] id size() const noexcept { return static_cast<id>(first.size() - 1); }
};

/// Finds the edges between some of the vertices.
///
/// `place` is by vertex index and says `no_id` for all; so it does afterwards.
/// Complexity: O(members and their edges).
template <operator_graph_like Graph>
[[nodiscard]] induced_edges find_induced_edges(const Graph& graph,
                                               std::span<const vertex_t<Graph>> members,
                                               std::vector<id>& place) {
    induced_edges result;
    result.first.reserve(members.size() + 1);
    result.readers.reserve(members.size());
    for (id i = 0; i < members.size(); ++i) {
        place[index_of(graph, members[i])] = i;
    }
    for (const auto& v : members) {
        result.first.push_back(static_cast<id>(result.readers.size()));
        for (auto [it, last] = out_edges(v, graph); it != last; ++it) {
            if (const auto to = place[index_of(graph, target(*it, graph))]; to != no_id) {
                result.readers.push_back(to);
            }
        }
    }
    result.first.push_back(static_cast<id>(result.readers.size()));
    for (const auto& v : members) {
        place[index_of(graph, v)] = no_id;
    }
    return result;
}

namespace detail {

/// Divides groups of places. Groups are contracted to one node each; where that graph has a cycle,
/// the groups on it are scheduled, and what runs in one go is a part.
class part_divider {
public:
    part_divider(const induced_edges& edges, std::span<const id> group)
        : edges_(edges), unit_(group.begin(), group.end()), part_(group.size(), no_id) {
        id units = 0;
        for (auto g : group) {
            units = g == no_id ? units : std::max(units, g + 1);
        }
        groups_ = units;
        for (auto& unit : unit_) {
            unit = unit == no_id ? units++ : unit;
        }
        places_ = grouped_ids(units, [&](auto take) {
            for (id i = 0; i < unit_.size(); ++i) {
                take(unit_[i], i);
            }
        });
    }

    [[nodiscard]] std::vector<id> divide() && {
        knot_ = find_strong_components(between_units());
        const auto units = static_cast<id>(knot_.size());
        const grouped_ids members(units, [&](auto take) {
            for (id u = 0; u < units; ++u) {
                take(knot_[u], u);
            }
        });
        for (id knot = 0; knot < units; ++knot) {
            divide(members[knot], knot);
        }
        return std::move(part_);
    }

private:
    [[nodiscard]] bool is_group(id unit) const noexcept { return unit < groups_; }

    [[nodiscard]] operator_graph between_units() const {
        std::vector<operator_edge> between;
        for (id i = 0; i < unit_.size(); ++i) {
            for (auto to : edges_.of(i)) {
                if (unit_[to] != unit_[i]) {
                    between.push_back({unit_[i], unit_[to]});
                }
            }
        }
        return {places_.size(), between};
    }

    /// `knot` are units that reach each other; mostly there is one.
    void divide(std::span<const id> knot, id number) {
        if (knot.size() > 1) {
            schedule(knot, number);
        } else if (knot.size() == 1 && is_group(knot.front()) && !places_[knot.front()].empty()) {
            for (auto place : places_[knot.front()]) {
                part_[place] = parts_;
            }
            ++parts_;
        }
    }

    /// Runs the units of a knot: first whatever can run to its end, else the group that can start
    /// first, as far as it comes.
    void schedule(std::span<const id> knot, id number) {
        std::vector<id> all;
        for (auto unit : knot) {
            all.insert(all.end(), places_[unit].begin(), places_[unit].end());
        }
        std::sort(all.begin(), all.end());
        waiting_.resize(unit_.size(), 0);
        pending_.resize(knot_.size(), 0); // by unit, as `knot_` is
        ready_.resize(knot_.size());
        for (auto place : all) {
            for (auto to : edges_.of(place)) {
                if (knot_[unit_[to]] == number) {
                    ++waiting_[to];
                    pending_[unit_[to]] += unit_[to] == unit_[place] ? 0U : 1U;
                }
            }
        }
        for (auto place : all) {
            if (waiting_[place] == 0) {
                make_ready(place);
            }
        }
        while (true) {
            const auto unit = next_unit();
            if (unit == no_id) {
                break;
            }
            run(unit, number);
        }
    }

    void make_ready(id place) {
        const auto unit = unit_[place];
        ready_[unit].push_back(place);
        pending_[unit] == 0 ? complete_.push_back(unit) : startable_.emplace(place, unit);
    }

    [[nodiscard]] id next_unit() {
        while (!complete_.empty()) {
            const auto unit = complete_.front();
            complete_.pop_front();
            if (!ready_[unit].empty()) {
                return unit;
            }
        }
        while (!startable_.empty()) {
            const auto unit = startable_.top().second;
            startable_.pop();
            if (!ready_[unit].empty()) {
                return unit;
            }
        }
        return no_id;
    }

    void run(id unit, id number) {
        auto& ready = ready_[unit];
        while (!ready.empty()) {
            const auto place = ready.back();
            ready.pop_back();
            if (is_group(unit)) {
                part_[place] = parts_;
            }
            for (auto to : edges_.of(place)) {
                if (knot_[unit_[to]] != number) {
                    continue;
                }
                if (unit_[to] != unit && --pending_[unit_[to]] == 0 && !ready_[unit_[to]].empty()) {
                    complete_.push_back(unit_[to]);
                }
                if (--waiting_[to] == 0) {
                    make_ready(to);
                }
            }
        }
        parts_ += is_group(unit) ? 1U : 0U;
    }

    const induced_edges& edges_;
    std::vector<id> unit_; // by place: its group, or a number of its own
    std::vector<id> part_; // by place
    grouped_ids places_;   // by unit
    std::vector<id> knot_; // by unit: the number of those that it reaches and that reach it
    id groups_ = 0;
    id parts_ = 0;
    std::vector<id> waiting_; // by place
    std::vector<id> pending_; // by unit: edges into it from others
    std::vector<std::vector<id>> ready_;
    std::deque<id> complete_;
    std::priority_queue<std::pair<id, id>, std::vector<std::pair<id, id>>, std::greater<>>
        startable_;
};

} // namespace detail

/// Divides groups of vertices into parts that can all be contracted at once: then the graph of the
/// parts, and of the vertices in no group, has no cycle.
///
/// A group stays whole unless a way leads out of it, through other groups as wholes, and back.
/// `group` is by place: numbers from 0, `no_id` for none.
/// Requires: the edges have no cycle. Returns: by place the part, numbered from 0 without gaps;
/// `no_id` where there is no group. Complexity: O(V + E), and O(n log n) of what is on cycles.
[[nodiscard]] inline std::vector<id> acyclic_parts(const induced_edges& edges,
                                                   std::span<const id> group) {
    return detail::part_divider(edges, group).divide();
}

} // namespace stemma

#endif // STEMMA_FOLD_ACYCLIC_PARTS_HPP

// <stemma/model/detail/operator_domain.hpp>
#ifndef STEMMA_MODEL_DETAIL_OPERATOR_DOMAIN_HPP
#define STEMMA_MODEL_DETAIL_OPERATOR_DOMAIN_HPP

namespace stemma {

/// How the standard's domain is called where it is not left empty (ONNX, "Operator Sets").
inline constexpr std::string_view standard_domain = "ai.onnx";

/// Returns: the name of the standard domain as "", others as they are.
[[nodiscard]] constexpr std::string_view plain_domain(std::string_view domain) noexcept {
    return domain == standard_domain ? std::string_view() : domain;
}

/// Returns: the name of the standard domain as `ai.onnx`, others as they are.
[[nodiscard]] constexpr std::string_view spelled_domain(std::string_view domain) noexcept {
    return domain.empty() ? standard_domain : domain;
}

/// Whether a domain is the standard's, or one of those below it, as `ai.onnx.ml`: functions of such
/// a domain could be taken for operators of the standard.
[[nodiscard]] constexpr bool is_standard_domain(std::string_view domain) noexcept {
    return plain_domain(domain).empty() || domain.starts_with("ai.onnx.");
}

} // namespace stemma

#endif // STEMMA_MODEL_DETAIL_OPERATOR_DOMAIN_HPP

// <stemma/tagging/selection.hpp>
#ifndef STEMMA_TAGGING_SELECTION_HPP
#define STEMMA_TAGGING_SELECTION_HPP

namespace stemma {

namespace detail {

template <class P, class Modules>
concept has_selects = requires(const P& p, const Modules& modules, id m) {
    { p.selects(modules, m) } -> std::convertible_to<bool>;
};

} // namespace detail

/// Says which modules get a tag of their own.
///
/// `selects(modules, m)`: whether `m` does. The root always does, whatever the policy says.
///
/// Requires: the same answer for the same module during one call.
/// Complexity: callers ask once per module.
template <class P, class Modules>
concept selection_policy = policy_for<P, selection_category> && detail::has_selects<P, Modules>;

/// Returns: whether `qualified_class` lives in `package` or below it.
[[nodiscard]] constexpr bool is_in_package(std::string_view qualified_class,
                                           std::string_view package) noexcept {
    return qualified_class.starts_with(package) &&
           (qualified_class.size() == package.size() || qualified_class[package.size()] == '.');
}

namespace detail {

/// What `infrastructure_packages` starts with. A function: GCC 12 ends in an internal error where a
/// template makes an object whose members are initialized by a list of texts.
[[nodiscard]] inline std::vector<std::string> torch_packages() {
    return {"torch.nn", "torch.ao.nn", "torch.jit", "torch.fx", "torch._dynamo"};
}

} // namespace detail

/// The packages whose classes build models rather than being part of one. Data: replace at will.
struct infrastructure_packages {
    /// A class in a package or below it counts.
    std::vector<std::string> names = detail::torch_packages();

    friend bool operator==(const infrastructure_packages&,
                           const infrastructure_packages&) = default;

    /// Returns: whether a class is infrastructure; an unknown class ("") is not.
    [[nodiscard]] bool contain(std::string_view qualified_class) const {
        return std::any_of(names.begin(), names.end(), [&](const auto& package) {
            return is_in_package(qualified_class, package);
        });
    }
};

/// Every module that is no infrastructure, and infrastructure whose class is asked for. A module of
/// unknown class that never runs is taken for a container, and so for infrastructure.
struct not_infrastructure {
    using policy_category = selection_category;

    infrastructure_packages packages{}; ///< of which no class is selected, unless `keep` fits it
    /// Class names, qualified classes or globs of either: `LayerNorm`, `torch.nn.*.Embedding`.
    std::vector<std::string> keep{};

    /// Returns: `default`, with `keep` behind a colon; nothing for packages of one's own, of which
    /// a record says nothing. Complexity: O(length).
    [[nodiscard]] std::string name() const {
        if (packages != infrastructure_packages()) {
            return {};
        }
        return keep.empty() ? "default" : "default:" + detail::join_list(keep);
    }

    template <module_view Modules>
    [[nodiscard]] bool selects(const Modules& modules, id m) const {
        if constexpr (counts_calls<Modules>) {
            const std::string_view class_name = modules.class_name(m);
            if (class_name.empty() && modules.calls(m) == 0) {
                return false;
            }
        }
        return !packages.contain(modules.qualified_class(m)) ||
               std::any_of(keep.begin(), keep.end(), [&](const auto& pattern) {
                   return glob_match(pattern, modules.class_name(m)) ||
                          glob_match(pattern, modules.qualified_class(m));
               });
    }
};

/// Every module.
struct all_modules {
    using policy_category = selection_category;
    static constexpr std::string_view name = "all";

    template <module_view Modules>
    [[nodiscard]] constexpr bool selects(const Modules&, id) const noexcept {
        return true;
    }
};

/// Modules whose class lives in one of some packages.
struct in_packages {
    using policy_category = selection_category;

    std::vector<std::string> packages{}; ///< a class in a package or below it is selected

    /// Returns: `package:P,...`. Complexity: O(length).
    [[nodiscard]] std::string name() const { return "package:" + detail::join_list(packages); }

    template <module_view Modules>
    [[nodiscard]] bool selects(const Modules& modules, id m) const {
        return std::any_of(packages.begin(), packages.end(), [&](const auto& package) {
            return is_in_package(modules.qualified_class(m), package);
        });
    }
};

/// Modules whose class name or qualified class fits one of some globs.
struct of_classes {
    using policy_category = selection_category;

    std::vector<std::string> patterns{}; ///< globs of a class name or a qualified class

    /// Returns: `class:GLOB,...`. Complexity: O(length).
    [[nodiscard]] std::string name() const { return "class:" + detail::join_list(patterns); }

    template <module_view Modules>
    [[nodiscard]] bool selects(const Modules& modules, id m) const {
        return std::any_of(patterns.begin(), patterns.end(), [&](const auto& pattern) {
            return glob_match(pattern, modules.class_name(m)) ||
                   glob_match(pattern, modules.qualified_class(m));
        });
    }
};

/// Modules at most so many edges below the root.
struct down_to_depth {
    using policy_category = selection_category;

    id depth = no_id; ///< edges; by default all modules are selected

    /// Returns: `depth:N`.
    [[nodiscard]] std::string name() const { return "depth:" + std::to_string(depth); }

    template <module_view Modules>
    [[nodiscard]] bool selects(const Modules& modules, id m) const noexcept {
        return modules.index().depth(m) <= depth;
    }
};

/// Put `static_assert(explain_selection_policy<mine, modules>());` beside a policy that is refused.
template <class P, class Modules>
consteval bool explain_selection_policy() {
    static_assert(std::copy_constructible<P>, "selection policy: make the class copyable");
    static_assert(policy_for<P, selection_category>,
                  "selection policy: add `using policy_category = stemma::selection_category;`");
    static_assert(detail::has_selects<P, Modules>,
                  "selection policy: add `bool selects(const Modules&, stemma::id module) const`");
    return selection_policy<P, Modules>;
}

} // namespace stemma

#endif // STEMMA_TAGGING_SELECTION_HPP

// <stemma/fold/fold.hpp>
#ifndef STEMMA_FOLD_FOLD_HPP
#define STEMMA_FOLD_FOLD_HPP

namespace stemma {

/// How a function is called: it stands for a class.
struct function_name {
    std::string domain; ///< the package
    std::string name;   ///< the class, without its package

    friend bool operator==(const function_name&, const function_name&) = default;
};

namespace detail {

template <class P, class Modules>
concept has_folds = requires(const P& p, const Modules& modules, id m) {
    { p.folds(modules, m) } -> std::convertible_to<bool>;
};

template <class P>
concept has_least_nodes = requires(const P& p) {
    { p.least_nodes() } -> std::convertible_to<std::size_t>;
};

template <class P, class Modules>
concept has_shares = requires(const P& p, const Modules& modules, id m) {
    { p.shares(modules, m, m) } -> std::convertible_to<bool>;
};

template <class P, class Modules>
concept has_name_of = requires(const P& p, const Modules& modules, id m) {
    { p.name_of(modules, m) } -> std::convertible_to<function_name>;
};

template <class P>
concept has_varies_constants = requires(const P& p) {
    { p.varies_constants() } -> std::convertible_to<bool>;
};

template <class P>
concept has_lifts = requires(const P& p, std::int64_t version) {
    { p.lifts(version) } -> std::convertible_to<bool>;
};

} // namespace detail

/// Says which modules become functions.
///
/// `folds(modules, m)`: whether a module does; the root never. `least_nodes()`: what has fewer
/// operators, functions it calls included, stays in place. `shares(modules, a, b)`: whether two
/// modules may be calls of one function when their bodies are equal. `name_of(modules, m)`: what
/// the function of a module is called; where that is taken by another body, a number is added.
/// `varies_constants()`: whether bodies are equal that differ in Constants; these become
/// attributes of the function. `lifts(version)`: whether a model of an IR version that has no
/// functions is lifted to one that has.
///
/// Requires: `shares` is an equivalence; the same answers for the same modules during one call; no
///   name of a module that folds is "", and no domain that of the standard or below it,
///   `ai.onnx.ml`.
/// Complexity: callers ask `folds` once per module, `name_of` once per function, `shares` for pairs
///   whose bodies are equal. `fold_selected` models it.
template <class P, class Modules>
concept fold_policy = policy_for<P, fold_category> && detail::has_folds<P, Modules> &&
    detail::has_least_nodes<P> && detail::has_shares<P, Modules> &&
    detail::has_name_of<P, Modules> && detail::has_varies_constants<P> && detail::has_lifts<P>;

namespace detail {

/// Returns: the attribute name of a module, up to the last part that is no number: `layer` of
/// `layer.0`; `module` where there is none.
template <module_view Modules>
[[nodiscard]] std::string name_without_numbers(const Modules& modules, id m) {
    const auto& tree = modules.index();
    while (m != 0 && is_number(modules.attribute(m))) {
        m = tree.parent(m);
    }
    return m == 0 ? "module" : std::string(modules.attribute(m));
}

} // namespace detail

/// Folds the modules that a selection policy selects.
///
/// A function is called as its class: the domain is the package. Modules of one class share.
/// Without a class, the domain is `module`, and the name that under which the parent holds it.
template <class Selection = not_infrastructure>
struct fold_selected {
    using policy_category = fold_category;

    Selection selection{};       ///< says which modules, besides the root, are folded
    std::size_t least = 2;       ///< operators that a function is worth
    bool lift = true;            ///< whether models of too low an IR version are lifted
    bool vary_constants = false; ///< whether equal bodies may differ in Constants

    template <module_view Modules>
    [[nodiscard]] bool folds(const Modules& modules, id m) const {
        return m != 0 && selection.selects(modules, m);
    }
    [[nodiscard]] constexpr std::size_t least_nodes() const noexcept { return least; }

    template <module_view Modules>
    [[nodiscard]] bool shares(const Modules& modules, id a, id b) const {
        return name_of(modules, a) == name_of(modules, b);
    }

    template <module_view Modules>
    [[nodiscard]] function_name name_of(const Modules& modules, id m) const {
        const std::string_view qualified = modules.qualified_class(m);
        const std::string_view name = modules.class_name(m);
        const bool packed = qualified.size() > name.size() + 1 && qualified.ends_with(name) &&
                            qualified[qualified.size() - name.size() - 1] == '.';
        std::string domain(packed ? qualified.substr(0, qualified.size() - name.size() - 1)
                                  : std::string_view("module"));
        if (is_standard_domain(domain)) {
            domain.insert(0, "module.");
        }
        return {std::move(domain),
                name.empty() ? detail::name_without_numbers(modules, m) : std::string(name)};
    }

    [[nodiscard]] constexpr bool varies_constants() const noexcept { return vary_constants; }
    [[nodiscard]] constexpr bool lifts(std::int64_t) const noexcept { return lift; }
};

/// As fold_selected, but every module has a function of its own, which its calls share: for files
/// in which one module is edited and the others of its class stay as they are.
template <class Selection = not_infrastructure>
struct fold_apart : fold_selected<Selection> {
    /// Only a module and itself.
    template <module_view Modules>
    [[nodiscard]] bool shares(const Modules&, id a, id b) const {
        return a == b;
    }

    /// Returns: the path and the class, `layer.0:BertLayer`, in the package's domain.
    /// Complexity: O(length of the path).
    template <module_view Modules>
    [[nodiscard]] function_name name_of(const Modules& modules, id m) const {
        auto name = fold_selected<Selection>::name_of(modules, m);
        name.name.insert(0, path_of(modules, m) + ":");
        return name;
    }
};

/// As fold_selected, but only modules in which no other one is selected: no function calls another
/// one, for readers that inline one level.
template <class Selection = not_infrastructure>
struct fold_innermost : fold_selected<Selection> {
    /// Whether `m` is selected and nothing below it is.
    /// Complexity: O(modules) for all modules together.
    template <module_view Modules>
    [[nodiscard]] bool folds(const Modules& modules, id m) const {
        bool innermost = fold_selected<Selection>::folds(modules, m);
        for (id below = m + 1; innermost && below < modules.index().end(m); ++below) {
            innermost = !this->selection.selects(modules, below);
        }
        return innermost;
    }
};

/// Put `static_assert(explain_fold_policy<mine, modules>());` beside a policy that is refused.
template <class P, class Modules>
consteval bool explain_fold_policy() {
    static_assert(std::copy_constructible<P>, "fold policy: make the class copyable");
    static_assert(policy_for<P, fold_category>,
                  "fold policy: add `using policy_category = stemma::fold_category;`");
    static_assert(detail::has_folds<P, Modules>,
                  "fold policy: add `bool folds(const Modules&, stemma::id module) const`");
    static_assert(detail::has_least_nodes<P>, "fold policy: add `std::size_t least_nodes() const`");
    static_assert(detail::has_shares<P, Modules>,
                  "fold policy: add `bool shares(const Modules&, stemma::id, stemma::id) const`");
    static_assert(detail::has_name_of<P, Modules>,
                  "fold policy: add `stemma::function_name name_of(const Modules&, stemma::id "
                  "module) const`");
    static_assert(detail::has_varies_constants<P>,
                  "fold policy: add `bool varies_constants() const`");
    static_assert(detail::has_lifts<P>,
                  "fold policy: add `bool lifts(std::int64_t ir_version) const`");
    return fold_policy<P, Modules>;
}

} // namespace stemma

#endif // STEMMA_FOLD_FOLD_HPP

// <stemma/fold/detail/folded_modules.hpp>
#ifndef STEMMA_FOLD_DETAIL_FOLDED_MODULES_HPP
#define STEMMA_FOLD_DETAIL_FOLDED_MODULES_HPP

namespace stemma {

/// Which modules of a tree fold, and which of these lie around each module. The root never folds,
/// nor do modules in `max_depth` others that do.
class folded_modules {
public:
    /// Bounds the work on a tree that is a mere chain, and the depth of what is made.
    static constexpr id max_depth = 64;

    /// `folds(m)` says whether a module is to fold. Requires: the tree outlives it.
    /// Complexity: O(modules).
    template <class Folds>
    folded_modules(const tree_index& tree, Folds folds)
        : tree_(&tree), folded_(tree.size(), false), above_(tree.size(), no_id) {
        std::vector<id> depth(tree.size(), 0);
        for (id m = 1; m < tree.size(); ++m) {
            const auto parent = tree.parent(m);
            above_[m] = folded_[parent] ? parent : above_[parent];
            depth[m] = depth[parent];
            if (depth[m] < max_depth && folds(m)) {
                ++depth[m];
                folded_[m] = true;
            }
        }
    }

    /// Whether a module folds.
    [[nodiscard]] bool folds(id m) const { return folded_[m]; }

    /// Returns: the innermost module that folds, of a module and those around it; `no_id` for none.
    [[nodiscard]] id innermost(id m) const { return folded_[m] ? m : above_[m]; }

    /// Returns: the outermost one below `top` of these, or `no_id`. Requires: `top` folds or is the
    /// root. Complexity: O(`max_depth`).
    [[nodiscard]] id next_below(id top, id m) const {
        if (!tree_->is_ancestor(top, m)) {
            return no_id;
        }
        id found = no_id;
        for (auto around = innermost(m); around != no_id && around != top;
             around = above_[around]) {
            found = around;
        }
        return found;
    }

private:
    const tree_index* tree_;
    std::vector<bool> folded_;
    std::vector<id> above_; // by module: the next folded one around it
};

} // namespace stemma

#endif // STEMMA_FOLD_DETAIL_FOLDED_MODULES_HPP

// <stemma/fold/fold_regions.hpp>
#ifndef STEMMA_FOLD_FOLD_REGIONS_HPP
#define STEMMA_FOLD_FOLD_REGIONS_HPP

namespace stemma {

/// What stands in a region: an operator, by vertex index, or a region, by number.
struct fold_item {
    id index = 0;           ///< vertex index, or number of the region
    bool is_region = false; ///< what `index` names

    friend bool operator==(const fold_item&, const fold_item&) = default;
};

/// Operators of one call of one module that can be contracted into one, with regions inside.
struct fold_region {
    id module = 0;     ///< 0, the root, for the whole graph
    id call = 0;       ///< of the module, by the number that `calls` gave; 0 where there is none
    id run = 0;        ///< which part of the call, where that had to be divided
    id runs = 1;       ///< into how many parts it was divided
    id parent = no_id; ///< number of the region around; `no_id` for the whole graph
    id end = 0;        ///< the regions inside are those from the next number to this one
    id operators = 0;  ///< with those of the regions inside
    std::vector<fold_item> items; ///< producers first, else by their first operator
};

/// Whether region `r` is region `other` or around it. Complexity: O(1).
[[nodiscard]] inline bool holds_region(std::span<const fold_region> regions, id r, id other) {
    return r <= other && other < regions[r].end;
}

/// What a policy wanted to fold and what was left where it is.
struct fold_leftover {
    id module = 0;             ///< that was to be folded
    id call = 0;               ///< of the module, as in `fold_region`
    std::size_t operators = 0; ///< how many there are, which stay in the region around
    id runs = 1; ///< parts that the call had to be divided into; the ones left are too small
};

/// What can be folded, and what cannot.
struct fold_regions_result {
    std::vector<fold_region> regions; ///< in preorder; the first one is the whole graph
    std::vector<fold_leftover> left;  ///< in the order in which they were met
};

namespace detail {

/// Finds regions level by level, from the outside to the inside.
template <operator_graph_like Graph, class Calls, class Constant>
class fold_divider {
public:
    fold_divider(const Graph& graph, std::span<const vertex_t<Graph>> order,
                 const folded_modules& modules, std::span<const id> module, id top,
                 std::size_t least, Calls calls, Constant constant)
        : graph_(graph)
        , modules_(modules)
        , module_(module)
        , least_(least)
        , calls_(calls)
        , constant_(constant)
        , place_(num_vertices(graph), no_id) {
        result_.regions.emplace_back().module = top;
        divide(0, {order.begin(), order.end()});
    }

    [[nodiscard]] fold_regions_result take() && { return std::move(result_); }

private:
    using members = std::vector<vertex_t<Graph>>;

    struct group {
        id module = 0;
        id call = 0;
        id parts = 0;
        id runs = 0; ///< parts that are regions already
    };

    void divide(id region, const members& all) {
        const auto top = result_.regions[region].module;
        std::vector<id> module;
        module.reserve(all.size());
        bool divides = false;
        for (const auto& v : all) {
            module.push_back(modules_.next_below(top, module_[index_of(graph_, v)]));
            divides = divides || module.back() != no_id;
        }
        result_.regions[region].operators = static_cast<id>(all.size());
        if (divides) {
            divide(region, all, module);
        } else {
            auto& items = result_.regions[region].items;
            items.reserve(all.size());
            for (const auto& v : all) {
                items.push_back(item(v));
            }
        }
        result_.regions[region].end = static_cast<id>(result_.regions.size());
    }

    /// `next` is by place the module below that of the region.
    void divide(id region, const members& all, const std::vector<id>& next) {
        const auto edges =
            find_induced_edges(graph_, std::span<const vertex_t<Graph>>(all), place_);
        std::vector<group> groups;
        const auto of = find_groups(all, edges, next, groups);
        const auto part = acyclic_parts(edges, of);
        id parts = 0;
        for (auto p : part) {
            parts = p == no_id ? parts : std::max(parts, p + 1);
        }
        const grouped_ids places(parts, [&](auto take) {
            for (id i = 0; i < part.size(); ++i) {
                if (part[i] != no_id) {
                    take(part[i], i);
                }
            }
        });
        for (id p = 0; p < parts; ++p) {
            ++groups[of[places[p].front()]].parts;
        }
        for (auto first : find_sequence(edges, part, places)) {
            if (part[first] == no_id) {
                result_.regions[region].items.push_back(item(all[first]));
            } else {
                add_part(region, all, places[part[first]], groups[of[first]]);
            }
        }
    }

    /// Makes a region of a part, or leaves the operators where they are.
    void add_part(id region, const members& all, std::span<const id> places, group& g) {
        auto& items = result_.regions[region].items;
        if (places.size() < least_) {
            for (auto i : places) {
                items.push_back(item(all[i]));
            }
            result_.left.push_back({g.module, g.call, places.size(), g.parts});
            return;
        }
        const auto child = static_cast<id>(result_.regions.size());
        items.push_back({child, true});
        result_.regions.push_back({g.module, g.call, g.runs++, g.parts, region, 0, 0, {}});
        members inside;
        inside.reserve(places.size());
        for (auto i : places) {
            inside.push_back(all[i]);
        }
        divide(child, inside);
    }

    [[nodiscard]] fold_item item(const vertex_t<Graph>& v) const {
        return {static_cast<id>(index_of(graph_, v)), false};
    }

    /// Returns: by place the number of its group, a call of a module; `no_id` for none.
    [[nodiscard]] std::vector<id> find_groups(const members& all, const induced_edges& edges,
                                              const std::vector<id>& module,
                                              std::vector<group>& groups) const {
        const auto call = find_calls(all, edges, module);
        flat_index known;
        std::vector<id> of(all.size(), no_id);
        for (id i = 0; i < all.size(); ++i) {
            if (module[i] != no_id) {
                const auto next = static_cast<id>(groups.size());
                of[i] = known.insert(hash_mix(module[i], call[i]), next, [&](id g) {
                    return groups[g].module == module[i] && groups[g].call == call[i];
                });
                if (of[i] == next) {
                    groups.push_back({module[i], call[i], 0, 0});
                }
            }
        }
        // What several groups read is of none of them, if it depends on no data.
        for (auto i = static_cast<id>(all.size()); i-- > 0;) {
            const auto readers = edges.of(i);
            if (of[i] != no_id && constant_(all[i]) &&
                std::any_of(readers.begin(), readers.end(), [&](id r) { return of[r] != of[i]; })) {
                of[i] = no_id;
            }
        }
        return of;
    }

    /// Returns: by place the call of its module. Where that is not known it is that of what is
    /// read, else that of a reader.
    [[nodiscard]] std::vector<id> find_calls(const members& all, const induced_edges& edges,
                                             const std::vector<id>& module) const {
        std::vector<id> call(all.size(), no_id);
        for (id i = 0; i < all.size(); ++i) {
            if (module[i] != no_id) {
                call[i] = calls_(module[i], all[i]);
            }
        }
        for (id i = 0; i < all.size(); ++i) {
            if (call[i] == no_id) {
                continue;
            }
            for (auto reader : edges.of(i)) {
                if (call[reader] == no_id && module[reader] == module[i]) {
                    call[reader] = call[i];
                }
            }
        }
        for (auto i = static_cast<id>(all.size()); i-- > 0;) {
            if (call[i] != no_id) {
                continue;
            }
            const auto readers = edges.of(i);
            const auto reader = std::find_if(readers.begin(), readers.end(), [&](id r) {
                return module[r] == module[i] && module[i] != no_id;
            });
            call[i] = reader == readers.end() ? 0 : call[*reader];
        }
        return call;
    }

    /// Returns: places in no part, and the first places of parts, in an order in which all can run.
    [[nodiscard]] static std::vector<id> find_sequence(const induced_edges& edges,
                                                       const std::vector<id>& part,
                                                       const grouped_ids& places) {
        // A part goes by its first place. Whatever can run and stands first comes next.
        std::vector<id> lead(part.size());
        for (id i = 0; i < lead.size(); ++i) {
            lead[i] = part[i] == no_id ? i : places[part[i]].front();
        }
        std::vector<id> waiting(lead.size(), 0);
        for (id i = 0; i < lead.size(); ++i) {
            for (auto to : edges.of(i)) {
                waiting[lead[to]] += lead[to] == lead[i] ? 0U : 1U;
            }
        }
        std::priority_queue<id, std::vector<id>, std::greater<>> open;
        for (id i = 0; i < lead.size(); ++i) {
            if (lead[i] == i && waiting[i] == 0) {
                open.push(i);
            }
        }
        std::vector<id> result;
        result.reserve(lead.size());
        while (!open.empty()) {
            const auto next = open.top();
            open.pop();
            result.push_back(next);
            for (auto i : part[next] == no_id ? std::span(&next, 1) : places[part[next]]) {
                for (auto to : edges.of(i)) {
                    if (lead[to] != next && --waiting[lead[to]] == 0) {
                        open.push(lead[to]);
                    }
                }
            }
        }
        return result;
    }

    const Graph& graph_;
    const folded_modules& modules_;
    std::span<const id> module_; // by vertex index
    std::size_t least_;
    Calls calls_;
    Constant constant_;
    std::vector<id> place_; // by vertex index: scratch
    fold_regions_result result_;
};

} // namespace detail

/// Divides a graph into regions that can be contracted one inside the other, as the modules of the
/// operators lie one inside the other.
///
/// `order` holds the vertices, producers first; `module` is by vertex index. `modules` says which
/// modules get regions; the graph lies in `top` itself, and what is not below that stays in place.
/// `least` is how many operators a region must have. `calls(m, v)` says
/// which call of module `m`, or of what is around it, vertex `v` belongs to: a number, or `no_id`.
/// Each call is one region, or several where it cannot be contracted as one. `constant(v)` says
/// whether an operator depends on no data; what is read in several regions stays outside of them
/// then.
/// Requires: `top` folds or is the root.
/// Complexity: O((V + E) log V) for every level of modules that fold.
template <operator_graph_like Graph, class Calls, class Constant>
[[nodiscard]] fold_regions_result
fold_regions(const Graph& graph, std::span<const vertex_t<Graph>> order,
             const folded_modules& modules, std::span<const id> module, id top, std::size_t least,
             Calls calls, Constant constant) {
    return detail::fold_divider<Graph, Calls, Constant>(graph, order, modules, module, top, least,
                                                        calls, constant)
        .take();
}

/// Returns: by vertex index, the region that an operator stands in; the last one of several.
/// Complexity: O(items).
[[nodiscard]] inline std::vector<id> find_places(std::span<const fold_region> regions,
                                                 std::size_t operators) {
    std::vector<id> place(operators, 0);
    for (id r = 0; r < regions.size(); ++r) {
        for (const auto& item : regions[r].items) {
            if (!item.is_region) {
                place[item.index] = r;
            }
        }
    }
    return place;
}

} // namespace stemma

#endif // STEMMA_FOLD_FOLD_REGIONS_HPP

// <stemma/model/accuracy.hpp>
#ifndef STEMMA_MODEL_ACCURACY_HPP
#define STEMMA_MODEL_ACCURACY_HPP

namespace stemma {

/// How a found module stands to the true one.
enum class relation : std::uint8_t {
    exact,        ///< the same
    ancestor,     ///< above it
    descendant,   ///< below it
    contaminated, ///< neither: the two sit in different children of their common ancestor
};

/// Returns: how the module that was found lies to the true one.
[[nodiscard]] inline relation relate(const tree_index& modules, id found, id truth) noexcept {
    return found == truth                      ? relation::exact
           : modules.is_ancestor(found, truth) ? relation::ancestor
           : modules.is_ancestor(truth, found) ? relation::descendant
                                               : relation::contaminated;
}

/// The same for dotted paths, for modules that one tree need not hold both.
[[nodiscard]] inline relation relate(std::string_view found, std::string_view truth) noexcept {
    const auto is_above = [](std::string_view above, std::string_view below) {
        return above.empty() || (below.starts_with(above) && below.size() > above.size() &&
                                 below[above.size()] == '.');
    };
    return found == truth           ? relation::exact
           : is_above(found, truth) ? relation::ancestor
           : is_above(truth, found) ? relation::descendant
                                    : relation::contaminated;
}

/// How many operators stand in which relation to the truth.
struct accuracy {
    std::size_t exact = 0;        ///< at the true module
    std::size_t ancestor = 0;     ///< above it
    std::size_t descendant = 0;   ///< below it
    std::size_t contaminated = 0; ///< elsewhere
    std::size_t missing = 0;      ///< operators with a truth for which nothing was found

    /// Counts an operator of which something was found.
    void add(relation r) noexcept {
        (r == relation::exact        ? exact
         : r == relation::ancestor   ? ancestor
         : r == relation::descendant ? descendant
                                     : contaminated) += 1;
    }

    /// Adds the counts of other operators.
    accuracy& operator+=(const accuracy& other) noexcept {
        exact += other.exact;
        ancestor += other.ancestor;
        descendant += other.descendant;
        contaminated += other.contaminated;
        missing += other.missing;
        return *this;
    }

    /// Returns: the operators with a truth.
    [[nodiscard]] std::size_t total() const noexcept {
        return exact + ancestor + descendant + contaminated + missing;
    }

    friend bool operator==(const accuracy&, const accuracy&) = default;
};

/// Compares what was found with an oracle; both are by vertex index, `no_id` where nothing is
/// known. Operators without a truth do not count. Complexity: O(n).
[[nodiscard]] inline accuracy measure_accuracy(const tree_index& modules, std::span<const id> found,
                                               std::span<const id> truth) {
    accuracy result;
    for (std::size_t v = 0; v < truth.size(); ++v) {
        if (truth[v] == no_id) {
            continue;
        }
        if (found[v] == no_id) {
            ++result.missing;
        } else {
            result.add(relate(modules, found[v], truth[v]));
        }
    }
    return result;
}

} // namespace stemma

#endif // STEMMA_MODEL_ACCURACY_HPP

// <stemma/core/detail/held_policy.hpp>
#ifndef STEMMA_CORE_DETAIL_HELD_POLICY_HPP
#define STEMMA_CORE_DETAIL_HELD_POLICY_HPP

// What the types share that hold any policy of a role.
namespace stemma::detail {

/// Keeps a converting constructor from being taken for one that copies.
template <class P, class Any>
concept other_than = !std::same_as<std::remove_cvref_t<P>, Any>;

/// A function that answers the one question of a role, in place of a policy.
template <class F, class Any, class Result, class... Arguments>
concept held_function = other_than<F, Any> && !policy<F> && std::copy_constructible<F> &&
                        std::is_invocable_r_v<Result, const F&, Arguments...>;

/// What is remembered of a policy besides what it does.
class held_name {
public:
    held_name() = default;
    explicit held_name(std::string name) : name_(std::move(name)), chosen_(true) {}

    /// What the policy calls itself, or was called where it was found; "" where neither is.
    [[nodiscard]] const std::string& name() const noexcept { return name_; }

    /// Whether it holds a policy; else it acts as the default.
    [[nodiscard]] bool is_chosen() const noexcept { return chosen_; }

    /// What records call it from now on.
    void set_name(std::string name) { name_ = std::move(name); }

private:
    std::string name_;
    bool chosen_ = false;
};

} // namespace stemma::detail

#endif // STEMMA_CORE_DETAIL_HELD_POLICY_HPP

// <stemma/model/cost.hpp>
#ifndef STEMMA_MODEL_COST_HPP
#define STEMMA_MODEL_COST_HPP

namespace stemma {

/// A value that an operator reads or makes, as far as it is known.
struct load_value {
    std::string_view name{};         ///< "" of an input that is left out
    std::string_view element_type{}; ///< as PyTorch prints it, `float32`; "" where unknown
    std::optional<std::vector<std::int64_t>> shape{}; ///< -1 for an unknown extent
    bool is_weight = false;                           ///< stored in the file

    /// Returns: how many elements it has; nothing where some extent is unknown.
    /// Complexity: O(rank).
    [[nodiscard]] std::optional<std::uint64_t> elements() const {
        std::uint64_t product = 1;
        for (auto extent : shape.value_or(std::vector<std::int64_t>{-1})) {
            if (extent < 0) {
                return std::nullopt;
            }
            product *= static_cast<std::uint64_t>(extent);
        }
        return product;
    }
};

/// What a cost policy may ask of operators beside their loads. It is read when it is asked for, and
/// what it answers is valid as long as the reader. By one thread at a time.
class load_reader {
public:
    virtual ~load_reader() = default;

    /// Returns: the operator of a node, and its domain; "" is the standard one.
    [[nodiscard]] virtual std::string_view op_type(id node) const = 0;
    /// Returns: "" for the standard domain.
    [[nodiscard]] virtual std::string_view domain(id node) const = 0;

    /// Returns: the name of a node, possibly "".
    [[nodiscard]] virtual std::string_view name(id node) const = 0;

    /// Returns: the module it came from, and the path of that; `no_id` and "" where unknown.
    [[nodiscard]] virtual id module(id node) const = 0;
    /// Returns: the path of the deepest module.
    [[nodiscard]] virtual std::string module_path(id node) const = 0;

    /// Returns: what it reads and makes, by position.
    [[nodiscard]] virtual std::vector<load_value> inputs(id node) const = 0;
    /// Returns: the values that it makes, by slot.
    [[nodiscard]] virtual std::vector<load_value> outputs(id node) const = 0;

    /// Returns: an attribute, where the node has one of that name and type.
    [[nodiscard]] virtual std::optional<std::int64_t> whole(id node,
                                                            std::string_view name) const = 0;
    [[nodiscard]] virtual std::optional<std::vector<std::int64_t>>
    /// Returns: a list of whole numbers, if the operator has such an attribute.
    wholes(id node, std::string_view name) const = 0;
    /// Returns: a real number, if the operator has such an attribute.
    [[nodiscard]] virtual std::optional<float> real(id node, std::string_view name) const = 0;
    /// Returns: a text, if the operator has such an attribute.
    [[nodiscard]] virtual std::string_view text(id node, std::string_view name) const = 0;

    /// Returns: the nodes that run when it does: directly in its bodies, or in a function it calls.
    [[nodiscard]] virtual std::vector<id> inside(id node) const = 0;
};

/// What an operator adds to the part it is in.
struct operator_load {
    std::uint64_t operators = 1;     ///< itself, and what is in its bodies
    std::uint64_t parameters = 0;    ///< elements of parameters that no operator before it reads
    std::uint64_t weight_bytes = 0;  ///< bytes of initializers that no operator before it reads
    std::uint64_t message_bytes = 0; ///< bytes that describe it
    id node = no_id;                 ///< which one it is, for `details`
    const load_reader* details = nullptr; ///< null where there is none to ask

    /// Returns: the operator; "" where there is nobody to ask, as for all below.
    [[nodiscard]] std::string_view op_type() const {
        return details == nullptr ? std::string_view() : details->op_type(node);
    }
    /// Returns: the path of the module it came from.
    [[nodiscard]] std::string module_path() const {
        return details == nullptr ? std::string() : details->module_path(node);
    }
    /// Returns: what it reads, by position; weights are among it.
    [[nodiscard]] std::vector<load_value> inputs() const {
        return details == nullptr ? std::vector<load_value>() : details->inputs(node);
    }
    /// Returns: what it makes, by position.
    [[nodiscard]] std::vector<load_value> outputs() const {
        return details == nullptr ? std::vector<load_value>() : details->outputs(node);
    }
    /// Returns: an attribute of type INT; nothing where there is none.
    [[nodiscard]] std::optional<std::int64_t> whole(std::string_view name) const {
        return details == nullptr ? std::nullopt : details->whole(node, name);
    }
    /// Returns: an attribute of type INTS; nothing where there is none.
    [[nodiscard]] std::optional<std::vector<std::int64_t>> wholes(std::string_view name) const {
        return details == nullptr ? std::nullopt : details->wholes(node, name);
    }
};

namespace detail {

template <class P>
concept has_cost = requires(const P& p, const operator_load& load) {
    { p.cost(load) } -> std::convertible_to<std::uint64_t>;
};

} // namespace detail

/// Says what an operator costs, so that parts of a model can be made alike.
///
/// `cost(load)` returns it in units of the policy's own, by what the load counts and what it tells
/// of operator, attributes, types, shapes, weights and module.
///
/// Requires: the costs of all operators of a model have a sum below 2^63.
template <class P>
concept cost_policy = policy_for<P, cost_category> && detail::has_cost<P>;

/// What a part weighs on disk.
struct cost_in_bytes {
    using policy_category = cost_category;
    static constexpr std::string_view name = "bytes";
    [[nodiscard]] constexpr std::uint64_t cost(const operator_load& load) const noexcept {
        return load.weight_bytes + load.message_bytes;
    }
};

/// How many parameters a part holds.
struct cost_in_parameters {
    using policy_category = cost_category;
    static constexpr std::string_view name = "parameters";
    [[nodiscard]] constexpr std::uint64_t cost(const operator_load& load) const noexcept {
        return load.parameters;
    }
};

/// How many operators a part holds.
struct cost_in_operators {
    using policy_category = cost_category;
    static constexpr std::string_view name = "operators";
    [[nodiscard]] constexpr std::uint64_t cost(const operator_load& load) const noexcept {
        return load.operators;
    }
};

/// Any cost policy.
class any_cost : public detail::held_name {
public:
    using policy_category = cost_category;

    /// Acts as `cost_in_bytes`.
    any_cost() = default;

    /// Holds a copy of `chosen`.
    template <class P>
        requires(detail::other_than<P, any_cost>&& cost_policy<P>)
    any_cost(P chosen) // NOLINT(google-explicit-constructor): it stands for the policy
        : held_name(detail::name_of_policy(chosen))
        , cost_([chosen = std::move(chosen)](const operator_load& load) -> std::uint64_t {
            return chosen.cost(load);
        }) {}

    /// Costs are what `cost(load)` says.
    template <detail::held_function<any_cost, std::uint64_t, const operator_load&> F>
    any_cost(F cost) // NOLINT(google-explicit-constructor): as above
        : held_name(""), cost_(std::move(cost)) {}

    [[nodiscard]] std::uint64_t cost(const operator_load& load) const {
        return cost_ ? cost_(load) : cost_in_bytes{}.cost(load);
    }

private:
    std::function<std::uint64_t(const operator_load&)> cost_;
};

/// Put `static_assert(explain_cost_policy<mine>());` beside a policy that is refused.
template <class P>
consteval bool explain_cost_policy() {
    static_assert(std::copy_constructible<P>, "cost policy: make the class copyable");
    static_assert(policy_for<P, cost_category>,
                  "cost policy: add `using policy_category = stemma::cost_category;`");
    static_assert(detail::has_cost<P>,
                  "cost policy: add `std::uint64_t cost(const stemma::operator_load&) const`");
    return cost_policy<P>;
}

} // namespace stemma

#endif // STEMMA_MODEL_COST_HPP

// <stemma/model/mapped_modules.hpp>
#ifndef STEMMA_MODEL_MAPPED_MODULES_HPP
#define STEMMA_MODEL_MAPPED_MODULES_HPP

namespace stemma {

/// Any rooted Boost graph as a module view: property maps say what a vertex is called.
///
/// The maps are read by vertex and yield something convertible to `std::string_view` that outlives
/// the view.
template <incidence_graph Tree, text_map<vertex_t<Tree>> Attribute, text_map<vertex_t<Tree>> Class,
          text_map<vertex_t<Tree>> Qualified>
class mapped_modules {
public:
    /// Requires: every vertex is reached from `root` on exactly one path.
    /// Complexity: O(n).
    mapped_modules(const Tree& tree, vertex_t<Tree> root, Attribute attribute, Class class_name,
                   Qualified qualified_class)
        : tree_(index_tree(tree, root))
        , attribute_(std::move(attribute))
        , class_(std::move(class_name))
        , qualified_(std::move(qualified_class)) {}

    /// Of the ranks by which all else asks; valid as long as the view.
    [[nodiscard]] const tree_index& index() const noexcept { return tree_.index; }

    /// Returns: what the first map yields for the vertex of rank `m`.
    [[nodiscard]] std::string_view attribute(id m) const { return get(attribute_, vertex(m)); }

    /// Returns: what the second map yields for the vertex of rank `m`.
    [[nodiscard]] std::string_view class_name(id m) const { return get(class_, vertex(m)); }

    /// Returns: what the third map yields for the vertex of rank `m`.
    [[nodiscard]] std::string_view qualified_class(id m) const {
        return get(qualified_, vertex(m));
    }

    /// Returns: the vertex of the user's graph that has rank `m`.
    [[nodiscard]] vertex_t<Tree> vertex(id m) const { return tree_.vertex[m]; }

    /// Returns: the rank of a vertex of the user's graph.
    [[nodiscard]] id rank(const Tree& tree, vertex_t<Tree> v) const {
        return tree_.rank[index_of(tree, v)];
    }

private:
    indexed_tree<Tree> tree_;
    Attribute attribute_;
    Class class_;
    Qualified qualified_;
};

} // namespace stemma

#endif // STEMMA_MODEL_MAPPED_MODULES_HPP

// <stemma/model/mapped_operators.hpp>
#ifndef STEMMA_MODEL_MAPPED_OPERATORS_HPP
#define STEMMA_MODEL_MAPPED_OPERATORS_HPP

namespace stemma {

/// A map from operators to no parameter names at all.
struct no_parameters {
    template <class Vertex>
    friend std::vector<std::string_view> get(const no_parameters&, const Vertex&) {
        return {};
    }
};

/// Any Boost graph as an operator view: property maps say how a vertex is called, what it does and
/// which parameters it reads.
///
/// `Name` and `OpType` yield something convertible to `std::string_view` that outlives the view;
/// `Parameters` yields a range of such.
template <class Graph, class Name, class OpType, class Parameters = no_parameters>
class mapped_operators {
    static_assert(explain_operator_graph<Graph>());
    static_assert(text_map<Name, vertex_t<Graph>> && text_map<OpType, vertex_t<Graph>>,
                  "mapped_operators: give property maps from vertices to text that outlives them");

public:
    /// The user's graph, for `operator_view`.
    using graph_type = Graph;

    /// Complexity: one look-up for every parameter that is read.
    mapped_operators(const Graph& graph, Name name, OpType op_type, Parameters parameters = {})
        : graph_(&graph)
        , name_(std::move(name))
        , op_type_(std::move(op_type))
        , reads_(num_vertices(graph)) {
        if constexpr (operator_graph_like<Graph>) {
            for (auto [it, last] = vertices(graph); it != last; ++it) {
                for (const auto& parameter : get(parameters, *it)) {
                    reads_[index_of(graph, *it)].push_back(pool_.intern(parameter));
                }
            }
        }
    }

    /// The graph that was given, not a copy.
    [[nodiscard]] const Graph& graph() const noexcept { return *graph_; }

    /// Returns: what the map of names yields.
    [[nodiscard]] std::string_view name(vertex_t<Graph> v) const { return get(name_, v); }

    /// Returns: what the map of types yields.
    [[nodiscard]] std::string_view op_type(vertex_t<Graph> v) const { return get(op_type_, v); }

    /// Returns: how many distinct names of parameters are read.
    [[nodiscard]] std::size_t parameter_count() const noexcept { return pool_.size(); }

    /// Returns: the name of parameter `p`, in order of first reading; valid as long as the view.
    [[nodiscard]] std::string_view parameter_name(id p) const noexcept { return pool_[p]; }

    /// Calls `f(p)` for every parameter that `v` reads, one read twice twice.
    /// Complexity: O(parameters read).
    template <class Function>
    void for_each_parameter(vertex_t<Graph> v, Function f) const {
        for (auto p : reads_[index_of(*graph_, v)]) {
            f(p);
        }
    }

private:
    const Graph* graph_;
    Name name_;
    OpType op_type_;
    string_pool pool_;
    std::vector<std::vector<id>> reads_;
};

} // namespace stemma

#endif // STEMMA_MODEL_MAPPED_OPERATORS_HPP

// <stemma/model/tag_lookup.hpp>
#ifndef STEMMA_MODEL_TAG_LOOKUP_HPP
#define STEMMA_MODEL_TAG_LOOKUP_HPP

namespace stemma {

/// Finds selected modules by their tags, segment by segment.
class tag_lookup {
public:
    /// Requires: `tags` is finished, and outlives the look-up.
    /// Complexity: O(modules + bytes of segments).
    explicit tag_lookup(const tag_table& tags) : tags_(&tags) {
        for (id m = 1; m < tags.size(); ++m) {
            if (tags.is_selected(m)) {
                below_.insert(hash_of(tags.above(m), tags.segment(m)), m, [](id) { return false; });
            }
        }
    }

    /// Returns: the selected module that has this tag, or `no_id`.
    /// Complexity: O(length) expected.
    [[nodiscard]] id find(std::string_view tag) const {
        id found = no_id;
        while (!tag.empty()) {
            if (tag.front() != '/') {
                return no_id;
            }
            const auto segment = tag.substr(1, end_of_segment(tag) - 1);
            tag.remove_prefix(1 + segment.size());
            found = found == no_id ? root(segment) : below(found, segment);
            if (found == no_id) {
                return no_id;
            }
        }
        return found;
    }

private:
    /// Returns: where the segment behind the first character ends.
    [[nodiscard]] static std::size_t end_of_segment(std::string_view tag) noexcept {
        std::size_t end = 1;
        while (end < tag.size() && tag[end] != '/') {
            end += tag[end] == '\\' ? 2U : 1U;
        }
        return std::min(end, tag.size());
    }

    [[nodiscard]] id root(std::string_view segment) const {
        return tags_->size() > 0 && tags_->segment(0) == segment ? 0 : no_id;
    }

    [[nodiscard]] id below(id above, std::string_view segment) const {
        return below_.find(hash_of(above, segment), [&](id m) {
            return tags_->above(m) == above && tags_->segment(m) == segment;
        });
    }

    [[nodiscard]] static std::uint64_t hash_of(id above, std::string_view segment) noexcept {
        return hash_bytes(segment, above);
    }

    const tag_table* tags_;
    flat_index below_;
};

} // namespace stemma

#endif // STEMMA_MODEL_TAG_LOOKUP_HPP

// <stemma/query/detail/vertices_left.hpp>
#ifndef STEMMA_QUERY_DETAIL_VERTICES_LEFT_HPP
#define STEMMA_QUERY_DETAIL_VERTICES_LEFT_HPP

namespace stemma::detail {

/// The vertices of a graph that are left, as the graph lists them; all, until some are taken away.
template <class Graph>
class vertices_left {
public:
    explicit vertices_left(const Graph& graph) : graph_(&graph) {}

    /// Leaves only those for which `fits(v)`, which is asked in turn, or only the others.
    template <class Fits>
    void keep_if(bool wanted, Fits fits) {
        // Told apart here, as for each vertex it would cost as much as all else.
        if (wanted) {
            keep(std::move(fits));
        } else {
            keep([&](const auto& v) { return !fits(v); });
        }
    }

    /// Takes away the others, which are some of these.
    friend void drop(const vertices_left& others, vertices_left& left) {
        auto next = others.listed_.begin();
        left.keep([&](const auto& v) {
            const bool dropped = others.all_ || (next != others.listed_.end() && *next == v);
            next += dropped && !others.all_ ? 1 : 0;
            return !dropped;
        });
    }

    /// Returns: their indices, ascending.
    [[nodiscard]] std::vector<id> indices() && {
        if (all_) {
            keep([](const auto&) { return true; });
        }
        const auto index = [&](const auto& v) { return static_cast<id>(index_of(*graph_, v)); };
        std::vector<id> found;
        if constexpr (std::is_same_v<vertex_t<Graph>, id>) {
            found = std::move(listed_);
            std::transform(found.begin(), found.end(), found.begin(), index);
        } else {
            found.resize(listed_.size());
            std::transform(listed_.begin(), listed_.end(), found.begin(), index);
        }
        if (!std::is_sorted(found.begin(), found.end())) {
            std::sort(found.begin(), found.end());
        }
        return found;
    }

private:
    template <class Fits>
    void keep(Fits fits) {
        // Each is written before it is known whether it stays, so that no branch is
        // mispredicted.
        std::size_t count = 0;
        if (all_) {
            all_ = false;
            std::array<vertex_t<Graph>, 256> next;
            const auto list = [&] {
                listed_.insert(listed_.end(), next.data(), next.data() + count);
                count = 0;
            };
            for (auto [it, last] = vertices(*graph_); it != last; ++it) {
                next[count] = *it;
                count += fits(*it) ? 1U : 0U;
                if (count == next.size()) {
                    list();
                }
            }
            list();
        } else {
            for (const auto v : listed_) {
                listed_[count] = v;
                count += fits(v) ? 1U : 0U;
            }
            listed_.resize(count);
        }
    }

    const Graph* graph_;
    bool all_ = true;
    std::vector<vertex_t<Graph>> listed_;
};

} // namespace stemma::detail

#endif // STEMMA_QUERY_DETAIL_VERTICES_LEFT_HPP

// <stemma/query/query.hpp>
#ifndef STEMMA_QUERY_QUERY_HPP
#define STEMMA_QUERY_QUERY_HPP

namespace stemma {

/// What one part of a query asks.
enum class query_kind : std::uint8_t {
    everything, ///< always holds
    all_of,     ///< all parts hold
    any_of,     ///< some part holds
    negation,   ///< the only part does not hold
    module,     ///< is, or lies in, a module for which the only part holds
    path,       ///< of one module: the path fits the pattern
    tag,        ///< of one module: the tag fits the pattern
    class_name, ///< of one module: class or qualified class fits the pattern
    depth,      ///< of one module: edges from the root
    leaf,       ///< of one module: nothing lies below it
    selected,   ///< of one module: it has a tag of its own
    op_type,    ///< of one operator: its type fits the pattern
    name,       ///< of one operator: its name fits the pattern
    source,     ///< of one operator: the provenance fits the pattern
    confidence, ///< of one operator
    conflict,   ///< of one operator: some claim disagrees
    reads,      ///< of one operator: it reads a parameter whose name fits the pattern
};

/// How a number is compared with the one in a query.
enum class query_relation : std::uint8_t {
    equal,    ///< `:` or `=`
    less,     ///< `<`
    at_most,  ///< `<=`
    greater,  ///< `>`
    at_least, ///< `>=`
};

/// A question about modules and operators, as a tree; see docs/query.md for how it is written.
struct query {
    query_kind kind = query_kind::everything;        ///< what this part asks
    std::string pattern;                             ///< a glob
    query_relation relation = query_relation::equal; ///< of `depth` and `confidence`
    double number = 0;                               ///< of `depth` and `confidence`
    std::size_t column = 1;                          ///< where it is written, from 1
    std::vector<query> parts{}; ///< what it is made of: one of `negation` and `module`, any number
                                ///< of `all_of` and `any_of`

    /// Whether `x` is to `number` as the query says.
    [[nodiscard]] bool compares(double x) const noexcept {
        switch (relation) {
        case query_relation::equal:
            return x == number;
        case query_relation::less:
            return x < number;
        case query_relation::at_most:
            return x <= number;
        case query_relation::greater:
            return x > number;
        case query_relation::at_least:
            return x >= number;
        }
        return false;
    }

    /// Whether some part asks about operators rather than modules.
    [[nodiscard]] bool asks_for_operators() const noexcept {
        return kind >= query_kind::op_type ||
               std::any_of(parts.begin(), parts.end(),
                           [](const query& part) { return part.asks_for_operators(); });
    }
};

namespace detail {

struct query_key {
    std::string_view name;
    query_kind kind;
};

inline constexpr std::array<query_key, 9> query_keys{{{"class", query_kind::class_name},
                                                      {"confidence", query_kind::confidence},
                                                      {"depth", query_kind::depth},
                                                      {"from", query_kind::source},
                                                      {"name", query_kind::name},
                                                      {"op", query_kind::op_type},
                                                      {"path", query_kind::path},
                                                      {"reads", query_kind::reads},
                                                      {"tag", query_kind::tag}}};

inline constexpr std::array<query_key, 3> query_flags{{{"conflict", query_kind::conflict},
                                                       {"leaf", query_kind::leaf},
                                                       {"selected", query_kind::selected}}};

/// Reads a query from left to right.
class query_parser {
public:
    explicit query_parser(std::string_view text) : text_(text) {}

    [[nodiscard]] query parse() {
        skip_spaces();
        if (at_ == text_.size()) {
            return {};
        }
        auto result = parse_any();
        if (at_ < text_.size()) {
            fail(at_, next() == ')'   ? "nothing was opened that ')' closes"
                      : next() == ']' ? "nothing was opened that ']' closes"
                                      : "'and' or 'or' is missing here");
        }
        return result;
    }

private:
    static constexpr std::size_t max_nesting = 100;

    [[noreturn]] void fail(std::size_t at, const std::string& reason) const {
        STEMMA_THROW(
            error(error_code::refused, "query", "column " + std::to_string(column(at)), reason));
    }

    /// Returns: the characters before a place, and one.
    [[nodiscard]] std::size_t column(std::size_t at) const {
        return 1 + static_cast<std::size_t>(std::count_if(
                       text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at),
                       [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
    }

    [[nodiscard]] static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
    [[nodiscard]] static bool is_quote(char c) { return c == '"' || c == '\''; }
    [[nodiscard]] char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }

    void skip_spaces() {
        while (at_ < text_.size() && is_space(text_[at_])) {
            ++at_;
        }
    }

    /// Returns: the end of a run of characters that need no quotes.
    [[nodiscard]] std::size_t end_of_word(std::size_t from) const {
        while (from < text_.size() && !is_space(text_[from]) && !is_quote(text_[from]) &&
               std::string_view("()[]").find(text_[from]) == std::string_view::npos) {
            ++from;
        }
        return from;
    }

    /// Passes over `word` when it stands here as a whole.
    bool take_word(std::string_view word) {
        if (text_.substr(at_, end_of_word(at_) - at_) != word) {
            return false;
        }
        at_ += word.size();
        skip_spaces();
        return true;
    }

    /// Reads operands with `word` between them.
    template <class Operand>
    query parse_list(query_kind kind, std::string_view word, Operand operand) {
        const auto start = at_;
        auto first = operand();
        if (!take_word(word)) {
            return first;
        }
        query list;
        list.kind = kind;
        list.column = column(start);
        list.parts.push_back(std::move(first));
        do {
            list.parts.push_back(operand());
        } while (take_word(word));
        return list;
    }

    query parse_any() {
        return parse_list(query_kind::any_of, "or", [&] {
            return parse_list(query_kind::all_of, "and", [&] { return parse_operand(); });
        });
    }

    query parse_operand() {
        if (++nesting_ > max_nesting) {
            fail(at_, "nested too deeply");
        }
        const auto start = at_;
        query result;
        if (take_word("not")) {
            result.kind = query_kind::negation;
            result.column = column(start);
            result.parts.push_back(parse_operand());
        } else if (next() == '(') {
            ++at_;
            skip_spaces();
            result = parse_any();
            close(')', start);
        } else {
            result = parse_term();
        }
        --nesting_;
        return result;
    }

    void close(char bracket, std::size_t opened) {
        if (next() != bracket) {
            fail(at_ < text_.size() ? at_ : opened,
                 at_ < text_.size() ? "'and' or 'or' is missing here"
                                    : std::string("'") + bracket + "' is missing");
        }
        ++at_;
        skip_spaces();
    }

    query parse_term() {
        const auto start = at_;
        const auto word = text_.substr(at_, end_of_word(at_) - at_);
        if (word == "and" || word == "or") {
            fail(at_, "something to ask for is missing before '" + std::string(word) + "'");
        }
        const auto key_end =
            std::find_if(word.begin(), word.end(), [](char c) { return c < 'a' || c > 'z'; });
        const auto key = word.substr(0, static_cast<std::size_t>(key_end - word.begin()));
        const auto rest = word.substr(key.size());
        if (!key.empty() && !rest.empty() && !rest.starts_with("::") &&
            std::string_view(":=<>").find(rest.front()) != std::string_view::npos) {
            at_ += key.size();
            return parse_keyed(key, start);
        }
        query asked;
        asked.pattern = take_pattern();
        asked.kind = asked.pattern.starts_with('/') ? query_kind::tag : query_kind::path;
        asked.column = column(start);
        return finish_term(std::move(asked), start);
    }

    query parse_keyed(std::string_view key, std::size_t start) {
        query asked;
        asked.column = column(start);
        if (key == "is") {
            ++at_;
            const auto word = take_pattern();
            asked.kind = look_up(query_flags, word, start, "'is:' takes ");
            return finish_term(std::move(asked), start);
        }
        asked.kind = look_up(query_keys, key, start, "known are is:, ");
        if (asked.kind == query_kind::depth || asked.kind == query_kind::confidence) {
            asked.relation = take_relation();
            asked.number = take_number(asked.kind == query_kind::depth);
        } else {
            if (next() != ':' && next() != '=') {
                fail(at_, "only depth and confidence can be compared");
            }
            ++at_;
            asked.pattern = take_pattern();
        }
        return finish_term(std::move(asked), start);
    }

    template <std::size_t Count>
    [[nodiscard]] query_kind look_up(const std::array<query_key, Count>& known,
                                     std::string_view word, std::size_t at,
                                     std::string names) const {
        for (const auto& [name, kind] : known) {
            if (name == word) {
                return kind;
            }
        }
        const bool keys = Count == query_keys.size();
        for (const auto& [name, kind] : known) {
            names.append(name)
                .append(keys ? ":" : "")
                .append(name == known.back().name ? "" : ", ");
        }
        fail(at, "'" + std::string(word) + (keys ? ":" : "") + "' is not known; " + names);
    }

    query_relation take_relation() {
        const char sign = text_[at_++];
        const bool or_equal = (sign == '<' || sign == '>') && next() == '=';
        at_ += or_equal ? 1U : 0U;
        return sign == '<'   ? (or_equal ? query_relation::at_most : query_relation::less)
               : sign == '>' ? (or_equal ? query_relation::at_least : query_relation::greater)
                             : query_relation::equal;
    }

    double take_number(bool whole) {
        const auto word = text_.substr(at_, end_of_word(at_) - at_);
        const auto end = word.data() + word.size();
        double number = 0;
        unsigned depth = 0;
        const auto parsed = whole ? std::from_chars(word.data(), end, depth)
                                  : std::from_chars(word.data(), end, number);
        if (word.empty() || parsed.ec != std::errc() || parsed.ptr != end ||
            !(number >= 0 && number <= 1)) {
            fail(at_, whole ? "a depth is a whole number, 0 for the root"
                            : "a confidence is a number from 0 to 1");
        }
        at_ += word.size();
        // Confidences are kept as `float`.
        return whole ? depth : static_cast<double>(static_cast<float>(number));
    }

    std::string take_pattern() {
        const auto start = at_;
        std::string pattern;
        if (is_quote(next())) {
            const auto end = text_.find(next(), at_ + 1);
            if (end == std::string_view::npos) {
                fail(start, "the quote is not closed");
            }
            pattern = text_.substr(at_ + 1, end - at_ - 1);
            at_ = end + 1;
        } else {
            const auto end = end_of_word(at_);
            pattern = text_.substr(at_, end - at_);
            at_ = end;
            if (pattern.empty()) {
                fail(start, at_ == text_.size() ? "something to ask for is missing at the end"
                                                : "something to ask for is missing here");
            }
        }
        return pattern;
    }

    /// What is asked of one module holds, outside of brackets, for all that lies in it.
    query finish_term(query asked, std::size_t start) {
        const bool of_module = asked.kind < query_kind::op_type;
        const auto bracket = at_;
        if (in_brackets_) {
            if (!of_module) {
                fail(start, "asks about a node; in brackets stands what is asked about a module");
            }
            skip_spaces();
            return asked;
        }
        if (!of_module) {
            skip_spaces();
            return asked;
        }
        query inside;
        inside.kind = query_kind::module;
        inside.column = asked.column;
        if (next() == '[') {
            ++at_;
            skip_spaces();
            in_brackets_ = true;
            query both;
            both.kind = query_kind::all_of;
            both.column = asked.column;
            both.parts.push_back(std::move(asked));
            both.parts.push_back(parse_any());
            in_brackets_ = false;
            close(']', bracket);
            inside.parts.push_back(std::move(both));
            return inside;
        }
        if (asked.kind == query_kind::depth &&
            (asked.relation == query_relation::less || asked.relation == query_relation::at_most)) {
            fail(start, "everything lies in a module of so small a depth; write 'not depth>...'");
        }
        skip_spaces();
        inside.parts.push_back(std::move(asked));
        return inside;
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::size_t nesting_ = 0;
    bool in_brackets_ = false;
};

} // namespace detail

/// Reads a query as it is written, such as `class:Block and op:MatMul`.
///
/// Throws: `error` of `error_code::refused` that names the column.
/// Complexity: O(length).
[[nodiscard]] inline query parse_query(std::string_view text) {
    return detail::query_parser(text).parse();
}

} // namespace stemma

#endif // STEMMA_QUERY_QUERY_HPP

// <stemma/query/find_matches.hpp>
#ifndef STEMMA_QUERY_FIND_MATCHES_HPP
#define STEMMA_QUERY_FIND_MATCHES_HPP

namespace stemma {

namespace detail {

/// Who is left, by number: 1, else 0. A byte each, as many are told at a time, of a type
/// that is nothing else's, so that a compiler knows what stays when one is written.
using marks = std::vector<char8_t>;

/// Leaves only those that `others` mark as `wanted`.
inline void keep(const marks& others, bool wanted, marks& left) {
    const auto unwanted = static_cast<char8_t>(wanted ? 0 : 1);
    std::transform(left.begin(), left.end(), others.begin(), left.begin(),
                   [&](auto a, auto b) { return static_cast<char8_t>(a & (b ^ unwanted)); });
}

/// Takes away what `others` mark.
inline void drop(const marks& others, marks& left) {
    keep(others, false, left);
}

/// Leaves only those for which a query made of parts holds, or does not, as is wanted:
/// `narrow(part, wanted, left)` does so for one.
template <class Left, class Narrow>
void narrow_by_parts(const query& asked, bool wanted, Left& left, const Narrow& narrow) {
    if (asked.kind == query_kind::negation) {
        narrow(asked.parts.front(), !wanted, left);
    } else if ((asked.kind == query_kind::any_of) != wanted) {
        for (const auto& part : asked.parts) {
            narrow(part, wanted, left);
        }
    } else {
        auto rest = left;
        for (const auto& part : asked.parts) {
            narrow(part, !wanted, rest);
        }
        drop(rest, left);
    }
}

/// Whether a query is made of parts, or is everything, rather than a term.
[[nodiscard]] inline bool has_parts(const query& asked) noexcept {
    return asked.kind <= query_kind::negation;
}

/// Answers what is asked of single modules.
template <module_view Modules>
class module_matcher {
public:
    /// Requires: both outlive the matcher.
    module_matcher(const Modules& modules, const tag_table& tags)
        : modules_(&modules), tags_(&tags) {}

    /// Returns: by module, whether what lies in it fits. Requires: `asked` asks about modules only.
    [[nodiscard]] marks fitting(const query& asked) const {
        marks holds(size(), 1);
        narrow_to_fitting(asked, true, holds);
        return holds;
    }

    /// Returns: by module, whether `asked` holds for the module itself.
    [[nodiscard]] marks of_modules(const query& asked) const {
        marks holds(size(), 1);
        narrow(asked, true, holds);
        return holds;
    }

    /// Calls `f(m, path)` for the modules down to a depth, in order.
    /// Complexity: O(modules + length of those paths).
    template <class Function>
    void for_each_path(Function f, id deepest = no_id) const {
        std::string path;
        std::vector<std::size_t> length(size(), 0); // by module
        for (id m = 0; m < size(); ++m) {
            if (index().depth(m) > deepest) {
                continue;
            }
            if (m > 0) {
                path.resize(length[index().parent(m)]);
                path.append(path.empty() ? "" : ".").append(modules_->attribute(m));
                length[m] = path.size();
            }
            f(m, std::string_view(path));
        }
    }

private:
    [[nodiscard]] std::size_t size() const { return index().size(); }
    [[nodiscard]] const tree_index& index() const { return modules_->index(); }

    void narrow_to_fitting(const query& asked, bool wanted, marks& left) const {
        if (has_parts(asked)) {
            narrow_by_parts(asked, wanted, left, [&](const query& part, bool holds, marks& still) {
                narrow_to_fitting(part, holds, still);
            });
            return;
        }
        auto inside = of_modules(asked.parts.front());
        for (id m = 1; m < size(); ++m) {
            inside[m] |= inside[index().parent(m)];
        }
        keep(inside, wanted, left);
    }

    void narrow(const query& asked, bool wanted, marks& left) const {
        if (has_parts(asked)) {
            narrow_by_parts(asked, wanted, left, [&](const query& part, bool holds, marks& still) {
                narrow(part, holds, still);
            });
        } else if (asked.kind == query_kind::path) {
            marks holds(size(), 0);
            find_paths(asked.pattern, holds);
            keep(holds, wanted, left);
        } else {
            narrow_to_term(asked, wanted, left);
        }
    }

    void narrow_to_term(const query& term, bool wanted, marks& left) const {
        const auto keep = [&](auto fits) {
            const auto count = static_cast<id>(size());
            for (id m = 0; m < count; ++m) {
                left[m] = left[m] != 0 && fits(m) == wanted ? 1 : 0;
            }
        };
        switch (term.kind) {
        case query_kind::tag:
            return keep([&, pattern = glob(term.pattern, '/')](id m) {
                return tags_->is_selected(m) && pattern.matches(tags_->text(m));
            });
        case query_kind::class_name:
            return keep([&, pattern = glob(term.pattern)](id m) {
                return pattern.matches(modules_->class_name(m)) ||
                       pattern.matches(modules_->qualified_class(m));
            });
        case query_kind::depth:
            return keep([&](id m) { return term.compares(index().depth(m)); });
        case query_kind::leaf:
            return keep([&](id m) { return index().end(m) == m + 1; });
        case query_kind::selected:
            return keep([&](id m) { return tags_->is_selected(m); });
        default:
            return keep([](id) { return false; });
        }
    }

    void find_paths(std::string_view asked, marks& holds) const {
        const glob pattern(asked, '.');
        const bool may_be_root = asked.empty() || asked.starts_with("**");
        const bool passes_dots = asked.find("**") != asked.npos;
        const auto dots = std::count(asked.begin(), asked.end(), '.');
        for_each_path(
            [&](id m, std::string_view path) {
                holds[m] = (m > 0 || may_be_root) && pattern.matches(path) ? 1 : 0;
            },
            passes_dots ? no_id : static_cast<id>(dots + 1));
        if constexpr (requires { modules_->aliases().begin()->path; }) {
            for (const auto& alias : modules_->aliases()) {
                if (alias.module != no_id && pattern.matches(alias.path)) {
                    holds[alias.module] = 1;
                }
            }
        }
    }

    const Modules* modules_;
    const tag_table* tags_;
};

/// Answers what is asked of single operators.
template <module_view Modules, named_operators Ops>
class operator_matcher {
public:
    /// Requires: all outlive the matcher.
    operator_matcher(const module_matcher<Modules>& modules, const Ops& ops,
                     std::span<const attribution> attributions, const provenance_names& provenances)
        : modules_(&modules), ops_(&ops), attributions_(attributions), provenances_(&provenances) {}

    /// Returns: the operators for which `asked` holds, by vertex index, ascending.
    [[nodiscard]] std::vector<id> find(const query& asked) const {
        left_t left(ops_->graph());
        narrow(asked, true, left);
        return std::move(left).indices();
    }

private:
    using left_t = vertices_left<graph_of<Ops>>;

    /// Leaves only those for which `asked` holds, or does not, as is wanted.
    void narrow(const query& asked, bool wanted, left_t& left) const {
        if (!asked.asks_for_operators()) {
            const auto fitting = modules_->fitting(asked);
            keep_if_made(left, wanted,
                         [&](const attribution& made) { return fitting[made.module] != 0; });
        } else if (has_parts(asked)) {
            narrow_by_parts(asked, wanted, left, [&](const query& part, bool holds, left_t& still) {
                narrow(part, holds, still);
            });
        } else {
            narrow_to_term(asked, wanted, left);
        }
    }

    /// Leaves only those for whose attribution `fits(made)` is what is wanted.
    template <class Fits>
    void keep_if_made(left_t& left, bool wanted, Fits fits) const {
        left.keep_if(wanted, [&](const operator_t<Ops>& v) {
            return fits(attributions_[index_of(ops_->graph(), v)]);
        });
    }

    void narrow_to_term(const query& term, bool wanted, left_t& left) const {
        const glob pattern(term.pattern);
        switch (term.kind) {
        case query_kind::op_type:
            return narrow_to_types(term.pattern, wanted, left);
        case query_kind::name:
            return left.keep_if(
                wanted, [&](const operator_t<Ops>& v) { return pattern.matches(ops_->name(v)); });
        case query_kind::source:
            return keep_if_made(left, wanted, [&](const attribution& made) {
                return pattern.matches((*provenances_)[made.source]);
            });
        case query_kind::confidence:
            return keep_if_made(left, wanted, [&](const attribution& made) {
                return term.compares(made.confidence);
            });
        case query_kind::conflict:
            return keep_if_made(left, wanted,
                                [](const attribution& made) { return made.conflict; });
        case query_kind::reads:
            return narrow_to_readers(term.pattern, wanted, left);
        default:
            return keep_if_made(left, wanted, [](const attribution&) { return false; });
        }
    }

    void narrow_to_types(std::string_view asked, bool wanted, left_t& left) const {
        if (asked.find("::") != asked.npos) {
            return narrow_to_qualified_types(glob(asked), wanted, left);
        }
        if (asked.find_first_of("*?{") == asked.npos) {
            return left.keep_if(wanted, [=, this](const operator_t<Ops>& v) {
                return is_same_text(asked, ops_->op_type(v));
            });
        }
        left.keep_if(wanted, [this, pattern = glob(asked)](const operator_t<Ops>& v) {
            return pattern.matches(ops_->op_type(v));
        });
    }

    void narrow_to_qualified_types(const glob& pattern, bool wanted, left_t& left) const {
        std::string qualified;
        left.keep_if(wanted, [&](const operator_t<Ops>& v) {
            const std::string_view op_type = ops_->op_type(v);
            bool fits = pattern.matches(op_type);
            if constexpr (qualified_operators<Ops>) {
                if (!fits && pattern.may_end_in(op_type)) {
                    qualified.assign(spelled_domain(ops_->domain(v)));
                    fits = pattern.matches(qualified.append("::").append(op_type));
                }
            }
            return fits;
        });
    }

    void narrow_to_readers(std::string_view asked, bool wanted, left_t& left) const {
        const glob pattern(asked, '.');
        std::vector<char8_t> fits; // by parameter
        if constexpr (parameter_readers<Ops>) {
            fits.resize(ops_->parameter_count());
            for (id p = 0; p < fits.size(); ++p) {
                fits[p] = pattern.matches(ops_->parameter_name(p)) ? 1 : 0;
            }
        }
        left.keep_if(wanted, [&](const operator_t<Ops>& v) {
            char8_t reads = 0;
            if constexpr (parameter_readers<Ops>) {
                ops_->for_each_parameter(v, [&](id p) { reads |= fits[p]; });
            }
            return reads != 0;
        });
    }

    const module_matcher<Modules>* modules_;
    const Ops* ops_;
    std::span<const attribution> attributions_;
    const provenance_names* provenances_;
};

} // namespace detail

/// Returns: the modules that lie in what is asked for with all that is below them, in the order of
/// the tree, without those that are below another one.
///
/// Requires: the query asks about modules only.
/// Complexity: O(terms * (modules + length of all paths)).
template <module_view Modules>
[[nodiscard]] std::vector<id> find_matching_modules(const query& asked, const Modules& modules,
                                                    const tag_table& tags) {
    STEMMA_ASSERT(!asked.asks_for_operators(), "the query asks about operators");
    const tree_index& tree = modules.index();
    const auto holds = detail::module_matcher<Modules>(modules, tags).fitting(asked);
    std::vector<id> misses(tree.size() + 1, 0); // before each module
    for (id m = 0; m < tree.size(); ++m) {
        misses[m + 1] = misses[m] + (holds[m] != 0 ? 0U : 1U);
    }
    std::vector<id> found;
    for (id m = 0; m < tree.size();) {
        const bool whole = misses[tree.end(m)] == misses[m];
        if (whole) {
            found.push_back(m);
        }
        m = whole ? tree.end(m) : m + 1;
    }
    return found;
}

/// Returns: the operators for which a query holds, by vertex index, ascending.
///
/// `attributions` is by vertex index; everyone has a module; their sources are called as
/// `provenances` says. An operator is in its module and in
/// all above. Complexity: O(terms * (modules + length of all paths + operators)), and the operators
/// with their parameters for terms that ask what is read.
template <module_view Modules, named_operators Ops>
[[nodiscard]] std::vector<id> find_matching_operators(const query& asked, const Modules& modules,
                                                      const tag_table& tags, const Ops& ops,
                                                      std::span<const attribution> attributions,
                                                      const provenance_names& provenances = {}) {
    const detail::module_matcher<Modules> of_modules(modules, tags);
    return detail::operator_matcher(of_modules, ops, attributions, provenances).find(asked);
}

} // namespace stemma

#endif // STEMMA_QUERY_FIND_MATCHES_HPP

// <stemma/query/explain_no_match.hpp>
#ifndef STEMMA_QUERY_EXPLAIN_NO_MATCH_HPP
#define STEMMA_QUERY_EXPLAIN_NO_MATCH_HPP

namespace stemma {

namespace detail {

/// Looks for the terms of a query that hold for nothing.
template <module_view Modules, named_operators Ops>
class lost_terms {
public:
    lost_terms(const Modules& modules, const tag_table& tags, const Ops& ops,
               std::span<const attribution> attributions, const provenance_names& provenances)
        : modules_(modules)
        , tags_(tags)
        , ops_(ops)
        , attributions_(attributions)
        , provenances_(provenances)
        , matcher_(modules, tags) {}

    /// Returns: a sentence about the first of them, or "". What is negated is not lost.
    [[nodiscard]] std::string find(const query& asked) const {
        if (asked.kind == query_kind::negation || asked.kind == query_kind::everything) {
            return {};
        }
        if (asked.kind == query_kind::all_of || asked.kind == query_kind::any_of ||
            asked.kind == query_kind::module) {
            for (const auto& part : asked.parts) {
                if (auto found = find(part); !found.empty()) {
                    return found;
                }
            }
            return {};
        }
        return holds_for_something(asked) ? std::string() : describe(asked);
    }

private:
    [[nodiscard]] bool holds_for_something(const query& term) const {
        if (term.kind >= query_kind::op_type) {
            return !find_matching_operators(term, modules_, tags_, ops_, attributions_,
                                            provenances_)
                        .empty();
        }
        const auto holds = matcher_.of_modules(term);
        return std::find(holds.begin(), holds.end(), 1) != holds.end();
    }

    [[nodiscard]] std::string describe(const query& term) const {
        std::string text;
        switch (term.kind) {
        case query_kind::path:
            text = "no module has the path '" + term.pattern + "'";
            break;
        case query_kind::tag:
            text = "no module has the tag '" + term.pattern + "'";
            break;
        case query_kind::class_name:
            text = "no module is of class '" + term.pattern + "'";
            break;
        case query_kind::depth:
            return at_column("no module is so deep", term);
        case query_kind::op_type:
            text = "no node is of type '" + term.pattern + "'";
            break;
        case query_kind::name:
            text = "no node is called '" + term.pattern + "'";
            break;
        case query_kind::source:
            text = "no node is known from '" + term.pattern + "'";
            break;
        case query_kind::reads:
            text = "no node reads '" + term.pattern + "'";
            break;
        default:
            return at_column("holds for no node", term);
        }
        nearest_texts like(term.pattern, 3);
        offer_all(term.kind, like);
        std::string names;
        for (const auto& name : like.take()) {
            names.append(names.empty() ? "; like it are '" : ", '").append(name).append("'");
        }
        if (term.kind == query_kind::class_name && !knows_classes()) {
            names = "; the tree knows no classes";
        }
        return at_column(text, term) + names + meant_otherwise(term);
    }

    [[nodiscard]] static std::string at_column(const std::string& text, const query& term) {
        return "column " + std::to_string(term.column) + ": " + text;
    }

    /// Returns: how to ask for what bears the name that was taken for a module's, or "".
    [[nodiscard]] std::string meant_otherwise(const query& term) const {
        if (term.kind != query_kind::path && term.kind != query_kind::tag) {
            return {};
        }
        const auto hint = [&](std::string_view word, std::string_view what) {
            return "; '" + std::string(word) + term.pattern + "' asks for " + std::string(what);
        };
        for (id m = 0; m < modules_.index().size(); ++m) {
            if (std::string_view(modules_.class_name(m)) == term.pattern) {
                return hint("class:", "modules of that class");
            }
        }
        for (auto [it, last] = vertices(ops_.graph()); it != last; ++it) {
            if (std::string_view(ops_.op_type(*it)) == term.pattern) {
                return hint("op:", "nodes of that type");
            }
            if (std::string_view(ops_.name(*it)) == term.pattern) {
                return hint("name:", "the node of that name");
            }
        }
        return {};
    }

    [[nodiscard]] bool knows_classes() const {
        bool known = false;
        for (id m = 0; m < modules_.index().size(); ++m) {
            known = known || !std::string_view(modules_.class_name(m)).empty();
        }
        return known;
    }

    void offer_all(query_kind kind, nearest_texts& like) const {
        const auto count = static_cast<id>(modules_.index().size());
        if (kind == query_kind::path) {
            matcher_.for_each_path([&](id, std::string_view path) { like.offer(path); });
        } else if (kind == query_kind::tag) {
            for (id m = 0; m < count; ++m) {
                if (tags_.is_selected(m)) {
                    like.offer(tags_.text(m));
                }
            }
        } else if (kind == query_kind::class_name) {
            for (id m = 0; m < count; ++m) {
                like.offer(modules_.class_name(m));
            }
        } else if (kind == query_kind::source) {
            for (std::size_t p = 0; p < provenances_.size(); ++p) {
                like.offer(provenances_[static_cast<provenance>(p)]);
            }
        } else if (kind == query_kind::reads) {
            if constexpr (parameter_readers<Ops>) {
                for (id p = 0; p < ops_.parameter_count(); ++p) {
                    like.offer(ops_.parameter_name(p));
                }
            }
        } else {
            for (auto [it, last] = vertices(ops_.graph()); it != last; ++it) {
                like.offer(kind == query_kind::name ? ops_.name(*it) : ops_.op_type(*it));
            }
        }
    }

    const Modules& modules_;
    const tag_table& tags_;
    const Ops& ops_;
    std::span<const attribution> attributions_;
    const provenance_names& provenances_;
    module_matcher<Modules> matcher_;
};

} // namespace detail

/// Says why a query that holds for nothing does not: which of its terms does not fit anything, what
/// is like it, and how to ask for the class, operator or node of that name; or that none fits all
/// of it.
///
/// Complexity: that of `find_matching_operators`, and the edit distances of `nearest_texts`.
template <module_view Modules, named_operators Ops>
[[nodiscard]] std::string explain_no_match(const query& asked, const Modules& modules,
                                           const tag_table& tags, const Ops& ops,
                                           std::span<const attribution> attributions,
                                           const provenance_names& provenances = {}) {
    auto text =
        detail::lost_terms<Modules, Ops>(modules, tags, ops, attributions, provenances).find(asked);
    return !text.empty()                ? text
           : asked.asks_for_operators() ? "no node fits all that is asked"
                                        : "no module fits all that is asked";
}

} // namespace stemma

#endif // STEMMA_QUERY_EXPLAIN_NO_MATCH_HPP

// <stemma/io/detail/xml_text.hpp>
#ifndef STEMMA_IO_DETAIL_XML_TEXT_HPP
#define STEMMA_IO_DETAIL_XML_TEXT_HPP

namespace stemma {

/// Appends `text` so that it can stand between tags or in an attribute of XML or HTML. What is no
/// UTF-8, or no character of XML, becomes U+FFFD. Complexity: O(length).
inline void append_xml_text(std::string_view text, std::string& out) {
    constexpr std::string_view unknown = "\xef\xbf\xbd";
    while (!text.empty()) {
        const auto c = static_cast<unsigned char>(text[0]);
        const auto length = detail::utf8_length(text);
        if (length == 0) {
            out.append(unknown);
            text.remove_prefix(1);
            continue;
        }
        switch (c) {
        case '&':
            out.append("&amp;");
            break;
        case '<':
            out.append("&lt;");
            break;
        case '>':
            out.append("&gt;");
            break;
        case '"':
            out.append("&quot;");
            break;
        case '\'':
            out.append("&#39;");
            break;
        case '\t':
            out.append("&#9;");
            break;
        case '\n':
            out.append("&#10;");
            break;
        case '\r':
            out.append("&#13;");
            break;
        default: {
            const auto character = text.substr(0, length);
            const bool is_one =
                c >= 0x20 && character != "\xef\xbf\xbe" && character != "\xef\xbf\xbf";
            out.append(is_one ? character : unknown);
        }
        }
        text.remove_prefix(length);
    }
}

/// Returns: the same as a text of its own.
[[nodiscard]] inline std::string xml_text(std::string_view text) {
    std::string out;
    append_xml_text(text, out);
    return out;
}

} // namespace stemma

#endif // STEMMA_IO_DETAIL_XML_TEXT_HPP

// <stemma/report/fold_graph.hpp>
#ifndef STEMMA_REPORT_FOLD_GRAPH_HPP
#define STEMMA_REPORT_FOLD_GRAPH_HPP

namespace stemma {

/// What a box stands for.
enum class box_kind : std::uint8_t {
    one_operator,  ///< which stands in an open module itself
    closed_module, ///< with all that is in it and below
    rest,          ///< what did not fit into an open module
};

/// Something that a picture shows as one.
struct folded_box {
    box_kind kind = box_kind::one_operator; ///< what `of` names
    id of = no_id;                          ///< vertex index, or module
    id around = no_id;                      ///< the open module that it stands in
    std::size_t operators = 0;              ///< how many it stands for
};

/// All that flows from one box to another one.
struct folded_edge {
    id from = no_id;        ///< number of the producing box
    id to = no_id;          ///< number of the reading box, another one
    id value = no_id;       ///< the first one
    std::size_t values = 0; ///< how many different ones
};

/// A graph in which some modules are open and all others are one box each.
struct folded_graph {
    std::vector<bool> open;         ///< by module
    std::vector<folded_box> boxes;  ///< numbered as `box_of` and the edges say
    std::vector<id> box_of;         ///< by vertex index; `no_id` where nothing is shown
    std::vector<folded_edge> edges; ///< each pair of boxes once
};

/// What is shown, and how much of it.
struct fold_options {
    id root = 0;      ///< the module that is shown
    id depth = no_id; ///< so many levels below it are open, if they fit

    /// Beyond these, modules stay closed and operators go into boxes of the rest.
    std::size_t max_boxes = 60;
};

namespace detail {

/// Opens modules level by level so long as all boxes are not too many.
class module_opener {
public:
    module_opener(const tree_index& tree, std::span<const id> module,
                  const std::vector<bool>& shown, const fold_options& options)
        : tree_(tree), options_(options), direct_(tree.size(), 0), filled_(tree.size(), 0) {
        for (std::size_t v = 0; v < module.size(); ++v) {
            direct_[module[v]] += shown[v] ? 1U : 0U;
        }
        all_ = direct_;
        for (auto m = static_cast<id>(tree.size()); m-- > 1;) {
            all_[tree.parent(m)] += all_[m];
            filled_[tree.parent(m)] += all_[m] > 0 ? 1U : 0U;
        }
    }

    [[nodiscard]] std::vector<bool> open() const {
        std::vector<bool> open(tree_.size(), false);
        open[options_.root] = true;
        std::size_t boxes = contents(options_.root);
        std::vector<id> level;
        std::vector<id> below;
        append_children(options_.root, level);
        for (id depth = 0; depth < options_.depth && !level.empty(); ++depth) {
            below.clear();
            for (auto m : level) {
                boxes += contents(m) - 1;
                append_children(m, below);
            }
            if (boxes > options_.max_boxes) {
                break;
            }
            for (auto m : level) {
                open[m] = true;
            }
            level.swap(below);
        }
        return open;
    }

    /// Returns: operators in a module itself.
    [[nodiscard]] std::size_t direct(id m) const { return direct_[m]; }

    /// Whether operators are in a module or below it.
    [[nodiscard]] bool is_filled(id m) const { return all_[m] > 0; }

private:
    void append_children(id m, std::vector<id>& level) const {
        for (const id c : tree_.children(m)) {
            if (is_filled(c)) {
                level.push_back(c);
            }
        }
    }

    [[nodiscard]] std::size_t contents(id m) const { return direct(m) + filled_[m]; }

    const tree_index& tree_;
    const fold_options& options_;
    std::vector<id> direct_;
    std::vector<id> filled_; // children that are
    std::vector<id> all_;
};

/// Puts operators into boxes, in order.
class box_filler {
public:
    box_filler(const tree_index& tree, const module_opener& opener, const fold_options& options,
               folded_graph& result)
        : tree_(tree)
        , root_(options.root)
        , most_(std::max<std::size_t>(options.max_boxes, 2))
        , result_(result)
        , holder_(tree.size(), no_id)
        , box_of_module_(tree.size(), no_id) {
        for (auto m = root_; m < tree.end(root_); ++m) {
            const bool open = result.open[m];
            const auto above = open ? no_id : holder_[tree.parent(m)];
            const bool closed = !open && result.open[above];
            holder_[m] = open || closed ? m : above;
            total_ += open ? opener.direct(m) : closed && opener.is_filled(m) ? 1U : 0U;
        }
        result.boxes.reserve(std::min(total_, most_));
    }

    void add(id v, id module) {
        const auto holder = holder_[module];
        if (holder == no_id) {
            return;
        }
        auto box = box_of_module_[holder];
        if (box == no_id) {
            box = find_box(v, holder);
        }
        result_.box_of[v] = box;
        ++result_.boxes[box].operators;
    }

private:
    [[nodiscard]] id find_box(id v, id holder) {
        const bool open = result_.open[holder];
        const bool fits = total_ <= most_ || result_.boxes.size() + 1 < most_;
        auto box = fits ? no_id : rest_;
        if (box == no_id) {
            box = static_cast<id>(result_.boxes.size());
            result_.boxes.push_back(
                !fits  ? folded_box{box_kind::rest, root_, root_, 0}
                : open ? folded_box{box_kind::one_operator, v, holder, 0}
                       : folded_box{box_kind::closed_module, holder, tree_.parent(holder), 0});
            rest_ = fits ? rest_ : box;
        }
        if (!open) {
            box_of_module_[holder] = box;
        }
        return box;
    }

    const tree_index& tree_;
    id root_;
    std::size_t most_;
    folded_graph& result_;
    std::vector<id> holder_; // by module: itself where it is open, else the outermost closed one
    std::vector<id> box_of_module_;
    std::size_t total_ = 0; // boxes that there would be without a limit
    id rest_ = no_id;
};

/// Calls `take(from, to, value)` for every edge from one box to another one.
template <operator_graph_like Graph, class Take>
void for_each_flow(const Graph& graph, const std::vector<id>& box_of, Take take) {
    for (auto [it, last] = vertices(graph); it != last; ++it) {
        const auto to = box_of[index_of(graph, *it)];
        if (to == no_id) {
            continue;
        }
        for (auto [in, in_last] = in_edges(*it, graph); in != in_last; ++in) {
            const auto from = box_of[index_of(graph, source(*in, graph))];
            if (from != no_id && from != to) {
                take(from, to, value_on(graph, *in));
            }
        }
    }
}

/// Returns: what flows between boxes, by producing box, then by reading box.
template <operator_graph_like Graph>
[[nodiscard]] std::vector<folded_edge> join_flows(const Graph& graph, const std::vector<id>& box_of,
                                                  std::size_t boxes) {
    std::vector<std::size_t> end(boxes + 1, 0); // by box, of what flows out of it
    for_each_flow(graph, box_of, [&](id from, id, id) { ++end[std::size_t{from} + 1]; });
    std::partial_sum(end.begin(), end.end(), end.begin());
    std::vector<std::uint64_t> flows(end.back()); // reading box and value, to be sorted as one
    for_each_flow(graph, box_of, [&](id from, id to, id value) {
        flows[end[from]++] = std::uint64_t{to} << 32U | value;
    });
    std::vector<folded_edge> edges;
    for (std::size_t from = 0, at = 0; from < boxes; ++from) {
        const auto first = at;
        std::sort(flows.data() + first, flows.data() + end[from]);
        for (; at < end[from]; ++at) {
            const auto to = static_cast<id>(flows[at] >> 32U);
            if (at == first || to != flows[at - 1] >> 32U) {
                edges.push_back({static_cast<id>(from), to, static_cast<id>(flows[at]), 1});
            } else if (flows[at] != flows[at - 1]) {
                ++edges.back().values;
            }
        }
    }
    return edges;
}

} // namespace detail

/// Folds a graph so that it makes a picture of a bounded size: modules are opened level by level,
/// so long as there are not too many boxes. What does not even fit into the outermost module is one
/// box in the end.
///
/// `module` and `shown` are by vertex index. Boxes are in the order of their first operators.
/// Complexity: O(V + E log E + modules).
template <operator_graph_like Graph>
[[nodiscard]] folded_graph fold_graph(const Graph& graph, const tree_index& tree,
                                      std::span<const id> module, const std::vector<bool>& shown,
                                      const fold_options& options = {}) {
    const detail::module_opener opener(tree, module, shown, options);
    folded_graph result;
    result.open = opener.open();
    result.box_of.assign(module.size(), no_id);
    detail::box_filler boxes(tree, opener, options, result);
    for (id v = 0; v < module.size(); ++v) {
        if (shown[v]) {
            boxes.add(v, module[v]);
        }
    }
    result.edges = detail::join_flows(graph, result.box_of, result.boxes.size());
    return result;
}

} // namespace stemma

#endif // STEMMA_REPORT_FOLD_GRAPH_HPP

// <stemma/report/visibility.hpp>
#ifndef STEMMA_REPORT_VISIBILITY_HPP
#define STEMMA_REPORT_VISIBILITY_HPP

namespace stemma {

namespace detail {

template <class P, class Ops>
concept has_shows = requires(const P& p, const Ops& ops, operator_t<Ops> v) {
    { p.shows(ops, v) } -> std::convertible_to<bool>;
};

} // namespace detail

/// Says which operators a view of a graph shows: a DAG, a picture, a report.
///
/// `shows(ops, v)`: whether it shows `v`.
///
/// Requires: the same answer for the same operator during one call.
/// Complexity: callers ask once per operator.
template <class P, class Ops>
concept visibility_policy = policy_for<P, visibility_category> && detail::has_shows<P, Ops>;

/// Everything that computes: all operators but constants of the standard.
struct hide_constants {
    using policy_category = visibility_category;

    template <named_operators Ops>
    [[nodiscard]] bool shows(const Ops& ops, operator_t<Ops> v) const {
        if constexpr (qualified_operators<Ops>) {
            if (!std::string_view(ops.domain(v)).empty()) {
                return true;
            }
        }
        return std::string_view(ops.op_type(v)) != "Constant";
    }
};

/// All operators but those of some types, by glob: `Constant`, `*Linear`.
struct hide_types {
    using policy_category = visibility_category;

    std::vector<std::string> patterns{}; ///< globs of operator types

    template <named_operators Ops>
    [[nodiscard]] bool shows(const Ops& ops, operator_t<Ops> v) const {
        return std::none_of(patterns.begin(), patterns.end(), [&](const auto& pattern) {
            return glob_match(pattern, ops.op_type(v));
        });
    }
};

/// Every operator.
struct show_all {
    using policy_category = visibility_category;

    template <operator_view Ops>
    [[nodiscard]] constexpr bool shows(const Ops&, operator_t<Ops>) const noexcept {
        return true;
    }
};

/// Put `static_assert(explain_visibility_policy<mine, ops>());` beside a policy that is refused.
template <class P, class Ops>
consteval bool explain_visibility_policy() {
    static_assert(std::copy_constructible<P>, "visibility policy: make the class copyable");
    static_assert(policy_for<P, visibility_category>,
                  "visibility policy: add `using policy_category = stemma::visibility_category;`");
    static_assert(detail::has_shows<P, Ops>,
                  "visibility policy: add `bool shows(const Ops&, operator) const`");
    return visibility_policy<P, Ops>;
}

} // namespace stemma

#endif // STEMMA_REPORT_VISIBILITY_HPP

// <stemma/core/detail/policy_answer.hpp>
#ifndef STEMMA_CORE_DETAIL_POLICY_ANSWER_HPP
#define STEMMA_CORE_DETAIL_POLICY_ANSWER_HPP

namespace stemma::detail {

/// Ends what asked a policy that answered nonsense.
/// Throws: `error` of `error_code::refused` that names the policy by its role, and by its name
/// where
///   it has one.
template <class P>
[[noreturn]] void refuse_answer(const P& policy, std::string_view role, std::string_view answer) {
    const auto name = name_of_policy(policy);
    auto place = std::string(role) + " policy";
    if (!name.empty()) {
        place.append(" '").append(name).append("'");
    }
    STEMMA_THROW(error(error_code::refused, "", place, answer));
}

} // namespace stemma::detail

#endif // STEMMA_CORE_DETAIL_POLICY_ANSWER_HPP

// <stemma/tagging/resolution.hpp>
#ifndef STEMMA_TAGGING_RESOLUTION_HPP
#define STEMMA_TAGGING_RESOLUTION_HPP

namespace stemma {

namespace detail {

template <class P>
concept has_resolve = requires(const P& p, const tree_index& modules,
                               std::span<const claim> claims) {
    { p.resolve(modules, claims) } -> std::convertible_to<attribution>;
};

} // namespace detail

/// Makes one attribution of what the sources claim about one operator.
///
/// `resolve(modules, claims)` returns it; a conflict is noted in it rather than thrown.
///
/// Requires: `claims` is not empty, and those of one source stand together; the result is the same
///   for the same claims, and has `module == no_id` when none is believed.
/// Complexity: callers ask at most once per operator with claims; keep it linear in the claims.
template <class P>
concept resolution_policy = policy_for<P, resolution_category> && detail::has_resolve<P>;

/// Believes the most trusted source, and raises the confidence where an independent one agrees.
///
/// Trust is the order of `provenance`. A claim that is not exact agrees with every module above or
/// below its own, and where it leads, an aligned operation says which of them it is. Several claims
/// of one source are alternatives: the one that fits the rest counts, and where none does, the
/// surest, or the common ancestor of those that are equally sure or doubtful. A doubtful claim
/// gives way to the common ancestor of it and whatever contradicts it, or speaks for a module
/// above. Whatever disagrees makes a conflict.
struct by_trust {
    using policy_category = resolution_category;
    static constexpr std::string_view name = "trust";

    /// Claims below it are not believed.
    float min_confidence = 0;

    [[nodiscard]] attribution resolve(const tree_index& modules,
                                      std::span<const claim> claims) const {
        std::span<const claim> leading;
        for_each_source(claims, [&](std::span<const claim> group) {
            if (believed(group) &&
                (leading.empty() || group.front().source < leading.front().source)) {
                leading = group;
            }
        });
        if (leading.empty()) {
            return {};
        }
        auto result = settle(modules, leading, claims);
        if (!leading.front().exact) {
            refine(modules, claims, leading.front(), result);
        }
        auto module = result.module;
        for_each_source(claims, [&](std::span<const claim> group) {
            if (group.front().source == result.source || !believed(group)) {
                return;
            }
            const auto agreeing = std::find_if(group.begin(), group.end(), [&](const claim& c) {
                return agrees(modules, c, result.module);
            });
            if (agreeing == group.end()) {
                result.conflict = true;
                for (const auto& other : group) {
                    module = leading.front().doubtful ? modules.lca(module, other.module) : module;
                }
            } else if (leading.front().doubtful && modules.is_ancestor(agreeing->module, module)) {
                module = agreeing->module;
            } else if (agreeing->module == result.module) {
                result.confidence = 1 - (1 - result.confidence) * (1 - agreeing->confidence);
            }
        });
        if (module != result.module || leading.front().doubtful) {
            result.module = module;
            result.confidence = std::min(result.confidence, 0.7F);
        }
        return result;
    }

    /// Returns: whether a claim can be true when the deepest module is `module`.
    [[nodiscard]] static bool agrees(const tree_index& modules, const claim& c, id module) {
        return c.module == module || (!c.exact && modules.are_related(c.module, module));
    }

private:
    template <class Function>
    static void for_each_source(std::span<const claim> claims, Function f) {
        for (std::size_t first = 0, last = 0; first < claims.size(); first = last) {
            while (last < claims.size() && claims[last].source == claims[first].source) {
                ++last;
            }
            f(claims.subspan(first, last - first));
        }
    }

    [[nodiscard]] bool believed(std::span<const claim> group) const {
        return std::any_of(group.begin(), group.end(),
                           [&](const claim& c) { return c.confidence >= min_confidence; });
    }

    /// Takes the word of an aligned operation for which of the modules that a leading claim allows
    /// it is; and one that is sure against it, as it knows of the same parameters and of more.
    static void refine(const tree_index& modules, std::span<const claim> claims,
                       const claim& leading, attribution& result) {
        for (const auto& c : claims) {
            const bool aligned = c.source == provenance::torchscript ||
                                 c.source == provenance::trace || c.source == provenance::fx;
            const float needed = agrees(modules, leading, c.module) ? 0.5F : 0.9F;
            if (aligned && c.exact && c.confidence >= needed && c.module != result.module) {
                result.module = c.module;
                result.call = c.call;
                result.source = c.source;
                result.confidence = c.confidence;
                return;
            }
        }
    }

    /// Picks among the alternatives of the leading source.
    [[nodiscard]] static attribution settle(const tree_index& modules,
                                            std::span<const claim> leading,
                                            std::span<const claim> claims) {
        const auto as_attribution = [](const claim& c) {
            return attribution{c.module, c.call, c.confidence, c.source, false};
        };
        if (leading.size() == 1) {
            return as_attribution(leading.front());
        }
        // Where they are doubtful it was made of all of them.
        for (const auto& alternative :
             leading.subspan(0, leading.front().doubtful ? 0 : leading.size())) {
            for (const auto& other : claims) {
                if (other.source != alternative.source &&
                    agrees(modules, other, alternative.module)) {
                    return as_attribution(alternative);
                }
            }
        }
        const auto surest =
            std::max_element(leading.begin(), leading.end(), [](const claim& a, const claim& b) {
                return a.confidence < b.confidence;
            });
        auto result = as_attribution(*surest);
        for (const auto& alternative : leading) {
            if (alternative.confidence < surest->confidence) {
                continue;
            }
            result.call = alternative.module == result.module ? result.call : no_id;
            result.module = modules.lca(result.module, alternative.module);
        }
        return result;
    }
};

/// Believes one kind of evidence only where no other contradicts it; else the common ancestor.
struct cautious {
    using policy_category = resolution_category;
    static constexpr std::string_view name = "cautious";

    /// Claims below it are not believed.
    float min_confidence = 0;

    [[nodiscard]] attribution resolve(const tree_index& modules,
                                      std::span<const claim> claims) const {
        auto result = by_trust{min_confidence}.resolve(modules, claims);
        if (result.conflict) {
            for (const auto& c : claims) {
                result.module = modules.lca(result.module, c.module);
            }
            result.call = no_id;
            result.confidence = std::min(result.confidence, 0.5F);
        }
        return result;
    }
};

/// Believes the claim that is surest of itself, and the more trusted source among equally sure
/// ones: for evidence whose confidences are measured. Alternatives that are equally sure become
/// their common ancestor; whatever disagrees makes a conflict.
struct by_confidence {
    using policy_category = resolution_category;
    static constexpr std::string_view name = "confidence";

    /// Claims below it are not believed.
    float min_confidence = 0;

    [[nodiscard]] attribution resolve(const tree_index& modules,
                                      std::span<const claim> claims) const {
        const auto surest =
            std::max_element(claims.begin(), claims.end(), [](const claim& a, const claim& b) {
                return a.confidence != b.confidence ? a.confidence < b.confidence
                                                    : a.source > b.source;
            });
        if (surest == claims.end() || surest->confidence < min_confidence) {
            return {};
        }
        attribution result{surest->module, surest->call, surest->confidence, surest->source, false};
        for (const auto& c : claims) {
            const bool is_equal =
                c.source == surest->source && !(c.confidence < surest->confidence);
            if (is_equal && c.module != result.module) {
                result.module = modules.lca(result.module, c.module);
                result.call = no_id;
            }
        }
        result.conflict = std::any_of(claims.begin(), claims.end(), [&](const claim& c) {
            return c.source != surest->source && c.confidence >= min_confidence &&
                   !by_trust::agrees(modules, c, result.module);
        });
        return result;
    }
};

/// Weighs what all sources say, as their confidences are measured: several weak ones that agree
/// beat a stronger one that they contradict, and one that is sure beats a more trusted one that is
/// not.
///
/// Each module that is claimed has as much weight as the sources have that agree with it, less that
/// of those which contradict it; a source weighs the logarithm of the odds that it is right. Trust
/// decides between equal ones, after a claim that is exact. Alternatives of one source that nobody
/// decides between become their common ancestor. A doubtful claim is heard as by `by_trust`.
struct by_weight {
    using policy_category = resolution_category;
    static constexpr std::string_view name = "default";

    /// Claims below it are not believed.
    float min_confidence = 0;

    [[nodiscard]] attribution resolve(const tree_index& modules,
                                      std::span<const claim> claims) const {
        const auto trusted = by_trust{min_confidence}.resolve(modules, claims);
        if (!trusted.conflict || has_doubt(claims)) {
            return trusted;
        }
        auto best = trusted;
        auto most = weight_of(modules, claims, trusted.module);
        for (const auto& c : claims) {
            const auto weight = weight_of(modules, claims, c.module);
            if (c.exact && c.confidence >= min_confidence && weight > most + margin) {
                best = {c.module, c.call, c.confidence, c.source, true};
                most = weight;
            }
        }
        if (best.module != trusted.module) {
            best.confidence = std::min(best.confidence, 1 - 1 / (1 + std::exp(most)));
        }
        return best;
    }

private:
    static constexpr float margin = 0.01F;

    [[nodiscard]] static bool has_doubt(std::span<const claim> claims) {
        return std::any_of(claims.begin(), claims.end(), [](const claim& c) { return c.doubtful; });
    }

    [[nodiscard]] static float odds(float confidence) {
        constexpr float sure = 0.995F;
        confidence = std::clamp(confidence, 1 - sure, sure);
        return std::log(confidence / (1 - confidence));
    }

    /// Returns: how much speaks for a module, of each source the best of its alternatives.
    [[nodiscard]] float weight_of(const tree_index& modules, std::span<const claim> claims,
                                  id module) const {
        float sum = 0;
        for (std::size_t first = 0, last = 0; first < claims.size(); first = last) {
            float most = -std::numeric_limits<float>::infinity();
            for (; last < claims.size() && claims[last].source == claims[first].source; ++last) {
                const auto weight = odds(claims[last].confidence);
                most = std::max(most, by_trust::agrees(modules, claims[last], module)
                                          ? weight
                                          : -std::max(weight, 0.0F));
            }
            sum += most;
        }
        return sum;
    }
};

/// Put `static_assert(explain_resolution_policy<mine>());` beside a policy that is refused.
template <class P>
consteval bool explain_resolution_policy() {
    static_assert(std::copy_constructible<P>, "resolution policy: make the class copyable");
    static_assert(policy_for<P, resolution_category>,
                  "resolution policy: add `using policy_category = stemma::resolution_category;`");
    static_assert(detail::has_resolve<P>,
                  "resolution policy: add `stemma::attribution resolve(const stemma::tree_index&, "
                  "std::span<const stemma::claim>) const`");
    return resolution_policy<P>;
}

} // namespace stemma

#endif // STEMMA_TAGGING_RESOLUTION_HPP

// <stemma/tagging/attribute.hpp>
#ifndef STEMMA_TAGGING_ATTRIBUTE_HPP
#define STEMMA_TAGGING_ATTRIBUTE_HPP

namespace stemma {

/// Some operators, by vertex index, with a list of things each.
template <class T>
class per_operator_lists {
public:
    /// Gives `v` a list. Requires: one at most for each vertex, by rising `v`; else `sort` comes
    /// before `of`, which finds the list that was added first.
    void add(id v, std::span<const T> items) {
        entries_.push_back({v, items_.size(), items.size()});
        items_.insert(items_.end(), items.begin(), items.end());
    }

    /// Adds all lists of another one. Complexity: O(what it holds).
    void append(const per_operator_lists& other) {
        other.for_each([&](id v, std::span<const T> items) { add(v, items); });
    }

    /// Returns: how many lists were added.
    [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }

    /// Returns: the list of vertex index `v`; empty when it has none.
    /// Complexity: O(log size), if lists were added by rising vertex index.
    [[nodiscard]] std::span<const T> of(id v) const noexcept {
        const auto it = std::lower_bound(entries_.begin(), entries_.end(), v,
                                         [](const entry& e, id wanted) { return e.v < wanted; });
        return it == entries_.end() || it->v != v ? std::span<const T>{}
                                                  : std::span(items_).subspan(it->first, it->count);
    }

    /// Calls `f(v, list)` for every operator that has one. Complexity: O(lists).
    template <class Function>
    void for_each(Function f) const {
        for (const auto& e : entries_) {
            f(e.v, std::span(items_).subspan(e.first, e.count));
        }
    }

    /// Makes `of` work after lists were added in any order.
    void sort() {
        const auto stands_before = [](const entry& a, const entry& b) { return a.v < b.v; };
        if (!std::is_sorted(entries_.begin(), entries_.end(), stands_before)) {
            std::stable_sort(entries_.begin(), entries_.end(), stands_before);
        }
    }

private:
    struct entry {
        id v = no_id;
        std::size_t first = 0;
        std::size_t count = 0;
    };

    std::vector<entry> entries_;
    std::vector<T> items_;
};

/// What the evidence says of all operators.
struct evidence_result {
    std::vector<attribution> of;         ///< by vertex index; `module == no_id` without evidence
    per_operator_lists<claim> conflicts; ///< the claims about operators they disagree on
    per_operator_lists<id> alternatives; ///< modules, where one source named several and no other
                                         ///< decided between them
    per_operator_lists<id> callers;      ///< the caller of a module owned elsewhere
    std::size_t dropped = 0;             ///< operators with claims that were not believed
};

/// The sources that need nothing but the model itself.
using name_sources =
    evidence_sources<exporter_metadata, builder_metadata, function_calls, scope_names,
                     parameter_names, parameter_regions, leftovers, class_tags>;

namespace detail {

/// Asks prepared sources about some operators; `of` is by vertex index, for all of them.
template <class Sources, class Graph, class Iterator, resolution_policy Resolution>
void attribute(const Sources& sources, const Graph& graph, const tree_index& tree, Iterator it,
               Iterator last, const Resolution& resolution, std::span<attribution> of,
               evidence_result& result) {
    // Those of the last operator that had some, and what they came to: neighbours mostly agree.
    std::vector<claim> claims;
    attribution resolved;
    std::vector<id> modules;
    for (; it != last; ++it) {
        auto end = claims.begin();
        bool as_before = true;
        bool is_called = false;
        sources.for_each_claim(*it, [&](const claim& made) {
            if (made.module >= tree.size() ||
                (made.caller != no_id && made.caller >= tree.size())) {
                STEMMA_THROW(error(error_code::refused, "", "evidence",
                                   "a source claims a module that is not in the tree"));
            }
            is_called |= made.caller != no_id;
            if (end == claims.end()) {
                claims.push_back(made);
                end = claims.end();
                as_before = false;
                return;
            }
            if (!as_before || *end != made) {
                *end = made;
                as_before = false;
            }
            ++end;
        });
        if (end == claims.begin()) {
            continue;
        }
        if (!as_before || end != claims.end()) {
            claims.erase(end, claims.end());
            resolved = resolution.resolve(tree, claims);
            if (resolved.module != no_id && resolved.module >= tree.size()) {
                detail::refuse_answer(resolution, "resolution",
                                      "names a module that is not in the tree");
            }
        }
        const auto v = static_cast<id>(index_of(graph, *it));
        of[v] = resolved;
        if (resolved.module == no_id) {
            ++result.dropped;
        }
        if (resolved.conflict) {
            result.conflicts.add(v, claims);
        }
        if (claims.size() > 1 && claims.front().source == claims.back().source) {
            modules.clear();
            for (const auto& one : claims) {
                modules.push_back(one.module);
            }
            result.alternatives.add(v, modules);
        }
        if (!is_called) {
            continue;
        }
        for (const auto& one : claims) {
            if (one.caller != no_id && one.module == resolved.module &&
                one.source == resolved.source) {
                result.callers.add(v, {&one.caller, 1});
            }
        }
    }
}

} // namespace detail

/// Asks the sources about every operator and resolves what they claim, by as many threads as are
/// given.
/// Requires: the context allows so many.
/// Complexity: that of the sources and the resolution policy.
template <operator_view Ops, module_view Modules, evidence_policy<Ops, Modules> Evidence,
          resolution_policy Resolution = by_weight>
[[nodiscard]] evidence_result attribute(evidence_context<Ops, Modules>& context,
                                        const Evidence& evidence, const Resolution& resolution,
                                        thread_limit threads) {
    const auto& graph = context.ops().graph();
    const auto size = static_cast<std::size_t>(num_vertices(graph));
    const auto sources = detail::prepare_source(evidence, context);
    std::vector<attribution> of(size);
    // Operators do not take equally long, so there are more parts than threads.
    const auto workers = threads.parts_of_operators(size);
    std::vector<evidence_result> parts(workers == 1 ? 1 : 8 * workers);
    for_each_item(parts.size(), workers, [&](std::size_t part, std::size_t) {
        const auto [first, last] = vertex_range(graph, parts.size(), part);
        detail::attribute(sources, graph, context.index(), first, last, resolution, of,
                          parts[part]);
    });
    auto result = std::move(parts.front());
    for (std::size_t part = 1; part < parts.size(); ++part) {
        result.conflicts.append(parts[part].conflicts);
        result.alternatives.append(parts[part].alternatives);
        result.callers.append(parts[part].callers);
        result.dropped += parts[part].dropped;
    }
    result.of = std::move(of);
    result.conflicts.sort();
    result.alternatives.sort();
    result.callers.sort();
    return result;
}

/// The same, by as many threads as the context allows.
template <operator_view Ops, module_view Modules, evidence_policy<Ops, Modules> Evidence,
          resolution_policy Resolution = by_weight>
[[nodiscard]] evidence_result attribute(evidence_context<Ops, Modules>& context,
                                        const Evidence& evidence,
                                        const Resolution& resolution = {}) {
    return attribute(context, evidence, resolution, context.threads());
}

} // namespace stemma

#endif // STEMMA_TAGGING_ATTRIBUTE_HPP

// <stemma/tagging/naming.hpp>
#ifndef STEMMA_TAGGING_NAMING_HPP
#define STEMMA_TAGGING_NAMING_HPP

namespace stemma {

namespace detail {

template <class P, class Modules>
concept has_name_modules = requires(const P& p, const Modules& modules, tag_table& tags) {
    p.name_modules(modules, tags);
};

} // namespace detail

/// Says what the tags of the selected modules look like: one segment for each.
///
/// `name_modules(modules, tags)` gives every selected module its segment, one above before those
/// below.
///
/// Requires: it calls `set_segment` once for every selected module; siblings below one
///   selected module get different segments, so that a tag names exactly one module; no segment
///   holds a `/` that is not escaped by `\`.
template <class P, class Modules>
concept naming_policy = policy_for<P, naming_category> && detail::has_name_modules<P, Modules>;

/// Classes, and of the path as much as tells equal ones apart:
/// `/BertModel/BertEncoder/BertLayer.0`.
///
/// Modules below the same selected module with the same class share a number k: the least for which
/// the last k names of their paths differ pairwise; alone, k is 1 behind a number and else 0. The
/// segment is the class and those names, joined by dots. Where the class is unknown the name stands
/// for it, from the last part that is no number: `layer.0`. `\`, `/`, `.` and `#` in a class or
/// name are written behind a `\`; where k would pass 32, `#` and the rank among the sorted paths
/// take the place of the names. Modules of unknown class whose segments another one has get `##`
/// and their rank behind. Complexity: O(modules * k) expected, and the sorting of modules that get
/// a rank.
struct class_paths {
    using policy_category = naming_category;
    static constexpr std::string_view name = "default";

    /// Most names of a path in one segment; `#` and a rank where more would be needed.
    static constexpr std::size_t max_names = 32;

    template <module_view Modules>
    void name_modules(const Modules& modules, tag_table& tags) const {
        detail::class_path_namer<Modules>(modules, tags, max_names).run();
    }
};

/// Attribute names instead of classes, as they stand in the path: `/model/encoder/layer.0`.
struct attribute_paths {
    using policy_category = naming_category;
    static constexpr std::string_view name = "attribute-paths";

    template <module_view Modules>
    void name_modules(const Modules& modules, tag_table& tags) const {
        detail::name_path path(modules, detail::special_characters("\\/."));
        for (id m = 0; m < tags.size(); ++m) {
            if (tags.is_selected(m)) {
                const auto segment = path(tags.above(m), m);
                tags.set_segment(m, m == 0 && segment.empty() ? "model" : segment);
            }
        }
    }
};

/// Attribute names with the class behind a colon:
/// `/net:BertModel/encoder:BertEncoder/layer.0:BertLayer`. Unlike with class_paths, a tag stays as
/// it is whatever other modules there are.
struct attributes_and_classes {
    using policy_category = naming_category;
    static constexpr std::string_view name = "attributes-and-classes";

    template <module_view Modules>
    void name_modules(const Modules& modules, tag_table& tags) const {
        const detail::special_characters in_class("\\/:");
        detail::name_path path(modules, detail::special_characters("\\/.:"));
        std::string segment;
        for (id m = 0; m < tags.size(); ++m) {
            if (tags.is_selected(m)) {
                segment.clear();
                path.append(tags.above(m), m, segment);
                const std::string_view class_name = modules.class_name(m);
                if (m == 0 && segment.empty()) {
                    segment = "model";
                }
                if (!class_name.empty()) {
                    segment.push_back(':');
                    in_class.append_escaped(class_name, segment);
                }
                tags.set_segment(m, segment);
            }
        }
    }
};

/// Put `static_assert(explain_naming_policy<mine, modules>());` beside a policy that is refused.
template <class P, class Modules>
consteval bool explain_naming_policy() {
    static_assert(std::copy_constructible<P>, "naming policy: make the class copyable");
    static_assert(policy_for<P, naming_category>,
                  "naming policy: add `using policy_category = stemma::naming_category;`");
    static_assert(
        detail::has_name_modules<P, Modules>,
        "naming policy: add `void name_modules(const Modules&, stemma::tag_table&) const`");
    return naming_policy<P, Modules>;
}

} // namespace stemma

#endif // STEMMA_TAGGING_NAMING_HPP

// <stemma/tagging/select_modules.hpp>
#ifndef STEMMA_TAGGING_SELECT_MODULES_HPP
#define STEMMA_TAGGING_SELECT_MODULES_HPP

namespace stemma {

/// Returns: for each module the nearest selected one that is it or above it.
/// Complexity: one `selects` per module.
template <module_view Modules, selection_policy<Modules> Selection = not_infrastructure>
[[nodiscard]] std::vector<id> select_modules(const Modules& modules,
                                             const Selection& selection = {}) {
    const tree_index& tree = modules.index();
    std::vector<id> selected(tree.size());
    for (id m = 1; m < tree.size(); ++m) {
        selected[m] = selection.selects(modules, m) ? m : selected[tree.parent(m)];
    }
    return selected;
}

} // namespace stemma

#endif // STEMMA_TAGGING_SELECT_MODULES_HPP

// <stemma/tagging/name_modules.hpp>
#ifndef STEMMA_TAGGING_NAME_MODULES_HPP
#define STEMMA_TAGGING_NAME_MODULES_HPP

namespace stemma {

/// Returns: the tags of the modules that `selection` picks, printed by `naming`.
/// Complexity: that of the two policies, plus O(modules).
template <module_view Modules, selection_policy<Modules> Selection = not_infrastructure,
          naming_policy<Modules> Naming = class_paths>
[[nodiscard]] tag_table name_modules(const Modules& modules, const Selection& selection = {},
                                     const Naming& naming = {}) {
    tag_table tags(modules.index(), select_modules(modules, selection));
    naming.name_modules(modules, tags);
    for (id m = 0; m < tags.size(); ++m) {
        if (tags.is_selected(m) && !tags.has_segment(m)) {
            detail::refuse_answer(naming, "naming", "gives a selected module no segment");
        }
    }
    tags.finish();
    return tags;
}

} // namespace stemma

#endif // STEMMA_TAGGING_NAME_MODULES_HPP

// <stemma/tagging/number_calls.hpp>
#ifndef STEMMA_TAGGING_NUMBER_CALLS_HPP
#define STEMMA_TAGGING_NUMBER_CALLS_HPP

namespace stemma {

namespace detail {

/// Whether metadata name the module of an operator and not the call.
[[nodiscard]] inline bool lacks_call(const attribution& known) noexcept {
    return known.module != no_id && known.source == provenance::metadata && known.call == no_id;
}

/// Numbers the calls of one module after the other.
template <parameter_readers Ops>
class call_numberer {
public:
    call_numberer(const Ops& ops, const tree_index& modules, std::span<attribution> result)
        : ops_(ops)
        , graph_(ops.graph())
        , modules_(modules)
        , result_(result)
        , readings_(ops.parameter_count())
        , joined_(result.size(), no_id) {}

    void run() {
        open_.reserve(result_.size());
        sweep_order(graph_).forward([&](operator_t<Ops> v) {
            if (lacks_call(known(v))) {
                open_.push_back(v);
            }
        });
        const grouped_ids by_module(modules_.size(), [&](auto take) {
            for (id i = 0; i < open_.size(); ++i) {
                take(known(open_[i]).module, i);
            }
        });
        for (id module = 0; module < modules_.size(); ++module) {
            const auto own = by_module[module];
            if (own.empty()) {
                continue;
            }
            find_anchors(own, module);
            if (!anchors_.empty()) {
                number_by_anchors(own, module);
            } else if (modules_.end(module) == module + 1) {
                number_components(own, module);
            }
        }
    }

private:
    /// How many operators of a module read a parameter.
    struct reading {
        id module = no_id;
        id last = no_id; // of the operators
        id count = 0;
    };

    [[nodiscard]] attribution& known(operator_t<Ops> v) { return result_[index_at(v)]; }

    // The operators of one module are named by their places in `open_`, as `own`.

    /// Finds the operators that read the parameter that is read most often, in order.
    void find_anchors(std::span<const id> own, id module) {
        id most_read = no_id;
        id most = 0;
        for (auto i : own) {
            const auto v = open_[i];
            ops_.for_each_parameter(v, [&](id p) {
                auto& read = readings_[p];
                if (read.module != module) {
                    read = {module, no_id, 0};
                }
                read.count += read.last == i ? 0U : 1U;
                read.last = i;
                if (read.count > most) {
                    most = read.count;
                    most_read = p;
                }
            });
        }
        anchors_.clear();
        for (auto i = own.begin(); anchors_.size() < most; ++i) {
            bool reads = false;
            ops_.for_each_parameter(open_[*i], [&](id p) { reads = reads || p == most_read; });
            if (reads) {
                anchors_.push_back(*i);
            }
        }
    }

    void number_by_anchors(std::span<const id> own, id module) {
        const auto call_of = [&](operator_t<Ops> v) {
            return known(v).module == module ? known(v).call : no_id;
        };
        for (id call = 0; call < anchors_.size(); ++call) {
            known(open_[anchors_[call]]).call = call;
        }
        auto anchor = anchors_.begin(); // both stand in the same order
        for (auto i : own) {
            const auto v = open_[i];
            if (anchor != anchors_.end() && *anchor == i) {
                ++anchor;
                continue;
            }
            auto& call = known(v).call;
            for (auto [in, last] = in_edges(v, graph_); in != last; ++in) {
                const auto behind = call_of(source(*in, graph_));
                call = behind == no_id ? call : call == no_id ? behind : std::max(call, behind);
            }
        }
        for (auto i = own.rbegin(); i != own.rend(); ++i) {
            const auto v = open_[*i];
            auto& call = known(v).call;
            if (call == no_id) {
                id before = anchors_.size() == 1 ? 0 : no_id;
                for (auto [out, last] = out_edges(v, graph_); out != last; ++out) {
                    before = std::min(before, call_of(target(*out, graph_)));
                }
                call = before;
            }
        }
    }

    void number_components(std::span<const id> own, id module) {
        for (auto i : own) {
            const auto v = open_[i];
            joined_[index_at(v)] = index_at(v);
        }
        for (auto i : own) {
            const auto v = open_[i];
            for (auto [in, last] = in_edges(v, graph_); in != last; ++in) {
                const auto u = index_at(source(*in, graph_));
                if (result_[u].module == module && joined_[u] != no_id) {
                    const auto a = first_of(u);
                    const auto b = first_of(index_at(v));
                    joined_[std::max(a, b)] = std::min(a, b);
                }
            }
        }
        id calls = 0;
        for (auto i : own) {
            const auto v = open_[i];
            auto& call = result_[first_of(index_at(v))].call;
            call = call == no_id ? calls++ : call;
            known(v).call = call;
        }
    }

    [[nodiscard]] id first_of(id v) {
        while (joined_[v] != v) {
            joined_[v] = joined_[joined_[v]];
            v = joined_[v];
        }
        return v;
    }

    [[nodiscard]] id index_at(operator_t<Ops> vertex) const {
        return static_cast<id>(index_of(graph_, vertex));
    }

    const Ops& ops_;
    const graph_of<Ops>& graph_;
    const tree_index& modules_;
    std::span<attribution> result_;
    std::vector<operator_t<Ops>> open_; // operators without a number, in order
    std::vector<id> anchors_;           // those of one module, by their places in `open_`
    std::vector<reading> readings_;     // by parameter
    std::vector<id> joined_;            // union-find over the operators of one module
};

} // namespace detail

/// Numbers the calls of modules by data flow, for operators whose metadata name the module and not
/// the call.
///
/// A module runs once for each operator of its own that reads the same parameter of it. An operator
/// belongs to the last of these that its inputs come through, inside of the module; to the first
/// that it leads to, when they come through none. A module without children and parameters runs
/// once for each set of its operators that hang together. Others stay without a number.
///
/// `result` is by vertex index.
/// Complexity: O(V + E + modules + parameters + reads of parameters).
template <parameter_readers Ops>
void number_calls(const Ops& ops, const tree_index& modules, std::span<attribution> result) {
    if (std::any_of(result.begin(), result.end(), detail::lacks_call)) {
        detail::call_numberer<Ops>(ops, modules, result).run();
    }
}

} // namespace stemma

#endif // STEMMA_TAGGING_NUMBER_CALLS_HPP

// <stemma/tagging/overrule_shared.hpp>
#ifndef STEMMA_TAGGING_OVERRULE_SHARED_HPP
#define STEMMA_TAGGING_OVERRULE_SHARED_HPP

namespace stemma {

/// An attribution that gave way to a second witness.
struct overruled {
    id v = no_id;       ///< vertex index
    attribution before; ///< what the evidence had said
    id readers = no_id; ///< what the modules of the readers have in common
    float least = 0;    ///< how sure all of these are
};

/// Corrects the evidence on constants and shape computations that several modules use.
///
/// Exporters compute equal ones once and leave them the scope of the module that came first. One
/// that is read in its module, and in one that is neither above nor below that, belongs to the
/// common ancestor of its own and all that read it; so does a constant that only others read. What
/// is computed and only read by others is a result of its module, as the angles of rotary
/// embeddings are.
///
/// `result` is by vertex index, and `module == no_id` where nothing is known; `independent` is what
/// `data_independent` says of `ops`.
/// Returns: what changed, in the order of `vertices`.
/// Complexity: O(V + edges of what is independent).
template <operator_view Ops>
std::vector<overruled> overrule_shared(const Ops& ops, const tree_index& modules,
                                       std::span<attribution> result,
                                       const std::vector<bool>& independent) {
    std::vector<overruled> changed;
    if constexpr (data_aware_operators<Ops>) {
        const auto& graph = ops.graph();
        for (auto [it, last] = vertices(graph); it != last; ++it) {
            const auto v = static_cast<id>(index_of(graph, *it));
            const auto& made = result[v];
            if (made.module == no_id || !independent[v]) {
                continue;
            }
            bool foreign = false;
            const auto [in, in_last] = in_edges(*it, graph);
            bool own = in == in_last; // a constant may stand in any scope
            detail::common_module readers;
            float least = std::min(0.7F, made.confidence);
            for (auto [out, out_last] = out_edges(*it, graph); out != out_last; ++out) {
                const auto& read_by = result[index_of(graph, target(*out, graph))];
                if (const auto reader = read_by.module; reader != no_id) {
                    readers.add(reader);
                    least = std::min(least, read_by.confidence);
                    foreign = foreign || !modules.are_related(reader, made.module);
                    own = own || modules.is_ancestor(made.module, reader);
                }
            }
            if (foreign && own) {
                changed.push_back({v, made, readers.get(modules), least});
            }
        }
        for (const auto& [v, before, common, least] :
             changed) { // once all were asked what they were
            result[v] = {modules.lca(before.module, common), no_id, least, before.source, true};
        }
    }
    return changed;
}

/// The same, where that is not known yet. Complexity: O(V + E).
template <operator_view Ops>
std::vector<overruled> overrule_shared(const Ops& ops, const tree_index& modules,
                                       std::span<attribution> result) {
    const sweep_order order(ops.graph());
    return overrule_shared(ops, modules, result, data_independent(ops, order));
}

} // namespace stemma

#endif // STEMMA_TAGGING_OVERRULE_SHARED_HPP

// <stemma/tagging/detail/limit_confidence.hpp>
#ifndef STEMMA_TAGGING_DETAIL_LIMIT_CONFIDENCE_HPP
#define STEMMA_TAGGING_DETAIL_LIMIT_CONFIDENCE_HPP

namespace stemma {

namespace detail {

/// Returns: by vertex index, whether an operator has evidence, or something has that it is computed
/// from.
template <operator_view Ops>
[[nodiscard]] std::vector<bool> known_from_above(const Ops& ops,
                                                 const sweep_order<graph_of<Ops>>& order,
                                                 std::span<const id> evidence) {
    const auto& graph = ops.graph();
    std::vector<bool> known(evidence.size(), false);
    order.forward([&](operator_t<Ops> vertex) {
        const auto v = index_of(graph, vertex);
        bool here = evidence[v] != no_id;
        if (!here) {
            for (auto [it, last] = in_edges(vertex, graph); it != last && !here; ++it) {
                here = known[index_of(graph, source(*it, graph))];
            }
        }
        known[v] = here;
    });
    return known;
}

} // namespace detail

/// Makes no operator without evidence surer than those it follows.
///
/// By its provenance it follows its readers (`consumer`), what makes its inputs (`producer`), both
/// (`between`), or the operator whose body it is in (`owner`), as far as these are known otherwise
/// than from itself. `result` is by vertex index; `evidence[v] == no_id` says which are without.
/// Complexity: O(V), and where something has less confidence than what may follow it, O(E + V log
/// V).
template <operator_view Ops>
void limit_confidence(const Ops& ops, const sweep_order<graph_of<Ops>>& order,
                      std::span<const id> evidence, std::span<attribution> result) {
    using entry = std::pair<float, id>; // what is least sure comes first
    float most = 0;
    for (id v = 0; v < result.size(); ++v) {
        most = evidence[v] == no_id ? std::max(most, result[v].confidence) : most;
    }
    std::vector<entry> found;
    for (id v = 0; v < result.size(); ++v) {
        if (result[v].source != provenance::root && result[v].confidence < most) {
            found.emplace_back(result[v].confidence, v);
        }
    }
    if (found.empty()) {
        return;
    }
    const auto& graph = ops.graph();
    const vertices_by_index<graph_of<Ops>> vertex_of(graph);
    const auto above = detail::known_from_above(ops, order, evidence);
    std::vector<std::pair<id, id>> bodies; // owner, operator that follows it
    for (const auto& op : detail::operators_in_bodies(ops)) {
        if (evidence[op.v] == no_id && result[op.v].source == provenance::owner) {
            bodies.emplace_back(op.owner, op.v);
        }
    }
    std::sort(bodies.begin(), bodies.end());
    std::priority_queue<entry, std::vector<entry>, std::greater<>> next(std::greater<>(),
                                                                        std::move(found));
    const auto limit = [&](id v, float confidence) {
        if (evidence[v] == no_id && result[v].confidence > confidence) {
            result[v].confidence = confidence;
            next.emplace(confidence, v);
        }
    };
    while (!next.empty()) {
        const auto [confidence, v] = next.top();
        next.pop();
        if (result[v].confidence < confidence) {
            continue; // it was told before, of a lower one
        }
        const auto from = result[v].source;
        if (evidence[v] != no_id || from != provenance::producer) {
            for (auto [it, last] = in_edges(vertex_of[v], graph); it != last; ++it) {
                const auto producer = static_cast<id>(index_of(graph, source(*it, graph)));
                if (const auto how = result[producer].source;
                    how == provenance::consumer || how == provenance::between) {
                    limit(producer, confidence);
                }
            }
        }
        if (above[v]) {
            for (auto [it, last] = out_edges(vertex_of[v], graph); it != last; ++it) {
                const auto reader = static_cast<id>(index_of(graph, target(*it, graph)));
                if (const auto how = result[reader].source;
                    how == provenance::producer || how == provenance::between) {
                    limit(reader, confidence);
                }
            }
        }
        for (auto op = std::lower_bound(bodies.begin(), bodies.end(), std::pair(v, id{0}));
             op != bodies.end() && op->first == v; ++op) {
            limit(op->second, confidence);
        }
    }
}

} // namespace stemma

#endif // STEMMA_TAGGING_DETAIL_LIMIT_CONFIDENCE_HPP

// <stemma/tagging/propagation.hpp>
#ifndef STEMMA_TAGGING_PROPAGATION_HPP
#define STEMMA_TAGGING_PROPAGATION_HPP

namespace stemma {

namespace detail {

template <class P, class Ops>
concept has_propagate = requires(const P& p, const propagation_problem<Ops>& problem,
                                 std::span<attribution> result) {
    p.propagate(problem, result);
};

/// Writes `decide(down, up)` for every operator without evidence.
template <class Ops, class Decide>
void decide_each(const propagation_problem<Ops>& problem, std::span<const id> down,
                 std::span<const id> up, std::span<attribution> result, Decide decide) {
    for (id v = 0; v < result.size(); ++v) {
        if (problem.evidence[v] == no_id) {
            // Member by member: what was just put together is slow to copy as a whole.
            const attribution made =
                decide(v, down.empty() ? no_id : down[v], up.empty() ? no_id : up[v]);
            auto& kept = result[v];
            kept.module = made.module;
            kept.call = made.call;
            kept.confidence = made.confidence;
            kept.source = made.source;
            kept.conflict = made.conflict;
        }
    }
}

/// Whether a policy spreads what is known at all.
template <class P>
[[nodiscard]] constexpr bool propagates(const P& policy) {
    if constexpr (requires {
                      { policy.propagates() } -> std::convertible_to<bool>;
                  }) {
        return policy.propagates();
    } else {
        return true;
    }
}

} // namespace detail

/// Finds modules for operators without evidence.
///
/// `propagate(problem, result)` writes `result[v]` for every vertex index v with
/// `problem.evidence[v] == no_id` and leaves the others alone.
///
/// Requires: the result is a function of the graph and the evidence, not of the order of visiting;
///   every operator gets some module; its provenance is none of evidence.
/// A policy may also say `propagates()`: where it says no, owners do not hear their bodies
/// either, and operators without evidence get no tags of their readers.
/// Complexity: O(V + E).
template <class P, class Ops>
concept propagation_policy = policy_for<P, propagation_category> && detail::has_propagate<P, Ops>;

/// Readers and producers together: what reads a result usually says where it was made, unless the
/// two sides disagree, as behind a residual connection. docs/propagation.md states the rules.
struct both_sides {
    using policy_category = propagation_category;
    static constexpr std::string_view name = "default";

    template <operator_view Ops>
    void propagate(const propagation_problem<Ops>& problem, std::span<attribution> result) const {
        std::vector<id> down;
        std::vector<id> up;
        std::vector<bool> independent;
        std::vector<bool> steers;
        std::vector<bool> settled;
        run_tasks(problem.threads.parts_of_operators(result.size()),
                  {[&] {
                       down = common_reader_modules(problem);
                       settled = settled_by_readers(problem, down, result);
                   },
                   [&] {
                       up = common_producer_modules(problem);
                       independent = data_independent(problem);
                       steers = steering_only(problem);
                   }});
        const auto& tree = problem.modules;
        // What the view never knows is not looked up.
        constexpr bool knows_data = data_aware_operators<Ops>;
        constexpr bool knows_conditions = steered_operators<Ops>;
        const auto decide = [&](id v, id below, id above) -> attribution {
            if (below == no_id && above == no_id) {
                return {0, no_id, 0, provenance::root, false};
            }
            if (below == no_id) {
                return {above, no_id, 0.6F, provenance::producer, false};
            }
            if (above == no_id || (knows_data && independent[v])) {
                return {below, no_id, knows_data && settled[v] ? 0.9F : 0.8F, provenance::consumer,
                        false};
            }
            if (tree.are_related(below, above) || (knows_conditions && steers[v])) {
                return {below, no_id, below == above ? 0.85F : 0.7F, provenance::consumer, false};
            }
            return {tree.lca(below, above), no_id, 0.5F, provenance::between, false};
        };
        detail::decide_each(problem, down, up, result, decide);
        stay_with_owners(problem, result, [&](id v) { return down[v] == no_id; });
    }
};

/// What all readers have in common; nothing where there are none.
struct consumers_only {
    using policy_category = propagation_category;
    static constexpr std::string_view name = "consumers";

    template <operator_view Ops>
    void propagate(const propagation_problem<Ops>& problem, std::span<attribution> result) const {
        const auto down = common_reader_modules(problem);
        detail::decide_each(problem, down, {}, result, [](id, id below, id) -> attribution {
            return below == no_id ? attribution{0, no_id, 0, provenance::root, false}
                                  : attribution{below, no_id, 0.6F, provenance::consumer, false};
        });
    }
};

/// What all producers have in common; nothing where there are none.
struct producers_only {
    using policy_category = propagation_category;
    static constexpr std::string_view name = "producers";

    template <operator_view Ops>
    void propagate(const propagation_problem<Ops>& problem, std::span<attribution> result) const {
        const auto up = common_producer_modules(problem);
        detail::decide_each(problem, {}, up, result, [](id, id, id above) -> attribution {
            return above == no_id ? attribution{0, no_id, 0, provenance::root, false}
                                  : attribution{above, no_id, 0.5F, provenance::producer, false};
        });
    }
};

/// The evidence that is the fewest edges away, in either direction; the common ancestor of the
/// nearest ones where several are.
struct nearest_evidence {
    using policy_category = propagation_category;
    static constexpr std::string_view name = "nearest";

    template <operator_view Ops>
    void propagate(const propagation_problem<Ops>& problem, std::span<attribution> result) const {
        const auto near = nearest_modules(problem);
        detail::decide_each(problem, near, {}, result, [](id, id module, id) -> attribution {
            return module == no_id ? attribution{0, no_id, 0, provenance::root, false}
                                   : attribution{module, no_id, 0.5F, provenance::between, false};
        });
    }
};

/// As both_sides, except where branches join: if one input of a joining operator also feeds what
/// computes the others (a skip connection), it belongs to the module that holds that computation.
struct residual_aware {
    using policy_category = propagation_category;
    static constexpr std::string_view name = "residual";

    template <operator_view Ops>
    void propagate(const propagation_problem<Ops>& problem, std::span<attribution> result) const {
        both_sides{}.propagate(problem, result);
        const auto joined = residual_modules(problem);
        for (id v = 0; v < result.size(); ++v) {
            if (problem.evidence[v] == no_id && joined[v] != no_id) {
                result[v] = {joined[v], no_id, 0.7F, provenance::between, false};
            }
        }
    }
};

/// Leaves operators without evidence to the root.
struct no_propagation {
    using policy_category = propagation_category;
    static constexpr std::string_view name = "off";

    [[nodiscard]] static constexpr bool propagates() noexcept { return false; }

    template <operator_view Ops>
    void propagate(const propagation_problem<Ops>& problem, std::span<attribution> result) const {
        detail::decide_each(problem, {}, {}, result, [](id, id, id) -> attribution {
            return {0, no_id, 0, provenance::root, false};
        });
    }
};

/// Put `static_assert(explain_propagation_policy<mine, ops>());` beside a policy that is refused.
template <class P, class Ops>
consteval bool explain_propagation_policy() {
    static_assert(std::copy_constructible<P>, "propagation policy: make the class copyable");
    static_assert(policy_for<P, propagation_category>,
                  "propagation policy: add `using policy_category = "
                  "stemma::propagation_category;`");
    static_assert(
        detail::has_propagate<P, Ops>,
        "propagation policy: add `void propagate(const stemma::propagation_problem<Ops>&, "
        "std::span<stemma::attribution>) const`");
    return propagation_policy<P, Ops>;
}

} // namespace stemma

#endif // STEMMA_TAGGING_PROPAGATION_HPP

// <stemma/tagging/propagate.hpp>
#ifndef STEMMA_TAGGING_PROPAGATE_HPP
#define STEMMA_TAGGING_PROPAGATE_HPP

namespace stemma {

namespace detail {

/// Gives owners of bodies without evidence what the evidence in their bodies has in common,
/// innermost bodies first.
template <operator_view Ops>
void hear_bodies(const Ops& ops, const tree_index& modules, std::span<attribution> result) {
    const auto inner = operators_in_bodies(ops);
    if (inner.empty()) {
        return;
    }
    struct said {
        common_module module;
        float least = 0.8F; // how sure all are that were heard
    };
    std::unordered_map<id, said> heard; // by owner
    const auto settle = [&](id v) {
        const auto found = heard.find(v);
        if (result[v].module == no_id && found != heard.end()) {
            result[v] = {found->second.module.get(modules), no_id, found->second.least,
                         provenance::owner, false};
        }
    };
    for (auto op = inner.rbegin(); op != inner.rend(); ++op) {
        settle(op->v);
        if (result[op->v].module != no_id) {
            auto& here = heard[op->owner];
            here.module.add(result[op->v].module);
            here.least = std::min(here.least, result[op->v].confidence);
        }
    }
    for (const auto& op : inner) {
        settle(op.owner);
    }
}

} // namespace detail

/// Finds a module for every operator that has none: `result[v].module == no_id` on entry.
///
/// `result` is by vertex index. An owner of bodies without evidence is settled first, from the
/// evidence in its bodies; the rest is the policy's, which is not asked where nothing is left. None
/// is surer than those it follows. `independent` is what `data_independent` says of `ops`, where
/// that is known. Requires: several threads may read `ops` at once, if so many are given.
/// Complexity: that of the policy, plus O(V + E), and that of `limit_confidence`.
template <operator_view Ops, propagation_policy<Ops> Policy = both_sides>
void propagate(const Ops& ops, const tree_index& modules, std::span<attribution> result,
               const Policy& policy = {}, thread_limit threads = {},
               const std::vector<bool>* independent = nullptr) {
    STEMMA_ASSERT(result.size() == num_vertices(ops.graph()), "one attribution per operator");
    const sweep_order order(ops.graph());
    if (detail::propagates(policy)) {
        detail::hear_bodies(ops, modules, result);
    }
    std::vector<id> evidence(result.size());
    for (std::size_t v = 0; v < result.size(); ++v) {
        evidence[v] = result[v].module;
    }
    if (std::find(evidence.begin(), evidence.end(), no_id) == evidence.end()) {
        return;
    }
    policy.propagate(propagation_problem<Ops>{ops, modules, order, evidence, threads, independent},
                     result);
    for (std::size_t v = 0; v < result.size(); ++v) {
        if (result[v].module >= modules.size()) {
            detail::refuse_answer(policy, "propagation",
                                  result[v].module == no_id
                                      ? "gives an operator without evidence no module"
                                      : "names a module that is not in the tree");
        }
    }
    limit_confidence(ops, order, evidence, result);
}

/// Refuses operators that are none, with a sentence.
template <class Ops, class... Others>
    requires(!operator_view<Ops>)
void propagate(const Ops&, const tree_index&, const Others&...) {
    static_assert(explain_operator_view<Ops>());
}

} // namespace stemma

#endif // STEMMA_TAGGING_PROPAGATE_HPP

// <stemma/core/detail/id_set_union.hpp>
#ifndef STEMMA_CORE_DETAIL_ID_SET_UNION_HPP
#define STEMMA_CORE_DETAIL_ID_SET_UNION_HPP

namespace stemma {

/// The union of sets of a pool, as they come. Two or more sets with more than `cap` elements
/// together are too large: then only the least and the greatest are known.
class id_set_union {
public:
    /// `pool` must outlive the union.
    id_set_union(id_set_pool& pool, std::size_t cap) : pool_(&pool), cap_(cap) {}

    /// Makes it empty.
    void clear() noexcept {
        set_ = no_id;
        last_ = no_id;
        merged_.clear();
        is_large_ = false;
    }

    /// Adds the elements of a set of the pool.
    /// Complexity: O(elements of both), O(1) for the set added last and one that is all there is so
    /// far.
    void add(id_set set) {
        if (set == no_id || set == last_ || set == set_) {
            return;
        }
        last_ = set;
        if (set_ == no_id && merged_.empty()) {
            set_ = set;
            return;
        }
        unite(set);
        if (!is_large_ && bound() > cap_) {
            look_at_size();
        }
    }

    /// Whether there are two or more sets, and more than `cap` elements.
    [[nodiscard]] bool is_large() const noexcept { return is_large_; }

    /// Returns: the least element. Requires: `is_large()`.
    [[nodiscard]] id least() const noexcept { return least_; }

    /// Returns: the greatest element. Requires: `is_large()`.
    [[nodiscard]] id greatest() const noexcept { return greatest_; }

    /// Returns: the union as a set of the pool, which it is added to.
    /// Requires: not `is_large()`.
    [[nodiscard]] id_set get() {
        return set_ != no_id || merged_.empty() ? set_ : pool_->intern_chunks(merged_);
    }

private:
    using chunks = std::span<const detail::id_chunk>;

    /// The chunks of a set; that of a single id is made in `single`.
    [[nodiscard]] chunks chunks_of(id_set set, detail::id_chunk& single) const noexcept {
        if (id_set_pool::is_single(set)) {
            single = detail::chunk_of(set);
            return {&single, 1};
        }
        return pool_->pooled(set);
    }

    // Most sets that meet hold one another: then the union has its name already, and nothing needs
    // to be made or looked for.
    void unite(id_set set) {
        detail::id_chunk single_before = 0;
        detail::id_chunk single_added = 0;
        const auto before = set_ == no_id ? chunks(merged_) : chunks_of(set_, single_before);
        const auto added = chunks_of(set, single_added);
        if (is_large_) {
            least_ = std::min(least_, detail::least_of(added.front()));
            greatest_ = std::max(greatest_, detail::greatest_of(added.back()));
        } else if (includes(before, added)) {
            return;
        } else if (includes(added, before)) {
            set_ = set;
        } else {
            bound_ = bound() + pool_->size_of(set);
            merge(before, added);
        }
    }

    [[nodiscard]] static bool includes(chunks all, chunks some) noexcept {
        auto at = all.begin();
        for (auto chunk : some) {
            while (at != all.end() && detail::place_of(*at) < detail::place_of(chunk)) {
                ++at;
            }
            if (at == all.end() || detail::place_of(*at) != detail::place_of(chunk) ||
                (*at | chunk) != *at) {
                return false;
            }
        }
        return true;
    }

    void merge(chunks a, chunks b) {
        next_.resize(a.size() + b.size());
        auto out = next_.begin();
        auto i = a.begin();
        auto j = b.begin();
        while (i != a.end() && j != b.end()) {
            const auto in_a = detail::place_of(*i);
            const auto in_b = detail::place_of(*j);
            *out++ = (in_a <= in_b ? *i : 0) | (in_b <= in_a ? *j : 0);
            i += in_a <= in_b ? 1 : 0;
            j += in_b <= in_a ? 1 : 0;
        }
        out = std::copy(i, a.end(), out);
        out = std::copy(j, b.end(), out);
        next_.erase(out, next_.end());
        merged_.swap(next_);
        set_ = no_id;
    }

    /// Returns: what the size does not exceed. To count elements takes as long as to merge sets.
    [[nodiscard]] std::size_t bound() const noexcept {
        return set_ == no_id ? bound_ : pool_->size_of(set_);
    }

    void look_at_size() {
        detail::id_chunk single = 0;
        const auto all = set_ == no_id ? chunks(merged_) : chunks_of(set_, single);
        bound_ = detail::count_ids(all);
        if (bound_ > cap_) {
            is_large_ = true;
            least_ = detail::least_of(all.front());
            greatest_ = detail::greatest_of(all.back());
        }
    }

    id_set_pool* pool_;
    std::size_t cap_;
    id_set last_ = no_id;
    id_set set_ = no_id;                   // the one that is all of the union, if there is one
    std::vector<detail::id_chunk> merged_; // all of it otherwise
    std::vector<detail::id_chunk> next_;   // room for the next `merged_`
    std::size_t bound_ = 0;                // of `merged_`
    bool is_large_ = false;
    id least_ = no_id;
    id greatest_ = no_id;
};

} // namespace stemma

#endif // STEMMA_CORE_DETAIL_ID_SET_UNION_HPP

// <stemma/tagging/propagate_tags.hpp>
#ifndef STEMMA_TAGGING_PROPAGATE_TAGS_HPP
#define STEMMA_TAGGING_PROPAGATE_TAGS_HPP

namespace stemma {

namespace detail {

/// Unites sets of selected modules; a union of more than `cap` becomes its common ancestor.
class tag_union {
public:
    tag_union(const tree_index& modules, std::span<const id> selected, std::size_t cap,
              id_set_pool& pool)
        : modules_(modules), selected_(selected), sets_(pool, std::max<std::size_t>(cap, 1)) {}

    void clear() { sets_.clear(); }
    void add(id_set set) { sets_.add(set); }

    [[nodiscard]] id_set get() {
        return sets_.is_large() ? selected_[modules_.lca(sets_.least(), sets_.greatest())]
                                : sets_.get();
    }

private:
    const tree_index& modules_;
    std::span<const id> selected_;
    id_set_union sets_;
};

} // namespace detail

/// Sets of two or more tags beyond this many become the tag of their common ancestor.
inline constexpr std::size_t default_tag_cap = 64;

/// Finds every operator's tags: the set of selected modules that its result serves.
///
/// `tags` is by vertex index. On entry it holds the set of each operator with evidence and `no_id`
/// for the others, which get the union of their readers' sets, and `no_id` where no reader has any.
/// `selected[m]` is the nearest selected module at or above m. Sets are elements of `pool`.
/// Complexity: O((V + E) * cap).
template <operator_view Ops>
void propagate_tags(const Ops& ops, const tree_index& modules, std::span<const id> selected,
                    std::span<id_set> tags, id_set_pool& pool, std::size_t cap = default_tag_cap) {
    if (std::all_of(tags.begin(), tags.end(), [](id_set set) { return set == no_id; })) {
        return;
    }
    const auto& graph = ops.graph();
    detail::tag_union readers(modules, selected, cap, pool);
    const auto of_readers = [&](operator_t<Ops> vertex) {
        readers.clear();
        for (auto [it, last] = out_edges(vertex, graph); it != last; ++it) {
            readers.add(tags[index_of(graph, target(*it, graph))]);
        }
        return readers.get();
    };
    sweep_order(graph).backward([&](operator_t<Ops> vertex) {
        auto& set = tags[index_of(graph, vertex)];
        if (set == no_id) {
            set = of_readers(vertex);
        }
    });
}

} // namespace stemma

#endif // STEMMA_TAGGING_PROPAGATE_TAGS_HPP

// <stemma/tagging/tagger.hpp>
#ifndef STEMMA_TAGGING_TAGGER_HPP
#define STEMMA_TAGGING_TAGGER_HPP

namespace stemma {

/// Where all operators of a model come from, and their tags.
class tagging {
public:
    std::vector<attribution> attributions; ///< by vertex index; everyone has a module
    tag_table tags;                        ///< of the modules
    std::vector<id_set> tag_sets;          ///< by vertex index: selected modules, never empty
    id_set_pool pool;                      ///< the sets of two or more
    per_operator_lists<claim> conflicts;   ///< the claims about operators they disagree on
    per_operator_lists<id> callers; ///< by vertex index: modules that called one owned elsewhere
    std::size_t dropped = 0;        ///< operators with claims that were not believed
    provenance_names provenances;   ///< of the sources that were asked

    /// Returns: the selected module whose tag is the operator's primary one.
    [[nodiscard]] id selected(id v) const noexcept { return tags.selected(attributions[v].module); }
};

namespace detail {

template <class P>
inline constexpr bool is_for_tagging =
    policy_for<P, selection_category> || policy_for<P, naming_category> ||
    policy_for<P, evidence_category> || policy_for<P, resolution_category> ||
    policy_for<P, propagation_category>;

/// Says in one sentence what a policy lacks that was chosen for tagging.
template <class Ops, class Modules, class Selection, class Naming, class Evidence, class Resolution,
          class Propagation>
consteval bool are_for_this_tagging() {
    return explain_selection_policy<Selection, Modules>() &&
           explain_naming_policy<Naming, Modules>() &&
           explain_evidence_policy<Evidence, Ops, Modules>() &&
           explain_resolution_policy<Resolution>() &&
           explain_propagation_policy<Propagation, Ops>();
}

} // namespace detail

/// Says for every operator which module it comes from.
///
/// Asks the evidence, resolves its claims, propagates to operators without any, and names modules.
/// Policies that are not given are the defaults: the sources that need only names, `by_weight`,
/// `both_sides`, `not_infrastructure`, `class_paths`.
/// Requires: with several threads in the context, policies that those may ask at once.
/// Complexity: linear in operators, edges and modules, times the cap on sets of tags.
template <operator_view Ops, module_view Modules, policy... Ps>
[[nodiscard]] tagging tag_operators(evidence_context<Ops, Modules>& context,
                                    const policies<Ps...>& chosen) {
    static_assert((detail::is_for_tagging<Ps> && ...),
                  "tag_operators: tagging asks no policy of such a policy_category");
    const auto selection = chosen.template get_or<selection_category, not_infrastructure>();
    const auto naming = chosen.template get_or<naming_category, class_paths>();
    const auto evidence = chosen.template get_or<evidence_category, name_sources>();
    const auto resolution = chosen.template get_or<resolution_category, by_weight>();
    const auto propagation = chosen.template get_or<propagation_category, both_sides>();
    static_assert(detail::are_for_this_tagging<
                  Ops, Modules, std::decay_t<decltype(selection)>, std::decay_t<decltype(naming)>,
                  std::decay_t<decltype(evidence)>, std::decay_t<decltype(resolution)>,
                  std::decay_t<decltype(propagation)>>());
    tagging result;
    evidence_result found;
    std::vector<bool> has_evidence;
    const auto threads = context.threads();
    const auto attribute_all = [&] {
        found = attribute(context, evidence, resolution, threads);
        for (const auto& [v, before, readers, least] :
             overrule_shared(context.ops(), context.index(), found.of, context.independent())) {
            if (!before.conflict) {
                const std::array claims{
                    claim{before.module, before.call, before.confidence, before.source},
                    claim{readers, no_id, least, provenance::consumer}};
                found.conflicts.add(v, claims);
            }
        }
        found.conflicts.sort();
        if constexpr (parameter_readers<Ops>) {
            number_calls(context.ops(), context.index(), found.of);
        }
        has_evidence.resize(found.of.size());
        std::transform(found.of.begin(), found.of.end(), has_evidence.begin(),
                       [](const attribution& known) { return known.module != no_id; });
        propagate(context.ops(), context.index(), found.of, propagation, threads.without_one(),
                  &context.independent());
    };
    run_tasks(
        threads.parts_of_operators(num_vertices(context.ops().graph())),
        {attribute_all, [&] { result.tags = name_modules(context.modules(), selection, naming); }});
    result.provenances = context.provenances();
    result.attributions = std::move(found.of);
    result.conflicts = std::move(found.conflicts);
    result.callers = std::move(found.callers);
    result.dropped = found.dropped;
    result.tag_sets.resize(has_evidence.size(), no_id);
    for (id v = 0; v < has_evidence.size(); ++v) {
        result.tag_sets[v] = has_evidence[v] ? result.selected(v) : no_id;
    }
    std::vector<id> several;
    found.alternatives.for_each([&](id v, std::span<const id> modules) {
        several.clear();
        for (auto m : modules) {
            several.push_back(result.tags.selected(m));
        }
        std::sort(several.begin(), several.end());
        several.erase(std::unique(several.begin(), several.end()), several.end());
        if (result.tag_sets[v] != no_id && several.size() <= default_tag_cap) {
            result.tag_sets[v] = result.pool.intern(several);
        }
    });
    if (detail::propagates(propagation)) {
        std::vector<id> selected(context.index().size());
        for (id m = 0; m < selected.size(); ++m) {
            selected[m] = result.tags.selected(m);
        }
        propagate_tags(context.ops(), context.index(), selected, result.tag_sets, result.pool);
    }
    for (id v = 0; v < result.tag_sets.size(); ++v) {
        if (result.tag_sets[v] == no_id) {
            result.tag_sets[v] = result.selected(v);
        }
    }
    return result;
}

/// The same, over operators and modules as they are.
template <operator_view Ops, module_view Modules, policy... Ps>
[[nodiscard]] tagging tag_operators(const Ops& ops, const Modules& modules,
                                    const policies<Ps...>& chosen = policies<>{}) {
    evidence_context<Ops, Modules> context(ops, modules);
    return tag_operators(context, chosen);
}

/// Refuses operators that are none, with a sentence.
template <class Ops, class Modules, class... Chosen>
    requires(!operator_view<Ops>)
tagging tag_operators(const Ops&, const Modules&, const Chosen&...) {
    static_assert(explain_operator_view<Ops>());
    return {};
}

} // namespace stemma

#endif // STEMMA_TAGGING_TAGGER_HPP

// <stemma/types/value_description.hpp>
#ifndef STEMMA_TYPES_VALUE_DESCRIPTION_HPP
#define STEMMA_TYPES_VALUE_DESCRIPTION_HPP

namespace stemma {

/// What a report says of a value. Texts are "" where nothing is known.
struct value_description {
    std::string name;  ///< as the file has it
    std::string type;  ///< `float32`, `sequence(int64)`
    std::string shape; ///< `[1,seq,32]`, with `?` for an unknown extent; `[]` of a scalar

    /// Returns: type and shape as one text, `float32[1,seq,32]`.
    [[nodiscard]] std::string type_and_shape() const { return type + shape; }
};

/// Something that tells of values, by the number that edges of a graph carry.
template <class D>
concept value_describer = requires(const D& describe, id value) {
    { describe(value) } -> std::convertible_to<value_description>;
};

/// Tells nothing.
struct no_descriptions {
    /// Returns: only empty texts.
    [[nodiscard]] value_description operator()(id) const { return {}; }
};

} // namespace stemma

#endif // STEMMA_TYPES_VALUE_DESCRIPTION_HPP

// <stemma/report/dot.hpp>
#ifndef STEMMA_REPORT_DOT_HPP
#define STEMMA_REPORT_DOT_HPP

namespace stemma {

/// What a picture says besides what a graph and a tree know. Make your own of the same shape.
struct no_annotations {
    /// A line below an operator: its weights, say.
    [[nodiscard]] std::string operator_note(id) const { return {}; }
    /// A line in the box of a closed module, and in the title of an open one.
    [[nodiscard]] std::string module_note(id) const { return {}; }
    /// Calls `f(value)` for what an operator reads from outside of the graph.
    template <class Function>
    void for_each_input(id, Function) const {}
    /// Calls `f(value)` for what an operator makes that leaves the graph.
    template <class Function>
    void for_each_output(id, Function) const {}
};

namespace detail {

/// Returns: `1×seq×32` of `[1,seq,32]`; a single extent keeps its brackets.
[[nodiscard]] inline std::string shape_label(std::string_view shape) {
    if (shape.find(',') == shape.npos) {
        return shape == "[]" ? "scalar" : std::string(shape);
    }
    std::string label;
    for (char c : shape) {
        if (c == ',') {
            label.append("\xc3\x97");
        } else if (c != '[' && c != ']') {
            label.push_back(c);
        }
    }
    return label;
}

/// Returns: text for both kinds of strings of DOT, in which Graphviz reads entities.
[[nodiscard]] inline std::string dot_text(std::string_view text) {
    std::string out;
    for (auto part = text;; part.remove_prefix(part.find('\\') + 1)) {
        append_xml_text(part.substr(0, part.find('\\')), out);
        if (part.find('\\') == part.npos) {
            return out;
        }
        out.append("&#92;");
    }
}

/// Returns: a text of at most so many characters, with a mark where it was cut.
[[nodiscard]] inline std::string shortened(std::string_view text, std::size_t most) {
    std::size_t characters = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool begins = (static_cast<unsigned char>(text[i]) & 0xc0U) != 0x80U;
        if (begins && ++characters > most) {
            return std::string(text.substr(0, i)).append("\xe2\x80\xa6");
        }
    }
    return std::string(text);
}

/// Returns: a text as a label can hold it, which may neither be empty nor hold control characters.
[[nodiscard]] inline std::string label_text(std::string_view text) {
    std::string shown(text.empty() ? " " : text);
    std::replace_if(
        shown.begin(), shown.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; },
        ' ');
    return dot_text(shown);
}

/// Writes one picture.
template <text_sink Sink, named_operators Ops, module_view Modules, value_describer Describe,
          class Annotations>
class dot_picture {
public:
    dot_picture(Sink& sink, const Ops& ops, const Modules& modules, const tagging& found,
                const folded_graph& folded, const std::vector<bool>& shown,
                const Describe& describe, const Annotations& annotations)
        : sink_(sink)
        , ops_(ops)
        , modules_(modules)
        , tree_(modules.index())
        , found_(found)
        , folded_(folded)
        , shown_(shown)
        , describe_(describe)
        , annotations_(annotations)
        , boxes_in_(tree_.size())
        , nodes_in_(tree_.size())
        , vertex_(ops.graph()) {
        for (auto [it, last] = vertices(ops.graph()); it != last; ++it) {
            ++nodes_in_[found.attributions[index_of(ops.graph(), *it)].module];
        }
        for (auto m = static_cast<id>(tree_.size()); m-- > 1;) {
            nodes_in_[tree_.parent(m)] += nodes_in_[m];
        }
        for (id b = 0; b < folded.boxes.size(); ++b) {
            boxes_in_[folded.boxes[b].around].push_back(b);
        }
    }

    void write(id root) {
        text_ += "digraph model {\n"
                 "graph [rankdir=TB, ranksep=0.35, nodesep=0.25, fontname=\"Helvetica\", "
                 "fontsize=11, bgcolor=\"white\", compound=true]\n"
                 "node [shape=box, style=\"filled,rounded\", fillcolor=\"white\", "
                 "color=\"#64748b\", fontname=\"Helvetica\", fontsize=11, height=0.3, "
                 "margin=\"0.12,0.05\"]\n"
                 "edge [color=\"#64748b\", fontname=\"Helvetica\", fontsize=8, "
                 "fontcolor=\"#475569\", arrowsize=0.6]\n";
        write_clusters(root);
        write_edges();
        write_ends();
        text_ += "}\n";
        sink_.write(text_);
    }

private:
    static constexpr std::size_t longest_name = 40;

    /// Opens and closes the clusters in the order of the tree.
    void write_clusters(id root) {
        std::vector<id> open;
        const auto close_until = [&](id m) {
            for (; !open.empty() && tree_.end(open.back()) <= m; open.pop_back()) {
                text_ += "}\n";
            }
        };
        for (id m = root; m < tree_.end(root);) {
            close_until(m);
            if (!folded_.open[m]) {
                m = tree_.end(m);
                continue;
            }
            open.push_back(m);
            text_ += "subgraph cluster_" + std::to_string(m) + " {\n";
            text_ += "label=<" + title(m, m == root) +
                     ">; labeljust=l; style=\"filled,rounded\"; color=\"#94a3b8\"; fillcolor=\"" +
                     std::string(colour(m)) + "\"; tooltip=\"" + dot_text(path_of(modules_, m)) +
                     "\"\n";
            for (auto b : boxes_in_[m]) {
                write_box(b);
            }
            ++m;
        }
        close_until(tree_.end(root));
    }

    [[nodiscard]] std::string name_text(id m, bool with_path) const {
        const auto path = path_of(modules_, m);
        const std::string_view attribute = modules_.attribute(m);
        const std::string name = m == 0 ? "" : with_path ? path : std::string(attribute);
        return name.empty() ? name : label_text(shortened(name, longest_name));
    }

    [[nodiscard]] std::string title(id m, bool with_path) const {
        const auto name = name_text(m, with_path);
        std::string type(modules_.class_name(m));
        type = type.empty() ? type : label_text(shortened(type, longest_name));
        if (name.empty() && type.empty()) {
            const std::string_view attribute = modules_.attribute(m);
            type = attribute.empty() ? "model" : label_text(shortened(attribute, longest_name));
        }
        auto text = "<B>" + (name.empty() ? type : name) + "</B>";
        return name.empty() || type.empty() ? text : text + "  " + type;
    }

    [[nodiscard]] static std::string small(const std::string& text) {
        return text.empty() ? text
                            : "<BR/><FONT POINT-SIZE=\"9\" COLOR=\"#475569\">" + label_text(text) +
                                  "</FONT>";
    }

    [[nodiscard]] static std::string count_text(std::size_t n) {
        return std::to_string(n) + (n == 1 ? " node" : " nodes");
    }

    void write_box(id b) {
        const auto& box = folded_.boxes[b];
        text_ += "b" + std::to_string(b) + " [label=<";
        if (box.kind == box_kind::one_operator) {
            text_ += label_text(shortened(ops_.op_type(vertex_[box.of]), longest_name)) +
                     small(shortened(annotations_.operator_note(box.of), 60)) + ">, tooltip=\"" +
                     dot_text(ops_.name(vertex_[box.of])) + "\"]\n";
            return;
        }
        if (box.kind == box_kind::rest) {
            text_ += "<I>and " + std::to_string(box.operators) +
                     " more nodes</I>>, style=\"filled,rounded,dashed\", tooltip=\"\"]\n";
            return;
        }
        const auto note = annotations_.module_note(box.of);
        text_ += title(box.of, false) +
                 small(count_text(nodes_in_[box.of]) + (note.empty() ? "" : ", " + note)) +
                 ">, penwidth=1.6, fillcolor=\"" + std::string(colour(box.of)) + "\", tooltip=\"" +
                 dot_text(path_of(modules_, box.of)) + "\"]\n";
    }

    void write_edges() {
        for (const auto& edge : folded_.edges) {
            const value_description value = describe_(edge.value);
            const auto shape = shape_label(value.shape);
            auto label = shape.empty() ? shape : label_text(shape);
            if (edge.values > 1) {
                label +=
                    (label.empty() ? "" : " ") + std::string("+") + std::to_string(edge.values - 1);
            }
            write_edge("b" + std::to_string(edge.from), "b" + std::to_string(edge.to), label,
                       value);
        }
    }

    void write_edge(const std::string& from, const std::string& to, const std::string& label,
                    const value_description& value) {
        const auto about = dot_text(value.name + " " + value.type_and_shape());
        text_ += from + " -> " + to + " [label=<" + (label.empty() ? " " : " " + label) +
                 ">, tooltip=\"" + about + "\", labeltooltip=\"" + about + "\"]\n";
    }

    /// Draws a value at the border of what is shown, when it is met first.
    [[nodiscard]] std::string end_called(char kind, id value, const value_description& about) {
        auto name = kind + std::to_string(value);
        if (ends_.insert(name).second) {
            text_ += name + " [fillcolor=\"#e2e8f0\", penwidth=0.8, fontsize=10, label=<" +
                     label_text(shortened(about.name, longest_name)) +
                     small(about.type_and_shape()) + ">]\n";
        }
        return name;
    }

    /// Draws what comes in from outside of what is shown, and what leaves it.
    void write_ends() {
        const auto& graph = ops_.graph();
        std::set<std::pair<id, id>> entered; // box, value
        std::set<std::pair<id, id>> left;
        for (id v = 0; v < folded_.box_of.size(); ++v) {
            const auto box = folded_.box_of[v];
            if (box == no_id) {
                continue;
            }
            const auto enter = [&](id value) {
                if (entered.emplace(box, value).second) {
                    const value_description about = describe_(value);
                    write_edge(end_called('i', value, about), "b" + std::to_string(box), "", about);
                }
            };
            const auto leave = [&](id value) {
                if (left.emplace(box, value).second) {
                    const value_description about = describe_(value);
                    write_edge("b" + std::to_string(box), end_called('o', value, about), "", about);
                }
            };
            const auto is_outside = [&](const auto& u) {
                const auto i = index_of(graph, u);
                return shown_[i] && folded_.box_of[i] == no_id;
            };
            for (auto [it, last] = in_edges(vertex_[v], graph); it != last; ++it) {
                if (is_outside(source(*it, graph))) {
                    enter(value_on(graph, *it));
                }
            }
            for (auto [it, last] = out_edges(vertex_[v], graph); it != last; ++it) {
                if (is_outside(target(*it, graph))) {
                    leave(value_on(graph, *it));
                }
            }
            annotations_.for_each_input(v, enter);
            annotations_.for_each_output(v, leave);
        }
    }

    /// The same for all modules of a class.
    [[nodiscard]] std::string_view colour(id m) {
        constexpr std::array<std::string_view, 12> shades{
            "#dbeafe", "#dcfce7", "#fef3c7", "#fce7f3", "#ede9fe", "#cffafe",
            "#ffedd5", "#e0e7ff", "#d1fae5", "#fef9c3", "#fae8ff", "#f1f5f9"};
        const std::string_view type = modules_.class_name(m);
        if (type.empty()) {
            return "#f8fafc";
        }
        return shades[colours_.emplace(type, colours_.size()).first->second % shades.size()];
    }

    Sink& sink_;
    const Ops& ops_;
    const Modules& modules_;
    const tree_index& tree_;
    const tagging& found_;
    const folded_graph& folded_;
    const std::vector<bool>& shown_;
    const Describe& describe_;
    const Annotations& annotations_;
    std::vector<std::vector<id>> boxes_in_; // by module
    std::vector<std::size_t> nodes_in_;     // by module, what is not shown included
    vertices_by_index<graph_of<Ops>> vertex_;
    std::map<std::string, std::size_t, std::less<>> colours_;
    std::set<std::string> ends_;
    std::string text_;
};

} // namespace detail

/// Draws a module, or the whole, in the language of Graphviz: a cluster for every open module, a
/// box for every closed one, coloured by class; labels on edges are shapes.
///
/// `options` say what is open and how large the picture may be, `describe` tells of values,
/// `annotations` are as `no_annotations`. Complexity: O(V + E log E + modules).
template <text_sink Sink, named_operators Ops, module_view Modules,
          value_describer Describe = no_descriptions, class Annotations = no_annotations,
          visibility_policy<Ops> Visibility = hide_constants>
void write_dot(Sink& sink, const Ops& ops, const Modules& modules, const tagging& found,
               const fold_options& options = {}, const Describe& describe = {},
               const Annotations& annotations = {}, const Visibility& visibility = {}) {
    const auto& graph = ops.graph();
    std::vector<bool> shown(num_vertices(graph));
    for (auto [it, last] = vertices(graph); it != last; ++it) {
        shown[index_of(graph, *it)] = visibility.shows(ops, *it);
    }
    std::vector<id> module;
    for (const auto& made : found.attributions) {
        module.push_back(made.module);
    }
    const auto folded = fold_graph(graph, modules.index(), module, shown, options);
    detail::dot_picture(sink, ops, modules, found, folded, shown, describe, annotations)
        .write(options.root);
}

} // namespace stemma

#endif // STEMMA_REPORT_DOT_HPP

// <stemma/report/graphml.hpp>
#ifndef STEMMA_REPORT_GRAPHML_HPP
#define STEMMA_REPORT_GRAPHML_HPP

namespace stemma {

namespace detail {

/// Writes the lines of a GraphML file.
template <text_sink Sink>
class graphml_lines {
public:
    explicit graphml_lines(Sink& sink) : sink_(sink) {}

    void line(std::string_view text) {
        buffer_.append(text).push_back('\n');
        if (buffer_.size() >= full) {
            flush();
        }
    }

    /// A `<data>` element, unless the value is unknown.
    void data(std::string_view key, std::string_view value) {
        if (!value.empty()) {
            buffer_.append("<data key=\"").append(key).append("\">");
            append_xml_text(value, buffer_);
            line("</data>");
        }
    }

    void flush() {
        sink_.write(buffer_);
        buffer_.clear();
    }

private:
    static constexpr std::size_t full = 1U << 16U;

    Sink& sink_;
    std::string buffer_;
};

inline constexpr std::string_view graphml_head =
    R"(<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="kind" for="all" attr.name="kind" attr.type="string"/>
<key id="name" for="all" attr.name="name" attr.type="string"/>
<key id="path" for="all" attr.name="path" attr.type="string"/>
<key id="tag" for="all" attr.name="tag" attr.type="string"/>
<key id="class" for="all" attr.name="class" attr.type="string"/>
<key id="op_type" for="node" attr.name="op_type" attr.type="string"/>
<key id="provenance" for="node" attr.name="provenance" attr.type="string"/>
<key id="confidence" for="node" attr.name="confidence" attr.type="double"/>
<key id="tensor" for="edge" attr.name="tensor" attr.type="string"/>
<key id="type" for="edge" attr.name="type" attr.type="string"/>
<key id="shape" for="edge" attr.name="shape" attr.type="string"/>)";

} // namespace detail

enum class graphml_form : std::uint8_t {
    nested, ///< one graph for each module, in the one of the module above
    flat,   ///< one graph, where modules appear as the path and tag of their operators
};

/// Writes a graph with its modules as GraphML; all edges stand in the outermost graph.
///
/// Nodes are `m<rank>` for modules, marked as groups in the way of yEd, which NetworkX reads too,
/// and `n<index>` for operators. `describe` tells of the values on the edges. (Boost.Graph's own
/// writer takes the same graphs, but knows no graphs within graphs and lets control characters
/// through.)
/// Complexity: O(V + E + modules + length of the result); memory O(V).
template <text_sink Sink, named_operators Ops, module_view Modules,
          value_describer Describe = no_descriptions, visibility_policy<Ops> Visibility = show_all>
void write_graphml(Sink& sink, const Ops& ops, const Modules& modules, const tagging& found,
                   graphml_form form = graphml_form::nested, const Describe& describe = {},
                   const Visibility& visibility = {}) {
    const auto& graph = ops.graph();
    const tree_index& tree = modules.index();
    const vertices_by_index vertex(graph);
    std::vector<bool> shown(num_vertices(graph));
    for (auto [it, last] = vertices(graph); it != last; ++it) {
        shown[index_of(graph, *it)] = visibility.shows(ops, *it);
    }
    const module_members members(tree, found.attributions);
    detail::graphml_lines out(sink);
    const auto number = [](char kind, std::size_t n) { return kind + std::to_string(n); };
    const auto write_module = [&](id m) {
        out.data("kind", "module");
        out.data("name", modules.attribute(m));
        out.data("path", path_of(modules, m));
        out.data("tag", found.tags.is_selected(m) ? found.tags.text(m) : std::string());
        out.data("class", modules.class_name(m));
    };
    const auto write_operators = [&](id m) {
        for (auto v : members.direct(m)) {
            if (!shown[v]) {
                continue;
            }
            const auto& made = found.attributions[v];
            out.line("<node id=\"" + number('n', v) + "\">");
            out.data("kind", "operator");
            out.data("name", ops.name(vertex[v]));
            out.data("op_type", ops.op_type(vertex[v]));
            out.data("path", path_of(modules, m));
            out.data("tag", found.tags.text(m));
            out.data("class", modules.class_name(m));
            out.data("provenance", found.provenances[made.source]);
            out.data("confidence", std::to_string(made.confidence));
            out.line("</node>");
        }
    };
    out.line(detail::graphml_head);
    out.line("<graph id=\"m0\" edgedefault=\"directed\">");
    write_module(0);
    write_operators(0);
    std::vector<id> open; // modules around the current one, without the root
    const auto close_until = [&](id m) {
        for (; !open.empty() && tree.end(open.back()) <= m; open.pop_back()) {
            out.line("</graph>\n</node>");
        }
    };
    for (id m = 1; m < tree.size(); ++m) {
        if (form == graphml_form::flat) {
            write_operators(m);
            continue;
        }
        close_until(m);
        open.push_back(m);
        out.line("<node id=\"" + number('m', m) + "\" yfiles.foldertype=\"group\">");
        write_module(m);
        out.line("<graph id=\"" + number('m', m) + ":\" edgedefault=\"directed\">");
        write_operators(m);
    }
    close_until(static_cast<id>(tree.size()));
    std::size_t edges = 0;
    for (id v = 0; v < shown.size(); ++v) {
        for (auto [it, last] = in_edges(vertex[v], graph); shown[v] && it != last; ++it) {
            const auto from = index_of(graph, source(*it, graph));
            if (!shown[from]) {
                continue;
            }
            out.line("<edge id=\"" + number('e', edges++) + "\" source=\"" + number('n', from) +
                     "\" target=\"" + number('n', v) + "\">");
            if constexpr (carries_values<graph_of<Ops>>) {
                const value_description value = describe(value_on(graph, *it));
                out.data("tensor", value.name);
                out.data("type", value.type);
                out.data("shape", value.shape);
            }
            out.line("</edge>");
        }
    }
    out.line("</graph>\n</graphml>");
    out.flush();
}

} // namespace stemma

#endif // STEMMA_REPORT_GRAPHML_HPP

// <stemma/report/module_dag.hpp>
#ifndef STEMMA_REPORT_MODULE_DAG_HPP
#define STEMMA_REPORT_MODULE_DAG_HPP

namespace stemma {

/// Which operators a module's DAG holds.
enum class dag_level : std::uint8_t {
    subtree, ///< of the module and of all below it
    direct,  ///< of the module itself
};

/// Operators of one module, by vertex index, and the dependences between them.
struct module_dag {
    std::vector<id> operators;            ///< ascending
    std::vector<std::pair<id, id>> edges; ///< producer and reader, ascending, each pair once
};

/// The DAGs of all modules of a tree, made one at a time.
template <operator_graph_like Graph>
class module_dags {
public:
    /// `modules_of(index, take)` calls `take(module)` for every module under which a vertex stands,
    /// and is asked twice; one that stands under none is in no DAG.
    /// Requires: graph and tree outlive this. Complexity: O(V + modules + calls of `take`).
    template <class ModulesOf>
    module_dags(const Graph& graph, const tree_index& modules, ModulesOf modules_of)
        : graph_(graph)
        , modules_(modules)
        , vertex_(graph)
        , rounds_(num_vertices(graph), 0)
        , members_(modules.size(), [&](auto take) {
            for (id v = 0; v < rounds_.size(); ++v) {
                modules_of(v, [&](id m) { take(m, v); });
            }
        }) {}

    /// Returns: the DAG of a module, valid until the next call.
    /// Complexity: O(n log n) of its operators, and the edges at them.
    [[nodiscard]] const module_dag& of(id m, dag_level level = dag_level::subtree) {
        const auto end = level == dag_level::subtree ? modules_.end(m) : m + 1;
        auto& operators = dag_.operators;
        const auto members = members_.range(m, end);
        operators.assign(members.begin(), members.end());
        sort_each_once(operators, 0);
        ++round_;
        for (auto v : operators) {
            rounds_[v] = round_;
        }
        auto& edges = dag_.edges;
        edges.clear();
        for (auto v : operators) {
            const auto first = edges.size();
            for (auto [it, last] = out_edges(vertex_[v], graph_); it != last; ++it) {
                const auto reader = static_cast<id>(index_of(graph_, target(*it, graph_)));
                if (rounds_[reader] == round_) {
                    edges.emplace_back(v, reader);
                }
            }
            sort_each_once(edges, first);
        }
        return dag_;
    }

private:
    /// Sorts what stands from `first` on, and leaves each once. Files have their operators, and
    /// graphs their readers, mostly so.
    template <class T>
    static void sort_each_once(std::vector<T>& items, std::size_t first) {
        const auto begin = items.begin() + static_cast<std::ptrdiff_t>(first);
        if (std::adjacent_find(begin, items.end(), std::greater_equal<>()) != items.end()) {
            std::sort(begin, items.end());
            items.erase(std::unique(begin, items.end()), items.end());
        }
    }

    const Graph& graph_;
    const tree_index& modules_;
    vertices_by_index<Graph> vertex_;
    std::vector<id> rounds_; // by index, the last one in which it was in the DAG
    grouped_ids members_;    // vertex indices, by module
    id round_ = 0;
    module_dag dag_;
};

} // namespace stemma

#endif // STEMMA_REPORT_MODULE_DAG_HPP

// <stemma/report/module_dag_json.hpp>
#ifndef STEMMA_REPORT_MODULE_DAG_JSON_HPP
#define STEMMA_REPORT_MODULE_DAG_JSON_HPP

namespace stemma {

/// What of a graph of modules is written.
struct dag_options {
    dag_level level = dag_level::subtree; ///< which operators the DAG of a module holds
    bool multi = false; ///< an operator stands under all its tags rather than under the primary one
};

/// Writes the DAG of every selected module, by tag (docs/dag.schema.json).
///
/// `name_of(index)` gives the text that stands for an operator; distinct ones for distinct
/// operators. `shown` says which operators there are to see.
/// Complexity: O(V + E + modules), and for every module its operators and the edges at them; memory
/// for the largest module, not for the document.
template <text_sink Sink, operator_view Ops, class NameOf,
          visibility_policy<Ops> Visibility = hide_constants>
void write_module_dags(Sink& sink, const Ops& ops, const tree_index& modules, const tagging& found,
                       NameOf name_of, const dag_options& options = {},
                       const Visibility& visibility = {}) {
    const auto& graph = ops.graph();
    std::vector<bool> shown(num_vertices(graph));
    for (auto [it, last] = vertices(graph); it != last; ++it) {
        shown[index_of(graph, *it)] = visibility.shows(ops, *it);
    }
    module_dags dags(graph, modules, [&](id v, auto take) {
        if (shown[v] && options.multi) {
            found.pool.for_each(found.tag_sets[v], take);
        } else if (shown[v]) {
            take(found.selected(v));
        }
    });
    json_writer json(sink);
    json.begin_object();
    for (id m = 0; m < modules.size(); ++m) {
        if (!found.tags.is_selected(m)) {
            continue;
        }
        const auto& dag = dags.of(m, options.level);
        json.key(found.tags.text(m));
        json.begin_object();
        json.key("nodes");
        json.begin_array(true);
        for (auto v : dag.operators) {
            json.value(name_of(v));
        }
        json.end_array();
        json.key("edges");
        json.begin_array(true);
        for (const auto& [producer, reader] : dag.edges) {
            json.begin_array(true);
            json.value(name_of(producer));
            json.value(name_of(reader));
            json.end_array();
        }
        json.end_array();
        json.end_object();
    }
    json.end_object();
    json.finish();
}

} // namespace stemma

#endif // STEMMA_REPORT_MODULE_DAG_JSON_HPP

// <stemma/tagging/diagnostics.hpp>
#ifndef STEMMA_TAGGING_DIAGNOSTICS_HPP
#define STEMMA_TAGGING_DIAGNOSTICS_HPP

namespace stemma {

namespace detail {

template <class P>
concept has_judge = requires(const P& p, const finding& found) {
    { p.judge(found) } -> std::convertible_to<std::optional<severity>>;
};

} // namespace detail

/// Says which findings about a model are told, and how much they matter.
///
/// `judge(found)` returns how much; nothing when nobody is to hear of it.
///
/// Requires: the same answer for equal findings.
/// Complexity: callers ask once per finding.
template <class P>
concept diagnostics_policy = policy_for<P, diagnostics_category> && detail::has_judge<P>;

/// All findings, as whoever found them says.
struct as_found {
    using policy_category = diagnostics_category;
    static constexpr std::string_view name = "default";

    [[nodiscard]] std::optional<severity> judge(const finding& found) const { return found.level; }
};

/// What is probably not as it was meant is wrong: for models that are about to be released.
struct warnings_as_errors {
    using policy_category = diagnostics_category;
    static constexpr std::string_view name = "strict";

    [[nodiscard]] std::optional<severity> judge(const finding& found) const {
        return found.level == severity::warning ? severity::error : found.level;
    }
};

/// Rules that are broken, and nothing else: for models that somebody else made.
struct errors_only {
    using policy_category = diagnostics_category;
    static constexpr std::string_view name = "errors";

    [[nodiscard]] std::optional<severity> judge(const finding& found) const {
        return found.level == severity::error ? std::optional(severity::error) : std::nullopt;
    }
};

/// All but findings of some codes, by glob: `onnx.checker`, `tags.*`.
struct without_findings {
    using policy_category = diagnostics_category;

    std::vector<std::string> codes{}; ///< globs of `finding::code`

    /// Returns: `without:GLOB,...`. Complexity: O(length).
    [[nodiscard]] std::string name() const { return "without:" + detail::join_list(codes); }

    [[nodiscard]] std::optional<severity> judge(const finding& found) const {
        const bool unwanted = std::any_of(codes.begin(), codes.end(), [&](const auto& pattern) {
            return glob_match(pattern, found.code);
        });
        return unwanted ? std::nullopt : std::optional(found.level);
    }
};

/// Returns: what passes a finding on to `report(finding)` as the policy judges it, to be given to
/// what looks for findings.
template <diagnostics_policy P, class Report>
[[nodiscard]] auto judged(P policy, Report report) {
    return [policy = std::move(policy), report = std::move(report)](finding found) mutable {
        if (const std::optional<severity> level = policy.judge(found)) {
            found.level = *level;
            report(std::move(found));
        }
    };
}

/// Put `static_assert(explain_diagnostics_policy<mine>());` beside a policy that is refused.
template <class P>
consteval bool explain_diagnostics_policy() {
    static_assert(std::copy_constructible<P>, "diagnostics policy: make the class copyable");
    static_assert(policy_for<P, diagnostics_category>,
                  "diagnostics policy: add `using policy_category = "
                  "stemma::diagnostics_category;`");
    static_assert(detail::has_judge<P>,
                  "diagnostics policy: add `std::optional<stemma::severity> judge(const "
                  "stemma::finding&) const`");
    return diagnostics_policy<P>;
}

} // namespace stemma

#endif // STEMMA_TAGGING_DIAGNOSTICS_HPP

// <stemma/tagging/any_policy.hpp>
#ifndef STEMMA_TAGGING_ANY_POLICY_HPP
#define STEMMA_TAGGING_ANY_POLICY_HPP

// One type for all policies of a role, over one kind of graph and tree: what a program holds that
// lets its users choose. A question costs an indirect call; what the policy does to answer it is
// compiled as one. One that holds nothing acts as the default of its role.
namespace stemma {

namespace detail {

template <class P, class Any, class Modules>
concept held_selection = other_than<P, Any> && selection_policy<P, Modules>;
template <class P, class Any, class Modules>
concept held_naming = other_than<P, Any> && naming_policy<P, Modules>;
template <class P, class Any, class Ops, class Modules>
concept held_evidence = other_than<P, Any> && evidence_policy<P, Ops, Modules>;
template <class P, class Any>
concept held_resolution = other_than<P, Any> && resolution_policy<P>;
template <class P, class Any, class Ops>
concept held_propagation = other_than<P, Any> && propagation_policy<P, Ops>;
template <class P, class Any>
concept held_diagnostics = other_than<P, Any> && diagnostics_policy<P>;

/// A policy whose `min_confidence` can be set.
template <class P>
concept has_min_confidence = requires(P& policy) {
    { policy.min_confidence } -> std::same_as<float&>;
};

} // namespace detail

/// Any selection policy for `Modules`.
template <module_view Modules>
class any_selection : public detail::held_name {
public:
    using policy_category = selection_category;

    /// Acts as `not_infrastructure`.
    any_selection() = default;

    /// Holds a copy of `chosen`.
    template <detail::held_selection<any_selection, Modules> P>
    any_selection(P chosen) // NOLINT(google-explicit-constructor): it stands for the policy
        : held_name(detail::name_of_policy(chosen))
        , selects_([chosen = std::move(chosen)](const Modules& modules, id m) -> bool {
            return chosen.selects(modules, m);
        }) {}

    /// Selects the modules for which `selects(modules, m)` holds.
    template <detail::held_function<any_selection, bool, const Modules&, id> F>
    any_selection(F selects) // NOLINT(google-explicit-constructor): as above
        : held_name(""), selects_(std::move(selects)) {}

    [[nodiscard]] bool selects(const Modules& modules, id m) const {
        if (!selects_) {
            static const not_infrastructure standard;
            return standard.selects(modules, m);
        }
        return selects_(modules, m);
    }

private:
    std::function<bool(const Modules&, id)> selects_;
};

/// Any naming policy for `Modules`.
template <module_view Modules>
class any_naming : public detail::held_name {
public:
    using policy_category = naming_category;

    /// Acts as `class_paths`.
    any_naming() = default;

    /// Holds a copy of `chosen`.
    template <detail::held_naming<any_naming, Modules> P>
    any_naming(P chosen) // NOLINT(google-explicit-constructor): it stands for the policy
        : held_name(detail::name_of_policy(chosen))
        , name_([chosen = std::move(chosen)](const Modules& modules, tag_table& tags) {
            chosen.name_modules(modules, tags);
        }) {}

    /// Names modules by `name_modules(modules, tags)`.
    template <detail::held_function<any_naming, void, const Modules&, tag_table&> F>
    any_naming(F name_modules) // NOLINT(google-explicit-constructor): as above
        : held_name(""), name_(std::move(name_modules)) {}

    void name_modules(const Modules& modules, tag_table& tags) const {
        name_ ? name_(modules, tags) : class_paths{}.name_modules(modules, tags);
    }

private:
    std::function<void(const Modules&, tag_table&)> name_;
};

/// Any source of evidence about `Ops` and `Modules`. What has no name of its own says in each claim
/// which provenance it is.
template <operator_view Ops, module_view Modules>
class any_evidence : public detail::held_name {
    using take = std::function<void(const claim&)>;
    using tell = std::function<void(operator_t<Ops>, const take&)>;

public:
    using policy_category = evidence_category;

    /// Holds a copy of `source`, which prepares itself anew for every context.
    template <detail::held_evidence<any_evidence, Ops, Modules> P>
    any_evidence(P source) // NOLINT(google-explicit-constructor): it stands for the policy
        : held_name(detail::name_of_policy(source))
        , prepare_([source = std::move(source)](evidence_context<Ops, Modules>& context) {
            return tell([made = source.prepare(context)](operator_t<Ops> v, const take& f) {
                made.for_each_claim(v, f);
            });
        }) {}

    class claims {
    public:
        template <class Function>
        void for_each_claim(operator_t<Ops> v, Function f) const {
            tell_(v, take(std::ref(f)));
        }

    private:
        friend class any_evidence;

        explicit claims(tell made) : tell_(std::move(made)) {}

        tell tell_;
    };

    [[nodiscard]] claims prepare(evidence_context<Ops, Modules>& context) const {
        return claims(prepare_(context));
    }

private:
    std::function<tell(evidence_context<Ops, Modules>&)> prepare_;
};

/// Any resolution policy.
class any_resolution : public detail::held_name {
public:
    using policy_category = resolution_category;

    /// Acts as `by_weight`.
    any_resolution() = default;

    /// Holds a copy of `chosen`.
    template <detail::held_resolution<any_resolution> P>
    any_resolution(P chosen) // NOLINT(google-explicit-constructor): it stands for the policy
        : held_name(detail::name_of_policy(chosen)) {
        if constexpr (detail::has_min_confidence<P>) {
            min_confidence_ = chosen.min_confidence;
            resolve_ = [chosen = std::move(chosen)](const tree_index& modules,
                                                    std::span<const claim> claims,
                                                    float min_confidence) -> attribution {
                if (chosen.min_confidence == min_confidence) {
                    return chosen.resolve(modules, claims);
                }
                auto policy = chosen;
                policy.min_confidence = min_confidence;
                return policy.resolve(modules, claims);
            };
        } else {
            resolve_ = among_sure([chosen = std::move(chosen)](const tree_index& modules,
                                                               std::span<const claim> claims) {
                return chosen.resolve(modules, claims);
            });
        }
    }

    /// Resolves by `resolve(modules, claims)`.
    template <detail::held_function<any_resolution, attribution, const tree_index&,
                                    std::span<const claim>>
                  F>
    any_resolution(F resolve) // NOLINT(google-explicit-constructor): as above
        : held_name(""), resolve_(among_sure(std::move(resolve))) {}

    /// Believes no claim below `least` from now on.
    void set_min_confidence(float least) noexcept { min_confidence_ = least; }

    /// Claims below it are not believed.
    [[nodiscard]] float min_confidence() const noexcept { return min_confidence_; }

    [[nodiscard]] attribution resolve(const tree_index& modules,
                                      std::span<const claim> claims) const {
        return resolve_ ? resolve_(modules, claims, min_confidence_)
                        : by_weight{min_confidence_}.resolve(modules, claims);
    }

private:
    using resolver = std::function<attribution(const tree_index&, std::span<const claim>, float)>;

    /// Of a policy that knows no least confidence: it is not told of claims below it.
    template <class F>
    [[nodiscard]] static resolver among_sure(F resolve) {
        return [resolve = std::move(resolve)](const tree_index& modules,
                                              std::span<const claim> claims,
                                              float min_confidence) -> attribution {
            const auto is_sure = [&](const claim& c) { return c.confidence >= min_confidence; };
            if (std::all_of(claims.begin(), claims.end(), is_sure)) {
                return resolve(modules, claims);
            }
            std::vector<claim> sure;
            std::copy_if(claims.begin(), claims.end(), std::back_inserter(sure), is_sure);
            return sure.empty() ? attribution{} : resolve(modules, std::span<const claim>(sure));
        };
    }

    float min_confidence_ = 0;
    resolver resolve_;
};

/// Any propagation policy for `Ops`.
template <operator_view Ops>
class any_propagation : public detail::held_name {
public:
    using policy_category = propagation_category;

    /// Acts as `both_sides`.
    any_propagation() = default;

    /// Holds a copy of `chosen`; whether it spreads anything is asked here, once.
    template <detail::held_propagation<any_propagation, Ops> P>
    any_propagation(P chosen) // NOLINT(google-explicit-constructor): it stands for the policy
        : held_name(detail::name_of_policy(chosen))
        , propagates_(detail::propagates(chosen))
        , propagate_([chosen = std::move(chosen)](const propagation_problem<Ops>& problem,
                                                  std::span<attribution> result) {
            chosen.propagate(problem, result);
        }) {}

    void propagate(const propagation_problem<Ops>& problem, std::span<attribution> result) const {
        propagate_ ? propagate_(problem, result) : both_sides{}.propagate(problem, result);
    }

    [[nodiscard]] bool propagates() const noexcept { return propagates_; }

private:
    bool propagates_ = true;
    std::function<void(const propagation_problem<Ops>&, std::span<attribution>)> propagate_;
};

/// Any diagnostics policy.
class any_diagnostics : public detail::held_name {
public:
    using policy_category = diagnostics_category;

    /// Acts as `as_found`.
    any_diagnostics() = default;

    /// Holds a copy of `chosen`.
    template <detail::held_diagnostics<any_diagnostics> P>
    any_diagnostics(P chosen) // NOLINT(google-explicit-constructor): it stands for the policy
        : held_name(detail::name_of_policy(chosen))
        , judge_([chosen = std::move(chosen)](const finding& found) -> std::optional<severity> {
            return chosen.judge(found);
        }) {}

    /// Findings are judged by `judge(found)`.
    template <detail::held_function<any_diagnostics, std::optional<severity>, const finding&> F>
    any_diagnostics(F judge) // NOLINT(google-explicit-constructor): as above
        : held_name(""), judge_(std::move(judge)) {}

    [[nodiscard]] std::optional<severity> judge(const finding& found) const {
        return judge_ ? judge_(found) : as_found{}.judge(found);
    }

private:
    std::function<std::optional<severity>(const finding&)> judge_;
};

} // namespace stemma

#endif // STEMMA_TAGGING_ANY_POLICY_HPP

// <stemma/tagging/inherit.hpp>
#ifndef STEMMA_TAGGING_INHERIT_HPP
#define STEMMA_TAGGING_INHERIT_HPP

namespace stemma {

/// What is known of an operator that a rewriter puts in the place of others: fused, split or
/// copied.
///
/// Those with evidence count, and what they have in common is the module; the least trusted of
/// their sources and the least confidence speak for it, and modules that differ make a conflict
/// unless one lies above the other. Returns: no module where none of the old ones has evidence;
/// `repropagate` finds one then. Requires: `old` are indices of `before`. Complexity: O(old).
[[nodiscard]] inline attribution
inherit(const tree_index& modules, std::span<const attribution> before, std::span<const id> old) {
    const auto counts = [&](id v) {
        return before[v].module != no_id && is_evidence(before[v].source);
    };
    attribution result;
    id deepest = 0;
    for (auto v : old) {
        const auto& one = before[v];
        if (!counts(v)) {
            continue;
        }
        deepest = modules.depth(one.module) > modules.depth(deepest) ? one.module : deepest;
        if (result.module == no_id) {
            result = one;
            continue;
        }
        result.conflict = result.conflict || one.conflict;
        result.call = result.module == one.module && result.call == one.call ? one.call : no_id;
        result.module = modules.lca(result.module, one.module);
        result.source = std::max(result.source, one.source);
        result.confidence = std::min(result.confidence, one.confidence);
    }
    for (auto v : old) {
        result.conflict =
            result.conflict || (counts(v) && !modules.is_ancestor(before[v].module, deepest));
    }
    return result;
}

/// The same, as in `inherit(modules, before, {3, 4})`.
[[nodiscard]] inline attribution inherit(const tree_index& modules,
                                         std::span<const attribution> before,
                                         std::initializer_list<id> old) {
    return inherit(modules, before, std::span(old.begin(), old.size()));
}

/// Returns: the tags of all the old operators together. Complexity: O(tags log tags).
[[nodiscard]] inline id_set inherit_tags(id_set_pool& pool, std::span<const id_set> before,
                                         std::span<const id> old) {
    std::vector<id> all;
    for (auto v : old) {
        pool.for_each(before[v], [&](id tag) { all.push_back(tag); });
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return pool.intern(all);
}

} // namespace stemma

#endif // STEMMA_TAGGING_INHERIT_HPP

// <stemma/tagging/policy_registry.hpp>
#ifndef STEMMA_TAGGING_POLICY_REGISTRY_HPP
#define STEMMA_TAGGING_POLICY_REGISTRY_HPP

namespace stemma {

/// Policies of one role, by name: `all`, or with an argument, `depth:2`.
template <class Any>
class policies_by_name {
public:
    /// Adds a policy under a name.
    /// Requires: a name that is not there yet, without `:` and `,`.
    template <std::convertible_to<Any> P>
    void add(std::string name, P policy) {
        enter({std::move(name), "",
               [any = Any(std::move(policy))](std::string_view) { return std::optional(any); }});
    }

    /// Adds a policy under the name that it has itself.
    /// Requires: as above.
    template <detail::named_policy P>
        requires std::convertible_to<P, Any>
    void add(P policy) { add(detail::name_of_policy(policy), std::move(policy)); }

    /// Adds policies that take an argument: `make(text)` returns one, or nothing for a text that it
    /// does not understand. `argument` says in help what the text is: `N`.
    /// Requires: as above.
    template <class Make>
        requires std::invocable<const Make&, std::string_view>
    void add(std::string name, std::string argument, Make make) {
        enter(
            {std::move(name), std::move(argument), [make = std::move(make)](std::string_view text) {
                 auto made = make(text);
                 return made ? std::optional<Any>(Any(*std::move(made))) : std::nullopt;
             }});
    }

    /// Returns: the policy that `name` or `name:argument` asks for, if there is one; records call
    /// it so. For no text, what acts as the default, which they pass over.
    /// Complexity: linear in the names.
    [[nodiscard]] std::optional<Any> find(std::string_view text) const {
        const auto colon = text.find(':');
        const auto found = find_entry(text.empty() ? "default" : text.substr(0, colon));
        const bool has_argument = colon != text.npos;
        if (found == entries_.end() || has_argument == found->argument.empty()) {
            return std::nullopt;
        }
        auto made = found->make(has_argument ? text.substr(colon + 1) : std::string_view{});
        if constexpr (std::default_initializable<Any>) {
            if (text.empty()) {
                return Any();
            }
            if (made) {
                made->set_name(std::string(text));
            }
        }
        return made;
    }

    /// Returns: the same. Throws: `error` (`refused`) where there is none, which says what there
    /// is; `role` is named in it.
    [[nodiscard]] Any get(std::string_view role, std::string_view text) const {
        auto found = find(text);
        if (!found) {
            STEMMA_THROW(
                error(error_code::refused, "", "", unknown_name_text(role, text, names())));
        }
        return *std::move(found);
    }

    /// Returns: what can be asked for, in the order in which it was added: `all, depth:N`.
    /// Complexity: O(names).
    [[nodiscard]] std::string names() const {
        std::string text;
        for (const auto& one : entries_) {
            text.append(text.empty() ? "" : ", ").append(one.name);
            text.append(one.argument.empty() ? "" : ":").append(one.argument);
        }
        return text;
    }

    /// Calls `f(name, policy)` for all that need no argument, in the order in which they were
    /// added.
    /// Complexity: O(names).
    template <class Function>
    void for_each(Function f) const {
        for (const auto& one : entries_) {
            if (one.argument.empty()) {
                f(one.name, *one.make({}));
            }
        }
    }

private:
    struct entry {
        std::string name;
        std::string argument;
        std::function<std::optional<Any>(std::string_view)> make;
    };

    [[nodiscard]] auto find_entry(std::string_view name) const {
        return std::find_if(entries_.begin(), entries_.end(),
                            [&](const entry& one) { return one.name == name; });
    }

    void enter(entry added) {
        STEMMA_ASSERT(added.name.find_first_of(":,") == std::string::npos,
                      "names of policies hold neither `:` nor `,`");
        STEMMA_ASSERT(find_entry(added.name) == entries_.end(),
                      "names of policies of one role differ");
        entries_.push_back(std::move(added));
    }

    std::vector<entry> entries_;
};

namespace detail {

/// Returns: a policy made of a list of texts, nothing of an empty one.
template <class P>
[[nodiscard]] std::optional<P> policy_of_list(std::string_view text) {
    auto parts = split_list(text);
    return parts.empty() ? std::nullopt : std::optional<P>(P{std::move(parts)});
}

[[nodiscard]] inline std::optional<down_to_depth> depth_of_text(std::string_view text) {
    down_to_depth policy;
    const auto end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, policy.depth);
    return !text.empty() && read.ec == std::errc{} && read.ptr == end ? std::optional(policy)
                                                                      : std::nullopt;
}

template <class Any, class... Ps>
[[nodiscard]] policies_by_name<Any> policies_by_their_names(Ps... policies) {
    policies_by_name<Any> known;
    (known.add(std::move(policies)), ...);
    return known;
}

/// Returns: the selection policies of the library: `default`, `all`, `package:a,b`,
/// `class:Glob,...`, `depth:N`.
template <module_view Modules>
[[nodiscard]] policies_by_name<any_selection<Modules>> selections_by_name() {
    auto known = policies_by_their_names<any_selection<Modules>>();
    known.add("default", not_infrastructure{});
    known.add(all_modules{});
    known.add("package", "P", policy_of_list<in_packages>);
    known.add("class", "GLOB", policy_of_list<of_classes>);
    known.add("depth", "N", depth_of_text);
    return known;
}

/// Returns: the naming policies of the library: `default` (`class_paths`), `attribute-paths`,
/// `attributes-and-classes`.
template <module_view Modules>
[[nodiscard]] policies_by_name<any_naming<Modules>> namings_by_name() {
    return policies_by_their_names<any_naming<Modules>>(class_paths{}, attribute_paths{},
                                                        attributes_and_classes{});
}

/// Returns: the resolution policies of the library: `default` (`by_weight`), `trust`, `cautious`,
/// `confidence`.
[[nodiscard]] inline policies_by_name<any_resolution> resolutions_by_name() {
    return policies_by_their_names<any_resolution>(by_weight{}, by_trust{}, cautious{},
                                                   by_confidence{});
}

/// Returns: the propagation policies of the library: `default` (`both_sides`), `residual`,
/// `consumers`, `producers`, `nearest`, `off`.
template <operator_view Ops>
[[nodiscard]] policies_by_name<any_propagation<Ops>> propagations_by_name() {
    return policies_by_their_names<any_propagation<Ops>>(both_sides{}, residual_aware{},
                                                         consumers_only{}, producers_only{},
                                                         nearest_evidence{}, no_propagation{});
}

/// Returns: the costs of the library: `bytes`, `parameters`, `operators`.
[[nodiscard]] inline policies_by_name<any_cost> costs_by_name() {
    return policies_by_their_names<any_cost>(cost_in_bytes{}, cost_in_parameters{},
                                             cost_in_operators{});
}

/// Returns: the diagnostics policies of the library: `default` (`as_found`), `strict`, `errors`,
/// `without:GLOB,...`.
[[nodiscard]] inline policies_by_name<any_diagnostics> diagnostics_by_name() {
    auto known =
        policies_by_their_names<any_diagnostics>(as_found{}, warnings_as_errors{}, errors_only{});
    known.add("without", "GLOB,...", policy_of_list<without_findings>);
    return known;
}

} // namespace detail

/// The policies that users of a program can choose by name, over one kind of graph and tree: those
/// of the library, to which the program that owns it adds its own. Sources of evidence are asked
/// beside those of the library.
template <operator_view Ops, module_view Modules>
struct policy_registry {
    /// Which modules get tags.
    policies_by_name<any_selection<Modules>> selections = detail::selections_by_name<Modules>();
    /// What tags look like.
    policies_by_name<any_naming<Modules>> namings = detail::namings_by_name<Modules>();
    policies_by_name<any_evidence<Ops, Modules>> sources{}; ///< none to begin with
    /// Which claim is believed.
    policies_by_name<any_resolution> resolutions = detail::resolutions_by_name();
    /// Where operators without evidence belong.
    policies_by_name<any_propagation<Ops>> propagations = detail::propagations_by_name<Ops>();
    /// What a part weighs that is split off.
    policies_by_name<any_cost> costs = detail::costs_by_name();
    /// Which findings are told.
    policies_by_name<any_diagnostics> diagnostics = detail::diagnostics_by_name();
};

} // namespace stemma

#endif // STEMMA_TAGGING_POLICY_REGISTRY_HPP

// <stemma/tagging/repropagate.hpp>
#ifndef STEMMA_TAGGING_REPROPAGATE_HPP
#define STEMMA_TAGGING_REPROPAGATE_HPP

namespace stemma {

/// Finds modules anew after a graph was changed: for operators without one, and for those whose
/// module was inferred and not known, as their neighbours may be others now.
///
/// `result` is by vertex index of the changed graph. What it says afterwards is what `propagate`
/// says when it begins with the evidence alone.
/// Returns: the vertex indices that have another module than before, ascending.
/// Complexity: that of `propagate`.
template <operator_view Ops, propagation_policy<Ops> Policy = both_sides>
std::vector<id> repropagate(const Ops& ops, const tree_index& modules,
                            std::span<attribution> result, const Policy& policy = {}) {
    std::vector<id> before(result.size());
    for (id v = 0; v < result.size(); ++v) {
        before[v] = result[v].module;
        if (!is_evidence(result[v].source)) {
            result[v] = {};
        }
    }
    propagate(ops, modules, result, policy);
    std::vector<id> changed;
    for (id v = 0; v < result.size(); ++v) {
        if (result[v].module != before[v]) {
            changed.push_back(v);
        }
    }
    return changed;
}

} // namespace stemma

#endif // STEMMA_TAGGING_REPROPAGATE_HPP

#endif // STEMMA_CORE_HPP
