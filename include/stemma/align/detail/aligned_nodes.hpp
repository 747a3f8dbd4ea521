// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ALIGN_DETAIL_ALIGNED_NODES_HPP
#define STEMMA_ALIGN_DETAIL_ALIGNED_NODES_HPP

#include <stemma/align/detail/visit_inputs_first.hpp>
#include <stemma/core/concepts.hpp>
#include <stemma/core/detail/string_pool.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/topological_order.hpp>
#include <stemma/evidence/detail/find_quantized.hpp>
#include <stemma/evidence/detail/layout_types.hpp>
#include <stemma/model/detail/mark_matrices.hpp>
#include <stemma/model/operator_view.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Concatenated lists of numbers, one for each of 0, 1, 2 and so on.
class id_lists {
public:
    void add(id item) { items_.push_back(item); }
    void close() { ends_.push_back(static_cast<id>(items_.size())); }
    [[nodiscard]] std::span<const id> operator[](id i) const noexcept {
        const auto begin = i == 0 ? 0 : ends_[i - 1];
        return std::span(items_).subspan(begin, ends_[i] - begin);
    }
    [[nodiscard]] id size() const noexcept { return static_cast<id>(ends_.size()); }

    /// Returns: for each number below `count` the lists that contain it.
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

/// The operators of a graph that an alignment places, in graph order. Constants, function bodies
/// and what converts between types of numbers for a quantizer or runtime are excluded.
struct aligned_nodes {
    /// An operator that was inserted to convert, and data pass.
    struct passed_operator {
        id vertex = no_id;
        id behind = no_id; ///< the one whose result it converts; `no_id` if it is none of these
    };

    std::vector<id> vertex;
    std::vector<id> type;        ///< number of the operator type, with any non-standard domain
    std::vector<bool> of_shapes; ///< computes with shapes only
    std::vector<bool> fixed;     ///< computes with constants only
    std::vector<bool> owns;      ///< owns bodies, and stands for everything that ran there
    std::vector<id> chain;       ///< which chain it is in: 0 outside bodies
    id chains = 1;               ///< one more for each body
    std::vector<id> owner_of;    ///< by chain: the owner of the body, `no_id` for the first
    id_lists parameters;         ///< parameters read
    id_lists producers;          ///< among the aligned ones
    id_lists readers;
    string_pool types;
    std::vector<passed_operator> passed; ///< inserted operators, each after what it converts
    bool partial = false;                ///< some operators are in function bodies

    [[nodiscard]] id size() const noexcept { return static_cast<id>(vertex.size()); }

    /// Returns: the operators of each chain.
    [[nodiscard]] std::vector<std::vector<id>> by_chain() const {
        std::vector<std::vector<id>> lists(chains);
        for (id n = 0; n < size(); ++n) {
            lists[chain[n]].push_back(n);
        }
        return lists;
    }

