// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CAPTURE_DETAIL_ORACLE_HPP
#define STEMMA_CAPTURE_DETAIL_ORACLE_HPP

#include <stemma/error.hpp>
#include <stemma/io/detail/json_part.hpp>
#include <stemma/io/detail/json_stream.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace stemma::inline STEMMA_ABI::detail {

/// The true modules of nodes, by name: a file of format `fixture-truth/1`.
class oracle_file final : json_handler {
public:
    /// Throws: `error` of `error_code::malformed`.
    oracle_file(std::string_view bytes, std::string_view file) {
        stream_json(bytes, file, *this);
        if (by_name_.empty()) {
            STEMMA_THROW(error(error_code::malformed, file, "", "contains no node's module"));
        }
    }

    /// Returns: the path of the true module of the node called `name`: by the exporter's scope,
    /// else by the model's construction, else by its readers; nothing if unknown, or if nodes in
    /// several modules have this name.
    [[nodiscard]] std::optional<std::string> module_of(std::string_view name) const {
        const auto entry = by_name_.find(std::string(name));
        return entry == by_name_.end() || entry->second.several
                   ? std::nullopt
                   : std::optional(entry->second.module);
    }

    /// Returns: whether the exporter had a scope for the node.
    [[nodiscard]] bool is_scoped(std::string_view name) const {
        const auto entry = by_name_.find(std::string(name));
        return entry != by_name_.end() && entry->second.scoped;
    }

private:
    static constexpr std::string_view scope_key = "module";
    static constexpr std::string_view known_key = "known_module";
    static constexpr std::string_view inferred_key = "inferred_module";

    struct truth {
        std::string module;
        bool scoped = false;
        bool several = false; // nodes in different modules have this name
    };

    [[nodiscard]] bool wants(const std::string& path) override { return path == "nodes"; }

    // Skips nodes without a module.
    void element(const std::string&, json_part node) override {
        for (const std::string_view key : {scope_key, known_key, inferred_key}) {
            const auto module = node[key];
            if (!module.is_text()) {
                continue;
            }
            for (const auto name : {node["original"], node["opaque"]}) {
                if (name.is_text()) {
                    const truth told{std::string(module.text()), key == scope_key, false};
                    const auto [entry, added] = by_name_.emplace(name.text(), told);
                    entry->second.several |= entry->second.module != told.module;
                }
            }
            return;
        }
    }

    std::unordered_map<std::string, truth> by_name_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CAPTURE_DETAIL_ORACLE_HPP
