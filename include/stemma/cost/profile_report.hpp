// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_COST_PROFILE_REPORT_HPP
#define STEMMA_COST_PROFILE_REPORT_HPP

#include <stemma/core/id.hpp>
#include <stemma/cost/module_times.hpp>
#include <stemma/io/detail/csv_text.hpp>
#include <stemma/io/detail/real_text.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/model/module_lookup.hpp>
#include <stemma/model/module_tree.hpp>

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI {

namespace detail {

/// Returns: microseconds with at most three decimals.
[[nodiscard]] inline std::string microseconds_text(double microseconds) {
    auto text = fixed_text(microseconds, 3);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) {
        text.pop_back();
    }
    return text;
}

[[nodiscard]] inline double share_of(double part, double whole) {
    return whole > 0 ? part / whole : 0;
}

} // namespace detail

/// Writes the times of all modules with any (`stemma.profile/1`). Complexity: O(length).
template <text_sink Sink>
void write_json(Sink& sink, const module_times& times) {
    const auto& modules = times.model().modules();
    detail::write_document(sink, "stemma.profile/1", [&](auto& json) {
        json.member("model", times.model().model().file());
        json.member("profile", times.files());
        json.member("format", times.formats());
        json.member("runs", times.runs());
        json.member("dropped_runs", times.dropped());
        json.member("divided", times.is_divided());
        json.member("fused", times.fused());
        json.member("us", times.total());
        json.member("unmatched_us", times.unmatched_total());
        json.key("modules");
        json.begin_array();
        for (id m = 0; m < times.size(); ++m) {
            const auto& time = times[m];
            if (time.calls == 0 && time.microseconds == 0) {
                continue;
            }
            json.begin_object(true);
            json.member("path", modules.path(m));
            json.member_or_null("class", modules.class_name(m));
            json.member("us", time.microseconds);
            json.member("own_us", time.own);
            json.member("share", detail::share_of(time.microseconds, times.total()));
            json.member("calls", time.calls);
            json.member("min_us", time.least);
            json.member("max_us", time.most);
            json.object("providers", [&] {
                for (const auto& [name, part] : time.providers) {
                    json.member(name, part);
                }
            });
            json.end_object();
        }
        json.end_array();
        json.objects("unmatched", times.unmatched(), [&](const auto& one) {
            json.member("name", one.name);
            json.member("op_type", one.op_type);
            json.member("us", one.microseconds);
            json.member("calls", one.calls);
        });
    });
}

/// Writes the same as CSV; the last row is the unmatched time.
/// Complexity: O(length).
template <text_sink Sink>
void write_csv(Sink& sink, const module_times& times) {
    const auto& modules = times.model().modules();
    const auto number = detail::microseconds_text;
    sink.write("module,class,us,own_us,share,calls,min_us,max_us\n");
    for (id m = 0; m < times.size(); ++m) {
        const auto& time = times[m];
        if (time.calls != 0 || time.microseconds != 0) {
            sink.write(detail::csv_row(modules.path(m), modules.class_name(m),
                                       number(time.microseconds), number(time.own),
                                       number(detail::share_of(time.microseconds, times.total())),
                                       number(time.calls), number(time.least), number(time.most)));
        }
    }
    std::uint64_t calls = 0;
    for (const auto& one : times.unmatched()) {
        calls += one.calls;
    }
    const auto rest = number(times.unmatched_total());
    sink.write(detail::csv_row("(unmatched)", "", rest, rest,
                               number(detail::share_of(times.unmatched_total(), times.total())),
                               calls, "", ""));
}

namespace detail {

[[nodiscard]] inline double microseconds_of_module(const module_times& of, id m) {
    return m == no_id ? 0 : of.per_run(of[m].microseconds);
}

} // namespace detail

