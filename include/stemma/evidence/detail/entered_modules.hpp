// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_ENTERED_MODULES_HPP
#define STEMMA_EVIDENCE_DETAIL_ENTERED_MODULES_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/detail/vertices_by_index.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/sweep_order.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/evidence/detail/layout_types.hpp>
#include <stemma/evidence/detail/module_code.hpp>
#include <stemma/evidence/detail/nearest_owners.hpp>
#include <stemma/evidence/detail/parameter_blocks.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>
#include <stemma/model/sweeps.hpp>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Finds what modules compute on their way from the value that they are called with to the first
/// parameters that they read: a module that reads one value in several places was called with it.
template <operator_view Ops, module_view Modules>
class entered_modules {
public:
    /// By vertex index: `steady` operators are independent of data, `lost` ones read a weight whose
    /// name is lost, `owner` is the module of an operator if known.
    /// Requires: all arguments outlive it. Complexity: O(V + E).
    entered_modules(const Ops& ops, const Modules& modules, const module_code<Modules>& code,
                    const sweep_order<graph_of<Ops>>& order, const std::vector<bool>& steady,
                    const std::vector<bool>& lost, const std::vector<id>& owner)
        : ops_(ops)
        , graph_(ops.graph())
        , tree_(modules.index())
        , code_(code)
        , order_(order)
        , steady_(steady)
        , owner_(owner)
        , vertex_(graph_)
        , leads_to_(owner.size())
        , start_(owner.size(), no_id)
        , lost_since_(owner.size(), false) {
        order_.backward([&](operator_t<Ops> vertex) {
            const auto v = index_of(graph_, vertex);
            auto [out, last] = out_edges(vertex, graph_);
            if (owner_[v] != no_id) {
                leads_to_[v].add(around(tree_, owner_[v]));
            } else if (lost[v] || out == last) {
                leads_to_[v].add(0); // some module
            }
            for (; out != last && owner_[v] == no_id; ++out) {
                leads_to_[v].add(leads_to_[index_of(graph_, target(*out, graph_))]);
            }
        });
        order_.forward([&](operator_t<Ops> vertex) {
            const auto v = index_of(graph_, vertex);
            if (owner_[v] != no_id || steady_[v]) {
                return;
            }
            auto only = no_id;
            bool one = true;
            lost_since_[v] = lost[v];
            for (auto [in, last] = in_edges(vertex, graph_); in != last; ++in) {
                const auto u = static_cast<id>(index_of(graph_, source(*in, graph_)));
                if (!steady_[u]) {
                    const auto from = start_[u] == no_id || forks(u) ? u : start_[u];
                    one = one && (only == no_id || only == from);
                    only = from;
                    lost_since_[v] = lost_since_[v] || (from != u && lost_since_[u]);
                }
            }
            start_[v] = one ? only : no_id;
        });
    }

    /// Moves operators in `modules` from an ancestor to the module they lead to, if that reads the
    /// value that they are computed from elsewhere too; not those that lay out a known result.
    /// Complexity: O(V), and of each value that is read more than once a bounded number of readers
    /// and of operators behind it.
    void refine(std::vector<id>& modules) const {
        for (std::size_t v = 0; v < modules.size(); ++v) {
            if (start_[v] == no_id || modules[v] == no_id || leads_to_[v].low == no_id) {
                continue;
            }
            const bool lays_out_result =
                owner_[start_[v]] != no_id && is_layout(type_of(v)) && reads(v, start_[v]);
            const auto m = lays_out_result ? no_id : deeper(entered(v), split_by(v));
            if (m != no_id && m != modules[v] && tree_.is_ancestor(modules[v], m)) {
                modules[v] = m;
            }
        }
    }

private:
    static constexpr std::size_t max_steps = 16;

    [[nodiscard]] bool reads(std::size_t v, id u) const {
        auto [in, last] = in_edges(vertex_[v], graph_);
        return std::any_of(in, last, [&](const auto& edge) {
            return index_of(graph_, source(edge, graph_)) == u;
        });
    }

    /// Whether several operators read a result.
    [[nodiscard]] bool forks(std::size_t v) const {
        auto [out, last] = out_edges(vertex_[v], graph_);
        return out != last && ++out != last;
    }

    /// Returns: the deepest module that contains whatever reads the result of `v` and another
    /// reader of a value that it was computed from.
    [[nodiscard]] id entered(std::size_t v) const {
        id best = no_id;
        auto from = start_[v];
        for (std::size_t steps = 0; from != no_id && steps < max_steps; ++steps) {
            best = deeper(best, entered_with(v, from));
            // What unknown modules computed for several is not on the way from what they read.
            const bool is_theirs =
                lost_since_[from] && count_readers(graph_, vertex_[from], steady_) > 1;
            from = owner_[from] == no_id && !is_theirs ? start_[from] : no_id;
        }
        return best;
    }

