// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EXAMPLES_PYTHON_HELD_HPP
#define STEMMA_EXAMPLES_PYTHON_HELD_HPP

#include <stemma/core/parallel.hpp>
#include <stemma/stemma.hpp>

#include <pybind11/pybind11.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

/// What handles have in common: each keeps its model alive.
namespace stemma_python {

namespace py = pybind11;

/// A model, which several threads may ask at once.
struct opened_model {
    opened_model(stemma::model opened, stemma::thread_limit allowed, double elapsed)
        : model(std::move(opened)), threads(allowed), seconds(elapsed) {}

    stemma::model model;
    stemma::thread_limit threads; ///< that each call may use
    double seconds = 0;           ///< that it took to open
};

using model_ptr = std::shared_ptr<opened_model>;

/// A handle and its model.
template <class Ref>
struct held {
    model_ptr of;
    Ref ref;
};

using py_node = held<stemma::node_ref>;
using py_value = held<stemma::value_ref>;
using py_module = held<stemma::module_ref>;
using py_parameter = held<stemma::parameter_ref>;

/// Returns: what `f(model)` returns, which must be no Python object: others run meanwhile.
template <class Function>
auto ask(const model_ptr& of, Function f) {
    const py::gil_scoped_release others_run;
    const stemma::thread_scope threads(of->threads);
    return f(of->model);
}

/// Returns: text of a file, in which bytes that are no UTF-8 are replaced.
inline py::str text(std::string_view bytes) {
    auto* object =
        PyUnicode_DecodeUTF8(bytes.data(), static_cast<py::ssize_t>(bytes.size()), "replace");
    if (object == nullptr) {
        throw py::error_already_set();
    }
    return py::reinterpret_steal<py::str>(object);
}

/// Returns: a handle for Python.
template <class Ref>
held<Ref> hold(const model_ptr& of, Ref ref) {
    return {of, ref};
}

/// Returns: a tuple of handles, for the few that one has.
template <class Range>
py::tuple tuple_of(const model_ptr& of, const Range& range) {
    py::list all;
    for (const auto ref : range) {
        all.append(hold(of, ref));
    }
    return all;
}

/// Returns: a sequence that creates handles on demand.
template <class Range>
py::object lazily(const model_ptr& of, Range range) {
    const auto size = static_cast<std::size_t>(ranges::size(range));
    const py::cpp_function at([of, range = std::move(range)](std::size_t i) {
        return hold(of, range[static_cast<ranges::range_difference_t<Range>>(i)]);
    });
    return py::module_::import("stemma._handles").attr("Handles")(size, at);
}

/// Returns: a handle or None.
template <class Found>
py::object or_none(const model_ptr& of, const Found& ref) {
    return ref ? py::cast(hold(of, *ref)) : py::none();
}

/// Adds a property whose value is text.
template <class Class, class Function>
void add_text(Class& type, const char* name, Function f, const char* says) {
    type.def_property_readonly(
        name, [f](const typename Class::type& self) { return text(std::invoke(f, self.ref)); },
        says);
}

/// Makes handles of the same object equal; `hash(self)` is their hash.
template <class Class, class Hash>
void add_equality(Class& type, Hash hash) {
    using self = typename Class::type;
    type.def("__eq__", [](const self& one, const py::object& other) {
        return py::isinstance<self>(other) && other.cast<const self&>().ref == one.ref;
    });
    type.def("__hash__", hash);
}

/// What all handles have: an index, and equality by model and index.
template <class Class>
void add_identity(Class& type) {
    using self = typename Class::type;
    type.def_property_readonly(
        "index", [](const self& one) { return stemma::to_index(one.ref.id()); },
        "its number among those of the model");
    type.def_property_readonly(
        "model", [](const self& one) { return one.of; }, "the model that it is of");
    add_equality(type, [](const self& one) {
        return std::hash<const void*>()(one.of.get()) ^ stemma::to_index(one.ref.id());
    });
}

inline py::str repr(std::string_view kind, std::string_view name, std::string_view rest) {
    return text(std::string("<stemma.").append(kind) + " '" + std::string(name) + "'" +
                (rest.empty() ? "" : ": ") + std::string(rest) + ">");
}

} // namespace stemma_python

#endif // STEMMA_EXAMPLES_PYTHON_HELD_HPP
