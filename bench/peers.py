#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times the program against cp and the peers on one generated model, as whole processes.

usage: peers.py BUILD [--nodes N] [--weights BYTES] [--folder FOLDER] [--runs R]

BUILD is a build folder with the programs stemma and bench/generate_model. Every command writes to a
fresh path. Printed are medians, and the ratio to cp in the same run; one uncounted round first.
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

# Loads, gives every node that has none a module from its readers, writes the tags, saves.
PYTHON_TAG = """
import sys, onnx
model = onnx.load(sys.argv[1])
readers = {}
for node in model.graph.node:
    for name in node.input:
        readers.setdefault(name, []).append(node)
tags = {}
for node in reversed(model.graph.node):
    parts = node.name.split('/')[1:-1]
    if not parts:
        found = [tags[id(r)] for out in node.output for r in readers.get(out, []) if id(r) in tags]
        parts = found[0].split('/')[1:] if found else []
    tags[id(node)] = '/' + '/'.join(parts)
    node.doc_string = tags[id(node)]
onnx.save(model, sys.argv[2])
"""
NETWORKX = """
import sys, onnx, networkx
model = onnx.load(sys.argv[1])
graph = networkx.DiGraph()
made = {}
for i, node in enumerate(model.graph.node):
    graph.add_node(i)
    for name in node.input:
        if name in made:
            graph.add_edge(made[name], i)
    for name in node.output:
        made[name] = i
tags = {}
for i in reversed(list(networkx.topological_sort(graph))):
    parts = model.graph.node[i].name.split('/')[1:-1]
    found = [tags[r] for r in graph.successors(i)]
    tags[i] = parts or (found[0] if found else [])
"""


def run_once(command, written):
    """Returns seconds of wall time and the peak memory in KiB, mapped pages included."""
    written.unlink(missing_ok=True)
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    written.unlink(missing_ok=True)
    if process.returncode:
        sys.exit(f"{command[0]}: exit status {process.returncode}")
    return seconds, usage.ru_maxrss


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("build", type=pathlib.Path)
    options.add_argument("--nodes", default="100000")
    options.add_argument("--weights", default="0")
    options.add_argument("--folder", default=None)
    options.add_argument("--runs", type=int, default=5)
    options = options.parse_args()
    build = options.build.resolve()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        folder = pathlib.Path(folder)
        model, capture, out = (str(folder / name) for name in ("in.onnx", "in.json", "out.onnx"))
        subprocess.run([build / "bench/generate_model", options.nodes, model, "--capture", capture,
                        "--weights", options.weights], check=True)
        stemma = str(build / "stemma")
        commands = {
            "cp": ["cp", model, out],
            "stemma tag --no-sync": [stemma, "tag", model, "-o", out, "--no-sync"],
            "stemma tag -m --no-sync": [stemma, "tag", model, "-m", capture, "-o", out, "--no-sync"],
            "stemma analyze": [stemma, "analyze", model],
            "/bin/true": ["/bin/true"],
            "onnx for Python: load, tag, save": [sys.executable, "-c", PYTHON_TAG, model, out],
            "onnx for Python, NetworkX: load, propagate": [sys.executable, "-c", NETWORKX, model],
        }
        figures = {name: [] for name in commands}
        for turn in range(options.runs + 1):
            for name, command in commands.items():
                measured = run_once(command, pathlib.Path(out))
                if turn:
                    figures[name].append(measured)
        copy = statistics.median(seconds for seconds, _ in figures["cp"])
        print("| command | median ms | least .. most | times cp | peak MiB |")
        print("|---|--:|--:|--:|--:|")
        for name, measured in figures.items():
            seconds = [figure[0] for figure in measured]
            middle = statistics.median(seconds)
            print(f"| {name} | {middle * 1e3:.1f} | {min(seconds) * 1e3:.1f} .. "
                  f"{max(seconds) * 1e3:.1f} | {middle / copy:.1f} | "
                  f"{max(figure[1] for figure in measured) / 1024:.0f} |")


if __name__ == "__main__":
    main()
