// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CUT_DETAIL_EDITED_TYPES_HPP
#define STEMMA_CUT_DETAIL_EDITED_TYPES_HPP

#include <stemma/config.hpp>
#include <stemma/core/id.hpp>
#include <stemma/cut/detail/edited_nodes.hpp>
#include <stemma/cut/detail/edited_tensors.hpp>
#include <stemma/cut/detail/split_folder.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/message_refs.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/types/detail/describe_type.hpp>
#include <stemma/types/detail/type_proto.hpp>
#include <stemma/types/value_types.hpp>

#include <string>
#include <string_view>
#include <unordered_map>

namespace stemma::inline STEMMA_ABI::detail {

/// The types that parts of a split model declare for tensors between them.
class edited_types {
public:
    /// Requires: `folder` outlives this. Throws: `error` of `refused` if an edited part gives or
    /// reads a value as another type than the other parts, or the model, do.
    /// Complexity: O(outputs of nodes + bytes of value infos) expected.
    edited_types(const split_folder& folder, const edited_nodes& nodes,
                 const edited_tensors& tensors)
        : folder_(folder) {
        for (const auto& at : nodes.in_order()) {
            nodes.for_each_output(at, [&](std::string_view name) { given_[name].part = at.part; });
        }
        for_each_info(no_id, [&](std::string_view name, const value_info_ref& info) {
            if (info.field == at_graph::input && !tensors.contains(name)) {
                given_.emplace(name, declaration{no_id, &info});
            }
        });
        for (id p = 0; p < folder_.parts().size(); ++p) {
            for_each_info(p, [&](std::string_view name, const value_info_ref& info) {
                const auto entry = given_.find(name);
                if (info.field != at_graph::input && entry != given_.end() &&
                    entry->second.part == p) {
                    entry->second.info = &info;
                }
            });
        }
        for (id p = 0; p < folder_.parts().size(); ++p) {
            for_each_info(p, [&](std::string_view name, const value_info_ref& info) {
                const auto entry = given_.find(name);
                if (info.field == at_graph::input && entry != given_.end()) {
                    check(name, entry->second, {p, &info});
                }
            });
        }
    }

    /// A declaration of a value.
    struct declaration {
        id part = no_id;                      ///< `no_id`: in the skeleton
        const value_info_ref* info = nullptr; ///< null if there is none
    };

    /// Returns: the declaration by the edited part that gives an output of the model, if it
    /// contradicts that in the skeleton. Complexity: O(bytes of both).
    [[nodiscard]] declaration find_changed(std::string_view name, std::string_view type) const {
        const auto entry = given_.find(name);
        if (entry == given_.end() || !is_edited(entry->second) || entry->second.info == nullptr) {
            return {};
        }
        return differ(type_of(entry->second), tensor_type_of(type)) ? entry->second : declaration();
    }

private:
    using at_graph = onnx_fields::graph;

    [[nodiscard]] const wire_model& model(id part) const {
        return *(part == no_id ? folder_.skeleton() : folder_.parts()[part]).model;
    }

    [[nodiscard]] bool is_edited(const declaration& by) const {
        return by.part != no_id && folder_.parts()[by.part].edited;
    }

    /// Returns: the type, without a name if it is unknown or not that of a tensor.
    [[nodiscard]] static described_type tensor_type_of(std::string_view bytes) {
        const auto type = read_type(bytes);
        return type.is_tensor() ? describe_type(type, 0) : described_type();
    }

    [[nodiscard]] described_type type_of(const declaration& by) const {
        return tensor_type_of(declared_type(model(by.part), *by.info));
    }

    [[nodiscard]] static bool differ(const described_type& x, const described_type& y) {
        return !x.name.empty() && !y.name.empty() && contradict(x, y);
    }

    /// Calls `f(name, info)` for the value infos of a main graph.
    template <class Function>
    void for_each_info(id part, Function f) const {
        for (const auto& info : model(part).value_infos()) {
            if (info.graph == 0) {
                f(model(part).text(info.name), info);
            }
        }
    }

    void check(std::string_view name, const declaration& giver, const declaration& read) const {
        if (giver.info == nullptr || (!is_edited(giver) && !is_edited(read))) {
            return;
        }
        const auto given = type_of(giver);
        const auto wanted = type_of(read);
        if (!differ(given, wanted)) {
            return;
        }
        const auto value = "'" + std::string(name) + "' as ";
        const auto file = [&](id part) { return "'" + folder_.parts()[part].file->path() + "'"; };
        if (is_edited(giver)) {
            folder_.refuse(giver.part, "gives " + value + to_text(given) + ", which " +
                                           file(read.part) + " reads as " + to_text(wanted));
        }
        folder_.refuse(read.part, "reads " + value + to_text(wanted) + ", which " +
                                      (giver.part == no_id ? "the model" : file(giver.part)) +
                                      (giver.part == no_id ? " takes as " : " gives as ") +
                                      to_text(given));
    }

    const split_folder& folder_;
    std::unordered_map<std::string_view, declaration> given_; // by name of a value
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CUT_DETAIL_EDITED_TYPES_HPP
