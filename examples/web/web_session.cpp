// SPDX-License-Identifier: Apache-2.0
#include "web_session.hpp"

#include <stemma/compare/diff_models.hpp>
#include <stemma/compare/write_diff.hpp>
#include <stemma/cost/cost_report.hpp>
#include <stemma/cost/model_cost.hpp>
#include <stemma/cut/model_cutter.hpp>
#include <stemma/error.hpp>
#include <stemma/onnx/map_model.hpp>
#include <stemma/open/model_notes.hpp>
#include <stemma/open/original_model.hpp>
#include <stemma/open/write_tagged.hpp>
#include <stemma/query/find_modules.hpp>
#include <stemma/report/analyze_model.hpp>
#include <stemma/report/explanation_json.hpp>
#include <stemma/report/export_model.hpp>
#include <stemma/report/fold_graph.hpp>
#include <stemma/report/summarize_model.hpp>
#include <stemma/types/value_descriptions.hpp>
#include <stemma/weights/identify_parameters.hpp>
#include <stemma_report/html_report.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace web {

namespace {

using stemma::id;
using stemma::no_id;
using json_writer = stemma::json_writer<stemma::string_sink>;

stemma::error refused(std::string_view place, std::string_view why) {
    return {stemma::error_code::refused, "", place, why};
}

/// Returns: the output of `write(sink)`.
template <class Write>
std::string written(Write write) {
    stemma::string_sink sink;
    write(sink);
    return std::move(sink.text);
}

/// Returns: a JSON object with the members written by `write(json)`.
template <class Write>
std::string object(Write write) {
    return written([&](auto& sink) {
        json_writer json(sink);
        json.begin_object(true);
        write(json);
        json.end_object();
        json.finish();
    });
}

stemma::mapped_file viewed(const sparse_file& file) {
    return stemma::mapped_file::viewing(file.bytes(), file.path());
}

std::unique_ptr<stemma::attributed_model> attribute(const sparse_file& file,
                                                    const std::vector<std::string>& captures,
                                                    stemma::attribution_options how = {}) {
    how.captures = stemma::captures_or_original(captures);
    return std::make_unique<stemma::attributed_model>(viewed(file), std::move(how));
}

void write_row(json_writer& json, const stemma::attributed_model& opened, id node) {
    const auto& found = opened.tags();
    const auto& made = found.attributions[node];
    json.begin_array(true);
    const auto name = opened.model().name(node);
    const auto place = stemma::position_text(opened.model(), node);
    json.value(place);
    json.value(name.empty() ? std::string_view(place) : name);
    json.value(opened.model().op_type(node));
    json.value(made.module);
    json.value(found.provenances[made.source]);
    json.value(made.confidence);
    json.value(!found.conflicts.of(node).empty());
    json.end_array();
}

bool contains(std::string_view text, std::string_view lower) {
    const auto small = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    return std::search(text.begin(), text.end(), lower.begin(), lower.end(),
                       [&](char a, char b) { return small(a) == b; }) != text.end();
}

/// Writes the picture of a module: boxes, inputs, outputs, and edges.
class graph_writer {
public:
    graph_writer(json_writer& json, const stemma::attributed_model& opened,
                 const stemma::collapse_options& how)
        : json_(json)
        , opened_(opened)
        , graph_(opened.operators().graph())
        , describe_(opened.model()) {
        const auto& model = opened.model();
        std::vector<bool> shown(model.node_count());
        std::vector<id> module(model.node_count());
        for (id node = 0; node < model.node_count(); ++node) {
            shown[node] = stemma::hide_constants().shows(opened.operators(), node);
            module[node] = opened.tags().attributions[node].module;
        }
        folded_ = stemma::fold_graph(graph_, opened.modules().index(), module, shown, how);
    }

