// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EXAMPLES_PYTHON_CALLS_HPP
#define STEMMA_EXAMPLES_PYTHON_CALLS_HPP

#include "handles.hpp"

#include <stemma/verbs.hpp>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

/// How the library is called, and its answers become Python's.
namespace stemma_python {

using path = std::filesystem::path;
using texts = std::vector<std::string>;

/// Returns: what `write(sink)` writes.
template <class Write>
std::string written(Write write) {
    stemma::string_sink sink;
    write(sink);
    return std::move(sink.text);
}

/// Returns: JSON as Python has it.
inline py::object parsed(const std::string& json) {
    return py::module_::import("json").attr("loads")(text(json));
}

/// Returns: the parsed answer of `answer(model)`, JSON text.
template <class Function>
py::object told(const model_ptr& of, Function answer) {
    return parsed(
        ask(of, [&](const stemma::model& model) -> std::string { return answer(model.parts()); }));
}

/// The same of two models, which may be one.
template <class Function>
py::object told(const model_ptr& a, const model_ptr& b, Function answer) {
    std::string json;
    {
        const py::gil_scoped_release others_run;
        const stemma::thread_scope threads(a->threads);
        json = answer(a->model.parts(), b->model.parts());
    }
    return parsed(json);
}

/// Returns: a choice by its name. Throws: `error` that names the option.
template <class Choice>
Choice chosen(const std::optional<Choice>& choice, std::string_view option, std::string_view name,
              std::string_view names) {
    if (!choice) {
        throw stemma::error(stemma::error_code::refused, "", "",
                            "unknown " + std::string(option) + " '" + std::string(name) +
                                "'; known: " + std::string(names));
    }
    return *choice;
}

inline stemma::data_placement placement(std::string_view data) {
    return chosen(stemma::parse_name<stemma::data_placement>(data), "data", data,
                  "keep, link, copy");
}

inline const stemma::onnx_policy_registry& registry() {
    static const stemma::onnx_policy_registry policies;
    return policies;
}

/// Adds the types that the Python package onnx infers. Returns: "" or why there are none.
inline std::string infer_with_onnx(const stemma::wire_model& model, stemma::value_types& types) {
    stemma::types_by_name inferred(model, types);
    const auto bytes = inferred.model_to_infer();
    using type_record = std::tuple<std::size_t, std::string, std::string>;
    std::pair<std::string, std::vector<type_record>> answer;
    {
        const py::gil_scoped_acquire interpreter;
        answer = py::module_::import("stemma._types")
                     .attr("inferred_types")(py::bytes(bytes))
                     .cast<decltype(answer)>();
    }
    for (const auto& [graph, name, type] : answer.second) {
        inferred.add(graph, name, type);
    }
    return answer.first;
}

/// What a user should know of how something went: warnings, as soon as Python runs again.
class notes {
public:
    /// What hears them.
    [[nodiscard]] std::function<void(std::string_view)> listener() {
        return [this](std::string_view one) { said_.emplace_back(one); };
    }

    void warn() const {
        for (const auto& one : said_) {
            if (PyErr_WarnEx(PyExc_UserWarning, one.c_str(), 1) != 0) {
                throw py::error_already_set();
            }
        }
    }

private:
    texts said_;
};

} // namespace stemma_python

#endif // STEMMA_EXAMPLES_PYTHON_CALLS_HPP
