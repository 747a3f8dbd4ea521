# SPDX-License-Identifier: Apache-2.0
"""Shows gdb what objects of stemma hold: `source stemma_gdb.py`, or a line in ~/.gdbinit.

Ids print as numbers or `none`, a module tree as its paths and classes, an operator graph as what each operator reads,
an attribution as one line, a tagging as the attributions of its operators, a handle as its index and module.
"""
import re

import gdb

NONE = 0xFFFFFFFF
# Names of types may include the inline namespace of the version.
OWN = r"^stemma::(?:v\d+_\d+::)?"


def length(vector):
    """How long a std::vector is, of libstdc++ or libc++."""
    return int(last_of(vector) - first_of(vector))


def first_of(vector):
    names = {field.name for field in vector.type.strip_typedefs().fields()}
    return vector["__begin_"] if "__begin_" in names else vector["_M_impl"]["_M_start"]


def last_of(vector):
    names = {field.name for field in vector.type.strip_typedefs().fields()}
    return vector["__end_"] if "__end_" in names else vector["_M_impl"]["_M_finish"]


def number(value):
    """The number of an id: an integer, an enumerator, or a class with one member."""
    kind = value.type.strip_typedefs()
    if kind.code == gdb.TYPE_CODE_STRUCT:
        return number(value[kind.fields()[0]])
    return int(value.cast(gdb.lookup_type("unsigned int"))) if kind.code == gdb.TYPE_CODE_ENUM else int(value)


def at(vector, index):
    return number((first_of(vector) + index).dereference())


def told(value):
    index = number(value)
    return "none" if index == NONE else str(index)


class pool:
    """The texts of a string_pool."""

    def __init__(self, value):
        self.ends, text = value["ends_"], value["text_"]
        names = {field.name for field in text.type.strip_typedefs().fields()}
        self.text = text["_M_dataplus"]["_M_p"] if "_M_dataplus" in names else None

    def __getitem__(self, index):
        if self.text is None:
            return f"text {index}"
        begin = at(self.ends, index - 1) if index else 0
        size = at(self.ends, index) - begin
        return (self.text + begin).string("utf-8", "replace", size) if size else ""


class id_printer:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        return told(self.value)


class attribution_printer:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        value = self.value
        call = "" if told(value["call"]) == "none" else f", call {told(value['call'])}"
        source = str(value["source"]).rpartition("::")[2]
        doubt = ", in conflict" if value["conflict"] else ""
        return f"module {told(value['module'])}{call} ({source}, {float(value['confidence']):.2f}{doubt})"


class module_tree_printer:
    def __init__(self, value):
        self.value = value
        self.parents = value["index_"]["parent_"]

    def to_string(self):
        return f"tree of {length(self.parents)} modules"

    def path(self, m):
        names, parts = pool(self.value["names_"]), []
        while m:
            name = at(self.value["name_"], m)
            parts.append(names[name] if name != NONE else "")
            m = at(self.parents, m)
        return ".".join(part for part in reversed(parts) if part) or "the root"

    def children(self):
        names, paths = pool(self.value["names_"]), {}
        for m in range(length(self.parents)):
            own_name, class_name = (at(self.value[part], m) for part in ("name_", "class_"))
            above = paths.get(at(self.parents, m), "")
            name = names[own_name] if m and own_name != NONE else ""
            paths[m] = f"{above}.{name}" if above and name else above + name
            text = names[class_name] if class_name != NONE else ""
            path = paths[m] or "the root"
            yield f"[{m}]", f"{path}: {text}" if text else path


class operator_graph_printer:
    def __init__(self, value):
        self.value = value

    def count(self):
        return max(length(self.value["in_first_"]) - 1, 0)

    def to_string(self):
        return f"graph of {self.count()} operators and {length(self.value['source_'])} edges"

    def children(self):
        first, source = self.value["in_first_"], self.value["source_"]
        for v in range(self.count()):
            producers = (str(at(source, e)) for e in range(at(first, v), at(first, v + 1)))
            yield f"[{v}]", f"reads {', '.join(producers) or 'nothing'}"


class tagging_printer:
    def __init__(self, value):
        self.value = value
        self.attributions = value["attributions"]

    def to_string(self):
        return f"tags of {length(self.attributions)} operators"

    def children(self):
        for v in range(length(self.attributions)):
            yield f"[{v}]", (first_of(self.attributions) + v).dereference()


class handle_printer:
    def __init__(self, value):
        self.value = value
        self.kind = re.sub(OWN, "", value.type.unqualified().strip_typedefs().name).removesuffix("_ref")

    def to_string(self):
        index, state = number(self.value["index_"]), self.value["state_"]
        if not int(state) or index == NONE:
            return f"no {self.kind}"
        text = f"{self.kind} {index}"
        if self.kind not in ("module", "node"):
            return text
        try:
            opened = state.dereference()["opened"]
            tree = module_tree_printer(opened["modules_"])
            if self.kind == "module":
                return f"{text}: {tree.path(index)}"
            attribution = (first_of(opened["tags_"]["attributions"]) + index).dereference()
            return f"{text} of {tree.path(number(attribution['module']))}"
        except gdb.error:  # the program knows no more of a model than its name
            return text


PRINTERS = [(re.compile(OWN + name + "$"), printer) for name, printer in [
    (r"(?:\w+_)?id", id_printer), (r"(?:module|node|value|parameter)_ref", handle_printer), ("attribution", attribution_printer), ("module_tree", module_tree_printer),
    ("operator_graph", operator_graph_printer), ("tagging", tagging_printer)]]


def find_printer(value):
    kind = value.type.unqualified()
    # An id may be an alias: the first name that fits is taken.
    while True:
        for name, printer in PRINTERS:
            if kind.name and name.match(kind.name):
                return printer(value)
        if kind.code != gdb.TYPE_CODE_TYPEDEF:
            return None
        kind = kind.target().unqualified()


gdb.pretty_printers.append(find_printer)
