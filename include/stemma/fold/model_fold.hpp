// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_FOLD_MODEL_FOLD_HPP
#define STEMMA_FOLD_MODEL_FOLD_HPP

#include <stemma/config.hpp>
#include <stemma/core/id.hpp>
#include <stemma/error.hpp>
#include <stemma/fold/detail/fold_plan.hpp>
#include <stemma/fold/detail/fold_source.hpp>
#include <stemma/fold/detail/fold_writer.hpp>
#include <stemma/fold/fold.hpp>
#include <stemma/fold/node_shapes.hpp>
#include <stemma/fold/plan_fold.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/onnx/detail/message_tree.hpp>
#include <stemma/onnx/detail/training_graphs.hpp>
#include <stemma/onnx/graph_contents.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/onnx/write_rope.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma/open/detail/untagged_model.hpp>
#include <stemma/query/find_modules.hpp>
#include <stemma/record/detail/model_record.hpp>
#include <stemma/record/detail/tag_model.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// Which modules become functions, and how.
struct module_folding {
    std::string modules{}; ///< a query: these, and selected descendants; "": all selected ones
    id depth = no_id;      ///< maximum depth of modules
    std::size_t least = 2; ///< minimum number of nodes of a function
    bool lift = true;      ///< raise the IR version if it has no functions
    bool vary_constants = false; ///< whether equal bodies may differ in Constants
};

namespace detail {

/// The modules chosen by a `module_folding`. A `selection_policy`.
struct asked_modules {
    using policy_category = selection_category;

    std::vector<bool> asked;

    template <module_view Modules>
    [[nodiscard]] bool selects(const Modules&, id m) const {
        return asked[m];
    }
};

[[nodiscard]] inline asked_modules find_asked(const attributed_model& opened,
                                              const module_folding& folding,
                                              bool selects_all = false) {
    const auto& index = opened.modules().index();
    asked_modules result{std::vector<bool>(index.size(), folding.modules.empty())};
    std::vector<bool> named(index.size(), false);
    if (!folding.modules.empty()) {
        for (auto top : find_modules(opened, folding.modules)) {
            std::fill(result.asked.begin() + top, result.asked.begin() + index.end(top), true);
            named[top] = true;
        }
    }
    for (id m = 0; m < index.size(); ++m) {
        result.asked[m] = result.asked[m] && index.depth(m) <= folding.depth &&
                          (selects_all || named[m] || opened.tags().tags.is_selected(m));
    }
    return result;
}

[[nodiscard]] inline std::size_t nodes_in(const fold_plan& plan, id region) {
    const auto& items = plan.regions[region].items;
    return static_cast<std::size_t>(std::count_if(
        items.begin(), items.end(), [](const auto& item) { return !item.is_region; }));
}

[[nodiscard]] inline fold_options<> options_of(const attributed_model& opened,
                                               const module_folding& folding,
                                               bool selects_all = false) {
    return {.selection = find_asked(opened, folding, selects_all),
            .least = folding.least,
            .lift = folding.lift,
            .vary_constants = folding.vary_constants};
}

[[nodiscard]] inline const attributed_model& unfolded(const attributed_model& opened) {
    if (find_model_metadata(opened.model(), fold_key)) {
        STEMMA_THROW(error(error_code::refused, opened.model().file(), "",
                           "is already folded; unfold it first"));
    }
    return opened;
}

} // namespace detail

/// A model to fold: planned on construction, then written.
class model_fold {
public:
    /// A row of the outline of a folded model: the main graph, or a called function.
    struct outline_row {
        id function = no_id;   ///< number in the plan; `no_id` for the main graph
        std::size_t level = 0; ///< nesting depth of calls
        std::size_t count = 1; ///< calls from the caller
        std::size_t nodes = 0; ///< directly in it, other than calls
        std::size_t calls = 0; ///< in it and in bodies of its nodes
    };

    /// Nodes that folding leaves in place, although their modules should be functions.
    struct nodes_left {
        std::size_t too_few = 0; ///< their modules have too few nodes
        std::size_t between = 0; ///< too few between paths that leave the module and return
        std::size_t in_bodies =
            0; ///< in functions, or in bodies owned by operators of other modules
    };

    /// What other options would fold if the given ones fold nothing.
    struct foldable {
        std::size_t functions = 0; ///< their number
        std::size_t least = 0;     ///< minimum number of nodes of each
    };

