// SPDX-License-Identifier: Apache-2.0
#include "common.hpp"
#include "report.hpp"

#include <stemma/cost/model_cost.hpp>
#include <stemma/cost/module_times.hpp>
#include <stemma/cost/profile_readers.hpp>
#include <stemma/query/alike_modules.hpp>
#include <stemma/record/module_statistics.hpp>
#include <stemma/report/export_model.hpp>
#include <stemma/report/tree_rows.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cli {

namespace {

using stemma::id;

struct tree_options {
    common_options common;
    id depth = stemma::no_id;
    std::string module;
    std::vector<std::string> columns{"nodes", "parameters", "operators"};
    std::string sort;
    std::vector<std::string> dims;
    std::vector<std::string> profiles;
    bool all = false;
};

/// Facts about modules, as far as the shown columns need them.
struct tree_numbers {
    stemma::module_statistics counts;
    std::optional<stemma::model_cost> cost;
    std::optional<stemma::module_times> times;
};

/// What a column requires.
enum class column_source { counts, cost, times };

/// A column of numbers.
struct number_column {
    std::string_view name;
    std::size_t width;
    column_source source;
    double (*number)(const tree_numbers& numbers, id m);
    std::string (*text)(double number);
};

std::string whole_text(double number) {
    return grouped(static_cast<std::uint64_t>(number));
}

std::string stored_text(double number) {
    return stemma::bytes_text(static_cast<std::uint64_t>(number));
}

std::string rounded_text(double number) {
    return stemma::short_number(std::llround(std::min(number, 0x1p62)));
}

double per_run(const tree_numbers& numbers, id m) {
    return numbers.times->per_run((*numbers.times)[m].microseconds);
}

template <stemma::cost_measure Measure>
double cost_of(const tree_numbers& numbers, id m) {
    return numbers.cost->estimate(m, Measure);
}

constexpr number_column number_columns[] = {
    {"nodes", 8, column_source::counts,
     [](const auto& numbers, id m) { return static_cast<double>(numbers.counts.nodes[m]); },
     whole_text},
    {"own", 8, column_source::counts,
     [](const auto& numbers, id m) { return static_cast<double>(numbers.counts.own_nodes[m]); },
     whole_text},
    {"parameters", 13, column_source::counts,
     [](const auto& numbers, id m) { return static_cast<double>(numbers.counts.parameters[m]); },
     whole_text},
    {"bytes", 9, column_source::counts,
     [](const auto& numbers, id m) { return static_cast<double>(numbers.counts.bytes[m]); },
     stored_text},
    {"macs", 8, column_source::cost, cost_of<stemma::cost_measure::macs>, rounded_text},
    {"flops", 8, column_source::cost, cost_of<stemma::cost_measure::flops>, rounded_text},
    {"activations", 11, column_source::cost, cost_of<stemma::cost_measure::activations>,
     rounded_text},
    {"time", 12, column_source::times, per_run,
     [](double number) { return fmt::format("{:.3f} ms", number / 1000); }},
};

const number_column* find_column(std::string_view name) {
    const auto* entry = std::find_if(std::begin(number_columns), std::end(number_columns),
                                     [&](const auto& column) { return column.name == name; });
    return entry == std::end(number_columns) ? nullptr : entry;
}

class tree_printer {
public:
    tree_printer(const stemma::attributed_model& opened, const std::vector<bool>& shown,
                 const tree_options& options, const tree_numbers& numbers)
        : opened_(opened)
        , modules_(opened.modules())
        , tree_(modules_.index())
        , depth_(options.depth)
        , numbers_(numbers)
        , counts_(numbers.counts)
        , sorted_by_(find_column(options.sort)) {
        for (const auto& name : options.columns) {
            shows_operators_ = shows_operators_ || name == "operators";
            if (const auto* column = find_column(name)) {
                columns_.push_back(column);
            }
        }
        stemma::alike_modules alike(opened.model(), modules_, opened.tags().attributions);
        stemma::tree_listing how;
        if (!options.all && !numbers.times) { // times differ anyway
            how.alike = [&](id a, id b) {
                return are_numbered(a, b) && alike(a, b) && have_same_costs(a, b);
            };
        }
        if (sorted_by_ != nullptr) {
            how.largest = [&](id m) { return sorted_by_->number(numbers_, m); };
        }
        rows_ = stemma::list_tree(tree_, shown, how);
        find_widths();
    }

