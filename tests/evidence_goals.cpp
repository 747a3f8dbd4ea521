// SPDX-License-Identifier: Apache-2.0
// Prints how right the evidence is on every fixture and every model of a dialect, without a trace,
// and fails where a goal is missed. docs/evidence.md explains the goals and the groups.
#include <stemma/capture/captures.hpp>
#include <stemma/capture/detail/oracle.hpp>
#include <stemma/io/mapped_file.hpp>
#include <stemma/model/accuracy.hpp>
#include <stemma/open/attributed_model.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace fs = std::filesystem;

namespace {

/// Counts over the nodes of one model, or of a group of models.
struct tally {
    stemma::accuracy scoped;    // nodes that the exporter had a scope for
    stemma::accuracy scopeless; // nodes whose module is known by other means
    std::size_t overruled = 0;  // constants whose scope contradicts their readers' truth
    std::size_t sure = 0;       // nodes of both kinds with a confidence of at least 0.9
    std::size_t sure_right = 0;
    std::size_t scoped_sure_right = 0;
    std::size_t in_tree = 0; // nodes with a scope whose true module is in the tree
    std::size_t calls = 0;   // correct nodes of modules that run several times
    std::size_t calls_right = 0;
    std::size_t calls_wrong = 0; // the rest are unknown

