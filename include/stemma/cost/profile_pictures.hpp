// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_COST_PROFILE_PICTURES_HPP
#define STEMMA_COST_PROFILE_PICTURES_HPP

#include <stemma/core/id.hpp>
#include <stemma/cost/module_times.hpp>
#include <stemma/cost/profile_report.hpp>
#include <stemma/error.hpp>
#include <stemma/io/detail/xml_text.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/model/module_tree.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI {

namespace detail {

/// A module's time as a slice: within its parent's, after its siblings'.
struct time_slice {
    std::string name;
    id module = no_id; // none for unmatched time
    id depth = 0;
    double start = 0;
    double length = 0;
};

/// Returns: slices by start, outer ones first. Complexity: O(modules).
[[nodiscard]] inline std::vector<time_slice> time_slices(const module_times& times) {
    const auto& modules = times.model().modules();
    const auto& tree = modules.index();
    std::vector<double> next(tree.size(), 0); // where the next child begins
    std::vector<time_slice> slices;
    for (id m = 0; m < times.size(); ++m) {
        const auto length = times[m].microseconds;
        const auto start = m == 0 ? 0 : next[tree.parent(m)];
        next[m] = start;
        if (m != 0) {
            next[tree.parent(m)] = start + length;
        }
        if (length > 0) {
            const std::string name(modules.name(m));
            const std::string type(modules.class_name(m));
            slices.push_back({name.empty()   ? (type.empty() ? "model" : type)
                              : type.empty() ? name
                                             : name + " " + type,
                              m, tree.depth(m), start, length});
        }
    }
    if (times.unmatched_total() > 0) {
        slices.push_back({"(unmatched)", no_id, 0, times.size() > 0 ? times[0].microseconds : 0,
                          times.unmatched_total()});
    }
    return slices;
}

/// Returns: the part of a text that usually fits a width in pixels; "" if almost nothing fits.
[[nodiscard]] inline std::string shortened_label(std::string_view text, double pixels) {
    const auto letters = pixels > 6 ? static_cast<std::size_t>((pixels - 6) / 7) : 0;
    if (text.size() <= letters) {
        return std::string(text);
    }
    if (letters < 3) {
        return {};
    }
    return cut_text(text, letters - 1);
}

} // namespace detail

/// Writes modules as nested slices of a Chrome or Perfetto trace, over all runs. Complexity:
/// O(length).
template <text_sink Sink>
void write_chrome_trace(Sink& sink, const module_times& times) {
    const auto& modules = times.model().modules();
    json_writer json(sink);
    json.begin_object();
    json.member("displayTimeUnit", "ms");
    json.objects("traceEvents", detail::time_slices(times), [&](const auto& slice) {
        json.member("name", slice.name);
        json.member("cat", "module");
        json.member("ph", "X");
        json.member("pid", 1);
        json.member("tid", 1);
        json.member("ts", slice.start);
        json.member("dur", slice.length);
        json.object("args", [&] {
            json.member("path", slice.module == no_id ? std::string() : modules.path(slice.module));
        });
    });
    json.end_object();
    json.finish();
}

