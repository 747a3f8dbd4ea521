// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_NUMERICS_COMPARE_NUMERICS_HPP
#define STEMMA_NUMERICS_COMPARE_NUMERICS_HPP

#include <stemma/core/id.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/numerics/pair_values.hpp>
#include <stemma/numerics/value_difference.hpp>
#include <stemma/numerics/value_file.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// The differences between the values of two runs.
struct numerics_report {
    /// The verdict on a module.
    enum class module_verdict : std::uint8_t {
        within,    ///< its outputs are within the bounds
        adds,      ///< all its inputs are within the bounds, or it exceeds them on correct inputs
        passes_on, ///< on correct inputs its outputs are within the bounds
        unclear,   ///< an input exceeds the bounds, or was not compared: isolate it to decide
        not_compared, ///< no output could be compared
    };

    /// A value in both runs.
    struct compared_value {
        paired_value pair{};                          ///< the values
        std::optional<value_difference> difference{}; ///< nothing if the shapes differ
        bool exceeds = false;                         ///< exceeds a bound, or shapes differ
    };

    /// The numerics of a module.
    struct of_module {
        id module = no_id;                          ///< of the first model
        std::optional<value_difference> incoming{}; ///< of its inputs, the worst
        std::optional<value_difference> outgoing{}; ///< of its outputs, the worst
        std::optional<value_difference> own{};      ///< of its outputs on correct inputs, the worst
        std::size_t outputs = 0;                    ///< its outputs
        std::size_t compared = 0;                   ///< those that could be compared
        bool reads_exceeding = false;               ///< an input exceeds a bound
        bool reads_uncompared = false;              ///< an input could not be compared
        id first = no_id; ///< its first output that exceeds a bound, an index into `values`
        module_verdict verdict = module_verdict::not_compared; ///< the conclusion
    };

    difference_bounds bounds;           ///< as given
    std::vector<compared_value> values; ///< inputs first, then in execution order
    std::vector<of_module> modules;     ///< those with results, in tree order
    id first_module = no_id;            ///< the deepest module that produces `first_value`
    id first_value = no_id; ///< the first value that exceeds a bound, an index into `values`
    std::size_t unequal_inputs = 0; ///< inputs of the model that differ between the runs
};

/// Returns: the name used in reports.
[[nodiscard]] constexpr std::string_view
to_string(numerics_report::module_verdict verdict) noexcept {
    constexpr std::array<std::string_view, 5> names{"within", "adds", "passes_on", "unclear",
                                                    "not_compared"};
    return names[static_cast<std::size_t>(verdict)];
}

/// Options of `compare_numerics`.
struct numerics_options {
    difference_bounds bounds{};  ///< upper limits of differences
    std::vector<bool> modules{}; ///< by module of the first model; empty for all
    std::map<std::string, std::string, std::less<>>
        pairs{}; ///< values known to correspond, whatever their names
};

namespace detail {

inline void keep_worst(std::optional<value_difference>& worst,
                       const numerics_report::compared_value& by) {
    if (by.difference) {
        worst ? worst->merge(*by.difference) : static_cast<void>(worst = by.difference);
    }
}

/// Returns: the verdict on a module from its own results and its inputs.
[[nodiscard]] inline numerics_report::module_verdict
verdict_of(const numerics_report::of_module& numbers, const difference_bounds& bounds) {
    if (numbers.compared == 0) {
        return numerics_report::module_verdict::not_compared;
    }
    if (numbers.own) {
        return bounds.are_exceeded(*numbers.own) ? numerics_report::module_verdict::adds
               : numbers.first != no_id          ? numerics_report::module_verdict::passes_on
                                                 : numerics_report::module_verdict::within;
    }
    return numbers.first == no_id ? numerics_report::module_verdict::within
           : numbers.reads_exceeding || numbers.reads_uncompared
               ? numerics_report::module_verdict::unclear
               : numerics_report::module_verdict::adds;
}

} // namespace detail

