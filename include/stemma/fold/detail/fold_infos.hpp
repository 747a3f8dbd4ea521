// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_FOLD_DETAIL_FOLD_INFOS_HPP
#define STEMMA_FOLD_DETAIL_FOLD_INFOS_HPP

#include <stemma/core/id.hpp>
#include <stemma/fold/detail/fold_plan.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The first IR version with ValueInfos in functions.
inline constexpr std::int64_t first_version_with_function_infos = 10;

/// Finds the ValueInfos of graphs whose values move into functions, and the types of values in
/// functions.
class fold_infos {
public:
    /// Requires: all outlive it. Complexity: O(nodes + values + length of ValueInfos).
    fold_infos(const wire_model& model, const fold_plan& plan) : model_(model), plan_(plan) {
        const auto counts = [&](const value_info_ref& info) {
            return plan.root[info.graph] != no_id && info.value != no_id &&
                   model.graph_of_value(info.value) == info.graph &&
                   info.field == detail::onnx_fields::graph::value_info;
        };
        for (const auto& info : model.value_infos()) {
            if (counts(info)) {
                types_.emplace(info.value, type_of(info));
            }
        }
        if (types_.empty()) {
            return;
        }
        std::unordered_set<id> outside;
        for (id r = 0; r < plan.regions.size(); ++r) {
            for (const auto& item : plan.regions[r].items) {
                if (plan.is_graph(r) && item.is_region) {
                    const auto& given = plan.outputs[item.index];
                    outside.insert(given.begin(), given.end());
                }
            }
        }
        std::unordered_set<id> inside;
        for (id r = 0; r < plan.regions.size(); ++r) {
            for (auto value : plan.is_graph(r) ? std::vector<id>() : values_of(r)) {
                if (types_.contains(value) && !outside.contains(value)) {
                    inside.insert(value);
                }
            }
        }
        for (const auto& info : model.value_infos()) {
            if (counts(info) && inside.contains(info.value)) {
                inside_.insert(info.message.begin);
            }
        }
        if (model.ir_version() >= first_version_with_function_infos) {
            find_common();
        }
    }

    /// Whether a field of a graph is the ValueInfo of a value hidden in a call.
    [[nodiscard]] bool is_inside(const wire_field& field) const {
        return inside_.contains(field.content);
    }

    /// Returns: values of the first call of a function with their TypeProto, if all calls agree.
    /// None before `first_version_with_function_infos`.
    [[nodiscard]] const std::vector<std::pair<id, std::string_view>>& of_function(id f) const {
        return f < common_.size() ? common_[f] : none_;
    }

private:
    [[nodiscard]] std::string_view type_of(const value_info_ref& info) const {
        auto fields = model_.reader(info.message);
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(detail::onnx_fields::value_info::type)) {
                return fields.text(field);
            }
        }
        return {};
    }

    /// Returns: the outputs of a region's items, in order.
    [[nodiscard]] std::vector<id> values_of(id region) const {
        std::vector<id> values;
        plan_.for_each_made(model_, region, [&](id value) { values.push_back(value); });
        return values;
    }

    [[nodiscard]] std::string_view known_type(id value) const {
        const auto entry = types_.find(value);
        return entry == types_.end() ? std::string_view() : entry->second;
    }

    void find_common() {
        common_.resize(plan_.functions.size());
        for (id f = 0; f < plan_.functions.size(); ++f) {
            for (auto value : values_of(plan_.functions[f].region)) {
                common_[f].emplace_back(value, known_type(value));
            }
        }
        for (id r = 0; r < plan_.regions.size(); ++r) {
            if (plan_.is_graph(r)) {
                continue;
            }
            auto& common = common_[plan_.function[r]];
            const auto values = values_of(r);
            for (std::size_t i = 0; i < common.size(); ++i) {
                if (known_type(values[i]) != common[i].second) {
                    common[i].second = {};
                }
            }
        }
        for (auto& common : common_) {
            std::erase_if(common, [&](const auto& entry) {
                return entry.second.empty() || model_.value_name(entry.first).empty();
            });
        }
    }

    const wire_model& model_;
    const fold_plan& plan_;
    std::unordered_map<id, std::string_view> types_; // of values with one
    std::unordered_set<std::uint32_t> inside_;       // positions of message contents
    std::vector<std::vector<std::pair<id, std::string_view>>> common_; // by function
    std::vector<std::pair<id, std::string_view>> none_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_FOLD_DETAIL_FOLD_INFOS_HPP
