#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Generates the reference of the public headers with Doxygen. Fails if it warns, if a public name has
no comment, if the comment of a function omits what it throws or, with a loop, its complexity, or if
nothing outside the headers needs a name: no example, no document, and no declaration of one needed.

usage: reference_check.py FOLDER

FOLDER/html/index.html is the reference. The names are read from Doxygen's XML, which is complete: its
warnings omit enumerators and members of classes without a comment. The rules of `excused` list names
that need no comment, each with its reason. Status 77 if Doxygen is not installed.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Names required by concepts of Boost.Graph and Boost.PropertyMap: their documentation is the contract;
# the comment of the class has the modeled concepts and their complexity.
BOOST_TYPES = {
    "vertex_descriptor", "edge_descriptor", "vertex_iterator", "edge_iterator", "out_edge_iterator",
    "in_edge_iterator", "adjacency_iterator", "vertices_size_type", "edges_size_type",
    "degree_size_type", "directed_category", "edge_parallel_category", "traversal_category",
    "key_type", "value_type", "reference", "category", "kind", "type", "const_type"}
BOOST_FUNCTIONS = {
    "vertices", "edges", "out_edges", "in_edges", "adjacent_vertices", "out_degree", "in_degree",
    "degree", "num_vertices", "num_edges", "source", "target", "get"}


def text_of(node, *names):
    return " ".join("".join(part.itertext()).strip() for name in names for part in node.findall(name)).strip()


def comment_of(node):
    return text_of(node, "briefdescription", "detaileddescription")


class roles:
    """Members that a concept requires of a class: for a policy, the concept of its role; for others, the
    one that the comment of the class names. The comment of the concept defines their meaning, that
    of the class their results."""

    def __init__(self, compounds):
        self.bases, self.category, self.members, self.text = {}, {}, {}, {}
        for compound in compounds:
            scope = compound.findtext("compoundname")
            text = comment_of(compound)
            self.bases[scope] = [base.text for base in compound.findall("basecompoundref")]
            if compound.get("kind") == "concept":
                self.members[scope.rpartition("::")[2]] = set(re.findall(r"(\w+)\(", text))
            else:
                self.text[scope] = set(re.findall(r"\w+", text))
            for member in compound.iter("memberdef"):
                if member.findtext("name") == "policy_category":
                    written = "".join(member.find("type").itertext())
                    self.category[scope] = written.removesuffix("_category").rpartition("::")[2]

    def asks(self, scope, name):
        """Whether a role requires a member of that name of the class or its enclosing class."""
        if scope in self.category:
            return name in self.members[self.category[scope] + "_policy"]
        if any(name in self.members.get(word, ()) for word in self.text.get(scope, ())):
            return True
        if any(self.asks("stemma::" + base.partition("<")[0].strip().removeprefix("stemma::"), name)
               for base in self.bases.get(scope, [])):
            return True
        outer, _, inner = scope.rpartition("::")
        return inner == "claims" and self.category.get(outer) == "evidence"


def excused(member, scope, asked):
    """Why a member needs no comment, or None."""
    name, kind = member.findtext("name"), member.get("kind")
    written = member.findtext("argsstring") or ""
    if re.search(r"=\s*(default|delete)$", written):
        return "the language says what it does"
    if kind == "friend" and re.match(r"(friend )?(class|struct)\b", member.findtext("type") or ""):
        return "names a class, declares nothing"
    if kind == "typedef" and name == "policy_category":
        return "says what the comment of the class says: the role of the policy"
    if kind == "variable" and name == "name" and scope in asked.category:
        return "what registries and records call a policy"
    if scope.endswith("::iterator"):
        return "the standard library asks for it"
    if kind in ("function", "variable") and asked.asks(scope, name):
        return "a concept asks for it"
    if kind == "typedef" and name in BOOST_TYPES:
        return "Boost asks for it"
    if kind in ("friend", "function") and name in BOOST_FUNCTIONS and member.get("static") == "no" \
            and member.get("const") == "no" and "(" in written:
        return "Boost asks for it"
    return None


def unsaid(member, text, around):
    """What the body of a function does and its comment omits, or None. `around`: the comments of its
    class."""
    place = member.find("location")
    if place.get("bodyend") in (None, "-1"):
        return None
    lines = (ROOT / "include" / place.get("bodyfile")).read_text().splitlines()
    body = "\n".join(lines[int(place.get("bodystart")) - 1:int(place.get("bodyend"))])
    if re.search(r"STEMMA_THROW|\bfail_to_\w+\(", body) and "Throws" not in text + around \
            and "as do " not in around:
        return "says nothing of what it throws"
    if re.search(r"\b(for|while) \(", body) and "omplexity" not in text + around:
        return "has a loop and says nothing of its complexity"
    return None


