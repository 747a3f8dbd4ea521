// SPDX-License-Identifier: Apache-2.0
#include "web_session.hpp"

#include "sparse_file.hpp"

#include <stemma/compare/diff_models.hpp>
#include <stemma/compare/write_diff.hpp>
#include <stemma/core/detail/ascii.hpp>
#include <stemma/core/detail/grouped_ids.hpp>
#include <stemma/core/id.hpp>
#include <stemma/cost/cost_report.hpp>
#include <stemma/cost/model_cost.hpp>
#include <stemma/cut/model_cutter.hpp>
#include <stemma/error.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/model/detail/operator_domain.hpp>
#include <stemma/onnx/detail/graph_calls.hpp>
#include <stemma/onnx/map_model.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma/open/model_notes.hpp>
#include <stemma/open/original_model.hpp>
#include <stemma/open/write_tagged.hpp>
#include <stemma/query/find_modules.hpp>
#include <stemma/record/module_statistics.hpp>
#include <stemma/report/analyze_model.hpp>
#include <stemma/report/detail/module_looks.hpp>
#include <stemma/report/detail/shape_arithmetic.hpp>
#include <stemma/report/explanation_json.hpp>
#include <stemma/report/export_model.hpp>
#include <stemma/report/fold_graph.hpp>
#include <stemma/report/summarize_model.hpp>
#include <stemma/report/why_nothing.hpp>
#include <stemma/types/value_descriptions.hpp>
#include <stemma/weights/identify_parameters.hpp>
#include <stemma_report/html_report.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace web {

/// A file to download, in pieces: generated texts, and ranges of the opened file, which are not
/// read here.
class pieces {
public:
    explicit pieces(const sparse_file& from) : from_(from) {}

    void write(std::string_view text);

    /// Returns: `{"pieces":[[from,size],[-1,size],...]}`: a range of the file, or the next `size`
    /// bytes of `text`.
    [[nodiscard]] std::string list() const;

    [[nodiscard]] const std::string& text() const noexcept { return text_; }

private:
    struct piece {
        bool is_text;
        std::size_t begin; // of a range
        std::size_t size;
    };

    const sparse_file& from_;
    std::string text_;
    std::vector<piece> all_;
};

class session::answers {
public:
    [[nodiscard]] std::string call(std::string_view request);
    [[nodiscard]] const std::string& made() const noexcept { return output_; }

private:
    struct slot {
        std::unique_ptr<sparse_file> file;
        std::vector<std::string> captures;
        std::unique_ptr<stemma::attributed_model> model;
        stemma::module_statistics counts;
        std::unique_ptr<stemma::model_cost> cost; // as soon as it was asked for
    };
    using json = nlohmann::json;
    using verb = std::string (answers::*)(const json& asked);

    static const std::array<std::pair<std::string_view, verb>, 17> verbs;

    std::string open(const json& asked);
    std::string outline(const json& asked);
    std::string tree(const json& asked);
    std::string tags(const json& asked);
    std::string explain(const json& asked);
    std::string query(const json& asked);
    std::string matches(const json& asked);
    std::string cost(const json& asked);
    std::string costs(const json& asked);
    std::string rows(const json& asked);
    std::string search(const json& asked);
    std::string graph(const json& asked);
    std::string tag(const json& asked);
    std::string cut(const json& asked);
    std::string report(const json& asked);
    std::string diff(const json& asked);
    std::string carry(const json& asked);

    [[nodiscard]] slot& slot_of(const json& asked);
    [[nodiscard]] const stemma::attributed_model& model_of(const json& asked);
    [[nodiscard]] stemma::id module_of(const json& asked);
    [[nodiscard]] std::string handed(std::string list, std::string text);
    void read_all();

    slot first_;
    slot second_;
    std::string output_;
};

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

std::unique_ptr<stemma::attributed_model> opened_with(const sparse_file& file,
                                                      const std::vector<std::string>& captures,
                                                      stemma::attribution_options how = {}) {
    how.captures = stemma::captures_or_original(captures);
    return std::make_unique<stemma::attributed_model>(viewed(file), std::move(how));
}