/// Writes the same for speedscope (https://www.speedscope.app). Complexity: O(length).
template <text_sink Sink>
void write_speedscope(Sink& sink, const module_times& times) {
    const auto& modules = times.model().modules();
    const std::string_view name = times.model().model().file();
    const auto slices = detail::time_slices(times);
    json_writer json(sink);
    json.begin_object();
    json.member("$schema", "https://www.speedscope.app/file-format-schema.json");
    json.member("name", name);
    json.member("exporter", "stemma");
    json.member("activeProfileIndex", 0);
    json.key("shared");
    json.begin_object();
    json.objects("frames", slices, [&](const auto& slice) {
        json.member("name", slice.module == no_id || slice.module == 0
                                ? slice.name
                                : modules.path(slice.module));
    });
    json.end_object();
    json.key("profiles");
    json.begin_array();
    json.begin_object();
    json.member("type", "evented");
    json.member("name", name);
    json.member("unit", "microseconds");
    json.member("startValue", 0);
    json.member("endValue", times.total());
    json.key("events");
    json.begin_array();
    double now = 0; // events must be monotone despite rounding
    const auto event = [&](std::string_view type, std::size_t frame, double at) {
        now = std::max(now, std::min(at, times.total()));
        json.begin_object(true);
        json.member("type", type);
        json.member("frame", frame);
        json.member("at", now);
        json.end_object();
    };
    std::vector<std::size_t> open;
    const auto close = [&](id depth) {
        while (!open.empty() && slices[open.back()].depth >= depth) {
            const auto& last = slices[open.back()];
            event("C", open.back(), last.start + last.length);
            open.pop_back();
        }
    };
    for (std::size_t i = 0; i < slices.size(); ++i) {
        close(slices[i].depth);
        event("O", i, slices[i].start);
        open.push_back(i);
    }
    close(0);
    json.end_array();
    json.end_object();
    json.end_array();
    json.end_object();
    json.finish();
}

/// Writes a flame graph as a self-contained SVG: a row per level of modules, with widths
/// proportional to time. Invisible slices are omitted. Complexity: O(length).
template <text_sink Sink>
void write_flame_graph(Sink& sink, const module_times& times) {
    const auto& modules = times.model().modules();
    constexpr double width = 1200;
    constexpr double least = 0.3;
    constexpr id row = 18;
    const auto slices = detail::time_slices(times);
    const auto scale = times.total() > 0 ? width / times.total() : 0;
    id depth = 0;
    for (const auto& slice : slices) {
        depth = slice.length * scale >= least ? std::max(depth, slice.depth) : depth;
    }
    const auto number = detail::microseconds_text;
    sink.write("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + number(width) +
               "\" height=\"" + std::to_string((depth + 3) * row) + "\" viewBox=\"0 0 " +
               number(width) + " " + std::to_string((depth + 3) * row) +
               "\" font-family=\"sans-serif\" font-size=\"11\">\n"
               "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n<text x=\"4\" y=\"13\">" +
               detail::xml_text(detail::shortened_label(times.model().model().file(), width)) +
               "</text>\n");
    for (const auto& slice : slices) {
        const auto wide = slice.length * scale;
        if (wide < least) {
            continue;
        }
        const auto x = number(slice.start * scale);
        const auto y = (slice.depth + 1) * row;
        // A fixed colour per class, the same in every picture.
        const auto hash = slice.module == no_id ? 0 : [&] {
            std::uint32_t sum = 2166136261U;
            for (const char c : modules.class_name(slice.module)) {
                sum = (sum ^ static_cast<unsigned char>(c)) * 16777619U;
            }
            return sum;
        }();
        const auto path = slice.module == no_id                ? slice.name
                          : modules.path(slice.module).empty() ? slice.name
                                                               : modules.path(slice.module);
        sink.write("<g><title>" +
                   detail::xml_text(path + ": " + number(slice.length / 1000) + " ms, " +
                                    number(100 * detail::share_of(slice.length, times.total())) +
                                    " %") +
                   "</title><rect x=\"" + x + "\" y=\"" + std::to_string(y) + "\" width=\"" +
                   number(wide) + "\" height=\"" + std::to_string(row - 1) + "\" fill=\"hsl(" +
                   std::to_string(hash % 60) + ",70%," + std::to_string(62 + hash / 60 % 16) +
                   "%)\" stroke=\"#fff\" stroke-width=\"0.5\"/>");
        if (const auto text = detail::shortened_label(slice.name, wide); !text.empty()) {
            // A nested picture clips the text, however wide it is.
            sink.write("<svg x=\"" + x + "\" y=\"" + std::to_string(y) + "\" width=\"" +
                       number(wide - 2) + "\" height=\"" + std::to_string(row - 1) +
                       "\"><text x=\"3\" y=\"13\">" + detail::xml_text(text) + "</text></svg>");
        }
        sink.write("</g>\n");
    }
    sink.write("</svg>\n");
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_COST_PROFILE_PICTURES_HPP
