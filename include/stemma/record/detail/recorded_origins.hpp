// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_RECORD_DETAIL_RECORDED_ORIGINS_HPP
#define STEMMA_RECORD_DETAIL_RECORDED_ORIGINS_HPP

#include <stemma/core/detail/grouped_ids.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/evidence/given_claims.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/confidence.hpp>
#include <stemma/onnx/onnx_model.hpp>
#include <stemma/record/detail/exchanged_marks.hpp>
#include <stemma/record/detail/graph_sketch.hpp>
#include <stemma/record/detail/inserted_nodes.hpp>
#include <stemma/record/detail/sketch_lookup.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Finds what the nodes of a changed graph were before.
///
/// A node produces values whose names are in the sketch, or has marks, or its name is that of a
/// value with a suffix. It was made from everything between the values it produces and those that
/// remain; constants and shapes are ignored beside data.
class origin_finder {
public:
    origin_finder(const onnx_model& now, const graph_sketch& then, const tree_index& modules,
                  std::span<const node_mark_found> given)
        : now_(now)
        , then_(then)
        , types_(now, then)
        , lookup_(then)
        , modules_(modules)
        , readers_(find_readers(now))
        , recorded_(now.node_count())
        , holder_(then.node_count(), no_id)
        , marked_(then.node_count(), no_id) {
        find_by_names();
        // Tools that renumber all values reuse names for others.
        if (!types_.are_kept(
                [&](id node) { return recorded_[node].by_hint ? no_id : recorded_[node].node; })) {
            std::fill(holder_.begin(), holder_.end(), no_id);
            std::fill(recorded_.begin(), recorded_.end(), identity{});
        }
        find_transposed();
        take_marks(given);
        for (id node = 0; node < now.node_count(); ++node) {
            absorb(node);
        }
    }

    [[nodiscard]] claim_table find() {
        claim_table table{provenance::recorded, std::vector<claim>(now_.node_count())};
        for (id node = 0; node < now_.node_count(); ++node) {
            start(node);
            if (!region_.empty()) {
                table.of[node] = settle(node);
            }
        }
        place_inserted(now_, readers_, modules_, table.of);
        return table;
    }

    /// Returns: for each node its own number in the sketch, or that of the first node it was made
    /// from; `no_id` if unknown.
    [[nodiscard]] std::vector<id> find_numbers() {
        std::vector<id> numbers(now_.node_count());
        std::generate(numbers.begin(), numbers.end(),
                      [&, node = id{0}]() mutable { return number_of(node++); });
        return numbers;
    }

private:
    struct identity {
        id node = no_id;      // of the sketch
        bool by_hint = false; // by name only
    };

    // An operator is made from a handful; a larger region is no evidence.
    static constexpr std::size_t max_region = 128;
    // No more of a node's inputs or readers are examined for each other node.
    static constexpr std::size_t max_neighbours = 4096;

    [[nodiscard]] static std::span<const id> some(std::span<const id> all) {
        return all.first(std::min(all.size(), max_neighbours));
    }

    void find_by_names() {
        for (id node = 0; node < now_.node_count(); ++node) {
            lookup_.for_each_maker(now_, node, [&](id maker) {
                const auto by = computes(node, maker);
                if (recorded_[by].node == no_id || by == node) {
                    recorded_[by].node = recorded_[by].node == no_id ? maker : recorded_[by].node;
                    holder_[maker] = by;
                }
            });
        }
        for (id node = 0; node < now_.node_count(); ++node) {
            if (recorded_[node].node != no_id) {
                continue;
            }
            const auto maker = lookup_.hinted_maker(now_, node);
            recorded_[node] = {maker, true};
            if (maker != no_id && holder_[maker] == no_id) {
                holder_[maker] = node;
            }
        }
    }

    /// Returns: what computes the value of a node that makes it now: another one where this only
    /// converts it from a runtime's layout.
    [[nodiscard]] id computes(id node, id maker) const {
        const auto from = converted_by(now_, node, "ReorderOutput");
        return from == no_id || then_.type(maker) == "Transpose" ? node : from;
    }

    /// A Transpose in front of a conversion to a runtime's layout became part of it.
    void find_transposed() {
        for (id node = 0; node < now_.node_count(); ++node) {
            const auto from = converted_by(now_, node, "ReorderInput");
            if (from == no_id || recorded_[from].node == no_id || recorded_[node].node != no_id) {
                continue;
            }
            const auto readers = some(lookup_.readers(recorded_[from].node));
            const auto transpose = sketch_lookup::only_of(readers, [&](id reader) {
                return then_.type(reader) == "Transpose" && holder_[reader] == no_id;
            });
            if (transpose != no_id) {
                recorded_[node] = {transpose, true};
                holder_[transpose] = node;
            }
        }
    }

