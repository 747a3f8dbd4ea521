// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_CARRIER_HPP
#define STEMMA_ONNX_CARRIER_HPP

#include <stemma/core/category.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/nearest_texts.hpp>
#include <stemma/core/text_list.hpp>
#include <stemma/error.hpp>
#include <stemma/io/json_text.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace stemma::inline STEMMA_ABI {

/// What to write about one operator.
struct operator_tags {
    std::string_view tag;             ///< the primary tag
    std::string_view module;          ///< path of the deepest module; "" for the root
    std::span<const std::string> all; ///< all tags, if there are several; else empty
    std::string_view all_as_json;     ///< the same as a JSON array; else ""
    std::string_view origins{};       ///< in the original, as a JSON array (`spell_origins`), or ""
    std::string_view source{};        ///< the number of its chain of frames, or ""
};

/// The prefix of everything stemma writes in node, tensor, value and model metadata.
inline constexpr std::string_view key_prefix = "pkg.stemma.";

namespace detail {

/// Node metadata: the primary tag.
inline constexpr std::string_view source_module_key = "pkg.stemma.source_module";
/// Node metadata: the path of the deepest module.
inline constexpr std::string_view module_key = "pkg.stemma.module";
/// Metadata of nodes, tensors and values: all tags.
inline constexpr std::string_view hierarchy_tags_key = "pkg.stemma.hierarchy_tags";
/// Node metadata: the nodes of the original it came from.
inline constexpr std::string_view origins_key = "pkg.stemma.origins";
/// Node metadata: the number of its chain of frames in `sources_key`.
inline constexpr std::string_view source_key = "pkg.stemma.source";
/// Model metadata: source lines, and which nodes were written there.
inline constexpr std::string_view sources_key = "pkg.stemma.sources";
/// Node metadata: the previous value of `namespace`.
inline constexpr std::string_view saved_namespace_key = "pkg.stemma.saved.namespace";
/// Model metadata: the record of the tagging.
inline constexpr std::string_view model_key = "pkg.stemma.model";
/// Model metadata: all tags as one table.
inline constexpr std::string_view tag_table_key = "pkg.stemma.tags";
/// Model metadata: the graph as it was when tagged, see `graph_sketch`.
inline constexpr std::string_view sketch_key = "pkg.stemma.graph";
/// Node metadata that viewers group by.
inline constexpr std::string_view namespace_key = "namespace";

/// Written by folding: on calls their origin, on operators in functions their path from the
/// function's module, on the model what unfolding needs. It belongs to the functions, so tagging
/// and stripping leave it alone.
inline constexpr std::string_view fold_key = "pkg.stemma.fold";
/// See `fold_key`.
inline constexpr std::string_view fold_modules_key = "pkg.stemma.fold.modules";
/// See `fold_key`.
inline constexpr std::string_view fold_source_tags_key = "pkg.stemma.fold.source_tags";
/// See `fold_key`.
inline constexpr std::string_view fold_source_key = "pkg.stemma.fold.source";
/// See `fold_key`.
inline constexpr std::string_view fold_module_key = "pkg.stemma.fold.module";
/// See `fold_key`.
inline constexpr std::string_view fold_tag_key = "pkg.stemma.fold.tag";
/// See `fold_key`.
inline constexpr std::string_view fold_call_key = "pkg.stemma.fold.call";
/// See `fold_key`.
inline constexpr std::string_view fold_run_key = "pkg.stemma.fold.run";
/// See `fold_key`.
inline constexpr std::string_view fold_scope_key = "pkg.stemma.fold.scope";

/// Whether a metadata entry was written by folding.
[[nodiscard]] constexpr bool is_fold_entry(std::string_view key) noexcept {
    return key.starts_with(fold_key) &&
           (key.size() == fold_key.size() || key[fold_key.size()] == '.');
}

/// Whether a metadata entry was written by tagging or cutting.
[[nodiscard]] constexpr bool is_tag_entry(std::string_view key) noexcept {
    return key.starts_with(key_prefix) && !is_fold_entry(key);
}

/// Metadata of an initializer: the `state_dict` entries it was made from, and how.
inline constexpr std::string_view parameter_key = "pkg.stemma.parameter";

/// The attributes of the `attribute` carrier.
inline constexpr std::string_view source_module_attribute = "source_module";

/// Attribute: all tags.
inline constexpr std::string_view hierarchy_tags_attribute = "hierarchy_tags";

/// The doc_string that marks such attributes as ours.
inline constexpr std::string_view attribute_mark = "pkg.stemma";

/// Metadata of a node: the name that stemma gave it, as it had none.
inline constexpr std::string_view node_name_key = "pkg.stemma.name";

/// The prefix of our last line in a doc_string; a JSON object follows.
inline constexpr std::string_view doc_line_mark = "pkg.stemma ";

/// The prefix of our marks in a doc_string; a number follows, see `append_mark`.
inline constexpr std::string_view node_mark = "stemma#";

/// Whether stemma gave a node its name. Complexity: O(fields of the node).
template <class Model>
[[nodiscard]] bool has_given_name(const Model& model, id node) {
    bool given = false;
    model.for_each_metadata(node, [&](std::string_view key, std::string_view value) {
        given = given || (key == node_name_key && value == model.name(node));
    });
    return given;
}

} // namespace detail

