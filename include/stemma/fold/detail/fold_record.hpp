// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_FOLD_DETAIL_FOLD_RECORD_HPP
#define STEMMA_FOLD_DETAIL_FOLD_RECORD_HPP

#include <stemma/config.hpp>
#include <stemma/core/id.hpp>
#include <stemma/error.hpp>
#include <stemma/io/detail/base64.hpp>
#include <stemma/io/detail/json_part.hpp>
#include <stemma/io/detail/json_stream.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/onnx/carrier.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The difference of a node's text from the one implied by its function.
struct text_change {
    std::uint64_t node = 0;  ///< in inlining order
    std::uint32_t slot = 0;  ///< number of the text within the node
    std::uint32_t front = 0; ///< bytes kept from the front of the expected text
    std::uint32_t back = 0;  ///< and from its back
    std::string middle{};    ///< the bytes in between

    friend bool operator==(const text_change&, const text_change&) = default;
};

/// Finds the change from one text to another, in whole UTF-8 characters.
/// Complexity: O(length).
[[nodiscard]] inline text_change find_change(std::string_view expected, std::string_view actual) {
    const auto is_inside = [](std::string_view text, std::size_t at) {
        return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0U) == 0x80U;
    };
    const auto shorter = std::min(expected.size(), actual.size());
    std::size_t front = 0;
    while (front < shorter && expected[front] == actual[front]) {
        ++front;
    }
    while (front > 0 && (is_inside(expected, front) || is_inside(actual, front))) {
        --front;
    }
    std::size_t back = 0;
    while (back < shorter - front &&
           expected[expected.size() - 1 - back] == actual[actual.size() - 1 - back]) {
        ++back;
    }
    while (back > 0 && is_inside(actual, actual.size() - back)) {
        --back;
    }
    return {0, 0, static_cast<std::uint32_t>(front), static_cast<std::uint32_t>(back),
            std::string(actual.substr(front, actual.size() - back - front))};
}

/// Returns: the changed text; nothing if the change does not apply.
[[nodiscard]] inline std::optional<std::string> apply_change(const text_change& change,
                                                             std::string_view expected) {
    if (std::size_t{change.front} + change.back > expected.size()) {
        return std::nullopt;
    }
    std::string text(expected.substr(0, change.front));
    text.append(change.middle).append(expected.substr(expected.size() - change.back));
    return text;
}

/// A graph before folding.
struct folded_graph_record {
    /// A run of nodes in the file.
    struct node_run {
        std::uint32_t part = 0;   ///< chunk of the graph
        std::uint32_t fields = 0; ///< fields of that chunk, other than nodes, before the run
        std::uint64_t nodes = 0;  ///< how many follow

        friend bool operator==(const node_run&, const node_run&) = default;
    };
    /// A run of nodes.
    struct order_run {
        std::uint64_t first = 0; ///< in inlining order
        std::uint64_t count = 0; ///< length of the run

        friend bool operator==(const order_run&, const order_run&) = default;
    };

    /// A removed ValueInfo.
    struct info_run {
        std::uint32_t part = 0;   ///< chunk of the graph
        std::uint32_t fields = 0; ///< fields of that chunk before it, without removed ones
        std::string bytes{};      ///< of the field, with tag and length

        friend bool operator==(const info_run&, const info_run&) = default;
    };

    std::uint64_t nodes = 0;        ///< number after inlining all calls in it
    std::vector<node_run> layout{}; ///< their positions; empty if contiguous
    /// Their order; nodes in no run are copies of Constants. Empty for inlining order.
    std::vector<order_run> order{};
    std::vector<info_run> infos{};      ///< removed ValueInfos with positions
    std::vector<text_change> changes{}; ///< ascending by node

    friend bool operator==(const folded_graph_record&, const folded_graph_record&) = default;
};

/// The record of a folded file (`stemma.fold/1`, see docs/folding.md): of the main graph, and of
/// the bodies with calls, in file order.
struct fold_record : folded_graph_record {
    bool lifted = false;                      ///< the IR version was raised to one with functions
    std::optional<std::int64_t> ir_version{}; ///< before that
    std::vector<std::pair<std::string, std::string>> functions{}; ///< domain and name
    std::vector<std::string> domains{};                           ///< imports that were added
    std::vector<folded_graph_record> bodies{};                    ///< with calls in them
};

/// Writes the members of a record that describe one graph before folding.
template <class Writer>
void write_folded_graph(Writer& json, const folded_graph_record& record) {
    if (!record.layout.empty()) {
        json.flat_list("layout", record.layout,
                       [&](const auto& run) { json.row(run.part, run.fields, run.nodes); });
    }
    if (!record.order.empty()) {
        std::string order;
        std::uint64_t expected = 0;
        for (const auto& run : record.order) {
            order.append(order.empty() ? "" : " ");
            order.append(std::to_string(static_cast<std::int64_t>(run.first - expected)));
            order.append(" ").append(std::to_string(run.count));
            expected = run.first + run.count;
        }
        json.member("order", order);
    }
    if (!record.infos.empty()) {
        json.flat_list("infos", record.infos, [&](const auto& run) {
            json.row(run.part, run.fields, to_base64(run.bytes));
        });
    }
    if (!record.changes.empty()) {
        json.key("texts");
        json.begin_array(true);
        std::uint64_t last = 0;
        for (const auto& change : record.changes) {
            json.row(change.node - last, change.slot, change.front, change.back, change.middle);
            last = change.node;
        }
        json.end_array();
    }
}

