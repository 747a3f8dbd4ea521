// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_MODEL_MODULE_TREE_BUILDER_HPP
#define STEMMA_MODEL_MODULE_TREE_BUILDER_HPP

#include <stemma/core/detail/flat_index.hpp>
#include <stemma/core/detail/hash.hpp>
#include <stemma/core/detail/path_trail.hpp>
#include <stemma/core/id.hpp>
#include <stemma/model/module_tree.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// Collects modules in any order with parents before children, then builds the tree.
///
/// A module is identified by the id assigned here (the root is 0); `rank_of` translates after
/// `build`.
class module_tree_builder {
public:
    /// `root_name` is the name of the root, which is not part of any path.
    explicit module_tree_builder(std::string_view root_name = "") {
        add_module(no_id, names_.intern(root_name));
    }

    /// Returns: the number of modules added, including the root.
    [[nodiscard]] std::size_t size() const noexcept { return modules_.size(); }

    /// Returns: `no_id` for the root.
    [[nodiscard]] id parent(id m) const noexcept { return modules_[m].parent; }

    /// Returns: the name of the module in its parent; valid until the next call that adds a name.
    [[nodiscard]] std::string_view name(id m) const noexcept { return names_[modules_[m].name]; }

    /// Returns: the child of `parent` with that name, or `no_id`.
    [[nodiscard]] id find_child(id parent, std::string_view name) const {
        const auto interned = names_.find(name);
        return interned == no_id
                   ? no_id
                   : children_.find(detail::hash_mix(parent, interned), [&](id m) {
                         return modules_[m].parent == parent && modules_[m].name == interned;
                     });
    }

    /// Returns: the child of `parent` with that name, added if missing.
    id child(id parent, std::string_view name) {
        const auto interned = names_.intern(name);
        const auto next = static_cast<id>(modules_.size());
        const auto existing = children_.insert(detail::hash_mix(parent, interned), next, [&](id m) {
            return modules_[m].parent == parent && modules_[m].name == interned;
        });
        return existing == next ? add_module(parent, interned) : existing;
    }

    /// Returns: the module at a dotted path below `from`, added with its ancestors if missing.
    id at_path(std::string_view path, id from = 0) {
        if (path == ".") {
            return child(from, "");
        }
        // A trailing dot begins no segment.
        return trail_.follow(from, path.ends_with('.') ? path.substr(0, path.size() - 1) : path,
                             [&](id parent, std::string_view name) { return child(parent, name); });
    }

    /// Sets the name of the root.
    void set_root_name(std::string_view name) { modules_[0].name = names_.intern(name); }

    /// Sets the class; "" if unknown.
    void set_class(id m, std::string_view class_name, std::string_view qualified_class = {}) {
        modules_[m].class_name = names_.intern(class_name);
        modules_[m].qualified = names_.intern(qualified_class);
    }

    /// Whether `set_class` was called for `m`, even with "".
    [[nodiscard]] bool has_class(id m) const noexcept { return modules_[m].class_name != no_id; }

    /// Sets how often the module ran; `no_id` if unknown.
    void set_calls(id m, id calls) { modules_[m].calls = calls; }

    /// Returns: the number last passed to `set_calls`, `no_id` if none.
    [[nodiscard]] id calls(id m) const noexcept { return modules_[m].calls; }

    /// Appends to the parameters of `m`; the text and shape of `tensor` are copied.
    void add_parameter(id m, const tensor_info& tensor) { add_tensor(m, tensor, false); }

    /// As `add_parameter`, for a buffer. `trainable` is kept as it is.
    void add_buffer(id m, const tensor_info& tensor) { add_tensor(m, tensor, true); }

    /// `m` can also be reached by `path`, joined by dots from below the root.
    void add_alias(std::string path, id m) { aliases_.push_back({std::move(path), m}); }

    /// The parameters at these paths are one tensor.
    void add_shared_parameters(std::vector<std::string> paths) {
        shared_.push_back(std::move(paths));
    }

