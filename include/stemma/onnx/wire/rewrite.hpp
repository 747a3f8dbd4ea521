// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_WIRE_REWRITE_HPP
#define STEMMA_ONNX_WIRE_REWRITE_HPP

#include <stemma/config.hpp>
#include <stemma/core/id.hpp>
#include <stemma/error.hpp>
#include <stemma/io/file.hpp>
#include <stemma/onnx/wire/message_edits.hpp>
#include <stemma/onnx/wire/wire_model.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma {

/// Says what changes in the messages of a model. Asked up to twice for every message, so the
/// answers must be the same; an edit may lie anywhere in the message it was asked for.
template <class Editor>
concept model_editor = requires(Editor& editor, message_edits& edits, id node,
                                const tensor_ref& tensor, const value_info_ref& info) {
    editor.edit_node(node, edits);
    editor.edit_tensor(tensor, edits);
    editor.edit_value_info(info, edits);
    editor.edit_model(edits);
};

/// Takes a copy of a file piece by piece, from the front to the end.
template <class Sink>
concept splice_sink = requires(Sink& sink, std::uint32_t from, std::uint32_t size,
                               std::string_view text) {
    sink.copy(from, size);
    sink.write(text);
};

/// Writes spliced bytes to an output file; long untouched ranges go from file to file.
class file_splice {
public:
    file_splice(const mapped_file& from, output_file& to) : from_(&from), to_(&to) {}

    void copy(std::uint32_t from, std::uint32_t size) { to_->copy(*from_, from, size); }
    void write(std::string_view text) { to_->write(text); }

private:
    const mapped_file* from_;
    output_file* to_;
};

/// Writes spliced bytes to a string.
class string_splice {
public:
    explicit string_splice(std::string_view from) : from_(from) {}

    void copy(std::uint32_t from, std::uint32_t size) { text.append(from_.substr(from, size)); }
    void write(std::string_view more) { text.append(more); }

    std::string text;

private:
    std::string_view from_;
};

/// A plan to write a model's file again with some messages changed: untouched bytes are copied as
/// they stand, and only the lengths of messages around a change are written anew.
template <model_editor Editor>
class rewrite {
public:
    /// Computes all lengths. Nothing is written.
    /// Throws: `error` of `error_code::too_large` when the result would reach 2 GiB.
    /// Complexity: O(messages), and that of the editor.
    rewrite(const wire_model& model, Editor& editor) : model_(model), editor_(editor) {
        measure_leaves();
        measure_containers();
        edits_.clear();
        editor_.edit_model(edits_);
        size_ += static_cast<std::int64_t>(model.bytes().size()) + edits_.growth();
        edits_.for_each([&](const edit& e) { keep(e); });
        std::stable_sort(kept_.begin(), kept_.end(),
                         [](const kept_edit& a, const kept_edit& b) { return a.at < b.at; });
        if (size_ >= std::int64_t{1} << 31) {
            STEMMA_THROW(error(error_code::too_large, model.file(), "",
                               "the result would have " + std::to_string(size_) +
                                   " bytes, and protobuf ends below 2 GiB"));
        }
    }

    /// Returns: how many bytes the result has.
    [[nodiscard]] std::int64_t size() const noexcept { return size_; }

    /// Writes the result.
    /// Complexity: O(bytes), and that of the editor.
    template <splice_sink Sink>
    void write(Sink& sink) {
        at_ = 0;
        next_kept_ = 0;
        merge_leaves([&](message_ref message) {
            if (edits_.empty()) {
                return;
            }
            const auto length_at = message.begin - length_size(message);
            apply_kept(sink, length_at);
            apply(sink, length_at, message.begin, new_length(message, edits_.growth()));
            edits_.for_each([&](const edit& e) { apply(sink, e.at, e.at + e.removed, e.text); });
        });
        const auto end = static_cast<std::uint32_t>(model_.bytes().size());
        apply_kept(sink, end + 1);
        sink.copy(at_, end - at_);
    }

private:
    struct kept_edit {
        std::uint32_t at = 0;
        std::uint32_t removed = 0;
        std::string text;
    };

    [[nodiscard]] const char* base() const noexcept { return model_.bytes().data(); }

    /// Returns: how many bytes the length in front of a message takes that holds no other one.
    [[nodiscard]] std::uint32_t length_size(message_ref message) const noexcept {
        return model_.has_padding() ? message.begin - detail::length_position(base(), message.begin)
                                    : static_cast<std::uint32_t>(detail::varint_size(message.size));
    }

