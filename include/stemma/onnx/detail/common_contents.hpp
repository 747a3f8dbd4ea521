// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_COMMON_CONTENTS_HPP
#define STEMMA_ONNX_DETAIL_COMMON_CONTENTS_HPP

#include <stemma/align/comparable_graph.hpp>
#include <stemma/core/detail/hash.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/parallel.hpp>
#include <stemma/io/detail/xxh64.hpp>
#include <stemma/onnx/detail/constant_node.hpp>
#include <stemma/onnx/detail/data_hashes.hpp>
#include <stemma/onnx/detail/tensor_content.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/onnx/message_refs.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The tensors that a model stores: initializers, numbered as in `wire_model::tensors`, then those
/// of Constants, in order of nodes.
class stored_tensors {
public:
    /// Requires: `model` outlives this. Complexity: O(nodes), and O(bytes) of Constants'
    /// attributes.
    explicit stored_tensors(const wire_model& model) : model_(&model) {
        for (id node = 0; node < model.node_count(); ++node) {
            if (const auto tensor =
                    is_constant(node) ? model.constant_tensor(node) : std::nullopt) {
                nodes_.push_back(node);
                constants_.push_back(*tensor);
            }
        }
    }

    [[nodiscard]] const wire_model& model() const noexcept { return *model_; }

    [[nodiscard]] std::size_t size() const noexcept {
        return model_->tensors().size() + constants_.size();
    }

    [[nodiscard]] tensor_ref operator[](std::size_t number) const noexcept {
        const auto initializers = model_->tensors();
        if (number < initializers.size()) {
            return initializers[number];
        }
        tensor_ref result;
        result.message = constants_[number - initializers.size()];
        return result;
    }

    /// Returns: the nodes of the tensors behind the initializers, ascending.
    [[nodiscard]] std::span<const id> constants() const noexcept { return nodes_; }

    [[nodiscard]] bool is_constant(id node) const noexcept {
        return is_constant_node(*model_, node);
    }

private:
    const wire_model* model_;
    std::vector<message_ref> constants_;
    std::vector<id> nodes_;
};

/// Hashes the tensors of two models so that equal hashes mean equal contents, within and across
/// models, as those of `content_hasher` do.
///
/// Data whose beginning shows that they cannot equal any others are only summed: if all weights
/// changed, that is hardly slower than reading them. Where sums agree, hashes follow.
class common_contents {
public:
    /// Requires: both outlive this. Complexity: O(bytes), and O(n log n) in tensors.
    common_contents(const stored_tensors& before, const stored_tensors& after)
        : models_{&before, &after} {
        for (std::size_t side = 0; side < 2; ++side) {
            hashes_[side].resize(models_[side]->size());
            begin(side);
        }
        mark_alike([](const auto& one) { return one.beginning; });
        mark_alike([](const auto& one) { return one.signs; });
        sort_by([](const auto& one) { return std::tuple(one.side, one.number); });
        for_large([](const auto&) { return true; },
                  [this](auto& one, const auto& content) { read(one, content); });
        mark_shuffled();
        for_large([](const auto& one) { return one.is_shuffled; },
                  [this](auto& one, const auto& content) { add_loose(one, content); });
    }

    /// Returns: hashes of the tensors of the model before (0) or after (1).
    [[nodiscard]] const std::vector<content_hash>& of(std::size_t side) const noexcept {
        return hashes_[side];
    }

private:
    struct large_tensor {
        std::uint64_t beginning = 0; ///< a hash of layout, size and first data
        std::uint64_t signs = 0;     ///< the same of the signs alone
        std::uint64_t bytes = 0;
        std::uint64_t sum = 0; ///< of the elements
        std::uint32_t side = 0;
        std::uint32_t number = 0;
        unsigned bits = 0;
        bool begins_alike = false; ///< or its signs do
        bool is_shuffled = false;  ///< may hold the elements of another one
    };

    /// Hashes what is small, and looks at the beginning of what is not.
    void begin(std::size_t side) {
        const auto& tensors = *models_[side];
        const auto parts = thread_limit::current().parts_of_tensors(tensors.size());
        std::vector<std::vector<large_tensor>> large(parts);
        for_each_range(tensors.size(), parts,
                       [&](std::size_t part, std::size_t first, std::size_t last) {
                           tensor_content_reader reader(tensors.model());
                           for (auto i = first; i < last; ++i) {
                               begin(side, i, reader, large[part]);
                           }
                       });
        for (const auto& some : large) {
            large_.insert(large_.end(), some.begin(), some.end());
        }
    }

