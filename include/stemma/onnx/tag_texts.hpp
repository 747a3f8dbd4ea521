// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_TAG_TEXTS_HPP
#define STEMMA_ONNX_TAG_TEXTS_HPP

#include <stemma/core/id.hpp>
#include <stemma/core/id_set_pool.hpp>
#include <stemma/core/json_text.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/policy/carrier.hpp>
#include <stemma/tagger.hpp>

#include <string>
#include <string_view>
#include <vector>

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
        tag_.clear();
        found_->tags.append(found_->tags.writable(module), tag_);
        path_.clear();
        modules_->append_path(module, path_);
        all_.clear();
        json_.clear();
        if (found_->pool.size_of(found_->tag_sets[v]) > 1) {
            spell_set(found_->tag_sets[v]);
        }
        return {tag_, path_, all_, json_};
    }

    /// Returns: the tags of a set as a JSON array.
    [[nodiscard]] std::string_view as_json(id_set set) {
        all_.clear();
        json_.clear();
        spell_set(set);
        return json_;
    }

private:
    void spell_set(id_set set) {
        found_->pool.for_each(set, [&](id m) {
            all_.push_back(found_->tags.text(found_->tags.writable(m)));
            json_.append(json_.empty() ? "[" : ", ");
            append_json_string(all_.back(), json_);
        });
        json_.append("]");
    }

    const module_tree* modules_;
    const tagging* found_;
    std::string tag_;
    std::string path_;
    std::vector<std::string> all_;
    std::string json_;
};

} // namespace stemma

#endif // STEMMA_ONNX_TAG_TEXTS_HPP
