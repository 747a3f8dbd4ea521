// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_OPEN_ORIGINAL_MODEL_HPP
#define STEMMA_OPEN_ORIGINAL_MODEL_HPP

#include <stemma/align/align_graphs.hpp>
#include <stemma/align/detail/graph_overlap.hpp>
#include <stemma/align/graph_alignment.hpp>
#include <stemma/capture/capture_source.hpp>
#include <stemma/capture/captures.hpp>
#include <stemma/checkpoint/read_checkpoint.hpp>
#include <stemma/config.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/text_list.hpp>
#include <stemma/error.hpp>
#include <stemma/evidence/detail/path_mapping.hpp>
#include <stemma/evidence/given_claims.hpp>
#include <stemma/io/mapped_file.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/detail/stated_module.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/node_origins.hpp>
#include <stemma/model/source_lines.hpp>
#include <stemma/onnx/detail/comparable_model.hpp>
#include <stemma/onnx/onnx_operators.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma/open/attribution_options.hpp>
#include <stemma/record/detail/recorded_sources.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

namespace detail {

/// Whether a file holds a model rather than a checkpoint or text; text begins with no control
/// characters except white space.
[[nodiscard]] inline bool holds_model(const std::string& path) {
    std::error_code failed; // a pipe can be read only once
    if (!std::filesystem::is_regular_file(path, failed)) {
        return false;
    }
    const mapped_file file(path);
    const auto bytes = file.bytes();
    return !bytes.empty() && static_cast<unsigned char>(bytes.front()) < 0x20 &&
           std::string_view("\t\n\r").find(bytes.front()) == std::string_view::npos &&
           !is_checkpoint(bytes, path);
}

/// What an attributed model knows about another one that was made from it.
class original_capture final : public opened_capture {
public:
    explicit original_capture(std::shared_ptr<const attributed_model> original)
        : original_(std::move(original)) {}

    [[nodiscard]] module_tree modules() override { return original_->modules(); }

    [[nodiscard]] std::optional<std::string> is_foreign(const onnx_operators<wire_model>& ops,
                                                        const module_tree&) override {
        const auto [before, after] = comparable_models(original_->model(), ops.model());
        alignment_ = align_graphs(before, after);
        return alignment_.size() == 0 || find_overlap(before, after, alignment_).is_related()
                   ? std::nullopt
                   : std::optional(std::string("is not the original of this model: they share "
                                               "hardly any weights, names or structure"));
    }

    [[nodiscard]] bool has_operations() const override { return true; }

    [[nodiscard]] captured_evidence
    find_claims(const wire_model& model, const onnx_operators<wire_model>&, const module_tree&,
                const path_mapping&, const std::function<bool(provenance)>& uses,
                const std::function<std::vector<stated_module>()>&) override {
        captured_evidence result;
        result.decides = true;
        if (!uses(provenance::recorded)) {
            return result;
        }
        result.claims.push_back(
            {provenance::recorded, std::vector<claim>(std::size_t{model.node_count()})});
        std::vector<id> makers(alignment_.size(), no_id);
        for (id node = 0; node < alignment_.size(); ++node) {
            settle(node, result);
            makers[node] = maker_of(model, node);
        }
        alignment_ = {};
        result.sources = [original = original_, makers = std::move(makers)] {
            return sources_of(*original, makers);
        };
        return result;
    }

private:
    /// Returns: of a node's origins the one with its name, else the last one of its type, else the
    /// last one, which produces its result; `no_id` for none.
    [[nodiscard]] id maker_of(const wire_model& model, id node) const {
        const auto& before = original_->model();
        id result = no_id;
        std::uint32_t best = 0;
        for (const auto op : alignment_.of(node).kind == origin_kind::unknown
                                 ? std::span<const id>()
                                 : alignment_.origins(node)) {
            const bool same_name = !model.name(node).empty() && before.name(op) == model.name(node);
            const std::uint32_t rank = same_name                                   ? 3
                                       : before.op_type(op) == model.op_type(node) ? 2
                                                                                   : 1;
            if (rank > best || (rank == best && op > result)) {
                best = rank;
                result = op;
            }
        }
        return result;
    }

