// SPDX-License-Identifier: Apache-2.0
// The cost of naming modules, compared with hand-written code for a `module_tree` with classes.
#include "../beside.hpp"

#include <stemma/core/category.hpp>
#include <stemma/core/detail/flat_index.hpp>
#include <stemma/core/detail/grouped_ids.hpp>
#include <stemma/core/detail/hash.hpp>
#include <stemma/core/detail/string_pool.hpp>
#include <stemma/core/id.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/module_tree_builder.hpp>
#include <stemma/model/tag_table.hpp>
#include <stemma/tagging/name_modules.hpp>
#include <stemma/tagging/naming.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using stemma::id;
using stemma::no_id;

/// A stack of blocks of a dozen modules, as in a transformer; or stages of ten blocks each.
stemma::module_tree make_tree(std::size_t modules, bool in_stages) {
    stemma::module_tree_builder builder("net");
    builder.set_class(0, "Net", "app.Net");
    const auto add = [&](id parent, std::string_view name, std::string_view type,
                         std::string_view package = "app.") {
        const auto m = builder.child(parent, name);
        builder.set_class(m, type, std::string(package) + std::string(type));
        return m;
    };
    const auto layers = add(add(0, "encoder", "Encoder"), "layer", "Stack");
    auto stage = layers;
    for (std::size_t i = 0; builder.size() < modules; ++i) {
        if (in_stages && i % 10 == 0) {
            stage = add(layers, "stage" + std::to_string(i / 10), "ModuleList", "torch.nn.");
        }
        const auto block = add(stage, std::to_string(in_stages ? i % 10 : i), "Block");
        const auto attention = add(block, "attention", "Attention");
        for (const auto* name : {"query", "key", "value", "out"}) {
            add(attention, name, "Projection");
        }
        const auto dense = add(block, "dense", "Dense");
        for (const auto* name : {"up", "act", "down", "norm", "drop"}) {
            add(dense, name, name[0] == 'a' ? "Activation" : "Projection");
        }
    }
    return builder.build();
}

/// Comparable tags.
struct named {
    stemma::tag_table tags;

    friend bool operator==(const named& a, const named& b) {
        for (id m = 0; m < a.tags.size(); ++m) {
            if (a.tags.selected(m) != b.tags.selected(m) ||
                (a.tags.is_selected(m) && (a.tags.segment(m) != b.tags.segment(m) ||
                                           a.tags.length(m) != b.tags.length(m)))) {
                return false;
            }
        }
        return a.tags.size() == b.tags.size();
    }
};

bool is_list(const stemma::module_tree& tree, id m) {
    return tree.qualified_class(m).starts_with("torch.nn.");
}

struct no_lists {
    using policy_category = stemma::selection_category;

    [[nodiscard]] bool selects(const stemma::module_tree& tree, id m) const {
        return !is_list(tree, m);
    }
};

std::vector<id> select_by_hand(const stemma::module_tree& tree) {
    const auto parents = tree.index().parents();
    std::vector<id> selected(parents.size());
    for (id m = 1; m < parents.size(); ++m) {
        selected[m] = is_list(tree, m) ? selected[parents[m]] : m;
    }
    return selected;
}

bool is_special(char c) {
    static constexpr auto special = [] {
        std::array<bool, 256> all{};
        for (const char one : {'\\', '/', '.', '#'}) {
            all[static_cast<unsigned char>(one)] = true;
        }
        return all;
    }();
    return special[static_cast<unsigned char>(c)];
}

void append_by_hand(std::string_view name, std::string& text) {
    if (std::none_of(name.begin(), name.end(), is_special)) {
        text.append(name);
        return;
    }
    for (char c : name) {
        if (is_special(c)) {
            text.push_back('\\');
        }
        text.push_back(c);
    }
}

void append_path_by_hand(const stemma::module_tree& tree, id above, id m, std::string& text) {
    const auto parent = tree.index().parent(m);
    if (parent != above) {
        append_path_by_hand(tree, above, parent, text);
        text.push_back('.');
    }
    append_by_hand(tree.name(m), text);
}

named paths_by_hand(const stemma::module_tree& tree) {
    named result{{tree.index(), select_by_hand(tree)}};
    std::string text;
    for (id m = 0; m < tree.size(); ++m) {
        if (result.tags.is_selected(m)) {
            const auto above = result.tags.above(m);
            const auto name = tree.name(m);
            if (tree.index().parent(m) == above &&
                std::none_of(name.begin(), name.end(), is_special)) {
                result.tags.set_segment(m, name);
                continue;
            }
            text.clear();
            append_path_by_hand(tree, above, m, text);
            result.tags.set_segment(m, text);
        }
    }
    result.tags.finish();
    return result;
}

/// Modules of one class below one module: the number of path segments that distinguish them.
class name_counter {
public:
    name_counter(const stemma::module_tree& tree, id above) : tree_(tree), above_(above) {}

