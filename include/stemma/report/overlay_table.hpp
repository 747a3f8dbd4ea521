// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_REPORT_OVERLAY_TABLE_HPP
#define STEMMA_REPORT_OVERLAY_TABLE_HPP

#include <stemma/core/id.hpp>
#include <stemma/error.hpp>
#include <stemma/io/detail/json_stream.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma/report/column_direction.hpp>
#include <stemma/report/detail/dot_text.hpp>
#include <stemma/report/detail/report_names.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

namespace stemma::inline STEMMA_ABI {

namespace detail {

/// The schema of overlays from other programs.
inline constexpr std::string_view own_overlay_schema = "stemma.overlay/1";

/// A column of a report, with its paths in the objects of modules and of values:
/// `outgoing/max_abs`, or "".
struct overlay_field {
    std::string_view name;
    std::string_view unit;
    column_direction better = column_direction::neither;
    bool additive = false;
    bool divided = false; ///< by the divisor of the format
    std::string_view of_module;
    std::string_view of_node{};
};

/// A report of stemma that works as an overlay.
struct overlay_format {
    std::string_view schema;
    std::string_view modules;    ///< the list of modules
    std::string_view module_key; ///< the key of a module's path
    std::string_view values;     ///< the list of values, which represent their nodes; or ""
    std::string_view divisor;    ///< a number in the report, of runs; "" for 1
    std::span<const overlay_field> fields;
};

inline constexpr std::array<overlay_field, 6> profile_fields{{
    {"time", "us per run", column_direction::lower, true, true, "us"},
    {"own time", "us per run", column_direction::lower, false, true, "own_us"},
    {"fastest run", "us", column_direction::lower, false, false, "min_us"},
    {"slowest run", "us", column_direction::lower, false, false, "max_us"},
    {"calls", "per run", column_direction::neither, false, true, "calls"},
    {"run by", "", column_direction::neither, false, false, "providers"},
}};

inline constexpr std::array<overlay_field, 8> cost_fields{{
    {"MACs", "", column_direction::lower, true, false, "macs"},
    {"FLOPs", "", column_direction::lower, true, false, "flops"},
    {"parameters", "", column_direction::neither, false, false, "parameters"},
    {"weights", "bytes", column_direction::lower, false, false, "bytes"},
    {"comes in", "bytes", column_direction::neither, false, false, "in"},
    {"goes out", "bytes", column_direction::neither, false, false, "out"},
    {"peak", "bytes", column_direction::lower, false, false, "peak"},
    {"nodes of unknown cost", "", column_direction::lower, false, false, "unknown"},
}};

inline constexpr std::array<overlay_field, 7> numerics_fields{{
    {"max abs", "", column_direction::lower, false, false, "outgoing/max_abs",
     "difference/max_abs"},
    {"max rel", "", column_direction::lower, false, false, "outgoing/max_rel",
     "difference/max_rel"},
    {"cosine", "", column_direction::higher, false, false, "outgoing/cosine", "difference/cosine"},
    {"SQNR", "dB", column_direction::higher, false, false, "outgoing/sqnr", "difference/sqnr"},
    {"max abs of its own", "", column_direction::lower, false, false, "own/max_abs"},
    {"SQNR of its own", "dB", column_direction::higher, false, false, "own/sqnr"},
    {"verdict", "", column_direction::neither, false, false, "verdict"},
}};

inline constexpr std::array<overlay_format, 3> overlay_formats{{
    {"stemma.profile/1", "modules", "path", "", "runs", profile_fields},
    {"stemma.cost/1", "modules", "path", "", "", cost_fields},
    {"stemma.numerics/1", "modules", "module", "values", "", numerics_fields},
}};

/// Returns: the format of a schema, or null. Complexity: O(formats).
[[nodiscard]] constexpr const overlay_format*
find_overlay_format(std::string_view schema) noexcept {
    for (const auto& format : overlay_formats) {
        if (format.schema == schema) {
            return &format;
        }
    }
    return nullptr;
}

/// Returns: the known schemas, for messages. Complexity: O(formats).
[[nodiscard]] inline std::string known_overlay_schemas() {
    std::string all(own_overlay_schema);
    for (const auto& format : overlay_formats) {
        all.append(", ").append(format.schema);
    }
    return all;
}

} // namespace detail

/// Numbers overlaid on a model: from a run, a comparison, or another program.
struct overlay_table {
    /// A cell of an overlay: a number, a text, or nothing.
    using cell = std::variant<std::monostate, double, std::string>;

    /// A column of an overlay.
    struct column {
        std::string name;                                    ///< shown to users
        std::string unit;                                    ///< "" for none
        column_direction better = column_direction::neither; ///< which values are good
        bool additive = false; ///< a module's value includes its submodules'
    };

    /// The cells of one module or node, one per column.
    struct row {
        id of = no_id;           ///< module, or node
        std::vector<cell> cells; ///< by column
    };