    /// Returns: source lines of nodes by their origins in an original, or by its modules.
    [[nodiscard]] static source_lines sources_of(const attributed_model& original,
                                                 const std::vector<id>& makers) {
        const auto& before = original.lines();
        const any_policy<frames_category> as_before;
        source_lines lines;
        chain_copier copy(before, lines, as_before);
        for (id node = 0; node < makers.size(); ++node) {
            const auto chain = makers[node] == no_id ? no_id : before.chain_of(makers[node]);
            lines.set(node, chain == no_id ? no_id : copy.chain(chain));
        }
        for (id module = 0; module < original.modules().size(); ++module) {
            if (const auto at = before.frame_of_module(module); at != no_id) {
                lines.set_module(module, copy.frame(at));
            }
        }
        return lines;
    }

    void settle(id node, captured_evidence& result) {
        const auto origins = alignment_.origins(node);
        const auto& entry = alignment_.of(node);
        members_.clear();
        modules_.clear();
        if (entry.kind != origin_kind::unknown) {
            const auto& tags = original_->tags();
            auto& slot = result.claims.front().of[node];
            const bool some_compute = std::any_of(origins.begin(), origins.end(),
                                                  [&](id op) { return !was_inserted(op); });
            for (const auto op : origins) {
                if (some_compute && was_inserted(op)) {
                    continue; // its own origins are those of its neighbours
                }
                const auto& before = tags.attributions[op];
                const bool first = slot.module == no_id;
                slot.call = first                                                      ? before.call
                            : slot.module == before.module && slot.call == before.call ? slot.call
                                                                                       : no_id;
                slot.module = first ? before.module
                                    : original_->modules().index().lca(slot.module, before.module);
                slot.confidence = first ? std::min(entry.confidence, before.confidence)
                                        : std::min(slot.confidence, before.confidence);
                tags.pool.for_each(tags.tag_sets[op], [&](id m) { modules_.push_back(m); });
                note(op, result.carried.origins);
            }
            slot.source = provenance::recorded;
        }
        members_ = detail::range::each_once(std::move(members_));
        result.carried.origins.add(
            members_.empty() ? origin_kind::unknown : composed(entry.kind, origins), members_);
        modules_ = detail::range::each_once(std::move(modules_));
        if (modules_.size() > 1 ||
            (modules_.size() == 1 &&
             modules_.front() !=
                 original_->tags().tags.selected(result.claims.front().of[node].module))) {
            result.carried.several.emplace_back(node, modules_);
        }
    }

    /// Whether an operator of the original was itself inserted after an earlier original.
    [[nodiscard]] bool was_inserted(id op) const {
        const auto kind = original_->tags().origins.kind(op);
        return kind == origin_kind::inserted || kind == origin_kind::served;
    }

    /// Returns: the relation of an operator to the origins of its origins.
    [[nodiscard]] origin_kind composed(origin_kind kind, std::span<const id> origins) const {
        if (kind == origin_kind::inserted || kind == origin_kind::served) {
            return kind;
        }
        const auto& earlier = original_->tags().origins;
        if (std::all_of(origins.begin(), origins.end(), [&](id op) { return was_inserted(op); })) {
            return earlier.kind(origins.front());
        }
        const bool replaced = std::any_of(origins.begin(), origins.end(), [&](id op) {
            return earlier.kind(op) == origin_kind::replaced;
        });
        return replaced ? origin_kind::replaced : kind;
    }

    /// Records an operator of the original, or that operator's own origins.
    void note(id op, node_origins& to) {
        if (number_.empty()) {
            number_.resize(original_->model().node_count(), no_id);
        }
        const auto& model = original_->model();
        const auto& earlier = original_->tags().origins;
        if (const auto existing = earlier.of(op); !existing.empty()) {
            for (const auto number : existing) {
                if (earlier_.size() <= number) {
                    earlier_.resize(std::size_t{number} + 1, no_id);
                }
                auto& own = earlier_[number];
                own = own == no_id ? to.add_origin(earlier[number]) : own;
                members_.push_back(own);
            }
            return;
        }
        auto& own = number_[op];
        if (own == no_id) {
            own = to.add_origin({model.graph_path(model.graph_of(op)), model.position(op),
                                 model.name(op), original_->tags().attributions[op].module});
        }
        members_.push_back(own);
    }

