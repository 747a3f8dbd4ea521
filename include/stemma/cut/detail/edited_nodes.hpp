// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CUT_DETAIL_EDITED_NODES_HPP
#define STEMMA_CUT_DETAIL_EDITED_NODES_HPP

#include <stemma/config.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/cut/acyclic_partition.hpp>
#include <stemma/cut/detail/edited_tensors.hpp>
#include <stemma/cut/detail/split_folder.hpp>
#include <stemma/error.hpp>
#include <stemma/onnx/detail/constant_node.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/onnx/graph_contents.hpp>
#include <stemma/onnx/message_refs.hpp>
#include <stemma/onnx/onnx_model.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The joined nodes of a split model with edited parts.
class edited_nodes {
public:
    /// A node, in the model of its part.
    struct entry {
        id part = no_id; ///< number of the part
        id node = no_id; ///< number of the node in the model of that part
    };

    /// Requires: both outlive this. Throws: `error` of `refused`, with the place, if parts no
    /// longer fit together. Complexity: O(n log n) in nodes and inputs.
    edited_nodes(const split_folder& folder, const edited_tensors& tensors)
        : folder_(folder), tensors_(tensors) {
        for (const auto& part : folder.parts()) {
            contents_.push_back(std::make_unique<graph_contents>(*part.model));
        }
        find_given();
        gather_nodes();
        drop_stored();
        replace_gone();
        sort_nodes();
    }

    /// Returns: all nodes, topologically sorted, in the original order if possible.
    [[nodiscard]] const std::vector<entry>& in_order() const noexcept { return nodes_; }

    /// Calls `f(name)` for the outputs of a node. Complexity: O(outputs).
    template <class Function>
    void for_each_output(const entry& at, Function f) const {
        const auto& m = model(at.part);
        for (auto value : m.outputs(at.node)) {
            const auto name = m.value_name(value);
            if (!name.empty()) {
                f(name);
            }
        }
    }

    /// Returns: the inputs of the model, without those whose initializer is gone, unless a part
    /// still has such an input.
    [[nodiscard]] const std::unordered_set<std::string_view>& given_values() const noexcept {
        return given_;
    }

private:
    [[nodiscard]] const wire_model& model(id part) const { return *folder_.parts()[part].model; }

    /// Calls `f(name)` for the inputs of a model.
    template <class Function>
    static void for_each_input(const wire_model& of, Function f) {
        for (auto value : of.graph(0).inputs) {
            if (value != no_id) {
                f(of.value_name(value));
            }
        }
    }

    void find_given() {
        std::unordered_set<std::string_view> gone;
        for_each_input(*folder_.skeleton().model, [&](std::string_view name) {
            const bool stays =
                !folder_.skeleton().tensors.contains(name) || tensors_.contains(name);
            (stays ? given_ : gone).insert(name);
        });
        for (id p = 0; !gone.empty() && p < folder_.parts().size(); ++p) {
            for_each_input(model(p), [&](std::string_view name) {
                if (gone.contains(name)) {
                    given_.insert(name);
                }
            });
        }
    }

    void gather_nodes() {
        std::vector<bool> done(folder_.parts().size(), false);
        for (id node = 0; node < folder_.node_count(); ++node) {
            const auto p = folder_.home(node);
            if (!folder_.parts()[p].edited) {
                nodes_.push_back({p, node_at(p, folder_.message(node).begin)});
            } else if (!done[p]) {
                done[p] = true;
                add_part(p);
            }
        }
        for (id p = 0; p < folder_.parts().size(); ++p) {
            if (!done[p]) {
                add_part(p);
            }
        }
    }

    [[nodiscard]] id node_at(id p, std::uint32_t begin) const {
        const auto& nodes = folder_.nodes_of(p);
        const auto place = std::partition_point(nodes.begin(), nodes.end(), [&](id node) {
            return model(p).message(node).begin < begin;
        });
        return *place;
    }

