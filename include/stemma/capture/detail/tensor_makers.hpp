// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CAPTURE_DETAIL_TENSOR_MAKERS_HPP
#define STEMMA_CAPTURE_DETAIL_TENSOR_MAKERS_HPP

#include <stemma/align/captured_operations.hpp>
#include <stemma/core/id.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The last producer of each tensor in a run, and which operations repeat earlier ones.
class tensor_makers {
public:
    /// Records results of an operation; names that start with `p:` are parameters, and stay so.
    void note(std::span<const std::string> results, id operation) {
        for (const auto& tensor : results) {
            if (!tensor.starts_with("p:")) {
                maker_[tensor] = operation;
            }
        }
    }

    /// Returns: the producer of the tensor, or `no_id`.
    [[nodiscard]] id maker(const std::string& tensor) const {
        const auto entry = maker_.find(tensor);
        return entry == maker_.end() ? no_id : entry->second;
    }

    /// Adds the producer of the tensor to the sources of the last operation, with the operation
    /// that it repeats. Returns: whether there is one.
    bool add_source(captured_operations& operations, const std::string& tensor) const {
        const auto source = maker(tensor);
        if (source == no_id) {
            return false;
        }
        operations.add_source(source);
        if (const auto first = first_of_.find(source); first != first_of_.end()) {
            operations.add_source(first->second);
        }
        return true;
    }

    /// Records an operation before its results. It repeats an earlier one with that name that read
    /// the same tensors in the same state, and whose results have the same shapes.
    /// Returns: whether it repeats one.
    bool is_repeated(id operation, std::string_view name, std::span<const std::string> inputs,
                     std::span<const std::string> results,
                     std::span<const std::vector<std::int64_t>> shapes) {
        if (inputs.empty() || results.empty()) {
            return false;
        }
        std::string key(name);
        for (const auto& input : inputs) {
            const auto same = same_as_.find(input);
            const auto& tensor = same == same_as_.end() ? input : same->second;
            key.append("\n").append(tensor).append("@").append(std::to_string(maker(tensor)));
        }
        for (const auto& shape : shapes) {
            key += '\n';
            for (auto extent : shape) {
                key.append(std::to_string(extent)).append(",");
            }
        }
        const auto [entry, added] =
            computed_.emplace(std::move(key), call{operation, {results.begin(), results.end()}});
        if (added) {
            return false;
        }
        const auto& first = entry->second;
        first_of_.emplace(operation, first.operation);
        for (std::size_t i = 0; i < std::min(results.size(), first.results.size()); ++i) {
            same_as_.emplace(results[i], first.results[i]);
        }
        return true;
    }

private:
    struct call {
        id operation = no_id;
        std::vector<std::string> results;
    };

    std::unordered_map<std::string, id> maker_;
    std::unordered_map<std::string, call> computed_; // by name, inputs and shapes of results
    std::unordered_map<std::string, std::string> same_as_;
    std::unordered_map<id, id> first_of_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CAPTURE_DETAIL_TENSOR_MAKERS_HPP