    std::shared_ptr<const attributed_model> original_;
    graph_alignment alignment_;
    std::vector<id> members_;
    std::vector<id> modules_;
    std::vector<id> number_;  // of origins, by node of the original
    std::vector<id> earlier_; // by number of an origin of the original itself
};

} // namespace detail

/// Returns: what `original` knows about models made from it, for `attribution_options`: its tree,
/// and for each node the modules of its origins; see `align_graphs`. Its evidence may have been
/// freed.
[[nodiscard]] inline capture_source carried_from(std::shared_ptr<const attributed_model> original) {
    auto name = original->model().file();
    return capture_source(
        [original = std::move(original)]() -> std::unique_ptr<detail::opened_capture> {
            return std::make_unique<detail::original_capture>(original);
        },
        std::move(name));
}

/// The same for a file, opened with `options` when the model with this source is opened.
/// Throws: then, as `attributed_model`.
[[nodiscard]] inline capture_source carried_from(std::string path,
                                                 attribution_options options = {}) {
    auto name = path;
    return capture_source(
        [path = std::move(path),
         options = std::move(options)]() -> std::unique_ptr<detail::opened_capture> {
            auto original = std::make_shared<attributed_model>(path, options);
            original->forget_evidence();
            return std::make_unique<detail::original_capture>(std::move(original));
        },
        std::move(name));
}

/// Returns: what files say about a model: `captures` of it or, if one of them is an ONNX file, of
/// its original, which the captures then belong to. See `carried_from`.
/// Throws: when a model is opened with it, as `captures` and `attributed_model`, and `error` of
/// `error_code::refused` if there are several ONNX files.
[[nodiscard]] inline capture_source captures_or_original(std::vector<std::string> paths) {
    if (paths.empty()) {
        return {};
    }
    auto name = detail::join_list(paths);
    return capture_source(
        [paths = std::move(paths)]() -> std::unique_ptr<detail::opened_capture> {
            auto others = paths;
            const auto model =
                std::stable_partition(others.begin(), others.end(), [](const std::string& path) {
                    return !detail::holds_model(path);
                });
            if (others.end() - model > 1) {
                STEMMA_THROW(error(error_code::refused, *(model + 1), "",
                                   "is a second original besides " + *model));
            }
            if (model == others.end()) {
                return captures(paths).open();
            }
            const auto original = *model;
            others.erase(model, others.end());
            attribution_options options;
            options.captures = captures(std::move(others));
            return carried_from(original, std::move(options)).open();
        },
        std::move(name));
}

namespace detail {

/// Throws: `error` of `error_code::not_found` if a model opened with `carried_from` shares nothing
/// with its original, the file `original`.
inline void refuse_stranger(const attributed_model& opened, const std::string& original) {
    if (opened.tags().origins.empty()) {
        const auto notes = opened.capture_notes();
        STEMMA_THROW(error(error_code::not_found, original, "",
                           notes.empty() ? "has no node in common with " + opened.model().file()
                                         : notes.front()));
    }
}

} // namespace detail

/// Returns: a model that some tool made from `original`, with what is known about
/// `original`: every node has the modules of its origins, which it names (`tagging::origins`).
/// Nodes without origins get theirs as `options` say, but without its captures, which belong to
/// `original`; `write_tagged` and `write_sidecar` write all of it. For handles, open the file with
/// `carried_from`. Throws: `error` if a file cannot be read or is damaged, and of
/// `error_code::not_found` if the original is of another model.
/// Complexity: that of opening both, and of `align_graphs`.
[[nodiscard]] inline std::unique_ptr<attributed_model>
carry_tags(std::shared_ptr<const attributed_model> original, const std::string& changed,
           attribution_options options = {}) {
    const auto name = original->file().path();
    options.captures = carried_from(std::move(original));
    options.recompute = true;
    auto opened = std::make_unique<attributed_model>(changed, std::move(options));
    detail::refuse_stranger(*opened, name);
    return opened;
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_OPEN_ORIGINAL_MODEL_HPP
