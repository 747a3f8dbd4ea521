// SPDX-License-Identifier: Apache-2.0
// stemma 0.1.0: <stemma/wire.hpp> and all it includes, as one file. Made by
// single_include/amalgamate.py; to change something, change the headers it joins.
#ifndef STEMMA_WIRE_HPP
#define STEMMA_WIRE_HPP

#include "stemma.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <queue>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

// <stemma/io/json_part.hpp>
#ifndef STEMMA_IO_JSON_PART_HPP
#define STEMMA_IO_JSON_PART_HPP

namespace stemma {

namespace detail {

enum class json_kind : std::uint8_t { null, boolean, negative, natural, real, text, array, object };

/// A value, and its key where it is a member of an object. The values inside follow it.
struct json_node {
    json_kind kind = json_kind::null;
    std::size_t key = 0; // begins there in the texts
    std::size_t key_size = 0;
    std::uint64_t content = 0; // number, begin in the texts, or how many values are directly inside
    std::size_t size = 1;      // of a text in bytes, of all else in nodes

    /// Returns: how many nodes on the next value stands that is not inside of this one.
    [[nodiscard]] std::size_t step() const noexcept { return kind == json_kind::text ? 1 : size; }
};

} // namespace detail

/// A view of one value of a JSON document, or of none, which is what an index or a key gives that
/// leads nowhere. Valid until the `json_value` that holds it changes.
class json_part {
    using kind = detail::json_kind;

public:
    /// The elements of an array, for loops over it.
    class iterator {
    public:
        /// Stands at a node, or behind the last one.
        iterator(const detail::json_node* at, const char* texts) : at_(at), texts_(texts) {}

        /// The element. Requires: it is not the end.
        [[nodiscard]] json_part operator*() const noexcept { return {at_, texts_}; }
        /// To the next element, behind all that is inside of this one.
        iterator& operator++() noexcept {
            at_ += at_->step();
            return *this;
        }
        /// Whether both stand at one place of one array.
        [[nodiscard]] bool operator==(const iterator& other) const noexcept {
            return at_ == other.at_;
        }

    private:
        const detail::json_node* at_;
        const char* texts_;
    };

    /// No value.
    json_part() = default;

    /// The value of a node, the texts of which begin at `texts`.
    json_part(const detail::json_node* node, const char* texts) : node_(node), texts_(texts) {}

    /// Whether there is a value, be it null.
    [[nodiscard]] explicit operator bool() const noexcept { return node_ != nullptr; }

    /// Whether it is null, which is a value.
    [[nodiscard]] bool is_null() const noexcept { return is(kind::null); }
    /// Whether it is true or false.
    [[nodiscard]] bool is_boolean() const noexcept { return is(kind::boolean); }
    /// Whether it is a string.
    [[nodiscard]] bool is_text() const noexcept { return is(kind::text); }
    /// Whether it has elements, be they none.
    [[nodiscard]] bool is_array() const noexcept { return is(kind::array); }
    /// Whether it has members, be they none.
    [[nodiscard]] bool is_object() const noexcept { return is(kind::object); }

    /// Whether it is a list of texts. Complexity: O(length).
    [[nodiscard]] bool is_texts() const noexcept {
        if (!is_array()) {
            return false;
        }
        for (const auto element : *this) {
            if (!element.is_text()) {
                return false;
            }
        }
        return true;
    }

    /// Whether it is a number without a fraction that `Number` can hold.
    template <std::integral Number>
    [[nodiscard]] bool is_number() const noexcept {
        return is(kind::natural) ? std::in_range<Number>(node_->content)
                                 : is(kind::negative) && std::in_range<Number>(negative());
    }

    /// Throws: `std::invalid_argument` when it is no boolean.
    [[nodiscard]] bool boolean() const {
        check(is_boolean(), "a boolean");
        return node_->content != 0;
    }

    /// Throws: `std::invalid_argument` when it is no text.
    [[nodiscard]] std::string_view text() const {
        check(is_text(), "a text");
        return {texts_ + node_->content, node_->size};
    }

    /// Throws: `std::invalid_argument` unless `is_number<Number>()`.
    template <std::integral Number>
    [[nodiscard]] Number number() const {
        check(is_number<Number>(), "a number");
        return is(kind::natural) ? static_cast<Number>(node_->content)
                                 : static_cast<Number>(negative());
    }

    /// Returns: how many values an array or object holds, 0 for all else.
    [[nodiscard]] std::size_t size() const noexcept {
        return is_array() || is_object() ? static_cast<std::size_t>(node_->content) : 0;
    }

    /// Returns: element `i` of an array, or none. Complexity: O(i).
    [[nodiscard]] json_part operator[](std::size_t i) const noexcept {
        if (!is_array() || i >= size()) {
            return {};
        }
        iterator element(node_ + 1, texts_);
        while (i-- > 0) {
            ++element;
        }
        return *element;
    }

    /// Returns: the member of an object, the last of several of one key, or none.
    /// Complexity: O(members), so no table of them needs to be made.
    [[nodiscard]] json_part operator[](std::string_view key) const noexcept {
        const detail::json_node* found = nullptr;
        const auto* member = is_object() ? node_ + 1 : nullptr;
        for (auto left = member == nullptr ? 0 : size(); left-- > 0; member += member->step()) {
            if (std::string_view(texts_ + member->key, member->key_size) == key) {
                found = member;
            }
        }
        return {found, texts_};
    }

    /// Throws: `std::invalid_argument` when it is no array.
    [[nodiscard]] iterator begin() const {
        check(is_array(), "a list");
        return {node_ + 1, texts_};
    }

    /// Requires: an array.
    [[nodiscard]] iterator end() const noexcept { return {node_ + node_->size, texts_}; }

    /// Throws: `std::invalid_argument` when it is no list of texts. Complexity: O(length).
    [[nodiscard]] std::vector<std::string> texts() const {
        std::vector<std::string> result;
        for (const auto element : *this) {
            result.emplace_back(element.text());
        }
        return result;
    }

    /// Throws: `std::invalid_argument` when it is no list of such numbers. Complexity: O(length).
    template <std::integral Number>
    [[nodiscard]] std::vector<Number> numbers() const {
        std::vector<Number> result;
        for (const auto element : *this) {
            result.push_back(element.number<Number>());
        }
        return result;
    }

    /// Whether it is this text.
    friend bool operator==(const json_part& part, std::string_view text) {
        return part.is_text() && part.text() == text;
    }

private:
    friend class json_value;

    [[nodiscard]] bool is(kind wanted) const noexcept {
        return node_ != nullptr && node_->kind == wanted;
    }

    [[nodiscard]] std::size_t steps() const noexcept {
        return node_ == nullptr ? 0 : node_->step();
    }

    [[nodiscard]] std::int64_t negative() const noexcept {
        return static_cast<std::int64_t>(node_->content);
    }

    static void check(bool right, const char* wanted) {
        if (!right) {
            STEMMA_THROW(std::invalid_argument(std::string("something else stands where ") +
                                               wanted + " belongs"));
        }
    }

    const detail::json_node* node_ = nullptr;
    const char* texts_ = nullptr;
};

/// Holds a JSON value, made from the events of a parser in their order.
///
/// Two arrays for all of it, which are used again for the next value: nlohmann's values allocate
/// for every name and text, and take longer to make than to parse.
class json_value {
    using kind = detail::json_kind;

public:
    /// Without a value.
    json_value() = default;

    /// Keeps what `part` sees. Complexity: O(size of that).
    explicit json_value(const json_part& part) : nodes_(part.node_, part.node_ + part.steps()) {
        for (auto& node : nodes_) {
            node.key = keep({part.texts_ + node.key, node.key_size});
            if (node.kind == kind::text) {
                node.content = keep({part.texts_ + node.content, node.size});
            }
        }
    }

    /// Returns: a view of it all, of none before anything was added.
    [[nodiscard]] json_part part() const noexcept {
        return nodes_.empty() ? json_part() : json_part(nodes_.data(), texts_.data());
    }

    /// Forgets the value, and keeps the room.
    void clear() noexcept {
        nodes_.clear();
        texts_.clear();
    }

    /// Whether every array and object that was begun has come to its end.
    [[nodiscard]] bool is_whole() const noexcept { return open_.empty(); }

    /// The key of what is added next.
    void key(std::string_view name) {
        key_ = keep(name);
        key_size_ = name.size();
    }

    /// Adds null.
    void null() { add(kind::null); }
    /// Adds true or false.
    void boolean(bool value) { add(kind::boolean).content = value ? 1 : 0; }

    /// Adds a copy of a text.
    void text(std::string_view value) {
        auto& node = add(kind::text);
        node.content = keep(value);
        node.size = value.size();
    }

    /// A number that is below zero.
    void negative(std::int64_t value) {
        add(kind::negative).content = static_cast<std::uint64_t>(value);
    }

    /// A number that is not.
    void natural(std::uint64_t value) { add(kind::natural).content = value; }

    /// A number with a fraction, or one that is too large for the others. Its value is not kept,
    /// as nothing that is read has one.
    void real() { add(kind::real); }

    /// What is added up to the matching `end` is inside.
    void begin_array() { begin(kind::array); }

    /// As `begin_array`, each value behind its key.
    void begin_object() { begin(kind::object); }

    /// Of the array or object that was begun last.
    void end() {
        nodes_[open_.back()].size = nodes_.size() - open_.back();
        open_.pop_back();
    }

private:
    detail::json_node& add(kind added) {
        if (!open_.empty()) {
            ++nodes_[open_.back()].content;
        }
        return nodes_.emplace_back(
            detail::json_node{added, key_, std::exchange(key_size_, 0), 0, 1});
    }

    void begin(kind added) {
        add(added);
        open_.push_back(nodes_.size() - 1);
    }

    [[nodiscard]] std::size_t keep(std::string_view text) {
        texts_.append(text);
        return texts_.size() - text.size();
    }

    std::vector<std::size_t> open_; // arrays and objects that have not ended
    std::size_t key_ = 0;
    std::size_t key_size_ = 0;
    std::vector<detail::json_node> nodes_;
    std::string texts_;
};

} // namespace stemma

#endif // STEMMA_IO_JSON_PART_HPP

// <stemma/io/captured_json.hpp>
#ifndef STEMMA_IO_CAPTURED_JSON_HPP
#define STEMMA_IO_CAPTURED_JSON_HPP

namespace stemma {

/// One object of a capture, and what to say when it is not as it should be.
class captured_json {
public:
    /// Throws: `error` of `error_code::malformed` when the part is no object.
    captured_json(json_part object, std::string_view file, std::string_view what,
                  std::size_t number)
        : object_(object), file_(file), what_(what), number_(number) {
        if (!object_.is_object()) {
            fail("is no object");
        }
    }

    /// Whether the object has a key, be it null.
    [[nodiscard]] bool has(std::string_view key) const { return bool(object_[key]); }

    /// Whether the object has a text under a key.
    [[nodiscard]] bool is_text(std::string_view key) const { return object_[key].is_text(); }

    /// Throws: when it is missing or no text.
    [[nodiscard]] std::string text(std::string_view key) const {
        const auto found = object_[key];
        if (!found.is_text()) {
            fail("lacks the text '" + std::string(key) + "'");
        }
        return std::string(found.text());
    }

    /// Returns: `no_id` when it is missing, null or out of range.
    [[nodiscard]] id number(std::string_view key) const {
        const auto found = object_[key];
        return found.is_number<id>() ? found.number<id>() : no_id;
    }

    /// Returns: the texts in a list; empty when it is missing. Throws: when it is no list of texts.
    /// Complexity: O(length of the list).
    [[nodiscard]] std::vector<std::string> strings(std::string_view key) const {
        const auto found = object_[key];
        if (!found || found.is_null()) {
            return {};
        }
        if (!found.is_array()) {
            fail("has something else than a list as '" + std::string(key) + "'");
        }
        if (!found.is_texts()) {
            fail("has something else than texts in '" + std::string(key) + "'");
        }
        return found.texts();
    }

    /// Returns: the shapes in a list, that of what has none being empty.
    /// Complexity: O(length of the list).
    [[nodiscard]] std::vector<std::vector<std::int64_t>> shapes(std::string_view key) const {
        std::vector<std::vector<std::int64_t>> result;
        const auto found = object_[key];
        if (found.is_array()) {
            for (const auto shape : found) {
                result.push_back(shape.is_array() ? extents(shape) : std::vector<std::int64_t>());
            }
        }
        return result;
    }

    /// Throws: always, `error` of `error_code::malformed` that names file, part and number.
    [[noreturn]] void fail(std::string_view reason) const {
        STEMMA_THROW(error(error_code::malformed, file_,
                           std::string(what_) + " " + std::to_string(number_), reason));
    }

private:
    /// What is no number is -1.
    [[nodiscard]] static std::vector<std::int64_t> extents(json_part shape) {
        std::vector<std::int64_t> result;
        for (const auto extent : shape) {
            const bool known = extent.is_number<std::int64_t>();
            result.push_back(known ? extent.number<std::int64_t>() : -1);
        }
        return result;
    }

    json_part object_;
    std::string_view file_;
    std::string_view what_;
    std::size_t number_;
};

/// Returns: the module at a path or under an alias, or `no_id`.
/// Complexity: O(length) expected, and O(aliases) where no path leads there.
[[nodiscard]] inline id find_path(const module_tree& modules, std::string_view path) {
    id m = 0;
    auto rest = path;
    while (!rest.empty() && m != no_id) {
        const auto dot = rest.find('.');
        m = modules.child(m, rest.substr(0, dot));
        rest.remove_prefix(dot == rest.npos ? rest.size() : dot + 1);
    }
    if (m == no_id) {
        for (const auto& alias : modules.aliases()) {
            if (alias.path == path) {
                return alias.module;
            }
        }
    }
    return m;
}

/// Returns: the parameter of a path, which may lead through an alias; none for buffers and unknown.
/// Complexity: as `find_path`, and O(parameters of the module).
[[nodiscard]] inline std::optional<tensor_info> find_parameter(const module_tree& modules,
                                                               std::string_view path) {
    const auto dot = path.rfind('.');
    const auto owner =
        find_path(modules, dot == path.npos ? std::string_view{} : path.substr(0, dot));
    const auto last = dot == path.npos ? path : path.substr(dot + 1);
    if (owner != no_id) {
        for (std::size_t i = 0; i < modules.parameter_count(owner); ++i) {
            if (const auto found = modules.parameter(owner, i); found.name == last) {
                return found;
            }
        }
    }
    return std::nullopt;
}

/// The modules of the paths that a part of a capture names.
class captured_paths {
public:
    /// What leads nowhere becomes a fault of `made`.
    /// Complexity: for each path as `find_path`, for each of its ends that leads nowhere.
    captured_paths(const module_tree& modules, const string_pool& paths, captured_operations& made,
                   std::string_view part) {
        std::size_t lost = 0;
        std::string example;
        for (id p = 0; p < paths.size(); ++p) {
            std::string_view path = paths[p];
            auto m = find_path(modules, path);
            exact_.push_back(m != no_id);
            if (m == no_id) {
                example = lost++ == 0 ? std::string(path) : example;
                while (m == no_id) {
                    const auto dot = path.rfind('.');
                    path = dot == path.npos ? std::string_view{} : path.substr(0, dot);
                    m = find_path(modules, path);
                }
            }
            modules_.push_back(m);
        }
        if (lost > 0) {
            made.add_fault(std::to_string(lost) + " of " + std::to_string(paths.size()) +
                           " modules in the " + std::string(part) +
                           " are not in the tree, such as '" + example + "'");
        }
    }

    /// Returns: the module of a path, or the nearest above it; then `exact` becomes false.
    [[nodiscard]] id module_of(id path, bool& exact) const {
        exact = exact && exact_[path];
        return modules_[path];
    }

private:
    std::vector<id> modules_;
    std::vector<bool> exact_;
};

} // namespace stemma

#endif // STEMMA_IO_CAPTURED_JSON_HPP

// <stemma/io/captured_export.hpp>
#ifndef STEMMA_IO_CAPTURED_EXPORT_HPP
#define STEMMA_IO_CAPTURED_EXPORT_HPP

namespace stemma {

/// A node of the file that an export wrote, and the module it was exported for.
struct exported_node {
    std::string graph;   ///< "" for the main graph, see docs/formats.md
    id index = no_id;    ///< place in that graph
    std::string op_type; ///< without its domain
    std::string module;  ///< path
};

/// Reads what was recorded while a model was exported: nodes with their full scopes
/// `pkg.Class::path/pkg.Class::path.of.child`.
class captured_export {
public:
    /// Whether no node was read.
    [[nodiscard]] bool empty() const noexcept { return nodes_.empty(); }

    /// Throws: `error` of `error_code::malformed`; `file` is named in it.
    void read_node(json_part node, std::string_view file) {
        const captured_json at(node, file, "exported node", count_++);
        if (!at.has("scope")) {
            at.fail("lacks the text 'scope'");
        }
        exported_node made;
        made.graph = at.has("graph") ? at.text("graph") : std::string();
        made.index = at.number("index");
        made.op_type = at.text("op_type");
        if (made.index == no_id) {
            at.fail("lacks the number 'index'");
        }
        const auto scope = at.is_text("scope") ? at.text("scope") : std::string();
        if (const auto colons = scope.rfind("::"); colons != scope.npos) {
            made.module = scope.substr(colons + 2);
            nodes_.push_back(std::move(made));
        }
    }

    /// The nodes that had a scope.
    [[nodiscard]] std::span<const exported_node> nodes() const noexcept { return nodes_; }

private:
    std::vector<exported_node> nodes_;
    std::size_t count_ = 0;
};

} // namespace stemma

#endif // STEMMA_IO_CAPTURED_EXPORT_HPP

// <stemma/io/captured_fx.hpp>
#ifndef STEMMA_IO_CAPTURED_FX_HPP
#define STEMMA_IO_CAPTURED_FX_HPP

namespace stemma {

/// Reads the nodes of an FX graph, or of several, whose nodes say which `tracer` they are of.
///
/// A placeholder is an input, or a parameter when it says which; get_attr is a parameter;
/// call_module is the operation of a layer, which reads the layer's parameters; call_function and
/// call_method are operations; output is none. Unknown keys are ignored.
class captured_fx {
public:
    /// Whether no node was read.
    [[nodiscard]] bool empty() const noexcept { return graphs_.empty(); }

    /// Throws: `error` of `error_code::malformed` for what is no FX node; `file` is named in it.
    void read_node(json_part node, std::string_view file) {
        const captured_json at(node, file, "FX node", count_++);
        node_record made;
        made.kind = at.text("op");
        made.name = at.text("name");
        made.target = at.text("target");
        const bool known = made.kind == "placeholder" || made.kind == "get_attr" ||
                           made.kind == "call_module" || made.kind == "call_function" ||
                           made.kind == "call_method" || made.kind == "output";
        if (!known) {
            at.fail("is of the unknown kind '" + made.kind + "'");
        }
        made.arguments = at.strings("args");
        made.is_tensor = at.has("shape");
        const auto stack = at.strings("module_stack");
        made.path = made.kind == "call_module" ? made.target
                    : stack.empty()            ? std::string()
                                               : stack.back();
        made.operation = made.target;
        if (made.kind == "call_module" && at.has("class")) {
            made.operation = at.text("class");
        }
        if (made.kind == "placeholder" && at.has("parameter")) {
            made.kind = "get_attr";
            made.target = at.text("parameter");
        }
        auto tracer = at.has("tracer") ? at.text("tracer") : std::string();
        const auto known_graph =
            std::find_if(graphs_.begin(), graphs_.end(),
                         [&](const graph_record& graph) { return graph.tracer == tracer; });
        auto& graph = known_graph == graphs_.end()
                          ? graphs_.emplace_back(graph_record{std::move(tracer), {}, false})
                          : *known_graph;
        graph.shapes_known = graph.shapes_known || made.is_tensor;
        graph.nodes.push_back(std::move(made));
    }

    /// Returns: the operations of every graph, with modules of the tree. What does not add up is
    /// among the faults.
    /// Complexity: O(nodes and what they read) expected.
    [[nodiscard]] std::vector<captured_operations> finish(const module_tree& modules) {
        std::vector<captured_operations> made;
        for (const auto& graph : graphs_) {
            made.push_back(operations_of(graph, modules));
        }
        graphs_.clear();
        return made;
    }

private:
    struct node_record {
        std::string kind;
        std::string name;
        std::string target;
        std::string operation;
        std::string path;
        std::vector<std::string> arguments;
        bool is_tensor = false; // as far as shapes are known
    };

    struct graph_record {
        std::string tracer;
        std::vector<node_record> nodes;
        bool shapes_known = false;
    };

    enum class result { tensor, number, tuple };

    [[nodiscard]] static captured_operations operations_of(const graph_record& graph,
                                                           const module_tree& modules) {
        captured_operations made;
        string_pool paths;
        std::vector<id> path_of;
        std::unordered_map<std::string, id> maker;
        std::unordered_map<std::string, std::string> parameter;
        std::unordered_map<std::string, result> results;
        bool finished = false;
        for (const auto& node : graph.nodes) {
            finished = finished || node.kind == "output";
            if (node.kind == "get_attr") {
                parameter[node.name] = node.target;
                continue;
            }
            if (!node.kind.starts_with("call_")) {
                continue;
            }
            results[node.name] = result_of(node, graph.shapes_known, results);
            if (const auto whole = tuple_of(node, results); !whole.empty()) {
                if (const auto source = maker.find(whole); source != maker.end()) {
                    maker[node.name] = source->second;
                }
                continue;
            }
            const auto number = made.add({}, node.operation);
            made[number].module = paths.intern(node.path);
            // a whole module called as a method
            made[number].exact = node.kind != "call_method" || node.target != "forward";
            for (const auto& argument : node.arguments) {
                if (const auto source = maker.find(argument); source != maker.end()) {
                    made.add_source(source->second);
                } else if (const auto read = parameter.find(argument); read != parameter.end()) {
                    add_parameter(made, modules, read->second);
                } else {
                    made.add_input();
                }
            }
            if (node.kind == "call_module") {
                read_layer(made, modules, node.path, number);
            }
            made[number].optional = results[node.name] == result::number;
            maker[node.name] = number;
        }
        if (!finished) {
            made.add_fault("the FX graph has no output: it is cut short");
        }
        const captured_paths known(modules, paths, made, "FX graph");
        for (id i = 0; i < made.size(); ++i) {
            made[i].module = known.module_of(made[i].module, made[i].exact);
        }
        return made;
    }

    /// Python computes with sizes and tuples as well; hardly anything of that is exported.
    [[nodiscard]] static result result_of(const node_record& node, bool shapes_known,
                                          const std::unordered_map<std::string, result>& results) {
        const auto is_number = [&](const std::string& name) {
            const auto known = results.find(name);
            return known != results.end() && known->second == result::number;
        };
        if (shapes_known && node.is_tensor) {
            return result::tensor;
        }
        const bool asks = node.target == "size" || node.target == "dim" ||
                          node.target == "builtins.getattr" || node.target == "builtins.len";
        const bool computes = !node.arguments.empty() &&
                              std::all_of(node.arguments.begin(), node.arguments.end(), is_number);
        if (node.kind != "call_module" && (asks || computes)) {
            return result::number;
        }
        return shapes_known ? result::tuple : result::tensor;
    }

    /// Returns: the node whose several results this one only picks from, or "".
    [[nodiscard]] static std::string
    tuple_of(const node_record& node, const std::unordered_map<std::string, result>& results) {
        const auto whole = node.target.ends_with("getitem") && !node.arguments.empty()
                               ? results.find(node.arguments.front())
                               : results.end();
        return whole != results.end() && whole->second == result::tuple ? whole->first
                                                                        : std::string();
    }

    static void add_parameter(captured_operations& made, const module_tree& modules,
                              std::string_view name) {
        if (const auto known = find_parameter(modules, name)) {
            const auto shape = known->shape;
            made.add_parameter(name, std::vector<std::int64_t>(shape.begin(), shape.end()));
            return;
        }
        made.add_parameter(name, {});
    }

    /// A layer may be more than one module: then what it does is done there or below.
    static void read_layer(captured_operations& made, const module_tree& modules,
                           const std::string& path, id number) {
        const auto layer = find_path(modules, path);
        if (layer == no_id) {
            return;
        }
        const auto& tree = modules.index();
        if (tree.end(layer) > layer + 1) {
            made[number].exact = false;
            made.add_name("forward");
        }
        for (auto m = layer; m < tree.end(layer); ++m) {
            const auto prefix = modules.path(m);
            for (std::size_t i = 0; i < modules.parameter_count(m); ++i) {
                const auto tensor = modules.parameter(m, i);
                made.add_parameter(
                    prefix.empty() ? std::string(tensor.name)
                                   : prefix + "." + std::string(tensor.name),
                    std::vector<std::int64_t>(tensor.shape.begin(), tensor.shape.end()));
            }
        }
    }

    std::vector<graph_record> graphs_;
    std::size_t count_ = 0;
};

} // namespace stemma

#endif // STEMMA_IO_CAPTURED_FX_HPP

// <stemma/detail/tensor_makers.hpp>
#ifndef STEMMA_DETAIL_TENSOR_MAKERS_HPP
#define STEMMA_DETAIL_TENSOR_MAKERS_HPP

namespace stemma::detail {

/// Which operation of a run made a tensor last, and which operations do what another did before.
class tensor_makers {
public:
    /// Notes results of an operation; names that start with `p:` are parameters, and stay so.
    void note(std::span<const std::string> results, id operation) {
        for (const auto& tensor : results) {
            if (!tensor.starts_with("p:")) {
                maker_[tensor] = operation;
            }
        }
    }

    /// Returns: what made the tensor, or `no_id`.
    [[nodiscard]] id maker(const std::string& tensor) const {
        const auto found = maker_.find(tensor);
        return found == maker_.end() ? no_id : found->second;
    }

    /// Returns: the operation that an operation repeats, or `no_id`.
    [[nodiscard]] id repeated(id operation) const {
        const auto found = first_of_.find(operation);
        return found == first_of_.end() ? no_id : found->second;
    }

    /// Notes an operation before its results are. It repeats an earlier one of that name that read
    /// the same tensors, as they were then, and whose results have the same shapes.
    /// Returns: whether it repeats one.
    bool is_repeated(id operation, std::string_view name, std::span<const std::string> inputs,
                     std::span<const std::string> results,
                     std::span<const std::vector<std::int64_t>> shapes) {
        if (inputs.empty() || results.empty()) {
            return false;
        }
        std::string key(name);
        for (const auto& input : inputs) {
            const auto same = same_as_.find(input);
            const auto& tensor = same == same_as_.end() ? input : same->second;
            key.append("\n").append(tensor).append("@").append(std::to_string(maker(tensor)));
        }
        for (const auto& shape : shapes) {
            key += '\n';
            for (auto extent : shape) {
                key.append(std::to_string(extent)).append(",");
            }
        }
        const auto [known, added] =
            computed_.emplace(std::move(key), call{operation, {results.begin(), results.end()}});
        if (added) {
            return false;
        }
        const auto& first = known->second;
        first_of_.emplace(operation, first.operation);
        for (std::size_t i = 0; i < std::min(results.size(), first.results.size()); ++i) {
            same_as_.emplace(results[i], first.results[i]);
        }
        return true;
    }

private:
    struct call {
        id operation = no_id;
        std::vector<std::string> results;
    };

    std::unordered_map<std::string, id> maker_;
    std::unordered_map<std::string, call> computed_; // by name, what is read, shapes of results
    std::unordered_map<std::string, std::string> same_as_;
    std::unordered_map<id, id> first_of_;
};

} // namespace stemma::detail

#endif // STEMMA_DETAIL_TENSOR_MAKERS_HPP

// <stemma/io/captured_trace.hpp>
#ifndef STEMMA_IO_CAPTURED_TRACE_HPP
#define STEMMA_IO_CAPTURED_TRACE_HPP

namespace stemma {

/// Reads the events of a trace: modules entered and left, calls as the user wrote them (`func`),
/// and the operators below (`op`).
///
/// A call and what ran below it are one operation. Unknown keys and kinds are ignored.
class captured_trace {
public:
    /// Whether no event was read that says anything.
    [[nodiscard]] bool empty() const noexcept { return made_.empty() && open_.empty(); }

    /// Throws: `error` of `error_code::malformed` for what is no event; `file` is named in it.
    /// Complexity: O(size of the event).
    void read_event(json_part event, std::string_view file) {
        const captured_json at(event, file, "event", count_++);
        const auto kind = at.text("kind");
        if (kind == "enter") {
            enter(at);
        } else if (kind == "exit") {
            exit(at);
        } else if (kind == "func" || kind == "op") {
            run(at, kind == "func");
        }
    }

    /// Reads an operation that comes without events: `op`, `module`, and ids and shapes as there.
    void read_operation(json_part operation, std::string_view file) {
        const captured_json at(operation, file, "operation", count_++);
        captured_operations::operation made;
        made.module = paths_.intern(at.text("module"));
        made.call = at.number("call");
        add(at, at.text("op"), at.strings("in_ids"), made);
        note_results(at, made_.size() - 1);
    }

    /// Reads an entry of the list of modules that could not be watched: a path, or path and reason.
    /// Throws: as `read_event`.
    void read_unhooked(json_part entry, std::string_view file) {
        const auto path = entry.is_array() ? entry[0] : entry;
        if (!path.is_text()) {
            STEMMA_THROW(
                error(error_code::malformed, file, "unhooked modules", "an entry names no module"));
        }
        unhooked_.emplace_back(path.text());
    }

    /// Returns: the operations, with modules of the tree. What does not add up is among the faults.
    /// Complexity: O(operations * depth).
    [[nodiscard]] captured_operations finish(const module_tree& modules) {
        if (!open_.empty()) {
            made_.add_fault("the trace ends inside of module '" + open_.back().path +
                            "': it is cut short");
        }
        if (misplaced_ > 0) {
            made_.add_fault(std::to_string(misplaced_) +
                            " events of the trace do not stand where their module is open");
        }
        const captured_paths paths(modules, paths_, made_, "trace");
        for (id i = 0; i < made_.size(); ++i) {
            made_[i].module = paths.module_of(made_[i].module, made_[i].exact);
        }
        place_unhooked(modules);
        compare_shapes(modules);
        find_unused();
        return std::move(made_);
    }

private:
    struct open_module {
        std::string path;
        id call = no_id;
    };

    struct call_above {
        std::string name;
        std::vector<std::string> inputs;
        id operation = no_id;
    };

    void enter(const captured_json& at) {
        const auto path = at.text("module");
        misplaced_ += at.has("stack") && !stands_in(at) ? 1U : 0U;
        open_.push_back({path, at.number("call")});
    }

    void exit(const captured_json& at) {
        const auto path = at.text("module");
        if (!open_.empty() && open_.back().path == path) {
            open_.pop_back();
            if (open_.empty()) {
                note_outputs(at);
            }
            return;
        }
        ++misplaced_;
        const auto known = std::find_if(open_.rbegin(), open_.rend(),
                                        [&](const open_module& m) { return m.path == path; });
        if (known != open_.rend()) {
            open_.erase(known.base() - 1, open_.end());
        }
    }

    /// Whether the modules that an event names are those that are open.
    [[nodiscard]] bool stands_in(const captured_json& at) const {
        const auto stack = at.strings("stack");
        return stack.size() == open_.size() &&
               std::equal(stack.begin(), stack.end(), open_.begin(),
                          [](const std::string& a, const open_module& b) { return a == b.path; });
    }

    void run(const captured_json& at, bool is_call) {
        const auto name = at.text("op");
        const auto inputs = at.strings("in_ids");
        const auto seq = at.number("seq");
        const auto call = at.number("func");
        auto into = no_id;
        if (!is_call && call != no_id) {
            const auto found = by_seq_.find(call);
            into = found == by_seq_.end() ? no_id : found->second;
        } else if (!is_call) {
            into = seen_above(name, inputs);
        }
        if (into == no_id) {
            add(at, name, inputs);
            find_earlier(at, name, inputs);
            if (is_call) {
                by_seq_.clear(); // what ran below a call follows it
                by_seq_.emplace(seq, made_.size() - 1);
                above_.push_back({name, inputs, made_.size() - 1});
                if (above_.size() > 64) {
                    above_.erase(above_.begin(), above_.begin() + 32);
                }
            }
        } else if (into + 1 == made_.size()) {
            made_.add_name(name);
        }
        const auto maker = into == no_id ? made_.size() - 1 : into;
        note_results(at, maker);
    }

    void note_results(const captured_json& at, id maker) {
        makers_.note(at.strings("out_ids"), maker);
    }

    void note_outputs(const captured_json& at) {
        for (const auto& tensor : at.strings("out_ids")) {
            if (const auto maker = makers_.maker(tensor); maker != no_id) {
                outputs_.push_back(maker);
            }
        }
    }

    /// Exporters compute once what is written several times, so what repeats an operation may leave
    /// nothing.
    void find_earlier(const captured_json& at, const std::string& name,
                      const std::vector<std::string>& inputs) {
        const auto number = made_.size() - 1;
        if (makers_.is_repeated(number, name, inputs, at.strings("out_ids"),
                                at.shapes("output_shapes"))) {
            made_[number].optional = true;
        }
    }

    /// What nothing reads that comes out of the model is not exported.
    void find_unused() {
        if (outputs_.empty()) {
            return;
        }
        std::vector<bool> used(made_.size(), false);
        for (auto i : outputs_) {
            used[i] = true;
        }
        for (auto i = made_.size(); i-- > 0;) {
            if (used[i]) {
                for (auto source : made_.sources_of(i)) {
                    used[source] = true;
                }
            } else {
                made_[i].optional = true;
            }
        }
    }

    /// Some operators are seen twice: as a call, and a little later as what runs below none.
    /// Returns: the call that is the same operator, or `no_id`.
    [[nodiscard]] id seen_above(const std::string& name, const std::vector<std::string>& inputs) {
        constexpr std::size_t lookback = 8;
        auto result = no_id;
        const auto first = above_.size() > lookback ? above_.size() - lookback : 0;
        for (auto i = above_.size(); i-- > first && result == no_id;) {
            if (above_[i].name == name && above_[i].inputs == inputs) {
                result = above_[i].operation;
                above_.erase(above_.begin(), above_.begin() + static_cast<std::ptrdiff_t>(i + 1));
                return result;
            }
        }
        above_.erase(above_.begin(), above_.begin() + static_cast<std::ptrdiff_t>(first));
        return result;
    }

    void add(const captured_json& at, const std::string& name,
             const std::vector<std::string>& inputs) {
        const auto stack = at.strings("stack");
        misplaced_ += stands_in(at) ? 0U : 1U;
        captured_operations::operation made;
        made.module = paths_.intern(stack.empty() ? std::string() : stack.back());
        if (!open_.empty() && !stack.empty() && open_.back().path == stack.back()) {
            made.call = open_.back().call;
        }
        add(at, name, inputs, made);
    }

    void add(const captured_json& at, const std::string& name,
             const std::vector<std::string>& inputs, const captured_operations::operation& made) {
        made_.add(made, name);
        const auto shapes = at.shapes("input_shapes");
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            const std::string_view input = inputs[i];
            if (input.starts_with("p:")) {
                made_.add_parameter(input.substr(2),
                                    i < shapes.size() ? shapes[i] : std::vector<std::int64_t>{});
            } else if (const auto maker = makers_.maker(inputs[i]); maker != no_id) {
                made_.add_source(maker);
                if (const auto first = makers_.repeated(maker); first != no_id) {
                    made_.add_source(first);
                }
            } else {
                made_.add_input();
            }
        }
    }

    /// A parameter of another shape than the tree says shows that the two are of different models.
    void compare_shapes(const module_tree& modules) {
        enum class state : std::uint8_t { unknown, equal, different };
        std::vector<state> states(made_.parameter_names().size(), state::unknown);
        std::size_t different = 0;
        std::string example;
        for (id i = 0; i < made_.size(); ++i) {
            for (const auto& p : made_.parameters_of(i)) {
                if (p.shape.empty() || states[p.name] != state::unknown) {
                    continue;
                }
                const std::string_view name = made_.parameter_names()[p.name];
                const auto known = find_parameter(modules, name);
                const bool differs = known && !known->shape.empty() &&
                                     !std::equal(p.shape.begin(), p.shape.end(),
                                                 known->shape.begin(), known->shape.end());
                states[p.name] = differs ? state::different : state::equal;
                example = differs && different++ == 0 ? std::string(name) : example;
            }
        }
        if (different > 0) {
            made_.add_fault(std::to_string(different) +
                            " parameters have other shapes in the trace than in the modules, "
                            "such as '" +
                            example + "'");
        }
    }

    /// Nothing tells in which module below an unwatched one an operation ran but the parameters it
    /// reads; without any, it is taken to be the unwatched module's own.
    void place_unhooked(const module_tree& modules) {
        if (unhooked_.empty()) {
            return;
        }
        const auto& tree = modules.index();
        std::vector<bool> hidden(tree.size(), false);
        for (const auto& path : unhooked_) {
            const auto m = find_path(modules, path);
            if (m != no_id) {
                hidden[m] = true;
            }
        }
        std::vector<id> reads(made_.size(), no_id); // the hidden module whose parameters are read
        for (id i = 0; i < made_.size(); ++i) {
            for (const auto& p : made_.parameters_of(i)) {
                const std::string_view name = made_.parameter_names()[p.name];
                const auto dot = name.rfind('.');
                const auto owner =
                    find_path(modules, dot == name.npos ? std::string_view{} : name.substr(0, dot));
                if (owner != no_id && hidden[owner] && tree.is_ancestor(made_[i].module, owner)) {
                    reads[i] = owner;
                }
            }
        }
        const auto outermost = [&](id m, id below) {
            auto found = no_id;
            for (; m != below && m != no_id; m = m == 0 ? no_id : tree.parent(m)) {
                found = hidden[m] ? m : found;
            }
            return found;
        };
        for (id i = 0; i < made_.size();) {
            auto end = i + 1;
            while (end < made_.size() && made_[end].module == made_[i].module) {
                ++end;
            }
            place_run(i, end, reads, outermost);
            i = end;
        }
    }

    /// Places the operations of a run in one watched module.
    template <class Outermost>
    void place_run(id first, id last, const std::vector<id>& reads, Outermost outermost) {
        const auto around = made_[first].module;
        auto next = last;
        auto before = no_id; // hidden module that was read last
        for (auto i = first; i < last; ++i) {
            if (next == last || next < i) {
                next = i;
                while (next < last && reads[next] == no_id) {
                    ++next;
                }
            }
            if (reads[i] != no_id) {
                before = reads[i];
                made_[i].module = reads[i];
                made_[i].exact = false;
            } else if (const auto near = before != no_id ? before
                                         : next < last   ? reads[next]
                                                         : no_id;
                       near != no_id) {
                made_[i].module = outermost(near, around);
                made_[i].exact = false;
            }
        }
    }

    captured_operations made_;
    string_pool paths_;
    std::vector<open_module> open_;
    std::unordered_map<id, id> by_seq_;
    detail::tensor_makers makers_;
    std::vector<id> outputs_; // what made them
    std::vector<std::string> unhooked_;
    std::vector<call_above> above_; // the last calls
    std::size_t count_ = 0;
    std::size_t misplaced_ = 0;
};

} // namespace stemma

#endif // STEMMA_IO_CAPTURED_TRACE_HPP

// <stemma/io/file.hpp>
#ifndef STEMMA_IO_FILE_HPP
#define STEMMA_IO_FILE_HPP

// Everything that is not portable C++ stands in this header. Without POSIX, files are read whole
// and written through a temporary file beside the target.

/// Defined where files are mapped, and written without a name until they are complete.
#if defined(__unix__) || defined(__APPLE__)
#    define STEMMA_HAS_POSIX 1
#    include <fcntl.h>
#    include <sys/mman.h>
#    include <sys/stat.h>
#    include <unistd.h>
// A macro of <sys/mman.h> that a header of the ONNX library uses as a name.
#    undef MAP_TYPE
#endif

namespace stemma {

/// What a caller knows of the place where a file is to stand.
enum class target_state : std::uint8_t {
    unknown, ///< whoever writes there looks first
    absent   ///< nothing is there: nobody looks, which takes as long as making a small file; what
             ///< is there all the same is replaced
};

/// In which pages a file is mapped that the system keeps in large ones.
enum class mapped_pages : std::uint8_t {
    any,  ///< in those: every byte that is read brings up to 2 MiB into the memory of the process
    small ///< what is read and little around it, which is slower where all is read
};

namespace detail {

[[noreturn]] inline void fail_to_read(std::string_view path, std::string_view reason) {
    STEMMA_THROW(error(error_code::cannot_read, path, "", reason));
}

[[noreturn]] inline void fail_to_write(std::string_view path, std::string_view reason) {
    STEMMA_THROW(error(error_code::cannot_write, path, "", reason));
}

[[nodiscard]] inline std::string reason_of(int number) {
    return std::generic_category().message(number);
}

} // namespace detail

#if defined(STEMMA_HAS_POSIX)

namespace detail {

/// Maps a file where large pages do not fit. Linux keeps what was just written in such.
///
/// Returns: where it begins, or `MAP_FAILED` and `errno`.
[[nodiscard]] inline void* map_in_small_pages(int descriptor, std::size_t size) noexcept {
    constexpr std::uintptr_t large_page = 1U << 21U;
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    void* const room = ::mmap(nullptr, size + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED) {
        return MAP_FAILED;
    }
    char* begin = static_cast<char*>(room);
    char* unused = begin + (size + page - 1) / page * page;
    if (reinterpret_cast<std::uintptr_t>(begin) % large_page == 0) { // NOLINT
        unused = std::exchange(begin, begin + page);
    }
    ::munmap(unused, page);
    void* const mapped = ::mmap(begin, size, PROT_READ, MAP_PRIVATE | MAP_FIXED, descriptor, 0);
    if (mapped == MAP_FAILED) {
        ::munmap(begin, size);
    }
    return mapped;
}

} // namespace detail

/// The bytes of a file, mapped: pages are read when they are touched.
///
/// The file must not shrink while it is mapped.
class mapped_file {
public:
    /// Throws: `error` of `error_code::cannot_read`.
    explicit mapped_file(const std::string& path, mapped_pages pages = mapped_pages::any)
        : path_(path) {
        descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
        if (descriptor_ < 0) {
            detail::fail_to_read(path, detail::reason_of(errno));
        }
        struct stat status {};
        if (::fstat(descriptor_, &status) != 0 || S_ISDIR(status.st_mode)) {
            const bool folder = S_ISDIR(status.st_mode);
            const auto reason = folder ? std::string("is a folder") : detail::reason_of(errno);
            ::close(descriptor_);
            detail::fail_to_read(path, reason);
        }
        if (!S_ISREG(status.st_mode)) {
            read_stream();
            return;
        }
        size_ = static_cast<std::size_t>(status.st_size);
        if (size_ > 0) {
            void* mapped = pages == mapped_pages::small
                               ? detail::map_in_small_pages(descriptor_, size_)
                               : ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor_, 0);
            if (mapped == MAP_FAILED) {
                const auto reason = detail::reason_of(errno);
                ::close(descriptor_);
                detail::fail_to_read(path, reason);
            }
            data_ = static_cast<const char*>(mapped);
        }
    }

    /// Leaves `other` without bytes; views of them stay valid, but for those of a pipe.
    mapped_file(mapped_file&& other) noexcept { swap(other); }

    /// Leaves `other` with what this one held.
    mapped_file& operator=(mapped_file&& other) noexcept {
        swap(other);
        return *this;
    }
    mapped_file(const mapped_file&) = delete;
    mapped_file& operator=(const mapped_file&) = delete;

    /// Ends every view of the bytes.
    ~mapped_file() {
        if (data_ != nullptr && stream_.empty()) {
            ::munmap(const_cast<char*>(data_), size_); // NOLINT: munmap takes no const
        }
        if (descriptor_ >= 0) {
            ::close(descriptor_);
        }
    }

    /// Valid as long as the file stays mapped; moving it does not end that, but for a pipe.
    [[nodiscard]] std::string_view bytes() const noexcept { return {data_, size_}; }

    /// Copies a range to `to` without making its pages part of the memory of the process.
    /// Throws: `error` of `error_code::cannot_read`. Complexity: O(size).
    void read(std::size_t offset, std::size_t size, char* to) const {
        if (descriptor() < 0) {
            std::memcpy(to, data_ + offset, size);
            return;
        }
        while (size > 0) {
            const auto got = ::pread(descriptor_, to, size, static_cast<off_t>(offset));
            if (got < 0 && errno == EINTR) {
                continue;
            }
            if (got <= 0) {
                detail::fail_to_read(path_,
                                     got < 0 ? detail::reason_of(errno) : "has become shorter");
            }
            offset += static_cast<std::size_t>(got);
            size -= static_cast<std::size_t>(got);
            to += got;
        }
    }

    /// Says that a range will hardly be read again: its pages leave the memory of the process, and
    /// come back if it is.
    void release(std::size_t offset, std::size_t size) const noexcept {
        if (stream_.empty() && size > 0) {
            const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
            const auto begin = (offset + page - 1) / page * page;
            const auto end = (offset + size) / page * page;
            if (begin < end) {
                ::madvise(const_cast<char*>(data_) + begin, end - begin, MADV_DONTNEED); // NOLINT
            }
        }
    }

    /// As it was given.
    [[nodiscard]] const std::string& path() const noexcept { return path_; }

    /// Returns: a descriptor from which ranges can be copied by position, or -1.
    [[nodiscard]] int descriptor() const noexcept { return stream_.empty() ? descriptor_ : -1; }

    /// Gives the descriptor back, of which a process has few; the bytes stay.
    void release_descriptor() noexcept {
        if (descriptor_ >= 0) {
            ::close(std::exchange(descriptor_, -1));
        }
    }

private:
    // A pipe has no size and cannot be mapped.
    void read_stream() {
        char buffer[65536];
        for (;;) {
            const auto got = ::read(descriptor_, buffer, sizeof buffer);
            if (got < 0 && errno == EINTR) {
                continue;
            }
            if (got < 0) {
                const auto reason = detail::reason_of(errno);
                ::close(descriptor_);
                detail::fail_to_read(path_, reason);
            }
            if (got == 0) {
                break;
            }
            stream_.append(buffer, static_cast<std::size_t>(got));
        }
        data_ = stream_.data();
        size_ = stream_.size();
    }

    void swap(mapped_file& other) noexcept {
        std::swap(path_, other.path_);
        std::swap(stream_, other.stream_);
        std::swap(descriptor_, other.descriptor_);
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        data_ = stream_.empty() ? data_ : stream_.data();
        other.data_ = other.stream_.empty() ? other.data_ : other.stream_.data();
    }

    std::string path_;
    std::string stream_;
    int descriptor_ = -1;
    const char* data_ = nullptr;
    std::size_t size_ = 0;
};

namespace detail {

/// Collects what is written to a descriptor, at its own position or from a given one on.
class buffered_writer {
public:
    /// `path` names the file in errors. Requires: it outlives the writer.
    explicit buffered_writer(const std::string& path) : path_(&path) {}

    /// From here on, what is handed over goes to `descriptor`: to `position`, if there is one. Who
    /// shares it with others holds `turns` while the kernel writes.
    void attach(int descriptor, std::optional<off_t> position = {},
                std::mutex* turns = nullptr) noexcept {
        descriptor_ = descriptor;
        placed_ = position.has_value();
        turns_ = turns;
        at_ = position.value_or(0);
    }

    /// Requires: nothing is held back, and there was a position.
    void move_to(off_t position) noexcept { at_ = position; }

    void write(std::string_view bytes) {
        while (used_ + bytes.size() >= room()) {
            const auto first = bytes.substr(0, room() - used_);
            bytes.remove_prefix(first.size());
            if (used_ == 0) {
                write_now(first);
            } else {
                append(first);
                flush();
            }
        }
        append(bytes);
    }

    /// As `write`, for what the caller has collected.
    void write_through(std::string_view bytes) {
        flush();
        write_now(bytes);
    }

    void copy(const mapped_file& file, std::size_t offset, std::size_t size) {
        if (size < direct_copy_size) {
            write(file.bytes().substr(offset, size));
            return;
        }
        if (file.descriptor() >= 0 && offset % block_size == 0 &&
            (static_cast<std::size_t>(at_) + used_) % block_size == 0) {
            flush();
            const auto copied = copy_blocks(file, offset, size);
            offset += copied;
            size -= copied;
        }
        // What lies elsewhere in its blocks the kernel would copy page by page, at half the speed.
        while (size > 0) {
            const auto part = std::min(size, room() - used_);
            file.read(offset, part, space());
            used_ += part;
            offset += part;
            size -= part;
            if (used_ == room()) {
                flush();
            }
        }
    }

    void flush() {
        write_now({buffer_.get(), used_});
        used_ = 0;
    }

private:
    // Small enough to stay in the cache between being filled and being written.
    static constexpr std::size_t buffer_size = 1U << 19U;
    static constexpr std::size_t direct_copy_size = 1U << 18U;
    static constexpr std::size_t block_size = 4096; // of nearly all file systems

    /// Returns: how much fits until the next multiple of the buffer's size in the file: the kernel
    /// keeps what begins and ends there in larger pieces.
    [[nodiscard]] std::size_t room() const noexcept {
        return buffer_size - static_cast<std::size_t>(at_) % buffer_size;
    }

    /// Returns: where the buffer goes on.
    [[nodiscard]] char* space() {
        if (!buffer_) {
            buffer_ = std::make_unique_for_overwrite<char[]>(buffer_size);
        }
        return buffer_.get() + used_;
    }

    void append(std::string_view bytes) {
        if (!bytes.empty()) {
            std::memcpy(space(), bytes.data(), bytes.size());
            used_ += bytes.size();
        }
    }

    /// Some file systems let files share whole blocks instead of copying them.
    /// Returns: how many bytes were copied, all or fewer.
    [[nodiscard]] std::size_t copy_blocks(const mapped_file& file, std::size_t offset,
                                          std::size_t size) {
        std::size_t done = 0;
#    if defined(__linux__)
        auto from = static_cast<off_t>(offset);
        while (done < size) {
            const auto turn = take_turn();
            auto to = at_;
            const auto copied = ::copy_file_range(file.descriptor(), &from, descriptor_,
                                                  placed_ ? &to : nullptr, size - done, 0);
            if (copied < 0 && errno == EINTR) {
                continue;
            }
            if (copied <= 0) {
                break;
            }
            done += static_cast<std::size_t>(copied);
            at_ += copied;
        }
#    endif
        return done;
    }

    // The kernel writes to a file for one thread at a time, and keeps the others busy waiting.
    [[nodiscard]] std::unique_lock<std::mutex> take_turn() const {
        return turns_ == nullptr ? std::unique_lock<std::mutex>()
                                 : std::unique_lock<std::mutex>(*turns_);
    }

    void write_now(std::string_view bytes) {
        while (!bytes.empty()) {
            const auto turn = take_turn();
            const auto written = placed_ ? ::pwrite(descriptor_, bytes.data(), bytes.size(), at_)
                                         : ::write(descriptor_, bytes.data(), bytes.size());
            if (written < 0 && errno == EINTR) {
                continue;
            }
            if (written <= 0) {
                fail_to_write(*path_, reason_of(errno));
            }
            bytes.remove_prefix(static_cast<std::size_t>(written));
            at_ += written;
        }
    }

    const std::string* path_;
    int descriptor_ = -1;
    std::mutex* turns_ = nullptr;
    off_t at_ = 0;                   // where the buffer goes, from the position it began at
    bool placed_ = false;            // the descriptor's own position does not count
    std::unique_ptr<char[]> buffer_; // once there is something to keep
    std::size_t used_ = 0;           // of it
};

} // namespace detail

/// A file that appears whole or not at all: `commit` puts it in place of what was there, with the
/// permissions that had.
///
/// What is written goes to a file without a name in the target's folder, so nothing is left behind
/// by a process that is killed; where the file system has none, to one with a name of its own. A
/// target that is no regular file (a device, a pipe) is written directly.
class output_file {
public:
    /// Throws: `error` of `error_code::cannot_write`, as do all members.
    explicit output_file(std::string path, target_state state = target_state::unknown)
        : path_(std::move(path)) {
        struct stat status {};
        const bool exists = state == target_state::unknown && ::stat(path_.c_str(), &status) == 0;
        if (exists) {
            if (S_ISDIR(status.st_mode)) {
                detail::fail_to_write(path_, "is a folder");
            }
            direct_ = !S_ISREG(status.st_mode);
            char* resolved = direct_ ? nullptr : ::realpath(path_.c_str(), nullptr);
            target_ = resolved == nullptr ? path_ : resolved;
            std::free(resolved); // NOLINT: realpath allocates with malloc
        } else {
            target_ = path_;
        }
        open_descriptor();
        if (exists && !direct_) {
            static_cast<void>(::fchmod(descriptor_, status.st_mode & 0777)); // as it was
        }
        writer_.attach(descriptor_);
    }

    output_file(const output_file&) = delete;
    output_file& operator=(const output_file&) = delete;

    /// What was not committed is gone.
    ~output_file() {
        if (descriptor_ >= 0) {
            ::close(descriptor_);
        }
        if (!temporary_.empty()) {
            ::unlink(temporary_.c_str());
        }
    }

    /// Appends; the bytes are copied or written before it returns.
    void write(std::string_view bytes) { writer_.write(bytes); }

    /// As `write`, but hands the bytes over at once: for what the caller has collected.
    void write_now(std::string_view bytes) { writer_.write_through(bytes); }

    /// Appends a range of `file`; a long one does not pass through this process where the system
    /// can do without.
    void copy(const mapped_file& file, std::size_t offset, std::size_t size) {
        writer_.copy(file, offset, size);
    }

    /// Whether an `output_range` can write to it.
    [[nodiscard]] bool takes_ranges() const noexcept { return !direct_; }

    /// Makes room for a file of so many bytes, all of which will be written. Where the file system
    /// allocates them beforehand, to write them takes less time; nothing depends on it.
    void reserve(std::int64_t size) const noexcept {
#    if defined(__linux__)
        if (!direct_) {
            static_cast<void>(::fallocate(descriptor_, 0, 0, size));
        }
#    else
        static_cast<void>(size);
#    endif
    }

    /// Hands over all that was written, so that `commit` has less to do; nothing is written
    /// afterwards. `sync` waits until the bytes are on the medium.
    void finish(bool sync = true) {
        writer_.flush();
        if (!direct_ && sync && !synced_ && ::fsync(descriptor_) != 0) {
            detail::fail_to_write(path_, detail::reason_of(errno));
        }
        synced_ = synced_ || sync;
    }

    /// Puts the file in its place. `sync` waits until the bytes are on the medium.
    void commit(bool sync = true) {
        finish(sync);
        if (!direct_) {
            put_in_place();
            if (sync) {
                sync_folder();
            }
        }
        const auto closed = ::close(std::exchange(descriptor_, -1));
        if (closed != 0 && errno != EINTR) {
            detail::fail_to_write(path_, detail::reason_of(errno));
        }
    }

private:
    friend class output_range;

    [[nodiscard]] std::string folder() const {
        const auto slash = target_.rfind('/');
        return slash == target_.npos ? "." : slash == 0 ? "/" : target_.substr(0, slash);
    }

    void open_descriptor() {
        if (direct_) {
            descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
        } else {
#    if defined(O_TMPFILE)
            descriptor_ = ::open(folder().c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
#    endif
            for (unsigned attempt = 0; descriptor_ < 0 && attempt < 100; ++attempt) {
                auto name = temporary_name(attempt);
                descriptor_ = ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
                if (descriptor_ >= 0) {
                    temporary_ = std::move(name);
                } else if (errno != EEXIST) {
                    break;
                }
            }
        }
        if (descriptor_ < 0) {
            detail::fail_to_write(path_, detail::reason_of(errno));
        }
    }

    [[nodiscard]] std::string temporary_name(unsigned attempt) const {
        return target_ + ".stemma-" + std::to_string(::getpid()) + "-" + std::to_string(attempt);
    }

    // A link cannot replace a file; where there is one, the nameless one first gets a name to be
    // renamed from.
    void put_in_place() {
        if (temporary_.empty() && link_as(target_)) {
            return;
        }
        for (unsigned attempt = 0; temporary_.empty() && attempt < 100; ++attempt) {
            auto name = temporary_name(attempt);
            if (link_as(name)) {
                temporary_ = std::move(name);
            } else if (errno != EEXIST) {
                break;
            }
        }
        if (temporary_.empty() || ::rename(temporary_.c_str(), target_.c_str()) != 0) {
            detail::fail_to_write(path_, detail::reason_of(errno));
        }
        temporary_.clear();
    }

    [[nodiscard]] bool link_as(const std::string& name) const {
#    if defined(AT_EMPTY_PATH)
        // Not for everybody, but at half the cost.
        if (::linkat(descriptor_, "", AT_FDCWD, name.c_str(), AT_EMPTY_PATH) == 0) {
            return true;
        }
        if (errno == EEXIST) {
            return false;
        }
#    endif
        const auto self = "/proc/self/fd/" + std::to_string(descriptor_);
        return ::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
    }

    void sync_folder() const {
        const int opened = ::open(folder().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (opened >= 0) {
            ::fsync(opened);
            ::close(opened);
        }
    }

    std::string path_;
    std::string target_;    // behind symbolic links
    std::string temporary_; // its name, while it has one
    detail::buffered_writer writer_{path_};
    mutable std::mutex turns_; // of the ranges
    int descriptor_ = -1;
    bool direct_ = false;
    bool synced_ = false;
};

/// A part of a file that is written from a known position on, so that several threads can write one
/// file. What is written by other means starts at its front.
class output_range {
public:
    /// Requires: `file.takes_ranges()`, and outlives the range.
    output_range(const output_file& file, std::uint64_t position) : writer_(file.path_) {
        writer_.attach(file.descriptor_, static_cast<off_t>(position), &file.turns_);
    }

    /// Appends. Throws: `error` of `error_code::cannot_write`, as do the others.
    void write(std::string_view bytes) { writer_.write(bytes); }

    /// Appends a range of `from`, as `output_file` does. Complexity: O(size).
    void copy(const mapped_file& from, std::size_t offset, std::size_t size) {
        writer_.copy(from, offset, size);
    }

    /// Goes on at another position of the same file, once all before is handed over.
    void move_to(std::uint64_t position) {
        finish();
        writer_.move_to(static_cast<off_t>(position));
    }

    /// Hands over what is still held back.
    void finish() { writer_.flush(); }

private:
    detail::buffered_writer writer_;
};

#else

/// The bytes of a file.
class mapped_file {
public:
    explicit mapped_file(const std::string& path, mapped_pages = mapped_pages::any) : path_(path) {
        std::ifstream stream(path, std::ios::binary);
        if (!stream || std::filesystem::is_directory(path)) {
            detail::fail_to_read(path, "cannot be read");
        }
        bytes_ = std::make_unique<std::string>(std::istreambuf_iterator<char>(stream),
                                               std::istreambuf_iterator<char>());
    }

    [[nodiscard]] std::string_view bytes() const noexcept { return *bytes_; }
    void read(std::size_t offset, std::size_t size, char* to) const {
        std::memcpy(to, bytes_->data() + offset, size);
    }
    void release(std::size_t, std::size_t) const noexcept {}
    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    [[nodiscard]] int descriptor() const noexcept { return -1; }
    void release_descriptor() noexcept {}

private:
    std::string path_;
    std::unique_ptr<std::string> bytes_;
};

/// A file that appears whole or not at all: `commit` puts it in place of what was there.
class output_file {
public:
    explicit output_file(std::string path, target_state = target_state::unknown)
        : path_(std::move(path))
        , temporary_(path_ + ".stemma-tmp")
        , stream_(temporary_, std::ios::binary) {
        check();
    }

    output_file(const output_file&) = delete;
    output_file& operator=(const output_file&) = delete;

    ~output_file() {
        if (!temporary_.empty()) {
            stream_.close();
            std::error_code ignored;
            std::filesystem::remove(temporary_, ignored);
        }
    }

    void write(std::string_view bytes) {
        stream_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        check();
    }

    void copy(const mapped_file& file, std::size_t offset, std::size_t size) {
        write(file.bytes().substr(offset, size));
    }

    void write_now(std::string_view bytes) { write(bytes); }

    [[nodiscard]] bool takes_ranges() const noexcept { return false; }

    void reserve(std::int64_t) const noexcept {}

    void finish(bool = true) {
        stream_.flush();
        check();
    }

    void commit(bool = true) {
        stream_.close();
        check();
        std::error_code failed;
        std::filesystem::rename(temporary_, path_, failed);
        if (failed) {
            detail::fail_to_write(path_, failed.message());
        }
        temporary_.clear();
    }

private:
    void check() const {
        if (!stream_) {
            detail::fail_to_write(path_, "cannot be written");
        }
    }

    std::string path_;
    std::string temporary_;
    std::ofstream stream_;
};

/// Of no use here, as a stream has one position.
class output_range {
public:
    output_range(const output_file& file, std::uint64_t) { static_cast<void>(file); }

    void write(std::string_view) {}
    void copy(const mapped_file&, std::size_t, std::size_t) {}
    void move_to(std::uint64_t) {}
    void finish() {}
};

#endif

} // namespace stemma

#endif // STEMMA_IO_FILE_HPP

// <stemma/io/json_stream.hpp>
#ifndef STEMMA_IO_JSON_STREAM_HPP
#define STEMMA_IO_JSON_STREAM_HPP

namespace stemma {

/// Takes the parts of a JSON document one after the other.
template <class Handler>
concept json_handler = requires(Handler& handler, const std::string& path, json_part part) {
    { handler.wants(path) } -> std::convertible_to<bool>;
    handler.element(path, part);
    handler.scalar(path, part);
};

namespace detail {

/// Builds a value for each element of the arrays that stand directly in the document or in one of
/// its members, and for each scalar there; hands it on and forgets it.
template <json_handler Handler>
class json_splitter {
public:
    using json = nlohmann::json;

    json_splitter(Handler& handler, std::string_view file) : handler_(handler), file_(file) {}

    bool null() {
        return put([&] { value_.null(); });
    }
    bool boolean(bool value) {
        return put([&] { value_.boolean(value); });
    }
    bool number_integer(json::number_integer_t value) {
        return put([&] { value_.negative(value); });
    }
    bool number_unsigned(json::number_unsigned_t value) {
        return put([&] { value_.natural(value); });
    }
    bool number_float(json::number_float_t, const std::string&) {
        return put([&] { value_.real(); });
    }
    bool string(const std::string& value) {
        return put([&] { value_.text(value); });
    }
    bool binary(const json::binary_t&) { return true; }

    bool key(const std::string& name) {
        if (depth_ == 0) {
            name_ = name;
        } else if (wanted_) {
            value_.key(name);
        }
        return true;
    }

    bool start_object(std::size_t) {
        if (depth_ == 0 && !in_array_ && path_.size() < 2) {
            enter_member();
            return true;
        }
        return open([&] { value_.begin_object(); });
    }

    bool end_object() {
        if (depth_ == 0) {
            path_.pop_back();
            return true;
        }
        return close();
    }

    bool start_array(std::size_t) {
        if (depth_ == 0 && !in_array_) {
            if (path_.empty()) {
                fail("", "the document is not an object");
            }
            in_array_ = true;
            array_ = full_path();
            wanted_ = handler_.wants(array_);
            return true;
        }
        return open([&] { value_.begin_array(); });
    }

    bool end_array() {
        if (depth_ == 0) {
            in_array_ = false;
            wanted_ = true;
            return true;
        }
        return close();
    }

    bool parse_error(std::size_t position, const std::string&, const json::exception& e) {
        std::string reason = e.what();
        if (const auto text = reason.find("] "); text != reason.npos) {
            reason.erase(0, text + 2);
        }
        fail("byte " + std::to_string(position), reason);
        return false;
    }

    [[nodiscard]] bool saw_document() const noexcept { return saw_document_; }

private:
    // Beyond any real document; keeps a hostile one from building a value without end.
    static constexpr std::size_t max_depth = 1000;

    [[noreturn]] void fail(std::string_view place, std::string_view reason) const {
        STEMMA_THROW(error(error_code::malformed, file_, place, reason));
    }

    void enter_member() {
        saw_document_ = true;
        path_.push_back(path_.empty() ? std::string() : name_);
    }

    [[nodiscard]] std::string full_path() const {
        return path_.size() < 2 ? name_ : path_.back() + "." + name_;
    }

    template <class Add>
    bool put(Add add) {
        if (path_.empty()) {
            fail("", "the document is not an object");
        }
        if (wanted_) {
            add();
            hand_on();
        }
        return true;
    }

    template <class Begin>
    bool open(Begin begin) {
        if (depth_ >= max_depth) {
            fail("", "values nested deeper than 1000");
        }
        ++depth_;
        if (wanted_) {
            begin();
        }
        return true;
    }

    bool close() {
        --depth_;
        if (wanted_) {
            value_.end();
            hand_on();
        }
        return true;
    }

    void hand_on() {
        if (depth_ > 0) {
            return;
        }
        if (in_array_) {
            handler_.element(array_, value_.part());
        } else {
            handler_.scalar(full_path(), value_.part());
        }
        value_.clear();
    }

    Handler& handler_;
    std::string_view file_;
    std::vector<std::string> path_; // open members, the document itself first
    std::string name_;
    std::string array_;
    json_value value_;      // that is being built
    std::size_t depth_ = 0; // of what is open inside of it
    bool in_array_ = false;
    bool wanted_ = true; // what is not has no value built
    bool saw_document_ = false;
};

} // namespace detail

/// Reads a JSON document as a stream: `handler.element(path, value)` for every element of an array,
/// `handler.scalar(path, value)` for everything else, where the path is `modules` or
/// `trace.events`. Members nested deeper are part of an element, or come as one scalar.
/// `handler.wants(path)` is asked before the first element of an array, all of which are passed
/// over if it says no. A part is valid during the call. Throws: `error` of `error_code::malformed`
/// naming `file` and the byte. Complexity: O(bytes); memory for one element.
template <json_handler Handler>
void stream_json(std::string_view bytes, std::string_view file, Handler& handler) {
    detail::json_splitter<Handler> splitter(handler, file);
    static_cast<void>(nlohmann::json::sax_parse(bytes.begin(), bytes.end(), &splitter));
    if (!splitter.saw_document()) {
        STEMMA_THROW(error(error_code::malformed, file, "", "the document is not an object"));
    }
}

} // namespace stemma

#endif // STEMMA_IO_JSON_STREAM_HPP

// <stemma/io/capture.hpp>
#ifndef STEMMA_IO_CAPTURE_HPP
#define STEMMA_IO_CAPTURE_HPP

namespace stemma {

/// Reads captures (`stemma.capture/1` and its parts, see docs/formats.md): the module tree, and
/// what is there of a trace, an FX graph, TorchScript and the record of an export.
///
/// One object takes all files of a capture; `tree` builds what they say. Unknown keys are ignored.
class capture_reader {
public:
    /// Throws: `error`, `malformed` for what is no JSON or lacks what a module needs,
    ///   `contradiction` for modules that do not make one tree.
    /// Complexity: O(bytes); memory for one element at a time beyond what is kept.
    void read(std::string_view bytes, std::string_view file) {
        file_ = file;
        stream_json(bytes, file, *this);
    }

    /// Whether any module was read, so that `tree` says more than that there is a root.
    [[nodiscard]] bool has_modules() const noexcept { return paths_.size() > 0; }

    /// Returns: the tree of all modules that were read.
    /// Throws: as `read`, when aliases or shared parameters name modules that are not there.
    /// Complexity: O(modules + tensors).
    [[nodiscard]] module_tree tree() {
        for (auto& [alias, canonical, file] : aliases_) {
            const auto module = paths_.find(canonical);
            if (module == no_id) {
                STEMMA_THROW(error(error_code::contradiction, file, "alias '" + alias + "'",
                                   "its module '" + canonical + "' is not listed"));
            }
            builder_.add_alias(alias, module);
        }
        aliases_.clear();
        return builder_.build();
    }

    /// Whether anything but modules was read.
    [[nodiscard]] bool has_operations() const noexcept {
        return !trace_.empty() || !fx_.empty() || !torchscript_.empty() || !export_.empty();
    }

    /// Returns: the operations of the trace, of the FX graphs and of TorchScript, with modules of
    /// the tree; to be asked for once.
    [[nodiscard]] captured_operations trace(const module_tree& modules) {
        return trace_.finish(modules);
    }

    /// As `trace`: one for each FX graph.
    [[nodiscard]] std::vector<captured_operations> fx(const module_tree& modules) {
        return fx_.finish(modules);
    }

    /// As `trace`, of TorchScript.
    [[nodiscard]] captured_operations torchscript(const module_tree& modules) {
        return torchscript_.finish(modules);
    }

    /// Returns: what was recorded during the export.
    [[nodiscard]] const captured_export& exported() const noexcept { return export_; }

    /// For `stream_json`.
    [[nodiscard]] bool wants(const std::string& path) {
        part_ = part_of(path);
        return part_ != part::none;
    }

    /// For `stream_json`, of the array that `wants` was asked for. Throws: as `read`.
    void element(const std::string&, json_part item) {
        switch (part_) {
        case part::module:
            return item.is_array() ? read_compact_module(item) : read_module(item);
        case part::alias:
            aliases_.push_back(
                {std::string(text(item, "alias")), std::string(text(item, "canonical")), file_});
            return;
        case part::shared:
            if (item.is_array()) {
                builder_.add_shared_parameters(strings(item));
            }
            return;
        case part::event:
            return trace_.read_event(item, file_);
        case part::unhooked:
            return trace_.read_unhooked(item, file_);
        case part::fx_node:
            return fx_.read_node(item, file_);
        case part::operation:
            return torchscript_.read_operation(item, file_);
        case part::exported_node:
            return export_.read_node(item, file_);
        case part::none:
            return;
        }
    }

    /// For `stream_json`; no scalar means anything.
    void scalar(const std::string&, json_part) {}

private:
    enum class part {
        none,
        module,
        alias,
        shared,
        event,
        unhooked,
        fx_node,
        operation,
        exported_node
    };

    /// Parts in files of their own have no name around them.
    [[nodiscard]] static part part_of(std::string_view path) {
        return path == "modules"                                ? part::module
               : path == "aliases"                              ? part::alias
               : path == "shared_parameters"                    ? part::shared
               : path == "events" || path == "trace.events"     ? part::event
               : path == "unhooked" || path == "trace.unhooked" ? part::unhooked
               : path == "nodes" || path == "fx.nodes"          ? part::fx_node
               : path == "torchscript.operations"               ? part::operation
               : path == "export.nodes"                         ? part::exported_node
                                                                : part::none;
    }

    struct alias_record {
        std::string alias;
        std::string canonical;
        std::string file;
    };

    [[noreturn]] void fail(error_code code, std::string_view reason) const {
        STEMMA_THROW(error(code, file_, "module " + std::to_string(count_), reason));
    }

    [[nodiscard]] std::string_view text(json_part object, std::string_view key) const {
        const auto found = object[key];
        if (!found.is_text()) {
            fail(error_code::malformed, "lacks the text '" + std::string(key) + "'");
        }
        return found.text();
    }

    [[nodiscard]] std::vector<std::string> strings(json_part array) const {
        if (!array.is_texts()) {
            fail(error_code::malformed, "a list of names holds something else");
        }
        return array.texts();
    }

    // The root comes first, so that a path has the number of its module in the builder.
    id add_module(std::string_view path) {
        ++count_;
        const auto next = static_cast<id>(paths_.size());
        if (path.empty()) {
            if (next != 0) {
                fail(error_code::contradiction, "there are two roots");
            }
            return paths_.intern(path);
        }
        if (has_empty_part(path)) {
            fail(error_code::contradiction, "'" + std::string(path) + "' has an empty part");
        }
        const auto dot = path.rfind('.');
        const auto parent_path = path.substr(0, dot == path.npos ? 0 : dot);
        // Children of one module mostly follow each other.
        if (parent_ == no_id || parent_path != paths_[parent_]) {
            parent_ = paths_.find(parent_path);
        }
        if (parent_ == no_id) {
            fail(error_code::contradiction,
                 "the parent of '" + std::string(path) + "' is not listed before it");
        }
        if (paths_.intern(path) != next) {
            fail(error_code::contradiction, "'" + std::string(path) + "' is listed twice");
        }
        return builder_.child(parent_, path.substr(dot == path.npos ? 0 : dot + 1));
    }

    void read_module(json_part module) {
        const auto path = text(module, "name");
        const auto m = add_module(path);
        if (const auto parent = module["parent"]) {
            check_parent(path, parent);
        }
        builder_.set_class(m, optional_text(module, "class_name"),
                           optional_text(module, "qualified_class"));
        if (const auto calls = module["calls"]; calls.is_number<id>()) {
            builder_.set_calls(m, calls.number<id>());
        }
        read_tensors(module["own_parameters"], m, false);
        read_tensors(module["own_buffers"], m, true);
        if (const auto aliases = module["aliases"]; aliases.is_array()) {
            for (auto& alias : strings(aliases)) {
                aliases_.push_back({std::move(alias), std::string(path), file_});
            }
        }
    }

    void check_parent(std::string_view path, json_part parent) const {
        const auto dot = path.rfind('.');
        const auto expected = path.substr(0, dot == path.npos ? 0 : dot);
        const bool agrees = path.empty() ? parent.is_null() : parent == expected;
        if (!agrees) {
            fail(error_code::contradiction,
                 "'" + std::string(path) + "' names another parent than its path");
        }
    }

    [[nodiscard]] std::string_view optional_text(json_part object, std::string_view key) const {
        const auto found = object[key];
        return !found || found.is_null() ? std::string_view() : text(object, key);
    }

    void read_tensors(json_part list, id m, bool buffers) {
        if (!list.is_array()) {
            return;
        }
        for (const auto tensor : list) {
            const auto name = text(tensor, "name");
            const auto dtype = optional_text(tensor, "dtype");
            const auto listed = tensor["shape"];
            read_shape(listed);
            const auto trainable = tensor["trainable"];
            const tensor_info info{name, dtype, shape_,
                                   trainable.is_boolean() && trainable.boolean()};
            buffers ? builder_.add_buffer(m, info) : builder_.add_parameter(m, info);
        }
    }

    /// What there is none of is a scalar.
    void read_shape(json_part extents) {
        shape_.clear();
        if (!extents || extents.is_null()) {
            return;
        }
        if (!extents.is_array()) {
            fail(error_code::malformed, "a shape is no list");
        }
        for (const auto extent : extents) {
            if (!extent.is_number<std::int64_t>()) {
                fail(error_code::malformed, "an extent of a shape is no number");
            }
            shape_.push_back(extent.number<std::int64_t>());
        }
    }

    /// [name, class, qualified class, [[parameter, shape], ...]]
    void read_compact_module(json_part module) {
        const auto path = module[0];
        const auto class_name = module[1];
        const auto qualified = module[2];
        if (!path.is_text() || !class_name.is_text() || !qualified.is_text()) {
            fail(error_code::malformed, "is not [name, class, qualified class, parameters]");
        }
        const auto m = add_module(path.text());
        builder_.set_class(m, class_name.text(), qualified.text());
        if (!module[3].is_array()) {
            return;
        }
        for (const auto tensor : module[3]) {
            if (!tensor[0].is_text() || !tensor[1].is_array()) {
                fail(error_code::malformed, "a parameter is not [name, shape]");
            }
            read_shape(tensor[1]);
            builder_.add_parameter(m, {tensor[0].text(), "float32", shape_, true});
        }
    }

    module_tree_builder builder_;
    captured_trace trace_;
    captured_fx fx_;
    captured_trace torchscript_;
    captured_export export_;
    string_pool paths_;               // of the modules, numbered as in the builder
    id parent_ = no_id;               // of the module that was read last
    std::vector<std::int64_t> shape_; // that was read last
    part part_ = part::none;          // that is being read
    std::vector<alias_record> aliases_;
    std::string file_;
    std::size_t count_ = 0;
};

/// Reads captures of one model from files.
/// Throws: as `mapped_file` and `capture_reader`, and `error` when none of them holds modules.
/// Complexity: O(bytes).
[[nodiscard]] inline capture_reader read_captures(std::span<const std::string> paths) {
    capture_reader reader;
    for (const auto& path : paths) {
        const mapped_file file(path);
        reader.read(file.bytes(), path);
    }
    if (!reader.has_modules()) {
        STEMMA_THROW(error(error_code::malformed, paths.empty() ? "" : paths.front(), "",
                           "holds no modules"));
    }
    return reader;
}

} // namespace stemma

#endif // STEMMA_IO_CAPTURE_HPP

// <stemma/io/json_writer.hpp>
#ifndef STEMMA_IO_JSON_WRITER_HPP
#define STEMMA_IO_JSON_WRITER_HPP

namespace stemma {

/// Something that takes text piece by piece: `output_file` is one.
template <class Sink>
concept text_sink = requires(Sink& sink, std::string_view text) {
    sink.write(text);
};

/// Takes text into a string.
struct string_sink {
    std::string text; ///< all that was written

    /// Never fails but for want of memory.
    void write(std::string_view more) { text.append(more); }
};

/// Writes one JSON document to a sink as it is told, value by value; never holds more than a
/// buffer.
///
/// An object or array is written on one line when it is opened `flat`, else one entry a line.
/// Requires: calls nest as JSON does: `key` before every value in an object and nowhere else.
template <text_sink Sink>
class json_writer {
public:
    /// Requires: `sink` outlives the writer.
    explicit json_writer(Sink& sink) : sink_(&sink) {}

    json_writer(const json_writer&) = delete;
    json_writer& operator=(const json_writer&) = delete;

    /// Opens an object as the next value; `flat` holds for all that it contains.
    void begin_object(bool flat = false) { open('{', flat); }

    /// Closes the object opened last, which then is complete.
    void end_object() { close('}'); }

    /// Opens an array as the next value; `flat` holds for all that it contains.
    void begin_array(bool flat = false) { open('[', flat); }

    /// Closes the array opened last, which then is complete.
    void end_array() { close(']'); }

    /// Names the next value. Keys are written in the order they come, twice when they come twice.
    void key(std::string_view name) {
        separate();
        append_json_string(name, buffer_);
        buffer_.append(": ");
        after_key_ = true;
    }

    /// A string, escaped as JSON asks; bytes that are not valid UTF-8 are written as U+FFFD.
    void value(std::string_view text) {
        separate();
        append_json_string(text, buffer_);
        flush_if_full();
    }

    /// As a string.
    void value(const char* text) { value(std::string_view(text)); }

    /// As a string.
    void value(const std::string& text) { value(std::string_view(text)); }

    /// `true` or `false`; nothing else turns into a bool on the way.
    void value(std::same_as<bool> auto truth) {
        separate();
        buffer_.append(truth ? "true" : "false");
    }

    /// A number, all digits of it.
    template <std::integral Number>
        requires(!std::same_as<Number, bool>)
    void value(Number number) {
        separate();
        append_number(number);
        flush_if_full();
    }

    /// The shortest decimal that reads back as the same number; null for what JSON has no number.
    void value(std::floating_point auto number) {
        separate();
        if (std::isfinite(number)) {
            append_number(number);
        } else {
            buffer_.append("null");
        }
        flush_if_full();
    }

    /// `null`.
    void null() {
        separate();
        buffer_.append("null");
    }

    /// A key and its value.
    template <class T>
    void member(std::string_view name, const T& what) {
        key(name);
        value(what);
    }

    /// Ends the document with a line break and hands everything to the sink.
    void finish() {
        buffer_.push_back('\n');
        sink_->write(buffer_);
        buffer_.clear();
    }

private:
    static constexpr std::size_t full = 1U << 16U;

    void open(char bracket, bool flat) {
        separate();
        buffer_.push_back(bracket);
        flat_depth_ = flat_depth_ == 0 && flat ? depth_ + 1 : flat_depth_;
        ++depth_;
        first_ = true;
    }

    void close(char bracket) {
        --depth_;
        if (!first_ && flat_depth_ == 0) {
            break_line();
        }
        flat_depth_ = flat_depth_ > depth_ ? 0 : flat_depth_;
        buffer_.push_back(bracket);
        first_ = false;
        flush_if_full();
    }

    void separate() {
        if (after_key_) {
            after_key_ = false;
            return;
        }
        if (depth_ == 0) {
            return;
        }
        if (!first_) {
            buffer_.append(flat_depth_ == 0 ? std::string_view(",") : std::string_view(", "));
        }
        if (flat_depth_ == 0) {
            break_line();
        }
        first_ = false;
    }

    void break_line() {
        buffer_.push_back('\n');
        buffer_.append(depth_, ' ');
    }

    template <class Number>
    void append_number(Number number) {
        std::array<char, 32> digits{};
        const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
        buffer_.append(std::string_view(digits.data(), end));
    }

    void flush_if_full() {
        if (buffer_.size() >= full) {
            sink_->write(buffer_);
            buffer_.clear();
        }
    }

    Sink* sink_;
    std::string buffer_;
    std::size_t depth_ = 0;
    std::size_t flat_depth_ = 0; // of the outermost flat container, 0 outside of any
    bool first_ = true;
    bool after_key_ = false;
};

} // namespace stemma

#endif // STEMMA_IO_JSON_WRITER_HPP

// <stemma/io/value_description.hpp>
#ifndef STEMMA_IO_VALUE_DESCRIPTION_HPP
#define STEMMA_IO_VALUE_DESCRIPTION_HPP

namespace stemma {

/// What a report says of a value. Texts are "" where nothing is known.
struct value_description {
    std::string name;  ///< as the file has it
    std::string type;  ///< `float32`, `sequence(int64)`
    std::string shape; ///< `[1,seq,32]`, with `?` for an unknown extent; `[]` of a scalar

    /// Returns: type and shape as one text, `float32[1,seq,32]`.
    [[nodiscard]] std::string type_and_shape() const { return type + shape; }
};

/// Something that tells of values, by the number that edges of a graph carry.
template <class D>
concept value_describer = requires(const D& describe, id value) {
    { describe(value) } -> std::convertible_to<value_description>;
};

/// Tells nothing.
struct no_descriptions {
    /// Returns: only empty texts.
    [[nodiscard]] value_description operator()(id) const { return {}; }
};

} // namespace stemma

#endif // STEMMA_IO_VALUE_DESCRIPTION_HPP

// <stemma/io/dot.hpp>
#ifndef STEMMA_IO_DOT_HPP
#define STEMMA_IO_DOT_HPP

namespace stemma {

/// What a picture says besides what a graph and a tree know. Make your own of the same shape.
struct no_annotations {
    /// A line below an operator: its weights, say.
    [[nodiscard]] std::string operator_note(id) const { return {}; }
    /// A line in the box of a closed module, and in the title of an open one.
    [[nodiscard]] std::string module_note(id) const { return {}; }
    /// Calls `f(value)` for what an operator reads from outside of the graph.
    template <class Function>
    void for_each_input(id, Function) const {}
    /// Calls `f(value)` for what an operator makes that leaves the graph.
    template <class Function>
    void for_each_output(id, Function) const {}
};

namespace detail {

/// Returns: `1×seq×32` of `[1,seq,32]`; a single extent keeps its brackets.
[[nodiscard]] inline std::string shape_label(std::string_view shape) {
    if (shape.find(',') == shape.npos) {
        return shape == "[]" ? "scalar" : std::string(shape);
    }
    std::string label;
    for (char c : shape) {
        if (c == ',') {
            label.append("\xc3\x97");
        } else if (c != '[' && c != ']') {
            label.push_back(c);
        }
    }
    return label;
}

/// Returns: text for both kinds of strings of DOT, in which Graphviz reads entities.
[[nodiscard]] inline std::string dot_text(std::string_view text) {
    std::string out;
    for (auto part = text;; part.remove_prefix(part.find('\\') + 1)) {
        append_xml_text(part.substr(0, part.find('\\')), out);
        if (part.find('\\') == part.npos) {
            return out;
        }
        out.append("&#92;");
    }
}

/// Returns: a text of at most so many characters, with a mark where it was cut.
[[nodiscard]] inline std::string shortened(std::string_view text, std::size_t most) {
    std::size_t characters = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool begins = (static_cast<unsigned char>(text[i]) & 0xc0U) != 0x80U;
        if (begins && ++characters > most) {
            return std::string(text.substr(0, i)).append("\xe2\x80\xa6");
        }
    }
    return std::string(text);
}

/// Writes one picture.
template <text_sink Sink, named_operators Ops, module_view Modules, value_describer Describe,
          class Annotations>
class dot_picture {
public:
    dot_picture(Sink& sink, const Ops& ops, const Modules& modules, const tagging& found,
                const folded_graph& folded, const std::vector<bool>& shown,
                const Describe& describe, const Annotations& annotations)
        : sink_(sink)
        , ops_(ops)
        , modules_(modules)
        , tree_(modules.index())
        , found_(found)
        , folded_(folded)
        , shown_(shown)
        , describe_(describe)
        , annotations_(annotations)
        , boxes_in_(tree_.size())
        , nodes_in_(tree_.size())
        , vertex_(ops.graph()) {
        for (auto [it, last] = vertices(ops.graph()); it != last; ++it) {
            ++nodes_in_[found.attributions[index_of(ops.graph(), *it)].module];
        }
        for (auto m = static_cast<id>(tree_.size()); m-- > 1;) {
            nodes_in_[tree_.parent(m)] += nodes_in_[m];
        }
        for (id b = 0; b < folded.boxes.size(); ++b) {
            boxes_in_[folded.boxes[b].around].push_back(b);
        }
    }

    void write(id root) {
        text_ += "digraph model {\n"
                 "graph [rankdir=TB, ranksep=0.35, nodesep=0.25, fontname=\"Helvetica\", "
                 "fontsize=11, bgcolor=\"white\", compound=true]\n"
                 "node [shape=box, style=\"filled,rounded\", fillcolor=\"white\", "
                 "color=\"#64748b\", fontname=\"Helvetica\", fontsize=11, height=0.3, "
                 "margin=\"0.12,0.05\"]\n"
                 "edge [color=\"#64748b\", fontname=\"Helvetica\", fontsize=8, "
                 "fontcolor=\"#475569\", arrowsize=0.6]\n";
        write_clusters(root);
        write_edges();
        write_ends();
        text_ += "}\n";
        sink_.write(text_);
    }

private:
    static constexpr std::size_t longest_name = 40;

    /// Opens and closes the clusters in the order of the tree.
    void write_clusters(id root) {
        std::vector<id> open;
        const auto close_until = [&](id m) {
            for (; !open.empty() && tree_.end(open.back()) <= m; open.pop_back()) {
                text_ += "}\n";
            }
        };
        for (id m = root; m < tree_.end(root);) {
            close_until(m);
            if (!folded_.open[m]) {
                m = tree_.end(m);
                continue;
            }
            open.push_back(m);
            text_ += "subgraph cluster_" + std::to_string(m) + " {\n";
            text_ += "label=<" + title(m, m == root) +
                     ">; labeljust=l; style=\"filled,rounded\"; color=\"#94a3b8\"; fillcolor=\"" +
                     std::string(colour(m)) + "\"; tooltip=\"" + dot_text(path_of(modules_, m)) +
                     "\"\n";
            for (auto b : boxes_in_[m]) {
                write_box(b);
            }
            ++m;
        }
        close_until(tree_.end(root));
    }

    [[nodiscard]] std::string name_text(id m, bool with_path) const {
        const auto path = path_of(modules_, m);
        const std::string_view attribute = modules_.attribute(m);
        const std::string name = m == 0 ? "" : with_path ? path : std::string(attribute);
        return dot_text(shortened(name, longest_name));
    }

    [[nodiscard]] std::string title(id m, bool with_path) const {
        const auto name = name_text(m, with_path);
        auto type = dot_text(shortened(modules_.class_name(m), longest_name));
        if (name.empty() && type.empty()) {
            type = dot_text(shortened(modules_.attribute(m), longest_name));
        }
        auto text = "<B>" + (name.empty() ? type : name) + "</B>";
        return name.empty() || type.empty() ? text : text + "  " + type;
    }

    [[nodiscard]] static std::string small(const std::string& text) {
        return text.empty() ? text
                            : "<BR/><FONT POINT-SIZE=\"9\" COLOR=\"#475569\">" + text + "</FONT>";
    }

    [[nodiscard]] static std::string count_text(std::size_t n) {
        return std::to_string(n) + (n == 1 ? " node" : " nodes");
    }

    void write_box(id b) {
        const auto& box = folded_.boxes[b];
        text_ += "b" + std::to_string(b) + " [label=<";
        if (box.kind == box_kind::one_operator) {
            text_ += dot_text(shortened(ops_.op_type(vertex_[box.of]), longest_name)) +
                     small(dot_text(shortened(annotations_.operator_note(box.of), 60))) +
                     ">, tooltip=\"" + dot_text(ops_.name(vertex_[box.of])) + "\"]\n";
            return;
        }
        if (box.kind == box_kind::rest) {
            text_ += "<I>and " + std::to_string(box.operators) +
                     " more nodes</I>>, style=\"filled,rounded,dashed\", tooltip=\"\"]\n";
            return;
        }
        const auto note = annotations_.module_note(box.of);
        text_ +=
            title(box.of, false) +
            small(dot_text(count_text(nodes_in_[box.of]) + (note.empty() ? "" : ", " + note))) +
            ">, penwidth=1.6, fillcolor=\"" + std::string(colour(box.of)) + "\", tooltip=\"" +
            dot_text(path_of(modules_, box.of)) + "\"]\n";
    }

    void write_edges() {
        for (const auto& edge : folded_.edges) {
            const value_description value = describe_(edge.value);
            auto label = dot_text(shape_label(value.shape));
            if (edge.values > 1) {
                label +=
                    (label.empty() ? "" : " ") + std::string("+") + std::to_string(edge.values - 1);
            }
            write_edge("b" + std::to_string(edge.from), "b" + std::to_string(edge.to), label,
                       value);
        }
    }

    void write_edge(const std::string& from, const std::string& to, const std::string& label,
                    const value_description& value) {
        const auto about = dot_text(value.name + " " + value.type_and_shape());
        text_ += from + " -> " + to + " [label=<" + (label.empty() ? " " : " " + label) +
                 ">, tooltip=\"" + about + "\", labeltooltip=\"" + about + "\"]\n";
    }

    /// Draws a value at the border of what is shown, when it is met first.
    [[nodiscard]] std::string end_called(char kind, id value, const value_description& about) {
        auto name = kind + std::to_string(value);
        if (ends_.insert(name).second) {
            text_ += name + " [fillcolor=\"#e2e8f0\", penwidth=0.8, fontsize=10, label=<" +
                     dot_text(shortened(about.name, longest_name)) +
                     small(dot_text(about.type_and_shape())) + ">]\n";
        }
        return name;
    }

    /// Draws what comes in from outside of what is shown, and what leaves it.
    void write_ends() {
        const auto& graph = ops_.graph();
        std::set<std::pair<id, id>> entered; // box, value
        std::set<std::pair<id, id>> left;
        for (id v = 0; v < folded_.box_of.size(); ++v) {
            const auto box = folded_.box_of[v];
            if (box == no_id) {
                continue;
            }
            const auto enter = [&](id value) {
                if (entered.emplace(box, value).second) {
                    const value_description about = describe_(value);
                    write_edge(end_called('i', value, about), "b" + std::to_string(box), "", about);
                }
            };
            const auto leave = [&](id value) {
                if (left.emplace(box, value).second) {
                    const value_description about = describe_(value);
                    write_edge("b" + std::to_string(box), end_called('o', value, about), "", about);
                }
            };
            const auto is_outside = [&](const auto& u) {
                const auto i = index_of(graph, u);
                return shown_[i] && folded_.box_of[i] == no_id;
            };
            for (auto [it, last] = in_edges(vertex_[v], graph); it != last; ++it) {
                if (is_outside(source(*it, graph))) {
                    enter(value_on(graph, *it));
                }
            }
            for (auto [it, last] = out_edges(vertex_[v], graph); it != last; ++it) {
                if (is_outside(target(*it, graph))) {
                    leave(value_on(graph, *it));
                }
            }
            annotations_.for_each_input(v, enter);
            annotations_.for_each_output(v, leave);
        }
    }

    /// The same for all modules of a class.
    [[nodiscard]] std::string_view colour(id m) {
        constexpr std::array<std::string_view, 12> shades{
            "#dbeafe", "#dcfce7", "#fef3c7", "#fce7f3", "#ede9fe", "#cffafe",
            "#ffedd5", "#e0e7ff", "#d1fae5", "#fef9c3", "#fae8ff", "#f1f5f9"};
        const std::string_view type = modules_.class_name(m);
        if (type.empty()) {
            return "#f8fafc";
        }
        return shades[colours_.emplace(type, colours_.size()).first->second % shades.size()];
    }

    Sink& sink_;
    const Ops& ops_;
    const Modules& modules_;
    const tree_index& tree_;
    const tagging& found_;
    const folded_graph& folded_;
    const std::vector<bool>& shown_;
    const Describe& describe_;
    const Annotations& annotations_;
    std::vector<std::vector<id>> boxes_in_; // by module
    std::vector<std::size_t> nodes_in_;     // by module, what is not shown included
    vertices_by_index<graph_of<Ops>> vertex_;
    std::map<std::string, std::size_t, std::less<>> colours_;
    std::set<std::string> ends_;
    std::string text_;
};

} // namespace detail

/// Draws a module, or the whole, in the language of Graphviz: a cluster for every open module, a
/// box for every closed one, coloured by class; labels on edges are shapes.
///
/// `options` say what is open and how large the picture may be, `describe` tells of values,
/// `annotations` are as `no_annotations`. Complexity: O(V + E log E + modules).
template <text_sink Sink, named_operators Ops, module_view Modules,
          value_describer Describe = no_descriptions, class Annotations = no_annotations,
          visibility_policy<Ops> Visibility = hide_constants>
void write_dot(Sink& sink, const Ops& ops, const Modules& modules, const tagging& found,
               const fold_options& options = {}, const Describe& describe = {},
               const Annotations& annotations = {}, const Visibility& visibility = {}) {
    const auto& graph = ops.graph();
    std::vector<bool> shown(num_vertices(graph));
    for (auto [it, last] = vertices(graph); it != last; ++it) {
        shown[index_of(graph, *it)] = visibility.shows(ops, *it);
    }
    std::vector<id> module;
    for (const auto& made : found.attributions) {
        module.push_back(made.module);
    }
    const auto folded = fold_graph(graph, modules.index(), module, shown, options);
    detail::dot_picture(sink, ops, modules, found, folded, shown, describe, annotations)
        .write(options.root);
}

} // namespace stemma

#endif // STEMMA_IO_DOT_HPP

// <stemma/io/graphml.hpp>
#ifndef STEMMA_IO_GRAPHML_HPP
#define STEMMA_IO_GRAPHML_HPP

namespace stemma {

namespace detail {

/// Writes the lines of a GraphML file.
template <text_sink Sink>
class graphml_lines {
public:
    explicit graphml_lines(Sink& sink) : sink_(sink) {}

    void line(std::string_view text) {
        buffer_.append(text).push_back('\n');
        if (buffer_.size() >= full) {
            flush();
        }
    }

    /// A `<data>` element, unless the value is unknown.
    void data(std::string_view key, std::string_view value) {
        if (!value.empty()) {
            buffer_.append("<data key=\"").append(key).append("\">");
            append_xml_text(value, buffer_);
            line("</data>");
        }
    }

    void flush() {
        sink_.write(buffer_);
        buffer_.clear();
    }

private:
    static constexpr std::size_t full = 1U << 16U;

    Sink& sink_;
    std::string buffer_;
};

inline constexpr std::string_view graphml_head =
    R"(<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="kind" for="all" attr.name="kind" attr.type="string"/>
<key id="name" for="all" attr.name="name" attr.type="string"/>
<key id="path" for="all" attr.name="path" attr.type="string"/>
<key id="tag" for="all" attr.name="tag" attr.type="string"/>
<key id="class" for="all" attr.name="class" attr.type="string"/>
<key id="op_type" for="node" attr.name="op_type" attr.type="string"/>
<key id="provenance" for="node" attr.name="provenance" attr.type="string"/>
<key id="confidence" for="node" attr.name="confidence" attr.type="double"/>
<key id="tensor" for="edge" attr.name="tensor" attr.type="string"/>
<key id="type" for="edge" attr.name="type" attr.type="string"/>
<key id="shape" for="edge" attr.name="shape" attr.type="string"/>)";

} // namespace detail

enum class graphml_form : std::uint8_t {
    nested, ///< one graph for each module, in the one of the module above
    flat,   ///< one graph, where modules appear as the path and tag of their operators
};

/// Writes a graph with its modules as GraphML; all edges stand in the outermost graph.
///
/// Nodes are `m<rank>` for modules, marked as groups in the way of yEd, which NetworkX reads too,
/// and `n<index>` for operators. `describe` tells of the values on the edges. (Boost.Graph's own
/// writer takes the same graphs, but knows no graphs within graphs and lets control characters
/// through.)
/// Complexity: O(V + E + modules + length of the result); memory O(V).
template <text_sink Sink, named_operators Ops, module_view Modules,
          value_describer Describe = no_descriptions, visibility_policy<Ops> Visibility = show_all>
void write_graphml(Sink& sink, const Ops& ops, const Modules& modules, const tagging& found,
                   graphml_form form = graphml_form::nested, const Describe& describe = {},
                   const Visibility& visibility = {}) {
    const auto& graph = ops.graph();
    const tree_index& tree = modules.index();
    const vertices_by_index vertex(graph);
    std::vector<bool> shown(num_vertices(graph));
    for (auto [it, last] = vertices(graph); it != last; ++it) {
        shown[index_of(graph, *it)] = visibility.shows(ops, *it);
    }
    const module_members members(tree, found.attributions);
    detail::graphml_lines out(sink);
    const auto number = [](char kind, std::size_t n) { return kind + std::to_string(n); };
    const auto write_module = [&](id m) {
        out.data("kind", "module");
        out.data("name", modules.attribute(m));
        out.data("path", path_of(modules, m));
        out.data("tag", found.tags.is_selected(m) ? found.tags.text(m) : std::string());
        out.data("class", modules.class_name(m));
    };
    const auto write_operators = [&](id m) {
        for (auto v : members.direct(m)) {
            if (!shown[v]) {
                continue;
            }
            const auto& made = found.attributions[v];
            out.line("<node id=\"" + number('n', v) + "\">");
            out.data("kind", "operator");
            out.data("name", ops.name(vertex[v]));
            out.data("op_type", ops.op_type(vertex[v]));
            out.data("path", path_of(modules, m));
            out.data("tag", found.tags.text(m));
            out.data("class", modules.class_name(m));
            out.data("provenance", to_string(made.source));
            out.data("confidence", std::to_string(made.confidence));
            out.line("</node>");
        }
    };
    out.line(detail::graphml_head);
    out.line("<graph id=\"m0\" edgedefault=\"directed\">");
    write_module(0);
    write_operators(0);
    std::vector<id> open; // modules around the current one, without the root
    const auto close_until = [&](id m) {
        for (; !open.empty() && tree.end(open.back()) <= m; open.pop_back()) {
            out.line("</graph>\n</node>");
        }
    };
    for (id m = 1; m < tree.size(); ++m) {
        if (form == graphml_form::flat) {
            write_operators(m);
            continue;
        }
        close_until(m);
        open.push_back(m);
        out.line("<node id=\"" + number('m', m) + "\" yfiles.foldertype=\"group\">");
        write_module(m);
        out.line("<graph id=\"" + number('m', m) + ":\" edgedefault=\"directed\">");
        write_operators(m);
    }
    close_until(static_cast<id>(tree.size()));
    std::size_t edges = 0;
    for (id v = 0; v < shown.size(); ++v) {
        for (auto [it, last] = in_edges(vertex[v], graph); shown[v] && it != last; ++it) {
            const auto from = index_of(graph, source(*it, graph));
            if (!shown[from]) {
                continue;
            }
            out.line("<edge id=\"" + number('e', edges++) + "\" source=\"" + number('n', from) +
                     "\" target=\"" + number('n', v) + "\">");
            if constexpr (carries_values<graph_of<Ops>>) {
                const value_description value = describe(value_on(graph, *it));
                out.data("tensor", value.name);
                out.data("type", value.type);
                out.data("shape", value.shape);
            }
            out.line("</edge>");
        }
    }
    out.line("</graph>\n</graphml>");
    out.flush();
}

} // namespace stemma

#endif // STEMMA_IO_GRAPHML_HPP

// <stemma/io/module_dag_json.hpp>
#ifndef STEMMA_IO_MODULE_DAG_JSON_HPP
#define STEMMA_IO_MODULE_DAG_JSON_HPP

namespace stemma {

/// What of a graph of modules is written.
struct dag_options {
    dag_level level = dag_level::subtree; ///< which operators the DAG of a module holds
    bool multi = false; ///< an operator stands under all its tags rather than under the primary one
};

/// Writes the DAG of every selected module, by tag (docs/dag.schema.json).
///
/// `name_of(index)` gives the text that stands for an operator; distinct ones for distinct
/// operators. `shown` says which operators there are to see.
/// Complexity: O(V + E + modules), and for every module its operators and the edges at them; memory
/// for the largest module, not for the document.
template <text_sink Sink, operator_view Ops, class NameOf,
          visibility_policy<Ops> Visibility = hide_constants>
void write_module_dags(Sink& sink, const Ops& ops, const tree_index& modules, const tagging& found,
                       NameOf name_of, const dag_options& options = {},
                       const Visibility& visibility = {}) {
    const auto& graph = ops.graph();
    std::vector<bool> shown(num_vertices(graph));
    for (auto [it, last] = vertices(graph); it != last; ++it) {
        shown[index_of(graph, *it)] = visibility.shows(ops, *it);
    }
    module_dags dags(graph, modules, [&](id v, auto take) {
        if (shown[v] && options.multi) {
            found.pool.for_each(found.tag_sets[v], take);
        } else if (shown[v]) {
            take(found.selected(v));
        }
    });
    json_writer json(sink);
    json.begin_object();
    for (id m = 0; m < modules.size(); ++m) {
        if (!found.tags.is_selected(m)) {
            continue;
        }
        const auto& dag = dags.of(m, options.level);
        json.key(found.tags.text(m));
        json.begin_object();
        json.key("nodes");
        json.begin_array(true);
        for (auto v : dag.operators) {
            json.value(name_of(v));
        }
        json.end_array();
        json.key("edges");
        json.begin_array(true);
        for (const auto& [producer, reader] : dag.edges) {
            json.begin_array(true);
            json.value(name_of(producer));
            json.value(name_of(reader));
            json.end_array();
        }
        json.end_array();
        json.end_object();
    }
    json.end_object();
    json.finish();
}

} // namespace stemma

#endif // STEMMA_IO_MODULE_DAG_JSON_HPP

// <stemma/io/oracle.hpp>
#ifndef STEMMA_IO_ORACLE_HPP
#define STEMMA_IO_ORACLE_HPP

namespace stemma {

/// The true modules of nodes, by name: a file of format `fixture-truth/1`.
class oracle_file {
public:
    /// Throws: `error` of `error_code::malformed`.
    oracle_file(std::string_view bytes, std::string_view file) {
        stream_json(bytes, file, *this);
        if (by_name_.empty()) {
            STEMMA_THROW(error(error_code::malformed, file, "", "names the module of no node"));
        }
    }

    /// Returns: the path of the true module of the node called `name`: by the exporter's scope,
    /// else as it is known from the model's making, else as its readers tell; nothing where none
    /// does, nor for a name of nodes of several modules.
    [[nodiscard]] std::optional<std::string> module_of(std::string_view name) const {
        const auto found = by_name_.find(std::string(name));
        return found == by_name_.end() || found->second.several
                   ? std::nullopt
                   : std::optional(found->second.module);
    }

    /// Returns: whether the exporter had a scope for the node.
    [[nodiscard]] bool is_scoped(std::string_view name) const {
        const auto found = by_name_.find(std::string(name));
        return found != by_name_.end() && found->second.scoped;
    }

    /// For `stream_json`.
    [[nodiscard]] bool wants(const std::string& path) const { return path == "nodes"; }

    /// For `stream_json`; no scalar means anything.
    void scalar(const std::string&, json_part) {}

    /// For `stream_json`; a node without the name of a module is passed over.
    /// Complexity: O(1) on average.
    void element(const std::string&, json_part node) {
        for (const std::string_view key : {scope_key, known_key, inferred_key}) {
            const auto module = node[key];
            if (!module.is_text()) {
                continue;
            }
            for (const auto name : {node["original"], node["opaque"]}) {
                if (name.is_text()) {
                    const truth told{std::string(module.text()), key == scope_key, false};
                    const auto [known, added] = by_name_.emplace(name.text(), told);
                    known->second.several |= known->second.module != told.module;
                }
            }
            return;
        }
    }

private:
    static constexpr std::string_view scope_key = "module";
    static constexpr std::string_view known_key = "known_module";
    static constexpr std::string_view inferred_key = "inferred_module";

    struct truth {
        std::string module;
        bool scoped = false;
        bool several = false; // nodes of this name, in different modules
    };

    std::unordered_map<std::string, truth> by_name_;
};

} // namespace stemma

#endif // STEMMA_IO_ORACLE_HPP

// <stemma/onnx/onnx_model.hpp>
#ifndef STEMMA_ONNX_ONNX_MODEL_HPP
#define STEMMA_ONNX_ONNX_MODEL_HPP

namespace stemma {

/// Where a text stands in the bytes a model was read from.
struct text_ref {
    std::uint32_t offset = 0; ///< bytes from the start of what was read
    std::uint32_t size = 0;   ///< bytes; 0 for "", wherever it is said to be
};

/// Where a graph stands in a model.
enum class graph_kind : std::uint8_t {
    main,     ///< the model's own, number 0
    body,     ///< in an attribute of a node: of If, Loop, Scan
    function, ///< the body of a local function
};

/// Where a value comes from.
enum class value_kind : std::uint8_t {
    result,             ///< output of a node
    input,              ///< input of the main graph
    formal,             ///< input of a body or function
    initializer,        ///< dense, whether also listed as an input or not
    sparse_initializer, ///< one of which only some elements are written
    undefined,          ///< read, but made by nothing that can be seen from there
};

/// A graph, body or function of a model.
struct graph_record {
    graph_kind kind = graph_kind::main; ///< where the graph stands
    id owner = no_id;                   ///< of a body: the node that holds it
    id function = no_id;                ///< of a function: its number
    text_ref attribute;                 ///< of a body: the attribute that holds it
    id attribute_index = 0;             ///< of a body: its place in a list of graphs
    bool listed = false;                ///< of a body: in a list of graphs rather than alone
    text_ref name;                      ///< often "", for a function its own
    id node_count = 0;                  ///< without those of bodies
    std::vector<id> inputs;             ///< values
    std::vector<id> outputs;            ///< values; `no_id` where the name is ""
    std::vector<id> initializers;       ///< values, dense and sparse ones
};

/// A local function.
struct function_record {
    text_ref domain;   ///< as written
    text_ref name;     ///< which nodes have as their type
    text_ref overload; ///< tells functions of one name apart; "" for most
    id graph = no_id;  ///< the number of its body
};

/// An operator set that the model uses.
struct opset_import {
    std::string_view domain;  ///< as written: "" or `ai.onnx` for the standard one
    std::int64_t version = 0; ///< nodes mean the operators of this version
};

/// The structure of an ONNX model: graphs, nodes and values, as tables of 32-bit numbers over the
/// bytes that hold the names. Tensor data, attributes and types stay where they are.
///
/// Nodes are numbered over all graphs in the order in which their messages end, so nodes of a body
/// come before the node that holds the body: file order is a topological order where every graph is
/// sorted. The outputs of nodes are the first values, in the order of nodes. Filled by `wire_model`
/// and `proto_model`.
class onnx_model {
public:
    /// Nodes of all graphs, those of bodies and functions included.
    [[nodiscard]] id node_count() const noexcept { return static_cast<id>(nodes_.size()); }

    /// Values of all graphs; a name that means several things is several values.
    [[nodiscard]] id value_count() const noexcept { return static_cast<id>(value_names_.size()); }

    /// The main graph, bodies and functions.
    [[nodiscard]] id graph_count() const noexcept { return static_cast<id>(graphs_.size()); }

    /// Returns: the bytes that `ref` speaks of; valid as long as what the model was read from.
    [[nodiscard]] std::string_view text(text_ref ref) const noexcept {
        return {base_ + ref.offset, ref.size};
    }

    /// Returns: 0 where it is not written.
    [[nodiscard]] std::int64_t ir_version() const noexcept { return ir_version_; }

    /// Returns: "" where it is not written; valid as long as what the model was read from.
    [[nodiscard]] std::string_view producer_name() const noexcept { return text(producer_name_); }

    /// Returns: "" where it is not written; valid as long as what the model was read from.
    [[nodiscard]] std::string_view producer_version() const noexcept {
        return text(producer_version_);
    }

    /// In file order; of the model, not of its functions.
    [[nodiscard]] std::span<const opset_import> opset_imports() const noexcept { return opsets_; }

    /// Returns: "" where it is not written. Names need not differ.
    [[nodiscard]] std::string_view name(id node) const noexcept { return text(nodes_[node].name); }

    /// Returns: the type, or the name of the function that is called.
    [[nodiscard]] std::string_view op_type(id node) const noexcept {
        return text(operators_[nodes_[node].op].type);
    }

    /// Returns: the domain; "" for the standard one, also where it is written `ai.onnx`.
    [[nodiscard]] std::string_view domain(id node) const noexcept {
        return operator_domain(nodes_[node].op);
    }

    /// Returns: which of several functions of one name is called; "" for most nodes.
    [[nodiscard]] std::string_view overload(id node) const noexcept {
        return text(operators_[nodes_[node].op].overload);
    }

    /// Returns: a number that nodes share exactly when type, domain (as written) and overload are
    /// equal.
    [[nodiscard]] id operator_id(id node) const noexcept { return nodes_[node].op; }

    /// Operators are numbered from 0 as nodes first have them.
    [[nodiscard]] id operator_count() const noexcept { return static_cast<id>(operators_.size()); }

    /// Returns: as `op_type` of its nodes.
    [[nodiscard]] std::string_view operator_type(id op) const noexcept {
        return text(operators_[op].type);
    }

    /// Returns: as `domain` of its nodes.
    [[nodiscard]] std::string_view operator_domain(id op) const noexcept {
        return plain_domain(text(operators_[op].domain));
    }
    /// Returns: the function that an operator calls, or `no_id`.
    [[nodiscard]] id operator_callee(id op) const noexcept { return operators_[op].callee; }

    /// Returns: the graph a node is in.
    [[nodiscard]] id graph_of(id node) const noexcept {
        return containers_[nodes_[node].container].graph;
    }
    /// Returns: the place of a node among the nodes of its graph.
    [[nodiscard]] id position(id node) const noexcept { return nodes_[node].position; }
    /// Returns: the node whose body a node is in, or `no_id`.
    [[nodiscard]] id owner(id node) const noexcept { return graphs_[graph_of(node)].owner; }
    /// Returns: the function a node calls, or `no_id`.
    [[nodiscard]] id callee(id node) const noexcept { return operators_[nodes_[node].op].callee; }

    /// The values a node reads, by input slot; `no_id` for an omitted one.
    [[nodiscard]] std::span<const id> inputs(id node) const noexcept {
        const auto end = node + 1 < nodes_.size() ? nodes_[node + 1].first_input
                                                  : static_cast<id>(inputs_.size());
        return std::span(inputs_).subspan(nodes_[node].first_input, end - nodes_[node].first_input);
    }

    /// The first of the values a node makes, and how many; an omitted one has the name "".
    [[nodiscard]] id first_output(id node) const noexcept { return nodes_[node].first_output; }

    /// Returns: how many outputs a node lists, omitted ones included.
    [[nodiscard]] id output_count(id node) const noexcept {
        const auto end = node + 1 < nodes_.size() ? nodes_[node + 1].first_output : result_count_;
        return end - nodes_[node].first_output;
    }

    /// Returns: "" for an omitted output. Equal names in different graphs are different values.
    [[nodiscard]] std::string_view value_name(id value) const noexcept {
        return text(value_names_[value]);
    }

    /// Returns: where the value comes from, an initializer even if it is listed as an input.
    [[nodiscard]] value_kind kind(id value) const noexcept { return value_kinds_[value]; }
    /// Returns: the graph in which a value is defined (of an undefined one: in which it is read).
    [[nodiscard]] id graph_of_value(id value) const noexcept { return value_graphs_[value]; }
    /// Whether a value is defined in a body of a node, at any depth. Complexity: O(depth).
    [[nodiscard]] bool is_inside(id value, id node) const noexcept {
        auto g = graph_of_value(value);
        while (graph(g).kind == graph_kind::body && graph(g).owner != node) {
            g = graph_of(graph(g).owner);
        }
        return graph(g).kind == graph_kind::body;
    }
    /// Returns: the node that makes a value, or `no_id`.
    [[nodiscard]] id producer(id value) const noexcept {
        return value < result_count_ ? producers_[value] : no_id;
    }

    /// Whether the file holds the value itself, dense or sparse.
    [[nodiscard]] bool is_initializer(id value) const noexcept {
        return kind(value) == value_kind::initializer ||
               kind(value) == value_kind::sparse_initializer;
    }

    /// Graph 0 is the main one; a body comes after the graph that holds it.
    [[nodiscard]] const graph_record& graph(id g) const noexcept { return graphs_[g]; }

    /// In file order; `graph_record::function` and `callee` number them.
    [[nodiscard]] std::span<const function_record> functions() const noexcept { return functions_; }

    /// Values that were defined although their graph had one of that name already.
    [[nodiscard]] std::span<const id> redefined() const noexcept { return redefined_; }

    /// Returns: the way to a graph: "" for the main one, `<position>/<attribute>[k]` for each body
    /// on the way, `@domain::name:overload` for a function. Complexity: O(length).
    [[nodiscard]] std::string graph_path(id g) const {
        const auto& record = graphs_[g];
        if (record.kind == graph_kind::main) {
            return {};
        }
        if (record.kind == graph_kind::function) {
            const auto& f = functions_[record.function];
            std::string path = "@";
            path.append(text(f.domain)).append("::").append(text(f.name));
            if (f.overload.size > 0) {
                path.append(":").append(text(f.overload));
            }
            return path;
        }
        auto path = graph_path(graph_of(record.owner));
        path.append(path.empty() ? "" : "/").append(std::to_string(position(record.owner)));
        path.append("/").append(text(record.attribute));
        if (record.listed) {
            path.append("[").append(std::to_string(record.attribute_index)).append("]");
        }
        return path;
    }

protected:
    /// A message that holds nodes, or holds one that does: a graph, an attribute, a function.
    struct container_record {
        std::uint32_t begin = 0; ///< of the content, behind the length
        std::uint32_t size = 0;
        id graph = no_id;
        id parent = no_id;  ///< container around this one, where that is not a node
        id owner = no_id;   ///< node around this one
        id ends_before = 0; ///< nodes that end before this message does
    };

    /// One node.
    struct node_record {
        std::uint32_t begin = 0; ///< of the content, behind the length
        std::uint32_t size = 0;
        text_ref name;
        id op = no_id;
        id container = no_id;
        id position = 0;
        id first_input = 0;
        id first_output = 0;
    };

    /// What nodes of equal type share.
    struct operator_record {
        text_ref type;
        text_ref domain;
        text_ref overload;
        id callee = no_id;
    };

    const char* base_ = nullptr;
    std::int64_t ir_version_ = 0;
    text_ref producer_name_;
    text_ref producer_version_;
    std::vector<opset_import> opsets_;
    std::vector<node_record> nodes_;
    std::vector<operator_record> operators_;
    std::vector<container_record> containers_;
    std::vector<graph_record> graphs_;
    std::vector<function_record> functions_;
    std::vector<id> inputs_;
    std::vector<text_ref> value_names_;
    std::vector<value_kind> value_kinds_;
    std::vector<id> value_graphs_;
    std::vector<id> producers_;
    std::vector<id> redefined_;
    id result_count_ = 0;
};

} // namespace stemma

#endif // STEMMA_ONNX_ONNX_MODEL_HPP

// <stemma/onnx/graph_contents.hpp>
#ifndef STEMMA_ONNX_GRAPH_CONTENTS_HPP
#define STEMMA_ONNX_GRAPH_CONTENTS_HPP

namespace stemma {

/// What lies below every graph and every node of a model: the other direction of `owner`.
class graph_contents {
public:
    /// Complexity: O(nodes + graphs), and once more for every level of bodies.
    explicit graph_contents(const onnx_model& model)
        : root_(model.graph_count())
        , own_(model.graph_count())
        , nodes_(model.graph_count())
        , bodies_(model.graph_count()) {
        for (id g = 0; g < model.graph_count(); ++g) {
            // A body comes after the graph that holds it.
            const bool is_body = model.graph(g).kind == graph_kind::body;
            root_[g] = is_body ? root_[model.graph_of(model.graph(g).owner)] : g;
            if (is_body) {
                owns_.resize(model.node_count());
                owns_[model.graph(g).owner] = true;
                bodies_of_[model.graph(g).owner].push_back(g);
                for_each_around(model, g, [&](id around) { bodies_[around].push_back(g); });
            }
        }
        for (id node = 0; node < model.node_count(); ++node) {
            const auto g = model.graph_of(node);
            own_[g].push_back(node);
            if (!bodies_[g].empty()) {
                nodes_[g].push_back(node);
            }
            if (model.owner(node) != no_id) {
                inner_[model.owner(node)].push_back(node);
                for_each_around(model, g, [&](id around) { nodes_[around].push_back(node); });
            }
        }
    }

    /// Returns: the main graph or function that a graph lies in, or is.
    [[nodiscard]] id root(id g) const noexcept { return root_[g]; }
    /// Returns: the nodes of a graph and of all bodies below it, ascending.
    [[nodiscard]] std::span<const id> nodes(id g) const noexcept {
        return bodies_[g].empty() ? own_[g] : nodes_[g];
    }
    /// Returns: those of them that are in no body below, by position.
    [[nodiscard]] std::span<const id> own_nodes(id g) const noexcept { return own_[g]; }
    /// Returns: the bodies below a graph, ascending.
    [[nodiscard]] std::span<const id> bodies(id g) const noexcept { return bodies_[g]; }
    /// Returns: the nodes directly in the bodies of a node, ascending.
    [[nodiscard]] std::span<const id> inner_nodes(id node) const {
        return owns(node) ? find(inner_, node) : std::span<const id>();
    }
    /// Returns: the bodies that a node owns, ascending.
    [[nodiscard]] std::span<const id> bodies_of(id node) const {
        return owns(node) ? find(bodies_of_, node) : std::span<const id>();
    }

private:
    using lists = std::unordered_map<id, std::vector<id>>;

    [[nodiscard]] bool owns(id node) const { return !owns_.empty() && owns_[node]; }

    [[nodiscard]] static std::span<const id> find(const lists& in, id node) {
        const auto found = in.find(node);
        return found == in.end() ? std::span<const id>() : std::span<const id>(found->second);
    }

    template <class Function>
    static void for_each_around(const onnx_model& model, id g, Function f) {
        while (model.graph(g).kind == graph_kind::body) {
            g = model.graph_of(model.graph(g).owner);
            f(g);
        }
    }

    std::vector<id> root_; // by graph
    std::vector<std::vector<id>> own_;
    std::vector<std::vector<id>> nodes_; // where there are bodies below
    std::vector<std::vector<id>> bodies_;
    std::vector<bool> owns_; // by node: has bodies; empty where none has
    lists inner_;
    lists bodies_of_;
};

/// Calls `f(value)` for what a node and all its bodies read. Complexity: O(values).
template <class Function>
void for_each_read(const onnx_model& model, const graph_contents& contents, id node, Function f) {
    for (auto value : model.inputs(node)) {
        if (value != no_id) {
            f(value);
        }
    }
    for (auto inside : contents.inner_nodes(node)) {
        for_each_read(model, contents, inside, f);
    }
    for (auto g : contents.bodies_of(node)) {
        for (auto value : model.graph(g).outputs) {
            if (value != no_id) {
                f(value);
            }
        }
    }
}

} // namespace stemma

#endif // STEMMA_ONNX_GRAPH_CONTENTS_HPP

// <stemma/onnx/called_functions.hpp>
#ifndef STEMMA_ONNX_CALLED_FUNCTIONS_HPP
#define STEMMA_ONNX_CALLED_FUNCTIONS_HPP

namespace stemma {

/// Finds the functions of a model that nodes call: they, their bodies, or functions they call.
///
/// `visit(node)` is called for every node that runs when these do.
/// Returns: numbers of functions, ascending. Complexity: O(nodes visited), expected.
template <class Visit>
[[nodiscard]] std::vector<id> called_functions(const onnx_model& model,
                                               const graph_contents& contents,
                                               std::span<const id> nodes, Visit visit) {
    std::vector<id> found;
    std::unordered_set<id> known;
    const auto look = [&](auto& self, id node) -> void {
        visit(node);
        if (const auto f = model.callee(node); f != no_id && known.insert(f).second) {
            found.push_back(f);
        }
        for (auto inside : contents.inner_nodes(node)) {
            self(self, inside);
        }
    };
    for (auto node : nodes) {
        look(look, node);
    }
    for (std::size_t i = 0; i < found.size(); ++i) {
        for (auto node : contents.nodes(model.functions()[found[i]].graph)) {
            look(look, node);
        }
    }
    std::sort(found.begin(), found.end());
    return found;
}

/// Returns: the graphs of the functions that nothing in the main graph calls, nor what it calls.
/// Complexity: O(nodes), expected.
[[nodiscard]] inline std::vector<id> uncalled_functions(const onnx_model& model,
                                                        const graph_contents& contents) {
    std::vector<id> uncalled;
    if (!model.functions().empty()) {
        const auto called = called_functions(model, contents, contents.nodes(0), [](id) {});
        for (id f = 0; f < model.functions().size(); ++f) {
            if (!std::binary_search(called.begin(), called.end(), f)) {
                uncalled.push_back(model.functions()[f].graph);
            }
        }
    }
    return uncalled;
}

} // namespace stemma

#endif // STEMMA_ONNX_CALLED_FUNCTIONS_HPP

// <stemma/onnx/compare_tags.hpp>
#ifndef STEMMA_ONNX_COMPARE_TAGS_HPP
#define STEMMA_ONNX_COMPARE_TAGS_HPP

namespace stemma {

/// How the primary tags of two models differ.
struct tag_comparison {
    /// Nodes that went from one tag to another.
    struct move {
        std::string from;      ///< tag in the first model
        std::string to;        ///< tag of the partner in the second model
        std::size_t nodes = 0; ///< how many
        id example = no_id;    ///< the first such node of the first model
    };
    /// How many nodes have a tag.
    struct tag_count {
        std::string tag;       ///< of one of the models
        std::size_t nodes = 0; ///< how many
    };

    std::size_t same = 0;            ///< nodes with equal tags
    std::size_t only_first = 0;      ///< nodes without a partner
    std::size_t only_second = 0;     ///< nodes that are nobody's partner
    std::vector<move> moves;         ///< by tags of the first model, in the order of its tree
    std::vector<tag_count> vanished; ///< tags of nodes of the first model only
    std::vector<tag_count> appeared; ///< tags of nodes of the second model only

    /// Whether the two have the same tags on the same nodes, so far as these have partners.
    [[nodiscard]] bool is_equal() const noexcept {
        return moves.empty() && vanished.empty() && appeared.empty();
    }
};

/// Returns: for every node of `a` the node of `b` that has the same name, where in both models only
/// one has it; else `no_id`. Complexity: O(nodes) expected.
[[nodiscard]] inline std::vector<id> match_by_name(const onnx_model& a, const onnx_model& b) {
    const auto names_of = [](const onnx_model& model) {
        std::unordered_map<std::string_view, id> nodes; // `no_id` for a name of several
        for (id node = 0; node < model.node_count(); ++node) {
            if (const auto [known, is_new] = nodes.emplace(model.name(node), node); !is_new) {
                known->second = no_id;
            }
        }
        nodes.erase(std::string_view());
        return nodes;
    };
    const auto first = names_of(a);
    const auto second = names_of(b);
    std::vector<id> partners(a.node_count(), no_id);
    for (const auto& [name, node] : first) {
        const auto found = second.find(name);
        if (node != no_id && found != second.end()) {
            partners[node] = found->second;
        }
    }
    return partners;
}

/// Compares the tags of nodes with those of their partners (`no_id` for none).
/// Complexity: O(nodes * log tags + length of all tags).
[[nodiscard]] inline tag_comparison compare_tags(const tagging& a, const tagging& b,
                                                 std::span<const id> partners) {
    tag_comparison result;
    const auto count = [](const tagging& found) {
        std::map<id, std::size_t> nodes; // by selected module
        for (id v = 0; v < found.attributions.size(); ++v) {
            ++nodes[found.selected(v)];
        }
        return nodes;
    };
    const auto in_first = count(a);
    const auto in_second = count(b);
    std::unordered_map<std::string, id> second_tags;
    for (const auto& [module, nodes] : in_second) {
        second_tags.emplace(b.tags.text(module), module);
    }
    std::map<id, id> same_tag; // by module of the first: the one of the second
    for (const auto& [module, nodes] : in_first) {
        auto tag = a.tags.text(module);
        const auto found = second_tags.find(tag);
        if (found != second_tags.end()) {
            same_tag.emplace(module, found->second);
            second_tags.erase(found);
        } else {
            result.vanished.push_back({std::move(tag), nodes});
        }
    }
    for (const auto& [module, nodes] : in_second) {
        auto tag = b.tags.text(module);
        if (second_tags.contains(tag)) {
            result.appeared.push_back({std::move(tag), nodes});
        }
    }
    std::map<std::pair<id, id>, std::pair<std::size_t, id>> moves;
    std::size_t matched = 0;
    for (id v = 0; v < partners.size(); ++v) {
        if (partners[v] == no_id) {
            ++result.only_first;
            continue;
        }
        ++matched;
        const auto from = a.selected(v);
        const auto to = b.selected(partners[v]);
        const auto equal = same_tag.find(from);
        if (equal != same_tag.end() && equal->second == to) {
            ++result.same;
        } else {
            ++moves.try_emplace({from, to}, 0U, v).first->second.first;
        }
    }
    result.only_second = b.attributions.size() - matched;
    for (const auto& [modules, nodes] : moves) {
        result.moves.push_back(
            {a.tags.text(modules.first), b.tags.text(modules.second), nodes.first, nodes.second});
    }
    return result;
}

} // namespace stemma

#endif // STEMMA_ONNX_COMPARE_TAGS_HPP

// <stemma/onnx/flat_graph.hpp>
#ifndef STEMMA_ONNX_FLAT_GRAPH_HPP
#define STEMMA_ONNX_FLAT_GRAPH_HPP

namespace stemma {

/// Returns: the input slot of the node `owner` whose value formal input `i` of its body `g` starts
/// with, or `no_id`.
///
/// Loop passes its inputs on in place, the first being a trip count instead of the iteration; Scan
/// of opset 8 has one input more in front; any other operator is taken to pass them on in place
/// when the numbers agree.
[[nodiscard]] inline id matching_owner_input(const onnx_model& model, id owner, id g,
                                             std::size_t i) {
    const auto inputs = model.inputs(owner).size();
    const auto formals = model.graph(g).inputs.size();
    const auto type = model.op_type(owner);
    std::size_t slot = inputs;
    if (type == "Loop") {
        slot = i == 0 ? inputs : i;
    } else if (inputs == formals) {
        slot = i;
    } else if (type == "Scan" && inputs == formals + 1) {
        slot = i + 1;
    }
    return slot < inputs ? static_cast<id>(slot) : no_id;
}

/// The nodes of all graphs of a model, and the tensors between them.
///
/// Vertices are the nodes by number. Edges lead from a producer to its readers, also to readers in
/// a body; from the producer of a body's result to the body's owner (`in_port` is `no_id`); and
/// from the producer of an owner's input to the readers of the formal input that starts with it.
/// None leads from an owner into its body, or from a call into a function. Complexity: O(nodes +
/// values).
[[nodiscard]] inline operator_graph flat_graph(const onnx_model& model) {
    std::vector<id> started_by; // by value: the owner's input value behind a formal input
    for (id g = 1; g < model.graph_count(); ++g) {
        const auto& body = model.graph(g);
        if (body.kind != graph_kind::body) {
            continue;
        }
        started_by.resize(model.value_count(), no_id);
        for (std::size_t i = 0; i < body.inputs.size(); ++i) {
            const auto slot = matching_owner_input(model, body.owner, g, i);
            if (slot != no_id) {
                started_by[body.inputs[i]] = model.inputs(body.owner)[slot];
            }
        }
    }
    return {model.node_count(), [&](auto take) {
                const auto add = [&](id value, id reader, id slot) {
                    while (value != no_id && model.kind(value) == value_kind::formal &&
                           !started_by.empty()) {
                        value = started_by[value];
                    }
                    const auto producer = value == no_id ? no_id : model.producer(value);
                    if (producer != no_id) {
                        take(operator_edge{producer, reader, value, slot,
                                           value - model.first_output(producer)});
                    }
                };
                for (id node = 0; node < model.node_count(); ++node) {
                    const auto inputs = model.inputs(node);
                    for (id slot = 0; slot < inputs.size(); ++slot) {
                        add(inputs[slot], node, slot);
                    }
                }
                for (id g = 1; g < model.graph_count(); ++g) {
                    if (model.graph(g).kind == graph_kind::body) {
                        for (auto value : model.graph(g).outputs) {
                            add(value, model.graph(g).owner, no_id);
                        }
                    }
                }
            }};
}

/// Returns: the vertex of `nested_graph(model, g)` that holds a node: the node itself when it is in
/// graph `g`, its outermost owner there when it is in a body below; else `no_id`.
/// Complexity: O(depth of the bodies).
[[nodiscard]] inline id enclosing_node(const onnx_model& model, id g, id node) {
    while (node != no_id && model.graph_of(node) != g) {
        node = model.owner(node);
    }
    return node;
}

/// One graph of a model with every body contracted into the node that owns it.
struct nested_view {
    operator_graph graph;  ///< vertices in the order of `nodes`
    std::vector<id> nodes; ///< by vertex: the node
};

/// Returns: the nodes of graph `g` in order; what a body captures is an input of its owner
/// (`in_port` is `no_id`).
///
/// `nodes` are those of `g` and of all bodies below it, ascending, and `bodies` those graphs.
/// Complexity: O(nodes + values) of them.
[[nodiscard]] inline nested_view
nested_graph(const onnx_model& model, id g, std::span<const id> nodes, std::span<const id> bodies) {
    nested_view view;
    for (auto node : nodes) {
        if (model.graph_of(node) == g) {
            view.nodes.push_back(node);
        }
    }
    view.graph = operator_graph(view.nodes.size(), [&](auto take) {
        const auto add = [&](id value, id reader, id slot) {
            const auto producer = value == no_id ? no_id : model.producer(value);
            if (producer != no_id && model.graph_of(producer) == g) {
                take(operator_edge{model.position(producer), model.position(reader), value, slot,
                                   value - model.first_output(producer)});
            }
        };
        for (auto node : nodes) {
            const auto reader = enclosing_node(model, g, node);
            const auto inputs = model.inputs(node);
            for (id slot = 0; slot < inputs.size(); ++slot) {
                add(inputs[slot], reader, reader == node ? slot : no_id);
            }
        }
        for (auto b : bodies) {
            const auto reader = enclosing_node(model, g, model.graph(b).owner);
            for (auto value : model.graph(b).outputs) {
                add(value, reader, no_id);
            }
        }
    });
    return view;
}

/// The same for all nodes and bodies of the model that are in `g` or below it.
/// Complexity: O(nodes + values) of the model.
[[nodiscard]] inline nested_view nested_graph(const onnx_model& model, id g) {
    std::vector<id> nodes;
    std::vector<id> bodies;
    for (id node = 0; node < model.node_count(); ++node) {
        if (enclosing_node(model, g, node) != no_id) {
            nodes.push_back(node);
        }
    }
    for (id b = 1; b < model.graph_count(); ++b) {
        if (model.graph(b).kind == graph_kind::body &&
            enclosing_node(model, g, model.graph(b).owner) != no_id) {
            bodies.push_back(b);
        }
    }
    return nested_graph(model, g, nodes, bodies);
}

} // namespace stemma

#endif // STEMMA_ONNX_FLAT_GRAPH_HPP

// <stemma/onnx/cut_facts.hpp>
#ifndef STEMMA_ONNX_CUT_FACTS_HPP
#define STEMMA_ONNX_CUT_FACTS_HPP

namespace stemma {

/// A graph of a model, in an order in which it can run.
struct ordered_graph {
    nested_view view;           ///< vertices, and which node each is
    std::vector<id> order;      ///< vertices, producers first; in file order where that does
    std::vector<id> rank;       ///< by vertex: place in `order`, `no_id` on a circle
    bool sorted_already = true; ///< file order is one in which the graph can run

    /// Complexity: O(nodes + edges).
    ordered_graph(const onnx_model& model, const graph_contents& contents, id g)
        : view(nested_graph(model, g, contents.nodes(g), contents.bodies(g)))
        , rank(num_vertices(view.graph), no_id)
        , sorted_already(is_topologically_indexed(view.graph)) {
        if (sorted_already) {
            order.resize(rank.size());
            std::iota(order.begin(), order.end(), id{0});
        } else {
            order = topological_order(view.graph);
        }
        for (std::size_t i = 0; i < order.size(); ++i) {
            rank[order[i]] = static_cast<id>(i);
        }
    }
};

/// A graph of a model as those see it who cut parts out of it. Copies share the graph, and each has
/// a set of its own.
class cut_facts {
public:
    /// `is_constant(node)` says what every reader gets a copy of. Complexity: O(nodes + edges).
    template <class IsConstant>
    cut_facts(const onnx_model& model, const graph_contents& contents, id g, IsConstant is_constant)
        : set(contents.own_nodes(g).size())
        , graph_(std::make_shared<const ordered_graph>(model, contents, g)) {
        for (id v = 0; v < set.apart.size(); ++v) {
            set.apart[v] = rank()[v] == no_id || is_constant(view().nodes[v]);
        }
    }

    /// Returns: vertices, and which node each is.
    [[nodiscard]] const nested_view& view() const noexcept { return graph_->view; }

    /// Returns: vertices, producers first; in file order where that does.
    [[nodiscard]] const std::vector<id>& order() const noexcept { return graph_->order; }

    /// Returns: by vertex the place in `order`, `no_id` on a circle.
    [[nodiscard]] const std::vector<id>& rank() const noexcept { return graph_->rank; }

    /// Whether file order is one in which the graph can run.
    [[nodiscard]] bool sorted_already() const noexcept { return graph_->sorted_already; }

    /// Takes vertices into the set that is being planned, or out of it again.
    /// Complexity: O(members).
    void put_inside(std::span<const id> members, bool inside) {
        for (auto v : members) {
            set.inside[v] = inside;
        }
    }

    /// Whether all of some vertices are constant.
    [[nodiscard]] bool are_apart(std::span<const id> members) const {
        return std::all_of(members.begin(), members.end(), [&](id v) { return set.apart[v]; });
    }

    /// Says of vertices whether every reader gets a copy of them. Complexity: O(members).
    void put_apart(std::span<const id> members, bool apart) {
        for (auto v : members) {
            set.apart[v] = apart;
        }
    }

    /// Returns: the part of the order that members are in. Requires: they are on no circle.
    [[nodiscard]] order_stretch<operator_graph> stretch(std::span<const id> members) const {
        return {view().graph, order(), rank(), members};
    }

    vertex_set set; ///< `apart`: what is constant; `inside` is for the part being planned

private:
    std::shared_ptr<const ordered_graph> graph_;
};

} // namespace stemma

#endif // STEMMA_ONNX_CUT_FACTS_HPP

// <stemma/onnx/cut_plan.hpp>
#ifndef STEMMA_ONNX_CUT_PLAN_HPP
#define STEMMA_ONNX_CUT_PLAN_HPP

namespace stemma {

/// Why a part cannot be cut out.
enum class cut_refusal : std::uint8_t {
    none,          ///< it can be cut out
    non_convex,    ///< some way leads out of it and back; see the witness
    unknown_type,  ///< type or rank of a value at the boundary is not known
    function_body, ///< it lies in a function whose attributes are not bound
    no_output,     ///< nothing outside reads what it makes
};

/// Returns: the name that reports use.
[[nodiscard]] constexpr std::string_view to_string(cut_refusal refusal) noexcept {
    switch (refusal) {
    case cut_refusal::none:
        return "";
    case cut_refusal::non_convex:
        return "non_convex";
    case cut_refusal::unknown_type:
        return "unknown_type";
    case cut_refusal::function_body:
        return "function_body";
    case cut_refusal::no_output:
        return "no_output";
    }
    return "";
}

/// A part of a model, as it is to be cut out.
struct cut_plan {
    id graph = 0;                 ///< the graph it is cut out of: the main one, a body, a function
    std::vector<id> nodes;        ///< of that graph or one around it, in the order they will have
    std::vector<id> clones;       ///< those of them that stay in the rest as well, ascending
    std::vector<id> inputs;       ///< values, in the order of readers
    std::vector<id> outputs;      ///< values, in the order of producers
    std::vector<id> initializers; ///< values
    std::vector<id> functions;    ///< numbers of functions that are called, directly or not
    bool sorted = false;          ///< nodes had to be put in another order to be behind producers
    bool random = false;          ///< holds an operator that gives other results each time
    cut_refusal refusal = cut_refusal::none; ///< why not, if anything
    std::vector<id> witness;                 ///< `non_convex`: the nodes on a way out and back
};

} // namespace stemma

#endif // STEMMA_ONNX_CUT_PLAN_HPP

// <stemma/onnx/operator_dependence.hpp>
#ifndef STEMMA_ONNX_OPERATOR_DEPENDENCE_HPP
#define STEMMA_ONNX_OPERATOR_DEPENDENCE_HPP

namespace stemma {

/// Whether an operator gives other results each time it runs.
[[nodiscard]] inline bool is_random_operator(std::string_view domain, std::string_view type) {
    constexpr std::array<std::string_view, 6> random{"RandomNormal",  "RandomNormalLike",
                                                     "RandomUniform", "RandomUniformLike",
                                                     "Multinomial",   "Bernoulli"};
    return domain.empty() && std::find(random.begin(), random.end(), type) != random.end();
}

/// Returns: by node, whether its type alone makes it random.
/// Complexity: O(nodes).
[[nodiscard]] inline std::vector<bool> find_random_operators(const onnx_model& model) {
    std::vector<bool> of_type(model.operator_count());
    for (id op = 0; op < model.operator_count(); ++op) {
        of_type[op] = is_random_operator(model.operator_domain(op), model.operator_type(op));
    }
    std::vector<bool> random(model.node_count());
    for (id node = 0; node < model.node_count(); ++node) {
        random[node] = of_type[model.operator_id(node)];
    }
    return random;
}

/// Finds what the results of every node depend on, with all that its bodies capture.
///
/// A node without inputs that is no Constant (a random generator, say), one that is `random`, a
/// call of a function, and what reads an undefined value count as data. A node in a body depends on
/// data where it reads a formal input. Complexity: O(nodes + values); nodes that stand before their
/// producers count as data.
[[nodiscard]] inline std::vector<dependence> find_dependence(const onnx_model& model,
                                                             const std::vector<bool>& random) {
    const auto count = model.node_count();
    std::vector<dependence> result(count, dependence::data);
    std::vector<dependence> inner(count, dependence::constant); // of what bodies of a node read
    std::vector<bool> done(count, false);
    const auto of_value = [&](id value) {
        const auto producer = model.producer(value);
        if (producer != no_id) {
            return done[producer] ? result[producer] : dependence::data;
        }
        return model.is_initializer(value) ? dependence::weight : dependence::data;
    };
    for (id node = 0; node < count; ++node) {
        const auto type = model.op_type(node);
        const auto inputs = model.inputs(node);
        const bool standard = model.domain(node).empty();
        auto most = inner[node];
        bool reads = inner[node] != dependence::constant;
        for (auto value : inputs) {
            if (value != no_id) {
                reads = true;
                most = std::max({most, of_value(value), dependence::weight});
            }
        }
        if (standard && type == "Constant") {
            most = dependence::constant;
        } else if (standard && (type == "Shape" || type == "Size")) {
            most = std::min(most, dependence::shape);
        } else if (!reads || model.callee(node) != no_id || random[node]) {
            most = dependence::data;
        }
        result[node] = most;
        done[node] = true;
        // What a body reads from outside is read by its owner too.
        if (const auto owner = model.owner(node); owner != no_id) {
            for (auto value : inputs) {
                if (value != no_id && model.graph_of_value(value) != model.graph_of(node)) {
                    inner[owner] = std::max({inner[owner], of_value(value), dependence::weight});
                }
            }
            inner[owner] = std::max(inner[owner], inner[node]);
            if (random[node]) {
                inner[owner] = dependence::data;
            }
        }
    }
    return result;
}

} // namespace stemma

#endif // STEMMA_ONNX_OPERATOR_DEPENDENCE_HPP

// <stemma/onnx/cut_planner.hpp>
#ifndef STEMMA_ONNX_CUT_PLANNER_HPP
#define STEMMA_ONNX_CUT_PLANNER_HPP

namespace stemma {

/// Plans how sets of nodes are cut out of one model. What the plans share is found once, and shared
/// by copies of the planner as well: each thread can plan with a copy of its own.
template <cut_policy Policy = standard_cut>
class cut_planner {
public:
    /// `random` says by node whether it gives other results each time.
    /// Requires: `model` outlives the planner.
    /// Complexity: that of `find_dependence`.
    cut_planner(const onnx_model& model, Policy policy, std::vector<bool> random)
        : model_(model)
        , policy_(std::move(policy))
        , shared_(std::make_shared<const shared_facts>(model, std::move(random)))
        , marks_(model.node_count(), mark::none)
        , seen_(model.value_count(), no_id) {}

    /// Takes those for random that are so by their type, see `find_random_operators`.
    explicit cut_planner(const onnx_model& model, Policy policy = {})
        : cut_planner(model, std::move(policy), find_random_operators(model)) {}
    /// Returns: which nodes and bodies lie in which graph; valid as long as a copy of the planner.
    [[nodiscard]] const graph_contents& contents() const noexcept { return shared_->contents; }

    /// Plans the part that holds `wanted`: one plan, or one for each convex run. Nodes of bodies
    /// come along with their owner where that is wanted too, else they are cut out of the body.
    ///
    /// `wanted` is ascending; `calls`, when not empty, says for each of them which call of the
    /// module it belongs to (`no_id`: unknown), and no run goes over two calls.
    /// Returns: at least one plan, possibly with a refusal, unless `wanted` is empty.
    /// Complexity: O(nodes + edges) from the first wanted node to the last, and once for every
    /// graph that holds wanted nodes that of the graph.
    [[nodiscard]] std::vector<cut_plan> plan(std::span<const id> wanted,
                                             std::span<const id> calls = {}) {
        for (auto node : wanted) {
            marks_[node] = mark::core;
        }
        std::map<id, std::vector<call_member<id>>> by_graph;
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            if (!has_wanted_owner(wanted[i])) {
                by_graph[model_.graph_of(wanted[i])].push_back(
                    {model_.position(wanted[i]), calls.empty() ? 0 : calls[i]});
            }
        }
        for (auto node : wanted) {
            marks_[node] = mark::none;
        }
        std::vector<cut_plan> plans;
        auto aside = shared_->uncalled;
        if (!model_.functions().empty()) { // a call of a function stands for the body
            for (auto f : called_functions(model_, contents(), wanted, [](id) {})) {
                aside.push_back(model_.functions()[f].graph);
            }
        }
        const auto is_aside = [&](id g) {
            return std::find(aside.begin(), aside.end(), contents().root(g)) != aside.end();
        };
        const bool only_aside = std::all_of(by_graph.begin(), by_graph.end(),
                                            [&](const auto& one) { return is_aside(one.first); });
        for (auto& [g, members] : by_graph) {
            if (only_aside || !is_aside(g)) {
                plan_in_graph(g, members, plans);
            }
        }
        return plans;
    }

    /// Plans a part that holds these vertices of graph `g`, convex or not. Complexity: as above.
    [[nodiscard]] cut_plan plan_exactly(id g, std::span<const id> positions) {
        auto& known = facts(g);
        const std::vector<id> members(positions.begin(), positions.end());
        known.put_inside(members, true);
        auto plan = make_plan(g, members);
        known.put_inside(members, false);
        return plan;
    }

    /// Returns: what is known of a graph of the model; made when it is first asked for.
    [[nodiscard]] cut_facts& facts(id g) {
        if (const auto made = facts_.find(g); made != facts_.end()) {
            return made->second;
        }
        // A part pulls from outside only, so its own shape computations stay its own.
        const auto is_constant = [&](id node) {
            return shared_->depends_on[node] <= dependence::weight && is_apart(node);
        };
        return facts_.emplace(g, cut_facts(model_, contents(), g, is_constant)).first->second;
    }

private:
    enum class mark : std::uint8_t { none, core, clone };

    /// What is found once.
    struct shared_facts {
        shared_facts(const onnx_model& model, std::vector<bool> is_random)
            : contents(model)
            , uncalled(uncalled_functions(model, contents))
            , random(std::move(is_random))
            , depends_on(find_dependence(model, random))
            , exposed(model.value_count(), false) {
            for (id g = 0; g < model.graph_count(); ++g) {
                for (auto value : model.graph(g).outputs) {
                    if (value != no_id) {
                        exposed[value] = true;
                    }
                }
            }
        }

        graph_contents contents;
        std::vector<id> uncalled; // graphs of functions that never run
        std::vector<bool> random; // by node
        std::vector<dependence> depends_on;
        std::vector<bool> exposed; // values that are outputs of a graph
    };

    [[nodiscard]] bool has_wanted_owner(id node) const {
        for (auto o = model_.owner(node); o != no_id; o = model_.owner(o)) {
            if (marks_[o] == mark::core) {
                return true;
            }
        }
        return false;
    }

    [[nodiscard]] bool is_apart(id node) const { return policy_.pulls(shared_->depends_on[node]); }

    void plan_in_graph(id g, std::vector<call_member<id>>& wanted, std::vector<cut_plan>& plans) {
        auto& known = facts(g);
        std::vector<id> members;
        for (const auto& m : wanted) {
            if (known.rank()[m.vertex] != no_id) {
                members.push_back(m.vertex);
            }
        }
        known.put_inside(members, true);
        const auto pulled = pull_in(known, members);
        if (policy_.gaps() == gap_rule::runs) {
            complete_calls(known.view().graph, std::span<const id>(known.rank()), wanted);
            plan_runs(g, wanted, plans);
        } else {
            if (policy_.gaps() == gap_rule::absorb) {
                for (auto v : find_gaps(known.view().graph, known.set, known.stretch(members))) {
                    known.set.inside[v] = true;
                    members.push_back(v);
                }
                std::sort(members.begin(), members.end());
            }
            const auto reentry =
                find_reentry(known.view().graph, known.set, known.stretch(members));
            auto plan = make_plan(g, members);
            if (!reentry.empty()) {
                plan.refusal = cut_refusal::non_convex;
                for (auto v : reentry) {
                    plan.witness.push_back(known.view().nodes[v]);
                }
            }
            plans.push_back(std::move(plan));
        }
        known.put_inside(members, false);
        for (auto v : pulled) {
            known.set.apart[v] = false;
        }
    }

    /// Makes a plan for every convex run of every call.
    void plan_runs(id g, const std::vector<call_member<id>>& wanted, std::vector<cut_plan>& plans) {
        auto& known = facts(g);
        std::map<id, std::vector<id>> by_call;
        for (const auto& m : wanted) {
            if (known.set.inside[m.vertex]) {
                by_call[m.call].push_back(m.vertex);
                known.set.inside[m.vertex] = false;
            }
        }
        for (auto& [call, members] : by_call) {
            std::sort(members.begin(), members.end());
            known.put_inside(members, true);
            const auto stretch = known.stretch(members);
            const auto run = convex_runs(known.view().graph, known.set, stretch);
            std::map<id, std::vector<id>> runs;
            for (auto v : members) {
                if (run[stretch.place(v)] != no_id) {
                    runs[run[stretch.place(v)]].push_back(v);
                }
            }
            if (runs.empty()) {
                plans.push_back(make_plan(g, members));
            }
            known.put_inside(members, false);
            for (const auto& [number, of_run] : runs) {
                known.put_inside(of_run, true);
                plans.push_back(make_plan(g, of_run));
                known.put_inside(of_run, false);
            }
        }
    }

    /// Sets apart what is upstream of the members and pulled in by policy beyond constants.
    [[nodiscard]] std::vector<id> pull_in(cut_facts& known, const std::vector<id>& members) const {
        std::vector<id> pulled;
        if (!policy_.pulls(dependence::shape)) {
            return pulled;
        }
        auto open = members;
        while (!open.empty()) {
            const auto v = open.back();
            open.pop_back();
            for (auto u : known.view().graph.producers(v)) {
                if (known.set.is_outside(u) && is_apart(known.view().nodes[u])) {
                    known.set.apart[u] = true;
                    pulled.push_back(u);
                    open.push_back(u);
                }
            }
        }
        return pulled;
    }

    /// Requires: exactly the members are inside of the set of graph `g`.
    [[nodiscard]] cut_plan make_plan(id g, const std::vector<id>& members) {
        auto& known = facts(g);
        cut_plan plan;
        plan.graph = g;
        // What belongs to its readers elsewhere is all that a module of constants has.
        const bool constant = known.are_apart(members);
        if (constant) {
            known.put_apart(members, false);
        }
        for (auto v : members) {
            if (known.set.is_inside(v)) {
                plan.nodes.push_back(known.view().nodes[v]);
                marks_[plan.nodes.back()] = mark::core;
            }
        }
        ++plan_number_;
        find_outputs(known, plan, constant);
        if (plan.outputs.empty()) {
            plan.refusal = cut_refusal::no_output;
        }
        collect_clones(g, known.set, plan);
        put_in_order(g, plan);
        ++plan_number_;
        find_inputs(g, plan);
        find_functions(plan);
        for (auto node : plan.nodes) {
            marks_[node] = mark::none;
        }
        if (constant) {
            known.put_apart(members, true);
        }
        return plan;
    }

    /// Whether this is the first time that the current list meets a value.
    [[nodiscard]] bool is_first(id value) {
        return std::exchange(seen_[value], plan_number_) != plan_number_;
    }

    /// Other constants are readers of a plan that is `constant`; of others they have copies.
    void find_outputs(const cut_facts& known, cut_plan& plan, bool constant) {
        const auto& graph = known.view().graph;
        for (auto node : plan.nodes) {
            // Of values seen here, the ones that are read outside.
            for (auto [it, last] = out_edges(model_.position(node), graph); it != last; ++it) {
                const auto reader = (*it).target;
                if (constant ? !known.set.inside[reader] : known.set.is_outside(reader)) {
                    seen_[get(value_id, graph, *it)] = plan_number_;
                }
            }
            for (id i = 0; i < model_.output_count(node); ++i) {
                const auto value = model_.first_output(node) + i;
                if (!model_.value_name(value).empty() &&
                    (shared_->exposed[value] || seen_[value] == plan_number_)) {
                    plan.outputs.push_back(value);
                }
            }
        }
    }

    /// Adds what the chosen nodes read from, as far as it is copied in.
    void collect_clones(id g, const vertex_set& set, cut_plan& plan) {
        auto open = plan.nodes;
        while (!open.empty()) {
            const auto node = open.back();
            open.pop_back();
            for_each_read(model_, contents(), node, [&](id value) {
                const auto producer = model_.producer(value);
                if (producer == no_id || marks_[producer] != mark::none ||
                    model_.is_inside(value, node)) {
                    return;
                }
                const bool around = model_.graph_of(producer) != g;
                if (around ? is_apart(producer) : set.apart[model_.position(producer)]) {
                    marks_[producer] = mark::clone;
                    plan.clones.push_back(producer);
                    open.push_back(producer);
                }
            });
        }
        std::sort(plan.clones.begin(), plan.clones.end());
        plan.nodes.insert(plan.nodes.end(), plan.clones.begin(), plan.clones.end());
    }

    /// Nodes of graphs around come first; then file order, unless that puts a reader before what it
    /// reads.
    void put_in_order(id g, cut_plan& plan) {
        const auto& known = facts(g);
        plan.sorted = !known.sorted_already();
        const auto key = [&](id node) {
            const bool here = model_.graph_of(node) == g;
            const auto rank = here && plan.sorted ? known.rank()[model_.position(node)] : node;
            return std::tuple(here, rank, node);
        };
        const auto before = [&](id a, id b) { return key(a) < key(b); };
        if (!std::is_sorted(plan.nodes.begin(), plan.nodes.end(), before)) {
            std::sort(plan.nodes.begin(), plan.nodes.end(), before);
        }
    }

    void find_inputs(id g, cut_plan& plan) {
        for (auto node : plan.nodes) {
            for_each_read(model_, contents(), node, [&](id value) {
                const auto producer = model_.producer(value);
                if ((producer != no_id && marks_[producer] != mark::none) ||
                    model_.is_inside(value, node) || !is_first(value)) {
                    return;
                }
                (model_.is_initializer(value) ? plan.initializers : plan.inputs).push_back(value);
            });
        }
        if (policy_.keeps_unused_initializers()) {
            for (auto value : model_.graph(g).initializers) {
                if (is_first(value)) {
                    plan.initializers.push_back(value);
                }
            }
        }
    }

    void find_functions(cut_plan& plan) const {
        plan.functions = called_functions(model_, contents(), plan.nodes, [&](id node) {
            plan.random = plan.random || shared_->random[node];
        });
    }

    const onnx_model& model_;
    Policy policy_;
    std::shared_ptr<const shared_facts> shared_;
    std::unordered_map<id, cut_facts> facts_; // by graph
    std::vector<mark> marks_;                 // of the plan being made, by node
    std::vector<id> seen_;                    // by value: the list that met it last
    id plan_number_ = 0;
};

} // namespace stemma

#endif // STEMMA_ONNX_CUT_PLANNER_HPP

// <stemma/detail/onnx_fields.hpp>
#ifndef STEMMA_DETAIL_ONNX_FIELDS_HPP
#define STEMMA_DETAIL_ONNX_FIELDS_HPP

/// Field numbers of the messages in onnx.proto3, IR version 13, by message.
namespace stemma::detail::onnx_fields {

struct model {
    enum : std::uint32_t {
        ir_version = 1,
        producer_name = 2,
        producer_version = 3,
        graph = 7,
        opset_import = 8,
        metadata_props = 14,
        training_info = 20,
        functions = 25,
    };
};

struct opset {
    enum : std::uint32_t { domain = 1, version = 2 };
};

struct graph {
    enum : std::uint32_t {
        node = 1,
        name = 2,
        initializer = 5,
        doc_string = 10,
        input = 11,
        output = 12,
        value_info = 13,
        quantization_annotation = 14,
        sparse_initializer = 15,
        metadata_props = 16,
    };
};

struct annotation {
    enum : std::uint32_t { tensor_name = 1, parameters = 2 };
};

struct node {
    enum : std::uint32_t {
        input = 1,
        output = 2,
        name = 3,
        op_type = 4,
        attribute = 5,
        doc_string = 6,
        domain = 7,
        overload = 8,
        metadata_props = 9,
    };
};

struct attribute {
    enum : std::uint32_t {
        name = 1,
        s = 4,
        t = 5,
        g = 6,
        strings = 9,
        graphs = 11,
        doc_string = 13,
        type = 20,
        ref_attr_name = 21,
    };
};

struct tensor {
    enum : std::uint32_t {
        dims = 1,
        data_type = 2,
        float_data = 4,
        int32_data = 5,
        string_data = 6,
        int64_data = 7,
        name = 8,
        raw_data = 9,
        double_data = 10,
        uint64_data = 11,
        external_data = 13,
        data_location = 14,
        metadata_props = 16,
    };
};

struct sparse_tensor {
    enum : std::uint32_t { values = 1, indices = 2, dims = 3 };
};

struct value_info {
    enum : std::uint32_t { name = 1, type = 2, metadata_props = 4 };
};

struct function {
    enum : std::uint32_t {
        name = 1,
        input = 4,
        output = 5,
        attribute = 6,
        node = 7,
        opset_import = 9,
        domain = 10,
        attribute_proto = 11,
        value_info = 12,
        overload = 13,
        metadata_props = 14,
    };
};

struct entry {
    enum : std::uint32_t { key = 1, value = 2 };
};

} // namespace stemma::detail::onnx_fields

#endif // STEMMA_DETAIL_ONNX_FIELDS_HPP

// <stemma/detail/uniform_data.hpp>
#ifndef STEMMA_DETAIL_UNIFORM_DATA_HPP
#define STEMMA_DETAIL_UNIFORM_DATA_HPP

namespace stemma::detail {

/// Whether the data of a tensor may be one number over and over: they repeat every eight bytes,
/// which numbers of one, two, four and eight bytes do. A short tensor always does.
/// Complexity: O(bytes until they differ).
[[nodiscard]] inline bool is_uniform(std::string_view data) noexcept {
    constexpr std::size_t period = 8;
    return !data.empty() && (data.size() <= period || std::memcmp(data.data(), data.data() + period,
                                                                  data.size() - period) == 0);
}

} // namespace stemma::detail

#endif // STEMMA_DETAIL_UNIFORM_DATA_HPP

// <stemma/onnx/name_binder.hpp>
#ifndef STEMMA_ONNX_NAME_BINDER_HPP
#define STEMMA_ONNX_NAME_BINDER_HPP

namespace stemma {

/// Binds the names that nodes of an onnx_model read to the values that carry them.
class name_binder : public onnx_model {
    [[nodiscard]] auto same_name(std::string_view name) const {
        return [this, name](id value) { return value_name(value) == name; };
    }

    [[nodiscard]] auto same_name_in(id g, std::string_view name) const {
        return [this, g, name](id value) {
            return value_graphs_[value] == g && value_name(value) == name;
        };
    }

protected:
    /// So many names further on, the place of a name in its table is asked for.
    static constexpr std::size_t batch = 32;

    /// Returns: what this class knows a name by; to be computed while its bytes are near.
    [[nodiscard]] std::uint64_t hash_of(text_ref name) const noexcept {
        return hash_bytes(text(name));
    }

    /// Makes room for the names of so many values of the main graph.
    void expect_names(std::size_t count) { main_names_.reserve(count); }

    /// Asks the processor to load the place of a name that is about to be looked up.
    void prefetch_name(std::uint64_t hash) const noexcept { main_names_.prefetch(hash); }

    /// A node of graph `g` reads a name: becomes `inputs_[input]`.
    void meet_input(id input, text_ref name, id g) { enqueue(name, input, g, false); }

    /// A node of graph `g` makes a value of a name.
    void meet_result(id value, text_ref name, id g) { enqueue(name, value, g, true); }

    /// Binds what was met and still waits.
    void settle() {
        // Exporters write values before their readers, so that an input of the main graph finds its
        // value at once. In a body the value may still follow that hides one of an outer graph.
        for (const auto& met : std::span(met_).first(met_count_)) {
            if (met.defines) {
                define_result(met.graph, met.name, met.what, met.hash);
                continue;
            }
            const auto found =
                met.graph == 0 ? main_names_.find(met.hash, same_name(text(met.name))) : no_id;
            if (found != no_id) {
                inputs_[met.what] = found;
            } else {
                later_.push_back(met);
            }
        }
        met_count_ = 0;
    }

    /// Adds a value that no node makes.
    id add_value(id g, text_ref name, value_kind kind) {
        value_names_.push_back(name);
        value_graphs_.push_back(g);
        value_kinds_.push_back(kind);
        return static_cast<id>(value_names_.size() - 1);
    }

    /// Gives a value of graph `g` its name, if no other has it.
    /// Returns: the value that has the name now.
    [[nodiscard]] id define(id g, text_ref ref, id value, std::uint64_t hash) {
        // Names of the main graph have a table of their own, so that most of a model needs one
        // look-up; those of bodies and functions share one, keyed by graph and name.
        const auto name = text(ref);
        return g == 0 ? main_names_.insert(hash, value, same_name(name))
                      : nested_names_.insert(hash_mix(hash, g), value, same_name_in(g, name));
    }

    /// Returns: the value that a name means inside graph `g`, or `no_id`.
    [[nodiscard]] id find_visible(id g, text_ref ref, std::uint64_t hash) const {
        const auto name = text(ref);
        while (g != 0) {
            const auto found = nested_names_.find(hash_mix(hash, g), same_name_in(g, name));
            if (found != no_id || graphs_[g].kind == graph_kind::function) {
                return found;
            }
            g = graph_of(graphs_[g].owner);
        }
        return main_names_.find(hash, same_name(name));
    }

    /// Returns: as `find_visible`; a new value where that finds none, `no_id` for the name "".
    [[nodiscard]] id look_up(id g, text_ref name, std::uint64_t hash) {
        if (name.size == 0) {
            return no_id;
        }
        if (const auto found = find_visible(g, name, hash); found != no_id) {
            return found;
        }
        while (graphs_[g].kind == graph_kind::body) {
            g = graph_of(graphs_[g].owner);
        }
        const auto value = add_value(g, name, value_kind::undefined);
        static_cast<void>(define(g, name, value, hash));
        return value;
    }

    /// Takes over the inputs of nodes that another binder met behind all that this one met. Graphs
    /// besides the main one have been numbered from 1 on there, and from `graphs` + 1 on here;
    /// values from 0 on there, and from `values` on here. Nothing of them stays in `part`.
    void append_inputs(name_binder& part, id values, id graphs) {
        const auto first = static_cast<id>(inputs_.size());
        inputs_.reserve(inputs_.size() + part.inputs_.size());
        for (const auto value : std::exchange(part.inputs_, {})) {
            inputs_.push_back(value == no_id ? no_id : value + values);
        }
        later_.reserve(later_.size() + part.later_.size());
        for (auto met : std::exchange(part.later_, {})) {
            met.what += first;
            met.graph += met.graph == 0 ? 0 : graphs;
            later_.push_back(met);
        }
    }

    /// Takes over the names of the last values, which another binder defined. No value stays in
    /// `part`. Requires: those values were added.
    void append_names(name_binder& part) {
        const auto first = static_cast<id>(value_names_.size() - part.value_names_.size());
        main_names_.insert_all(
            part.main_names_, first,
            [&](id known, id added) { return value_name(known) == value_name(added); },
            [&](id known, id added) {
                redefined_.push_back(added);
                replaced_.emplace_back(added, known);
            });
        for (const auto value : part.redefined_) {
            if (part.value_graphs_[value] == 0) {
                redefined_.push_back(first + value);
            }
        }
        // Those of bodies are told apart by the numbers of their graphs, which are others now.
        for (auto value = first; value < value_names_.size(); ++value) {
            if (value_graphs_[value] != 0 && value_names_[value].size > 0) {
                define_result(value_graphs_[value], value_names_[value], value,
                              hash_of(value_names_[value]));
            }
        }
        std::sort(redefined_.begin(), redefined_.end());
        part.main_names_ = {};
        part.value_names_ = {};
        part.value_graphs_ = {};
    }

    /// Binds the inputs whose names were unknown when they were met, by so many threads, after all
    /// values have been defined.
    void bind_later_inputs(std::size_t threads) {
        bind_again();
        for_each_range(later_.size(), threads, [&](std::size_t, std::size_t i, std::size_t end) {
            for (; i < end; ++i) {
                if (i + batch < end) {
                    main_names_.prefetch(later_[i + batch].hash);
                }
                const auto& met = later_[i];
                if (met.graph == 0) {
                    inputs_[met.what] = main_names_.find(met.hash, same_name(text(met.name)));
                }
            }
        });
        // What is left is in bodies, or becomes a value of its own.
        for (const auto& met : later_) {
            if (inputs_[met.what] == no_id) {
                inputs_[met.what] = look_up(met.graph, met.name, met.hash);
            }
        }
        std::vector<met_name>().swap(later_);
    }

    /// Frees the tables. No name can be looked up afterwards.
    void forget_names() {
        main_names_ = {};
        nested_names_ = {};
    }

private:
    /// A name of an input or result of a node that is to be looked up or defined.
    struct met_name {
        std::uint64_t hash = 0;
        text_ref name;
        id what = no_id; // value, or index of the input
        id graph = no_id;
        bool defines = false;
    };

    // Names are hashed when they are met, while their bytes are near, but used a batch later: by
    // then the slots they need have been loaded, all at the same time.
    void enqueue(text_ref name, id what, id g, bool defines) {
        const auto hash = hash_of(name);
        if (g == 0) {
            main_names_.prefetch(hash);
        }
        // Member by member: a whole one is put together in memory first, and is waited for.
        auto& met = met_[met_count_++];
        met.hash = hash;
        met.name = name;
        met.what = what;
        met.graph = g;
        met.defines = defines;
        if (met_count_ == batch) {
            settle();
        }
    }

    void define_result(id g, text_ref name, id value, std::uint64_t hash) {
        if (define(g, name, value, hash) != value) {
            redefined_.push_back(value);
        }
    }

    // Of a name that several parts define, the first counts, which the later ones could not know.
    void bind_again() {
        if (replaced_.empty()) {
            return;
        }
        std::sort(replaced_.begin(), replaced_.end());
        for (auto& value : inputs_) {
            const auto it =
                std::lower_bound(replaced_.begin(), replaced_.end(), std::pair<id, id>(value, 0));
            if (it != replaced_.end() && it->first == value) {
                value = it->second;
            }
        }
    }

    std::array<met_name, batch> met_{};
    std::size_t met_count_ = 0;
    std::vector<met_name> later_;
    std::vector<std::pair<id, id>> replaced_; // values of parts, by the one of their name before
    flat_index main_names_;
    flat_index nested_names_;
};

} // namespace stemma

#endif // STEMMA_ONNX_NAME_BINDER_HPP

// <stemma/onnx/model_tables.hpp>
#ifndef STEMMA_ONNX_MODEL_TABLES_HPP
#define STEMMA_ONNX_MODEL_TABLES_HPP

namespace stemma {

/// Fills the tables of an onnx_model: a reader reports what it meets, in file order, and `finish`
/// binds their names. Parts of a file can be read apart and appended.
class model_tables : public name_binder {
    [[nodiscard]] static std::uint64_t operator_hash(std::string_view type, std::string_view domain,
                                                     std::string_view overload) noexcept {
        // Nearly always there is only a type.
        const bool plain = domain.empty() && overload.empty();
        return hash_bytes(type, plain ? 0 : hash_bytes(domain, hash_bytes(overload)));
    }

    [[nodiscard]] auto same_operator(std::string_view type, std::string_view domain,
                                     std::string_view overload) const {
        return [this, type, domain, overload](id known) {
            const auto& op = operators_[known];
            return text(op.type) == type && text(op.domain) == domain &&
                   text(op.overload) == overload;
        };
    }

protected:
    id add_graph(graph_kind kind) {
        graphs_.emplace_back().kind = kind;
        return static_cast<id>(graphs_.size() - 1);
    }

    graph_record& graph_at(id g) { return graphs_[g]; }

    id add_operator(std::string_view type, std::string_view domain, std::string_view overload,
                    const operator_record& record) {
        const auto next = static_cast<id>(operators_.size());
        const auto found = operator_index_.insert(operator_hash(type, domain, overload), next,
                                                  same_operator(type, domain, overload));
        if (found == next) {
            operators_.push_back(record);
        }
        return found;
    }

    /// Makes room for so many nodes in all, and for what nodes have on average. Growing step by
    /// step would write each table several times.
    void expect_nodes(std::size_t count) {
        const auto known = std::max<std::size_t>(nodes_.size(), 1);
        const auto make_room = [&](auto& table) { table.reserve(table.size() * count / known); };
        make_room(nodes_);
        make_room(inputs_);
        make_room(value_names_);
        make_room(value_graphs_);
        make_room(producers_);
        expect_names(producers_.size() * count / known);
    }

    /// Numbers a node; the nodes of its bodies must have been added before.
    id add_node(const node_record& node, std::span<const text_ref> inputs,
                std::span<const text_ref> outputs) {
        const auto added = static_cast<id>(nodes_.size());
        nodes_.push_back(node);
        nodes_.back().position = graphs_[containers_[node.container].graph].node_count++;
        nodes_.back().first_input = static_cast<id>(inputs_.size());
        nodes_.back().first_output = static_cast<id>(value_names_.size());
        const auto g = containers_[node.container].graph;
        for (const auto name : inputs) {
            inputs_.push_back(no_id);
            if (name.size > 0) {
                meet_input(static_cast<id>(inputs_.size() - 1), name, g);
            }
        }
        for (const auto name : outputs) {
            value_names_.push_back(name);
            value_graphs_.push_back(g);
            producers_.push_back(added);
            if (name.size > 0) {
                meet_result(static_cast<id>(value_names_.size() - 1), name, g);
            }
        }
        return added;
    }

    /// By how much the numbers of a part rise when it becomes the end of a whole.
    struct part_offsets {
        id graph = 0;                ///< graphs besides the main one
        id container = 0;            ///< containers besides that of the main graph, which is `main`
        id main = 0;                 ///< the whole's container of the main graph
        id node = 0;                 ///< nodes
        id position = 0;             ///< nodes of the main graph
        id input = 0;                ///< inputs of nodes
        id value = 0;                ///< values
        id named = 0;                ///< what `add_graph_input` and the like returned
        std::vector<id> operators{}; ///< the number of each in the whole

        /// Returns: the number that a graph has in the whole.
        [[nodiscard]] id graph_of(id g) const noexcept { return g == 0 ? 0 : g + graph; }
        /// Returns: the number that a container has in the whole; `no_id` stays.
        [[nodiscard]] id container_of(id c) const noexcept {
            return c == 0 ? main : c == no_id ? no_id : c + container;
        }
        /// Returns: the number that a node has in the whole; `no_id` stays.
        [[nodiscard]] id node_of(id v) const noexcept { return v == no_id ? no_id : v + node; }
    };

    /// Takes over what other readers met in the main graph, one behind the other, behind all that
    /// this one met, by so many threads. Graph 0 and container 0 of a part are the main graph and
    /// its container `main`. Calls `f(part, offsets)` for every part, in order.
    /// Complexity: O(what the parts hold) expected.
    template <class Part, class Function>
    void append(std::span<Part* const> parts, id main, std::size_t threads, Function f) {
        settle();
        part_offsets next{graph_count() - 1,
                          static_cast<id>(containers_.size()) - 1,
                          main,
                          node_count(),
                          graphs_[0].node_count,
                          static_cast<id>(inputs_.size()),
                          value_count(),
                          static_cast<id>(named_.size())};
        std::vector<part_offsets> offsets;
        for (model_tables* part : parts) {
            part->settle();
            offsets.push_back(next);
            add_operators(*part, offsets.back());
            next.graph += part->graph_count() - 1;
            next.container += static_cast<id>(part->containers_.size()) - 1;
            next.node += part->node_count();
            next.position += part->graphs_[0].node_count;
            next.input += static_cast<id>(part->inputs_.size());
            next.value += part->value_count();
            next.named += static_cast<id>(part->named_.size());
        }
        value_names_.reserve(std::size_t{next.value} + next.named);
        value_graphs_.reserve(std::size_t{next.value} + next.named);
        producers_.reserve(next.value);
        const auto for_each = [&](auto append) {
            for (std::size_t i = 0; i < parts.size(); ++i) {
                append(*parts[i], offsets[i]);
            }
        };
        // What was taken over goes at once, and makes room for what comes.
        const auto values_and_names = [&] {
            for_each([&](model_tables& part, const part_offsets& offset) {
                append_values(part, offset);
                append_names(part);
            });
        };
        const auto inputs = [&] {
            for_each([&](model_tables& part, const part_offsets& offset) {
                append_inputs(part, offset.value, offset.graph);
            });
        };
        const auto nodes_and_others = [&] {
            nodes_.reserve(next.node);
            for_each([&](model_tables& part, const part_offsets& offset) {
                append_nodes(part, offset);
            });
            named_.reserve(next.named);
            for_each([&](Part& part, const part_offsets& offset) {
                append_graphs(part, offset);
                f(part, offset);
            });
        };
        run_tasks(threads, {values_and_names, inputs, nodes_and_others});
    }

    /// Each returns where `finish` says which value it is.
    id add_graph_input(id g, text_ref name) { return add_named(g, name, role::input); }
    id add_graph_output(id g, text_ref name) { return add_named(g, name, role::output); }
    id add_initializer(id g, text_ref name, bool sparse) {
        return add_named(g, name, sparse ? role::sparse_initializer : role::initializer);
    }
    /// Something else that speaks of a value by name.
    id add_mention(id g, text_ref name) { return add_named(g, name, role::mention); }

    /// Binds all names, by so many threads. Nothing may be added afterwards.
    /// Returns: the value of every input, output, initializer and mention that was added, in order;
    /// `no_id` for a mention of nothing that the graph defines.
    /// Complexity: O(nodes + values + names) expected.
    std::vector<id> finish(std::size_t threads = 1) {
        settle();
        result_count_ = static_cast<id>(value_names_.size());
        value_kinds_.reserve(result_count_ + named_.size());
        value_kinds_.assign(result_count_, value_kind::result);
        expect_names(result_count_ + named_.size());
        std::vector<id> bound(named_.size(), no_id);
        define_named(bound);
        bind_later_inputs(threads);
        for (std::size_t i = 0; i < named_.size(); ++i) {
            const auto& entry = named_[i];
            prefetch_named(i + batch, role::mention);
            if (entry.what == role::output) {
                bound[i] = look_up(entry.graph, entry.name, entry.hash);
                graphs_[entry.graph].outputs.push_back(bound[i]);
            } else if (entry.what == role::mention && entry.name.size > 0) {
                const auto found = find_visible(entry.graph, entry.name, entry.hash);
                bound[i] = found != no_id && value_graphs_[found] == entry.graph ? found : no_id;
            }
        }
        bind_calls();
        std::vector<named_value>().swap(named_);
        forget_names();
        return bound;
    }

private:
    enum class role : std::uint8_t { input, output, initializer, sparse_initializer, mention };

    struct named_value {
        id graph;
        text_ref name;
        role what;
        std::uint64_t hash; // of the name
    };

    id add_named(id g, text_ref name, role what) {
        named_.push_back({g, name, what, hash_of(name)});
        return static_cast<id>(named_.size() - 1);
    }

    /// The operators of a part are few, and their numbers are needed for its nodes.
    void add_operators(const model_tables& part, part_offsets& offset) {
        for (const auto& record : part.operators_) {
            offset.operators.push_back(add_operator(text(record.type), text(record.domain),
                                                    text(record.overload), record));
        }
    }

    void append_nodes(model_tables& part, const part_offsets& offset) {
        for (auto node : std::exchange(part.nodes_, {})) {
            node.op = offset.operators[node.op];
            node.position += part.containers_[node.container].graph == 0 ? offset.position : 0;
            node.container = offset.container_of(node.container);
            node.first_input += offset.input;
            node.first_output += offset.value;
            nodes_.push_back(node);
        }
    }

    void append_values(const model_tables& part, const part_offsets& offset) {
        value_names_.insert(value_names_.end(), part.value_names_.begin(), part.value_names_.end());
        for (std::size_t value = 0; value < part.value_names_.size(); ++value) {
            value_graphs_.push_back(offset.graph_of(part.value_graphs_[value]));
            producers_.push_back(part.producers_[value] + offset.node);
        }
    }

    void append_graphs(const model_tables& part, const part_offsets& offset) {
        graphs_[0].node_count += part.graphs_[0].node_count;
        for (std::size_t g = 1; g < part.graphs_.size(); ++g) {
            graphs_.push_back(part.graphs_[g]);
            graphs_.back().owner = offset.node_of(graphs_.back().owner);
        }
        for (std::size_t c = 1; c < part.containers_.size(); ++c) {
            auto container = part.containers_[c];
            container.graph = offset.graph_of(container.graph);
            container.parent = offset.container_of(container.parent);
            container.owner = offset.node_of(container.owner);
            container.ends_before += offset.node;
            containers_.push_back(container);
        }
        for (auto entry : part.named_) {
            entry.graph = offset.graph_of(entry.graph);
            named_.push_back(entry);
        }
    }

    void define_named(std::vector<id>& bound) {
        // An initializer may also be listed as an input; it counts as the former.
        for (const auto what : {role::initializer, role::sparse_initializer, role::input}) {
            for (std::size_t i = 0; i < named_.size(); ++i) {
                prefetch_named(i + batch, what);
                if (named_[i].what == what) {
                    bound[i] = define_named(named_[i]);
                }
            }
        }
    }

    void prefetch_named(std::size_t i, role what) const noexcept {
        if (i < named_.size() && named_[i].what == what) {
            prefetch_name(named_[i].hash);
        }
    }

    id define_named(const named_value& entry) {
        auto& graph = graphs_[entry.graph];
        const auto kind = entry.what == role::initializer          ? value_kind::initializer
                          : entry.what == role::sparse_initializer ? value_kind::sparse_initializer
                          : graph.kind == graph_kind::main         ? value_kind::input
                                                                   : value_kind::formal;
        const auto added = add_value(entry.graph, entry.name, kind);
        auto value = added;
        if (entry.name.size > 0) {
            value = define(entry.graph, entry.name, added, entry.hash);
            if (value != added && (entry.what != role::input || !is_initializer(value))) {
                redefined_.push_back(added);
                value = added;
            }
        }
        if (value != added) {
            value_names_.pop_back();
            value_graphs_.pop_back();
            value_kinds_.pop_back();
        }
        (entry.what == role::input ? graph.inputs : graph.initializers).push_back(value);
        return value;
    }

    void bind_calls() {
        for (id f = 0; f < functions_.size(); ++f) {
            const auto name = text(functions_[f].name);
            const auto domain = text(functions_[f].domain);
            const auto overload = text(functions_[f].overload);
            const auto op = operator_index_.find(operator_hash(name, domain, overload),
                                                 same_operator(name, domain, overload));
            if (op != no_id && operators_[op].callee == no_id) {
                operators_[op].callee = f;
            }
        }
    }

    std::vector<named_value> named_;
    flat_index operator_index_;
};

} // namespace stemma

#endif // STEMMA_ONNX_MODEL_TABLES_HPP

// <stemma/onnx/wire/graph_runs.hpp>
#ifndef STEMMA_ONNX_WIRE_GRAPH_RUNS_HPP
#define STEMMA_ONNX_WIRE_GRAPH_RUNS_HPP

namespace stemma {

/// Some fields of a graph that follow each other: bytes [begin, end) of the file.
struct graph_run {
    std::uint32_t begin = 0; ///< of the first field
    std::uint32_t end = 0;   ///< behind the last
};

namespace detail {

/// A field of bytes, as far as that can be told without reading on.
struct guessed_field {
    std::uint32_t number = 0; // 0 for what is none
    std::uint32_t begin = 0;  // of the content
    std::uint32_t end = 0;
};

/// Returns: the field of bytes with a low number at a position before `end`, if there may be one.
[[nodiscard]] inline guessed_field guess_field(std::string_view bytes, std::uint32_t at,
                                               std::uint32_t end) noexcept {
    const std::uint32_t tag = static_cast<unsigned char>(bytes[at]);
    if (tag >= 0x80U || (tag & 7U) != 2) {
        return {};
    }
    std::uint64_t size = 0;
    unsigned char byte = 0x80;
    for (unsigned shift = 0; byte >= 0x80U && shift < 35 && ++at < end; shift += 7) {
        byte = static_cast<unsigned char>(bytes[at]);
        size |= std::uint64_t{byte & 0x7fU} << shift;
    }
    if (byte >= 0x80U || size > end - at - 1) {
        return {};
    }
    return {tag >> 3U, at + 1, at + 1 + static_cast<std::uint32_t>(size)};
}

/// Whether a field reads like a node, tensor or value of a graph. Complexity: O(fields in it).
[[nodiscard]] inline bool looks_like_graph_field(std::string_view bytes,
                                                 guessed_field field) noexcept {
    using at_graph = onnx_fields::graph;
    const auto first = field.begin < field.end ? static_cast<unsigned char>(bytes[field.begin]) : 0;
    switch (field.number) {
    case at_graph::initializer: {
        constexpr unsigned dims = 0x08;
        constexpr unsigned data_type = 0x10;
        return first == dims || first == data_type;
    }
    case at_graph::node:
    case at_graph::input:
    case at_graph::output:
    case at_graph::value_info: {
        // All that these hold are texts and messages.
        auto at = field.begin;
        while (at < field.end) {
            const auto inner = guess_field(bytes, at, field.end);
            if (inner.number == 0 || inner.number > onnx_fields::node::metadata_props) {
                return false;
            }
            at = inner.end;
        }
        return field.begin < field.end;
    }
    default:
        return false;
    }
}

/// Returns: where a field of a graph begins behind a position that some of them seem to follow, or
/// 0. The first ones may be parts of another field, which ends where its last part does.
/// Complexity: constant but for the size of those fields.
[[nodiscard]] inline std::uint32_t guess_begin(std::string_view bytes, std::uint32_t at,
                                               std::uint32_t end) noexcept {
    constexpr int convincing = 8;
    for (int i = 0; i < convincing; ++i) {
        const auto field = at < end ? guess_field(bytes, at, end) : guessed_field{};
        if (!looks_like_graph_field(bytes, field)) {
            return 0;
        }
        at = field.end;
    }
    return at < end ? at : 0;
}

} // namespace detail

/// Divides the fields of a graph into runs for as many threads, of about the same size.
///
/// Where fields begin is guessed from some places in the file: stepping from field to field would
/// take half the time of reading them. So a run is one only if reading those before it ends where
/// it begins, which it does not if the guess was a field of a body. Tensor data do not look like
/// fields, so that runs lie where structure is.
///
/// Requires: [begin, end) is the content of a GraphProto in `bytes`.
/// Returns: at least one run; together they are [begin, end).
/// Complexity: O(threads) beside a constant.
[[nodiscard]] inline std::vector<graph_run> guess_runs(std::string_view bytes, std::uint32_t begin,
                                                       std::uint32_t end, thread_limit threads) {
    constexpr std::size_t places = 128;
    constexpr std::uint32_t window = 1U << 14U;
    std::vector<graph_run> runs{{begin, end}};
    const auto count = threads.parts(end - begin);
    if (count == 1) {
        return runs;
    }
    std::vector<std::uint32_t> found;
    for (std::size_t i = 1; i < places; ++i) {
        const auto first = begin + static_cast<std::uint32_t>((end - begin) / places * i);
        const auto last = std::min(first + window, end);
        for (auto at = first; at < last; ++at) {
            if (const auto guess = detail::guess_begin(bytes, at, end); guess != 0) {
                found.push_back(guess);
                break;
            }
        }
    }
    for (std::size_t i = 1; i < count; ++i) {
        const auto place = found.size() * i / count;
        if (place < found.size() && found[place] > runs.back().begin) {
            runs.back().end = found[place];
            runs.push_back({found[place], end});
        }
    }
    return runs;
}

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_GRAPH_RUNS_HPP

// <stemma/onnx/wire/wire_reader.hpp>
#ifndef STEMMA_ONNX_WIRE_WIRE_READER_HPP
#define STEMMA_ONNX_WIRE_WIRE_READER_HPP

namespace stemma {

namespace detail {

/// Returns: how many bytes a varint takes in minimal form.
[[nodiscard]] constexpr std::size_t varint_size(std::uint64_t value) noexcept {
    return (static_cast<std::size_t>(std::bit_width(value | 1U)) + 6) / 7;
}

/// Returns: where the length in front of a message's content starts; it ends where that begins.
[[nodiscard]] inline std::uint32_t length_position(const char* base,
                                                   std::uint32_t content) noexcept {
    auto at = content - 1;
    while (at > 0 && static_cast<unsigned char>(base[at - 1]) >= 0x80U) {
        --at;
    }
    return at;
}

} // namespace detail

/// How a field is written, see "Encoding" in the Protocol Buffers documentation.
enum class wire_type : std::uint8_t {
    varint = 0,    ///< a number of one to ten bytes
    fixed64 = 1,   ///< eight bytes
    bytes = 2,     ///< a length and so many bytes: text, message, packed numbers
    group = 3,     ///< fields up to an `end_group` of the same number
    end_group = 4, ///< is never handed out as a field
    fixed32 = 5,   ///< four bytes
};

/// One field of a message: where it stands and what it holds.
struct wire_field {
    std::uint32_t number = 0;           ///< in the schema
    wire_type type = wire_type::varint; ///< how it is written, which the schema has no say in
    std::uint32_t begin = 0;            ///< of the tag
    std::uint32_t content = 0; ///< of the content: behind the tag, and behind the length of bytes
    std::uint64_t value = 0;   ///< of a varint; keeps `end` apart from `content`, which GCC would
                               ///< else load as one right after they were stored as two, and wait
    std::uint32_t end = 0;     ///< behind the field

    /// Whether it is the field of a number and is written as expected.
    [[nodiscard]] bool is(std::uint32_t wanted, wire_type how) const noexcept {
        return number == wanted && type == how;
    }

    /// Whether it is the field of a number and holds bytes: a text, a message, packed numbers.
    [[nodiscard]] bool is_bytes(std::uint32_t wanted) const noexcept {
        return is(wanted, wire_type::bytes);
    }

    /// Returns: bytes of the content.
    [[nodiscard]] std::uint32_t size() const noexcept { return end - content; }
};

/// Steps through the fields of one message without decoding what they hold.
///
/// Accepts what protobuf's own parser accepts: padded varints, unknown fields, groups.
/// Positions are offsets from the start of the file.
class wire_reader {
public:
    /// Reads the message at [begin, end) of a file; `file` is its name in errors.
    wire_reader(const char* base, std::uint32_t begin, std::uint32_t end, std::string_view file)
        : base_(reinterpret_cast<const unsigned char*>(base)), at_(begin), end_(end), file_(file) {}

    /// Returns: whether there was a field.
    /// Throws: `error` of `error_code::malformed` for bytes that are no message.
    [[nodiscard, gnu::always_inline]] bool next(wire_field& field) {
        // Inlined, as fields go through memory otherwise: a twentieth of the time of a scan.
        // Nearly all fields are short bytes with a low number: two bytes say it all.
        if (at_ < end_ && end_ - at_ >= 2) {
            const std::uint32_t tag = base_[at_];
            const std::uint32_t size = base_[at_ + 1];
            if ((tag & 0x87U) == 2 && tag > 7 && size < 0x80U && size <= end_ - at_ - 2) {
                field.number = tag >> 3U;
                field.type = wire_type::bytes;
                field.begin = at_;
                field.content = at_ + 2;
                at_ += 2 + size;
                field.end = at_;
                return true;
            }
        }
        return next_of_any_kind(field);
    }

    /// Returns: the content of a field of bytes; valid as long as the file.
    [[nodiscard]] std::string_view text(const wire_field& field) const noexcept {
        return {reinterpret_cast<const char*>(base_) + field.content, field.size()};
    }

    /// Returns: a field as it stands, tag and all.
    [[nodiscard]] std::string_view whole(const wire_field& field) const noexcept {
        return {reinterpret_cast<const char*>(base_) + field.begin, field.end - field.begin};
    }

    /// Returns: a reader of the message that a field of bytes holds.
    [[nodiscard]] wire_reader inner(const wire_field& field) const noexcept {
        return {reinterpret_cast<const char*>(base_), field.content, field.end, file_};
    }

    /// Returns: where the next field begins.
    [[nodiscard]] std::uint32_t position() const noexcept { return at_; }

    /// Throws: always, `error` of `malformed` that names file and position.
    [[noreturn]] void fail(std::uint32_t where, std::string_view reason) const {
        STEMMA_THROW(error(error_code::malformed, file_, "byte " + std::to_string(where), reason));
    }

private:
    [[nodiscard]] bool next_of_any_kind(wire_field& field) {
        if (at_ >= end_) {
            return false;
        }
        field.begin = at_;
        read_tag(field);
        switch (field.type) {
        case wire_type::varint:
            field.content = at_;
            field.value = varint();
            break;
        case wire_type::bytes: {
            const auto size = varint();
            field.content = at_;
            if (size > end_ - at_) {
                fail(field.begin, "a field reaches beyond the end of its message");
            }
            at_ += static_cast<std::uint32_t>(size);
            break;
        }
        case wire_type::fixed64:
            skip_fixed(field, 8);
            break;
        case wire_type::fixed32:
            skip_fixed(field, 4);
            break;
        case wire_type::group:
            field.content = at_;
            skip_group(field.number);
            break;
        case wire_type::end_group:
            fail(field.begin, "a group ends that did not begin");
        }
        field.end = at_;
        return true;
    }

    void read_tag(wire_field& field) {
        // As in protobuf's parser: of a tag of up to five bytes, 32 bits count.
        const auto tag = static_cast<std::uint32_t>(varint());
        if (at_ - field.begin > 5 || (tag >> 3U) == 0) {
            fail(field.begin, "not a field of a protobuf message");
        }
        const auto type = tag & 7U;
        if (type > 5) {
            fail(field.begin, "not a wire type of protobuf");
        }
        field.number = tag >> 3U;
        field.type = static_cast<wire_type>(type);
    }

    [[nodiscard]] std::uint64_t varint() {
        if (at_ < end_ && base_[at_] < 0x80U) {
            return base_[at_++];
        }
        const auto begin = at_;
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 70 && at_ < end_; shift += 7) {
            const std::uint64_t byte = base_[at_++];
            value |= shift < 64 ? (byte & 0x7fU) << shift : 0;
            if (byte < 0x80U) {
                return value;
            }
        }
        fail(begin, at_ < end_ ? "a number of more than ten bytes" : "the file ends in a number");
    }

    void skip_fixed(wire_field& field, std::uint32_t size) {
        field.content = at_;
        if (end_ - at_ < size) {
            fail(field.begin, "a field reaches beyond the end of its message");
        }
        at_ += size;
    }

    // Groups nest; a counter would accept a wrong end, so the open ones are kept on a small stack.
    void skip_group(std::uint32_t number) {
        constexpr std::size_t max_depth = 100;
        std::uint32_t open[max_depth] = {number};
        std::size_t depth = 1;
        while (depth > 0) {
            if (at_ >= end_) {
                fail(at_, "the message ends in a group");
            }
            wire_field inside;
            inside.begin = at_;
            read_tag(inside);
            if (inside.type == wire_type::group) {
                if (depth == max_depth) {
                    fail(inside.begin, "groups nested deeper than 100");
                }
                open[depth++] = inside.number;
            } else if (inside.type == wire_type::end_group) {
                if (open[--depth] != inside.number) {
                    fail(inside.begin, "a group ends that did not begin");
                }
            } else {
                at_ = inside.begin;
                static_cast<void>(next(inside));
            }
        }
    }

    const unsigned char* base_;
    std::uint32_t at_;
    std::uint32_t end_;
    std::string_view file_;
};

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_WIRE_READER_HPP

// <stemma/onnx/wire/wire_model.hpp>
#ifndef STEMMA_ONNX_WIRE_WIRE_MODEL_HPP
#define STEMMA_ONNX_WIRE_WIRE_MODEL_HPP

namespace stemma {

/// A message inside the file: the content lies in [begin, begin + size), behind tag and length.
struct message_ref {
    std::uint32_t begin = 0; ///< bytes from the start of the file
    std::uint32_t size = 0;  ///< bytes of the content
    id container = no_id;    ///< the message around it
};

/// A field of a graph that is neither a node nor a tensor, and declares no value.
struct graph_field {
    wire_field field; ///< where it stands
    id graph = no_id; ///< number of the graph
};

/// An initializer's message, or that of the values of a sparse one.
struct tensor_ref {
    message_ref message; ///< of the values, for a sparse one
    id graph = no_id;    ///< number of the graph it is listed in
    text_ref name;       ///< "" where it is not written
    id value = no_id;    ///< the one that it initializes
    bool sparse = false; ///< written as a SparseTensorProto
};

/// A ValueInfoProto: input, output or value_info of a graph or function.
struct value_info_ref {
    message_ref message;     ///< where it stands
    id graph = no_id;        ///< number of the graph it is listed in
    text_ref name;           ///< of the value
    id value = no_id;        ///< `no_id` when the graph defines none of this name
    std::uint32_t field = 0; ///< number of the field in the graph
};

/// The structure of an ONNX file, read from its bytes in one pass. Tensor data is not touched.
///
/// Reads what protobuf's own parser would make of the bytes, newer fields included: fields in any
/// order, repeated ones merged, unknown ones passed over. `training_info` is left alone.
class wire_model : public model_tables {
public:
    /// Requires: `bytes` outlives the model. `file` names it in errors.
    /// Throws: `error` when the bytes are no model (`malformed`), or are 4 GiB or more, or nest
    /// bodies
    ///   deeper than protobuf allows (`unsupported`).
    /// Complexity: O(bytes that are not tensor data).
    explicit wire_model(std::string_view bytes, std::string file = "model",
                        thread_limit threads = {})
        : bytes_(bytes), file_(std::move(file)) {
        if (bytes.size() > 0xffff'ffffU) {
            STEMMA_THROW(error(error_code::unsupported, file_, "",
                               "larger than 4 GiB; protobuf itself ends at 2 GiB"));
        }
        base_ = bytes.data();
        if (bytes.empty()) {
            STEMMA_THROW(error(error_code::malformed, file_, "", "the file is empty"));
        }
        add_graph(graph_kind::main);
        const auto bound = finish(scan_model(threads));
        for (auto& tensor : tensors_) {
            tensor.value = bound[tensor.value];
        }
        for (auto& info : value_infos_) {
            info.value = bound[info.value];
        }
    }

    /// As they were given; valid as long as the file.
    [[nodiscard]] std::string_view bytes() const noexcept { return bytes_; }

    /// Returns: the name that was given, for messages.
    [[nodiscard]] const std::string& file() const noexcept { return file_; }

    /// Returns: a reader of the whole file.
    [[nodiscard]] wire_reader reader() const noexcept {
        return {base_, 0, static_cast<std::uint32_t>(bytes_.size()), file_};
    }

    /// Returns: a reader of the content of one message of the file.
    [[nodiscard]] wire_reader reader(message_ref message) const noexcept {
        return {base_, message.begin, message.begin + message.size, file_};
    }

    /// Returns: where the message of a node is.
    [[nodiscard]] message_ref message(id node) const noexcept {
        return {nodes_[node].begin, nodes_[node].size, nodes_[node].container};
    }

    /// In file order, over all graphs.
    [[nodiscard]] std::span<const tensor_ref> tensors() const noexcept { return tensors_; }

    /// In file order, over all graphs.
    [[nodiscard]] std::span<const value_info_ref> value_infos() const noexcept {
        return value_infos_;
    }
    /// The `metadata_props` entries of the model itself.
    [[nodiscard]] std::span<const message_ref> model_metadata() const noexcept {
        return model_metadata_;
    }

    /// Returns: how many bytes the length in front of a node, a tensor or a value info takes.
    [[nodiscard]] std::uint32_t length_size(message_ref message) const noexcept {
        // Looking back would touch the bytes of the message once more.
        return padding_ ? message.begin - detail::length_position(base_, message.begin)
                        : static_cast<std::uint32_t>(detail::varint_size(message.size));
    }

    /// Whether a node has a field that may hold metadata, a doc_string, or one of our attributes.
    [[nodiscard]] bool may_hold_tags(id node) const noexcept { return holds_text_[node] != 0; }

    /// Whether a node has entries in `metadata_props`.
    [[nodiscard]] bool has_metadata(id node) const noexcept {
        return (holds_text_[node] & holds_metadata) != 0;
    }

    /// Whether an initializer has entries in `metadata_props`. Requires: it is one of `tensors`.
    /// Complexity: O(log initializers that have some).
    [[nodiscard]] bool has_metadata(const tensor_ref& tensor) const noexcept {
        return std::binary_search(described_tensors_.begin(), described_tensors_.end(),
                                  static_cast<id>(&tensor - tensors_.data()));
    }

    /// Whether a value info has entries in `metadata_props`. Requires: it is one of `value_infos`.
    /// Complexity: O(log value infos that have some).
    [[nodiscard]] bool has_metadata(const value_info_ref& info) const noexcept {
        return std::binary_search(described_infos_.begin(), described_infos_.end(),
                                  static_cast<id>(&info - value_infos_.data()));
    }

    using onnx_model::container_record;

    /// Name, docs, metadata and whatever else graphs say beside nodes, values and tensors, in file
    /// order.
    [[nodiscard]] std::span<const graph_field> graph_fields() const noexcept {
        return graph_fields_;
    }

    /// Messages that hold nodes, or hold one that does, in the order in which they begin.
    [[nodiscard]] std::span<const container_record> containers() const noexcept {
        return containers_;
    }

    /// Calls `f(key, value)` for every metadata entry of the model itself, in file order.
    /// Complexity: O(entries).
    template <class Function>
    void for_each_model_metadata(Function f) const {
        for (const auto& entry : model_metadata_) {
            const wire_field field{
                .type = wire_type::bytes, .content = entry.begin, .end = entry.begin + entry.size};
            const auto [key, value] = read_entry(reader(entry), field);
            f(key, value);
        }
    }

    /// Calls `f(key, value)` for every metadata entry of a node, in file order.
    /// Complexity: O(fields of the node).
    template <class Function>
    void for_each_metadata(id node, Function&& f) const {
        if (!has_metadata(node)) {
            return;
        }
        auto fields = reader(message(node));
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(detail::onnx_fields::node::metadata_props)) {
                const auto [key, value] = read_entry(fields, field);
                f(key, value);
            }
        }
    }

    /// Calls `f(value, key, text)` for every metadata entry of an initializer or value info.
    /// Complexity: O(fields of initializers and value infos).
    template <class Function>
    void for_each_value_metadata(Function f) const {
        const auto read = [&](message_ref message, id value, std::uint32_t metadata_field) {
            auto fields = reader(message);
            for (wire_field field; value != no_id && fields.next(field);) {
                if (field.is_bytes(metadata_field)) {
                    const auto [key, text] = read_entry(fields, field);
                    f(value, key, text);
                }
            }
        };
        for (auto i : described_tensors_) {
            read(tensors_[i].message, tensors_[i].value,
                 detail::onnx_fields::tensor::metadata_props);
        }
        for (auto i : described_infos_) {
            read(value_infos_[i].message, value_infos_[i].value,
                 detail::onnx_fields::value_info::metadata_props);
        }
    }

    /// Returns: by value, which of those asked for are initializers that hold the same number in
    /// every element, of a fixed size and in this file.
    /// Complexity: O(initializers + data of those asked for).
    [[nodiscard]] std::vector<bool> find_uniform(const std::vector<bool>& asked) const {
        std::vector<bool> uniform(asked.size(), false);
        for (const auto& tensor : tensors_) {
            if (!asked[tensor.value] || tensor.sparse) {
                continue;
            }
            auto fields = reader(tensor.message);
            for (wire_field field; fields.next(field);) {
                const bool holds_data =
                    field.is_bytes(at_tensor::raw_data) || field.is_bytes(at_tensor::float_data);
                if (holds_data && detail::is_uniform(fields.text(field))) {
                    uniform[tensor.value] = true;
                }
            }
        }
        return uniform;
    }

    /// Returns: key and value of a StringStringEntryProto. Complexity: O(fields).
    [[nodiscard]] static std::pair<std::string_view, std::string_view>
    read_entry(const wire_reader& around, const wire_field& field) {
        std::pair<std::string_view, std::string_view> entry;
        auto fields = around.inner(field);
        for (wire_field inside; fields.next(inside);) {
            if (inside.is_bytes(detail::onnx_fields::entry::key)) {
                entry.first = fields.text(inside);
            } else if (inside.is_bytes(detail::onnx_fields::entry::value)) {
                entry.second = fields.text(inside);
            }
        }
        return entry;
    }

private:
    using at_model = detail::onnx_fields::model;
    using at_opset = detail::onnx_fields::opset;
    using at_graph = detail::onnx_fields::graph;
    using at_node = detail::onnx_fields::node;
    using at_attribute = detail::onnx_fields::attribute;
    using at_tensor = detail::onnx_fields::tensor;
    using at_function = detail::onnx_fields::function;

    static constexpr std::uint8_t holds_metadata = 1;
    static constexpr std::uint8_t holds_doc_string = 2;
    static constexpr std::uint8_t holds_our_attribute = 4;

    // What a node needs to remember while its bodies are read.
    struct node_frame {
        std::vector<text_ref> inputs;
        std::vector<text_ref> outputs;
        std::vector<wire_field> attributes; // those that hold graphs
    };

    // Protobuf gives up behind 100 nested messages: those of 33 bodies, each with the node and the
    // attribute around it, and the main graph. The innermost may have no nodes then.
    static constexpr std::size_t max_nesting = 33;

    [[nodiscard]] static text_ref ref(const wire_field& field) noexcept {
        return {field.content, field.size()};
    }

    void note_padding(const wire_field& field) noexcept {
        padding_ |= field.content - field.begin != 1 + detail::varint_size(field.size());
    }

    // Some fields of the main graph, read for the whole, which then takes over what was found.
    // `end` is where the last of them ends.
    wire_model(const wire_model& whole, const wire_field& graph, const graph_run& run,
               std::uint32_t& end)
        : bytes_(whole.bytes_), file_(whole.file_) {
        base_ = whole.base_;
        add_graph(graph_kind::main);
        end = scan_graph_fields(run, run, begin_container(graph, 0, no_id));
    }

    /// Returns: by how many threads the main graph was read.
    std::size_t scan_model(thread_limit threads) {
        auto fields = reader();
        bool has_graph = false;
        std::size_t used = 1;
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(at_model::graph)) {
                has_graph = true;
                used = std::max(used, scan_main_graph(field, threads));
            } else if (field.is_bytes(at_model::functions)) {
                scan_function(fields, field);
            } else if (field.is_bytes(at_model::opset_import)) {
                scan_opset(fields.inner(field));
            } else if (field.is(at_model::ir_version, wire_type::varint)) {
                ir_version_ = static_cast<std::int64_t>(field.value);
            } else if (field.is_bytes(at_model::producer_name)) {
                producer_name_ = ref(field);
            } else if (field.is_bytes(at_model::producer_version)) {
                producer_version_ = ref(field);
            } else if (field.is_bytes(at_model::metadata_props)) {
                model_metadata_.push_back({field.content, field.size(), no_id});
            }
        }
        if (!has_graph) {
            STEMMA_THROW(
                error(error_code::malformed, file_, "", "not an ONNX model: it has no graph"));
        }
        return used;
    }

    std::size_t scan_main_graph(const wire_field& where, thread_limit threads) {
        const auto container = begin_container(where, 0, no_id);
        const graph_run all{where.content, where.end};
        const auto runs = guess_runs(bytes_, all.begin, all.end, threads);
        std::vector<std::optional<wire_model>> parts(runs.size());
        std::vector<std::uint32_t> ends(runs.size());
        for_each_part(runs.size(), [&](std::size_t i) {
            if (i == 0) {
                ends[0] = scan_graph_fields(runs[0], all, container);
                return;
            }
            try {
                parts[i] = wire_model(*this, where, runs[i], ends[i]);
            } catch (const error&) {
                // Whoever comes to this place by reading what is before it will meet it again.
            }
        });
        std::vector<wire_model*> taken;
        auto read_to = ends[0];
        for (std::size_t i = 1; i < runs.size() && read_to == runs[i].begin && parts[i]; ++i) {
            taken.push_back(&*parts[i]);
            read_to = ends[i];
        }
        append<wire_model>(taken, container, runs.size(),
                           [&](wire_model& part, const part_offsets& offset) {
                               if (&part == taken.front()) {
                                   expect_refs(taken);
                               }
                               append_refs(part, offset);
                           });
        parts.clear();
        // What was no run after all.
        scan_graph_fields({read_to, all.end}, all, container);
        end_container(container);
        return runs.size();
    }

    void expect_refs(std::span<wire_model* const> parts) {
        const auto make_room = [&](auto table) {
            auto size = (this->*table).size();
            for (const auto* part : parts) {
                size += (part->*table).size();
            }
            (this->*table).reserve(size);
        };
        make_room(&wire_model::tensors_);
        make_room(&wire_model::value_infos_);
        make_room(&wire_model::graph_fields_);
    }

    void append_refs(const wire_model& part, const part_offsets& offset) {
        const auto moved = [&](auto entry) {
            entry.graph = offset.graph_of(entry.graph);
            return entry;
        };
        const auto moved_named = [&](auto entry) {
            entry.message.container = offset.container_of(entry.message.container);
            entry.value += offset.named;
            return moved(entry);
        };
        const auto append_all = [](auto& to, const auto& from, auto f) {
            std::transform(from.begin(), from.end(), std::back_inserter(to), f);
        };
        append_all(described_tensors_, part.described_tensors_,
                   [n = tensors_.size()](id i) { return static_cast<id>(i + n); });
        append_all(described_infos_, part.described_infos_,
                   [n = value_infos_.size()](id i) { return static_cast<id>(i + n); });
        append_all(tensors_, part.tensors_, moved_named);
        append_all(value_infos_, part.value_infos_, moved_named);
        append_all(graph_fields_, part.graph_fields_, moved);
        holds_text_.insert(holds_text_.end(), part.holds_text_.begin(), part.holds_text_.end());
        padding_ |= part.padding_;
        for (const auto& [field, g] : part.graph_fields_) {
            if (g == 0 && field.is_bytes(at_graph::name)) {
                graph_at(0).name = ref(field);
            }
        }
    }

    void scan_opset(wire_reader fields) {
        opset_import import;
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(at_opset::domain)) {
                import.domain = fields.text(field);
            } else if (field.is(at_opset::version, wire_type::varint)) {
                import.version = static_cast<std::int64_t>(field.value);
            }
        }
        opsets_.push_back(import);
    }

    id begin_container(const wire_field& field, id g, id parent) {
        containers_.push_back({field.content, field.size(), g, parent, no_id, 0});
        return static_cast<id>(containers_.size() - 1);
    }

    void end_container(id c) { containers_[c].ends_before = node_count(); }

    void scan_body(const wire_field& where, id g, id parent) {
        const auto container = begin_container(where, g, parent);
        scan_graph_fields({where.content, where.end}, {where.content, where.end}, container);
        end_container(container);
    }

    /// Reads the fields that begin in a run; they tell how many nodes `all` will have.
    /// Returns: behind the last.
    std::uint32_t scan_graph_fields(const graph_run& run, const graph_run& all, id container) {
        const auto g = containers_[container].graph;
        const auto& around = containers_[container];
        wire_reader fields{base_, run.begin, around.begin + around.size, file_};
        for (wire_field field; fields.position() < run.end && fields.next(field);) {
            if (field.is_bytes(at_graph::node)) {
                scan_node(fields, field, container);
                if (g == 0 && node_count() >= next_estimate_) {
                    estimate_nodes(all, field.end);
                }
            } else if (field.is_bytes(at_graph::initializer)) {
                scan_tensor(fields, field, container);
            } else if (field.is_bytes(at_graph::sparse_initializer)) {
                scan_sparse_tensor(fields, field, container);
            } else if (field.is_bytes(at_graph::input) || field.is_bytes(at_graph::output) ||
                       field.is_bytes(at_graph::value_info)) {
                scan_value_info(fields, field, container);
            } else {
                graph_fields_.push_back({field, g});
                if (field.is_bytes(at_graph::name)) {
                    graph_at(g).name = ref(field);
                }
            }
        }
        return fields.position();
    }

    // Weights mostly come behind the nodes, so what is left is no measure by itself.
    void estimate_nodes(const graph_run& all, std::uint32_t at) {
        const auto known = std::uint64_t{node_count()};
        const auto left = known * (all.end - at) / std::max(at - all.begin, 1U);
        next_estimate_ = known * 16;
        expect_nodes(static_cast<std::size_t>(std::min(known + left + left / 16, next_estimate_)));
    }

    // Each reads the message `where` of the one `around`, and makes a reader of its own: one that
    // is handed over is put together in memory first, and is waited for.

    void scan_value_info(const wire_reader& around, const wire_field& where, id container) {
        note_padding(where);
        value_info_ref info;
        info.message = {where.content, where.size(), container};
        info.graph = containers_[container].graph;
        info.field = where.number;
        auto fields = around.inner(where);
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(detail::onnx_fields::value_info::name)) {
                info.name = ref(field);
            } else if (field.is_bytes(detail::onnx_fields::value_info::metadata_props)) {
                note_described(described_infos_, value_infos_.size());
            }
        }
        const bool in_function = graph_at(info.graph).kind == graph_kind::function;
        info.value = in_function                        ? add_mention(info.graph, info.name)
                     : where.number == at_graph::input  ? add_graph_input(info.graph, info.name)
                     : where.number == at_graph::output ? add_graph_output(info.graph, info.name)
                                                        : add_mention(info.graph, info.name);
        value_infos_.push_back(info);
    }

    static void note_described(std::vector<id>& list, std::size_t i) {
        if (list.empty() || list.back() != i) {
            list.push_back(static_cast<id>(i));
        }
    }

    void scan_tensor(const wire_reader& around, const wire_field& where, id container) {
        note_padding(where);
        tensor_ref tensor;
        tensor.message = {where.content, where.size(), container};
        tensor.graph = containers_[container].graph;
        auto fields = around.inner(where);
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(at_tensor::name)) {
                tensor.name = ref(field);
            } else if (field.is_bytes(at_tensor::metadata_props)) {
                note_described(described_tensors_, tensors_.size());
            }
        }
        tensor.value = add_initializer(tensor.graph, tensor.name, false);
        tensors_.push_back(tensor);
    }

    void scan_sparse_tensor(const wire_reader& around, const wire_field& where, id container) {
        const auto outer = begin_container(where, containers_[container].graph, container);
        const auto g = containers_[container].graph;
        tensor_ref tensor;
        tensor.graph = g;
        tensor.sparse = true;
        auto fields = around.inner(where);
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(detail::onnx_fields::sparse_tensor::values)) {
                note_padding(field);
                tensor.message = {field.content, field.size(), outer};
                auto inner = fields.inner(field);
                for (wire_field inside; inner.next(inside);) {
                    if (inside.is_bytes(at_tensor::name)) {
                        tensor.name = ref(inside);
                    } else if (inside.is_bytes(at_tensor::metadata_props)) {
                        note_described(described_tensors_, tensors_.size());
                    }
                }
            }
        }
        end_container(outer);
        if (tensor.message.container != no_id) {
            tensor.value = add_initializer(g, tensor.name, true);
            tensors_.push_back(tensor);
        }
    }

    void scan_node(const wire_reader& around, const wire_field& where, id container) {
        if (depth_ == frames_.size()) {
            frames_.emplace_back();
        }
        auto& frame = frames_[depth_];
        frame.inputs.clear();
        frame.outputs.clear();
        frame.attributes.clear();
        note_padding(where);
        node_record node;
        node.begin = where.content;
        node.size = where.size();
        node.container = container;
        operator_record op;
        std::uint8_t holds = 0;
        auto fields = around.inner(where);
        for (wire_field field; fields.next(field);) {
            if (field.type != wire_type::bytes) {
                continue;
            }
            switch (field.number) {
            case at_node::input:
                frame.inputs.push_back(ref(field));
                break;
            case at_node::output:
                frame.outputs.push_back(ref(field));
                break;
            case at_node::name:
                node.name = ref(field);
                break;
            case at_node::op_type:
                op.type = ref(field);
                break;
            case at_node::attribute:
                holds |= look_at_attribute(fields, field, frame);
                break;
            case at_node::doc_string:
                holds |= holds_doc_string;
                break;
            case at_node::domain:
                op.domain = ref(field);
                break;
            case at_node::overload:
                op.overload = ref(field);
                break;
            case at_node::metadata_props:
                holds |= holds_metadata;
                break;
            default:
                break;
            }
        }
        node.op = add_operator(text(op.type), text(op.domain), text(op.overload), op);
        if (frame.attributes.empty()) {
            add_node(node, frame.inputs, frame.outputs);
            holds_text_.push_back(holds);
        } else {
            scan_bodies(frame, node, holds);
        }
    }

    /// Notes an attribute that holds graphs; returns whether it may be one of ours.
    static std::uint8_t look_at_attribute(const wire_reader& around, const wire_field& where,
                                          node_frame& frame) {
        bool holds_graph = false;
        bool ours = false;
        auto fields = around.inner(where);
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(at_attribute::name)) {
                const auto name = fields.text(field);
                ours = name == "source_module" || name == "hierarchy_tags";
            } else if (field.is_bytes(at_attribute::g) || field.is_bytes(at_attribute::graphs)) {
                holds_graph = true;
            }
        }
        if (holds_graph) {
            frame.attributes.push_back(where);
        }
        return ours ? holds_our_attribute : std::uint8_t{0};
    }

    void scan_bodies(node_frame& frame, const node_record& node, std::uint8_t holds) {
        if (++depth_ > max_nesting) {
            STEMMA_THROW(error(error_code::unsupported, file_, "byte " + std::to_string(node.begin),
                               "bodies nested deeper than protobuf allows"));
        }
        const auto first_graph = graph_count();
        std::vector<id> outer_containers;
        const auto file_fields = reader();
        for (const auto& attribute : frame.attributes) {
            outer_containers.push_back(
                begin_container(attribute, containers_[node.container].graph, no_id));
            scan_attribute(file_fields.inner(attribute), outer_containers.back());
            end_container(outer_containers.back());
        }
        --depth_;
        const auto owner = add_node(node, frame.inputs, frame.outputs);
        holds_text_.push_back(holds);
        for (auto c : outer_containers) {
            containers_[c].owner = owner;
        }
        for (auto g = first_graph; g < graph_count(); ++g) {
            if (graph_at(g).owner == no_id) {
                graph_at(g).owner = owner;
            }
        }
    }

    void scan_attribute(wire_reader fields, id container) {
        text_ref name;
        id alone = no_id;
        id listed = 0;
        std::vector<id> made;
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(at_attribute::name)) {
                name = ref(field);
            } else if (field.is_bytes(at_attribute::g)) {
                if (alone == no_id) {
                    alone = add_graph(graph_kind::body);
                    made.push_back(alone);
                }
                scan_body(field, alone, container);
            } else if (field.is_bytes(at_attribute::graphs)) {
                const auto g = add_graph(graph_kind::body);
                made.push_back(g);
                graph_at(g).listed = true;
                graph_at(g).attribute_index = listed++;
                scan_body(field, g, container);
            }
        }
        for (auto g : made) {
            graph_at(g).attribute = name;
        }
    }

    void scan_function(const wire_reader& around, const wire_field& where) {
        function_record function;
        function.graph = add_graph(graph_kind::function);
        graph_at(function.graph).function = static_cast<id>(functions_.size());
        const auto container = begin_container(where, function.graph, no_id);
        auto fields = around.inner(where);
        for (wire_field field; fields.next(field);) {
            if (field.type != wire_type::bytes) {
                continue;
            }
            switch (field.number) {
            case at_function::name:
                function.name = ref(field);
                break;
            case at_function::domain:
                function.domain = ref(field);
                break;
            case at_function::overload:
                function.overload = ref(field);
                break;
            case at_function::input:
                add_graph_input(function.graph, ref(field));
                break;
            case at_function::output:
                add_graph_output(function.graph, ref(field));
                break;
            case at_function::node:
                scan_node(fields, field, container);
                break;
            case at_function::value_info:
                scan_value_info(fields, field, container);
                break;
            default:
                break;
            }
        }
        end_container(container);
        graph_at(function.graph).name = function.name;
        functions_.push_back(function);
    }

    std::string_view bytes_;
    std::string file_;
    std::vector<tensor_ref> tensors_;
    std::vector<value_info_ref> value_infos_;
    std::vector<graph_field> graph_fields_;
    std::vector<message_ref> model_metadata_;
    std::vector<id> described_tensors_; // those with metadata
    std::vector<id> described_infos_;
    std::vector<std::uint8_t> holds_text_;
    std::deque<node_frame> frames_;
    std::size_t depth_ = 0;
    std::uint64_t next_estimate_ = 4096; // nodes
    bool padding_ = false;               // some length has more bytes than it needs, or a tag has
};

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_WIRE_MODEL_HPP

// <stemma/onnx/wire/tensor_header.hpp>
#ifndef STEMMA_ONNX_WIRE_TENSOR_HEADER_HPP
#define STEMMA_ONNX_WIRE_TENSOR_HEADER_HPP

namespace stemma {

/// What a TensorProto says of its data.
struct tensor_header {
    std::vector<std::int64_t> dims; ///< as written; empty for a scalar
    std::int64_t data_type = 0;     ///< number in TensorProto.DataType
    bool external = false;          ///< the data are in another file
    std::string_view location;      ///< of external data: the file, relative to the model's folder
    std::uint64_t offset = 0;       ///< bytes from the start of that file
    std::uint64_t length = 0;       ///< bytes; 0 where it is not written: then all that follow

    /// Returns: the product of the dims; 0 where one is negative or the product does not fit.
    /// Complexity: O(rank).
    [[nodiscard]] std::uint64_t elements() const noexcept {
        std::uint64_t product = 1;
        for (auto dim : dims) {
            if (dim < 0 ||
                __builtin_mul_overflow(product, static_cast<std::uint64_t>(dim), &product)) {
                return 0;
            }
        }
        return product;
    }
};

/// Returns: the name of a data type as PyTorch prints it, "" for an unknown number.
[[nodiscard]] constexpr std::string_view data_type_name(std::int64_t data_type) noexcept {
    constexpr std::array<std::string_view, 24> names{"",
                                                     "float32",
                                                     "uint8",
                                                     "int8",
                                                     "uint16",
                                                     "int16",
                                                     "int32",
                                                     "int64",
                                                     "string",
                                                     "bool",
                                                     "float16",
                                                     "float64",
                                                     "uint32",
                                                     "uint64",
                                                     "complex64",
                                                     "complex128",
                                                     "bfloat16",
                                                     "float8_e4m3fn",
                                                     "float8_e4m3fnuz",
                                                     "float8_e5m2",
                                                     "float8_e5m2fnuz",
                                                     "uint4",
                                                     "int4",
                                                     "float4_e2m1"};
    return data_type > 0 && data_type < 24 ? names[static_cast<std::size_t>(data_type)] : "";
}

/// Whether tensors of a type hold weights rather than indices, shapes, flags or text.
[[nodiscard]] constexpr bool is_floating_type(std::int64_t data_type) noexcept {
    return data_type_name(data_type).find("float") != std::string_view::npos;
}

namespace detail {

/// Adds the varints of a repeated field, packed or not.
inline void read_dims(const wire_reader& around, const wire_field& field,
                      std::vector<std::int64_t>& dims) {
    if (field.type == wire_type::varint) {
        dims.push_back(static_cast<std::int64_t>(field.value));
        return;
    }
    const auto packed = around.text(field);
    std::uint64_t value = 0;
    unsigned shift = 0;
    for (char c : packed) {
        const auto byte = static_cast<unsigned char>(c);
        value |= shift < 64 ? static_cast<std::uint64_t>(byte & 0x7fU) << shift : 0;
        shift += 7;
        if (byte < 0x80U) {
            dims.push_back(static_cast<std::int64_t>(value));
            value = 0;
            shift = 0;
        }
    }
}

} // namespace detail

/// Reads dims, type and place of the data of an initializer; the data itself is not touched. For a
/// sparse one: those of its values.
/// Complexity: O(fields).
[[nodiscard]] inline tensor_header read_tensor_header(const wire_model& model,
                                                      const tensor_ref& tensor) {
    using at = detail::onnx_fields::tensor;
    tensor_header header;
    auto fields = model.reader(tensor.message);
    const auto number = [](std::string_view text) {
        std::uint64_t value = 0;
        std::from_chars(text.data(), text.data() + text.size(), value);
        return value;
    };
    for (wire_field field; fields.next(field);) {
        if (field.number == at::dims &&
            (field.type == wire_type::varint || field.type == wire_type::bytes)) {
            detail::read_dims(fields, field, header.dims);
        } else if (field.is(at::data_type, wire_type::varint)) {
            header.data_type = static_cast<std::int64_t>(field.value);
        } else if (field.is(at::data_location, wire_type::varint)) {
            header.external = field.value == 1;
        } else if (field.is_bytes(at::external_data)) {
            const auto [key, value] = wire_model::read_entry(fields, field);
            if (key == "location") {
                header.location = value;
            } else if (key == "offset") {
                header.offset = number(value);
            } else if (key == "length") {
                header.length = number(value);
            }
        }
    }
    return header;
}

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_TENSOR_HEADER_HPP

// <stemma/onnx/wire/tensor_size.hpp>
#ifndef STEMMA_ONNX_WIRE_TENSOR_SIZE_HPP
#define STEMMA_ONNX_WIRE_TENSOR_SIZE_HPP

namespace stemma {

/// Returns: bits of one element of a data type; 0 for texts and unknown numbers.
[[nodiscard]] constexpr unsigned bits_of_type(std::int64_t data_type) noexcept {
    constexpr std::array<unsigned, 24> bits{0,  32, 8,  8,   16, 16, 32, 64, 0, 8, 16, 64,
                                            32, 64, 64, 128, 16, 8,  8,  8,  8, 4, 4,  4};
    return data_type > 0 && data_type < 24 ? bits[static_cast<std::size_t>(data_type)] : 0;
}

/// Returns: bytes that the data of a tensor take by type and dims, elements of less than a byte
/// packed; nothing where that is not known or does not fit 64 bits.
/// Complexity: O(rank).
[[nodiscard]] inline std::optional<std::uint64_t> data_size(const tensor_header& header) noexcept {
    const std::uint64_t bits = bits_of_type(header.data_type);
    std::uint64_t elements = 1;
    for (auto dim : header.dims) {
        if (dim < 0 ||
            __builtin_mul_overflow(elements, static_cast<std::uint64_t>(dim), &elements)) {
            return std::nullopt;
        }
    }
    if (bits == 0 || elements > ~std::uint64_t{0} / bits - 1) {
        return std::nullopt;
    }
    return (elements * bits + 7) / 8;
}

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_TENSOR_SIZE_HPP

// <stemma/onnx/explorer_overlay.hpp>
#ifndef STEMMA_ONNX_EXPLORER_OVERLAY_HPP
#define STEMMA_ONNX_EXPLORER_OVERLAY_HPP

namespace stemma {

/// Returns: how Model Explorer calls a graph: `main`, else its path.
[[nodiscard]] inline std::string explorer_graph_id(const onnx_model& model, id g) {
    return g == 0 ? "main" : model.graph_path(g);
}

/// Writes numbers of nodes as an overlay for Model Explorer, which shows their sums at modules.
/// `value_of(node)` gives the number; what is 0 is left out. Complexity: O(nodes).
template <text_sink Sink, class ValueOf>
void write_explorer_overlay(Sink& sink, const onnx_model& model, ValueOf value_of) {
    std::vector<std::vector<id>> nodes(model.graph_count());
    for (id node = 0; node < model.node_count(); ++node) {
        nodes[model.graph_of(node)].push_back(node);
    }
    json_writer json(sink);
    json.begin_object();
    for (id g = 0; g < model.graph_count(); ++g) {
        json.key(explorer_graph_id(model, g));
        json.begin_object();
        json.key("results");
        json.begin_object();
        for (auto node : nodes[g]) {
            if (const auto value = value_of(node); value != 0) {
                json.key(std::to_string(model.position(node)));
                json.begin_object(true);
                json.member("value", value);
                json.end_object();
            }
        }
        json.end_object();
        json.end_object();
    }
    json.end_object();
    json.finish();
}

/// Returns: by node the bytes of the initializers that it is the first to read.
/// Complexity: O(nodes + values + fields of initializers).
[[nodiscard]] inline std::vector<std::uint64_t> weight_bytes(const wire_model& model) {
    std::vector<id> first(model.value_count(), no_id);
    for (id node = 0; node < model.node_count(); ++node) {
        for (auto value : model.inputs(node)) {
            if (value != no_id && first[value] == no_id) {
                first[value] = node;
            }
        }
    }
    std::vector<std::uint64_t> bytes(model.node_count(), 0);
    for (const auto& tensor : model.tensors()) {
        if (tensor.value != no_id && first[tensor.value] != no_id) {
            bytes[first[tensor.value]] += data_size(read_tensor_header(model, tensor)).value_or(0);
        }
    }
    return bytes;
}

} // namespace stemma

#endif // STEMMA_ONNX_EXPLORER_OVERLAY_HPP

// <stemma/onnx/fold_plan.hpp>
#ifndef STEMMA_ONNX_FOLD_PLAN_HPP
#define STEMMA_ONNX_FOLD_PLAN_HPP

namespace stemma {

/// A function that a model is to get.
struct planned_function {
    std::string domain; ///< as the policy has it: the package
    std::string name;   ///< as the policy has it: the class
    id number = 0;      ///< tells functions apart that the policy calls the same; 0 for the first
    id region = 0;      ///< the first of those that call it; its body is the function's
    id calls = 0;       ///< regions that call it, in the whole model
    id activations = 0; ///< how many of the inputs are no initializers; they come first
    id attributes = 0;  ///< constants that differ from call to call
    /// By constant, in the order in which calls are opened: which attribute has its value, or
    /// `no_id`. Empty where none may.
    std::vector<id> slots{};

    /// Returns: the name, with the number behind it where that is not 0: `Layer.1`.
    [[nodiscard]] std::string numbered() const {
        return number == 0 ? name : name + "." + std::to_string(number);
    }
};

/// How the graphs of a model become calls of functions.
///
/// Regions of the main graph come first, then those of bodies, graph by graph. The first region of
/// a graph is the graph itself; its `parent` is the region that holds the operator with the body.
struct fold_plan {
    std::vector<fold_region> regions;     ///< items are nodes
    std::vector<id> graph;                ///< by region: in which its items stand
    std::vector<id> root;                 ///< by graph: its first region; `no_id` for none
    std::vector<std::string> paths;       ///< by region: the way from the module around to its own
    std::vector<id> function;             ///< by region; `no_id` for graphs
    std::vector<std::vector<id>> inputs;  ///< by region: values, by slot of its function
    std::vector<std::vector<id>> outputs; ///< by region: values, by slot of its function
    /// By region: the Constants in it and in regions inside, in the order in which calls are
    /// opened. Empty where none may be attributes.
    std::vector<std::vector<id>> constants;
    std::vector<planned_function> functions; ///< each behind those it calls
    /// Nodes of bodies in functions, outside of calls, that are of another module than the
    /// function: in which region the operator with the outermost such body is.
    std::unordered_map<id, id> noted;
    std::unordered_set<id> holders; ///< nodes in whose bodies, at any depth, are such or calls
    /// Regions that are graphs of the folded model, in its order: the main graph, then bodies.
    /// Bodies in other calls of a shared function are not.
    std::vector<id> graphs;
    std::vector<fold_leftover> left; ///< what the policy would have folded
    std::size_t in_bodies = 0; ///< operators that stay in bodies and functions, and should not

    /// Whether a region is a graph.
    [[nodiscard]] bool is_graph(id region) const { return root[graph[region]] == region; }

    /// Whether something changes in the bodies of a node, at any depth.
    [[nodiscard]] bool changes_inside(id node) const {
        return !holders.empty() && holders.contains(node);
    }

    /// What stands in a body: calls `in_region(r)` where it is region `r`, else `in_body(node)` for
    /// each of its nodes. Complexity: O(nodes of the body).
    template <class InRegion, class InBody>
    void look_into(id body, const graph_contents& contents, InRegion in_region,
                   InBody in_body) const {
        if (root[body] != no_id) {
            in_region(root[body]);
            return;
        }
        for (auto node : contents.own_nodes(body)) {
            in_body(node);
        }
    }

    /// Calls `f(value)` for the values that the items of a region make, in order.
    /// Requires: `outputs` are known. Complexity: O(items + values).
    template <class Function>
    void for_each_made(const onnx_model& model, id region, Function f) const {
        for (const auto& item : regions[region].items) {
            if (item.is_region) {
                for (auto value : outputs[item.index]) {
                    f(value);
                }
                continue;
            }
            for (id i = 0; i < model.output_count(item.index); ++i) {
                f(model.first_output(item.index) + i);
            }
        }
    }

    /// Returns: how many regions are calls.
    [[nodiscard]] std::size_t call_count() const {
        return static_cast<std::size_t>(
            std::count_if(function.begin(), function.end(), [](id f) { return f != no_id; }));
    }

    /// Returns: the region whose items the function of a region has; of a graph itself.
    [[nodiscard]] id body_of(id region) const {
        return is_graph(region) ? region : functions[function[region]].region;
    }
};

} // namespace stemma

#endif // STEMMA_ONNX_FOLD_PLAN_HPP

// <stemma/onnx/fold_constants.hpp>
#ifndef STEMMA_ONNX_FOLD_CONSTANTS_HPP
#define STEMMA_ONNX_FOLD_CONSTANTS_HPP

namespace stemma {

/// Whether a node is a Constant of the standard. Complexity: O(1).
[[nodiscard]] inline bool is_constant_node(const onnx_model& model, id node) {
    return model.op_type(node) == "Constant" && model.domain(node).empty();
}

/// The values that a graph gives away.
class graph_results {
public:
    /// Complexity: O(outputs log outputs).
    graph_results(const onnx_model& model, id g) : values_(model.graph(g).outputs) {
        std::sort(values_.begin(), values_.end());
    }

    /// Whether a value is one of them; never for `no_id`. Complexity: O(log outputs).
    [[nodiscard]] bool contains(id value) const {
        return value != no_id && std::binary_search(values_.begin(), values_.end(), value);
    }

private:
    std::vector<id> values_;
};

/// Puts every Constant into the regions that read it: it stands in each of them, in front of its
/// first reader there. One that nothing reads, or that is an output of the graph, stays.
///
/// `view` is graph `g`, whose vertices the items are. Returns: by vertex, whether it was put
/// elsewhere than it stood. Complexity: O(V + E log E + regions).
[[nodiscard]] inline std::vector<bool> spread_constants(const onnx_model& model, id g,
                                                        const nested_view& view,
                                                        std::vector<fold_region>& regions) {
    const auto region = find_places(regions, view.nodes.size());
    const graph_results leaving(model, g);
    std::vector<bool> moved(view.nodes.size(), false);
    std::vector<std::pair<id, id>> wanted; // reader's region, constant
    for (id v = 0; v < view.nodes.size(); ++v) {
        const auto node = view.nodes[v];
        if (!is_constant_node(model, node) || model.output_count(node) != 1 ||
            !model.inputs(node).empty() || leaving.contains(model.first_output(node))) {
            continue;
        }
        const auto begin = wanted.size();
        for (auto [it, last] = out_edges(v, view.graph); it != last; ++it) {
            wanted.emplace_back(region[(*it).target], v);
            moved[v] = moved[v] || wanted.back().first != region[v];
        }
        if (!moved[v]) {
            wanted.resize(begin);
        }
    }
    std::sort(wanted.begin(), wanted.end());
    wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
    auto next = wanted.begin();
    for (id r = 0; r < regions.size(); ++r) {
        const auto end =
            std::find_if(next, wanted.end(), [&](const auto& w) { return w.first != r; });
        std::vector<bool> here; // by place in the run of this region
        here.assign(static_cast<std::size_t>(end - next), false);
        std::vector<fold_item> items;
        for (const auto& item : std::exchange(regions[r].items, {})) {
            if (!item.is_region && moved[item.index]) {
                continue;
            }
            for (auto [it, last] = item.is_region ? decltype(in_edges(item.index, view.graph)){}
                                                  : in_edges(item.index, view.graph);
                 it != last; ++it) {
                const auto from = static_cast<id>((*it).source);
                const auto place = std::lower_bound(next, end, std::pair(r, from));
                if (place != end && place->second == from &&
                    !here[static_cast<std::size_t>(place - next)]) {
                    here[static_cast<std::size_t>(place - next)] = true;
                    items.push_back({from, false});
                }
            }
            items.push_back(item);
        }
        regions[r].items = std::move(items);
        next = end;
    }
    count_operators(regions);
    return moved;
}

/// Returns: by region, whether it gives nothing away, or has fewer operators than `least`. `spread`
/// says which vertices stand in every region that reads them.
/// Complexity: O(V + E), for every level of regions inside each other.
[[nodiscard]] inline std::vector<bool> find_idle_regions(const onnx_model& model, id g,
                                                         const nested_view& view,
                                                         const std::vector<bool>& spread,
                                                         std::size_t least,
                                                         const std::vector<fold_region>& regions) {
    const auto region = find_places(regions, view.nodes.size());
    std::vector<bool> idle(regions.size(), true);
    const auto give = [&](id from, id to) {
        for (auto r = from; !holds_region(regions, r, to); r = regions[r].parent) {
            idle[r] = false;
        }
    };
    for (auto value : model.graph(g).outputs) {
        if (value != no_id && model.producer(value) != no_id &&
            model.graph_of(model.producer(value)) == g) {
            give(region[model.position(model.producer(value))], 0);
        }
    }
    for (id v = 0; v < view.nodes.size(); ++v) {
        for (auto [it, last] = out_edges(v, view.graph); !spread[v] && it != last; ++it) {
            give(region[v], region[(*it).target]);
        }
    }
    for (id r = 0; r < regions.size(); ++r) {
        idle[r] = r != 0 && (idle[r] || regions[r].operators < least);
    }
    return idle;
}

/// Finds which constants of functions differ from call to call, and makes them attributes: fills in
/// `constants` and `slots` of a plan.
///
/// `same(a, b)` says of nodes that stand for each other whether they are equal.
/// Requires: equal items of the calls of a function stand for each other, and Constants stand for
/// Constants. Complexity: O(items), for every level of regions inside each other.
template <class Same>
void find_varying_constants(const onnx_model& model, fold_plan& plan, Same same) {
    plan.constants.assign(plan.regions.size(), {});
    for (auto r = static_cast<id>(plan.regions.size()); r-- > 0;) {
        auto& all = plan.constants[r];
        if (plan.is_graph(r)) {
            continue;
        }
        for (const auto& item : plan.regions[r].items) {
            if (item.is_region) {
                const auto& inside = plan.constants[item.index];
                all.insert(all.end(), inside.begin(), inside.end());
            } else if (is_constant_node(model, item.index)) {
                all.push_back(item.index);
            }
        }
    }
    for (auto& function : plan.functions) {
        function.slots.assign(plan.constants[function.region].size(), no_id);
    }
    for (id r = 0; r < plan.regions.size(); ++r) {
        if (plan.is_graph(r)) {
            continue;
        }
        auto& function = plan.functions[plan.function[r]];
        const auto& first = plan.constants[function.region];
        for (std::size_t i = 0; r != function.region && i < first.size(); ++i) {
            if (function.slots[i] == no_id && !same(first[i], plan.constants[r][i])) {
                function.slots[i] = 0;
            }
        }
    }
    for (auto& function : plan.functions) {
        for (auto& slot : function.slots) {
            slot = slot == no_id ? no_id : function.attributes++;
        }
    }
}

} // namespace stemma

#endif // STEMMA_ONNX_FOLD_CONSTANTS_HPP

// <stemma/onnx/fold_record.hpp>
#ifndef STEMMA_ONNX_FOLD_RECORD_HPP
#define STEMMA_ONNX_FOLD_RECORD_HPP

namespace stemma {

/// How a text of one node differs from what its function makes expect.
struct text_change {
    std::uint64_t node = 0;  ///< in the order in which calls are opened
    std::uint32_t slot = 0;  ///< which of the node's texts
    std::uint32_t front = 0; ///< so much of the front of what is expected stays
    std::uint32_t back = 0;  ///< and so much of the back
    std::string middle{};    ///< what stands between

    friend bool operator==(const text_change&, const text_change&) = default;
};

/// Finds the change that makes one text of another, in whole UTF-8 characters.
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

/// Returns: the changed text; nothing when the change does not fit.
[[nodiscard]] inline std::optional<std::string> apply_change(const text_change& change,
                                                             std::string_view expected) {
    if (std::size_t{change.front} + change.back > expected.size()) {
        return std::nullopt;
    }
    std::string text(expected.substr(0, change.front));
    text.append(change.middle).append(expected.substr(expected.size() - change.back));
    return text;
}

/// How one graph of a model was before folding.
struct folded_graph_record {
    /// Nodes in a row in the bytes of the file.
    struct node_run {
        std::uint32_t part = 0;   ///< of the graph, where it comes in several
        std::uint32_t fields = 0; ///< of that part that are no nodes and stand in front
        std::uint64_t nodes = 0;  ///< how many follow

        friend bool operator==(const node_run&, const node_run&) = default;
    };
    /// Nodes in a row.
    struct order_run {
        std::uint64_t first = 0; ///< in the order in which calls are opened
        std::uint64_t count = 0; ///< how many follow each other

        friend bool operator==(const order_run&, const order_run&) = default;
    };

    /// ValueInfos in a row that were taken out of the graph.
    struct info_run {
        std::uint32_t part = 0;   ///< of the graph, where it comes in several
        std::uint32_t fields = 0; ///< of that part that stand in front, but for such ValueInfos
        std::string bytes{};      ///< of the field, with tag and length

        friend bool operator==(const info_run&, const info_run&) = default;
    };

    std::uint64_t nodes = 0;        ///< that come out when all calls in it are opened
    std::vector<node_run> layout{}; ///< where they stood; empty when they stood together
    /// In which order; those in none are second ones of a Constant. Empty when all stood as calls
    /// are opened.
    std::vector<order_run> order{};
    std::vector<info_run> infos{};      ///< what was taken out, and from where
    std::vector<text_change> changes{}; ///< ascending by node

    friend bool operator==(const folded_graph_record&, const folded_graph_record&) = default;
};

/// What a folded file says of how it was before (`stemma.fold/1`, see docs/folding.md): of the main
/// graph, and of the bodies with calls in them, in the order in which they stand in the file.
struct fold_record : folded_graph_record {
    bool lifted = false; ///< the IR version was raised to one that has functions
    std::optional<std::int64_t> ir_version{};                     ///< before it was lifted
    std::vector<std::pair<std::string, std::string>> functions{}; ///< domain and name
    std::vector<std::string> domains{};                           ///< imports that were added
    std::vector<folded_graph_record> bodies{};                    ///< with calls in them
};

namespace detail {

/// Writes the members of a record that say how one graph was.
template <class Writer>
void write_folded_graph(Writer& json, const folded_graph_record& record) {
    if (!record.layout.empty()) {
        json.key("layout");
        json.begin_array(true);
        for (const auto& run : record.layout) {
            json.begin_array(true);
            json.value(run.part);
            json.value(run.fields);
            json.value(run.nodes);
            json.end_array();
        }
        json.end_array();
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
        json.key("infos");
        json.begin_array(true);
        for (const auto& run : record.infos) {
            json.begin_array(true);
            json.value(run.part);
            json.value(run.fields);
            json.value(to_base64(run.bytes));
            json.end_array();
        }
        json.end_array();
    }
    if (!record.changes.empty()) {
        json.key("texts");
        json.begin_array(true);
        std::uint64_t last = 0;
        for (const auto& change : record.changes) {
            json.begin_array(true);
            json.value(change.node - last);
            json.value(change.slot);
            json.value(change.front);
            json.value(change.back);
            json.value(change.middle);
            json.end_array();
            last = change.node;
        }
        json.end_array();
    }
}

} // namespace detail

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
    json.key("functions");
    json.begin_array(true);
    for (const auto& [domain, name] : record.functions) {
        json.begin_array(true);
        json.value(domain);
        json.value(name);
        json.end_array();
    }
    json.end_array();
    json.key("domains");
    json.begin_array(true);
    for (const auto& domain : record.domains) {
        json.value(domain);
    }
    json.end_array();
    detail::write_folded_graph(json, record);
    if (!record.bodies.empty()) {
        json.key("bodies");
        json.begin_array(true);
        for (const auto& body : record.bodies) {
            json.begin_object(true);
            json.member("nodes", body.nodes);
            detail::write_folded_graph(json, body);
            json.end_object();
        }
        json.end_array();
    }
    json.end_object();
    json.finish();
    sink.text.pop_back();
    return std::move(sink.text);
}

namespace detail {

/// Reads what `to_json(fold_record)` writes.
class fold_record_reader {
public:
    explicit fold_record_reader(std::string_view file) : file_(file) {}

    [[nodiscard]] bool wants(const std::string&) const { return true; }

    void element(const std::string& path, json_part part) {
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

    void scalar(const std::string& path, json_part part) {
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
                               "is not what folding writes"));
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

} // namespace detail

/// Reads what `to_json` writes. Throws: `error` of `error_code::malformed`; `file` is named in it.
[[nodiscard]] inline fold_record read_fold_record(std::string_view text, std::string_view file) {
    detail::fold_record_reader reader(file);
    stream_json(text, std::string(file) + ": " + std::string(fold_key), reader);
    return reader.finish();
}

} // namespace stemma

#endif // STEMMA_ONNX_FOLD_RECORD_HPP

// <stemma/detail/report_graph.hpp>
#ifndef STEMMA_DETAIL_REPORT_GRAPH_HPP
#define STEMMA_DETAIL_REPORT_GRAPH_HPP

namespace stemma::detail {

/// The part of a report's script that draws modules, shows nodes, and begins.
inline constexpr std::string_view report_graph = R"js(
// The graph of a module: its own nodes, the modules below as one box each, and what comes in and out.
function showGraph(module) {
  const boxes = [], boxOf = new Map();
  const childAt = m => {
    while (modules[m].parent !== module.m) {
      m = modules[m].parent;
    }
    return m;
  };
  const inside = [];
  for (let m = module.m; m < module.end; ++m) {
    inside.push(...modules[m].own.filter(n => nodes[n].op !== "Constant"));
  }
  inside.sort((a, b) => a - b);
  const keys = new Set(inside.map(n => nodes[n].module === module.m ? `n${n}` : `m${childAt(nodes[n].module)}`));
  const cut = keys.size > mostBoxes;
  const members = [];
  for (const n of inside) {
    const direct = nodes[n].module === module.m;
    let key = direct ? `n${n}` : `m${childAt(nodes[n].module)}`;
    if (cut && !boxOf.has(key) && boxOf.size >= mostBoxes - 1) {
      key = "rest";
    }
    if (!boxOf.has(key)) {
      boxOf.set(key, boxes.length);
      boxes.push(key === "rest" ? {kind: "rest", title: "", count: 0}
        : direct ? {kind: "node", n, title: nodes[n].op, sub: weightsOf(nodes[n])}
        : {kind: "module", m: childAt(nodes[n].module), count: 0});
    }
    const box = boxOf.get(key);
    boxes[box].count = (boxes[box].count || 0) + 1;
    members.push([n, box]);
  }
  for (const box of boxes) {
    if (box.kind === "module") {
      box.title = modules[box.m].name;
      box.sub = [modules[box.m].cls, plural(modules[box.m].count, "node")].filter(Boolean).join(", ");
    } else if (box.kind === "rest") {
      box.title = `and ${number(box.count)} more nodes`;
    }
  }
  if (boxes.length === 0) {
    return make("p", {class: "note"}, "No node comes from this module.");
  }
  return drawGraph(boxes, findFlows(boxes, new Map(members)), cut);
}

const weightsOf = node => node.reads.filter(v => v >= 0 && isWeight(values[v]) && values[v].type.length > 0)
  .map(v => `${values[v].name.includes("::") ? "" : values[v].name.split(".").pop() + " "}${shapeOf(values[v])}`).join(", ");
const shapeOf = value => {
  const shape = value.type.slice(value.type.indexOf("[") + 1, -1);
  return value.type.endsWith("[]") ? "scalar" : value.type.includes("[") ? (shape.includes(",") ? shape.replaceAll(",", "\u00d7") : `[${shape}]`) : "";
};

// Adds boxes for values at the border; returns edges, one for each pair of boxes.
function findFlows(boxes, boxOfNode) {
  const flows = new Map(), ends = new Map(), first = [], last = [];
  const flow = (from, to, v) => { // between boxes
    if (!flows.has(from)) {
      flows.set(from, new Map());
    }
    const behind = flows.get(from);
    if (!behind.has(to)) {
      behind.set(to, {a: from, b: to, values: new Set()});
    }
    behind.get(to).values.add(v);
  };
  const end = (kind, v, list) => {
    const key = kind + v;
    if (!ends.has(key)) {
      const box = {kind: "end", title: values[v].name, sub: values[v].type, v};
      ends.set(key, box);
      list.push(box);
    }
    return ends.get(key);
  };
  for (const [n, to] of boxOfNode) {
    for (const v of new Set([...nodes[n].reads, ...nodes[n].hidden])) {
      if (v < 0 || isWeight(values[v])) {
        continue;
      }
      const producer = values[v].producer;
      const from = boxOfNode.get(producer);
      if (from === undefined && (producer < 0 || nodes[producer].op !== "Constant")) {
        flow(end("in", v, first), boxes[to], v);
      } else if (from !== undefined && from !== to) {
        flow(boxes[from], boxes[to], v);
      }
    }
    for (const v of nodes[n].makes) {
      if (values[v].result || values[v].readers.some(reader => !boxOfNode.has(reader))) {
        flow(boxes[to], end("out", v, last), v);
      }
    }
  }
  boxes.unshift(...first);
  boxes.push(...last);
  boxes.forEach((box, i) => { box.number = i; });
  return [...flows.values()].flatMap(behind => [...behind.values()]).map(({a, b, values: all}) => {
    const v = [...all][0];
    const more = all.size > 1 ? ` +${all.size - 1}` : "";
    return {from: a.number, to: b.number, label: a.kind === "end" || b.kind === "end" ? "" : shapeOf(values[v]) + more,
            about: [...all].map(each => `${values[each].name} ${values[each].type}`).join("\n")};
  });
}

const ruler = document.createElement("canvas").getContext("2d");
const widthOf = (text, size) => {
  ruler.font = `${size}px system-ui, "Helvetica Neue", Arial, sans-serif`;
  return ruler.measureText(text).width;
};
const clip = (text, most) => text.length > most ? text.slice(0, most - 1) + "\u2026" : text;

function drawGraph(boxes, edges, cut) {
  for (const box of boxes) {
    box.title = clip(box.title || "", 40);
    box.sub = clip(box.sub || "", 48);
    box.width = Math.max(44, widthOf(box.title, 12) * 1.12, widthOf(box.sub, 10)) + 18;
    box.height = box.sub ? 38 : 26;
  }
  const size = layOut(boxes, edges);
  const readers = new Map(), reads = new Map(); // how many edges begin and end at a box
  for (const {from, to} of edges) {
    readers.set(from, (readers.get(from) ?? 0) + 1);
    reads.set(to, (reads.get(to) ?? 0) + 1);
  }
  for (const edge of edges) { // a label stands at the end where fewer edges meet
    const atEnd = reads.get(edge.to) <= readers.get(edge.from);
    const [near, far] = atEnd ? edge.points.slice(-2).reverse() : edge.points;
    edge.label = clip(edge.label, 30);
    edge.labelX = (near.x * 3 + far.x) / 4 + 4;
    edge.labelY = near.y + (near.y > far.y ? -13 : 11);
    size.width = Math.max(size.width, edge.labelX + widthOf(edge.label, 10) + 8);
  }
  const svg = draw("svg", {width: size.width, height: size.height, viewBox: `0 0 ${size.width} ${size.height}`, role: "img",
                           "aria-label": "graph of the module"});
  const tip = draw("marker", {id: "tip", viewBox: "0 0 8 8", refX: 8, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto"},
                   draw("path", {d: "M0 0L8 4L0 8z", class: "tip"}));
  svg.append(draw("defs", {}, tip));
  for (const edge of edges) {
    const title = draw("title", {}, edge.about);
    svg.append(draw("path", {class: edge.back ? "edge back" : "edge", d: curve(edge.points), "marker-end": "url(#tip)"}, title));
  }
  if (edges.length <= mostLabels * 2) {
    for (const edge of edges) {
      svg.append(draw("text", {class: "flow", x: edge.labelX, y: edge.labelY}, edge.label));
    }
  }
  for (const box of boxes) {
    svg.append(drawBox(box));
  }
  let scale = 1;
  const zoom = factor => {
    scale = factor === 0 ? 1 : Math.min(4, Math.max(0.05, scale * factor));
    svg.setAttribute("width", size.width * scale);
    svg.setAttribute("height", size.height * scale);
  };
  const frame = make("div", {class: "graph"}, svg);
  const fit = () => {
    zoom(0);
    zoom(Math.min(1, (frame.clientWidth - 4) / size.width, Math.max(200, frame.clientHeight - 4, window.innerHeight * 0.72) / size.height));
  };
  const button = (text, title, action) => make("button", {title, onclick: action}, text);
  return make("div", {},
    make("div", {class: "tools"}, button("\u2212", "smaller", () => zoom(1 / 1.25)), button("+", "larger", () => zoom(1.25)),
         button("fit", "all at once", fit), button("1:1", "original size", () => zoom(0)),
         make("span", {}, "Constants are left out." + (cut ? " The graph is too large to be drawn whole." : ""))),
    frame);
}

function drawBox(box) {
  const {x, y, width, height} = box;
  const group = draw("g", {class: `box ${box.kind}`},
    draw("title", {}, box.kind === "node" ? nodes[box.n].name : box.kind === "module" ? modules[box.m].path
      : box.kind === "end" ? `${values[box.v].name} ${values[box.v].type}` : box.title),
    draw("rect", {x: x - width / 2, y: y - height / 2, width, height, rx: 6}),
    draw("text", {x, y: box.sub ? y - 7 : y}, box.title));
  if (box.sub) {
    group.append(draw("text", {class: "sub", x, y: y + 9}, box.sub));
  }
  if (box.kind === "module") {
    group.style.setProperty("--h", hueOf(modules[box.m].cls));
    group.dataset.module = box.m;
    group.addEventListener("click", () => go(`m=${box.m}`));
  } else if (box.kind === "node") {
    group.dataset.node = box.n;
    group.addEventListener("click", () => go(`m=${nodes[box.n].module}&n=${box.n}`));
  }
  return group;
}

function showDetail(n) {
  const panel = at("detail");
  panel.hidden = n === undefined;
  document.querySelectorAll("svg .chosen").forEach(box => box.classList.remove("chosen"));
  if (n === undefined) {
    return;
  }
  const node = nodes[n];
  document.querySelectorAll(`svg [data-node="${n}"]`).forEach(box => box.classList.add("chosen"));
  const valueLine = (v, ends) => make("div", {}, make("div", {}, v < 0 ? "(none)" : values[v].name || "(omitted)"),
    v < 0 ? "" : make("div", {class: "type"}, values[v].type || "type unknown"), ...(v < 0 ? [] : ends(values[v])));
  const from = value => value.producer >= 0 ? [nodeLink(value.producer)] : [make("span", {class: "note"}, kinds[value.kind])];
  const to = value => value.readers.slice(0, 20).map(reader => make("div", {}, nodeLink(reader)))
    .concat(value.result ? [make("span", {class: "note"}, "output of the model")] : []);
  let tagged = node.module;
  while (!modules[tagged].tag) {
    tagged = modules[tagged].parent;
  }
  panel.replaceChildren(
    make("button", {class: "close", title: "close", onclick: () => go(`m=${chosen}`)}, "\u2715"),
    make("h3", {}, node.op), make("div", {}, node.name),
    make("h4", {}, "Module"), moduleLink(node.module), make("div", {class: "tag"}, modules[tagged].tag),
    make("h4", {}, "Known from"), `${node.source}, confidence ${node.confidence.toFixed(2)}`,
    ...(node.claims.length > 0 ? [make("h4", {class: "bad"}, "Conflict"), ...node.claims.map(([source, path, confidence]) =>
      make("div", {}, `${source} says ${path || "the root"} (${confidence.toFixed(2)})`))] : []),
    make("h4", {}, "Reads"), ...node.reads.map(v => valueLine(v, from)),
    make("h4", {}, "Makes"), ...node.makes.map(v => valueLine(v, to)));
}

let tab = "Graph";
let shown = null;

function showModule(m) {
  const module = modules[m];
  const way = [];
  for (let above = module.parent; above >= 0; above = modules[above].parent) {
    way.unshift(link(above === 0 ? titleOf(modules[0]) : modules[above].name, () => go(`m=${above}`)), " / ");
  }
  const tabs = [["Graph", showGraph], [`Nodes (${number(module.count)})`, showNodes], ["Boundary", showBoundary],
                ["Parameters", showParameters], [`Conflicts (${number(conflictsOf(module).length)})`, showConflicts]];
  const panel = make("div", {id: "panel", role: "tabpanel"});
  const bar = make("div", {class: "tabs", role: "tablist"});
  const choose = title => {
    tab = title.split(" ")[0];
    for (const button of bar.children) {
      button.setAttribute("aria-selected", String(button.textContent.split(" ")[0] === tab));
    }
    panel.replaceChildren(tabs.find(([name]) => name.split(" ")[0] === tab)[1](module));
  };
  bar.append(...tabs.map(([title]) => make("button", {role: "tab", onclick: () => choose(title)}, title)));
  at("content").replaceChildren(
    make("div", {class: "way"}, ...way),
    make("h2", {}, m === 0 ? titleOf(module) : module.name, " ", m === 0 && !module.path ? "" : chip(module.cls) || ""),
    make("div", {class: "tag"}, module.tag || "no tag of its own"),
    make("div", {class: "facts"}, counted(module.count, "node"),
         fact("of all", percent(module.count / Math.max(1, nodes.length))),
         fact("directly", number(module.ownNodes)), counted(module.parameters, "parameter"),
         fact(module.children.length === 1 ? "module inside" : "modules inside", number(module.end - m - 1)),
         module.calls >= 0 ? counted(module.calls, "call") : "",
         module.qualified ? make("span", {}, module.qualified) : ""),
    bar, panel);
  choose(tab);
  at("content").scrollTop = 0;
}

let arrived = null;
const go = place => {
  location.hash = place;
  arrive();
};
function arrive() {
  arrived = location.hash;
  const place = new URLSearchParams(location.hash.slice(1));
  const read = (key, count) => {
    const found = Number(place.get(key) ?? NaN);
    return Number.isInteger(found) && found >= 0 && found < count ? found : undefined;
  };
  const m = read("m", modules.length) ?? 0;
  chosen = m;
  if (shown !== m) {
    shown = m;
    showModule(m);
    reveal(m);
  }
  showDetail(read("n", nodes.length));
}

showHead();
at("tree").append(make("ul", {}, makeRow(0)));
setOpen(0, true);
for (let m = 0; modules[m].children.length === 1;) { // ways without a choice
  m = modules[m].children[0];
  setOpen(m, true);
}
at("search").addEventListener("input", event => search(event.target.value));
window.addEventListener("hashchange", () => location.hash === arrived || arrive());
arrive();
document.documentElement.dataset.ready = "true";
)js";

} // namespace stemma::detail

#endif // STEMMA_DETAIL_REPORT_GRAPH_HPP

// <stemma/detail/report_layout.hpp>
#ifndef STEMMA_DETAIL_REPORT_LAYOUT_HPP
#define STEMMA_DETAIL_REPORT_LAYOUT_HPP

namespace stemma::detail {

/// The part of a report's script that finds places for boxes and ways for edges.
inline constexpr std::string_view report_layout = R"js(
"use strict";

// Puts boxes on layers below one another. A box has a width and a height, an edge has the numbers
// `from` and `to` of boxes; boxes are in an order in which most edges lead forward.
// Gives boxes a middle `x` and `y`, edges a list of `points`; returns the size of the picture.
function layOut(boxes, edges) {
  const gapX = 22, gapY = 34, margin = 16;
  const ways = edges.map(e => e.from < e.to ? [e.from, e.to] : [e.to, e.from]);
  const layer = assignLayers(boxes.length, ways);
  const places = boxes.map((box, i) => ({width: box.width, height: box.height, layer: layer[i], up: [], down: []}));
  const chains = ways.map(([from, to]) => makeChain(places, from, to));
  const layers = [];
  for (const place of places) {
    (layers[place.layer] = layers[place.layer] || []).push(place);
  }
  for (let l = 0; l < layers.length; ++l) {
    layers[l] = layers[l] || [];
  }
  sortLayers(layers);
  placeAcross(layers, gapX);
  let y = margin;
  for (const row of layers) {
    const height = Math.max(0, ...row.map(place => place.height));
    for (const place of row) {
      place.y = y + height / 2;
      place.half = height / 2;
    }
    y += height + gapY;
  }
  const left = Math.min(...places.map(p => p.x - p.width / 2)) - margin;
  const right = Math.max(...places.map(p => p.x + p.width / 2)) + margin;
  for (const place of places) {
    place.x -= left;
  }
  boxes.forEach((box, i) => {
    box.x = places[i].x;
    box.y = places[i].y;
  });
  edges.forEach((edge, i) => {
    const chain = chains[i];
    edge.back = edge.from > edge.to;
    edge.points = chain.flatMap((place, at) => {
      const reach = at === 0 || at === chain.length - 1 ? place.height / 2 : place.half;
      const top = {x: place.x, y: place.y - reach};
      const bottom = {x: place.x, y: place.y + reach};
      return at === 0 ? [bottom] : at === chain.length - 1 ? [top] : [top, bottom];
    });
    if (edge.back) {
      edge.points.reverse();
    }
  });
  return {width: right - left, height: y - gapY + margin};
}

// Every box lies below all that it reads from; one that reads nothing, right above its readers.
function assignLayers(count, ways) {
  const layer = new Int32Array(count);
  const out = Array.from({length: count}, () => []);
  const reads = new Int32Array(count);
  for (const [from, to] of ways) {
    out[from].push(to);
    ++reads[to];
  }
  for (let i = 0; i < count; ++i) {
    for (const to of out[i]) {
      layer[to] = Math.max(layer[to], layer[i] + 1);
    }
  }
  for (let i = count; i-- > 0;) {
    if (reads[i] === 0 && out[i].length > 0) {
      layer[i] = Math.min(...out[i].map(to => layer[to])) - 1;
    }
  }
  return layer;
}

// An edge over several layers gets a narrow place on each of them.
function makeChain(places, from, to) {
  const chain = [places[from]];
  for (let l = places[from].layer + 1; l < places[to].layer; ++l) {
    const place = {width: 4, height: 0, layer: l, up: [], down: [], bend: true};
    places.push(place);
    chain.push(place);
  }
  chain.push(places[to]);
  for (let i = 1; i < chain.length; ++i) {
    chain[i - 1].down.push(chain[i]);
    chain[i].up.push(chain[i - 1]);
  }
  return chain;
}

// Sorts each layer by where the neighbours stand, down and up in turn, so that few edges cross.
function sortLayers(layers) {
  const number = row => row.forEach((place, i) => { place.at = i; });
  const mean = list => list.reduce((sum, place) => sum + place.at, 0) / list.length;
  layers.forEach(number);
  for (let round = 0; round < 10; ++round) {
    const downwards = round % 2 === 0;
    const rows = downwards ? layers : [...layers].reverse();
    for (const row of rows) {
      for (const place of row) {
        const list = downwards ? place.up : place.down;
        place.wish = list.length > 0 ? mean(list) : place.at;
      }
      row.sort((a, b) => a.wish - b.wish || a.at - b.at);
      number(row);
    }
  }
}

// Moves the places of each layer towards their neighbours as far as their order and widths allow.
function placeAcross(layers, gap) {
  for (const row of layers) {
    let x = 0;
    for (const place of row) {
      place.x = x + place.width / 2;
      x += place.width + gap;
    }
    row.forEach(place => { place.x -= x / 2; });
  }
  const rounds = 24;
  for (let round = 0; round < rounds; ++round) {
    const downwards = round % 2 === 0;
    for (const row of downwards ? layers : [...layers].reverse()) {
      spread(row, gap, place => {
        const list = round > rounds - 7 ? [...place.up, ...place.down] : downwards ? place.up : place.down;
        let weight = 0, sum = 0;
        for (const other of list) { // long edges shall be straight, then those between single neighbours
          const pull = place.bend && other.bend ? 8 : other.up.length + other.down.length <= 2 ? 2 : 1;
          weight += pull;
          sum += pull * other.x;
        }
        return weight === 0 ? place.x : sum / weight;
      });
    }
  }
}

// The places in order, none nearer than a gap, with the least sum of squares of what they are away
// from their wishes: neighbours that want to be closer than that form blocks.
function spread(row, gap, wish) {
  const blocks = [];
  let offset = 0;
  row.forEach((place, i) => {
    offset += i === 0 ? 0 : (row[i - 1].width + place.width) / 2 + (place.bend || row[i - 1].bend ? gap / 2 : gap);
    place.offset = offset;
    const weight = place.bend ? 3 : 1;
    let block = {first: i, weight, mean: wish(place) - offset};
    while (blocks.length > 0 && blocks[blocks.length - 1].mean > block.mean) {
      const before = blocks.pop();
      const sum = before.weight + block.weight;
      block = {
        first: before.first,
        weight: sum,
        mean: (before.mean * before.weight + block.mean * block.weight) / sum,
      };
    }
    blocks.push(block);
  });
  blocks.forEach((block, b) => {
    const end = b + 1 < blocks.length ? blocks[b + 1].first : row.length;
    for (let i = block.first; i < end; ++i) {
      row[i].x = block.mean + row[i].offset;
    }
  });
}

// A smooth line through points that are passed from above.
function curve(points) {
  let d = `M${points[0].x.toFixed(1)} ${points[0].y.toFixed(1)}`;
  for (let i = 1; i < points.length; ++i) {
    const a = points[i - 1], b = points[i];
    const middle = ((a.y + b.y) / 2).toFixed(1);
    const end = `${b.x.toFixed(1)} ${b.y.toFixed(1)}`;
    d += a.x === b.x ? `L${end}` : `C${a.x.toFixed(1)} ${middle} ${b.x.toFixed(1)} ${middle} ${end}`;
  }
  return d;
}
)js";

} // namespace stemma::detail

#endif // STEMMA_DETAIL_REPORT_LAYOUT_HPP

// <stemma/detail/report_page.hpp>
#ifndef STEMMA_DETAIL_REPORT_PAGE_HPP
#define STEMMA_DETAIL_REPORT_PAGE_HPP

namespace stemma::detail {

/// What stands before the title of a report. The policy keeps it from loading anything.
inline constexpr std::string_view report_head = R"html(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
)html";

inline constexpr std::string_view report_style = R"css(
:root {
  --page: #f8fafc; --panel: #ffffff; --ink: #0f172a; --soft: #475569; --line: #cbd5e1;
  --hover: #eef2f7; --accent: #1d4ed8; --chosen: #dbeafe; --bar: #93c5fd; --bad: #b91c1c;
  --s: 75%; --l: 92%; --edge: #64748b; --end: #e2e8f0;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #0b1120; --panel: #111a2e; --ink: #e2e8f0; --soft: #94a3b8; --line: #2b3a55;
    --hover: #1a2540; --accent: #93c5fd; --chosen: #1e3a5f; --bar: #2f5f9e; --bad: #fca5a5;
    --s: 35%; --l: 24%; --edge: #8394ad; --end: #26334d;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; height: 100vh; display: flex; flex-direction: column; background: var(--page);
  color: var(--ink); font: 14px/1.45 system-ui, "Helvetica Neue", Arial, sans-serif;
}
button { font: inherit; color: inherit; background: none; border: 0; padding: 0; cursor: pointer; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
header {
  padding: 8px 16px; border-bottom: 1px solid var(--line); background: var(--panel);
  display: flex; flex-wrap: wrap; gap: 4px 18px; align-items: baseline;
}
header h1 { font-size: 16px; margin: 0; overflow-wrap: anywhere; }
header span { color: var(--soft); white-space: nowrap; }
header b { color: var(--ink); font-weight: 600; }
main { flex: 1; display: flex; min-height: 0; }
#side {
  width: 400px; min-width: 220px; max-width: 70vw; display: flex; flex-direction: column;
  border-right: 1px solid var(--line); background: var(--panel); resize: horizontal; overflow: hidden;
}
#search {
  margin: 10px; padding: 6px 10px; font: inherit; color: inherit; background: var(--page);
  border: 1px solid var(--line); border-radius: 6px;
}
#tree, #found { flex: 1; overflow: auto; padding: 0 6px 12px; }
#tree ul { list-style: none; margin: 0; padding-left: 14px; }
#tree > ul { padding-left: 0; }
.row {
  display: flex; align-items: center; gap: 6px; padding: 1px 6px; border-radius: 5px;
  white-space: nowrap; cursor: pointer;
}
.row:hover { background: var(--hover); }
.row.chosen { background: var(--chosen); }
.row .toggle { width: 14px; flex: none; color: var(--soft); font-size: 10px; }
.row .label { flex: 1; overflow: hidden; text-overflow: ellipsis; }
.row.empty .label { opacity: 0.6; }
.row .share { width: 44px; height: 6px; flex: none; border-radius: 3px; background: var(--hover); }
.row .share i { display: block; height: 6px; border-radius: 3px; background: var(--bar); }
.row .count { width: 46px; flex: none; text-align: right; color: var(--soft); font-variant-numeric: tabular-nums; }
.class { background: hsl(var(--h) var(--s) var(--l)); border-radius: 4px; padding: 0 5px; font-size: 12px; }
#content { flex: 1; overflow: auto; padding: 14px 18px; min-width: 0; }
#content h2 { margin: 0 0 4px; font-size: 18px; overflow-wrap: anywhere; }
.way button { color: var(--accent); }
.way button:hover, .link:hover { text-decoration: underline; }
.facts { display: flex; flex-wrap: wrap; gap: 2px 18px; color: var(--soft); margin: 4px 0 10px; }
.facts b { color: var(--ink); font-weight: 600; }
.tag { font-family: ui-monospace, Menlo, Consolas, monospace; font-size: 12px; overflow-wrap: anywhere; color: var(--soft); }
.tabs { display: flex; flex-wrap: wrap; gap: 4px; border-bottom: 1px solid var(--line); margin-bottom: 10px; }
.tabs button { padding: 5px 10px; border-radius: 6px 6px 0 0; color: var(--soft); }
.tabs button[aria-selected="true"] { color: var(--ink); font-weight: 600; box-shadow: inset 0 -2px var(--accent); }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: 3px 12px 3px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th { font-weight: 600; color: var(--soft); position: sticky; top: -14px; background: var(--page); }
td { overflow-wrap: anywhere; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
.link { color: var(--accent); text-align: left; overflow-wrap: anywhere; }
.type { font-family: ui-monospace, Menlo, Consolas, monospace; font-size: 12px; color: var(--soft); }
.more { margin: 8px 0; color: var(--accent); }
.note { color: var(--soft); }
.bad { color: var(--bad); }
.graph { overflow: auto; border: 1px solid var(--line); border-radius: 8px; background: var(--panel); max-height: 74vh; }
.tools { display: flex; gap: 6px; margin-bottom: 6px; align-items: center; color: var(--soft); }
.tools button { border: 1px solid var(--line); border-radius: 5px; min-width: 28px; padding: 1px 8px; background: var(--panel); }
svg { display: block; margin: auto; }
svg text { font-size: 12px; fill: var(--ink); text-anchor: middle; dominant-baseline: central; }
svg .sub, svg .flow { font-size: 10px; fill: var(--soft); }
svg .flow { text-anchor: start; }
svg .box rect { fill: var(--panel); stroke: var(--edge); }
svg .box { cursor: pointer; }
svg .box:hover rect, svg .box.chosen rect { stroke: var(--accent); stroke-width: 2.5; }
svg .module rect { fill: hsl(var(--h) var(--s) var(--l)); stroke-width: 1.6; }
svg .module text:first-of-type { font-weight: 600; }
svg .end rect { fill: var(--end); stroke: var(--line); }
svg .end { cursor: default; }
svg .rest rect { stroke-dasharray: 4 3; }
svg path.edge { fill: none; stroke: var(--edge); stroke-width: 1.1; }
svg path.edge.back { stroke-dasharray: 5 3; }
svg .tip { fill: var(--edge); }
#detail { width: 330px; overflow: auto; border-left: 1px solid var(--line); background: var(--panel); padding: 14px; }
#detail[hidden] { display: none; }
#detail h3 { margin: 0 0 4px; font-size: 15px; overflow-wrap: anywhere; }
#detail h4 { margin: 12px 0 2px; font-size: 12px; color: var(--soft); font-weight: 600; }
#detail .close { float: right; color: var(--soft); }
#detail div { overflow-wrap: anywhere; }
@media (max-width: 800px) {
  main { flex-direction: column; overflow: auto; }
  #side, #detail { width: auto; max-width: none; resize: none; border: 0; min-height: 40vh; }
  #content { overflow: visible; }
  body { height: auto; min-height: 100vh; }
}
)css";

inline constexpr std::string_view report_body = R"html(<body>
<header id="head"></header>
<main>
<nav id="side" aria-label="Modules">
<input id="search" type="search" placeholder="Search modules and nodes" aria-label="Search modules and nodes">
<div id="tree"></div>
<div id="found" hidden></div>
</nav>
<section id="content" aria-live="polite"></section>
<aside id="detail" hidden aria-label="Node"></aside>
</main>
<noscript>This report needs JavaScript; it loads nothing from elsewhere.</noscript>
)html";

} // namespace stemma::detail

#endif // STEMMA_DETAIL_REPORT_PAGE_HPP

// <stemma/detail/report_script.hpp>
#ifndef STEMMA_DETAIL_REPORT_SCRIPT_HPP
#define STEMMA_DETAIL_REPORT_SCRIPT_HPP

namespace stemma::detail {

/// The part of a report's script that shows the tree, and modules as tables.
inline constexpr std::string_view report_script = R"js(
const data = JSON.parse(document.getElementById("data").textContent);
const kinds = ["intermediate", "input", "formal input", "initializer", "sparse initializer", "undefined"];
const initializer = 3, sparse = 4;
const pageSize = 200, mostBoxes = 250, mostLabels = 90;

const types = [];
const values = data.values.map(([name, kind, type]) => {
  if (typeof type === "string") {
    types.push(type);
  }
  return {name, kind, type: typeof type === "string" ? type : types[type], producer: -1, readers: []};
});
for (const value of data.results) {
  if (value >= 0) {
    values[value].result = true;
  }
}
const modules = data.modules.map(
  ([name, cls, qualified, parent, tag, infrastructure, ownNodes, count, parameters, calls, tensors], m) =>
    ({m, name, cls, qualified, parent, tag, infrastructure, ownNodes, count, parameters, calls, tensors,
      children: [], own: [], end: m + 1, path: ""}));
for (let m = modules.length; m-- > 1;) {
  const above = modules[modules[m].parent];
  above.end = Math.max(above.end, modules[m].end);
}
for (const module of modules.slice(1)) {
  const above = modules[module.parent];
  above.children.push(module.m);
  module.path = above.m === 0 ? module.name : `${above.path}.${module.name}`;
}
const nodes = data.nodes.map(([name, op, module, source, confidence, reads, makes, hidden, claims], n) =>
  ({n, name, op: data.operators[op], module, source: data.provenances[source], confidence, reads, makes, hidden, claims}));
for (const node of nodes) {
  modules[node.module].own.push(node.n);
  node.makes.forEach(value => { values[value].producer = node.n; });
}
for (const node of nodes) {
  for (const value of new Set([...node.reads, ...node.hidden])) {
    if (value >= 0) {
      values[value].readers.push(node.n);
    }
  }
}
const hues = new Map();
const hueOf = cls => {
  if (!hues.has(cls)) {
    hues.set(cls, Math.round(hues.size * 137.5 + 210) % 360);
  }
  return hues.get(cls);
};
modules.forEach(module => module.cls && hueOf(module.cls));

const number = n => n.toLocaleString("en-US");
const plural = (n, what) => `${number(n)} ${what}${n === 1 ? "" : "s"}`;
const titleOf = module => module.path || module.cls || module.name || "model";
const percent = share => share > 0 && share < 0.001 ? "< 0.1 %" : `${(100 * share).toFixed(1)} %`;
const holds = (module, node) => node.module >= module.m && node.module < module.end;
const isWeight = value => value.kind === initializer || value.kind === sparse;

// An element with properties and children; texts are never read as markup.
function make(name, properties = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key.startsWith("on")) {
      element.addEventListener(key.slice(2), value);
    } else if (value !== undefined && value !== false) {
      element.setAttribute(key, value);
    }
  }
  element.append(...children.filter(child => child !== undefined && child !== null));
  return element;
}
function draw(name, properties, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(properties)) {
    element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}
const fact = (what, text) => make("span", {}, make("b", {}, text), ` ${what}`);
const counted = (n, what) => fact(n === 1 ? what : `${what}s`, number(n));
const link = (text, action) => make("button", {class: "link", onclick: action}, text);
const chip = cls => cls ? make("span", {class: "class", style: `--h:${hueOf(cls)}`}, cls) : undefined;
const at = id => document.getElementById(id);

function showHead() {
  const told = data.summary;
  const sources = Object.entries(told.provenance).sort((a, b) => b[1] - a[1])
    .map(([source, count]) => `${source} ${number(count)}`).join(", ");
  at("head").replaceChildren(
    make("h1", {title: told.model}, told.model.split("/").pop()),
    counted(nodes.length, "node"), counted(modules.length, "module"), counted(modules[0].parameters, "parameter"),
    fact("of the nodes attributed", percent(told.coverage)),
    make("span", {}, "known from ", make("b", {}, sources || "nothing")),
    counted(told.conflicts, "conflict"),
    make("span", {}, [data.producer.trim(), `IR ${data.ir}`,
      ...Object.entries(data.opsets).map(([domain, version]) => `${domain} ${version}`)].filter(Boolean).join(", ")));
}

// The tree: rows are made when the module above is opened.
const rows = new Map();
let chosen = 0;

function makeRow(m) {
  const module = modules[m];
  const toggle = make("span", {class: "toggle", "aria-hidden": "true"}, module.children.length > 0 ? "\u25b6" : "");
  const name = m === 0 ? "" : module.name;
  const row = make("div", {
    class: "row" + (module.count === 0 ? " empty" : ""), "data-module": m, tabindex: "0", title: module.tag || module.path,
    onclick: event => {
      if (event.target === toggle) {
        setOpen(m, !rows.get(m).open);
      } else {
        go(`m=${m}`);
      }
    },
    onkeydown: event => {
      const all = [...at("tree").querySelectorAll(".row")];
      const next = {ArrowDown: 1, ArrowUp: -1}[event.key];
      if (next) {
        (all[all.indexOf(row) + next] || row).focus();
      } else if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
        setOpen(m, event.key === "ArrowRight");
      } else if (event.key === "Enter" || event.key === " ") {
        go(`m=${m}`);
      } else {
        return;
      }
      event.preventDefault();
    }},
    toggle,
    make("span", {class: "label"}, make("b", {}, name || (module.cls ? "" : titleOf(module))),
         name && module.cls ? " " : "", chip(module.cls) || ""),
    make("span", {class: "share"}, make("i", {style: `width:${100 * module.count / Math.max(1, nodes.length)}%`})),
    make("span", {class: "count", title: plural(module.parameters, "parameter")}, number(module.count)));
  const item = make("li", {}, row);
  if (module.children.length > 0) {
    item.setAttribute("aria-expanded", "false");
  }
  rows.set(m, {row, item, toggle, open: false, list: null});
  return item;
}

function setOpen(m, open) {
  const entry = rows.get(m);
  if (modules[m].children.length === 0 || entry.open === open) {
    return;
  }
  entry.open = open;
  entry.toggle.textContent = open ? "\u25bc" : "\u25b6";
  entry.item.setAttribute("aria-expanded", String(open));
  if (open && !entry.list) {
    entry.list = make("ul", {}, ...modules[m].children.map(makeRow));
    entry.item.append(entry.list);
  }
  if (entry.list) {
    entry.list.hidden = !open;
  }
}

function reveal(m) {
  const way = [];
  for (let above = modules[m].parent; above >= 0; above = modules[above].parent) {
    way.unshift(above);
  }
  way.forEach(above => setOpen(above, true));
  document.querySelectorAll(".row.chosen").forEach(row => row.classList.remove("chosen"));
  rows.get(m).row.classList.add("chosen");
  rows.get(m).row.scrollIntoView({block: "nearest"});
}

function search(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  at("tree").hidden = words.length > 0;
  at("found").hidden = words.length === 0;
  const fits = (...texts) => {
    const all = texts.join(" ").toLowerCase();
    return words.every(word => all.includes(word));
  };
  const list = [];
  const add = (all, matches, show) => {
    const hits = all.filter(matches);
    hits.slice(0, 100).forEach(hit => list.push(show(hit)));
    return hits.length;
  };
  const inTree = add(modules, module => fits(module.path, module.cls, module.tag), module =>
    make("div", {class: "row", "data-module": module.m, onclick: () => go(`m=${module.m}`)},
         make("span", {class: "label"}, make("b", {}, titleOf(module)), " ", chip(module.cls) || ""),
         make("span", {class: "count"}, number(module.count))));
  const inGraph = add(nodes, node => fits(node.name, node.op), node =>
    make("div", {class: "row", "data-node": node.n, onclick: () => go(`m=${node.module}&n=${node.n}`)},
         make("span", {class: "label"}, node.name, " ", make("span", {class: "note"}, node.op))));
  at("found").replaceChildren(
    make("p", {class: "note"}, `${plural(inTree, "module")}, ${plural(inGraph, "node")}`), ...list);
}

// What goes in and out of a module: values, with what is at their other ends.
function boundaryOf(module) {
  const ins = new Map(), outs = new Map(), weights = new Set();
  for (let m = module.m; m < module.end; ++m) {
    for (const n of modules[m].own) {
      const node = nodes[n];
      for (const v of [...node.reads, ...node.hidden]) {
        const value = values[v];
        if (v < 0 || (value.producer >= 0 && holds(module, nodes[value.producer]))) {
          continue;
        }
        if (isWeight(value)) {
          weights.add(v);
        } else if (value.producer < 0 || nodes[value.producer].op !== "Constant") {
          ins.set(v, value.producer);
        }
      }
      for (const v of node.makes) {
        const readers = values[v].readers.filter(reader => !holds(module, nodes[reader]));
        if (node.op !== "Constant" && (readers.length > 0 || values[v].result)) {
          outs.set(v, readers);
        }
      }
    }
  }
  return {ins, outs, weights: [...weights]};
}

const nodeLink = n => link(nodes[n].name, () => go(`m=${nodes[n].module}&n=${n}`));
const moduleLink = m => link(titleOf(modules[m]), () => go(`m=${m}`));

function makeTable(heads, lines) {
  const table = make("table", {}, make("thead", {}, make("tr", {}, ...heads.map(head =>
    make("th", {class: head.startsWith("#") ? "number" : ""}, head.replace("#", ""))))));
  const body = make("tbody");
  table.append(body);
  const box = make("div", {}, table);
  const more = make("button", {class: "more"});
  let shown = 0;
  const showMore = () => {
    const next = lines.slice(shown, shown + pageSize);
    shown += next.length;
    body.append(...next.map(line => make("tr", {}, ...line().map((cell, i) =>
      make("td", {class: heads[i].startsWith("#") ? "number" : ""}, ...[cell].flat())))));
    more.textContent = `Show more: ${number(lines.length - shown)} left`;
    more.hidden = shown >= lines.length;
  };
  more.addEventListener("click", showMore);
  showMore();
  box.append(more);
  return lines.length > 0 ? box : make("p", {class: "note"}, "None.");
}

function showBoundary(module) {
  const {ins, outs, weights} = boundaryOf(module);
  const type = v => make("span", {class: "type"}, values[v].type || "unknown");
  return make("div", {},
    make("h3", {}, `Inputs (${ins.size})`),
    makeTable(["tensor", "type", "from"], [...ins].map(([v, producer]) => () =>
      [values[v].name, type(v), producer >= 0 ? [nodeLink(producer)] : kinds[values[v].kind]])),
    make("h3", {}, `Outputs (${outs.size})`),
    makeTable(["tensor", "type", "to"], [...outs].map(([v, readers]) => () =>
      [values[v].name, type(v), [...(values[v].result ? ["output of the model "] : []),
        ...[...new Set(readers.map(n => nodes[n].module))].slice(0, 8).flatMap(m => [moduleLink(m), " "])]])),
    make("h3", {}, `Weights (${weights.length})`),
    makeTable(["initializer", "type"], weights.map(v => () => [values[v].name, type(v)])));
}

function showNodes(module) {
  const all = [];
  for (let m = module.m; m < module.end; ++m) {
    all.push(...modules[m].own);
  }
  all.sort((a, b) => a - b);
  const filter = make("input", {type: "search", placeholder: "Filter", "aria-label": "Filter nodes"});
  const table = make("div");
  const show = () => {
    const text = filter.value.toLowerCase();
    const kept = all.filter(n => `${nodes[n].name} ${nodes[n].op}`.toLowerCase().includes(text));
    table.replaceChildren(makeTable(["node", "operator", "module", "known from", "#confidence"], kept.map(n => () => [
      [nodeLink(n)], nodes[n].op, [moduleLink(nodes[n].module)], nodes[n].source, nodes[n].confidence.toFixed(2)])));
  };
  filter.addEventListener("input", show);
  show();
  return make("div", {}, make("div", {class: "tools"}, filter), table);
}

function showParameters(module) {
  const lines = [];
  for (let m = module.m; m < module.end; ++m) {
    for (const [name, type, kind, elements] of modules[m].tensors) {
      lines.push(() => [[moduleLink(m)], name, make("span", {class: "type"}, type), kind, number(elements)]);
    }
  }
  const declared = modules.some(each => each.tensors.length > 0);
  return declared ? makeTable(["module", "name", "type", "kind", "#elements"], lines)
    : make("div", {}, make("p", {class: "note"}, "The file declares no parameters of modules; these weights are read here."),
           makeTable(["initializer", "type"], boundaryOf(module).weights.map(v => () =>
             [values[v].name, make("span", {class: "type"}, values[v].type)])));
}

const conflictsOf = module => nodes.filter(node => node.claims.length > 0 && holds(module, node));

function showConflicts(module) {
  return makeTable(["node", "decided", "claims"], conflictsOf(module).map(node => () => [
    [nodeLink(node.n)], [moduleLink(node.module)], node.claims.map(([source, path, confidence]) =>
      make("div", {}, `${source} says ${path || "the root"} (${confidence.toFixed(2)})`))]));
}
)js";

} // namespace stemma::detail

#endif // STEMMA_DETAIL_REPORT_SCRIPT_HPP

// <stemma/onnx/module_statistics.hpp>
#ifndef STEMMA_ONNX_MODULE_STATISTICS_HPP
#define STEMMA_ONNX_MODULE_STATISTICS_HPP

namespace stemma {

/// How many nodes, parameters and operators of which type a module has, itself and with all below.
/// Columns are by module.
struct module_statistics {
    /// How often an operator occurs.
    struct operator_count {
        id op = no_id; ///< number of the operator in the model
        id count = 0;  ///< how many nodes
    };

    std::vector<id> own_nodes;                 ///< nodes whose deepest module it is
    std::vector<id> nodes;                     ///< of it and of all below
    std::vector<std::uint64_t> own_parameters; ///< elements, shared ones with every owner
    std::vector<std::uint64_t> parameters;     ///< elements, shared ones once
    std::vector<std::uint64_t> trainable;      ///< of `parameters`; 0 where the tree declares none
    std::vector<std::vector<operator_count>> operators; ///< with all below; the most frequent first
    bool declared = false; ///< parameters are those the tree declares, not the model's initializers
};

namespace detail {

inline void add_up(const tree_index& tree, std::vector<std::uint64_t>& column) {
    for (auto m = static_cast<id>(tree.size()); m-- > 1;) {
        column[tree.parent(m)] += column[m];
    }
}

/// Counts what the tree declares. What several modules share counts once where they meet.
inline void count_declared(const module_tree& modules, module_statistics& result) {
    const auto& tree = modules.index();
    for (id m = 0; m < modules.size(); ++m) {
        for (std::size_t i = 0; i < modules.parameter_count(m); ++i) {
            const auto parameter = modules.parameter(m, i);
            result.own_parameters[m] += parameter.elements();
            result.trainable[m] += parameter.trainable ? parameter.elements() : 0;
        }
    }
    result.parameters = result.own_parameters;
    const module_lookup<module_tree> lookup(modules);
    for (const auto& group : modules.shared_parameters()) {
        std::vector<std::pair<id, std::size_t>> owners; // module, which of its parameters
        for (const auto& path : group) {
            const auto dot = path.rfind('.');
            const auto owner =
                find_module(lookup, dot == path.npos ? "" : std::string_view(path).substr(0, dot));
            const auto name = std::string_view(path).substr(dot == path.npos ? 0 : dot + 1);
            for (std::size_t i = 0; owner != no_id && i < modules.parameter_count(owner); ++i) {
                if (modules.parameter(owner, i).name == name) {
                    owners.emplace_back(owner, i);
                }
            }
        }
        std::sort(owners.begin(), owners.end());
        for (std::size_t i = 1; i < owners.size(); ++i) {
            const auto meet = tree.lca(owners[i - 1].first, owners[i].first);
            const auto parameter = modules.parameter(owners[i].first, owners[i].second);
            result.parameters[meet] -= parameter.elements();
            result.trainable[meet] -= parameter.trainable ? parameter.elements() : 0;
        }
    }
}

/// Counts the weights of the model: each with the module its name speaks of, else where its readers
/// meet.
inline void count_initializers(const wire_model& model, const module_tree& modules,
                               const tagging& found, module_statistics& result) {
    const module_lookup<module_tree> lookup(modules);
    std::vector<id> meets(model.value_count(), no_id);
    for (id node = 0; node < model.node_count(); ++node) {
        for (auto value : model.inputs(node)) {
            if (value != no_id && model.is_initializer(value)) {
                const auto module = found.attributions[node].module;
                meets[value] =
                    meets[value] == no_id ? module : modules.index().lca(meets[value], module);
            }
        }
    }
    for (const auto& tensor : model.tensors()) {
        const auto header = read_tensor_header(model, tensor);
        if (!is_floating_type(header.data_type)) {
            continue;
        }
        const auto path = owner_path(model.text(tensor.name));
        const auto owner = path.empty() ? no_id : find_module(lookup, path);
        const auto module = owner != no_id ? owner : meets[tensor.value];
        result.own_parameters[module == no_id ? 0 : module] += header.elements();
    }
    result.parameters = result.own_parameters;
}

} // namespace detail

/// Complexity: O(nodes + values + modules), and modules times operator types for the operators.
[[nodiscard]] inline module_statistics
collect_statistics(const wire_model& model, const module_tree& modules, const tagging& found) {
    const auto& tree = modules.index();
    module_statistics result;
    result.own_nodes.resize(modules.size());
    result.own_parameters.resize(modules.size());
    result.trainable.resize(modules.size());
    result.operators.resize(modules.size());
    for (const auto& made : found.attributions) {
        ++result.own_nodes[made.module];
    }
    for (id m = 0; m < modules.size() && !result.declared; ++m) {
        result.declared = modules.parameter_count(m) > 0;
    }
    result.declared ? detail::count_declared(modules, result)
                    : detail::count_initializers(model, modules, found, result);
    detail::add_up(tree, result.parameters);
    detail::add_up(tree, result.trainable);
    result.nodes = result.own_nodes;
    for (auto m = static_cast<id>(tree.size()); m-- > 1;) {
        result.nodes[tree.parent(m)] += result.nodes[m];
    }
    std::vector<std::pair<id, id>> pairs; // module, operator
    for (id node = 0; node < model.node_count(); ++node) {
        pairs.emplace_back(found.attributions[node].module, model.operator_id(node));
    }
    std::sort(pairs.begin(), pairs.end());
    for (std::size_t i = 0, end = 0; i < pairs.size(); i = end) {
        while (end < pairs.size() && pairs[end] == pairs[i]) {
            ++end;
        }
        result.operators[pairs[i].first].push_back({pairs[i].second, static_cast<id>(end - i)});
    }
    const auto merge_into = [](auto& above, const auto& below) {
        for (const auto& more : below) {
            const auto same = std::find_if(above.begin(), above.end(),
                                           [&](const auto& known) { return known.op == more.op; });
            same == above.end() ? above.push_back(more)
                                : static_cast<void>(same->count += more.count);
        }
    };
    for (auto m = static_cast<id>(tree.size()); m-- > 1;) {
        merge_into(result.operators[tree.parent(m)], result.operators[m]);
    }
    for (auto& operators : result.operators) {
        std::sort(operators.begin(), operators.end(), [&](const auto& a, const auto& b) {
            return a.count != b.count ? a.count > b.count
                                      : model.operator_type(a.op) < model.operator_type(b.op);
        });
    }
    return result;
}

} // namespace stemma

#endif // STEMMA_ONNX_MODULE_STATISTICS_HPP

// <stemma/onnx/report_names.hpp>
#ifndef STEMMA_ONNX_REPORT_NAMES_HPP
#define STEMMA_ONNX_REPORT_NAMES_HPP

namespace stemma {

/// Names under which reports list nodes and initializers: no two are equal.
///
/// A node has its own name; where that is empty, occurs again or names an initializer too, its
/// graph and position, `#7` or `5/then_branch#2`. An initializer has its own name; where another
/// graph has one of that name, the graph in front, `5/then_branch##weight`. Names that read like
/// one of these are treated as if they occurred again.
class report_names {
public:
    /// Requires: the model outlives this. Complexity: O(nodes + values + length of names).
    explicit report_names(const onnx_model& model)
        : model_(&model), node_named_(model.node_count()), value_named_(model.value_count()) {
        std::unordered_map<std::string_view, id> graphs;
        for (id g = 0; g < model.graph_count(); ++g) {
            graph_paths_.push_back(model.graph_path(g));
        }
        for (id g = 0; g < model.graph_count(); ++g) {
            graphs.emplace(graph_paths_[g], g);
        }
        std::unordered_map<std::string_view, int> initializers;
        for (id value = 0; value < model.value_count(); ++value) {
            if (model.is_initializer(value)) {
                ++initializers[model.value_name(value)];
            }
        }
        std::unordered_map<std::string_view, int> nodes;
        for (id node = 0; node < model.node_count(); ++node) {
            ++nodes[model.name(node)];
        }
        for (id node = 0; node < model.node_count(); ++node) {
            const auto name = model.name(node);
            node_named_[node] = !name.empty() && nodes[name] == 1 && !initializers.contains(name) &&
                                !reads_like_place(name, graphs);
        }
        for (id value = 0; value < model.value_count(); ++value) {
            const auto name = model.value_name(value);
            value_named_[value] = model.is_initializer(value) && initializers[name] == 1 &&
                                  !reads_like_place(name, graphs);
        }
    }

    /// Returns: the name of a node.
    [[nodiscard]] std::string node(id node) const {
        return node_named_[node] ? std::string(model_->name(node)) : position(node);
    }

    /// Returns: the name of an initializer.
    [[nodiscard]] std::string initializer(id value) const {
        const std::string name(model_->value_name(value));
        return value_named_[value] ? name
                                   : graph_paths_[model_->graph_of_value(value)] + "##" + name;
    }

    /// Returns: `#7`, or `5/then_branch#2` for a node of a body.
    [[nodiscard]] std::string position(id node) const {
        return graph_paths_[model_->graph_of(node)] + "#" + std::to_string(model_->position(node));
    }

    /// Returns: as `onnx_model::graph_path`; valid as long as this.
    [[nodiscard]] const std::string& graph_path(id g) const { return graph_paths_[g]; }

private:
    [[nodiscard]] bool
    reads_like_place(std::string_view name,
                     const std::unordered_map<std::string_view, id>& graphs) const {
        if (const auto marks = name.find("##");
            marks != name.npos && graphs.contains(name.substr(0, marks))) {
            return true;
        }
        const auto mark = name.rfind('#');
        if (mark == name.npos || !graphs.contains(name.substr(0, mark))) {
            return false;
        }
        const auto digits = name.substr(mark + 1);
        const auto end = digits.data() + digits.size();
        id number = 0;
        const auto read = std::from_chars(digits.data(), end, number);
        return !digits.empty() && read.ptr == end;
    }

    const onnx_model* model_;
    std::vector<std::string> graph_paths_;
    std::vector<bool> node_named_;
    std::vector<bool> value_named_;
};

} // namespace stemma

#endif // STEMMA_ONNX_REPORT_NAMES_HPP

// <stemma/onnx/summary.hpp>
#ifndef STEMMA_ONNX_SUMMARY_HPP
#define STEMMA_ONNX_SUMMARY_HPP

namespace stemma {

/// What there is to say of a tagged model as a whole (`stemma.summary/1`).
struct tag_summary {
    std::string model;      ///< what to call it: its path, say
    std::size_t nodes = 0;  ///< that were looked at
    std::size_t tagged = 0; ///< nodes with evidence or propagated tags: all but those left to the
                            ///< root because nothing is known
    std::size_t values = 0; ///< of the whole model
    std::size_t values_tagged = 0; ///< of them, that have a tag
    std::size_t initializers = 0;  ///< among the values
    std::size_t modules = 0;       ///< of the tree
    std::size_t conflicts = 0;     ///< nodes about which claims disagree
    std::size_t dropped = 0;       ///< nodes with claims that were not believed

    /// Nodes, by the number of the provenance.
    std::array<std::size_t, provenance_count> provenance{};
    std::vector<std::pair<std::string, std::size_t>> tags; ///< primary tag and nodes, most first
    std::map<std::string, std::size_t> dialects;           ///< nodes by name of the dialect
    std::size_t full_scope = 0;             ///< nodes whose metadata or name gives path and class
    std::size_t path_only = 0;              ///< nodes whose name gives a path
    std::size_t name_only = 0;              ///< nodes that say no more than their operator
    std::optional<accuracy> against_oracle; ///< where there is one to compare with
    std::vector<std::pair<std::string, accuracy>> oracle_modules; ///< by true module
    double seconds = 0;                                           ///< that it took to find all this

    /// Returns: the share of `nodes` that are `tagged`; 1 where there are none.
    [[nodiscard]] double coverage() const noexcept {
        return nodes == 0 ? 1 : static_cast<double>(tagged) / static_cast<double>(nodes);
    }
};

/// Sums up some nodes of a model, and its values. Complexity: O(nodes + values + length of the
/// tags).
[[nodiscard]] inline tag_summary summarize(const onnx_model& model, const module_tree& modules,
                                           const tagging& found, const dialect_report& dialects,
                                           std::span<const id> nodes) {
    tag_summary summary;
    summary.nodes = nodes.size();
    summary.values = model.value_count();
    summary.values_tagged = model.value_count();
    summary.modules = modules.size();
    summary.dropped = found.dropped;
    for (id value = 0; value < model.value_count(); ++value) {
        summary.initializers += model.is_initializer(value) ? 1U : 0U;
    }
    std::vector<std::size_t> by_module(modules.size());
    std::array<std::size_t, dialect_count> by_dialect{};
    for (auto node : nodes) {
        const auto& made = found.attributions[node];
        summary.conflicts += found.conflicts.of(node).empty() ? 0U : 1U;
        ++summary.provenance[static_cast<std::size_t>(made.source)];
        summary.tagged += made.source == provenance::root ? 0U : 1U;
        ++by_module[found.selected(node)];
        ++by_dialect[static_cast<std::size_t>(dialects.of[node])];
        switch (dialects.quality[node]) {
        case scope_quality::path_and_class:
            ++summary.full_scope;
            break;
        case scope_quality::path:
            ++summary.path_only;
            break;
        case scope_quality::operator_only:
            ++summary.name_only;
            break;
        }
    }
    for (std::size_t d = 0; d < dialect_count; ++d) {
        if (static_cast<dialect>(d) != dialect::none && by_dialect[d] > 0) {
            summary.dialects.emplace(to_string(static_cast<dialect>(d)), by_dialect[d]);
        }
    }
    for (id m = 0; m < modules.size(); ++m) {
        if (by_module[m] > 0) {
            summary.tags.emplace_back(found.tags.text(m), by_module[m]);
        }
    }
    std::stable_sort(summary.tags.begin(), summary.tags.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    return summary;
}

/// The same of all nodes.
[[nodiscard]] inline tag_summary summarize(const onnx_model& model, const module_tree& modules,
                                           const tagging& found, const dialect_report& dialects) {
    std::vector<id> nodes(model.node_count());
    std::iota(nodes.begin(), nodes.end(), id{0});
    return summarize(model, modules, found, dialects, nodes);
}

namespace detail {

template <text_sink Sink>
void write_accuracy(json_writer<Sink>& json, const accuracy& counts) {
    json.member("exact", counts.exact);
    json.member("ancestor", counts.ancestor);
    json.member("descendant", counts.descendant);
    json.member("contaminated", counts.contaminated);
    json.member("missing", counts.missing);
}

} // namespace detail

/// Writes the members of a summary into an object that is open.
/// Complexity: O(length of what it writes).
template <text_sink Sink>
void write_summary(json_writer<Sink>& json, const tag_summary& summary) {
    json.member("model", summary.model);
    json.member("nodes", summary.nodes);
    json.member("tagged", summary.tagged);
    json.member("coverage", summary.coverage());
    json.key("provenance");
    json.begin_object(true);
    for (std::size_t p = 0; p < provenance_count; ++p) {
        if (summary.provenance[p] > 0) {
            json.member(to_string(static_cast<provenance>(p)), summary.provenance[p]);
        }
    }
    json.end_object();
    json.key("tags");
    json.begin_object();
    for (const auto& [tag, nodes] : summary.tags) {
        json.member(tag, nodes);
    }
    json.end_object();
    json.member("values", summary.values);
    json.member("values_tagged", summary.values_tagged);
    json.member("initializers", summary.initializers);
    json.member("modules", summary.modules);
    json.member("conflicts", summary.conflicts);
    json.key("dialects");
    json.begin_object(true);
    for (const auto& [dialect, nodes] : summary.dialects) {
        json.member(dialect, nodes);
    }
    json.end_object();
    json.key("scope_quality");
    json.begin_object(true);
    json.member("full", summary.full_scope);
    json.member("path", summary.path_only);
    json.member("name", summary.name_only);
    json.end_object();
    if (summary.against_oracle) {
        detail::write_accuracy(json, *summary.against_oracle);
        json.key("oracle_modules");
        json.begin_object();
        for (const auto& [module, counts] : summary.oracle_modules) {
            json.key(module);
            json.begin_object(true);
            detail::write_accuracy(json, counts);
            json.end_object();
        }
        json.end_object();
    }
    json.member("seconds", summary.seconds);
}

} // namespace stemma

#endif // STEMMA_ONNX_SUMMARY_HPP

// <stemma/onnx/html_report.hpp>
#ifndef STEMMA_ONNX_HTML_REPORT_HPP
#define STEMMA_ONNX_HTML_REPORT_HPP

namespace stemma {

namespace detail {

/// Passes JSON on so that it can stand in a script element: `<` only occurs in its strings.
template <text_sink Sink>
class script_sink {
public:
    explicit script_sink(Sink& sink) : sink_(sink) {}

    void write(std::string_view text) {
        while (!text.empty()) {
            const auto mark = std::min(text.find('<'), text.size());
            sink_.write(text.substr(0, mark));
            text.remove_prefix(mark);
            if (!text.empty()) {
                sink_.write("\\u003c");
                text.remove_prefix(1);
            }
        }
    }

private:
    Sink& sink_;
};

/// Writes what the page shows, as rows of arrays.
template <text_sink Sink, value_describer Describe>
class report_data {
public:
    report_data(Sink& sink, const onnx_model& model, const operator_graph& graph,
                const module_tree& modules, const tagging& found, const module_statistics& counts,
                const Describe& describe)
        : json_(sink)
        , model_(model)
        , graph_(graph)
        , modules_(modules)
        , found_(found)
        , counts_(counts)
        , describe_(describe)
        , names_(model) {}

    void write(const tag_summary& summary) {
        json_.begin_object();
        json_.key("summary");
        json_.begin_object(true);
        write_summary(json_, summary);
        json_.end_object();
        json_.member("producer", std::string(model_.producer_name()) + " " +
                                     std::string(model_.producer_version()));
        json_.member("ir", model_.ir_version());
        json_.key("opsets");
        json_.begin_object(true);
        for (const auto& opset : model_.opset_imports()) {
            json_.member(spelled_domain(opset.domain), opset.version);
        }
        json_.end_object();
        write_texts();
        write_modules();
        write_values();
        write_nodes();
        json_.end_object();
        json_.finish();
    }

private:
    void write_texts() {
        json_.key("operators");
        json_.begin_array(true);
        for (id op = 0; op < model_.operator_count(); ++op) {
            json_.value(model_.operator_type(op));
        }
        json_.end_array();
        json_.key("provenances");
        json_.begin_array(true);
        for (std::size_t p = 0; p < provenance_count; ++p) {
            json_.value(to_string(static_cast<provenance>(p)));
        }
        json_.end_array();
    }

    void write_modules() {
        const infrastructure_packages infrastructure;
        json_.key("modules");
        json_.begin_array();
        for (id m = 0; m < modules_.size(); ++m) {
            json_.begin_array(true);
            json_.value(modules_.attribute(m));
            json_.value(modules_.class_name(m));
            json_.value(modules_.qualified_class(m));
            write_id(m == 0 ? no_id : modules_.index().parent(m));
            json_.value(found_.tags.is_selected(m) ? found_.tags.text(m) : std::string());
            json_.value(infrastructure.contain(modules_.qualified_class(m)));
            json_.value(counts_.own_nodes[m]);
            json_.value(counts_.nodes[m]);
            json_.value(counts_.parameters[m]);
            write_id(modules_.calls(m));
            json_.begin_array(true);
            for (std::size_t i = 0; i < modules_.parameter_count(m); ++i) {
                write_tensor(modules_.parameter(m, i), "parameter");
            }
            for (std::size_t i = 0; i < modules_.buffer_count(m); ++i) {
                write_tensor(modules_.buffer(m, i), "buffer");
            }
            json_.end_array();
            json_.end_array();
        }
        json_.end_array();
    }

    void write_tensor(const tensor_info& tensor, std::string_view kind) {
        std::string shape;
        for (auto extent : tensor.shape) {
            shape.append(shape.empty() ? "" : ",").append(std::to_string(extent));
        }
        json_.begin_array(true);
        json_.value(tensor.name);
        json_.value(std::string(tensor.dtype) + "[" + shape + "]");
        json_.value(kind == "parameter" && !tensor.trainable ? "frozen parameter" : kind);
        json_.value(tensor.elements());
        json_.end_array();
    }

    /// Names and kinds of values; types by number, as many have the same.
    void write_values() {
        std::unordered_map<std::string, id> types;
        std::string texts;
        json_.key("values");
        json_.begin_array();
        for (id value = 0; value < model_.value_count(); ++value) {
            const value_description about = describe_(value);
            const auto [type, is_new] =
                types.emplace(about.type_and_shape(), static_cast<id>(types.size()));
            json_.begin_array(true);
            json_.value(model_.value_name(value));
            json_.value(static_cast<int>(model_.kind(value)));
            // A type stands where it occurs first.
            is_new ? json_.value(type->first) : json_.value(type->second);
            json_.end_array();
        }
        json_.end_array();
        json_.key("results");
        json_.begin_array(true);
        for (auto value : model_.graph(0).outputs) {
            write_id(value);
        }
        json_.end_array();
    }

    void write_nodes() {
        json_.key("nodes");
        json_.begin_array();
        for (id node = 0; node < model_.node_count(); ++node) {
            const auto& made = found_.attributions[node];
            json_.begin_array(true);
            json_.value(names_.node(node));
            json_.value(model_.operator_id(node));
            json_.value(made.module);
            json_.value(static_cast<int>(made.source));
            json_.value(made.confidence);
            json_.begin_array(true);
            for (auto value : model_.inputs(node)) {
                write_id(value);
            }
            json_.end_array();
            json_.begin_array(true);
            for (id i = 0; i < model_.output_count(node); ++i) {
                json_.value(model_.first_output(node) + i);
            }
            json_.end_array();
            write_hidden_reads(node);
            json_.begin_array(true);
            for (const auto& claim : found_.conflicts.of(node)) {
                json_.begin_array(true);
                json_.value(to_string(claim.source));
                json_.value(modules_.path(claim.module));
                json_.value(claim.confidence);
                json_.end_array();
            }
            json_.end_array();
            json_.end_array();
        }
        json_.end_array();
    }

    /// What reaches a node otherwise than as an input of its own: results of bodies, and what a
    /// loop passes on to them.
    void write_hidden_reads(id node) {
        const auto inputs = model_.inputs(node);
        json_.begin_array(true);
        for (auto [it, last] = in_edges(node, graph_); it != last; ++it) {
            const auto value = get(value_id, graph_, *it);
            if (std::find(inputs.begin(), inputs.end(), value) == inputs.end()) {
                json_.value(value);
            }
        }
        json_.end_array();
    }

    void write_id(id number) { number == no_id ? json_.value(-1) : json_.value(number); }

    json_writer<Sink> json_;
    const onnx_model& model_;
    const operator_graph& graph_;
    const module_tree& modules_;
    const tagging& found_;
    const module_statistics& counts_;
    const Describe& describe_;
    report_names names_;
};

} // namespace detail

/// Writes a page about a model that needs nothing but a browser: the tree of modules, and for each
/// its nodes, graph, parameters, what goes in and out, and conflicts.
///
/// `graph` is the flat graph of the model. Complexity: O(length of the result); memory for a buffer
/// and the different types.
template <text_sink Sink, value_describer Describe>
void write_html_report(Sink& sink, const onnx_model& model, const operator_graph& graph,
                       const module_tree& modules, const tagging& found,
                       const module_statistics& counts, const tag_summary& summary,
                       const Describe& describe) {
    sink.write(detail::report_head);
    sink.write("<title>" + xml_text(summary.model) + "</title>\n<style>");
    sink.write(detail::report_style);
    sink.write("</style>\n</head>\n");
    sink.write(detail::report_body);
    sink.write("<script type=\"application/json\" id=\"data\">");
    detail::script_sink script(sink);
    detail::report_data(script, model, graph, modules, found, counts, describe).write(summary);
    sink.write("</script>\n<script>");
    sink.write(detail::report_layout);
    sink.write(detail::report_script);
    sink.write(detail::report_graph);
    sink.write("</script>\n</body>\n</html>\n");
}

} // namespace stemma

#endif // STEMMA_ONNX_HTML_REPORT_HPP

// <stemma/onnx/model_analysis.hpp>
#ifndef STEMMA_ONNX_MODEL_ANALYSIS_HPP
#define STEMMA_ONNX_MODEL_ANALYSIS_HPP

namespace stemma {

/// A weight that nodes of several modules read.
struct shared_weight {
    id value = no_id;        ///< the initializer
    std::uint64_t bytes = 0; ///< of its data
    std::vector<id> modules; ///< the deepest ones, ascending
};

/// What there is to say of the modules of a model, beside a summary.
struct model_analysis {
    std::array<std::size_t, 11> confidence{}; ///< nodes by tenths; the last one: certain
    module_statistics modules;                ///< counts by module
    std::vector<std::uint64_t> bytes;  ///< by module with all below: data of floating initializers
    std::vector<shared_weight> shared; ///< in file order
    std::vector<id> without_nodes;     ///< the highest modules that have none, nor any below
    std::vector<non_convex_module> non_convex; ///< in the order of the tree
};

namespace detail {

/// Returns: by value the initializer that it is, also through nodes that only pass it on.
[[nodiscard]] inline std::vector<id> find_weights(const wire_model& model,
                                                  std::vector<bool>& passes_on) {
    std::vector<id> weight(model.value_count(), no_id);
    for (id value = 0; value < model.value_count(); ++value) {
        weight[value] = model.is_initializer(value) ? value : no_id;
    }
    passes_on.assign(model.node_count(), false);
    for (id node = 0; node < model.node_count(); ++node) {
        if (model.op_type(node) == "Identity" && model.domain(node).empty() &&
            model.inputs(node).size() == 1 && model.output_count(node) == 1 &&
            model.inputs(node)[0] != no_id && weight[model.inputs(node)[0]] != no_id) {
            weight[model.first_output(node)] = weight[model.inputs(node)[0]];
            passes_on[node] = true;
        }
    }
    return weight;
}

inline void measure_weights(const wire_model& model, const module_tree& modules,
                            const tagging& found, model_analysis& result) {
    std::vector<bool> passes_on;
    const auto weight = find_weights(model, passes_on);
    std::vector<std::pair<id, id>> reads; // weight, module of a reader
    for (id node = 0; node < model.node_count(); ++node) {
        for (auto value : model.inputs(node)) {
            if (value != no_id && weight[value] != no_id && !passes_on[node]) {
                reads.emplace_back(weight[value], found.attributions[node].module);
            }
        }
    }
    std::sort(reads.begin(), reads.end());
    reads.erase(std::unique(reads.begin(), reads.end()), reads.end());
    result.bytes.assign(modules.size(), 0);
    const module_lookup<module_tree> lookup(modules);
    for (const auto& tensor : model.tensors()) {
        const auto header = read_tensor_header(model, tensor);
        const auto size = data_size(header).value_or(0);
        if (!is_floating_type(header.data_type) || tensor.value == no_id) {
            continue;
        }
        shared_weight here{tensor.value, size, {}};
        for (auto read =
                 std::lower_bound(reads.begin(), reads.end(), std::pair(tensor.value, id{0}));
             read != reads.end() && read->first == tensor.value; ++read) {
            here.modules.push_back(read->second);
        }
        const auto path = owner_path(model.text(tensor.name));
        auto owner = path.empty() ? no_id : find_module(lookup, path);
        for (std::size_t i = 0; owner == no_id && i < here.modules.size(); ++i) {
            // Modules are ascending, so all meet where the first and the last one do.
            owner = modules.index().lca(here.modules.front(), here.modules.back());
        }
        result.bytes[owner == no_id ? 0 : owner] += size;
        if (here.modules.size() > 1 && header.elements() > 1) {
            result.shared.push_back(std::move(here));
        }
    }
    add_up(modules.index(), result.bytes);
}

} // namespace detail

/// Looks at the modules of a model and at `nodes` of it. `graph` is the flat graph of the model.
/// Complexity: that of `collect_statistics` and of `find_non_convex_modules`, and O(reads * log
/// reads) of weights.
[[nodiscard]] inline model_analysis
analyze_modules(const wire_model& model, const operator_graph& graph, const module_tree& modules,
                const tagging& found, std::span<const id> nodes) {
    model_analysis result;
    for (auto node : nodes) {
        const auto tenth =
            static_cast<std::size_t>(found.attributions[node].confidence * 10 + 1e-4F);
        ++result.confidence[std::min<std::size_t>(tenth, 10)];
    }
    result.modules = collect_statistics(model, modules, found);
    detail::measure_weights(model, modules, found, result);
    for (id m = 0; m < modules.size();) {
        const bool empty = result.modules.nodes[m] == 0;
        if (empty) {
            result.without_nodes.push_back(m);
        }
        m = empty ? modules.index().end(m) : m + 1;
    }
    const auto dependences = find_dependence(model, find_random_operators(model));
    std::vector<bool> apart(model.node_count());
    for (id node = 0; node < model.node_count(); ++node) {
        apart[node] = dependences[node] <= dependence::weight;
    }
    result.non_convex =
        find_non_convex_modules(graph, modules.index(), found.attributions, std::move(apart));
    return result;
}

/// Writes the members of an analysis into an object that is open; of the modules those in `rows`.
/// Complexity: O(length).
template <text_sink Sink>
void write_analysis(json_writer<Sink>& json, const model_analysis& analysis,
                    const wire_model& model, const module_tree& modules, std::span<const id> rows) {
    json.key("confidence");
    json.begin_array(true);
    for (auto nodes : analysis.confidence) {
        json.value(nodes);
    }
    json.end_array();
    json.key("modules");
    json.begin_array();
    for (auto m : rows) {
        json.begin_object(true);
        json.member("path", modules.report_path(m));
        json.member("class", modules.class_name(m));
        json.member("own_nodes", analysis.modules.own_nodes[m]);
        json.member("nodes", analysis.modules.nodes[m]);
        json.member("own_parameters", analysis.modules.own_parameters[m]);
        json.member("parameters", analysis.modules.parameters[m]);
        json.member("bytes", analysis.bytes[m]);
        json.key("operators");
        json.begin_object(true);
        for (const auto& [op, count] : analysis.modules.operators[m]) {
            const auto domain = model.operator_domain(op);
            json.member((domain.empty() ? std::string() : std::string(domain) + "::") +
                            std::string(model.operator_type(op)),
                        count);
        }
        json.end_object();
        json.end_object();
    }
    json.end_array();
    const auto write_paths = [&](const char* key, std::span<const id> list) {
        json.key(key);
        json.begin_array(true);
        for (auto m : list) {
            json.value(modules.report_path(m));
        }
        json.end_array();
    };
    json.key("shared_weights");
    json.begin_array();
    for (const auto& one : analysis.shared) {
        json.begin_object(true);
        json.member("name", model.value_name(one.value));
        json.member("bytes", one.bytes);
        write_paths("modules", one.modules);
        json.end_object();
    }
    json.end_array();
    json.key("shared_parameters");
    json.begin_array();
    for (const auto& group : modules.shared_parameters()) {
        json.begin_array(true);
        for (const auto& path : group) {
            json.value(path);
        }
        json.end_array();
    }
    json.end_array();
    write_paths("without_nodes", analysis.without_nodes);
    json.key("non_convex");
    json.begin_array();
    for (const auto& one : analysis.non_convex) {
        json.begin_object(true);
        json.member("module", modules.report_path(one.module));
        json.key("witness");
        json.begin_array(true);
        for (auto node : one.witness) {
            json.value(model.graph_path(model.graph_of(node)) + "#" +
                       std::to_string(model.position(node)));
        }
        json.end_array();
        json.end_object();
    }
    json.end_array();
}

} // namespace stemma

#endif // STEMMA_ONNX_MODEL_ANALYSIS_HPP

// <stemma/onnx/model_explorer.hpp>
#ifndef STEMMA_ONNX_MODEL_EXPLORER_HPP
#define STEMMA_ONNX_MODEL_EXPLORER_HPP

namespace stemma {

/// Returns: the way to a module as Model Explorer groups nodes, `encoder/layer/0`; "" for the root.
/// Complexity: O(depth + length).
[[nodiscard]] inline std::string explorer_namespace(const module_tree& modules, id m) {
    std::vector<id> way;
    for (; m != 0; m = modules.index().parent(m)) {
        way.push_back(m);
    }
    std::string text;
    for (; !way.empty(); way.pop_back()) {
        text.append(text.empty() ? "" : "/");
        for (char c : modules.attribute(way.back())) {
            if (c == '/') {
                text.append("\\/");
            } else {
                text.push_back(c == ';' ? ',' : c);
            }
        }
    }
    return text;
}

namespace detail {

/// Writes the graphs of a model for Model Explorer, each with the values that it does not make
/// itself as nodes of their own.
template <text_sink Sink, value_describer Describe>
class explorer_writer {
public:
    explorer_writer(Sink& sink, const onnx_model& model, const module_tree& modules,
                    const tagging& found, const module_statistics& counts, const Describe& describe)
        : json_(sink)
        , model_(model)
        , modules_(modules)
        , found_(found)
        , counts_(counts)
        , describe_(describe)
        , contents_(model)
        , nodes_(model.graph_count()) {
        for (id node = 0; node < model.node_count(); ++node) {
            nodes_[model.graph_of(node)].push_back(node);
        }
    }

    void write(std::string_view label) {
        json_.begin_object();
        json_.member("label", label);
        json_.key("graphs");
        json_.begin_array();
        for (id g = 0; g < model_.graph_count(); ++g) {
            write_graph(g);
        }
        json_.end_array();
        json_.end_object();
        json_.finish();
    }

private:
    /// An entry of a list of attributes.
    void attribute(std::string_view key, std::string_view value) {
        if (!value.empty()) {
            json_.begin_object(true);
            json_.member("key", key);
            json_.member("value", value);
            json_.end_object();
        }
    }

    void write_graph(id g) {
        json_.begin_object();
        json_.member("id", explorer_graph_id(model_, g));
        json_.key("nodes");
        json_.begin_array();
        outer_.clear();
        for (auto value : model_.graph(g).inputs) {
            if (value != no_id && !model_.is_initializer(value)) {
                write_outer(value, "Input");
            }
        }
        for (auto node : nodes_[g]) {
            for_each_read(node, [&](id value) {
                if (is_outer(value, g)) {
                    write_outer(value, "Captured");
                }
            });
        }
        for (auto node : nodes_[g]) {
            write_node(g, node);
        }
        write_outputs(g);
        json_.end_array();
        write_groups(g);
        json_.end_object();
    }

    /// Whether a value reaches graph `g` as a tensor that none of its nodes makes.
    [[nodiscard]] bool is_outer(id value, id g) const {
        const auto producer = model_.producer(value);
        return !model_.is_initializer(value) &&
               (producer == no_id || model_.graph_of(producer) != g);
    }

    /// Calls `f(value)` for what a node reads, and for what its bodies read from around them.
    template <class Function>
    void for_each_read(id node, Function f) const {
        for (auto value : model_.inputs(node)) {
            if (value != no_id) {
                f(value);
            }
        }
        for_each_captured(node, f);
    }

    template <class Function>
    void for_each_captured(id node, Function f) const {
        std::set<id> seen;
        for (auto body : contents_.bodies_of(node)) {
            const auto take = [&](id value) {
                if (value != no_id && !model_.is_initializer(value) &&
                    !model_.is_inside(value, node) && seen.insert(value).second) {
                    f(value);
                }
            };
            for (auto inside : contents_.nodes(body)) {
                for (auto value : model_.inputs(inside)) {
                    take(value);
                }
            }
            for (auto value : model_.graph(body).outputs) {
                take(value);
            }
        }
    }

    [[nodiscard]] static std::string outer_id(id value) { return "in" + std::to_string(value); }
    [[nodiscard]] std::string node_id(id node) const {
        return std::to_string(model_.position(node));
    }

    void write_outer(id value, std::string_view label) {
        if (!outer_.insert(value).second) {
            return;
        }
        json_.begin_object();
        json_.member("id", outer_id(value));
        json_.member("label", label);
        json_.member("namespace", "");
        json_.key("attrs");
        json_.begin_array(true);
        attribute("name", model_.value_name(value));
        json_.end_array();
        json_.key("outputsMetadata");
        json_.begin_array(true);
        write_port("0", value);
        json_.end_array();
        json_.end_object();
    }

    void write_port(const std::string& slot, id value) {
        const value_description about = describe_(value);
        json_.begin_object(true);
        json_.member("id", slot);
        json_.key("attrs");
        json_.begin_array(true);
        attribute("__tensor_tag", model_.value_name(value));
        attribute("tensor_shape", about.type_and_shape());
        json_.end_array();
        json_.end_object();
    }

    void write_node(id g, id node) {
        const auto& made = found_.attributions[node];
        json_.begin_object();
        json_.member("id", node_id(node));
        json_.member("label", model_.op_type(node));
        json_.member("namespace", explorer_namespace(modules_, made.module));
        json_.key("attrs");
        json_.begin_array(true);
        attribute("name", model_.name(node));
        attribute("domain", model_.domain(node));
        attribute("tag", found_.tags.text(made.module));
        if (found_.pool.size_of(found_.tag_sets[node]) > 1) {
            std::string tags;
            found_.pool.for_each(found_.tag_sets[node], [&](id m) {
                tags.append(tags.empty() ? "" : ", ").append(found_.tags.text(m));
            });
            attribute("tags", tags);
        }
        attribute("module", modules_.path(made.module));
        attribute("provenance", to_string(made.source));
        attribute("confidence", std::to_string(made.confidence).substr(0, 4));
        attribute("weights", weights_of(node));
        json_.end_array();
        write_inputs(g, node);
        json_.key("outputsMetadata");
        json_.begin_array(true);
        for (id i = 0; i < model_.output_count(node); ++i) {
            write_port(std::to_string(i), model_.first_output(node) + i);
        }
        json_.end_array();
        if (!contents_.bodies_of(node).empty() || model_.callee(node) != no_id) {
            json_.key("subgraphIds");
            json_.begin_array(true);
            for (auto body : contents_.bodies_of(node)) {
                json_.value(explorer_graph_id(model_, body));
            }
            if (const auto f = model_.callee(node); f != no_id) {
                json_.value(explorer_graph_id(model_, model_.functions()[f].graph));
            }
            json_.end_array();
        }
        json_.end_object();
    }

    [[nodiscard]] std::string weights_of(id node) const {
        std::string weights;
        for (auto value : model_.inputs(node)) {
            if (value != no_id && model_.is_initializer(value)) {
                const value_description about = describe_(value);
                weights.append(weights.empty() ? "" : ", ")
                    .append(model_.value_name(value))
                    .append(" ")
                    .append(about.type_and_shape());
            }
        }
        return weights;
    }

    void write_inputs(id g, id node) {
        const auto write_edge = [&](id value, const std::string& slot) {
            const auto producer = model_.producer(value);
            const bool here = producer != no_id && model_.graph_of(producer) == g;
            json_.begin_object(true);
            json_.member("sourceNodeId", here ? node_id(producer) : outer_id(value));
            json_.member("sourceNodeOutputId",
                         here ? std::to_string(value - model_.first_output(producer))
                              : std::string("0"));
            json_.member("targetNodeInputId", slot);
            json_.end_object();
        };
        const auto inputs = model_.inputs(node);
        std::vector<std::pair<id, std::size_t>> reads; // value, slot
        for (std::size_t slot = 0; slot < inputs.size(); ++slot) {
            if (inputs[slot] != no_id) {
                reads.emplace_back(inputs[slot], slot);
            }
        }
        auto next = inputs.size();
        for_each_captured(node, [&](id value) { reads.emplace_back(value, next++); });
        json_.key("incomingEdges");
        json_.begin_array(true);
        for (const auto& [value, slot] : reads) {
            if (!model_.is_initializer(value)) {
                write_edge(value, std::to_string(slot));
            }
        }
        json_.end_array();
        json_.key("inputsMetadata");
        json_.begin_array(true);
        for (const auto& [value, slot] : reads) {
            write_port(std::to_string(slot), value);
        }
        json_.end_array();
    }

    /// The results of a graph as nodes, so far as its own nodes make them.
    void write_outputs(id g) {
        std::size_t number = 0;
        for (auto value : model_.graph(g).outputs) {
            const auto producer = value == no_id ? no_id : model_.producer(value);
            if (producer == no_id || model_.graph_of(producer) != g) {
                continue;
            }
            json_.begin_object();
            json_.member("id", "out" + std::to_string(number++));
            json_.member("label", "Output");
            json_.member("namespace", "");
            json_.key("attrs");
            json_.begin_array(true);
            attribute("name", model_.value_name(value));
            json_.end_array();
            json_.key("incomingEdges");
            json_.begin_array(true);
            json_.begin_object(true);
            json_.member("sourceNodeId", node_id(producer));
            json_.member("sourceNodeOutputId",
                         std::to_string(value - model_.first_output(producer)));
            json_.member("targetNodeInputId", "0");
            json_.end_object();
            json_.end_array();
            json_.end_object();
        }
    }

    /// What there is to say of the modules that have nodes in a graph.
    void write_groups(id g) {
        std::vector<bool> present(modules_.size(), false);
        for (auto node : nodes_[g]) {
            for (auto m = found_.attributions[node].module; !present[m];
                 m = modules_.index().parent(m)) {
                present[m] = true;
                if (m == 0) {
                    break;
                }
            }
        }
        const auto member = [&](std::string_view key, const std::string& value) {
            if (!value.empty()) {
                json_.member(key, value);
            }
        };
        json_.key("groupNodeAttributes");
        json_.begin_object();
        for (id m = 0; m < modules_.size(); ++m) {
            if (!present[m]) {
                continue;
            }
            json_.key(explorer_namespace(modules_, m));
            json_.begin_object(true);
            member("class",
                   std::string(modules_.qualified_class(m).empty() ? modules_.class_name(m)
                                                                   : modules_.qualified_class(m)));
            member("tag", found_.tags.is_selected(m) ? found_.tags.text(m) : std::string());
            member("nodes", std::to_string(counts_.nodes[m]));
            member("parameters", std::to_string(counts_.parameters[m]));
            json_.end_object();
        }
        json_.end_object();
    }

    json_writer<Sink> json_;
    const onnx_model& model_;
    const module_tree& modules_;
    const tagging& found_;
    const module_statistics& counts_;
    const Describe& describe_;
    graph_contents contents_;
    std::vector<std::vector<id>> nodes_; // by graph
    std::set<id> outer_;                 // values that are nodes of the graph being written
};

} // namespace detail

/// Writes a model as Model Explorer reads it without an adapter: modules are namespaces, with
/// class, tag and parameters; bodies and functions are graphs below the nodes that own or call
/// them. Complexity: O(length of the result); memory for a buffer and tables of the nodes.
template <text_sink Sink, value_describer Describe>
void write_model_explorer(Sink& sink, std::string_view label, const onnx_model& model,
                          const module_tree& modules, const tagging& found,
                          const module_statistics& counts, const Describe& describe) {
    detail::explorer_writer(sink, model, modules, found, counts, describe).write(label);
}

} // namespace stemma

#endif // STEMMA_ONNX_MODEL_EXPLORER_HPP

// <stemma/onnx/recorded_claims.hpp>
#ifndef STEMMA_ONNX_RECORDED_CLAIMS_HPP
#define STEMMA_ONNX_RECORDED_CLAIMS_HPP

namespace stemma {

/// Returns: a confidence as it comes back from a record, in whole per cent.
[[nodiscard]] inline float in_percent(float confidence) {
    return static_cast<float>(std::lround(confidence * 100)) / 100;
}

/// A table of claims as a record holds it: the same claim for so many nodes.
struct claim_runs {
    /// Operators in a row with the same claim.
    struct run {
        std::uint64_t count = 0; ///< how many
        claim made;              ///< `module == no_id`: none
    };

    provenance source = provenance::root; ///< the one that all claims name
    std::vector<run> runs;                ///< from node 0 on

    /// Returns: how many nodes they speak of, claims or none. Complexity: O(runs).
    [[nodiscard]] std::uint64_t nodes() const noexcept {
        std::uint64_t total = 0;
        for (const auto& part : runs) {
            total += part.count;
        }
        return total;
    }
};

/// Complexity: O(claims).
[[nodiscard]] inline claim_runs to_runs(const claim_table& table) {
    const auto is_same = [](const claim& a, const claim& b) {
        return a.module == b.module && a.call == b.call && a.confidence == b.confidence &&
               a.exact == b.exact;
    };
    claim_runs result{table.source, {}};
    for (const auto& made : table.of) {
        if (result.runs.empty() || !is_same(result.runs.back().made, made)) {
            result.runs.push_back({0, made});
        }
        ++result.runs.back().count;
    }
    return result;
}

/// Requires: as many nodes as a model in memory has. Complexity: O(nodes).
[[nodiscard]] inline claim_table to_table(const claim_runs& runs) {
    claim_table table{runs.source, {}};
    for (const auto& [count, made] : runs.runs) {
        table.of.insert(table.of.end(), static_cast<std::size_t>(count), made);
    }
    return table;
}

/// Writes claims as `{"source", "runs"}`: a run is `[count]` of nodes without a claim, or
/// `[count, module, per cent]`, and behind it the call, or null, and 1 where the module is the
/// deepest, where that is not as usual.
/// Complexity: O(runs).
template <class Writer>
void write_claims(Writer& json, const claim_runs& claims) {
    json.begin_object(true);
    json.member("source", to_string(claims.source));
    json.key("runs");
    json.begin_array(true);
    for (const auto& [count, made] : claims.runs) {
        json.begin_array(true);
        json.value(count);
        if (made.module != no_id) {
            json.value(made.module);
            json.value(std::lround(made.confidence * 100));
            if (made.call != no_id || !made.exact) {
                made.call == no_id ? json.null() : json.value(made.call);
            }
            if (!made.exact) {
                json.value(0);
            }
        }
        json.end_array();
    }
    json.end_array();
    json.end_object();
}

/// Reads what `write_claims` writes, for a model of so many nodes and modules.
/// Returns: nothing when it is something else.
/// Complexity: O(runs).
[[nodiscard]] inline std::optional<claim_runs> read_claims(json_part part, std::uint64_t nodes,
                                                           std::size_t modules) {
    const auto source = part["source"];
    const auto runs = part["runs"];
    if (!source.is_text() || !runs.is_array()) {
        return std::nullopt;
    }
    const auto known = parse_provenance(source.text());
    if (!known || !is_evidence(*known)) {
        return std::nullopt;
    }
    claim_runs result{*known, {}};
    std::uint64_t total = 0;
    for (const auto run : runs) {
        const auto number = [&](std::size_t i) -> std::uint64_t {
            const auto found = run[i];
            return found.is_number<std::uint64_t>() ? found.number<std::uint64_t>() : UINT64_MAX;
        };
        if (!run.is_array() || run.size() == 2 || number(0) > nodes - total) {
            return std::nullopt;
        }
        claim made;
        if (run.size() > 2) {
            if (number(1) >= modules || number(2) > 100) {
                return std::nullopt;
            }
            made.module = static_cast<id>(number(1));
            made.confidence = static_cast<float>(number(2)) / 100;
            made.source = *known;
            made.call = number(3) < no_id ? static_cast<id>(number(3)) : no_id;
            made.exact = number(4) != 0;
        }
        total += number(0);
        result.runs.push_back({number(0), made});
    }
    return total == nodes ? std::optional(std::move(result)) : std::nullopt;
}

/// Returns: the claims about some of the nodes of a model, which are numbered anew in that order;
/// none where they are about a model of another size.
/// Complexity: O(tables * nodes of the model).
[[nodiscard]] inline std::vector<claim_runs> claims_about(const std::vector<claim_runs>& all,
                                                          std::span<const id> nodes,
                                                          std::size_t model_nodes) {
    std::vector<claim_runs> result;
    for (const auto& claims : all) {
        if (claims.nodes() == model_nodes) {
            const auto table = to_table(claims);
            claim_table part{claims.source, {}};
            for (auto node : nodes) {
                part.of.push_back(table.of[node]);
            }
            result.push_back(to_runs(part));
        }
    }
    return result;
}

} // namespace stemma

#endif // STEMMA_ONNX_RECORDED_CLAIMS_HPP

// <stemma/onnx/model_record.hpp>
#ifndef STEMMA_ONNX_MODEL_RECORD_HPP
#define STEMMA_ONNX_MODEL_RECORD_HPP

namespace stemma {

/// What the model's metadata say about its tags (`stemma.model/1`, see docs/formats.md): enough to
/// find them all again without the capture.
struct model_record {
    carrier_set carriers; ///< how the tags are stored
    std::map<std::string, std::string>
        options;              ///< how the tags were found, as the program takes it
    std::uint64_t nodes = 0;  ///< how many the model had when it was tagged
    std::uint64_t digest = 0; ///< see `structure_digest`
    bool from_model = false;  ///< the tree was made from the model itself, without a capture
    std::vector<claim_runs> claims{}; ///< what a capture said of the nodes besides

    /// Returns: one of the options, "" where the default was taken.
    [[nodiscard]] std::string option(const std::string& name) const {
        const auto found = options.find(name);
        return found == options.end() ? std::string() : found->second;
    }
};

/// A record as a model carries it, with the tree of its modules.
struct recorded_model : model_record {
    module_tree modules; ///< as they were when it was tagged
};

namespace detail {

[[nodiscard]] inline std::vector<std::pair<std::string_view, bool>>
carrier_names(const carrier_set& carriers) {
    return {{"metadata", carriers.metadata},
            {"attribute", carriers.attribute},
            {"doc-string", carriers.doc_string},
            {"namespace", carriers.name_space},
            {"model", carriers.model}};
}

template <class Writer>
void write_tensors(Writer& json, const module_tree& modules, id m, bool buffers) {
    const auto count = buffers ? modules.buffer_count(m) : modules.parameter_count(m);
    json.begin_array(true);
    for (std::size_t i = 0; i < count; ++i) {
        const auto tensor = buffers ? modules.buffer(m, i) : modules.parameter(m, i);
        json.begin_array(true);
        json.value(tensor.name);
        json.begin_array(true);
        for (auto extent : tensor.shape) {
            json.value(extent);
        }
        json.end_array();
        json.value(tensor.dtype);
        json.value(tensor.trainable);
        json.end_array();
    }
    json.end_array();
}

/// Reads what `to_json(model_record, module_tree)` writes.
class record_reader {
public:
    explicit record_reader(std::string_view file) : file_(file) {}

    [[nodiscard]] bool wants(const std::string&) const { return true; }

    void element(const std::string& path, json_part part) {
        if (path == "carriers") {
            read_carrier(part);
        } else if (path == "classes") {
            classes_.emplace_back(part.text());
        } else if (path == "modules") {
            read_module(part);
        } else if (path == "aliases") {
            aliases_.emplace_back(part[0].text(), number(part[1]));
        } else if (path == "captured") {
            claims_.emplace_back(part);
        } else if (path == "shared_parameters") {
            builder_.add_shared_parameters(part.texts());
        }
    }

    void scalar(const std::string& path, json_part part) {
        if (path == "schema" && !(part == "stemma.model/1")) {
            fail("has another schema than stemma.model/1");
        } else if (path == "nodes") {
            record_.nodes = number(part);
        } else if (path == "digest") {
            record_.digest = std::stoull(std::string(part.text()), nullptr, 16);
        } else if (path == "from_model") {
            record_.from_model = part.boolean();
        } else if (path.starts_with("options.")) {
            record_.options[path.substr(8)] = part.text();
        }
    }

    [[nodiscard]] recorded_model finish() {
        if (count_ == 0) {
            fail("has no modules");
        }
        for (auto& [path, module] : aliases_) {
            check_module(module);
            builder_.add_alias(std::move(path), module);
        }
        record_.modules = builder_.build();
        for (const auto& kept : claims_) {
            auto claims = read_claims(kept.part(), record_.nodes, record_.modules.size());
            if (!claims) {
                fail("holds claims that do not fit the model");
            }
            record_.claims.push_back(std::move(*claims));
        }
        return std::move(record_);
    }

    [[noreturn]] void fail(std::string_view reason) const {
        STEMMA_THROW(error(error_code::malformed, file_, std::string(model_key), reason));
    }

private:
    void read_carrier(json_part part) {
        auto& carriers = record_.carriers;
        carriers.metadata |= part == "metadata";
        carriers.attribute |= part == "attribute";
        carriers.doc_string |= part == "doc-string";
        carriers.name_space |= part == "namespace";
        carriers.model |= part == "model";
    }

    [[nodiscard]] id number(json_part part) const {
        if (!part.is_number<id>() || part.number<id>() == no_id) {
            fail("holds something else where a number belongs");
        }
        return part.number<id>();
    }

    void check_module(id m) const {
        if (m >= count_) {
            fail("names a module that it does not list");
        }
    }

    /// [parent, attribute, class, qualified class, calls, parameters, buffers]
    void read_module(json_part part) {
        const auto attribute = part[1].text();
        id m = 0;
        if (count_ == 0) {
            builder_.set_root_name(attribute);
        } else {
            const auto parent = number(part[0]);
            check_module(parent);
            m = builder_.child(parent, attribute);
            if (m != count_) {
                fail("lists a module twice");
            }
        }
        ++count_;
        const auto class_at = [&](std::size_t i) {
            return part[i].is_null() ? std::string() : classes_.at(number(part[i]));
        };
        const auto class_name = class_at(2);
        if (!class_name.empty()) {
            builder_.set_class(m, class_name, class_at(3));
        }
        if (!part[4].is_null()) {
            builder_.set_calls(m, number(part[4]));
        }
        read_tensors(part, 5, m, false);
        read_tensors(part, 6, m, true);
    }

    void read_tensors(json_part part, std::size_t i, id m, bool buffers) {
        if (part.size() <= i) {
            return;
        }
        for (const auto tensor : part[i]) {
            const auto shape = tensor[1].numbers<std::int64_t>();
            const tensor_info info{tensor[0].text(), tensor[2].text(), shape, tensor[3].boolean()};
            buffers ? builder_.add_buffer(m, info) : builder_.add_parameter(m, info);
        }
    }

    std::string file_;
    recorded_model record_{{.carriers = {.metadata = false}, .options = {}}, {}};
    module_tree_builder builder_;
    std::vector<std::string> classes_;
    std::vector<std::pair<std::string, id>> aliases_;
    std::vector<json_value> claims_;
    id count_ = 0;
};

} // namespace detail

/// Returns: the record of a model with these modules as one line of JSON.
/// Complexity: O(length).
[[nodiscard]] inline std::string to_json(const model_record& record, const module_tree& modules) {
    string_sink sink;
    json_writer json(sink);
    json.begin_object(true);
    json.member("schema", "stemma.model/1");
    json.key("carriers");
    json.begin_array(true);
    for (const auto& [name, used] : detail::carrier_names(record.carriers)) {
        if (used) {
            json.value(name);
        }
    }
    json.end_array();
    json.key("options");
    json.begin_object(true);
    for (const auto& [name, value] : record.options) {
        json.member(name, value);
    }
    json.end_object();
    json.member("nodes", record.nodes);
    std::string digest(16, '0');
    for (std::size_t i = 0; i < 16; ++i) {
        digest[15 - i] = "0123456789abcdef"[record.digest >> (4 * i) & 15U];
    }
    json.member("digest", digest);
    json.member("from_model", record.from_model);
    const auto has_class = [&](id m) { return !modules.class_name(m).empty(); };
    string_pool classes;
    bool unknown = false; // "" stands once for all of them
    for (id m = 0; m < modules.size(); ++m) {
        if (has_class(m) || !std::exchange(unknown, true)) {
            classes.intern(modules.class_name(m));
            classes.intern(modules.qualified_class(m));
        }
    }
    json.key("classes");
    json.begin_array(true);
    for (id c = 0; c < classes.size(); ++c) {
        json.value(classes[c]);
    }
    json.end_array();
    json.key("modules");
    json.begin_array(true);
    const auto number_or_null = [&](bool known, id number) {
        known ? json.value(number) : json.null();
    };
    for (id m = 0; m < modules.size(); ++m) {
        json.begin_array(true);
        number_or_null(m != 0, m == 0 ? 0 : modules.index().parent(m));
        json.value(modules.attribute(m));
        const bool known = has_class(m);
        number_or_null(known, known ? classes.find(modules.class_name(m)) : no_id);
        number_or_null(known, known ? classes.find(modules.qualified_class(m)) : no_id);
        number_or_null(modules.calls(m) != no_id, modules.calls(m));
        if (modules.parameter_count(m) + modules.buffer_count(m) > 0) {
            detail::write_tensors(json, modules, m, false);
            detail::write_tensors(json, modules, m, true);
        }
        json.end_array();
    }
    json.end_array();
    json.key("aliases");
    json.begin_array(true);
    for (const auto& alias : modules.aliases()) {
        json.begin_array(true);
        json.value(alias.path);
        json.value(alias.module);
        json.end_array();
    }
    json.end_array();
    json.key("shared_parameters");
    json.begin_array(true);
    for (const auto& group : modules.shared_parameters()) {
        json.begin_array(true);
        for (const auto& path : group) {
            json.value(path);
        }
        json.end_array();
    }
    json.end_array();
    if (!record.claims.empty()) {
        json.key("captured");
        json.begin_array(true);
        for (const auto& claims : record.claims) {
            write_claims(json, claims);
        }
        json.end_array();
    }
    json.end_object();
    json.finish();
    sink.text.pop_back();
    return std::move(sink.text);
}

/// Throws: `error` of `error_code::malformed`; `file` is named in it.
[[nodiscard]] inline recorded_model read_model_record(std::string_view text,
                                                      std::string_view file) {
    detail::record_reader reader(file);
    try {
        stream_json(text, std::string(file) + ": " + std::string(model_key), reader);
    } catch (const std::out_of_range&) {
        reader.fail("is not what stemma.model/1 says");
    } catch (const std::invalid_argument&) {
        reader.fail("is not what stemma.model/1 says");
    }
    return reader.finish();
}

} // namespace stemma

#endif // STEMMA_ONNX_MODEL_RECORD_HPP

// <stemma/onnx/onnx_nodes.hpp>
#ifndef STEMMA_ONNX_ONNX_NODES_HPP
#define STEMMA_ONNX_ONNX_NODES_HPP

namespace stemma {

/// The nodes of an ONNX model as an operator view that leaves out the tensors between them: what
/// their names, their metadata and the parameters say can be read while the graph is made.
///
/// Parameters are the initializers, and the outputs of Identity nodes that only pass one on:
/// exporters make those for merged initializers and give them the name the merged one had.
///
/// `Model` is `wire_model` or `proto_model`, which also know metadata, or plain `onnx_model`.
template <class Model = onnx_model>
class onnx_nodes {
public:
    /// Vertices are nodes by number.
    using graph_type = edgeless_graph;

    /// Requires: `model` outlives the view.
    /// Complexity: O(nodes + inputs + values).
    explicit onnx_nodes(const Model& model, thread_limit threads = {})
        : model_(&model), graph_(model.node_count()), are_parameters_(model.value_count()) {
        for (id value = 0; value < model.value_count(); ++value) {
            if (model.is_initializer(value)) {
                add_parameter(value);
            }
        }
        const auto initializers = static_cast<id>(parameters_.size());
        for (id op = 0; op < model.operator_count(); ++op) {
            const bool standard = model.operator_domain(op).empty();
            const auto type = model.operator_type(op);
            passes_on_.push_back(standard && type == "Identity");
            hides_data_.push_back(standard && (type == "Shape" || type == "Size"));
        }
        for (id node = 0; node < model.node_count(); ++node) {
            if (passes_parameter_on(node) && model.output_count(node) == 1) {
                add_parameter(model.first_output(node));
            }
        }
        passed_on_ = are_parameters_.count() - initializers;
        list_reads(threads);
        number_formals();
        if constexpr (requires(void (*take)(std::string_view, std::string_view)) {
                          model.for_each_model_metadata(take);
                      }) {
            bool folded = false;
            model.for_each_model_metadata([&](std::string_view key, std::string_view value) {
                our_namespaces_ =
                    key == model_key ? detail::records_namespaces(value) : our_namespaces_;
                folded = folded || key == fold_key;
            });
            if (folded) {
                read_fold_paths();
            }
        }
    }

    /// The model that was given.
    [[nodiscard]] const Model& model() const noexcept { return *model_; }

    /// Valid as long as the view.
    [[nodiscard]] const edgeless_graph& graph() const noexcept { return graph_; }

    /// Returns: as `onnx_model::name`.
    [[nodiscard]] std::string_view name(id node) const noexcept { return model_->name(node); }

    /// Returns: as `onnx_model::op_type`.
    [[nodiscard]] std::string_view op_type(id node) const noexcept { return model_->op_type(node); }

    /// Returns: as `onnx_model::domain`.
    [[nodiscard]] std::string_view domain(id node) const noexcept { return model_->domain(node); }

    /// Returns: the name of a node's first output, "" when it has none.
    [[nodiscard]] std::string_view result_name(id node) const noexcept {
        return model_->output_count(node) == 0 ? std::string_view{}
                                               : model_->value_name(model_->first_output(node));
    }

    /// Returns: the node whose body a node is in, or `no_id`.
    [[nodiscard]] id owner(id node) const noexcept { return model_->owner(node); }
    /// Returns: the graph of a node of a body, else `no_id`.
    [[nodiscard]] id body(id node) const noexcept {
        return owner(node) == no_id ? no_id : model_->graph_of(node);
    }

    /// Returns: how many parameters there are, read or not.
    [[nodiscard]] std::size_t parameter_count() const noexcept { return parameters_.size(); }

    /// Returns: the name of the value that parameter `p` is.
    [[nodiscard]] std::string_view parameter_name(id p) const noexcept {
        return model_->value_name(parameters_[p]);
    }
    /// Returns: the value that parameter `p` is.
    [[nodiscard]] id parameter_value(id p) const noexcept { return parameters_[p]; }

    /// Calls `f` for the parameters a node reads; for none when it only passes one on.
    /// Complexity: O(parameters read).
    template <class Function>
    void for_each_parameter(id node, Function f) const {
        if (readers_.contains(node)) {
            const auto reader = readers_.rank(node);
            for (auto at = first_read_[reader]; at < first_read_[reader + 1]; ++at) {
                f(reads_[at]);
            }
        }
    }

    /// Leaves those parameters marked that are initializers with the same number in every element,
    /// as far as the model itself holds the data. Complexity: O(parameters + data of those marked).
    void keep_uniform(std::vector<bool>& marked) const requires requires(const Model& model) {
        model.find_uniform(std::vector<bool>{});
    }
    {
        std::vector<bool> values(model_->value_count(), false);
        for (id p = 0; p < marked.size(); ++p) {
            values[parameters_[p]] = marked[p];
        }
        values = model_->find_uniform(std::move(values));
        for (id p = 0; p < marked.size(); ++p) {
            marked[p] = values[parameters_[p]];
        }
    }

    /// Whether a node asks for nothing but the shape of what it reads.
    [[nodiscard]] bool hides_data(id node) const noexcept {
        return hides_data_[model_->operator_id(node)];
    }

    /// Whether a node reads a value that no node makes and that is no initializer.
    /// Complexity: O(inputs).
    [[nodiscard]] bool reads_data(id node) const noexcept {
        for (auto value : model_->inputs(node)) {
            if (value != no_id && model_->kind(value) != value_kind::result &&
                !model_->is_initializer(value)) {
                return true;
            }
        }
        return false;
    }

    /// Calls `f(key, value)` for every metadata entry of a node, as before it was tagged: what
    /// stemma wrote is no evidence.
    template <class Function>
    void for_each_metadata(id node, Function&& f) const requires requires(const Model& model) {
        model.for_each_metadata(node, f);
    }
    {
        if (is_folded(node)) {
            return;
        }
        model_->for_each_metadata(node, [&](std::string_view key, std::string_view value) {
            if (key == saved_namespace_key) {
                f(namespace_key, value);
            } else if (!is_tag_entry(key) && !is_fold_entry(key) &&
                       !(our_namespaces_ && key == namespace_key)) {
                f(key, value);
            }
        });
    }

    /// Calls `f(node, name)` for the values that the result of a node was folded from, as far as
    /// metadata tell.
    template <class Function>
    void for_each_folded(Function f) const {
        for_each_origin([&](id value, std::string_view origin) {
            if (const auto node = model_->producer(value); node != no_id) {
                f(node, origin);
            }
        });
    }

    /// Calls `f(parameter, name)` for the values that an initializer was folded from.
    template <class Function>
    void for_each_folded_parameter(Function f) const {
        for_each_origin([&](id value, std::string_view origin) {
            if (is_parameter(value) && model_->producer(value) == no_id) {
                f(parameter_of(value), origin);
            }
        });
    }

    /// Returns: how many functions the model holds.
    [[nodiscard]] id function_count() const noexcept {
        return static_cast<id>(model_->functions().size());
    }

    /// Returns: the domain of function `f`, in file order.
    [[nodiscard]] std::string_view function_domain(id f) const noexcept {
        return model_->text(model_->functions()[f].domain);
    }

    /// Returns: the name of function `f`, in file order.
    [[nodiscard]] std::string_view function_name(id f) const noexcept {
        return model_->text(model_->functions()[f].name);
    }
    /// Returns: the function a node calls, or `no_id`.
    [[nodiscard]] id callee(id node) const noexcept { return model_->callee(node); }
    /// Returns: the function in whose body a node is, at any depth, or `no_id`.
    /// Complexity: O(depth of the bodies).
    [[nodiscard]] id enclosing_function(id node) const noexcept {
        auto g = model_->graph_of(node);
        while (model_->graph(g).kind == graph_kind::body) {
            g = model_->graph_of(model_->graph(g).owner);
        }
        return model_->graph(g).function;
    }

    /// Whether a node is in a function that folding made, or calls one.
    [[nodiscard]] bool is_folded(id node) const noexcept {
        if (folded_functions_.empty()) {
            return false;
        }
        const auto around = enclosing_function(node);
        return (around != no_id && folded_functions_[around]) ||
               (callee(node) != no_id && folded_functions_[callee(node)]);
    }
    /// Returns: the way from the module of the function around, or from the root, to that of a
    /// node.
    [[nodiscard]] std::string_view fold_path(id node) const {
        const auto found = fold_paths_.find(node);
        return found == fold_paths_.end() ? std::string_view() : found->second;
    }

    /// Calls `f(argument)` for every input slot of a node. Complexity: O(inputs).
    template <class Function>
    void for_each_argument(id node, Function f) const {
        for (auto value : model_->inputs(node)) {
            operator_argument argument;
            if (value != no_id) {
                argument.parameter = is_parameter(value) ? parameter_of(value) : no_id;
                argument.formal = formal_slots_.empty() ? no_id : formal_slots_[value];
            }
            f(argument);
        }
    }

private:
    template <class Function>
    void for_each_origin(Function f) const {
        if constexpr (requires(void (*take)(id, std::string_view, std::string_view)) {
                          model_->for_each_value_metadata(take);
                      }) {
            std::vector<std::string> origins;
            model_->for_each_value_metadata(
                [&](id value, std::string_view key, std::string_view text) {
                    if (key == "pkg.onnxscript.optimizer.folded_from" &&
                        detail::read_python_list(text, origins)) {
                        for (const auto& origin : origins) {
                            f(value, std::string_view(origin));
                        }
                    }
                });
        }
    }

    /// Functions that are called with a path were made by folding.
    void read_fold_paths() {
        folded_functions_.resize(model_->functions().size(), false);
        for (id node = 0; node < model_->node_count(); ++node) {
            model_->for_each_metadata(node, [&](std::string_view key, std::string_view value) {
                if (key == fold_module_key) {
                    fold_paths_.emplace(node, value);
                    if (callee(node) != no_id) {
                        folded_functions_[callee(node)] = true;
                    }
                }
            });
        }
    }

    void add_parameter(id value) {
        are_parameters_.insert(value);
        parameters_.push_back(value);
    }

    [[nodiscard]] bool is_parameter(id value) const noexcept {
        return value != no_id && are_parameters_.contains(value);
    }

    // Initializers are numbered first, and have higher numbers as values than results.
    [[nodiscard]] id parameter_of(id value) const noexcept {
        const auto rank = are_parameters_.rank(value);
        return rank < passed_on_ ? rank + static_cast<id>(parameters_.size()) - passed_on_
                                 : rank - passed_on_;
    }

    [[nodiscard]] bool passes_parameter_on(id node) const noexcept {
        if (!passes_on_[model_->operator_id(node)] || model_->inputs(node).size() != 1) {
            return false;
        }
        return is_parameter(model_->inputs(node)[0]);
    }

    // Many ask all nodes for their parameters, and most nodes read none.
    void list_reads(thread_limit threads) {
        struct part {
            std::vector<id> count; // by node that reads some
            std::vector<id> reads;
        };
        const auto nodes = std::size_t{model_->node_count()};
        constexpr auto word = ranked_ids::word_size;
        readers_ = ranked_ids(nodes);
        const auto count = threads.parts_of_operators(nodes);
        std::vector<part> parts(count);
        for_each_range((nodes + word - 1) / word, count,
                       [&](std::size_t i, std::size_t first, std::size_t last) {
                           const auto end = std::min(last * word, nodes);
                           part found;
                           for (auto node = static_cast<id>(first * word); node < end; ++node) {
                               if (const auto read = append_reads(node, found.reads); read > 0) {
                                   readers_.insert(node);
                                   found.count.push_back(read);
                               }
                           }
                           parts[i] = std::move(found);
                       });
        first_read_.reserve(readers_.count() + std::size_t{1});
        first_read_.push_back(0);
        for (const auto& found : parts) {
            for (const auto read : found.count) {
                first_read_.push_back(first_read_.back() + read);
            }
        }
        reads_ = std::move(parts[0].reads);
        reads_.reserve(first_read_.back());
        for (std::size_t i = 1; i < count; ++i) {
            reads_.insert(reads_.end(), parts[i].reads.begin(), parts[i].reads.end());
        }
    }

    id append_reads(id node, std::vector<id>& reads) const {
        id count = 0;
        for (const auto value : model_->inputs(node)) {
            if (is_parameter(value) && !passes_parameter_on(node)) {
                reads.push_back(parameter_of(value));
                ++count;
            }
        }
        return count;
    }

    void number_formals() {
        for (const auto& function : model_->functions()) {
            formal_slots_.resize(model_->value_count(), no_id);
            const auto& formals = model_->graph(function.graph).inputs;
            for (id slot = 0; slot < formals.size(); ++slot) {
                formal_slots_[formals[slot]] = slot;
            }
        }
    }

    const Model* model_;
    edgeless_graph graph_;
    std::vector<id> parameters_; // initializers, then results that are one
    ranked_ids are_parameters_;  // values
    id passed_on_ = 0;           // how many results
    ranked_ids readers_;         // nodes
    std::vector<id> first_read_; // by rank of the reader, and one more
    std::vector<id> reads_;
    std::vector<id> formal_slots_; // by value, where there are functions
    std::vector<bool> passes_on_;
    std::vector<bool> hides_data_;
    std::vector<bool> folded_functions_;                  // empty where nothing is folded
    std::unordered_map<id, std::string_view> fold_paths_; // by node, of those that have one
    bool our_namespaces_ = false; // entries `namespace` of nodes were written by stemma
};

} // namespace stemma

#endif // STEMMA_ONNX_ONNX_NODES_HPP

// <stemma/onnx/onnx_operators.hpp>
#ifndef STEMMA_ONNX_ONNX_OPERATORS_HPP
#define STEMMA_ONNX_ONNX_OPERATORS_HPP

namespace stemma {

/// The nodes of an ONNX model as an operator view over its flat graph.
///
/// `Model` is `wire_model` or `proto_model`, which also know metadata, or plain `onnx_model`.
template <class Model = onnx_model>
class onnx_operators : public onnx_nodes<Model> {
public:
    /// Vertices are nodes by number.
    using graph_type = operator_graph;

    /// Requires: `model` outlives the view.
    /// Complexity: O(nodes + values).
    explicit onnx_operators(const Model& model)
        : onnx_operators(onnx_nodes<Model>(model), flat_graph(model)) {}

    /// Requires: `graph` is the `flat_graph` of the nodes' model.
    onnx_operators(onnx_nodes<Model> nodes, operator_graph graph) noexcept
        : onnx_nodes<Model>(std::move(nodes)), graph_(std::move(graph)) {}

    /// See `flat_graph`; valid as long as the view.
    [[nodiscard]] const operator_graph& graph() const noexcept { return graph_; }

    /// Whether along this edge an If or a Loop reads its condition.
    [[nodiscard]] bool reads_condition(const operator_graph::edge& e) const {
        const auto slot = get(in_port, graph_, e);
        return (slot == 0 && this->op_type(e.target) == "If") ||
               (slot == 1 && this->op_type(e.target) == "Loop");
    }

private:
    operator_graph graph_;
};

} // namespace stemma

#endif // STEMMA_ONNX_ONNX_OPERATORS_HPP

// <stemma/onnx/operation_metadata.hpp>
#ifndef STEMMA_ONNX_OPERATION_METADATA_HPP
#define STEMMA_ONNX_OPERATION_METADATA_HPP

namespace stemma {

/// Writes of every node and initializer, by name, its type, what it reads and makes, and its tags
/// (docs/operations.schema.json).
///
/// An omitted input or output is "". `value_tags` is by value, see `find_value_tags`.
/// Complexity: O(length of the result); memory for a buffer.
template <text_sink Sink>
void write_operation_metadata(Sink& sink, const onnx_model& model, const tagging& found,
                              std::span<const id_set> value_tags, const report_names& names) {
    json_writer json(sink);
    const auto write_tags = [&](id_set set) {
        json.key("tags");
        json.begin_array(true);
        found.pool.for_each(set, [&](id m) { json.value(found.tags.text(m)); });
        json.end_array();
    };
    json.begin_object();
    for (id node = 0; node < model.node_count(); ++node) {
        json.key(names.node(node));
        json.begin_object(true);
        json.member("op_type", model.op_type(node));
        json.key("inputs");
        json.begin_array(true);
        for (auto value : model.inputs(node)) {
            json.value(value == no_id ? std::string_view() : model.value_name(value));
        }
        json.end_array();
        json.key("outputs");
        json.begin_array(true);
        for (id i = 0; i < model.output_count(node); ++i) {
            json.value(model.value_name(model.first_output(node) + i));
        }
        json.end_array();
        write_tags(found.tag_sets[node]);
        json.end_object();
    }
    for (id value = 0; value < model.value_count(); ++value) {
        if (!model.is_initializer(value)) {
            continue;
        }
        json.key(names.initializer(value));
        json.begin_object(true);
        json.member("op_type", "Initializer");
        json.key("inputs");
        json.begin_array(true);
        json.end_array();
        json.key("outputs");
        json.begin_array(true);
        json.value(model.value_name(value));
        json.end_array();
        write_tags(value_tags[value]);
        json.end_object();
    }
    json.end_object();
    json.finish();
}

} // namespace stemma

#endif // STEMMA_ONNX_OPERATION_METADATA_HPP

// <stemma/onnx/picture_notes.hpp>
#ifndef STEMMA_ONNX_PICTURE_NOTES_HPP
#define STEMMA_ONNX_PICTURE_NOTES_HPP

namespace stemma {

/// Returns: a number with at most three digits and a unit: `1.2 M`. Complexity: O(1).
[[nodiscard]] inline std::string short_number(std::uint64_t number) {
    constexpr std::string_view units = " kMGTPE";
    std::size_t unit = 0;
    std::uint64_t scaled = number;
    std::uint64_t tenths = 0;
    while (scaled >= 1000) {
        tenths = scaled % 1000 / 100;
        scaled /= 1000;
        ++unit;
    }
    auto text = std::to_string(scaled);
    if (unit > 0 && scaled < 100 && tenths > 0) {
        text.append(".").append(std::to_string(tenths));
    }
    return unit == 0 ? text : text.append(" ").append(1, units[unit]);
}

/// What pictures of a model say besides graph and tree: weights below operators, parameters of
/// modules, inputs and outputs of the model.
template <value_describer Describe>
class picture_notes {
public:
    /// Requires: all outlive this. Complexity: O(values).
    picture_notes(const onnx_model& model, const module_statistics& counts,
                  const Describe& describe)
        : model_(&model), counts_(&counts), describe_(&describe), leaves_(model.value_count()) {
        for (auto value : model.graph(0).outputs) {
            if (value != no_id) {
                leaves_[value] = true;
            }
        }
    }

    /// Returns: the weights that a node reads, with their shapes. Complexity: O(inputs).
    [[nodiscard]] std::string operator_note(id node) const {
        std::string note;
        for (auto value : model_->inputs(node)) {
            if (value == no_id || !model_->is_initializer(value)) {
                continue;
            }
            const value_description weight = (*describe_)(value);
            const std::string_view name = weight.name;
            const auto dot = name.find_last_of("./:");
            if (weight.shape.size() <= 2) { // scalars say little
                continue;
            }
            note.append(note.empty() ? "" : ", ");
            if (name.find("::") == name.npos) { // else the exporter made the name up
                note.append(dot == name.npos ? name : name.substr(dot + 1)).append(" ");
            }
            note.append(detail::shape_label(weight.shape));
        }
        return note;
    }

    /// Returns: how many parameters a module has, with all below.
    [[nodiscard]] std::string module_note(id m) const {
        const auto count = counts_->parameters[m];
        return count == 0 ? std::string() : short_number(count) + " parameters";
    }

    /// Calls `f(value)` for every input of the model that a node reads, one read twice twice.
    /// Complexity: O(inputs).
    template <class Function>
    void for_each_input(id node, Function f) const {
        for (auto value : model_->inputs(node)) {
            if (value != no_id && model_->kind(value) == value_kind::input) {
                f(value);
            }
        }
    }

    /// Calls `f(value)` for every output of the model that a node makes. Complexity: O(outputs).
    template <class Function>
    void for_each_output(id node, Function f) const {
        for (id i = 0; i < model_->output_count(node); ++i) {
            if (leaves_[model_->first_output(node) + i]) {
                f(model_->first_output(node) + i);
            }
        }
    }

private:
    const onnx_model* model_;
    const module_statistics* counts_;
    const Describe* describe_;
    std::vector<bool> leaves_; // by value: is an output of the model
};

} // namespace stemma

#endif // STEMMA_ONNX_PICTURE_NOTES_HPP

// <stemma/onnx/region_exports.hpp>
#ifndef STEMMA_ONNX_REGION_EXPORTS_HPP
#define STEMMA_ONNX_REGION_EXPORTS_HPP

namespace stemma {

/// A graph of a model that has regions.
struct divided_graph {
    id graph = 0;             ///< its number in the model
    nested_view view;         ///< vertices are its nodes, bodies contracted
    std::vector<id> rank;     ///< by vertex: a place behind all producers
    std::vector<bool> spread; ///< by vertex: whether it stands in every region that reads it
};

/// Calls `f(region, value)` for every region of a graph and every value that is made in it and read
/// elsewhere. `place` says by node in which region it stands.
/// Complexity: O(V + E), for every level of regions inside each other.
template <class Function>
void find_exports(const onnx_model& model, const divided_graph& graph, std::span<const id> place,
                  const fold_plan& plan, Function f) {
    const auto& view = graph.view;
    const auto root = plan.root[graph.graph];
    const graph_results leaving(model, graph.graph);
    std::unordered_map<id, id> outermost; // of one vertex: value -> region it does not leave
    for (id v = 0; v < view.nodes.size(); ++v) {
        const auto node = view.nodes[v];
        const auto own = place[node];
        if (own == root || graph.spread[v]) {
            continue;
        }
        outermost.clear();
        const auto widen = [&](id value, id reader) {
            auto& r = outermost.try_emplace(value, own).first->second;
            while (!holds_region(plan.regions, r, reader)) {
                r = plan.regions[r].parent;
            }
        };
        for (auto [it, last] = out_edges(v, view.graph); it != last; ++it) {
            widen(get(value_id, view.graph, *it), place[view.nodes[(*it).target]]);
        }
        for (id i = 0; i < model.output_count(node); ++i) {
            const auto value = model.first_output(node) + i;
            if (leaving.contains(value)) {
                widen(value, root);
            }
            const auto found = outermost.find(value);
            if (found == outermost.end()) {
                continue;
            }
            for (auto r = own; r != found->second; r = plan.regions[r].parent) {
                f(r, value);
            }
        }
    }
}

/// Returns: for values that are made in region `region`, and others of the same nodes, the rank of
/// the first node outside of it that reads each; those that none reads are missing.
/// Complexity: O(values + readers) expected.
[[nodiscard]] inline std::unordered_map<id, id>
first_uses(const onnx_model& model, const divided_graph& graph, std::span<const id> place,
           const fold_plan& plan, id region, std::span<const id> values) {
    const auto& view = graph.view;
    std::unordered_map<id, id> first;
    std::unordered_set<id> seen; // producers: the edges of one are those of all its values
    for (auto value : values) {
        const auto producer = model.producer(value);
        if (!seen.insert(producer).second) {
            continue;
        }
        for (auto [it, last] = out_edges(model.position(producer), view.graph); it != last; ++it) {
            const auto reader = (*it).target;
            if (!holds_region(plan.regions, region, place[view.nodes[reader]])) {
                auto& rank = first.try_emplace(get(value_id, view.graph, *it), no_id).first->second;
                rank = std::min(rank, graph.rank[reader]);
            }
        }
    }
    return first;
}

} // namespace stemma

#endif // STEMMA_ONNX_REGION_EXPORTS_HPP

// <stemma/onnx/values_read.hpp>
#ifndef STEMMA_ONNX_VALUES_READ_HPP
#define STEMMA_ONNX_VALUES_READ_HPP

namespace stemma {

/// Returns: the values that a node reads, by slot, `no_id` for omitted ones; then those that its
/// bodies capture, each once, in the order of readers. Complexity: O(nodes inside).
[[nodiscard]] inline std::vector<id> values_read(const onnx_model& model,
                                                 const graph_contents& contents, id node) {
    const auto direct = model.inputs(node);
    std::vector<id> values(direct.begin(), direct.end());
    if (contents.bodies_of(node).empty()) {
        return values;
    }
    std::set<id> bodies;
    std::set<id> known;
    std::vector<id> open(contents.bodies_of(node).begin(), contents.bodies_of(node).end());
    while (!open.empty()) {
        const auto g = open.back();
        open.pop_back();
        bodies.insert(g);
        for (auto inside : contents.own_nodes(g)) {
            const auto inner = contents.bodies_of(inside);
            open.insert(open.end(), inner.begin(), inner.end());
        }
    }
    const auto capture = [&](id value) {
        if (value != no_id && !bodies.contains(model.graph_of_value(value)) &&
            known.insert(value).second) {
            values.push_back(value);
        }
    };
    for (auto g : bodies) {
        for (auto inside : contents.own_nodes(g)) {
            for (auto value : model.inputs(inside)) {
                capture(value);
            }
        }
        for (auto value : model.graph(g).outputs) {
            capture(value);
        }
    }
    return values;
}

} // namespace stemma

#endif // STEMMA_ONNX_VALUES_READ_HPP

// <stemma/onnx/region_classes.hpp>
#ifndef STEMMA_ONNX_REGION_CLASSES_HPP
#define STEMMA_ONNX_REGION_CLASSES_HPP

namespace stemma {

/// Says of nodes whether one could stand for the other: the same operator, attributes and fields,
/// whatever the names. `hash` is equal for such nodes. With `true`, Constants may differ in what
/// they are, but for its kind.
template <class Shapes>
concept node_shapes_like = requires(Shapes& shapes, id node) {
    { shapes.hash(node, true) } -> std::convertible_to<std::uint64_t>;
    { shapes.equal(node, node, true) } -> std::convertible_to<bool>;
};

/// Returns: the path of a module from one around it; "" for that itself.
/// Complexity: O(length and depth).
template <module_view Modules>
[[nodiscard]] std::string relative_path(const Modules& modules, id from, id to) {
    std::vector<id> way;
    for (auto m = to; m != from && m != 0; m = modules.index().parent(m)) {
        way.push_back(m);
    }
    std::string path;
    for (auto m = way.rbegin(); m != way.rend(); ++m) {
        path.append(path.empty() ? "" : ".").append(modules.attribute(*m));
    }
    return path;
}

namespace detail {

/// Finds regions that do the same, and what goes into and comes out of each.
template <module_view Modules, node_shapes_like Shapes, class Policy>
class region_classes {
public:
    region_classes(const onnx_model& model, const graph_contents& contents, const Modules& modules,
                   std::span<const divided_graph> graphs, std::span<const id> place,
                   std::span<const attribution> attributions, Shapes& shapes, const Policy& policy,
                   fold_plan& plan)
        : model_(model)
        , contents_(contents)
        , modules_(modules)
        , graphs_(graphs)
        , place_(place)
        , attributions_(attributions)
        , shapes_(shapes)
        , policy_(policy)
        , plan_(plan)
        , vary_(policy.varies_constants())
        , number_(model.value_count(), no_id) {}

    void classify_all() {
        const auto count = plan_.regions.size();
        plan_.function.assign(count, no_id);
        plan_.inputs.resize(count);
        plan_.outputs.resize(count);
        exported_.resize(count);
        find_paths();
        for (const auto& graph : graphs_) {
            find_exports(model_, graph, place_, plan_, [&](id r, id value) {
                exported_[r].push_back({value, 0});
            });
        }
        for (auto r = static_cast<id>(count); r-- > 0;) {
            if (!plan_.is_graph(r)) {
                classify(r);
            }
        }
        put_outputs_in_order();
        name_functions();
    }

private:
    /// How a body looks: equal for bodies that may be one function.
    struct form {
        std::vector<std::uint64_t> tokens;
        std::vector<id> nodes; // of the region itself
        std::uint64_t hash = 0;
    };

    void find_paths() {
        plan_.paths.resize(plan_.regions.size());
        for (id r = 0; r < plan_.regions.size(); ++r) {
            if (plan_.is_graph(r)) {
                continue;
            }
            const auto around = plan_.regions[plan_.regions[r].parent].module;
            plan_.paths[r] = relative_path(modules_, around, plan_.regions[r].module);
        }
    }

    /// Returns: a number for the path of a module from one around it.
    [[nodiscard]] id way_number(id from, id to) {
        const auto [known, is_new] =
            ways_.try_emplace(std::uint64_t{from} << 32U | to, static_cast<id>(ways_.size()));
        if (is_new) {
            known->second = paths_.intern(relative_path(modules_, from, to));
        }
        return known->second;
    }

    [[nodiscard]] bool is_weight(id value) const { return model_.is_initializer(value); }

    void classify(id r) {
        form made;
        std::vector<id> externals = number_items(r, made);
        auto& exported = exported_[r];
        for (auto& [value, number] : exported) {
            number = number_[value];
        }
        std::sort(exported.begin(), exported.end(),
                  [](const auto& a, const auto& b) { return a.second < b.second; });
        made.tokens.push_back(~std::uint64_t{0});
        for (const auto& [value, number] : exported) {
            made.tokens.push_back(number);
        }
        auto& inputs = plan_.inputs[r];
        for (const bool weight : {false, true}) {
            std::copy_if(externals.begin(), externals.end(), std::back_inserter(inputs),
                         [&](id value) { return is_weight(value) == weight; });
        }
        for (auto token : made.tokens) {
            made.hash = hash_mix(made.hash, token);
        }
        for (auto node : made.nodes) {
            made.hash = hash_mix(made.hash, shapes_.hash(node, vary_));
        }
        for (auto value : used_) {
            number_[value] = no_id;
        }
        used_.clear();
        plan_.function[r] = function_of(r, std::move(made));
    }

    [[nodiscard]] id module_in(const fold_region& region, id node) const {
        const auto m = attributions_[node].module;
        return modules_.index().is_ancestor(region.module, m) ? m : region.module;
    }

    /// Numbers values as they appear, and writes down who reads and makes which.
    /// Returns: the values that come from outside.
    [[nodiscard]] std::vector<id> number_items(id r, form& made) {
        std::vector<id> externals;
        const auto note = [&](id value, bool read) {
            if (value == no_id || model_.value_name(value).empty()) {
                made.tokens.push_back(no_id);
                return;
            }
            if (number_[value] == no_id) {
                number_[value] = static_cast<id>(used_.size());
                used_.push_back(value);
                if (read) {
                    externals.push_back(value);
                    made.tokens.push_back(is_weight(value) ? 1 : 2);
                }
            }
            made.tokens.push_back(number_[value] + std::uint64_t{16});
        };
        const auto& region = plan_.regions[r];
        for (const auto& item : region.items) {
            if (item.is_region) {
                made.tokens.push_back(3);
                made.tokens.push_back(plan_.function[item.index]);
                made.tokens.push_back(paths_.intern(plan_.paths[item.index]));
                for (auto value : plan_.inputs[item.index]) {
                    note(value, true);
                }
                for (const auto& [value, number] : exported_[item.index]) {
                    note(value, false);
                }
                continue;
            }
            const auto node = item.index;
            const auto read = values_read(model_, contents_, node);
            made.nodes.push_back(node);
            made.tokens.push_back(4);
            made.tokens.push_back(way_number(region.module, module_in(region, node)));
            made.tokens.push_back(read.size());
            for (auto value : read) {
                note(value, true);
            }
            for (id i = 0; i < model_.output_count(node); ++i) {
                note(model_.first_output(node) + i, false);
            }
            note_bodies(node, made);
        }
        return externals;
    }

    /// Writes down what of the bodies of a node are calls, and of which functions, and what says
    /// of which module it is. All else of bodies is compared with the node.
    void note_bodies(id node, form& made) {
        if (!plan_.changes_inside(node)) {
            return;
        }
        for (auto g : contents_.bodies_of(node)) {
            made.tokens.push_back(5);
            plan_.look_into(
                g, contents_, [&](id region) { note_inside(region, made); },
                [&](id inside) { note_in_body(inside, made); });
        }
    }

    void note_inside(id r, form& made) {
        for (const auto& item : plan_.regions[r].items) {
            if (item.is_region) {
                made.tokens.push_back(3);
                made.tokens.push_back(plan_.function[item.index]);
                made.tokens.push_back(paths_.intern(plan_.paths[item.index]));
                note_inside(item.index, made);
                made.tokens.push_back(6);
            } else {
                note_in_body(item.index, made);
            }
        }
    }

    void note_in_body(id node, form& made) {
        made.tokens.push_back(4);
        made.tokens.push_back(model_.position(node));
        const auto noted = plan_.noted.find(node);
        if (noted != plan_.noted.end()) {
            made.tokens.push_back(7);
            made.tokens.push_back(
                way_number(plan_.regions[noted->second].module, attributions_[node].module));
        }
        note_bodies(node, made);
    }

    [[nodiscard]] id function_of(id r, form made) {
        auto& candidates = by_hash_[made.hash];
        const auto module = plan_.regions[r].module;
        for (auto f : candidates) {
            const auto& known = forms_[f];
            auto& function = plan_.functions[f];
            if (known.tokens == made.tokens && known.nodes.size() == made.nodes.size() &&
                policy_.shares(modules_, plan_.regions[function.region].module, module) &&
                std::equal(known.nodes.begin(), known.nodes.end(), made.nodes.begin(),
                           [&](id a, id b) { return shapes_.equal(a, b, vary_); })) {
                function.region = r; // the first one is met last
                ++function.calls;
                return f;
            }
        }
        const auto f = static_cast<id>(plan_.functions.size());
        candidates.push_back(f);
        planned_function function;
        function.region = r;
        function.calls = 1;
        function.activations =
            static_cast<id>(std::count_if(plan_.inputs[r].begin(), plan_.inputs[r].end(),
                                          [&](id value) { return !is_weight(value); }));
        plan_.functions.push_back(std::move(function));
        forms_.push_back(std::move(made));
        return f;
    }

    /// Outputs come in the order in which they are used behind the first call.
    void put_outputs_in_order() {
        for (const auto& function : plan_.functions) {
            const auto r = function.region;
            const auto& graph = *std::lower_bound(
                graphs_.begin(), graphs_.end(), plan_.graph[r],
                [](const divided_graph& one, id number) { return one.graph < number; });
            std::vector<id> values;
            for (const auto& [value, number] : exported_[r]) {
                values.push_back(value);
            }
            const auto first = first_uses(model_, graph, place_, plan_, r, values);
            std::vector<std::tuple<id, id, id>> order; // rank of the first reader, number, value
            for (const auto& [value, number] : exported_[r]) {
                const auto use = first.find(value);
                order.emplace_back(use == first.end() ? no_id : use->second, number, value);
            }
            std::sort(order.begin(), order.end());
            auto& slots = slots_.emplace_back();
            for (const auto& [rank, number, value] : order) {
                slots.push_back(number);
            }
        }
        for (id r = 0; r < plan_.regions.size(); ++r) {
            if (plan_.is_graph(r)) {
                continue;
            }
            std::unordered_map<id, id> value_of;
            for (const auto& [value, number] : exported_[r]) {
                value_of.emplace(number, value);
            }
            for (auto number : slots_[plan_.function[r]]) {
                plan_.outputs[r].push_back(value_of.at(number));
            }
        }
    }

    /// Gives functions their names, in the order in which they are first called.
    void name_functions() {
        std::set<std::pair<std::string, std::string>> taken;
        // ONNX Runtime takes every operator of that name for the one of the standard.
        const auto is_taken = [&](const planned_function& function) {
            return function.numbered() == "Constant" ||
                   !taken.emplace(function.domain, function.numbered()).second;
        };
        for (const auto& function : model_.functions()) {
            taken.emplace(model_.text(function.domain), model_.text(function.name));
        }
        for (id op = 0; op < model_.operator_count(); ++op) {
            taken.emplace(model_.operator_domain(op), model_.operator_type(op));
        }
        std::vector<id> order(plan_.functions.size());
        std::iota(order.begin(), order.end(), id{0});
        std::sort(order.begin(), order.end(), [&](id a, id b) {
            return plan_.functions[a].region < plan_.functions[b].region;
        });
        std::unordered_map<std::string, id> next;
        for (auto f : order) {
            auto& function = plan_.functions[f];
            auto [domain, name] = policy_.name_of(modules_, plan_.regions[function.region].module);
            function.domain = std::move(domain);
            function.name = std::move(name);
            auto& number = next[function.domain + '\n' + function.name];
            do {
                function.number = number++;
            } while (is_taken(function));
        }
    }

    const onnx_model& model_;
    const graph_contents& contents_;
    const Modules& modules_;
    std::span<const divided_graph> graphs_; // ascending
    std::span<const id> place_;             // by node: the innermost region
    std::span<const attribution> attributions_;
    Shapes& shapes_;
    const Policy& policy_;
    fold_plan& plan_;
    bool vary_;
    std::vector<id> number_; // by value: in the region that is being looked at
    std::vector<id> used_;   // those that have one
    std::vector<std::vector<std::pair<id, id>>> exported_; // by region: value, number
    std::vector<form> forms_;                              // by function
    std::vector<std::vector<id>> slots_;                   // by function: numbers of outputs
    std::unordered_map<std::uint64_t, std::vector<id>> by_hash_;
    string_pool paths_;
    std::unordered_map<std::uint64_t, id> ways_;
};

} // namespace detail

/// Finds out which regions of a plan do the same, gives those one function, and says what goes into
/// and comes out of every region.
///
/// `graphs` are those that have regions, ascending, and `place` says by node in which it stands.
/// Two regions do the same when their items are equal one by one, `shapes` deciding on nodes, and
/// are wired alike, and when the same of their bodies are calls; they share a function when the
/// policy agrees. Inputs come in the order in which they are read, those that are no initializers
/// first; outputs in the order in which they are used behind the first call.
/// Complexity: O(V + E) expected, for every level of regions inside each other.
template <module_view Modules, node_shapes_like Shapes, class Policy>
void classify_regions(const onnx_model& model, const graph_contents& contents,
                      const Modules& modules, std::span<const divided_graph> graphs,
                      std::span<const id> place, std::span<const attribution> attributions,
                      Shapes& shapes, const Policy& policy, fold_plan& plan) {
    detail::region_classes<Modules, Shapes, Policy>(model, contents, modules, graphs, place,
                                                    attributions, shapes, policy, plan)
        .classify_all();
}

} // namespace stemma

#endif // STEMMA_ONNX_REGION_CLASSES_HPP

// <stemma/onnx/plan_fold.hpp>
#ifndef STEMMA_ONNX_PLAN_FOLD_HPP
#define STEMMA_ONNX_PLAN_FOLD_HPP

namespace stemma {

namespace detail {

/// Returns: which call of module `m` an operator belongs to; `no_id` where that is not known.
template <module_view Modules>
[[nodiscard]] id call_in(const Modules& modules, id m, const attribution& made) {
    if constexpr (counts_calls<Modules>) {
        const auto called = nearest_called(modules, m);
        return modules.calls(called) == 1
                   ? 0
                   : call_of(called, made, [&](id module) { return modules.calls(module); });
    }
    return no_id;
}

/// Divides the graphs of a model, from the outside to the inside, and finds what they share.
template <module_view Modules, node_shapes_like Shapes, fold_policy<Modules> Policy>
class fold_planner {
public:
    fold_planner(const onnx_model& model, const graph_contents& contents, const Modules& modules,
                 std::span<const attribution> attributions, Shapes& shapes, const Policy& policy)
        : model_(model)
        , contents_(contents)
        , modules_(modules)
        , attributions_(attributions)
        , shapes_(shapes)
        , policy_(policy)
        , folded_(modules.index(), [&](id m) { return policy.folds(modules, m); })
        , dependence_(find_dependence(model, find_random_operators(model)))
        , place_(model.node_count(), no_id) {
        plan_.root.assign(model.graph_count(), no_id);
    }

    [[nodiscard]] fold_plan plan() {
        divide(0, 0, no_id);
        for (id g = 1; g < model_.graph_count(); ++g) {
            // A body comes after the graph that holds it.
            if (model_.graph(g).kind == graph_kind::body && contents_.root(g) == 0) {
                divide_body(g, place_[model_.graph(g).owner]);
            }
        }
        look_at_bodies();
        classify_regions(model_, contents_, modules_, std::span<const divided_graph>(graphs_),
                         std::span<const id>(place_), attributions_, shapes_, policy_, plan_);
        if (policy_.varies_constants()) {
            find_varying_constants(model_, plan_,
                                   [&](id a, id b) { return shapes_.equal(a, b, false); });
        }
        list_graphs();
        return std::move(plan_);
    }

private:
    [[nodiscard]] id module_of(id node) const { return attributions_[node].module; }

    void divide_body(id g, id around) {
        const auto nodes = contents_.own_nodes(g);
        for (auto node : nodes) {
            place_[node] = around;
        }
        const auto top = plan_.regions[around].module;
        if (std::any_of(nodes.begin(), nodes.end(), [&](id node) {
                return folded_.next_below(top, module_of(node)) != no_id;
            })) {
            divide(g, top, around);
        }
    }

    void divide(id g, id top, id around) {
        divided_graph made{
            g, nested_graph(model_, g, contents_.nodes(g), contents_.bodies(g)), {}, {}};
        const auto& view = made.view;
        const auto order = order_of(g, view);
        made.rank.resize(order.size());
        for (id i = 0; i < order.size(); ++i) {
            made.rank[order[i]] = i;
        }
        std::vector<id> module(view.nodes.size());
        for (id v = 0; v < module.size(); ++v) {
            module[v] = module_of(view.nodes[v]);
        }
        auto found = fold_regions(
            view.graph, std::span<const id>(order), folded_, std::span<const id>(module), top,
            policy_.least_nodes(),
            [&](id m, id v) { return call_in(modules_, m, attributions_[view.nodes[v]]); },
            [&](id v) { return dependence_[view.nodes[v]] <= dependence::weight; });
        made.spread = spread_constants(model_, g, view, found.regions);
        dissolve_regions(found, find_idle_regions(model_, g, view, made.spread,
                                                  policy_.least_nodes(), found.regions));
        plan_.left.insert(plan_.left.end(), found.left.begin(), found.left.end());
        if (g == 0 || found.regions.size() > 1) {
            found.regions.front().parent = around;
            add(std::move(made), std::move(found.regions));
        }
    }

    [[nodiscard]] std::vector<id> order_of(id g, const nested_view& view) const {
        std::vector<id> order(view.nodes.size());
        std::iota(order.begin(), order.end(), id{0});
        if (!is_topologically_indexed(view.graph)) {
            order = topological_order(view.graph);
        }
        if (order.size() < view.nodes.size()) {
            STEMMA_THROW(error(error_code::malformed, "", g == 0 ? "" : model_.graph_path(g),
                               g == 0 ? "the main graph has a cycle" : "has a cycle"));
        }
        return order;
    }

    void add(divided_graph made, std::vector<fold_region> regions) {
        const auto base = static_cast<id>(plan_.regions.size());
        plan_.root[made.graph] = base;
        for (auto& region : regions) {
            const auto number = static_cast<id>(plan_.regions.size());
            region.parent += number == base ? 0 : base;
            region.end += base;
            for (auto& item : region.items) {
                item.index = item.is_region ? item.index + base : made.view.nodes[item.index];
                if (!item.is_region) {
                    place_[item.index] = number;
                }
            }
            plan_.regions.push_back(std::move(region));
            plan_.graph.push_back(made.graph);
        }
        add_holders(made.graph);
        graphs_.push_back(std::move(made));
    }

    void add_holders(id g) {
        for (auto node = model_.graph(g).owner;
             node != no_id && plan_.holders.insert(node).second;) {
            node = model_.owner(node);
        }
    }

    /// Finds nodes of bodies that have to say which module they are of, and counts what stays in
    /// bodies and functions although its module is to fold there.
    void look_at_bodies() {
        const auto& tree = modules_.index();
        for (id node = 0; node < model_.node_count(); ++node) {
            const auto g = model_.graph_of(node);
            if (g == 0) {
                continue;
            }
            const auto around = place_[node];
            const auto top = around == no_id ? no_id : plan_.regions[around].module;
            const auto own = module_of(node);
            const auto wanted = folded_.innermost(own);
            if (wanted != no_id && (top == no_id || !tree.is_ancestor(top, wanted))) {
                ++plan_.in_bodies;
            }
            const bool outside_of_calls = plan_.root[g] == no_id || plan_.root[g] == around;
            if (top != no_id && top != 0 && top != own && outside_of_calls &&
                tree.is_ancestor(top, own)) {
                plan_.noted.emplace(node, around);
                add_holders(g);
            }
        }
    }

    /// Finds the graphs that the folded model has, in its order.
    void list_graphs() {
        list_graphs_in(0);
        for (const auto& function : plan_.functions) {
            list_bodies_in(function.region);
        }
    }

    void list_graphs_in(id root) {
        plan_.graphs.push_back(root);
        list_bodies_in(root);
    }

    void list_bodies_in(id region) {
        for (const auto& item : plan_.regions[region].items) {
            if (!item.is_region) {
                list_bodies_of(item.index);
            }
        }
    }

    void list_bodies_of(id node) {
        if (!plan_.changes_inside(node)) {
            return;
        }
        for (auto g : contents_.bodies_of(node)) {
            plan_.look_into(
                g, contents_, [&](id region) { list_graphs_in(region); },
                [&](id inside) { list_bodies_of(inside); });
        }
    }

    const onnx_model& model_;
    const graph_contents& contents_;
    const Modules& modules_;
    std::span<const attribution> attributions_;
    Shapes& shapes_;
    const Policy& policy_;
    folded_modules folded_;
    std::vector<dependence> dependence_;
    std::vector<id> place_; // by node: the region it stands in, also where only its owner does
    std::vector<divided_graph> graphs_;
    fold_plan plan_;
};

} // namespace detail

/// Plans which operators become functions, one inside the other as the modules are. In each graph
/// and body those are contracted that lie in it together; a body goes along with the operator that
/// holds it, and of modules in that one's module there are functions in the body. Operators in
/// functions of the model stay there.
///
/// `attributions` says by node the deepest module and the call.
/// Throws: `error` of `error_code::malformed` when a graph has a cycle or defines a value twice.
/// Complexity: O((V + E) log V) for every level of modules that fold, and of bodies.
template <module_view Modules, node_shapes_like Shapes, fold_policy<Modules> Policy>
[[nodiscard]] fold_plan plan_fold(const onnx_model& model, const graph_contents& contents,
                                  const Modules& modules, std::span<const attribution> attributions,
                                  Shapes& shapes, const Policy& policy) {
    if (!model.redefined().empty()) {
        STEMMA_THROW(error(error_code::malformed, "",
                           std::string(model.value_name(model.redefined().front())),
                           "the model defines this value twice"));
    }
    return detail::fold_planner<Modules, Shapes, Policy>(model, contents, modules, attributions,
                                                         shapes, policy)
        .plan();
}

} // namespace stemma

#endif // STEMMA_ONNX_PLAN_FOLD_HPP

// <stemma/onnx/query_answer.hpp>
#ifndef STEMMA_ONNX_QUERY_ANSWER_HPP
#define STEMMA_ONNX_QUERY_ANSWER_HPP

namespace stemma {

/// What of a model a query asks for.
struct query_answer {
    std::vector<id> modules;      ///< see `find_matching_modules`; none when it asks about nodes
    std::vector<id> nodes;        ///< by vertex index, ascending
    std::vector<id> values;       ///< that the nodes make
    std::vector<id> initializers; ///< values that the nodes read
};

/// Complexity: that of `find_matching_operators`, and O(values).
template <module_view Modules, named_operators Ops>
[[nodiscard]] query_answer answer_query(const query& asked, const onnx_model& model, const Ops& ops,
                                        const Modules& modules, const tagging& found) {
    query_answer answer;
    if (!asked.asks_for_operators()) {
        answer.modules = find_matching_modules(asked, modules, found.tags);
    }
    answer.nodes = find_matching_operators(asked, modules, found.tags, ops, found.attributions);
    std::vector<bool> is_read(model.value_count(), false);
    for (auto node : answer.nodes) {
        for (id i = 0; i < model.output_count(node); ++i) {
            const auto value = model.first_output(node) + i;
            if (!model.value_name(value).empty()) {
                answer.values.push_back(value);
            }
        }
        for (auto value : model.inputs(node)) {
            if (value != no_id && model.is_initializer(value)) {
                is_read[value] = true;
            }
        }
    }
    for (id value = 0; value < model.value_count(); ++value) {
        if (is_read[value]) {
            answer.initializers.push_back(value);
        }
    }
    return answer;
}

/// Writes the members `modules`, `nodes`, `values` and `initializers` into an object that is open.
/// Complexity: O(length).
template <text_sink Sink>
void write_answer(json_writer<Sink>& json, const query_answer& answer, const onnx_model& model,
                  const module_tree& modules, const tagging& found) {
    json.key("modules");
    json.begin_array();
    for (auto m : answer.modules) {
        json.begin_object(true);
        json.member("path", modules.report_path(m));
        json.member("class", modules.class_name(m));
        json.member("tag", found.tags.text(m));
        json.end_object();
    }
    json.end_array();
    json.key("nodes");
    json.begin_array();
    for (auto node : answer.nodes) {
        const auto module = found.attributions[node].module;
        json.begin_object(true);
        json.member("graph", model.graph_path(model.graph_of(node)));
        json.member("index", model.position(node));
        json.member("name", model.name(node));
        json.member("op_type", model.op_type(node));
        json.member("scope_module", modules.report_path(module));
        json.member("tag", found.tags.text(module));
        json.end_object();
    }
    json.end_array();
    const auto write_values = [&](std::string_view key, std::span<const id> values) {
        json.key(key);
        json.begin_array();
        for (auto value : values) {
            json.begin_object(true);
            json.member("graph", model.graph_path(model.graph_of_value(value)));
            json.member("name", model.value_name(value));
            json.end_object();
        }
        json.end_array();
    };
    write_values("values", answer.values);
    write_values("initializers", answer.initializers);
}

} // namespace stemma

#endif // STEMMA_ONNX_QUERY_ANSWER_HPP

// <stemma/onnx/recorded_tags.hpp>
#ifndef STEMMA_ONNX_RECORDED_TAGS_HPP
#define STEMMA_ONNX_RECORDED_TAGS_HPP

namespace stemma {

/// The tags of all nodes in one table (`model_carrier`): modules as ranks in the record's tree.
struct recorded_tags {
    std::vector<id> module;                ///< by node
    std::map<id, std::vector<id>> several; ///< nodes with more than one tag
};

/// Returns: the table as one line of JSON: runs of [count, module], with a list of the selected
/// modules behind it where there are several tags.
/// Complexity: O(nodes).
[[nodiscard]] inline std::string to_json(const recorded_tags& tags) {
    string_sink sink;
    json_writer json(sink);
    json.begin_object(true);
    json.member("schema", "stemma.tags/1");
    json.key("runs");
    json.begin_array(true);
    const auto several = [&](std::size_t v) -> const std::vector<id>* {
        const auto found = tags.several.find(static_cast<id>(v));
        return found == tags.several.end() ? nullptr : &found->second;
    };
    for (std::size_t v = 0; v < tags.module.size();) {
        auto end = v + 1;
        while (end < tags.module.size() && tags.module[end] == tags.module[v] &&
               (several(v) == nullptr) == (several(end) == nullptr) &&
               (several(v) == nullptr || *several(v) == *several(end))) {
            ++end;
        }
        json.begin_array(true);
        json.value(end - v);
        json.value(tags.module[v]);
        if (several(v) != nullptr) {
            json.begin_array(true);
            for (auto m : *several(v)) {
                json.value(m);
            }
            json.end_array();
        }
        json.end_array();
        v = end;
    }
    json.end_array();
    json.end_object();
    json.finish();
    sink.text.pop_back();
    return std::move(sink.text);
}

namespace detail {

/// Reads what `to_json(recorded_tags)` writes.
struct tags_reader {
    // A short run may stand for many lists: more than any tagging has is no table but an attack.
    static constexpr std::size_t max_tags_on_average = 64;

    recorded_tags tags;
    std::size_t nodes = 0;
    std::size_t listed = 0;
    id modules = 0;
    bool valid = true;

    [[nodiscard]] bool wants(const std::string& path) const { return path == "runs"; }
    void scalar(const std::string&, json_part) {}

    void element(const std::string&, json_part run) {
        const auto is_module = [&](json_part m) {
            return m.is_number<id>() && m.number<id>() < modules;
        };
        const auto several = run[2];
        valid = valid && run[0].is_number<std::size_t>() &&
                run[0].number<std::size_t>() <= nodes - tags.module.size() && is_module(run[1]) &&
                (!several || several.is_array());
        if (!valid) {
            return;
        }
        const auto count = run[0].number<std::size_t>();
        if (several) {
            listed += count * several.size();
            valid = listed <= nodes * max_tags_on_average;
            for (const auto m : several) {
                valid = valid && is_module(m);
            }
            for (std::size_t i = 0; valid && i < count; ++i) {
                tags.several[static_cast<id>(tags.module.size() + i)] = several.numbers<id>();
            }
        }
        tags.module.insert(tags.module.end(), count, run[1].number<id>());
    }
};

} // namespace detail

/// Reads a table of tags for a model of so many nodes and modules.
/// Throws: `error` of `error_code::malformed`; `file` is named in it.
[[nodiscard]] inline recorded_tags read_recorded_tags(std::string_view text, std::string_view file,
                                                      std::size_t nodes, std::size_t modules) {
    detail::tags_reader reader;
    reader.nodes = nodes;
    reader.modules = static_cast<id>(modules);
    const auto place = std::string(file) + ": " + std::string(tag_table_key);
    stream_json(text, place, reader);
    if (!reader.valid || reader.tags.module.size() != nodes) {
        STEMMA_THROW(error(error_code::malformed, place, "", "does not fit the model"));
    }
    return std::move(reader.tags);
}

} // namespace stemma

#endif // STEMMA_ONNX_RECORDED_TAGS_HPP

// <stemma/onnx/schema_changes.hpp>
#ifndef STEMMA_ONNX_SCHEMA_CHANGES_HPP
#define STEMMA_ONNX_SCHEMA_CHANGES_HPP

namespace stemma {

/// The last opset of the standard domain that `changed_between` knows.
inline constexpr std::int64_t last_known_opset = 24;

namespace detail {

/// Operators of the standard domain that an opset added or gave a new version; from the list of
/// changes that ONNX publishes (docs/Changelog.md), separated by blanks.
struct opset_changes {
    std::int64_t opset;
    std::string_view operators;
};

inline constexpr std::array<opset_changes, 7> opset_history{{
    {18,
     " BitwiseAnd BitwiseNot BitwiseOr BitwiseXor CenterCropPad Col2Im GroupNormalization LpPool "
     "Mish OptionalGetElement OptionalHasElement Pad ReduceL1 ReduceL2 ReduceLogSum "
     "ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSumSquare Resize "
     "ScatterElements ScatterND Split "},
    {19,
     " AveragePool Cast CastLike Constant DeformConv DequantizeLinear Equal Identity If Loop Pad "
     "QuantizeLinear Reshape Resize Scan Shape Size "},
    {20, " AffineGrid ConstantOfShape DFT Gelu GridSample ImageDecoder IsInf IsNaN ReduceMax "
         "ReduceMin RegexFullMatch StringConcat StringSplit "},
    {21, " Cast CastLike Constant ConstantOfShape DequantizeLinear Flatten GroupNormalization "
         "Identity If Loop Pad QLinearMatMul QuantizeLinear Reshape Scan Shape Size Squeeze "
         "Transpose Unsqueeze "},
    {22,
     " Acos Acosh Asin Asinh Atan Atanh AveragePool Bernoulli Conv ConvTranspose Cos Cosh "
     "DeformConv Det Dropout Elu EyeLike GRU GlobalAveragePool GlobalLpPool GlobalMaxPool "
     "GridSample HardSigmoid HardSwish InstanceNormalization LSTM LpNormalization LpPool MaxPool "
     "MaxRoiPool MaxUnpool Mish Multinomial NegativeLogLikelihoodLoss RNN RandomNormal "
     "RandomNormalLike RandomUniform RandomUniformLike RoiAlign Round Selu Sin Sinh Softplus "
     "Softsign Tan ThresholdedRelu "},
    {23,
     " Attention Cast CastLike Constant ConstantOfShape DequantizeLinear Flatten Identity If Loop "
     "Pad QuantizeLinear RMSNormalization Reshape RotaryEmbedding Scan Shape Size Squeeze "
     "Transpose Unsqueeze "},
    {24,
     " Attention Cast CastLike Constant ConstantOfShape DequantizeLinear Flatten Identity If Loop "
     "Pad QuantizeLinear Reshape Scan Shape Size SplitToSequence Squeeze Swish TensorScatter "
     "TopK Transpose Unsqueeze "},
}};

} // namespace detail

/// Whether an operator of the standard domain may mean something else in opset `later` than in
/// `earlier`, both at least 17; yes for opsets that are not known.
/// Complexity: O(changes of the standard).
[[nodiscard]] constexpr bool changed_between(std::string_view op_type, std::int64_t earlier,
                                             std::int64_t later) noexcept {
    if (later > last_known_opset || earlier < 17) {
        return later != earlier;
    }
    if (op_type.empty() || op_type.find(' ') != op_type.npos) {
        return false;
    }
    for (const auto& change : detail::opset_history) {
        if (change.opset <= earlier || change.opset > later) {
            continue;
        }
        for (auto at = change.operators.find(op_type); at != std::string_view::npos;
             at = change.operators.find(op_type, at + 1)) {
            if (change.operators[at - 1] == ' ' && change.operators[at + op_type.size()] == ' ') {
                return true;
            }
        }
    }
    return false;
}

} // namespace stemma

#endif // STEMMA_ONNX_SCHEMA_CHANGES_HPP

// <stemma/onnx/value_tags.hpp>
#ifndef STEMMA_ONNX_VALUE_TAGS_HPP
#define STEMMA_ONNX_VALUE_TAGS_HPP

namespace stemma {

/// Returns: by value, the nodes that read it, ascending, each as often as it reads it.
/// Complexity: O(values + inputs).
[[nodiscard]] inline grouped_ids collect_value_readers(const onnx_model& model) {
    return grouped_ids(model.value_count(), [&](auto take) {
        for (id node = 0; node < model.node_count(); ++node) {
            for (auto value : model.inputs(node)) {
                if (value != no_id) {
                    take(value, node);
                }
            }
        }
    });
}

/// Finds the tags of every value: those of its readers; unread, those of its producer; an unread
/// initializer, that of the module its name speaks of; else the root's.
///
/// New sets are added to the tagging's pool.
/// Returns: by value, never empty sets.
/// Complexity: O((values + inputs) * cap).
[[nodiscard]] inline std::vector<id_set>
find_value_tags(const onnx_model& model, const module_tree& modules, tagging& found) {
    std::vector<id> selected(modules.size());
    for (id m = 0; m < selected.size(); ++m) {
        selected[m] = found.tags.selected(m);
    }
    std::vector<id_set> tags(model.value_count(), no_id);
    std::vector<std::pair<id, id_set>> others; // where not all readers have the same
    for (id node = 0; node < model.node_count(); ++node) {
        const auto set = found.tag_sets[node];
        for (auto value : model.inputs(node)) {
            if (value == no_id || tags[value] == set) {
                continue;
            }
            if (tags[value] == no_id) {
                tags[value] = set;
            } else {
                others.emplace_back(value, set);
            }
        }
    }
    const grouped_ids sets(model.value_count(), [&](auto take) {
        for (const auto& [value, set] : others) {
            take(value, set);
        }
    });
    const module_lookup<module_tree> lookup(modules);
    detail::tag_union united(modules.index(), selected, default_tag_cap, found.pool);
    for (id value = 0; value < tags.size(); ++value) {
        if (const auto more = sets[value]; !more.empty()) {
            united.clear();
            united.add(tags[value]);
            std::for_each(more.begin(), more.end(), [&](id_set set) { united.add(set); });
            tags[value] = united.get();
        } else if (tags[value] != no_id) {
            continue;
        } else if (const auto producer = model.producer(value); producer != no_id) {
            tags[value] = found.tag_sets[producer];
        } else {
            const auto path = owner_path(model.value_name(value));
            tags[value] = found.tags.selected(
                model.is_initializer(value) ? find_longest(lookup, path).first : 0);
        }
    }
    return tags;
}

} // namespace stemma

#endif // STEMMA_ONNX_VALUE_TAGS_HPP

// <stemma/onnx/sidecar.hpp>
#ifndef STEMMA_ONNX_SIDECAR_HPP
#define STEMMA_ONNX_SIDECAR_HPP

namespace stemma {

/// Returns: how reports call a kind of value.
[[nodiscard]] constexpr std::string_view to_string(value_kind kind) noexcept {
    switch (kind) {
    case value_kind::result:
        return "intermediate";
    case value_kind::input:
        return "input";
    case value_kind::formal:
        return "formal";
    case value_kind::initializer:
    case value_kind::sparse_initializer:
        return "initializer";
    case value_kind::undefined:
        return "undefined";
    }
    return "";
}

/// Writes one module as reports show it: an object on one line.
/// Complexity: O(length of what it writes).
template <text_sink Sink>
void write_module(json_writer<Sink>& json, const module_tree& modules, const tagging& found,
                  const module_statistics& counts, id m) {
    const infrastructure_packages infrastructure;
    const auto& tree = modules.index();
    const auto text_or_null = [&](std::string_view key, std::string_view text) {
        json.key(key);
        text.empty() ? json.null() : json.value(text);
    };
    const auto write_tensors = [&](std::string_view key, std::size_t count, auto tensor_at) {
        json.key(key);
        json.begin_array(true);
        for (std::size_t i = 0; i < count; ++i) {
            const auto tensor = tensor_at(i);
            json.begin_object(true);
            json.member("name", tensor.name);
            json.key("shape");
            json.begin_array(true);
            for (auto extent : tensor.shape) {
                json.value(extent);
            }
            json.end_array();
            text_or_null("dtype", tensor.dtype);
            json.member("trainable", tensor.trainable);
            json.end_object();
        }
        json.end_array();
    };
    json.begin_object(true);
    json.member("path", modules.report_path(m));
    text_or_null("class", modules.class_name(m));
    text_or_null("qualified_class", modules.qualified_class(m));
    json.member("infrastructure", infrastructure.contain(modules.qualified_class(m)));
    text_or_null("tag", found.tags.is_selected(m) ? found.tags.text(m) : std::string());
    json.key("parent");
    m == 0 ? json.null() : json.value(modules.report_path(tree.parent(m)));
    json.member("level", tree.depth(m));
    json.member("leaf", tree.end(m) == m + 1);
    json.key("aliases");
    json.begin_array(true);
    for (const auto& alias : modules.aliases()) {
        if (alias.module == m) {
            json.value(alias.path);
        }
    }
    json.end_array();
    json.key("calls");
    modules.calls(m) == no_id ? json.null() : json.value(modules.calls(m));
    write_tensors("parameters", modules.parameter_count(m),
                  [&](std::size_t i) { return modules.parameter(m, i); });
    write_tensors("buffers", modules.buffer_count(m),
                  [&](std::size_t i) { return modules.buffer(m, i); });
    json.member("own_nodes", counts.own_nodes[m]);
    json.member("nodes", counts.nodes[m]);
    json.member("own_parameter_count", counts.own_parameters[m]);
    json.member("parameter_count", counts.parameters[m]);
    json.key("trainable_parameter_count");
    counts.declared ? json.value(counts.trainable[m]) : json.null();
    json.end_object();
}

namespace detail {

template <text_sink Sink>
void write_tags(json_writer<Sink>& json, const tagging& found, id_set set) {
    json.begin_array(true);
    found.pool.for_each(set, [&](id m) { json.value(found.tags.text(m)); });
    json.end_array();
}

template <text_sink Sink>
void write_node(json_writer<Sink>& json, const onnx_model& model, const module_tree& modules,
                const tagging& found, std::string_view graph, id node) {
    const auto& made = found.attributions[node];
    json.begin_object(true);
    json.member("index", model.position(node));
    json.member("name", model.name(node));
    json.member("op_type", model.op_type(node));
    json.member("graph", graph);
    json.member("scope_module", modules.path(made.module));
    json.member("module", modules.path(found.selected(node)));
    json.member("tag", found.tags.text(made.module));
    json.key("tags");
    write_tags(json, found, found.tag_sets[node]);
    json.member("provenance", to_string(made.source));
    json.member("confidence", made.confidence);
    json.key("call");
    made.call == no_id ? json.null() : json.value(made.call);
    for (auto caller : found.callers.of(node)) {
        json.member("caller", modules.path(caller));
    }
    json.key("conflict");
    const auto claims = found.conflicts.of(node);
    if (claims.empty()) {
        json.null();
    } else {
        json.begin_object(true);
        json.key("claims");
        json.begin_array(true);
        for (const auto& one : claims) {
            json.begin_object(true);
            json.member("source", to_string(one.source));
            json.member("module", modules.path(one.module));
            json.member("confidence", one.confidence);
            json.end_object();
        }
        json.end_array();
        json.end_object();
    }
    json.end_object();
}

} // namespace detail

/// Writes all that is known of a tagged model (`stemma.sidecar/1`, docs/sidecar.schema.json).
///
/// `value_tags` is by value, see `find_value_tags`.
/// Complexity: O(length of the result); memory for a buffer, and the readers of values.
template <text_sink Sink>
void write_sidecar(Sink& sink, const onnx_model& model, const module_tree& modules,
                   const tagging& found, const module_statistics& counts,
                   std::span<const id_set> value_tags, const tag_summary& summary) {
    json_writer json(sink);
    std::vector<std::string> graph_paths;
    for (id g = 0; g < model.graph_count(); ++g) {
        graph_paths.push_back(model.graph_path(g));
    }
    json.begin_object();
    json.member("schema", "stemma.sidecar/1");
    json.member("model", summary.model);
    json.key("modules");
    json.begin_array();
    for (id m = 0; m < modules.size(); ++m) {
        write_module(json, modules, found, counts, m);
    }
    json.end_array();
    json.key("nodes");
    json.begin_array();
    for (id node = 0; node < model.node_count(); ++node) {
        detail::write_node(json, model, modules, found, graph_paths[model.graph_of(node)], node);
    }
    json.end_array();
    json.key("values");
    json.begin_array();
    const auto readers = collect_value_readers(model);
    const auto write_place = [&](id node) {
        json.begin_object(true);
        json.member("graph", graph_paths[model.graph_of(node)]);
        json.member("index", model.position(node));
        json.end_object();
    };
    for (id value = 0; value < model.value_count(); ++value) {
        if (model.value_name(value).empty()) {
            continue;
        }
        json.begin_object(true);
        json.member("name", model.value_name(value));
        json.member("graph", graph_paths[model.graph_of_value(value)]);
        json.member("kind", to_string(model.kind(value)));
        json.key("tags");
        detail::write_tags(json, found, value_tags[value]);
        json.key("producer");
        const auto producer = model.producer(value);
        producer == no_id ? json.null() : write_place(producer);
        json.key("consumers");
        json.begin_array(true);
        for (auto reader : readers[value]) {
            write_place(reader);
        }
        json.end_array();
        json.end_object();
    }
    json.end_array();
    json.key("summary");
    json.begin_object();
    json.member("schema", "stemma.summary/1");
    write_summary(json, summary);
    json.end_object();
    json.end_object();
    json.finish();
}

} // namespace stemma

#endif // STEMMA_ONNX_SIDECAR_HPP

// <stemma/onnx/split_manifest.hpp>
#ifndef STEMMA_ONNX_SPLIT_MANIFEST_HPP
#define STEMMA_ONNX_SPLIT_MANIFEST_HPP

namespace stemma {

/// What `split` says of the files it wrote, and `join` goes by: `stemma.split/1`, see
/// docs/formats.md.
struct split_manifest {
    /// A file, by its name in the folder, and the XXH64 of its bytes in hexadecimal digits.
    struct file_entry {
        std::string file; ///< without its folder
        std::string hash; ///< sixteen digits
    };

    /// One part.
    struct part_entry {
        file_entry at;          ///< where the part is
        std::string module;     ///< path of the module that holds all of it
        std::string tag;        ///< of that module
        id level = 0;           ///< of a module that other parts have to run between: 0, 1, ...
        std::uint64_t cost = 0; ///< of its own nodes, as the policy of the split had it
        std::vector<id> nodes;  ///< places in the source's graph, ascending
        std::vector<id> clones; ///< of nodes of other parts, ascending
        std::vector<id> order;  ///< of both in the file; empty where it is ascending
        std::vector<std::string> cloned_values; ///< what the clones make
        std::vector<std::string> initializers;  ///< that it reads, by name
    };

    /// A tensor that a part reads or gives out.
    struct tensor_entry {
        std::string name; ///< as in the source
        std::string type; ///< `float32`; as `value_description`
        std::vector<std::variant<std::int64_t, std::string>> shape; ///< -1: not known
        id from = no_id;     ///< the part that makes it; `no_id`: an input of the model
        std::vector<id> to;  ///< parts that read it
        bool output = false; ///< of the model
    };

    /// Some bytes of the source, and where they are now.
    struct piece {
        /// Where the bytes are.
        enum class kind : std::uint8_t {
            skeleton,    ///< bytes [first, first + count) of the skeleton
            bytes,       ///< `text`
            nodes,       ///< nodes [first, first + count), each with tag and length
            node,        ///< node `first` without them
            weights,     ///< bytes [first, first + count) of the file of weights
            initializer, ///< bytes [first, first + count) of the message of initializer `text`
        };

        kind from = kind::skeleton; ///< which kind of place they are in
        std::uint64_t first = 0;    ///< see `kind`
        std::uint64_t count = 0;    ///< see `kind`
        std::string text;           ///< see `kind`
    };

    file_entry source;                 ///< that was split, by the name it had
    file_entry skeleton;               ///< what is left of the source without nodes and weights
    file_entry weights;                ///< no file where all weights are elsewhere
    std::vector<part_entry> parts;     ///< by number, as other entries name them
    std::vector<tensor_entry> tensors; ///< in the order of the source's values
    std::vector<id> order;             ///< of parts, as they can be run
    std::vector<piece> recipe; ///< how the source follows from the files, from the front to the end
};

/// How a manifest names its form.
inline constexpr std::string_view split_schema = "stemma.split/1";

namespace detail {

inline constexpr std::string_view piece_names[] = {"skeleton", "bytes",   "nodes",
                                                   "node",     "weights", "initializer"};

[[nodiscard]] inline std::string bytes_to_hex(std::string_view bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        text.push_back(digits[byte >> 4U]);
        text.push_back(digits[byte & 15U]);
    }
    return text;
}

/// Takes a manifest apart. Members that it does not know are left alone.
class split_manifest_handler {
public:
    split_manifest_handler(split_manifest& manifest, std::string_view file)
        : manifest_(manifest), file_(file) {}

    [[nodiscard]] bool wants(const std::string&) const { return true; }

    void scalar(const std::string& path, json_part value) {
        if (path == "schema") {
            known_ = value == split_schema;
        } else if (value.is_text()) {
            auto* at = path == "source.file"     ? &manifest_.source.file
                       : path == "source.hash"   ? &manifest_.source.hash
                       : path == "skeleton.file" ? &manifest_.skeleton.file
                       : path == "skeleton.hash" ? &manifest_.skeleton.hash
                       : path == "weights.file"  ? &manifest_.weights.file
                       : path == "weights.hash"  ? &manifest_.weights.hash
                                                 : nullptr;
            if (at != nullptr) {
                *at = value.text();
            }
        }
    }

    void element(const std::string& path, json_part value) {
        if (path == "parts") {
            read_part(value);
        } else if (path == "recipe") {
            read_piece(value);
        } else if (path == "order") {
            manifest_.order.push_back(value.number<id>());
        }
    }

    [[nodiscard]] bool knows_schema() const noexcept { return known_; }

private:
    void read_part(json_part value) {
        split_manifest::part_entry part;
        part.at = {std::string(value["file"].text()), std::string(value["hash"].text())};
        part.module = value["module"].text();
        part.nodes = value["nodes"].numbers<id>();
        part.clones = value["clones"].numbers<id>();
        part.cloned_values = value["cloned_values"].texts();
        part.initializers = value["initializers"].texts();
        if (const auto order = value["file_order"]) {
            part.order = order.numbers<id>();
        }
        manifest_.parts.push_back(std::move(part));
    }

    void read_piece(json_part value) {
        using kind = split_manifest::piece::kind;
        split_manifest::piece piece;
        const std::string name(value[0].text());
        unsigned k = 0;
        while (k < std::size(piece_names) && piece_names[k] != name) {
            ++k;
        }
        if (k == std::size(piece_names)) {
            fail("'" + name + "' is no kind of piece");
        }
        piece.from = static_cast<kind>(k);
        if (piece.from == kind::bytes) {
            piece.text = from_hex(std::string(value[1].text()));
        } else if (piece.from == kind::initializer) {
            piece.text = value[1].text();
            piece.first = value[2].number<std::uint64_t>();
            piece.count = value[3].number<std::uint64_t>();
        } else {
            piece.first = value[1].number<std::uint64_t>();
            piece.count = piece.from == kind::node ? 1 : value[2].number<std::uint64_t>();
        }
        manifest_.recipe.push_back(std::move(piece));
    }

    [[nodiscard]] std::string from_hex(const std::string& text) const {
        std::string bytes;
        const auto digit = [&](char c) {
            const auto found = std::string_view("0123456789abcdef").find(c);
            if (found == std::string_view::npos) {
                fail("'" + text + "' is no sequence of bytes");
            }
            return static_cast<unsigned>(found);
        };
        for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
            bytes.push_back(static_cast<char>(digit(text[i]) << 4U | digit(text[i + 1])));
        }
        return bytes;
    }

    [[noreturn]] void fail(const std::string& reason) const {
        STEMMA_THROW(error(error_code::malformed, file_, "recipe", reason));
    }

    split_manifest& manifest_;
    std::string_view file_;
    bool known_ = false;
};

} // namespace detail

/// Reads a manifest.
/// Throws: `error` of `malformed`, naming `file`.
[[nodiscard]] inline split_manifest read_split_manifest(std::string_view text,
                                                        std::string_view file) {
    split_manifest manifest;
    detail::split_manifest_handler handler(manifest, file);
    try {
        stream_json(text, file, handler);
    } catch (const std::invalid_argument& e) {
        STEMMA_THROW(error(error_code::malformed, file, "", e.what()));
    }
    if (!handler.knows_schema()) {
        STEMMA_THROW(error(error_code::malformed, file, "",
                           "is no " + std::string(split_schema) + " manifest"));
    }
    return manifest;
}

/// Writes a manifest as JSON. Complexity: O(length).
template <text_sink Sink>
void write_split_manifest(const split_manifest& manifest, Sink& sink) {
    json_writer json(sink);
    const auto list = [&](std::string_view name, const auto& values) {
        json.key(name);
        json.begin_array(true);
        for (const auto& value : values) {
            json.value(value);
        }
        json.end_array();
    };
    const auto entry = [&](std::string_view name, const split_manifest::file_entry& at) {
        json.key(name);
        if (at.file.empty()) {
            json.null();
            return;
        }
        json.begin_object(true);
        json.member("file", at.file);
        json.member("hash", at.hash);
        json.end_object();
    };
    json.begin_object();
    json.member("schema", split_schema);
    entry("source", manifest.source);
    entry("skeleton", manifest.skeleton);
    entry("weights", manifest.weights);
    json.key("parts");
    json.begin_array();
    for (const auto& part : manifest.parts) {
        json.begin_object(true);
        json.member("file", part.at.file);
        json.member("hash", part.at.hash);
        json.member("module", part.module);
        json.member("level", part.level);
        json.member("tag", part.tag);
        json.member("cost", part.cost);
        list("nodes", part.nodes);
        list("clones", part.clones);
        list("cloned_values", part.cloned_values);
        if (!part.order.empty()) {
            list("file_order", part.order);
        }
        list("initializers", part.initializers);
        json.end_object();
    }
    json.end_array();
    json.key("tensors");
    json.begin_array();
    for (const auto& tensor : manifest.tensors) {
        json.begin_object(true);
        json.member("name", tensor.name);
        json.member("type", tensor.type);
        json.key("shape");
        json.begin_array(true);
        for (const auto& extent : tensor.shape) {
            if (const auto* number = std::get_if<std::int64_t>(&extent)) {
                *number < 0 ? json.null() : json.value(*number);
            } else {
                json.value(std::get<std::string>(extent));
            }
        }
        json.end_array();
        json.key("from");
        tensor.from == no_id ? json.null() : json.value(tensor.from);
        list("to", tensor.to);
        json.member("output", tensor.output);
        json.end_object();
    }
    json.end_array();
    list("order", manifest.order);
    json.key("recipe");
    json.begin_array();
    for (const auto& piece : manifest.recipe) {
        using kind = split_manifest::piece::kind;
        json.begin_array(true);
        json.value(detail::piece_names[static_cast<std::size_t>(piece.from)]);
        if (piece.from == kind::bytes) {
            json.value(detail::bytes_to_hex(piece.text));
        } else {
            if (piece.from == kind::initializer) {
                json.value(piece.text);
            }
            json.value(piece.first);
            if (piece.from != kind::node) {
                json.value(piece.count);
            }
        }
        json.end_array();
    }
    json.end_array();
    json.end_object();
    json.finish();
}

} // namespace stemma

#endif // STEMMA_ONNX_SPLIT_MANIFEST_HPP

// <stemma/onnx/split_plan.hpp>
#ifndef STEMMA_ONNX_SPLIT_PLAN_HPP
#define STEMMA_ONNX_SPLIT_PLAN_HPP

namespace stemma {

/// One part of a split model.
struct split_part {
    id module = 0;          ///< that holds all of its nodes
    id level = 0;           ///< of a module that other parts have to run between: 0, 1, ...
    std::vector<id> nodes;  ///< of the main graph, that are its own, ascending
    std::vector<id> clones; ///< the others it holds: copies of constants of other parts, ascending
    std::uint64_t cost = 0; ///< of its own nodes, as the policy has it
    cut_plan plan;          ///< how it is written
};

/// Divides the main graph of a model into parts that run one after the other.
///
/// Constants, and what is computed from weights alone, go with their first reader and are copied to
/// the others.
template <cost_policy Cost = cost_in_bytes>
class split_planner {
public:
    /// `loads` is by node and counts weights where they are first read; `attributions` by node.
    /// Requires: all outlive the planner; `cuts` pulls in what depends on weights, and serves
    /// nothing else. Throws: `error` of `refused` for a graph with a cycle.
    /// Complexity: O(nodes + edges).
    split_planner(const onnx_model& model, cut_planner<>& cuts, const tree_index& modules,
                  std::span<const attribution> attributions, std::span<const operator_load> loads,
                  Cost cost = {})
        : model_(model)
        , cuts_(cuts)
        , facts_(cuts.facts(0))
        , modules_(modules)
        , attributions_(attributions)
        , loads_(loads)
        , cost_(std::move(cost)) {
        if (facts_.order().size() != facts_.view().nodes.size()) {
            STEMMA_THROW(error(error_code::refused, "", "split", "the graph has a cycle"));
        }
        find_homeless();
        for (auto v : facts_.order()) {
            if (!facts_.set.apart[v]) {
                order_.push_back(v);
            }
        }
    }

    /// Splits by part: `part_of(module)` says, for the module of a node, which module's part the
    /// node goes to. Parts that read from each other in circles are divided by level; with `joins`
    /// levels that nothing keeps apart are joined again.
    /// Complexity: O(nodes + edges), and that of `join_levels`.
    template <class PartOf>
    [[nodiscard]] std::vector<split_part> by_module(PartOf part_of, bool joins = false) {
        std::vector<id> part(facts_.view().nodes.size(), no_id);
        for (auto v : order_) {
            part[v] = part_of(module_of(v));
        }
        auto pieces = make_acyclic(facts_.view().graph, std::span<const id>(part), modules_.size(),
                                   std::span<const id>(order_));
        if (joins) {
            join_levels(facts_.view().graph, pieces);
        }
        std::vector<split_part> parts(pieces.pieces.size());
        for (std::size_t p = 0; p < parts.size(); ++p) {
            parts[p].module = pieces.pieces[p].part;
            parts[p].level = pieces.pieces[p].level;
        }
        return filled(std::move(parts), std::move(pieces.piece_of));
    }

    /// Splits into exactly `count` parts of about equal cost, each a stretch of the graph's order.
    /// Throws: `error` of `refused` when there are fewer nodes that are not constant.
    /// Complexity: O(nodes + edges), and what planning the parts takes.
    [[nodiscard]] std::vector<split_part> into(std::size_t count) {
        if (count == 0 || count > order_.size()) {
            STEMMA_THROW(error(error_code::refused, "", "split",
                               "into " + std::to_string(count) + " parts: the graph has " +
                                   std::to_string(order_.size()) + " nodes that are not constant"));
        }
        const auto costs = costs_in_order();
        const auto crossing = count_crossing();
        const auto begins = divide_evenly(costs, count, [&](std::size_t i) {
            const auto meet = modules_.lca(module_of(order_[i - 1]), module_of(order_[i]));
            return std::pair(crossing[i], modules_.depth(meet));
        });
        std::vector<split_part> parts(count);
        std::vector<id> piece(facts_.view().nodes.size(), no_id);
        for (std::size_t p = 0; p < count; ++p) {
            const auto end = p + 1 < count ? begins[p + 1] : order_.size();
            parts[p].module = module_of(order_[begins[p]]);
            for (auto i = begins[p]; i < end; ++i) {
                piece[order_[i]] = static_cast<id>(p);
                parts[p].module = modules_.lca(parts[p].module, module_of(order_[i]));
            }
        }
        return filled(std::move(parts), std::move(piece));
    }

private:
    [[nodiscard]] id module_of(id v) const { return attributions_[facts_.view().nodes[v]].module; }

    /// What is constant has a home where it is read. What nobody reads, and what the model gives
    /// out, is made to count like everything else; all is where nothing else is.
    void find_homeless() {
        const auto& graph = facts_.view().graph;
        std::vector<bool> gives_out(model_.node_count(), false);
        for (auto value : model_.graph(0).outputs) {
            if (value != no_id && model_.producer(value) != no_id) {
                gives_out[model_.producer(value)] = true;
            }
        }
        const bool all_constant = std::all_of(facts_.order().begin(), facts_.order().end(),
                                              [&](id v) { return bool{facts_.set.apart[v]}; });
        for (auto v : facts_.order()) {
            if (all_constant || out_degree(v, graph) == 0 || gives_out[facts_.view().nodes[v]]) {
                facts_.set.apart[v] = false;
            }
        }
    }

    /// Returns: by place in the order the cost of a node, with the constants it is the first to
    /// read.
    [[nodiscard]] std::vector<std::uint64_t> costs_in_order() const {
        const auto& graph = facts_.view().graph;
        std::vector<std::uint64_t> costs(order_.size(), 0);
        std::vector<id> place(facts_.view().nodes.size(), no_id);
        for (std::size_t i = 0; i < order_.size(); ++i) {
            place[order_[i]] = static_cast<id>(i);
        }
        for (auto v = facts_.order().rbegin(); v != facts_.order().rend(); ++v) {
            if (facts_.set.apart[*v]) {
                for (auto [it, last] = adjacent_vertices(*v, graph); it != last; ++it) {
                    place[*v] = std::min(place[*v], place[*it]);
                }
            }
            costs[place[*v]] += cost_.cost(loads_[facts_.view().nodes[*v]]);
        }
        return costs;
    }

    /// Returns: by place in the order, how many values cross it.
    [[nodiscard]] std::vector<std::int64_t> count_crossing() const {
        std::vector<std::int64_t> crossing(order_.size() + 1, 0);
        std::vector<id> place(facts_.view().nodes.size(), no_id);
        for (std::size_t i = 0; i < order_.size(); ++i) {
            place[order_[i]] = static_cast<id>(i);
        }
        const auto& graph = facts_.view().graph;
        for (auto v : order_) {
            id last_reader = place[v];
            for (auto [it, last] = adjacent_vertices(v, graph); it != last; ++it) {
                if (place[*it] != no_id) {
                    last_reader = std::max(last_reader, place[*it]);
                }
            }
            ++crossing[place[v] + 1];
            if (last_reader + 1U < crossing.size()) {
                --crossing[last_reader + 1];
            }
        }
        for (std::size_t i = 1; i < crossing.size(); ++i) {
            crossing[i] += crossing[i - 1];
        }
        return crossing;
    }

    [[nodiscard]] std::vector<split_part> filled(std::vector<split_part> parts,
                                                 std::vector<id> piece) {
        // Constants, last ones first: what reads them has a home already.
        for (auto v = facts_.order().rbegin(); v != facts_.order().rend(); ++v) {
            if (facts_.set.apart[*v]) {
                for (auto [it, last] = adjacent_vertices(*v, facts_.view().graph); it != last;
                     ++it) {
                    piece[*v] = std::min(piece[*v], piece[*it]);
                }
            }
        }
        std::vector<std::vector<id>> members(parts.size());
        for (id v = 0; v < piece.size(); ++v) {
            auto& part = parts[piece[v]];
            part.nodes.push_back(facts_.view().nodes[v]);
            part.cost += cost_.cost(loads_[facts_.view().nodes[v]]);
            if (!facts_.set.apart[v]) {
                members[piece[v]].push_back(v);
            }
        }
        for (std::size_t p = 0; p < parts.size(); ++p) {
            auto& part = parts[p];
            part.plan = cuts_.plan_exactly(0, members[p]);
            give_something_out(part.plan);
            std::set_difference(part.plan.clones.begin(), part.plan.clones.end(),
                                part.nodes.begin(), part.nodes.end(),
                                std::back_inserter(part.clones));
        }
        return parts;
    }

    /// A part that nobody reads from gives out what is not read: a model has outputs.
    void give_something_out(cut_plan& plan) const {
        if (!plan.outputs.empty()) {
            return;
        }
        plan.refusal = cut_refusal::none;
        for (auto node : plan.nodes) {
            if (out_degree(model_.position(node), facts_.view().graph) == 0) {
                for (id i = 0; i < model_.output_count(node); ++i) {
                    if (!model_.value_name(model_.first_output(node) + i).empty()) {
                        plan.outputs.push_back(model_.first_output(node) + i);
                    }
                }
            }
        }
    }

    const onnx_model& model_;
    cut_planner<>& cuts_;
    cut_facts& facts_;
    const tree_index& modules_;
    std::span<const attribution> attributions_;
    std::span<const operator_load> loads_;
    Cost cost_;
    std::vector<id> order_; // vertices that are not constant, producers first
};

} // namespace stemma

#endif // STEMMA_ONNX_SPLIT_PLAN_HPP

// <stemma/onnx/structure_digest.hpp>
#ifndef STEMMA_ONNX_STRUCTURE_DIGEST_HPP
#define STEMMA_ONNX_STRUCTURE_DIGEST_HPP

namespace stemma {

/// Computes numbers that change with the operators of some nodes or their wiring, not with names,
/// weights, attributes or metadata. The same everywhere, so they may be stored.
///
/// Values and graphs are numbered as they first appear, so a part that was cut out has the digest
/// that its nodes have in the whole.
class structure_digester {
public:
    /// Requires: `model` outlives the digester. Complexity: O(values + graphs + operators).
    explicit structure_digester(const onnx_model& model)
        : model_(model), values_(model.value_count()), graphs_(model.graph_count()) {
        // Each text with an end, and not by hash_bytes, which depends on the order of bytes in a
        // word.
        constexpr std::string_view end = "\xff";
        for (id op = 0; op < model.operator_count(); ++op) {
            const auto domain = fnv1a(end, fnv1a(model.operator_domain(op)));
            operators_.push_back(fnv1a(end, fnv1a(model.operator_type(op), domain)));
        }
        for (id g = 1; g < model.graph_count(); ++g) {
            if (model.graph(g).kind == graph_kind::body) {
                bodies_.emplace_back(model.graph(g).owner, g);
            }
        }
        std::sort(bodies_.begin(), bodies_.end());
    }

    /// Complexity: O(nodes + inputs) expected.
    [[nodiscard]] std::uint64_t operator()(std::span<const id> nodes) {
        std::uint64_t digest = nodes.size();
        for (auto node : nodes) {
            digest = hash_mix(digest ^ operators_[model_.operator_id(node)],
                              graphs_.number(model_.graph_of(node)));
            for (auto value : model_.inputs(node)) {
                digest = hash_mix(digest, of_value(value));
            }
            for (id i = 0; i < model_.output_count(node); ++i) {
                digest = hash_mix(digest, of_value(model_.first_output(node) + i));
            }
        }
        // What a body gives its owner is wiring, too.
        for (auto node : nodes) {
            for (auto body =
                     std::lower_bound(bodies_.begin(), bodies_.end(), std::pair(node, id{0}));
                 body != bodies_.end() && body->first == node; ++body) {
                for (auto value : model_.graph(body->second).outputs) {
                    digest = hash_mix(digest, of_value(value));
                }
            }
        }
        values_.forget();
        graphs_.forget();
        return digest;
    }

private:
    /// Numbers things as they first appear.
    class numbering {
    public:
        explicit numbering(std::size_t count) : next_of_(count) {}

        [[nodiscard]] id number(id what) {
            if (next_of_[what] <= first_) {
                next_of_[what] = ++last_;
            }
            return next_of_[what] - first_ - 1;
        }

        /// Begins with 0 again, as if nothing had appeared.
        void forget() {
            first_ = last_;
            if (first_ > no_id / 2) { // there are fewer things than that
                std::fill(next_of_.begin(), next_of_.end(), 0);
                first_ = last_ = 0;
            }
        }

    private:
        std::vector<id> next_of_; // behind its number; at most `first_` for what did not appear
        id first_ = 0;
        id last_ = 0;
    };

    [[nodiscard]] id of_value(id value) { return value == no_id ? no_id : values_.number(value); }

    const onnx_model& model_;
    std::vector<std::uint64_t> operators_;
    std::vector<std::pair<id, id>> bodies_; // owner, graph
    numbering values_;
    numbering graphs_;
};

/// Returns: the digest of all nodes of a model.
[[nodiscard]] inline std::uint64_t structure_digest(const onnx_model& model) {
    std::vector<id> nodes(model.node_count());
    std::iota(nodes.begin(), nodes.end(), id{0});
    return structure_digester(model)(nodes);
}

} // namespace stemma

#endif // STEMMA_ONNX_STRUCTURE_DIGEST_HPP

// <stemma/detail/lineage_text.hpp>
#ifndef STEMMA_DETAIL_LINEAGE_TEXT_HPP
#define STEMMA_DETAIL_LINEAGE_TEXT_HPP

namespace stemma::detail {

/// A text that a module has from all that lie above it, as its path and its tag: those of
/// neighbours mostly begin alike, so each is spelled from where it leaves the one before.
class lineage_text {
public:
    /// Spells the text of `m`: `above(m)` is what comes before it, `no_id` for the first one, and
    /// `append(m, level, text)` adds its own part; the first one has level 0.
    ///
    /// Requires: what comes before a module has a lower number; both answer the same every time.
    /// Returns: the text; valid until the next call.
    /// Complexity: that of the parts that the text before did not have.
    template <class Above, class Append>
    std::string_view spell(id m, Above above, Append append) {
        missing_.clear();
        for (; m != no_id; m = above(m)) {
            while (!spelled_.empty() && spelled_.back().m > m) {
                spelled_.pop_back();
            }
            if (!spelled_.empty() && spelled_.back().m == m) {
                break;
            }
            missing_.push_back(m);
        }
        text_.resize(spelled_.empty() ? 0 : spelled_.back().end);
        for (; !missing_.empty(); missing_.pop_back()) {
            append(missing_.back(), spelled_.size(), text_);
            spelled_.push_back({missing_.back(), text_.size()});
        }
        return text_;
    }

private:
    struct part {
        id m = no_id;
        std::size_t end = 0; // of its text
    };

    std::string text_;
    std::vector<part> spelled_; // each comes before the next one
    std::vector<id> missing_;
};

} // namespace stemma::detail

#endif // STEMMA_DETAIL_LINEAGE_TEXT_HPP

// <stemma/onnx/tag_texts.hpp>
#ifndef STEMMA_ONNX_TAG_TEXTS_HPP
#define STEMMA_ONNX_TAG_TEXTS_HPP

namespace stemma {

/// Spells out what is written about operators. The texts are valid until the next call.
class tag_texts {
public:
    /// Requires: both outlive the texts.
    tag_texts(const module_tree& modules, const tagging& found)
        : modules_(&modules), found_(&found) {}

    /// Complexity: O(length).
    [[nodiscard]] operator_tags of_operator(id v) {
        const auto module = found_->attributions[v].module;
        const auto set = found_->tag_sets[v];
        all_.clear();
        if (found_->pool.size_of(set) < 2) {
            return {tag_of(module), path_of(module), all_, {}};
        }
        found_->pool.for_each(set, [&](id m) { all_.emplace_back(tag_of(m)); });
        const auto json = as_json(set); // which spells tags, too
        return {tag_of(module), path_of(module), all_, json};
    }

    /// Returns: the tags of a set as a JSON array. Complexity: O(length), O(1) for the last set.
    [[nodiscard]] std::string_view as_json(id_set set) {
        if (set == last_set_ && !json_.empty()) {
            return json_;
        }
        last_set_ = set;
        json_.clear();
        found_->pool.for_each(set, [&](id m) {
            json_.append(json_.empty() ? "[" : ", ");
            append_json_string(tag_of(m), json_);
        });
        json_.append("]");
        return json_;
    }

private:
    [[nodiscard]] std::string_view tag_of(id m) {
        const auto& tags = found_->tags;
        return tag_.spell(
            tags.writable(m), [&](id selected) { return tags.above(selected); },
            [&](id selected, std::size_t, std::string& text) {
                text.push_back('/');
                text.append(tags.segment(selected));
            });
    }

    [[nodiscard]] std::string_view path_of(id m) {
        return path_.spell(
            m, [&](id inner) { return modules_->index().parent(inner); },
            [&](id inner, std::size_t level, std::string& text) {
                if (level > 1) {
                    text.push_back('.');
                }
                if (level > 0) {
                    text.append(modules_->attribute(inner));
                }
            });
    }

    const module_tree* modules_;
    const tagging* found_;
    detail::lineage_text tag_;
    detail::lineage_text path_;
    std::vector<std::string> all_;
    std::string json_; // of `last_set_`, once there is one
    id_set last_set_ = no_id;
};

} // namespace stemma

#endif // STEMMA_ONNX_TAG_TEXTS_HPP

// <stemma/onnx/wire/message_edits.hpp>
#ifndef STEMMA_ONNX_WIRE_MESSAGE_EDITS_HPP
#define STEMMA_ONNX_WIRE_MESSAGE_EDITS_HPP

namespace stemma {

namespace detail {

inline constexpr std::size_t max_varint_size = 10;

/// Writes a number, and returns what is behind it.
inline char* put_varint(std::uint64_t value, char* out) noexcept {
    for (; value >= 0x80; value >>= 7U) {
        *out++ = static_cast<char>(value | 0x80U);
    }
    *out++ = static_cast<char>(value);
    return out;
}

/// Writes tag and length of a field of bytes, and returns what is behind them.
inline char* put_header(std::uint32_t field, std::uint64_t size, char* out) noexcept {
    return put_varint(size, put_varint(field << 3U | 2U, out));
}

// What is appended is handed over as a view: two pointers a string takes by way of a replacement.

inline void append_varint(std::uint64_t value, std::string& out) {
    char bytes[max_varint_size];
    out.append(std::string_view(bytes, put_varint(value, bytes)));
}

/// Appends the tag of a field of bytes.
inline void append_tag(std::uint32_t field, std::string& out) {
    append_varint(field << 3U | 2U, out);
}

/// Appends a field of bytes: tag, length, content.
inline void append_field(std::uint32_t field, std::string_view content, std::string& out) {
    char header[2 * max_varint_size];
    out.append(std::string_view(header, put_header(field, content.size(), header)));
    out.append(content);
}

/// Appends a field that holds a number; one below zero as protobuf has it, in ten bytes.
inline void append_number(std::uint32_t field, std::int64_t number, std::string& out) {
    append_varint(field << 3U, out);
    append_varint(static_cast<std::uint64_t>(number), out);
}

/// Appends a StringStringEntryProto as a field.
inline void append_entry(std::uint32_t field, std::string_view key, std::string_view value,
                         std::string& out) {
    using entry = onnx_fields::entry;
    const auto size =
        2 + varint_size(key.size()) + key.size() + varint_size(value.size()) + value.size();
    char header[4 * max_varint_size];
    char* const end = put_header(entry::key, key.size(), put_header(field, size, header));
    out.append(std::string_view(header, end));
    out.append(key);
    append_field(entry::value, value, out);
}

} // namespace detail

/// Replaces `removed` bytes of a file at `at` by `text`.
struct edit {
    std::uint32_t at = 0;      ///< bytes from the start of the file
    std::uint32_t removed = 0; ///< how many bytes
    std::string_view text;     ///< valid until the list changes
};

/// What changes inside one message, in file order: a list that is filled, read and cleared again.
class message_edits {
public:
    /// Forgets all edits; the memory is kept.
    void clear() noexcept {
        records_.clear();
        text_.clear();
        growth_ = 0;
    }

    /// Whether nothing changes.
    [[nodiscard]] bool empty() const noexcept { return records_.empty(); }

    /// Returns: by how many bytes the content grows; negative when it shrinks.
    [[nodiscard]] std::int64_t growth() const noexcept { return growth_; }

    /// Requires: edits are reported in file order and do not overlap.
    void replace(std::uint32_t begin, std::uint32_t end, std::string_view text) {
        add(begin, end - begin, text_.size(), text.size(), nullptr);
        text_.append(text);
    }

    /// As `insert`, of a StringStringEntryProto as a field.
    void insert_entry(std::uint32_t at, std::uint32_t field, std::string_view key,
                      std::string_view value) {
        const auto begin = text_.size();
        detail::append_entry(field, key, value, text_);
        add(at, 0, begin, text_.size() - begin, nullptr);
    }

    /// As `insert`, of a text that outlives the list and is not copied.
    void insert_kept(std::uint32_t at, std::string_view text) {
        add(at, 0, 0, text.size(), text.data());
    }

    /// As `replace` by nothing.
    void remove(std::uint32_t begin, std::uint32_t end) { replace(begin, end, {}); }

    /// As `replace` of nothing.
    void insert(std::uint32_t at, std::string_view text) { replace(at, at, text); }

    /// Gives a field of bytes with content at [begin, end) other content, and the length for it.
    void replace_content(const char* base, std::uint32_t begin, std::uint32_t end,
                         std::string_view content) {
        std::string length;
        detail::append_varint(content.size(), length);
        replace(detail::length_position(base, begin), begin, length);
        replace(begin, end, content);
    }

    /// Calls `f(edit)` in file order. The texts are valid until the next change.
    /// Complexity: O(edits).
    template <class Function>
    void for_each(Function f) const {
        for (const auto& r : records_) {
            f(edit{r.at, r.removed, {r.kept != nullptr ? r.kept : text_.data() + r.text, r.size}});
        }
    }

private:
    struct record {
        std::uint32_t at;
        std::uint32_t removed;
        std::size_t text; // where it begins in `text_`
        std::uint32_t size;
        const char* kept; // or where it begins outside
    };

    void add(std::uint32_t at, std::uint32_t removed, std::size_t text, std::size_t size,
             const char* kept) {
        // Member by member: a whole one is put together in memory first, and is waited for.
        auto& added = records_.emplace_back();
        added.at = at;
        added.removed = removed;
        added.text = text;
        added.size = static_cast<std::uint32_t>(size);
        added.kept = kept;
        growth_ += static_cast<std::int64_t>(size) - removed;
    }

    std::vector<record> records_;
    std::string text_;
    std::int64_t growth_ = 0;
};

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_MESSAGE_EDITS_HPP

// <stemma/onnx/wire/byte_rope.hpp>
#ifndef STEMMA_ONNX_WIRE_BYTE_ROPE_HPP
#define STEMMA_ONNX_WIRE_BYTE_ROPE_HPP

namespace stemma {

/// Bytes to be written: ranges of files, and texts between them. Adjacent ranges become one.
class byte_rope {
public:
    /// Appends bytes of file number `file`.
    void add_range(std::uint64_t begin, std::uint64_t size, id file = 0) {
        if (size == 0) {
            return;
        }
        size_ += size;
        if (!pieces_.empty() && pieces_.back().file == file &&
            pieces_.back().begin + pieces_.back().size == begin) {
            pieces_.back().size += size;
        } else {
            pieces_.push_back({begin, size, file});
        }
    }

    /// Appends other bytes.
    void add_text(std::string_view text) {
        if (text.empty()) {
            return;
        }
        size_ += text.size();
        if (!pieces_.empty() && pieces_.back().file == no_id) {
            pieces_.back().size += text.size();
        } else {
            pieces_.push_back({text_.size(), text.size(), no_id});
        }
        text_.append(text);
    }

    /// Appends a field of bytes that holds a message of the file: as it stands there, when its tag
    /// and length are written as we would.
    void add_message(std::string_view file, std::uint32_t field, std::uint32_t begin,
                     std::uint32_t size) {
        std::string header;
        detail::append_tag(field, header);
        detail::append_varint(size, header);
        if (begin >= header.size() && file.substr(begin - header.size(), header.size()) == header) {
            add_range(begin - static_cast<std::uint32_t>(header.size()),
                      static_cast<std::uint32_t>(header.size()) + size);
        } else {
            add_text(header);
            add_range(begin, size);
        }
    }

    /// Appends a field of bytes with this content.
    void add_field(std::uint32_t field, std::string_view content) {
        std::string text;
        detail::append_field(field, content, text);
        add_text(text);
    }

    /// Appends a field of bytes that holds another rope.
    void add_field(std::uint32_t field, const byte_rope& content) {
        std::string header;
        detail::append_tag(field, header);
        detail::append_varint(content.size(), header);
        add_text(header);
        append(content);
    }

    /// Appends a StringStringEntryProto as a field.
    void add_entry(std::uint32_t field, std::string_view key, std::string_view value) {
        std::string text;
        detail::append_entry(field, key, value, text);
        add_text(text);
    }

    /// Appends all pieces of another rope, over the same files.
    /// Complexity: O(pieces + bytes of texts).
    void append(const byte_rope& other) {
        for (const auto& p : other.pieces_) {
            p.file == no_id ? add_text(std::string_view(other.text_).substr(p.begin, p.size))
                            : add_range(p.begin, p.size, p.file);
        }
    }

    /// Returns: bytes, those of ranges included.
    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

    /// Calls `range(file, begin, size)` and `text(bytes)` for all pieces in order.
    /// Complexity: O(pieces).
    template <class Range, class Text>
    void for_each(Range range, Text text) const {
        for (const auto& p : pieces_) {
            if (p.file == no_id) {
                text(std::string_view(text_).substr(p.begin, p.size));
            } else {
                range(p.file, p.begin, p.size);
            }
        }
    }

    /// Hands everything to a splice sink over the one file there is.
    template <class Sink>
    void write(Sink& sink) const {
        for_each(
            [&](id, std::uint64_t begin, std::uint64_t size) {
                sink.copy(static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(size));
            },
            [&](std::string_view text) { sink.write(text); });
    }

private:
    struct piece {
        std::uint64_t begin = 0; // in the file, or in `text_`
        std::uint64_t size = 0;
        id file = no_id;
    };

    std::vector<piece> pieces_;
    std::string text_;
    std::uint64_t size_ = 0;
};

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_BYTE_ROPE_HPP

// <stemma/onnx/wire/attribute_texts.hpp>
#ifndef STEMMA_ONNX_WIRE_ATTRIBUTE_TEXTS_HPP
#define STEMMA_ONNX_WIRE_ATTRIBUTE_TEXTS_HPP

namespace stemma {

/// What an AttributeProto is called, and which attribute of the function around it stands for.
struct attribute_names {
    std::string_view name;      ///< of the attribute itself
    std::string_view reference; ///< `ref_attr_name`; "" for none
};

/// Complexity: O(fields).
[[nodiscard]] inline attribute_names read_attribute_names(wire_reader fields) {
    using at = detail::onnx_fields::attribute;
    attribute_names names;
    for (wire_field field; fields.next(field);) {
        if (field.is_bytes(at::name)) {
            names.name = fields.text(field);
        } else if (field.is_bytes(at::ref_attr_name)) {
            names.reference = fields.text(field);
        }
    }
    return names;
}

/// Returns: an AttributeProto of the file with another name, where that stood, and all else as it
/// is. Complexity: O(fields).
[[nodiscard]] inline byte_rope renamed_attribute(wire_reader fields, std::string_view name) {
    byte_rope out;
    for (wire_field field; fields.next(field);) {
        if (field.is_bytes(detail::onnx_fields::attribute::name)) {
            out.add_field(field.number, name);
        } else {
            out.add_range(field.begin, field.end - field.begin);
        }
    }
    return out;
}

/// Returns: an AttributeProto of the same type as another one that stands for an attribute of the
/// function around. Complexity: O(fields).
[[nodiscard]] inline std::string attribute_reference(wire_reader fields, std::string_view name,
                                                     std::string_view reference) {
    using at = detail::onnx_fields::attribute;
    std::string out;
    detail::append_field(at::name, name, out);
    for (wire_field field; fields.next(field);) {
        if (field.is(at::type, wire_type::varint)) {
            out.append(fields.whole(field));
        }
    }
    detail::append_field(at::ref_attr_name, reference, out);
    return out;
}

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_ATTRIBUTE_TEXTS_HPP

// <stemma/onnx/wire/known_policies.hpp>
#ifndef STEMMA_ONNX_WIRE_KNOWN_POLICIES_HPP
#define STEMMA_ONNX_WIRE_KNOWN_POLICIES_HPP

namespace stemma {

/// Policies by name, for ONNX files.
using onnx_policy_registry = policy_registry<onnx_operators<wire_model>, module_tree>;

/// Returns: the policies that `attributed_model` and the `stemma` program know by name, those in
/// the box to start with.
///
/// Requires: policies are added before the first model is opened, and by one thread.
[[nodiscard]] inline onnx_policy_registry& known_policies() {
    static onnx_policy_registry known;
    return known;
}

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_KNOWN_POLICIES_HPP

// <stemma/onnx/wire/attribution_options.hpp>
#ifndef STEMMA_ONNX_WIRE_ATTRIBUTION_OPTIONS_HPP
#define STEMMA_ONNX_WIRE_ATTRIBUTION_OPTIONS_HPP

namespace stemma {

/// How a file is to be attributed; policies by their names in `known_policies`, empty for the
/// default.
struct attribution_options {
    std::vector<std::string> captures{}; ///< paths of captures
    std::string selection{};             ///< see `parse_selection`
    std::vector<std::string> keep{};     ///< classes that the default selection selects as well
    std::string naming{};                ///< see `parse_naming`
    std::string resolution{};            ///< see `parse_resolution`
    std::string propagation{};           ///< see `parse_propagation`
    std::vector<std::string> sources{};  ///< provenances, and added sources, to use; empty: all
    float min_confidence = 0;            ///< claims below it are not believed
    bool recompute = false;              ///< do not take over tags that the file carries
    bool digest = false;                 ///< find what `record` needs while the file is read
    thread_limit threads{};              ///< that may read; the same is found by any number
};

namespace detail {

[[nodiscard]] inline std::string join_list(const std::vector<std::string>& parts) {
    std::string text;
    for (const auto& part : parts) {
        text.append(text.empty() ? "" : ",").append(part);
    }
    return text;
}

} // namespace detail

/// Returns: the choices that are not the default, by the names they have in a record.
[[nodiscard]] inline std::map<std::string, std::string>
recorded_options(const attribution_options& options) {
    std::map<std::string, std::string> recorded;
    const auto note = [&](const char* name, std::string value) {
        if (!value.empty()) {
            recorded[name] = std::move(value);
        }
    };
    note("select", options.selection);
    note("keep", detail::join_list(options.keep));
    note("naming", options.naming);
    note("resolve", options.resolution);
    note("propagate", options.propagation);
    note("sources", detail::join_list(options.sources));
    if (options.min_confidence > 0) {
        char digits[32];
        note("min-confidence",
             {digits, std::to_chars(digits, digits + sizeof digits, options.min_confidence).ptr});
    }
    return recorded;
}

/// Makes the choices of a record where `options` make none.
inline void adopt_options(attribution_options& options, const model_record& record) {
    const auto take = [&](const char* name, std::string& option) {
        option = option.empty() ? record.option(name) : option;
    };
    const auto take_list = [&](const char* name, std::vector<std::string>& option) {
        option = option.empty() ? split_list(record.option(name)) : option;
    };
    take("select", options.selection);
    take_list("keep", options.keep);
    take("naming", options.naming);
    take("resolve", options.resolution);
    take("propagate", options.propagation);
    take_list("sources", options.sources);
    if (const auto text = record.option("min-confidence"); options.min_confidence == 0) {
        std::from_chars(text.data(), text.data() + text.size(), options.min_confidence);
    }
}

namespace detail {

/// The policies that options ask for; refuses options that name none.
class chosen_policies {
public:
    using operators = onnx_operators<wire_model>;
    using context_type = evidence_context<operators, module_tree>;

    /// Sources that a program added to those in the box.
    struct added_sources {
        using policy_category = evidence_category;
        using source = any_evidence<operators, module_tree>;

        std::vector<source> chosen{};

        struct claims {
            std::vector<source::claims> made;

            template <class Function>
            void for_each_claim(id node, Function f) const {
                for (const auto& one : made) {
                    one.for_each_claim(node, std::ref(f));
                }
            }
        };

        [[nodiscard]] claims prepare(context_type& context) const {
            claims all;
            for (const auto& one : chosen) {
                all.made.push_back(one.prepare(context));
            }
            return all;
        }
    };

    using source_set =
        evidence_sources<optional_source<exporter_metadata>, optional_source<builder_metadata>,
                         optional_source<function_calls>, optional_source<scope_names>,
                         optional_source<parameter_names>, optional_source<parameter_regions>,
                         optional_source<leftovers>, given_claims, added_sources>;

    explicit chosen_policies(const attribution_options& options) : options_(options) {
        for (const auto& source : options.sources) {
            const auto known = parse_provenance(source);
            if ((!known || !is_evidence(*known)) && !known_policies().sources.find(source)) {
                refuse("source of evidence", source);
            }
        }
    }

    [[nodiscard]] bool uses(std::string_view source) const {
        const auto& names = options_.sources;
        return names.empty() || std::find(names.begin(), names.end(), source) != names.end();
    }
    [[nodiscard]] bool uses(provenance p) const { return uses(to_string(p)); }

    /// Returns: the sources in the box for whose provenance `on` holds, and those that were added.
    template <class Chosen>
    [[nodiscard]] source_set sources(Chosen on, const std::vector<claim_table>& given) const {
        added_sources added;
        known_policies().sources.for_each([&](const std::string& name, const auto& source) {
            if (uses(name)) {
                added.chosen.push_back(source);
            }
        });
        return source_set({{}, on(provenance::metadata)}, {{}, on(provenance::metadata)},
                          {{}, on(provenance::function)}, {{}, on(provenance::scope)},
                          {{}, on(provenance::parameter)},
                          {{}, on(provenance::parameter) && given.empty()},
                          {{}, on(provenance::leftover)}, given_claims{&given}, added);
    }

    [[nodiscard]] any_selection<module_tree> selection() const {
        auto found = known_policies().find_selection(options_.selection, options_.keep);
        if (!found) {
            refuse("selection", options_.selection);
        }
        return *std::move(found);
    }

    [[nodiscard]] any_naming<module_tree> naming() const {
        return look_up(known_policies().namings, "naming", options_.naming);
    }

    [[nodiscard]] any_resolution resolution() const {
        if (auto named = parse_resolution(options_.resolution, options_.min_confidence)) {
            return *named;
        }
        return look_up(known_policies().resolutions, "resolution", options_.resolution);
    }

    [[nodiscard]] any_propagation<operators> propagation() const {
        return look_up(known_policies().propagations, "propagation", options_.propagation);
    }

private:
    template <class Any>
    [[nodiscard]] static Any look_up(const policies_by_name<Any>& known, const char* role,
                                     const std::string& name) {
        auto found = known.find(name);
        if (!found) {
            refuse(role, name);
        }
        return *std::move(found);
    }

    [[noreturn]] static void refuse(std::string_view what, const std::string& text) {
        STEMMA_THROW(error(error_code::refused, "", what, "'" + text + "' is none that is known"));
    }

    attribution_options options_;
};

} // namespace detail

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_ATTRIBUTION_OPTIONS_HPP

// <stemma/onnx/wire/captured_claims.hpp>
#ifndef STEMMA_ONNX_WIRE_CAPTURED_CLAIMS_HPP
#define STEMMA_ONNX_WIRE_CAPTURED_CLAIMS_HPP

namespace stemma {

/// Returns: the shapes of the initializers that the operators read.
/// Complexity: O(fields of initializers); data is not touched.
[[nodiscard]] inline parameter_shapes find_parameter_shapes(const wire_model& model,
                                                            const onnx_operators<wire_model>& ops) {
    std::vector<id> tensor_of(model.value_count(), no_id);
    for (id t = 0; t < model.tensors().size(); ++t) {
        if (model.tensors()[t].value != no_id) {
            tensor_of[model.tensors()[t].value] = t;
        }
    }
    parameter_shapes shapes;
    for (id p = 0; p < ops.parameter_count(); ++p) {
        auto value = ops.parameter_value(p);
        for (id steps = 0; steps < 16 && model.producer(value) != no_id; ++steps) {
            value = model.inputs(model.producer(value))[0]; // an Identity of an initializer
        }
        const auto tensor = tensor_of[value];
        shapes.add(tensor == no_id ? std::vector<std::int64_t>{}
                                   : read_tensor_header(model, model.tensors()[tensor]).dims);
    }
    return shapes;
}

/// What the parts of a capture besides its modules say of a model.
struct captured_evidence {
    std::vector<claim_table> claims; ///< a table for each part of the capture that says something
    std::vector<std::string> notes;  ///< what a user should know of how it went
};

/// Finds what a capture claims about the nodes of a model.
class captured_claims {
public:
    /// Requires: all outlive it.
    captured_claims(const wire_model& model, const onnx_operators<wire_model>& ops,
                    const module_tree& modules, const path_mapping& mapping)
        : model_(model), ops_(ops), modules_(modules), mapping_(mapping) {}

    /// Aligns the operations, and makes claims about those nodes that are `open`: nothing better is
    /// known of them.
    /// Complexity: that of `align`.
    void align_operations(const captured_operations& captured, provenance source,
                          const std::vector<bool>& open) {
        if (captured.empty()) {
            return;
        }
        if (!shapes_known_) {
            shapes_ = find_parameter_shapes(model_, ops_);
            shapes_known_ = true;
        }
        const auto found = align(ops_, modules_.index(), captured, mapping_, shapes_);
        for (const auto& doubt : found.doubts) {
            found_.notes.push_back(std::string(to_string(source)) + ": " + doubt);
        }
        if (!found.is_plausible()) {
            return;
        }
        claim_table table{source, std::vector<claim>(model_.node_count())};
        for (id node = 0; node < model_.node_count(); ++node) {
            const auto& made = found.of[node];
            if (open[node] && made.module != no_id && made.confidence > 0) {
                table.of[node] = {made.module, made.call, in_percent(made.confidence), source,
                                  made.exact};
            }
        }
        for (auto& known : found_.claims) {
            if (known.source == source) { // another graph of the same kind
                settle(known, table);
                join(known, table);
                return;
            }
        }
        found_.claims.push_back(std::move(table));
    }

    /// Looks up the nodes that an export recorded.
    /// Complexity: O((nodes + recorded nodes) log nodes).
    void look_up(const captured_export& exported) {
        if (exported.empty()) {
            return;
        }
        std::map<std::string, id, std::less<>> graphs;
        for (id g = 0; g < model_.graph_count(); ++g) {
            graphs.emplace(model_.graph_path(g), g);
        }
        std::map<std::pair<id, id>, id> places;
        for (id node = 0; node < model_.node_count(); ++node) {
            places.emplace(std::pair(model_.graph_of(node), model_.position(node)), node);
        }
        claim_table table{provenance::exported, std::vector<claim>(model_.node_count())};
        std::size_t strangers = 0;
        for (const auto& made : exported.nodes()) {
            const auto g = graphs.find(made.graph);
            const auto place =
                g == graphs.end() ? places.end() : places.find({g->second, made.index});
            const auto module = find_path(modules_, made.module);
            if (place == places.end() || model_.op_type(place->second) != made.op_type ||
                module == no_id) {
                ++strangers;
                continue;
            }
            table.of[place->second] = {module, no_id, 1, provenance::exported};
        }
        if (strangers > 0) {
            found_.notes.push_back(
                "export: " + std::to_string(strangers) + " of " +
                std::to_string(exported.nodes().size()) +
                " nodes are not in this file; it is the record of another export");
            return;
        }
        found_.claims.push_back(std::move(table));
    }

    /// Returns: all that was found, once. Complexity: O(nodes).
    [[nodiscard]] captured_evidence finish() {
        claim_table* trace = nullptr;
        claim_table* fx = nullptr;
        for (auto& table : found_.claims) {
            trace = table.source == provenance::trace ? &table : trace;
            fx = table.source == provenance::fx ? &table : fx;
        }
        if (trace != nullptr && fx != nullptr) {
            settle(*trace, *fx);
        }
        return std::move(found_);
    }

private:
    /// Where two graphs, or a trace and a graph, name different modules, both lose by what speaks
    /// for the other; and where the first one's word is worth much less, it is not heard.
    void settle(claim_table& first_table, claim_table& second_table) const {
        for (id node = 0; node < model_.node_count(); ++node) {
            auto& a = first_table.of[node];
            auto& b = second_table.of[node];
            if (a.module == no_id || b.module == no_id || a.module == b.module ||
                ((!a.exact || !b.exact) && modules_.index().are_related(a.module, b.module))) {
                continue;
            }
            const auto first = a.confidence * (1 - b.confidence);
            const auto second = b.confidence * (1 - a.confidence);
            const auto sum = first + second;
            a.confidence = in_percent(sum > 0 ? first / sum : 0);
            b.confidence = in_percent(sum > 0 ? second / sum : 0);
            if (b.confidence > a.confidence + 0.5F) {
                a = {};
            }
        }
    }

    /// Adds the claims that are surer, or new.
    static void join(claim_table& into, const claim_table& from) {
        for (std::size_t node = 0; node < into.of.size(); ++node) {
            const auto& made = from.of[node];
            auto& known = into.of[node];
            known = known.module == no_id ||
                            (made.module != no_id && made.confidence > known.confidence)
                        ? made
                        : known;
        }
    }

    const wire_model& model_;
    const onnx_operators<wire_model>& ops_;
    const module_tree& modules_;
    const path_mapping& mapping_;
    parameter_shapes shapes_;
    bool shapes_known_ = false;
    captured_evidence found_;
};

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_CAPTURED_CLAIMS_HPP

// <stemma/onnx/wire/map_model.hpp>
#ifndef STEMMA_ONNX_WIRE_MAP_MODEL_HPP
#define STEMMA_ONNX_WIRE_MAP_MODEL_HPP

namespace stemma {

namespace detail {

/// Whether the main graph of a large file comes to an initializer with much data after little else.
[[nodiscard]] inline bool is_mostly_data(std::string_view bytes, std::string_view file) {
    constexpr std::size_t large_file = std::size_t{1} << 26U;
    constexpr std::uint32_t large_tensor = 1U << 18U;
    constexpr std::size_t most_fields = 1U << 14U;
    if (bytes.size() < large_file || bytes.size() > std::numeric_limits<std::uint32_t>::max()) {
        return false;
    }
    wire_reader model(bytes.data(), 0, static_cast<std::uint32_t>(bytes.size()), file);
    for (wire_field part; model.next(part);) {
        if (!part.is_bytes(onnx_fields::model::graph)) {
            continue;
        }
        auto graph = model.inner(part);
        wire_field field;
        for (std::size_t i = 0; i < most_fields && graph.next(field); ++i) {
            if (field.is_bytes(onnx_fields::graph::initializer) && field.size() >= large_tensor) {
                return field.begin <= bytes.size() / 8;
            }
        }
    }
    return false;
}

} // namespace detail

/// Returns: a model's file, mapped in small pages where that keeps tensor data that nobody reads
/// out of the memory of the process; elsewhere larger ones are faster.
/// Throws: as `mapped_file`, and `error` of `error_code::malformed`.
/// Complexity: O(1), as few fields are looked at.
[[nodiscard]] inline mapped_file map_model(const std::string& path) {
    mapped_file file(path);
    if (file.descriptor() >= 0 && detail::is_mostly_data(file.bytes(), path)) {
        return mapped_file(path, mapped_pages::small);
    }
    return file;
}

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_MAP_MODEL_HPP

// <stemma/onnx/wire/tag_edits.hpp>
#ifndef STEMMA_ONNX_WIRE_TAG_EDITS_HPP
#define STEMMA_ONNX_WIRE_TAG_EDITS_HPP

namespace stemma {

/// A `carrier_sink`: what is written about one operator, as protobuf fields of a node.
class wire_carrier_sink {
public:
    /// Forgets what was written, for the next operator.
    void clear() {
        metadata_.clear();
        source_attribute_.clear();
        tags_attribute_.clear();
        doc_line_.clear();
        name_space_.clear();
        has_name_space_ = false;
    }

    void metadata(std::string_view key, std::string_view value) {
        detail::append_entry(detail::onnx_fields::node::metadata_props, key, value, metadata_);
    }

    void attribute(std::string_view name, std::string_view value) {
        append_attribute(name, std::span(&value, 1), detail::onnx_fields::attribute::s, 3);
    }

    void attribute(std::string_view name, std::span<const std::string> values) {
        append_attribute(name, values, detail::onnx_fields::attribute::strings, 8);
    }

    void doc_line(std::string_view line) { doc_line_ = line; }

    void name_space(std::string_view path) {
        detail::append_entry(detail::onnx_fields::node::metadata_props, namespace_key, path,
                             name_space_);
        has_name_space_ = true;
    }

    /// Returns: entries of `metadata_props`, with tags and lengths; valid until `clear`.
    [[nodiscard]] std::string_view metadata_fields() const noexcept { return metadata_; }

    /// Returns: the attribute `source_module` as a field, or ""; valid until `clear`.
    [[nodiscard]] std::string_view source_attribute() const noexcept { return source_attribute_; }

    /// Returns: the attribute `hierarchy_tags` as a field, or ""; valid until `clear`.
    [[nodiscard]] std::string_view tags_attribute() const noexcept { return tags_attribute_; }

    /// Returns: the line of the doc_string without a line break, or ""; valid until `clear`.
    [[nodiscard]] std::string_view doc_line() const noexcept { return doc_line_; }

    /// Returns: the entry `namespace` as a field, or ""; valid until `clear`.
    [[nodiscard]] std::string_view name_space_field() const noexcept { return name_space_; }

    /// Whether the carrier writes an entry `namespace`, be it "".
    [[nodiscard]] bool has_name_space() const noexcept { return has_name_space_; }

private:
    template <class Values>
    void append_attribute(std::string_view name, const Values& values, std::uint32_t field,
                          std::uint32_t type) {
        using at = detail::onnx_fields::attribute;
        std::string content;
        detail::append_field(at::name, name, content);
        for (const auto& value : values) {
            detail::append_field(field, value, content);
        }
        detail::append_field(at::doc_string, attribute_mark, content);
        detail::append_number(at::type, type, content);
        detail::append_field(detail::onnx_fields::node::attribute, content,
                             name == source_module_attribute ? source_attribute_ : tags_attribute_);
    }

    std::string metadata_;
    std::string source_attribute_;
    std::string tags_attribute_;
    std::string doc_line_;
    std::string name_space_;
    bool has_name_space_ = false;
};

/// Edits that take everything of stemma out of a message, and, for a node, put new tags in.
class tag_edits {
public:
    /// `our_namespaces`: entries `namespace` of nodes were written by stemma.
    tag_edits(const wire_model& model, bool our_namespaces)
        : model_(&model), our_namespaces_(our_namespaces) {}

    /// Strips a node; `added`, if any, is what it gets instead, and outlives the edits.
    /// Complexity: O(fields of the node), O(1) when it can hold nothing of ours.
    void edit_node(id node, const wire_carrier_sink* added, message_edits& edits) const {
        const auto message = model_->message(node);
        const auto end = message.begin + message.size;
        const auto seen =
            model_->may_hold_tags(node) ? edit_fields(message, added, edits) : node_survey{};
        if (added == nullptr) {
            return;
        }
        insert(end, added->metadata_fields(), edits);
        if (!seen.foreign_source_attribute) {
            insert(end, added->source_attribute(), edits);
        }
        if (!seen.foreign_tags_attribute) {
            insert(end, added->tags_attribute(), edits);
        }
        if (!seen.has_doc_string && !added->doc_line().empty()) {
            std::string field;
            detail::append_field(at_node::doc_string, added->doc_line(), field);
            edits.insert(end, field);
        }
        insert(end, added->name_space_field(), edits);
    }

    /// Strips an initializer or a value info, in which metadata are field `metadata_field`;
    /// `added_tags`, if any, is written as its `hierarchy_tags`.
    /// Complexity: O(fields), O(1) without metadata.
    template <class Ref>
    void edit_metadata(const Ref& ref, std::uint32_t metadata_field, std::string_view added_tags,
                       message_edits& edits) const {
        const auto message = ref.message;
        if (model_->has_metadata(ref)) {
            auto fields = model_->reader(message);
            for (wire_field field; fields.next(field);) {
                if (field.is_bytes(metadata_field) &&
                    is_tag_entry(wire_model::read_entry(fields, field).first)) {
                    edits.remove(field.begin, field.end);
                }
            }
        }
        if (!added_tags.empty()) {
            edits.insert_entry(message.begin + message.size, metadata_field, hierarchy_tags_key,
                               added_tags);
        }
    }

    /// Strips the metadata of the model; `added` is appended to the file.
    /// Complexity: O(fields of the model).
    void edit_model(std::string_view added, message_edits& edits) const {
        auto fields = model_->reader();
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(detail::onnx_fields::model::metadata_props) &&
                is_tag_entry(wire_model::read_entry(fields, field).first)) {
                edits.remove(field.begin, field.end);
            }
        }
        insert(static_cast<std::uint32_t>(model_->bytes().size()), added, edits);
    }

    /// Returns: how much of a doc_string is not ours, and whether the field was there before us.
    struct doc_split {
        /// Bytes at the front that are not ours, without the line break behind them.
        std::size_t kept = 0;
        bool whole_field_ours = false; ///< there was no doc_string before us
    };

    /// Returns: where the line that stemma wrote begins, if the last one is.
    [[nodiscard]] static doc_split split_doc_string(std::string_view text) noexcept {
        if (text.starts_with(doc_line_mark) && text.find('\n') == text.npos) {
            return {0, true};
        }
        const auto line = text.rfind('\n');
        const bool ours = line != text.npos && text.substr(line + 1).starts_with(doc_line_mark);
        return {ours ? line : text.size(), false};
    }

    /// Returns: whether an attribute is one that stemma wrote. Complexity: O(fields).
    [[nodiscard]] static bool is_ours(wire_reader fields) {
        bool named = false;
        bool marked = false;
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(detail::onnx_fields::attribute::name)) {
                const auto name = fields.text(field);
                named = name == source_module_attribute || name == hierarchy_tags_attribute;
            } else if (field.is_bytes(detail::onnx_fields::attribute::doc_string)) {
                marked = fields.text(field) == attribute_mark;
            }
        }
        return named && marked;
    }

private:
    using at_node = detail::onnx_fields::node;

    struct node_survey {
        bool has_doc_string = false; // that stays
        bool foreign_source_attribute = false;
        bool foreign_tags_attribute = false;
        std::uint32_t last_doc_string = 0; // of several fields, the last one counts
    };

    static void insert(std::uint32_t at, std::string_view text, message_edits& edits) {
        if (!text.empty()) {
            edits.insert_kept(at, text);
        }
    }

    node_survey edit_fields(message_ref message, const wire_carrier_sink* added,
                            message_edits& edits) const {
        node_survey seen;
        auto survey = model_->reader(message);
        for (wire_field field; survey.next(field);) {
            if (field.is_bytes(at_node::doc_string)) {
                seen.last_doc_string = field.begin;
            }
        }
        auto fields = model_->reader(message);
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(at_node::metadata_props)) {
                edit_entry(fields, field, added != nullptr && added->has_name_space(), edits);
            } else if (field.is_bytes(at_node::attribute)) {
                edit_attribute(fields, field, seen, edits);
            } else if (field.is_bytes(at_node::doc_string) && field.begin == seen.last_doc_string) {
                edit_doc_string(fields, field, added, seen, edits);
            }
        }
        return seen;
    }

    void edit_entry(const wire_reader& fields, const wire_field& field, bool adds_namespace,
                    message_edits& edits) const {
        const auto key = wire_model::read_entry(fields, field).first;
        if (key == saved_namespace_key) {
            if (!adds_namespace) {
                rename_entry(fields, field, namespace_key, edits);
            }
        } else if (is_tag_entry(key) || (key == namespace_key && our_namespaces_)) {
            edits.remove(field.begin, field.end);
        } else if (key == namespace_key && adds_namespace) {
            rename_entry(fields, field, saved_namespace_key, edits);
        }
    }

    /// Gives an entry another key; all else in it stays.
    void rename_entry(const wire_reader& fields, const wire_field& field, std::string_view key,
                      message_edits& edits) const {
        message_edits inside;
        wire_field last; // of several keys, the last one counts
        auto parts = fields.inner(field);
        for (wire_field part; parts.next(part);) {
            last = part.is_bytes(detail::onnx_fields::entry::key) ? part : last;
        }
        inside.replace_content(model_->bytes().data(), last.content, last.end, key);
        std::string length;
        detail::append_varint(static_cast<std::uint64_t>(field.size() + inside.growth()), length);
        edits.replace(detail::length_position(model_->bytes().data(), field.content), field.content,
                      length);
        inside.for_each([&](const edit& e) { edits.replace(e.at, e.at + e.removed, e.text); });
    }

    void edit_attribute(const wire_reader& fields, const wire_field& field, node_survey& seen,
                        message_edits& edits) const {
        if (is_ours(fields.inner(field))) {
            edits.remove(field.begin, field.end);
            return;
        }
        std::string_view name;
        auto parts = fields.inner(field);
        for (wire_field part; parts.next(part);) {
            name = part.is_bytes(detail::onnx_fields::attribute::name) ? fields.text(part) : name;
        }
        seen.foreign_source_attribute |= name == source_module_attribute;
        seen.foreign_tags_attribute |= name == hierarchy_tags_attribute;
    }

    void edit_doc_string(const wire_reader& fields, const wire_field& field,
                         const wire_carrier_sink* added, node_survey& seen,
                         message_edits& edits) const {
        const auto text = fields.text(field);
        const auto split = split_doc_string(text);
        if (split.whole_field_ours) {
            edits.remove(field.begin, field.end);
            return;
        }
        seen.has_doc_string = true;
        std::string content(text.substr(0, split.kept));
        if (added != nullptr && !added->doc_line().empty()) {
            content.append("\n").append(added->doc_line());
        }
        if (content != text) {
            edits.replace_content(model_->bytes().data(), field.content, field.end, content);
        }
    }

    const wire_model* model_;
    bool our_namespaces_;
};

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_TAG_EDITS_HPP

// <stemma/onnx/wire/file_parts.hpp>
#ifndef STEMMA_ONNX_WIRE_FILE_PARTS_HPP
#define STEMMA_ONNX_WIRE_FILE_PARTS_HPP

namespace stemma {

/// A range of a file, and the first message of each kind in it that holds no other one. It begins
/// with the length in front of one of those, or with the file.
struct file_part {
    std::uint32_t begin = 0; ///< bytes from the start of the file
    std::uint32_t end = 0;   ///< where the next part begins
    id node = 0;             ///< the first without bodies that ends in the part
    std::size_t tensor = 0;  ///< the first initializer whose message ends in the part
    std::size_t info = 0;    ///< the first value info whose message ends in the part
};

namespace detail {

/// Returns: the part that begins with the first message that ends behind a position, or at the end.
[[nodiscard]] inline file_part part_behind(const wire_model& model, std::span<const id> owners,
                                           std::uint32_t position) {
    file_part found;
    found.begin = static_cast<std::uint32_t>(model.bytes().size());
    const auto begin_with = [&](message_ref message) {
        found.begin = std::min(found.begin, message.begin - model.length_size(message));
    };
    const auto ends_before = [&](message_ref message) {
        return message.begin + message.size <= position;
    };
    const auto first_of = [&](const auto& messages) {
        const auto it =
            std::partition_point(messages.begin(), messages.end(),
                                 [&](const auto& one) { return ends_before(one.message); });
        if (it != messages.end()) {
            begin_with(it->message);
        }
        return static_cast<std::size_t>(it - messages.begin());
    };
    // Nodes are numbered by where they end.
    for (id count = model.node_count(); count > 0;) {
        const auto middle = found.node + count / 2;
        const bool before = ends_before(model.message(middle));
        found.node = before ? middle + 1 : found.node;
        count = before ? count - count / 2 - 1 : count / 2;
    }
    while (std::binary_search(owners.begin(), owners.end(), found.node)) {
        ++found.node;
    }
    if (found.node < model.node_count()) {
        begin_with(model.message(found.node));
    }
    found.tensor = first_of(model.tensors());
    found.info = first_of(model.value_infos());
    return found;
}

} // namespace detail

/// Divides a file into at most `count` parts of about the same size, at least one.
///
/// Requires: `owners` are the nodes with bodies, ascending.
/// Complexity: O(count * log messages).
[[nodiscard]] inline std::vector<file_part>
divide_file(const wire_model& model, std::span<const id> owners, std::size_t count) {
    const auto size = model.bytes().size();
    std::vector<file_part> parts(1);
    for (std::size_t i = 1; i < count; ++i) {
        const auto next =
            detail::part_behind(model, owners, static_cast<std::uint32_t>(size / count * i));
        if (next.begin > parts.back().begin && next.begin < size) {
            parts.back().end = next.begin;
            parts.push_back(next);
        }
    }
    parts.back().end = static_cast<std::uint32_t>(size);
    return parts;
}

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_FILE_PARTS_HPP

// <stemma/onnx/wire/splices.hpp>
#ifndef STEMMA_ONNX_WIRE_SPLICES_HPP
#define STEMMA_ONNX_WIRE_SPLICES_HPP

namespace stemma {

/// Takes a copy of a file piece by piece, from the front to the end: `copy(from, size)` takes bytes
/// of the file, `write(text)` others.
template <class Sink>
concept splice_sink = requires(Sink& sink, std::uint32_t from, std::uint32_t size,
                               std::string_view text) {
    sink.copy(from, size);
    sink.write(text);
};

/// A `splice_sink` that writes to an output file; long untouched ranges go from file to file.
class file_splice {
public:
    /// Requires: both outlive it.
    file_splice(const mapped_file& from, output_file& to) : from_(&from), to_(&to) {}

    void copy(std::uint32_t from, std::uint32_t size) { to_->copy(*from_, from, size); }
    void write(std::string_view text) { to_->write(text); }

private:
    const mapped_file* from_;
    output_file* to_;
};

/// A `splice_sink` that writes from a position in an output file on.
class range_splice {
public:
    /// Requires: both outlive it; `to` takes ranges.
    range_splice(const mapped_file& from, const output_file& to, std::uint64_t position)
        : from_(&from), to_(to, position) {}

    void copy(std::uint32_t from, std::uint32_t size) { to_.copy(*from_, from, size); }
    void write(std::string_view text) { to_.write(text); }

    /// Goes on at another position, once all before is handed over.
    void move_to(std::uint64_t position) { to_.move_to(position); }

    /// Hands over what is still held back; nothing is complete before.
    void finish() { to_.finish(); }

private:
    const mapped_file* from_;
    output_range to_;
};

/// A `splice_sink` that writes to a string.
class string_splice {
public:
    /// `buffer` is a string whose memory it takes over.
    /// Requires: the bytes of `from` outlive it.
    explicit string_splice(std::string_view from, std::string buffer = {})
        : text(std::move(buffer)), from_(from) {
        text.clear();
    }

    void copy(std::uint32_t from, std::uint32_t size) { text.append(from_.substr(from, size)); }
    void write(std::string_view more) { text.append(more); }

    std::string text; ///< what was written so far

private:
    std::string_view from_;
};

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_SPLICES_HPP

// <stemma/onnx/wire/rewrite.hpp>
#ifndef STEMMA_ONNX_WIRE_REWRITE_HPP
#define STEMMA_ONNX_WIRE_REWRITE_HPP

namespace stemma {

/// Says what changes in the messages of a model: `edit_node(node, edits)`, `edit_tensor(tensor,
/// edits)`, `edit_value_info(info, edits)` and `edit_model(edits)` add to `edits`. Asked up to
/// twice for every message, so the answers must be the same; an edit may lie anywhere in the
/// message it was asked for.
template <class Editor>
concept model_editor = requires(Editor& editor, message_edits& edits, id node,
                                const tensor_ref& tensor, const value_info_ref& info) {
    editor.edit_node(node, edits);
    editor.edit_tensor(tensor, edits);
    editor.edit_value_info(info, edits);
    editor.edit_model(edits);
};

/// A plan to write a model's file again with some messages changed: untouched bytes are copied as
/// they stand, and only the lengths of messages around a change are written anew.
///
/// The file is divided into parts that know where in the result they begin, so that each can be
/// measured and written by any thread.
template <model_editor Editor>
class rewrite {
public:
    /// Computes all lengths. Nothing is written. Each thread besides this one has a copy of the
    /// editor; one that cannot be copied is asked by this one alone.
    /// Throws: `error` of `error_code::too_large` when the result would reach 2 GiB.
    /// Complexity: O(messages), and that of the editor.
    rewrite(const wire_model& model, Editor& editor, thread_limit threads = {})
        : model_(model), editor_(editor) {
        find_owners();
        const bool copies = std::copy_constructible<Editor>;
        const auto workers = copies ? threads.parts(model.bytes().size()) : 1;
        // More than threads, as not all take as long.
        constexpr std::size_t parts_for_each = 8;
        for (const auto& p :
             divide_file(model, owners_, workers == 1 ? 1 : workers * parts_for_each)) {
            parts_.push_back({p, 0, 0, 0});
        }
        // Made before any thread starts, as an editor changes while it is asked.
        if constexpr (std::copy_constructible<Editor>) {
            copies_ = std::vector<Editor>(std::min(workers, parts_.size()) - 1, editor_);
        }
        measure_leaves();
        measure_containers();
        editor_.edit_model(of_model_);
        size_ += static_cast<std::int64_t>(model.bytes().size()) + of_model_.growth();
        of_model_.for_each([&](const edit& e) { kept_.push_back(e); });
        std::stable_sort(kept_.begin(), kept_.end(),
                         [](const edit& a, const edit& b) { return a.at < b.at; });
        if (size_ >= std::int64_t{1} << 31) {
            STEMMA_THROW(error(error_code::too_large, model.file(), "",
                               "the result would have " + std::to_string(size_) +
                                   " bytes, and protobuf ends below 2 GiB"));
        }
        place_parts();
    }

    rewrite(const rewrite&) = delete;
    rewrite& operator=(const rewrite&) = delete;

    /// Returns: how many bytes the result has.
    [[nodiscard]] std::int64_t size() const noexcept { return size_; }

    /// Writes the result.
    /// Complexity: O(bytes), and that of the editor.
    template <splice_sink Sink>
    void write(Sink& sink) {
        for (const auto& p : parts_) {
            write_part(p, editor_, sink);
        }
    }

    /// Writes the result to a file, by as many threads as measured it, its front first.
    /// Requires: `from` is the model's file, and nothing was written to `to`.
    /// Complexity: O(bytes), and that of the editor.
    void write(const mapped_file& from, output_file& to) {
        to.reserve(size_);
        if (parts_.size() == 1 || !to.takes_ranges()) {
            file_splice splice(from, to);
            write(splice);
            return;
        }
        std::vector<range_splice> splices; // by worker: each fills a buffer time and again
        splices.reserve(copies_.size() + 1);
        while (splices.size() <= copies_.size()) {
            splices.emplace_back(from, to, 0);
        }
        for_each_file_part([&](part& p, std::size_t worker) {
            auto& splice = splices[worker];
            splice.move_to(static_cast<std::uint64_t>(p.position));
            write_part(p, editor_of(worker), splice);
            splice.finish();
            from.release(p.begin, p.end - p.begin); // here by many threads, at the end by one
        });
    }

private:
    struct part : file_part {
        std::size_t kept = 0;
        std::int64_t growth = 0;   // by edits of messages that hold no others
        std::int64_t position = 0; // in the result
    };

    [[nodiscard]] const char* base() const noexcept { return model_.bytes().data(); }

    [[nodiscard]] bool is_last(const part& p) const noexcept { return &p == &parts_.back(); }

    /// Returns: the editor of a thread. Only the first one has that which was given.
    [[nodiscard]] Editor& editor_of(std::size_t worker) {
        return worker == 0 ? editor_ : copies_[worker - 1];
    }

    /// Calls `f(part, worker)` for all parts, the first ones first, each by a thread that is free.
    template <class Function>
    void for_each_file_part(Function f) {
        for_each_item(parts_.size(), copies_.size() + 1,
                      [&](std::size_t i, std::size_t worker) { f(parts_[i], worker); });
    }

    void find_owners() {
        for (const auto& container : model_.containers()) {
            if (container.owner != no_id) {
                owners_.push_back(container.owner);
            }
        }
        std::sort(owners_.begin(), owners_.end());
        owners_.erase(std::unique(owners_.begin(), owners_.end()), owners_.end());
    }

    /// Returns: the length in front of a message whose content grows; `text` may hold it.
    [[nodiscard]] std::string_view new_length(message_ref message, std::int64_t growth,
                                              std::string& text) const {
        text.clear();
        if (growth == 0) {
            const auto at = detail::length_position(base(), message.begin);
            return {base() + at, message.begin - at};
        }
        detail::append_varint(static_cast<std::uint64_t>(message.size + growth), text);
        return text;
    }

    /// Returns: by how much the message around grows when this one's content grows by `growth`.
    [[nodiscard]] std::int64_t outer_growth(message_ref message, std::int64_t growth) const {
        const auto old_length = message.begin - detail::length_position(base(), message.begin);
        return growth == 0 ? 0
                           : growth - old_length +
                                 static_cast<std::int64_t>(detail::varint_size(
                                     static_cast<std::uint64_t>(message.size + growth)));
    }

    void keep(const edit& e) { kept_.push_back({e.at, e.removed, texts_.emplace_back(e.text)}); }

    void keep_length(message_ref message, std::int64_t growth) {
        const auto at = detail::length_position(base(), message.begin);
        std::string length;
        keep({at, message.begin - at, new_length(message, growth, length)});
    }

    /// Asks an editor about every message of a part that holds no other one, in file order, and
    /// calls `f(message, edits)` with the answer.
    template <class Function>
    void merge_leaves(const part& p, Editor& editor, Function f) {
        constexpr auto nowhere = std::uint64_t{0xffff'ffffU} + 1;
        const auto end = is_last(p) ? nowhere : p.end;
        const auto tensors = model_.tensors();
        const auto infos = model_.value_infos();
        auto tensor = p.tensor;
        auto info = p.info;
        message_edits edits;
        const auto others_before = [&](std::uint64_t begin) {
            for (;;) {
                const auto tensor_at =
                    tensor < tensors.size() ? tensors[tensor].message.begin : nowhere;
                const auto info_at = info < infos.size() ? infos[info].message.begin : nowhere;
                if (std::min(tensor_at, info_at) >= begin) {
                    return;
                }
                edits.clear();
                if (tensor_at < info_at) {
                    editor.edit_tensor(tensors[tensor], edits);
                    f(tensors[tensor++].message, edits);
                } else {
                    editor.edit_value_info(infos[info], edits);
                    f(infos[info++].message, edits);
                }
            }
        };
        auto owner = std::lower_bound(owners_.begin(), owners_.end(), p.node);
        for (auto node = p.node; node < model_.node_count(); ++node) {
            if (owner != owners_.end() && *owner == node) {
                ++owner;
                continue;
            }
            const auto message = model_.message(node);
            if (message.begin >= end) {
                break;
            }
            others_before(message.begin);
            edits.clear();
            editor.edit_node(node, edits);
            f(message, edits);
        }
        others_before(end);
    }

    void measure_leaves() {
        inside_.assign(model_.containers().size(), 0);
        std::vector<std::vector<std::int64_t>> inside(copies_.size() + 1, inside_); // by worker
        for_each_file_part([&](part& p, std::size_t worker) {
            merge_leaves(
                p, editor_of(worker), [&](message_ref message, const message_edits& edits) {
                    if (const auto growth = edits.growth(); growth != 0) {
                        const auto size = static_cast<std::uint64_t>(message.size + growth);
                        const auto outer = growth - model_.length_size(message) +
                                           static_cast<std::int64_t>(detail::varint_size(size));
                        inside[worker][message.container] += outer;
                        p.growth += outer;
                    }
                });
        });
        for (const auto& of_worker : inside) {
            std::transform(inside_.begin(), inside_.end(), of_worker.begin(), inside_.begin(),
                           std::plus<>());
        }
    }

    void place_parts() {
        std::int64_t position = 0;
        std::size_t kept = 0;
        for (auto& p : parts_) {
            p.position = position;
            p.kept = kept;
            position += p.end - p.begin + p.growth;
            for (; kept < kept_.size() && (is_last(p) || kept_[kept].at < p.end); ++kept) {
                position +=
                    static_cast<std::int64_t>(kept_[kept].text.size()) - kept_[kept].removed;
            }
        }
        STEMMA_ASSERT(position == size_, "the parts make up the whole");
    }

    template <class Sink>
    void write_part(const part& p, Editor& editor, Sink& sink) {
        auto at = p.begin;
        auto kept = kept_.begin() + static_cast<std::ptrdiff_t>(p.kept);
        std::string length;
        const auto apply = [&](std::uint32_t begin, std::uint32_t end, std::string_view text) {
            sink.copy(at, begin - at);
            sink.write(text);
            at = end;
        };
        const auto apply_kept = [&](std::uint64_t before) {
            for (; kept != kept_.end() && kept->at < before; ++kept) {
                apply(kept->at, kept->at + kept->removed, kept->text);
            }
        };
        merge_leaves(p, editor, [&](message_ref message, const message_edits& edits) {
            if (edits.empty()) {
                return;
            }
            const auto length_at = message.begin - model_.length_size(message);
            apply_kept(length_at);
            apply(length_at, message.begin, new_length(message, edits.growth(), length));
            edits.for_each([&](const edit& e) { apply(e.at, e.at + e.removed, e.text); });
        });
        apply_kept(is_last(p) ? std::uint64_t{p.end} + 1 : p.end);
        sink.copy(at, p.end - at);
    }

    // Containers are numbered from the outside in and owners from the inside out, so going through
    // the former backwards meets every message after all that it holds.
    void measure_containers() {
        const auto containers = model_.containers();
        std::vector<std::pair<id, id>> owners; // container, owner
        std::vector<std::int64_t> inside_owner(owners_.size(), 0);
        for (auto owner : owners_) {
            owners.emplace_back(model_.message(owner).container, owner);
        }
        std::sort(owners.begin(), owners.end());
        auto place = [&](id owner) -> std::int64_t& {
            return inside_owner[static_cast<std::size_t>(
                std::lower_bound(owners_.begin(), owners_.end(), owner) - owners_.begin())];
        };
        for (auto c = static_cast<id>(containers.size()); c-- > 0;) {
            for (; !owners.empty() && owners.back().first == c; owners.pop_back()) {
                const auto owner = owners.back().second;
                inside_[c] += measure_owner(owner, place(owner));
            }
            const auto& container = containers[c];
            const message_ref message{container.begin, container.size, container.parent};
            if (inside_[c] == 0) {
                continue;
            }
            keep_length(message, inside_[c]);
            const auto growth = outer_growth(message, inside_[c]);
            (container.owner != no_id    ? place(container.owner)
             : container.parent != no_id ? inside_[container.parent]
                                         : size_) += growth;
        }
    }

    [[nodiscard]] std::int64_t measure_owner(id owner, std::int64_t inside) {
        message_edits edits;
        editor_.edit_node(owner, edits);
        const auto growth = inside + edits.growth();
        edits.for_each([&](const edit& e) { keep(e); });
        if (growth == 0) {
            return 0;
        }
        keep_length(model_.message(owner), growth);
        return outer_growth(model_.message(owner), growth);
    }

    const wire_model& model_;
    Editor& editor_;
    std::vector<id> owners_;           // nodes with bodies, ascending
    std::vector<std::int64_t> inside_; // by container: growth of its content
    std::vector<edit> kept_;           // edits of containers, owners and the model
    std::deque<std::string> texts_;    // of the first two
    message_edits of_model_;
    std::vector<part> parts_;
    std::vector<Editor> copies_; // for the threads besides the first
    std::int64_t size_ = 0;
};

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_REWRITE_HPP

// <stemma/onnx/wire/tag_model.hpp>
#ifndef STEMMA_ONNX_WIRE_TAG_MODEL_HPP
#define STEMMA_ONNX_WIRE_TAG_MODEL_HPP

namespace stemma {

/// Returns: the value of a metadata entry of the model, if it has one.
[[nodiscard]] inline std::optional<std::string_view> find_model_metadata(const wire_model& model,
                                                                         std::string_view key) {
    std::optional<std::string_view> found;
    model.for_each_model_metadata([&](std::string_view name, std::string_view value) {
        if (name == key) {
            found = value;
        }
    });
    return found;
}

/// Returns: what the model says of its tags, if it was tagged.
/// Throws: `error` of `error_code::malformed` when that is damaged.
[[nodiscard]] inline std::optional<recorded_model> find_model_record(const wire_model& model) {
    const auto text = find_model_metadata(model, model_key);
    return text ? std::optional(read_model_record(*text, model.file())) : std::nullopt;
}

namespace detail {

[[nodiscard]] inline bool has_our_namespaces(const wire_model& model) {
    const auto record = find_model_metadata(model, model_key);
    return record && records_namespaces(*record);
}

} // namespace detail

/// Takes everything of stemma out of a model. A `model_editor`.
class strip_editor {
public:
    /// Requires: `model` outlives the editor.
    explicit strip_editor(const wire_model& model)
        : edits_(model, detail::has_our_namespaces(model)) {}

    void edit_node(id node, message_edits& edits) const { edits_.edit_node(node, nullptr, edits); }
    void edit_tensor(const tensor_ref& tensor, message_edits& edits) const {
        edits_.edit_metadata(tensor, detail::onnx_fields::tensor::metadata_props, {}, edits);
    }
    void edit_value_info(const value_info_ref& info, message_edits& edits) const {
        edits_.edit_metadata(info, detail::onnx_fields::value_info::metadata_props, {}, edits);
    }
    void edit_model(message_edits& edits) const { edits_.edit_model({}, edits); }

private:
    tag_edits edits_;
};

/// Takes everything of stemma out of a model and puts a tagging in. A `model_editor`.
///
/// `Carrier` says what is written on nodes; initializers and value infos get `value_tags`, see
/// `find_value_tags`, or none without any; the record goes to the model's metadata.
template <carrier_policy Carrier>
class tag_editor {
public:
    /// Requires: all outlive the editor. New sets of tags are added to the tagging's pool.
    tag_editor(const wire_model& model, const module_tree& modules, tagging& found,
               const Carrier& carrier, std::vector<id_set> value_tags, std::string_view record,
               std::string_view table)
        : found_(&found)
        , carrier_(carrier)
        , texts_(modules, found)
        , edits_(model, detail::has_our_namespaces(model)) {
        shared_facts facts;
        facts.value_tags = std::move(value_tags);
        constexpr auto metadata = detail::onnx_fields::model::metadata_props;
        detail::append_entry(metadata, model_key, record, facts.added_to_model);
        if (!table.empty()) {
            detail::append_entry(metadata, tag_table_key, table, facts.added_to_model);
        }
        facts_ = std::make_shared<const shared_facts>(std::move(facts));
    }

    void edit_node(id node, message_edits& edits) {
        const auto module = found_->attributions[node].module;
        const auto tags = found_->tag_sets[node];
        if (module != last_module_ || tags != last_tags_) {
            last_module_ = module;
            last_tags_ = tags;
            sink_.clear();
            carrier_.write(texts_.of_operator(node), sink_);
        }
        edits_.edit_node(node, &sink_, edits);
    }

    void edit_tensor(const tensor_ref& tensor, message_edits& edits) {
        edits_.edit_metadata(tensor, detail::onnx_fields::tensor::metadata_props,
                             tags_of(tensor.value), edits);
    }

    void edit_value_info(const value_info_ref& info, message_edits& edits) {
        edits_.edit_metadata(info, detail::onnx_fields::value_info::metadata_props,
                             tags_of(info.value), edits);
    }

    void edit_model(message_edits& edits) const {
        edits_.edit_model(facts_->added_to_model, edits);
    }

private:
    // Of copies for other threads too, as these may be long.
    struct shared_facts {
        std::vector<id_set> value_tags;
        std::string added_to_model;
    };

    [[nodiscard]] std::string_view tags_of(id value) {
        const auto& tags = facts_->value_tags;
        return value < tags.size() ? texts_.as_json(tags[value]) : std::string_view{};
    }

    const tagging* found_;
    Carrier carrier_;
    tag_texts texts_;
    tag_edits edits_;
    wire_carrier_sink sink_;
    id last_module_ = no_id;
    id_set last_tags_ = no_id;
    std::shared_ptr<const shared_facts> facts_;
};

/// Returns: the table that the `model` carrier writes. Complexity: O(nodes + their tags).
[[nodiscard]] inline recorded_tags to_table(const tagging& found) {
    recorded_tags table;
    for (id v = 0; v < found.attributions.size(); ++v) {
        table.module.push_back(found.attributions[v].module);
        if (found.pool.size_of(found.tag_sets[v]) > 1) {
            found.pool.for_each(found.tag_sets[v], [&](id m) { table.several[v].push_back(m); });
        }
    }
    return table;
}

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_TAG_MODEL_HPP

// <stemma/onnx/wire/read_tags.hpp>
#ifndef STEMMA_ONNX_WIRE_READ_TAGS_HPP
#define STEMMA_ONNX_WIRE_READ_TAGS_HPP

namespace stemma {

/// What the carriers in a file say of one node.
struct carried_tags {
    std::optional<std::string> module; ///< path of the deepest module
    std::optional<std::string> tag;    ///< the primary tag
};

/// What each carrier on a node says.
struct node_carriers {
    carried_tags metadata;                      ///< entries under `pkg.stemma.`
    carried_tags doc_string;                    ///< the last line
    carried_tags attribute;                     ///< attributes that stemma marked as its own
    std::optional<std::string_view> all;        ///< in metadata: the list of all tags, as JSON
    std::optional<std::string_view> name_space; ///< of viewers; not always stemma's
};

/// Complexity: O(fields of the node).
[[nodiscard]] inline node_carriers read_node_carriers(const wire_model& model, id node) {
    using at_node = detail::onnx_fields::node;
    using at_attribute = detail::onnx_fields::attribute;
    node_carriers found;
    if (!model.may_hold_tags(node)) {
        return found;
    }
    auto fields = model.reader(model.message(node));
    for (wire_field field; fields.next(field);) {
        if (field.is_bytes(at_node::metadata_props)) {
            const auto [key, value] = wire_model::read_entry(fields, field);
            if (key == module_key) {
                found.metadata.module = value;
            } else if (key == source_module_key) {
                found.metadata.tag = value;
            } else if (key == hierarchy_tags_key) {
                found.all = value;
            } else if (key == namespace_key) {
                found.name_space = value;
            }
        } else if (field.is_bytes(at_node::doc_string)) {
            const auto text = fields.text(field);
            const auto split = tag_edits::split_doc_string(text);
            auto line = text.substr(split.kept);
            found.doc_string = {};
            if (!line.empty()) {
                line.remove_prefix(line.find(doc_line_mark) + doc_line_mark.size());
                const auto parsed = nlohmann::json::parse(line, nullptr, false);
                if (parsed.is_object() && parsed.contains("module") &&
                    parsed["module"].is_string()) {
                    found.doc_string.module = parsed["module"].get<std::string>();
                }
                if (parsed.is_object() && parsed.contains("source_module") &&
                    parsed["source_module"].is_string()) {
                    found.doc_string.tag = parsed["source_module"].get<std::string>();
                }
            }
        } else if (field.is_bytes(at_node::attribute) && tag_edits::is_ours(fields.inner(field))) {
            auto parts = fields.inner(field);
            for (wire_field part; parts.next(part);) {
                if (part.is_bytes(at_attribute::s)) {
                    found.attribute.tag = fields.text(part);
                }
            }
        }
    }
    return found;
}

namespace detail {

[[nodiscard]] inline carried_tags first_of(const node_carriers& carriers) {
    for (const auto* found : {&carriers.metadata, &carriers.doc_string, &carriers.attribute}) {
        if (found->module || found->tag) {
            return *found;
        }
    }
    return {};
}

} // namespace detail

/// Reads what the carriers on a node say: metadata first, else the doc_string, else attributes.
/// Complexity: O(fields of the node).
[[nodiscard]] inline carried_tags read_carried_tags(const wire_model& model, id node) {
    return detail::first_of(read_node_carriers(model, node));
}

namespace detail {

/// Returns: the module of everything that the carrier `namespace` writes; `no_id` for what would
/// stand for several.
[[nodiscard]] inline std::unordered_map<std::string, id>
modules_by_namespace(const module_tree& modules) {
    std::unordered_map<std::string, id> by_namespace;
    for (id m = 0; m < modules.size(); ++m) {
        const auto [known, is_new] =
            by_namespace.emplace(namespace_carrier::spell(modules.path(m)), m);
        known->second = is_new ? m : no_id;
    }
    return by_namespace;
}

} // namespace detail

/// Finds the module that the file itself names for every node; `no_id` where it names none, or one
/// that the tree lacks. From a tag alone it is the module that has the tag. A `namespace` counts
/// where it is the only one that says something on a node, and was written by stemma.
/// Complexity: O(modules + nodes + fields), and the length of all paths where namespaces are read.
[[nodiscard]] inline std::vector<id>
read_carried_modules(const wire_model& model, const module_tree& modules, const tag_table& tags) {
    std::vector<id> result(model.node_count(), no_id);
    if (const auto table = find_model_metadata(model, tag_table_key)) {
        result =
            read_recorded_tags(*table, model.file(), model.node_count(), modules.size()).module;
    }
    std::optional<tag_lookup> by_tag;
    const module_lookup<module_tree> lookup(modules);
    const auto by_namespace = detail::has_our_namespaces(model)
                                  ? detail::modules_by_namespace(modules)
                                  : std::unordered_map<std::string, id>();
    for (id node = 0; node < model.node_count(); ++node) {
        const auto carriers = read_node_carriers(model, node);
        const auto carried = detail::first_of(carriers);
        if (carried.module) {
            const auto module = find_module(lookup, *carried.module);
            result[node] = module != no_id ? module : result[node];
        } else if (carried.tag) {
            if (!by_tag) {
                by_tag.emplace(tags);
            }
            if (const auto found = by_tag->find(*carried.tag); found != no_id) {
                result[node] = found;
            }
        } else if (carriers.name_space && !by_namespace.empty()) {
            const auto found = by_namespace.find(std::string(*carriers.name_space));
            if (found != by_namespace.end() && found->second != no_id) {
                result[node] = found->second;
            }
        }
    }
    return result;
}

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_READ_TAGS_HPP

// <stemma/onnx/wire/attributed_model.hpp>
#ifndef STEMMA_ONNX_WIRE_ATTRIBUTED_MODEL_HPP
#define STEMMA_ONNX_WIRE_ATTRIBUTED_MODEL_HPP

namespace stemma {

/// An ONNX file, opened, with everything that is known of where its nodes come from.
///
/// Tags that the file carries are used when they still fit it and neither captures nor options say
/// otherwise; else all is found anew. Does not move, as its parts refer to each other.
class attributed_model {
public:
    /// Throws: `error` for files that cannot be read, or that are damaged, and for options that
    /// name
    ///   no policy (`refused`).
    ///
    /// `meanwhile(model)` may do what needs no attribution: in a thread of its own where the
    /// options allow several and the model is worth them, else behind it.
    attributed_model(const std::string& path, attribution_options options,
                     const std::function<void(const wire_model&)>& meanwhile = {})
        : file_(map_model(path))
        , model_(file_.bytes(), path, options.threads)
        , options_(std::move(options)) {
        if (!meanwhile) {
            attribute(options_.threads);
            return;
        }
        run_tasks(options_.threads.parts_of_operators(model_.node_count()),
                  {[&] { attribute(options_.threads.without_one()); }, [&] { meanwhile(model_); }});
    }

    attributed_model(const attributed_model&) = delete;
    attributed_model& operator=(const attributed_model&) = delete;

    /// The bytes of the file, mapped.
    [[nodiscard]] const mapped_file& file() const noexcept { return file_; }

    /// Valid as long as this, as is all that follows.
    [[nodiscard]] const wire_model& model() const noexcept { return model_; }

    /// The nodes with what evidence is read of them.
    [[nodiscard]] const onnx_operators<wire_model>& operators() const noexcept {
        STEMMA_ASSERT(ops_.has_value(), "evidence was not forgotten");
        return *ops_;
    }

    /// Of a capture, of the record in the file, or made from the model; see `tree_from_model`.
    [[nodiscard]] const module_tree& modules() const noexcept { return modules_; }

    /// What was found, or what the file carries.
    [[nodiscard]] const tagging& tags() const noexcept { return found_; }

    /// To add sets of tags to its pool, as editors do.
    [[nodiscard]] tagging& tags() noexcept { return found_; }

    /// As given; where the record of the file was used, with the choices that it names.
    [[nodiscard]] const attribution_options& options() const noexcept { return options_; }

    /// Whether the tree was made from the model itself rather than from a capture.
    [[nodiscard]] bool tree_from_model() const noexcept { return tree_from_model_; }
    /// Whether the file says that it was tagged.
    [[nodiscard]] bool was_tagged() const noexcept { return record_.has_value(); }

    /// Whether those tags fit the model still: as many nodes of the same structure.
    [[nodiscard]] bool is_fresh() const noexcept { return fresh_; }

    /// Frees the operators and what was read of the evidence, a fifth of all memory. Afterwards
    /// nothing may be asked about these any more; model, tags, tree and record stay.
    void forget_evidence() noexcept {
        context_.reset();
        ops_.reset();
    }

    /// Returns: how paths in the model lead into the tree.
    [[nodiscard]] const path_mapping& mapping() { return context().owners().mapping; }
    /// Returns: the scopes in the names of the nodes, and their modules.
    [[nodiscard]] const scope_table& scopes() { return context().scopes(); }

    /// Returns: the modules that the scopes stand for.
    [[nodiscard]] const scope_modules& modules_of_scopes() { return context().modules_of_scopes(); }

    /// Returns: in which dialect every node is written. Complexity: as `detect_dialects`.
    [[nodiscard]] dialect_report dialects() { return detect_dialects(context()); }
    /// Returns: what could not be read of the evidence.
    [[nodiscard]] std::vector<finding> findings() {
        auto all = context().hierarchies().problems;
        const auto& names = context().scopes().problems;
        all.insert(all.end(), names.begin(), names.end());
        const auto parameters = find_unreadable_parameters(*ops_, options_.threads);
        all.insert(all.end(), parameters.begin(), parameters.end());
        return all;
    }

    /// Returns: the modules that own the parameters.
    [[nodiscard]] const parameter_owners& owners() { return context().owners(); }

    /// Returns: what the parts of a capture besides its modules claim, by source.
    [[nodiscard]] const std::vector<claim_table>& captured() const noexcept { return claims_; }
    /// Returns: what a user should know of how well those fit the model.
    [[nodiscard]] std::span<const std::string> capture_notes() const noexcept { return notes_; }

    /// Returns: all that the sources claim about a node.
    [[nodiscard]] std::vector<claim> claims_about(id node) {
        std::vector<claim> claims;
        sources().prepare(context()).for_each_claim(
            node, [&](const claim& made) { claims.push_back(made); });
        return claims;
    }

    /// Calls `f(node, claims)` for all nodes of which one source claims something, whether the
    /// options let it count or not; what a capture says only where they do.
    /// Complexity: O(nodes), after the facts of the source.
    template <class Function>
    void for_each_claimed(provenance source, Function f) {
        const auto prepared =
            chosen_.sources([&](provenance p) { return p == source; }, claims_).prepare(context());
        std::vector<claim> claims;
        for (id node = 0; node < model_.node_count(); ++node) {
            claims.clear();
            prepared.for_each_claim(node, [&](const claim& made) {
                if (made.source == source) {
                    claims.push_back(made);
                }
            });
            if (!claims.empty()) {
                f(node, std::span<const claim>(claims));
            }
        }
    }

    /// Returns: what `tag` writes about the whole besides `modules`.
    /// Complexity: O(claims), and that of `structure_digest` unless the options asked for it.
    [[nodiscard]] model_record record(const carrier_set& carriers) const {
        model_record record;
        record.carriers = carriers;
        record.nodes = model_.node_count();
        record.digest = digest_ ? *digest_ : structure_digest(model_);
        record.from_model = tree_from_model_;
        for (const auto& table : claims_) {
            record.claims.push_back(to_runs(table));
        }
        record.options = recorded_options(options_);
        return record;
    }

private:
    using context_type = detail::chosen_policies::context_type;

    void attribute(thread_limit threads) {
        record_ = find_model_record(model_);
        const bool may_be_fresh = record_ && record_->nodes == model_.node_count();
        onnx_nodes<wire_model> nodes(model_, threads);
        operator_graph graph;
        std::optional<named_modules> named;
        const auto count = threads.parts_of_operators(model_.node_count());
        const auto make_graph = [&] { graph = flat_graph(model_); };
        const auto find_digest = [&] {
            if (may_be_fresh || options_.digest) {
                digest_ = structure_digest(model_);
            }
        };
        if (options_.captures.empty() && !may_be_fresh &&
            !find_model_metadata(model_, fold_modules_key)) {
            named = collect_named_modules(nodes, root_name(), threads, {make_graph, find_digest});
        } else {
            run_tasks(count, {make_graph, find_digest});
        }
        ops_.emplace(std::move(nodes), std::move(graph));
        fresh_ = may_be_fresh && record_->digest == digest_;
        const bool use_record = fresh_ && options_.captures.empty() && !options_.recompute;
        if (use_record) {
            adopt_options(options_, *record_);
        }
        chosen_ = detail::chosen_policies(options_);
        context_.emplace(*ops_, modules_, threads);
        run_tasks(count, {[&] { make_tree(use_record, std::move(named), threads); },
                          [&] { static_cast<void>(context_->independent()); }});
        find_claims(use_record);
        tag();
        if (use_record) {
            take_over_tags();
        }
    }

    [[nodiscard]] context_type& context() {
        STEMMA_ASSERT(context_.has_value(), "evidence was not forgotten");
        return *context_;
    }

    [[nodiscard]] std::string_view root_name() const { return model_.text(model_.graph(0).name); }

    void make_tree(bool use_record, std::optional<named_modules> named, thread_limit threads) {
        if (!options_.captures.empty()) {
            capture_ = read_captures(options_.captures);
            modules_ = capture_->tree();
        } else if (use_record && !record_->from_model) {
            modules_ = std::move(record_->modules);
        } else if (const auto tree = find_model_metadata(model_, fold_modules_key)) {
            modules_ = read_model_record(*tree, model_.file()).modules;
        } else {
            auto rebuilt = named ? rebuild_tree(*ops_, std::move(*named), threads)
                                 : rebuild_tree(*ops_, root_name(), threads);
            modules_ = std::move(rebuilt.modules);
            tree_from_model_ = true;
            std::move(rebuilt).teach(*context_);
        }
    }

    [[nodiscard]] bool uses(provenance p) const { return chosen_.uses(p); }

    /// Asks the parts of the capture about the nodes, or takes over what they said when the file
    /// was tagged.
    void find_claims(bool use_record) {
        if (use_record) {
            for (const auto& recorded : record_->claims) {
                if (uses(recorded.source)) {
                    claims_.push_back(to_table(recorded));
                }
            }
            return;
        }
        if (!capture_ || !capture_->has_operations()) {
            return;
        }
        const auto open = find_open_nodes();
        captured_claims finder(model_, *ops_, modules_, context().owners().mapping);
        if (uses(provenance::exported)) {
            finder.look_up(capture_->exported());
        }
        if (std::find(open.begin(), open.end(), true) != open.end()) {
            if (uses(provenance::torchscript)) {
                finder.align_operations(capture_->torchscript(modules_), provenance::torchscript,
                                        open);
            }
            if (uses(provenance::trace)) {
                finder.align_operations(capture_->trace(modules_), provenance::trace, open);
            }
            if (uses(provenance::fx)) {
                for (const auto& graph : capture_->fx(modules_)) {
                    finder.align_operations(graph, provenance::fx, open);
                }
            }
        }
        auto found = finder.finish();
        claims_ = std::move(found.claims);
        notes_ = std::move(found.notes);
        capture_.reset();
    }

    /// Returns: the nodes of which the file itself does not say in which module they are.
    [[nodiscard]] std::vector<bool> find_open_nodes() {
        std::vector<bool> open(model_.node_count(), true);
        const auto prepared = sources().prepare(context());
        for (id node = 0; node < model_.node_count(); ++node) {
            std::size_t exact = 0;
            bool settled = false;
            prepared.for_each_claim(node, [&](const claim& made) {
                exact += made.exact && made.source < provenance::parameter ? 1U : 0U;
                settled = settled || (made.exact && !made.doubtful && made.confidence >= 0.9F &&
                                      made.source < provenance::parameter);
            });
            open[node] = !settled || exact > 1;
        }
        return open;
    }

    [[nodiscard]] detail::chosen_policies::source_set sources() const {
        return chosen_.sources([&](provenance p) { return uses(p); }, claims_);
    }

    void tag() {
        found_ =
            tag_operators(context(), policies{sources(), chosen_.resolution(), chosen_.selection(),
                                              chosen_.naming(), chosen_.propagation()});
    }

    /// A tag that somebody changed in the file counts as that somebody's word.
    void take_over_tags() {
        const auto carried = read_carried_modules(model_, modules_, found_.tags);
        for (id node = 0; node < carried.size(); ++node) {
            auto& made = found_.attributions[node];
            if (carried[node] == no_id || carried[node] == made.module ||
                (found_.tags.is_selected(carried[node]) &&
                 found_.tags.selected(made.module) == carried[node] &&
                 !read_carried_tags(model_, node).module)) {
                continue;
            }
            made = {carried[node], no_id, 1, provenance::metadata, false};
            found_.tag_sets[node] = found_.tags.selected(carried[node]);
        }
    }

    mapped_file file_;
    wire_model model_;
    std::optional<onnx_operators<wire_model>> ops_;
    attribution_options options_;
    detail::chosen_policies chosen_{attribution_options{}};
    std::optional<recorded_model> record_;
    std::optional<std::uint64_t> digest_;
    bool fresh_ = false;
    bool tree_from_model_ = false;
    module_tree modules_;
    std::optional<context_type> context_;
    std::optional<capture_reader> capture_; // while what it says is being looked at
    std::vector<claim_table> claims_;
    std::vector<std::string> notes_;
    tagging found_;
};

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_ATTRIBUTED_MODEL_HPP

// <stemma/onnx/wire/byte_patch.hpp>
#ifndef STEMMA_ONNX_WIRE_BYTE_PATCH_HPP
#define STEMMA_ONNX_WIRE_BYTE_PATCH_HPP

namespace stemma {

/// How one sequence of bytes is made of another one. Texts that are put in twice are kept once.
class byte_patch {
public:
    /// Goes over bytes that stay.
    void keep(std::uint64_t size) {
        if (size == 0) {
            return;
        }
        if (changes_.empty() || changes_.back().drop > 0 || changes_.back().text != 0) {
            changes_.emplace_back();
        }
        changes_.back().keep += size;
    }

    /// Puts `text` in the place of the next `size` bytes. Calls without a `keep` between them are
    /// as one.
    void replace(std::uint64_t size, std::string_view text) {
        if (size == 0 && text.empty()) {
            return;
        }
        if (changes_.empty()) {
            changes_.emplace_back();
        }
        auto& last = changes_.back();
        last.drop += size;
        if (!text.empty()) {
            const auto whole = std::string(last.text == 0 ? "" : texts_[last.text - 1]);
            last.text = texts_.intern(whole + std::string(text)) + 1;
        }
    }

    /// Returns: the changed bytes; nothing when there are more or fewer than it was made for.
    /// Complexity: O(pieces and changes).
    [[nodiscard]] std::optional<byte_rope> apply(const byte_rope& from) const {
        byte_rope result;
        std::size_t next = 0;
        auto left = changes_.empty() ? change{} : changes_.front();
        bool fits = true;
        const auto settle = [&] { // texts stand behind what they replace
            while (next < changes_.size() && left.keep == 0 && left.drop == 0) {
                result.add_text(left.text == 0 ? std::string_view() : texts_[left.text - 1]);
                ++next;
                left = next < changes_.size() ? changes_[next] : change{};
            }
        };
        settle();
        const auto consume = [&](std::uint64_t size, auto put) {
            for (std::uint64_t at = 0; fits && at < size;) {
                fits = next < changes_.size();
                auto& count = left.keep > 0 ? left.keep : left.drop;
                const auto part = std::min(count, size - at);
                if (&count == &left.keep) {
                    put(at, part);
                }
                count -= part;
                at += part;
                settle();
            }
        };
        from.for_each(
            [&](id file, std::uint64_t begin, std::uint64_t size) {
                consume(size, [&](std::uint64_t at, std::uint64_t part) {
                    result.add_range(begin + at, part, file);
                });
            },
            [&](std::string_view text) {
                consume(text.size(), [&](std::uint64_t at, std::uint64_t part) {
                    result.add_text(text.substr(at, part));
                });
            });
        return fits && next == changes_.size() ? std::optional(std::move(result)) : std::nullopt;
    }

    /// Returns: the patch as bytes: the number of texts, each with its length; then of every change
    /// how many bytes stay, how many go, and which text takes their place (from 1 on; 0 for none).
    /// Complexity: O(bytes).
    [[nodiscard]] std::string to_bytes() const {
        std::string bytes;
        detail::append_varint(texts_.size(), bytes);
        for (id i = 0; i < texts_.size(); ++i) {
            const auto text = texts_[i];
            detail::append_varint(text.size(), bytes);
            bytes.append(text);
        }
        for (const auto& c : changes_) {
            detail::append_varint(c.keep, bytes);
            detail::append_varint(c.drop, bytes);
            detail::append_varint(c.text, bytes);
        }
        return bytes;
    }

    /// Reads what `to_bytes` makes; nothing where it did not make that.
    /// Complexity: O(bytes) expected.
    [[nodiscard]] static std::optional<byte_patch> from_bytes(std::string_view bytes) {
        byte_patch patch;
        bool fits = true;
        const auto number = [&] {
            std::uint64_t value = 0;
            for (unsigned shift = 0;; shift += 7) {
                fits = fits && shift < 35 && !bytes.empty();
                if (!fits) {
                    return std::uint64_t{0};
                }
                const auto byte = static_cast<unsigned char>(bytes.front());
                bytes.remove_prefix(1);
                value |= std::uint64_t{byte & 127U} << shift;
                if (byte < 128U) {
                    return value;
                }
            }
        };
        const auto count = number();
        for (std::uint64_t i = 0; fits && i < count; ++i) {
            const auto size = number();
            fits = fits && size <= bytes.size();
            if (fits) {
                // Texts are told apart, else numbers would not be those of the file.
                fits = patch.texts_.intern(bytes.substr(0, size)) == i;
                bytes.remove_prefix(size);
            }
        }
        while (fits && !bytes.empty()) {
            change next;
            next.keep = number();
            next.drop = number();
            const auto text = number();
            fits = fits && text <= count && (next.keep > 0 || next.drop > 0 || text > 0);
            next.text = static_cast<id>(text);
            patch.changes_.push_back(next);
        }
        return fits ? std::optional(std::move(patch)) : std::nullopt;
    }

private:
    struct change {
        std::uint64_t keep = 0;
        std::uint64_t drop = 0;
        id text = 0; // and one
    };

    string_pool texts_;
    std::vector<change> changes_;
};

/// A `splice_sink` that records how the source is made again of what is written to it.
class way_back {
public:
    /// Requires: the source outlives it.
    explicit way_back(std::string_view source) : source_(source) {}

    void copy(std::uint32_t from, std::uint32_t size) {
        if (size > 0) {
            patch_.replace(0, source_.substr(at_, from - at_));
            patch_.keep(size);
            at_ = std::uint64_t{from} + size;
        }
    }
    void write(std::string_view text) { patch_.replace(text.size(), {}); }

    /// Returns: the patch. Requires: the whole result was written.
    [[nodiscard]] byte_patch take() && {
        patch_.replace(0, source_.substr(at_));
        return std::move(patch_);
    }

private:
    std::string_view source_;
    std::uint64_t at_ = 0;
    byte_patch patch_;
};

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_BYTE_PATCH_HPP

// <stemma/onnx/wire/call_attributes.hpp>
#ifndef STEMMA_ONNX_WIRE_CALL_ATTRIBUTES_HPP
#define STEMMA_ONNX_WIRE_CALL_ATTRIBUTES_HPP

namespace stemma {

/// The attributes that a call gives to a function, as the file has them.
class call_attributes {
public:
    /// Reads those of a node. Where one refers to an attribute of the function around the call, it
    /// is that one of `around`. Returns: whether all those are there.
    /// Complexity: O(fields).
    bool read(const wire_model& model, id call, const call_attributes* around) {
        auto fields = model.reader(model.message(call));
        for (wire_field field; fields.next(field);) {
            if (!field.is_bytes(detail::onnx_fields::node::attribute)) {
                continue;
            }
            const auto names = read_attribute_names(fields.inner(field));
            if (around == nullptr || names.reference.empty()) {
                by_name_.emplace(names.name, field);
                continue;
            }
            const auto outer = around->by_name_.find(names.reference);
            if (outer == around->by_name_.end()) {
                return false;
            }
            by_name_.emplace(names.name, outer->second);
        }
        return true;
    }

    /// Returns: what stood where an attribute in the body refers to one of the call; nothing for
    /// other fields of a node. Requires: `model` is the one that was read.
    [[nodiscard]] std::optional<byte_rope> given(const wire_model& model, const wire_reader& fields,
                                                 const wire_field& field) const {
        if (by_name_.empty() || !field.is_bytes(detail::onnx_fields::node::attribute)) {
            return std::nullopt;
        }
        const auto names = read_attribute_names(fields.inner(field));
        const auto found = by_name_.find(names.reference);
        if (names.reference.empty() || found == by_name_.end()) {
            return std::nullopt;
        }
        const auto file = model.reader();
        return renamed_attribute(file.inner(found->second), names.name);
    }

private:
    std::map<std::string_view, wire_field> by_name_;
};

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_CALL_ATTRIBUTES_HPP

// <stemma/onnx/wire/call_frame.hpp>
#ifndef STEMMA_ONNX_WIRE_CALL_FRAME_HPP
#define STEMMA_ONNX_WIRE_CALL_FRAME_HPP

namespace stemma {

/// One call of a function: what the names and attributes in its body stand for.
struct call_frame {
    std::string scope; ///< stands in front of all names that are not bound
    std::map<std::string_view, std::string> bound{};      ///< inputs and outputs; "" for none
    std::map<std::string_view, std::string> attributes{}; ///< AttributeProtos by name
};

/// Returns: what a name in a body stands for; outside of functions (`around` is null) itself.
[[nodiscard]] inline std::string actual(std::string_view name, const call_frame* around) {
    if (around == nullptr || name.empty()) {
        return std::string(name);
    }
    const auto bound = around->bound.find(name);
    return bound != around->bound.end() ? bound->second : around->scope + "/" + std::string(name);
}

/// Returns: an AttributeProto with another name. Complexity: O(bytes).
[[nodiscard]] inline std::string with_name(std::string_view attribute, std::string_view name) {
    std::string out;
    wire_reader fields(attribute.data(), 0, static_cast<std::uint32_t>(attribute.size()), {});
    detail::append_field(detail::onnx_fields::attribute::name, name, out);
    for (wire_field field; fields.next(field);) {
        if (!field.is_bytes(detail::onnx_fields::attribute::name)) {
            out.append(fields.whole(field));
        }
    }
    return out;
}

/// Appends, as field `number`, a message in which field `name` names a value. Complexity: O(bytes).
inline void put_named(wire_reader fields, std::uint32_t name, const call_frame* around,
                      std::uint32_t number, std::string& out) {
    std::string content;
    for (wire_field field; fields.next(field);) {
        if (field.is_bytes(name)) {
            detail::append_field(name, actual(fields.text(field), around), content);
        } else {
            content.append(fields.whole(field));
        }
    }
    detail::append_field(number, content, out);
}

/// Appends a SparseTensorProto likewise: its values have a name. Complexity: O(bytes).
inline void put_sparse(wire_reader fields, const call_frame* around, std::uint32_t number,
                       std::string& out) {
    using at = detail::onnx_fields::sparse_tensor;
    std::string content;
    for (wire_field field; fields.next(field);) {
        if (field.is_bytes(at::values)) {
            put_named(fields.inner(field), detail::onnx_fields::tensor::name, around, field.number,
                      content);
        } else {
            content.append(fields.whole(field));
        }
    }
    detail::append_field(number, content, out);
}

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_CALL_FRAME_HPP

// <stemma/onnx/wire/external_data.hpp>
#ifndef STEMMA_ONNX_WIRE_EXTERNAL_DATA_HPP
#define STEMMA_ONNX_WIRE_EXTERNAL_DATA_HPP

namespace stemma {

/// What happens to the files that hold a model's weights when the model goes to another folder.
enum class data_placement : std::uint8_t {
    keep, ///< nothing: they stay where they are
    link, ///< a hard link beside the new model
    copy, ///< a copy beside the new model
};

/// Returns: `keep`, `link` or `copy`.
[[nodiscard]] constexpr std::optional<data_placement>
parse_data_placement(std::string_view name) noexcept {
    return name == "keep"   ? std::optional(data_placement::keep)
           : name == "link" ? std::optional(data_placement::link)
           : name == "copy" ? std::optional(data_placement::copy)
                            : std::nullopt;
}

/// Whether an external-data location stays inside of the model's folder.
[[nodiscard]] inline bool is_inside_folder(std::string_view location) {
    const std::filesystem::path path(location);
    return !location.empty() && !path.is_absolute() &&
           std::find(path.begin(), path.end(), "..") == path.end() &&
           location.find('\0') == location.npos;
}

/// Returns: the files that hold external data of initializers, as the model names them, sorted.
/// Complexity: O(initializers).
[[nodiscard]] inline std::vector<std::string> external_files(const wire_model& model) {
    std::vector<std::string> files;
    for (const auto& tensor : model.tensors()) {
        const auto header = read_tensor_header(model, tensor);
        if (header.external) {
            files.emplace_back(header.location);
        }
    }
    std::sort(files.begin(), files.end());
    files.erase(std::unique(files.begin(), files.end()), files.end());
    return files;
}

/// Puts the files with a model's external data beside `output`, when that is in another folder.
///
/// A file that is there already is left alone when it is the same one, and refused otherwise unless
/// it may be replaced.
/// Throws: `error`: `malformed` for a location outside of the model's folder, `cannot_read` for a
///   missing file, `cannot_write`.
/// Complexity: O(initializers + bytes of the files).
inline void place_external_data(const wire_model& model, const std::string& output,
                                data_placement placement, bool replace = false) {
    namespace fs = std::filesystem;
    if (placement == data_placement::keep) {
        return;
    }
    const auto from_folder = fs::absolute(model.file()).parent_path();
    const auto to_folder = fs::absolute(output).parent_path();
    for (const auto& location : external_files(model)) {
        if (!is_inside_folder(location)) {
            STEMMA_THROW(error(error_code::malformed, model.file(), "external data",
                               "'" + location + "' is outside of the model's folder"));
        }
        const auto from = from_folder / location;
        const auto to = to_folder / location;
        std::error_code failed;
        if (!fs::is_regular_file(from, failed)) {
            STEMMA_THROW(error(error_code::cannot_read, from.string(), "", "is no file"));
        }
        if (fs::equivalent(from, to, failed)) {
            continue;
        }
        fs::create_directories(to.parent_path(), failed);
        failed.clear();
        // What is replaced may be mapped, or linked elsewhere: a new file takes its name.
        const bool replaces = replace && fs::is_regular_file(to);
        const auto made = replaces ? fs::path(to.string() + ".stemma-new") : to;
        if (replaces) {
            fs::remove(made, failed);
        }
        placement == data_placement::link ? fs::create_hard_link(from, made, failed)
                                          : static_cast<void>(fs::copy_file(from, made, failed));
        if (!failed && replaces) {
            fs::rename(made, to, failed);
        }
        if (failed) {
            STEMMA_THROW(error(error_code::cannot_write, to.string(), "", failed.message()));
        }
    }
}

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_EXTERNAL_DATA_HPP

// <stemma/onnx/wire/check_data.hpp>
#ifndef STEMMA_ONNX_WIRE_CHECK_DATA_HPP
#define STEMMA_ONNX_WIRE_CHECK_DATA_HPP

namespace stemma {

namespace detail {

/// Checks where the data of initializers are, without reading them.
template <class Report>
class data_checker {
public:
    data_checker(const wire_model& model, Report& report)
        : model_(model)
        , report_(report)
        , folder_(std::filesystem::absolute(model.file()).parent_path()) {}

    void check(const tensor_ref& tensor) {
        const auto header = read_tensor_header(model_, tensor);
        const auto place = "initializer '" + std::string(model_.text(tensor.name)) + "'";
        if (header.data_type <= 0) {
            tell("data.type", place, "has no data type");
        }
        if (std::any_of(header.dims.begin(), header.dims.end(),
                        [](std::int64_t dim) { return dim < 0; })) {
            tell("data.dims", place, "has a negative dimension");
            return;
        }
        const auto expected = data_size(header);
        if (header.external) {
            check_external(header, expected, place);
        } else if (const auto raw = raw_size(tensor); raw && expected && *raw != *expected) {
            tell("data.size", place,
                 "holds " + bytes(*raw) + ", but type and dims need " + bytes(*expected));
        }
    }

private:
    void tell(const char* code, std::string place, std::string text,
              severity level = severity::error) {
        report_(finding{code, no_id, std::move(text), level, std::move(place)});
    }

    [[nodiscard]] static std::string bytes(std::uint64_t count) {
        return std::to_string(count) + (count == 1 ? " byte" : " bytes");
    }

    [[nodiscard]] std::optional<std::uint64_t> raw_size(const tensor_ref& tensor) const {
        std::optional<std::uint64_t> size;
        auto fields = model_.reader(tensor.message);
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(onnx_fields::tensor::raw_data)) {
                size = field.size();
            }
        }
        return size;
    }

    void check_external(const tensor_header& header, std::optional<std::uint64_t> expected,
                        const std::string& place) {
        const std::string location(header.location);
        if (!is_inside_folder(location)) {
            tell("data.outside", place,
                 "its data '" + location + "' are outside of the model's folder");
            return;
        }
        const auto size = size_of_file(location);
        if (header.length > 0 && expected && header.length != *expected) {
            tell("data.size", place,
                 "says that it has " + bytes(header.length) + " of data, but type and dims need " +
                     bytes(*expected));
        }
        const auto length = header.length > 0 ? header.length : expected.value_or(0);
        if (size && (header.offset > *size || length > *size - header.offset)) {
            tell("data.beyond_end", place,
                 "its data reach beyond the end of '" + location + "', which has " + bytes(*size));
        }
    }

    /// Returns: bytes of a file; nothing, after saying so once, when it is not there.
    [[nodiscard]] std::optional<std::uint64_t> size_of_file(const std::string& location) {
        const auto [known, is_new] = sizes_.try_emplace(location);
        if (is_new) {
            const auto path = folder_ / location;
            std::error_code failed;
            const auto size = std::filesystem::file_size(path, failed);
            if (failed) {
                tell("data.missing", "file '" + location + "'", "is not there, or is no file");
            } else {
                known->second = size;
                if (std::filesystem::is_symlink(path, failed)) {
                    tell("data.symlink", "file '" + location + "'",
                         "is a symbolic link, which runtimes refuse", severity::warning);
                }
            }
        }
        return known->second;
    }

    const wire_model& model_;
    Report& report_;
    std::filesystem::path folder_;
    std::map<std::string, std::optional<std::uint64_t>> sizes_; // by location
};

} // namespace detail

/// Calls `report(finding)` for all initializers whose data are not where they should be, or not as
/// many as type and dims need. External data are looked for beside the model's file; no data is
/// read. Complexity: O(initializers * log files).
template <class Report>
void check_data(const wire_model& model, Report report) {
    detail::data_checker<Report> checker(model, report);
    for (const auto& tensor : model.tensors()) {
        checker.check(tensor);
    }
}

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_CHECK_DATA_HPP

// <stemma/onnx/wire/check_structure.hpp>
#ifndef STEMMA_ONNX_WIRE_CHECK_STRUCTURE_HPP
#define STEMMA_ONNX_WIRE_CHECK_STRUCTURE_HPP

namespace stemma {

/// Returns: a node as a reader finds it again: `node '/a/Add' (#7)`.
[[nodiscard]] inline std::string place_of(const onnx_model& model, id node) {
    const auto position =
        model.graph_path(model.graph_of(node)) + "#" + std::to_string(model.position(node));
    return model.name(node).empty()
               ? "node " + position
               : "node '" + std::string(model.name(node)) + "' (" + position + ")";
}

namespace detail {

/// Checks the rules that every ONNX model keeps, whatever its version.
template <class Report>
class structure_checker {
public:
    structure_checker(const wire_model& model, Report& report) : model_(model), report_(report) {}

    void check() {
        check_opsets();
        check_definitions();
        check_order();
        check_functions();
    }

private:
    using at_function = onnx_fields::function;
    using domains = std::set<std::string_view>;

    void tell(const char* code, std::string place, std::string text,
              severity level = severity::error, id node = no_id) {
        report_(finding{code, node, std::move(text), level, std::move(place)});
    }

    void tell_node(const char* code, id node, std::string text) {
        tell(code, place_of(model_, node), std::move(text), severity::error, node);
    }

    void take_import(std::string_view domain, const std::string& place, domains& imports) {
        if (!imports.insert(plain_domain(domain)).second) {
            tell("opset.repeated", place,
                 "imports the operators of domain '" + std::string(domain) + "' more than once");
        }
    }

    void check_opsets() {
        if (model_.ir_version() <= 0) {
            tell("model.ir_version", "model", "has no ir_version");
        }
        domains of_model;
        for (const auto& import : model_.opset_imports()) {
            take_import(import.domain, "model", of_model);
            if (import.version <= 0) {
                tell("opset.version", "model",
                     "imports domain '" + std::string(import.domain) + "' without a version");
            }
        }
        if (of_model.empty()) {
            tell("opset.none", "model", "has no opset imports");
            return;
        }
        const auto of_functions = read_function_imports();
        for (id node = 0; node < model_.node_count(); ++node) {
            const auto function = function_around(node);
            const auto& imports = function == no_id ? of_model : of_functions[function];
            if (model_.op_type(node).empty()) {
                tell_node("node.no_operator", node, "has no operator type");
            } else if (imports.count(model_.domain(node)) == 0) {
                tell_node("opset.missing", node,
                          "domain '" + std::string(model_.domain(node)) + "' of " +
                              std::string(model_.op_type(node)) + " is not imported");
            }
        }
    }

    [[nodiscard]] id function_around(id node) const {
        auto g = model_.graph_of(node);
        while (model_.graph(g).kind == graph_kind::body) {
            g = model_.graph_of(model_.graph(g).owner);
        }
        return model_.graph(g).kind == graph_kind::function ? model_.graph(g).function : no_id;
    }

    /// Returns: by function what it imports.
    [[nodiscard]] std::vector<domains> read_function_imports() {
        std::vector<domains> result(model_.functions().size());
        std::size_t next = 0;
        auto fields = model_.reader();
        for (wire_field field; next < result.size() && fields.next(field);) {
            if (!field.is_bytes(onnx_fields::model::functions)) {
                continue;
            }
            auto parts = fields.inner(field);
            for (wire_field part; parts.next(part);) {
                if (part.is_bytes(at_function::opset_import)) {
                    std::string_view domain;
                    auto inner = parts.inner(part);
                    for (wire_field each; inner.next(each);) {
                        domain =
                            each.is_bytes(onnx_fields::opset::domain) ? inner.text(each) : domain;
                    }
                    take_import(domain, function_text(static_cast<id>(next)), result[next]);
                }
            }
            ++next;
        }
        return result;
    }

    [[nodiscard]] std::string function_text(id f) const {
        return "function '" + model_.graph_path(model_.functions()[f].graph).substr(1) + "'";
    }

    [[nodiscard]] std::string value_text(id value) const {
        auto text = "value '" + std::string(model_.value_name(value)) + "'";
        if (const auto graph = model_.graph_path(model_.graph_of_value(value)); !graph.empty()) {
            text.append(" of ").append(graph);
        }
        return text;
    }

    void check_definitions() {
        for (auto value : model_.redefined()) {
            tell("value.redefined", value_text(value), "is defined more than once", severity::error,
                 model_.producer(value));
        }
        for (id value = 0; value < model_.value_count(); ++value) {
            if (model_.kind(value) == value_kind::undefined) {
                tell("value.undefined", value_text(value), "is read, but nothing makes it");
            }
        }
        if (model_.graph(0).outputs.empty()) {
            tell("graph.no_output", "model", "has no outputs", severity::warning);
        }
        check_shadowing();
    }

    /// A name of a body must not be one of a graph around it.
    void check_shadowing() {
        std::vector<bool> is_around(model_.graph_count(), false);
        bool any = false;
        for (id g = 1; g < model_.graph_count(); ++g) {
            if (model_.graph(g).kind == graph_kind::body) {
                is_around[model_.graph_of(model_.graph(g).owner)] = true;
                any = true;
            }
        }
        if (!any) {
            return;
        }
        const auto hash = [](const std::pair<id, std::string_view>& key) {
            return static_cast<std::size_t>(hash_bytes(key.second, key.first));
        };
        std::unordered_set<std::pair<id, std::string_view>, decltype(hash)> known(16, hash);
        const auto counts = [&](id value) {
            return model_.kind(value) != value_kind::undefined && !model_.value_name(value).empty();
        };
        for (id value = 0; value < model_.value_count(); ++value) {
            if (is_around[model_.graph_of_value(value)] && counts(value)) {
                known.emplace(model_.graph_of_value(value), model_.value_name(value));
            }
        }
        for (id value = 0; value < model_.value_count(); ++value) {
            auto g = model_.graph_of_value(value);
            while (counts(value) && model_.graph(g).kind == graph_kind::body) {
                g = model_.graph_of(model_.graph(g).owner);
                if (known.count({g, model_.value_name(value)}) > 0) {
                    tell("value.shadowed", value_text(value),
                         "has the name of a value of a graph around it", severity::error,
                         model_.producer(value));
                    break;
                }
            }
        }
    }

    void check_order() {
        for (id node = 0; node < model_.node_count(); ++node) {
            for (auto value : model_.inputs(node)) {
                const auto producer = value == no_id ? no_id : model_.producer(value);
                if (producer == no_id) {
                    continue;
                }
                const auto reader = enclosing_node(model_, model_.graph_of(producer), node);
                if (reader != no_id && model_.position(producer) >= model_.position(reader)) {
                    tell_node("node.unsorted", node,
                              "reads " + value_text(value) +
                                  (producer == reader ? ", which it makes itself"
                                                      : ", which a later node makes"));
                    break;
                }
            }
        }
    }

    /// Functions must not call each other in a circle.
    void check_functions() {
        const auto count = static_cast<id>(model_.functions().size());
        std::vector<std::pair<id, id>> calls; // caller, callee
        for (id node = 0; count > 0 && node < model_.node_count(); ++node) {
            if (const auto caller = function_around(node);
                caller != no_id && model_.callee(node) != no_id) {
                calls.emplace_back(caller, model_.callee(node));
            }
        }
        std::sort(calls.begin(), calls.end());
        calls.erase(std::unique(calls.begin(), calls.end()), calls.end());
        std::vector<id> callers(count, 0); // of each, those that are not done
        for (const auto& [caller, callee] : calls) {
            ++callers[callee];
        }
        std::vector<id> done;
        for (id f = 0; f < count; ++f) {
            if (callers[f] == 0) {
                done.push_back(f);
            }
        }
        for (std::size_t i = 0; i < done.size(); ++i) {
            auto call = std::lower_bound(calls.begin(), calls.end(), std::pair(done[i], id{0}));
            for (; call != calls.end() && call->first == done[i]; ++call) {
                if (--callers[call->second] == 0) {
                    done.push_back(call->second);
                }
            }
        }
        if (done.size() < count) {
            const auto left =
                std::find_if(callers.begin(), callers.end(), [](id number) { return number > 0; });
            tell("function.recursive", function_text(static_cast<id>(left - callers.begin())),
                 "is called in a circle of functions");
        }
    }

    const wire_model& model_;
    Report& report_;
};

} // namespace detail

/// Calls `report(finding)` for every rule of ONNX that the structure of a model breaks:
/// definitions, order of nodes, names of bodies, opset imports, calls of functions. Works for any
/// version.
///
/// Complexity: O((nodes + values) * depth of bodies) expected, and sorting the calls of functions.
template <class Report>
void check_structure(const wire_model& model, Report report) {
    detail::structure_checker<Report>(model, report).check();
}

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_CHECK_STRUCTURE_HPP

// <stemma/onnx/wire/check_tags.hpp>
#ifndef STEMMA_ONNX_WIRE_CHECK_TAGS_HPP
#define STEMMA_ONNX_WIRE_CHECK_TAGS_HPP

namespace stemma {

namespace detail {

/// Checks what a tagged file says of its nodes against the tree that it carries.
template <class Report>
class tag_checker {
public:
    tag_checker(const wire_model& model, Report& report) : model_(model), report_(report) {}

    void check() {
        auto record = find_model_record(model_);
        if (!record) {
            check_untagged();
            return;
        }
        modules_ = std::move(record->modules);
        wanted_ = record->carriers;
        const bool fresh =
            record->nodes == model_.node_count() && record->digest == structure_digest(model_);
        if (!fresh) {
            tell("tags.stale", no_id, "the graph changed since it was tagged", severity::warning);
        }
        if (!name_all(*record)) {
            return;
        }
        const auto table = find_model_metadata(model_, tag_table_key);
        if (table && record->nodes == model_.node_count()) {
            table_ = read_recorded_tags(*table, model_.file(), model_.node_count(), modules_.size())
                         .module;
        }
        expect("model", no_id, table.has_value(), wanted_.model);
        for (id node = 0; node < model_.node_count(); ++node) {
            check_node(node);
        }
        model_.for_each_value_metadata([&](id value, std::string_view key, std::string_view text) {
            if (key == hierarchy_tags_key) {
                check_list(text, no_id, "value '" + std::string(model_.value_name(value)) + "'");
            }
        });
    }

private:
    void tell(const char* code, id node, std::string text, severity level = severity::error) {
        report_(finding{code, node, std::move(text), level,
                        node == no_id ? std::string("model") : place_of(model_, node)});
    }

    void check_untagged() {
        for (id node = 0; node < model_.node_count(); ++node) {
            const auto carried = read_carried_tags(model_, node);
            if (carried.module || carried.tag) {
                tell("tags.no_record", node,
                     "has tags, but what the model should say about them is missing");
                return;
            }
        }
        tell("tags.none", no_id, "has no tags", severity::information);
    }

    /// Names the modules as they were when the file was tagged.
    [[nodiscard]] bool name_all(const model_record& record) {
        const auto refuse = [&](const std::string& name, const char* purpose) {
            tell("tags.selection", no_id,
                 "'" + name + "', by which modules " + purpose + ", is none that is known");
            return false;
        };
        const auto naming = known_policies().namings.find(record.option("naming"));
        if (!naming) {
            return refuse(record.option("naming"), "are named");
        }
        const auto selection = known_policies().find_selection(record.option("select"),
                                                               split_list(record.option("keep")));
        if (!selection) {
            return refuse(record.option("select"), "have tags");
        }
        tags_ = name_modules(modules_, *selection, *naming);
        by_tag_.emplace(tags_);
        return true;
    }

    /// A carrier that was asked for must be there; another one is told of once.
    void expect(const char* carrier, id node, bool present, bool wanted) {
        if (wanted && !present) {
            tell("tags.incomplete", node, std::string("has no tags in ") + carrier);
        } else if (!wanted && present &&
                   std::find(unwanted_.begin(), unwanted_.end(), carrier) == unwanted_.end()) {
            unwanted_.emplace_back(carrier);
            tell("tags.unrecorded", node,
                 std::string("has tags in ") + carrier + ", which the model does not tell of",
                 severity::warning);
        }
    }

    void check_node(id node) {
        const auto found = read_node_carriers(model_, node);
        const auto is_there = [](const carried_tags& tags) { return tags.module || tags.tag; };
        expect("metadata", node, is_there(found.metadata), wanted_.metadata);
        expect("doc_string", node, is_there(found.doc_string), wanted_.doc_string);
        expect("attributes", node, is_there(found.attribute), wanted_.attribute);
        if (wanted_.name_space) {
            expect("namespace", node, found.name_space.has_value(), true);
        }
        std::optional<id> said; // by the carrier before
        const auto agree = [&](id module) {
            if (module == no_id) {
                return;
            }
            if (said && tags_.selected(*said) != tags_.selected(module)) {
                tell("tags.disagree", node,
                     "is in '" + tags_.text(*said) + "' by one carrier, in '" + tags_.text(module) +
                         "' by another");
            }
            said = module;
        };
        agree(check_carried(node, found.metadata));
        agree(check_carried(node, found.doc_string));
        agree(check_carried(node, found.attribute));
        if (!table_.empty()) {
            agree(table_[node]);
        }
        if (wanted_.name_space && found.name_space && said) {
            check_namespace(node, *found.name_space, *said);
        }
        if (found.all) {
            check_list(*found.all, node, place_of(model_, node));
        }
    }

    /// Returns: the module that a carrier names, `no_id` for none.
    [[nodiscard]] id check_carried(id node, const carried_tags& carried) {
        id by_path = no_id;
        id by_tag = no_id;
        if (carried.module) {
            by_path = find_module(module_lookup<module_tree>(modules_), *carried.module);
            if (by_path == no_id) {
                tell("tags.unknown_module", node,
                     "module '" + *carried.module + "' is not in the tree");
            }
        }
        if (carried.tag) {
            by_tag = by_tag_->find(*carried.tag);
            if (by_tag == no_id) {
                tell("tags.unknown_tag", node, "no module has the tag '" + *carried.tag + "'");
            }
        }
        if (by_path != no_id && by_tag != no_id && tags_.writable(by_path) != by_tag) {
            tell("tags.inconsistent", node,
                 "has the tag '" + *carried.tag + "', but that of its module '" + *carried.module +
                     "' is '" + tags_.text(tags_.writable(by_path)) + "'");
        }
        return by_path != no_id ? by_path : by_tag;
    }

    void check_namespace(id node, std::string_view text, id module) {
        auto path = modules_.path(module);
        std::replace(path.begin(), path.end(), '.', '/');
        // Where only a tag is known, the path may go deeper.
        if (path != text &&
            !(text.starts_with(path) && text.substr(path.size()).starts_with('/')) && module != 0) {
            tell("tags.disagree", node,
                 "is in '" + path + "', but its namespace is '" + std::string(text) + "'");
        }
    }

    void check_list(std::string_view text, id node, std::string place) {
        const auto list = nlohmann::json::parse(text, nullptr, false);
        std::string problem;
        if (!list.is_array() || list.empty()) {
            problem = "its list of tags cannot be read";
        } else {
            for (const auto& tag : list) {
                if (!tag.is_string() || by_tag_->find(tag.template get<std::string>()) == no_id) {
                    problem = "no module has the tag " + tag.dump(-1, ' ', false, replace_invalid);
                }
            }
        }
        if (!problem.empty()) {
            report_(finding{"tags.unknown_tag", node, std::move(problem), severity::error,
                            std::move(place)});
        }
    }

    static constexpr auto replace_invalid = nlohmann::json::error_handler_t::replace;

    const wire_model& model_;
    Report& report_;
    module_tree modules_;
    carrier_set wanted_;
    tag_table tags_;
    std::optional<tag_lookup> by_tag_;
    std::vector<id> table_; // by node, where the model has a table
    std::vector<std::string_view> unwanted_;
};

} // namespace detail

/// Calls `report(finding)` for everything that is wrong with the tags in a file: nodes without any,
/// tags that do not fit the tree or each other in one of the carriers, a graph that changed.
///
/// Throws: `error` of `malformed` when what the model says about its tags cannot be read.
/// Complexity: O(nodes + fields + length of all tags).
template <class Report>
void check_tags(const wire_model& model, Report report) {
    detail::tag_checker<Report>(model, report).check();
}

/// Calls `report(finding)` when the tree in a tagged file is not `expected`, at the first module
/// that differs. Throws: as above. Complexity: O(modules).
template <class Report>
void check_tree(const wire_model& model, const module_tree& expected, Report report) {
    const auto record = find_model_record(model);
    if (!record) {
        return;
    }
    const auto& tree = record->modules;
    const auto count = std::min(tree.size(), expected.size());
    id m = 0;
    while (m < count && tree.attribute(m) == expected.attribute(m) &&
           tree.class_name(m) == expected.class_name(m) &&
           tree.index().parent(m) == expected.index().parent(m)) {
        ++m;
    }
    if (m < tree.size() || m < expected.size()) {
        const auto& with = m < tree.size() ? tree : expected;
        report(finding{"tags.other_tree", no_id, "is not the same in the file and in the capture",
                       severity::warning, "module '" + with.path(m) + "'"});
    }
}

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_CHECK_TAGS_HPP

// <stemma/onnx/wire/tensor_content.hpp>
#ifndef STEMMA_ONNX_WIRE_TENSOR_CONTENT_HPP
#define STEMMA_ONNX_WIRE_TENSOR_CONTENT_HPP

namespace stemma {

/// The data of an initializer as they would stand in `raw_data`, wherever and however they are
/// stored.
struct tensor_content {
    tensor_header header;  ///< type, shape, and where the data are stored
    std::string_view data; ///< in a mapped file, or in `own`
    std::string own;       ///< data that had to be put together
    bool readable = true;  ///< else external data are not there

    /// Returns: all data. Valid as long as this and the reader are.
    [[nodiscard]] std::string_view bytes() const noexcept { return own.empty() ? data : own; }
};

/// Reads the data of initializers; those in files stay there and are mapped.
class tensor_content_reader {
public:
    /// Requires: `model` outlives the reader.
    explicit tensor_content_reader(const wire_model& model)
        : model_(&model), folder_(std::filesystem::absolute(model.file()).parent_path()) {}

    /// Complexity: O(fields), and O(data) where they stand in fields of their type.
    [[nodiscard]] tensor_content read(const tensor_ref& tensor) {
        using at = detail::onnx_fields::tensor;
        tensor_content content;
        content.header = read_tensor_header(*model_, tensor);
        if (content.header.external) {
            read_external(content);
            return content;
        }
        const auto bits = bits_of_type(content.header.data_type);
        auto fields = model_->reader(tensor.message);
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(at::raw_data)) {
                content.data = fields.text(field);
            } else if (field.number == at::float_data || field.number == at::double_data) {
                const bool single = field.type == wire_type::fixed32 ||
                                    field.type == wire_type::fixed64 ||
                                    field.type == wire_type::bytes;
                content.own.append(single ? fields.text(field) : std::string_view());
            } else if (field.number == at::int32_data || field.number == at::int64_data ||
                       field.number == at::uint64_data) {
                append_numbers(fields, field, std::max(1U, bits / 8), content.own);
            } else if (field.is_bytes(at::string_data)) {
                const auto text = fields.text(field);
                content.own.append(std::to_string(text.size())).append(":").append(text);
            }
        }
        return content;
    }

private:
    static void append_numbers(const wire_reader& around, const wire_field& field, unsigned width,
                               std::string& out) {
        std::vector<std::int64_t> numbers;
        if (field.type == wire_type::varint || field.type == wire_type::bytes) {
            detail::read_dims(around, field, numbers);
        }
        for (auto number : numbers) {
            auto rest = static_cast<std::uint64_t>(number);
            for (unsigned i = 0; i < width; ++i, rest >>= 8U) {
                out.push_back(static_cast<char>(rest & 0xffU));
            }
        }
    }

    void read_external(tensor_content& content) {
        const auto& header = content.header;
        const auto* file = open(std::string(header.location));
        const auto size = file == nullptr ? 0 : file->bytes().size();
        const auto length = header.length > 0 ? header.length : data_size(header).value_or(0);
        if (file == nullptr || header.offset > size || length > size - header.offset) {
            content.readable = false;
            return;
        }
        content.data = file->bytes().substr(header.offset, length);
    }

    /// Returns: a file, mapped; null when it is not there or outside of the model's folder.
    [[nodiscard]] const mapped_file* open(const std::string& location) {
        const auto [known, is_new] = files_.try_emplace(location);
        if (is_new && is_inside_folder(location)) {
            const auto path = folder_ / location;
            std::error_code failed;
            if (std::filesystem::is_regular_file(path, failed)) {
                known->second = std::make_unique<mapped_file>(path.string());
            }
        }
        return known->second.get();
    }

    const wire_model* model_;
    std::filesystem::path folder_;
    std::map<std::string, std::unique_ptr<mapped_file>> files_;
};

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_TENSOR_CONTENT_HPP

// <stemma/onnx/wire/compare_initializers.hpp>
#ifndef STEMMA_ONNX_WIRE_COMPARE_INITIALIZERS_HPP
#define STEMMA_ONNX_WIRE_COMPARE_INITIALIZERS_HPP

namespace stemma {

/// How an initializer of one model is to those of another one.
enum class initializer_change : std::uint8_t {
    same,     ///< name, type, shape and data are
    vanished, ///< only the first model has one of this name
    appeared, ///< only the second one
    renamed,  ///< the second one has the same content under another name
    retyped,  ///< type or shape differ
    changed,  ///< type and shape are the same, the data are not
    unknown,  ///< the data of one are not there
};

/// Returns: the name that reports use.
[[nodiscard]] constexpr std::string_view to_string(initializer_change change) noexcept {
    constexpr std::array<std::string_view, 7> names{"same",    "vanished", "appeared", "renamed",
                                                    "retyped", "changed",  "unknown"};
    return names[static_cast<std::size_t>(change)];
}

/// An initializer that differs, and how.
struct initializer_difference {
    initializer_change change = initializer_change::same; ///< never `same`
    std::string name;  ///< in the first model; for `appeared` in the second one
    std::string other; ///< `renamed`: in the second model
    std::string text;  ///< what is in the first and in the second model
};

namespace detail {

[[nodiscard]] inline std::string type_text(const tensor_header& header) {
    auto text = std::string(data_type_name(header.data_type));
    text = text.empty() ? "type " + std::to_string(header.data_type) : text;
    for (std::size_t i = 0; i < header.dims.size(); ++i) {
        text.append(i == 0 ? "[" : ", ").append(std::to_string(header.dims[i]));
    }
    return text.append(header.dims.empty() ? "[]" : "]");
}

/// The initializers of a model by name; those of bodies with the way to the graph in front.
class named_tensors {
public:
    explicit named_tensors(const wire_model& model) : model_(&model), reader_(model) {
        for (std::size_t i = 0; i < model.tensors().size(); ++i) {
            auto name = name_of(i);
            const auto next = names_.size();
            if (by_name_.emplace(name, next).second) {
                names_.push_back(std::move(name));
                tensors_.push_back(i);
            }
        }
    }

    [[nodiscard]] std::size_t size() const noexcept { return names_.size(); }
    [[nodiscard]] const std::string& name(std::size_t i) const noexcept { return names_[i]; }
    [[nodiscard]] tensor_content content(std::size_t i) {
        return reader_.read(model_->tensors()[tensors_[i]]);
    }
    /// Returns: the one of this name, or `size()`.
    [[nodiscard]] std::size_t find(const std::string& name) const {
        const auto found = by_name_.find(name);
        return found == by_name_.end() ? size() : found->second;
    }

private:
    [[nodiscard]] std::string name_of(std::size_t i) const {
        const auto& tensor = model_->tensors()[i];
        auto path = tensor.graph == 0 ? std::string() : model_->graph_path(tensor.graph) + "/";
        path.append(model_->text(tensor.name));
        // The indices of a sparse one may differ where its values do not.
        return tensor.sparse ? path.append(" (sparse)") : path;
    }

    const wire_model* model_;
    tensor_content_reader reader_;
    std::vector<std::string> names_;
    std::vector<std::size_t> tensors_;
    std::unordered_map<std::string, std::size_t> by_name_;
};

[[nodiscard]] inline initializer_change compare_contents(const tensor_content& a,
                                                         const tensor_content& b) {
    if (a.header.data_type != b.header.data_type || a.header.dims != b.header.dims) {
        return initializer_change::retyped;
    }
    if (!a.readable || !b.readable) {
        return initializer_change::unknown;
    }
    return a.bytes() == b.bytes() ? initializer_change::same : initializer_change::changed;
}

} // namespace detail

/// Calls `report(difference)` for every initializer that is not the same in two models: those of
/// the first one in order, then those that only the second one has.
///
/// Data are compared where they are, in mapped files, however they are stored. Of a sparse
/// initializer only the values are compared. Returns: how many are the same.
/// Complexity: O(data) of initializers of equal name, and of those that have no partner.
template <class Report>
std::size_t compare_initializers(const wire_model& a, const wire_model& b, Report report) {
    detail::named_tensors first(a);
    detail::named_tensors second(b);
    std::size_t same = 0;
    // What only the second one has, by a hash of the content.
    std::multimap<std::uint64_t, std::size_t> by_content;
    std::vector<bool> is_new(second.size(), false);
    const auto hash = [](const tensor_content& content) {
        return hash_bytes(content.bytes(), hash_bytes(detail::type_text(content.header)));
    };
    for (std::size_t i = 0; i < second.size(); ++i) {
        if (first.find(second.name(i)) == first.size()) {
            is_new[i] = true;
            if (const auto content = second.content(i); content.readable) {
                by_content.emplace(hash(content), i);
            }
        }
    }
    for (std::size_t i = 0; i < first.size(); ++i) {
        initializer_difference found;
        found.name = first.name(i);
        const auto content = first.content(i);
        if (const auto partner = second.find(found.name); partner < second.size()) {
            const auto other = second.content(partner);
            found.change = detail::compare_contents(content, other);
            if (found.change == initializer_change::same) {
                ++same;
                continue;
            }
            found.text = detail::type_text(content.header);
            if (found.change == initializer_change::retyped) {
                found.text.append(" and ").append(detail::type_text(other.header));
            }
        } else {
            found.change = initializer_change::vanished;
            found.text = detail::type_text(content.header);
            const auto [begin, end] = by_content.equal_range(content.readable ? hash(content) : 0);
            for (auto it = begin; it != end; ++it) {
                if (detail::compare_contents(content, second.content(it->second)) ==
                    initializer_change::same) {
                    found.change = initializer_change::renamed;
                    found.other = second.name(it->second);
                    is_new[it->second] = false;
                    by_content.erase(it);
                    break;
                }
            }
        }
        report(found);
    }
    for (std::size_t i = 0; i < second.size(); ++i) {
        if (is_new[i]) {
            report(initializer_difference{initializer_change::appeared, second.name(i), "",
                                          detail::type_text(second.content(i).header)});
        }
    }
    return same;
}

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_COMPARE_INITIALIZERS_HPP

// <stemma/onnx/wire/compare_structure.hpp>
#ifndef STEMMA_ONNX_WIRE_COMPARE_STRUCTURE_HPP
#define STEMMA_ONNX_WIRE_COMPARE_STRUCTURE_HPP

namespace stemma {

/// The first thing in which the graphs of two models differ.
struct structure_difference {
    std::string text;  ///< what differs, in a sentence about the first model
    id first = no_id;  ///< the node of the first model; `no_id` when it is at none
    id second = no_id; ///< the node of the second one
};

namespace detail {

/// Walks two models in step and binds what has the same role.
class structure_comparer {
public:
    structure_comparer(const wire_model& a, const wire_model& b)
        : a_(a)
        , b_(b)
        , partner_(a.value_count(), no_id)
        , back_(b.value_count(), no_id)
        , graphs_(a.graph_count(), no_id) {}

    [[nodiscard]] std::optional<structure_difference> compare() {
        if (a_.graph(0).inputs.size() != b_.graph(0).inputs.size()) {
            return differ("has " + std::to_string(a_.graph(0).inputs.size()) +
                          " inputs, the other one " + std::to_string(b_.graph(0).inputs.size()));
        }
        bind_initializers();
        bind_graphs(0, 0);
        const auto shared = std::min(a_.node_count(), b_.node_count());
        for (id node = 0; node < shared; ++node) {
            if (auto text = compare_nodes(node); !text.empty()) {
                return structure_difference{std::move(text), node, node};
            }
        }
        if (a_.node_count() != b_.node_count()) {
            const bool more = a_.node_count() > shared;
            structure_difference found;
            found.text = std::string(more ? "goes on" : "ends") + " where the other one " +
                         (more ? "ends" : "goes on");
            (more ? found.first : found.second) = shared;
            return found;
        }
        return compare_outputs();
    }

private:
    [[nodiscard]] static std::optional<structure_difference> differ(std::string text) {
        return structure_difference{std::move(text), no_id, no_id};
    }

    /// Initializers have their names as their roles, where both models know the name.
    void bind_initializers() {
        std::unordered_map<std::string_view, id> by_name;
        for (auto value : b_.graph(0).initializers) {
            by_name.emplace(b_.value_name(value), value);
        }
        for (auto value : a_.graph(0).initializers) {
            if (const auto found = by_name.find(a_.value_name(value)); found != by_name.end()) {
                static_cast<void>(binds(value, found->second));
            }
        }
    }

    void bind_graphs(id a, id b) {
        graphs_[a] = b;
        const auto& from = a_.graph(a).inputs;
        const auto& to = b_.graph(b).inputs;
        for (std::size_t i = 0; i < std::min(from.size(), to.size()); ++i) {
            static_cast<void>(binds(from[i], to[i]));
        }
    }

    /// Returns: whether two values have the same role, now or from now on.
    [[nodiscard]] bool binds(id a, id b) {
        if (a == no_id || b == no_id) {
            return a == b;
        }
        if (partner_[a] == no_id && back_[b] == no_id && same_kind(a, b)) {
            partner_[a] = b;
            back_[b] = a;
        }
        return partner_[a] == b;
    }

    [[nodiscard]] bool same_kind(id a, id b) const {
        return a_.kind(a) == b_.kind(b) || (a_.is_initializer(a) && b_.is_initializer(b));
    }

    [[nodiscard]] std::string compare_nodes(id node) {
        if (a_.op_type(node) != b_.op_type(node) || a_.domain(node) != b_.domain(node) ||
            a_.overload(node) != b_.overload(node)) {
            return "is " + operator_text(a_, node) + ", the other one " + operator_text(b_, node);
        }
        if (auto text = compare_places(node); !text.empty()) {
            return text;
        }
        const auto from = a_.inputs(node);
        const auto to = b_.inputs(node);
        for (std::size_t i = 0; i < std::max(from.size(), to.size()); ++i) {
            const auto x = i < from.size() ? from[i] : no_id;
            const auto y = i < to.size() ? to[i] : no_id;
            if (!binds(x, y)) {
                return "reads " + value_text(a_, x) + " at input " + std::to_string(i) +
                       ", the other one " + value_text(b_, y);
            }
        }
        if (a_.output_count(node) != b_.output_count(node)) {
            return "makes " + std::to_string(a_.output_count(node)) + " values, the other one " +
                   std::to_string(b_.output_count(node));
        }
        for (id i = 0; i < a_.output_count(node); ++i) {
            const auto x = a_.first_output(node) + i;
            const auto y = b_.first_output(node) + i;
            if (a_.value_name(x).empty() != b_.value_name(y).empty() || !binds(x, y)) {
                return "makes another value at output " + std::to_string(i);
            }
        }
        return compare_attributes(node);
    }

    /// Nodes of bodies come before their owner, so what a body is part of is known only then.
    [[nodiscard]] std::string compare_places(id node) {
        const auto a = a_.graph_of(node);
        const auto b = b_.graph_of(node);
        if (graphs_[a] == no_id) {
            if (a_.graph_path(a) != b_.graph_path(b) ||
                a_.graph(a).inputs.size() != b_.graph(b).inputs.size()) {
                return "is in another graph";
            }
            bind_graphs(a, b);
        }
        return graphs_[a] == b && a_.position(node) == b_.position(node) ? std::string()
                                                                         : "is in another graph";
    }

    [[nodiscard]] static std::string operator_text(const wire_model& model, id node) {
        return model.domain(node).empty()
                   ? std::string(model.op_type(node))
                   : std::string(model.domain(node)) + "::" + std::string(model.op_type(node));
    }

    [[nodiscard]] static std::string value_text(const wire_model& model, id value) {
        if (value == no_id) {
            return "nothing";
        }
        return (model.is_initializer(value)              ? "initializer '"
                : model.kind(value) == value_kind::input ? "input '"
                                                         : "value '") +
               std::string(model.value_name(value)) + "'";
    }

    struct attribute {
        std::string_view name;
        std::string_view content; // "" where it holds graphs, which are compared node by node
    };

    /// Returns: the attributes of a node by name, without those that stemma wrote.
    [[nodiscard]] static std::vector<attribute> attributes_of(const wire_model& model, id node) {
        using at = onnx_fields::attribute;
        std::vector<attribute> found;
        auto fields = model.reader(model.message(node));
        for (wire_field field; fields.next(field);) {
            if (!field.is_bytes(onnx_fields::node::attribute) ||
                tag_edits::is_ours(fields.inner(field))) {
                continue;
            }
            attribute one{{}, fields.text(field)};
            auto parts = fields.inner(field);
            for (wire_field part; parts.next(part);) {
                if (part.is_bytes(at::name)) {
                    one.name = fields.text(part);
                } else if (part.is_bytes(at::g) || part.is_bytes(at::graphs)) {
                    one.content = {};
                }
            }
            found.push_back(one);
        }
        std::stable_sort(found.begin(), found.end(),
                         [](const auto& x, const auto& y) { return x.name < y.name; });
        return found;
    }

    [[nodiscard]] std::string compare_attributes(id node) const {
        const auto from = attributes_of(a_, node);
        const auto to = attributes_of(b_, node);
        for (std::size_t i = 0; i < std::max(from.size(), to.size()); ++i) {
            if (i == to.size() || (i < from.size() && from[i].name < to[i].name)) {
                return "has attribute '" + std::string(from[i].name) +
                       "', which the other one lacks";
            }
            if (i == from.size() || to[i].name < from[i].name) {
                return "lacks attribute '" + std::string(to[i].name) + "' of the other one";
            }
            if (from[i].content != to[i].content) {
                return "has another attribute '" + std::string(to[i].name) + "'";
            }
        }
        return {};
    }

    [[nodiscard]] std::optional<structure_difference> compare_outputs() {
        if (a_.graph_count() != b_.graph_count()) {
            return differ("has " + std::to_string(a_.graph_count()) +
                          " graphs and functions, the other one " +
                          std::to_string(b_.graph_count()));
        }
        for (id g = 0; g < a_.graph_count(); ++g) {
            // A graph without nodes was not met.
            const auto other = graphs_[g] == no_id ? g : graphs_[g];
            const auto& from = a_.graph(g).outputs;
            const auto& to = b_.graph(other).outputs;
            bool same = from.size() == to.size() && a_.graph(g).kind == b_.graph(other).kind;
            for (std::size_t i = 0; same && i < from.size(); ++i) {
                same = binds(from[i], to[i]);
            }
            if (!same) {
                const auto path = a_.graph_path(g);
                return differ("has other outputs" + (path.empty() ? "" : " of " + path));
            }
        }
        return std::nullopt;
    }

    const wire_model& a_;
    const wire_model& b_;
    std::vector<id> partner_; // by value of a: the value of b
    std::vector<id> back_;    // by value of b: the value of a
    std::vector<id> graphs_;  // by graph of a: the graph of b
};

} // namespace detail

/// Returns: the first difference between the graphs of two models: operators, order, wiring,
/// attributes, inputs and outputs. Nothing when they are the same but for the names of nodes and
/// values, for weights, types, metadata and documentation.
///
/// Equal initializers are those of equal name, where both models have the name; attributes are
/// equal when their bytes are. In models without a difference node i of one is node i of the other.
/// Complexity: O(nodes + values + bytes of attributes) expected.
[[nodiscard]] inline std::optional<structure_difference> compare_structure(const wire_model& a,
                                                                           const wire_model& b) {
    return detail::structure_comparer(a, b).compare();
}

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_COMPARE_STRUCTURE_HPP

// <stemma/onnx/wire/graph_extras.hpp>
#ifndef STEMMA_ONNX_WIRE_GRAPH_EXTRAS_HPP
#define STEMMA_ONNX_WIRE_GRAPH_EXTRAS_HPP

namespace stemma {

/// A TensorAnnotation: quantization parameters of a value, by the names of initializers.
struct tensor_annotation {
    message_ref message;                      ///< where it stands
    std::vector<std::string_view> parameters; ///< names of initializers: scale, zero point
};

/// What a GraphProto says beside nodes and values.
struct graph_extras {
    std::vector<std::pair<std::uint32_t, std::uint32_t>>
        fields; ///< [begin, end): name, docs, metadata
    std::unordered_map<std::string_view, tensor_annotation> annotations; ///< by value
    std::unordered_map<std::string_view, id> initializers; ///< by name; where there are annotations
};

/// Returns: by graph of a model; nothing for functions.
/// Complexity: O(fields of the graphs that are no nodes, values or tensors).
[[nodiscard]] inline std::vector<graph_extras> read_graph_extras(const wire_model& model) {
    using at = detail::onnx_fields::graph;
    using at_note = detail::onnx_fields::annotation;
    std::vector<graph_extras> result(model.graph_count());
    for (const auto& [field, g] : model.graph_fields()) {
        if (field.is_bytes(at::name) || field.is_bytes(at::doc_string) ||
            field.is_bytes(at::metadata_props)) {
            result[g].fields.emplace_back(field.begin, field.end);
        } else if (field.is_bytes(at::quantization_annotation)) {
            std::string_view value;
            tensor_annotation note{{field.content, field.size(), no_id}, {}};
            auto parts = model.reader(note.message);
            for (wire_field part; parts.next(part);) {
                if (part.is_bytes(at_note::tensor_name)) {
                    value = parts.text(part);
                } else if (part.is_bytes(at_note::parameters)) {
                    note.parameters.push_back(wire_model::read_entry(parts, part).second);
                }
            }
            result[g].annotations.emplace(value, std::move(note));
        }
    }
    for (id g = 0; g < model.graph_count(); ++g) {
        if (!result[g].annotations.empty()) {
            for (auto value : model.graph(g).initializers) {
                result[g].initializers.emplace(model.value_name(value), value);
            }
        }
    }
    return result;
}

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_GRAPH_EXTRAS_HPP

// <stemma/onnx/wire/value_renaming.hpp>
#ifndef STEMMA_ONNX_WIRE_VALUE_RENAMING_HPP
#define STEMMA_ONNX_WIRE_VALUE_RENAMING_HPP

namespace stemma {

/// Other names for some values of a graph, put into messages that speak of them.
class value_renaming {
public:
    /// Requires: nobody defines either name in a body of the graph.
    void add(std::string_view from, std::string to) { names_.emplace(from, std::move(to)); }

    /// Whether nothing has another name.
    [[nodiscard]] bool empty() const noexcept { return names_.empty(); }

    /// Returns: the new name, or `name`. Valid as long as this and `name`.
    [[nodiscard]] std::string_view operator()(std::string_view name) const {
        const auto found = names_.find(name);
        return found == names_.end() ? name : std::string_view(found->second);
    }

    /// Returns: the content of a NodeProto, which `fields` reads, with bodies.
    /// Complexity: O(bytes).
    [[nodiscard]] std::string node(wire_reader fields) const {
        using at = detail::onnx_fields::node;
        return rewritten(fields, [&](const wire_field& field, std::string& out) {
            if (field.is_bytes(at::input) || field.is_bytes(at::output)) {
                detail::append_field(field.number, (*this)(fields.text(field)), out);
            } else if (field.is_bytes(at::attribute)) {
                detail::append_field(field.number, attribute(fields.inner(field)), out);
            } else {
                return false;
            }
            return true;
        });
    }

    /// Returns: the content of a ValueInfoProto.
    [[nodiscard]] std::string value_info(wire_reader fields) const {
        return with_new_name(fields, detail::onnx_fields::value_info::name);
    }

    /// Returns: the content of a TensorProto.
    [[nodiscard]] std::string tensor(wire_reader fields) const {
        return with_new_name(fields, detail::onnx_fields::tensor::name);
    }

    /// Returns: the content of a TensorAnnotation.
    [[nodiscard]] std::string annotation(wire_reader fields) const {
        using at = detail::onnx_fields::annotation;
        return rewritten(fields, [&](const wire_field& field, std::string& out) {
            if (field.is_bytes(at::tensor_name)) {
                detail::append_field(field.number, (*this)(fields.text(field)), out);
            } else if (field.is_bytes(at::parameters)) {
                detail::append_field(field.number, with_new_name(fields.inner(field), 2), out);
            } else {
                return false;
            }
            return true;
        });
    }

private:
    /// Copies the fields that `rewrite(field, out)` leaves alone.
    template <class Function>
    [[nodiscard]] static std::string rewritten(wire_reader& fields, Function rewrite) {
        std::string out;
        for (wire_field field; fields.next(field);) {
            if (!rewrite(field, out)) {
                out.append(fields.whole(field));
            }
        }
        return out;
    }

    [[nodiscard]] std::string with_new_name(wire_reader fields, std::uint32_t number) const {
        return rewritten(fields, [&](const wire_field& field, std::string& out) {
            if (!field.is_bytes(number)) {
                return false;
            }
            detail::append_field(number, (*this)(fields.text(field)), out);
            return true;
        });
    }

    [[nodiscard]] std::string attribute(wire_reader fields) const {
        using at = detail::onnx_fields::attribute;
        return rewritten(fields, [&](const wire_field& field, std::string& out) {
            if (!field.is_bytes(at::g) && !field.is_bytes(at::graphs)) {
                return false;
            }
            detail::append_field(field.number, graph(fields.inner(field)), out);
            return true;
        });
    }

    [[nodiscard]] std::string graph(wire_reader fields) const {
        using at = detail::onnx_fields::graph;
        return rewritten(fields, [&](const wire_field& field, std::string& out) {
            if (field.is_bytes(at::node)) {
                detail::append_field(field.number, node(fields.inner(field)), out);
            } else if (field.is_bytes(at::output)) {
                detail::append_field(field.number, value_info(fields.inner(field)), out);
            } else {
                return false;
            }
            return true;
        });
    }

    std::map<std::string, std::string, std::less<>> names_;
};

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_VALUE_RENAMING_HPP

// <stemma/onnx/wire/value_types.hpp>
#ifndef STEMMA_ONNX_WIRE_VALUE_TYPES_HPP
#define STEMMA_ONNX_WIRE_VALUE_TYPES_HPP

namespace stemma {

/// The types of values: as the file declares them, and as somebody else adds them.
///
/// A type is the bytes of a TypeProto. While one thread adds types, others may ask for those of
/// values that have one.
class value_types {
public:
    /// Complexity: O(value infos + values).
    explicit value_types(const wire_model& model)
        : model_(&model)
        , declared_(model.value_count(), no_id)
        , added_(model.value_count(), nullptr) {
        const auto infos = model.value_infos();
        for (id i = 0; i < infos.size(); ++i) {
            if (infos[i].value != no_id && is_complete(type_in(infos[i]))) {
                declared_[infos[i].value] = i;
            }
        }
    }

    // Types point into the texts.
    value_types(const value_types&) = delete;
    value_types& operator=(const value_types&) = delete;

    /// Returns: the ValueInfoProto that declares a value with a complete type, if there is one.
    [[nodiscard]] std::optional<message_ref> declaration(id value) const {
        return declared_[value] == no_id
                   ? std::nullopt
                   : std::optional(model_->value_infos()[declared_[value]].message);
    }

    /// Adds what inference, or a capture, says of a value; what was added first counts.
    void add(id value, std::string type) {
        if (added_[value] == nullptr && is_complete(type)) {
            added_[value] = &texts_.emplace_back(std::move(type));
        }
    }

    /// Whether the type of a value is known, as `type_of` says it.
    [[nodiscard]] bool has_type(id value) const {
        return declared_[value] != no_id || added_[value] != nullptr;
    }

    /// Returns: the type of a value; nothing when element type or rank is unknown.
    [[nodiscard]] std::optional<std::string_view> type_of(id value) const {
        if (declared_[value] != no_id) {
            return type_in(model_->value_infos()[declared_[value]]);
        }
        return added_[value] == nullptr ? std::nullopt
                                        : std::optional<std::string_view>(*added_[value]);
    }

    /// Whether a TypeProto says enough: element type and rank of a tensor, or any sequence, map or
    /// optional.
    /// Complexity: O(fields).
    [[nodiscard]] static bool is_complete(std::string_view type) {
        // TypeProto: tensor_type 1 (elem_type 1, shape 2), sequence 4, map 5, sparse 8, optional 9.
        constexpr std::uint32_t tensor = 1;
        constexpr std::uint32_t sparse = 8;
        wire_reader fields(type.data(), 0, static_cast<std::uint32_t>(type.size()), "type");
        bool complete = false;
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(tensor) || field.is_bytes(sparse)) {
                bool typed = false;
                bool ranked = false;
                auto parts = fields.inner(field);
                for (wire_field part; parts.next(part);) {
                    typed = typed || (part.is(1, wire_type::varint) && part.value != 0);
                    ranked = ranked || part.is_bytes(2);
                }
                complete = typed && ranked;
            } else if (field.is_bytes(4) || field.is_bytes(5) || field.is_bytes(9)) {
                complete = true;
            }
        }
        return complete;
    }

private:
    [[nodiscard]] std::string_view type_in(const value_info_ref& info) const {
        std::string_view type;
        auto fields = model_->reader(info.message);
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(detail::onnx_fields::value_info::type)) {
                type = fields.text(field);
            }
        }
        return type;
    }

    const wire_model* model_;
    std::vector<id> declared_;              // by value: place among the value infos
    std::vector<const std::string*> added_; // by value
    std::deque<std::string> texts_;         // stay where they are
};

/// Returns: the TypeProto of a tensor with an element type and extents. Complexity: O(rank).
[[nodiscard]] inline std::string tensor_type(const tensor_header& header) {
    std::string shape;
    for (auto dim : header.dims) {
        std::string extent;
        detail::append_number(1, dim, extent); // dim_value
        detail::append_field(1, extent, shape);
    }
    std::string tensor;
    detail::append_number(1, header.data_type, tensor); // elem_type
    detail::append_field(2, shape, tensor);
    std::string type;
    detail::append_field(1, tensor, type);
    return type;
}

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_VALUE_TYPES_HPP

// <stemma/onnx/wire/weight_store.hpp>
#ifndef STEMMA_ONNX_WIRE_WEIGHT_STORE_HPP
#define STEMMA_ONNX_WIRE_WEIGHT_STORE_HPP

namespace stemma {

/// One file with the data of tensors that several models share: each tensor is written once.
///
/// Several threads may add tensors and ask for them. They stand in the order in which they were
/// added first.
class weight_store {
public:
    /// Where a tensor's data stand in the file.
    struct place {
        std::uint64_t offset = 0; ///< in the store, a multiple of the alignment
        std::uint64_t length = 0; ///< bytes
        std::uint64_t from = 0;   ///< where they are in the file they come from
    };

    /// `source` is the file of the model; `location` is how the models call the store. What is in
    /// other files stays there unless the store takes it too.
    weight_store(const wire_model& model, const mapped_file& source, std::string location,
                 bool takes_external = true)
        : model_(&model)
        , source_(&source)
        , location_(std::move(location))
        , takes_external_(takes_external) {}

    /// Whether data of other files are taken into the store.
    [[nodiscard]] bool takes_external() const noexcept { return takes_external_; }

    /// Returns: how the models call the store, relative to their folder.
    [[nodiscard]] const std::string& location() const noexcept { return location_; }

    /// Whether nothing was added, so that no file is needed.
    [[nodiscard]] bool empty() const noexcept { return pieces_.empty(); }

    /// Returns: where the data of tensor number `tensor`, which are the bytes [begin, begin + size)
    /// of the model's file, will be.
    place add_inline(std::size_t tensor, std::uint32_t begin, std::uint32_t size) {
        return add(tensor, {"", begin, size});
    }

    /// Returns: where the data of tensor number `tensor` will be, which are in another file now.
    /// Throws: `error` for a location outside of the model's folder, or data beyond a file's end.
    place add_external(std::size_t tensor, const tensor_header& header) {
        if (const auto known = find(tensor)) {
            return *known;
        }
        const auto& file = external_file(header.location);
        const auto size = file.bytes().size();
        const auto length = header.length != 0      ? header.length
                            : header.offset <= size ? size - header.offset
                                                    : 0;
        if (header.offset > size || length > size - header.offset) {
            STEMMA_THROW(error(error_code::malformed, file.path(), "",
                               "ends before the data of tensor " + std::to_string(tensor)));
        }
        return add(tensor, {std::string(header.location), header.offset, length});
    }

    /// Returns: where the data of tensor number `tensor` will be, if they were added.
    [[nodiscard]] std::optional<place> find(std::size_t tensor) const {
        const std::lock_guard lock(mutex_);
        const auto known = placed_.find(tensor);
        return known == placed_.end() ? std::nullopt : std::optional(known->second);
    }

    /// Writes all data to `path`.
    /// Complexity: O(bytes), from file to file.
    void write(const std::string& path, bool sync) const {
        output_file output(path);
        std::uint64_t at = 0;
        for (const auto& p : pieces_) {
            output.write(std::string(p.at - at, '\0'));
            const auto& from = p.from.file.empty() ? *source_ : *files_.at(p.from.file);
            output.copy(from, p.from.offset, p.from.length);
            at = p.at + p.from.length;
        }
        output.commit(sync);
    }

private:
    // Page-aligned data can be mapped by runtimes; 64 bytes are enough for vector loads.
    static constexpr std::uint64_t alignment = 64;

    struct origin {
        std::string file; // "" for the model's own
        std::uint64_t offset = 0;
        std::uint64_t length = 0;
    };

    struct piece {
        origin from;
        std::uint64_t at = 0;
    };

    place add(std::size_t tensor, origin from) {
        const std::lock_guard lock(mutex_);
        const auto known = placed_.find(tensor);
        if (known != placed_.end()) {
            return known->second;
        }
        const auto at = (end_ + alignment - 1) / alignment * alignment;
        end_ = at + from.length;
        const place made{at, from.length, from.offset};
        pieces_.push_back({std::move(from), at});
        placed_.emplace(tensor, made);
        return made;
    }

    const mapped_file& external_file(std::string_view location) {
        const std::lock_guard lock(mutex_);
        auto& file = files_[std::string(location)];
        if (!file) {
            if (!is_inside_folder(location)) {
                STEMMA_THROW(
                    error(error_code::malformed, model_->file(), "external data",
                          "'" + std::string(location) + "' is outside of the model's folder"));
            }
            const auto path = std::filesystem::path(model_->file()).parent_path() / location;
            file = std::make_unique<mapped_file>(path.string());
        }
        return *file;
    }

    const wire_model* model_;
    const mapped_file* source_;
    std::string location_;
    bool takes_external_;
    mutable std::mutex mutex_;
    std::map<std::string, std::unique_ptr<mapped_file>> files_;
    std::unordered_map<std::size_t, place> placed_;
    std::vector<piece> pieces_;
    std::uint64_t end_ = 0;
};

/// Adds the data of tensor number `tensor` of `model` to the store, unless it has no raw data or
/// fewer bytes of them than `least`, or the store does not take them.
/// Returns: where they will be. Complexity: O(fields).
inline std::optional<weight_store::place> place_in_store(const wire_model& model, id tensor,
                                                         weight_store& store,
                                                         std::uint32_t least = 1024) {
    using at = detail::onnx_fields::tensor;
    const auto& found = model.tensors()[tensor];
    bool external = false;
    wire_field data; // of a field that is given twice the last one counts
    auto fields = model.reader(found.message);
    for (wire_field field; fields.next(field);) {
        if (field.is_bytes(at::raw_data)) {
            data = field;
        } else if (field.is(at::data_location, wire_type::varint)) {
            external = field.value == 1;
        }
    }
    if (external) {
        return store.takes_external()
                   ? std::optional(store.add_external(tensor, read_tensor_header(model, found)))
                   : std::nullopt;
    }
    return data.size() >= least ? std::optional(store.add_inline(tensor, data.content, data.size()))
                                : std::nullopt;
}

/// Returns: tensor number `tensor` of `model` with its data in the store; nothing when it has no
/// raw data, or fewer bytes of them than `least`. Complexity: O(fields).
[[nodiscard]] inline std::optional<byte_rope>
stored_tensor(const wire_model& model, id tensor, weight_store& store, std::uint32_t least = 1024) {
    using at = detail::onnx_fields::tensor;
    const auto place = place_in_store(model, tensor, store, least);
    if (!place) {
        return std::nullopt;
    }
    byte_rope kept;
    auto fields = model.reader(model.tensors()[tensor].message);
    for (wire_field field; fields.next(field);) {
        if (!field.is_bytes(at::raw_data) && field.number != at::external_data &&
            field.number != at::data_location) {
            kept.add_range(field.begin, field.end - field.begin);
        }
    }
    std::string entries;
    const auto add = [&](std::string_view key, std::string_view value) {
        detail::append_entry(at::external_data, key, value, entries);
    };
    add("location", store.location());
    add("offset", std::to_string(place->offset));
    add("length", std::to_string(place->length));
    detail::append_number(at::data_location, 1, entries); // EXTERNAL
    kept.add_text(entries);
    return kept;
}

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_WEIGHT_STORE_HPP

// <stemma/onnx/wire/cut_model.hpp>
#ifndef STEMMA_ONNX_WIRE_CUT_MODEL_HPP
#define STEMMA_ONNX_WIRE_CUT_MODEL_HPP

namespace stemma {

/// What the model's metadata of a part say of where it was cut out.
inline constexpr std::string_view cut_key = "pkg.stemma.cut";

/// Writes parts of one model as models of their own: nodes, weights and everything else as bytes of
/// the source, in the same order; new are the inputs and outputs. Copies share what they look up,
/// and each thread can build with a copy of its own.
template <cut_policy Policy = standard_cut>
class cut_writer {
public:
    /// Requires: all outlive the writer. Complexity: O(nodes + values + graphs).
    cut_writer(const wire_model& model, const graph_contents& contents, const value_types& types,
               Policy policy = {})
        : model_(model)
        , contents_(contents)
        , types_(types)
        , policy_(std::move(policy))
        , tables_(std::make_shared<const tables>(model)) {
        if (const auto text = find_model_metadata(model, model_key)) {
            record_ = read_model_record(*text, model.file());
            digester_.emplace(model);
        }
    }

    /// Decides where weights of a part go in a store: parts that are built afterwards, in whatever
    /// order, find them there. Complexity: O(fields of the initializers).
    void place_weights(const cut_plan& plan, weight_store& store) const {
        const auto& extras = tables_->extras[plan.graph];
        for (auto value : with_annotated(plan.initializers, annotations_of(plan, extras), extras)) {
            const auto number = tables_->tensor_of[value];
            if (!model_.tensors()[number].sparse) {
                place_in_store(model_, number, store);
            }
        }
    }

    /// Makes the bytes of a part.
    ///
    /// `origin` is what the metadata entry `key` says. Weights of at least a kibibyte go to
    /// `store`, if there is one; else they stay in the model, or in the files where they are.
    /// Requires: no refusal in the plan, and every value at the boundary has a type.
    /// Complexity: O(bytes that are not weights).
    [[nodiscard]] byte_rope build(const cut_plan& plan, std::string_view origin,
                                  weight_store* store = nullptr, std::string_view key = cut_key) {
        rename(plan);
        const auto graph = build_graph(plan, store);
        byte_rope result;
        auto fields = model_.reader();
        bool graph_written = false;
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(at_model::graph)) {
                if (!std::exchange(graph_written, true)) {
                    result.add_field(at_model::graph, graph);
                }
            } else if (keeps(plan, fields, field)) {
                result.add_range(field.begin, field.end - field.begin);
            }
        }
        add_function_opsets(plan, result);
        result.add_entry(at_model::metadata_props, key, origin);
        if (record_) {
            result.add_entry(at_model::metadata_props, model_key, record_of(plan));
        }
        return result;
    }

private:
    using at_model = detail::onnx_fields::model;
    using at_function = detail::onnx_fields::function;
    using at_graph = detail::onnx_fields::graph;
    using at_info = detail::onnx_fields::value_info;

    /// What is looked up of the model.
    struct tables {
        explicit tables(const wire_model& model)
            : tensor_of(model.value_count(), no_id), extras(read_graph_extras(model)) {
            const auto tensors = model.tensors();
            for (id i = 0; i < tensors.size(); ++i) {
                tensor_of[tensors[i].value] = i;
            }
            for (const auto& container : model.containers()) {
                const auto& graph = model.graph(container.graph);
                if (container.parent == no_id && container.owner == no_id) {
                    roots.emplace(container.begin, container.graph);
                    if (graph.kind == graph_kind::function) {
                        function_at.emplace(container.begin, graph.function);
                    }
                }
            }
        }

        std::vector<id> tensor_of; // by value
        std::vector<graph_extras> extras;
        std::map<std::uint32_t, id> roots;                 // graphs in the model, by position
        std::unordered_map<std::uint32_t, id> function_at; // by position
    };

    [[nodiscard]] std::string_view bytes() const noexcept { return model_.bytes(); }

    [[nodiscard]] bool is_in_function(const cut_plan& plan) const {
        return model_.graph(contents_.root(plan.graph)).kind == graph_kind::function;
    }

    /// Whether a field of the model goes along as it stands.
    [[nodiscard]] bool keeps(const cut_plan& plan, const wire_reader& fields,
                             const wire_field& field) const {
        if (field.is_bytes(at_model::functions)) {
            const auto f = tables_->function_at.find(field.content);
            return f != tables_->function_at.end() &&
                   std::binary_search(plan.functions.begin(), plan.functions.end(), f->second);
        }
        if (field.is_bytes(at_model::metadata_props)) {
            return !wire_model::read_entry(fields, field).first.starts_with(key_prefix);
        }
        return !field.is_bytes(at_model::training_info);
    }

    /// In a function, operators have the versions that it imports. Of two imports of one domain the
    /// last one counts.
    void add_function_opsets(const cut_plan& plan, byte_rope& out) const {
        if (!is_in_function(plan)) {
            return;
        }
        for (const auto& container : model_.containers()) {
            if (container.graph != contents_.root(plan.graph) || container.parent != no_id ||
                container.owner != no_id) {
                continue;
            }
            auto fields = model_.reader({container.begin, container.size, no_id});
            for (wire_field field; fields.next(field);) {
                if (field.is_bytes(at_function::opset_import)) {
                    out.add_field(at_model::opset_import, fields.text(field));
                }
            }
        }
    }

    /// The record of a tagged model, for the nodes of a part, in the order they will be read.
    [[nodiscard]] std::string record_of(const cut_plan& plan) {
        std::vector<id> nodes;
        const auto append = [&](auto& self, id node) -> void {
            for (auto inside : contents_.inner_nodes(node)) {
                self(self, inside);
            }
            nodes.push_back(node);
        };
        bool graph_done = false;
        for (const auto& [begin, g] : tables_->roots) {
            if (model_.graph(g).kind == graph_kind::main) {
                if (!std::exchange(graph_done, true)) {
                    for (auto node : plan.nodes) {
                        append(append, node);
                    }
                }
            } else if (std::binary_search(plan.functions.begin(), plan.functions.end(),
                                          model_.graph(g).function)) {
                const auto inside = contents_.nodes(g);
                nodes.insert(nodes.end(), inside.begin(), inside.end());
            }
        }
        record_->nodes = nodes.size();
        record_->digest = (*digester_)(nodes);
        auto all = std::exchange(record_->claims,
                                 claims_about(record_->claims, nodes, model_.node_count()));
        auto text = to_json(*record_, record_->modules);
        record_->claims = std::move(all);
        return text;
    }

    void rename(const cut_plan& plan) {
        renaming_ = {};
        for (const auto* values : {&plan.inputs, &plan.outputs}) {
            for (auto value : *values) {
                const auto name = model_.value_name(value);
                auto other = policy_.boundary_name(name);
                if (other != name) {
                    renaming_.add(name, std::move(other));
                }
            }
        }
    }

    [[nodiscard]] byte_rope build_graph(const cut_plan& plan, weight_store* store) {
        byte_rope graph;
        for (auto node : plan.nodes) {
            add_message(at_graph::node, model_.message(node), graph,
                        [&](wire_reader fields) { return renaming_.node(fields); });
        }
        const auto& extras = tables_->extras[plan.graph];
        for (const auto& [begin, end] : extras.fields) {
            graph.add_range(begin, end - begin);
        }
        if (is_in_function(plan) && extras.fields.empty()) {
            const auto& function = model_.graph(contents_.root(plan.graph)).function;
            graph.add_field(at_graph::name, model_.text(model_.functions()[function].name));
        }
        const auto notes = annotations_of(plan, extras);
        const auto initializers = with_annotated(plan.initializers, notes, extras);
        for (auto value : initializers) {
            add_initializer(value, store, graph);
        }
        for (auto value : plan.inputs) {
            add_boundary(value, at_graph::input, graph);
        }
        if (model_.ir_version() < 4) {
            for (auto value : initializers) {
                add_initializer_input(value, graph);
            }
        }
        for (auto value : plan.outputs) {
            add_boundary(value, at_graph::output, graph);
        }
        add_value_infos(plan, graph);
        for (const auto* note : notes) {
            add_message(at_graph::quantization_annotation, note->message, graph,
                        [&](wire_reader fields) { return renaming_.annotation(fields); });
        }
        return graph;
    }

    /// Appends a message as it stands, or as `renamed(reader)` makes it where names change.
    template <class Renamed>
    void add_message(std::uint32_t field, message_ref message, byte_rope& out,
                     Renamed renamed) const {
        if (renaming_.empty()) {
            out.add_message(bytes(), field, message.begin, message.size);
        } else {
            out.add_field(field, renamed(model_.reader(message)));
        }
    }

    void add_boundary(id value, std::uint32_t field, byte_rope& graph) {
        if (const auto declared = types_.declaration(value)) {
            add_message(field, *declared, graph,
                        [&](wire_reader fields) { return renaming_.value_info(fields); });
            return;
        }
        std::string info;
        detail::append_field(at_info::name, renaming_(model_.value_name(value)), info);
        if (const auto type = types_.type_of(value)) {
            detail::append_field(at_info::type, *type, info);
        }
        graph.add_field(field, info);
    }

    void add_initializer_input(id value, byte_rope& graph) {
        std::string info;
        detail::append_field(at_info::name, model_.value_name(value), info);
        const auto header = read_tensor_header(model_, model_.tensors()[tables_->tensor_of[value]]);
        detail::append_field(at_info::type, tensor_type(header), info);
        graph.add_field(at_graph::input, info);
    }

    void add_value_infos(const cut_plan& plan, byte_rope& graph) const {
        const std::unordered_set<id> outputs(plan.outputs.begin(), plan.outputs.end());
        for_each_output(plan, [&](id value) {
            const auto declared = types_.declaration(value);
            if (declared && !outputs.contains(value)) {
                graph.add_message(bytes(), at_graph::value_info, declared->begin, declared->size);
            }
        });
    }

    template <class Function>
    void for_each_output(const cut_plan& plan, Function f) const {
        for (auto node : plan.nodes) {
            for (id i = 0; i < model_.output_count(node); ++i) {
                f(model_.first_output(node) + i);
            }
        }
    }

    [[nodiscard]] std::vector<const tensor_annotation*>
    annotations_of(const cut_plan& plan, const graph_extras& extras) const {
        std::vector<const tensor_annotation*> found;
        if (extras.annotations.empty()) {
            return found;
        }
        const auto look = [&](id value) {
            const auto note = extras.annotations.find(model_.value_name(value));
            if (note != extras.annotations.end()) {
                found.push_back(&note->second);
            }
        };
        std::for_each(plan.inputs.begin(), plan.inputs.end(), look);
        std::for_each(plan.initializers.begin(), plan.initializers.end(), look);
        for_each_output(plan, look);
        return found;
    }

    /// Returns: these initializers, and the ones that only an annotation speaks of.
    [[nodiscard]] static std::vector<id>
    with_annotated(std::vector<id> initializers, std::span<const tensor_annotation* const> notes,
                   const graph_extras& extras) {
        std::unordered_set<id> known(initializers.begin(), initializers.end());
        for (const auto* note : notes) {
            for (auto name : note->parameters) {
                const auto value = extras.initializers.find(name);
                if (value != extras.initializers.end() && known.insert(value->second).second) {
                    initializers.push_back(value->second);
                }
            }
        }
        return initializers;
    }

    void add_initializer(id value, weight_store* store, byte_rope& graph) {
        const auto number = tables_->tensor_of[value];
        const auto& tensor = model_.tensors()[number];
        if (tensor.sparse) {
            const auto& outer = model_.containers()[tensor.message.container];
            graph.add_message(bytes(), at_graph::sparse_initializer, outer.begin, outer.size);
            return;
        }
        if (store != nullptr) {
            if (const auto stored = stored_tensor(model_, number, *store)) {
                graph.add_field(at_graph::initializer, *stored);
                return;
            }
        }
        graph.add_message(bytes(), at_graph::initializer, tensor.message.begin,
                          tensor.message.size);
    }

    const wire_model& model_;
    const graph_contents& contents_;
    const value_types& types_;
    Policy policy_;
    std::shared_ptr<const tables> tables_;
    std::optional<recorded_model> record_;
    std::optional<structure_digester> digester_;
    value_renaming renaming_; // of values at the boundary
};

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_CUT_MODEL_HPP

// <stemma/onnx/wire/node_attributes.hpp>
#ifndef STEMMA_ONNX_WIRE_NODE_ATTRIBUTES_HPP
#define STEMMA_ONNX_WIRE_NODE_ATTRIBUTES_HPP

namespace stemma {

/// A small tensor of whole numbers, as shapes and axes are written.
struct whole_numbers {
    std::vector<std::int64_t> dims;   ///< as written; negative ones are possible
    std::int64_t data_type = 0;       ///< number in TensorProto.DataType
    std::vector<std::int64_t> values; ///< in row-major order; empty unless they are `known`
    bool known = false; ///< the values were read: they are few, inside the file, and whole numbers
};

/// Reads a tensor of at most so many whole numbers; of others, type and dims.
/// Complexity: O(fields + values).
[[nodiscard]] inline whole_numbers read_whole_numbers(wire_reader fields,
                                                      std::size_t max_values = 64) {
    using at = detail::onnx_fields::tensor;
    whole_numbers tensor;
    std::string_view raw;
    std::vector<std::int64_t> typed; // int32_data (5) or int64_data (7)
    bool elsewhere = false;
    for (wire_field field; fields.next(field);) {
        if (field.number == at::dims &&
            (field.type == wire_type::varint || field.type == wire_type::bytes)) {
            detail::read_dims(fields, field, tensor.dims);
        } else if (field.is(at::data_type, wire_type::varint)) {
            tensor.data_type = static_cast<std::int64_t>(field.value);
        } else if (field.is_bytes(at::raw_data)) {
            raw = fields.text(field);
        } else if ((field.number == 5 || field.number == 7) && field.size() <= 16 * max_values) {
            detail::read_dims(fields, field, typed);
        } else if (field.is(at::data_location, wire_type::varint)) {
            elsewhere = field.value == 1;
        }
    }
    constexpr std::int64_t int32 = 6;
    constexpr std::int64_t int64 = 7;
    constexpr std::int64_t boolean = 9;
    const std::size_t width = tensor.data_type == int64     ? 8
                              : tensor.data_type == int32   ? 4
                              : tensor.data_type == boolean ? 1
                                                            : 0;
    std::size_t count = 1;
    for (auto dim : tensor.dims) {
        const auto extent = static_cast<std::size_t>(dim); // of a negative one: too large
        count = count > max_values || extent > max_values ? max_values + 1 : count * extent;
    }
    if (width == 0 || count > max_values || elsewhere) {
        return tensor;
    }
    if (raw.size() == count * width) {
        for (std::size_t i = 0; i < count; ++i) {
            std::int64_t value = 0;
            if (width == 8) {
                std::memcpy(&value, raw.data() + i * width, 8);
            } else if (width == 4) {
                std::int32_t narrow = 0;
                std::memcpy(&narrow, raw.data() + i * width, 4);
                value = narrow;
            } else {
                value = static_cast<unsigned char>(raw[i]);
            }
            tensor.values.push_back(value);
        }
        tensor.known = true;
    } else if (raw.empty() && typed.size() == count) {
        tensor.values = std::move(typed);
        tensor.known = true;
    }
    return tensor;
}

/// Reads attributes of one node by name.
class node_attributes {
public:
    /// Requires: `model` outlives this. Complexity: every look-up passes over the fields of the
    /// node.
    node_attributes(const wire_model& model, id node)
        : fields_(model.reader(model.message(node))) {}

    /// Returns: an attribute of type INT.
    [[nodiscard]] std::optional<std::int64_t> whole(std::string_view name) const {
        std::optional<std::int64_t> found;
        with(name, [&](const wire_reader&, const wire_field& part) {
            if (part.is(3, wire_type::varint)) {
                found = static_cast<std::int64_t>(part.value);
            }
        });
        return found;
    }

    /// Returns: an attribute of type INTS; nothing when the node has none of the name.
    [[nodiscard]] std::optional<std::vector<std::int64_t>> wholes(std::string_view name) const {
        std::optional<std::vector<std::int64_t>> found;
        with(name, [&](const wire_reader& parts, const wire_field& part) {
            if (!found) {
                found.emplace();
            }
            if (part.number == 8) {
                detail::read_dims(parts, part, *found);
            }
        });
        return found;
    }

    /// Returns: an attribute of type STRING.
    [[nodiscard]] std::string_view text(std::string_view name) const {
        std::string_view found;
        with(name, [&](const wire_reader& parts, const wire_field& part) {
            if (part.is_bytes(detail::onnx_fields::attribute::s)) {
                found = parts.text(part);
            }
        });
        return found;
    }

    /// Returns: an attribute of type TENSOR.
    [[nodiscard]] std::optional<whole_numbers> tensor(std::string_view name) const {
        std::optional<whole_numbers> found;
        with(name, [&](const wire_reader& parts, const wire_field& part) {
            if (part.is_bytes(detail::onnx_fields::attribute::t)) {
                found = read_whole_numbers(parts.inner(part));
            }
        });
        return found;
    }

    /// Calls `f(name, attribute)` with a reader of every attribute. Complexity: O(fields).
    template <class Function>
    void for_each(Function f) const {
        auto fields = fields_;
        for (wire_field field; fields.next(field);) {
            if (!field.is_bytes(detail::onnx_fields::node::attribute)) {
                continue;
            }
            std::string_view name;
            auto parts = fields.inner(field);
            for (wire_field part; parts.next(part);) {
                if (part.is_bytes(detail::onnx_fields::attribute::name)) {
                    name = parts.text(part);
                }
            }
            f(name, fields.inner(field));
        }
    }

    /// Whether some attribute takes its value from the function the node is in.
    /// Complexity: O(fields).
    [[nodiscard]] bool has_reference() const {
        bool found = false;
        for_each([&](std::string_view, wire_reader attribute) {
            for (wire_field part; attribute.next(part);) {
                found = found || (part.is_bytes(detail::onnx_fields::attribute::ref_attr_name) &&
                                  part.size() > 0);
            }
        });
        return found;
    }

private:
    template <class Function>
    void with(std::string_view wanted, Function f) const {
        for_each([&](std::string_view name, wire_reader attribute) {
            if (name == wanted) {
                for (wire_field part; attribute.next(part);) {
                    f(attribute, part);
                }
            }
        });
    }

    wire_reader fields_;
};

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_NODE_ATTRIBUTES_HPP

// <stemma/onnx/wire/cut_obstacles.hpp>
#ifndef STEMMA_ONNX_WIRE_CUT_OBSTACLES_HPP
#define STEMMA_ONNX_WIRE_CUT_OBSTACLES_HPP

namespace stemma {

/// Finds a value at the boundary of a plan whose type or rank is not known.
/// Complexity: a look-up for each value at the boundary.
[[nodiscard]] inline std::optional<id> find_untyped(const cut_plan& plan,
                                                    const value_types& types) {
    for (const auto* values : {&plan.inputs, &plan.outputs}) {
        for (auto value : *values) {
            if (!types.has_type(value)) {
                return value;
            }
        }
    }
    return std::nullopt;
}

/// Finds a node of a plan, or in a body of one, with an attribute whose value only a call of the
/// function around it would bind.
/// Complexity: O(fields of the nodes).
[[nodiscard]] inline std::optional<id> find_unbound(const cut_plan& plan, const wire_model& model,
                                                    const graph_contents& contents) {
    if (model.graph(contents.root(plan.graph)).kind != graph_kind::function) {
        return std::nullopt;
    }
    const auto find = [&](auto& self, id node) -> std::optional<id> {
        if (node_attributes(model, node).has_reference()) {
            return node;
        }
        for (auto inside : contents.inner_nodes(node)) {
            if (const auto found = self(self, inside)) {
                return found;
            }
        }
        return std::nullopt;
    };
    for (auto node : plan.nodes) {
        if (const auto found = find(find, node)) {
            return found;
        }
    }
    return std::nullopt;
}

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_CUT_OBSTACLES_HPP

// <stemma/onnx/wire/described_type.hpp>
#ifndef STEMMA_ONNX_WIRE_DESCRIBED_TYPE_HPP
#define STEMMA_ONNX_WIRE_DESCRIBED_TYPE_HPP

namespace stemma {

/// A type as people read it.
struct described_type {
    /// An extent of a tensor, or what the file calls it; -1 when it says nothing.
    using extent = std::variant<std::int64_t, std::string>;

    std::string name;          ///< `float32`, `sparse(float32)`, `sequence(int64)`, ...
    std::vector<extent> shape; ///< of a tensor
    bool has_shape = false;    ///< whether the rank is known
};

namespace detail {

/// Deep types are no use to anybody, and a hostile file must not exhaust the stack.
inline constexpr int deepest_type = 32;

[[nodiscard]] inline described_type::extent read_extent(wire_reader fields) {
    described_type::extent extent = std::int64_t{-1};
    for (wire_field field; fields.next(field);) {
        if (field.is(1, wire_type::varint)) {
            extent = static_cast<std::int64_t>(field.value);
        } else if (field.is_bytes(2) && field.size() > 0) {
            extent = std::string(fields.text(field));
        }
    }
    return extent;
}

inline void describe_tensor(wire_reader fields, described_type& type) {
    for (wire_field field; fields.next(field);) {
        if (field.is(1, wire_type::varint)) {
            type.name = data_type_name(static_cast<std::int64_t>(field.value));
        } else if (field.is_bytes(2)) {
            type.has_shape = true;
            auto dims = fields.inner(field);
            for (wire_field dim; dims.next(dim);) {
                if (dim.is_bytes(1)) {
                    type.shape.push_back(read_extent(dims.inner(dim)));
                }
            }
        }
    }
}

[[nodiscard]] inline described_type describe_type(wire_reader fields, int depth) {
    // TypeProto: tensor_type 1, sequence_type 4 (elem_type 1), map_type 5 (key_type 1,
    // value_type 2), sparse_tensor_type 8, optional_type 9 (elem_type 1).
    described_type type;
    const auto inner_name = [&](wire_reader parts, std::uint32_t number) {
        std::string name = "?";
        for (wire_field part; parts.next(part);) {
            if (part.is_bytes(number) && depth < deepest_type) {
                name = describe_type(parts.inner(part), depth + 1).name;
            }
        }
        return name;
    };
    for (wire_field field; fields.next(field);) {
        if (field.is_bytes(1)) {
            describe_tensor(fields.inner(field), type);
        } else if (field.is_bytes(8)) {
            describe_tensor(fields.inner(field), type);
            type.name = "sparse(" + type.name + ")";
        } else if (field.is_bytes(4)) {
            type.name = "sequence(" + inner_name(fields.inner(field), 1) + ")";
        } else if (field.is_bytes(9)) {
            type.name = "optional(" + inner_name(fields.inner(field), 1) + ")";
        } else if (field.is_bytes(5)) {
            auto parts = fields.inner(field);
            std::string key = "?";
            for (wire_field part; parts.next(part);) {
                if (part.is(1, wire_type::varint)) {
                    key = data_type_name(static_cast<std::int64_t>(part.value));
                }
            }
            type.name = "map(" + key + "," + inner_name(fields.inner(field), 2) + ")";
        }
    }
    return type;
}

} // namespace detail

/// Reads the bytes of a TypeProto.
/// Returns: what it says; a name of "" when it says nothing.
/// Throws: `error` of `malformed`. Complexity: O(bytes).
[[nodiscard]] inline described_type describe_type(std::string_view type) {
    return detail::describe_type(
        wire_reader(type.data(), 0, static_cast<std::uint32_t>(type.size()), "type"), 0);
}

/// Returns: `float32[1,8,hidden,?]`; without the brackets when the rank is not known.
/// Complexity: O(rank).
[[nodiscard]] inline std::string to_text(const described_type& type) {
    std::string text = type.name;
    if (!type.has_shape) {
        return text;
    }
    text.push_back('[');
    for (std::size_t i = 0; i < type.shape.size(); ++i) {
        text.append(i == 0 ? "" : ",");
        if (const auto* number = std::get_if<std::int64_t>(&type.shape[i])) {
            text.append(*number < 0 ? "?" : std::to_string(*number));
        } else {
            text.append(std::get<std::string>(type.shape[i]));
        }
    }
    text.push_back(']');
    return text;
}

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_DESCRIBED_TYPE_HPP

// <stemma/onnx/wire/split_folder.hpp>
#ifndef STEMMA_ONNX_WIRE_SPLIT_FOLDER_HPP
#define STEMMA_ONNX_WIRE_SPLIT_FOLDER_HPP

namespace stemma {

/// The name of the manifest in the folder of a split model.
inline constexpr std::string_view split_manifest_name = "split.json";

/// The files of a split model, opened. Does not move, as its parts refer to each other.
class split_folder {
public:
    /// A file of the folder that holds a model.
    struct model_file {
        std::unique_ptr<mapped_file> file; ///< mapped
        std::unique_ptr<wire_model> model; ///< over its bytes
        bool edited = false;               ///< its bytes are no longer those that were written
        std::unordered_map<std::string_view, id>
            tensors; ///< initializers of the main graph, by name
    };

    /// Throws: `error` of `cannot_read`, or `malformed` for a manifest that contradicts itself or
    /// names files outside of the folder.
    /// Complexity: O(bytes): all files are hashed.
    explicit split_folder(const std::string& folder) : folder_(folder) {
        const mapped_file text(path_of(split_manifest_name));
        manifest_ = read_split_manifest(text.bytes(), text.path());
        skeleton_ = open(manifest_.skeleton);
        std::set<std::string_view> names;
        for (const auto& part : manifest_.parts) {
            if (!names.insert(part.at.file).second) {
                fail("parts", "'" + part.at.file + "' is named twice");
            }
            parts_.push_back(open(part.at));
        }
        if (!manifest_.weights.file.empty()) {
            weights_ = std::make_unique<mapped_file>(path_of(manifest_.weights.file));
            weights_edited_ = to_hex(xxh64(weights_->bytes())) != manifest_.weights.hash;
        }
        find_homes();
    }

    split_folder(const split_folder&) = delete;
    split_folder& operator=(const split_folder&) = delete;

    /// As it was given.
    [[nodiscard]] const std::string& path() const noexcept { return folder_; }

    /// What `split` wrote, as it stands in the folder.
    [[nodiscard]] const split_manifest& manifest() const noexcept { return manifest_; }

    /// What is left of the source.
    [[nodiscard]] const model_file& skeleton() const noexcept { return skeleton_; }

    /// The parts, in the order of the manifest.
    [[nodiscard]] const std::vector<model_file>& parts() const noexcept { return parts_; }

    /// Returns: the file of shared weights, or null where there is none.
    [[nodiscard]] const mapped_file* weights() const noexcept { return weights_.get(); }

    /// Whether that file is no longer as it was written.
    [[nodiscard]] bool weights_edited() const noexcept { return weights_edited_; }

    /// Whether some file but the weights is no longer as it was written.
    [[nodiscard]] bool is_edited() const {
        return skeleton_.edited || std::any_of(parts_.begin(), parts_.end(),
                                               [](const auto& part) { return part.edited; });
    }

    /// Returns: how many nodes the source had.
    [[nodiscard]] id node_count() const noexcept { return static_cast<id>(home_.size()); }
    /// Returns: the part that a node of the source went to.
    [[nodiscard]] id home(id node) const noexcept { return home_[node]; }
    /// Returns: where a node of the source is in its part. Requires: the part is not edited.
    [[nodiscard]] message_ref message(id node) const {
        const auto& model = *parts_[home_[node]].model;
        return model.message(top_level_[home_[node]][slot_[node]]);
    }

    /// Throws: always, `error` of `malformed` that names the manifest.
    [[noreturn]] void fail(std::string_view place, std::string_view reason) const {
        STEMMA_THROW(error(error_code::malformed, path_of(split_manifest_name), place, reason));
    }

    /// Says that a changed part does not fit the others.
    /// Throws: always, `error` of `refused` that names the file of the part.
    [[noreturn]] void refuse(id part, std::string_view reason) const {
        STEMMA_THROW(error(error_code::refused, parts_[part].file->path(), "", reason));
    }

    /// Returns: the nodes of the main graph of a part, as they stand there.
    [[nodiscard]] const std::vector<id>& nodes_of(id part) const { return top_level_[part]; }

private:
    [[nodiscard]] std::string path_of(std::string_view name) const {
        return (std::filesystem::path(folder_) / name).string();
    }

    [[nodiscard]] model_file open(const split_manifest::file_entry& entry) const {
        if (!is_inside_folder(entry.file)) {
            fail("files", "'" + entry.file + "' is not in the folder");
        }
        model_file made;
        made.file = std::make_unique<mapped_file>(path_of(entry.file));
        made.model = std::make_unique<wire_model>(made.file->bytes(), made.file->path());
        made.edited = to_hex(xxh64(made.file->bytes())) != entry.hash;
        made.file->release_descriptor();
        const auto tensors = made.model->tensors();
        for (id i = 0; i < tensors.size(); ++i) {
            if (tensors[i].graph == 0 && !tensors[i].sparse) {
                made.tensors.emplace(made.model->text(tensors[i].name), i);
            }
        }
        return made;
    }

    void find_homes() {
        std::size_t count = 0;
        for (const auto& part : manifest_.parts) {
            count += part.nodes.size();
        }
        home_.assign(count, no_id);
        slot_.assign(count, no_id);
        top_level_.resize(parts_.size());
        for (id p = 0; p < parts_.size(); ++p) {
            for (auto node : manifest_.parts[p].nodes) {
                if (node >= count || home_[node] != no_id) {
                    fail("parts", "node " + std::to_string(node) + " is in no part, or in two");
                }
                home_[node] = p;
            }
        }
        for (id p = 0; p < parts_.size(); ++p) {
            find_slots(p);
        }
    }

    void find_slots(id p) {
        const auto& model = *parts_[p].model;
        for (id node = 0; node < model.node_count(); ++node) {
            if (model.graph_of(node) == 0) {
                top_level_[p].push_back(node);
            }
        }
        if (parts_[p].edited) {
            return;
        }
        const auto& part = manifest_.parts[p];
        auto order = part.order;
        if (order.empty()) {
            std::merge(part.nodes.begin(), part.nodes.end(), part.clones.begin(), part.clones.end(),
                       std::back_inserter(order));
        }
        if (order.size() != top_level_[p].size()) {
            fail("parts", "'" + part.at.file + "' has another number of nodes");
        }
        for (id i = 0; i < order.size(); ++i) {
            if (order[i] >= home_.size()) {
                fail("parts", "there is no node " + std::to_string(order[i]));
            }
            if (home_[order[i]] == p) {
                slot_[order[i]] = i;
            }
        }
        for (auto node : part.nodes) {
            if (slot_[node] == no_id) {
                fail("parts", "node " + std::to_string(node) + " is not in '" + part.at.file + "'");
            }
        }
    }

    std::string folder_;
    split_manifest manifest_;
    model_file skeleton_;
    std::vector<model_file> parts_;
    std::unique_ptr<mapped_file> weights_;
    bool weights_edited_ = false;
    std::vector<id> home_;                   // by node of the source: its part
    std::vector<id> slot_;                   // and its place among the nodes there
    std::vector<std::vector<id>> top_level_; // by part: nodes of the main graph
};

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_SPLIT_FOLDER_HPP

// <stemma/onnx/wire/join_model.hpp>
#ifndef STEMMA_ONNX_WIRE_JOIN_MODEL_HPP
#define STEMMA_ONNX_WIRE_JOIN_MODEL_HPP

namespace stemma {

/// The files that a rope over a split model's folder refers to by number.
struct split_files {
    /// What is left of the source without nodes and weights.
    static constexpr id skeleton = 0;

    /// The file of weights that the parts share.
    static constexpr id weights = 1;

    /// Returns: the number of the file of part `p`.
    [[nodiscard]] static constexpr id part(id p) noexcept { return p + 2; }

    /// Returns: a file by number.
    [[nodiscard]] static const mapped_file& at(const split_folder& folder, id file) {
        return file == skeleton  ? *folder.skeleton().file
               : file == weights ? *folder.weights()
                                 : *folder.parts()[file - 2].file;
    }
};

/// Puts the source together again from parts that nobody changed, piece by piece.
/// Returns: a rope over `split_files`.
/// Throws: `error` of `malformed` for a recipe that does not fit the files.
/// Complexity: O(pieces + nodes).
[[nodiscard]] inline byte_rope follow_recipe(const split_folder& folder) {
    using kind = split_manifest::piece::kind;
    byte_rope source;
    const auto add_node = [&](std::uint64_t node, bool whole) {
        if (node >= folder.node_count()) {
            folder.fail("recipe", "there is no node " + std::to_string(node));
        }
        const auto p = folder.home(static_cast<id>(node));
        const auto message = folder.message(static_cast<id>(node));
        if (whole) {
            std::string header;
            detail::append_tag(detail::onnx_fields::graph::node, header);
            detail::append_varint(message.size, header);
            source.add_text(header);
        }
        source.add_range(message.begin, message.size, split_files::part(p));
    };
    const auto add_range = [&](id file, std::uint64_t first, std::uint64_t count) {
        const auto size = split_files::at(folder, file).bytes().size();
        if (first > size || count > size - first) {
            folder.fail("recipe", "a piece reaches beyond the end of its file");
        }
        source.add_range(first, count, file);
    };
    std::unordered_map<std::string_view, id> holder; // by initializer: a part that was not changed
    const auto& manifest = folder.manifest();
    for (id p = 0; p < manifest.parts.size(); ++p) {
        for (const auto& name : manifest.parts[p].initializers) {
            holder.emplace(name, p);
        }
    }
    for (const auto& piece : manifest.recipe) {
        switch (piece.from) {
        case kind::skeleton:
            add_range(split_files::skeleton, piece.first, piece.count);
            break;
        case kind::bytes:
            source.add_text(piece.text);
            break;
        case kind::nodes:
            for (std::uint64_t i = 0; i < piece.count; ++i) {
                add_node(piece.first + i, true);
            }
            break;
        case kind::node:
            add_node(piece.first, false);
            break;
        case kind::weights:
            if (folder.weights() == nullptr) {
                folder.fail("recipe", "there is no file of weights");
            }
            add_range(split_files::weights, piece.first, piece.count);
            break;
        case kind::initializer: {
            const auto p = holder.find(piece.text);
            const auto* part = p == holder.end() ? nullptr : &folder.parts()[p->second];
            const auto tensor = part == nullptr ? 0 : part->tensors.count(piece.text);
            if (tensor == 0) {
                folder.fail("recipe", "no part holds '" + piece.text + "'");
            }
            const auto message = part->model->tensors()[part->tensors.at(piece.text)].message;
            if (piece.first > message.size || piece.count > message.size - piece.first) {
                folder.fail("recipe", "a piece of '" + piece.text + "' reaches beyond its end");
            }
            source.add_range(message.begin + piece.first, piece.count,
                             split_files::part(p->second));
            break;
        }
        }
    }
    return source;
}

/// Returns: the XXH64 of what a rope over the files of a split model stands for.
/// Complexity: O(bytes).
[[nodiscard]] inline std::uint64_t hash_joined(const byte_rope& rope, const split_folder& folder) {
    xxh64_digest digest;
    rope.for_each(
        [&](id file, std::uint64_t begin, std::uint64_t size) {
            digest.add(split_files::at(folder, file).bytes().substr(begin, size));
        },
        [&](std::string_view text) { digest.add(text); });
    return digest.value();
}

/// Writes a rope over the files of a split model. Complexity: O(bytes).
inline void write_joined(const byte_rope& rope, const split_folder& folder, output_file& output) {
    rope.for_each(
        [&](id file, std::uint64_t begin, std::uint64_t size) {
            output.copy(split_files::at(folder, file), begin, size);
        },
        [&](std::string_view text) { output.write(text); });
}

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_JOIN_MODEL_HPP

// <stemma/onnx/wire/edited_tensors.hpp>
#ifndef STEMMA_ONNX_WIRE_EDITED_TENSORS_HPP
#define STEMMA_ONNX_WIRE_EDITED_TENSORS_HPP

namespace stemma {

/// The initializers of a split model of which some parts were changed.
class edited_tensors {
public:
    /// Decides for every initializer whose bytes count.
    /// Requires: `folder` outlives this. Throws: `error` of `refused` where parts contradict each
    ///   other. Complexity: O(n log n) in initializers, and the bytes of those that were changed.
    explicit edited_tensors(const split_folder& folder) : folder_(folder) {
        std::map<std::string, std::vector<id>> holders;
        for (id p = 0; p < folder_.parts().size(); ++p) {
            for (const auto& name : folder_.manifest().parts[p].initializers) {
                holders[name].push_back(p);
            }
        }
        for (const auto& [name, tensor] : folder_.skeleton().tensors) {
            const auto held_by = holders.find(std::string(name));
            if (held_by == holders.end()) {
                tensors_[std::string(name)] = {no_id, tensor};
            } else if (const auto chosen = choose(name, tensor, held_by->second)) {
                tensors_[std::string(name)] = *chosen;
            }
        }
        for (id p = 0; p < folder_.parts().size(); ++p) {
            if (!folder_.parts()[p].edited) {
                continue;
            }
            for (const auto& [name, tensor] : folder_.parts()[p].tensors) {
                if (folder_.skeleton().tensors.contains(name)) {
                    continue;
                }
                const tensor_entry here{p, tensor};
                const auto known = tensors_.emplace(std::string(name), here);
                if (!known.second && !same_content(known.first->second, here)) {
                    folder_.refuse(p, "its initializer '" + std::string(name) +
                                          "' is not the one of another part");
                }
                added_.push_back(std::string(name));
            }
        }
        std::sort(added_.begin(), added_.end());
        added_.erase(std::unique(added_.begin(), added_.end()), added_.end());
    }

    /// Whether the source had, or a part adds, an initializer, and it is still wanted.
    [[nodiscard]] bool contains(std::string_view name) const {
        return tensors_.find(name) != tensors_.end();
    }

    /// Returns: the names of those that the source did not have, sorted.
    [[nodiscard]] const std::vector<std::string>& added() const noexcept { return added_; }

    /// Returns: what is known of an initializer. Requires: contains(name).
    [[nodiscard]] tensor_header header(std::string_view name) const {
        return header_of(tensors_.find(name)->second);
    }

    /// Returns: an initializer over `split_files`, with its data inside unless these are in a file
    /// beside the source. Requires: contains(name).
    [[nodiscard]] byte_rope bytes(std::string_view name) const {
        return tensor(tensors_.find(name)->second);
    }

private:
    using at_tensor = detail::onnx_fields::tensor;

    /// Where the bytes of an initializer are.
    struct tensor_entry {
        id part = no_id; // `no_id`: the skeleton
        id tensor = no_id;
    };

    [[nodiscard]] const split_folder::model_file& file_of(const tensor_entry& at) const {
        return at.part == no_id ? folder_.skeleton() : folder_.parts()[at.part];
    }

    [[nodiscard]] tensor_header header_of(const tensor_entry& at) const {
        const auto& m = *file_of(at).model;
        return read_tensor_header(m, m.tensors()[at.tensor]);
    }

    [[nodiscard]] std::optional<tensor_entry> choose(std::string_view name, id in_skeleton,
                                                     const std::vector<id>& held_by) const {
        std::optional<tensor_entry> original;
        std::optional<tensor_entry> changed;
        bool kept = false; // by somebody who was not changed
        for (auto p : held_by) {
            const auto& part = folder_.parts()[p];
            const auto found = part.tensors.find(name);
            if (found == part.tensors.end()) {
                continue;
            }
            const tensor_entry here{p, found->second};
            if (!part.edited || is_in_weights(here)) {
                kept = kept || !part.edited;
                original = original && !folder_.parts()[original->part].edited ? original : here;
                continue;
            }
            if (changed && !same_content(*changed, here)) {
                folder_.refuse(p, "its initializer '" + std::string(name) +
                                      "' is not the one of another part");
            }
            changed = here;
        }
        if (changed && original && !same_content(*original, *changed)) {
            folder_.refuse(changed->part, "changes the initializer '" + std::string(name) +
                                              "', which other parts share; give it another name");
        }
        const auto chosen = original ? original : changed;
        // Data in files beside the source stay where the source has them.
        const bool elsewhere = read_tensor_header(*folder_.skeleton().model,
                                                  folder_.skeleton().model->tensors()[in_skeleton])
                                   .external;
        return chosen && elsewhere && original ? std::optional(tensor_entry{no_id, in_skeleton})
                                               : chosen;
    }

    [[nodiscard]] bool is_in_weights(const tensor_entry& at) const {
        const auto& m = *file_of(at).model;
        const auto header = read_tensor_header(m, m.tensors()[at.tensor]);
        return header.external && header.location == folder_.manifest().weights.file;
    }

    [[nodiscard]] bool same_content(const tensor_entry& a, const tensor_entry& b) const {
        return text_of(tensor(a)) == text_of(tensor(b));
    }

    [[nodiscard]] std::string text_of(const byte_rope& rope) const {
        std::string text;
        rope.for_each(
            [&](id file, std::uint64_t begin, std::uint64_t size) {
                text.append(split_files::at(folder_, file).bytes().substr(begin, size));
            },
            [&](std::string_view more) { text.append(more); });
        return text;
    }

    /// Returns: an initializer with its data inside, unless these are in a file beside the source.
    [[nodiscard]] byte_rope tensor(const tensor_entry& at) const {
        const auto& m = *file_of(at).model;
        const auto& found = m.tensors()[at.tensor];
        const auto file = at.part == no_id ? split_files::skeleton : split_files::part(at.part);
        byte_rope result;
        const bool in_weights = is_in_weights(at);
        auto fields = m.reader(found.message);
        for (wire_field field; fields.next(field);) {
            if (!in_weights || (field.number != at_tensor::external_data &&
                                field.number != at_tensor::data_location)) {
                result.add_range(field.begin, field.end - field.begin, file);
            }
        }
        if (in_weights) {
            const auto header = read_tensor_header(m, found);
            const auto size = folder_.weights()->bytes().size();
            if (header.offset > size || header.length > size - header.offset) {
                folder_.refuse(at.part, "the data of '" + std::string(m.text(found.name)) +
                                            "' reach beyond the end of the file of weights");
            }
            std::string start;
            detail::append_tag(at_tensor::raw_data, start);
            detail::append_varint(header.length, start);
            result.add_text(start);
            result.add_range(header.offset, header.length, split_files::weights);
        }
        return result;
    }

    const split_folder& folder_;
    std::map<std::string, tensor_entry, std::less<>> tensors_;
    std::vector<std::string> added_;
};

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_EDITED_TENSORS_HPP

// <stemma/onnx/wire/edited_nodes.hpp>
#ifndef STEMMA_ONNX_WIRE_EDITED_NODES_HPP
#define STEMMA_ONNX_WIRE_EDITED_NODES_HPP

namespace stemma {

/// The nodes of a split model of which some parts were changed, put together again.
class edited_nodes {
public:
    /// A node, in the model of its part.
    struct entry {
        id part = no_id; ///< number of the part
        id node = no_id; ///< number of the node in the model of that part
    };

    /// Requires: both outlive this. Throws: `error` of `refused` when parts no longer fit together,
    ///   saying where. Complexity: O(n log n) in nodes and inputs.
    edited_nodes(const split_folder& folder, const edited_tensors& tensors)
        : folder_(folder), tensors_(tensors) {
        for (const auto& part : folder.parts()) {
            contents_.push_back(std::make_unique<graph_contents>(*part.model));
        }
        gather_nodes();
        sort_nodes();
    }

    /// Returns: all nodes, each behind what it reads, and as they were where that does.
    [[nodiscard]] const std::vector<entry>& in_order() const noexcept { return nodes_; }

    /// Calls `f(name)` for what a node makes. Complexity: O(outputs).
    template <class Function>
    void for_each_output(const entry& at, Function f) const {
        const auto& m = model(at.part);
        for (id i = 0; i < m.output_count(at.node); ++i) {
            const auto name = m.value_name(m.first_output(at.node) + i);
            if (!name.empty()) {
                f(name);
            }
        }
    }

private:
    [[nodiscard]] const wire_model& model(id part) const { return *folder_.parts()[part].model; }

    void gather_nodes() {
        std::vector<bool> done(folder_.parts().size(), false);
        for (id node = 0; node < folder_.node_count(); ++node) {
            const auto p = folder_.home(node);
            if (!folder_.parts()[p].edited) {
                nodes_.push_back({p, node_at(p, folder_.message(node).begin)});
            } else if (!done[p]) {
                done[p] = true;
                add_edited_nodes(p);
            }
        }
    }

    [[nodiscard]] id node_at(id p, std::uint32_t begin) const {
        const auto& nodes = folder_.nodes_of(p);
        const auto found = std::partition_point(nodes.begin(), nodes.end(), [&](id node) {
            return model(p).message(node).begin < begin;
        });
        return *found;
    }

    void add_edited_nodes(id p) {
        const auto& cloned = folder_.manifest().parts[p].cloned_values;
        const std::unordered_set<std::string_view> clones(cloned.begin(), cloned.end());
        for (auto node : folder_.nodes_of(p)) {
            bool is_clone = false;
            for (id i = 0; i < model(p).output_count(node); ++i) {
                is_clone = is_clone ||
                           clones.contains(model(p).value_name(model(p).first_output(node) + i));
            }
            (is_clone ? clones_ : nodes_).push_back({p, node});
        }
    }

    /// Calls `f(name)` for what a node and its bodies read from the main graph.
    template <class Function>
    void for_each_read(const entry& at, Function f) const {
        const auto& m = model(at.part);
        const auto look = [&](id value) {
            if (value != no_id &&
                (m.graph_of_value(value) == 0 || m.kind(value) == value_kind::undefined)) {
                f(m.value_name(value));
            }
        };
        const auto visit = [&](auto& self, id node) -> void {
            for (auto value : m.inputs(node)) {
                look(value);
            }
            for (auto inside : contents_[at.part]->inner_nodes(node)) {
                self(self, inside);
            }
            for (auto body : contents_[at.part]->bodies_of(node)) {
                for (auto value : m.graph(body).outputs) {
                    look(value);
                }
            }
        };
        visit(visit, at.node);
    }

    /// Orders nodes behind what they read, as they were where that does.
    void sort_nodes() {
        std::unordered_map<std::string_view, id> producer;
        for (id i = 0; i < nodes_.size(); ++i) {
            for_each_output(nodes_[i], [&](std::string_view name) {
                const auto made = producer.emplace(name, i);
                if (!made.second) {
                    folder_.refuse(
                        nodes_[i].part,
                        "makes '" + std::string(name) + "', which '" +
                            folder_.parts()[nodes_[made.first->second].part].file->path() +
                            "' makes, too");
                }
            });
        }
        check_clones(producer);
        const auto given = given_values();
        std::vector<std::vector<id>> readers(nodes_.size());
        std::vector<id> waiting(nodes_.size(), 0);
        for (id i = 0; i < nodes_.size(); ++i) {
            for_each_read(nodes_[i], [&](std::string_view name) {
                const auto from = producer.find(name);
                if (from != producer.end()) {
                    readers[from->second].push_back(i);
                    ++waiting[i];
                } else if (!given.contains(name) && !tensors_.contains(name)) {
                    folder_.refuse(nodes_[i].part,
                                   "reads '" + std::string(name) + "', which no part makes");
                }
            });
        }
        for (auto value : folder_.skeleton().model->graph(0).outputs) {
            const auto name = value == no_id ? "" : folder_.skeleton().model->value_name(value);
            if (!name.empty() && !producer.contains(name) && !given.contains(name) &&
                !tensors_.contains(name)) {
                STEMMA_THROW(error(error_code::refused, folder_.path(), "",
                                   "no part makes the model's output '" + std::string(name) + "'"));
            }
        }
        std::priority_queue<id, std::vector<id>, std::greater<>> ready;
        for (id i = 0; i < nodes_.size(); ++i) {
            if (waiting[i] == 0) {
                ready.push(i);
            }
        }
        std::vector<entry> sorted;
        while (!ready.empty()) {
            const auto i = ready.top();
            ready.pop();
            sorted.push_back(nodes_[i]);
            for (auto reader : readers[i]) {
                if (--waiting[reader] == 0) {
                    ready.push(reader);
                }
            }
        }
        if (sorted.size() != nodes_.size()) {
            STEMMA_THROW(error(error_code::refused, folder_.path(), "",
                               "parts read from each other in a circle"));
        }
        nodes_ = std::move(sorted);
    }

    /// A copy of another part's constant must still be one.
    void check_clones(const std::unordered_map<std::string_view, id>& producer) const {
        for (const auto& clone : clones_) {
            for_each_output(clone, [&](std::string_view name) {
                const auto from = producer.find(name);
                const auto bytes = [&](const entry& at) {
                    const auto message = model(at.part).message(at.node);
                    return model(at.part).bytes().substr(message.begin, message.size);
                };
                if (from == producer.end() || bytes(nodes_[from->second]) != bytes(clone)) {
                    folder_.refuse(clone.part,
                                   "changes the constant '" + std::string(name) +
                                       "', which it shares with other parts; give it another name");
                }
            });
        }
    }

    [[nodiscard]] std::unordered_set<std::string_view> given_values() const {
        std::unordered_set<std::string_view> given;
        const auto& skeleton = *folder_.skeleton().model;
        for (auto value : skeleton.graph(0).inputs) {
            if (value != no_id) {
                given.insert(skeleton.value_name(value));
            }
        }
        for (const auto& tensor : skeleton.tensors()) {
            if (tensor.graph == 0 && tensor.sparse) {
                given.insert(skeleton.text(tensor.name));
            }
        }
        return given;
    }

    const split_folder& folder_;
    const edited_tensors& tensors_;
    std::vector<std::unique_ptr<graph_contents>> contents_; // by part
    std::vector<entry> nodes_;
    std::vector<entry> clones_; // in changed parts
};

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_EDITED_NODES_HPP

// <stemma/onnx/wire/fold_attributes.hpp>
#ifndef STEMMA_ONNX_WIRE_FOLD_ATTRIBUTES_HPP
#define STEMMA_ONNX_WIRE_FOLD_ATTRIBUTES_HPP

namespace stemma {

/// Writes the attributes of functions, which are the Constants that differ from call to call.
class fold_attributes {
public:
    /// Requires: both outlive it.
    fold_attributes(const wire_model& model, const fold_plan& plan) : model_(model), plan_(plan) {}

    /// Returns: what an attribute of a function is called.
    [[nodiscard]] static std::string name_of(id slot) { return "constant_" + std::to_string(slot); }

    /// Returns: the attribute of a Constant, which refers to one of the function.
    [[nodiscard]] static std::string refer(const wire_reader& attribute, id slot) {
        return attribute_reference(attribute, read_attribute_names(attribute).name, name_of(slot));
    }

    /// Returns: which attribute of the function of a region has the value of a Constant, by the
    /// order in which calls are opened; `no_id` where it does not differ.
    [[nodiscard]] id slot(id region, std::size_t constant) const {
        if (plan_.is_graph(region)) {
            return no_id;
        }
        const auto& slots = plan_.functions[plan_.function[region]].slots;
        return constant < slots.size() ? slots[constant] : no_id;
    }

    /// Appends the attributes of the call of a region: what its Constants are, or attributes of the
    /// function around it, in which `before` of these are opened in front of the call.
    /// Complexity: O(constants + bytes of their attributes).
    void append(id around, id region, std::size_t before, byte_rope& out) const {
        using at_node = detail::onnx_fields::node;
        const auto& slots = plan_.functions[plan_.function[region]].slots;
        for (std::size_t i = 0; i < slots.size(); ++i) {
            if (slots[i] == no_id) {
                continue;
            }
            const auto outer = slot(around, before + i);
            auto fields = model_.reader(model_.message(plan_.constants[region][i]));
            for (wire_field field; fields.next(field);) {
                if (!field.is_bytes(at_node::attribute)) {
                    continue;
                }
                const auto attribute = fields.inner(field);
                if (outer == no_id) {
                    out.add_field(at_node::attribute,
                                  renamed_attribute(attribute, name_of(slots[i])));
                } else {
                    out.add_field(
                        at_node::attribute,
                        attribute_reference(attribute, name_of(slots[i]), name_of(outer)));
                }
            }
        }
    }

private:
    const wire_model& model_;
    const fold_plan& plan_;
};

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_FOLD_ATTRIBUTES_HPP

// <stemma/onnx/wire/fold_names.hpp>
#ifndef STEMMA_ONNX_WIRE_FOLD_NAMES_HPP
#define STEMMA_ONNX_WIRE_FOLD_NAMES_HPP

namespace stemma {

namespace detail {

/// Returns: the longest front of a name, up to a `/`, that four of five of the names share.
[[nodiscard]] inline std::string_view common_scope(std::vector<std::string_view> names) {
    if (names.empty()) {
        return {};
    }
    std::sort(names.begin(), names.end());
    auto scope = names[names.size() / 2];
    while (true) {
        const auto slash = scope.rfind('/');
        if (slash == scope.npos) {
            return {};
        }
        scope = scope.substr(0, slash);
        const auto inside = std::count_if(names.begin(), names.end(), [&](std::string_view name) {
            return name.size() > scope.size() && name.starts_with(scope) &&
                   name[scope.size()] == '/';
        });
        if (static_cast<std::size_t>(inside) * 5 >= names.size() * 4) {
            return scope;
        }
    }
}

} // namespace detail

/// What names in the bodies of functions become.
///
/// A function that is called once keeps them. In one that several calls share, names are as in the
/// first call without its scope (`/encoder/layer.0`), and each call says which scope is its own.
/// Where names are captured in bodies they stay, too.
class fold_names {
public:
    /// Requires: the model and the plan outlive it.
    /// Complexity: O(regions + items + length of names).
    template <module_view Modules>
    fold_names(const wire_model& model, const graph_contents& contents, const Modules& modules,
               const fold_plan& plan)
        : model_(model)
        , plan_(plan)
        , own_scope_(plan.regions.size())
        , call_scope_(plan.regions.size())
        , scope_(plan.regions.size())
        , keeps_(plan.functions.size())
        , given_(model.value_count(), false) {
        for (id f = 0; f < plan.functions.size(); ++f) {
            keeps_[f] =
                plan.functions[f].calls == 1 || owns_bodies(plan.functions[f].region, contents);
        }
        for (auto r = static_cast<id>(plan.regions.size()); r-- > 0;) {
            if (!plan.is_graph(r) && !keeps_[plan.function[r]]) {
                own_scope_[r] = find_scope(r);
            }
        }
        for (id r = 0; r < plan.regions.size(); ++r) {
            hand_down_scopes(r);
        }
        for (id r = 0; r < plan.regions.size(); ++r) {
            for (auto value : plan.is_graph(r) ? std::span<const id>() : plan.outputs[r]) {
                given_[value] = given_[value] || plan.is_graph(plan.regions[r].parent);
            }
        }
        names_.resize(plan.functions.size());
        for (id f = 0; f < plan.functions.size(); ++f) {
            if (!keeps_[f]) {
                const auto module = plan.regions[plan.functions[f].region].module;
                name_values(f, path_of(modules, module) + ".");
            }
        }
    }

    /// Whether the body of a function has the names that the model has.
    [[nodiscard]] bool keeps(id function) const { return keeps_[function]; }

    /// Whether a call in a graph names a value, so that it is known when that is opened.
    [[nodiscard]] bool is_given(id value) const { return given_[value]; }

    /// Returns: what the call of a region says of its scope: it comes behind the scope of the call
    /// around. Requires: the region is that of the body that is written, or a call in a
    /// graph.
    [[nodiscard]] std::string_view call_scope(id region) const { return call_scope_[region]; }

    /// Returns: the scope of a region: names in the body are expected to follow it.
    [[nodiscard]] const std::string& scope(id region) const { return scope_[region]; }

    /// Returns: what a value of the first call is called in the body of the function.
    [[nodiscard]] std::string_view in_body(id function, id value) const {
        const auto found = names_[function].find(value);
        return found == names_[function].end() ? model_.value_name(value)
                                               : std::string_view(found->second);
    }

    /// Returns: what a name of the first call is in the body of the function.
    [[nodiscard]] std::string_view in_body(id function, std::string_view name) const {
        return keeps_[function] ? name
                                : without(own_scope_[plan_.functions[function].region], name);
    }

private:
    // So many names tell the scope of a region.
    static constexpr std::size_t sample = 64;

    [[nodiscard]] static std::string_view without(std::string_view scope, std::string_view name) {
        return name.size() > scope.size() && name.starts_with(scope) ? name.substr(scope.size())
                                                                     : name;
    }

    [[nodiscard]] bool owns_bodies(id region, const graph_contents& contents) const {
        const auto& items = plan_.regions[region].items;
        return std::any_of(items.begin(), items.end(), [&](const fold_item& item) {
            return !item.is_region && !contents.bodies_of(item.index).empty();
        });
    }

    [[nodiscard]] std::string find_scope(id region) const {
        const auto& items = plan_.regions[region].items;
        std::vector<std::string_view> names;
        for (std::size_t i = 0; i < items.size(); i += 1 + items.size() / sample) {
            const auto name = items[i].is_region ? std::string_view(own_scope_[items[i].index])
                                                 : model_.name(items[i].index);
            if (!name.empty()) {
                names.push_back(name);
            }
        }
        return std::string(detail::common_scope(std::move(names)));
    }

    /// Gives the regions inside a region their scopes, as the body of its function says.
    void hand_down_scopes(id r) {
        const auto first = plan_.body_of(r);
        const auto& items = plan_.regions[r].items;
        const auto& in_body = plan_.regions[first].items;
        for (std::size_t i = 0; i < items.size(); ++i) {
            if (items[i].is_region) {
                const auto child = in_body[i].index;
                const std::string_view scope = own_scope_[child];
                const std::string_view around = own_scope_[first];
                if (scope.starts_with(around)) {
                    call_scope_[child] = scope.substr(around.size());
                }
                scope_[items[i].index] = scope_[r] + std::string(call_scope_[child]);
            }
        }
    }

    void name_values(id f, const std::string& parameters) {
        const auto region = plan_.functions[f].region;
        std::unordered_set<std::string> taken;
        const auto name = [&](id value, std::string_view wanted) {
            if (value == no_id || wanted.empty() || names_[f].contains(value)) {
                return;
            }
            std::string text(wanted);
            while (!taken.insert(text).second) {
                text.push_back('~');
            }
            names_[f].emplace(value, std::move(text));
        };
        const auto& scope = own_scope_[region];
        plan_.for_each_made(model_, region, [&](id value) {
            name(value, without(scope, model_.value_name(value)));
        });
        for (auto value : plan_.inputs[region]) {
            const auto whole = model_.value_name(value);
            const auto short_one = without(parameters, whole);
            name(value, short_one.size() < whole.size() ? short_one : without(scope, whole));
        }
    }

    const wire_model& model_;
    const fold_plan& plan_;
    std::vector<std::string> own_scope_; // by region
    std::vector<std::string_view> call_scope_;
    std::vector<std::string> scope_;
    std::vector<bool> keeps_;                                // by function
    std::vector<bool> given_;                                // by value
    std::vector<std::unordered_map<id, std::string>> names_; // by function: of values
};

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_FOLD_NAMES_HPP

// <stemma/onnx/wire/node_shapes.hpp>
#ifndef STEMMA_ONNX_WIRE_NODE_SHAPES_HPP
#define STEMMA_ONNX_WIRE_NODE_SHAPES_HPP

namespace stemma {

/// What of a node's fields is told apart only by name.
enum class node_text : std::uint8_t {
    none,   ///< more than a text: two nodes that differ in it are not alike
    input,  ///< name of a value that is read
    output, ///< name of a value that is made
    name,   ///< of the node
    note,   ///< a doc string, or an entry of metadata
};

/// Returns: what a field of a NodeProto is; notes are doc strings, and values of metadata.
[[nodiscard]] constexpr node_text text_kind(const wire_field& field) noexcept {
    using at = detail::onnx_fields::node;
    if (field.type != wire_type::bytes) {
        return node_text::none;
    }
    switch (field.number) {
    case at::input:
        return node_text::input;
    case at::output:
        return node_text::output;
    case at::name:
        return node_text::name;
    case at::doc_string:
    case at::metadata_props:
        return node_text::note;
    default:
        return node_text::none;
    }
}

/// Returns: the text of such a field: of an entry of metadata the value.
[[nodiscard]] inline std::string_view text_of(const wire_reader& fields, const wire_field& field) {
    return field.is_bytes(detail::onnx_fields::node::metadata_props)
               ? wire_model::read_entry(fields, field).second
               : fields.text(field);
}

/// Tells of nodes whether they are the same but for names, doc strings and values of metadata:
/// fields in the same order, with the same bytes. Bodies may differ in what they capture only.
class node_shapes {
public:
    /// Requires: both outlive it.
    node_shapes(const wire_model& model, const graph_contents& contents)
        : model_(model), contents_(contents) {}

    /// With `vary`, of the attribute of a Constant only name and type count.
    /// Complexity: O(bytes of the node).
    [[nodiscard]] std::uint64_t hash(id node, bool vary = false) const {
        vary = vary && varies(node);
        const auto renamed = without_captures(node);
        std::uint64_t result = 0;
        for_each_part(reader(node, renamed), vary,
                      [&](std::uint32_t number, std::string_view bytes) {
                          result = hash_bytes(bytes, hash_mix(result, number));
                          return true;
                      });
        return result;
    }

    /// As above.
    [[nodiscard]] bool equal(id a, id b, bool vary = false) const {
        vary = vary && varies(a) && varies(b);
        const auto renamed_a = without_captures(a);
        const auto renamed_b = without_captures(b);
        auto other = reader(b, renamed_b);
        bool same = true;
        std::string kind;
        wire_field theirs;
        for_each_part(reader(a, renamed_a), vary,
                      [&](std::uint32_t number, std::string_view bytes) {
                          same = other.next(theirs) && theirs.number == number &&
                                 shown(other, theirs, vary, kind) == bytes;
                          return same;
                      });
        return same && !other.next(theirs);
    }

private:
    [[nodiscard]] wire_reader reader(id node, const std::string& renamed) const {
        if (contents_.bodies_of(node).empty()) {
            return model_.reader(model_.message(node));
        }
        return {renamed.data(), 0, static_cast<std::uint32_t>(renamed.size()), model_.file()};
    }

    /// Returns: the message of a node with bodies, in which what they capture has names by number.
    [[nodiscard]] std::string without_captures(id node) const {
        if (contents_.bodies_of(node).empty()) {
            return {};
        }
        value_renaming renaming;
        id number = 0;
        const auto read = values_read(model_, contents_, node);
        for (auto i = model_.inputs(node).size(); i < read.size(); ++i) {
            renaming.add(model_.value_name(read[i]), '\1' + std::to_string(number++));
        }
        return renaming.node(model_.reader(model_.message(node)));
    }

    /// Returns: what of a field counts.
    [[nodiscard]] static std::string_view shown(const wire_reader& fields, const wire_field& field,
                                                bool vary, std::string& kind) {
        if (vary && field.is_bytes(detail::onnx_fields::node::attribute)) {
            kind = kind_of(fields.inner(field));
            return kind;
        }
        if (text_kind(field) == node_text::none) {
            return fields.whole(field);
        }
        return field.is_bytes(detail::onnx_fields::node::metadata_props)
                   ? wire_model::read_entry(fields, field).first
                   : std::string_view();
    }

    /// Whether a node is a Constant that could have the value of another one.
    [[nodiscard]] bool varies(id node) const {
        using at = detail::onnx_fields::node;
        std::size_t attributes = 0;
        auto fields = model_.reader(model_.message(node));
        for (wire_field field; is_constant_node(model_, node) && fields.next(field);) {
            if (field.is_bytes(at::attribute)) {
                const auto names = read_attribute_names(fields.inner(field));
                attributes += names.name.empty() || !names.reference.empty() ? 2U : 1U;
            }
        }
        return attributes == 1 && contents_.bodies_of(node).empty();
    }

    /// Returns: name and type of an attribute that is no graph, as one text.
    [[nodiscard]] static std::string kind_of(wire_reader fields) {
        using at = detail::onnx_fields::attribute;
        std::string kind;
        for (wire_field field; fields.next(field);) {
            const bool counts = field.is_bytes(at::name) || field.is(at::type, wire_type::varint);
            kind.append(counts ? fields.whole(field) : std::string_view());
        }
        return kind;
    }

    template <class Function>
    static void for_each_part(wire_reader fields, bool vary, Function f) {
        std::string kind;
        for (wire_field field; fields.next(field);) {
            if (!f(field.number, shown(fields, field, vary, kind))) {
                return;
            }
        }
    }

    const wire_model& model_;
    const graph_contents& contents_;
};

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_NODE_SHAPES_HPP

// <stemma/onnx/wire/fold_changes.hpp>
#ifndef STEMMA_ONNX_WIRE_FOLD_CHANGES_HPP
#define STEMMA_ONNX_WIRE_FOLD_CHANGES_HPP

namespace stemma {

/// Finds what a folded model has to record of a graph of the one it is made of: the order of the
/// operators, and the texts that do not follow from the bodies of functions.
class fold_changes {
public:
    /// `root` is the region that is the graph. Requires: all outlive it.
    /// Throws: `error` of `error_code::unsupported` when a name that has to be recorded is no
    ///   UTF-8.
    /// Complexity: O(nodes + length of texts).
    fold_changes(const wire_model& model, const fold_plan& plan, const fold_names& names, id root)
        : model_(model), plan_(plan), names_(names), root_(root) {
        find_changes();
        find_order();
    }

    /// Returns: `nodes`, `order` and `changes`.
    [[nodiscard]] folded_graph_record take() && { return std::move(record_); }

private:
    /// Calls `f(region, first, item)` for all operators in the order in which calls are opened;
    /// `first` is the operator that stands for it in the body, in the first call.
    template <class Function>
    void for_each_operator(id region, Function& f) const {
        const auto& items = plan_.regions[region].items;
        const auto& in_body = plan_.regions[plan_.body_of(region)].items;
        for (std::size_t i = 0; i < items.size(); ++i) {
            items[i].is_region ? for_each_operator(items[i].index, f)
                               : f(region, in_body[i].index, items[i].index);
        }
    }

    /// Finds the texts that do not follow from the bodies of functions.
    void find_changes() {
        std::uint64_t number = 0;
        auto compare = [&](id region, id first, id item) {
            if (region != root_ && plan_.functions[plan_.function[region]].calls > 1) {
                compare_texts(number, region, first, item);
            }
            ++number;
        };
        for_each_operator(root_, compare);
        record_.nodes = number;
    }

    void compare_texts(std::uint64_t number, id region, id first, id node) {
        const auto f = plan_.function[region];
        auto theirs = model_.reader(model_.message(first));
        auto fields = model_.reader(model_.message(node));
        std::uint32_t slot = 0;
        id output = 0;
        wire_field model;
        for (wire_field field; fields.next(field);) {
            const auto kind = text_kind(field);
            if (!theirs.next(model) || kind == node_text::none || kind == node_text::input) {
                continue;
            }
            std::string expected(text_of(theirs, model));
            bool known = false;
            if (kind == node_text::output) {
                expected = names_.in_body(f, model_.first_output(first) + output);
                known = names_.is_given(model_.first_output(node) + output++);
            } else if (kind == node_text::name) {
                expected = names_.in_body(f, expected);
            }
            if (kind != node_text::note && !expected.empty()) {
                expected.insert(0, names_.scope(region));
            }
            const auto actual = text_of(fields, field);
            if (!known && actual != expected) {
                note_change(number, slot, expected, actual);
            }
            ++slot;
        }
    }

    void note_change(std::uint64_t number, std::uint32_t slot, std::string_view expected,
                     std::string_view actual) {
        auto change = find_change(expected, actual);
        if (!detail::is_utf8(change.middle)) {
            STEMMA_THROW(error(error_code::unsupported, model_.file(), "",
                               "a name or text of a node is no UTF-8, and could not be restored"));
        }
        change.node = number;
        change.slot = slot;
        record_.changes.push_back(std::move(change));
    }

    /// Finds in which order the operators stood. Of a Constant in several functions the first one
    /// that is opened is the one that was there.
    void find_order() {
        std::vector<id> opened(model_.graph(plan_.graph[root_]).node_count, no_id);
        id number = 0;
        auto place = [&](id, id, id item) {
            auto& first = opened[model_.position(item)];
            first = std::min(first, number);
            ++number;
        };
        for_each_operator(root_, place);
        for (auto e : opened) {
            auto& order = record_.order;
            if (order.empty() || order.back().first + order.back().count != e) {
                order.push_back({e, 0});
            }
            ++order.back().count;
        }
        if (record_.order.size() == 1 && record_.order.front().count == number) {
            record_.order.clear();
        }
    }

    const wire_model& model_;
    const fold_plan& plan_;
    const fold_names& names_;
    id root_;
    folded_graph_record record_;
};

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_FOLD_CHANGES_HPP

// <stemma/onnx/wire/fold_infos.hpp>
#ifndef STEMMA_ONNX_WIRE_FOLD_INFOS_HPP
#define STEMMA_ONNX_WIRE_FOLD_INFOS_HPP

namespace stemma {

/// The first IR version whose functions say of which types their values are.
inline constexpr std::int64_t first_version_with_function_infos = 10;

/// Tells which ValueInfos of graphs are of values that folding puts into functions, and what these
/// know of the types of their values.
class fold_infos {
public:
    /// Requires: all outlive it. Complexity: O(nodes + values + length of ValueInfos).
    fold_infos(const wire_model& model, const fold_plan& plan) : model_(model), plan_(plan) {
        const auto counts = [&](const value_info_ref& info) {
            return plan.root[info.graph] != no_id && info.value != no_id &&
                   model.graph_of_value(info.value) == info.graph &&
                   info.field == detail::onnx_fields::graph::value_info;
        };
        for (const auto& info : model.value_infos()) {
            if (counts(info)) {
                types_.emplace(info.value, type_of(info));
            }
        }
        if (types_.empty()) {
            return;
        }
        std::unordered_set<id> outside;
        for (id r = 0; r < plan.regions.size(); ++r) {
            for (const auto& item : plan.regions[r].items) {
                if (plan.is_graph(r) && item.is_region) {
                    const auto& given = plan.outputs[item.index];
                    outside.insert(given.begin(), given.end());
                }
            }
        }
        std::unordered_set<id> inside;
        for (id r = 0; r < plan.regions.size(); ++r) {
            for (auto value : plan.is_graph(r) ? std::vector<id>() : values_of(r)) {
                if (types_.contains(value) && !outside.contains(value)) {
                    inside.insert(value);
                }
            }
        }
        for (const auto& info : model.value_infos()) {
            if (counts(info) && inside.contains(info.value)) {
                inside_.insert(info.message.begin);
            }
        }
        if (model.ir_version() >= first_version_with_function_infos) {
            find_common();
        }
    }

    /// Whether a field of a graph is the ValueInfo of a value that no call gives away there.
    [[nodiscard]] bool is_inside(const wire_field& field) const {
        return inside_.contains(field.content);
    }

    /// Returns: values of the first call of a function, and the bytes of their TypeProto, where all
    /// calls agree. Nothing in models of versions before `first_version_with_function_infos`.
    [[nodiscard]] const std::vector<std::pair<id, std::string_view>>& of_function(id f) const {
        return f < common_.size() ? common_[f] : none_;
    }

private:
    [[nodiscard]] std::string_view type_of(const value_info_ref& info) const {
        auto fields = model_.reader(info.message);
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(detail::onnx_fields::value_info::type)) {
                return fields.text(field);
            }
        }
        return {};
    }

    /// Returns: the values that the items of a region make, in order.
    [[nodiscard]] std::vector<id> values_of(id region) const {
        std::vector<id> values;
        plan_.for_each_made(model_, region, [&](id value) { values.push_back(value); });
        return values;
    }

    [[nodiscard]] std::string_view known_type(id value) const {
        const auto found = types_.find(value);
        return found == types_.end() ? std::string_view() : found->second;
    }

    void find_common() {
        common_.resize(plan_.functions.size());
        for (id f = 0; f < plan_.functions.size(); ++f) {
            for (auto value : values_of(plan_.functions[f].region)) {
                common_[f].emplace_back(value, known_type(value));
            }
        }
        for (id r = 0; r < plan_.regions.size(); ++r) {
            if (plan_.is_graph(r)) {
                continue;
            }
            auto& common = common_[plan_.function[r]];
            const auto values = values_of(r);
            for (std::size_t i = 0; i < common.size(); ++i) {
                if (known_type(values[i]) != common[i].second) {
                    common[i].second = {};
                }
            }
        }
        for (auto& common : common_) {
            std::erase_if(common, [&](const auto& entry) {
                return entry.second.empty() || model_.value_name(entry.first).empty();
            });
        }
    }

    const wire_model& model_;
    const fold_plan& plan_;
    std::unordered_map<id, std::string_view> types_; // of values that have one
    std::unordered_set<std::uint32_t> inside_;       // where the contents of messages begin
    std::vector<std::vector<std::pair<id, std::string_view>>> common_; // by function
    std::vector<std::pair<id, std::string_view>> none_;
};

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_FOLD_INFOS_HPP

// <stemma/onnx/wire/fold_nodes.hpp>
#ifndef STEMMA_ONNX_WIRE_FOLD_NODES_HPP
#define STEMMA_ONNX_WIRE_FOLD_NODES_HPP

namespace stemma {

/// Writes the nodes of a folded model: calls, and nodes as they stand in functions.
template <module_view Modules>
class fold_nodes {
public:
    /// Requires: all outlive it.
    fold_nodes(const wire_model& model, const Modules& modules, const tag_table& tags,
               std::span<const attribution> attributions, const fold_plan& plan,
               const fold_names& names)
        : model_(model)
        , modules_(modules)
        , tags_(tags)
        , attributions_(attributions)
        , plan_(plan)
        , names_(names)
        , attributes_(model, plan) {}

    /// Returns: the call of a region, in a graph or in the body around, in which so many Constants
    /// are opened in front of it.
    /// Complexity: O(inputs + outputs + constants).
    [[nodiscard]] byte_rope call(id around, id region, std::size_t constants) const {
        const auto& inside = plan_.regions[region];
        const auto& function = plan_.functions[plan_.function[region]];
        const auto name_of = [&](id value) {
            return plan_.is_graph(around) ? model_.value_name(value)
                                          : names_.in_body(plan_.function[around], value);
        };
        byte_rope out;
        for (auto value : plan_.inputs[region]) {
            out.add_field(at_node::input, name_of(value));
        }
        for (auto value : plan_.outputs[region]) {
            out.add_field(at_node::output, name_of(value));
        }
        auto name = plan_.paths[region];
        if (inside.call > 0) {
            name += "#" + std::to_string(inside.call);
        }
        if (inside.runs > 1) {
            name += "@" + std::to_string(inside.run);
        }
        out.add_field(at_node::name, name);
        out.add_field(at_node::op_type, function.numbered());
        attributes_.append(around, region, constants, out);
        out.add_field(at_node::domain, function.domain);
        out.add_entry(at_node::metadata_props, fold_module_key, plan_.paths[region]);
        auto tag = tags_.text(inside.module);
        if (plan_.regions[around].module != 0) {
            const auto above = tags_.text(plan_.regions[around].module);
            tag.erase(0, tag.starts_with(above) ? above.size() : 0);
        }
        if (!tag.empty()) {
            out.add_entry(at_node::metadata_props, fold_tag_key, tag);
        }
        out.add_entry(at_node::metadata_props, fold_call_key, std::to_string(inside.call));
        if (inside.runs > 1) {
            out.add_entry(at_node::metadata_props, fold_run_key, std::to_string(inside.run));
        }
        if (!names_.call_scope(region).empty()) {
            out.add_entry(at_node::metadata_props, fold_scope_key, names_.call_scope(region));
        }
        return out;
    }

    /// Returns: a node in the function of a region, in which so many Constants are opened in front
    /// of it. Requires: no body of the node has calls.
    [[nodiscard]] byte_rope in_body(id region, id node, std::size_t constants) const {
        const auto f = plan_.function[region];
        const auto slot =
            is_constant_node(model_, node) ? attributes_.slot(region, constants) : no_id;
        byte_rope out;
        if (names_.keeps(f) && slot == no_id) {
            const auto message = model_.message(node);
            out.add_range(message.begin, message.size);
        } else {
            rename(f, node, slot, out);
        }
        add_module(region, node, out);
        return out;
    }

    /// Appends to a node which module it is of, where that is another one than that of its region.
    void add_module(id region, id node, byte_rope& out) const {
        const auto around = plan_.regions[region].module;
        const auto own = attributions_[node].module;
        if (own != around && modules_.index().is_ancestor(around, own)) {
            out.add_entry(at_node::metadata_props, fold_module_key,
                          relative_path(modules_, around, own));
        }
    }

private:
    using at_node = detail::onnx_fields::node;

    void rename(id f, id node, id slot, byte_rope& out) const {
        auto fields = model_.reader(model_.message(node));
        const auto inputs = model_.inputs(node);
        std::size_t input = 0;
        id output = 0;
        for (wire_field field; fields.next(field);) {
            switch (text_kind(field)) {
            case node_text::input: {
                const auto value = inputs[input++];
                out.add_field(at_node::input,
                              value == no_id ? std::string_view() : names_.in_body(f, value));
                break;
            }
            case node_text::output:
                out.add_field(at_node::output,
                              names_.in_body(f, model_.first_output(node) + output++));
                break;
            case node_text::name:
                out.add_field(at_node::name, names_.in_body(f, fields.text(field)));
                break;
            default:
                if (slot != no_id && field.is_bytes(at_node::attribute)) {
                    out.add_field(at_node::attribute,
                                  fold_attributes::refer(fields.inner(field), slot));
                    break;
                }
                out.add_range(field.begin, field.end - field.begin);
                break;
            }
        }
    }

    const wire_model& model_;
    const Modules& modules_;
    const tag_table& tags_;
    std::span<const attribution> attributions_;
    const fold_plan& plan_;
    const fold_names& names_;
    fold_attributes attributes_;
};

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_FOLD_NODES_HPP

// <stemma/onnx/wire/node_bodies.hpp>
#ifndef STEMMA_ONNX_WIRE_NODE_BODIES_HPP
#define STEMMA_ONNX_WIRE_NODE_BODIES_HPP

namespace stemma {

/// Returns: the message of a node with other bodies: `body(g, fields)` makes the content of every
/// part of body `g`, of which `fields` reads what it is. Of all else, `keeps(fields, field)` says
/// what stays. Complexity: O(fields), and what `body` takes.
template <class Function, class Predicate>
[[nodiscard]] byte_rope with_bodies(const wire_model& model, const graph_contents& contents,
                                    id node, Function body, Predicate keeps) {
    using at = detail::onnx_fields::attribute;
    byte_rope out;
    const auto bodies = contents.bodies_of(node); // in the order of the attributes
    std::size_t next = 0;
    auto fields = model.reader(model.message(node));
    for (wire_field field; fields.next(field);) {
        byte_rope attribute;
        id alone = no_id; // graphs in several parts are merged, those of a list are not
        bool holds = false;
        if (field.is_bytes(detail::onnx_fields::node::attribute)) {
            auto parts = fields.inner(field);
            for (wire_field part; parts.next(part);) {
                if (part.is_bytes(at::g) || part.is_bytes(at::graphs)) {
                    const bool is_new = part.is_bytes(at::graphs) || alone == no_id;
                    const auto g = is_new ? bodies[next++] : alone;
                    alone = part.is_bytes(at::g) ? g : alone;
                    attribute.add_field(part.number, body(g, parts.inner(part)));
                    holds = true;
                } else {
                    attribute.add_range(part.begin, part.end - part.begin);
                }
            }
        }
        if (holds) {
            out.add_field(field.number, attribute);
        } else if (keeps(fields, field)) {
            out.add_range(field.begin, field.end - field.begin);
        }
    }
    return out;
}

/// Returns: a part of graph `g`, which `fields` reads, with some other nodes: where
/// `changes(node)`, `make(node)` is the content of the message. Complexity: O(fields log nodes).
template <class Predicate, class Function>
[[nodiscard]] byte_rope with_nodes(const wire_model& model, const graph_contents& contents, id g,
                                   wire_reader fields, Predicate changes, Function make) {
    byte_rope out;
    const auto nodes = contents.own_nodes(g);
    for (wire_field field; fields.next(field);) {
        if (field.is_bytes(detail::onnx_fields::graph::node)) {
            const auto node = *std::partition_point(nodes.begin(), nodes.end(), [&](id other) {
                return model.message(other).begin < field.content;
            });
            if (changes(node)) {
                out.add_field(field.number, make(node));
                continue;
            }
        }
        out.add_range(field.begin, field.end - field.begin);
    }
    return out;
}

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_NODE_BODIES_HPP

// <stemma/onnx/wire/opset_texts.hpp>
#ifndef STEMMA_ONNX_WIRE_OPSET_TEXTS_HPP
#define STEMMA_ONNX_WIRE_OPSET_TEXTS_HPP

namespace stemma {

/// Returns: an import as the OperatorSetIdProto that `fields` reads has it; the standard domain
/// is "". Complexity: O(fields).
[[nodiscard]] inline opset_import read_opset_import(wire_reader fields) {
    using at = detail::onnx_fields::opset;
    opset_import import;
    for (wire_field field; fields.next(field);) {
        if (field.is_bytes(at::domain)) {
            import.domain = plain_domain(fields.text(field));
        } else if (field.is(at::version, wire_type::varint)) {
            import.version = static_cast<std::int64_t>(field.value);
        }
    }
    return import;
}

/// Returns: the content of the OperatorSetIdProto of an import.
[[nodiscard]] inline std::string opset_import_text(const opset_import& import) {
    using at = detail::onnx_fields::opset;
    std::string text;
    detail::append_field(at::domain, import.domain, text);
    detail::append_number(at::version, import.version, text);
    return text;
}

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_OPSET_TEXTS_HPP

// <stemma/onnx/wire/fold_model.hpp>
#ifndef STEMMA_ONNX_WIRE_FOLD_MODEL_HPP
#define STEMMA_ONNX_WIRE_FOLD_MODEL_HPP

namespace stemma {

/// The first IR version whose models may have functions.
inline constexpr std::int64_t first_version_with_functions = 8;

/// What goes along with a folded model, each part if it is there.
struct fold_notes {
    std::string_view modules{};     ///< a record of the module tree (`stemma.model/1`)
    std::string_view source_tags{}; ///< how the tagged source is made of the one without tags: a
                                    ///< `byte_patch` in base64
};

/// Writes a model in which modules are functions: everything outside of them as bytes of the
/// source, and a record from which `fold_opener` makes these bytes again.
///
/// `Modules` and tags say what calls are marked with.
template <module_view Modules>
class fold_writer {
public:
    /// Requires: all outlive the writer; the model carries no tags (see `strip_editor`), as they
    /// would be those of the first call. Complexity: O(nodes + names).
    fold_writer(const wire_model& model, const graph_contents& contents, const Modules& modules,
                const tag_table& tags, std::span<const attribution> attributions,
                const fold_plan& plan)
        : model_(model)
        , contents_(contents)
        , plan_(plan)
        , names_(model, contents, modules, plan)
        , nodes_(model, modules, tags, attributions, plan, names_)
        , infos_(model, plan)
        , graphs_(plan.graphs.size()) {
        for (std::size_t i = 0; i < graphs_.size(); ++i) {
            number_.emplace(plan.graphs[i], i);
        }
        for (const auto& import : model.opset_imports()) {
            versions_[std::string(plain_domain(import.domain))] = import.version;
        }
    }

    /// Makes the bytes of the folded model, once.
    /// Throws: as `fold_changes` does.
    /// Complexity: O(bytes that are not weights).
    [[nodiscard]] byte_rope build(const fold_notes& notes = {}) {
        for (std::size_t i = 0; i < graphs_.size(); ++i) {
            graphs_[i] = {fold_changes(model_, plan_, names_, plan_.graphs[i]).take(), 0};
        }
        byte_rope result;
        auto fields = model_.reader();
        bool has_version = false;
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(at_model::graph)) {
                result.add_field(at_model::graph, graph_part(0, fields.inner(field)));
            } else if (field.is(at_model::ir_version, wire_type::varint) && needs_lift()) {
                result.add_text(version_field());
                has_version = true;
            } else {
                result.add_range(field.begin, field.end - field.begin);
            }
        }
        if (needs_lift()) {
            record_.lifted = true;
            if (has_version) {
                record_.ir_version = model_.ir_version();
            } else {
                result.add_text(version_field());
            }
        }
        add_domains(result);
        for (id f = 0; f < plan_.functions.size(); ++f) {
            result.add_field(at_model::functions, function(f));
        }
        take_graphs();
        result.add_entry(at_model::metadata_props, fold_key, to_json(record_));
        if (!notes.modules.empty()) {
            result.add_entry(at_model::metadata_props, fold_modules_key, notes.modules);
        }
        if (!notes.source_tags.empty()) {
            result.add_entry(at_model::metadata_props, fold_source_tags_key, notes.source_tags);
        }
        return result;
    }

private:
    using at_model = detail::onnx_fields::model;
    using at_function = detail::onnx_fields::function;
    using at_graph = detail::onnx_fields::graph;
    using at_node = detail::onnx_fields::node;
    using at_info = detail::onnx_fields::value_info;

    [[nodiscard]] std::string_view bytes() const noexcept { return model_.bytes(); }

    [[nodiscard]] bool needs_lift() const {
        return model_.ir_version() < first_version_with_functions;
    }

    [[nodiscard]] static std::string version_field() {
        std::string field;
        detail::append_number(at_model::ir_version, first_version_with_functions, field);
        return field;
    }

    void add_domains(byte_rope& out) {
        for (const auto& function : plan_.functions) {
            if (versions_.emplace(function.domain, 1).second) {
                out.add_field(at_model::opset_import, opset_import_text({function.domain, 1}));
                record_.domains.push_back(function.domain);
            }
            record_.functions.emplace_back(function.domain, function.numbered());
        }
    }

    /// A graph that is being written.
    struct written_graph {
        folded_graph_record record;
        std::uint32_t part = 0;
    };

    void take_graphs() {
        for (auto& graph : graphs_) {
            if (graph.record.layout.size() == 1) {
                graph.record.layout.clear(); // they stand where the first one stood
            }
        }
        static_cast<folded_graph_record&>(record_) = std::move(graphs_.front().record);
        for (std::size_t i = 1; i < graphs_.size(); ++i) {
            record_.bodies.push_back(std::move(graphs_[i].record));
        }
    }

    /// A part of a graph without its nodes; what is left of them stands where the first one was.
    [[nodiscard]] byte_rope graph_part(id root, wire_reader fields) {
        byte_rope out;
        auto& graph = graphs_[number_.at(root)];
        const auto part = graph.part++;
        std::uint32_t others = 0;
        bool in_run = false;
        std::uint32_t placed = 0; // fields of the part, but for ValueInfos that are taken out
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(at_graph::value_info) && infos_.is_inside(field)) {
                take_out({part, placed, std::string(fields.whole(field))}, graph.record.infos);
                continue;
            }
            ++placed;
            if (!field.is_bytes(at_graph::node)) {
                out.add_range(field.begin, field.end - field.begin);
                ++others;
                in_run = false;
                continue;
            }
            auto& layout = graph.record.layout;
            if (layout.empty()) {
                add_items(root, out);
            }
            if (!std::exchange(in_run, true)) {
                layout.push_back({part, others, 0});
            }
            ++layout.back().nodes;
        }
        return out;
    }

    static void take_out(folded_graph_record::info_run info,
                         std::vector<folded_graph_record::info_run>& runs) {
        if (runs.empty() || runs.back().part != info.part || runs.back().fields != info.fields) {
            runs.push_back(std::move(info));
        } else {
            runs.back().bytes.append(info.bytes);
        }
    }

    /// A part of a body in which something changes, in it or below.
    [[nodiscard]] byte_rope body_part(id g, const wire_reader& fields) {
        return plan_.root[g] != no_id
                   ? graph_part(plan_.root[g], fields)
                   : with_nodes(
                         model_, contents_, g, fields, [&](id node) { return changes(node); },
                         [&](id node) { return changed(node); });
    }

    /// Whether a node of a graph does not stay as it is.
    [[nodiscard]] bool changes(id node) const {
        return plan_.changes_inside(node) || plan_.noted.contains(node);
    }

    [[nodiscard]] byte_rope changed(id node) {
        auto message = with_bodies(
            model_, contents_, node,
            [&](id g, const wire_reader& fields) { return body_part(g, fields); },
            [](const wire_reader&, const wire_field&) { return true; });
        if (const auto noted = plan_.noted.find(node); noted != plan_.noted.end()) {
            nodes_.add_module(noted->second, node, message);
        }
        return message;
    }

    [[nodiscard]] byte_rope function(id f) {
        const auto& planned = plan_.functions[f];
        byte_rope out;
        out.add_field(at_function::name, planned.numbered());
        for (auto value : plan_.inputs[planned.region]) {
            out.add_field(at_function::input, names_.in_body(f, value));
        }
        for (auto value : plan_.outputs[planned.region]) {
            out.add_field(at_function::output, names_.in_body(f, value));
        }
        for (id slot = 0; slot < planned.attributes; ++slot) {
            out.add_field(at_function::attribute, fold_attributes::name_of(slot));
        }
        add_items(planned.region, out);
        std::set<std::string> domains;
        add_domains_in(planned.region, domains);
        for (const auto& domain : domains) {
            if (const auto known = versions_.find(domain); known != versions_.end()) {
                out.add_field(at_function::opset_import,
                              opset_import_text({domain, known->second}));
            }
        }
        out.add_field(at_function::domain, planned.domain);
        for (const auto& [value, type] : infos_.of_function(f)) {
            std::string info;
            detail::append_field(at_info::name, names_.in_body(f, value), info);
            detail::append_field(at_info::type, type, info);
            out.add_field(at_function::value_info, info);
        }
        return out;
    }

    void add_domains_in(id region, std::set<std::string>& domains) const {
        for (const auto& item : plan_.regions[region].items) {
            if (item.is_region) {
                domains.insert(plan_.functions[plan_.function[item.index]].domain);
            } else {
                add_domains_of(item.index, domains);
            }
        }
    }

    void add_domains_of(id node, std::set<std::string>& domains) const {
        domains.emplace(model_.domain(node));
        for (auto g : contents_.bodies_of(node)) {
            plan_.look_into(
                g, contents_, [&](id region) { add_domains_in(region, domains); },
                [&](id inside) { add_domains_of(inside, domains); });
        }
    }

    /// Writes the items of a region: those of a graph, or of the body of a function.
    void add_items(id region, byte_rope& out) {
        const bool in_graph = plan_.is_graph(region);
        const auto number =
            in_graph ? std::uint32_t{at_graph::node} : std::uint32_t{at_function::node};
        std::size_t constants = 0; // opened so far
        for (const auto& item : plan_.regions[region].items) {
            if (item.is_region) {
                out.add_field(number, nodes_.call(region, item.index, constants));
                constants += plan_.functions[plan_.function[item.index]].slots.size();
            } else if (changes(item.index)) {
                auto node = changed(item.index);
                if (!in_graph) {
                    nodes_.add_module(region, item.index, node);
                }
                out.add_field(number, node);
            } else if (in_graph) {
                const auto message = model_.message(item.index);
                out.add_message(bytes(), number, message.begin, message.size);
            } else {
                out.add_field(number, nodes_.in_body(region, item.index, constants));
                constants += is_constant_node(model_, item.index) ? 1U : 0U;
            }
        }
    }

    const wire_model& model_;
    const graph_contents& contents_;
    const fold_plan& plan_;
    fold_names names_;
    fold_nodes<Modules> nodes_;
    fold_infos infos_;
    std::vector<written_graph> graphs_;          // as the plan lists them
    std::unordered_map<id, std::size_t> number_; // by region: of these
    std::map<std::string, std::int64_t> versions_;
    fold_record record_;
};

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_FOLD_MODEL_HPP

// <stemma/onnx/wire/folded_functions.hpp>
#ifndef STEMMA_ONNX_WIRE_FOLDED_FUNCTIONS_HPP
#define STEMMA_ONNX_WIRE_FOLDED_FUNCTIONS_HPP

namespace stemma {

/// Which functions of a model folding made, and where in bodies it changed something.
class folded_functions {
public:
    /// Requires: the model outlives it. Complexity: O(nodes + values).
    folded_functions(const wire_model& model, const fold_record& record)
        : model_(&model)
        , ours_(model.functions().size(), false)
        , local_(model.value_count(), no_id)
        , value_count_(model.functions().size(), 0) {
        const std::set<std::pair<std::string, std::string>> names(record.functions.begin(),
                                                                  record.functions.end());
        for (id f = 0; f < ours_.size(); ++f) {
            const auto& function = model.functions()[f];
            ours_[f] = function.overload.size == 0 &&
                       names.contains({std::string(model.text(function.domain)),
                                       std::string(model.text(function.name))});
        }
        for (id value = 0; value < model.value_count(); ++value) {
            const auto& graph = model.graph(model.graph_of_value(value));
            if (graph.kind == graph_kind::function && ours_[graph.function]) {
                local_[value] = value_count_[graph.function]++;
            }
        }
        find_bodies();
    }

    /// Whether folding made a function.
    [[nodiscard]] bool made(id function) const { return ours_[function]; }
    /// Whether a node calls one that it made.
    [[nodiscard]] bool is_call(id node) const {
        const auto callee = model_->callee(node);
        return callee != no_id && ours_[callee];
    }

    /// Returns: the number of a value among those of its function; `no_id` for values of others,
    /// and of graphs.
    [[nodiscard]] id local(id value) const { return local_[value]; }

    /// Returns: how many values a function defines; `local` numbers them from 0.
    [[nodiscard]] id value_count(id function) const { return value_count_[function]; }

    /// Returns: the bodies in which there are calls, ascending.
    [[nodiscard]] const std::vector<id>& bodies() const noexcept { return bodies_; }
    /// Whether folding changed something in the bodies of a node, at any depth.
    [[nodiscard]] bool changed_inside(id node) const {
        return !holders_.empty() && holders_.contains(node);
    }
    /// Whether it changed a node that is no call, in a graph: what is in its bodies, or its
    /// metadata.
    [[nodiscard]] bool changed(id node) const {
        return changed_inside(node) || (!noted_.empty() && noted_.contains(node));
    }

private:
    void find_bodies() {
        std::vector<bool> calls(model_->graph_count(), false);
        std::vector<bool> changes(model_->graph_count(), false);
        for (id node = 0; node < model_->node_count(); ++node) {
            if (model_->owner(node) == no_id) {
                continue;
            }
            const auto g = model_->graph_of(node);
            if (is_call(node)) {
                calls[g] = true;
                changes[g] = true;
                continue;
            }
            model_->for_each_metadata(node, [&](std::string_view key, std::string_view) {
                if (is_fold_entry(key)) {
                    noted_.insert(node);
                    changes[g] = true;
                }
            });
        }
        for (id g = 0; g < calls.size(); ++g) {
            if (calls[g]) {
                bodies_.push_back(g);
            }
            for (auto node = changes[g] ? model_->graph(g).owner : no_id;
                 node != no_id && holders_.insert(node).second;) {
                node = model_->owner(node);
            }
        }
    }

    const wire_model* model_;
    std::vector<bool> ours_;      // by function
    std::vector<id> local_;       // by value
    std::vector<id> value_count_; // by function
    std::vector<id> bodies_;
    std::unordered_set<id> noted_;
    std::unordered_set<id> holders_;
};

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_FOLDED_FUNCTIONS_HPP

// <stemma/onnx/wire/function_bodies.hpp>
#ifndef STEMMA_ONNX_WIRE_FUNCTION_BODIES_HPP
#define STEMMA_ONNX_WIRE_FUNCTION_BODIES_HPP

namespace stemma {

/// What a node says it is.
struct operator_name {
    std::string_view domain;   ///< "" for the standard one, however it is written
    std::string_view type;     ///< the name of the function, where one is called
    std::string_view overload; ///< "" where it is not written

    friend auto operator<=>(const operator_name&, const operator_name&) = default; // NOLINT
};

/// Returns: what the NodeProto that `fields` reads says it is. Complexity: O(fields).
[[nodiscard]] inline operator_name read_operator_name(wire_reader fields) {
    using at = detail::onnx_fields::node;
    operator_name name;
    for (wire_field field; fields.next(field);) {
        if (field.is_bytes(at::op_type)) {
            name.type = fields.text(field);
        } else if (field.is_bytes(at::domain)) {
            name.domain = plain_domain(fields.text(field));
        } else if (field.is_bytes(at::overload)) {
            name.overload = fields.text(field);
        }
    }
    return name;
}

/// A function of a model, field by field.
struct function_body {
    operator_name name;                              ///< under which nodes call it
    std::vector<std::string_view> inputs;            ///< names of the formal inputs, in order
    std::vector<std::string_view> outputs;           ///< names of the results, in order
    std::vector<wire_field> nodes;                   ///< where each NodeProto stands, in order
    std::map<std::string_view, wire_field> defaults; ///< attributes with values, by name
    std::vector<opset_import> imports;               ///< operator sets that its nodes mean
};

/// Reads the functions of a model. Of two of one name the first counts.
/// Complexity: O(fields of the functions).
[[nodiscard]] inline std::map<operator_name, function_body>
read_function_bodies(const wire_model& model) {
    using at_model = detail::onnx_fields::model;
    using at = detail::onnx_fields::function;
    std::map<operator_name, function_body> bodies;
    auto all = model.reader();
    for (wire_field whole; all.next(whole);) {
        if (!whole.is_bytes(at_model::functions)) {
            continue;
        }
        function_body body;
        auto fields = all.inner(whole);
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(at::name)) {
                body.name.type = fields.text(field);
            } else if (field.is_bytes(at::domain)) {
                body.name.domain = plain_domain(fields.text(field));
            } else if (field.is_bytes(at::overload)) {
                body.name.overload = fields.text(field);
            } else if (field.is_bytes(at::input)) {
                body.inputs.push_back(fields.text(field));
            } else if (field.is_bytes(at::output)) {
                body.outputs.push_back(fields.text(field));
            } else if (field.is_bytes(at::node)) {
                body.nodes.push_back(field);
            } else if (field.is_bytes(at::attribute_proto)) {
                body.defaults.emplace(read_attribute_names(fields.inner(field)).name, field);
            } else if (field.is_bytes(at::opset_import)) {
                body.imports.push_back(read_opset_import(fields.inner(field)));
            }
        }
        const auto name = body.name;
        bodies.emplace(name, std::move(body));
    }
    return bodies;
}

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_FUNCTION_BODIES_HPP

// <stemma/detail/tensor_facts.hpp>
#ifndef STEMMA_DETAIL_TENSOR_FACTS_HPP
#define STEMMA_DETAIL_TENSOR_FACTS_HPP

namespace stemma::detail {

/// The extents of a tensor: numbers, -1 where unknown, or below that named ones.
using extents = std::vector<std::int64_t>;

constexpr std::int64_t any_extent = -1;

// Beyond any real tensor or shape; keeps hostile files from building them without end.
constexpr std::size_t max_extents = 64;

constexpr std::int64_t float_type = 1;
constexpr std::int64_t uint8_type = 2;
constexpr std::int64_t int32_type = 6;
constexpr std::int64_t int64_type = 7;
constexpr std::int64_t bool_type = 9;

/// What is known of a tensor.
struct tensor_facts {
    std::int64_t data_type = 0; // 0: unknown
    std::optional<extents> dims;
    std::optional<extents> numbers; // of a small one: elements, as extents

    [[nodiscard]] bool ranked() const noexcept { return dims.has_value(); }
    [[nodiscard]] std::size_t rank() const noexcept { return dims->size(); }
};

/// Returns: facts without numbers.
[[nodiscard]] inline tensor_facts made(std::int64_t data_type, std::optional<extents> dims) {
    return {data_type, std::move(dims), {}};
}

/// Whether a name stands in a list that has blanks around every name.
[[nodiscard]] inline bool is_one_of(std::string_view name, std::string_view list) {
    if (name.empty() || name.find(' ') != name.npos) {
        return false;
    }
    for (auto at = list.find(name); at != list.npos; at = list.find(name, at + 1)) {
        if (list[at - 1] == ' ' && list[at + name.size()] == ' ') {
            return true;
        }
    }
    return false;
}

/// Returns: numbers that a file gives as extents, of which a negative one says nothing.
[[nodiscard]] inline extents as_extents(extents numbers) {
    for (auto& number : numbers) {
        number = number < 0 ? any_extent : number;
    }
    return numbers;
}

/// Returns: an axis counted from the front, or nothing when it is out of range.
[[nodiscard]] inline std::optional<std::size_t> axis_of(std::int64_t axis, std::size_t rank) {
    const auto signed_rank = static_cast<std::int64_t>(rank);
    axis += axis < 0 ? signed_rank : 0;
    return axis >= 0 && axis < signed_rank ? std::optional(static_cast<std::size_t>(axis))
                                           : std::nullopt;
}

/// Returns: the sum or product of two known extents; unknown when it is no number of 64 bits.
[[nodiscard]] inline std::int64_t add_extents(std::int64_t a, std::int64_t b) {
    std::int64_t sum = 0;
    return a < 0 || b < 0 || __builtin_add_overflow(a, b, &sum) ? any_extent : sum;
}
[[nodiscard]] inline std::int64_t multiply_extents(std::int64_t a, std::int64_t b) {
    std::int64_t product = 0;
    return a < 0 || b < 0 || __builtin_mul_overflow(a, b, &product) ? any_extent : product;
}

/// Returns: the extents of what is computed element by element from two tensors.
[[nodiscard]] inline std::optional<extents> broadcast(const std::optional<extents>& a,
                                                      const std::optional<extents>& b) {
    if (!a || !b) {
        return std::nullopt;
    }
    extents result(std::max(a->size(), b->size()));
    for (std::size_t i = 0; i < result.size(); ++i) {
        const auto x = i < a->size() ? (*a)[a->size() - 1 - i] : 1;
        const auto y = i < b->size() ? (*b)[b->size() - 1 - i] : 1;
        result[result.size() - 1 - i] = x == 1             ? y
                                        : y == 1 || x == y ? x
                                        : x > 1            ? x
                                        : y > 1            ? y
                                                           : any_extent;
    }
    return result;
}

/// Forgets all that `other` does not say too.
inline void keep_common(tensor_facts& common, const tensor_facts& other) {
    if (common.data_type != other.data_type) {
        common.data_type = 0;
    }
    if (!common.ranked() || !other.ranked() || common.rank() != other.rank()) {
        common.dims.reset();
        return;
    }
    for (std::size_t d = 0; d < common.rank(); ++d) {
        if ((*common.dims)[d] != (*other.dims)[d]) {
            (*common.dims)[d] = any_extent;
        }
    }
}

} // namespace stemma::detail

#endif // STEMMA_DETAIL_TENSOR_FACTS_HPP

// <stemma/detail/fact_pool.hpp>
#ifndef STEMMA_DETAIL_FACT_POOL_HPP
#define STEMMA_DETAIL_FACT_POOL_HPP

namespace stemma::detail {

/// Different facts on tensors, each kept once: values of a large model have few shapes. Number 0 is
/// nothing known.
class fact_pool {
public:
    fact_pool() { static_cast<void>(intern({})); }

    /// Returns: the number of these facts, and of all that are equal. Complexity: O(rank),
    /// expected.
    [[nodiscard]] id intern(tensor_facts facts) {
        const auto known = index_.insert(hash_of(facts), static_cast<id>(facts_.size()),
                                         [&](id other) { return is_same(facts_[other], facts); });
        if (known == facts_.size()) {
            facts_.push_back(std::move(facts));
        }
        return known;
    }

    /// Returns: the facts, which stay where they are.
    [[nodiscard]] const tensor_facts& operator[](id number) const noexcept {
        return facts_[number];
    }

private:
    [[nodiscard]] static bool is_same(const tensor_facts& a, const tensor_facts& b) {
        return a.data_type == b.data_type && a.dims == b.dims && a.numbers == b.numbers;
    }

    [[nodiscard]] static std::uint64_t hash_of(const tensor_facts& facts) {
        auto hash = static_cast<std::uint64_t>(facts.data_type);
        for (const auto* numbers : {&facts.dims, &facts.numbers}) {
            hash = hash_mix(hash, *numbers ? (*numbers)->size() + 1 : 0);
            for (auto number : *numbers ? **numbers : extents()) {
                hash = hash_mix(hash, static_cast<std::uint64_t>(number));
            }
        }
        return hash;
    }

    std::deque<tensor_facts> facts_;
    flat_index index_;
};

} // namespace stemma::detail

#endif // STEMMA_DETAIL_FACT_POOL_HPP

// <stemma/detail/tensor_types.hpp>
#ifndef STEMMA_DETAIL_TENSOR_TYPES_HPP
#define STEMMA_DETAIL_TENSOR_TYPES_HPP

namespace stemma::detail {

/// Reads and writes types of tensors: the bytes of a TypeProto. Remembers the names of extents.
class tensor_types {
public:
    /// Throws: `error` of `error_code::malformed` for what is no message.
    [[nodiscard]] tensor_facts read(std::string_view type) {
        tensor_facts facts;
        wire_reader fields(type.data(), 0, static_cast<std::uint32_t>(type.size()), "type");
        for (wire_field field; fields.next(field);) {
            if (!field.is_bytes(1)) {
                continue;
            }
            auto parts = fields.inner(field);
            for (wire_field part; parts.next(part);) {
                if (part.is(1, wire_type::varint)) {
                    facts.data_type = static_cast<std::int64_t>(part.value);
                } else if (part.is_bytes(2)) {
                    facts.dims = read_shape(parts.inner(part));
                }
            }
        }
        return facts;
    }

    /// Requires: `facts` are ranked, and named extents come from `read`.
    [[nodiscard]] std::string write(const tensor_facts& facts) const {
        std::string shape;
        for (auto extent : *facts.dims) {
            std::string dim;
            if (extent >= 0) {
                append_number(1, extent, dim);
            } else if (extent < any_extent) {
                append_field(2, symbols_[static_cast<id>(-2 - extent)], dim);
            }
            append_field(1, dim, shape);
        }
        std::string tensor;
        append_number(1, facts.data_type, tensor);
        append_field(2, shape, tensor);
        std::string type;
        append_field(1, tensor, type);
        return type;
    }

private:
    [[nodiscard]] extents read_shape(wire_reader dims) {
        extents shape;
        for (wire_field dim; dims.next(dim);) {
            if (!dim.is_bytes(1)) {
                continue;
            }
            std::int64_t extent = any_extent;
            auto parts = dims.inner(dim);
            for (wire_field part; parts.next(part);) {
                if (part.is(1, wire_type::varint)) {
                    const auto number = static_cast<std::int64_t>(part.value);
                    extent = number < 0 ? any_extent : number;
                } else if (part.is_bytes(2) && part.size() > 0) {
                    extent = -2 - static_cast<std::int64_t>(symbols_.intern(parts.text(part)));
                }
            }
            shape.push_back(extent);
        }
        return shape;
    }

    string_pool symbols_; // names of extents
};

} // namespace stemma::detail

#endif // STEMMA_DETAIL_TENSOR_TYPES_HPP

// <stemma/detail/fact_table.hpp>
#ifndef STEMMA_DETAIL_FACT_TABLE_HPP
#define STEMMA_DETAIL_FACT_TABLE_HPP

namespace stemma::detail {

/// What is known of all values of a model, and what its nodes say of their operands.
class fact_table {
public:
    /// Starts with declared types and what initializers are.
    fact_table(const wire_model& model, value_types& types)
        : model_(&model)
        , facts_(model.value_count(), 0)
        , tensor_of_(model.value_count(), no_id)
        , literals_(model.value_count(), 0) {
        for (const auto& opset : model.opset_imports()) {
            if (plain_domain(opset.domain).empty()) {
                opset_ = opset.version;
            }
        }
        for (id value = 0; value < model.value_count(); ++value) {
            if (types.has_type(value)) {
                put(value, types_.read(*types.type_of(value)));
            }
        }
        const auto tensors = model.tensors();
        for (id i = 0; i < tensors.size(); ++i) {
            const auto& tensor = tensors[i];
            if (tensor_of_[tensor.value] == no_id) {
                tensor_of_[tensor.value] = i;
            }
            auto known = (*this)[tensor.value];
            if (tensor.sparse) {
                known.data_type = read_tensor_header(model, tensor).data_type;
            } else {
                auto read = read_whole_numbers(model.reader(tensor.message));
                known.data_type = read.data_type;
                known.dims = as_extents(read.dims);
                note_numbers(known, std::move(read));
            }
            put(tensor.value, std::move(known));
        }
        is_constant_.resize(model.operator_count());
        for (id op = 0; op < model.operator_count(); ++op) {
            is_constant_[op] =
                model.operator_type(op) == "Constant" && model.operator_domain(op).empty();
        }
    }

    /// What inference of one node found out.
    struct inferred {
        std::vector<std::pair<id, id>> made; ///< output, and what is known of it
        bool looks_closer = false;           ///< at attributes or constants
    };

    [[nodiscard]] const wire_model& model() const noexcept { return *model_; }
    /// Returns: the opset of the standard domain, 0 when the model imports none.
    [[nodiscard]] std::int64_t opset() const noexcept { return opset_; }

    [[nodiscard]] const tensor_facts& operator[](id value) const noexcept {
        return pool_[facts_[value]];
    }

    /// Replaces what is known of a value.
    void put(id value, tensor_facts facts) {
        forget_monsters(facts);
        facts_[value] = pool_.intern(std::move(facts));
    }

    /// Returns: the attributes of a node.
    [[nodiscard]] node_attributes attributes(id node) const {
        seen_.looks_closer = true;
        return {*model_, node};
    }

    /// Returns: the TypeProto that the facts on a value make.
    /// Requires: they are ranked.
    [[nodiscard]] std::string type_of(id value) const { return types_.write((*this)[value]); }

    /// Returns: what is known of an input; nothing for one that is left out.
    [[nodiscard]] const tensor_facts& input(id node, std::size_t slot) const {
        const auto inputs = model_->inputs(node);
        return slot < inputs.size() && inputs[slot] != no_id ? (*this)[inputs[slot]] : pool_[0];
    }

    [[nodiscard]] bool has_input(id node, std::size_t slot) const {
        return slot < model_->inputs(node).size() && model_->inputs(node)[slot] != no_id;
    }

    /// Notes what is learned of an output; what was known before stays.
    void set(id node, std::size_t output, tensor_facts facts) {
        if (output >= model_->output_count(node)) {
            return;
        }
        forget_monsters(facts);
        note(node, static_cast<id>(output), pool_.intern(std::move(facts)));
    }

    /// As `set`, for facts of this number.
    void note(id node, id output, id number) {
        if (watching_) {
            seen_.made.emplace_back(output, number);
        }
        auto& known = facts_[model_->first_output(node) + output];
        if (known == 0) {
            known = number;
        } else if (known != number) {
            known = pool_.intern(joined(pool_[known], pool_[number]));
        }
    }

    /// Keeps, until `stop_watching`, what is learned and whether attributes or constants are read.
    void watch() {
        seen_ = {};
        watching_ = true;
    }
    [[nodiscard]] inferred stop_watching() {
        watching_ = false;
        return std::exchange(seen_, {});
    }

    /// Appends to a key what the operator of a node is, and what is known of its inputs.
    void append_inputs(id node, std::string& key) const {
        append_number(model_->operator_id(node), key);
        append_number(model_->output_count(node), key);
        for (auto value : model_->inputs(node)) {
            append_number(value == no_id ? no_id : facts_[value], key);
        }
    }

    /// Appends to a key the attributes of a node and the constants that it reads.
    /// Returns: false where they are too long to be kept.
    [[nodiscard]] bool append_details(id node, std::string& key) {
        constexpr std::uint32_t most_bytes = 512;
        if (model_->message(node).size > most_bytes) {
            return false;
        }
        for (auto value : model_->inputs(node)) {
            append_number(value == no_id ? 0 : literal_number(value), key);
        }
        auto fields = model_->reader(model_->message(node));
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(detail::onnx_fields::node::attribute)) {
                key.append(fields.whole(field));
            }
        }
        return true;
    }

    [[nodiscard]] std::optional<extents> broadcast_inputs(id node) const {
        std::optional<extents> dims = input(node, 0).dims;
        for (std::size_t slot = 1; slot < model_->inputs(node).size(); ++slot) {
            dims = broadcast(dims, input(node, slot).dims);
        }
        return dims;
    }

    /// Returns: the numbers in an input, or those of an attribute that older opsets have instead.
    [[nodiscard]] std::optional<extents> numbers_of(id node, std::size_t slot,
                                                    std::string_view name) const {
        if (has_input(node, slot)) {
            const auto value = model_->inputs(node)[slot];
            return literal(value);
        }
        return attributes(node).wholes(name);
    }

    /// Returns: the elements of a small constant, signs and all.
    [[nodiscard]] std::optional<extents> literal(id value) const {
        seen_.looks_closer = true;
        return read_literal(value);
    }

    /// Returns: how many elements a small one-dimensional input has.
    [[nodiscard]] static std::optional<std::size_t> length_of(const tensor_facts& facts) {
        if (facts.ranked() && facts.rank() == 1 && facts.dims->front() >= 0 &&
            facts.dims->front() <= static_cast<std::int64_t>(max_extents)) {
            return static_cast<std::size_t>(facts.dims->front());
        }
        return std::nullopt;
    }

    /// Returns: the shape that a tensor of extents asks for.
    [[nodiscard]] static std::optional<extents> shape_in(const tensor_facts& facts) {
        if (facts.numbers) {
            return facts.numbers;
        }
        const auto length = length_of(facts);
        return length ? std::optional(extents(*length, any_extent)) : std::nullopt;
    }

    static void note_numbers(tensor_facts& facts, whole_numbers tensor) {
        if (tensor.known && tensor.dims.size() <= 1 && tensor.data_type != bool_type) {
            facts.numbers = as_extents(std::move(tensor.values));
        }
    }

private:
    [[nodiscard]] std::optional<extents> read_literal(id value) const {
        if (model_->is_initializer(value)) {
            const auto& tensor = model_->tensors()[tensor_of_[value]];
            if (tensor.sparse) {
                return std::nullopt;
            }
            auto numbers = read_whole_numbers(model_->reader(tensor.message));
            return numbers.known ? std::optional(std::move(numbers.values)) : std::nullopt;
        }
        const auto producer = model_->producer(value);
        if (producer == no_id || !is_constant_[model_->operator_id(producer)]) {
            return std::nullopt;
        }
        const node_attributes attributes(*model_, producer);
        if (auto tensor = attributes.tensor("value")) {
            return tensor->known ? std::optional(std::move(tensor->values)) : std::nullopt;
        }
        if (const auto whole = attributes.whole("value_int")) {
            return extents{*whole};
        }
        auto numbers = attributes.wholes("value_ints");
        return numbers && numbers->size() <= max_extents ? numbers : std::nullopt;
    }

    /// Returns: a number that equal constants share; 0 for what is none.
    [[nodiscard]] id literal_number(id value) {
        if (literals_[value] == 0) {
            auto read = read_literal(value);
            literals_[value] = read ? pool_.intern({0, {}, std::move(read)}) : no_id;
        }
        return literals_[value] == no_id ? 0 : literals_[value];
    }

    static void append_number(id number, std::string& key) {
        char bytes[sizeof number];
        std::memcpy(bytes, &number, sizeof number);
        key.append(bytes, sizeof number);
    }

    /// Returns: what was known, and what is learned beyond that.
    [[nodiscard]] static tensor_facts joined(tensor_facts known, const tensor_facts& facts) {
        if (known.data_type == 0) {
            known.data_type = facts.data_type;
        }
        if (!known.ranked()) {
            known.dims = facts.dims;
        } else if (facts.ranked() && facts.rank() == known.rank()) {
            for (std::size_t i = 0; i < known.rank(); ++i) {
                auto& extent = (*known.dims)[i];
                extent = extent == any_extent ? (*facts.dims)[i] : extent;
            }
        }
        if (!known.numbers) {
            known.numbers = facts.numbers;
        }
        return known;
    }

    static void forget_monsters(tensor_facts& facts) {
        if (facts.ranked() && facts.rank() > max_extents) {
            facts.dims.reset();
        }
        if (facts.numbers && facts.numbers->size() > max_extents) {
            facts.numbers.reset();
        }
    }

    const wire_model* model_;
    fact_pool pool_;
    std::vector<id> facts_;     // by value: number in the pool
    std::vector<id> tensor_of_; // by value: number of the initializer
    std::vector<id> literals_;  // by value: number in the pool, or `no_id`; 0 until it is asked for
    std::vector<bool> is_constant_; // by operator: Constant
    mutable inferred seen_;
    bool watching_ = false;
    tensor_types types_;
    std::int64_t opset_ = 0;
};

} // namespace stemma::detail

#endif // STEMMA_DETAIL_FACT_TABLE_HPP

// <stemma/detail/computed_facts.hpp>
#ifndef STEMMA_DETAIL_COMPUTED_FACTS_HPP
#define STEMMA_DETAIL_COMPUTED_FACTS_HPP

namespace stemma::detail {

/// Infers what products, windows, reductions and the like make.
class computed_facts {
public:
    /// Requires: `table` outlives this.
    explicit computed_facts(fact_table& table) : table_(table) {}

    /// Returns: whether the operator is one of them.
    bool infer(id node, std::string_view op) {
        if (is_one_of(op, " Dropout BatchNormalization LayerNormalization ")) {
            infer_normalization(node, op);
        } else if (is_one_of(op, " MatMul MatMulInteger Gemm ")) {
            infer_product(node, op);
        } else if (is_one_of(op, " Conv ConvTranspose MaxPool AveragePool LpPool GlobalAveragePool "
                                 "GlobalMaxPool GlobalLpPool ConvInteger ")) {
            infer_window(node, op);
        } else if (op.starts_with("Reduce") ||
                   is_one_of(op, " ArgMax ArgMin TopK OneHot NonZero ")) {
            infer_reduction(node, op);
        } else if (is_one_of(op, " LSTM GRU RNN ")) {
            infer_recurrence(node, op);
        } else if (is_one_of(op, " QuantizeLinear DequantizeLinear DynamicQuantizeLinear ")) {
            infer_quantization(node, op);
        } else if (op == "Einsum") {
            infer_einsum(node);
        } else if (op == "GridSample") {
            infer_grid_sample(node);
        } else if (op == "NonMaxSuppression") {
            table_.set(node, 0, made(int64_type, extents{any_extent, 3}));
        } else {
            return false;
        }
        return true;
    }

    /// A MatMul whose attributes say which of its inputs are transposed.
    void infer_turned_product(id node) {
        const auto attributes = table_.attributes(node);
        const auto is_set = [&](std::string_view name) {
            return attributes.whole(name).value_or(0) != 0;
        };
        if (is_set("transBatchA") || is_set("transBatchB")) {
            return;
        }
        auto a = table_.input(node, 0);
        auto b = table_.input(node, 1);
        for (auto [x, turned] : {std::pair(&a, is_set("transA")), {&b, is_set("transB")}}) {
            if (turned && x->ranked() && x->rank() > 1) {
                std::swap(x->dims->back(), (*x->dims)[x->rank() - 2]);
            }
        }
        set_product(node, a, b, a.data_type);
    }

private:
    void infer_normalization(id node, std::string_view op) {
        const auto& x = table_.input(node, 0);
        table_.set(node, 0, made(x.data_type, x.dims));
        if (op == "Dropout") {
            table_.set(node, 1, made(table_.opset() < 10 ? x.data_type : bool_type, x.dims));
        } else if (op == "BatchNormalization") {
            for (std::size_t i = 1; i < table_.model().output_count(node); ++i) {
                const auto& own = table_.input(node, std::min<std::size_t>(i, 2) + 2);
                table_.set(node, i, made(own.data_type, own.dims));
            }
        } else if (x.ranked()) {
            const auto axis = axis_of(table_.attributes(node).whole("axis").value_or(-1), x.rank());
            auto reduced = *x.dims;
            for (auto i = axis.value_or(reduced.size()); i < reduced.size(); ++i) {
                reduced[i] = 1;
            }
            table_.set(node, 1, made(float_type, reduced));
            table_.set(node, 2, made(float_type, reduced));
        }
    }

    void infer_product(id node, std::string_view op) {
        const auto& a = table_.input(node, 0);
        const auto& b = table_.input(node, 1);
        if (!a.ranked() || !b.ranked()) {
            return;
        }
        if (op == "Gemm") {
            const auto attributes = table_.attributes(node);
            if (a.rank() == 2 && b.rank() == 2) {
                const bool turned_a = attributes.whole("transA").value_or(0) != 0;
                const bool turned_b = attributes.whole("transB").value_or(0) != 0;
                table_.set(node, 0,
                           made(a.data_type,
                                extents{(*a.dims)[turned_a ? 1 : 0], (*b.dims)[turned_b ? 0 : 1]}));
            }
            return;
        }
        set_product(node, a, b, op == "MatMul" ? a.data_type : int32_type);
    }

    void set_product(id node, const tensor_facts& a, const tensor_facts& b,
                     std::int64_t data_type) {
        if (!a.ranked() || !b.ranked() || a.rank() == 0 || b.rank() == 0) {
            return;
        }
        const auto front = [](const extents& dims) {
            return std::optional(extents(dims.begin(), dims.end() - (dims.size() > 1 ? 2 : 1)));
        };
        auto dims = *broadcast(front(*a.dims), front(*b.dims));
        if (a.rank() > 1) {
            dims.push_back((*a.dims)[a.rank() - 2]);
        }
        if (b.rank() > 1) {
            dims.push_back(b.dims->back());
        }
        table_.set(node, 0, made(data_type, std::move(dims)));
    }

    void infer_window(id node, std::string_view op) {
        const auto& x = table_.input(node, 0);
        if (!x.ranked() || x.rank() < 2) {
            return;
        }
        extents dims(x.rank(), op.starts_with("Global") ? 1 : any_extent);
        dims[0] = (*x.dims)[0];
        const bool convolves = op.starts_with("Conv");
        const auto& w = table_.input(node, 1);
        dims[1] = !convolves ? (*x.dims)[1] : any_extent;
        if (convolves && w.ranked() && w.rank() == x.rank() && op != "ConvTranspose") {
            dims[1] = (*w.dims)[0];
        }
        if (!op.starts_with("Global") && op != "ConvTranspose") {
            slide(node, x, convolves ? &w : nullptr, dims);
        }
        table_.set(node, 0, made(op == "ConvInteger" ? int32_type : x.data_type, dims));
        table_.set(node, 1, made(int64_type, dims));
    }

    /// Extents behind a window that moves over the input, where all that counts is known.
    void slide(id node, const tensor_facts& x, const tensor_facts* w, extents& dims) const {
        const auto attributes = table_.attributes(node);
        const auto spatial = x.rank() - 2;
        const auto filled = [&](std::string_view name, std::size_t count, std::int64_t value) {
            auto numbers = attributes.wholes(name).value_or(extents{});
            numbers.resize(count, value);
            return numbers;
        };
        auto kernel = attributes.wholes("kernel_shape").value_or(extents{});
        if (kernel.empty() && w != nullptr && w->ranked() && w->rank() == x.rank()) {
            kernel.assign(w->dims->begin() + 2, w->dims->end());
        }
        const auto strides = filled("strides", spatial, 1);
        const auto dilations = filled("dilations", spatial, 1);
        const auto pads = filled("pads", 2 * spatial, 0);
        const auto automatic = attributes.text("auto_pad");
        const bool same = automatic.starts_with("SAME");
        const auto up = attributes.whole("ceil_mode").value_or(0) != 0 ? 1 : 0;
        for (std::size_t i = 0; i < spatial && kernel.size() == spatial; ++i) {
            const auto extent = (*x.dims)[i + 2];
            if (extent < 0 || kernel[i] < 1 || strides[i] < 1 || up != 0) {
                continue;
            }
            const auto reach = multiply_extents(kernel[i] - 1, dilations[i]);
            const auto padded = automatic == "VALID"
                                    ? extent
                                    : add_extents(extent, add_extents(pads[i], pads[i + spatial]));
            if (same) {
                dims[i + 2] = extent / strides[i] + (extent % strides[i] != 0 ? 1 : 0);
            } else if (reach >= 0 && padded > reach) {
                dims[i + 2] = (padded - reach - 1) / strides[i] + 1;
            }
        }
    }

    void infer_reduction(id node, std::string_view op) {
        const auto& x = table_.input(node, 0);
        const auto attributes = table_.attributes(node);
        if (op == "NonZero") {
            table_.set(node, 0,
                       made(int64_type,
                            extents{x.ranked() ? static_cast<std::int64_t>(x.rank()) : any_extent,
                                    any_extent}));
            return;
        }
        if (!x.ranked()) {
            return;
        }
        if (op == "OneHot") {
            table_.set(node, 0,
                       made(table_.input(node, 2).data_type, extents(x.rank() + 1, any_extent)));
            return;
        }
        if (op == "TopK") {
            if (const auto axis = axis_of(attributes.whole("axis").value_or(-1), x.rank())) {
                auto dims = *x.dims;
                dims[*axis] = any_extent;
                table_.set(node, 0, made(x.data_type, dims));
                table_.set(node, 1, made(int64_type, dims));
            }
            return;
        }
        const bool by_argument = op.starts_with("Arg");
        const bool keeps = attributes.whole("keepdims").value_or(1) != 0;
        std::optional<extents> axes;
        if (by_argument) {
            axes = extents{attributes.whole("axis").value_or(0)};
        } else {
            axes = table_.numbers_of(node, 1, "axes");
            if (!axes && table_.has_input(node, 1)) {
                if (keeps) {
                    table_.set(node, 0, made(x.data_type, extents(x.rank(), any_extent)));
                }
                return;
            }
        }
        std::vector<bool> reduced(x.rank(), !axes || axes->empty());
        if (axes && axes->empty() && attributes.whole("noop_with_empty_axes").value_or(0) != 0) {
            reduced.assign(x.rank(), false);
        }
        for (auto axis : axes.value_or(extents{})) {
            if (const auto at = axis_of(axis, x.rank())) {
                reduced[*at] = true;
            }
        }
        extents dims;
        for (std::size_t i = 0; i < x.rank(); ++i) {
            if (!reduced[i] || keeps) {
                dims.push_back(reduced[i] ? 1 : (*x.dims)[i]);
            }
        }
        table_.set(node, 0, made(by_argument ? int64_type : x.data_type, std::move(dims)));
    }

    void infer_recurrence(id node, std::string_view op) {
        const auto& x = table_.input(node, 0);
        const auto& r = table_.input(node, 2);
        if (!x.ranked() || x.rank() != 3 || table_.attributes(node).whole("layout") == 1) {
            return;
        }
        const auto directions = r.ranked() && r.rank() == 3 ? (*r.dims)[0] : any_extent;
        const auto hidden = r.ranked() && r.rank() == 3 ? (*r.dims)[2] : any_extent;
        table_.set(node, 0,
                   made(x.data_type, extents{(*x.dims)[0], directions, (*x.dims)[1], hidden}));
        table_.set(node, 1, made(x.data_type, extents{directions, (*x.dims)[1], hidden}));
        if (op == "LSTM") {
            table_.set(node, 2, made(x.data_type, extents{directions, (*x.dims)[1], hidden}));
        }
    }

    void infer_quantization(id node, std::string_view op) {
        const auto& x = table_.input(node, 0);
        if (op == "DequantizeLinear") {
            table_.set(node, 0, made(table_.input(node, 1).data_type, x.dims));
        } else if (op == "QuantizeLinear") {
            const auto asked = table_.attributes(node).whole("output_dtype").value_or(0);
            table_.set(node, 0,
                       made(table_.has_input(node, 2) ? table_.input(node, 2).data_type
                            : asked != 0              ? asked
                                                      : uint8_type,
                            x.dims));
        } else {
            table_.set(node, 0, made(uint8_type, x.dims));
            table_.set(node, 1, made(float_type, extents{}));
            table_.set(node, 2, made(uint8_type, extents{}));
        }
    }

    /// Equations with `...` are left alone.
    void infer_einsum(id node) {
        std::string equation(table_.attributes(node).text("equation"));
        equation.erase(std::remove(equation.begin(), equation.end(), ' '), equation.end());
        if (equation.find('.') != equation.npos) {
            return;
        }
        const auto arrow = equation.find("->");
        std::map<char, std::int64_t> extent_of;
        std::map<char, unsigned> uses;
        std::size_t slot = 0;
        std::size_t place = 0;
        for (const char letter : equation.substr(0, arrow)) {
            if (letter == ',') {
                ++slot;
                place = 0;
                continue;
            }
            const auto& x = table_.input(node, slot);
            const auto extent = x.ranked() && place < x.rank() ? (*x.dims)[place] : any_extent;
            ++place;
            ++uses[letter];
            const auto known = extent_of.try_emplace(letter, extent).first;
            known->second = broadcast(extents{known->second}, extents{extent})->front();
        }
        std::string result;
        if (arrow != equation.npos) {
            result = equation.substr(arrow + 2);
        } else {
            for (const auto& [letter, count] : uses) {
                result.append(count == 1 ? 1 : 0, letter);
            }
        }
        extents dims;
        for (const char letter : result) {
            const auto known = extent_of.find(letter);
            dims.push_back(known == extent_of.end() ? any_extent : known->second);
        }
        if (dims.size() <= max_extents) {
            table_.set(node, 0, made(table_.input(node, 0).data_type, std::move(dims)));
        }
    }

    void infer_grid_sample(id node) {
        const auto& x = table_.input(node, 0);
        const auto& grid = table_.input(node, 1);
        if (!x.ranked() || !grid.ranked() || x.rank() != grid.rank() || x.rank() < 3) {
            return;
        }
        extents dims(x.dims->begin(), x.dims->begin() + 2);
        dims.insert(dims.end(), grid.dims->begin() + 1, grid.dims->end() - 1);
        table_.set(node, 0, made(x.data_type, std::move(dims)));
    }

    fact_table& table_;
};

} // namespace stemma::detail

#endif // STEMMA_DETAIL_COMPUTED_FACTS_HPP

// <stemma/detail/elementwise_facts.hpp>
#ifndef STEMMA_DETAIL_ELEMENTWISE_FACTS_HPP
#define STEMMA_DETAIL_ELEMENTWISE_FACTS_HPP

namespace stemma::detail {

/// Infers what operators make that work element by element.
class elementwise_facts {
public:
    /// Requires: `table` outlives this.
    explicit elementwise_facts(fact_table& table) : table_(table) {}

    /// Returns: whether the operator is one of them.
    bool infer(id node, std::string_view op) {
        const auto& x = table_.input(node, 0);
        if (is_one_of(
                op, " Abs Acos Acosh Asin Asinh Atan Atanh Celu Ceil Clip Cos Cosh CumSum Elu Erf "
                    "Exp Floor Gelu GroupNormalization HardSigmoid HardSwish Hardmax Identity "
                    "InstanceNormalization LRN LeakyRelu Log LogSoftmax LpNormalization "
                    "MeanVarianceNormalization Mish Neg PRelu RMSNormalization Reciprocal Relu "
                    "ReverseSequence Round Scatter ScatterElements ScatterND Selu Shrink Sigmoid "
                    "Sign SimplifiedLayerNormalization Sin Sinh Softmax Softplus Softsign Sqrt "
                    "Swish Tan Tanh ThresholdedRelu "
                    "Trilu BitwiseNot Not ")) {
            table_.set(node, 0, {x.data_type, x.dims, op == "Identity" ? x.numbers : std::nullopt});
        } else if (is_one_of(op,
                             " Add Sub Mul Div Pow Mod And Or Xor BitShift BitwiseAnd BitwiseOr "
                             "BitwiseXor Max Min Sum Mean ")) {
            table_.set(node, 0, {x.data_type, table_.broadcast_inputs(node), arithmetic(node, op)});
        } else if (is_one_of(op, " Equal Greater Less GreaterOrEqual LessOrEqual ")) {
            table_.set(node, 0, made(bool_type, table_.broadcast_inputs(node)));
        } else if (is_one_of(op, " IsNaN IsInf ")) {
            table_.set(node, 0, made(bool_type, x.dims));
        } else if (op == "Where") {
            table_.set(node, 0,
                       made(table_.input(node, 1).data_type, table_.broadcast_inputs(node)));
        } else if (op == "Cast") {
            table_.set(node, 0,
                       {table_.attributes(node).whole("to").value_or(0), x.dims, x.numbers});
        } else if (op == "CastLike") {
            table_.set(node, 0, {table_.input(node, 1).data_type, x.dims, x.numbers});
        } else {
            return false;
        }
        return true;
    }

private:
    /// Sums and products of extents.
    [[nodiscard]] std::optional<extents> arithmetic(id node, std::string_view op) const {
        const auto& a = table_.input(node, 0).numbers;
        const auto& b = table_.input(node, 1).numbers;
        if (!a || !b || a->size() != b->size() || table_.model().inputs(node).size() != 2) {
            return std::nullopt;
        }
        extents result;
        for (std::size_t i = 0; i < a->size(); ++i) {
            result.push_back(op == "Add"   ? add_extents((*a)[i], (*b)[i])
                             : op == "Mul" ? multiply_extents((*a)[i], (*b)[i])
                                           : any_extent);
        }
        return result;
    }

    fact_table& table_;
};

} // namespace stemma::detail

#endif // STEMMA_DETAIL_ELEMENTWISE_FACTS_HPP

// <stemma/detail/fact_memo.hpp>
#ifndef STEMMA_DETAIL_FACT_MEMO_HPP
#define STEMMA_DETAIL_FACT_MEMO_HPP

namespace stemma::detail {

/// Infers each kind of node once: what an operator makes follows from what is known of its inputs,
/// and, where inference looks at them, from its attributes and small constants that it reads.
class fact_memo {
public:
    /// Requires: `table` outlives this.
    explicit fact_memo(fact_table& table) : table_(table) {}

    /// Notes in the table what `infer()` would find out of a node, asking it where that is not
    /// known already. Complexity: O(inputs, bytes of attributes), expected, and that of `infer`.
    template <class Infer>
    void infer(id node, Infer infer) {
        key_.clear();
        table_.append_inputs(node, key_);
        auto known = known_.find(std::string_view(key_));
        const bool looks_closer = known != known_.end() && known->second.looks_closer;
        if (looks_closer) {
            if (!table_.append_details(node, key_)) {
                infer();
                return;
            }
            known = known_.find(std::string_view(key_));
        }
        if (known != known_.end()) {
            for (const auto& [output, facts] : known->second.made) {
                table_.note(node, output, facts);
            }
            return;
        }
        table_.watch();
        infer();
        auto seen = table_.stop_watching();
        if (known_.size() >= most) {
            return;
        }
        if (seen.looks_closer && !looks_closer) {
            known_[key_].looks_closer = true;
            if (!table_.append_details(node, key_)) {
                return;
            }
        }
        seen.looks_closer = false;
        known_.insert_or_assign(key_, std::move(seen));
    }

private:
    // Of models in which no two nodes are alike, not all is kept.
    static constexpr std::size_t most = std::size_t{1} << 16U;

    struct hash_text {
        using is_transparent = void;
        [[nodiscard]] std::size_t operator()(std::string_view text) const noexcept {
            return static_cast<std::size_t>(hash_bytes(text));
        }
    };

    fact_table& table_;
    std::string key_;
    std::unordered_map<std::string, fact_table::inferred, hash_text, std::equal_to<>> known_;
};

} // namespace stemma::detail

#endif // STEMMA_DETAIL_FACT_MEMO_HPP

// <stemma/detail/fused_facts.hpp>
#ifndef STEMMA_DETAIL_FUSED_FACTS_HPP
#define STEMMA_DETAIL_FUSED_FACTS_HPP

namespace stemma::detail {

/// Infers what those operators of `com.microsoft` make that ONNX Runtime puts in the place of
/// several standard ones when it saves a model that it optimized.
class fused_facts {
public:
    /// Requires: both outlive this.
    fused_facts(fact_table& table, computed_facts& computed) : table_(table), computed_(computed) {}

    /// Returns: whether the operator is one of them.
    bool infer(id node, std::string_view op) {
        const auto like_first = [&](std::size_t output) {
            const auto& x = table_.input(node, 0);
            table_.set(node, output, made(x.data_type, x.dims));
        };
        if (is_one_of(op, " Gelu FastGelu QuickGelu BiasGelu ")) {
            like_first(0);
        } else if (is_one_of(op, " SkipLayerNormalization SkipSimplifiedLayerNormalization ")) {
            like_first(0);
            like_first(3); // the sum that is normalized
        } else if (op == "FusedConv") {
            computed_.infer(node, "Conv");
        } else if (op == "FusedGemm") {
            computed_.infer(node, "Gemm");
        } else if (op == "FusedMatMul") {
            computed_.infer_turned_product(node);
        } else {
            return false;
        }
        return true;
    }

private:
    fact_table& table_;
    computed_facts& computed_;
};

} // namespace stemma::detail

#endif // STEMMA_DETAIL_FUSED_FACTS_HPP

// <stemma/detail/moved_facts.hpp>
#ifndef STEMMA_DETAIL_MOVED_FACTS_HPP
#define STEMMA_DETAIL_MOVED_FACTS_HPP

namespace stemma::detail {

/// Infers what constants, shapes, and operators that move elements without changing them make.
class moved_facts {
public:
    /// Requires: `table` outlives this.
    explicit moved_facts(fact_table& table) : table_(table) {}

    /// Returns: whether the operator is one of them.
    bool infer(id node, std::string_view op) {
        if (op == "Constant") {
            infer_constant(node);
        } else if (is_one_of(op,
                             " Shape Size ConstantOfShape Expand Reshape Flatten Range Tile ")) {
            infer_shape_operator(node, op);
        } else if (is_one_of(op,
                             " Unsqueeze Squeeze Transpose Gather GatherElements GatherND Concat "
                             "Pad Resize Upsample DepthToSpace SpaceToDepth ")) {
            infer_movement(node, op);
        } else {
            return false;
        }
        return true;
    }

private:
    void infer_constant(id node) {
        const auto attributes = table_.attributes(node);
        if (auto tensor = attributes.tensor("value")) {
            auto facts = made(tensor->data_type, as_extents(tensor->dims));
            fact_table::note_numbers(facts, std::move(*tensor));
            table_.set(node, 0, std::move(facts));
        }
        attributes.for_each([&](std::string_view name, wire_reader) {
            if (name == "value_int") {
                table_.set(node, 0, made(int64_type, extents{}));
            } else if (name == "value_float") {
                table_.set(node, 0, made(float_type, extents{}));
            } else if (name == "value_ints") {
                const auto count = attributes.wholes(name)->size();
                table_.set(node, 0, made(int64_type, extents{static_cast<std::int64_t>(count)}));
            } else if (name == "value_floats") {
                table_.set(node, 0, made(float_type, extents{any_extent}));
            }
        });
    }

    void infer_shape_operator(id node, std::string_view op) {
        const auto& x = table_.input(node, 0);
        const auto attributes = table_.attributes(node);
        if (op == "Size") {
            table_.set(node, 0, made(int64_type, extents{}));
        } else if (op == "Shape") {
            infer_shape(node, x, attributes);
        } else if (op == "ConstantOfShape") {
            const auto value = attributes.tensor("value");
            table_.set(node, 0,
                       made(value ? value->data_type : float_type, fact_table::shape_in(x)));
        } else if (op == "Expand") {
            table_.set(
                node, 0,
                made(x.data_type, broadcast(x.dims, fact_table::shape_in(table_.input(node, 1)))));
        } else if (op == "Reshape") {
            infer_reshape(node, x);
        } else if (op == "Flatten") {
            table_.set(node, 0, made(x.data_type, extents{any_extent, any_extent}));
        } else if (op == "Range") {
            table_.set(node, 0, made(x.data_type, extents{any_extent}));
        } else if (x.ranked()) {
            table_.set(node, 0, made(x.data_type, extents(x.rank(), any_extent)));
        }
    }

    void infer_shape(id node, const tensor_facts& x, const node_attributes& attributes) {
        if (!x.ranked()) {
            table_.set(node, 0, made(int64_type, extents{any_extent}));
            return;
        }
        const auto rank = static_cast<std::int64_t>(x.rank());
        const auto clamp = [&](std::int64_t at) {
            return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank);
        };
        const auto first = clamp(attributes.whole("start").value_or(0));
        const auto last = std::max(first, clamp(attributes.whole("end").value_or(rank)));
        tensor_facts facts = made(int64_type, extents{last - first});
        facts.numbers = extents(x.dims->begin() + first, x.dims->begin() + last);
        table_.set(node, 0, std::move(facts));
    }

    void infer_reshape(id node, const tensor_facts& x) {
        if (!table_.has_input(node, 1)) {
            const auto shape = table_.attributes(node).wholes("shape");
            table_.set(node, 0,
                       made(x.data_type, shape ? std::optional(extents(shape->size(), any_extent))
                                               : std::nullopt));
            return;
        }
        auto dims = fact_table::shape_in(table_.input(node, 1));
        if (const auto exact = table_.literal(table_.model().inputs(node)[1])) {
            dims = as_extents(*exact);
            std::int64_t rest = 1;
            std::size_t open = dims->size();
            bool known = x.ranked();
            for (std::size_t i = 0; i < dims->size(); ++i) {
                auto& extent = (*dims)[i];
                if (extent == 0) {
                    extent = x.ranked() && i < x.rank() ? (*x.dims)[i] : any_extent;
                }
                if ((*exact)[i] == -1) {
                    open = i;
                } else if (extent < 0 || __builtin_mul_overflow(rest, extent, &rest)) {
                    known = false;
                }
            }
            std::int64_t all = 1;
            for (std::size_t i = 0; known && i < x.rank(); ++i) {
                known = (*x.dims)[i] >= 0 && !__builtin_mul_overflow(all, (*x.dims)[i], &all);
            }
            if (open < dims->size()) {
                (*dims)[open] = known && rest > 0 ? all / rest : any_extent;
            }
        }
        table_.set(node, 0, made(x.data_type, std::move(dims)));
    }

    void infer_movement(id node, std::string_view op) {
        const auto& x = table_.input(node, 0);
        if (op == "Unsqueeze") {
            infer_unsqueeze(node, x);
        } else if (op == "Squeeze") {
            infer_squeeze(node, x);
        } else if (op == "Transpose") {
            infer_transpose(node, x);
        } else if (op == "Concat") {
            infer_concat(node);
        } else if (op.starts_with("Gather")) {
            infer_gather(node, op, x);
        } else if (x.ranked()) {
            table_.set(node, 0, made(x.data_type, extents(x.rank(), any_extent)));
        }
    }

    void infer_unsqueeze(id node, const tensor_facts& x) {
        const auto axes = table_.numbers_of(node, 1, "axes");
        const auto added =
            axes ? std::optional(axes->size()) : fact_table::length_of(table_.input(node, 1));
        if (!x.ranked() || !added) {
            return;
        }
        const auto rank = x.rank() + *added;
        if (rank > max_extents) {
            return;
        }
        extents dims(rank, any_extent);
        if (axes) {
            std::vector<bool> is_new(rank, false);
            for (auto axis : *axes) {
                const auto at = axis_of(axis, rank);
                if (!at) {
                    return;
                }
                is_new[*at] = true;
            }
            std::size_t from = 0;
            for (std::size_t i = 0; i < rank; ++i) {
                dims[i] = is_new[i] ? 1 : from < x.rank() ? (*x.dims)[from++] : any_extent;
            }
        }
        table_.set(node, 0,
                   {x.data_type, std::move(dims), x.rank() == 0 ? x.numbers : std::nullopt});
    }

    void infer_squeeze(id node, const tensor_facts& x) {
        const auto axes = table_.numbers_of(node, 1, "axes");
        if (!x.ranked() || (!axes && table_.has_input(node, 1))) {
            return;
        }
        std::vector<bool> gone(x.rank(), false);
        if (axes) {
            for (auto axis : *axes) {
                const auto at = axis_of(axis, x.rank());
                if (!at) {
                    return;
                }
                gone[*at] = true;
            }
        } else {
            for (std::size_t i = 0; i < x.rank(); ++i) {
                if ((*x.dims)[i] < 0) {
                    return; // whether an unknown extent goes is not known
                }
                gone[i] = (*x.dims)[i] == 1;
            }
        }
        extents dims;
        for (std::size_t i = 0; i < x.rank(); ++i) {
            if (!gone[i]) {
                dims.push_back((*x.dims)[i]);
            }
        }
        table_.set(node, 0, {x.data_type, std::move(dims), x.numbers});
    }

    void infer_transpose(id node, const tensor_facts& x) {
        if (!x.ranked()) {
            return;
        }
        auto order = table_.attributes(node).wholes("perm").value_or(extents{});
        for (auto i = x.rank(); order.size() < x.rank() && i-- > 0;) {
            order.push_back(static_cast<std::int64_t>(i));
        }
        extents dims;
        for (auto from : order) {
            const auto at = axis_of(from, x.rank());
            dims.push_back(at ? (*x.dims)[*at] : any_extent);
        }
        if (dims.size() == x.rank()) {
            table_.set(node, 0, made(x.data_type, std::move(dims)));
        }
    }

    void infer_concat(id node) {
        const auto& x = table_.input(node, 0);
        std::optional<extents> dims = x.dims;
        std::optional<extents> numbers = extents{};
        for (std::size_t slot = 0; slot < table_.model().inputs(node).size(); ++slot) {
            const auto& part = table_.input(node, slot);
            if (!dims && part.ranked()) {
                dims = extents(part.rank(), any_extent);
            }
            if (numbers && numbers->size() > max_extents) {
                numbers.reset();
            } else if (part.numbers && numbers) {
                numbers->insert(numbers->end(), part.numbers->begin(), part.numbers->end());
            } else if (const auto length = fact_table::length_of(part); length && numbers) {
                numbers->insert(numbers->end(), *length, any_extent);
            } else {
                numbers.reset();
            }
        }
        if (!dims) {
            return;
        }
        const auto axis = axis_of(table_.attributes(node).whole("axis").value_or(1), dims->size());
        std::int64_t sum = 0;
        for (std::size_t slot = 0; axis && slot < table_.model().inputs(node).size(); ++slot) {
            const auto& part = table_.input(node, slot);
            const bool known = part.ranked() && part.rank() == dims->size() &&
                               (*part.dims)[*axis] >= 0 && sum >= 0;
            sum = known ? add_extents(sum, (*part.dims)[*axis]) : any_extent;
        }
        if (axis) {
            (*dims)[*axis] = sum;
            const bool flat = dims->size() == 1;
            table_.set(node, 0, {x.data_type, std::move(dims), flat ? numbers : std::nullopt});
        }
    }

    void infer_gather(id node, std::string_view op, const tensor_facts& x) {
        const auto& indices = table_.input(node, 1);
        if (!indices.ranked()) {
            return;
        }
        if (op == "GatherElements") {
            table_.set(node, 0, made(x.data_type, indices.dims));
        } else if (x.ranked() && op == "Gather") {
            const auto axis = axis_of(table_.attributes(node).whole("axis").value_or(0), x.rank());
            if (!axis) {
                return;
            }
            const auto at = static_cast<std::ptrdiff_t>(*axis);
            extents dims(x.dims->begin(), x.dims->begin() + at);
            dims.insert(dims.end(), indices.dims->begin(), indices.dims->end());
            dims.insert(dims.end(), x.dims->begin() + at + 1, x.dims->end());
            table_.set(node, 0, {x.data_type, std::move(dims), gathered(node, x)});
        } else if (x.ranked() && indices.rank() > 0 && indices.dims->back() >= 0) {
            const auto taken =
                static_cast<std::size_t>(indices.dims->back()) +
                static_cast<std::size_t>(table_.attributes(node).whole("batch_dims").value_or(0));
            if (taken <= x.rank()) {
                table_.set(
                    node, 0,
                    made(x.data_type, extents(indices.rank() - 1 + x.rank() - taken, any_extent)));
            }
        }
    }

    /// Extents picked out of a shape by a constant index.
    [[nodiscard]] std::optional<extents> gathered(id node, const tensor_facts& x) const {
        const auto indices = table_.literal(table_.model().inputs(node)[1]);
        if (!x.numbers || !indices) {
            return std::nullopt;
        }
        extents picked;
        for (auto index : *indices) {
            const auto at = axis_of(index, x.numbers->size());
            picked.push_back(at ? (*x.numbers)[*at] : any_extent);
        }
        return picked;
    }

    fact_table& table_;
};

} // namespace stemma::detail

#endif // STEMMA_DETAIL_MOVED_FACTS_HPP

// <stemma/detail/slice_range.hpp>
#ifndef STEMMA_DETAIL_SLICE_RANGE_HPP
#define STEMMA_DETAIL_SLICE_RANGE_HPP

namespace stemma::detail {

/// The elements of an axis that a Slice takes: `first`, `first + step`, and so on.
struct slice_range {
    std::int64_t first = 0;
    std::int64_t count = 0;
    std::int64_t step = 1;
};

/// Returns: what a Slice takes of an axis of `extent` elements, as the operator's documentation
/// says: numbers below zero count from the end, and those beyond it are moved to it. Nothing for an
/// extent that is not known, or a step of zero.
[[nodiscard]] constexpr std::optional<slice_range> find_slice_range(std::int64_t start,
                                                                    std::int64_t end,
                                                                    std::int64_t step,
                                                                    std::int64_t extent) noexcept {
    if (extent < 0 || step == 0) {
        return std::nullopt;
    }
    step = std::max(step, -std::numeric_limits<std::int64_t>::max());
    start += start < 0 ? extent : 0;
    end += end < 0 ? extent : 0;
    if (step > 0) {
        start = std::clamp<std::int64_t>(start, 0, extent);
        end = std::clamp<std::int64_t>(end, 0, extent);
        return slice_range{start, end <= start ? 0 : (end - start - 1) / step + 1, step};
    }
    start = std::min(std::max<std::int64_t>(start, 0), extent - 1);
    end = std::clamp<std::int64_t>(end, -1, std::max<std::int64_t>(extent - 1, -1));
    return slice_range{start, start <= end ? 0 : (start - end - 1) / -step + 1, step};
}

} // namespace stemma::detail

#endif // STEMMA_DETAIL_SLICE_RANGE_HPP

// <stemma/detail/part_facts.hpp>
#ifndef STEMMA_DETAIL_PART_FACTS_HPP
#define STEMMA_DETAIL_PART_FACTS_HPP

namespace stemma::detail {

/// Infers what operators make that take parts of a tensor.
class part_facts {
public:
    /// Requires: `table` outlives this.
    explicit part_facts(fact_table& table) : table_(table) {}

    /// Returns: whether the operator is one of them.
    bool infer(id node, std::string_view op) {
        if (op == "Slice") {
            infer_slice(node);
        } else if (op == "Split") {
            infer_split(node);
        } else {
            return false;
        }
        return true;
    }

private:
    void infer_slice(id node) {
        const auto& x = table_.input(node, 0);
        if (!x.ranked()) {
            return;
        }
        const auto starts = table_.numbers_of(node, 1, "starts");
        const auto ends = table_.numbers_of(node, 2, "ends");
        const auto steps = table_.numbers_of(node, 4, "steps");
        auto axes = table_.numbers_of(node, 3, "axes");
        const bool known = starts && ends && starts->size() == ends->size() &&
                           (steps ? steps->size() == starts->size() : !table_.has_input(node, 4)) &&
                           (axes ? axes->size() == starts->size() : !table_.has_input(node, 3));
        if (!axes) {
            const auto count = table_.has_input(node, 3) ? std::nullopt
                               : starts                  ? std::optional(starts->size())
                                        : fact_table::length_of(table_.input(node, 1));
            axes.emplace(std::min(count.value_or(x.rank()), x.rank()));
            std::iota(axes->begin(), axes->end(), 0);
        }
        auto sliced = made(x.data_type, x.dims);
        sliced.numbers = x.rank() == 1 && known && axes->size() == 1 ? x.numbers : std::nullopt;
        for (std::size_t i = 0; i < axes->size(); ++i) {
            const auto at = axis_of((*axes)[i], x.rank());
            if (!at) {
                sliced.numbers.reset();
                continue;
            }
            const auto range = known ? find_slice_range((*starts)[i], (*ends)[i],
                                                        steps ? (*steps)[i] : 1, (*x.dims)[*at])
                                     : std::nullopt;
            (*sliced.dims)[*at] = range ? range->count : any_extent;
            if (sliced.numbers) {
                sliced.numbers = range ? take(*x.numbers, *range) : std::nullopt;
            }
        }
        table_.set(node, 0, std::move(sliced));
    }

    [[nodiscard]] static std::optional<extents> take(const extents& numbers,
                                                     const slice_range& range) {
        extents taken;
        for (std::int64_t i = 0; i < range.count; ++i) {
            const auto at = static_cast<std::size_t>(range.first + i * range.step);
            if (at >= numbers.size()) {
                return std::nullopt;
            }
            taken.push_back(numbers[at]);
        }
        return taken;
    }

    void infer_split(id node) {
        const auto& x = table_.input(node, 0);
        const auto count = table_.model().output_count(node);
        const auto axis = x.ranked()
                              ? axis_of(table_.attributes(node).whole("axis").value_or(0), x.rank())
                              : std::nullopt;
        const auto sizes = table_.numbers_of(node, 1, "split");
        std::int64_t first = 0;
        for (std::size_t i = 0; axis && i < count; ++i) {
            const auto whole = (*x.dims)[*axis];
            auto size = any_extent;
            if (sizes && sizes->size() == count) {
                size = std::max((*sizes)[i], any_extent);
            } else if (!sizes && !table_.has_input(node, 1) && whole >= 0) {
                // Only the last part may be smaller.
                const auto parts = static_cast<std::int64_t>(count);
                const auto each = whole / parts + (whole % parts == 0 ? 0 : 1);
                size = std::clamp<std::int64_t>(whole - first, 0, each);
            }
            auto part = made(x.data_type, x.dims);
            (*part.dims)[*axis] = size;
            if (x.numbers && x.rank() == 1 && size >= 0 && first >= 0) {
                part.numbers = take(*x.numbers, {first, size, 1});
            }
            first = size >= 0 && first >= 0 ? add_extents(first, size) : any_extent;
            table_.set(node, i, std::move(part));
        }
    }

    fact_table& table_;
};

} // namespace stemma::detail

#endif // STEMMA_DETAIL_PART_FACTS_HPP

// <stemma/onnx/wire/infer_shapes.hpp>
#ifndef STEMMA_ONNX_WIRE_INFER_SHAPES_HPP
#define STEMMA_ONNX_WIRE_INFER_SHAPES_HPP

namespace stemma {

/// Infers the types of the values that standard operators make, and those that ONNX Runtime fuses
/// of them, as far as they follow from declared types and small constants: element type and rank,
/// and extents where they follow simply. Of a large model it looks only at what the values depend
/// on that somebody asks for.
///
/// Never guesses: what depends on data, on other operators of other domains or on opsets that are
/// not known stays open. Formal inputs of bodies count as declared only; functions are inferred
/// call by call, and of values in them what all calls agree on is known.
class shape_inference {
public:
    /// Requires: both outlive it.
    /// Complexity: O(values + nodes).
    shape_inference(const wire_model& model, value_types& types)
        : model_(model)
        , types_(types)
        , table_(model, types)
        , contents_(model)
        , met_(model.node_count(), false) {}

    /// Adds the type of a value to the types, if it has none there and it can be known.
    /// Complexity: O(nodes that it depends on and that were not looked at); of a model with
    /// functions all are.
    void find(id value) {
        if (table_.opset() > last_known_opset || types_.type_of(value)) {
            return;
        }
        if (!model_.functions().empty()) {
            infer_all();
        } else if (const auto producer = model_.producer(value); producer != no_id) {
            infer_with_sources(producer);
        }
        add(value);
    }

    /// Looks at all nodes, so that no `find` has to.
    /// Complexity: O(nodes + values).
    void look_at_all() {
        if (table_.opset() <= last_known_opset) {
            infer_all();
        }
    }

    /// As `find` of all values.
    /// Complexity: O(nodes + values).
    void find_all() {
        if (table_.opset() > last_known_opset) {
            return;
        }
        infer_all();
        for (id value = 0; value < model_.value_count(); ++value) {
            add(value);
        }
    }

private:
    using extents = detail::extents;
    using tensor_facts = detail::tensor_facts;

    struct step {
        id node;
        bool listed; // whether its sources are on the stack above
    };

    void add(id value) {
        const auto& known = table_[value];
        if (known.data_type != 0 && known.ranked() && !model_.is_initializer(value) &&
            !types_.type_of(value)) {
            types_.add(value, table_.type_of(value));
        }
    }

    void infer_all() {
        if (std::exchange(all_inferred_, true)) {
            return;
        }
        for (auto node : contents_.nodes(0)) {
            infer_with_sources(node);
        }
        keep_common_facts();
    }

    /// Infers a node of the main graph or its bodies, after all that it depends on. Nodes that
    /// depend on themselves are inferred from what is known by then.
    void infer_with_sources(id node) {
        open_.push_back({node, false});
        while (!open_.empty()) {
            const auto top = open_.back();
            if (top.listed || met_[top.node]) {
                open_.pop_back();
                if (top.listed) {
                    infer_call_or_node(top.node);
                }
                continue;
            }
            met_[top.node] = true;
            open_.back().listed = true;
            for_each_source(top.node, [&](id source) {
                if (!met_[source]) {
                    open_.push_back({source, false});
                }
            });
        }
    }

    /// Calls `f(producer)` for what a node reads, and for what its bodies give back.
    template <class Function>
    void for_each_source(id node, Function f) const {
        const auto follow = [&](id value) {
            if (value != no_id && model_.producer(value) != no_id) {
                f(model_.producer(value));
            }
        };
        const auto inputs = model_.inputs(node);
        std::for_each(inputs.begin(), inputs.end(), follow);
        for (auto g : contents_.bodies_of(node)) {
            const auto& outputs = model_.graph(g).outputs;
            std::for_each(outputs.begin(), outputs.end(), follow);
        }
    }

    void infer_call_or_node(id node) {
        if (const auto f = model_.callee(node); f != no_id) {
            infer_call(node, model_.functions()[f].graph);
        } else {
            infer(node);
        }
    }

    void infer_function(id g) {
        for (auto node : contents_.nodes(g)) {
            if (model_.callee(node) != no_id || !node_attributes(model_, node).has_reference()) {
                infer_call_or_node(node);
            } else if (detail::is_one_of(model_.op_type(node), keeps_rank)) {
                infer(node);
                forget_extents(node);
            }
        }
    }

    /// Infers the body of a function as one call of it sees it. What is known of values in the body
    /// in the end is what all calls agree on.
    void infer_call(id call, id g) {
        const auto& function = model_.graph(g);
        if (inferred_ > 8 * std::size_t{model_.node_count()} || calls_[g].open ||
            open_calls_ == max_open_calls) {
            return; // calls within calls, doubling or without end; or a recursion
        }
        calls_[g].open = true;
        ++open_calls_;
        inferred_ += contents_.nodes(g).size();
        for_each_value(g, [&](id value) { table_.put(value, {}); });
        for (std::size_t i = 0; i < function.inputs.size(); ++i) {
            if (function.inputs[i] != no_id) {
                table_.put(function.inputs[i], table_.input(call, i));
            }
        }
        infer_function(g);
        for (std::size_t i = 0; i < function.outputs.size(); ++i) {
            if (function.outputs[i] != no_id) {
                table_.set(call, i, table_[function.outputs[i]]);
            }
        }
        auto& common = calls_[g].common;
        std::size_t at = 0;
        const bool first = common.empty();
        for_each_value(g, [&](id value) {
            if (first) {
                common.emplace_back(value, table_[value]);
            } else {
                detail::keep_common(common[at++].second, table_[value]);
            }
        });
        calls_[g].open = false;
        --open_calls_;
    }

    /// Calls `f(value)` for all that is defined in a function and its bodies.
    template <class Function>
    void for_each_value(id g, Function f) const {
        const auto formals = [&](id graph) {
            for (auto value : model_.graph(graph).inputs) {
                if (value != no_id) {
                    f(value);
                }
            }
        };
        formals(g);
        for (auto body : contents_.bodies(g)) {
            formals(body);
        }
        for (auto node : contents_.nodes(g)) {
            for (id i = 0; i < model_.output_count(node); ++i) {
                f(model_.first_output(node) + i);
            }
        }
    }

    void keep_common_facts() {
        for (auto& [g, call] : calls_) {
            for (auto& [value, facts] : call.common) {
                table_.put(value, std::move(facts));
            }
        }
    }

    void forget_extents(id node) {
        for (id i = 0; i < model_.output_count(node); ++i) {
            auto facts = table_[model_.first_output(node) + i];
            facts.numbers.reset();
            if (facts.ranked()) {
                facts.dims->assign(facts.rank(), detail::any_extent);
            }
            table_.put(model_.first_output(node) + i, std::move(facts));
        }
    }

    void infer(id node) {
        if (contents_.bodies_of(node).empty()) {
            memo_.infer(node, [&] { infer_anew(node); });
        } else {
            infer_anew(node);
        }
    }

    void infer_anew(id node) {
        const auto op = model_.op_type(node);
        if (model_.domain(node) == "com.microsoft") {
            fused_.infer(node, op);
        }
        if (!model_.domain(node).empty()) {
            return;
        }
        if (detail::is_one_of(op, " If Loop Scan ")) {
            infer_bodies(node, op);
        } else if (!elementwise_.infer(node, op) && !computed_.infer(node, op) &&
                   !parts_.infer(node, op)) {
            moved_.infer(node, op);
        }
    }

    /// The results of bodies are inferred before their owner, as body nodes come first.
    void infer_bodies(id node, std::string_view op) {
        const auto bodies = contents_.bodies_of(node);
        if (bodies.empty()) {
            return;
        }
        for (std::size_t i = 0; i < model_.output_count(node); ++i) {
            std::optional<tensor_facts> common;
            for (auto g : bodies) {
                const auto& outputs = model_.graph(g).outputs;
                const auto slot = op == "Loop" ? i + 1 : i;
                if (slot >= outputs.size() || outputs[slot] == no_id) {
                    return;
                }
                const auto& facts = table_[outputs[slot]];
                if (!common) {
                    common = detail::made(facts.data_type, facts.dims);
                } else {
                    detail::keep_common(*common, facts);
                }
            }
            if (!common || !common->ranked()) {
                continue;
            }
            if (op == "If") {
                table_.set(node, i, std::move(*common));
                continue;
            }
            const auto states = states_of(node, op, bodies.front());
            extents dims(common->rank() + (i < states ? 0 : 1), detail::any_extent);
            table_.set(node, i, detail::made(common->data_type, std::move(dims)));
        }
    }

    /// Returns: how many results of a loop are its last state; the others stack up.
    [[nodiscard]] std::size_t states_of(id node, std::string_view op, id body) const {
        if (op == "Loop") {
            return model_.inputs(node).size() < 2 ? 0 : model_.inputs(node).size() - 2;
        }
        const auto scanned = node_attributes(model_, node).whole("num_scan_inputs").value_or(0);
        const auto formals = model_.graph(body).inputs.size();
        return formals - std::min(formals, static_cast<std::size_t>(scanned));
    }

    // Deeper than any modules nest; every level takes space on the stack.
    static constexpr std::size_t max_open_calls = 200;

    struct function_calls {
        std::vector<std::pair<id, tensor_facts>> common; // by value: what all calls agree on
        bool open = false;
    };

    // Operators whose results have a rank that no attribute changes.
    static constexpr std::string_view keeps_rank =
        " Transpose Softmax LogSoftmax Concat Gather LayerNormalization BatchNormalization Gemm "
        "Conv "
        "MaxPool AveragePool Dropout LeakyRelu Elu Selu Clip HardSigmoid LRN ";

    const wire_model& model_;
    value_types& types_;
    detail::fact_table table_;
    detail::fact_memo memo_{table_};
    detail::elementwise_facts elementwise_{table_};
    detail::computed_facts computed_{table_};
    detail::fused_facts fused_{table_, computed_};
    detail::moved_facts moved_{table_};
    detail::part_facts parts_{table_};
    graph_contents contents_;
    std::vector<bool> met_;  // by node: inferred, or about to be
    std::vector<step> open_; // in `infer_with_sources`, whose memory it keeps
    bool all_inferred_ = false;
    std::map<id, function_calls> calls_; // by graph of a function
    std::size_t inferred_ = 0;           // nodes in bodies of functions, call after call
    std::size_t open_calls_ = 0;
};

/// Adds the types of all values that can be known, see `shape_inference`.
/// Complexity: O(nodes + values).
inline void infer_shapes(const wire_model& model, value_types& types) {
    shape_inference(model, types).find_all();
}

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_INFER_SHAPES_HPP

// <stemma/onnx/wire/inline_functions.hpp>
#ifndef STEMMA_ONNX_WIRE_INLINE_FUNCTIONS_HPP
#define STEMMA_ONNX_WIRE_INLINE_FUNCTIONS_HPP

namespace stemma {

/// Puts the bodies of functions where these are called, at any depth and in bodies of control flow.
///
/// What comes out of a call is named after it: `<name of the call>/<name in the function>`.
/// Attributes of a function have the value that the call gives, else their default.
class function_inliner {
public:
    /// `max_calls` bounds what functions cost that call each other twice, and those again.
    /// Requires: the model outlives it. Complexity: O(bytes of functions and names).
    explicit function_inliner(const wire_model& model, std::size_t max_calls = 1U << 24U)
        : model_(model), functions_(read_function_bodies(model)), max_calls_(max_calls) {
        for (id value = 0; value < model.value_count(); ++value) {
            taken_.emplace(model.value_name(value));
        }
        for (const auto& import : model.opset_imports()) {
            versions_[plain_domain(import.domain)] = import.version;
        }
    }

    /// Returns: how many calls were opened.
    [[nodiscard]] std::size_t calls() const noexcept { return calls_; }

    /// Makes the bytes of the model without functions.
    /// Throws: `error` of `error_code::malformed` for functions that call themselves; of
    ///   `unsupported` for ones that need other versions of operators than the model has, or nest
    ///   too deep; of `too_large` when the result would reach 2 GiB.
    /// Complexity: O(bytes of the result that are not weights).
    [[nodiscard]] byte_rope build() {
        byte_rope result;
        auto fields = model_.reader();
        std::vector<byte_rope> parts; // first, as they say which imports are still needed
        for (auto look = fields; look.next(field_);) {
            if (field_.is_bytes(at_model::graph)) {
                parts.push_back(main_graph(look.inner(field_)));
            }
        }
        std::size_t part = 0;
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(at_model::graph)) {
                result.add_field(at_model::graph, parts[part++]);
            } else if (stays(fields, field)) {
                result.add_range(field.begin, field.end - field.begin);
            }
        }
        for (const auto& [domain, version] : added_) {
            if (used_domains_.contains(domain)) {
                result.add_field(at_model::opset_import, opset_import_text({domain, version}));
            }
        }
        return result;
    }

private:
    using at_model = detail::onnx_fields::model;
    using at_graph = detail::onnx_fields::graph;
    using at_node = detail::onnx_fields::node;
    using at_attribute = detail::onnx_fields::attribute;

    static constexpr std::size_t max_depth = 500;

    [[nodiscard]] std::string_view bytes() const noexcept { return model_.bytes(); }

    [[noreturn]] void fail(error_code code, const operator_name& function,
                           std::string_view reason) const {
        STEMMA_THROW(
            error(code, model_.file(),
                  "function " + std::string(function.domain) + "::" + std::string(function.type),
                  reason));
    }

    [[nodiscard]] bool stays(const wire_reader& fields, const wire_field& field) const {
        if (field.is_bytes(at_model::opset_import)) {
            const auto domain = read_opset_import(fields.inner(field)).domain;
            return domain.empty() || used_domains_.contains(domain) || !names_function(domain);
        }
        if (field.is_bytes(at_model::metadata_props)) {
            return !is_fold_entry(wire_model::read_entry(fields, field).first);
        }
        return !field.is_bytes(at_model::functions);
    }

    [[nodiscard]] bool names_function(std::string_view domain) const {
        const auto from = functions_.lower_bound({domain, {}, {}});
        return from != functions_.end() && from->first.domain == domain;
    }

    [[nodiscard]] byte_rope main_graph(wire_reader fields) {
        byte_rope graph;
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(at_graph::node) && holds_call(fields.inner(field))) {
                std::string nodes;
                put_node(fields.inner(field), nullptr, at_graph::node, nodes);
                graph.add_text(nodes);
            } else {
                graph.add_range(field.begin, field.end - field.begin);
            }
        }
        return graph;
    }

    /// Whether a node is a call, or there is one in its bodies; notes the domains of the others.
    [[nodiscard]] bool holds_call(wire_reader fields) {
        const auto name = read_operator_name(fields);
        bool found = functions_.contains(name);
        if (!found) {
            used_domains_.insert(name.domain);
        }
        for (wire_field field; fields.next(field);) {
            if (!field.is_bytes(at_node::attribute)) {
                continue;
            }
            auto parts = fields.inner(field);
            for (wire_field part; parts.next(part);) {
                if (!part.is_bytes(at_attribute::g) && !part.is_bytes(at_attribute::graphs)) {
                    continue;
                }
                auto graph = parts.inner(part);
                for (wire_field inside; graph.next(inside);) {
                    found = (inside.is_bytes(at_graph::node) && holds_call(graph.inner(inside))) ||
                            found;
                }
            }
        }
        return found;
    }

    void put_node(wire_reader fields, const call_frame* around, std::uint32_t number,
                  std::string& out) {
        const auto name = read_operator_name(fields);
        const auto called = functions_.find(name);
        if (called != functions_.end()) {
            open(called->second, fields, around, number, out);
            return;
        }
        used_domains_.insert(name.domain);
        std::string content;
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(at_node::input) || field.is_bytes(at_node::output)) {
                detail::append_field(field.number, actual(fields.text(field), around), content);
            } else if (field.is_bytes(at_node::name) && around != nullptr) {
                const auto text = fields.text(field);
                detail::append_field(field.number,
                                     text.empty() ? std::string()
                                                  : around->scope + "/" + std::string(text),
                                     content);
            } else if (field.is_bytes(at_node::attribute)) {
                put_attribute(fields.inner(field), around, field.number, content);
            } else if (!(around != nullptr && field.is_bytes(at_node::metadata_props) &&
                         is_fold_entry(wire_model::read_entry(fields, field).first))) {
                content.append(fields.whole(field));
            }
        }
        detail::append_field(number, content, out);
        if (out.size() >= std::size_t{1} << 31U) {
            fail(error_code::too_large, name, "the result would reach 2 GiB, where protobuf ends");
        }
    }

    void put_attribute(wire_reader fields, const call_frame* around, std::uint32_t number,
                       std::string& out) {
        const auto [name, reference] = read_attribute_names(fields);
        if (around != nullptr && !reference.empty()) {
            const auto given = around->attributes.find(reference);
            if (given != around->attributes.end()) {
                detail::append_field(number, with_name(given->second, name), out);
            }
            return; // without a value it is as if it were not there
        }
        std::string content;
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(at_attribute::g) || field.is_bytes(at_attribute::graphs)) {
                detail::append_field(field.number, body(fields.inner(field), around), content);
            } else {
                content.append(fields.whole(field));
            }
        }
        detail::append_field(number, content, out);
    }

    [[nodiscard]] std::string body(wire_reader fields, const call_frame* around) {
        std::string out;
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(at_graph::node)) {
                put_node(fields.inner(field), around, field.number, out);
            } else if (around == nullptr) {
                out.append(fields.whole(field));
            } else if (field.is_bytes(at_graph::input) || field.is_bytes(at_graph::output) ||
                       field.is_bytes(at_graph::value_info)) {
                put_named(fields.inner(field), detail::onnx_fields::value_info::name, around,
                          field.number, out);
            } else if (field.is_bytes(at_graph::initializer)) {
                put_named(fields.inner(field), detail::onnx_fields::tensor::name, around,
                          field.number, out);
            } else if (field.is_bytes(at_graph::sparse_initializer)) {
                put_sparse(fields.inner(field), around, field.number, out);
            } else if (!field.is_bytes(at_graph::quantization_annotation)) {
                out.append(fields.whole(field));
            }
        }
        return out;
    }

    /// Puts the body of a function where a node calls it.
    void open(const function_body& function, wire_reader call, const call_frame* around,
              std::uint32_t number, std::string& out) {
        if (!open_.insert(&function).second) {
            fail(error_code::malformed, function.name, "calls itself");
        }
        if (open_.size() > max_depth || ++calls_ > max_calls_) {
            fail(error_code::unsupported, function.name, "is called too deep, or too often");
        }
        check_versions(function);
        std::vector<std::string> inputs;
        std::vector<std::string> outputs;
        std::string name;
        call_frame inside;
        for (wire_field field; call.next(field);) {
            if (field.is_bytes(at_node::input)) {
                inputs.push_back(actual(call.text(field), around));
            } else if (field.is_bytes(at_node::output)) {
                outputs.push_back(actual(call.text(field), around));
            } else if (field.is_bytes(at_node::name)) {
                name = call.text(field);
            } else if (field.is_bytes(at_node::attribute)) {
                std::string attribute;
                put_attribute(call.inner(field), around, at_node::attribute, attribute);
                if (!attribute.empty()) {
                    wire_reader made(attribute.data(), 0,
                                     static_cast<std::uint32_t>(attribute.size()), model_.file());
                    static_cast<void>(made.next(field_));
                    inside.attributes.emplace(read_attribute_names(call.inner(field)).name,
                                              std::string(made.text(field_)));
                }
            }
        }
        const auto file = model_.reader();
        for (const auto& [attribute, value] : function.defaults) {
            inside.attributes.emplace(attribute, std::string(file.text(value)));
        }
        for (std::size_t i = 0; i < function.inputs.size(); ++i) {
            inside.bound.emplace(function.inputs[i], i < inputs.size() ? inputs[i] : "");
        }
        if (name.empty()) {
            name = outputs.empty() ? std::string(function.name.type) : outputs.front();
        } else if (around != nullptr) {
            name = around->scope + "/" + name;
        }
        inside.scope = free_scope(name);
        std::vector<std::pair<std::string_view, std::string>> passed;
        for (std::size_t i = 0; i < function.outputs.size() && i < outputs.size(); ++i) {
            if (!outputs[i].empty() &&
                !inside.bound.emplace(function.outputs[i], outputs[i]).second) {
                passed.emplace_back(function.outputs[i], outputs[i]);
            }
        }
        for (const auto& field : function.nodes) {
            put_node(file.inner(field), &inside, number, out);
        }
        for (const auto& [from, to] : passed) {
            pass_on(actual(from, &inside), to, inside.scope, number, out);
        }
        open_.erase(&function);
    }

    /// A function may give away what it was given, and one value twice.
    void pass_on(const std::string& from, const std::string& to, const std::string& scope,
                 std::uint32_t number, std::string& out) {
        std::string node;
        detail::append_field(at_node::input, from, node);
        detail::append_field(at_node::output, to, node);
        detail::append_field(at_node::name, scope + "/Identity", node);
        detail::append_field(at_node::op_type, "Identity", node);
        detail::append_field(number, node, out);
        used_domains_.insert({});
    }

    /// Returns: a name that no value's name continues with a slash.
    /// Complexity: O(length * log names) on average, however many calls have one name.
    [[nodiscard]] std::string free_scope(const std::string& wanted) {
        const auto is_free = [&](const std::string& scope) {
            const auto next = taken_.lower_bound(scope + "/");
            return next == taken_.end() || !next->starts_with(scope + "/");
        };
        const auto [known, is_new] = scopes_.try_emplace(wanted, 0);
        if (is_new && is_free(wanted)) {
            return wanted;
        }
        for (auto& number = known->second;;) {
            auto scope = wanted + "~" + std::to_string(++number);
            if (scopes_.try_emplace(scope, 0).second && is_free(scope)) {
                return scope;
            }
        }
    }

    /// The operators of a function mean what the versions say that it imports.
    void check_versions(const function_body& function) {
        if (!checked_.insert(&function).second) {
            return;
        }
        const auto file = model_.reader();
        for (const auto& [domain, version] : function.imports) {
            const auto known = versions_.find(domain);
            if (known == versions_.end()) {
                versions_.emplace(domain, version);
                added_.emplace(domain, version);
                continue;
            }
            if (known->second == version || names_function(domain)) {
                continue;
            }
            for (const auto& field : function.nodes) {
                const auto node = read_operator_name(file.inner(field));
                const auto [low, high] = std::minmax(known->second, version);
                if (node.domain == domain &&
                    (!domain.empty() || changed_between(node.type, low, high))) {
                    fail(error_code::unsupported, function.name,
                         "uses '" + std::string(node.type) + "' of version " +
                             std::to_string(version) + ", and the model has version " +
                             std::to_string(known->second));
                }
            }
        }
    }

    const wire_model& model_;
    std::map<operator_name, function_body> functions_;
    std::set<std::string_view> taken_;                    // names of values
    std::unordered_map<std::string, std::size_t> scopes_; // the last number that was tried
    std::set<const function_body*> open_;
    std::set<const function_body*> checked_;
    std::map<std::string_view, std::int64_t> versions_; // by domain
    std::map<std::string_view, std::int64_t> added_;
    std::set<std::string_view> used_domains_;
    wire_field field_; // of what is only looked at
    std::size_t max_calls_;
    std::size_t calls_ = 0;
};

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_INLINE_FUNCTIONS_HPP

// <stemma/onnx/wire/join_edited.hpp>
#ifndef STEMMA_ONNX_WIRE_JOIN_EDITED_HPP
#define STEMMA_ONNX_WIRE_JOIN_EDITED_HPP

namespace stemma {

/// Puts a model together from parts of which some were changed: their nodes take the place of the
/// ones they had, their weights that of theirs; new operator sets, functions and types are added.
class edited_join {
public:
    /// Requires: `folder` outlives the join.
    explicit edited_join(const split_folder& folder)
        : folder_(folder), tensors_(folder), nodes_(folder, tensors_) {}

    /// Returns: a rope over `split_files`.
    /// Throws: `error` of `refused` when the parts no longer fit together, saying where.
    /// Complexity: O(n log n) in what the parts hold, weights aside.
    [[nodiscard]] byte_rope build() {
        byte_rope result;
        const auto bytes = folder_.skeleton().file->bytes();
        wire_reader fields(bytes.data(), 0, static_cast<std::uint32_t>(bytes.size()),
                           folder_.skeleton().file->path());
        bool first = true;
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(at_model::graph)) {
                result.add_field(at_model::graph,
                                 graph(fields.inner(field), std::exchange(first, false)));
            } else {
                result.add_range(field.begin, field.end - field.begin, split_files::skeleton);
            }
        }
        add_opsets(result);
        add_functions(result);
        return result;
    }

private:
    using at_model = detail::onnx_fields::model;
    using at_graph = detail::onnx_fields::graph;
    using at_tensor = detail::onnx_fields::tensor;

    [[nodiscard]] const wire_model& model(id part) const { return *folder_.parts()[part].model; }

    /// Returns: a chunk of the main graph; the first one takes all that is new.
    [[nodiscard]] byte_rope graph(wire_reader fields, bool first) {
        byte_rope result;
        std::unordered_set<std::string_view> made; // by changed parts
        for (const auto& at : nodes_.in_order()) {
            if (first) {
                const auto message = model(at.part).message(at.node);
                std::string start;
                detail::append_tag(at_graph::node, start);
                detail::append_varint(message.size, start);
                result.add_text(start);
                result.add_range(message.begin, message.size, split_files::part(at.part));
            }
            if (folder_.parts()[at.part].edited) {
                nodes_.for_each_output(at, [&](std::string_view name) { made.insert(name); });
            }
        }
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(at_graph::initializer)) {
                const auto name = name_in(fields.inner(field), at_tensor::name);
                if (tensors_.contains(name)) {
                    result.add_field(at_graph::initializer, tensors_.bytes(name));
                }
            } else if (field.is_bytes(at_graph::value_info) &&
                       (made.contains(name_in(fields.inner(field), 1)) ||
                        !still_there(name_in(fields.inner(field), 1)))) {
                continue;
            } else {
                result.add_range(field.begin, field.end - field.begin, split_files::skeleton);
            }
        }
        if (first) {
            for (const auto& name : tensors_.added()) {
                result.add_field(at_graph::initializer, tensors_.bytes(name));
                if (folder_.skeleton().model->ir_version() < 4) {
                    add_input(name, result);
                }
            }
            add_types(made, result);
        }
        return result;
    }

    [[nodiscard]] static std::string_view name_in(wire_reader fields, std::uint32_t number) {
        std::string_view name;
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(number)) {
                name = fields.text(field);
            }
        }
        return name;
    }

    /// Whether some node still makes a value.
    [[nodiscard]] bool still_there(std::string_view name) {
        if (all_made_.empty()) {
            for (const auto& at : nodes_.in_order()) {
                nodes_.for_each_output(at, [&](std::string_view made) { all_made_.insert(made); });
            }
        }
        return all_made_.contains(name);
    }

    void add_input(const std::string& name, byte_rope& out) const {
        std::string info;
        detail::append_field(detail::onnx_fields::value_info::name, name, info);
        detail::append_field(detail::onnx_fields::value_info::type,
                             tensor_type(tensors_.header(name)), info);
        out.add_field(at_graph::input, info);
    }

    /// Adds what changed parts say of the types of what they make.
    void add_types(const std::unordered_set<std::string_view>& made, byte_rope& out) const {
        std::unordered_set<std::string_view> declared; // as outputs of the model
        for (const auto& info : folder_.skeleton().model->value_infos()) {
            if (info.graph == 0 && info.field == at_graph::output) {
                declared.insert(folder_.skeleton().model->text(info.name));
            }
        }
        for (id p = 0; p < folder_.parts().size(); ++p) {
            if (!folder_.parts()[p].edited) {
                continue;
            }
            for (const auto& info : model(p).value_infos()) {
                const auto name = model(p).text(info.name);
                if (info.graph == 0 && info.field != at_graph::input && made.contains(name) &&
                    declared.insert(name).second) {
                    std::string start;
                    detail::append_tag(at_graph::value_info, start);
                    detail::append_varint(info.message.size, start);
                    out.add_text(start);
                    out.add_range(info.message.begin, info.message.size, split_files::part(p));
                }
            }
        }
    }

    void add_opsets(byte_rope& out) const {
        std::map<std::string_view, std::int64_t> versions;
        for (const auto& opset : folder_.skeleton().model->opset_imports()) {
            versions[opset.domain] = opset.version;
        }
        for (id p = 0; p < folder_.parts().size(); ++p) {
            for (const auto& opset : model(p).opset_imports()) {
                const auto known = versions.emplace(opset.domain, opset.version);
                if (known.first->second != opset.version) {
                    folder_.refuse(p, "imports version " + std::to_string(opset.version) + " of '" +
                                          std::string(opset.domain) + "', the source " +
                                          std::to_string(known.first->second));
                }
                if (known.second) {
                    out.add_field(at_model::opset_import, opset_import_text(opset));
                }
            }
        }
    }

    void add_functions(byte_rope& out) const {
        std::map<std::string, std::string_view> known;
        const auto visit = [&](id p, const wire_model& m, bool adds) {
            auto fields = m.reader();
            for (wire_field field; fields.next(field);) {
                if (!field.is_bytes(at_model::functions)) {
                    continue;
                }
                using at = detail::onnx_fields::function;
                std::string key(name_in(fields.inner(field), at::domain));
                key.append("\n").append(name_in(fields.inner(field), at::name));
                key.append("\n").append(name_in(fields.inner(field), at::overload));
                const auto made = known.emplace(key, fields.text(field));
                if (adds && made.second) {
                    out.add_range(field.begin, field.end - field.begin, split_files::part(p));
                } else if (adds && made.first->second != fields.text(field)) {
                    folder_.refuse(p, "changes a function that the source has: '" +
                                          std::string(name_in(fields.inner(field), at::name)) +
                                          "'");
                }
            }
        };
        visit(0, *folder_.skeleton().model, false);
        for (id p = 0; p < folder_.parts().size(); ++p) {
            if (folder_.parts()[p].edited) {
                visit(p, model(p), true);
            }
        }
    }

    const split_folder& folder_;
    edited_tensors tensors_;
    edited_nodes nodes_;
    std::unordered_set<std::string_view> all_made_;
};

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_JOIN_EDITED_HPP

// <stemma/onnx/wire/opened_calls.hpp>
#ifndef STEMMA_ONNX_WIRE_OPENED_CALLS_HPP
#define STEMMA_ONNX_WIRE_OPENED_CALLS_HPP

namespace stemma {

namespace detail {

inline void check_fold(bool fits, const wire_model& model) {
    if (!fits) {
        STEMMA_THROW(error(error_code::contradiction, model.file(), "",
                           "was changed since it was folded, and cannot be unfolded to what it "
                           "was"));
    }
}

} // namespace detail

/// What opening calls may still make: bounds what a hostile file costs.
struct opening_budget {
    std::uint64_t bytes = std::uint64_t{1} << 31U; ///< of nodes that are made, and calls opened
    std::size_t depth = 1000; ///< calls inside each other; folding nests less deep
    std::size_t bodies = 33;  ///< bodies inside each other, as in a `wire_model`
};

/// The nodes of a graph as they were before it was folded, in the order in which calls are opened.
class opened_calls {
public:
    /// Returns the message of a node as it was, but for names of what its bodies capture: of one
    /// that `folded_functions` says is changed.
    using body_opener = std::function<const byte_rope&(id node)>;

    /// `graph` is the main graph or a body, and `record` what is known of it.
    /// Requires: all outlive it; the model carries no tags (see `strip_editor`).
    /// Throws: `error` of `error_code::contradiction` when the record does not fit the model; of
    ///   `too_large` when the nodes alone would reach 2 GiB.
    /// Complexity: O(bytes of the nodes that are made and of the calls that are opened).
    opened_calls(const wire_model& model, const graph_contents& contents,
                 const folded_functions& functions, const folded_graph_record& record, id graph,
                 opening_budget& budget, const body_opener& bodies)
        : model_(model)
        , contents_(contents)
        , functions_(functions)
        , record_(record)
        , budget_(budget)
        , bodies_(bodies) {
        for (auto node : contents_.own_nodes(graph)) {
            if (functions_.is_call(node)) {
                open_call(node, nullptr);
            } else if (functions_.changed(node)) {
                keep_rope(bodies_(node));
            } else {
                const auto message = model_.message(node);
                keep({message.begin, message.size, true, no_id});
            }
        }
        check(opened_.size() == record_.nodes && next_change_ == record_.changes.size());
    }

    /// Returns: how many nodes there were.
    [[nodiscard]] std::size_t size() const noexcept { return opened_.size(); }

    /// Appends the node that was number `i`, as a field.
    void append(std::size_t i, std::uint32_t field, byte_rope& out) const {
        const auto& node = opened_[i];
        if (node.in_file) {
            out.add_message(bytes(), field, static_cast<std::uint32_t>(node.begin), node.size);
        } else if (node.rope != no_id) {
            out.add_field(field, ropes_[node.rope]);
        } else {
            out.add_field(field, std::string_view(text_).substr(node.begin, node.size));
        }
    }

private:
    using at_node = detail::onnx_fields::node;

    /// A function as called from one place.
    struct frame {
        id function = no_id;
        std::string scope;
        std::vector<std::string> names; // by local number of a value; "" where not known yet
        call_attributes attributes{};
    };

    /// A node of the model as it was: bytes of the file, or others.
    struct opened_node {
        std::uint64_t begin = 0;
        std::uint32_t size = 0;
        bool in_file = false;
        id rope = no_id; // of a large one
    };

    static constexpr std::uint32_t large = 1U << 16U; // not copied into memory then

    [[nodiscard]] std::string_view bytes() const noexcept { return model_.bytes(); }

    void check(bool fits) const { detail::check_fold(fits, model_); }

    void keep(opened_node node) {
        check(opened_.size() < record_.nodes);
        spend(node.size + sizeof(opened_node)); // a node may have no bytes at all
        opened_.push_back(node);
    }

    void spend(std::uint64_t bytes) {
        if (bytes >= budget_.bytes) {
            STEMMA_THROW(error(error_code::too_large, model_.file(), "",
                               "the result would reach 2 GiB, where protobuf ends"));
        }
        budget_.bytes -= bytes;
    }

    void keep_rope(byte_rope rope) {
        check(rope.size() < std::uint64_t{1} << 31U);
        ropes_.push_back(std::move(rope));
        keep({0, static_cast<std::uint32_t>(ropes_.back().size()), false,
              static_cast<id>(ropes_.size() - 1)});
    }

    [[nodiscard]] std::string name_of(id value, const frame* around) const {
        return std::string(around == nullptr || functions_.local(value) == no_id
                               ? model_.value_name(value)
                               : std::string_view(around->names[functions_.local(value)]));
    }

    /// Opens a call in the graph, or in a function that is being opened.
    void open_call(id call, frame* around) {
        const auto f = model_.callee(call);
        check(budget_.depth > 0 && open_.insert(f).second);
        spend(model_.message(call).size);
        --budget_.depth;
        const auto opened_before = opened_.size();
        frame inside;
        inside.function = f;
        inside.names.resize(functions_.value_count(f));
        inside.scope = around == nullptr ? std::string() : around->scope;
        model_.for_each_metadata(call, [&](std::string_view key, std::string_view value) {
            if (key == fold_scope_key) {
                inside.scope.append(value);
            }
        });
        const auto* outer = around == nullptr ? nullptr : &around->attributes;
        check(inside.attributes.read(model_, call, outer));
        const auto& graph = model_.graph(model_.functions()[f].graph);
        const auto inputs = model_.inputs(call);
        check(inputs.size() == graph.inputs.size() &&
              model_.output_count(call) == graph.outputs.size());
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            check(inputs[i] != no_id && graph.inputs[i] != no_id);
            inside.names[functions_.local(graph.inputs[i])] = name_of(inputs[i], around);
            check(!inside.names[functions_.local(graph.inputs[i])].empty());
        }
        for (id i = 0; i < graph.outputs.size(); ++i) {
            check(graph.outputs[i] != no_id && functions_.local(graph.outputs[i]) != no_id);
            auto& name = inside.names[functions_.local(graph.outputs[i])];
            check(name.empty());
            name = name_of(model_.first_output(call) + i, around);
        }
        for (auto node : contents_.own_nodes(model_.functions()[f].graph)) {
            functions_.is_call(node) ? open_call(node, &inside) : open_node(node, inside);
        }
        for (id i = 0; around != nullptr && i < graph.outputs.size(); ++i) {
            around->names[functions_.local(model_.first_output(call) + i)] =
                inside.names[functions_.local(graph.outputs[i])];
        }
        check(opened_.size() > opened_before); // folding makes no function of nothing
        ++budget_.depth;
        open_.erase(f);
    }

    /// Makes a node of the model of one in the body of a function.
    void open_node(id node, frame& around) {
        const auto message = model_.message(node);
        const auto renamed = with_own_bodies(node, around);
        auto fields = renamed ? reader_of(*renamed) : model_.reader(message);
        if (message.size >= large && !renamed) {
            byte_rope rope;
            write_node(node, fields, around, rope_target{rope});
            keep_rope(std::move(rope));
            return;
        }
        const auto begin = text_.size();
        write_node(node, fields, around, text_target{text_});
        const auto made = std::string_view(text_).substr(begin);
        if (made == bytes().substr(message.begin, message.size)) {
            text_.resize(begin);
            keep({message.begin, message.size, true, no_id});
        } else {
            keep({begin, static_cast<std::uint32_t>(made.size()), false, no_id});
        }
    }

    struct text_target {
        std::string& out;
        void whole(const wire_reader& fields, const wire_field& field) {
            out.append(fields.whole(field));
        }
        void text(std::string_view more) { out.append(more); }
        void rope(std::string_view file, std::uint32_t field, const byte_rope& content) {
            string_splice splice(file);
            content.write(splice);
            detail::append_field(field, splice.text, out);
        }
    };

    struct rope_target {
        byte_rope& out;
        void whole(const wire_reader&, const wire_field& field) {
            out.add_range(field.begin, field.end - field.begin);
        }
        void text(std::string_view more) { out.add_text(more); }
        void rope(std::string_view, std::uint32_t field, const byte_rope& content) {
            out.add_field(field, content);
        }
    };

    template <class Target>
    void write_node(id node, wire_reader fields, frame& around, Target target) {
        const auto inputs = model_.inputs(node);
        std::size_t input = 0;
        id output = 0;
        std::uint32_t slot = 0;
        std::string field_text;
        const auto put = [&](const wire_field& field, std::string_view content) {
            if (fields.text(field) == content) {
                target.whole(fields, field); // also where its length was padded
                return;
            }
            field_text.clear();
            detail::append_field(field.number, content, field_text);
            target.text(field_text);
        };
        for (wire_field field; fields.next(field);) {
            switch (text_kind(field)) {
            case node_text::none:
                if (const auto given = around.attributes.given(model_, fields, field)) {
                    target.rope(bytes(), field.number, *given);
                } else {
                    target.whole(fields, field);
                }
                break;
            case node_text::input: {
                const auto value = inputs[input++];
                const auto name = value == no_id ? std::string() : name_of(value, &around);
                check(value == no_id || !name.empty());
                put(field, name);
                break;
            }
            case node_text::output: {
                auto& name = around.names[functions_.local(model_.first_output(node) + output++)];
                if (name.empty()) {
                    name = restored(slot, fields.text(field), around.scope);
                }
                put(field, name);
                ++slot;
                break;
            }
            case node_text::name:
                put(field, restored(slot++, fields.text(field), around.scope));
                break;
            case node_text::note:
                write_note(fields, field, slot, target);
                break;
            }
        }
    }

    template <class Target>
    void write_note(const wire_reader& fields, const wire_field& field, std::uint32_t& slot,
                    Target& target) {
        const bool is_entry = field.is_bytes(at_node::metadata_props);
        if (is_entry && is_fold_entry(wire_model::read_entry(fields, field).first)) {
            return;
        }
        const auto text = text_of(fields, field);
        const auto actual = restored(slot++, text, {});
        if (actual == text) {
            target.whole(fields, field);
            return;
        }
        std::string out;
        if (!is_entry) {
            detail::append_field(field.number, actual, out);
            target.text(out);
            return;
        }
        std::string entry;
        auto parts = fields.inner(field);
        for (wire_field part; parts.next(part);) {
            if (part.is_bytes(detail::onnx_fields::entry::value)) {
                detail::append_field(part.number, actual, entry);
            } else {
                entry.append(fields.whole(part));
            }
        }
        detail::append_field(field.number, entry, out);
        target.text(out);
    }

    /// Returns: a text of the node that is being opened, as it was.
    [[nodiscard]] std::string restored(std::uint32_t slot, std::string_view text,
                                       std::string_view scope) {
        std::string expected(text);
        if (!expected.empty()) {
            expected.insert(0, scope);
        }
        if (next_change_ < record_.changes.size()) {
            const auto& change = record_.changes[next_change_];
            if (change.node == opened_.size() && change.slot == slot) {
                ++next_change_;
                auto changed = apply_change(change, expected);
                check(changed.has_value());
                return std::move(*changed);
            }
        }
        return expected;
    }

    /// Returns: the message of a node whose bodies were folded, or capture values that had other
    /// names.
    [[nodiscard]] std::optional<std::string> with_own_bodies(id node, const frame& around) const {
        if (contents_.bodies_of(node).empty()) {
            return std::nullopt;
        }
        value_renaming renaming;
        const auto read = values_read(model_, contents_, node);
        for (auto i = model_.inputs(node).size(); i < read.size(); ++i) {
            auto actual = name_of(read[i], &around);
            check(!actual.empty());
            if (actual != model_.value_name(read[i])) {
                renaming.add(model_.value_name(read[i]), std::move(actual));
            }
        }
        std::optional<std::string> message;
        if (functions_.changed_inside(node)) {
            string_splice splice(bytes());
            bodies_(node).write(splice);
            message = std::move(splice.text);
        }
        if (!renaming.empty()) {
            message =
                renaming.node(message ? reader_of(*message) : model_.reader(model_.message(node)));
        }
        return message;
    }

    [[nodiscard]] wire_reader reader_of(const std::string& text) const {
        return {text.data(), 0, static_cast<std::uint32_t>(text.size()), model_.file()};
    }

    const wire_model& model_;
    const graph_contents& contents_;
    const folded_functions& functions_;
    const folded_graph_record& record_;
    opening_budget& budget_;
    const body_opener& bodies_;
    std::unordered_set<id> open_; // functions of which a call is being opened
    std::vector<opened_node> opened_;
    std::vector<byte_rope> ropes_;
    std::string text_;
    std::size_t next_change_ = 0;
};

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_OPENED_CALLS_HPP

// <stemma/onnx/wire/unfolded_graph.hpp>
#ifndef STEMMA_ONNX_WIRE_UNFOLDED_GRAPH_HPP
#define STEMMA_ONNX_WIRE_UNFOLDED_GRAPH_HPP

namespace stemma {

/// Makes one graph of a folded model again as it was, part by part.
class unfolded_graph {
public:
    /// Requires and throws: as `opened_calls` does. Complexity: that of `opened_calls`.
    unfolded_graph(const wire_model& model, const graph_contents& contents,
                   const folded_functions& functions, const folded_graph_record& record, id graph,
                   opening_budget& budget, const opened_calls::body_opener& bodies)
        : model_(model)
        , record_(record)
        , calls_(model, contents, functions, record, graph, budget, bodies) {
        find_order();
    }

    /// Returns: the next part of the graph, of which `fields` reads what it is now.
    /// Throws: `error` of `error_code::contradiction` when the record does not fit it.
    /// Complexity: O(fields and nodes).
    [[nodiscard]] byte_rope part(wire_reader fields) {
        byte_rope out;
        std::uint32_t others = 0;
        placed_ = 0;
        write_infos(out);
        const auto write_runs = [&] {
            for (; next_run_ < record_.layout.size() && record_.layout[next_run_].part == part_ &&
                   record_.layout[next_run_].fields == others;
                 ++next_run_) {
                write_nodes(record_.layout[next_run_].nodes, out);
            }
        };
        write_runs();
        for (wire_field field; fields.next(field);) {
            if (!field.is_bytes(at_graph::node)) {
                out.add_range(field.begin, field.end - field.begin);
                ++others;
                ++placed_;
                write_infos(out);
                write_runs();
            } else if (record_.layout.empty() && written_ == 0) {
                write_nodes(order_.size(), out);
            }
        }
        ++part_;
        return out;
    }

    /// Whether everything that was in the graph was written.
    [[nodiscard]] bool is_whole() const {
        return written_ == order_.size() && next_info_ == record_.infos.size();
    }

private:
    using at_graph = detail::onnx_fields::graph;

    void check(bool fits) const { detail::check_fold(fits, model_); }

    /// Finds the place of every node in the order in which calls are opened.
    void find_order() {
        order_.reserve(calls_.size());
        std::vector<bool> seen(calls_.size(), false);
        for (const auto& run : record_.order) {
            check(run.first + run.count <= calls_.size());
            for (auto e = run.first; e < run.first + run.count; ++e) {
                check(!seen[e]);
                seen[e] = true;
                order_.push_back(static_cast<id>(e));
            }
        }
        for (id e = 0; record_.order.empty() && e < calls_.size(); ++e) {
            order_.push_back(e);
        }
    }

    void write_nodes(std::uint64_t count, byte_rope& out) {
        check(count <= order_.size() - written_);
        for (; count > 0; --count) {
            calls_.append(order_[written_++], at_graph::node, out);
            ++placed_;
            write_infos(out);
        }
    }

    /// Writes the ValueInfos that stood behind what was written last.
    void write_infos(byte_rope& out) {
        for (; next_info_ < record_.infos.size() && record_.infos[next_info_].part == part_ &&
               record_.infos[next_info_].fields == placed_;
             ++next_info_) {
            out.add_text(record_.infos[next_info_].bytes);
        }
    }

    const wire_model& model_;
    const folded_graph_record& record_;
    opened_calls calls_;
    std::vector<id> order_; // of the nodes, as they stood
    std::size_t next_run_ = 0;
    std::size_t next_info_ = 0;
    std::uint32_t placed_ = 0; // fields of the part that is made, but for such infos
    std::size_t written_ = 0;
    std::uint32_t part_ = 0;
};

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_UNFOLDED_GRAPH_HPP

// <stemma/onnx/wire/open_folds.hpp>
#ifndef STEMMA_ONNX_WIRE_OPEN_FOLDS_HPP
#define STEMMA_ONNX_WIRE_OPEN_FOLDS_HPP

namespace stemma {

/// Opens the calls that folding made, and makes the bytes again that were folded.
class fold_opener {
public:
    /// Requires: both outlive it; the model carries no tags (see `strip_editor`).
    /// Complexity: O(nodes + values).
    fold_opener(const wire_model& model, const graph_contents& contents, fold_record record)
        : model_(model)
        , contents_(contents)
        , record_(std::move(record))
        , functions_(model, record_)
        , bodies_([this](id node) -> const byte_rope& { return with_own_bodies(node); })
        , graphs_(1 + functions_.bodies().size()) {}

    fold_opener(const fold_opener&) = delete; // parts refer to each other
    fold_opener& operator=(const fold_opener&) = delete;
    ~fold_opener() = default;

    /// Makes the bytes of the model as it was, with its tags, once.
    /// Throws: `error` of `error_code::contradiction` when the file was changed since, and the
    ///   record does not fit it any more; of `malformed` when what it says of tags is damaged; of
    ///   `too_large` when the result would reach 2 GiB.
    /// Complexity: O(bytes that are not weights) of the result.
    [[nodiscard]] byte_rope build() {
        check(functions_.bodies().size() == record_.bodies.size());
        byte_rope result;
        auto fields = model_.reader();
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(at_model::graph)) {
                result.add_field(at_model::graph, graph_part(0, fields.inner(field)));
            } else if (field.is(at_model::ir_version, wire_type::varint) && record_.lifted) {
                result.add_text(version_field());
            } else if (stays(fields, field)) {
                result.add_range(field.begin, field.end - field.begin);
            }
        }
        for (const auto& graph : graphs_) {
            check(graph && graph->is_whole());
        }
        return with_tags(std::move(result));
    }

    /// Whether the model that was folded had tags, and `build` put them back. Those of a model of
    /// which something else was changed since are lost.
    [[nodiscard]] bool restored_tags() const noexcept { return restored_tags_; }

private:
    using at_model = detail::onnx_fields::model;

    void check(bool fits) const { detail::check_fold(fits, model_); }

    [[nodiscard]] byte_rope with_tags(byte_rope untagged) {
        const auto text = find_model_metadata(model_, fold_source_tags_key);
        if (!text) {
            return untagged;
        }
        const auto bytes = from_base64(*text);
        const auto patch = bytes ? byte_patch::from_bytes(*bytes) : std::nullopt;
        if (!patch) {
            STEMMA_THROW(error(error_code::malformed, model_.file(),
                               std::string(fold_source_tags_key), "is not what folding writes"));
        }
        auto tagged = patch->apply(untagged);
        restored_tags_ = tagged.has_value();
        return tagged ? std::move(*tagged) : std::move(untagged);
    }

    [[nodiscard]] std::string version_field() const {
        std::string field;
        if (record_.ir_version) {
            detail::append_number(at_model::ir_version, *record_.ir_version, field);
        }
        return field;
    }

    [[nodiscard]] bool stays(const wire_reader& fields, const wire_field& field) {
        if (field.is_bytes(at_model::functions)) {
            const auto f = next_function_++;
            return f >= model_.functions().size() || !functions_.made(f);
        }
        if (field.is_bytes(at_model::opset_import)) {
            const auto domain = read_opset_import(fields.inner(field)).domain;
            return std::find(record_.domains.begin(), record_.domains.end(), domain) ==
                   record_.domains.end();
        }
        return !field.is_bytes(at_model::metadata_props) ||
               !is_fold_entry(wire_model::read_entry(fields, field).first);
    }

    [[nodiscard]] byte_rope graph_part(std::size_t number, wire_reader fields) {
        auto& graph = graphs_[number];
        if (!graph) {
            const folded_graph_record& record = number == 0 ? record_ : record_.bodies[number - 1];
            const auto g = number == 0 ? 0 : functions_.bodies()[number - 1];
            graph.emplace(model_, contents_, functions_, record, g, budget_, bodies_);
        }
        return graph->part(fields);
    }

    /// Returns: the message of a node as it was, but for names of what its bodies capture.
    [[nodiscard]] const byte_rope& with_own_bodies(id node) {
        if (made_.try_emplace(node).second) {
            check(budget_.bodies > 0);
            --budget_.bodies;
            auto message = with_bodies(
                model_, contents_, node,
                [&](id g, const wire_reader& fields) { return body_part(g, fields); },
                [](const wire_reader& fields, const wire_field& field) {
                    return !field.is_bytes(detail::onnx_fields::node::metadata_props) ||
                           !is_fold_entry(wire_model::read_entry(fields, field).first);
                });
            made_[node] = std::move(message);
            ++budget_.bodies;
        }
        check(made_.at(node).has_value()); // else the node is in a function that is called in it
        return *made_.at(node);
    }

    [[nodiscard]] byte_rope body_part(id g, const wire_reader& fields) {
        const auto& bodies = functions_.bodies();
        const auto found = std::lower_bound(bodies.begin(), bodies.end(), g);
        if (found != bodies.end() && *found == g) {
            return graph_part(static_cast<std::size_t>(found - bodies.begin()) + 1, fields);
        }
        return with_nodes(
            model_, contents_, g, fields, [&](id node) { return functions_.changed(node); },
            [&](id node) { return with_own_bodies(node); });
    }

    const wire_model& model_;
    const graph_contents& contents_;
    fold_record record_;
    folded_functions functions_;
    opening_budget budget_;
    opened_calls::body_opener bodies_;
    std::vector<std::optional<unfolded_graph>> graphs_;     // the main graph, and bodies
    std::unordered_map<id, std::optional<byte_rope>> made_; // by node; nothing while it is made
    id next_function_ = 0;
    bool restored_tags_ = false;
};

/// Returns: what a model says of how it was folded, if it was.
/// Throws: `error` of `error_code::malformed` when that is damaged.
[[nodiscard]] inline std::optional<fold_record> find_fold_record(const wire_model& model) {
    const auto text = find_model_metadata(model, fold_key);
    return text ? std::optional(read_fold_record(*text, model.file())) : std::nullopt;
}

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_OPEN_FOLDS_HPP

// <stemma/onnx/wire/random_nodes.hpp>
#ifndef STEMMA_ONNX_WIRE_RANDOM_NODES_HPP
#define STEMMA_ONNX_WIRE_RANDOM_NODES_HPP

namespace stemma {

/// Returns: by node, whether it gives other results each time: a random operator, or a Dropout that
/// trains, or may do so because its third input is not a constant false (from opset 12 on).
/// Complexity: O(nodes + initializers).
[[nodiscard]] inline std::vector<bool> find_random_nodes(const wire_model& model) {
    auto random = find_random_operators(model);
    std::unordered_map<id, id> tensor_of;
    const auto is_false = [&](id value) {
        whole_numbers number;
        if (const auto node = model.producer(value); node != no_id) {
            if (model.op_type(node) == "Constant" && model.domain(node).empty()) {
                number = node_attributes(model, node).tensor("value").value_or(whole_numbers{});
            }
        } else if (model.is_initializer(value)) {
            if (tensor_of.empty()) {
                const auto tensors = model.tensors();
                for (id i = 0; i < tensors.size(); ++i) {
                    tensor_of.emplace(tensors[i].value, i);
                }
            }
            const auto& tensor = model.tensors()[tensor_of.at(value)];
            if (!tensor.sparse) {
                number = read_whole_numbers(model.reader(tensor.message));
            }
        }
        return number.known && number.values.size() == 1 && number.values.front() == 0;
    };
    for (id node = 0; node < model.node_count(); ++node) {
        if (model.op_type(node) == "Dropout" && model.domain(node).empty()) {
            const auto inputs = model.inputs(node);
            random[node] = inputs.size() > 2 && inputs[2] != no_id && !is_false(inputs[2]);
        }
    }
    return random;
}

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_RANDOM_NODES_HPP

// <stemma/onnx/wire/split_model.hpp>
#ifndef STEMMA_ONNX_WIRE_SPLIT_MODEL_HPP
#define STEMMA_ONNX_WIRE_SPLIT_MODEL_HPP

namespace stemma {

/// Returns: by node what it adds to a part: weights count where they are first read.
/// Complexity: O(nodes + initializers).
[[nodiscard]] inline std::vector<operator_load> find_loads(const wire_model& model) {
    std::vector<operator_load> of_value(model.value_count());
    for (const auto& tensor : model.tensors()) {
        const auto header = read_tensor_header(model, tensor);
        auto& load = of_value[tensor.value];
        load.parameters += header.elements();
        load.weight_bytes += tensor.message.size + (header.external ? header.length : 0);
    }
    std::vector<operator_load> loads(model.node_count());
    for (id node = 0; node < model.node_count(); ++node) {
        auto& load = loads[node];
        if (model.owner(node) == no_id) {
            load.message_bytes = model.message(node).size;
        }
        for (auto value : model.inputs(node)) {
            if (value != no_id) {
                auto& weights = of_value[value];
                load.parameters += std::exchange(weights.parameters, 0);
                load.weight_bytes += std::exchange(weights.weight_bytes, 0);
            }
        }
    }
    for (id node = 0; node < model.node_count(); ++node) {
        if (const auto owner = model.owner(node); owner != no_id) {
            loads[owner].operators += loads[node].operators;
            loads[owner].parameters += loads[node].parameters;
            loads[owner].weight_bytes += loads[node].weight_bytes;
        }
    }
    return loads;
}

/// What is left of a model when its nodes and the data of its initializers are taken out, and how
/// the bytes of the model follow from that and the parts.
class split_skeleton {
public:
    /// `parts` were written with `weights` as their store. Data that no part holds stay.
    /// Complexity: O(fields of the main graph).
    split_skeleton(const wire_model& model, std::span<const split_part> parts,
                   const weight_store& weights)
        : model_(model), weights_(weights), held_(model.value_count(), false) {
        for (const auto& part : parts) {
            for (auto value : part.plan.initializers) {
                held_[value] = true;
            }
        }
        const auto tensors = model.tensors();
        for (id i = 0; i < tensors.size(); ++i) {
            tensor_at_.emplace(tensors[i].message.begin, i);
        }
        writer out{*this};
        auto fields = model.reader();
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(at_model::graph)) {
                message(field, out, [&](auto& to) { graph(fields.inner(field), to); });
            } else {
                out.keep(field.begin, field.end);
            }
        }
    }

    /// The bytes of the skeleton.
    [[nodiscard]] const byte_rope& bytes() const noexcept { return skeleton_; }
    /// How the model follows.
    [[nodiscard]] std::vector<split_manifest::piece> take_recipe() noexcept {
        return std::move(recipe_);
    }

private:
    using at_model = detail::onnx_fields::model;
    using at_graph = detail::onnx_fields::graph;
    using at_tensor = detail::onnx_fields::tensor;
    using piece = split_manifest::piece;

    /// Counts how many bytes are kept.
    struct counter {
        std::uint64_t size = 0;
        void keep(std::uint32_t begin, std::uint32_t end) { size += end - begin; }
        void put(std::string_view text) { size += text.size(); }
        void drop(const piece&) {}
    };

    struct writer {
        split_skeleton& to;

        void keep(std::uint32_t begin, std::uint32_t end) const {
            to.add({piece::kind::skeleton, to.skeleton_.size(), end - begin, {}});
            to.skeleton_.add_range(begin, end - begin);
        }
        void put(std::string_view text) const { to.skeleton_.add_text(text); }
        void drop(piece p) const { to.add(std::move(p)); }
    };

    /// Appends to the recipe; what continues the last piece becomes one with it.
    void add(piece next) {
        using kind = piece::kind;
        if (!recipe_.empty()) {
            auto& last = recipe_.back();
            const bool joins = next.from != kind::bytes && next.from != kind::node;
            if (last.from == next.from && joins && last.text == next.text &&
                last.first + last.count == next.first) {
                last.count += next.count;
                return;
            }
            if (last.from == next.from && next.from == kind::bytes) {
                last.text += next.text;
                return;
            }
        }
        recipe_.push_back(std::move(next));
    }

    /// Keeps a message with another length, as `content(to)` makes it shorter.
    template <class To, class Content>
    void message(const wire_field& field, To& to, Content content) {
        counter kept;
        content(kept);
        std::string header;
        detail::append_tag(field.number, header);
        detail::append_varint(kept.size, header);
        const auto old = model_.bytes().substr(field.begin, field.content - field.begin);
        if (old == header) {
            to.keep(field.begin, field.content);
        } else {
            to.put(header);
            to.drop({piece::kind::bytes, 0, 0, std::string(old)});
        }
        content(to);
    }

    template <class To>
    void graph(wire_reader fields, To& to) {
        auto next = next_node_;
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(at_graph::node)) {
                node(field, next++, to);
            } else if (field.is_bytes(at_graph::initializer)) {
                message(field, to, [&](auto& inside) { tensor(field, fields, inside); });
            } else {
                to.keep(field.begin, field.end);
            }
        }
        if constexpr (std::is_same_v<To, writer>) {
            next_node_ = next;
        }
    }

    template <class To>
    void node(const wire_field& field, id number, To& to) {
        std::string header;
        detail::append_tag(at_graph::node, header);
        detail::append_varint(field.size(), header);
        const auto old = model_.bytes().substr(field.begin, field.content - field.begin);
        if (old == header) {
            to.drop({piece::kind::nodes, number, 1, {}});
        } else {
            to.drop({piece::kind::bytes, 0, 0, std::string(old)});
            to.drop({piece::kind::node, number, 1, {}});
        }
    }

    [[nodiscard]] static bool is_data(const wire_field& field) {
        // float, int32, string, int64, raw, double and uint64 data.
        return field.number == 4 || field.number == 5 || field.number == 6 || field.number == 7 ||
               field.number == at_tensor::raw_data || field.number == 10 || field.number == 11;
    }

    template <class To>
    void tensor(const wire_field& outer, const wire_reader& around, To& to) {
        const auto number = tensor_at_.find(outer.content);
        const auto value =
            number == tensor_at_.end() ? no_id : model_.tensors()[number->second].value;
        const auto stored =
            value == no_id ? std::nullopt : weights_.find(static_cast<std::size_t>(number->second));
        auto fields = around.inner(outer);
        for (wire_field field; fields.next(field);) {
            const bool held = value != no_id && held_[value] && is_data(field) && field.size() > 0;
            if (held && !stored) {
                to.drop({piece::kind::initializer, field.begin - outer.content,
                         field.end - field.begin, std::string(model_.value_name(value))});
            } else if (held && stored->from == field.content) {
                to.drop(
                    {piece::kind::bytes, 0, 0,
                     std::string(model_.bytes().substr(field.begin, field.content - field.begin))});
                to.drop({piece::kind::weights, stored->offset, stored->length, {}});
            } else {
                to.keep(field.begin, field.end);
            }
        }
    }

    const wire_model& model_;
    const weight_store& weights_;
    std::unordered_map<std::uint32_t, id> tensor_at_; // by position of the content
    std::vector<bool> held_;                          // by value: some part has the initializer
    byte_rope skeleton_;
    std::vector<piece> recipe_;
    id next_node_ = 0;
};

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_SPLIT_MODEL_HPP

// <stemma/onnx/wire/value_descriptions.hpp>
#ifndef STEMMA_ONNX_WIRE_VALUE_DESCRIPTIONS_HPP
#define STEMMA_ONNX_WIRE_VALUE_DESCRIPTIONS_HPP

namespace stemma {

namespace detail {

[[nodiscard]] inline std::string element_name(std::uint64_t data_type) {
    const auto name = data_type_name(static_cast<std::int64_t>(data_type));
    return name.empty() ? "type " + std::to_string(data_type) : std::string(name);
}

/// Returns: `[1,seq,?]` of a TensorShapeProto.
[[nodiscard]] inline std::string describe_shape(wire_reader fields) {
    std::string shape = "[";
    for (wire_field field; fields.next(field);) {
        if (!field.is_bytes(1)) {
            continue;
        }
        std::string extent;
        auto parts = fields.inner(field);
        for (wire_field part; parts.next(part);) {
            if (part.is(1, wire_type::varint)) { // dim_value; a negative one says nothing
                extent =
                    static_cast<std::int64_t>(part.value) < 0 ? "" : std::to_string(part.value);
            } else if (part.is_bytes(2)) { // dim_param
                extent = parts.text(part);
            }
        }
        shape.append(shape.size() == 1 ? "" : ",").append(extent.empty() ? "?" : extent);
    }
    return shape.append("]");
}

inline void describe_value_type(wire_reader fields, value_description& out, unsigned depth) {
    constexpr unsigned deepest = 16;
    const auto nested = [&](wire_reader& around, const wire_field& field) {
        value_description inner;
        if (depth < deepest) {
            describe_value_type(around.inner(field), inner, depth + 1);
        }
        return inner.type_and_shape();
    };
    // TypeProto: tensor_type 1, sequence 4, map 5, sparse 8, optional 9.
    for (wire_field field; fields.next(field);) {
        const bool tensor = field.is_bytes(1) || field.is_bytes(8);
        if (!tensor && !field.is_bytes(4) && !field.is_bytes(5) && !field.is_bytes(9)) {
            continue;
        }
        auto parts = fields.inner(field);
        std::string key;
        std::string element;
        for (wire_field part; parts.next(part);) {
            if (tensor && part.is(1, wire_type::varint)) {
                out.type = element_name(part.value);
            } else if (tensor && part.is_bytes(2)) {
                out.shape = describe_shape(parts.inner(part));
            } else if (field.is_bytes(5) && part.is(1, wire_type::varint)) {
                key = element_name(part.value) + ",";
            } else if (!tensor && part.is_bytes(field.is_bytes(5) ? 2 : 1)) {
                element = nested(parts, part);
            }
        }
        if (field.is_bytes(8)) {
            out.type = "sparse(" + out.type + ")";
        } else if (!tensor) {
            const std::string_view kind = field.is_bytes(4)   ? "sequence("
                                          : field.is_bytes(5) ? "map("
                                                              : "optional(";
            out.type = std::string(kind).append(key).append(element).append(")");
        }
    }
}

} // namespace detail

/// Returns: what the bytes of a TypeProto say, without a name. Complexity: O(length).
[[nodiscard]] inline value_description describe_value_type(std::string_view type) {
    value_description described;
    detail::describe_value_type(
        wire_reader(type.data(), 0, static_cast<std::uint32_t>(type.size()), "type"), described, 0);
    return described;
}

/// Names, types and shapes of the values of a model: as declared, as initializers have them, or as
/// far as they follow from those.
class value_descriptions {
public:
    /// Requires: the model outlives this. Complexity: O(nodes + values).
    explicit value_descriptions(const wire_model& model)
        : model_(&model), types_(model), tensor_of_(model.value_count(), no_id) {
        infer_shapes(model, types_);
        const auto tensors = model.tensors();
        for (id i = 0; i < tensors.size(); ++i) {
            if (tensors[i].value != no_id) {
                tensor_of_[tensors[i].value] = i;
            }
        }
    }

    /// Returns: name, type and shape of a value. Complexity: O(length of what its messages say).
    [[nodiscard]] value_description operator()(id value) const {
        value_description described;
        if (tensor_of_[value] != no_id) {
            const auto header = read_tensor_header(*model_, model_->tensors()[tensor_of_[value]]);
            described.type = detail::element_name(static_cast<std::uint64_t>(header.data_type));
            described.shape = "[";
            for (auto extent : header.dims) {
                described.shape.append(described.shape.size() == 1 ? "" : ",")
                    .append(std::to_string(extent));
            }
            described.shape.append("]");
        } else if (const auto type = types_.type_of(value)) {
            described = describe_value_type(*type);
        }
        described.name = model_->value_name(value);
        return described;
    }

private:
    const wire_model* model_;
    mutable value_types types_; // sorts what was added when it is first asked
    std::vector<id> tensor_of_; // by value: place among the tensors
};

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_VALUE_DESCRIPTIONS_HPP

// <stemma/onnx/wire/write_cuts.hpp>
#ifndef STEMMA_ONNX_WIRE_WRITE_CUTS_HPP
#define STEMMA_ONNX_WIRE_WRITE_CUTS_HPP

namespace stemma {

/// Nodes to be cut out, ascending, and by node the call of the module that each belongs to, or
/// nothing; see `cut_planner::plan`.
struct cut_request {
    std::vector<id> nodes; ///< ascending
    std::vector<id> calls; ///< by place in `nodes`, or empty
};

/// Where a part goes, and what its metadata say of it.
struct cut_target {
    std::string path;                           ///< "" for a part that is not written
    std::string origin;                         ///< the value of `cut_key`
    weight_store* store = nullptr;              ///< takes large weights, if there is one
    target_state state = target_state::unknown; ///< of `path`
};

/// What is to be cut out of a model. `request(i)` says which nodes; it is asked by several threads
/// at once. `target(i, part, plans)` says where a part goes, and may refuse the plan; `done(i,
/// part, plan)` hears that the part stands in its place, or was refused. Each of these two is
/// called in order, for one part at a time, yet `target` for one request perhaps while `done` is
/// for another.
template <class Job>
concept cut_job = requires(Job& job, const Job& same, std::size_t i, std::vector<cut_plan>& plans) {
    { same.request(i) } -> std::convertible_to<cut_request>;
    { job.target(i, i, plans) } -> std::convertible_to<cut_target>;
    job.done(i, i, plans.front());
};

namespace detail {

/// Carries out a `cut_job`.
template <cut_policy Policy, cut_job Job>
class cut_run {
public:
    cut_run(const mapped_file& source, cut_planner<Policy>& planner,
            const cut_writer<Policy>& writer, Job& job, bool sync, std::size_t count,
            std::size_t workers)
        : source_(source)
        , job_(job)
        , sync_(sync)
        , planner_(planner)
        , writer_(writer)
        , helpers_(workers)
        , open_(count) {
        static_cast<void>(planner.facts(0)); // made before it is copied
    }

    /// Chooses what is cut out.
    void plan(std::size_t i, std::size_t worker) {
        const cut_request asked = std::as_const(job_).request(i);
        open_[i] = std::make_unique<parts_of_one>();
        open_[i]->plans = helper_of(worker).planner.plan(asked.nodes, asked.calls);
    }

    /// Decides where it goes.
    void place(std::size_t i) {
        auto& cut = *open_[i];
        cut.parts.resize(cut.plans.size());
        for_each_part(cut, [&](std::size_t p, part& made) {
            made.target = job_.target(i, p, cut.plans);
            if (made.target.store != nullptr && !made.target.path.empty()) {
                writer_.place_weights(cut.plans[p], *made.target.store);
            }
        });
    }

    /// Makes the files, which have no names yet.
    void build(std::size_t i, std::size_t worker) {
        auto& cut = *open_[i];
        for_each_part(cut, [&](std::size_t p, part& made) {
            if (made.target.path.empty()) {
                return;
            }
            made.bytes =
                helper_of(worker).writer.build(cut.plans[p], made.target.origin, made.target.store);
            if (made.bytes.size() >= std::uint64_t{1} << 31U) {
                STEMMA_THROW(error(error_code::too_large, made.target.path, "",
                                   "the part would have 2 GiB or more even without its weights"));
            }
            if (files_++ < most_files) {
                write(made, helper_of(worker).buffer);
                made.bytes = {};
            } else {
                --files_;
            }
        });
    }

    /// Gives the files their names.
    void put_in_place(std::size_t i) {
        auto& cut = *open_[i];
        for (std::size_t p = 0; p < cut.parts.size(); ++p) {
            auto& made = cut.parts[p];
            if (made.file) {
                made.file->commit(sync_);
                made.file.reset();
                --files_;
            } else if (!made.target.path.empty()) {
                write(made, buffer_);
                made.file->commit(sync_);
                made.file.reset();
            }
            job_.done(i, p, std::as_const(cut.plans[p]));
        }
#if defined(__cpp_exceptions)
        if (cut.thrown) {
            std::rethrow_exception(cut.thrown);
        }
#endif
        open_[i].reset();
    }

private:
    // A process has few descriptors.
    static constexpr std::size_t most_files = 200;
    // What is longer goes from file to file, as far as it can.
    static constexpr std::size_t most_buffered = std::size_t{1} << 20U;

    struct part {
        cut_target target;
        byte_rope bytes;
        std::unique_ptr<output_file> file; // complete
    };

    struct parts_of_one {
        std::vector<cut_plan> plans;
        std::vector<part> parts; // before the one that failed
        std::exception_ptr thrown{};
    };

    struct helper {
        cut_planner<Policy> planner;
        cut_writer<Policy> writer;
        std::string buffer;
    };

    /// Copies are long, so that each worker makes its own.
    [[nodiscard]] helper& helper_of(std::size_t worker) {
        auto& known = helpers_[worker];
        if (!known) {
            known.emplace(helper{planner_, writer_, {}});
        }
        return *known;
    }

    /// Calls `f(number, part)`; parts before one that fails go on.
    template <class Function>
    static void for_each_part(parts_of_one& of, Function f) {
        for (std::size_t p = 0; p < of.parts.size(); ++p) {
#if defined(__cpp_exceptions)
            try {
                f(p, of.parts[p]);
            } catch (...) {
                of.parts.resize(p);
                of.thrown = std::current_exception();
            }
#else
            f(p, of.parts[p]);
#endif
        }
    }

    void write(part& made, std::string& buffer) const {
        made.file = std::make_unique<output_file>(made.target.path, made.target.state);
        if (made.bytes.size() > most_buffered) {
            file_splice splice(source_, *made.file);
            made.bytes.write(splice);
        } else {
            string_splice splice(source_.bytes(), std::move(buffer));
            made.bytes.write(splice);
            made.file->write_now(splice.text);
            buffer = std::move(splice.text);
        }
        made.file->finish(sync_);
    }

    const mapped_file& source_;
    Job& job_;
    bool sync_;
    const cut_planner<Policy>& planner_;
    const cut_writer<Policy>& writer_;
    std::vector<std::optional<helper>> helpers_; // by worker
    std::string buffer_;
    std::vector<std::unique_ptr<parts_of_one>> open_; // by request, while it is under way
    std::atomic<std::size_t> files_{0};               // that have no name yet
};

} // namespace detail

/// Cuts sets of nodes number 0, 1, ... below `count` out of a model and writes the parts, in as
/// many threads as it may. Files, messages and errors are the same for any number of them.
///
/// `source` is the file of the model. Each thread has copies of planner and writer.
/// Throws: `error` of `cannot_write`, of `too_large` for a part of 2 GiB, or what the job throws;
///   the parts before that one stand in their place then, and no others.
/// Complexity: that of planning, and O(bytes) of the parts.
template <cut_policy Policy, cut_job Job>
void write_cuts(const mapped_file& source, cut_planner<Policy>& planner,
                const cut_writer<Policy>& writer, Job& job, std::size_t count, bool sync = true,
                thread_limit threads = {}) {
    constexpr std::size_t most_at_once = 8; // many parts are small
    constexpr std::size_t in_flight = 6;    // so that nobody waits for one thread that is held up
    const auto workers = std::clamp<std::size_t>(threads.most, 1, std::max<std::size_t>(count, 1));
    detail::cut_run<Policy, Job> run(source, planner, writer, job, sync, count, workers);
    run_pipeline(
        count,
        {{false, [&](std::size_t i, std::size_t worker) { run.plan(i, worker); }},
         {true, [&](std::size_t i, std::size_t) { run.place(i); }},
         {false, [&](std::size_t i, std::size_t worker) { run.build(i, worker); }},
         {true, [&](std::size_t i, std::size_t) { run.put_in_place(i); }}},
        {workers, std::clamp<std::size_t>(count / (8 * workers), 1, most_at_once), in_flight});
}

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_WRITE_CUTS_HPP

// <stemma/onnx/wire/write_split.hpp>
#ifndef STEMMA_ONNX_WIRE_WRITE_SPLIT_HPP
#define STEMMA_ONNX_WIRE_WRITE_SPLIT_HPP

namespace stemma {

/// What the model's metadata of a part say of the split it belongs to.
inline constexpr std::string_view split_key = "pkg.stemma.split";

/// The names of the files that a split model has beside its parts.
inline constexpr std::string_view split_skeleton_name = "skeleton.onnx";
/// The file of the weights that the parts share.
inline constexpr std::string_view split_weights_name = "weights.bin";

/// What a part is called.
struct split_part_names {
    std::string file;   ///< in the folder
    std::string module; ///< path of the module that holds all of it
    std::string tag;    ///< of that module
};

/// Writes a model as parts: a file for each, one of weights that they share, what is left of the
/// model, and a manifest by which it can be put together again.
template <cut_policy Policy = standard_cut>
class split_writer {
public:
    /// `source` is the file of the model; `store` is called `split_weights_name`.
    /// Requires: all outlive the writer; every value between parts has a type.
    split_writer(const wire_model& model, const mapped_file& source, cut_writer<Policy>& cuts,
                 const value_types& types, weight_store& store)
        : model_(model), source_(source), cuts_(cuts), types_(types), store_(store) {}

    /// Writes everything to `folder`, the manifest last. Files and errors are the same for any
    /// number of threads. Returns: the manifest. Throws: `error` of `cannot_write`, or of
    /// `too_large` for a part of
    ///   2 GiB. Complexity: O(bytes), of weights from file to file.
    split_manifest write(std::span<const split_part> parts, std::span<const split_part_names> names,
                         const std::string& folder, bool sync, thread_limit threads = {}) {
        const auto path = [&](std::string_view file) {
            return (std::filesystem::path(folder) / file).string();
        };
        split_manifest manifest;
        manifest.source.file = std::filesystem::path(source_.path()).filename().string();
        manifest.parts.resize(parts.size());
        const std::size_t workers = std::max(threads.most, 1U);
        std::vector<cut_writer<Policy>> writers(workers - 1, cuts_);
        std::vector<std::unique_ptr<output_file>> files(parts.size());
        // The first item is the source, of which only the hash is wanted.
        const auto place = [&](std::size_t item, std::size_t) {
            if (item > 0) {
                cuts_.place_weights(parts[item - 1].plan, store_);
            }
        };
        const auto build = [&](std::size_t item, std::size_t worker) {
            if (item == 0) {
                manifest.source.hash = to_hex(xxh64(source_.bytes()));
                return;
            }
            const auto p = item - 1;
            auto& writer = worker == 0 ? cuts_ : writers[worker - 1];
            const auto rope = writer.build(parts[p].plan, origin(p, names[p], manifest.source.file),
                                           &store_, split_key);
            if (rope.size() >= std::uint64_t{1} << 31U) {
                STEMMA_THROW(error(error_code::too_large, path(names[p].file), "",
                                   "the part would have 2 GiB or more without its weights"));
            }
            files[p] = std::make_unique<output_file>(path(names[p].file));
            file_splice splice(source_, *files[p]);
            rope.write(splice);
            files[p]->finish(sync);
        };
        const auto put_in_place = [&](std::size_t item, std::size_t) {
            if (item > 0) {
                files[item - 1]->commit(sync);
                files[item - 1].reset();
            }
        };
        const auto describe = [&](std::size_t item, std::size_t) {
            if (item > 0) {
                const auto p = item - 1;
                manifest.parts[p] = entry_of(parts[p], names[p]);
                manifest.parts[p].at.hash = hash_of(path(names[p].file));
            }
        };
        run_pipeline(parts.size() + 1,
                     {{true, place}, {false, build}, {true, put_in_place}, {false, describe}},
                     {workers, 1, 4});
        manifest.order.resize(parts.size());
        std::iota(manifest.order.begin(), manifest.order.end(), id{0});
        if (!store_.empty()) {
            const auto weights = path(split_weights_name);
            store_.write(weights, sync);
            manifest.weights = {std::string(split_weights_name), hash_of(weights)};
        }
        split_skeleton skeleton(model_, parts, store_);
        manifest.skeleton = {std::string(split_skeleton_name),
                             write_rope(skeleton.bytes(), path(split_skeleton_name), sync)};
        manifest.recipe = skeleton.take_recipe();
        find_tensors(parts, manifest);
        output_file output(path(split_manifest_name));
        write_split_manifest(manifest, output);
        output.commit(sync);
        return manifest;
    }

private:
    [[nodiscard]] static std::string origin(std::size_t part, const split_part_names& names,
                                            const std::string& source) {
        string_sink text;
        json_writer json(text);
        json.begin_object(true);
        json.member("schema", split_schema);
        json.member("source", source);
        json.member("part", part);
        json.member("module", names.module);
        json.member("tag", names.tag);
        json.end_object();
        json.finish();
        text.text.pop_back();
        return std::move(text.text);
    }

    /// Returns: the hash of what was written.
    [[nodiscard]] std::string write_rope(const byte_rope& rope, const std::string& path,
                                         bool sync) const {
        output_file output(path);
        file_splice splice(source_, output);
        rope.write(splice);
        output.commit(sync);
        return hash_of(path);
    }

    [[nodiscard]] static std::string hash_of(const std::string& path) {
        return to_hex(xxh64(mapped_file(path).bytes()));
    }

    [[nodiscard]] split_manifest::part_entry entry_of(const split_part& part,
                                                      const split_part_names& names) const {
        const auto positions = [&](const std::vector<id>& nodes) {
            std::vector<id> result;
            result.reserve(nodes.size());
            for (auto node : nodes) {
                result.push_back(model_.position(node));
            }
            return result;
        };
        split_manifest::part_entry entry;
        entry.at.file = names.file;
        entry.module = names.module;
        entry.tag = names.tag;
        entry.level = part.level;
        entry.cost = part.cost;
        entry.nodes = positions(part.nodes);
        entry.clones = positions(part.clones);
        entry.order = positions(part.plan.nodes);
        if (std::is_sorted(entry.order.begin(), entry.order.end())) {
            entry.order.clear();
        }
        for (auto node : part.clones) {
            for (id i = 0; i < model_.output_count(node); ++i) {
                entry.cloned_values.emplace_back(model_.value_name(model_.first_output(node) + i));
            }
        }
        for (auto value : part.plan.initializers) {
            entry.initializers.emplace_back(model_.value_name(value));
        }
        return entry;
    }

    void find_tensors(std::span<const split_part> parts, split_manifest& manifest) {
        std::map<id, split_manifest::tensor_entry> tensors; // by value
        for (id p = 0; p < parts.size(); ++p) {
            for (auto value : parts[p].plan.outputs) {
                tensors[value].from = p;
            }
            for (auto value : parts[p].plan.inputs) {
                tensors[value].to.push_back(p);
            }
        }
        for (auto value : model_.graph(0).outputs) {
            if (value != no_id && !model_.is_initializer(value)) {
                tensors[value].output = true;
            }
        }
        for (auto& [value, tensor] : tensors) {
            tensor.name = model_.value_name(value);
            if (const auto type = types_.type_of(value)) {
                auto described = describe_type(*type);
                tensor.type = std::move(described.name);
                tensor.shape = std::move(described.shape);
            }
            manifest.tensors.push_back(std::move(tensor));
        }
    }

    const wire_model& model_;
    const mapped_file& source_;
    cut_writer<Policy>& cuts_;
    const value_types& types_;
    weight_store& store_;
};

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_WRITE_SPLIT_HPP

#endif // STEMMA_WIRE_HPP
