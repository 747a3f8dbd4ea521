// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_MODEL_DETAIL_CLASS_PATH_NAMER_HPP
#define STEMMA_MODEL_DETAIL_CLASS_PATH_NAMER_HPP

#include <stemma/core/detail/ascii.hpp>
#include <stemma/core/detail/flat_index.hpp>
#include <stemma/core/detail/grouped_ids.hpp>
#include <stemma/core/detail/hash.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/core/detail/string_pool.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/model/tag_table.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Characters with a special meaning in tags, escaped with a `\`.
class special_characters {
public:
    constexpr explicit special_characters(std::string_view all) {
        for (char c : all) {
            is_special_[static_cast<unsigned char>(c)] = true;
        }
    }

    /// Appends a name, escaped.
    void append_escaped(std::string_view name, std::string& out) const {
        if (!are_in(name)) {
            out.append(name);
            return;
        }
        for (char c : name) {
            if (is_special(c)) {
                out.push_back('\\');
            }
            out.push_back(c);
        }
    }

    /// Returns: the name, escaped: either `name` itself or a view of `text`.
    [[nodiscard]] std::string_view escaped(std::string_view name, std::string& text) const {
        if (!are_in(name)) {
            return name;
        }
        text.clear();
        append_escaped(name, text);
        return text;
    }

private:
    [[nodiscard]] bool is_special(char c) const noexcept {
        return is_special_[static_cast<unsigned char>(c)];
    }

    [[nodiscard]] bool are_in(std::string_view name) const noexcept {
        return std::any_of(name.begin(), name.end(), [&](char c) { return is_special(c); });
    }

    std::array<bool, 256> is_special_{};
};

/// Writes the child names on the way down to a module, joined by dots.
template <class Modules>
class name_path {
public:
    name_path(const Modules& modules, const special_characters& special)
        : modules_(modules), special_(special) {}

    /// Returns: the names from below `above` down to `m`; valid until the next call.
    [[nodiscard]] std::string_view operator()(id above, id m) {
        if (modules_.index().parent(m) == above) {
            return special_.escaped(modules_.name(m), text_);
        }
        text_.clear();
        append(above, m, text_);
        return text_;
    }

    /// Appends them; if there are more than `most`, only the last ones.
    void append(id above, id m, std::string& out, std::size_t most = no_id) {
        names_.clear();
        for (auto at = m; at != above && names_.size() < most; at = modules_.index().parent(at)) {
            names_.push_back(modules_.name(at));
        }
        for (auto i = names_.size(); i-- > 0;) {
            special_.append_escaped(names_[i], out);
            if (i > 0) {
                out.push_back('.');
            }
        }
    }

private:
    const Modules& modules_;
    special_characters special_;
    std::vector<std::string_view> names_;
    std::string text_;
};

/// Gives every selected module its segment, as described at `class_paths`.
template <class Modules>
class class_path_namer {
public:
    class_path_namer(const Modules& modules, tag_table& tags, std::size_t max_names)
        : modules_(modules)
        , tree_(modules.index())
        , tags_(tags)
        , max_names_(max_names)
        , path_(modules, special_) {}

    void run() {
        print_classes();
        write_segment(0, 0);
        const auto below = sort_modules();
        for (std::size_t above = 0; above < below.size(); ++above) {
            name_groups(below[above]);
        }
        if (has_numbers_) {
            part_unknown();
        }
    }

private:
    // Up to this many modules are compared pairwise, which is faster than a table.
    static constexpr std::size_t few = 8;

    // A member's names from itself upwards, with a running hash of the last k of them.
    struct suffix {
        id module = no_id;
        id next = no_id; // the next module up, or the ancestor where names end
        std::uint64_t hash = 0;
    };

    [[nodiscard]] bool is_unknown(id m) const {
        const std::string_view class_name = modules_.class_name(m);
        return class_name.empty();
    }

    void print_classes() {
        printed_.resize(tree_.size(), no_id);
        for (id m = 0; m < tree_.size(); ++m) {
            if (!tags_.is_selected(m)) {
                continue;
            }
            const std::string_view name = modules_.class_name(m);
            printed_[m] =
                classes_.intern(name.empty() ? name_run(m) : special_.escaped(name, text_));
        }
    }

    // From the last non-numeric name to the module's own, at most this many: `layer.0`.
    [[nodiscard]] std::string_view name_run(id m) {
        auto first = m;
        for (std::size_t names = 1; names < max_names_ && first != 0 && tree_.parent(first) != 0 &&
                                    is_number(modules_.name(first));
             ++names) {
            first = tree_.parent(first);
        }
        has_numbers_ = has_numbers_ || (m != 0 && is_number(modules_.name(m)));
        const auto run = path_(tree_.parent(first), m);
        return m == 0 && run.empty() ? "model" : run;
    }