    /// Returns: the tree; children are in the order of insertion, or in that of `siblings`, which
    /// then lists all modules except the root.
    /// Complexity: O(modules + tensors).
    [[nodiscard]] module_tree build(std::span<const id> siblings = {}) {
        const auto order = preorder(siblings);
        rank_.resize(modules_.size());
        for (id rank = 0; rank < order.size(); ++rank) {
            rank_[order[rank]] = rank;
        }
        module_tree tree;
        tree.names_ = names_;
        const auto nothing = tree.names_.intern("");
        const auto or_nothing = [&](id name) { return name == no_id ? nothing : name; };
        std::vector<id> parents;
        for (auto* column : {&parents, &tree.name_, &tree.class_, &tree.qualified_, &tree.calls_}) {
            column->clear();
            column->reserve(order.size());
        }
        tree.path_length_.clear();
        tree.children_ = {};
        for (auto m : order) {
            const auto& from = modules_[m];
            parents.push_back(from.parent == no_id ? no_id : rank_[from.parent]);
            tree.name_.push_back(from.name);
            tree.class_.push_back(or_nothing(from.class_name));
            tree.qualified_.push_back(or_nothing(from.qualified));
            tree.calls_.push_back(from.calls);
        }
        tree.index_ = tree_index(std::move(parents));
        place_tensors(tree);
        for (const auto& entry : aliases_) {
            tree.by_alias_.insert(
                detail::hash_bytes(entry.path), static_cast<id>(tree.aliases_.size()),
                [&](id other) { return tree.aliases_[other].path == entry.path; });
            tree.aliases_.push_back({entry.path, rank_[entry.module]});
        }
        tree.shared_ = shared_;
        tree.fill_optional_columns();
        return tree;
    }

    /// Returns: the rank of module `m` of the builder in the tree that `build` returned last.
    [[nodiscard]] id rank_of(id m) const noexcept { return rank_[m]; }

private:
    struct module_record {
        id parent = no_id;
        id name = no_id;
        id class_name = no_id;
        id qualified = no_id;
        id calls = no_id;
    };

    struct owned_tensor {
        id owner = no_id;
        bool is_buffer = false;
        module_tree::tensor_record tensor;
    };

    id add_module(id parent, id name) {
        module_record added;
        added.parent = parent;
        added.name = name;
        modules_.push_back(added);
        return static_cast<id>(modules_.size() - 1);
    }

    void add_tensor(id m, const tensor_info& tensor, bool is_buffer) {
        owned_tensor added;
        added.owner = m;
        added.is_buffer = is_buffer;
        added.tensor.name = names_.intern(tensor.name);
        added.tensor.dtype = names_.intern(tensor.dtype);
        added.tensor.first_extent = static_cast<std::uint32_t>(extents_.size());
        added.tensor.rank = static_cast<std::uint32_t>(tensor.shape.size());
        added.tensor.trainable = tensor.trainable;
        extents_.insert(extents_.end(), tensor.shape.begin(), tensor.shape.end());
        tensors_.push_back(added);
    }

    // Sibling lists by counting sort, then a walk with an explicit stack.
    [[nodiscard]] std::vector<id> preorder(std::span<const id> siblings) const {
        std::vector<id> next_sibling(modules_.size(), no_id);
        std::vector<id> first_child(modules_.size(), no_id);
        for (auto i = static_cast<id>(modules_.size() - 1); i-- > 0;) {
            const auto m = siblings.empty() ? i + 1 : siblings[i];
            next_sibling[m] = std::exchange(first_child[modules_[m].parent], m);
        }
        std::vector<id> order;
        order.reserve(modules_.size());
        std::vector<id> open{0};
        while (!open.empty()) {
            const auto m = open.back();
            open.pop_back();
            order.push_back(m);
            if (next_sibling[m] != no_id) {
                open.push_back(next_sibling[m]);
            }
            if (first_child[m] != no_id) {
                open.push_back(first_child[m]);
            }
        }
        return order;
    }

    void place_tensors(module_tree& tree) {
        const auto place = [&](const owned_tensor& owned) {
            const auto m = rank_[owned.owner];
            return owned.is_buffer ? tree.buffers_of(m) : tree.parameters_of(m);
        };
        auto sorted = tensors_;
        std::stable_sort(sorted.begin(), sorted.end(),
                         [&](const auto& a, const auto& b) { return place(a) < place(b); });
        tree.own_first_.assign(tree.parameters_of(modules_.size()) + 1, 0);
        for (const auto& owned : sorted) {
            ++tree.own_first_[place(owned) + 1];
            tree.tensors_.push_back(owned.tensor);
        }
        for (std::size_t i = 1; i < tree.own_first_.size(); ++i) {
            tree.own_first_[i] += tree.own_first_[i - 1];
        }
        tree.extents_ = extents_;
    }

    detail::string_pool names_;
    std::vector<module_record> modules_;
    std::vector<owned_tensor> tensors_;
    std::vector<std::int64_t> extents_;
    std::vector<module_tree::alias> aliases_;
    std::vector<std::vector<std::string>> shared_;
    std::vector<id> rank_;
    detail::flat_index children_;
    detail::path_trail trail_{'.'};
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_MODEL_MODULE_TREE_BUILDER_HPP
