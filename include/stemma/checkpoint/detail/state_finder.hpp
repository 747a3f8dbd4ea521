// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CHECKPOINT_DETAIL_STATE_FINDER_HPP
#define STEMMA_CHECKPOINT_DETAIL_STATE_FINDER_HPP

#include <stemma/checkpoint/checkpoint.hpp>
#include <stemma/checkpoint/detail/pickled_values.hpp>
#include <stemma/config.hpp>
#include <stemma/core/detail/dotted_path.hpp>
#include <stemma/error.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Keys under which training programs store the state dict among other things, in search order.
inline constexpr std::array<std::string_view, 9> state_keys{
    "state_dict", "model_state_dict", "model_state", "model", "module",
    "net",        "network",          "weights",     "params"};

/// Finds the tensors of a state dict in a pickle.
///
/// - In a dict, the first member named in `state_keys` that contains a state dict in turn, at most
/// four levels deep, counts; else the dict itself if it directly contains tensors.
/// - If there is none, all tensors in dicts and lists count, named by the keys on the way.
/// - In a TorchScript module, all tensors in its attributes and those of its descendants count.
class state_finder {
public:
    /// Requires: the values outlive this.
    explicit state_finder(const pickled_values& values) : values_(&values) {}

    /// Finds them. Throws: `error` (`malformed`) if there are none, `unsupported` if nested too
    /// deep or if names are too long in total. Complexity: O(values).
    void find(pickled root) {
        if (values_->is(root, pickled_kind::object)) {
            walk_script(root, "", 0);
        } else if (const auto state = choose(root, 0); state != pickled_values::none) {
            const auto& items = values_->items(state);
            for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
                if (values_->is(items[i + 1], pickled_kind::tensor)) {
                    add_tensor(text_of(items[i]), items[i + 1]);
                }
            }
            read_modules((*values_)[state].attributes);
        } else {
            walk(root, "", 0);
        }
        if (tensors_.empty()) {
            values_->fail("contains no tensors");
        }
    }

    /// Names, and numbers of tensors.
    [[nodiscard]] std::vector<std::pair<std::string, std::int64_t>>& tensors() noexcept {
        return tensors_;
    }

    /// The modules named besides the tensors.
    [[nodiscard]] std::vector<checkpoint::module>& modules() noexcept { return modules_; }

private:
    static constexpr unsigned deepest = 200;

    [[nodiscard]] pickled choose(pickled v, unsigned depth) {
        constexpr unsigned deepest_state = 4;
        if (depth > deepest_state || !values_->is(v, pickled_kind::dict) ||
            !seen_.insert(v).second) {
            return pickled_values::none;
        }
        for (const auto key : state_keys) {
            const auto result = choose(values_->member(v, key), depth + 1);
            if (result != pickled_values::none) {
                return result;
            }
        }
        const auto& items = values_->items(v);
        for (std::size_t i = 1; i < items.size(); i += 2) {
            if (values_->is(items[i], pickled_kind::tensor)) {
                return v;
            }
        }
        return pickled_values::none;
    }

    [[nodiscard]] std::string text_of(pickled key) const {
        return values_->is(key, pickled_kind::text)      ? std::string(values_->text(key))
               : values_->is(key, pickled_kind::integer) ? std::to_string((*values_)[key].content)
                                                         : std::string();
    }

    /// Names are built for everything below, so a few bytes can produce many.
    void spend(std::size_t bytes) {
        constexpr std::size_t most = std::size_t{1} << 29U;
        constexpr std::size_t of_one = 64;
        spent_ += bytes + of_one;
        if (spent_ > most) {
            values_->fail(error_code::unsupported, "has names that are too long in total");
        }
    }

    void add_tensor(std::string name, pickled tensor) {
        spend(name.size());
        tensors_.emplace_back(std::move(name), (*values_)[tensor].content);
    }

    void check_depth(unsigned depth) const {
        if (depth > deepest) {
            values_->fail(error_code::unsupported, "has values nested deeper than 200");
        }
    }

    /// Visits every container once, even in cycles.
    void walk(pickled v, const std::string& path, unsigned depth) {
        check_depth(depth);
        if (values_->is(v, pickled_kind::tensor)) {
            add_tensor(path, v);
            return;
        }
        const bool dict = values_->is(v, pickled_kind::dict);
        if ((!dict && !values_->is(v, pickled_kind::list)) || !walked_.insert(v).second) {
            return;
        }
        const auto& items = values_->items(v);
        for (std::size_t i = 0; i + (dict ? 1 : 0) < items.size(); i += dict ? 2 : 1) {
            const auto inner = items[dict ? i + 1 : i];
            const auto kind = (*values_)[inner].kind;
            if (kind == pickled_kind::tensor || kind == pickled_kind::dict ||
                kind == pickled_kind::list) {
                auto name = member_path(path, dict ? text_of(items[i]) : std::to_string(i));
                spend(name.size());
                walk(inner, name, depth + 1);
            }
        }
    }

    /// A module held by several has its tensors under each of their names, as in a state dict.
    void walk_script(pickled object, const std::string& path, unsigned depth) {
        check_depth(depth);
        modules_.push_back({path, class_of(object)});
        const auto state = (*values_)[object].attributes;
        if (!values_->is(state, pickled_kind::dict)) {
            return;
        }
        const auto& items = values_->items(state);
        spend(items.size());
        for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
            const bool tensor = values_->is(items[i + 1], pickled_kind::tensor);
            if (tensor || values_->is(items[i + 1], pickled_kind::object)) {
                auto name = member_path(path, text_of(items[i]));
                if (tensor) {
                    add_tensor(std::move(name), items[i + 1]);
                } else {
                    spend(name.size());
                    walk_script(items[i + 1], name, depth + 1);
                }
            }
        }
    }

    /// Returns: `pkg.mod.Class` for `__torch__.pkg.mod.___torch_mangle_3` and `Class`.
    [[nodiscard]] std::string class_of(pickled object) const {
        const auto function = values_->items(object).front();
        std::string name(values_->text(function));
        name += '.';
        name += values_->text((*values_)[function].attributes);
        constexpr std::string_view prefix = "__torch__.";
        constexpr std::string_view mangle = ".___torch_mangle_";
        name = name.starts_with(prefix) ? name.substr(prefix.size() - 1) : "." + name;
        for (auto at = name.find(mangle); at != name.npos; at = name.find(mangle)) {
            const auto end = name.find('.', at + 1);
            name.erase(at, end == name.npos ? name.npos : end - at);
        }
        return name.substr(std::min<std::size_t>(1, name.size()));
    }

    /// A state dict lists its modules: `_metadata` has a member for each.
    void read_modules(pickled attributes) {
        const auto metadata = values_->member(attributes, "_metadata");
        if (!values_->is(metadata, pickled_kind::dict)) {
            return;
        }
        const auto& items = values_->items(metadata);
        for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
            if (values_->is(items[i], pickled_kind::text)) {
                spend(values_->text(items[i]).size());
                modules_.push_back({std::string(values_->text(items[i])), {}});
            }
        }
    }

    const pickled_values* values_;
    std::unordered_set<pickled> seen_;
    std::unordered_set<pickled> walked_;
    std::size_t spent_ = 0;
    std::vector<std::pair<std::string, std::int64_t>> tensors_;
    std::vector<checkpoint::module> modules_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CHECKPOINT_DETAIL_STATE_FINDER_HPP
