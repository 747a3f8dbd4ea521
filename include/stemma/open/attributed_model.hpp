// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_OPEN_ATTRIBUTED_MODEL_HPP
#define STEMMA_OPEN_ATTRIBUTED_MODEL_HPP

#include <stemma/capture/capture_source.hpp>
#include <stemma/config.hpp>
#include <stemma/core/detail/guarded.hpp>
#include <stemma/core/detail/made_once.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/parallel.hpp>
#include <stemma/core/policies.hpp>
#include <stemma/core/sweep_order.hpp>
#include <stemma/error.hpp>
#include <stemma/evidence/detail/context_facts.hpp>
#include <stemma/evidence/dialect.hpp>
#include <stemma/evidence/evidence_context.hpp>
#include <stemma/evidence/function_calls.hpp>
#include <stemma/evidence/named_modules.hpp>
#include <stemma/evidence/rebuild_tree.hpp>
#include <stemma/io/mapped_file.hpp>
#include <stemma/model/detail/stated_module.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/operator_graph.hpp>
#include <stemma/model/source_lines.hpp>
#include <stemma/model/sweeps.hpp>
#include <stemma/onnx/detail/flat_graph.hpp>
#include <stemma/onnx/detail/structure_digest.hpp>
#include <stemma/onnx/model_file.hpp>
#include <stemma/onnx/onnx_nodes.hpp>
#include <stemma/onnx/onnx_operators.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/open/attribution_options.hpp>
#include <stemma/record/detail/find_recorded.hpp>
#include <stemma/record/detail/find_sources.hpp>
#include <stemma/record/detail/model_record.hpp>
#include <stemma/record/detail/read_tags.hpp>
#include <stemma/record/detail/recorded_claims.hpp>
#include <stemma/record/detail/tag_model.hpp>
#include <stemma/tagging/tag_operators.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// An opened ONNX file, with everything known about the origin of its nodes.
///
/// Tags in the file are used if they still fit it and neither captures nor options say otherwise.
/// If the graph has changed since, their tree is still used, and remaining tags on nodes are
/// evidence. Immovable, as its parts refer to each other. Const members are thread-safe.
class attributed_model {
public:
    /// Throws: `error` if the file cannot be read or is damaged, and of `error_code::refused` for a
    /// policy with invalid answers.
    attributed_model(const std::string& path, attribution_options options)
        : attributed_model(std::make_unique<model_file>(path), std::move(options)) {}

    /// As above, for a mapped file or bytes in memory: `mapped_file::holding`.
    attributed_model(mapped_file file, attribution_options options)
        : attributed_model(std::make_unique<model_file>(std::move(file)), std::move(options)) {}

    /// As above, for an opened model.
    attributed_model(std::unique_ptr<const model_file> file, attribution_options options)
        : file_(std::move(file)), options_(std::move(options)) {
        resolve();
    }

    attributed_model(const attributed_model&) = delete;
    attributed_model& operator=(const attributed_model&) = delete;

    /// The bytes of the file, mapped.
    [[nodiscard]] const mapped_file& file() const noexcept { return file_->file(); }
    /// Valid as long as this, like everything below.
    [[nodiscard]] const wire_model& model() const noexcept { return file_->model(); }
    /// The nodes as a view for evidence.
    [[nodiscard]] const onnx_operators<wire_model>& operators() const noexcept {
        STEMMA_ASSERT(ops_.has_value(), "evidence has not been freed");
        return *ops_;
    }

    /// From a capture, the record in the file, or derived from the model: `tree_from_model`.
    [[nodiscard]] const module_tree& modules() const noexcept { return modules_; }
    /// The computed tags, or those in the file.
    [[nodiscard]] const tagging& tags() const noexcept { return tags_; }
    /// The source lines of nodes: from exporters, a capture, an original or the file's record.
    /// Thread-safe. Complexity: that of `find_sources`, the first time.
    [[nodiscard]] const source_lines& lines() const {
        return lines_.get([&] {
            const auto& before = record_ && !uses_record_ ? record_->modules : modules_;
            return detail::find_sources({model(), modules_, before, given_sources_,
                                         record_ && !options_.recompute, fresh_, options_.frames});
        });
    }

