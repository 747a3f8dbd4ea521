// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_RECORD_DETAIL_GRAPH_SKETCH_HPP
#define STEMMA_RECORD_DETAIL_GRAPH_SKETCH_HPP

#include <stemma/config.hpp>
#include <stemma/core/detail/prefetch.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/parallel.hpp>
#include <stemma/io/detail/base64.hpp>
#include <stemma/io/detail/xxh64.hpp>
#include <stemma/io/json_text.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/onnx/onnx_model.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Appends numbers as base64 digits: five bits each, plus a continuation bit.
class digit_writer {
public:
    explicit digit_writer(std::string& out) : out_(out) {}

    void number(std::uint64_t n) {
        char digits[13];
        std::size_t count = 0;
        for (; n >= 32; n >>= 5U) {
            digits[count++] = base64_digits[32 | (n & 31U)];
        }
        digits[count++] = base64_digits[n];
        out_.append(digits, count);
    }

    template <unsigned Digits>
    void fixed(std::uint32_t n) {
        char digits[Digits];
        for (unsigned i = 0; i < Digits; ++i, n >>= 6U) {
            digits[i] = base64_digits[n & 63U];
        }
        out_.append(digits, Digits);
    }

    /// 1, -1, 2, -2 as 1, 2, 3, 4; 0 as 0.
    [[nodiscard]] static std::uint64_t zigzag(std::int64_t n) noexcept {
        return n > 0 ? 2 * static_cast<std::uint64_t>(n) - 1 : 2 * static_cast<std::uint64_t>(-n);
    }

private:
    std::string& out_;
};

/// Reads the numbers back.
class digit_reader {
public:
    explicit digit_reader(std::string_view text) : text_(text) {}

    [[nodiscard]] bool done() const noexcept { return at_ == text_.size(); }
    [[nodiscard]] bool failed() const noexcept { return failed_; }

    [[nodiscard]] std::uint64_t number() {
        std::uint64_t n = 0;
        for (unsigned shift = 0;; shift += 5) {
            const auto d = digit();
            n |= std::uint64_t{d & 31U} << shift;
            if (d < 32) {
                return n;
            }
            if (shift > 30) { // no valid number is that large
                failed_ = true;
                return 0;
            }
        }
    }

    [[nodiscard]] std::uint32_t fixed(unsigned digits) {
        std::uint32_t n = 0;
        for (unsigned i = 0; i < digits; ++i) {
            n |= digit() << (6 * i);
        }
        return n;
    }

    [[nodiscard]] static std::int64_t unzigzag(std::uint64_t n) noexcept {
        return n % 2 == 1 ? static_cast<std::int64_t>(n / 2 + 1)
                          : -static_cast<std::int64_t>(n / 2);
    }

private:
    static constexpr auto values = [] {
        std::array<std::uint8_t, 256> table{};
        table.fill(64);
        for (std::uint8_t i = 0; i < 64; ++i) {
            table[static_cast<unsigned char>(base64_digits[i])] = i;
        }
        return table;
    }();

    [[nodiscard]] std::uint32_t digit() {
        const auto value = at_ < text_.size() ? values[static_cast<unsigned char>(text_[at_++])]
                                              : std::uint8_t{64};
        failed_ = failed_ || value == 64;
        return failed_ ? 0U : value;
    }

    std::string_view text_;
    std::size_t at_ = 0;
    bool failed_ = false;
};

/// A graph as it was when it was tagged (`stemma.graph/1`, see docs/formats.md): for each node the
/// operator, its inputs, hashes of the names of its outputs, and its module. Enough to tell what an
/// optimizer made a node from.
class graph_sketch {
public:
    /// The three parts of the stored text; `types` are those of the operators.
    struct texts {
        std::vector<std::string> types; ///< of the operators, with any domain in front
        std::string nodes;              ///< operators and wiring
        std::string modules;            ///< runs of nodes in one module
    };

    /// What was known about a node.
    struct origin {
        id module = no_id;    ///< preorder rank in the tree of the record
        id call = no_id;      ///< `no_id` where unknown
        float confidence = 0; ///< rounded down to a twentieth

        friend bool operator==(const origin&, const origin&) = default;
    };

    /// Stands for an input of the graph or function among the producers of a node's inputs.
    static constexpr id given = no_id;

    /// Returns: the sketch stored in these texts; nothing if they are damaged or refer to more
    /// modules than there are. Complexity: O(length).
    [[nodiscard]] static std::optional<graph_sketch> read(const texts& stored, std::size_t modules);

    /// Returns: the number of nodes.
    [[nodiscard]] id node_count() const noexcept { return static_cast<id>(type_of_.size()); }

    /// Returns: the operator type of a node, with its domain in front.
    [[nodiscard]] std::string_view type(id node) const noexcept { return types_[type_of_[node]]; }

    /// The types of operators, as in `type`.
    [[nodiscard]] std::span<const std::string> types() const noexcept { return types_; }