    void print() const {
        auto head = fitted("module", widest_);
        for (const auto* column : columns_) {
            head += " " + right_aligned(column->name, column->width);
        }
        put("{}\n", shaded(head + (shows_operators_ ? "  operators" : ""), shade::dim));
        std::vector<bool> ends; // by depth, whether the line above is the last of its parent
        for (const auto& row : rows_) {
            ends.resize(tree_.depth(row.module));
            if (!ends.empty()) {
                ends.back() = row.is_last;
            }
            print_row(row, branches(ends));
        }
        put("{}\n", shaded(fmt::format("{}, {}, {}{}", counted(modules_.size(), "module"),
                                       counted(opened_.model().node_count(), "node"),
                                       counted(counts_.parameters[0], "parameter"), stored()),
                           shade::dim));
        for (const auto& text :
             numbers_.cost ? numbers_.cost->gaps() : std::vector<std::string>()) {
            put("{}\n", shaded(text, shade::dim));
        }
        if (numbers_.times) {
            print_times();
        }
    }

private:
    static constexpr std::size_t max_branches = 64;

    void print_times() const {
        const auto& times = *numbers_.times;
        const auto rest = times.unmatched().empty()
                              ? std::string()
                              : fmt::format(", of which {:.3f} ms without a node",
                                            times.per_run(times.unmatched_total()) / 1000);
        put("{}\n",
            shaded(fmt::format("{:.3f} ms per run in {}{}", times.per_run(times.total()) / 1000,
                               counted(times.runs(), "run"), rest),
                   shade::dim));
    }

    /// Sets the widths of names and lines. Output for programs keeps full names.
    void find_widths() {
        for (const auto& row : rows_) {
            const auto indent = 3 * std::min<std::size_t>(tree_.depth(row.module), max_branches);
            widest_ = std::max(widest_, indent + std::max(width_of(label(row)), least_label));
        }
        std::size_t numbers = 0;
        for (const auto* column : columns_) {
            numbers += column->width + 1;
        }
        constexpr std::size_t most = 200;
        constexpr std::size_t notes = 18; // `  24 x 109 nodes`, or the first operators
        const auto width = line_width();
        const auto room =
            std::max(width > numbers + notes ? width - numbers - notes : 0, width / 3);
        const auto wanted = widest_;
        widest_ = std::clamp<std::size_t>(widest_, 6, is_terminal() ? room : most);
        if (wanted > widest_) { // deep levels leave room for a name
            levels_ = std::clamp<std::size_t>(widest_ / 3, 4, max_branches + 3) - 3;
        }
        width_ = is_terminal() ? width : std::max(width, widest_ + numbers + notes);
    }

    /// Whether two names differ at most in a trailing number that is larger in the second, like `0`
    /// and `1`, or `layer_0` and `layer_1`: others keep separate lines, however alike the modules
    /// are.
    [[nodiscard]] bool are_numbered(id a, id b) const {
        const std::string_view first = modules_.name(a);
        const std::string_view second = modules_.name(b);
        const auto digits = [](std::string_view name) { return name.substr(number_at(name)); };
        const auto is_less = [](std::string_view x, std::string_view y) {
            return std::pair(x.size(), x) < std::pair(y.size(), y);
        };
        return !digits(first).empty() && is_less(digits(first), digits(second)) &&
               first.substr(0, number_at(first)) == second.substr(0, number_at(second));
    }

    /// Whether two modules that are alike, and the parts of both, have the same numbers in the
    /// columns of costs, which depend on the shapes of inputs.
    [[nodiscard]] bool have_same_costs(id a, id b) const {
        const auto is_same = [&](const number_column* column) {
            if (column == nullptr || column->source != column_source::cost) {
                return true;
            }
            for (id i = 0; a + i < tree_.end(a); ++i) {
                if (column->number(numbers_, a + i) != column->number(numbers_, b + i)) {
                    return false;
                }
            }
            return true;
        };
        return is_same(sorted_by_) && std::all_of(columns_.begin(), columns_.end(), is_same);
    }

    /// Returns: where the digits at the end of a name begin.
    [[nodiscard]] static std::size_t number_at(std::string_view name) {
        return name.find_last_not_of("0123456789") + 1;
    }

    /// The branches drawn before a module: `│  ├─ `.
    [[nodiscard]] std::string branches(const std::vector<bool>& ends) const {
        // Drawing all levels of a very deep tree would be quadratic in its depth.
        std::string text;
        const auto first = ends.size() > levels_ ? ends.size() - levels_ : 0;
        for (std::size_t d = first; d < ends.size(); ++d) {
            if (d + 1 == ends.size()) {
                text += ends[d] ? "\xe2\x94\x94\xe2\x94\x80 " : "\xe2\x94\x9c\xe2\x94\x80 ";
            } else if (d == first && d > 0) { // how many are not drawn
                text += fmt::format("\xe2\x80\xa6{:<2}", std::min<std::size_t>(d + 1, 99));
            } else {
                text += ends[d] ? "   " : "\xe2\x94\x82  ";
            }
        }
        return text;
    }