    /// As passed in; if the file's record was used, with the choices in it.
    [[nodiscard]] const attribution_options& options() const noexcept { return options_; }
    /// Whether the tree was derived from the model rather than from a capture.
    [[nodiscard]] bool tree_from_model() const noexcept { return tree_from_model_; }
    /// Whether the file was tagged.
    [[nodiscard]] bool was_tagged() const noexcept { return record_.has_value(); }
    /// Whether those tags still fit the model: the same nodes and names, with their metadata.
    [[nodiscard]] bool is_fresh() const noexcept { return fresh_; }
    /// Whether the file's record was used.
    [[nodiscard]] bool uses_record() const noexcept { return uses_record_; }
    /// Returns: the number of modules whose class only the file knew. Complexity: O(modules).
    [[nodiscard]] std::size_t lost_classes() const {
        return record_ && !uses_record_ ? detail::count_lost_classes(record_->modules, modules_)
                                        : 0;
    }

    /// Returns: messages about parts of the file's record that could not be used.
    [[nodiscard]] std::span<const std::string> record_notes() const noexcept { return problems_; }
    /// Frees the operators and evidence, a fifth of all memory. What needs them, such as queries,
    /// may not be used afterwards; model, tags, tree and record stay. Not thread-safe.
    void forget_evidence() noexcept {
        prepared_.reset();
        context_.reset();
        ops_.reset();
    }

    /// How paths in the model map to the tree.
    [[nodiscard]] const detail::path_mapping& mapping() const { return owners().mapping; }
    /// Returns: the scopes in the names of the nodes, and their modules.
    [[nodiscard]] const detail::scope_table& scopes() const {
        return context_.ask([](auto& context) -> const auto& { return context.scopes(); });
    }
    /// Returns: the modules that the scopes stand for.
    [[nodiscard]] const detail::scope_modules& modules_of_scopes() const {
        return context_.ask(
            [](auto& context) -> const auto& { return context.modules_of_scopes(); });
    }

    /// Returns: the dialect of every node. Complexity: as `detect_dialects`.
    [[nodiscard]] dialect_report dialects() const {
        return context_.ask([](auto& context) { return detail::detect_dialects(context); });
    }
    /// Returns: the hierarchies in the metadata of the nodes.
    [[nodiscard]] const detail::hierarchy_table& hierarchies() const {
        return context_.ask([](auto& context) -> const auto& { return context.hierarchies(); });
    }

    /// Returns: the modules that own the parameters.
    [[nodiscard]] const detail::parameter_owners& owners() const {
        return context_.ask([](auto& context) -> const auto& { return context.owners(); });
    }
    /// Returns: the claims of the parts of a capture other than its modules, by source.
    [[nodiscard]] const std::vector<claim_table>& captured() const noexcept { return claims_; }
    /// Returns: messages about how well those fit the model.
    [[nodiscard]] std::span<const std::string> capture_notes() const noexcept { return notes_; }
    /// Returns: all claims about a node. Complexity: O(claims), once the sources are prepared.
    [[nodiscard]] std::vector<claim> claims_about(id node) const {
        return context_.ask([&](auto& context) {
            if (!prepared_) {
                prepared_.emplace(sources().prepare(context));
            }
            std::vector<claim> claims;
            prepared_->for_each_claim(node, [&](const claim& one) { claims.push_back(one); });
            return claims;
        });
    }

    /// Returns: the claims from local functions, separately for each call.
    /// Complexity: that of `function_calls::prepare`.
    [[nodiscard]] function_calls::claims<onnx_operators<wire_model>> calls() const {
        return context_.ask([](auto& context) { return function_calls{}.prepare(context); });
    }

    /// Calls `f(node, claims)` for all nodes that a source makes claims about, whether or not the
    /// options enable it; a capture's claims are included only if they do.
    /// Complexity: O(nodes), after the facts of the source.
    template <class Function>
    void for_each_claimed(provenance source, Function f) const {
        const auto asked =
            detail::sources_for([&](provenance p) { return p == source; }, claims_, options_);
        const auto prepared = context_.ask([&](auto& context) { return asked.prepare(context); });
        std::vector<claim> claims;
        for (id node = 0; node < model().node_count(); ++node) {
            claims.clear();
            prepared.for_each_claim(node, [&](const claim& candidate) {
                candidate.source == source ? claims.push_back(candidate) : void();
            });
            claims.empty() ? void() : f(node, std::span<const claim>(claims));
        }
    }

