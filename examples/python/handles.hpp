// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EXAMPLES_PYTHON_HANDLES_HPP
#define STEMMA_EXAMPLES_PYTHON_HANDLES_HPP

#include "held.hpp"

#include <pybind11/stl.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

/// The classes of handles that Python sees.
namespace stemma_python {

inline void bind_claim(py::module_& m) {
    py::class_<held<stemma::claim_ref>> type(m, "Claim", "What one source of evidence says.");
    type.def_property_readonly(
        "module", [](const held<stemma::claim_ref>& one) { return hold(one.of, one.ref.module()); },
        "the module that it names");
    add_text(type, "source", &stemma::claim_ref::source, "the source: `scope`, `parameter`");
    type.def_property_readonly(
        "confidence", [](const held<stemma::claim_ref>& one) { return one.ref.confidence(); },
        "how sure the source is, 0 to 1");
    type.def_property_readonly(
        "is_exact", [](const held<stemma::claim_ref>& one) { return one.ref.is_exact(); },
        "whether it names the deepest module");
    add_equality(type, [](const held<stemma::claim_ref>& one) {
        return std::hash<std::string_view>()(one.ref.source()) ^
               stemma::to_index(one.ref.module().id());
    });
    type.def("__repr__", [](const held<stemma::claim_ref>& one) {
        return repr("Claim", to_text(one.ref.module()), one.ref.source());
    });
}

/// Returns: file, line and function, or None.
inline py::object source_of(const std::optional<stemma::source_position>& at) {
    if (!at) {
        return py::none();
    }
    return py::make_tuple(text(at->file), at->line, text(at->function));
}

/// Adds the property `source` to a class of nodes or modules.
template <class Class>
void add_source(Class& type, const char* says) {
    type.def_property_readonly(
        "source",
        [](const typename Class::type& one) {
            return source_of(ask(one.of, [&](auto&) { return one.ref.source(); }));
        },
        says);
}

/// Returns: the value as a number, text or a list of these; None for other types.
inline py::object value_of(const stemma::attribute_ref& one) {
    if (!one.reference().empty()) {
        return py::none();
    }
    const auto type = one.type();
    if (type == "int") {
        return py::cast(one.as_int());
    }
    if (type == "float") {
        return py::cast(one.as_float());
    }
    if (type == "string") {
        return text(*one.as_string());
    }
    if (type == "ints") {
        return py::cast(one.as_ints());
    }
    if (type == "floats") {
        return py::cast(one.as_floats());
    }
    if (type != "strings") {
        return py::none();
    }
    py::list all;
    for (const auto item : one.as_strings()) {
        all.append(text(item));
    }
    return all;
}

inline void bind_attribute(py::module_& m) {
    using held_attribute = held<stemma::attribute_ref>;
    using ref = stemma::attribute_ref;
    py::class_<held_attribute> type(m, "Attribute", "An attribute of a node.");
    add_text(type, "name", &ref::name, "its name: strides");
    add_text(type, "type", &ref::type, "as in ONNX: float, int, string, tensor, ..., ints, ...");
    add_text(type, "reference", &ref::reference,
             "the attribute of the enclosing function that it passes on, or \"\"");
    type.def_property_readonly(
        "value", [](const held_attribute& one) { return value_of(one.ref); },
        "a number, text or a list of these; None for tensors, graphs and the like");
    add_equality(type, [](const held_attribute& one) {
        return std::hash<const void*>()(one.of.get()) ^
               std::hash<std::string_view>()(one.ref.name());
    });
    type.def("__repr__", [](const held_attribute& one) {
        return repr("Attribute", one.ref.name(), one.ref.type());
    });
}

inline void bind_node(py::class_<py_node>& type) {
    using ref = stemma::node_ref;
    add_identity(type);
    add_text(type, "name", &ref::name, "\"\" for a node without a name");
    add_text(type, "op_type", &ref::op_type, "the operator, or the function that is called");
    add_text(type, "domain", &ref::domain, "\"\" for the standard one");
    add_text(type, "graph", &ref::graph, "the path of its graph, \"\" for the main one");
    add_text(type, "tag", &ref::tag, "the tag of its module");
    add_text(type, "provenance", &ref::provenance, "the evidence that was believed");
    type.def_property_readonly(
        "position", [](const py_node& one) { return one.ref.position(); },
        "its place among the nodes of its graph");
    type.def_property_readonly(
        "module", [](const py_node& one) { return hold(one.of, one.ref.module()); },
        "the deepest module that it came from");
    type.def_property_readonly(
        "confidence", [](const py_node& one) { return one.ref.confidence(); },
        "how sure that is, 0 to 1");
    type.def_property_readonly(
        "call", [](const py_node& one) { return one.ref.call(); },
        "which call of its module, None where unknown");
    type.def_property_readonly(
        "has_conflict", [](const py_node& one) { return one.ref.has_conflict(); },
        "whether some evidence disagreed");
    type.def_property_readonly(
        "tags",
        [](const py_node& one) {
            return tuple_of(one.of, ask(one.of, [&](auto&) { return one.ref.tags(); }));
        },
        "the modules whose tags it has");
    type.def_property_readonly(
        "claims",
        [](const py_node& one) {
            return tuple_of(one.of, ask(one.of, [&](auto&) { return one.ref.claims(); }));
        },
        "what each source of evidence says");
    type.def_property_readonly(
        "conflicts",
        [](const py_node& one) {
            return tuple_of(one.of, ask(one.of, [&](auto&) { return one.ref.conflicts(); }));
        },
        "what disagreed, of the claims and of its neighbours");
    type.def_property_readonly(
        "callers", [](const py_node& one) { return tuple_of(one.of, one.ref.callers()); },
        "modules that called its module without being above it");
    type.def_property_readonly(
        "inputs", [](const py_node& one) { return tuple_of(one.of, one.ref.inputs()); },
        "the values that it reads");
    type.def_property_readonly(
        "outputs", [](const py_node& one) { return tuple_of(one.of, one.ref.outputs()); },
        "the values that it makes");
    type.def_property_readonly(
        "producers", [](const py_node& one) { return tuple_of(one.of, one.ref.producers()); },
        "the nodes that make what it reads");
    type.def_property_readonly(
        "readers", [](const py_node& one) { return tuple_of(one.of, one.ref.readers()); },
        "the nodes that read what it makes");
    type.def_property_readonly(
        "attributes", [](const py_node& one) { return tuple_of(one.of, one.ref.attributes()); },
        "its attributes in the order of the file, without defaults");
    type.def(
        "attribute",
        [](const py_node& one, const std::string& name) {
            return or_none(one.of, one.ref.attribute(name));
        },
        py::arg("name"), "The attribute of a name, or None.");
    add_source(type, "(file, line, function) that it comes from, None where unknown");
    type.def_property_readonly(
        "frames",
        [](const py_node& one) {
            py::list all;
            for (const auto& at : ask(one.of, [&](auto&) { return one.ref.frames(); })) {
                all.append(source_of(at));
            }
            return py::tuple(all);
        },
        "the call stack, innermost first, as `source`");
    type.def("__repr__", [](const py_node& one) {
        return repr("Node", to_text(one.ref),
                    std::string(one.ref.op_type()) + " of " + to_text(one.ref.module()));
    });
}

inline py::object shape_of(const py_value& one) {
    const auto type = ask(one.of, [&](auto&) { return one.ref.type(); });
    if (!type.has_shape) {
        return py::none();
    }
    py::list shape;
    for (const auto& extent : type.shape) {
        if (const auto* number = std::get_if<std::int64_t>(&extent)) {
            shape.append(*number < 0 ? py::object(py::none()) : py::object(py::int_(*number)));
        } else {
            shape.append(text(std::get<std::string>(extent)));
        }
    }
    return py::tuple(shape);
}

inline void bind_value(py::class_<py_value>& type) {
    using ref = stemma::value_ref;
    add_identity(type);
    add_text(type, "name", &ref::name, "\"\" for an omitted output");
    add_text(type, "kind", &ref::kind, "intermediate, input, formal, initializer or undefined");
    type.def_property_readonly(
        "is_initializer", [](const py_value& one) { return one.ref.is_initializer(); },
        "whether the file holds the value itself");
    type.def_property_readonly(
        "type",
        [](const py_value& one) {
            return text(ask(one.of, [&](auto&) { return one.ref.type(); }).name);
        },
        "the element type: float32; \"\" where unknown");
    type.def_property_readonly(
        "shape", [](const py_value& one) { return shape_of(one); },
        "its extents: numbers, names, None for unknown ones; None if the rank is unknown");
    type.def_property_readonly(
        "producer", [](const py_value& one) { return or_none(one.of, one.ref.producer()); },
        "the node that makes it, if one does");
    type.def_property_readonly(
        "readers", [](const py_value& one) { return tuple_of(one.of, one.ref.readers()); },
        "the nodes that read it, each as often as it does");
    type.def_property_readonly(
        "tags",
        [](const py_value& one) {
            return tuple_of(one.of, ask(one.of, [&](auto&) { return one.ref.tags(); }));
        },
        "the modules whose tags it has");
    type.def("__repr__",
             [](const py_value& one) { return repr("Value", one.ref.name(), one.ref.kind()); });
}

inline void bind_module(py::class_<py_module>& type) {
    using ref = stemma::module_ref;
    add_identity(type);
    add_text(type, "path", &ref::path, "`encoder.layer.0`; \"\" for the root");
    add_text(type, "name", &ref::name, "the name under which the parent holds it");
    add_text(type, "class_name", &ref::class_name, "the class without its package");
    add_text(type, "qualified_class", &ref::qualified_class, "the class with its package");
    add_text(type, "tag", &ref::tag, "its tag, or that of the nearest module around it");
    type.def_property_readonly(
        "is_selected", [](const py_module& one) { return one.ref.is_selected(); },
        "whether it has a tag of its own");
    type.def_property_readonly(
        "calls", [](const py_module& one) { return one.ref.calls(); },
        "how often it ran, None where unknown");
    add_source(type, "(file, line, function) where its forward begins, None where unknown");
    type.def_property_readonly(
        "depth", [](const py_module& one) { return one.ref.depth(); }, "edges from the root");
    type.def_property_readonly(
        "parent", [](const py_module& one) { return or_none(one.of, one.ref.parent()); },
        "None for the root");
    type.def_property_readonly(
        "children", [](const py_module& one) { return tuple_of(one.of, one.ref.children()); },
        "the modules that it holds");
    type.def_property_readonly(
        "ancestors", [](const py_module& one) { return tuple_of(one.of, one.ref.ancestors()); },
        "the modules above it, from the parent to the root");
    type.def_property_readonly(
        "descendants", [](const py_module& one) { return lazily(one.of, one.ref.descendants()); },
        "all modules below it, in preorder");
    type.def_property_readonly(
        "nodes", [](const py_module& one) { return lazily(one.of, one.ref.nodes()); },
        "the nodes in it and in all below");
    type.def_property_readonly(
        "own_nodes", [](const py_module& one) { return lazily(one.of, one.ref.own_nodes()); },
        "the nodes whose deepest module it is");
    type.def_property_readonly(
        "parameters", [](const py_module& one) { return lazily(one.of, one.ref.parameters()); },
        "the weights in it and in all below");
    type.def("__contains__", [](const py_module& one, const py_module& other) {
        return one.of == other.of && one.ref.contains(other.ref);
    });
    type.def("__repr__", [](const py_module& one) {
        return repr("Module", to_text(one.ref), one.ref.class_name());
    });
}

inline void bind_parameter(py::class_<py_parameter>& type) {
    using ref = stemma::parameter_ref;
    add_identity(type);
    add_text(type, "name", &ref::name, "the name of the value that it is");
    add_text(type, "kind", &ref::kind, "parameter, buffer, scale or zero_point");
    add_text(type, "type", &ref::type, "the element type: float32");
    type.def_property_readonly(
        "value", [](const py_parameter& one) { return hold(one.of, one.ref.value()); },
        "the value that it is");
    type.def_property_readonly(
        "module", [](const py_parameter& one) { return hold(one.of, one.ref.module()); },
        "the module that it belongs to");
    type.def_property_readonly(
        "elements", [](const py_parameter& one) { return one.ref.elements(); }, "how many");
    type.def_property_readonly(
        "bytes", [](const py_parameter& one) { return one.ref.bytes(); }, "of its data");
    type.def("__repr__", [](const py_parameter& one) {
        return repr("Parameter", one.ref.name(), one.ref.type());
    });
}

} // namespace stemma_python

#endif // STEMMA_EXAMPLES_PYTHON_HANDLES_HPP
