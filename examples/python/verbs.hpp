// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EXAMPLES_PYTHON_VERBS_HPP
#define STEMMA_EXAMPLES_PYTHON_VERBS_HPP

#include "calls.hpp"

#include <pybind11/stl/filesystem.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

/// What can be asked of a model, and done with it. Answers are the JSON that the program prints.
namespace stemma_python {

/// How a model is to be opened, as Python says it.
struct open_request {
    texts captures{};
    model_ptr original{}; ///< what it was derived from, or null
    stemma::policy_names names{};
    float min_confidence = 0;
    bool recompute = false;
    bool retag = false;
    unsigned threads = 0;
};

/// Opens a file, or `bytes` where there are some. Called without the interpreter's lock.
inline model_ptr open_model(std::string name, std::optional<std::string> bytes,
                            const open_request& asked) {
    const auto start = std::chrono::steady_clock::now();
    if (!(asked.min_confidence >= 0 && asked.min_confidence <= 1)) {
        throw py::value_error("min_confidence is not a number from 0 to 1");
    }
    stemma::attribution_options how;
    how.min_confidence = asked.min_confidence;
    how.recompute = asked.recompute;
    how.retag = asked.retag;
    how = asked.names.found_in(registry(), std::move(how));
    const auto allowed = asked.threads == 0 ? stemma::thread_limit::of_machine()
                                            : stemma::thread_limit{asked.threads};
    const stemma::thread_scope threads(allowed);
    if (asked.original != nullptr) {
        how.captures = stemma::carried_from(std::shared_ptr<const stemma::attributed_model>(
            asked.original, &asked.original->model.parts()));
        how.recompute = true;
    } else {
        how.captures = stemma::captures_or_original(asked.captures);
    }
    auto opened = bytes ? stemma::open_bytes(*std::move(bytes), name, std::move(how))
                        : stemma::open(name, std::move(how));
    if (asked.original != nullptr) {
        stemma::detail::refuse_stranger(opened.parts(),
                                        asked.original->model.parts().file().path());
    }
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    return std::make_shared<opened_model>(std::move(opened), allowed, elapsed.count());
}

inline stemma::tag_summary summary_of(const model_ptr& of, const stemma::attributed_model& opened,
                                      const std::string& oracle) {
    auto summary = stemma::summarize(opened, oracle);
    summary.seconds = of->seconds;
    return summary;
}

using asked_thing = std::variant<std::string, stemma::node_id, stemma::value_id, stemma::module_id>;

/// Returns: the node, value, weight or module of model `of`, or the text.
inline asked_thing asked_for(const model_ptr& of, const py::handle& what) {
    const auto own = [&](const auto& one) -> const auto& {
        if (one.of != of) {
            throw py::value_error("a handle of another model");
        }
        return one.ref;
    };
    if (py::isinstance<py_node>(what)) {
        return own(what.cast<const py_node&>()).id();
    }
    if (py::isinstance<py_value>(what)) {
        return own(what.cast<const py_value&>()).id();
    }
    if (py::isinstance<py_module>(what)) {
        return own(what.cast<const py_module&>()).id();
    }
    if (py::isinstance<py_parameter>(what)) {
        return own(what.cast<const py_parameter&>()).value().id();
    }
    if (!py::isinstance<py::str>(what)) {
        throw py::type_error("a name, or a handle of a node, value, parameter or module is wanted");
    }
    return what.cast<std::string>();
}

inline py::object explain(const model_ptr& of, const py::args& asked) {
    std::vector<asked_thing> things;
    for (const auto one : asked) {
        things.push_back(asked_for(of, one));
    }
    return told(of, [&](const stemma::attributed_model& opened) {
        stemma::explainer explainer(opened);
        explainer.add_origins(stemma::identify_parameters(opened));
        std::vector<stemma::explanation> answers;
        for (const auto& thing : things) {
            answers.push_back(
                std::visit([&](const auto& one) { return explainer.explain(one); }, thing));
            if (answers.back().empty()) {
                throw stemma::error(stemma::error_code::not_found, opened.model().file(), "",
                                    stemma::why_nothing(opened, answers.back().asked));
            }
        }
        return written([&](auto& sink) { stemma::write_json(sink, answers, explainer); });
    });
}

/// What a query finds.
struct py_answer {
    model_ptr of;
    std::string query;
    stemma::query_answer found;
};

inline py_answer run_query(const model_ptr& of, const std::string& query,
                           const std::optional<std::string>& sort,
                           const std::optional<std::size_t>& top,
                           const std::map<std::string, std::int64_t>& dims) {
    if (top == 0) {
        throw py::value_error("top is not a positive number");
    }
    const auto measure = stemma::parse_name<stemma::cost_measure>(sort.value_or(""));
    if (!measure && !dims.empty()) {
        throw py::value_error("dims need sort='macs', 'flops' or 'activations'");
    }
    auto matches = ask(of, [&](const stemma::model& model) {
        auto answer = stemma::answer_query(stemma::parse_query(model.parts(), query), model);
        const auto most = top.value_or(std::numeric_limits<std::size_t>::max());
        if (measure) {
            stemma::sort_answer(answer, stemma::find_cost(model, {.dims = dims}), *measure, most);
            return answer;
        }
        std::optional<stemma::query_answer::order> order;
        if (sort) {
            order = chosen(stemma::parse_name<stemma::query_answer::order>(*sort), "order", *sort,
                           "nodes, parameters, bytes, name, macs, flops, activations");
        }
        stemma::sort_answer(answer, model, order, most);
        return answer;
    });
    return {of, query, std::move(matches)};
}

template <class Ref>
py::object listed(const py_answer& answer, const std::vector<stemma::id>& ids) {
    const py::cpp_function at([of = answer.of, ids](std::size_t i) {
        const auto index = ids[i];
        if constexpr (std::is_same_v<Ref, stemma::node_ref>) {
            return hold(of, of->model.node(stemma::node_id(index)));
        } else if constexpr (std::is_same_v<Ref, stemma::module_ref>) {
            return hold(of, of->model.module(stemma::module_id(index)));
        } else {
            return hold(of, of->model.value(stemma::value_id(index)));
        }
    });
    return py::module_::import("stemma._handles").attr("Handles")(ids.size(), at);
}

inline py::object answer_json(const py_answer& answer) {
    return told(answer.of, [&](const stemma::attributed_model& opened) {
        return written(
            [&](auto& sink) { stemma::write_json(sink, answer.found, answer.query, opened); });
    });
}

inline stemma::write_options writing(const std::string& data, bool force, bool name_nodes = false) {
    stemma::write_options how;
    how.data = placement(data);
    how.replace_data = force;
    how.name_nodes = name_nodes;
    return how;
}

inline py::bytes to_bytes(const model_ptr& of, const std::string& carriers) {
    return ask(of, [&](const stemma::model& model) {
        return stemma::tagged_bytes(model.parts(), stemma::carrier_set::named(carriers));
    });
}

inline stemma::part cut(const model_ptr& of, const std::string& query, const std::string& pull,
                        const std::string& gaps, const std::string& data) {
    stemma::cut_options how;
    how.policy = stemma::standard_cut{
        chosen(stemma::parse_pull(pull), "pull", pull, "none, constants, weights, shapes, all"),
        chosen(stemma::parse_name<stemma::gap_rule>(gaps), "gaps", gaps, "refuse, runs, absorb")};
    how.data = placement(data);
    how.infer = infer_with_onnx;
    notes said;
    how.note = said.listener();
    auto part = ask(of, [&](const stemma::model& model) {
        if (!stemma::parse_query(model.parts(), query).asks_for_operators()) {
            return model.cut(query, how);
        }
        auto& opened = model.parts();
        stemma::model_cutter cutter(opened.model(), how);
        return stemma::part(std::make_shared<const stemma::model_part>(
            cutter.cut(opened, {.nodes = stemma::find_nodes(opened, query)})));
    });
    said.warn();
    return part;
}

inline py::object split(const model_ptr& of, const path& folder,
                        const std::optional<unsigned>& depth, const texts& modules,
                        const std::optional<std::size_t>& parts, const std::string& cost,
                        bool merge, const std::string& data, bool force) {
    if (depth.has_value() + !modules.empty() + parts.has_value() != 1) {
        throw stemma::error(stemma::error_code::refused, "", "split",
                            "takes one of depth, modules and parts");
    }
    stemma::split_options how;
    how.cost = registry().costs.get("cost", cost);
    how.merge = merge;
    how.data = placement(data);
    how.force = force;
    how.infer = infer_with_onnx;
    notes said;
    how.note = said.listener();
    auto manifest = told(of, [&](const stemma::attributed_model& opened) {
        if (parts) {
            how.partition = stemma::balanced_parts{*parts};
        } else if (depth) {
            how.partition = stemma::parts_by_depth{*depth};
        } else {
            stemma::parts_by_modules policy;
            for (const auto& query : modules) {
                const auto named = stemma::find_modules(opened, query);
                policy.modules.insert(policy.modules.end(), named.begin(), named.end());
            }
            how.partition = policy;
        }
        const auto split_manifest = stemma::split_to_folder(opened, folder.string(), how);
        return written([&](auto& sink) { stemma::write_json(sink, split_manifest); });
    });
    said.warn();
    return manifest;
}

inline py::object fold(const model_ptr& of, const path& output, const std::string& modules,
                       const std::optional<unsigned>& depth, std::size_t least, bool lift,
                       bool vary_constants, const std::string& data, bool force) {
    stemma::module_folding folding;
    folding.modules = modules;
    folding.depth = depth.value_or(stemma::no_id);
    folding.least = least;
    folding.lift = lift;
    folding.vary_constants = vary_constants;
    const auto how = writing(data, force);
    return told(of, [&](const stemma::attributed_model& opened) {
        const stemma::model_fold folded(opened, folding, output.string());
        const auto bytes = folded.write(output.string(), how);
        return written([&](auto& sink) { stemma::write_json(sink, folded, opened, bytes); });
    });
}

inline py::object analyze(const model_ptr& of, const std::string& filter,
                          const std::string& oracle) {
    return told(of, [&](const stemma::attributed_model& opened) {
        auto report = stemma::analyze_model(opened, filter, oracle);
        report.summary.seconds = of->seconds;
        return written([&](auto& sink) { stemma::write_json(sink, report, opened); });
    });
}

inline py::object find_cost(const model_ptr& of, const std::map<std::string, std::int64_t>& dims) {
    stemma::cost_options how;
    how.dims = dims;
    return told(of, [&](const stemma::attributed_model& opened) {
        const auto cost = stemma::find_cost(opened, how);
        const auto report = stemma::analyze_model(opened);
        return written([&](auto& sink) {
            stemma::write_json(sink, cost, opened, report.modules, report.analysis.modules);
        });
    });
}

inline py::object profile(const model_ptr& of, const py::args& files,
                          const std::optional<std::size_t>& warm_up, bool divide) {
    texts paths;
    for (const auto one : files) {
        py::detail::make_caster<path> file;
        if (!file.load(one, true)) {
            throw py::type_error("a path is wanted");
        }
        paths.push_back(py::detail::cast_op<path&>(file).string());
    }
    return told(of, [&](const stemma::attributed_model& opened) {
        const stemma::module_times times(stemma::read_profiles(paths, warm_up), opened, divide);
        return written([&](auto& sink) { stemma::write_json(sink, times); });
    });
}

inline py::object numerics(const model_ptr& a, const model_ptr& b, const path& values,
                           const path& other_values, const std::string& module,
                           const std::optional<unsigned>& depth,
                           const stemma::difference_bounds& bounds) {
    return told(
        a, b, [&](const stemma::attributed_model& mine, const stemma::attributed_model& theirs) {
            const stemma::value_file first(values.string());
            const stemma::value_file second(other_values.string());
            const stemma::observed_model one(mine, first);
            const stemma::observed_model two(theirs, second);
            const auto report = stemma::compare_numerics(
                one, two,
                {bounds, stemma::find_branches(mine, module, depth.value_or(stemma::no_id)), {}});
            if (report.values.empty()) {
                throw stemma::error(stemma::error_code::not_found, other_values.string(), "",
                                    "has no counterpart of any value in " + values.string());
            }
            return written([&](auto& sink) { stemma::write_json(sink, report, one, two); });
        });
}

inline py::str plan(const model_ptr& of, const std::optional<std::string>& exclude,
                    const std::optional<path>& report, std::size_t top, const std::string& to) {
    if (exclude.has_value() == report.has_value()) {
        throw stemma::error(stemma::error_code::refused, "", "plan",
                            "takes one of exclude and report");
    }
    const auto format = chosen(stemma::parse_name<stemma::plan_format>(to), "format", to,
                               "ort, ort-overrides, olive, nncf, tensorrt, aimet");
    notes said;
    const auto leave_out = [listener = said.listener()](std::size_t count, const char* nodes) {
        if (count > 0) {
            listener(std::to_string(count) + (count == 1 ? " node " : " nodes ") + nodes +
                     " left out");
        }
    };
    auto answer = text(ask(of, [&](const stemma::model& model) {
        const auto& opened = model.parts();
        stemma::precision_plan precision;
        if (exclude) {
            precision = stemma::plan_for_query(opened, *exclude);
        } else {
            precision = stemma::plan_for_report(opened, report->string(), top);
        }
        return written([&](auto& sink) {
            leave_out(stemma::write_plan(sink, precision, opened, format),
                      "with names that trtexec cannot read");
            leave_out(precision.unnamed, "without a name");
            leave_out(precision.inside, "in bodies and functions");
        });
    }));
    said.warn();
    return answer;
}

inline py::object validate(const path& file, bool data) {
    std::string json;
    {
        const py::gil_scoped_release others_run;
        const auto mapped = stemma::map_model(file.string());
        const stemma::wire_model model(mapped.bytes(), file.string());
        const auto problems = stemma::find_problems(model, {data, nullptr, &registry()});
        json =
            written([&](auto& sink) { stemma::write_json(sink, problems, model, file.string()); });
    }
    return parsed(json);
}

} // namespace stemma_python

#endif // STEMMA_EXAMPLES_PYTHON_VERBS_HPP