    void begin(std::size_t side, std::size_t number, tensor_content_reader& reader,
               std::vector<large_tensor>& large) {
        const auto tensor = (*models_[side])[number];
        const auto content = reader.read(tensor);
        if (!content.readable || tensor.sparse) {
            return;
        }
        const data_layout layout(content.header);
        const auto bytes = content.bytes();
        if (bytes.size() <= hashed_part) {
            hashes_[side][number] = hash_data(layout, bytes);
            return;
        }
        const auto first = bytes.substr(0, hashed_part);
        large_tensor one;
        one.side = static_cast<std::uint32_t>(side);
        one.number = static_cast<std::uint32_t>(number);
        one.bytes = bytes.size();
        one.bits = layout.bits;
        one.beginning = hash_mix(hash_mix(layout.seed, bytes.size()), hash_bytes(first));
        if (layout.has_signs) {
            auto signs = layout.signs();
            signs.add(first);
            one.signs = hash_mix(layout.seed, signs.value());
        }
        large.push_back(one);
    }

    template <class Key>
    void sort_by(Key key) {
        std::sort(large_.begin(), large_.end(),
                  [&](const auto& a, const auto& b) { return key(a) < key(b); });
    }

    template <class Hash>
    void mark_alike(Hash hash) {
        sort_by(hash);
        for (std::size_t i = 1; i < large_.size(); ++i) {
            if (hash(large_[i]) != 0 && hash(large_[i]) == hash(large_[i - 1])) {
                large_[i - 1].begins_alike = large_[i].begins_alike = true;
            }
        }
    }

    void read(large_tensor& one, const tensor_content& content) {
        auto& result = hashes_[one.side][one.number];
        if (one.begins_alike) {
            result = hash_data(data_layout(content.header), content.bytes());
            return;
        }
        const auto sums = sums_of(content.bytes(), one.bits);
        one.sum = sums.total;
        result.exact = one.beginning | 1U;
        result.nonzero = sums.nonzero;
        result.loose = one.bits == 0 ? 0 : one.beginning;
    }

    /// Marks what may hold the elements of another tensor in another order. Those that were hashed
    /// have no sums.
    void mark_shuffled() {
        const auto count = [this](const large_tensor& one) {
            return std::tuple(one.bits, one.bytes, hashes_[one.side][one.number].nonzero);
        };
        sort_by([&](const large_tensor& one) {
            return std::tuple_cat(count(one), std::tuple(!one.begins_alike, one.sum));
        });
        bool hashed = false; // one with as many elements was
        for (std::size_t i = 0; i < large_.size(); ++i) {
            auto& one = large_[i];
            const bool same_count = i > 0 && count(large_[i - 1]) == count(one);
            hashed = (same_count && hashed) || one.begins_alike;
            if (one.bits == 0 || one.begins_alike) {
                continue;
            }
            one.is_shuffled = one.is_shuffled || hashed;
            if (same_count && !large_[i - 1].begins_alike && large_[i - 1].sum == one.sum) {
                large_[i - 1].is_shuffled = one.is_shuffled = true;
            }
        }
    }

    void add_loose(const large_tensor& one, const tensor_content& content) {
        std::uint64_t sum = 0;
        for_each_part_of(content.bytes(),
                         [&](std::string_view part) { sum += sum_of_elements(part, one.bits); });
        hashes_[one.side][one.number].loose = sum;
    }

    /// Calls `f(tensor, content)` for each large tensor that is wanted, in several threads.
    template <class Wanted, class Function>
    void for_large(Wanted wanted, Function f) {
        for_each_range(large_.size(), thread_limit::current().parts_of_tensors(large_.size()),
                       [&](std::size_t, std::size_t first, std::size_t last) {
                           std::array readers{tensor_content_reader(models_[0]->model()),
                                              tensor_content_reader(models_[1]->model())};
                           for (auto i = first; i < last; ++i) {
                               auto& one = large_[i];
                               if (wanted(one)) {
                                   const auto tensor = (*models_[one.side])[one.number];
                                   f(one, readers[one.side].read(tensor));
                               }
                           }
                       });
    }

    std::array<const stored_tensors*, 2> models_;
    std::array<std::vector<content_hash>, 2> hashes_;
    std::vector<large_tensor> large_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_COMMON_CONTENTS_HPP
