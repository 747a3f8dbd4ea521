// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_COST_MODULE_TIMES_HPP
#define STEMMA_COST_MODULE_TIMES_HPP

#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/ids.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/cost/detail/profiled_nodes.hpp>
#include <stemma/cost/model_cost.hpp>
#include <stemma/cost/profile.hpp>
#include <stemma/open/attributed_model.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// The times of a profile by module of the model that was run. Together with unmatched times they
/// sum to the profile's total.
class module_times {
public:
    /// The time of a module with its descendants.
    struct of_module {
        double microseconds = 0;                 ///< in all runs
        double own = 0;                          ///< of its own nodes
        double calls = 0;                        ///< of kernels, in all runs
        double least = 0;                        ///< microseconds of the fastest run
        double most = 0;                         ///< microseconds of the slowest run
        std::map<std::string, double> providers; ///< microseconds by provider
    };

    /// The time of an unmatched kernel.
    struct unmatched_kernel {
        std::string name;        ///< as given by the runtime
        std::string op_type;     ///< "" if not given
        double microseconds = 0; ///< in all runs
        std::uint64_t calls = 0; ///< in all runs
    };

    /// The time of a module per run of either model, in microseconds.
    struct paired {
        id first = no_id;  ///< the module of the first model
        id second = no_id; ///< the module of the same path in the second
        double before = 0; ///< in the first; 0 if it has none
        double after = 0;  ///< in the second
    };

    /// The time of fused nodes belongs to their common module, unless it is divided among them by
    /// their cost. Requires: the model outlives this. Complexity: O(n log n) in measurements, per
    /// level of the tree; if divided, also that of `find_cost`.
    module_times(const profile& measured, const attributed_model& opened, bool divided = false)
        : opened_(&opened)
        , files_(measured.files())
        , formats_(measured.formats())
        , dropped_(measured.dropped())
        , divided_(divided)
        , modules_(opened.modules().size())
        , nodes_(opened.model().node_count(), 0)
        , runs_(measured.runs()) {
        const auto& tree = opened.modules().index();
        const detail::profiled_nodes names(opened.model(), measured.kernels());
        std::optional<model_cost> cost;
        if (divided) {
            cost.emplace(find_cost(opened));
        }
        std::vector<run_times> by_run(tree.size());
        for (const auto& kernel : measured.kernels()) {
            const auto nodes = names.find(kernel);
            const auto total = kernel.total();
            total_ += total;
            if (nodes.empty()) {
                unmatched_.push_back({kernel.name, kernel.op_type, total, kernel.calls});
                unmatched_total_ += total;
                continue;
            }
            for (const auto& [m, share, node] : shares(nodes, cost)) {
                auto& time = modules_[m];
                time.own += total * share;
                time.calls += static_cast<double>(kernel.calls) * share;
                time.providers[kernel.provider] += total * share;
                for (const auto& one : kernel.runs) {
                    by_run[m].emplace_back(one.run, one.microseconds * share);
                }
                nodes_[node] += total * share;
            }
            fused_ += nodes.size() > 1 ? 1U : 0U;
        }
        detail::range::sort(unmatched_, [](const auto& a, const auto& b) {
            return a.microseconds != b.microseconds ? a.microseconds > b.microseconds
                                                    : a.name < b.name;
        });
        add_up(tree, by_run);
    }

    /// The model that was run.
    [[nodiscard]] const attributed_model& model() const noexcept { return *opened_; }
    /// The files of the profile, separated by `, `.
    [[nodiscard]] const std::string& files() const noexcept { return files_; }
    /// Their formats, likewise, each once.
    [[nodiscard]] const std::string& formats() const noexcept { return formats_; }
    /// The number of dropped warm-up runs.
    [[nodiscard]] std::size_t dropped() const noexcept { return dropped_; }
    /// Whether times of fused nodes are divided by cost.
    [[nodiscard]] bool is_divided() const noexcept { return divided_; }

    /// Returns: the time of a module with its descendants.
    [[nodiscard]] const of_module& operator[](index_arg<module_id> m) const noexcept {
        return modules_[m];
    }
    /// Returns: the number of modules.
    [[nodiscard]] std::size_t size() const noexcept { return modules_.size(); }

