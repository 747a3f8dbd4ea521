// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ALGORITHM_NUMBER_CALLS_HPP
#define STEMMA_ALGORITHM_NUMBER_CALLS_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/sweep_order.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/operator_view.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <unordered_map>
#include <vector>

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
        , vertex_(result.size())
        , joined_(result.size(), no_id) {
        sweep_order(graph_).forward([&](operator_t<Ops> vertex) {
            const auto v = static_cast<id>(index_of(graph_, vertex));
            vertex_[v] = vertex;
            if (lacks_call(result_[v])) {
                open_.push_back(v);
            }
        });
        std::stable_sort(open_.begin(), open_.end(),
                         [&](id a, id b) { return result_[a].module < result_[b].module; });
    }

    void run() {
        for (std::size_t first = 0, last = 0; first < open_.size(); first = last) {
            const auto module = result_[open_[first]].module;
            while (last < open_.size() && result_[open_[last]].module == module) {
                ++last;
            }
            const auto own = std::span(open_).subspan(first, last - first);
            const auto anchors = find_anchors(own);
            if (!anchors.empty()) {
                number_by_anchors(own, anchors);
            } else if (modules_.end(module) == module + 1) {
                number_components(own);
            }
        }
    }

private:
    /// Returns: the operators that read the parameter that is read most often, in order.
    [[nodiscard]] std::vector<id> find_anchors(std::span<const id> own) const {
        std::unordered_map<id, std::vector<id>> readers;
        const std::vector<id>* anchors = nullptr;
        std::size_t most = 0;
        for (auto v : own) {
            ops_.for_each_parameter(vertex_[v], [&](id p) {
                auto& known = readers[p];
                if (known.empty() || known.back() != v) {
                    known.push_back(v);
                }
                if (known.size() > most) {
                    most = known.size();
                    anchors = &known;
                }
            });
        }
        return anchors == nullptr ? std::vector<id>{} : *anchors;
    }

    void number_by_anchors(std::span<const id> own, std::span<const id> anchors) {
        const auto module = result_[own.front()].module;
        const auto call_of = [&](id v) {
            return result_[v].module == module ? result_[v].call : no_id;
        };
        for (id call = 0; call < anchors.size(); ++call) {
            result_[anchors[call]].call = call;
        }
        auto anchor = anchors.begin(); // both stand in the same order
        for (auto v : own) {
            if (anchor != anchors.end() && *anchor == v) {
                ++anchor;
                continue;
            }
            for (auto [in, last] = in_edges(vertex_[v], graph_); in != last; ++in) {
                const auto behind = call_of(index_at(source(*in, graph_)));
                auto& call = result_[v].call;
                call = behind == no_id ? call : call == no_id ? behind : std::max(call, behind);
            }
        }
        for (auto v = own.rbegin(); v != own.rend(); ++v) {
            id before = anchors.size() == 1 ? 0 : no_id;
            for (auto [out, last] = out_edges(vertex_[*v], graph_); out != last; ++out) {
                before = std::min(before, call_of(index_at(target(*out, graph_))));
            }
            if (result_[*v].call == no_id) {
                result_[*v].call = before;
            }
        }
    }

    void number_components(std::span<const id> own) {
        const auto module = result_[own.front()].module;
        for (auto v : own) {
            joined_[v] = v;
        }
        for (auto v : own) {
            for (auto [in, last] = in_edges(vertex_[v], graph_); in != last; ++in) {
                const auto u = index_at(source(*in, graph_));
                if (result_[u].module == module && joined_[u] != no_id) {
                    const auto a = first_of(u);
                    const auto b = first_of(v);
                    joined_[std::max(a, b)] = std::min(a, b);
                }
            }
        }
        id calls = 0;
        for (auto v : own) {
            const auto head = first_of(v);
            auto& call = result_[head].call;
            call = call == no_id ? calls++ : call;
            result_[v].call = call;
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
    std::vector<id> open_; // operators without a number, module by module, in order
    std::vector<operator_t<Ops>> vertex_;
    std::vector<id> joined_; // union-find over the operators of one module
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
/// Complexity: O(V + E), and sorting of operators by module.
template <parameter_readers Ops>
void number_calls(const Ops& ops, const tree_index& modules, std::span<attribution> result) {
    if (std::any_of(result.begin(), result.end(), detail::lacks_call)) {
        detail::call_numberer<Ops>(ops, modules, result).run();
    }
}

} // namespace stemma

#endif // STEMMA_ALGORITHM_NUMBER_CALLS_HPP
