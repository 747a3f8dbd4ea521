// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_PLAN_PLACEMENT_HPP
#define STEMMA_PLAN_PLACEMENT_HPP

#include <stemma/config.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/text_list.hpp>
#include <stemma/error.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/io/mapped_file.hpp>
#include <stemma/onnx/detail/constant_node.hpp>
#include <stemma/open/attributed_model.hpp>

#include <nlohmann/json.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// Where the modules of a model run.
struct module_placement {
    /// Numbers of nodes by provider.
    using counts = std::map<std::string, std::size_t, std::less<>>;

    std::vector<counts> modules; ///< by module with descendants
    std::size_t unmatched = 0;   ///< nodes of the log that are not found, as fused or unnamed ones
    std::size_t unplaced = 0;    ///< nodes that are not in the log, except Constants
};

namespace detail {

/// The execution provider of a node, as reported by ONNX Runtime.
struct placed_node {
    std::string provider{}; // `CPUExecutionProvider`
    std::string name{};     // of the node; "" if it has none
    bool all = false;       // whether it stands for all nodes without a line of their own
};

/// Reads "Node placements" in a verbose log of ONNX Runtime.
[[nodiscard]] inline std::vector<placed_node> read_placement_log(std::string_view text) {
    constexpr std::string_view all = "All nodes placed on [";
    constexpr std::string_view some = "Node(s) placed on [";
    constexpr std::string_view source = "VerifyEachNodeIsAssignedToAnEp]";
    std::vector<placed_node> placed;
    std::string provider;
    while (!text.empty()) {
        auto line = detail::take_until(text, '\n');
        const auto from = line.find(source);
        if (from == line.npos && line.find(":onnxruntime:") != line.npos) {
            continue; // another message of the log
        }
        if (from != line.npos) {
            line.remove_prefix(from + source.size());
        }
        for (const auto head : {all, some}) {
            if (const auto at = line.find(head); at != line.npos) {
                const auto name = line.substr(at + head.size());
                provider = name.substr(0, name.find(']'));
                if (head == all) {
                    placed.push_back({provider, {}, true});
                }
                line = {};
            }
        }
        // `MatMul (/fc/MatMul)`, one per line or comma-separated.
        while (!provider.empty() && !line.empty()) {
            const auto begin = line.find(" (");
            const auto end = begin == line.npos ? line.npos : line.find("), ", begin);
            const auto last = end == line.npos ? line.rfind(')') : end;
            if (begin == line.npos || last == line.npos || last < begin + 2) {
                if (line.find_first_not_of(" \r\t") != line.npos) {
                    provider.clear(); // the list has ended
                }
                break;
            }
            placed.push_back(
                {provider, std::string(line.substr(begin + 2, last - begin - 2)), false});
            line = end == line.npos ? std::string_view() : line.substr(end + 3);
        }
    }
    std::erase_if(placed, [](const placed_node& one) { return one.provider.empty(); });
    return placed;
}

/// Reads the provider of nodes in a profile of ONNX Runtime, one event at a time.
[[nodiscard]] inline std::vector<placed_node> read_placement_profile(std::string_view text,
                                                                     const std::string& file) {
    using json = nlohmann::json;
    std::map<std::string, std::string> provider_of;
    const auto read = [&](int depth, json::parse_event_t event, json& parsed) {
        if (depth != 1 || event != json::parse_event_t::object_end) {
            return true;
        }
        constexpr std::string_view kernel = "_kernel_time";
        const auto args = parsed.find("args");
        const auto name = parsed.find("name");
        if (args != parsed.end() && args->is_object() && name != parsed.end() &&
            name->is_string()) {
            const auto provider = args->find("provider");
            auto text_of_name = name->get<std::string>();
            if (provider != args->end() && provider->is_string() &&
                text_of_name.ends_with(kernel)) {
                text_of_name.resize(text_of_name.size() - kernel.size());
                provider_of.emplace(std::move(text_of_name), provider->get<std::string>());
            }
        }
        return false; // the event is not kept
    };
    if (json::parse(text, read, false).is_discarded()) {
        STEMMA_THROW(
            error(error_code::malformed, file, "", "is not a profile: the JSON is damaged"));
    }
    std::vector<placed_node> placed;
    for (auto& [name, provider] : provider_of) {
        placed.push_back({provider, name, false});
    }
    return placed;
}

/// Reads the provider of each node from a verbose log of ONNX Runtime with "Node placements", or
/// from its profile.
/// Throws: `error` of `error_code::cannot_read`, or of `malformed` for anything else.
/// Complexity: O(bytes).
[[nodiscard]] inline std::vector<placed_node> read_placement(const std::string& path) {
    const mapped_file file(path);
    const auto text = file.bytes();
    const auto first = text.find_first_not_of(" \r\n\t");
    const bool profile = first != text.npos && text[first] == '[' &&
                         text.find_first_not_of(" \r\n\t{]", first + 1) != text.npos &&
                         text[text.find_first_not_of(" \r\n\t", first + 1)] == '{';
    auto placed = profile ? read_placement_profile(text, path) : read_placement_log(text);
    if (placed.empty()) {
        STEMMA_THROW(error(error_code::malformed, path, "",
                           "has no placements: neither a verbose log of ONNX Runtime "
                           "with 'Node placements' nor a profile"));
    }
    return placed;
}

} // namespace detail

