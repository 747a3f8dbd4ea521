// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_COST_PROFILE_READERS_HPP
#define STEMMA_COST_PROFILE_READERS_HPP

#include <stemma/config.hpp>
#include <stemma/cost/detail/csv_rows.hpp>
#include <stemma/cost/detail/ort_events.hpp>
#include <stemma/cost/profile.hpp>
#include <stemma/error.hpp>
#include <stemma/io/mapped_file.hpp>

#include <nlohmann/json.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace stemma::inline STEMMA_ABI {

namespace detail {

/// Throws: `error` of `error_code::malformed` for a negative time.
inline void check_time(double time, std::string_view file, std::size_t line) {
    if (time < 0) {
        STEMMA_THROW(error(error_code::malformed, file, "line " + std::to_string(line),
                           "has a negative time"));
    }
}

/// Reads the profiles of one runtime.
template <class R>
concept profile_reader = std::copyable<R> &&
    requires(const R& reader, std::string_view text, profile& to) {
    { R::name } -> std::convertible_to<std::string_view>;
    { reader.fits(text) } -> std::convertible_to<bool>; // by the first bytes
    reader.read(text, text, to);                        // bytes, and the file for messages
};

} // namespace detail

/// ONNX Runtime's trace: every kernel of every run.
struct ort_profile {
    /// The name of the format.
    static constexpr std::string_view name = "ort";

    /// Whether a file starts like this format.
    [[nodiscard]] bool fits(std::string_view start) const {
        const auto head = start.substr(0, 4096);
        return head.find('[') < head.find('{') && head.find("\"cat\"") != head.npos;
    }

    /// Throws: `error` of `error_code::malformed`. Complexity: O(bytes).
    void read(std::string_view bytes, std::string_view file, profile& to) const {
        detail::ort_events events(file, to);
        static_cast<void>(nlohmann::json::sax_parse(bytes.begin(), bytes.end(), &events));
        if (!events.met_node()) {
            events.fail("", "no event is a node; was the session run with profiling enabled?");
        }
        to.end_run();
    }
};

/// The output of TensorRT's `trtexec --exportProfile`: layers with their mean times.
struct tensorrt_profile {
    /// The name of the format.
    static constexpr std::string_view name = "tensorrt";

    /// Whether a file starts like this format.
    [[nodiscard]] bool fits(std::string_view start) const {
        const auto head = start.substr(0, 4096);
        return head.find('[') < head.find('{') &&
               (head.find("\"averageMs\"") != head.npos || head.find("\"timeMs\"") != head.npos);
    }

    /// Throws: `error` of `error_code::malformed`. Complexity: O(bytes).
    void read(std::string_view bytes, std::string_view file, profile& to) const {
        detail::tensorrt_layers layers(file, to);
        static_cast<void>(nlohmann::json::sax_parse(bytes.begin(), bytes.end(), &layers));
        if (!layers.met_layer()) {
            layers.fail("", "no entry is a layer with a name and a time");
        }
        to.end_run();
    }
};

/// The output of QNN's profile viewer, and of ONNX Runtime's QNN provider: the rows of nodes.
struct qnn_profile {
    /// The name of the format.
    static constexpr std::string_view name = "qnn";

    /// Whether a file starts like this format.
    [[nodiscard]] bool fits(std::string_view start) const {
        return start.substr(0, start.find('\n')).find("Event Identifier") != start.npos;
    }

