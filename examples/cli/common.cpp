// SPDX-License-Identifier: Apache-2.0
#include "common.hpp"

#include <stemma/core/text_list.hpp>
#include <stemma/error.hpp>
#include <stemma/io/json_text.hpp>
#include <stemma/onnx/external_data.hpp>
#include <stemma/onnx/model_file.hpp>
#include <stemma/open/model_notes.hpp>
#include <stemma/open/original_model.hpp>
#include <stemma/weights/identify_parameters.hpp>
#include <stemma/weights/write_parameters.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <iterator>

namespace cli {

std::string number_up_to(const std::string& text, double most) {
    double number = -1;
    const bool fits = CLI::detail::lexical_cast(text, number) && number >= 0 && number <= most;
    const auto end = std::isinf(most) ? std::string() : fmt::format(" to {}", most);
    return fits ? std::string() : fmt::format("'{}' is not a number from 0{}", text, end);
}

CLI::Option* command_line::choice(const char* names, std::string& to, const std::string& words,
                                  const std::string& text) const {
    auto list = words;
    std::replace(list.begin(), list.end(), '|', ',');
    return value(names, to, words, text, to)->check(CLI::IsMember(stemma::split_list(list)));
}

void command_line::common(common_options& options, const std::string& formats,
                          const char* model_name) const {
    auto& how = options.attribution;
    auto& names = options.policies;
    const auto& registry = known_policies();
    model(options.model, model_name);
    captures(options.captures, "capture of what PyTorch knew (JSON), or the ONNX file that "
                               "MODEL was made from; repeatable");
    value("--select", names.selection, "S",
          "modules that get tags: " + registry.selections.names());
    list("--keep", names.keep, "CLASS,...",
         "infrastructure classes to tag as well, such as LayerNorm");
    value("--naming", names.naming, "N", "format of tags: " + registry.namings.names());
    value("--resolve", names.resolution, "R",
          "which claim wins when sources disagree: " + registry.resolutions.names());
    value("--propagate", names.propagation, "P",
          "rule for nodes without evidence: " + registry.propagations.names());
    list("--sources", names.sources, "S,...",
         "evidence to use: " + stemma::policy_names::all_sources(registry));
    value("--min-confidence", how.min_confidence, "X", "ignore claims with less confidence, 0 to 1")
        ->check([](const std::string& text) { return number_up_to(text, 1); });
    flag("--recompute", how.recompute, "ignore tags in the file");
    format(options.format, formats);
    quiet(options.quiet);
    threads();
    options.rules = rules_;
}

CLI::Option* command_line::written(const char* names, std::string& to, const std::string& type,
                                   const std::string& text,
                                   const std::string& shown_default) const {
    const std::string all = names;
    rules_->outputs.emplace_back(all.substr(all.rfind(',') + 1), &to);
    const bool may_be_dash = to == "-";
    return value(names, to, type, text, shown_default)->check([=](const std::string& path) {
        return path.empty()                  ? "is empty"
               : path == "-" && !may_be_dash ? "'-' is not a file; standard output is /dev/stdout"
                                             : std::string();
    });
}

namespace {

/// Whether two paths name one file, which may not exist yet; devices such as /dev/null do not
/// count.
bool are_same_file(const std::string& path, const std::string& other) {
    namespace fs = std::filesystem;
    std::error_code ignored;
    if (fs::exists(path, ignored)) {
        return fs::is_regular_file(path, ignored) && fs::equivalent(path, other, ignored);
    }
    const auto canonical = [&](const std::string& text) { // absolute, whatever exists of it
        return fs::weakly_canonical(fs::absolute(text, ignored), ignored);
    };
    return canonical(path) == canonical(other);
}

bool is_output(const command_rules& rules, const CLI::Option& option) {
    return std::any_of(rules.outputs.begin(), rules.outputs.end(),
                       [&](const auto& output) { return option.check_name(output.first); });
}

/// Returns: the options and arguments of a command that name `path`, but for its outputs.
std::vector<const CLI::Option*> options_naming(const std::string& path,
                                               const command_rules& rules) {
    std::error_code ignored;
    std::vector<const CLI::Option*> naming;
    if (!std::filesystem::is_regular_file(path, ignored)) {
        return naming;
    }
    for (const auto* option : rules.command->get_options()) {
        const auto& texts = option->results();
        if (!is_output(rules, *option) &&
            std::any_of(texts.begin(), texts.end(),
                        [&](const std::string& text) { return are_same_file(path, text); })) {
            naming.push_back(option);
        }
    }
    return naming;
}

} // namespace

std::vector<std::string> files_read(const command_rules& rules) {
    std::vector<std::string> files;
    for (const auto* option : rules.command->get_options()) {
        if (!is_output(rules, *option)) {
            const auto& texts = option->results();
            std::copy_if(texts.begin(), texts.end(), std::back_inserter(files),
                         [](const std::string& text) {
                             std::error_code ignored;
                             return std::filesystem::is_regular_file(text, ignored);
                         });
        }
    }
    return files;
}

void check_output(const command_rules& rules, const std::string& option, const std::string& path,
                  bool may_be_model) {
    for (const auto* read : options_naming(path, rules)) {
        const bool is_model = rules.model != nullptr && read->get_positional() &&
                              read->results() == std::vector{*rules.model};
        if (!is_model || !may_be_model) {
            throw stemma::error(stemma::error_code::refused, path, option,
                                "would overwrite an input file: " + read->get_name());
        }
    }
}

void check_rules(const command_rules& rules) {
    for (const auto& [option, fits, why] : rules.options) {
        if (option->count() > 0 && !fits()) {
            throw refused(option->get_name(), why);
        }
    }
    std::string to_standard_output; // the option of that output
    std::vector<std::pair<std::string, const std::string*>> earlier;
    bool may_be_model = rules.in_place;
    for (const auto& [option, path] : rules.outputs) {
        const bool is_first = std::exchange(may_be_model, false);
        if (is_standard_output(*path) || *path == "-") {
            if (!to_standard_output.empty()) {
                throw stemma::error(stemma::error_code::refused, *path, option,
                                    "names the same file as " + to_standard_output);
            }
            to_standard_output = option;
        }
        if (path->empty() || *path == "-") {
            continue;
        }
        check_output(rules, option, *path, is_first);
        for (const auto& [other, written] : earlier) {
            if (are_same_file(*path, *written)) {
                throw stemma::error(stemma::error_code::refused, *path, option,
                                    "names the same file as " + other);
            }
        }
        earlier.emplace_back(option, path);
    }
}

void make_way_for_outputs(const command_rules& rules) {
    for (const auto& output : rules.outputs) {
        if (is_standard_output(*output.second)) {
            divert_standard_output();
        }
    }
}

void command_line::needs_output(const std::string& output, const std::string& sidecar) const {
    for (const auto* option : {"--carrier", "--data", "--force"}) {
        applies(option, "requires -o", [&output] { return !output.empty(); });
    }
    for (const auto* option : {"--with", "--no-sync"}) {
        applies(option, "requires -o or --sidecar",
                [&output, &sidecar] { return !output.empty() || !sidecar.empty(); });
    }
}

void command_line::output(output_options& to) const {
    written("-o,--output", to.path, "OUT", "write the result here instead of to standard output");
    no_sync(to.no_sync);
    applies("--no-sync", "requires -o", [rules = rules_.get()] {
        return std::any_of(rules->outputs.begin(), rules->outputs.end(), [](const auto& one) {
            return !one.second->empty() && *one.second != "-";
        });
    });
}

stemma::cost_options cost_options_of(const std::vector<std::string>& dims) {
    stemma::cost_options options;
    for (const auto& text : dims) {
        const auto equals = text.rfind('=');
        std::int64_t size = -1;
        const auto* end = text.data() + text.size();
        if (equals == text.npos || equals == 0 ||
            std::from_chars(text.data() + equals + 1, end, size).ptr != end || size < 0) {
            throw refused("--dim " + text, "is not NAME=N");
        }
        if (!options.dims.emplace(text.substr(0, equals), size).second) {
            throw refused("--dim " + text, "this dimension already has a value");
        }
    }
    return options;
}

stemma::write_options writing(const output_options& output) {
    return {stemma::parse_name<stemma::data_placement>(output.data).value(), output.force,
            !output.no_sync, false, sources_to_write(output)};
}

namespace {

bool has_part(const output_options& options, std::string_view part) {
    return std::find(options.with.begin(), options.with.end(), part) != options.with.end();
}

} // namespace

std::vector<std::string> parameters_to_write(const output_options& options,
                                             const stemma::attributed_model& opened) {
    return has_part(options, "parameters")
               ? stemma::parameter_texts(stemma::identify_parameters(opened))
               : std::vector<std::string>();
}

stemma::written_sources sources_to_write(const output_options& options) {
    for (const auto& word : options.with) {
        if (word != "source" && word != "parameters") {
            throw refused("--with",
                          fmt::format("unknown part '{}'; known: source, parameters", word));
        }
    }
    const bool source = has_part(options, "source");
    if (!source && options.full_paths) {
        throw refused("--full-paths", "requires --with source");
    }
    return !source              ? stemma::written_sources::as_before
           : options.full_paths ? stemma::written_sources::full_paths
                                : stemma::written_sources::shortened;
}

void command_line::with(output_options& to) const {
    list("--with", to.with, "PART,...",
         "keep more than tags: source, the Python line of each node; parameters, the state dict "
         "entry behind each initializer");
    flag("--full-paths", to.full_paths, "keep full paths of source files");
    applies("--with", "parameters requires -o",
            [&to] { return !has_part(to, "parameters") || !to.path.empty(); });
}

void note(const common_options& options, std::string_view text) {
    if (!options.quiet) {
        print_error(text);
    }
}

void note_gaps(const common_options& options, const stemma::model_cost& cost) {
    for (const auto& text : cost.gaps()) {
        note(options, text);
    }
}

namespace {

/// Returns: a name shortened and made printable for messages.
std::string short_name(std::string_view name) {
    constexpr std::size_t most = 100;
    std::string text;
    stemma::append_json_string(name.substr(0, 8 * most), text);
    return shortened(std::string_view(text).substr(1, text.size() - 2), most);
}

} // namespace

std::string first_names(const std::vector<std::string>& names) {
    constexpr std::size_t most = 5;
    std::string text;
    for (std::size_t i = 0; i < std::min(most, names.size()); ++i) {
        text.append(i == 0 ? "" : ", ").append(short_name(names[i]));
    }
    return text.append(names.size() > most ? ", \xe2\x80\xa6" : "");
}

std::unique_ptr<stemma::attributed_model>
open_model(const common_options& options,
           const std::function<void(const stemma::wire_model&)>& meanwhile) {
    auto how = options.policies.found_in(known_policies(), options.attribution);
    how.captures = stemma::captures_or_original(options.captures);
    auto file = std::make_unique<const stemma::model_file>(options.model);
    if (options.rules) {
        for (const auto& output : options.rules->outputs) {
            if (!output.second->empty() && *output.second != "-") {
                stemma::detail::refuse_own_data(file->model(), *output.second);
            }
        }
    }
    std::optional<stemma::task_beside> beside;
    if (meanwhile) {
        beside.emplace(file->model().node_count(),
                       [&meanwhile, &opened_model = file->model()] { meanwhile(opened_model); });
    }
    auto opened = std::make_unique<stemma::attributed_model>(std::move(file), std::move(how));
    if (beside) {
        beside->wait();
    }
    if (!options.quiet) {
        print_notes(*opened);
    }
    return opened;
}

void print_notes(const stemma::attributed_model& opened) {
    for (const auto& one : stemma::model_notes(opened)) {
        auto text = one.place.empty() ? std::string() : one.place + ": ";
        if (one.node != stemma::no_id) {
            text += fmt::format("node '{}': ", short_name(opened.model().name(one.node)));
        }
        print_error(text.append(one.text).append(
            one.code == "tree.unnamed" ? "; pass a capture with -m" : ""));
    }
}

void warn_of_external_data(const common_options& options, const std::string& output,
                           const std::vector<std::string>& files) {
    if (!files.empty()) {
        note(options,
             fmt::format("{}: the weights stay in '{}' beside {}, where runtimes do not look: use "
                         "--data link or --data copy",
                         output, files.front(), options.model));
    }
}

void warn_of_external_data(const common_options& options, const std::string& output,
                           const stemma::wire_model& model, std::string_view data) {
    warn_of_external_data(
        options, output,
        stemma::files_left_behind(model, output,
                                  stemma::parse_name<stemma::data_placement>(data).value()));
}

} // namespace cli