    [[nodiscard]] std::string_view new_length(message_ref message, std::int64_t growth) {
        length_.clear();
        if (growth == 0) {
            const auto at = detail::length_position(base(), message.begin);
            return {base() + at, message.begin - at};
        }
        detail::append_varint(static_cast<std::uint64_t>(message.size + growth), length_);
        return length_;
    }

    /// Returns: by how much the message around grows when this one's content grows by `growth`.
    [[nodiscard]] std::int64_t outer_growth(message_ref message, std::int64_t growth) {
        const auto old_length = message.begin - detail::length_position(base(), message.begin);
        return growth + static_cast<std::int64_t>(new_length(message, growth).size()) - old_length;
    }

    void keep(const edit& e) { kept_.push_back({e.at, e.removed, std::string(e.text)}); }

    void keep_length(message_ref message, std::int64_t growth) {
        const auto at = detail::length_position(base(), message.begin);
        keep({at, message.begin - at, new_length(message, growth)});
    }

    /// Asks the editor about every message that holds no other one, in file order, and calls
    /// `f(message)` with the answer in `edits_`.
    template <class Function>
    void merge_leaves(Function f) {
        const auto tensors = model_.tensors();
        const auto infos = model_.value_infos();
        std::size_t tensor = 0;
        std::size_t info = 0;
        const auto others_before = [&](std::uint64_t begin) {
            for (;;) {
                const auto tensor_at = tensor < tensors.size() ? tensors[tensor].message.begin
                                                               : std::uint64_t{0xffff'ffffU} + 1;
                const auto info_at = info < infos.size() ? infos[info].message.begin
                                                         : std::uint64_t{0xffff'ffffU} + 1;
                if (std::min(tensor_at, info_at) >= begin) {
                    return;
                }
                edits_.clear();
                if (tensor_at < info_at) {
                    editor_.edit_tensor(tensors[tensor], edits_);
                    f(tensors[tensor++].message);
                } else {
                    editor_.edit_value_info(infos[info], edits_);
                    f(infos[info++].message);
                }
            }
        };
        auto owner = owners_.begin();
        for (id node = 0; node < model_.node_count(); ++node) {
            if (owner != owners_.end() && *owner == node) {
                ++owner;
                continue;
            }
            const auto message = model_.message(node);
            others_before(message.begin);
            edits_.clear();
            editor_.edit_node(node, edits_);
            f(message);
        }
        others_before(std::uint64_t{0xffff'ffffU} + 1);
    }

    void measure_leaves() {
        for (const auto& container : model_.containers()) {
            if (container.owner != no_id) {
                owners_.push_back(container.owner);
            }
        }
        std::sort(owners_.begin(), owners_.end());
        owners_.erase(std::unique(owners_.begin(), owners_.end()), owners_.end());
        inside_.assign(model_.containers().size(), 0);
        merge_leaves([&](message_ref message) {
            if (const auto growth = edits_.growth(); growth != 0) {
                const auto size = static_cast<std::uint64_t>(message.size + growth);
                inside_[message.container] += growth +
                                              static_cast<std::int64_t>(detail::varint_size(size)) -
                                              static_cast<std::int64_t>(length_size(message));
            }
        });
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
        edits_.clear();
        editor_.edit_node(owner, edits_);
        const auto growth = inside + edits_.growth();
        edits_.for_each([&](const edit& e) { keep(e); });
        if (growth == 0) {
            return 0;
        }
        keep_length(model_.message(owner), growth);
        return outer_growth(model_.message(owner), growth);
    }

    template <class Sink>
    void apply(Sink& sink, std::uint32_t begin, std::uint32_t end, std::string_view text) {
        sink.copy(at_, begin - at_);
        sink.write(text);
        at_ = end;
    }

    template <class Sink>
    void apply_kept(Sink& sink, std::uint32_t before) {
        for (; next_kept_ < kept_.size() && kept_[next_kept_].at < before; ++next_kept_) {
            const auto& e = kept_[next_kept_];
            apply(sink, e.at, e.at + e.removed, e.text);
        }
    }

    const wire_model& model_;
    Editor& editor_;
    message_edits edits_;
    std::string length_;
    std::vector<id> owners_;           // nodes with bodies, ascending
    std::vector<std::int64_t> inside_; // by container: growth of its content
    std::vector<kept_edit> kept_;      // edits of containers, owners and the model
    std::int64_t size_ = 0;
    std::uint32_t at_ = 0;
    std::size_t next_kept_ = 0;
};

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_REWRITE_HPP
