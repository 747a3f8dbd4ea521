// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_RECORD_DETAIL_ORIGIN_TEXTS_HPP
#define STEMMA_RECORD_DETAIL_ORIGIN_TEXTS_HPP

#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/io/json_text.hpp>
#include <stemma/model/module_lookup.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/node_origins.hpp>

#include <nlohmann/json.hpp>

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: the modules of an operator's origins, without duplicates, ascending.
/// Complexity: O(origins log origins).
[[nodiscard]] inline std::vector<id> modules_of(const node_origins& origins, id node) {
    std::vector<id> modules;
    for (const auto number : origins.of(node)) {
        modules.push_back(origins[number].module);
    }
    modules = range::each_once(std::move(modules));
    return modules;
}

/// Appends the place of an origin in the form that `explain` accepts, without `#` in the main
/// graph.
inline void append_place(const node_origins::origin& one, std::string& text) {
    if (one.graph.empty()) {
        text.append(std::to_string(one.position));
    } else {
        append_json_string(std::string(one.graph) + "#" + std::to_string(one.position), text);
    }
}

/// Appends the origins of a node called `name`, in a module, as stored in files: a JSON array with
/// one entry per origin. That is its position if name and module are the node's own, else
/// `[position, name, module]`, where `null` stands for the node's own. A position in a body is
/// written `"5/body#2"`. The first entry is `"inserted"` or `"served"` if the node was inserted.
/// Complexity: O(length).
inline void append_origins(const node_origins& origins, const module_tree& modules, id node,
                           std::string_view name, id module, std::string& text) {
    text.push_back('[');
    const auto kind = origins.kind(node);
    if (kind == origin_kind::inserted || kind == origin_kind::served) {
        append_json_string(to_string(kind), text);
    }
    for (const auto number : origins.of(node)) {
        const auto one = origins[number];
        text.append(text.back() == '[' ? "" : ",");
        const bool other_name = one.name != name;
        const bool other_module = one.module != module;
        if (!other_name && !other_module) {
            append_place(one, text);
            continue;
        }
        text.push_back('[');
        append_place(one, text);
        text.push_back(',');
        other_name ? append_json_string(one.name, text) : void(text.append("null"));
        if (other_module) {
            text.push_back(',');
            append_json_string(modules.path(one.module), text);
        }
        text.push_back(']');
    }
    text.push_back(']');
}

/// Reads the output of `append_origins`.
class origin_reader {
public:
    /// Requires: both outlive this.
    origin_reader(const module_tree& modules, node_origins& origins)
        : lookup_(modules), origins_(origins) {}

    /// Appends the origins of the next node; none for a malformed text.
    /// Complexity: O(length) expected.
    void add(std::string_view text, std::string_view name, id module) {
        members_.clear();
        auto kind = origin_kind::unknown;
        const auto json = nlohmann::json::parse(text, nullptr, false);
        if (json.is_array()) {
            kind = origin_kind::kept;
            for (const auto& part : json) {
                if (part == "inserted" || part == "served") {
                    kind = part == "served" ? origin_kind::served : origin_kind::inserted;
                } else if (auto one = read(part, name, module)) {
                    members_.push_back(number_of(*one));
                } else {
                    kind = origin_kind::unknown;
                    break;
                }
            }
            kind = kind == origin_kind::kept && members_.size() > 1 ? origin_kind::replaced : kind;
        }
        if (kind == origin_kind::unknown) {
            members_.clear();
        }
        origins_.add(kind, members_);
    }

private:
    struct texts {
        std::string graph;
        id position = no_id;
        std::string name;
        id module = 0;
    };

    [[nodiscard]] std::optional<texts> read(const nlohmann::json& part, std::string_view name,
                                            id module) const {
        texts one{"", no_id, std::string(name), module};
        const bool several = part.is_array();
        if (several && (part.empty() || part.size() > 3)) {
            return std::nullopt;
        }
        const auto& place = several ? part[0] : part;
        if (place.is_number_unsigned() && place.get<std::uint64_t>() < no_id) {
            one.position = place.get<id>();
        } else if (place.is_string()) {
            const auto& text = place.get_ref<const std::string&>();
            const auto hash = text.rfind('#');
            const auto* end = text.data() + text.size();
            const auto read = hash == text.npos
                                  ? std::from_chars_result{text.data(), std::errc::invalid_argument}
                                  : std::from_chars(text.data() + hash + 1, end, one.position);
            if (read.ec != std::errc() || read.ptr != end || one.position == no_id) {
                return std::nullopt;
            }
            one.graph = text.substr(0, hash);
        } else {
            return std::nullopt;
        }
        if (several && part.size() > 1 && part[1].is_string()) {
            one.name = part[1].get<std::string>();
        }
        if (several && part.size() > 2) {
            one.module =
                part[2].is_string() ? find_module(lookup_, part[2].get<std::string>()) : no_id;
        }
        return one.module == no_id ? std::nullopt : std::optional(one);
    }

    [[nodiscard]] id number_of(const texts& one) {
        return origins_.add_origin({one.graph, one.position, one.name, one.module});
    }

    module_lookup<module_tree> lookup_;
    node_origins& origins_;
    std::vector<id> members_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_RECORD_DETAIL_ORIGIN_TEXTS_HPP