    void take_marks(std::span<const node_mark_found> given) {
        for (const auto& mark : given) {
            if (mark.number < then_.node_count()) {
                marks_.push_back(mark);
            }
        }
        range::stable_sort(marks_, [](const auto& a, const auto& b) { return a.node < b.node; });
        // What a function contained is copied, with the same mark, to every call.
        std::vector<id> count(then_.node_count(), 0);
        for (const auto& mark : marks_) {
            ++count[mark.number];
        }
        // Marks not confirmed by a name are checked against neighbours.
        std::vector<node_mark_found> kept;
        for (const auto& mark : marks_) {
            const auto& entry = recorded_[mark.node];
            if ((entry.node != no_id && !entry.by_hint) || entry.node == mark.number ||
                (count[mark.number] == 1 && stands_where(mark))) {
                kept.push_back(mark);
            }
        }
        marks_ = std::move(kept);
        for (const auto& mark : marks_) {
            marked_[mark.number] = mark.node;
        }
    }

    [[nodiscard]] std::span<const node_mark_found> marks_of(id node) const {
        return marks_on(marks_, node);
    }

    /// Returns: the number of a node in the sketch by its values, else by its first mark.
    [[nodiscard]] id number_of(id node) const {
        const auto marks = marks_of(node);
        return recorded_[node].node != no_id ? recorded_[node].node
               : marks.empty()               ? no_id
                                             : marks.front().number;
    }

    /// Whether a mark is on an operator of the same type as before, or near those whose neighbours
    /// it has now, or nothing is known about them. A mark whose owner by name is another node was
    /// copied from there.
    [[nodiscard]] bool stands_where(const node_mark_found& mark) {
        const auto holder = holder_[mark.number];
        if (holder == no_id && types_.are_same(mark.node, mark.number)) {
            return true;
        }
        if (holder != no_id && holder != mark.node && types_.are_same(holder, mark.number) &&
            !reads_from(holder, mark.node) && !reads_from(mark.node, holder)) {
            return false;
        }
        if (near_of_ != mark.node) {
            neighbours(mark.node);
        }
        return near_.empty() || lookup_.is_near(mark.number, near_);
    }

    [[nodiscard]] bool reads_from(id reader, id maker) const {
        const auto readers = readers_[maker];
        return std::binary_search(readers.begin(), readers.end(), reader);
    }

    /// Collects the nodes of the sketch that a node's neighbours stand for.
    void neighbours(id node) {
        near_of_ = node;
        near_.clear();
        const auto note = [&](id other) {
            if (const auto& entry = recorded_[other]; entry.node != no_id) {
                near_.push_back(entry.node);
            }
            const auto marks = marks_of(other);
            for (std::size_t i = 0; i < std::min(marks.size(), max_region); ++i) {
                near_.push_back(marks[i].number);
            }
        };
        for (const auto value : now_.inputs(node)) {
            const auto maker = value == no_id ? no_id : now_.producer(value);
            maker == no_id ? void() : note(maker);
        }
        const auto readers = readers_[node];
        std::for_each(readers.begin(), readers.end(), note);
        range::sort(near_);
    }

    /// Collects the nodes of the sketch that a node's inputs stand for.
    /// Returns: whether the names of all values tell.
    bool collect_inputs(id node) {
        near_of_ = no_id;
        near_.clear();
        bool told = true;
        for (const auto value : now_.inputs(node)) {
            const auto maker = value == no_id ? no_id : now_.producer(value);
            if (maker == no_id || recorded_[maker].node == no_id) {
                told = told && maker == no_id;
                continue;
            }
            near_.push_back(recorded_[maker].node);
            const auto named = lookup_.maker_of(now_.value_name(value));
            told = told && named != no_id;
            told ? near_.push_back(named) : void();
            if (const auto took = absorbed_.find(maker); took != absorbed_.end()) {
                near_.insert(near_.end(), took->second.begin(), took->second.end());
            }
        }
        range::sort(near_);
        return told;
    }

    /// A node that produces a different value than before has absorbed its missing successors:
    /// those in a chain whose inputs the node itself reads, up to one with several readers.
    void absorb(id node) {
        if (recorded_[node].node != no_id && !recorded_[node].by_hint) {
            return;
        }
        start(node);
        if (region_.empty()) {
            return;
        }
        if (const auto holder = holder_[region_.front()]; holder != no_id && holder != node) {
            return; // what follows reads the value that the holder makes
        }
        collect_inputs(node);
        const auto before = static_cast<std::ptrdiff_t>(region_.size());
        auto next = lookup_.only_reader(region_.front());
        while (next != no_id && is_gone(next, node) && region_.size() < max_region &&
               reads_only(next) && !is_of_reader(next, node)) {
            region_.push_back(next);
            next = lookup_.only_reader(next);
        }
        // If none of the successors remain, they were cut off rather than absorbed.
        const auto behind = lookup_.readers(region_.back());
        if (detail::range::all_of(
                behind, [&](id one) { return is_gone(one, node) && !is_of_reader(one, node); })) {
            return;
        }
        if (std::ssize(region_) > before) {
            auto& took = absorbed_[node];
            took.assign(region_.begin() + before, region_.end());
            for (const auto one : took) {
                holder_[one] = node;
            }
        }
    }

    /// Whether a node of the sketch gave a reader of `node` its type, as Conv does for FusedConv.
    [[nodiscard]] bool is_of_reader(id before, id node) {
        return detail::range::any_of(some(readers_[node]),
                                     [&](id reader) { return types_.is_part(before, reader); });
    }

