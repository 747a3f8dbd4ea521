#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How does the cost of tagging grow with the number of nodes, compared with its floor?

usage: growth.py BUILD [--sizes N,...] [--folder FOLDER] [--runs R]

For every size, on one processor: `stemma tag --carrier metadata --threads 1 --no-sync`; bench/tag_floor, a program
that can only write these very bytes; and cp of them. On all processors: the same `stemma tag` with its default
threads. Medians of alternating runs, each to a fresh path. The first two are compared by processor time, by wall
time, and by processor time net of /bin/true, because starting a process takes longer than tagging a small model; the
last by wall time. Then peak memory without the mapped file, in bytes per node, with one thread and with the default.
Fails if the floor writes different bytes.
"""
import argparse
import filecmp
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile

from peers import measure


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("build", type=pathlib.Path)
    options.add_argument("--sizes", default="1000,10000,100000,1000000")
    options.add_argument("--folder", default=None)
    options.add_argument("--runs", type=int, default=5)
    options = options.parse_args()
    build = options.build.resolve()
    print("| nodes | tag ms | floor ms | cp ms | tag / floor | by wall time | net of start | "
          "tag / cp | us per node | default threads, wall ms | / floor | bytes per node beyond the file | "
          "default threads |")
    print("|--:" * 13 + "|")
    ratios = []  # nodes, then the ratios of the columns
    for size in map(int, options.sizes.split(",")):
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            folder = pathlib.Path(folder)
            model, tagged, out = folder / "in.onnx", folder / "tagged.onnx", folder / "out.onnx"
            output = subprocess.run([build / "bench/generate_model", str(size), model], check=True,
                                    capture_output=True, text=True).stdout
            nodes = int(output.split()[0])
            tag = [str(build / "stemma"), "tag", str(model), "--carrier", "metadata", "--no-sync", "-q"]
            commands = {
                "tag": [*tag, "--threads", "1", "-o", str(out)],
                "floor": [str(build / "bench/tag_floor"), str(model), str(out)],
                "cp": ["cp", str(tagged), str(out)],
                "start": ["/bin/true"],
                "default threads": [*tag, "-o", str(out)],
            }
            subprocess.run([*commands["tag"][:-1], tagged], check=True)
            subprocess.run(commands["floor"], check=True)
            if not filecmp.cmp(tagged, out, shallow=False):
                sys.exit(f"{nodes} nodes: the output of the floor differs from that of tag")
            figures = measure(commands, out, options.runs, {"tag", "floor", "cp", "start"})
            wall, work, peak = ({name: statistics.median(figure[i] for figure in measured)
                                 for name, measured in figures.items()} for i in range(3))
            above = {name: (peak[name] * 1024 - model.stat().st_size) / nodes for name in peak}
            ratios.append((nodes, work["tag"] / work["floor"], wall["tag"] / wall["floor"],
                           (work["tag"] - work["start"]) / (work["floor"] - work["start"]),
                           wall["default threads"] / wall["floor"]))
            print(f"| {nodes} | {work['tag'] * 1e3:.1f} | {work['floor'] * 1e3:.1f} | "
                  f"{work['cp'] * 1e3:.1f} | {ratios[-1][1]:.2f} | {ratios[-1][2]:.2f} | "
                  f"{ratios[-1][3]:.2f} | "
                  f"{work['tag'] / work['cp']:.1f} | {work['tag'] / nodes * 1e6:.2f} | "
                  f"{wall['default threads'] * 1e3:.1f} | {ratios[-1][4]:.2f} | {above['tag']:.0f} | "
                  f"{above['default threads']:.0f} |", flush=True)
    print()
    for (few, *before), (many, *after) in zip(ratios, ratios[1:]):
        decades = math.log10(many / few)
        rises = [(b / a) ** (1 / decades) - 1 for a, b in zip(before, after)]
        print(f"{few} to {many} nodes: tag / floor changes by {rises[0]:+.0%} per decade, "
              f"by wall time {rises[1]:+.0%}, net of start {rises[2]:+.0%}, "
              f"with default threads {rises[3]:+.0%}")


if __name__ == "__main__":
    main()