/// Returns: the record as one line of JSON. Complexity: O(length).
[[nodiscard]] inline std::string to_json(const fold_record& record) {
    string_sink sink;
    json_writer json(sink);
    json.begin_object(true);
    json.member("schema", "stemma.fold/1");
    json.member("nodes", record.nodes);
    if (record.lifted) {
        json.key("ir_version");
        record.ir_version ? json.value(*record.ir_version) : json.null();
    }
    json.flat_list("functions", record.functions, [&](const auto& pair) {
        const auto& [domain, name] = pair;
        json.row(domain, name);
    });
    json.values("domains", record.domains);
    detail::write_folded_graph(json, record);
    if (!record.bodies.empty()) {
        json.flat_list("bodies", record.bodies, [&](const auto& body) {
            json.begin_object(true);
            json.member("nodes", body.nodes);
            detail::write_folded_graph(json, body);
            json.end_object();
        });
    }
    json.end_object();
    json.finish();
    sink.text.pop_back();
    return std::move(sink.text);
}

/// Reads what `to_json(fold_record)` writes.
class fold_record_reader final : public json_handler {
public:
    explicit fold_record_reader(std::string_view file) : file_(file) {}

    void element(const std::string& path, json_part part) override {
        if (path == "functions") {
            const auto pair = texts(part);
            check(pair.size() == 2);
            record_.functions.emplace_back(pair[0], pair[1]);
        } else if (path == "domains") {
            check(part.is_text());
            record_.domains.emplace_back(part.text());
        } else if (path == "bodies") {
            check(part.is_object());
            auto& body = record_.bodies.emplace_back();
            for (const char* name : {"layout", "infos", "texts"}) {
                if (const auto list = part[name]; list.is_array()) {
                    for (const auto inner : list) {
                        graph_element(name, inner, body);
                    }
                }
            }
            for (const char* name : {"nodes", "order"}) {
                if (const auto member = part[name]; member && !member.is_array()) {
                    graph_scalar(name, member, body);
                }
            }
        } else {
            graph_element(path, part, record_);
        }
    }

    void scalar(const std::string& path, json_part part) override {
        if (path == "schema") {
            has_schema_ = part == "stemma.fold/1";
        } else if (path == "ir_version") {
            record_.lifted = true;
            check(part.is_null() || part.is_number<std::int64_t>());
            if (!part.is_null()) {
                record_.ir_version = part.number<std::int64_t>();
            }
        } else {
            graph_scalar(path, part, record_);
        }
    }

    [[nodiscard]] fold_record finish() {
        check(has_schema_);
        return std::move(record_);
    }

private:
    void graph_element(const std::string& path, json_part part, folded_graph_record& graph) {
        if (path == "layout") {
            check(part.is_array() && part.size() == 3);
            graph.layout.push_back({small(part[0]), small(part[1]), number(part[2])});
        } else if (path == "infos") {
            check(part.is_array() && part.size() == 3 && part[2].is_text());
            auto bytes = from_base64(part[2].text());
            check(bytes.has_value());
            graph.infos.push_back({small(part[0]), small(part[1]), std::move(*bytes)});
        } else if (path == "texts") {
            check(part.is_array() && part.size() == 5 && part[4].is_text());
            const auto last = graph.changes.empty() ? 0 : graph.changes.back().node;
            graph.changes.push_back({last + number(part[0]), small(part[1]), small(part[2]),
                                     small(part[3]), std::string(part[4].text())});
        }
    }

    void graph_scalar(const std::string& path, json_part part, folded_graph_record& graph) const {
        if (path == "nodes") {
            graph.nodes = number(part);
        } else if (path == "order") {
            check(part.is_text());
            read_order(part.text(), graph);
        }
    }

    void check(bool right) const {
        if (!right) {
            STEMMA_THROW(error(error_code::malformed, file_, std::string(fold_key),
                               "was not written by fold"));
        }
    }

    [[nodiscard]] std::uint64_t number(json_part part) const {
        // Sums of these stay far below 2^64.
        check(part.is_number<std::uint64_t>() && part.number<std::uint64_t>() < no_id);
        return part.number<std::uint64_t>();
    }
    [[nodiscard]] std::uint32_t small(json_part part) const {
        return static_cast<std::uint32_t>(number(part));
    }

    [[nodiscard]] std::vector<std::string> texts(json_part part) const {
        check(part.is_texts());
        return part.texts();
    }

    void read_order(std::string_view text, folded_graph_record& graph) const {
        std::int64_t expected = 0;
        const auto next = [&] {
            std::int64_t value = 0;
            const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
            check(read.ec == std::errc{} && value < no_id && value > -std::int64_t{no_id});
            text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
            text.remove_prefix(!text.empty() && text.front() == ' ' ? 1 : 0);
            return value;
        };
        while (!text.empty()) {
            const auto first = expected + next();
            const auto count = next();
            check(first >= 0 && first < no_id && count > 0);
            graph.order.push_back(
                {static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(count)});
            expected = first + count;
        }
    }

    std::string file_;
    fold_record record_;
    bool has_schema_ = false;
};

/// Reads what `to_json` writes. Throws: `error` of `error_code::malformed`; `file` is named in it.
[[nodiscard]] inline fold_record read_fold_record(std::string_view text, std::string_view file) {
    detail::fold_record_reader reader(file);
    stream_json(text, std::string(file) + ": " + std::string(fold_key), reader);
    return reader.finish();
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_FOLD_DETAIL_FOLD_RECORD_HPP