    /// Whether all data that a node of the sketch reads come from `region_` or `near_`.
    [[nodiscard]] bool reads_only(id before) const {
        const auto from = then_.read_from(before);
        return detail::range::all_of(from, [&](id one) {
            return one != graph_sketch::given &&
                   (!lookup_.is_dependent(one) || detail::range::contains(region_, one) ||
                    std::binary_search(near_.begin(), near_.end(), one));
        });
    }

    /// Collects what a node was made from: everything from the producers of its values back to what
    /// remains.
    void start(id node) {
        region_.clear();
        const auto& entry = recorded_[node];
        if (entry.node != no_id) {
            grow(node, entry.node);
            lookup_.for_each_maker(
                now_, node, [&](id maker) { holder_[maker] == node ? grow(node, maker) : void(); });
        }
        for (const auto& mark : marks_of(node)) {
            // A mark that the names of its values do not lead to was copied from elsewhere.
            if (entry.node == no_id || (entry.by_hint && types_.are_same(node, mark.number))) {
                grow(node, mark.number);
            }
        }
        if (const auto took = absorbed_.find(node); took != absorbed_.end()) {
            region_.insert(region_.end(), took->second.begin(), took->second.end());
        }
    }

    void grow(id node, id last) {
        const auto add = [&](id one) {
            if (region_.size() < max_region && !detail::range::contains(region_, one)) {
                region_.push_back(one);
            }
        };
        auto at = region_.size();
        add(last);
        const bool told = collect_inputs(node);
        for (; lookup_.is_dependent(last) && at < region_.size() && region_.size() < max_region;
             ++at) {
            for (const auto from : some(then_.read_from(region_[at]))) {
                if (from != graph_sketch::given && lookup_.is_dependent(from) &&
                    (is_gone(from, node) || (told && lookup_.is_bypassed(from, near_)))) {
                    add(from);
                }
            }
        }
    }

    /// Whether no other node stands for a node of the sketch.
    [[nodiscard]] bool is_gone(id before, id node) const {
        return (holder_[before] == no_id || holder_[before] == node) &&
               (marked_[before] == no_id || marked_[before] == node);
    }

    [[nodiscard]] claim settle(id node) const {
        const auto& first = then_.of(region_.front());
        claim candidate{first.module, first.call, first.confidence, provenance::recorded};
        for (const auto one : region_) {
            const auto& other = then_.of(one);
            candidate.call = other.module == candidate.module && other.call == candidate.call
                                 ? candidate.call
                                 : no_id;
            candidate.module = modules_.lca(candidate.module, other.module);
            candidate.confidence = std::min(candidate.confidence, other.confidence);
        }
        if (region_.size() >= max_region) {
            candidate.exact = false;
        }
        // Others now do what a call did, in its module or below.
        if (types_.is_gone_call(region_.front()) && !modules_.is_leaf(candidate.module)) {
            return {};
        }
        const bool sure = recorded_[node].node != no_id && !recorded_[node].by_hint;
        // Its name is that of one of several operators.
        candidate.doubtful = !sure && candidate.module != first.module && !marks_of(node).empty() &&
                             marks_of(node).front().number == region_.front();
        const bool exchanged =
            recorded_[node].node == no_id &&
            is_exchanged({now_, then_, types_, lookup_, readers_, holder_, marked_}, node,
                         region_.front(), [&](id one) { return number_of(one); });
        candidate.confidence =
            std::min(candidate.confidence, sure        ? detail::confidence::recorded
                                           : exchanged ? detail::confidence::common_ancestor
                                                       : detail::confidence::recorded_alone);
        return candidate.confidence > 0 ? candidate : claim{};
    }

    const onnx_model& now_;
    const graph_sketch& then_;
    sketch_types types_;
    sketch_lookup lookup_;
    const tree_index& modules_;
    grouped_ids readers_;            // by node now
    std::vector<identity> recorded_; // by node now
    std::vector<id> holder_;         // by node then: the one that produces its values now
    std::vector<id> marked_;         // by node then: the one that has its mark now
    std::vector<node_mark_found> marks_;
    std::unordered_map<id, std::vector<id>> absorbed_;
    std::vector<id> near_;
    id near_of_ = no_id; // the node whose neighbours those are
    std::vector<id> region_;
};

/// Claims for the nodes of a graph from a sketch of its earlier state; `marks` are those on its
/// nodes. See docs/evidence.md.
///
/// A node belongs to the common ancestor of everything it was made from. A mark counts if no name
/// of a value contradicts it and its neighbours were near it before.
/// Complexity: O(nodes log nodes) of both graphs, and for each node a bounded number of neighbours.
[[nodiscard]] inline claim_table find_recorded_origins(const onnx_model& now,
                                                       const graph_sketch& then,
                                                       const tree_index& modules,
                                                       std::span<const node_mark_found> marks) {
    return detail::origin_finder(now, then, modules, marks).find();
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_RECORD_DETAIL_RECORDED_ORIGINS_HPP