/// Receives what a carrier writes about one operator: `metadata(key, value)` entries,
/// `attribute(name, text)`, possibly with a list of texts, the `doc_line(text)`, the path as
/// `name_space(text)`, and by `mark()` the operator's number in the sketch of its graph.
template <class Sink>
concept carrier_sink = requires(Sink& sink, std::string_view text,
                                std::span<const std::string> list) {
    sink.metadata(text, text);
    sink.attribute(text, text);
    sink.attribute(text, list);
    sink.doc_line(text);
    sink.name_space(text);
    sink.mark();
};

namespace detail {

inline constexpr std::string_view mark_digits = "0123456789abcdefghijklmnopqrstuvwxyz";

/// Whether a record says that nodes have `namespace` entries of ours; false for a damaged one.
[[nodiscard]] inline bool records_namespaces(std::string_view record) noexcept {
    return record.find("\"namespace\"") < record.find("\"options\"");
}

struct carrier_sink_archetype {
    void metadata(std::string_view, std::string_view) {}
    void attribute(std::string_view, std::string_view) {}
    void attribute(std::string_view, std::span<const std::string>) {}
    void doc_line(std::string_view) {}
    void name_space(std::string_view) {}
    void mark() {}
};

template <class P>
concept has_write = requires(const P& p, const operator_tags& tags, carrier_sink_archetype& sink) {
    p.write(tags, sink);
};

/// Appends the line that marks an operator: `node_mark` and its number in base 36.
/// Complexity: O(1).
inline void append_mark(id number, std::string& text) {
    char digits[8];
    auto* first = std::end(digits);
    do {
        *--first = detail::mark_digits[number % detail::mark_digits.size()];
        number /= static_cast<id>(detail::mark_digits.size());
    } while (number > 0);
    text.append(node_mark).append(first, std::end(digits));
}

/// Returns: the number in a line written by `append_mark`, `no_id` for any other line.
/// Complexity: O(1).
[[nodiscard]] inline id parse_mark(std::string_view line) noexcept {
    if (!line.starts_with(node_mark) || line.size() == node_mark.size() ||
        line.size() > node_mark.size() + 7) {
        return no_id;
    }
    std::uint64_t number = 0;
    for (const char c : line.substr(node_mark.size())) {
        const auto digit = detail::mark_digits.find(c);
        if (digit == detail::mark_digits.npos) {
            return no_id;
        }
        number = number * detail::mark_digits.size() + digit;
    }
    return number < no_id ? static_cast<id>(number) : no_id;
}

} // namespace detail

/// Determines how tags are stored with an operator.
///
/// `write(tags, sink)` passes the sink what is to be written, possibly nothing.
///
/// Requires: `write` does the same for equal tags; metadata keys start with `key_prefix`, so that
/// `strip` finds them again; attributes have the two names above.
template <class P>
concept carrier_policy = detail::policy_for<P, carrier_category> && detail::has_write<P>;

/// Metadata entries under `pkg.stemma.`: read by every tool that lists metadata.
struct metadata_carrier {
    using policy_category = carrier_category;

    template <carrier_sink Sink>
    void write(const operator_tags& tags, Sink& sink) const {
        sink.metadata(detail::source_module_key, tags.tag);
        sink.metadata(detail::module_key, tags.module);
        if (!tags.all.empty()) {
            sink.metadata(detail::hierarchy_tags_key, tags.all_as_json);
        }
        if (!tags.origins.empty()) {
            sink.metadata(detail::origins_key, tags.origins);
        }
        if (!tags.source.empty()) {
            sink.metadata(detail::source_key, tags.source);
        }
    }
};

/// Attributes `source_module` and `hierarchy_tags`: for tools that read attributes. The ONNX
/// checker and ONNX Runtime reject unknown attributes on standard operators.
struct attribute_carrier {
    using policy_category = carrier_category;

    template <carrier_sink Sink>
    void write(const operator_tags& tags, Sink& sink) const {
        sink.attribute(detail::source_module_attribute, tags.tag);
        if (!tags.all.empty()) {
            sink.attribute(detail::hierarchy_tags_attribute, tags.all);
        }
    }
};

/// The last line of the doc_string: survives a save by ONNX Runtime.
struct doc_string_carrier {
    using policy_category = carrier_category;

