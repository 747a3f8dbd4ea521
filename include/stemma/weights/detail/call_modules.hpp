// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_WEIGHTS_DETAIL_CALL_MODULES_HPP
#define STEMMA_WEIGHTS_DETAIL_CALL_MODULES_HPP

#include <stemma/core/id.hpp>
#include <stemma/evidence/function_calls.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/onnx/onnx_operators.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/open/attributed_model.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The modules that nodes run in: those in functions run in another one for each call.
class call_modules {
public:
    /// Requires: `opened` outlives it and keeps its evidence. Complexity: O(nodes), and that of
    /// `attributed_model::calls` if there are functions.
    explicit call_modules(const attributed_model& opened)
        : opened_(&opened), function_of_(opened.model().node_count(), no_id) {
        const auto& model = opened.model();
        if (model.functions().empty()) {
            return;
        }
        calls_.emplace(opened.calls());
        for (id node = 0; node < model.node_count(); ++node) {
            function_of_[node] = opened.operators().enclosing_function(node);
        }
        count_copies();
    }

    /// Where a node runs.
    struct place {
        id module = 0;
        id called = no_id; ///< the module that it is called for, as `function_calls` finds it
    };

    /// Returns: the place of a node outside functions. Complexity: O(1) on average.
    [[nodiscard]] place of(id node) const {
        return {opened_->tags().attributions[node].module,
                calls_ ? calls_->module_of(node, no_id) : no_id};
    }

    /// Returns: that of a node in the function called at `call`. Complexity: O(1) on average.
    [[nodiscard]] place inside(id node, const place& call) const {
        const auto m = calls_ ? calls_->module_of(node, call.called) : no_id;
        const bool below = m != no_id && opened_->modules().index().is_ancestor(call.module, m);
        return {below ? m : call.module, m};
    }

    /// Calls `f(module)` for each module that a node runs in. Complexity: O(modules).
    template <class Function>
    void for_each(id node, Function f) const {
        const auto own = opened_->tags().attributions[node].module;
        bool any = false;
        if (function_of_[node] != no_id) {
            calls_->for_each_claim(node, [&](const claim& one) {
                any = true;
                f(one.module);
            });
        }
        any ? void() : f(own);
    }

    /// Returns: how often a node would be in the main graph with all functions inlined; calls are
    /// not. Complexity: O(1).
    [[nodiscard]] std::uint64_t copies(id node) const {
        return opened_->model().callee(node) != no_id ? 0 : copies_around(node);
    }

private:
    static constexpr auto most_copies = std::uint64_t{1} << 40U;

    [[nodiscard]] std::uint64_t copies_around(id node) const {
        return function_of_[node] == no_id ? 1 : copies_[function_of_[node]];
    }

    /// Callers first; recursive functions count as never called.
    void count_copies() {
        const auto& model = opened_->model();
        std::vector<std::vector<id>> calls(model.functions().size()); // by caller
        std::vector<std::size_t> open(calls.size(), 0); // calls in functions not yet counted
        copies_.assign(calls.size(), 0);
        for (id node = 0; node < model.node_count(); ++node) {
            const auto f = model.callee(node);
            if (f != no_id && function_of_[node] == no_id) {
                copies_[f] = std::min(copies_[f] + 1, most_copies);
            } else if (f != no_id) {
                calls[function_of_[node]].push_back(f);
                ++open[f];
            }
        }
        std::vector<id> next;
        for (id f = 0; f < open.size(); ++f) {
            open[f] == 0 ? next.push_back(f) : void();
        }
        while (!next.empty()) {
            const auto caller = next.back();
            next.pop_back();
            for (const auto f : calls[caller]) {
                copies_[f] = std::min(copies_[f] + copies_[caller], most_copies);
                --open[f] == 0 ? next.push_back(f) : void();
            }
        }
    }

    const attributed_model* opened_;
    std::optional<function_calls::claims<onnx_operators<wire_model>>> calls_;
    std::vector<id> function_of_;       // by node: the function it is in
    std::vector<std::uint64_t> copies_; // by function
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_WEIGHTS_DETAIL_CALL_MODULES_HPP