    std::string title;           ///< the file's title, otherwise its path
    std::vector<column> columns; ///< at least one
    std::vector<row> modules;    ///< by module
    std::vector<row> nodes;      ///< by node
    std::size_t unmatched = 0;   ///< rows not in the model
};

namespace detail {

/// Reads an overlay of any known format.
class overlay_reader {
public:
    using json = nlohmann::json;

    overlay_reader(std::string_view file, const attributed_model& opened)
        : file_(file), opened_(opened) {}

    [[nodiscard]] overlay_table read(std::string_view text) {
        const auto document = json::parse(text, nullptr, false);
        if (document.is_discarded()) {
            pass_over nothing;
            stream_json(text, file_, nothing); // reports the position of errors
            fail("", "not JSON");
        }
        if (!document.is_object() || !document.contains("schema") ||
            !document["schema"].is_string()) {
            fail("", "has no \"schema\"; known: " + known_overlay_schemas());
        }
        const auto& schema = document["schema"].get_ref<const std::string&>();
        table_.title = file_;
        if (schema == own_overlay_schema) {
            read_own(document);
        } else if (const auto* format = find_overlay_format(schema)) {
            read_format(document, *format);
        } else {
            fail("schema", "unknown schema '" + shortened(schema, 60) +
                               "'; known: " + known_overlay_schemas());
        }
        if (table_.modules.empty() && table_.nodes.empty()) {
            STEMMA_THROW(
                error(error_code::refused, file_, "", "matches no module or node of the model"));
        }
        return std::move(table_);
    }

private:
    static constexpr std::size_t most_columns = 100;
    static constexpr std::size_t longest_text = 200;

    struct pass_over final : json_handler {
        [[nodiscard]] bool wants(const std::string&) override { return false; }
        void element(const std::string&, json_part) override {}
    };

    [[noreturn]] void fail(std::string_view place, std::string_view reason) const {
        STEMMA_THROW(error(error_code::malformed, file_, place, reason));
    }

    [[nodiscard]] static std::string place_of(std::string_view list, std::size_t i) {
        return std::string(list) + "[" + std::to_string(i) + "]";
    }

    [[nodiscard]] std::string text_of(const json& object, const char* key, const std::string& place,
                                      bool required) const {
        const auto entry = object.is_object() ? object.find(key) : object.end();
        if (!object.is_object() || (required && entry == object.end())) {
            fail(place, std::string("has no \"") + key + "\"");
        }
        if (entry == object.end()) {
            return {};
        }
        if (!entry->is_string()) {
            fail(place + "." + key, "not a string");
        }
        return entry->get<std::string>();
    }

    [[nodiscard]] const json& list_of(const json& document, const char* key) const {
        static const json none = json::array();
        const auto entry = document.find(key);
        if (entry == document.end()) {
            return none;
        }
        if (!entry->is_array()) {
            fail(key, "not a list");
        }
        return *entry;
    }

    void read_own(const json& document) {
        if (auto title = text_of(document, "title", "", false); !title.empty()) {
            table_.title = shortened(title, longest_text);
        }
        const auto& columns = list_of(document, "columns");
        if (columns.empty() || columns.size() > most_columns) {
            fail("columns", "not 1 to " + std::to_string(most_columns));
        }
        for (std::size_t i = 0; i < columns.size(); ++i) {
            const auto place = place_of("columns", i);
            overlay_table::column column;
            column.name = text_of(columns[i], "name", place, true);
            if (column.name.empty()) {
                fail(place + ".name", "is empty");
            }
            column.unit = text_of(columns[i], "unit", place, false);
            const auto direction = text_of(columns[i], "direction", place, false);
            if (!direction.empty() && !read_direction(direction, column.better)) {
                fail(place + ".direction",
                     "unknown '" + shortened(direction, 60) + "'; known: lower, higher, neither");
            }
            if (const auto sum = columns[i].find("additive"); sum != columns[i].end()) {
                if (!sum->is_boolean()) {
                    fail(place + ".additive", "neither true nor false");
                }
                column.additive = sum->get<bool>();
            }
            table_.columns.push_back(std::move(column));
        }
        read_rows(document, "modules", "path", modules(), table_.modules);
        read_rows(document, "nodes", "name", nodes(), table_.nodes);
    }

    using places = std::unordered_map<std::string, id>;

    void read_rows(const json& document, const char* list, const char* key, const places& lookup,
                   std::vector<overlay_table::row>& rows) {
        std::unordered_set<id> seen;
        const auto& all = list_of(document, list);
        for (std::size_t i = 0; i < all.size(); ++i) {
            const auto place = place_of(list, i);
            const auto name = text_of(all[i], key, place, true);
            const auto values = all[i].find("values");
            if (values == all[i].end() || !values->is_array() ||
                values->size() != table_.columns.size()) {
                fail(place + ".values", "not a list of one value for each column");
            }
            overlay_table::row row;
            for (std::size_t c = 0; c < values->size(); ++c) {
                const auto& value = (*values)[c];
                if (!value.is_null() && !value.is_number() && !value.is_string()) {
                    fail(place_of(place + ".values", c), "neither number, string nor null");
                }
                row.cells.push_back(cell_of(value, 1));
            }
            add(name, lookup, seen, place, std::move(row), rows);
        }
    }

