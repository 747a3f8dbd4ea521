// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_IO_CAPTURE_HPP
#define STEMMA_IO_CAPTURE_HPP

#include <stemma/config.hpp>
#include <stemma/core/id.hpp>
#include <stemma/error.hpp>
#include <stemma/io/captured_export.hpp>
#include <stemma/io/captured_fx.hpp>
#include <stemma/io/captured_trace.hpp>
#include <stemma/io/file.hpp>
#include <stemma/io/json_stream.hpp>
#include <stemma/model/captured_operations.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/module_tree_builder.hpp>

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

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
    [[nodiscard]] bool has_modules() const noexcept { return !by_path_.empty(); }

    /// Returns: the tree of all modules that were read.
    /// Throws: as `read`, when aliases or shared parameters name modules that are not there.
    /// Complexity: O(modules + tensors).
    [[nodiscard]] module_tree tree() {
        for (auto& [alias, canonical, file] : aliases_) {
            const auto module = by_path_.find(canonical);
            if (module == by_path_.end()) {
                STEMMA_THROW(error(error_code::contradiction, file, "alias '" + alias + "'",
                                   "its module '" + canonical + "' is not listed"));
            }
            builder_.add_alias(alias, module->second);
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
    [[nodiscard]] bool wants(const std::string& path) const {
        return path == "modules" || path == "aliases" || path == "shared_parameters" ||
               part_of(path) != part::none;
    }

    /// For `stream_json`. Throws: as `read`.
    void element(const std::string& path, nlohmann::json& item) {
        switch (part_of(path)) {
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
        default:
            break;
        }
        if (path == "modules") {
            item.is_array() ? read_compact_module(item) : read_module(item);
        } else if (path == "aliases") {
            aliases_.push_back({text(item, "alias"), text(item, "canonical"), file_});
        } else if (item.is_array()) {
            builder_.add_shared_parameters(strings(item));
        }
    }

    /// For `stream_json`; no scalar means anything.
    void scalar(const std::string&, nlohmann::json&) {}

private:
    using json = nlohmann::json;

    enum class part { none, event, unhooked, fx_node, operation, exported_node };

    /// Parts in files of their own have no name around them.
    [[nodiscard]] static part part_of(const std::string& path) {
        return path == "events" || path == "trace.events"       ? part::event
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

    [[nodiscard]] const std::string& text(const json& object, const char* key) const {
        const auto found = object.is_object() ? object.find(key) : object.end();
        if (!object.is_object() || found == object.end() || !found->is_string()) {
            fail(error_code::malformed, std::string("lacks the text '") + key + "'");
        }
        return found->get_ref<const std::string&>();
    }

    [[nodiscard]] std::vector<std::string> strings(const json& array) const {
        std::vector<std::string> result;
        for (const auto& item : array) {
            if (!item.is_string()) {
                fail(error_code::malformed, "a list of names holds something else");
            }
            result.push_back(item.get<std::string>());
        }
        return result;
    }

    id add_module(const std::string& path) {
        ++count_;
        const bool first = by_path_.empty();
        const auto [known, added] = by_path_.emplace(path, 0);
        if (!added) {
            fail(error_code::contradiction,
                 path.empty() ? "there are two roots" : "'" + path + "' is listed twice");
        }
        if (path.empty()) {
            if (!first) {
                fail(error_code::contradiction, "the root does not come first");
            }
            return known->second;
        }
        const auto dot = path.rfind('.');
        const auto parent_path = std::string_view(path).substr(0, dot == path.npos ? 0 : dot);
        // Children of one module mostly follow each other.
        if (parent_ == no_id || parent_path != parent_path_) {
            parent_path_ = parent_path;
            const auto parent = by_path_.find(parent_path_);
            if (parent == by_path_.end()) {
                fail(error_code::contradiction,
                     "the parent of '" + path + "' is not listed before it");
            }
            parent_ = parent->second;
        }
        known->second =
            builder_.child(parent_, std::string_view(path).substr(dot == path.npos ? 0 : dot + 1));
        return known->second;
    }

    void read_module(const json& module) {
        const auto& path = text(module, "name");
        const auto m = add_module(path);
        if (const auto parent = module.find("parent"); parent != module.end()) {
            check_parent(path, *parent);
        }
        builder_.set_class(m, optional_text(module, "class_name"),
                           optional_text(module, "qualified_class"));
        if (const auto calls = module.find("calls");
            calls != module.end() && calls->is_number_unsigned()) {
            builder_.set_calls(m, calls->get<id>());
        }
        read_tensors(module, "own_parameters", m, false);
        read_tensors(module, "own_buffers", m, true);
        if (const auto aliases = module.find("aliases");
            aliases != module.end() && aliases->is_array()) {
            for (auto& alias : strings(*aliases)) {
                aliases_.push_back({std::move(alias), path, file_});
            }
        }
    }

    void check_parent(const std::string& path, const json& parent) const {
        const auto dot = path.rfind('.');
        const auto expected = std::string_view(path).substr(0, dot == path.npos ? 0 : dot);
        const bool agrees =
            path.empty() ? parent.is_null()
                         : parent.is_string() && parent.get_ref<const std::string&>() == expected;
        if (!agrees) {
            fail(error_code::contradiction, "'" + path + "' names another parent than its path");
        }
    }

    [[nodiscard]] std::string_view optional_text(const json& object, const char* key) const {
        const auto found = object.find(key);
        return found == object.end() || found->is_null() ? std::string_view() : text(object, key);
    }

    void read_tensors(const json& module, const char* key, id m, bool buffers) {
        const auto list = module.find(key);
        if (list == module.end() || !list->is_array()) {
            return;
        }
        for (const auto& tensor : *list) {
            const auto& name = text(tensor, "name");
            const auto dtype = optional_text(tensor, "dtype");
            const auto listed = tensor.find("shape");
            const auto extents =
                listed == tensor.end() ? std::vector<std::int64_t>() : shape(*listed);
            const auto trainable = tensor.find("trainable");
            const tensor_info info{name, dtype, extents,
                                   trainable != tensor.end() && trainable->is_boolean() &&
                                       trainable->get<bool>()};
            buffers ? builder_.add_buffer(m, info) : builder_.add_parameter(m, info);
        }
    }

    [[nodiscard]] std::vector<std::int64_t> shape(const json& extents) const {
        std::vector<std::int64_t> result;
        for (const auto& extent : extents) {
            if (!extent.is_number_integer()) {
                fail(error_code::malformed, "an extent of a shape is no number");
            }
            result.push_back(extent.get<std::int64_t>());
        }
        return result;
    }

    /// [name, class, qualified class, [[parameter, shape], ...]]
    void read_compact_module(const json& module) {
        if (module.size() < 3 || !module[0].is_string() || !module[1].is_string() ||
            !module[2].is_string()) {
            fail(error_code::malformed, "is not [name, class, qualified class, parameters]");
        }
        const auto m = add_module(module[0].get<std::string>());
        builder_.set_class(m, module[1].get<std::string>(), module[2].get<std::string>());
        if (module.size() < 4 || !module[3].is_array()) {
            return;
        }
        for (const auto& tensor : module[3]) {
            if (!tensor.is_array() || tensor.size() < 2 || !tensor[0].is_string() ||
                !tensor[1].is_array()) {
                fail(error_code::malformed, "a parameter is not [name, shape]");
            }
            const auto name = tensor[0].get<std::string>();
            const auto extents = shape(tensor[1]);
            builder_.add_parameter(m, {name, "float32", extents, true});
        }
    }

    module_tree_builder builder_;
    captured_trace trace_;
    captured_fx fx_;
    captured_trace torchscript_;
    captured_export export_;
    std::unordered_map<std::string, id> by_path_;
    std::string parent_path_; // of the module that was added last
    id parent_ = no_id;
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