    /// Adds the nodes of an edited part, and the clones in any.
    void add_part(id p) {
        const auto& cloned = folder_.manifest().parts[p].cloned_values;
        const std::unordered_set<std::string_view> clones(cloned.begin(), cloned.end());
        for (auto node : folder_.nodes_of(p)) {
            bool is_clone = false;
            for_each_output({p, node}, [&](std::string_view name) {
                is_clone = is_clone || clones.contains(name);
            });
            if (is_clone) {
                clones_.push_back({p, node});
            } else if (folder_.parts()[p].edited) {
                nodes_.push_back({p, node});
            }
        }
    }

    /// A Constant that a part stores as an equal initializer gives way to that.
    void drop_stored() {
        std::erase_if(nodes_, [&](const entry& at) {
            bool is_stored = false;
            for_each_output(at, [&](std::string_view name) {
                is_stored = is_stored || (tensors_.is_added(name) && is_weight(at, name));
            });
            return is_stored;
        });
    }

    /// Where a constant is gone, its first clone takes its place, unless an initializer has.
    void replace_gone() {
        std::unordered_set<std::string_view> given;
        for (const auto& at : nodes_) {
            for_each_output(at, [&](std::string_view name) { given.insert(name); });
        }
        std::vector<entry> taken;
        for (const auto& clone : clones_) {
            bool is_gone = false;
            for_each_output(clone, [&](std::string_view name) {
                is_gone = is_gone || (!tensors_.contains(name) && !given.contains(name));
            });
            if (is_gone) {
                taken.push_back(clone);
                for_each_output(clone, [&](std::string_view name) { given.insert(name); });
            }
        }
        nodes_.insert(nodes_.begin(), taken.begin(), taken.end());
    }

    /// Calls `f(name)` for values of the main graph read by a node and its bodies.
    template <class Function>
    void for_each_read(const entry& at, Function f) const {
        const auto& m = model(at.part);
        detail::for_each_read(m, *contents_[at.part], at.node, [&](id value) {
            if (m.graph_of_value(value) == 0 || m.kind(value) == value_kind::undefined) {
                f(m.value_name(value));
            }
        });
    }

    /// Sorts nodes topologically, in the original order if possible.
    void sort_nodes() {
        std::unordered_map<std::string_view, id> producer;
        for (id i = 0; i < nodes_.size(); ++i) {
            for_each_output(nodes_[i], [&](std::string_view name) {
                const auto added = producer.emplace(name, i);
                if (!added.second) {
                    folder_.refuse(
                        nodes_[i].part,
                        "produces '" + std::string(name) + "', which '" +
                            folder_.parts()[nodes_[added.first->second].part].file->path() +
                            "' also produces");
                }
                check_initializer(nodes_[i].part, name);
            });
        }
        check_clones(producer);
        for (const auto& name : tensors_.added()) {
            if (given_.contains(name)) {
                folder_.refuse(tensors_.part_of(name),
                               "its initializer '" + name + "' is an input of the model");
            }
        }
        const auto is_given = [&](std::string_view name) {
            return given_.contains(name) || tensors_.contains(name) ||
                   tensors_.sparse().contains(name);
        };
        std::vector<std::vector<id>> readers(nodes_.size());
        for (id i = 0; i < nodes_.size(); ++i) {
            for_each_read(nodes_[i], [&](std::string_view name) {
                const auto from = producer.find(name);
                if (from != producer.end()) {
                    readers[from->second].push_back(i);
                } else if (!is_given(name)) {
                    folder_.refuse(nodes_[i].part,
                                   "reads '" + std::string(name) + "', which no part produces");
                }
            });
        }
        for (auto value : folder_.skeleton().model->graph(0).outputs) {
            const auto name = value == no_id ? "" : folder_.skeleton().model->value_name(value);
            if (!name.empty() && !producer.contains(name) && !is_given(name)) {
                STEMMA_THROW(
                    error(error_code::refused, folder_.path(), "",
                          "no part produces the model's output '" + std::string(name) + "'"));
            }
        }
        const auto place = places_in_order(readers);
        if (range::contains(place, no_id)) {
            STEMMA_THROW(error(error_code::refused, folder_.path(), "",
                               "parts read from each other in a cycle"));
        }
        auto sorted = nodes_;
        for (id i = 0; i < nodes_.size(); ++i) {
            sorted[place[i]] = nodes_[i];
        }
        nodes_ = std::move(sorted);
    }

