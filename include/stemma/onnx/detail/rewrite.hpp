// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_REWRITE_HPP
#define STEMMA_ONNX_DETAIL_REWRITE_HPP

#include <stemma/config.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/parallel.hpp>
#include <stemma/error.hpp>
#include <stemma/io/detail/system_files.hpp>
#include <stemma/io/mapped_file.hpp>
#include <stemma/io/output_file.hpp>
#include <stemma/onnx/detail/file_parts.hpp>
#include <stemma/onnx/detail/message_edits.hpp>
#include <stemma/onnx/detail/splices.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Determines changes to the messages of a model: `edit_node(node, edits)`, `edit_tensor(tensor,
/// edits)`, `edit_value_info(info, edits)` and `edit_model(edits)` append to `edits`. Called up to
/// twice for every message, so results must be the same; an edit may be anywhere in its message.
template <class Editor>
concept model_editor = requires(Editor& editor, message_edits& edits, id node,
                                const tensor_ref& tensor, const value_info_ref& info) {
    editor.edit_node(node, edits);
    editor.edit_tensor(tensor, edits);
    editor.edit_value_info(info, edits);
    editor.edit_model(edits);
};

/// A plan to write a model's file with some messages changed: untouched bytes are copied, and only
/// the lengths of messages around a change are rewritten.
///
/// The file is divided into parts with known positions in the result, so that each can be measured
/// and written by any thread.
template <model_editor Editor>
class rewrite {
public:
    /// Computes all lengths without writing. Each additional thread has a copy of the editor; one
    /// that cannot be copied is used by this thread only.
    /// Throws: `error` of `error_code::too_large` if the result would reach 2 GiB.
    /// Complexity: O(messages), and that of the editor.
    rewrite(const wire_model& model, Editor& editor) : model_(model), editor_(editor) {
        find_owners();
        const bool copies = std::copy_constructible<Editor>;
        const auto workers = copies ? thread_limit::current().parts(model.bytes().size()) : 1;
        // More than threads, as their costs vary.
        constexpr std::size_t parts_for_each = 8;
        for (const auto& p :
             divide_file(model, owners_, workers == 1 ? 1 : workers * parts_for_each)) {
            parts_.push_back({p, 0, 0, 0});
        }
        // Copied before any thread starts, as an editor changes during use.
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
                                   " bytes; protobuf's limit is 2 GiB"));
        }
        place_parts();
    }

    rewrite(const rewrite&) = delete;
    rewrite& operator=(const rewrite&) = delete;

    /// Returns: the size of the result in bytes.
    [[nodiscard]] std::int64_t size() const noexcept { return size_; }

    /// Writes the result.
    /// Complexity: O(bytes), and that of the editor.
    template <splice_sink Sink>
    void write(Sink& sink) {
        for (const auto& p : parts_) {
            write_part(p, editor_, sink);
        }
    }

    /// Writes the result to a file, with as many threads as measured it, from the front.
    /// Requires: `from` is the model's file, and nothing was written to `to`.
    /// Complexity: O(bytes), and that of the editor.
    void write(const mapped_file& from, output_file& to) {
        to.reserve(size_);
        if (parts_.size() == 1 || !to.takes_ranges()) {
            file_splice splice(from, to);
            write(splice);
            return;
        }
        std::vector<range_splice> splices; // by worker, to reuse their buffers
        splices.reserve(copies_.size() + 1);
        while (splices.size() <= copies_.size()) {
            splices.emplace_back(from, to, 0);
        }
        for_each_file_part([&](part& p, std::size_t worker) {
            auto& splice = splices[worker];
            splice.move_to(static_cast<std::uint64_t>(p.position));
            write_part(p, editor_of(worker), splice);
            splice.finish();
            from.release(p.begin,
                         p.end - p.begin); // in parallel, rather than in one thread at the end
        });
    }

private:
    struct part : file_part {
        std::size_t kept = 0;
        std::int64_t growth = 0;   // by edits of leaf messages
        std::int64_t position = 0; // in the result
    };

    [[nodiscard]] const char* base() const noexcept { return model_.bytes().data(); }

    [[nodiscard]] bool is_last(const part& p) const noexcept { return &p == &parts_.back(); }

    /// Returns: the editor of a thread. Only the first one has the original.
    [[nodiscard]] Editor& editor_of(std::size_t worker) {
        return worker == 0 ? editor_ : copies_[worker - 1];
    }

    /// Calls `f(part, worker)` for all parts, in order, each on the next free thread.
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
        owners_ = range::each_once(std::move(owners_));
    }

    /// Returns: the length prefix of a message whose content grows; `text` may hold it.
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

    /// Returns: the growth of the enclosing message when this one's content grows by `growth`.
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

    /// Queries an editor about every leaf message of a part, in file order, and calls `f(message,
    /// edits)` with the result.
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
        STEMMA_ASSERT(position == size_, "the parts add up to the whole");
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

    // Containers are numbered from the outside in and owners from the inside out, so going
    // backwards through containers visits every message after its contents.
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

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_REWRITE_HPP
