// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_SKIP_CONNECTIONS_HPP
#define STEMMA_EVIDENCE_DETAIL_SKIP_CONNECTIONS_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/detail/vertices_by_index.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/sweep_order.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/evidence/detail/is_elementwise.hpp>
#include <stemma/evidence/detail/layout_types.hpp>
#include <stemma/evidence/detail/module_behind_fork.hpp>
#include <stemma/evidence/detail/module_code.hpp>
#include <stemma/evidence/detail/nearest_owners.hpp>
#include <stemma/evidence/detail/parameter_blocks.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>
#include <stemma/model/sweeps.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Finds the modules of operators that combine what modules computed with what they computed it
/// from.
template <operator_view Ops, module_view Modules>
class skip_connections {
public:
    /// By vertex index: `position` in an order of the graph, `steady` operators are independent of
    /// data, `owner` is the module of an operator if known. By module: `pattern` is equal for those
    /// of one kind, `attends` is set for attentions of torch. Requires: all arguments outlive it.
    /// Complexity: O(V + E + modules).
    skip_connections(const Ops& ops, const Modules& modules, const module_code<Modules>& code,
                     const std::vector<std::uint64_t>& pattern, const std::vector<bool>& attends,
                     const std::vector<id>& position, const std::vector<bool>& steady,
                     const std::vector<id>& owner)
        : ops_(ops)
        , tree_(modules.index())
        , code_(code)
        , pattern_(pattern)
        , attends_(attends)
        , position_(position)
        , steady_(steady)
        , owner_(owner)
        , vertex_(ops.graph())
        , first_(tree_.size(), no_id)
        , last_(tree_.size(), 0)
        , skipped_kind_(tree_.size(), 0)
        , adds_(tree_.size(), false) {
        for (std::size_t v = 0; v < owner_.size(); ++v) {
            if (owner_[v] != no_id) {
                first_[owner_[v]] = std::min(first_[owner_[v]], position_[v]);
                last_[owner_[v]] = std::max(last_[owner_[v]], position_[v]);
            }
        }
        for (auto m = static_cast<id>(tree_.size()); m-- > 1;) {
            const auto above = tree_.parent(m);
            first_[above] = std::min(first_[above], first_[m]);
            last_[above] = std::max(last_[above], last_[m]);
        }
    }

    /// Returns: by vertex index, the module where a skip connection ends, or `no_id`.
    /// Complexity: O(V + E), and a bounded number of operators for each join.
    [[nodiscard]] std::vector<id> run(const sweep_order<graph_of<Ops>>& order) {
        auto modules =
            residual_modules(propagation_problem<Ops>{ops_, tree_, order, owner_, &steady_});
        for (std::size_t v = 0; v < modules.size(); ++v) {
            // A single call that is skipped says little about its caller.
            if (modules[v] != no_id && around(tree_, modules[v]) != modules[v]) {
                modules[v] = no_id;
            }
            if (modules[v] != no_id && is(v, "Add")) {
                note(code_.nearest(modules[v]), v);
            }
        }
        for (std::size_t v = 0; v < modules.size(); ++v) {
            if (modules[v] != no_id && is(v, "Add")) {
                modules[v] = adding_module(code_.nearest(modules[v]), v);
            } else if (!is(v, "Mul")) {
                modules[v] = is(v, "Concat") && owner_[v] == no_id ? passed_by(v) : no_id;
            } else if (modules[v] == no_id && owner_[v] == no_id && reads_converted(v)) {
                const auto m = behind_fork(v);
                modules[v] = m == no_id ? no_id : code_.nearest(around(tree_, m));
            }
        }
        return modules;
    }

private:
    [[nodiscard]] bool is(std::size_t v, std::string_view type) const {
        return std::string_view(ops_.op_type(vertex_[v])) == type;
    }

    /// Records which modules add, and which are skipped as a whole.
    void note(id m, std::size_t v) {
        if (m == 0 || !is_whole(m, v)) {
            adds_[m] = true;
            return;
        }
        const auto above = tree_.parent(m);
        auto& kind = skipped_kind_[above];
        adds_[above] = adds_[above] || (kind != 0 && kind != pattern_[m]);
        kind = pattern_[m];
    }