void write_row(json_writer& json, const stemma::attributed_model& opened, id node) {
    const auto& tags = opened.tags();
    const auto& attribution = tags.attributions[node];
    json.begin_array(true);
    const auto name = opened.model().name(node);
    const auto place = stemma::position_text(opened.model(), node);
    json.value(place);
    json.value(name.empty() ? std::string_view(place) : name);
    json.value(opened.model().op_type(node));
    json.value(attribution.module);
    json.value(tags.provenances[attribution.source]);
    json.value(attribution.confidence);
    json.value(!tags.conflicts.of(node).empty());
    json.end_array();
}

/// Returns: as JSON the first modules and nodes, as numbers and rows, and how many there are.
std::string first_of(const stemma::attributed_model& opened, const std::vector<id>& modules,
                     const std::vector<id>& nodes) {
    constexpr std::size_t most = 200;
    return object([&](json_writer& json) {
        json.key("modules");
        json.begin_array(true);
        for (std::size_t i = 0; i < std::min(modules.size(), most); ++i) {
            json.value(modules[i]);
        }
        json.end_array();
        json.key("nodes");
        json.begin_array(true);
        for (std::size_t i = 0; i < std::min(nodes.size(), most); ++i) {
            write_row(json, opened, nodes[i]);
        }
        json.end_array();
        json.member("module_count", modules.size());
        json.member("node_count", nodes.size());
    });
}

bool contains(std::string_view text, std::string_view lower) {
    return std::search(text.begin(), text.end(), lower.begin(), lower.end(), [&](char a, char b) {
               return stemma::detail::to_lower(a) == b;
           }) != text.end();
}

/// Writes the picture of a module: boxes, inputs, outputs, and edges.
class graph_writer {
public:
    graph_writer(json_writer& json, const stemma::attributed_model& opened,
                 const stemma::collapse_options& how)
        : json_(json)
        , opened_(opened)
        , graph_(opened.operators().graph())
        , describe_(opened.model())
        , calls_(opened.model())
        , constant_(opened.model().value_count()) {
        const auto& model = opened.model();
        std::vector<bool> shown(model.node_count());
        std::vector<id> module(model.node_count());
        for (id node = 0; node < model.node_count(); ++node) {
            shown[node] = stemma::hide_constants().shows(opened.operators(), node);
            module[node] = opened.tags().attributions[node].module;
        }
        folded_ = stemma::fold_graph(graph_, opened.modules().index(), module, shown, how,
                                     stemma::detail::find_shape_arithmetic(model));
        for (id value = 0; value < model.value_count(); ++value) {
            const auto producer = model.producer(value);
            constant_[value] =
                model.is_initializer(value) || (producer != no_id && !shown[producer]);
        }
        calls_.add_passed_on(constant_);
        inside_ = stemma::detail::grouped_ids(folded_.boxes.size(), [&](auto take) {
            for (id node = 0; node < folded_.box_of.size(); ++node) {
                if (folded_.box_of[node] != no_id) {
                    take(folded_.box_of[node], node);
                }
            }
        });
    }

