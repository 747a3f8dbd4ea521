// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TAGGING_DETAIL_NUMBER_CALLS_HPP
#define STEMMA_TAGGING_DETAIL_NUMBER_CALLS_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/detail/grouped_ids.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/sweep_order.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/operator_view.hpp>

#include <algorithm>
#include <span>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Whether metadata give an operator's module but not the call.
[[nodiscard]] inline bool lacks_call(const attribution& known) noexcept {
    return known.module != no_id && known.source == provenance::metadata && known.call == no_id;
}

/// Numbers the calls of one module after another.
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
            } else if (modules_.is_leaf(module)) {
                number_components(own, module);
            }
        }
    }

private:
    /// How often operators of a module read a parameter.
    struct reading {
        id module = no_id;
        id last = no_id; // of the operators
        id count = 0;
    };

    [[nodiscard]] attribution& known(operator_t<Ops> v) { return result_[index_at(v)]; }

    // The operators of one module are identified by their positions in `open_`, as `own`.

    /// Finds the operators that read the most frequently read parameter, in order.
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
        auto anchor = anchors_.begin(); // both are in the same order
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
    std::vector<id> anchors_;           // those of one module, by position in `open_`
    std::vector<reading> readings_;     // by parameter
    std::vector<id> joined_;            // union-find over the operators of one module
};

/// Numbers the calls of modules by data flow, for operators whose metadata give the module but not
/// the call.
///
/// A module runs once for each of its own operators that reads the same parameter of it. An
/// operator belongs to the last of these that its inputs pass through within the module; if they
/// pass through none, to the first it leads to. A module without children and parameters runs once
/// for each connected set of its operators. Others remain unnumbered.
///
/// `result` is by vertex index.
/// Complexity: O(V + E + modules + parameters + reads of parameters).
template <parameter_readers Ops>
void number_calls(const Ops& ops, const tree_index& modules, std::span<attribution> result) {
    if (std::any_of(result.begin(), result.end(), lacks_call)) {
        call_numberer<Ops>(ops, modules, result).run();
    }
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_TAGGING_DETAIL_NUMBER_CALLS_HPP
