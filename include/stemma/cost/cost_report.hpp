// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_COST_COST_REPORT_HPP
#define STEMMA_COST_COST_REPORT_HPP

#include <stemma/core/id.hpp>
#include <stemma/cost/model_cost.hpp>
#include <stemma/io/detail/csv_text.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma/record/module_statistics.hpp>
#include <stemma/types/polynomial.hpp>

#include <cmath>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI {

namespace detail {

/// Writes a number, as a string if symbolic, null if unknown.
template <text_sink Sink>
void write_amount(json_writer<Sink>& json, std::string_view name, const model_cost& cost,
                  const polynomial& amount) {
    json.key(name);
    if (const auto number = amount.constant()) {
        json.value(*number);
    } else if (amount.is_known()) {
        json.value(cost.text(amount));
    } else {
        json.null();
    }
}

[[nodiscard]] inline std::vector<id> all_modules_of(const attributed_model& opened) {
    std::vector<id> modules(opened.modules().size());
    std::iota(modules.begin(), modules.end(), id{0});
    return modules;
}

} // namespace detail

/// Writes the costs of modules (`stemma.cost/1`). Complexity: O(length).
template <text_sink Sink>
void write_json(Sink& sink, const model_cost& cost, const attributed_model& opened,
                std::span<const id> modules, const module_statistics& counts) {
    detail::write_document(sink, "stemma.cost/1", [&](auto& json) {
        json.member("model", opened.model().file());
        json.values("dimensions", cost.open_dims());
        json.object("unlisted", [&] {
            for (const auto& [op, nodes] : cost.unlisted()) {
                json.member(op, nodes);
            }
        });
        json.member("unknown_values", cost.unknown_values());
        json.list("modules", modules, [&](auto m) {
            const auto& one = cost[m];
            json.begin_object(true);
            json.member("path", opened.modules().path(m));
            json.member_or_null("class", opened.modules().class_name(m));
            detail::write_amount(json, "macs", cost, one.macs);
            detail::write_amount(json, "flops", cost, one.flops);
            detail::write_amount(json, "own_macs", cost, cost.own(m).macs);
            detail::write_amount(json, "own_flops", cost, cost.own(m).flops);
            json.member("parameters", counts.stored[m]);
            json.member("bytes", counts.bytes[m]);
            detail::write_weights(json, counts.weights[m]);
            detail::write_amount(json, "in", cost, one.in);
            detail::write_amount(json, "out", cost, one.out);
            detail::write_amount(json, "peak", cost, one.peak);
            detail::write_amount(json, "activations", cost, one.activations);
            json.member("unknown", one.unknown);
            json.member("loops", one.loops);
            json.end_object();
        });
    });
}

/// The same for all modules. Complexity: O(length), and that of `collect_statistics`.
template <text_sink Sink>
void write_json(Sink& sink, const model_cost& cost, const attributed_model& opened) {
    write_json(sink, cost, opened, detail::all_modules_of(opened),
               collect_statistics(opened.model(), opened.modules(), opened.tags()));
}

/// Writes the same as CSV. Complexity: O(length).
template <text_sink Sink>
void write_csv(Sink& sink, const model_cost& cost, const attributed_model& opened,
               std::span<const id> modules, const module_statistics& counts) {
    sink.write("module,class,macs,flops,parameters,bytes,in,out,peak,unknown,loops,activations\n");
    for (auto m : modules) {
        const auto& one = cost[m];
        sink.write(detail::csv_row(opened.modules().path(m), opened.modules().class_name(m),
                                   cost.text(one.macs), cost.text(one.flops), counts.stored[m],
                                   counts.bytes[m], cost.text(one.in), cost.text(one.out),
                                   cost.text(one.peak), one.unknown, one.loops,
                                   cost.text(one.activations)));
    }
}

/// The same for all modules. Complexity: as above.
template <text_sink Sink>
void write_csv(Sink& sink, const model_cost& cost, const attributed_model& opened) {
    write_csv(sink, cost, opened, detail::all_modules_of(opened),
              collect_statistics(opened.model(), opened.modules(), opened.tags()));
}

/// Writes the costs of those nodes of the main graph, including everything inside, as CSV, for
/// typical symbolic extents. Unknown numbers, and those beyond 64 bits, are left out. Complexity:
/// O(length).
template <text_sink Sink>
void write_csv(Sink& sink, const model_cost& cost, const attributed_model& opened,
               std::span<const id> nodes) {
    const auto& model = opened.model();
    sink.write("index,name,op_type,module,macs,flops,bytes\n");
    for (const auto node : nodes) {
        if (model.graph_of(node) == 0) {
            const auto cell = [](double number, bool is_known) {
                constexpr double most = 9.2e18;
                return is_known && number < most ? std::to_string(std::llround(number))
                                                 : std::string();
            };
            sink.write(
                detail::csv_row(model.position(node), model.name(node), model.op_type(node),
                                opened.modules().path(opened.tags().attributions[node].module),
                                cell(cost.node_macs(node), cost.knows_cost(node)),
                                cell(cost.node_flops(node), cost.knows_cost(node)),
                                cell(cost.node_bytes(node), cost.knows_bytes(node))));
        }
    }
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_COST_COST_REPORT_HPP
