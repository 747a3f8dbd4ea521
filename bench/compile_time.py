#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The cost of compiling stemma, compared with a program that parses JSON with nlohmann-json and prints it.

usage: compile_time.py [--compiler C++] [--runs N] [--flag=FLAG]... [SOURCE...]
       compile_time.py --headers [--compiler C++] [--runs N] [--rows N]

Compiles that program, two that use the generic core (propagation over a custom graph; all of tagging), and each
SOURCE (by default the first programs of examples/) at -O0 and -O2, alternating. Prints processor seconds and peak
memory of the fastest run, and their ratios to the JSON program. --flag (-DNAME, -IFOLDER) applies to programs with
stemma only.

With --headers: the umbrellas at -O0, their preprocessed lines, and the cost of each of their heaviest third-party
includes alone. These overlap, so they do not add up.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
HERE = pathlib.Path(__file__).resolve().parent
FLAGS = ["-std=c++20", "-I", str(ROOT / "include"), "-DONNX_NAMESPACE=onnx", "-DONNX_ML=1"]
UMBRELLAS = ["stemma/core.hpp", "stemma/verbs.hpp", "stemma/stemma.hpp", "stemma/onnx.hpp"]
MEASURE = HERE / "compile_time/parse_json.cpp"
CORE = [HERE / "compile_time/own_graph.cpp", ROOT / "examples/build_graph.cpp"]
FIRST = [ROOT / "examples" / name for name in ("first.cpp", "tag_model.cpp")]


def spent(command):
    """Returns: processor seconds and peak MB of a command and its children."""
    child = subprocess.Popen([str(word) for word in command])
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"{command[0]} ended with status {child.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000


def compare(options):
    sources = [MEASURE, *CORE, *(options.sources or [path for path in FIRST if path.exists()])]
    print("| program | -O0 s | times | MB | times | -O2 s | times | MB | times |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    best = {}
    with tempfile.TemporaryDirectory(prefix="stemma-compile-") as folder:
        for _ in range(options.runs):
            for level in ("-O0", "-O2"):
                for source in sources:
                    more = options.flag if source != MEASURE else []
                    cost = spent([options.compiler, *FLAGS, *more, level, "-c", source, "-o", f"{folder}/object.o"])
                    key = (source, level)
                    best[key] = tuple(map(min, cost, best.get(key, cost)))
    for source in sources:
        cells = []
        for level in ("-O0", "-O2"):
            for value, base, digits in zip(best[source, level], best[MEASURE, level], (2, 0)):
                cells += [f"{value:.{digits}f}", f"{value / base:.2f}"]
        name = pathlib.Path(source).resolve()
        print(f"| `{name.relative_to(ROOT) if name.is_relative_to(ROOT) else name.name}` | {' | '.join(cells)} |")


def measure(compiler, header, folder, runs):
    source = folder / "source.cpp"
    source.write_text(f"#include <{header}>\n")
    fastest = min(spent([compiler, *FLAGS, "-O0", "-c", source, "-o", folder / "object.o"])[0] for _ in range(runs))
    text = subprocess.run([compiler, *FLAGS, "-E", source], check=True, capture_output=True, text=True)
    return fastest, text.stdout.count("\n")


def outside_includes(umbrella):
    """The third-party and standard headers that an umbrella includes, directly or not."""
    names, outside, open_headers = set(), set(), [umbrella]
    while open_headers:
        header = open_headers.pop()
        if header in names:
            continue
        names.add(header)
        for name in re.findall(r"^\s*#\s*include <([^>]+)>", (ROOT / "include" / header).read_text(), re.M):
            (open_headers.append if name.startswith("stemma/") else outside.add)(name)
    return outside


def list_headers(options):
    print("| include | seconds | lines |\n|---|--:|--:|")
    with tempfile.TemporaryDirectory(prefix="stemma-compile-") as name:
        folder = pathlib.Path(name)

        def row(header):
            times, lines = measure(options.compiler, header, folder, options.runs)
            return times, f"| `<{header}>` | {times:.2f} | {lines:,} |"

        listed = set()
        for umbrella in UMBRELLAS:
            print(row(umbrella)[1])
            outside = outside_includes(umbrella) - listed
            listed |= outside
            for _, text in sorted(map(row, outside), reverse=True)[:options.rows]:
                print(text.replace("| `", "| of these, `"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--flag", action="append", default=[])
    parser.add_argument("--headers", action="store_true")
    parser.add_argument("--rows", type=int, default=6)
    parser.add_argument("sources", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    if options.headers:
        list_headers(options)
    else:
        compare(options)


if __name__ == "__main__":
    main()