    void write() {
        json_.key("boxes");
        json_.begin_array(true);
        for (id box = 0; box < folded_.boxes.size(); ++box) {
            write_box(box);
        }
        find_ends();
        join_many(ends_[0]);
        join_many(ends_[1]);
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
                const auto value = get(stemma::value_index, graph_, *e);
                if (is_outside(from) != (box == no_id) && !constant_[value]) {
                    const bool out = box == no_id;
                    ends_[out ? 1 : 0][value].insert(out ? folded_.box_of[from] : box);
                }
            }
            if (box != no_id) {
                for (const auto value : model.inputs(*it)) {
                    if (value != no_id && comes_from_outside(value)) {
                        ends_[0][value].insert(box);
                    }
                }
                for (auto value : model.outputs(*it)) {
                    if (is_passed_outside(value)) {
                        ends_[1][value].insert(box);
                    }
                }
            }
        }
    }

    /// Leaves only the first values; the others become one, numbered `no_id`.
    void join_many(std::map<id, std::set<id>>& ends) {
        constexpr std::size_t most = 40;
        if (ends.size() <= most + 1) {
            return;
        }
        const auto first = std::next(ends.begin(), most);
        std::set<id> boxes;
        for (auto it = first; it != ends.end(); ++it) {
            boxes.merge(it->second);
        }
        joined_[&ends == &ends_[1] ? 1 : 0] = ends.size() - most;
        ends.erase(first, ends.end());
        ends.emplace(no_id, std::move(boxes));
    }

    [[nodiscard]] bool is_outside(id node) const { return folded_.box_of[node] == no_id; }

    /// Whether no node makes a value, and it is passed to what is shown.
    [[nodiscard]] bool comes_from_outside(id value) const {
        if (constant_[value]) {
            return false;
        }
        const auto kind = opened_.model().kind(value);
        bool outside = kind == stemma::value_kind::input || kind == stemma::value_kind::undefined;
        calls_.for_each_way_in(value, [&](id node, id) { outside = outside || is_outside(node); });
        return outside;
    }

    /// Whether a value is a result of the model, or of a body or function run from elsewhere.
    [[nodiscard]] bool is_passed_outside(id value) const {
        bool outside = calls_.is_result(value);
        calls_.for_each_way_out(value, [&](id node) { outside = outside || is_outside(node); });
        return outside;
    }

    void write_box(id number) {
        const auto& box = folded_.boxes[number];
        const auto& modules = opened_.modules();
        json_.begin_object(true);
        if (box.kind == stemma::folded_graph::box_kind::one_operator) {
            write_operator(box.of);
        } else if (box.kind == stemma::folded_graph::box_kind::closed_module) {
            json_.member("module", box.of);
            json_.member("title", modules.name(box.of));
            json_.member("class", modules.class_name(box.of));
            json_.member("about", modules.path(box.of));
        } else if (box.kind == stemma::folded_graph::box_kind::shape_arithmetic) {
            write_inside(number);
        } else {
            json_.member("rest", true);
        }
        json_.member("around", box.around);
        json_.member("nodes", box.operators);
        json_.end_object();
    }

    void write_operator(id node) {
        json_.member("node", node);
        json_.member("title", opened_.model().op_type(node));
        json_.member("about", opened_.model().name(node));
        json_.member("place", stemma::position_text(opened_.model(), node));
    }

    /// Writes the operators that a box joins, and the edges between them.
    void write_inside(id box) {
        const auto nodes = inside_[box];
        json_.key("inside");
        json_.begin_object(true);
        json_.key("boxes");
        json_.begin_array(true);
        for (const auto node : nodes) {
            json_.begin_object(true);
            write_operator(node);
            json_.end_object();
        }
        json_.end_array();
        json_.key("edges");
        json_.begin_array(true);
        for (id to = 0; to < nodes.size(); ++to) {
            std::set<id> written; // sources
            for (auto [e, end] = in_edges(nodes[to], graph_); e != end; ++e) {
                const auto from = std::lower_bound(nodes.begin(), nodes.end(), source(*e, graph_));
                if (from != nodes.end() && *from == source(*e, graph_) &&
                    written.insert(*from).second) {
                    write_edge(static_cast<id>(from - nodes.begin()), to,
                               get(stemma::value_index, graph_, *e), 1);
                }
            }
        }
        json_.end_array();
        json_.end_object();
    }

    void write_end(std::string_view side, id value) {
        json_.begin_object(true);
        json_.member("end", side);
        if (value == no_id) {
            json_.member("more", joined_[side == "out" ? 1 : 0]);
        } else {
            json_.member("title", opened_.model().value_name(value));
            const stemma::value_description about = describe_(value);
            json_.member("about", about.type_and_shape());
        }
        json_.end_object();
    }

    void write_edge(id from, id to, id value, std::size_t values) {
        json_.begin_array(true);
        json_.value(from);
        json_.value(to);
        json_.value(value == no_id ? "" : stemma::value_description(describe_(value)).shape);
        json_.value(values);
        json_.value(value == no_id ? "" : opened_.model().value_name(value));
        json_.end_array();
    }

    json_writer& json_;
    const stemma::attributed_model& opened_;
    const stemma::operator_graph& graph_;
    stemma::value_descriptions describe_;
    stemma::detail::graph_calls calls_;
    std::vector<bool> constant_; // by value
    stemma::folded_graph folded_;
    stemma::detail::grouped_ids inside_;             // nodes by box
    std::array<std::map<id, std::set<id>>, 2> ends_; // boxes of the graph by value
    std::array<std::size_t, 2> joined_{};            // values that are one end
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
    if (all_.empty() || !all_.back().is_text) {
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
            one.is_text ? json.value(-1) : json.value(one.begin);
            json.value(one.size);
            json.end_array();
        }
        json.end_array();
    });
}