    /// Unmatched kernels, the longest first.
    [[nodiscard]] const std::vector<unmatched_kernel>& unmatched() const noexcept {
        return unmatched_;
    }
    /// Returns: microseconds of these.
    [[nodiscard]] double unmatched_total() const noexcept { return unmatched_total_; }

    /// Returns: microseconds of everything.
    [[nodiscard]] double total() const noexcept { return total_; }
    /// How many runs there are.
    [[nodiscard]] std::size_t runs() const noexcept { return runs_; }

    /// Returns: the share of one run in a number that all runs add up to.
    [[nodiscard]] double per_run(double total) const noexcept {
        return total / static_cast<double>(std::max<std::size_t>(runs_, 1));
    }

    /// Returns: microseconds of a node; the first of several fused nodes has them all, unless they
    /// are distributed.
    [[nodiscard]] double node(index_arg<node_id> node) const noexcept { return nodes_[node]; }

    /// Returns: the number of kernels for several nodes.
    [[nodiscard]] std::size_t fused() const noexcept { return fused_; }

private:
    using run_times = std::vector<std::pair<std::size_t, double>>; // run, microseconds

    struct portion {
        id module = 0;
        double share = 1;
        id node = no_id;
    };

    [[nodiscard]] std::vector<portion> shares(const std::vector<id>& nodes,
                                              const std::optional<model_cost>& cost) const {
        const auto& tree = opened_->modules().index();
        const auto module_of = [&](id node) { return opened_->tags().attributions[node].module; };
        double all = 0;
        for (auto node : nodes) {
            all += cost ? cost->node_flops(node) : 0;
        }
        if (nodes.size() == 1 || !(all > 0)) {
            auto meet = module_of(nodes.front());
            for (auto node : nodes) {
                meet = tree.lca(meet, module_of(node));
            }
            return {{meet, 1, nodes.front()}};
        }
        std::vector<portion> result;
        for (auto node : nodes) {
            result.push_back({module_of(node), cost->node_flops(node) / all, node});
        }
        return result;
    }

    /// One entry per run, ascending.
    static void merge(run_times& runs) {
        std::sort(runs.begin(), runs.end(),
                  [](const auto& a, const auto& b) { return a.first < b.first; });
        std::size_t kept = 0;
        for (std::size_t i = 1; i < runs.size(); ++i) {
            if (runs[i].first == runs[kept].first) {
                runs[kept].second += runs[i].second;
            } else {
                runs[++kept] = runs[i];
            }
        }
        runs.resize(std::min(runs.size(), kept + 1));
    }

    void add_up(const tree_index& tree, std::vector<run_times>& by_run) {
        for (auto& time : modules_) {
            time.microseconds = time.own;
        }
        for (auto m = static_cast<id>(tree.size()); m-- > 0;) {
            auto& runs = by_run[m];
            merge(runs);
            if (!runs.empty()) {
                const auto [least, most] =
                    std::minmax_element(runs.begin(), runs.end(), [](const auto& a, const auto& b) {
                        return a.second < b.second;
                    });
                modules_[m].least = runs.size() < runs_ ? 0 : least->second;
                modules_[m].most = most->second;
            }
            if (m == 0) {
                return;
            }
            auto& above = modules_[tree.parent(m)];
            above.microseconds += modules_[m].microseconds;
            above.calls += modules_[m].calls;
            for (const auto& [name, time] : modules_[m].providers) {
                above.providers[name] += time;
            }
            auto& sums = by_run[tree.parent(m)];
            sums.insert(sums.end(), runs.begin(), runs.end());
            runs = {};
        }
    }

    const attributed_model* opened_;
    std::string files_;
    std::string formats_;
    std::size_t dropped_;
    bool divided_;
    std::vector<of_module> modules_;
    std::vector<double> nodes_;
    std::vector<unmatched_kernel> unmatched_;
    std::size_t runs_ = 0;
    std::size_t fused_ = 0;
    double unmatched_total_ = 0;
    double total_ = 0;
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_COST_MODULE_TIMES_HPP
