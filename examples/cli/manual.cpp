// SPDX-License-Identifier: Apache-2.0
// The manual page and shell completion, generated from the declarations behind `--help`.
#include "common.hpp"

#include <stemma/core/text_list.hpp>
#include <stemma/open/policy_names.hpp>
#include <stemma/query/model_facts.hpp>
#include <stemma/version.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cli {

namespace {

template <class... Args>
void put_data(fmt::format_string<Args...> format, Args&&... args) {
    standard_output().write(fmt::format(format, std::forward<Args>(args)...));
}

using options_of_command = std::vector<const CLI::Option*>;

struct status_text {
    exit_status status;
    const char* meaning;
};

constexpr status_text statuses[] = {
    {done, "Done."},
    {found_something, "A check has findings, or nothing matched."},
    {bad_usage, "Invalid command line or query."},
    {bad_input, "An input is missing, truncated or malformed."},
    {cannot_write, "The output could not be written."},
};

std::string replaced(std::string text, std::string_view from, std::string_view to) {
    for (auto at = text.find(from); at != text.npos; at = text.find(from, at + to.size())) {
        text.replace(at, from.size(), to);
    }
    return text;
}

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
    auto commands =
        app.get_subcommands([](const CLI::App* command) { return !command->get_name().empty(); });
    std::sort(commands.begin(), commands.end(),
              [](auto* a, auto* b) { return a->get_name() < b->get_name(); });
    return commands;
}

options_of_command options_of(const CLI::App& command, bool positional) {
    return command.get_options(
        [&](const CLI::Option* option) { return option->get_positional() == positional; });
}

/// Returns: `-o` and `--output`.
std::vector<std::string> names_of(const CLI::Option& option) {
    std::vector<std::string> names;
    for (const auto& name : option.get_snames()) {
        names.push_back("-" + name);
    }
    for (const auto& name : option.get_lnames()) {
        names.push_back("--" + name);
    }
    return names;
}

bool takes_value(const CLI::Option& option) {
    return option.get_items_expected_max() > 0;
}

/// Returns: the placeholder of the value, without its check.
std::string value_of(const CLI::Option& option) {
    const auto type = option.get_type_name();
    return type.substr(0, type.find(':'));
}

/// Returns: the values allowed by a membership check, if any.
std::vector<std::string> choices_of(const CLI::Option& option) {
    const auto type = option.get_type_name();
    const auto open = type.find(":{");
    const auto close = type.find('}', open == type.npos ? 0 : open);
    return open == type.npos || close == type.npos
               ? std::vector<std::string>{}
               : stemma::split_list(std::string_view(type).substr(open + 2, close - open - 2));
}

/// Returns: the possible values: choices, or names of policies without their arguments.
std::vector<std::string> words_for(const CLI::Option& option) {
    const auto& registry = known_policies();
    const std::pair<const char*, std::string> roles[] = {
        {"--select", registry.selections.names()},
        {"--naming", registry.namings.names()},
        {"--resolve", registry.resolutions.names()},
        {"--propagate", registry.propagations.names()},
        {"--sources", stemma::policy_names::all_sources(registry)},
        {"--carrier", "metadata, mark, attribute, doc-string, namespace, model"},
        {"--with", "source, parameters"},
    };
    auto words = choices_of(option);
    for (const auto& [name, policies] : roles) {
        if (option.check_name(name)) {
            words = stemma::split_list(replaced(policies, ", ", ","));
        }
    }
    for (auto& word : words) {
        word = word.substr(0, word.find(':') == word.npos ? word.npos : word.find(':') + 1);
    }
    return words;
}

/// Whether the value is a comma-separated list.
bool is_list(const CLI::Option& option) {
    return value_of(option).ends_with(",...");
}

/// Whether values come from a model.
bool is_of_model(const CLI::Option& option) {
    return value_of(option) == "QUERY" || option.get_name(true) == "QUERY" ||
           option.get_name(true) == "NAME";
}

