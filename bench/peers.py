#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times the program against cp and its peers on a generated model, as whole processes.

usage: peers.py BUILD [--nodes N] [--weights BYTES] [--folder FOLDER] [--runs R] [--without PEER,...]

BUILD is a build folder with the programs stemma, bench/generate_model and bench/protobuf_tag. Every command writes
to a fresh path. Prints medians and their ratios to cp of the tagged file and to tag (`stemma tag --carrier
metadata`) in the same run. Where output is synced, so is that of cp. Times are wall times; the processor time beside
them shows how busy the machine was. Fails if the protobuf peer writes different bytes from tag.
"""
import argparse
import filecmp
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

# Loads, resolves names against the tree derived from parameters, gives unnamed nodes the common
# ancestor of their readers, unites tag sets, writes them all, saves.
PYTHON_TAG = """
import json, sys, onnx
model = onnx.load(sys.argv[1])
graph = model.graph
modules = {''}
for tensor in graph.initializer:
    path = tensor.name.rpartition('.')[0]
    while path not in modules:
        modules.add(path)
        path = path.rpartition('.')[0]
def find_module(scope):
    path = '.'.join(scope)
    while path not in modules:
        path = path.rpartition('.')[0]
    return path
def common(a, b):
    a, b = a.split('.'), b.split('.')
    same = 0
    while same < min(len(a), len(b)) and a[same] == b[same]:
        same += 1
    return '.'.join(a[:same])
readers = {}
for i, node in enumerate(graph.node):
    for name in node.input:
        readers.setdefault(name, []).append(i)
found = [find_module(node.name.split('/')[1:-1]) if '/' in node.name else None
         for node in graph.node]
tags = [set() if module is None else {module} for module in found]
for i in reversed(range(len(found))):
    if found[i] is None:
        for name in graph.node[i].output:
            for r in readers.get(name, []):
                found[i] = found[r] if found[i] is None else common(found[i], found[r])
                tags[i] |= tags[r]
for node, module, own in zip(graph.node, found, tags):
    node.doc_string = json.dumps({'module': module, 'hierarchy_tags': sorted(own)})
for value in (*graph.initializer, *graph.input, *graph.output, *graph.value_info):
    of_readers = set().union(*(tags[r] for r in readers.get(value.name, [])))
    value.doc_string = json.dumps(sorted(of_readers))
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
    """Returns: wall seconds, processor seconds and peak memory in KiB, mapped pages included."""
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


def measure(commands, out, runs, on_one=()):
    """Returns: the figures of every run by command. Commands alternate; those in `on_one` run on one processor.

    Each runs twice in its turn, and the second run counts: it reuses memory that it freed itself. Otherwise the
    order of the commands would decide: regaining memory from the host of a virtual machine may take longer than
    everything else a command does.
    """
    figures = {name: [] for name in commands}
    processors = os.sched_getaffinity(0)
    for _ in range(runs):
        for name, command in commands.items():
            os.sched_setaffinity(0, {max(processors)} if name in on_one else processors)
            run_once(command, out)
            figures[name].append(run_once(command, out))
    os.sched_setaffinity(0, processors)
    run_once(["/bin/true"], out)
    return figures


def print_figures(figures, base, tag):
    middle = {name: [statistics.median(figure[i] for figure in measured) for i in range(3)]
              for name, measured in figures.items()}
    print(f"| command | wall ms | processor ms | times {base} | times {tag} | peak MiB |")
    print("|---|--:|--:|--:|--:|--:|")
    for name, (seconds, work, peak) in middle.items():
        print(f"| {name} | {seconds * 1e3:.1f} | {work * 1e3:.1f} | "
              f"{seconds / middle[base][0]:.2f} | {seconds / middle[tag][0]:.2f} | "
              f"{peak / 1024:.0f} |")
    print()


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("build", type=pathlib.Path)
    options.add_argument("--nodes", default="100000")
    options.add_argument("--weights", default="0")
    options.add_argument("--folder", default=None)
    options.add_argument("--runs", type=int, default=5)
    options.add_argument("--without", default="", help="first words of the commands to skip, separated by commas")
    options = options.parse_args()
    build = options.build.resolve()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        folder = pathlib.Path(folder)
        model, capture, out, tagged = (
            str(folder / name) for name in ("in.onnx", "in.json", "out.onnx", "tagged.onnx"))
        subprocess.run([build / "bench/generate_model", options.nodes, model, "--capture", capture,
                        "--weights", options.weights], check=True)
        stemma = str(build / "stemma")
        tag = [stemma, "tag", model, "--carrier", "metadata"]
        subprocess.run([*tag, "-o", tagged, "--no-sync", "-q"], check=True)
        commands = {
            "cp": ["cp", model, out],
            "cp of the tagged file": ["cp", tagged, out],
            "tag": [*tag, "-o", out, "--no-sync", "-q"],
            "tag --threads 1": [*tag, "-o", out, "--no-sync", "-q", "--threads", "1"],
            "tag -m": [*tag, "-m", capture, "-o", out, "--no-sync", "-q"],
            "analyze": [stemma, "analyze", model],
            "/bin/true": ["/bin/true"],
            "protobuf for C++: parse, tag, write": [str(build / "bench/protobuf_tag"), model, out],
            "onnx for Python: load, tag, save": [sys.executable, "-c", PYTHON_TAG, model, out],
            "NetworkX, onnx for Python: load, propagate":
                [sys.executable, "-c", NETWORKX, model],
        }
        synced = {
            "cp, sync": ["sh", "-c", f"cp {tagged} {out} && sync {out}"],
            "tag, sync": [*tag, "-o", out, "-q"],
            "tag, sync --threads 1": [*tag, "-o", out, "-q", "--threads", "1"],
        }
        without = options.without.split(",")
        commands = {name: command for name, command in commands.items()
                    if name.split()[0].rstrip(",") not in without}
        for name, command in commands.items():
            if name.startswith("protobuf"):
                subprocess.run(command, check=True)
                if not filecmp.cmp(tagged, out, shallow=False):
                    sys.exit(f"{name}: the output differs from that of tag")
        print_figures(measure(commands, pathlib.Path(out), options.runs), "cp of the tagged file",
                      "tag")
        print_figures(measure(synced, pathlib.Path(out), options.runs), "cp, sync", "tag, sync")


if __name__ == "__main__":
    main()
