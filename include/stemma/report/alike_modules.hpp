// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_REPORT_ALIKE_MODULES_HPP
#define STEMMA_REPORT_ALIKE_MODULES_HPP

#include <stemma/core/detail/hash.hpp>
#include <stemma/core/id.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/detail/module_members.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/onnx/detail/node_attributes.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/tensor_header.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/record/detail/tag_edits.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace stemma {

/// Tells which modules are alike: of one class, with the same modules inside, the same operators in
/// the same order with the same attributes and wiring, and weights of the same types and shapes.
/// Large tensors in attributes count by their size only.
class alike_modules {
public:
    /// Requires: all outlive this. Complexity: O(nodes + modules + length of names).
    alike_modules(const wire_model& model, const module_tree& modules,
                  std::span<const attribution> attributions)
        : model_(&model)
        , modules_(&modules)
        , members_(modules.index(), attributions)
        , outline_(modules.size(), 0)
        , tensor_of_(model.value_count(), no_id) {
        const auto tensors = model.tensors();
        for (id i = 0; i < tensors.size(); ++i) {
            if (tensors[i].value != no_id) {
                tensor_of_[tensors[i].value] = i;
            }
        }
        for (id node = 0; node < model.node_count(); ++node) {
            // A sum, as nodes of a module need not stand together.
            outline_[attributions[node].module] += detail::hash_mix(1, model.operator_id(node));
        }
        const auto& tree = modules.index();
        for (auto m = static_cast<id>(modules.size()); m-- > 0;) {
            // Modules below come first, and have added themselves.
            outline_[m] =
                detail::hash_bytes(modules.class_name(m), detail::hash_mix(outline_[m], 2));
            if (m > 0) {
                const auto name = detail::hash_bytes(modules.attribute(m), 3);
                outline_[tree.parent(m)] += detail::hash_mix(name, outline_[m]);
            }
        }
    }

    /// Whether two modules are alike; one that has no nodes is like others without.
    /// Complexity: O(nodes in them + bytes of their attributes), the first time a module is asked
    /// for; then O(1).
    [[nodiscard]] bool operator()(id a, id b) {
        return outline_[a] == outline_[b] &&
               (a == b || (members_.count(a) == members_.count(b) && code(a) == code(b)));
    }

    /// Returns: the modules that are like one, without itself, in the order of the tree.
    /// Complexity: O(modules), and as above for those that look like it.
    [[nodiscard]] std::vector<id> like(id m) {
        std::vector<id> found;
        for (id other = 0; other < modules_->size(); ++other) {
            if (other != m && (*this)(m, other)) {
                found.push_back(other);
            }
        }
        return found;
    }

private:
    static constexpr std::size_t short_attribute = 1024; // bytes

    /// Returns: a number that is equal for modules whose nodes are the same but for names.
    [[nodiscard]] std::uint64_t code(id m) {
        const auto [known, is_new] = codes_.emplace(m, 0);
        if (!is_new) {
            return known->second;
        }
        std::unordered_map<id, id> numbers; // of values, as they are met
        std::uint64_t code = 0;
        const auto meet = [&](id value) {
            const auto [at, first] = numbers.emplace(value, static_cast<id>(numbers.size()));
            code = detail::hash_mix(code, at->second);
            return first;
        };
        for (auto node : members_.all(m)) {
            code = hash_attributes(node, detail::hash_mix(code, model_->operator_id(node)));
            for (auto value : model_->inputs(node)) {
                if (value == no_id) {
                    code = detail::hash_mix(code, no_id);
                } else if (meet(value)) {
                    code =
                        detail::hash_mix(code, tensor_of_[value] == no_id ? 0 : hash_weight(value));
                }
            }
            for (id i = 0; i < model_->output_count(node); ++i) {
                meet(model_->first_output(node) + i);
            }
        }
        return codes_[m] = code;
    }

    [[nodiscard]] std::uint64_t hash_weight(id value) const {
        const auto header = read_tensor_header(*model_, model_->tensors()[tensor_of_[value]]);
        auto hash = detail::hash_mix(4, static_cast<std::uint64_t>(header.data_type));
        for (auto extent : header.dims) {
            hash = detail::hash_mix(hash, static_cast<std::uint64_t>(extent));
        }
        return hash;
    }

    [[nodiscard]] std::uint64_t hash_attributes(id node, std::uint64_t hash) const {
        using at = detail::onnx_fields::attribute;
        detail::node_attributes(*model_, node)
            .for_each([&](std::string_view, detail::wire_reader fields) {
                if (detail::tag_edits::is_ours(fields)) {
                    return;
                }
                for (detail::wire_field field; fields.next(field);) {
                    const bool body = field.is_bytes(at::g) || field.is_bytes(at::graphs);
                    if (body || field.number == at::doc_string) {
                        continue; // the nodes of bodies are nodes of modules themselves
                    }
                    const auto bytes = fields.whole(field);
                    hash =
                        bytes.size() > short_attribute
                            ? detail::hash_mix(detail::hash_mix(hash, field.number), bytes.size())
                            : detail::hash_bytes(bytes, hash);
                }
            });
        return hash;
    }

    const wire_model* model_;
    const module_tree* modules_;
    detail::module_members members_;
    std::vector<std::uint64_t> outline_; // by module: equal where they can be alike
    std::vector<id> tensor_of_;          // by value
    std::unordered_map<id, std::uint64_t> codes_;
};

} // namespace stemma

#endif // STEMMA_REPORT_ALIKE_MODULES_HPP
