// SPDX-License-Identifier: Apache-2.0
// The Python module `stemma._stemma`: the facade's models and handles, and the verbs.
#include "verbs.hpp"

#include <stemma/version.hpp>

namespace stemma_python {

namespace {

using namespace py::literals;

/// Errors of the library become `stemma.Error`, whose `code` is a word.
void bind_error(py::module_& m) {
    static py::handle type = py::exception<stemma::error>(m, "Error").release();
    type.attr("__doc__") = "What stemma says in one line: file, place, reason; `code` is a word "
                           "that stays.";
    py::register_exception_translator([](std::exception_ptr thrown) {
        try {
            std::rethrow_exception(thrown);
        } catch (const stemma::error& problem) {
            auto error = type(text(problem.what()));
            error.attr("code") = text(to_string(problem.code()));
            PyErr_SetObject(type.ptr(), error.ptr());
        }
    });
}

model_ptr open_anything(std::string name, std::optional<std::string> bytes, texts captures,
                        model_ptr original, std::string select, texts keep, std::string naming,
                        std::string resolve, std::string propagate, texts sources,
                        float min_confidence, bool recompute, bool retag, unsigned threads) {
    const open_request asked{std::move(captures),
                             std::move(original),
                             {std::move(select), std::move(keep), std::move(naming),
                              std::move(resolve), std::move(propagate), std::move(sources)},
                             min_confidence,
                             recompute,
                             retag,
                             threads};
    const py::gil_scoped_release others_run;
    return open_model(std::move(name), std::move(bytes), asked);
}

void bind_parts(py::class_<opened_model, model_ptr>& type) {
    const auto lazy = [&type](const char* name, auto range, const char* says) {
        type.def_property_readonly(
            name, [range](const model_ptr& self) { return lazily(self, range(self->model)); },
            says);
    };
    lazy(
        "nodes", [](const stemma::model& model) { return model.nodes(); }, "all nodes");
    lazy(
        "values", [](const stemma::model& model) { return model.values(); }, "all values");
    lazy(
        "initializers", [](const stemma::model& model) { return model.initializers(); },
        "the values that the file holds itself");
    lazy(
        "parameters", [](const stemma::model& model) { return model.parameters(); },
        "the weights, shared ones once");
    lazy(
        "modules", [](const stemma::model& model) { return model.modules(); },
        "the module tree in preorder");
    type.def_property_readonly(
        "root", [](const model_ptr& self) { return hold(self, self->model.root()); },
        "the module that is the whole model");
    type.def_property_readonly(
        "file", [](const model_ptr& self) { return text(self->model.parts().model().file()); },
        "its path, or the name that was given with bytes");
    type.def_property_readonly(
        "notes",
        [](const model_ptr& self) {
            py::list all;
            for (const auto& one : ask(self, [](auto& model) { return model.notes(); })) {
                all.append(text(one));
            }
            return all;
        },
        "what one should know of how the file could be read");
    type.def(
        "find_node",
        [](const model_ptr& self, const std::string& name) {
            return or_none(self, self->model.find_node(name));
        },
        "name"_a, "The first node of a name, or None.");
    type.def(
        "find_value",
        [](const model_ptr& self, const std::string& name) {
            return or_none(self, self->model.find_value(name));
        },
        "name"_a, "The first value of a name, or None.");
    type.def(
        "find_module",
        [](const model_ptr& self, const std::string& module) {
            return or_none(self, self->model.find_module(module));
        },
        "path"_a, "The module of a path, or None.");
    type.def("__repr__", [](const model_ptr& self) {
        const auto& model = self->model;
        return repr("Model", self->model.parts().model().file(),
                    std::to_string(ranges::size(model.nodes())) + " nodes, " +
                        std::to_string(ranges::size(model.modules())) + " modules");
    });
}

void bind_answers(py::class_<opened_model, model_ptr>& type) {
    type.def("explain", explain,
             "What nodes, values, weights, modules, functions are, by name or handle "
             "(stemma.explain/1).");
    type.def("query", run_query, "query"_a, py::kw_only(), "sort"_a = py::none(),
             "top"_a = py::none(), "dims"_a = std::map<std::string, std::int64_t>(),
             "What fits a query, docs/query.md.");
    type.def(
        "tree",
        [](const model_ptr& of, const std::string& module, const std::optional<unsigned>& depth) {
            return told(of, [&](const stemma::attributed_model& opened) {
                const auto shown =
                    stemma::find_branches(opened, module, depth.value_or(stemma::no_id));
                return written([&](auto& sink) { stemma::write_tree(sink, opened, shown); });
            });
        },
        "module"_a = "", py::kw_only(), "depth"_a = py::none(), "The modules (stemma.tree/1).");
    type.def("analyze", analyze, "filter"_a = "", py::kw_only(), "oracle"_a = "",
             "How much is known, and how (stemma.summary/1).");
    type.def("cost", find_cost, "dims"_a = std::map<std::string, std::int64_t>(),
             "What the modules cost (stemma.cost/1).");
    type.def("profile", profile, py::kw_only(), "warm_up"_a = py::none(), "divide"_a = false,
             "Which modules the time of profiles went to (stemma.profile/1).");
    type.def(
        "diff",
        [](const model_ptr& a, const model_ptr& b, bool nodes, bool weights, double tolerance) {
            return told(
                a, b,
                [&](const stemma::attributed_model& one, const stemma::attributed_model& two) {
                    stemma::diff_options how;
                    how.weights = weights;
                    how.tolerance = tolerance;
                    const auto diff = stemma::diff_models(one, two, how);
                    return written(
                        [&](auto& sink) { stemma::write_json(sink, diff, one, two, nodes); });
                });
        },
        "other"_a.none(false), py::kw_only(), "nodes"_a = false, "weights"_a = true,
        "tolerance"_a = 0.0, "Which modules of another model differ (stemma.diff/1).");
    type.def(
        "numerics",
        [](const model_ptr& a, const model_ptr& b, const path& values, const path& other_values,
           const std::string& module, const std::optional<unsigned>& depth,
           const std::optional<double>& min_sqnr, const std::optional<double>& max_abs,
           const std::optional<double>& max_rel, const std::optional<double>& min_cosine) {
            return numerics(a, b, values, other_values, module, depth,
                            {max_abs, max_rel, min_cosine, min_sqnr});
        },
        "other"_a.none(false), "values"_a, "other_values"_a, py::kw_only(), "module"_a = "",
        "depth"_a = py::none(), "min_sqnr"_a = py::none(), "max_abs"_a = py::none(),
        "max_rel"_a = py::none(), "min_cosine"_a = py::none(),
        "Which modules of another model compute something else (stemma.numerics/1).");
    type.def("plan", plan, py::kw_only(), "exclude"_a = py::none(), "report"_a = py::none(),
             "top"_a = 0, "to"_a = "ort", "A list of modules for a quantizer, as text.");
    type.def(
        "placement",
        [](const model_ptr& of, const path& log) {
            return told(of, [&](const stemma::attributed_model& opened) {
                const auto places = stemma::place_modules(opened, log.string());
                return written([&](auto& sink) { stemma::write_json(sink, places, opened); });
            });
        },
        "log"_a, "What runs where, by a log of ONNX Runtime (stemma.placement/1).");
    type.def(
        "summary",
        [](const model_ptr& of, const std::string& oracle) {
            return told(of, [&](const stemma::attributed_model& opened) {
                return written(
                    [&](auto& sink) { stemma::write_json(sink, summary_of(of, opened, oracle)); });
            });
        },
        py::kw_only(), "oracle"_a = "", "How many nodes are tagged, and how (stemma.summary/1).");
    type.def(
        "sidecar",
        [](const model_ptr& of) {
            return told(of, [&](const stemma::attributed_model& opened) {
                return written([&](auto& sink) {
                    stemma::write_sidecar(sink, opened, summary_of(of, opened, ""));
                });
            });
        },
        "All that is known (stemma.sidecar/1).");
}

void bind_writers(py::class_<opened_model, model_ptr>& type) {
    type.def(
        "write",
        [](const model_ptr& of, const path& output, const std::string& carriers,
           const std::string& data, bool force, bool name_nodes) {
            const auto how = writing(data, force, name_nodes);
            return ask(of, [&](const stemma::model& model) {
                return stemma::write_tagged(model.parts(), output.string(),
                                            stemma::carrier_set::named(carriers), how);
            });
        },
        "output"_a, py::kw_only(), "carriers"_a = "metadata,mark", "data"_a = "keep",
        "force"_a = false, "name_nodes"_a = false,
        "Writes the model with its tags. Returns how many bytes that are.");
    type.def("to_bytes", to_bytes, py::kw_only(), "carriers"_a = "metadata,mark",
             "The bytes that `write` writes.");
    type.def(
        "strip",
        [](const model_ptr& of) -> py::bytes {
            return ask(of, [](const stemma::model& model) {
                return stemma::strip_model(model.parts().model());
            });
        },
        "The bytes of the model without tags.");
    type.def("cut", cut, "query"_a, py::kw_only(), "pull"_a = "weights", "gaps"_a = "refuse",
             "data"_a = "copy", "A module as a model of its own.", py::keep_alive<0, 1>());
    type.def("split", split, "folder"_a, py::kw_only(), "depth"_a = py::none(),
             "modules"_a = texts(), "parts"_a = py::none(), "cost"_a = "bytes", "merge"_a = false,
             "data"_a = "copy", "force"_a = false,
             "Writes parts that follow each other to a folder (stemma.split/1).");
    type.def("fold", fold, "output"_a, py::kw_only(), "modules"_a = "", "depth"_a = py::none(),
             "least"_a = 2, "lift"_a = true, "vary_constants"_a = false, "data"_a = "keep",
             "force"_a = false,
             "Writes the model with a function for each kind of module (stemma.folds/1).");
}

void bind_part(py::module_& m) {
    py::class_<stemma::part>(m, "Part", "A part of a model, cut out and not yet written.")
        .def_property_readonly(
            "inputs",
            [](const stemma::part& self) {
                py::list all;
                for (const auto& name : self.inputs()) {
                    all.append(text(name));
                }
                return all;
            },
            "the names of the values that it reads")
        .def_property_readonly(
            "outputs",
            [](const stemma::part& self) {
                py::list all;
                for (const auto& name : self.outputs()) {
                    all.append(text(name));
                }
                return all;
            },
            "the names of the values that it makes")
        .def_property_readonly("is_exact", &stemma::part::is_exact,
                               "whether it gives the same results each time")
        .def("__len__", &stemma::part::size)
        .def(
            "to_bytes",
            [](const stemma::part& self) {
                std::string bytes;
                {
                    const py::gil_scoped_release others_run;
                    bytes = self.bytes();
                }
                return py::bytes(bytes);
            },
            "The part as an ONNX file.")
        .def(
            "write",
            [](const stemma::part& self, const path& output) {
                const py::gil_scoped_release others_run;
                self.write(output.string());
            },
            "output"_a, "Writes the part as an ONNX file.")
        .def("__repr__", [](const stemma::part& self) {
            return text("<stemma.Part of " + std::to_string(self.size()) + " nodes, " +
                        std::to_string(self.inputs().size()) + " in, " +
                        std::to_string(self.outputs().size()) + " out>");
        });
}

void bind_answer(py::module_& m) {
    py::class_<py_answer>(m, "Answer", "What a query finds.")
        .def_property_readonly(
            "modules",
            [](const py_answer& a) { return listed<stemma::module_ref>(a, a.found.modules); },
            "none where the query asks about nodes")
        .def_property_readonly(
            "nodes", [](const py_answer& a) { return listed<stemma::node_ref>(a, a.found.nodes); },
            "in order")
        .def_property_readonly(
            "values",
            [](const py_answer& a) { return listed<stemma::value_ref>(a, a.found.values); },
            "that the nodes make")
        .def_property_readonly(
            "initializers",
            [](const py_answer& a) { return listed<stemma::value_ref>(a, a.found.initializers); },
            "that the nodes read")
        .def("to_dict", answer_json, "The answer as JSON has it (stemma.query/1).")
        .def("__repr__", [](const py_answer& a) {
            return repr("Answer", a.query,
                        std::to_string(a.found.modules.size()) + " modules, " +
                            std::to_string(a.found.nodes.size()) + " nodes");
        });
}

void bind_functions(py::module_& m) {
    m.def("open", open_anything, "name"_a, "bytes"_a = py::none(), py::kw_only(), "captures"_a,
          "original"_a, "select"_a, "keep"_a, "naming"_a, "resolve"_a, "propagate"_a, "sources"_a,
          "min_confidence"_a, "recompute"_a, "retag"_a, "threads"_a);
    m.def(
        "join",
        [](const path& folder, const path& output) {
            stemma::joined_model joined;
            {
                const py::gil_scoped_release others_run;
                joined = stemma::join_folder(folder.string(), output.string());
            }
            return py::dict("source"_a = text(joined.source), "edited"_a = joined.edited,
                            "missing"_a = joined.missing);
        },
        "folder"_a, "output"_a,
        "Puts a split model together again. Returns its source, the files that were edited, and "
        "files of weights that are missing.");
    m.def(
        "unfold",
        [](const path& input, const path& output, bool as_called, const std::string& data,
           bool force) {
            const auto how = writing(data, force);
            stemma::unfold_report report;
            {
                const py::gil_scoped_release others_run;
                report = stemma::unfold_file(input.string(), output.string(),
                                             as_called ? stemma::unfolded_names::as_called
                                                       : stemma::unfolded_names::as_before,
                                             how);
            }
            return py::dict("bytes"_a = report.bytes, "calls"_a = report.calls,
                            "is_restored"_a = report.is_restored, "lost_tags"_a = report.lost_tags,
                            "problem"_a = text(report.problem));
        },
        "input"_a, "output"_a, py::kw_only(), "as_called"_a = false, "data"_a = "keep",
        "force"_a = false, "Puts the bodies of functions where they are called.");
    m.def("validate", validate, "file"_a, py::kw_only(), "data"_a = true,
          "What is wrong with a file (stemma.validate/1), without the ONNX checker.");
    m.attr("__version__") = std::to_string(STEMMA_VERSION_MAJOR) + "." +
                            std::to_string(STEMMA_VERSION_MINOR) + "." +
                            std::to_string(STEMMA_VERSION_PATCH);
}

} // namespace

} // namespace stemma_python

PYBIND11_MODULE(_stemma, m) {
    using namespace stemma_python;
    bind_error(m);
    // All types before what mentions them in its help.
    py::class_<opened_model, model_ptr> model(m, "Model",
                                              "An ONNX model and where all of it came from.");
    py::class_<py_node> node(m, "Node", "A node of a graph, of a body or of a local function.");
    py::class_<py_value> value(m, "Value", "What a node makes, an input, or an initializer.");
    py::class_<py_module> module(m, "Module", "The nn.Module that nodes came from.");
    py::class_<py_parameter> parameter(m, "Parameter", "A weight that the file stores.");
    bind_attribute(m);
    bind_claim(m);
    bind_node(node);
    bind_value(value);
    bind_module(module);
    bind_parameter(parameter);
    bind_part(m);
    bind_answer(m);
    bind_parts(model);
    bind_answers(model);
    bind_writers(model);
    bind_functions(m);
    for (const char* name : {"Answer", "Attribute", "Claim", "Error", "Model", "Module", "Node",
                             "Parameter", "Part", "Value"}) {
        m.attr(name).attr("__module__") = "stemma";
    }
}