    /// The parameters in the file, by type: ` (16,064 in the file: int8 16.0 kB)`.
    [[nodiscard]] std::string stored() const {
        const auto types = stemma::weights_text(counts_.weights[0]);
        const auto differs = counts_.stored[0] != counts_.parameters[0];
        return types.empty() ? std::string()
               : differs ? fmt::format(" ({} in the file: {})", grouped(counts_.stored[0]), types)
                         : fmt::format(" ({})", types);
    }

    /// The segment of the tag, or the class of a module without a tag or of several.
    [[nodiscard]] std::string class_text(const stemma::tree_row& row) const {
        const auto m = row.module;
        if (modules_.class_name(m).empty()) {
            return {};
        }
        return line_text(row.count == 1 && opened_.tags().tags.is_selected(m)
                             ? opened_.tags().tags.segment(m)
                             : modules_.class_name(m));
    }

    /// `0`, or `0-23` of several, `layer_0-23`.
    [[nodiscard]] std::string name_text(const stemma::tree_row& row) const {
        const auto m = row.module;
        if (m == 0) {
            return !modules_.class_name(0).empty() ? std::string()
                   : modules_.name(0).empty()      ? std::string("model")
                                                   : line_text(modules_.name(0));
        }
        const std::string_view last = modules_.name(row.last);
        return line_text(modules_.name(m)) +
               (row.count == 1 ? "" : fmt::format("-{}", last.substr(number_at(last))));
    }

    [[nodiscard]] std::string label(const stemma::tree_row& row) const {
        const auto name = name_text(row);
        const auto type = class_text(row);
        return name.empty() || type.empty() ? name + type : name + " " + type;
    }

    /// Bright for large parts of the model, dim for tiny ones.
    [[nodiscard]] shade shade_of(const number_column& column, id m) const {
        const auto all = column.number(numbers_, 0);
        const auto part = column.number(numbers_, m);
        return part * 4 >= all && part > 0 ? shade::strong
               : part * 100 < all          ? shade::dim
                                           : shade::number;
    }

    /// Returns: name and class in shades, padded to a width; the class is cut first.
    [[nodiscard]] std::string label_in(const stemma::tree_row& row, std::size_t width) const {
        constexpr std::size_t least = 5; // the shortest useful class
        const auto name = shortened(name_text(row), width);
        const auto used = width_of(name) + (name.empty() ? 0 : 1);
        auto type = class_text(row);
        type = width_of(type) + used <= width ? type
               : used + least <= width        ? shortened(type, width - used)
                                              : std::string();
        const bool both = !name.empty() && !type.empty();
        const auto shown = width_of(name) + width_of(type) + (both ? 1 : 0);
        return shaded(name, shade::strong) + (both ? " " : "") +
               shaded(type,
                      opened_.tags().tags.is_selected(row.module) ? shade::name : shade::dim) +
               std::string(width - std::min(shown, width), ' ');
    }

    void print_row(const stemma::tree_row& row, const std::string& indent) const {
        const auto m = row.module;
        auto line =
            label_in(row, widest_ > width_of(indent) + least_label ? widest_ - width_of(indent)
                                                                   : least_label);
        std::size_t used = widest_;
        for (const auto* column : columns_) {
            line += " " +
                    shaded(right_aligned(column->text(column->number(numbers_, m)), column->width),
                           shade_of(*column, m));
            used += column->width + 1;
        }
        const bool hides = tree_.depth(m) == depth_ && tree_.end(m) > m + 1;
        std::string notes;
        if (hides) {
            notes = fmt::format("  (+{})", counted(tree_.end(m) - m - 1, "module"));
        }
        if (row.count > 1) {
            notes +=
                fmt::format("  {} x {}", grouped(row.count), counted(counts_.nodes[m], "node"));
            constexpr std::string_view alike = ", alike";
            notes += used + notes.size() + alike.size() <= width_ ? alike : std::string_view();
        }
        std::string rest;
        if (shows_operators_ && width_ > used + 4 + notes.size()) {
            rest = top_operators(opened_.model(), counts_.operators[m],
                                 width_ - used - 3 - notes.size());
        }
        rest += rest.empty() && !notes.empty() ? notes.substr(2) : notes;
        put("{}{}{}{}\n", shaded(indent, shade::dim), line, rest.empty() ? "" : "  ",
            shaded(rest, shade::dim));
    }

