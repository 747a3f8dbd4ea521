// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_WIRE_ATTRIBUTED_MODEL_HPP
#define STEMMA_ONNX_WIRE_ATTRIBUTED_MODEL_HPP

#include <stemma/algorithm/rebuild_tree.hpp>
#include <stemma/config.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/parallel.hpp>
#include <stemma/detail/open_nodes.hpp>
#include <stemma/error.hpp>
#include <stemma/evidence/capture_match.hpp>
#include <stemma/evidence/dialect.hpp>
#include <stemma/evidence/evidence_context.hpp>
#include <stemma/evidence/function_calls.hpp>
#include <stemma/evidence/named_modules.hpp>
#include <stemma/io/capture.hpp>
#include <stemma/io/file.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/operator_graph.hpp>
#include <stemma/onnx/flat_graph.hpp>
#include <stemma/onnx/model_record.hpp>
#include <stemma/onnx/onnx_nodes.hpp>
#include <stemma/onnx/onnx_operators.hpp>
#include <stemma/onnx/recorded_claims.hpp>
#include <stemma/onnx/structure_digest.hpp>
#include <stemma/onnx/wire/attribution_options.hpp>
#include <stemma/onnx/wire/captured_claims.hpp>
#include <stemma/onnx/wire/find_recorded.hpp>
#include <stemma/onnx/wire/map_model.hpp>
#include <stemma/onnx/wire/read_tags.hpp>
#include <stemma/onnx/wire/tag_model.hpp>
#include <stemma/onnx/wire/take_over_tags.hpp>
#include <stemma/onnx/wire/wire_model.hpp>
#include <stemma/policy/named_policies.hpp>
#include <stemma/policy/policies.hpp>
#include <stemma/tagger.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma {

/// An ONNX file, opened, with everything that is known of where its nodes come from.
///
/// Tags that the file carries are used when they still fit it and neither captures nor options say
/// otherwise. Where the graph was changed since, what they say of the modules is the tree still,
/// and what is left of them on the nodes is evidence. Does not move, as its parts refer to each
/// other.
class attributed_model {
public:
    /// Throws: `error` for files that cannot be read, or that are damaged, and for options that
    /// name
    ///   no policy (`refused`).
    ///
    /// `meanwhile(model)` may do what needs no attribution: in a thread of its own where the
    /// options allow several and the model is worth them, else behind it.
    attributed_model(const std::string& path, attribution_options options,
                     const std::function<void(const wire_model&)>& meanwhile = {})
        : file_(map_model(path))
        , model_(file_.bytes(), path, options.threads)
        , options_(std::move(options)) {
        if (!meanwhile) {
            attribute(options_.threads);
            return;
        }
        run_tasks(options_.threads.parts_of_operators(model_.node_count()),
                  {[&] { attribute(options_.threads.without_one()); }, [&] { meanwhile(model_); }});
    }

    /// As above, of a file that is mapped already.
    attributed_model(mapped_file file, const std::string& path, attribution_options options)
        : file_(std::move(file))
        , model_(file_.bytes(), path, options.threads)
        , options_(std::move(options)) {
        attribute(options_.threads);
    }

    attributed_model(const attributed_model&) = delete;
    attributed_model& operator=(const attributed_model&) = delete;

    /// The bytes of the file, mapped.
    [[nodiscard]] const mapped_file& file() const noexcept { return file_; }

    /// Valid as long as this, as is all that follows.
    [[nodiscard]] const wire_model& model() const noexcept { return model_; }

    /// The nodes with what evidence is read of them.
    [[nodiscard]] const onnx_operators<wire_model>& operators() const noexcept {
        STEMMA_ASSERT(ops_.has_value(), "evidence was not forgotten");
        return *ops_;
    }

    /// Of a capture, of the record in the file, or made from the model; see `tree_from_model`.
    [[nodiscard]] const module_tree& modules() const noexcept { return modules_; }

    /// What was found, or what the file carries.
    [[nodiscard]] const tagging& tags() const noexcept { return found_; }

    /// To add sets of tags to its pool, as editors do.
    [[nodiscard]] tagging& tags() noexcept { return found_; }

    /// As given; where the record of the file was used, with the choices that it names.
    [[nodiscard]] const attribution_options& options() const noexcept { return options_; }

    /// Whether the tree was made from the model itself rather than from a capture.
    [[nodiscard]] bool tree_from_model() const noexcept { return tree_from_model_; }
    /// Whether the file says that it was tagged.
    [[nodiscard]] bool was_tagged() const noexcept { return record_.has_value(); }

    /// Whether those tags fit the model still: as many nodes of the same structure.
    [[nodiscard]] bool is_fresh() const noexcept { return fresh_; }
    /// Whether the record of the file was used.
    [[nodiscard]] bool uses_record() const noexcept { return uses_record_; }
    /// Returns: of how many modules only the file knew the class. Complexity: O(modules).
    [[nodiscard]] std::size_t lost_classes() const {
        return record_ && !uses_record_ ? count_lost_classes(record_->modules, modules_) : 0;
    }