    /// Returns: the selected modules by nearest selected ancestor, equal segments side by side.
    [[nodiscard]] grouped_ids sort_modules() const {
        const grouped_ids by_class(classes_.size(), [&](auto take) {
            for (id m = 1; m < tree_.size(); ++m) {
                if (printed_[m] != no_id) {
                    take(printed_[m], m);
                }
            }
        });
        return {tree_.size(), [&](auto take) {
                    for (auto m : by_class.range(0, by_class.size())) {
                        take(tags_.above(m), m);
                    }
                }};
    }

    void name_groups(std::span<const id> modules) {
        for (std::size_t first = 0, last = 0; first < modules.size(); first = last) {
            const auto printed = printed_[modules[first]];
            while (last < modules.size() && printed_[modules[last]] == printed) {
                ++last;
            }
            name_group(modules.subspan(first, last - first));
        }
    }

    void name_group(std::span<const id> group) {
        if (group.size() == 1) {
            const auto m = group.front();
            const bool number = !is_unknown(m) && is_number(modules_.name(m));
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
            s.hash = hash_mix(s.hash, hash_bytes(modules_.name(s.next)));
            s.next = tree_.parent(s.next);
        }
    }

    /// Whether the last `k` names tell the modules apart. Complexity: O(modules) expected.
    [[nodiscard]] bool all_differ(std::size_t k) const {
        const auto are_equal = [&](const suffix& a, const suffix& b) {
            return a.hash == b.hash && compare_names(a.module, b.module, k) == 0;
        };
        if (suffixes_.size() <= few) {
            for (auto s = suffixes_.begin(); s != suffixes_.end(); ++s) {
                if (std::any_of(suffixes_.begin(), s,
                                [&](const auto& other) { return are_equal(*s, other); })) {
                    return false;
                }
            }
            return true;
        }
        flat_index seen(suffixes_.size());
        for (id i = 0; i < suffixes_.size(); ++i) {
            const auto existing = seen.insert(suffixes_[i].hash, i, [&](id other) {
                return are_equal(suffixes_[i], suffixes_[other]);
            });
            if (existing != i) {
                return false;
            }
        }
        return true;
    }

    /// Compares the last `k` names of two modules below the same selected one, last name first.
    [[nodiscard]] int compare_names(id a, id b, std::size_t k) const {
        const auto end = tags_.above(a);
        for (; k > 0 && a != end && b != end; --k) {
            const std::string_view name_a = modules_.name(a);
            const std::string_view name_b = modules_.name(b);
            if (name_a != name_b) {
                return name_a < name_b ? -1 : 1;
            }
            a = tree_.parent(a);
            b = tree_.parent(b);
        }
        return k == 0 ? 0 : static_cast<int>(a != end) - static_cast<int>(b != end);
    }

    void write_segment(id m, std::size_t k) {
        text_ = classes_[printed_[m]];
        if (k > 0) {
            text_.push_back('.');
            path_.append(tags_.above(m), m, text_, k);
        }
        tags_.set_segment(m, text_);
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

    // Names that stand in for unknown classes contain dots: `layer.0` could also be a class `layer`
    // disambiguated as `.0`, or the end of another run of names. No name contains an unescaped `#`.
    // Names without a dot are as printed, and grouping has made them unique.
    void part_unknown() {
        flat_index by_text;
        std::vector<id> equal;
        for (id m = 1; m < tree_.size(); ++m) {
            if (tags_.is_selected(m) && tags_.segment(m).find('.') != std::string_view::npos) {
                const auto existing =
                    by_text.insert(hash_bytes(tags_.segment(m), tags_.above(m)), m, [&](id other) {
                        return tags_.above(other) == tags_.above(m) &&
                               tags_.segment(other) == tags_.segment(m);
                    });
                if (existing != m) {
                    equal.insert(equal.end(), {existing, m});
                }
            }
        }
        equal = range::each_once(std::move(equal));
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

    // By selected ancestor, segment and names, last name first.
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
    special_characters special_{"\\/.#"};
    name_path<Modules> path_;
    string_pool classes_;
    std::vector<id> printed_;      // by module, the number of its class as written
    bool has_numbers_ = false;     // in names that stand in for unknown classes
    std::vector<suffix> suffixes_; // of one group
    std::string text_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_MODEL_DETAIL_CLASS_PATH_NAMER_HPP