    template <carrier_sink Sink>
    void write(const operator_tags& tags, Sink& sink) const {
        std::string line(detail::doc_line_mark);
        line.append("{\"source_module\": ");
        append_json_string(tags.tag, line);
        line.append(", \"module\": ");
        append_json_string(tags.module, line);
        if (!tags.all.empty()) {
            line.append(", \"hierarchy_tags\": ").append(tags.all_as_json);
        }
        sink.doc_line(line.append("}"));
    }
};

/// A number in the doc_string, and in the model's metadata a sketch of the graph that gives it
/// meaning: survives optimizers, which keep few node metadata but many doc_strings and names.
struct mark_carrier {
    using policy_category = carrier_category;

    template <carrier_sink Sink>
    void write(const operator_tags&, Sink& sink) const {
        sink.mark();
    }
};

/// The path of the module, `encoder/layer/0`, as the metadata entry `namespace`: groups nodes in
/// viewers that read it.
struct namespace_carrier {
    using policy_category = carrier_category;

    template <carrier_sink Sink>
    void write(const operator_tags& tags, Sink& sink) const {
        sink.name_space(spell(tags.module));
    }

    /// Returns: what is written for the path of a module.
    [[nodiscard]] static std::string spell(std::string_view path) {
        std::string spelled(path);
        std::replace(spelled.begin(), spelled.end(), '.', '/');
        return spelled;
    }
};

/// Nothing on the operators: all tags are in one table in the model's metadata.
struct model_carrier {
    using policy_category = carrier_category;

    template <carrier_sink Sink>
    void write(const operator_tags&, Sink&) const {}
};

/// Any combination of the built-in carriers, chosen at run time.
struct carrier_set {
    using policy_category = carrier_category;

    bool metadata = true;    ///< metadata_carrier
    bool attribute = false;  ///< attribute_carrier
    bool doc_string = false; ///< doc_string_carrier
    bool name_space = false; ///< namespace_carrier
    bool model = false;      ///< model_carrier: writes once, not for every operator
    bool mark = false;       ///< mark_carrier

    template <carrier_sink Sink>
    void write(const operator_tags& tags, Sink& sink) const {
        metadata ? metadata_carrier{}.write(tags, sink) : void();
        attribute ? attribute_carrier{}.write(tags, sink) : void();
        doc_string ? doc_string_carrier{}.write(tags, sink) : void();
        name_space ? namespace_carrier{}.write(tags, sink) : void();
        mark ? mark_carrier{}.write(tags, sink) : void();
    }

    /// Returns: the set given by a comma-separated list of `metadata`, `mark`, `attribute`,
    /// `doc-string`, `namespace` and `model`.
    /// Throws: `error` of `error_code::refused` if it is empty or has an unknown name.
    /// Complexity: O(length).
    [[nodiscard]] static carrier_set named(std::string_view list) {
        carrier_set carriers{.metadata = false};
        auto names = split_list(list);
        names.resize(std::max<std::size_t>(names.size(), 1)); // an empty name is unknown
        for (const auto& name : names) {
            if (!carriers.add(name)) {
                STEMMA_THROW(error(error_code::refused, "", "",
                                   detail::unknown_name_text("carrier", name,
                                                             "metadata, mark, attribute, "
                                                             "doc-string, namespace, model")));
            }
        }
        return carriers;
    }

    /// Adds the carrier with a name. Returns: whether there is one.
    bool add(std::string_view name) noexcept {
        bool known = false;
        for_each_name(*this, [&](std::string_view one, bool& used) {
            used = used || one == name;
            known = known || one == name;
        });
        return known;
    }

    /// Calls `f(name, used)` for each carrier of a set; the second is a reference to its flag.
    template <class Set, class Function>
    static void for_each_name(Set& set, Function f) {
        f(std::string_view("metadata"), set.metadata);
        f(std::string_view("attribute"), set.attribute);
        f(std::string_view("doc-string"), set.doc_string);
        f(std::string_view("namespace"), set.name_space);
        f(std::string_view("model"), set.model);
        f(std::string_view("mark"), set.mark);
    }

    friend bool operator==(const carrier_set&, const carrier_set&) = default;
};

/// How tags are stored by default: as metadata, and as marks, which survive optimizers.
inline constexpr carrier_set usual_carriers{.mark = true};

/// Put `static_assert(explain_policy<carrier_category, mine>());` next to a policy that is
/// rejected.
template <std::same_as<carrier_category> Role, class P>
consteval bool explain_policy() {
    static_assert(std::copy_constructible<P>, "carrier policy: make the class copyable");
    static_assert(detail::declares<P, carrier_category>,
                  "carrier policy: add `using policy_category = stemma::carrier_category;`");
    static_assert(detail::has_write<P>,
                  "carrier policy: add `template <stemma::carrier_sink Sink> void write(const "
                  "stemma::operator_tags&, Sink&) const`");
    return carrier_policy<P>;
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_ONNX_CARRIER_HPP
