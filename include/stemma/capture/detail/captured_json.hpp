// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CAPTURE_DETAIL_CAPTURED_JSON_HPP
#define STEMMA_CAPTURE_DETAIL_CAPTURED_JSON_HPP

#include <stemma/align/captured_operations.hpp>
#include <stemma/config.hpp>
#include <stemma/core/detail/dotted_path.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/core/detail/shortened.hpp>
#include <stemma/core/detail/string_pool.hpp>
#include <stemma/core/id.hpp>
#include <stemma/error.hpp>
#include <stemma/io/detail/json_part.hpp>
#include <stemma/model/module_lookup.hpp>
#include <stemma/model/module_tree.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// An object of a capture, and how to report problems with it.
class captured_json {
public:
    /// Throws: `error` of `error_code::malformed` if the part is not an object.
    captured_json(json_part object, std::string_view file, std::string_view what,
                  std::size_t number)
        : object_(object), file_(file), what_(what), number_(number) {
        if (!object_.is_object()) {
            fail("is not an object");
        }
    }

    /// Whether the object has a key, even if null.
    [[nodiscard]] bool has(std::string_view key) const { return bool(object_[key]); }

    /// Whether the object has a string under a key.
    [[nodiscard]] bool is_text(std::string_view key) const { return object_[key].is_text(); }

    /// Throws: if it is missing or not a string.
    [[nodiscard]] std::string text(std::string_view key) const {
        const auto entry = object_[key];
        if (!entry.is_text()) {
            fail("lacks the string '" + std::string(key) + "'");
        }
        return std::string(entry.text());
    }

    /// Returns: `no_id` if it is missing, null or out of range.
    [[nodiscard]] id number(std::string_view key) const {
        const auto entry = object_[key];
        return entry.is_number<id>() ? entry.number<id>() : no_id;
    }

    /// Returns: the strings in a list; empty if it is missing. Throws: if it is not a list of
    /// strings.
    /// Complexity: O(length of the list).
    [[nodiscard]] std::vector<std::string> strings(std::string_view key) const {
        const auto entry = object_[key];
        if (!entry || entry.is_null()) {
            return {};
        }
        if (!entry.is_array()) {
            fail("'" + std::string(key) + "' is not a list");
        }
        if (!entry.is_texts()) {
            fail("'" + std::string(key) + "' is not a list of strings");
        }
        return entry.texts();
    }

    /// Returns: the shapes in a list, empty for anything without a shape.
    /// Complexity: O(length of the list).
    [[nodiscard]] std::vector<std::vector<std::int64_t>> shapes(std::string_view key) const {
        std::vector<std::vector<std::int64_t>> result;
        const auto entry = object_[key];
        if (entry.is_array()) {
            for (const auto shape : entry) {
                result.push_back(shape.is_array() ? extents(shape) : std::vector<std::int64_t>());
            }
        }
        return result;
    }

    /// Throws: always, `error` of `error_code::malformed` that names file, part and number.
    [[noreturn]] void fail(std::string_view reason) const {
        STEMMA_THROW(error(error_code::malformed, file_,
                           std::string(what_) + " " + std::to_string(number_), reason));
    }

private:
    /// Non-numbers become -1.
    [[nodiscard]] static std::vector<std::int64_t> extents(json_part shape) {
        std::vector<std::int64_t> result;
        for (const auto extent : shape) {
            const bool is_known = extent.is_number<std::int64_t>();
            result.push_back(is_known ? extent.number<std::int64_t>() : -1);
        }
        return result;
    }

    json_part object_;
    std::string_view file_;
    std::string_view what_;
    std::size_t number_;
};

/// Returns: the module at a path or under an alias, or `no_id`.
/// Complexity: O(length) expected.
[[nodiscard]] inline id find_path(const module_tree& modules, std::string_view path) {
    const auto [module, rest] = find_longest(modules, path);
    return rest.empty() ? module : modules.aliased(path);
}

/// Returns: the parameter at a path, possibly through an alias; none for buffers and unknown ones.
/// Complexity: as `find_path`, and O(parameters of the module).
[[nodiscard]] inline std::optional<tensor_info> find_parameter(const module_tree& modules,
                                                               std::string_view path) {
    const auto owner = find_path(modules, path_around(path));
    const auto last = path.substr(path.rfind('.') + 1);
    if (owner != no_id) {
        for (std::size_t i = 0; i < modules.parameter_count(owner); ++i) {
            if (const auto tensor = modules.parameter(owner, i); tensor.name == last) {
                return tensor;
            }
        }
    }
    return std::nullopt;
}

/// Returns: the module at the longest part of a path that has one; `lengths` are those of aliases,
/// each once, the greatest first.
[[nodiscard]] inline id find_nearest(const module_tree& modules, std::string_view path,
                                     std::span<const std::size_t> lengths) {
    const auto [module, rest] = find_longest(modules, path);
    for (auto length : lengths) {
        if (length + rest.size() > path.size() && length < path.size() && path[length] == '.') {
            if (const auto m = modules.aliased(path.substr(0, length)); m != no_id) {
                return m;
            }
        }
    }
    return module;
}

/// Gives operations of a part of a capture the modules at their paths, of which they have the
/// numbers. One whose path leads nowhere has the nearest module around, not exactly; such paths
/// become a fault.
/// Complexity: as `find_path` for each path; for one that leads nowhere also O(length of all
/// aliases); O(operations).
inline void place_operations(const module_tree& modules, const string_pool& paths,
                             captured_operations& operations, std::string_view part) {
    std::vector<id> module_at;
    std::vector<bool> is_exact;
    std::size_t lost = 0;
    std::string_view example;
    std::vector<std::size_t> lengths; // of aliases
    for (id p = 0; p < paths.size(); ++p) {
        const std::string_view path = paths[p];
        auto m = find_path(modules, path);
        is_exact.push_back(m != no_id);
        if (m == no_id) {
            if (lost++ == 0) {
                example = path;
                for (const auto& alias : modules.aliases()) {
                    lengths.push_back(alias.path.size());
                }
                lengths = range::each_once(std::move(lengths));
                std::reverse(lengths.begin(), lengths.end());
            }
            m = find_nearest(modules, path, lengths);
        }
        module_at.push_back(m);
    }
    if (lost > 0) {
        operations.add_fault(std::to_string(lost) + " of " + std::to_string(paths.size()) +
                             " modules in the " + std::string(part) +
                             " are not in the tree, such as '" +
                             shortened(example, module_tree::report_path_length) + "'");
    }
    for (id i = 0; i < operations.size(); ++i) {
        auto& one = operations[i];
        one.exact = one.exact && is_exact[one.module];
        one.module = module_at[one.module];
    }
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CAPTURE_DETAIL_CAPTURED_JSON_HPP
