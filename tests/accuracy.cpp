// SPDX-License-Identifier: Apache-2.0
// Prints how many nodes of the fixtures get the right module, as a table; with --check FILE,
// compares it with an earlier one and fails where anything got worse. With --details: how right the
// nodes of models without names are with a capture, by kind of node and by confidence. With
// --never-worse: fails where a capture of any kind makes any file of a fixture worse than it is
// without one.
#include <stemma/capture/captures.hpp>
#include <stemma/capture/detail/oracle.hpp>
#include <stemma/io/mapped_file.hpp>
#include <stemma/model/accuracy.hpp>
#include <stemma/open/attributed_model.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace fs = std::filesystem;

namespace {

struct row {
    stemma::accuracy scoped;    // nodes with a scope of the exporter
    stemma::accuracy scopeless; // nodes whose module is known by other means
    std::size_t sure = 0;       // nodes with a confidence of at least 0.9
    std::size_t sure_right = 0;
};

using table = std::map<std::string, row>;

/// The models of a fixture with nodes in the truth file.
std::vector<fs::path> models_in(const fs::path& folder) {
    std::vector<fs::path> models;
    for (const char* name :
         {"model.onnx", "model.structure.onnx", "unnamed.onnx", "anonymous.onnx"}) {
        if (fs::exists(folder / name)) {
            models.push_back(folder / name);
        }
    }
    return models;
}

stemma::attribution_options options_for(const fs::path& model, bool with_capture) {
    std::vector<std::string> captures;
    if (with_capture) {
        for (const char* part : {"modules.json", "trace.json", "fx.json"}) {
            if (fs::exists(model.parent_path() / part)) {
                captures.push_back((model.parent_path() / part).string());
            }
        }
    }
    stemma::attribution_options options;
    options.captures = stemma::captures(std::move(captures));
    return options;
}

row measure(const fs::path& model, bool with_capture, const stemma::detail::oracle_file& truth) {
    stemma::attributed_model opened(model.string(), options_for(model, with_capture));
    row result;
    for (stemma::id node = 0; node < opened.model().node_count(); ++node) {
        const auto name = opened.model().name(node);
        const auto module = truth.module_of(name);
        if (!module) {
            continue;
        }
        const auto& attribution = opened.tags().attributions[node];
        const auto how = stemma::relate(opened.modules().path(attribution.module), *module);
        (truth.is_scoped(name) ? result.scoped : result.scopeless).add(how);
        if (attribution.confidence >= 0.9F) {
            ++result.sure;
            result.sure_right += how == stemma::relation::exact ? 1U : 0U;
        }
    }
    return result;
}

table measure_all(const fs::path& fixtures) {
    table result;
    std::vector<fs::path> folders;
    for (const auto& entry : fs::directory_iterator(fixtures)) {
        if (fs::exists(entry.path() / "truth.json")) {
            folders.push_back(entry.path());
        }
    }
    for (const auto& folder : folders) {
        const stemma::mapped_file file((folder / "truth.json").string());
        const stemma::detail::oracle_file truth(file.bytes(), file.path());
        for (const auto& model : models_in(folder)) {
            auto kind = model.stem().string();
            kind = kind.starts_with("model") ? "model" : kind;
            for (const bool with_capture : {true, false}) {
                result[folder.filename().string() + "/" + kind + (with_capture ? "+capture" : "")] =
                    measure(model, with_capture, truth);
            }
        }
    }
    return result;
}

void add_totals(table& rows) {
    table totals;
    for (const auto& [name, r] : rows) {
        auto& total = totals["total/" + name.substr(name.find('/') + 1)];
        total.scoped += r.scoped;
        total.scopeless += r.scopeless;
        total.sure += r.sure;
        total.sure_right += r.sure_right;
    }
    rows.insert(totals.begin(), totals.end());
}

std::string print(const table& rows) {
    std::string text = "# model                               nodes with a scope"
                       "                    without             confidence >= 0.9\n"
                       "#                                     exact ancest descen contam"
                       "    exact ancest descen contam     nodes  right\n";
    for (const auto& [name, r] : rows) {
        char line[200];
        std::snprintf(line, sizeof line,
                      "%-36s %6zu %6zu %6zu %6zu   %6zu %6zu %6zu %6zu    %6zu %6zu\n",
                      name.c_str(), r.scoped.exact, r.scoped.ancestor, r.scoped.descendant,
                      r.scoped.contaminated, r.scopeless.exact, r.scopeless.ancestor,
                      r.scopeless.descendant, r.scopeless.contaminated, r.sure, r.sure_right);
        text += line;
    }
    return text;
}

table parse(const std::string& path) {
    table rows;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        std::istringstream fields(line);
        std::string name;
        row r;
        if (line.empty() || line.front() == '#') {
            continue;
        }
        fields >> name >> r.scoped.exact >> r.scoped.ancestor >> r.scoped.descendant >>
            r.scoped.contaminated >> r.scopeless.exact >> r.scopeless.ancestor >>
            r.scopeless.descendant >> r.scopeless.contaminated >> r.sure >> r.sure_right;
        rows[name] = r;
    }
    return rows;
}