/// Pairs the times of two profiles by path: the modules of the first in order, then those only in
/// the second, without modules that take no time in either.
/// Complexity: O(modules), and the lengths of their paths.
[[nodiscard]] inline std::vector<module_times::paired> compare_times(const module_times& first,
                                                                     const module_times& second) {
    const module_lookup paths(second.model().modules());
    std::vector<bool> met(second.size(), false);
    std::vector<module_times::paired> pairs;
    const auto add = [&](id a, id b) {
        const module_times::paired pair{a, b, detail::microseconds_of_module(first, a),
                                        detail::microseconds_of_module(second, b)};
        if (pair.before != 0 || pair.after != 0) {
            pairs.push_back(pair);
        }
    };
    for (id m = 0; m < first.size(); ++m) {
        const auto other = m == 0 ? 0 : find_module(paths, first.model().modules().path(m));
        if (other < met.size()) {
            met[other] = true;
        }
        add(m, other < met.size() ? other : no_id);
    }
    for (id m = 0; m < met.size(); ++m) {
        if (!met[m]) {
            add(no_id, m);
        }
    }
    return pairs;
}

/// Writes two profiles side by side (`stemma.profiles/1`). Complexity: O(length).
template <text_sink Sink>
void write_json(Sink& sink, const module_times& first, const module_times& second) {
    detail::write_document(sink, "stemma.profiles/1", [&](auto& json) {
        const auto write_source = [&](std::string_view key, const module_times& of) {
            json.key(key);
            json.begin_object();
            json.member("model", of.model().model().file());
            json.member("profile", of.files());
            json.member("format", of.formats());
            json.member("runs", of.runs());
            json.member("dropped_runs", of.dropped());
            json.member("us", of.per_run(of.total()));
            json.member("unmatched_us", of.per_run(of.unmatched_total()));
            json.end_object();
        };
        const auto write_time = [&](std::string_view key, const module_times& of, id m) {
            json.key(key);
            if (m == no_id) {
                json.null();
                return;
            }
            const auto& time = of[m];
            json.begin_object();
            json.member("us", of.per_run(time.microseconds));
            json.member("own_us", of.per_run(time.own));
            json.member("share", detail::share_of(time.microseconds, of.total()));
            json.member("calls", of.per_run(time.calls));
            json.end_object();
        };
        json.member("divided", first.is_divided());
        write_source("first", first);
        write_source("second", second);
        json.list("modules", compare_times(first, second), [&](const auto& pair) {
            const auto& tree =
                pair.first == no_id ? second.model().modules() : first.model().modules();
            const auto m = pair.first == no_id ? pair.second : pair.first;
            json.begin_object(true);
            json.member("path", tree.path(m));
            json.member_or_null("class", tree.class_name(m));
            json.member("difference_us", pair.after - pair.before);
            write_time("first", first, pair.first);
            write_time("second", second, pair.second);
            json.end_object();
        });
    });
}

/// Writes the same as CSV; the last row is the unmatched time.
/// Complexity: O(length).
template <text_sink Sink>
void write_csv(Sink& sink, const module_times& first, const module_times& second) {
    const auto number = detail::microseconds_text;
    const auto own = [&](const module_times& of, id m) {
        return m == no_id ? std::string() : number(of.per_run(of[m].own));
    };
    sink.write("module,class,first_us,second_us,difference_us,first_own_us,second_own_us\n");
    for (const auto& pair : compare_times(first, second)) {
        const auto& tree = pair.first == no_id ? second.model().modules() : first.model().modules();
        const auto m = pair.first == no_id ? pair.second : pair.first;
        sink.write(detail::csv_row(
            tree.path(m), tree.class_name(m), pair.first == no_id ? "" : number(pair.before),
            pair.second == no_id ? "" : number(pair.after), number(pair.after - pair.before),
            own(first, pair.first), own(second, pair.second)));
    }
    const auto before = first.per_run(first.unmatched_total());
    const auto after = second.per_run(second.unmatched_total());
    sink.write(detail::csv_row("(unmatched)", "", number(before), number(after),
                               number(after - before), number(before), number(after)));
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_COST_PROFILE_REPORT_HPP