    /// A value that part `p` produces must not be an initializer, if one of them is new.
    void check_initializer(id p, std::string_view name) const {
        if (!tensors_.contains(name)) {
            return;
        }
        if (tensors_.is_added(name)) {
            folder_.refuse(tensors_.part_of(name),
                           "its initializer '" + std::string(name) + "' is a value that '" +
                               folder_.parts()[p].file->path() + "' produces");
        }
        if (folder_.parts()[p].edited) {
            folder_.refuse(p, "produces '" + std::string(name) +
                                  "', which is an initializer of the model");
        }
    }

    /// A clone of another part's constant must still equal it.
    void check_clones(const std::unordered_map<std::string_view, id>& producer) const {
        for (const auto& clone : clones_) {
            for_each_output(clone, [&](std::string_view name) {
                const auto from = producer.find(name);
                const bool is_made = from != producer.end();
                if (is_made ? !are_equal(nodes_[from->second], clone) : !is_weight(clone, name)) {
                    const auto other = is_made ? nodes_[from->second].part : tensors_.part_of(name);
                    folder_.refuse(folder_.parts()[clone.part].edited ? clone.part : other,
                                   "changes the constant '" + std::string(name) +
                                       "', which it shares with other parts; give it another name");
                }
            });
        }
    }

    /// Whether two nodes compute the same, Constants however their tensors are stored.
    [[nodiscard]] bool are_equal(const entry& a, const entry& b) const {
        if (content_of(a) == content_of(b)) {
            return true;
        }
        const auto first = constant_tensor(a);
        const auto second = constant_tensor(b);
        return first && second &&
               edited_tensors::are_equal(model(a.part), *first, model(b.part), *second);
    }

    /// Returns: the fields of a node by number, without name and descriptions.
    [[nodiscard]] std::vector<std::pair<std::uint32_t, std::string_view>>
    content_of(const entry& at) const {
        using at_node = onnx_fields::node;
        std::vector<std::pair<std::uint32_t, std::string_view>> content;
        auto fields = model(at.part).reader(model(at.part).message(at.node));
        for (wire_field field; fields.next(field);) {
            if (field.number != at_node::name && field.number != at_node::doc_string &&
                field.number != at_node::metadata_props) {
                content.emplace_back(field.number, fields.text(field));
            }
        }
        std::stable_sort(content.begin(), content.end(),
                         [](const auto& a, const auto& b) { return a.first < b.first; });
        return content;
    }

    /// Returns: the tensor of a Constant, if it has one.
    [[nodiscard]] std::optional<tensor_ref> constant_tensor(const entry& at) const {
        std::optional<tensor_ref> tensor;
        if (is_constant_node(model(at.part), at.node)) {
            if (const auto message = model(at.part).constant_tensor(at.node)) {
                tensor.emplace().message = *message;
            }
        }
        return tensor;
    }

    /// Whether the initializer of that name has the tensor of a Constant.
    [[nodiscard]] bool is_weight(const entry& constant, std::string_view name) const {
        const auto tensor = constant_tensor(constant);
        return tensor && tensors_.equals(name, model(constant.part), *tensor);
    }

    const split_folder& folder_;
    const edited_tensors& tensors_;
    std::vector<std::unique_ptr<graph_contents>> contents_; // by part
    std::vector<entry> nodes_;
    std::vector<entry> clones_; // of constants of other parts
    std::unordered_set<std::string_view> given_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CUT_DETAIL_EDITED_NODES_HPP
