// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_FOLD_DETAIL_FOLD_CHANGES_HPP
#define STEMMA_FOLD_DETAIL_FOLD_CHANGES_HPP

#include <stemma/config.hpp>
#include <stemma/core/id.hpp>
#include <stemma/error.hpp>
#include <stemma/fold/detail/fold_names.hpp>
#include <stemma/fold/detail/fold_plan.hpp>
#include <stemma/fold/detail/fold_record.hpp>
#include <stemma/fold/node_shapes.hpp>
#include <stemma/io/json_text.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Finds what a folded model must record about a graph of its source: the order of operators, and
/// the texts that do not follow from function bodies.
class fold_changes {
public:
    /// `root` is the graph's region. Requires: all outlive it.
    /// Throws: `error` of `error_code::unsupported` if a name to be recorded is invalid UTF-8.
    /// Complexity: O(nodes + length of texts).
    fold_changes(const wire_model& model, const fold_plan& plan, const fold_names& names, id root)
        : model_(model), plan_(plan), names_(names), root_(root) {
        find_changes();
        find_order();
    }

    /// Returns: `nodes`, `order` and `changes`.
    [[nodiscard]] folded_graph_record take() && { return std::move(record_); }

private:
    /// Calls `f(region, first, item)` for all operators in inlining order; `first` is its
    /// counterpart in the first call, whose names the body has.
    template <class Function>
    void for_each_operator(id region, Function& f) const {
        const auto& items = plan_.regions[region].items;
        const auto& in_body = plan_.regions[plan_.body_of(region)].items;
        for (std::size_t i = 0; i < items.size(); ++i) {
            items[i].is_region ? for_each_operator(items[i].index, f)
                               : f(region, in_body[i].index, items[i].index);
        }
    }

    /// Finds the texts that do not follow from function bodies.
    void find_changes() {
        std::uint64_t number = 0;
        auto compare = [&](id region, id first, id item) {
            if (region != root_ && plan_.functions[plan_.function[region]].calls > 1) {
                compare_texts(number, region, first, item);
            }
            ++number;
        };
        for_each_operator(root_, compare);
        record_.nodes = number;
    }

    void compare_texts(std::uint64_t number, id region, id first, id node) {
        const auto f = plan_.function[region];
        auto theirs = model_.reader(model_.message(first));
        auto fields = model_.reader(model_.message(node));
        std::uint32_t slot = 0;
        id output = 0;
        wire_field model;
        for (wire_field field; fields.next(field);) {
            const auto kind = text_kind(field);
            if (!theirs.next(model) || kind == node_text::none || kind == node_text::input) {
                continue;
            }
            std::string expected(text_of(theirs, model));
            bool given = false;
            if (kind == node_text::output) {
                expected = names_.in_body(f, model_.first_output(first) + output);
                given = names_.is_given(model_.first_output(node) + output++);
            } else if (kind == node_text::name) {
                expected = names_.in_body(f, expected);
            }
            if (kind != node_text::note && !expected.empty()) {
                expected.insert(0, names_.scope(region));
            }
            const auto actual = text_of(fields, field);
            if (!given && actual != expected) {
                note_change(number, slot, expected, actual);
            }
            ++slot;
        }
    }

    void note_change(std::uint64_t number, std::uint32_t slot, std::string_view expected,
                     std::string_view actual) {
        auto change = find_change(expected, actual);
        if (!detail::is_utf8(change.middle)) {
            STEMMA_THROW(
                error(error_code::unsupported, model_.file(), "",
                      "a name or text of a node is invalid UTF-8, and could not be restored"));
        }
        change.node = number;
        change.slot = slot;
        record_.changes.push_back(std::move(change));
    }

    /// Finds the original order of operators. For a Constant in several functions, the first
    /// inlined copy is the original.
    void find_order() {
        std::vector<id> opened(model_.graph(plan_.graph[root_]).node_count, no_id);
        id number = 0;
        auto place = [&](id, id, id item) {
            auto& first = opened[model_.position(item)];
            first = std::min(first, number);
            ++number;
        };
        for_each_operator(root_, place);
        for (auto e : opened) {
            auto& order = record_.order;
            if (order.empty() || order.back().first + order.back().count != e) {
                order.push_back({e, 0});
            }
            ++order.back().count;
        }
        if (record_.order.size() == 1 && record_.order.front().count == number) {
            record_.order.clear();
        }
    }

    const wire_model& model_;
    const fold_plan& plan_;
    const fold_names& names_;
    id root_;
    folded_graph_record record_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_FOLD_DETAIL_FOLD_CHANGES_HPP
