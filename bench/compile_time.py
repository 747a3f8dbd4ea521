#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What including stemma costs a compiler: the umbrellas, and the heaviest of what they include.

usage: compile_time.py [--compiler C++] [--runs N] [--rows N]

Prints processor seconds of the fastest run at -O0, preprocessed lines, and for each of the heaviest
includes from outside how much it costs alone. Parts overlap, so they do not add up.
"""
import argparse
import pathlib
import re
import resource
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
FLAGS = ["-std=c++20", "-O0", "-I", str(ROOT / "include"), "-DONNX_NAMESPACE=onnx", "-DONNX_ML=1"]
UMBRELLAS = ["stemma/stemma.hpp", "stemma/wire.hpp", "stemma/onnx.hpp"]


def seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def measure(compiler, header, folder, runs):
    source = folder / "source.cpp"
    source.write_text(f"#include <{header}>\n")
    command = [compiler, *FLAGS, "-c", source, "-o", folder / "object.o"]
    fastest = min(seconds(command) for _ in range(runs))
    text = subprocess.run([compiler, *FLAGS, "-E", source], check=True, capture_output=True, text=True)
    return fastest, text.stdout.count("\n")


def outside_includes(umbrella):
    """What the headers below an umbrella include from elsewhere."""
    seen, found, open_headers = set(), set(), [umbrella]
    while open_headers:
        header = open_headers.pop()
        if header in seen:
            continue
        seen.add(header)
        for name in re.findall(r"^\s*#\s*include <([^>]+)>", (ROOT / "include" / header).read_text(), re.M):
            (open_headers.append if name.startswith("stemma/") else found.add)(name)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--rows", type=int, default=6)
    options = parser.parse_args()
    print("| include | seconds | lines |\n|---|--:|--:|")
    with tempfile.TemporaryDirectory(prefix="stemma-compile-") as name:
        folder = pathlib.Path(name)

        def row(header):
            taken, lines = measure(options.compiler, header, folder, options.runs)
            return taken, f"| `<{header}>` | {taken:.2f} | {lines:,} |"

        known = set()
        for umbrella in UMBRELLAS:
            print(row(umbrella)[1])
            outside = outside_includes(umbrella) - known
            known |= outside
            for _, text in sorted(map(row, outside), reverse=True)[:options.rows]:
                print(text.replace("| `", "| of these, `"))


if __name__ == "__main__":
    main()