    /// Plans with the given options. If the file is tagged, a temporary copy without tags is made
    /// beside `beside`, the future result, or in memory if that is "".
    ///
    /// Requires: the model outlives this.
    /// Throws: `error` of `error_code::refused` for a folded model, or for an IR version without
    /// functions if `lift` is false; of `not_found` if there is nothing to fold; as `plan_fold`.
    /// Complexity: that of `plan_fold`.
    model_fold(const attributed_model& opened, const fold_options<>& options,
               const std::string& beside = {})
        : opened_(detail::unfolded(opened))
        , source_(std::in_place, opened.file(), opened.model(), beside)
        , contents_(source_->model())
        , was_tagged_(source_->was_tagged()) {
        node_shapes shapes(source_->model(), contents_);
        plan_ = plan_fold(source_->model(), contents_, opened.modules(), opened.tags().attributions,
                          shapes, options, detail::values_in_training(source_->model()));
        const auto& name = opened.model().file();
        if (plan_.functions.empty()) {
            STEMMA_THROW(
                error(error_code::not_found, name, "",
                      "no module to fold: none of those selected has " +
                          (options.least < 2 ? "a node"
                                             : std::to_string(options.least) + " nodes or more")));
        }
        const auto version = opened.model().ir_version();
        lifted_ = version < detail::first_version_with_functions;
        if (lifted_ && !options.lift) {
            STEMMA_THROW(error(error_code::refused, name, "",
                               "has IR version " + std::to_string(version) +
                                   "; functions require " +
                                   std::to_string(detail::first_version_with_functions)));
        }
        const detail::fold_source_editor editor(opened.model(), contents_, plan_);
        if (editor.is_needed()) {
            source_.emplace(opened.file(), opened.model(), beside, editor);
            contents_ = graph_contents(source_->model()); // of the same nodes
        }
    }

    /// As above, with the modules chosen by `folding`; if there are none, `find_foldable` says what
    /// else would fold. Throws: as above, and as `find_modules`. Complexity: as above.
    explicit model_fold(const attributed_model& opened, const module_folding& folding = {},
                        const std::string& beside = {})
        : model_fold(opened, detail::options_of(detail::unfolded(opened), folding), beside) {}

    /// Returns: what `folding` would find with all modules selected or, failing that, with
    /// functions of one node allowed as well; nothing if even that finds none. Throws, Complexity:
    /// as construction.
    [[nodiscard]] static std::optional<foldable> find_foldable(const attributed_model& opened,
                                                               const module_folding& folding) {
        const detail::untagged_model source(opened.file(), opened.model(), {});
        const graph_contents contents(source.model());
        node_shapes shapes(source.model(), contents);
        for (const std::size_t least : {folding.least, std::size_t{1}}) {
            auto options = detail::options_of(detail::unfolded(opened), folding, true);
            options.least = least;
            const auto plan =
                plan_fold(source.model(), contents, opened.modules(), opened.tags().attributions,
                          shapes, options, detail::values_in_training(source.model()));
            if (!plan.functions.empty()) {
                return foldable{plan.functions.size(), least};
            }
        }
        return std::nullopt;
    }

    /// Returns: the plan; valid as long as this.
    [[nodiscard]] const detail::fold_plan& plan() const noexcept { return plan_; }
    /// Whether the IR version is raised to `first_version_with_functions`.
    [[nodiscard]] bool lifts() const noexcept { return lifted_; }
    /// Whether the model has tags, which the folded one keeps for unfolding only.
    [[nodiscard]] bool was_tagged() const noexcept { return was_tagged_; }

    /// Returns: the main graph, followed by the functions it calls, recursively.
    /// Complexity: O(rows + items of the functions in each).
    [[nodiscard]] std::vector<outline_row> outline() const;

    /// Returns: the number of nodes left in place, by reason. Complexity: O(places).
    [[nodiscard]] nodes_left left() const {
        nodes_left result{0, 0, plan_.in_bodies};
        for (const auto& one : plan_.left) {
            (one.runs > 1 ? result.between : result.too_few) += one.operators;
        }
        return result;
    }

    /// Returns: the bytes of the folded model. Throws: as `write_rope`. Complexity: O(bytes).
    [[nodiscard]] std::string bytes() const { return detail::rope_bytes(build(), source_->file()); }

    /// Writes the folded model. Returns: its size in bytes. Throws, Complexity: as `write_rope`.
    std::uint64_t write(const std::string& output, const write_options& options = {}) const {
        const auto rope = build();
        write_rope(rope, source_->file(), source_->model(), output, options);
        return rope.size();
    }

private:
    [[nodiscard]] detail::message_tree build() const {
        detail::model_record tree;
        tree.carriers = {.metadata = false};
        const auto& tags = opened_.tags();
        detail::fold_writer writer(source_->model(), contents_, opened_.modules(), tags.tags,
                                   tags.attributions, plan_);
        const auto record = detail::to_json(tree, opened_.modules());
        const auto source = source_->tags();
        return writer.build({record, source, was_tagged_});
    }

