// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CAPTURE_DETAIL_CAPTURE_READER_HPP
#define STEMMA_CAPTURE_DETAIL_CAPTURE_READER_HPP

#include <stemma/align/captured_operations.hpp>
#include <stemma/capture/detail/captured_export.hpp>
#include <stemma/capture/detail/captured_fx.hpp>
#include <stemma/capture/detail/captured_trace.hpp>
#include <stemma/config.hpp>
#include <stemma/core/detail/dotted_path.hpp>
#include <stemma/core/detail/string_pool.hpp>
#include <stemma/core/id.hpp>
#include <stemma/error.hpp>
#include <stemma/io/detail/json_part.hpp>
#include <stemma/io/detail/json_stream.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/module_tree_builder.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Reads captures (`stemma.capture/1` and its parts, see docs/formats.md): the module tree, and any
/// trace, FX graph, TorchScript and record of an export. Of what stemma itself writes,
/// `stemma.sidecar/1` and `stemma.tree/1`, it reads the modules.
///
/// One object reads all files of a capture; `tree` combines them. If several list modules, the
/// first counts, and the others may list no more than it does. Unknown keys are ignored.
class capture_reader final : json_handler {
public:
    /// Throws: `error`: `malformed` if it is not JSON or lacks what a module needs, `contradiction`
    /// for modules that do not form one tree.
    /// Complexity: O(bytes); memory for one element at a time beyond what is kept.
    void read(std::string_view bytes, std::string_view file) {
        open(file);
        stream_json(bytes, file, *this);
    }

    /// Adds the modules of a tree, as if they had been listed in `file`.
    /// Throws: as above, `contradiction`. Complexity: O(bytes of all paths).
    void read(const module_tree& modules, std::string_view file) {
        open(file);
        if (has_modules()) {
            for (id m = 0; m < modules.size(); ++m) {
                add_module(modules.path(m));
            }
            return;
        }
        for (id m = 0; m < modules.size(); ++m) {
            ++count_;
            if (paths_.intern(modules.path(m)) != m) {
                fail(error_code::contradiction, "'" + modules.path(m) + "' is listed twice");
            }
            if (m != 0) {
                builder_.child(modules.index().parent(m), modules.name(m));
            }
            builder_.set_class(m, modules.class_name(m), modules.qualified_class(m));
            if (modules.calls(m) != no_id) {
                builder_.set_calls(m, modules.calls(m));
            }
            for (std::size_t i = 0; i < modules.parameter_count(m); ++i) {
                builder_.add_parameter(m, modules.parameter(m, i));
            }
            for (std::size_t i = 0; i < modules.buffer_count(m); ++i) {
                builder_.add_buffer(m, modules.buffer(m, i));
            }
        }
        for (const auto& alias : modules.aliases()) {
            builder_.add_alias(alias.path, alias.module);
        }
        for (const auto& group : modules.shared_parameters()) {
            builder_.add_shared_parameters(group);
        }
    }

    /// Whether any module was read, so that `tree` has more than a root.
    [[nodiscard]] bool has_modules() const noexcept { return paths_.size() > 0; }