    void write() {
        json_.key("boxes");
        json_.begin_array(true);
        for (const auto& box : folded_.boxes) {
            write_box(box);
        }
        find_ends();
        for (const auto& [value, unused] : ends_[0]) {
            write_end("in", value);
        }
        for (const auto& [value, unused] : ends_[1]) {
            write_end("out", value);
        }
        json_.end_array();
        json_.key("edges");
        json_.begin_array(true);
        for (const auto& edge : folded_.edges) {
            write_edge(edge.from, edge.to, edge.value, edge.values);
        }
        auto number = static_cast<id>(folded_.boxes.size());
        for (const bool out : {false, true}) {
            for (const auto& [value, boxes] : ends_[out ? 1 : 0]) {
                for (const auto box : boxes) {
                    write_edge(out ? box : number, out ? number : box, value, 1);
                }
                ++number;
            }
        }
        json_.end_array();
    }

private:
    void find_ends() {
        const auto& model = opened_.model();
        for (auto [it, last] = vertices(graph_); it != last; ++it) {
            const auto box = folded_.box_of[*it];
            for (auto [e, end] = in_edges(*it, graph_); e != end; ++e) {
                const auto from = source(*e, graph_);
                const bool constant = !stemma::hide_constants().shows(opened_.operators(), from);
                if ((folded_.box_of[from] == no_id) != (box == no_id) && !constant) {
                    const bool out = box == no_id;
                    ends_[out ? 1 : 0][get(stemma::value_index, graph_, *e)].insert(
                        out ? folded_.box_of[from] : box);
                }
            }
            if (box != no_id) {
                for (const auto value : model.inputs(*it)) {
                    if (value != no_id && model.producer(value) == no_id &&
                        !model.is_initializer(value)) {
                        ends_[0][value].insert(box);
                    }
                }
            }
        }
        for (const auto value : model.graph(0).outputs) {
            const auto node = value == no_id ? no_id : model.producer(value);
            if (node != no_id && folded_.box_of[node] != no_id) {
                ends_[1][value].insert(folded_.box_of[node]);
            }
        }
    }

    void write_box(const stemma::folded_box& box) {
        const auto& modules = opened_.modules();
        json_.begin_object(true);
        if (box.kind == stemma::box_kind::one_operator) {
            json_.member("node", box.of);
            json_.member("title", opened_.model().op_type(box.of));
            json_.member("about", opened_.model().name(box.of));
            json_.member("place", stemma::position_text(opened_.model(), box.of));
        } else if (box.kind == stemma::box_kind::closed_module) {
            json_.member("module", box.of);
            json_.member("title", modules.name(box.of));
            json_.member("class", modules.class_name(box.of));
            json_.member("about", modules.path(box.of));
        } else {
            json_.member("rest", true);
        }
        json_.member("around", box.around);
        json_.member("nodes", box.operators);
        json_.end_object();
    }

    void write_end(std::string_view side, id value) {
        json_.begin_object(true);
        json_.member("end", side);
        json_.member("title", opened_.model().value_name(value));
        const stemma::value_description about = describe_(value);
        json_.member("about", about.type_and_shape());
        json_.end_object();
    }

    void write_edge(id from, id to, id value, std::size_t values) {
        const stemma::value_description about = describe_(value);
        json_.begin_array(true);
        json_.value(from);
        json_.value(to);
        json_.value(about.shape);
        json_.value(values);
        json_.value(opened_.model().value_name(value));
        json_.end_array();
    }

    json_writer& json_;
    const stemma::attributed_model& opened_;
    const stemma::operator_graph& graph_;
    stemma::value_descriptions describe_;
    stemma::folded_graph folded_;
    std::array<std::map<id, std::set<id>>, 2> ends_; // by value, the boxes inside
};

} // namespace

void pieces::write(std::string_view text) {
    // Short ranges are cheaper as text.
    constexpr std::size_t least = 4096;
    if (text.size() >= least && from_.holds(text)) {
        all_.push_back(
            {false, static_cast<std::size_t>(text.data() - from_.bytes().data()), text.size()});
        return;
    }
    if (all_.empty() || !all_.back().made) {
        all_.push_back({true, 0, 0});
    }
    all_.back().size += text.size();
    text_.append(text);
}

std::string pieces::list() const {
    return object([&](json_writer& json) {
        json.key("pieces");
        json.begin_array(true);
        for (const auto& one : all_) {
            json.begin_array(true);
            one.made ? json.value(-1) : json.value(one.begin);
            json.value(one.size);
            json.end_array();
        }
        json.end_array();
    });
}

const std::array<std::pair<std::string_view, session::verb>, 15> session::verbs{{
    {"open", &session::open},
    {"tree", &session::tree},
    {"tags", &session::tags},
    {"explain", &session::explain},
    {"query", &session::query},
    {"analyze", &session::analyze},
    {"cost", &session::cost},
    {"rows", &session::rows},
    {"search", &session::search},
    {"graph", &session::graph},
    {"tag", &session::tag},
    {"cut", &session::cut},
    {"report", &session::report},
    {"diff", &session::diff},
    {"carry", &session::carry},
}};

std::string session::call(std::string_view request) {
    const auto asked = json::parse(request);
    const auto name = asked.at("do").get<std::string>();
    const auto* found = std::find_if(verbs.begin(), verbs.end(),
                                     [&](const auto& one) { return one.first == name; });
    if (found == verbs.end()) {
        throw refused("do", "unknown '" + name + "'");
    }
    return (this->*found->second)(asked);
}