bool is_worse(const row& now, const row& before) {
    const auto worse = [](const stemma::accuracy& a, const stemma::accuracy& b) {
        return a.exact < b.exact || a.contaminated > b.contaminated;
    };
    return worse(now.scoped, before.scoped) || worse(now.scopeless, before.scopeless) ||
           now.sure - now.sure_right > before.sure - before.sure_right;
}

struct tally {
    std::size_t nodes = 0;
    std::size_t right = 0;
    std::size_t contaminated = 0;

    void add(stemma::relation how) {
        ++nodes;
        right += how == stemma::relation::exact ? 1U : 0U;
        contaminated += how == stemma::relation::contaminated ? 1U : 0U;
    }
};

/// The kinds of nodes in a model: each node counts for every kind that applies.
std::vector<std::vector<std::string>> kinds_of(const stemma::wire_model& model,
                                               const stemma::detail::oracle_file& truth) {
    std::vector<std::vector<std::string>> kinds(model.node_count());
    std::vector<char> of(model.node_count(), 'c'); // constant, shape, data
    const auto rank = [](char kind) { return std::string("csd").find(kind); };
    for (stemma::id node = 0; node < model.node_count(); ++node) {
        for (auto value : model.inputs(node)) {
            const auto producer = value == stemma::no_id ? stemma::no_id : model.producer(value);
            const bool read =
                value != stemma::no_id && producer == stemma::no_id && !model.is_initializer(value);
            const char other = read ? 'd' : producer == stemma::no_id ? 'c' : of[producer];
            of[node] = rank(other) > rank(of[node]) ? other : of[node];
        }
        const auto type = model.op_type(node);
        const bool reads_weight = of[node] == 'c' && type != "Constant" && type != "Identity";
        of[node] = type == "Shape" || type == "Size" || of[node] == 's' ? 's'
                   : reads_weight || of[node] == 'd'                    ? 'd'
                                                                        : 'c';
        kinds[node].push_back(of[node] == 'c' ? "constant" : of[node] == 's' ? "shape" : "compute");
        if (!truth.is_scoped(model.name(node))) {
            kinds[node].push_back("without scope");
        }
        if (model.owner(node) != stemma::no_id) {
            kinds[node].push_back("in a body");
        }
    }
    return kinds;
}

std::string print_details(const fs::path& fixtures) {
    std::map<std::string, std::map<std::string, tally>> by_kind;
    std::map<std::string, std::map<int, tally>> by_confidence;
    for (const auto& entry : fs::directory_iterator(fixtures)) {
        if (!fs::exists(entry.path() / "truth.json")) {
            continue;
        }
        const stemma::mapped_file file((entry.path() / "truth.json").string());
        const stemma::detail::oracle_file truth(file.bytes(), file.path());
        for (const std::string name : {"unnamed", "anonymous"}) {
            const auto model = entry.path() / (name + ".onnx");
            if (!fs::exists(model)) {
                continue;
            }
            const stemma::attributed_model opened(model.string(), options_for(model, true));
            const auto kinds = kinds_of(opened.model(), truth);
            for (stemma::id node = 0; node < opened.model().node_count(); ++node) {
                const auto module = truth.module_of(opened.model().name(node));
                if (!module) {
                    continue;
                }
                const auto& attribution = opened.tags().attributions[node];
                const auto how = stemma::relate(opened.modules().path(attribution.module), *module);
                for (const auto& kind : kinds[node]) {
                    by_kind[name][kind].add(how);
                }
                by_confidence[name]
                             [std::min(9, static_cast<int>(attribution.confidence * 10 + 0.001F))]
                                 .add(how);
            }
        }
    }
    std::string text;
    const auto append = [&](const std::string& name, const std::string& group, const tally& t) {
        char line[200];
        std::snprintf(line, sizeof line, "%-10s %-14s %6zu %6zu %7.2f %% %6zu\n", name.c_str(),
                      group.c_str(), t.nodes, t.right,
                      100.0 * static_cast<double>(t.right) / static_cast<double>(t.nodes),
                      t.contaminated);
        text += line;
    };
    text += "# model    kind            nodes  right     share contaminated\n";
    for (const auto& [name, groups] : by_kind) {
        for (const auto& [kind, t] : groups) {
            append(name, kind, t);
        }
    }
    text += "# model    confidence      nodes  right     share contaminated\n";
    for (const auto& [name, groups] : by_confidence) {
        for (const auto& [tenth, t] : groups) {
            append(name, "from 0." + std::to_string(tenth), t);
        }
    }
    return text;
}

