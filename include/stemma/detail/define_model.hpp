// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_DETAIL_DEFINE_MODEL_HPP
#define STEMMA_DETAIL_DEFINE_MODEL_HPP

#include <stemma/config.hpp>
#include <stemma/core/id.hpp>
#include <stemma/detail/model_state.hpp>
#include <stemma/io/mapped_file.hpp>
#include <stemma/model.hpp>
#include <stemma/model/module_lookup.hpp>
#include <stemma/onnx/write_rope.hpp>
#include <stemma/open/model_notes.hpp>
#include <stemma/open/write_tagged.hpp>
#include <stemma/query/find_matches.hpp>
#include <stemma/query/find_modules.hpp>
#include <stemma/query/model_facts.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Definitions for model.hpp: compiled into each program that includes it, or once in a library.
namespace stemma::inline STEMMA_ABI {

STEMMA_INLINE model::model(std::unique_ptr<detail::model_state> state) noexcept
    : state_(std::move(state)) {}

STEMMA_INLINE model::model(model&&) noexcept = default;
STEMMA_INLINE model& model::operator=(model&&) noexcept = default;
STEMMA_INLINE model::~model() = default;

STEMMA_INLINE detail::handle_range<node_ref> model::nodes() const& {
    return detail::make_range<node_ref>(*state_, 0, state_->file().node_count());
}

STEMMA_INLINE node_ref model::node(node_id i) const& {
    STEMMA_ASSERT(to_index(i) < state_->file().node_count(), "model: no node with this index");
    return {*state_, to_index(i)};
}

STEMMA_INLINE std::optional<node_ref> model::find_node(std::string_view name) const& {
    for (const auto node : nodes()) {
        if (node.name() == name) {
            return node;
        }
    }
    return std::nullopt;
}

STEMMA_INLINE detail::handle_range<value_ref> model::values() const& {
    return detail::make_range<value_ref>(*state_, 0, state_->file().value_count());
}

STEMMA_INLINE value_ref model::value(value_id i) const& {
    STEMMA_ASSERT(to_index(i) < state_->file().value_count(), "model: no value with this index");
    return {*state_, to_index(i)};
}

STEMMA_INLINE std::optional<value_ref> model::find_value(std::string_view name) const& {
    for (const auto value : values()) {
        if (value.name() == name) {
            return value;
        }
    }
    return std::nullopt;
}

STEMMA_INLINE detail::handle_list<value_ref> model::initializers() const& {
    std::vector<id> matches;
    for (id value = 0; value < state_->file().value_count(); ++value) {
        if (state_->file().is_initializer(value)) {
            matches.push_back(value);
        }
    }
    return detail::make_list<value_ref>(*state_, std::move(matches));
}

STEMMA_INLINE detail::handle_range<parameter_ref> model::parameters() const& {
    return detail::make_range<parameter_ref>(*state_, 0,
                                             static_cast<id>(state_->weights().weights.size()));
}

STEMMA_INLINE parameter_ref model::parameter(parameter_id i) const& {
    STEMMA_ASSERT(to_index(i) < state_->weights().weights.size(),
                  "model: no parameter with this index");
    return {*state_, to_index(i)};
}

STEMMA_INLINE detail::handle_range<module_ref> model::modules() const& {
    return detail::make_range<module_ref>(*state_, 0, static_cast<id>(state_->modules().size()));
}

STEMMA_INLINE module_ref model::module(module_id i) const& {
    STEMMA_ASSERT(to_index(i) < state_->modules().size(), "model: no module with this index");
    return {*state_, to_index(i)};
}

STEMMA_INLINE module_ref model::root() const& {
    return {*state_, 0};
}

STEMMA_INLINE std::optional<module_ref> model::find_module(std::string_view path) const& {
    const auto target = detail::find_by_path(state_->modules(), path);
    return target == no_id ? std::nullopt : std::optional(module_ref(*state_, target));
}

STEMMA_INLINE model::query_result model::query(std::string_view text) const& {
    const auto asked = parse_query(state_->opened, text);
    const auto& all_tags = state_->tags();
    const auto& ops = state_->opened.operators();
    const model_facts facts(state_->opened.model(), state_->modules(), all_tags,
                            [&]() -> const source_lines& { return state_->opened.lines(); });
    std::vector<id> modules;
    if (!asked.asks_for_operators()) {
        modules = find_matching_modules(asked, state_->modules(), all_tags.tags, ops,
                                        all_tags.attributions, all_tags.provenances, facts);
    }
    auto nodes = find_matching_operators(asked, state_->modules(), all_tags.tags, ops,
                                         all_tags.attributions, all_tags.provenances, facts);
    return {detail::make_list<node_ref>(*state_, std::move(nodes)),
            detail::make_list<module_ref>(*state_, std::move(modules))};
}

STEMMA_INLINE void model::write(const std::string& path) const {
    write(path, write_options{});
}

STEMMA_INLINE void model::write(const std::string& path, const write_options& options) const {
    write_tagged(state_->opened, path, usual_carriers, options);
}

STEMMA_INLINE std::string model::tagged() const {
    return tagged(write_options{});
}

STEMMA_INLINE std::string model::tagged(const write_options& options) const {
    return tagged_bytes(state_->opened, usual_carriers, options);
}

STEMMA_INLINE std::vector<std::string> model::notes() const {
    std::vector<std::string> texts;
    for (const auto& note : model_notes(state_->opened)) {
        texts.push_back(note.place.empty() ? note.text : note.place + ": " + note.text);
    }
    return texts;
}

STEMMA_INLINE const module_tree& model::tree() const& noexcept {
    return state_->modules();
}

STEMMA_INLINE const operator_graph& model::graph() const& noexcept {
    return state_->opened.operators().graph();
}

STEMMA_INLINE const attributed_model& model::parts() const& noexcept {
    return state_->opened;
}

STEMMA_INLINE model::operator const attributed_model&() const& noexcept {
    return state_->opened;
}

STEMMA_INLINE model open(const std::string& path) {
    return open(path, attribution_options{});
}

STEMMA_INLINE model open(const std::string& path, attribution_options options) {
    return detail::model_state::open(
        std::make_unique<detail::model_state>(path, std::move(options)));
}

STEMMA_INLINE model open_bytes(std::string bytes, const std::string& name) {
    return open_bytes(std::move(bytes), name, attribution_options{});
}

STEMMA_INLINE model open_bytes(std::string bytes, const std::string& name,
                               attribution_options options) {
    return detail::model_state::open(std::make_unique<detail::model_state>(
        mapped_file::holding(std::move(bytes), name), std::move(options)));
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_DETAIL_DEFINE_MODEL_HPP
