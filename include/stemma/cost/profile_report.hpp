// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_COST_PROFILE_REPORT_HPP
#define STEMMA_COST_PROFILE_REPORT_HPP

#include <stemma/core/id.hpp>
#include <stemma/cost/module_times.hpp>
#include <stemma/io/detail/csv_text.hpp>
#include <stemma/io/detail/real_text.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/model/module_tree.hpp>

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

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
    json_writer json(sink);
    json.begin_object();
    json.member("schema", "stemma.profile/1");
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
        json.key("providers");
        json.begin_object(true);
        for (const auto& [name, part] : time.providers) {
            json.member(name, part);
        }
        json.end_object();
        json.end_object();
    }
    json.end_array();
    json.objects("unmatched", times.unmatched(), [&](const auto& one) {
        json.member("name", one.name);
        json.member("op_type", one.op_type);
        json.member("us", one.microseconds);
        json.member("calls", one.calls);
    });
    json.end_object();
    json.finish();
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

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_COST_PROFILE_REPORT_HPP