    /// Returns: the tree of all modules read.
    /// Throws: as `read`, if aliases or shared parameters refer to missing modules.
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
        forget_empty_counts();
        return builder_.build();
    }

    /// Whether anything besides modules was read.
    [[nodiscard]] bool has_operations() const noexcept {
        return !trace_.empty() || !fx_.empty() || !torchscript_.empty() || !export_.empty();
    }

    /// Returns: the operations of the trace, of the FX graphs and of TorchScript, with modules of
    /// the tree; call once.
    [[nodiscard]] captured_operations trace(const module_tree& modules) {
        return trace_.finish(modules);
    }

    /// As `trace`: one for each FX graph.
    [[nodiscard]] std::vector<captured_operations> fx(const module_tree& modules) {
        return fx_.finish(modules);
    }

    /// As `trace`, for TorchScript.
    [[nodiscard]] captured_operations torchscript(const module_tree& modules) {
        return torchscript_.finish(modules);
    }

    /// Returns: what was recorded during the export.
    [[nodiscard]] const captured_export& exported() const noexcept { return export_; }

    /// Returns: paths of modules, and where their forward begins, as stacks of one frame.
    [[nodiscard]] const std::vector<std::pair<std::string, std::string>>&
    module_sources() const noexcept {
        return module_sources_;
    }

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
        exported_node,
        stack
    };

    /// Parts in their own files have no enclosing key.
    [[nodiscard]] static part part_of(std::string_view path) {
        return path == "modules"                                ? part::module
               : path == "aliases"                              ? part::alias
               : path == "shared_parameters"                    ? part::shared
               : path == "events" || path == "trace.events"     ? part::event
               : path == "unhooked" || path == "trace.unhooked" ? part::unhooked
               : path == "nodes" || path == "fx.nodes"          ? part::fx_node
               : path == "torchscript.operations"               ? part::operation
               : path == "export.nodes"                         ? part::exported_node
               : path == "export.stacks"                        ? part::stack
                                                                : part::none;
    }

    struct alias_record {
        std::string alias;
        std::string canonical;
        std::string file;
    };

    [[nodiscard]] bool wants(const std::string& path) override {
        part_ = part_of(path);
        return part_ != part::none;
    }

    void element(const std::string&, json_part item) override {
        if (repeats_ && (part_ == part::alias || part_ == part::shared)) {
            return;
        }
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
            // In a sidecar these give positions of operators rather than what PyTorch did.
            return item["op_type"] && !item["op"] ? void() : fx_.read_node(item, file_);
        case part::operation:
            return torchscript_.read_operation(item, file_);
        case part::exported_node:
            return export_.read_node(item, file_);
        case part::stack:
            return export_.read_stack(item);
        case part::none:
            return;
        }
    }

    [[noreturn]] void fail(error_code code, std::string_view reason) const {
        STEMMA_THROW(error(code, file_, "module " + std::to_string(count_), reason));
    }

    [[nodiscard]] std::string_view text(json_part object, std::string_view key) const {
        const auto entry = object[key];
        if (!entry.is_text()) {
            fail(error_code::malformed, "lacks the string '" + std::string(key) + "'");
        }
        return entry.text();
    }

    [[nodiscard]] std::vector<std::string> strings(json_part array) const {
        if (!array.is_texts()) {
            fail(error_code::malformed, "a list of names contains a non-string");
        }
        return array.texts();
    }

    /// If nothing was counted to have run, it was not counted what ran.
    void forget_empty_counts() {
        for (id m = 0; m < builder_.size(); ++m) {
            if (builder_.calls(m) != no_id && builder_.calls(m) != 0) {
                return;
            }
        }
        for (id m = 0; m < builder_.size(); ++m) {
            builder_.set_calls(m, no_id);
        }
    }

    void open(std::string_view file) {
        file_ = file;
        has_root_ = false;
        repeats_ = false;
        count_ = 0;
    }

    // The root comes first, so a path has the number of its module in the builder. `no_id` for a
    // module that a previous file lists.
    id add_module(std::string_view path) {
        ++count_;
        if (path.empty()) {
            if (has_root_) {
                fail(error_code::contradiction, "has two roots");
            }
            has_root_ = true;
            repeats_ = has_modules();
        }
        if (repeats_) {
            if (paths_.find(path) == no_id) {
                fail(error_code::contradiction,
                     "'" + std::string(path) +
                         "' is not among the modules of the previous files; the one "
                         "that lists all must come first");
            }
            return no_id;
        }
        const auto next = static_cast<id>(paths_.size());
        if (path.empty()) {
            return paths_.intern(path);
        }
        if (has_empty_part(path)) {
            fail(error_code::contradiction, "'" + std::string(path) + "' has an empty part");
        }
        const auto parent_path = path_around(path);
        // Children of one module are mostly consecutive.
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
        return builder_.child(parent_, path.substr(path.rfind('.') + 1));
    }

    void read_module(json_part module) {
        const bool is_own = !module["name"] && module["path"].is_text(); // in a sidecar
        const auto path = text(module, is_own ? "path" : "name");
        const auto m = add_module(path);
        if (m == no_id) {
            return;
        }
        if (const auto parent = module["parent"]) {
            check_parent(path, parent);
        }
        builder_.set_class(m, optional_text(module, is_own ? "class" : "class_name"),
                           optional_text(module, "qualified_class"));
        if (const auto calls = module["calls"]; calls.is_number<id>()) {
            builder_.set_calls(m, calls.number<id>());
        }
        if (const auto source = module["source"]; source.is_text()) {
            module_sources_.emplace_back(path, source.text());
        }
        read_tensors(module[is_own ? "parameters" : "own_parameters"], m, false);
        read_tensors(module[is_own ? "buffers" : "own_buffers"], m, true);
        if (const auto aliases = module["aliases"]; aliases.is_array()) {
            for (auto& alias : strings(aliases)) {
                aliases_.push_back({std::move(alias), std::string(path), file_});
            }
        }
    }

    void check_parent(std::string_view path, json_part parent) const {
        if (path.empty() ? !parent.is_null() : parent != path_around(path)) {
            fail(error_code::contradiction,
                 "'" + std::string(path) + "' has a parent that contradicts its path");
        }
    }

    [[nodiscard]] std::string_view optional_text(json_part object, std::string_view key) const {
        const auto entry = object[key];
        return !entry || entry.is_null() ? std::string_view() : text(object, key);
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

    /// Anything without a shape is a scalar.
    void read_shape(json_part list) {
        shape_.clear();
        if (!list || list.is_null()) {
            return;
        }
        if (!list.is_array()) {
            fail(error_code::malformed, "a shape is not a list");
        }
        for (const auto extent : list) {
            if (!extent.is_number<std::int64_t>()) {
                fail(error_code::malformed, "an extent of a shape is not a number");
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
        if (m == no_id) {
            return;
        }
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
    std::vector<std::pair<std::string, std::string>> module_sources_; // path, stack
    string_pool paths_;               // of modules, numbered as in the builder
    id parent_ = no_id;               // of the last module read
    std::vector<std::int64_t> shape_; // last one read
    part part_ = part::none;          // being read
    std::vector<alias_record> aliases_;
    std::string file_;      // being read
    bool has_root_ = false; // its modules begin with one
    bool repeats_ = false;  // its modules are those of a previous file
    std::size_t count_ = 0; // its modules
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CAPTURE_DETAIL_CAPTURE_READER_HPP
