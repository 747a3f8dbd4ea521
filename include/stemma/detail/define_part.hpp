// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_DETAIL_DEFINE_PART_HPP
#define STEMMA_DETAIL_DEFINE_PART_HPP

#include <stemma/config.hpp>
#include <stemma/cut/cut_options.hpp>
#include <stemma/cut/model_cutter.hpp>
#include <stemma/cut/model_part.hpp>
#include <stemma/detail/model_state.hpp>
#include <stemma/error.hpp>
#include <stemma/model.hpp>
#include <stemma/part.hpp>
#include <stemma/query/find_modules.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

// Definitions for part.hpp and for cutting a model: compiled into each program that includes it, or
// once in a library.
namespace stemma::inline STEMMA_ABI {

STEMMA_INLINE std::span<const std::string> part::inputs() const& {
    return part_->inputs();
}

STEMMA_INLINE std::span<const std::string> part::outputs() const& {
    return part_->outputs();
}

STEMMA_INLINE std::size_t part::size() const {
    return part_->size();
}

STEMMA_INLINE bool part::is_exact() const {
    return part_->is_exact();
}

STEMMA_INLINE std::string part::bytes() const {
    return part_->bytes();
}

STEMMA_INLINE void part::write(const std::string& path) const {
    part_->write(path);
}

STEMMA_INLINE part model::cut(std::string_view query) const& {
    return cut(query, cut_options{});
}

STEMMA_INLINE part model::cut(std::string_view query, const cut_options& options) const& {
    const auto modules = find_modules(state_->opened, query);
    if (modules.size() > 1) {
        STEMMA_THROW(error(error_code::refused, state_->opened.file().path(), "cut",
                           "'" + std::string(query) + "' matches " +
                               std::to_string(modules.size()) +
                               " modules; a part needs exactly one"));
    }
    return cut(module(module_id{modules.front()}), options);
}

STEMMA_INLINE part model::cut(const module_ref& module) const& {
    return cut(module, cut_options{});
}

STEMMA_INLINE part model::cut(const module_ref& module, const cut_options& options) const& {
    model_cutter cutter(state_->file(), options);
    return part(
        std::make_shared<const model_part>(cutter.cut(state_->opened, {.module = module.id()})));
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_DETAIL_DEFINE_PART_HPP