    /// Returns: the hashes of the names of a node's outputs, see `hash_of`.
    [[nodiscard]] std::span<const std::uint32_t> made(id node) const noexcept {
        return std::span(made_).subspan(first_made_[node],
                                        first_made_[node + 1] - first_made_[node]);
    }

    /// Returns: the producers of a node's inputs, or `given`; without initializers.
    [[nodiscard]] std::span<const id> read_from(id node) const noexcept {
        return std::span(read_).subspan(first_read_[node],
                                        first_read_[node + 1] - first_read_[node]);
    }

    /// Returns: the origin of a node.
    [[nodiscard]] const origin& of(id node) const noexcept { return origins_[node]; }

    /// Returns: the hash that stands in for a value's name.
    [[nodiscard]] static std::uint32_t hash_of(std::string_view name) noexcept {
        return static_cast<std::uint32_t>(xxh64(name) & ((1U << (6 * hash_digits)) - 1));
    }

    /// Returns: the type of an operator as spelled in sketches.
    [[nodiscard]] static std::string spell_type(std::string_view domain, std::string_view type) {
        return domain.empty() ? std::string(type) : std::string(domain) + "::" + std::string(type);
    }

    static constexpr unsigned hash_digits = 5; ///< of base64, six bits each

private:
    std::vector<std::string> types_;
    std::vector<id> type_of_;
    std::vector<std::size_t> first_made_{0};
    std::vector<std::uint32_t> made_;
    std::vector<std::size_t> first_read_{0};
    std::vector<id> read_;
    std::vector<origin> origins_;
};

/// Spells one node after another; parts of a model may be spelled separately, by several threads.
class sketch_speller {
public:
    explicit sketch_speller(const onnx_model& model) : model_(model) {
        std::unordered_map<std::string, id> numbers;
        for (id op = 0; op < model.operator_count(); ++op) {
            auto spelled =
                graph_sketch::spell_type(model.operator_domain(op), model.operator_type(op));
            const auto [entry, is_new] = numbers.emplace(spelled, static_cast<id>(types_.size()));
            if (is_new) {
                types_.push_back(std::move(spelled));
            }
            type_of_operator_.push_back(entry->second);
        }
        for (id g = 1; g < model.graph_count(); ++g) {
            if (model.graph(g).kind == graph_kind::body) {
                owners_.push_back(model.graph(g).owner);
            }
        }
        range::sort(owners_);
    }

    [[nodiscard]] std::vector<std::string> take_types() { return std::move(types_); }

    void spell(id node, std::string& out, std::vector<std::uint64_t>& reads) const {
        constexpr id ahead = 16;
        if (node + ahead < model_.node_count() && model_.output_count(node + ahead) > 0) {
            prefetch(model_.value_name(model_.first_output(node + ahead)).data());
        }
        digit_writer digits(out);
        const auto first = model_.first_output(node);
        id named = 0;
        for (id i = 0; i < model_.output_count(node); ++i) {
            named += model_.value_name(first + i).empty() ? 0U : 1U;
        }
        digits.number(std::uint64_t{type_of_operator_[model_.operator_id(node)]} << 1U |
                      (named == 1 ? 0U : 1U));
        if (named != 1) {
            digits.number(named);
        }
        for (id i = 0; i < model_.output_count(node); ++i) {
            if (const auto name = model_.value_name(first + i); !name.empty()) {
                digits.fixed<graph_sketch::hash_digits>(graph_sketch::hash_of(name));
            }
        }
        reads.clear();
        for (const auto value : model_.inputs(node)) {
            if (value == no_id || model_.is_initializer(value) ||
                model_.kind(value) == value_kind::undefined) {
                continue;
            }
            const auto from = model_.producer(value);
            reads.push_back(from == no_id ? 0 : digit_writer::zigzag(std::int64_t{node} - from));
        }
        if (std::binary_search(owners_.begin(), owners_.end(), node)) {
            reads.push_back(0); // inputs of its bodies are not listed
        }
        digits.number(reads.size());
        for (const auto read : reads) {
            digits.number(read);
        }
    }

private:
    const onnx_model& model_;
    std::vector<std::string> types_;
    std::vector<id> type_of_operator_;
    std::vector<id> owners_; // of bodies, ascending
};

