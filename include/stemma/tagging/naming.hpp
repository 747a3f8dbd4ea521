// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TAGGING_NAMING_HPP
#define STEMMA_TAGGING_NAMING_HPP

#include <stemma/core/category.hpp>
#include <stemma/core/id.hpp>
#include <stemma/model/detail/class_path_namer.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/tag_table.hpp>

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>

namespace stemma::inline STEMMA_ABI {

namespace detail {

template <class P, class Modules>
concept has_name_modules = requires(const P& p, const Modules& modules, tag_table& tags) {
    p.name_modules(modules, tags);
};

} // namespace detail

/// Determines the tags of the selected modules: one segment for each.
///
/// `name_modules(modules, tags)` sets the segment of every selected module, ancestors first.
///
/// Requires: it calls `set_segment` once for every selected module; modules with the same nearest
/// selected ancestor get different segments, so a tag identifies exactly one module; a segment
/// contains `/` only escaped by `\`.
template <class P, class Modules>
concept naming_policy =
    detail::policy_for<P, naming_category> && detail::has_name_modules<P, Modules>;

/// Classes, with as much of the path as is needed to tell equal ones apart:
/// `/BertModel/BertEncoder/BertLayer.0`.
///
/// Modules with the same class and nearest selected ancestor share a number k: the least for which
/// the last k names of their paths differ pairwise; for a single module, k is 1 if its name is a
/// number and else 0. The segment is the class and those names, joined by dots. If the class is
/// unknown, the name from the last non-numeric part stands in for it: `layer.0`. `\`, `/`, `.` and
/// `#` in a class or name are escaped by `\`; if k would exceed 32, `#` and the rank among the
/// sorted paths replace the names. Modules of unknown class with another one's segment get `##` and
/// their rank appended. Complexity: O(modules * k) expected, and the sorting of modules that get a
/// rank.
struct class_paths {
    using policy_category = naming_category;
    static constexpr std::string_view name = "default";

    /// The maximum number of path names in one segment; `#` and a rank beyond.
    static constexpr std::size_t max_names = 32;

    template <module_view Modules>
    void name_modules(const Modules& modules, tag_table& tags) const {
        detail::class_path_namer<Modules>(modules, tags, max_names).run();
    }
};

/// Child names instead of classes, as in the path: `/model/encoder/layer.0`.
struct module_paths {
    using policy_category = naming_category;
    static constexpr std::string_view name = "module-paths";

    template <module_view Modules>
    void name_modules(const Modules& modules, tag_table& tags) const {
        detail::name_path path(modules, detail::special_characters("\\/."));
        for (id m = 0; m < tags.size(); ++m) {
            if (tags.is_selected(m)) {
                const auto segment = path(tags.above(m), m);
                tags.set_segment(m, m == 0 && segment.empty() ? "model" : segment);
            }
        }
    }
};

/// Child names, with the class after a colon:
/// `/net:BertModel/encoder:BertEncoder/layer.0:BertLayer`. Unlike with class_paths, a tag does not
/// depend on which other modules there are.
struct names_and_classes {
    using policy_category = naming_category;
    static constexpr std::string_view name = "names-and-classes";

    template <module_view Modules>
    void name_modules(const Modules& modules, tag_table& tags) const {
        const detail::special_characters in_class("\\/:");
        detail::name_path path(modules, detail::special_characters("\\/.:"));
        std::string segment;
        for (id m = 0; m < tags.size(); ++m) {
            if (tags.is_selected(m)) {
                segment.clear();
                path.append(tags.above(m), m, segment);
                const std::string_view class_name = modules.class_name(m);
                if (m == 0 && segment.empty()) {
                    segment = "model";
                }
                if (!class_name.empty()) {
                    segment.push_back(':');
                    in_class.append_escaped(class_name, segment);
                }
                tags.set_segment(m, segment);
            }
        }
    }
};

/// Put `static_assert(explain_policy<naming_category, mine, modules>());` next to a policy that is
/// rejected.
template <std::same_as<naming_category> Role, class P, class Modules>
consteval bool explain_policy() {
    static_assert(std::copy_constructible<P>, "naming policy: make the class copyable");
    static_assert(detail::declares<P, naming_category>,
                  "naming policy: add `using policy_category = stemma::naming_category;`");
    static_assert(
        detail::has_name_modules<P, Modules>,
        "naming policy: add `void name_modules(const Modules&, stemma::tag_table&) const`");
    return naming_policy<P, Modules>;
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_TAGGING_NAMING_HPP
