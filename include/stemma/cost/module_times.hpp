// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_COST_MODULE_TIMES_HPP
#define STEMMA_COST_MODULE_TIMES_HPP

#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/ids.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/cost/detail/profiled_nodes.hpp>
#include <stemma/cost/profile.hpp>
#include <stemma/open/attributed_model.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// Options for assigning times to modules.
struct time_options {
    /// Weighs nodes, to distribute the time of fused ones; without it, their time belongs to their
    /// common module.
    std::function<double(id)> weight;
};

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

    /// `module_of(node)` is the module of a node. Complexity: O(n log n) in measurements, per level
    /// of the tree.
    module_times(const profile& measured, const onnx_model& model, const tree_index& tree,
                 const std::function<id(id)>& module_of, const time_options& options = {})
        : modules_(tree.size()), nodes_(model.node_count(), 0), runs_(measured.runs()) {
        const detail::profiled_nodes names(model, measured.kernels());
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
            for (const auto& [m, share, node] : shares(nodes, tree, module_of, options)) {
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

    [[nodiscard]] static std::vector<portion> shares(const std::vector<id>& nodes,
                                                     const tree_index& tree,
                                                     const std::function<id(id)>& module_of,
                                                     const time_options& options) {
        double all = 0;
        for (auto node : nodes) {
            all += options.weight ? options.weight(node) : 0;
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
            result.push_back({module_of(node), options.weight(node) / all, node});
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

    std::vector<of_module> modules_;
    std::vector<double> nodes_;
    std::vector<unmatched_kernel> unmatched_;
    std::size_t runs_ = 0;
    std::size_t fused_ = 0;
    double unmatched_total_ = 0;
    double total_ = 0;
};

/// Returns: the times of the modules of an opened model. Complexity: as `module_times`.
[[nodiscard]] inline module_times find_times(const profile& measured,
                                             const attributed_model& opened,
                                             const time_options& options = {}) {
    return {measured, opened.model(), opened.modules().index(),
            [&](id node) { return opened.tags().attributions[node].module; }, options};
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_COST_MODULE_TIMES_HPP