/// A fixture's kinds of captures: the files of each.
std::map<std::string, std::vector<std::string>> captures_in(const fs::path& folder) {
    std::map<std::string, std::vector<std::string>> kinds;
    const auto modules = (folder / "modules.json").string();
    const auto add = [&](const char* kind, std::vector<std::string> parts) {
        const auto all = std::all_of(parts.begin(), parts.end(),
                                     [](const auto& part) { return fs::exists(part); });
        if (all) {
            kinds.emplace(kind, std::move(parts));
        }
    };
    const auto trace = (folder / "trace.json").string();
    const auto fx = (folder / "fx.json").string();
    add("modules", {modules});
    add("trace", {modules, trace});
    add("fx", {modules, fx});
    add("trace and fx", {modules, trace, fx});
    return kinds;
}

stemma::accuracy measure_with(const fs::path& model, std::vector<std::string> captures,
                              const stemma::detail::oracle_file& truth) {
    stemma::attribution_options options;
    options.captures = stemma::captures(std::move(captures));
    const stemma::attributed_model opened(model.string(), options);
    stemma::accuracy result;
    for (stemma::id node = 0; node < opened.model().node_count(); ++node) {
        if (const auto module = truth.module_of(opened.model().name(node))) {
            const auto chosen = opened.tags().attributions[node].module;
            result.add(stemma::relate(opened.modules().path(chosen), *module));
        }
    }
    return result;
}

/// Returns: the number of pairs of a file and a capture that are worse than the file alone.
int find_worse(const fs::path& fixtures) {
    int worse = 0;
    std::size_t pairs = 0;
    for (const auto& entry : fs::directory_iterator(fixtures)) {
        if (!fs::exists(entry.path() / "truth.json")) {
            continue;
        }
        const stemma::mapped_file file((entry.path() / "truth.json").string());
        const stemma::detail::oracle_file truth(file.bytes(), file.path());
        const auto captures = captures_in(entry.path());
        for (const auto& model : fs::directory_iterator(entry.path())) {
            if (model.path().extension() != ".onnx") {
                continue;
            }
            const auto alone = measure_with(model.path(), {}, truth);
            for (const auto& [kind, parts] : captures) {
                const auto with = measure_with(model.path(), parts, truth);
                ++pairs;
                if (with.exact < alone.exact || with.contaminated > alone.contaminated) {
                    ++worse;
                    std::printf("worse: %s with %s: %zu exact and %zu contaminated, without %zu "
                                "and %zu\n",
                                model.path().lexically_relative(fixtures).c_str(), kind.c_str(),
                                with.exact, with.contaminated, alone.exact, alone.contaminated);
                }
            }
        }
    }
    std::printf("%zu files with a capture, %d worse than without\n", pairs, worse);
    return worse;
}

} // namespace

int main(int argc, char** argv) {
    if (argc == 2 && std::string(argv[1]) == "--never-worse") {
        return find_worse(STEMMA_TEST_DATA "/fixtures") == 0 ? 0 : 1;
    }
    if (argc == 2 && std::string(argv[1]) == "--details") {
        std::fputs(print_details(STEMMA_TEST_DATA "/fixtures").c_str(), stdout);
        return 0;
    }
    auto rows = measure_all(STEMMA_TEST_DATA "/fixtures");
    add_totals(rows);
    const auto text = print(rows);
    if (argc != 3 || std::string(argv[1]) != "--check") {
        std::fputs(text.c_str(), stdout);
        return 0;
    }
    const auto before = parse(argv[2]);
    int worse = 0;
    for (const auto& [name, r] : before) {
        const auto now = rows.find(name);
        if (now == rows.end() || is_worse(now->second, r)) {
            std::printf("worse: %s\n", name.c_str());
            ++worse;
        }
    }
    if (worse > 0 || rows.size() != before.size()) {
        std::printf("%d rows got worse; now it is\n%s", worse, text.c_str());
        return 1;
    }
    std::printf("%zu rows, none worse than in %s\n", rows.size(), argv[2]);
    return 0;
}
