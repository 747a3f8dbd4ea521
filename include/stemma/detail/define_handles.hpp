// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_DETAIL_DEFINE_HANDLES_HPP
#define STEMMA_DETAIL_DEFINE_HANDLES_HPP

#include <stemma/config.hpp>
#include <stemma/core/detail/id_set_pool.hpp>
#include <stemma/core/id.hpp>
#include <stemma/detail/model_state.hpp>
#include <stemma/handles.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/source_lines.hpp>
#include <stemma/onnx/detail/node_attributes.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/tag_attribute.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/onnx/onnx_model.hpp>
#include <stemma/onnx/tensor_header.hpp>
#include <stemma/types/described_type.hpp>
#include <stemma/types/value_descriptions.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Definitions for handles.hpp: compiled into each program that includes it, or once in a library.
namespace stemma::inline STEMMA_ABI {

namespace detail {

[[nodiscard]] inline std::optional<std::uint32_t> known(id number) {
    return number == no_id ? std::nullopt : std::optional(number);
}

/// Returns: the modules in a tag set.
[[nodiscard]] inline handle_list<module_ref> modules_in(const model_state& state,
                                                        const id_set_pool& pool, id_set set) {
    std::vector<id> modules;
    pool.for_each(set, [&](id m) { modules.push_back(m); });
    return make_list<module_ref>(state, std::move(modules));
}

[[nodiscard]] inline std::vector<claim_ref> make_claims(const model_state& state,
                                                        std::span<const claim> claims) {
    std::vector<claim_ref> all;
    for (const auto& one : claims) {
        all.emplace_back(module_ref(state, one.module), state.tags().provenances[one.source],
                         one.confidence, one.exact);
    }
    return all;
}

/// Returns: a reader of the attribute whose message has that place in the file.
[[nodiscard]] inline attribute_reader read_attribute(const model_state& state, std::uint32_t begin,
                                                     std::uint32_t size) {
    return attribute_reader(state.file().reader({begin, size}));
}

} // namespace detail

STEMMA_INLINE std::string module_ref::path() const {
    return state_->modules().path(index_);
}

STEMMA_INLINE std::string_view module_ref::name() const {
    return state_->modules().name(index_);
}

STEMMA_INLINE std::string_view module_ref::class_name() const {
    return state_->modules().class_name(index_);
}

STEMMA_INLINE std::string_view module_ref::qualified_class() const {
    return state_->modules().qualified_class(index_);
}

STEMMA_INLINE std::string module_ref::tag() const {
    return state_->tags().tags.text(index_);
}

STEMMA_INLINE bool module_ref::is_selected() const {
    return state_->tags().tags.is_selected(index_);
}

STEMMA_INLINE std::optional<source_position> module_ref::source() const {
    const auto& lines = state_->opened.lines();
    const auto at = lines.frame_of_module(index_);
    return at == no_id ? std::nullopt : std::optional(lines.position(at));
}

STEMMA_INLINE std::optional<std::uint32_t> module_ref::calls() const {
    return detail::known(state_->modules().calls(index_));
}

STEMMA_INLINE std::uint32_t module_ref::depth() const {
    return state_->modules().index().depth(index_);
}

STEMMA_INLINE std::optional<module_ref> module_ref::parent() const {
    const auto parent = state_->modules().index().parent(index_);
    return parent == no_id ? std::nullopt : std::optional(module_ref(*state_, parent));
}

STEMMA_INLINE detail::handle_walk<module_ref> module_ref::children() const {
    const auto next = [](const detail::model_state& state, stemma::id m) {
        return state.modules().index().end(m);
    };
    return {*state_, next, index_ + 1, state_->modules().index().end(index_)};
}

STEMMA_INLINE detail::handle_walk<module_ref> module_ref::ancestors() const {
    const auto next = [](const detail::model_state& state, stemma::id m) {
        return state.modules().index().parent(m);
    };
    return {*state_, next, state_->modules().index().parent(index_), no_id};
}

STEMMA_INLINE detail::handle_range<module_ref> module_ref::descendants() const {
    return detail::make_range<module_ref>(*state_, index_ + 1,
                                          state_->modules().index().end(index_));
}

STEMMA_INLINE bool module_ref::contains(const module_ref& other) const {
    return state_ == other.state_ && state_->modules().index().is_ancestor(index_, other.index_);
}

STEMMA_INLINE detail::handle_list<node_ref> module_ref::nodes() const {
    return detail::make_list<node_ref>(*state_, state_->members().all(index_));
}

STEMMA_INLINE detail::handle_list<node_ref> module_ref::own_nodes() const {
    const auto own = state_->members().direct(index_);
    return detail::make_list<node_ref>(*state_, {own.begin(), own.end()});
}

STEMMA_INLINE detail::handle_list<parameter_ref> module_ref::parameters() const {
    const auto& modules = state_->weights().places.module;
    std::vector<stemma::id> inside;
    for (stemma::id w = 0; w < modules.size(); ++w) {
        if (state_->modules().index().is_ancestor(index_, modules[w])) {
            inside.push_back(w);
        }
    }
    return detail::make_list<parameter_ref>(*state_, std::move(inside));
}

STEMMA_INLINE std::string_view node_ref::name() const {
    return state_->file().name(index_);
}

STEMMA_INLINE std::string_view node_ref::op_type() const {
    return state_->file().op_type(index_);
}

STEMMA_INLINE std::string_view node_ref::domain() const {
    return state_->file().domain(index_);
}

STEMMA_INLINE std::vector<attribute_ref> node_ref::attributes() const {
    std::vector<attribute_ref> all;
    auto fields = state_->file().reader(state_->file().message(index_));
    for (detail::wire_field field; fields.next(field);) {
        if (field.is_bytes(detail::onnx_fields::node::attribute) &&
            !detail::is_tag_attribute(fields.inner(field))) {
            all.emplace_back(*state_, field.content, field.size());
        }
    }
    return all;
}

STEMMA_INLINE std::optional<attribute_ref> node_ref::attribute(std::string_view name) const {
    for (const auto& one : attributes()) {
        if (one.name() == name) {
            return one;
        }
    }
    return std::nullopt;
}

STEMMA_INLINE std::string node_ref::graph() const {
    return state_->file().graph_path(state_->file().graph_of(index_));
}

STEMMA_INLINE std::uint32_t node_ref::position() const {
    return state_->file().position(index_);
}

STEMMA_INLINE module_ref node_ref::module() const {
    return {*state_, state_->tags().attributions[index_].module};
}

STEMMA_INLINE std::string node_ref::tag() const {
    return state_->tags().tags.text(state_->tags().attributions[index_].module);
}

STEMMA_INLINE detail::handle_list<module_ref> node_ref::tags() const {
    const auto& tags = state_->tags();
    return detail::modules_in(*state_, tags.pool, tags.tag_sets[index_]);
}

STEMMA_INLINE std::string_view node_ref::provenance() const {
    return state_->tags().provenances[state_->tags().attributions[index_].source];
}

STEMMA_INLINE std::optional<source_position> node_ref::source() const {
    return state_->opened.lines().of(index_);
}

STEMMA_INLINE std::vector<source_position> node_ref::frames() const {
    const auto& lines = state_->opened.lines();
    std::vector<source_position> all;
    for (const auto number : lines.frames_of_chain(lines.chain_of(index_))) {
        all.push_back(lines.position(number));
    }
    return all;
}

STEMMA_INLINE float node_ref::confidence() const {
    return state_->tags().attributions[index_].confidence;
}

STEMMA_INLINE std::optional<std::uint32_t> node_ref::call() const {
    return detail::known(state_->tags().attributions[index_].call);
}

STEMMA_INLINE bool node_ref::has_conflict() const {
    return state_->tags().attributions[index_].conflict;
}

STEMMA_INLINE std::vector<claim_ref> node_ref::claims() const {
    return detail::make_claims(*state_, state_->opened.claims_about(index_));
}

STEMMA_INLINE std::vector<claim_ref> node_ref::conflicts() const {
    return detail::make_claims(*state_, state_->tags().conflicts.of(index_));
}

STEMMA_INLINE detail::handle_list<module_ref> node_ref::callers() const {
    const auto callers = state_->tags().callers.of(index_);
    return detail::make_list<module_ref>(*state_, {callers.begin(), callers.end()});
}

STEMMA_INLINE detail::handle_list<value_ref> node_ref::inputs() const {
    std::vector<stemma::id> values;
    for (auto value : state_->file().inputs(index_)) {
        if (value != no_id) {
            values.push_back(value);
        }
    }
    return detail::make_list<value_ref>(*state_, std::move(values));
}

STEMMA_INLINE detail::handle_range<value_ref> node_ref::outputs() const {
    const auto first = state_->file().first_output(index_);
    return detail::make_range<value_ref>(*state_, first,
                                         first + state_->file().output_count(index_));
}

STEMMA_INLINE detail::handle_list<node_ref> node_ref::producers() const {
    std::vector<stemma::id> nodes;
    for (auto value : state_->file().inputs(index_)) {
        if (value != no_id && state_->file().producer(value) != no_id) {
            nodes.push_back(state_->file().producer(value));
        }
    }
    return detail::make_list<node_ref>(*state_, std::move(nodes));
}

STEMMA_INLINE detail::handle_list<node_ref> node_ref::readers() const {
    std::vector<stemma::id> nodes;
    for (const auto value : outputs()) {
        const auto more = state_->readers()[to_index(value.id())];
        nodes.insert(nodes.end(), more.begin(), more.end());
    }
    return detail::make_list<node_ref>(*state_, std::move(nodes));
}

STEMMA_INLINE std::string_view value_ref::name() const {
    return state_->file().value_name(index_);
}

STEMMA_INLINE std::string_view value_ref::kind() const {
    return to_string(state_->file().kind(index_));
}

STEMMA_INLINE described_type value_ref::type() const {
    return state_->types().type_of(index_);
}

STEMMA_INLINE bool value_ref::is_initializer() const {
    return state_->file().is_initializer(index_);
}

STEMMA_INLINE std::optional<node_ref> value_ref::producer() const {
    const auto node = state_->file().producer(index_);
    return node == no_id ? std::nullopt : std::optional(node_ref(*state_, node));
}

STEMMA_INLINE detail::handle_list<node_ref> value_ref::readers() const {
    const auto nodes = state_->readers()[index_];
    return detail::make_list<node_ref>(*state_, {nodes.begin(), nodes.end()});
}

STEMMA_INLINE detail::handle_list<module_ref> value_ref::tags() const {
    const auto& tags = state_->value_tags();
    return detail::modules_in(*state_, tags.pool, tags.sets[index_]);
}

STEMMA_INLINE value_ref parameter_ref::value() const {
    return {*state_, state_->weights().weights[index_].value};
}

STEMMA_INLINE std::string_view parameter_ref::name() const {
    return value().name();
}

STEMMA_INLINE module_ref parameter_ref::module() const {
    return {*state_, state_->weights().places.module[index_]};
}

STEMMA_INLINE std::string_view parameter_ref::kind() const {
    return to_string(state_->weights().weights[index_].kind);
}

STEMMA_INLINE std::string_view parameter_ref::type() const {
    return data_type_name(state_->weights().weights[index_].data_type);
}

STEMMA_INLINE std::uint64_t parameter_ref::elements() const {
    return state_->weights().weights[index_].elements;
}

STEMMA_INLINE std::uint64_t parameter_ref::bytes() const {
    return state_->weights().weights[index_].bytes;
}

STEMMA_INLINE std::string to_text(const node_ref& node) {
    return node.name().empty() ? node.graph() + "#" + std::to_string(node.position())
                               : std::string(node.name());
}

STEMMA_INLINE std::string to_text(const value_ref& value) {
    return std::string(value.name().empty() ? "(omitted)" : value.name());
}

STEMMA_INLINE std::string to_text(const module_ref& module) {
    return module.depth() == 0 ? "(root)" : module.path();
}

STEMMA_INLINE std::string to_text(const parameter_ref& parameter) {
    return std::string(parameter.name());
}

STEMMA_INLINE std::string_view attribute_ref::name() const {
    return detail::read_attribute(*state_, begin_, size_).name();
}

STEMMA_INLINE std::string_view attribute_ref::type() const {
    return detail::read_attribute(*state_, begin_, size_).type();
}

STEMMA_INLINE std::string_view attribute_ref::reference() const {
    return detail::read_attribute(*state_, begin_, size_).reference();
}

STEMMA_INLINE std::optional<std::int64_t> attribute_ref::as_int() const {
    return detail::read_attribute(*state_, begin_, size_).whole();
}

STEMMA_INLINE std::optional<float> attribute_ref::as_float() const {
    return detail::read_attribute(*state_, begin_, size_).real();
}

STEMMA_INLINE std::optional<std::string_view> attribute_ref::as_string() const {
    return detail::read_attribute(*state_, begin_, size_).text();
}

STEMMA_INLINE std::vector<std::int64_t> attribute_ref::as_ints() const {
    return detail::read_attribute(*state_, begin_, size_).wholes();
}

STEMMA_INLINE std::vector<float> attribute_ref::as_floats() const {
    return detail::read_attribute(*state_, begin_, size_).reals();
}

STEMMA_INLINE std::vector<std::string_view> attribute_ref::as_strings() const {
    return detail::read_attribute(*state_, begin_, size_).texts();
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_DETAIL_DEFINE_HANDLES_HPP