    /// Returns: the record that `tag` writes, without `modules`.
    /// Complexity: O(claims), and that of `find_digests` unless the options requested it.
    [[nodiscard]] detail::model_record record(const carrier_set& carriers) const {
        detail::model_record record;
        record.carriers = carriers;
        record.describe(model().node_count(), digests_ ? *digests_ : detail::find_digests(model()));
        record.from_model = tree_from_model_;
        record.carried = decides_ || !tags_.origins.empty();
        std::transform(claims_.begin(), claims_.end(), std::back_inserter(record.claims),
                       detail::to_runs);
        record.options = detail::recorded_options(options_);
        return record;
    }

private:
    using context_type = evidence_context<onnx_operators<wire_model>, module_tree>;
    using prepared_sources =
        decltype(std::declval<detail::onnx_sources>().prepare(std::declval<context_type&>()));

    /// From the model to its tags, step by step: operators, tree, claims, attribution.
    void resolve() {
        record_ = detail::find_readable_record(model(), detail::model_key, &problems_);
        auto names = make_operators();
        fresh_ = record_ && digests_ && record_->fits(model().node_count(), *digests_) &&
                 !detail::has_lost_metadata(model(), record_->carriers);
        std::vector<bool> independent;
        task_beside rest(model().node_count(), [&] {
            independent = data_independent(*ops_, sweep_order(ops_->graph()));
        });
        auto facts = make_tree(std::move(names));
        rest.wait();
        facts.independent = std::move(independent);
        context_.emplace(*ops_, modules_, std::move(facts));
        const bool takes_tags = uses_record_ && fresh_ && !options_.retag;
        std::optional<detail::edited_tags> edited;
        if (takes_tags && detail::decide_otherwise(options_, *record_)) {
            // Edits show only by comparison with what the record's own options give.
            auto asked = std::exchange(options_, detail::without_choices(options_));
            static_cast<void>(tag());
            edited = detail::find_edited_tags(model(), modules_, tags_);
            options_ = std::move(asked);
        }
        const auto unknown = tag();
        problems_.insert(problems_.end(), unknown.begin(), unknown.end());
        detail::take_carried(uses_record_ && fresh_ && record_->carried
                                 ? detail::read_carried(model(), modules_, tags_)
                                 : std::move(carried_),
                             tags_);
        if (takes_tags) {
            detail::take_over_tags(edited ? *edited
                                          : detail::find_edited_tags(model(), modules_, tags_),
                                   tags_, problems_);
        }
    }

    /// Creates operators, and a digest if needed. Returns: facts from names, if a tree needs them.
    [[nodiscard]] std::optional<named_modules> make_operators() {
        onnx_nodes<wire_model> nodes(model());
        operator_graph graph;
        task_beside rest(model().node_count(), [&] {
            graph = detail::flat_graph(model());
            if (options_.digest || (record_ && record_->nodes == model().node_count())) {
                digests_ = detail::find_digests(model());
            }
        });
        std::optional<named_modules> names;
        if (options_.captures.empty() && !(record_ && !options_.recompute) && !is_folded()) {
            names = detail::collect_named_modules(nodes, "");
        }
        rest.wait();
        ops_.emplace(std::move(nodes), std::move(graph));
        return names;
    }

    [[nodiscard]] bool is_folded() const {
        return detail::find_model_metadata(model(), detail::fold_modules_key).has_value();
    }

    /// Determines the tree. Returns: facts learnt on the way.
    [[nodiscard]] detail::evidence_facts make_tree(std::optional<named_modules> names) {
        if (use_capture()) {
            return {};
        }
        // Even if the captures are of another model.
        uses_record_ = record_ && !options_.recompute && (fresh_ || !is_folded());
        if (uses_record_ && !(fresh_ && record_->from_model)) {
            modules_ = std::move(record_->modules);
            return {};
        }
        if (auto kept =
                detail::find_readable_record(model(), detail::fold_modules_key, &problems_)) {
            modules_ = std::move(kept->modules);
            return {};
        }
        // The exporter's name of the graph is not that of a module; a record keeps its own.
        const auto root_name =
            uses_record_ && !options_.retag ? record_->modules.name(0) : std::string_view();
        auto rebuilt =
            names ? rebuild_tree(*ops_, std::move(*names)) : rebuild_tree(*ops_, root_name);
        tree_from_model_ = !uses_record_ || detail::can_replace(rebuilt.modules, *record_);
        modules_ = std::move(tree_from_model_ ? rebuilt.modules : record_->modules);
        return tree_from_model_ ? std::move(rebuilt.facts) : detail::evidence_facts();
    }