/// Returns: what asks for values from a model: with names of nodes where an option takes them.
std::string words_of_model(const CLI::Option& option) {
    return option.get_name(true) == "NAME" ? "_stemma_of_model --names" : "_stemma_of_model";
}

std::string joined(const std::vector<std::string>& words, std::string_view between = " ") {
    std::string text;
    for (const auto& word : words) {
        text.append(text.empty() ? "" : between).append(word);
    }
    return text;
}

// The manual page.

std::string roff(std::string text) {
    text = replaced(replaced(std::move(text), "\\", "\\e"), "-", "\\-");
    text = replaced(replaced(std::move(text), "\n.", "\n\\&."), "\n'", "\n\\&'");
    return text.empty() || (text[0] != '.' && text[0] != '\'') ? text : "\\&" + text;
}

void print_option(const CLI::Option& option) {
    auto names = names_of(option);
    for (auto& name : names) {
        name = "\\fB" + roff(name) + "\\fR";
    }
    auto head = option.get_positional() ? "\\fI" + roff(option.get_name(true)) + "\\fR"
                                        : joined(names, ", ");
    if (!option.get_positional() && takes_value(option)) {
        head += fmt::format(" \\fI{}\\fR", roff(value_of(option)));
    }
    auto text = option.get_description();
    if (!option.get_default_str().empty()) {
        text += "; default: " + option.get_default_str();
    }
    put_data(".TP\n{}\n{}\n", head, roff(text));
}

/// Returns: a key that identifies an option across commands.
std::string identity(const CLI::Option& option) {
    return joined(names_of(option)) + option.get_type_name() + option.get_description();
}

void print_text(const std::string& text) {
    put_data("{}\n", replaced(roff(text), "\n\n", "\n.PP\n"));
}

/// Returns: a footer as roff; indented lines are verbatim commands.
std::string footer_text(const std::string& footer) {
    std::string text;
    bool shown = false;
    for (std::size_t begin = 0; begin < footer.size();) {
        const auto end = std::min(footer.find('\n', begin), footer.size());
        const auto line = footer.substr(begin, end - begin);
        begin = end + 1;
        if (const bool indented = line.starts_with("  "); indented != shown && !line.empty()) {
            text += indented ? ".PP\n.nf\n.RS 4\n" : ".RE\n.fi\n";
            shown = indented;
        }
        text += line.empty() ? std::string(shown ? "" : ".PP\n")
                             : roff(shown ? line.substr(2) : line) + "\n";
    }
    return text + (shown ? ".RE\n.fi\n" : "");
}

void print_page(const CLI::App& app) {
    const auto commands = commands_of(app);
    std::map<std::string, std::size_t> uses;
    for (const auto* command : commands) {
        for (const auto* option : options_of(*command, false)) {
            ++uses[identity(*option)];
        }
    }
    const auto is_common = [&](const CLI::Option& option) {
        return uses[identity(option)] * 2 > commands.size();
    };
    put_data(".\\\" Written by 'stemma manual page'.\n"
             ".TH STEMMA 1 \"\" \"stemma {}.{}.{}\" \"User Commands\"\n",
             STEMMA_VERSION_MAJOR, STEMMA_VERSION_MINOR, STEMMA_VERSION_PATCH);
    put_data(".SH NAME\nstemma \\- module hierarchy of ONNX graphs\n"
             ".SH SYNOPSIS\n.B stemma\n.I COMMAND\n.RI [ OPTION .\\|.\\|.]\n.SH DESCRIPTION\n");
    print_text(app.get_description());
    put_data(".SH OPTIONS\nOf the program, and of most commands:\n");
    for (const auto* option : options_of(app, false)) {
        print_option(*option);
    }
    std::map<std::string, bool> printed;
    for (const auto* command : commands) {
        for (const auto* option : options_of(*command, false)) {
            const bool is_new = !std::exchange(printed[identity(*option)], true);
            if (is_new && is_common(*option) && option != command->get_help_ptr()) {
                print_option(*option);
            }
        }
    }
    put_data(".SH COMMANDS\n");
    for (const auto* command : commands) {
        std::string positionals;
        for (const auto* option : options_of(*command, true)) {
            positionals += fmt::format(" {}", roff(option->get_name(true)));
        }
        put_data(".SS stemma {}{}\n", roff(command->get_name()), positionals);
        print_text(command->get_description());
        for (const bool positional : {true, false}) {
            for (const auto* option : options_of(*command, positional)) {
                if (positional || !is_common(*option)) {
                    print_option(*option);
                }
            }
        }
        put_data("{}", footer_text("\n" + command->get_footer()));
    }
    put_data(".SH EXIT STATUS\n");
    for (const auto& [status, meaning] : statuses) {
        put_data(".TP\n{}\n{}\n", static_cast<int>(status), meaning);
    }
    put_data(".SH EXAMPLES\n{}", footer_text(app.get_footer()));
}