    /// Throws: `error` of `error_code::malformed`. Complexity: O(bytes).
    void read(std::string_view bytes, std::string_view file, profile& to) const {
        detail::csv_rows rows(bytes);
        rows.next();
        const auto time = rows.find_column({"time"});
        const auto unit = rows.find_column({"unit of measurement"});
        const auto level = rows.find_column({"event level"});
        const auto names = rows.find_column({"event identifier"});
        const auto message = rows.find_column({"message"});
        const auto sources = rows.find_column({"onnx source ops"});
        if (!time || !unit || !level || !names) {
            STEMMA_THROW(error(error_code::malformed, file, "line 1", "is not a QNN heading"));
        }
        bool met = false;
        while (rows.next()) {
            if (rows[level] == "ROOT") { // of the whole graph
                to.end_run();
            }
            const auto number = detail::read_real(rows[time]);
            auto layer = rows[names];
            const auto mark = layer.find(":OpId_");
            // Other events are parts of these, or not times: threads, waiting, the accelerator.
            if (mark == layer.npos && rows[message] != "NODE" && rows[level] != "NODE") {
                continue;
            }
            layer = rows[sources].empty() ? layer.substr(0, mark) : rows[sources];
            if (!number || layer.empty()) {
                continue;
            }
            detail::check_time(*number, file, rows.line());
            met = true;
            // Cycles are not times, but as good for shares.
            to.add({layer, {}, "QNN", *number * detail::microseconds_of(rows[unit]).value_or(1)});
        }
        if (!met) {
            STEMMA_THROW(error(error_code::malformed, file, "", "no row is a node"));
        }
        to.end_run();
    }
};

/// OpenVINO's performance counts, as written by `benchmark_app -report_type`: the layers that ran.
struct openvino_profile {
    /// The name of the format.
    static constexpr std::string_view name = "openvino";

    /// Whether a file starts like this format.
    [[nodiscard]] bool fits(std::string_view start) const {
        return start.substr(0, start.find('\n')).find("layerName") != start.npos;
    }

    /// Throws: `error` of `error_code::malformed`. Complexity: O(bytes).
    void read(std::string_view bytes, std::string_view file, profile& to) const {
        detail::csv_rows rows(bytes);
        rows.next();
        const auto names = rows.find_column({"layername"});
        const auto status = rows.find_column({"execstatus"});
        const auto type = rows.find_column({"layertype"});
        const auto kernel = rows.find_column({"exectype"});
        const auto time = rows.find_column({"realtime"});
        if (!names || !time) {
            STEMMA_THROW(error(error_code::malformed, file, "line 1",
                               "has no columns layerName and realTime"));
        }
        const auto unit = detail::microseconds_of(rows[time]).value_or(1);
        const std::string heading(rows[names]); // repeated in the table of each run
        bool met = false;
        while (rows.next()) {
            const auto number = detail::read_real(rows[time]);
            const bool ran =
                !status || rows[status] == "EXECUTED" || rows[status] == "Status.EXECUTED";
            if (rows[names] == "Total") { // a table per run
                to.end_run();
            } else if (ran && !rows[names].empty() && rows[names] != heading) {
                if (!number) {
                    STEMMA_THROW(error(error_code::malformed, file,
                                       "line " + std::to_string(rows.line()), "has no time"));
                }
                detail::check_time(*number, file, rows.line());
                met = true;
                to.add({rows[names], rows[type], rows[kernel], *number * unit});
            }
        }
        if (!met) {
            STEMMA_THROW(error(error_code::malformed, file, "", "no row is a layer that ran"));
        }
        to.end_run();
    }
};

/// Any table with a heading that has a column of names and one of times. Units are given in the
/// heading, `time (ms)`, and are microseconds if it has none. A column `run` distinguishes runs,
/// whose rows may be in any order.
struct csv_profile {
    /// The name of the format.
    static constexpr std::string_view name = "csv";

    /// Whether a file starts like this format.
    [[nodiscard]] bool fits(std::string_view start) const {
        const auto line = start.substr(0, start.find('\n'));
        const auto begin = std::min(line.find_first_not_of(" \t"), line.size());
        return line.find_first_of(",;\t") != line.npos && // and no JSON
               !line.substr(begin).starts_with('[') && !line.substr(begin).starts_with('{');
    }

