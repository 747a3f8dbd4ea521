// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_RECORD_DETAIL_TAG_TEXTS_HPP
#define STEMMA_RECORD_DETAIL_TAG_TEXTS_HPP

#include <stemma/core/detail/id_set_pool.hpp>
#include <stemma/core/id.hpp>
#include <stemma/io/json_text.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/node_origins.hpp>
#include <stemma/onnx/carrier.hpp>
#include <stemma/tagging/tag_operators.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// A module's text composed from all its ancestors, like its path and its tag: those of neighbours
/// mostly share a prefix, so each is spelled from where it differs from the previous one.
class lineage_text {
public:
    /// Spells the text of `m`: `above(m)` is its predecessor, `no_id` for the first one, and
    /// `append(m, level, text)` adds its own part; the first one has level 0.
    ///
    /// Requires: predecessors have lower numbers; both functions are deterministic.
    /// Returns: the text; valid until the next call.
    /// Complexity: that of the parts not shared with the previous text.
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
    std::vector<part> spelled_; // each precedes the next one
    std::vector<id> missing_;
};

/// Spells what is written about operators. The texts are valid until the next call.
class tag_texts {
public:
    /// Requires: both outlive the texts.
    tag_texts(const module_tree& modules, const tagging& tagged)
        : modules_(&modules), tags_(&tagged) {}

    /// Complexity: O(length).
    [[nodiscard]] operator_tags of_operator(id v) {
        const auto module = tags_->attributions[v].module;
        const auto set = tags_->tag_sets[v];
        all_.clear();
        const bool recomputed = tags_->origins.kind(v) == origin_kind::unknown;
        if (tags_->pool.size_of(set) < 2 && (recomputed || set == tags_->selected(v))) {
            return {tag_of(module), path_of(module), all_, {}};
        }
        tags_->pool.for_each(set, [&](id m) { all_.emplace_back(tag_of(m)); });
        const auto json = as_json(set, tags_->pool); // also spells tags
        return {tag_of(module), path_of(module), all_, json};
    }

    /// Returns: the tags of a set as a JSON array.
    /// Requires: `pool` is that of the tagging, or extends it and is always the same one.
    /// Complexity: O(length), O(1) for the last set.
    [[nodiscard]] std::string_view as_json(id_set set, const id_set_pool& pool) {
        if (set == last_set_ && !json_.empty()) {
            return json_;
        }
        last_set_ = set;
        json_.clear();
        pool.for_each(set, [&](id m) {
            json_.append(json_.empty() ? "[" : ", ");
            append_json_string(tag_of(m), json_);
        });
        json_.append("]");
        return json_;
    }

private:
    [[nodiscard]] std::string_view tag_of(id m) {
        const auto& tags = tags_->tags;
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
                    text.append(modules_->name(inner));
                }
            });
    }

    const module_tree* modules_;
    const tagging* tags_;
    detail::lineage_text tag_;
    detail::lineage_text path_;
    std::vector<std::string> all_;
    std::string json_; // of `last_set_`, once there is one
    id_set last_set_ = no_id;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_RECORD_DETAIL_TAG_TEXTS_HPP