/// Returns: where modules run, by a verbose log of ONNX Runtime with "Node placements", or its
/// profile.
/// Throws: `error` of `error_code::cannot_read`, or of `malformed` for any other file.
/// Complexity: O(nodes + bytes of the log), and O(modules * providers).
[[nodiscard]] inline module_placement place_modules(const attributed_model& opened,
                                                    const std::string& log) {
    const auto placed = detail::read_placement(log);
    const auto& model = opened.model();
    const auto& tree = opened.modules().index();
    module_placement result;
    result.modules.resize(tree.size());
    std::unordered_map<std::string_view, const detail::placed_node*> of;
    const detail::placed_node* rest = nullptr;
    for (const auto& one : placed) {
        if (one.all) {
            rest = &one;
        } else if (one.name.empty()) {
            ++result.unmatched;
        } else {
            of.emplace(one.name, &one);
        }
    }
    std::unordered_set<const detail::placed_node*> matched;
    for (id node = 0; node < model.node_count(); ++node) {
        const auto entry = of.find(model.name(node));
        const auto* const where =
            entry == of.end() || model.name(node).empty() ? rest : entry->second;
        if (where != nullptr && where != rest) {
            matched.insert(where);
        }
        const bool constant = detail::is_constant_node(model, node);
        if (where == nullptr || (where == rest && constant)) {
            result.unplaced += constant ? 0U : 1U; // runtimes remove Constants
        } else {
            ++result.modules[opened.tags().attributions[node].module][where->provider];
        }
    }
    result.unmatched += of.size() - matched.size();
    for (auto m = static_cast<id>(tree.size()); m-- > 1;) {
        for (const auto& [provider, count] : result.modules[m]) {
            result.modules[tree.parent(m)][provider] += count;
        }
    }
    return result;
}

/// Writes where modules run as JSON (`stemma.placement/1`). Complexity: O(length of the result).
template <text_sink Sink>
void write_json(Sink& sink, const module_placement& placement, const attributed_model& opened) {
    detail::write_document(sink, "stemma.placement/1", [&](auto& json) {
        json.member("model", opened.model().file());
        json.member("unmatched", placement.unmatched);
        json.member("unplaced", placement.unplaced);
        json.key("modules");
        json.begin_array();
        for (id m = 0; m < placement.modules.size(); ++m) {
            if (placement.modules[m].empty()) {
                continue;
            }
            json.begin_object(true);
            json.member("module", opened.modules().path(m));
            json.object("providers", [&] {
                for (const auto& [provider, count] : placement.modules[m]) {
                    json.member(provider, count);
                }
            });
            json.end_object();
        }
        json.end_array();
    });
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_PLAN_PLACEMENT_HPP