session::slot& session::slot_of(const json& asked) {
    return asked.value("slot", "a") == "b" ? second_ : first_;
}

stemma::attributed_model& session::model_of(const json& asked) {
    auto& slot = slot_of(asked);
    if (!slot.model) {
        throw refused("slot", "no model is open");
    }
    return *slot.model;
}

std::string session::handed(std::string list, std::string made) {
    made_ = std::move(made);
    return list;
}

void session::read_all() {
    first_.file->load_all();
    second_.file->load_all();
}

std::string session::open(const json& asked) {
    auto& slot = slot_of(asked);
    slot = {};
    auto file = std::make_unique<sparse_file>(asked.at("file").get<std::string>(),
                                              asked.value("limit", sparse_file::usual_limit));
    stemma::refuse_foreign(viewed(*file));
    slot.captures = asked.value("captures", std::vector<std::string>());
    slot.file = std::move(file);
    slot.model = attribute(*slot.file, slot.captures);
    auto& opened = *slot.model;
    const auto summary = stemma::summarize(opened);
    return object([&](json_writer& json) {
        json.member("model", opened.file().path());
        json.member("bytes", slot.file->bytes().size());
        json.member("loaded", slot.file->loaded());
        json.member("nodes", opened.model().node_count());
        json.member("modules", opened.modules().size());
        json.member("producer", std::string(opened.model().producer_name()) + " " +
                                    std::string(opened.model().producer_version()));
        json.member("tagged", opened.was_tagged());
        json.key("notes");
        json.begin_array(true);
        for (const auto& note : stemma::model_notes(opened)) {
            json.value(note.place.empty() ? note.text : note.place + ": " + note.text);
        }
        json.end_array();
        json.key("summary");
        json.begin_object(true);
        write_summary(json, summary);
        json.end_object();
    });
}

std::string session::tree(const json& asked) {
    const auto& opened = model_of(asked);
    const auto shown = stemma::find_branches(opened, asked.value("module", std::string()));
    return written([&](auto& sink) { stemma::write_tree(sink, opened, shown); });
}

std::string session::tags(const json& asked) {
    auto& opened = model_of(asked);
    const auto summary = stemma::summarize(opened);
    return written([&](auto& sink) { stemma::write_sidecar(sink, opened, summary); });
}

std::string session::explain(const json& asked) {
    auto& opened = model_of(asked);
    stemma::explainer explainer(opened);
    explainer.add_origins(stemma::identify_parameters(opened));
    std::vector<stemma::explanation> answers;
    for (const auto& what : asked.at("what")) {
        answers.push_back(explainer.explain(what.get<std::string>()));
        if (answers.back().empty()) {
            throw stemma::error(stemma::error_code::not_found, opened.file().path(), "",
                                explainer.why_nothing(what.get<std::string>()));
        }
    }
    return written([&](auto& sink) {
        stemma::write_explanations(sink, answers, explainer, opened, opened.file().path());
    });
}

std::string session::query(const json& asked) {
    const auto& opened = model_of(asked);
    const auto text = asked.at("query").get<std::string>();
    const auto answer = stemma::answer_query(stemma::parse_query(text), opened);
    return written([&](auto& sink) { stemma::write_answer(sink, answer, text, opened); });
}

std::string session::analyze(const json& asked) {
    auto& opened = model_of(asked);
    const auto report = stemma::analyze_model(opened, "", "");
    return written([&](auto& sink) { stemma::write_report(sink, report, opened); });
}

std::string session::rows(const json& asked) {
    const auto& opened = model_of(asked);
    const auto m = asked.at("module").get<id>();
    const auto first = asked.value("first", std::size_t{0});
    const auto count = std::min(asked.value("count", std::size_t{100}), std::size_t{1000});
    const auto& tree = opened.modules().index();
    if (m >= tree.size()) {
        throw refused("module", "no module has this number");
    }
    return object([&](json_writer& json) {
        json.key("rows");
        json.begin_array(true);
        std::size_t at = 0;
        for (id node = 0; node < opened.model().node_count(); ++node) {
            const auto of = opened.tags().attributions[node].module;
            if (of >= m && of < tree.end(m) && at++ >= first && at <= first + count) {
                write_row(json, opened, node);
            }
        }
        json.end_array();
        json.member("total", at);
    });
}

