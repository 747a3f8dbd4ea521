#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times the program against cp and the peers on one generated model, as whole processes.

usage: peers.py BUILD [--nodes N] [--weights BYTES] [--folder FOLDER] [--runs R] [--without PEER,...]

BUILD is a build folder with the programs stemma, bench/generate_model and bench/protobuf_tag. Every
command writes to a fresh path. Printed are medians, and the ratio to cp in the same run; one
uncounted round first. Where several commands are compared with synced output, the ratio is that to
cp and sync. Times are wall time; the processor time beside it says how busy the machine was.
"""
import argparse
import os
import pathlib
import shutil
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
    """Returns seconds of wall time, of processor time, and the peak memory in KiB, mapped pages
    included."""
    if written.is_dir():
        shutil.rmtree(written)
    written.unlink(missing_ok=True)
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{command[0]}: exit status {process.returncode}")
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss


def measure(commands, out, runs):
    """Returns for every command its figures, one for each run; the commands take turns."""
    figures = {name: [] for name in commands}
    for turn in range(runs + 1):
        for name, command in commands.items():
            measured = run_once(command, out)
            if turn:
                figures[name].append(measured)
    run_once(["/bin/true"], out)
    return figures


def print_figures(figures, base):
    middle = {name: [statistics.median(figure[i] for figure in measured) for i in range(3)]
              for name, measured in figures.items()}
    print(f"| command | ms | of processor | times {base} | of processor | peak MiB |")
    print("|---|--:|--:|--:|--:|--:|")
    for name, (seconds, work, peak) in middle.items():
        print(f"| {name} | {seconds * 1e3:.1f} | {work * 1e3:.1f} | "
              f"{seconds / middle[base][0]:.2f} | {work / max(middle[base][1], 1e-9):.2f} | "
              f"{peak / 1024:.0f} |")
    print()


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("build", type=pathlib.Path)
    options.add_argument("--nodes", default="100000")
    options.add_argument("--weights", default="0")
    options.add_argument("--folder", default=None)
    options.add_argument("--runs", type=int, default=5)
    options.add_argument("--without", default="", help="names of peers, as far as the first blank")
    options = options.parse_args()
    build = options.build.resolve()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        folder = pathlib.Path(folder)
        model, capture, out, tagged = (
            str(folder / name) for name in ("in.onnx", "in.json", "out.onnx", "tagged.onnx"))
        subprocess.run([build / "bench/generate_model", options.nodes, model, "--capture", capture,
                        "--weights", options.weights], check=True)
        stemma = str(build / "stemma")
        subprocess.run([stemma, "tag", model, "-o", tagged, "--no-sync", "-q"], check=True)
        commands = {
            "cp": ["cp", model, out],
            "cp of what tag writes": ["cp", tagged, out],
            "stemma tag --no-sync": [stemma, "tag", model, "-o", out, "--no-sync"],
            "stemma tag --no-sync --threads 1":
                [stemma, "tag", model, "-o", out, "--no-sync", "--threads", "1"],
            "stemma tag -m --no-sync": [stemma, "tag", model, "-m", capture, "-o", out, "--no-sync"],
            "stemma analyze": [stemma, "analyze", model],
            "/bin/true": ["/bin/true"],
            "protobuf for C++: parse, tag, write": [str(build / "bench/protobuf_tag"), model, out],
            "onnx for Python: load, tag, save": [sys.executable, "-c", PYTHON_TAG, model, out],
            "NetworkX, onnx for Python: load, propagate":
                [sys.executable, "-c", NETWORKX, model],
        }
        synced = {
            "cp, sync": ["sh", "-c", f"cp {model} {out} && sync {out}"],
            "stemma tag": [stemma, "tag", model, "-o", out],
        }
        without = options.without.split(",")
        commands = {name: command for name, command in commands.items()
                    if name.split()[0].rstrip(",") not in without}
        print_figures(measure(commands, pathlib.Path(out), options.runs), "cp")
        print_figures(measure(synced, pathlib.Path(out), options.runs), "cp, sync")


if __name__ == "__main__":
    main()