/// Compares the values of two runs, module by module of the first model. A value is read once.
/// Requires: both models keep their evidence.
/// Throws: `error` for values that cannot be read, or as `options.bounds.check()`.
/// Complexity: O(bytes of the values), in memory that does not depend on them.
[[nodiscard]] inline numerics_report compare_numerics(const observed_model& a,
                                                      const observed_model& b,
                                                      const numerics_options& options = {}) {
    options.bounds.check();
    numerics_report report;
    report.bounds = options.bounds;
    const auto& model = a.opened->model();
    const auto& tree = a.opened->modules().index();
    auto asked = options.modules;
    asked.resize(tree.size(), asked.empty());
    std::unordered_map<id, id> place; // of a value: its index among those compared
    for (auto& pair : detail::pair_values(a, b, options.pairs)) {
        numerics_report::compared_value compared{std::move(pair), {}, false};
        const auto name = model.value_name(compared.pair.value);
        const auto mine = a.values->find(name);
        const auto other = b.values->find(compared.pair.other);
        compared.difference = detail::compare_values(*mine, *other);
        compared.exceeds =
            !compared.difference || options.bounds.are_exceeded(*compared.difference);
        a.values->release(name);
        b.values->release(compared.pair.other);
        const auto producer = model.producer(compared.pair.value);
        const auto at = static_cast<id>(report.values.size());
        place.emplace(compared.pair.value, at);
        if (producer == no_id) {
            report.unequal_inputs +=
                compared.difference && compared.difference->identical ? 0U : 1U;
        } else if (compared.exceeds && report.first_value == no_id) {
            auto m = a.opened->tags().attributions[producer].module;
            while (m != 0 && !asked[m]) {
                m = tree.parent(m);
            }
            report.first_module = m;
            report.first_value = at;
        }
        report.values.push_back(std::move(compared));
    }
    for (id m = 0; m < tree.size(); ++m) {
        if (!asked[m] || a.borders.outputs[m].empty()) {
            continue;
        }
        numerics_report::of_module numbers;
        numbers.module = m;
        numbers.outputs = a.borders.outputs[m].size();
        for (const auto value : a.borders.inputs[m]) {
            const auto entry = place.find(value);
            const auto producer = model.producer(value);
            // An optimizer may have computed what depends on weights only.
            numbers.reads_uncompared =
                numbers.reads_uncompared ||
                (entry == place.end() && (producer == no_id || !a.borders.fixed[producer]));
            if (entry != place.end()) {
                const auto& read = report.values[entry->second];
                detail::keep_worst(numbers.incoming, read);
                numbers.reads_exceeding = numbers.reads_exceeding || read.exceeds;
            }
        }
        for (const auto value : a.borders.outputs[m]) {
            if (const auto entry = place.find(value); entry != place.end()) {
                const auto& compared = report.values[entry->second];
                detail::keep_worst(numbers.outgoing, compared);
                ++numbers.compared;
                numbers.first =
                    compared.exceeds ? std::min(numbers.first, entry->second) : numbers.first;
            }
        }
        numbers.verdict = detail::verdict_of(numbers, options.bounds);
        report.modules.push_back(std::move(numbers));
    }
    return report;
}

namespace detail {

// JSON has no infinity; infinite ratios are null, larger differences the largest double.
inline constexpr double lowest_sqnr = -999;

template <class Json>
void write_difference(Json& json, const value_difference& by) {
    json.begin_object(true);
    json.member("elements", by.elements);
    json.member("identical", by.identical);
    json.member("max_abs", std::min(by.max_abs, std::numeric_limits<double>::max()));
    json.member("max_rel", std::min(by.max_rel, std::numeric_limits<double>::max()));
    json.member("cosine", by.cosine);
    json.member("sqnr", std::isfinite(by.sqnr) || by.sqnr > 0 ? by.sqnr : lowest_sqnr);
    json.member("unequal_nonfinite", by.unequal_nonfinite);
    json.end_object();
}

} // namespace detail

/// Writes a report as JSON (`stemma.numerics/1`). An infinite ratio is `null`; that of a value that
/// should be all zeros is -999. Differences beyond the largest double are written as the largest
/// double. Complexity: O(length of the result).
template <text_sink Sink>
void write_json(Sink& sink, const numerics_report& report, const observed_model& a,
                const observed_model& b) {
    const auto& model = a.opened->model();
    const auto& modules = a.opened->modules();
    detail::write_document(sink, "stemma.numerics/1", [&](auto& json) {
        json.member("model", model.file());
        json.member("other", b.opened->model().file());
        json.object("bounds", [&] {
            const std::pair<std::string_view, std::optional<double>> bounds[] = {
                {"max_abs", report.bounds.max_abs},
                {"max_rel", report.bounds.max_rel},
                {"min_cosine", report.bounds.min_cosine},
                {"min_sqnr", report.bounds.least_sqnr()}};
            for (const auto& [name, bound] : bounds) {
                json.key(name);
                bound ? json.value(*bound) : json.null();
            }
        });
        json.key("first");
        if (report.first_value == no_id) {
            json.null();
        } else {
            json.begin_object(true);
            json.member("module", modules.path(report.first_module));
            json.member("value", model.value_name(report.values[report.first_value].pair.value));
            json.end_object();
        }
        json.member("unequal_inputs", report.unequal_inputs);
        const auto write_optional = [&](std::string_view key,
                                        const std::optional<value_difference>& by) {
            json.key(key);
            by ? detail::write_difference(json, *by) : json.null();
        };
        json.objects("modules", report.modules, [&](const auto& one) {
            json.member("module", modules.path(one.module));
            json.member("class", modules.class_name(one.module));
            json.member("verdict", to_string(one.verdict));
            json.member("outputs", one.outputs);
            json.member("compared", one.compared);
            write_optional("incoming", one.incoming);
            write_optional("outgoing", one.outgoing);
            write_optional("own", one.own);
        });
        json.objects("values", report.values, [&](const auto& one) {
            json.member("name", model.value_name(one.pair.value));
            json.member("other", one.pair.other);
            json.member("paired_by", to_string(one.pair.how));
            const auto producer = model.producer(one.pair.value);
            json.key("module");
            producer == no_id
                ? json.null()
                : json.value(modules.path(a.opened->tags().attributions[producer].module));
            json.member("exceeds", one.exceeds);
            write_optional("difference", one.difference);
        });
    });
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_NUMERICS_COMPARE_NUMERICS_HPP