const std::array<std::pair<std::string_view, session::answers::verb>, 17> session::answers::verbs{{
    {"open", &session::answers::open},
    {"outline", &session::answers::outline},
    {"tree", &session::answers::tree},
    {"tags", &session::answers::tags},
    {"explain", &session::answers::explain},
    {"query", &session::answers::query},
    {"matches", &session::answers::matches},
    {"cost", &session::answers::cost},
    {"costs", &session::answers::costs},
    {"rows", &session::answers::rows},
    {"search", &session::answers::search},
    {"graph", &session::answers::graph},
    {"tag", &session::answers::tag},
    {"cut", &session::answers::cut},
    {"report", &session::answers::report},
    {"diff", &session::answers::diff},
    {"carry", &session::answers::carry},
}};

std::string session::answers::call(std::string_view request) {
    const auto asked = json::parse(request);
    const auto name = asked.at("do").get<std::string>();
    const auto* entry = std::find_if(verbs.begin(), verbs.end(),
                                     [&](const auto& one) { return one.first == name; });
    if (entry == verbs.end()) {
        throw refused("do", "unknown '" + name + "'");
    }
    return (this->*entry->second)(asked);
}

session::answers::slot& session::answers::slot_of(const json& asked) {
    return asked.value("slot", "a") == "b" ? second_ : first_;
}

const stemma::attributed_model& session::answers::model_of(const json& asked) {
    auto& slot = slot_of(asked);
    if (!slot.model) {
        throw refused("slot", "no model is open");
    }
    return *slot.model;
}

id session::answers::module_of(const json& asked) {
    const auto m = asked.at("module").get<id>();
    if (m >= model_of(asked).modules().size()) {
        throw refused("module", "no module has this number");
    }
    return m;
}

std::string session::answers::handed(std::string list, std::string text) {
    output_ = std::move(text);
    return list;
}

void session::answers::read_all() {
    first_.file->load_all();
    second_.file->load_all();
}

std::string session::answers::open(const json& asked) {
    auto& slot = slot_of(asked);
    slot = {};
    auto file = std::make_unique<sparse_file>(asked.at("file").get<std::string>(),
                                              asked.value("limit", sparse_file::usual_limit));
    stemma::refuse_foreign(viewed(*file));
    slot.captures = asked.value("captures", std::vector<std::string>());
    slot.file = std::move(file);
    slot.model = opened_with(*slot.file, slot.captures);
    auto& opened = *slot.model;
    slot.counts = stemma::collect_statistics(opened.model(), opened.modules(), opened.tags());
    const auto summary = stemma::summarize(opened);
    return object([&](json_writer& json) {
        json.member("model", opened.file().path());
        json.member("bytes", slot.file->bytes().size());
        json.member("loaded", slot.file->loaded());
        json.member("nodes", opened.model().node_count());
        json.member("modules", opened.modules().size());
        json.member("parameters", slot.counts.parameters[0]);
        json.member("producer", std::string(opened.model().producer_name()) + " " +
                                    std::string(opened.model().producer_version()));
        json.member("ir", opened.model().ir_version());
        json.key("opsets");
        json.begin_object(true);
        for (const auto& opset : opened.model().opset_imports()) {
            json.member(stemma::detail::spelled_domain(opset.domain), opset.version);
        }
        json.end_object();
        json.member("tagged", opened.was_tagged());
        json.key("notes");
        json.begin_array(true);
        for (const auto& note : stemma::model_notes(opened)) {
            json.value(note.place.empty() ? note.text : note.place + ": " + note.text);
        }
        json.end_array();
        json.member("coverage", summary.coverage());
        json.member("conflicts", summary.conflicts);
        json.key("provenance");
        json.begin_object(true);
        for (std::size_t p = 0; p < summary.provenance.size(); ++p) {
            if (summary.provenance[p] > 0) {
                json.member(summary.provenances[static_cast<stemma::provenance>(p)],
                            summary.provenance[p]);
            }
        }
        json.end_object();
    });
}