    /// Takes the tree of the capture, if it is of this model.
    [[nodiscard]] bool use_capture() {
        if (options_.captures.empty()) {
            return false;
        }
        capture_ = options_.captures.open();
        modules_ = capture_->modules();
        if (auto note = capture_->is_foreign(*ops_, modules_)) {
            capture_.reset();
            notes_.push_back(*std::move(note));
            return false;
        }
        if (auto whole = capture_->complete(modules_)) {
            modules_ = *std::move(whole);
        }
        return true;
    }

    [[nodiscard]] bool uses(provenance p) const { return detail::uses(options_, p); }

    /// Queries the parts of the capture, or takes over what was known when the file was tagged.
    void find_claims() {
        if (uses_record_ && fresh_) {
            for (const auto& recorded : record_->claims) {
                uses(recorded.source) ? claims_.push_back(detail::to_table(recorded)) : void();
            }
            decides_ = record_->carried && uses(provenance::recorded) && !claims_.empty();
            return;
        }
        const bool has_operations = capture_ && capture_->has_operations();
        if (uses_record_ || (record_ && capture_ && !has_operations && !options_.recompute)) {
            find_recorded_claims(uses_record_ ? modules_ : record_->modules);
        }
        if (!has_operations) {
            given_sources_ = capture_ ? capture_->module_lines(model(), *ops_, modules_,
                                                               context_->owners().mapping)
                                      : nullptr;
            return;
        }
        auto evidence = capture_->find_claims(
            model(), *ops_, modules_, context_->owners().mapping,
            [&](provenance p) { return uses(p); },
            [&] { return detail::stated_by(sources().prepare(*context_), model().node_count()); });
        claims_ = std::move(evidence.claims);
        notes_ = std::move(evidence.notes);
        decides_ = evidence.decides && !claims_.empty();
        given_sources_ = std::move(evidence.sources);
        carried_ = std::move(evidence.carried);
        capture_.reset();
    }

    void find_recorded_claims(const module_tree& tree) {
        if (!uses(provenance::recorded)) {
            return;
        }
        auto evidence =
            fresh_ ? detail::kept_evidence(*record_)
                   : detail::find_recorded(model(), tree,
                                           name_modules(tree, options_.selection, options_.naming));
        if (&tree != &modules_) {
            detail::move_claims(tree, modules_, evidence);
        }
        if (!evidence.by_module_alone.empty()) {
            detail::drop_strangers(ops_->graph(), modules_.index(), sources().prepare(*context_),
                                   evidence);
        }
        std::move(evidence.problems.begin(), evidence.problems.end(),
                  std::back_inserter(problems_));
        claims_ = std::move(evidence.claims);
    }

    [[nodiscard]] detail::onnx_sources sources() const {
        return detail::sources_for([&](provenance p) { return uses(p); }, claims_, options_);
    }

    /// From claims to tags, by the options and what they leave to the record. Returns: messages
    /// about unknown names in the record.
    [[nodiscard]] std::vector<std::string> tag() {
        auto unknown = uses_record_ && !options_.retag ? detail::adopt_options(options_, *record_)
                                                       : std::vector<std::string>();
        options_.resolution.set_min_confidence(detail::min_confidence(options_));
        claims_.clear();
        find_claims();
        tags_ = tag_operators(
            *context_,
            policies{detail::decided_sources{sources(), decides_ ? &claims_.front() : nullptr,
                                             detail::min_confidence(options_)},
                     options_.resolution, options_.selection, options_.naming,
                     options_.propagation});
        return unknown;
    }

    std::unique_ptr<const model_file> file_;
    std::optional<onnx_operators<wire_model>> ops_;
    attribution_options options_;
    std::optional<detail::recorded_model> record_;
    std::optional<detail::model_digests> digests_;
    bool fresh_ = false;
    bool uses_record_ = false;
    bool tree_from_model_ = false;
    module_tree modules_;
    detail::guarded<context_type> context_;
    mutable std::optional<prepared_sources> prepared_; // for questions about nodes; as `context_`
    std::unique_ptr<detail::opened_capture> capture_;  // until its claims have been taken
    std::vector<claim_table> claims_;
    bool decides_ = false; // for nodes in the first table of claims
    detail::carried_facts carried_;
    std::function<source_lines()> given_sources_;
    detail::made_once<source_lines> lines_;
    std::vector<std::string> notes_;
    std::vector<std::string> problems_;
    tagging tags_;
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_OPEN_ATTRIBUTED_MODEL_HPP