    /// Returns: what a user should know of what the file says of its tags and could not be used.
    [[nodiscard]] std::span<const std::string> record_notes() const noexcept { return problems_; }

    /// Frees the operators and what was read of the evidence, a fifth of all memory. Afterwards
    /// nothing may be asked about these any more; model, tags, tree and record stay.
    void forget_evidence() noexcept {
        context_.reset();
        ops_.reset();
    }

    /// Returns: how paths in the model lead into the tree.
    [[nodiscard]] const path_mapping& mapping() { return context().owners().mapping; }
    /// Returns: the scopes in the names of the nodes, and their modules.
    [[nodiscard]] const scope_table& scopes() { return context().scopes(); }

    /// Returns: the modules that the scopes stand for.
    [[nodiscard]] const scope_modules& modules_of_scopes() { return context().modules_of_scopes(); }

    /// Returns: in which dialect every node is written. Complexity: as `detect_dialects`.
    [[nodiscard]] dialect_report dialects() { return detect_dialects(context()); }
    /// Returns: what could not be read of the evidence.
    [[nodiscard]] std::vector<finding> findings() {
        auto all = context().hierarchies().problems;
        const auto& names = context().scopes().problems;
        all.insert(all.end(), names.begin(), names.end());
        const auto parameters = find_unreadable_parameters(*ops_, options_.threads);
        all.insert(all.end(), parameters.begin(), parameters.end());
        return all;
    }

    /// Returns: the modules that own the parameters.
    [[nodiscard]] const parameter_owners& owners() { return context().owners(); }

    /// Returns: what the parts of a capture besides its modules claim, by source.
    [[nodiscard]] const std::vector<claim_table>& captured() const noexcept { return claims_; }
    /// Returns: what a user should know of how well those fit the model.
    [[nodiscard]] std::span<const std::string> capture_notes() const noexcept { return notes_; }

    /// Returns: all that the sources claim about a node.
    [[nodiscard]] std::vector<claim> claims_about(id node) {
        std::vector<claim> claims;
        sources().prepare(context()).for_each_claim(
            node, [&](const claim& made) { claims.push_back(made); });
        return claims;
    }

    /// Returns: what local functions say, also of each call apart.
    /// Complexity: that of `function_calls::prepare`.
    [[nodiscard]] function_calls::claims<onnx_operators<wire_model>> calls() {
        return function_calls{}.prepare(context());
    }

    /// Calls `f(node, claims)` for all nodes of which one source claims something, whether the
    /// options let it count or not; what a capture says only where they do.
    /// Complexity: O(nodes), after the facts of the source.
    template <class Function>
    void for_each_claimed(provenance source, Function f) {
        const auto prepared =
            chosen_.sources([&](provenance p) { return p == source; }, claims_).prepare(context());
        std::vector<claim> claims;
        for (id node = 0; node < model_.node_count(); ++node) {
            claims.clear();
            prepared.for_each_claim(node, [&](const claim& made) {
                if (made.source == source) {
                    claims.push_back(made);
                }
            });
            if (!claims.empty()) {
                f(node, std::span<const claim>(claims));
            }
        }
    }

    /// Returns: what `tag` writes about the whole besides `modules`.
    /// Complexity: O(claims), and that of `structure_digest` unless the options asked for it.
    [[nodiscard]] model_record record(const carrier_set& carriers) const {
        model_record record;
        record.carriers = carriers;
        record.nodes = model_.node_count();
        record.digest = digest_ ? *digest_ : structure_digest(model_);
        record.from_model = tree_from_model_;
        for (const auto& table : claims_) {
            record.claims.push_back(to_runs(table));
        }
        record.options = recorded_options(options_);
        return record;
    }

private:
    using context_type = detail::chosen_policies::context_type;

    void attribute(thread_limit threads) {
        read_record();
        const bool may_be_fresh = record_ && record_->nodes == model_.node_count();
        onnx_nodes<wire_model> nodes(model_, threads);
        operator_graph graph;
        std::optional<named_modules> named;
        const auto count = threads.parts_of_operators(model_.node_count());
        const auto make_graph = [&] { graph = flat_graph(model_); };
        const auto find_digest = [&] {
            if (may_be_fresh || options_.digest) {
                digest_ = structure_digest(model_);
            }
        };
        const bool folded = find_model_metadata(model_, fold_modules_key).has_value();
        const bool alone = options_.captures.empty() && !options_.recompute;
        if (options_.captures.empty() && !(record_ && alone) && !folded) {
            named = collect_named_modules(nodes, "", threads, {make_graph, find_digest});
        } else {
            run_tasks(count, {make_graph, find_digest});
        }
        ops_.emplace(std::move(nodes), std::move(graph));
        fresh_ = may_be_fresh && record_->digest == digest_;
        uses_record_ = record_ && alone && (fresh_ || !folded);
        if (uses_record_ && !options_.retag) {
            adopt_options(options_, *record_);
        }
        chosen_ = detail::chosen_policies(options_);
        context_.emplace(*ops_, modules_, threads);
        run_tasks(count, {[&] { make_tree(std::move(named), threads); },
                          [&] { static_cast<void>(context_->independent()); }});
        find_claims();
        tag();
        if (uses_record_ && fresh_ && !options_.retag) {
            take_over_tags(model_, modules_, found_);
        }
    }