    std::size_t operator()(std::span<const id> group) {
        at_.assign(group.begin(), group.end());
        hashes_.assign(group.size(), 0);
        for (std::size_t names = 1;; ++names) {
            for (std::size_t i = 0; i < group.size(); ++i) {
                if (at_[i] != above_) {
                    hashes_[i] = stemma::detail::hash_mix(
                        hashes_[i], stemma::detail::hash_bytes(tree_.name(at_[i])));
                    at_[i] = tree_.index().parent(at_[i]);
                }
            }
            if (all_differ(group, names)) {
                return names;
            }
        }
    }

    void below(id above) { above_ = above; }

private:
    bool all_differ(std::span<const id> group, std::size_t names) const {
        if (group.size() <= 8) {
            for (std::size_t i = 1; i < group.size(); ++i) {
                for (std::size_t j = 0; j < i; ++j) {
                    if (hashes_[i] == hashes_[j] && equal(group[i], group[j], names)) {
                        return false;
                    }
                }
            }
            return true;
        }
        stemma::detail::flat_index index(group.size());
        for (id i = 0; i < group.size(); ++i) {
            const auto place =
                index.insert(hashes_[i], i, [&](id j) { return equal(group[i], group[j], names); });
            if (place != i) {
                return false;
            }
        }
        return true;
    }

    bool equal(id a, id b, std::size_t names) const {
        for (; names > 0 && a != above_ && b != above_; --names) {
            if (tree_.name(a) != tree_.name(b)) {
                return false;
            }
            a = tree_.index().parent(a);
            b = tree_.index().parent(b);
        }
        return names == 0 || a == b;
    }

    const stemma::module_tree& tree_;
    id above_;
    std::vector<id> at_;
    std::vector<std::uint64_t> hashes_;
};

void append_last_names(const stemma::module_tree& tree, id above, id m, std::size_t names,
                       std::string& text) {
    if (names == 0 || m == above) {
        return;
    }
    append_last_names(tree, above, tree.index().parent(m), names - 1, text);
    text.push_back('.');
    append_by_hand(tree.name(m), text);
}

named classes_by_hand(const stemma::module_tree& tree) {
    named result{{tree.index(), select_by_hand(tree)}};
    auto& tags = result.tags;
    stemma::detail::string_pool classes;
    std::vector<id> class_of(tree.size(), no_id);
    std::string text;
    for (id m = 0; m < tree.size(); ++m) {
        if (tags.is_selected(m)) {
            const auto name = tree.class_name(m);
            if (std::none_of(name.begin(), name.end(), is_special)) {
                class_of[m] = classes.intern(name);
                continue;
            }
            text.clear();
            append_by_hand(name, text);
            class_of[m] = classes.intern(text);
        }
    }
    // Sorted by class, then by ancestors: equal classes are adjacent.
    const stemma::detail::grouped_ids by_class(classes.size(), [&](auto take) {
        for (id m = 1; m < tree.size(); ++m) {
            if (class_of[m] != no_id) {
                take(class_of[m], m);
            }
        }
    });
    const stemma::detail::grouped_ids below(tree.size(), [&](auto take) {
        for (auto m : by_class.range(0, by_class.size())) {
            take(tags.above(m), m);
        }
    });
    tags.set_segment(0, classes[class_of[0]]);
    name_counter count(tree, 0);
    for (id above = 0; above < tree.size(); ++above) {
        const auto all = below[above];
        count.below(above);
        for (std::size_t first = 0, last = 0; first < all.size(); first = last) {
            const auto same = class_of[all[first]];
            while (last < all.size() && class_of[all[last]] == same) {
                ++last;
            }
            const auto group = all.subspan(first, last - first);
            const auto name = tree.name(group[0]);
            const auto names =
                group.size() > 1
                    ? count(group)
                    : static_cast<std::size_t>(!name.empty() &&
                                               std::all_of(name.begin(), name.end(), [](char c) {
                                                   return c >= '0' && c <= '9';
                                               }));
            for (auto m : group) {
                text.assign(classes[same]);
                append_last_names(tree, above, m, names, text);
                tags.set_segment(m, text);
            }
        }
    }
    tags.finish();
    return result;
}

template <class Naming, class ByHand>
void name_beside(benchmark::State& state, Naming naming, ByHand by_hand) {
    const auto tree = make_tree(static_cast<std::size_t>(state.range(1)), state.range(0) != 0);
    stemma_bench::measure_beside(
        state, [&] { return named{stemma::name_modules(tree, no_lists{}, naming)}; },
        [&] { return by_hand(tree); });
}

void class_paths(benchmark::State& state) {
    name_beside(state, stemma::class_paths{}, classes_by_hand);
}

void module_paths(benchmark::State& state) {
    name_beside(state, stemma::module_paths{}, paths_by_hand);
}

void sizes(benchmark::internal::Benchmark* bench) {
    for (const int in_stages : {0, 1}) {
        for (const int size : {1'000, 100'000, 1'000'000}) {
            bench->Args({in_stages, size});
        }
    }
    stemma_bench::in_turns(bench);
}

BENCHMARK(class_paths)->Apply(sizes);
BENCHMARK(module_paths)->Apply(sizes);

} // namespace

BENCHMARK_MAIN();
