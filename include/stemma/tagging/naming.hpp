// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TAGGING_NAMING_HPP
#define STEMMA_TAGGING_NAMING_HPP

#include <stemma/core/category.hpp>
#include <stemma/core/id.hpp>
#include <stemma/model/detail/class_path_namer.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/tag_table.hpp>

#include <concepts>
#include <string>
#include <string_view>

namespace stemma::inline STEMMA_ABI {

namespace detail {

template <class P, class Modules>
concept has_name_modules = requires(const P& p, const Modules& modules, tag_table& tags) {
    p.name_modules(modules, tags);
};

} // namespace detail

/// Says what the tags of the selected modules look like: one segment for each.
///
/// `name_modules(modules, tags)` gives every selected module its segment, one above before those
/// below.
///
/// Requires: it calls `set_segment` once for every selected module; siblings below one
///   selected module get different segments, so that a tag names exactly one module; no segment
///   holds a `/` that is not escaped by `\`.
template <class P, class Modules>
concept naming_policy = policy_for<P, naming_category> && detail::has_name_modules<P, Modules>;

/// Classes, and of the path as much as tells equal ones apart:
/// `/BertModel/BertEncoder/BertLayer.0`.
///
/// Modules below the same selected module with the same class share a number k: the least for which
/// the last k names of their paths differ pairwise; alone, k is 1 behind a number and else 0. The
/// segment is the class and those names, joined by dots. Where the class is unknown the name stands
/// for it, from the last part that is no number: `layer.0`. `\`, `/`, `.` and `#` in a class or
/// name are written behind a `\`; where k would pass 32, `#` and the rank among the sorted paths
/// take the place of the names. Modules of unknown class whose segments another one has get `##`
/// and their rank behind. Complexity: O(modules * k) expected, and the sorting of modules that get
/// a rank.
struct class_paths {
    using policy_category = naming_category;
    static constexpr std::string_view name = "default";

    /// Most names of a path in one segment; `#` and a rank where more would be needed.
    static constexpr std::size_t max_names = 32;

    template <module_view Modules>
    void name_modules(const Modules& modules, tag_table& tags) const {
        detail::class_path_namer<Modules>(modules, tags, max_names).run();
    }
};

/// Attribute names instead of classes, as they stand in the path: `/model/encoder/layer.0`.
struct attribute_paths {
    using policy_category = naming_category;
    static constexpr std::string_view name = "attribute-paths";

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

/// Attribute names with the class behind a colon:
/// `/net:BertModel/encoder:BertEncoder/layer.0:BertLayer`. Unlike with class_paths, a tag stays as
/// it is whatever other modules there are.
struct attributes_and_classes {
    using policy_category = naming_category;
    static constexpr std::string_view name = "attributes-and-classes";

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

/// Put `static_assert(explain_naming_policy<mine, modules>());` beside a policy that is refused.
template <class P, class Modules>
consteval bool explain_naming_policy() {
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