def undocumented(compounds):
    """Place and fault of each public name with a missing or incomplete comment, and the number of
    names."""
    hidden = {compound.findtext("compoundname") for compound in compounds
              if compound.get("prot") in ("private", "protected")}

    def is_hidden(name):
        parts = name.split("::")
        return any("::".join(parts[:count]) in hidden for count in range(1, len(parts) + 1))

    asked = roles(compounds)
    faults, names = set(), set()

    def look(node, scope, name, reason=None):
        place = node.find("location")
        names.add((scope, name, place.get("file"), place.get("line")))
        if not comment_of(node) and reason is None:
            faults.add((place.get("file"), int(place.get("line")), f"{scope}::{name} has no comment"))

    for compound in compounds:
        kind, scope = compound.get("kind"), compound.findtext("compoundname")
        if kind in ("dir", "page") or is_hidden(scope):
            continue
        around = "" if kind in ("namespace", "file") else " ".join(
            [comment_of(compound)] + [comment_of(member) for member in compound.iter("memberdef")
                                      if "as do " in comment_of(member)])
        if kind in ("class", "struct", "union", "concept"):
            outer, _, name = scope.rpartition("::")
            look(compound, outer, name, "a concept asks for it" if asked.asks(scope, name) else None)
        for member in compound.iter("memberdef"):
            if member.get("prot") != "public" or (kind == "file" and member.get("kind") != "define"):
                continue
            if member.get("kind") == "define" and member.findtext("name").endswith("_HPP"):
                continue  # an include guard
            reason = excused(member, scope, asked)
            look(member, scope, member.findtext("name"), reason)
            fault = unsaid(member, comment_of(member), around) if reason is None else None
            if fault and member.get("kind") in ("function", "friend"):
                place = member.find("location")
                name = member.findtext("name")
                faults.add((place.get("file"), int(place.get("line")), f"{scope}::{name} {fault}"))
            for value in member.iter("enumvalue"):
                place = member.find("location")
                name = f"{scope}::{member.findtext('name')}::{value.findtext('name')}"
                names.add((name,))
                if not comment_of(value):
                    faults.add((place.get("file"), int(place.get("line")), f"{name} has no comment"))
    return sorted(faults), len(names)


def words(text):
    return set(re.findall(r"\w+", text))


def without_use(compounds):
    """Place of each public name of the namespace that neither the program, an example or a document
    mentions, nor the declaration of a mentioned one, and the number of public names."""
    places, needs = {}, {}

    def note(path, node):
        space, name = re.match(r"(stemma(?:::v\d+_\d+)?)::(\w+)", path).groups()
        if path == f"{space}::{name}":
            place = node.find("location")
            places.setdefault(name, (place.get("file"), int(place.get("line"))))
        needs.setdefault(name, set()).update(words(text_of(
            node, "basecompoundref", "type", "argsstring", "initializer", "templateparamlist", "requiresclause")))

    for compound in compounds:
        kind, scope = compound.get("kind"), compound.findtext("compoundname").partition("<")[0]
        if kind not in ("class", "struct", "concept", "namespace") or not re.match(r"stemma\b(?!.*::detail\b)", scope):
            continue
        if kind != "namespace":
            note(scope, compound)
        for member in compound.iter("memberdef"):
            if member.get("prot") == "public":
                note(f"{scope}::{member.findtext('name')}", member)

    mentioned = set()
    for path in (ROOT / "examples").rglob("*.[ch]pp"):
        mentioned |= words(path.read_text(encoding="utf-8"))
    for path in (*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"):
        mentioned |= words("\n".join(re.findall(r"`([^`]*)`", path.read_text(encoding="utf-8"))))
    todo = [name for name in places if name in mentioned]
    used = set(todo)
    while todo:
        new = {name for name in needs[todo.pop()] if name in places} - used
        used |= new
        todo += new
    return sorted((*place, name) for name, place in places.items() if name not in used), len(places)


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    if shutil.which("doxygen") is None:
        print("skipped: doxygen is not installed")
        sys.exit(77)
    shutil.rmtree(folder / "xml", ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(["doxygen", ROOT / "docs/Doxyfile"], capture_output=True, text=True,
                          env={**os.environ, "STEMMA_ROOT": str(ROOT), "STEMMA_REFERENCE": str(folder)})
    warnings = [line.replace(f"{ROOT}/", "") for line in done.stderr.splitlines()
                if re.search(r": (error|warning):", line) and not line.endswith("is not documented.")]
    if not (folder / "html/index.html").exists():
        sys.exit(f"doxygen made nothing:\n{done.stderr[-2000:]}")
    compounds = [compound for path in sorted((folder / "xml").glob("*.xml"))
                 for compound in xml.etree.ElementTree.parse(path).getroot().iter("compounddef")]
    names, places = undocumented(compounds)
    if places < 1000:
        sys.exit(f"doxygen's XML holds {places} names only")
    for line in warnings:
        print(line)
    for file, line, name in names:
        print(f"include/{file}:{line}: {name}")
    idle, public = without_use(compounds)
    for file, line, name in idle:
        print(f"include/{file}:{line}: {name} is needed by no example and no document; belongs in detail")
    print(f"{len(warnings)} warnings, {len(names)} of {places} names without what their comment must say, "
          f"{len(idle)} of {public} public ones without a use; {folder}/html/index.html")
    sys.exit(1 if warnings or names or idle else 0)


if __name__ == "__main__":
    main()