// Shell completion: commands, options, and restricted values; files otherwise.

std::string all_names(const CLI::App& command) {
    std::string text;
    for (const auto* option : options_of(command, false)) {
        text += (text.empty() ? "" : " ") + joined(names_of(*option));
    }
    return text;
}

void print_bash(const CLI::App& app) {
    std::string names;
    std::string options;
    std::string values;
    std::string asking; // by command: what asks for what is in a model
    for (const auto* command : commands_of(app)) {
        const auto& name = command->get_name();
        names += name + " ";
        options += fmt::format("    {}) words='{}' ;;\n", name, all_names(*command));
        for (const auto* option : options_of(*command, false)) {
            if (takes_value(*option)) {
                auto cases = names_of(*option);
                for (auto& each : cases) {
                    each.insert(0, name + ":");
                }
                values +=
                    is_of_model(*option)
                        ? fmt::format("    {}) _stemma_of_model; return ;;\n", joined(cases, " | "))
                        : fmt::format("    {}) words='{}' value={} ;;\n", joined(cases, " | "),
                                      joined(words_for(*option)), is_list(*option) ? "list" : "1");
            }
        }
        for (const auto* option : options_of(*command, true)) {
            if (const auto choices = choices_of(*option); !choices.empty()) {
                options += fmt::format("    # {}\n", option->get_name(true));
                values += fmt::format("    {}:{}) words='{} {}' value=1 ;;\n", name, name,
                                      joined(choices), all_names(*command));
            } else if (is_of_model(*option)) {
                asking += fmt::format("    {}) {}; return ;;\n", name, words_of_model(*option));
            }
        }
    }
    put_data("# Completion of stemma for bash; written by 'stemma manual bash'.\n"
             R"sh(_stemma_of_model() {{
    local i word model=
    local -a more=()
    for ((i = 2; i < ${{#COMP_WORDS[@]}}; ++i)); do
        # Words are as typed; nothing in them is run.
        word=${{COMP_WORDS[i]}}
        case $word in
        '~/'* | '$HOME/'* | '"$HOME/'*) word=$HOME/${{word#*/}} ;;
        esac
        word=${{word//[\\\"\']/}}
        if [[ ${{COMP_WORDS[i-1]}} == -m || ${{COMP_WORDS[i-1]}} == --modules ]]; then
            more+=(-m "$word")
        elif [[ -z $model && $word == *.onnx && -f $word ]]; then
            model=$word
        fi
    done
    [[ -n $model ]] || return
    mapfile -t COMPREPLY < <("${{COMP_WORDS[0]}}" manual words "$model" "${{more[@]}}" "$@" --begin "$current" 2>/dev/null)
    # A word of bash ends at a colon, unless it is in quotes.
    if [[ -z $quoted && $COMP_WORDBREAKS == *:* ]]; then
        COMPREPLY=("${{COMPREPLY[@]#"${{current%"${{current##*[:=]}}"}}"}}")
    fi
}}
_stemma() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} quoted= words= value=
    local line=${{COMP_LINE:0:COMP_POINT}}
    local -a before
    if [[ $current == [\"\']* ]]; then
        quoted=1
        current=${{current:1}}
    else
        current=${{line##*[[:space:]]}}
        read -ra before <<<"${{line%"$current"}}"
        previous=${{before[${{#before[@]}}-1]}}
    fi
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        mapfile -t COMPREPLY < <(compgen -W '{0}help {1}' -- "$current"; compgen -f -X '!*.onnx' -- "$current")
        return
    fi
    case ${{COMP_WORDS[1]}}:$previous in
    help:*) words='{0}' value=1 ;;
{2}    esac
    if [[ -z $value && $current == -* ]]; then
    case ${{COMP_WORDS[1]}} in
{3}    esac
    elif [[ -z $value ]]; then
    case ${{COMP_WORDS[1]}} in
{4}    esac
    fi
    local list=
    [[ $value != list ]] || list=${{current%"${{current##*,}}"}}
    COMPREPLY=($(compgen -P "$list" -W "$words" -- "${{current#"$list"}}"))
}}
complete -o bashdefault -o default -F _stemma stemma
)sh",
             names, all_names(app), values, options, asking);
}

std::vector<std::string> replaced_in(std::vector<std::string> words, std::string_view from,
                                     std::string_view to) {
    for (auto& word : words) {
        word = replaced(std::move(word), from, to);
    }
    return words;
}

/// Returns: a text quoted for sh and zsh.
std::string in_quotes(const std::string& text) {
    return fmt::format("'{}'", replaced(text, "'", "'\\''"));
}

void print_zsh(const CLI::App& app) {
    put_data("#compdef stemma\n# Completion of stemma for zsh; written by 'stemma manual zsh'.\n"
             R"zsh(_stemma_of_model() {{
    local i word model=
    local -a more extra=(${{(M)@:#--names}}) # _arguments passes options of its own, too
    for ((i = 2; i <= $#words; ++i)); do
        # Words are as typed; nothing in them is run.
        word=${{(Q)words[i]}}
        case $word in
        '~/'* | '$HOME/'*) word=$HOME/${{word#*/}} ;;
        esac
        if [[ $words[i-1] == -m || $words[i-1] == --modules ]]; then
            more+=(-m $word)
        elif [[ -z $model && $word == *.onnx && -f $word ]]; then
            model=$word
        fi
    done
    if [[ -n $model ]]; then
        compadd -- ${{(f)"$(stemma manual words $model $more $extra --begin "$PREFIX" 2>/dev/null)"}}
    fi
}}
_stemma() {{
    local -a commands=(
)zsh");
    for (const auto* command : commands_of(app)) {
        put_data("        {}\n", in_quotes(command->get_name() + ":" + command->get_description()));
    }
    put_data(
        "        'help:describe a command'\n    )\n    if ((CURRENT == 2)); then\n"
        "        _describe command commands\n        _files -g '*.onnx'\n        return\n    fi\n"
        "    local command=$words[2]\n    shift words\n    ((CURRENT--))\n"
        "    case $command in\n    help)\n        _describe command commands\n        ;;\n");
    const auto in_brackets = [](std::string text) {
        for (const auto* special : {"\\", "[", "]", ":"}) {
            text = replaced(std::move(text), special, std::string("\\") + special);
        }
        return text;
    };
    const auto values = [&](const CLI::Option& option) {
        const auto choices = words_for(option);
        return is_of_model(option) ? words_of_model(option)
               : choices.empty()   ? std::string("_files")
               : is_list(option)   ? "_sequence compadd - " + joined(choices)
                                   : "(" + joined(replaced_in(choices, ":", "\\:")) + ")";
    };
    for (const auto* command : commands_of(app)) {
        put_data("    {})\n        _arguments -s", command->get_name());
        for (const auto* option : options_of(*command, false)) {
            for (const auto& name : names_of(*option)) {
                auto text = "*" + name + "[" + in_brackets(option->get_description()) + "]";
                if (takes_value(*option)) {
                    text += ":" + in_brackets(value_of(*option)) + ":" + values(*option);
                }
                put_data(" \\\n            {}", in_quotes(text));
            }
        }
        for (const auto* option : options_of(*command, true)) {
            const bool several = option->get_items_expected_max() > 1;
            put_data(
                " \\\n            {}",
                in_quotes((several ? "*:" : ":") + option->get_name(true) + ":" + values(*option)));
        }
        put_data("\n        ;;\n");
    }
    put_data("    esac\n}}\n_stemma \"$@\"\n");
}

void print_fish(const CLI::App& app) {
    const auto text = [](const std::string& words) {
        return fmt::format("'{}'", replaced(replaced(words, "\\", "\\\\"), "'", "\\'"));
    };
    const auto print = [&](const std::string& condition, const CLI::Option& option) {
        std::string line = "complete -c stemma -n " + text(condition);
        for (const auto& name : option.get_snames()) {
            line += " -s " + name;
        }
        for (const auto& name : option.get_lnames()) {
            line += " -l " + name;
        }
        if (takes_value(option)) {
            const auto choices = words_for(option);
            line += is_of_model(option) ? " -x -a '(_" + words_of_model(option) + ")'"
                    : choices.empty()   ? std::string(" -r")
                    : is_list(option)
                        ? fmt::format(" -x -a '(__fish_append , {})'", joined(choices))
                        : " -x -a " + text(joined(choices));
        }
        put_data("{} -d {}\n", line, text(option.get_description()));
    };
    put_data("# Completion of stemma for fish; written by 'stemma manual fish'.\n"
             R"fish(function __stemma_of_model
    set -l model
    set -l more
    set -l before
    for typed in (commandline -opc)
        set -l word (string replace -r '^(~|\$HOME)/' "$HOME/" -- $typed)
        if contains -- "$before" -m --modules
            set -a more -m $word
        else if test -z "$model"; and string match -q '*.onnx' -- $word; and test -f $word
            set model $word
        end
        set before $word
    end
    if test -n "$model"
        set -l current (string trim -l -c \"\' -- (commandline -ct))
        stemma manual words $model $more $argv --begin "$current" 2>/dev/null
    end
end
complete -c stemma -n __fish_use_subcommand -a '(__fish_complete_suffix .onnx)'
complete -c stemma -n __fish_use_subcommand -f -a help -d 'describe a command'
)fish");
    for (const auto* option : options_of(app, false)) {
        print("__fish_use_subcommand", *option);
    }
    for (const auto* command : commands_of(app)) {
        put_data("complete -c stemma -n __fish_use_subcommand -f -a {0} -d {1}\n"
                 "complete -c stemma -n '__fish_seen_subcommand_from help' -f -a {0} -d {1}\n",
                 command->get_name(), text(command->get_description()));
        const auto condition = "__fish_seen_subcommand_from " + command->get_name();
        for (const auto* option : options_of(*command, false)) {
            print(condition, *option);
        }
        for (const auto* option : options_of(*command, true)) {
            if (const auto choices = choices_of(*option); !choices.empty()) {
                put_data("complete -c stemma -n {} -f -a {}\n", text(condition),
                         text(joined(choices)));
            } else if (is_of_model(*option)) {
                put_data("complete -c stemma -n {} -a '(_{})'\n", text(condition),
                         words_of_model(*option));
            }
        }
    }
}

/// What `manual` takes.
struct manual_options {
    std::string what;
    common_options common;
    std::string begin;
    bool names = false;
};

/// Returns: where the last, unfinished term of a query begins.
std::size_t last_term(std::string_view query) {
    auto at = query.find_last_of(" \t([") + 1;
    constexpr std::string_view takes_terms[] = {
        "has:", "feeds:", "fed-by:", "before:", "after:", "between:"};
    for (bool skips = true; skips;) {
        skips = false;
        for (const auto word : takes_terms) {
            if (query.substr(at).starts_with(word)) {
                at += word.size();
                const auto dots = query.find("..", at);
                at = word == "between:" && dots != query.npos ? dots + 2 : at;
                skips = true;
            }
        }
    }
    return at;
}

/// Prints possible beginnings of a query or an `explain` question about a model: module paths,
/// tags, and conditions; none with line breaks, which shells cannot complete.
void print_words(manual_options options) {
    if (options.common.model.empty()) {
        throw refused("manual words", "needs a model");
    }
    options.common.quiet = true;
    const auto opened = open_model(options.common);
    const auto& modules = opened->modules();
    const auto& model = opened->model();
    const auto term = options.begin.substr(last_term(options.begin));
    const bool names = options.names && !term.empty(); // of everything would be too many
    std::set<std::string> words;
    for (stemma::id m = 0; m < modules.size(); ++m) {
        words.insert(modules.path(m));
        if (opened->tags().tags.is_selected(m)) {
            words.insert(opened->tags().tags.text(m));
        }
        if (!modules.class_name(m).empty()) {
            words.insert(fmt::format("class:{}", modules.class_name(m)));
        }
    }
    const stemma::model_facts facts(model, modules, opened->tags());
    for (stemma::id v = 0; v < model.node_count(); ++v) {
        words.insert(fmt::format("op:{}", model.op_type(v)));
        if (names && model.name(v).starts_with(term)) {
            words.emplace(model.name(v));
        }
        if (term.starts_with("name:")) {
            words.insert(fmt::format("name:{}", model.name(v)));
        } else if (term.starts_with("attr:")) {
            for (const auto& fact : facts.attributes(v)) {
                words.insert(fmt::format("attr:{}", fact.name));
            }
        }
    }
    for (stemma::id value = 0; names && value < model.value_count(); ++value) {
        if (model.is_initializer(value) && model.value_name(value).starts_with(term)) {
            words.emplace(model.value_name(value));
        }
    }
    const auto before = options.begin.substr(0, options.begin.size() - term.size());
    for (auto word = words.lower_bound(term); word != words.end() && word->starts_with(term);
         ++word) {
        const bool one_line = word->find_first_of("\n\r\t") == word->npos;
        put_names(word->empty() || !one_line ? std::string() : before + *word + "\n");
    }
}

int manual(const CLI::App& app, const manual_options& options) {
    const auto& what = options.what;
    if (what == "words") {
        print_words(options);
    } else if (what == "page") {
        print_page(app);
    } else if (what == "bash") {
        print_bash(app);
    } else if (what == "zsh") {
        print_zsh(app);
    } else {
        print_fish(app);
    }
    return done;
}

} // namespace

void add_manual(CLI::App& app, action& chosen) {
    auto options = std::make_shared<manual_options>();
    auto& command = *app.add_subcommand("manual", "print the manual page, or shell completion");
    command
        .add_option("WHAT", options->what,
                    "the page for man, a completion script for a shell, or the words it asks for")
        ->check(CLI::IsMember({"page", "bash", "zsh", "fish", "words"}))
        ->required();
    command.add_option("MODEL", options->common.model,
                       "words: the model whose modules, classes and operators are completed");
    const command_line takes(command);
    takes.captures(options->common.captures, "words: capture of what PyTorch knew about it");
    takes.value("--begin", options->begin, "TEXT", "words: the text typed so far");
    command.add_flag("--names", options->names,
                     "words: also names of nodes and initializers, once something is typed");
    command.footer("Examples:\n  stemma manual page | man -l -\n"
                   "  stemma manual bash > ~/.local/share/bash-completion/completions/stemma\n"
                   "  stemma manual fish > ~/.config/fish/completions/stemma.fish");
    command.callback(
        [&app, &chosen, options] { chosen = [&app, options] { return manual(app, *options); }; });
}

} // namespace cli
