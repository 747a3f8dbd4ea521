// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_MODEL_NODE_ORIGINS_HPP
#define STEMMA_MODEL_NODE_ORIGINS_HPP

#include <stemma/config.hpp>
#include <stemma/core/detail/string_pool.hpp>
#include <stemma/core/id.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// How an operator of a changed graph relates to its origins in the original.
enum class origin_kind : std::uint8_t {
    unknown,  ///< no origin found
    kept,     ///< an operator of the original, or several that compute the same
    replaced, ///< it replaces them
    inserted, ///< inserted after a producer, whose origins it has
    served,   ///< inserted before readers, whose origins it has
};

/// Returns: the name used in files and reports.
[[nodiscard]] constexpr std::string_view to_string(origin_kind kind) noexcept {
    constexpr std::string_view names[]{"unknown", "kept", "replaced", "inserted", "served"};
    return names[static_cast<std::size_t>(kind)];
}

/// Which operators of an original graph those of a changed graph came from.
class node_origins {
public:
    /// An operator of the original.
    struct origin {
        std::string_view graph; ///< the path of its graph, "" for the main one
        id position = no_id;    ///< in that graph
        std::string_view name;  ///< possibly ""
        id module = 0;          ///< preorder rank
    };

    /// Whether nothing is known about any operator.
    [[nodiscard]] bool empty() const noexcept { return kinds_.empty(); }

    /// Returns: the number of a new origin; texts are copied. Complexity: O(length) expected.
    id add_origin(const origin& one) {
        names_.append(one.name);
        const bool same_graph = !records_.empty() && graphs_[records_.back().graph] == one.graph;
        records_.push_back({same_graph ? records_.back().graph : graphs_.intern(one.graph),
                            one.position, one.module, names_.size()});
        return static_cast<id>(records_.size() - 1);
    }

    /// Appends the origins of the next operator. Complexity: O(origins).
    void add(origin_kind kind, std::span<const id> origins) {
        kinds_.push_back(kind);
        members_.insert(members_.end(), origins.begin(), origins.end());
        first_.push_back(static_cast<id>(members_.size()));
    }

    /// Returns: the numbers of an operator's origins; none past the last one added.
    [[nodiscard]] std::span<const id> of(id node) const noexcept {
        return node < kinds_.size()
                   ? std::span(members_).subspan(first_[node], first_[node + 1] - first_[node])
                   : std::span<const id>();
    }

    /// Returns: how an operator relates to its origins.
    [[nodiscard]] origin_kind kind(id node) const noexcept {
        return node < kinds_.size() ? kinds_[node] : origin_kind::unknown;
    }

    /// Returns: the origin with that number. Valid until one is added.
    [[nodiscard]] origin operator[](id number) const {
        const auto& record = records_[number];
        const auto begin = number == 0 ? 0 : records_[number - 1].name_end;
        return {graphs_[record.graph], record.position,
                std::string_view(names_).substr(begin, record.name_end - begin), record.module};
    }

private:
    struct origin_record {
        id graph = 0;
        id position = no_id;
        id module = 0;
        std::size_t name_end = 0; // in `names_`
    };

    detail::string_pool graphs_;
    std::string names_; // of all origins, in order
    std::vector<origin_record> records_;
    std::vector<origin_kind> kinds_;
    std::vector<id> first_{0};
    std::vector<id> members_;
};

namespace detail {

/// What is carried over from an original besides modules.
struct carried_facts {
    node_origins origins; ///< operators of the original that those of the graph came from
    /// Operators with several tags, and the modules of those tags.
    std::vector<std::pair<id, std::vector<id>>> several;
};

} // namespace detail

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_MODEL_NODE_ORIGINS_HPP
