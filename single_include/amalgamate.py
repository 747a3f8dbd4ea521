#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Joins the headers of include/ to four files: core.hpp, verbs.hpp, stemma.hpp and onnx.hpp, each on
top of the one before.

Beside these, a header that documents or examples include, or documents name, leads to the one that it is a part of.

usage: amalgamate.py [FOLDER]  writes FOLDER/stemma/; by default single_include/stemma/, which git ignores
       amalgamate.py --rewrite SOURCE TARGET
                               copies the C++ files of a folder, with the joined headers in place of
                               those they include

Every header keeps its include guard, so joined and separate headers can meet in one program.
"""
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
INCLUDE = HERE.parent / "include"
UMBRELLAS = ["stemma/core.hpp", "stemma/verbs.hpp", "stemma/stemma.hpp", "stemma/onnx.hpp"]
OWN = re.compile(r"^#include <(stemma/[^>]+)>\n", re.M)
# What a library may hold instead: a single header has it always.
COMPILED = re.compile(r"^#ifndef STEMMA_COMPILED\n((?:#    include <stemma/[^>]+>\n)+)#endif\n", re.M)
OTHER = re.compile(r"^#include <([^>]+)>\n", re.M)
LICENCE = "// SPDX-License-Identifier: Apache-2.0\n"


def fail(text):
    sys.exit(f"amalgamate.py: {text}")


def read(header):
    path = INCLUDE / header
    if not path.exists():
        fail(f"<{header}> is included and does not exist")
    text = COMPILED.sub(lambda found: found[1].replace("#    ", "#"), path.read_text(encoding="utf-8"))
    if re.search(r"^[ \t]+#[ \t]*include[ \t]*[<\"]stemma/|^#[ \t]+include[ \t]*[<\"]stemma/", text, re.M):
        fail(f"{header} includes a header of stemma under a condition: include it at the top")
    return text


def in_order(umbrella, done):
    """All headers that an umbrella needs and `done` lacks, each behind those it includes."""
    order = []

    def visit(header):
        if header in done:
            return
        done.add(header)
        for needed in OWN.findall(read(header)):
            visit(needed)
        order.append(header)

    visit(umbrella)
    return order


def group(name):
    """Third party before the standard library, as in the headers themselves."""
    return (1 if re.fullmatch(r"[\w.]+", name) else 0, name)


def joined(umbrella, below, done):
    parts, others = [], set()
    for header in in_order(umbrella, done):
        text = OWN.sub("", read(header).removeprefix(LICENCE))
        if header == umbrella:
            continue
        others.update(OTHER.findall(text))
        text = re.sub(r"\n{3,}", "\n\n", OTHER.sub("", text))
        parts.append(f"// <{header}>\n{text}")
    version = ".".join(re.findall(r"define STEMMA_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)",
                                  read("stemma/version.hpp")))
    guard = re.sub(r"\W", "_", umbrella).upper()
    third = [name for name in sorted(others, key=group) if group(name)[0] == 0]
    standard = [name for name in sorted(others, key=group) if group(name)[0] == 1]
    includes = "\n".join("".join(f"#include <{name}>\n" for name in names)
                         for names in (third, standard) if names)
    under = f'#include "{pathlib.PurePath(below).name}"\n\n' if below else ""
    return (f"{LICENCE}// stemma {version}: <{umbrella}> and all it includes, as one file. Made by\n"
            f"// single_include/amalgamate.py; to change something, change the headers it joins.\n"
            f"#ifndef {guard}\n#define {guard}\n\n{under}{includes}\n" + "\n".join(parts)
            + f"\n#endif // {guard}\n")


def products(folder):
    done, below = set(), None
    for umbrella in UMBRELLAS:
        yield folder / umbrella, joined(umbrella, below, done)
        below = umbrella


def documented():
    """The headers that somebody who reads documents and examples includes."""
    root, found = HERE.parent, set()
    for path in [root / "README.md", *(root / "docs").rglob("*.md")]:
        text = path.read_text(encoding="utf-8")
        found.update(OWN.findall(text))
        found.update(f"stemma/{name}" for name in re.findall(r"`((?:\w+/)+\w+\.hpp)`", text)
                     if (INCLUDE / "stemma" / name).exists())
    for folder in ("examples", "examples/policies"):
        for path in (root / folder).glob("*.[ch]pp"):
            found.update(OWN.findall(path.read_text(encoding="utf-8")))
    return {header for header in found if "/detail/" not in header} - set(UMBRELLAS)


def signposts(folder):
    place = places()
    for header in sorted(documented()):
        if header not in place:
            fail(f"<{header}> is in a document, and in no umbrella")
        umbrella = UMBRELLAS[place[header]]
        way = "../" * (header.count("/") - 1) + pathlib.PurePath(umbrella).name
        yield folder / header, f'{LICENCE}// <{header}> is a part of <{umbrella}>.\n#include "{way}"\n'


def places():
    """By header the number of the umbrella that it came with."""
    done, place = set(), {}
    for number, umbrella in enumerate(UMBRELLAS):
        place.update((header, number) for header in in_order(umbrella, done))
    return place


def write_when_other(path, text):
    """Keeps the time of a file that does not change, for the sake of builds."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def rewrite(source, target):
    place = places()
    for path in sorted(source.rglob("*")):
        if path.suffix not in (".cpp", ".hpp", ".h"):
            continue
        text = path.read_text(encoding="utf-8")
        needed = [place[header] for header in OWN.findall(text)]
        if needed:
            first = OWN.search(text)
            text = (text[:first.start()] + f"#include <{UMBRELLAS[max(needed)]}>\n"
                    + OWN.sub("", text[first.end():]))
        write_when_other(target / path.relative_to(source), text)


def main():
    if sys.argv[1:2] == ["--rewrite"] and len(sys.argv) == 4:
        rewrite(pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]))
    elif len(sys.argv) <= 2 and not sys.argv[-1].startswith("-"):
        folder = pathlib.Path(sys.argv[1]) if len(sys.argv) == 2 else HERE
        wanted = dict([*products(folder), *signposts(folder)])
        for path, text in wanted.items():
            write_when_other(path, text)
        for path in set((folder / "stemma").rglob("*.hpp")) - set(wanted):  # of an earlier run
            path.unlink()
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