    /// Returns: the module that adds the result of `m`, or of some of its steps, to what that was
    /// computed from: the caller of `m` if it adds more than the results of such modules, or has
    /// no other purpose, or if `m` is an attention of torch, which adds nothing to its result.
    [[nodiscard]] id adding_module(id m, std::size_t v) const {
        if (m == 0 || !is_whole(m, v)) {
            return m;
        }
        const auto above = tree_.parent(m);
        if (attends_[m]) {
            return code_.nearest(above);
        }
        const bool wraps = first_[above] == first_[m] && last_[above] == last_[m];
        return !code_.is_list(above) && (adds_[above] || wraps) ? above : m;
    }

    /// Whether all operators of a module are between the fork and the end of a skip connection.
    [[nodiscard]] bool is_whole(id m, std::size_t v) const {
        auto fork = position_[v];
        for (auto [in, last] = in_edges(vertex_[v], ops_.graph()); in != last; ++in) {
            fork = std::min(fork, position_[index_of(ops_.graph(), source(*in, ops_.graph()))]);
        }
        return first_[m] > fork && last_[m] < position_[v];
    }

    /// Whether a runtime's conversions of layouts hide that one input is computed from another.
    [[nodiscard]] bool reads_converted(std::size_t v) const {
        auto [in, last] = in_edges(vertex_[v], ops_.graph());
        return std::any_of(in, last, [&](const auto& edge) {
            return is_conversion(ops_.op_type(source(edge, ops_.graph())));
        });
    }

    /// Returns: the module that runs the sequence that part of a value passes by, or `no_id`.
    [[nodiscard]] id passed_by(std::size_t v) const {
        const auto m = behind_fork(v);
        return m != no_id && code_.is_list(m) && !goes_on_behind(v) ? code_.nearest(m) : no_id;
    }

    /// Whether what an operator reads was processed further, by more than activations, after the
    /// last module that is known and after the last fork: resized, for example. Then another module
    /// may have joined it.
    [[nodiscard]] bool goes_on_behind(std::size_t v) const {
        const auto& graph = ops_.graph();
        const auto [in, last] = in_edges(vertex_[v], graph);
        return std::any_of(in, last, [&](const auto& edge) {
            constexpr id max_steps = 16;
            bool goes_on = false;
            auto u = static_cast<id>(index_of(graph, source(edge, graph)));
            for (id step = 0; step < max_steps && u != no_id && owner_[u] == no_id && !steady_[u] &&
                              count_readers(graph, vertex_[u], steady_) == 1;
                 ++step) {
                const std::string_view type = ops_.op_type(vertex_[u]);
                goes_on =
                    goes_on || !(is_elementwise(type) || is_layout(type) || is_conversion(type));
                u = only_source(graph, vertex_[u], steady_);
            }
            return goes_on && u != no_id && owner_[u] != no_id;
        });
    }

    /// Returns: what is around all that is known between an operator and the fork of its two
    /// inputs, or `no_id`.
    [[nodiscard]] id behind_fork(std::size_t v) const {
        constexpr std::size_t max_steps = 64;
        auto [in, last] = in_edges(vertex_[v], ops_.graph());
        if (std::distance(in, last) != 2) {
            return no_id;
        }
        return module_behind_fork(
            ops_, vertex_, position_, steady_, tree_, vertex_[v], max_steps,
            [&](operator_t<Ops> u) { return owner_[index_of(ops_.graph(), u)]; });
    }

    const Ops& ops_;
    const tree_index& tree_;
    const module_code<Modules>& code_;
    const std::vector<std::uint64_t>& pattern_;
    const std::vector<bool>& attends_;
    const std::vector<id>& position_;
    const std::vector<bool>& steady_;
    const std::vector<id>& owner_;
    vertices_by_index<graph_of<Ops>> vertex_;
    std::vector<id> first_; // position of a module's operators
    std::vector<id> last_;
    std::vector<std::uint64_t> skipped_kind_; // of a child that is skipped as a whole
    std::vector<bool> adds_;                  // a module does so itself
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_SKIP_CONNECTIONS_HPP