std::string session::search(const json& asked) {
    const auto& opened = model_of(asked);
    auto text = asked.at("text").get<std::string>();
    std::transform(text.begin(), text.end(), text.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    constexpr std::size_t most = 200;
    return object([&](json_writer& json) {
        std::size_t modules = 0;
        json.key("modules");
        json.begin_array(true);
        for (id m = 0; m < opened.modules().size(); ++m) {
            if ((contains(opened.modules().path(m), text) ||
                 contains(opened.modules().class_name(m), text)) &&
                modules++ < most) {
                json.value(m);
            }
        }
        json.end_array();
        std::size_t nodes = 0;
        json.key("nodes");
        json.begin_array(true);
        for (id node = 0; node < opened.model().node_count(); ++node) {
            if ((contains(opened.model().name(node), text) ||
                 contains(opened.model().op_type(node), text)) &&
                nodes++ < most) {
                write_row(json, opened, node);
            }
        }
        json.end_array();
        json.member("module_count", modules);
        json.member("node_count", nodes);
    });
}

std::string session::graph(const json& asked) {
    const auto& opened = model_of(asked);
    stemma::collapse_options how;
    how.root = asked.at("module").get<id>();
    how.depth = asked.value("depth", id{0});
    how.max_boxes = std::clamp<std::size_t>(asked.value("boxes", std::size_t{120}), 2, 1000);
    if (how.root >= opened.modules().size()) {
        throw refused("module", "no module has this number");
    }
    return object([&](json_writer& json) { graph_writer(json, opened, how).write(); });
}

std::string session::tag(const json& asked) {
    const auto& slot = slot_of(asked);
    static_cast<void>(model_of(asked));
    stemma::attribution_options how;
    how.retag = true;
    how.digest = true;
    const auto opened = attribute(*slot.file, slot.captures, std::move(how));
    pieces file(*slot.file);
    stemma::write_tagged(file, *opened);
    return handed(file.list(), file.text());
}

std::string session::cut(const json& asked) {
    auto& opened = model_of(asked);
    const auto text = asked.at("module").get<std::string>();
    const auto modules = stemma::find_modules(opened, text);
    if (modules.size() != 1) {
        throw refused("module",
                      "'" + text + "' asks for " + std::to_string(modules.size()) + " modules");
    }
    stemma::model_cutter cutter(opened.model());
    const auto part = cutter.cut(opened, {.module = modules.front()});
    pieces file(*slot_of(asked).file);
    part.write(file);
    return handed(file.list(), file.text());
}

std::string session::diff(const json& asked) {
    auto& first = model_of({{"slot", "a"}});
    auto& second = model_of({{"slot", "b"}});
    stemma::diff_options how;
    how.weights = asked.value("weights", true);
    if (how.weights) { // which are read then
        read_all();
    }
    const auto found = stemma::diff_models(first, second, how);
    return written([&](auto& sink) {
        stemma::write_diff(sink, found, first, second, asked.value("nodes", false));
    });
}

/// The second model's file, with tags carried from the first.
std::string session::carry(const json& asked) {
    static_cast<void>(model_of({{"slot", "a"}}));
    static_cast<void>(model_of({{"slot", "b"}}));
    if (asked.value("weights", true)) { // which tell what a node came from
        read_all();
    }
    stemma::attribution_options of_original;
    of_original.min_confidence = 0;
    std::shared_ptr<stemma::attributed_model> original =
        attribute(*first_.file, first_.captures, std::move(of_original));
    original->forget_evidence();
    stemma::attribution_options how;
    how.captures = stemma::carried_from(std::move(original));
    how.recompute = true;
    how.digest = true;
    stemma::attributed_model opened(viewed(*second_.file), std::move(how));
    if (opened.tags().origins.empty()) {
        throw refused("carry", "nothing of the other model comes from this one");
    }
    pieces file(*second_.file);
    stemma::write_tagged(file, opened);
    return handed(file.list(), file.text());
}

std::string session::report(const json& asked) {
    auto& opened = model_of(asked);
    auto text = written([&](auto& sink) { stemma_report::write_html_report(sink, opened); });
    const auto list = "{\"pieces\":[[-1," + std::to_string(text.size()) + "]]}";
    return handed(list, std::move(text));
}

std::string session::cost(const json& asked) {
    auto& opened = model_of(asked);
    stemma::cost_options how;
    for (const auto& [name, size] : asked.value("dims", std::map<std::string, std::int64_t>())) {
        how.dims[name] = size;
    }
    const auto found = stemma::find_cost(opened, how);
    const auto report = stemma::analyze_model(opened, "", "");
    return written([&](auto& sink) {
        stemma::write_cost(sink, found, opened, report.part.modules, report.analysis.modules);
    });
}

} // namespace web