    const stemma::attributed_model& opened_;
    const stemma::module_tree& modules_;
    const stemma::tree_index& tree_;
    static constexpr std::size_t least_label = 8; // room for a name at any depth

    id depth_;
    const tree_numbers& numbers_;
    const stemma::module_statistics& counts_;
    const number_column* sorted_by_; // null for the order of the tree
    std::vector<const number_column*> columns_;
    bool shows_operators_ = false;
    std::vector<stemma::tree_row> rows_;
    std::size_t widest_ = 0;            // of names
    std::size_t width_ = 0;             // of lines
    std::size_t levels_ = max_branches; // drawn, the innermost
};

/// Collects what the columns need. Throws: `error` of `error_code::refused` for columns without the
/// options they need, and vice versa.
tree_numbers find_numbers(const stemma::attributed_model& opened, const tree_options& options) {
    const auto uses = [&](column_source source) {
        const auto is_of = [&](const std::string& name) {
            const auto* column = find_column(name);
            return column != nullptr && column->source == source;
        };
        return is_of(options.sort) ||
               std::any_of(options.columns.begin(), options.columns.end(), is_of);
    };
    if (uses(column_source::times) == options.profiles.empty()) {
        throw refused(options.profiles.empty() ? "time" : "--profile",
                      options.profiles.empty() ? "requires --profile FILE"
                                               : "requires --columns or --sort with time");
    }
    if (!uses(column_source::cost) && !options.dims.empty()) {
        throw refused("--dim", "requires columns macs, flops or activations");
    }
    tree_numbers numbers;
    numbers.counts = stemma::collect_statistics(opened.model(), opened.modules(), opened.tags());
    if (uses(column_source::cost)) {
        numbers.cost = stemma::find_cost(opened, cost_options_of(options.dims));
    }
    if (uses(column_source::times)) {
        numbers.times.emplace(stemma::read_profiles(options.profiles), opened);
    }
    return numbers;
}

int tree(tree_options options) {
    auto& columns = options.columns;
    const bool has_time = std::find(columns.begin(), columns.end(), "time") != columns.end();
    if (!options.profiles.empty() && !has_time) { // before the operators, which come last
        columns.insert(std::find(columns.begin(), columns.end(), "operators"), "time");
    }
    const auto opened = open_model(options.common);
    const auto shown = stemma::find_branches(*opened, options.module, options.depth);
    if (options.common.format == "json") {
        standard_output out;
        stemma::write_tree(out, *opened, shown);
    } else {
        const auto numbers = find_numbers(*opened, options);
        const pager paged;
        tree_printer(*opened, shown, options, numbers).print();
    }
    return done;
}

} // namespace

void add_tree(CLI::App& app, action& chosen) {
    add_command<tree_options>(
        app, chosen, "tree", "show the modules with their nodes, parameters and operators", tree,
        [](command_line takes, tree_options& options) {
            takes.common(options.common);
            takes.value("--depth", options.depth, "N", "levels below the root to show");
            takes.value("--module", options.module, "QUERY",
                        "show only these modules, with their ancestors and descendants");
            takes
                .list("--columns", options.columns, "C,...",
                      "columns to show: nodes, own, parameters, bytes, macs, flops, "
                      "activations, time; operators come last")
                ->check(CLI::IsMember({"nodes", "own", "parameters", "bytes", "macs", "flops",
                                       "activations", "time", "operators"}))
                ->transform(CLI::Validator(
                    [](std::string& word) {
                        word = word == "params" ? "parameters" : word;
                        return std::string();
                    },
                    ""));
            takes.choice("--sort", options.sort,
                         "nodes,own,parameters,bytes,macs,flops,activations,time",
                         "sort siblings, largest first");
            takes.dims(options.dims, "fix a symbolic dimension, for macs, flops "
                                     "and activations");
            takes
                .value("--profile", options.profiles, "FILE",
                       "a profile, as for `profile`: adds the column time")
                ->allow_extra_args(false);
            takes.flag("--all", options.all, "list every module, including identical ones");
            for (const auto* option : {"--columns", "--sort", "--dim", "--profile", "--all"}) {
                takes.applies_to(option, options.common, "text");
            }
            takes.footer("Examples:\n  stemma tree model.onnx\n  stemma tree model.onnx --depth 2\n"
                         "  stemma tree model.onnx --columns nodes,bytes --sort bytes\n"
                         "  stemma tree model.onnx --columns macs,flops --dim batch=1\n"
                         "  stemma tree optimized.onnx --profile profile.json --sort time\n"
                         "  stemma tree model.onnx --module 'encoder.layer.0'\n"
                         "  stemma tree model.onnx -m modules.json --format json");
        });
}

} // namespace cli