    tally& operator+=(const tally& other) {
        scoped += other.scoped;
        scopeless += other.scopeless;
        overruled += other.overruled;
        sure += other.sure;
        sure_right += other.sure_right;
        scoped_sure_right += other.scoped_sure_right;
        in_tree += other.in_tree;
        calls += other.calls;
        calls_right += other.calls_right;
        calls_wrong += other.calls_wrong;
        return *this;
    }
};

double percent(std::size_t part, std::size_t whole) {
    return whole == 0 ? 100 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

/// The limits for a group, in percent.
struct goal {
    const char* group;
    double min_exact;
    double max_ancestor;
    double max_contaminated;
    double min_sure_right = 99; // of the sure nodes
    double min_right_sure = 95; // of the correct nodes with a scope
    double min_calls_right = 0; // of the correct nodes of modules that run several times
};

// If names are gone, hardly any node can be sure; then the lack of certainty is correct.
constexpr goal goals[] = {
    {"named+capture", 100, 0, 0, 99, 95, 100},
    {"named", 95, 3, 0, 99, 95, 100},
    {"metadata", 99.5, 0.5, 0, 99, 95, 75}, // metadata lack call numbers
    {"unnamed", 60, 40, 1, 99, 0},
    {"baseline+capture", 100, 0, 0},
    {"baseline", 95, 3, 0},
};

using truth_table = std::vector<std::optional<std::string>>;

std::string common_ancestor(const std::string& a, const std::string& b) {
    std::string common;
    for (std::size_t end = 0; end < a.size(); ++end) {
        end = std::min(a.find('.', end), a.size());
        const auto path = a.substr(0, end);
        if (b != path && !b.starts_with(path + ".")) {
            break;
        }
        common = path;
    }
    return common;
}

/// Exporters leave constants that they merged or moved the scope of whoever came first. Returns:
/// whether a node is such a constant (one of its readers lies beside its module) and it was found
/// where its readers are, or was said to be in conflict and found where these and its scope meet.
bool is_rightly_overruled(const stemma::wire_model& model, const truth_table& truth,
                          stemma::id node, const std::vector<stemma::id>& readers,
                          const std::string& path, const stemma::attribution& attribution) {
    if (model.op_type(node) != "Constant") {
        return false;
    }
    std::optional<std::string> of_readers;
    bool beside = false;
    for (auto reader : readers) {
        if (const auto& other = truth[reader]) {
            beside =
                beside || stemma::relate(*other, *truth[node]) == stemma::relation::contaminated;
            of_readers = of_readers ? common_ancestor(*of_readers, *other) : *other;
        }
    }
    return beside &&
           (path == *of_readers || (path == common_ancestor(*of_readers, *truth[node]) &&
                                    attribution.conflict && attribution.confidence < 0.9F));
}

std::vector<std::vector<stemma::id>> find_readers(const stemma::wire_model& model) {
    std::vector<std::vector<stemma::id>> readers(model.node_count());
    for (stemma::id node = 0; node < model.node_count(); ++node) {
        for (auto value : model.inputs(node)) {
            const auto producer = value == stemma::no_id ? stemma::no_id : model.producer(value);
            if (producer != stemma::no_id) {
                readers[producer].push_back(node);
            }
        }
    }
    return readers;
}

/// The truth of a model and of its variants, whose nodes may have other numbers in their names.
class known_truth {
public:
    known_truth(const fs::path& file, const fs::path& model) : oracle_(read(file)) {
        read_calls(file);
        const stemma::mapped_file mapped(model.string());
        const stemma::wire_model wire(mapped.bytes(), mapped.path());
        for (stemma::id node = 0; node < wire.node_count(); ++node) {
            const auto module = oracle_.module_of(wire.name(node));
            const auto scope = scope_of(wire.name(node));
            if (module && !scope.empty()) {
                auto [entry, added] = by_scope_.emplace(scope, module);
                if (!added && entry->second != module) {
                    entry->second = std::nullopt; // modules that print alike
                }
            }
        }
    }

    [[nodiscard]] std::optional<std::string> module_of(std::string_view name) const {
        if (auto module = oracle_.module_of(name)) {
            return module;
        }
        const auto entry = by_scope_.find(scope_of(name));
        return entry == by_scope_.end() ? std::nullopt : entry->second;
    }

    /// Returns: which call of its module a node belongs to, if there are several.
    [[nodiscard]] std::optional<stemma::id> call_of(std::string_view name) const {
        const auto entry = call_.find(std::string(name));
        return entry == call_.end() ? std::nullopt : std::optional(entry->second);
    }

    [[nodiscard]] bool is_scoped(std::string_view name) const {
        return oracle_.is_scoped(name) || (!oracle_.module_of(name) && module_of(name));
    }

private:
    [[nodiscard]] static stemma::detail::oracle_file read(const fs::path& path) {
        const stemma::mapped_file file(path.string());
        return {file.bytes(), file.path()};
    }

    [[nodiscard]] static std::string scope_of(std::string_view name) {
        const auto slash = name.rfind('/');
        return name.starts_with('/') && slash != 0 ? std::string(name.substr(0, slash)) : "";
    }

    void read_calls(const fs::path& path) {
        const stemma::mapped_file file(path.string());
        const auto nodes = nlohmann::json::parse(file.bytes())["nodes"];
        const auto has_call = [](const nlohmann::json& node) {
            return node.contains("call") && node["call"].is_number() && node.contains("module") &&
                   node["module"].is_string();
        };
        std::map<std::string, stemma::id> last;
        for (const auto& node : nodes) {
            if (has_call(node)) {
                auto& most = last[node["module"].get<std::string>()];
                most = std::max(most, node["call"].get<stemma::id>());
            }
        }
        for (const auto& node : nodes) {
            if (!has_call(node) || last[node["module"].get<std::string>()] == 0) {
                continue;
            }
            for (const char* key : {"original", "opaque"}) {
                if (node.contains(key) && node[key].is_string()) {
                    call_.emplace(node[key].get<std::string>(), node["call"].get<stemma::id>());
                }
            }
        }
    }

    stemma::detail::oracle_file oracle_;
    std::map<std::string, stemma::id> call_;
    std::map<std::string, std::optional<std::string>> by_scope_;
};

tally measure(const fs::path& model, const std::vector<std::string>& captures,
              const known_truth& truth) {
    stemma::attribution_options options;
    options.captures = stemma::captures(captures);
    stemma::attributed_model opened(model.string(), options);
    const auto readers = find_readers(opened.model());
    truth_table modules(opened.model().node_count());
    for (stemma::id node = 0; node < modules.size(); ++node) {
        modules[node] = truth.module_of(opened.model().name(node));
    }
    std::set<std::string> paths;
    for (stemma::id m = 0; m < opened.modules().size(); ++m) {
        paths.emplace(opened.modules().path(m));
    }
    tally result;
    for (stemma::id node = 0; node < modules.size(); ++node) {
        const auto& module = modules[node];
        if (!module) {
            continue;
        }
        const auto& attribution = opened.tags().attributions[node];
        const auto path = opened.modules().path(attribution.module);
        if (is_rightly_overruled(opened.model(), modules, node, readers[node], path, attribution)) {
            ++result.overruled;
            continue;
        }
        const auto how = stemma::relate(path, *module);
        const bool scoped = truth.is_scoped(opened.model().name(node));
        (scoped ? result.scoped : result.scopeless).add(how);
        result.in_tree += scoped && paths.contains(*module) ? 1U : 0U;
        const auto call = truth.call_of(opened.model().name(node));
        if (call && how == stemma::relation::exact) {
            ++result.calls;
            result.calls_right += attribution.call == *call ? 1U : 0U;
            result.calls_wrong +=
                attribution.call != *call && attribution.call != stemma::no_id ? 1U : 0U;
        }
        if (attribution.confidence >= 0.9F) {
            const std::size_t right = how == stemma::relation::exact ? 1 : 0;
            ++result.sure;
            result.sure_right += right;
            result.scoped_sure_right += scoped ? right : 0;
        }
    }
    return result;
}

class table {
public:
    void add(const std::string& group, const std::string& model, const tally& t) {
        totals_[group] += t;
        print(group, model, t);
    }

    [[nodiscard]] int check() const {
        int missed = 0;
        for (const auto& g : goals) {
            const auto entry = totals_.find(g.group);
            if (entry == totals_.end()) {
                std::printf("%s: no model\n", g.group);
                ++missed;
                continue;
            }
            const auto& t = entry->second;
            print(g.group, "all", t);
            const auto total = t.scoped.total();
            const auto limit = [&](const char* what, double value, double bound, bool at_least) {
                if (at_least ? value < bound : value > bound) {
                    std::printf("missed: %s: %s %.2f %%, the goal is %s %.2f %%\n", g.group, what,
                                value, at_least ? "at least" : "at most", bound);
                    ++missed;
                }
            };
            limit("exact", percent(t.scoped.exact, total), g.min_exact, true);
            limit("ancestor", percent(t.scoped.ancestor, total), g.max_ancestor, false);
            limit("contaminated",
                  percent(t.scoped.contaminated + t.scopeless.contaminated,
                          total + t.scopeless.total()),
                  g.max_contaminated, false);
            limit("right of the sure", percent(t.sure_right, t.sure), g.min_sure_right, true);
            limit("right calls", percent(t.calls_right, t.calls), g.min_calls_right, true);
            limit("wrong calls", percent(t.calls_wrong, std::max<std::size_t>(t.calls, 1)), 0,
                  false);
            limit("sure of the right", percent(t.scoped_sure_right, t.scoped.exact),
                  g.min_right_sure, true);
        }
        return missed;
    }

    static void print_head() {
        std::printf("# %-40s %-23s  %-23s %-6s %-13s %s\n", "", "nodes with a scope", "without",
                    "over-", "sure (0.9)", "repeated calls     in");
        std::printf("# %-14s %-26s", "group", "model");
        for (const char* column :
             {"exact", "ances", "desce", "conta", " exact", "ances", "desce", "conta", "ruled",
              " nodes", "right", " nodes", "right", "wrong", " tree"}) {
            std::printf(" %s", column);
        }
        std::puts("");
    }

private:
    static void print(const std::string& group, const std::string& model, const tally& t) {
        std::printf("%-16s %-26s", group.c_str(), model.c_str());
        for (auto count :
             {t.scoped.exact, t.scoped.ancestor, t.scoped.descendant, t.scoped.contaminated}) {
            std::printf(" %5zu", count);
        }
        std::printf(" ");
        for (auto count : {t.scopeless.exact, t.scopeless.ancestor, t.scopeless.descendant,
                           t.scopeless.contaminated, t.overruled}) {
            std::printf(" %5zu", count);
        }
        std::printf("  %5zu %5zu  %5zu %5zu %5zu  %5zu\n", t.sure, t.sure_right, t.calls,
                    t.calls_right, t.calls_wrong, t.in_tree);
    }

    std::map<std::string, tally> totals_;
};

std::vector<fs::path> sorted_entries(const fs::path& folder) {
    std::vector<fs::path> entries;
    for (const auto& entry : fs::directory_iterator(folder)) {
        entries.push_back(entry.path());
    }
    std::sort(entries.begin(), entries.end());
    return entries;
}

void measure_fixtures(const fs::path& fixtures, table& rows) {
    for (const auto& folder : sorted_entries(fixtures)) {
        if (!fs::exists(folder / "truth.json")) {
            continue;
        }
        const auto whole = folder / "model.onnx";
        const known_truth truth(folder / "truth.json",
                                fs::exists(whole) ? whole : folder / "model.structure.onnx");
        for (const auto& model : sorted_entries(folder)) {
            const auto stem = model.stem().string();
            // Bodies of functions have their own names.
            if (model.extension() != ".onnx" || stem.find("functions") != stem.npos ||
                stem == "anonymous") {
                continue;
            }
            const bool named = stem.starts_with("model");
            const auto label = folder.filename().string() + (named ? stem.substr(5) : "");
            if (named) {
                rows.add("named+capture", label,
                         measure(model, {(folder / "modules.json").string()}, truth));
            }
            rows.add(named ? "named" : "unnamed", label, measure(model, {}, truth));
        }
    }
}

bool has_metadata(const fs::path& model) {
    const stemma::mapped_file file(model.string());
    return file.bytes().find("name_scopes") != std::string_view::npos;
}

/// Models beside their truth: `x.onnx`, `x.truth.json`, and perhaps `x.capture.json`. Those with
/// metadata of nodes are a group of their own.
void measure_folder(const fs::path& folder, const std::string& named, table& rows) {
    for (const auto& model : sorted_entries(folder)) {
        if (model.extension() != ".onnx") {
            continue;
        }
        const auto file = model.stem();
        const bool unnamed = file.extension() == ".unnamed";
        const auto stem = unnamed ? file.stem().string() : file.string();
        const known_truth truth(folder / (stem + ".truth.json"), model);
        const auto capture = folder / (stem + ".capture.json");
        const auto group = unnamed ? named + "-unnamed" : has_metadata(model) ? "metadata" : named;
        if (fs::exists(capture)) {
            rows.add(group + "+capture", stem, measure(model, {capture.string()}, truth));
        }
        rows.add(group, stem, measure(model, {}, truth));
    }
}

} // namespace

int main() {
    table rows;
    table::print_head();
    measure_fixtures(STEMMA_TEST_DATA "/fixtures", rows);
    measure_folder(STEMMA_TEST_DATA "/dialects", "named", rows);
    measure_folder(STEMMA_TEST_DATA "/baselines", "baseline", rows);
    return rows.check() == 0 ? 0 : 1;
}
