// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_DETAIL_CLASS_PATH_NAMER_HPP
#define STEMMA_DETAIL_CLASS_PATH_NAMER_HPP

#include <stemma/core/flat_index.hpp>
#include <stemma/core/grouped_ids.hpp>
#include <stemma/core/hash.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/string_pool.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/model/tag_table.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::detail {

[[nodiscard]] constexpr bool is_number(std::string_view text) noexcept {
    return !text.empty() &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// Appends a name with a `\` before each of the characters that have a meaning in a tag.
inline void append_escaped(std::string_view name, std::string_view special, std::string& out) {
    for (char c : name) {
        if (std::find(special.begin(), special.end(), c) != special.end()) {
            out.push_back('\\');
        }
        out.push_back(c);
    }
}

/// Gives every selected module its segment, as `class_paths` describes it.
template <class Modules>
class class_path_namer {
public:
    class_path_namer(const Modules& modules, tag_table& tags, std::size_t max_names)
        : modules_(modules), tree_(modules.index()), tags_(tags), max_names_(max_names) {}

    void run() {
        print_classes();
        const auto groups = group_modules();
        for (std::size_t g = 0; g < groups.size(); ++g) {
            name_group(groups[g]);
        }
        part_unknown();
    }

private:
    // A member's names from itself upwards, and a running hash of the last k of them.
    struct suffix {
        id module = no_id;
        id next = no_id; // the module whose name comes next, or the ancestor where names end
        std::uint64_t hash = 0;
    };

    [[nodiscard]] bool is_unknown(id m) const {
        const std::string_view class_name = modules_.class_name(m);
        return class_name.empty();
    }

    void print_classes() {
        printed_.resize(tree_.size(), no_id);
        std::string text;
        for (id m = 0; m < tree_.size(); ++m) {
            if (!tags_.is_selected(m)) {
                continue;
            }
            text.clear();
            const std::string_view known = modules_.class_name(m);
            if (known.empty()) {
                append_name_run(m, text);
            } else {
                append_escaped(known, "\\/.#", text);
            }
            printed_[m] = classes_.intern(text);
        }
    }

    // From the last name that is no number to the module's own, so many at most: `layer.0`.
    void append_name_run(id m, std::string& text) const {
        auto first = m;
        for (std::size_t names = 1; names < max_names_ && first != 0 && tree_.parent(first) != 0 &&
                                    is_number(modules_.attribute(first));
             ++names) {
            first = tree_.parent(first);
        }
        std::vector<id> run;
        for (auto at = m; at != first; at = tree_.parent(at)) {
            run.push_back(at);
        }
        append_escaped(modules_.attribute(first), "\\/.#", text);
        for (auto at = run.rbegin(); at != run.rend(); ++at) {
            text.push_back('.');
            append_escaped(modules_.attribute(*at), "\\/.#", text);
        }
        if (m == 0 && text.empty()) {
            text = "model";
        }
    }

    /// Returns: the selected modules, by what is above them and how they print.
    [[nodiscard]] grouped_ids group_modules() const {
        flat_index groups(tree_.size());
        std::vector<id> group_of(tree_.size(), no_id);
        std::vector<id> founder;
        for (id m = 0; m < tree_.size(); ++m) {
            if (!tags_.is_selected(m)) {
                continue;
            }
            const auto next = static_cast<id>(founder.size());
            group_of[m] = groups.insert(hash_mix(tags_.above(m), printed_[m]), next, [&](id g) {
                return tags_.above(founder[g]) == tags_.above(m) &&
                       printed_[founder[g]] == printed_[m];
            });
            if (group_of[m] == next) {
                founder.push_back(m);
            }
        }
        return {founder.size(), [&](auto take) {
                    for (id m = 0; m < tree_.size(); ++m) {
                        if (group_of[m] != no_id) {
                            take(group_of[m], m);
                        }
                    }
                }};
    }

    void name_group(std::span<const id> group) {
        if (group.size() == 1) {
            const auto m = group.front();
            const bool number = m != 0 && !is_unknown(m) && is_number(modules_.attribute(m));
            write_segment(m, number ? 1 : 0);
            return;
        }
        suffixes_.clear();
        for (auto m : group) {
            suffixes_.push_back({m, m, 0});
        }
        for (std::size_t k = 1; k <= max_names_; ++k) {
            for (auto& s : suffixes_) {
                extend(s);
            }
            if (all_differ(k)) {
                for (auto m : group) {
                    write_segment(m, k);
                }
                return;
            }
        }
        write_ordinals(group);
    }

    void extend(suffix& s) const {
        if (s.next != tags_.above(s.module)) {
            s.hash = hash_mix(s.hash, hash_bytes(modules_.attribute(s.next)));
            s.next = tree_.parent(s.next);
        }
    }

    [[nodiscard]] bool all_differ(std::size_t k) {
        std::sort(suffixes_.begin(), suffixes_.end(), [&](const auto& a, const auto& b) {
            return a.hash != b.hash ? a.hash < b.hash : compare_names(a.module, b.module, k) < 0;
        });
        return std::adjacent_find(
                   suffixes_.begin(), suffixes_.end(), [&](const auto& a, const auto& b) {
                       return a.hash == b.hash && compare_names(a.module, b.module, k) == 0;
                   }) == suffixes_.end();
    }

    /// Compares the last `k` names of two modules below the same selected one, last name first.
    [[nodiscard]] int compare_names(id a, id b, std::size_t k) const {
        const auto end = tags_.above(a);
        for (; k > 0 && a != end && b != end; --k) {
            const std::string_view name_a = modules_.attribute(a);
            const std::string_view name_b = modules_.attribute(b);
            if (name_a != name_b) {
                return name_a < name_b ? -1 : 1;
            }
            a = tree_.parent(a);
            b = tree_.parent(b);
        }
        return k == 0 ? 0 : static_cast<int>(a != end) - static_cast<int>(b != end);
    }

    void write_segment(id m, std::size_t k) {
        std::vector<std::string_view> names;
        for (auto at = m; k > 0 && at != tags_.above(m); --k, at = tree_.parent(at)) {
            names.push_back(modules_.attribute(at));
        }
        std::string segment(classes_[printed_[m]]);
        for (auto name = names.rbegin(); name != names.rend(); ++name) {
            segment.push_back('.');
            append_escaped(*name, "\\/.#", segment);
        }
        tags_.set_segment(m, segment);
    }

    void write_ordinals(std::span<const id> group) {
        std::vector<id> sorted(group.begin(), group.end());
        std::sort(sorted.begin(), sorted.end(), [&](id a, id b) {
            return compare_names(a, b, static_cast<std::size_t>(-1)) < 0;
        });
        for (std::size_t i = 0; i < sorted.size(); ++i) {
            std::string segment(classes_[printed_[sorted[i]]]);
            tags_.set_segment(sorted[i], segment.append("#").append(std::to_string(i)));
        }
    }

    // Names that stand for unknown classes hold dots: `layer.0` can also be a class `layer` told
    // apart as `.0`, or the end of another run of names. No name holds a `#` that is not escaped.
    // Without a dot they are just what was printed, and groups have told these apart.
    void part_unknown() {
        const auto may_hold_dots = [&](id m) {
            return tags_.is_selected(m) && is_unknown(m) && is_number(modules_.attribute(m));
        };
        bool any = false;
        for (id m = 1; m < tree_.size() && !any; ++m) {
            any = may_hold_dots(m);
        }
        if (!any) {
            return;
        }
        flat_index known;
        std::vector<id> equal;
        for (id m = 1; m < tree_.size(); ++m) {
            if (tags_.is_selected(m) && tags_.segment(m).find('.') != std::string_view::npos) {
                const auto found =
                    known.insert(hash_bytes(tags_.segment(m), tags_.above(m)), m, [&](id other) {
                        return tags_.above(other) == tags_.above(m) &&
                               tags_.segment(other) == tags_.segment(m);
                    });
                if (found != m) {
                    equal.insert(equal.end(), {found, m});
                }
            }
        }
        std::sort(equal.begin(), equal.end());
        equal.erase(std::unique(equal.begin(), equal.end()), equal.end());
        std::sort(equal.begin(), equal.end(), [&](id a, id b) { return stands_before(a, b); });
        std::size_t number = 0;
        std::string before;
        for (std::size_t i = 0; i < equal.size(); ++i) {
            const auto m = equal[i];
            const std::string segment(tags_.segment(m));
            if (i == 0 || segment != before || tags_.above(m) != tags_.above(equal[i - 1])) {
                number = 0;
                before = segment;
            }
            if (is_unknown(m)) {
                tags_.set_segment(m, segment + "##" + std::to_string(number++));
            }
        }
    }

    // By selected module above, segment and names, last name first.
    [[nodiscard]] bool stands_before(id a, id b) const {
        if (tags_.above(a) != tags_.above(b)) {
            return tags_.above(a) < tags_.above(b);
        }
        const auto how = tags_.segment(a).compare(tags_.segment(b));
        return how != 0 ? how < 0 : compare_names(a, b, static_cast<std::size_t>(-1)) < 0;
    }

    const Modules& modules_;
    const tree_index& tree_;
    tag_table& tags_;
    std::size_t max_names_;
    string_pool classes_;
    std::vector<id> printed_;
    std::vector<suffix> suffixes_;
};

} // namespace stemma::detail

#endif // STEMMA_DETAIL_CLASS_PATH_NAMER_HPP