    const attributed_model& opened_;
    std::optional<detail::untagged_model> source_;
    graph_contents contents_;
    bool was_tagged_;
    detail::fold_plan plan_;
    bool lifted_ = false;
};

namespace detail {

/// Walks the calls of a folded model, callers first.
class fold_outliner {
public:
    fold_outliner(const fold_plan& plan, const graph_contents& contents)
        : plan_(plan), contents_(contents) {}

    [[nodiscard]] std::vector<model_fold::outline_row> outline() && {
        add({}, 0);
        return std::move(rows_);
    }

private:
    /// The calls of a graph or function, including bodies of its nodes.
    struct region_calls {
        std::size_t calls = 0;
        std::vector<std::pair<id, std::size_t>> functions; // with counts, in order of first call
        std::unordered_map<id, std::size_t> place_of;      // in `functions`
    };

    void add(model_fold::outline_row row, id region) {
        region_calls calls;
        add_calls(region, calls);
        row.nodes = nodes_in(plan_, region);
        row.calls = calls.calls;
        rows_.push_back(row);
        for (const auto& [f, count] : calls.functions) {
            add({f, row.level + 1, count}, plan_.functions[f].region);
        }
    }

    void add_calls(id region, region_calls& calls) const {
        for (const auto& item : plan_.regions[region].items) {
            if (!item.is_region) {
                add_calls_in(item.index, calls);
                continue;
            }
            calls.calls += 1;
            const auto f = plan_.function[item.index];
            const auto place = calls.place_of.try_emplace(f, calls.functions.size());
            if (place.second) {
                calls.functions.emplace_back(f, 0);
            }
            calls.functions[place.first->second].second += 1;
        }
    }

    void add_calls_in(id node, region_calls& calls) const {
        if (!plan_.changes_inside(node)) {
            return;
        }
        for (auto g : contents_.bodies_of(node)) {
            plan_.look_into(
                g, contents_, [&](id region) { add_calls(region, calls); },
                [&](id inside) { add_calls_in(inside, calls); });
        }
    }

    const fold_plan& plan_;
    const graph_contents& contents_;
    std::vector<model_fold::outline_row> rows_;
};

} // namespace detail

inline std::vector<model_fold::outline_row> model_fold::outline() const {
    return detail::fold_outliner(plan_, contents_).outline();
}

/// Writes a report of folding (`stemma.folds/1`); `bytes` is the size of the folded model.
/// Complexity: O(length).
template <text_sink Sink>
void write_json(Sink& sink, const model_fold& folded, const attributed_model& opened,
                std::uint64_t bytes) {
    const auto& plan = folded.plan();
    const auto& modules = opened.modules();
    detail::write_document(sink, "stemma.folds/1", [&](auto& json) {
        json.member("nodes", opened.model().node_count());
        json.member("bytes", opened.file().bytes().size());
        json.member("folded_bytes", bytes);
        json.objects("functions", plan.functions, [&](const auto& function) {
            json.member("domain", function.domain);
            json.member("name", function.numbered());
            json.member("calls", function.calls);
            json.member("nodes", detail::nodes_in(plan, function.region));
            json.member("inputs", plan.inputs[function.region].size());
            json.member("activations", function.activations);
            json.member("outputs", plan.outputs[function.region].size());
            json.member("attributes", function.attributes);
        });
        json.key("calls");
        json.begin_array();
        std::vector<id> number(plan.regions.size(), no_id); // index among the calls
        id next = 0;
        for (id r = 0; r < number.size(); ++r) {
            number[r] = plan.is_graph(r) ? no_id : next++;
        }
        for (id r = 0; r < plan.regions.size(); ++r) {
            if (plan.is_graph(r)) {
                continue;
            }
            const auto& region = plan.regions[r];
            const auto& function = plan.functions[plan.function[r]];
            json.begin_object(true);
            json.member("module", modules.path(region.module));
            json.member("tag", opened.tags().tags.text(region.module));
            json.member("call", region.call);
            json.member("run", region.run);
            json.member("runs", region.runs);
            json.member("function", function.domain + "::" + function.numbered());
            json.key("inside");
            auto around = region.parent;
            while (around != no_id && plan.is_graph(around)) {
                around = plan.regions[around].parent;
            }
            around == no_id ? json.null() : json.value(number[around]);
            json.member("graph", opened.model().graph_path(plan.graph[r]));
            json.member("nodes", region.operators);
            json.end_object();
        }
        json.end_array();
        json.objects("left", plan.left, [&](const auto& leftover) {
            json.member("module", modules.path(leftover.module));
            json.member("call", leftover.call);
            json.member("nodes", leftover.operators);
            json.member("reason", leftover.runs > 1 ? "non_convex" : "too_small");
        });
        json.member("in_bodies", plan.in_bodies);
    });
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_FOLD_MODEL_FOLD_HPP