std::string session::answers::outline(const json& asked) {
    const auto& opened = model_of(asked);
    const auto& counts = slot_of(asked).counts;
    const auto& modules = opened.modules();
    const auto looks = stemma::detail::module_looks(opened.operators(), modules, opened.tags());
    std::map<std::string_view, std::size_t> classes;
    return object([&](json_writer& json) {
        const auto column = [&](std::string_view name, auto cell) {
            json.key(name);
            json.begin_array(true);
            for (id m = 0; m < modules.size(); ++m) {
                cell(m);
            }
            json.end_array();
        };
        const auto number = [&](id of) { of == no_id ? json.value(-1) : json.value(of); };
        column("names", [&](id m) { json.value(modules.name(m)); });
        column("parents", [&](id m) { number(m == 0 ? no_id : modules.index().parent(m)); });
        column("nodes", [&](id m) { json.value(counts.nodes[m]); });
        column("parameters", [&](id m) { json.value(counts.parameters[m]); });
        column("looks", [&](id m) { number(looks[m]); });
        column("classes", [&](id m) { // or its number, if it occurred before
            const auto [entry, is_new] = classes.emplace(modules.class_name(m), classes.size());
            is_new ? json.value(entry->first) : json.value(entry->second);
        });
    });
}

std::string session::answers::tree(const json& asked) {
    const auto& opened = model_of(asked);
    const auto shown = stemma::find_branches(opened, asked.value("module", std::string()));
    return written([&](auto& sink) { stemma::write_tree(sink, opened, shown); });
}

std::string session::answers::tags(const json& asked) {
    auto& opened = model_of(asked);
    const auto summary = stemma::summarize(opened);
    return written([&](auto& sink) { stemma::write_sidecar(sink, opened, summary); });
}

std::string session::answers::explain(const json& asked) {
    auto& opened = model_of(asked);
    stemma::explainer explainer(opened);
    explainer.add_origins(stemma::identify_parameters(opened));
    std::vector<stemma::explanation> answers;
    for (const auto& what : asked.at("what")) {
        answers.push_back(explainer.explain(what.get<std::string>()));
        if (answers.back().empty()) {
            throw stemma::error(stemma::error_code::not_found, opened.file().path(), "",
                                stemma::why_nothing(opened, what.get<std::string>()));
        }
    }
    return written([&](auto& sink) { stemma::write_json(sink, answers, explainer); });
}

std::string session::answers::query(const json& asked) {
    const auto& opened = model_of(asked);
    const auto text = asked.at("query").get<std::string>();
    const auto answer = stemma::answer_query(stemma::parse_query(opened, text), opened);
    return written([&](auto& sink) { stemma::write_json(sink, answer, text, opened); });
}

