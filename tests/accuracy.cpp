// SPDX-License-Identifier: Apache-2.0
// Prints how well the nodes of the fixtures are attributed, as a table; with --check FILE, compares
// it with an earlier one and fails where anything got worse.
#include <stemma/algorithm/accuracy.hpp>
#include <stemma/io/file.hpp>
#include <stemma/io/oracle.hpp>
#include <stemma/onnx/wire/attributed_model.hpp>

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
    stemma::accuracy scopeless; // nodes whose module is known otherwise
    std::size_t sure = 0;       // nodes with confidence of 0.9 and more
    std::size_t sure_right = 0;
};

using table = std::map<std::string, row>;

/// The models of a fixture whose nodes the truth speaks of.
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

row measure(const fs::path& model, bool with_capture, const stemma::oracle_file& truth) {
    stemma::attribution_options options;
    if (with_capture) {
        options.captures.push_back((model.parent_path() / "modules.json").string());
    }
    stemma::attributed_model opened(model.string(), options);
    row result;
    for (stemma::id node = 0; node < opened.model().node_count(); ++node) {
        const auto name = opened.model().name(node);
        const auto module = truth.module_of(name);
        if (!module) {
            continue;
        }
        const auto& made = opened.tags().attributions[node];
        const auto how = stemma::relate(opened.modules().path(made.module), *module);
        (truth.is_scoped(name) ? result.scoped : result.scopeless).add(how);
        if (made.confidence >= 0.9F) {
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
        const stemma::oracle_file truth(file.bytes(), file.path());
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

} // namespace

int main(int argc, char** argv) {
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