    /// One that is damaged is none.
    void read_record() {
        try {
            record_ = find_model_record(model_);
        } catch (const error& problem) {
            if (problem.code() != error_code::malformed) {
                throw;
            }
            problems_.push_back(std::string(model_key) + " cannot be read and is ignored");
        }
    }

    [[nodiscard]] context_type& context() {
        STEMMA_ASSERT(context_.has_value(), "evidence was not forgotten");
        return *context_;
    }

    void make_tree(std::optional<named_modules> named, thread_limit threads) {
        if (use_capture()) {
            return;
        }
        if (uses_record_ && !(fresh_ && record_->from_model)) {
            modules_ = std::move(record_->modules);
        } else if (const auto tree = find_model_metadata(model_, fold_modules_key)) {
            modules_ = read_model_record(*tree, model_.file()).modules;
        } else {
            // What the exporter called the graph names no module; a record names what it named.
            const auto root_name = uses_record_ && !options_.retag ? record_->modules.attribute(0)
                                                                   : std::string_view();
            auto rebuilt = named ? rebuild_tree(*ops_, std::move(*named), threads)
                                 : rebuild_tree(*ops_, root_name, threads);
            modules_ = std::move(rebuilt.modules);
            tree_from_model_ = true;
            std::move(rebuilt).teach(*context_);
        }
    }

    /// Takes the tree of the capture, if there is one of this model.
    [[nodiscard]] bool use_capture() {
        if (options_.captures.empty()) {
            return false;
        }
        capture_ = read_captures(options_.captures);
        modules_ = capture_->tree();
        const auto match = match_capture(*ops_, modules_);
        if (!match.is_foreign()) {
            return true;
        }
        capture_.reset();
        notes_.push_back(match.note());
        return false;
    }

    [[nodiscard]] bool uses(provenance p) const { return chosen_.uses(p); }

    /// Asks the parts of the capture, or takes over what was known when the file was tagged.
    void find_claims() {
        if (uses_record_ && fresh_) {
            for (const auto& recorded : record_->claims) {
                if (uses(recorded.source)) {
                    claims_.push_back(to_table(recorded));
                }
            }
            return;
        }
        const bool has_operations = capture_ && capture_->has_operations();
        if (uses_record_ || (record_ && capture_ && !has_operations && !options_.recompute)) {
            find_recorded_claims(uses_record_ ? modules_ : record_->modules);
        }
        if (!has_operations) {
            return;
        }
        const auto open = detail::find_open(sources().prepare(context()), model_.node_count());
        captured_claims finder(model_, *ops_, modules_, context().owners().mapping);
        if (uses(provenance::exported)) {
            finder.look_up(capture_->exported());
        }
        if (std::find(open.begin(), open.end(), true) != open.end()) {
            finder.align_all(*capture_, open, [&](provenance p) { return uses(p); });
        }
        auto found = finder.finish();
        claims_ = std::move(found.claims);
        notes_ = std::move(found.notes);
        capture_.reset();
    }

    void find_recorded_claims(const module_tree& tree) {
        if (!uses(provenance::recorded)) {
            return;
        }
        auto found = fresh_ ? kept_evidence(*record_) : find_recorded(model_, tree);
        if (&tree != &modules_) {
            move_claims(tree, modules_, found);
        }
        if (found.sketch_damaged) {
            problems_.push_back(std::string(sketch_key) + " cannot be read and is ignored");
        }
        if (!found.by_module_alone.empty()) {
            drop_strangers(ops_->graph(), modules_.index(), sources().prepare(context()), found);
        }
        claims_ = std::move(found.claims);
    }

    [[nodiscard]] detail::chosen_policies::source_set sources() const {
        return chosen_.sources([&](provenance p) { return uses(p); }, claims_);
    }

    void tag() {
        found_ =
            tag_operators(context(), policies{sources(), chosen_.resolution(), chosen_.selection(),
                                              chosen_.naming(), chosen_.propagation()});
    }

    mapped_file file_;
    wire_model model_;
    std::optional<onnx_operators<wire_model>> ops_;
    attribution_options options_;
    detail::chosen_policies chosen_{attribution_options{}};
    std::optional<recorded_model> record_;
    std::optional<std::uint64_t> digest_;
    bool fresh_ = false;
    bool uses_record_ = false;
    bool tree_from_model_ = false;
    module_tree modules_;
    std::optional<context_type> context_;
    std::optional<capture_reader> capture_; // while what it says is being looked at
    std::vector<claim_table> claims_;
    std::vector<std::string> notes_;
    std::vector<std::string> problems_;
    tagging found_;
};

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_ATTRIBUTED_MODEL_HPP