/// Returns: the stored form of the sketch of a model with these attributions.
/// Complexity: O(nodes + inputs + length of names).
[[nodiscard]] inline graph_sketch::texts sketch_of(const onnx_model& model,
                                                   std::span<const attribution> attributions) {
    detail::sketch_speller speller(model);
    const auto count = thread_limit::current().parts_of_operators(model.node_count());
    std::vector<std::string> parts(count);
    for_each_range(model.node_count(), count,
                   [&](std::size_t part, std::size_t first, std::size_t last) {
                       std::string text;
                       std::vector<std::uint64_t> reads;
                       text.reserve((last - first) * 12);
                       for (auto node = static_cast<id>(first); node < last; ++node) {
                           speller.spell(node, text, reads);
                       }
                       parts[part] = std::move(text);
                   });
    graph_sketch::texts stored;
    stored.types = speller.take_types();
    stored.nodes = std::move(parts.front());
    for (std::size_t part = 1; part < count; ++part) {
        stored.nodes.append(parts[part]);
    }
    detail::digit_writer digits(stored.modules);
    std::int64_t before = 0;
    const auto encode = [&](id node) {
        const auto twentieth =
            static_cast<std::uint64_t>(attributions[node].confidence * 20 + 0.001F);
        return (attributions[node].call == no_id ? 0 : std::uint64_t{attributions[node].call} + 1) *
                   21 +
               twentieth;
    };
    for (id node = 0; node < attributions.size();) {
        auto end = node + 1;
        while (end < attributions.size() && attributions[end].module == attributions[node].module &&
               encode(end) == encode(node)) {
            ++end;
        }
        digits.number(end - node);
        digits.number(digits.zigzag(std::int64_t{attributions[node].module} - before));
        digits.number(encode(node));
        before = attributions[node].module;
        node = end;
    }
    return stored;
}

inline std::optional<graph_sketch> graph_sketch::read(const texts& stored, std::size_t modules) {
    graph_sketch sketch;
    sketch.types_ = stored.types;
    detail::digit_reader nodes(stored.nodes);
    while (!nodes.done() && !nodes.failed()) {
        const auto node = static_cast<std::int64_t>(sketch.type_of_.size());
        const auto head = nodes.number();
        if (head / 2 >= sketch.types_.size()) {
            return std::nullopt;
        }
        sketch.type_of_.push_back(static_cast<id>(head / 2));
        for (auto remaining = head % 2 == 0 ? 1 : nodes.number(); remaining > 0 && !nodes.failed();
             --remaining) {
            sketch.made_.push_back(nodes.fixed(hash_digits));
        }
        for (auto rest = nodes.number(); rest > 0 && !nodes.failed(); --rest) {
            const auto distance = nodes.number();
            const auto from = node - detail::digit_reader::unzigzag(distance);
            if (from < 0 || from >= no_id) {
                return std::nullopt;
            }
            sketch.read_.push_back(distance == 0 ? given : static_cast<id>(from));
        }
        sketch.first_made_.push_back(sketch.made_.size());
        sketch.first_read_.push_back(sketch.read_.size());
    }
    const auto count = sketch.type_of_.size();
    const bool wired =
        detail::range::all_of(sketch.read_, [&](id from) { return from == given || from < count; });
    detail::digit_reader runs(stored.modules);
    std::int64_t module = 0;
    while (!runs.done() && !runs.failed()) {
        const auto length = runs.number();
        module += detail::digit_reader::unzigzag(runs.number());
        const auto encoded = runs.number();
        if (length > count - sketch.origins_.size() || module < 0 ||
            module >= static_cast<std::int64_t>(modules) || encoded / 21 >= no_id) {
            return std::nullopt;
        }
        sketch.origins_.insert(sketch.origins_.end(), length,
                               {static_cast<id>(module),
                                encoded < 21 ? no_id : static_cast<id>(encoded / 21 - 1),
                                static_cast<float>(encoded % 21) / 20});
    }
    const bool whole =
        !nodes.failed() && !runs.failed() && wired && sketch.origins_.size() == count;
    return whole ? std::optional(std::move(sketch)) : std::nullopt;
}

/// Returns: the stored form as one line of JSON. Complexity: O(length).
[[nodiscard]] inline std::string to_json(const graph_sketch::texts& stored) {
    std::string text = R"({"schema": "stemma.graph/1", "types": [)";
    text.reserve(stored.nodes.size() + stored.modules.size() + 4096);
    for (std::size_t i = 0; i < stored.types.size(); ++i) {
        text.append(i == 0 ? "" : ", ");
        append_json_string(stored.types[i], text);
    }
    // Digits need no escaping.
    text.append(R"(], "nodes": ")").append(stored.nodes);
    return text.append(R"(", "modules": ")").append(stored.modules).append("\"}");
}

/// Returns: the sketch in a text written by `to_json`, for a tree with that many modules; nothing
/// for anything else. Complexity: O(length).
[[nodiscard]] inline std::optional<graph_sketch> read_sketch(std::string_view text,
                                                             std::size_t modules) {
    const auto json = nlohmann::json::parse(text, nullptr, false);
    const auto is_text = [&](const char* key) {
        return json.contains(key) && json[key].is_string();
    };
    if (!json.is_object() || !is_text("schema") || json["schema"] != "stemma.graph/1" ||
        !is_text("nodes") || !is_text("modules") || !json.contains("types") ||
        !json["types"].is_array()) {
        return std::nullopt;
    }
    graph_sketch::texts stored;
    for (const auto& type : json["types"]) {
        if (!type.is_string()) {
            return std::nullopt;
        }
        stored.types.push_back(type.get<std::string>());
    }
    stored.nodes = json["nodes"].get_ref<const std::string&>();
    stored.modules = json["modules"].get_ref<const std::string&>();
    return graph_sketch::read(stored, modules);
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_RECORD_DETAIL_GRAPH_SKETCH_HPP