    /// Returns: the module that reads the parts of a value in several places, if `v` splits it.
    [[nodiscard]] id split_by(std::size_t v) const {
        if (type_of(v) != "Split") {
            return no_id;
        }
        common_module least;
        common_module most;
        for (auto [out, last] = out_edges(vertex_[v], graph_); out != last; ++out) {
            const auto& way = leads_to_[index_of(graph_, target(*out, graph_))];
            least.add(way.low);
            most.add(way.behind);
        }
        const bool several = least.low + 1 < least.behind || most.low + 1 < most.behind;
        return several ? code_.nearest(leads_to_[v].get(tree_)) : no_id;
    }

    [[nodiscard]] std::string_view type_of(std::size_t v) const { return ops_.op_type(vertex_[v]); }

    [[nodiscard]] id entered_with(std::size_t v, id from) const {
        if (!forks(from)) {
            return no_id;
        }
        const auto way = operators_with(from, v);
        id best = no_id;
        std::size_t readers = 0;
        for (auto [out, last] = out_edges(vertex_[from], graph_);
             out != last && readers < max_steps && !way.empty(); ++out, ++readers) {
            const auto w = index_of(graph_, target(*out, graph_));
            const bool other = std::find(way.begin(), way.end(), w) == way.end();
            if (!steady_[w] && leads_to_[w].low != no_id && other && !is_rolled_with(w, way)) {
                common_module both = leads_to_[v];
                both.add(leads_to_[w]);
                best = deeper(best, code_.nearest(both.get(tree_)));
            }
        }
        return best;
    }

    /// Whether an operator cuts one of the two parts of a value that another of `way` puts together
    /// again: the code reads that value once, to roll it.
    [[nodiscard]] bool is_rolled_with(std::size_t w, const std::vector<std::size_t>& way) const {
        auto [out, last] = out_edges(vertex_[w], graph_);
        if (type_of(w) != "Slice" || out == last) {
            return false;
        }
        const auto whole = index_of(graph_, target(*out, graph_));
        return ++out == last && std::find(way.begin(), way.end(), whole) != way.end() &&
               rolls(whole);
    }

    /// Whether an operator only puts two parts of one value together.
    [[nodiscard]] bool rolls(std::size_t v) const {
        auto from = no_id;
        std::size_t parts = 0;
        for (auto [in, last] = in_edges(vertex_[v], graph_); in != last; ++in) {
            const auto part = index_of(graph_, source(*in, graph_));
            const bool cuts = type_of(part) == "Slice";
            const auto value = cuts ? only_source(graph_, vertex_[part], steady_) : no_id;
            if (value == no_id || ++parts > 2 || (from != no_id && from != value)) {
                return false;
            }
            from = value;
        }
        return parts == 2 && type_of(v) == "Concat";
    }

    [[nodiscard]] id deeper(id a, id b) const {
        return a == no_id || (b != no_id && tree_.depth(b) > tree_.depth(a)) ? b : a;
    }

    /// Returns: what `v` is computed with from the result of `from`, and what unknown operators
    /// compute with its result; nothing if that is a lot.
    [[nodiscard]] std::vector<std::size_t> operators_with(id from, std::size_t v) const {
        std::vector<std::size_t> way{v};
        const auto add = [&](std::size_t u) {
            if (u != from && !steady_[u] && std::find(way.begin(), way.end(), u) == way.end()) {
                way.push_back(u);
            }
        };
        for (std::size_t i = 0; i < way.size() && way.size() <= max_steps; ++i) {
            for (auto [in, last] = in_edges(vertex_[way[i]], graph_); in != last; ++in) {
                add(index_of(graph_, source(*in, graph_)));
            }
        }
        const auto before = way.size();
        std::swap(way.front(), way.back());
        for (auto i = before - 1; i < way.size() && way.size() <= max_steps; ++i) {
            for (auto [out, last] = out_edges(vertex_[way[i]], graph_); out != last; ++out) {
                if (const auto w = index_of(graph_, target(*out, graph_)); owner_[w] == no_id) {
                    add(w);
                }
            }
        }
        return way.size() <= max_steps ? way : std::vector<std::size_t>();
    }

    const Ops& ops_;
    const graph_of<Ops>& graph_;
    const tree_index& tree_;
    const module_code<Modules>& code_;
    const sweep_order<graph_of<Ops>>& order_;
    const std::vector<bool>& steady_;
    const std::vector<id>& owner_;
    vertices_by_index<graph_of<Ops>> vertex_;
    std::vector<common_module> leads_to_; // the modules that read a result first
    std::vector<id> start_;        // what makes the only value that a result is computed from
    std::vector<bool> lost_since_; // unknown weights are read between there and the result
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_ENTERED_MODULES_HPP
