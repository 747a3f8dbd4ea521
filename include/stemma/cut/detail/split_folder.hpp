// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CUT_DETAIL_SPLIT_FOLDER_HPP
#define STEMMA_CUT_DETAIL_SPLIT_FOLDER_HPP

#include <stemma/config.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/cut/split_manifest.hpp>
#include <stemma/error.hpp>
#include <stemma/io/detail/xxh64.hpp>
#include <stemma/io/mapped_file.hpp>
#include <stemma/onnx/external_data.hpp>
#include <stemma/onnx/tensor_header.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The name of the manifest in the folder of a split model.
inline constexpr std::string_view split_manifest_name = "split.json";

/// The opened files of a split model. Not movable, as members refer to each other.
class split_folder {
public:
    /// A model file of the folder.
    struct model_file {
        std::unique_ptr<mapped_file> file; ///< mapped
        std::unique_ptr<wire_model> model; ///< over its bytes
        bool edited = false;               ///< its bytes differ from the written ones
        std::unordered_map<std::string_view, id>
            tensors; ///< initializers of the main graph, by name
    };

    /// Throws: `error` of `cannot_read`, or `malformed` for an inconsistent manifest, or files
    /// outside the folder.
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
            check_inside(manifest_.weights.file);
            weights_ = std::make_unique<mapped_file>(path_of(manifest_.weights.file));
            weights_edited_ = to_hex(xxh64(weights_->bytes())) != manifest_.weights.hash;
        }
        find_others();
        find_homes();
    }

    split_folder(const split_folder&) = delete;
    split_folder& operator=(const split_folder&) = delete;

    /// The path.
    [[nodiscard]] const std::string& path() const noexcept { return folder_; }

    /// The manifest in the folder.
    [[nodiscard]] const split_manifest& manifest() const noexcept { return manifest_; }

    /// The skeleton.
    [[nodiscard]] const model_file& skeleton() const noexcept { return skeleton_; }

    /// The parts, in manifest order.
    [[nodiscard]] const std::vector<model_file>& parts() const noexcept { return parts_; }

    /// Returns: the file of shared weights, or null.
    [[nodiscard]] const mapped_file* weights() const noexcept { return weights_.get(); }

    /// Returns: the number of another file in the folder with data of an edited part; `no_id` if
    /// there is none. Complexity: O(log files).
    [[nodiscard]] id find_other(std::string_view location) const {
        const auto entry = other_of_.find(location);
        return entry == other_of_.end() ? no_id : entry->second;
    }

    /// Returns: that file.
    [[nodiscard]] const mapped_file& other(id number) const { return *others_[number]; }

    /// Whether the file of shared weights was edited.
    [[nodiscard]] bool weights_edited() const noexcept { return weights_edited_; }

    /// Whether any other file was edited.
    [[nodiscard]] bool is_edited() const {
        return skeleton_.edited ||
               detail::range::any_of(parts_, [](const auto& part) { return part.edited; });
    }

    /// Returns: the number of nodes of the source.
    [[nodiscard]] id node_count() const noexcept { return static_cast<id>(home_.size()); }
    /// Returns: the part of a node of the source.
    [[nodiscard]] id home(id node) const noexcept { return home_[node]; }
    /// Returns: the position of a node of the source in its part. Requires: the part is not edited.
    [[nodiscard]] message_ref message(id node) const {
        const auto& model = *parts_[home_[node]].model;
        return model.message(top_level_[home_[node]][slot_[node]]);
    }

    /// Throws: always, `error` of `malformed` that names the manifest.
    [[noreturn]] void fail(std::string_view place, std::string_view reason) const {
        STEMMA_THROW(error(error_code::malformed, path_of(split_manifest_name), place, reason));
    }

    /// Reports that an edited part does not fit the others.
    /// Throws: always, `error` of `refused` that names the file of the part.
    [[noreturn]] void refuse(id part, std::string_view reason) const {
        STEMMA_THROW(error(error_code::refused, parts_[part].file->path(), "", reason));
    }

    /// Returns: the nodes of the main graph of a part, in order.
    [[nodiscard]] const std::vector<id>& nodes_of(id part) const { return top_level_[part]; }

private:
    [[nodiscard]] std::string path_of(std::string_view name) const {
        return (std::filesystem::path(folder_) / name).string();
    }

    void check_inside(const std::string& file) const {
        if (!is_inside_folder(file)) {
            fail("files", "'" + file + "' is not in the folder");
        }
    }

    [[nodiscard]] model_file open(const split_manifest::file_entry& entry) const {
        check_inside(entry.file);
        model_file opened;
        opened.file = std::make_unique<mapped_file>(path_of(entry.file));
        opened.model = std::make_unique<wire_model>(opened.file->bytes(), opened.file->path());
        opened.edited = to_hex(xxh64(opened.file->bytes())) != entry.hash;
        opened.file->release_descriptor();
        const auto tensors = opened.model->tensors();
        for (id i = 0; i < tensors.size(); ++i) {
            if (tensors[i].graph == 0 && !tensors[i].sparse) {
                opened.tensors.emplace(opened.model->text(tensors[i].name), i);
            }
        }
        return opened;
    }

    void find_others() {
        for (const auto& part : parts_) {
            for (const auto& [name, number] : part.tensors) {
                const auto header = read_tensor_header(*part.model, part.model->tensors()[number]);
                std::error_code unknown;
                if (part.edited && header.external && header.location != manifest_.weights.file &&
                    is_inside_folder(header.location) &&
                    std::filesystem::is_regular_file(path_of(header.location), unknown) &&
                    other_of_.emplace(header.location, static_cast<id>(others_.size())).second) {
                    others_.push_back(std::make_unique<mapped_file>(path_of(header.location)));
                    others_.back()->release_descriptor();
                }
            }
        }
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
            fail("parts", "'" + part.at.file + "' has a different number of nodes");
        }
        for (id i = 0; i < order.size(); ++i) {
            if (order[i] >= home_.size()) {
                fail("parts", "no node " + std::to_string(order[i]));
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
    std::vector<std::unique_ptr<mapped_file>> others_;
    std::map<std::string, id, std::less<>> other_of_; // by location
    std::vector<id> home_;                            // by node of the source: its part
    std::vector<id> slot_;                            // and its position there
    std::vector<std::vector<id>> top_level_;          // by part: nodes of the main graph
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CUT_DETAIL_SPLIT_FOLDER_HPP