    /// Adds a row of a known module or node.
    void add(const std::string& name, const places& lookup, std::unordered_set<id>& seen,
             const std::string& place, overlay_table::row row,
             std::vector<overlay_table::row>& rows) {
        const auto entry = lookup.find(name);
        if (entry == lookup.end()) {
            ++table_.unmatched;
            return;
        }
        if (entry->second == no_id) {
            return; // an input of the model
        }
        if (!seen.insert(entry->second).second) {
            fail(place, "a second row for '" + shortened(name, 60) + "'");
        }
        row.of = entry->second;
        rows.push_back(std::move(row));
    }

    [[nodiscard]] static overlay_table::cell cell_of(const json& value, double divisor) {
        if (value.is_number()) {
            return value.get<double>() / divisor;
        }
        if (value.is_string()) {
            return shortened(value.get_ref<const std::string&>(), longest_text);
        }
        if (value.is_object() && !value.empty()) { // contributors
            std::string names;
            for (const auto& [name, part] : value.items()) {
                names.append(names.empty() ? "" : ", ").append(name);
            }
            return shortened(names, longest_text);
        }
        return {};
    }

    /// Returns: the member at `outgoing/max_abs` of an object, or null.
    [[nodiscard]] static const json& at(const json& object, std::string_view way) {
        static const json null;
        const json* now = &object;
        while (!way.empty()) {
            const auto end = std::min(way.find('/'), way.size());
            const auto entry =
                now->is_object() ? now->find(std::string(way.substr(0, end))) : now->end();
            if (!now->is_object() || entry == now->end()) {
                return null;
            }
            now = &*entry;
            way.remove_prefix(std::min(end + 1, way.size()));
        }
        return *now;
    }

    void read_format(const json& document, const overlay_format& format) {
        const auto& runs = at(document, format.divisor);
        const auto divisor = runs.is_number() ? std::max(runs.get<double>(), 1.0) : 1.0;
        for (const auto& field : format.fields) {
            table_.columns.push_back(
                {std::string(field.name), std::string(field.unit), field.better, field.additive});
        }
        const auto read_list = [&](std::string_view list, std::string_view key, bool of_nodes,
                                   const places& lookup, std::vector<overlay_table::row>& rows) {
            if (list.empty()) {
                return;
            }
            std::unordered_set<id> seen;
            const std::string name_key(key);
            const auto& all = list_of(document, std::string(list).c_str());
            for (std::size_t i = 0; i < all.size(); ++i) {
                const auto place = place_of(list, i);
                const auto name = text_of(all[i], name_key.c_str(), place, true);
                overlay_table::row row;
                for (const auto& field : format.fields) {
                    const auto way = of_nodes ? field.of_node : field.of_module;
                    row.cells.push_back(
                        way.empty() ? overlay_table::cell()
                                    : cell_of(at(all[i], way), field.divided ? divisor : 1));
                }
                if (of_nodes && lookup.contains(name) && !seen.insert(lookup.at(name)).second) {
                    continue; // another output of the node
                }
                std::unordered_set<id> fresh;
                add(name, lookup, of_nodes ? fresh : seen, place, std::move(row), rows);
            }
        };
        read_list(format.modules, format.module_key, false, modules(), table_.modules);
        read_list(format.values, "name", true, producers(), table_.nodes);
    }

    [[nodiscard]] places modules() const {
        places result;
        for (id m = 0; m < opened_.modules().size(); ++m) {
            result.emplace(opened_.modules().path(m), m);
        }
        return result;
    }

    [[nodiscard]] places nodes() const {
        const report_names names(opened_.model());
        places result;
        for (id node = 0; node < opened_.model().node_count(); ++node) {
            result.emplace(names.node(node), node);
        }
        return result;
    }

    [[nodiscard]] places producers() const {
        const auto& model = opened_.model();
        places result;
        for (id value = 0; value < model.value_count(); ++value) {
            result.emplace(model.value_name(value), model.producer(value));
        }
        return result;
    }

    std::string file_;
    const attributed_model& opened_;
    overlay_table table_;
};

} // namespace detail

/// Reads an overlay from JSON: the output of `analyze --cost`, `profile` or `numerics`, or
/// docs/overlay.schema.json. `file` is its name in messages.
///
/// Throws: `error` of `malformed` for anything else, of `refused` if nothing in it matches the
/// model. Complexity: O(length + nodes + modules).
[[nodiscard]] inline overlay_table read_overlay(std::string_view text, std::string_view file,
                                                const attributed_model& opened) {
    return detail::overlay_reader(file, opened).read(text);
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_REPORT_OVERLAY_TABLE_HPP