    /// Whether operator `n` is a Reshape that a runtime inserted as a Gemm takes matrices only:
    /// nothing else reads it, and another one follows. Complexity: O(1).
    [[nodiscard]] bool flattens(id n) const {
        const auto is = [&](id u, std::string_view name) { return types[type[u]] == name; };
        if (!is(n, "Reshape") || readers[n].size() != 1 || !is(readers[n].front(), "Gemm")) {
            return false;
        }
        const auto behind = readers[readers[n].front()];
        return behind.size() == 1 && is(behind.front(), "Reshape");
    }
};

/// The order in which operators are assumed to have run.
enum class run_order : std::uint8_t {
    as_written, ///< as numbered, unless one precedes what it reads
    as_read,    ///< everything the first result or input needs before what the second one needs
};

/// What a captured program converts by itself: then no tool inserted it.
struct captured_conversions {
    bool quantizes = false;
    bool casts_inputs = false;  ///< of the model
    bool casts_results = false; ///< of the model
};

template <named_operators Ops>
class aligned_nodes_finder {
public:
    /// `ran` gives, by vertex index, when an operator ran, for those `as_read`: of inputs and of
    /// results, the earlier one is first. Outlives this.
    explicit aligned_nodes_finder(const Ops& ops, run_order order = run_order::as_written,
                                  std::span<const id> ran = {},
                                  const captured_conversions& program = {})
        : ops_(ops)
        , graph_(ops.graph())
        , count_(num_vertices(graph_))
        , ran_(ran)
        , as_written_(order == run_order::as_written && is_topologically_indexed(graph_))
        , program_(program)
        , place_(count_, no_id)
        , matrices_(mark_matrices(ops)) {
        result_.owner_of.push_back(no_id);
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
            const bool outside = is_in_function(ops_, v);
            result_.partial = result_.partial || outside;
            if (outside) {
                return;
            }
            if (is_inserted(v)) {
                pass(v, static_cast<id>(i));
            } else if (owns[i] || !is_constant(v)) {
                add(v, static_cast<id>(i), owns[i]);
            }
        });
        for (auto& owner : result_.owner_of) {
            owner = owner == no_id ? no_id : place_[owner];
        }
        result_.readers = result_.producers.reversed(result_.size());
        return std::move(result_);
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
        // From the results backwards, in the model's order if known, which optimizers keep;
        // operators in a cycle are no results, and come last.
        std::vector<vertex_type> ends(first_vertex, last_vertex);
        const auto results =
            std::stable_partition(ends.begin(), ends.end(), [&](const vertex_type& v) {
                const auto [out, out_last] = out_edges(v, graph_);
                return out == out_last;
            });
        sort_by_time(ends.begin(), results);
        if constexpr (requires { ops_.result_makers(); }) {
            if (ran_.empty()) {
                const auto makers = ops_.result_makers();
                ends.insert(ends.begin(), makers.begin(), makers.end());
            }
        }
        visit_inputs_first(
            ends, count_, [&](const vertex_type& v) { return index_of(graph_, v); },
            [&](const vertex_type& v, std::vector<vertex_type>& inputs) {
                for (auto [in, in_last] = in_edges(v, graph_); in != in_last; ++in) {
                    inputs.push_back(source(*in, graph_));
                }
                sort_by_time(inputs.begin(), inputs.end());
            },
            f);
    }

    template <class Iterator>
    void sort_by_time(Iterator first, Iterator last) const {
        if (!ran_.empty()) {
            std::stable_sort(first, last, [&](const vertex_type& a, const vertex_type& b) {
                return ran_[index_of(graph_, a)] < ran_[index_of(graph_, b)];
            });
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

    /// Whether it is a constant, as far as the operators tell data from constants. In a body,
    /// anything computed from constants counts: exporters put conditions there that no program had.
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
            for_each_parameter(v, [&](id) { reads = true; });
            return !reads;
        }
        return false;
    }

    /// Calls `f(p)` for the parameters of an operator, also those that a quantizer converts.
    template <class Function>
    void for_each_parameter(vertex_type v, Function f) const {
        if constexpr (parameter_readers<Ops>) {
            ops_.for_each_parameter(v, f);
            for (auto [it, last] = in_edges(v, graph_); it != last && !converted_.empty(); ++it) {
                const auto entry = converted_.find(index_of(graph_, source(*it, graph_)));
                if (entry != converted_.end()) {
                    f(entry->second);
                }
            }
        }
    }

    /// Whether a tool inserted an operator to convert: also a Cast of a parameter, which programs
    /// keep in the type that they use, and one of an input or a result of the model.
    [[nodiscard]] bool is_inserted(vertex_type v) const {
        if (!program_.quantizes && is_inserted_by_quantizer(ops_, v)) {
            return true;
        }
        if (std::string_view(ops_.op_type(v)) != "Cast") {
            return false;
        }
        bool reads = false;
        for_each_parameter(v, [&](id) { reads = true; });
        const auto [in, in_last] = in_edges(v, graph_);
        const auto [out, out_last] = out_edges(v, graph_);
        const bool ends = out == out_last && in != in_last &&
                          place_[index_of(graph_, source(*in, graph_))] != no_id;
        return reads || (!program_.casts_inputs && reads_data(ops_, v)) ||
               (!program_.casts_results && ends);
    }

    /// Lets data pass an inserted operator: its readers read what it converts.
    void pass(vertex_type v, id index) {
        auto behind = find_quantized(ops_, v);
        if (const auto [in, last] = in_edges(v, graph_);
            in != last && std::string_view(ops_.op_type(v)) == "Cast") {
            behind = source(*in, graph_);
        }
        const auto from = behind ? index_of(graph_, *behind) : index;
        place_[index] = place_[from];
        const auto node = place_[from];
        result_.passed.push_back({index, node == no_id ? no_id : result_.vertex[node]});
        auto parameter = no_id; // its first input; scales follow
        if (const auto entry = converted_.find(from); entry != converted_.end()) {
            parameter = entry->second;
        } else if (!behind && !reads_data(ops_, v)) {
            for_each_parameter(v, [&](id p) { parameter = parameter == no_id ? p : parameter; });
        }
        if (parameter != no_id) {
            converted_.emplace(index, parameter);
        }
    }

    /// Whether a parameter may be a number to compute shapes with, which an optimizer stored.
    [[nodiscard]] bool is_index(id p) const { return p < matrices_.size() && !matrices_[p]; }

    /// Returns: the chain of an operator, possibly a new one.
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
            const auto [entry, added] =
                chain_of_body_.emplace(std::pair(owner, body), result_.chains);
            if (added) {
                ++result_.chains;
                result_.owner_of.push_back(owner);
            }
            return entry->second;
        }
        return 0;
    }

    void add(vertex_type v, id index, bool owns) {
        result_.owns.push_back(owns);
        result_.chain.push_back(chain_of(v));
        bool shapes_only = !owns;
        bool fixed = data_aware_operators<Ops> && !owns;
        bool has_producer = false;
        std::vector<id> producers;
        for (auto [it, last] = in_edges(v, graph_); it != last; ++it) {
            const auto u = place_[index_of(graph_, source(*it, graph_))];
            if (u != no_id) {
                has_producer = true;
                fixed = fixed && result_.fixed[u];
                shapes_only = shapes_only && result_.of_shapes[u];
                if (!owns && std::find(producers.begin(), producers.end(), u) == producers.end()) {
                    producers.push_back(u);
                }
            }
        }
        for (auto u : producers) {
            result_.producers.add(u);
        }
        result_.producers.close();
        for_each_parameter(v, [&](id p) {
            result_.parameters.add(p);
            shapes_only = shapes_only && is_index(p);
            fixed = false;
        });
        result_.parameters.close();
        shapes_only = shapes_only && has_producer;
        if constexpr (data_aware_operators<Ops>) {
            shapes_only = !owns && ((shapes_only && !ops_.reads_data(v)) || ops_.hides_data(v));
            fixed = fixed && !ops_.reads_data(v);
        }
        place_[index] = result_.size();
        result_.vertex.push_back(index);
        result_.type.push_back(result_.types.intern(type_of(v)));
        result_.of_shapes.push_back(shapes_only);
        result_.fixed.push_back(fixed);
    }

    const Ops& ops_;
    const graph_of<Ops>& graph_;
    std::size_t count_;
    std::span<const id> ran_; // by vertex index; may be empty
    bool as_written_;
    captured_conversions program_;
    std::vector<id> place_;                         // by vertex index
    std::unordered_map<std::size_t, id> converted_; // by vertex index: parameter behind conversions
    std::vector<bool> matrices_; // by parameter: must be a weight; empty if that cannot be told
    std::map<std::pair<id, id>, id> chain_of_body_;
    aligned_nodes result_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ALIGN_DETAIL_ALIGNED_NODES_HPP