std::string session::answers::rows(const json& asked) {
    const auto& opened = model_of(asked);
    const auto m = module_of(asked);
    const auto first = asked.value("first", std::size_t{0});
    const auto count = std::min(asked.value("count", std::size_t{100}), std::size_t{1000});
    const auto& tree = opened.modules().index();
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

std::string session::answers::search(const json& asked) {
    const auto& opened = model_of(asked);
    const auto text = stemma::detail::to_lower(asked.at("text").get<std::string>());
    std::vector<id> modules;
    for (id m = 0; m < opened.modules().size(); ++m) {
        if (contains(opened.modules().path(m), text) ||
            contains(opened.modules().class_name(m), text)) {
            modules.push_back(m);
        }
    }
    std::vector<id> nodes;
    for (id node = 0; node < opened.model().node_count(); ++node) {
        if (contains(opened.model().name(node), text) ||
            contains(opened.model().op_type(node), text)) {
            nodes.push_back(node);
        }
    }
    return first_of(opened, modules, nodes);
}

std::string session::answers::matches(const json& asked) {
    const auto& opened = model_of(asked);
    const auto text = asked.at("query").get<std::string>();
    const auto answer = stemma::answer_query(stemma::parse_query(opened, text), opened);
    return first_of(opened, answer.modules, answer.nodes);
}

std::string session::answers::graph(const json& asked) {
    const auto& opened = model_of(asked);
    stemma::collapse_options how;
    how.root = module_of(asked);
    how.depth = 0;
    how.max_boxes = std::clamp<std::size_t>(asked.value("boxes", std::size_t{120}), 2, 1000);
    return object([&](json_writer& json) { graph_writer(json, opened, how).write(); });
}

std::string session::answers::tag(const json& asked) {
    const auto& slot = slot_of(asked);
    static_cast<void>(model_of(asked));
    stemma::attribution_options how;
    how.retag = true;
    how.digest = true;
    const auto opened = opened_with(*slot.file, slot.captures, std::move(how));
    pieces file(*slot.file);
    stemma::write_tagged(file, *opened);
    return handed(file.list(), file.text());
}

std::string session::answers::cut(const json& asked) {
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

std::string session::answers::diff(const json& asked) {
    auto& first = model_of({{"slot", "a"}});
    auto& second = model_of({{"slot", "b"}});
    stemma::diff_options how;
    how.weights = asked.value("weights", true);
    if (how.weights) { // are compared, so they must be read
        read_all();
    }
    const auto difference = stemma::diff_models(first, second, how);
    return written([&](auto& sink) {
        stemma::write_json(sink, difference, first, second, asked.value("nodes", false));
    });
}

/// The second model's file, with tags carried from the first.
std::string session::answers::carry(const json& asked) {
    static_cast<void>(model_of({{"slot", "a"}}));
    static_cast<void>(model_of({{"slot", "b"}}));
    if (asked.value("weights", true)) { // are evidence of where a node came from
        read_all();
    }
    stemma::attribution_options of_original;
    of_original.min_confidence = 0;
    std::shared_ptr<stemma::attributed_model> original =
        opened_with(*first_.file, first_.captures, std::move(of_original));
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

std::string session::answers::report(const json& asked) {
    auto& opened = model_of(asked);
    auto text = written([&](auto& sink) { stemma_report::write_html_report(sink, opened); });
    const auto list = "{\"pieces\":[[-1," + std::to_string(text.size()) + "]]}";
    return handed(list, std::move(text));
}

std::string session::answers::cost(const json& asked) {
    auto& opened = model_of(asked);
    stemma::cost_options how;
    for (const auto& [name, size] : asked.value("dims", std::map<std::string, std::int64_t>())) {
        how.dims[name] = size;
    }
    const auto costs = stemma::find_cost(opened, how);
    const auto report = stemma::analyze_model(opened, "", "");
    return written([&](auto& sink) {
        stemma::write_json(sink, costs, opened, report.modules, report.analysis.modules);
    });
}

std::string session::answers::costs(const json& asked) {
    auto& slot = slot_of(asked);
    auto& opened = model_of(asked);
    const auto m = module_of(asked);
    const auto end = opened.modules().index().end(m);
    const auto count = std::min<id>(end - m, 300);
    if (!slot.cost) {
        slot.cost = std::make_unique<stemma::model_cost>(stemma::find_cost(opened, {}));
    }
    const auto& costs = *slot.cost;
    return object([&](json_writer& json) {
        json.key("dimensions");
        json.begin_array(true);
        for (const auto& name : costs.open_dims()) {
            json.value(name);
        }
        json.end_array();
        json.key("rows");
        json.begin_array(true);
        for (id below = m; below < m + count; ++below) {
            json.begin_array(true);
            json.value(below);
            json.value(costs.text(costs[below].macs));
            json.value(slot.counts.bytes[below]);
            json.value(costs.text(costs[below].peak));
            json.end_array();
        }
        json.end_array();
        json.member("total", end - m);
    });
}

session::session() : answers_(std::make_unique<answers>()) {}

session::~session() = default;

std::string session::call(std::string_view request) {
    return answers_->call(request);
}

const std::string& session::made() const noexcept {
    return answers_->made();
}

} // namespace web
