// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_QUERY_DETAIL_VERTICES_LEFT_HPP
#define STEMMA_QUERY_DETAIL_VERTICES_LEFT_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/id.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The remaining vertices of a graph, in its order; initially all.
template <class Graph>
class vertices_left {
public:
    explicit vertices_left(const Graph& graph) : graph_(&graph) {}

    /// Keeps only those that satisfy `fits(v)`, called in order, or only the others.
    template <class Fits>
    void keep_if(bool wanted, Fits fits) {
        // Hoisted: a test per vertex would double the cost.
        if (wanted) {
            keep(std::move(fits));
        } else {
            keep([&](const auto& v) { return !fits(v); });
        }
    }

    /// Removes the others, a subset of these.
    friend void drop(const vertices_left& others, vertices_left& candidates) {
        auto next = others.listed_.begin();
        candidates.keep([&](const auto& v) {
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
        std::vector<id> result;
        if constexpr (std::is_same_v<vertex_t<Graph>, id>) {
            result = std::move(listed_);
            std::transform(result.begin(), result.end(), result.begin(), index);
        } else {
            result.resize(listed_.size());
            std::transform(listed_.begin(), listed_.end(), result.begin(), index);
        }
        if (!std::is_sorted(result.begin(), result.end())) {
            std::sort(result.begin(), result.end());
        }
        return result;
    }

private:
    template <class Fits>
    void keep(Fits fits) {
        // Written unconditionally, to avoid branch mispredictions.
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

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_QUERY_DETAIL_VERTICES_LEFT_HPP