    /// Throws: `error` of `error_code::malformed`. Complexity: O(bytes).
    void read(std::string_view bytes, std::string_view file, profile& to) const {
        detail::csv_rows rows(bytes);
        rows.next();
        const auto names = rows.find_column({"name", "node", "node_name", "node name", "layer",
                                             "layer_name", "layer name", "kernel", "op_name"});
        const auto time =
            rows.find_column({"time", "us", "ms", "ns", "time_us", "time_ms", "time_ns", "duration",
                              "dur", "latency", "average", "avg", "microseconds", "milliseconds"});
        const auto provider = rows.find_column({"provider", "device", "backend"});
        const auto type = rows.find_column({"op_type", "op", "type"});
        const auto run = rows.find_column({"run", "iteration"});
        if (!names || !time) {
            STEMMA_THROW(error(error_code::malformed, file, "line 1",
                               "needs a column `name` and a column `time`"));
        }
        std::string heading(rows[time]);
        for (auto& c : heading) {
            c = c == '_' ? ' ' : c;
        }
        const auto unit = detail::microseconds_of(heading);
        if (!unit && heading.find_first_of("([") != heading.npos) {
            STEMMA_THROW(
                error(error_code::malformed, file, "line 1",
                      "'" + std::string(rows[time]) + "' has no known unit: ns, us, ms, s"));
        }
        std::vector<profile> runs; // as they are met
        std::unordered_map<std::string, std::size_t> run_of;
        while (rows.next()) {
            const auto number = detail::read_real(rows[time]);
            if (!number || !(*number >= 0)) {
                STEMMA_THROW(error(error_code::malformed, file,
                                   "line " + std::to_string(rows.line()), "has no time"));
            }
            const auto at = run_of.try_emplace(std::string(rows[run]), runs.size()).first->second;
            if (at == runs.size()) {
                runs.emplace_back();
            }
            runs[at].add({rows[names], rows[type], rows[provider], *number * unit.value_or(1)});
        }
        for (const auto& one : runs) {
            to.append(one);
        }
    }
};

/// Reads a profile with the first reader that accepts its beginning.
/// Returns: the name of the reader. Throws: `error` of `error_code::malformed`, also if there is
/// none. Complexity: O(bytes).
template <detail::profile_reader... Readers>
std::string_view read_profile(std::string_view bytes, std::string_view file, profile& to,
                              const Readers&... readers) {
    std::string_view used;
    const auto attempt = [&](const auto& reader) {
        if (used.empty() && reader.fits(bytes)) {
            used = reader.name;
            reader.read(bytes, file, to);
        }
    };
    (attempt(readers), ...);
    if (used.empty()) {
        STEMMA_THROW(error(error_code::malformed, file, "", "is not a profile in a known format"));
    }
    constexpr double year = 365.0 * 86'400 * 1e6; // in microseconds
    if (!(to.total() < 100 * year)) {
        STEMMA_THROW(error(error_code::malformed, file, "", "lasts for more than 100 years"));
    }
    to.set_source(file, used);
    return used;
}

/// As above, with all readers of this header.
inline std::string_view read_profile(std::string_view bytes, std::string_view file, profile& to) {
    return read_profile(bytes, file, to, ort_profile{}, tensorrt_profile{}, qnn_profile{},
                        openvino_profile{}, csv_profile{});
}

/// Returns: the runs of all profiles of a model, each without its first ones: `warm_up`, else one
/// if it has several. Throws: `error`: of `error_code::cannot_read`; of `malformed` for other
/// files; of `refused` if no run is left, as if there are no files. Complexity: O(bytes).
[[nodiscard]] inline profile read_profiles(const std::vector<std::string>& paths,
                                           std::optional<std::size_t> warm_up = {}) {
    profile all;
    if (paths.empty()) {
        STEMMA_THROW(error(error_code::refused, "", "profiles", "no file is given"));
    }
    for (const auto& path : paths) {
        const mapped_file file(path);
        profile read;
        read_profile(file.bytes(), path, read);
        if (read.runs() == 0) {
            STEMMA_THROW(error(error_code::malformed, path, "", "contains no run"));
        }
        const auto drop = warm_up.value_or(read.runs() > 1 ? 1 : 0);
        if (drop >= read.runs()) {
            STEMMA_THROW(error(error_code::refused, path, "warm-up",
                               "leaves none of " + std::to_string(read.runs()) +
                                   (read.runs() == 1 ? " run" : " runs")));
        }
        read.drop_runs(drop);
        all.append(read);
    }
    return all;
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_COST_PROFILE_READERS_HPP
